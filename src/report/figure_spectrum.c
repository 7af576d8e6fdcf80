/* SPDX-License-Identifier: MIT
 *
 * The boundaries of all units at eleven moments of the training, for data with one feature. The start is at the bottom. */

#include "base/error.h"
#include "base/memory.h"
#include "report/figures.h"

enum { BARS = 11 };

int spectrum_write(struct figure *figure, const struct panel *panel, size_t number)
{
    const char *name = panel_array(panel, 0, "phi");
    size_t shape[4], steps[4];
    double scale, mean, low, high;
    panels_note(figure, number, panel_empty(panel));
    if (panel_empty(panel)) {
        panels_number(figure, "bars", number, 0);
        return 0;
    }
    int err = panel_shape(panel, name, 3, shape);
    if (err < 0 || (err = panel_scale(panel, 1, &scale, &mean)) < 0 ||
        (err = panel_shape(panel, "frame_step", 1, steps)) < 0)
        return err;
    if (shape[2] != 1 || !shape[0] || steps[0] != shape[0])
        return sph_fail_of(SPH_EFORMAT, panel->run.dir, 0, name,
                           "boundaries.npz: '%s' is (%zu, %zu, %zu), expected (%zu, m, 1)", name, shape[0],
                           shape[1], shape[2], steps[0]);
    double *phi = mem_get(shape[1], sizeof *phi), step = 0;
    if (!phi)
        return SPH_EMEMORY;
    size_t bars = shape[0] < BARS ? shape[0] : BARS;
    panel_window(panel, 0, 0.025, &low, &high);
    panels_columns(figure, number, "spectrum", "phi bar step outside: units whose phi is not in the window");
    for (size_t bar = 0; bar < bars && !err; bar++) {
        size_t frame = bars > 1 ? (shape[0] - 1) * bar / (bars - 1) : 0;
        double outside = 0;
        if ((err = npz_read(panel->run.record, name, phi, frame * shape[1], shape[1])) < 0 ||
            (err = npz_read(panel->run.record, "frame_step", &step, frame, 1)) < 0)
            break;
        for (size_t j = 0; j < shape[1]; j++) {
            phi[j] = phi[j] * scale + mean;
            outside += !(phi[j] >= low && phi[j] <= high); /* NaN counts as outside */
        }
        for (size_t j = 0; j < shape[1]; j++)
            figure_row(figure, (double[]){phi[j], (double)bar, step, outside}, 4);
        figure_gap(figure, 2);
    }
    panels_number(figure, "bars", number, (double)bars);
    mem_free(phi);
    return err;
}

static int fill(struct figure *figure, struct panels *panels)
{
    size_t empty = 0;
    int err = 0;
    panels_head(figure, panels->rows, panels->columns);
    for (size_t i = 0; i < panels_count(panels) && !err; i++) {
        const struct panel *panel;
        double low, high;
        if ((err = panels_open(panels, i, &panel)) < 0)
            return err;
        if (!i) {
            panel_window(panel, 0, 0.025, &low, &high);
            figure_number(figure, "x_low", low);
            figure_number(figure, "x_high", high);
            if (panels_axes(figure, panel) < 0)
                return SPH_EMEMORY;
        }
        panels_title(figure, panel, i);
        if (panel_empty(panel) && ++empty == panels_count(panels))
            return panels_all_empty(panels, panel_empty(panel));
        err = spectrum_write(figure, panel, i);
    }
    return err;
}

const struct figure_kind figure_spectrum = {
    .needs = FIGURE_BOUNDARIES | FIGURE_DATA,
    .features_least = 1,
    .features_most = 1,
    .fill = fill,
    .caption = "The units' boundaries during training; the gray numbers on the right are those of units "
               "outside the frame.",
};
