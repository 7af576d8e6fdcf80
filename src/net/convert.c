/* SPDX-License-Identifier: MIT
 *
 * The same function in another parameterization. Every layer is brought to one form, s * act(norm(w x + b))
 * in f64, where gmp and sphere have w = u, b = lambda, s = r; there its units are rescaled until the target
 * can hold them: |w| = 1 for gmp and sphere, s = +-1 for sp and wn. What a unit cannot keep moves on to the
 * layers that read it. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "layer/op.h"
#include "net/net.h"

struct form {
    const struct net_layer *from;
    sph_param to;
    int signs;                          /* the converted layer keeps s as PATH.r */
    int rewrite;                        /* w is no longer what from has          */
    struct param_values values;         /* as from has them                      */
    double *block;                      /* owns the rest                         */
    double *w;                          /* (m, n) */
    double *b, *s, *gamma, *beta, *var; /* (m)    */
    double *shape;                      /* (4, m) */
    double *mean;                       /* (m), imn (n) */
};

struct conversion {
    const sph_net *net;
    struct form *form; /* (layers) */
    int strict;
};

static int has_radius(sph_param param)
{
    return param == SPH_PARAM_GMP || param == SPH_PARAM_SPHERE;
}

static int scales_behind_norm(const struct form *form)
{
    return form->from->spec.norm == SPH_NORM_BN || form->from->spec.norm == SPH_NORM_LN;
}

__attribute__((format(printf, 3, 4), cold)) static int refuse(const struct form *form, size_t unit,
                                                              const char *format, ...)
{
    char why[256];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    return sph_fail(SPH_EARG, "%s unit %zu: %s", form->from->path, unit, why);
}

/* ---------------------------------------------------------------- a layer's form */

static double *raw_of(const struct net_layer *layer, const struct param_values *values, sph_group group)
{
    for (size_t t = 0; t < layer->ops->tensors; t++)
        if (layer->ops->tensor[t].group == group)
            return values->raw[t];
    return NULL;
}

static void wn_weight(size_t n, const double *v, double g, double *w)
{
    double length = 0;
    for (size_t i = 0; i < n; i++)
        length = hypot(length, v[i]);
    for (size_t i = 0; i < n; i++)
        w[i] = length > 0 ? g * (v[i] / length) : 0;
}

static void gmp_direction(size_t n, const double *theta, double *u)
{
    double product = 1;
    for (size_t i = 0; i + 1 < n; i++) {
        u[i] = product * cos(theta[i]);
        product *= sin(theta[i]);
    }
    u[n - 1] = product;
}

static void read_weight(struct form *form)
{
    const struct net_layer *layer = form->from;
    const double *const *raw = (const double *const *)form->values.raw;
    size_t m = layer->shape.m, n = layer->shape.n;
    for (size_t j = 0; j < m; j++) {
        double *w = form->w + j * n;
        if (layer->spec.param == SPH_PARAM_WN)
            wn_weight(n, raw[0] + j * n, raw_of(layer, &form->values, SPH_GROUP_G)[j], w);
        else if (layer->spec.param != SPH_PARAM_GMP)
            memcpy(w, raw[0] + j * n, n * sizeof *w);
        else if (n == 1)
            w[0] = form->values.sign[j];
        else
            gmp_direction(n, raw[0] + j * (n - 1), w);
    }
}

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
    form->signs = !has_radius(to) && layer->spec.signs;
    int err = net_layer_values(net, l, &form->values);
    if (err < 0)
        return err;
    form->block = mem_get(m * n + (5 + SRELU_SHAPE) * m + layer->mean_width, sizeof *form->block);
    if (!form->block)
        return SPH_EMEMORY;
    double *next = form->block;
    form->w = next, next += m * n;
    form->b = next, next += m;
    form->s = next, next += m;
    form->gamma = next, next += m;
    form->beta = next, next += m;
    form->var = next, next += m;
    form->shape = next, next += SRELU_SHAPE * m;
    form->mean = next;

    read_weight(form);
    int radius = has_radius(layer->spec.param);
    const double *b = raw_of(layer, &form->values, radius ? SPH_GROUP_LAMBDA : SPH_GROUP_BIAS);
    const double *r = raw_of(layer, &form->values, SPH_GROUP_R);
    for (size_t j = 0; j < m; j++) {
        form->b[j] = b ? b[j] : 0;
        form->s[j] = r ? r[j] : 1;
    }
    read_vector(net, net_state(net, layer->output_sign), m, form->s);
    read_vector(net, net_param(net, layer->gamma), m, form->gamma);
    read_vector(net, net_param(net, layer->beta), m, form->beta);
    read_vector(net, net_param(net, layer->act_shape), SRELU_SHAPE * m, form->shape);
    read_vector(net, net_state(net, layer->mean), layer->mean_width, form->mean);
    read_vector(net, net_state(net, layer->var), m, form->var);
    return 0;
}

