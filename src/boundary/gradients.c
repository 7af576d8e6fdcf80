/* SPDX-License-Identifier: MIT */
#include "boundary/gradients.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "boundary/watch.h"
#include "train/batch.h"
#include "train/losses.h"

struct gradients {
    sph_net *net;
    struct source rows; /* the first of the source */
    struct batch batch;
    void *x, *y, *state; /* the rows; running statistics while a gradient is taken */
    struct watch *watch;
    struct gradients_layer *layer; /* (layers) */
    size_t *on;                    /* (layers, units of the widest) rows and pixels for which it is on */
    size_t widest;
    struct mem_owned owned;
};

static int fetch_rows(struct gradients *g, const struct source *source, size_t rows)
{
    size_t size = g->net->k->size;
    g->rows = *source;
    g->rows.rows = rows;
    uint32_t *order = mem_get(rows, sizeof *order);
    g->x = mem_own(&g->owned, rows * g->batch.ldx, size);
    g->y = mem_own(&g->owned, rows * g->batch.ldy, size);
    g->state = mem_own(&g->owned, g->net->state_len, size);
    int err = order && !g->owned.failed ? 0 : SPH_EMEMORY;
    for (size_t i = 0; i < rows && !err; i++)
        order[i] = (uint32_t)i;
    if (!err)
        err = source->fetch(source->self, order, rows, g->x, g->batch.ldx, g->y, g->batch.ldy);
    mem_free(order);
    return err;
}

int gradients_new(struct gradients **out, sph_net *net, const struct source *source, size_t rows,
                  const sph_train_opts *opts)
{
    struct gradients *g = mem_get(1, sizeof *g);
    if (!g)
        return SPH_EMEMORY;
    size_t targets = loss_targets(opts->loss, sph_net_outputs(net));
    g->net = net;
    struct plan_running running = {.momentum = 1};
    g->batch = (struct batch){.micro = rows,
                              .opts = opts,
                              .targets = targets,
                              .ldx = net_row_length(net),
                              .ldy = kernel_pad(targets)};
    for (size_t l = 0; l < net->layer_count; l++)
        g->widest = net->layers[l].shape.m > g->widest ? net->layers[l].shape.m : g->widest;
    g->layer = mem_own(&g->owned, net->layer_count, sizeof *g->layer);
    g->on = mem_own(&g->owned, net->layer_count * g->widest, sizeof *g->on);
    int err;
    if ((err = fetch_rows(g, source, rows)) < 0 ||
        (err = weights_new(&g->batch.weights, net, net->k, 1)) < 0 ||
        (err = plan_new(&g->batch.plan, g->batch.weights, rows, PLAN_TRAIN, 1, &running)) < 0 ||
        (err = watch_new(&g->watch, net)) < 0) {
        gradients_free(g);
        return err;
    }
    *out = g;
    return 0;
}

void gradients_free(struct gradients *g)
{
    if (!g)
        return;
    watch_free(g->watch);
    plan_free(g->batch.plan);
    weights_free(g->batch.weights);
    mem_free_owned(&g->owned);
    mem_free(g);
}

static void take_gradient(struct gradients *g)
{
    sph_net *net = g->net;
    size_t bytes = net->state_len * net->k->size;
    memcpy(g->state, net->state, bytes);
    weights_materialize(g->batch.weights);
    batch_run(&g->batch, g->x, g->y, g->rows.rows);
    weights_pull(g->batch.weights);
    memcpy(net->state, g->state, bytes);
    for (size_t l = 0; l < net->layer_count; l++) {
        const struct net_layer *layer = &net->layers[l];
        size_t count = layer->shape.m * param_per_unit(layer->ops, 0, &layer->shape);
        const char *gradient = g->batch.weights->learned_grad;
        double square = count ? net->k->sum_squares(count, gradient + layer->raw[0] * net->k->size) : 0;
        g->layer[l].norm = sqrt(square);
        g->layer[l].rms = count ? sqrt(square / (double)count) : 0;
    }
}

static void see(void *self, const struct watched *seen)
{
    struct gradients *g = self;
    if (seen->layer == NET_NOWHERE || !g->net->layers[seen->layer].act->breaks)
        return;
    size_t pixels = node_pixels(&g->net->nodes[seen->node]);
    size_t *on = g->on + seen->layer * g->widest;
    for (size_t row = 0; row < seen->rows; row++)
        for (size_t f = 0; f < seen->features; f++) {
            size_t unit = f / pixels;
            double value = seen->value[row * seen->features + f];
            on[unit] += seen->scale && seen->scale[unit] < 0 ? value < 0 : value > 0;
        }
}

static int take_activity(struct gradients *g)
{
    const sph_net *net = g->net;
    memset(g->on, 0, net->layer_count * g->widest * sizeof *g->on);
    int err = watch_run(g->watch, &g->rows, see, g);
    for (size_t l = 0; l < net->layer_count && !err; l++) {
        const struct net_layer *layer = &net->layers[l];
        size_t m = layer->shape.m, dead = 0, on = 0;
        for (size_t j = 0; j < m; j++) {
            on += g->on[l * g->widest + j];
            dead += !g->on[l * g->widest + j];
        }
        double all = (double)(g->rows.rows * node_pixels(&net->nodes[layer->node])) * (double)m;
        g->layer[l].active = layer->act->breaks ? (double)on / all : (double)NAN;
        g->layer[l].dead = layer->act->breaks ? (double)dead / (double)m : (double)NAN;
    }
    return err;
}

int gradients_take(struct gradients *g, const struct gradients_layer **layers)
{
    take_gradient(g);
    *layers = g->layer;
    int err = plan_check(g->batch.plan);
    return err ? err : take_activity(g);
}
