/* SPDX-License-Identifier: MIT
 *
 * The activations: fast kernels against their plain twins, those against formulas written out anew and
 * central differences. */
#include "kernel_compare.h"

/* dy as the product of a column and a row: the same as the product written out. */
static void compare_outer(const struct pair *on, size_t rows, size_t m, size_t extra)
{
    struct array z = matrix(on->plain, rows, m, kernel_pad(m) + extra, -1, 1),
                 s = vector(on->plain, m, -1, 1);
    struct array left = matrix(on->plain, rows, 1, KERNEL_PAD, -1, 1),
                 right = matrix(on->plain, 1, m, kernel_pad(m), -1, 1);
    struct array dy = matrix(on->plain, rows, m, kernel_pad(m), 0, 0);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < m; j++)
            set(&dy, i, j, get(&left, i, 0) * get(&right, 0, j));
    static const sph_act acts[] = {SPH_ACT_IDENTITY, SPH_ACT_RELU, SPH_ACT_LEAKY_RELU, SPH_ACT_ELU};
    for (int a = 0; a < 8; a++) {
        struct array dz1 = same_as(&z), dz2 = same_as(&z), dz3 = same_as(&z);
        struct array db1 = vector(on->plain, m, -1, 1), db2 = same_as(&db1), db3 = same_as(&db1);
        struct act_args args = {.rows = rows,
                                .m = m,
                                .z = z.at,
                                .ldz = z.ld,
                                .s = a & 4 ? s.at : NULL,
                                .dy = dy.at,
                                .lddy = dy.ld,
                                .dz = dz1.at,
                                .lddz = dz1.ld,
                                .db = db1.at};
        on->plain->act_grad[acts[a & 3]](&args);
        args.dy = NULL, args.left = left.at, args.ld_left = left.ld, args.right = right.at;
        args.dz = dz2.at, args.db = db2.at;
        on->plain->act_grad[acts[a & 3]](&args);
        args.dz = dz3.at, args.db = db3.at;
        on->fast->act_grad[acts[a & 3]](&args);
        struct array copy = same_as(&dz2), db_copy = same_as(&db2);
        same("outer, plain", &dz1, &dz2, close_to(on));
        same("outer, fast", &copy, &dz3, close_to(on));
        same("db of outer, plain", &db1, &db2, sum_error(on, 2 * rows));
        same("db of outer, fast", &db_copy, &db3, sum_error(on, 2 * rows));
    }
    drop(&z), drop(&s), drop(&left), drop(&right), drop(&dy);
}

static void outer_gradients_match_the_product_written_out(void **state)
{
    (void)state;
    on_all_shapes(compare_outer);
}

static void activations_match_twins_scaled_and_in_place(void **state)
{
    (void)state;
    on_all_shapes(compare_activation);
}

static double act_of_one(const struct kernels *k, int act, double z, double *slope)
{
    enum { T_RIGHT = 1, A_RIGHT = 3, T_LEFT = -1, A_LEFT = 5 };
    struct array in = matrix(k, 1, 1, KERNEL_PAD, z, z), out = same_as(&in),
                 one = matrix(k, 1, 1, KERNEL_PAD, 1, 1), dz = same_as(&in);
    struct array shape = matrix(k, 4, 1, 1, 0, 0), dshape = same_as(&shape);
    set(&in, 0, 0, z);
    set(&shape, SRELU_T_RIGHT, 0, T_RIGHT), set(&shape, SRELU_A_RIGHT, 0, A_RIGHT);
    set(&shape, SRELU_T_LEFT, 0, T_LEFT), set(&shape, SRELU_A_LEFT, 0, A_LEFT);
    struct act_args args = {.rows = 1,
                            .m = 1,
                            .z = in.at,
                            .ldz = KERNEL_PAD,
                            .shape = shape.at,
                            .y = out.at,
                            .ldy = KERNEL_PAD,
                            .dy = one.at,
                            .lddy = KERNEL_PAD,
                            .dz = dz.at,
                            .lddz = KERNEL_PAD,
                            .dshape = dshape.at};
    k->act[act](&args);
    k->act_grad[act](&args);
    double y = get(&out, 0, 0);
    *slope = get(&dz, 0, 0);
    drop(&in), drop(&out), drop(&one), drop(&dz), drop(&shape), drop(&dshape);
    return y;
}

