/* SPDX-License-Identifier: MIT
 *
 * Activations y = s * act(z) and their gradients. A NaN stays NaN on the way forward, so that divergence is
 * noticed. */
#include "compute/real.h"
#include "compute/simd.h"

#define SLOPE ((real)LEAKY_SLOPE)

KERNEL real identity_value(real z)
{
    return z;
}
KERNEL real identity_slope(real z)
{
    (void)z;
    return 1;
}
KERNEL real relu_value(real z)
{
    return z < 0 ? 0 : z;
}
KERNEL real relu_slope(real z)
{
    return z > 0;
}
KERNEL real leaky_relu_value(real z)
{
    return z > 0 ? z : SLOPE * z;
}
KERNEL real leaky_relu_slope(real z)
{
    return z > 0 ? 1 : SLOPE;
}
KERNEL real elu_value(real z)
{
    return z > 0 ? z : real_expm1(z);
}
KERNEL real elu_slope(real z)
{
    return z > 0 ? 1 : real_exp(z);
}

KERNEL void plain_values(const struct act_args *args, real (*value)(real))
{
    const real *z = args->z, *s = args->s;
    real *y = args->y;
    for (size_t i = 0; i < args->rows; i++)
        for (size_t j = 0; j < args->m; j++)
            y[i * args->ldy + j] = (s ? s[j] : 1) * value(z[i * args->ldz + j]);
}

KERNEL void plain_slopes(const struct act_args *args, real (*value)(real), real (*slope)(real))
{
    const real *z = args->z, *s = args->s, *dy = args->dy, *left = args->left, *right = args->right;
    real *dz = args->dz, *ds = args->ds, *db = args->db;
    for (size_t j = 0; j < args->m; j++)
        for (size_t i = 0; i < args->rows; i++) {
            real at = z[i * args->ldz + j],
                 pull = left ? left[i * args->ld_left] * right[j] : dy[i * args->lddy + j];
            real out = (s ? s[j] : 1) * slope(at) * pull;
            if (ds)
                ds[j] += pull * value(at);
            if (db)
                db[j] += out;
            dz[i * args->lddz + j] = out;
        }
}

KERNEL void plain_identity(const struct act_args *args)
{
    plain_values(args, identity_value);
}
KERNEL void plain_identity_grad(const struct act_args *args)
{
    plain_slopes(args, identity_value, identity_slope);
}
KERNEL void plain_relu(const struct act_args *args)
{
    plain_values(args, relu_value);
}
KERNEL void plain_relu_grad(const struct act_args *args)
{
    plain_slopes(args, relu_value, relu_slope);
}
KERNEL void plain_leaky_relu(const struct act_args *args)
{
    plain_values(args, leaky_relu_value);
}
KERNEL void plain_leaky_relu_grad(const struct act_args *args)
{
    plain_slopes(args, leaky_relu_value, leaky_relu_slope);
}
KERNEL void plain_elu(const struct act_args *args)
{
    plain_values(args, elu_value);
}
KERNEL void plain_elu_grad(const struct act_args *args)
{
    plain_slopes(args, elu_value, elu_slope);
}

/* srelu's learned shape of unit j. */
struct srelu {
    real t_right, a_right, t_left, a_left;
};

KERNEL size_t srelu_stride(const struct act_args *args)
{
    return args->ld_shape ? args->ld_shape : args->m;
}

KERNEL struct srelu srelu_shape(const struct act_args *args, size_t j)
{
    const real *shape = (const real *)args->shape + j;
    size_t ld = srelu_stride(args);
    return (struct srelu){shape[SRELU_T_RIGHT * ld], shape[SRELU_A_RIGHT * ld], shape[SRELU_T_LEFT * ld],
                          shape[SRELU_A_LEFT * ld]};
}

KERNEL real srelu_value(const struct srelu *unit, real z)
{
    if (z >= unit->t_right)
        return unit->t_right + unit->a_right * (z - unit->t_right);
    if (z <= unit->t_left)
        return unit->t_left + unit->a_left * (z - unit->t_left);
    return z;
}

KERNEL void plain_srelu(const struct act_args *args)
{
    const real *z = args->z, *s = args->s;
    real *y = args->y;
    for (size_t j = 0; j < args->m; j++) {
        struct srelu unit = srelu_shape(args, j);
        for (size_t i = 0; i < args->rows; i++)
            y[i * args->ldy + j] = (s ? s[j] : 1) * srelu_value(&unit, z[i * args->ldz + j]);
    }
}

