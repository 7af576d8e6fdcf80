/* SPDX-License-Identifier: MIT
 *
 * One comparison of a fast kernel with its plain twin, on one shape: for the test of that kernel on odd
 * shapes, and for the one that none reads beyond an array (test_kernels_unit.c). */
#ifndef SPH_TESTS_KERNEL_COMPARE_H
#define SPH_TESTS_KERNEL_COMPARE_H

#include "kernel_arrays.h"

/* ---------------------------------------------------------------- copies */

static __attribute__((unused)) void compare_copies(const struct pair *on, size_t rows, size_t m, size_t extra)
{
    struct array a = matrix(on->plain, rows, m, m + extra, -1, 1);
    size_t count = rows * (m + extra);
    double *wide = calloc(count, sizeof *wide);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = m; j < m + extra; j++)
            set(&a, i, j, 0.5);
    for (const struct kernels *k = on->plain; k; k = k == on->plain ? on->fast : NULL) {
        struct array back = matrix(k, rows, m, m + extra, 0, 0);
        k->to_double(count, a.at, wide);
        k->from_double(count, wide, back.at);
        assert_memory_equal(a.at, back.at, count * k->size);
        assert_true(wide[count - 1] == get(&a, rows - 1, m + extra - 1));
        double sum = 0;
        for (size_t i = 0; i < count; i++)
            sum += wide[i] * wide[i];
        assert_true(fabs(k->sum_squares(count, a.at) - sum) <= 1e-12 * sum);

        struct array y = matrix(k, rows, m, m + extra, -1, 1), before = same_as(&y);
        k->add(rows, m, a.at, m + extra, y.at, m + extra);
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < m; j++)
                set(&before, i, j, get(&before, i, j) + get(&a, i, j));
        same("add", &before, &y, 0);
        drop(&back);
    }
    free(wide);
    drop(&a);
}

/* One rounding each: results are the same to the bit. A NaN passes relu and stops a gradient. */
static __attribute__((unused)) void compare_sum(const struct pair *on, size_t rows, size_t m, size_t extra)
{
    size_t ld = kernel_pad(m), wide = ld + extra;
    struct array a = matrix(on->plain, rows, m, ld, -1, 1), b = matrix(on->plain, rows, m, wide, -1, 1);
    set(&a, rows / 2, m / 2, NAN);
    for (int relu = 0; relu < 2; relu++)
        for (const struct kernels *k = on->plain; k; k = k == on->plain ? on->fast : NULL) {
            struct array y = matrix(k, rows, m, ld, 9, 9), in_a = same_as(&a), in_b = same_as(&b),
                         want = same_as(&y), want2 = same_as(&y), want3 = same_as(&y);
            for (size_t i = 0; i < rows; i++)
                for (size_t j = 0; j < m; j++) {
                    double value = get(&a, i, j) + get(&b, i, j);
                    set(&want, i, j, relu && value < 0 ? 0 : value);
                    set(&want2, i, j, get(&want, i, j));
                    set(&want3, i, j, get(&want, i, j));
                }
            k->sum(rows, m, a.at, ld, b.at, wide, relu, y.at, ld);
            k->sum(rows, m, in_a.at, ld, b.at, wide, relu, in_a.at, ld);
            k->sum(rows, m, a.at, ld, in_b.at, wide, relu, in_b.at, wide);
            same("sum", &want, &y, 0);
            same("sum onto a", &want2, &in_a, 0);
            same("sum onto b", &want3, &in_b, 0);
        }
    /* gradients: targets not there, set or added to, at other leading dimensions or the same */
    struct array y = matrix(on->plain, rows, m, ld, -1, 1);
    set(&y, 0, 0, 0), set(&y, rows - 1, m - 1, NAN);
    enum { NONE, SET, ADD };
    for (int form = 0; form < 18; form++)
        for (const struct kernels *k = on->plain; k; k = k == on->plain ? on->fast : NULL) {
            int masked = form % 2, to_a = form / 2 % 3, to_b = form / 6;
            struct array dy = matrix(k, rows, m, ld, -1, 1), da = matrix(k, rows, m, ld, -1, 1),
                         db = matrix(k, rows, m, wide, -1, 1);
            struct array want_a = same_as(&da), want_b = same_as(&db), onto = same_as(&dy),
                         want = same_as(&dy), db2 = same_as(&db), want_b2 = same_as(&db);
            for (size_t i = 0; i < rows; i++)
                for (size_t j = 0; j < m; j++) {
                    double g = !masked || get(&y, i, j) > 0 ? get(&dy, i, j) : 0;
                    if (to_a)
                        set(&want_a, i, j, g + (to_a == ADD ? get(&da, i, j) : 0));
                    if (to_b) {
                        set(&want_b, i, j, g + (to_b == ADD ? get(&db, i, j) : 0));
                        set(&want_b2, i, j, get(&want_b, i, j));
                    }
                    set(&want, i, j, g);
                }
            const void *mask = masked ? y.at : NULL;
            k->sum_grad(rows, m, mask, ld, dy.at, ld, to_a ? da.at : NULL, ld, to_a == ADD,
                        to_b ? db.at : NULL, wide, to_b == ADD);
            k->sum_grad(rows, m, mask, ld, onto.at, ld, onto.at, ld, 0, to_b ? db2.at : NULL, wide,
                        to_b == ADD);
            same("sum_grad, a", &want_a, &da, 0);
            same("sum_grad, b", &want_b, &db, 0);
            same("sum_grad onto dy", &want, &onto, 0);
            same("sum_grad onto dy, b", &want_b2, &db2, 0);
            drop(&dy);
        }
    drop(&a), drop(&b), drop(&y);
}

