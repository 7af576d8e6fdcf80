/* SPDX-License-Identifier: MIT
 *
 * Standardisation: fitted on the training rows alone, as scikit-learn does it, and undone exactly enough. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rows/data.h"
#include "failure.h"

/* Columns: plain, constant, constant but for rounding, with a missing cell. Rows 4 and 5 are not for
 * training. */
static const double x[] = {1,   7, 0.1 * 3,   10,  /**/
                           2,   7, 0.3,       NAN, /**/
                           3,   7, 0.1 + 0.2, 20,  /**/
                           4,   7, 0.3,       60,  /**/
                           1e6, 9, 5,         1e6, /**/
                           1e6, 9, NAN,       1e6};
static const double y[] = {10, 20, 30, 60, 1e7, 1e7};
static const uint32_t rows[] = {3, 1, 0, 2};

static sph_data *made(sph_task task)
{
    static const double classes[] = {0, 1, 0, 1, 1, 0};
    sph_data *data;
    assert_int_equal(sph_data_from_arrays(&data, x, task ? classes : y, 6, 4, 1, task, NULL), 0);
    return data;
}

static void scaling_is_fitted_on_the_training_rows_with_population_deviation(void **state)
{
    (void)state;
    sph_data *data = made(SPH_TASK_REGRESSION);
    struct scaling scaling;
    assert_int_equal(
        scaling_fit(&scaling, data, rows, 4, &(struct scaling_how){.kind = SPH_STANDARDIZE_AUTO}), 0);
    assert_true(scaling.x_mean[0] == 2.5);
    assert_true(fabs(scaling.x_scale[0] - sqrt(1.25)) < 1e-15); /* one rounding of a root */
    assert_true(scaling.x_scale[1] == 1.0);
    assert_true(scaling.x_scale[2] == 1.0);
    assert_true(scaling.x_mean[3] == 30.0); /* of the three that are there */
    assert_true(fabs(scaling.x_scale[3] - sqrt(1400.0 / 3)) < 1e-13);
    assert_true(scaling.y_mean[0] == 30.0);
    assert_true(fabs(scaling.y_scale[0] - sqrt(350.0)) < 1e-13);

    double out[24], back[6];
    scaling_apply_x(&scaling, 6, x, out);
    assert_true(out[4 * 1 + 3] == 0.0); /* the missing cell takes the mean */
    assert_true(out[4 * 5 + 2] == 0.0);
    assert_true(out[4 * 4 + 1] == 2.0);
    double sum = 0, squares = 0;
    for (int i = 0; i < 4; i++) {
        sum += out[4 * i];
        squares += out[4 * i] * out[4 * i];
    }
    assert_true(fabs(sum) < 1e-14 && fabs(squares - 4.0) < 1e-14);
    scaling_apply_y(&scaling, 6, y, back);
    assert_true(fabs(back[0] + 20.0 / sqrt(350.0)) < 1e-15);
    scaling_undo_y(&scaling, 6, back, back);
    for (int i = 0; i < 6; i++)
        assert_true(fabs(back[i] - y[i]) <= 4e-16 * fabs(y[i]) * 4); /* a few roundings */

    struct scaling copy;
    assert_int_equal(scaling_copy(&copy, &scaling), 0);
    assert_ptr_not_equal(copy.x_mean, scaling.x_mean);
    assert_memory_equal(copy.x_mean, scaling.x_mean, 4 * sizeof *copy.x_mean);
    assert_memory_equal(copy.x_scale, scaling.x_scale, 4 * sizeof *copy.x_mean);
    assert_memory_equal(copy.x_fill, scaling.x_fill, 4 * sizeof *copy.x_mean);
    assert_memory_equal(copy.y_scale, scaling.y_scale, sizeof *copy.y_scale);
    scaling_free(&copy);
    scaling_free(&scaling);
    assert_null(scaling.x_mean);
    sph_data_free(data);
}

