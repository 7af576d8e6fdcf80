/* SPDX-License-Identifier: MIT
 *
 * Trained nets side by side: the polygons on which each is linear, the line between classes, and the data. */
#include "base/error.h"
#include "data/data.h"
#include "report/panels.h"
#include "report/regions.h"

enum { POINTS_MOST = 400, REFUSED = 1 };

static void write_data(struct figure *figure, const struct panel *panel, size_t number)
{
    const sph_data *data = panel->data;
    const sph_split *split = panel->split;
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
    sph_regions_opts opts;
    sph_regions_defaults(&opts);
    opts.task = panel->data->task;
    opts.most = REGIONS_DRAWN;
    for (int i = 0; i < 4; i++)
        opts.window[i] = window[i];
    write_data(figure, panel, number);
    if (!panel->last) {
        panels_number(figure, "model", number, 0);
        panels_title(figure, panel, number);
        panels_text(figure, "count", number, "%s", panel_without_model(panel));
        return 0;
    }
    int err = sph_regions_new(&regions, panel->last, &opts);
    if (err == SPH_EMEMORY)
        return err;
    panels_number(figure, "model", number, !err);
    if (err < 0) { /* a norm of each row: the other panels are worth drawing */
        panels_title(figure, panel, number);
        panels_text(figure, "count", number, "no map of its regions");
        sph_fail_move(err, panel->where, 0, 1);
        return REFUSED;
    }
    size_t count = sph_regions_count(regions);
    *most = count > *most ? count : *most;
    panels_title(figure, panel, number);
    panels_text(figure, "count", number, "%zu regions", count);
    panels_columns(figure, number, "polygon",
                   "x1 x2 active: a block per region, its first corner again at its end");
    regions_add_polygons(figure, regions);
    panels_columns(figure, number, "decision", "x1 x2: a block per piece of the line between classes");
    regions_add_decision(figure, regions);
    panels_number(figure, "pieces", number,
                  (double)sph_regions_segments(regions, &(const sph_segment *){NULL}));
    sph_regions_free(regions);
    return 0;
}

int region_maps_fill(struct figure *figure, const struct panels *panels)
{
    const struct panel *first = &panels->list[0];
    double window[4];
    size_t most = 0;
    int err;
    for (size_t i = 0; i < panels->rows * panels->columns; i++)
        if (panels->list[i].data->features != 2)
            return sph_fail_at(SPH_EARG, panels->list[i].where, "regions needs data with 2 features");
    panels_head(figure, panels->rows, panels->columns);
    if ((err = panels_plane(figure, first, window)) < 0)
        return err;
    size_t refused = 0;
    for (size_t i = 0; i < panels->rows * panels->columns && err >= 0; i++) {
        err = write_panel(figure, &panels->list[i], i, window, &most);
        if (err == REFUSED && ++refused == panels->rows * panels->columns)
            return SPH_EARG; /* and the last message holds */
    }
    figure_number(figure, "most", (double)most);
    figure_number(figure, "classes",
                  first->data->task == SPH_TASK_REGRESSION ? 0 : (double)first->data->classes);
    return err < 0 ? err : 0;
}
