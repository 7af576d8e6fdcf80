/* SPDX-License-Identifier: MIT
 *
 * A comparison of four methods on five splits, and its table in each format. Include it behind cmocka.h. */
#ifndef TESTS_TABLE_INPUT_H
#define TESTS_TABLE_INPUT_H

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "file/json.h"
#include "report/tables.h"

enum { CASES = 5 };

/* Multiples of 2^-10, and so are the means: sums are exact, contracted or not. */
#define Q(x) ((x) / 1024.0)
static const double sp[CASES] = {Q(892), Q(904), Q(916), Q(889), Q(904)};
static const double wn[CASES] = {Q(893), NAN, Q(927), NAN, Q(910)};
static const double bn[CASES] = {Q(923), Q(921), Q(919), Q(921), Q(921)};
static const double gmp[CASES] = {Q(914), Q(921), Q(923), Q(907), Q(920)};

static const struct comparison_method four[] = {
    {.name = "SP", .value = sp, .chosen = "lr 0.03 (4 of 5), 0.1 (1 of 5)", .seconds = 1.234},
    {.name = "WN",
     .value = wn,
     .failed = 2,
     .reason = "loss is nan at step 40, expected a number; lower lr",
     .chosen = "lr 0.1 (3 of 3)",
     .seconds = 1.31},
    {.name = "BN", .value = bn, .chosen = "lr 0.03 (5 of 5)", .seconds = 2.5},
    {.name = "GmP", .value = gmp, .chosen = "lr 0.1 (5 of 5)", .seconds = 1.5},
};

static const struct comparison_input banana = {
    .experiment = "banana",
    .metric = "accuracy",
    .larger_is_better = 1,
    .protocol = "reference",
    .warning = "the test set chose the epoch: these numbers are too good",
    .cases = CASES,
    .methods = four,
    .count = 4,
    .reference_method = 3,
};

/* The formats of table.*, of which JSON is an object rather than a table. */
enum { TEXT, MARKDOWN, LATEX, CSV, JSON, FORMATS };

static int write_json(const struct comparison *comparison, const struct table *table, struct text *out)
{
    json_t *object = comparison_to_json(comparison, table, NULL);
    int err = object ? json_print(out, object, 2) : SPH_EMEMORY;
    text_add(out, "\n");
    json_decref(object);
    return err;
}

/* One comparison that is an experiment's only one. */
static inline __attribute__((unused)) int compare_alone(struct comparison *out,
                                                        const struct comparison_input *input)
{
    int err = comparison_measure(out, input);
    return err ? err : comparison_conclude(&out, 1);
}

/* Compares, fills a table, and writes it. */
static int compare_and_write(const struct comparison_input *input, int format, struct text *out)
{
    static const enum table_format formats[] = {TABLE_TEXT, TABLE_MARKDOWN, TABLE_LATEX, TABLE_CSV};
    struct comparison comparison;
    struct table table = {0};
    int err = compare_alone(&comparison, input);
    if (!err) {
        comparison_table(&table, &comparison);
        err =
            format == JSON ? write_json(&comparison, &table, out) : table_write(&table, formats[format], out);
    }
    table_free(&table);
    comparison_free(&comparison);
    return err < 0 ? err : out->failed ? SPH_EMEMORY : 0;
}

static inline __attribute__((unused)) char *write_table(const struct comparison_input *input, int format)
{
    struct text out = {0};
    assert_int_equal(compare_and_write(input, format, &out), 0);
    assert_int_equal(strlen(out.chars), out.length);
    return out.chars;
}

#endif
