/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "report/tables.h"

#define PAIR      "comparison."
#define TEST      PAIR "wilcoxon."
#define RESAMPLED PAIR "resampled_t."

/* Columns for programs, then columns for readers (see TABLE_IDS). PAIR and COMPARED columns are empty for the reference. */
#define PROGRAM_COLUMNS(X)                                                                                   \
    X(METHOD, (.head = "method", .csv = "method", .json = "name"), words, method->name)                      \
    X(EXPERIMENT, (.csv = "experiment"), words, input->experiment)                                           \
    X(SET, (.csv = "set"), words, input->set)                                                                \
    X(METRIC, (.csv = "metric"), words, input->metric)                                                       \
    X(LARGER, (.csv = "larger_is_better"), flag, input->larger_is_better)                                    \
    X(PROTOCOL, (.csv = "protocol"), words, input->protocol)                                                 \
    X(CASES, (.csv = "cases"), count, input->cases)                                                          \
    X(N, (.csv = "n", .json = "n"), count, line->summary.n)                                                  \
    X(MEAN, (.csv = "mean", .json = "mean"), number, line->summary.mean)                                     \
    X(ERROR, (.csv = "standard_error", .json = "standard_error"), number, line->summary.error)               \
    X(LEAST, (.csv = "least", .json = "least"), number, line->summary.least)                                 \
    X(MOST, (.csv = "most", .json = "most"), number, line->summary.most)                                     \
    X(RANK, (.csv = "rank", .json = "rank"), number, line->rank)                                             \
    X(VALUES, (.json = "values"), list, method->value, input->cases)                                         \
    X(FAILED, (.csv = "failed", .json = "failed"), count, method->failed)                                    \
    X(REASON, (.csv = "reason", .json = "reason"), words, method->reason)                                    \
    X(CHOSEN, (.csv = "chosen", .json = "chosen"), words, method->chosen)                                    \
    X(EDGE, (.csv = "edge", .json = "edge"), words, method->edge)                                            \
    X(SECONDS, (.csv = "seconds", .json = "seconds"), number, method->seconds)                               \
    X(BESIDE, (.csv = "beside", .json = "beside.metric"), words, input->beside)                              \
    X(BESIDE_MEAN, (.csv = "beside_mean", .json = "beside.mean"), number, line->beside.mean)                 \
    X(BESIDE_ERROR, (.csv = "beside_error", .json = "beside.standard_error"), number, line->beside.error)

#define PAIR_COLUMNS(X)                                                                                      \
    X(REFERENCE, (.csv = "reference", .json = PAIR "reference"), words,                                      \
      input->methods[pair->reference].name)                                                                  \
    X(PAIRS, (.csv = "pairs", .json = PAIR "pairs"), count, pair->pairs)                                     \
    X(LEFT_OUT, (.csv = "left_out", .json = PAIR "left_out"), count, pair->left_out)                         \
    X(BETTER, (.csv = "reference_better", .json = PAIR "reference_better"), count, pair->better)             \
    X(WORSE, (.csv = "reference_worse", .json = PAIR "reference_worse"), count, pair->worse)                 \
    X(EQUAL, (.csv = "equal", .json = PAIR "equal"), count, pair->equal)                                     \
    X(DIFFERENCE, (.csv = "difference", .json = PAIR "difference"), number, pair->difference)                \
    X(INTERVAL, (.json = PAIR "interval"), interval, pair->interval.low, pair->interval.high)                \
    X(LOW, (.csv = "low"), number, pair->interval.low)                                                       \
    X(HIGH, (.csv = "high"), number, pair->interval.high)                                                    \
    X(LEVEL, (.csv = "level", .json = PAIR "level"), number, COMPARISON_PERCENT / 100.0)                     \
    X(RESAMPLES, (.json = PAIR "resamples"), count, COMPARISON_RESAMPLES)                                    \
    X(TEST_N, (.csv = "wilcoxon_n", .json = TEST "n"), count, pair->test.n)                                  \
    X(STATISTIC, (.csv = "wilcoxon_statistic", .json = TEST "statistic"), number, pair->test.statistic)      \
    X(P, (.csv = "p", .json = TEST "p"), number, pair->test.p)                                               \
    X(EXACT, (.csv = "p_exact", .json = TEST "exact"), flag, pair->test.exact)                               \
    X(CORRECTED, (.csv = "p_corrected", .json = TEST "corrected"), number, pair->corrected)                  \
    X(T, (.csv = "t", .json = RESAMPLED "t"), number, pair->t.t)                                             \
    X(T_P, (.csv = "t_p", .json = RESAMPLED "p"), number, pair->t.p)                                         \
    X(T_CORRECTED, (.csv = "t_p_corrected", .json = RESAMPLED "corrected"), number, pair->t_corrected)       \
    X(SIGNIFICANT, (.csv = "significant", .json = PAIR "significant"), flag, pair->significant)              \
    X(VERDICT, (.csv = "verdict", .json = PAIR "verdict"), words, pair->verdict.chars)

