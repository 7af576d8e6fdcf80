/* SPDX-License-Identifier: MIT
 *
 * Directions for programs that have networks of their own. Theirs lie unit by unit, (m, n), the kernels' unit-minor:
 * tiles of some units are turned over on the way in and out, and are small enough to stay in a cache. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "compute/kernels.h"
#include "compute/threads.h"
#include "param/param.h"
#include "param/rows.h"

enum { TILE = 16 };

struct call {
    const struct kernels *k;
    size_t m, n, workers;
    const char *theta, *du; /* du NULL: forward */
    char *out;              /* u or dtheta      */
    char *memory;           /* (workers) of share bytes */
    size_t share;
};

/* What a worker has, in numbers: theta, w and du, sine, cosine, dtheta, prefix, scale, radial. */
static size_t share_of(size_t n, int backward)
{
    size_t forward = (n - 1) + n + polar_chunks(n) + 2;
    return (forward + (backward ? n + 3 * (n - 1) : 0)) * TILE;
}

static void tile(const struct call *call, char *memory, size_t first)
{
    const struct kernels *k = call->k;
    size_t n = call->n, m = call->m - first < TILE ? call->m - first : TILE;
    char *scale = memory, *radial = param_at(k, scale, TILE), *prefix = param_at(k, radial, TILE);
    char *theta = param_at(k, prefix, polar_chunks(n) * TILE), *w = param_at(k, theta, (n - 1) * TILE);
    const double ones[TILE] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    k->from_double(m, ones, scale);
    k->transpose(m, n - 1, call->theta + first * (n - 1) * k->size, n - 1, theta, m);
    if (!call->du) {
        k->polar(n, m, theta, scale, w, TILE, NULL, NULL, prefix);
        k->transpose(n, m, w, TILE, call->out + first * n * k->size, n);
        return;
    }
    char *du = param_at(k, w, n * TILE), *sine = param_at(k, du, n * TILE);
    char *cosine = param_at(k, sine, (n - 1) * TILE), *dtheta = param_at(k, cosine, (n - 1) * TILE);
    k->transpose(m, n, call->du + first * n * k->size, n, du, TILE);
    k->polar(n, m, theta, scale, w, TILE, sine, cosine, prefix);
    k->polar_grad(n, m, NULL, sine, cosine, prefix, du, TILE, dtheta, radial);
    k->transpose(n - 1, m, dtheta, m, call->out + first * (n - 1) * k->size, n - 1);
}

static void work(void *context, size_t worker)
{
    const struct call *call = context;
    for (size_t first = worker * TILE; first < call->m; first += call->workers * TILE)
        tile(call, call->memory + worker * call->share, first);
}

static int run(struct call *call, sph_dtype dtype, int threads)
{
    size_t tiles = (call->m + TILE - 1) / TILE, numbers;
    if (call->n < 2 || (unsigned)dtype >= SPH_DTYPE_COUNT || threads < 1)
        return sph_fail_key(SPH_EARG, "n",
                            "%zu inputs, dtype %d, %d threads, expected at least 2, f32 or f64, at least 1",
                            call->n, (int)dtype, threads);
    if (!call->m)
        return 0;
    call->k = kernels_pick(dtype, KERNELS_FASTEST);
    call->workers = (size_t)threads < tiles ? (size_t)threads : tiles;
    if (call->workers > threads_limit())
        call->workers = threads_limit();
    if (__builtin_mul_overflow(call->n, (size_t)(8 * TILE * sizeof(double)), &numbers))
        return sph_fail_key(SPH_EARG, "n", "%zu inputs are too many", call->n);
    call->share = share_of(call->n, call->du != NULL) * call->k->size;
    call->memory = mem_get(call->workers, call->share);
    if (!call->memory)
        return SPH_EMEMORY;
    if (call->workers == 1)
        work(call, 0);
    else
        threads_run(call->workers, work, call);
    mem_free(call->memory);
    return 0;
}

int sph_directions(sph_dtype dtype, size_t m, size_t n, const void *theta, void *u, int threads)
{
    return run(&(struct call){.m = m, .n = n, .theta = theta, .out = u}, dtype, threads);
}

int sph_directions_grad(sph_dtype dtype, size_t m, size_t n, const void *theta, const void *du, void *dtheta,
                        int threads)
{
    return run(&(struct call){.m = m, .n = n, .theta = theta, .du = du, .out = dtheta}, dtype, threads);
}

int sph_directions_of(sph_dtype dtype, size_t m, size_t n, const void *w, void *theta, void *length)
{
    if (n < 2 || (unsigned)dtype >= SPH_DTYPE_COUNT)
        return sph_fail_key(SPH_EARG, "n", "%zu inputs, dtype %d, expected at least 2, f32 or f64", n,
                            (int)dtype);
    const struct kernels *k = kernels_pick(dtype, KERNELS_FASTEST);
    double *row = mem_get(n, 2 * sizeof *row), r, lambda;
    if (!row)
        return SPH_EMEMORY;
    for (size_t j = 0; j < m; j++) {
        k->to_double(n, (const char *)w + j * n * k->size, row);
        param_GMP.from_unit(n, row, 0, (double *[]){row + n, &lambda, &r}, NULL);
        k->from_double(n - 1, row + n, (char *)theta + j * (n - 1) * k->size);
        k->from_double(1, &r, (char *)length + j * k->size);
    }
    mem_free(row);
    return 0;
}
