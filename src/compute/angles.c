/* SPDX-License-Identifier: MIT
 *
 * Hyperspherical coordinates: u(theta) by one prefix scan, its gradient by one suffix scan without division,
 * so that sin(theta) = 0 is as good a place as any other. All units are scanned side by side.
 *
 *   p_1 = scale;  w_i = p_i cos_i;  p_{i+1} = p_i sin_i;  w_n = p_n
 *   s_{n-1} = g_n;  dtheta_a = p_a (cos_a s_a - sin_a g_a);  s_{a-1} = cos_a g_a + sin_a s_a;  s_0 = u . g */
#include "compute/real.h"

/* ---------------------------------------------------------------- plain: one unit after the other */

KERNEL void plain_polar(size_t n, size_t m, const void *theta, const void *scale, void *w, size_t ldw,
                        void *sine, void *cosine, void *prefix)
{
    const real *angle = theta, *length = scale;
    real *out = w, *sin_out = sine, *cos_out = cosine, *kept = prefix;
    for (size_t j = 0; j < m; j++) {
        real product = length[j];
        for (size_t a = 0; a + 1 < n; a++) {
            if (a % POLAR_CHUNK == 0)
                kept[a / POLAR_CHUNK * m + j] = product;
            real s = real_sin(angle[a * m + j]), c = real_cos(angle[a * m + j]);
            if (sine) {
                sin_out[a * m + j] = s;
                cos_out[a * m + j] = c;
            }
            out[a * ldw + j] = product * c;
            product *= s;
        }
        out[(n - 1) * ldw + j] = product;
    }
}

KERNEL void plain_polar_grad(size_t n, size_t m, const void *theta, void *sine, void *cosine,
                             const void *prefix, const void *dw, size_t lddw, void *dtheta, void *radial)
{
    const real *angle = theta, *sin_in = sine, *cos_in = cosine, *g = dw;
    real *out = dtheta, *along = radial;
    for (size_t j = 0; j < m; j++) {
        real product = ((const real *)prefix)[j];
        for (size_t a = 0; a + 1 < n; a++) {
            out[a * m + j] = product;
            product *= angle ? real_sin(angle[a * m + j]) : sin_in[a * m + j];
        }
        real suffix = g[(n - 1) * lddw + j];
        for (size_t a = n - 1; a-- > 0;) {
            real s = angle ? real_sin(angle[a * m + j]) : sin_in[a * m + j];
            real c = angle ? real_cos(angle[a * m + j]) : cos_in[a * m + j];
            real here = g[a * lddw + j];
            out[a * m + j] *= c * suffix - s * here;
            suffix = c * here + s * suffix;
        }
        along[j] = suffix;
    }
}

KERNEL real natural_damping(double damping)
{
    return damping > (double)REAL_LEAST ? (real)damping : REAL_LEAST;
}

KERNEL void plain_polar_natural(size_t n, size_t m, const void *theta, void *sine, double damping,
                                void *dtheta, void *product)
{
    const real *angle = theta, *sin_in = sine;
    real *out = dtheta, added = natural_damping(damping);
    for (size_t j = 0; j < m; j++) {
        real length = 1;
        for (size_t a = 0; a + 1 < n; a++) {
            out[a * m + j] /= length * length + added;
            length *= angle ? real_sin(angle[a * m + j]) : sin_in[a * m + j];
        }
        ((real *)product)[j] = length;
    }
}

/* ---------------------------------------------------------------- fast: all units at each angle */

#ifdef KERNELS_FAST

#include "compute/sincos.h"

/* Where a column's angles and what becomes of them lie; sine NULL: sines are not kept. */
struct polar_rows {
    size_t m, ldw;
    const real *theta;
    real *w, *sine, *cosine, *prefix;
};

static inline vec load_up_to(const real *p, size_t few)
{
    return few ? vec_load_few(p, few) : vec_load(p);
}
static inline void store_up_to(real *p, vec v, size_t few)
{
    if (few)
        vec_store_few(p, v, few);
    else
        vec_store(p, v);
}

