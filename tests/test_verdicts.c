/* SPDX-License-Identifier: MIT
 *
 * What the table of an experiment says of its methods: as many digits as the error allows, and verdicts that claim no
 * more than the number of splits does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <locale.h>

#include "skip.h"
#include "table_input.h"

/* ---------------------------------------------------------------- digits */

/* The cell of the metric of one method, from the CSV-like lines of the text form. */
static void assert_mean(const double *values, size_t count, const char *expected)
{
    struct comparison_method method = {.name = "M", .value = values, .seconds = NAN};
    struct comparison_input input = {.experiment = "e",
                                     .metric = "m",
                                     .protocol = "holdout",
                                     .cases = count,
                                     .methods = &method,
                                     .count = 1,
                                     .reference_method = 0};
    char *found = write_table(&input, TEXT), cell[128];
    const char *line = strstr(found, "\nM");
    assert_non_null(line);
    line += 2 + strspn(line + 2, " ");
    const char *end = strstr(line, "  ");
    assert_non_null(end);
    snprintf(cell, sizeof cell, "%.*s", (int)(end - line), line);
    assert_string_equal(cell, expected);
    mem_free(found);
}

#define MEAN(expected, ...)                                                                                  \
    assert_mean((const double[]){__VA_ARGS__}, sizeof(const double[]){__VA_ARGS__} / sizeof(double), expected)

static void errors_have_two_significant_digits_and_means_as_many_decimals(void **state)
{
    (void)state;
    /* of two values the error is half their distance */
    MEAN("0.1230 +- 0.0040", 0.119, 0.127);
    MEAN("12.3 +- 4.5", 7.8, 16.8);
    MEAN("1230 +- 45", 1185, 1275);
    MEAN("-0.50 +- 0.12", -0.62, -0.38);
    MEAN("1.00 +- 0.10", 0.9004, 1.0996); /* 0.0996 is 0.10, not 0.100 */
    MEAN("123456 +- 1234", 122222, 124690);
    MEAN("(1.23 +- 0.45)e-07", 0.78e-7, 1.68e-7);
    MEAN("(1.230 +- 0.045)e+09", 1.185e9, 1.275e9);
    MEAN("0.5 +- 0", 0.5, 0.5, 0.5);
    MEAN("0.1235", 0.12345678);
    MEAN("-", NAN);
    MEAN("0.500000000 +- 5e-13", 0.5 - 5e-13, 0.5 + 5e-13);
}

static void a_locale_with_a_decimal_comma_changes_nothing(void **state)
{
    (void)state;
    char *before[FORMATS];
    for (int format = 0; format < FORMATS; format++)
        before[format] = write_table(&banana, format);
    const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE", "fr_FR"};
    int found = 0;
    for (size_t i = 0; i < 5 && !found; i++)
        found = setlocale(LC_NUMERIC, names[i]) != NULL;
    for (int format = 0; format < FORMATS; format++) {
        char *after = write_table(&banana, format);
        assert_string_equal(before[format], after);
        mem_free(before[format]);
        mem_free(after);
    }
    setlocale(LC_NUMERIC, "C");
    if (!found)
        skip_because("no locale with a decimal comma is installed");
}

/* ---------------------------------------------------------------- verdicts */

static void assert_verdict(const double *method, const double *reference, size_t count, int larger,
                           const char *expected)
{
    struct comparison_method methods[] = {{.name = "SP", .value = method, .seconds = NAN},
                                          {.name = "GmP", .value = reference, .seconds = NAN}};
    struct comparison_input input = {.experiment = "e",
                                     .metric = "m",
                                     .larger_is_better = larger,
                                     .protocol = "holdout",
                                     .cases = count,
                                     .methods = methods,
                                     .count = 2,
                                     .reference_method = 1};
    char *found = write_table(&input, TEXT);
    size_t length = strlen(found);
    found[length - 1] = '\0'; /* the text ends with it */
    assert_string_equal(strrchr(found, '\n') + 1, expected);
    mem_free(found);
}