/* ---------------------------------------------------------------- what reads a layer */

/* Average pools hand on signs and constants as they are: what stands before them is read by who reads them.
 */
static int behind_averages(const sph_net *net, int node)
{
    while (node >= 0 && net->nodes[node].kind == NODE_AVG_POOL)
        node = net->nodes[node].in[0];
    return node;
}

/* The next node behind `after` that reads node, averages aside; the number of nodes if there is none. */
static size_t next_reader(const sph_net *net, int node, size_t after)
{
    size_t i = after + 1;
    for (; i < net->node_count; i++) {
        const struct net_node *reader = &net->nodes[i];
        if (reader->kind != NODE_AVG_POOL &&
            (behind_averages(net, reader->in[0]) == node || behind_averages(net, reader->in[1]) == node))
            break;
    }
    return i;
}

static int has_padded_average(const sph_net *net, int from, int to)
{
    for (; from != to; from = net->nodes[from].in[0])
        if (net->nodes[from].window.pad)
            return 1;
    return 0;
}

/* What stands in the way of moving something of the layer's output into the weights that read it; NULL:
 * nothing. A sign passes zero padding, a constant does not, unless imn takes it before. */
static const char *blocked(const struct conversion *c, const struct form *form, int constant)
{
    int node = form->from->node;
    if (behind_averages(c->net, c->net->output) == node)
        return "it is the net's output";
    for (size_t i = next_reader(c->net, node, (size_t)node); i < c->net->node_count;
         i = next_reader(c->net, node, i)) {
        const struct net_node *reader = &c->net->nodes[i];
        if (reader->kind == NODE_ADD)
            return "it is read by an addition";
        if (reader->kind == NODE_MAX_POOL)
            return "it is read by a max pool";
        if (reader->kind == NODE_ACT)
            return "it is read by an activation";
        int centred = c->net->layers[reader->layer].spec.norm == SPH_NORM_IMN;
        if (constant && ((reader->window.pad && !centred) || has_padded_average(c->net, reader->in[0], node)))
            return "it is read through zero padding";
    }
    return NULL;
}

/* Weights of a unit that read one channel: a conv's window has several. */
static size_t channel_area(const struct form *form)
{
    size_t kernel = form->from->spec.kernel;
    return kernel ? kernel * kernel : 1;
}

/* Channel i of the layer's input was x + constant and is x now. Under bn and mbn the mean takes it, as it
 * would in training. */
static void absorb_constant(struct form *form, size_t i, double constant)
{
    sph_norm norm = form->from->spec.norm;
    size_t m = form->from->shape.m, n = form->from->shape.n, area = channel_area(form);
    if (norm == SPH_NORM_IMN) {
        form->mean[i] -= constant;
        return;
    }
    for (size_t j = 0; j < m; j++) {
        double part = 0;
        for (size_t at = 0; at < area; at++)
            part += form->w[j * n + i * area + at] * constant;
        if (norm == SPH_NORM_BN || norm == SPH_NORM_MBN)
            form->mean[j] -= part;
        else
            form->b[j] += part;
    }
}

