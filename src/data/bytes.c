/* SPDX-License-Identifier: MIT
 *
 * A file's bytes: mapped as they are, or unpacked by libarchive. */
#include "data/bytes.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/memory.h"

/* A file of a few kilobytes can unpack to a terabyte. The largest sets that come as one file hold half a
 * gigabyte. */
static const size_t most_bytes = (size_t)2 << 30;

static int fail_unpack(struct archive *gzip, const char *path)
{
    const char *reason = archive_error_string(gzip);
    if (archive_errno(gzip) == ENOMEM)
        return sph_fail_at(SPH_EMEMORY, path, "out of memory unpacking it");
    return sph_fail_at(SPH_EFORMAT, path, "cannot be unpacked: %s", reason ? reason : "not gzip");
}

static int unpack(struct data_bytes *out, struct archive *gzip, const struct data_bytes *packed,
                  const char *path)
{
    struct archive_entry *entry;
    size_t capacity = 0;
    if (archive_read_support_filter_gzip(gzip) != ARCHIVE_OK ||
        archive_read_support_format_raw(gzip) != ARCHIVE_OK ||
        archive_read_open_memory(gzip, packed->data, packed->length) != ARCHIVE_OK ||
        archive_read_next_header(gzip, &entry) != ARCHIVE_OK)
        return fail_unpack(gzip, path);
    /* raw takes bytes that no filter knows as they are */
    if (archive_filter_code(gzip, 0) != ARCHIVE_FILTER_GZIP)
        return sph_fail_at(SPH_EFORMAT, path, "cannot be unpacked: its gzip header is broken");
    for (;;) {
        if (!mem_reserve((void **)&out->own, &capacity, out->length + (1 << 16), 1))
            return SPH_EMEMORY;
        la_ssize_t got = archive_read_data(gzip, out->own + out->length, capacity - out->length);
        if (got < 0)
            return fail_unpack(gzip, path);
        if (!got)
            break;
        out->length += (size_t)got;
        if (out->length > most_bytes)
            return sph_fail_at(SPH_EFORMAT, path,
                               "unpacks to more than %zu bytes; unpack it with gzip -d if that is meant",
                               most_bytes);
    }
    out->data = out->own;
    return 0;
}

static int read_as_it_is(struct data_bytes *out, const char *path)
{
    struct stat info;
    int err;
    if (!stat(path, &info) && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) {
        char *text = NULL;
        err = file_read(&text, &out->length, path);
        out->data = out->own = (unsigned char *)text;
        return err;
    }
    if ((err = file_map(&out->map, path)) < 0)
        return err;
    out->data = out->map.data;
    out->length = out->map.length;
    return 0;
}

int data_bytes_read(struct data_bytes *out, const char *path)
{
    struct data_bytes packed = {0};
    *out = (struct data_bytes){0};
    int err = read_as_it_is(&packed, path);
    if (err < 0)
        return err;
    size_t n = strlen(path);
    int named = n > 3 && !strcmp(path + n - 3, ".gz");
    int is_gzip = packed.length >= 2 && packed.data[0] == 0x1f && packed.data[1] == 0x8b;
    if (!is_gzip && !named) {
        *out = packed;
        return 0;
    }
    struct archive *gzip = is_gzip ? archive_read_new() : NULL;
    if (!is_gzip)
        err = sph_fail_at(SPH_EFORMAT, path, "not a gzip file: it does not begin with 1f 8b");
    else
        err = gzip ? unpack(out, gzip, &packed, path)
                   : sph_fail(SPH_EMEMORY, "out of memory: opening %s", path);
    if (gzip)
        archive_read_free(gzip);
    data_bytes_free(&packed);
    if (err < 0)
        data_bytes_free(out);
    return err;
}

void data_bytes_free(struct data_bytes *bytes)
{
    file_unmap(&bytes->map);
    mem_free(bytes->own);
    *bytes = (struct data_bytes){0};
}
