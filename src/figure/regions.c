/* SPDX-License-Identifier: MIT */
#include "figure/regions.h"

#include "base/error.h"
#include "figure/figure.h"

static size_t count_active(const sph_regions *regions, const sph_region *region)
{
    size_t active = 0;
    for (size_t i = 0; i < regions->pattern_bytes; i++)
        for (unsigned bits = region->pattern[i]; bits; bits &= bits - 1)
            active++;
    return active;
}

void regions_add_polygons(struct figure *figure, const sph_regions *regions)
{
    for (size_t r = 0; r < regions->count; r++) {
        sph_region region;
        sph_regions_at(regions, r, &region);
        double active = (double)count_active(regions, &region);
        for (size_t i = 0; i <= region.vertices; i++) {
            const double *at = region.vertex + 2 * (i % region.vertices);
            figure_row(figure, (double[]){at[0], at[1], active}, 3);
        }
        figure_gap(figure, 1);
    }
}

void regions_add_decision(struct figure *figure, const sph_regions *regions)
{
    for (size_t i = 0; i < regions->segments; i++) {
        figure_row(figure, regions->segment[i].from, 2);
        figure_row(figure, regions->segment[i].to, 2);
        figure_gap(figure, 1);
    }
}

static void add_data(struct figure *figure, const sph_regions *regions)
{
    figure_part(figure, "data", "s t class row, class and row from 0");
    for (size_t i = 0; i < regions->about.points; i++)
        figure_row(figure, regions->about.point + 4 * i, 4);
}

static void add_words(struct figure *figure, const sph_regions *regions)
{
    const struct regions_about *about = &regions->about;
    size_t units = 0;
    for (size_t k = 0; k < regions->layer_count; k++)
        units += regions->layer[k].units;
    figure_number(figure, "s_low", regions->window[0]);
    figure_number(figure, "s_high", regions->window[1]);
    figure_number(figure, "t_low", regions->window[2]);
    figure_number(figure, "t_high", regions->window[3]);
    figure_text(figure, "s_name", about->s_name ? about->s_name : "s");
    figure_text(figure, "t_name", about->t_name ? about->t_name : "t");
    figure_text(figure, "title", about->title ? about->title : "");
    figure_number(figure, "regions", (double)regions->count);
    figure_number(figure, "pieces", (double)regions->segments);
    figure_number(figure, "points", (double)about->points);
    figure_number(figure, "units", (double)units);
    figure_number(figure, "square", about->square);
    figure_number(figure, "planar", about->planar);
    figure_number(figure, "inputs", (double)regions->inputs);
    size_t classes = regions->outputs > 1 ? regions->outputs : 2;
    figure_number(figure, "classes", regions->task == SPH_TASK_REGRESSION ? 0 : (double)classes);
}

int regions_figure(const sph_regions *regions, const char *dir, const char *name)
{
    struct figure *figure = NULL;
    if (regions->count > REGIONS_DRAWN) {
        sph_fail(SPH_EARG, "%zu regions are more than a picture can show (%d)", regions->count,
                 REGIONS_DRAWN);
        return FIGURE_NO_GNUPLOT;
    }
    int err = figure_new(&figure, dir, name, "regions");
    if (err < 0)
        return err;
    add_words(figure, regions);
    figure_part(figure, "polygon", "s t active: a block per region, its first corner again at its end");
    regions_add_polygons(figure, regions);
    figure_part(figure, "decision", "s t: a block per piece of the decision boundary");
    regions_add_decision(figure, regions);
    add_data(figure, regions);
    err = figure_draw(figure);
    figure_free(figure);
    return err;
}
