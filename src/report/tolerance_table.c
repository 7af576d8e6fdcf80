/* SPDX-License-Identifier: MIT
 *
 * How wrong a learning rate may be: a row a method over all sets, with what was tested; then a row a method and set. */
#include <math.h>

#include "report/tables.h"

/* "33", or "at least 33". */
static void add_factor(struct table *out, size_t row, size_t column, double factor, int at_least)
{
    struct text words = {0};
    if (isfinite(factor)) {
        text_add(&words, "%s", at_least ? "at least " : "");
        text_add_general(&words, 3, factor);
        table_take(out, row, column, &words);
    } else {
        table_missing(out, row, column);
    }
}

static void add_percent(struct text *words, double loss)
{
    text_add(words, loss < 0 ? "" : "+");
    text_add_fixed(words, fabs(loss) < 0.1 ? 1 : 0, 100 * loss);
    text_add(words, " %%");
}

/* ---------------------------------------------------------------- over the sets */

enum {
    ALL_METHOD,
    ALL_FACTOR,
    ALL_COUNT,
    ALL_MEASURES, /* columns of each measure, */
    MEASURE_MEAN = 0,
    MEASURE_TIMES,
    MEASURE_P,
    MEASURE_CORRECTED,
    MEASURE_P_NUMBER,
    MEASURE_CORRECTED_NUMBER,
    MEASURE_COLUMNS,
    ALL_STEPS = ALL_MEASURES + TOLERANCE_MEASURES * MEASURE_COLUMNS, /* then of each step */
    STEP_SHOWN = 0,
    STEP_LOSS,
    STEP_MEASURED,
    STEP_DIVERGED,
    STEP_COLUMNS,
    ALL_RANK = ALL_STEPS + TOLERANCE_STEPS * STEP_COLUMNS
};

static void add_measure_columns(struct table *out, const char *reference)
{
    table_column(out, (struct table_column){
                          .head = "by split", .json = "tolerance_by_split", .number = 1, .digits = 3});
    table_made_column(out, (struct table_column){.json = "tolerance_times", .number = 1, .digits = 3},
                      "x %s's", reference);
    table_column(out, (struct table_column){.head = "p", .number = 1});
    table_column(out, (struct table_column){.head = "corrected", .number = 1});
    table_column(out, (struct table_column){.json = "tolerance_p"});
    table_column(out, (struct table_column){.json = "tolerance_corrected"});
    table_column(out, (struct table_column){
                          .head = "largest rate", .json = "largest_by_split", .number = 1, .digits = 3});
    table_made_column(out, (struct table_column){.json = "largest_times", .number = 1, .digits = 3}, "x %s's",
                      reference);
    table_column(out, (struct table_column){.head = "p", .number = 1});
    table_column(out, (struct table_column){.head = "corrected", .number = 1});
    table_column(out, (struct table_column){.json = "largest_p"});
    table_column(out, (struct table_column){.json = "largest_corrected"});
}

static void add_overall_columns(struct table *out, const struct tolerance *t)
{
    const char *reference = t->comparison[0].reference;
    table_column(out, (struct table_column){.head = "method", .json = "method"});
    table_column(out,
                 (struct table_column){.head = "tolerance", .json = "tolerance", .number = 1, .digits = 3});
    table_column(out, (struct table_column){.json = "groups"});
    add_measure_columns(out, reference ? reference : "another");
    table_column(out, (struct table_column){.head = "at 3 x", .number = 1});
    table_column(out, (struct table_column){.json = "loss_3"});
    table_column(out, (struct table_column){.json = "measured_3"});
    table_column(out, (struct table_column){.json = "diverged_3"});
    table_column(out, (struct table_column){.head = "at 10 x", .number = 1});
    table_column(out, (struct table_column){.json = "loss_10"});
    table_column(out, (struct table_column){.json = "measured_10"});
    table_column(out, (struct table_column){.json = "diverged_10"});
    table_column(out, (struct table_column){.head = "rank", .json = "rank", .number = 1, .fixed = 2});
}

