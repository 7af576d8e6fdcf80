/* SPDX-License-Identifier: MIT
 *
 * What happens once per unit: m numbers, no twin needed. */
#include "compute/real.h"

KERNEL int plain_radius(size_t m, int fold, const void *r, const void *lambda, void *scale, void *b, void *s)
{
    const real *radius = r, *offset = lambda;
    real *length = scale, *bias = b, *sign = s;
    int scaled = 0;
    for (size_t j = 0; j < m; j++) {
        if (fold && radius[j] != 0) {
            length[j] = real_fabs(radius[j]);
            sign[j] = radius[j] < 0 ? -1 : 1;
        } else {
            length[j] = 1;
            sign[j] = radius[j];
        }
        if (bias)
            bias[j] = length[j] * offset[j];
        scaled |= sign[j] != 1;
    }
    return scaled;
}

KERNEL void plain_radius_grad(size_t m, int fold, const void *r, const void *lambda, const void *radial,
                              const void *db, const void *ds, void *dr, void *dlambda)
{
    const real *radius = r, *offset = lambda, *along = radial, *dbias = db, *dscale = ds;
    real *out = dr, *doffset = dlambda;
    for (size_t j = 0; j < m; j++) {
        int folded = fold && radius[j] != 0;
        real bias_part = dbias ? offset[j] * dbias[j] : 0;
        out[j] = folded ? (radius[j] < 0 ? -1 : 1) * (along[j] + bias_part) : dscale[j];
        if (dbias)
            doffset[j] = folded ? real_fabs(radius[j]) * dbias[j] : dbias[j];
    }
}

KERNEL void plain_negative_product(size_t m, const void *a, const void *b, void *y)
{
    const real *left = a, *right = b;
    real *out = y;
    for (size_t j = 0; j < m; j++)
        out[j] = -left[j] * right[j];
}

/* Sums of squares between these neither overflowed nor lost a summand that counts. */
#if REAL_BITS == 64
static const double lift_least = 0x1p-900, lift_most = 0x1p1000;
enum { LIFT_BITS = 1022 };
#else
static const double lift_least = 0x1p-80, lift_most = 0x1p120;
enum { LIFT_BITS = 126 };
#endif

/* The power of two that brings a column's largest number to 1/2 .. 1, or near it where there is no such power; 1 for a
 * column that is 0 or not finite. */
static inline double lift_of(size_t n, size_t m, const real *column)
{
    double most = 0;
    int bits;
    for (size_t i = 0; i < n; i++) {
        double size = fabs((double)column[i * m]);
        most = size <= most ? most : size; /* a NaN stays */
    }
    if (!(most > 0) || !isfinite(most))
        return 1;
    frexp(most, &bits);
    return ldexp(1, bits < -LIFT_BITS ? LIFT_BITS : bits > LIFT_BITS ? -LIFT_BITS : -bits);
}

KERNEL int plain_lift(size_t n, size_t m, const void *v, void *vv, void *lift)
{
    real *square = vv, *factor = lift;
    int lifted = 0, outside = 0;
    for (size_t j = 0; j < m; j++)
        outside |= !(square[j] >= (real)lift_least) | !(square[j] <= (real)lift_most);
    for (size_t j = 0; outside && j < m; j++) {
        const real *column = (const real *)v + j;
        factor[j] = 1;
        if (square[j] >= (real)lift_least && square[j] <= (real)lift_most)
            continue;
        double by = lift_of(n, m, column), sum = 0;
        if (by == 1)
            continue;
        for (size_t i = 0; i < n; i++)
            sum += by * (double)column[i * m] * (by * (double)column[i * m]);
        factor[j] = (real)by;
        square[j] = (real)sum;
        lifted = 1;
    }
    return lifted;
}

KERNEL void plain_length(size_t m, const void *g, const void *vv, void *scale)
{
    const real *wanted = g, *square = vv;
    real *out = scale;
    for (size_t j = 0; j < m; j++)
        out[j] = square[j] > 0 ? (wanted ? wanted[j] : 1) / real_sqrt(square[j]) : 0;
}

KERNEL void plain_length_grad(size_t m, const void *g, const void *vv, const void *vdw, void *dg,
                              void *across)
{
    const real *wanted = g, *square = vv, *along = vdw;
    real *out = dg, *back = across;
    for (size_t j = 0; j < m; j++) {
        real inverse = square[j] > 0 ? 1 / real_sqrt(square[j]) : 0;
        out[j] = along[j] * inverse;
        back[j] = -wanted[j] * along[j] * inverse * inverse * inverse;
    }
}
