/* SPDX-License-Identifier: MIT
 *
 * All tables of an experiment: filled once, then written into its folder and to the terminal. */
#include "report/tables.h"

#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "file/file.h"
#include "report/show.h"

static int make_set(struct set_tables *out, const struct results *results)
{
    size_t count = matrix_count(results);
    comparison_table(&out->comparison, &results->comparison);
    pairs_table(&out->pairs, &results->comparison);
    motion_table(&out->motion, &results->motion);
    papers_table(&out->papers, &results->motion);
    if (!(out->matrices = mem_get(count, sizeof *out->matrices)))
        return SPH_EMEMORY;
    for (; out->matrix_count < count; out->matrix_count++)
        matrix_table(&out->matrices[out->matrix_count], results, out->matrix_count);
    return table_failed(&out->motion) || table_failed(&out->papers)
               ? SPH_EMEMORY
               : 0; /* an empty table has no writer that would notice */
}

int tables_make(struct tables *out, const struct results *results)
{
    int err = 0;
    *out = (struct tables){0};
    if (results->perturb) {
        for (int shift = 0; shift < 2; shift++)
            perturb_table(&out->perturb[shift], results->perturb, shift);
        table_line(&out->perturb[0].title,
                   "%s: one unit with %zu inputs, eps added to each of its parameters",
                   results->experiment->name, results->perturb->inputs);
        return 0;
    }
    if (!(out->sets = mem_get(experiment_sets(results->experiment), sizeof *out->sets)))
        return SPH_EMEMORY;
    for (; out->set_count < experiment_sets(results->experiment) && !err; out->set_count++)
        err = make_set(&out->sets[out->set_count], results_of_set(results, out->set_count));
    if (results->sets && !err)
        overall_table(&out->overall, results);
    tolerance_overall_table(&out->tolerance_overall, results);
    tolerance_table(&out->tolerance, results);
    return err;
}

void tables_free(struct tables *tables)
{
    for (size_t k = 0; k < tables->set_count; k++) {
        struct set_tables *set = &tables->sets[k];
        table_free(&set->comparison);
        table_free(&set->pairs);
        table_free(&set->motion);
        table_free(&set->papers);
        for (size_t i = 0; i < set->matrix_count; i++)
            table_free(&set->matrices[i]);
        mem_free(set->matrices);
    }
    mem_free(tables->sets);
    table_free(&tables->overall);
    table_free(&tables->tolerance_overall);
    table_free(&tables->tolerance);
    for (int shift = 0; shift < 2; shift++)
        table_free(&tables->perturb[shift]);
}

/* ---------------------------------------------------------------- documents of several tables */

/* The next table of a document, after a blank line. */
static int add_next(const struct table *table, enum table_format format, struct text *out)
{
    if (out->length)
        text_add(out, "\n");
    return table_write(table, format, out);
}

static int has_motion(const struct tables *tables)
{
    for (size_t k = 0; k < tables->set_count; k++)
        if (tables->sets[k].motion.row_count || tables->sets[k].papers.row_count)
            return 1;
    return 0;
}

/* All tables for readers, with the table over several datasets first. Only the text has the matrices. */
static int add_tables(const struct tables *tables, enum table_format format, struct text *out)
{
    int err = tables->overall.row_count ? table_write(&tables->overall, format, out) : 0;
    for (size_t k = 0; k < tables->set_count && !err; k++) {
        const struct set_tables *set = &tables->sets[k];
        err = add_next(&set->comparison, format, out);
        if (!err && set->pairs.row_count)
            err = add_next(&set->pairs, format, out);
        for (size_t i = 0; i < set->matrix_count && !err && format == TABLE_TEXT; i++)
            err = add_next(&set->matrices[i], format, out);
    }
    return err;
}

static int add_motion(const struct tables *tables, struct text *out)
{
    int err = 0;
    for (size_t k = 0; k < tables->set_count && !err; k++) {
        const struct set_tables *set = &tables->sets[k];
        if (set->motion.row_count)
            err = add_next(&set->motion, TABLE_TEXT, out);
        if (!err && set->papers.row_count)
            err = add_next(&set->papers, TABLE_TEXT, out);
    }
    return err;
}

static int add_tolerance(const struct tables *tables, struct text *out)
{
    int err = table_write(&tables->tolerance_overall, TABLE_TEXT, out);
    return err ? err : add_next(&tables->tolerance, TABLE_TEXT, out);
}