static void fill_measure(struct table *out, size_t row, size_t column, const struct comparison *comparison)
{
    const struct comparison_line *line = &comparison->lines[row];
    const struct comparison_pair *pair = line->pair;
    table_number(out, row, column + MEASURE_MEAN, pow(10, line->summary.mean));
    if (!pair)
        return;
    table_number(out, row, column + MEASURE_TIMES, pow(10, pair->difference));
    table_p(out, row, column + MEASURE_P, pair->test.p, !pair->test.exact && pair->test.n);
    table_p(out, row, column + MEASURE_CORRECTED, pair->corrected, !pair->test.exact && pair->test.n);
    table_number(out, row, column + MEASURE_P_NUMBER, pair->test.p);
    table_number(out, row, column + MEASURE_CORRECTED_NUMBER, pair->corrected);
    if (pair->significant)
        table_mark(out, row, column + MEASURE_TIMES, MARK_LEAD);
}

static void fill_step(struct table *out, size_t row, size_t column, const struct tolerance *t, size_t step)
{
    size_t count, diverged;
    double loss = tolerance_mean_loss(t, row, step, &count, &diverged);
    struct text words = {0};
    if (count)
        add_percent(&words, loss);
    if (count && count < t->groups)
        text_add(&words, " (%zu of %zu)", count, t->groups);
    if (diverged)
        text_add(&words, "%s%zu diverged", count ? ", " : "", diverged);
    if (words.length || words.failed)
        table_take(out, row, column + STEP_SHOWN, &words);
    else
        table_missing(out, row, column + STEP_SHOWN);
    table_number(out, row, column + STEP_LOSS, loss);
    table_count(out, row, column + STEP_MEASURED, count + diverged);
    table_count(out, row, column + STEP_DIVERGED, diverged);
}

static void add_notes(struct table *out, const struct tolerance *t, const struct results *results)
{
    const struct comparison *comparison = &t->comparison[0];
    int larger = results->facts.larger_is_better;
    table_line(&out->notes,
               "tolerance: the largest learning rate over the smallest at which the mean %s is within %d %% "
               "of the method's best, without a gap%s; at least: the grid ends there. A rate at which a "
               "training diverged is not within.",
               larger ? "error, 1 minus the score," : "score", TOLERANCE_PERCENT,
               t->groups > 1 ? "; over several sets or points the geometric mean" : "");
    table_line(&out->notes,
               "at 3 x, at 10 x: how much larger the %s is at a rate three or ten times the best one, to a "
               "quarter, than at the best; -: beyond the grid, not measured%s.",
               larger ? "error" : "score",
               t->groups > 1 ? "; (2 of 7): the mean is over those where it was measured and none diverged"
                             : "");
    if (!comparison->pair_count)
        return;
    table_line(&out->notes,
               "by split, largest rate: the geometric mean of the same of each split by itself, whose single "
               "trainings are noisier, and of the largest rate within; p: Wilcoxon's signed-rank test over "
               "%zu pairs, two-sided; corrected: for %zu comparisons, by Holm, which decides.",
               t->input[0].cases, comparison->family);
}

void tolerance_overall_table(struct table *out, const struct results *results)
{
    const struct tolerance *t = &results->tolerance;
    const struct sph_experiment *e = results->experiment;
    size_t count, sets = experiment_sets(e);
    *out = (struct table){0};
    if (!t->rates)
        return;
    out->warning = results_of_set(results, 0)->input.warning;
    table_line(&out->title, "%s: how wrong a learning rate may be (%s), %zu split%s of %zu set%s%s", e->name,
               results->facts.metric, t->seeds, t->seeds == 1 ? "" : "s", sets, sets == 1 ? "" : "s",
               t->groups > sets ? ", at each point of the grid's other keys" : "");
    add_overall_columns(out, t);
    table_rows(out, t->methods);
    for (size_t m = 0; m < t->methods; m++) {
        table_words(out, m, ALL_METHOD, e->methods[m].name);
        table_number(out, m, ALL_FACTOR, tolerance_mean_factor(t, m, &count));
        table_count(out, m, ALL_COUNT, count);
        for (size_t k = 0; k < TOLERANCE_MEASURES; k++)
            fill_measure(out, m, ALL_MEASURES + k * MEASURE_COLUMNS, &t->comparison[k]);
        for (size_t k = 0; k < TOLERANCE_STEPS; k++)
            fill_step(out, m, ALL_STEPS + k * STEP_COLUMNS, t, k);
        if (t->ranking.rank)
            table_number(out, m, ALL_RANK, t->ranking.rank[m]);
    }
    for (size_t k = 0; k < TOLERANCE_MEASURES; k++)
        for (size_t i = 0; i < t->comparison[k].pair_count; i++)
            table_line(&out->verdicts, "%s: %s", tolerance_words[k], t->comparison[k].pairs[i].verdict.chars);
    ranking_verdicts(out, &t->ranking, &t->input[0]);
    add_notes(out, t, results);
}

