/* SPDX-License-Identifier: MIT
 *
 * Batch normalization: moments, the affine maps, their gradients. */
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

KERNEL void plain_normalize(size_t rows, size_t m, const void *z, size_t ldz, const void *mean,
                            const void *scale, const void *shift, int relu, void *y, size_t ldy)
{
    const real *rz = z, *middle = mean, *by = scale, *plus = shift;
    real *ry = y;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < m; j++) {
            real value = (rz[i * ldz + j] - middle[j]) * by[j] + plus[j];
            ry[i * ldy + j] = relu && value < 0 ? 0 : value;
        }
}

KERNEL void plain_normalize_sums(size_t rows, size_t m, const void *dy, size_t lddy, const void *z,
                                 size_t ldz, const void *mean, const void *scale, const void *shift, int relu,
                                 void *sum_dy, void *sum_dyz)
{
    const real *rdy = dy, *rz = z, *middle = mean, *by = scale, *plus = shift;
    for (size_t j = 0; j < m; j++) {
        double sum = 0, product = 0;
        for (size_t i = 0; i < rows; i++) {
            real off = rz[i * ldz + j] - middle[j];
            real pull = !relu || off * by[j] + plus[j] > 0 ? rdy[i * lddy + j] : 0;
            sum += (double)pull;
            product += (double)pull * (double)off;
        }
        ((real *)sum_dy)[j] += (real)sum;
        ((real *)sum_dyz)[j] += (real)product;
    }
}

KERNEL void plain_normalize_grad(size_t rows, size_t m, const void *dy, size_t lddy, const void *z,
                                 size_t ldz, const void *mean, const void *scale, const void *shift, int relu,
                                 const void *factor, const void *across, const void *offset, void *dz,
                                 size_t lddz)
{
    const real *rdy = dy, *rz = z, *middle = mean, *by = scale, *plus = shift;
    const real *by_dy = factor, *by_z = across, *constant = offset;
    real *rdz = dz;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < m; j++) {
            real off = rz[i * ldz + j] - middle[j];
            real pull = !relu || off * by[j] + plus[j] > 0 ? rdy[i * lddy + j] : 0;
            rdz[i * lddz + j] = by_dy[j] * pull + by_z[j] * off + constant[j];
        }
}

#ifdef KERNELS_FAST
KERNEL_INLINE void spread_stripe(size_t rows, size_t width, const real *x, size_t ldx, const real *mean,
                                 real *m2, int vecs)
{
    int ways = vecs == 4 ? 1 : 8 / vecs;
    vec sums[8] = {{0}}, middle[4] = {{0}};
    for (int v = 0; v < vecs; v++)
        middle[v] = columns_load(mean, (size_t)v * LANES, width);
    for (; rows >= (size_t)ways; rows -= (size_t)ways)
        for (int way = 0; way < ways; way++, x += ldx)
            for (int v = 0; v < vecs; v++) {
                vec off = vec_load(x + v * LANES) - middle[v];
                sums[way * vecs + v] += off * off;
            }
    for (; rows; rows--, x += ldx)
        for (int v = 0; v < vecs; v++) {
            vec off = vec_load(x + v * LANES) - middle[v];
            sums[v] += off * off;
        }
    sums_fold(sums, vecs, ways);
    for (int v = 0; v < vecs; v++)
        columns_add(m2, (size_t)v * LANES, width, sums[v]);
}

KERNEL void fast_moments(size_t rows, size_t m, const void *x, size_t ldx, void *mean, void *m2)
{
    real *means = mean, *spreads = m2;
    size_t pass = sum_pass(m);
    memset(means, 0, m * sizeof *means);
    memset(spreads, 0, m * sizeof *spreads);
    fast_column_sums(rows, m, x, ldx, mean);
    for (size_t j = 0; j < m; j++)
        means[j] /= (real)rows;
    for (size_t top = 0; top < rows; top += pass) {
        size_t tile = smaller(rows - top, pass);
        const real *from = (const real *)x + top * ldx;
        for (size_t j = 0; j < m;) {
            int vecs = columns_at_once(j, m);
            if (vecs == 4)
                spread_stripe(tile, m - j, from + j, ldx, means + j, spreads + j, 4);
            else if (vecs == 2)
                spread_stripe(tile, m - j, from + j, ldx, means + j, spreads + j, 2);
            else
                spread_stripe(tile, m - j, from + j, ldx, means + j, spreads + j, 1);
            j += (size_t)vecs * LANES;
        }
    }
}

