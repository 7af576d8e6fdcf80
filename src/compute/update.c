/* SPDX-License-Identifier: MIT
 *
 * Optimizer steps on a span of learned numbers. Hyper-parameters are combined in f64 and rounded once. */
#include "compute/real.h"

struct adam {
    real scale, decay, beta1, rest1, beta2, rest2, step, root2, epsilon, shrink;
};

KERNEL struct adam adam_numbers(const struct update_args *args)
{
    return (struct adam){
        .scale = (real)args->grad_scale,
        .decay = (real)(args->decoupled ? 0 : args->decay),
        .beta1 = (real)args->beta1,
        .rest1 = (real)(1 - args->beta1),
        .beta2 = (real)args->beta2,
        .rest2 = (real)(1 - args->beta2),
        .step = (real)(args->lr / args->correct1),
        .root2 = (real)sqrt(args->correct2),
        .epsilon = (real)args->epsilon,
        .shrink = (real)(args->decoupled ? 1 - args->lr * args->decay : 1),
    };
}

KERNEL void plain_adam(const struct update_args *args)
{
    struct adam by = adam_numbers(args);
    const real *g = args->g;
    real *p = args->p, *m = args->slot[0], *v = args->slot[1];
    for (size_t i = 0; i < args->count; i++) {
        real slope = by.scale * g[i] + by.decay * p[i];
        m[i] = by.beta1 * m[i] + by.rest1 * slope;
        v[i] = by.beta2 * v[i] + by.rest2 * slope * slope;
        p[i] = by.shrink * p[i] - by.step * m[i] / (real_sqrt(v[i]) / by.root2 + by.epsilon);
    }
}

KERNEL void plain_sgd(const struct update_args *args)
{
    const real *g = args->g;
    real *p = args->p, *v = args->momentum != 0 ? args->slot[0] : NULL;
    real scale = (real)args->grad_scale, mu = (real)args->momentum, lr = (real)args->lr;
    real decay = (real)(args->decoupled ? 0 : args->decay);
    real shrink = (real)(args->decoupled ? 1 - args->lr * args->decay : 1);
    for (size_t i = 0; i < args->count; i++) {
        real slope = scale * g[i] + decay * p[i];
        if (v) {
            v[i] = mu * v[i] + slope;
            slope = args->nesterov ? slope + mu * v[i] : v[i];
        }
        p[i] = shrink * p[i] - lr * slope;
    }
}

#ifdef KERNELS_FAST
KERNEL void fast_adam(const struct update_args *args)
{
    struct adam by = adam_numbers(args);
    const real *restrict g = args->g;
    real *restrict p = args->p, *restrict m = args->slot[0], *restrict v = args->slot[1];
    real inverse2 = (real)(1 / sqrt(args->correct2));
    for (size_t i = 0; i < args->count; i++) {
        real slope = by.scale * g[i] + by.decay * p[i];
        real first = by.beta1 * m[i] + by.rest1 * slope;
        real second = by.beta2 * v[i] + by.rest2 * (slope * slope);
        m[i] = first;
        v[i] = second;
        p[i] = by.shrink * p[i] - by.step * first / (real_sqrt(second) * inverse2 + by.epsilon);
    }
}

KERNEL void fast_sgd(const struct update_args *args)
{
    size_t count = args->count;
    const real *restrict g = args->g;
    real *restrict p = args->p, *restrict v = args->slot[0];
    real scale = (real)args->grad_scale, mu = (real)args->momentum, lr = (real)args->lr;
    real decay = (real)(args->decoupled ? 0 : args->decay);
    real shrink = (real)(args->decoupled ? 1 - args->lr * args->decay : 1);
    if (args->momentum == 0) {
        for (size_t i = 0; i < count; i++)
            p[i] = shrink * p[i] - lr * (scale * g[i] + decay * p[i]);
        return;
    }
    real direct = args->nesterov ? 1 : 0, along = args->nesterov ? mu : 1;
    for (size_t i = 0; i < count; i++) {
        real slope = scale * g[i] + decay * p[i], speed = mu * v[i] + slope;
        v[i] = speed;
        p[i] = shrink * p[i] - lr * (direct * slope + along * speed);
    }
}
#endif
