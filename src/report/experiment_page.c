/* SPDX-License-Identifier: MIT
 *
 * The page of an experiment: methods, results, moves of the boundaries, figures, every seed and job, and how to repeat it. */
#include "report/pages.h"

#include <stdio.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/tool.h"
#include "compare/tool.h"
#include "file/file.h"

enum {
    LINES_UNFOLDED = 16, /* a longer table of points is folded behind a matrix for each method */
    JOBS_SHOWN = 1000
};

/* What a page is made of. */
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

/* ---------------------------------------------------------------- what was compared */

static void add_scope(struct text *out, const struct sph_experiment *e)
{
    if (!e->method_count) {
        text_add(out, "Figures that do not need training.");
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
        return "Folds of the training set choose the epochs";
    case PROTOCOL_REFERENCE:
        return "The test set itself chooses the epoch";
    default:
        return e->base->options.val > 0 ? "The validation set chooses the epoch"
                                        : "The training loss chooses the epoch";
    }
}

static void add_protocol(const struct page *page)
{
    const struct sph_experiment *e = page->experiment;
    report_paragraph(
        page->report, "Protocol %s. %s%s%s. For each seed, all methods use the same split.",
        options_word(e->base, OPTION_PROTOCOL), choice_words(e),
        e->grid.count && !e->table.all_points ? " and the point of the grid, for each seed by itself" : "",
        e->base->options.protocol == PROTOCOL_REFERENCE ? "" : "; the test set is used once, at the end");
}

static int is_set(const struct sph_experiment *e, enum option_id id)
{
    for (size_t m = 0; m < e->method_count; m++)
        if (options_given(e->methods[m].asked, id))
            return 1;
    return 0;
}

/* One row for each method, and one column for each option that a method sets. */
static void add_methods(const struct page *page)
{
    const struct sph_experiment *e = page->experiment;
    struct table table = {0};
    size_t column = 0;
    table_column(&table, (struct table_column){.head = "method"});
    for (enum option_id id = 0; id < OPTION_COUNT; id++)
        if (is_set(e, id))
            table_column(&table, (struct table_column){.head = option_key(id)});
    table_rows(&table, e->method_count);
    for (size_t m = 0; m < e->method_count; m++)
        table_words(&table, m, 0, e->methods[m].name);
    for (enum option_id id = 0; id < OPTION_COUNT; id++) {
        column += is_set(e, id) != 0;
        for (size_t m = 0; m < e->method_count && is_set(e, id); m++) {
            struct text value = {0};
            const struct job_spec *own = e->methods[m].asked;
            options_add(&value, options_given(own, id) ? own : e->base, id);
            table_take(&table, m, column, &value);
        }
    }
    report_take_table(page->report, &table);
}

static void add_grid(const struct page *page)
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
    report_text(page->report, &words);
}

static void add_comparison(const struct page *page)
{
    if (!page->experiment->method_count)
        return;
    report_section(page->report, "Methods and data");
    add_methods(page);
    add_grid(page);
    add_protocol(page);
}

/* ---------------------------------------------------------------- perturbation */

static void add_perturb(const struct page *page)
{
    if (!page->results->perturb)
        return;
    report_section(page->report, "Under a perturbation");
    report_paragraph(page->report,
                     "One unit with %zu inputs under five parameterizations with the same boundary; eps is "
                     "added to each of its parameters.",
                     page->results->perturb->inputs);
    for (int shift = 0; shift < 2; shift++)
        report_table(page->report, &page->tables->perturb[shift]);
}

/* ---------------------------------------------------------------- the result */

static void add_jobs(const struct page *page, int only_bad, size_t count)
{
    struct table table;
    jobs_table(&table, page->results, only_bad, JOBS_SHOWN);
    report_take_table(page->report, &table);
    if (count > JOBS_SHOWN)
        report_note(page->report, "These are the first thousand; results.json has them all.");
    report_unfold(page->report);
}