static void without_scaling_missing_cells_still_take_the_training_mean(void **state)
{
    (void)state;
    sph_data *data = made(SPH_TASK_REGRESSION);
    struct scaling scaling;
    double out[24];
    assert_int_equal(scaling_fit(&scaling, data, rows, 4, &(struct scaling_how){.kind = SPH_STANDARDIZE_OFF}),
                     0);
    assert_null(scaling.x_mean);
    assert_null(scaling.y_mean);
    scaling_apply_x(&scaling, 6, x, out);
    for (int i = 0; i < 24; i++)
        assert_true(out[i] == (i == 7 ? 30.0 : i == 22 ? scaling.x_fill[2] : x[i]));
    assert_true(fabs(scaling.x_fill[2] - 0.3) < 1e-15);
    scaling_free(&scaling);
    sph_data_free(data);
}

static void targets_are_scaled_only_where_they_are_real_numbers(void **state)
{
    (void)state;
    sph_data *regression = made(SPH_TASK_REGRESSION), *binary = made(SPH_TASK_BINARY);
    struct scaling scaling;
    assert_int_equal(
        scaling_fit(&scaling, regression, rows, 4, &(struct scaling_how){.kind = SPH_STANDARDIZE_FEATURES}),
        0);
    assert_non_null(scaling.x_mean);
    assert_null(scaling.y_mean);
    scaling_free(&scaling);
    for (int kind = SPH_STANDARDIZE_AUTO; kind <= SPH_STANDARDIZE_BOTH; kind++) {
        assert_int_equal(
            scaling_fit(&scaling, binary, rows, 4, &(struct scaling_how){.kind = (sph_standardize)kind}), 0);
        assert_null(scaling.y_mean);
        assert_true((scaling.x_mean == NULL) == (kind == SPH_STANDARDIZE_OFF));
        scaling_free(&scaling);
    }
    assert_int_equal(
        scaling_fit(&scaling, regression, rows, 4, &(struct scaling_how){.kind = SPH_STANDARDIZE_MEAN}), 0);
    assert_null(scaling.y_mean);
    for (size_t j = 0; j < scaling.features; j++)
        assert_true(scaling.x_mean[j] == scaling.x_fill[j] && scaling.x_scale[j] == 1);
    scaling_free(&scaling);
    sph_data_free(regression);
    sph_data_free(binary);
}

/* Squares of such numbers are 0 or infinite; their spread is a number all the same, and the same as of larger ones. */
static void numbers_whose_squares_leave_the_range_are_scaled(void **state)
{
    (void)state;
    static const double plain[] = {1, 2, 4, 9.5}, weights[] = {1, 2, 0, 3};
    static const uint32_t all[] = {0, 1, 2, 3};
    for (int exponent = -1000; exponent <= 1000; exponent += 250)
        for (int weighted = 0; weighted < 2; weighted++) {
            double values[4];
            struct scaling wide, usual;
            sph_data *data, *like;
            for (size_t i = 0; i < 4; i++)
                values[i] = ldexp(plain[i], exponent);
            assert_int_equal(sph_data_from_arrays(&data, values, values, 4, 1, 1, SPH_TASK_REGRESSION, NULL),
                             0);
            assert_int_equal(sph_data_from_arrays(&like, plain, plain, 4, 1, 1, SPH_TASK_REGRESSION, NULL),
                             0);
            if (weighted) {
                assert_int_equal(data_set_weights(data, weights), 0);
                assert_int_equal(data_set_weights(like, weights), 0);
            }
            assert_int_equal(
                scaling_fit(&wide, data, all, 4, &(struct scaling_how){.kind = SPH_STANDARDIZE_BOTH}), 0);
            assert_int_equal(
                scaling_fit(&usual, like, all, 4, &(struct scaling_how){.kind = SPH_STANDARDIZE_BOTH}), 0);
            assert_true(wide.x_scale[0] ==
                        ldexp(usual.x_scale[0], exponent)); /* a power of two rounds nothing */
            assert_true(wide.y_scale[0] == ldexp(usual.y_scale[0], exponent));
            assert_true(weighted || fabs(usual.x_scale[0] - sqrt(10.796875)) < 1e-15);
            scaling_apply_x(&wide, 1, values + 3, values + 3);
            assert_true(values[3] == (plain[3] - usual.x_mean[0]) / usual.x_scale[0]);
            scaling_free(&wide);
            scaling_free(&usual);
            sph_data_free(data);
            sph_data_free(like);
        }
    double few[] = {0, 3 * 0x1p-1074}; /* no number is smaller than a third of this */
    struct scaling scaling;
    sph_data *data;
    assert_int_equal(sph_data_from_arrays(&data, few, few, 2, 1, 1, SPH_TASK_REGRESSION, NULL), 0);
    assert_int_equal(scaling_fit(&scaling, data, all, 2, &(struct scaling_how){.kind = SPH_STANDARDIZE_BOTH}),
                     0);
    assert_true(scaling.x_scale[0] > 0 && scaling.x_scale[0] <= few[1]);
    scaling_free(&scaling);
    sph_data_free(data);
}

