/* SPDX-License-Identifier: MIT
 *
 * The same function in another parameterization: layers into forms, forms into a new net. convert.h says
 * how. */
#include "net/convert.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

int convert_refuse(const struct form *form, size_t unit, const char *format, ...)
{
    char why[256];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    char key[160];
    snprintf(key, sizeof key, "%s unit %zu", form->from->path, unit);
    return sph_fail_key(SPH_EFORMAT, key, "%s", why);
}

/* ---------------------------------------------------------------- a layer's form */

static void read_vector(const sph_net *net, const void *from, size_t count, double *out)
{
    if (from)
        net->k->to_double(count, from, out);
}

static int read_form(const sph_net *net, size_t l, sph_param to, struct form *form)
{
    const struct net_layer *layer = &net->layers[l];
    size_t m = layer->shape.m, n = layer->shape.n;
    form->from = layer;
    form->to = to;
    form->norm = layer->norm;
    form->signs = !param_has_radius(to) && layer->spec.signs;
    int err = net_layer_values(net, l, &form->values);
    if (err < 0)
        return err;
    form->memory =
        mem_get(m * n + 2 * m + net_shape_length(layer) + net_norm_numbers(layer), sizeof *form->memory);
    if (!form->memory)
        return SPH_EMEMORY;
    double *next = form->memory;
    form->w = next, next += m * n;
    form->b = next, next += m;
    form->s = next, next += m;
    form->shape = next, next += net_shape_length(layer);

    if ((err = param_to_weight(layer->ops, &layer->shape, &form->values, form->w, form->b, form->s)) < 0)
        return err;
    read_vector(net, net_state(net, layer->output_sign), m, form->s);
    read_vector(net, net_param(net, layer->act_shape), net_shape_length(layer), form->shape);
    net_norm_values(net, layer, next, &form->normed);
    return 0;
}

/* ---------------------------------------------------------------- the new net */

static int check_numbers(const sph_net *net, const struct form *form, const char *name, const double *values,
                         size_t units, size_t per_unit)
{
    int narrow = net->dtype == SPH_F32;
    for (size_t i = 0; values && i < units * per_unit; i++)
        if (!(narrow ? isfinite((float)values[i]) : isfinite(values[i])))
            return convert_refuse(form, i / per_unit % form->from->shape.m,
                                  "its %s would be %g, not a finite number in %s", name, values[i],
                                  narrow ? "f32" : "f64");
    return 0;
}

static int write_values(sph_net *out, size_t l, struct form *form)
{
    const struct net_layer *layer = &out->layers[l];
    size_t m = layer->shape.m;
    struct param_values fresh = {{0}, NULL}, *values = &form->values;
    int err = 0, bias = param_find_bias(layer->ops), radius = param_find_group(layer->ops, SPH_GROUP_R);
    if (form->to != form->from->spec.param || form->rewrite) {
        if ((err = net_values_new(layer->ops, &layer->shape, &fresh)) < 0)
            return err;
        err = param_from_weight(layer->ops, &layer->shape, form->w, form->b, &fresh);
        values = &fresh;
    }
    if (bias >= 0 && values->raw[bias])
        memcpy(values->raw[bias], form->b, m * sizeof(double));
    if (radius >= 0)
        memcpy(values->raw[radius], form->s, m * sizeof(double));
    for (size_t t = 0; t < layer->ops->tensors && !err; t++)
        err = check_numbers(out, form, layer->ops->tensor[t].name, values->raw[t], m,
                            param_per_unit(layer->ops, t, &layer->shape));
    if (!err)
        net_set_layer_values(out, l, values);
    net_values_free(&fresh);
    return err;
}

static int write_vector(sph_net *out, const struct form *form, const char *name, const double *values,
                        size_t count, void *to)
{
    int err = to ? check_numbers(out, form, name, values, count, 1) : 0;
    if (to && !err)
        out->k->from_double(count, values, to);
    return err;
}

static int write_form(sph_net *out, size_t l, struct form *form)
{
    const struct net_layer *layer = &out->layers[l];
    size_t m = layer->shape.m;
    int err = write_values(out, l, form);
    for (size_t t = 0; t < layer->norm->tensors && !err; t++)
        err = write_vector(out, form, layer->norm->tensor[t].name, form->normed.tensor[t],
                           net_norm_length(layer, t), net_norm(out, layer, t));
    for (size_t q = 0; q < layer->act->shapes && !err; q++)
        err = write_vector(out, form, layer->act->shape[q].name, form->shape + q * m, m,
                           net_param(out, layer->act_shape + q * m));
    return err ? err : write_vector(out, form, "r", form->s, m, net_state(out, layer->output_sign));
}

