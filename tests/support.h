/* SPDX-License-Identifier: MIT
 *
 * What the tests of the numeric core share: dice, nets in one line, a loss with its gradient outside of any
 * training loop, and a table in memory as a source of rows. Include it first: it brings cmocka. */
#ifndef SPH_TESTS_SUPPORT_H
#define SPH_TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "net/plan.h"
#include "rows/source.h"

#include "failure.h"

#define SUPPORT static inline __attribute__((unused))

#define SUPPORT_WORD(id, word, help) word,
static const char *const param_word[] = {SPH_PARAMS(SUPPORT_WORD)};
static const char *const norm_word[] = {SPH_NORMS(SUPPORT_WORD)};
static const char *const act_word[] = {SPH_ACTS(SUPPORT_WORD)};
static const char *const loss_word[] = {SPH_LOSSES(SUPPORT_WORD)};

/* ---------------------------------------------------------------- dice */

SUPPORT double between(struct rng *rng, double low, double high)
{
    return low + (high - low) * rng_unit(rng);
}

SUPPORT double get_number(const struct kernels *k, const void *array, size_t i)
{
    return k->dtype == SPH_F64 ? ((const double *)array)[i] : (double)((const float *)array)[i];
}

SUPPORT void set_number(const struct kernels *k, void *array, size_t i, double value)
{
    if (k->dtype == SPH_F64)
        ((double *)array)[i] = value;
    else
        ((float *)array)[i] = (float)value;
}

SUPPORT double *numbers(size_t count)
{
    double *block = calloc(count ? count : 1, sizeof *block);
    assert_non_null(block);
    return block;
}

/* ---------------------------------------------------------------- nets */

/* Whether a norm works on each row by itself, and its units have no hyperplanes but by chance. */
SUPPORT int per_sample(int norm)
{
    return norm_ops((sph_norm)norm)->per_sample;
}

/* A tensor of a layer's normalization by its name, "norm.shift"; NULL: it has none. */
SUPPORT void *norm_tensor(const sph_net *net, size_t layer, const char *name)
{
    const struct net_layer *from = &net->layers[layer];
    for (size_t t = 0; t < from->norm->tensors; t++)
        if (!strcmp(from->norm->tensor[t].name, name))
            return net_norm(net, from, t);
    return NULL;
}

SUPPORT sph_net *open_net(sph_dtype dtype, enum kernel_choice choice)
{
    sph_net *net = NULL;
    assert_int_equal(sph_net_new(&net, dtype), 0);
    net->k = kernels_pick(dtype, choice);
    return net;
}

SUPPORT int dense(sph_net *net, int from, size_t units, sph_param param, sph_norm norm, sph_act act)
{
    int node = sph_net_dense(
        net, from,
        &(sph_layer){.size = sizeof(sph_layer), .units = units, .param = param, .norm = norm, .act = act});
    assert_true(node >= 0);
    return node;
}

SUPPORT void ready(sph_net *net, int output, uint64_t seed)
{
    assert_int_equal(sph_net_ready(net, output, seed), 0);
}

/* Input, `depth` equal layers, a plain output layer. */
SUPPORT sph_net *stack(sph_dtype dtype, enum kernel_choice choice, size_t inputs, size_t units, size_t depth,
                       size_t outputs, sph_param param, sph_norm norm, sph_act act, uint64_t seed)
{
    sph_net *net = open_net(dtype, choice);
    int node = sph_net_input(net, inputs);
    for (size_t d = 0; d < depth; d++)
        node = dense(net, node, units, param, norm, act);
    node = dense(net, node, outputs, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_IDENTITY);
    ready(net, node, seed);
    return net;
}

/* Every learned number leaves its first value, so that no test rests on zero biases or scales of one.
 * Directions stay as drawn. Running statistics become absurd: training must not look at them. */
SUPPORT void stir(sph_net *net, struct rng *rng)
{
    for (size_t i = 0; i < net->tensor_count; i++) {
        const struct net_tensor *tensor = &net->tensors[i];
        const char *name = strrchr(tensor->view.name, '.') + 1;
        double *values = numbers(tensor->view.count);
        net_read_tensor(net, tensor, values);
        for (size_t e = 0; e < tensor->view.count; e++) {
            double *v = &values[e];
            if (!tensor->view.learned)
                *v = strcmp(name, "mean") && strcmp(name, "var") ? *v : 1e3;
            else if (tensor->view.group == SPH_GROUP_LAMBDA || tensor->view.group == SPH_GROUP_BIAS)
                *v = between(rng, -0.5, 0.5);
            else if (tensor->view.group == SPH_GROUP_NORM)
                *v = strcmp(name, "scale") ? between(rng, -0.5, 0.5) : between(rng, 0.5, 1.5);
            else if (!strcmp(name, "t_right"))
                *v = between(rng, 0.3, 0.8);
            else if (!strcmp(name, "t_left"))
                *v = between(rng, -0.4, 0.1);
            else if (!strcmp(name, "a_right") || !strcmp(name, "a_left"))
                *v = between(rng, -0.5, 1.5);
        }
        net_write_tensor(net, tensor, values);
        free(values);
    }
}

/* ---------------------------------------------------------------- a loss and its gradient */

/* Rows, targets, and what it takes to run a net over them. The padding of x and y is NaN: it must reach
 * nothing. */