/* Divergence is an expected result at some points of a grid. It is a warning for a reported job, and so is a failed job. */
static void add_failures(const struct page *page)
{
    const struct results *r = page->results;
    size_t diverged = 0, failed = 0, reported = 0, reports = experiment_reports(r->experiment);
    char bad[128], rest[128] = "";
    for (size_t i = 0; i < r->count; i++) {
        diverged += r->outcomes[i].diverged != 0;
        failed += !r->outcomes[i].finished;
    }
    for (size_t i = 0; i < reports; i++)
        reported += gave_nothing(&r->outcomes[r->final[i]]) ? 1 : 0;
    if (!diverged && !failed)
        return;
    snprintf(bad, sizeof bad, "%zu of %zu jobs have no score: %zu diverged, %zu failed", diverged + failed,
             r->count, diverged, failed);
    if (reported && !failed)
        snprintf(rest, sizeof rest,
                 "; %zu of them belong to reported results, so their seeds are missing in the table.",
                 reported);
    if (reported || failed)
        report_warning(page->report, "%s%s", bad, rest);
    report_fold(page->report, "%s", bad);
    add_jobs(page, 1, diverged + failed);
}

static int has_mark(const struct table *table, enum table_mark mark)
{
    for (size_t i = 0; i < table->row_count * table->column_count; i++)
        if (table->cells[i].mark == mark)
            return 1;
    return 0;
}

static void add_verdicts(const struct page *page, const struct table *table)
{
    report_list(page->report, &table->verdicts);
    report_notes(page->report, &table->notes);
}

static void add_marks(const struct page *page, const struct table *table, int larger_is_better)
{
    if (has_mark(table, MARK_LEAD))
        report_note(page->report, "Bold: the %s mean; this is not a test.",
                    larger_is_better ? "largest" : "smallest");
    if (has_mark(table, MARK_BEST))
        report_note(page->report,
                    "Green: the best mean, and significantly different from every other method by "
                    "all tests that were made.");
}

/* The comparison in one dataset. */
static void add_set(const struct page *page, size_t set)
{
    const struct set_tables *tables = &page->tables->sets[set];
    const struct table *table = &tables->comparison;
    const struct comparison_input *input = &results_of_set(page->results, set)->input;
    int matrices = input->count > LINES_UNFOLDED && tables->matrix_count;
    for (size_t i = 0; matrices && i < tables->matrix_count; i++)
        report_table(page->report, &tables->matrices[i]);
    if (matrices)
        report_fold(page->report, "The same with standard errors, one line for each point");
    report_table(page->report, table);
    report_unfold(page->report);
    if (tables->pairs.row_count)
        report_table(page->report, &tables->pairs);
    report_list(page->report, &table->verdicts);
    add_marks(page, table, input->larger_is_better);
    report_notes(page->report, &table->notes);
}

/* Features that train leaves out by default. */
static void add_useless(const struct page *page)
{
    const struct experiment_data *data = page->results->data; /* NULL: results of an older version */
    for (size_t i = 0; data && i < experiment_sets(page->experiment); i++)
        if (*data[i].useless)
            report_note(page->report,
                        "%s: the IDs, row numbers and constant columns %s are features here; "
                        "data: {drop: auto} leaves them out, as spherelu train does.",
                        experiment_set_name(page->experiment, i), data[i].useless);
}

static void add_result(const struct page *page)
{
    const struct comparison_input *input = &results_of_set(page->results, 0)->input;
    const struct table *overall = &page->tables->overall;
    if (!input->count)
        return;
    report_section(page->report, "Result");
    report_paragraph(page->report, "The %s on the test set; %s is better.", input->metric,
                     input->larger_is_better ? "larger" : "smaller");
    add_useless(page);
    if (overall->row_count) {
        report_table(page->report, overall);
        add_verdicts(page, overall);
    }
    for (size_t i = 0; i < page->tables->set_count; i++) {
        if (page->results->sets)
            report_section(page->report, "%s", experiment_set_name(page->experiment, i));
        add_set(page, i);
    }
    add_failures(page);
}

static void add_tolerance(const struct page *page)
{
    const struct table *overall = &page->tables->tolerance_overall, *table = &page->tables->tolerance;
    if (!overall->row_count)
        return;
    report_section(page->report, "Tolerance of the learning rate");
    report_table(page->report, overall);
    add_verdicts(page, overall);
    if (table->row_count > LINES_UNFOLDED)
        report_fold(page->report, "Each dataset and grid point separately");
    report_table(page->report, table);
    report_unfold(page->report);
}

/* ---------------------------------------------------------------- motion */

