/* SPDX-License-Identifier: MIT */
#include "boundary/hyperplane.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "layer/op.h"

/* The numbers of a layer beside its weight, in f64; NULL where it has none. */
struct folding {
    double *gamma, *beta;     /* (m) */
    double *mean, *var;       /* (m), imn's mean (channels) */
    double *t_left, *t_right; /* (m) of srelu */
};

static int read_numbers(double **out, const sph_net *net, const void *from, size_t count)
{
    if (!from)
        return 0;
    if (!(*out = mem_get(count, sizeof **out)))
        return SPH_EMEMORY;
    net->k->to_double(count, from, *out);
    return 0;
}

static void folding_free(struct folding *folding)
{
    double *owned[] = {folding->gamma, folding->beta,   folding->mean,
                       folding->var,   folding->t_left, folding->t_right};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        mem_free(owned[i]);
}

static int folding_read(struct folding *out, const sph_net *net, const struct net_layer *layer)
{
    size_t m = layer->shape.m;
    *out = (struct folding){0};
    int srelu = layer->act_shape != NET_NOWHERE;
    const char *shape = net_param(net, layer->act_shape);
    int err = 0;
    if ((err = read_numbers(&out->gamma, net, net_param(net, layer->gamma), m)) < 0 ||
        (err = read_numbers(&out->beta, net, net_param(net, layer->beta), m)) < 0 ||
        (err = read_numbers(&out->mean, net, net_state(net, layer->mean), layer->mean_width)) < 0 ||
        (err = read_numbers(&out->var, net, net_state(net, layer->var), m)) < 0 ||
        (srelu &&
         ((err = read_numbers(&out->t_left, net, shape + SRELU_T_LEFT * m * net->k->size, m)) < 0 ||
          (err = read_numbers(&out->t_right, net, shape + SRELU_T_RIGHT * m * net->k->size, m)) < 0)))
        folding_free(out);
    return err;
}

/* ---------------------------------------------------------------- folding, one normalization each */

static void fold_batch_norm(struct hyperplanes *planes, const struct folding *with)
{
    for (size_t j = 0; j < planes->m; j++) {
        double scale = with->gamma[j] / sqrt(with->var[j] + norm_epsilon);
        planes->b[j] = scale * (planes->b[j] - with->mean[j]) + with->beta[j];
        for (size_t i = 0; i < planes->n; i++)
            planes->w[j * planes->n + i] *= scale;
    }
}

static void fold_mean(struct hyperplanes *planes, const struct folding *with)
{
    for (size_t j = 0; j < planes->m; j++)
        planes->b[j] -= with->mean[j];
}

/* window_area: numbers of a unit that share a channel and its mean. */
static void fold_input_mean(struct hyperplanes *planes, const struct folding *with, size_t window_area)
{
    for (size_t j = 0; j < planes->m; j++)
        for (size_t i = 0; i < planes->n; i++)
            planes->b[j] -= planes->w[j * planes->n + i] * with->mean[i / window_area];
}

/* What stands before the division by a sample's deviation, which changes no sign. */
static void fold_layer_norm(struct hyperplanes *planes, const struct folding *with)
{
    size_t m = planes->m, n = planes->n;
    for (size_t i = 0; i <= n; i++) { /* the weights of an input; last the biases */
        double *column = i < n ? planes->w + i : planes->b, mean = 0;
        size_t step = i < n ? n : 1;
        for (size_t j = 0; j < m; j++)
            mean += column[j * step] / (double)m;
        for (size_t j = 0; j < m; j++)
            column[j * step] = with->gamma[j] * (column[j * step] - mean);
    }
}

/* The bias of w x + b = threshold, from a bias of w x + b = 0. */
static void move_biases(double *b, size_t m, const double *threshold)
{
    for (size_t j = 0; threshold && j < m; j++)
        b[j] -= threshold[j];
}

