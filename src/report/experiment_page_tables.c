/* SPDX-License-Identifier: MIT
 *
 * The results in an experiment's report, from table.json and results.json. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "compare/results.h"
#include "report/experiment_page.h"
#include "report/listing.h"
#include "report/page_table.h"

enum {
    SEEDS_DOWN = 8,      /* up to so many lines of the table are columns, a seed by a row; above, rows */
    LINES_UNFOLDED = 16, /* a longer table of points is folded behind a matrix for each method */
    ROWS_SHOWN = 1000,   /* of a list of jobs */
};

/* ---------------------------------------------------------------- table.json as the table's own input */

struct input {
    struct comparison_input table;
    struct comparison_method *methods; /* (table.count) */
    double *value;                     /* (table.count, cases) */
};

static void free_input(struct input *input)
{
    mem_free(input->methods);
    mem_free(input->value);
}

static int read_method(struct comparison_method *out, double *value, const json_t *method, size_t cases)
{
    const char *where = "table.json";
    const json_t *values;
    int err = json_member_text(method, where, "name", &out->name);
    if (err < 0 || (err = json_member_size(method, where, "failed", &out->failed)) < 0 ||
        (err = json_member_array(method, where, "values", &values)) < 0)
        return err;
    if (json_array_size(values) != cases)
        return sph_fail_at(SPH_EFORMAT, where, "\"values\" has %zu numbers, expected %zu",
                           json_array_size(values), cases);
    for (size_t c = 0; c < cases; c++) {
        const json_t *number = json_array_get(values, c);
        value[c] = json_is_number(number) ? json_number_value(number) : (double)NAN;
    }
    out->value = value;
    out->reason = report_words(method, "reason");
    out->chosen = report_words(method, "chosen");
    out->seconds = (double)NAN;
    return 0;
}

static int read_input(struct input *out, const struct report_source *source)
{
    const char *where = "table.json";
    struct comparison_input *table = &out->table;
    const json_t *methods;
    *out = (struct input){0};
    int err = json_member_text(source->table, where, "experiment", &table->experiment);
    if (err < 0 || (err = json_member_text(source->table, where, "metric", &table->metric)) < 0 ||
        (err = json_member_text(source->table, where, "protocol", &table->protocol)) < 0 ||
        (err = json_member_bool(source->table, where, "larger_is_better", &table->larger_is_better)) < 0 ||
        (err = json_member_size(source->table, where, "cases", &table->cases)) < 0 ||
        (err = json_member_array(source->table, where, "methods", &methods)) < 0)
        return err;
    table->warning = report_words(source->table, "warning");
    table->count = json_array_size(methods);
    table->reference_method = experiment_reference(source->experiment);
    if (table->cases != source->experiment->seed_count)
        return sph_fail_at(SPH_EFORMAT, where, "\"cases\" is %zu, expected the experiment's %zu seeds",
                           table->cases, source->experiment->seed_count);
    table->methods = out->methods = mem_get(table->count, sizeof *out->methods);
    out->value = mem_get(table->count, table->cases * sizeof *out->value);
    if (!out->methods || !out->value)
        err = SPH_EMEMORY;
    for (size_t m = 0; m < table->count && !err; m++)
        err = read_method(&out->methods[m], out->value + m * table->cases, json_array_get(methods, m),
                          table->cases);
    if (err < 0)
        free_input(out);
    return err;
}

/* ---------------------------------------------------------------- the result */

/* "+-" is for terminals. */
static void add_typeset(struct text *out, const char *text)
{
    for (const char *at; (at = strstr(text, "+-")); text = at + 2) {
        text_add_bytes(out, text, (size_t)(at - text));
        text_add(out, "±");
    }
    text_add(out, "%s", text);
}

/* Rows with the best mean of those with most numbers. */
static double best_mean(const struct comparison *comparison)
{
    double best = (double)NAN;
    size_t most = 0;
    for (size_t m = 0; m < comparison->input->count; m++)
        most = comparison->lines[m].summary.n > most ? comparison->lines[m].summary.n : most;
    for (size_t m = 0; m < comparison->input->count; m++) {
        const struct summary *s = &comparison->lines[m].summary;
        if (s->n == most &&
            (isnan(best) || (comparison->input->larger_is_better ? s->mean > best : s->mean < best)))
            best = s->mean;
    }
    return best;
}