static void verdicts_say_what_the_splits_can_show(void **state)
{
    (void)state;
    double zero[60] = {0}, up[60], mixed[60];
    for (size_t i = 0; i < 60; i++) {
        up[i] = (double)i + 1;
        mixed[i] = i % 2 ? up[i] : -up[i];
    }
    assert_verdict(up, zero, 5, 0,
                   "GmP better than SP on 5 of 5 splits, p = 0.062 (Wilcoxon, exact): too few splits for a "
                   "significant difference (5 splits); "
                   "but the interval excludes 0, and with so few splits it is too narrow");
    assert_verdict(up, zero, 5, 1,
                   "GmP worse than SP on 5 of 5 splits, p = 0.062 (Wilcoxon, exact): too few splits for a "
                   "significant difference (5 splits); "
                   "but the interval excludes 0, and with so few splits it is too narrow");
    assert_verdict(up, zero, 1, 0,
                   "GmP better than SP on 1 of 1 split, p = 1 (Wilcoxon, exact): too few splits for a "
                   "significant difference (1 split)");
    assert_verdict(up, zero, 6, 0,
                   "GmP better than SP on 6 of 6 splits, p = 0.031 (Wilcoxon, exact): significant at 5 %");
    assert_verdict(mixed, zero, 3, 0,
                   "GmP worse than SP on 2 of 3 splits, p = 0.75 (Wilcoxon, exact): no significant "
                   "difference; with 3 splits the smallest possible p is 0.25");
    assert_verdict(mixed, zero, 10, 0,
                   "GmP better than SP on 5 of 10 splits, worse on 5, p = 0.85 (Wilcoxon, exact): no "
                   "significant difference");
    assert_verdict(up, zero, 20, 0,
                   "GmP better than SP on 20 of 20 splits, p < 0.0001 (Wilcoxon, exact): significant at 5 %");
    assert_verdict(
        up, zero, 60, 0,
        "GmP better than SP on 60 of 60 splits, p < 0.0001 (Wilcoxon, approximate): significant at 5 %");
    assert_verdict(zero, zero, 5, 0, "GmP equal to SP on 5 of 5 splits");
}

/* With all five equal the normal approximation says p = 0.025, less than five splits can ever show. */
static void ties_do_not_make_five_splits_significant(void **state)
{
    (void)state;
    double zero[7] = {0}, ones[7] = {1, 1, 1, 1, 1, 0, NAN};
    struct wilcoxon test;
    assert_int_equal(wilcoxon_test(ones, zero, 5, &test), 0);
    assert_true(test.p == 0.0625);
    assert_verdict(ones, zero, 5, 0,
                   "GmP better than SP on 5 of 5 splits, p = 0.062 (Wilcoxon, exact): too few splits "
                   "for a significant difference (5 splits); "
                   "but the interval excludes 0, and with so few splits it is too narrow");
    assert_verdict(
        ones, zero, 7, 0,
        "GmP better than SP on 5 of 6 splits, equal on 1 (1 left out because a job has no score), p = 0.062 "
        "(Wilcoxon, exact): too few splits for a significant difference (5 splits that differ); but "
        "the interval excludes 0, and with so few splits it is too narrow");
}

static void verdicts_name_what_is_left_out_and_which_way_the_mean_points(void **state)
{
    (void)state;
    double zero[5] = {0}, none[5] = {NAN, NAN, NAN, NAN, NAN}, torn[5] = {1, 1.5, 2, 2.5, -100};
    assert_verdict(none, zero, 5, 0, "GmP and SP: no split in which both have a score");
    assert_verdict(
        torn, zero, 5, 0,
        "GmP better than SP on 4 of 5 splits, p = 0.62 (Wilcoxon, exact): no significant difference; with 5 "
        "splits the smallest possible p is 0.062; the mean difference favors SP");
}

static void the_best_mean_is_the_reference_when_none_is_named(void **state)
{
    (void)state;
    struct comparison_input input = banana;
    input.reference_method = -1;
    char *found = write_table(&input, TEXT);
    assert_non_null(strstr(
        found,
        "\nBN is the reference because its mean is best, which biases the comparison in its favor.\n"));
    assert_non_null(strstr(found, "\nBN better than SP on 5 of 5 splits"));
    mem_free(found);

    /* a method that failed on the hard cases does not win by it */
    double lucky[CASES] = {0.99, NAN, NAN, NAN, NAN};
    struct comparison_method methods[] = {{.name = "lucky", .value = lucky, .seconds = NAN}, four[0]};
    input.methods = methods;
    input.count = 2;
    found = write_table(&input, TEXT);
    assert_non_null(strstr(found, "\nSP is the reference"));
    mem_free(found);

    /* nothing to compare with */
    double none[CASES] = {NAN, NAN, NAN, NAN, NAN};
    methods[0].value = methods[1].value = none;
    for (int format = 0; format < FORMATS; format++)
        mem_free(write_table(&input, format));
}

