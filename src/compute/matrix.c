/* SPDX-License-Identifier: MIT
 *
 * Matrix products and transposition. Small products run in a register-tiled kernel without packing: the networks of
 * tabular data have n and m of a few tens or hundreds, where a BLAS call costs more than it brings. Large ones go to
 * OpenBLAS. */
#include "compute/real.h"

#include <cblas.h>

/* ---------------------------------------------------------------- plain */

KERNEL void plain_transpose(size_t rows, size_t cols, const void *src, size_t lds, void *dst, size_t ldd)
{
    const real *from = src;
    real *to = dst;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++)
            to[j * ldd + i] = from[i * lds + j];
}

KERNEL void plain_gemm(size_t rows, size_t cols, size_t inner, const void *a, size_t a_row, size_t a_step,
                       const void *b, size_t ldb, void *c, size_t ldc, const void *bias, int accumulate)
{
    const real *left = a, *right = b, *start = bias;
    real *out = c;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++) {
            real sum = accumulate ? out[i * ldc + j] : 0;
            if (start)
                sum += start[j];
            for (size_t p = 0; p < inner; p++)
                sum += left[i * a_row + p * a_step] * right[p * ldb + j];
            out[i * ldc + j] = sum;
        }
}

KERNEL void plain_dots(size_t rows, size_t m, size_t n, const void *x, size_t ldx, const void *w, size_t ldw,
                       const void *bias, void *z, size_t ldz)
{
    const real *in = x, *weight = w, *start = bias;
    real *out = z;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < m; j++) {
            real sum = start ? start[j] : 0;
            for (size_t p = 0; p < n; p++)
                sum += in[i * ldx + p] * weight[j * ldw + p];
            out[i * ldz + j] = sum;
        }
}

/* ---------------------------------------------------------------- fast */

#ifdef KERNELS_FAST

/* 6 x 2 accumulators, two vectors of b and one broadcast of a fill the sixteen registers of AVX2. One or two rows make
 * up for it in width, or they would wait for each product. */
enum { TILE_ROWS = 6, TILE_VECS = 2, WIDE_VECS = 6 };

/* From this many multiplications on, packing pays: measured on 256 rows, square layers. */
static const double blas_from = 1.5e6;

/* mr and nv are constants where this is inlined, so acc stays in registers: it starts from zero, and what c becomes
 * the sum with is added at the end. */
static inline __attribute__((always_inline)) void micro_tile(size_t mr, size_t nv, size_t inner, const real *a,
                                                             size_t a_row, size_t a_step, const real *b, size_t ldb,
                                                             real *c, size_t ldc, const real *bias, int accumulate)
{
    vec acc[TILE_ROWS][WIDE_VECS];
    for (size_t i = 0; i < mr; i++)
        for (size_t v = 0; v < nv; v++)
            acc[i][v] = (vec){0};
    for (size_t p = 0; p < inner; p++) {
        vec right[WIDE_VECS];
        for (size_t v = 0; v < nv; v++)
            right[v] = vec_load(b + p * ldb + v * LANES);
        for (size_t i = 0; i < mr; i++) {
            vec left = vec_all(a[i * a_row + p * a_step]);
            for (size_t v = 0; v < nv; v++)
                acc[i][v] += left * right[v];
        }
    }
    if (bias)
        for (size_t i = 0; i < mr; i++)
            for (size_t v = 0; v < nv; v++)
                acc[i][v] += vec_load(bias + v * LANES);
    if (accumulate)
        for (size_t i = 0; i < mr; i++)
            for (size_t v = 0; v < nv; v++)
                acc[i][v] += vec_load(c + i * ldc + v * LANES);
    for (size_t i = 0; i < mr; i++)
        for (size_t v = 0; v < nv; v++)
            vec_store(c + i * ldc + v * LANES, acc[i][v]);
}

typedef void tile_function(size_t inner, const real *a, size_t a_row, size_t a_step, const real *b, size_t ldb, real *c,
                           size_t ldc, const real *bias, int accumulate);

#define TILE(rows, vecs)                                                                                             \
    static void tile_##rows##x##vecs(size_t inner, const real *a, size_t a_row, size_t a_step, const real *b,        \
                                     size_t ldb, real *c, size_t ldc, const real *bias, int accumulate)              \
    {                                                                                                                \
        micro_tile(rows, vecs, inner, a, a_row, a_step, b, ldb, c, ldc, bias, accumulate);                           \
    }

TILE(1, 1) TILE(1, 2) TILE(1, 6)
TILE(2, 1) TILE(2, 2) TILE(2, 6)
TILE(3, 1) TILE(3, 2)
TILE(4, 1) TILE(4, 2)
TILE(5, 1) TILE(5, 2)
TILE(6, 1) TILE(6, 2)

/* c = a b of one column of a and one row of b: nothing to keep in registers. cols is a multiple of KERNEL_PAD. */
static void outer_product(size_t rows, size_t cols, const real *a, size_t a_row, const real *b, real *c,
                          size_t ldc, int accumulate)
{
    for (size_t i = 0; i < rows; i++) {
        vec left = vec_all(a[i * a_row]);
        real *out = c + i * ldc;
        for (size_t j = 0; j < cols; j += LANES) {
            vec product = left * vec_load(b + j);
            vec_store(out + j, accumulate ? vec_load(out + j) + product : product);
        }
    }
}

