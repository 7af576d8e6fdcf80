/* SPDX-License-Identifier: MIT
 *
 * How wrong a learning rate may be, of results made by hand: the stretch within 5 %, the grid's edges, trainings that diverged,
 * scores where larger is better, other keys of the grid, tests by split. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "experiment_files.h"
#include "report/tables.h"

static void assert_near(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-12 * fabs(expected) + 1e-14)) /* a few roundings of numbers near 1 */
        fail_msg("%.17g, expected %.17g", found, expected);
}

/* ---------------------------------------------------------------- results by hand */

typedef double score_of(const struct sph_experiment *e, const struct experiment_job *job);

/* The rate of a job's point. */
static double rate_of(const struct sph_experiment *e, const struct experiment_job *job)
{
    for (size_t a = 0; a < e->grid.count; a++)
        if (e->grid.axes[a].id == OPTION_LR)
            return e->grid.axes[a].values[experiment_value(e, job->point, a)]->options.lr;
    return NAN;
}

/* NaN: the training diverged. */
static void fill(struct results *r, const char *text, const char *metric, int larger, score_of *score)
{
    sph_experiment *e = opened(text);
    *r = (struct results){.experiment = e, .dir = home, .owned = 1, .facts = {.larger_is_better = larger}};
    snprintf(r->facts.metric, sizeof r->facts.metric, "%s", metric);
    assert_int_equal(experiment_list(e, 0, &r->jobs, &r->count), 0);
    r->outcomes = mem_get(r->count, sizeof *r->outcomes);
    r->final = mem_get(experiment_reports(e), sizeof *r->final);
    assert_non_null(r->outcomes);
    assert_non_null(r->final);
    for (size_t i = 0; i < r->count; i++) {
        const struct experiment_job *job = &r->jobs[i];
        double test = score(e, job);
        r->outcomes[i] = (struct experiment_outcome){
            .finished = 1, .diverged = isnan(test), .test = test, .val = test, .val_loss = test, .epochs = 9};
        r->final[experiment_report(e, job->set, job->method, job->point, job->seed)] = i;
    }
    assert_int_equal(results_compare(r), 0);
}

static void drop(struct results *r)
{
    sph_experiment *e = (sph_experiment *)r->experiment;
    results_free(r);
    sph_experiment_free(e);
}

#define HEAD                                                                                                 \
    "name: rates\ndata: {name: crescents, rows: 40}\nnet: {hidden: [2]}\ntrain: {epochs: 9}\n"               \
    "methods: [{name: SP, param: sp}, {name: GmP, param: gmp}]\ntable: all\n"

/* ---------------------------------------------------------------- one curve */

static void the_stretch_is_around_the_best_without_a_gap(void **state)
{
    (void)state;
    struct tolerance_range range;
    const double gap[] = {1.04, 1.2, 1.05, 1, 1.04, 1.06, 1.01};
    assert_true(tolerance_find(gap, 7, 5, &range));
    assert_int_equal(range.best, 3);
    assert_int_equal(range.low, 2); /* 1.05 is within, 1.04 is behind a gap */
    assert_int_equal(range.high, 4);
    const double holes[] = {1, NAN, 0.99, 1, INFINITY, 0.99};
    assert_true(tolerance_find(holes, 6, 5, &range));
    assert_int_equal(range.best, 2); /* of equals the smallest rate */
    assert_int_equal(range.low, 2);
    assert_int_equal(range.high, 3);
    /* errors of accuracies 0.9, 0.895 and 0.9 again, as means of splits give them: rounding decides nothing */
    const double rounded[] = {1 - 0.895, 1 - 0.9 + 1e-16, 1 - 0.9, 1 - 0.895 + 2e-16};
    assert_true(1 - 0.9 + 1e-16 > 1 - 0.9);
    assert_true(tolerance_find(rounded, 4, 5, &range));
    assert_int_equal(range.best, 1);
    assert_int_equal(range.low, 0);
    assert_int_equal(range.high, 3);
    const double none[] = {NAN, NAN};
    assert_false(tolerance_find(none, 2, 5, &range));
}

static void three_times_a_rate_is_the_nearest_of_the_grid_to_a_quarter(void **state)
{
    (void)state;
    const double rates[] = {0.001, 0.003, 0.01, 0.03, 1};
    assert_int_equal(tolerance_times(rates, 5, 0, 3), 1);
    assert_int_equal(tolerance_times(rates, 5, 1, 3), 2); /* 0.009: 0.01 */
    assert_int_equal(tolerance_times(rates, 5, 1, 10), 3);
    assert_int_equal(tolerance_times(rates, 5, 3, 3), 5); /* 0.09: none */
    assert_int_equal(tolerance_times(rates, 5, 4, 10), 5);
}

/* ---------------------------------------------------------------- edges and divergence */

/* SP is best at 0.01 and within 5 % down to the grid's end; one of its three splits diverges at 0.1. GmP at 0.1, within up to
 * the grid's end; at 0.001 all diverge. */
