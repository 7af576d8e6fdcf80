/* SPDX-License-Identifier: MIT
 *
 * The path of each unit's phi during training: in the plane with two features, over steps with one feature. */
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/open.h"
#include "report/figures.h"

/* In longer trainings every k-th frame is shown, in wider layers every k-th unit. */
enum { FRAMES_MOST = 4096, UNITS_MOST = 200, POINTS_MOST = 1500 };

/* The frames of one panel, in data units. */
struct frames {
    size_t count, units, of_units, n;
    double *step; /* (count) */
    double *phi;  /* (count, units, n) */
};

static void frames_free(struct frames *frames)
{
    mem_free(frames->step);
    mem_free(frames->phi);
}

static int frames_read(struct frames *out, const struct panel *panel)
{
    const char *name = panel_array(panel, 0, "phi");
    size_t shape[4], steps[4], n = panel->run.data->features;
    double scale[2], mean[2], *row = NULL;
    *out = (struct frames){.n = n};
    int err = panel_shape(panel, name, 3, shape);
    if (err < 0 || (err = panel_scale(panel, n, scale, mean)) < 0 ||
        (err = panel_shape(panel, "frame_step", 1, steps)) < 0)
        return err;
    if (shape[2] != n || steps[0] != shape[0])
        return sph_fail_of(SPH_EFORMAT, panel->run.dir, 0, name,
                           "boundaries.npz: '%s' is (%zu, %zu, %zu), expected (%zu, m, %zu)", name, shape[0],
                           shape[1], shape[2], steps[0], n);
    size_t every = (shape[0] + FRAMES_MOST - 1) / FRAMES_MOST,
           each = (shape[1] + UNITS_MOST - 1) / UNITS_MOST;
    every += !every;
    each += !each;
    out->count = (shape[0] + every - 1) / every;
    out->units = (shape[1] + each - 1) / each;
    out->of_units = shape[1];
    out->step = mem_get(out->count, sizeof *out->step);
    out->phi = mem_get(out->count * out->units * n, sizeof *out->phi);
    row = mem_get(shape[1] * n, sizeof *row);
    err = out->step && out->phi && row ? 0 : SPH_EMEMORY;
    for (size_t k = 0; k < out->count && !err; k++) {
        size_t frame = k + 1 == out->count ? shape[0] - 1 : k * every; /* always with the last one */
        err = npz_read(panel->run.record, "frame_step", &out->step[k], frame, 1);
        if (!err)
            err = npz_read(panel->run.record, name, row, frame * shape[1] * n, shape[1] * n);
        for (size_t j = 0; j < out->units && !err; j++)
            for (size_t i = 0; i < n; i++)
                out->phi[(k * out->units + j) * n + i] = row[j * each * n + i] * scale[i] + mean[i];
    }
    mem_free(row);
    if (err < 0)
        frames_free(out);
    return err;
}

/* Frame k of a unit is too near to the last kept frame to be visible. near: for each axis. */
static int is_near(const struct frames *f, size_t unit, size_t kept, size_t k, const double near[2])
{
    const double *a = &f->phi[(kept * f->units + unit) * f->n], *b = &f->phi[(k * f->units + unit) * f->n];
    for (size_t i = 0; i < f->n; i++)
        if (isnan(b[i]) != isnan(a[i]) || fabs(a[i] - b[i]) > near[i])
            return 0;
    return 1;
}

/* The frames of a unit that change its line visibly; with too many, the threshold is doubled. */
static size_t thin(const struct frames *f, size_t unit, const double window[2], size_t *kept)
{
    double near[2] = {window[0] / 500, window[1] / 500};
    for (;;) {
        size_t count = 0, before = 0;
        for (size_t k = 0; k < f->count; k++) {
            if (k && k + 1 < f->count && is_near(f, unit, before, k, near))
                continue;
            if (count < POINTS_MOST)
                kept[count] = k;
            count++;
            before = k;
        }
        if (count <= POINTS_MOST || !(near[0] < window[0]))
            return count < POINTS_MOST ? count : POINTS_MOST;
        near[0] *= 2;
        near[1] *= 2;
    }
}

/* One block for each unit: x1 x2 step unit, or phi step unit. */
static int write_units(struct figure *figure, const struct frames *f, const double window[2])
{
    size_t *kept = mem_get(POINTS_MOST, sizeof *kept);
    if (!kept)
        return SPH_EMEMORY;
    for (size_t j = 0; j < f->units; j++) {
        size_t count = thin(f, j, window, kept);
        for (size_t c = 0; c < count; c++) {
            const double *phi = &f->phi[(kept[c] * f->units + j) * f->n];
            double x = phi[0], y = f->n == 2 ? phi[1] : f->step[kept[c]];
            figure_row(figure, (double[]){x, y, f->step[kept[c]], (double)j}, 4);
        }
        figure_gap(figure, 2);
    }
    mem_free(kept);
    return 0;
}

/* The units that are outside of the window at some frame, or nowhere. */
static size_t count_outside(const struct frames *f, const double low[2], const double high[2])
{
    size_t count = 0;
    for (size_t j = 0; j < f->units; j++) {
        int inside = 1;
        for (size_t k = 0; k < f->count && inside; k++)
            for (size_t i = 0; i < f->n; i++) {
                double phi = f->phi[(k * f->units + j) * f->n + i];
                inside &= phi >= low[i] && phi <= high[i];
            }
        count += !inside;
    }
    return count;
}

