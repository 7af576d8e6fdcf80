/* SPDX-License-Identifier: MIT
 *
 * Text tables that must be read: delimiters, headers, quotes, line ends, money, missing cells, words, tasks.
 */
#include <math.h>
#include <stdio.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/random.h"
#include "base/text.h"
#include "data/open.h"
#include "data/sheet.h"
#include "data_files.h"
#include "failure.h"
#include "rows/tool.h"
#include "spherelu.h"

static sph_data *opened(const char *text, const sph_data_opts *opts)
{
    const char *path = csv_with(text);
    sph_data *data;
    int err = sph_data_open(&data, path, opts);
    unlink(path);
    if (err < 0)
        fail_msg("%s", sph_error());
    return data;
}

static void assert_numbers(const double *values, size_t count, ...)
{
    va_list args;
    va_start(args, count);
    for (size_t i = 0; i < count; i++) {
        double expected = va_arg(args, double);
        if (isnan(expected) ? !isnan(values[i]) : values[i] != expected)
            fail_msg("number %zu is %.17g, expected %.17g", i, values[i], expected);
    }
    va_end(args);
}

static void assert_feature(const sph_data *data, size_t feature, const char *expected)
{
    char name[256];
    assert_int_equal(sph_data_feature(data, feature, name, sizeof name), 0);
    assert_string_equal(name, expected);
    assert_int_equal(sph_data_feature(data, sph_data_features(data), name, sizeof name), SPH_EARG);
}

static void the_same_table_is_read_whatever_separates_it(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "a,b,y\n1,2.5,3\n-4,5e1,6\n7,8,9\n",                /* comma */
        "a;b;y\n1;2.5;3\n-4;5e1;6\n7;8;9\n",                /* semicolon */
        "a|b|y\n1|2.5|3\n-4|5e1|6\n7|8|9\n",                /* bar */
        "a;b;y\n1;2,5;3\n-4;5e1;6\n7;8;9\n",                /* decimal comma */
        "a|b|y\n1|2,5|3\n-4|5,0e1|6\n7|8,000|9\n",          /* and one that could be thousands */
        "a\tb\ty\n1\t2.5\t3\n-4\t5e1\t6\n7\t8\t9\n",        /* tab */
        "  a  b y\n 1   2.5 \t 3 \n-4 5e1\t6\n\t7 8 9\n\n", /* blanks and tabs, leading and trailing */
        "a , b , y\r\n1 , 2.5 , 3\r\n-4 , 5e1 , 6\r\n7 , 8 , 9\r\n\r\n", /* CRLF, blanks around */
        "a,b,y\r1,2.5,3\r-4,5e1,6\r7,8,9",                               /* CR alone, no last end */
        "\xEF\xBB\xBF\"a\",\"b\",\"y\"\n\"1\",\"2.5\",\"3\"\n-4,5e1,6\n\n7,8,9\n\n\n", /* BOM, quotes, empty
                                                                                          lines */
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        sph_data *data = opened(texts[i], NULL);
        assert_int_equal(sph_data_rows(data), 3);
        assert_int_equal(sph_data_features(data), 2);
        assert_int_equal(data->targets, 1);
        assert_int_equal(sph_data_task(data), SPH_TASK_REGRESSION);
        assert_numbers(sph_data_x(data), 6, 1.0, 2.5, -4.0, 50.0, 7.0, 8.0);
        assert_numbers(sph_data_y(data), 3, 3.0, 6.0, 9.0);
        assert_feature(data, 1, "b");
        sph_data_free(data);
    }
}

static void a_table_without_header_has_numbers_for_names(void **state)
{
    (void)state;
    sph_data_opts opts;
    sph_data_defaults(&opts);
    opts.target = "0,-1";
    opts.drop = "1";
    sph_data *data = opened("1,2,3,4\n5,6,7,8\n9,1,2,3\n", &opts);
    assert_int_equal(sph_data_rows(data), 3);
    assert_int_equal(sph_data_features(data), 1);
    assert_feature(data, 0, "2");
    assert_numbers(sph_data_y(data), 6, 1.0, 4.0, 5.0, 8.0, 9.0, 3.0);
    assert_string_equal(data_target_name(data, 1), "3");
    sph_data_free(data);
}

