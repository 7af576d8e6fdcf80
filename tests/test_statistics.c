/* SPDX-License-Identifier: MIT
 *
 * Statistics against SciPy (golden/statistics.csv) and against plain enumeration. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "compare/statistics.h"
#include "failure.h"
#include "fault.h"

enum { MOST = 200 };

/* ---------------------------------------------------------------- the samples of make_statistics.py */

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

static void draw_pairs(const char *kind, uint64_t seed, size_t n, double *x, double *y)
{
    struct lcg lcg = lcg_of(seed);
    double shift = lcg_unit(&lcg) * 0.5;
    assert_in_range(n, 1, MOST);
    for (size_t i = 0; i < n; i++) {
        x[i] = lcg_unit(&lcg);
        y[i] = lcg_unit(&lcg) + shift;
        if (!strcmp(kind, "ties")) {
            x[i] = floor(x[i] * 12) / 4;
            y[i] = floor(y[i] * 12) / 4;
        }
        if (!strcmp(kind, "counts")) {
            double rows = (double)(40 + seed % 61);
            x[i] = (rows - floor(x[i] * 12)) / rows;
            y[i] = (rows - floor(y[i] * 12)) / rows;
        }
        if (!strcmp(kind, "zeros") && i % 3 == 0)
            y[i] = x[i];
    }
}

static FILE *golden(void)
{
    FILE *file = fopen(SPH_TESTS_DIR "/golden/statistics.csv", "r");
    assert_non_null(file);
    return file;
}

static void assert_near(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%.17g, expected %.17g to within %g", found, expected, tolerance);
}

/* ---------------------------------------------------------------- Wilcoxon */

static void wilcoxon_is_scipys_with_and_without_ties_and_zeros(void **state)
{
    (void)state;
    FILE *file = golden();
    char line[512], kind[16];
    double x[MOST], y[MOST], statistic, p;
    size_t n, differ, cases = 0;
    unsigned long long seed;
    int exact;
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, "wilcoxon", 8) != 0)
            continue;
        assert_int_equal(sscanf(line, "wilcoxon,%15[a-z],%llu,%zu,%zu,%lf,%lf,%d", kind, &seed, &n, &differ,
                                &statistic, &p, &exact),
                         7);
        draw_pairs(kind, seed, n, x, y);
        struct wilcoxon found;
        assert_int_equal(wilcoxon_test(x, y, n, &found), 0);
        assert_int_equal(found.n, differ);
        assert_int_equal(found.exact, exact);
        assert_true(found.statistic == statistic);
        assert_near(found.p, p, 1e-12 * p); /* both sum a few hundred terms */
        cases++;
    }
    fclose(file);
    assert_int_equal(cases, 102 + 39);
}

/* 0.95 - 0.925 and 0.9 - 0.875 are one row of forty each, and differ in their last bits. */
static void differences_that_rounding_alone_parts_are_ties(void **state)
{
    (void)state;
    double x[] = {0.95, 0.9, 0.85, 0.8, 0.9}, y[] = {0.925, 0.875, 0.9, 0.775, 0.975};
    struct wilcoxon found;
    struct interval interval;
    struct t_test t;
    assert_true(x[0] - y[0] != x[1] - y[1]);
    assert_int_equal(wilcoxon_test(x, y, 5, &found), 0);
    assert_true(found.exact); /* ranks 2, 2, -4, 2, -5 */
    assert_true(found.statistic == 6);
    assert_true(found.p == 26.0 / 32); /* 13 of the 32 sign patterns have a sum of 6 or less */
    /* the same scores, summed in another order: nothing differs, and nothing may be made of it */
    double there[3], back[3];
    for (size_t i = 0; i < 3; i++) {
        double part[] = {0.1 * (double)(i + 1), 0.2, 0.3};
        there[i] = part[0] + part[1] + part[2];
        back[i] = part[2] + part[1] + part[0];
    }
    assert_true(there[0] != back[0]);
    assert_int_equal(wilcoxon_test(there, back, 3, &found), 0);
    assert_int_equal(found.n, 0);
    assert_int_equal(resampled_t(there, back, 3, 0.25, &t), 0);
    assert_true(isnan(t.t) && t.p == 1);
    assert_int_equal(bootstrap_difference(there, back, 3, 100, 0.95, 1, &interval), 0);
    assert_true(interval.low == 0 && interval.high == 0);
    assert_true(mean_difference(there, back, 3) == 0);
    assert_true(isnan(mean_difference(there, back, 0)));
    double rank[2];
    assert_int_equal(average_ranks((double[]){there[0], back[0]}, 1, 2, 1, rank), 0);
    assert_true(rank[0] == 1.5 && rank[1] == 1.5);
    /* one difference in all splits: its t is infinite, not merely large */
    assert_int_equal(resampled_t((double[]){0.95, 0.9}, (double[]){0.925, 0.875}, 2, 0.25, &t), 0);
    assert_true(isinf(t.t) && t.p == 0);
    /* a huge pair makes no others equal */
    double wide[] = {1e15, 1, 2, 3}, other[] = {3e15, 1.25, 2.5, 3.75};
    assert_int_equal(wilcoxon_test(wide, other, 4, &found), 0);
    assert_true(found.n == 4 && found.exact);
    assert_false(same_number(1, INFINITY) || same_number(NAN, NAN) || same_number(1, 1 + 1e-9));
    assert_true(same_number(INFINITY, INFINITY) && same_number(1e-300, 1e-300 * (1 + 1e-15)));
}

