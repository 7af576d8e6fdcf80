/* SPDX-License-Identifier: MIT
 *
 * Nets with grouped convolutions against nets whose convolutions have all weights, 0 where a group does not
 * reach: the same function, the same boundaries. And what groups are in a description: shapes, first values,
 * files, refusals. */
#include <unistd.h>

#include "random_net.h"
#include "support.h"

#include "spherelu.h"

enum { ROWS = 5, CHANNELS = 4, CONVS = 4 };

static const struct conv {
    size_t units, kernel, stride, groups;
} convs[CONVS] = {{8, 3, 1, 2}, {8, 3, 1, 8}, {16, 1, 1, 8}, {6, 2, 2, 2}};

/* full: every conv has all weights. */
static sph_net *make(sph_dtype dtype, sph_norm norm, size_t pad, int full)
{
    sph_net *net = open_net(dtype, KERNELS_FASTEST);
    int node = sph_net_image(net, CHANNELS, 9, 8);
    for (size_t i = 0; i < CONVS; i++) {
        sph_layer layer = {.size = sizeof(sph_layer),
                           .units = convs[i].units,
                           .norm = norm,
                           .act = SPH_ACT_RELU,
                           .kernel = convs[i].kernel,
                           .stride = convs[i].stride,
                           .pad = convs[i].kernel > 1 ? pad : 0,
                           .groups = full ? 0 : convs[i].groups};
        node = sph_net_conv(net, node, &layer);
        if (node < 0)
            fail_msg("%s", sph_error());
    }
    node = sph_net_global_pool(net, node);
    ready(net, dense(net, node, 2, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_IDENTITY), 3);
    return net;
}

/* The place of input i of unit j among the inputs of all channels. */
static size_t spread(const struct net_layer *layer, size_t j, size_t i)
{
    size_t groups = layer->spec.groups ? layer->spec.groups : 1;
    return j / (layer->spec.units / groups) * layer->shape.n + i;
}

/* full <- the numbers of net. */
static void copy_numbers(const sph_net *net, sph_net *full)
{
    for (size_t t = 0; t < net->tensor_count; t++) {
        const struct net_tensor *from = &net->tensors[t], *to = net_find_tensor(full, from->view.name);
        const struct net_layer *layer = &net->layers[from->layer];
        assert_non_null(to);
        double *values = numbers(from->view.count), *all = numbers(to->view.count);
        net_read_tensor(net, from, values);
        int weight = from->view.ndim == 4;
        if (!weight)
            assert_int_equal(from->view.count, to->view.count);
        for (size_t e = 0; e < from->view.count; e++) {
            size_t j = e / from->per_unit, i = e % from->per_unit;
            all[weight ? j * to->per_unit + spread(layer, j, i) : e] = values[e];
        }
        net_write_tensor(full, to, all);
        free(values), free(all);
    }
}

struct both {
    sph_net *grouped, *full;
};

static struct both make_both(sph_dtype dtype, sph_norm norm, size_t pad)
{
    struct both nets = {make(dtype, norm, pad, 0), make(dtype, norm, pad, 1)};
    randomize(nets.grouped, 7, 0);
    copy_numbers(nets.grouped, nets.full);
    return nets;
}

static void free_both(struct both *nets)
{
    sph_net_free(nets->grouped);
    sph_net_free(nets->full);
}

static void close_to(const char *what, double have, double want, double error)
{
    if (!(fabs(have - want) <= error * (1 + fabs(want))) && !(isnan(have) && isnan(want)))
        fail_msg("%s is %.17g, expected %.17g", what, have, want);
}

