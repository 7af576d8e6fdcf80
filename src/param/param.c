/* SPDX-License-Identifier: MIT */
#include "param/param.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "param/rows.h"

const struct param_ops *param_ops(sph_param param)
{
#define PARAM_AT(id, word, help) [SPH_PARAM_##id] = &param_##id,
    static const struct param_ops *const table[] = {SPH_PARAMS(PARAM_AT)};
    return table[param];
}

int param_find_group(const struct param_ops *ops, sph_group group)
{
    for (size_t t = 0; t < ops->tensors; t++)
        if (ops->tensor[t].group == group)
            return (int)t;
    return -1;
}

int param_find_bias(const struct param_ops *ops)
{
    for (size_t t = 0; t < ops->tensors; t++)
        if (ops->tensor[t].is_bias)
            return (int)t;
    return -1;
}

int param_has_radius(sph_param param)
{
    return param_find_group(param_ops(param), SPH_GROUP_R) >= 0;
}

sph_param param_of_output(sph_param from, sph_param to)
{
    if (to == SPH_PARAM_SP)
        return to;
    if (!param_has_radius(from))
        return from;
    return param_has_radius(to) ? to : SPH_PARAM_SP;
}

int param_reorders(const struct param_ops *ops, const struct param_shape *shape)
{
    return shape->order != SPH_ANGLES_CHW && shape->area > 1 && ops->tensor[0].extent == PARAM_ANGLES;
}

double param_length(size_t n, const double *w)
{
    double square = 0, length = 0;
    for (size_t i = 0; i < n; i++)
        square += w[i] * w[i];
    if (square > SQUARE_LEAST && square < SQUARE_MOST)
        return sqrt(square);
    for (size_t i = 0; i < n; i++)
        length = hypot(length, w[i]);
    return length;
}

size_t param_per_unit(const struct param_ops *ops, size_t tensor, const struct param_shape *shape)
{
    const struct param_tensor *t = &ops->tensor[tensor];
    if (t->is_bias && !shape->has_bias)
        return 0;
    switch (t->extent) {
    case PARAM_WEIGHTS:
        return shape->n;
    case PARAM_ANGLES:
        return shape->n - 1;
    default:
        return 1;
    }
}

/* Directions uniform on the sphere: a Gaussian vector. Its length is set to 1 (paper) or is the draw's own.
 * The authors' code takes the last angle of |w_n|: half a sphere. (In both orders of a conv's inputs that is the
 * last one.) */
static void draw_unit(struct rng *rng, const struct param_ops *ops, sph_init init,
                      const struct param_shape *shape, double *w)
{
    size_t n = shape->n;
    int uniform = init == SPH_INIT_GLOROT || init == SPH_INIT_AUTHORS;
    int by_filters = init == SPH_INIT_AUTHORS && !ops->raw_is_weight; /* plain layers are Keras' own */
    double limit = sqrt(6.0 / (double)(shape->fan_in + (by_filters ? shape->filters : shape->fan_out)));
    double deviation = sqrt(2.0 / (double)shape->fan_in);
    for (size_t i = 0; i < n; i++)
        w[i] = uniform ? limit * (2 * rng_unit(rng) - 1) : rng_normal(rng) * deviation;
    if (init == SPH_INIT_AUTHORS && param_find_group(ops, SPH_GROUP_R) >= 0 && n > 1)
        w[n - 1] = fabs(w[n - 1]);
    if (init != SPH_INIT_PAPER)
        return;
    double square = 0;
    for (size_t i = 0; i < n; i++)
        square += w[i] * w[i];
    for (size_t i = 0; i < n; i++)
        w[i] = square > 0 ? w[i] / sqrt(square) : (i == 0);
}

/* Where unit j's numbers lie; an absent bias is *absent. */
static void find_unit(const struct param_ops *ops, const struct param_shape *shape, size_t j,
                      const struct param_values *values, double *absent, double *unit[PARAM_TENSORS])
{
    for (size_t t = 0; t < ops->tensors; t++)
        unit[t] = values->raw[t] ? values->raw[t] + j * param_per_unit(ops, t, shape) : absent;
}

/* The weights of a unit in the order in which they take coordinates, and back; spare (n). */
static const double *to_order(const struct param_ops *ops, const struct param_shape *shape, const double *w,
                              double *spare)
{
    if (!param_reorders(ops, shape))
        return w;
    for (size_t i = 0; i < shape->n; i++)
        spare[i] = w[param_input(shape, i)];
    return spare;
}

static void from_order(const struct param_ops *ops, const struct param_shape *shape, double *w, double *spare)
{
    if (!param_reorders(ops, shape))
        return;
    memcpy(spare, w, shape->n * sizeof *w);
    for (size_t i = 0; i < shape->n; i++)
        w[param_input(shape, i)] = spare[i];
}

static void set_unit(const struct param_ops *ops, const struct param_shape *shape, size_t j, const double *w,
                     double b, struct param_values *out, double *spare)
{
    double absent = 0;
    double *unit[PARAM_TENSORS] = {0};
    find_unit(ops, shape, j, out, &absent, unit);
    ops->from_unit(shape->n, to_order(ops, shape, w, spare), b, unit, out->sign ? out->sign + j : NULL);
}

int param_init(const struct param_ops *ops, const struct param_shape *shape, sph_init init, struct rng *rng,
               struct param_values *out)
{
    if (init == SPH_INIT_DEFAULT)
        init = ops->first_init;
    double *w = mem_get(2 * shape->n, sizeof *w);
    if (!w)
        return SPH_EMEMORY;
    for (size_t j = 0; j < shape->m; j++) {
        draw_unit(rng, ops, init, shape, w);
        set_unit(ops, shape, j, w, 0, out, w + shape->n);
        for (size_t t = 0; t < ops->tensors && init == SPH_INIT_PAPER; t++)
            if (ops->tensor[t].group == SPH_GROUP_R)
                out->raw[t][j] = 1; /* exactly, not the rounded length of a unit vector */
    }
    mem_free(w);
    return 0;
}

int param_from_weight(const struct param_ops *ops, const struct param_shape *shape, const double *w,
                      const double *b, struct param_values *out)
{
    double *spare = mem_get(shape->n, sizeof *spare);
    for (size_t j = 0; spare && j < shape->m; j++)
        set_unit(ops, shape, j, w + j * shape->n, b ? b[j] : 0, out, spare);
    mem_free(spare);
    return spare ? 0 : SPH_EMEMORY;
}

int param_to_weight(const struct param_ops *ops, const struct param_shape *shape,
                    const struct param_values *values, double *w, double *b, double *s)
{
    double *spare = mem_get(shape->n, sizeof *spare);
    if (!spare)
        return SPH_EMEMORY;
    for (size_t j = 0; j < shape->m; j++) {
        double absent = 0, *unit[PARAM_TENSORS] = {0};
        find_unit(ops, shape, j, values, &absent, unit);
        ops->to_unit(shape->n, (const double *const *)unit, values->sign ? values->sign + j : NULL,
                     w + j * shape->n, b + j, s + j);
        from_order(ops, shape, w + j * shape->n, spare);
    }
    mem_free(spare);
    return 0;
}

void param_poles(const struct param_ops *ops, const struct param_shape *shape,
                 const struct param_values *values, double *pole)
{
    for (size_t j = 0; j < shape->m; j++) {
        double absent = 0, *unit[PARAM_TENSORS] = {0};
        find_unit(ops, shape, j, values, &absent, unit);
        pole[j] = ops->pole(shape->n, (const double *const *)unit);
    }
}
