/* SPDX-License-Identifier: MIT */
#include "compare/motion.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "file/file.h"
#include "file/json.h"
#include "base/memory.h"
#include "boundary/hyperplane.h"
#include "job/run.h"
#include "compare/results.h"
#include "compare/statistics.h"
#include "store/runfolder.h"

#define MOTION_WORD(id, word, help) word,
const char *const motion_words[MOTION_COUNT] = {MOTION_NUMBERS(MOTION_WORD)};
#define MOTION_PAPER_WORD(id, word, help) "papers_" word,
const char *const motion_paper_words[MOTION_COUNT] = {MOTION_NUMBERS(MOTION_PAPER_WORD)};
#define MOTION_UNIT_WORDS(id, words) words,
const char *const motion_units[MOTION_UNIT_COUNT] = {MOTION_UNITS(MOTION_UNIT_WORDS)};

/* ---------------------------------------------------------------- numbers of a row */

/* The largest move or turn of every step, of all runs together. */
struct all_steps {
    double *value;
    size_t count, capacity;
};

/* A layer of one line of the tables while its runs are read. */
struct layer {
    char *path; /* "layers.0" */
    struct all_steps moves, turns;
    size_t runs, steps;
};

struct layers {
    struct layer *list;
    size_t count, capacity;
};

static void layers_free(struct layers *layers)
{
    for (size_t i = 0; i < layers->count; i++) {
        mem_free(layers->list[i].path);
        mem_free(layers->list[i].moves.value);
        mem_free(layers->list[i].turns.value);
    }
    mem_free(layers->list);
}

/* The layer of an array "PATH.move", new if it is the first. */
static int find_layer(struct layers *layers, const char *array, size_t length, struct layer **out)
{
    for (size_t i = 0; i < layers->count; i++)
        if (!strncmp(layers->list[i].path, array, length) && !layers->list[i].path[length]) {
            *out = &layers->list[i];
            return 0;
        }
    if (!mem_reserve((void **)&layers->list, &layers->capacity, layers->count + 1, sizeof *layers->list))
        return SPH_EMEMORY;
    *out = &layers->list[layers->count];
    **out = (struct layer){.path = mem_text_of(array, length)};
    if (!(*out)->path)
        return SPH_EMEMORY;
    layers->count++;
    return 0;
}

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

/* Moves of the first layer are told in the feature's own units where there is but one; other layers' inputs
 * are the net's own. */
static int raw_factor(struct motion *motion, struct npz *npz, const char *path, double *factor)
{
    char name[NPZ_NAME];
    size_t shape[4], ndim;
    *factor = 1;
    snprintf(name, sizeof name, "%s.phi", path);
    int one = npz_find(npz, name, shape, &ndim) && ndim == 3 && shape[2] == 1;
    int scaled = npz_find(npz, "x_scale", shape, &ndim);
    motion->unit = one ? MOTION_IN_FEATURE : scaled ? MOTION_IN_STANDARDISED : MOTION_IN_FEATURES;
    return one && scaled && ndim == 1 && shape[0] == 1 ? npz_read(npz, "x_scale", factor, 0, 1) : 0;
}

/* Every layer of one run. */
static int read_run(struct motion *motion, struct layers *layers, struct npz *npz, const char *where)
{
    static const char move[] = ".move";
    const char *array;
    int err = 0, first = 1;
    for (size_t i = 0; !err && (array = npz_name(npz, i)); i++) {
        size_t length = strlen(array);
        struct layer *layer = NULL;
        char turn[NPZ_NAME];
        double factor = 1;
        if (length < sizeof move || strcmp(array + length - strlen(move), move) != 0)
            continue;
        if ((err = find_layer(layers, array, length - strlen(move), &layer)) < 0 ||
            (first && (err = raw_factor(motion, npz, layer->path, &factor)) < 0) ||
            (err = take_steps(&layer->moves, npz, where, array, factor, &layer->steps)) < 0)
            break;
        snprintf(turn, sizeof turn, "%s.turn", layer->path);
        err = take_steps(&layer->turns, npz, where, turn, plane_degrees, NULL);
        layer->runs++;
        first = 0;
    }
    return err;
}

/* ---------------------------------------------------------------- all rows */

static int point_of(const struct sph_experiment *e, size_t line, char **out)
{
    struct text text = {0};
    text_add(&text, "%s", "");
    if (e->table.all_points)
        experiment_add_point(e, line, &text);
    *out = text.chars;
    return text.failed ? SPH_EMEMORY : 0;
}

static struct motion_row *new_row(struct motion *motion)
{
    return mem_reserve((void **)&motion->rows, &motion->capacity, motion->count + 1, sizeof *motion->rows)
               ? &motion->rows[motion->count++]
               : NULL;
}

