/* SPDX-License-Identifier: MIT
 *
 * Optimizer steps on a span of learned numbers. Hyper-parameters are combined in f64 and rounded once. */
#include "compute/real.h"

/* What becomes of gradient and number before an optimizer looks at them: slope = scale g + decay p, and p *=
 * shrink where the decay is decoupled. */
struct slope {
    real scale, decay, shrink;
};

KERNEL struct slope slope_numbers(const struct update_args *args)
{
    return (struct slope){
        .scale = (real)args->grad_scale,
        .decay = (real)(args->decoupled ? 0 : args->decay),
        .shrink = (real)(args->decoupled ? 1 - args->lr * args->decay : 1),
    };
}

struct adam {
    real beta1, rest1, beta2, rest2, step, root2, epsilon;
};

KERNEL struct adam adam_numbers(const struct update_args *args)
{
    return (struct adam){
        .beta1 = (real)args->beta1,
        .rest1 = (real)(1 - args->beta1),
        .beta2 = (real)args->beta2,
        .rest2 = (real)(1 - args->beta2),
        .step = (real)(args->lr / args->correct1),
        .root2 = (real)sqrt(args->correct2),
        .epsilon = (real)args->epsilon,
    };
}

/* Mean of the squares of a unit's slopes. */
KERNEL real plain_mean_square(const struct update_args *args, const struct slope *of, size_t unit)
{
    const real *g = args->g, *p = args->p;
    double sum = 0;
    for (size_t a = 0; a < args->count; a++) {
        double slope = (double)(of->scale * g[a * args->ld + unit] + of->decay * p[a * args->ld + unit]);
        sum += slope * slope;
    }
    return (real)(sum / (double)args->count);
}

KERNEL void plain_adam_units(const struct update_args *args)
{
    struct slope of = slope_numbers(args);
    struct adam by = adam_numbers(args);
    const real *g = args->g;
    real *p = args->p, *m = args->slot[0], *v = args->slot[1];
    for (size_t j = 0; j < args->units; j++) {
        v[j] = by.beta2 * v[j] + by.rest2 * plain_mean_square(args, &of, j);
        real divisor = real_sqrt(v[j]) / by.root2 + by.epsilon;
        for (size_t a = 0; a < args->count; a++) {
            size_t i = a * args->ld + j;
            m[i] = by.beta1 * m[i] + by.rest1 * (of.scale * g[i] + of.decay * p[i]);
            p[i] = of.shrink * p[i] - by.step * m[i] / divisor;
        }
    }
}

KERNEL void plain_adam(const struct update_args *args)
{
    if (args->units) {
        plain_adam_units(args);
        return;
    }
    struct slope of = slope_numbers(args);
    struct adam by = adam_numbers(args);
    const real *g = args->g;
    real *p = args->p, *m = args->slot[0], *v = args->slot[1];
    for (size_t i = 0; i < args->count; i++) {
        real slope = of.scale * g[i] + of.decay * p[i];
        m[i] = by.beta1 * m[i] + by.rest1 * slope;
        v[i] = by.beta2 * v[i] + by.rest2 * slope * slope;
        p[i] = of.shrink * p[i] - by.step * m[i] / (real_sqrt(v[i]) / by.root2 + by.epsilon);
    }
}

KERNEL void plain_sgd(const struct update_args *args)
{
    struct slope of = slope_numbers(args);
    const real *g = args->g;
    real *p = args->p, *v = args->momentum != 0 ? args->slot[0] : NULL;
    real mu = (real)args->momentum, lr = (real)args->lr;
    for (size_t i = 0; i < args->count; i++) {
        real slope = of.scale * g[i] + of.decay * p[i];
        if (v) {
            v[i] = mu * v[i] + slope;
            slope = args->nesterov ? slope + mu * v[i] : v[i];
        }
        p[i] = of.shrink * p[i] - lr * slope;
    }
}

KERNEL void plain_rmsprop_units(const struct update_args *args)
{
    struct slope of = slope_numbers(args);
    const real *g = args->g;
    real *p = args->p, *v = args->slot[0], *speed = args->momentum != 0 ? args->slot[1] : NULL;
    real alpha = (real)args->beta2, rest = (real)(1 - args->beta2), epsilon = (real)args->epsilon;
    real mu = (real)args->momentum, lr = (real)args->lr;
    for (size_t j = 0; j < args->units; j++) {
        v[j] = alpha * v[j] + rest * plain_mean_square(args, &of, j);
        real divisor = real_sqrt(v[j]) + epsilon;
        for (size_t a = 0; a < args->count; a++) {
            size_t i = a * args->ld + j;
            real step = (of.scale * g[i] + of.decay * p[i]) / divisor;
            if (speed)
                step = speed[i] = mu * speed[i] + step;
            p[i] = of.shrink * p[i] - lr * step;
        }
    }
}

