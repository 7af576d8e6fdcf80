/* SPDX-License-Identifier: MIT
 *
 * Regions against brute force: on a grid of points, the polygon a point lies in has the activation pattern
 * that the net itself has there, its affine map gives the net's output, and between points of different class
 * runs the decision boundary. */
#include "support.h"

#include "boundary/regions.h"
#include "file/file.h"
#include "base/clock.h"
#include "boundary/watch.h"
#include "rows/feed.h"
#include "random_net.h"

enum { SIDE = 250, POINTS = SIDE * SIDE };

/* A point this near to an edge, in shares of the window, may have the pattern of either side. */
static const double near_edge = 1e-9;

struct grid {
    sph_net *net;
    const sph_regions *regions;
    const sph_regions_opts *opts;
    size_t points;   /* POINTS, and behind them the middle of each region */
    double *place;   /* (points, 2) s, t             */
    double *y;       /* (points, outputs)            */
    uint8_t *active; /* (points, bits) by the net    */
    size_t bits;
    size_t *bit_at; /* (nodes) the first of a node's bits; NET_NOWHERE: no activation */
    double *scale;  /* (bits) s of the unit          */
    size_t *region; /* (POINTS) found                */
    double exempt;  /* share of the window           */
    size_t exempted, wrong;
    size_t thin; /* regions whose middle is near an edge */
};

static int node_act(const sph_net *net, size_t node)
{
    const struct net_node *at = &net->nodes[node];
    return at->kind == NODE_DENSE ? (int)net->layers[at->layer].spec.act
           : at->kind == NODE_ACT ? (int)at->act
                                  : SPH_ACT_IDENTITY;
}

static void see(void *self, const struct watched *seen)
{
    struct grid *grid = self;
    if ((int)seen->node == grid->net->output)
        memcpy(grid->y + seen->row * seen->features, seen->value,
               seen->rows * seen->features * sizeof *grid->y);
    if (grid->bit_at[seen->node] == NET_NOWHERE)
        return;
    for (size_t i = 0; i < seen->rows; i++)
        for (size_t j = 0; j < seen->features; j++) {
            size_t bit = grid->bit_at[seen->node] + j;
            grid->active[(seen->row + i) * grid->bits + bit] =
                seen->value[i * seen->features + j] * grid->scale[bit] > 0;
        }
}

/* The mean of a region's vertices. */
static void middle(const sph_regions *regions, size_t r, double *at)
{
    sph_region region;
    assert_int_equal(sph_regions_at(regions, r, &region), 0);
    for (size_t i = 0; i < region.vertices; i++)
        for (size_t axis = 0; axis < 2; axis++)
            at[axis] += region.vertex[2 * i + axis] / (double)region.vertices;
}

/* The real forward pass at every point. */
static void watch_grid(struct grid *grid)
{
    sph_net *net = grid->net;
    size_t n = sph_net_inputs(net), m = sph_net_outputs(net);
    const sph_regions_opts *o = grid->opts;
    double *x = numbers(grid->points * n), *targets = numbers(grid->points * m);
    for (size_t p = 0; p < grid->points; p++) {
        double *at = grid->place + 2 * p;
        if (p < POINTS) {
            at[0] = o->window[0] + (o->window[1] - o->window[0]) * ((double)(p % SIDE) + 0.5) / SIDE;
            at[1] = o->window[2] + (o->window[3] - o->window[2]) * ((double)(p / SIDE) + 0.5) / SIDE;
        } else {
            middle(grid->regions, p - POINTS, at);
        }
        for (size_t i = 0; i < n; i++)
            x[p * n + i] = o->origin ? o->origin[i] + at[0] * o->first[i] + at[1] * o->second[i] : at[i];
    }
    sph_data *data;
    struct feed *feed;
    struct watch *watch;
    assert_int_equal(sph_data_from_arrays(&data, x, targets, grid->points, n, m, SPH_TASK_REGRESSION, NULL),
                     0);
    assert_int_equal(feed_new(&feed, data, NULL, grid->points, net), 0);
    assert_int_equal(watch_new(&watch, net), 0);
    assert_int_equal(watch_run(watch, &feed->source, see, grid), 0);
    assert_int_equal(sph_net_forward(net, x, grid->points, grid->y), 0);
    watch_free(watch);
    feed_free(feed);
    sph_data_free(data);
    free(x);
    free(targets);
}

