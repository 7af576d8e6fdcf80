/* SPDX-License-Identifier: MIT
 *
 * The table of motion for readers and for programs. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "file/file.h"
#include "file/json.h"
#include "base/memory.h"
#include "report/motion_write.h"
#include "report/table.h"

/* What a move is measured in. */
static const char *unit_of(const struct motion *motion)
{
    if (motion->raw)
        return "the feature's units";
    return motion->standardised ? "standardised features" : "the features' units";
}

/* ---------------------------------------------------------------- text */

static size_t wider(size_t width, const char *text)
{
    return strlen(text) > width ? strlen(text) : width;
}

static void add_number(struct text *out, double value, int width)
{
    if (isnan(value))
        text_add(out, "  %*s", width, "-");
    else
        text_add(out, "  %*.3g", width, value);
}

/* Below this, degrees are rounding; 0 is none. */
static void add_turn(struct text *out, double value, int width)
{
    if (value > 0 && value < 0.001)
        text_add(out, "  %*s", width, "< 0.001");
    else
        add_number(out, value, width);
}

static void add_rows(const struct motion *motion, struct text *out)
{
    size_t method = 6, point = 0, layer = 0;
    for (size_t i = 0; i < motion->count; i++) {
        method = wider(method, motion->rows[i].method);
        point = wider(point, motion->rows[i].point);
        layer = motion->layers > 1 ? wider(layer, motion->rows[i].layer) : 0;
    }
    text_add(out, "%-*s", (int)method, "method");
    if (point)
        text_add(out, "  %-*s", (int)point, "");
    if (layer)
        text_add(out, "  %-*s", (int)layer, "layer");
    text_add(out, "  %4s  %8s  %12s  %12s  %12s  %12s\n", "runs", "steps", "largest move", "median move",
             "largest turn", "99 % turn");
    for (size_t i = 0; i < motion->count; i++) {
        const struct motion_row *row = &motion->rows[i];
        text_add(out, "%-*s", (int)method, row->method);
        if (point)
            text_add(out, "  %-*s", (int)point, row->point);
        if (layer)
            text_add(out, "  %-*s", (int)layer, row->layer);
        text_add(out, "  %4zu  %8zu", row->runs, row->steps);
        for (size_t k = 0; k < MOTION_COUNT; k++)
            (k < MOTION_MAX_TURN ? add_number : add_turn)(out, row->value[k], 12);
        text_add(out, "\n");
    }
    text_add(out,
             "A step's move (|dphi|, in %s) and turn (degrees) are the largest of the layer's units; the "
             "median and the 99 %% are over all steps.\n",
             unit_of(motion));
}

static void add_papers(const struct motion *motion, struct text *out)
{
    size_t metric = 6, method = 6, point = 0;
    for (size_t i = 0; i < motion->paper_count; i++) {
        metric = wider(metric, motion->papers[i].metric);
        method = wider(method, motion->papers[i].method);
        point = wider(point, motion->papers[i].point);
    }
    text_add(out, "%sbeside the papers\n%-*s  %-*s", motion->count ? "\n" : "", (int)metric, "number",
             (int)method, "method");
    if (point)
        text_add(out, "  %-*s", (int)point, "");
    text_add(out, "  %12s  %s\n", "here", "papers");
    for (size_t i = 0; i < motion->paper_count; i++) {
        const struct motion_paper *paper = &motion->papers[i];
        text_add(out, "%-*s  %-*s", (int)metric, paper->metric, (int)method, paper->method);
        if (point)
            text_add(out, "  %-*s", (int)point, paper->point);
        add_number(out, paper->ours, 12);
        text_add(out, "  %s\n", paper->text);
    }
}

static void add_text(const struct motion *motion, struct text *out)
{
    if (motion->count) {
        text_add(out, "%s: how far a step moves and turns the boundaries, over %zu seed%s\n\n",
                 motion->experiment->name, motion->experiment->seed_count,
                 motion->experiment->seed_count == 1 ? "" : "s");
        add_rows(motion, out);
    }
    if (motion->paper_count)
        add_papers(motion, out);
}

/* ---------------------------------------------------------------- CSV */

static void add_cell(struct text *out, const char *cell)
{
    text_add(out, "\"");
    for (; *cell; cell++)
        text_add(out, *cell == '"' ? "\"\"" : "%c", *cell);
    text_add(out, "\"");
}

