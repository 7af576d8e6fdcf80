/* SPDX-License-Identifier: MIT */
#include "boundary/tracker.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* Inputs that are written to a frame together. */
enum { FRAME_ROWS = 16 };

struct tracked {
    struct moves_args args; /* u, offset: as last taken */
    void *rows;             /* (FRAME_ROWS + 1, m) padded; the last one is 0 */
    int follows, moved;     /* moved: a step was taken since the start */
};

struct sph_tracker {
    const struct kernels *k;
    size_t layer_count;
    struct tracked *layer; /* (layers) */
    struct mem_owned owned;
};

/* ---------------------------------------------------------------- making */

int tracker_follows(const sph_net *net, size_t layer)
{
    return net->layers[layer].act->breaks && !net->layers[layer].norm->per_sample;
}

static int tracked_make(struct tracked *out, const sph_net *net, size_t number, struct mem_owned *owned)
{
    const struct net_layer *layer = &net->layers[number];
    size_t m = layer->shape.m, n = layer->shape.n, ld = kernel_pad(m), size = net->k->size;
    if (!(out->follows = tracker_follows(net, number)))
        return 0;
    out->args = (struct moves_args){
        .n = n,
        .m = m,
        .threshold = net_break(net, layer, 0),
        .area = layer_area(layer),
        .groups = layer_groups(layer),
        .epsilon = layer->norm_epsilon,
        .u = mem_own(owned, n * ld, size),
        .ldu = ld,
        .offset = mem_own(owned, m, size),
        .moved = mem_own(owned, 2 * ld, size),
    };
    const void *tensor[NORM_TENSORS] = {NULL};
    for (size_t t = 0; t < layer->norm->tensors; t++)
        tensor[t] = net_norm(net, layer, t);
    if (layer->norm->moves && !(layer->norm->at_input && layer->spec.pad)) /* else in the centred patch */
        layer->norm->moves(tensor, &out->args);
    out->rows = mem_own(owned, (FRAME_ROWS + 1) * ld, size);
    if (owned->failed)
        return SPH_EMEMORY;
    memset(out->args.u, 0xff, n * ld * size); /* NaN, in f32 and in f64: none was seen yet */
    memset(out->args.offset, 0xff, m * size);
    out->args.turned = (char *)out->args.moved + ld * size;
    return 0;
}

int sph_tracker_new(sph_tracker **out, const sph_net *net)
{
    NEED(out, net);
    if (!net->ready)
        return sph_fail_of(SPH_EARG, "", 0, "net", "the network is not ready; call sph_net_ready first");
    sph_tracker *tracker = mem_get(1, sizeof *tracker);
    if (!tracker)
        return SPH_EMEMORY;
    tracker->k = net->k;
    tracker->layer_count = net->layer_count;
    tracker->layer = mem_own(&tracker->owned, net->layer_count, sizeof *tracker->layer);
    int err = tracker->layer ? 0 : SPH_EMEMORY;
    for (size_t i = 0; i < net->layer_count && !err; i++)
        err = tracked_make(&tracker->layer[i], net, i, &tracker->owned);
    if (err < 0) {
        sph_tracker_free(tracker);
        return err;
    }
    *out = tracker;
    return 0;
}

void sph_tracker_free(sph_tracker *tracker)
{
    if (!tracker)
        return;
    mem_free_owned(&tracker->owned);
    mem_free(tracker);
}

/* ---------------------------------------------------------------- a step */

static double root_of(double square)
{
    return sqrt(square);
}

static double turn_of(double tangent_squared) /* of half the angle */
{
    return 2 * atan(sqrt(tangent_squared));
}

/* Between two neighbours in order, as numpy interpolates: exact at both ends. Unlike there, inf is an end. */
static double between(double a, double b, double share)
{
    double gap = b - a;
    if (share == 0 || a == b)
        return a;
    return isinf(b) ? b : share < 0.5 ? a + gap * share : b - gap * (1 - share);
}

/* Roots and angles keep the order of what they are taken of: only the values that matter are. */
static void summarize(const struct spread *spread, double (*value_of)(double), sph_spread *out)
{
    double *const shares[SPREAD_SHARES] = {&out->median, &out->p90};
    out->max = value_of(spread->most);
    for (int i = 0; i < SPREAD_SHARES; i++) {
        double place = spread->count ? spread_share[i] * (double)(spread->count - 1) : 0;
        double low = value_of(spread->around[i][0]), high = value_of(spread->around[i][1]);
        *shares[i] = between(low, high, place - floor(place));
    }
}

