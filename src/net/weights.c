/* SPDX-License-Identifier: MIT */
#include "net/weights.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "compute/threads.h"
#include "net/plan.h"

/* Below this many units a product runs as dot products: vectors across units would be mostly padding. */
enum { NARROW = 4 };

/* Hands out pieces of one memory: first with base NULL to measure, then for good. Pieces are cache-line
 * aligned. */
struct carver {
    char *base;
    size_t size, used; /* bytes of a number; numbers used */
};

static void *carve(struct carver *carver, size_t count)
{
    size_t line = MEM_ALIGN / carver->size;
    void *piece = carver->base ? carver->base + carver->used * carver->size : NULL;
    carver->used += (count + line - 1) / line * line;
    return piece;
}

/* Whether the learned numbers are the weights as the products want them: no copy is made of them, nor of
 * their gradient. */
static int is_raw(const struct weights *weights, size_t l)
{
    const struct net_layer *layer = &weights->net->layers[l];
    return layer->ops->raw_is_weight && kernel_pad(layer->shape.m) == layer->shape.m;
}

static void carve_layer(struct weights *weights, size_t l, struct carver *carver)
{
    const struct net_layer *layer = &weights->net->layers[l];
    struct layer_weights *w = &weights->layer[l];
    struct param_step *step = &weights->step[l];
    size_t m = layer->shape.m, n = layer->shape.n;
    w->m = m;
    w->n = n;
    w->ldw = kernel_pad(m);
    w->ldwt = kernel_pad(n);
    w->narrow = m < NARROW && weights->net->nodes[layer->node].kind == NODE_DENSE;
    w->w = is_raw(weights, l) ? net_param(weights->net, layer->raw[0]) : carve(carver, n * w->ldw);
    int blocked = weights->image_block && weights->net->nodes[layer->node].kind == NODE_CONV;
    w->wt = blocked ? NULL : carve(carver, m * w->ldwt);
    w->b = carve(carver, w->ldw);
    w->s = carve(carver, w->ldw);
    step->scratch = carve(carver, layer->ops->scratch_len(&layer->shape));
    void *dw = w->narrow ? carve(carver, n * w->ldw) : NULL; /* narrow: gradients come the other way round */
    int reorders = param_reorders(layer->ops, &layer->shape);
    if (!layer->shape.has_bias)
        w->b = NULL;
    step->dw = reorders && weights->workers ? carve(carver, n * w->ldw) : dw;
    step->w = reorders ? carve(carver, n * w->ldw) : w->w;
}

/* Numbers of dw. */
static size_t grad_length(const struct layer_weights *w)
{
    return w->narrow ? w->m * w->ldwt : w->n * w->ldw;
}

static void carve_grads(struct weights *weights, size_t l, size_t worker, struct carver *carver,
                        struct layer_grads *out)
{
    const struct net_layer *layer = &weights->net->layers[l];
    const struct layer_weights *w = &weights->layer[l];
    size_t m = w->m;
    if (weights_frozen(weights, l))
        out->dw = NULL;
    else if (worker == 0 && is_raw(weights, l))
        out->dw = carver->base ? (char *)weights->learned_grad + layer->raw[0] * weights->k->size : NULL;
    else
        out->dw = carve(carver, grad_length(w));
    out->db = carve(carver, m);
    out->ds = carve(carver, m);
    for (size_t t = 0; t < layer->norm->tensors; t++)
        if (layer->norm->tensor[t].learned)
            out->dnorm[t] = carve(carver, net_norm_length(layer, t));
    out->dshape = carve(carver, net_shape_length(layer));
}

