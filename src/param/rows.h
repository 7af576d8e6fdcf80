/* SPDX-License-Identifier: MIT
 *
 * The rows of the table, one file each. */
#ifndef SPH_PARAM_ROWS_H
#define SPH_PARAM_ROWS_H

#include "param/param.h"

/* The row of X(ID, ...) in SPH_PARAMS is `const struct param_ops param_ID`. */
#define PARAM_ROW(id, word, help) extern const struct param_ops param_##id;
SPH_PARAMS(PARAM_ROW)

/* Sums of squares between these neither overflow nor lose a summand that counts. */
#define SQUARE_LEAST 1e-250
#define SQUARE_MOST  1e250

/* Element `index` of an array of the table's dtype. */
static inline void *param_at(const struct kernels *k, const void *base, size_t index)
{
    return (char *)base + index * k->size;
}

/* Copies a bias and sets s to 1: what rows without a radius do. */
void param_plain_bias(struct param_step *step, const void *bias);

#endif
