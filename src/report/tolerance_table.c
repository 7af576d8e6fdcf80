/* SPDX-License-Identifier: MIT
 *
 * Tolerance of the learning rate: one row for each method over all datasets, then one for each method and dataset. */
#include <math.h>

#include "report/tables.h"

#define NAMED(word) (.head = word, .csv = word, .json = word)
#define DATA(word)  (.csv = word, .json = word)

/* ---------------------------------------------------------------- kinds of cells */

/* "33", or "at least 33". */
static void table_factor(struct table *out, size_t row, size_t column, double factor, int at_least)
{
    struct text words = {0};
    text_add(&words, "%s", at_least ? "at least " : "");
    text_add_general(&words, 3, factor);
    table_take(out, row, column, &words);
}

static void add_percent(struct text *words, double loss)
{
    text_add(words, loss < 0 ? "" : "+");
    text_add_fixed(words, fabs(loss) < 0.1 ? 1 : 0, 100 * loss);
    text_add(words, " %%");
}

/* The mean loss over those of `all` groups that were measured and did not diverge; all 0: a single group. */
static void table_loss(struct table *out, size_t row, size_t column, double loss, size_t measured,
                       size_t diverged, size_t all)
{
    struct text words = {0};
    if (measured)
        add_percent(&words, loss);
    if (measured && measured < all)
        text_add(&words, " (%zu of %zu)", measured, all);
    if (diverged && all)
        text_add(&words, "%s%zu diverged", measured ? ", " : "", diverged);
    else if (diverged)
        text_add(&words, "diverged");
    if (words.length || words.failed)
        table_take(out, row, column, &words);
    else
        table_missing(out, row, column);
}

static void table_pair_p(struct table *out, size_t row, size_t column, const struct comparison_pair *pair,
                         int corrected)
{
    if (pair)
        table_p(out, row, column, corrected ? pair->corrected : pair->test.p,
                !pair->test.exact && pair->test.n);
}

static void table_times(struct table *out, size_t row, size_t column, const struct comparison_pair *pair)
{
    if (pair)
        table_number(out, row, column, pow(10, pair->difference));
    if (pair && comparison_settled(pair))
        table_mark(out, row, column, MARK_LEAD);
}

/* ---------------------------------------------------------------- over the datasets */