/* How many of the 2^n sign patterns have positive ranks adding up to s, each pattern visited: Gray's code
 * changes one sign at a time. */
static void count_patterns(size_t n, uint64_t *count)
{
    size_t sum = 0;
    uint64_t gray = 0;
    memset(count, 0, (n * (n + 1) / 2 + 1) * sizeof *count);
    count[0]++;
    for (uint64_t i = 1; i < (uint64_t)1 << n; i++) {
        size_t bit = (size_t)__builtin_ctzll(i);
        gray ^= (uint64_t)1 << bit;
        sum = gray >> bit & 1 ? sum + (bit + 1) : sum - (bit + 1);
        count[sum]++;
    }
}

static void exact_p_counts_every_sign_pattern_up_to_25_pairs(void **state)
{
    (void)state;
    uint64_t count[25 * 26 / 2 + 1];
    double x[25], y[25] = {0};
    for (size_t n = 1; n <= 25; n++) {
        if (n > 18 && n < 25)
            continue; /* 2^25 patterns are enough to wait for */
        count_patterns(n, count);
        uint64_t tail = 0;
        for (size_t sum = 0; sum <= n * (n + 1) / 4; sum++) {
            tail += count[sum];
            double p = fmin(1, 2 * (double)tail / (double)((uint64_t)1 << n));
            size_t left = sum; /* the ranks that add up to sum, largest first */
            for (size_t rank = n; rank; rank--) {
                int positive = left >= rank;
                left -= positive ? rank : 0;
                x[rank - 1] = positive ? (double)rank : -(double)rank;
            }
            struct wilcoxon plus, minus;
            assert_int_equal(wilcoxon_test(x, y, n, &plus), 0);
            assert_int_equal(wilcoxon_test(y, x, n, &minus), 0);
            assert_true(plus.exact);
            assert_true(plus.statistic == (double)sum);
            assert_true(plus.p == p); /* counts and powers of two: no rounding */
            assert_true(minus.statistic == (double)sum);
            assert_true(minus.p == p);
        }
        assert_true(wilcoxon_least_p(n) == 2 / (double)((uint64_t)1 << n));
    }
    assert_true(wilcoxon_least_p(0) == 1);
    assert_true(wilcoxon_least_p(100000) > 0);
}

static void wilcoxon_of_nothing_that_differs_is_one(void **state)
{
    (void)state;
    double x[] = {1, 2, 3}, y[] = {1, 2, 3};
    struct wilcoxon found;
    for (size_t count = 0; count <= 3; count++) {
        assert_int_equal(wilcoxon_test(x, y, count, &found), 0);
        assert_int_equal(found.n, 0);
        assert_true(found.p == 1);
    }
    y[0] = 5; /* one pair shows nothing either */
    assert_int_equal(wilcoxon_test(x, y, 1, &found), 0);
    assert_int_equal(found.n, 1);
    assert_true(found.exact);
    assert_true(found.p == 1);
}

static void pairs_without_a_number_are_left_out(void **state)
{
    (void)state;
    double x[] = {1, NAN, 3, 9, 5, INFINITY, 7}, y[] = {2, 4, 5, NAN, 1, 0, 2};
    double few_x[] = {1, 3, 5, 7}, few_y[] = {2, 5, 1, 2};
    struct wilcoxon all, few;
    struct interval wide, narrow;
    assert_int_equal(wilcoxon_test(x, y, 7, &all), 0);
    assert_int_equal(wilcoxon_test(few_x, few_y, 4, &few), 0);
    assert_int_equal(all.n, 4);
    assert_true(all.exact && all.p == few.p && all.statistic == few.statistic);
    assert_int_equal(bootstrap_difference(x, y, 7, 1000, 0.95, 1, &wide), 0);
    assert_int_equal(bootstrap_difference(few_x, few_y, 4, 1000, 0.95, 1, &narrow), 0);
    assert_true(wide.low == narrow.low && wide.high == narrow.high);
}

/* ---------------------------------------------------------------- bootstrap */