/* Channel i of the layer's input was -x and is x now. */
static void absorb_sign(struct form *form, size_t i)
{
    size_t m = form->from->shape.m, n = form->from->shape.n, area = channel_area(form);
    for (size_t j = 0; j < m; j++)
        for (size_t at = 0; at < area; at++)
            form->w[j * n + i * area + at] = -form->w[j * n + i * area + at];
    if (form->from->spec.norm == SPH_NORM_IMN)
        form->mean[i] = -form->mean[i];
    form->rewrite = 1;
}

/* ---------------------------------------------------------------- one unit */

/* z = factor * what it was, where z is what act sees: homogeneous activations and srelu pass it on. */
static void scale_unit(struct form *form, size_t j, double factor)
{
    size_t m = form->from->shape.m, n = form->from->shape.n;
    if (scales_behind_norm(form)) {
        form->gamma[j] *= factor;
        form->beta[j] *= factor;
    } else {
        for (size_t i = 0; i < n; i++)
            form->w[j * n + i] *= factor;
        form->b[j] *= factor;
        if (form->from->spec.norm == SPH_NORM_MBN)
            form->mean[j] *= factor;
        form->rewrite = 1;
    }
    form->shape[SRELU_T_RIGHT * m + j] *= factor;
    form->shape[SRELU_T_LEFT * m + j] *= factor;
}

static double act_of(const struct form *form, size_t j, double z)
{
    const struct kernels *k = kernels_pick(SPH_F64, KERNELS_PLAIN);
    double shape[SRELU_SHAPE], y = 0;
    for (size_t q = 0; q < SRELU_SHAPE; q++)
        shape[q] = form->shape[q * form->from->shape.m + j];
    k->act[form->from->spec.act](
        &(struct act_args){.rows = 1, .m = 1, .z = &z, .ldz = 1, .shape = shape, .y = &y, .ldy = 1});
    return y;
}

/* A unit without a direction: a constant. bn can hold it, others hand it on. */
static int zero_row(struct conversion *c, struct form *form, size_t j)
{
    sph_norm norm = form->from->spec.norm;
    if (norm == SPH_NORM_BN) {
        form->beta[j] -= form->gamma[j] * form->mean[j] / sqrt(form->var[j] + norm_epsilon);
        form->gamma[j] = form->mean[j] = 0;
        form->var[j] = 1;
        return 0;
    }
    double constant = form->s[j] * act_of(form, j, form->b[j] - (norm == SPH_NORM_MBN ? form->mean[j] : 0));
    form->s[j] = form->b[j] = 0;
    if (constant == 0)
        return 0;
    const char *why = blocked(c, form, 1);
    if (why)
        return refuse(form, j, "its weights are 0 and its output is always %g, which no bias can take: %s",
                      constant, why);
    int node = form->from->node;
    for (size_t i = next_reader(c->net, node, (size_t)node); i < c->net->node_count;
         i = next_reader(c->net, node, i))
        absorb_constant(&c->form[c->net->nodes[i].layer], j, constant);
    return 0;
}

/* bn sees w x / length: its statistics follow, and nothing behind it changes. */
static int shorten_under_bn(struct form *form, size_t j, double length)
{
    size_t n = form->from->shape.n;
    double var = (form->var[j] + norm_epsilon) / length / length - norm_epsilon;
    if (!(var >= 0))
        return refuse(form, j, "bn's variance would become %g: the weights' length %g is too large for it",
                      var, length);
    for (size_t i = 0; i < n; i++)
        form->w[j * n + i] /= length;
    form->mean[j] /= length;
    form->var[j] = var;
    form->rewrite = 1;
    return 0;
}

/* |w| <- 1. */
static int to_direction(struct conversion *c, struct form *form, size_t j)
{
    size_t n = form->from->shape.n;
    sph_norm norm = form->from->spec.norm;
    int fixed = norm == SPH_NORM_LN || (form->from->spec.act == SPH_ACT_ELU && norm != SPH_NORM_BN);
    double length = 0, rounding = c->net->dtype == SPH_F32 ? 1e-6 : 1e-13;
    for (size_t i = 0; i < n; i++)
        length = hypot(length, form->w[j * n + i]);
    if (!isfinite(length))
        return refuse(form, j, "its weights are not all finite");
    if (length == 0 && norm != SPH_NORM_LN)
        return zero_row(c, form, j);
    if (length == 1 || ((fixed || has_radius(form->from->spec.param)) && fabs(length - 1) <= rounding))
        return 0;
    if (norm == SPH_NORM_LN)
        return refuse(form, j,
                      "its weights have length %g, and ln, which joins the units, lets it not become r",
                      length);
    if (fixed)
        return refuse(form, j,
                      "its weights have length %g, and elu, which is not homogeneous, lets it not become r",
                      length);
    if (norm == SPH_NORM_BN)
        return shorten_under_bn(form, j, length);
    scale_unit(form, j, 1 / length);
    form->s[j] *= length;
    return 0;
}