struct probe {
    sph_net *net; /* borrowed */
    struct weights *weights;
    struct plan *plan;
    sph_loss loss;
    size_t rows, ldx, ldy;
    void *x, *y;
};

SUPPORT void *padded_rows(const struct kernels *k, size_t rows, size_t ld)
{
    void *block = mem_get(rows * ld, k->size);
    assert_non_null(block);
    for (size_t i = 0; i < rows * ld; i++)
        set_number(k, block, i, NAN);
    return block;
}

SUPPORT void probe_open(struct probe *p, sph_net *net, sph_loss loss, size_t rows, size_t workers,
                        struct rng *rng)
{
    size_t n = sph_net_inputs(net), outputs = sph_net_outputs(net),
           targets = loss == SPH_LOSS_CE ? 1 : outputs;
    *p = (struct probe){
        .net = net, .loss = loss, .rows = rows, .ldx = net_row_length(net), .ldy = kernel_pad(targets)};
    double *row = numbers(n);
    p->x = padded_rows(net->k, rows, p->ldx);
    p->y = padded_rows(net->k, rows, p->ldy);
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < n; j++)
            row[j] = rng_normal(rng);
        net_arrange(net, row, (char *)p->x + i * p->ldx * net->k->size);
        for (size_t j = 0; j < targets; j++) {
            double target = loss == SPH_LOSS_BCE  ? (double)rng_below(rng, 2)
                            : loss == SPH_LOSS_CE ? (double)rng_below(rng, (uint32_t)outputs)
                                                  : rng_normal(rng);
            set_number(net->k, p->y, i * p->ldy + j, target);
        }
    }
    free(row);
    assert_int_equal(weights_new(&p->weights, net, net->k, workers), 0);
    struct plan_running running = {.momentum = 0.1};
    assert_int_equal(plan_new(&p->plan, p->weights, rows, PLAN_TRAIN, workers, &running), 0);
}

SUPPORT void probe_close(struct probe *p)
{
    plan_free(p->plan);
    weights_free(p->weights);
    mem_free(p->x);
    mem_free(p->y);
}

struct probe_part {
    const struct probe *probe;
    size_t first;
};

SUPPORT double probe_head(void *self, const struct tile *tile, const void *y, size_t ldy, void *dy,
                          size_t lddy)
{
    const struct probe_part *part = self;
    const struct probe *p = part->probe;
    const struct kernels *k = p->net->k;
    size_t outputs = sph_net_outputs(p->net);
    return k->loss[p->loss](&(struct loss_args){
        .rows = tile->rows,
        .k = outputs,
        .p = y,
        .ldp = ldy,
        .t = (char *)p->y + (part->first + tile->row) * p->ldy * k->size,
        .ldt = p->ldy,
        .weight = 1 / ((double)p->rows * (p->loss == SPH_LOSS_CE ? 1 : (double)outputs)),
        .delta = 0.7,
        .dp = dy,
        .lddp = lddy,
    });
}

/* The loss in training mode, `micro` rows at a time. Gradients lie in the slabs. */
SUPPORT double probe_loss_in(struct probe *p, size_t micro)
{
    double loss = 0;
    weights_materialize(p->weights);
    weights_clear(p->weights);
    for (size_t row = 0; row < p->rows; row += micro) {
        struct probe_part part = {p, row};
        size_t count = p->rows - row < micro ? p->rows - row : micro;
        loss += plan_run(p->plan, (char *)p->x + row * p->ldx * p->net->k->size, p->ldx, count,
                         &(struct plan_head){&part, probe_head});
    }
    return loss;
}

SUPPORT double probe_loss(struct probe *p)
{
    return probe_loss_in(p, p->rows);
}

/* The loss; weights->learned_grad holds its gradient. */
SUPPORT double probe_gradient(struct probe *p)
{
    double loss = probe_loss(p);
    weights_pull(p->weights);
    return loss;
}

/* ---------------------------------------------------------------- a table in memory */

struct memory_table {
    const struct kernels *k;
    size_t n, targets;
    const double *x, *y;   /* (rows, n), (rows, targets); borrowed */
    size_t fetches, least; /* calls so far, fewest rows of one     */
};

SUPPORT int memory_fetch(void *self, const uint32_t *index, size_t count, void *x, size_t ldx, void *y,
                         size_t ldy)
{
    struct memory_table *table = self;
    if (!table->fetches++ || count < table->least)
        table->least = count;
    for (size_t i = 0; i < count; i++) {
        table->k->from_double(table->n, table->x + index[i] * table->n, (char *)x + i * ldx * table->k->size);
        table->k->from_double(table->targets, table->y + index[i] * table->targets,
                              (char *)y + i * ldy * table->k->size);
    }
    return 0;
}

SUPPORT struct source memory_source(struct memory_table *table, size_t rows)
{
    return (struct source){.self = table, .rows = rows, .targets = table->targets, .fetch = memory_fetch};
}

/* A net that returns its input: a plain layer with the unit matrix. */
SUPPORT sph_net *mirror(sph_dtype dtype, size_t n)
{
    sph_net *net = open_net(dtype, KERNELS_FASTEST);
    ready(net, dense(net, sph_net_input(net, n), n, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_IDENTITY), 1);
    double *unit = numbers(n * n);
    for (size_t i = 0; i < n; i++)
        unit[i * n + i] = 1;
    assert_int_equal(sph_net_set(net, "layers.0.weight", unit, n * n), 0);
    free(unit);
    return net;
}

#endif
