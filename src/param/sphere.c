/* SPDX-License-Identifier: MIT
 *
 * Sphere: the geometry of GmP without coordinates. The unit vector u itself is learned: its gradient is
 * projected on the tangent space, and after the optimizer's step u goes back to length 1. On the tangent space
 * the coordinates of u are orthonormal, so that part of the gradient is the natural one as it is. */
#include <string.h>

#include "param/rows.h"

enum { U, LAMBDA, R };

/* scratch: (m) |r| or 1, (m) u.dw, (m) -|r| u.dw or u.u */
static size_t sphere_scratch_len(const struct param_shape *shape)
{
    return 3 * shape->m;
}

static void sphere_to_weight(struct param_step *step)
{
    const struct kernels *k = step->k;
    size_t n = step->shape.n, m = step->shape.m;
    void *scale = step->scratch;
    step->scaled = k->radius(m, step->shape.fold, step->raw[R], step->raw[LAMBDA], scale, step->b, step->s);
    step->scaled |= !step->shape.fold; /* s is r itself: it has a gradient even where it is 1 */
    k->column_combine(n, m, scale, step->raw[U], m, NULL, NULL, 0, step->w, step->ldw);
}

static void sphere_pull_grad(struct param_step *step)
{
    const struct kernels *k = step->k;
    size_t n = step->shape.n, m = step->shape.m;
    void *scale = step->scratch, *radial = param_at(k, step->scratch, m),
         *back = param_at(k, step->scratch, 2 * m);
    k->column_dots(n, m, step->raw[U], m, step->dw, step->ldw, radial);
    k->negative_product(m, scale, radial, back);
    k->column_combine(n, m, scale, step->dw, step->ldw, back, step->raw[U], m, step->draw[U], m);
    k->radius_grad(m, step->shape.fold, step->raw[R], step->raw[LAMBDA], radial, step->db, step->ds,
                   step->draw[R], step->draw[LAMBDA]);
}

static void sphere_after_step(struct param_step *step)
{
    const struct kernels *k = step->k;
    size_t n = step->shape.n, m = step->shape.m;
    void *scale = step->scratch, *square = param_at(k, step->scratch, 2 * m);
    k->column_dots(n, m, step->raw[U], m, step->raw[U], m, square);
    if (k->lift(n, m, step->raw[U], square, scale)) /* a step went far */
        k->column_combine(n, m, scale, step->raw[U], m, NULL, NULL, 0, step->raw[U], m);
    k->length(m, NULL, square, scale);
    k->column_combine(n, m, scale, step->raw[U], m, NULL, NULL, 0, step->raw[U], m);
}

static void sphere_from_unit(size_t n, const double *w, double b, double *unit[PARAM_TENSORS], double *sign)
{
    (void)sign;
    double length = param_length(n, w);
    for (size_t i = 0; i < n; i++)
        unit[U][i] = length > 0 ? w[i] / length : (i == 0);
    *unit[R] = length;
    *unit[LAMBDA] = length > 0 ? b / length : 0;
}

static void sphere_to_unit(size_t n, const double *const unit[PARAM_TENSORS], const double *sign, double *w,
                           double *b, double *s)
{
    (void)sign;
    memcpy(w, unit[U], n * sizeof *w);
    *b = *unit[LAMBDA];
    *s = *unit[R];
}

const struct param_ops param_SPHERE = {
    .name = "sphere",
    .tensor = {{"u", SPH_GROUP_THETA, .extent = PARAM_WEIGHTS, .is_unit = 1},
               {"lambda", SPH_GROUP_LAMBDA, PARAM_ONE, .is_bias = 1},
               {"r", SPH_GROUP_R, PARAM_ONE, .is_length = 1, .decays = 1}},
    .tensors = 3,
    .first_init = SPH_INIT_GLOROT,
    .scratch_len = sphere_scratch_len,
    .to_weight = sphere_to_weight,
    .pull_grad = sphere_pull_grad,
    .after_step = sphere_after_step,
    .is_natural = 1,
    .from_unit = sphere_from_unit,
    .to_unit = sphere_to_unit,
};
