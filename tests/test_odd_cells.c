/* SPDX-License-Identifier: MIT
 *
 * Words, dates and formats that cannot be read in columns of numbers, whatever the number of different values, and columns of
 * codes, which stay text; --text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "data/open.h"
#include "data_files.h"
#include "failure.h"
#include "rows/data.h"
#include "spherelu.h"

enum { ROWS = 300 };

/* A cell of row i. */
typedef void writer(char *out, size_t size, int i);

/* The column v by the writer, x, and the target y. */
static const char *table_of(writer *write)
{
    struct text csv = {0};
    text_add(&csv, "v,x,y\n");
    for (int i = 0; i < ROWS; i++) {
        char cell[60];
        write(cell, sizeof cell, i);
        text_add(&csv, "%s,%d.5,%d.25\n", cell, i % 17, i % 23);
    }
    const char *path = csv_with(csv.chars);
    text_free(&csv);
    return path;
}

#define WRITER(name, ...)                                                                                    \
    static void name(char *out, size_t size, int i)                                                          \
    {                                                                                                        \
        snprintf(out, size, __VA_ARGS__);                                                                    \
    }

WRITER(days_in_short, "%02d/04/23", 1 + i % 28)
WRITER(underscores, "%d_241", 700 + i % 30)
WRITER(kilograms, "%d.5 kg", 10 + i % 30)
WRITER(tonnes, "%d tonnes", 1 + i % 20)
WRITER(years_first, "%02d/%02d/14", 50 + i % 12, 1 + i % 12)
WRITER(some_cubic, i % 3 ? "%d cc" : "%d", 1200 + i % 30)
WRITER(ages, i % 25 == 3 ? "unknown" : i % 50 == 7 ? "none" : "%d", 20 + i % 41)
WRITER(days, i % 25 == 0 ? "soon" : "2023-04-%02d", 1 + i % 28)
WRITER(bad_day, i % 60 == 3 ? "2023-13-45" : "2023-04-%02d", 1 + i % 28)
WRITER(day_number, i % 60 == 3 ? "45291" : "2023-04-%02d", 1 + i % 28)
WRITER(two_marks, i % 2 ? "\"%d,25\"" : "\"1,%03d.5\"", 100 + i % 30)

WRITER(children, i % 4 == 3 ? "3+" : "%d", i % 4)
WRITER(ranges, "%d-%d", i % 18 * 5, i % 18 * 5 + 4)
WRITER(codes, i % 20 ? "%d" : "A%d", 101 + i % 25)
WRITER(floors, i % 2 ? "1st floor" : "%dnd floor", 2)
WRITER(ordinals, i % 2 ? "%dth" : "%dth grade", 4 + i % 16)
WRITER(topped, i % 12 == 11 ? "%d or more" : "%d", i % 12)
WRITER(versions, "%d.%d.%d", i % 3, i / 3 % 2, 10 + i % 30)
WRITER(records, "%d-%d-%d", i % 4, i % 5, 10 + i % 20)
WRITER(postal_codes, "%d %cX", 1011 + i % 30, 'A' + i % 5)
WRITER(long_zips, i % 5 ? "%d" : "%d-1234", 10001 + i % 6)
WRITER(memory, "%dGB", 64 << i % 5)
WRITER(pixels, i % 2 ? "1920x%d" : "1366x%d", 700 + i % 5)
WRITER(times, "%02d:00", i % 24)
WRITER(sizes, i % 2 ? "M" : "%d", 36 + i % 5)
WRITER(houses, "%d%c", 1 + i % 12, 'A' + i % 3)
WRITER(shops, i % 10 ? "%d" : "online", 1 + i % 8)