/* ---------------------------------------------------------------- products */

static __attribute__((unused)) void compare_transpose(const struct pair *on, size_t rows, size_t m,
                                                      size_t extra)
{
    struct array a = matrix(on->plain, rows, m, m + extra, -1, 1);
    struct array t1 = matrix(on->plain, m, rows, rows + extra, 0, 0), t2 = same_as(&t1);
    on->plain->transpose(rows, m, a.at, a.ld, t1.at, t1.ld);
    on->fast->transpose(rows, m, a.at, a.ld, t2.at, t2.ld);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < m; j++)
            assert_true(get(&t1, j, i) == get(&a, i, j));
    same("transpose", &t1, &t2, 0);
    drop(&a);
}

/* by_row: a lies as (rows, inner), otherwise as its transpose. */
static __attribute__((unused)) void compare_gemm(const struct pair *on, size_t rows, size_t m, size_t inner,
                                                 int by_row, int with_bias, int how)
{
    struct array a = by_row ? matrix(on->plain, rows, inner, inner + 3, -1, 1)
                            : matrix(on->plain, inner, rows, rows + 2, -1, 1);
    size_t a_row = by_row ? a.ld : 1, a_step = by_row ? 1 : a.ld, ld = kernel_pad(m);
    struct array b = matrix(on->plain, inner, m, ld + KERNEL_PAD, -1, 1),
                 bias = matrix(on->plain, 1, m, kernel_pad(m), -1, 1);
    struct array c1 = matrix(on->plain, rows, m, ld, -1, 1), c2 = same_as(&c1), c3 = same_as(&c1);
    const void *start = with_bias ? bias.at : NULL;
    on->plain->gemm(rows, m, inner, a.at, a_row, a_step, b.at, b.ld, c1.at, ld, start, how);
    on->fast->gemm(rows, m, inner, a.at, a_row, a_step, b.at, b.ld, c2.at, ld, start, how);
    c2.k = on->fast;
    for (size_t i = 0; i < rows; i += 1 + rows / 3) {
        double sum = (how & GEMM_ADD ? get(&c3, i, m - 1) : 0) + (with_bias ? get(&bias, 0, m - 1) : 0);
        for (size_t p = 0; p < inner; p++)
            sum += (by_row ? get(&a, i, p) : get(&a, p, i)) * get(&b, p, m - 1);
        sum = how & GEMM_RELU && sum < 0 ? 0 : sum;
        assert_false(differ(sum, get(&c1, i, m - 1), sum_error(on, inner)));
    }
    same("gemm", &c1, &c2, sum_error(on, inner));
    drop(&a), drop(&b), drop(&bias), drop(&c3);
}

static __attribute__((unused)) void compare_dots(const struct pair *on, size_t rows, size_t m, size_t n,
                                                 int with_bias)
{
    struct array x = matrix(on->plain, rows, n, kernel_pad(n), -1, 1),
                 w = matrix(on->plain, m, n, n + rows % 2, -1, 1);
    struct array z1 = matrix(on->plain, rows, m, kernel_pad(m), 0, 0), z2 = same_as(&z1),
                 bias = vector(on->plain, m, -1, 1);
    const void *start = with_bias ? bias.at : NULL;
    on->plain->dots(rows, m, n, x.at, x.ld, w.at, w.ld, start, z1.at, z1.ld);
    on->fast->dots(rows, m, n, x.at, x.ld, w.at, w.ld, start, z2.at, z2.ld);
    double sum = with_bias ? get(&bias, 0, m - 1) : 0;
    for (size_t i = 0; i < n; i++)
        sum += get(&x, rows - 1, i) * get(&w, m - 1, i);
    assert_false(differ(sum, get(&z1, rows - 1, m - 1), sum_error(on, n)));
    same("dots", &z1, &z2, sum_error(on, n));
    drop(&x), drop(&w), drop(&bias);
}