static void adapt_layer(void *self, size_t layer, sph_layer *spec)
{
    const struct form *form = &((const struct conversion *)self)->form[layer];
    if (spec->param != form->to)
        spec->init = SPH_INIT_DEFAULT;
    spec->param = form->to;
    if (form->norm != form->from->norm) {
        spec->norm = SPH_NORM_NONE;
        spec->norm_groups = 0;
    }
    spec->signs = form->signs;
}

static int build(sph_net **out, struct conversion *c)
{
    const sph_net *net = c->net;
    sph_net *copy = NULL;
    int err = net_copy_graph(&copy, net, adapt_layer, c);
    for (size_t l = 0; l < net->layer_count && err >= 0; l++)
        err = write_form(copy, l, &c->form[l]);
    if (err < 0) {
        sph_net_free(copy);
        return err;
    }
    *out = copy;
    return 0;
}

/* ---------------------------------------------------------------- which layers */

/* The output layer, or the branches without an activation whose sum is the output. */
static int is_output(const sph_net *net, const struct net_layer *layer)
{
    int output = convert_behind_averages(net, net->output);
    const struct net_node *last = &net->nodes[output];
    int in_sum = last->kind == NODE_ADD && (last->in[0] == layer->node || last->in[1] == layer->node);
    return layer->node == output || (in_sum && layer->act->identity);
}

static sph_param choose(const sph_net *net, const struct net_layer *layer, sph_param to)
{
    return is_output(net, layer) ? param_of_output(layer->spec.param, to) : to;
}

/* A file may hold anything: what is no number would go from file to file unseen. */
static int check_finite(const struct form *form)
{
    size_t m = form->from->shape.m, n = form->from->shape.n;
    for (size_t j = 0; j < m; j++) {
        int fine = isfinite(form->b[j]) && isfinite(form->s[j]);
        for (size_t i = 0; i < n && fine; i++)
            fine = isfinite(form->w[j * n + i]);
        if (!fine)
            return convert_refuse(form, j, "its weights are not all finite");
    }
    return 0;
}

static int is_copy(const sph_net *net, sph_param to, int strict, int fold)
{
    for (size_t l = 0; l < net->layer_count; l++) {
        const struct net_layer *layer = &net->layers[l];
        if ((fold && layer->norm->folds_away) || choose(net, layer, to) != layer->spec.param ||
            (strict && !param_has_radius(to) && layer->spec.signs))
            return 0;
    }
    return 1;
}

int sph_net_convert(sph_net **out, const sph_net *net, sph_param to, int flags)
{
    NEED(out, net);
    int strict = (flags & SPH_CONVERT_STRICT) != 0;
    if ((unsigned)to >= SPH_PARAM_COUNT)
        return sph_fail_of(SPH_EARG, "", 0, "param", "unknown parameterization %d", (int)to);
    if (flags & ~(SPH_CONVERT_STRICT | SPH_CONVERT_KEEP_BN))
        return sph_fail_key(SPH_EARG, "conversion", "unknown flags %#x", (unsigned)flags);
    if (!net->ready)
        return sph_fail_of(SPH_EARG, "", 0, "net", "the network is not ready; call sph_net_ready first");
    int fold = param_has_radius(to) && !(flags & SPH_CONVERT_KEEP_BN);
    int copy = is_copy(net, to, strict, fold);
    size_t layers = net->layer_count;
    struct conversion c = {.net = net, .strict = strict, .form = mem_get(layers, sizeof *c.form)};
    int err = c.form ? 0 : SPH_EMEMORY;
    for (size_t l = 0; l < layers && !err; l++)
        if (!(err = read_form(net, l, choose(net, &net->layers[l], to), &c.form[l])))
            err = check_finite(&c.form[l]);
    for (size_t l = 0; l < layers && !err && !copy && fold; l++)
        if (c.form[l].norm->folds_away)
            convert_fold_norm(&c.form[l]);
    /* In the order of computation: what a layer hands on is there before its readers' turn. */
    for (size_t l = 0; l < layers && !err && !copy; l++) {
        struct form *form = &c.form[l];
        for (size_t j = 0; j < form->from->shape.m && !err; j++) {
            if (param_has_radius(form->to))
                err = convert_to_direction(&c, form, j);
            else if (param_has_radius(form->from->spec.param) || (form->signs && !param_has_radius(to)))
                err = convert_to_sign(form, j);
        }
        if (!err && !param_has_radius(to))
            err = convert_fold_signs(&c, form);
    }
    if (!err)
        err = copy ? sph_net_copy(out, net) : build(out, &c);
    for (size_t l = 0; c.form && l < layers; l++) {
        net_values_free(&c.form[l].values);
        mem_free(c.form[l].memory);
    }
    mem_free(c.form);
    return err;
}
