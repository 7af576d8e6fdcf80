/* SPDX-License-Identifier: MIT
 *
 * Text columns with many values: which levels they keep, what stands for a level, and that no row's own target does. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/random.h"
#include "data/open.h"
#include "data_files.h"
#include "failure.h"
#include "rows/split.h"
#include "spherelu.h"

enum { ROWS = 3000, TOWNS = 150 };

/* town,x,y: towns and y drawn apart from each other; rows from `rare` on have a town of their own. classes: y is one of so many. */
static sph_data *open_towns(size_t rare, int classes, const char *drop, int *err)
{
    struct rng rng = rng_stream(5, RNG_NOISE, 0);
    size_t used = 0, room = 60 * ROWS;
    char *text = malloc(room);
    used += (size_t)snprintf(text, room, "town,x,y\n");
    for (size_t i = 0; i < ROWS; i++) {
        size_t town = (size_t)(rng_unit(&rng) * TOWNS);
        double x = rng_normal(&rng), y = rng_normal(&rng);
        used += (size_t)snprintf(text + used, room - used, i < rare ? "t%zu,%.6f," : "own%zu,%.6f,",
                                 i < rare ? town : i, x);
        used += (size_t)(classes ? snprintf(text + used, room - used, "k%d\n", (int)(fabs(y) * 9) % classes)
                                 : snprintf(text + used, room - used, "%.6f\n", y));
    }
    const char *path = csv_with(text);
    free(text);
    sph_data_opts opts;
    sph_data_defaults(&opts);
    opts.encode = 1;
    opts.drop = drop;
    sph_data *data = NULL;
    *err = sph_data_open(&data, path, &opts);
    unlink(path);
    return data;
}

static sph_data *towns(int classes)
{
    int err;
    sph_data *data = open_towns(ROWS - 40, classes, NULL, &err);
    assert_int_equal(err, 0);
    return data;
}

static double correlation(const sph_data *data, const sph_split *split, const double *feature)
{
    double sum[5] = {0}, n = (double)(split->train_rows + split->val_rows);
    for (size_t i = 0; i < split->train_rows + split->val_rows; i++) {
        size_t row = i < split->train_rows ? split->train[i] : split->val[i - split->train_rows];
        double a = feature[row], b = data->y[row], term[5] = {a, b, a * a, b * b, a * b};
        for (int k = 0; k < 5; k++)
            sum[k] += term[k] / n;
    }
    return (sum[4] - sum[0] * sum[1]) / sqrt((sum[2] - sum[0] * sum[0]) * (sum[3] - sum[1] * sum[1]));
}

/* With 2,400 rows a correlation by chance is within 0.06 (three standard errors); the mean of a town with its own rows in it
 * has 0.25. */
static void a_random_column_tells_nothing_of_a_random_target(void **state)
{
    (void)state;
    sph_data *data = towns(0);
    sph_split split;
    assert_int_equal(sph_split_make(&split, data, SPH_SPLIT_RANDOM, 0.2, 0.2, 1), 0);
    assert_true(data_waits(data));
    double *place = malloc(ROWS * sizeof *place), *out_of_fold = malloc(ROWS * sizeof *place),
           *within = malloc(ROWS * sizeof *place);
    for (size_t i = 0; i < ROWS; i++)
        place[i] = data->x[i * 2];
    assert_int_equal(data_encode(&data, &split), 0);
    assert_false(data_waits(data));
    assert_int_equal(data->columns[0].level_count, TOWNS);
    for (size_t i = 0; i < ROWS; i++) {
        out_of_fold[i] = data->x[i * 2];
        within[i] = data->columns[0].statistics[(size_t)place[i]];
        assert_true(i < ROWS - 40 || place[i] == TOWNS); /* towns of one row are the others */
    }
    assert_true(fabs(correlation(data, &split, out_of_fold)) < 0.06);
    assert_true(correlation(data, &split, within) > 0.15);
    for (size_t i = 0; i < split.test_rows; i++) /* what predict gives them, too */
        assert_true(out_of_fold[split.test[i]] == within[split.test[i]]);
    free(place);
    free(out_of_fold);
    free(within);
    sph_split_free(&split);
    sph_data_free(data);
}

