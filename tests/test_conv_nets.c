/* SPDX-License-Identifier: MIT
 *
 * Nets of several image nodes: types, workers and rows change no value, shapes that do not fit name the layer, and what
 * is saved comes back. */
#include <unistd.h>

#include "conv_values.h"

static const struct net_plan {
    sph_param param;
    sph_norm norm;
} methods[] = {{SPH_PARAM_SP, SPH_NORM_NONE},  {SPH_PARAM_SP, SPH_NORM_BN},
               {SPH_PARAM_GMP, SPH_NORM_NONE}, {SPH_PARAM_GMP, SPH_NORM_IMN},
               {SPH_PARAM_WN, SPH_NORM_MBN},   {SPH_PARAM_SPHERE, SPH_NORM_LN},
               {SPH_PARAM_WN, SPH_NORM_BN},    {SPH_PARAM_SPHERE, SPH_NORM_IMN}};
enum { METHODS = sizeof methods / sizeof *methods };

/* Every kind of node; 3 x 9 x 7 in, 4 out. */
static sph_net *every_node(sph_dtype dtype, const struct net_plan *plan)
{
    sph_net *net = open_net(dtype, KERNELS_FASTEST);
    sph_layer layer = {.size = sizeof(sph_layer),
                       .units = 5,
                       .param = plan->param,
                       .norm = plan->norm,
                       .act = SPH_ACT_RELU,
                       .kernel = 3,
                       .stride = 1,
                       .pad = 1};
    int x = sph_net_image(net, 3, 9, 7);
    layer.norm = plan->norm == SPH_NORM_IMN ? SPH_NORM_NONE : plan->norm;
    int in = sph_net_max_pool(net, sph_net_conv(net, x, &layer), 3, 2, 1); /* 5 x 4 */
    layer.norm = plan->norm;
    layer.stride = 2;
    layer.act = SPH_ACT_SRELU;
    int branch = sph_net_conv(net, in, &layer); /* 3 x 2 */
    layer.act = SPH_ACT_IDENTITY;
    layer.kernel = 1;
    layer.pad = 0;
    int sum = sph_net_act(net, sph_net_add(net, branch, sph_net_conv(net, in, &layer)), SPH_ACT_RELU);
    int node = sph_net_avg_pool(net, sum, 2, 1, 0);
    assert_true(node > 0);
    ready(net, dense(net, sph_net_global_pool(net, node), 4, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_IDENTITY),
          6);
    return net;
}

static void stir_for_evaluation(sph_net *net, uint64_t seed)
{
    struct rng rng = rng_stream(seed, RNG_NOISE, 1);
    stir(net, &rng);
    for (size_t i = 0; i < net->tensor_count; i++) {
        const struct net_tensor *t = &net->tensors[i];
        double values[16];
        for (size_t e = 0; e < t->view.count && !t->view.learned; e++)
            values[e] = between(&rng, 0.5, 1);
        if (!t->view.learned)
            net_write_tensor(net, t, values);
    }
}

static void f32_and_f64_agree(void **state)
{
    (void)state;
    double *x = draw(ROWS * 189, 2), wide[ROWS * 4], narrow[ROWS * 4];
    for (size_t i = 0; i < METHODS; i++) {
        sph_net *a = every_node(SPH_F64, &methods[i]), *b = every_node(SPH_F32, &methods[i]);
        stir_for_evaluation(a, i);
        stir_for_evaluation(b, i);
        assert_int_equal(sph_net_forward(a, x, ROWS, wide), 0);
        assert_int_equal(sph_net_forward(b, x, ROWS, narrow), 0);
        near(narrow, wide, ROWS * 4, 2e-5);
        sph_net_free(a);
        sph_net_free(b);
    }
    free(x);
}

static void workers_change_no_value(void **state)
{
    (void)state;
    double *x = draw(ROWS * 189, 2);
    for (size_t i = 0; i < METHODS; i++)
        for (int mode = PLAN_EVALUATE; mode <= PLAN_TRAIN; mode++) {
            sph_net *net = every_node(SPH_F64, &methods[i]);
            double *one = values_of(net, x, (enum plan_mode)mode, 1);
            sph_net_free(net);
            net = every_node(SPH_F64, &methods[i]);
            double *two = values_of(net, x, (enum plan_mode)mode, 2);
            assert_memory_equal(one, two, ROWS * 4 * sizeof *one);
            free(one), free(two);
            sph_net_free(net);
        }
    free(x);
}

