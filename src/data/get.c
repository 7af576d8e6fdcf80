/* SPDX-License-Identifier: MIT
 *
 * The files of a set into the cache, one after the other: PATH.part grows, is verified, becomes PATH. Those of a
 * folder gather in FOLDER.part, which becomes FOLDER when it has all of them. */
#include "data/get.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/digest.h"
#include "data/fetch.h"
#include "data/registry.h"
#include "data/tool.h"
#include "file/file.h"

enum { PIECE = 1 << 18 }; /* bytes that are written at a time */

struct getting {
    const sph_data_set *set;
    const char *mirror;
    sph_progress_call *progress;
    void *self;
    size_t number; /* of the file among those of the set */
    char *url;     /* where it comes from                */
    int too_long;  /* it is not the file: no part of it is kept */
    struct file_log part;
};

/* ---------------------------------------------------------------- one file */

static const uint64_t unknown_most = (uint64_t)1 << 30; /* bytes of a file whose size is not published */

static uint64_t bytes_most(const struct getting *getting)
{
    uint64_t bytes = getting->set->files[getting->number].bytes;
    return bytes ? bytes : unknown_most;
}

static int take(void *self, const void *bytes, size_t length)
{
    struct getting *getting = self;
    uint64_t most = bytes_most(getting), held = getting->part.offset + getting->part.length;
    if (held > most || length > most - held) {
        getting->too_long = 1;
        return sph_fail_of(SPH_EFORMAT, getting->url, 0, "bytes",
                           "it is larger than the published file, which has %llu bytes; it was removed",
                           (unsigned long long)most);
    }
    int err = file_log_add(&getting->part, bytes, length);
    return err || getting->part.length < PIECE ? err : file_log_flush(&getting->part);
}

static int see(void *self, double done, double all)
{
    struct getting *getting = self;
    double before = (double)getting->part.offset + (double)getting->part.length - done;
    sph_progress progress = {.what = getting->set->files[getting->number].path,
                             .share = all > 0 ? (before + done) / (before + all) : (double)NAN,
                             .done = getting->number,
                             .all = getting->set->file_count,
                             .seconds = (double)NAN,
                             .seconds_left = (double)NAN};
    return getting->progress ? getting->progress(getting->self, &progress) : 0;
}

/* Opens the part, with the bytes that an earlier call has got or with none. */
static int open_part(struct getting *getting, const char *path, int with_bytes)
{
    struct stat info;
    uint64_t held = with_bytes && !lstat(path, &info) && info.st_size > 0 ? (uint64_t)info.st_size : 0;
    if (held > bytes_most(getting)) /* the part of another file */
        held = 0;
    return file_log_open(&getting->part, path, held);
}

/* Whether the file has the published SHA-256. */
static int is_published(const struct getting *getting, const char *path, char hex[DIGEST_SIZE])
{
    int err = digest_of_file(hex, path, 0);
    return err < 0 ? err : !strcmp(hex, getting->set->files[getting->number].sha256);
}

/* Where the file lies: at its own address, or under that of the mirror by its own name. */
static char *address_of(const struct getting *getting)
{
    const char *url = getting->set->files[getting->number].url, *name = strrchr(url, '/');
    return getting->mirror ? file_join(getting->mirror, name ? name + 1 : url) : mem_text(url);
}

static int fetch_rest(struct getting *getting, const char *part)
{
    enum fetch_end end;
    char hex[DIGEST_SIZE] = "";
    struct fetch fetch = {getting->url, getting->part.offset, getting, take, see};
    int whole = 0, err = fetch_url(&end, &fetch);
    if (!err &&
        end ==
            FETCH_NOT_FROM_THERE) { /* the part is complete already, or the server sends whole files only */
        if ((whole = is_published(getting, part, hex)) < 0)
            err = whole;
        if (!err && !whole) {
            file_log_close(&getting->part);
            fetch.from = 0;
            if (!(err = open_part(getting, part, 0)))
                err = fetch_url(&end, &fetch);
        }
    }
    if (err && getting->part.fd >= 0 && !getting->too_long)
        (void)!file_log_flush(
            &getting->part); /* keeps the bytes so far; the download's failure is reported */
    return err ? err : file_log_sync(&getting->part);
}

static int get_file(struct getting *getting, const char *path)
{
    char hex[DIGEST_SIZE] = "", *part = mem_format("%s.part", path);
    getting->url = address_of(getting);
    getting->too_long = 0;
    int err = part && getting->url ? open_part(getting, part, 1) : SPH_EMEMORY;
    if (!err)
        err = fetch_rest(getting, part);
    if (getting->too_long)
        file_remove(part);
    int published = err ? err : is_published(getting, part, hex);
    if (!err && published > 0)
        err = file_give_name(part, path);
    else if (!err && published < 0)
        err = published;
    else if (!err) {
        file_remove(part);
        err = sph_fail_of(SPH_EFORMAT, getting->url, 0, "sha256",
                          "its SHA-256 is %s, expected %s; it was removed", hex,
                          getting->set->files[getting->number].sha256);
    }
    file_log_close(&getting->part);
    mem_free(part);
    mem_free(getting->url);
    getting->url = NULL;
    return err;
}

