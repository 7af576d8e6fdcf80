/* SPDX-License-Identifier: MIT
 *
 * Kernels on whole matrices: copies, products and columns. Every fast kernel is compared with its plain twin
 * on random, odd shapes. */
#include "kernel_compare.h"

/* ---------------------------------------------------------------- copies */

static void copies_keep_values_and_sums_add_up(void **state)
{
    (void)state;
    on_all_shapes(compare_copies);
}

static void all_finite_sees_one_bad_number_anywhere(void **state)
{
    (void)state;
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int p = 0; p < PAIRS; p++) {
        struct pair on = pair_of(p);
        for (size_t count = 1; count < 70; count++) {
            struct array a = vector(on.fast, count, -1, 1);
            set(&a, 0, count / 2, on.fast->dtype == SPH_F64 ? 1e308 : 3e38);
            assert_true(on.plain->all_finite(count, a.at) && on.fast->all_finite(count, a.at));
            for (size_t i = 0; i < count; i++) {
                double was = get(&a, 0, i);
                set(&a, 0, i, bad[i % 3]);
                assert_false(on.plain->all_finite(count, a.at) || on.fast->all_finite(count, a.at));
                set(&a, 0, i, was);
            }
            drop(&a);
        }
        assert_true(on.fast->all_finite(0, NULL));
    }
}

/* ---------------------------------------------------------------- products */

static void transpose_matches_twin(void **state)
{
    (void)state;
    on_all_shapes(compare_transpose);
}

static void gemm_matches_twin_and_sums(void **state)
{
    (void)state;
    static const size_t shapes[][3] = {{1, 1, 1},      {2, 7, 3},      {3, 8, 2},      {5, 9, 17},
                                       {13, 100, 47},  {6, 17, 1},     {47, 24, 9},    {404, 100, 13},
                                       {13, 100, 404}, {2, 513, 4608}, {404, 64, 100}, {250, 70, 130},
                                       {1, 3, 0}};
    for (int p = 0; p < PAIRS; p++) {
        struct pair on = pair_of(p);
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            for (int form = (int)s % (int)quick_step(5); form < 16; form += (int)quick_step(5))
                compare_gemm(&on, shapes[s][0], shapes[s][1], shapes[s][2], form & 1, form & 2, form >> 2);
    }
}

static void dots_match_twin(void **state)
{
    (void)state;
    static const size_t shapes[][3] = {{1, 1, 1},   {2, 1, 7},    {3, 2, 8}, {47, 1, 100},
                                       {404, 3, 9}, {5, 2, 4608}, {6, 1, 3}};
    for (int p = 0; p < PAIRS; p++) {
        struct pair on = pair_of(p);
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            for (int with_bias = 0; with_bias < 2; with_bias++)
                compare_dots(&on, shapes[s][0], shapes[s][1], shapes[s][2], with_bias);
    }
}

/* ---------------------------------------------------------------- columns */

static void column_kernels_match_twins_unpadded_and_in_place(void **state)
{
    (void)state;
    on_all_shapes(compare_columns);
    for (int p = 0; p < PAIRS; p++) {
        struct pair on = pair_of(p);
        compare_columns(&on, 4608, 9, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_keep_values_and_sums_add_up),
        cmocka_unit_test(all_finite_sees_one_bad_number_anywhere),
        cmocka_unit_test(transpose_matches_twin),
        cmocka_unit_test(gemm_matches_twin_and_sums),
        cmocka_unit_test(dots_match_twin),
        cmocka_unit_test(column_kernels_match_twins_unpadded_and_in_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
