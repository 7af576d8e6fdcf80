/* SPDX-License-Identifier: MIT
 *
 * Rows of a data set, standardised and in a net's dtype, as the trainer takes them. Tables are kept ready in
 * the net's layout (feed.c); images stay bytes and become numbers as they are fetched (image_feed.c). */
#ifndef SPH_ROWS_FEED_H
#define SPH_ROWS_FEED_H

#include "rows/data.h"
#include "net/net.h"
#include "rows/source.h"

struct feed {
    struct source source; /* source.self is this feed */
    void (*release)(struct feed *feed);
};

/* The data's rows index[count] (NULL: the first count) under the net's scaling. data is borrowed: it outlives
 * the feed. Data without targets give a source with none. */
int feed_new(struct feed **out, const sph_data *data, const uint32_t *index, size_t count,
             const sph_net *net);

/* Likewise, changed at random from epoch to epoch (images alone; NONE is feed_new). */
int feed_new_augmented(struct feed **out, const sph_data *data, const uint32_t *index, size_t count,
                       const sph_net *net, sph_augment augment, uint64_t seed);

void feed_free(struct feed *feed);

#endif
