/* SPDX-License-Identifier: MIT
 *
 * What --record gradients keeps: sizes of gradients as a plain pass gives them, shares of units that are on as
 * the outputs show them, and a net that stays as it was, running statistics included. */
#include "support.h"

#include "boundary/gradients.h"

enum { ROWS = 37, INPUTS = 5 };

static const sph_train_opts opts = {.loss = SPH_LOSS_MSE};

struct world {
    double x[ROWS * INPUTS], y[ROWS];
    struct memory_table table;
    struct source source;
};

static void make_world(struct world *world, const sph_net *net)
{
    struct rng rng = rng_stream(81, RNG_NOISE, 0);
    for (size_t i = 0; i < ROWS * INPUTS; i++)
        world->x[i] = rng_normal(&rng);
    for (size_t i = 0; i < ROWS; i++)
        world->y[i] = rng_normal(&rng);
    world->table =
        (struct memory_table){.k = net->k, .n = INPUTS, .targets = 1, .x = world->x, .y = world->y};
    world->source = memory_source(&world->table, ROWS);
}

static double mse(sph_net *net, const struct world *world, size_t rows)
{
    double y[ROWS], sum = 0;
    assert_int_equal(sph_net_forward(net, world->x, rows, y), 0);
    for (size_t i = 0; i < rows; i++)
        sum += (y[i] - world->y[i]) * (y[i] - world->y[i]);
    return sum / (double)rows;
}

/* The root of the mean square of central differences of the loss, over the numbers of a tensor. */
static double differences(sph_net *net, const struct world *world, size_t rows, const char *name)
{
    const struct net_tensor *tensor = net_find_tensor(net, name);
    assert_non_null(tensor);
    double *values = numbers(tensor->view.count), square = 0, h = 1e-5;
    net_read_tensor(net, tensor, values);
    for (size_t i = 0; i < tensor->view.count; i++) {
        double at = values[i], loss[2];
        for (int side = 0; side < 2; side++) {
            values[i] = at + (side ? h : -h);
            net_write_tensor(net, tensor, values);
            loss[side] = mse(net, world, rows);
        }
        values[i] = at;
        square += pow((loss[1] - loss[0]) / (2 * h), 2);
    }
    net_write_tensor(net, tensor, values);
    double mean = square / (double)tensor->view.count;
    free(values);
    return sqrt(mean);
}

/* sphere apart, whose gradient is the tangent part: a difference leaves the sphere. */
static void sizes_are_those_of_differences(void **state)
{
    (void)state;
    static const struct {
        sph_param param;
        const char *direction;
    } cases[] = {{SPH_PARAM_SP, "weight"}, {SPH_PARAM_WN, "v"}, {SPH_PARAM_GMP, "theta"}};
    for (size_t c = 0; c < 3; c++)
        for (size_t rows = 20; rows <= ROWS; rows += 17) {
            sph_net *net = stack(SPH_F64, KERNELS_FASTEST, INPUTS, 6, 2, 1, cases[c].param, SPH_NORM_NONE,
                                 SPH_ACT_ELU, 3);
            struct rng rng = rng_stream(82, RNG_NOISE, 0);
            struct world world;
            struct gradients *gradients = NULL;
            const struct gradients_layer *layers;
            stir(net, &rng);
            make_world(&world, net);
            assert_int_equal(gradients_new(&gradients, net, &world.source, rows, &opts), 0);
            assert_int_equal(gradients_take(gradients, &layers), 0);
            for (size_t l = 0; l < 3; l++) {
                char name[32];
                size_t inputs = l ? 6 : INPUTS, units = l < 2 ? 6 : 1;
                snprintf(name, sizeof name, "layers.%zu.%s", l, l < 2 ? cases[c].direction : "weight");
                double want = differences(net, &world, rows, name);
                assert_true(fabs(layers[l].rms / want - 1) < 1e-6);
                size_t count = units * (l < 2 && cases[c].param == SPH_PARAM_GMP ? inputs - 1 : inputs);
                assert_true(fabs(layers[l].norm / layers[l].rms - sqrt((double)count)) < 1e-9);
            }
            gradients_free(gradients);
            sph_net_free(net);
        }
}

