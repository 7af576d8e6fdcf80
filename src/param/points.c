/* SPDX-License-Identifier: MIT
 *
 * Trials: a unit's boundary given by points of the data's space.
 *
 * phi: z = r act(c (phi x / |phi| - |phi|)), phi the boundary's point nearest to the origin, c = +-1 the side of the
 * origin it is on, drawn once. At phi = 0 the boundary has no direction.
 *
 * anchors: the boundary halves the way from q to p at right angles: u = (p - q) / |p - q|, lambda = -u (p + q) / 2. */
#include <math.h>
#include <string.h>

#include "param/rows.h"

enum { PHI_POINT, PHI_SIDE, PHI_R };

static void product(const struct kernels *k, size_t m, const void *a, const void *b, void *y)
{
    k->column_combine(1, m, a, b, m, NULL, NULL, 0, y, m);
}

/* ---------------------------------------------------------------- phi */

struct phi_scratch {
    void *scale, *side, *square, *inverse, *lambda, *dots, *alpha, *beta, *work; /* (m) each */
};

static size_t phi_scratch_len(const struct param_shape *shape)
{
    return 9 * shape->m;
}

static struct phi_scratch phi_scratch(const struct param_step *step)
{
    void *at[9];
    for (size_t i = 0; i < 9; i++)
        at[i] = param_at(step->k, step->scratch, i * step->shape.m);
    return (struct phi_scratch){at[0], at[1], at[2], at[3], at[4], at[5], at[6], at[7], at[8]};
}

static void phi_to_weight(struct param_step *step)
{
    const struct kernels *k = step->k;
    struct phi_scratch at = phi_scratch(step);
    size_t n = step->shape.n, m = step->shape.m;
    for (size_t j = 0; j < m; j++) {
        double side = 1;
        if (step->raw[PHI_SIDE])
            k->to_double(1, param_at(k, step->raw[PHI_SIDE], j), &side);
        side = side < 0 ? 1 : -1; /* of -c, so that no sign is left over below */
        k->from_double(1, &side, param_at(k, at.side, j));
    }
    k->column_dots(n, m, step->raw[PHI_POINT], m, step->raw[PHI_POINT], m, at.square);
    k->length(m, at.side, at.square, at.inverse);    /* -c / |phi| */
    product(k, m, at.inverse, at.square, at.lambda); /* -c |phi|   */
    step->scaled = k->radius(m, step->shape.fold, step->raw[PHI_R], step->b ? at.lambda : NULL, at.scale,
                             step->b, step->s);
    step->scaled |= !step->shape.fold;
    k->negative_product(m, at.scale, at.inverse, at.alpha); /* scale c / |phi| */
    k->column_combine(n, m, at.alpha, step->raw[PHI_POINT], m, NULL, NULL, 0, step->w, step->ldw);
}

/* d phi = alpha dw + beta phi, beta = -scale c (phi dw) / |phi|^3 - c / |phi| dlambda. */
static void phi_pull_grad(struct param_step *step)
{
    const struct kernels *k = step->k;
    struct phi_scratch at = phi_scratch(step);
    size_t n = step->shape.n, m = step->shape.m;
    k->column_dots(n, m, step->raw[PHI_POINT], m, step->dw, step->ldw, at.dots);
    k->negative_product(m, at.dots, at.inverse, at.work); /* u dw */
    k->radius_grad(m, step->shape.fold, step->raw[PHI_R], step->b ? at.lambda : NULL, at.work, step->db,
                   step->ds, step->draw[PHI_R], step->b ? at.beta : NULL); /* beta <- dlambda */
    if (step->b)
        product(k, m, at.inverse, at.beta, at.beta); /* -c / |phi| dlambda */
    else
        memset(at.beta, 0, m * k->size);
    void *across = step->draw[PHI_POINT];                            /* room */
    k->length_grad(m, at.side, at.square, at.dots, at.work, across); /* c (phi dw) / |phi|^3 */
    k->negative_product(m, at.scale, across, across);
    k->add(1, m, across, m, at.beta, m);
    k->column_combine(n, m, at.alpha, step->dw, step->ldw, at.beta, step->raw[PHI_POINT], m,
                      step->draw[PHI_POINT], m);
    if (step->draw[PHI_SIDE])
        memset(step->draw[PHI_SIDE], 0, m * k->size);
}