static int add_row(struct motion *motion, struct layer *layer, size_t method, size_t line)
{
    const struct sph_experiment *e = motion->experiment;
    struct all_steps *moves = &layer->moves, *turns = &layer->turns;
    struct motion_row *row = new_row(motion);
    if (!row)
        return SPH_EMEMORY;
    *row = (struct motion_row){.method = e->methods[method].name,
                               .layer = mem_text(layer->path),
                               .runs = layer->runs,
                               .steps = layer->steps};
    sort_rising(moves->value, moves->count);
    sort_rising(turns->value, turns->count);
    row->value[MOTION_MAX_MOVE] = quantile(moves->value, moves->count, 1);
    row->value[MOTION_MEDIAN_MOVE] = quantile(moves->value, moves->count, 0.5);
    row->value[MOTION_MAX_TURN] = quantile(turns->value, turns->count, 1);
    row->value[MOTION_TURN_99] = quantile(turns->value, turns->count, 0.99);
    return row->layer ? point_of(e, line, &row->point) : SPH_EMEMORY;
}

/* The rows of a line of the tables: a layer each, over all seeds. */
static int read_line(struct motion *motion, const struct results *results, size_t method, size_t line)
{
    const struct sph_experiment *e = motion->experiment;
    struct layers layers = {0};
    int err = 0;
    for (size_t s = 0; s < e->seed_count && !err; s++) {
        char *folder = results_folder(results, results_final(results, method, line, s));
        struct npz *npz = NULL;
        err = folder ? run_open_record(&npz, folder) : SPH_EMEMORY;
        if (!err && npz)
            err = read_run(motion, &layers, npz, folder);
        npz_free(npz);
        mem_free(folder);
    }
    for (size_t i = 0; i < layers.count && !err; i++)
        err = add_row(motion, &layers.list[i], method, line);
    motion->layers = layers.count > motion->layers ? layers.count : motion->layers;
    layers_free(&layers);
    return err;
}

/* ---------------------------------------------------------------- beside the papers */