/* ---------------------------------------------------------------- columns */

static __attribute__((unused)) void compare_columns(const struct pair *on, size_t rows, size_t m,
                                                    size_t extra)
{
    size_t odd = m + extra * 3 / 8; /* raw parameters: not padded, the last row ends the array */
    struct array a = matrix(on->plain, rows, m, m, -1, 1), b = matrix(on->plain, rows, m, odd, -1, 1);
    struct array out1 = vector(on->plain, m, 5, 6), out2 = same_as(&out1);
    on->plain->column_dots(rows, m, a.at, m, b.at, odd, out1.at);
    on->fast->column_dots(rows, m, a.at, m, b.at, odd, out2.at);
    double sum = 0;
    for (size_t i = 0; i < rows; i++)
        sum += get(&a, i, m - 1) * get(&b, i, m - 1);
    assert_false(differ(sum, get(&out1, 0, m - 1), sum_error(on, rows)));
    same("column_dots", &out1, &out2, sum_error(on, rows));

    struct array alpha = vector(on->plain, m, -1, 1), beta = vector(on->plain, m, -1, 1);
    for (int form = 0; form < 4; form++) {
        const void *first = form & 1 ? alpha.at : NULL, *second = form & 2 ? b.at : NULL;
        struct array y1 = matrix(on->plain, rows, m, m, 0, 0), y2 = same_as(&y1), in_a = same_as(&a),
                     in_b = same_as(&b);
        on->plain->column_combine(rows, m, first, a.at, m, beta.at, second, odd, y1.at, m);
        on->fast->column_combine(rows, m, first, a.at, m, beta.at, second, odd, y2.at, m);
        on->fast->column_combine(rows, m, first, in_a.at, m, beta.at, second, odd, in_a.at, m);
        for (size_t i = 0; i < rows; i++) {
            double want = (first ? get(&alpha, 0, m - 1) : 1) * get(&a, i, m - 1) +
                          (second ? get(&beta, 0, m - 1) * get(&b, i, m - 1) : 0);
            assert_false(differ(want, get(&y1, i, m - 1), close_to(on)));
        }
        struct array again = same_as(&y2), once_more = same_as(&y2);
        same("column_combine onto a", &again, &in_a, 0);
        if (second)
            on->fast->column_combine(rows, m, first, a.at, m, beta.at, in_b.at, odd, in_b.at, odd);
        else
            for (size_t i = 0; i < rows; i++)
                for (size_t j = 0; j < m; j++)
                    set(&in_b, i, j, get(&y2, i, j));
        same("column_combine onto b", &once_more, &in_b, 0);
        same("column_combine", &y1, &y2, close_to(on));
    }

    struct array x = matrix(on->plain, rows, m, kernel_pad(m) + extra, -1, 1);
    struct array sum1 = vector(on->plain, m, -1, 1), sum2 = same_as(&sum1), start = same_as(&sum1);
    on->plain->column_sums(rows, m, x.at, x.ld, sum1.at);
    on->fast->column_sums(rows, m, x.at, x.ld, sum2.at);
    sum = get(&start, 0, m - 1);
    for (size_t i = 0; i < rows; i++)
        sum += get(&x, i, m - 1);
    assert_false(differ(sum, get(&sum1, 0, m - 1), sum_error(on, rows)));
    same("column_sums", &sum1, &sum2, sum_error(on, rows));
    drop(&a), drop(&b), drop(&alpha), drop(&beta), drop(&x), drop(&start);
}

/* ---------------------------------------------------------------- angles */

/* The angles of random directions, (n-1, m): drawn independently, their products would vanish for large n. */
static __attribute__((unused)) struct array random_angles(const struct kernels *k, size_t n, size_t m)
{
    struct array theta = matrix(k, n - 1, m, m, 0, 0);
    double *u = calloc(n, sizeof *u);
    for (size_t j = 0; j < m; j++) {
        for (size_t i = 0; i < n; i++)
            u[i] = draw(-1, 1) + draw(-1, 1) + draw(-1, 1);
        double rest = fabs(u[n - 1]);
        set(&theta, n - 2, j, atan2(u[n - 1], u[n - 2]));
        for (size_t a = n - 2; a-- > 0;) {
            rest = hypot(rest, u[a + 1]);
            set(&theta, a, j, atan2(rest, u[a]));
        }
    }
    free(u);
    return theta;
}

