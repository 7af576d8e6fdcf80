/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/error.h"
#include "report/tables.h"

/* Columns for programs, then those for readers. */
enum {
    METHOD,
    EXPERIMENT,
    METRIC,
    LARGER,
    PROTOCOL,
    CASES,
    N,
    MEAN,
    ERROR,
    LEAST,
    MOST,
    RANK,
    VALUES,
    FAILED,
    REASON,
    CHOSEN,
    SECONDS,
    REFERENCE,
    PAIRS,
    LEFT_OUT,
    BETTER,
    WORSE,
    EQUAL,
    DIFFERENCE,
    INTERVAL,
    LOW,
    HIGH,
    LEVEL,
    RESAMPLES,
    TEST_N,
    STATISTIC,
    P,
    EXACT,
    VERDICT,
    WARNING,
    SHOWN_MEAN,
    SHOWN_N,
    SHOWN_RANK,
    SHOWN_DIFFERENCE,
    SHOWN_INTERVAL,
    SHOWN_P,
    SHOWN_CHOSEN,
    SHOWN_SECONDS,
    COLUMNS
};

#define PAIR "comparison."
#define TEST PAIR "wilcoxon."

static const struct table_column columns[COLUMNS] = {
    [METHOD] = {.head = "method", .csv = "method", .json = "name"},
    [EXPERIMENT] = {.csv = "experiment"},
    [METRIC] = {.csv = "metric"},
    [LARGER] = {.csv = "larger_is_better"},
    [PROTOCOL] = {.csv = "protocol"},
    [CASES] = {.csv = "cases"},
    [N] = {.csv = "n", .json = "n"},
    [MEAN] = {.csv = "mean", .json = "mean"},
    [ERROR] = {.csv = "standard_error", .json = "standard_error"},
    [LEAST] = {.csv = "least", .json = "least"},
    [MOST] = {.csv = "most", .json = "most"},
    [RANK] = {.csv = "rank", .json = "rank"},
    [VALUES] = {.json = "values"},
    [FAILED] = {.csv = "failed", .json = "failed"},
    [REASON] = {.csv = "reason", .json = "reason"},
    [CHOSEN] = {.csv = "chosen", .json = "chosen"},
    [SECONDS] = {.csv = "seconds", .json = "seconds"},
    [REFERENCE] = {.csv = "reference", .json = PAIR "reference"},
    [PAIRS] = {.csv = "pairs", .json = PAIR "pairs"},
    [LEFT_OUT] = {.csv = "left_out", .json = PAIR "left_out"},
    [BETTER] = {.csv = "reference_better", .json = PAIR "reference_better"},
    [WORSE] = {.csv = "reference_worse", .json = PAIR "reference_worse"},
    [EQUAL] = {.csv = "equal", .json = PAIR "equal"},
    [DIFFERENCE] = {.csv = "difference", .json = PAIR "difference"},
    [INTERVAL] = {.json = PAIR "interval"},
    [LOW] = {.csv = "low"},
    [HIGH] = {.csv = "high"},
    [LEVEL] = {.csv = "level", .json = PAIR "level"},
    [RESAMPLES] = {.json = PAIR "resamples"},
    [TEST_N] = {.csv = "wilcoxon_n", .json = TEST "n"},
    [STATISTIC] = {.csv = "wilcoxon_statistic", .json = TEST "statistic"},
    [P] = {.csv = "p", .json = TEST "p"},
    [EXACT] = {.csv = "p_exact", .json = TEST "exact"},
    [VERDICT] = {.csv = "verdict", .json = PAIR "verdict"},
    [WARNING] = {.csv = "warning"},
    [SHOWN_MEAN] = {.number = 1},
    [SHOWN_N] = {.head = "n", .number = 1},
    [SHOWN_RANK] = {.head = "rank", .number = 1, .fixed = 1},
    [SHOWN_DIFFERENCE] = {.number = 1},
    [SHOWN_INTERVAL] = {.number = 1},
    [SHOWN_P] = {.head = "p", .number = 1},
    [SHOWN_CHOSEN] = {.head = "chosen"},
    [SHOWN_SECONDS] = {.head = "s/job", .number = 1, .digits = 3},
};

