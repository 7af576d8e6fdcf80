/* SPDX-License-Identifier: MIT
 *
 * Another file read with the columns of the first: by name, by position, and every way it can be the wrong
 * file. */
#include <math.h>
#include <stdio.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "data/open.h"
#include "data_files.h"
#include "failure.h"
#include "spherelu.h"

static const char training[] = "id,town,size,price\n1,Bonn,10,100\n2,Ulm,20,200\n3,Bonn,30,300\n4,Ulm,,400\n";

/* The schema of a training file, through text and back as a model file would have it. */
static json_t *schema_of(const char *text, const char *target, const char *drop)
{
    sph_data_opts opts;
    sph_data_defaults(&opts);
    opts.target = target;
    opts.drop = drop;
    const char *path = csv_with(text);
    sph_data *data;
    json_t *schema;
    int err = sph_data_open(&data, path, &opts);
    unlink(path);
    if (err < 0)
        fail_msg("%s", sph_error());
    assert_int_equal(data_schema(data, &schema), 0);
    sph_data_free(data);
    char *dump = json_dumps(schema, 0);
    json_decref(schema);
    schema = json_loads(dump, 0, NULL);
    assert_non_null(schema);
    free(dump);
    return schema;
}

static sph_data *read_with(const json_t *schema, const char *text, int need_targets)
{
    const char *path = csv_with(text);
    sph_data *data;
    int err = data_open_like(&data, path, schema, need_targets, NULL);
    unlink(path);
    if (err < 0)
        fail_msg("%s", sph_error());
    return data;
}

static void fails_with(const json_t *schema, const char *text, int need_targets, const char *key, size_t line)
{
    const char *path = csv_with(text);
    sph_data *data;
    sph_data_opts how;
    sph_data_defaults(&how);
    how.strict = 1;
    int err = data_open_like(&data, path, schema, need_targets, &how);
    unlink(path);
    assert_null(data);
    assert_fails(err, SPH_EFORMAT, .key = key, .path = path, .line = line);
}

static void columns_are_found_by_name_in_any_order(void **state)
{
    (void)state;
    json_t *schema = schema_of(training, "price", "id");
    sph_data *data = read_with(schema, "extra;price;size;town\nx;7;5;Ulm\ny;8;;Bonn\n", 1);
    const double expected[] = {0, 1, 5, 1, 0, NAN};
    assert_int_equal(sph_data_rows(data), 2);
    assert_int_equal(sph_data_features(data), 3);
    assert_memory_equal(sph_data_x(data), expected, 5 * sizeof *expected);
    assert_true(isnan(sph_data_x(data)[5]));
    assert_true(sph_data_y(data)[0] == 7 && sph_data_y(data)[1] == 8);
    sph_data_free(data);

    data = read_with(schema, "size,town\n5,Ulm\n", 0);
    assert_int_equal(sph_data_rows(data), 1);
    assert_int_equal(data->targets, 1);
    assert_null(sph_data_y(data));
    assert_true(sph_data_x(data)[2] == 5);
    sph_data_free(data);
    json_decref(schema);
}

static void predicting_keeps_every_row_and_reads_no_target(void **state)
{
    (void)state;
    json_t *schema = schema_of(training, "price", "id");
    sph_data *data = read_with(schema, "town,size,price\nUlm,1,\nUlm,,unknown\nBonn,3,5\n", 0);
    assert_int_equal(sph_data_rows(data), 3);
    assert_null(sph_data_y(data));
    sph_data_free(data);
    data = read_with(schema, "town,size,price\nUlm,1,\nUlm,,4\nBonn,3,5\n", 1);
    assert_int_equal(sph_data_rows(data), 2);
    assert_int_equal(data->counts.left_out, 1);
    sph_data_free(data);
    json_decref(schema);
}