/* A product of n sines is off by sqrt(n) roundings, and its factors by a few ulp. */
static __attribute__((unused)) double polar_error(const struct pair *on, size_t n)
{
    return 4 * on->eps * (8 + sqrt((double)n));
}

static __attribute__((unused)) void compare_polar(const struct pair *on, size_t n, size_t m)
{
    struct array theta = random_angles(on->plain, n, m), scale = vector(on->plain, m, 0.5, 2);
    if (m > 2 && n > 2)
        set(&theta, 0, 1, 0); /* a pole: all later coordinates of unit 1 are 0 */
    size_t ld = kernel_pad(m);
    struct array w1 = matrix(on->plain, n, m, ld, 0, 0), w2 = same_as(&w1);
    struct array sin1 = matrix(on->plain, n - 1, m, m, 0, 0), cos1 = same_as(&sin1), sin2 = same_as(&sin1),
                 cos2 = same_as(&sin1);
    struct array prefix1 = matrix(on->plain, polar_chunks(n), m, m, 0, 0), prefix2 = same_as(&prefix1);
    on->plain->polar(n, m, theta.at, scale.at, w1.at, ld, sin1.at, cos1.at, prefix1.at);
    on->fast->polar(n, m, theta.at, scale.at, w2.at, ld, sin2.at, cos2.at, prefix2.at);
    for (size_t j = 0; j < m; j++) {
        double square = 0;
        for (size_t i = 0; i < n; i++)
            square += get(&w1, i, j) * get(&w1, i, j);
        assert_false(differ(sqrt(square), get(&scale, 0, j), 2 * polar_error(on, n)));
        assert_false(differ(get(&w1, 0, j), get(&scale, 0, j) * cos(get(&theta, 0, j)), close_to(on)));
    }

    struct array dw = matrix(on->plain, n, m, ld, -1, 1);
    struct array dtheta1 = matrix(on->plain, n - 1, m, m, 9, 9), dtheta2 = same_as(&dtheta1);
    struct array radial1 = vector(on->plain, m, 9, 9), radial2 = same_as(&radial1);
    on->plain->polar_grad(n, m, NULL, sin1.at, cos1.at, prefix1.at, dw.at, ld, dtheta1.at, radial1.at);
    on->fast->polar_grad(n, m, NULL, sin1.at, cos1.at, prefix1.at, dw.at, ld, dtheta2.at, radial2.at);
    for (size_t j = 0; j < m; j++) {
        double dot = 0;
        for (size_t i = 0; i < n; i++)
            dot += get(&w1, i, j) * get(&dw, i, j) / get(&scale, 0, j);
        assert_false(differ(dot, get(&radial1, 0, j), sqrt((double)n) * polar_error(on, n)));
    }
    /* computed again they are the same numbers, in room for a chunk */
    struct array w3 = same_as(&w2), room1 = matrix(on->plain, POLAR_CHUNK, m, m, 9, 9),
                 room2 = same_as(&room1);
    struct array dtheta3 = same_as(&dtheta2), dtheta4 = same_as(&dtheta2), radial3 = same_as(&radial2);
    const struct kernels *both[] = {on->plain, on->fast};
    for (int i = 0; i < 2; i++) {
        both[i]->polar(n, m, theta.at, scale.at, w3.at, ld, sin2.at, cos2.at, prefix2.at);
        both[i]->polar_grad(n, m, NULL, sin2.at, cos2.at, prefix2.at, dw.at, ld, dtheta3.at, radial3.at);
        both[i]->polar_natural(n, m, NULL, sin2.at, 0.01, dtheta3.at, radial3.at);
        both[i]->polar(n, m, theta.at, scale.at, w3.at, ld, NULL, NULL, prefix2.at);
        both[i]->polar_grad(n, m, theta.at, room1.at, room2.at, prefix2.at, dw.at, ld, dtheta4.at,
                            radial3.at);
        both[i]->polar_natural(n, m, theta.at, room1.at, 0.01, dtheta4.at, radial3.at);
        assert_memory_equal(dtheta3.at, dtheta4.at, (n - 1) * m * on->plain->size);
        for (size_t e = 0; i && e < n * m; e++)
            assert_true(get(&w2, e / m, e % m) == get(&w3, e / m, e % m));
    }
    on->fast->polar(n, m, theta.at, scale.at, w2.at, ld, sin2.at, cos2.at, prefix2.at);
    drop(&w3), drop(&room1), drop(&room2), drop(&dtheta3), drop(&dtheta4), drop(&radial3);
    for (double damping = 1e-2; damping > 1e-5; damping /= 100) {
        struct array natural1 = same_as(&dtheta1), natural2 = same_as(&dtheta1), product = same_as(&radial1);
        on->plain->polar_natural(n, m, NULL, sin1.at, damping, natural1.at, product.at);
        on->fast->polar_natural(n, m, NULL, sin1.at, damping, natural2.at, product.at);
        for (size_t j = 0; j < m; j++) {
            double length = 1; /* times the error of n products, which a small metric makes larger */
            for (size_t a = 0; a + 1 < n; length *= get(&sin1, a++, j)) {
                double divisor = length * length + damping, want = get(&dtheta1, a, j) / divisor,
                       error = 8 * polar_error(on, n) * fabs(want) + 1e-30;
                assert_false(differ(get(&natural1, a, j), want, error));
                assert_false(differ(get(&natural2, a, j), want, error));
            }
        }
        drop(&natural1), drop(&natural2), drop(&product);
    }
    same("sine", &sin1, &sin2, 4 * on->eps);
    same("cosine", &cos1, &cos2, 4 * on->eps);
    same("prefix", &prefix1, &prefix2, polar_error(on, n));
    same("polar", &w1, &w2, polar_error(on, n));
    same("polar_grad", &dtheta1, &dtheta2, sqrt((double)n) * polar_error(on, n));
    same("radial", &radial1, &radial2, sqrt((double)n) * polar_error(on, n));
    drop(&theta), drop(&scale), drop(&dw);
}

