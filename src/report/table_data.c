/* SPDX-License-Identifier: MIT
 *
 * The table for programs: CSV and JSON, all digits. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "file/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "report/table.h"

/* ---------------------------------------------------------------- CSV */

static void add_cell(struct text *out, const char *text)
{
    text_add(out, ",");
    if (!text)
        return;
    if (!strpbrk(text, ",\"\r\n") && *text != ' ') {
        text_add(out, "%s", text);
        return;
    }
    text_add(out, "\"");
    for (; *text; text++)
        text_add(out, *text == '"' ? "\"\"" : "%c", *text);
    text_add(out, "\"");
}

static void add_real(struct text *out, double value)
{
    text_add(out, ",");
    if (isfinite(value))
        text_add_exact(out, value);
}

static void add_size(struct text *out, size_t value)
{
    text_add(out, ",%zu", value);
}

static void add_pair(struct text *out, const struct comparison *comparison,
                     const struct comparison_pair *pair)
{
    if (!pair->verdict.chars) {
        text_add(out, ",,,,,,,,,,,,,,,"); /* as many cells as below */
        return;
    }
    add_cell(out, comparison->reference);
    add_size(out, pair->pairs);
    add_size(out, pair->left_out);
    add_size(out, pair->better);
    add_size(out, pair->worse);
    add_size(out, pair->equal);
    add_real(out, pair->difference);
    add_real(out, pair->interval.low);
    add_real(out, pair->interval.high);
    add_real(out, COMPARISON_PERCENT / 100.0);
    add_size(out, pair->test.n);
    add_real(out, pair->test.statistic);
    add_real(out, pair->test.p);
    add_cell(out, pair->test.exact ? "true" : "false");
    add_cell(out, pair->verdict.chars);
}

int table_add_csv(const struct comparison *comparison, struct text *out)
{
    const struct comparison_input *input = comparison->input;
    text_add(out,
             "method,experiment,metric,larger_is_better,protocol,cases,n,mean,standard_error,least,most,rank,"
             "failed,reason,chosen,seconds,reference,pairs,left_out,reference_better,reference_worse,equal,"
             "difference,low,high,level,wilcoxon_n,wilcoxon_statistic,p,p_exact,verdict,warning\n");
    for (size_t m = 0; m < input->count; m++) {
        const struct comparison_method *method = &input->methods[m];
        const struct comparison_line *line = &comparison->lines[m];
        struct text row = {0};
        add_cell(&row, method->name);
        add_cell(&row, input->experiment);
        add_cell(&row, input->metric);
        add_cell(&row, input->larger_is_better ? "true" : "false");
        add_cell(&row, input->protocol);
        add_size(&row, input->cases);
        add_size(&row, line->summary.n);
        add_real(&row, line->summary.mean);
        add_real(&row, line->summary.error);
        add_real(&row, line->summary.least);
        add_real(&row, line->summary.most);
        add_real(&row, line->rank);
        add_size(&row, method->failed);
        add_cell(&row, method->reason);
        add_cell(&row, method->chosen);
        add_real(&row, method->seconds);
        add_pair(&row, comparison, &line->pair);
        add_cell(&row, input->warning);
        if (row.failed)
            out->failed = 1;
        else
            text_add(out, "%s\n", row.chars + 1); /* each cell brought its comma */
        text_free(&row);
    }
    return 0;
}

/* ---------------------------------------------------------------- JSON */

