/* SPDX-License-Identifier: MIT
 *
 * Gradients and shares of active units over the width of a layer, at the start and during training (appendix E of the 2024 paper). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "compare/statistics.h"
#include "report/figures.h"

enum { GRADIENT_FIRST, GRADIENT_LATER, ACTIVE_FIRST, ACTIVE_LAST, QUANTITIES };

/* One width of one layer. A line is a method at a point of the grid's other keys. */
struct mark {
    double width;
    struct summary of[QUANTITIES]; /* over the runs */
};

struct table {
    size_t layers, lines, widths;
    struct mark *marks; /* (layers, lines, widths) */
};

static struct mark *mark_at(const struct table *table, size_t layer, size_t line, size_t width)
{
    return &table->marks[(layer * table->lines + line) * table->widths + width];
}

static int read_series(const struct panel *run, size_t layer, const char *what, double **values,
                       size_t *count)
{
    char name[48];
    size_t shape[4] = {0};
    snprintf(name, sizeof name, "layers.%zu.%s", layer, what);
    *values = NULL;
    int err = panel_has(run, name) ? panel_read(run, name, 1, shape, values) : 0;
    *count = shape[0];
    return err;
}

/* The values of one layer of one run; NaN if they were not recorded. */
static int read_layer(const struct panel *run, size_t layer, double out[QUANTITIES])
{
    double *gradient = NULL, *active = NULL, sum = 0;
    size_t moments = 0, shares = 0;
    for (int q = 0; q < QUANTITIES; q++)
        out[q] = (double)NAN;
    int err = read_series(run, layer, "gradient", &gradient, &moments);
    if (!err)
        err = read_series(run, layer, "active", &active, &shares);
    for (size_t i = 1; i < moments && !err; i++)
        sum += gradient[i];
    if (!err && moments)
        out[GRADIENT_FIRST] = gradient[0];
    if (!err && moments > 1)
        out[GRADIENT_LATER] = sum / (double)(moments - 1);
    if (!err && shares) {
        out[ACTIVE_FIRST] = active[0];
        out[ACTIVE_LAST] = active[shares - 1];
    }
    mem_free(gradient);
    mem_free(active);
    return err;
}

/* values (layers, QUANTITIES, jobs) <- all runs of a method at a point. Returns the number of runs, or a failure. */
static int read_runs(const struct panels *panels, size_t method, size_t point, size_t layers, double *values)
{
    const struct results *results = panels->results;
    size_t runs = 0;
    for (size_t i = 0; i < results->count; i++) {
        if (results->jobs[i].method != method || results->jobs[i].point != point)
            continue;
        struct panel run = {.run = {.dir = results_folder(results, i)}};
        int err = run.run.dir ? run_open_record(&run.run.record, run.run.dir) : SPH_EMEMORY;
        for (size_t layer = 0; layer < layers && !err; layer++) {
            double of[QUANTITIES];
            err = read_layer(&run, layer, of);
            for (size_t q = 0; q < QUANTITIES && !err; q++)
                values[(layer * QUANTITIES + q) * results->count + runs] = of[q];
        }
        npz_free(run.run.record);
        mem_free(run.run.dir);
        if (err < 0)
            return err;
        runs++;
    }
    return (int)runs;
}

static int read_line(const struct panels *panels, size_t method, size_t point, size_t axis, size_t line,
                     struct table *table)
{
    const struct experiment_axis *of = &panels->e->grid.axes[axis];
    size_t jobs = panels->results->count;
    double *values = mem_get(table->layers * QUANTITIES * jobs, sizeof *values);
    int err = values ? 0 : SPH_EMEMORY;
    for (size_t w = 0; w < table->widths && err >= 0; w++) {
        const struct option_sizes *hidden = &of->values[w]->options.hidden;
        int runs = err =
            read_runs(panels, method, experiment_along(panels->e, point, axis, w), table->layers, values);
        for (size_t layer = 0; layer < hidden->count && runs >= 0; layer++) {
            struct mark *mark = mark_at(table, layer, line, w);
            mark->width = (double)hidden->list[layer];
            for (size_t q = 0; q < QUANTITIES; q++)
                summarize(values + (layer * QUANTITIES + q) * jobs, (size_t)runs, &mark->of[q]);
        }
    }
    mem_free(values);
    return err < 0 ? err : 0;
}

static int by_width(const void *a, const void *b)
{
    double x = ((const struct mark *)a)->width, y = ((const struct mark *)b)->width;
    return (x > y) - (x < y);
}

static void write_layer(struct figure *figure, const struct table *table, size_t layer)
{
    panels_text(figure, "title", layer, "hidden layer %zu", layer + 1);
    panels_columns(
        figure, layer, "",
        "width; then mean, standard error of: gradient at the start, gradient later, active share at "
        "the start, active share at the end; runs");
    for (size_t line = 0; line < table->lines; line++) {
        struct mark *marks = mark_at(table, layer, line, 0);
        qsort(marks, table->widths, sizeof *marks, by_width);
        for (size_t w = 0; w < table->widths; w++) {
            double row[2 + 2 * QUANTITIES] = {marks[w].width};
            if (!(marks[w].width > 0)) /* a net with fewer layers */
                continue;
            for (size_t q = 0; q < QUANTITIES; q++) {
                row[1 + 2 * q] = marks[w].of[q].mean;
                row[2 + 2 * q] = isnan(marks[w].of[q].error) ? 0 : marks[w].of[q].error;
            }
            row[1 + 2 * QUANTITIES] = (double)marks[w].of[GRADIENT_FIRST].n;
            figure_row(figure, row, 2 + 2 * QUANTITIES);
        }
        figure_gap(figure, 2);
    }
}

static int fill(struct figure *figure, struct panels *panels)
{
    const struct sph_experiment *e = panels->e;
    size_t axis = panels_axis(panels), points = experiment_points(e), line = 0;
    struct table table = {.widths = e->grid.axes[axis].count};
    table.lines = e->method_count * (points / table.widths);
    for (size_t w = 0; w < table.widths; w++) {
        size_t layers = e->grid.axes[axis].values[w]->options.hidden.count;
        table.layers = layers > table.layers ? layers : table.layers;
    }
    table.marks = mem_get(table.layers * table.lines * table.widths, sizeof *table.marks);
    int err = table.marks ? 0 : SPH_EMEMORY;
    for (size_t m = 0; m < e->method_count && !err; m++)
        for (size_t p = 0; p < points && !err; p++) {
            struct text others = {0};
            if (experiment_value(e, p, axis) != 0)
                continue;
            experiment_add_other_keys(e, p, axis, &others);
            panels_method(figure, line, e->methods[m].name, others.chars ? others.chars : "");
            err = others.failed ? SPH_EMEMORY : read_line(panels, m, p, axis, line++, &table);
            text_free(&others);
        }
    panels_head(figure, table.layers, table.lines);
    for (size_t layer = 0; layer < table.layers && !err; layer++)
        write_layer(figure, &table, layer);
    mem_free(table.marks);
    return err;
}

const struct figure_kind figure_width = {
    .needs = FIGURE_GRADIENTS | FIGURE_SCORES,
    .axis = "hidden",
    .fill = fill,
    .caption = "For each layer and width of the grid: root mean square of the gradient of the directions, at "
               "the start and averaged over later epochs, and the share of samples for which a unit is "
               "active, at the start and at the end. Mean and standard error over the runs.",
};