/* Rows are dealt evenly over the tiles: 13 rows are 5+4+4, not 6+6+1. */
static void micro_gemm(size_t rows, size_t cols, size_t inner, const real *a, size_t a_row, size_t a_step,
                       const real *b, size_t ldb, real *c, size_t ldc, const real *bias, int accumulate)
{
    static tile_function *const one[] = {tile_1x1, tile_2x1, tile_3x1, tile_4x1, tile_5x1, tile_6x1};
    static tile_function *const two[] = {tile_1x2, tile_2x2, tile_3x2, tile_4x2, tile_5x2, tile_6x2};
    static tile_function *const wide[] = {tile_1x6, tile_2x6};
    size_t tiles = (rows + TILE_ROWS - 1) / TILE_ROWS, base = rows / tiles, longer = rows % tiles;
    size_t padded = kernel_pad(cols), step;
    for (size_t j = 0; j < cols; j += step) {
        size_t vecs = (padded - j) / LANES, i = 0;
        tile_function *const *by_rows = vecs >= WIDE_VECS && rows <= 2 ? wide : vecs >= TILE_VECS ? two : one;
        step = (by_rows == wide ? WIDE_VECS : by_rows == two ? TILE_VECS : 1) * LANES;
        for (size_t t = 0; t < tiles; t++) {
            size_t count = base + (t < longer);
            by_rows[count - 1](inner, a + i * a_row, a_row, a_step, b + j, ldb, c + i * ldc + j, ldc,
                               bias ? bias + j : NULL, accumulate);
            i += count;
        }
    }
}

static void blas_gemm(size_t rows, size_t cols, size_t inner, const real *a, size_t a_row, size_t a_step,
                      const real *b, size_t ldb, real *c, size_t ldc, const real *bias, int accumulate)
{
    if (bias)
        for (size_t i = 0; i < rows; i++) {
            if (accumulate)
                for (size_t j = 0; j < cols; j++)
                    c[i * ldc + j] += bias[j];
            else
                memcpy(c + i * ldc, bias, cols * sizeof(real));
        }
    real keep = accumulate || bias ? 1 : 0;
    CBLAS_TRANSPOSE form = a_step == 1 ? CblasNoTrans : CblasTrans;
    size_t lda = a_step == 1 ? a_row : a_step;
#if REAL_BITS == 64
    cblas_dgemm(CblasRowMajor, form, CblasNoTrans, (int)rows, (int)cols, (int)inner, 1, a, (int)lda, b, (int)ldb, keep,
                c, (int)ldc);
#else
    cblas_sgemm(CblasRowMajor, form, CblasNoTrans, (int)rows, (int)cols, (int)inner, 1, a, (int)lda, b, (int)ldb, keep,
                c, (int)ldc);
#endif
}

KERNEL void fast_gemm(size_t rows, size_t cols, size_t inner, const void *a, size_t a_row, size_t a_step,
                      const void *b, size_t ldb, void *c, size_t ldc, const void *bias, int accumulate)
{
    if ((double)rows * (double)cols * (double)inner >= blas_from && (a_step == 1 || a_row == 1))
        blas_gemm(rows, cols, inner, a, a_row, a_step, b, ldb, c, ldc, bias, accumulate);
    else if (inner == 1 && !bias)
        outer_product(rows, kernel_pad(cols), a, a_row, b, c, ldc, accumulate);
    else
        micro_gemm(rows, cols, inner, a, a_row, a_step, b, ldb, c, ldc, bias, accumulate);
}

enum { DOT_ROWS = 4 };

/* The last, partly filled vector of a row is read whole (rows are padded) and its padding silenced. */
static inline __attribute__((always_inline)) void dot_rows(size_t count, size_t n, const real *x, size_t ldx,
                                                           const real *w, real start, real *z, size_t ldz)
{
    size_t whole = n / LANES * LANES;
    vec acc[DOT_ROWS] = {{0}};
    for (size_t p = 0; p < whole; p += LANES) {
        vec weight = vec_load(w + p);
        for (size_t i = 0; i < count; i++)
            acc[i] += vec_load(x + i * ldx + p) * weight;
    }
    if (whole < n) {
        vec weight = vec_load_part(w + whole, n - whole);
        for (size_t i = 0; i < count; i++)
            acc[i] += vec_first(vec_load(x + i * ldx + whole), n - whole) * weight;
    }
    for (size_t i = 0; i < count; i++)
        z[i * ldz] = start + vec_sum(acc[i]);
}

KERNEL void fast_dots(size_t rows, size_t m, size_t n, const void *x, size_t ldx, const void *w, size_t ldw,
                      const void *bias, void *z, size_t ldz)
{
    const real *in = x, *weight = w, *start = bias;
    real *out = z;
    for (size_t j = 0; j < m; j++) {
        real first = start ? start[j] : 0;
        size_t i = 0;
        for (; i + DOT_ROWS <= rows; i += DOT_ROWS)
            dot_rows(DOT_ROWS, n, in + i * ldx, ldx, weight + j * ldw, first, out + i * ldz + j, ldz);
        for (; i < rows; i++)
            dot_rows(1, n, in + i * ldx, ldx, weight + j * ldw, first, out + i * ldz + j, ldz);
    }
}

/* In squares that fit a few cache lines each way. */
KERNEL void fast_transpose(size_t rows, size_t cols, const void *src, size_t lds, void *dst, size_t ldd)
{
    enum { SIDE = 16 };
    const real *from = src;
    real *to = dst;
    for (size_t i = 0; i < rows; i += SIDE)
        for (size_t j = 0; j < cols; j += SIDE) {
            size_t height = rows - i < SIDE ? rows - i : SIDE, width = cols - j < SIDE ? cols - j : SIDE;
            plain_transpose(height, width, from + i * lds + j, lds, to + j * ldd + i, ldd);
        }
}

#endif
