/* SPDX-License-Identifier: MIT
 *
 * What stands behind a dense layer's product, by hand: the formula of every normalization (in evaluation) and of every
 * activation, once, for all tests that recompute a layer. A new one has its formula here. */
#ifndef TESTS_LAYER_BY_HAND_H
#define TESTS_LAYER_BY_HAND_H

#include "support.h"

/* A layer's norm as the net shows it; what it has not got is 0, gamma and var 1. */
struct norm_by_hand {
    sph_norm norm;
    size_t m, groups;
    double *mean, *var, *gamma, *beta; /* (inputs) under imn, else (m) */
    double *shape;                     /* (4, m) of srelu, by SRELU_*  */
};

/* out (count) <- the layer's tensor, or other where it has none. */
SUPPORT void tensor_or(const sph_net *net, size_t layer, const char *name, double *out, size_t count,
                       double other)
{
    char full[160];
    snprintf(full, sizeof full, "%s.%s", net->layers[layer].path, name);
    const struct net_tensor *tensor = net_find_tensor(net, full);
    for (size_t i = 0; i < count; i++)
        out[i] = other;
    if (!tensor)
        return;
    assert_int_equal(tensor->view.count, count);
    net_read_tensor(net, tensor, out);
}

SUPPORT struct norm_by_hand norm_by_hand(const sph_net *net, size_t layer)
{
    const struct net_layer *from = &net->layers[layer];
    size_t m = from->shape.m, means = from->norm->at_input ? from->shape.n : m;
    struct norm_by_hand h = {.norm = from->spec.norm,
                             .m = m,
                             .groups = from->spec.norm_groups ? from->spec.norm_groups : 1,
                             .mean = numbers(means),
                             .var = numbers(m),
                             .gamma = numbers(m),
                             .beta = numbers(m),
                             .shape = numbers(4 * m)};
    tensor_or(net, layer, "norm.mean", h.mean, means, 0);
    tensor_or(net, layer, "norm.var", h.var, m, 1);
    tensor_or(net, layer, "norm.scale", h.gamma, m, 1);
    tensor_or(net, layer, "norm.shift", h.beta, m, 0);
    tensor_or(net, layer, "act.t_right", h.shape + SRELU_T_RIGHT * m, m, 0);
    tensor_or(net, layer, "act.a_right", h.shape + SRELU_A_RIGHT * m, m, 0);
    tensor_or(net, layer, "act.t_left", h.shape + SRELU_T_LEFT * m, m, 0);
    tensor_or(net, layer, "act.a_left", h.shape + SRELU_A_LEFT * m, m, 0);
    return h;
}

SUPPORT void norm_by_hand_free(struct norm_by_hand *h)
{
    free(h->mean), free(h->var), free(h->gamma), free(h->beta), free(h->shape);
}

/* What is taken off input i before the product. */
SUPPORT double input_mean(const struct norm_by_hand *h, size_t i)
{
    return h->norm == SPH_NORM_IMN ? h->mean[i] : 0;
}

/* z (m) of one sample <- norm(z). */
SUPPORT void normalize_by_hand(const struct norm_by_hand *h, double *z)
{
    size_t width = h->m / h->groups;
    switch (h->norm) {
    case SPH_NORM_NONE:
    case SPH_NORM_IMN: /* input_mean */
        return;
    case SPH_NORM_BN:
        for (size_t j = 0; j < h->m; j++)
            z[j] = h->gamma[j] * (z[j] - h->mean[j]) / sqrt(h->var[j] + norm_epsilon) + h->beta[j];
        return;
    case SPH_NORM_MBN:
        for (size_t j = 0; j < h->m; j++)
            z[j] -= h->mean[j];
        return;
    case SPH_NORM_LN:
    case SPH_NORM_GN:
        for (size_t first = 0; first < h->m; first += width) {
            double mean = 0, var = 0;
            for (size_t j = first; j < first + width; j++)
                mean += z[j] / (double)width;
            for (size_t j = first; j < first + width; j++)
                var += (z[j] - mean) * (z[j] - mean) / (double)width;
            for (size_t j = first; j < first + width; j++)
                z[j] = h->gamma[j] * (z[j] - mean) / sqrt(var + norm_epsilon) + h->beta[j];
        }
        return;
    default:
        fail_msg("tests/layer_by_hand.h has no formula of norm %s yet",
                 sph_word(SPH_WORDS_NORM, (int)h->norm)->word);
    }
}

SUPPORT double act_by_hand(const struct norm_by_hand *h, sph_act act, double z, size_t unit)
{
    const double *shape = h->shape + unit;
    switch (act) {
    case SPH_ACT_IDENTITY:
        return z;
    case SPH_ACT_RELU:
        return z > 0 ? z : 0;
    case SPH_ACT_LEAKY_RELU:
        return z > 0 ? z : 0.01 * z;
    case SPH_ACT_ELU:
        return z > 0 ? z : expm1(z);
    case SPH_ACT_SRELU: {
        double right = shape[SRELU_T_RIGHT * h->m], left = shape[SRELU_T_LEFT * h->m];
        if (z >= right)
            return right + shape[SRELU_A_RIGHT * h->m] * (z - right);
        return z <= left ? left + shape[SRELU_A_LEFT * h->m] * (z - left) : z;
    }
    default:
        fail_msg("tests/layer_by_hand.h has no formula of activation %s yet",
                 sph_word(SPH_WORDS_ACT, (int)act)->word);
        return 0;
    }
}

#endif