/* Angle a of `vecs` vectors of units from unit j on; few: only so many numbers of the one vector. */
KERNEL_INLINE void polar_step(const struct polar_rows *rows, size_t a, size_t j, int vecs, size_t few,
                              vec *product)
{
    vec x[SINCOS_BLOCK], s[SINCOS_BLOCK], c[SINCOS_BLOCK];
    size_t at = a * rows->m + j;
    for (int v = 0; v < vecs; v++)
        x[v] = load_up_to(rows->theta + at + v * LANES, few);
    vecs_sincos(vecs, x, s, c);
    for (int v = 0; v < vecs; v++) {
        if (rows->sine) {
            store_up_to(rows->sine + at + v * LANES, s[v], few);
            store_up_to(rows->cosine + at + v * LANES, c[v], few);
        }
        store_up_to(rows->w + a * rows->ldw + j + (size_t)v * LANES, product[v] * c[v], few);
        product[v] *= s[v];
    }
}

/* Columns of all angles of few units: their products stay in registers. */
KERNEL_INLINE void polar_columns(const struct polar_rows *rows, size_t n, const real *scale, size_t j,
                                 int vecs, size_t few)
{
    vec product[SINCOS_BLOCK];
    for (int v = 0; v < vecs; v++)
        product[v] = load_up_to(scale + j + v * LANES, few);
    for (size_t a = 0; a + 1 < n; a++) {
        if (a % POLAR_CHUNK == 0)
            for (int v = 0; v < vecs; v++)
                store_up_to(rows->prefix + a / POLAR_CHUNK * rows->m + j + (size_t)v * LANES, product[v],
                            few);
        polar_step(rows, a, j, vecs, few, product);
    }
    for (int v = 0; v < vecs; v++)
        store_up_to(rows->w + (n - 1) * rows->ldw + j + (size_t)v * LANES, product[v], few);
}

/* One angle of many units. The running product lives in memory: in w's last row, where it ends up anyway. */
KERNEL_INLINE void polar_row(const struct polar_rows *rows, size_t a, real *products)
{
    enum { BLOCK = SINCOS_BLOCK * LANES };
    size_t j = 0, m = rows->m;
    vec product[SINCOS_BLOCK];
    for (; j + BLOCK <= m; j += BLOCK) {
        for (int v = 0; v < SINCOS_BLOCK; v++)
            product[v] = vec_load(products + j + v * LANES);
        polar_step(rows, a, j, SINCOS_BLOCK, 0, product);
        for (int v = 0; v < SINCOS_BLOCK; v++)
            vec_store(products + j + v * LANES, product[v]);
    }
    for (; j < m; j += LANES) {
        size_t few = smaller(m - j, LANES);
        product[0] = vec_load_few(products + j, few);
        polar_step(rows, a, j, 1, few, product);
        vec_store_few(products + j, product[0], few);
    }
}

/* Units from which memory is better read row by row. */
enum { WIDE = 64 };

KERNEL void fast_polar(size_t n, size_t m, const void *theta, const void *scale, void *w, size_t ldw,
                       void *sine, void *cosine, void *prefix)
{
    enum { BLOCK = SINCOS_BLOCK * LANES };
    const struct polar_rows rows = {
        .m = m, .ldw = ldw, .theta = theta, .w = w, .sine = sine, .cosine = cosine, .prefix = prefix};
    if (m < WIDE) {
        size_t j = 0;
        for (; j + BLOCK <= m; j += BLOCK)
            polar_columns(&rows, n, scale, j, SINCOS_BLOCK, 0);
        for (; j < m; j += LANES)
            polar_columns(&rows, n, scale, j, 1, smaller(m - j, LANES));
        return;
    }
    real *products = rows.w + (n - 1) * ldw;
    memcpy(products, scale, m * sizeof(real));
    for (size_t a = 0; a + 1 < n; a++) {
        if (a % POLAR_CHUNK == 0)
            memcpy(rows.prefix + a / POLAR_CHUNK * m, products, m * sizeof(real));
        polar_row(&rows, a, products);
    }
}

static inline void multiply_rows(size_t m, const real *restrict a, const real *restrict b, real *restrict out)
{
    for (size_t j = 0; j < m; j++)
        out[j] = a[j] * b[j];
}

/* vec_fused of one number: the suffix scan rounds the same in rows and in lines. */
static inline real real_fused(real a, real b, real c)
{
#if VEC_BYTES == 16
    return a * b + c;
#elif REAL_BITS == 64
    return __builtin_fma(a, b, c);
#else
    return __builtin_fmaf(a, b, c);
#endif
}

