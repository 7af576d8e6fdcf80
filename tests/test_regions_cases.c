/* SPDX-License-Identifier: MIT
 *
 * Regions whose answer is known: lines through corners and along borders, twins, constants, decisions along
 * edges, intervals; what is refused; memory that runs out; files. */
#include "support.h"

#include <jansson.h>
#include <sys/stat.h>
#include <unistd.h>

#include "boundary/polygon.h"
#include "fault.h"
#include "spherelu.h"

/* One hidden layer by hand: w (units, inputs), b (units), v (units), c: y = v relu(w x + b) + c. */
static sph_net *by_hand(size_t inputs, size_t units, const double *w, const double *b, const double *v,
                        double c)
{
    sph_net *net = open_net(SPH_F64, KERNELS_FASTEST);
    int node = dense(net, sph_net_input(net, inputs), units, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_RELU);
    ready(net, dense(net, node, 1, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_IDENTITY), 0);
    assert_int_equal(sph_net_set(net, "layers.0.weight", w, units * inputs), 0);
    assert_int_equal(sph_net_set(net, "layers.0.bias", b, units), 0);
    assert_int_equal(sph_net_set(net, "layers.1.weight", v, units), 0);
    assert_int_equal(sph_net_set(net, "layers.1.bias", &c, 1), 0);
    return net;
}

/* In the window [-1, 1] x [-1, 1]; frees the net. */
static sph_regions *cut(sph_net *net, sph_task task)
{
    sph_regions_opts opts = sph_regions_defaults();
    sph_regions *regions = NULL;
    opts.task = task;
    assert_int_equal(sph_regions_new(&regions, net, &opts), 0);
    sph_net_free(net);
    return regions;
}

static void expect(sph_regions *regions, size_t count, double length)
{
    sph_regions_total total;
    sph_regions_sum(regions, &total);
    assert_int_equal(sph_regions_count(regions), count);
    assert_true(fabs(total.area - 4) < 1e-12);
    assert_true(isnan(length) ? isnan(total.length) : fabs(total.length - length) < 1e-9);
    sph_regions_free(regions);
}

static const double ones[8] = {1, 1, 1, 1, 1, 1, 1, 1}, none[8] = {0};

/* ---------------------------------------------------------------- cuts */

static void lines_through_corners_give_no_slivers(void **state)
{
    (void)state;
    double w[] = {1, 1, 1, -1};
    expect(cut(by_hand(2, 2, w, none, ones, 0), SPH_TASK_REGRESSION), 4, NAN);
}

static void lines_along_the_border_cut_nothing(void **state)
{
    (void)state;
    double w[] = {1, 0, -1, 0, 0, 3, 1, 1}, b[] = {1, 1, 3, 2};
    expect(cut(by_hand(2, 4, w, b, ones, 0), SPH_TASK_REGRESSION), 1, NAN);
}

static void twins_cut_once(void **state)
{
    (void)state;
    double w[] = {1, 0.3, 2, 0.6, -1, -0.3, 1, 0.3}, b[] = {0.1, 0.2, -0.1, 0.1 + 1e-15};
    expect(cut(by_hand(2, 4, w, b, ones, 0), SPH_TASK_REGRESSION), 2, NAN);
}

/* A bundle of lines through one point: 2 m wedges; one more line, not through it, adds m + 1. */
static void a_bundle_of_lines_gives_wedges(void **state)
{
    (void)state;
    double w[16], b[8] = {0};
    for (size_t j = 0; j < 7; j++) {
        w[2 * j] = cos(0.4 * (double)j + 0.1);
        w[2 * j + 1] = sin(0.4 * (double)j + 0.1);
        b[j] = -0.25 * w[2 * j] - 0.125 * w[2 * j + 1]; /* through (1/4, 1/8), but for rounding */
    }
    expect(cut(by_hand(2, 7, w, b, ones, 0), SPH_TASK_REGRESSION), 14, NAN);
    w[14] = 1;
    w[15] = 0;
    b[7] = 0.999; /* so near to the border that it meets few of them in the window */
    size_t meets = 0;
    for (size_t j = 0; j < 7; j++)
        meets += fabs(-(b[j] + w[2 * j] * -0.999) / w[2 * j + 1]) < 1;
    expect(cut(by_hand(2, 8, w, b, ones, 0), SPH_TASK_REGRESSION), 14 + meets + 1, NAN);
}

