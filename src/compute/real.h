/* SPDX-License-Identifier: MIT
 *
 * A kernel file is written once over `real` and compiled once per variant (CMakeLists.txt lists them), inside
 * one translation unit, variant.c, which defines:
 *
 *   REAL_BITS      32 or 64
 *   KERNELS_FAST   defined for the fast variants; without it only the plain twins are compiled into the table
 *   KERNELS_TABLE  the table's symbol: kernels_plain_f32, kernels_base_f32, kernels_avx2_f32, ..._f64, kernels_avx512_f32
 *
 * All functions of a kernel file are `KERNEL` (static), named plain_xxx and fast_xxx. */
#ifndef SPH_COMPUTE_REAL_H
#define SPH_COMPUTE_REAL_H

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "compute/kernels.h"

#if REAL_BITS == 64
typedef double real;
#define REAL_DTYPE SPH_F64
#define REAL_LEAST DBL_MIN
#define real_sqrt  sqrt
#define real_exp   exp
#define real_expm1 expm1
#define real_log   log
#define real_log1p log1p
#define real_fabs  fabs
#define real_sin   sin
#define real_atan2 atan2
#define real_cos   cos
#else
typedef float real;
#define REAL_DTYPE SPH_F32
#define REAL_LEAST FLT_MIN
#define real_sqrt  sqrtf
#define real_exp   expf
#define real_expm1 expm1f
#define real_log   logf
#define real_log1p log1pf
#define real_fabs  fabsf
#define real_sin   sinf
#define real_atan2 atan2f
#define real_cos   cosf
#endif

#define KERNEL static __attribute__((unused))

/* Vectors of the variant's natural width, as a GNU vector type: + - * / and comparisons work on it as on
 * numbers. vec_load and vec_store take any alignment; vec_load_few and vec_store_few touch only the first
 * count lanes (others read as 0). */
#ifdef KERNELS_FAST
#if defined(__AVX512F__)
#include <immintrin.h>
#define VEC_BYTES 64
#elif defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#define VEC_BYTES 32
#else
#define VEC_BYTES 16
#endif
enum { LANES = VEC_BYTES / (int)sizeof(real) };
typedef real vec __attribute__((vector_size(VEC_BYTES)));
#if REAL_BITS == 64
typedef int64_t vec_mask __attribute__((vector_size(VEC_BYTES)));
#else
typedef int32_t vec_mask __attribute__((vector_size(VEC_BYTES)));
#endif
typedef real vec_any __attribute__((vector_size(VEC_BYTES), aligned(sizeof(real)), may_alias));

static inline vec vec_load(const real *p)
{
    return *(const vec_any *)p;
}
static inline void vec_store(real *p, vec v)
{
    *(vec_any *)p = v;
}
static inline vec vec_all(real x)
{
    return x - (vec){0}; /* broadcast */
}
/* a b + c, fused wherever the variant has the instruction: the same bits each time it is written, which a
 * compiler free to fuse or not does not promise. */
static inline vec vec_fused(vec a, vec b, vec c)
{
#if VEC_BYTES == 64
    return (vec)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif VEC_BYTES == 32 && REAL_BITS == 64
    return (vec)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#elif VEC_BYTES == 32
    return (vec)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
    return a * b + c;
#endif
}
/* Masks are what comparisons of vectors give, all bits set where true; a comparison with NaN is false. This
 * one is true in the first count lanes. */
static inline vec_mask vec_lanes(size_t count)
{
    vec_mask lane, bound;
    for (int i = 0; i < LANES; i++) {
        lane[i] = i;
        bound[i] = count < LANES ? (int)count : LANES;
    }
    return (vec_mask)(lane < bound);
}
/* v with the lanes from count on set to 0, whatever they hold. */
static inline vec vec_first(vec v, size_t count)
{
    return (vec)(vec_lanes(count) & (vec_mask)v);
}
#if VEC_BYTES == 64
static inline __mmask16 vec_first_bits(size_t count)
{
    return (__mmask16)(count < LANES ? (1u << count) - 1 : 0xFFFF);
}
#endif
static inline vec vec_load_few(const real *p, size_t count)
{
#if VEC_BYTES == 64
    return (vec)_mm512_maskz_loadu_ps(vec_first_bits(count), p);
#elif VEC_BYTES == 32 && REAL_BITS == 64
    return (vec)_mm256_maskload_pd(p, (__m256i)vec_lanes(count));
#elif VEC_BYTES == 32
    return (vec)_mm256_maskload_ps(p, (__m256i)vec_lanes(count));
#else
    vec v = {0};
    for (size_t i = 0; i < LANES && i < count; i++)
        v[i] = p[i];
    return v;
#endif
}
static inline void vec_store_few(real *p, vec v, size_t count)
{
#if VEC_BYTES == 64
    _mm512_mask_storeu_ps(p, vec_first_bits(count), (__m512)v);
#else
    real lanes[LANES];
    memcpy(lanes, &v, sizeof v);
    size_t done = 0;
    if (LANES == 8 && count & 4) {
        memcpy(p, lanes, 4 * sizeof(real));
        done = 4;
    }
    if (LANES >= 4 && count & 2) {
        memcpy(p + done, lanes + done, 2 * sizeof(real));
        done += 2;
    }
    if (count & 1)
        p[done] = lanes[done];
    if (count >= LANES)
        vec_store(p, v);
#endif
}
static inline real vec_sum(vec v)
{
    real lanes[LANES];
    memcpy(lanes, &v, sizeof v);
    for (int half = LANES / 2; half; half /= 2)
        for (int i = 0; i < half; i++)
            lanes[i] += lanes[i + half];
    return lanes[0];
}
#endif

#endif