KERNEL void plain_rmsprop(const struct update_args *args)
{
    if (args->units) {
        plain_rmsprop_units(args);
        return;
    }
    struct slope of = slope_numbers(args);
    const real *g = args->g;
    real *p = args->p, *v = args->slot[0], *speed = args->momentum != 0 ? args->slot[1] : NULL;
    real alpha = (real)args->beta2, rest = (real)(1 - args->beta2), epsilon = (real)args->epsilon;
    real mu = (real)args->momentum, lr = (real)args->lr;
    for (size_t i = 0; i < args->count; i++) {
        real slope = of.scale * g[i] + of.decay * p[i];
        v[i] = alpha * v[i] + rest * slope * slope;
        slope /= real_sqrt(v[i]) + epsilon;
        if (speed)
            slope = speed[i] = mu * speed[i] + slope;
        p[i] = of.shrink * p[i] - lr * slope;
    }
}

/* The sign of x: 0 of 0, and a NaN stays one. */
KERNEL inline real sign_of(real x)
{
    return x > 0 ? 1 : x < 0 ? -1 : x;
}

KERNEL void plain_lion(const struct update_args *args)
{
    struct slope of = slope_numbers(args);
    const real *g = args->g;
    real *p = args->p, *m = args->slot[0];
    real beta1 = (real)args->beta1, rest1 = (real)(1 - args->beta1), lr = (real)args->lr;
    real beta2 = (real)args->beta2, rest2 = (real)(1 - args->beta2);
    for (size_t i = 0; i < args->count; i++) {
        real slope = of.scale * g[i] + of.decay * p[i];
        p[i] = of.shrink * p[i] - lr * sign_of(beta1 * m[i] + rest1 * slope);
        m[i] = beta2 * m[i] + rest2 * slope;
    }
}

#ifdef KERNELS_FAST
/* Units that are taken at once: their sums stay in the nearest cache while their numbers pass twice. */
enum { UNITS_AT_ONCE = 64 };

/* Mean squares of units first to first + width. */
KERNEL void fast_mean_squares(const struct update_args *args, const struct slope *of, size_t first,
                              size_t width, real *restrict mean)
{
    real scale = of->scale, decay = of->decay, share = (real)(1 / (double)args->count);
    for (size_t j = 0; j < width; j++)
        mean[j] = 0;
    for (size_t a = 0; a < args->count; a++) {
        const real *restrict g = (const real *)args->g + a * args->ld + first;
        const real *restrict p = (const real *)args->p + a * args->ld + first;
        for (size_t j = 0; j < width; j++) {
            real slope = scale * g[j] + decay * p[j];
            mean[j] += slope * slope;
        }
    }
    for (size_t j = 0; j < width; j++)
        mean[j] *= share;
}

KERNEL void fast_adam_units(const struct update_args *args)
{
    struct slope of = slope_numbers(args);
    struct adam by = adam_numbers(args);
    real inverse2 = (real)(1 / sqrt(args->correct2)), *v = args->slot[1], step[UNITS_AT_ONCE];
    for (size_t first = 0, width; first < args->units; first += width) {
        width = args->units - first < UNITS_AT_ONCE ? args->units - first : UNITS_AT_ONCE;
        fast_mean_squares(args, &of, first, width, step);
        for (size_t j = 0; j < width; j++) {
            real second = by.beta2 * v[first + j] + by.rest2 * step[j];
            v[first + j] = second;
            step[j] = by.step / (real_sqrt(second) * inverse2 + by.epsilon);
        }
        for (size_t a = 0; a < args->count; a++) {
            size_t at = a * args->ld + first;
            const real *restrict g = (const real *)args->g + at;
            real *restrict p = (real *)args->p + at, *restrict m = (real *)args->slot[0] + at;
            for (size_t j = 0; j < width; j++) {
                real mean = by.beta1 * m[j] + by.rest1 * (of.scale * g[j] + of.decay * p[j]);
                m[j] = mean;
                p[j] = of.shrink * p[j] - step[j] * mean;
            }
        }
    }
}