/* m lines in general position: one region, one more for each line that crosses the window, and one for each
 * crossing of two in it. */
static void one_layer_has_as_many_regions_as_the_formula_says(void **state)
{
    (void)state;
    struct rng rng = rng_stream(5, RNG_NOISE, 0);
    for (int round = 0; round < 20; round++) {
        enum { M = 40 };
        double w[2 * M], b[M], v[M];
        size_t expected = 1;
        for (size_t j = 0; j < M; j++) {
            w[2 * j] = rng_normal(&rng);
            w[2 * j + 1] = rng_normal(&rng);
            b[j] = rng_normal(&rng);
            v[j] = rng_normal(&rng);
            expected += fabs(b[j]) < fabs(w[2 * j]) + fabs(w[2 * j + 1]);
            for (size_t i = 0; i < j; i++) {
                double det = w[2 * i] * w[2 * j + 1] - w[2 * i + 1] * w[2 * j];
                double x = (b[j] * w[2 * i + 1] - b[i] * w[2 * j + 1]) / det;
                double y = (b[i] * w[2 * j] - b[j] * w[2 * i]) / det;
                expected += fabs(x) < 1 && fabs(y) < 1;
            }
        }
        sph_regions *regions = cut(by_hand(2, M, w, b, v, 0), SPH_TASK_REGRESSION);
        expect(regions, expected, NAN);
    }
}

static void units_without_weight_are_constant(void **state)
{
    (void)state;
    double w[] = {0, 0, 0, 0, 0, 0, 1, 0}, b[] = {0.5, -0.5, 0, 0};
    sph_regions *regions = cut(by_hand(2, 4, w, b, ones, 0), SPH_TASK_REGRESSION);
    sph_region region;
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(sph_regions_at(regions, i, &region), 0);
        assert_int_equal(region.pattern[0] & 0xe0, 0x80); /* on, off, and off at 0 */
        int right = region.pattern[0] >> 4 & 1;
        assert_true(fabs(region.map[0] - right) < 1e-15 && region.map[1] == 0 && region.map[2] == 0.5);
    }
    assert_int_equal(sph_regions_at(regions, 2, &region), SPH_EARG);
    assert_string_equal(sph_error(), "region 2 of 2");
    expect(regions, 2, NAN);
}

/* What cancels in the second layer leaves rounding, and no lines along it. */
static void what_cancels_cuts_nothing(void **state)
{
    (void)state;
    sph_net *net = open_net(SPH_F64, KERNELS_FASTEST);
    int node = dense(net, sph_net_input(net, 2), 2, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_RELU);
    node = dense(net, node, 1, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_RELU);
    ready(net, dense(net, node, 1, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_IDENTITY), 0);
    double w[] = {0.1, 0.7, 0.3, 2.1}, v[] = {3, -1};
    assert_int_equal(sph_net_set(net, "layers.0.weight", w, 4), 0);
    assert_int_equal(sph_net_set(net, "layers.0.bias", none, 2), 0);
    assert_int_equal(sph_net_set(net, "layers.1.weight", v, 2), 0);
    assert_int_equal(sph_net_set(net, "layers.1.bias", none, 1), 0);
    expect(cut(net, SPH_TASK_REGRESSION), 2, NAN);
}

