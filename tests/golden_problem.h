/* SPDX-License-Identifier: MIT
 *
 * The problem whose losses tests/golden/make_golden.py and its siblings computed with PyTorch: data and first
 * weights from an integer generator, which C and Python draw alike. */
#ifndef SPH_TESTS_GOLDEN_PROBLEM_H
#define SPH_TESTS_GOLDEN_PROBLEM_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "spherelu.h"

enum { ROWS = 200, INPUTS = 13, WIDE = 32, LAYERS = 3, LOSSES = 101, SEED = 96 };

static const size_t sizes[LAYERS + 1] = {INPUTS, WIDE, WIDE, 1};

static double x[ROWS][INPUTS], y[ROWS];
static double weight[LAYERS][WIDE * WIDE], bias[LAYERS][WIDE]; /* (m, n) and (m) */

static double spread(uint64_t *state, double half)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    double unit = (double)(*state >> 11) * 0x1p-53;
    return (2.0 * unit - 1.0) * half;
}

static void make_problem(void)
{
    uint64_t state = SEED;
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < INPUTS; j++)
            x[i][j] = spread(&state, 1.7);
    for (size_t i = 0; i < ROWS; i++) {
        const double *r = x[i];
        y[i] = 0.5 * r[0] * r[1] + 0.25 * r[2] * r[2] - 0.5 * r[3] + 0.125 * r[4] * r[5] * r[6] + 0.25 * r[7];
    }
    for (size_t k = 0; k < LAYERS; k++) {
        size_t n = sizes[k], m = sizes[k + 1];
        double half = sqrt(6.0 / (double)(n + m));
        for (size_t i = 0; i < m * n; i++)
            weight[k][i] = spread(&state, half);
        for (size_t j = 0; j < m; j++)
            bias[k][j] = spread(&state, 0.1);
    }
}

/* ---------------------------------------------------------------- starting values */

static void golden_set(sph_net *net, size_t layer, const char *tensor, const double *values, size_t count)
{
    char name[64];
    snprintf(name, sizeof name, "layers.%zu.%s", layer, tensor);
    if (sph_net_set(net, name, values, count) < 0)
        fail_msg("%s: %s", name, sph_error());
}

/* theta (n-1) of w (n) */
static void angles(size_t n, const double *w, double *theta)
{
    double tail = w[n - 1] * w[n - 1];
    theta[n - 2] = atan2(w[n - 1], w[n - 2]);
    for (size_t i = n - 2; i-- > 0;) {
        tail += w[i + 1] * w[i + 1];
        theta[i] = atan2(sqrt(tail), w[i]);
    }
}

static void set_hidden(sph_net *net, size_t k, sph_param param, sph_norm norm)
{
    size_t n = sizes[k], m = sizes[k + 1];
    double length[WIDE], lambda[WIDE], direction[WIDE * WIDE], theta[WIDE * WIDE];
    for (size_t j = 0; j < m; j++) {
        const double *w = &weight[k][j * n];
        double square = 0;
        for (size_t i = 0; i < n; i++)
            square += w[i] * w[i];
        length[j] = sqrt(square);
        lambda[j] = bias[k][j] / length[j];
        for (size_t i = 0; i < n; i++)
            direction[j * n + i] = w[i] / length[j];
        angles(n, w, &theta[j * (n - 1)]);
    }
    if (param == SPH_PARAM_GMP || param == SPH_PARAM_SPHERE) {
        if (param == SPH_PARAM_GMP)
            golden_set(net, k, "theta", theta, m * (n - 1));
        else
            golden_set(net, k, "u", direction, m * n);
        golden_set(net, k, "lambda", lambda, m);
        golden_set(net, k, "r", length, m);
        return;
    }
    if (param == SPH_PARAM_WN) {
        golden_set(net, k, "v", weight[k], m * n);
        golden_set(net, k, "g", length, m);
    } else {
        golden_set(net, k, "weight", weight[k], m * n);
    }
    if (norm != SPH_NORM_BN)
        golden_set(net, k, "bias", bias[k], m);
}

/* ---------------------------------------------------------------- training */

/* All but the loss, the optimizer and its numbers. */
static void golden_opts(sph_train_opts *out)
{
    sph_train_defaults(out, SPH_TASK_REGRESSION);
    out->batch = 0;
    out->epochs = LOSSES;
    out->patience = 0;
    out->standardize = SPH_STANDARDIZE_OFF;
}

struct golden_losses {
    double value[LOSSES];
    size_t seen;
};

static int golden_record(void *self, const sph_view *view)
{
    struct golden_losses *losses = self;
    if (losses->seen < LOSSES)
        losses->value[losses->seen] = view->loss;
    losses->seen++;
    return 0;
}

enum { GOLDEN_GROUPS = 4 }; /* of gn */

/* result: may be NULL. */
static void golden_fit(sph_dtype dtype, sph_param param, sph_norm norm, const sph_train_opts *opts,
                       struct golden_losses *out, sph_result *result)
{
    const size_t hidden[] = {WIDE, WIDE};
    sph_mlp spec = {.size = sizeof(sph_mlp),
                    .dtype = dtype,
                    .inputs = INPUTS,
                    .outputs = 1,
                    .hidden = hidden,
                    .depth = 2,
                    .param = param,
                    .norm = norm,
                    .act = SPH_ACT_RELU,
                    .norm_groups = norm == SPH_NORM_GN ? GOLDEN_GROUPS : 0,
                    .seed = 1};
    sph_net *net = NULL;
    if (sph_net_mlp(&net, &spec) < 0)
        fail_msg("sph_net_mlp: %s", sph_error());
    set_hidden(net, 0, param, norm);
    set_hidden(net, 1, param, norm);
    golden_set(net, 2, "weight", weight[2], WIDE);
    golden_set(net, 2, "bias", bias[2], 1);

    sph_data *data = NULL;
    if (sph_data_from_arrays(&data, &x[0][0], y, ROWS, INPUTS, 1, SPH_TASK_REGRESSION, NULL) < 0)
        fail_msg("sph_data_from_arrays: %s", sph_error());
    uint32_t all[ROWS];
    for (uint32_t i = 0; i < ROWS; i++)
        all[i] = i;
    sph_split split = {.train = all, .train_rows = ROWS};
    *out = (struct golden_losses){{0}, 0};
    sph_observer observer = {.self = out, .step = golden_record};
    if (sph_train(net, data, &split, opts, &observer, 1, result) < 0)
        fail_msg("sph_train: %s", sph_error());
    assert_int_equal(out->seen, opts->epochs);
    sph_data_free(data);
    sph_net_free(net);
}

static void golden_train(sph_dtype dtype, sph_param param, sph_norm norm, const sph_train_opts *opts,
                         struct golden_losses *out)
{
    golden_fit(dtype, param, norm, opts, out, NULL);
    assert_int_equal(out->seen, LOSSES);
}

static void golden_compare(const double golden[LOSSES], const struct golden_losses *ours, double bar)
{
    double worst = 0;
    size_t where = 0;
    for (size_t t = 0; t < LOSSES && !isnan(worst); t++) {
        double gap = fabs(ours->value[t] - golden[t]) / fabs(golden[t]);
        if (gap > worst || isnan(gap)) {
            worst = gap;
            where = t;
        }
    }
    print_message("           largest relative deviation %.1e at step %zu\n", worst, where);
    if (!(worst <= bar))
        fail_msg("step %zu: loss %.17g, PyTorch's %.17g, relative deviation %.2e, allowed %.0e", where,
                 ours->value[where], golden[where], worst, bar);
}

#endif