static void a_grouped_net_is_one_whose_other_weights_are_0(void **state)
{
    (void)state;
    for (int dtype = 0; dtype < SPH_DTYPE_COUNT; dtype++)
        for (int norm = 0; norm < SPH_NORM_COUNT; norm++)
            for (size_t pad = 0; pad < 2; pad++) {
                struct both nets = make_both((sph_dtype)dtype, (sph_norm)norm, pad);
                struct rng rng = rng_stream(1, RNG_NOISE, 1);
                double *x = numbers(ROWS * sph_net_inputs(nets.full)), a[ROWS * 2], b[ROWS * 2];
                for (size_t i = 0; i < ROWS * sph_net_inputs(nets.full); i++)
                    x[i] = rng_normal(&rng);
                assert_int_equal(sph_net_forward(nets.grouped, x, ROWS, a), 0);
                assert_int_equal(sph_net_forward(nets.full, x, ROWS, b), 0);
                for (size_t i = 0; i < ROWS * 2; i++)
                    close_to(norm_word[norm], a[i], b[i], dtype == SPH_F64 ? 1e-12 : 1e-4);
                free(x);
                free_both(&nets);
            }
}

/* ---------------------------------------------------------------- boundaries */

static sph_data *draw_data(const sph_net *net)
{
    struct rng rng = rng_stream(2, RNG_NOISE, 2);
    size_t n = sph_net_inputs(net);
    double *x = numbers(ROWS * n), y[ROWS * 2] = {0};
    sph_data *data = NULL;
    for (size_t i = 0; i < ROWS * n; i++)
        x[i] = rng_normal(&rng);
    assert_int_equal(sph_data_from_arrays(&data, x, y, ROWS, n, 2, SPH_TASK_REGRESSION, NULL), 0);
    free(x);
    return data;
}

/* Each channel standardised by numbers of its own. */
static void scale_channels(sph_net *net)
{
    size_t n = sph_net_inputs(net), pixels = node_pixels(&net->nodes[0]);
    net->scaling = (struct scaling){
        .features = n, .x_mean = mem_get(n, sizeof(double)), .x_scale = mem_get(n, sizeof(double))};
    for (size_t i = 0; i < n; i++) {
        net->scaling.x_mean[i] = 3 * (double)(i / pixels) - 4;
        net->scaling.x_scale[i] = 0.5 + (double)(i / pixels);
    }
}

/* b's unit is a's in the space of all channels, where a unit's other directions are 0. */
static void same_boundary(const struct net_layer *layer, const sph_boundary *a, const sph_boundary *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->points, b->points);
    for (size_t j = 0; a->kind != SPH_BOUNDARY_NONE && j < a->m; j++) {
        close_to("norm", a->norm[j], b->norm[j], 1e-12);
        close_to("offset", a->offset[j], b->offset[j], 1e-11);
        close_to("share", a->active_share[j], b->active_share[j], 0);
        close_to("nearest", a->nearest[j], b->nearest[j], 1e-9);
        assert_int_equal(a->state[j], b->state[j]);
        for (size_t i = 0; i < a->n; i++) {
            size_t at = j * b->n + spread(layer, j, i);
            close_to("direction", a->direction[j * a->n + i], b->direction[at], 1e-11);
            close_to("phi", a->phi[j * a->n + i], b->phi[at], 1e-11);
            if (a->phi_net)
                close_to("phi_net", a->phi_net[j * a->n + i], b->phi_net[at], 1e-11);
        }
    }
}

static void a_grouped_unit_has_the_boundary_of_one_whose_other_weights_are_0(void **state)
{
    (void)state;
    for (int norm = 0; norm < SPH_NORM_COUNT; norm++)
        for (size_t turn = 0; turn < 4; turn++) {
            struct both nets = make_both(SPH_F64, (sph_norm)norm, turn % 2);
            sph_data *data = draw_data(nets.full);
            sph_boundaries *a = NULL, *b = NULL;
            int raw = turn >= 2;
            if (raw) {
                scale_channels(nets.grouped);
                scale_channels(nets.full);
            }
            assert_int_equal(sph_boundaries_new(&a, nets.grouped, SPH_EVERY_LAYER, raw, data, NULL, 0), 0);
            assert_int_equal(sph_boundaries_new(&b, nets.full, SPH_EVERY_LAYER, raw, data, NULL, 0), 0);
            for (size_t l = 0; l < a->count; l++)
                same_boundary(&nets.grouped->layers[l], &a->layer[l], &b->layer[l]);
            sph_boundaries_free(a);
            sph_boundaries_free(b);
            sph_data_free(data);
            free_both(&nets);
        }
}