KERNEL_INLINE void shift_stripe(size_t rows, size_t width, const real *x, size_t ldx, const real *shift,
                                real *y, size_t ldy, int vecs)
{
    vec by[4] = {{0}};
    for (int v = 0; v < vecs; v++)
        by[v] = columns_load(shift, (size_t)v * LANES, width);
#pragma GCC unroll 4
    for (size_t i = 0; i < rows; i++)
        for (int v = 0; v < vecs; v++)
            vec_store(y + i * ldy + v * LANES, vec_load(x + i * ldx + v * LANES) + by[v]);
}

KERNEL void fast_shift(size_t rows, size_t m, const void *x, size_t ldx, const void *shift, void *y,
                       size_t ldy)
{
    const real *from = x, *by = shift;
    real *to = y;
    size_t padded = columns_padded(m);
    if (columns_narrow(m)) {
        for (size_t j = 0; j < m;) {
            int vecs = columns_at_once(j, m);
            if (vecs == 4)
                shift_stripe(rows, m - j, from + j, ldx, by + j, to + j, ldy, 4);
            else if (vecs == 2)
                shift_stripe(rows, m - j, from + j, ldx, by + j, to + j, ldy, 2);
            else
                shift_stripe(rows, m - j, from + j, ldx, by + j, to + j, ldy, 1);
            j += (size_t)vecs * LANES;
        }
        return;
    }
    vec tail = columns_tail(by, m);
    for (size_t i = 0; i < rows; i++, from += ldx, to += ldy)
        for (size_t j = 0; j < padded; j += LANES)
            vec_store(to + j, vec_load(from + j) + columns_at(by, j, m, tail));
}

/* What normalize does to a vector of columns; the same numbers wherever the gradients need them again. */
struct normal {
    vec mean, scale, shift;
};

/* The last, partial vector of each, and columns j .. j+LANES-1 given those. */
KERNEL_INLINE struct normal normal_tail(const real *mean, const real *scale, const real *shift, size_t m)
{
    return (struct normal){columns_tail(mean, m), columns_tail(scale, m), columns_tail(shift, m)};
}
KERNEL_INLINE struct normal normal_at(const real *mean, const real *scale, const real *shift, size_t j,
                                      size_t m, const struct normal *tail)
{
    return (struct normal){columns_at(mean, j, m, tail->mean), columns_at(scale, j, m, tail->scale),
                           columns_at(shift, j, m, tail->shift)};
}
KERNEL_INLINE struct normal normal_load(const real *mean, const real *scale, const real *shift, size_t j,
                                        size_t m)
{
    struct normal tail = normal_tail(mean, scale, shift, m);
    return normal_at(mean, scale, shift, j, m, &tail);
}
KERNEL_INLINE vec normal_value(const struct normal *n, vec off) /* off = z - mean */
{
    return vec_fused(off, n->scale, n->shift);
}
KERNEL_INLINE vec normal_forward(const struct normal *n, vec z, int relu)
{
    vec value = normal_value(n, z - n->mean);
    return relu ? vec_drop((vec_mask)(value < 0), value) : value;
}
KERNEL_INLINE vec normal_pull(const struct normal *n, vec off, vec dy, int relu)
{
    return relu ? vec_keep((vec_mask)(normal_value(n, off) > 0), dy) : dy;
}

KERNEL_INLINE void normalize_stripe(size_t rows, size_t width, const real *z, size_t ldz, const real *mean,
                                    const real *scale, const real *shift, int relu, real *y, size_t ldy,
                                    int vecs)
{
    struct normal by[4];
    for (int v = 0; v < vecs; v++)
        by[v] = normal_load(mean, scale, shift, (size_t)v * LANES, width);
#pragma GCC unroll 4
    for (size_t i = 0; i < rows; i++)
        for (int v = 0; v < vecs; v++)
            vec_store(y + i * ldy + v * LANES,
                      normal_forward(&by[v], vec_load(z + i * ldz + v * LANES), relu));
}

KERNEL_INLINE void normalize_all(size_t rows, size_t m, const real *z, size_t ldz, const real *mean,
                                 const real *scale, const real *shift, int relu, real *y, size_t ldy)
{
    size_t padded = columns_padded(m);
    if (columns_narrow(m)) {
        for (size_t j = 0; j < m;) {
            int vecs = columns_at_once(j, m);
            if (vecs == 4)
                normalize_stripe(rows, m - j, z + j, ldz, mean + j, scale + j, shift + j, relu, y + j, ldy,
                                 4);
            else if (vecs == 2)
                normalize_stripe(rows, m - j, z + j, ldz, mean + j, scale + j, shift + j, relu, y + j, ldy,
                                 2);
            else
                normalize_stripe(rows, m - j, z + j, ldz, mean + j, scale + j, shift + j, relu, y + j, ldy,
                                 1);
            j += (size_t)vecs * LANES;
        }
        return;
    }
    struct normal tail = normal_tail(mean, scale, shift, m);
    for (size_t i = 0; i < rows; i++, z += ldz, y += ldy)
        for (size_t j = 0; j < padded; j += LANES) {
            struct normal by = normal_at(mean, scale, shift, j, m, &tail);
            vec_store(y + j, normal_forward(&by, vec_load(z + j), relu));
        }
}

