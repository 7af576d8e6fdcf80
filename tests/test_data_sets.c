/* SPDX-License-Identifier: MIT
 *
 * The known sets: synthetic ones from their definition, real ones (where $SPHERELU_DATA has them) against
 * their published shape and statistics. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "data/tool.h"
#include "file/file.h"
#include "base/memory.h"
#include "data/open.h"
#include "data/registry.h"
#include "failure.h"
#include "spherelu.h"

static sph_data *opened(const char *name, const sph_data_opts *opts)
{
    sph_data *data;
    if (sph_data_open(&data, name, opts) < 0)
        fail_msg("%s", sph_error());
    return data;
}

/* What the rows of the table claim, of each set that is there. A folder of images may hold a part. */
static void known_sets_are_what_their_rows_say(void **state)
{
    (void)state;
    const sph_data_set *sets;
    size_t count = sph_data_sets(&sets), there = 0;
    for (size_t i = 0; i < count; i++) {
        char path[4096];
        assert_ptr_equal(registry_find(sets[i].name), &sets[i]);
        assert_true(strlen(sets[i].from) > 10);
        if (sph_data_set_path(&sets[i], path, sizeof path) < 0)
            continue;
        assert_int_equal(!*path, !sets[i].file);
        there++;
        sph_data *data = opened(sets[i].name, NULL);
        assert_int_equal(data->task, sets[i].task);
        assert_int_equal(data->features, sets[i].features);
        assert_true(sets[i].images ? data->rows <= sets[i].rows : data->rows == sets[i].rows);
        if (sets[i].classes)
            assert_int_equal(data->classes, sets[i].classes);
        sph_data_free(data);
    }
    assert_true(there >= 2); /* two are made */
    assert_null(registry_find("bostonn"));
}

static void levy_is_its_function_with_noise_of_a_tenth(void **state)
{
    (void)state;
    sph_data_opts opts;
    sph_data_defaults(&opts);
    sph_data *data = opened("levy", &opts);
    assert_int_equal(sph_data_rows(data), 50 + 201);
    assert_int_equal(sph_data_features(data), 1);
    assert_int_equal(sph_data_task(data), SPH_TASK_REGRESSION);
    sph_data_free(data);

    opts.rows = 20000;
    opts.seed = 3;
    data = opened("levy", &opts);
    assert_int_equal(sph_data_rows(data), 20000 + 201);
    double sum = 0, squares = 0, x_sum = 0, low = 0, high = 0;
    for (size_t i = 0; i < 20000; i++) {
        double x = sph_data_x(data)[i], w = 1 + (x - 1) / 4, s = sin(M_PI * w), t = sin(2 * M_PI * w);
        double error = sph_data_y(data)[i] - (s * s + (w - 1) * (w - 1) * (1 + t * t));
        assert_true(x >= -10 && x < 10);
        sum += error;
        squares += error * error;
        x_sum += x;
        low = fmin(low, x);
        high = fmax(high, x);
    }
    /* five standard errors */
    assert_true(fabs(sum / 20000) < 5 * 0.1 / sqrt(20000));
    assert_true(fabs(sqrt(squares / 20000) - 0.1) < 5 * 0.1 / sqrt(40000));
    assert_true(fabs(x_sum / 20000) < 5 * 10 / sqrt(3 * 20000));
    assert_true(low < -9.9 && high > 9.9);
    sph_data_free(data);
}

static void levy_is_tested_on_the_function_itself(void **state)
{
    (void)state;
    sph_data_opts opts;
    sph_data_defaults(&opts);
    sph_split split;
    opts.rows = 7;
    opts.seed = 5;
    sph_data *data = opened("levy", &opts);
    assert_int_equal(sph_split_make(&split, data, SPH_SPLIT_RANDOM, 0.2, 0, 1), 0);
    assert_int_equal(split.train_rows, 7);
    assert_int_equal(split.test_rows, 201);
    for (size_t i = 0; i < 201; i++) {
        assert_int_equal(split.test[i], 7 + i);
        double x = sph_data_x(data)[7 + i], w = 1 + (x - 1) / 4, s = sin(M_PI * w), t = sin(2 * M_PI * w);
        assert_true(fabs(x - (-10 + 0.1 * (double)i)) < 1e-12);
        assert_true(fabs(sph_data_y(data)[7 + i] - (s * s + (w - 1) * (w - 1) * (1 + t * t))) < 1e-12);
    }
    sph_split_free(&split);
    sph_data_free(data);
}