/* ln of an image of one pixel joins units that read different channels: a unit's boundary lies in the space
 * of all of them, and of its own nothing is said. */
static void ln_joins_groups_and_leaves_no_hyperplane(void **state)
{
    (void)state;
    for (size_t groups = 1; groups <= 2; groups++) {
        sph_net *net = open_net(SPH_F64, KERNELS_FASTEST);
        int node = sph_net_conv(net, sph_net_image(net, 2, 3, 3),
                                &(sph_layer){.size = sizeof(sph_layer),
                                             .units = 4,
                                             .norm = SPH_NORM_LN,
                                             .act = SPH_ACT_RELU,
                                             .kernel = 3,
                                             .stride = 1,
                                             .groups = groups});
        ready(net, dense(net, node, 2, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_IDENTITY), 3);
        sph_data *data = draw_data(net);
        sph_boundaries *all = NULL;
        assert_int_equal(sph_boundaries_new(&all, net, 0, 0, data, NULL, 0), 0);
        const sph_boundary *b = &all->layer[0];
        assert_int_equal(b->kind, SPH_BOUNDARY_PER_SAMPLE);
        for (size_t j = 0; j < b->m; j++) {
            assert_int_equal(isnan(b->offset[j]) != 0, groups > 1); /* its shift is 0 */
            assert_int_equal(isnan(b->nearest[j]) != 0, groups > 1);
            assert_true(b->active_share[j] >= 0);
        }
        sph_boundaries_free(all);
        sph_data_free(data);
        sph_net_free(net);
    }
}

/* ---------------------------------------------------------------- descriptions */

static sph_net *one_conv(sph_param param, sph_init init, size_t channels, size_t units, size_t kernel,
                         size_t groups)
{
    sph_net *net = open_net(SPH_F64, KERNELS_FASTEST);
    int node = sph_net_conv(net, sph_net_image(net, channels, 8, 8),
                            &(sph_layer){.size = sizeof(sph_layer),
                                         .path = "dw",
                                         .units = units,
                                         .param = param,
                                         .init = init,
                                         .act = SPH_ACT_RELU,
                                         .kernel = kernel,
                                         .stride = 1,
                                         .groups = groups});
    node = sph_net_global_pool(net, node);
    ready(net, dense(net, node, 1, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_IDENTITY), 3);
    return net;
}

static void has_shape(const sph_net *net, const char *name, size_t ndim, size_t a, size_t b, size_t c,
                      size_t d)
{
    const struct net_tensor *t = net_find_tensor(net, name);
    const size_t want[] = {a, b, c, d};
    assert_non_null(t);
    assert_int_equal(t->view.ndim, ndim);
    assert_memory_equal(t->view.shape, want, ndim * sizeof *want);
}

static void tensors_have_the_channels_of_a_group(void **state)
{
    (void)state;
    sph_net *net = one_conv(SPH_PARAM_SP, SPH_INIT_DEFAULT, 12, 8, 3, 4);
    has_shape(net, "dw.weight", 4, 8, 3, 3, 3);
    assert_int_equal(net->layers[0].shape.n, 27);
    sph_net_free(net);
    net = one_conv(SPH_PARAM_GMP, SPH_INIT_DEFAULT, 6, 6, 3, 6);
    has_shape(net, "dw.theta", 2, 6, 8, 0, 0);
    has_shape(net, "dw.r", 1, 6, 0, 0, 0);
    assert_null(net_find_tensor(net, "dw.sign"));
    sph_net_free(net);
    net = one_conv(SPH_PARAM_GMP, SPH_INIT_DEFAULT, 6, 6, 1, 6); /* one number: a fixed sign */
    has_shape(net, "dw.sign", 1, 6, 0, 0, 0);
    assert_null(net_find_tensor(net, "dw.theta"));
    sph_net_free(net);
    net = one_conv(SPH_PARAM_WN, SPH_INIT_DEFAULT, 6, 12, 1, 6);
    has_shape(net, "dw.v", 4, 12, 1, 1, 1);
    has_shape(net, "dw.g", 1, 12, 0, 0, 0);
    sph_net_free(net);
}

