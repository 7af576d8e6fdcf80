/* SPDX-License-Identifier: MIT
 *
 * Weights by their coordinates, for programs that have networks of their own: one call for w and one for the gradients. Angles
 * are directions.c's. A row of the sphere is length u / |u|: u may have any length, and the gradient is tangent to its sphere. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "compute/kernels.h"
#include "compute/threads.h"
#include "param/directions.h"
#include "param/param.h"
#include "param/rows.h"

/* A factor stands WIDTH times side by side, so that column_combine scales a row, WIDTH numbers at a time. */
enum { WIDTH = 256 };

/* Lengths between these take the kernels; the products of others may overflow or vanish in f32. */
static const double norm_least = 1e-12, norm_most = 1e12;

struct call {
    const struct kernels *k;
    size_t m, n, workers;
    const char *u, *length; /* length NULL: 1 */
    const char *dw;         /* NULL: forward */
    char *out, *dlength;    /* w or du */
    char *memory;           /* (workers) of 2 WIDTH numbers and 2 n doubles */
};

static void side_by_side(const struct kernels *k, double value, char *out)
{
    k->from_double(1, &value, out);
    for (size_t done = 1; done < WIDTH; done *= 2)
        memcpy(out + done * k->size, out, done * k->size);
}

/* y (n) = alpha a + beta b; b NULL drops the second term. factors: 2 WIDTH numbers. */
static void combine(const struct kernels *k, size_t n, double alpha, const char *a, double beta,
                    const char *b, char *y, char *factors)
{
    size_t rest = n % WIDTH, whole = n - rest;
    char *second = param_at(k, factors, WIDTH);
    side_by_side(k, alpha, factors);
    if (b)
        side_by_side(k, beta, second);
    if (whole)
        k->column_combine(whole / WIDTH, WIDTH, factors, a, WIDTH, second, b, WIDTH, y, WIDTH);
    if (rest)
        k->column_combine(1, rest, factors, param_at(k, a, whole), rest, second,
                          b ? param_at(k, b, whole) : NULL, rest, param_at(k, y, whole), rest);
}

/* a . b; dots reads whole vectors, so that the last few numbers of a row are not its. */
static double dot(const struct kernels *k, size_t n, const char *a, const char *b)
{
    size_t rest = n % KERNEL_PAD, whole = n - rest;
    double number[2] = {0}, part[2] = {0};
    if (whole)
        k->dots(1, 1, whole, a, whole, b, whole, NULL, part, 1);
    k->to_double(1, part, number);
    if (rest)
        k->column_dots(rest, 1, param_at(k, a, whole), 1, param_at(k, b, whole), 1, part + 1);
    k->to_double(1, part + 1, number + 1);
    return number[0] + number[1];
}

/* Rows of a length that f32 cannot square: in f64, u at length 1. spare: 2 n. */
static void row_in_double(const struct call *call, size_t j, double length, double *spare)
{
    const struct kernels *k = call->k;
    size_t n = call->n;
    double *u = spare, *dw = spare + n, along = 0;
    k->to_double(n, param_at(k, call->u, j * n), u);
    double norm = param_length(n, u);
    for (size_t i = 0; i < n; i++)
        u[i] = norm > 0 ? u[i] / norm : 0;
    if (call->dw) {
        k->to_double(n, param_at(k, call->dw, j * n), dw);
        for (size_t i = 0; i < n; i++)
            along += u[i] * dw[i];
        for (size_t i = 0; i < n; i++)
            u[i] = norm > 0 ? length / norm * (dw[i] - along * u[i]) : 0;
        if (call->dlength)
            k->from_double(1, &along, param_at(k, call->dlength, j));
    } else
        for (size_t i = 0; i < n; i++)
            u[i] *= length;
    k->from_double(n, u, param_at(k, call->out, j * n));
}

static void row(const struct call *call, size_t j, char *memory)
{
    const struct kernels *k = call->k;
    size_t n = call->n;
    const char *u = param_at(k, call->u, j * n);
    char *out = param_at(k, call->out, j * n);
    double length = 1, norm = sqrt(k->sum_squares(n, u));
    if (call->length)
        k->to_double(1, param_at(k, call->length, j), &length);
    if (!(norm > norm_least && norm < norm_most)) {
        row_in_double(call, j, length, (double *)param_at(k, memory, 2 * WIDTH));
        return;
    }
    if (!call->dw) {
        combine(k, n, length / norm, u, 0, NULL, out, memory);
        return;
    }
    const char *dw = param_at(k, call->dw, j * n);
    double along = dot(k, n, u, dw) / norm;
    combine(k, n, length / norm, dw, -length / norm * along / norm, u, out, memory);
    if (call->dlength)
        k->from_double(1, &along, param_at(k, call->dlength, j));
}

static size_t share(const struct call *call)
{
    return 2 * WIDTH * call->k->size + 2 * call->n * sizeof(double);
}

static void work(void *context, size_t worker)
{
    const struct call *call = context;
    for (size_t j = worker; j < call->m; j += call->workers)
        row(call, j, call->memory + worker * share(call));
}

static int sphere_run(struct call *call, sph_dtype dtype, int threads)
{
    if (!call->n || call->n > SIZE_MAX / 64 || (unsigned)dtype >= SPH_DTYPE_COUNT || threads < 1)
        return sph_fail_key(SPH_EARG, "n",
                            "%zu inputs, dtype %d, %d threads, expected at least 1, f32 or f64, at least 1",
                            call->n, (int)dtype, threads);
    call->k = kernels_pick(dtype, KERNELS_FASTEST);
    call->workers = (size_t)threads < call->m ? (size_t)threads : call->m;
    if (call->workers > threads_limit())
        call->workers = threads_limit();
    if (!call->workers)
        return 0;
    call->memory = mem_get(call->workers, share(call));
    if (!call->memory)
        return SPH_EMEMORY;
    if (call->workers == 1)
        work(call, 0);
    else
        threads_run(call->workers, work, call);
    mem_free(call->memory);
    return 0;
}

static int unknown_param(sph_param param)
{
    return sph_fail_key(SPH_EARG, "param", "parameterization %d, expected gmp or sphere", (int)param);
}

int sph_weights(sph_dtype dtype, sph_param param, size_t m, size_t n, const void *first, const void *length,
                void *w, void *kept, int threads)
{
    if (m)
        NEED(first, w);
    if (param == SPH_PARAM_GMP)
        return directions_forward(dtype, m, n, first, length, w, kept, threads);
    if (param != SPH_PARAM_SPHERE)
        return unknown_param(param);
    return sphere_run(&(struct call){.m = m, .n = n, .u = first, .length = length, .out = w}, dtype, threads);
}

int sph_weights_grad(sph_dtype dtype, sph_param param, size_t m, size_t n, const sph_weights_grads *of,
                     int threads)
{
    NEED(of);
    if (m)
        NEED(of->first, of->dw, of->dfirst);
    if (param == SPH_PARAM_GMP) {
        const struct direction_grads grads = {.theta = of->first,
                                              .length = of->length,
                                              .kept = of->kept,
                                              .dw = of->dw,
                                              .dtheta = of->dfirst,
                                              .dlength = of->dlength};
        return directions_backward(dtype, m, n, &grads, threads);
    }
    if (param != SPH_PARAM_SPHERE)
        return unknown_param(param);
    struct call call = {.m = m,
                        .n = n,
                        .u = of->first,
                        .length = of->length,
                        .dw = of->dw,
                        .out = of->dfirst,
                        .dlength = of->dlength};
    return sphere_run(&call, dtype, threads);
}