static void columns_without_names_are_found_by_position(void **state)
{
    (void)state;
    json_t *schema = schema_of(training, "price", "id");
    static const char *const texts[] = {"9,Ulm,5,7\n9,Bonn,6,8\n", "Ulm,5,7\nBonn,6,8\n", "Ulm,5\nBonn,6\n"};
    for (int i = 0; i < 3; i++)
        for (int need_targets = i == 1; need_targets <= (i < 2); need_targets++) {
            sph_data *data = read_with(schema, texts[i], need_targets);
            const double expected[] = {0, 1, 5, 1, 0, 6};
            assert_int_equal(sph_data_rows(data), 2);
            assert_memory_equal(sph_data_x(data), expected, sizeof expected);
            if (need_targets)
                assert_true(sph_data_y(data)[0] == 7 && sph_data_y(data)[1] == 8);
            sph_data_free(data);
        }
    fails_with(schema, texts[1], 0, NULL, 0);
    fails_with(schema, "Ulm,5\nBonn,6\n", 1, NULL, 0);
    fails_with(schema, "5,6,7,8,9\n1,2,3,4,5\n", 0, NULL, 0);
    json_decref(schema);

    schema = schema_of("1,2,3\n4,5,6\n7,8,9\n", "0", NULL);
    sph_data *data = read_with(schema, "u,v\n5,6\n", 0); /* the model knows no names */
    assert_true(sph_data_x(data)[0] == 5 && sph_data_x(data)[1] == 6);
    sph_data_free(data);
    data = read_with(schema, "4,5,6\n", 1);
    assert_true(sph_data_y(data)[0] == 4 && sph_data_x(data)[1] == 6);
    sph_data_free(data);
    json_decref(schema);
}

static void all_columns_but_the_targets_may_be_given(void **state)
{
    (void)state;
    json_t *schema = schema_of("1,2,3,4,5\n6,7,8,9,1\n7,8,9,1,2\n", "3,4", "0");
    sph_data *data = read_with(schema, "9,5,6\n", 0); /* 3: no targets. 4: no dropped. */
    assert_true(sph_data_x(data)[0] == 5 && sph_data_x(data)[1] == 6);
    sph_data_free(data);
    data = read_with(schema, "5,6,1,2\n", 0);
    assert_true(sph_data_x(data)[0] == 5 && sph_data_x(data)[1] == 6);
    sph_data_free(data);
    json_decref(schema);

    schema = schema_of("1,2,3,4\n6,7,8,9\n7,8,9,1\n", "3", "0");
    fails_with(schema, "9,5,6\n", 0, NULL, 0);
    json_decref(schema);

    schema = schema_of("1,2,3,4\n6,7,8,9\n7,8,9,1\n", "3", "2"); /* both readings agree */
    data = read_with(schema, "5,6,9\n", 0);
    assert_true(sph_data_x(data)[0] == 5 && sph_data_x(data)[1] == 6);
    sph_data_free(data);
    json_decref(schema);
}

static json_t *schema_with_delimiter(const char *text, char delimiter)
{
    sph_data_opts opts;
    sph_data_defaults(&opts);
    opts.delimiter = delimiter;
    const char *path = csv_with(text);
    sph_data *data;
    json_t *schema;
    assert_int_equal(sph_data_open(&data, path, &opts), 0);
    unlink(path);
    assert_int_equal(data_schema(data, &schema), 0);
    sph_data_free(data);
    return schema;
}

