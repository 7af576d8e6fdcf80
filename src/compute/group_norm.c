/* SPDX-License-Identifier: MIT
 *
 * Group normalization of vectors, of which one group is layer normalization, and its gradient. */
#include "compute/real.h"
#include "compute/simd.h"

/* sum_dy (m) += dy, sum_dyx (m) += dy * xhat */
KERNEL void plain_pull_sums(size_t rows, size_t m, const real *dy, size_t lddy, const real *xhat, size_t ldx,
                            real *sum_dy, real *sum_dyx)
{
    for (size_t j = 0; j < m; j++) {
        double sum = 0, product = 0;
        for (size_t i = 0; i < rows; i++) {
            sum += (double)dy[i * lddy + j];
            product += (double)dy[i * lddy + j] * (double)xhat[i * ldx + j];
        }
        sum_dy[j] += (real)sum;
        sum_dyx[j] += (real)product;
    }
}

KERNEL void plain_group_norm(size_t rows, size_t m, size_t groups, void *z, size_t ldz, double epsilon,
                             const void *gamma, const void *beta, void *inv, void *work, void *y, size_t ldy)
{
    (void)work;
    const real *scale = gamma, *shift = beta;
    real *out = inv;
    size_t width = m / groups;
    for (size_t i = 0; i < rows; i++)
        for (size_t first = 0; first < m; first += width) {
            real *rz = (real *)z + i * ldz, *ry = (real *)y + i * ldy;
            size_t stop = first + width;
            double sum = 0, squares = 0;
            for (size_t j = first; j < stop; j++)
                sum += (double)rz[j];
            double mean = sum / (double)width;
            for (size_t j = first; j < stop; j++)
                squares += ((double)rz[j] - mean) * ((double)rz[j] - mean);
            double inverse = 1 / sqrt(squares / (double)width + epsilon);
            *out++ = (real)inverse;
            for (size_t j = first; j < stop; j++) {
                rz[j] = (real)(((double)rz[j] - mean) * inverse);
                ry[j] = scale[j] * rz[j] + shift[j];
            }
        }
}

KERNEL void plain_group_norm_grad(size_t rows, size_t m, size_t groups, const void *dy, size_t lddy,
                                  const void *xhat, size_t ldx, const void *inv, const void *gamma,
                                  void *dgamma, void *dbeta, void *work, void *dz, size_t lddz)
{
    const real *scale = gamma, *inverse = inv;
    (void)work;
    size_t width = m / groups;
    plain_pull_sums(rows, m, dy, lddy, xhat, ldx, dbeta, dgamma);
    for (size_t i = 0; i < rows; i++)
        for (size_t first = 0; first < m; first += width, inverse++) {
            const real *rdy = (const real *)dy + i * lddy, *rx = (const real *)xhat + i * ldx;
            real *rdz = (real *)dz + i * lddz;
            size_t stop = first + width;
            double sum = 0, product = 0;
            for (size_t j = first; j < stop; j++) {
                sum += (double)scale[j] * (double)rdy[j];
                product += (double)scale[j] * (double)rdy[j] * (double)rx[j];
            }
            real mean = (real)(sum / (double)width), mean_x = (real)(product / (double)width);
            for (size_t j = first; j < stop; j++)
                rdz[j] = *inverse * (scale[j] * rdy[j] - mean - rx[j] * mean_x);
        }
}

#ifdef KERNELS_FAST
KERNEL void fast_pull_sums(size_t rows, size_t m, const real *dy, size_t lddy, const real *xhat, size_t ldx,
                           real *sum_dy, real *sum_dyx)
{
    normalize_sums_all(rows, m, dy, lddy, xhat, ldx, NULL, NULL, NULL, 0, sum_dy, sum_dyx);
}

/* ---- one group: along the rows */

KERNEL_INLINE void layer_norm(size_t rows, size_t m, real *z, size_t ldz, real epsilon, const real *gamma,
                              const real *beta, real *inv, real *y, size_t ldy)
{
    size_t whole = m / LANES * LANES, padded = columns_padded(m);
    vec gamma_tail = columns_tail(gamma, m), beta_tail = columns_tail(beta, m);
    vec_mask real_columns = vec_lanes(m - whole);
    for (size_t i = 0; i < rows; i++) {
        real *rz = z + i * ldz, *ry = y + i * ldy;
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
        real inverse = 1 / real_sqrt(vec_sum(squares) / (real)m + epsilon);
        inv[i] = inverse;
        for (size_t j = 0; j < padded; j += LANES) {
            vec xhat = (vec_load(rz + j) - mean) * inverse;
            vec_store(rz + j, xhat);
            vec_store(ry + j, columns_at(gamma, j, m, gamma_tail) * xhat + columns_at(beta, j, m, beta_tail));
        }
    }
}

