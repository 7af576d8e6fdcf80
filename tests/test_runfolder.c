/* SPDX-License-Identifier: MIT
 *
 * The plain files of a run folder, and the JSON helpers they stand on. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/error.h"
#include "file/json.h"
#include "base/memory.h"
#include "store/runfolder.h"
#include "failure.h"
#include "short_memory.h"

static int gets, fail_get;

static void *json_get(size_t size)
{
    return ++gets == fail_get ? NULL : malloc(size);
}

static char dir[64];

static int make_folder(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/spherelu-run-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    return system(command);
}

static const char *in_folder(const char *name)
{
    static char joined[160]; /* until the next call */
    snprintf(joined, sizeof joined, "%s/%s", dir, name);
    return joined;
}

static void assert_holds(const char *name, const char *expected)
{
    char *bytes = NULL;
    assert_int_equal(file_read(&bytes, NULL, in_folder(name)), 0);
    assert_string_equal(bytes, expected);
    mem_free(bytes);
}

static void put(const char *name, const char *text)
{
    assert_int_equal(file_replace_with(in_folder(name), text, strlen(text)), 0);
}

/* ---------------------------------------------------------------- metrics.jsonl */

static const char *const names[] = {"train_loss", "val_loss", "val_rmse"};

static sph_view view_of(size_t epoch, const double *values)
{
    return (sph_view){.epoch = epoch,
                      .step = epoch * 10,
                      .lr = 0.1,
                      .names = names,
                      .value = values,
                      .values = 3,
                      .seconds = 0.5 * (double)epoch};
}

#define LINE_1                                                                                               \
    "{\"epoch\":1,\"step\":10,\"lr\":0.10000000000000001,\"train_loss\":0.5,\"val_loss\":null,\"val_rmse\":" \
    "null,\"seconds\":0.5}\n"
#define LINE_2                                                                                               \
    "{\"epoch\":2,\"step\":20,\"lr\":0.10000000000000001,\"train_loss\":3.0,\"val_loss\":1e-300,\"val_"      \
    "rmse\":-0.0,\"seconds\":1.0}\n"

static void metrics_are_one_object_per_epoch_and_resume_cuts_them(void **state)
{
    (void)state;
    struct metrics metrics;
    uint64_t offset = 0, later = 0;
    sph_view one = view_of(1, (double[]){0.5, NAN, INFINITY}), two = view_of(2, (double[]){3, 1e-300, -0.0});
    assert_int_equal(metrics_open(&metrics, dir, RUNFOLDER_METRICS, 0), 0);
    assert_int_equal(metrics_add(&metrics, &one), 0);
    assert_holds(RUNFOLDER_METRICS, ""); /* less than a second has passed */
    assert_int_equal(metrics_sync(&metrics, &offset), 0);
    assert_int_equal(offset, strlen(LINE_1));
    assert_holds(RUNFOLDER_METRICS, LINE_1);
    metrics.flushed -= 1; /* as if it had */
    assert_int_equal(metrics_add(&metrics, &two), 0);
    assert_holds(RUNFOLDER_METRICS, LINE_1 LINE_2);
    metrics_close(&metrics);
    metrics_close(&metrics);

    assert_int_equal(metrics_open(&metrics, dir, RUNFOLDER_METRICS, offset), 0);
    assert_holds(RUNFOLDER_METRICS, LINE_1);
    assert_int_equal(metrics_add(&metrics, &two), 0);
    assert_int_equal(metrics_flush(&metrics), 0);
    assert_int_equal(metrics_sync(&metrics, &later), 0);
    assert_int_equal(later, strlen(LINE_1 LINE_2));
    metrics_close(&metrics);
    assert_holds(RUNFOLDER_METRICS, LINE_1 LINE_2);
    assert_int_equal(metrics_open(&metrics, dir, RUNFOLDER_METRICS, 10000), SPH_EIO);
    assert_int_equal(metrics_open(&metrics, in_folder("none"), RUNFOLDER_METRICS, 0), SPH_EIO);
}

static void metrics_are_flushed_at_most_once_a_second(void **state)
{
    (void)state;
    struct metrics metrics;
    assert_int_equal(metrics_open(&metrics, dir, RUNFOLDER_METRICS, 0), 0);
    sph_view view = view_of(1, (double[]){0.1, 0.2, 0.3});
    for (int i = 0; i < 100; i++) {
        metrics.flushed = clock_seconds();
        assert_int_equal(metrics_add(&metrics, &view), 0);
    }
    assert_int_equal(metrics.log.offset, 0);
    metrics.flushed = clock_seconds() - 1; /* a second ago */
    assert_int_equal(metrics_add(&metrics, &view), 0);
    assert_true(metrics.log.offset > 0);
    metrics_close(&metrics);
}

