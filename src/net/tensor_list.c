/* SPDX-License-Identifier: MIT
 *
 * Named tensors: where each lies in the arenas, and its numbers in a file's order. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "net/net.h"

/* ---------------------------------------------------------------- layout */

/* per_unit 0: a vector of `units` numbers; else a matrix (units, per_unit) in files, (per_unit, units) in
 * memory. */
static int add_tensor(sph_net *net, size_t layer, const char *name, int learned, sph_group group,
                      size_t units, size_t per_unit, size_t *at)
{
    size_t width = per_unit ? per_unit : 1, *length = learned ? &net->learned : &net->state_len;
    *at = NET_NOWHERE;
    if (!units)
        return 0;
    if (units > NET_MOST_NUMBERS / width || *length > NET_MOST_NUMBERS - units * width)
        return sph_fail_key(SPH_EARG, net->layers[layer].path,
                            "%zu units of %zu numbers are more than this machine can address", units, width);
    size_t count = units * width;
    if (!mem_reserve((void **)&net->tensors, &net->room.tensors, net->tensor_count + 1, sizeof *net->tensors))
        return SPH_EMEMORY;
    struct net_tensor *tensor = &net->tensors[net->tensor_count];
    *tensor = (struct net_tensor){
        .at = *length, .layer = layer, .units = units, .per_unit = per_unit ? per_unit : 1};
    tensor->view = (sph_tensor){.shape = {units, per_unit},
                                .ndim = per_unit ? 2 : 1,
                                .count = count,
                                .learned = learned,
                                .group = group};
    snprintf(tensor->view.name, sizeof tensor->view.name, "%s.%s", net->layers[layer].path, name);
    size_t place;
    if (levels_place(&net->names.tensors, tensor->view.name, &place) < 0)
        return SPH_EMEMORY;
    if (place != net->tensor_count)
        return sph_fail_key(SPH_EARG, tensor->view.name, "two tensors have this name");
    net->tensor_count++;
    *at = *length;
    *length += count;
    return 0;
}

size_t net_raw_shape(const struct net_layer *layer, size_t tensor, size_t shape[4])
{
    enum param_extent extent = layer->ops->tensor[tensor].extent;
    size_t per_unit = param_per_unit(layer->ops, tensor, &layer->shape), kernel = layer->spec.kernel;
    shape[0] = layer->shape.m;
    if (extent == PARAM_ONE || !per_unit)
        return per_unit ? 1 : 0;
    shape[1] = per_unit;
    if (extent != PARAM_WEIGHTS || !kernel)
        return 2;
    shape[1] = per_unit / (kernel * kernel); /* a conv: (m, cin / groups, kh, kw) */
    shape[2] = shape[3] = kernel;
    return 4;
}

static int lay_out_params(sph_net *net, size_t l, sph_group group)
{
    struct net_layer *layer = &net->layers[l];
    for (size_t t = 0; t < layer->ops->tensors; t++) {
        const struct param_tensor *tensor = &layer->ops->tensor[t];
        if (tensor->group != group)
            continue;
        size_t per_unit = param_per_unit(layer->ops, t, &layer->shape);
        int vector = tensor->extent == PARAM_ONE;
        int err = add_tensor(net, l, tensor->name, 1, group, per_unit ? layer->shape.m : 0,
                             vector ? 0 : per_unit, &layer->raw[t]);
        if (err < 0)
            return err;
        if (per_unit) {
            sph_tensor *view = &net->tensors[net->tensor_count - 1].view;
            view->ndim = net_raw_shape(layer, t, view->shape);
        }
    }
    return 0;
}

static int lay_out_norm(sph_net *net, size_t l, int learned)
{
    struct net_layer *layer = &net->layers[l];
    int err = 0;
    for (size_t t = 0; t < layer->norm->tensors && err >= 0; t++)
        if (layer->norm->tensor[t].learned == learned)
            err = add_tensor(net, l, layer->norm->tensor[t].name, learned, learned ? SPH_GROUP_NORM : 0,
                             net_norm_length(layer, t), 0, &layer->norm_at[t]);
    return err;
}

static int lay_out_act(sph_net *net, size_t l)
{
    struct net_layer *layer = &net->layers[l];
    layer->act_shape = NET_NOWHERE;
    for (size_t q = 0; q < layer->act->shapes; q++) {
        size_t at;
        int err = add_tensor(net, l, layer->act->shape[q].name, 1, SPH_GROUP_ACT, layer->shape.m, 0, &at);
        if (err < 0)
            return err;
        if (q == 0)
            layer->act_shape = at; /* the others follow */
    }
    return 0;
}