static void phi_from_unit(size_t n, const double *w, double b, double *unit[PARAM_TENSORS], double *sign)
{
    (void)sign;
    double length = param_length(n, w), lambda = length > 0 ? b / length : 0;
    double distance = lambda != 0 ? fabs(lambda) : 0.5, side = lambda > 0 ? -1 : 1;
    for (size_t i = 0; i < n; i++)
        unit[PHI_POINT][i] = side * distance * (length > 0 ? w[i] / length : (i == 0));
    *unit[PHI_SIDE] = side;
    *unit[PHI_R] = length;
}

static void phi_to_unit(size_t n, const double *const unit[PARAM_TENSORS], const double *sign, double *w,
                        double *b, double *s)
{
    (void)sign;
    double length = param_length(n, unit[PHI_POINT]), side = *unit[PHI_SIDE] < 0 ? -1 : 1;
    for (size_t i = 0; i < n; i++)
        w[i] = side * unit[PHI_POINT][i] / length;
    *b = -side * length;
    *s = *unit[PHI_R];
}

const struct param_ops param_PHI = {
    .name = "phi",
    .tensor = {{"phi", SPH_GROUP_THETA, .extent = PARAM_WEIGHTS},
               {"side", SPH_GROUP_LAMBDA, PARAM_ONE, .is_bias = 1},
               {"r", SPH_GROUP_R, PARAM_ONE, .is_length = 1, .decays = 1}},
    .tensors = 3,
    .first_init = SPH_INIT_THROUGH,
    .scratch_len = phi_scratch_len,
    .to_weight = phi_to_weight,
    .pull_grad = phi_pull_grad,
    .from_unit = phi_from_unit,
    .to_unit = phi_to_unit,
};

/* ---------------------------------------------------------------- anchors */

enum { P, Q, ANCHORS_R };

struct anchors_scratch {
    void *scale, *square, *inverse, *lambda, *dots, *beta, *work; /* (m) each */
    void *apart, *sum, *slope;                                    /* (n, m) p - q, p + q, the gradient of u */
};

static size_t anchors_scratch_len(const struct param_shape *shape)
{
    return (7 + 3 * shape->n) * shape->m;
}

static struct anchors_scratch anchors_scratch(const struct param_step *step)
{
    const struct kernels *k = step->k;
    size_t m = step->shape.m, n = step->shape.n;
    void *at[7];
    for (size_t i = 0; i < 7; i++)
        at[i] = param_at(k, step->scratch, i * m);
    return (struct anchors_scratch){at[0],
                                    at[1],
                                    at[2],
                                    at[3],
                                    at[4],
                                    at[5],
                                    at[6],
                                    param_at(k, step->scratch, 7 * m),
                                    param_at(k, step->scratch, (7 + n) * m),
                                    param_at(k, step->scratch, (7 + 2 * n) * m)};
}

static void fill(const struct kernels *k, size_t m, double value, void *y)
{
    for (size_t j = 0; j < m; j++)
        k->from_double(1, &value, param_at(k, y, j));
}

static void anchors_to_weight(struct param_step *step)
{
    const struct kernels *k = step->k;
    struct anchors_scratch at = anchors_scratch(step);
    size_t n = step->shape.n, m = step->shape.m;
    fill(k, m, -1, at.work);
    k->column_combine(n, m, NULL, step->raw[P], m, at.work, step->raw[Q], m, at.apart, m);
    fill(k, m, 1, at.work);
    k->column_combine(n, m, NULL, step->raw[P], m, at.work, step->raw[Q], m, at.sum, m);
    k->column_dots(n, m, at.apart, m, at.apart, m, at.square);
    k->length(m, NULL, at.square, at.inverse);
    k->column_dots(n, m, at.apart, m, at.sum, m, at.dots);
    fill(k, m, 0.5, at.work);
    product(k, m, at.work, at.dots, at.work);
    k->negative_product(m, at.work, at.inverse, at.lambda);
    step->scaled = k->radius(m, step->shape.fold, step->raw[ANCHORS_R], step->b ? at.lambda : NULL, at.scale,
                             step->b, step->s);
    step->scaled |= !step->shape.fold;
    product(k, m, at.scale, at.inverse, at.work);
    k->column_combine(n, m, at.work, at.apart, m, NULL, NULL, 0, step->w, step->ldw);
}