KERNEL void plain_srelu_grad(const struct act_args *args)
{
    size_t m = args->m, ld = srelu_stride(args);
    const real *z = args->z, *s = args->s, *dy = args->dy;
    real *dz = args->dz, *ds = args->ds, *dshape = args->dshape;
    for (size_t j = 0; j < m; j++) {
        struct srelu unit = srelu_shape(args, j);
        for (size_t i = 0; i < args->rows; i++) {
            real at = z[i * args->ldz + j], pull = dy[i * args->lddy + j];
            real scaled = (s ? s[j] : 1) * pull, slope = 1;
            if (ds)
                ds[j] += pull * srelu_value(&unit, at);
            if (at >= unit.t_right) {
                dshape[SRELU_T_RIGHT * ld + j] += scaled * (1 - unit.a_right);
                dshape[SRELU_A_RIGHT * ld + j] += scaled * (at - unit.t_right);
                slope = unit.a_right;
            } else if (at <= unit.t_left) {
                dshape[SRELU_T_LEFT * ld + j] += scaled * (1 - unit.a_left);
                dshape[SRELU_A_LEFT * ld + j] += scaled * (at - unit.t_left);
                slope = unit.a_left;
            }
            dz[i * args->lddz + j] = scaled * slope;
        }
    }
}

#ifdef KERNELS_FAST
KERNEL_INLINE vec act_value(sph_act act, vec z)
{
    switch (act) {
    case SPH_ACT_RELU:
        return vec_drop((vec_mask)(z < 0), z);
    case SPH_ACT_LEAKY_RELU:
        return vec_select((vec_mask)(z > 0), z, SLOPE * z);
    case SPH_ACT_ELU:
        return vec_select((vec_mask)(z > 0), z, vec_expm1(z));
    default:
        return z;
    }
}

KERNEL_INLINE vec act_pull(sph_act act, vec z, vec dy) /* act'(z) dy */
{
    switch (act) {
    case SPH_ACT_RELU:
        return vec_keep((vec_mask)(z > 0), dy);
    case SPH_ACT_LEAKY_RELU:
        return vec_select((vec_mask)(z > 0), dy, SLOPE * dy);
    case SPH_ACT_ELU:
        return vec_select((vec_mask)(z > 0), dy, vec_exp(z) * dy);
    default:
        return dy;
    }
}

KERNEL_INLINE void fast_values(const struct act_args *args, sph_act act)
{
    size_t rows = args->rows, m = args->m, ldz = args->ldz, ldy = args->ldy, padded = columns_padded(m);
    const real *z = args->z, *s = args->s;
    real *y = args->y;
    if (s) {
        vec tail = columns_tail(s, m);
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < padded; j += LANES)
                vec_store(y + i * ldy + j,
                          columns_at(s, j, m, tail) * act_value(act, vec_load(z + i * ldz + j)));
        return;
    }
    if (padded == ldz && padded == ldy) { /* one long row */
        padded *= rows;
        rows = rows > 0;
    }
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < padded; j += LANES)
            vec_store(y + i * ldy + j, act_value(act, vec_load(z + i * ldz + j)));
}

KERNEL_INLINE void scale_stripe(const struct act_args *args, sph_act act, size_t top, size_t rows, size_t j,
                                int vecs)
{
    const real *z = (const real *)args->z + top * args->ldz + j,
               *dy = (const real *)args->dy + top * args->lddy + j;
    vec sums[4] = {{0}};
    for (size_t i = 0; i < rows; i++)
        for (int v = 0; v < vecs; v++)
            sums[v] += vec_load(dy + i * args->lddy + v * LANES) *
                       act_value(act, vec_load(z + i * args->ldz + v * LANES));
    for (int v = 0; v < vecs; v++)
        columns_add(args->ds, j + (size_t)v * LANES, args->m, sums[v]);
}

/* ds of a tile of rows, before dz overwrites what it needs. */
KERNEL_INLINE void scale_grad(const struct act_args *args, sph_act act, size_t top, size_t rows)
{
    for (size_t j = 0; j < args->m;) {
        int vecs = columns_at_once(j, args->m);
        if (vecs == 4)
            scale_stripe(args, act, top, rows, j, 4);
        else if (vecs == 2)
            scale_stripe(args, act, top, rows, j, 2);
        else
            scale_stripe(args, act, top, rows, j, 1);
        j += (size_t)vecs * LANES;
    }
}