/* s <- +-1. */
static int to_sign(struct form *form, size_t j)
{
    double size = fabs(form->s[j]);
    if (!isfinite(size))
        return refuse(form, j, "its r is not finite");
    if (size != 1 && size != 0 && form->from->spec.act == SPH_ACT_ELU)
        return refuse(form, j, "its r is %g, which elu, not being homogeneous, lets not become weights",
                      form->s[j]);
    if (size != 1)
        scale_unit(form, j, size);
    form->s[j] = form->s[j] < 0 ? -1 : 1;
    return 0;
}

/* ---------------------------------------------------------------- signs */

/* -(w x + b): without an activation the unit itself takes the sign. */
static void negate_unit(struct form *form, size_t j)
{
    scale_unit(form, j, -1);
    form->s[j] = 1;
}

/* Moves what is negative of s into the unit or into the weights that read it; else it stays as PATH.r. */
static int fold_signs(struct conversion *c, struct form *form)
{
    const char *why = blocked(c, form, 0);
    int node = form->from->node;
    form->signs = 0;
    for (size_t j = 0; j < form->from->shape.m; j++) {
        if (form->s[j] > 0)
            continue;
        if (form->from->spec.act == SPH_ACT_IDENTITY) {
            negate_unit(form, j);
        } else if (!why) {
            for (size_t i = next_reader(c->net, node, (size_t)node); i < c->net->node_count;
                 i = next_reader(c->net, node, i))
                absorb_sign(&c->form[c->net->nodes[i].layer], j);
            form->s[j] = 1;
        } else if (c->strict) {
            return refuse(form, j, "its r is negative and the sign cannot be folded away: %s", why);
        } else {
            form->signs = 1;
        }
    }
    return 0;
}

/* ---------------------------------------------------------------- the new net */

static int check_numbers(const sph_net *net, const struct form *form, const char *name, const double *values,
                         size_t units, size_t per_unit)
{
    int narrow = net->dtype == SPH_F32;
    for (size_t i = 0; values && i < units * per_unit; i++)
        if (!(narrow ? isfinite((float)values[i]) : isfinite(values[i])))
            return refuse(form, i / per_unit % form->from->shape.m,
                          "its %s would be %g, not a finite number in %s", name, values[i],
                          narrow ? "f32" : "f64");
    return 0;
}

static int write_values(sph_net *out, size_t l, struct form *form)
{
    const struct net_layer *layer = &out->layers[l];
    size_t m = layer->shape.m;
    struct param_values fresh = {{0}, NULL}, *values = &form->values;
    int err = 0, radius = has_radius(form->to);
    if (form->to != form->from->spec.param || form->rewrite) {
        if ((err = net_values_new(layer->ops, &layer->shape, &fresh)) < 0)
            return err;
        param_from_weight(layer->ops, &layer->shape, form->w, form->b, &fresh);
        values = &fresh;
    }
    double *b = raw_of(layer, values, radius ? SPH_GROUP_LAMBDA : SPH_GROUP_BIAS);
    double *r = raw_of(layer, values, SPH_GROUP_R);
    if (b)
        memcpy(b, form->b, m * sizeof *b);
    if (r)
        memcpy(r, form->s, m * sizeof *r);
    for (size_t t = 0; t < layer->ops->tensors && !err; t++)
        err = check_numbers(out, form, layer->ops->tensor[t].name, values->raw[t], m,
                            param_per_unit(layer->ops, t, &layer->shape));
    if (!err)
        net_set_layer_values(out, l, values);
    net_values_free(&fresh);
    return err;
}

