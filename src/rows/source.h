/* SPDX-License-Identifier: MIT
 *
 * The trainer's source of batches: rows by number, standardized, in the dtype of the network. */
#ifndef SPH_ROWS_SOURCE_H
#define SPH_ROWS_SOURCE_H

#include <stddef.h>
#include <stdint.h>

struct source {
    void *self;
    size_t rows;
    size_t targets; /* columns of y */
    int varies;     /* the same row may come out differently (augmentation): fetch it every time */
    /* x (count, ldx), y (count, ldy) <- the rows index[count] */
    int (*fetch)(void *self, const uint32_t *index, size_t count, void *x, size_t ldx, void *y, size_t ldy);
    /* or NULL: called before the first fetch of an epoch (from 0), also when a run is resumed in the middle
     * of one, so that what varies depends on the epoch and not on how often rows were fetched before */
    void (*epoch)(void *self, size_t epoch);
    /* or NULL: the rows that will be fetched next, in this order (index NULL: first, first + 1, ...), so that they
     * can be made ready. index is borrowed until the next call; count 0: none. */
    int (*ahead)(void *self, const uint32_t *index, size_t first, size_t count);
    /* or NULL: the seconds that fetch spent waiting for what was not ready */
    double (*waited)(void *self);
};

#endif
