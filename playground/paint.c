/* SPDX-License-Identifier: MIT
 *
 * Regions, bent boundaries, and pictures of both and of the outputs. */
#include "engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TOO_MANY = -100 }; /* more regions than were asked for */

static sph_regions_total total_of(const sph_regions *regions)
{
    sph_regions_total total = {0};
    sph_regions_sum(regions, &total);
    return total;
}

/* Returns how many regions the window has; TOO_MANY: more than most; another code: the net has none (ln, elu). */
EXPORT int pg_regions(int k, const double *window, size_t most)
{
    struct method *method = &world.method[k];
    sph_regions_opts opts = {.size = sizeof opts, .most = most};
    memcpy(opts.window, window, sizeof opts.window);
    sph_regions_free(method->regions);
    method->regions = NULL;
    int err = sph_regions_new(&method->regions, method->net, &opts);
    if (err < 0)
        return !strcmp(sph_failure()->key, "most") ? TOO_MANY : err;
    return (int)total_of(method->regions).regions;
}

EXPORT size_t pg_edges(int k)
{
    return total_of(world.method[k].regions).edges;
}

/* out (edges, 6) <- from, to, layer, unit */
EXPORT void pg_edges_read(int k, double *out)
{
    sph_regions_total total = total_of(world.method[k].regions);
    const sph_edge *edge = total.edge;
    for (size_t i = 0; i < total.edges; i++, out += EDGE_COLUMNS) {
        out[0] = edge[i].from[0];
        out[1] = edge[i].from[1];
        out[2] = edge[i].to[0];
        out[3] = edge[i].to[1];
        out[4] = (double)edge[i].layer;
        out[5] = (double)edge[i].unit;
    }
}

/* How outputs become colours. One output: shade = 255 (value - low) / (high - low). Several: the palette of the largest
 * one, shade = 255 of how far it is ahead of the next, up to high. palette: (tints, outputs, 256) of RGBA; regions
 * with different patterns take different tints. */
struct ink {
    const uint32_t *palette;
    size_t outputs, tints;
    double low, high;
};

static uint32_t shade(const struct ink *ink, size_t tint, size_t class, double value)
{
    double place = 255 * (value - ink->low) / (ink->high - ink->low);
    size_t at = place >= 255 ? 255 : place > 0 ? (size_t)place : 0; /* NaN: 0 */
    return ink->palette[(tint * ink->outputs + class) * 256 + at];
}

static uint32_t colour(const struct ink *ink, size_t tint, const double *y)
{
    size_t top = 0;
    double next = -INFINITY;
    if (ink->outputs == 1)
        return shade(ink, tint, 0, y[0]);
    for (size_t k = 1; k < ink->outputs; k++)
        if (y[k] > y[top]) {
            next = y[top];
            top = k;
        } else
            next = fmax(next, y[k]);
    return shade(ink, tint, top, y[top] - next);
}

static size_t tint_of(const uint8_t *pattern, size_t bytes, size_t tints)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ pattern[i]) * 16777619u;
    return (hash >> 8) % tints;
}

static size_t pattern_bytes(const sph_regions *regions)
{
    sph_regions_total total = total_of(regions);
    if (!total.layers)
        return 0;
    const sph_regions_layer *last = &total.layer[total.layers - 1];
    return last->byte + (last->units + 7) / 8;
}

enum { MOST_OUTPUTS = 16 }; /* of a painted net; the page has 6 classes at most */

/* The pixels whose middle lies in the region: those of a row lie between two edges. Neighbours have the same ends of
 * their common edge, so that no pixel is left out and none is filled twice. */
static void fill_region(const sph_region *region, const double *window, size_t width, size_t height,
                        const struct ink *ink, size_t tint, uint32_t *out)
{
    double pixel_x = (window[1] - window[0]) / (double)width,
           pixel_y = (window[3] - window[2]) / (double)height;
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < region->vertices; i++) {
        low = fmin(low, region->vertex[2 * i + 1]);
        high = fmax(high, region->vertex[2 * i + 1]);
    }
    long first = lround(ceil((window[3] - high) / pixel_y - 0.5)),
         last = lround(ceil((window[3] - low) / pixel_y - 0.5)); /* rows from above, without the last */
    for (long row = first < 0 ? 0 : first; row < last && row < (long)height; row++) {
        double y = window[3] - ((double)row + 0.5) * pixel_y, left = INFINITY, right = -INFINITY;
        for (size_t i = 0; i < region->vertices; i++) {
            const double *p = region->vertex + 2 * i,
                         *q = region->vertex + 2 * (i + 1 < region->vertices ? i + 1 : 0);
            if ((p[1] < y) == (q[1] < y))
                continue;
            const double *under = p[1] < q[1] ? p : q, *above = p[1] < q[1] ? q : p;
            double x = under[0] + (above[0] - under[0]) * ((y - under[1]) / (above[1] - under[1]));
            left = fmin(left, x);
            right = fmax(right, x);
        }
        if (!(left < right))
            continue;
        long from = lround(ceil((left - window[0]) / pixel_x - 0.5)),
             to = lround(ceil((right - window[0]) / pixel_x - 0.5));
        for (long column = from < 0 ? 0 : from; column < to && column < (long)width; column++) {
            double x = window[0] + ((double)column + 0.5) * pixel_x, value[MOST_OUTPUTS];
            for (size_t k = 0; k < ink->outputs; k++)
                value[k] = region->map[3 * k] * x + region->map[3 * k + 1] * y + region->map[3 * k + 2];
            out[(size_t)row * width + (size_t)column] = colour(ink, tint, value);
        }
    }
}

/* out (height, width) <- the regions that pg_regions found, each by its own affine map. */
EXPORT int pg_paint_regions(int k, const double *window, size_t width, size_t height, const uint32_t *palette,
                            size_t tints, double low, double high, uint32_t *out)
{
    const sph_regions *regions = world.method[k].regions;
    struct ink ink = {palette, sph_net_outputs(world.method[k].net), tints, low, high};
    size_t bytes = pattern_bytes(regions), count = total_of(regions).regions;
    if (ink.outputs > MOST_OUTPUTS)
        return SPH_EARG;
    for (size_t i = 0; i < count; i++) {
        sph_region region;
        int err = sph_regions_at(regions, i, &region);
        if (err < 0)
            return err;
        fill_region(&region, window, width, height, &ink, tint_of(region.pattern, bytes, tints), out);
    }
    return 0;
}

/* The same of any net, by its outputs at the middle of each pixel. */
EXPORT int pg_paint_surface(int k, const double *window, size_t width, size_t height, const uint32_t *palette,
                            double low, double high, uint32_t *out)
{
    sph_net *net = world.method[k].net;
    struct ink ink = {palette, sph_net_outputs(net), 1, low, high};
    double *x = malloc(2 * width * height * sizeof *x), *y = malloc(ink.outputs * width * height * sizeof *y);
    int err = x && y ? 0 : SPH_EMEMORY;
    for (size_t i = 0; !err && i < width * height; i++) {
        x[2 * i] = window[0] + (window[1] - window[0]) * ((double)(i % width) + 0.5) / (double)width;
        x[2 * i + 1] = window[3] - (window[3] - window[2]) * ((double)(i / width) + 0.5) / (double)height;
    }
    if (!err)
        err = sph_net_forward(net, x, width * height, y);
    for (size_t i = 0; !err && i < width * height; i++)
        out[i] = colour(&ink, 0, y + i * ink.outputs);
    free(x);
    free(y);
    return err;
}