static void add_columns(struct table *out, const struct comparison *comparison)
{
    int chosen = 0, seconds = 0;
    for (size_t m = 0; m < comparison->input->count; m++) {
        chosen |= comparison->input->methods[m].chosen != NULL;
        seconds |= isfinite(comparison->input->methods[m].seconds) != 0;
    }
    for (int c = 0; c < COLUMNS; c++) {
        struct table_column column = columns[c];
        if ((c == SHOWN_RANK && comparison->input->count < 2) || (c == SHOWN_CHOSEN && !chosen) ||
            (c == SHOWN_SECONDS && !seconds))
            column.head = NULL;
        if (c == SHOWN_MEAN)
            table_made_column(out, column, "%s", comparison->input->metric);
        else if (c == SHOWN_DIFFERENCE && comparison->reference)
            table_made_column(out, column, "minus %s", comparison->reference);
        else if (c == SHOWN_INTERVAL)
            table_made_column(out, column, "%d %% interval", COMPARISON_PERCENT);
        else
            table_column(out, column);
    }
}

/* ---------------------------------------------------------------- rows */

static void fill_pair(struct table *out, size_t row, const struct comparison *comparison,
                      const struct comparison_pair *pair)
{
    double low = pair->interval.low, high = pair->interval.high;
    table_words(out, row, REFERENCE, comparison->reference);
    table_count(out, row, PAIRS, pair->pairs);
    table_count(out, row, LEFT_OUT, pair->left_out);
    table_count(out, row, BETTER, pair->better);
    table_count(out, row, WORSE, pair->worse);
    table_count(out, row, EQUAL, pair->equal);
    table_number(out, row, DIFFERENCE, pair->difference);
    table_interval(out, row, INTERVAL, low, high);
    table_number(out, row, LOW, low);
    table_number(out, row, HIGH, high);
    table_number(out, row, LEVEL, COMPARISON_PERCENT / 100.0);
    table_count(out, row, RESAMPLES, COMPARISON_RESAMPLES);
    table_count(out, row, TEST_N, pair->test.n);
    table_number(out, row, STATISTIC, pair->test.statistic);
    table_number(out, row, P, pair->test.p);
    table_flag(out, row, EXACT, pair->test.exact);
    table_words(out, row, VERDICT, pair->verdict.chars);
    table_within(out, row, SHOWN_DIFFERENCE, pair->difference, (high - low) / 2);
    table_interval(out, row, SHOWN_INTERVAL, low, high);
    if (pair->pairs)
        table_p(out, row, SHOWN_P, pair->test.p, !pair->test.exact && pair->test.n);
    else
        table_missing(out, row, SHOWN_P);
}

static void fill_row(struct table *out, size_t row, const struct comparison *comparison)
{
    const struct comparison_input *input = comparison->input;
    const struct comparison_method *method = &input->methods[row];
    const struct comparison_line *line = &comparison->lines[row];
    const struct summary *summary = &line->summary;
    table_words(out, row, METHOD, method->name);
    table_words(out, row, EXPERIMENT, input->experiment);
    table_words(out, row, METRIC, input->metric);
    table_flag(out, row, LARGER, input->larger_is_better);
    table_words(out, row, PROTOCOL, input->protocol);
    table_count(out, row, CASES, input->cases);
    table_count(out, row, N, summary->n);
    table_number(out, row, MEAN, summary->mean);
    table_number(out, row, ERROR, summary->error);
    table_number(out, row, LEAST, summary->least);
    table_number(out, row, MOST, summary->most);
    table_number(out, row, RANK, line->rank);
    table_list(out, row, VALUES, method->value, input->cases);
    table_count(out, row, FAILED, method->failed);
    table_words(out, row, REASON, method->reason);
    table_words(out, row, CHOSEN, method->chosen);
    table_number(out, row, SECONDS, method->seconds);
    table_words(out, row, WARNING, input->warning);
    table_mean(out, row, SHOWN_MEAN, summary->mean, summary->error);
    if (summary->n < input->cases)
        table_text(out, row, SHOWN_N, "%zu/%zu", summary->n, input->cases);
    else
        table_count(out, row, SHOWN_N, summary->n);
    table_number(out, row, SHOWN_RANK, line->rank);
    table_words(out, row, SHOWN_CHOSEN, method->chosen);
    table_number(out, row, SHOWN_SECONDS, method->seconds);
    if (line->pair.verdict.chars)
        fill_pair(out, row, comparison, &line->pair);
    if (!method->failed)
        return;
    table_mark(out, row, SHOWN_N, MARK_BAD);
    table_below(out, row, "%zu job%s failed%s%s%s", method->failed, method->failed == 1 ? "" : "s",
                method->reason && method->failed > 1 ? ", the first" : "", method->reason ? ": " : "",
                method->reason ? method->reason : "");
}

