/* SPDX-License-Identifier: MIT
 *
 * Regions whose answer is known: lines through corners and along borders, twins, constants, decisions along
 * edges, intervals. */
#include "regions_by_hand.h"

#include "boundary/polygon.h"
#include "boundary/regions.h"

static void expect(sph_regions *regions, size_t count, double length)
{
    sph_regions_total total;
    sph_regions_sum(regions, &total);
    assert_int_equal(regions->count, count);
    assert_true(fabs(total.area - 4) < 1e-12);
    assert_true(isnan(length) ? isnan(total.length) : fabs(total.length - length) < 1e-9);
    sph_regions_free(regions);
}

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
    assert_fails(sph_regions_at(regions, 2, &region), SPH_EARG, .key = "region");
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
    const sph_regions_layer *layer = regions->layer;
    assert_int_equal(regions->layer_count, 2);
    assert_int_equal(layer[0].regions, 4);
    assert_string_equal(layer[0].path, "layers.0");
    assert_true(layer[1].regions == 8 && layer[1].byte == 1 && layer[1].units == 1);
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
    const sph_segment *segment = regions->segment;
    double length[3][3] = {{0}};
    for (size_t i = 0; i < regions->segments; i++) {
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
    sph_regions_opts opts = {.size = sizeof opts, .window = {-1, 1, 0, 1}};
    sph_net *net = by_hand(1, 3, w, b, v, -5);
    opts.task = SPH_TASK_BINARY;
    assert_int_equal(sph_regions_new(&regions, net, &opts), 0);
    double cuts[] = {-1, -0.5, 0.25, 1};
    assert_int_equal(regions->count, 3);
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
    const sph_segment *segment =
        regions->segment; /* beyond 1/4: x + 1/2 + 3 x + 4 = 5 at 1/8 is not; -2 x + ... is */
    size_t points = regions->segments;
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
    assert_fails(sph_plane_through(net, p[0], p[1], p[2], origin, first, second, window), SPH_EARG);
    assert_fails(sph_plane_through(net, p[0], p[1], p[0], origin, first, second, window), SPH_EARG);
    p[1][3] = NAN;
    assert_fails(sph_plane_through(net, p[0], p[1], p[2], origin, first, second, window), SPH_EARG);
    sph_net_free(net);
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
        cmocka_unit_test(both_parts_of_a_cut_make_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
