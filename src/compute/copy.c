/* SPDX-License-Identifier: MIT
 *
 * Copies between f64 and the table's dtype, sums of matrices, squares, finiteness. */
#include "compute/real.h"
#include "compute/simd.h"

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

KERNEL void plain_sum(size_t rows, size_t m, const void *a, size_t lda, const void *b, size_t ldb, int relu,
                      void *y, size_t ldy)
{
    const real *ra = a, *rb = b;
    real *ry = y;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < m; j++) {
            real value = ra[i * lda + j] + rb[i * ldb + j];
            ry[i * ldy + j] = relu && value < 0 ? 0 : value;
        }
}

KERNEL void plain_sum_grad(size_t rows, size_t m, const void *y, size_t ldy, const void *dy, size_t lddy,
                           void *da, size_t ldda, int add_a, void *db, size_t lddb, int add_b)
{
    const real *ry = y, *rdy = dy;
    real *rda = da, *rdb = db;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < m; j++) {
            real pull = !y || ry[i * ldy + j] > 0 ? rdy[i * lddy + j] : 0;
            if (da)
                rda[i * ldda + j] = add_a ? rda[i * ldda + j] + pull : pull;
            if (db)
                rdb[i * lddb + j] = add_b ? rdb[i * lddb + j] + pull : pull;
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
/* Exactly m numbers of a row: it also adds up gradients, which are not padded. */
KERNEL void fast_add(size_t rows, size_t m, const void *a, size_t lda, void *y, size_t ldy)
{
    if (lda == m && ldy == m) { /* one long row */
        m *= rows;
        rows = rows > 0;
    }
    for (size_t i = 0; i < rows; i++) {
        const real *from = (const real *)a + i * lda;
        real *to = (real *)y + i * ldy;
        size_t j = 0;
        for (; j + 4 * LANES <= m; j += 4 * LANES)
            for (size_t v = 0; v < 4 * LANES; v += LANES)
                vec_store(to + j + v, vec_load(to + j + v) + vec_load(from + j + v));
        for (; j + LANES <= m; j += LANES)
            vec_store(to + j, vec_load(to + j) + vec_load(from + j));
        if (j < m)
            vec_store_few(to + j, vec_load_few(to + j, m - j) + vec_load_few(from + j, m - j), m - j);
    }
}

KERNEL_INLINE void sum_at(const real *a, const real *b, int relu, real *y, int vecs)
{
    for (int v = 0; v < vecs; v++) {
        vec value = vec_load(a + v * LANES) + vec_load(b + v * LANES);
        vec_store(y + v * LANES, relu ? vec_drop((vec_mask)(value < 0), value) : value);
    }
}

KERNEL_INLINE void sum_rows(size_t rows, size_t m, const real *a, size_t lda, const real *b, size_t ldb,
                            int relu, real *y, size_t ldy)
{
    size_t padded = columns_padded(m);
    if (lda == padded && ldb == padded && ldy == padded) { /* one long row */
        padded *= rows;
        rows = rows > 0;
    }
    for (size_t i = 0; i < rows; i++, a += lda, b += ldb, y += ldy) {
        size_t j = 0;
        for (; j + 4 * LANES <= padded; j += 4 * LANES)
            sum_at(a + j, b + j, relu, y + j, 4);
        for (; j < padded; j += LANES)
            sum_at(a + j, b + j, relu, y + j, 1);
    }
}

KERNEL void fast_sum(size_t rows, size_t m, const void *a, size_t lda, const void *b, size_t ldb, int relu,
                     void *y, size_t ldy)
{
    if (relu)
        sum_rows(rows, m, a, lda, b, ldb, 1, y, ldy);
    else
        sum_rows(rows, m, a, lda, b, ldb, 0, y, ldy);
}

/* All of dy is read before anything is written, for da may be dy. */
KERNEL_INLINE void pull_at(const real *y, const real *dy, real *da, int add_a, real *db, int add_b, int vecs)
{
    vec pull[4];
    for (int v = 0; v < vecs; v++) {
        pull[v] = vec_load(dy + v * LANES);
        if (y)
            pull[v] = vec_keep((vec_mask)(vec_load(y + v * LANES) > 0), pull[v]);
    }
    if (da)
        for (int v = 0; v < vecs; v++)
            vec_store(da + v * LANES, add_a ? vec_load(da + v * LANES) + pull[v] : pull[v]);
    if (db)
        for (int v = 0; v < vecs; v++)
            vec_store(db + v * LANES, add_b ? vec_load(db + v * LANES) + pull[v] : pull[v]);
}

KERNEL void fast_sum_grad(size_t rows, size_t m, const void *y, size_t ldy, const void *dy, size_t lddy,
                          void *da, size_t ldda, int add_a, void *db, size_t lddb, int add_b)
{
    size_t padded = columns_padded(m);
    if ((!y || ldy == padded) && lddy == padded && (!da || ldda == padded) && (!db || lddb == padded)) {
        padded *= rows; /* one long row */
        rows = rows > 0;
    }
    for (size_t i = 0; i < rows; i++) {
        const real *ry = y ? (const real *)y + i * ldy : NULL, *rdy = (const real *)dy + i * lddy;
        real *rda = da ? (real *)da + i * ldda : NULL, *rdb = db ? (real *)db + i * lddb : NULL;
        size_t j = 0;
        for (; j + 4 * LANES <= padded; j += 4 * LANES)
            pull_at(ry ? ry + j : NULL, rdy + j, rda ? rda + j : NULL, add_a, rdb ? rdb + j : NULL, add_b, 4);
        for (; j < padded; j += LANES)
            pull_at(ry ? ry + j : NULL, rdy + j, rda ? rda + j : NULL, add_a, rdb ? rdb + j : NULL, add_b, 1);
    }
}

KERNEL int fast_all_finite(size_t count, const void *x)
{
    const real *numbers = x;
    if (!count)
        return 1;
    vec_mask good[4], all = vec_lanes(LANES);
    for (int v = 0; v < 4; v++)
        good[v] = all;
    size_t i = 0;
    for (; i + 4 * LANES <= count; i += 4 * LANES)
        for (int v = 0; v < 4; v++) {
            vec number = vec_load(numbers + i + v * LANES);
            good[v] &= (vec_mask)(number - number == 0);
        }
    all = good[0] & good[1] & good[2] & good[3];
    int bad = 0;
    for (int lane = 0; lane < LANES; lane++)
        bad |= !all[lane];
    return !bad && plain_all_finite(count - i, numbers + i);
}

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