static void headers_are_found_where_they_are_and_nowhere_else(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t rows;
    } cases[] = {
        {"red,1\nblue,2\nred,3\nblue,4\nred,5\n", 5},       /* words over words, numbers over numbers */
        {"colour,size\nred,1\nblue,2\nred,3\nblue,5\n", 4}, /* a word over numbers */
        {"colour,kind\nred,a\nblue,b\nred,b\nblue,a\n", 4}, /* only words, the first row's own */
        {"red,a\nblue,b\nred,b\nblue,a\n", 4},              /* only words, the first row's come again */
        {"a,2019\n1,2\n3,4\n5,6\n", 3},                     /* one word is enough */
        {"a,b\n1,\n3,4\n5,6\n6,\n7,8\n", 3},                /* missing cells are no words */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sph_data *data = opened(cases[i].text, NULL);
        assert_int_equal(sph_data_rows(data), cases[i].rows);
        sph_data_free(data);
    }
}

static void money_thousands_and_per_cent_are_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } numbers[] = {
        {"12", 12},
        {"-0.5", -0.5},
        {"+.5", 0.5},
        {"5.", 5},
        {"1e3", 1000},
        {"1.5E-3", 0.0015},
        {"$1,234.50", 1234.5},
        {"-$5", -5},
        {"$-5", -5},
        {"$ 7", 7},
        {"1,200", 1200},
        {"-1,234,567", -1234567},
        {"12%", 12},
        {"8.5 %", 8.5},
        {"\xE2\x82\xAC"
         "9.99",
         9.99},
        {"9.99 \xE2\x82\xAC", 9.99},
        {"\xC2\xA3"
         "3",
         3},
        {"EUR 1,000.5", 1000.5},
        {"310,000 USD", 310000},
        {" 42 ", 42},
        {"12 345", 12345},
        {"12\xC2\xA0"
         "345.5",
         12345.5},
        {"1'234'567.5", 1234567.5},
        {"1\xE2\x80\x99"
         "234",
         1234},
        {"$0,958.50", 958.5},
        {"(0.53)", -0.53},
        {"$(1,294.14)", -1294.14},
        {"($ 3)", -3},
        {"0.1", 0.1},
        {"123456789012345678", 123456789012345678.0},
        {"9007199254740993", 9007199254740992.0},
        {"0.30000000000000004", 0.30000000000000004},
        {"2.2250738585072014e-308", 2.2250738585072014e-308},
        {"1e-400", 0},
        {"00012", 12},
        {"179769313486231570000000000000000000000000000000000", 179769313486231570e33},
        {"0.000000000000000000000000000001234", 1.234e-30},
    };
    static const char *const texts[] = {"abc",
                                        "0,544",
                                        ("\xE2\x82\xAC"
                                         "0,544"), /* in parts: a digit would join the escape */
                                        "012,345",
                                        "1,23",
                                        "1,2345",
                                        ",123",
                                        "1234,567",
                                        "1,234e3",
                                        "0x10",
                                        "1e",
                                        "e5",
                                        ".",
                                        "$",
                                        "%",
                                        "--5",
                                        "1 2",
                                        "1 23",
                                        "012 345",
                                        "1'234 567",
                                        "7.500,05",
                                        "1.234.567",
                                        "1.234'567",
                                        "-(5)",
                                        "(-5)",
                                        "()",
                                        "738_241",
                                        "-0.53 kg",
                                        "12abc",
                                        "2020-01-05",
                                        "1.2.3",
                                        "3+",
                                        "infinite",
                                        "EUR"};
    static const char *const missing[] = {"",    "  ",   "NA",   "na",   "N/A", "NaN",
                                          "nan", "-nan", "NULL", "null", "?",   "-"};
    static const char *const infinite[] = {"inf", "-Inf", "Infinity", "1e999", "-1e400"};
    struct cell cell;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        cell_read(&cell, numbers[i].text);
        if (cell.kind != CELL_NUMBER || cell.value != numbers[i].value)
            fail_msg("'%s' is read as %.17g (kind %d)", numbers[i].text, cell.value, (int)cell.kind);
    }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        cell_read(&cell, texts[i]);
        if (cell.kind != CELL_TEXT)
            fail_msg("'%s' is not read as text", texts[i]);
    }
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++) {
        cell_read(&cell, missing[i]);
        if (cell.kind != CELL_MISSING)
            fail_msg("'%s' is not read as missing", missing[i]);
    }
    for (size_t i = 0; i < sizeof infinite / sizeof *infinite; i++) {
        cell_read(&cell, infinite[i]);
        if (cell.kind != CELL_INFINITE)
            fail_msg("'%s' is not read as infinite", infinite[i]);
    }
}

