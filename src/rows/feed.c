/* SPDX-License-Identifier: MIT */
#include "rows/feed.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "rows/image_feed.h"

struct table_feed {
    struct feed feed;
    size_t size, row_length;
    char *x, *y; /* (rows, row_length), (rows, targets) */
};

enum { AHEAD = 8 };

static int table_fetch(void *self, const uint32_t *index, size_t count, void *x, size_t ldx, void *y,
                       size_t ldy)
{
    const struct table_feed *feed = self;
    size_t wide = feed->row_length * feed->size, narrow = feed->feed.source.targets * feed->size;
    for (size_t i = 0; i < count; i++) {
        if (i + AHEAD < count) { /* rows lie anywhere: the next ones are asked for while these are copied */
            __builtin_prefetch(feed->x + index[i + AHEAD] * wide);
            __builtin_prefetch(feed->y + index[i + AHEAD] * narrow);
        }
        memcpy((char *)x + i * ldx * feed->size, feed->x + index[i] * wide, wide);
        memcpy((char *)y + i * ldy * feed->size, feed->y + index[i] * narrow, narrow);
    }
    return 0;
}

static void table_release(struct feed *feed)
{
    struct table_feed *table = (struct table_feed *)feed;
    mem_free(table->x);
    mem_free(table->y);
    mem_free(table);
}

static int table_feed_new(struct feed **out, const sph_data *data, const uint32_t *index, size_t count,
                          const sph_net *net)
{
    size_t n = data->features, targets = data->y ? data->targets : 0, size = net->k->size,
           length = net_row_length(net);
    struct table_feed *feed = mem_get(1, sizeof *feed);
    double *row = mem_get(n + targets, sizeof *row);
    if (!feed || !row)
        goto fail;
    feed->size = size;
    feed->row_length = length;
    feed->feed.release = table_release;
    feed->feed.source =
        (struct source){.self = feed, .rows = count, .targets = targets, .fetch = table_fetch};
    feed->x = mem_get(count * length, size);
    feed->y = mem_get(count * targets, size);
    if (!feed->x || !feed->y)
        goto fail;
    for (size_t i = 0; i < count; i++) {
        size_t from = index ? index[i] : i;
        memcpy(row, data->x + from * n, n * sizeof *row);
        scaling_apply_x(&net->scaling, 1, row, row);
        if (targets) {
            memcpy(row + n, data->y + from * targets, targets * sizeof *row);
            scaling_apply_y(&net->scaling, 1, row + n, row + n);
        }
        net_arrange(net, row, feed->x + i * length * size);
        net->k->from_double(targets, row + n, feed->y + i * targets * size);
    }
    mem_free(row);
    *out = &feed->feed;
    return 0;
fail:
    mem_free(row);
    if (feed)
        table_release(&feed->feed);
    return SPH_EMEMORY;
}

int feed_new_augmented(struct feed **out, const sph_data *data, const uint32_t *index, size_t count,
                       const sph_net *net, sph_augment augment, uint64_t seed)
{
    if (data_is_images(data))
        return image_feed_new(out, data, index, count, net, augment, seed);
    if (augment != SPH_AUGMENT_NONE)
        return sph_fail_key(SPH_EARG, "augment", "the data are a table, and only images can be augmented");
    return table_feed_new(out, data, index, count, net);
}

int feed_new(struct feed **out, const sph_data *data, const uint32_t *index, size_t count, const sph_net *net)
{
    return feed_new_augmented(out, data, index, count, net, SPH_AUGMENT_NONE, 0);
}

void feed_free(struct feed *feed)
{
    if (feed)
        feed->release(feed);
}