static void bind_layer(struct weights *weights, size_t l)
{
    const sph_net *net = weights->net;
    const struct net_layer *layer = &net->layers[l];
    struct layer_weights *w = &weights->layer[l];
    struct param_step *step = &weights->step[l];
    for (size_t t = 0; t < layer->norm->tensors; t++)
        w->norm[t] = net_norm(net, layer, t);
    w->act_shape = net_param(net, layer->act_shape);

    step->k = weights->k;
    step->shape = layer->shape;
    step->sign = net_state(net, layer->sign);
    for (size_t t = 0; t < layer->ops->tensors; t++) {
        step->raw[t] = net_param(net, layer->raw[t]);
        if (weights->workers && layer->raw[t] != NET_NOWHERE)
            step->draw[t] = (char *)weights->learned_grad + layer->raw[t] * weights->k->size;
    }
    step->ldw = w->ldw;
    step->b = w->b;
    step->s = w->s;
    if (weights->workers) {
        const struct layer_grads *first = &weights->grads[l * weights->workers];
        if (!w->narrow && !param_reorders(layer->ops, &layer->shape))
            step->dw = first->dw;
        step->db = w->b ? first->db : NULL;
        step->ds = first->ds;
    }
}

int weights_new(struct weights **out, sph_net *net, const struct kernels *k, size_t workers)
{
    return weights_new_frozen(out, net, k, workers, NULL);
}

int weights_new_frozen(struct weights **out, sph_net *net, const struct kernels *k, size_t workers,
                       const struct freeze *freeze)
{
    struct weights *weights = mem_get(1, sizeof *weights);
    if (!weights)
        return SPH_EMEMORY;
    size_t layers = net->layer_count;
    weights->net = net;
    weights->k = k;
    weights->workers = workers;
    weights->freeze = freeze;
    weights->image_block = plan_block(net, k);
    weights->layer = mem_get(layers, sizeof *weights->layer);
    weights->step = mem_get(layers, sizeof *weights->step);
    weights->grads = mem_get(layers * (workers ? workers : 1), sizeof *weights->grads);
    if (!weights->layer || !weights->step || !weights->grads)
        goto fail;

    struct carver measure = {.size = k->size}, measure_slab = {.size = k->size};
    for (size_t l = 0; l < layers; l++)
        carve_layer(weights, l, &measure);
    for (size_t worker = 0; worker < workers; worker++)
        for (size_t l = 0; l < layers; l++)
            carve_grads(weights, l, worker, &measure_slab, &weights->grads[0]);
    weights->slab_len = measure_slab.used;
    weights->memory = mem_get(measure.used, k->size);
    weights->slab = mem_get(weights->slab_len, k->size);
    weights->learned_grad = workers ? mem_get(net->learned, k->size) : NULL;
    if (!weights->memory || !weights->slab || (workers && !weights->learned_grad))
        goto fail;

    struct carver carver = {.base = weights->memory, .size = k->size};
    for (size_t l = 0; l < layers; l++)
        carve_layer(weights, l, &carver);
    struct carver slab = {.base = weights->slab, .size = k->size};
    for (size_t worker = 0; worker < workers; worker++)
        for (size_t l = 0; l < layers; l++)
            carve_grads(weights, l, worker, &slab, &weights->grads[l * workers + worker]);
    for (size_t l = 0; l < layers; l++)
        bind_layer(weights, l);
    *out = weights;
    return 0;
fail:
    weights_free(weights);
    return SPH_EMEMORY;
}

void weights_free(struct weights *weights)
{
    if (!weights)
        return;
    mem_free(weights->layer);
    mem_free(weights->step);
    mem_free(weights->grads);
    mem_free(weights->memory);
    mem_free(weights->slab);
    mem_free(weights->learned_grad);
    mem_free(weights->room);
    mem_free(weights);
}

void *weights_room(struct weights *weights, size_t numbers)
{
    if (weights->room && weights->room_len >= numbers)
        return weights->room;
    void *memory = mem_get(numbers, weights->k->size);
    if (memory && !weights->room) {
        weights->room = memory;
        weights->room_len = numbers;
    }
    return memory;
}

/* ---------------------------------------------------------------- passes over all layers */

/* From this many learned numbers on, a pass over them is worth waking the other workers. */
enum { TEAM_NUMBERS = 1 << 20 };

size_t weights_team(const struct weights *weights)
{
    return weights->workers > 1 && weights->net->learned >= TEAM_NUMBERS ? weights->workers : 1;
}

struct pass {
    struct weights *weights;
    void (*run)(struct weights *weights, size_t layer);
    size_t team;
};

/* Layers are dealt by their middles on the line of all weights, so that shares are about even. What becomes
 * of a layer does not depend on who has it. */