/* The rows of all datasets as one CSV. table: offset in struct set_tables. */
static int add_rows(const struct tables *tables, size_t table, struct text *out)
{
    int err = 0;
    for (size_t k = 0; k < tables->set_count && !err; k++) {
        struct text rows = {0};
        err = table_write((const struct table *)((const char *)&tables->sets[k] + table), TABLE_CSV, &rows);
        const char *body = err ? NULL : k ? strchr(rows.chars, '\n') + 1 : rows.chars;
        text_add(out, "%s", body ? body : "");
        text_free(&rows);
    }
    return err ? err : out->failed ? SPH_EMEMORY : 0;
}

static int add_perturb(const struct tables *tables, struct text *out)
{
    int err = table_write(&tables->perturb[0], TABLE_TEXT, out);
    return err ? err : add_next(&tables->perturb[1], TABLE_TEXT, out);
}

/* One object for several datasets: the table over them, then each. */
static json_t *sets_to_json(const struct tables *tables, const struct results *results)
{
    json_t *object = overall_to_json(results, &tables->overall), *sets = json_array();
    int bad = !object || !sets;
    for (size_t k = 0; k < tables->set_count && !bad; k++)
        bad |= json_array_append_new(sets,
                                     comparison_to_json(&results->sets[k].comparison,
                                                        &tables->sets[k].comparison, &tables->sets[k].pairs));
    bad |= json_object_set_new(object, "sets", sets);
    return json_whole(object, bad);
}

static json_t *to_json(const struct tables *tables, const struct results *results)
{
    return results->perturb
               ? perturb_to_json(results->experiment->name, results->perturb, results->experiment->seeds[0])
           : results->sets ? sets_to_json(tables, results)
                           : comparison_to_json(&results->comparison, &tables->sets[0].comparison,
                                                &tables->sets[0].pairs);
}

static json_t *motion_json(const struct tables *tables, const struct results *results)
{
    if (!results->sets)
        return motion_to_json(&results->motion, &tables->sets[0].motion, &tables->sets[0].papers);
    json_t *sets = json_array();
    int bad = !sets;
    for (size_t k = 0; k < tables->set_count && !bad; k++)
        bad = json_array_append_new(
            sets, motion_to_json(&results->sets[k].motion, &tables->sets[k].motion, &tables->sets[k].papers));
    return JSON_OF({"experiment", json_string(results->experiment->name)}, {"sets", json_whole(sets, bad)});
}

/* ---------------------------------------------------------------- files */

static int write_file(const char *dir, const char *name, int err, struct text *text)
{
    char *path = file_join(dir, name);
    if (!err)
        err = path && !text->failed ? file_replace_with(path, text->chars, text->length) : SPH_EMEMORY;
    mem_free(path);
    text_free(text);
    return err;
}

static int write_json(const char *dir, const char *name, json_t *object, size_t indent)
{
    struct text text = {0};
    int err = object ? json_print(&text, object, indent) : sph_fail(SPH_EMEMORY, "out of memory: %s", name);
    text_add(&text, "\n");
    json_decref(object);
    return write_file(dir, name, err, &text);
}

static int remove_file(const char *dir, const char *name)
{
    char *path = file_join(dir, name);
    if (path)
        file_remove(path); /* a file of an earlier run; usually there is none */
    mem_free(path);
    return path ? 0 : SPH_EMEMORY;
}

/* The files STEM.txt, .csv and .json. there 0: files of an earlier run are removed instead. */
struct document {
    const char *stem;
    int there, err;
    struct text text, csv;
    json_t *json;
};

static int write_document(const char *dir, struct document *d)
{
    static const char *const endings[] = {"txt", "csv", "json"};
    struct text *const texts[] = {&d->text, &d->csv};
    int err = d->err;
    for (size_t i = 0; i < 3; i++) {
        char *name = mem_format("%s.%s", d->stem, endings[i]);
        if (!name)
            err = SPH_EMEMORY;
        else if (!err && !d->there)
            err = remove_file(dir, name);
        else if (i < 2)
            err = write_file(dir, name, err, texts[i]);
        else if (!err)
            err = write_json(dir, name, json_incref(d->json), 1);
        mem_free(name);
    }
    json_decref(d->json);
    text_free(&d->text);
    text_free(&d->csv);
    return err;
}

