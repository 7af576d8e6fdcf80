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