static void take(sph_tracker *tracker, const sph_view *view, size_t i)
{
    struct tracked *layer = &tracker->layer[i];
    layer->args.w = view->layer[i].w;
    layer->args.ldw = view->layer[i].ldw;
    layer->args.b = view->layer[i].b;
    tracker->k->moves(&layer->args);
}

void tracker_start(sph_tracker *tracker, const sph_view *view)
{
    for (size_t i = 0; i < tracker->layer_count; i++) {
        if (!tracker->layer[i].follows)
            continue;
        take(tracker, view, i);
        tracker->layer[i].moved = 0;
    }
}

void tracker_step(sph_tracker *tracker, const sph_view *view)
{
    for (size_t i = 0; i < tracker->layer_count; i++) {
        if (!tracker->layer[i].follows)
            continue;
        take(tracker, view, i);
        tracker->layer[i].moved = 1;
    }
}

static int on_start(void *self, const sph_view *view)
{
    if (!view->layer)
        return sph_fail_key(SPH_EARG, "ensemble",
                            "a tracker follows a single network, but several are trained");
    tracker_start(self, view);
    return 0;
}

static int on_step(void *self, const sph_view *view)
{
    tracker_step(self, view);
    return 0;
}

void sph_tracker_observer(sph_tracker *tracker, sph_observer *out)
{
    if (!tracker || !out)
        return;
    *out = (sph_observer){.self = tracker, .start = on_start, .step = on_step};
}

/* ---------------------------------------------------------------- what it saw */

int sph_tracker_layer(const sph_tracker *tracker, size_t layer, sph_motion *out)
{
    NEED(tracker, out);
    if (layer >= tracker->layer_count)
        return sph_fail_of(SPH_EARG, "", 0, "layer", "no layer %zu; the network has %zu layers", layer,
                           tracker->layer_count);
    const struct tracked *from = &tracker->layer[layer];
    struct spread spread[2];
    *out = (sph_motion){.move = {NAN, NAN, NAN}, .turn = {NAN, NAN, NAN}};
    if (!from->moved)
        return from->follows;
    tracker->k->spread(from->args.m, from->args.moved, from->args.ldu, spread);
    out->units = spread[0].count;
    summarize(&spread[0], root_of, &out->move);
    summarize(&spread[1], turn_of, &out->turn);
    return from->follows;
}

int sph_tracker_largest(const sph_tracker *tracker, double *move, double *turn)
{
    NEED(tracker, move, turn);
    double most[2] = {-1, -1};
    for (size_t i = 0; i < tracker->layer_count; i++) {
        const struct tracked *layer = &tracker->layer[i];
        double here[2];
        if (!layer->moved)
            continue;
        tracker->k->largest(layer->args.m, layer->args.moved, layer->args.ldu, here);
        for (int a = 0; a < 2; a++)
            most[a] = here[a] > most[a] ? here[a] : most[a];
    }
    *move = most[0] < 0 ? (double)NAN : root_of(most[0]);
    *turn = most[1] < 0 ? (double)NAN : turn_of(most[1]);
    return 0;
}

void tracker_frame(const sph_tracker *tracker, size_t layer, void *phi, void *normal)
{
    const struct moves_args *a = &tracker->layer[layer].args;
    const struct kernels *k = tracker->k;
    size_t row_size = a->ldu * k->size;
    char *rows = tracker->layer[layer].rows, *zero = rows + FRAME_ROWS * row_size;
    for (size_t i = 0; i < a->n; i += FRAME_ROWS) {
        size_t count = a->n - i < FRAME_ROWS ? a->n - i : FRAME_ROWS;
        const char *u = (const char *)a->u + i * row_size;
        k->shift(count, a->m, u, a->ldu, zero, rows, a->ldu); /* -0 + 0 is 0 */
        k->transpose(count, a->m, rows, a->ldu, (char *)normal + i * k->size, a->n);
        for (size_t r = 0; r < count; r++)
            k->negative_product(a->m, a->offset, u + r * row_size, rows + r * row_size);
        k->shift(count, a->m, rows, a->ldu, zero, rows, a->ldu);
        k->transpose(count, a->m, rows, a->ldu, (char *)phi + i * k->size, a->n);
    }
}