static int write_motion(const struct tables *tables, const struct results *results)
{
    struct document d = {.stem = MOTION_FILE, .there = has_motion(tables)};
    if (d.there && !(d.err = add_motion(tables, &d.text)) &&
        !(d.err = add_rows(tables, offsetof(struct set_tables, motion), &d.csv)))
        d.json = motion_json(tables, results);
    return write_document(results->dir, &d);
}

static int write_tolerance(const struct tables *tables, const struct results *results)
{
    struct document d = {.stem = TOLERANCE_FILE, .there = results->tolerance.rates != NULL};
    if (d.there && !(d.err = add_tolerance(tables, &d.text)) &&
        !(d.err = table_write(&tables->tolerance, TABLE_CSV, &d.csv)))
        d.json = tolerance_to_json(results, &tables->tolerance_overall, &tables->tolerance);
    return write_document(results->dir, &d);
}

static int write_diagnostics(const struct results *results)
{
    struct table table;
    struct document d = {.stem = DIAGNOSTICS_FILE, .there = 1};
    diagnostics_table(&table, results);
    if (!(d.err = table_write(&table, TABLE_TEXT, &d.text)) &&
        !(d.err = table_write(&table, TABLE_CSV, &d.csv)))
        d.json = diagnostics_to_json(results, &table);
    table_free(&table);
    return write_document(results->dir, &d);
}

int tables_write(const struct tables *tables, const struct results *results)
{
    static const struct {
        enum table_format format;
        const char *name;
    } files[] = {{TABLE_TEXT, "table.txt"}, {TABLE_MARKDOWN, "table.md"}, {TABLE_LATEX, "table.tex"}};
    const char *dir = results->dir;
    struct text text = {0};
    if (results->perturb) {
        int err = write_json(dir, "perturb.json", to_json(tables, results), 2);
        return err ? err : write_file(dir, "perturb.txt", add_perturb(tables, &text), &text);
    }
    int err = 0;
    for (size_t i = 0; i < sizeof files / sizeof *files && !err; i++)
        err = write_file(dir, files[i].name, add_tables(tables, files[i].format, &text), &text);
    if (!err && results->sets)
        err = write_file(dir, "table.csv", table_write(&tables->overall, TABLE_CSV, &text), &text);
    if (!err)
        err = write_file(dir, results->sets ? "sets.csv" : "table.csv",
                         add_rows(tables, offsetof(struct set_tables, comparison), &text), &text);
    if (!err)
        err = tables->sets[0].pairs.row_count
                  ? write_file(dir, "pairs.csv", add_rows(tables, offsetof(struct set_tables, pairs), &text),
                               &text)
                  : remove_file(dir, "pairs.csv");
    if (!err)
        err = write_json(dir, "table.json", to_json(tables, results), 2);
    if (!err)
        err = write_diagnostics(results);
    if (!err)
        err = write_tolerance(tables, results);
    return err ? err : write_motion(tables, results);
}

/* ---------------------------------------------------------------- for a terminal */

static int print_json(const struct tables *tables, const struct results *results, struct text *out)
{
    json_t *object = to_json(tables, results);
    int bad = !object || json_object_set_new(object, "out", json_words(results->dir));
    if (!results->perturb && has_motion(tables))
        bad |= json_object_set_new(object, "motion", motion_json(tables, results));
    if (results->tolerance.rates)
        bad |= json_object_set_new(
            object, "tolerance", tolerance_to_json(results, &tables->tolerance_overall, &tables->tolerance));
    int err = bad ? sph_fail(SPH_EMEMORY, "out of memory: the tables") : json_print(out, object, JSON_LINE);
    json_decref(object);
    text_add(out, "\n");
    return err;
}

int tables_print(const struct tables *tables, const struct results *results, int json, const sph_sink *sink)
{
    struct text out = {0}, motion = {0}, tolerance = {0};
    int err = json               ? print_json(tables, results, &out)
              : results->perturb ? add_perturb(tables, &out)
                                 : add_tables(tables, TABLE_TEXT, &out);
    if (!err && !json && has_motion(tables) && !(err = add_motion(tables, &motion)))
        text_add(&out, "\n%s", motion.chars);
    if (!err && !json && results->tolerance.rates && !(err = add_tolerance(tables, &tolerance)))
        text_add(&out, "\n%s", tolerance.chars);
    text_free(&tolerance);
    text_free(&motion);
    return show_text(&out, err, sink);
}
