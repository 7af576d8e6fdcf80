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

#include "compute/simd.h"

/* Of angles of any size, by SLEEF or by libm. 3.5 ulp in f32: the rounding of the products hides the
 * difference to 1 ulp, and it takes half the time. */
static inline void any_sincos(vec x, vec *sine, vec *cosine)
{
#ifndef SPH_SLEEF
    *sine = ELEMENTARY(sin, x);
    *cosine = ELEMENTARY(cos, x);
#else
#if REAL_BITS == 64 && defined(__AVX2__)
    Sleef___m256d_2 both = Sleef_sincosd4_u10avx2((__m256d)x);
#elif REAL_BITS == 64 && defined(__SSE2__)
    Sleef___m128d_2 both = Sleef_sincosd2_u10sse2((__m128d)x);
#elif REAL_BITS == 64
    Sleef_float64x2_t_2 both = Sleef_sincosd2_u10((float64x2_t)x);
#elif VEC_BYTES == 64
    Sleef___m512_2 both = Sleef_sincosf16_u35avx512f((__m512)x);
#elif defined(__AVX2__)
    Sleef___m256_2 both = Sleef_sincosf8_u35avx2((__m256)x);
#elif defined(__SSE2__)
    Sleef___m128_2 both = Sleef_sincosf4_u35sse2((__m128)x);
#else
    Sleef_float32x4_t_2 both = Sleef_sincosf4_u35((float32x4_t)x);
#endif
    *sine = (vec)both.x;
    *cosine = (vec)both.y;
#endif
}

#if REAL_BITS == 32 && (defined(__AVX2__) || !defined(SPH_SLEEF))

typedef uint32_t vec_bits __attribute__((vector_size(VEC_BYTES)));

