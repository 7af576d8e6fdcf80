/* SPDX-License-Identifier: MIT
 *
 * Reductions down the columns of a matrix and per-column combinations. */
#include "compute/real.h"
#include "compute/simd.h"

KERNEL void plain_column_dots(size_t n, size_t m, const void *a, size_t lda, const void *b, size_t ldb,
                              void *out)
{
    const real *ra = a, *rb = b;
    real *dots = out;
    for (size_t j = 0; j < m; j++) {
        double dot = 0;
        for (size_t i = 0; i < n; i++)
            dot += (double)ra[i * lda + j] * (double)rb[i * ldb + j];
        dots[j] = (real)dot;
    }
}

KERNEL void plain_column_combine(size_t n, size_t m, const void *alpha, const void *a, size_t lda,
                                 const void *beta, const void *b, size_t ldb, void *y, size_t ldy)
{
    const real *ca = alpha, *ra = a, *cb = beta, *rb = b;
    real *ry = y;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++) {
            real value = (ca ? ca[j] : 1) * ra[i * lda + j];
            ry[i * ldy + j] = rb ? value + cb[j] * rb[i * ldb + j] : value;
        }
}

KERNEL void plain_column_sums(size_t rows, size_t m, const void *x, size_t ldx, void *sum)
{
    const real *rx = x;
    real *sums = sum;
    for (size_t j = 0; j < m; j++) {
        double column = 0;
        for (size_t i = 0; i < rows; i++)
            column += (double)rx[i * ldx + j];
        sums[j] += (real)column;
    }
}

#ifdef KERNELS_FAST
/* A matrix of a few vectors side by side - a block of an image's channels - is usually tall. Sums then run
 * over several rows at once, each with its own accumulators, and maps keep the numbers of a column in
 * registers all the way down. */
enum { NARROW_VECS = 4, NARROW_ROWS = 256 };

KERNEL_INLINE int columns_narrow(size_t m)
{
    return m <= NARROW_VECS * LANES;
}
/* Rows that a stripe of accumulators runs down. */
KERNEL_INLINE size_t sum_pass(size_t m)
{
    return columns_narrow(m) ? NARROW_ROWS : PASS_ROWS;
}
/* sums (count, vecs): into the first vecs of them, in a fixed order. */
KERNEL_INLINE void sums_fold(vec *sums, int vecs, int count)
{
    for (int half = count / 2; half; half /= 2)
        for (int v = 0; v < half * vecs; v++)
            sums[v] += sums[v + half * vecs];
}

/* dots[j..] += the products of `vecs` vectors of columns. Raw parameters are not padded: a whole vector can
 * be read from all rows but the last few, where it would pass the end of the matrix; `whole` counts the safe
 * ones. */
KERNEL_INLINE void dots_stripe(size_t n, const real *a, size_t lda, size_t whole, const real *b, size_t ldb,
                               size_t width, real *dots, int vecs)
{
    vec sums[4] = {{0}};
    size_t i = 0;
    for (; i < whole; i++)
        for (int v = 0; v < vecs; v++)
            sums[v] += vec_load(a + i * lda + v * LANES) * vec_load(b + i * ldb + v * LANES);
    for (; i < n; i++)
        sums[0] += vec_load_few(a + i * lda, width) * vec_load_few(b + i * ldb, width);
    for (int v = 0; v < vecs; v++)
        columns_add(dots, (size_t)v * LANES, width, sums[v]);
}

/* Of the rows of a matrix with `left` columns from here on, those where LANES numbers can be read before its
 * end. */
KERNEL_INLINE size_t whole_rows(size_t rows, size_t left, size_t ld)
{
    size_t end = (rows - 1) * ld + left;
    return end < LANES ? 0 : (end - LANES) / ld + 1;
}

KERNEL void fast_column_dots(size_t n, size_t m, const void *a, size_t lda, const void *b, size_t ldb,
                             void *out)
{
    real *dots = out;
    memset(dots, 0, m * sizeof *dots);
    for (size_t top = 0; top < n; top += PASS_ROWS) {
        size_t rows = smaller(n - top, PASS_ROWS);
        const real *ra = (const real *)a + top * lda, *rb = (const real *)b + top * ldb;
        for (size_t j = 0; j < m;) {
            size_t left = m - j;
            if (left >= 4 * LANES) {
                dots_stripe(rows, ra + j, lda, rows, rb + j, ldb, 4 * LANES, dots + j, 4);
                j += 4 * LANES;
                continue;
            }
            size_t safe = rows;
            if (left < LANES)
                safe = smaller(smaller(rows, whole_rows(rows, left, lda)), whole_rows(rows, left, ldb));
            dots_stripe(rows, ra + j, lda, safe, rb + j, ldb, smaller(left, LANES), dots + j, 1);
            j += LANES;
        }
    }
}

KERNEL_INLINE void combine_stripe(size_t n, const real *alpha, const real *a, size_t lda, const real *beta,
                                  const real *b, size_t ldb, real *y, size_t ldy, int vecs)
{
    vec by_a[4] = {{0}}, by_b[4] = {{0}};
    for (int v = 0; v < vecs; v++) {
        if (alpha)
            by_a[v] = vec_load(alpha + v * LANES);
        if (b)
            by_b[v] = vec_load(beta + v * LANES);
    }
#pragma GCC unroll 4
    for (size_t i = 0; i < n; i++)
        for (int v = 0; v < vecs; v++) {
            vec value = vec_load(a + i * lda + v * LANES);
            if (alpha)
                value *= by_a[v];
            if (b)
                value += by_b[v] * vec_load(b + i * ldb + v * LANES);
            vec_store(y + i * ldy + v * LANES, value);
        }
}