static void grid_open(struct grid *grid, sph_net *net, const sph_regions_opts *opts,
                      const sph_regions *regions)
{
    *grid = (struct grid){.net = net, .regions = regions, .opts = opts};
    grid->points = POINTS + regions->count;
    grid->exempt = net->dtype == SPH_F64 ? near_edge : 1e-4;
    grid->bit_at = calloc(net->node_count, sizeof *grid->bit_at);
    for (size_t i = 0; i < net->node_count; i++) {
        int act = node_act(net, i);
        grid->bit_at[i] = act == SPH_ACT_IDENTITY ? NET_NOWHERE : grid->bits;
        grid->bits += act == SPH_ACT_IDENTITY ? 0 : net->nodes[i].channels;
    }
    grid->scale = numbers(grid->bits);
    for (size_t i = 0; i < net->node_count; i++) {
        size_t at = grid->bit_at[i];
        if (at == NET_NOWHERE)
            continue;
        for (size_t j = 0; j < net->nodes[i].channels; j++)
            grid->scale[at + j] = 1;
        if (net->nodes[i].kind == NODE_DENSE)
            assert_int_equal(sph_net_weight(net, net->nodes[i].layer, NULL, NULL, grid->scale + at), 0);
    }
    grid->place = numbers(2 * grid->points);
    grid->y = numbers(grid->points * sph_net_outputs(net));
    grid->active = calloc(grid->points, grid->bits ? grid->bits : 1);
    grid->region = calloc(POINTS, sizeof *grid->region);
    assert_true(grid->bit_at && grid->active && grid->region);
    for (size_t p = 0; p < POINTS; p++)
        grid->region[p] = NET_NOWHERE;
    watch_grid(grid);
}

static void grid_close(struct grid *grid)
{
    free(grid->place);
    free(grid->y);
    free(grid->active);
    free(grid->bit_at);
    free(grid->scale);
    free(grid->region);
}

/* ---------------------------------------------------------------- points and polygons */

/* The least distance to an edge in shares of the window, negative outside. */
static double depth(const struct grid *grid, const sph_region *region, const double *place)
{
    const double *w = grid->opts->window;
    double least = INFINITY, sx = w[1] - w[0], sy = w[3] - w[2];
    for (size_t i = 0; i < region->vertices; i++) {
        const double *p = region->vertex + 2 * i, *q = region->vertex + 2 * ((i + 1) % region->vertices);
        double ex = (q[0] - p[0]) / sx, ey = (q[1] - p[1]) / sy;
        double px = (place[0] - p[0]) / sx, py = (place[1] - p[1]) / sy;
        least = fmin(least, (ex * py - ey * px) / sqrt(ex * ex + ey * ey));
    }
    return least;
}

/* Bits of all nodes that cut, one after the other, from the packed pattern. */
static void unpack(const sph_regions *regions, const sph_region *region, uint8_t *bits)
{
    for (size_t k = 0; k < regions->layer_count; k++) {
        sph_regions_layer layer = regions->layer[k];
        for (size_t j = 0; j < layer.units; j++)
            *bits++ = region->pattern[layer.byte + j / 8] >> (7 - j % 8) & 1;
    }
}

static void check_point(struct grid *grid, const sph_region *region, const uint8_t *bits, size_t p)
{
    size_t outputs = sph_net_outputs(grid->net);
    const double *at = grid->place + 2 * p;
    if (memcmp(bits, grid->active + p * grid->bits, grid->bits)) {
        grid->wrong++;
        return;
    }
    for (size_t k = 0; k < outputs; k++) {
        const double *map = region->map + 3 * k;
        double value = map[0] * at[0] + map[1] * at[1] + map[2], y = grid->y[p * outputs + k];
        double size = fabs(map[0] * at[0]) + fabs(map[1] * at[1]) + fabs(map[2]) + 1;
        assert_true(fabs(value - y) <= (grid->net->dtype == SPH_F64 ? 1e-9 : 1e-3) * size);
    }
}

/* Every point lies in one region and agrees with it, and so does the middle of each region, but for those
 * near an edge, which are counted. */
