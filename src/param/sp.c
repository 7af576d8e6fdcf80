/* SPDX-License-Identifier: MIT
 *
 * Standard parameterization: the weight and the bias themselves. */
#include <string.h>

#include "param/rows.h"

void param_plain_bias(struct param_step *step, const void *bias)
{
    if (bias)
        memcpy(step->b, bias, step->shape.m * step->k->size);
    step->scaled = 0;
}

static size_t sp_scratch_len(const struct param_shape *shape)
{
    (void)shape;
    return 0;
}

static void sp_to_weight(struct param_step *step)
{
    size_t m = step->shape.m;
    if (step->w != step->raw[0])
        step->k->column_combine(step->shape.n, m, NULL, step->raw[0], m, NULL, NULL, 0, step->w, step->ldw);
    param_plain_bias(step, step->raw[1]);
}

static void sp_pull_grad(struct param_step *step)
{
    size_t m = step->shape.m;
    if (step->dw != step->draw[0])
        step->k->column_combine(step->shape.n, m, NULL, step->dw, step->ldw, NULL, NULL, 0, step->draw[0], m);
    if (step->raw[1])
        memcpy(step->draw[1], step->db, m * step->k->size);
}

static void sp_from_unit(size_t n, const double *w, double b, double *unit[PARAM_TENSORS], double *sign)
{
    (void)sign;
    memcpy(unit[0], w, n * sizeof *w);
    *unit[1] = b;
}

static void sp_to_unit(size_t n, const double *const unit[PARAM_TENSORS], const double *sign, double *w,
                       double *b, double *s)
{
    (void)sign;
    memcpy(w, unit[0], n * sizeof *w);
    *b = *unit[1];
    *s = 1;
}

const struct param_ops param_SP = {
    .name = "sp",
    .tensor = {{"weight", SPH_GROUP_WEIGHT, PARAM_WEIGHTS, .is_length = 1, .decays = 1},
               {"bias", SPH_GROUP_BIAS, PARAM_ONE, .is_bias = 1}},
    .tensors = 2,
    .raw_is_weight = 1,
    .first_init = SPH_INIT_GLOROT,
    .scratch_len = sp_scratch_len,
    .to_weight = sp_to_weight,
    .pull_grad = sp_pull_grad,
    .from_unit = sp_from_unit,
    .to_unit = sp_to_unit,
};
