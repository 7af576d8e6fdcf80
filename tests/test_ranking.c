/* SPDX-License-Identifier: MIT
 *
 * Corrections, the resampled t-test and ranks over sets against SciPy, statsmodels and scikit-posthocs
 * (golden/ranks.csv). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "compare/distributions.h"
#include "compare/ranking.h"
#include "compare/statistics.h"

enum { MOST = 256 };

struct lcg {
    uint64_t state;
};

static double lcg_unit(struct lcg *lcg)
{
    lcg->state = lcg->state * 6364136223846793005u + 1442695040888963407u;
    return (double)(lcg->state >> 11) * 0x1p-53;
}

static struct lcg lcg_of(uint64_t seed)
{
    struct lcg lcg = {seed};
    for (int i = 0; i < 4; i++)
        lcg_unit(&lcg);
    return lcg;
}

static void assert_near(double found, double expected, double relative, double absolute)
{
    if (found == expected)
        return;
    if (!(fabs(found - expected) <= relative * fabs(expected) + absolute))
        fail_msg("%.17g, expected %.17g", found, expected);
}

/* Calls take for every line that begins with `word`, with what follows its comma; returns how many there are. */
static size_t each_line(const char *word, void (*take)(char *cells))
{
    static char line[8192];
    FILE *file = fopen(SPH_TESTS_DIR "/golden/ranks.csv", "r");
    size_t count = 0, length = strlen(word);
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        if (!strncmp(line, word, length) && line[length] == ',') {
            take(line + length + 1);
            count++;
        }
    fclose(file);
    return count;
}

static double next_number(char **cells)
{
    char *end;
    double value = strtod(*cells, &end);
    assert_ptr_not_equal(end, *cells);
    *cells = *end == ',' ? end + 1 : end;
    return value;
}

static void next_word(char **cells, char *word, size_t size)
{
    size_t length = strcspn(*cells, ",");
    assert_true(length < size);
    snprintf(word, size, "%.*s", (int)length, *cells);
    *cells += length + 1;
}

/* ---------------------------------------------------------------- distributions */

static void take_tail(char *cells)
{
    char kind[16];
    next_word(&cells, kind, sizeof kind);
    double x = next_number(&cells), a = next_number(&cells), b = next_number(&cells), p = next_number(&cells);
    double found = !strcmp(kind, "chi2") ? chi2_above(x, a)
                   : !strcmp(kind, "f")  ? f_above(x, a, b)
                   : !strcmp(kind, "t")  ? student_two_sided(x, a)
                                         : range_above(x, (unsigned)a);
    assert_near(found, p, 1e-10, 1e-11); /* SciPy's range is an integral to about that */
}

static void take_range(char *cells)
{
    unsigned groups = (unsigned)next_number(&cells);
    assert_near(range_quantile(0.05, groups), next_number(&cells), 1e-8, 0);
}

static void tails_are_scipys(void **state)
{
    (void)state;
    assert_int_equal(each_line("tail", take_tail), 120);
    assert_int_equal(each_line("range", take_range), 13);
    assert_true(student_two_sided(INFINITY, 3) == 0);
    assert_true(f_above(INFINITY, 3, 4) == 0);
    assert_true(isnan(chi2_above(NAN, 2)) && isnan(range_above(NAN, 2)) && isnan(f_above(NAN, 1, 1)));
    assert_true(chi2_above(0, 3) == 1 && range_above(0, 3) == 1);
}

/* ---------------------------------------------------------------- many comparisons, overlapping splits */

static void take_holm(char *cells)
{
    size_t n = (size_t)next_number(&cells);
    double p[MOST], found[MOST];
    for (size_t i = 0; i < n; i++)
        p[i] = next_number(&cells);
    assert_int_equal(holm_correct(p, n, found), (int)n);
    for (size_t i = 0; i < n; i++)
        assert_near(found[i], next_number(&cells), 1e-14, 0);
}

static void holms_correction_is_statsmodels_and_passes_over_what_is_no_number(void **state)
{
    (void)state;
    assert_int_equal(each_line("holm", take_holm), 5);
    double p[] = {NAN, 0.03, NAN, 0.01}, found[4];
    assert_int_equal(holm_correct(p, 4, found), 2);
    assert_true(isnan(found[0]) && isnan(found[2]));
    assert_near(found[1], 0.03, 1e-15, 0);
    assert_near(found[3], 0.02, 1e-15, 0);
    assert_int_equal(holm_correct(p, 0, found), 0);
}

static void take_t(char *cells)
{
    struct lcg draw = lcg_of((uint64_t)next_number(&cells));
    size_t n = (size_t)next_number(&cells);
    double ratio = next_number(&cells), shift = lcg_unit(&draw) * 0.5, x[MOST], y[MOST] = {0};
    for (size_t i = 0; i < n; i++) {
        double first = lcg_unit(&draw);
        x[i] = first - lcg_unit(&draw) - shift;
    }
    struct t_test found;
    assert_int_equal(resampled_t(x, y, n, ratio, &found), 0);
    assert_int_equal(found.n, n);
    assert_near(found.t, next_number(&cells), 1e-12, 0);
    assert_near(found.p, next_number(&cells), 1e-11, 0);
}