static void check_grid(struct grid *grid)
{
    const double *w = grid->opts->window;
    double dx = (w[1] - w[0]) / SIDE, dy = (w[3] - w[2]) / SIDE;
    uint8_t *bits = calloc(grid->bits + 1, 1);
    for (size_t r = 0; r < grid->regions->count; r++) {
        sph_region region;
        assert_int_equal(sph_regions_at(grid->regions, r, &region), 0);
        unpack(grid->regions, &region, bits);
        if (depth(grid, &region, grid->place + 2 * (POINTS + r)) > grid->exempt)
            check_point(grid, &region, bits, POINTS + r);
        else
            grid->thin++;
        double box[4] = {INFINITY, -INFINITY, INFINITY, -INFINITY};
        for (size_t i = 0; i < region.vertices; i++)
            for (int axis = 0; axis < 2; axis++) {
                box[2 * axis] = fmin(box[2 * axis], region.vertex[2 * i + (size_t)axis]);
                box[2 * axis + 1] = fmax(box[2 * axis + 1], region.vertex[2 * i + (size_t)axis]);
            }
        long from_x = (long)floor((box[0] - w[0]) / dx - 0.5), to_x = (long)ceil((box[1] - w[0]) / dx - 0.5);
        long from_y = (long)floor((box[2] - w[2]) / dy - 0.5), to_y = (long)ceil((box[3] - w[2]) / dy - 0.5);
        for (long j = from_y < 0 ? 0 : from_y; j <= to_y && j < SIDE; j++)
            for (long i = from_x < 0 ? 0 : from_x; i <= to_x && i < SIDE; i++) {
                size_t p = (size_t)(j * SIDE + i);
                double inside = depth(grid, &region, grid->place + 2 * p);
                if (inside < -grid->exempt)
                    continue;
                if (inside <= grid->exempt) {
                    grid->exempted += grid->region[p] != NET_NOWHERE - 1;
                    grid->region[p] = NET_NOWHERE - 1;
                    continue;
                }
                assert_true(grid->region[p] == NET_NOWHERE);
                grid->region[p] = r;
                check_point(grid, &region, bits, p);
            }
    }
    for (size_t p = 0; p < POINTS; p++)
        assert_true(grid->region[p] != NET_NOWHERE);
    free(bits);
}

/* ---------------------------------------------------------------- all regions at once */

static const sph_regions *sorting;

static int by_pattern(const void *a, const void *b)
{
    sph_region left, right;
    sph_regions_layer last = sorting->layer[sorting->layer_count - 1];
    assert_int_equal(sph_regions_at(sorting, *(const size_t *)a, &left), 0);
    assert_int_equal(sph_regions_at(sorting, *(const size_t *)b, &right), 0);
    return memcmp(left.pattern, right.pattern, last.byte + (last.units + 7) / 8);
}

/* Areas sum to the window's, polygons are convex and run anticlockwise, no pattern comes twice. */
static void check_whole(const sph_regions *regions, const double *w)
{
    size_t count = regions->count, before = 1;
    double sum = 0, area = (w[1] - w[0]) * (w[3] - w[2]);
    size_t *order = calloc(count, sizeof *order);
    for (size_t r = 0; r < count; r++) {
        sph_region region;
        order[r] = r;
        assert_int_equal(sph_regions_at(regions, r, &region), 0);
        assert_true(region.area > 0 && region.vertices >= 3);
        sum += region.area;
        for (size_t i = 0; i < region.vertices; i++) {
            const double *p = region.vertex + 2 * i, *q = region.vertex + 2 * ((i + 1) % region.vertices),
                         *o = region.vertex + 2 * ((i + 2) % region.vertices);
            double turn = (q[0] - p[0]) * (o[1] - q[1]) - (q[1] - p[1]) * (o[0] - q[0]);
            assert_true(turn >= -1e-12 * area);
            assert_true(p[0] >= w[0] && p[0] <= w[1] && p[1] >= w[2] && p[1] <= w[3]);
        }
    }
    assert_true(fabs(sum - area) <= 1e-9 * area);
    sorting = regions;
    qsort(order, count, sizeof *order, by_pattern);
    for (size_t r = 1; r < count; r++)
        assert_true(by_pattern(&order[r - 1], &order[r]) != 0);
    for (size_t k = 0; k < regions->layer_count; k++) {
        sph_regions_layer layer = regions->layer[k];
        assert_true(layer.regions >= before && layer.regions <= count);
        before = layer.regions;
    }
    assert_int_equal(before, count);
    free(order);
}

/* ---------------------------------------------------------------- the decision */

static size_t class_of(size_t outputs, const double *y)
{
    size_t top = 0;
    if (outputs == 1)
        return y[0] > 0;
    for (size_t k = 1; k < outputs; k++)
        if (y[k] > y[top])
            top = k;
    return top;
}