static void forward_of_many_rows_is_forward_of_each(void **state)
{
    (void)state;
    enum { MANY = 300 };
    sph_net *net = every_node(SPH_F64, &methods[3]);
    stir_for_evaluation(net, 1);
    double *x = draw(MANY * 189, 3), *y = numbers(MANY * 4), one[4];
    assert_int_equal(sph_net_forward(net, x, MANY, y), 0);
    for (size_t i = 0; i < MANY; i += 13) {
        assert_int_equal(sph_net_forward(net, x + i * 189, 1, one), 0);
        near(one, y + i * 4, 4, 1e-14);
    }
    free(x), free(y);
    sph_net_free(net);
}

/* Finite weights, one image with a huge pixel, not the first: the conv that overflows is named, not who reads
 * it. */
static void a_pixel_that_overflows_is_blamed_on_its_layer(void **state)
{
    (void)state;
    sph_net *net = open_net(SPH_F32, KERNELS_FASTEST);
    int x = sph_net_image(net, 1, 3, 3);
    sph_layer layer = {.size = sizeof(sph_layer), .units = 1, .kernel = 1, .stride = 1};
    int node = sph_net_conv(net, sph_net_conv(net, x, &layer), &layer);
    ready(net, dense(net, sph_net_global_pool(net, node), 1, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_IDENTITY),
          1);
    assert_int_equal(sph_net_set(net, "layers.0.weight", (double[]){1e10}, 1), 0);
    struct rng rng = rng_stream(1, RNG_NOISE, 1);
    struct probe p;
    probe_open(&p, net, SPH_LOSS_MSE, 2, 1, &rng);
    set_number(net->k, p.x, p.ldx + 7 * kernel_pad(1), 1e30);
    assert_true(!isfinite(probe_loss(&p)));
    assert_int_equal(plan_blame(p.plan, p.x, p.ldx, 2), 0);
    probe_close(&p);
    sph_net_free(net);
}

/* ---------------------------------------------------------------- errors */

static void refused(int err, const char *key)
{
    assert_fails(err, SPH_EARG, .key = key);
}

static void shape_errors_name_the_layer(void **state)
{
    (void)state;
    sph_net *net = open_net(SPH_F32, KERNELS_FASTEST);
    refused(sph_net_image(net, 3, 0, 4), "input");
    int x = sph_net_image(net, 3, 5, 4);
    assert_int_equal(x, 0);
    sph_layer layer = {
        .size = sizeof(sph_layer), .path = "layer2.0.conv1", .units = 2, .kernel = 7, .stride = 1, .pad = 1};
    refused(sph_net_conv(net, x, &layer), "layer2.0.conv1");
    layer = (sph_layer){.size = sizeof(sph_layer), .units = 2, .kernel = 3, .stride = 0};
    refused(sph_net_conv(net, x, &layer), "layers.0");
    layer = (sph_layer){.size = sizeof(sph_layer), .units = 2, .kernel = 3, .stride = 1, .pad = 3};
    refused(sph_net_conv(net, x, &layer), "layers.0");
    refused(sph_net_conv(net, 9, &layer), "layers.0");
    refused(sph_net_dense(net, x, &(sph_layer){.size = sizeof(sph_layer), .path = "fc", .units = 2}), "fc");
    refused(
        sph_net_dense(net, x, &(sph_layer){.size = sizeof(sph_layer), .path = "fc", .units = 2, .kernel = 3}),
        "fc");
    refused(sph_net_max_pool(net, x, 5, 2, 0), "max pool");
    refused(sph_net_avg_pool(net, x, 0, 2, 0), "average pool");
    refused(sph_net_global_pool(net, 4), "global pool");
    layer = (sph_layer){.size = sizeof(sph_layer), .units = 3, .kernel = 1, .stride = 2};
    int small = sph_net_conv(net, x, &layer);
    refused(sph_net_add(net, x, small), "add");
    layer = (sph_layer){.size = sizeof(sph_layer),
                        .units = 20,
                        .kernel = 3,
                        .stride = 3,
                        .pad = 1}; /* 20 x 2 x 2; 10 x 4 x 2 below */
    int wide = sph_net_conv(net, x, &layer);
    layer = (sph_layer){.size = sizeof(sph_layer), .units = 10, .kernel = 2, .stride = 1, .pad = 0};
    int other = sph_net_max_pool(net, sph_net_conv(net, x, &layer), 2, 1, 0);
    assert_int_equal(net->nodes[other].height * net->nodes[other].width, 6);
    refused(sph_net_act(net, x, SPH_ACT_SRELU), "activation");
    refused(sph_net_act(net, x, (sph_act)17), "activation");
    refused(sph_net_act(net, 77, SPH_ACT_RELU), "activation");
    refused(sph_net_ready(net, other, 1), "output");
    assert_true(wide > 0);
    sph_net_free(net);

    net = open_net(SPH_F32, KERNELS_FASTEST); /* as many numbers in another shape */
    x = sph_net_image(net, 1, 2, 3);
    layer = (sph_layer){.size = sizeof(sph_layer), .units = 6, .kernel = 2, .stride = 2};
    int a = sph_net_conv(net, x, &layer); /* 6 x 1 x 1 */
    assert_int_equal(node_features(&net->nodes[a]), 6);
    refused(sph_net_add(net, a, x), "add");
    sph_net_free(net);
}