/* ---------------------------------------------------------------- each set */

enum {
    LINE_SET,
    LINE_POINT,
    LINE_METHOD,
    LINE_BEST,
    LINE_MEAN,
    LINE_ERROR,
    LINE_SHOWN,
    LINE_LOW,
    LINE_HIGH,
    LINE_FACTOR,
    LINE_NUMBER,
    LINE_LOW_EDGE,
    LINE_HIGH_EDGE,
    LINE_LOST,
    LINE_STEPS,
    LINE_STEP_SHOWN = 0,
    LINE_STEP_LOSS,
    LINE_STEP_DIVERGED,
    LINE_STEP_COLUMNS,
    LINE_SPLITS = LINE_STEPS + TOLERANCE_STEPS * LINE_STEP_COLUMNS,
    LINE_LARGEST
};

static void add_line_columns(struct table *out, const struct results *results)
{
    const struct sph_experiment *e = results->experiment;
    const char *point = e->grid.count > 1 ? "point" : NULL, *set = e->set_count ? "set" : NULL;
    table_column(out, (struct table_column){.head = set, .csv = set, .json = set});
    table_column(out, (struct table_column){.head = point, .csv = point, .json = point});
    table_column(out, (struct table_column){.head = "method", .csv = "method", .json = "method"});
    table_column(out,
                 (struct table_column){
                     .head = "best rate", .csv = "best_lr", .json = "best_lr", .number = 1, .digits = 3});
    table_column(out, (struct table_column){.csv = "mean", .json = "mean"});
    table_column(out, (struct table_column){.csv = "standard_error", .json = "standard_error"});
    table_made_column(out, (struct table_column){.number = 1}, "%s", results->facts.metric);
    table_column(out, (struct table_column){
                          .head = "from", .csv = "from_lr", .json = "from_lr", .number = 1, .digits = 3});
    table_column(
        out, (struct table_column){.head = "to", .csv = "to_lr", .json = "to_lr", .number = 1, .digits = 3});
    table_column(out, (struct table_column){.head = "tolerance", .number = 1});
    table_column(out, (struct table_column){.csv = "tolerance", .json = "tolerance"});
    table_column(out, (struct table_column){.csv = "from_edge", .json = "from_edge"});
    table_column(out, (struct table_column){.csv = "to_edge", .json = "to_edge"});
    table_column(
        out, (struct table_column){
                 .head = "rates diverged", .csv = "diverged_rates", .json = "diverged_rates", .number = 1});
    table_column(out, (struct table_column){.head = "at 3 x", .number = 1});
    table_column(out, (struct table_column){.csv = "loss_3", .json = "loss_3"});
    table_column(out, (struct table_column){.csv = "diverged_3", .json = "diverged_3"});
    table_column(out, (struct table_column){.head = "at 10 x", .number = 1});
    table_column(out, (struct table_column){.csv = "loss_10", .json = "loss_10"});
    table_column(out, (struct table_column){.csv = "diverged_10", .json = "diverged_10"});
    table_column(out, (struct table_column){.json = "log10_tolerance_by_split"});
    table_column(out, (struct table_column){.json = "log10_largest_by_split"});
}

static void fill_line_step(struct table *out, size_t row, size_t column, double loss)
{
    struct text words = {0};
    if (isinf(loss)) {
        table_words(out, row, column + LINE_STEP_SHOWN, "diverged");
    } else if (isnan(loss)) {
        table_missing(out, row, column + LINE_STEP_SHOWN);
    } else {
        add_percent(&words, loss);
        table_take(out, row, column + LINE_STEP_SHOWN, &words);
    }
    table_number(out, row, column + LINE_STEP_LOSS, loss);
    table_flag(out, row, column + LINE_STEP_DIVERGED, isinf(loss) != 0);
}