static void commas_are_decimal_where_a_cell_of_the_column_cannot_be_thousands(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double x[3];
    } cases[] = {
        {"a;y\n0,544;1\n1,190;2\n3;4\n", {0.544, 1.19, 3}},            /* a leading 0 */
        {"a;y\n1,190;1\n1,19;2\n-2,000;4\n", {1.19, 1.19, -2}},        /* two digits */
        {"a\ty\n1,190\t1\n1234,567\t2\n\t4\n", {1.19, 1234.567, NAN}}, /* four before it */
        {"1,5;1\n2,5;2\n3,5;4\n", {1.5, 2.5, 3.5}},                    /* no header */
        {"0,5;1\n1,190;2\n7,250;4\n", {0.5, 1.19, 7.25}},              /* only the first row tells */
        {"a;y\n1,190;1\n1,250,000;2\n3;4\n", {1190, 1250000, 3}},      /* thousands */
        {"a;y\n1,190;1\n$1,250;2\n3;4\n", {1190, 1250, 3}},            /* money */
        {"a;y\n1,190;1\n2.5;2\n3;4\n", {1190, 2.5, 3}},                /* the point is decimal */
        {"a,y\n\"1,190\",1\n\"2,000\",2\n3,4\n", {1190, 2000, 3}},     /* commas part the cells */
        {"a,y\n\"0,923\",1\n\"2,394\",2\n3,4\n", {0.923, 2.394, 3}},   /* and are decimal in cells */
        {"a,y\n\"1180,2\",1\n3.967,2\n3,4\n", {1180.2, 3967, 3}},
        {"a;y\n7.500,05;1\n950;2\n1.250.000;4\n", {7500.05, 950, 1250000}}, /* points part thousands */
        {"a;y\n3 967,50 EUR;1\n(0,5);2\n-12;4\n", {3967.5, -0.5, -12}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sph_data *data = opened(cases[i].text, NULL);
        assert_int_equal(sph_data_rows(data), 3);
        assert_numbers(sph_data_x(data), 3, cases[i].x[0], cases[i].x[1], cases[i].x[2]);
        assert_numbers(sph_data_y(data), 3, 1.0, 2.0, 4.0);
        sph_data_free(data);
    }
    /* unclear columns follow the others of the file */
    sph_data *two = opened("a;b;c;y\n3.967;0,5;1,250;1\n950;1,5;2,750;2\n2.000;2,5;3,000;4\n", NULL);
    assert_numbers(sph_data_x(two), 9, 3967.0, 0.5, 1.25, 950.0, 1.5, 2.75, 2000.0, 2.5, 3.0);
    sph_data_free(two);
    two = opened("a;b;y\n3.967;0.5;1\n950;1.5;2\n2.000;2.5;4\n", NULL);
    assert_numbers(sph_data_x(two), 6, 3.967, 0.5, 950.0, 1.5, 2.0, 2.5);
    sph_data_free(two);
    /* not read as a number, hence not refused */
    sph_data_opts opts;
    sph_data_defaults(&opts);
    opts.drop = "a";
    sph_data *data = opened("a;b;y\n1,190;1;1\n2,000;2;2\n3,000;3;4\n", &opts);
    assert_int_equal(sph_data_features(data), 1);
    sph_data_free(data);
}