#if VEC_BYTES == 64
static inline int all_true(vec_mask where)
{
    return _mm512_movepi32_mask((__m512i)where) == 0xFFFF;
}
static inline vec nearest(vec x)
{
    return (vec)_mm512_roundscale_ps((__m512)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
static inline vec_mask to_int(vec whole)
{
    return (vec_mask)_mm512_cvtps_epi32((__m512)whole);
}
static inline vec by_sign(vec_mask negative, vec yes, vec no)
{
    return (vec)_mm512_mask_blend_ps(_mm512_movepi32_mask((__m512i)negative), (__m512)no, (__m512)yes);
}
#elif defined(__AVX2__)
static inline int all_true(vec_mask where)
{
    return _mm256_movemask_ps((__m256)where) == 0xFF;
}
static inline vec nearest(vec x)
{
    return (vec)_mm256_round_ps((__m256)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
static inline vec_mask to_int(vec whole)
{
    return (vec_mask)_mm256_cvtps_epi32((__m256)whole);
}
static inline vec by_sign(vec_mask negative, vec yes, vec no)
{
    return (vec)_mm256_blendv_ps((__m256)no, (__m256)yes, (__m256)negative);
}
#else
static inline int all_true(vec_mask where)
{
    int all = -1;
    for (int i = 0; i < LANES; i++)
        all &= where[i];
    return all;
}
/* Up to 2^22: there the sum has no room for a fraction. */
static inline vec nearest(vec x)
{
    return (x + 0x1.8p23f) - 0x1.8p23f;
}
static inline vec_mask to_int(vec whole)
{
    return __builtin_convertvector(whole, vec_mask);
}
static inline vec by_sign(vec_mask negative, vec yes, vec no)
{
    return vec_select(negative >> 31, yes, no);
}
#endif

/* Angles live within a few turns. There the work is twenty operations, less than the call of a library
 * function that must serve every argument: x minus the nearest multiple of pi/2, in three parts so that
 * nothing is lost, then the two series on +-pi/4 (Cephes' coefficients, within 1 ulp of 1), then the
 * quadrant's exchange and signs. Anything larger, infinite or not a number goes to the library. */
static const real near_most = 256; /* the products with the parts of pi/2 stay exact */

static inline void near_sincos(vec x, vec *sine, vec *cosine)
{
    vec turns = nearest(x * 0.636619772f);
    vec_bits quadrant = (vec_bits)to_int(turns), sign = {0};
    vec r = x - turns * 1.5703125f;
    r -= turns * 4.837512969970703125e-4f;
    r -= turns * 7.549789948768648e-8f;
    vec square = r * r;
    vec s = ((-1.9515295891e-4f * square + 8.3321608736e-3f) * square - 1.6666654611e-1f) * square * r + r;
    vec c = ((2.443315711809948e-5f * square - 1.388731625493765e-3f) * square + 4.166664568298827e-2f) *
                square * square -
            0.5f * square + 1.0f;
    vec_bits odd = quadrant << 31, below = quadrant << 30; /* in the sign: of the exchange, of the sine */
    sign |= 0x80000000u;
    *sine = (vec)((vec_bits)by_sign((vec_mask)odd, c, s) ^ (below & sign));
    *cosine = (vec)((vec_bits)by_sign((vec_mask)odd, s, c) ^ ((below ^ odd) & sign));
}

static inline void vec_sincos(vec x, vec *sine, vec *cosine)
{
    if (all_true((vec_mask)(vec_abs(x) <= near_most)))
        near_sincos(x, sine, cosine);
    else
        any_sincos(x, sine, cosine);
}

/* Whether near_sincos serves `rows` rows of `count` angles, whole vectors: then a loop has no call in it, and keeps its numbers
 * in registers. */
static inline int all_near(const real *x, size_t ldx, size_t rows, size_t count)
{
    vec_mask within = (vec_mask){0} == 0;
    for (size_t a = 0; a < rows; a++)
        for (size_t j = 0; j < count; j += LANES)
            within &= (vec_mask)(vec_abs(vec_load(x + a * ldx + j)) <= near_most);
    return all_true(within);
}

#else

static inline void near_sincos(vec x, vec *sine, vec *cosine)
{
    any_sincos(x, sine, cosine);
}

static inline void vec_sincos(vec x, vec *sine, vec *cosine)
{
    any_sincos(x, sine, cosine);
}

static inline int all_near(const real *x, size_t ldx, size_t rows, size_t count)
{
    (void)x, (void)ldx, (void)rows, (void)count;
    return 1;
}

#endif

/* One angle of whole vectors of units; sine NULL: sines are not kept. */
KERNEL_INLINE void polar_row(size_t whole, const real *from, real *product, real *out, real *sine,
                             real *cosine, int near)
{
    for (size_t j = 0; j < whole; j += LANES) {
        vec s, c, p = vec_load(product + j);
        if (near)
            near_sincos(vec_load(from + j), &s, &c);
        else
            vec_sincos(vec_load(from + j), &s, &c);
        if (sine) {
            vec_store(sine + j, s);
            vec_store(cosine + j, c);
        }
        vec_store(out + j, p * c);
        vec_store(product + j, p * s);
    }
}

/* The running product lives in w's last row, where it ends up anyway. */
KERNEL void fast_polar(size_t n, size_t m, const void *theta, const void *scale, void *w, size_t ldw,
                       void *sine, void *cosine, void *prefix)
{
    const real *angle = theta;
    real *product = (real *)w + (n - 1) * ldw;
    memcpy(product, scale, m * sizeof(real));
    size_t whole = m / LANES * LANES, rest = m - whole;
    for (size_t a = 0; a + 1 < n; a++) {
        const real *from = angle + a * m;
        real *out = (real *)w + a * ldw;
        real *sin_out = sine ? (real *)sine + a * m : NULL, *cos_out = sine ? (real *)cosine + a * m : NULL;
        if (a % POLAR_CHUNK == 0)
            memcpy((real *)prefix + a / POLAR_CHUNK * m, product, m * sizeof(real));
        if (!all_near(from, 0, 1, whole))
            polar_row(whole, from, product, out, sin_out, cos_out, 0);
        else if (sine)
            polar_row(whole, from, product, out, sin_out, cos_out, 1);
        else
            polar_row(whole, from, product, out, NULL, NULL, 1);
        if (rest) {
            vec s, c, p = vec_load_few(product + whole, rest);
            vec_sincos(vec_load_few(from + whole, rest), &s, &c);
            if (sine) {
                vec_store_few(sin_out + whole, s, rest);
                vec_store_few(cos_out + whole, c, rest);
            }
            vec_store_few(out + whole, p * c, rest);
            vec_store_few(product + whole, p * s, rest);
        }
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

/* Sines and cosines of a few rows, the same numbers as fast_polar's. */
static inline void sincos_rows(size_t count, const real *angle, real *sine, real *cosine)
{
    size_t whole = count / LANES * LANES, rest = count - whole;
    vec s, c;
    for (size_t j = 0; j < whole; j += LANES) {
        vec_sincos(vec_load(angle + j), &s, &c);
        vec_store(sine + j, s);
        vec_store(cosine + j, c);
    }
    if (rest) {
        vec_sincos(vec_load_few(angle + whole, rest), &s, &c);
        vec_store_few(sine + whole, s, rest);
        vec_store_few(cosine + whole, c, rest);
    }
}

/* Row by row: for what is near already. A chunk of angles at a time, from the last to the first: its prefix products are
 * written to dtheta and used up while they are still near, so that every array passes through the caches once. */
KERNEL void polar_grad_rows(size_t n, size_t m, const void *theta, void *sine, void *cosine,
                            const void *prefix, const void *dw, size_t lddw, void *dtheta, void *radial)
{
    const real *g = dw;
    real *out = dtheta, *suffix = radial;
    memcpy(suffix, g + (n - 1) * lddw, m * sizeof(real));
    for (size_t chunk = polar_chunks(n), end = n - 1; chunk-- > 0;) {
        size_t begin = chunk * POLAR_CHUNK, first = theta ? begin : 0; /* of sine and cosine */
        const real *sin_in = sine, *cos_in = cosine;
        if (theta)
            sincos_rows((end - begin) * m, (const real *)theta + begin * m, sine, cosine);
        memcpy(out + begin * m, (const real *)prefix + chunk * m, m * sizeof(real));
        for (size_t a = begin + 1; a < end; a++)
            multiply_rows(m, out + (a - 1) * m, sin_in + (a - 1 - first) * m, out + a * m);
        for (size_t a = end; a-- > begin;)
            suffix_step(m, sin_in + (a - first) * m, cos_in + (a - first) * m, g + a * lddw, out + a * m,
                        suffix);
        end = begin;
    }
}

/* Of a large layer, whose sines are computed again: what the gradient of a chunk of angles, `rows` of them, reads and
 * writes. */
struct polar_chunk {
    size_t rows, m, lddw;
    const real *theta, *prefix, *dw;
    real *dtheta, *suffix;
};

/* Vectors of a cache line; bytes that are asked for before they are read; columns from which that is worth it. */
enum { LINE = 64 / VEC_BYTES, AHEAD = 256, WIDE = 64 };

/* Columns j ... of a chunk: a line of each row or, with few, the first `few` numbers of a vector. Products and suffixes
 * stay in registers, sines and cosines in the nearest cache. */
KERNEL_INLINE void polar_grad_line(const struct polar_chunk *chunk, size_t j, size_t few, int near)
{
    vec sine[POLAR_CHUNK][LINE], cosine[POLAR_CHUNK][LINE], before[POLAR_CHUNK][LINE];
    vec product[LINE] = {{0}}, suffix[LINE] = {{0}};
    const size_t m = chunk->m;
    const int vecs = few ? 1 : LINE;
    for (int v = 0; v < vecs; v++) {
        size_t at = j + (size_t)v * LANES;
        product[v] = few ? vec_load_few(chunk->prefix + at, few) : vec_load(chunk->prefix + at);
        suffix[v] = few ? vec_load_few(chunk->suffix + at, few) : vec_load(chunk->suffix + at);
    }
    for (size_t a = 0; a < chunk->rows; a++) {
        const real *angle = chunk->theta + a * m + j;
        if (!few) {
            __builtin_prefetch((const char *)angle + AHEAD);
            __builtin_prefetch((const char *)(chunk->dw + a * chunk->lddw + j) + AHEAD);
            __builtin_prefetch((const char *)(chunk->dtheta + a * m + j) + AHEAD, 1);
        }
        for (int v = 0; v < vecs; v++) {
            if (near)
                near_sincos(vec_load(angle + v * LANES), &sine[a][v], &cosine[a][v]);
            else
                vec_sincos(few ? vec_load_few(angle, few) : vec_load(angle + v * LANES), &sine[a][v],
                           &cosine[a][v]);
            before[a][v] = product[v];
            product[v] *= sine[a][v];
        }
    }
    for (size_t a = chunk->rows; a-- > 0;)
        for (int v = 0; v < vecs; v++) {
            const real *from = chunk->dw + a * chunk->lddw + j + (size_t)v * LANES;
            real *to = chunk->dtheta + a * m + j + (size_t)v * LANES;
            vec s = sine[a][v], c = cosine[a][v], here = few ? vec_load_few(from, few) : vec_load(from);
            vec value = before[a][v] * vec_fused(c, suffix[v], -(s * here));
            suffix[v] = vec_fused(c, here, s * suffix[v]);
            if (few)
                vec_store_few(to, value, few);
            else
                vec_store(to, value);
        }
    for (int v = 0; v < vecs; v++)
        if (few)
            vec_store_few(chunk->suffix + j, suffix[v], few);
        else
            vec_store(chunk->suffix + j + (size_t)v * LANES, suffix[v]);
}

KERNEL void polar_grad_lines(size_t n, size_t m, const real *theta, const real *prefix, const real *dw,
                             size_t lddw, real *dtheta, real *radial)
{
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
                                   .suffix = radial};
        for (; j + LINE * LANES <= m; j += LINE * LANES)
            if (all_near(args.theta + j, m, args.rows, LINE * LANES))
                polar_grad_line(&args, j, 0, 1);
            else
                polar_grad_line(&args, j, 0, 0);
        for (; j < m; j += LANES)
            polar_grad_line(&args, j, smaller(m - j, LANES), 0);
        end = begin;
    }
}

KERNEL void fast_polar_grad(size_t n, size_t m, const void *theta, void *sine, void *cosine,
                            const void *prefix, const void *dw, size_t lddw, void *dtheta, void *radial)
{
    if (theta && m >= WIDE)
        polar_grad_lines(n, m, theta, prefix, dw, lddw, dtheta, radial);
    else
        polar_grad_rows(n, m, theta, sine, cosine, prefix, dw, lddw, dtheta, radial);
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
            sincos_rows(m, (const real *)theta + a * m, row, row + m);
        natural_step(m, row, added, (real *)dtheta + a * m, length);
    }
}

#endif
