/* SPDX-License-Identifier: MIT
 *
 * Weight normalization: w = g v / |v|. A zero v has no direction: its weight and its gradients are 0, never
 * NaN. */
#include <string.h>

#include "param/rows.h"

enum { V, G, BIAS };

/* scratch: (m) v.v, (m) g/|v|, (m) v.dw, (m) across, (m) lift; of lifted units v is lift v in the first four */
static size_t wn_scratch_len(const struct param_shape *shape)
{
    return 5 * shape->m;
}

static void wn_to_weight(struct param_step *step)
{
    const struct kernels *k = step->k;
    size_t n = step->shape.n, m = step->shape.m;
    void *square = step->scratch, *scale = param_at(k, step->scratch, m);
    void *lift = param_at(k, step->scratch, 4 * m);
    k->column_dots(n, m, step->raw[V], m, step->raw[V], m, square);
    step->lifted = k->lift(n, m, step->raw[V], square, lift);
    k->length(m, step->raw[G], square, scale);
    if (step->lifted) {
        k->column_combine(n, m, lift, step->raw[V], m, NULL, NULL, 0, step->w, step->ldw);
        k->column_combine(n, m, scale, step->w, step->ldw, NULL, NULL, 0, step->w, step->ldw);
    } else
        k->column_combine(n, m, scale, step->raw[V], m, NULL, NULL, 0, step->w, step->ldw);
    param_plain_bias(step, step->raw[BIAS]);
}

static void wn_pull_grad(struct param_step *step)
{
    const struct kernels *k = step->k;
    size_t n = step->shape.n, m = step->shape.m;
    void *square = step->scratch, *scale = param_at(k, step->scratch, m);
    void *along = param_at(k, step->scratch, 2 * m), *across = param_at(k, step->scratch, 3 * m);
    void *lift = param_at(k, step->scratch, 4 * m), *v = step->raw[V];
    if (step->lifted) {
        v = step->draw[V];
        k->column_combine(n, m, lift, step->raw[V], m, NULL, NULL, 0, v, m);
    }
    k->column_dots(n, m, v, m, step->dw, step->ldw, along);
    k->length_grad(m, step->raw[G], square, along, step->draw[G], across);
    k->column_combine(n, m, scale, step->dw, step->ldw, across, v, m, step->draw[V], m);
    if (step->lifted) /* the gradient of v is that of lift v, times lift */
        k->column_combine(n, m, lift, step->draw[V], m, NULL, NULL, 0, step->draw[V], m);
    if (step->raw[BIAS])
        memcpy(step->draw[BIAS], step->db, m * k->size);
}

static void wn_from_unit(size_t n, const double *w, double b, double *unit[PARAM_TENSORS], double *sign)
{
    (void)sign;
    memcpy(unit[V], w, n * sizeof *w);
    *unit[G] = param_length(n, w);
    *unit[BIAS] = b;
}

static void wn_to_unit(size_t n, const double *const unit[PARAM_TENSORS], const double *sign, double *w,
                       double *b, double *s)
{
    (void)sign;
    double length = param_length(n, unit[V]), g = *unit[G];
    for (size_t i = 0; i < n; i++)
        w[i] = length > 0 ? g * (unit[V][i] / length) : 0;
    *b = *unit[BIAS];
    *s = 1;
}

const struct param_ops param_WN = {
    .name = "wn",
    .tensor = {{"v", SPH_GROUP_V, PARAM_WEIGHTS, .is_length = 1},
               {"g", SPH_GROUP_G, PARAM_ONE, .is_length = 1, .decays = 1},
               {"bias", SPH_GROUP_BIAS, PARAM_ONE, .is_bias = 1}},
    .tensors = 3,
    .may_be_output = 1,
    .first_init = SPH_INIT_GLOROT,
    .scratch_len = wn_scratch_len,
    .to_weight = wn_to_weight,
    .pull_grad = wn_pull_grad,
    .from_unit = wn_from_unit,
    .to_unit = wn_to_unit,
};
