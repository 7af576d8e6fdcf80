/* SPDX-License-Identifier: MIT
 *
 * Regions that are refused, stopped or too large for their numbers; memory that runs out; files. */
#include "job/job.h"
#include "regions_by_hand.h"

#include <jansson.h>
#include <sys/stat.h>
#include <unistd.h>

#include "boundary/regions.h"
#include "fault.h"
#include "job/tool.h"
#include "net/zoo.h"
#include "report/tool.h"
#include "sinks.h"
#include "spherelu.h"

/* ---------------------------------------------------------------- what is refused */

static void refuse(sph_net *net, const sph_regions_opts *opts, const char *key)
{
    sph_regions *regions = NULL;
    assert_fails(sph_regions_new(&regions, net, opts), SPH_EARG, .key = key);
    assert_null(regions);
    sph_net_free(net);
}

static sph_net *small(sph_norm norm, sph_act act)
{
    return stack(SPH_F64, KERNELS_FASTEST, 2, 6, 2, 1, SPH_PARAM_SP, norm, act, 1);
}

static void what_has_no_straight_edges_is_refused_by_name(void **state)
{
    (void)state;
    sph_regions_opts opts = {.size = sizeof opts};
    refuse(small(SPH_NORM_LN, SPH_ACT_RELU), &opts, "layers.0");
    refuse(small(SPH_NORM_NONE, SPH_ACT_ELU), &opts, "layers.0");
    refuse(small(SPH_NORM_BN, SPH_ACT_SRELU), &opts, "layers.0");

    sph_net *net = open_net(SPH_F64, KERNELS_FASTEST);
    int node = dense(net, sph_net_input(net, 2), 3, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_IDENTITY);
    node = sph_net_act(net, node, SPH_ACT_ELU);
    ready(net, dense(net, node, 1, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_IDENTITY), 0);
    refuse(net, &opts, "activation");

    assert_int_equal(sph_net_vgg6(&net, &(sph_image_net){.size = sizeof(sph_image_net),
                                                         .channels = 1,
                                                         .height = 8,
                                                         .width = 8,
                                                         .classes = 2,
                                                         .scale = 0.02,
                                                         .act = SPH_ACT_RELU}),
                     0);
    refuse(net, &opts, "layers.0");

    assert_int_equal(sph_net_new(&net, SPH_F64), 0);
    refuse(net, &opts, "net");
    net = small(SPH_NORM_NONE, SPH_ACT_RELU);
    double w[36] = {[7] = NAN};
    assert_int_equal(sph_net_set(net, "layers.1.weight", w, 36), 0);
    refuse(net, &opts, "layers.1");
}

static void planes_and_windows_that_cannot_be_are_refused(void **state)
{
    (void)state;
    sph_regions_opts opts = {.size = sizeof opts};
    refuse(stack(SPH_F64, KERNELS_FASTEST, 3, 4, 1, 1, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_RELU, 1), &opts,
           "plane");
    double place[2] = {0, INFINITY};
    opts.origin = place;
    refuse(small(SPH_NORM_NONE, SPH_ACT_RELU), &opts, "plane");
    opts.first = opts.second = place;
    refuse(small(SPH_NORM_NONE, SPH_ACT_RELU), &opts, "plane");

    opts = (sph_regions_opts){.size = sizeof opts, .window = {-1, -1, -1, 1}};
    refuse(small(SPH_NORM_NONE, SPH_ACT_RELU), &opts, "window");
    opts.window[1] = NAN;
    refuse(small(SPH_NORM_NONE, SPH_ACT_RELU), &opts, "window");
    opts.window[0] = 1e12;
    opts.window[1] = 1e12 + 1;
    refuse(small(SPH_NORM_NONE, SPH_ACT_RELU), &opts, "window");
    opts.window[0] = -1.5e308;
    opts.window[1] = 1.5e308;
    refuse(small(SPH_NORM_NONE, SPH_ACT_RELU), &opts, "window");
    for (size_t i = 0; i < 4; i++)
        opts.window[i] = i % 2 ? 1e200 : -1e200;
    refuse(small(SPH_NORM_NONE, SPH_ACT_RELU), &opts, "window");
    for (size_t i = 0; i < 4; i++)
        opts.window[i] = i % 2 ? 1e-200 : -1e-200;
    refuse(small(SPH_NORM_NONE, SPH_ACT_RELU), &opts, "window");
}

static void too_many_regions_end_with_a_word(void **state)
{
    (void)state;
    sph_regions_opts opts = {.size = sizeof opts};
    double w[] = {1, 1, 1, -1};
    opts.most = 1;
    refuse(by_hand(2, 2, w, none, ones, 0), &opts, "most");
}