static void random_numbers_are_read_to_the_last_bit(void **state)
{
    (void)state;
    uint64_t bits = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        double value;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        char text[64];
        struct cell cell;
        snprintf(text, sizeof text, "%.*g", 1 + (int)(bits % 17), value);
        cell_read(&cell, text);
        assert_true(cell.value == strtod(text, NULL));
        snprintf(text, sizeof text, "%.*f", (int)(bits % 9), (double)(int64_t)bits * 0x1p-40);
        cell_read(&cell, text);
        assert_true(cell.value == strtod(text, NULL));
    }
}

static const char houses[] = "town;\"size, sqft\";garage;price\n"
                             "Old Town;1,200.0;yes;$250,000\n"
                             "Harbour;900;no;\"$180,500.50\"\n"
                             "Old Town;;yes;$240,000\n"
                             "Hills;2000;;$310,000\n"
                             "Hills;;no;\n"
                             "\"Harbour\";850;no;$170,000\n";

static void words_become_indicators_and_missing_cells_are_kept_for_the_mean(void **state)
{
    (void)state;
    sph_data_opts opts;
    sph_data_defaults(&opts);
    opts.target = "price";
    sph_data *data = opened(houses, &opts);
    assert_int_equal(sph_data_rows(data), 5); /* no target, no row */
    assert_int_equal(data->counts.left_out, 1);
    assert_int_equal(data->counts.filled, 2); /* that of the row left out would have been a third */
    assert_true(data->has_missing);
    assert_int_equal(sph_data_features(data), 6);
    assert_feature(data, 0, "town=Harbour");
    assert_feature(data, 2, "town=Old Town");
    assert_feature(data, 3, "size, sqft");
    assert_feature(data, 5, "garage=yes");
    assert_numbers(sph_data_x(data), 30,                 /**/
                   0.0, 0.0, 1.0, 1200.0, 0.0, 1.0,      /**/
                   1.0, 0.0, 0.0, 900.0, 1.0, 0.0,       /**/
                   0.0, 0.0, 1.0, (double)NAN, 0.0, 1.0, /**/
                   0.0, 1.0, 0.0, 2000.0, 0.0, 0.0,      /**/
                   1.0, 0.0, 0.0, 850.0, 1.0, 0.0);
    assert_numbers(sph_data_y(data), 5, 250000.0, 180500.5, 240000.0, 310000.0, 170000.0);
    sph_data_free(data);

    opts.missing = SPH_MISSING_DROP;
    data = opened(houses, &opts);
    assert_int_equal(sph_data_rows(data), 3);
    assert_int_equal(data->counts.left_out, 3);
    assert_int_equal(data->counts.filled, 0);
    assert_false(data->has_missing);
    sph_data_free(data);
}

static void a_word_that_comes_back_in_a_column_of_few_numbers_is_a_level(void **state)
{
    (void)state;
    sph_data *data = opened("n,y\n1,1\n2,2\n3+,3\n1,4\n2,5\n3+,6\n1,7\n2,8\n1,9\n1,3\n", NULL);
    assert_int_equal(sph_data_features(data), 3);
    assert_feature(data, 2, "n=3+");
    sph_data_free(data);
}

