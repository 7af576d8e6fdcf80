/* SPDX-License-Identifier: MIT
 *
 * The arrays of boundaries against nets at work: shares are those of the real outputs, distances those of a
 * plain loop over points, raw units those of the data, and what is not defined is no number. */
#include "support.h"

#include "boundary/hyperplane.h"
#include "boundary/watch.h"
#include "net/zoo.h"
#include "rows/feed.h"
#include "fault.h"
#include "layer.h"
#include "random_net.h"

enum { ROWS = 200 };

static const sph_act acts[] = {SPH_ACT_RELU, SPH_ACT_LEAKY_RELU, SPH_ACT_ELU, SPH_ACT_SRELU};
enum { ACTS = sizeof acts / sizeof *acts };

static sph_data *random_data(const sph_net *net, uint64_t seed)
{
    struct rng rng = rng_stream(seed, RNG_NOISE, 2);
    size_t n = sph_net_inputs(net);
    double *x = numbers(ROWS * n), *y = numbers(ROWS);
    sph_data *data;
    for (size_t i = 0; i < ROWS * n; i++)
        x[i] = (float)rng_normal(&rng);
    assert_int_equal(sph_data_from_arrays(&data, x, y, ROWS, n, 1, SPH_TASK_REGRESSION, NULL), 0);
    free(x);
    free(y);
    return data;
}

/* Values of every node for every row. */
struct record {
    double **value; /* (nodes) (ROWS, features) */
};

static void keep(void *self, const struct watched *seen)
{
    struct record *record = self;
    memcpy(record->value[seen->node] + seen->row * seen->features, seen->value,
           seen->rows * seen->features * sizeof(double));
}

static struct record watch_all(sph_net *net, const sph_data *data)
{
    struct record record = {calloc(net->node_count, sizeof *record.value)};
    struct feed *feed;
    struct watch *watch;
    for (size_t i = 0; i < net->node_count; i++)
        record.value[i] = numbers(ROWS * node_features(&net->nodes[i]));
    assert_int_equal(feed_new(&feed, data, NULL, ROWS, net), 0);
    assert_int_equal(watch_new(&watch, net), 0);
    assert_int_equal(watch_run(watch, &feed->source, keep, &record), 0);
    watch_free(watch);
    feed_free(feed);
    return record;
}

static void record_free(struct record *record, const sph_net *net)
{
    for (size_t i = 0; i < net->node_count; i++)
        free(record->value[i]);
    free(record->value);
}

static sph_boundaries *all_boundaries(const sph_net *net, const sph_data *data)
{
    sph_boundaries *all = NULL;
    assert_int_equal(sph_boundaries_new(&all, net, SPH_EVERY_LAYER, 0, data, NULL, 0), 0);
    assert_int_equal(all->count, net->layer_count);
    return all;
}

/* ---------------------------------------------------------------- shares */

/* Activations whose sign is that of what goes in: the real outputs tell the side. */
static size_t check_shares(const sph_net *net, const sph_boundaries *all, const struct record *record)
{
    size_t checked = 0;
    for (size_t l = 0; l < all->count; l++) {
        const sph_boundary *b = &all->layer[l];
        const struct net_node *node = &net->nodes[net->layers[l].node];
        size_t pixels = node_pixels(node);
        double *s = numbers(b->m);
        if (b->kind == SPH_BOUNDARY_NONE) {
            assert_null(b->norm);
            free(s);
            continue;
        }
        assert_int_equal(sph_net_weight(net, l, NULL, NULL, s), 0);
        assert_int_equal(b->points, ROWS * pixels);
        for (size_t j = 0; j < b->m; j++) {
            uint64_t active = 0;
            for (size_t i = 0; i < ROWS; i++)
                for (size_t p = 0; p < pixels; p++)
                    active += record->value[net->layers[l].node][(i * b->m + j) * pixels + p] * s[j] > 0;
            if (s[j] == 0)
                continue;
            assert_true(b->active_share[j] == (double)active / (double)b->points);
            assert_int_equal(b->state[j], active == 0           ? SPH_UNIT_DEAD
                                          : active == b->points ? SPH_UNIT_ALWAYS_ON
                                                                : SPH_UNIT_BOTH);
            checked++;
        }
        free(s);
    }
    return checked;
}