/* Glorot's limit and He's deviation count the inputs of a unit and the outputs that an input reaches. */
static void first_values_count_what_a_group_joins(void **state)
{
    (void)state;
    sph_net *net = one_conv(SPH_PARAM_SP, SPH_INIT_GLOROT, 48, 96, 3, 24);
    double limit = sqrt(6.0 / (2 * 9 + 4 * 9)), most = 0, square = 0, *w = numbers(96 * 18);
    assert_int_equal(sph_net_get(net, "dw.weight", w, 96 * 18), 0);
    for (size_t i = 0; i < 96 * 18; i++)
        most = fmax(most, fabs(w[i]));
    assert_true(most <= limit && most > 0.99 * limit);
    sph_net_free(net);
    net = one_conv(SPH_PARAM_SP, SPH_INIT_HE, 48, 96, 3, 24);
    assert_int_equal(sph_net_get(net, "dw.weight", w, 96 * 18), 0);
    for (size_t i = 0; i < 96 * 18; i++)
        square += w[i] * w[i] / (96 * 18);
    assert_true(fabs(square * 18 / 2 - 1) < 0.1); /* 1,728 draws: 0.034 is a deviation */
    free(w);
    sph_net_free(net);
}

static void groups_that_do_not_divide_are_refused_by_name(void **state)
{
    (void)state;
    sph_net *net = open_net(SPH_F32, KERNELS_FASTEST);
    int x = sph_net_image(net, 6, 4, 4);
    sph_layer layer = {
        .size = sizeof(sph_layer), .path = "block.dw", .units = 9, .kernel = 3, .stride = 1, .groups = 6};
    assert_fails(sph_net_conv(net, x, &layer), SPH_EARG, .key = "block.dw");
    layer.units = 8, layer.groups = 4;
    assert_fails(sph_net_conv(net, x, &layer), SPH_EARG, .key = "block.dw");
    layer.groups = 7;
    assert_fails(sph_net_conv(net, x, &layer), SPH_EARG, .key = "block.dw");
    assert_fails(
        sph_net_dense(net, sph_net_global_pool(net, x),
                      &(sph_layer){.size = sizeof(sph_layer), .path = "fc", .units = 6, .groups = 2}),
        SPH_EARG, .key = "fc");
    layer.groups = 1;
    assert_true(sph_net_conv(net, x, &layer) > 0);
    sph_net_free(net);
}

/* ---------------------------------------------------------------- files */

static void grouped_nets_come_back_from_their_files(void **state)
{
    (void)state;
    char path[] = "/tmp/test_groups_XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    for (int norm = 0; norm < SPH_NORM_COUNT; norm++) {
        sph_net *net = make(SPH_F64, (sph_norm)norm, 1, 0), *back = NULL;
        randomize(net, 9, 0);
        double *x = numbers(ROWS * sph_net_inputs(net)), a[ROWS * 2], b[ROWS * 2];
        for (size_t i = 0; i < ROWS * sph_net_inputs(net); i++)
            x[i] = sin((double)i);
        assert_int_equal(sph_net_save(net, path), 0);
        if (sph_net_open(&back, path) < 0)
            fail_msg("%s", sph_error());
        for (size_t l = 0; l < CONVS; l++)
            assert_int_equal(sph_net_layer(back, l, NULL)->groups, convs[l].groups);
        assert_int_equal(sph_net_forward(net, x, ROWS, a), 0);
        assert_int_equal(sph_net_forward(back, x, ROWS, b), 0);
        assert_memory_equal(a, b, sizeof a);
        free(x);
        sph_net_free(back);
        sph_net_free(net);
    }
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_grouped_net_is_one_whose_other_weights_are_0),
        cmocka_unit_test(a_grouped_unit_has_the_boundary_of_one_whose_other_weights_are_0),
        cmocka_unit_test(ln_joins_groups_and_leaves_no_hyperplane),
        cmocka_unit_test(tensors_have_the_channels_of_a_group),
        cmocka_unit_test(first_values_count_what_a_group_joins),
        cmocka_unit_test(groups_that_do_not_divide_are_refused_by_name),
        cmocka_unit_test(grouped_nets_come_back_from_their_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
