/* SPDX-License-Identifier: MIT */
#include "boundary/hyperplane.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"

/* The numbers of a layer beside its weight, in f64. */
struct folding {
    double *memory;
    struct norm_values norm;
    double *left, *right; /* (m) where the activation breaks; NULL: at 0 */
};

static int folding_read(struct folding *out, const sph_net *net, const struct net_layer *layer)
{
    size_t m = layer->shape.m, normed = net_norm_numbers(layer);
    const void *left = net_break(net, layer, 0), *right = net_break(net, layer, 1);
    *out = (struct folding){.memory = mem_get(normed + 2 * m, sizeof *out->memory)};
    if (!out->memory)
        return SPH_EMEMORY;
    net_norm_values(net, layer, out->memory, &out->norm);
    if (left)
        net->k->to_double(m, left, out->left = out->memory + normed);
    if (right)
        net->k->to_double(m, right, out->right = out->memory + normed + m);
    return 0;
}

/* The bias of w x + b = threshold, from a bias of w x + b = 0. */
static void move_biases(double *b, size_t m, const double *threshold)
{
    for (size_t j = 0; threshold && j < m; j++)
        b[j] -= threshold[j];
}

/* Where shift and threshold differ, the boundary of a sample depends on its standard deviation. nowhere:
 * units read different numbers, and a unit's boundary lies in the space of all of them. */
static void keep_unshifted(struct hyperplanes *planes, const struct folding *with, const double *shift,
                           int nowhere)
{
    for (size_t j = 0; j < planes->m; j++) {
        double moved = shift ? shift[j] : 0;
        int left = !nowhere && moved == (with->left ? with->left[j] : 0);
        int right = !nowhere && planes->b_right && moved == (with->right ? with->right[j] : 0);
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
    const struct norm_ops *norm = layer->norm;
    if (norm->per_sample) {
        planes->kind = HYPERPLANE_PER_SAMPLE;
        const double *shift = norm->fold_sample(&with->norm, planes->w, planes->b);
        keep_unshifted(planes, with, shift,
                       node_pixels(&net->nodes[layer->node]) > 1 || layer_groups(layer) > 1);
        return;
    }
    if (norm->at_input && layer->spec.pad)
        planes->kind = HYPERPLANE_CENTRED;
    else
        for (size_t j = 0; norm->fold && j < planes->m; j++)
            norm->fold(&with->norm, j, planes->w + j * planes->n, &planes->b[j]);
    for (size_t j = 0; planes->b_right && j < planes->m; j++)
        planes->b_right[j] = planes->b[j];
    move_biases(planes->b, planes->m, with->left);
    if (planes->b_right)
        move_biases(planes->b_right, planes->m, with->right);
}

/* ---------------------------------------------------------------- a layer's hyperplanes */

int hyperplanes_affine(struct hyperplanes *out, const sph_net *net, size_t layer)
{
    *out = (struct hyperplanes){.layer = layer};
    if (!net->ready || layer >= net->layer_count)
        return sph_fail_of(SPH_EARG, "", 0, "layer", "no layer %zu; the network has %zu layers", layer,
                           net->ready ? net->layer_count : 0);
    const struct net_layer *from = &net->layers[layer];
    struct folding folding;
    out->m = from->shape.m;
    out->n = from->shape.n;
    out->w = mem_get(out->m * out->n, sizeof *out->w);
    out->b = mem_get(out->m, sizeof *out->b);
    out->s = mem_get(out->m, sizeof *out->s);
    if (from->act->breaks > 1)
        out->b_right = mem_get(out->m, sizeof *out->b_right);
    int err = SPH_EMEMORY;
    if (!out->w || !out->b || !out->s || (from->act->breaks > 1 && !out->b_right) ||
        (err = sph_net_weight(net, layer, out->w, out->b, out->s)) < 0 ||
        (err = folding_read(&folding, net, from)) < 0) {
        hyperplanes_free(out);
        return err;
    }
    fold(out, net, from, &folding);
    mem_free(folding.memory);
    return 0;
}

int hyperplanes_new(struct hyperplanes *out, const sph_net *net, size_t layer)
{
    if (!net->ready || layer >= net->layer_count || net->layers[layer].act->breaks)
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