static void the_resampled_t_test_is_students_on_the_larger_variance(void **state)
{
    (void)state;
    assert_int_equal(each_line("t", take_t), 15);
    struct t_test found;
    double one[] = {1, 1, 1, NAN}, zero[4] = {0};
    assert_int_equal(resampled_t(one, zero, 4, 0.25, &found), 0);
    assert_int_equal(found.n, 3);
    assert_true(isinf(found.t) && found.p == 0);
    assert_int_equal(resampled_t(zero, zero, 4, 0.25, &found), 0);
    assert_true(isnan(found.t) && found.p == 1);
    assert_int_equal(resampled_t(one, zero, 1, 0.25, &found), 0);
    assert_true(isnan(found.p));
}

/* ---------------------------------------------------------------- over sets */

static void take_friedman(char *cells)
{
    char kind[16];
    next_word(&cells, kind, sizeof kind);
    struct lcg draw = lcg_of((uint64_t)next_number(&cells));
    size_t sets = (size_t)next_number(&cells), methods = (size_t)next_number(&cells);
    double *score = mem_get(sets * methods, sizeof *score), steps = !strcmp(kind, "ties") ? 8 : 3;
    assert_non_null(score);
    for (size_t i = 0; i < sets * methods && !strcmp(kind, "means"); i++) {
        double sum = 0;
        for (int split = 0; split < 5; split++)
            sum += (60 - floor(lcg_unit(&draw) * 4)) / 60;
        score[i] = sum / 5;
    }
    for (size_t i = 0; i < sets * methods && strcmp(kind, "means") != 0; i++) {
        score[i] = lcg_unit(&draw) + 0.1 * (double)(i % methods);
        if (strcmp(kind, "plain") != 0)
            score[i] = floor(score[i] * steps) / steps;
    }
    struct ranking found;
    assert_int_equal(ranking_make(&found, score, sets, methods, 0), 0);
    assert_near(found.chi2, next_number(&cells), 1e-12, 1e-12);
    assert_near(found.chi2_p, next_number(&cells), 1e-11, 0);
    assert_near(found.f, next_number(&cells), 1e-11, 1e-12);
    assert_near(found.f_p, next_number(&cells), 1e-10, 0);
    double k = (double)methods, unit = sqrt(k * (k + 1) / (12 * (double)sets)); /* Nemenyi's p of each pair */
    for (size_t a = 0; a < methods; a++)
        for (size_t b = a + 1; b < methods; b++)
            assert_near(range_above(fabs(found.rank[a] - found.rank[b]) / unit, (unsigned)methods),
                        next_number(&cells), 1e-8, 1e-8);
    ranking_free(&found);
}

static void friedman_and_nemenyi_are_scipys_with_ties_and_few_sets(void **state)
{
    (void)state;
    assert_int_equal(each_line("friedman", take_friedman), 15);
}

static struct ranking rank(const double *score, size_t sets, size_t methods, int larger)
{
    struct ranking found;
    double *own = mem_copy(score, sets * methods, sizeof *own);
    assert_non_null(own);
    assert_int_equal(ranking_make(&found, own, sets, methods, larger), 0);
    return found;
}

static void ranks_without_anything_to_tell_apart_say_so(void **state)
{
    (void)state;
    const double equal[] = {1, 1, 1, 2, 2, 2}, agreed[] = {1, 2, 3, 4, 5, 6},
                 holes[] = {1, NAN, 3, 2, NAN, 1};
    struct ranking found = rank(equal, 2, 3, 0);
    assert_true(isnan(found.chi2) && isnan(found.f_p));
    assert_true(found.critical > 0 && found.rank[0] == 2);
    ranking_free(&found);
    found = rank(agreed, 2, 3, 1); /* both sets alike: the third is best */
    assert_near(found.chi2, 4, 1e-12, 0);
    assert_true(isinf(found.f) && found.f_p == 0);
    assert_int_equal(found.order[0], 2);
    ranking_free(&found);
    found = rank(agreed, 1, 3, 0); /* one set is none to compare over */
    assert_true(isnan(found.chi2) && isnan(found.critical));
    ranking_free(&found);
    found = rank(holes, 2, 3, 0);
    assert_int_equal(found.missing, 2);
    assert_true(found.rank[1] == 3);
    ranking_free(&found);
}

static void groups_are_the_longest_stretches_within_the_critical_difference(void **state)
{
    (void)state;
    double ranks[] = {3.6, 1.0, 3.7, 1.5, 2.4};
    size_t order[] = {1, 3, 4, 0, 2}, from, to;
    struct ranking found = {.sets = 5, .methods = 5, .rank = ranks, .order = order, .critical = 1.45};
    assert_true(ranking_group(&found, 0, &from, &to));
    assert_int_equal(from, 0);
    assert_int_equal(to, 2);
    assert_true(
        ranking_group(&found, 1, &from, &to)); /* 1.5 .. 2.4 lies within the first; 2.4 .. 3.7 does not */
    assert_int_equal(from, 2);
    assert_int_equal(to, 4);
    assert_false(ranking_group(&found, 2, &from, &to));
    found.critical = 0.05;
    assert_false(ranking_group(&found, 0, &from, &to));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tails_are_scipys),
        cmocka_unit_test(holms_correction_is_statsmodels_and_passes_over_what_is_no_number),
        cmocka_unit_test(the_resampled_t_test_is_students_on_the_larger_variance),
        cmocka_unit_test(friedman_and_nemenyi_are_scipys_with_ties_and_few_sets),
        cmocka_unit_test(ranks_without_anything_to_tell_apart_say_so),
        cmocka_unit_test(groups_are_the_longest_stretches_within_the_critical_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
