/* SPDX-License-Identifier: MIT
 *
 * The linear regions of trained networks, the line between classes, and the data. */
#include "base/error.h"
#include "data/open.h"
#include "report/figures.h"
#include "report/region_map.h"

enum { POINTS_MOST = 400, REFUSED = 1 };

/* Extension of the range of the data on each side, as in `spherelu regions`, so that both count the same regions. */
static const double WINDOW_SHARE = 0.1;

static void write_data(struct figure *figure, const struct panel *panel, size_t number)
{
    const sph_data *data = panel->run.data;
    const sph_split *split = &panel->run.split;
    size_t every = split->train_rows / POINTS_MOST + 1;
    panels_columns(figure, number, "data", "x1 x2 class: training rows");
    for (size_t i = 0; i < split->train_rows; i += every) {
        const double *x = data->x + (size_t)split->train[i] * 2;
        double class = data->task == SPH_TASK_REGRESSION ? 0 : data->y[split->train[i]];
        figure_row(figure, (double[]){x[0], x[1], class}, 3);
    }
}

static int write_panel(struct figure *figure, const struct panel *panel, size_t number,
                       const double window[4], size_t *most)
{
    sph_regions *regions = NULL;
    sph_regions_opts opts = {.size = sizeof opts, .task = panel->run.data->task, .most = REGIONS_DRAWN};
    for (int i = 0; i < 4; i++)
        opts.window[i] = window[i];
    write_data(figure, panel, number);
    if (!run_single(&panel->run)) {
        panels_number(figure, "model", number, 0);
        panels_title(figure, panel, number);
        panels_text(figure, "count", number, "%s", panel_without_model(panel));
        return 0;
    }
    int err = sph_regions_new(&regions, run_single(&panel->run), &opts);
    if (err == SPH_EMEMORY)
        return err;
    panels_number(figure, "model", number, !err);
    if (err < 0) { /* a norm with statistics of each sample: draw the other panels */
        panels_title(figure, panel, number);
        panels_text(figure, "count", number, "no map of its regions");
        sph_fail_move(err, panel->run.dir, 0, 1);
        return REFUSED;
    }
    size_t count = regions->count;
    *most = count > *most ? count : *most;
    panels_title(figure, panel, number);
    panels_text(figure, "count", number, "%zu regions", count);
    panels_columns(figure, number, "polygon",
                   "x1 x2 active: a block per region, its first corner again at its end");
    regions_add_polygons(figure, regions);
    panels_columns(figure, number, "decision", "x1 x2: a block per piece of the line between classes");
    regions_add_decision(figure, regions);
    panels_number(figure, "pieces", number, (double)regions->segments);
    sph_regions_free(regions);
    return 0;
}

static int fill(struct figure *figure, struct panels *panels)
{
    const struct panel *panel;
    double window[4];
    size_t most = 0, refused = 0;
    int err = panels_open(panels, 0, &panel);
    panels_head(figure, panels->rows, panels->columns);
    if (err < 0 || (err = panels_plane(figure, panel, WINDOW_SHARE, window)) < 0)
        return err;
    const sph_data *data = panel->run.data;
    panels_classes(figure, data->labels, data->task == SPH_TASK_REGRESSION ? 0 : data->classes);
    for (size_t i = 0; i < panels_count(panels) && err >= 0; i++) {
        if ((err = panels_open(panels, i, &panel)) < 0)
            return err;
        err = write_panel(figure, panel, i, window, &most);
        if (err == REFUSED && ++refused == panels_count(panels))
            return SPH_EARG; /* with the message of the last panel */
    }
    figure_number(figure, "most", (double)most);
    return err < 0 ? err : 0;
}

const struct figure_kind figure_regions = {
    .needs = FIGURE_DATA | FIGURE_LAST | FIGURE_REGIONS,
    .features_least = 2,
    .features_most = 2,
    .script = "region-maps",
    .fill = fill,
    .caption = "Exact linear regions of the trained networks; a darker blue has more active units.",
};