/* The second layer's line bends where the first one's is crossed: |x| + |y| = 1/2 is a square. */
static void a_second_layer_bends_at_the_first(void **state)
{
    (void)state;
    sph_net *net = open_net(SPH_F64, KERNELS_FASTEST);
    int node = dense(net, sph_net_input(net, 2), 4, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_RELU);
    node = dense(net, node, 1, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_RELU);
    ready(net, dense(net, node, 1, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_IDENTITY), 0);
    double w[] = {1, 0, -1, 0, 0, 1, 0, -1}, b = -0.5, c = -0.25;
    assert_int_equal(sph_net_set(net, "layers.0.weight", w, 8), 0);
    assert_int_equal(sph_net_set(net, "layers.0.bias", none, 4), 0);
    assert_int_equal(sph_net_set(net, "layers.1.weight", ones, 4), 0);
    assert_int_equal(sph_net_set(net, "layers.1.bias", &b, 1), 0);
    assert_int_equal(sph_net_set(net, "layers.2.weight", ones, 1), 0);
    assert_int_equal(sph_net_set(net, "layers.2.bias", &c, 1), 0);
    sph_regions *regions = cut(net, SPH_TASK_BINARY); /* decides at |x| + |y| = 3/4 */
    sph_regions_layer layer;
    assert_int_equal(sph_regions_layers(regions), 2);
    assert_int_equal(sph_regions_layer_at(regions, 0, &layer), 0);
    assert_int_equal(layer.regions, 4);
    assert_string_equal(layer.path, "layers.0");
    assert_int_equal(sph_regions_layer_at(regions, 1, &layer), 0);
    assert_true(layer.regions == 8 && layer.byte == 1 && layer.units == 1);
    expect(regions, 8, 4 * 0.75 * sqrt(2));
}

/* ---------------------------------------------------------------- decisions */

/* y = relu(x) is 0 on the left: class 1 begins at the edge itself. */
static void a_decision_along_an_edge_is_found_once(void **state)
{
    (void)state;
    double w[] = {1, 0, -1, 0}, kink[] = {2, -1}, flat[] = {1, 0};
    expect(cut(by_hand(2, 2, w, none, flat, 0), SPH_TASK_BINARY), 2, 2);
    expect(cut(by_hand(2, 2, w, none, kink, 0), SPH_TASK_BINARY), 2, 2);
}

/* y = |x| touches 0 and stays of one class; y = -relu(x) is of class 0 throughout. */
static void touching_zero_is_no_decision(void **state)
{
    (void)state;
    double w[] = {1, 0, -1, 0}, minus[] = {-1, 0};
    expect(cut(by_hand(2, 2, w, none, ones, 0), SPH_TASK_BINARY), 2, 0);
    expect(cut(by_hand(2, 2, w, none, minus, 0), SPH_TASK_BINARY), 2, 0);
    expect(cut(by_hand(2, 2, w, none, none, 0), SPH_TASK_BINARY), 2, 0);
}

/* Three classes by logits x, -x, y: their borders meet in the middle. A fourth, a twin of the first, never
 * wins. */
static void classes_meet_where_their_logits_do(void **state)
{
    (void)state;
    sph_net *net = open_net(SPH_F64, KERNELS_FASTEST);
    int node = dense(net, sph_net_input(net, 2), 4, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_RELU);
    ready(net, dense(net, node, 4, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_IDENTITY), 0);
    double w[] = {1, 0, -1, 0, 0, 1, 0, -1};
    double v[] = {1, -1, 0, 0, -1, 1, 0, 0, 0, 0, 1, -1, 1, -1, 0, 0};
    assert_int_equal(sph_net_set(net, "layers.0.weight", w, 8), 0);
    assert_int_equal(sph_net_set(net, "layers.0.bias", none, 4), 0);
    assert_int_equal(sph_net_set(net, "layers.1.weight", v, 16), 0);
    assert_int_equal(sph_net_set(net, "layers.1.bias", none, 4), 0);
    sph_regions *regions = cut(net, SPH_TASK_CLASSES);
    const sph_segment *segment;
    double length[3][3] = {{0}};
    for (size_t i = 0; i < sph_regions_segments(regions, &segment); i++) {
        assert_true(segment[i].low < segment[i].high && segment[i].high < 3);
        length[segment[i].low][segment[i].high] +=
            hypot(segment[i].to[0] - segment[i].from[0], segment[i].to[1] - segment[i].from[1]);
    }
    assert_true(fabs(length[0][1] - 1) < 1e-12); /* x = 0 below y = 0: an edge of regions */
    assert_true(fabs(length[0][2] - sqrt(2)) < 1e-12);
    assert_true(fabs(length[1][2] - sqrt(2)) < 1e-12);
    expect(regions, 4, 1 + 2 * sqrt(2));
}