static void odd_columns_are_refused_whatever_the_number_of_values(void **state)
{
    static const struct {
        writer *write;
        size_t line;      /* where the message begins with it */
        const char *says; /* in the message */
    } cases[] = {
        {days_in_short, 0, "'01/04/23' in line 2"},
        {underscores, 0, "'700_241' in line 2"},
        {kilograms, 0, "--text v"},
        {tonnes, 0, "'1 tonnes' in line 2"},
        {years_first, 0, "'50/01/14' in line 2"},
        {some_cubic, 0, "'1201 cc' in line 3"},
        {ages, 5, "--missing-words 'unknown,none'"},
        {days, 2, "--missing-words 'soon'"},
        {bad_day, 5, "expected a date"},
        {day_number, 5, "'45291', expected a date"},
        {two_marks, 3, "decimal comma"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = table_of(cases[i].write);
        sph_data *data = NULL;
        sph_data_opts opts;
        sph_data_defaults(&opts);
        opts.target = "y";
        opts.encode = 1;
        assert_fails(sph_data_open(&data, path, &opts), SPH_EFORMAT, .key = "v", .path = path,
                     .line = cases[i].line);
        if (!strstr(sph_error(), cases[i].says))
            fail_msg("case %zu lacks '%s': %s", i, cases[i].says, sph_error());
        opts.text = "v"; /* the remedy works */
        assert_int_equal(sph_data_open(&data, path, &opts), 0);
        assert_int_equal(data->columns[0].kind, COLUMN_TEXT);
        sph_data_free(data);
        unlink(path);
    }
}

static void categories_with_digits_stay_text(void **state)
{
    static writer *const cases[] = {children, ranges,  codes,        floors,    ordinals, topped,
                                    versions, records, postal_codes, long_zips, memory,   pixels,
                                    times,    sizes,   houses,       shops};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = table_of(cases[i]);
        sph_data *data = NULL;
        sph_data_opts opts;
        sph_data_defaults(&opts);
        opts.target = "y";
        opts.encode = 1;
        if (sph_data_open(&data, path, &opts) < 0)
            fail_msg("case %zu: %s", i, sph_error());
        assert_int_equal(data->columns[0].kind, COLUMN_TEXT);
        sph_data_free(data);
        unlink(path);
    }
}

static void words_are_listed_with_those_that_were_given(void **state)
{
    const char *path = table_of(ages);
    sph_data *data = NULL;
    sph_data_opts opts;
    (void)state;
    sph_data_defaults(&opts);
    opts.target = "y";
    opts.missing_words = "none,soon";
    assert_fails(sph_data_open(&data, path, &opts), SPH_EFORMAT, .key = "v", .line = 5);
    assert_non_null(strstr(sph_error(), "--missing-words 'none,soon,unknown'"));
    opts.missing_words = "none,soon,unknown";
    assert_int_equal(sph_data_open(&data, path, &opts), 0);
    assert_int_equal(data->columns[0].kind, COLUMN_NUMBER);
    assert_int_equal(data->columns[0].filled, 12 + 6);
    sph_data_free(data);
    unlink(path);
}

/* Fails on the rows of a table that `row` writes, and tells what that says. */
static const char *refusal_of(const char *header, writer *row, int rows)
{
    static char said[1200];
    struct text csv = {0};
    sph_data *data = NULL;
    sph_data_opts opts;
    text_add(&csv, "%s", header);
    for (int i = 0; i < rows; i++) {
        char line[200];
        row(line, sizeof line, i);
        text_add(&csv, "%s\n", line);
    }
    const char *path = csv_with(csv.chars);
    text_free(&csv);
    sph_data_defaults(&opts);
    opts.target = "y";
    opts.encode = 1;
    assert_int_equal(sph_data_open(&data, path, &opts), SPH_EFORMAT);
    assert_null(data);
    snprintf(said, sizeof said, "%s", sph_error());
    unlink(path);
    return said;
}

WRITER(eight_odd, "7_%03d,8_%03d,7_%03d,8_%03d,7_%03d,8_%03d,7_%03d,8_%03d,%d.5", i, i, i, i, i, i, i, i, i)
WRITER(slips_and_dates, i == 3 ? "bad,bad,bad,bad,bad,bad,bad,01/02/2024,%d" : "1,2,3,4,5,6,7,01/02/2024,%d",
       i)
