/* SPDX-License-Identifier: MIT
 *
 * Figures of all seeds: curves by epoch, scores by learning rate. */
#include "report/drawing.h"

#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "file/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "compare/statistics.h"
#include "store/runfolder.h"

/* ---------------------------------------------------------------- curves by epoch */

int drawing_convergence(struct figure *figure, const struct drawing *d)
{
    size_t seeds = d->e ? d->e->seed_count : 1, count = d->rows * d->columns;
    struct convergence_line *lines = mem_get(count, sizeof *lines);
    char **files = mem_get(count * seeds, sizeof *files);
    int err = lines && files ? 0 : SPH_EMEMORY;
    for (size_t i = 0; i < count && !err; i++) {
        char **own = files + i * seeds;
        lines[i] = (struct convergence_line){
            .method = d->panels[i].method, .point = d->panels[i].point, .files = (const char *const *)own};
        if (d->e && d->e->axis_count && !d->e->all_points)
            lines[i].point = ""; /* each seed has chosen its own */
        for (size_t s = 0; s < seeds && !err; s++) {
            const struct reported *job =
                d->e ? reported_find(&d->jobs, d->e, i % d->columns, i / d->columns, s) : NULL;
            const char *folder = job ? job->folder : d->e ? NULL : d->panels[i].where;
            char *file = folder ? file_join(folder, RUNFOLDER_METRICS) : NULL;
            if (folder && !file)
                err = SPH_EMEMORY;
            else if (file && file_exists(file))
                own[lines[i].count++] = file;
            else
                mem_free(file);
        }
    }
    if (!err)
        err = convergence_fill(figure, lines, d->rows, d->columns, d->metric);
    for (size_t i = 0; files && i < count * seeds; i++)
        mem_free(files[i]);
    mem_free(files);
    mem_free(lines);
    return err;
}

/* ---------------------------------------------------------------- scores by rate */

/* The score of a method, a point and a seed; under cv that of the folds that chose. */
static double score_of(const struct drawing *d, size_t method, size_t point, size_t seed)
{
    double sum = 0;
    size_t n = 0;
    int folds = experiment_folds(d->e) > 0;
    for (size_t i = 0; i < d->jobs.count; i++) {
        const struct reported *job = &d->jobs.jobs[i];
        if (job->method != method || job->point != point || job->seed != seed || (job->fold >= 0) != folds)
            continue;
        sum += reported_score(job, folds ? "val" : "test", d->metric);
        n++;
    }
    return n ? sum / (double)n : (double)NAN;
}

static int sensitivity_point(const struct drawing *d, size_t method, size_t point, double lr,
                             struct sensitivity_point *out)
{
    size_t seeds = d->e->seed_count;
    double *scores = mem_get(seeds, sizeof *scores);
    struct summary summary;
    if (!scores)
        return SPH_EMEMORY;
    for (size_t s = 0; s < seeds; s++)
        scores[s] = score_of(d, method, point, s);
    summarize(scores, seeds, &summary);
    *out = (struct sensitivity_point){.lr = lr,
                                      .mean = summary.mean,
                                      .error = summary.error,
                                      .runs = summary.n,
                                      .failed = seeds - summary.n};
    mem_free(scores);
    return 0;
}

/* "hidden 100" of a point without its rate. */
static int other_keys(const struct sph_experiment *e, size_t point, size_t axis, char **out)
{
    struct text text = {0};
    text_add(&text, "%s", "");
    for (size_t a = 0; a < e->axis_count; a++)
        if (a != axis)
            text_add(&text, "%s%s %s", text.length ? ", " : "", option_key(e->axes[a].id),
                     experiment_value_text(&e->axes[a], experiment_value(e, point, a)));
    *out = text.chars;
    return text.failed ? SPH_EMEMORY : 0;
}

static void by_rate(struct sensitivity_point *points, size_t count)
{
    for (size_t i = 1; i < count; i++)
        for (size_t k = i; k > 0 && points[k].lr < points[k - 1].lr; k--) {
            struct sensitivity_point swap = points[k];
            points[k] = points[k - 1];
            points[k - 1] = swap;
        }
}

int drawing_sensitivity(struct figure *figure, const struct drawing *d)
{
    const struct sph_experiment *e = d->e;
    size_t axis = 0, points = experiment_points(e);
    while (axis < e->axis_count && e->axes[axis].id != OPTION_LR)
        axis++;
    if (axis == e->axis_count)
        return sph_fail_at(SPH_EARG, e->path, "sensitivity needs a grid over lr");
    size_t rates = e->axes[axis].count, rows = points / rates, columns = e->method_count;
    struct sensitivity_point *all = mem_get(rows * columns * rates, sizeof *all);
    struct sensitivity_line *lines = mem_get(rows * columns, sizeof *lines);
    char **names = mem_get(rows, sizeof *names), metric[64];
    int err = all && lines && names ? 0 : SPH_EMEMORY;
    for (size_t m = 0; m < columns && !err; m++)
        for (size_t p = 0, seen = 0; p < points && !err; p++) {
            if (experiment_value(e, p, axis) != 0) /* the row of the first rate holds all of them */
                continue;
            size_t row = seen++, stride = 1;
            for (size_t a = axis + 1; a < e->axis_count; a++)
                stride *= e->axes[a].count;
            struct sensitivity_point *own = all + (row * columns + m) * rates;
            for (size_t k = 0; k < rates && !err; k++) {
                double lr = e->axes[axis].values[k]->options.lr;
                err = sensitivity_point(d, m, p + k * stride, lr, &own[k]);
            }
            by_rate(own, rates);
            if (!err && !names[row])
                err = other_keys(e, p, axis, &names[row]);
            lines[row * columns + m] =
                (struct sensitivity_line){e->methods[m].name, names[row] ? names[row] : "", own, rates};
        }
    snprintf(metric, sizeof metric, "%s %s", experiment_folds(e) ? "validation" : "test", d->metric);
    if (!err)
        err = sensitivity_fill(figure, lines, rows, columns, metric);
    for (size_t i = 0; names && i < rows; i++)
        mem_free(names[i]);
    mem_free(names);
    mem_free(lines);
    mem_free(all);
    return err;
}
