/* SPDX-License-Identifier: MIT
 *
 * The public arrays of boundaries (sph_boundary), made of hyperplanes, a census and a layer's own
 * coordinates. */
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "boundary/census.h"
#include "boundary/hyperplane.h"
#include "compute/threads.h"
#include "rows/feed.h"

static sph_boundary_kind kind_of(enum hyperplane_kind kind)
{
    static const sph_boundary_kind kinds[] = {[HYPERPLANE_EXACT] = SPH_BOUNDARY_HYPERPLANE,
                                              [HYPERPLANE_NONE] = SPH_BOUNDARY_NONE,
                                              [HYPERPLANE_PER_SAMPLE] = SPH_BOUNDARY_PER_SAMPLE,
                                              [HYPERPLANE_CENTRED] = SPH_BOUNDARY_CENTRED};
    return kinds[kind];
}

/* ---------------------------------------------------------------- raw units */

/* The feature whose mean and scale hold for input i of unit j: of an image the first pixel of its channel. */
static size_t feature_of(const sph_net *net, const struct net_layer *layer, size_t j, size_t i)
{
    return layer_channel(layer, j, i) * node_pixels(&net->nodes[0]);
}

static double mean_of(const struct scaling *scaling, size_t feature)
{
    return scaling->x_mean ? scaling->x_mean[feature] : 0;
}

static double scale_of(const struct scaling *scaling, size_t feature)
{
    return scaling->x_scale ? scaling->x_scale[feature] : 1;
}

/* Whether standardisation can be undone for a patch wherever it lies: each channel has one mean and scale. */
static int has_raw(const sph_net *net, const struct net_layer *layer)
{
    const struct scaling *scaling = &net->scaling;
    size_t pixels = node_pixels(&net->nodes[0]);
    if (net->nodes[net->nodes[layer->node].in[0]].kind != NODE_INPUT)
        return 0;
    if (scaling->x_clip) /* no hyperplane in the data's units */
        return 0;
    for (size_t f = 0; f < scaling->features; f++)
        if (mean_of(scaling, f) != mean_of(scaling, f / pixels * pixels) ||
            scale_of(scaling, f) != scale_of(scaling, f / pixels * pixels))
            return 0;
    return 1;
}

/* phi of the net's own input, carried to the data's units: a point of the same boundary, another one. NaN where a clipped
 * feature does not reach it. */
static void carry_phi(sph_boundary *out, const struct hyperplanes *planes, const sph_net *net)
{
    const struct net_layer *layer = &net->layers[planes->layer];
    for (size_t j = 0; j < out->m; j++) {
        const double *w = planes->w + j * out->n;
        double norm = param_length(out->n, w), offset = planes->b[j] / norm;
        int there = norm > 0 && isfinite(norm);
        for (size_t i = 0; i < out->n; i++) {
            double x = there ? 0 - offset * (w[i] / norm) : NAN;
            if (net->scaling.features) {
                size_t feature = feature_of(net, layer, j, i);
                x = planes->kind == HYPERPLANE_CENTRED ? x * scale_of(&net->scaling, feature)
                                                       : scaling_feature_of(&net->scaling, feature, x);
            }
            out->phi_net[j * out->n + i] = x;
        }
    }
}

/* w x + b in terms of raw = x * scale + mean: the value stays, and with it the side. */
static void undo_scaling(struct hyperplanes *planes, const sph_net *net)
{
    const struct net_layer *layer = &net->layers[planes->layer];
    const struct scaling *scaling = &net->scaling;
    for (size_t j = 0; scaling->features && j < planes->m; j++)
        for (size_t i = 0; i < planes->n; i++) {
            size_t feature = feature_of(net, layer, j, i);
            double *w = &planes->w[j * planes->n + i];
            *w /= scale_of(scaling, feature);
            if (planes->kind == HYPERPLANE_CENTRED) /* the mean is off already */
                continue;
            planes->b[j] -= *w * mean_of(scaling, feature);
            if (planes->b_right)
                planes->b_right[j] -= *w * mean_of(scaling, feature);
        }
}