static int crosses(const sph_segment *s, const double *p, const double *q)
{
    double dx = s->to[0] - s->from[0], dy = s->to[1] - s->from[1], ex = q[0] - p[0], ey = q[1] - p[1];
    double from_p = dx * (p[1] - s->from[1]) - dy * (p[0] - s->from[0]);
    double from_q = dx * (q[1] - s->from[1]) - dy * (q[0] - s->from[0]);
    double start = ex * (s->from[1] - p[1]) - ey * (s->from[0] - p[0]);
    double end = ex * (s->to[1] - p[1]) - ey * (s->to[0] - p[0]), blur = 1e-9 * (fabs(start) + fabs(end));
    return from_p * from_q <= 0 && fmin(start, end) <= blur && fmax(start, end) >= -blur;
}

/* Neighbours of different class have a segment between them; on a segment its two classes draw and no other
 * is above. Returns how many neighbours differ. */
static size_t check_decision(const struct grid *grid)
{
    sph_regions_total total;
    sph_regions_sum(grid->regions, &total);
    const sph_segment *segment = total.segment;
    size_t count = total.segments, m = sph_net_outputs(grid->net), changes = 0;
    for (size_t p = 0; p < POINTS; p++)
        for (size_t step = 1; step <= SIDE; step += SIDE - 1) {
            size_t q = p + step, found = 0;
            if (q >= POINTS || (step == 1 && q % SIDE == 0) ||
                class_of(m, grid->y + p * m) == class_of(m, grid->y + q * m))
                continue;
            changes++;
            for (size_t s = 0; s < count && !found; s++)
                found = (size_t)crosses(&segment[s], grid->place + 2 * p, grid->place + 2 * q);
            assert_true(found);
        }
    for (size_t s = 0; s < count; s++) {
        sph_region region;
        assert_int_equal(sph_regions_at(grid->regions, segment[s].region, &region), 0);
        double x = (segment[s].from[0] + segment[s].to[0]) / 2,
               y = (segment[s].from[1] + segment[s].to[1]) / 2;
        double size = 1, top = m == 1 ? 0 : -INFINITY;
        for (size_t k = 0; k < m; k++) {
            double value = region.map[3 * k] * x + region.map[3 * k + 1] * y + region.map[3 * k + 2];
            size = fmax(size, fabs(region.map[3 * k]) + fabs(region.map[3 * k + 1]) + fabs(value));
            top = fmax(top, value);
        }
        size_t classes[] = {segment[s].low, segment[s].high};
        assert_true(classes[0] < classes[1]);
        for (size_t c = 0; c < 2; c++) {
            const double *map = region.map + 3 * (m == 1 ? 0 : classes[c]);
            double value = m == 1 && !classes[c] ? 0 : map[0] * x + map[1] * y + map[2];
            assert_true(fabs(value - top) <= 1e-9 * size);
        }
    }
    return changes;
}

static int edge_crosses(const sph_edge *e, const double *p, const double *q)
{
    sph_segment s = {.from = {e->from[0], e->from[1]}, .to = {e->to[0], e->to[1]}};
    return crosses(&s, p, q);
}

/* Where a unit is on at one point and off at the next, a piece of its boundary runs between them, the point where it is on to
 * its left. A point of those at some distance from each other is looked at. Returns how many units switched. */
static size_t check_edges(const struct grid *grid)
{
    sph_regions_total total;
    sph_regions_sum(grid->regions, &total);
    const sph_edge *edge = total.edge;
    size_t count = total.edges, switched = 0;
    assert_int_equal(count + 1, grid->regions->count); /* a cut makes one region two */
    for (size_t p = 0; p < POINTS - 1; p += 53) {
        size_t q = p + 1, bit = 0;
        if (q % SIDE == 0)
            continue;
        for (size_t k = 0; k < total.layers; k++) {
            sph_regions_layer layer = total.layer[k];
            for (size_t unit = 0; unit < layer.units; unit++, bit++) {
                int on = grid->active[p * grid->bits + bit], next_on = grid->active[q * grid->bits + bit];
                if (on == next_on || grid->scale[bit] == 0)
                    continue;
                const double *from = grid->place + 2 * p, *to = grid->place + 2 * q;
                const sph_edge *found = NULL;
                for (size_t e = 0; e < count && !found; e++)
                    if (edge[e].layer == k && edge[e].unit == unit && edge_crosses(&edge[e], from, to))
                        found = &edge[e];
                assert_non_null(found);
                double dx = found->to[0] - found->from[0], dy = found->to[1] - found->from[1];
                double side =
                    dx * ((on ? from : to)[1] - found->from[1]) - dy * ((on ? from : to)[0] - found->from[0]);
                assert_true(side >= -1e-9 * hypot(dx, dy));
                switched++;
            }
        }
    }
    return switched;
}