static void activations_have_their_values_slopes_and_ties(void **state)
{
    (void)state;
    static const struct {
        int act;
        double z, y, slope;
    } rows[] = {
        {SPH_ACT_IDENTITY, -3, -3, 1},
        {SPH_ACT_RELU, 2, 2, 1},
        {SPH_ACT_RELU, -2, 0, 0},
        {SPH_ACT_RELU, 0, 0, 0},
        {SPH_ACT_RELU, INFINITY, INFINITY, 1},
        {SPH_ACT_LEAKY_RELU, 2, 2, 1},
        {SPH_ACT_LEAKY_RELU, -2, -0.02, 0.01},
        {SPH_ACT_LEAKY_RELU, 0, 0, 0.01},
        {SPH_ACT_ELU, 2, 2, 1},
        {SPH_ACT_ELU, 1000, 1000, 1},
        {SPH_ACT_ELU, 0, 0, 1},
        {SPH_ACT_ELU, -1, -0.63212055882855767, 0.36787944117144233},
        {SPH_ACT_ELU, -1000, -1, 0},
        {SPH_ACT_SRELU, 0.5, 0.5, 1},
        {SPH_ACT_SRELU, 2, 1 + 3 * 1, 3},
        {SPH_ACT_SRELU, -2, -1 - 5 * 1, 5},
        {SPH_ACT_SRELU, 1, 1, 3},
        {SPH_ACT_SRELU, -1, -1, 5},
    };
    for (int p = 0; p < PAIRS; p++) {
        struct pair on = pair_of(p);
        for (const struct kernels *k = on.plain; k; k = k == on.plain ? on.fast : NULL)
            for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
                double slope, y = act_of_one(k, rows[r].act, rows[r].z, &slope);
                if (!(y == rows[r].y) && differ(rows[r].y, y, 4 * on.eps))
                    fail_msg("%s: act %d of %g is %.17g, expected %.17g", k->name, rows[r].act, rows[r].z, y,
                             rows[r].y);
                if (differ(rows[r].slope, slope, 4 * on.eps))
                    fail_msg("%s: slope %d at %g is %.17g, expected %.17g", k->name, rows[r].act, rows[r].z,
                             slope, rows[r].slope);
            }
    }
}

static void elu_is_accurate_relative_to_its_size_near_zero(void **state)
{
    (void)state;
    for (int p = 0; p < PAIRS; p++) {
        struct pair on = pair_of(p);
        for (double z = -1e-3; z < -1e-12; z /= 7) {
            double rounded = on.fast->dtype == SPH_F32 ? (double)(float)z : z, slope;
            double y = act_of_one(on.fast, SPH_ACT_ELU, z, &slope);
            assert_true(fabs(y / expm1(rounded) - 1) <= 2 * on.eps);
        }
    }
}

static void nan_stays_nan_through_activations_and_losses(void **state)
{
    (void)state;
    for (int p = 0; p < PAIRS; p++) {
        struct pair on = pair_of(p);
        for (const struct kernels *k = on.plain; k; k = k == on.plain ? on.fast : NULL) {
            double slope;
            for (int act = 0; act < SPH_ACT_COUNT; act++)
                assert_true(isnan(act_of_one(k, act, NAN, &slope)));
            for (int loss = 0; loss < SPH_LOSS_COUNT; loss++)
                for (size_t width = 1; width < 20; width++)
                    for (size_t bad = 0; bad < width; bad++) {
                        struct array pred = matrix(k, 2, width, kernel_pad(width), -1, 1),
                                     t = matrix(k, 2, width, width, 0, 0);
                        set(&pred, 1, bad, NAN);
                        struct loss_args args = {.rows = 2,
                                                 .k = width,
                                                 .p = pred.at,
                                                 .ldp = pred.ld,
                                                 .t = t.at,
                                                 .ldt = width,
                                                 .weight = 1};
                        assert_true(isnan(k->loss[loss](&args)));
                        drop(&pred), drop(&t);
                    }
        }
    }
}