/* ---------------------------------------------------------------- activations */

static __attribute__((unused)) struct array srelu_shapes(const struct kernels *k, size_t m)
{
    struct array shape = matrix(k, SRELU_SHAPE, m, m, -1, 1);
    for (size_t j = 0; j < m; j++) {
        set(&shape, SRELU_T_RIGHT, j, draw(0.1, 0.8));
        set(&shape, SRELU_T_LEFT, j, draw(-0.8, -0.1));
    }
    return shape;
}

static __attribute__((unused)) void compare_activation(const struct pair *on, size_t rows, size_t m,
                                                       size_t extra)
{
    struct array z = matrix(on->plain, rows, m, kernel_pad(m) + extra, -2, 2),
                 dy = matrix(on->plain, rows, m, kernel_pad(m), -1, 1);
    struct array s = vector(on->plain, m, -1, 1), shape = srelu_shapes(on->plain, m);
    set(&z, rows / 2, m / 2, 0);
    set(&z, rows - 1, m - 1, get(&shape, rows % 2 ? SRELU_T_RIGHT : SRELU_T_LEFT, m - 1)); /* ties */
    for (int act = 0; act < SPH_ACT_COUNT; act++)
        for (int form = 0; form < 5;
             form++) { /* bare, scaled, with ds, scaled with db and ds, bare with db */
            int with_s = form >= 1 && form <= 3, with_ds = form == 2 || form == 3;
            int with_db = form >= 3 && act != SPH_ACT_SRELU;
            struct array db1 = vector(on->plain, m, -1, 1), db2 = same_as(&db1), db3 = same_as(&db1);
            struct array y1 = matrix(on->plain, rows, m, kernel_pad(m), 0, 0), y2 = same_as(&y1);
            struct array dz1 = same_as(&z), dz2 = same_as(&z), dz3 = same_as(&dy), dz4 = same_as(&z);
            struct array ds1 = vector(on->plain, m, -1, 1), ds2 = same_as(&ds1), ds3 = same_as(&ds1);
            struct array dshape1 = matrix(on->plain, SRELU_SHAPE, m, m, -1, 1), dshape2 = same_as(&dshape1),
                         dshape3 = same_as(&dshape1);
            struct act_args args = {.rows = rows,
                                    .m = m,
                                    .z = z.at,
                                    .ldz = z.ld,
                                    .y = y1.at,
                                    .ldy = y1.ld,
                                    .dy = dy.at,
                                    .lddy = dy.ld,
                                    .dz = dz1.at,
                                    .lddz = dz1.ld};
            args.s = with_s ? s.at : NULL;
            args.ds = with_ds ? ds1.at : NULL;
            args.db = with_db ? db1.at : NULL;
            if (act == SPH_ACT_SRELU) {
                args.shape = shape.at;
                args.dshape = dshape1.at;
            }
            struct act_args fast = args, onto_dy = args, onto_z = args;
            fast.y = y2.at, fast.dz = dz2.at, fast.ds = with_ds ? ds2.at : NULL;
            fast.db = with_db ? db2.at : NULL;
            fast.dshape = args.dshape ? dshape2.at : NULL;
            on->plain->act[act](&args);
            on->fast->act[act](&fast);
            on->plain->act_grad[act](&args);
            on->fast->act_grad[act](&fast);

            onto_dy.dy = onto_dy.dz = dz3.at, onto_dy.lddz = dz3.ld, onto_dy.ds = with_ds ? ds3.at : NULL;
            onto_dy.db = with_db ? db3.at : NULL;
            onto_dy.dshape = args.dshape ? dshape3.at : NULL;
            on->fast->act_grad[act](&onto_dy);
            onto_z.z = onto_z.dz = dz4.at, onto_z.ds = with_ds ? ds3.at : NULL;
            onto_z.db = with_db ? db3.at : NULL;
            onto_z.dshape = onto_dy.dshape;
            on->fast->act_grad[act](&onto_z);
            struct array copy1 = same_as(&dz2), copy2 = same_as(&dz2);
            same("act_grad onto dy", &copy1, &dz3, 0);
            same("act_grad onto z", &copy2, &dz4, 0);
            if (act != SPH_ACT_SRELU && !with_s) {
                struct array in_place = same_as(&z), copy3 = same_as(&y2);
                fast.z = fast.y = in_place.at, fast.ldy = in_place.ld;
                on->fast->act[act](&fast);
                same("act in place", &copy3, &in_place, 0);
            }
            same("act", &y1, &y2, close_to(on));
            same("act_grad", &dz1, &dz2, close_to(on));
            same("ds", &ds1, &ds2, sum_error(on, 2 * rows));
            same("db", &db1, &db2, sum_error(on, 2 * rows));
            drop(&db3);
            same("dshape", &dshape1, &dshape2, sum_error(on, 3 * rows));
            drop(&ds3), drop(&dshape3);
        }
    drop(&z), drop(&dy), drop(&s), drop(&shape);
}

