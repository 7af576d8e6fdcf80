/* SPDX-License-Identifier: MIT
 *
 * The decision regions of a classifier with two features, the data, and a star at phi of each unit of the first layer. */
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "boundary/hyperplane.h"
#include "data/open.h"
#include "report/figures.h"
#include "train/members.h"

enum { SIDE = 121 };

/* The margin of class k for the outputs y, positive inside its region. A single output is the logit of class 1. */
static double margin(const double *y, size_t outputs, size_t k)
{
    double other = -(double)INFINITY;
    if (outputs == 1)
        return y[0];
    for (size_t j = 0; j < outputs; j++)
        if (j != k && y[j] > other)
            other = y[j];
    return y[k] - other;
}

/* The colour of the map: the probability of class 1 for one output, otherwise the predicted class. */
static double colour_of(const double *y, size_t outputs)
{
    size_t best = 0;
    if (outputs == 1)
        return 1 / (1 + exp(-y[0]));
    for (size_t j = 1; j < outputs; j++)
        best = y[j] > y[best] ? j : best;
    return (double)best;
}

/* Rows of the map: x1 x2 colour, then a margin for each line between classes. */
static int write_map(struct figure *figure, const struct panel *panel, const double low[2],
                     const double high[2])
{
    const struct sph_run *run = &panel->run;
    size_t outputs = sph_net_outputs(run->nets[0]), columns = 3 + outputs;
    double *x = mem_get(SIDE * 2, sizeof *x), *y = mem_get(SIDE * outputs, sizeof *y);
    double *row = mem_get(columns, sizeof *row);
    int err = x && y && row ? 0 : SPH_EMEMORY;
    for (size_t j = 0; j < SIDE && !err; j++) {
        for (size_t i = 0; i < SIDE; i++) {
            x[i * 2] = low[0] + (high[0] - low[0]) * (double)i / (SIDE - 1);
            x[i * 2 + 1] = low[1] + (high[1] - low[1]) * (double)j / (SIDE - 1);
        }
        if ((err = members_forward(run->nets, run->members, (sph_loss)run->spec->options.loss, x, SIDE, y)) <
            0)
            break;
        for (size_t i = 0; i < SIDE; i++) {
            row[0] = x[i * 2];
            row[1] = x[i * 2 + 1];
            row[2] = colour_of(y + i * outputs, outputs);
            for (size_t k = 0; k < outputs; k++)
                row[3 + k] = margin(y + i * outputs, outputs, k);
            figure_row(figure, row, columns);
        }
        figure_gap(figure, 1);
    }
    mem_free(x);
    mem_free(y);
    mem_free(row);
    return err;
}

static void write_rows(struct figure *figure, const sph_data *data, const uint32_t *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        figure_row(figure, (double[]){data->x[rows[i] * 2], data->x[rows[i] * 2 + 1], data->y[rows[i]]}, 3);
    figure_gap(figure, 2);
}

/* phi = -b w / |w|^2, converted to data units. */
static int write_stars(struct figure *figure, sph_net *net, size_t *count)
{
    struct hyperplanes planes;
    const struct scaling *scaling = &net->scaling;
    int err = hyperplanes_new(&planes, net, 0);
    if (err < 0)
        return err;
    for (size_t j = 0; planes.w && j < planes.m; j++) {
        const double *w = planes.w + j * 2;
        double size = w[0] * w[0] + w[1] * w[1], phi[2];
        for (size_t i = 0; i < 2; i++) {
            phi[i] = size > 0 ? -planes.b[j] * w[i] / size : (double)NAN;
            phi[i] = scaling_feature_of(scaling, i, phi[i]);
        }
        figure_row(figure, (double[]){phi[0], phi[1], (double)j}, 3);
    }
    *count += planes.w ? planes.m : 0;
    hyperplanes_free(&planes);
    return 0;
}

static int write_panel(struct figure *figure, const struct panel *panel, size_t number, const double low[2],
                       const double high[2])
{
    panels_title(figure, panel, number);
    panels_score(figure, panel, number);
    panels_number(figure, "model", number, panel->run.nets != NULL);
    panels_columns(figure, number, "data", "x1 x2 class; training rows, then test rows");
    write_rows(figure, panel->run.data, panel->run.split.train, panel->run.split.train_rows);
    write_rows(figure, panel->run.data, panel->run.split.test, panel->run.split.test_rows);
    if (!panel->run.nets)
        return 0;
    panels_columns(figure, number, "stars", "phi1 phi2 unit, of each net");
    size_t stars = 0;
    int err = 0;
    for (size_t k = 0; k < panel->run.members && !err; k++)
        err = write_stars(figure, panel->run.nets[k], &stars);
    if (err < 0)
        return err;
    panels_number(figure, "stars", number, (double)stars);
    panels_columns(figure, number, "map", "x1 x2 colour margins: 0 on the line between classes");
    return write_map(figure, panel, low, high);
}

static int fill(struct figure *figure, struct panels *panels)
{
    const struct panel *panel;
    double window[4];
    int err = panels_open(panels, 0, &panel);
    panels_head(figure, panels->rows, panels->columns);
    if (err < 0 || (err = panels_plane(figure, panel, 0.06, window)) < 0)
        return err;
    const double low[] = {window[0], window[2]}, high[] = {window[1], window[3]};
    const sph_data *data = panel->run.data;
    panels_classes(figure, data->labels, data->task == SPH_TASK_REGRESSION ? 0 : data->classes);
    for (size_t i = 0; i < panels_count(panels) && !err; i++)
        if (!(err = panels_open(panels, i, &panel)))
            err = write_panel(figure, panel, i, low, high);
    return err;
}

const struct figure_kind figure_decision = {
    .needs = FIGURE_DATA | FIGURE_LAST,
    .features_least = 2,
    .features_most = 2,
    .task = FIGURE_CLASSES,
    .fill = fill,
    .caption = "Decision regions at the best epoch (for an ensemble: of the mean, with the units of all "
               "networks) and data: dots are training samples, crosses are test samples. A star is a unit's "
               "φ at that epoch; the paths in trajectories continue to the last step.",
};