KERNEL void fast_rmsprop_units(const struct update_args *args)
{
    struct slope of = slope_numbers(args);
    real alpha = (real)args->beta2, rest = (real)(1 - args->beta2), epsilon = (real)args->epsilon;
    real mu = (real)args->momentum, lr = (real)args->lr, *v = args->slot[0], inverse[UNITS_AT_ONCE];
    for (size_t first = 0, width; first < args->units; first += width) {
        width = args->units - first < UNITS_AT_ONCE ? args->units - first : UNITS_AT_ONCE;
        fast_mean_squares(args, &of, first, width, inverse);
        for (size_t j = 0; j < width; j++) {
            real second = alpha * v[first + j] + rest * inverse[j];
            v[first + j] = second;
            inverse[j] = 1 / (real_sqrt(second) + epsilon);
        }
        for (size_t a = 0; a < args->count; a++) {
            size_t at = a * args->ld + first;
            const real *restrict g = (const real *)args->g + at;
            real *restrict p = (real *)args->p + at;
            if (mu == 0) {
                for (size_t j = 0; j < width; j++)
                    p[j] = of.shrink * p[j] - lr * (of.scale * g[j] + of.decay * p[j]) * inverse[j];
                continue;
            }
            real *restrict speed = (real *)args->slot[1] + at;
            for (size_t j = 0; j < width; j++) {
                real next = mu * speed[j] + (of.scale * g[j] + of.decay * p[j]) * inverse[j];
                speed[j] = next;
                p[j] = of.shrink * p[j] - lr * next;
            }
        }
    }
}

KERNEL void fast_adam(const struct update_args *args)
{
    if (args->units) {
        fast_adam_units(args);
        return;
    }
    struct slope of = slope_numbers(args);
    struct adam by = adam_numbers(args);
    const real *restrict g = args->g;
    real *restrict p = args->p, *restrict m = args->slot[0], *restrict v = args->slot[1];
    real inverse2 = (real)(1 / sqrt(args->correct2));
    for (size_t i = 0; i < args->count; i++) {
        real slope = of.scale * g[i] + of.decay * p[i];
        real first = by.beta1 * m[i] + by.rest1 * slope;
        real second = by.beta2 * v[i] + by.rest2 * (slope * slope);
        m[i] = first;
        v[i] = second;
        p[i] = of.shrink * p[i] - by.step * first / (real_sqrt(second) * inverse2 + by.epsilon);
    }
}

KERNEL void fast_sgd(const struct update_args *args)
{
    struct slope of = slope_numbers(args);
    size_t count = args->count;
    const real *restrict g = args->g;
    real *restrict p = args->p, *restrict v = args->slot[0];
    real mu = (real)args->momentum, lr = (real)args->lr;
    if (args->momentum == 0) {
        for (size_t i = 0; i < count; i++)
            p[i] = of.shrink * p[i] - lr * (of.scale * g[i] + of.decay * p[i]);
        return;
    }
    real direct = args->nesterov ? 1 : 0, along = args->nesterov ? mu : 1;
    for (size_t i = 0; i < count; i++) {
        real slope = of.scale * g[i] + of.decay * p[i], speed = mu * v[i] + slope;
        v[i] = speed;
        p[i] = of.shrink * p[i] - lr * (direct * slope + along * speed);
    }
}

KERNEL void fast_rmsprop(const struct update_args *args)
{
    if (args->units) {
        fast_rmsprop_units(args);
        return;
    }
    struct slope of = slope_numbers(args);
    size_t count = args->count;
    const real *restrict g = args->g;
    real *restrict p = args->p, *restrict v = args->slot[0], *restrict speed = args->slot[1];
    real alpha = (real)args->beta2, rest = (real)(1 - args->beta2), epsilon = (real)args->epsilon;
    real mu = (real)args->momentum, lr = (real)args->lr;
    if (args->momentum == 0) {
        for (size_t i = 0; i < count; i++) {
            real slope = of.scale * g[i] + of.decay * p[i], second = alpha * v[i] + rest * (slope * slope);
            v[i] = second;
            p[i] = of.shrink * p[i] - lr * slope / (real_sqrt(second) + epsilon);
        }
        return;
    }
    for (size_t i = 0; i < count; i++) {
        real slope = of.scale * g[i] + of.decay * p[i], second = alpha * v[i] + rest * (slope * slope);
        real next = mu * speed[i] + slope / (real_sqrt(second) + epsilon);
        v[i] = second;
        speed[i] = next;
        p[i] = of.shrink * p[i] - lr * next;
    }
}

KERNEL void fast_lion(const struct update_args *args)
{
    struct slope of = slope_numbers(args);
    const real *restrict g = args->g;
    real *restrict p = args->p, *restrict m = args->slot[0];
    real beta1 = (real)args->beta1, rest1 = (real)(1 - args->beta1), lr = (real)args->lr;
    real beta2 = (real)args->beta2, rest2 = (real)(1 - args->beta2);
    for (size_t i = 0; i < args->count; i++) {
        real slope = of.scale * g[i] + of.decay * p[i], first = m[i];
        p[i] = of.shrink * p[i] - lr * sign_of(beta1 * first + rest1 * slope);
        m[i] = beta2 * first + rest2 * slope;
    }
}
#endif