/* ---------------------------------------------------------------- other planes */

static void one_input_gives_intervals(void **state)
{
    (void)state;
    double w[] = {1, -2, 3}, b[] = {0.5, 0.5, 4}, v[] = {1, 1, 1};
    sph_regions *regions = NULL;
    sph_regions_opts opts = sph_regions_defaults();
    sph_net *net = by_hand(1, 3, w, b, v, -5);
    opts.window[2] = 0;
    opts.task = SPH_TASK_BINARY;
    assert_int_equal(sph_regions_new(&regions, net, &opts), 0);
    double cuts[] = {-1, -0.5, 0.25, 1};
    assert_int_equal(sph_regions_count(regions), 3);
    for (size_t i = 0; i < 3; i++) {
        size_t found = 0;
        for (size_t r = 0; r < 3; r++) {
            sph_region region;
            assert_int_equal(sph_regions_at(regions, r, &region), 0);
            found += fabs(region.area - (cuts[i + 1] - cuts[i])) < 1e-12;
            assert_true(region.map[1] == 0);
        }
        assert_true(found >= 1);
    }
    const sph_segment *segment; /* beyond 1/4: x + 1/2 + 3 x + 4 = 5 at 1/8 is not; -2 x + ... is */
    size_t points = sph_regions_segments(regions, &segment);
    for (size_t i = 0; i < points; i++) {
        double y = 0, x = segment[i].from[0];
        assert_true(segment[i].to[0] == x);
        assert_int_equal(sph_net_forward(net, &x, 1, &y), 0);
        assert_true(fabs(y) < 1e-12);
    }
    assert_true(points > 0);
    sph_regions_free(regions);
    sph_net_free(net);
}

/* The plane comes back to its three points, and s and t measure standardised distance. */
static void a_plane_goes_through_its_points(void **state)
{
    (void)state;
    enum { N = 5 };
    sph_net *net = stack(SPH_F64, KERNELS_FASTEST, N, 8, 2, 1, SPH_PARAM_GMP, SPH_NORM_NONE, SPH_ACT_RELU, 3);
    struct rng rng = rng_stream(4, RNG_NOISE, 0);
    double p[3][N], origin[N], first[N], second[N], window[4];
    net->scaling = (struct scaling){
        .features = N, .x_mean = mem_get(N, sizeof(double)), .x_scale = mem_get(N, sizeof(double))};
    for (size_t i = 0; i < N; i++) {
        net->scaling.x_scale[i] = pow(10, (double)i - 2);
        for (size_t k = 0; k < 3; k++)
            p[k][i] = net->scaling.x_scale[i] * rng_normal(&rng);
    }
    assert_int_equal(sph_plane_through(net, p[0], p[1], p[2], origin, first, second, window), 0);
    for (size_t k = 1; k < 3; k++) {
        double s = 0, t = 0, distance = 0;
        for (size_t i = 0; i < N; i++) {
            double scale = net->scaling.x_scale[i], x = (p[k][i] - origin[i]) / scale;
            s += x * first[i] / scale;
            t += x * second[i] / scale;
            distance += x * x;
        }
        assert_true(fabs(s * s + t * t - distance) < 1e-12 * distance);
        assert_true(k == 2 || fabs(t) < 1e-12);
        assert_true(s > window[0] && s < window[1] && t > window[2] && t < window[3]);
        for (size_t i = 0; i < N; i++)
            assert_true(fabs(origin[i] + s * first[i] + t * second[i] - p[k][i]) <
                        1e-12 * net->scaling.x_scale[i]);
    }
    for (size_t i = 0; i < N; i++)
        p[2][i] = 3 * p[1][i] - 2 * p[0][i];
    assert_int_equal(sph_plane_through(net, p[0], p[1], p[2], origin, first, second, window), SPH_EARG);
    assert_string_equal(sph_error(), "the three points lie on one line: they give no plane");
    assert_int_equal(sph_plane_through(net, p[0], p[1], p[0], origin, first, second, window), SPH_EARG);
    assert_string_equal(sph_error(), "the first point and the third are the same: they give no plane");
    p[1][3] = NAN;
    assert_int_equal(sph_plane_through(net, p[0], p[1], p[2], origin, first, second, window), SPH_EARG);
    assert_string_equal(sph_error(), "input 3 of a point is not a finite number");
    sph_net_free(net);
}