static void metrics_wait_for_no_more_than_a_megabyte(void **state)
{
    (void)state;
    struct metrics metrics;
    sph_view view = view_of(1, (double[]){0.1, 0.2, 0.3});
    assert_int_equal(metrics_open(&metrics, dir, RUNFOLDER_METRICS, 0), 0);
    while (metrics.log.offset < 2 << 20) {
        metrics.flushed = clock_seconds(); /* time is never up */
        assert_int_equal(metrics_add(&metrics, &view), 0);
        assert_true(metrics.log.length < 1 << 20);
    }
    metrics_close(&metrics);
}

/* ---------------------------------------------------------------- split.json */

static void a_split_comes_back_in_its_order(void **state)
{
    (void)state;
    uint32_t train[] = {5, 0, 3}, test[] = {4, 1};
    sph_split split = {.train = train, .train_rows = 3, .test = test, .test_rows = 2}, back;
    assert_int_equal(runfolder_write_split(dir, &split, 0xabc), 0);
    assert_holds(RUNFOLDER_SPLIT,
                 "{\"content\":\"0000000000000abc\",\"train\":[5,0,3],\"val\":[],\"test\":[4,1]}\n");
    assert_int_equal(runfolder_read_split(&back, dir, 6), 0);
    assert_int_equal(back.train_rows, 3);
    assert_int_equal(back.val_rows, 0);
    assert_int_equal(back.test_rows, 2);
    assert_memory_equal(back.train, train, sizeof train);
    assert_memory_equal(back.test, test, sizeof test);
    mem_free(back.train);
    mem_free(back.val);
    mem_free(back.test);
}

static void a_broken_split_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *key;
    } cases[] = {
        {"[1]", NULL},
        {"{\"train\":[0],\"val\":[]}", "test"},
        {"{\"train\":7,\"val\":[],\"test\":[]}", "train"},
        {"{\"train\":[0,6],\"val\":[],\"test\":[]}", "train"},
        {"{\"train\":[0],\"val\":[-1],\"test\":[]}", "val"},
        {"{\"train\":[0],\"val\":[1.5],\"test\":[]}", "val"},
        {"{\"train\":[0,2],\"val\":[],\"test\":[1,2]}", "test"},
        {"{\"train\":[0,\n", NULL},
        {"{\"train\":[],\"train\":[]}", NULL},
    };
    sph_split back;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put(RUNFOLDER_SPLIT, cases[i].text);
        assert_fails(runfolder_read_split(&back, dir, 6), SPH_EFORMAT, .key = cases[i].key,
                     .path = in_folder(RUNFOLDER_SPLIT));
        assert_null(back.train);
        assert_int_equal(back.train_rows, 0);
    }
    unlink(in_folder(RUNFOLDER_SPLIT));
    assert_fails(runfolder_read_split(&back, dir, 6), SPH_EIO, .path = in_folder(RUNFOLDER_SPLIT));
}

static void a_split_knows_the_data_it_was_made_of(void **state)
{
    (void)state;
    sph_split split = {0};
    assert_int_equal(runfolder_check_content(dir, 1), 0); /* nothing is there yet */
    assert_int_equal(runfolder_write_split(dir, &split, UINT64_MAX), 0);
    assert_int_equal(runfolder_check_content(dir, UINT64_MAX), 0);
    assert_fails(runfolder_check_content(dir, 1), SPH_EFORMAT, .path = dir);
    put(RUNFOLDER_SPLIT, "{\"content\":7}");
    assert_fails(runfolder_check_content(dir, 7), SPH_EFORMAT, .key = "content",
                 .path = in_folder(RUNFOLDER_SPLIT));
    put(RUNFOLDER_SPLIT, "{\"train\":[]}");
    assert_int_equal(runfolder_check_content(dir, 7), 0);
}

/* ---------------------------------------------------------------- result.json */

static sph_result sample_result(void)
{
    return (sph_result){.test = {.rows = 5, .count = 2, .name = {"loss", "rmse"}, .value = {0.25, 0.1}},
                        .train = {.rows = 20, .count = 1, .name = {"loss"}, .value = {0.125}},
                        .epochs = 7,
                        .best_epoch = 4,
                        .steps = 70,
                        .seconds = 1.5};
}