static void shares_are_those_of_the_outputs(void **state)
{
    size_t checked = 0;
    (void)state;
    for (int dtype = 0; dtype < SPH_DTYPE_COUNT; dtype++)
        for (int param = 0; param < SPH_PARAM_COUNT; param++)
            for (int norm = 0; norm < SPH_NORM_COUNT; norm++)
                for (size_t a = 0; a < 3; a++)
                    for (uint64_t seed = 0; seed < 4; seed++) {
                        struct random_spec spec = {.seed = seed,
                                                   .dtype = (sph_dtype)dtype,
                                                   .param = (sph_param)param,
                                                   .norm = (sph_norm)norm,
                                                   .act = acts[a],
                                                   .inputs = 1 + seed,
                                                   .depth = 3,
                                                   .residual = seed == 2,
                                                   .zeros = seed > 1};
                        sph_net *net = random_net(&spec);
                        sph_data *data = random_data(net, seed);
                        sph_boundaries *all = all_boundaries(net, data);
                        struct record record = watch_all(net, data);
                        checked += check_shares(net, all, &record);
                        record_free(&record, net);
                        sph_boundaries_free(all);
                        sph_data_free(data);
                        sph_net_free(net);
                    }
    assert_true(checked > 4000);
}

static void shares_of_convs_are_those_of_the_outputs(void **state)
{
    (void)state;
    for (int dtype = 0; dtype < SPH_DTYPE_COUNT; dtype++)
        for (int norm = dtype; norm < SPH_NORM_COUNT; norm += (int)sample_step(2))
            for (int resnet = norm % (int)quick_step(2); resnet < 2; resnet += (int)quick_step(2)) {
                sph_image_net spec = {.size = sizeof(sph_image_net),
                                      .dtype = (sph_dtype)dtype,
                                      .channels = 3,
                                      .height = 8,
                                      .width = 8,
                                      .classes = 4,
                                      .scale = resnet ? 0.05 : 0.03,
                                      .param = norm % 2 ? SPH_PARAM_SP : SPH_PARAM_GMP,
                                      .norm = (sph_norm)norm,
                                      .act = SPH_ACT_RELU,
                                      .seed = 3};
                sph_net *net;
                assert_int_equal(resnet ? sph_net_resnet18(&net, &spec) : sph_net_vgg6(&net, &spec), 0);
                randomize(net, 5, 0);
                sph_data *data = random_data(net, 1);
                sph_boundaries *all = all_boundaries(net, data);
                struct record record = watch_all(net, data);
                assert_true(check_shares(net, all, &record) > 10);
                record_free(&record, net);
                sph_boundaries_free(all);
                sph_data_free(data);
                sph_net_free(net);
            }
}

/* ---------------------------------------------------------------- distances, srelu's sides */