/* ---------------------------------------------------------------- normalizations */

/* The kernels of batch normalization of one table against sums in f64, which take what relu lets through
 * from the table's own forward pass: the gradient finds the same numbers again. */
static __attribute__((unused)) void check_normalize(const struct pair *on, const struct kernels *k, int relu,
                                                    const struct array *x, const struct array *dy,
                                                    const struct array *mean, const struct array *scale)
{
    size_t rows = x->rows, m = x->cols, ld = x->ld;
    struct array shift = vector(k, m, -1, 1), factor = vector(k, m, 0.5, 1), across = vector(k, m, -1, 1),
                 offset = vector(k, m, -1, 1);
    for (size_t j = 0; j < m; j += 2) { /* one number of the column comes out 0 up to roundings */
        size_t i = j % rows;
        set(&shift, 0, j, -(get(x, i, j) - get(mean, 0, j)) * get(scale, 0, j));
    }
    struct array z = same_as(x), y = matrix(k, rows, m, ld, 9, 9), in_place = same_as(x);
    k->normalize(rows, m, z.at, ld, mean->at, scale->at, shift.at, relu, y.at, ld);
    k->normalize(rows, m, in_place.at, ld, mean->at, scale->at, shift.at, relu, in_place.at, ld);
    struct array sum = vector(k, m, -1, 1), sum_z = vector(k, m, -1, 1), want = same_as(&sum),
                 want_z = same_as(&sum_z);
    struct array dz = matrix(k, rows, m, ld, 9, 9), onto_dy = same_as(dy), onto_z = same_as(x),
                 want_dz = same_as(&dz);
    k->normalize_sums(rows, m, dy->at, ld, z.at, ld, mean->at, scale->at, shift.at, relu, sum.at, sum_z.at);
    k->normalize_grad(rows, m, dy->at, ld, z.at, ld, mean->at, scale->at, shift.at, relu, factor.at,
                      across.at, offset.at, dz.at, ld);
    k->normalize_grad(rows, m, onto_dy.at, ld, z.at, ld, mean->at, scale->at, shift.at, relu, factor.at,
                      across.at, offset.at, onto_dy.at, ld);
    k->normalize_grad(rows, m, dy->at, ld, onto_z.at, ld, mean->at, scale->at, shift.at, relu, factor.at,
                      across.at, offset.at, onto_z.at, ld);
    for (size_t j = 0; j < m; j++) {
        double total = get(&want, 0, j), total_z = get(&want_z, 0, j);
        for (size_t i = 0; i < rows; i++) {
            double off = get(x, i, j) - get(mean, 0, j), have = get(&y, i, j);
            double value = off * get(scale, 0, j) + get(&shift, 0, j);
            assert_false(differ(have, relu && value < 0 ? 0 : value, close_to(on)));
            double g = !relu || have > 0 ? get(dy, i, j) : 0;
            total += g;
            total_z += g * off;
            set(&want_dz, i, j, get(&factor, 0, j) * g + get(&across, 0, j) * off + get(&offset, 0, j));
        }
        set(&want, 0, j, total), set(&want_z, 0, j, total_z);
    }
    struct array copy1 = same_as(&dz), copy2 = same_as(&dz), before = same_as(x);
    same("normalize in place", &y, &in_place, 0);
    same("normalize keeps z", &before, &z, 0);
    same("sum_dy", &want, &sum, sum_error(on, rows));
    same("sum_dyz", &want_z, &sum_z, sum_error(on, rows));
    same("normalize_grad onto dy", &copy1, &onto_dy, 0);
    same("normalize_grad onto z", &copy2, &onto_z, 0);
    same("normalize_grad", &want_dz, &dz, close_to(on));
    drop(&shift), drop(&factor), drop(&across), drop(&offset);
}