/* The last frame. */
static void write_ends(struct figure *figure, const struct frames *f, size_t number)
{
    panels_columns(figure, number, "ends", f->n == 2 ? "phi1 phi2 unit" : "phi step unit");
    for (size_t j = 0; f->count && j < f->units; j++) {
        const double *phi = &f->phi[((f->count - 1) * f->units + j) * f->n];
        figure_row(figure, (double[]){phi[0], f->n == 2 ? phi[1] : f->step[f->count - 1], (double)j}, 3);
    }
}

/* For each page of the animation, the latest frame at its step. */
static void write_heads(struct figure *figure, const struct frames *f, size_t number, size_t pages,
                        double most)
{
    size_t k = 0;
    panels_columns(figure, number, "heads", f->n == 2 ? "phi1 phi2 unit step" : "phi step unit step");
    for (size_t page = 1; page <= pages; page++) {
        double share = (double)page / (double)pages, now = most * share * share;
        while (k + 1 < f->count && f->step[k + 1] <= now)
            k++;
        for (size_t j = 0; f->count && j < f->units; j++) {
            const double *phi = &f->phi[(k * f->units + j) * f->n];
            figure_row(figure, (double[]){phi[0], f->n == 2 ? phi[1] : f->step[k], (double)j, f->step[k]}, 4);
        }
        figure_gap(figure, 2);
    }
}

/* The last step of the longest training. */
static int longest(struct panels *panels, double *most)
{
    *most = 1;
    for (size_t i = 0; i < panels_count(panels); i++) {
        const struct panel *panel;
        size_t shape[4];
        double step = 0;
        int err = panels_look(panels, i, RUN_RECORD, &panel);
        if (!err)
            err = panel_shape(panel, "frame_step", 1, shape);
        if (!err && shape[0])
            err = npz_read(panel->run.record, "frame_step", &step, shape[0] - 1, 1);
        if (err < 0)
            return err;
        *most = step > *most ? step : *most;
    }
    return 0;
}

/* All panels have the axes of the first one. */
static void write_frame(struct figure *figure, size_t n, const double low[2], const double high[2])
{
    figure_number(figure, "features", (double)n);
    figure_number(figure, "x_low", low[0]);
    figure_number(figure, "x_high", high[0]);
    if (n == 2) {
        figure_number(figure, "y_low", low[1]);
        figure_number(figure, "y_high", high[1]);
    }
}

static int write_panel(struct figure *figure, const struct panel *panel, size_t i, size_t pages, double most)
{
    size_t n = panel->run.data->features;
    struct frames frames;
    double low[2], high[2], window[2] = {1, 1};
    for (size_t k = 0; k < n; k++) {
        panel_window(panel, k, 0.1, &low[k], &high[k]);
        window[k] = high[k] - low[k];
    }
    panels_title(figure, panel, i);
    panels_note(figure, i, panel_empty(panel));
    if (!i)
        write_frame(figure, n, low, high);
    if (panel_empty(panel)) {
        panels_number(figure, "units", i, 0);
        return 0;
    }
    int err = frames_read(&frames, panel);
    if (err < 0)
        return err;
    panels_number(figure, "units", i, (double)frames.units);
    size_t outside = count_outside(&frames, low, high);
    if (outside)
        panels_text(figure, "outside", i, "%zu of %zu leave", outside, frames.units);
    else
        panels_text(figure, "outside", i, "%s", "");
    panels_columns(figure, i, "", n == 2 ? "phi1 phi2 step unit" : "phi step step unit");
    err = write_units(figure, &frames, window);
    write_ends(figure, &frames, i);
    if (pages)
        write_heads(figure, &frames, i, pages, most);
    frames_free(&frames);
    return err;
}

static int fill(struct figure *figure, struct panels *panels)
{
    double most;
    size_t empty = 0;
    int err = longest(panels, &most);
    panels_head(figure, panels->rows, panels->columns);
    for (size_t i = 0; i < panels_count(panels) && !err; i++) {
        const struct panel *panel;
        if ((err = panels_open(panels, i, &panel)) < 0)
            break;
        if (panel_empty(panel) && ++empty == panels_count(panels))
            return panels_all_empty(panels, panel_empty(panel));
        err = write_panel(figure, panel, i, panels->kind->pages, most);
    }
    figure_number(figure, "x_most", most);
    return err;
}

const struct figure_kind figure_trajectories = {
    .needs = FIGURE_BOUNDARIES | FIGURE_DATA,
    .features_least = 1,
    .features_most = 2,
    .fill = fill,
    .caption = "The path of each unit's φ during training, up to the last step, with one colour for each "
               "unit. φ is the point of the boundary nearest to the mean of the standardized data, in data "
               "units (phi_net of spherelu boundaries).",
};

const struct figure_kind figure_animation = {
    .needs = FIGURE_BOUNDARIES | FIGURE_DATA,
    .features_least = 1,
    .features_most = 2,
    .pages = 40,
    .fill = fill,
    .caption = "The same paths, animated.",
};
