/* SPDX-License-Identifier: MIT
 *
 * Helpers of the fast kernels beyond the arithmetic on `vec` in real.h: selecting lanes, elementary
 * functions (those of SLEEF, within 1 ulp, or of libm), and access to (m) arrays, which have exactly m
 * numbers, while matrices are padded. */
#ifndef SPH_COMPUTE_SIMD_H
#define SPH_COMPUTE_SIMD_H

#include "compute/real.h"

#ifdef KERNELS_FAST
#ifdef SPH_SLEEF
#include <sleef.h>
#endif

/* A function that is compiled anew for each constant it is called with. */
#define KERNEL_INLINE static inline __attribute__((always_inline, unused))

/* Rows that a stripe of accumulators runs down before it moves on to the next columns: what they touch stays
 * in L1. */
enum { PASS_ROWS = 64 };

KERNEL_INLINE vec vec_keep(vec_mask where, vec v) /* v there, 0 elsewhere */
{
    return (vec)(where & (vec_mask)v);
}
KERNEL_INLINE vec vec_drop(vec_mask where, vec v) /* 0 there, v elsewhere */
{
    return (vec)(~where & (vec_mask)v);
}
KERNEL_INLINE vec vec_select(vec_mask where, vec yes, vec no)
{
    return (vec)((where & (vec_mask)yes) | (~where & (vec_mask)no));
}
KERNEL_INLINE vec vec_abs(vec v)
{
    return vec_drop((vec_mask)vec_all((real)-0.0), v); /* clears the sign bit */
}

/* ---- elementary functions: ELEMENTARY(exp, v). Without SLEEF libm computes them, lane by lane. */

#ifndef SPH_SLEEF
KERNEL_INLINE vec vec_each(real (*function)(real), vec v)
{
    for (int i = 0; i < LANES; i++)
        v[i] = function(v[i]);
    return v;
}
#define ELEMENTARY(name, v) vec_each(real_##name, v)
#elif VEC_BYTES == 64
#define ELEMENTARY(name, v) ((vec)Sleef_##name##f16_u10avx512f((__m512)(v)))
#elif VEC_BYTES == 32 && REAL_BITS == 64
#define ELEMENTARY(name, v) ((vec)Sleef_##name##d4_u10avx2((__m256d)(v)))
#elif VEC_BYTES == 32
#define ELEMENTARY(name, v) ((vec)Sleef_##name##f8_u10avx2((__m256)(v)))
#elif defined(__SSE2__) && REAL_BITS == 64
#define ELEMENTARY(name, v) ((vec)Sleef_##name##d2_u10sse2((__m128d)(v)))
#elif defined(__SSE2__)
#define ELEMENTARY(name, v) ((vec)Sleef_##name##f4_u10sse2((__m128)(v)))
#elif REAL_BITS == 64
#define ELEMENTARY(name, v) ((vec)Sleef_##name##d2_u10((float64x2_t)(v)))
#else
#define ELEMENTARY(name, v) ((vec)Sleef_##name##f4_u10((float32x4_t)(v)))
#endif

KERNEL_INLINE vec vec_exp(vec v)
{
    return ELEMENTARY(exp, v);
}
KERNEL_INLINE vec vec_expm1(vec v)
{
    return ELEMENTARY(expm1, v);
}
KERNEL_INLINE vec vec_log1p(vec v)
{
    return ELEMENTARY(log1p, v);
}

/* ---- an array of exactly m numbers, a vector of it at column j < m */

/* The last, partial vector of p; all zeros where LANES divides m. */
KERNEL_INLINE vec columns_tail(const real *p, size_t m)
{
    return vec_load_few(p + m / LANES * LANES, m % LANES);
}
/* Columns j .. j+LANES-1 of p, given its tail: for loops that come back to each column once per row. */
KERNEL_INLINE vec columns_at(const real *p, size_t j, size_t m, vec tail)
{
    return j + LANES <= m ? vec_load(p + j) : tail;
}
KERNEL_INLINE vec columns_load(const real *p, size_t j, size_t m)
{
    return j + LANES <= m ? vec_load(p + j) : columns_tail(p, m);
}
KERNEL_INLINE void columns_store(real *p, size_t j, size_t m, vec v)
{
    if (j + LANES <= m)
        vec_store(p + j, v);
    else
        vec_store_few(p + j, v, m - j);
}
KERNEL_INLINE void columns_add(real *p, size_t j, size_t m, vec v)
{
    columns_store(p, j, m, columns_load(p, j, m) + v);
}
/* m rounded up to whole vectors; at most kernel_pad(m). */
KERNEL_INLINE size_t columns_padded(size_t m)
{
    return (m + LANES - 1) / LANES * LANES;
}
/* How many vectors side by side a stripe of accumulators takes at column j. */
KERNEL_INLINE int columns_at_once(size_t j, size_t m)
{
    size_t left = columns_padded(m) - j;
    return left >= 4 * LANES ? 4 : left >= 2 * LANES ? 2 : 1;
}
KERNEL_INLINE size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}
#endif

#endif
