/* SPDX-License-Identifier: MIT
 *
 * Directions for programs that have networks of their own. Theirs lie unit by unit, (m, n), the kernels' unit-minor:
 * tiles of some units are turned over on the way in and out. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "compute/kernels.h"
#include "compute/threads.h"
#include "param/directions.h"
#include "param/param.h"
#include "param/rows.h"

/* Units and angles at a time. Angles behind others are those of a smaller sphere, of the radius that the sines before
 * them leave, and the gradient of that sphere's last coordinate is what comes back from the angles behind it: long units
 * go piece by piece through the kernels, each piece in a near cache, and long enough that reading sixteen units side by side
 * still is reading on. */
enum { TILE = 16, PIECE = 512 };
_Static_assert(PIECE % POLAR_CHUNK == 0, "a piece is some whole chunks");

size_t sph_directions_kept(size_t n)
{
    return n < 2 ? 0 : polar_chunks(n);
}

struct call {
    const struct kernels *k;
    size_t m, n, workers;
    const char *theta, *length; /* length (m) or NULL: 1 */
    char *
        kept; /* of each tile (sph_directions_kept, its units) the radius at each chunk's beginning, or NULL */
    const char *du; /* NULL: forward */
    char *out;      /* length u or dtheta; NULL: kept alone is wanted */
    char *dlength;  /* (m) or NULL */
    char *memory;   /* (workers) of SHARE numbers */
};

/* What a worker has, in numbers. */
enum {
    SHARE_THETA = 0,
    SHARE_W = SHARE_THETA + PIECE * TILE, /* or dw */
    SHARE_DTHETA = SHARE_W + (PIECE + 1) * TILE,
    SHARE_SINE = SHARE_DTHETA + PIECE * TILE,
    SHARE_COSINE = SHARE_SINE + POLAR_CHUNK * TILE,
    SHARE_LAST = SHARE_COSINE + POLAR_CHUNK * TILE,
    SHARE_PREFIX = SHARE_LAST + TILE, /* where the caller keeps none */
    SHARE = SHARE_PREFIX + PIECE / POLAR_CHUNK * TILE
};

static size_t piece_length(const struct call *call, size_t from)
{
    size_t left = call->n - 1 - from;
    return left < PIECE ? left : PIECE;
}

/* A column of a matrix of the caller's to m numbers side by side, or back. */
static void column(const struct kernels *k, size_t m, const void *src, size_t lds, void *dst, size_t ldd)
{
    for (size_t j = 0; j < m; j++)
        memcpy((char *)dst + j * ldd * k->size, (const char *)src + j * lds * k->size, k->size);
}

static void forward(const struct call *call, char *memory, size_t first, size_t m)
{
    const struct kernels *k = call->k;
    size_t n = call->n;
    char *theta = param_at(k, memory, SHARE_THETA), *w = param_at(k, memory, SHARE_W);
    char *radius = param_at(k, memory, SHARE_LAST);
    char *spare = param_at(k, memory, SHARE_PREFIX);
    const double ones[TILE] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    if (call->length)
        memcpy(radius, param_at(k, call->length, first), m * k->size);
    else
        k->from_double(m, ones, radius);
    for (size_t from = 0; from + 1 < n; from += PIECE) {
        size_t angles = piece_length(call, from);
        k->transpose(m, angles, param_at(k, call->theta, first * (n - 1) + from), n - 1, theta, m);
        size_t at = first * sph_directions_kept(n) + from / POLAR_CHUNK * m;
        k->polar(angles + 1, m, theta, radius, w, TILE, NULL, NULL,
                 call->kept ? param_at(k, call->kept, at) : spare);
        if (call->out)
            k->transpose(angles, m, w, TILE, param_at(k, call->out, first * n + from), n);
        memcpy(radius, param_at(k, w, angles * TILE), m * k->size);
    }
    if (call->out)
        column(k, m, radius, 1, param_at(k, call->out, first * n + n - 1), n);
}

