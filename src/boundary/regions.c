/* SPDX-License-Identifier: MIT */
#include "boundary/regions.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/sized.h"
#include "boundary/polygon.h"

enum { REGIONS_MOST = 1000000, PROGRESS_EVERY = 64, STOPPED = 1 };

/* ---------------------------------------------------------------- one more region */

void regions_place(const sph_regions *regions, const struct piecewise *net, const double place[2],
                   double out[2])
{
    for (int axis = 0; axis < 2; axis++) {
        double at = place[axis];
        out[axis] = at == -1  ? regions->plane.window[2 * axis]
                    : at == 1 ? regions->plane.window[2 * axis + 1]
                              : net->middle[axis] + net->half[axis] * at;
    }
}

/* map (outputs, 3) <- from (3, ld) in the window as it is inside */
static void own_units(const struct piecewise *net, const struct scaling *scaling, size_t outputs,
                      const double *from, double *map)
{
    size_t ld = net->node[net->count - 1].ld;
    for (size_t k = 0; k < outputs; k++, map += 3) {
        double scale = scaling->y_scale ? scaling->y_scale[k] : 1;
        map[0] = scale * from[k] / net->half[0];
        map[1] = scale * from[ld + k] / net->half[1];
        map[2] = scale * from[2 * ld + k] + (scaling->y_mean ? scaling->y_mean[k] : 0) -
                 map[0] * net->middle[0] - map[1] * net->middle[1];
    }
}

int regions_add(sph_regions *regions, const struct piecewise *net, const struct scaling *scaling,
                const struct region_found *found)
{
    size_t count = regions->count + 1, bytes = regions->pattern_bytes, numbers = 3 * regions->outputs;
    if (!mem_reserve((void **)&regions->region, &regions->room.regions, count, sizeof *regions->region) ||
        !mem_reserve((void **)&regions->vertex, &regions->room.vertices, regions->vertices + found->vertices,
                     2 * sizeof *regions->vertex) ||
        !mem_reserve((void **)&regions->pattern, &regions->room.patterns, count * bytes + 1, 1) ||
        !mem_reserve((void **)&regions->map, &regions->room.maps, count, numbers * sizeof(double)))
        return SPH_EMEMORY;
    struct region *region = &regions->region[regions->count];
    *region = (struct region){regions->vertices, found->vertices,
                              polygon_area(found->vertices, found->vertex) * net->half[0] * net->half[1]};
    for (size_t i = 0; i < found->vertices; i++)
        regions_place(regions, net, found->vertex + 2 * i, regions->vertex + 2 * regions->vertices++);
    memcpy(regions->pattern + regions->count * bytes, found->pattern, bytes);
    own_units(net, scaling, regions->outputs, found->map, regions->map + regions->count * numbers);
    regions->count = count;
    return 0;
}

/* ---------------------------------------------------------------- all regions */

struct work {
    const struct piecewise *net;
    const struct scaling *scaling;
    const sph_regions_opts *opts;
    struct decision *decision; /* NULL: none */
    sph_regions *regions;
    double done; /* area, of the window's 4 */
};

static int too_many(const struct work *work)
{
    return sph_fail_key(
        SPH_EARG, "most",
        "more than %zu regions (they cover %.2g %% of the window); use a larger --most or a smaller --window",
        work->opts->most, 25 * work->done);
}

static int add(void *self, const struct region_found *found)
{
    struct work *work = self;
    sph_regions *regions = work->regions;
    if (regions->count == work->opts->most)
        return too_many(work);
    work->done += polygon_area(found->vertices, found->vertex);
    int err = regions_add(regions, work->net, work->scaling, found);
    if (!err && work->decision)
        err = decision_add(work->decision, found, regions);
    if (!err && work->opts->progress && regions->count % PROGRESS_EVERY == 0) {
        sph_progress progress = {.share = work->done / 4,
                                 .done = regions->count,
                                 .seconds = (double)NAN,
                                 .seconds_left = (double)NAN};
        if (work->opts->progress(work->opts->self, &progress) > 0)
            err = STOPPED;
    }
    return err;
}