/* epsilon 0.1: with one or few columns the variance may be tiny and would magnify roundings without bound */
static __attribute__((unused)) void compare_groups(const struct pair *on, size_t groups,
                                                   const struct array *x, const struct array *dy,
                                                   const struct array *gamma, const struct array *beta)
{
    const struct kernels *plain = on->plain, *fast = on->fast;
    size_t rows = x->rows, m = x->cols, ld = x->ld;
    struct array inv1 = vector(plain, rows * groups, 0, 0), inv2 = same_as(&inv1);
    struct array work = vector(plain, GROUP_WORK * (kernel_pad(m) + KERNEL_PAD), NAN, NAN);
    struct array z1 = same_as(x), z2 = same_as(x), y1 = matrix(plain, rows, m, ld, 0, 0), y2 = same_as(&y1);
    plain->group_norm(rows, m, groups, z1.at, ld, 0.1, gamma->at, beta->at, inv1.at, work.at, y1.at, ld);
    fast->group_norm(rows, m, groups, z2.at, ld, 0.1, gamma->at, beta->at, inv2.at, work.at, y2.at, ld);
    same("group_norm, xhat", &z1, &z2, sum_error(on, m));
    same("group_norm, y", &y1, &y2, sum_error(on, m));

    struct array dg1 = vector(plain, m, -1, 1), dg2 = same_as(&dg1), db1 = vector(plain, m, -1, 1),
                 db2 = same_as(&db1), scratch = same_as(&db1), scratch2 = same_as(&db1);
    struct array dz1 = same_as(x), dz2 = same_as(x), onto_dy = same_as(dy), onto_x = same_as(x);
    plain->group_norm_grad(rows, m, groups, dy->at, ld, x->at, ld, inv1.at, gamma->at, dg1.at, db1.at,
                           work.at, dz1.at, ld);
    fast->group_norm_grad(rows, m, groups, dy->at, ld, x->at, ld, inv1.at, gamma->at, dg2.at, db2.at, work.at,
                          dz2.at, ld);
    fast->group_norm_grad(rows, m, groups, onto_dy.at, ld, x->at, ld, inv1.at, gamma->at, scratch.at,
                          scratch2.at, work.at, onto_dy.at, ld);
    fast->group_norm_grad(rows, m, groups, dy->at, ld, onto_x.at, ld, inv1.at, gamma->at, scratch.at,
                          scratch2.at, work.at, onto_x.at, ld);
    struct array copy1 = same_as(&dz2), copy2 = same_as(&dz2);
    same("group_norm_grad onto dy", &copy1, &onto_dy, 0);
    same("group_norm_grad onto xhat", &copy2, &onto_x, 0);
    same("group_norm_grad", &dz1, &dz2, 4 * sum_error(on, m)); /* inv is up to 3.2 */
    same("dgamma", &dg1, &dg2, sum_error(on, rows));
    same("dbeta", &db1, &db2, sum_error(on, rows));
    same("inv", &inv1, &inv2, sum_error(on, m));
    drop(&scratch), drop(&scratch2), drop(&work);
}