/* The best mean as one that the table supports: its row is the reference, or there are no more than two, and
 * every verdict is significant; no part that scores has chosen. Else it is a number that happens to lead. */
static enum report_mark mark_of(const struct comparison *comparison, size_t row)
{
    const struct comparison_input *input = comparison->input;
    int supported = !input->warning && comparison->reference &&
                    (input->count == 2 || !comparison->lines[row].pair.verdict.chars);
    for (size_t m = 0; m < input->count && supported; m++)
        if (comparison->lines[m].pair.verdict.chars)
            supported = comparison->lines[m].pair.significant;
    return supported ? REPORT_BEST : REPORT_LEAD;
}

static int add_grid(struct report *report, const struct comparison *comparison, const struct listing *listing)
{
    struct page_table table;
    double best = best_mean(comparison);
    size_t column = 0;
    int leads = 0;
    int err = page_table_new(&table, listing->rows - 1, listing_shown(listing));
    if (err < 0)
        return err;
    for (size_t c = 0; c < LISTING_COLUMNS; c++) {
        if (!listing->shown[c])
            continue;
        page_table_column(&table, column, listing_cell(listing, 0, c), listing->number[c]);
        for (size_t row = 0; row + 1 < listing->rows; row++) {
            add_typeset(page_table_at(&table, row, column), listing_cell(listing, row + 1, c));
            if (c == LISTING_MEAN && comparison->input->count > 1 &&
                comparison->lines[row].summary.mean == best) {
                page_table_mark(&table, row, column, mark_of(comparison, row));
                leads |= mark_of(comparison, row) == REPORT_LEAD;
            }
            if (c == LISTING_COUNT && comparison->input->methods[row].failed)
                page_table_mark(&table, row, column, REPORT_BAD);
        }
        column++;
    }
    err = report_page_table(report, &table, NULL);
    page_table_free(&table);
    if (!err && leads)
        report_note(report, comparison->input->larger_is_better ? "Bold: the largest mean, not a verdict."
                                                                : "Bold: the smallest mean, not a verdict.");
    return err;
}

/* For each method, means: the last key's values across, the others' down. With one key, the methods down. */
static int add_matrix(const struct report_source *source, const struct comparison *comparison, size_t first,
                      size_t rows, const char *caption)
{
    const struct sph_experiment *e = source->experiment;
    const struct experiment_axis *across = &e->axes[e->axis_count - 1];
    struct page_table table;
    double best = best_mean(comparison);
    int err = page_table_new(&table, rows, across->count + 1);
    if (err < 0)
        return err;
    for (size_t c = 0; c < across->count; c++) {
        text_add(sheet_head(&table, c + 1), "%s %s", option_key(across->id),
                 experiment_value_text(across, c));
        table.number[c + 1] = 1;
    }
    for (size_t row = 0; row < rows; row++) {
        size_t point = row * across->count % experiment_points(e);
        struct text *name = page_table_at(&table, row, 0);
        if (e->axis_count == 1)
            text_add(name, "%s", e->methods[row].name);
        for (size_t a = 0; a + 1 < e->axis_count; a++)
            text_add(name, "%s%s %s", a ? ", " : "", option_key(e->axes[a].id),
                     experiment_value_text(&e->axes[a], experiment_value(e, point, a)));
        for (size_t c = 0; c < across->count; c++) {
            const struct summary *s = &comparison->lines[first + row * across->count + c].summary;
            if (s->n)
                text_add_general(page_table_at(&table, row, c + 1), 4, s->mean);
            else
                text_add(page_table_at(&table, row, c + 1), "-");
            if (s->n && s->mean == best)
                page_table_mark(&table, row, c + 1, REPORT_LEAD);
            else if (s->n < comparison->input->cases)
                page_table_mark(&table, row, c + 1, REPORT_BAD);
        }
    }
    err = report_page_table(source->report, &table, caption);
    page_table_free(&table);
    return err;
}