static void the_task_follows_from_the_target(void **state)
{
    (void)state;
    sph_data_opts opts;
    sph_data_defaults(&opts);
    sph_data *data = opened("a,y\n1,1\n2,-1\n3,1.0\n4,-1\n", NULL);
    assert_int_equal(sph_data_task(data), SPH_TASK_BINARY);
    assert_int_equal(sph_data_outputs(data), 1);
    assert_string_equal(data->labels[0], "-1");
    assert_string_equal(data->labels[1], "1");
    assert_numbers(sph_data_y(data), 4, 1.0, 0.0, 1.0, 0.0);
    sph_data_free(data);

    data = opened("a,y\n1,yes\n2,no\n3,no\n4,\n", NULL);
    assert_int_equal(sph_data_task(data), SPH_TASK_BINARY);
    assert_int_equal(sph_data_rows(data), 3);
    assert_numbers(sph_data_y(data), 3, 1.0, 0.0, 0.0);
    sph_data_free(data);

    data = opened("a,y\n1,cat\n2,dog\n3,bird\n4,dog\n5,cat\n6,bird\n", NULL);
    assert_int_equal(sph_data_task(data), SPH_TASK_CLASSES);
    assert_int_equal(sph_data_outputs(data), 3);
    assert_int_equal(data->targets, 1);
    assert_string_equal(data->labels[0], "bird");
    assert_numbers(sph_data_y(data), 6, 1.0, 2.0, 0.0, 2.0, 1.0, 0.0);
    sph_data_free(data);

    opts.task = SPH_TASK_CLASSES;
    data = opened("a,y\n1,10\n2,9\n3,2\n4,10\n5,9\n6,2\n", &opts);
    assert_int_equal(sph_data_outputs(data), 3);
    assert_string_equal(data->labels[2], "10"); /* by value, not by letter */
    assert_numbers(sph_data_y(data), 6, 2.0, 1.0, 0.0, 2.0, 1.0, 0.0);
    sph_data_free(data);

    data = opened("a,y\n1,0\n2,1\n3,0\n", &opts);
    assert_int_equal(sph_data_outputs(data), 2); /* asked for classes */
    sph_data_free(data);

    opts.task = SPH_TASK_REGRESSION;
    data = opened("a,y\n1,0\n2,1\n3,0\n", &opts);
    assert_int_equal(sph_data_task(data), SPH_TASK_REGRESSION);
    sph_data_free(data);

    data = opened("a,y\n1,3\n2,4\n3,5\n4,3\n", NULL);
    assert_int_equal(sph_data_task(data), SPH_TASK_REGRESSION);
    sph_data_free(data);
}

static void rows_takes_numpys_choice(void **state)
{
    (void)state;
    struct text text = {0};
    text_add(&text, "a,y\n");
    for (int i = 0; i < 10; i++)
        text_add(&text, "%d,%d\n", i, i * i);
    sph_data_opts opts;
    sph_data_defaults(&opts);
    opts.rows = 3;
    opts.seed = 42;
    sph_data *data = opened(text.chars, &opts); /* RandomState(42).choice(10, 3, replace=False) */
    assert_numbers(sph_data_x(data), 3, 8.0, 1.0, 5.0);
    assert_numbers(sph_data_y(data), 3, 64.0, 1.0, 25.0);
    sph_data_free(data);
    text_free(&text);
}

/* RandomState(113).permutation(12), and of these RandomState(42).choice(12, 3, replace=False), which are 10, 9, 0 */
static void permute_is_numpys_permutation_before_rows_are_chosen(void **state)
{
    (void)state;
    struct text text = {0};
    text_add(&text, "a,y\n");
    for (int i = 0; i < 12; i++)
        text_add(&text, "%d,%d\n", i, i * i);
    sph_data_opts opts;
    sph_data_defaults(&opts);
    opts.permutes = 1;
    opts.permute = 113;
    sph_data *data = opened(text.chars, &opts);
    assert_numbers(sph_data_x(data), 12, 4.0, 3.0, 9.0, 8.0, 1.0, 0.0, 11.0, 7.0, 6.0, 10.0, 2.0, 5.0);
    assert_numbers(sph_data_y(data), 3, 16.0, 9.0, 81.0);
    sph_data_free(data);
    opts.rows = 3;
    opts.seed = 42;
    data = opened(text.chars, &opts);
    assert_numbers(sph_data_x(data), 3, 2.0, 10.0, 4.0);
    sph_data_free(data);
    text_free(&text);
}