/* The sum of c * y as a function of one entry of an array; c is what the gradient kernels get as dy. */
static double act_sum(const struct kernels *k, int act, struct act_args *args, const struct array *y,
                      const struct array *c)
{
    double sum = 0;
    k->act[act](args);
    for (size_t i = 0; i < y->rows; i++)
        for (size_t j = 0; j < y->cols; j++)
            sum += get(y, i, j) * get(c, i, j);
    return sum;
}

static void activation_gradients_match_differences(void **state)
{
    (void)state;
    enum { ROWS = 5, M = 7, LD = KERNEL_PAD };
    const struct kernels *k = kernels_pick(SPH_F64, KERNELS_PLAIN);
    dice = 5;
    for (int act = 0; act < SPH_ACT_COUNT; act++) {
        struct array z = matrix(k, ROWS, M, LD, -2, 2), s = vector(k, M, -1, 1), shape = srelu_shapes(k, M);
        struct array y = matrix(k, ROWS, M, LD, 0, 0), dy = matrix(k, ROWS, M, LD, -1, 1), dz = same_as(&y);
        struct array ds = vector(k, M, 0, 0), dshape = matrix(k, SRELU_SHAPE, M, M, 0, 0);
        for (size_t i = 0; i < ROWS; i++)
            for (size_t j = 0; j < M; j++) { /* away from the kinks */
                double at = get(&z, i, j), left = get(&shape, SRELU_T_LEFT, j),
                       right = get(&shape, SRELU_T_RIGHT, j);
                if (fabs(at) < 1e-3 || fabs(at - left) < 1e-3 || fabs(at - right) < 1e-3)
                    set(&z, i, j, at + 0.01);
            }
        struct act_args args = {.rows = ROWS,
                                .m = M,
                                .z = z.at,
                                .ldz = LD,
                                .s = s.at,
                                .shape = shape.at,
                                .y = y.at,
                                .ldy = LD,
                                .dy = dy.at,
                                .lddy = LD,
                                .dz = dz.at,
                                .lddz = LD,
                                .ds = ds.at,
                                .dshape = dshape.at};
        k->act_grad[act](&args);
        struct {
            struct array *at, *grad;
        } learned[] = {{&z, &dz}, {&s, &ds}, {&shape, &dshape}};
        for (size_t which = 0; which < (act == SPH_ACT_SRELU ? 3 : 2); which++)
            for (size_t i = 0; i < learned[which].at->rows; i++)
                for (size_t j = 0; j < M; j++) {
                    double at = get(learned[which].at, i, j);
                    set(learned[which].at, i, j, at + step_size);
                    double up = act_sum(k, act, &args, &y, &dy);
                    set(learned[which].at, i, j, at - step_size);
                    double down = act_sum(k, act, &args, &y, &dy);
                    set(learned[which].at, i, j, at);
                    assert_false(
                        differ((up - down) / (2 * step_size), get(learned[which].grad, i, j), slope_error));
                }
        drop(&z), drop(&s), drop(&shape), drop(&y), drop(&dy), drop(&dz), drop(&ds), drop(&dshape);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(activations_match_twins_scaled_and_in_place),
        cmocka_unit_test(outer_gradients_match_the_product_written_out),
        cmocka_unit_test(activations_have_their_values_slopes_and_ties),
        cmocka_unit_test(elu_is_accurate_relative_to_its_size_near_zero),
        cmocka_unit_test(nan_stays_nan_through_activations_and_losses),
        cmocka_unit_test(activation_gradients_match_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
