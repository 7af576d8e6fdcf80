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
    double *sum, *squares; /* (layers, channels of the widest input), (layers) of what each layer reads */
    double *centre;        /* (channels) */
    size_t channels;
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
    for (size_t l = 0; l < net->layer_count; l++) {
        g->widest = net->layers[l].shape.m > g->widest ? net->layers[l].shape.m : g->widest;
        size_t channels = net->nodes[net->nodes[net->layers[l].node].in[0]].channels;
        g->channels = channels > g->channels ? channels : g->channels;
    }
    g->layer = mem_own(&g->owned, net->layer_count, sizeof *g->layer);
    g->on = mem_own(&g->owned, net->layer_count * g->widest, sizeof *g->on);
    g->sum = mem_own(&g->owned, net->layer_count * g->channels, sizeof *g->sum);
    g->squares = mem_own(&g->owned, net->layer_count, sizeof *g->squares);
    g->centre = mem_own(&g->owned, g->channels, sizeof *g->centre);
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

static int node_before(const struct gradients *g, size_t layer)
{
    return g->net->nodes[g->net->layers[layer].node].in[0];
}

static void see_inputs(struct gradients *g, const struct watched *seen)
{
    size_t channels = g->net->nodes[seen->node].channels, pixels = seen->features / channels;
    for (size_t l = 0; l < g->net->layer_count; l++)
        for (size_t i = 0; node_before(g, l) == (int)seen->node && i < seen->rows * seen->features; i++) {
            g->sum[l * g->channels + i % seen->features / pixels] += seen->value[i];
            g->squares[l] += seen->value[i] * seen->value[i];
        }
}

/* The layer whose running mean is taken off what layer l reads: its own, or the one before; NULL: none is. */
static const struct net_layer *centred_by(const struct gradients *g, size_t l)
{
    const struct net_node *before = &g->net->nodes[node_before(g, l)];
    const struct net_layer *layer = &g->net->layers[l];
    if (layer->norm->at_input)
        return layer;
    layer = before->kind == NODE_DENSE || before->kind == NODE_CONV ? &g->net->layers[before->layer] : NULL;
    return layer && layer->norm->at_output ? layer : NULL;
}

static double input_mean(struct gradients *g, size_t l)
{
    const struct net_node *before = &g->net->nodes[node_before(g, l)];
    double points = (double)(g->rows.rows * node_pixels(before)), length = 0, spread = g->squares[l] / points;
    const struct net_layer *by = centred_by(g, l);
    memset(g->centre, 0, g->channels * sizeof *g->centre);
    if (by)
        g->net->k->to_double(before->channels, net_norm(g->net, by, 0), g->centre);
    for (size_t c = 0; c < before->channels; c++) {
        double mean = g->sum[l * g->channels + c] / points;
        spread -= mean * mean;
        length += (mean - g->centre[c]) * (mean - g->centre[c]);
    }
    return spread > 0 ? sqrt(length / spread) : (double)NAN;
}

static void see(void *self, const struct watched *seen)
{
    struct gradients *g = self;
    see_inputs(g, seen);
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
    memset(g->sum, 0, net->layer_count * g->channels * sizeof *g->sum);
    memset(g->squares, 0, net->layer_count * sizeof *g->squares);
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
        g->layer[l].input_mean = input_mean(g, l);
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
