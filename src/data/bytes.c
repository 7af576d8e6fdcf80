/* SPDX-License-Identifier: MIT
 *
 * A file's bytes: mapped as they are, or unpacked by libarchive. */
#include "data/bytes.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"

/* A file of a few kilobytes can unpack to a terabyte. The largest sets that come as one file hold half a
 * gigabyte. */
static const size_t most_bytes = (size_t)2 << 30;

/* A way of packing: a row each. */
static const struct packing {
    const char *name, *end, *program;
    size_t magic_length;
    unsigned char magic[4];
    int (*support)(struct archive *archive);
    int code; /* of libarchive's filter */
} packings[] = {
    {"gzip", ".gz", "gzip -d", 2, {0x1f, 0x8b}, archive_read_support_filter_gzip, ARCHIVE_FILTER_GZIP},
    {"zstd",
     ".zst",
     "zstd -d",
     4,
     {0x28, 0xb5, 0x2f, 0xfd},
     archive_read_support_filter_zstd,
     ARCHIVE_FILTER_ZSTD},
};
enum { PACKINGS = sizeof packings / sizeof *packings };

static int fail_unpack(struct archive *archive, const char *path, const struct packing *packing)
{
    const char *reason = archive_error_string(archive);
    if (archive_errno(archive) == ENOMEM)
        return sph_fail_at(SPH_EMEMORY, path, "out of memory unpacking it");
    if (reason)
        return sph_fail_at(SPH_EFORMAT, path, "cannot be unpacked: %s", reason);
    return sph_fail_at(SPH_EFORMAT, path, "cannot be unpacked: not %s", packing->name);
}

static int begin(struct archive *archive, const struct data_bytes *packed, const char *path,
                 const struct packing *packing)
{
    struct archive_entry *entry;
    /* ARCHIVE_WARN: libarchive would start a program for it */
    int supported = packing->support(archive);
    if (supported == ARCHIVE_WARN)
        return sph_fail_at(SPH_EFORMAT, path,
                           "compressed with %s, which this libarchive does not support; unpack it with %s",
                           packing->name, packing->program);
    if (supported != ARCHIVE_OK || archive_read_support_format_raw(archive) != ARCHIVE_OK ||
        archive_read_open_memory(archive, packed->data, packed->length) != ARCHIVE_OK ||
        archive_read_next_header(archive, &entry) != ARCHIVE_OK)
        return fail_unpack(archive, path, packing);
    /* raw takes bytes that no filter knows as they are */
    if (archive_filter_code(archive, 0) != packing->code)
        return sph_fail_at(SPH_EFORMAT, path, "cannot be unpacked: its %s header is broken", packing->name);
    return 0;
}

/* Unpacks into bytes, which has room for so many; all that is beyond is counted and thrown away. *length <- all of them. */
static int pass(struct archive *archive, const char *path, const struct packing *packing,
                unsigned char *bytes, size_t room, size_t *length)
{
    unsigned char beyond[1 << 14];
    *length = 0;
    for (;;) {
        int fits = *length < room;
        la_ssize_t got = fits ? archive_read_data(archive, bytes + *length, room - *length)
                              : archive_read_data(archive, beyond, sizeof beyond);
        if (got < 0)
            return fail_unpack(archive, path, packing);
        if (!got)
            return 0;
        *length += (size_t)got;
        if (*length > most_bytes)
            return sph_fail_at(SPH_EFORMAT, path,
                               "unpacks to more than %zu bytes; if this is intended, unpack it with %s",
                               most_bytes, packing->program);
        if (!fits && !mem_allows(*length)) /* no need to see how far it goes */
            return sph_fail_move(SPH_EMEMORY, path, 0, 0);
    }
}

/* How many bytes there will be, as gzip's last four say; 0: they say nothing that could be. */
static size_t promised(const struct data_bytes *packed, const struct packing *packing)
{
    enum { GZIP_END = 4, GZIP_MOST = 1032 }; /* no byte of deflate makes more */
    if (packing->code != ARCHIVE_FILTER_GZIP || packed->length < GZIP_END)
        return 0;
    struct cursor in = cursor_over(packed->data + packed->length - GZIP_END, GZIP_END);
    size_t bytes = (size_t)cursor_little(&in, GZIP_END);
    return bytes / GZIP_MOST > packed->length || bytes > most_bytes ? 0 : bytes;
}

/* Memory is asked for once, for as many bytes as there are: a growing array would take three times as many while it grows. Where
 * the file does not say how many, or says so wrongly, a first pass counts them. */
static int unpack(struct data_bytes *out, const struct data_bytes *packed, const char *path,
                  const struct packing *packing)
{
    size_t room = promised(packed, packing);
    for (int again = 0;; again = 1) {
        struct archive *archive = archive_read_new();
        int err = archive ? begin(archive, packed, path, packing)
                          : sph_fail(SPH_EMEMORY, "out of memory: opening %s", path);
        if (!err && (room || again) && !(out->own = mem_get_large(room, 1)))
            err = sph_fail_move(SPH_EMEMORY, path, 0, 0);
        if (!err)
            err = pass(archive, path, packing, out->own, room, &out->length);
        if (archive)
            archive_read_free(archive);
        if (err < 0)
            return err;
        if (out->own && out->length <= room) {
            out->data = out->own;
            return 0;
        }
        mem_free(out->own);
        out->own = NULL;
        room = out->length;
        if (again)
            return sph_fail_at(SPH_EIO, path, "the file changed while it was read");
    }
}

static int fail_name(const struct packing *packing, const char *path)
{
    char magic[16] = "";
    for (size_t i = 0; i < packing->magic_length; i++)
        snprintf(magic + strlen(magic), sizeof magic - strlen(magic), "%s%02x", i ? " " : "",
                 packing->magic[i]);
    return sph_fail_at(SPH_EFORMAT, path, "not a %s file: it does not begin with %s", packing->name, magic);
}

static int read_as_it_is(struct data_bytes *out, const char *path, int stream)
{
    struct stat info;
    int err;
    if (stream && !stat(path, &info) && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) {
        char *text = NULL;
        err = file_read_stream(&text, &out->length, path);
        out->data = out->own = (unsigned char *)text;
        return err;
    }
    if ((err = file_map(&out->map, path)) < 0)
        return err;
    out->data = out->map.data;
    out->length = out->map.length;
    return 0;
}

static int read_bytes(struct data_bytes *out, const char *path, int stream)
{
    struct data_bytes packed = {0};
    *out = (struct data_bytes){0};
    int err = read_as_it_is(&packed, path, stream);
    if (err < 0)
        return err;
    size_t n = strlen(path);
    const struct packing *packing = NULL, *named = NULL;
    for (const struct packing *p = packings; p < packings + PACKINGS; p++) {
        size_t end = strlen(p->end);
        if (packed.length >= p->magic_length && !memcmp(packed.data, p->magic, p->magic_length))
            packing = p;
        if (n > end && !strcmp(path + n - end, p->end))
            named = p;
    }
    if (!packing && !named) {
        *out = packed;
        return 0;
    }
    err = packing ? unpack(out, &packed, path, packing) : fail_name(named, path);
    data_bytes_free(&packed);
    if (err < 0)
        data_bytes_free(out);
    return err;
}

int data_bytes_read(struct data_bytes *out, const char *path)
{
    return read_bytes(out, path, 0);
}

int data_bytes_read_stream(struct data_bytes *out, const char *path)
{
    return read_bytes(out, path, 1);
}

void data_bytes_free(struct data_bytes *bytes)
{
    file_unmap(&bytes->map);
    mem_free(bytes->own);
    *bytes = (struct data_bytes){0};
}
