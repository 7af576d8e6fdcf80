/* SPDX-License-Identifier: MIT
 *
 * Writing .npz: libarchive makes the zip, file_replace the file. */
#include <archive.h>
#include <archive_entry.h>
#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "file/file.h"
#include "base/memory.h"
#include "data/npz.h"
#include "data/npz_names.h"

enum { PIECE = 1 << 16 };

struct npz_writer {
    struct file_replace file;
    char *path;
    struct archive *zip;
    struct npz_names locale;
    int failed;    /* what writing the file gave */
    uint64_t left; /* bytes still to come of the present array */
};

static size_t type_size(const char *type)
{
    assert(type[1] && type[2] >= '1' && type[2] <= '8' && !type[3]);
    return (size_t)(type[2] - '0');
}

size_t npz_array_bytes(const struct npz_array *array)
{
    size_t bytes = type_size(array->type);
    for (size_t i = 0; i < array->ndim; i++)
        bytes *= array->shape[i];
    return bytes;
}

/* libarchive writes what is left when it is freed: after a failure that goes nowhere. */
static la_ssize_t write_piece(struct archive *zip, void *self, const void *bytes, size_t length)
{
    struct npz_writer *writer = self;
    if (!writer->failed)
        writer->failed = file_replace_write(&writer->file, bytes, length);
    if (writer->failed) {
        archive_set_error(zip, EIO, "cannot write");
        return -1;
    }
    return (la_ssize_t)length;
}

/* The file's own failure has its message already; another is libarchive's. */
static int fail(struct npz_writer **writer)
{
    struct npz_writer *w = *writer;
    const char *reason = w->zip ? archive_error_string(w->zip) : NULL;
    int err = w->failed;
    if (!err)
        err = sph_fail_at(SPH_EIO, w->path, "cannot write: %s", reason ? reason : "the zip cannot be made");
    npz_writer_abort(writer);
    return err;
}

int npz_writer_begin(struct npz_writer **out, const char *path)
{
    struct npz_writer *writer = *out = mem_get(1, sizeof *writer);
    int err;
    if (!writer)
        return SPH_EMEMORY;
    writer->file.fd = -1;
    writer->path = mem_text(path);
    if (!writer->path || !(writer->zip = archive_write_new())) {
        err = sph_fail(SPH_EMEMORY, "out of memory: writing %s", path);
        goto fail;
    }
    if ((err = file_replace_begin(&writer->file, path)) < 0)
        goto fail;
    /* A file is as long as its bytes: no padding to whole blocks. */
    if (archive_write_set_format_zip(writer->zip) != ARCHIVE_OK ||
        archive_write_set_options(writer->zip, "zip:compression=store") != ARCHIVE_OK ||
        archive_write_set_bytes_per_block(writer->zip, PIECE) != ARCHIVE_OK ||
        archive_write_set_bytes_in_last_block(writer->zip, 1) != ARCHIVE_OK ||
        archive_write_open(writer->zip, writer, NULL, write_piece, NULL) != ARCHIVE_OK)
        return fail(out);
    return 0;
fail:
    npz_writer_abort(out);
    return err;
}

int npz_writer_array(struct npz_writer **writer, const struct npz_array *array)
{
    struct npz_writer *w = *writer;
    struct archive_entry *entry = archive_entry_new();
    unsigned char header[NPY_HEADER];
    char name[NPZ_NAME + 8];
    assert(!w->left && array->ndim <= NPZ_DIMS);
    if (!entry) {
        npz_writer_abort(writer);
        return sph_fail(SPH_EMEMORY, "out of memory: writing an array");
    }
    size_t length = npy_write_header(header, array->type, array->shape, array->ndim),
           bytes = npz_array_bytes(array);
    snprintf(name, sizeof name, "%s.npy", array->name);
    archive_entry_set_pathname(entry, name);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, (la_int64_t)(length + bytes));
    /* No time: the zip then says 1980, the same bytes whenever and wherever they are written. */
    npz_names_begin(&w->locale);
    int status = archive_write_header(w->zip, entry);
    npz_names_end(&w->locale);
    archive_entry_free(entry);
    w->left = length + bytes;
    return status == ARCHIVE_OK ? npz_writer_data(writer, header, length) : fail(writer);
}

int npz_writer_data(struct npz_writer **writer, const void *bytes, size_t length)
{
    struct npz_writer *w = *writer;
    assert(length <= w->left);
    if (length && archive_write_data(w->zip, bytes, length) != (la_ssize_t)length)
        return fail(writer);
    w->left -= length;
    return 0;
}

int npz_writer_commit(struct npz_writer **writer)
{
    struct npz_writer *w = *writer;
    assert(!w->left);
    if (archive_write_close(w->zip) != ARCHIVE_OK)
        return fail(writer);
    int err = file_replace_commit(&w->file);
    npz_writer_abort(writer);
    return err;
}

void npz_writer_abort(struct npz_writer **writer)
{
    struct npz_writer *w = *writer;
    if (!w)
        return;
    if (!w->failed)
        w->failed = SPH_EIO; /* nothing more reaches the file */
    if (w->zip)
        archive_write_free(w->zip);
    file_replace_abort(&w->file);
    npz_names_free(&w->locale);
    mem_free(w->path);
    mem_free(w);
    *writer = NULL;
}
