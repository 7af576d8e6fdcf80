/* SPDX-License-Identifier: MIT
 *
 * A feed over bytes. A row is written pixel after pixel, each padded to KERNEL_PAD channels, for a net that
 * begins with an image, and plane after plane for one that begins with a vector of all pixels.
 *
 * Flips depend on (seed, epoch, row of the data) and on nothing else: not on batches, threads, or where a run
 * was resumed. */
#ifndef SPH_ROWS_IMAGE_FEED_H
#define SPH_ROWS_IMAGE_FEED_H

#include "rows/feed.h"

int image_feed_new(struct feed **out, const sph_data *data, const uint32_t *index, size_t count,
                   const sph_net *net, sph_augment augment, uint64_t seed);

#endif
