/* SPDX-License-Identifier: MIT
 *
 * The score over learning rates, with its standard error. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "compare/statistics.h"
#include "report/figures.h"

/* A point of a line. A line has the rates of a method at a point of the grid's other keys. */
struct point {
    double lr, mean, error; /* NaN without scores */
    size_t runs, failed;
};

/* The score of a method, point and seed; with cv, the mean validation score of the folds. */
static double score_of(const struct panels *panels, const struct experiment_job *of)
{
    double sum = 0;
    size_t n = 0;
    int folds = experiment_folds(panels->e) > 0;
    for (size_t i = 0; i < panels->results->count; i++) {
        const struct experiment_job *job = &panels->results->jobs[i];
        if (job->set != of->set || job->method != of->method || job->point != of->point ||
            job->seed != of->seed || (job->fold >= 0) != folds)
            continue;
        sum += folds ? panels->results->outcomes[i].val : panels->results->outcomes[i].test;
        n++;
    }
    return n ? sum / (double)n : (double)NAN;
}

static int read_point(const struct panels *panels, struct experiment_job of, double lr, struct point *out)
{
    size_t seeds = panels->e->seed_count;
    double *scores = mem_get(seeds, sizeof *scores);
    struct summary summary;
    if (!scores)
        return SPH_EMEMORY;
    for (of.seed = 0; of.seed < seeds; of.seed++)
        scores[of.seed] = score_of(panels, &of);
    summarize(scores, seeds, &summary);
    *out = (struct point){.lr = lr,
                          .mean = summary.mean,
                          .error = summary.error,
                          .runs = summary.n,
                          .failed = seeds - summary.n};
    mem_free(scores);
    return 0;
}

static int by_rate(const void *a, const void *b)
{
    double x = ((const struct point *)a)->lr, y = ((const struct point *)b)->lr;
    return (x > y) - (x < y);
}

/* The points of one line. first: the job with the first rate. */
static int read_line(const struct panels *panels, struct experiment_job first, size_t axis,
                     struct point *points)
{
    const struct sph_experiment *e = panels->e;
    int err = 0;
    for (size_t k = 0; k < e->grid.axes[axis].count && !err; k++) {
        struct experiment_job of = first;
        of.point = experiment_along(e, first.point, axis, k);
        err = read_point(panels, of, e->grid.axes[axis].values[k]->options.lr, &points[k]);
    }
    qsort(points, e->grid.axes[axis].count, sizeof *points, by_rate);
    return err;
}

static void write_line(struct figure *figure, const struct point *points, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct point *p = &points[i];
        double error = isnan(p->error) ? 0 : p->error;
        figure_row(figure, (double[]){p->lr, p->mean, error, (double)p->runs, (double)p->failed}, 5);
    }
    figure_gap(figure, 2);
}

static int write_row(struct figure *figure, const struct panels *panels, size_t row, struct experiment_job of,
                     size_t axis, struct point *points)
{
    int err = panels_row(figure, panels, row, of.set, of.point);
    panels_columns(figure, row, "", "lr, mean, standard error, runs with a number, runs without");
    for (of.method = 0; of.method < panels->e->method_count && !err; of.method++)
        if (!(err = read_line(panels, of, axis, points)))
            write_line(figure, points, panels->e->grid.axes[axis].count);
    return err;
}

static int write_rates(struct figure *figure, const struct experiment_axis *axis)
{
    struct text rates = {0};
    for (size_t k = 0; k < axis->count; k++)
        text_add(&rates, "%s%s", k ? " " : "", experiment_value_text(axis, k));
    if (!rates.failed)
        figure_text(figure, "rates", rates.chars);
    text_free(&rates);
    return rates.failed ? SPH_EMEMORY : 0;
}

static int fill(struct figure *figure, struct panels *panels)
{
    const struct sph_experiment *e = panels->e;
    size_t axis = panels_axis(panels), row = 0, points = experiment_points(e);
    char metric[64];
    struct point *line = mem_get(e->grid.axes[axis].count, sizeof *line);
    int err = line ? 0 : SPH_EMEMORY;
    snprintf(metric, sizeof metric, "%s %s", experiment_folds(e) ? "validation" : "test",
             panels->results->facts.metric);
    panels_head(figure, experiment_sets(e) * (points / e->grid.axes[axis].count), e->method_count);
    figure_text(figure, "metric", metric);
    err = err ? err : write_rates(figure, &e->grid.axes[axis]);
    for (size_t m = 0; m < e->method_count; m++)
        panels_method(figure, m, e->methods[m].name, "");
    for (size_t d = 0; d < experiment_sets(e); d++)
        for (size_t p = 0; p < points && !err; p++)
            if (experiment_value(e, p, axis) == 0) /* the row of the first rate covers all rates */
                err = write_row(figure, panels, row++, (struct experiment_job){.set = d, .point = p}, axis,
                                line);
    mem_free(line);
    return err;
}

const struct figure_kind figure_sensitivity = {
    .needs = FIGURE_SCORES,
    .axis = "lr",
    .all_sets = 1,
    .fill = fill,
    .caption = "The score for each learning rate: mean and standard error over the seeds.",
};