KERNEL void fast_normalize(size_t rows, size_t m, const void *z, size_t ldz, const void *mean,
                           const void *scale, const void *shift, int relu, void *y, size_t ldy)
{
    if (relu)
        normalize_all(rows, m, z, ldz, mean, scale, shift, 1, y, ldy);
    else
        normalize_all(rows, m, z, ldz, mean, scale, shift, 0, y, ldy);
}

/* sums and products (vecs) of these rows; each row's vectors in turn go to one of `ways` accumulators. */
KERNEL_INLINE void pulls_stripe(size_t rows, const real *dy, size_t lddy, const real *z, size_t ldz,
                                const struct normal *by, int relu, vec *sum_dy, vec *sum_dyz, int vecs)
{
    int ways = 4 / vecs;
    vec sums[4] = {{0}}, products[4] = {{0}};
    for (; rows >= (size_t)ways; rows -= (size_t)ways)
        for (int way = 0; way < ways; way++, dy += lddy, z += ldz)
            for (int v = 0; v < vecs; v++) {
                vec off = vec_load(z + v * LANES) - by[v].mean;
                vec pull = normal_pull(&by[v], off, vec_load(dy + v * LANES), relu);
                sums[way * vecs + v] += pull;
                products[way * vecs + v] += pull * off;
            }
    for (; rows; rows--, dy += lddy, z += ldz)
        for (int v = 0; v < vecs; v++) {
            vec off = vec_load(z + v * LANES) - by[v].mean;
            vec pull = normal_pull(&by[v], off, vec_load(dy + v * LANES), relu);
            sums[v] += pull;
            products[v] += pull * off;
        }
    sums_fold(sums, vecs, ways);
    sums_fold(products, vecs, ways);
    for (int v = 0; v < vecs; v++) {
        sum_dy[v] = sums[v];
        sum_dyz[v] = products[v];
    }
}

/* mean, scale and shift NULL: none, products are with z itself. */
KERNEL_INLINE void normalize_sums_stripe(size_t rows, size_t width, const real *dy, size_t lddy,
                                         const real *z, size_t ldz, const real *mean, const real *scale,
                                         const real *shift, int relu, real *sum_dy, real *sum_dyz, int vecs)
{
    struct normal by[4];
    vec sums[4], products[4];
    for (int v = 0; v < vecs; v++)
        by[v] =
            mean ? normal_load(mean, scale, shift, (size_t)v * LANES, width) : (struct normal){{0}, {0}, {0}};
    pulls_stripe(rows, dy, lddy, z, ldz, by, relu, sums, products, vecs);
    for (int v = 0; v < vecs; v++) {
        columns_add(sum_dy, (size_t)v * LANES, width, sums[v]);
        columns_add(sum_dyz, (size_t)v * LANES, width, products[v]);
    }
}

KERNEL_INLINE void normalize_sums_all(size_t rows, size_t m, const real *dy, size_t lddy, const real *z,
                                      size_t ldz, const real *mean, const real *scale, const real *shift,
                                      int relu, real *sum_dy, real *sum_dyz)
{
    size_t pass = sum_pass(m);
    for (size_t top = 0; top < rows; top += pass) {
        size_t tile = smaller(rows - top, pass);
        for (size_t j = 0; j < m;) {
            const real *rdy = dy + top * lddy + j, *rz = z + top * ldz + j;
            const real *middle = mean ? mean + j : NULL, *by = mean ? scale + j : NULL,
                       *plus = mean ? shift + j : NULL;
            int vecs = columns_at_once(j, m);
            if (vecs == 4)
                normalize_sums_stripe(tile, m - j, rdy, lddy, rz, ldz, middle, by, plus, relu, sum_dy + j,
                                      sum_dyz + j, 4);
            else if (vecs == 2)
                normalize_sums_stripe(tile, m - j, rdy, lddy, rz, ldz, middle, by, plus, relu, sum_dy + j,
                                      sum_dyz + j, 2);
            else
                normalize_sums_stripe(tile, m - j, rdy, lddy, rz, ldz, middle, by, plus, relu, sum_dy + j,
                                      sum_dyz + j, 1);
            j += (size_t)vecs * LANES;
        }
    }
}