/* ---------------------------------------------------------------- what is refused */

static void refuse(sph_net *net, const sph_regions_opts *opts, const char *message)
{
    sph_regions *regions = NULL;
    assert_int_equal(sph_regions_new(&regions, net, opts), SPH_EARG);
    assert_null(regions);
    assert_string_equal(sph_error(), message);
    sph_net_free(net);
}

static sph_net *small(sph_norm norm, sph_act act)
{
    return stack(SPH_F64, KERNELS_FASTEST, 2, 6, 2, 1, SPH_PARAM_SP, norm, act, 1);
}

static int stop_at_once(void *self, size_t regions, double share)
{
    (void)self;
    assert_true(regions > 0 && share > 0 && share < 1);
    return 1;
}

static void what_has_no_straight_edges_is_refused_by_name(void **state)
{
    (void)state;
    sph_regions_opts opts = sph_regions_defaults();
    refuse(small(SPH_NORM_LN, SPH_ACT_RELU), &opts,
           "layers.0: ln divides by each sample's own deviation, so that its regions have no straight edges");
    refuse(small(SPH_NORM_NONE, SPH_ACT_ELU), &opts,
           "layers.0: activation elu, and regions are cut for relu and leaky_relu only");
    refuse(small(SPH_NORM_BN, SPH_ACT_SRELU), &opts,
           "layers.0: activation srelu, and regions are cut for relu and leaky_relu only");

    sph_net *net = open_net(SPH_F64, KERNELS_FASTEST);
    int node = dense(net, sph_net_input(net, 2), 3, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_IDENTITY);
    node = sph_net_act(net, node, SPH_ACT_ELU);
    ready(net, dense(net, node, 1, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_IDENTITY), 0);
    refuse(net, &opts,
           "an activation by itself: activation elu, and regions are cut for relu and leaky_relu only");

    assert_int_equal(
        sph_net_vgg6(
            &net,
            &(sph_image_net){
                .channels = 1, .height = 8, .width = 8, .classes = 2, .scale = 0.02, .act = SPH_ACT_RELU}),
        0);
    refuse(net, &opts, "layers.0: a convolution, and regions are cut for dense layers only");

    assert_int_equal(sph_net_new(&net, SPH_F64), 0);
    refuse(net, &opts, "the net is not ready: call sph_net_ready first");
    net = small(SPH_NORM_NONE, SPH_ACT_RELU);
    double w[36] = {[7] = NAN};
    assert_int_equal(sph_net_set(net, "layers.1.weight", w, 36), 0);
    refuse(net, &opts, "layers.1: unit 1 has numbers that are not finite");
}