/* Levels of a text column keep their order; a file is read by the schema as it was. */
static void reversed_columns_stay_so_in_the_schema(void **state)
{
    (void)state;
    static const char text[] = "a,word,y,b\n1,no,5,2\n3,yes,6,4\n5,no,7,6\n7,yes,8,8\n";
    sph_data_opts opts;
    sph_data_defaults(&opts);
    opts.target = "y";
    opts.columns = SPH_COLUMNS_REVERSED;
    sph_data *data = opened(text, &opts);
    assert_numbers(sph_data_x(data), 8, 2.0, 1.0, 0.0, 1.0, 4.0, 0.0, 1.0, 3.0);
    assert_numbers(sph_data_y(data), 4, 5.0, 6.0, 7.0, 8.0);
    assert_feature(data, 0, "b");
    assert_feature(data, 1, "word=no");
    assert_feature(data, 2, "word=yes");
    assert_feature(data, 3, "a");
    json_t *schema;
    assert_int_equal(data_schema(data, &schema), 0);
    assert_true(json_is_true(json_object_get(schema, "reversed")));
    char *note = json_dumps(schema, 0);
    sph_data *columns = NULL;
    assert_int_equal(sph_data_of_note(&columns, note), 0);
    assert_int_equal(sph_data_rows(columns), 0);
    assert_int_equal(sph_data_features(columns), 4);
    assert_int_equal(sph_data_order(columns), SPH_COLUMNS_REVERSED);
    assert_feature(columns, 0, "b");
    assert_feature(columns, 2, "word=yes");
    assert_feature(columns, 3, "a");
    sph_data_free(columns);
    free(note);
    assert_fails(sph_data_of_note(&columns, "{}"), SPH_EFORMAT, .key = "named");
    json_decref(schema);
    sph_data_free(data);
}

static void latin_1_text_becomes_utf_8(void **state)
{
    (void)state;
    sph_data *data = opened("ort,y\nK\xF6ln,1\nBonn,2\nK\xF6ln,3\nBonn,4\nBonn,\x80 5\n", NULL);
    assert_feature(data, 1, "ort=K\xC3\xB6ln");
    assert_numbers(sph_data_y(data) + 4, 1, 5.0);
    json_t *schema;
    assert_int_equal(data_schema(data, &schema), 0);
    json_decref(schema);
    sph_data_free(data);
}

static void repeated_and_empty_names_are_told_apart(void **state)
{
    (void)state;
    sph_data *data =
        opened(",a,a,y,\n0,1,2,3,\n1,4,5,6,\n2,7,8,9,\n",
               &(sph_data_opts){
                   .size = sizeof(sph_data_opts), .task = -1, .missing = SPH_MISSING_MEAN, .target = "y"});
    assert_int_equal(sph_data_features(data), 3); /* the last column, nameless and empty, is no column */
    assert_feature(data, 0, "0");
    assert_feature(data, 1, "a");
    assert_feature(data, 2, "a.1");
    sph_data_free(data);
}

static void a_long_file_of_blanks_is_read_across_buffers(void **state)
{
    (void)state;
    struct text text = {0};
    for (int i = 0; i < 20000; i++)
        text_add(&text, "  %d \t  %d   %d  \n", i, i + 1, 7 * i);
    sph_data *data = opened(text.chars, NULL);
    assert_int_equal(sph_data_rows(data), 20000);
    for (size_t i = 0; i < 20000; i++) {
        assert_true(sph_data_x(data)[2 * i + 1] == (double)(i + 1));
        assert_true(sph_data_y(data)[i] == (double)(7 * i));
    }
    sph_data_free(data);
    text_free(&text);
}

/* ---------------------------------------------------------------- cells that are kept */

/* Numbers, words (some look like numbers), missing cells, quotes; where `many`, a target of more words than are
 * kept. */