static void run_share(void *context, size_t worker)
{
    const struct pass *pass = context;
    const sph_net *net = pass->weights->net;
    double all = 0, before = 0;
    for (size_t l = 0; l < net->layer_count; l++)
        all += (double)(net->layers[l].shape.m * net->layers[l].shape.n);
    for (size_t l = 0; l < net->layer_count; l++) {
        double here = (double)(net->layers[l].shape.m * net->layers[l].shape.n);
        if ((size_t)((before + here / 2) / all * (double)pass->team) == worker)
            pass->run(pass->weights, l);
        before += here;
    }
}

static void each_layer(struct weights *weights, void (*run)(struct weights *weights, size_t layer))
{
    struct pass pass = {weights, run, weights_team(weights)};
    if (pass.team > 1)
        threads_run(pass.team, run_share, &pass);
    else
        for (size_t l = 0; l < weights->net->layer_count; l++)
            run(weights, l);
}

/* Where angles run over the inputs in an order of their own: rows as they take them, to or from W's. */
static void reorder(const struct weights *weights, size_t l, const void *from, void *to, int to_angles)
{
    const struct layer_weights *w = &weights->layer[l];
    size_t row = w->ldw * weights->k->size;
    for (size_t i = 0; i < w->n; i++) {
        size_t there = param_input(&weights->net->layers[l].shape, i);
        memcpy((char *)to + (to_angles ? i : there) * row, (const char *)from + (to_angles ? there : i) * row,
               row);
    }
}

static void materialize_layer(struct weights *weights, size_t l)
{
    const sph_net *net = weights->net;
    const struct kernels *k = weights->k;
    const struct net_layer *layer = &net->layers[l];
    struct layer_weights *w = &weights->layer[l];
    layer->ops->to_weight(&weights->step[l]);
    if (weights->step[l].w != w->w)
        reorder(weights, l, weights->step[l].w, w->w, 0);
    w->scaled = weights->step[l].scaled;
    if (layer->output_sign != NET_NOWHERE) {
        memcpy(w->s, net_state(net, layer->output_sign), w->m * k->size);
        w->scaled = 1;
    }
    int reads_data = net->nodes[net->nodes[layer->node].in[0]].kind == NODE_INPUT;
    int blocked = weights->image_block && net->nodes[layer->node].kind == NODE_CONV;
    if (w->narrow || (weights->workers && !reads_data && !blocked))
        k->transpose(w->n, w->m, w->w, w->ldw, w->wt, w->ldwt);
}

void weights_materialize(struct weights *weights)
{
    each_layer(weights, materialize_layer);
}

static void refresh_layer(struct weights *weights, size_t l)
{
    if (!weights_frozen(weights, l))
        materialize_layer(weights, l);
}

void weights_refresh(struct weights *weights)
{
    each_layer(weights, refresh_layer);
}

static void clear(void *at, size_t count, const struct kernels *k)
{
    if (at)
        memset(at, 0, count * k->size);
}

static void clear_layer(struct weights *weights, size_t l)
{
    const struct layer_weights *w = &weights->layer[l];
    const struct net_layer *layer = &weights->net->layers[l];
    for (size_t worker = 0; worker < weights->workers; worker++) {
        const struct layer_grads *grads = &weights->grads[l * weights->workers + worker];
        clear(grads->dw, grad_length(w), weights->k);
        clear(grads->db, w->m, weights->k);
        clear(grads->ds, w->m, weights->k);
        for (size_t t = 0; t < layer->norm->tensors; t++)
            clear(grads->dnorm[t], net_norm_length(layer, t), weights->k);
        clear(grads->dshape, net_shape_length(layer), weights->k);
    }
}

void weights_clear(struct weights *weights)
{
    each_layer(weights, clear_layer);
}