#define READER_COLUMNS(X)                                                                                    \
    X(WARNING, (.csv = "warning"), words, input->warning)                                                    \
    X(SHOWN_MEAN, (.number = 1), mean, line->summary.mean, line->summary.error)                              \
    X(SHOWN_BESIDE, (.number = 1), mean, line->beside.mean, line->beside.error)                              \
    X(SHOWN_N, (.head = "n", .number = 1), count, line->summary.n)                                           \
    X(SHOWN_RANK, (.head = "rank", .number = 1, .fixed = 1), number, line->rank)

#define COMPARED_COLUMNS(X)                                                                                  \
    X(SHOWN_DIFFERENCE, (.number = 1), within, pair->difference,                                             \
      (pair->interval.high - pair->interval.low) / 2)                                                        \
    X(SHOWN_INTERVAL, (.number = 1), interval, pair->interval.low, pair->interval.high)                      \
    X(SHOWN_P, (.head = "p", .number = 1), p, pair->test.p, !pair->test.exact && pair->test.n)               \
    X(SHOWN_CORRECTED, (.head = "corrected", .number = 1), p, pair->corrected,                               \
      !pair->test.exact && pair->test.n)                                                                     \
    X(SHOWN_T, (.head = "t-test", .number = 1), p, pair->t.p, 0)

#define LAST_COLUMNS(X)                                                                                      \
    X(SHOWN_CHOSEN, (.head = "chosen"), words, method->chosen)                                               \
    X(SHOWN_SECONDS, (.head = "s/job", .number = 1, .digits = 3), number, method->seconds)

#define ALL_COLUMNS(X)                                                                                       \
    PROGRAM_COLUMNS(X) PAIR_COLUMNS(X) READER_COLUMNS(X) COMPARED_COLUMNS(X) LAST_COLUMNS(X)

TABLE_IDS(ALL_COLUMNS);
static const struct table_column columns[COLUMNS] = {ALL_COLUMNS(TABLE_ROW)};

static void add_columns(struct table *out, const struct comparison *comparison)
{
    int chosen = 0, seconds = 0, beside = 0;
    for (size_t m = 0; m < comparison->input->count; m++) {
        chosen |= comparison->input->methods[m].chosen != NULL;
        beside |= comparison->lines[m].beside.n > 0;
        seconds |= isfinite(comparison->input->methods[m].seconds) != 0;
    }
    for (int c = 0; c < COLUMNS; c++) {
        struct table_column column = columns[c];
        if ((c == SHOWN_RANK && comparison->input->count < 2) || (c == SHOWN_CHOSEN && !chosen) ||
            (c == SHOWN_SECONDS && !seconds) || (c == SHOWN_CORRECTED && comparison->family < 2) ||
            (c == SHOWN_T && !(comparison->input->overlap > 0)))
            column.head = NULL;
        if (c == SET && !comparison->input->set)
            column.csv = NULL;
        if (!beside && (c == BESIDE || c == BESIDE_MEAN || c == BESIDE_ERROR))
            column.csv = column.json = NULL;
        if (c == SHOWN_BESIDE && beside)
            table_made_column(out, column, "%s", comparison->input->beside);
        else if (c == SHOWN_MEAN)
            table_made_column(out, column, "%s", comparison->input->metric);
        else if (c == SHOWN_DIFFERENCE && comparison->reference)
            table_made_column(out, column, "minus %s", comparison->reference);
        else if (c == SHOWN_INTERVAL)
            table_made_column(out, column, "%d %% interval", COMPARISON_PERCENT);
        else
            table_column(out, column);
    }
}

static void fill_pair(struct table *out, size_t row, const struct comparison *comparison,
                      const struct comparison_pair *pair)
{
    const struct comparison_input *input = comparison->input;
    PAIR_COLUMNS(TABLE_CELL)
    COMPARED_COLUMNS(TABLE_CELL)
    if (!pair->pairs) {
        table_missing(out, row, SHOWN_P);
        table_missing(out, row, SHOWN_CORRECTED);
    }
}