static void fill_line(struct table *out, size_t row, const struct tolerance *t,
                      const struct tolerance_line *line)
{
    const struct tolerance_range *range = &line->range;
    size_t splits = (line->method * t->groups + row / t->methods) * t->seeds;
    table_count(out, row, LINE_LOST, line->lost);
    table_list(out, row, LINE_SPLITS, t->split[TOLERANCE_FACTOR] + splits, t->seeds);
    table_list(out, row, LINE_LARGEST, t->split[TOLERANCE_LARGEST] + splits, t->seeds);
    if (!line->known) {
        table_missing(out, row, LINE_FACTOR);
        return;
    }
    table_number(out, row, LINE_BEST, t->rates[range->best]);
    table_number(out, row, LINE_MEAN, line->score.mean);
    table_number(out, row, LINE_ERROR, line->score.error);
    table_mean(out, row, LINE_SHOWN, line->score.mean, line->score.error);
    table_number(out, row, LINE_LOW, t->rates[range->low]);
    table_number(out, row, LINE_HIGH, t->rates[range->high]);
    add_factor(out, row, LINE_FACTOR, line->factor, line->low_edge || line->high_edge);
    table_number(out, row, LINE_NUMBER, line->factor);
    table_flag(out, row, LINE_LOW_EDGE, line->low_edge);
    table_flag(out, row, LINE_HIGH_EDGE, line->high_edge);
    for (size_t k = 0; k < TOLERANCE_STEPS; k++)
        fill_line_step(out, row, LINE_STEPS + k * LINE_STEP_COLUMNS, line->loss[k]);
}

void tolerance_table(struct table *out, const struct results *results)
{
    const struct tolerance *t = &results->tolerance;
    const struct sph_experiment *e = results->experiment;
    size_t axis = 0;
    *out = (struct table){0};
    if (!t->rates)
        return;
    while (e->grid.axes[axis].id != OPTION_LR) /* it is there */
        axis++;
    add_line_columns(out, results);
    table_rows(out, t->groups * t->methods);
    for (size_t i = 0; i < t->groups * t->methods; i++) {
        const struct tolerance_line *line = &t->lines[i];
        struct text point = {0};
        if (e->set_count)
            table_words(out, i, LINE_SET, experiment_set_name(e, line->set));
        if (e->grid.count > 1) {
            experiment_add_other_keys(e, line->point, axis, &point);
            table_take(out, i, LINE_POINT, &point);
        }
        table_words(out, i, LINE_METHOD, e->methods[line->method].name);
        fill_line(out, i, t, line);
    }
}

json_t *tolerance_to_json(const struct results *results, const struct table *overall,
                          const struct table *lines)
{
    const struct tolerance *t = &results->tolerance;
    json_t *rates = json_array(), *verdicts = json_array();
    int bad = !rates || !verdicts;
    for (size_t i = 0; i < t->rate_count && !bad; i++)
        bad = json_array_append_new(rates, json_number(t->rates[i]));
    for (size_t k = 0; k < TOLERANCE_MEASURES; k++)
        for (size_t i = 0; i < t->comparison[k].pair_count && !bad; i++)
            bad = json_array_append_new(
                verdicts, JSON_OF({"of", json_words(tolerance_words[k])},
                                  {"verdict", json_words(t->comparison[k].pairs[i].verdict.chars)}));
    return JSON_OF({"experiment", json_words(results->experiment->name)},
                   {"metric", json_words(results->facts.metric)},
                   {"larger_is_better", json_boolean(results->facts.larger_is_better)},
                   {"percent", json_count(TOLERANCE_PERCENT)}, {"rates", json_whole(rates, bad)},
                   {"reference", json_words(t->comparison[0].reference)},
                   {"comparisons", json_count(t->comparison[0].family)}, {"methods", table_to_json(overall)},
                   {"verdicts", json_whole(verdicts, bad)}, {"lines", table_to_json(lines)});
}