/* ---------------------------------------------------------------- the best */

/* The best mean as one that the table supports: its row is the reference, or there are no more than two, and
 * every verdict is significant; no part that scores has chosen. Else it is a number that happens to lead. */
static enum table_mark mark_of(const struct comparison *comparison, size_t row)
{
    const struct comparison_input *input = comparison->input;
    int supported = !input->warning && comparison->reference &&
                    (input->count == 2 || !comparison->lines[row].pair.verdict.chars);
    for (size_t m = 0; m < input->count && supported; m++)
        if (comparison->lines[m].pair.verdict.chars)
            supported = comparison->lines[m].pair.significant;
    return supported ? MARK_BEST : MARK_LEAD;
}

static void mark_best(struct table *out, const struct comparison *comparison)
{
    double best = comparison_best(comparison);
    for (size_t m = 0; m < comparison->input->count && comparison->input->count > 1; m++)
        if (comparison->lines[m].summary.mean == best)
            table_mark(out, m, SHOWN_MEAN, mark_of(comparison, m));
}

/* ---------------------------------------------------------------- sentences */

static void add_notes(struct table *out, const struct comparison *comparison)
{
    int approximate = 0, small = 0;
    for (size_t m = 0; m < comparison->input->count; m++) {
        const struct comparison_pair *pair = &comparison->lines[m].pair;
        approximate |= pair->verdict.chars && pair->pairs && !pair->test.exact && pair->test.n;
        small |= pair->verdict.chars && pair->pairs > 1 && pair->pairs < 10;
    }
    table_line(&out->notes, "+- is the standard error of the mean over splits.");
    if (!comparison->reference)
        return;
    table_line(&out->notes, "Intervals: %d %% of %d resamples of the splits%s.", COMPARISON_PERCENT,
               COMPARISON_RESAMPLES, small ? "; of fewer than 10 splits they are too narrow" : "");
    table_line(&out->notes, "p: Wilcoxon's signed-rank test, two-sided%s%s.",
               approximate ? "; ~ is the normal approximation (equal splits, ties, or more than 50)" : "",
               comparison->compared > 1 ? "; each alone, not corrected for the number of comparisons" : "");
    if (comparison->input->reference_method < 0)
        table_line(&out->notes, "%s was made the reference because its mean is best: that flatters it.",
                   comparison->reference);
}

void comparison_table(struct table *out, const struct comparison *comparison)
{
    const struct comparison_input *input = comparison->input;
    *out = (struct table){.warning = input->warning};
    table_line(&out->title, "%s: %s (%s is better), protocol %s, %zu split%s", input->experiment,
               input->metric, input->larger_is_better ? "larger" : "smaller", input->protocol, input->cases,
               input->cases == 1 ? "" : "s");
    add_columns(out, comparison);
    table_rows(out, input->count);
    for (size_t m = 0; m < input->count; m++) {
        fill_row(out, m, comparison);
        if (comparison->lines[m].pair.verdict.chars)
            table_line(&out->verdicts, "%s", comparison->lines[m].pair.verdict.chars);
    }
    mark_best(out, comparison);
    add_notes(out, comparison);
}

json_t *comparison_to_json(const struct comparison *comparison, const struct table *table)
{
    const struct comparison_input *input = comparison->input;
    json_t *object = json_object();
    int bad = !object;
    bad |= json_object_set_new(object, "experiment", json_words(input->experiment));
    bad |= json_object_set_new(object, "metric", json_words(input->metric));
    bad |= json_object_set_new(object, "larger_is_better", json_boolean(input->larger_is_better));
    bad |= json_object_set_new(object, "protocol", json_words(input->protocol));
    bad |= json_object_set_new(object, "warning", json_words(input->warning));
    bad |= json_object_set_new(object, "cases", json_integer((json_int_t)input->cases));
    bad |= json_object_set_new(object, "reference", json_words(comparison->reference));
    bad |= json_object_set_new(object, "methods", table_to_json(table));
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}
