/* SPDX-License-Identifier: MIT
 *
 * Matrix products and transposition. Small products run in a register-tiled kernel without packing: the
 * networks of tabular data have n and m of a few tens or hundreds, where a BLAS call costs more than it
 * brings. Large ones go to OpenBLAS or, where it is not to be had, to the same tiles chunk by chunk. */
#include "compute/real.h"

#ifdef KERNELS_FAST
#include "compute/simd.h"
#include "compute/blas.h"
#endif

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
                       const void *b, size_t ldb, void *c, size_t ldc, const void *bias, int how)
{
    const real *left = a, *right = b, *start = bias;
    real *out = c;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++) {
            real sum = how & GEMM_ADD ? out[i * ldc + j] : 0;
            if (start)
                sum += start[j];
            for (size_t p = 0; p < inner; p++)
                sum += left[i * a_row + p * a_step] * right[p * ldb + j];
            out[i * ldc + j] = how & GEMM_RELU && sum < 0 ? 0 : sum;
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

/* 6 x 2 accumulators, two vectors of b and one broadcast of a fill the sixteen registers of AVX2; 4 x 3 is as
 * good and saves a lonely last vector. One or two rows make up for it in width, or they would wait for each
 * product. */
enum { TILE_ROWS = 6, WIDE_VECS = 6 };

/* From this many multiplications on, packing pays: measured on 256 rows, square layers. */
static const double large_from = 1.5e6;

/* c = a b + ... as a product of small tiles. */
struct gemm {
    size_t inner;
    const real *a;
    size_t a_row, a_step;
    const real *b;
    size_t ldb;
    real *c;
    size_t ldc;
    const real *bias; /* or NULL */
    int how;
};

/* `tiles` tiles of mr rows from row i on, nv vectors from column j on. mr and nv are constants where this is
 * inlined, so acc stays in registers: it starts from zero, and what c is the sum with is added at the end. */
static inline __attribute__((always_inline)) void micro_tiles(size_t mr, size_t nv, const struct gemm *g,
                                                              size_t i, size_t j, size_t tiles)
{
    size_t inner = g->inner, a_row = g->a_row, a_step = g->a_step, ldb = g->ldb, ldc = g->ldc;
    const real *a = g->a + i * a_row, *bias = g->bias ? g->bias + j : NULL;
    real *c = g->c + i * ldc + j;
    for (size_t t = 0; t < tiles; t++, a += mr * a_row, c += mr * ldc) {
        const real *left = a, *right = g->b + j;
        vec acc[TILE_ROWS][WIDE_VECS];
        for (size_t r = 0; r < mr; r++)
            for (size_t v = 0; v < nv; v++)
                acc[r][v] = (vec){0};
#pragma GCC unroll 2
        for (size_t p = 0; p < inner; p++, left += a_step, right += ldb) {
            vec line[WIDE_VECS];
            for (size_t v = 0; v < nv; v++)
                line[v] = vec_load(right + v * LANES);
            for (size_t r = 0; r < mr; r++) {
                vec factor = vec_all(left[r * a_row]);
                for (size_t v = 0; v < nv; v++)
                    acc[r][v] += factor * line[v];
            }
        }
        if (bias)
            for (size_t r = 0; r < mr; r++)
                for (size_t v = 0; v < nv; v++)
                    acc[r][v] += vec_load(bias + v * LANES);
        if (g->how & GEMM_ADD)
            for (size_t r = 0; r < mr; r++)
                for (size_t v = 0; v < nv; v++)
                    acc[r][v] += vec_load(c + r * ldc + v * LANES);
        if (g->how & GEMM_RELU)
            for (size_t r = 0; r < mr; r++)
                for (size_t v = 0; v < nv; v++)
                    acc[r][v] = vec_drop((vec_mask)(acc[r][v] < 0), acc[r][v]);
        for (size_t r = 0; r < mr; r++)
            for (size_t v = 0; v < nv; v++)
                vec_store(c + r * ldc + v * LANES, acc[r][v]);
    }
}

typedef void tile_function(const struct gemm *g, size_t i, size_t j, size_t tiles);

/* The declaration at the end takes the semicolon. */
#define TILE(rows, vecs)                                                                                     \
    static void tile_##rows##x##vecs(const struct gemm *g, size_t i, size_t j, size_t tiles)                 \
    {                                                                                                        \
        micro_tiles(rows, vecs, g, i, j, tiles);                                                             \
    }                                                                                                        \
    struct gemm

TILE(1, 1);
TILE(1, 2);
TILE(1, 3);
TILE(1, 6);
TILE(2, 1);
TILE(2, 2);
TILE(2, 3);
TILE(2, 6);
TILE(3, 1);
TILE(3, 2);
TILE(3, 3);
TILE(4, 1);
TILE(4, 2);
TILE(4, 3);
TILE(5, 1);
TILE(5, 2);
TILE(6, 1);
TILE(6, 2);

/* Tiles of one width, by height. */
struct tile_family {
    size_t vecs, rows; /* width in vectors, most rows */
    tile_function *by_rows[TILE_ROWS];
};

static const struct tile_family families[] = {
    {1, 6, {tile_1x1, tile_2x1, tile_3x1, tile_4x1, tile_5x1, tile_6x1}},
    {2, 6, {tile_1x2, tile_2x2, tile_3x2, tile_4x2, tile_5x2, tile_6x2}},
    {3, 4, {tile_1x3, tile_2x3, tile_3x3, tile_4x3}},
    {6, 2, {tile_1x6, tile_2x6}},
};

static const struct tile_family *choose_family(size_t rows, size_t vecs)
{
    if (rows <= 2 && vecs >= 6)
        return &families[3];
    return &families[vecs == 3 ? 2 : vecs >= 2];
}

/* Rows are dealt evenly over the tiles: 13 rows are 5+4+4, not 6+6+1. */
static void micro_gemm(const struct gemm *g, size_t rows, size_t cols)
{
    size_t vecs = columns_padded(cols) / LANES;
    for (size_t v = 0; v < vecs;) {
        const struct tile_family *family = choose_family(rows, vecs - v);
        size_t tiles = (rows + family->rows - 1) / family->rows, height = rows / tiles, taller = rows % tiles;
        if (taller)
            family->by_rows[height](g, 0, v * LANES, taller);
        family->by_rows[height - 1](g, taller * (height + 1), v * LANES, tiles - taller);
        v += family->vecs;
    }
}

/* c = a b of one column of a and one row of b: nothing to keep in registers. */
static void outer_product(const struct gemm *g, size_t rows, size_t cols)
{
    size_t padded = columns_padded(cols);
    for (size_t i = 0; i < rows; i++) {
        vec factor = vec_all(g->a[i * g->a_row]);
        real *out = g->c + i * g->ldc;
        if (g->how & GEMM_ADD)
            for (size_t j = 0; j < padded; j += LANES)
                vec_store(out + j, vec_load(out + j) + factor * vec_load(g->b + j));
        else
            for (size_t j = 0; j < padded; j += LANES)
                vec_store(out + j, factor * vec_load(g->b + j));
    }
}

#ifdef SPH_BLAS

static void blas_gemm(const struct blas *blas, const struct gemm *g, size_t rows, size_t cols)
{
    real *c = g->c;
    if (g->bias)
        for (size_t i = 0; i < rows; i++, c += g->ldc) {
            if (g->how & GEMM_ADD)
                for (size_t j = 0; j < cols; j++)
                    c[j] += g->bias[j];
            else
                memcpy(c, g->bias, cols * sizeof(real));
        }
    real keep = g->how & GEMM_ADD || g->bias ? 1 : 0;
    CBLAS_TRANSPOSE form = g->a_step == 1 ? CblasNoTrans : CblasTrans;
    int lda = (int)(g->a_step == 1 ? g->a_row : g->a_step);
#if REAL_BITS == 64
    blas->dgemm(CblasRowMajor, form, CblasNoTrans, (int)rows, (int)cols, (int)g->inner, 1, g->a, lda, g->b,
                (int)g->ldb, keep, g->c, (int)g->ldc);
#else
    blas->sgemm(CblasRowMajor, form, CblasNoTrans, (int)rows, (int)cols, (int)g->inner, 1, g->a, lda, g->b,
                (int)g->ldb, keep, g->c, (int)g->ldc);
#endif
    c = g->c;
    if (g->how & GEMM_RELU)
        for (size_t i = 0; i < rows; i++, c += g->ldc)
            for (size_t j = 0; j < cols; j++)
                c[j] = c[j] < 0 ? 0 : c[j];
}

#endif

/* Chunks of b are copied side by side, so that their rows share no places in the cache, and stay in L1 while
 * a chunk of a's rows, which stays in L2, passes by. */
enum { CHUNK_INNER = 128, CHUNK_COLS = 8 * LANES, CHUNK_ROWS = 240 };

static void chunk_gemm(const struct gemm *g, size_t rows, size_t cols)
{
    real packed[CHUNK_INNER * CHUNK_COLS];
    for (size_t p = 0; p < g->inner; p += CHUNK_INNER) {
        int first = p == 0, last = p + CHUNK_INNER >= g->inner;
        for (size_t j = 0; j < cols; j += CHUNK_COLS) {
            size_t depth = smaller(g->inner - p, CHUNK_INNER), width = smaller(cols - j, CHUNK_COLS);
            for (size_t q = 0; q < depth; q++)
                memcpy(packed + q * CHUNK_COLS, g->b + (p + q) * g->ldb + j,
                       columns_padded(width) * sizeof(real));
            for (size_t i = 0; i < rows; i += CHUNK_ROWS) {
                struct gemm chunk = *g;
                chunk.inner = depth;
                chunk.a = g->a + i * g->a_row + p * g->a_step;
                chunk.b = packed;
                chunk.ldb = CHUNK_COLS;
                chunk.c = g->c + i * g->ldc + j;
                chunk.bias = first && g->bias ? g->bias + j : NULL;
                chunk.how = (first ? g->how & GEMM_ADD : GEMM_ADD) | (last ? g->how & GEMM_RELU : 0);
                micro_gemm(&chunk, smaller(rows - i, CHUNK_ROWS), width);
            }
        }
    }
}

/* OpenBLAS takes matrices whose rows or columns lie side by side, and leaves others to the tiles. */
static int large_gemm(const struct gemm *g, size_t rows, size_t cols)
{
#ifdef SPH_BLAS
    const struct blas *blas = blas_get();
    if (blas && g->a_step != 1 && g->a_row != 1)
        return 0;
    if (blas) {
        blas_gemm(blas, g, rows, cols);
        return 1;
    }
#endif
    chunk_gemm(g, rows, cols);
    return 1;
}

KERNEL void fast_gemm(size_t rows, size_t cols, size_t inner, const void *a, size_t a_row, size_t a_step,
                      const void *b, size_t ldb, void *c, size_t ldc, const void *bias, int how)
{
    struct gemm g = {inner, a, a_row, a_step, b, ldb, c, ldc, bias, how};
    if ((double)rows * (double)cols * (double)inner >= large_from && large_gemm(&g, rows, cols))
        return;
    if (inner == 1 && !bias && !(how & GEMM_RELU))
        outer_product(&g, rows, cols);
    else
        micro_gemm(&g, rows, cols);
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
        vec weight = vec_load_few(w + whole, n - whole);
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

/* Four numbers of a row, wherever they lie. */
typedef real quad __attribute__((vector_size(4 * sizeof(real)), aligned(sizeof(real)), may_alias));

KERNEL_INLINE void transpose_quads(const real *from, size_t lds, real *to, size_t ldd)
{
    quad a = *(const quad *)from, b = *(const quad *)(from + lds);
    quad c = *(const quad *)(from + 2 * lds), d = *(const quad *)(from + 3 * lds);
    quad ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), ab_end = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    quad cd = __builtin_shufflevector(c, d, 0, 4, 1, 5), cd_end = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    *(quad *)to = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
    *(quad *)(to + ldd) = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
    *(quad *)(to + 2 * ldd) = __builtin_shufflevector(ab_end, cd_end, 0, 1, 4, 5);
    *(quad *)(to + 3 * ldd) = __builtin_shufflevector(ab_end, cd_end, 2, 3, 6, 7);
}

#if REAL_BITS == 32 && VEC_BYTES >= 32
enum { TURNED = 8 };
typedef real eight __attribute__((vector_size(8 * sizeof(real)), aligned(sizeof(real)), may_alias));

/* Row y beside row y + 4, four numbers of each, so that the quads' exchanges do for both halves at once. */
KERNEL_INLINE void transpose_square(const real *from, size_t lds, real *to, size_t ldd)
{
    for (size_t x = 0; x < 8; x += 4) {
        eight row[4];
        for (size_t y = 0; y < 4; y++)
            row[y] =
                __builtin_shufflevector(*(const quad *)(from + y * lds + x),
                                        *(const quad *)(from + (y + 4) * lds + x), 0, 1, 2, 3, 4, 5, 6, 7);
        eight ab = __builtin_shufflevector(row[0], row[1], 0, 8, 1, 9, 4, 12, 5, 13);
        eight ab_end = __builtin_shufflevector(row[0], row[1], 2, 10, 3, 11, 6, 14, 7, 15);
        eight cd = __builtin_shufflevector(row[2], row[3], 0, 8, 1, 9, 4, 12, 5, 13);
        eight cd_end = __builtin_shufflevector(row[2], row[3], 2, 10, 3, 11, 6, 14, 7, 15);
        real *out = to + x * ldd;
        *(eight *)out = __builtin_shufflevector(ab, cd, 0, 1, 8, 9, 4, 5, 12, 13);
        *(eight *)(out + ldd) = __builtin_shufflevector(ab, cd, 2, 3, 10, 11, 6, 7, 14, 15);
        *(eight *)(out + 2 * ldd) = __builtin_shufflevector(ab_end, cd_end, 0, 1, 8, 9, 4, 5, 12, 13);
        *(eight *)(out + 3 * ldd) = __builtin_shufflevector(ab_end, cd_end, 2, 3, 10, 11, 6, 7, 14, 15);
    }
}
#else
enum { TURNED = 4 };
KERNEL_INLINE void transpose_square(const real *from, size_t lds, real *to, size_t ldd)
{
    transpose_quads(from, lds, to, ldd);
}
#endif

/* In squares that fit a few cache lines each way. */
KERNEL void fast_transpose(size_t rows, size_t cols, const void *src, size_t lds, void *dst, size_t ldd)
{
    enum { SIDE = 16 };
    const real *from = src;
    real *to = dst;
    for (size_t i = 0; i < rows; i += SIDE)
        for (size_t j = 0; j < cols; j += SIDE) {
            size_t height = rows - i < SIDE ? rows - i : SIDE, width = cols - j < SIDE ? cols - j : SIDE;
            size_t whole = height / 4 * 4, wide = width / 4 * 4;
            if (height % TURNED || width % TURNED) {
                for (size_t y = i; y < i + whole; y += 4)
                    for (size_t x = j; x < j + wide; x += 4)
                        transpose_quads(from + y * lds + x, lds, to + x * ldd + y, ldd);
            } else {
                for (size_t y = i; y < i + whole; y += TURNED)
                    for (size_t x = j; x < j + wide; x += TURNED)
                        transpose_square(from + y * lds + x, lds, to + x * ldd + y, ldd);
            }
            plain_transpose(whole, width - wide, from + i * lds + j + wide, lds, to + (j + wide) * ldd + i,
                            ldd);
            plain_transpose(height - whole, width, from + (i + whole) * lds + j, lds,
                            to + j * ldd + i + whole, ldd);
        }
}

#endif
