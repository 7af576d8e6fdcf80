/* SPDX-License-Identifier: MIT
 *
 * Tables as they are: dates, targets of whole numbers, columns that nothing can be learnt from, words that training did not
 * see, columns carried along; splits by group and by time; weights of rows. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/memory.h"
#include "data/open.h"
#include "data/date.h"
#include "data_files.h"
#include "failure.h"
#include "rows/split.h"
#include "spherelu.h"

static sph_data *open_with(const char *path, const sph_data_opts *opts)
{
    sph_data *data;
    int err = sph_data_open(&data, path, opts);
    unlink(path);
    if (err < 0)
        fail_msg("%s", sph_error());
    return data;
}

/* ---------------------------------------------------------------- dates */

static void days_weekdays_and_months_are_those_of_the_c_library(void **state)
{
    struct column column = {.kind = COLUMN_DATE, .first = 0};
    (void)state;
    for (int day = -700000; day < 700000; day += 97) {
        time_t seconds = (time_t)day * 86400;
        struct tm parts;
        char text[64];
        double days, x[DATE_WIDTH];
        gmtime_r(&seconds, &parts);
        if (parts.tm_year + 1900 < 1)
            continue;
        snprintf(text, sizeof text, "%04d-%02d-%02d", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
        assert_true(date_read(&days, text, DATE_YMD));
        assert_true(days == day);
        date_numbers(x, &column, days);
        assert_true(x[0] == parts.tm_year + 1900 && x[1] == parts.tm_mon + 1);
        assert_true(x[2] == (parts.tm_wday + 6) % 7 && x[3] == day);
    }
}

static void dates_are_read_in_the_orders_that_they_allow(void **state)
{
    static const struct {
        const char *text;
        unsigned orders;
        int timed;
    } cases[] = {
        {"2024-02-29", 7, 0},
        {"2023-02-29", 0, 0},
        {"31.12.2024", 2, 0},
        {"12/31/2024", 4, 0},
        {"3/4/2024", 6, 0},
        {"2024-1-5 7:05", 7, 1},
        {"2024-01-05T07:05Z", 7, 1},
        {"2024-01-05 25:00", 0, 0},
        {"2024-13-01", 0, 0},
        {"2024-01", 0, 0},
        {"20240105", 0, 0},
        {"", 0, 0},
        {"1-2-20", 0, 0},
        {"2024-01-05 soon", 0, 0},
        {"2024-01/05", 0, 0},
        {"2024-01-05 10:00+02:00", 7, 1},
        {"Mar 30 2023", 7, 0},
        {"march 30, 2023", 7, 0},
        {"08-Oct-2021", 7, 0},
        {"8 Sept 2021 17:30", 7, 1},
        {"31-Jun-2021", 0, 0},
        {"Mars 30 2023", 0, 0},
        {"08-Oct-21", 0, 0},
        {"07/04/23", 0, 0},
        {"12/02/2022 01:05 AM", 6, 1},
        {"12/02/2022 13:05 PM", 0, 0},
        {"12/02/2022 0:05 AM", 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int timed = 0;
        unsigned orders = date_orders(cases[i].text, &timed);
        if (orders != cases[i].orders || timed != cases[i].timed)
            fail_msg("'%s': orders %u, time %d", cases[i].text, orders, timed);
    }
    double here, there;
    assert_true(date_read(&here, "2024-01-05 10:00+02:00", DATE_YMD));
    assert_true(date_read(&there, "2024-01-05 08:00", DATE_YMD));
    assert_true(here == there);
    assert_true(date_read(&here, "Mar 30, 2023 12:05 AM", DATE_MDY));
    assert_true(
        date_read(&there, "2023-03-30 00:05", DATE_DMY)); /* a year that comes first is never in doubt */
    assert_true(here == there);
    assert_true(date_read(&here, "30-Mar-2023 12:05pm", DATE_YMD));
    assert_true(here == there + 0.5);
}

static void a_date_column_is_four_features_and_stays_so_in_later_files(void **state)
{
    (void)state;
    sph_data *data =
        open_with(csv_with("when,y\n31.12.2019,1.5\n01.01.2020,2.5\n15.06.2020,0.5\n,3.5\n"), NULL);
    static const char *const names[] = {"when.year", "when.month", "when.weekday", "when.days"};
    static const double expected[] = {2019, 12, 1, 0, 2020, 1, 2, 1, 2020, 6, 0, 167};
    assert_int_equal(sph_data_features(data), 4);
    for (size_t i = 0; i < 4; i++) {
        char name[40];
        sph_data_feature(data, i, name, sizeof name);
        assert_string_equal(name, names[i]);
    }
    for (size_t i = 0; i < 12; i++)
        assert_true(sph_data_x(data)[i] == expected[i]);
    assert_true(isnan(sph_data_x(data)[12]) && isnan(sph_data_x(data)[15]));
    json_t *schema;
    assert_int_equal(data_schema(data, &schema), 0);
    sph_data_free(data);
    const char *later = csv_with("when\n02.03.2020\n"), *junk = csv_with("when\n2020-03-02\n03/13/2020\n");
    assert_int_equal(data_open_like(&data, later, schema, 0, NULL), 0);
    assert_true(data->x[0] == 2020 && data->x[1] == 3 && data->x[2] == 0 && data->x[3] == 62);
    sph_data_free(data);
    assert_fails(data_open_like(&data, junk, schema, 0, NULL), SPH_EFORMAT, .key = "when", .path = junk,
                 .line = 3);
    unlink(later);
    unlink(junk);
    json_decref(schema);
}

/* ---------------------------------------------------------------- targets and columns */

static const char *whole(const char *cells)
{
    static char text[1000];
    size_t used = (size_t)snprintf(text, sizeof text, "x,y\n");
    for (int turn = 0; turn < 4; turn++)
        for (const char *p = cells; *p; p++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%d.5,%c\n", turn, *p);
    return csv_with(text);
}

static void whole_numbers_without_a_gap_from_0_or_1_are_classes(void **state)
{
    static const struct {
        const char *cells;
        sph_task task;
        int noted;
    } cases[] = {
        {"012", SPH_TASK_CLASSES, 1},     {"12345", SPH_TASK_CLASSES, 1}, {"345678", SPH_TASK_REGRESSION, 1},
        {"0134", SPH_TASK_REGRESSION, 1}, {"01", SPH_TASK_BINARY, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sph_data *data = open_with(whole(cases[i].cells), NULL);
        struct text notes = {0};
        data_notes(data, &notes);
        assert_int_equal(sph_data_task(data), cases[i].task);
        assert_int_equal(notes.chars != NULL, cases[i].noted);
        text_free(&notes);
        sph_data_free(data);
    }
}

static void drop_auto_leaves_out_constants_ids_and_free_text(void **state)
{
    char text[4000] = "", *out = text;
    sph_data_opts opts;
    (void)state;
    out += sprintf(out, "row,customer_id,same,note,paid,town,y\n");
    for (int i = 0; i < 60; i++)
        out += sprintf(out, "%d,%d,7,remark %d,%d,%c,%d.5\n", i + 1, i * 7919 % 1000, i, i * 7 % 60,
                       'A' + i % 3, i);
    sph_data_defaults(&opts);
    opts.drop = "auto";
    sph_data *data = open_with(csv_with(text), &opts);
    char name[40];
    struct text notes = {0};
    data_notes(data, &notes);
    assert_int_equal(sph_data_features(data), 4); /* paid, and three towns */
    sph_data_feature(data, 0, name, sizeof name);
    assert_string_equal(name, "paid");
    static const char *const left_out[] = {"'row'", "'customer_id'", "'same'", "'note'"};
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
        assert_non_null(strstr(notes.chars, left_out[i]));
    text_free(&notes);
    sph_data_free(data);
}

static void a_word_that_training_did_not_see_is_counted_or_refused(void **state)
{
    (void)state;
    sph_data *data = open_with(csv_with("town,x,y\nA,1,1.5\nB,2,2.5\nA,3,0.5\nB,4,4.5\n"), NULL);
    json_t *schema;
    sph_data_opts how;
    assert_int_equal(data_schema(data, &schema), 0);
    sph_data_free(data);
    const char *path = csv_with("id,town,x\nk1,A,1\n\"k,2\",Z,2\nk3,,\n");
    sph_data_defaults(&how);
    how.keep = "id,town";
    assert_int_equal(data_open_like(&data, path, schema, 0, &how), 0);
    assert_int_equal(data->counts.unseen, 1);
    assert_true(data->x[3] == 0 && data->x[4] == 0 && data->x[5] == 2);
    struct text counts = {0};
    data_counts(data, &counts);
    assert_non_null(strchr(counts.chars, '\n')); /* a line for missing cells, a line for words */
    text_free(&counts);
    assert_int_equal(data->kept.columns, 2);
    assert_string_equal(data->kept.cells[2], "k,2");
    assert_string_equal(data->kept.cells[5], "");
    sph_data_free(data);
    how.strict = 1;
    assert_fails(data_open_like(&data, path, schema, 0, &how), SPH_EFORMAT, .key = "town", .path = path,
                 .line = 3);
    how.strict = 0;
    how.keep = "idd";
    assert_fails(data_open_like(&data, path, schema, 0, &how), SPH_EARG, .key = "keep", .path = path);
    unlink(path);
    json_decref(schema);
}

static void rows_left_out_are_counted_by_their_reason(void **state)
{
    sph_data_opts opts;
    (void)state;
    sph_data_defaults(&opts);
    opts.missing = SPH_MISSING_DROP;
    sph_data *data = open_with(csv_with("x,y\n1,1.5\n,2.5\n3,\n4,4.5\n5,1.5\n"), &opts);
    struct text counts = {0};
    data_counts(data, &counts);
    assert_true(*counts.chars == '2' && strstr(counts.chars, ": 1 ") && strstr(counts.chars, ", 1 "));
    text_free(&counts);
    sph_data_free(data);
}

/* ---------------------------------------------------------------- LIBSVM */

static void libsvm_is_a_table_of_what_it_does_not_leave_out(void **state)
{
    static const char text[] = "+1 1:0.5 3:2\n-1 2:1 # a remark\n\n1 qid:4 1:1e2\n-1 3:4\n";
    static const double expected[] = {0.5, 0, 2, 0, 1, 0, 100, 0, 0, 0, 0, 4};
    (void)state;
    sph_data *data = open_with(file_with(".libsvm", text, strlen(text)), NULL);
    assert_int_equal(sph_data_rows(data), 4);
    assert_int_equal(sph_data_features(data), 3);
    assert_int_equal(sph_data_task(data), SPH_TASK_BINARY);
    assert_memory_equal(sph_data_x(data), expected, sizeof expected);
    json_t *schema;
    assert_int_equal(data_schema(data, &schema), 0);
    sph_data_free(data);
    const char *narrow = file_with(".svm", "1 1:7\n", 6); /* the later columns are 0 */
    assert_int_equal(data_open_like(&data, narrow, schema, 0, NULL), 0);
    assert_true(data->x[0] == 7 && data->x[1] == 0 && data->x[2] == 0);
    sph_data_free(data);
    unlink(narrow);
    json_decref(schema);
    data = open_with(file_with(".libsvm", "1 0:5 1:6\n2.5 1:7\n3 0:1\n", 24), NULL);
    assert_int_equal(sph_data_features(data), 2);
    assert_true(sph_data_x(data)[0] == 5 && sph_data_x(data)[3] == 7);
    sph_data_free(data);
}

/* ---------------------------------------------------------------- splits and weights */

enum { ROWS = 200 };

static sph_data *sides(const char *group, const char *time, const char *weights)
{
    static char text[20000];
    char *out = text + sprintf(text, "g,t,w,x,y\n");
    sph_data_opts opts;
    for (int i = 0; i < ROWS; i++)
        out += sprintf(out, "s%d,2020-%02d-%02d,%d,%d,%d.5\n", i * 37 % 23, 1 + i * 7 % 12, 1 + i * 11 % 28,
                       i % 5, i, i * 31 % 17);
    sph_data_defaults(&opts);
    opts.group = group;
    opts.time = time;
    opts.weights = weights;
    opts.drop = group ? "t,w" : time ? "g,w" : "g,t";
    return open_with(csv_with(text), &opts);
}

static void no_group_is_in_two_parts(void **state)
{
    sph_data *data = sides("g", NULL, NULL);
    (void)state;
    assert_int_equal(sph_data_features(data), 1);
    for (uint64_t seed = 0; seed < 20; seed++) {
        sph_split split;
        unsigned char part[ROWS] = {0};
        assert_int_equal(sph_split_make(&split, data, SPH_SPLIT_RANDOM, 0.2, 0.2, seed), 0);
        assert_int_equal(split.train_rows + split.val_rows + split.test_rows, ROWS);
        assert_true(split.test_rows >= 40 && split.test_rows < 60 && split.val_rows >= 28 &&
                    split.val_rows < 50);
        for (size_t i = 0; i < split.test_rows; i++)
            part[split.test[i]] += 1;
        for (size_t i = 0; i < split.val_rows; i++)
            part[split.val[i]] += 2;
        for (size_t i = 0; i < split.train_rows; i++)
            part[split.train[i]] += 4;
        for (size_t i = 0; i < ROWS; i++) {
            assert_true(part[i] == 1 || part[i] == 2 || part[i] == 4);
            for (size_t k = 0; k < i; k++)
                if (data->side[COLUMN_GROUP][i] == data->side[COLUMN_GROUP][k])
                    assert_int_equal(part[i], part[k]);
        }
        sph_split_free(&split);
    }
    sph_split split;
    assert_fails(sph_split_make(&split, data, SPH_SPLIT_SKLEARN, 0.2, 0.2, 0), SPH_EARG, .key = "group");
    assert_fails(sph_split_make(&split, data, SPH_SPLIT_RANDOM, 0.99, 0, 0), SPH_EARG, .key = "group");
    sph_data_free(data);
}

static void the_test_part_comes_last_in_time(void **state)
{
    sph_data *data = sides(NULL, "t", NULL);
    sph_split split;
    double train = -HUGE_VAL, val_first = HUGE_VAL, val = -HUGE_VAL, test = HUGE_VAL;
    (void)state;
    assert_int_equal(sph_split_make(&split, data, SPH_SPLIT_RANDOM, 0.2, 0.25, 3), 0);
    const double *time = data->side[COLUMN_TIME];
    for (size_t i = 0; i < split.train_rows; i++)
        train = fmax(train, time[split.train[i]]);
    for (size_t i = 0; i < split.val_rows; i++) {
        val_first = fmin(val_first, time[split.val[i]]);
        val = fmax(val, time[split.val[i]]);
    }
    for (size_t i = 0; i < split.test_rows; i++)
        test = fmin(test, time[split.test[i]]);
    assert_true(train < val_first && val < test);
    assert_true(split.test_rows >= 40 && split.test_rows < 44); /* a day has four rows at most */
    assert_true(split.val_rows >= 39 && split.val_rows < 44);
    sph_split_free(&split);
    sph_data_free(data);
}

/* Rows of one day stay on one side of every boundary: never in a part and in the next one too, and no part is smaller
 * than its share of the rows. */
static void no_time_is_in_two_parts(void **state)
{
    static char text[20000];
    static const double shares[][2] = {{0.2, 0.2}, {0.1, 0}, {0, 0.3}, {0.33, 0.5}, {0.01, 0.01}};
    (void)state;
    for (int days = 2; days <= ROWS; days += 11) {
        char *out = text + sprintf(text, "t,x,y\n");
        sph_data_opts opts;
        sph_data_defaults(&opts);
        opts.time = "t";
        for (int i = 0; i < ROWS; i++)
            out += sprintf(out, "%d,%d,%d.5\n", i * 37 % days * 3, i, i * 31 % 17);
        sph_data *data = open_with(csv_with(text), &opts);
        const double *time = data->side[COLUMN_TIME];
        for (size_t c = 0; c < sizeof shares / sizeof *shares; c++) {
            sph_split split;
            double latest[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}, first[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL};
            if (sph_split_make(&split, data, SPH_SPLIT_RANDOM, shares[c][0], shares[c][1], 3) < 0) {
                assert_true(days == 2); /* a day to each part, and none is left to learn from */
                assert_fails(sph_split_make(&split, data, SPH_SPLIT_RANDOM, shares[c][0], shares[c][1], 3),
                             SPH_EARG, .key = "time");
                continue;
            }
            const uint32_t *part[] = {split.train, split.val, split.test};
            size_t count[] = {split.train_rows, split.val_rows, split.test_rows};
            assert_int_equal(count[0] + count[1] + count[2], ROWS);
            for (int p = 0; p < 3; p++)
                for (size_t i = 0; i < count[p]; i++) {
                    latest[p] = fmax(latest[p], time[part[p][i]]);
                    first[p] = fmin(first[p], time[part[p][i]]);
                }
            assert_true(latest[0] < first[1] && latest[0] < first[2] && latest[1] < first[2]);
            assert_true((double)count[2] >= shares[c][0] * ROWS);
            assert_true((double)count[1] >= shares[c][1] * (double)(ROWS - count[2]));
            sph_split_free(&split);
        }
        sph_data_free(data);
    }
}

/* A linear model under mse goes to the weighted mean of the targets where there is nothing else to see. */
static double constant_fit(int weighted)
{
    sph_data_opts opts;
    sph_data_defaults(&opts);
    opts.weights = weighted ? "w" : NULL;
    opts.drop = weighted ? NULL : "w";
    sph_data *data = open_with(csv_with("x,w,y\n0,1,0\n0,1,0\n0,1,0\n0,9,4.5\n0,0,100.5\n0,1,0\n"), &opts);
    sph_net *net;
    sph_mlp spec = {.size = sizeof(sph_mlp),
                    .dtype = SPH_F64,
                    .inputs = 1,
                    .outputs = 1,
                    .param = SPH_PARAM_SP,
                    .norm = SPH_NORM_NONE};
    assert_int_equal(sph_net_mlp(&net, &spec), 0);
    sph_train_opts train;
    sph_train_defaults(&train, SPH_TASK_REGRESSION);
    train.standardize = SPH_STANDARDIZE_OFF;
    train.loss = SPH_LOSS_MSE;
    train.optimizer = SPH_OPTIMIZER_SGD;
    sph_train_optimizer(&train, SPH_OPTIMIZER_SGD);
    train.momentum = 0;
    train.lr = 0.1;
    train.epochs = 400;
    train.batch = 0;
    train.patience = 0;
    uint32_t all[] = {0, 1, 2, 3, 4, 5};
    sph_split split = {.train = all, .train_rows = 6};
    if (sph_train(net, data, &split, &train, NULL, 0, NULL) < 0)
        fail_msg("%s", sph_error());
    double x = 0, p;
    assert_int_equal(sph_net_forward(net, &x, 1, &p), 0);
    sph_net_free(net);
    sph_data_free(data);
    return p;
}

static void a_row_counts_what_its_weight_says(void **state)
{
    (void)state;
    /* (9 * 4.5) / 13, and (4.5 + 100.5) / 6 without */
    assert_true(fabs(constant_fit(1) - 40.5 / 13) < 1e-9);
    assert_true(fabs(constant_fit(0) - 105.0 / 6) < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(days_weekdays_and_months_are_those_of_the_c_library),
        cmocka_unit_test(dates_are_read_in_the_orders_that_they_allow),
        cmocka_unit_test(a_date_column_is_four_features_and_stays_so_in_later_files),
        cmocka_unit_test(whole_numbers_without_a_gap_from_0_or_1_are_classes),
        cmocka_unit_test(drop_auto_leaves_out_constants_ids_and_free_text),
        cmocka_unit_test(a_word_that_training_did_not_see_is_counted_or_refused),
        cmocka_unit_test(rows_left_out_are_counted_by_their_reason),
        cmocka_unit_test(libsvm_is_a_table_of_what_it_does_not_leave_out),
        cmocka_unit_test(no_group_is_in_two_parts),
        cmocka_unit_test(the_test_part_comes_last_in_time),
        cmocka_unit_test(no_time_is_in_two_parts),
        cmocka_unit_test(a_row_counts_what_its_weight_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
