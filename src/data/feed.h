/* SPDX-License-Identifier: MIT
 *
 * Rows of a data set, standardised and in a net's dtype, as the trainer takes them. */
#ifndef SPH_DATA_FEED_H
#define SPH_DATA_FEED_H

#include "data/data.h"
#include "net/net.h"
#include "train/source.h"

struct feed {
    struct source source; /* source.self is this feed */
    size_t size, row_length;
    char *x, *y; /* (rows, row_length), (rows, targets) */
};

/* The data's rows index[count] (NULL: the first count) under the net's scaling. */
int feed_new(struct feed **out, const sph_data *data, const uint32_t *index, size_t count, const sph_net *net);
void feed_free(struct feed *feed);

#endif