WRITER(own_words, i % 4 ? "%d,%d" : "w%d,%d", i % 41, i)

static void advice_is_about_the_columns_that_it_mends(void **state)
{
    (void)state;
    assert_non_null(strstr(refusal_of("a,b,c,d,e,f,g,h,y\n", eight_odd, 100), "--text a,b,c,d,e,f,g,h to"));
    assert_non_null(strstr(refusal_of("a,b,c,d,e,f,g,when,y\n", slips_and_dates, 100), "with --drop when"));
    const char *said = refusal_of("v,y\n", own_words, 300); /* 75 words, and all differ */
    assert_non_null(strstr(said, "and more"));
    assert_null(strstr(said, "--text"));
}

WRITER(many_tonnes, "%d tonnes,%d", 1 + i, i)

static void units_are_seen_in_any_number_of_values(void **state)
{
    (void)state;
    assert_non_null(strstr(refusal_of("v,y\n", many_tonnes, 1500), "cannot be read"));
}

static void words_in_a_target_may_be_classes(void **state)
{
    struct text csv = {0};
    sph_data *data = NULL;
    sph_data_opts opts;
    (void)state;
    text_add(&csv, "x,y\n");
    for (int i = 0; i < 260; i++)
        text_add(&csv, i % 13 ? "%d,%d\n" : "%d,other\n", i, i % 13);
    const char *path = csv_with(csv.chars);
    text_free(&csv);
    sph_data_defaults(&opts);
    assert_fails(sph_data_open(&data, path, &opts), SPH_EFORMAT, .key = "y", .line = 2);
    assert_non_null(strstr(sph_error(), "use --task classes"));
    opts.task = SPH_TASK_CLASSES;
    assert_int_equal(sph_data_open(&data, path, &opts), 0);
    assert_int_equal(data->classes, 13);
    sph_data_free(data);
    unlink(path);
}

static void text_makes_categories_of_numbers(void **state)
{
    struct text csv = {0};
    sph_data *data = NULL;
    sph_data_opts opts;
    (void)state;
    text_add(&csv, "zip,x,y\n");
    for (int i = 0; i < 60; i++)
        text_add(&csv, "%05d,%d,%d.5\n", 4967 + i % 3, i % 7, i);
    const char *path = csv_with(csv.chars);
    text_free(&csv);
    sph_data_defaults(&opts);
    opts.target = "y";
    opts.text = "zip";
    assert_int_equal(sph_data_open(&data, path, &opts), 0);
    assert_int_equal(data->columns[0].level_count, 3);
    assert_string_equal(data->columns[0].levels[0], "04967");
    sph_data_free(data);
    opts.drop = "zip";
    assert_fails(sph_data_open(&data, path, &opts), SPH_EARG, .key = "text");
    opts.drop = NULL;
    opts.text = "y";
    assert_fails(sph_data_open(&data, path, &opts), SPH_EARG, .key = "text");
    opts.text = "zip";
    opts.time = "zip";
    assert_fails(sph_data_open(&data, path, &opts), SPH_EARG, .key = "time");
    opts.time = NULL;
    opts.weights = "zip";
    assert_fails(sph_data_open(&data, path, &opts), SPH_EARG, .key = "weights");
    opts.weights = NULL;
    opts.text = "zap";
    assert_fails(sph_data_open(&data, path, &opts), SPH_EARG, .key = "text");
    unlink(path);
    opts.text = "x0";
    opts.target = NULL;
    assert_fails(sph_data_open(&data, "banana", &opts), SPH_EARG, .key = "text");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(odd_columns_are_refused_whatever_the_number_of_values),
        cmocka_unit_test(categories_with_digits_stay_text),
        cmocka_unit_test(words_are_listed_with_those_that_were_given),
        cmocka_unit_test(advice_is_about_the_columns_that_it_mends),
        cmocka_unit_test(units_are_seen_in_any_number_of_values),
        cmocka_unit_test(words_in_a_target_may_be_classes),
        cmocka_unit_test(text_makes_categories_of_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
