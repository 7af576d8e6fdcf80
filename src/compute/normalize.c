/* SPDX-License-Identifier: MIT
 *
 * Batch and layer normalization: moments, the affine maps, their gradients. */
#include "compute/real.h"
#include "compute/simd.h"

KERNEL void plain_moments(size_t rows, size_t m, const void *x, size_t ldx, void *mean, void *m2)
{
    const real *rx = x;
    for (size_t j = 0; j < m; j++) {
        double sum = 0, squares = 0;
        for (size_t i = 0; i < rows; i++)
            sum += (double)rx[i * ldx + j];
        double middle = sum / (double)rows;
        for (size_t i = 0; i < rows; i++)
            squares += ((double)rx[i * ldx + j] - middle) * ((double)rx[i * ldx + j] - middle);
        ((real *)mean)[j] = (real)middle;
        ((real *)m2)[j] = (real)squares;
    }
}

KERNEL void plain_shift(size_t rows, size_t m, const void *x, size_t ldx, const void *shift, void *y,
                        size_t ldy)
{
    const real *rx = x, *by = shift;
    real *ry = y;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < m; j++)
            ry[i * ldy + j] = rx[i * ldx + j] + by[j];
}

KERNEL void plain_normalize(size_t rows, size_t m, void *z, size_t ldz, const void *mean, const void *inv,
                            const void *gamma, const void *beta, void *y, size_t ldy)
{
    const real *middle = mean, *inverse = inv, *scale = gamma, *shift = beta;
    real *rz = z, *ry = y;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < m; j++) {
            real xhat = (rz[i * ldz + j] - middle[j]) * inverse[j];
            rz[i * ldz + j] = xhat;
            ry[i * ldy + j] = scale[j] * xhat + shift[j];
        }
}

KERNEL void plain_normalize_sums(size_t rows, size_t m, const void *dy, size_t lddy, const void *xhat,
                                 size_t ldx, void *sum_dy, void *sum_dyx)
{
    const real *rdy = dy, *rx = xhat;
    for (size_t j = 0; j < m; j++) {
        double sum = 0, product = 0;
        for (size_t i = 0; i < rows; i++) {
            sum += (double)rdy[i * lddy + j];
            product += (double)rdy[i * lddy + j] * (double)rx[i * ldx + j];
        }
        ((real *)sum_dy)[j] += (real)sum;
        ((real *)sum_dyx)[j] += (real)product;
    }
}

KERNEL void plain_normalize_grad(size_t rows, size_t m, const void *dy, size_t lddy, const void *xhat,
                                 size_t ldx, const void *factor, const void *mean_dy, const void *mean_dyx,
                                 void *dz, size_t lddz)
{
    const real *rdy = dy, *rx = xhat, *by = factor, *mean = mean_dy, *mean_x = mean_dyx;
    real *rdz = dz;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < m; j++)
            rdz[i * lddz + j] = by[j] * (rdy[i * lddy + j] - mean[j] - rx[i * ldx + j] * mean_x[j]);
}

KERNEL void plain_layer_norm(size_t rows, size_t m, void *z, size_t ldz, double epsilon, const void *gamma,
                             const void *beta, void *inv, void *y, size_t ldy)
{
    const real *scale = gamma, *shift = beta;
    for (size_t i = 0; i < rows; i++) {
        real *rz = (real *)z + i * ldz, *ry = (real *)y + i * ldy;
        double sum = 0, squares = 0;
        for (size_t j = 0; j < m; j++)
            sum += (double)rz[j];
        double mean = sum / (double)m;
        for (size_t j = 0; j < m; j++)
            squares += ((double)rz[j] - mean) * ((double)rz[j] - mean);
        double inverse = 1 / sqrt(squares / (double)m + epsilon);
        ((real *)inv)[i] = (real)inverse;
        for (size_t j = 0; j < m; j++) {
            rz[j] = (real)(((double)rz[j] - mean) * inverse);
            ry[j] = scale[j] * rz[j] + shift[j];
        }
    }
}

KERNEL void plain_layer_norm_grad(size_t rows, size_t m, const void *dy, size_t lddy, const void *xhat,
                                  size_t ldx, const void *inv, const void *gamma, void *dgamma, void *dbeta,
                                  void *dz, size_t lddz)
{
    const real *scale = gamma;
    plain_normalize_sums(rows, m, dy, lddy, xhat, ldx, dbeta, dgamma);
    for (size_t i = 0; i < rows; i++) {
        const real *rdy = (const real *)dy + i * lddy, *rx = (const real *)xhat + i * ldx;
        real *rdz = (real *)dz + i * lddz, inverse = ((const real *)inv)[i];
        double sum = 0, product = 0;
        for (size_t j = 0; j < m; j++) {
            sum += (double)scale[j] * (double)rdy[j];
            product += (double)scale[j] * (double)rdy[j] * (double)rx[j];
        }
        real mean = (real)(sum / (double)m), mean_x = (real)(product / (double)m);
        for (size_t j = 0; j < m; j++)
            rdz[j] = inverse * (scale[j] * rdy[j] - mean - rx[j] * mean_x);
    }
}