static __attribute__((unused)) void compare_normalization(const struct pair *on, size_t rows, size_t m,
                                                          size_t extra)
{
    const struct kernels *plain = on->plain, *fast = on->fast;
    size_t ld = kernel_pad(m) + extra;
    struct array x = matrix(plain, rows, m, ld, 0, 1), dy = matrix(plain, rows, m, ld, -1, 1);
    struct array mean1 = vector(plain, m, NAN, NAN), mean2 = same_as(&mean1), m2_1 = same_as(&mean1),
                 m2_2 = same_as(&mean1);
    plain->moments(rows, m, x.at, ld, mean1.at, m2_1.at);
    fast->moments(rows, m, x.at, ld, mean2.at, m2_2.at);
    double middle = 0, spread = 0;
    for (size_t i = 0; i < rows; i++)
        middle += get(&x, i, m - 1) / (double)rows;
    for (size_t i = 0; i < rows; i++)
        spread += pow(get(&x, i, m - 1) - middle, 2);
    assert_false(differ(middle, get(&mean1, 0, m - 1), close_to(on)));
    assert_false(differ(spread, get(&m2_1, 0, m - 1), sum_error(on, rows)));
    same("mean", &mean1, &mean2, sum_error(on, rows) / (double)rows + close_to(on));
    same("m2", &m2_1, &m2_2, sum_error(on, rows));

    struct array a = vector(plain, m, 0.5, 1), b = vector(plain, m, 0.5, 1), c = vector(plain, m, -1, 1),
                 d = vector(plain, m, -1, 1);
    struct array y1 = matrix(plain, rows, m, ld, 0, 0), y2 = same_as(&y1), in_place = same_as(&x);
    plain->shift(rows, m, x.at, ld, c.at, y1.at, ld);
    fast->shift(rows, m, x.at, ld, c.at, y2.at, ld);
    fast->shift(rows, m, in_place.at, ld, c.at, in_place.at, ld);
    struct array copy = same_as(&y2);
    same("shift in place", &copy, &in_place, 0);
    same("shift", &y1, &y2, close_to(on));

    for (int relu = 0; relu < 2; relu++) {
        check_normalize(on, plain, relu, &x, &dy, &a, &b);
        check_normalize(on, fast, relu, &x, &dy, &a, &b);
    }

    for (size_t groups = 1; groups <= m; groups++)
        if (m % groups == 0)
            compare_groups(on, groups, &x, &dy, &a, &b);
    drop(&x), drop(&dy), drop(&a), drop(&b), drop(&c), drop(&d);
}

/* ---------------------------------------------------------------- losses */

static __attribute__((unused)) struct array targets(const struct kernels *k, int loss, size_t rows,
                                                    size_t width, size_t ld)
{
    struct array t = matrix(k, rows, loss == SPH_LOSS_CE ? 1 : width, ld, -1, 1);
    for (size_t i = 0; i < t.rows && loss >= SPH_LOSS_BCE; i++)
        for (size_t j = 0; j < t.cols; j++)
            set(&t, i, j, floor(draw(0, loss == SPH_LOSS_CE ? (double)width : 2)));
    return t;
}

static __attribute__((unused)) void compare_loss(const struct pair *on, size_t rows, size_t width,
                                                 size_t extra)
{
    for (int loss = 0; loss < SPH_LOSS_COUNT; loss++)
        for (int form = 0; form < 3; form++) { /* padded, tight, without gradient */
            size_t ld = form == 1 ? width : kernel_pad(width) + extra;
            struct array p = matrix(on->plain, rows, width, ld, -3, 3);
            struct array t = targets(on->plain, loss, rows, width, form == 1 ? width : width + extra);
            struct array dp1 = matrix(on->plain, rows, width, ld, 0, 0), dp2 = same_as(&dp1);
            set(&p, 0, 0,
                loss == SPH_LOSS_CE ? 1 : get(&t, 0, 0)); /* an exact hit: mae's gradient is 0 there */
            struct loss_args args = {.rows = rows,
                                     .k = width,
                                     .p = p.at,
                                     .ldp = ld,
                                     .t = t.at,
                                     .ldt = t.ld,
                                     .weight = 1.0 / (double)rows,
                                     .smoothing = form ? 0.1 : 0,
                                     .delta = 0.7,
                                     .dp = form < 2 ? dp1.at : NULL,
                                     .lddp = ld};
            if (loss < SPH_LOSS_BCE)
                args.smoothing = 0;
            double value = on->plain->loss[loss](&args);
            args.dp = form < 2 ? dp2.at : NULL;
            double other = on->fast->loss[loss](&args);
            /* the fast sums add 256 terms at most before f64, the plain one all terms in a row in f64 */
            double bound = 32 * on->eps + 0x1p-53 * (double)(rows * width);
            if (differ(value, other, bound * (1 + fabs(value))))
                fail_msg("loss %d, %s, %zu x %zu: %.17g, expected %.17g", loss, on->fast->name, rows, width,
                         other, value);
            same("dp", &dp1, &dp2, loss == SPH_LOSS_CE ? sum_error(on, 8) : close_to(on));
            drop(&p), drop(&t);
        }
}

#endif