static void add_motion(const struct page *page)
{
    for (size_t i = 0; i < page->tables->set_count; i++) {
        const struct table *motion = &page->tables->sets[i].motion, *papers = &page->tables->sets[i].papers;
        const char *name = page->results->sets ? experiment_set_name(page->experiment, i) : "";
        if (motion->row_count || papers->row_count)
            report_section(page->report, "%s%s%s",
                           motion->row_count ? "Moves of the boundaries" : "Comparison with the papers",
                           *name ? ": " : "", name);
        if (motion->row_count) {
            report_table(page->report, motion);
            report_notes(page->report, &motion->notes);
        }
        if (papers->row_count)
            report_table(page->report, papers);
    }
}

static void add_diagnostics(const struct page *page)
{
    struct table table;
    if (!page->results->units || !page->experiment->method_count)
        return;
    report_section(page->report, "Dead and always active units");
    diagnostics_table(&table, page->results);
    report_table(page->report, &table);
    report_notes(page->report, &table.notes);
    table_free(&table);
}

/* ---------------------------------------------------------------- figures, seeds, jobs */

static void add_figures(const struct page *page)
{
    page_add_figures(page->report, page->results->dir);
}

static void add_seeds(const struct page *page)
{
    struct table table;
    if (!results_of_set(page->results, 0)->input.count)
        return;
    report_section(page->report, "Every seed and every job");
    report_fold(page->report, "The score of each seed");
    for (size_t i = 0; i < page->tables->set_count; i++) {
        seeds_table(&table, results_of_set(page->results, i));
        report_take_table(page->report, &table);
    }
    report_unfold(page->report);
    report_fold(page->report, "All %zu jobs", page->results->count);
    add_jobs(page, 0, page->results->count);
}

/* ---------------------------------------------------------------- configuration, versions, repeating */

void page_add_file(struct report *report, const char *dir, const char *name, const char *summary)
{
    char *path = file_join(dir, name), *text = NULL;
    int err = path ? file_read(&text, NULL, path) : SPH_EMEMORY;
    report_fail(report, err);
    if (!err) {
        report_fold(report, "%s", summary);
        report_code(report, NULL, text);
        report_unfold(report);
    }
    mem_free(text);
    mem_free(path);
}

static void add_fact(struct table *table, size_t *row, const char *name, const char *value)
{
    table_words(table, *row, 0, name);
    table_words(table, (*row)++, 1, value);
}

/* The machine that wrote the results, or this one if they do not say. */
static void add_versions(const struct page *page)
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
    report_take_table(page->report, &table);
}

static void add_repeating(const struct page *page)
{
    report_section(page->report, "Repeat this");
    report_paragraph(
        page->report, EXPERIMENT_FILE
        " in the folder of this page describes the whole experiment; it finds data files relative to this "
        "folder. The same version on the same kind of processor gives the same bits for any number of "
        "parallel jobs; other processors round differently.");
    report_code(page->report, "In the folder of this page:",
                "spherelu run " EXPERIMENT_FILE " --out again     # everything, from the start");
    page_add_file(page->report, page->results->dir, EXPERIMENT_FILE,
                  EXPERIMENT_FILE ": every option, including defaults");
    report_fold(page->report, "Versions and machine");
    add_versions(page);
    report_unfold(page->report);
}

/* ---------------------------------------------------------------- all of it */

/* Comes first, so that every reader of the numbers sees it. */
static void add_warning(const struct page *page)
{
    const char *warning = results_of_set(page->results, 0)->input.warning;
    if (warning)
        report_warning(page->report, "%s", warning);
}

int experiment_write_page(const struct results *results, const struct tables *tables)
{
    static void (*const parts[])(const struct page *) = {
        add_warning, add_comparison,  add_perturb, add_result, add_tolerance,
        add_motion,  add_diagnostics, add_figures, add_seeds,  add_repeating};
    struct page page = {.results = results, .tables = tables, .experiment = results->experiment};
    struct text scope = {0};
    char *path = file_join(results->dir, REPORT_PAGE);
    add_scope(&scope, page.experiment);
    int err =
        !path || scope.failed ? SPH_EMEMORY : report_new(&page.report, page.experiment->name, scope.chars);
    for (size_t i = 0; i < sizeof parts / sizeof *parts && !err; i++)
        parts[i](&page);
    if (!err)
        err = report_write(page.report, path);
    report_free(page.report);
    text_free(&scope);
    mem_free(path);
    return err;
}