KERNEL_INLINE void combine_narrow(size_t n, size_t m, const real *alpha, const real *a, size_t lda,
                                  const real *beta, const real *b, size_t ldb, real *y, size_t ldy)
{
    for (size_t j = 0; j < m;) {
        const real *ca = alpha ? alpha + j : NULL, *cb = b ? beta + j : NULL, *rb = b ? b + j : NULL;
        int vecs = columns_at_once(j, m);
        if (vecs == 4)
            combine_stripe(n, ca, a + j, lda, cb, rb, ldb, y + j, ldy, 4);
        else if (vecs == 2)
            combine_stripe(n, ca, a + j, lda, cb, rb, ldb, y + j, ldy, 2);
        else
            combine_stripe(n, ca, a + j, lda, cb, rb, ldb, y + j, ldy, 1);
        j += (size_t)vecs * LANES;
    }
}

KERNEL_INLINE void combine(size_t n, size_t m, const real *alpha, const real *a, size_t lda, const real *beta,
                           const real *b, size_t ldb, real *y, size_t ldy)
{
    size_t whole = m / LANES * LANES, rest = m - whole;
    vec alpha_tail = alpha ? columns_tail(alpha, m) : vec_all(1),
        beta_tail = b ? columns_tail(beta, m) : vec_all(0);
    if (columns_narrow(m) && !rest) {
        combine_narrow(n, m, alpha, a, lda, beta, b, ldb, y, ldy);
        return;
    }
    for (size_t i = 0; i < n; i++, a += lda, y += ldy) {
        for (size_t j = 0; j < whole; j += LANES) {
            vec value = vec_load(a + j);
            if (alpha)
                value *= vec_load(alpha + j);
            if (b)
                value += vec_load(beta + j) * vec_load(b + i * ldb + j);
            vec_store(y + j, value);
        }
        if (rest) {
            vec value = alpha_tail * vec_load_few(a + whole, rest);
            if (b)
                value += beta_tail * vec_load_few(b + i * ldb + whole, rest);
            vec_store_few(y + whole, value, rest);
        }
    }
}

/* One column: loads and stores of a few lanes would take longer than the numbers. */
KERNEL_INLINE void combine_single(size_t n, const real *alpha, const real *a, size_t lda, const real *beta,
                                  const real *b, size_t ldb, real *y, size_t ldy)
{
    for (size_t i = 0; i < n; i++) {
        real value = alpha ? *alpha * a[i * lda] : a[i * lda];
        y[i * ldy] = b ? value + *beta * b[i * ldb] : value;
    }
}

KERNEL void fast_column_combine(size_t n, size_t m, const void *alpha, const void *a, size_t lda,
                                const void *beta, const void *b, size_t ldb, void *y, size_t ldy)
{
    if (m == 1)
        combine_single(n, alpha, a, lda, beta, b, ldb, y, ldy);
    else if (alpha && b)
        combine(n, m, alpha, a, lda, beta, b, ldb, y, ldy);
    else if (alpha)
        combine(n, m, alpha, a, lda, NULL, NULL, 0, y, ldy);
    else if (b)
        combine(n, m, NULL, a, lda, beta, b, ldb, y, ldy);
    else
        combine(n, m, NULL, a, lda, NULL, NULL, 0, y, ldy);
}

KERNEL_INLINE void sums_stripe(size_t rows, size_t width, const real *x, size_t ldx, real *sum, int vecs)
{
    int ways = vecs == 4 ? 1 : 8 / vecs;
    vec sums[8] = {{0}};
    for (; rows >= (size_t)ways; rows -= (size_t)ways)
        for (int way = 0; way < ways; way++, x += ldx)
            for (int v = 0; v < vecs; v++)
                sums[way * vecs + v] += vec_load(x + v * LANES);
    for (; rows; rows--, x += ldx)
        for (int v = 0; v < vecs; v++)
            sums[v] += vec_load(x + v * LANES);
    sums_fold(sums, vecs, ways);
    for (int v = 0; v < vecs; v++)
        columns_add(sum, (size_t)v * LANES, width, sums[v]);
}

KERNEL void fast_column_sums(size_t rows, size_t m, const void *x, size_t ldx, void *sum)
{
    size_t pass = sum_pass(m);
    for (size_t top = 0; top < rows; top += pass) {
        size_t tile = smaller(rows - top, pass);
        const real *from = (const real *)x + top * ldx;
        for (size_t j = 0; j < m;) {
            real *to = (real *)sum + j;
            int vecs = columns_at_once(j, m);
            if (vecs == 4)
                sums_stripe(tile, m - j, from + j, ldx, to, 4);
            else if (vecs == 2)
                sums_stripe(tile, m - j, from + j, ldx, to, 2);
            else
                sums_stripe(tile, m - j, from + j, ldx, to, 1);
            j += (size_t)vecs * LANES;
        }
    }
}
#endif