static void no_feature_has_its_own_target_nor_one_of_the_test_part(void **state)
{
    (void)state;
    for (int test = 0; test < 2; test++) {
        sph_data *a = towns(0), *b = towns(0);
        sph_split split;
        assert_int_equal(sph_split_make(&split, a, SPH_SPLIT_RANDOM, 0.2, 0.2, 1), 0);
        for (size_t i = 0; i < (test ? split.test_rows : 1); i++)
            b->y[test ? split.test[i] : split.train[7]] += 1000;
        assert_int_equal(data_encode(&a, &split), 0);
        assert_int_equal(data_encode(&b, &split), 0);
        size_t differ = 0;
        for (size_t i = 0; i < 2 * ROWS; i++)
            differ += a->x[i] != b->x[i];
        assert_true(test ? !differ : differ > 100); /* the others do see it */
        assert_true(a->x[2 * split.train[7]] == b->x[2 * split.train[7]]);
        sph_split_free(&split);
        sph_data_free(a);
        sph_data_free(b);
    }
}

static void later_files_take_the_numbers_of_the_model(void **state)
{
    (void)state;
    for (int classes = 0; classes < 4; classes += 3) {
        sph_data *data = towns(classes), *later;
        sph_split split;
        json_t *schema;
        char name[40];
        size_t width = classes ? 3 : 1;
        assert_int_equal(sph_split_make(&split, data, SPH_SPLIT_RANDOM, 0.2, 0.2, 1), 0);
        assert_int_equal(data_encode(&data, &split), 0);
        assert_int_equal(data->features, width + 1);
        assert_int_equal(sph_data_feature(data, width - 1, name, sizeof name), 0);
        assert_string_equal(name, classes ? "town:k2" : "town");
        assert_int_equal(data_schema(data, &schema), 0);
        const char *path = csv_with("x,town\n0.5,t7\n0.5,nowhere\n0.5,own2990\n0.5,\n");
        assert_int_equal(data_open_like(&later, path, schema, 0, NULL), 0);
        const struct column *column = &data->columns[0];
        for (size_t k = 0; k < width; k++) {
            size_t level = 0;
            while (strcmp(column->levels[level], "t7") != 0)
                level++;
            assert_true(later->x[k] == column->statistics[level * width + k]);
            assert_true(later->x[width + 1 + k] == column->statistics[TOWNS * width + k]); /* the others */
            assert_true(later->x[2 * (width + 1) + k] == later->x[width + 1 + k]);
            assert_true(isnan(later->x[3 * (width + 1) + k]));
        }
        double sum = 0;
        for (size_t k = 0; k < width; k++)
            sum += later->x[k];
        assert_true(!classes || fabs(sum - 1) < 1e-12); /* shares of the classes */
        sph_data_free(later);
        unlink(path);
        json_decref(schema);
        sph_split_free(&split);
        sph_data_free(data);
    }
}

static void what_names_rows_is_still_refused_or_left_out(void **state)
{
    (void)state;
    int err;
    sph_data *data = open_towns(ROWS / 3, 0, NULL, &err);
    assert_int_equal(err, SPH_EFORMAT);
    assert_string_equal(sph_failure()->key, "town");
    data = open_towns(ROWS / 3, 0, "auto", &err);
    assert_int_equal(err, 0);
    assert_int_equal(data->features, 1);
    assert_false(data_waits(data));
    sph_data_free(data);
}

/* 300 weights of a unit that is not known, and the same in a column of ids. */
static void cells_that_look_like_numbers_are_not_left_out(void **state)
{
    (void)state;
    sph_data_opts opts;
    sph_data_defaults(&opts);
    opts.encode = 1;
    opts.drop = "auto";
    for (int is_id = 0; is_id < 2; is_id++) {
        char text[20000];
        size_t used = (size_t)snprintf(text, sizeof text, "%s,x,y\n", is_id ? "case_id" : "weight");
        for (int i = 0; i < 300; i++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%d.%d kg,%d,%d.5\n", i, i % 10, i % 7,
                                     i % 13);
        const char *path = csv_with(text);
        sph_data *data;
        assert_int_equal(sph_data_open(&data, path, &opts), is_id ? 0 : SPH_EFORMAT);
        if (!is_id)
            assert_string_equal(sph_failure()->key, "weight");
        else
            assert_int_equal(data->features, 1);
        sph_data_free(data);
        unlink(path);
    }
}