static double with_edges(const struct sph_experiment *e, const struct experiment_job *job)
{
    double rate = rate_of(e, job), split = 0.1 * (double)job->seed; /* 0, 0.1, 0.2: the mean is 0.1 */
    if (job->method == 0)
        return rate == 0.1 && job->seed == 1 ? NAN : split + (rate == 0.01 ? 0.9 : rate < 0.01 ? 0.94 : 1.4);
    return rate == 0.001 ? NAN : split + (rate == 0.1 ? 1.9 : rate == 1 ? 1.95 : rate == 10 ? 1.98 : 3.9);
}

static void a_rate_with_a_diverged_training_is_not_within_and_edges_are_said(void **state)
{
    (void)state;
    struct results r;
    fill(&r, HEAD "grid: {lr: [1, 0.001, 0.01, 0.1, 10]}\nseeds: 3\nbaseline_method: SP\n", "rmse", 0,
         with_edges);
    const struct tolerance *t = &r.tolerance;
    assert_int_equal(t->rate_count, 5);
    assert_int_equal(t->groups, 1);
    for (size_t i = 1; i < 5; i++) /* whatever the file's order */
        assert_true(t->rates[i - 1] < t->rates[i]);

    const struct tolerance_line *sp = &t->lines[0], *gmp = &t->lines[1];
    assert_true(sp->known && gmp->known);
    assert_near(t->rates[sp->range.best], 0.01);
    assert_near(sp->score.mean, 1);
    assert_near(sp->factor, 10);
    assert_true(sp->low_edge && !sp->high_edge);
    assert_int_equal(sp->lost, 1);
    assert_true(isnan(sp->loss[TOLERANCE_THREE])); /* 0.03 is not in the grid */
    assert_true(isinf(sp->loss[TOLERANCE_TEN]));

    assert_near(t->rates[gmp->range.best], 0.1);
    assert_near(gmp->factor, 100);
    assert_true(!gmp->low_edge && gmp->high_edge);
    assert_int_equal(gmp->lost, 1);
    assert_near(gmp->loss[TOLERANCE_TEN], 0.05 / 2);

    struct table overall, lines;
    struct text text = {0};
    tolerance_overall_table(&overall, &r);
    tolerance_table(&lines, &r);
    assert_int_equal(table_write(&overall, TABLE_TEXT, &text), 0);
    assert_int_equal(table_write(&lines, TABLE_TEXT, &text), 0);
    assert_non_null(strstr(text.chars, "1 diverged"));
    assert_non_null(strstr(text.chars, "at least 100"));
    assert_non_null(strstr(text.chars, "+2.5 %"));
    assert_non_null(strstr(text.chars, "mean score is within 5 %"));
    text_free(&text);
    table_free(&overall);
    table_free(&lines);
    drop(&r);
}

static double never(const struct sph_experiment *e, const struct experiment_job *job)
{
    return job->method == 0 ? NAN : rate_of(e, job);
}

static void a_method_that_always_diverges_has_no_tolerance(void **state)
{
    (void)state;
    struct results r;
    fill(&r, HEAD "grid: {lr: [0.1, 0.2]}\nseeds: 2\n", "rmse", 0, never);
    size_t count, diverged;
    assert_false(r.tolerance.lines[0].known);
    assert_true(isnan(tolerance_mean_factor(&r.tolerance, 0, &count)));
    assert_int_equal(count, 0);
    assert_true(isnan(tolerance_mean_loss(&r.tolerance, 0, TOLERANCE_TEN, &count, &diverged)));
    assert_near(tolerance_mean_factor(&r.tolerance, 1, &count), 1); /* 0.2 is twice as bad */
    struct table lines;
    struct text text = {0};
    tolerance_table(&lines, &r);
    assert_int_equal(table_write(&lines, TABLE_CSV, &text), 0);
    assert_non_null(strstr(text.chars, "\nSP,,,,,,,,,2,,,,\n"));
    text_free(&text);
    table_free(&lines);
    drop(&r);
}

/* ---------------------------------------------------------------- larger is better */

/* Errors 0.1, 0.104 and 0.106 around the best: the first two are within 5 % of the error; of the score all three are. */
static double accuracies(const struct sph_experiment *e, const struct experiment_job *job)
{
    double rate = rate_of(e, job);
    return job->method == 0 ? (rate == 0.1 ? 0.9 : rate == 0.3 ? 0.896 : rate == 1 ? 0.894 : 0.5) : 1;
}

