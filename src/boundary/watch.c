/* SPDX-License-Identifier: MIT */
#include "boundary/watch.h"

#include "base/memory.h"
#include "net/plan.h"

enum { WATCH_ROWS = 256 };

struct watch {
    sph_net *net; /* borrowed */
    struct weights *weights;
    struct plan *plan;
    size_t most;                /* rows at once */
    uint32_t *index;            /* (most) */
    char *x, *y;                /* (most, ld) in the net's dtype */
    size_t targets;             /* that y has room for */
    double *value;              /* (most, widest) */
    double *scale, *mean;       /* (widest) */
    const unsigned char *where; /* (nodes) that are shown; NULL: all */

    /* one run */
    size_t row;
    watch_see *see;
    void *self;
    struct mem_owned owned;
};

static size_t widest(const sph_net *net)
{
    size_t most = 0;
    for (size_t i = 0; i < net->node_count; i++)
        if (node_features(&net->nodes[i]) > most)
            most = node_features(&net->nodes[i]);
    return most;
}

static int is_layer(const struct net_node *node)
{
    return node->kind == NODE_DENSE || node->kind == NODE_CONV;
}

/* row (channels, pixels) <- the i-th row of the tile, however its pixels lie. */
static void read_row(const struct kernels *k, const struct buffer *value, const struct tile *tile, size_t i,
                     double *row)
{
    const char *from = buffer_image(value, k, tile, i);
    if (value->pixels == 1) {
        k->to_double(value->width, from, row);
        return;
    }
    for (size_t c = 0; c < value->width; c++) {
        size_t block = c / value->ld, column = c % value->ld;
        for (size_t p = 0; p < value->pixels; p++)
            k->to_double(1, from + ((block * value->pixels + p) * value->ld + column) * k->size,
                         &row[c * value->pixels + p]);
    }
}

/* What a norm at the output took off: a layer is seen as its activation gives it. */
static void put_back(struct watch *watch, const struct net_layer *layer, size_t rows, size_t features)
{
    size_t pixels = features / layer->shape.m;
    if (!layer->norm->at_output)
        return;
    watch->net->k->to_double(layer->shape.m, net_norm(watch->net, layer, 0), watch->mean);
    for (size_t i = 0; i < rows; i++)
        for (size_t f = 0; f < features; f++)
            watch->value[i * features + f] += watch->mean[f / pixels];
}

static void show(struct watch *watch, size_t node, const struct tile *tile, const struct buffer *value)
{
    const struct net_node *here = &watch->net->nodes[node];
    const struct kernels *k = watch->net->k;
    const struct layer_weights *weights = is_layer(here) ? &watch->weights->layer[here->layer] : NULL;
    size_t features = node_features(here);
    if (watch->where && !watch->where[node])
        return;
    int scaled = weights && weights->scaled;
    if (scaled)
        k->to_double(here->channels, weights->s, watch->scale);
    for (size_t i = 0; i < tile->rows; i++)
        read_row(k, value, tile, i, watch->value + i * features);
    if (is_layer(here))
        put_back(watch, &watch->net->layers[here->layer], tile->rows, features);
    watch->see(watch->self, &(struct watched){.node = node,
                                              .layer = is_layer(here) ? here->layer : NET_NOWHERE,
                                              .row = watch->row + tile->row,
                                              .rows = tile->rows,
                                              .features = features,
                                              .value = watch->value,
                                              .scale = scaled ? watch->scale : NULL});
}

/* The input comes with the first node behind it: it is shown before that. */
static void see_node(void *self, size_t node, const struct tile *tile, const struct buffer *value)
{
    struct watch *watch = self;
    if (node == 1) {
        const struct net_node *input = &watch->net->nodes[0];
        struct buffer x = {.data = watch->x,
                           .width = input->channels,
                           .ld = kernel_pad(input->channels),
                           .pixels = node_pixels(input),
                           .blocks = 1};
        show(watch, 0, tile, &x);
    }
    show(watch, node, tile, value);
}

int watch_new(struct watch **out, sph_net *net)
{
    struct watch *watch = mem_get(1, sizeof *watch);
    int err = SPH_EMEMORY;
    if (!watch)
        return err;
    watch->net = net;
    watch->most = net_rows_at_once(net, WATCH_ROWS);
    watch->index = mem_own(&watch->owned, watch->most, sizeof *watch->index);
    watch->x = mem_own(&watch->owned, watch->most * net_row_length(net), net->k->size);
    watch->value = mem_own(&watch->owned, watch->most * widest(net), sizeof *watch->value);
    watch->scale = mem_own(&watch->owned, widest(net), sizeof *watch->scale);
    watch->mean = mem_own(&watch->owned, widest(net), sizeof *watch->mean);
    if (watch->owned.failed || (err = weights_new(&watch->weights, net, net->k, 0)) < 0 ||
        (err = plan_new(&watch->plan, watch->weights, watch->most, PLAN_EVALUATE, 1, NULL)) < 0) {
        watch_free(watch);
        return err;
    }
    *out = watch;
    return 0;
}

void watch_free(struct watch *watch)
{
    if (!watch)
        return;
    plan_free(watch->plan);
    weights_free(watch->weights);
    mem_free(watch->y);
    mem_free_owned(&watch->owned);
    mem_free(watch);
}

void watch_only(struct watch *watch, const unsigned char *where)
{
    watch->where = where;
}

int watch_run(struct watch *watch, const struct source *source, watch_see *see, void *self)
{
    size_t ldy = kernel_pad(source->targets);
    struct plan_watcher watcher = {watch, see_node};
    if (source->targets > watch->targets || !watch->y) {
        mem_free(watch->y);
        watch->targets = source->targets;
        if (!(watch->y = mem_get(watch->most * ldy, watch->net->k->size)))
            return SPH_EMEMORY;
    }
    watch->see = see;
    watch->self = self;
    weights_materialize(watch->weights);
    plan_watch(watch->plan, &watcher);
    int err = 0;
    for (watch->row = 0; watch->row < source->rows && !err; watch->row += watch->most) {
        size_t left = source->rows - watch->row, count = left < watch->most ? left : watch->most;
        for (size_t i = 0; i < count; i++)
            watch->index[i] = (uint32_t)(watch->row + i);
        err = source->fetch(source->self, watch->index, count, watch->x, net_row_length(watch->net), watch->y,
                            ldy);
        if (!err) {
            plan_run(watch->plan, watch->x, net_row_length(watch->net), count, NULL);
            err = plan_check(watch->plan);
        }
    }
    plan_watch(watch->plan, NULL);
    return err;
}