static int lay_out_state(sph_net *net, size_t l)
{
    struct net_layer *layer = &net->layers[l];
    size_t m = layer->shape.m;
    int signs = layer->ops->has_sign && layer->shape.n == 1;
    int err;
    if ((err = add_tensor(net, l, "sign", 0, 0, signs ? m : 0, 0, &layer->sign)) < 0 ||
        (err = add_tensor(net, l, "r", 0, 0, layer->spec.signs ? m : 0, 0, &layer->output_sign)) < 0 ||
        (err = lay_out_norm(net, l, 0)) < 0)
        return err;
    return 0;
}

int net_lay_out(sph_net *net)
{
    int err = 0;
    levels_free(&net->names.tensors);
    net->tensor_count = net->learned = net->state_len = 0;
    for (size_t l = 0; l < net->layer_count; l++)
        for (size_t t = 0; t < PARAM_TENSORS; t++)
            net->layers[l].raw[t] = NET_NOWHERE;
    for (int group = 0; group < SPH_GROUP_COUNT && err >= 0; group++) {
        net->group_at[group] = net->learned;
        for (size_t l = 0; l < net->layer_count && err >= 0; l++) {
            if (group == SPH_GROUP_NORM)
                err = lay_out_norm(net, l, 1);
            else if (group == SPH_GROUP_ACT)
                err = lay_out_act(net, l);
            else
                err = lay_out_params(net, l, (sph_group)group);
        }
    }
    net->group_at[SPH_GROUP_COUNT] = net->learned;
    for (size_t l = 0; l < net->layer_count && err >= 0; l++)
        err = lay_out_state(net, l);
    if (err < 0)
        return err;
    net->params = mem_get(net->learned, net->k->size);
    net->state = mem_get(net->state_len, net->k->size);
    return net->params && net->state ? 0 : SPH_EMEMORY;
}

/* ---------------------------------------------------------------- access by name */

size_t sph_net_tensors(const sph_net *net)
{
    return net ? net->tensor_count : 0;
}

int sph_net_tensor(const sph_net *net, size_t i, sph_tensor *out)
{
    NEED(net, out);
    if (i >= net->tensor_count)
        return sph_fail_of(SPH_EARG, "", 0, "tensor", "no tensor %zu; the network has %zu tensors", i,
                           net->tensor_count);
    *out = net->tensors[i].view;
    return 0;
}

const struct net_tensor *net_find_tensor(const sph_net *net, const char *name)
{
    size_t place = levels_seen(&net->names.tensors, name);
    return place == SIZE_MAX ? NULL : &net->tensors[place];
}

static void *tensor_at(const sph_net *net, const struct net_tensor *tensor)
{
    return tensor->view.learned ? net_param(net, tensor->at) : net_state(net, tensor->at);
}

void net_read_tensor(const sph_net *net, const struct net_tensor *tensor, double *values)
{
    const char *from = tensor_at(net, tensor);
    for (size_t i = 0; i < tensor->per_unit; i++)
        for (size_t j = 0; j < tensor->units; j++)
            net->k->to_double(1, from + (i * tensor->units + j) * net->k->size,
                              &values[j * tensor->per_unit + i]);
}

void net_write_tensor(sph_net *net, const struct net_tensor *tensor, const double *values)
{
    char *to = tensor_at(net, tensor);
    for (size_t i = 0; i < tensor->per_unit; i++)
        for (size_t j = 0; j < tensor->units; j++)
            net->k->from_double(1, &values[j * tensor->per_unit + i],
                                to + (i * tensor->units + j) * net->k->size);
}

static int is_on_sphere(const sph_net *net, const struct net_tensor *tensor)
{
    const struct net_layer *layer = &net->layers[tensor->layer];
    for (size_t t = 0; t < layer->ops->tensors; t++)
        if (tensor->view.learned && layer->raw[t] == tensor->at)
            return layer->ops->tensor[t].is_unit;
    return 0;
}

int net_check_units(const sph_net *net, const struct net_tensor *tensor, const double *values,
                    double rounding, const char *file, const char *name)
{
    size_t n = tensor->per_unit;
    /* Lengths are made 1 by sums of n terms in f32, also of those that an f64 net keeps (frozen ones, say). */
    double slack = 8 * rounding + (double)n * FLT_EPSILON;
    for (size_t j = 0; j < tensor->units && is_on_sphere(net, tensor); j++) {
        double length = param_length(n, values + j * n);
        if (fabs(length - 1) > slack)
            return sph_fail_of(
                *file ? SPH_EFORMAT : SPH_EARG, file, 0, name,
                "%s: unit %zu has length %.9g, expected 1; divide its u and lambda by this length and "
                "multiply its r by it",
                name, j, length);
    }
    return 0;
}