/* Mean, median, least and most of a score on the test part, over the seeds that have one. */
static int sum_up(struct motion_paper *paper, const struct results *results, size_t method, size_t line)
{
    size_t seeds = results->experiment->seed_count, n = 0;
    double *score = mem_get(seeds, sizeof *score), sum = 0;
    if (!score)
        return SPH_EMEMORY;
    for (size_t s = 0; s < seeds; s++) {
        score[n] = results_score(results, results_final(results, method, line, s), "test", paper->metric);
        if (isnan(score[n]))
            continue;
        sum += score[n++];
    }
    sort_rising(score, n);
    if (n) {
        paper->ours = sum / (double)n;
        paper->median = (score[(n - 1) / 2] + score[n / 2]) / 2;
        paper->least = score[0];
        paper->most = score[n - 1];
    }
    mem_free(score);
    return 0;
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

/* How far from "a +- b", in units of b; NaN: the text is no such thing. */
static double off_by(double ours, const char *text)
{
    const char *sign = strstr(text, "+-");
    char mean[64], error[64];
    double a, b;
    if (!sign || (size_t)(sign - text) >= sizeof mean || strlen(sign + 2) >= sizeof error)
        return (double)NAN;
    snprintf(mean, sizeof mean, "%.*s", (int)(sign - text), text);
    snprintf(error, sizeof error, "%s", sign + 2 + strspn(sign + 2, " "));
    for (char *end = mean + strlen(mean); end > mean && end[-1] == ' ';)
        *--end = '\0';
    return text_to_double(mean, &a) && text_to_double(error, &b) && b > 0 ? (ours - a) / b : (double)NAN;
}

static int add_paper(struct motion *motion, const struct results *results, const struct experiment_paper *p,
                     size_t line, char **points)
{
    const struct sph_experiment *e = motion->experiment;
    size_t method = (size_t)experiment_find_method(e, p->method, strlen(p->method));
    struct motion_paper paper = {.metric = p->metric,
                                 .method = p->method,
                                 .text = p->text,
                                 .ours = (double)NAN,
                                 .off = (double)NAN,
                                 .median = (double)NAN,
                                 .least = (double)NAN,
                                 .most = (double)NAN};
    int err = 0;
    const struct motion_row *row = row_of(motion, p->method, points[line]);
    paper.point = points[line];
    if (is_motion(p->metric))
        paper.ours = row ? row->value[text_find(p->metric, motion_words, MOTION_COUNT)] : (double)NAN;
    else
        err = sum_up(&paper, results, method, line);
    if (err < 0)
        return err;
    paper.off = off_by(paper.ours, p->text);
    if (!mem_reserve((void **)&motion->papers, &motion->paper_room, motion->paper_count + 1, sizeof paper))
        return SPH_EMEMORY;
    motion->papers[motion->paper_count++] = paper;
    return 0;
}

static int add_papers(struct motion *motion, const struct results *results)
{
    const struct sph_experiment *e = motion->experiment;
    size_t lines = experiment_lines(e);
    int err = 0;
    if (!e->papers.count)
        return 0;
    if (!(motion->points = mem_get(lines, sizeof *motion->points)))
        return SPH_EMEMORY;
    motion->point_count = lines;
    for (size_t line = 0; line < lines && !err; line++)
        err = point_of(e, line, &motion->points[line]);
    for (size_t i = 0; i < e->papers.count && !err; i++)
        for (size_t line = 0; line < lines && !err; line++)
            if (experiment_paper_of(e, &e->papers.list[i], motion->set, motion->points[line]))
                err = add_paper(motion, results, &e->papers.list[i], line, motion->points);
    return err;
}

int motion_read(struct motion *out, const struct results *results)
{
    const struct sph_experiment *e = results->experiment;
    int err = 0;
    *out = (struct motion){.experiment = e, .set = results->set};
    for (size_t m = 0; options_has(e->base, OPTION_RECORD) && m < e->method_count && !err; m++)
        for (size_t line = 0; line < experiment_lines(e) && !err; line++)
            err = read_line(out, results, m, line);
    return err ? err : add_papers(out, results);
}

/* ---------------------------------------------------------------- read again */

static int load_row(struct motion *motion, const json_t *object, const char *path)
{
    const struct sph_experiment *e = motion->experiment;
    const char *method, *point, *layer;
    size_t layers = 1;
    int err = json_member_text(object, path, "method", &method);
    if (err < 0 || (err = json_member_text(object, path, "point", &point)) < 0 ||
        (err = json_member_text(object, path, "layer", &layer)) < 0)
        return err;
    int m = experiment_find_method(e, method, strlen(method));
    if (m < 0)
        return sph_fail_of(SPH_EFORMAT, path, 0, "method", "the experiment has no method '%s'", method);
    struct motion_row *row = new_row(motion);
    if (!row)
        return SPH_EMEMORY;
    *row =
        (struct motion_row){.method = e->methods[m].name, .point = mem_text(point), .layer = mem_text(layer)};
    for (struct motion_row *before = row; before-- > motion->rows && before->method == row->method;)
        layers += row->point && before->point && !strcmp(before->point, row->point);
    motion->layers = layers > motion->layers ? layers : motion->layers;
    for (size_t k = 0; k < MOTION_COUNT; k++) {
        const json_t *value = json_object_get(object, motion_words[k]);
        row->value[k] = json_is_number(value) ? json_number_value(value) : (double)NAN;
    }
    if (!row->point || !row->layer)
        return SPH_EMEMORY;
    err = json_member_size(object, path, "runs", &row->runs);
    return err ? err : json_member_size(object, path, "steps", &row->steps);
}

int motion_load(struct motion *out, const struct results *results)
{
    char *path = file_join(results->dir, MOTION_FILE ".json");
    const char *unit;
    json_t *object = NULL;
    const json_t *rows = NULL;
    *out = (struct motion){.experiment = results->experiment, .set = results->set};
    int err = !path ? SPH_EMEMORY : file_exists(path) ? json_read(&object, path) : 0;
    const json_t *own = object, *sets = NULL;
    if (!err && object && out->experiment->set_count &&
        !(err = json_member_array(object, path, "sets", &sets)))
        own = json_array_get(sets, results->set);
    if (!err && object && !(err = json_member_text(own, path, "unit", &unit)) &&
        !(err = json_member_array(own, path, "rows", &rows))) {
        int found = text_find(unit, motion_units, MOTION_UNIT_COUNT);
        out->unit = found < 0 ? MOTION_IN_FEATURES : (enum motion_unit)found;
    }
    for (size_t i = 0; i < json_array_size(rows) && !err; i++)
        err = load_row(out, json_array_get(rows, i), path);
    if (!err && object)
        err = add_papers(out, results);
    json_decref(object);
    mem_free(path);
    return err;
}

void motion_free(struct motion *motion)
{
    for (size_t i = 0; i < motion->count; i++) {
        mem_free(motion->rows[i].point);
        mem_free(motion->rows[i].layer);
    }
    mem_free_texts(motion->points, motion->point_count);
    mem_free(motion->rows);
    mem_free(motion->papers);
    *motion = (struct motion){0};
}
