/* SPDX-License-Identifier: MIT
 *
 * Named arrays in one file, as numpy.savez writes and numpy.load reads them: a zip, not compressed, of NPY
 * files. Writing streams, so that arrays larger than memory can be written, and replaces the file whole; the
 * same arrays give the same bytes. Reading maps the file and hands out numbers as f64. */
#ifndef SPH_DATA_NPZ_H
#define SPH_DATA_NPZ_H

#include "data/npy.h"

enum { NPZ_NAME = 128, NPZ_DIMS = NPY_DIMS };

/* ---------------------------------------------------------------- reading */

struct npz;

/* The directory and every array's header are read and checked, the numbers not yet. Compressed files are read
 * too. Refused: more than NPZ_DIMS dimensions, records, objects and text, a name twice. */
int npz_open(struct npz **out, const char *path);

/* The same for bytes that stay where they are as long as npz is used. wanted: the headers of other arrays are not looked at,
 * and only their names are known; they may be of any type. path is for messages. */
typedef int npz_wanted(const char *name);
int npz_open_bytes(struct npz **out, const char *path, const void *bytes, size_t length, npz_wanted *wanted);
void npz_free(struct npz *npz);

/* The name of the i-th array, as they stand in the file; NULL: there are no more. */
const char *npz_name(const struct npz *npz, size_t i);

/* 1 and its shape (shape and ndim may be NULL), or 0: there is none of this name. ndim 0 is one number. */
int npz_find(const struct npz *npz, const char *name, size_t shape[NPZ_DIMS], size_t *ndim);

/* Its header, and its numbers where they lie as long as npz is used. The first reading of an array checks all of its bytes
 * against the zip's sum. A name that is not there is SPH_EARG. */
int npz_numbers(struct npz *npz, const char *name, const struct npy_header **header,
                const unsigned char **numbers);

/* values (count) <- count of its numbers, in C's order (that of Fortran is refused), from the first-th on. Numbers past the
 * end are SPH_EARG. */
int npz_read(struct npz *npz, const char *name, double *values, size_t first, size_t count);

/* ---------------------------------------------------------------- writing
 * begin; then for each array: array, its numbers by data in pieces of any size; commit. Any failure has
 * already aborted the writing: the old file stands, and the writer is freed. abort(NULL) does nothing. */

struct npz_array {
    char name[NPZ_NAME];
    char type[4]; /* "<f4" "<f8" "<u8" "|u1" */
    size_t shape[NPZ_DIMS], ndim;
    const void *bytes; /* its numbers, for those who take all at once */
};

size_t npz_array_bytes(const struct npz_array *array); /* of all; must fit */

struct npz_writer;
int npz_writer_begin(struct npz_writer **out, const char *path);
int npz_writer_array(struct npz_writer **writer, const struct npz_array *array);
int npz_writer_data(struct npz_writer **writer, const void *bytes, size_t length);
int npz_writer_commit(struct npz_writer **writer);
void npz_writer_abort(struct npz_writer **writer);

#endif