/* 40 levels with rows enough, 100 without: indicators, and one for the others. */
static void a_few_levels_and_many_rare_ones_are_indicators(void **state)
{
    (void)state;
    char text[20000] = "word,y\n";
    size_t used = strlen(text);
    for (int i = 0; i < 900; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, i < 800 ? "w%d,%d.5\n" : "rare%d,%d.5\n",
                                 i < 800 ? i % 40 : i, i % 7);
    const char *path = csv_with(text), *later = csv_with("word\nw3\nrare850\nnew\n");
    sph_data_opts opts;
    sph_data_defaults(&opts);
    opts.encode = 1;
    sph_data *data, *other;
    json_t *schema;
    char name[40];
    assert_int_equal(sph_data_open(&data, path, &opts), 0);
    assert_int_equal(data->features, 41);
    assert_false(data_waits(data));
    assert_int_equal(sph_data_feature(data, 40, name, sizeof name), 0);
    assert_string_equal(name, "word=(other)");
    assert_int_equal(data_schema(data, &schema), 0);
    assert_int_equal(data_open_like(&other, later, schema, 0, NULL), 0);
    assert_true(other->x[40] == 0 && other->x[41 + 40] == 1 && other->x[2 * 41 + 40] == 1);
    assert_int_equal(other->counts.unseen, 1); /* rare850 occurred in training */
    sph_data_free(other);
    opts.strict = 1;
    assert_int_equal(data_open_like(&other, later, schema, 0, &opts), SPH_EFORMAT);
    assert_string_equal(sph_failure()->key, "word");
    assert_int_equal(sph_failure()->line, 4);
    sph_data_free(data);
    json_decref(schema);
    unlink(path);
    unlink(later);
}

/* Two indicators between two numbers: raw ones are never touched, whatever happens to the others. */
static void raw_indicators_stay_as_they_are(void **state)
{
    (void)state;
    static const double first[] = {1, 2, 3, 4, 50}, second[] = {5, 1, 5, 5, 9};
    static const char *const words[] = {"a", "b", "b", "b", NULL};
    static const uint32_t all[] = {0, 1, 2, 3, 4};
    const sph_cells cells[] = {{.name = "first", .kind = COLUMN_NUMBER, .numbers = first},
                               {.name = "word", .kind = COLUMN_TEXT, .texts = words},
                               {.name = "second", .kind = COLUMN_NUMBER, .numbers = second}};
    sph_data *data;
    assert_int_equal(sph_data_from_columns(&data, NULL, cells, 3, 5, NULL), 0);
    for (int scale = 0; scale < SPH_SCALE_COUNT; scale++)
        for (int indicators = 0; indicators < SPH_INDICATORS_COUNT; indicators++) {
            struct scaling scaling;
            double out[20];
            assert_int_equal(scaling_fit(&scaling, data, all, 5,
                                         &(struct scaling_how){SPH_STANDARDIZE_FEATURES, (sph_scale)scale,
                                                               (sph_indicators)indicators}),
                             0);
            scaling_apply_x(&scaling, 5, sph_data_x(data), out);
            size_t plain = 0, coded = 0; /* that are as they were */
            for (size_t i = 0; i < 20; i++)
                *(i % 4 == 1 || i % 4 == 2 ? &coded : &plain) += out[i] == sph_data_x(data)[i];
            assert_int_equal(plain, 0);
            assert_int_equal(coded == 10, indicators == SPH_INDICATORS_RAW);
            scaling_free(&scaling);
        }
    sph_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_random_column_tells_nothing_of_a_random_target),
        cmocka_unit_test(no_feature_has_its_own_target_nor_one_of_the_test_part),
        cmocka_unit_test(later_files_take_the_numbers_of_the_model),
        cmocka_unit_test(what_names_rows_is_still_refused_or_left_out),
        cmocka_unit_test(cells_that_look_like_numbers_are_not_left_out),
        cmocka_unit_test(a_few_levels_and_many_rare_ones_are_indicators),
        cmocka_unit_test(raw_indicators_stay_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