static void the_noise_of_a_synthetic_set_is_the_one_asked_for(void **state)
{
    (void)state;
    sph_data_opts opts;
    sph_data_defaults(&opts);
    opts.rows = 1000;
    sph_data *usual = opened("crescents", &opts);
    opts.noise = 0;
    sph_data *none = opened("crescents", &opts);
    opts.noise = 0.2;
    sph_data *twice = opened("crescents", &opts);
    for (size_t i = 0; i < 2000; i++) {
        double by_one = sph_data_x(usual)[i] - sph_data_x(none)[i];
        double by_two = sph_data_x(twice)[i] - sph_data_x(none)[i];
        assert_true(fabs(by_two - 2 * by_one) < 1e-12);
    }
    sph_data_free(usual);
    sph_data_free(none);
    sph_data_free(twice);
    sph_data *data;
    opts.noise = -1;
    assert_int_equal(sph_data_open(&data, "crescents", &opts), SPH_EARG);
    opts.noise = 0.1;
    assert_fails(sph_data_open(&data, "banana", &opts), SPH_EARG, .key = "noise");
}

static void synthetic_sets_depend_on_the_seed_alone(void **state)
{
    (void)state;
    static const char *const names[] = {"levy", "crescents", "spirals"};
    for (int i = 0; i < 2; i++) {
        sph_data_opts opts;
        sph_data_defaults(&opts);
        opts.seed = 1;
        sph_data *a = opened(names[i], &opts), *b = opened(names[i], &opts);
        opts.seed = 2;
        sph_data *c = opened(names[i], &opts);
        size_t size = sph_data_rows(a) * sph_data_features(a) * sizeof(double);
        assert_memory_equal(sph_data_x(a), sph_data_x(b), size);
        assert_memory_not_equal(sph_data_x(a), sph_data_x(c), size);
        sph_data_free(a);
        sph_data_free(b);
        sph_data_free(c);
    }
}

static void crescents_are_two_interleaved_half_circles(void **state)
{
    (void)state;
    sph_data *data = opened("crescents", NULL);
    size_t ones = 0, rows = sph_data_rows(data);
    assert_int_equal(rows, 1000);
    assert_int_equal(sph_data_features(data), 2);
    assert_int_equal(sph_data_task(data), SPH_TASK_BINARY);
    for (size_t i = 0; i < rows; i++) {
        double a = sph_data_x(data)[2 * i], b = sph_data_x(data)[2 * i + 1];
        int lower = sph_data_y(data)[i] == 1.0;
        ones += (size_t)lower;
        double radius = lower ? hypot(a - 1, b - 0.5) : hypot(a, b);
        assert_true(fabs(radius - 1) < 0.6); /* six deviations of the noise */
        assert_true(lower ? b < 1.1 : b > -0.6);
    }
    assert_int_equal(ones, 500);
    sph_data_free(data);
}

static void spirals_have_twenty_arms(void **state)
{
    (void)state;
    const double turn = 2 * acos(-1);
    sph_data *data = opened("spirals", NULL);
    size_t rows = sph_data_rows(data), count[20] = {0};
    assert_int_equal(rows, 2000);
    assert_int_equal(sph_data_features(data), 2);
    assert_int_equal(sph_data_task(data), SPH_TASK_CLASSES);
    for (size_t i = 0; i < rows; i++) {
        double a = sph_data_x(data)[2 * i], b = sph_data_x(data)[2 * i + 1], radius = hypot(a, b);
        size_t arm = (size_t)sph_data_y(data)[i];
        assert_true(arm < 20);
        count[arm]++;
        /* where the arm is at that radius: six deviations of the noise, along and across it */
        double angle = turn * ((double)arm / 20 + radius / 5);
        assert_true(hypot(a - radius * cos(angle), b - radius * sin(angle)) < 0.6 * (1 + turn));
        assert_true(radius > -0.1 && radius < 5.6);
    }
    for (size_t arm = 0; arm < 20; arm++)
        assert_int_equal(count[arm], 100);
    sph_data_free(data);
}