/* As in scikit-learn's StandardScaler; whoever asks is told that the values differ. */
static void a_spread_that_rounding_explains_is_no_spread(void **state)
{
    (void)state;
    static const double columns[] = {1e9, 1e9 + 1e-7, 1e9, 1e9, 5, 5, 5, 5, 1, -1, 1, -1};
    static const uint32_t all[] = {0, 1, 2, 3};
    static const double scale[] = {1, 1, 1};
    static const int flat[] = {1, 0, 0}; /* the last one's deviation is 1 */
    double table[12];
    struct scaling scaling;
    sph_data *data;
    for (size_t i = 0; i < 12; i++)
        table[i % 4 * 3 + i / 4] = columns[i];
    assert_int_equal(sph_data_from_arrays(&data, table, columns, 4, 3, 1, SPH_TASK_REGRESSION, NULL), 0);
    assert_int_equal(scaling_fit(&scaling, data, all, 4, &(struct scaling_how){.kind = SPH_STANDARDIZE_BOTH}),
                     0);
    for (size_t j = 0; j < 3; j++) {
        assert_true(scaling.x_scale[j] == scale[j]);
        assert_int_equal(scaling_flattens(data, all, 4, j, 0), flat[j]);
    }
    assert_int_equal(scaling_flattens(data, all, 4, 0, 1), 1);
    scaling_free(&scaling);
    sph_data_free(data);
}

/* A table of one column in its first `count` places, weights of its rows or NULL; each row is for training. */
static void fit_robust(struct scaling *out, const double *values, const double *weights, size_t count)
{
    double weight[16], targets[16] = {0};
    uint32_t all[16];
    sph_data *data;
    for (size_t i = 0; i < count; i++) {
        weight[i] = weights ? weights[i] : 1;
        all[i] = (uint32_t)i;
    }
    assert_int_equal(sph_data_from_arrays(&data, values, targets, count, 1, 1, SPH_TASK_REGRESSION, NULL), 0);
    data->side[COLUMN_WEIGHT] = weights ? weight : NULL;
    assert_int_equal(
        scaling_fit(out, data, all, count, &(struct scaling_how){SPH_STANDARDIZE_BOTH, SPH_SCALE_ROBUST, 0}),
        0);
    data->side[COLUMN_WEIGHT] = NULL;
    sph_data_free(data);
}

