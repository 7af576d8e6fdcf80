/* SPDX-License-Identifier: MIT */
#include "compare/motion.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "file/file.h"
#include "file/json.h"
#include "base/memory.h"
#include "boundary/hyperplane.h"
#include "job/recorded.h"
#include "compare/reported.h"
#include "compare/statistics.h"
#include "store/runfolder.h"

#define MOTION_WORD(id, word, help) word,
const char *const motion_words[MOTION_COUNT] = {MOTION_NUMBERS(MOTION_WORD)};

/* ---------------------------------------------------------------- numbers of a row */

/* The largest move or turn of every step, of all runs together. */
struct all_steps {
    double *value;
    size_t count, capacity;
};

static int take_steps(struct all_steps *all, struct npz *npz, const char *where, const char *name,
                      double factor, size_t *steps)
{
    size_t shape[4], ndim;
    if (!npz_find(npz, name, shape, &ndim))
        return 0;
    if (ndim != 2 || shape[1] != 3)
        return sph_fail_at(SPH_EFORMAT, where, RUNFOLDER_BOUNDARIES ": '%s' is not (steps, 3)", name);
    double *values = mem_get(shape[0] * 3, sizeof *values);
    int err = values ? 0 : SPH_EMEMORY;
    if (!err && shape[0])
        err = npz_read(npz, name, values, 0, shape[0] * 3);
    if (!err && !mem_reserve((void **)&all->value, &all->capacity, all->count + shape[0], sizeof *all->value))
        err = SPH_EMEMORY;
    for (size_t t = 0; t < shape[0] && !err; t++)
        if (!isnan(values[t * 3]))
            all->value[all->count++] = values[t * 3] * factor;
    if (steps)
        *steps += shape[0];
    mem_free(values);
    return err;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The value that a share of all do not exceed. */
static double quantile(const struct all_steps *sorted, double share)
{
    if (!sorted->count)
        return (double)NAN;
    double rank = ceil(share * (double)sorted->count);
    return sorted->value[rank < 1 ? 0 : (size_t)rank - 1];
}

static void fill_numbers(struct motion_row *row, struct all_steps *moves, struct all_steps *turns)
{
    if (moves->count)
        qsort(moves->value, moves->count, sizeof *moves->value, ascending);
    if (turns->count)
        qsort(turns->value, turns->count, sizeof *turns->value, ascending);
    row->value[MOTION_MAX_MOVE] = quantile(moves, 1);
    row->value[MOTION_MEDIAN_MOVE] = quantile(moves, 0.5);
    row->value[MOTION_MAX_TURN] = quantile(turns, 1);
    row->value[MOTION_TURN_99] = quantile(turns, 0.99);
}

/* The one feature's scale; 1 where there are several or none was standardised. */
static int raw_factor(struct npz *npz, int raw, double *factor, int *standardised)
{
    size_t shape[4], ndim;
    *factor = 1;
    if (!npz_find(npz, "x_scale", shape, &ndim))
        return 0;
    *standardised = 1;
    return raw && ndim == 1 && shape[0] == 1 ? npz_read(npz, "x_scale", factor, 0, 1) : 0;
}

/* One layer of one line of the tables, over all seeds. *there: some run has recorded it. */
static int read_row(struct motion *motion, const struct reported_list *list, size_t method, size_t line,
                    struct motion_row *row, size_t layer)
{
    const struct sph_experiment *e = motion->experiment;
    struct all_steps moves = {0}, turns = {0};
    char name[256];
    int err = 0;
    for (size_t s = 0; s < e->seed_count && !err; s++) {
        const struct reported *job = reported_find(list, e, method, line, s);
        struct npz *npz = NULL;
        double factor = 1;
        if (!job || (err = recorded_open_npz(&npz, job->folder)) < 0 || !npz)
            continue;
        snprintf(name, sizeof name, "%s.move", row->layer);
        row->runs += npz_find(npz, name, NULL, NULL) != 0;
        if (layer == 0) /* other layers' inputs are the net's own */
            err = raw_factor(npz, motion->raw, &factor, &motion->standardised);
        if (!err)
            err = take_steps(&moves, npz, job->folder, name, factor, &row->steps);
        snprintf(name, sizeof name, "%s.turn", row->layer);
        if (!err)
            err = take_steps(&turns, npz, job->folder, name, plane_degrees, NULL);
        npz_free(npz);
    }
    if (!err)
        fill_numbers(row, &moves, &turns);
    mem_free(moves.value);
    mem_free(turns.value);
    return err;
}

/* ---------------------------------------------------------------- all rows */

static int point_of(const struct sph_experiment *e, size_t line, char **out)
{
    struct text text = {0};
    text_add(&text, "%s", "");
    if (e->all_points)
        experiment_add_point(e, line, &text);
    *out = text.chars;
    return text.failed ? SPH_EMEMORY : 0;
}

/* The rows of a line: a layer each. The net says what its layers are called, and any seed's will do. */
static int read_line(struct motion *motion, const struct reported_list *list, size_t method, size_t line)
{
    const struct sph_experiment *e = motion->experiment;
    const struct reported *job = reported_find(list, e, method, line, 0);
    struct recorded recorded = {0};
    if (!job)
        return 0;
    int err = recorded_open(&recorded, job->folder, NULL);
    if (err < 0)
        return err;
    motion->raw = recorded.data->features == 1;
    size_t layers = sph_net_layers(recorded.first), before = motion->count;
    for (size_t k = 0; k < layers && !err; k++) {
        struct motion_row row = {.method = e->methods[method].name};
        row.layer = mem_text(sph_net_layer(recorded.first, k, NULL)->path);
        err = row.layer ? point_of(e, line, &row.point) : SPH_EMEMORY;
        if (!err)
            err = read_row(motion, list, method, line, &row, k);
        struct motion_row *rows =
            err || !row.runs ? NULL
                             : mem_resize(motion->rows, motion->count, motion->count + 1, sizeof *rows);
        if (rows) {
            motion->rows = rows;
            motion->rows[motion->count++] = row;
            continue;
        }
        err = err || !row.runs ? err : SPH_EMEMORY;
        mem_free(row.layer);
        mem_free(row.point);
    }
    size_t shown = motion->count - before;
    motion->layers = shown > motion->layers ? shown : motion->layers;
    recorded_free(&recorded);
    return err;
}

/* ---------------------------------------------------------------- beside the papers */

static double mean_score(const struct motion *motion, const struct reported_list *list, size_t method,
                         size_t line, const char *metric)
{
    double sum = 0;
    size_t n = 0;
    for (size_t s = 0; s < motion->experiment->seed_count; s++) {
        const struct reported *job = reported_find(list, motion->experiment, method, line, s);
        double score = job ? reported_score(job, "test", metric) : (double)NAN;
        if (isnan(score))
            continue;
        sum += score;
        n++;
    }
    return n ? sum / (double)n : (double)NAN;
}

static int is_motion(const char *metric)
{
    return text_find(metric, motion_words, MOTION_COUNT) >= 0;
}

/* The row of the first layer that was recorded. */
static const struct motion_row *row_of(const struct motion *motion, const char *method, const char *point)
{
    for (size_t i = 0; i < motion->count; i++)
        if (!strcmp(motion->rows[i].method, method) && !strcmp(motion->rows[i].point, point))
            return &motion->rows[i];
    return NULL;
}

static int add_paper(struct motion *motion, const struct reported_list *list,
                     const struct experiment_paper *p, size_t line, char **points)
{
    const struct sph_experiment *e = motion->experiment;
    size_t method = 0;
    while (strcmp(e->methods[method].name, p->method) != 0)
        method++;
    struct motion_paper paper = {.metric = p->metric, .method = p->method, .text = p->text};
    const struct motion_row *row = row_of(motion, p->method, points[line]);
    paper.point = points[line];
    if (is_motion(p->metric))
        paper.ours = row ? row->value[text_find(p->metric, motion_words, MOTION_COUNT)] : (double)NAN;
    else
        paper.ours = mean_score(motion, list, method, line, p->metric);
    struct motion_paper *papers =
        mem_resize(motion->papers, motion->paper_count, motion->paper_count + 1, sizeof *papers);
    if (!papers)
        return SPH_EMEMORY;
    motion->papers = papers;
    papers[motion->paper_count++] = paper;
    return 0;
}

static int add_papers(struct motion *motion, const struct reported_list *list)
{
    const struct sph_experiment *e = motion->experiment;
    size_t lines = experiment_lines(e);
    int err = 0;
    if (!e->paper_count)
        return 0;
    if (!(motion->points = mem_get(lines, sizeof *motion->points)))
        return SPH_EMEMORY;
    motion->point_count = lines;
    for (size_t line = 0; line < lines && !err; line++)
        err = point_of(e, line, &motion->points[line]);
    for (size_t i = 0; i < e->paper_count && !err; i++)
        for (size_t line = 0; line < lines && !err; line++)
            err = add_paper(motion, list, &e->papers[i], line, motion->points);
    return err;
}

int motion_read(struct motion *out, const struct sph_experiment *e, const char *dir)
{
    struct reported_list list;
    *out = (struct motion){.experiment = e};
    int err = reported_read(&list, e, dir);
    if (err < 0)
        return err;
    for (size_t m = 0; e->base->set[OPTION_RECORD] && m < e->method_count && !err; m++)
        for (size_t line = 0; line < experiment_lines(e) && !err; line++)
            err = read_line(out, &list, m, line);
    if (!err)
        err = add_papers(out, &list);
    reported_free(&list);
    return err;
}

void motion_free(struct motion *motion)
{
    for (size_t i = 0; i < motion->count; i++) {
        mem_free(motion->rows[i].point);
        mem_free(motion->rows[i].layer);
    }
    for (size_t i = 0; i < motion->point_count; i++)
        mem_free(motion->points[i]);
    mem_free(motion->points);
    mem_free(motion->rows);
    mem_free(motion->papers);
    *motion = (struct motion){0};
}
