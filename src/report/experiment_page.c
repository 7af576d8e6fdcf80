/* SPDX-License-Identifier: MIT
 *
 * The page of an experiment: what was compared, the result, motion, figures, every seed and job, and how to
 * repeat it. */
#include "report/pages.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/tool.h"
#include "file/file.h"

enum {
    LINES_UNFOLDED = 16, /* a longer table of points is folded behind a matrix for each method */
    JOBS_SHOWN = 1000
};

/* What a page is written of. */
struct page {
    const struct results *results;
    const struct tables *tables;
    const struct sph_experiment *experiment;
    struct report *report;
};

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

/* Hands a sentence to the report, and frees it. */
static int say(struct report *report, void (*add)(struct report *, const char *), struct text *sentence)
{
    int err = sentence->failed ? SPH_EMEMORY : 0;
    if (!err && sentence->chars)
        add(report, sentence->chars);
    text_free(sentence);
    return err;
}

/* A table that is the page's alone. */
static int show(struct report *report, struct table *table)
{
    int err = report_table(report, table);
    table_free(table);
    return err;
}

/* ---------------------------------------------------------------- what was compared */

static void add_scope(struct text *out, const struct sph_experiment *e)
{
    if (!e->method_count) {
        text_add(out, "Figures that need no training.");
        return;
    }
    text_add(out, "%zu method%s", e->method_count, plural(e->method_count));
    for (size_t a = 0; a < e->grid.count; a++)
        text_add(out, " × %zu value%s of %s", e->grid.axes[a].count, plural(e->grid.axes[a].count),
                 option_key(e->grid.axes[a].id));
    text_add(out, " × %zu seed%s on ", e->seed_count, plural(e->seed_count));
    for (size_t i = 0; i < experiment_sets(e); i++)
        text_add(out, "%s%s", i ? ", " : "", experiment_set_name(e, i));
}

static const char *choice_words(const struct sph_experiment *e)
{
    switch (e->base->options.protocol) {
    case PROTOCOL_CV:
        return "Folds of the training part choose the epochs";
    case PROTOCOL_REFERENCE:
        return "The test part itself chooses the epoch";
    default:
        return e->base->options.val > 0 ? "The validation part chooses the epoch"
                                        : "The training loss chooses the epoch";
    }
}

static int add_protocol(const struct page *page)
{
    const struct sph_experiment *e = page->experiment;
    struct text words = {0};
    text_add(&words, "Protocol %s. %s", options_word(e->base, OPTION_PROTOCOL), choice_words(e));
    if (e->grid.count && !e->table.all_points)
        text_add(&words, " and the point of the grid, for each seed by itself");
    text_add(&words, "%s. For each seed, all methods use the same split.",
             e->base->options.protocol == PROTOCOL_REFERENCE ? ""
                                                             : "; the test part is used once, at the end");
    return say(page->report, report_paragraph, &words);
}

/* A method by a row, and a column for every option in which one of them has its own mind. */
static int add_methods(const struct page *page)
{
    const struct sph_experiment *e = page->experiment;
    struct table table = {0};
    size_t column = 0;
    table_column(&table, (struct table_column){.head = "method"});
    for (int id = 0; id < OPTION_COUNT; id++)
        for (size_t m = 0; m < e->method_count; m++)
            if (options_given(e->methods[m].asked, (enum option_id)id)) {
                table_column(&table, (struct table_column){.head = option_key((enum option_id)id)});
                break;
            }
    table_rows(&table, e->method_count);
    for (size_t m = 0; m < e->method_count; m++)
        table_words(&table, m, 0, e->methods[m].name);
    for (int id = 0; id < OPTION_COUNT && column + 1 < table.column_count; id++) {
        if (strcmp(table.columns[column + 1].head, option_key((enum option_id)id)) != 0)
            continue;
        column++;
        for (size_t m = 0; m < e->method_count; m++) {
            struct text value = {0};
            const struct job_spec *own = e->methods[m].asked;
            options_add(&value, options_given(own, (enum option_id)id) ? own : e->base, (enum option_id)id);
            table_take(&table, m, column, &value);
        }
    }
    return show(page->report, &table);
}