/* ---------------------------------------------------------------- one layer */

/* carried: phi_net is wanted. */
static int new_arrays(sph_boundary *out, int srelu, int carried)
{
    size_t m = out->m, n = out->n;
    double **arrays[] = {&out->norm, &out->offset, &out->active_share, &out->nearest, &out->pole};
    int missing = !(out->direction = mem_get(m * n, sizeof(double)));
    missing |= !(out->phi = mem_get(m * n, sizeof(double)));
    missing |= !(out->state = mem_get(m, sizeof *out->state));
    if (carried)
        missing |= !(out->phi_net = mem_get(m * n, sizeof(double)));
    if (srelu)
        missing |= !(out->offset_right = mem_get(m, sizeof(double)));
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        missing |= !(*arrays[i] = mem_get(m, sizeof(double)));
        for (size_t j = 0; *arrays[i] && j < m; j++)
            (*arrays[i])[j] = NAN;
    }
    return missing ? SPH_EMEMORY : 0;
}

static void describe_units(sph_boundary *out, const struct hyperplanes *planes)
{
    for (size_t j = 0; j < out->m; j++) {
        const double *w = planes->w + j * out->n;
        double norm = param_length(out->n, w), offset = planes->b[j] / norm;
        int there = norm > 0 && isfinite(norm);
        out->norm[j] = isnan(norm) ? NAN : norm;
        out->offset[j] = there ? offset : NAN;
        if (out->offset_right)
            out->offset_right[j] = there ? planes->b_right[j] / norm : NAN;
        for (size_t i = 0; i < out->n; i++) {
            double direction = there ? w[i] / norm : NAN;
            out->direction[j * out->n + i] = direction;
            out->phi[j * out->n + i] = 0 - offset * direction; /* 0, not -0, where the offset is 0 */
        }
    }
}

static int measure_poles(sph_boundary *out, const sph_net *net)
{
    const struct net_layer *layer = &net->layers[out->layer];
    struct param_values values;
    if (!layer->ops->pole)
        return 0;
    int err = net_layer_values(net, out->layer, &values);
    if (err < 0)
        return err;
    param_poles(layer->ops, &layer->shape, &values, out->pole);
    net_values_free(&values);
    return 0;
}

static int describe_layer(sph_boundary *out, const sph_net *net, size_t layer, int raw)
{
    struct hyperplanes planes;
    int err = hyperplanes_new(&planes, net, layer);
    if (err < 0)
        return err;
    *out = (sph_boundary){.layer = layer,
                          .m = planes.m,
                          .n = planes.n,
                          .path = net->layers[layer].path,
                          .kind = kind_of(planes.kind)};
    if (planes.kind == HYPERPLANE_NONE)
        return 0;
    out->raw = raw && has_raw(net, &net->layers[layer]);
    int clipped = raw && net->scaling.x_clip &&
                  net->nodes[net->nodes[net->layers[layer].node].in[0]].kind == NODE_INPUT;
    if (!(err = new_arrays(out, planes.b_right != NULL, out->raw || clipped)) &&
        !(err = measure_poles(out, net))) {
        if (out->phi_net)
            carry_phi(out, &planes, net);
        if (out->raw)
            undo_scaling(&planes, net);
        describe_units(out, &planes);
    }
    hyperplanes_free(&planes);
    return err;
}

/* ---------------------------------------------------------------- what the data say */

static void take_over(sph_boundary *out, const struct census_layer *from)
{
    out->points = from->seen;
    for (size_t j = 0; from->seen && j < out->m; j++) {
        out->active_share[j] = (double)from->active[j] / (double)from->seen;
        out->nearest[j] = out->norm[j] > 0 ? from->closest[j] / out->norm[j] : NAN;
        out->state[j] = from->active[j] == 0            ? SPH_UNIT_DEAD
                        : from->active[j] == from->seen ? SPH_UNIT_ALWAYS_ON
                                                        : SPH_UNIT_BOTH;
    }
}

