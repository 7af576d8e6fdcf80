/* SPDX-License-Identifier: MIT
 *
 * Images that are not kept in memory: another module provides their bytes when they are needed. */
#ifndef SPH_ROWS_PICTURE_SOURCE_H
#define SPH_ROWS_PICTURE_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "spherelu/base.h"

/* One reader's way through them. */
struct picture_stream {
    /* These rows will be taken next, in this order: rows[order[i]] (order NULL: rows[i]) for i below count, rows being
     * NULL: the number itself. Both are borrowed until the next call; count 0 ends it. How rows vary depends on the
     * epoch. */
    int (*begin)(struct picture_stream *stream, size_t epoch, const uint32_t *rows, const uint32_t *order,
                 size_t count);
    /* *pixels (channels, height, width) <- a row, lent until the next call. One that is not next in order is brought
     * as well, at the time of asking. */
    int (*take)(struct picture_stream *stream, uint32_t row, const uint8_t **pixels);
    double (*waited)(const struct picture_stream *stream); /* seconds that take was busy waiting */
    void (*release)(struct picture_stream *stream);
};

struct pictures {
    size_t holders;   /* beside the first */
    uint64_t content; /* a number that changes when the pictures do */
    /* augment: how they vary; rows (count): those whose colours AlexNet's change of colours is fitted on. */
    int (*stream)(const struct pictures *pictures, struct picture_stream **out, sph_augment augment,
                  uint64_t seed, const uint32_t *rows, size_t count);
    char *(*name)(const struct pictures *pictures,
                  uint32_t row); /* of the row, caller frees; NULL: no memory */
    int (*choose)(const struct pictures *pictures, struct pictures **out, const uint32_t *rows, size_t count);
    void (*release)(struct pictures *pictures);
};

#endif