static int add_grid(const struct page *page)
{
    const struct sph_experiment *e = page->experiment;
    struct text words = {0};
    for (size_t a = 0; a < e->grid.count; a++) {
        text_add(&words, "%s%s in ", a ? "; " : "Grid: ", option_key(e->grid.axes[a].id));
        for (size_t i = 0; i < e->grid.axes[a].count; i++)
            text_add(&words, "%s%s", i ? ", " : "", experiment_value_text(&e->grid.axes[a], i));
    }
    if (e->grid.count)
        text_add(&words, ".");
    return say(page->report, report_paragraph, &words);
}

static int add_comparison(const struct page *page)
{
    if (!page->experiment->method_count)
        return 0;
    report_section(page->report, "Methods and data");
    int err = add_methods(page);
    if (!err)
        err = add_grid(page);
    return err < 0 ? err : add_protocol(page);
}

/* ---------------------------------------------------------------- under a perturbation */

static int add_perturb(const struct page *page)
{
    struct text words = {0};
    if (!page->results->perturb)
        return 0;
    report_section(page->report, "Under a perturbation");
    text_add(&words,
             "One unit with %zu inputs under five parameterizations with the same boundary; eps is added to "
             "each of its parameters.",
             page->results->perturb->inputs);
    int err = say(page->report, report_paragraph, &words);
    for (int shift = 0; shift < 2 && !err; shift++)
        err = report_table(page->report, &page->tables->perturb[shift]);
    return err;
}

/* ---------------------------------------------------------------- the result */

/* Points of a grid may diverge, that is what a grid finds out; a reported one, or a failure, is a warning. */
static int add_failures(const struct page *page)
{
    const struct results *r = page->results;
    size_t diverged = 0, failed = 0, reported = 0, reports = experiment_reports(r->experiment);
    struct text words = {0};
    struct table table;
    for (size_t i = 0; i < r->count; i++) {
        diverged += r->outcomes[i].diverged != 0;
        failed += !r->outcomes[i].finished;
    }
    for (size_t i = 0; i < reports; i++)
        reported += gave_nothing(&r->outcomes[r->final[i]]) ? 1 : 0;
    if (!diverged && !failed)
        return 0;
    text_add(&words, "%zu of %zu jobs have no score: %zu diverged, %zu failed", diverged + failed, r->count,
             diverged, failed);
    if (words.failed) {
        text_free(&words);
        return SPH_EMEMORY;
    }
    size_t length = words.length;
    if (reported && !failed)
        text_add(&words, "; %zu of them belong to reported results, so their seeds are missing in the table.",
                 reported);
    if ((reported || failed) && !words.failed)
        report_warning(page->report, words.chars);
    words.chars[length] = '\0';
    report_fold(page->report, words.chars);
    jobs_table(&table, r, 1, JOBS_SHOWN);
    int err = words.failed ? SPH_EMEMORY : show(page->report, &table);
    if (diverged + failed > JOBS_SHOWN)
        report_note(page->report, "These are the first thousand; results.json has them all.");
    report_unfold(page->report);
    text_free(&words);
    return err;
}

static int has_mark(const struct table *table, enum table_mark mark)
{
    for (size_t i = 0; i < table->row_count * table->column_count; i++)
        if (table->cells[i].mark == mark)
            return 1;
    return 0;
}

/* The comparison in one set. */
static int add_set(const struct page *page, size_t set)
{
    const struct set_tables *tables = &page->tables->sets[set];
    const struct table *table = &tables->comparison;
    const struct comparison_input *input = &results_of_set(page->results, set)->input;
    int err = 0, matrices = input->count > LINES_UNFOLDED && tables->matrix_count;
    for (size_t i = 0; matrices && i < tables->matrix_count && !err; i++)
        err = report_table(page->report, &tables->matrices[i]);
    if (matrices)
        report_fold(page->report, "The same with standard errors, one line for each point");
    if (!err)
        err = report_table(page->report, table);
    if (has_mark(table, MARK_LEAD))
        report_note(page->report, input->larger_is_better ? "Bold: the largest mean; this is not a test."
                                                          : "Bold: the smallest mean; this is not a test.");
    report_unfold(page->report);
    if (!err && tables->pairs.row_count)
        err = report_table(page->report, &tables->pairs);
    report_list(page->report, &table->verdicts);
    report_notes(page->report, &table->notes);
    return err;
}

