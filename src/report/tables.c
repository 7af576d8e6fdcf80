/* SPDX-License-Identifier: MIT
 *
 * All tables of an experiment: filled once, written into its folder and to whoever asked. */
#include "report/tables.h"

#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "file/file.h"
#include "report/perturb_json.h"

int tables_make(struct tables *out, const struct results *results)
{
    *out = (struct tables){0};
    if (results->perturb) {
        for (int shift = 0; shift < 2; shift++)
            perturb_table(&out->perturb[shift], results->perturb, shift);
        table_line(&out->perturb[0].title,
                   "%s: one unit with %zu inputs, eps added to each of its learned numbers",
                   results->experiment->name, results->perturb->inputs);
        return 0;
    }
    size_t count = matrix_count(results);
    comparison_table(&out->comparison, &results->comparison);
    motion_table(&out->motion, &results->motion);
    papers_table(&out->papers, &results->motion);
    if (!(out->matrices = mem_get(count, sizeof *out->matrices)))
        return SPH_EMEMORY;
    for (; out->matrix_count < count; out->matrix_count++)
        matrix_table(&out->matrices[out->matrix_count], results, out->matrix_count);
    return table_failed(&out->motion) || table_failed(&out->papers) ? SPH_EMEMORY
                                                                    : 0; /* none may be asked for */
}

void tables_free(struct tables *tables)
{
    table_free(&tables->comparison);
    table_free(&tables->motion);
    table_free(&tables->papers);
    for (size_t i = 0; i < tables->matrix_count; i++)
        table_free(&tables->matrices[i]);
    mem_free(tables->matrices);
    for (int shift = 0; shift < 2; shift++)
        table_free(&tables->perturb[shift]);
}

/* ---------------------------------------------------------------- documents of several tables */

/* The next table of a text, after a blank line. */
static int add_next(const struct table *table, struct text *out)
{
    if (out->length)
        text_add(out, "\n");
    return table_write(table, TABLE_TEXT, out);
}

static int has_motion(const struct tables *tables)
{
    return tables->motion.row_count || tables->papers.row_count;
}

static int add_text(const struct tables *tables, struct text *out)
{
    int err = table_write(&tables->comparison, TABLE_TEXT, out);
    for (size_t i = 0; i < tables->matrix_count && !err; i++)
        err = add_next(&tables->matrices[i], out);
    return err;
}

static int add_motion(const struct tables *tables, struct text *out)
{
    int err = tables->motion.row_count ? table_write(&tables->motion, TABLE_TEXT, out) : 0;
    return err || !tables->papers.row_count ? err : add_next(&tables->papers, out);
}

static int add_perturb(const struct tables *tables, struct text *out)
{
    int err = table_write(&tables->perturb[0], TABLE_TEXT, out);
    return err ? err : add_next(&tables->perturb[1], out);
}

static json_t *to_json(const struct tables *tables, const struct results *results)
{
    return results->perturb
               ? perturb_to_json(results->experiment->name, results->perturb, results->experiment->seeds[0])
               : comparison_to_json(&results->comparison, &tables->comparison);
}

static json_t *motion_json(const struct tables *tables, const struct results *results)
{
    return motion_to_json(&results->motion, &tables->motion, &tables->papers);
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
        unlink(path); /* of an earlier run that had something to say; mostly there is none */
    mem_free(path);
    return path ? 0 : SPH_EMEMORY;
}

static int write_motion(const struct tables *tables, const struct results *results)
{
    struct text text = {0}, csv = {0};
    if (!has_motion(tables)) {
        int err = remove_file(results->dir, MOTION_FILE ".txt");
        err = err ? err : remove_file(results->dir, MOTION_FILE ".csv");
        return err ? err : remove_file(results->dir, MOTION_FILE ".json");
    }
    int err = write_file(results->dir, MOTION_FILE ".txt", add_motion(tables, &text), &text);
    if (!err)
        err =
            write_file(results->dir, MOTION_FILE ".csv", table_write(&tables->motion, TABLE_CSV, &csv), &csv);
    return err ? err : write_json(results->dir, MOTION_FILE ".json", motion_json(tables, results), 1);
}

int tables_write(const struct tables *tables, const struct results *results)
{
    static const struct {
        enum table_format format;
        const char *name;
    } files[] = {{TABLE_MARKDOWN, "table.md"}, {TABLE_LATEX, "table.tex"}, {TABLE_CSV, "table.csv"}};
    const char *dir = results->dir;
    struct text text = {0};
    if (results->perturb) {
        int err = write_json(dir, "perturb.json", to_json(tables, results), 2);
        return err ? err : write_file(dir, "perturb.txt", add_perturb(tables, &text), &text);
    }
    int err = write_file(dir, "table.txt", add_text(tables, &text), &text);
    for (size_t i = 0; i < sizeof files / sizeof *files && !err; i++)
        err = write_file(dir, files[i].name, table_write(&tables->comparison, files[i].format, &text), &text);
    if (!err)
        err = write_json(dir, "table.json", to_json(tables, results), 2);
    return err ? err : write_motion(tables, results);
}

/* ---------------------------------------------------------------- for a terminal */

static int print_json(const struct tables *tables, const struct results *results, struct text *out)
{
    json_t *object = to_json(tables, results);
    int bad = !object || json_object_set_new(object, "out", json_words(results->dir));
    if (!results->perturb && has_motion(tables))
        bad |= json_object_set_new(object, "motion", motion_json(tables, results));
    int err = bad ? sph_fail(SPH_EMEMORY, "out of memory: the tables") : json_print(out, object, JSON_LINE);
    json_decref(object);
    text_add(out, "\n");
    return err;
}

int tables_print(const struct tables *tables, const struct results *results, int json, const sph_sink *sink)
{
    struct text out = {0}, motion = {0};
    int err = json               ? print_json(tables, results, &out)
              : results->perturb ? add_perturb(tables, &out)
                                 : add_text(tables, &out);
    if (!err && !json && has_motion(tables) && !(err = add_motion(tables, &motion)))
        text_add(&out, "\n%s", motion.chars);
    if (!err)
        err = out.failed ? SPH_EMEMORY : sink->write(sink->self, out.chars, out.length);
    text_free(&motion);
    text_free(&out);
    return err;
}
