/* SPDX-License-Identifier: MIT
 *
 * Every allocation of the data room fails once: the call says so, leaks nothing, and works when none fails.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "data/open.h"
#include "data_files.h"
#include "fault.h"
#include "spherelu.h"

/* Quotes, a repeated name, words, money, missing cells in features and target, a word target, a field longer
 * than the parser's first buffer. */
static char *sample(void)
{
    char *text = mem_get(8192, 1), longest[2001];
    assert_non_null(text);
    memset(longest, 'z', 2000);
    longest[2000] = '\0';
    snprintf(
        text, 8192,
        "id,town,size,size,price,class\n"
        "1,Bonn,10,1,\"$1,000\",cat\n2,\"Ulm\",,2,$2,dog\n3,Bonn,30,3,$3,bird\n4,,40,4,,dog\n5,Ulm,5,5,$5,\n"
        "6,Ulm,1,1,$1,cat\n7,%s,1,2,3,bird\n8,%s,1,2,3,bird\n9,Ulm,1,1,1,cat\n",
        longest, longest);
    return text;
}

/* Runs `call` with the first allocation failing, then the second, ... until none does. Returns how many
 * failed. */
static size_t fail_each(int (*call)(void *), void *argument)
{
    for (size_t n = 0;; n++) {
        fault_after(n);
        int err = call(argument);
        int happened = fault_happened();
        fault_off();
        if (!happened) {
            if (err < 0)
                fail_msg("%s", sph_error());
            return n;
        }
        if (err != SPH_EMEMORY)
            fail_msg("allocation %zu failed, and the call returned %d", n, err);
        assert_int_equal(sph_failure()->code, SPH_EMEMORY);
    }
}

struct opening {
    const char *path;
    sph_data_opts opts;
    const json_t *schema;
};

static int open_once(void *argument)
{
    const struct opening *opening = argument;
    sph_data *data;
    int err = sph_data_open(&data, opening->path, &opening->opts);
    sph_data_free(data);
    return err;
}

static int open_with_schema_once(void *argument)
{
    const struct opening *opening = argument;
    sph_data *data;
    int err = data_open_like(&data, opening->path, opening->schema, 1, NULL);
    sph_data_free(data);
    return err;
}

static void opening_a_csv_survives_each_failed_allocation(void **state)
{
    (void)state;
    char *text = sample();
    struct opening opening = {.path = csv_with(text)};
    sph_data_defaults(&opening.opts);
    opening.opts.drop = "id";
    opening.opts.rows = 6;
    assert_true(fail_each(open_once, &opening) > 20);

    sph_data *data;
    json_t *schema;
    assert_int_equal(sph_data_open(&data, opening.path, &opening.opts), 0);
    assert_int_equal(data_schema(data, &schema), 0);
    sph_data_free(data);
    opening.schema = schema;
    assert_true(fail_each(open_with_schema_once, &opening) > 20);
    json_decref(schema);
    unlink(opening.path);
    mem_free(text);
}

/* A table that is refused: 0 for that. */
static int refuse_once(void *argument)
{
    const struct opening *opening = argument;
    sph_data *data;
    int err = sph_data_open(&data, opening->path, &opening->opts);
    assert_true(err < 0);
    return err == SPH_EFORMAT ? 0 : err;
}

static void refusing_columns_survives_each_failed_allocation(void **state)
{
    struct text csv = {0};
    (void)state;
    text_add(&csv, "units,when,age,y\n");
    for (int i = 0; i < 40; i++)
        text_add(&csv, "%d kg,01/02/2024,%s,%d\n", 1 + i % 20, i == 3 ? "none" : "1", i);
    struct opening opening = {.path = csv_with(csv.chars)};
    text_free(&csv);
    sph_data_defaults(&opening.opts);
    assert_true(fail_each(refuse_once, &opening) > 20);
    unlink(opening.path);
}