static int add_overall(const struct page *page)
{
    const struct table *table = &page->tables->overall;
    if (!table->row_count)
        return 0;
    int err = report_table(page->report, table);
    report_list(page->report, &table->verdicts);
    report_notes(page->report, &table->notes);
    return err;
}

static int add_result(const struct page *page)
{
    const struct comparison_input *input = &results_of_set(page->results, 0)->input;
    struct text words = {0};
    if (!input->count)
        return 0;
    report_section(page->report, "Result");
    text_add(&words, "The %s on the test part; %s is better.", input->metric,
             input->larger_is_better ? "larger" : "smaller");
    int err = say(page->report, report_paragraph, &words);
    if (!err)
        err = add_overall(page);
    for (size_t i = 0; i < page->tables->set_count && !err; i++) {
        if (page->results->sets)
            report_section(page->report, experiment_set_name(page->experiment, i));
        err = add_set(page, i);
    }
    return err ? err : add_failures(page);
}

static int add_tolerance(const struct page *page)
{
    const struct table *overall = &page->tables->tolerance_overall, *table = &page->tables->tolerance;
    if (!overall->row_count)
        return 0;
    report_section(page->report, "Tolerance of the learning rate");
    int err = report_table(page->report, overall);
    report_list(page->report, &overall->verdicts);
    report_notes(page->report, &overall->notes);
    if (table->row_count > LINES_UNFOLDED)
        report_fold(page->report, "Each set and point by itself");
    if (!err)
        err = report_table(page->report, table);
    if (table->row_count > LINES_UNFOLDED)
        report_unfold(page->report);
    return err;
}

/* ---------------------------------------------------------------- motion */

/* name: of one set of several, or NULL. */
static void begin_section(const struct page *page, const char *heading, const char *name)
{
    struct text words = {0};
    text_add(&words, "%s%s%s", heading, name ? ": " : "", name ? name : "");
    if (!words.failed)
        report_section(page->report, words.chars);
    text_free(&words);
}

static int add_set_motion(const struct page *page, size_t set)
{
    const struct table *motion = &page->tables->sets[set].motion, *papers = &page->tables->sets[set].papers;
    const char *name = page->results->sets ? experiment_set_name(page->experiment, set) : NULL;
    int err = 0;
    if (motion->row_count) {
        begin_section(page, "Moves of the boundaries", name);
        err = report_table(page->report, motion);
        report_notes(page->report, &motion->notes);
    } else if (papers->row_count) {
        begin_section(page, "Comparison with the papers", name);
    }
    return err || !papers->row_count ? err : report_table(page->report, papers);
}

static int add_motion(const struct page *page)
{
    int err = 0;
    for (size_t i = 0; i < page->tables->set_count && !err; i++)
        err = add_set_motion(page, i);
    return err;
}

static int add_diagnostics(const struct page *page)
{
    struct table table;
    if (!page->results->units || !page->experiment->method_count)
        return 0;
    report_section(page->report, "Dead and always active units");
    diagnostics_table(&table, page->results);
    int err = report_table(page->report, &table);
    report_notes(page->report, &table.notes);
    table_free(&table);
    return err;
}

/* ---------------------------------------------------------------- figures, seeds, jobs */

static int add_figures(const struct page *page)
{
    return page_add_figures(page->report, page->results->dir);
}

static int add_seeds(const struct page *page)
{
    struct table table;
    struct text summary = {0};
    int err = 0;
    if (!results_of_set(page->results, 0)->input.count)
        return 0;
    report_section(page->report, "Every seed and every job");
    report_fold(page->report, "The score of each seed");
    for (size_t i = 0; i < page->tables->set_count && !err; i++) {
        seeds_table(&table, results_of_set(page->results, i));
        err = show(page->report, &table);
    }
    report_unfold(page->report);
    text_add(&summary, "All %zu jobs", page->results->count);
    if (!err)
        err = say(page->report, report_fold, &summary);
    jobs_table(&table, page->results, 0, JOBS_SHOWN);
    if (!err)
        err = report_table(page->report, &table);
    table_free(&table);
    text_free(&summary);
    if (page->results->count > JOBS_SHOWN)
        report_note(page->report, "These are the first thousand; results.json has them all.");
    report_unfold(page->report);
    return err;
}