/* NULL is null. Text that is not UTF-8 (part of a file in a message) keeps its ASCII. */
static json_t *json_words(const char *text)
{
    if (!text)
        return json_null();
    if (text_is_utf8(text))
        return json_string(text);
    char *copy = mem_text(text);
    if (!copy)
        return NULL;
    for (char *c = copy; *c; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    json_t *value = json_string(copy);
    mem_free(copy);
    return value;
}

static json_t *json_size(size_t value)
{
    return json_integer((json_int_t)value);
}

/* The pair as an object; null for the reference itself. NULL: out of memory. */
static json_t *json_pair(const struct comparison *comparison, const struct comparison_pair *pair)
{
    if (!pair->verdict.chars)
        return json_null();
    json_t *object = json_object(), *test = json_object(), *interval = json_array();
    int bad = 0;
    bad |= json_object_set_new(object, "reference", json_words(comparison->reference));
    bad |= json_object_set_new(object, "pairs", json_size(pair->pairs));
    bad |= json_object_set_new(object, "left_out", json_size(pair->left_out));
    bad |= json_object_set_new(object, "reference_better", json_size(pair->better));
    bad |= json_object_set_new(object, "reference_worse", json_size(pair->worse));
    bad |= json_object_set_new(object, "equal", json_size(pair->equal));
    bad |= json_object_set_new(object, "difference", json_number(pair->difference));
    bad |= json_array_append_new(interval, json_number(pair->interval.low));
    bad |= json_array_append_new(interval, json_number(pair->interval.high));
    bad |= json_object_set(object, "interval", interval);
    bad |= json_object_set_new(object, "level", json_number(COMPARISON_PERCENT / 100.0));
    bad |= json_object_set_new(object, "resamples", json_size(COMPARISON_RESAMPLES));
    bad |= json_object_set_new(test, "n", json_size(pair->test.n));
    bad |= json_object_set_new(test, "statistic", json_number(pair->test.statistic));
    bad |= json_object_set_new(test, "p", json_number(pair->test.p));
    bad |= json_object_set_new(test, "exact", json_boolean(pair->test.exact));
    bad |= json_object_set(object, "wilcoxon", test);
    bad |= json_object_set_new(object, "verdict", json_words(pair->verdict.chars));
    json_decref(interval);
    json_decref(test);
    if (bad) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static json_t *json_line(const struct comparison *comparison, size_t m)
{
    const struct comparison_method *method = &comparison->input->methods[m];
    const struct comparison_line *line = &comparison->lines[m];
    json_t *object = json_object();
    int bad = 0;
    bad |= json_object_set_new(object, "name", json_words(method->name));
    bad |= json_object_set_new(object, "n", json_size(line->summary.n));
    bad |= json_object_set_new(object, "mean", json_number(line->summary.mean));
    bad |= json_object_set_new(object, "standard_error", json_number(line->summary.error));
    bad |= json_object_set_new(object, "least", json_number(line->summary.least));
    bad |= json_object_set_new(object, "most", json_number(line->summary.most));
    bad |= json_object_set_new(object, "rank", json_number(line->rank));
    bad |= json_object_set_new(object, "values", json_numbers(method->value, comparison->input->cases));
    bad |= json_object_set_new(object, "failed", json_size(method->failed));
    bad |= json_object_set_new(object, "reason", json_words(method->reason));
    bad |= json_object_set_new(object, "chosen", json_words(method->chosen));
    bad |= json_object_set_new(object, "seconds", json_number(method->seconds));
    bad |= json_object_set_new(object, "comparison", json_pair(comparison, &line->pair));
    if (bad) {
        json_decref(object);
        return NULL;
    }
    return object;
}

int table_add_json(const struct comparison *comparison, struct text *out)
{
    const struct comparison_input *input = comparison->input;
    json_t *table = json_object(), *methods = json_array();
    int bad = 0;
    bad |= json_object_set_new(table, "experiment", json_words(input->experiment));
    bad |= json_object_set_new(table, "metric", json_words(input->metric));
    bad |= json_object_set_new(table, "larger_is_better", json_boolean(input->larger_is_better));
    bad |= json_object_set_new(table, "protocol", json_words(input->protocol));
    bad |= json_object_set_new(table, "warning", json_words(input->warning));
    bad |= json_object_set_new(table, "cases", json_size(input->cases));
    bad |= json_object_set_new(table, "reference", json_words(comparison->reference));
    for (size_t m = 0; m < input->count; m++)
        bad |= json_array_append_new(methods, json_line(comparison, m));
    bad |= json_object_set(table, "methods", methods);
    int err = bad ? sph_fail(SPH_EMEMORY, "out of memory while writing a table") : json_print(out, table, 2);
    if (!err)
        text_add(out, "\n");
    json_decref(methods);
    json_decref(table);
    return err;
}
