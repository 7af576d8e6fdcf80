/* SPDX-License-Identifier: MIT */
#include "rows/feed.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* ---------------------------------------------------------------- numbers too large for the dtype */

/* A scaled row, features and then targets, holds one. */
static int find_in_row(const double *scaled, const sph_data *data, size_t targets, const sph_net *net,
                       struct data_place *out)
{
    size_t n = data->features, at = net_find_beyond(net, scaled, n + targets);
    if (at == n + targets)
        return 0;
    out->target = at >= n;
    out->column = out->target ? at - n : at;
    return 1;
}

int feed_find_beyond(const sph_data *data, const sph_net *net, struct data_place *out)
{
    const struct scaling *scaling = &net->scaling;
    size_t n = data->features, targets = data->y ? data->targets : 0;
    double most = sph_net_dtype(net) == SPH_F64 ? DBL_MAX : FLT_MAX;
    for (size_t i = 0; data->x && i < data->rows; i++)
        for (size_t j = 0; j < n + targets; j++) {
            int target = j >= n;
            size_t k = target ? j - n : j;
            const double *mean = target ? scaling->y_mean : scaling->x_mean;
            const double *scale = target ? scaling->y_scale : scaling->x_scale;
            double value = target ? data->y[i * targets + k] : data->x[i * n + k];
            if (!target && scaling->x_clip && scaling->x_clip[k] > 0)
                continue;
            if (fabs(value - (mean ? mean[k] : 0)) > most * (scale ? scale[k] : 1)) { /* not of a NaN */
                *out = (struct data_place){i, k, target};
                return 1;
            }
        }
    return 0;
}

const char *feed_beyond_words(const sph_net *net)
{
    return sph_net_dtype(net) == SPH_F64
               ? "too large for f64 after standardization; correct it"
               : "too large for f32 after standardization; correct it, or train with --dtype f64";
}

int feed_fail_place(const sph_data *data, const struct data_place *place, const char *why)
{
    char *name = place->target ? mem_text(data_target_name(data, place->column))
                               : data_feature_name(data, place->column);
    const double *of =
        place->target ? data->y + place->row * data->targets : data->x + place->row * data->features;
    if (!name)
        return SPH_EMEMORY;
    int err = sph_fail_of(SPH_EFORMAT, "", 0, name, "row %zu (counted from 0): column '%s' holds %g, %s",
                          place->row, name, of[place->column], why);
    mem_free(name);
    return err;
}

/* ---------------------------------------------------------------- tables */

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
    int err = SPH_EMEMORY;
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
        struct data_place place = {.row = index ? index[i] : i};
        size_t from = place.row;
        memcpy(row, data->x + from * n, n * sizeof *row);
        scaling_apply_x(&net->scaling, 1, row, row);
        if (targets) {
            memcpy(row + n, data->y + from * targets, targets * sizeof *row);
            scaling_apply_y(&net->scaling, 1, row + n, row + n);
        }
        if (find_in_row(row, data, targets, net, &place)) {
            err = feed_fail_place(data, &place, feed_beyond_words(net));
            goto fail;
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
    return err;
}

int feed_new_augmented(struct feed **out, const sph_data *data, const uint32_t *index, size_t count,
                       const sph_net *net, sph_augment augment, uint64_t seed)
{
    if (data_is_images(data))
        return image_feed_new(out, data, index, count, net, augment, seed);
    if (augment != SPH_AUGMENT_NONE)
        return sph_fail_key(SPH_EARG, "augment", "only used with images, but the data are a table");
    return table_feed_new(out, data, index, count, net);
}

int feed_new(struct feed **out, const sph_data *data, const uint32_t *index, size_t count, const sph_net *net)
{
    return feed_new_augmented(out, data, index, count, net, SPH_AUGMENT_NONE, 0);
}

/* ---------------------------------------------------------------- rows of two others */

struct joined_feed {
    struct feed feed;
    const struct source *part[2];
    uint32_t *at; /* (rows) in both, behind one another */
    size_t size;
};

enum { JOINED_RUN = 64 };

/* Neighbours that lie in the same part are fetched together. */
static int joined_fetch(void *self, const uint32_t *index, size_t count, void *x, size_t ldx, void *y,
                        size_t ldy)
{
    const struct joined_feed *feed = self;
    size_t first = feed->part[0]->rows;
    int err = 0;
    for (size_t i = 0; i < count && !err;) {
        uint32_t run[JOINED_RUN];
        size_t rows = 0, second = feed->at[index[i]] >= first;
        for (; rows < JOINED_RUN && i + rows < count; rows++) {
            uint32_t at = feed->at[index[i + rows]];
            if ((at >= first) != second)
                break;
            run[rows] = second ? at - (uint32_t)first : at;
        }
        const struct source *part = feed->part[second];
        err = part->fetch(part->self, run, rows, (char *)x + i * ldx * feed->size, ldx,
                          (char *)y + i * ldy * feed->size, ldy);
        i += rows;
    }
    return err;
}

static void joined_release(struct feed *feed)
{
    struct joined_feed *joined = (struct joined_feed *)feed;
    mem_free(joined->at);
    mem_free(joined);
}

int feed_new_joined(struct feed **out, const struct source *first, const struct source *second,
                    const uint32_t *at, size_t count, size_t size)
{
    struct joined_feed *feed = mem_get(1, sizeof *feed);
    uint32_t *own = mem_get(count, sizeof *own);
    if (!feed || !own) {
        mem_free(feed);
        mem_free(own);
        return SPH_EMEMORY;
    }
    memcpy(own, at, count * sizeof *own);
    *feed = (struct joined_feed){
        .feed = {.release = joined_release,
                 .source = {.self = feed, .rows = count, .targets = first->targets, .fetch = joined_fetch}},
        .part = {first, second},
        .at = own,
        .size = size,
    };
    *out = &feed->feed;
    return 0;
}

void feed_free(struct feed *feed)
{
    if (feed)
        feed->release(feed);
}
