/* SPDX-License-Identifier: MIT
 *
 * Rows of a dataset for the trainer, standardized and in the dtype of the network. Tables are stored in the
 * network's layout (feed.c); images stay bytes and are converted when they are fetched (image_feed.c). */
#ifndef SPH_ROWS_FEED_H
#define SPH_ROWS_FEED_H

#include "rows/data.h"
#include "net/net.h"
#include "rows/source.h"

/* A number of the data: in a column of x, or of y. */
struct data_place {
    size_t row, column;
    int target;
};

/* The first number that is too large for the net's dtype once it is standardised: 1 and where it is, or 0. Images have none. */
int feed_find_beyond(const sph_data *data, const sph_net *net, struct data_place *out);

/* "too large for f32 after standardization; correct it, or train with --dtype f64" */
const char *feed_beyond_words(const sph_net *net);

/* Fails: names the row, the column and the number, and why. A feed of a row with a number beyond is refused so. */
int feed_fail_place(const sph_data *data, const struct data_place *place, const char *why);

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

/* Those over bytes (image_feed.c). A row is written pixel after pixel, each padded to KERNEL_PAD channels, for a net that
 * begins with an image, and plane after plane for one that begins with a vector of all pixels. Flips depend on (seed, epoch, row
 * of the data) and on nothing else: not on batches, threads, or where a run was resumed. */
int image_feed_new(struct feed **out, const sph_data *data, const uint32_t *index, size_t count,
                   const sph_net *net, sph_augment augment, uint64_t seed);

/* Rows at[count] of two sources behind one another, without a copy of them: both outlive the feed, and neither varies. size
 * is that of a number. */
int feed_new_joined(struct feed **out, const struct source *first, const struct source *second,
                    const uint32_t *at, size_t count, size_t size);

void feed_free(struct feed *feed);

#endif
