/* SPDX-License-Identifier: MIT
 *
 * With one feature a boundary is a point: at eleven moments of the training, where the points of all units
 * lie. The first bar is the start and lies at the bottom. */
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/data.h"
#include "report/panels.h"
#include "report/spectrum.h"

enum { BARS = 11 };

int spectrum_write(struct figure *figure, const struct panel *panel, size_t number)
{
    char name[128];
    size_t shape[4], steps[4];
    double scale, mean, low, high;
    panels_note(figure, number, panel_empty(panel));
    if (panel_empty(panel)) {
        panels_number(figure, "bars", number, 0);
        return 0;
    }
    panel_name(name, panel, 0, "phi");
    int err = panel_shape(panel, name, 3, shape);
    if (err < 0 || (err = panel_scale(panel, 1, &scale, &mean)) < 0 ||
        (err = panel_shape(panel, "frame_step", 1, steps)) < 0)
        return err;
    if (shape[2] != 1 || !shape[0] || steps[0] != shape[0])
        return sph_fail_at(SPH_EFORMAT, panel->where,
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
        if ((err = npz_read(panel->record, name, phi, frame * shape[1], shape[1])) < 0 ||
            (err = npz_read(panel->record, "frame_step", &step, frame, 1)) < 0)
            break;
        for (size_t j = 0; j < shape[1]; j++) {
            phi[j] = phi[j] * scale + mean;
            outside += !(phi[j] >= low && phi[j] <= high); /* and those that have none */
        }
        for (size_t j = 0; j < shape[1]; j++)
            figure_row(figure, (double[]){phi[j], (double)bar, step, outside}, 4);
        figure_gap(figure, 2);
    }
    panels_number(figure, "bars", number, (double)bars);
    mem_free(phi);
    return err;
}

int spectrum_fill(struct figure *figure, const struct panels *panels)
{
    size_t empty = 0;
    panels_head(figure, panels->rows, panels->columns);
    for (size_t i = 0; i < panels->rows * panels->columns; i++) {
        const struct panel *panel = &panels->list[i];
        double low, high;
        if (panel->data->features != 1)
            return sph_fail_at(SPH_EARG, panel->where, "a spectrum needs data with 1 feature, found %zu",
                               panel->data->features);
        if (!i) {
            panel_window(panel, 0, 0.025, &low, &high);
            figure_number(figure, "x_low", low);
            figure_number(figure, "x_high", high);
            if (panels_axes(figure, panel) < 0)
                return SPH_EMEMORY;
        }
        panels_title(figure, panel, i);
        const char *note = panel_empty(panel);
        if (note && ++empty == panels->rows * panels->columns)
            return panels_all_empty(panels, note);
        int err = spectrum_write(figure, panel, i);
        if (err < 0)
            return err;
    }
    return 0;
}