static int stop_at_once(void *self, const sph_progress *progress)
{
    (void)self;
    assert_true(progress->done > 0 && progress->share > 0 && progress->share < 1);
    return 1;
}

static void a_stop_leaves_the_regions_found_so_far(void **state)
{
    (void)state;
    sph_net *net =
        stack(SPH_F64, KERNELS_FASTEST, 2, 32, 2, 1, SPH_PARAM_GMP, SPH_NORM_NONE, SPH_ACT_RELU, 1);
    sph_regions_opts opts = {.size = sizeof opts};
    sph_regions *regions = NULL;
    sph_regions_total total;
    opts.progress = stop_at_once;
    assert_int_equal(sph_regions_new(&regions, net, &opts), 0);
    sph_regions_sum(regions, &total);
    assert_int_equal(total.stopped, 1);
    assert_int_equal(regions->count, 64);
    assert_int_equal(regions->layer_count, 2);
    assert_true(total.area > 0 && total.area < 4);
    sph_regions_free(regions);
    opts.progress = NULL;
    assert_int_equal(sph_regions_new(&regions, net, &opts), 0);
    sph_regions_sum(regions, &total);
    assert_int_equal(total.stopped, 0);
    assert_true(regions->count > 64);
    sph_regions_free(regions);
    sph_net_free(net);
}

/* ---------------------------------------------------------------- numbers at the end of their range */

/* The net 2-9-9-1 with its first weights and biases times `factor`, those behind likewise: outputs are times
 * factor^3, and no boundary moves. */
static sph_net *times(double factor)
{
    static const char *const paths[] = {"layers.0", "layers.1", "layers.2"};
    sph_net *net = stack(SPH_F64, KERNELS_FASTEST, 2, 9, 2, 1, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_RELU, 2);
    struct rng rng = rng_stream(3, RNG_NOISE, 0);
    double numbers[81], power = 1;
    for (size_t l = 0; l < 3; l++) {
        size_t m = l < 2 ? 9 : 1, n = l ? 9 : 2;
        char name[32];
        power *= factor;
        for (size_t i = 0; i < m * n; i++)
            numbers[i] = factor * rng_normal(&rng);
        snprintf(name, sizeof name, "%s.weight", paths[l]);
        assert_int_equal(sph_net_set(net, name, numbers, m * n), 0);
        for (size_t i = 0; i < m; i++)
            numbers[i] = 0.3 * power * rng_normal(&rng);
        snprintf(name, sizeof name, "%s.bias", paths[l]);
        assert_int_equal(sph_net_set(net, name, numbers, m), 0);
    }
    return net;
}

static void large_and_small_weights_have_the_regions_of_middling_ones(void **state)
{
    (void)state;
    static const double factors[] = {0x1p260, 1e78, 1e-78, 0x1p-330};
    sph_regions *expected = cut(times(1), SPH_TASK_BINARY);
    sph_regions_total total, same;
    sph_regions_sum(expected, &total);
    assert_true(expected->count > 60);
    for (size_t f = 0; f < sizeof factors / sizeof *factors; f++) {
        sph_regions *regions = cut(times(factors[f]), SPH_TASK_BINARY);
        assert_int_equal(regions->count, expected->count);
        sph_regions_sum(regions, &same);
        assert_int_equal(same.segments, total.segments);
        assert_true(fabs(same.length - total.length) < 1e-9 && fabs(same.smallest - total.smallest) < 1e-12);
        sph_regions_free(regions);
    }
    sph_regions_free(expected);
}

static void what_is_not_finite_is_refused_by_name(void **state)
{
    (void)state;
    sph_regions_opts opts = {.size = sizeof opts, .window = {-1, 1, -1, 1}};
    for (size_t i = 0; i < 4; i++)
        opts.window[i] *= 1e9;
    refuse(times(1e101), &opts, "layers.2");
    refuse(times(1e200), &opts, "layers.1");
    double w[] = {1e300, 0, 0, 1e300};
    refuse(by_hand(2, 2, w, none, ones, 0), &opts, "layers.0");
    double origin[] = {0, 0}, far[] = {1e300, 0}, up[] = {0, 1};
    opts.origin = origin;
    opts.first = far;
    opts.second = up;
    refuse(by_hand(2, 2, ones, none, ones, 0), &opts, "plane");

    sph_net *net = by_hand(2, 2, ones, none, ones, 0);
    double first[2], second[2], window[4], other[] = {1e200, 1};
    assert_fails(sph_plane_through(net, origin, other, up, origin, first, second, window), SPH_EARG);
    sph_net_free(net);
}