/* ---------------------------------------------------------------- all of a set */

static const char *last_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Into a folder in the making; what it has already was verified before. */
static int get_into(struct getting *getting, const char *folder)
{
    int err = 0;
    for (getting->number = 0; getting->number < getting->set->file_count && !err; getting->number++) {
        const sph_data_file *file = &getting->set->files[getting->number];
        char *path = file_join(folder, last_name(file->archive ? file->url : file->path));
        if (!path)
            return SPH_EMEMORY;
        if (!file_exists(path))
            err = get_file(getting, path);
        if (!err && file->archive && !(err = unpack_into(folder, path)))
            file_remove(path);
        mem_free(path);
    }
    return err;
}

static int get_set(struct getting *getting, const char *target)
{
    char *folder = getting->set->images ? mem_format("%s.part", target)
                                        : mem_text_of(target, (size_t)(last_name(target) - target));
    int held = -1, err = folder ? file_make_directory(folder) : SPH_EMEMORY;
    if (!err)
        err = file_hold(&held, folder, 0);
    if (!err)
        err = getting->set->images ? get_into(getting, folder) : get_file(getting, target);
    if (!err && getting->set->images)
        err = file_give_name(folder, target);
    file_let_go(held);
    mem_free(folder);
    return err;
}

int sph_data_get(const sph_data_set *set, const char *mirror, sph_progress_call *progress, void *self)
{
    NEED(set);
    struct getting getting = {
        .set = set, .mirror = mirror, .progress = progress, .self = self, .part = {.fd = -1}};
    char *path = NULL, *cache = NULL;
    if (!set->file)
        return 0; /* it is made */
    if (!registry_path(&path, set)) {
        mem_free(path);
        return 0;
    }
    if (!set->file_count)
        return sph_fail_key(SPH_EIO, "data", "%s cannot be downloaded: %s", set->name,
                            set->how ? set->how : "its files are not known");
    int err = registry_cache(&cache);
    if (!err && !cache)
        err = sph_fail_key(SPH_EIO, "SPHERELU_CACHE",
                           "no folder for downloads: neither SPHERELU_CACHE nor HOME is set");
    if (!err && !(path = file_join(cache, set->file)))
        err = SPH_EMEMORY;
    if (!err)
        err = get_set(&getting, path);
    mem_free(path);
    mem_free(cache);
    return err;
}

/* ---------------------------------------------------------------- verifying */

static int same(const char *path, int unpacked, const char *expected)
{
    char hex[DIGEST_SIZE] = "";
    int err = digest_of_file(hex, path, unpacked);
    if (!err && strcmp(hex, expected) != 0)
        err = sph_fail_of(SPH_EFORMAT, path, 0, "sha256", "its SHA-256 is %s, expected %s", hex, expected);
    return err;
}

/* The lines "digest  name" of a folder's list. */
static int verify_list(const char *folder, const char *list, size_t *files)
{
    char *text = NULL;
    int err = file_read(&text, NULL, list);
    for (char *line = text, *next; !err && *line; line = next) {
        next = line + strcspn(line, "\n");
        if (*next)
            *next++ = '\0';
        if (strlen(line) < DIGEST_SIZE + 2 || strchr(line, '/')) {
            err = sph_fail_at(SPH_EFORMAT, list, "not a list of digests and names");
            break;
        }
        line[DIGEST_SIZE - 1] = '\0';
        char *path = file_join(folder, line + DIGEST_SIZE + 1);
        err = path ? same(path, 0, line) : SPH_EMEMORY;
        *files += !err;
        mem_free(path);
    }
    mem_free(text);
    return err;
}

static int verify_file(const char *folder, const sph_data_file *file, size_t *files)
{
    char *path = file->archive ? mem_format("%s/%s/" GET_SUMS, folder, file->path)
                               : mem_format("%s/%s", folder, file->path),
         *inside = mem_format("%s/%s%s", folder, file->path, file->archive ? "" : ".gz");
    int err = path && inside ? 0 : SPH_EMEMORY;
    if (!err && file->archive)
        err = file_exists(path) ? verify_list(inside, path, files) : 0;
    else if (!err && (file_exists(path) || file_exists(inside))) {
        err = file_exists(path) ? same(path, 0, file->sha256) : same(inside, 1, file->sha256);
        *files += !err;
    }
    mem_free(path);
    mem_free(inside);
    return err;
}

int sph_data_verify(const sph_data_set *set, size_t *files)
{
    NEED(set, files);
    char *path = NULL;
    *files = 0;
    int err = set->file ? registry_path(&path, set) : 0;
    if (err < 0 || !path)
        return err;
    size_t length = strlen(path), own = strlen(set->file);
    if (length > 3 && !strcmp(path + length - 3, ".gz"))
        length -= 3;
    if (length > own && !strncmp(path + length - own, set->file, own)) { /* a stand-in has another name */
        path[length - own - 1] = '\0';
        for (size_t i = 0; i < set->file_count && !err; i++)
            err = verify_file(path, &set->files[i], files);
    }
    mem_free(path);
    return err;
}