static void within_is_of_the_error_where_larger_is_better(void **state)
{
    (void)state;
    struct results r;
    fill(&r, HEAD "grid: {lr: [0.01, 0.1, 0.3, 1]}\n", "accuracy", 1, accuracies);
    const struct tolerance_line *line = &r.tolerance.lines[0];
    assert_near(r.tolerance.rates[line->range.best], 0.1);
    assert_near(line->score.mean, 0.9);
    assert_near(line->factor, 3);
    assert_near(line->loss[TOLERANCE_THREE], 0.04);
    assert_near(line->loss[TOLERANCE_TEN], 0.06);
    line = &r.tolerance
                .lines[1]; /* no error at all: all rates are the best, and nothing is so many times worse */
    assert_near(line->factor, 100);
    assert_true(line->low_edge && line->high_edge);
    assert_true(isnan(line->loss[TOLERANCE_TEN]));
    struct table overall;
    tolerance_overall_table(&overall, &r);
    assert_non_null(strstr(overall.notes.chars, "error, 1 minus the score"));
    table_free(&overall);
    drop(&r);
}

/* ---------------------------------------------------------------- sets, other keys, tests */

/* In every split of both sets and widths SP is good at one rate, GmP at three. */
static double always_wider(const struct sph_experiment *e, const struct experiment_job *job)
{
    double rate = rate_of(e, job), scale = 1 + (double)job->seed + 10 * (double)job->set;
    int wide = job->method == 1 ? rate <= 0.1 && rate >= 0.01 : rate == 0.01;
    return scale * (wide ? 1 : 2);
}

static void tests_are_over_sets_points_and_splits(void **state)
{
    (void)state;
    struct results r;
    fill(&r, HEAD "grid: {lr: [0.003, 0.01, 0.03, 0.1], hidden: [2, 3]}\nseeds: 3\nbaseline_method: SP\n",
         "rmse", 0, always_wider);
    const struct tolerance *t = &r.tolerance;
    assert_int_equal(t->groups, 2);
    assert_null(t->ranking.rank); /* widths are no sets */
    const struct comparison_pair *pair = &t->comparison[TOLERANCE_FACTOR].pairs[0];
    assert_int_equal(t->comparison[TOLERANCE_FACTOR].pair_count, 1);
    assert_int_equal(pair->pairs, 6);
    assert_int_equal(pair->worse, 6); /* the baseline is */
    assert_near(pair->difference, 1);
    assert_near(pair->test.p, 2.0 / 64);
    assert_near(pair->corrected, 2 * 2.0 / 64); /* of two measures */
    assert_int_equal(t->comparison[TOLERANCE_LARGEST].pairs[0].worse, 6);
    assert_near(t->comparison[TOLERANCE_LARGEST].lines[1].summary.mean, -1);
    size_t count;
    assert_near(tolerance_mean_factor(t, 1, &count), 10);
    assert_int_equal(count, 2);
    struct table lines;
    tolerance_table(&lines, &r);
    assert_int_equal(lines.row_count, 4);
    assert_string_equal(table_at(&lines, 2, 1)->text, "hidden 3");
    table_free(&lines);
    drop(&r);
}

static void ranks_are_over_several_sets(void **state)
{
    (void)state;
    struct results r;
    fill(&r,
         "name: rates\ndata: {name: [crescents, banana]}\nnet: {hidden: [2]}\n"
         "methods: [{name: SP, param: sp}, {name: GmP, param: gmp}]\ntable: all\n"
         "grid: {lr: [0.003, 0.01, 0.03, 0.1]}\nseeds: 2\n",
         "rmse", 0, always_wider);
    assert_int_equal(r.tolerance.groups, 2);
    assert_non_null(r.tolerance.ranking.rank);
    assert_near(r.tolerance.ranking.rank[1], 1);
    assert_int_equal(r.tolerance.comparison[0].pairs[0].reference, 1); /* GmP, where nothing else is said */
    drop(&r);
}

static void without_rates_side_by_side_there_is_nothing_to_say(void **state)
{
    (void)state;
    struct results r;
    fill(&r, HEAD "grid: {hidden: [2, 3]}\n", "rmse", 0, never);
    assert_null(r.tolerance.rates);
    struct table lines;
    tolerance_table(&lines, &r);
    assert_int_equal(lines.row_count, 0);
    table_free(&lines);
    drop(&r);
    sph_experiment *e = NULL;
    assert_int_equal(
        sph_experiment_open(&e, write_file("bad.yaml", HEAD "grid: {hidden: [2, 3]}\nbaseline_method: SP\n")),
        SPH_EFORMAT);
    assert_string_equal(sph_failure()->key, "baseline_method");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_stretch_is_around_the_best_without_a_gap),
        cmocka_unit_test(three_times_a_rate_is_the_nearest_of_the_grid_to_a_quarter),
        cmocka_unit_test(a_rate_with_a_diverged_training_is_not_within_and_edges_are_said),
        cmocka_unit_test(a_method_that_always_diverges_has_no_tolerance),
        cmocka_unit_test(within_is_of_the_error_where_larger_is_better),
        cmocka_unit_test(tests_are_over_sets_points_and_splits),
        cmocka_unit_test(ranks_are_over_several_sets),
        cmocka_unit_test(without_rates_side_by_side_there_is_nothing_to_say),
    };
    return cmocka_run_group_tests(tests, make_home, remove_home);
}