/* One hidden layer whose units are outputs of their own, so that whoever is on can be seen. */
static void shares_are_those_of_the_outputs(void **state)
{
    (void)state;
    enum { UNITS = 9 };
    for (int param = 0; param < SPH_PARAM_COUNT; param++) {
        sph_net *net = open_net(SPH_F64, KERNELS_FASTEST);
        int node =
            dense(net, sph_net_input(net, INPUTS), UNITS, (sph_param)param, SPH_NORM_NONE, SPH_ACT_RELU);
        ready(net, dense(net, node, 1, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_IDENTITY), 5);
        struct rng rng = rng_stream(83, RNG_NOISE, (uint32_t)param);
        struct world world;
        struct gradients *gradients = NULL;
        const struct gradients_layer *layers;
        stir(net, &rng);
        double offset[UNITS] = {-100, 0.1, -100, 0.2}, r[UNITS], output[UNITS];
        assert_int_equal(sph_net_set(net,
                                     param_has_radius((sph_param)param) ? "layers.0.lambda" : "layers.0.bias",
                                     offset, UNITS),
                         0);
        for (size_t j = 0; j < UNITS; j++)
            r[j] = j % 2 ? -1.5 : 0.5; /* a negative scale turns the output, not the unit */
        if (param_has_radius((sph_param)param))
            assert_int_equal(sph_net_set(net, "layers.0.r", r, UNITS), 0);
        make_world(&world, net);
        assert_int_equal(gradients_new(&gradients, net, &world.source, ROWS, &opts), 0);
        assert_int_equal(gradients_take(gradients, &layers), 0);
        size_t on = 0, dead = 0;
        for (size_t j = 0; j < UNITS; j++) {
            double y[ROWS], bias = 0;
            size_t rows = 0;
            for (size_t i = 0; i < UNITS; i++)
                output[i] = i == j;
            assert_int_equal(sph_net_set(net, "layers.1.weight", output, UNITS), 0);
            assert_int_equal(sph_net_set(net, "layers.1.bias", &bias, 1), 0);
            assert_int_equal(sph_net_forward(net, world.x, ROWS, y), 0);
            for (size_t i = 0; i < ROWS; i++)
                rows += y[i] != 0;
            on += rows;
            dead += rows == 0;
        }
        assert_true(dead >= 2);
        assert_true(layers[0].active == (double)on / (UNITS * ROWS));
        assert_true(layers[0].dead == (double)dead / UNITS);
        assert_true(isnan(layers[1].active) && isnan(layers[1].dead) && layers[1].rms > 0);
        gradients_free(gradients);
        sph_net_free(net);
    }
}

/* Whatever the normalization, and taken twice it says the same. */
static void the_net_stays_as_it_is(void **state)
{
    (void)state;
    for (int norm = 0; norm < SPH_NORM_COUNT; norm++) {
        sph_net *net =
            stack(SPH_F32, KERNELS_FASTEST, INPUTS, 8, 2, 1, SPH_PARAM_GMP, (sph_norm)norm, SPH_ACT_RELU, 7);
        struct world world;
        struct gradients *gradients = NULL;
        const struct gradients_layer *layers;
        struct gradients_layer first[3];
        make_world(&world, net);
        float *params = malloc(net->learned * sizeof(float)),
              *held = malloc((net->state_len + 1) * sizeof(float));
        assert_true(params && held);
        memcpy(params, net->params, net->learned * sizeof(float));
        memcpy(held, net->state, net->state_len * sizeof(float));
        assert_int_equal(gradients_new(&gradients, net, &world.source, 30, &opts), 0);
        assert_int_equal(gradients_take(gradients, &layers), 0);
        memcpy(first, layers, sizeof first);
        assert_int_equal(gradients_take(gradients, &layers), 0);
        assert_memory_equal(first, layers, sizeof first);
        assert_memory_equal(params, net->params, net->learned * sizeof(float));
        assert_memory_equal(held, net->state, net->state_len * sizeof(float));
        free(params), free(held);
        gradients_free(gradients);
        sph_net_free(net);
    }
}