static void fill_row(struct table *out, size_t row, const struct comparison *comparison)
{
    const struct comparison_input *input = comparison->input;
    const struct comparison_method *method = &input->methods[row];
    const struct comparison_line *line = &comparison->lines[row];
    const struct comparison_pair *pair = line->pair;
    PROGRAM_COLUMNS(TABLE_CELL)
    READER_COLUMNS(TABLE_CELL)
    LAST_COLUMNS(TABLE_CELL)
    if (pair)
        fill_pair(out, row, comparison, pair);
    if (line->summary.n < input->cases)
        table_text(out, row, SHOWN_N, "%zu/%zu", line->summary.n, input->cases);
    if (!method->failed)
        return;
    table_mark(out, row, SHOWN_N, MARK_BAD);
    table_below(out, row, "%zu job%s failed%s%s%s", method->failed, method->failed == 1 ? "" : "s",
                method->reason && method->failed > 1 ? ", the first" : "", method->reason ? ": " : "",
                method->reason ? method->reason : "");
}

/* ---------------------------------------------------------------- the best */

/* MARK_BEST if the method differs significantly from every other one and the test part selected nothing. */
static enum table_mark mark_of(const struct comparison *comparison, size_t row)
{
    size_t told_apart = 0;
    for (size_t i = 0; i < comparison->pair_count; i++) {
        const struct comparison_pair *pair = &comparison->pairs[i];
        told_apart += (pair->method == row || pair->reference == row) && comparison_settled(pair);
    }
    return !comparison->input->warning && told_apart + 1 == comparison->input->count ? MARK_BEST : MARK_LEAD;
}

static void mark_best(struct table *out, const struct comparison *comparison)
{
    double best = comparison_best(comparison);
    for (size_t m = 0; m < comparison->input->count && comparison->input->count > 1; m++)
        if (same_number(comparison->lines[m].summary.mean, best))
            table_mark(out, m, SHOWN_MEAN, mark_of(comparison, m));
}

/* ---------------------------------------------------------------- sentences */

void comparison_notes(struct text *notes, const struct comparison *const *list, size_t count)
{
    int approximate = 0, small = 0, overlaps = 0, compared = 0;
    const char *p_words = "p: Wilcoxon's signed-rank test, two-sided";
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < list[k]->pair_count; i++) {
            const struct comparison_pair *pair = &list[k]->pairs[i];
            approximate |= pair->pairs && !pair->test.exact && pair->test.n;
            small |= pair->pairs > 1 && pair->pairs < FEW_SPLITS;
            overlaps |= list[k]->input->overlap > 0;
            compared = 1;
        }
    table_line(notes, "+- is the standard error of the mean over splits.");
    if (!compared)
        return;
    table_line(notes, "Intervals: %d %% of %d resamples of the splits%s.", COMPARISON_PERCENT,
               COMPARISON_RESAMPLES, small ? "; with fewer than 10 splits they are too narrow" : "");
    if (list[0]->family > 1)
        table_line(
            notes, "%s%s; corrected: p corrected for %zu comparisons by Holm, which decides significance.",
            p_words, approximate ? "; ~ is the normal approximation, used for more than 50 splits" : "",
            list[0]->family);
    else
        table_line(notes, "%s%s.", p_words,
                   approximate ? "; ~ is the normal approximation, used for more than 50 splits" : "");
    if (overlaps)
        table_line(notes,
                   "t-test: p of the resampled t-test (Nadeau and Bengio), since the splits overlap; not "
                   "corrected for the number of comparisons.");
}

/* Values that were chosen at the edge of the grid, beyond which there might be better ones. */
static void add_edges(struct table *out, const struct comparison_input *input)
{
    struct text words = {0};
    for (size_t m = 0; m < input->count; m++)
        if (input->methods[m].edge)
            text_add(&words, "%s%s: %s", words.length ? ". " : "", input->methods[m].name,
                     input->methods[m].edge);
    if (words.length && !words.failed)
        table_line(&out->notes, "Chosen at the edge of the grid: %s.", words.chars);
    out->failed |= words.failed;
    text_free(&words);
}

/* The score of a constant prediction, and the methods whose mean is no better. */
static void add_baseline(struct table *out, const struct comparison *comparison)
{
    const struct comparison_input *input = comparison->input;
    struct text words = {0}, score = {0};
    size_t behind = 0;
    if (!input->baseline_cases)
        return;
    for (size_t m = 0; m < input->count; m++) {
        double mean = comparison->lines[m].summary.mean;
        int ahead = input->larger_is_better ? mean > input->baseline : mean < input->baseline;
        if (!comparison->lines[m].summary.n || ahead)
            continue;
        text_add(&words, "%s%s", behind++ ? ", " : "; not better than it: ", input->methods[m].name);
    }
    int large = input->baseline >= 1e4 && input->baseline < 1e9;
    text_add_general(&score, large ? 9 : 4, large ? round(input->baseline) : input->baseline);
    if (!words.failed && !score.failed)
        table_line(&out->notes,
                   "Baseline, which predicts the training mean or the class frequencies: %s %s%s%s.",
                   input->metric, score.chars, words.length ? words.chars : "",
                   behind && sph_word_find(SPH_WORDS_METRIC, input->metric) == SPH_METRIC_ACCURACY
                       ? "; for imbalanced classes use metric: auc"
                       : "");
    out->failed |= words.failed || score.failed;
    text_free(&words);
    text_free(&score);
}