static void a_result_has_the_scores_of_the_parts_that_have_rows(void **state)
{
    (void)state;
    sph_result result = sample_result();
    assert_int_equal(runfolder_write_result(dir, &result, NULL, NULL, NULL, NULL), 0);
    json_t *back;
    const json_t *test;
    size_t epochs, best;
    double rmse, seconds;
    int diverged;
    const char *path = in_folder(RUNFOLDER_RESULT);
    assert_int_equal(json_read(&back, path), 0);
    assert_int_equal(json_object_size(back), 6);
    assert_null(json_object_get(back, "val"));
    assert_non_null(json_object_get(back, "train"));
    assert_int_equal(json_member_object(back, path, "test", &test), 0);
    assert_int_equal(json_object_size(test), 2);
    assert_int_equal(json_member_real(test, path, "rmse", &rmse), 0);
    assert_true(rmse == 0.1);
    assert_int_equal(json_member_size(back, path, "epochs", &epochs), 0);
    assert_int_equal(json_member_size(back, path, "best_epoch", &best), 0);
    assert_int_equal(json_member_real(back, path, "seconds", &seconds), 0);
    assert_int_equal(json_member_bool(back, path, "diverged", &diverged), 0);
    assert_true(epochs == 7 && best == 4 && seconds == 1.5 && !diverged);
    json_decref(back);
}

static void a_diverged_result_has_no_scores(void **state)
{
    (void)state;
    sph_result result = sample_result();
    result.diverged = 1;
    result.test.value[0] = NAN;
    assert_int_equal(runfolder_write_result(dir, &result, NULL, NULL, NULL, NULL), 0);
    assert_holds(RUNFOLDER_RESULT,
                 "{\n  \"epochs\": 7,\n  \"best_epoch\": 4,\n  \"seconds\": 1.5,\n  \"diverged\": true\n}\n");
    assert_fails(runfolder_write_result(in_folder("none"), &result, NULL, NULL, NULL, NULL), SPH_EIO,
                 .path = in_folder("none/" RUNFOLDER_RESULT));
}

static void each_allocation_of_our_own_may_fail(void **state)
{
    (void)state;
    uint32_t rows[] = {0, 1, 2};
    sph_split split = {.train = rows, .train_rows = 3}, back;
    sph_result result = sample_result();
    sph_view view = view_of(1, (double[]){0.5, NAN, 1});
    struct metrics metrics;
    int failures, err;
    SHORT_OF_MEMORY(failures, err, err = runfolder_write_split(dir, &split, 0xabc));
    assert_true(failures >= 3);
    SHORT_OF_MEMORY(failures, err, err = runfolder_write_result(dir, &result, NULL, NULL, NULL, NULL));
    assert_true(failures >= 3);
    SHORT_OF_MEMORY(failures, err, err = runfolder_read_split(&back, dir, 3));
    assert_true(failures >= 6);
    mem_free(back.train);
    mem_free(back.val);
    mem_free(back.test);
    SHORT_OF_MEMORY(failures, err, err = runfolder_check_content(dir, 0xabc));
    assert_true(failures >= 2);
    SHORT_OF_MEMORY(failures, err, err = metrics_open(&metrics, dir, RUNFOLDER_METRICS, 0));
    assert_true(failures >= 2);
    SHORT_OF_MEMORY(failures, err, err = metrics_add(&metrics, &view));
    assert_true(failures >= 2);
    metrics_close(&metrics);
    double *reals;
    size_t count;
    json_t *object = NULL;
    assert_int_equal(json_parse(&object, "w", "{\"a\":[1,2]}", 11), 0);
    SHORT_OF_MEMORY(failures, err, err = json_member_reals(object, "w", "a", &reals, &count));
    assert_int_equal(failures, 1);
    mem_free(reals);
    json_decref(object);
}

/* jansson itself would give 0.3000000000000 and call it a day. */
static void a_number_has_all_its_digits_whatever_allocation_fails(void **state)
{
    (void)state;
    static const char text[] =
        "{\"a\":0.30000000000000004,\"b\":[1,123456789012345678],\"c\":0.0000000000000000000"
        "0000000000000000000000000000000000000000000000000000125}";
    int err = -1, failures = 0;
    for (int at = 1; err; at++) {
        json_t *object = NULL;
        json_set_alloc_funcs(json_get, free);
        gets = 0;
        fail_get = at;
        err = json_parse(&object, "w", text, strlen(text));
        json_set_alloc_funcs(malloc, free);
        if (err) {
            failures++;
            assert_null(object);
            continue;
        }
        assert_true(json_real_value(json_object_get(object, "a")) == 0.30000000000000004);
        assert_true(json_integer_value(json_array_get(json_object_get(object, "b"), 1)) ==
                    123456789012345678);
        assert_true(json_real_value(json_object_get(object, "c")) == strtod(strrchr(text, ':') + 1, NULL));
        json_decref(object);
    }
    assert_true(failures > 20);
}