/* The numbers are those of numpy.quantile(..., method="averaged_inverted_cdf"). */
static void robust_scaling_takes_median_and_quartiles_and_clips(void **state)
{
    (void)state;
    static const struct {
        double values[8];
        size_t count;
        double middle, scale;
    } cases[] = {
        {{1, 2, 3, 4, 100}, 5, 3, 2},
        {{4, 2, 1, 3}, 4, 2.5, 2},
        {{0, 0, 0, 0, 10, NAN}, 6, 0, 5}, /* equal quartiles: half the range */
        {{7, 7, 7}, 3, 7, 1},
        {{-3, 8, 1, 0.5, 2, 7, 7, 1e6}, 8, 4.5, 6.75},
        {{NAN, NAN}, 2, 0, 1},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct scaling scaling;
        fit_robust(&scaling, cases[c].values, NULL, cases[c].count);
        assert_true(scaling.x_mean[0] == cases[c].middle && scaling.x_scale[0] == cases[c].scale);
        static const double far[] = {-1e300, -40, -1, 0, 0.3, 1, 2, 40, 1e300};
        double before = -INFINITY;
        for (size_t i = 0; i < sizeof far / sizeof *far && isnan(cases[c].values[0]) == 0; i++) {
            double z = far[i], value = z * scaling.x_scale[0] + scaling.x_mean[0], out;
            scaling_apply_x(&scaling, 1, &value, &out);
            assert_true(fabs(out) <= 3 && out >= before);
            assert_true(fabs(z) > 100 || fabs(out - z / sqrt(1 + z * z / 9)) < 1e-14);
            assert_true(fabs(z) > 100 ||
                        fabs(scaling_feature_of(&scaling, 0, out) - value) < 1e-11 * (1 + fabs(value)));
            before = out;
        }
        assert_true(isnan(cases[c].values[0]) || isnan(scaling_feature_of(&scaling, 0, 3)));
        scaling_free(&scaling);
    }
}

static void a_row_of_weight_two_counts_as_two_in_quartiles(void **state)
{
    (void)state;
    static const double values[] = {5, 1, 9, 2, 4, 30}, weights[] = {2, 1, 3, 0, 1, 2},
                        repeated[] = {5, 5, 1, 9, 9, 9, 4, 30, 30}, halves[] = {1, 0.5, 1.5, 0, 0.5, 1};
    struct scaling a, b, c;
    fit_robust(&a, values, weights, 6);
    fit_robust(&b, repeated, NULL, 9);
    fit_robust(&c, values, halves, 6);
    assert_true(a.x_mean[0] == b.x_mean[0] && a.x_scale[0] == b.x_scale[0]);
    assert_true(a.x_mean[0] == c.x_mean[0] && a.x_scale[0] == c.x_scale[0]);
    scaling_free(&a);
    scaling_free(&b);
    scaling_free(&c);
}

static void numbers_too_large_to_add_up_are_refused(void **state)
{
    (void)state;
    static const double big[] = {1.7e308, 1.6e308}, small[] = {1, 2};
    static const uint32_t both[] = {0, 1};
    sph_data *data;
    struct scaling scaling;
    assert_int_equal(sph_data_from_arrays(&data, big, small, 2, 1, 1, SPH_TASK_REGRESSION, NULL), 0);
    assert_fails(scaling_fit(&scaling, data, both, 2, &(struct scaling_how){.kind = SPH_STANDARDIZE_AUTO}),
                 SPH_EFORMAT, .key = "0");
    sph_data_free(data);
    assert_int_equal(sph_data_from_arrays(&data, small, big, 2, 1, 1, SPH_TASK_REGRESSION, NULL), 0);
    assert_fails(scaling_fit(&scaling, data, both, 2, &(struct scaling_how){.kind = SPH_STANDARDIZE_AUTO}),
                 SPH_EFORMAT, .key = "1");
    sph_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scaling_is_fitted_on_the_training_rows_with_population_deviation),
        cmocka_unit_test(without_scaling_missing_cells_still_take_the_training_mean),
        cmocka_unit_test(targets_are_scaled_only_where_they_are_real_numbers),
        cmocka_unit_test(numbers_whose_squares_leave_the_range_are_scaled),
        cmocka_unit_test(a_spread_that_rounding_explains_is_no_spread),
        cmocka_unit_test(robust_scaling_takes_median_and_quartiles_and_clips),
        cmocka_unit_test(a_row_of_weight_two_counts_as_two_in_quartiles),
        cmocka_unit_test(numbers_too_large_to_add_up_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
