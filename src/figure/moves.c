/* SPDX-License-Identifier: MIT
 *
 * How far a step moves a layer's boundaries, and how far it turns them: the largest of all units, step by
 * step. One panel for each point of the grid, one line for each method. */
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "boundary/hyperplane.h"
#include "data/data.h"
#include "figure/panels.h"

/* Of longer trainings the largest of neighbouring steps is shown, and no peak is lost. */
enum { BINS = 1000 };

/* Blocks: step, largest, median and 90 % of the units, times factor. */
static void write_steps(struct figure *figure, const double *step, const double *value, size_t count,
                        double factor)
{
    size_t bins = count < BINS ? count : BINS;
    for (size_t bin = 0; bin < bins; bin++) {
        size_t first = count * bin / bins, end = count * (bin + 1) / bins;
        double top[3] = {(double)NAN, (double)NAN, (double)NAN};
        for (size_t t = first; t < end; t++)
            for (size_t k = 0; k < 3; k++)
                top[k] = isnan(top[k]) || value[t * 3 + k] > top[k] ? value[t * 3 + k] : top[k];
        figure_row(figure, (double[]){step[first], top[0] * factor, top[1] * factor, top[2] * factor}, 4);
    }
    figure_gap(figure, 2);
}

static int write_line(struct figure *figure, const struct panel *panel, const char *what, double factor,
                      double *most)
{
    char name[128];
    size_t shape[4], steps[4];
    double *step = NULL, *value = NULL;
    panel_name(name, panel, 0, what);
    int err = panel_read(panel, name, 2, shape, &value);
    if (!err)
        err = panel_read(panel, "step", 1, steps, &step);
    if (!err && (shape[1] != 3 || shape[0] != steps[0]))
        err = sph_fail(SPH_EFORMAT, "%s: boundaries.npz: '%s' is (%zu, %zu), expected (%zu, 3)", panel->where,
                       name, shape[0], shape[1], steps[0]);
    if (!err)
        write_steps(figure, step, value, shape[0], factor);
    if (!err && shape[0] && step[shape[0] - 1] > *most)
        *most = step[shape[0] - 1];
    mem_free(step);
    mem_free(value);
    return err;
}

static int fill(struct figure *figure, const struct panels *panels, const char *what, const char *header)
{
    panels_head(figure, panels->rows, panels->columns);
    int moves = what[0] == 'm', err = 0;
    double most = 1;
    for (size_t column = 0; column < panels->columns; column++)
        panels_method(figure, column, panels->list[column].method,
                      panels->rows == 1 ? panels->list[column].point : "");
    for (size_t row = 0; row < panels->rows && !err; row++) {
        const struct panel *line = &panels->list[row * panels->columns];
        panels_text(figure, "title", row, "%s", panels->rows > 1 ? line->point : "");
        panels_part(figure, row, "", header);
        for (size_t column = 0; column < panels->columns && !err; column++) {
            double scale = plane_degrees, mean;
            size_t n = line[column].data->features;
            if (moves) /* raw units where there is one unit to speak of */
                scale = 1;
            if (moves && n == 1)
                err = panel_scale(&line[column], 1, &scale, &mean);
            if (!err)
                err = write_line(figure, &line[column], what, scale, &most);
        }
    }
    figure_number(figure, "x_most", most);
    return err;
}

int moves_fill(struct figure *figure, const struct panels *panels)
{
    return fill(figure, panels, "move", "step, |phi - phi before| of the units: largest, median, 90 %");
}

int turns_fill(struct figure *figure, const struct panels *panels)
{
    return fill(figure, panels, "turn", "step, turn of the units in degrees: largest, median, 90 %");
}