static int add_edge(void *self, size_t node, uint32_t unit, const double from[2], const double to[2])
{
    const struct work *work = self;
    sph_regions *regions = work->regions;
    if (!mem_reserve((void **)&regions->edge, &regions->room.edges, regions->edges + 1,
                     sizeof *regions->edge))
        return SPH_EMEMORY;
    sph_edge *edge = &regions->edge[regions->edges++];
    *edge = (sph_edge){.unit = unit};
    for (size_t i = 0; i < node; i++)
        edge->layer += (size_t)piecewise_cuts(&work->net->node[i]);
    regions_place(regions, work->net, from, edge->from);
    regions_place(regions, work->net, to, edge->to);
    return 0;
}

static int copy_vector(double **out, const double *from, size_t n, size_t axis)
{
    if (!(*out = mem_get(n, sizeof **out)))
        return SPH_EMEMORY;
    if (from)
        memcpy(*out, from, n * sizeof **out);
    else if (axis < n)
        (*out)[axis] = 1;
    return 0;
}

/* Nodes with an activation, by name. */
static int take_layers(sph_regions *regions, const struct piecewise *net, const size_t *counts)
{
    if (!(regions->layer = mem_get(net->count, sizeof *regions->layer)))
        return SPH_EMEMORY;
    for (size_t i = 0; i < net->count; i++) {
        const struct piecewise_node *node = &net->node[i];
        sph_regions_layer *layer = &regions->layer[regions->layer_count];
        if (!piecewise_cuts(node))
            continue;
        *layer = (sph_regions_layer){.units = node->m, .byte = node->byte, .regions = counts[i]};
        if (node->path)
            snprintf(layer->path, sizeof layer->path, "%s", node->path);
        else
            snprintf(layer->path, sizeof layer->path, "node %zu", i);
        regions->layer_count++;
    }
    return 0;
}

static int run(sph_regions *regions, struct work *work)
{
    size_t n = regions->inputs;
    const sph_regions_opts *opts = work->opts;
    size_t *counts = mem_get(work->net->count, sizeof *counts);
    int err = counts ? 0 : SPH_EMEMORY;
    struct subdivision to = {work, add, add_edge, counts};
    if (!err && !(err = copy_vector(&regions->plane.origin, opts->origin, n, n)) &&
        !(err = copy_vector(&regions->plane.first, opts->first, n, 0)) &&
        !(err = copy_vector(&regions->plane.second, opts->second, n, 1)) &&
        (err = subdivide(work->net, &to)) >= 0) {
        regions->stopped = err == STOPPED;
        err = take_layers(regions, work->net, counts);
    }
    mem_free(counts);
    return err;
}

int sph_regions_new(sph_regions **out, const sph_net *net, const sph_regions_opts *opts)
{
    NEED(out, net, opts);
    static const double unset[4], usual[4] = {-1, 1, -1, 1};
    sph_regions_opts own = {.size = sizeof(sph_regions_opts)};
    struct piecewise piecewise;
    int err = SIZED_TAKE(&own, opts, sph_regions_opts);
    if (!memcmp(own.window, unset, sizeof unset))
        memcpy(own.window, usual, sizeof usual);
    own.most = own.most ? own.most : REGIONS_MOST;
    if (err < 0 || (err = piecewise_new(&piecewise, net, &own)) < 0)
        return err;
    opts = &own;
    sph_regions *regions = mem_get(1, sizeof *regions);
    struct work work = {&piecewise, &net->scaling, opts, NULL, regions, 0};
    if (!regions)
        err = SPH_EMEMORY;
    if (!err && opts->task != SPH_TASK_REGRESSION)
        err = decision_new(&work.decision, &piecewise);
    if (!err) {
        regions->inputs = sph_net_inputs(net);
        regions->outputs = sph_net_outputs(net);
        regions->pattern_bytes = piecewise.pattern_bytes;
        regions->task = opts->task;
        memcpy(regions->plane.window, opts->window, sizeof regions->plane.window);
        err = run(regions, &work);
    }
    decision_free(work.decision);
    piecewise_free(&piecewise);
    if (err < 0) {
        sph_regions_free(regions);
        return err;
    }
    *out = regions;
    return 0;
}

void sph_regions_free(sph_regions *regions)
{
    if (!regions)
        return;
    void *owned[] = {regions->plane.origin, regions->plane.first, regions->plane.second,
                     regions->layer,        regions->region,      regions->vertex,
                     regions->pattern,      regions->map,         regions->segment,
                     regions->edge,         regions->about.title, regions->about.s_name,
                     regions->about.t_name, regions->about.point};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        mem_free(owned[i]);
    mem_free_texts(regions->about.class_names, regions->about.classes);
    mem_free(regions);
}