static int find_for(const sph_net *net, const char *name, size_t count, const struct net_tensor **out)
{
    *out = net_find_tensor(net, name);
    if (!*out)
        return sph_fail_of(SPH_EARG, "", 0, name, "the network has no tensor %s", name);
    if ((*out)->view.count != count)
        return sph_fail_of(SPH_EARG, "", 0, name, "%s has %zu numbers, %zu were given", name,
                           (*out)->view.count, count);
    return 0;
}

int sph_net_get(const sph_net *net, const char *name, double *values, size_t count)
{
    NEED(net, name, values);
    const struct net_tensor *tensor;
    int err = find_for(net, name, count, &tensor);
    if (!err)
        net_read_tensor(net, tensor, values);
    return err;
}

int sph_net_set(sph_net *net, const char *name, const double *values, size_t count)
{
    NEED(net, name, values);
    const struct net_tensor *tensor;
    int err = find_for(net, name, count, &tensor);
    if (!err)
        err = net_check_units(net, tensor, values, FLT_EPSILON, "", name);
    if (!err)
        net_write_tensor(net, tensor, values);
    return err;
}

/* ---------------------------------------------------------------- one layer's numbers */

size_t net_norm_numbers(const struct net_layer *layer)
{
    size_t numbers = 0;
    for (size_t t = 0; t < layer->norm->tensors; t++)
        numbers += net_norm_length(layer, t);
    return numbers;
}

void net_norm_values(const sph_net *net, const struct net_layer *layer, double *memory,
                     struct norm_values *out)
{
    *out = (struct norm_values){.m = layer->shape.m,
                                .n = layer->shape.n,
                                .area = layer_area(layer),
                                .groups = layer_groups(layer),
                                .norm_groups = layer->norm->grouped ? layer->spec.norm_groups : 1,
                                .epsilon = layer->norm_epsilon};
    for (size_t t = 0; t < layer->norm->tensors; t++) {
        net->k->to_double(net_norm_length(layer, t), net_norm(net, layer, t), memory);
        out->tensor[t] = memory;
        memory += net_norm_length(layer, t);
    }
}

int net_values_new(const struct param_ops *ops, const struct param_shape *shape, struct param_values *out)
{
    *out = (struct param_values){{0}, NULL};
    int missing = 0;
    for (size_t t = 0; t < ops->tensors; t++) {
        size_t per_unit = param_per_unit(ops, t, shape);
        if (per_unit)
            missing |= !(out->raw[t] = mem_get(shape->m * per_unit, sizeof(double)));
    }
    if (ops->has_sign && shape->n == 1)
        missing |= !(out->sign = mem_get(shape->m, sizeof(double)));
    if (missing) {
        net_values_free(out);
        return SPH_EMEMORY;
    }
    return 0;
}

void net_values_free(struct param_values *values)
{
    for (size_t t = 0; t < PARAM_TENSORS; t++)
        mem_free(values->raw[t]);
    mem_free(values->sign);
    *values = (struct param_values){{0}, NULL};
}

/* Calls visit for each tensor of the layer that holds raw numbers or signs. */
static void each_value(const sph_net *net, size_t layer, const struct param_values *values,
                       void (*visit)(sph_net *net, const struct net_tensor *tensor, double *numbers))
{
    const struct net_layer *from = &net->layers[layer];
    for (size_t i = 0; i < net->tensor_count; i++) {
        const struct net_tensor *tensor = &net->tensors[i];
        if (tensor->layer != layer)
            continue;
        for (size_t t = 0; t < from->ops->tensors; t++)
            if (tensor->view.learned && tensor->at == from->raw[t])
                visit((sph_net *)net, tensor, values->raw[t]);
        if (!tensor->view.learned && tensor->at == from->sign)
            visit((sph_net *)net, tensor, values->sign);
    }
}

static void visit_read(sph_net *net, const struct net_tensor *tensor, double *numbers)
{
    net_read_tensor(net, tensor, numbers);
}

static void visit_write(sph_net *net, const struct net_tensor *tensor, double *numbers)
{
    net_write_tensor(net, tensor, numbers);
}

int net_layer_values(const sph_net *net, size_t layer, struct param_values *out)
{
    int err = net_values_new(net->layers[layer].ops, &net->layers[layer].shape, out);
    if (!err)
        each_value(net, layer, out, visit_read);
    return err;
}

void net_set_layer_values(sph_net *net, size_t layer, const struct param_values *values)
{
    each_value(net, layer, values, visit_write);
}