/* dz of some columns of a tile, and their sums. scale is s, times right where dy is an outer product. */
KERNEL_INLINE void slopes_stripe(const struct act_args *args, sph_act act, size_t top, size_t rows, size_t j,
                                 const vec *scale, int vecs, int outer)
{
    const real *z = (const real *)args->z + top * args->ldz + j;
    const real *dy = outer ? (const real *)args->left + top * args->ld_left
                           : (const real *)args->dy + top * args->lddy + j;
    size_t lddy = outer ? args->ld_left : args->lddy;
    real *dz = (real *)args->dz + top * args->lddz + j;
    vec sums[4] = {{0}};
    for (size_t i = 0; i < rows; i++, z += args->ldz, dy += lddy, dz += args->lddz) {
        vec all = outer ? vec_all(*dy) : vec_all(0);
        for (int v = 0; v < vecs; v++) {
            vec pull = scale[v] * (outer ? all : vec_load(dy + v * LANES));
            vec out = act_pull(act, vec_load(z + v * LANES), pull);
            vec_store(dz + v * LANES, out);
            sums[v] += out;
        }
    }
    for (int v = 0; v < vecs; v++)
        columns_add(args->db, j + (size_t)v * LANES, args->m, sums[v]);
}

/* The tile's dz and db together, a few columns at a time: the sums stay in registers. */
KERNEL_INLINE void slopes_and_sums(const struct act_args *args, sph_act act, size_t top, size_t rows,
                                   int outer)
{
    const real *s = args->s, *right = args->right;
    vec tail = s ? columns_tail(s, args->m) : vec_all(1);
    for (size_t j = 0; j < args->m;) {
        int vecs = columns_at_once(j, args->m);
        vec scale[4];
        for (int v = 0; v < 4; v++) {
            size_t at = j + (size_t)v * LANES;
            scale[v] = s && v < vecs ? columns_at(s, at, args->m, tail) : vec_all(1);
            if (outer && v < vecs)
                scale[v] *= vec_load(right + at);
        }
        if (vecs == 4)
            slopes_stripe(args, act, top, rows, j, scale, 4, outer);
        else if (vecs == 2)
            slopes_stripe(args, act, top, rows, j, scale, 2, outer);
        else
            slopes_stripe(args, act, top, rows, j, scale, 1, outer);
        j += (size_t)vecs * LANES;
    }
}

KERNEL_INLINE void fast_slopes(const struct act_args *args, sph_act act)
{
    size_t m = args->m, ldz = args->ldz, lddy = args->lddy, lddz = args->lddz, padded = columns_padded(m);
    const real *s = args->s;
    vec tail = s ? columns_tail(s, m) : vec_all(1);
    for (size_t top = 0; top < args->rows; top += PASS_ROWS) {
        size_t rows = smaller(args->rows - top, PASS_ROWS), width = padded;
        const real *z = (const real *)args->z + top * ldz, *dy = args->dy;
        real *dz = (real *)args->dz + top * lddz;
        if (args->ds)
            scale_grad(args, act, top, rows);
        if (args->db) {
            if (args->left)
                slopes_and_sums(args, act, top, rows, 1);
            else
                slopes_and_sums(args, act, top, rows, 0);
            continue;
        }
        dy += top * lddy;
        if (s) {
            for (size_t i = 0; i < rows; i++)
                for (size_t j = 0; j < width; j += LANES) {
                    vec pull = columns_at(s, j, m, tail) * vec_load(dy + i * lddy + j);
                    vec_store(dz + i * lddz + j, act_pull(act, vec_load(z + i * ldz + j), pull));
                }
            continue;
        }
        if (width == ldz && width == lddy && width == lddz) { /* one long row */
            width *= rows;
            rows = 1;
        }
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < width; j += LANES)
                vec_store(dz + i * lddz + j,
                          act_pull(act, vec_load(z + i * ldz + j), vec_load(dy + i * lddy + j)));
    }
}

KERNEL void fast_identity(const struct act_args *args)
{
    if (args->s || args->y != args->z)
        fast_values(args, SPH_ACT_IDENTITY);
}
KERNEL void fast_identity_grad(const struct act_args *args)
{
    if (args->s || args->ds || args->db || args->dz != args->dy)
        fast_slopes(args, SPH_ACT_IDENTITY);
}
KERNEL void fast_relu(const struct act_args *args)
{
    fast_values(args, SPH_ACT_RELU);
}
KERNEL void fast_relu_grad(const struct act_args *args)
{
    fast_slopes(args, SPH_ACT_RELU);
}
KERNEL void fast_leaky_relu(const struct act_args *args)
{
    fast_values(args, SPH_ACT_LEAKY_RELU);
}
KERNEL void fast_leaky_relu_grad(const struct act_args *args)
{
    fast_slopes(args, SPH_ACT_LEAKY_RELU);
}
KERNEL void fast_elu(const struct act_args *args)
{
    fast_values(args, SPH_ACT_ELU);
}
KERNEL void fast_elu_grad(const struct act_args *args)
{
    fast_slopes(args, SPH_ACT_ELU);
}

