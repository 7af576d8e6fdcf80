/* SPDX-License-Identifier: MIT */
#include "boundary/piecewise.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "boundary/hyperplane.h"
#include "param/param.h"

/* ---------------------------------------------------------------- what is refused */

static int check_act(const char *path, const struct act_ops *act)
{
    if (act->two_lines)
        return 0;
    char words[64] = "";
    for (int i = 0, used = 0; i < SPH_ACT_COUNT && used < (int)sizeof words; i++)
        if (act_ops((sph_act)i)->two_lines && act_ops((sph_act)i)->breaks)
            used += snprintf(words + used, sizeof words - (size_t)used, "%s%s", used ? " and " : "",
                             act_ops((sph_act)i)->name);
    return sph_fail_key(SPH_EARG, path, "the activation is %s; regions are only supported for %s", act->name,
                        words);
}

static int check_layer(const struct net_layer *layer)
{
    if (layer->norm->per_sample)
        return sph_fail_key(SPH_EARG, layer->path,
                            "norm %s divides by a statistic of each sample, so its regions have no straight "
                            "edges; regions are not supported",
                            layer->norm->name);
    return check_act(layer->path, layer->act);
}

/* A norm at the output is part of the dense layers that read it. */
static int check_output_norm(const sph_net *net, const struct net_layer *layer)
{
    int plain = layer->node != net->output;
    for (size_t i = 0; i < net->node_count; i++)
        plain &= net->nodes[i].kind == NODE_DENSE ||
                 (net->nodes[i].in[0] != layer->node && net->nodes[i].in[1] != layer->node);
    if (!layer->norm->at_output || plain)
        return 0;
    return sph_fail_key(SPH_EARG, layer->path,
                        "%s at an output that is not read by a dense layer is not supported for regions",
                        layer->norm->name);
}

static int check_net(const sph_net *net)
{
    if (!net->ready)
        return sph_fail_of(SPH_EARG, "", 0, "net", "the network is not ready; call sph_net_ready first");
    if (net->scaling.x_clip)
        return sph_fail_key(SPH_EARG, "scale",
                            "the features are clipped, so regions have no straight edges; train with "
                            "--scale standard");
    int err = 0;
    for (size_t i = 0; i < net->node_count && !err; i++) {
        const struct net_node *node = &net->nodes[i];
        if (node->kind == NODE_CONV)
            err = sph_fail_key(SPH_EARG, net->layers[node->layer].path,
                               "convolutions are not supported for regions; only dense layers are");
        else if (node->kind == NODE_DENSE)
            err = check_layer(&net->layers[node->layer]);
        else if (node->kind == NODE_ACT)
            err = check_act("activation", act_ops(node->act));
    }
    for (size_t l = 0; l < net->layer_count && !err; l++)
        err = check_output_norm(net, &net->layers[l]);
    for (size_t i = 0; i < net->node_count && !err; i++)
        if (node_pixels(&net->nodes[i]) > 1 || net->nodes[i].kind == NODE_AVG_POOL ||
            net->nodes[i].kind == NODE_MAX_POOL)
            err = sph_fail(SPH_EARG, "the network takes images; regions are only supported for dense layers");
    return err;
}

static int check_window(const double window[4])
{
    for (int axis = 0; axis < 2; axis++) {
        double from = window[2 * axis], to = window[2 * axis + 1], largest = fmax(fabs(from), fabs(to));
        if (!isfinite(from) || !isfinite(to) || !(from < to))
            return sph_fail_key(SPH_EARG, "window", "%g to %g, expected two numbers, the first one smaller",
                                from, to);
        if (!isfinite(to - from) || to - from < 1e-9 * largest)
            return sph_fail_key(SPH_EARG, "window", "%.17g to %.17g is too %s for its precision", from, to,
                                isfinite(to - from) ? "narrow" : "wide");
    }
    double width = window[1] - window[0], height = window[3] - window[2];
    if (!isnormal(width * height))
        return sph_fail_key(SPH_EARG, "window", "%g by %g is too %s: its area is not a finite number", width,
                            height, isfinite(width * height) ? "small" : "large");
    return 0;
}

