/* SPDX-License-Identifier: MIT
 *
 * The kernels on numbers of a unit against their formulas, what the tables say of themselves, and all kernels
 * on arrays that end where memory ends. */
#include "kernel_compare.h"

/* ---------------------------------------------------------------- numbers of a unit */

static void radius_and_length_match_their_formulas(void **state)
{
    (void)state;
    enum { M = 9 };
    for (int n = 0; n < PAIRS; n++)
        for (int fold = 0; fold < 2; fold++) {
            struct pair on = pair_of(n);
            const struct kernels *k = on.fast;
            dice = 10;
            struct array r = vector(k, M, -2, 2), lambda = vector(k, M, -1, 1), scale = vector(k, M, 9, 9),
                         b = same_as(&scale), s = same_as(&scale);
            struct array along = vector(k, M, -1, 1), db = vector(k, M, -1, 1), ds = vector(k, M, -1, 1),
                         dr = same_as(&scale), dl = same_as(&scale);
            set(&r, 0, 3, 0), set(&r, 0, 4, -1.5), set(&r, 0, 5, 1);
            assert_true(k->radius(M, fold, r.at, lambda.at, scale.at, b.at, s.at));
            k->radius_grad(M, fold, r.at, lambda.at, along.at, db.at, ds.at, dr.at, dl.at);
            for (size_t j = 0; j < M; j++) {
                double rj = get(&r, 0, j), lj = get(&lambda, 0, j), dbj = get(&db, 0, j);
                int folded = fold && rj != 0;
                assert_false(differ(get(&scale, 0, j), folded ? fabs(rj) : 1, 0));
                assert_false(differ(get(&s, 0, j) * get(&scale, 0, j), rj, 0));
                assert_false(differ(get(&b, 0, j), get(&scale, 0, j) * lj, close_to(&on)));
                double want = folded ? copysign(get(&along, 0, j) + lj * dbj, rj) : get(&ds, 0, j);
                if (folded)
                    want = (rj < 0 ? -1 : 1) * (get(&along, 0, j) + lj * dbj);
                assert_false(differ(get(&dr, 0, j), want, close_to(&on)));
                assert_false(differ(get(&dl, 0, j), get(&scale, 0, j) * dbj, close_to(&on)));
            }
            for (size_t j = 0; j < M; j++)
                set(&r, 0, j, fold ? 0.5 + (double)j : 1);
            assert_false(k->radius(M, fold, r.at, NULL, scale.at, NULL, s.at));

            struct array vv = vector(k, M, 0.5, 2), across = same_as(&scale), dg = same_as(&scale),
                         product = same_as(&scale);
            set(&vv, 0, 2, 0);
            k->length(M, lambda.at, vv.at, scale.at);
            k->length_grad(M, lambda.at, vv.at, along.at, dg.at, across.at);
            k->negative_product(M, lambda.at, along.at, product.at);
            for (size_t j = 0; j < M; j++) {
                double inverse = j == 2 ? 0 : 1 / sqrt(get(&vv, 0, j)), g = get(&lambda, 0, j),
                       v_dw = get(&along, 0, j);
                assert_false(differ(get(&scale, 0, j), g * inverse, close_to(&on)));
                assert_false(differ(get(&dg, 0, j), v_dw * inverse, close_to(&on)));
                assert_false(differ(get(&across, 0, j), -g * v_dw * pow(inverse, 3), close_to(&on)));
                assert_false(differ(get(&product, 0, j), -g * v_dw, close_to(&on)));
            }
            k->length(M, NULL, vv.at, scale.at);
            assert_false(differ(get(&scale, 0, 1), 1 / sqrt(get(&vv, 0, 1)), close_to(&on)));
            drop(&r), drop(&lambda), drop(&scale), drop(&b), drop(&s), drop(&along), drop(&db), drop(&ds),
                drop(&dr), drop(&dl);
            drop(&vv), drop(&across), drop(&dg), drop(&product);
        }
}

static void no_kernel_reads_beyond_an_array(void **state)
{
    (void)state;
    static compare_fn *const all[] = {compare_copies,     compare_transpose,     compare_columns,
                                      compare_activation, compare_normalization, compare_loss};
    static const size_t row_counts[] = {1, 2, 3, 9}, columns[] = {1, 2, 3, 7, 8, 9, 15, 17, 29, 100};
    fences = 1;
    for (int p = 0; p < PAIRS; p++) {
        struct pair on = pair_of(p);
        for (size_t r = 0; r < sizeof row_counts / sizeof *row_counts; r++)
            for (size_t c = r % quick_step(3); c < sizeof columns / sizeof *columns; c += quick_step(3)) {
                for (size_t f = 0; f < sizeof all / sizeof *all; f++)
                    all[f](&on, row_counts[r], columns[c], 0);
                for (int form = 0; form < 16; form++)
                    compare_gemm(&on, row_counts[r], columns[c], row_counts[3 - r], form & 1, form & 2,
                                 form >> 2);
                compare_dots(&on, row_counts[r], 1 + c % 3, columns[c], 1);
                compare_polar(&on, 1 + row_counts[r], columns[c]);
            }
    }
    fences = 0;
}

static void tables_say_what_they_are(void **state)
{
    (void)state;
    for (int n = 0; n < PAIRS; n++) {
        struct pair on = pair_of(n);
        assert_string_equal(on.plain->name, "plain");
        assert_string_not_equal(on.fast->name, "plain");
        assert_int_equal(on.fast->dtype, on.plain->dtype);
        assert_int_equal(on.fast->size, on.fast->dtype == SPH_F64 ? 8 : 4);
        assert_true(on.fast->lanes > 1 && on.fast->lanes <= KERNEL_PAD && on.plain->lanes == 1);
    }
    assert_string_equal(kernels_pick(SPH_F32, KERNELS_BASE)->name, "base");
    assert_string_not_equal(kernels_pick(SPH_F32, KERNELS_AVX2)->name, "avx512");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_say_what_they_are),
        cmocka_unit_test(radius_and_length_match_their_formulas),
        cmocka_unit_test(no_kernel_reads_beyond_an_array),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
