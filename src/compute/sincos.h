/* SPDX-License-Identifier: MIT
 *
 * Sines and cosines of several vectors of angles at a time, for the fast kernels. The results do not depend
 * on the order or grouping of the vectors. */
#ifndef SPH_COMPUTE_SINCOS_H
#define SPH_COMPUTE_SINCOS_H

#include "compute/simd.h"

/* Vectors that are taken at once: their series run side by side, which hides how long each step takes. Together
 * they are a cache line or two. */
enum { SINCOS_BLOCK = VEC_BYTES == 16 ? 4 : 2 };

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
static inline vec by_sign(vec_mask negative, vec yes, vec no)
{
    return (vec)_mm512_mask_blend_ps(_mm512_movepi32_mask((__m512i)negative), (__m512)no, (__m512)yes);
}
#elif defined(__AVX2__)
static inline int all_true(vec_mask where)
{
    return _mm256_movemask_ps((__m256)where) == 0xFF;
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
static inline vec by_sign(vec_mask negative, vec yes, vec no)
{
    return vec_select(negative >> 31, yes, no);
}
#endif

/* The two series on +-pi/4, within 1 ulp of 1 (Cephes' coefficients). */
KERNEL_INLINE void quarter_sincos(int count, const vec *r, vec *sine, vec *cosine)
{
    vec square[SINCOS_BLOCK], s[SINCOS_BLOCK], c[SINCOS_BLOCK];
    for (int i = 0; i < count; i++)
        square[i] = r[i] * r[i];
    for (int i = 0; i < count; i++)
        s[i] = vec_fused(square[i], vec_all(-1.9515295891e-4f), vec_all(8.3321608736e-3f));
    for (int i = 0; i < count; i++)
        c[i] = vec_fused(square[i], vec_all(2.443315711809948e-5f), vec_all(-1.388731625493765e-3f));
    for (int i = 0; i < count; i++)
        s[i] = vec_fused(square[i], s[i], vec_all(-1.6666654611e-1f));
    for (int i = 0; i < count; i++)
        c[i] = vec_fused(square[i], c[i], vec_all(4.166664568298827e-2f));
    for (int i = 0; i < count; i++)
        c[i] = vec_fused(square[i], c[i], vec_all(-0.5f));
    for (int i = 0; i < count; i++)
        sine[i] = vec_fused(square[i] * r[i], s[i], r[i]);
    for (int i = 0; i < count; i++)
        cosine[i] = vec_fused(square[i], c[i], vec_all(1.0f));
}

/* x minus a whole number of quarter turns, in parts so that nothing is lost: what is left after the first is exact,
 * by fused products with pi/2 to the last bit, else with its first bits only. to_upright: pi/2 - x, to the bit
 * what turned_back gives for one turn, with the other sign. */
#if VEC_BYTES >= 32
KERNEL_INLINE vec turned_back(vec x, vec turns)
{
    return vec_fused(turns, vec_all(4.37113900018624283e-8f),
                     vec_fused(turns, vec_all(-1.57079637050628662f), x));
}
KERNEL_INLINE vec to_upright(vec x)
{
    return (1.57079637050628662f - x) - 4.37113900018624283e-8f;
}
#else
KERNEL_INLINE vec turned_back(vec x, vec turns)
{
    vec r = x - turns * 1.5703125f;
    r -= turns * 4.837512969970703125e-4f;
    return r - turns * 7.549789948768648e-8f;
}
KERNEL_INLINE vec to_upright(vec x)
{
    return ((1.5703125f - x) + 4.837512969970703125e-4f) + 7.549789948768648e-8f;
}
#endif

/* In many dimensions nearly all angles of a direction lie near pi/2: there the quarter turn is known. Of whole blocks
 * within 1.05 ... 2.1 the bits, less those of 1.05, are below 2^23. */
static const uint32_t upright_least = 0x3F866666u, upright_outside = 0xFF800000u;

KERNEL_INLINE int all_upright(int count, const vec *x)
{
    vec_bits outside = {0};
    for (int i = 0; i < count; i++)
        outside |= (vec_bits)x[i] - upright_least;
    return all_true((vec_mask)((outside & upright_outside) == 0));
}

KERNEL_INLINE void upright_sincos(int count, const vec *x, vec *sine, vec *cosine)
{
    vec r[SINCOS_BLOCK];
    for (int i = 0; i < count; i++)
        r[i] = to_upright(x[i]);
    quarter_sincos(count, r, cosine, sine);
}

/* Other angles live within a few turns. There the work is thirty operations, less than the call of a library
 * function that must serve every argument: x minus the nearest multiple of pi/2, the series, then the
 * quadrant's exchange and signs. Anything larger, infinite or not a number goes to the library. */
static const real near_most = 256;         /* the products with the parts of pi/2 stay exact */
static const real no_fraction = 0x1.8p23f; /* added, it leaves the nearest whole number in the last bits */

KERNEL_INLINE int all_near(int count, const vec *x)
{
    vec_mask within = (vec_mask){0} == 0;
    for (int i = 0; i < count; i++)
        within &= (vec_mask)(vec_abs(x[i]) <= near_most);
    return all_true(within);
}

KERNEL_INLINE void near_sincos(int count, const vec *x, vec *sine, vec *cosine)
{
    vec turns[SINCOS_BLOCK], r[SINCOS_BLOCK], s[SINCOS_BLOCK], c[SINCOS_BLOCK];
    vec_bits sign = {0};
    sign |= 0x80000000u;
    for (int i = 0; i < count; i++)
        turns[i] = vec_fused(x[i], vec_all(0.636619772f), vec_all(no_fraction));
    for (int i = 0; i < count; i++)
        r[i] = turned_back(x[i], turns[i] - no_fraction);
    quarter_sincos(count, r, s, c);
    for (int i = 0; i < count; i++) {
        vec_bits quadrant = (vec_bits)turns[i];
        vec_bits odd = quadrant << 31, below = quadrant << 30; /* in the sign: of the exchange, of the sine */
        sine[i] = (vec)((vec_bits)by_sign((vec_mask)odd, c[i], s[i]) ^ (below & sign));
        cosine[i] = (vec)((vec_bits)by_sign((vec_mask)odd, s[i], c[i]) ^ ((below ^ odd) & sign));
    }
}

/* Up to SINCOS_BLOCK vectors. */
KERNEL_INLINE void vecs_sincos(int count, const vec *x, vec *sine, vec *cosine)
{
    if (all_upright(count, x))
        upright_sincos(count, x, sine, cosine);
    else if (all_near(count, x))
        near_sincos(count, x, sine, cosine);
    else
        for (int i = 0; i < count; i++)
            if (all_near(1, x + i)) /* as it would be alone */
                near_sincos(1, x + i, sine + i, cosine + i);
            else
                any_sincos(x[i], &sine[i], &cosine[i]);
}

#else

KERNEL_INLINE void vecs_sincos(int count, const vec *x, vec *sine, vec *cosine)
{
    for (int i = 0; i < count; i++)
        any_sincos(x[i], &sine[i], &cosine[i]);
}

#endif

#endif
