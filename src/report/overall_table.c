/* SPDX-License-Identifier: MIT
 *
 * Methods over several datasets: one row for each method, one column for each dataset, and ranks. */
#include <math.h>

#include "base/memory.h"
#include "report/tables.h"

enum { FEW_SETS = 10 };
enum { SET_SHOWN, SET_MEAN, SET_ERROR, SET_N, SET_COLUMNS };

static void add_columns(struct table *out, const struct results *results)
{
    const struct sph_experiment *e = results->experiment;
    table_column(out, (struct table_column){.head = "method", .csv = "method", .json = "name"});
    for (size_t i = 0; i < e->set_count; i++) {
        table_made_column(out, (struct table_column){.number = 1}, "%s", e->sets[i].name);
        table_data_column(out, "%s_mean", e->sets[i].name);
        table_data_column(out, "%s_standard_error", e->sets[i].name);
        table_data_column(out, "%s_n", e->sets[i].name);
    }
    table_column(out, (struct table_column){.json = "mean"});
    table_column(out, (struct table_column){.json = "standard_error"});
    table_column(
        out, (struct table_column){.head = "rank", .csv = "rank", .json = "rank", .number = 1, .fixed = 2});
}

static void fill_set(struct table *out, const struct comparison *comparison, size_t column)
{
    double best = comparison_best(comparison);
    for (size_t m = 0; m < comparison->input->count; m++) {
        const struct summary *s = &comparison->lines[m].summary;
        table_mean(out, m, column + SET_SHOWN, s->mean, s->error);
        table_number(out, m, column + SET_MEAN, s->mean);
        table_number(out, m, column + SET_ERROR, s->error);
        table_count(out, m, column + SET_N, s->n);
        if (comparison->input->count > 1 && same_number(s->mean, best))
            table_mark(out, m, column + SET_SHOWN, MARK_FIRST);
        else if (s->n < comparison->input->cases)
            table_mark(out, m, column + SET_SHOWN, MARK_BAD);
    }
}

/* The means and errors of a method in the order of the datasets. */
static void fill_lists(struct table *out, size_t method, size_t column, const struct results *results)
{
    size_t count = results->experiment->set_count;
    double *mean = mem_get(count, sizeof *mean), *error = mem_get(count, sizeof *error);
    for (size_t i = 0; i < count && mean && error; i++) {
        const struct summary *s = &results->sets[i].comparison.lines[method].summary;
        mean[i] = s->mean;
        error[i] = s->error;
    }
    out->failed |= !mean || !error;
    if (mean && error) {
        table_list(out, method, column, mean, count);
        table_list(out, method, column + 1, error, count);
    }
    mem_free(mean);
    mem_free(error);
}

static void add_notes(struct table *out, const struct results *results)
{
    size_t count = results->experiment->set_count;
    const struct comparison **list = mem_get(count, sizeof *list);
    if (!list) {
        out->failed = 1;
        return;
    }
    for (size_t i = 0; i < count; i++)
        list[i] = &results->sets[i].comparison;
    comparison_notes(&out->notes, list, count);
    mem_free(list);
    if (results->ranking.rank)
        table_line(&out->notes, "rank: mean over the datasets of the rank of the method's mean; 1 is best, "
                                "and ties share ranks.");
    if (results->ranking.missing)
        table_line(&out->notes, "A method without a score in a dataset has the last rank there.");
}

/* Groups of methods whose ranks do not differ significantly. */
static void add_groups(struct table *out, const struct ranking *r, const struct comparison_input *input)
{
    struct text words = {0};
    size_t from, to, k = 0;
    text_add(&words, "Nemenyi: ranks that differ by less than ");
    text_add_general(&words, 3, r->critical);
    text_add(&words, " do not differ significantly at 5 %%: ");
    for (; ranking_group(r, k, &from, &to); k++) {
        text_add(&words, "%s", k ? "; " : "");
        for (size_t i = from; i <= to; i++)
            text_add(&words, "%s%s", i > from ? ", " : "", input->methods[r->order[i]].name);
    }
    text_add(&words, "%s", k ? "" : "here all are");
    out->failed |= words.failed;
    if (!words.failed)
        table_line(&out->verdicts, "%s", words.chars);
    text_free(&words);
}