static void add_csv(const struct motion *motion, struct text *out)
{
    text_add(out, "method,point,layer,runs,steps");
    for (size_t k = 0; k < MOTION_COUNT; k++)
        text_add(out, ",%s", motion_words[k]);
    for (size_t k = 0; k < MOTION_COUNT; k++)
        text_add(out, ",papers_%s", motion_words[k]);
    text_add(out, "\n");
    for (size_t i = 0; i < motion->count; i++) {
        const struct motion_row *row = &motion->rows[i];
        add_cell(out, row->method);
        text_add(out, ",");
        add_cell(out, row->point);
        text_add(out, ",");
        add_cell(out, row->layer);
        text_add(out, ",%zu,%zu", row->runs, row->steps);
        for (size_t k = 0; k < MOTION_COUNT; k++) {
            text_add(out, ",");
            if (!isnan(row->value[k]))
                text_add_exact(out, row->value[k]);
        }
        for (size_t k = 0; k < MOTION_COUNT; k++) {
            const char *paper = experiment_paper(motion->experiment, motion_words[k], row->method);
            text_add(out, ",");
            if (paper)
                add_cell(out, paper);
        }
        text_add(out, "\n");
    }
}

/* ---------------------------------------------------------------- JSON */

static json_t *row_to_json(const struct motion_row *row)
{
    json_t *object = json_object();
    int bad = !object;
    bad |= json_object_set_new(object, "method", json_string(row->method));
    bad |= json_object_set_new(object, "point", json_string(row->point));
    bad |= json_object_set_new(object, "layer", json_string(row->layer));
    bad |= json_object_set_new(object, "runs", json_integer((json_int_t)row->runs));
    bad |= json_object_set_new(object, "steps", json_integer((json_int_t)row->steps));
    for (size_t k = 0; k < MOTION_COUNT; k++)
        bad |= json_object_set_new(object, motion_words[k], json_number(row->value[k]));
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *paper_to_json(const struct motion_paper *paper)
{
    json_t *object = json_object();
    int bad = !object;
    bad |= json_object_set_new(object, "number", json_string(paper->metric));
    bad |= json_object_set_new(object, "method", json_string(paper->method));
    bad |= json_object_set_new(object, "point", json_string(paper->point));
    bad |= json_object_set_new(object, "here", json_number(paper->ours));
    bad |= json_object_set_new(object, "papers", json_string(paper->text));
    if (!bad)
        return object;
    json_decref(object);
    return NULL;
}

static int add_json(const struct motion *motion, struct text *out)
{
    json_t *object = json_object(), *rows = json_array(), *papers = json_array();
    int bad = !object || !rows || !papers;
    for (size_t i = 0; i < motion->count && !bad; i++)
        bad |= json_array_append_new(rows, row_to_json(&motion->rows[i]));
    for (size_t i = 0; i < motion->paper_count && !bad; i++)
        bad |= json_array_append_new(papers, paper_to_json(&motion->papers[i]));
    bad |= json_object_set_new(object, "experiment", json_string(motion->experiment->name));
    bad |= json_object_set_new(object, "seeds", json_integer((json_int_t)motion->experiment->seed_count));
    bad |= json_object_set_new(object, "unit", json_string(unit_of(motion)));
    bad |= json_object_set_new(object, "rows", rows);
    bad |= json_object_set_new(object, "papers", papers);
    int err = bad ? sph_fail(SPH_EMEMORY, "out of memory") : json_print(out, object, 1);
    text_add(out, "\n");
    json_decref(object);
    return err;
}

/* ---------------------------------------------------------------- files */

int motion_write(const struct motion *motion, const char *dir)
{
    static const char *const names[] = {"motion.txt", "motion.csv", "motion.json"};
    int err = 0;
    for (size_t i = 0; i < 3 && !err; i++) {
        struct text text = {0};
        char *path = file_join(dir, names[i]);
        err = path ? 0 : SPH_EMEMORY;
        if (!motion->count && !motion->paper_count) {
            if (path)
                unlink(path); /* of an earlier run that had something to say; mostly there is none */
            mem_free(path);
            continue;
        }
        if (i == 0)
            add_text(motion, &text);
        else if (i == 1)
            add_csv(motion, &text);
        else if (!err)
            err = add_json(motion, &text);
        if (!err)
            err = text.failed ? SPH_EMEMORY : file_replace_with(path, text.chars, text.length);
        mem_free(path);
        text_free(&text);
    }
    return err;
}