static void each_allocation_of_jansson_may_fail(void **state)
{
    (void)state;
    json_malloc_t held_get;
    json_free_t held_free;
    json_get_alloc_funcs(&held_get, &held_free);
    uint32_t rows[] = {0, 1, 2};
    sph_split split = {.train = rows, .train_rows = 3};
    sph_result result = sample_result();
    sph_view view = view_of(1, (double[]){0.5, NAN, 1});
    struct metrics metrics;
    assert_int_equal(metrics_open(&metrics, dir, RUNFOLDER_METRICS, 0), 0);
    int failures = 0, unexpected = 0;
    for (int what = 0; what < 3; what++) {
        json_set_alloc_funcs(json_get, free);
        int err = -1;
        for (int at = 1; err; at++) {
            gets = 0;
            fail_get = at;
            err = what == 0   ? runfolder_write_split(dir, &split, 0xabc)
                  : what == 1 ? runfolder_write_result(dir, &result, NULL, NULL, NULL, NULL)
                              : metrics_add(&metrics, &view);
            failures += err != 0;
            unexpected += err && err != SPH_EMEMORY;
        }
        json_set_alloc_funcs(held_get, held_free);
    }
    assert_true(failures > 30);
    assert_int_equal(unexpected, 0);
    assert_int_equal(metrics_flush(&metrics), 0);
    metrics_close(&metrics);
    char *text;
    assert_int_equal(file_read(&text, NULL, in_folder(RUNFOLDER_METRICS)), 0);
    assert_ptr_equal(strchr(text, '\n') + 1,
                     text + strlen(text)); /* one line: the failed ones left nothing */
    mem_free(text);
}

/* ---------------------------------------------------------------- JSON helpers */

static void numbers_come_back_bit_by_bit(void **state)
{
    (void)state;
    double values[] = {0.1, 1.0 / 3, -1e-310, 1.7976931348623157e308, 5e-324, -0.0, 3}, *back;
    size_t count;
    enum { COUNT = sizeof values / sizeof *values };
    json_t *object = json_object(), *again;
    assert_int_equal(json_object_set_new(object, "v", json_numbers(values, COUNT)), 0);
    assert_int_equal(json_write(in_folder("v.json"), object, 0), 0);
    json_decref(object);
    assert_int_equal(json_read(&again, in_folder("v.json")), 0);
    assert_int_equal(json_member_reals(again, "w", "v", &back, &count), 0);
    assert_int_equal(count, COUNT);
    assert_memory_equal(back, values, sizeof values);
    mem_free(back);
    json_decref(again);
}

static void a_member_of_the_wrong_kind_is_named(void **state)
{
    (void)state;
    static const char text[] =
        "{\"s\":\"x\",\"n\":-1,\"f\":1.5,\"z\":null,\"b\":true,\"a\":[1,\"x\"],\"o\":{},\"i\":3}";
    json_t *object;
    assert_int_equal(json_parse(&object, "w", text, strlen(text)), 0);
    size_t size, count;
    double real, *reals;
    int boolean;
    const char *word;
    const json_t *value;
#define REFUSED(call, about) assert_fails(call, SPH_EFORMAT, .key = about, .path = "w")
    REFUSED(json_member_size(object, "w", "n", &size), "n");
    REFUSED(json_member_size(object, "w", "f", &size), "f");
    REFUSED(json_member_size(object, "w", "q", &size), "q");
    REFUSED(json_member_real(object, "w", "z", &real), "z");
    REFUSED(json_member_bool(object, "w", "i", &boolean), "i");
    REFUSED(json_member_text(object, "w", "b", &word), "b");
    REFUSED(json_member_array(object, "w", "o", &value), "o");
    REFUSED(json_member_object(object, "w", "a", &value), "a");
    REFUSED(json_member_reals(object, "w", "a", &reals, &count), "a");
    REFUSED(json_member_reals(object, "w", "s", &reals, &count), "s");
    assert_int_equal(json_member_real(object, "w", "i", &real), 0);
    assert_true(real == 3);
    assert_int_equal(json_member_text(object, "w", "s", &word), 0);
    assert_string_equal(word, "x");
    json_decref(object);
    REFUSED(json_parse(&object, "w", "{\"a\":\"\xff\"}", 8), NULL);
    assert_null(object);
}

#define in_a_folder(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_a_folder(metrics_are_one_object_per_epoch_and_resume_cuts_them),
        in_a_folder(metrics_are_flushed_at_most_once_a_second),
        in_a_folder(metrics_wait_for_no_more_than_a_megabyte),
        in_a_folder(a_split_comes_back_in_its_order),
        in_a_folder(a_broken_split_is_refused),
        in_a_folder(a_split_knows_the_data_it_was_made_of),
        in_a_folder(a_result_has_the_scores_of_the_parts_that_have_rows),
        in_a_folder(a_diverged_result_has_no_scores),
        in_a_folder(each_allocation_of_our_own_may_fail),
        in_a_folder(a_number_has_all_its_digits_whatever_allocation_fails),
        in_a_folder(each_allocation_of_jansson_may_fail),
        in_a_folder(numbers_come_back_bit_by_bit),
        in_a_folder(a_member_of_the_wrong_kind_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