/* Columns of one measure and of one step; their cells use the variables of fill_method. */
#define MEASURE(X, id, title, key, k)                                                                        \
    X(id##_MEAN, (.head = title, .json = key "_by_split", .number = 1, .digits = 3), number,                 \
      pow(10, t->comparison[k].lines[row].summary.mean))                                                     \
    X(id##_TIMES, (.json = key "_times", .number = 1, .digits = 3), times, pair[k])                          \
    X(id##_SHOWN_P, (.head = "p", .number = 1), pair_p, pair[k], 0)                                          \
    X(id##_SHOWN_CORRECTED, (.head = "corrected", .number = 1), pair_p, pair[k], 1)                          \
    X(id##_P, (.json = key "_p"), known, pair[k] ? pair[k]->test.p : (double)NAN)                            \
    X(id##_CORRECTED, (.json = key "_corrected"), known, pair[k] ? pair[k]->corrected : (double)NAN)
#define STEP(X, id, times, k)                                                                                \
    X(id##_SHOWN, (.head = "at " times " x", .number = 1), loss, loss[k], measured[k], diverged[k], groups)  \
    X(id##_LOSS, (.json = "loss_" times), number, loss[k])                                                   \
    X(id##_MEASURED, (.json = "measured_" times), count, measured[k] + diverged[k])                          \
    X(id##_DIVERGED, (.json = "diverged_" times), count, diverged[k])
#define OVERALL(X)                                                                                           \
    X(ALL_METHOD, (.head = "method", .json = "method"), words, name)                                         \
    X(ALL_FACTOR, (.head = "tolerance", .json = "tolerance", .number = 1, .digits = 3), number, factor)      \
    X(ALL_COUNT, (.json = "groups"), count, count)                                                           \
    MEASURE(X, FACTOR, "by split", "tolerance", TOLERANCE_FACTOR)                                            \
    MEASURE(X, LARGEST, "largest rate", "largest", TOLERANCE_LARGEST)                                        \
    STEP(X, THREE, "3", TOLERANCE_THREE)                                                                     \
    STEP(X, TEN, "10", TOLERANCE_TEN)                                                                        \
    X(ALL_RANK, (.head = "rank", .json = "rank", .number = 1, .fixed = 2), known, rank)

enum { OVERALL(TABLE_ID) OVERALL_COLUMNS };

static void add_overall_columns(struct table *out, const char *reference)
{
    static const struct table_column columns[OVERALL_COLUMNS] = {OVERALL(TABLE_ROW)};
    for (int c = 0; c < OVERALL_COLUMNS; c++)
        if (c == FACTOR_TIMES || c == LARGEST_TIMES)
            table_made_column(out, columns[c], "x %s's", reference ? reference : "another");
        else
            table_column(out, columns[c]);
}

static void fill_method(struct table *out, size_t row, const struct tolerance *t, const char *name)
{
    const struct comparison_pair *pair[TOLERANCE_MEASURES];
    double loss[TOLERANCE_STEPS], rank = t->ranking.rank ? t->ranking.rank[row] : (double)NAN;
    size_t measured[TOLERANCE_STEPS], diverged[TOLERANCE_STEPS], count, groups = t->groups;
    double factor = tolerance_mean_factor(t, row, &count);
    for (size_t k = 0; k < TOLERANCE_MEASURES; k++)
        pair[k] = t->comparison[k].lines[row].pair;
    for (size_t k = 0; k < TOLERANCE_STEPS; k++)
        loss[k] = tolerance_mean_loss(t, row, k, &measured[k], &diverged[k]);
    OVERALL(TABLE_CELL)
}

static void add_notes(struct table *out, const struct tolerance *t, const struct results *results)
{
    const struct comparison *comparison = &t->comparison[0];
    int larger = results->facts.larger_is_better;
    table_line(&out->notes,
               "tolerance: the largest divided by the smallest learning rate at which the mean %s is within "
               "%d %% of the method's best, without a gap%s; at least: the range reaches the end of the "
               "grid. Rates at which a training run diverged are not included.",
               larger ? "error, 1 minus the score," : "score", TOLERANCE_PERCENT,
               t->groups > 1 ? "; over several sets or points the geometric mean" : "");
    table_line(&out->notes,
               "at 3 x, at 10 x: how much larger the %s is at about three or ten times the best rate (within "
               "25 %%) than at the best; -: outside the grid, not measured%s.",
               larger ? "error" : "score",
               t->groups > 1 ? "; (2 of 7): the mean is over those where it was measured and none diverged"
                             : "");
    if (!comparison->pair_count)
        return;
    table_line(
        &out->notes,
        "by split, largest rate: geometric means over the splits of the tolerance of each split, which is "
        "noisier, and of the largest rate within; p: Wilcoxon's signed-rank test over %zu pairs, two-sided; "
        "corrected: p corrected for %zu comparisons by Holm, which decides significance.",
        t->input[0].cases, comparison->family);
}

void tolerance_overall_table(struct table *out, const struct results *results)
{
    const struct tolerance *t = &results->tolerance;
    const struct sph_experiment *e = results->experiment;
    size_t sets = experiment_sets(e);
    *out = (struct table){0};
    if (!t->rates)
        return;
    out->warning = results_of_set(results, 0)->input.warning;
    table_line(&out->title, "%s: tolerance of the learning rate (%s), %zu split%s of %zu dataset%s%s",
               e->name, results->facts.metric, t->seeds, t->seeds == 1 ? "" : "s", sets, sets == 1 ? "" : "s",
               t->groups > sets ? ", at each point of the grid's other keys" : "");
    add_overall_columns(out, t->comparison[0].reference);
    table_rows(out, t->methods);
    for (size_t m = 0; m < t->methods; m++)
        fill_method(out, m, t, e->methods[m].name);
    for (size_t k = 0; k < TOLERANCE_MEASURES; k++)
        for (size_t i = 0; i < t->comparison[k].pair_count; i++)
            table_line(&out->verdicts, "%s: %s", tolerance_words[k], t->comparison[k].pairs[i].verdict.chars);
    ranking_verdicts(out, &t->ranking, &t->input[0]);
    add_notes(out, t, results);
}

/* ---------------------------------------------------------------- each dataset */

/* LINE_KNOWN: only if some rate has a score. */
#define LINE_HEAD(X)                                                                                         \
    X(LINE_SET, NAMED("set"), words, experiment_set_name(e, line->set))                                      \
    X(LINE_POINT, NAMED("point"), take, &point)                                                              \
    X(LINE_METHOD, NAMED("method"), words, e->methods[line->method].name)
#define LINE_KNOWN(X)                                                                                        \
    X(LINE_BEST, (.head = "best rate", .csv = "best_lr", .json = "best_lr", .number = 1, .digits = 3),       \
      number, t->rates[range->best])                                                                         \
    X(LINE_MEAN, DATA("mean"), number, line->score.mean)                                                     \
    X(LINE_ERROR, DATA("standard_error"), number, line->score.error)                                         \
    X(LINE_SHOWN, (.number = 1), mean, line->score.mean, line->score.error)                                  \
    X(LINE_LOW, (.head = "from", .csv = "from_lr", .json = "from_lr", .number = 1, .digits = 3), number,     \
      t->rates[range->low])                                                                                  \
    X(LINE_HIGH, (.head = "to", .csv = "to_lr", .json = "to_lr", .number = 1, .digits = 3), number,          \
      t->rates[range->high])                                                                                 \
    X(LINE_FACTOR, (.head = "tolerance", .number = 1), factor, line->factor,                                 \
      line->low_edge || line->high_edge)                                                                     \
    X(LINE_NUMBER, DATA("tolerance"), number, line->factor)                                                  \
    X(LINE_LOW_EDGE, DATA("from_edge"), flag, line->low_edge)                                                \
    X(LINE_HIGH_EDGE, DATA("to_edge"), flag, line->high_edge)
#define LINE_COUNTS(X)                                                                                       \
    X(LINE_LOST, (.head = "rates diverged", .csv = "diverged_rates", .json = "diverged_rates", .number = 1), \
      count, line->lost)
#define LINE_STEP(X, id, times, k)                                                                           \
    X(id, (.head = "at " times " x", .number = 1), loss, line->loss[k], isfinite(line->loss[k]) != 0,        \
      isinf(line->loss[k]) != 0, 0)                                                                          \
    X(id##_NUMBER, DATA("loss_" times), number, line->loss[k])                                               \
    X(id##_LOST, DATA("diverged_" times), flag, isinf(line->loss[k]) != 0)
#define LINE_STEPS(X)                                                                                        \
    LINE_STEP(X, LINE_THREE, "3", TOLERANCE_THREE) LINE_STEP(X, LINE_TEN, "10", TOLERANCE_TEN)
#define LINE_SPLITS(X)                                                                                       \
    X(LINE_FACTORS, (.json = "log10_tolerance_by_split"), list, t->split[TOLERANCE_FACTOR] + splits,         \
      t->seeds)                                                                                              \
    X(LINE_LARGEST, (.json = "log10_largest_by_split"), list, t->split[TOLERANCE_LARGEST] + splits, t->seeds)
#define LINES(X) LINE_HEAD(X) LINE_KNOWN(X) LINE_COUNTS(X) LINE_STEPS(X) LINE_SPLITS(X)

enum { LINES(TABLE_ID) LINE_COLUMNS };

static void add_line_columns(struct table *out, const struct results *results)
{
    static const struct table_column columns[LINE_COLUMNS] = {LINES(TABLE_ROW)}, none;
    const struct sph_experiment *e = results->experiment;
    for (int c = 0; c < LINE_COLUMNS; c++)
        if (c == LINE_SHOWN)
            table_made_column(out, columns[c], "%s", results->facts.metric);
        else if ((c == LINE_SET && !e->set_count) || (c == LINE_POINT && e->grid.count < 2))
            table_column(out, none);
        else
            table_column(out, columns[c]);
}

static void fill_line(struct table *out, size_t row, const struct results *results, size_t axis)
{
    const struct sph_experiment *e = results->experiment;
    const struct tolerance *t = &results->tolerance;
    const struct tolerance_line *line = &t->lines[row];
    const struct tolerance_range *range = &line->range;
    size_t splits = (line->method * t->groups + row / t->methods) * t->seeds;
    struct text point = {0};
    experiment_add_other_keys(e, line->point, axis, &point);
    LINE_HEAD(TABLE_CELL)
    LINE_COUNTS(TABLE_CELL)
    LINE_SPLITS(TABLE_CELL)
    if (!line->known) {
        table_missing(out, row, LINE_FACTOR);
        return;
    }
    LINE_KNOWN(TABLE_CELL)
    LINE_STEPS(TABLE_CELL)
}

void tolerance_table(struct table *out, const struct results *results)
{
    const struct tolerance *t = &results->tolerance;
    size_t axis = 0;
    *out = (struct table){0};
    if (!t->rates)
        return;
    while (results->experiment->grid.axes[axis].id != OPTION_LR) /* t->rates implies this key */
        axis++;
    add_line_columns(out, results);
    table_rows(out, t->groups * t->methods);
    for (size_t i = 0; i < t->groups * t->methods; i++)
        fill_line(out, i, results, axis);
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