/* A single input leaves gmp no angle, and so no gradient of one. */
static void no_angle_no_gradient(void **state)
{
    (void)state;
    sph_net *net = stack(SPH_F64, KERNELS_FASTEST, 1, 4, 1, 1, SPH_PARAM_GMP, SPH_NORM_NONE, SPH_ACT_RELU, 7);
    struct gradients *gradients = NULL;
    const struct gradients_layer *layers;
    double x[4] = {-1, 0.5, 1, 2}, y[4] = {0, 1, 2, 3};
    struct memory_table table = {.k = net->k, .n = 1, .targets = 1, .x = x, .y = y};
    struct source source = memory_source(&table, 4);
    assert_int_equal(gradients_new(&gradients, net, &source, 4, &opts), 0);
    assert_int_equal(gradients_take(gradients, &layers), 0);
    assert_true(layers[0].rms == 0 && layers[0].norm == 0 && layers[0].active > 0);
    gradients_free(gradients);
    sph_net_free(net);
}

/* Remark 3.6: the mean of what the second layer reads, over its spread. Counted here from the units' outputs; imn takes
 * its running mean off, wherever it stands, and mbn changes what is read but takes nothing off. */
static void input_means_are_those_of_the_units_outputs(void **state)
{
    (void)state;
    enum { UNITS = 6 };
    static const sph_norm norms[] = {SPH_NORM_NONE, SPH_NORM_MBN, SPH_NORM_IMN};
    for (size_t which = 0; which < sizeof norms / sizeof *norms; which++) {
        sph_net *net = stack(SPH_F64, KERNELS_FASTEST, INPUTS, UNITS, 2, 1, SPH_PARAM_GMP, norms[which],
                             SPH_ACT_RELU, 7);
        struct world world;
        struct gradients *gradients = NULL;
        const struct gradients_layer *layers;
        double off[UNITS] = {0.3, -0.1, 0.2, 0, 0.5, 1}, length = 0, spread = 0;
        if (norms[which] == SPH_NORM_IMN)
            assert_int_equal(sph_net_set(net, "layers.1.norm.mean", off, UNITS), 0);
        make_world(&world, net);
        assert_int_equal(gradients_new(&gradients, net, &world.source, ROWS, &opts), 0);
        assert_int_equal(gradients_take(gradients, &layers), 0);
        double theta[UNITS * (INPUTS - 1)], w[UNITS][INPUTS];
        assert_int_equal(sph_net_get(net, "layers.0.theta", theta, UNITS * (INPUTS - 1)), 0);
        for (size_t j = 0; j < UNITS; j++) {
            double p = 1, mean = 0, square = 0;
            for (size_t i = 0; i < INPUTS; i++) {
                w[j][i] = i + 1 < INPUTS ? p * cos(theta[j * (INPUTS - 1) + i]) : p;
                p *= i + 1 < INPUTS ? sin(theta[j * (INPUTS - 1) + i]) : 1;
            }
            for (size_t row = 0; row < ROWS; row++) {
                double z = 0;
                for (size_t i = 0; i < INPUTS; i++)
                    z += w[j][i] * world.x[row * INPUTS + i];
                mean += z > 0 ? z / ROWS : 0;
                square += z > 0 ? z * z / ROWS : 0;
            }
            spread += square - mean * mean;
            mean -= norms[which] == SPH_NORM_IMN ? off[j] : 0;
            length += mean * mean;
        }
        assert_true(fabs(layers[1].input_mean - sqrt(length / spread)) < 1e-9);
        gradients_free(gradients);
        sph_net_free(net);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_those_of_differences),
        cmocka_unit_test(shares_are_those_of_the_outputs),
        cmocka_unit_test(the_net_stays_as_it_is),
        cmocka_unit_test(no_angle_no_gradient),
        cmocka_unit_test(input_means_are_those_of_the_units_outputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
