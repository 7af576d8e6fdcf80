/* SPDX-License-Identifier: MIT */
#include "report/region_map.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "file/file.h"
#include "job/tool.h"
#include "report/panels.h"
#include "report/tool.h"

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
    figure_columns(figure, "data", "s t class row, class and row from 0");
    for (size_t i = 0; i < regions->about.points; i++)
        figure_row(figure, regions->about.point + 4 * i, 4);
}

/* ---------------------------------------------------------------- the output as an image */

enum { MAP_WIDE = 240 };

static int contains(const sph_region *region, double s, double t, double slack)
{
    for (size_t i = 0; i < region->vertices; i++) {
        const double *a = region->vertex + 2 * i, *b = region->vertex + 2 * ((i + 1) % region->vertices);
        if ((b[0] - a[0]) * (t - a[1]) - (b[1] - a[1]) * (s - a[0]) < -slack)
            return 0;
    }
    return 1;
}

/* The first of `count` pixels of [low, high] whose centre is not below x. */
static size_t pixel(double x, double low, double high, size_t count)
{
    double at = ceil((x - low) / (high - low) * (double)count - 0.5 - 1e-6);
    return at <= 0 ? 0 : at >= (double)count ? count : (size_t)at;
}

static void fill_pixels(const sph_region *region, const double window[4], size_t rows, double *value)
{
    double box[4] = {INFINITY, -INFINITY, INFINITY, -INFINITY};
    double wide = (window[1] - window[0]) / MAP_WIDE, high = (window[3] - window[2]) / (double)rows;
    for (size_t i = 0; i < 2 * region->vertices; i++) {
        double *side = box + 2 * (i % 2);
        side[0] = fmin(side[0], region->vertex[i]);
        side[1] = fmax(side[1], region->vertex[i]);
    }
    size_t last = pixel(box[1] + 1e-3 * wide, window[0], window[1], MAP_WIDE),
           top = pixel(box[3] + 1e-3 * high, window[2], window[3], rows);
    for (size_t j = pixel(box[2], window[2], window[3], rows); j < top; j++)
        for (size_t i = pixel(box[0], window[0], window[1], MAP_WIDE); i < last; i++) {
            double s = window[0] + ((double)i + 0.5) * wide, t = window[2] + ((double)j + 0.5) * high;
            if (contains(region, s, t, 1e-6 * wide * high))
                value[j * MAP_WIDE + i] = region->map[0] * s + region->map[1] * t + region->map[2];
        }
}

static int add_map(struct figure *figure, const sph_regions *regions)
{
    const double *w = regions->plane.window;
    size_t rows = regions->inputs == 1 ? 2 : MAP_WIDE;
    double *value = mem_get(rows * MAP_WIDE, sizeof *value);
    if (!value)
        return SPH_EMEMORY;
    for (size_t i = 0; i < rows * MAP_WIDE; i++)
        value[i] = NAN;
    for (size_t r = 0; r < regions->count; r++) {
        sph_region region;
        sph_regions_at(regions, r, &region);
        fill_pixels(&region, w, rows, value);
    }
    figure_columns(figure, "map", "s t output");
    for (size_t i = 0; i < rows * MAP_WIDE; i++) {
        double s = w[0] + ((double)(i % MAP_WIDE) + 0.5) * (w[1] - w[0]) / MAP_WIDE,
               t = w[2] + ((double)(i / MAP_WIDE) + 0.5) * (w[3] - w[2]) / (double)rows;
        figure_row(figure, (double[]){s, t, value[i]}, 3);
    }
    mem_free(value);
    return 0;
}

/* ---------------------------------------------------------------- the figure and its folder */

static void add_words(struct figure *figure, const sph_regions *regions)
{
    const struct regions_about *about = &regions->about;
    size_t units = 0;
    for (size_t k = 0; k < regions->layer_count; k++)
        units += regions->layer[k].units;
    figure_number(figure, "s_low", regions->plane.window[0]);
    figure_number(figure, "s_high", regions->plane.window[1]);
    figure_number(figure, "t_low", regions->plane.window[2]);
    figure_number(figure, "t_high", regions->plane.window[3]);
    figure_text(figure, "s_name", about->s_name ? about->s_name : "s");
    figure_text(figure, "t_name", about->t_name ? about->t_name : "t");
    figure_text(figure, "title", about->title ? about->title : "");
    figure_number(figure, "regions", (double)regions->count);
    figure_number(figure, "pieces", (double)regions->segments);
    figure_number(figure, "points", (double)about->points);
    figure_number(figure, "units", (double)units);
    figure_number(figure, "square", about->square);
    figure_number(figure, "planar", about->planar);
    figure_number(figure, "output_map", about->output);
    figure_number(figure, "inputs", (double)regions->inputs);
    panels_classes(figure, about->class_names, about->classes);
    figure_number(figure, "classifier", regions->task != SPH_TASK_REGRESSION);
}

int regions_figure(const sph_regions *regions, const char *dir, const char *name)
{
    struct figure *figure = NULL;
    if (regions->count > REGIONS_DRAWN) {
        sph_fail(SPH_EARG, "%zu regions are too many for a picture (limit %d)", regions->count,
                 REGIONS_DRAWN);
        return FIGURE_NO_GNUPLOT;
    }
    int err = figure_new(&figure, dir, name, "regions");
    if (err < 0)
        return err;
    add_words(figure, regions);
    figure_columns(figure, "polygon", "s t active: a block per region, its first corner again at its end");
    regions_add_polygons(figure, regions);
    figure_columns(figure, "decision", "s t: a block per piece of the decision boundary");
    regions_add_decision(figure, regions);
    add_data(figure, regions);
    err = regions->about.output ? add_map(figure, regions) : 0;
    err = err < 0 ? err : figure_draw(figure);
    figure_free(figure);
    return err;
}

static int save_in(const sph_regions *regions, const char *dir)
{
    struct file_replace file = {0};
    int err = file_make_directory(dir);
    if (err < 0)
        return err;
    char *path = file_join(dir, "regions.json");
    if (!path)
        return SPH_EMEMORY;
    if (!(err = file_replace_begin(&file, path)) &&
        !(err = sph_regions_json(regions, &(sph_sink){&file, file_replace_sink})))
        err = file_replace_commit(&file);
    file_replace_abort(&file);
    mem_free(path);
    return err < 0 ? err : regions_figure(regions, dir, "regions");
}

int sph_regions_save(const sph_regions *regions, const char *dir)
{
    int err = file_enter(dir);
    if (!err) {
        err = save_in(regions, dir);
        file_leave(dir);
    }
    return err;
}
