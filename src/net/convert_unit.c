/* SPDX-License-Identifier: MIT
 *
 * One unit, rescaled until the target can hold it. */
#include <math.h>

#include "net/convert.h"

void convert_scale_unit(struct form *form, size_t j, double factor)
{
    const struct act_ops *act = form->from->act;
    size_t m = form->from->shape.m, n = form->from->shape.n;
    if (!form->norm->scale || !form->norm->scale(&form->normed, j, factor)) {
        for (size_t i = 0; i < n; i++)
            form->w[j * n + i] *= factor;
        form->b[j] *= factor;
        form->rewrite = 1;
    }
    for (size_t q = 0; q < act->shapes; q++)
        if (act->shape[q].scales)
            form->shape[q * m + j] *= factor;
}

void convert_fold_norm(struct form *form)
{
    for (size_t j = 0; j < form->from->shape.m; j++)
        form->norm->fold(&form->normed, j, form->w + j * form->from->shape.n, &form->b[j]);
    form->norm = norm_ops(SPH_NORM_NONE);
    form->rewrite = 1;
}

/* What to do where folding the normalization is to blame. */
static const char *advice(const struct form *form)
{
    return form->norm != form->from->norm ? "; keeping bn would help" : "";
}

static double act_of(const struct form *form, size_t j, double z)
{
    const struct kernels *k = kernels_pick(SPH_F64, KERNELS_PLAIN);
    double shape[ACT_SHAPES], y = 0;
    for (size_t q = 0; q < form->from->act->shapes; q++)
        shape[q] = form->shape[q * form->from->shape.m + j];
    k->act[form->from->spec.act](
        &(struct act_args){.rows = 1, .m = 1, .z = &z, .ldz = 1, .shape = shape, .y = &y, .ldy = 1});
    return y;
}

/* A unit without a direction: a constant. The normalization may hold it; else it is handed on. */
static int zero_row(struct conversion *c, struct form *form, size_t j)
{
    const struct norm_ops *norm = form->norm;
    if (norm->hold) {
        norm->hold(&form->normed, j);
        return 0;
    }
    double b = form->b[j];
    if (norm->fold && !norm->at_input)
        norm->fold(&form->normed, j, form->w + j * form->from->shape.n, &b);
    double constant = form->s[j] * act_of(form, j, b);
    form->s[j] = form->b[j] = 0;
    if (constant == 0)
        return 0;
    const char *why = convert_blocked(c, form, 1);
    if (why)
        return convert_refuse(
            form, j, "its weights are 0 and its output is always %g, which a bias cannot represent: %s%s",
            constant, why, advice(form));
    convert_move_constant(c, form, j, constant);
    return 0;
}

/* The normalization sees w x / length: its statistics follow, and nothing behind it changes. */
static int shorten(struct form *form, size_t j, double length)
{
    size_t n = form->from->shape.n;
    char why[128];
    if (form->norm->shorten(&form->normed, j, length, why, sizeof why) < 0)
        return convert_refuse(form, j, "%s", why);
    for (size_t i = 0; i < n; i++)
        form->w[j * n + i] /= length;
    form->rewrite = 1;
    return 0;
}

int convert_to_direction(struct conversion *c, struct form *form, size_t j)
{
    size_t n = form->from->shape.n;
    const struct norm_ops *norm = form->norm;
    int fixed = norm->per_sample || (!form->from->act->rescales && !norm->shorten);
    double length = param_length(n, form->w + j * n), rounding = c->net->dtype == SPH_F32 ? 1e-6 : 1e-13;
    if (!isfinite(length))
        return convert_refuse(form, j, "the length of its weights is too large for a number");
    if (length == 0 && !norm->per_sample)
        return zero_row(c, form, j);
    int drawn = param_has_radius(form->from->spec.param) && norm == form->from->norm;
    if (length == 1 || ((fixed || drawn) && fabs(length - 1) <= rounding))
        return 0;
    if (norm->per_sample)
        return convert_refuse(form, j,
                              "its weights have length %g, which cannot become r because %s combines units",
                              length, norm->name);
    if (fixed)
        return convert_refuse(
            form, j, "its weights have length %g, which cannot become r because %s is not homogeneous%s",
            length, form->from->act->name, advice(form));
    if (norm->shorten)
        return shorten(form, j, length);
    convert_scale_unit(form, j, 1 / length);
    form->s[j] *= length;
    return 0;
}

int convert_to_sign(struct form *form, size_t j)
{
    double size = fabs(form->s[j]);
    if (size != 1 && size != 0 && !form->from->act->rescales)
        return convert_refuse(
            form, j, "its r is %g, which cannot become part of the weights because %s is not homogeneous",
            form->s[j], form->from->act->name);
    if (size != 1)
        convert_scale_unit(form, j, size);
    form->s[j] = form->s[j] < 0 ? -1 : 1;
    return 0;
}