static char *mixed_table(size_t rows, int many)
{
    static const char *const towns[] = {"Ulm", "\"Bonn, Rhein\"", "", "NA", "Kiel"}, *const rooms[] = {
                                                                                         "1", "2", "3+"};
    struct text text = {0};
    uint64_t drawn;
    text_add(&text, "size,town,rooms,id,y\n");
    for (size_t i = 0; i < rows; i++) {
        drawn = i * UINT64_C(0x9e3779b97f4a7c15) >> 13;
        if (drawn % 7)
            text_add(&text, "%g", (double)(drawn % 1000) / 8);
        text_add(&text, ",%s,%s,%zu,", towns[drawn / 7 % 5], rooms[drawn / 64 % 3], i);
        text_add(&text, "%s%zu\n", many ? "class" : "", many ? i % 5000 : (size_t)(drawn % 90));
    }
    assert_false(text.failed);
    return text.chars;
}

static int keeps_cells(const char *path)
{
    sph_data_opts opts;
    struct sheet sheet;
    sph_data_defaults(&opts);
    assert_int_equal(sheet_open(&sheet, path, &opts, &(struct sheet_hints){0}), 0);
    int kept = sheet.text.parsed != NULL;
    sheet_free(&sheet);
    return kept;
}

static void what_is_kept_of_the_cells_is_what_a_second_reading_gives(void **state)
{
    (void)state;
    enum { ROWS = 40000 };
    for (int many = 0; many < 2; many++) {
        char *text = mixed_table(ROWS, many);
        const char *path = csv_with(text);
        sph_data *kept, *again;
        assert_true(keeps_cells(path));
        assert_int_equal(sph_data_open(&kept, path, NULL), 0);
        size_t before = sph_max_memory();
        sph_set_max_memory(mem_held() + ROWS * 85 + (1 << 20)); /* room for the numbers, not for cells too */
        assert_false(keeps_cells(path));
        int err = sph_data_open(&again, path, NULL);
        sph_set_max_memory(before);
        unlink(path);
        if (err < 0)
            fail_msg("%s", sph_error());
        assert_int_equal(sph_data_rows(kept), sph_data_rows(again));
        assert_int_equal(sph_data_features(kept), sph_data_features(again));
        for (size_t i = 0; i < sph_data_rows(kept) * sph_data_features(kept); i++) {
            double a = sph_data_x(kept)[i], b = sph_data_x(again)[i];
            if (a != b && !(isnan(a) && isnan(b)))
                fail_msg("number %zu: %g and %g", i, a, b);
        }
        assert_memory_equal(sph_data_y(kept), sph_data_y(again), sph_data_rows(kept) * sizeof(double));
        sph_data_free(kept);
        sph_data_free(again);
        mem_free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_table_is_read_whatever_separates_it),
        cmocka_unit_test(a_table_without_header_has_numbers_for_names),
        cmocka_unit_test(headers_are_found_where_they_are_and_nowhere_else),
        cmocka_unit_test(money_thousands_and_per_cent_are_numbers),
        cmocka_unit_test(commas_are_decimal_where_a_cell_of_the_column_cannot_be_thousands),
        cmocka_unit_test(random_numbers_are_read_to_the_last_bit),
        cmocka_unit_test(words_become_indicators_and_missing_cells_are_kept_for_the_mean),
        cmocka_unit_test(a_word_that_comes_back_in_a_column_of_few_numbers_is_a_level),
        cmocka_unit_test(the_task_follows_from_the_target),
        cmocka_unit_test(rows_takes_numpys_choice),
        cmocka_unit_test(permute_is_numpys_permutation_before_rows_are_chosen),
        cmocka_unit_test(reversed_columns_stay_so_in_the_schema),
        cmocka_unit_test(latin_1_text_becomes_utf_8),
        cmocka_unit_test(repeated_and_empty_names_are_told_apart),
        cmocka_unit_test(a_long_file_of_blanks_is_read_across_buffers),
        cmocka_unit_test(what_is_kept_of_the_cells_is_what_a_second_reading_gives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