static void the_delimiter_of_training_is_tried_first(void **state)
{
    (void)state;
    json_t *schema = schema_with_delimiter("a^b^y\n1^2^3\n4^5^6\n7^8^1\n", '^');
    assert_string_equal(json_string_value(json_object_get(schema, "delimiter")), "^");
    static const char *const texts[] = {"a^b^y\n5^6^7\n", "a,b\n5,6\n", "b;a\n6;5\n",
                                        "a|b\n5|6\n",     "5^6\n",      "c, d^b^a\n1, 2^6^5\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        sph_data *data = read_with(schema, texts[i], 0);
        assert_true(sph_data_x(data)[0] == 5 && sph_data_x(data)[1] == 6);
        sph_data_free(data);
    }
    fails_with(schema, "a^b^y\n5^6^7\n5^6\n", 0, NULL, 3);
    json_object_set_new(schema, "delimiter", json_string("ab"));
    sph_data *data;
    assert_fails(data_open_like(&data, "levy", schema, 0, NULL), SPH_EFORMAT, .key = "delimiter");
    json_decref(schema);

    schema = schema_with_delimiter("a b y\n1 2 3\n4 5 6\n7 8 1\n", ' ');
    data = read_with(schema, "a\tb\n5\t6\n", 0);
    assert_true(sph_data_x(data)[1] == 6);
    sph_data_free(data);
    json_decref(schema);

    schema = schema_of("a,y\n1,2\n2,3\n3,5\n", "y", NULL);
    assert_null(json_object_get(schema, "delimiter"));
    json_decref(schema);
}

static void commas_that_were_decimal_in_training_are_so_later(void **state)
{
    (void)state;
    json_t *schema = schema_of("a;y\n0,5;2\n2,250;3\n3;5\n", "y", NULL);
    sph_data *data = read_with(schema, "a;y\n1,190;1\n", 1);
    assert_true(sph_data_x(data)[0] == 1.19);
    sph_data_free(data);
    data = read_with(schema, "a,y\n1.19,1\n", 0);
    assert_true(sph_data_x(data)[0] == 1.19);
    sph_data_free(data);
    fails_with(schema, "a;y\n2.5;1\n1,190;1\n", 0, "a", 3);
    data = read_with(schema, "a;y\n1.190;1\n", 1);
    assert_true(sph_data_x(data)[0] == 1190);
    sph_data_free(data);
    data = read_with(schema, "a,y\n\"1,190\",1\n", 1);
    assert_true(sph_data_x(data)[0] == 1.19);
    sph_data_free(data);
    json_decref(schema);
    schema = schema_of("a;y\n0.5;2\n2.250;3\n3;5\n", "y", NULL);
    fails_with(schema, "a;y\n1,190;1\n", 0, "a", 2);
    data = read_with(schema, "a;y\n1.190;1\n", 1); /* the point is decimal as in training */
    assert_true(sph_data_x(data)[0] == 1.19);
    sph_data_free(data);
    json_decref(schema);
}