static int add_matrices(const struct report_source *source, const struct comparison *comparison)
{
    const struct sph_experiment *e = source->experiment;
    const struct experiment_axis *across = &e->axes[e->axis_count - 1];
    size_t points = experiment_points(e);
    int err = 0;
    if (comparison->input->count != e->method_count * points)
        return sph_fail(SPH_EFORMAT, "table.json: %zu lines, expected %zu", comparison->input->count,
                        e->method_count * points);
    if (e->axis_count == 1) {
        char *caption = mem_format("mean %s", comparison->input->metric);
        err = caption ? add_matrix(source, comparison, 0, e->method_count, caption) : SPH_EMEMORY;
        mem_free(caption);
        return err;
    }
    for (size_t m = 0; m < e->method_count && !err; m++) {
        char *caption = mem_format("%s: mean %s", e->methods[m].name, comparison->input->metric);
        err = caption ? add_matrix(source, comparison, m * points, points / across->count, caption)
                      : SPH_EMEMORY;
        mem_free(caption);
    }
    return err;
}

/* Verdicts as a list, notes as one paragraph. */
static int add_words(struct report *report, const struct comparison *comparison,
                     const struct listing *listing)
{
    const char **verdict = mem_get(comparison->input->count, sizeof *verdict);
    struct text lines = {0}, notes = {0};
    size_t count = 0;
    if (!verdict)
        return SPH_EMEMORY;
    for (size_t m = 0; m < comparison->input->count; m++)
        if (comparison->lines[m].pair.verdict.chars)
            verdict[count++] = comparison->lines[m].pair.verdict.chars;
    report_list(report, verdict, count);
    listing_add_notes(&lines, comparison, listing, "", listing_add_plain);
    for (size_t i = 0; i + 1 < lines.length; i++)
        if (lines.chars[i] == '\n')
            lines.chars[i] = ' ';
    add_typeset(&notes, lines.chars ? lines.chars : "");
    int err = lines.failed || notes.failed ? SPH_EMEMORY : 0;
    if (!err)
        report_note(report, notes.chars);
    text_free(&lines);
    text_free(&notes);
    mem_free(verdict);
    return err;
}

static int add_table(const struct report_source *source, const struct comparison *comparison)
{
    const struct sph_experiment *e = source->experiment;
    struct report *report = source->report;
    struct listing listing;
    int matrices = e->all_points && e->axis_count && comparison->input->count > LINES_UNFOLDED;
    int err = listing_make(&listing, comparison);
    if (err < 0)
        return err;
    if (matrices) {
        err = add_matrices(source, comparison);
        report_fold(report, "The same with standard errors, a line for each point");
    }
    if (!err)
        err = add_grid(report, comparison, &listing);
    report_unfold(report);
    if (!err)
        err = add_words(report, comparison, &listing);
    listing_free(&listing);
    return err;
}

/* ---------------------------------------------------------------- jobs */

static const json_t *jobs_of(const struct report_source *source)
{
    return json_object_get(source->results, "jobs");
}

static int is_true(const json_t *object, const char *key)
{
    return json_is_true(json_object_get(object, key));
}

static int gave_nothing(const json_t *job)
{
    return is_true(job, "failed") || is_true(job, "diverged");
}

/* "lr 0.1, hidden 100" */
static void add_point(struct text *out, const json_t *job)
{
    json_t *grid = json_object_get(job, "grid"), *value;
    const char *key, *between = "";
    json_object_foreach(grid, key, value)
    {
        text_add(out, "%s%s %s", between, key, json_is_string(value) ? json_string_value(value) : "");
        between = ", ";
    }
}

static void add_reason(struct text *out, const json_t *job)
{
    const char *reason = report_words(job, "reason");
    text_add(out, "%s%s%s",
             is_true(job, "diverged") ? "diverged"
             : is_true(job, "failed") ? "failed"
                                      : "",
             reason ? ": " : "", reason ? reason : "");
}

static void add_kind(struct text *out, const json_t *job)
{
    const json_t *fold = json_object_get(job, "fold");
    if (json_is_integer(fold))
        text_add(out, "fold %lld", (long long)json_integer_value(fold));
    else if (is_true(job, "refit"))
        text_add(out, "refit");
}

enum {
    JOB_METHOD,
    JOB_POINT,
    JOB_SEED,
    JOB_KIND,
    JOB_TEST,
    JOB_VAL,
    JOB_EPOCHS,
    JOB_BEST,
    JOB_REPORTED,
    JOB_END,
    JOB_COLUMNS
};