void ranking_verdicts(struct table *out, const struct ranking *r, const struct comparison_input *input)
{
    struct text words = {0};
    if (!r->rank || isnan(r->critical))
        return;
    if (isnan(r->chi2)) {
        table_line(&out->verdicts, "All methods are equal in all datasets.");
        return;
    }
    text_add(&words, "Friedman's test over %zu datasets: chi2 ", r->sets);
    text_add_general(&words, 3, r->chi2);
    text_add(&words, ", ");
    comparison_add_equal_p(&words, r->chi2_p);
    if (isinf(r->f)) {
        text_add(&words, "; all datasets rank the methods in the same order");
    } else {
        text_add(&words, "; Iman and Davenport's F ");
        text_add_general(&words, 3, r->f);
        text_add(&words, ", ");
        comparison_add_equal_p(&words, r->f_p);
    }
    text_add(&words, ": %s",
             r->chi2_p <= 0.05 ? "the methods differ significantly" : "no significant difference");
    if (!isinf(r->f) && (r->f_p <= 0.05) != (r->chi2_p <= 0.05))
        text_add(&words, "; but F shows %s",
                 r->f_p <= 0.05 ? "a significant difference" : "no significant difference");
    if (r->sets < FEW_SETS)
        text_add(&words, "; with fewer than %d datasets this is approximate", FEW_SETS);
    out->failed |= words.failed;
    if (!words.failed)
        table_line(&out->verdicts, "%s", words.chars);
    text_free(&words);
    add_groups(out, r, input);
}

void overall_table(struct table *out, const struct results *results)
{
    const struct sph_experiment *e = results->experiment;
    const struct comparison_input *input = &results->sets[0].input;
    const struct ranking *ranking = &results->ranking;
    size_t lists = 1 + e->set_count * SET_COLUMNS, rank = lists + 2;
    *out = (struct table){.warning = input->warning};
    table_line(&out->title, "%s: %s (%s is better), protocol %s, %zu split%s of %zu set%s", input->experiment,
               input->metric, input->larger_is_better ? "larger" : "smaller", input->protocol, input->cases,
               input->cases == 1 ? "" : "s", e->set_count, e->set_count == 1 ? "" : "s");
    add_columns(out, results);
    table_rows(out, input->count);
    for (size_t m = 0; m < input->count; m++) {
        table_words(out, m, 0, input->methods[m].name);
        fill_lists(out, m, lists, results);
        if (ranking->rank)
            table_number(out, m, rank, ranking->rank[m]);
    }
    for (size_t i = 0; i < e->set_count; i++)
        fill_set(out, &results->sets[i].comparison, 1 + i * SET_COLUMNS);
    table_line(&out->notes, "* marks the best mean of a dataset; this is not a test.");
    add_notes(out, results);
    ranking_verdicts(out, ranking, input);
}

static json_t *ranking_to_json(const struct ranking *r)
{
    if (!r->rank)
        return json_null();
    return JSON_OF({"sets", json_count(r->sets)}, {"chi2", json_number(r->chi2)},
                   {"chi2_p", json_number(r->chi2_p)}, {"f", json_number(r->f)}, {"f_p", json_number(r->f_p)},
                   {"critical_difference", json_number(r->critical)});
}

json_t *overall_to_json(const struct results *results, const struct table *table)
{
    const struct comparison_input *input = &results->sets[0].input;
    json_t *names = json_array();
    int bad = !names;
    for (size_t i = 0; i < results->experiment->set_count && !bad; i++)
        bad = json_array_append_new(names, json_words(results->experiment->sets[i].name));
    return JSON_OF({"experiment", json_words(input->experiment)}, {"metric", json_words(input->metric)},
                   {"larger_is_better", json_boolean(input->larger_is_better)},
                   {"protocol", json_words(input->protocol)}, {"warning", json_words(input->warning)},
                   {"cases", json_count(input->cases)}, {"set_names", json_whole(names, bad)},
                   {"friedman", ranking_to_json(&results->ranking)}, {"methods", table_to_json(table)});
}