/* Where shift and threshold differ, the boundary of a sample depends on its deviation. */
static void keep_unshifted(struct hyperplanes *planes, const struct folding *with, int image)
{
    for (size_t j = 0; j < planes->m; j++) {
        int left = !image && with->beta[j] == (with->t_left ? with->t_left[j] : 0);
        int right = !image && with->t_right && with->beta[j] == with->t_right[j];
        if (planes->b_right)
            planes->b_right[j] = right ? planes->b[j] : NAN;
        if (!left)
            planes->b[j] = NAN;
        for (size_t i = 0; !left && !right && i < planes->n; i++)
            planes->w[j * planes->n + i] = NAN;
    }
}

static void fold(struct hyperplanes *planes, const sph_net *net, const struct net_layer *layer,
                 const struct folding *with)
{
    const struct net_node *node = &net->nodes[layer->node];
    size_t kernel = layer->spec.kernel ? layer->spec.kernel : 1;
    switch (layer->spec.norm) {
    case SPH_NORM_BN:
        fold_batch_norm(planes, with);
        break;
    case SPH_NORM_MBN:
        fold_mean(planes, with);
        break;
    case SPH_NORM_IMN:
        if (!layer->spec.pad)
            fold_input_mean(planes, with, kernel * kernel);
        else
            planes->kind = HYPERPLANE_CENTRED;
        break;
    case SPH_NORM_LN:
        planes->kind = HYPERPLANE_PER_SAMPLE;
        fold_layer_norm(planes, with);
        keep_unshifted(planes, with, node_pixels(node) > 1);
        return;
    default:
        break;
    }
    for (size_t j = 0; planes->b_right && j < planes->m; j++)
        planes->b_right[j] = planes->b[j];
    move_biases(planes->b, planes->m, with->t_left);
    if (planes->b_right)
        move_biases(planes->b_right, planes->m, with->t_right);
}

/* ---------------------------------------------------------------- a layer's hyperplanes */

int hyperplanes_affine(struct hyperplanes *out, const sph_net *net, size_t layer)
{
    *out = (struct hyperplanes){.layer = layer};
    if (!net->ready || layer >= net->layer_count)
        return sph_fail(SPH_EARG, "layer %zu of a net with %zu layers", layer,
                        net->ready ? net->layer_count : 0);
    const struct net_layer *from = &net->layers[layer];
    struct folding folding;
    out->m = from->shape.m;
    out->n = from->shape.n;
    out->w = mem_get(out->m * out->n, sizeof *out->w);
    out->b = mem_get(out->m, sizeof *out->b);
    out->s = mem_get(out->m, sizeof *out->s);
    if (from->act_shape != NET_NOWHERE)
        out->b_right = mem_get(out->m, sizeof *out->b_right);
    int err = SPH_EMEMORY;
    if (!out->w || !out->b || !out->s || (from->act_shape != NET_NOWHERE && !out->b_right) ||
        (err = sph_net_weight(net, layer, out->w, out->b, out->s)) < 0 ||
        (err = folding_read(&folding, net, from)) < 0) {
        hyperplanes_free(out);
        return err;
    }
    fold(out, net, from, &folding);
    folding_free(&folding);
    return 0;
}

int hyperplanes_new(struct hyperplanes *out, const sph_net *net, size_t layer)
{
    if (!net->ready || layer >= net->layer_count || net->layers[layer].spec.act != SPH_ACT_IDENTITY)
        return hyperplanes_affine(out, net, layer);
    const struct param_shape *shape = &net->layers[layer].shape;
    *out = (struct hyperplanes){.layer = layer, .m = shape->m, .n = shape->n, .kind = HYPERPLANE_NONE};
    return 0;
}

void hyperplanes_free(struct hyperplanes *planes)
{
    mem_free(planes->w);
    mem_free(planes->b);
    mem_free(planes->b_right);
    mem_free(planes->s);
    *planes = (struct hyperplanes){0};
}

double plane_turn(size_t n, const double *w, const double *other)
{
    double length = param_length(n, w), other_length = param_length(n, other);
    double apart = 0, together = 0;
    if (!(length > 0) || !(other_length > 0))
        return NAN;
    for (size_t i = 0; i < n; i++) {
        double u = w[i] / length, v = other[i] / other_length;
        apart += (u - v) * (u - v);
        together += (u + v) * (u + v);
    }
    return 2 * atan2(sqrt(apart), sqrt(together));
}
