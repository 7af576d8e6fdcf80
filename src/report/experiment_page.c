/* SPDX-License-Identifier: MIT
 *
 * What was compared, figures, configuration, and how to repeat it; the tables between are in
 * experiment_report_tables.c and experiment_report_motion.c. */
#include "report/page_of.h"

#include <string.h>

#include "base/error.h"
#include "file/file.h"
#include "base/memory.h"
#include "report/figures.h"
#include "report/perturb_write.h"
#include "report/experiment_page.h"
#include "report/page_table.h"

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

/* ---------------------------------------------------------------- what was compared */

static void add_scope(struct text *out, const struct report_source *source)
{
    const struct sph_experiment *e = source->experiment;
    if (!e->method_count) {
        text_add(out, "Figures that need no training.");
        return;
    }
    text_add(out, "%zu method%s", e->method_count, plural(e->method_count));
    for (size_t a = 0; a < e->axis_count; a++)
        text_add(out, " × %zu value%s of %s", e->axes[a].count, plural(e->axes[a].count),
                 option_key(e->axes[a].id));
    text_add(out, " × %zu seed%s on %s", e->seed_count, plural(e->seed_count), e->base->options.data);
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

static int add_protocol(const struct report_source *source)
{
    const struct sph_experiment *e = source->experiment;
    struct text words = {0};
    text_add(&words, "Protocol %s. %s", options_word(e->base, OPTION_PROTOCOL), choice_words(e));
    if (e->axis_count && !e->all_points)
        text_add(&words, " and the point of the grid, for each seed by itself");
    text_add(&words, "%s. All methods see the same rows, and a seed draws the same split for all of them.",
             e->base->options.protocol == PROTOCOL_REFERENCE
                 ? ""
                 : "; the test part is looked at once, at the end");
    return say(source->report, report_paragraph, &words);
}

/* A method by a row, and a column for every option in which one of them has its own mind. */
static int add_methods(const struct report_source *source)
{
    const struct sph_experiment *e = source->experiment;
    enum option_id shown[OPTION_COUNT];
    size_t count = 0;
    struct page_table table;
    for (int id = 0; id < OPTION_COUNT; id++) {
        int differs = 0;
        for (size_t m = 0; m < e->method_count; m++)
            differs |= e->methods[m].job->given[id];
        if (differs)
            shown[count++] = (enum option_id)id;
    }
    int err = page_table_new(&table, e->method_count, count + 1);
    if (err < 0)
        return err;
    page_table_column(&table, 0, "method", 0);
    for (size_t c = 0; c < count; c++)
        page_table_column(&table, c + 1, option_key(shown[c]), 0);
    for (size_t m = 0; m < e->method_count; m++) {
        text_add(page_table_at(&table, m, 0), "%s", e->methods[m].name);
        for (size_t c = 0; c < count; c++) {
            const struct sph_job *job = e->methods[m].job->given[shown[c]] ? e->methods[m].job : e->base;
            options_add(page_table_at(&table, m, c + 1), job, shown[c]);
        }
    }
    err = report_page_table(source->report, &table, NULL);
    page_table_free(&table);
    return err;
}

static int add_grid(const struct report_source *source)
{
    const struct sph_experiment *e = source->experiment;
    struct text words = {0};
    for (size_t a = 0; a < e->axis_count; a++) {
        text_add(&words, "%s%s in ", a ? "; " : "Grid: ", option_key(e->axes[a].id));
        for (size_t i = 0; i < e->axes[a].count; i++)
            text_add(&words, "%s%s", i ? ", " : "", experiment_value_text(&e->axes[a], i));
    }
    if (e->axis_count)
        text_add(&words, ".");
    return say(source->report, report_paragraph, &words);
}

static int add_comparison(const struct report_source *source)
{
    if (!source->experiment->method_count)
        return 0;
    report_section(source->report, "What was compared");
    int err = add_methods(source);
    if (!err)
        err = add_grid(source);
    return err < 0 ? err : add_protocol(source);
}

/* ---------------------------------------------------------------- figures */

/* NAME of each NAME.svg and NAME.gp; caller frees with file_list_free. */
static int list_figures(char ***names, size_t *count, const char *dir)
{
    char **files;
    size_t file_count, kept = 0;
    int err = file_list(&files, &file_count, dir);
    for (size_t f = 0; f < file_count && !err; f++) {
        char *dot = strrchr(files[f], '.'), *name = files[f];
        files[f] = NULL;
        int figure = dot && dot > name && (!strcmp(dot, ".svg") || !strcmp(dot, ".gp"));
        if (figure)
            *dot = '\0';
        if (figure && (!kept || strcmp(files[kept - 1], name) != 0))
            files[kept++] = name;
        else
            mem_free(name);
    }
    *names = files;
    *count = kept;
    return err;
}

/* Why figures are not there, a line each. section: whether the report has one for figures already. */
static int add_notes(struct report *report, const char *dir, int section)
{
    char **files = NULL;
    size_t count = 0;
    int err = file_list(&files, &count, dir);
    for (size_t i = 0; i < count && !err; i++) {
        char *dot = strrchr(files[i], '.'), *path, *reason = NULL, *note = NULL;
        if (!dot || strcmp(dot, EXPERIMENT_NOTE) != 0)
            continue;
        if (!section++)
            report_section(report, "Figures");
        path = file_join(dir, files[i]);
        err = path ? file_read(&reason, NULL, path) : SPH_EMEMORY;
        if (!err && !(note = mem_format("Not drawn: %.*s: %s", (int)(dot - files[i]), files[i], reason)))
            err = SPH_EMEMORY;
        if (note)
            report_note(report, note);
        mem_free(path);
        mem_free(reason);
        mem_free(note);
    }
    file_list_free(files, count);
    return err;
}

int report_add_figures(struct report *report, const char *folder, const char *note)
{
    char *dir = file_join(folder, EXPERIMENT_FIGURES), **names = NULL;
    size_t count = 0;
    int err = dir ? 0 : SPH_EMEMORY;
    if (!err && file_is_directory(dir))
        err = list_figures(&names, &count, dir);
    if (!err && count)
        report_section(report, "Figures");
    if (!err && count && note)
        report_note(report, note);
    for (size_t k = 0; k <= FIGURE_COUNT; k++) /* those that are known, in the order of reading; the others */
        for (size_t i = 0; i < count && !err; i++) {
            if (!names[i] || (k < FIGURE_COUNT && strcmp(names[i], figure_names[k]) != 0))
                continue;
            report_figure(report, dir, names[i], k < FIGURE_COUNT ? figure_kinds[k]->caption : names[i]);
            mem_free(names[i]);
            names[i] = NULL;
        }
    file_list_free(names, count);
    if (!err && file_is_directory(dir))
        err = add_notes(report, dir, count > 0);
    mem_free(dir);
    return err;
}

static int add_figures(const struct report_source *source)
{
    const struct sph_experiment *e = source->experiment;
    const char *first = "Pictures of single trainings show those of the first seed.";
    return report_add_figures(source->report, source->dir,
                              e->method_count && e->seed_count > 1 ? first : NULL);
}

/* ---------------------------------------------------------------- configuration, versions, repeating */

int report_add_file(struct report *report, const char *dir, const char *name, const char *summary)
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

static void add_fact(const struct page_table *table, size_t *row, const char *name, const char *value)
{
    text_add(page_table_at(table, *row, 0), "%s", name);
    text_add(page_table_at(table, *row, 1), "%s", value);
    ++*row;
}

/* Of the machine that wrote the results, as results.json tells; without one, of this. */
static int add_versions(const struct report_source *source)
{
    const struct sph_experiment *e = source->experiment;
    json_t *features = json_object_get(source->results, "features");
    const char *version = json_string_value(json_object_get(source->results, "version"));
    const char *cpu = json_string_value(json_object_get(source->results, "cpu")), *key;
    const json_t *value;
    struct page_table table;
    char threads[24];
    size_t rows = 0, own = e->method_count ? 4 : 2;
    own += e->content ? 1 : 0;
    int err = page_table_new(&table, own + json_object_size(features), 2);
    if (err < 0)
        return err;
    page_table_column(&table, 0, "what", 0);
    page_table_column(&table, 1, "which", 0);
    add_fact(&table, &rows, "spherelu", version ? version : sph_version());
    add_fact(&table, &rows, "processor", cpu ? cpu : sph_cpu());
    if (e->method_count) {
        snprintf(threads, sizeof threads, "%zu", e->base->options.threads);
        add_fact(&table, &rows, "threads of a job", threads);
        add_fact(&table, &rows, "precision", options_word(e->base, OPTION_DTYPE));
    }
    if (e->content)
        add_fact(&table, &rows, "content of the data", e->content);
    json_object_foreach(features, key, value)
    {
        add_fact(&table, &rows, key, json_is_string(value) ? json_string_value(value) : "");
    }
    err = report_page_table(source->report, &table, NULL);
    page_table_free(&table);
    return err;
}

static int add_repeating(const struct report_source *source)
{
    report_section(source->report, "How to repeat it");
    report_paragraph(source->report, EXPERIMENT_FILE
                     " beside this page is the whole experiment. The same version on the same kind of "
                     "processor gives the same bits, whatever the number of jobs side by side; "
                     "another processor rounds differently.");
    report_code(source->report, "In the folder of this page:",
                "spherelu run " EXPERIMENT_FILE " --out again     # everything, from the start");
    int err = report_add_file(source->report, source->dir, EXPERIMENT_FILE,
                              EXPERIMENT_FILE ": every setting, defaults included");
    if (err < 0)
        return err;
    report_fold(source->report, "Versions and machine");
    err = add_versions(source);
    report_unfold(source->report);
    return err;
}

/* ---------------------------------------------------------------- all of it */

/* Before anything else, so that nobody reads a number without it. */
static int add_warning(const struct report_source *source)
{
    const char *warning = json_string_value(json_object_get(source->table, "warning"));
    if (warning)
        report_warning(source->report, warning);
    return 0;
}

static int read_there(json_t **out, const char *dir, const char *name)
{
    char *path = file_join(dir, name);
    int err = !path ? SPH_EMEMORY : file_exists(path) ? json_read(out, path) : 0;
    mem_free(path);
    return err;
}

static int open_source(struct report_source *source)
{
    char *path = file_join(source->dir, EXPERIMENT_FILE);
    int err = path ? sph_experiment_open(&source->experiment, path) : SPH_EMEMORY;
    mem_free(path);
    if (err < 0 || (err = read_there(&source->table, source->dir, "table.json")) < 0 ||
        (err = read_there(&source->results, source->dir, EXPERIMENT_RESULTS)) < 0)
        return err;
    return read_there(&source->motion, source->dir, "motion.json");
}

static int begin_report(struct report_source *source)
{
    struct text scope = {0};
    add_scope(&scope, source);
    int err = scope.failed ? SPH_EMEMORY : report_new(&source->report, source->experiment->name, scope.chars);
    text_free(&scope);
    return err;
}

static int add_perturb(const struct report_source *source)
{
    const struct sph_experiment *e = source->experiment;
    return experiment_without_jobs(e) ? experiment_report_perturb(e, source->report) : 0;
}

int experiment_write_report(const char *dir)
{
    static int (*const parts[])(const struct report_source *) = {
        add_warning,       add_comparison, add_perturb,      report_add_result,
        report_add_motion, add_figures,    report_add_seeds, add_repeating};
    struct report_source source = {.dir = dir};
    char *path = file_join(dir, EXPERIMENT_REPORT);
    int err = path ? open_source(&source) : SPH_EMEMORY;
    if (!err)
        err = begin_report(&source);
    for (size_t i = 0; i < sizeof parts / sizeof *parts && !err; i++)
        err = parts[i](&source);
    if (!err)
        err = report_write(source.report, path);
    report_free(source.report);
    json_decref(source.table);
    json_decref(source.results);
    json_decref(source.motion);
    sph_experiment_free(source.experiment);
    mem_free(path);
    return err;
}