/* srelu of a vector of units: the shape stays in registers while the rows of a tile pass. */
struct srelu_vec {
    vec t_right, a_right, t_left, a_left, s;
};

KERNEL_INLINE struct srelu_vec srelu_load(const struct act_args *args, size_t j)
{
    const real *shape = args->shape;
    size_t m = args->m, ld = srelu_stride(args);
    return (struct srelu_vec){
        columns_load(shape + SRELU_T_RIGHT * ld, j, m), columns_load(shape + SRELU_A_RIGHT * ld, j, m),
        columns_load(shape + SRELU_T_LEFT * ld, j, m), columns_load(shape + SRELU_A_LEFT * ld, j, m),
        args->s ? columns_load(args->s, j, m) : vec_all(1)};
}

KERNEL_INLINE vec srelu_at(const struct srelu_vec *unit, vec z)
{
    vec right = unit->t_right + unit->a_right * (z - unit->t_right);
    vec left = unit->t_left + unit->a_left * (z - unit->t_left);
    vec inner = vec_select((vec_mask)(z <= unit->t_left), left, z);
    return vec_select((vec_mask)(z >= unit->t_right), right, inner);
}

KERNEL void fast_srelu(const struct act_args *args)
{
    for (size_t top = 0; top < args->rows; top += PASS_ROWS) {
        size_t rows = smaller(args->rows - top, PASS_ROWS);
        for (size_t j = 0; j < args->m; j += LANES) {
            const real *z = (const real *)args->z + top * args->ldz + j;
            real *y = (real *)args->y + top * args->ldy + j;
            struct srelu_vec unit = srelu_load(args, j);
            for (size_t i = 0; i < rows; i++)
                vec_store(y + i * args->ldy, unit.s * srelu_at(&unit, vec_load(z + i * args->ldz)));
        }
    }
}

KERNEL void fast_srelu_grad(const struct act_args *args)
{
    size_t m = args->m, ld = srelu_stride(args);
    real *dshape = args->dshape;
    for (size_t top = 0; top < args->rows; top += PASS_ROWS) {
        size_t rows = smaller(args->rows - top, PASS_ROWS);
        for (size_t j = 0; j < m; j += LANES) {
            const real *z = (const real *)args->z + top * args->ldz + j;
            const real *dy = (const real *)args->dy + top * args->lddy + j;
            real *dz = (real *)args->dz + top * args->lddz + j;
            struct srelu_vec unit = srelu_load(args, j);
            vec sum_right = {0}, sum_right_z = {0}, sum_left = {0}, sum_left_z = {0}, sum_s = {0};
            for (size_t i = 0; i < rows; i++) {
                vec at = vec_load(z + i * args->ldz), pull = vec_load(dy + i * args->lddy),
                    scaled = unit.s * pull;
                vec_mask right = (vec_mask)(at >= unit.t_right),
                         left = ~right & (vec_mask)(at <= unit.t_left);
                vec from_right = vec_keep(right, scaled), from_left = vec_keep(left, scaled);
                sum_s += pull * srelu_at(&unit, at);
                sum_right += from_right;
                sum_right_z += vec_keep(right, scaled * (at - unit.t_right));
                sum_left += from_left;
                sum_left_z += vec_keep(left, scaled * (at - unit.t_left));
                vec_store(dz + i * args->lddz, vec_drop(right | left, scaled) + unit.a_right * from_right +
                                                   unit.a_left * from_left);
            }
            columns_add(dshape + SRELU_T_RIGHT * ld, j, m, sum_right * (1 - unit.a_right));
            columns_add(dshape + SRELU_A_RIGHT * ld, j, m, sum_right_z);
            columns_add(dshape + SRELU_T_LEFT * ld, j, m, sum_left * (1 - unit.a_left));
            columns_add(dshape + SRELU_A_LEFT * ld, j, m, sum_left_z);
            if (args->ds)
                columns_add(args->ds, j, m, sum_s);
        }
    }
}
#endif