static void planes_and_windows_that_cannot_be_are_refused(void **state)
{
    (void)state;
    sph_regions_opts opts = sph_regions_defaults();
    refuse(stack(SPH_F64, KERNELS_FASTEST, 3, 4, 1, 1, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_RELU, 1), &opts,
           "the net has 3 inputs, expected 1 or 2, or a plane through three points");
    double place[2] = {0, INFINITY};
    opts.origin = place;
    refuse(small(SPH_NORM_NONE, SPH_ACT_RELU), &opts,
           "a plane is an origin and two directions, or none of them");
    opts.first = opts.second = place;
    refuse(small(SPH_NORM_NONE, SPH_ACT_RELU), &opts, "the plane: input 1 is not a finite number");

    opts = sph_regions_defaults();
    opts.window[1] = -1;
    refuse(small(SPH_NORM_NONE, SPH_ACT_RELU), &opts,
           "window: -1 to -1, expected two numbers, the first one smaller");
    opts.window[1] = NAN;
    refuse(small(SPH_NORM_NONE, SPH_ACT_RELU), &opts,
           "window: -1 to nan, expected two numbers, the first one smaller");
    opts.window[0] = 1e12;
    opts.window[1] = 1e12 + 1;
    refuse(small(SPH_NORM_NONE, SPH_ACT_RELU), &opts,
           "window: 1000000000000 to 1000000000001 is too narrow for its numbers");
    opts.window[0] = -1.5e308;
    opts.window[1] = 1.5e308;
    refuse(small(SPH_NORM_NONE, SPH_ACT_RELU), &opts,
           "window: -1.5e+308 to 1.5e+308 is too wide for its numbers");
}

static void too_many_regions_end_with_a_word(void **state)
{
    (void)state;
    sph_regions_opts opts = sph_regions_defaults();
    double w[] = {1, 1, 1, -1};
    opts.most = 1;
    refuse(
        by_hand(2, 2, w, none, ones, 0), &opts,
        "most: there are more than 1 regions (these fill 25 % of the window): allow more, or take a smaller "
        "window");
    opts.most = 1000;
    opts.progress = stop_at_once;
    refuse(stack(SPH_F64, KERNELS_FASTEST, 2, 32, 2, 1, SPH_PARAM_GMP, SPH_NORM_NONE, SPH_ACT_RELU, 1), &opts,
           "stopped after 64 regions");
}

/* ---------------------------------------------------------------- memory and files */

static void every_allocation_may_fail(void **state)
{
    (void)state;
    sph_net *net = stack(SPH_F64, KERNELS_FASTEST, 2, 12, 2, 3, SPH_PARAM_GMP, SPH_NORM_BN, SPH_ACT_RELU, 1);
    struct rng rng = rng_stream(1, RNG_NOISE, 0);
    stir(net, &rng);
    double mean[12] = {0};
    for (size_t l = 0; l < 2; l++) /* stir's statistics are absurd */
        assert_int_equal(sph_net_set(net, l ? "layers.1.norm.mean" : "layers.0.norm.mean", mean, 12), 0);
    sph_regions *regions = NULL;
    sph_regions_opts opts = sph_regions_defaults();
    opts.task = SPH_TASK_CLASSES;
    opts.window[0] = opts.window[2] = -60;
    opts.window[1] = opts.window[3] = 60;
    size_t failures = 0;
    int err;
    for (;; failures++) {
        fault_after(failures);
        err = sph_regions_new(&regions, net, &opts);
        fault_off();
        if (!fault_happened())
            break;
        assert_int_equal(err, SPH_EMEMORY);
        assert_null(regions);
    }
    assert_int_equal(err, 0);
    assert_true(failures > 60);
    assert_true(sph_regions_count(regions) > 20);
    sph_regions_free(regions);
    sph_net_free(net);
}