static void fill_job(const struct page_table *table, size_t row, const json_t *job, const char *metric)
{
    const char *method = report_words(job, "method");
    text_add(page_table_at(table, row, JOB_METHOD), "%s", method ? method : "");
    add_point(page_table_at(table, row, JOB_POINT), job);
    report_add_number(page_table_at(table, row, JOB_SEED), job, NULL, "seed", 6);
    add_kind(page_table_at(table, row, JOB_KIND), job);
    report_add_number(page_table_at(table, row, JOB_TEST), job, "test", metric, 6);
    report_add_number(page_table_at(table, row, JOB_VAL), job, "val", metric, 6);
    report_add_number(page_table_at(table, row, JOB_EPOCHS), job, NULL, "epochs", 6);
    report_add_number(page_table_at(table, row, JOB_BEST), job, NULL, "best_epoch", 6);
    text_add(page_table_at(table, row, JOB_REPORTED), "%s", is_true(job, "reported") ? "yes" : "");
    add_reason(page_table_at(table, row, JOB_END), job);
}

/* The jobs, or of them those that gave no number. */
static int add_jobs(const struct report_source *source, const char *metric, int only_bad)
{
    static const struct {
        const char *header;
        int number;
    } columns[JOB_COLUMNS] = {{"method", 0},   {"point", 0},        {"seed", 1},   {"part", 0},
                              {"test", 1},     {"validation", 1},   {"epochs", 1}, {"best epoch", 1},
                              {"reported", 0}, {"what happened", 0}};
    const json_t *jobs = jobs_of(source), *job;
    size_t i, rows = 0, row = 0;
    struct page_table table;
    json_array_foreach(jobs, i, job) rows += !only_bad || gave_nothing(job) ? 1 : 0;
    int cut = rows > ROWS_SHOWN, err = page_table_new(&table, cut ? ROWS_SHOWN : rows, JOB_COLUMNS);
    if (err < 0)
        return err;
    for (size_t c = 0; c < JOB_COLUMNS; c++)
        page_table_column(&table, c, columns[c].header, columns[c].number);
    json_array_foreach(jobs, i, job)
    {
        if (row == table.rows || (only_bad && !gave_nothing(job)))
            continue;
        fill_job(&table, row, job, metric);
        for (size_t c = 0; gave_nothing(job) && c < JOB_COLUMNS; c++)
            page_table_mark(&table, row, c, c == JOB_END ? REPORT_BAD : REPORT_PLAIN);
        row++;
    }
    err = report_page_table(source->report, &table, NULL);
    if (cut)
        report_note(source->report, "These are the first thousand; results.json has them all.");
    page_table_free(&table);
    return err;
}

/* Points of a grid may diverge, that is what a grid finds out; a reported one, or a failure, is a warning. */
static int add_failures(const struct report_source *source, const char *metric)
{
    const json_t *jobs = jobs_of(source), *job;
    size_t i, diverged = 0, failed = 0, reported = 0;
    struct text words = {0};
    json_array_foreach(jobs, i, job)
    {
        diverged += is_true(job, "diverged") ? 1 : 0;
        failed += is_true(job, "failed") ? 1 : 0;
        reported += gave_nothing(job) && is_true(job, "reported");
    }
    if (!diverged && !failed)
        return 0;
    text_add(&words, "%zu of %zu jobs gave no number: %zu diverged, %zu failed", diverged + failed,
             json_array_size(jobs), diverged, failed);
    if (reported && !failed) {
        struct text warning = {0};
        text_add(&warning,
                 "%s; %zu of them would have been reported, and their seeds are missing in the table.",
                 words.chars ? words.chars : "", reported);
        if (!warning.failed)
            report_warning(source->report, warning.chars);
        words.failed |= warning.failed;
        text_free(&warning);
    } else if (failed && !words.failed)
        report_warning(source->report, words.chars);
    if (!words.failed)
        report_fold(source->report, words.chars);
    int err = words.failed ? SPH_EMEMORY : add_jobs(source, metric, 1);
    report_unfold(source->report);
    text_free(&words);
    return err;
}

/* ---------------------------------------------------------------- each seed */

static int is_best(const struct comparison_input *input, size_t line, size_t seed)
{
    double own = input->methods[line].value[seed];
    for (size_t m = 0; m < input->count; m++) {
        double other = input->methods[m].value[seed];
        if (input->larger_is_better ? other > own : other < own)
            return 0;
    }
    return !isnan(own) && input->count > 1;
}

