/* SPDX-License-Identifier: MIT
 *
 * Predictions for data with one feature, before and after training, with the training and test rows; if recorded, the spectrum of the
 * boundaries below. */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/open.h"
#include "report/figures.h"
#include "train/losses.h"
#include "train/members.h"

enum { POINTS = 401 };

struct pair {
    double x, y;
};

static int by_x(const void *a, const void *b)
{
    const struct pair *p = a, *q = b;
    return (p->x > q->x) - (p->x < q->x);
}

/* The rows sorted by x, so that they can be drawn as a line. */
static int write_rows(struct figure *figure, const sph_data *data, const uint32_t *rows, size_t count)
{
    struct pair *pairs = mem_get(count, sizeof *pairs);
    if (!pairs)
        return SPH_EMEMORY;
    for (size_t i = 0; i < count; i++)
        pairs[i] = (struct pair){data->x[rows[i]], data->y[rows[i]]};
    qsort(pairs, count, sizeof *pairs, by_x);
    for (size_t i = 0; i < count; i++)
        figure_row(figure, (double[]){pairs[i].x, pairs[i].y}, 2);
    mem_free(pairs);
    return 0;
}

/* The mean prediction of the nets at x (POINTS); NaN without nets. */
static int predict(const struct panel *panel, sph_net *const *nets, size_t count, const double *x, double *y)
{
    sph_loss loss = (sph_loss)panel->run.spec->options.loss;
    for (size_t i = 0; i < POINTS; i++)
        y[i] = (double)NAN;
    int err = count ? members_forward(nets, count, loss, x, POINTS, y) : 0;
    for (size_t i = 0; i < POINTS && count && !err; i++)
        loss_predict(loss_row(loss)->link, 1, &y[i]);
    return err;
}

static int write_panel(struct figure *figure, const struct panel *panel, size_t number)
{
    double x[POINTS], before[POINTS], after[POINTS], low, high;
    panel_window(panel, 0, 0.025, &low, &high);
    for (size_t i = 0; i < POINTS; i++)
        x[i] = low + (high - low) * (double)i / (POINTS - 1);
    int err = predict(panel, &panel->run.first, panel->run.first != NULL, x, before);
    if (!err)
        err = predict(panel, panel->run.nets, panel->run.members, x, after);
    panels_columns(figure, number, "", "x, prediction before training, prediction after");
    for (size_t i = 0; i < POINTS && !err; i++)
        figure_row(figure, (double[]){x[i], before[i], after[i]}, 3);
    return err;
}

static void write_window(struct figure *figure, const struct panel *panel)
{
    const sph_data *data = panel->run.data;
    double low, high, least = data->y[0], most = data->y[0];
    panel_window(panel, 0, 0.025, &low, &high);
    for (size_t i = 0; i < data->rows; i++) {
        least = data->y[i] < least ? data->y[i] : least;
        most = data->y[i] > most ? data->y[i] : most;
    }
    double wide = (most > least ? most - least : 1) * 0.08;
    figure_number(figure, "x_low", low);
    figure_number(figure, "x_high", high);
    figure_number(figure, "y_low", least - wide);
    figure_number(figure, "y_high", most + wide);
}

/* 1 if some panel has a record for the spectrum. */
static int any_spectrum(struct panels *panels, int *out)
{
    int err = 0;
    *out = 0;
    for (size_t i = 0; i < panels_count(panels) && !*out && !err; i++) {
        const struct panel *panel;
        if (!(err = panels_look(panels, i, RUN_RECORD, &panel)))
            *out = panel_array(panel, 0, "phi") != NULL;
    }
    return err;
}

/* Axes and rows, which all panels take from the first one. */
static int write_first(struct figure *figure, const struct panel *panel, int spectrum)
{
    const struct sph_run *run = &panel->run;
    write_window(figure, panel);
    if (panels_axes(figure, panel) < 0)
        return SPH_EMEMORY;
    figure_number(figure, "spectrum", spectrum);
    figure_number(figure, "is_function",
                  run->data->reading.made && run->data->test_from); /* its test part has no noise */
    figure_columns(figure, "train", "x y of the training rows");
    int err = write_rows(figure, run->data, run->split.train, run->split.train_rows);
    figure_columns(figure, "test", "x y of the test rows");
    return err ? err : write_rows(figure, run->data, run->split.test, run->split.test_rows);
}

static int fill(struct figure *figure, struct panels *panels)
{
    int spectrum, err = any_spectrum(panels, &spectrum);
    panels_head(figure, panels->rows, panels->columns);
    for (size_t i = 0; i < panels_count(panels) && !err; i++) {
        const struct panel *panel;
        if ((err = panels_open(panels, i, &panel)) < 0 ||
            (!i && (err = write_first(figure, panel, spectrum)) < 0))
            return err;
        panels_title(figure, panel, i);
        panels_score(figure, panel, i);
        err = write_panel(figure, panel, i);
        if (!err && spectrum && panel->run.record)
            err = spectrum_write(figure, panel, i);
        else if (!err && spectrum) {
            panels_note(figure, i, "nothing recorded");
            panels_number(figure, "bars", i, 0);
        }
    }
    return err;
}

const struct figure_kind figure_predictions = {
    .needs = FIGURE_DATA | FIGURE_FIRST | FIGURE_LAST | FIGURE_RECORD,
    .features_least = 1,
    .features_most = 1,
    .task = FIGURE_ONE_TARGET,
    .fill = fill,
    .caption = "Predictions before and after training, with the data and the true function.",
};