static inline void suffix_step(size_t m, const real *restrict sine, const real *restrict cosine,
                               const real *restrict g, real *restrict dtheta, real *restrict suffix)
{
    for (size_t j = 0; j < m; j++) {
        real s = sine[j], c = cosine[j], here = g[j], after = suffix[j];
        dtheta[j] *= real_fused(c, after, -(s * here));
        suffix[j] = real_fused(c, here, s * after);
    }
}

/* Sines and cosines were kept: the layer is small and near already. A chunk of angles at a time, from the last to the
 * first: its prefix products are written to dtheta and used up while they are still near. */
KERNEL void polar_grad_rows(size_t n, size_t m, const real *sine, const real *cosine, const real *prefix,
                            const real *dw, size_t lddw, real *dtheta, real *suffix)
{
    memcpy(suffix, dw + (n - 1) * lddw, m * sizeof(real));
    for (size_t chunk = polar_chunks(n), end = n - 1; chunk-- > 0;) {
        size_t begin = chunk * POLAR_CHUNK;
        memcpy(dtheta + begin * m, prefix + chunk * m, m * sizeof(real));
        for (size_t a = begin + 1; a < end; a++)
            multiply_rows(m, dtheta + (a - 1) * m, sine + (a - 1) * m, dtheta + a * m);
        for (size_t a = end; a-- > begin;)
            suffix_step(m, sine + a * m, cosine + a * m, dw + a * lddw, dtheta + a * m, suffix);
        end = begin;
    }
}

/* Of a large layer, whose sines are computed again: what the gradient of a chunk of angles, `rows` of them, reads and
 * writes. */
struct polar_chunk {
    size_t rows, m, lddw;
    const real *theta, *prefix, *dw;
    real *dtheta, *suffix;
    int ahead; /* what is asked for before it is used */
};

enum { AHEAD_NOTHING, AHEAD_CHUNK, AHEAD_ROW };

/* Units of which two chunks of three arrays fit the second cache. */
enum { AHEAD_MOST = 1024 };

/* A chunk is gone through by columns, which no processor foresees. While it is, the chunk that comes next, which ends where this
 * one begins, is asked for from its end to its beginning, a cache line of each array for each that is used; where
 * chunks are too large for that, what lies a little further in the row. */
KERNEL_INLINE void polar_ahead(const struct polar_chunk *chunk, size_t a, size_t j, size_t line)
{
    enum { NUMBERS = 64 / sizeof(real), BYTES = 256 };
    if (chunk->ahead == AHEAD_CHUNK) {
        size_t back = (line + 1) * NUMBERS;
        __builtin_prefetch(chunk->theta - back);
        __builtin_prefetch(chunk->dw - back);
        __builtin_prefetch(chunk->dtheta - back);
    } else if (chunk->ahead == AHEAD_ROW) {
        __builtin_prefetch((const char *)(chunk->theta + a * chunk->m + j) + BYTES);
        __builtin_prefetch((const char *)(chunk->dw + a * chunk->lddw + j) + BYTES);
        __builtin_prefetch((const char *)(chunk->dtheta + a * chunk->m + j) + BYTES, 1);
    }
}

/* Columns j ... of a chunk: `vecs` vectors of each row or, with few, the first `few` numbers of one. Products and suffixes
 * stay in registers, sines and cosines in the nearest cache. */