static void backward(const struct call *call, char *memory, size_t first, size_t m)
{
    const struct kernels *k = call->k;
    size_t n = call->n;
    char *theta = param_at(k, memory, SHARE_THETA), *du = param_at(k, memory, SHARE_W);
    char *dtheta = param_at(k, memory, SHARE_DTHETA), *last = param_at(k, memory, SHARE_LAST);
    char *sine = param_at(k, memory, SHARE_SINE), *cosine = param_at(k, memory, SHARE_COSINE);
    const char *kept = param_at(k, call->kept, first * sph_directions_kept(n));
    column(k, m, param_at(k, call->du, first * n + n - 1), n, last, 1);
    for (size_t from = (n - 2) / PIECE * PIECE + PIECE; from > 0;) {
        from -= PIECE;
        size_t angles = piece_length(call, from);
        k->transpose(m, angles, param_at(k, call->theta, first * (n - 1) + from), n - 1, theta, m);
        k->transpose(m, angles, param_at(k, call->du, first * n + from), n, du, TILE);
        memcpy(param_at(k, du, angles * TILE), last, m * k->size);
        k->polar_grad(angles + 1, m, theta, sine, cosine, param_at(k, kept, from / POLAR_CHUNK * m), du, TILE,
                      dtheta, last);
        k->transpose(angles, m, dtheta, m, param_at(k, call->out, first * (n - 1) + from), n - 1);
    }
    if (call->dlength) /* u . du */
        memcpy(param_at(k, call->dlength, first), last, m * k->size);
}

static void work(void *context, size_t worker)
{
    const struct call *call = context;
    char *memory = param_at(call->k, call->memory, worker * SHARE);
    for (size_t first = worker * TILE; first < call->m; first += call->workers * TILE)
        (call->du ? backward : forward)(call, memory, first, call->m - first < TILE ? call->m - first : TILE);
}

static int run(struct call *call, sph_dtype dtype, int threads)
{
    if (call->n < 2 || (unsigned)dtype >= SPH_DTYPE_COUNT || threads < 1)
        return sph_fail_key(SPH_EARG, "n",
                            "%zu inputs, dtype %d, %d threads, expected at least 2, f32 or f64, at least 1",
                            call->n, (int)dtype, threads);
    size_t tiles = (call->m + TILE - 1) / TILE;
    call->k = kernels_pick(dtype, KERNELS_FASTEST);
    call->workers = (size_t)threads < tiles ? (size_t)threads : tiles;
    if (call->workers > threads_limit())
        call->workers = threads_limit();
    if (!call->workers)
        return 0;
    call->memory = mem_get(call->workers * SHARE, call->k->size);
    if (!call->memory)
        return SPH_EMEMORY;
    if (call->workers == 1)
        work(call, 0);
    else
        threads_run(call->workers, work, call);
    mem_free(call->memory);
    return 0;
}

int directions_forward(sph_dtype dtype, size_t m, size_t n, const void *theta, const void *length, void *w,
                       void *kept, int threads)
{
    struct call call = {.m = m, .n = n, .theta = theta, .length = length, .out = w, .kept = kept};
    return run(&call, dtype, threads);
}

int directions_backward(sph_dtype dtype, size_t m, size_t n, const struct direction_grads *of, int threads)
{
    struct call back = {.m = m,
                        .n = n,
                        .theta = of->theta,
                        .length = of->length,
                        .kept = (void *)of->kept,
                        .du = of->dw,
                        .out = of->dtheta,
                        .dlength = of->dlength};
    if (of->kept || !m)
        return run(&back, dtype, threads);
    size_t numbers;
    if (__builtin_mul_overflow(m, sph_directions_kept(n) + 1, &numbers))
        return sph_fail_key(SPH_EARG, "m", "%zu units are too many", m);
    void *own = mem_get(numbers, sizeof(double));
    if (!own)
        return SPH_EMEMORY;
    back.kept = own;
    int err = directions_forward(dtype, m, n, of->theta, of->length, NULL, own, threads);
    if (!err)
        err = run(&back, dtype, threads);
    mem_free(own);
    return err;
}

int sph_directions_of(sph_dtype dtype, size_t m, size_t n, const void *w, void *theta, void *length)
{
    if (n < 2 || (unsigned)dtype >= SPH_DTYPE_COUNT)
        return sph_fail_key(SPH_EARG, "n", "%zu inputs, dtype %d, expected at least 2, f32 or f64", n,
                            (int)dtype);
    if (m)
        NEED(w, theta, length);
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
