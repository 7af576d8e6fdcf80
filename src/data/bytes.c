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

static int unpack(struct data_bytes *out, struct archive *archive, const struct data_bytes *packed,
                  const char *path, const struct packing *packing)
{
    struct archive_entry *entry;
    size_t capacity = 0;
    /* ARCHIVE_WARN: libarchive would start a program for it */
    int supported = packing->support(archive);
    if (supported == ARCHIVE_WARN)
        return sph_fail_at(SPH_EFORMAT, path,
                           "packed by %s, which libarchive was built without; unpack it with %s",
                           packing->name, packing->program);
    if (supported != ARCHIVE_OK || archive_read_support_format_raw(archive) != ARCHIVE_OK ||
        archive_read_open_memory(archive, packed->data, packed->length) != ARCHIVE_OK ||
        archive_read_next_header(archive, &entry) != ARCHIVE_OK)
        return fail_unpack(archive, path, packing);
    /* raw takes bytes that no filter knows as they are */
    if (archive_filter_code(archive, 0) != packing->code)
        return sph_fail_at(SPH_EFORMAT, path, "cannot be unpacked: its %s header is broken", packing->name);
    for (;;) {
        if (!mem_reserve((void **)&out->own, &capacity, out->length + (1 << 16), 1))
            return SPH_EMEMORY;
        la_ssize_t got = archive_read_data(archive, out->own + out->length, capacity - out->length);
        if (got < 0)
            return fail_unpack(archive, path, packing);
        if (!got)
            break;
        out->length += (size_t)got;
        if (out->length > most_bytes)
            return sph_fail_at(SPH_EFORMAT, path,
                               "unpacks to more than %zu bytes; unpack it with %s if that is meant",
                               most_bytes, packing->program);
    }
    out->data = out->own;
    return 0;
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
    struct archive *archive = packing ? archive_read_new() : NULL;
    if (!packing)
        err = fail_name(named, path);
    else
        err = archive ? unpack(out, archive, &packed, path, packing)
                      : sph_fail(SPH_EMEMORY, "out of memory: opening %s", path);
    if (archive)
        archive_read_free(archive);
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