/* Maps beyond finite numbers: the net's are finite, those in the plane's units are not. */
static void json_parses_whatever_the_numbers_are(void **state)
{
    (void)state;
    double w[] = {1e300, 0, 0, 1e300};
    sph_regions_opts opts = {.size = sizeof opts, .window = {-1, 1, -1, 1}};
    sph_regions *regions = NULL;
    opts.window[0] = -1e-12;
    opts.window[1] = 1e-12;
    sph_net *net = by_hand(2, 2, w, none, ones, 0);
    assert_int_equal(sph_regions_new(&regions, net, &opts), 0);
    sph_net_free(net);
    FILE *file = tmpfile();
    assert_int_equal(sph_regions_json(regions, STREAM_SINK(file)), 0);
    rewind(file);
    json_t *all = json_loadf(file, JSON_REJECT_DUPLICATES, NULL), *list = json_object_get(all, "regions");
    assert_non_null(all);
    assert_int_equal(json_array_size(list), 4);
    assert_true(json_is_false(json_object_get(all, "stopped")));
    assert_true(fabs(json_number_value(json_object_get(all, "area")) - 4e-12) < 1e-20);
    fclose(file);
    json_decref(all);

    for (size_t i = 0; i < regions->count; i++)
        regions->region[i].area = i ? INFINITY : NAN;
    file = tmpfile();
    assert_int_equal(sph_regions_json(regions, STREAM_SINK(file)), 0);
    rewind(file);
    assert_non_null(all = json_loadf(file, JSON_REJECT_DUPLICATES, NULL));
    assert_true(json_is_null(json_object_get(all, "area")));
    assert_true(json_is_null(json_object_get(json_array_get(json_object_get(all, "regions"), 0), "area")));
    fclose(file);
    json_decref(all);
    sph_regions_free(regions);
}

/* 0.01 is another number in f32: the map below 0 has that of the net. */
static void leaky_slopes_are_those_of_the_dtype(void **state)
{
    (void)state;
    for (int f64 = 0; f64 < 2; f64++) {
        sph_net *net = open_net(f64 ? SPH_F64 : SPH_F32, KERNELS_FASTEST);
        int node = dense(net, sph_net_input(net, 2), 1, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_LEAKY_RELU);
        ready(net, node, 0);
        double w[] = {1, 0}, x[] = {-0.5, 0}, y = 0;
        assert_int_equal(sph_net_set(net, "layers.0.weight", w, 2), 0);
        assert_int_equal(sph_net_set(net, "layers.0.bias", none, 1), 0);
        assert_int_equal(sph_net_forward(net, x, 1, &y), 0);
        sph_regions *regions = cut(net, SPH_TASK_REGRESSION);
        sph_region region;
        size_t found = 0;
        for (size_t i = 0; i < 2; i++) {
            assert_int_equal(sph_regions_at(regions, i, &region), 0);
            found += region.map[0] == -2 * y;
        }
        assert_int_equal(found, 1);
        sph_regions_free(regions);
    }
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
    sph_regions_opts opts = {.size = sizeof opts};
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
    assert_true(regions->count > 20);
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
    assert_int_equal(sph_regions_json(regions, STREAM_SINK(file)), 0);
    rewind(file);
    json_t *all = json_loadf(file, JSON_REJECT_DUPLICATES, NULL), *list = json_object_get(all, "regions");
    assert_non_null(all);
    assert_int_equal(json_array_size(list), regions->count);
    for (size_t i = 0; i < regions->count; i++) {
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
    assert_int_equal(json_array_size(json_object_get(all, "decision")), regions->segments);
    assert_true(json_number_value(json_object_get(all, "count")) == (double)regions->count);
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
    assert_true(*sph_error());
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
    assert_int_equal(job_new(&job, 0), 0);
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
        assert_true(regions->count > 1);
        sph_regions_free(regions);
    }
    sph_run_free(run);
    sph_job_free(job);
    snprintf(command, sizeof command, "/bin/rm -r %s", dir);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_has_no_straight_edges_is_refused_by_name),
        cmocka_unit_test(planes_and_windows_that_cannot_be_are_refused),
        cmocka_unit_test(too_many_regions_end_with_a_word),
        cmocka_unit_test(a_stop_leaves_the_regions_found_so_far),
        cmocka_unit_test(large_and_small_weights_have_the_regions_of_middling_ones),
        cmocka_unit_test(what_is_not_finite_is_refused_by_name),
        cmocka_unit_test(json_parses_whatever_the_numbers_are),
        cmocka_unit_test(leaky_slopes_are_those_of_the_dtype),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(json_holds_every_region),
        cmocka_unit_test(saving_survives_a_lack_of_memory),
        cmocka_unit_test(regions_of_a_run_survive_a_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