static void uci_sets_have_their_published_shape_and_first_row(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t rows, features;
        double mean, first, last; /* of the target */
    } sets[] = {
        {"boston", 506, 13, 22.532806324110677, 24.0, 11.9},
        {"concrete", 1030, 8, 35.81796, 79.99, 32.40},
        {"energy", 768, 8, 22.307, 15.55, 16.64},
        {"naval", 11934, 16, 0.975, 0.95, 1.0},
        {"power", 9568, 4, 454.365, 480.48, 451.67},
        {"wine", 1599, 11, 5.636, 5, 6},
        {"yacht", 308, 6, 10.4954, 0.11, 46.66},
    };
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        sph_data *data = opened(sets[i].name, NULL);
        assert_int_equal(sph_data_rows(data), sets[i].rows);
        assert_int_equal(sph_data_features(data), sets[i].features);
        assert_int_equal(sph_data_task(data), SPH_TASK_REGRESSION);
        const double *y = sph_data_y(data);
        double sum = 0;
        for (size_t k = 0; k < sets[i].rows; k++)
            sum += y[k];
        assert_true(fabs(sum / (double)sets[i].rows / sets[i].mean - 1) < 1e-4); /* the digits given above */
        assert_true(y[0] == sets[i].first && y[sets[i].rows - 1] == sets[i].last);
        assert_false(data->has_missing);
        sph_data_free(data);
    }
}

static void banana_takes_the_rows_the_authors_take(void **state)
{
    (void)state;
    sph_data_opts opts;
    sph_data_defaults(&opts);
    opts.rows = 1000;
    sph_data *data =
        opened("banana", &opts); /* numpy: data[RandomState(0).choice(5300, 1000, replace=False)] */
    const double x[] = {-1.45, -0.701, -0.35, 2.07, 1.05, 0.472}, y[] = {1, 0, 0};
    assert_int_equal(sph_data_rows(data), 1000);
    assert_int_equal(sph_data_task(data), SPH_TASK_BINARY);
    assert_string_equal(data->labels[0], "-1");
    assert_memory_equal(sph_data_x(data), x, sizeof x);
    assert_memory_equal(sph_data_y(data), y, sizeof y);
    sph_data_free(data);

    data = opened("banana", NULL);
    size_t ones = 0;
    for (size_t i = 0; i < sph_data_rows(data); i++)
        ones += sph_data_y(data)[i] == 1.0;
    assert_int_equal(sph_data_rows(data), 5300);
    assert_int_equal(ones, 2376);
    sph_data_free(data);
}

static void a_real_npz_of_images_is_read(void **state)
{
    (void)state;
    const char *folder = getenv("SPHERELU_DATA");
    char *path = file_join(folder ? folder : "/nowhere", "imagenet32-subset/val_data.npz");
    assert_non_null(path);
    if (!file_exists(path)) {
        print_message("skipped: no %s\n", path);
        mem_free(path);
        skip();
    }
    sph_data_opts opts;
    sph_data_defaults(&opts);
    opts.task = SPH_TASK_CLASSES;
    sph_data *data = opened(path, &opts);
    assert_int_equal(sph_data_rows(data), 2500);
    assert_int_equal(sph_data_features(data), 3072);
    assert_int_equal(sph_data_outputs(data), 50);
    assert_string_equal(data->labels[49], "50");
    size_t count[50] = {0};
    for (size_t i = 0; i < 2500; i++)
        count[(size_t)sph_data_y(data)[i]]++;
    for (size_t i = 0; i < 50; i++)
        assert_int_equal(count[i], 50);
    for (size_t i = 0; i < 2500 * 3072; i++)
        assert_true(sph_data_x(data)[i] >= 0 && sph_data_x(data)[i] <= 255);
    sph_data_free(data);
    mem_free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_sets_are_what_their_rows_say),
        cmocka_unit_test(levy_is_its_function_with_noise_of_a_tenth),
        cmocka_unit_test(levy_is_tested_on_the_function_itself),
        cmocka_unit_test(the_noise_of_a_synthetic_set_is_the_one_asked_for),
        cmocka_unit_test(synthetic_sets_depend_on_the_seed_alone),
        cmocka_unit_test(crescents_are_two_interleaved_half_circles),
        cmocka_unit_test(spirals_have_twenty_arms),
        cmocka_unit_test(uci_sets_have_their_published_shape_and_first_row),
        cmocka_unit_test(banana_takes_the_rows_the_authors_take),
        cmocka_unit_test(a_real_npz_of_images_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
