/* SPDX-License-Identifier: MIT
 *
 * An archive into a folder, by libarchive. */
#include <archive.h>
#include <archive_entry.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/digest.h"
#include "data/get.h"
#include "file/file.h"

/* A file of a few kilobytes can unpack to a terabyte. Images unpack to little more than they are. */
enum { RATIO_MOST = 100, LITTLE = 1 << 20, FILES_MOST = 1000 };

struct unpacking {
    struct archive *archive;
    const char *path, *folder;
    struct text sums;
    size_t files;
    uint64_t bytes, bytes_most;
};

static int fail_archive(struct archive *archive, const char *path)
{
    const char *reason = archive_error_string(archive);
    return sph_fail_at(SPH_EFORMAT, path, "cannot be unpacked: %s", reason ? reason : "not an archive");
}

/* The name of FOLDER/NAME; NULL: it is another kind of path. */
static const char *plain_name(const char *path)
{
    const char *slash = path ? strchr(path, '/') : NULL, *name = slash ? slash + 1 : NULL;
    if (!name || slash == path || !file_is_name(name) || (slash - path == 2 && !strncmp(path, "..", 2)))
        return NULL;
    for (const char *c = name; *c; c++) /* a line of the list of digests */
        if ((unsigned char)*c < ' ')
            return NULL;
    return name;
}

static int write_member(struct unpacking *u, const char *place, char hex[DIGEST_SIZE])
{
    struct archive *archive = u->archive;
    const char *path = u->path;
    struct file_replace file;
    const void *bytes;
    size_t length;
    la_int64_t offset, expected = 0;
    int status = ARCHIVE_OK, err = file_replace_begin(&file, place);
    while (!err && (status = archive_read_data_block(archive, &bytes, &length, &offset)) == ARCHIVE_OK) {
        if (offset != expected)
            err = sph_fail_at(SPH_EFORMAT, path, "cannot be unpacked: a file with holes");
        else if (length > u->bytes_most - u->bytes)
            err = sph_fail_at(SPH_EFORMAT, path, "refused: its unpacked size is more than %llu bytes",
                              (unsigned long long)u->bytes_most);
        else
            err = file_replace_write(&file, bytes, length);
        expected += (la_int64_t)length;
        u->bytes += err ? 0 : length;
    }
    if (!err && status != ARCHIVE_EOF)
        err = fail_archive(archive, path);
    if (!err)
        err = file_replace_commit(&file);
    file_replace_abort(&file);
    return err ? err : digest_of_file(hex, place, 0);
}

static int unpack_entry(struct unpacking *u, struct archive_entry *entry)
{
    char hex[DIGEST_SIZE];
    const char *from = archive_entry_pathname(entry), *name = plain_name(from);
    size_t n = from ? strlen(from) : 0;
    if (archive_entry_filetype(entry) == AE_IFDIR && n && strchr(from, '/') == from + n - 1 && *from != '.')
        return 0; /* the one folder */
    if (!name || archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry))
        return sph_fail_at(SPH_EFORMAT, u->path,
                           "refused: it holds '%s', expected nothing but files in one folder",
                           from ? from : "a file without a name");
    if (u->files++ == FILES_MOST)
        return sph_fail_at(SPH_EFORMAT, u->path, "refused: it holds more than %d files", FILES_MOST);
    char *place = file_join(u->folder, name);
    int err = place ? write_member(u, place, hex) : SPH_EMEMORY;
    if (!err) {
        text_add(&u->sums, "%s  %s\n", hex, name);
        err = u->sums.failed ? SPH_EMEMORY : 0;
    }
    mem_free(place);
    return err;
}

int unpack_into(const char *folder, const char *path)
{
    struct file_map map;
    struct archive_entry *entry;
    int status, err = file_map(&map, path);
    if (err < 0)
        return err;
    struct archive *archive = archive_read_new();
    struct unpacking u = {.archive = archive,
                          .path = path,
                          .folder = folder,
                          .bytes_most = (uint64_t)map.length * RATIO_MOST + LITTLE};
    if (!archive)
        err = sph_fail(SPH_EMEMORY, "out of memory: opening %s", path);
    else if (archive_read_support_filter_gzip(archive) != ARCHIVE_OK ||
             archive_read_support_format_tar(archive) != ARCHIVE_OK ||
             archive_read_open_memory(archive, map.data, map.length) != ARCHIVE_OK)
        err = fail_archive(archive, path);
    while (!err && (status = archive_read_next_header(archive, &entry)) != ARCHIVE_EOF)
        err = status == ARCHIVE_OK || status == ARCHIVE_WARN ? unpack_entry(&u, entry)
                                                             : fail_archive(archive, path);
    if (!err && !u.sums.length)
        err = sph_fail_at(SPH_EFORMAT, path, "cannot be unpacked: it holds no file");
    char *list = err ? NULL : file_join(folder, GET_SUMS);
    if (!err)
        err = list ? file_replace_with(list, u.sums.chars, u.sums.length) : SPH_EMEMORY;
    mem_free(list);
    text_free(&u.sums);
    archive_read_free(archive);
    file_unmap(&map);
    return err;
}