static int check_plane(const sph_net *net, const sph_regions_opts *opts)
{
    size_t n = sph_net_inputs(net);
    if (!opts->origin != !opts->first || !opts->origin != !opts->second)
        return sph_fail_of(SPH_EARG, "", 0, "plane", "a plane needs an origin and two directions");
    if (!opts->origin && n > 2)
        return sph_fail_of(
            SPH_EARG, "", 0, "plane",
            "the network has %zu inputs, expected 1 or 2; use --plane for a plane through three rows", n);
    for (size_t i = 0; opts->origin && i < n; i++)
        if (!isfinite(opts->origin[i]) || !isfinite(opts->first[i]) || !isfinite(opts->second[i]))
            return sph_fail_of(SPH_EARG, "", 0, "plane", "the plane: input %zu is not a finite number", i);
    return 0;
}

/* ---------------------------------------------------------------- layers */

/* What a norm at the output of the layer before takes off what this one reads: its biases have it. */
static int take_off(struct piecewise_node *node, const sph_net *net, size_t layer)
{
    const struct net_node *from = &net->nodes[net->nodes[net->layers[layer].node].in[0]];
    const struct net_layer *before = from->kind == NODE_DENSE ? &net->layers[from->layer] : NULL;
    if (!before || !before->norm->at_output)
        return 0;
    size_t n = before->shape.m;
    double *mean = mem_get(n, sizeof *mean);
    if (!mean)
        return SPH_EMEMORY;
    net->k->to_double(n, net_norm(net, before, 0), mean);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < net->layers[layer].shape.m; j++)
            node->b[j] -= node->w[i * node->ld + j] * mean[i];
    mem_free(mean);
    return 0;
}

/* A layer without activation has its scale in its weights. */
static int take_layer(struct piecewise_node *node, const sph_net *net, size_t layer, struct mem_owned *owned)
{
    struct hyperplanes planes;
    int err = hyperplanes_affine(&planes, net, layer);
    if (err < 0)
        return err;
    size_t m = planes.m, n = planes.n;
    node->w = mem_own(owned, n * node->ld, sizeof *node->w);
    node->b = mem_own(owned, node->ld, sizeof *node->b);
    node->s = mem_own(owned, node->ld, sizeof *node->s);
    node->norm = mem_own(owned, m, sizeof *node->norm);
    if (owned->failed)
        err = SPH_EMEMORY;
    for (size_t j = 0; j < m && !err; j++) {
        double scale = piecewise_cuts(node) ? 1 : planes.s[j];
        node->s[j] = piecewise_cuts(node) ? planes.s[j] : 1;
        node->b[j] = scale * planes.b[j];
        node->norm[j] = fabs(scale) * param_length(n, planes.w + j * n);
        for (size_t i = 0; i < n; i++)
            node->w[i * node->ld + j] = scale * planes.w[j * n + i];
        if (!isfinite(node->norm[j]) || !isfinite(node->b[j]) || !isfinite(node->s[j]))
            err =
                sph_fail_key(SPH_EARG, node->path, "unit %zu has parameters that are not finite numbers", j);
    }
    if (!err)
        err = take_off(node, net, layer);
    hyperplanes_free(&planes);
    return err;
}

/* As the net computes it, in its own dtype. */
static double slope_below(const sph_net *net, const struct act_ops *act)
{
    return net->dtype == SPH_F32 ? (double)(float)act->below : act->below;
}

static int take_node(struct piecewise *out, const sph_net *net, size_t i)
{
    const struct net_node *from = &net->nodes[i];
    struct piecewise_node *node = &out->node[i];
    node->m = from->channels;
    node->ld = kernel_pad(node->m);
    node->below = 1;
    out->widest = node->ld > out->widest ? node->ld : out->widest;
    if (!(out->value[i] = mem_own(&out->owned, node->ld, sizeof *out->value[i])))
        return SPH_EMEMORY;
    if (from->kind == NODE_INPUT)
        return 0;
    node->in[0] = (size_t)from->in[0];
    node->in[1] = from->kind == NODE_ADD ? (size_t)from->in[1] : NET_NOWHERE;
    if (from->kind == NODE_ACT)
        node->below = slope_below(net, act_ops(from->act));
    if (from->kind == NODE_DENSE) {
        node->path = net->layers[from->layer].path;
        node->below = slope_below(net, net->layers[from->layer].act);
    }
    if (piecewise_cuts(node)) {
        node->byte = out->pattern_bytes;
        out->pattern_bytes += (node->m + 7) / 8;
    }
    return from->kind == NODE_DENSE ? take_layer(node, net, from->layer, &out->owned) : 0;
}

/* ---------------------------------------------------------------- the plane */