KERNEL void fast_normalize_sums(size_t rows, size_t m, const void *dy, size_t lddy, const void *z, size_t ldz,
                                const void *mean, const void *scale, const void *shift, int relu,
                                void *sum_dy, void *sum_dyz)
{
    if (relu)
        normalize_sums_all(rows, m, dy, lddy, z, ldz, mean, scale, shift, 1, sum_dy, sum_dyz);
    else
        normalize_sums_all(rows, m, dy, lddy, z, ldz, mean, scale, shift, 0, sum_dy, sum_dyz);
}

/* What normalize_grad needs of a vector of columns. */
struct normal_grad {
    struct normal by;
    vec factor, across, offset;
};

struct normal_grad_args {
    const real *mean, *scale, *shift, *factor, *across, *offset;
};

KERNEL_INLINE struct normal_grad normal_grad_tail(const struct normal_grad_args *args, size_t m)
{
    return (struct normal_grad){normal_tail(args->mean, args->scale, args->shift, m),
                                columns_tail(args->factor, m), columns_tail(args->across, m),
                                columns_tail(args->offset, m)};
}
KERNEL_INLINE struct normal_grad normal_grad_at(const struct normal_grad_args *args, size_t j, size_t m,
                                                const struct normal_grad *tail)
{
    return (struct normal_grad){normal_at(args->mean, args->scale, args->shift, j, m, &tail->by),
                                columns_at(args->factor, j, m, tail->factor),
                                columns_at(args->across, j, m, tail->across),
                                columns_at(args->offset, j, m, tail->offset)};
}
KERNEL_INLINE vec normal_grad_value(const struct normal_grad *n, vec z, vec dy, int relu)
{
    vec off = z - n->by.mean;
    return n->factor * normal_pull(&n->by, off, dy, relu) + (n->across * off + n->offset);
}

KERNEL_INLINE void normalize_grad_stripe(size_t rows, size_t j, size_t m, const real *dy, size_t lddy,
                                         const real *z, size_t ldz, const struct normal_grad_args *args,
                                         int relu, real *dz, size_t lddz, int vecs)
{
    struct normal_grad tail = normal_grad_tail(args, m), by[2];
    for (int v = 0; v < vecs; v++)
        by[v] = normal_grad_at(args, j + (size_t)v * LANES, m, &tail);
#pragma GCC unroll 4
    for (size_t i = 0; i < rows; i++)
        for (int v = 0; v < vecs; v++) {
            size_t at = j + (size_t)v * LANES;
            vec_store(dz + i * lddz + at, normal_grad_value(&by[v], vec_load(z + i * ldz + at),
                                                            vec_load(dy + i * lddy + at), relu));
        }
}

/* Two vectors at most: their six numbers a column fill the registers. */
KERNEL_INLINE void normalize_grad_all(size_t rows, size_t m, const real *dy, size_t lddy, const real *z,
                                      size_t ldz, const struct normal_grad_args *args, int relu, real *dz,
                                      size_t lddz)
{
    size_t padded = columns_padded(m), j = 0;
    if (columns_narrow(m)) {
        for (; j + 2 * LANES <= padded; j += 2 * LANES)
            normalize_grad_stripe(rows, j, m, dy, lddy, z, ldz, args, relu, dz, lddz, 2);
        if (j < padded)
            normalize_grad_stripe(rows, j, m, dy, lddy, z, ldz, args, relu, dz, lddz, 1);
        return;
    }
    struct normal_grad tail = normal_grad_tail(args, m);
    for (size_t i = 0; i < rows; i++, dy += lddy, z += ldz, dz += lddz)
        for (j = 0; j < padded; j += LANES) {
            struct normal_grad by = normal_grad_at(args, j, m, &tail);
            vec_store(dz + j, normal_grad_value(&by, vec_load(z + j), vec_load(dy + j), relu));
        }
}

KERNEL void fast_normalize_grad(size_t rows, size_t m, const void *dy, size_t lddy, const void *z, size_t ldz,
                                const void *mean, const void *scale, const void *shift, int relu,
                                const void *factor, const void *across, const void *offset, void *dz,
                                size_t lddz)
{
    const struct normal_grad_args args = {mean, scale, shift, factor, across, offset};
    if (relu)
        normalize_grad_all(rows, m, dy, lddy, z, ldz, &args, 1, dz, lddz);
    else
        normalize_grad_all(rows, m, dy, lddy, z, ldz, &args, 0, dz, lddz);
}

#endif