#ifdef KERNELS_FAST
KERNEL_INLINE void spread_block(size_t rows, size_t width, const real *x, size_t ldx, const real *mean,
                                real *m2, int vecs)
{
    vec sums[4] = {{0}}, middle[4] = {{0}};
    for (int v = 0; v < vecs; v++)
        middle[v] = columns_load(mean, (size_t)v * LANES, width);
    for (size_t i = 0; i < rows; i++)
        for (int v = 0; v < vecs; v++) {
            vec off = vec_load(x + i * ldx + v * LANES) - middle[v];
            sums[v] += off * off;
        }
    for (int v = 0; v < vecs; v++)
        columns_add(m2, (size_t)v * LANES, width, sums[v]);
}

KERNEL void fast_moments(size_t rows, size_t m, const void *x, size_t ldx, void *mean, void *m2)
{
    real *means = mean, *spreads = m2;
    memset(means, 0, m * sizeof *means);
    memset(spreads, 0, m * sizeof *spreads);
    fast_column_sums(rows, m, x, ldx, mean);
    for (size_t j = 0; j < m; j++)
        means[j] /= (real)rows;
    for (size_t top = 0; top < rows; top += PASS_ROWS) {
        size_t tile = smaller(rows - top, PASS_ROWS);
        const real *from = (const real *)x + top * ldx;
        for (size_t j = 0; j < m;) {
            int vecs = columns_block(j, m);
            if (vecs == 4)
                spread_block(tile, m - j, from + j, ldx, means + j, spreads + j, 4);
            else if (vecs == 2)
                spread_block(tile, m - j, from + j, ldx, means + j, spreads + j, 2);
            else
                spread_block(tile, m - j, from + j, ldx, means + j, spreads + j, 1);
            j += (size_t)vecs * LANES;
        }
    }
}

KERNEL void fast_shift(size_t rows, size_t m, const void *x, size_t ldx, const void *shift, void *y,
                       size_t ldy)
{
    size_t padded = columns_padded(m);
    const real *by = shift;
    vec tail = columns_tail(by, m);
    for (size_t i = 0; i < rows; i++) {
        const real *from = (const real *)x + i * ldx;
        real *to = (real *)y + i * ldy;
        for (size_t j = 0; j < padded; j += LANES)
            vec_store(to + j, vec_load(from + j) + columns_at(by, j, m, tail));
    }
}

KERNEL void fast_normalize(size_t rows, size_t m, void *z, size_t ldz, const void *mean, const void *inv,
                           const void *gamma, const void *beta, void *y, size_t ldy)
{
    size_t padded = columns_padded(m);
    vec mean_tail = columns_tail(mean, m), inv_tail = columns_tail(inv, m);
    vec gamma_tail = columns_tail(gamma, m), beta_tail = columns_tail(beta, m);
    for (size_t i = 0; i < rows; i++) {
        real *rz = (real *)z + i * ldz, *ry = (real *)y + i * ldy;
        for (size_t j = 0; j < padded; j += LANES) {
            vec xhat =
                (vec_load(rz + j) - columns_at(mean, j, m, mean_tail)) * columns_at(inv, j, m, inv_tail);
            vec_store(rz + j, xhat);
            vec_store(ry + j, columns_at(gamma, j, m, gamma_tail) * xhat + columns_at(beta, j, m, beta_tail));
        }
    }
}

KERNEL_INLINE void normalize_sums_block(size_t rows, size_t width, const real *dy, size_t lddy, const real *x,
                                        size_t ldx, real *sum_dy, real *sum_dyx, int vecs)
{
    vec sums[4] = {{0}}, products[4] = {{0}};
    for (size_t i = 0; i < rows; i++)
        for (int v = 0; v < vecs; v++) {
            vec pull = vec_load(dy + i * lddy + v * LANES);
            sums[v] += pull;
            products[v] += pull * vec_load(x + i * ldx + v * LANES);
        }
    for (int v = 0; v < vecs; v++) {
        columns_add(sum_dy, (size_t)v * LANES, width, sums[v]);
        columns_add(sum_dyx, (size_t)v * LANES, width, products[v]);
    }
}

