/* SPDX-License-Identifier: MIT
 *
 * Elementary functions of whole arrays, for conversions: angles of given legs, sines and cosines of given
 * angles. */
#include "compute/real.h"

KERNEL void plain_arcs(size_t count, const void *y, const void *x, void *angle)
{
    const real *up = y, *along = x;
    real *out = angle;
    for (size_t i = 0; i < count; i++)
        out[i] = real_atan2(up[i], along[i]);
}

KERNEL void plain_sincos(size_t count, const void *angle, void *sine, void *cosine)
{
    const real *in = angle;
    real *s = sine, *c = cosine;
    for (size_t i = 0; i < count; i++) {
        real x = in[i];
        s[i] = real_sin(x);
        c[i] = real_cos(x);
    }
}

#ifdef KERNELS_FAST

#include "compute/sincos.h"

static inline vec vec_atan2(vec y, vec x)
{
#ifndef SPH_SLEEF
    for (int i = 0; i < LANES; i++)
        y[i] = real_atan2(y[i], x[i]);
    return y;
#elif REAL_BITS == 64 && VEC_BYTES == 32
    return (vec)Sleef_atan2d4_u10avx2((__m256d)y, (__m256d)x);
#elif REAL_BITS == 64 && defined(__SSE2__)
    return (vec)Sleef_atan2d2_u10sse2((__m128d)y, (__m128d)x);
#elif REAL_BITS == 64
    return (vec)Sleef_atan2d2_u10((float64x2_t)y, (float64x2_t)x);
#elif VEC_BYTES == 64
    return (vec)Sleef_atan2f16_u10avx512f((__m512)y, (__m512)x);
#elif VEC_BYTES == 32
    return (vec)Sleef_atan2f8_u10avx2((__m256)y, (__m256)x);
#elif defined(__SSE2__)
    return (vec)Sleef_atan2f4_u10sse2((__m128)y, (__m128)x);
#else
    return (vec)Sleef_atan2f4_u10((float32x4_t)y, (float32x4_t)x);
#endif
}

KERNEL void fast_arcs(size_t count, const void *y, const void *x, void *angle)
{
    const real *up = y, *along = x;
    real *out = angle;
    for (size_t i = 0; i < count; i += LANES)
        columns_store(out, i, count, vec_atan2(columns_load(up, i, count), columns_load(along, i, count)));
}

KERNEL void fast_sincos(size_t count, const void *angle, void *sine, void *cosine)
{
    const real *in = angle;
    for (size_t i = 0; i < count; i += LANES) {
        vec x = columns_load(in, i, count), s, c;
        vecs_sincos(1, &x, &s, &c);
        columns_store(sine, i, count, s);
        columns_store(cosine, i, count, c);
    }
}

#endif