static void bootstrap_is_scipys_within_monte_carlo_error(void **state)
{
    (void)state;
    enum { RESAMPLES = 100000 };
    FILE *file = golden();
    char line[512];
    double x[MOST], y[MOST], level, low, high, error;
    size_t n, cases = 0;
    unsigned long long seed;
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, "bootstrap", 9) != 0)
            continue;
        assert_int_equal(
            sscanf(line, "bootstrap,%llu,%zu,%lf,%lf,%lf,%lf", &seed, &n, &level, &low, &high, &error), 6);
        draw_pairs("plain", seed, n, x, y);
        struct interval found;
        assert_int_equal(bootstrap_difference(x, y, n, RESAMPLES, level, seed, &found), 0);
        /* The deviation of an estimated quantile is sqrt(q (1 - q) / resamples) over the density there: for a
         * normal mean 0.0084 of its standard error at 100,000, 0.0059 at SciPy's 200,000. Five of both. */
        assert_near(found.low, low, 0.052 * error);
        assert_near(found.high, high, 0.052 * error);
        cases++;
    }
    fclose(file);
    assert_int_equal(cases, 16);
}

/* All n^n resamples of four pairs: the interval's ends are among their means, near the right shares. */
static void bootstrap_of_four_pairs_follows_the_full_enumeration(void **state)
{
    (void)state;
    double d[] = {0.1, 1, 10, 100}, zero[4] = {0};
    for (int percent = 50; percent < 100; percent += 7) {
        struct interval found;
        double level = percent / 100.0;
        assert_int_equal(bootstrap_difference(d, zero, 4, 20000, level, 3, &found), 0);
        double at_most_low = 0, below_low = 0, at_least_high = 0, above_high = 0;
        for (int code = 0; code < 256; code++) {
            double mean = (d[code & 3] + d[code >> 2 & 3] + d[code >> 4 & 3] + d[code >> 6]) / 4;
            at_most_low += mean <= found.low + 1e-9;
            below_low += mean < found.low - 1e-9;
            at_least_high += mean >= found.high - 1e-9;
            above_high += mean > found.high + 1e-9;
        }
        double tail = (1 - level) / 2, error = 5 * sqrt(0.25 / 20000);
        assert_true(below_low / 256 <= tail + error && tail - error <= at_most_low / 256);
        assert_true(above_high / 256 <= tail + error && tail - error <= at_least_high / 256);
    }
}

static void bootstrap_depends_on_the_seed_alone(void **state)
{
    (void)state;
    double x[MOST], y[MOST];
    struct interval a, b, c;
    draw_pairs("plain", 1, 20, x, y);
    assert_int_equal(bootstrap_difference(x, y, 20, 500, 0.95, 7, &a), 0);
    assert_int_equal(bootstrap_difference(x, y, 20, 500, 0.95, 7, &b), 0);
    assert_int_equal(bootstrap_difference(x, y, 20, 500, 0.95, 8, &c), 0);
    assert_true(a.low == b.low && a.high == b.high);
    assert_true(a.low != c.low && a.high != c.high);
    assert_true(a.low < a.high);
}

static void bootstrap_of_one_pair_and_none(void **state)
{
    (void)state;
    double x[] = {3, NAN}, y[] = {1, 1};
    struct interval found;
    assert_int_equal(bootstrap_difference(x, y, 2, 100, 0.95, 0, &found), 0);
    assert_true(found.low == 2 && found.high == 2);
    assert_int_equal(bootstrap_difference(x + 1, y, 1, 100, 0.95, 0, &found), 0);
    assert_true(isnan(found.low) && isnan(found.high));
    assert_int_equal(bootstrap_difference(x, y, 0, 100, 0.95, 0, &found), 0);
    assert_true(isnan(found.low) && isnan(found.high));
    assert_fails(bootstrap_difference(x, y, 2, 0, 0.95, 0, &found), SPH_EARG, .key = "bootstrap");
    const double bad[] = {0, 1, -1, 95, NAN};
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(bootstrap_difference(x, y, 2, 100, bad[i], 0, &found), SPH_EARG);
}

static void a_quantile_is_a_value_that_its_share_does_not_exceed(void **state)
{
    (void)state;
    double values[] = {5, 1, 4, 2, 3};
    sort_rising(values, 5);
    for (int i = 0; i < 5; i++)
        assert_true(values[i] == i + 1);
    assert_true(quantile(values, 5, 0) == 1 && quantile(values, 5, 0.2) == 1);
    assert_true(quantile(values, 5, 0.21) == 2 && quantile(values, 5, 0.5) == 3);
    assert_true(quantile(values, 4, 0.5) == 2); /* of four, two do not exceed it */
    assert_true(quantile(values, 5, 0.99) == 5 && quantile(values, 5, 1) == 5);
    assert_true(isnan(quantile(values, 0, 0.5)));
}

