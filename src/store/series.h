/* SPDX-License-Identifier: MIT
 *
 * A series that grows while a run goes on: rows of the same columns in one append-only file, cut back on
 * resume, in the end turned into arrays of an .npz, one per column.
 *
 * The file begins with a few lines of text that name its columns; the rest is rows, each the numbers of its
 * columns one after the other without gaps, in the byte order of the machine. */
#ifndef SPH_STORE_SERIES_H
#define SPH_STORE_SERIES_H

#include <stddef.h>
#include <stdint.h>

#include "data/npz.h"

struct series_column {
    char name[NPZ_NAME];   /* of the array                   */
    char type[4];          /* "<f4" "<f8" "<u8" "|u1"        */
    size_t shape[3], ndim; /* of one row; ndim 0: one number */
};

struct series;

/* keep_rows 0 begins anew. Otherwise the file must have these columns and at least so many rows; what follows
 * them is cut off. */
int series_open(struct series **out, const char *path, const struct series_column *columns, size_t count,
                uint64_t keep_rows);
void series_close(struct series *series); /* does not flush; NULL is fine */

size_t series_row_bytes(const struct series *series);

/* row: the packed numbers. Rows reach the file at most once a second, or a megabyte at a time. After a
 * failure all further adding fails. */
int series_add(struct series *series, const void *row);

/* Onto the disk; *rows (or NULL) is what a checkpoint records and resume passes as keep_rows. */
int series_sync(struct series *series, uint64_t *rows);

/* row <- the packed numbers of a row, from 0. */
int series_read_row(struct series *series, uint64_t index, void *row);

/* Writes (replaces) an .npz that holds every column of all of these series as an array (rows, shape...), and
 * the constants: arrays of their own. Memory is bounded, however long the series are. */
int series_save_npz(const char *path, struct series *const *all, size_t count,
                    const struct npz_array *constants, size_t constant_count);

#endif