/* Seven pairs and p = 0.016 each: alone it is significant, among five comparisons it is not. */
static void many_comparisons_are_corrected_and_the_tests_may_disagree(void **state)
{
    (void)state;
    double zero[7] = {0}, up[7] = {1, 2, 3, 4, 5, 6, 7}, torn[7] = {0.1, -0.2, 0.3, -0.4, 0.5, -0.6, 0.7};
    struct comparison_method methods[] = {
        {.name = "A", .value = up, .seconds = NAN},   {.name = "B", .value = torn, .seconds = NAN},
        {.name = "C", .value = torn, .seconds = NAN}, {.name = "D", .value = torn, .seconds = NAN},
        {.name = "E", .value = torn, .seconds = NAN}, {.name = "GmP", .value = zero, .seconds = NAN}};
    struct comparison_input input = {.experiment = "e",
                                     .metric = "m",
                                     .protocol = "holdout",
                                     .cases = 7,
                                     .methods = methods,
                                     .count = 6,
                                     .reference_method = 5};
    struct comparison found;
    assert_int_equal(compare_alone(&found, &input), 0);
    assert_int_equal(found.family, 5);
    assert_string_equal(
        found.lines[0].pair->verdict.chars,
        "GmP better than A on 7 of 7 splits, p = 0.016 (Wilcoxon, exact), corrected 0.078: no significant "
        "difference; too few splits (7 splits) for 5 comparisons; but the interval excludes 0, and with so "
        "few splits it is too narrow");
    assert_true(isnan(found.lines[0].pair->t.p));
    comparison_free(&found);

    input.count = 2; /* A and B: Wilcoxon has ranks, the t-test has sizes */
    input.reference_method = 1;
    input.overlap = 0.25;
    methods[0].value = (double[]){0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 9};
    methods[1].value = zero;
    assert_int_equal(compare_alone(&found, &input), 0);
    assert_string_equal(
        found.lines[0].pair->verdict.chars,
        "B better than A on 7 of 7 splits, p = 0.016 (Wilcoxon, exact): not settled; the test that "
        "accounts for overlapping splits (resampled t-test) gives p = 0.56");
    assert_true(found.pairs[0].significant && !comparison_settled(&found.pairs[0]));
    comparison_free(&found);
}

/* Over two comparisons the family is that of both; each with each there is no reference. */
static void families_span_comparisons_and_all_pairs(void **state)
{
    (void)state;
    struct comparison_input input = banana;
    input.reference_method = COMPARISON_ALL;
    struct comparison one, two, *both[] = {&one, &two};
    assert_int_equal(comparison_measure(&one, &input), 0);
    assert_int_equal(comparison_measure(&two, &banana), 0);
    assert_int_equal(comparison_conclude(both, 2), 0);
    assert_int_equal(one.pair_count, input.count * (input.count - 1) / 2);
    assert_int_equal(two.pair_count, input.count - 1);
    assert_int_equal(one.family, one.pair_count + two.pair_count);
    assert_null(one.reference);
    assert_null(one.lines[0].pair);
    for (size_t i = 0; i < one.pair_count; i++)
        assert_true(one.pairs[i].corrected >= one.pairs[i].test.p && one.pairs[i].verdict.length);
    struct table table;
    pairs_table(&table, &one);
    assert_int_equal(table.row_count, one.pair_count);
    table_free(&table);
    comparison_free(&one);
    comparison_free(&two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_have_two_significant_digits_and_means_as_many_decimals),
        cmocka_unit_test(a_locale_with_a_decimal_comma_changes_nothing),
        cmocka_unit_test(verdicts_say_what_the_splits_can_show),
        cmocka_unit_test(ties_do_not_make_five_splits_significant),
        cmocka_unit_test(verdicts_name_what_is_left_out_and_which_way_the_mean_points),
        cmocka_unit_test(the_best_mean_is_the_reference_when_none_is_named),
        cmocka_unit_test(many_comparisons_are_corrected_and_the_tests_may_disagree),
        cmocka_unit_test(families_span_comparisons_and_all_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
