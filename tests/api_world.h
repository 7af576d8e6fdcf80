/* SPDX-License-Identifier: MIT
 *
 * A small data set, its split, options and a network, made before each test of the C API. */
#ifndef SPH_TESTS_API_WORLD_H
#define SPH_TESTS_API_WORLD_H

enum { ROWS = 40 };

struct world {
    sph_data *data;
    sph_net *net;
    uint32_t rows[ROWS];
    sph_split split;
    sph_train_opts opts;
};

static int open_world(void **state)
{
    static struct world world;
    static const size_t hidden[] = {8};
    double x[2 * ROWS], y[ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        x[2 * i] = (double)(i % 7) - 3;
        x[2 * i + 1] = (double)(i % 5) - 2;
        y[i] = fabs(x[2 * i]) + x[2 * i + 1];
        world.rows[i] = (uint32_t)i;
    }
    sph_mlp spec = {.size = sizeof(sph_mlp),
                    .inputs = 2,
                    .outputs = 1,
                    .hidden = hidden,
                    .depth = 1,
                    .param = SPH_PARAM_GMP,
                    .act = SPH_ACT_RELU};
    world.split = (sph_split){.train = world.rows, .train_rows = ROWS};
    sph_train_defaults(&world.opts, SPH_TASK_REGRESSION);
    world.opts.epochs = 5;
    *state = &world;
    return sph_data_from_arrays(&world.data, x, y, ROWS, 2, 1, SPH_TASK_REGRESSION, NULL) ||
           sph_net_mlp(&world.net, &spec);
}

static int close_world(void **state)
{
    struct world *world = *state;
    sph_net_free(world->net);
    sph_data_free(world->data);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)

#endif