/* ---------------------------------------------------------------- looking at them */

int sph_regions_at(const sph_regions *regions, size_t i, sph_region *out)
{
    NEED(regions, out);
    if (i >= regions->count)
        return sph_fail_of(SPH_EARG, "", 0, "region", "no region %zu; there are %zu", i, regions->count);
    const struct region *region = &regions->region[i];
    *out = (sph_region){
        .vertex = regions->vertex + 2 * region->vertex,
        .vertices = region->count,
        .area = region->area,
        .pattern = regions->pattern + i * regions->pattern_bytes,
        .map = regions->map + i * 3 * regions->outputs,
    };
    return 0;
}

void sph_regions_sum(const sph_regions *regions, sph_regions_total *out)
{
    if (!regions || !out)
        return;
    *out = (sph_regions_total){.regions = regions->count,
                               .layers = regions->layer_count,
                               .segments = regions->segments,
                               .edges = regions->edges,
                               .layer = regions->layer,
                               .segment = regions->segment,
                               .edge = regions->edge,
                               .task = regions->task,
                               .stopped = regions->stopped,
                               .smallest = INFINITY,
                               .length = regions->task == SPH_TASK_REGRESSION ? NAN : 0};
    for (size_t i = 0; i < regions->count; i++) {
        out->area += regions->region[i].area;
        out->largest = fmax(out->largest, regions->region[i].area);
        out->smallest = fmin(out->smallest, regions->region[i].area);
    }
    for (size_t i = 0; i < regions->segments; i++) {
        const sph_segment *s = &regions->segment[i];
        out->length += hypot(s->to[0] - s->from[0], s->to[1] - s->from[1]);
    }
}

/* ---------------------------------------------------------------- a plane through three points */

static double scaled_dot(const sph_net *net, const double *a, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < sph_net_inputs(net); i++) {
        double scale = net->scaling.x_scale ? net->scaling.x_scale[i] : 1;
        sum += a[i] / scale * (b[i] / scale);
    }
    return sum;
}

static void take_away(size_t n, double *from, double factor, const double *direction)
{
    for (size_t i = 0; i < n; i++)
        from[i] -= factor * direction[i];
}

int sph_plane_through(const sph_net *net, const double *a, const double *b, const double *c, double *origin,
                      double *first, double *second, double window[4])
{
    NEED(net, a, b, c, origin, first, second, window);
    size_t n = sph_net_inputs(net);
    if (n < 2)
        return sph_fail(SPH_EARG, "a network with 1 input has no plane; use --window S0,S1");
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(a[i]) || !isfinite(b[i]) || !isfinite(c[i]))
            return sph_fail(SPH_EARG, "input %zu of a point is not a finite number", i);
        origin[i] = a[i];
        first[i] = b[i] - a[i];
        second[i] = c[i] - a[i];
    }
    double to_b = sqrt(scaled_dot(net, first, first)), to_c = sqrt(scaled_dot(net, second, second));
    if (!isfinite(to_b) || !isfinite(to_c))
        return sph_fail(SPH_EARG, "the points are too far apart: their distance is not a finite number");
    if (!(to_b > 0) || !(to_c > 0))
        return sph_fail(SPH_EARG, "the first and the %s point are equal; choose other rows",
                        to_b > 0 ? "third" : "second");
    for (size_t i = 0; i < n; i++)
        first[i] /= to_b;
    double along = scaled_dot(net, first, second);
    take_away(n, second, along, first);
    take_away(n, second, scaled_dot(net, first, second), first); /* once more, for what rounding left */
    double apart = sqrt(scaled_dot(net, second, second));
    if (!(apart > 1e-9 * to_c))
        return sph_fail(SPH_EARG, "the three points are on one line; choose other rows");
    for (size_t i = 0; i < n; i++)
        second[i] /= apart;
    double low = fmin(0, along), high = fmax(to_b, along);
    window[0] = low - 0.1 * (high - low);
    window[1] = high + 0.1 * (high - low);
    window[2] = -0.1 * apart;
    window[3] = 1.1 * apart;
    return 0;
}
