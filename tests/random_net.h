/* SPDX-License-Identifier: MIT
 *
 * Nets with random numbers everywhere: scales of both signs, running statistics, shapes of srelu. */
#ifndef TESTS_RANDOM_NET_H
#define TESTS_RANDOM_NET_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "failure.h"
#include "spherelu.h"

struct random_spec {
    uint64_t seed;
    sph_dtype dtype;
    sph_param param;
    sph_norm norm;
    sph_act act;
    size_t inputs, depth;
    int residual; /* each hidden layer but the first is added to what it reads */
    int zeros;    /* some units have no weight, or r = 0 */
};

static int ends_with(const char *name, const char *end)
{
    size_t a = strlen(name), b = strlen(end);
    return a >= b && !strcmp(name + a - b, end);
}

static void random_tensor(struct rng *rng, const sph_tensor *t, double *values, int zeros)
{
    size_t per_unit = t->count / t->shape[0];
    for (size_t i = 0; i < t->count; i++) {
        double x = rng_normal(rng);
        if (ends_with(t->name, "norm.var"))
            x = 0.3 + 2 * rng_unit(rng);
        else if (!t->learned && !ends_with(t->name, "norm.mean"))
            x = x < 0 ? -1 : 1;
        else if (ends_with(t->name, "act.t_right"))
            x = 0.2 + fabs(x);
        else if (ends_with(t->name, "act.t_left"))
            x = -0.1 - fabs(x);
        values[i] = x;
    }
    for (size_t j = 0; j < t->shape[0] && ends_with(t->name, ".u"); j++) {
        double length = 0, *u = values + j * per_unit;
        for (size_t i = 0; i < per_unit; i++)
            length = hypot(length, u[i]);
        for (size_t i = 0; i < per_unit; i++)
            u[i] /= length;
    }
    int stops = ends_with(t->name, ".weight") || ends_with(t->name, ".v") || ends_with(t->name, ".g") ||
                (t->learned && ends_with(t->name, ".r"));
    for (size_t j = 0; zeros && stops && j < t->shape[0]; j++)
        if (rng_unit(rng) < 0.25)
            memset(values + j * per_unit, 0, per_unit * sizeof *values);
}

/* Other numbers for every tensor of a net. */
static void randomize(sph_net *net, uint64_t seed, int zeros)
{
    struct rng rng = rng_stream(seed, RNG_NOISE, 1);
    for (size_t i = 0; i < sph_net_tensors(net); i++) {
        sph_tensor t;
        assert_int_equal(sph_net_tensor(net, i, &t), 0);
        double *values = calloc(t.count, sizeof *values);
        random_tensor(&rng, &t, values, zeros);
        assert_int_equal(sph_net_set(net, t.name, values, t.count), 0);
        free(values);
    }
}

__attribute__((unused)) static sph_net *random_net(const struct random_spec *spec)
{
    static const size_t widths[] = {5, 3, 7, 1, 4};
    sph_net *net = NULL;
    assert_int_equal(sph_net_new(&net, spec->dtype), 0);
    int node = sph_net_input(net, spec->inputs);
    size_t width = widths[spec->seed % 5];
    for (size_t d = 0; d < spec->depth; d++) {
        if (!spec->residual)
            width = widths[(spec->seed + 2 * d) % 5];
        int from = node;
        node = sph_net_dense(net, from,
                             &(sph_layer){.size = sizeof(sph_layer),
                                          .units = width,
                                          .param = spec->param,
                                          .norm = spec->norm,
                                          .act = spec->act});
        assert_true(node > 0);
        if (d && spec->residual)
            node = sph_net_add(net, from, node);
        assert_true(node > 0);
    }
    node = sph_net_dense(net, node, &(sph_layer){.size = sizeof(sph_layer), .units = 2});
    assert_true(node > 0);
    assert_int_equal(sph_net_ready(net, node, spec->seed), 0);
    randomize(net, spec->seed, spec->zeros);
    return net;
}

#endif