static double dot(size_t n, const double *a, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* points: (count, n) inputs of the layer's units. */
static void check_distances(const sph_boundary *b, const double *points, size_t count)
{
    for (size_t j = 0; j < b->m; j++) {
        double least = INFINITY;
        size_t active = 0;
        for (size_t i = 0; i < count; i++) {
            double distance = dot(b->n, b->direction + j * b->n, points + i * b->n) + b->offset[j];
            least = fmin(least, fabs(distance));
            active += distance > 0;
        }
        if (isnan(b->offset[j])) {
            assert_true(isnan(b->nearest[j]));
            continue;
        }
        assert_true(fabs(b->nearest[j] - least) <= 1e-9 * (1 + fabs(b->offset[j])));
        assert_true(b->active_share[j] == (double)active / (double)count);
        double square = dot(b->n, b->phi + j * b->n, b->phi + j * b->n);
        assert_true(fabs(sqrt(square) - fabs(b->offset[j])) <= 1e-12 * (1 + fabs(b->offset[j])));
        assert_true(fabs(dot(b->n, b->phi + j * b->n, b->direction + j * b->n) + b->offset[j]) <=
                    1e-12 * (1 + fabs(b->offset[j])));
    }
}

static void distances_are_those_of_a_plain_loop(void **state)
{
    size_t hyperplanes = 0;
    (void)state;
    for (int param = 0; param < SPH_PARAM_COUNT; param++)
        for (int norm = 0; norm < SPH_NORM_COUNT; norm++)
            for (size_t a = 0; a < ACTS; a++)
                for (uint64_t seed = 0; seed < 3; seed++) {
                    struct random_spec spec = {.seed = seed,
                                               .dtype = SPH_F64,
                                               .param = (sph_param)param,
                                               .norm = (sph_norm)norm,
                                               .act = acts[a],
                                               .inputs = 1 + 2 * seed,
                                               .depth = 2,
                                               .zeros = seed == 1};
                    sph_net *net = random_net(&spec);
                    for (size_t l = 0; l < 2 && per_sample(norm);
                         l++) { /* half of the units unshifted, or all */
                        double *beta = norm_tensor(net, l, "norm.shift"),
                               *shape = net_param(net, net->layers[l].act_shape);
                        size_t m = net->layers[l].shape.m;
                        for (size_t j = 0; beta && j < m; j += 2)
                            beta[j] = shape ? shape[SRELU_T_LEFT * m + j] : 0;
                    }
                    sph_data *data = random_data(net, seed);
                    sph_boundaries *all = all_boundaries(net, data);
                    struct record record = watch_all(net, data);
                    for (size_t l = 0; l < 2; l++) {
                        const sph_boundary *b = &all->layer[l];
                        int from = net->nodes[net->layers[l].node].in[0];
                        check_distances(b, record.value[from], ROWS);
                        assert_true((b->offset_right != NULL) == (acts[a] == SPH_ACT_SRELU));
                        assert_int_equal(b->kind, per_sample(norm) ? SPH_BOUNDARY_PER_SAMPLE
                                                                   : SPH_BOUNDARY_HYPERPLANE);
                        for (size_t j = 0; j < b->m; j++)
                            hyperplanes += isnan(b->offset[j]) ? 0 : 1;
                    }
                    record_free(&record, net);
                    sph_boundaries_free(all);
                    sph_data_free(data);
                    sph_net_free(net);
                }
    assert_true(hyperplanes > 1500);
}

enum { SIDE = 5, CHANNELS = 2, KERNEL = 3 };

static sph_net *one_conv(size_t pad, sph_norm norm)
{
    sph_net *net = open_net(SPH_F64, KERNELS_FASTEST);
    int node = sph_net_conv(net, sph_net_image(net, CHANNELS, SIDE, SIDE),
                            &(sph_layer){.size = sizeof(sph_layer),
                                         .units = 6,
                                         .norm = norm,
                                         .act = SPH_ACT_RELU,
                                         .kernel = KERNEL,
                                         .stride = 1,
                                         .pad = pad});
    node = sph_net_global_pool(net, node);
    ready(net, dense(net, node, 1, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_IDENTITY), 1);
    randomize(net, 3, 0);
    return net;
}

/* out (CHANNELS, KERNEL, KERNEL) <- the patch of the image whose corner is (y, x) less pad; mean: (CHANNELS)
 * taken off before padding, or NULL. */
static void patch(const double *image, size_t pad, size_t y, size_t x, const double *mean, double *out)
{
    for (size_t c = 0; c < CHANNELS; c++)
        for (size_t v = 0; v < KERNEL; v++)
            for (size_t u = 0; u < KERNEL; u++, out++) {
                size_t row = y + v - pad, column = x + u - pad; /* wraps below 0: beyond the image */
                int inside = row < SIDE && column < SIDE;
                *out = inside ? image[(c * SIDE + row) * SIDE + column] - (mean ? mean[c] : 0) : 0;
            }
}

static void distances_of_patches_are_those_of_a_plain_loop(void **state)
{
    (void)state;
    for (int norm = 0; norm < SPH_NORM_COUNT; norm++)
        for (size_t pad = 0; pad < 2; pad++) {
            sph_net *net = one_conv(pad, (sph_norm)norm);
            sph_data *data = random_data(net, 4);
            sph_boundaries *all = all_boundaries(net, data);
            const sph_boundary *b = &all->layer[0];
            size_t across = SIDE + 2 * pad + 1 - KERNEL, count = ROWS * across * across;
            double *points = numbers(count * b->n), *mean = norm_tensor(net, 0, "norm.mean");
            for (size_t i = 0; i < count; i++)
                patch(sph_data_x(data) + i / (across * across) * sph_net_inputs(net), pad,
                      i / across % across, i % across, norm == SPH_NORM_IMN && pad ? mean : NULL,
                      points + i * b->n);
            assert_int_equal(b->kind, per_sample(norm)              ? SPH_BOUNDARY_PER_SAMPLE
                                      : norm == SPH_NORM_IMN && pad ? SPH_BOUNDARY_CENTRED
                                                                    : SPH_BOUNDARY_HYPERPLANE);
            assert_int_equal(b->points, count);
            if (per_sample(norm))
                for (size_t j = 0; j < b->m; j++) {
                    assert_true(isnan(b->norm[j]) && isnan(b->offset[j]) && isnan(b->nearest[j]));
                    assert_true(b->active_share[j] >= 0);
                }
            else
                check_distances(b, points, count);
            free(points);
            sph_boundaries_free(all);
            sph_data_free(data);
            sph_net_free(net);
        }
}

/* ---------------------------------------------------------------- raw units */

static void set_scaling(sph_net *net, int per_channel)
{
    struct rng rng = rng_stream(8, RNG_NOISE, 0);
    size_t n = sph_net_inputs(net), pixels = node_pixels(&net->nodes[0]);
    net->scaling = (struct scaling){
        .features = n, .x_mean = mem_get(n, sizeof(double)), .x_scale = mem_get(n, sizeof(double))};
    for (size_t i = 0; i < n; i++) {
        net->scaling.x_mean[i] = 100 * rng_normal(&rng);
        net->scaling.x_scale[i] = 0.1 + 10 * rng_unit(&rng);
        if (per_channel) {
            net->scaling.x_mean[i] = net->scaling.x_mean[i / pixels * pixels];
            net->scaling.x_scale[i] = net->scaling.x_scale[i / pixels * pixels];
        }
    }
}

static void the_first_layer_in_raw_units_is_the_same_hyperplane_of_the_data(void **state)
{
    (void)state;
    for (size_t a = 0; a < ACTS; a++) {
        struct random_spec spec = {
            .seed = 2, .dtype = SPH_F64, .param = SPH_PARAM_GMP, .act = acts[a], .inputs = 4, .depth = 2};
        sph_net *net = random_net(&spec);
        set_scaling(net, 0);
        sph_data *data = random_data(net, 2);
        sph_boundaries *raw, *scaled = all_boundaries(net, data);
        assert_int_equal(sph_boundaries_new(&raw, net, SPH_EVERY_LAYER, 1, data, NULL, 0), 0);
        const sph_boundary *r = &raw->layer[0], *b = &scaled->layer[0];
        assert_true(r->raw && !b->raw && !raw->layer[1].raw);
        check_distances(r, sph_data_x(data), ROWS);
        for (size_t j = 0; j < r->m; j++) {
            double on[4];
            scaling_apply_x(&net->scaling, 1, r->phi + j * 4, on);
            assert_true(fabs(dot(4, b->direction + j * 4, on) + b->offset[j]) <=
                        1e-10 * (1 + fabs(r->offset[j])));
            if (!r->offset_right)
                continue;
            double move = (r->offset[j] - r->offset_right[j]), right[4];
            for (size_t i = 0; i < 4; i++)
                right[i] = r->phi[j * 4 + i] + move * r->direction[j * 4 + i];
            scaling_apply_x(&net->scaling, 1, right, on);
            assert_true(fabs(dot(4, b->direction + j * 4, on) + b->offset_right[j]) <=
                        1e-10 * (1 + fabs(r->offset[j])));
        }
        sph_boundaries_free(raw);
        sph_boundaries_free(scaled);
        sph_data_free(data);
        sph_net_free(net);
    }
}

/* Clipped features: the hyperplane is one of what the net takes; phi_net is a point of it in the data's units, or NaN. */
static void clipped_features_leave_the_hyperplane_scaled_and_carry_its_point(void **state)
{
    (void)state;
    struct random_spec spec = {
        .seed = 2, .dtype = SPH_F64, .param = SPH_PARAM_GMP, .act = SPH_ACT_RELU, .inputs = 4, .depth = 2};
    sph_net *net = random_net(&spec);
    set_scaling(net, 0);
    net->scaling.x_clip = mem_get(4, sizeof(double));
    net->scaling.x_clip[0] = 3;
    net->scaling.x_clip[2] = 0.1;
    sph_boundaries *raw, *scaled = all_boundaries(net, NULL);
    size_t beyond = 0, within = 0;
    assert_int_equal(sph_boundaries_new(&raw, net, SPH_EVERY_LAYER, 1, NULL, NULL, 0), 0);
    const sph_boundary *r = &raw->layer[0], *b = &scaled->layer[0];
    assert_true(!r->raw && r->phi_net && !b->phi_net && !raw->layer[1].phi_net);
    for (size_t j = 0; j < r->m; j++) {
        double on[4];
        assert_true(r->offset[j] == b->offset[j]);
        for (size_t i = 0; i < 4; i++) {
            int out = net->scaling.x_clip[i] > 0 && fabs(b->phi[j * 4 + i]) >= net->scaling.x_clip[i];
            assert_int_equal(isnan(r->phi_net[j * 4 + i]) != 0, out);
            beyond += (size_t)out;
            within += (size_t)!out;
        }
        scaling_apply_x(&net->scaling, 1, r->phi_net + j * 4, on);
        for (size_t i = 0; i < 4; i++)
            assert_true(isnan(r->phi_net[j * 4 + i]) || fabs(on[i] - b->phi[j * 4 + i]) < 1e-10);
    }
    assert_true(beyond && within);
    sph_boundaries_free(raw);
    sph_boundaries_free(scaled);
    sph_net_free(net);
}

static void a_conv_has_raw_units_where_channels_share_a_scale(void **state)
{
    (void)state;
    for (int per_channel = 0; per_channel < 2; per_channel++)
        for (size_t pad = 0; pad < 2; pad++) {
            sph_net *net = one_conv(pad, SPH_NORM_IMN);
            set_scaling(net, per_channel);
            sph_boundaries *raw;
            struct hyperplanes planes;
            assert_int_equal(sph_boundaries_new(&raw, net, 0, 1, NULL, NULL, 0), 0);
            assert_int_equal(hyperplanes_new(&planes, net, 0), 0);
            const sph_boundary *b = &raw->layer[0];
            assert_int_equal(raw->count, 1);
            assert_int_equal(b->raw, per_channel);
            for (size_t j = 0; j < b->m && b->raw; j++) { /* phi, scaled as pixels are, is on the boundary */
                double z = planes.b[j];
                for (size_t i = 0; i < b->n; i++) {
                    size_t pixel = i / (KERNEL * KERNEL) * SIDE * SIDE;
                    double mean = pad ? 0 : net->scaling.x_mean[pixel]; /* padded: in the centred patch */
                    z += planes.w[j * b->n + i] * (b->phi[j * b->n + i] - mean) / net->scaling.x_scale[pixel];
                }
                assert_true(fabs(z) <= 1e-10 * (1 + fabs(b->offset[j])));
            }
            hyperplanes_free(&planes);
            sph_boundaries_free(raw);
            sph_net_free(net);
        }
}

/* ---------------------------------------------------------------- poles, and what is not defined */

static void the_pole_is_the_smallest_sine_but_for_the_last_angle(void **state)
{
    const double theta[2 * 3] = {1, 3.1, 0, 0.2, 1.5, 1};
    sph_boundaries *all;
    (void)state;
    for (size_t inputs = 2; inputs < 5; inputs++) {
        sph_net *net =
            stack(SPH_F64, KERNELS_FASTEST, inputs, 2, 1, 1, SPH_PARAM_GMP, SPH_NORM_NONE, SPH_ACT_RELU, 1);
        if (inputs == 4)
            assert_int_equal(sph_net_set(net, "layers.0.theta", theta, 6), 0);
        assert_int_equal(sph_boundaries_new(&all, net, 0, 0, NULL, NULL, 0), 0);
        const double *pole = all->layer[0].pole;
        if (inputs == 4) {
            assert_true(fabs(pole[0] - sin(3.1)) < 1e-15);
            assert_true(fabs(pole[1] - sin(0.2)) < 1e-15);
        } else {
            assert_int_equal(isnan(pole[0]), inputs == 2);
        }
        sph_boundaries_free(all);
        sph_net_free(net);
    }
    sph_net *net = stack(SPH_F64, KERNELS_FASTEST, 4, 2, 1, 1, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_RELU, 1);
    assert_int_equal(sph_boundaries_new(&all, net, 0, 0, NULL, NULL, 0), 0);
    assert_true(isnan(all->layer[0].pole[0]));
    sph_boundaries_free(all);
    sph_net_free(net);
}

static void what_is_not_defined_is_no_number(void **state)
{
    sph_net *net = stack(SPH_F64, KERNELS_FASTEST, 2, 3, 1, 1, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_RELU, 1);
    const double w[] = {0, 0, 3, 4, 3, 4}, b[] = {1, -10, 0}, x[] = {2, 1, 4, 2}, y[] = {0, 0};
    const uint32_t second[] = {1};
    sph_boundaries *all;
    sph_data *data;
    (void)state;
    assert_int_equal(sph_net_set(net, "layers.0.weight", w, 6), 0);
    assert_int_equal(sph_net_set(net, "layers.0.bias", b, 3), 0);
    assert_int_equal(sph_data_from_arrays(&data, x, y, 2, 2, 1, SPH_TASK_REGRESSION, NULL), 0);

    assert_int_equal(sph_boundaries_new(&all, net, SPH_EVERY_LAYER, 1, NULL, NULL, 0), 0);
    const sph_boundary *at = &all->layer[0];
    assert_true(at->norm[0] == 0 && isnan(at->offset[0]) && isnan(at->phi[0]) && isnan(at->direction[1]));
    assert_true(at->norm[1] == 5 && at->offset[1] == -2);
    assert_true(fabs(at->phi[2] - 1.2) < 1e-15 && fabs(at->phi[3] - 1.6) < 1e-15);
    assert_true(at->phi[4] == 0 && !signbit(at->phi[4]) && at->direction[4] == 0.6);
    for (size_t j = 0; j < 3; j++) {
        assert_true(isnan(at->active_share[j]) && isnan(at->nearest[j]));
        assert_int_equal(at->state[j], SPH_UNIT_UNKNOWN);
    }
    assert_int_equal(all->layer[1].kind, SPH_BOUNDARY_NONE);
    sph_boundaries_free(all);

    assert_int_equal(sph_boundaries_new(&all, net, 0, 1, data, NULL, 0), 0); /* 6 + 4, 12 + 8: less 10 */
    at = &all->layer[0];
    assert_int_equal(at->state[0], SPH_UNIT_ALWAYS_ON);
    assert_true(at->active_share[0] == 1 && isnan(at->nearest[0]));
    assert_int_equal(at->state[1], SPH_UNIT_BOTH);
    assert_true(at->active_share[1] == 0.5 && at->nearest[1] == 0);
    sph_boundaries_free(all);

    assert_int_equal(sph_boundaries_new(&all, net, 0, 1, data, second, 1), 0);
    assert_true(all->layer[0].points == 1 && all->layer[0].nearest[1] == 2);
    sph_boundaries_free(all);
    assert_int_equal(sph_boundaries_new(&all, net, 0, 1, data, second, 0), 0); /* no rows, no shares */
    assert_true(isnan(all->layer[0].active_share[1]));
    sph_boundaries_free(all);
    sph_data_free(data);
    sph_net_free(net);
}

static void wrong_calls_are_refused(void **state)
{
    sph_net *net = stack(SPH_F64, KERNELS_FASTEST, 2, 3, 1, 1, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_RELU, 1);
    const double x[] = {2, 1, 4}, y[] = {0, 0, 0};
    const uint32_t beyond[] = {0, 1};
    sph_boundaries *all;
    sph_data *thin, *fits;
    (void)state;
    assert_int_equal(sph_data_from_arrays(&thin, x, y, 3, 1, 1, SPH_TASK_REGRESSION, NULL), 0);
    assert_int_equal(sph_data_from_arrays(&fits, x, y, 1, 2, 1, SPH_TASK_REGRESSION, NULL), 0);
    assert_fails(sph_boundaries_new(&all, net, 2, 0, NULL, NULL, 0), SPH_EARG, .key = "layer");
    assert_fails(sph_boundaries_new(&all, net, 0, 0, thin, NULL, 0), SPH_EARG, .key = "data");
    assert_fails(sph_boundaries_new(&all, net, 0, 0, fits, beyond, 2), SPH_EARG, .key = "rows");
    sph_boundaries_free(NULL);
    sph_data_free(thin);
    sph_data_free(fits);
    sph_net_free(net);
}

static void every_allocation_may_fail(void **state)
{
    struct random_spec spec = {.seed = 2,
                               .dtype = SPH_F64,
                               .param = SPH_PARAM_GMP,
                               .norm = SPH_NORM_LN,
                               .act = SPH_ACT_SRELU,
                               .inputs = 4,
                               .depth = 2};
    sph_net *net = random_net(&spec);
    sph_data *data = random_data(net, 1);
    sph_boundaries *all = NULL;
    size_t failures = 0;
    (void)state;
    for (;; failures++) {
        fault_after(failures);
        int err = sph_boundaries_new(&all, net, SPH_EVERY_LAYER, 1, data, NULL, 0),
            happened = fault_happened();
        fault_off();
        assert_int_equal(err, happened ? SPH_EMEMORY : 0);
        if (!happened)
            break;
    }
    assert_true(failures > 50);
    sph_boundaries_free(all);
    sph_data_free(data);
    sph_net_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_those_of_the_outputs),
        cmocka_unit_test(shares_of_convs_are_those_of_the_outputs),
        cmocka_unit_test(distances_are_those_of_a_plain_loop),
        cmocka_unit_test(distances_of_patches_are_those_of_a_plain_loop),
        cmocka_unit_test(the_first_layer_in_raw_units_is_the_same_hyperplane_of_the_data),
        cmocka_unit_test(clipped_features_leave_the_hyperplane_scaled_and_carry_its_point),
        cmocka_unit_test(a_conv_has_raw_units_where_channels_share_a_scale),
        cmocka_unit_test(the_pole_is_the_smallest_sine_but_for_the_last_angle),
        cmocka_unit_test(what_is_not_defined_is_no_number),
        cmocka_unit_test(wrong_calls_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