/* ---------------------------------------------------------------- nets */

struct net_spec {
    size_t inputs, hidden[3], outputs;
    sph_param param;
    sph_norm norm;
    sph_act act;
};

static const struct net_spec specs[] = {
    {2, {32, 32, 32}, 1, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_RELU},
    {2, {32, 32, 0}, 4, SPH_PARAM_GMP, SPH_NORM_NONE, SPH_ACT_RELU},
    {2, {32, 0, 0}, 1, SPH_PARAM_WN, SPH_NORM_BN, SPH_ACT_RELU},
    {3, {32, 32, 32}, 3, SPH_PARAM_GMP, SPH_NORM_IMN, SPH_ACT_RELU},
    {7, {32, 16, 8}, 1, SPH_PARAM_SPHERE, SPH_NORM_MBN, SPH_ACT_LEAKY_RELU},
    {2, {16, 32, 16}, 1, SPH_PARAM_GMP, SPH_NORM_BN, SPH_ACT_LEAKY_RELU},
    {2, {8, 8, 8}, 3, SPH_PARAM_WN, SPH_NORM_MBN, SPH_ACT_RELU},
    {13, {32, 32, 0}, 1, SPH_PARAM_SP, SPH_NORM_IMN, SPH_ACT_LEAKY_RELU},
    {2, {32, 24, 17}, 2, SPH_PARAM_SPHERE, SPH_NORM_NONE, SPH_ACT_RELU},
    {40, {32, 32, 32}, 10, SPH_PARAM_SP, SPH_NORM_BN, SPH_ACT_RELU},
};

/* Random everywhere: weights, scales of both signs, statistics, standardisation. */
static sph_net *make_net(const struct net_spec *spec, sph_dtype dtype, uint64_t seed)
{
    size_t depth = 0, n = spec->inputs;
    while (depth < 3 && spec->hidden[depth])
        depth++;
    sph_net *net;
    sph_mlp mlp = {.size = sizeof(sph_mlp),
                   .dtype = dtype,
                   .inputs = n,
                   .outputs = spec->outputs,
                   .hidden = spec->hidden,
                   .depth = depth,
                   .param = spec->param,
                   .norm = spec->norm,
                   .act = spec->act,
                   .seed = seed};
    assert_int_equal(sph_net_mlp(&net, &mlp), 0);
    randomize(net, seed, 0);
    struct rng rng = rng_stream(seed, RNG_NOISE, 2);
    net->scaling = (struct scaling){.features = n,
                                    .targets = spec->outputs,
                                    .x_mean = mem_get(n, sizeof(double)),
                                    .x_scale = mem_get(n, sizeof(double))};
    for (size_t i = 0; i < n; i++) {
        net->scaling.x_mean[i] = 10 * rng_normal(&rng);
        net->scaling.x_scale[i] = pow(10, between(&rng, -2, 2));
    }
    return net;
}

struct view {
    sph_regions_opts opts;
    double origin[40], first[40], second[40];
};

/* A window of two deviations around the mean, or the plane through three random points. */
static void aim(struct view *view, const sph_net *net, uint64_t seed)
{
    struct rng rng = rng_stream(seed, RNG_NOISE, 3);
    size_t n = sph_net_inputs(net);
    const struct scaling *s = &net->scaling;
    view->opts = (sph_regions_opts){.size = sizeof view->opts};
    view->opts.task = sph_net_outputs(net) == 1 ? SPH_TASK_BINARY : SPH_TASK_CLASSES;
    if (n == 2) {
        for (size_t i = 0; i < 2; i++) {
            view->opts.window[2 * i] = s->x_mean[i] - 2.03 * s->x_scale[i];
            view->opts.window[2 * i + 1] = s->x_mean[i] + 1.97 * s->x_scale[i];
        }
        return;
    }
    double point[3][40];
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < n; j++)
            point[i][j] = s->x_mean[j] + s->x_scale[j] * rng_normal(&rng);
    assert_int_equal(sph_plane_through(net, point[0], point[1], point[2], view->origin, view->first,
                                       view->second, view->opts.window),
                     0);
    view->opts.origin = view->origin;
    view->opts.first = view->first;
    view->opts.second = view->second;
}

