/* SPDX-License-Identifier: MIT
 *
 * Rows of a data set, standardised and in a net's dtype, as the trainer takes them. */
#ifndef SPH_DATA_FEED_H
#define SPH_DATA_FEED_H

#include "compute/kernels.h"
#include "data/data.h"
#include "train/source.h"

struct feed {
    struct source source; /* source.self is this feed */
    size_t size, features;
    char *x, *y; /* (rows, features), (rows, targets) */
};

/* The data's rows index[count] (NULL: the first count) under scaling. */
int feed_new(struct feed **out, const sph_data *data, const uint32_t *index, size_t count,
             const struct scaling *scaling, const struct kernels *k);
void feed_free(struct feed *feed);

#endif