KERNEL_INLINE void layer_norm_grad(size_t rows, size_t m, const real *dy, size_t lddy, const real *xhat,
                                   size_t ldx, const real *inv, const real *scale, real *dz, size_t lddz)
{
    size_t whole = m / LANES * LANES, padded = columns_padded(m);
    vec gamma_tail = columns_tail(scale, m);
    vec_mask real_columns = vec_lanes(m - whole);
    for (size_t i = 0; i < rows; i++) {
        const real *rdy = dy + i * lddy, *rx = xhat + i * ldx;
        real *rdz = dz + i * lddz;
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
        real inverse = inv[i], mean = vec_sum(sum) / (real)m, mean_x = vec_sum(product) / (real)m;
        for (size_t j = 0; j < padded; j += LANES) {
            vec pull = columns_at(scale, j, m, gamma_tail) * vec_load(rdy + j);
            vec_store(rdz + j, inverse * (pull - mean - vec_load(rx + j) * mean_x));
        }
    }
}
/* ---- several groups: what each group has is spread over its columns, and the row runs through once */

/* Of the next group's columns some are overwritten, which then follow. */
KERNEL_INLINE void spread_over(real *columns, size_t width, real value)
{
    for (size_t j = 0; j < width; j += LANES)
        vec_store(columns + j, vec_all(value));
}

KERNEL_INLINE void *work_array(void *work, size_t m, size_t number)
{
    return (real *)work + number * (kernel_pad(m) + KERNEL_PAD);
}

/* Of a row: mean and 1 / sigma of each group, in inv (groups) and over the columns. */
KERNEL_INLINE void row_moments(size_t m, size_t width, const real *z, real epsilon, real *means,
                               real *inverses, real *inv)
{
    size_t whole = width / LANES * LANES, few = width % LANES;
    for (size_t first = 0; first < m; first += width) {
        vec sum = vec_load_few(z + first + whole, few), squares = {0};
        for (size_t j = first; j < first + whole; j += LANES)
            sum += vec_load(z + j);
        real mean = vec_sum(sum) / (real)width;
        if (few) {
            vec off = vec_first(vec_load_few(z + first + whole, few) - mean, few);
            squares = off * off;
        }
        for (size_t j = first; j < first + whole; j += LANES) {
            vec off = vec_load(z + j) - mean;
            squares += off * off;
        }
        *inv = 1 / real_sqrt(vec_sum(squares) / (real)width + epsilon);
        spread_over(means + first, width, mean);
        spread_over(inverses + first, width, *inv++);
    }
}

/* The same of groups so narrow that several of them fill a vector: the compiler sees to that where it knows how wide they
 * are. */
KERNEL_INLINE void row_moments_narrow(size_t groups, size_t width, const real *restrict z, real epsilon,
                                      real *restrict means, real *restrict inverses, real *restrict inv)
{
    for (size_t group = 0; group < groups; group++) {
        real sum = 0, squares = 0;
        for (size_t k = 0; k < width; k++)
            sum += z[group * width + k];
        real mean = sum / (real)width;
        for (size_t k = 0; k < width; k++)
            squares += (z[group * width + k] - mean) * (z[group * width + k] - mean);
        real inverse = 1 / real_sqrt(squares / (real)width + epsilon);
        inv[group] = inverse;
        for (size_t k = 0; k < width; k++) {
            means[group * width + k] = mean;
            inverses[group * width + k] = inverse;
        }
    }
}

/* Of a row: the means of gamma dy and of gamma dy xhat over each group, and 1 / sigma, over the columns. */
KERNEL_INLINE void row_pulls(size_t m, size_t width, const real *gamma, const real *dy, const real *xhat,
                             const real *inv, real *means, real *means_x, real *inverses)
{
    size_t whole = width / LANES * LANES, few = width % LANES;
    for (size_t first = 0; first < m; first += width) {
        size_t end = first + whole;
        vec sum = vec_load_few(gamma + end, few) * vec_load_few(dy + end, few);
        vec product = sum * vec_load_few(xhat + end, few);
        for (size_t j = first; j < end; j += LANES) {
            vec pull = vec_load(gamma + j) * vec_load(dy + j);
            sum += pull;
            product += pull * vec_load(xhat + j);
        }
        spread_over(means + first, width, vec_sum(sum) / (real)width);
        spread_over(means_x + first, width, vec_sum(product) / (real)width);
        spread_over(inverses + first, width, *inv++);
    }
}