/* JSON says what the accessors say. */
static void json_holds_every_region(void **state)
{
    (void)state;
    sph_net *net = stack(SPH_F64, KERNELS_FASTEST, 2, 9, 2, 3, SPH_PARAM_GMP, SPH_NORM_NONE, SPH_ACT_RELU, 2);
    sph_regions *regions = cut(net, SPH_TASK_CLASSES);
    FILE *file = tmpfile();
    assert_int_equal(sph_regions_json(regions, file), 0);
    rewind(file);
    json_t *all = json_loadf(file, JSON_REJECT_DUPLICATES, NULL), *list = json_object_get(all, "regions");
    assert_non_null(all);
    assert_int_equal(json_array_size(list), sph_regions_count(regions));
    for (size_t i = 0; i < sph_regions_count(regions); i++) {
        const json_t *one = json_array_get(list, i), *pattern = json_object_get(one, "pattern");
        sph_region region;
        char hex[16];
        assert_int_equal(sph_regions_at(regions, i, &region), 0);
        assert_true(json_number_value(json_object_get(one, "area")) == region.area);
        const json_t *vertices = json_object_get(one, "vertices"), *map = json_object_get(one, "map");
        assert_int_equal(json_array_size(vertices), region.vertices);
        for (size_t v = 0; v < 2 * region.vertices; v++)
            assert_true(json_number_value(json_array_get(json_array_get(vertices, v / 2), v % 2)) ==
                        region.vertex[v]);
        for (size_t v = 0; v < 9; v++)
            assert_true(json_number_value(json_array_get(json_array_get(map, v / 3), v % 3)) ==
                        region.map[v]);
        assert_int_equal(json_array_size(pattern), 2);
        snprintf(hex, sizeof hex, "%02x%02x", region.pattern[2], region.pattern[3]);
        assert_string_equal(json_string_value(json_array_get(pattern, 1)), hex);
    }
    assert_int_equal(json_array_size(json_object_get(all, "decision")), sph_regions_segments(regions, NULL));
    assert_true(json_number_value(json_object_get(all, "count")) == (double)sph_regions_count(regions));
    json_decref(all);
    fclose(file);
    sph_regions_free(regions);
}

/* Every allocation of a save may fail; what was there before stays whole. */
static void saving_survives_a_lack_of_memory(void **state)
{
    (void)state;
    char dir[] = "regions.XXXXXX", path[64];
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/regions.json", dir);
    setenv("PATH", "/nowhere", 1); /* no gnuplot: pictures have their own tests */
    sph_net *net = stack(SPH_F64, KERNELS_FASTEST, 2, 5, 1, 1, SPH_PARAM_GMP, SPH_NORM_NONE, SPH_ACT_RELU, 2);
    sph_regions *regions = cut(net, SPH_TASK_BINARY);
    size_t failures = 0;
    int err;
    for (;; failures++) {
        fault_after(failures);
        err = sph_regions_save(regions, dir);
        fault_off();
        if (!fault_happened())
            break;
        assert_int_equal(err, SPH_EMEMORY);
    }
    assert_int_equal(err, 1);
    assert_non_null(strstr(sph_error(), "gnuplot"));
    assert_true(failures > 10);
    json_t *all = json_load_file(path, 0, NULL);
    assert_non_null(all);
    json_decref(all);
    sph_regions_free(regions);
    char command[96];
    snprintf(command, sizeof command, "/bin/rm -r %s", dir);
    assert_int_equal(system(command), 0);
}