static void opening_a_packed_set_survives_each_failed_allocation(void **state)
{
    (void)state;
    struct opening opening = {.path = "yacht"}; /* of data/ */
    sph_data_defaults(&opening.opts);
    assert_true(fail_each(open_once, &opening) > 20);
}

static void opening_blanks_numbers_and_sets_survives_each_failed_allocation(void **state)
{
    (void)state;
    struct opening opening = {.path = csv_with("1 2 0\n 3\t4 1\n5 6 0\n")};
    sph_data_defaults(&opening.opts);
    opening.opts.task = SPH_TASK_CLASSES;
    assert_true(fail_each(open_once, &opening) > 10);
    unlink(opening.path);
    sph_data_defaults(&opening.opts);
    opening.opts.delimiter = '^'; /* decimal commas; and such as are none */
    opening.path = csv_with("1,250^a, b^2\n0,5^0,5^3\n1,5^a, b^4\n2,5^0,5^7\n");
    assert_true(fail_each(open_once, &opening) > 10);
    sph_data *data;
    json_t *schema;
    assert_int_equal(sph_data_open(&data, opening.path, &opening.opts), 0);
    assert_int_equal(data_schema(data, &schema), 0);
    sph_data_free(data);
    opening.schema = schema;
    assert_true(fail_each(open_with_schema_once, &opening) > 10);
    json_decref(schema);
    unlink(opening.path);
    sph_data_defaults(&opening.opts);
    opening.path = "crescents";
    assert_true(fail_each(open_once, &opening) > 5);
    opening.path = "levy";
    assert_true(fail_each(open_once, &opening) > 5);
}

struct parts {
    const sph_data *data;
    sph_split_kind kind;
};

static int split_once(void *argument)
{
    const struct parts *parts = argument;
    sph_split split;
    int err = sph_split_make(&split, parts->data, parts->kind, 0.2, 0.2, 1);
    sph_split_free(&split);
    return err;
}

static int scale_once(void *argument)
{
    const struct parts *parts = argument;
    static const uint32_t rows[] = {0, 2, 3};
    struct scaling scaling, copy;
    int err =
        scaling_fit(&scaling, parts->data, rows, 3, &(struct scaling_how){.kind = SPH_STANDARDIZE_BOTH});
    if (!err) {
        err = scaling_copy(&copy, &scaling);
        scaling_free(&copy);
    }
    scaling_free(&scaling);
    return err;
}

static int copy_arrays_once(void *argument)
{
    static const double x[] = {1, 2, 3, 4, 5, 6, 7, 8}, y[] = {0, 1, 2, 1};
    sph_data *data;
    (void)argument;
    int err = sph_data_from_arrays(&data, x, y, 4, 2, 1, SPH_TASK_CLASSES, NULL);
    sph_data_free(data);
    return err;
}

static void splits_scaling_and_arrays_survive_each_failed_allocation(void **state)
{
    (void)state;
    sph_data *crescents, *levy;
    assert_int_equal(sph_data_open(&crescents, "crescents", NULL), 0);
    assert_int_equal(sph_data_open(&levy, "levy", NULL), 0);
    struct parts parts = {.data = crescents};
    for (int kind = 0; kind < SPH_SPLIT_COUNT; kind++) {
        parts.kind = (sph_split_kind)kind;
        assert_true(fail_each(split_once, &parts) >= 4);
    }
    parts.data = levy;
    assert_int_equal(fail_each(scale_once, &parts), 5 + 5);
    assert_true(fail_each(copy_arrays_once, NULL) >= 5);
    sph_data_free(crescents);
    sph_data_free(levy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opening_a_csv_survives_each_failed_allocation),
        cmocka_unit_test(refusing_columns_survives_each_failed_allocation),
        cmocka_unit_test(opening_a_packed_set_survives_each_failed_allocation),
        cmocka_unit_test(opening_blanks_numbers_and_sets_survives_each_failed_allocation),
        cmocka_unit_test(splits_scaling_and_arrays_survive_each_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