static double plane_number(const double *vector, size_t i, double otherwise)
{
    return vector ? vector[i] : otherwise;
}

static int take_plane(struct piecewise *out, const sph_net *net, const sph_regions_opts *opts)
{
    size_t n = out->node[0].m, ld = out->node[0].ld;
    for (int axis = 0; axis < 2; axis++) {
        out->middle[axis] = opts->window[2 * axis] / 2 + opts->window[2 * axis + 1] / 2;
        out->half[axis] = (opts->window[2 * axis + 1] - opts->window[2 * axis]) / 2;
    }
    for (size_t i = 0; i < n; i++) {
        double first = plane_number(opts->first, i, i == 0), second = plane_number(opts->second, i, i == 1);
        double mean = plane_number(net->scaling.x_mean, i, 0),
               scale = plane_number(net->scaling.x_scale, i, 1);
        double middle = plane_number(opts->origin, i, 0) + out->middle[0] * first + out->middle[1] * second;
        out->plane[i] = out->half[0] * first / scale;
        out->plane[ld + i] = out->half[1] * second / scale;
        out->plane[2 * ld + i] = (middle - mean) / scale;
        if (!isfinite(out->plane[i]) || !isfinite(out->plane[ld + i]) || !isfinite(out->plane[2 * ld + i]))
            return sph_fail_of(SPH_EARG, "", 0, "plane",
                               "the plane: input %zu overflows in the window; use a smaller window", i);
    }
    return 0;
}

int piecewise_new(struct piecewise *out, const sph_net *net, const sph_regions_opts *opts)
{
    *out = (struct piecewise){.k = kernels_pick(SPH_F64, KERNELS_FASTEST)};
    int err;
    if ((err = check_net(net)) < 0 || (err = check_plane(net, opts)) < 0 ||
        (err = check_window(opts->window)) < 0)
        return err;
    out->count = net->node_count;
    out->node = mem_own(&out->owned, out->count, sizeof *out->node);
    out->value = mem_own(&out->owned, out->count, sizeof *out->value);
    err = out->owned.failed ? SPH_EMEMORY : 0;
    for (size_t i = 0; i < out->count && !err; i++)
        err = take_node(out, net, i);
    if (!err && !(out->plane = mem_own(&out->owned, 3 * out->node[0].ld, sizeof *out->plane)))
        err = SPH_EMEMORY;
    if (!err)
        err = take_plane(out, net, opts);
    if (err < 0)
        piecewise_free(out);
    return err;
}

void piecewise_free(struct piecewise *net)
{
    mem_free_owned(&net->owned);
    *net = (struct piecewise){0};
}

/* z (rows, ld) <- in of the nodes before it, (rows, ld) each; b is added to the last row. */
static void combine(const struct piecewise *net, size_t i, size_t rows, double *const *in, double *z)
{
    const struct piecewise_node *node = &net->node[i];
    const double *a = in[node->in[0]];
    size_t ld = node->ld;
    if (node->w) {
        const struct piecewise_node *before = &net->node[node->in[0]];
        net->k->gemm(rows, node->m, before->m, a, before->ld, 1, node->w, ld, z, ld, NULL, GEMM_SET);
        for (size_t j = 0; j < node->m; j++)
            z[(rows - 1) * ld + j] += node->b[j];
        return;
    }
    memcpy(z, a, rows * ld * sizeof *z);
    for (size_t j = 0; node->in[1] != NET_NOWHERE && j < rows * ld; j++)
        z[j] += in[node->in[1]][j];
}

void piecewise_map(const struct piecewise *net, size_t i, double *const *map, double *z)
{
    if (i)
        combine(net, i, 3, map, z);
    else
        memcpy(z, net->plane, 3 * net->node[0].ld * sizeof *z);
}

const double *piecewise_at(const struct piecewise *net, const double place[2])
{
    size_t ld = net->node[0].ld;
    for (size_t j = 0; j < ld; j++)
        net->value[0][j] = net->plane[j] * place[0] + net->plane[ld + j] * place[1] + net->plane[2 * ld + j];
    for (size_t i = 1; i < net->count; i++) {
        const struct piecewise_node *node = &net->node[i];
        double *value = net->value[i];
        combine(net, i, 1, net->value, value);
        for (size_t j = 0; piecewise_cuts(node) && j < node->m; j++)
            value[j] *= (value[j] > 0 ? 1 : node->below) * (node->s ? node->s[j] : 1);
    }
    return net->value[net->count - 1];
}