/* ---------------------------------------------------------------- files */

/* Whoever names such sizes, an architecture in a file perhaps, is refused before anything is computed of them. */
static void sizes_whose_product_wraps_are_refused(void **state)
{
    (void)state;
    sph_net *net = NULL;
    size_t most = (size_t)1 << 24;
    assert_int_equal(sph_net_new(&net, SPH_F32), 0);
    refused(sph_net_image(net, (size_t)1 << 32, (size_t)1 << 32, 2), "net");
    int node = sph_net_image(net, 1 << 20, 2, 2);
    assert_true(node >= 0);
    refused(sph_net_max_pool(net, node, (size_t)1 << 33, 1, ((size_t)1 << 33) - 1), "max pool");
    refused(sph_net_conv(net, node,
                         &(sph_layer){.size = sizeof(sph_layer),
                                      .path = "wide",
                                      .units = 1,
                                      .kernel = (size_t)1 << 32,
                                      .stride = 1,
                                      .pad = ((size_t)1 << 32) - 1}),
            "wide");
    refused(sph_net_conv(net, node,
                         &(sph_layer){.size = sizeof(sph_layer),
                                      .path = "deep",
                                      .units = 1,
                                      .kernel = most,
                                      .stride = 1,
                                      .pad = most - 1}),
            "deep"); /* 2^20 channels of 2^48 */
    int err = 0;
    for (int i = 0; i < 1 << 14 && !err; i++) { /* each makes it 2^24 wider and higher */
        int next = sph_net_max_pool(net, node, most, 1, most - 1);
        err = next < 0 ? next : 0;
        node = next < 0 ? node : next;
    }
    refused(err, "net");
    sph_net_free(net);
}

static void image_nets_come_back_from_their_files(void **state)
{
    (void)state;
    char path[] = "/tmp/test_conv_XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    double *x = draw(ROWS * 189, 2), before[ROWS * 4], after[ROWS * 4];
    for (int dtype = 0; dtype < SPH_DTYPE_COUNT; dtype++)
        for (size_t i = 0; i < METHODS; i++) {
            sph_net *net = every_node((sph_dtype)dtype, &methods[i]), *back = NULL;
            stir_for_evaluation(net, i);
            assert_int_equal(sph_net_save(net, path), 0);
            if (sph_net_open(&back, path) < 0)
                fail_msg("%s", sph_error());
            assert_int_equal(back->node_count, net->node_count);
            assert_int_equal(back->nodes[6].act, net->nodes[6].act);
            assert_int_equal(sph_net_forward(net, x, ROWS, before), 0);
            assert_int_equal(sph_net_forward(back, x, ROWS, after), 0);
            assert_memory_equal(before, after, sizeof before);
            sph_net *copy = NULL;
            assert_int_equal(sph_net_copy(&copy, net), 0);
            assert_int_equal(sph_net_forward(copy, x, ROWS, after), 0);
            assert_memory_equal(before, after, sizeof before);
            sph_net_free(copy);
            sph_net_free(back);
            sph_net_free(net);
        }
    unlink(path);
    free(x);
}

static void tensors_of_a_conv_have_four_axes_and_angles_two(void **state)
{
    (void)state;
    sph_net *net = every_node(SPH_F32, &methods[0]), *gmp = every_node(SPH_F32, &methods[2]);
    sph_tensor t = net_find_tensor(net, "layers.0.weight")->view;
    assert_int_equal(t.ndim, 4);
    assert_true(t.shape[0] == 5 && t.shape[1] == 3 && t.shape[2] == 3 && t.shape[3] == 3 && t.count == 135);
    t = net_find_tensor(gmp, "layers.0.theta")->view;
    assert_int_equal(t.ndim, 2);
    assert_true(t.shape[0] == 5 && t.shape[1] == 26);
    t = net_find_tensor(net, "layers.3.weight")->view;
    assert_int_equal(t.ndim, 2);
    sph_net_free(net);
    sph_net_free(gmp);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(f32_and_f64_agree),
        cmocka_unit_test(workers_change_no_value),
        cmocka_unit_test(forward_of_many_rows_is_forward_of_each),
        cmocka_unit_test(a_pixel_that_overflows_is_blamed_on_its_layer),
        cmocka_unit_test(shape_errors_name_the_layer),
        cmocka_unit_test(sizes_whose_product_wraps_are_refused),
        cmocka_unit_test(image_nets_come_back_from_their_files),
        cmocka_unit_test(tensors_of_a_conv_have_four_axes_and_angles_two),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