static int ask_data(sph_boundaries *out, const sph_net *net, const struct source *source)
{
    struct census census;
    size_t count = 0, *layers = mem_get(out->count, sizeof *layers);
    if (!layers)
        return SPH_EMEMORY;
    for (size_t i = 0; i < out->count; i++)
        if (out->layer[i].kind != SPH_BOUNDARY_NONE)
            layers[count++] = out->layer[i].layer;
    int err = count ? census_take(&census, net, layers, count, source) : 0;
    for (size_t i = 0, next = 0; count && !err && i < out->count; i++)
        if (out->layer[i].kind != SPH_BOUNDARY_NONE)
            take_over(&out->layer[i], &census.layer[next++]);
    if (count && !err)
        census_free(&census);
    mem_free(layers);
    return err;
}

/* ---------------------------------------------------------------- all of it */

/* The data points as the net takes them, or NULL. */
static int boundaries_new(sph_boundaries **out, const sph_net *net, size_t layer, int raw,
                          const struct source *source)
{
    if (!net->ready || (layer != SPH_EVERY_LAYER && layer >= net->layer_count))
        return sph_fail_of(SPH_EARG, "", 0, "layer", "no layer %zu; the network has %zu layers", layer,
                           net->ready ? net->layer_count : 0);
    sph_boundaries *made = mem_get(1, sizeof *made);
    if (!made)
        return SPH_EMEMORY;
    size_t first = layer == SPH_EVERY_LAYER ? 0 : layer,
           count = layer == SPH_EVERY_LAYER ? net->layer_count : 1;
    int err = (made->layer = mem_get(count, sizeof *made->layer)) ? 0 : SPH_EMEMORY;
    made->count = made->layer ? count : 0;
    for (size_t i = 0; i < count && !err; i++)
        err = describe_layer(&made->layer[i], net, first + i, raw);
    if (!err && source)
        err = ask_data(made, net, source);
    if (err < 0) {
        sph_boundaries_free(made);
        return err;
    }
    *out = made;
    return 0;
}

int sph_boundaries_new(sph_boundaries **out, const sph_net *net, size_t layer, int raw, const sph_data *data,
                       const uint32_t *rows, size_t count)
{
    NEED(out, net);
    struct feed *feed = NULL;
    if (!data)
        return boundaries_new(out, net, layer, raw, NULL);
    if (data->features != sph_net_inputs(net))
        return sph_fail_of(SPH_EARG, "", 0, "data", "the data have %zu features, the network expects %zu",
                           data->features, sph_net_inputs(net));
    for (size_t i = 0; rows && i < count; i++)
        if (rows[i] >= data->rows)
            return sph_fail_of(SPH_EARG, "", 0, "rows", "no row %lu; the data have %zu rows",
                               (unsigned long)rows[i], data->rows);
    int threads = threads_setting(), err = feed_new(&feed, data, rows, rows ? count : data->rows, net);
    if (!err)
        err = boundaries_new(out, net, layer, raw, &feed->source);
    feed_free(feed);
    threads_set_back(threads);
    return err;
}

void sph_boundaries_free(sph_boundaries *boundaries)
{
    if (!boundaries)
        return;
    for (size_t i = 0; i < boundaries->count; i++) {
        sph_boundary *layer = &boundaries->layer[i];
        double *owned[] = {layer->direction,    layer->norm, layer->offset,
                           layer->offset_right, layer->phi,  layer->active_share,
                           layer->nearest,      layer->pole, layer->phi_net};
        for (size_t k = 0; k < sizeof owned / sizeof *owned; k++)
            mem_free(owned[k]);
        mem_free(layer->state);
    }
    mem_free(boundaries->layer);
    mem_free(boundaries);
}