KERNEL void fast_normalize_sums(size_t rows, size_t m, const void *dy, size_t lddy, const void *xhat,
                                size_t ldx, void *sum_dy, void *sum_dyx)
{
    for (size_t top = 0; top < rows; top += PASS_ROWS) {
        size_t tile = smaller(rows - top, PASS_ROWS);
        const real *rdy = (const real *)dy + top * lddy, *rx = (const real *)xhat + top * ldx;
        for (size_t j = 0; j < m;) {
            real *to = (real *)sum_dy + j, *to_x = (real *)sum_dyx + j;
            int vecs = columns_block(j, m);
            if (vecs == 4)
                normalize_sums_block(tile, m - j, rdy + j, lddy, rx + j, ldx, to, to_x, 4);
            else if (vecs == 2)
                normalize_sums_block(tile, m - j, rdy + j, lddy, rx + j, ldx, to, to_x, 2);
            else
                normalize_sums_block(tile, m - j, rdy + j, lddy, rx + j, ldx, to, to_x, 1);
            j += (size_t)vecs * LANES;
        }
    }
}

KERNEL void fast_normalize_grad(size_t rows, size_t m, const void *dy, size_t lddy, const void *xhat,
                                size_t ldx, const void *factor, const void *mean_dy, const void *mean_dyx,
                                void *dz, size_t lddz)
{
    size_t padded = columns_padded(m);
    vec factor_tail = columns_tail(factor, m), mean_tail = columns_tail(mean_dy, m);
    vec mean_x_tail = columns_tail(mean_dyx, m);
    for (size_t i = 0; i < rows; i++) {
        const real *rdy = (const real *)dy + i * lddy, *rx = (const real *)xhat + i * ldx;
        real *rdz = (real *)dz + i * lddz;
        for (size_t j = 0; j < padded; j += LANES) {
            vec off = vec_load(rdy + j) - columns_at(mean_dy, j, m, mean_tail) -
                      vec_load(rx + j) * columns_at(mean_dyx, j, m, mean_x_tail);
            vec_store(rdz + j, columns_at(factor, j, m, factor_tail) * off);
        }
    }
}

KERNEL void fast_layer_norm(size_t rows, size_t m, void *z, size_t ldz, double epsilon, const void *gamma,
                            const void *beta, void *inv, void *y, size_t ldy)
{
    size_t whole = m / LANES * LANES, padded = columns_padded(m);
    vec gamma_tail = columns_tail(gamma, m), beta_tail = columns_tail(beta, m);
    vec_mask real_columns = vec_lanes(m - whole);
    for (size_t i = 0; i < rows; i++) {
        real *rz = (real *)z + i * ldz, *ry = (real *)y + i * ldy;
        vec sum = {0}, squares = {0};
        for (size_t j = 0; j < whole; j += LANES)
            sum += vec_load(rz + j);
        if (whole < m)
            sum += vec_keep(real_columns, vec_load(rz + whole));
        real mean = vec_sum(sum) / (real)m;
        for (size_t j = 0; j < whole; j += LANES) {
            vec off = vec_load(rz + j) - mean;
            squares += off * off;
        }
        if (whole < m) {
            vec off = vec_keep(real_columns, vec_load(rz + whole) - mean);
            squares += off * off;
        }
        real inverse = 1 / real_sqrt(vec_sum(squares) / (real)m + (real)epsilon);
        ((real *)inv)[i] = inverse;
        for (size_t j = 0; j < padded; j += LANES) {
            vec xhat = (vec_load(rz + j) - mean) * inverse;
            vec_store(rz + j, xhat);
            vec_store(ry + j, columns_at(gamma, j, m, gamma_tail) * xhat + columns_at(beta, j, m, beta_tail));
        }
    }
}

KERNEL void fast_layer_norm_grad(size_t rows, size_t m, const void *dy, size_t lddy, const void *xhat,
                                 size_t ldx, const void *inv, const void *gamma, void *dgamma, void *dbeta,
                                 void *dz, size_t lddz)
{
    size_t whole = m / LANES * LANES, padded = columns_padded(m);
    const real *scale = gamma;
    vec gamma_tail = columns_tail(gamma, m);
    vec_mask real_columns = vec_lanes(m - whole);
    fast_normalize_sums(rows, m, dy, lddy, xhat, ldx, dbeta, dgamma);
    for (size_t i = 0; i < rows; i++) {
        const real *rdy = (const real *)dy + i * lddy, *rx = (const real *)xhat + i * ldx;
        real *rdz = (real *)dz + i * lddz;
        vec sum = {0}, product = {0};
        for (size_t j = 0; j < whole; j += LANES) {
            vec pull = vec_load(scale + j) * vec_load(rdy + j);
            sum += pull;
            product += pull * vec_load(rx + j);
        }
        if (whole < m) {
            vec pull = vec_keep(real_columns, gamma_tail * vec_load(rdy + whole));
            sum += pull;
            product += vec_keep(real_columns, pull * vec_load(rx + whole));
        }
        real inverse = ((const real *)inv)[i], mean = vec_sum(sum) / (real)m,
             mean_x = vec_sum(product) / (real)m;
        for (size_t j = 0; j < padded; j += LANES) {
            vec pull = columns_at(scale, j, m, gamma_tail) * vec_load(rdy + j);
            vec_store(rdz + j, inverse * (pull - mean - vec_load(rx + j) * mean_x));
        }
    }
}
#endif