/* Decimals with which all numbers of the table line up and none loses more than its sixth digit; -1: they are
 * too far apart for that. */
static int common_decimals(const struct comparison_input *input)
{
    int most = 0;
    for (size_t i = 0; i < input->count * input->cases; i++) {
        double value = fabs(input->methods[i / input->cases].value[i % input->cases]);
        char number[64];
        if (isnan(value) || value == 0)
            continue;
        if (value < 1e-4 || value >= 1e6)
            return -1;
        int decimals = 5 - comparison_exponent(value);
        snprintf(number, sizeof number, "%.*f", decimals < 0 ? 0 : decimals, value);
        while (decimals > 0 && number[strlen(number) - 1] == '0') {
            number[strlen(number) - 1] = '\0';
            decimals--;
        }
        most = decimals > most ? decimals : most;
    }
    return most;
}

static void fill_seed(struct page_table *table, size_t row, size_t column,
                      const struct comparison_input *input, size_t line, size_t seed, int decimals)
{
    double value = input->methods[line].value[seed];
    if (isnan(value)) {
        text_add(page_table_at(table, row, column), "-");
        page_table_mark(table, row, column, REPORT_BAD);
        return;
    }
    if (decimals < 0)
        text_add_general(page_table_at(table, row, column), 6, value);
    else
        text_add_fixed(page_table_at(table, row, column), decimals, value);
    if (is_best(input, line, seed))
        page_table_mark(table, row, column, REPORT_LEAD);
}

static int add_seeds(const struct report_source *source, const struct comparison_input *input)
{
    const struct sph_experiment *e = source->experiment;
    int down = input->count <= SEEDS_DOWN, decimals = common_decimals(input);
    size_t rows = down ? input->cases : input->count, columns = down ? input->count : input->cases;
    struct page_table table;
    int err = page_table_new(&table, rows, columns + 1);
    if (err < 0)
        return err;
    page_table_column(&table, 0, down ? "seed" : "method", 0);
    for (size_t m = 0; m < input->count; m++)
        text_add(down ? sheet_head(&table, m + 1) : page_table_at(&table, m, 0), "%s",
                 input->methods[m].name);
    for (size_t s = 0; s < input->cases; s++)
        text_add(down ? page_table_at(&table, s, 0) : sheet_head(&table, s + 1), down ? "%llu" : "seed %llu",
                 (unsigned long long)e->seeds[s]);
    memset(table.number + 1, 1, columns);
    for (size_t m = 0; m < input->count; m++)
        for (size_t s = 0; s < input->cases; s++)
            fill_seed(&table, down ? s : m, down ? m + 1 : s + 1, input, m, s, decimals);
    err = report_page_table(source->report, &table, NULL);
    page_table_free(&table);
    return err;
}

/* ---------------------------------------------------------------- sections */

int report_add_result(const struct report_source *source)
{
    struct input input;
    struct comparison comparison;
    struct text title = {0};
    if (!source->table)
        return 0;
    int err = read_input(&input, source);
    if (err < 0)
        return err;
    report_section(source->report, "Result");
    err = comparison_make(&comparison, &input.table);
    text_add(&title, "The %s on the test part; %s is better.", input.table.metric,
             input.table.larger_is_better ? "larger" : "smaller");
    if (!err)
        err = title.failed ? SPH_EMEMORY : 0;
    if (!err) {
        report_paragraph(source->report, title.chars);
        err = add_table(source, &comparison);
    }
    if (!err)
        err = add_failures(source, input.table.metric);
    text_free(&title);
    comparison_free(&comparison);
    free_input(&input);
    return err;
}

int report_add_seeds(const struct report_source *source)
{
    struct input input;
    if (!source->table)
        return 0;
    int err = read_input(&input, source);
    if (err < 0)
        return err;
    report_section(source->report, "Every seed and every job");
    report_fold(source->report, "The score of each seed");
    err = add_seeds(source, &input.table);
    report_unfold(source->report);
    if (!err && source->results) {
        char *summary = mem_format("All %zu jobs", json_array_size(jobs_of(source)));
        if (summary)
            report_fold(source->report, summary);
        err = summary ? add_jobs(source, input.table.metric, 0) : SPH_EMEMORY;
        report_unfold(source->report);
        mem_free(summary);
    }
    free_input(&input);
    return err;
}