/* ---------------------------------------------------------------- configuration, versions, repeating */

int page_add_file(struct report *report, const char *dir, const char *name, const char *summary)
{
    char *path = file_join(dir, name), *text = NULL;
    int err = path ? file_read(&text, NULL, path) : SPH_EMEMORY;
    if (!err) {
        report_fold(report, summary);
        report_code(report, NULL, text);
        report_unfold(report);
    }
    mem_free(text);
    mem_free(path);
    return err;
}

static void add_fact(struct table *table, size_t *row, const char *name, const char *value)
{
    table_words(table, *row, 0, name);
    table_words(table, (*row)++, 1, value);
}

/* Of the machine that wrote the results; without any, of this. */
static int add_versions(const struct page *page)
{
    const struct sph_experiment *e = page->experiment;
    json_t *about = page->results->about, *features = json_object_get(about, "features");
    const char *version = json_string_value(json_object_get(about, "version"));
    const char *cpu = json_string_value(json_object_get(about, "cpu")), *key;
    const json_t *value;
    struct table table = {0};
    char threads[24];
    size_t row = 0, own = e->method_count ? 4 : 2;
    own += e->content ? 1 : 0;
    table_column(&table, (struct table_column){.head = "what"});
    table_column(&table, (struct table_column){.head = "which"});
    table_rows(&table, own + json_object_size(features));
    add_fact(&table, &row, "spherelu", version ? version : sph_version());
    add_fact(&table, &row, "processor", cpu ? cpu : sph_cpu());
    if (e->method_count) {
        snprintf(threads, sizeof threads, "%zu", e->base->options.threads);
        add_fact(&table, &row, "threads of a job", threads);
        add_fact(&table, &row, "precision", options_word(e->base, OPTION_DTYPE));
    }
    if (e->content)
        add_fact(&table, &row, "content of the data", e->content);
    json_object_foreach(features, key, value)
    {
        add_fact(&table, &row, key, json_is_string(value) ? json_string_value(value) : "");
    }
    return show(page->report, &table);
}

static int add_repeating(const struct page *page)
{
    report_section(page->report, "Repeat this");
    report_paragraph(
        page->report, EXPERIMENT_FILE
        " in the folder of this page describes the whole experiment; it finds data files relative to this "
        "folder. The same version on the same kind of "
        "processor gives the same bits for any number of parallel jobs; other processors round differently.");
    report_code(page->report, "In the folder of this page:",
                "spherelu run " EXPERIMENT_FILE " --out again     # everything, from the start");
    int err = page_add_file(page->report, page->results->dir, EXPERIMENT_FILE,
                            EXPERIMENT_FILE ": every option, including defaults");
    if (err < 0)
        return err;
    report_fold(page->report, "Versions and machine");
    err = add_versions(page);
    report_unfold(page->report);
    return err;
}

/* ---------------------------------------------------------------- all of it */

/* Before anything else, so that nobody reads a number without it. */
static int add_warning(const struct page *page)
{
    const char *warning = results_of_set(page->results, 0)->input.warning;
    if (warning)
        report_warning(page->report, warning);
    return 0;
}

static int begin_report(struct page *page)
{
    struct text scope = {0};
    add_scope(&scope, page->experiment);
    int err = scope.failed ? SPH_EMEMORY : report_new(&page->report, page->experiment->name, scope.chars);
    text_free(&scope);
    return err;
}

int experiment_write_page(const struct results *results, const struct tables *tables)
{
    static int (*const parts[])(const struct page *) = {
        add_warning, add_comparison,  add_perturb, add_result, add_tolerance,
        add_motion,  add_diagnostics, add_figures, add_seeds,  add_repeating};
    struct page page = {.results = results, .tables = tables, .experiment = results->experiment};
    char *path = file_join(results->dir, REPORT_PAGE);
    int err = path ? begin_report(&page) : SPH_EMEMORY;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && !err; i++)
        err = parts[i](&page);
    if (!err)
        err = report_write(page.report, path);
    report_free(page.report);
    mem_free(path);
    return err;
}
