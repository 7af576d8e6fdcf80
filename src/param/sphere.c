/* SPDX-License-Identifier: MIT
 *
 * Sphere: the geometry of GmP without coordinates. The unit vector u itself is learned: its gradient is
 * projected on the tangent space, and after the optimizer's step u goes back to length 1. On the tangent space
 * the coordinates of u are orthonormal, so that part of the gradient is the natural one as it is. */
#include <math.h>
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

/* Parallel transport of a unit's mean of gradients m along the great circle from a to u, of which a step is a
 * part: m - (m . u) / (1 + a . u) (a + u), where m . a = 0. It keeps m's length; a = w / scale. */
#define CARRY(real, step, m_of)                                                                              \
    for (size_t j = 0; j < m_of; j++) {                                                                      \
        const real *u = (const real *)step->raw[U] + j, *w = (const real *)step->w + j;                      \
        real *mean = (real *)step->moment + j, scale = 1 / ((const real *)step->scratch)[j];                 \
        double along = 0, cosine = 0;                                                                        \
        for (size_t i = 0; i < step->shape.n; i++) {                                                         \
            along += (double)mean[i * m_of] * (double)u[i * m_of];                                           \
            cosine += (double)(w[i * step->ldw] * scale) * (double)u[i * m_of];                              \
        }                                                                                                    \
        real part = (real)(1 + cosine > 1e-6 ? along / (1 + cosine) : 0);                                    \
        for (size_t i = 0; i < step->shape.n; i++)                                                           \
            mean[i * m_of] -= part * (w[i * step->ldw] * scale + u[i * m_of]);                               \
    }

static void carry_after_step(struct param_step *step)
{
    const struct kernels *k = step->k;
    size_t n = step->shape.n, m = step->shape.m;
    void *inverse = param_at(k, step->scratch, m), *square = param_at(k, step->scratch, 2 * m);
    k->column_dots(n, m, step->raw[U], m, step->raw[U], m, square);
    k->length(m, NULL, square, inverse);
    k->column_combine(n, m, inverse, step->raw[U], m, NULL, NULL, 0, step->raw[U], m);
    if (!step->moment)
        return;
    if (k->dtype == SPH_F32)
        CARRY(float, step, m)
    else
        CARRY(double, step, m)
}

#define SPHERE_TENSORS                                                                                       \
    {                                                                                                        \
        {"u", SPH_GROUP_THETA, .extent = PARAM_WEIGHTS},                                                     \
            {"lambda", SPH_GROUP_LAMBDA, PARAM_ONE, .is_bias = 1},                                           \
        {                                                                                                    \
            "r", SPH_GROUP_R, PARAM_ONE, .is_length = 1, .decays = 1                                         \
        }                                                                                                    \
    }

#define SPHERE_REST                                                                                          \
    .tensors = 3, .first_init = SPH_INIT_GLOROT, .scratch_len = sphere_scratch_len,                          \
    .to_weight = sphere_to_weight, .pull_grad = sphere_pull_grad, .is_natural = 1,                           \
    .from_unit = sphere_from_unit, .to_unit = sphere_to_unit

const struct param_ops param_SPHERE = {
    .name = "sphere", .tensor = SPHERE_TENSORS, SPHERE_REST, .after_step = sphere_after_step};

const struct param_ops param_SPHERE_UNIT = {.name = "sphere-unit",
                                            .tensor = SPHERE_TENSORS,
                                            SPHERE_REST,
                                            .after_step = sphere_after_step,
                                            .unit_moment = 1};

const struct param_ops param_SPHERE_CARRY = {.name = "sphere-carry",
                                             .tensor = SPHERE_TENSORS,
                                             SPHERE_REST,
                                             .after_step = carry_after_step,
                                             .unit_moment = 1};

/* ---------------------------------------------------------------- the logarithm of r */

/* y = exp(x), numbers of the table's dtype. */
static void exponentials(const struct kernels *k, size_t count, const void *x, void *y)
{
    for (size_t i = 0; i < count; i++) {
        double value;
        k->to_double(1, param_at(k, x, i), &value);
        value = exp(value);
        k->from_double(1, &value, param_at(k, y, i));
    }
}

/* scratch: as sphere's, then (m) r */
static size_t log_scratch_len(const struct param_shape *shape)
{
    return 4 * shape->m;
}

static void log_to_weight(struct param_step *step)
{
    void *rho = step->raw[R], *r = param_at(step->k, step->scratch, 3 * step->shape.m);
    exponentials(step->k, step->shape.m, rho, r);
    step->raw[R] = r;
    sphere_to_weight(step);
    step->raw[R] = rho;
}

static void log_pull_grad(struct param_step *step)
{
    const struct kernels *k = step->k;
    size_t m = step->shape.m;
    void *rho = step->raw[R], *r = param_at(k, step->scratch, 3 * m);
    step->raw[R] = r;
    sphere_pull_grad(step);
    step->raw[R] = rho;
    k->column_combine(1, m, r, step->draw[R], m, NULL, NULL, 0, step->draw[R], m);
}

static void log_from_unit(size_t n, const double *w, double b, double *unit[PARAM_TENSORS], double *sign)
{
    sphere_from_unit(n, w, b, unit, sign);
    *unit[R] = log(fmax(*unit[R], 1e-30));
}

static void log_to_unit(size_t n, const double *const unit[PARAM_TENSORS], const double *sign, double *w,
                        double *b, double *s)
{
    sphere_to_unit(n, unit, sign, w, b, s);
    *s = exp(*s);
}

const struct param_ops param_SPHERE_LOG = {
    .name = "sphere-log",
    .tensor = {{"u", SPH_GROUP_THETA, .extent = PARAM_WEIGHTS},
               {"lambda", SPH_GROUP_LAMBDA, PARAM_ONE, .is_bias = 1},
               {"log_r", SPH_GROUP_R, PARAM_ONE}},
    .tensors = 3,
    .first_init = SPH_INIT_GLOROT,
    .scratch_len = log_scratch_len,
    .to_weight = log_to_weight,
    .pull_grad = log_pull_grad,
    .after_step = sphere_after_step,
    .is_natural = 1,
    .from_unit = log_from_unit,
    .to_unit = log_to_unit,
};
