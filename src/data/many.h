/* SPDX-License-Identifier: MIT
 *
 * Text columns with more values than there can be indicators: the rows of each value, and which values are
 * levels. */
#ifndef SPH_DATA_MANY_H
#define SPH_DATA_MANY_H

#include "base/levels.h"
#include "data/build.h"

struct many {
    struct levels levels;
    size_t *rows; /* (levels.count) of each */
    size_t capacity, cells;
};

/* Whether a column is marked (encoded) and has no levels yet. */
int many_asks(const struct column *column);

/* *out (columns) <- the values of such columns; NULL: there are none. Free it after a failure, too. */
int many_count(struct many **out, const sph_data *data, const struct sheet *sheet);
void many_free(struct many *many, size_t columns);

/* How many percent of the cells look like numbers or dates that cannot be read. */
unsigned many_like_numbers(const struct many *many);

/* The column's levels <- values in LEVELS_RARE rows or more, sorted, and rare <- the others; *covered <- cells of the levels. */
int many_take_common(struct column *column, const struct many *many, size_t *covered);

#endif