/* slope = scale dw - dlambda (p + q) / 2, across = (slope - (slope u) u) / |p - q|,
 * dp = across - dlambda u / 2, dq = -across - dlambda u / 2. */
static void anchors_pull_grad(struct param_step *step)
{
    const struct kernels *k = step->k;
    struct anchors_scratch at = anchors_scratch(step);
    size_t n = step->shape.n, m = step->shape.m;
    k->column_dots(n, m, at.apart, m, step->dw, step->ldw, at.dots);
    product(k, m, at.dots, at.inverse, at.work);
    k->radius_grad(m, step->shape.fold, step->raw[ANCHORS_R], step->b ? at.lambda : NULL, at.work, step->db,
                   step->ds, step->draw[ANCHORS_R], step->b ? at.beta : NULL);
    if (!step->b)
        memset(at.beta, 0, m * k->size);
    fill(k, m, 0.5, at.work);
    k->negative_product(m, at.work, at.beta, at.beta); /* -dlambda / 2 */
    k->column_combine(n, m, at.scale, step->dw, step->ldw, at.beta, at.sum, m, at.slope, m);
    k->column_dots(n, m, at.apart, m, at.slope, m, at.dots);
    product(k, m, at.dots, at.inverse, at.dots);
    product(k, m, at.dots, at.inverse, at.dots);
    product(k, m, at.dots, at.inverse, at.dots); /* (apart slope) / |apart|^3 */
    fill(k, m, -1, at.work);
    product(k, m, at.work, at.dots, at.dots);
    k->column_combine(n, m, at.inverse, at.slope, m, at.dots, at.apart, m, at.slope, m); /* across */
    product(k, m, at.beta, at.inverse, at.beta);
    k->column_combine(n, m, NULL, at.slope, m, at.beta, at.apart, m, step->draw[P], m);
    k->column_combine(n, m, at.work, at.slope, m, at.beta, at.apart, m, step->draw[Q], m);
}

/* As far from the boundary as rows of mean 0 and deviation 1 are from the origin. */
static void anchors_from_unit(size_t n, const double *w, double b, double *unit[PARAM_TENSORS], double *sign)
{
    (void)sign;
    double length = param_length(n, w), lambda = length > 0 ? b / length : 0, far = sqrt((double)n);
    for (size_t i = 0; i < n; i++) {
        double u = length > 0 ? w[i] / length : (i == 0);
        unit[P][i] = (far - lambda) * u;
        unit[Q][i] = (-far - lambda) * u;
    }
    *unit[ANCHORS_R] = length;
}

static void anchors_to_unit(size_t n, const double *const unit[PARAM_TENSORS], const double *sign, double *w,
                            double *b, double *s)
{
    (void)sign;
    double dots = 0;
    for (size_t i = 0; i < n; i++)
        w[i] = unit[P][i] - unit[Q][i];
    double length = param_length(n, w);
    for (size_t i = 0; i < n; i++) {
        w[i] /= length;
        dots += w[i] * (unit[P][i] + unit[Q][i]) / 2;
    }
    *b = -dots;
    *s = *unit[ANCHORS_R];
}

const struct param_ops param_ANCHORS = {
    .name = "anchors",
    .tensor = {{"p", SPH_GROUP_THETA, .extent = PARAM_WEIGHTS},
               {"q", SPH_GROUP_THETA, .extent = PARAM_WEIGHTS},
               {"r", SPH_GROUP_R, PARAM_ONE, .is_length = 1, .decays = 1}},
    .tensors = 3,
    .first_init = SPH_INIT_GLOROT,
    .scratch_len = anchors_scratch_len,
    .to_weight = anchors_to_weight,
    .pull_grad = anchors_pull_grad,
    .from_unit = anchors_from_unit,
    .to_unit = anchors_to_unit,
};