KERNEL_INLINE void row_pulls_narrow(size_t groups, size_t width, const real *restrict gamma,
                                    const real *restrict dy, const real *restrict xhat,
                                    const real *restrict inv, real *restrict means, real *restrict means_x,
                                    real *restrict inverses)
{
    for (size_t group = 0; group < groups; group++) {
        real sum = 0, product = 0;
        for (size_t k = 0; k < width; k++) {
            real pull = gamma[group * width + k] * dy[group * width + k];
            sum += pull;
            product += pull * xhat[group * width + k];
        }
        for (size_t k = 0; k < width; k++) {
            means[group * width + k] = sum / (real)width;
            means_x[group * width + k] = product / (real)width;
            inverses[group * width + k] = inv[group];
        }
    }
}

KERNEL void fast_group_norm(size_t rows, size_t m, size_t groups, void *z, size_t ldz, double epsilon,
                            const void *gamma, const void *beta, void *inv, void *work, void *y, size_t ldy)
{
    size_t width = m / groups;
    vec gamma_tail = columns_tail(gamma, m), beta_tail = columns_tail(beta, m);
    if (groups == 1) {
        layer_norm(rows, m, z, ldz, (real)epsilon, gamma, beta, inv, y, ldy);
        return;
    }
    real *means = work_array(work, m, 0), *inverses = work_array(work, m, 1);
    for (size_t i = 0; i < rows; i++) {
        real *rz = (real *)z + i * ldz, *ry = (real *)y + i * ldy, *out = (real *)inv + i * groups;
        if (width == 4)
            row_moments_narrow(groups, 4, rz, (real)epsilon, means, inverses, out);
        else if (width == 8)
            row_moments_narrow(groups, 8, rz, (real)epsilon, means, inverses, out);
        else
            row_moments(m, width, rz, (real)epsilon, means, inverses, out);
        for (size_t j = 0; j < columns_padded(m); j += LANES) {
            vec xhat = (vec_load(rz + j) - vec_load(means + j)) * vec_load(inverses + j);
            vec_store(rz + j, xhat);
            vec_store(ry + j, columns_at(gamma, j, m, gamma_tail) * xhat + columns_at(beta, j, m, beta_tail));
        }
    }
}

KERNEL void fast_group_norm_grad(size_t rows, size_t m, size_t groups, const void *dy, size_t lddy,
                                 const void *xhat, size_t ldx, const void *inv, const void *gamma,
                                 void *dgamma, void *dbeta, void *work, void *dz, size_t lddz)
{
    size_t width = m / groups;
    vec gamma_tail = columns_tail(gamma, m);
    fast_pull_sums(rows, m, dy, lddy, xhat, ldx, dbeta, dgamma);
    if (groups == 1) {
        layer_norm_grad(rows, m, dy, lddy, xhat, ldx, inv, gamma, dz, lddz);
        return;
    }
    real *means = work_array(work, m, 0), *means_x = work_array(work, m, 1),
         *inverses = work_array(work, m, 2);
    for (size_t i = 0; i < rows; i++) {
        const real *rdy = (const real *)dy + i * lddy, *rx = (const real *)xhat + i * ldx,
                   *inverse = (const real *)inv + i * groups;
        real *rdz = (real *)dz + i * lddz;
        if (width == 4)
            row_pulls_narrow(groups, 4, gamma, rdy, rx, inverse, means, means_x, inverses);
        else if (width == 8)
            row_pulls_narrow(groups, 8, gamma, rdy, rx, inverse, means, means_x, inverses);
        else
            row_pulls(m, width, gamma, rdy, rx, inverse, means, means_x, inverses);
        for (size_t j = 0; j < columns_padded(m); j += LANES) {
            vec pull = columns_at(gamma, j, m, gamma_tail) * vec_load(rdy + j);
            vec off = vec_load(means + j) + vec_load(rx + j) * vec_load(means_x + j);
            vec_store(rdz + j, vec_load(inverses + j) * (pull - off));
        }
    }
}
#endif
