/* SPDX-License-Identifier: MIT
 *
 * Geometric parameterization: n-1 angles, an offset lambda and a scale r per unit, z = r act(u(theta)^T x +
 * lambda). One input has no angle: the direction is a fixed sign. */
#include <math.h>

#include "param/rows.h"

enum { THETA, LAMBDA, R };

/* Layers of more weights than this compute sines and cosines again on the way back: beyond the caches that costs no
 * more than to write and read them, and saves two numbers a weight. */
enum { KEPT_MOST = 1 << 15 };

/* What to_weight keeps for pull_grad. */
struct gmp_scratch {
    void *scale;         /* (m) |r| or 1 */
    void *radial;        /* (m) u . dw   */
    void *sine, *cosine; /* (n-1, m), of large layers room for (POLAR_CHUNK, m) */
    void *prefix;        /* (polar_chunks(n), m) */
};

static int keeps_sines(const struct param_shape *shape)
{
    return shape->n - 1 <= POLAR_CHUNK || shape->n * shape->m <= KEPT_MOST;
}

static size_t sine_rows(const struct param_shape *shape)
{
    return keeps_sines(shape) ? shape->n - 1 : POLAR_CHUNK;
}

static size_t gmp_scratch_len(const struct param_shape *shape)
{
    return (2 + 2 * sine_rows(shape) + polar_chunks(shape->n)) * shape->m;
}

static struct gmp_scratch gmp_scratch(const struct param_step *step)
{
    size_t rows = sine_rows(&step->shape), m = step->shape.m;
    void *at = step->scratch;
    return (struct gmp_scratch){
        .scale = at,
        .radial = param_at(step->k, at, m),
        .sine = param_at(step->k, at, 2 * m),
        .cosine = param_at(step->k, at, (2 + rows) * m),
        .prefix = param_at(step->k, at, (2 + 2 * rows) * m),
    };
}

static void gmp_to_weight(struct param_step *step)
{
    const struct kernels *k = step->k;
    struct gmp_scratch at = gmp_scratch(step);
    size_t n = step->shape.n, m = step->shape.m;
    step->scaled =
        k->radius(m, step->shape.fold, step->raw[R], step->raw[LAMBDA], at.scale, step->b, step->s);
    step->scaled |= !step->shape.fold; /* s is r itself: it has a gradient even where it is 1 */
    if (n == 1)
        k->column_combine(1, m, step->sign, at.scale, m, NULL, NULL, 0, step->w, step->ldw);
    else
        k->polar(n, m, step->raw[THETA], at.scale, step->w, step->ldw,
                 keeps_sines(&step->shape) ? at.sine : NULL, keeps_sines(&step->shape) ? at.cosine : NULL,
                 at.prefix);
}

/* The angles, where sines are to be computed again. */
static const void *angles_again(const struct param_step *step)
{
    return keeps_sines(&step->shape) ? NULL : step->raw[THETA];
}

static void gmp_pull_grad(struct param_step *step)
{
    const struct kernels *k = step->k;
    struct gmp_scratch at = gmp_scratch(step);
    size_t n = step->shape.n, m = step->shape.m;
    if (n == 1)
        k->column_combine(1, m, step->sign, step->dw, step->ldw, NULL, NULL, 0, at.radial, m);
    else
        k->polar_grad(n, m, angles_again(step), at.sine, at.cosine, at.prefix, step->dw, step->ldw,
                      step->draw[THETA], at.radial);
    k->radius_grad(m, step->shape.fold, step->raw[R], step->raw[LAMBDA], at.radial, step->db, step->ds,
                   step->draw[R], step->draw[LAMBDA]);
}

/* Theorem 3.7: the metric of u(theta) is diagonal, the squares of the products of sines before each angle. */
static void gmp_natural(struct param_step *step, double damping)
{
    struct gmp_scratch at = gmp_scratch(step);
    step->k->polar_natural(step->shape.n, step->shape.m, angles_again(step), at.sine, damping,
                           step->draw[THETA], at.radial);
}

/* theta_i = atan2(|w_{i+1..n}|, w_i), the last atan2(w_n, w_{n-1}); the tail's length is summed from the end.
 */
static void gmp_from_unit(size_t n, const double *w, double b, double *unit[PARAM_TENSORS], double *sign)
{
    double tail = 0, square = 0; /* |w_{i+1..n}| and its square; hypot where squares overflow or vanish */
    for (size_t i = n; i-- > 0;) {
        if (i + 1 < n)
            unit[THETA][i] = i + 2 == n ? w[n - 1] : tail; /* one leg; w_i is the other */
        double next = square + w[i] * w[i];
        if (square > SQUARE_LEAST && next < SQUARE_MOST) {
            tail = sqrt(next);
            square = next;
        } else {
            tail = hypot(tail, w[i]);
            square = tail * tail;
        }
    }
    kernels_pick(SPH_F64, KERNELS_FASTEST)->arcs(n - 1, unit[THETA], w, unit[THETA]);
    if (sign)
        *sign = w[0] < 0 ? -1 : 1;
    *unit[R] = tail;
    *unit[LAMBDA] = tail > 0 ? b / tail : 0;
}

static void gmp_to_unit(size_t n, const double *const unit[PARAM_TENSORS], const double *sign, double *w,
                        double *b, double *s)
{
    const struct kernels *k = kernels_pick(SPH_F64, KERNELS_FASTEST);
    double product = 1, sine[64];
    for (size_t from = 0; from + 1 < n; from += 64) {
        size_t count = n - 1 - from < 64 ? n - 1 - from : 64;
        k->sincos(count, unit[THETA] + from, sine, w + from);
        for (size_t i = 0; i < count; i++) {
            w[from + i] *= product;
            product *= sine[i];
        }
    }
    w[n - 1] = n == 1 ? *sign : product;
    *b = *unit[LAMBDA];
    *s = *unit[R];
}

/* Where the sine of an angle is 0 the angles behind it turn nothing. The last one turns a full circle and has
 * no pole: none is left of two inputs. */
static double gmp_pole(size_t n, const double *const unit[PARAM_TENSORS])
{
    double least = INFINITY;
    for (size_t a = 0; a + 2 < n; a++)
        least = fmin(least, fabs(sin(unit[THETA][a])));
    return n < 3 ? (double)NAN : least;
}

const struct param_ops param_GMP = {
    .name = "gmp",
    .tensor = {{"theta", SPH_GROUP_THETA, .extent = PARAM_ANGLES},
               {"lambda", SPH_GROUP_LAMBDA, PARAM_ONE, .is_bias = 1},
               {"r", SPH_GROUP_R, PARAM_ONE, .is_length = 1, .decays = 1}},
    .tensors = 3,
    .has_sign = 1,
    .first_init = SPH_INIT_PAPER,
    .scratch_len = gmp_scratch_len,
    .to_weight = gmp_to_weight,
    .pull_grad = gmp_pull_grad,
    .natural = gmp_natural,
    .from_unit = gmp_from_unit,
    .to_unit = gmp_to_unit,
    .pole = gmp_pole,
};