KERNEL_INLINE void polar_grad_columns(const struct polar_chunk *chunk, size_t j, int vecs, size_t few)
{
    enum { LINES = SINCOS_BLOCK * VEC_BYTES / 64 };
    vec sine[POLAR_CHUNK][SINCOS_BLOCK], cosine[POLAR_CHUNK][SINCOS_BLOCK], before[POLAR_CHUNK][SINCOS_BLOCK];
    vec product[SINCOS_BLOCK], suffix[SINCOS_BLOCK], x[SINCOS_BLOCK];
    const size_t m = chunk->m, line = j / (SINCOS_BLOCK * LANES) * chunk->rows * LINES;
    for (int v = 0; v < vecs; v++) {
        product[v] = load_up_to(chunk->prefix + j + v * LANES, few);
        suffix[v] = load_up_to(chunk->suffix + j + v * LANES, few);
    }
    for (size_t a = 0; a < chunk->rows; a++) {
        for (size_t i = 0; i < LINES && !few; i++)
            polar_ahead(chunk, a, j + i * (64 / sizeof(real)), line + a * LINES + i);
        for (int v = 0; v < vecs; v++)
            x[v] = load_up_to(chunk->theta + a * m + j + v * LANES, few);
        vecs_sincos(vecs, x, sine[a], cosine[a]);
        for (int v = 0; v < vecs; v++) {
            before[a][v] = product[v];
            product[v] *= sine[a][v];
        }
    }
    for (size_t a = chunk->rows; a-- > 0;)
        for (int v = 0; v < vecs; v++) {
            vec s = sine[a][v], c = cosine[a][v];
            vec here = load_up_to(chunk->dw + a * chunk->lddw + j + (size_t)v * LANES, few);
            vec value = before[a][v] * vec_fused(c, suffix[v], -(s * here));
            suffix[v] = vec_fused(c, here, s * suffix[v]);
            store_up_to(chunk->dtheta + a * m + j + v * LANES, value, few);
        }
    for (int v = 0; v < vecs; v++)
        store_up_to(chunk->suffix + j + v * LANES, suffix[v], few);
}

KERNEL void polar_grad_again(size_t n, size_t m, const real *theta, const real *prefix, const real *dw,
                             size_t lddw, real *dtheta, real *radial)
{
    enum { BLOCK = SINCOS_BLOCK * LANES };
    memcpy(radial, dw + (n - 1) * lddw, m * sizeof(real));
    for (size_t chunk = polar_chunks(n), end = n - 1; chunk-- > 0;) {
        size_t begin = chunk * POLAR_CHUNK, j = 0;
        struct polar_chunk args = {.rows = end - begin,
                                   .m = m,
                                   .lddw = lddw,
                                   .theta = theta + begin * m,
                                   .prefix = prefix + chunk * m,
                                   .dw = dw + begin * lddw,
                                   .dtheta = dtheta + begin * m,
                                   .suffix = radial,
                                   .ahead = m > AHEAD_MOST           ? AHEAD_ROW
                                            : m >= WIDE && chunk > 0 ? AHEAD_CHUNK
                                                                     : AHEAD_NOTHING};
        for (; j + BLOCK <= m; j += BLOCK)
            polar_grad_columns(&args, j, SINCOS_BLOCK, 0);
        for (; j < m; j += LANES)
            polar_grad_columns(&args, j, 1, smaller(m - j, LANES));
        end = begin;
    }
}

KERNEL void fast_polar_grad(size_t n, size_t m, const void *theta, void *sine, void *cosine,
                            const void *prefix, const void *dw, size_t lddw, void *dtheta, void *radial)
{
    if (theta)
        polar_grad_again(n, m, theta, prefix, dw, lddw, dtheta, radial);
    else
        polar_grad_rows(n, m, sine, cosine, prefix, dw, lddw, dtheta, radial);
}

/* The sines and cosines of a row again, the same numbers as fast_polar's. */
static inline void sincos_row(size_t m, const real *angle, real *sine, real *cosine)
{
    for (size_t j = 0; j < m; j += LANES) {
        vec x = columns_load(angle, j, m), s, c;
        vecs_sincos(1, &x, &s, &c);
        columns_store(sine, j, m, s);
        columns_store(cosine, j, m, c);
    }
}

static inline void natural_step(size_t m, const real *restrict sine, real added, real *restrict dtheta,
                                real *restrict product)
{
    for (size_t j = 0; j < m; j++) {
        real length = product[j];
        dtheta[j] /= length * length + added;
        product[j] = length * sine[j];
    }
}

KERNEL void fast_polar_natural(size_t n, size_t m, const void *theta, void *sine, double damping,
                               void *dtheta, void *product)
{
    real *length = product, added = natural_damping(damping);
    for (size_t j = 0; j < m; j++)
        length[j] = 1;
    for (size_t a = 0; a + 1 < n; a++) {
        real *row = (real *)sine + (theta ? 0 : a * m);
        if (theta)
            sincos_row(m, (const real *)theta + a * m, row, row + m);
        natural_step(m, row, added, (real *)dtheta + a * m, length);
    }
}

#endif
