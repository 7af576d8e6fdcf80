/* SPDX-License-Identifier: MIT */
#include "data/feed.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

static int feed_fetch(void *self, const uint32_t *index, size_t count, void *x, size_t ldx, void *y,
                      size_t ldy)
{
    const struct feed *feed = self;
    size_t wide = feed->row_length * feed->size, narrow = feed->source.targets * feed->size;
    for (size_t i = 0; i < count; i++) {
        memcpy((char *)x + i * ldx * feed->size, feed->x + index[i] * wide, wide);
        memcpy((char *)y + i * ldy * feed->size, feed->y + index[i] * narrow, narrow);
    }
    return 0;
}

int feed_new(struct feed **out, const sph_data *data, const uint32_t *index, size_t count, const sph_net *net)
{
    size_t n = data->features, targets = data->targets, size = net->k->size, length = net_row_length(net);
    struct feed *feed = mem_get(1, sizeof *feed);
    double *row = mem_get(n + targets, sizeof *row);
    if (!feed || !row)
        goto fail;
    feed->size = size;
    feed->row_length = length;
    feed->source = (struct source){.self = feed, .rows = count, .targets = targets, .fetch = feed_fetch};
    feed->x = mem_get(count * length, size);
    feed->y = mem_get(count * targets, size);
    if (!feed->x || !feed->y)
        goto fail;
    for (size_t i = 0; i < count; i++) {
        size_t from = index ? index[i] : i;
        scaling_apply_x(&net->scaling, 1, data->x + from * n, row);
        scaling_apply_y(&net->scaling, 1, data->y + from * targets, row + n);
        net_arrange(net, row, feed->x + i * length * size);
        net->k->from_double(targets, row + n, feed->y + i * targets * size);
    }
    mem_free(row);
    *out = feed;
    return 0;
fail:
    mem_free(row);
    feed_free(feed);
    return SPH_EMEMORY;
}

void feed_free(struct feed *feed)
{
    if (!feed)
        return;
    mem_free(feed->x);
    mem_free(feed->y);
    mem_free(feed);
}