static size_t compare(const struct net_spec *spec, sph_dtype dtype, uint64_t seed)
{
    size_t changes = 0;
    sph_net *net = make_net(spec, dtype, seed);
    sph_regions *regions = NULL;
    struct view view;
    struct grid grid;
    aim(&view, net, seed);
    double start = clock_seconds();
    assert_int_equal(sph_regions_new(&regions, net, &view.opts), 0);
    double seconds = clock_seconds() - start;
    grid_open(&grid, net, &view.opts, regions);
    check_whole(regions, view.opts.window);
    check_grid(&grid);
    printf("%zu-%zu-%zu-%zu-%zu %s+%s: %zu regions in %.1f ms, %zu of %d points near an edge, %zu thin "
           "regions, %zu wrong\n",
           spec->inputs, spec->hidden[0], spec->hidden[1], spec->hidden[2], spec->outputs,
           param_word[spec->param], norm_word[spec->norm], regions->count, 1e3 * seconds, grid.exempted,
           POINTS, grid.thin, grid.wrong);
    assert_int_equal(grid.wrong, 0);
    assert_true(grid.exempted <= (dtype == SPH_F64 ? 2 : POINTS / 5));
    assert_true(dtype != SPH_F64 || grid.thin <= 2);
    if (dtype == SPH_F64)
        changes = check_decision(&grid);
    if (dtype == SPH_F64)
        assert_true(check_edges(&grid) > 10);
    grid_close(&grid);
    sph_regions_free(regions);
    sph_net_free(net);
    return changes;
}

static void every_grid_point_has_the_pattern_and_the_map_of_its_region(void **state)
{
    (void)state;
    size_t changes = 0;
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        changes += compare(&specs[i], SPH_F64, 100 + i);
    assert_true(changes > 1000);
}

/* The net rounds to f32 on its way; regions are those of its weights in exact arithmetic. */
static void a_net_of_f32_differs_near_edges_alone(void **state)
{
    (void)state;
    compare(&specs[2], SPH_F32, 7);
    compare(&specs[6], SPH_F32, 8);
}

/* Additions, activations of their own, units without weight or with r = 0. */
static void residual_nets_with_dead_units_agree_too(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 12; seed++) {
        struct random_spec spec = {.seed = seed,
                                   .dtype = SPH_F64,
                                   .param = (sph_param)(seed % SPH_PARAM_COUNT),
                                   .act = seed % 3 ? SPH_ACT_RELU : SPH_ACT_LEAKY_RELU,
                                   .inputs = 2,
                                   .depth = 4,
                                   .residual = (int)(seed & 1),
                                   .zeros = (int)(seed & 2)};
        sph_net *net = random_net(&spec);
        sph_regions *regions = NULL;
        struct view view = {0};
        view.opts = (sph_regions_opts){.size = sizeof view.opts};
        struct grid grid;
        double window[] = {-3.1, 2.9, -2.8, 3.2};
        memcpy(view.opts.window, window, sizeof window);
        assert_int_equal(sph_regions_new(&regions, net, &view.opts), 0);
        grid_open(&grid, net, &view.opts, regions);
        check_whole(regions, view.opts.window);
        check_grid(&grid);
        assert_int_equal(grid.wrong, 0);
        assert_true(grid.exempted <= 2);
        grid_close(&grid);
        sph_regions_free(regions);
        sph_net_free(net);
    }
}

static void two_layers_of_64_units_take_less_than_a_second(void **state)
{
    (void)state;
    struct net_spec spec = {2, {64, 64, 0}, 1, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_RELU};
    sph_net *net = make_net(&spec, SPH_F64, 1);
    struct view view;
    aim(&view, net, 1);
    double best = INFINITY;
    size_t count = 0;
    for (int i = 0; i < 5; i++) {
        sph_regions *regions = NULL;
        double start = clock_seconds();
        assert_int_equal(sph_regions_new(&regions, net, &view.opts), 0);
        best = fmin(best, clock_seconds() - start);
        count = regions->count;
        sph_regions_free(regions);
    }
    printf("2-64-64-1: %zu regions in %.1f ms\n", count, 1e3 * best);
    assert_true(count > 1000);
    const char *sanitizer = getenv("SPH_SAN"); /* one makes it ten times as slow */
    assert_true((sanitizer && *sanitizer) || best < 1);
    sph_net_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_grid_point_has_the_pattern_and_the_map_of_its_region),
        cmocka_unit_test(a_net_of_f32_differs_near_edges_alone),
        cmocka_unit_test(residual_nets_with_dead_units_agree_too),
        cmocka_unit_test(two_layers_of_64_units_take_less_than_a_second),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