static int write_form(sph_net *out, size_t l, struct form *form)
{
    const struct net_layer *layer = &out->layers[l];
    size_t m = layer->shape.m;
    const struct {
        const char *name;
        void *to;
        const double *values;
        size_t count;
    } vectors[] = {
        {"norm.scale", net_param(out, layer->gamma), form->gamma, m},
        {"norm.shift", net_param(out, layer->beta), form->beta, m},
        {"act.t_right", net_param(out, layer->act_shape), form->shape, SRELU_SHAPE * m},
        {"r", net_state(out, layer->output_sign), form->s, m},
        {"norm.mean", net_state(out, layer->mean), form->mean, layer->mean_width},
        {"norm.var", net_state(out, layer->var), form->var, m},
    };
    int err = write_values(out, l, form);
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors && !err; i++) {
        if (!vectors[i].to)
            continue;
        err = check_numbers(out, form, vectors[i].name, vectors[i].values, vectors[i].count, 1);
        if (!err)
            out->k->from_double(vectors[i].count, vectors[i].values, vectors[i].to);
    }
    return err;
}

static void adapt_layer(void *self, size_t layer, sph_layer *spec)
{
    const struct form *form = &((const struct conversion *)self)->form[layer];
    if (spec->param != form->to)
        spec->init = SPH_INIT_DEFAULT;
    spec->param = form->to;
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
    int output = behind_averages(net, net->output);
    const struct net_node *last = &net->nodes[output];
    int in_sum = last->kind == NODE_ADD && (last->in[0] == layer->node || last->in[1] == layer->node);
    return layer->node == output || (in_sum && layer->spec.act == SPH_ACT_IDENTITY);
}

/* The output layer is plain and stays as it is; what was built otherwise follows the hidden ones. */
static sph_param choose(const sph_net *net, const struct net_layer *layer, sph_param to)
{
    int radius = has_radius(layer->spec.param);
    if (to == SPH_PARAM_SP || !is_output(net, layer))
        return to;
    if (!radius)
        return layer->spec.param;
    return to == SPH_PARAM_WN ? SPH_PARAM_SP : to;
}

static int is_copy(const sph_net *net, sph_param to, int strict)
{
    for (size_t l = 0; l < net->layer_count; l++) {
        const struct net_layer *layer = &net->layers[l];
        if (choose(net, layer, to) != layer->spec.param || (strict && !has_radius(to) && layer->spec.signs))
            return 0;
    }
    return 1;
}

int sph_net_convert(sph_net **out, const sph_net *net, sph_param to, int strict)
{
    if ((unsigned)to >= SPH_PARAM_COUNT)
        return sph_fail(SPH_EARG, "unknown parameterization %d", (int)to);
    if (!net->ready)
        return sph_fail(SPH_EARG, "the net is not ready: call sph_net_ready first");
    if (is_copy(net, to, strict))
        return sph_net_copy(out, net);
    size_t layers = net->layer_count;
    struct conversion c = {.net = net, .strict = strict, .form = mem_get(layers, sizeof *c.form)};
    int err = c.form ? 0 : SPH_EMEMORY;
    for (size_t l = 0; l < layers && !err; l++)
        err = read_form(net, l, choose(net, &net->layers[l], to), &c.form[l]);
    /* In the order of computation: what a layer hands on is there before its readers' turn. */
    for (size_t l = 0; l < layers && !err; l++) {
        struct form *form = &c.form[l];
        for (size_t j = 0; j < form->from->shape.m && !err; j++) {
            if (has_radius(form->to))
                err = to_direction(&c, form, j);
            else if (has_radius(form->from->spec.param) || (form->signs && !has_radius(to)))
                err = to_sign(form, j);
        }
        if (!err && !has_radius(to))
            err = fold_signs(&c, form);
    }
    if (!err)
        err = build(out, &c);
    for (size_t l = 0; c.form && l < layers; l++) {
        net_values_free(&c.form[l].values);
        mem_free(c.form[l].block);
    }
    mem_free(c.form);
    return err;
}