/* Per cent signs in some cells only are an error; another unit than in training is noted, the same is not. */
static void units_that_change_are_noted(void **state)
{
    (void)state;
    json_t *schema = schema_of("a,b,y\n$1,5%,2\n$2,6%,3\n$4,7%,5\n", "y", NULL);
    static const struct {
        const char *text;
        int notes;
    } cases[] = {{"a,b\n$1,5%\n", 0},
                 {"a,b\n1 USD,5 %\n", 0},
                 {"a,b\n,5%\n", 0},
                 {"a,b\n\xE2\x82\xAC"
                  "1,5%\n",
                  1},
                 {"a,b\n1,0.05\n", 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sph_data *data = read_with(schema, cases[i].text, 0);
        struct text notes = {0};
        int lines = 0;
        data_counts(data, &notes);
        assert_false(notes.failed);
        for (const char *p = notes.chars; p; p = strchr(p + 1, '\n'))
            lines += strstr(p, "not converted") != NULL;
        assert_int_equal(lines, cases[i].notes);
        text_free(&notes);
        sph_data_free(data);
    }
    fails_with(schema, "a,b\n$1,0.05\n$1,5%\n", 0, "b", 3);
    json_decref(schema);
}

static void several_targets_keep_their_order(void **state)
{
    (void)state;
    json_t *schema = schema_of("a,b,c\n1,2,3\n4,5,6\n7,8,9\n", "c,a", NULL);
    sph_data *data = read_with(schema, "a,b,c\n1,2,3\n", 1);
    assert_int_equal(data->targets, 2);
    assert_true(sph_data_y(data)[0] == 3 && sph_data_y(data)[1] == 1);
    sph_data_free(data);
    json_decref(schema);
}

static void the_wrong_file_is_refused_with_its_reason(void **state)
{
    (void)state;
    json_t *schema = schema_of(training, "price", "id");
    fails_with(schema, "town,price\nUlm,3\n", 0, "size", 0);
    fails_with(schema, "town,size\nUlm,3\n", 1, "price", 0);
    fails_with(schema, "town,size\nUlm,3\nKiel,4\n", 0, "town", 3);
    fails_with(schema, "town,size\nUlm,3\nUlm,big\n", 0, "size", 3);
    fails_with(schema, "town,size\nUlm,inf\n", 0, "size", 2);
    fails_with(schema, "town,size,size\nUlm,1,2\n", 0, "size", 0);
    fails_with(schema, "town,size\n", 0, NULL, 0);
    fails_with(schema, "town,size,price\nUlm,1,\n", 1, NULL, 0);
    json_decref(schema);

    schema = schema_of("a,y\n1,cat\n2,dog\n3,dog\n", "y", NULL);
    fails_with(schema, "a,y\n1,cow\n", 1, "y", 2);
    sph_data *data = read_with(schema, "a,y\n1,dog\n", 1); /* one row, one class: fine for a score */
    assert_true(sph_data_y(data)[0] == 1);
    assert_int_equal(sph_data_task(data), SPH_TASK_BINARY);
    sph_data_free(data);
    json_decref(schema);

    schema = schema_of("a,y\n1,-1\n2,1\n3,1\n", "y", NULL);
    fails_with(schema, "a,y\n1,2\n", 1, "y", 2);
    data = read_with(schema, "a,y\n1,1.0\n5,-1\n", 1);
    assert_true(sph_data_y(data)[0] == 1 && sph_data_y(data)[1] == 0);
    sph_data_free(data);
    json_decref(schema);
}

static void number_labels_are_found_by_value_however_written(void **state)
{
    (void)state;
    sph_data_opts opts;
    sph_data_defaults(&opts);
    opts.task = SPH_TASK_CLASSES;
    const char *path = csv_with("a,y\n1,10\n2,9\n3,2\n4,100\n5,33\n6,10\n7,9\n8,2\n9,100\n1,33\n");
    sph_data *data;
    json_t *schema;
    assert_int_equal(sph_data_open(&data, path, &opts), 0);
    unlink(path);
    assert_int_equal(data_schema(data, &schema), 0);
    sph_data_free(data);
    data = read_with(schema, "a,y\n1,10.0\n1,2\n1,9.00\n1,1e2\n1,+33\n1,100\n", 1);
    const double expected[] = {2, 0, 1, 4, 3, 4};
    assert_memory_equal(sph_data_y(data), expected, sizeof expected);
    sph_data_free(data);
    json_decref(schema);
}

/* Its cells alone would make each of these a column of numbers. */
static void words_that_look_like_numbers_are_levels_of_a_later_file_too(void **state)
{
    (void)state;
    json_t *schema =
        schema_of("a,rooms,y\n1,2,u\n2,3+,v\n3,1,1\n4,3+,u\n5,2,v\n6,1,1\n7,3+,1\n8,2,u\n", "y", NULL);
    sph_data *data = read_with(schema, "a,rooms,y\n1,2,1\n2,1,1\n", 1);
    const double x[] = {1, 0, 1, 0, 2, 1, 0, 0}, y[] = {0, 0};
    assert_int_equal(sph_data_features(data), 4);
    assert_memory_equal(sph_data_x(data), x, sizeof x);
    assert_memory_equal(sph_data_y(data), y, sizeof y);
    sph_data_free(data);
    fails_with(schema, "a,rooms,y\n1,2,1\n2,7,1\n", 1, "rooms", 3);
    fails_with(schema, "a,rooms,y\n1,2,1\n2,1,5\n", 1, "y", 3);
    json_decref(schema);
}

static void missing_cells_are_treated_as_in_training(void **state)
{
    (void)state;
    json_t *schema = schema_of("a,y\n1,2\n2,3\n3,5\n", "y", NULL);
    json_object_set_new(schema, "missing", json_string("error"));
    fails_with(schema, "a,y\n,2\n", 1, "a", 2);
    json_object_set_new(schema, "missing", json_string("drop"));
    fails_with(schema, "a\n1\nNA\n", 0, "a", 3);
    sph_data *data = read_with(schema, "a,y\n1,2\nNA,3\n", 1);
    assert_int_equal(sph_data_rows(data), 1);
    sph_data_free(data);
    json_decref(schema);
}

static void a_schema_is_checked_like_a_file(void **state)
{
    (void)state;
    static const struct {
        const char *schema, *key;
    } cases[] = {
        {"[]", NULL},
        {"{}", "named"},
        {"{'named':1,'missing':'mean','task':'regression','columns':[]}", "named"},
        {"{'named':true,'missing':'often','task':'regression','columns':[]}", "missing"},
        {"{'named':true,'missing':'mean','task':'regression','columns':[]}", NULL},
        {"{'named':true,'missing':'mean','task':'regression','columns':[7]}", "columns"},
        {"{'named':true,'missing':'mean','task':'binary','columns':[]}", "classes"},
        {"{'named':true,'missing':'mean','task':'binary','classes':['a','b','c'],'columns':[]}", NULL},
        {"{'named':true,'missing':'mean','task':'binary','classes':['a',1],'columns':[]}", "classes"},
        {"{'named':true,'missing':'mean','task':'binary','classes':['b','a'],'columns':[]}", "classes"},
        {"{'named':true,'missing':'mean','task':'regression','columns':[{'name':'a','role':'target','kind':'"
         "number',"
         "'at':1}]}",
         "a"},
        {"{'named':true,'missing':'mean','task':'regression','columns':[{'name':'a','role':'feature','kind':'"
         "text',"
         "'levels':[]}]}",
         "a"},
        {"{'named':true,'missing':'mean','task':'regression','columns':[{'name':'a','role':'feature','kind':'"
         "text',"
         "'levels':['x','x']}]}",
         "levels"},
        {"{'named':true,'missing':'mean','task':'regression','columns':[{'name':'a','role':'king','kind':'"
         "text'}]}",
         "role"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        snprintf(text, sizeof text, "%s", cases[i].schema);
        for (char *p = text; *p; p++)
            if (*p == '\'')
                *p = '"';
        json_t *schema = json_loads(text, 0, NULL);
        assert_non_null(schema);
        sph_data *data;
        assert_fails(data_open_like(&data, "levy", schema, 1, NULL), SPH_EFORMAT, .key = cases[i].key,
                     .path = "data schema");
        assert_null(data);
        json_decref(schema);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_found_by_name_in_any_order),
        cmocka_unit_test(predicting_keeps_every_row_and_reads_no_target),
        cmocka_unit_test(columns_without_names_are_found_by_position),
        cmocka_unit_test(all_columns_but_the_targets_may_be_given),
        cmocka_unit_test(the_delimiter_of_training_is_tried_first),
        cmocka_unit_test(commas_that_were_decimal_in_training_are_so_later),
        cmocka_unit_test(units_that_change_are_noted),
        cmocka_unit_test(several_targets_keep_their_order),
        cmocka_unit_test(the_wrong_file_is_refused_with_its_reason),
        cmocka_unit_test(number_labels_are_found_by_value_however_written),
        cmocka_unit_test(words_that_look_like_numbers_are_levels_of_a_later_file_too),
        cmocka_unit_test(missing_cells_are_treated_as_in_training),
        cmocka_unit_test(a_schema_is_checked_like_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
