/* SPDX-License-Identifier: MIT
 *
 * Copies between f64 and the table's dtype, sums, squares. The compiler vectorises the plain loops by itself;
 * only the sum of squares needs several accumulators to be fast. */
#include "compute/real.h"

KERNEL void plain_to_double(size_t count, const void *src, double *dst)
{
    const real *restrict from = src;
    double *restrict to = dst;
    for (size_t i = 0; i < count; i++)
        to[i] = (double)from[i];
}

KERNEL void plain_from_double(size_t count, const double *src, void *dst)
{
    const double *restrict from = src;
    real *restrict to = dst;
    for (size_t i = 0; i < count; i++)
        to[i] = (real)from[i];
}

KERNEL void plain_add(size_t rows, size_t m, const void *a, size_t lda, void *y, size_t ldy)
{
    for (size_t i = 0; i < rows; i++) {
        const real *restrict from = (const real *)a + i * lda;
        real *restrict to = (real *)y + i * ldy;
        for (size_t j = 0; j < m; j++)
            to[j] += from[j];
    }
}

KERNEL int plain_all_finite(size_t count, const void *x)
{
    const real *numbers = x;
    int bad = 0;
    for (size_t i = 0; i < count; i++)
        bad |= !(numbers[i] - numbers[i] == 0); /* inf - inf and nan - nan are nan */
    return !bad;
}

KERNEL double plain_sum_squares(size_t count, const void *x)
{
    const real *numbers = x;
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)numbers[i] * (double)numbers[i];
    return sum;
}

#ifdef KERNELS_FAST
KERNEL double fast_sum_squares(size_t count, const void *x)
{
    enum { WAYS = 16 };
    const real *restrict numbers = x;
    double sums[WAYS] = {0}, sum = 0;
    size_t i = 0;
    for (; i + WAYS <= count; i += WAYS)
        for (size_t way = 0; way < WAYS; way++)
            sums[way] += (double)numbers[i + way] * (double)numbers[i + way];
    for (size_t way = 0; way < WAYS; way++)
        sum += sums[way];
    for (; i < count; i++)
        sum += (double)numbers[i] * (double)numbers[i];
    return sum;
}
#endif