/* A run's regions: every allocation on the way to its data, plane and points may fail. */
static void regions_of_a_run_survive_a_lack_of_memory(void **state)
{
    (void)state;
    static const char *const settings[][2] = {{"data", "crescents"}, {"hidden", "4"}, {"epochs", "1"}};
    static const size_t rows[] = {0, 1, 2};
    char dir[] = "regions.XXXXXX", command[96];
    sph_job *job = NULL;
    sph_run *run = NULL;
    assert_non_null(mkdtemp(dir));
    assert_int_equal(sph_job_new(&job), 0);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        assert_int_equal(sph_job_set(job, settings[i][0], settings[i][1]), 0);
    assert_int_equal(sph_job_set(job, "out", dir), 0);
    assert_int_equal(sph_job_run(job, 0, NULL, 0, NULL), 0);
    assert_int_equal(sph_run_open(&run, dir), 0);
    for (int plane = 0; plane < 2; plane++) {
        sph_run_regions_opts opts = {.plane = plane ? rows : NULL};
        sph_regions *regions = NULL;
        size_t failures = 0;
        int err;
        for (;; failures++) {
            fault_after(failures);
            err = sph_run_regions(&regions, run, &opts);
            fault_off();
            if (!fault_happened())
                break;
            assert_int_equal(err, SPH_EMEMORY);
            assert_null(regions);
        }
        assert_int_equal(err, 0);
        assert_true(failures > 30);
        assert_true(sph_regions_count(regions) > 1);
        sph_regions_free(regions);
    }
    sph_run_free(run);
    sph_job_free(job);
    snprintf(command, sizeof command, "/bin/rm -r %s", dir);
    assert_int_equal(system(command), 0);
}

/* ---------------------------------------------------------------- polygons */

static void both_parts_of_a_cut_make_the_whole(void **state)
{
    (void)state;
    struct rng rng = rng_stream(9, RNG_NOISE, 0);
    for (int round = 0; round < 2000; round++) {
        double polygon[16], above[32], under[32];
        size_t count = 3 + rng_below(&rng, 6);
        for (size_t i = 0; i < count; i++) {
            double angle = 6.28 * ((double)i + 0.9 * rng_unit(&rng)) / (double)count;
            polygon[2 * i] = cos(angle);
            polygon[2 * i + 1] = sin(angle);
        }
        size_t on = rng_below(&rng, (uint32_t)count); /* now and then through a vertex, or two */
        double a = rng_normal(&rng), b = rng_normal(&rng), c = 0.5 * rng_normal(&rng);
        if (round % 3)
            c = -a * polygon[2 * on] - b * polygon[2 * on + 1];
        struct line line = {a, b, c, polygon_thin * hypot(a, b)}, back = {-a, -b, -c, line.tolerance};
        double whole = polygon_area(count, polygon);
        if (polygon_side(count, polygon, &line))
            continue;
        size_t n = polygon_cut(count, polygon, NULL, &line, 0, above, NULL);
        size_t m = polygon_cut(count, polygon, NULL, &back, 0, under, NULL);
        assert_true(n >= 3 && m >= 3 && n + m <= count + 4);
        double upper = polygon_area(n, above), lower = polygon_area(m, under);
        assert_true(upper > 0 && lower > 0 && fabs(upper + lower - whole) < 1e-14);
        assert_int_equal(polygon_side(n, above, &line), 1);
        assert_int_equal(polygon_side(m, under, &line), -1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_through_corners_give_no_slivers),
        cmocka_unit_test(lines_along_the_border_cut_nothing),
        cmocka_unit_test(twins_cut_once),
        cmocka_unit_test(a_bundle_of_lines_gives_wedges),
        cmocka_unit_test(one_layer_has_as_many_regions_as_the_formula_says),
        cmocka_unit_test(units_without_weight_are_constant),
        cmocka_unit_test(what_cancels_cuts_nothing),
        cmocka_unit_test(a_second_layer_bends_at_the_first),
        cmocka_unit_test(a_decision_along_an_edge_is_found_once),
        cmocka_unit_test(touching_zero_is_no_decision),
        cmocka_unit_test(classes_meet_where_their_logits_do),
        cmocka_unit_test(one_input_gives_intervals),
        cmocka_unit_test(a_plane_goes_through_its_points),
        cmocka_unit_test(what_has_no_straight_edges_is_refused_by_name),
        cmocka_unit_test(planes_and_windows_that_cannot_be_are_refused),
        cmocka_unit_test(too_many_regions_end_with_a_word),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(json_holds_every_region),
        cmocka_unit_test(saving_survives_a_lack_of_memory),
        cmocka_unit_test(regions_of_a_run_survive_a_lack_of_memory),
        cmocka_unit_test(both_parts_of_a_cut_make_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