static void add_notes(struct table *out, const struct comparison *comparison)
{
    add_baseline(out, comparison);
    add_edges(out, comparison->input);
    if (!comparison->input->set) /* with several datasets, the overall table has the notes */
        comparison_notes(&out->notes, &comparison, 1);
    if (comparison->reference && comparison->input->reference_method < 0)
        table_line(&out->notes,
                   "%s is the reference because its mean is best, which biases the comparison in its favor.",
                   comparison->reference);
}

void comparison_table(struct table *out, const struct comparison *comparison)
{
    const struct comparison_input *input = comparison->input;
    *out = (struct table){.warning = input->warning};
    table_line(&out->title, "%s%s%s: %s (%s is better), protocol %s, %zu split%s",
               input->set ? input->set : input->experiment, input->set ? " of " : "",
               input->set ? input->experiment : "", input->metric,
               input->larger_is_better ? "larger" : "smaller", input->protocol, input->cases,
               input->cases == 1 ? "" : "s");
    add_columns(out, comparison);
    table_rows(out, input->count);
    for (size_t m = 0; m < input->count; m++)
        fill_row(out, m, comparison);
    for (size_t i = 0; i < comparison->pair_count; i++)
        table_line(&out->verdicts, "%s", comparison->pairs[i].verdict.chars);
    mark_best(out, comparison);
    add_notes(out, comparison);
}

/* The column describes a pair of methods. */
static int is_of_pair(int c)
{
#define COLUMN_IS(id, column, kind, ...) || c == (id)
    return c == METHOD || c == SET PAIR_COLUMNS(COLUMN_IS) COMPARED_COLUMNS(COLUMN_IS);
}

void pairs_table(struct table *out, const struct comparison *comparison)
{
    *out = (struct table){0};
    if (comparison->reference || !comparison->pair_count)
        return;
    table_line(&out->caption, "%s%sall pairs: the first minus the second",
               comparison->input->set ? comparison->input->set : "", comparison->input->set ? ", " : "");
    for (int c = 0; c < COLUMNS; c++) {
        struct table_column column = is_of_pair(c) ? columns[c] : (struct table_column){0};
        if (c == REFERENCE)
            column.head = "and";
        if ((c == SHOWN_CORRECTED && comparison->family < 2) ||
            (c == SHOWN_T && !(comparison->input->overlap > 0)))
            column.head = NULL;
        if (c == SET && !comparison->input->set)
            column.csv = NULL;
        if (c == SHOWN_DIFFERENCE)
            column.head = "difference";
        if (c == SHOWN_INTERVAL)
            table_made_column(out, column, "%d %% interval", COMPARISON_PERCENT);
        else
            table_column(out, column);
    }
    table_rows(out, comparison->pair_count);
    for (size_t i = 0; i < comparison->pair_count; i++) {
        const struct comparison_pair *pair = &comparison->pairs[i];
        table_words(out, i, METHOD, comparison->input->methods[pair->method].name);
        table_words(out, i, SET, comparison->input->set);
        fill_pair(out, i, comparison, pair);
        if (comparison_settled(pair))
            table_mark(out, i, SHOWN_DIFFERENCE, MARK_LEAD);
    }
}

json_t *comparison_to_json(const struct comparison *comparison, const struct table *table,
                           const struct table *pairs)
{
    const struct comparison_input *input = comparison->input;
    int paired = pairs && pairs->row_count;
    return JSON_OF({"experiment", json_words(input->experiment)},
                   JSON_IF(input->set, "set", json_words(input->set)), {"metric", json_words(input->metric)},
                   {"larger_is_better", json_boolean(input->larger_is_better)},
                   {"protocol", json_words(input->protocol)}, {"warning", json_words(input->warning)},
                   {"cases", json_count(input->cases)}, {"reference", json_words(comparison->reference)},
                   {"comparisons", json_count(comparison->family)}, {"methods", table_to_json(table)},
                   JSON_IF(paired, "pairs", table_to_json(pairs)));
}