/* The first worker's gradients of a layer += another's. */
static void add_grads(struct weights *weights, size_t l, size_t worker)
{
    const struct kernels *k = weights->k;
    const struct net_layer *layer = &weights->net->layers[l];
    const struct layer_weights *w = &weights->layer[l];
    const struct layer_grads *to = &weights->grads[l * weights->workers], *from = to + worker;
    size_t m = w->m, length = grad_length(w);
    if (to->dw)
        k->add(1, length, from->dw, length, to->dw, length);
    k->add(1, m, from->db, m, to->db, m);
    k->add(1, m, from->ds, m, to->ds, m);
    for (size_t t = 0; t < layer->norm->tensors; t++) {
        size_t count = net_norm_length(layer, t);
        if (to->dnorm[t])
            k->add(1, count, from->dnorm[t], count, to->dnorm[t], count);
    }
    size_t shapes = net_shape_length(layer);
    if (shapes)
        k->add(1, shapes, from->dshape, shapes, to->dshape, shapes);
}

static void copy_grad(struct weights *weights, const void *from, size_t at, size_t count)
{
    if (at != NET_NOWHERE)
        memcpy((char *)weights->learned_grad + at * weights->k->size, from, count * weights->k->size);
}

/* The gradients of a layer's frozen tensors <- 0: nothing that looks at all of them, as clipping does, sees them. */
static void forget_frozen(struct weights *weights, size_t l)
{
    const sph_net *net = weights->net;
    size_t size = weights->k->size;
    for (size_t i = 0; weights->freeze && i < net->tensor_count; i++)
        if (weights->freeze->tensor[i] && net->tensors[i].layer == l)
            memset((char *)weights->learned_grad + net->tensors[i].at * size, 0,
                   net->tensors[i].view.count * size);
}

static void pull_raw(struct weights *weights, size_t l, const struct layer_grads *grads)
{
    const struct layer_weights *w = &weights->layer[l];
    if (w->narrow)
        weights->k->transpose(w->m, w->n, grads->dw, w->ldwt, (void *)weights->step[l].dw, w->ldw);
    if (weights->step[l].w != w->w)
        reorder(weights, l, grads->dw, (void *)weights->step[l].dw, 1);
    weights->net->layers[l].ops->pull_grad(&weights->step[l]);
}

static void pull_layer(struct weights *weights, size_t l)
{
    if (weights_still(weights, l))
        return;
    const struct net_layer *layer = &weights->net->layers[l];
    const struct layer_grads *grads = &weights->grads[l * weights->workers];
    for (size_t worker = 1; worker < weights->workers; worker++)
        add_grads(weights, l, worker);
    if (!weights_frozen(weights, l))
        pull_raw(weights, l, grads);
    for (size_t t = 0; t < layer->norm->tensors; t++)
        if (grads->dnorm[t])
            copy_grad(weights, grads->dnorm[t], layer->norm_at[t], net_norm_length(layer, t));
    copy_grad(weights, grads->dshape, layer->act_shape, net_shape_length(layer));
    forget_frozen(weights, l);
}

void weights_pull(struct weights *weights)
{
    each_layer(weights, pull_layer);
}

static void natural_layer(struct weights *weights, size_t l)
{
    const struct param_ops *ops = weights->net->layers[l].ops;
    if (ops->natural && !weights_frozen(weights, l))
        ops->natural(&weights->step[l], weights->damping);
}

void weights_natural(struct weights *weights, double damping)
{
    weights->damping = damping;
    each_layer(weights, natural_layer);
}

void weights_after_step(struct weights *weights)
{
    const sph_net *net = weights->net;
    for (size_t i = 0; i < net->tensor_count; i++) { /* of a layer's first tensor, the direction */
        size_t l = net->tensors[i].layer;
        const struct net_layer *layer = &net->layers[l];
        if (layer->ops->after_step && net->tensors[i].view.learned && net->tensors[i].at == layer->raw[0] &&
            !(weights->freeze && weights->freeze->tensor[i]))
            layer->ops->after_step(&weights->step[l]);
    }
}

size_t weights_first_bad(const struct weights *weights)
{
    for (size_t l = 0; l < weights->net->layer_count; l++) {
        const struct layer_weights *w = &weights->layer[l];
        for (size_t i = 0; i < w->n; i++)
            if (!weights->k->all_finite(w->m, (char *)w->w + i * w->ldw * weights->k->size))
                return l;
        if ((w->b && !weights->k->all_finite(w->m, w->b)) ||
            (w->scaled && !weights->k->all_finite(w->m, w->s)))
            return l;
    }
    return weights->net->layer_count;
}
