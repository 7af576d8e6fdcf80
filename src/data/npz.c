/* SPDX-License-Identifier: MIT
 *
 * NPZ: a zip of NPY files by libarchive. x holds the features, y the targets. */
#include "data/registry.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/npy.h"

static const char *const x_keys[] = {"x", "X", "data"};
static const char *const y_keys[] = {"y", "Y", "labels", "target"};

enum { HEAD = 1 << 17 }; /* bytes of a member in which its NPY header ends */

/* Up to `most` bytes more; *used grows by what came. */
static int unpack(struct archive *zip, const char *where, unsigned char *bytes, size_t *used, size_t most)
{
    while (*used < most) {
        la_ssize_t got = archive_read_data(zip, bytes + *used, most - *used);
        if (got < 0) {
            const char *reason = archive_error_string(zip);
            return sph_fail_at(SPH_EFORMAT, where, "%s", reason ? reason : "cannot be unpacked");
        }
        if (!got)
            break;
        *used += (size_t)got;
    }
    return 0;
}

/* The member's bytes, and no more of them than its header speaks of: a few bytes may unpack to anything. */
static int read_member(unsigned char **out, size_t *length, struct archive *zip, const char *where)
{
    struct npy_header header;
    unsigned char *bytes = mem_get(HEAD, 1), *grown;
    size_t used = 0, whole = 0;
    int err = bytes ? unpack(zip, where, bytes, &used, HEAD) : SPH_EMEMORY;
    if (!err && used == HEAD && !(err = npy_read_header(&header, bytes, used, where))) {
        /* one byte too many shows that there are more */
        if (header.too_big || !size_plus(&whole, header.start, header.bytes) || !size_plus(&whole, whole, 1))
            err = sph_fail_at(SPH_EFORMAT, where, "the array's shape is too big for any memory");
        else if (whole > used &&
                 !(grown = mem_get_large(whole, 1))) /* pages that no byte comes for cost nothing */
            err = SPH_EMEMORY;
        else if (whole > used) {
            memcpy(grown, bytes, used);
            mem_free(bytes);
            err = unpack(zip, where, bytes = grown, &used, whole);
        }
        if (!err && used >= whole)
            err =
                sph_fail_at(SPH_EFORMAT, where, "more bytes of numbers than the %zu expected", header.bytes);
    }
    if (err < 0) {
        mem_free(bytes);
        return err;
    }
    *out = bytes;
    *length = used;
    return 0;
}

struct npz {
    struct sheet *sheet;
    struct archive *zip;
    struct text keys;
    size_t length[2];
};

static int read_entry(struct npz *npz, struct archive_entry *entry)
{
    const char *path = archive_entry_pathname(entry);
    size_t n = path ? strlen(path) : 0;
    if (n < 4 || strcmp(path + n - 4, ".npy") != 0)
        return 0;
    char *key = mem_text_of(path, n - 4);
    if (!key)
        return SPH_EMEMORY;
    text_add(&npz->keys, "%s%s", npz->keys.length ? ", " : "", key);
    int is_x = text_find(key, x_keys, sizeof x_keys / sizeof *x_keys) >= 0;
    int is_y = text_find(key, y_keys, sizeof y_keys / sizeof *y_keys) >= 0;
    int err = npz->keys.failed ? SPH_EMEMORY : 0;
    if (!err && (is_x || is_y)) {
        const char *where = npz->sheet->path;
        struct array *array = is_x ? &npz->sheet->x : &npz->sheet->y;
        unsigned char **own = &npz->sheet->own[is_x ? 0 : 1];
        size_t length = 0;
        if (*own)
            err = sph_fail_at(SPH_EFORMAT, where, "a second array that could be the %s",
                              is_x ? "features" : "targets");
        else if (!(err = read_member(own, &length, npz->zip, where)))
            err = npy_parse(array, *own, length, where);
        if (err == SPH_EFORMAT)
            sph_fail_about(err, key, "%s", key);
    }
    mem_free(key);
    return err;
}

static int name_columns(struct sheet *sheet)
{
    char **names = mem_get(sheet->columns, sizeof *names);
    int err = names ? 0 : SPH_EMEMORY;
    for (size_t i = 0; i < sheet->columns && !err; i++) {
        if (i < sheet->x.columns)
            names[i] = mem_format("x%zu", i);
        else
            names[i] = sheet->y.columns == 1 ? mem_text("y") : mem_format("y%zu", i - sheet->x.columns);
        err = names[i] ? 0 : SPH_EMEMORY;
    }
    if (!err)
        err = sheet_set_names(sheet, (const char *const *)names);
    for (size_t i = 0; names && i < sheet->columns; i++)
        mem_free(names[i]);
    mem_free(names);
    sheet->named = 1;
    return err;
}

static int check(struct npz *npz, int need_targets)
{
    struct sheet *sheet = npz->sheet;
    const char *keys = npz->keys.chars ? npz->keys.chars : "none";
    if (!sheet->own[0])
        return sph_fail_at(SPH_EFORMAT, sheet->path, "no array named x or data; found: %s", keys);
    if (!sheet->own[1] && need_targets)
        return sph_fail_at(SPH_EFORMAT, sheet->path, "no array named y, labels or target; found: %s", keys);
    if (sheet->own[1] && sheet->y.rows != sheet->x.rows)
        return sph_fail_at(SPH_EFORMAT, sheet->path, "%zu rows of features and %zu of targets", sheet->x.rows,
                           sheet->y.rows);
    sheet->rows = sheet->x.rows;
    if (!size_plus(&sheet->columns, sheet->x.columns, sheet->y.columns))
        return sph_fail_at(SPH_EFORMAT, sheet->path, "too many columns");
    sheet->default_targets = sheet->y.columns;
    return name_columns(sheet);
}

static int fail_zip(const struct sheet *sheet, struct archive *zip)
{
    const char *reason = archive_error_string(zip);
    if (archive_errno(zip) == ENOMEM)
        return sph_fail(SPH_EMEMORY, "out of memory: unpacking %s", sheet->path);
    return sph_fail_at(SPH_EFORMAT, sheet->path, "not a zip file: %s",
                       reason ? reason : "it cannot be unpacked");
}

static int open_npz(struct sheet *sheet, const struct sheet_hints *hints)
{
    struct npz npz = {.sheet = sheet, .zip = archive_read_new()};
    struct archive_entry *entry;
    int err = 0, status;
    if (!npz.zip)
        return sph_fail(SPH_EMEMORY, "out of memory: opening %s", sheet->path);
    if (archive_read_support_format_zip(npz.zip) != ARCHIVE_OK ||
        archive_read_open_memory(npz.zip, sheet->bytes, sheet->length) != ARCHIVE_OK) {
        err = fail_zip(sheet, npz.zip);
        goto out;
    }
    while ((status = archive_read_next_header(npz.zip, &entry)) == ARCHIVE_OK || status == ARCHIVE_WARN)
        if ((err = read_entry(&npz, entry)) < 0)
            goto out;
    if (status != ARCHIVE_EOF)
        err = fail_zip(sheet, npz.zip);
    else
        err = check(&npz, hints->need_targets);
out:
    archive_read_free(npz.zip);
    text_free(&npz.keys);
    return err;
}

static int knows_npz(const struct reader_file *file)
{
    return reader_ends(file, ".npz") || (file->length >= 4 && !memcmp(file->bytes, "PK\3\4", 4));
}

const struct reader reader_npz = {.knows = knows_npz, .open_sheet = open_npz};