/* ---------------------------------------------------------------- ranks, means */

static void ranks_are_scipys_with_ties_and_failures(void **state)
{
    (void)state;
    FILE *file = golden();
    char line[512];
    double score[MOST], rank[10];
    size_t count, methods, tables = 0;
    unsigned long long seed;
    int larger, at;
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, "ranks", 5) != 0)
            continue;
        assert_int_equal(sscanf(line, "ranks,%llu,%zu,%zu,%d%n", &seed, &count, &methods, &larger, &at), 4);
        assert_in_range(count * methods, 1, MOST);
        struct lcg lcg = lcg_of(seed);
        for (size_t i = 0; i < count * methods; i++) {
            score[i] = floor(lcg_unit(&lcg) * 8) / 8;
            if (score[i] == 0)
                score[i] = NAN;
        }
        assert_int_equal(average_ranks(score, count, methods, larger, rank), 0);
        char *p = line + at;
        for (size_t m = 0; m < methods; m++) {
            assert_int_equal(*p, ',');
            assert_near(rank[m], strtod(p + 1, &p), 1e-14 * 10);
        }
        assert_string_equal(p, "\n");
        tables++;
    }
    fclose(file);
    assert_int_equal(tables, 12);
}

static void infinite_scores_rank_last_whatever_is_better(void **state)
{
    (void)state;
    double score[] = {INFINITY, 1, -INFINITY, 2}, rank[4];
    assert_int_equal(average_ranks(score, 1, 4, 1, rank), 0);
    assert_true(rank[0] == 3.5 && rank[1] == 2 && rank[2] == 3.5 && rank[3] == 1);
    assert_int_equal(average_ranks(score, 1, 4, 0, rank), 0);
    assert_true(rank[0] == 3.5 && rank[1] == 1 && rank[2] == 3.5 && rank[3] == 2);
    assert_int_equal(average_ranks(score, 0, 4, 0, rank), SPH_EARG);
}

static void summary_counts_finite_values_only(void **state)
{
    (void)state;
    struct summary s;
    summarize((double[]){2, NAN, 4, INFINITY, 9}, 5, &s);
    assert_int_equal(s.n, 3);
    assert_true(s.mean == 5 && s.least == 2 && s.most == 9);
    assert_near(s.error, sqrt(13.0 / 3), 1e-15 * 4); /* deviation sqrt(26 / 2) */
    summarize((double[]){7}, 1, &s);
    assert_true(s.n == 1 && s.mean == 7 && isnan(s.error) && s.least == 7 && s.most == 7);
    summarize((double[]){NAN}, 1, &s);
    assert_true(s.n == 0 && isnan(s.mean) && isnan(s.error) && isnan(s.least) && isnan(s.most));
    summarize((double[]){0.1, 0.1, 0.1}, 3, &s); /* 0.1 + 0.1 + 0.1 is not 0.3 */
    assert_true(s.mean == 0.1 && s.error == 0);
}

static void short_of_memory_says_so_and_leaks_nothing(void **state)
{
    (void)state;
    double x[] = {1, 2, 4}, y[] = {0, 0, 0};
    struct wilcoxon test;
    struct interval interval;
    for (size_t at = 0; at < 2; at++) {
        fault_after(at);
        assert_int_equal(wilcoxon_test(x, y, 3, &test), SPH_EMEMORY);
        fault_after(at);
        assert_int_equal(bootstrap_difference(x, y, 3, 10, 0.9, 0, &interval), SPH_EMEMORY);
        fault_off();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wilcoxon_is_scipys_with_and_without_ties_and_zeros),
        cmocka_unit_test(differences_that_rounding_alone_parts_are_ties),
        cmocka_unit_test(exact_p_counts_every_sign_pattern_up_to_25_pairs),
        cmocka_unit_test(wilcoxon_of_nothing_that_differs_is_one),
        cmocka_unit_test(pairs_without_a_number_are_left_out),
        cmocka_unit_test(bootstrap_is_scipys_within_monte_carlo_error),
        cmocka_unit_test(bootstrap_of_four_pairs_follows_the_full_enumeration),
        cmocka_unit_test(bootstrap_depends_on_the_seed_alone),
        cmocka_unit_test(bootstrap_of_one_pair_and_none),
        cmocka_unit_test(a_quantile_is_a_value_that_its_share_does_not_exceed),
        cmocka_unit_test(ranks_are_scipys_with_ties_and_failures),
        cmocka_unit_test(infinite_scores_rank_last_whatever_is_better),
        cmocka_unit_test(summary_counts_finite_values_only),
        cmocka_unit_test(short_of_memory_says_so_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
