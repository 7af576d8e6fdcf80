/* SPDX-License-Identifier: MIT
 *
 * A converted image net is the same function. */
#include <stdio.h>

#include "same_function.h"

#include "net/net.h"
#include "layer.h"

static int added(int node)
{
    if (node < 0)
        fail_msg("%s", sph_error());
    return node;
}

static sph_layer window(size_t units, size_t kernel, size_t stride, size_t pad, sph_param param,
                        sph_norm norm, sph_act act)
{
    return (sph_layer){.size = sizeof(sph_layer),
                       .units = units,
                       .param = param,
                       .norm = norm,
                       .act = act,
                       .kernel = kernel,
                       .stride = stride,
                       .pad = pad};
}

/* What stands between the layers. */
enum graph { CHAIN, UNPADDED, POOLS, RESIDUAL, GROUPS, GROUPS_UNPADDED, GRAPHS };
static const char *const graph_word[GRAPHS] = {"chain",    "unpadded", "pools",
                                               "residual", "groups",   "groups, unpadded"};

struct kind {
    enum graph graph;
    sph_dtype dtype;
    sph_param param;
    sph_norm norm;
    sph_act act;
};

static int chain(sph_net *net, int node, const struct kind *k, size_t pad)
{
    for (size_t i = 0; i < 3; i++) {
        sph_layer layer =
            window(3 + i, i == 1 ? 1 : 3, i == 2 ? 2 : 1, i == 1 ? 0 : pad, k->param, k->norm, k->act);
        node = added(sph_net_conv(net, node, &layer));
    }
    return node;
}

/* Two groups, depthwise, several units to a channel, a window of one number, two groups of three channels. */
static int groups(sph_net *net, int node, const struct kind *k, size_t pad)
{
    static const struct {
        size_t units, kernel, stride, groups;
    } convs[] = {{4, 3, 1, 2}, {4, 3, 1, 4}, {8, 2, 1, 4}, {8, 1, 1, 8}, {6, 1, 1, 1}, {4, 3, 2, 2}};
    for (size_t i = 0; i < sizeof convs / sizeof *convs; i++) {
        sph_layer layer = window(convs[i].units, convs[i].kernel, convs[i].stride,
                                 convs[i].kernel > 1 ? pad : 0, k->param, k->norm, k->act);
        layer.groups = convs[i].groups;
        node = added(sph_net_conv(net, node, &layer));
    }
    return node;
}

static int pools(sph_net *net, int node, const struct kind *k)
{
    sph_layer layer = window(3, 3, 1, 1, k->param, k->norm, k->act);
    node = added(sph_net_max_pool(net, added(sph_net_conv(net, node, &layer)), 3, 2, 1));
    node = added(sph_net_avg_pool(net, added(sph_net_conv(net, node, &layer)), 2, 1, 1));
    node = added(sph_net_avg_pool(net, node, 2, 1, 0));
    return added(sph_net_conv(net, node, &layer));
}

/* Blocks as in a resnet; the first one's input comes from a max pool, the second has no conv beside it. */
static int residual(sph_net *net, int node, const struct kind *k)
{
    sph_act alone = k->act == SPH_ACT_SRELU ? SPH_ACT_RELU : k->act;
    sph_layer first = window(3, 3, 1, 1, k->param, k->norm, k->act),
              half = window(4, 3, 2, 1, k->param, k->norm, k->act),
              last = window(4, 3, 1, 1, k->param, k->norm, SPH_ACT_IDENTITY),
              shrink = window(4, 1, 2, 0, k->param, k->norm, SPH_ACT_IDENTITY),
              inner = window(4, 3, 1, 1, k->param, k->norm, k->act);
    int in = added(sph_net_max_pool(net, added(sph_net_conv(net, node, &first)), 2, 2, 0));
    int branch = added(sph_net_conv(net, added(sph_net_conv(net, in, &half)), &last));
    in = added(
        sph_net_act(net, added(sph_net_add(net, branch, added(sph_net_conv(net, in, &shrink)))), alone));
    branch = added(sph_net_conv(net, added(sph_net_conv(net, in, &inner)), &last));
    return added(sph_net_act(net, added(sph_net_add(net, branch, in)), alone));
}

static sph_net *image_net(const struct kind *k, uint64_t seed, int zeros)
{
    sph_net *net = NULL;
    assert_int_equal(sph_net_new(&net, k->dtype), 0);
    int node = added(sph_net_image(net, 2, 9, 8));
    node = k->graph == POOLS      ? pools(net, node, k)
           : k->graph == RESIDUAL ? residual(net, node, k)
           : k->graph >= GROUPS   ? groups(net, node, k, k->graph == GROUPS)
                                  : chain(net, node, k, k->graph == CHAIN);
    node = added(sph_net_dense(net, added(sph_net_global_pool(net, node)),
                               &(sph_layer){.size = sizeof(sph_layer), .units = 2}));
    assert_int_equal(sph_net_ready(net, node, seed), 0);
    randomize(net, seed, zeros);
    return net;
}

static size_t done;

static void there_and_back(const struct kind *k, sph_param to, int flags, uint64_t seed, int zeros)
{
    sph_net *net = image_net(k, seed, zeros), *there = NULL;
    if (!convertible(k->param, k->norm, k->act, to, flags)) {
        refuses(net, to, flags, "layers.0 unit "); /* of a residual net's convs the first one has the elu */
        sph_net_free(net);
        return;
    }
    if (sph_net_convert(&there, net, to, flags))
        fail_msg("%s %s %s act %d to %d: %s", graph_word[k->graph], net->layers[0].ops->name, "norm", k->act,
                 to, sph_error());
    done++;
    for (size_t l = 0; l < sph_net_layers(there); l++)
        assert_int_equal(sph_net_layer(there, l, NULL)->param,
                         l + 1 < sph_net_layers(there) ? to : SPH_PARAM_SP);
    check_same(net, there);
    sph_norm norm = folds(k->norm, to, flags) ? SPH_NORM_NONE : k->norm;
    assert_int_equal(sph_net_layer(there, 0, NULL)->norm, norm);
    if (convertible(to, norm, k->act, k->param, flags)) {
        sph_net *back = converted_with(there, k->param, flags);
        check_same(net, back);
        sph_net_free(back);
    }
    sph_net_free(there);
    sph_net_free(net);
}

static void sweep(enum graph graph, sph_dtype dtype, int zeros)
{
    uint64_t seed = 100 * (uint64_t)graph;
    done = 0;
    for (int from = 0; from < SPH_PARAM_COUNT; from++)
        for (int to = 0; to < SPH_PARAM_COUNT; to++)
            for (int norm = 0; norm < SPH_NORM_COUNT; norm++)
                for (int act = (from + to + norm) % (int)sample_step(3); act < SPH_ACT_COUNT;
                     act += (int)sample_step(3)) {
                    struct kind k = {graph, dtype, (sph_param)from, (sph_norm)norm, (sph_act)act};
                    for (int keep = 0; keep <= (norm == SPH_NORM_BN ? SPH_CONVERT_KEEP_BN : 0); keep += 2)
                        if (!zeros || convertible(k.param, k.norm, k.act, (sph_param)to, keep))
                            there_and_back(&k, (sph_param)to, keep, ++seed, zeros);
                }
    assert_true(done > 200 / sample_step(3));
}

static void chains_keep_their_function(void **state)
{
    (void)state;
    sweep(CHAIN, SPH_F64, 0);
    sweep(CHAIN, SPH_F32, 0);
}

static void zero_rows_keep_their_function_through_unpadded_convs(void **state)
{
    (void)state;
    sweep(UNPADDED, SPH_F64, 1);
}

static void nets_with_pools_keep_their_function(void **state)
{
    (void)state;
    sweep(POOLS, SPH_F64, 0);
}

static void residual_nets_keep_their_function(void **state)
{
    (void)state;
    sweep(RESIDUAL, SPH_F64, 0);
}

/* A sign or a constant goes to the units that read the channel, and to no other. */
static void nets_with_groups_keep_their_function(void **state)
{
    (void)state;
    sweep(GROUPS, SPH_F64, 0);
    sweep(GROUPS, SPH_F32, 0);
    sweep(GROUPS_UNPADDED, SPH_F64, 1);
}

/* ---------------------------------------------------------------- single cases */

static const double signs[3] = {2, -0.5, -3};

/* The first layer's sign stays or strict refuses, for the reason given; the net is converted all the same. */
static void sign_stays(enum graph graph, const char *layer, const char *reader)
{
    struct kind k = {graph, SPH_F64, SPH_PARAM_GMP, SPH_NORM_NONE, SPH_ACT_RELU};
    sph_net *net = image_net(&k, 5, 0);
    char name[128], key[160];
    double kept[3];
    for (size_t l = 0; l + 1 < net->layer_count; l++) { /* all others positive */
        double r[8] = {1, 2, 1, 2, 1, 2, 1, 2};
        snprintf(name, sizeof name, "%s.r", net->layers[l].path);
        assert_int_equal(
            sph_net_set(net, name, strcmp(net->layers[l].path, layer) ? r : signs, net->layers[l].shape.m),
            0);
    }
    sph_net *sp = converted(net, SPH_PARAM_SP), *out = NULL;
    check_same(net, sp);
    snprintf(name, sizeof name, "%s.r", layer);
    if (reader) {
        assert_int_equal(sph_net_get(sp, name, kept, 3), 0);
        assert_true(kept[0] == 1 && kept[1] == -1 && kept[2] == -1);
        snprintf(key, sizeof key, "%s unit 1", layer);
        refuses(net, SPH_PARAM_SP, 1, key);
        sph_net *gmp = converted(sp, SPH_PARAM_GMP);
        check_same(net, gmp);
        sph_net_free(gmp);
    } else {
        assert_null(net_find_tensor(sp, name));
        assert_int_equal(sph_net_convert(&out, net, SPH_PARAM_SP, 1), 0);
        check_same(net, out);
        sph_net_free(out);
    }
    sph_net_free(sp);
    sph_net_free(net);
}

static void a_sign_passes_padding_and_averages_but_no_max_pool(void **state)
{
    (void)state;
    sign_stays(CHAIN, "layers.0", NULL);
    sign_stays(POOLS, "layers.0", "a max pool");
    sign_stays(POOLS, "layers.1", NULL); /* two averages, one of them padded */
    sign_stays(RESIDUAL, "layers.0", "a max pool");
}

/* relu(conv) + x, and relu(relu(conv)): neither lets a sign pass. */
static void a_sign_passes_no_addition_and_no_activation(void **state)
{
    (void)state;
    for (int act = 0; act < 2; act++) {
        sph_net *net = NULL;
        assert_int_equal(sph_net_new(&net, SPH_F64), 0);
        int x = sph_net_image(net, 3, 4, 3);
        sph_layer layer = window(3, 3, 1, 1, SPH_PARAM_GMP, SPH_NORM_NONE, SPH_ACT_RELU);
        int node = added(sph_net_conv(net, x, &layer));
        node = added(act ? sph_net_act(net, node, SPH_ACT_LEAKY_RELU) : sph_net_add(net, node, x));
        node = added(sph_net_dense(net, added(sph_net_global_pool(net, node)),
                                   &(sph_layer){.size = sizeof(sph_layer), .units = 2}));
        assert_int_equal(sph_net_ready(net, node, 1), 0);
        randomize(net, 1, 0);
        assert_int_equal(sph_net_set(net, "layers.0.r", signs, 3), 0);
        sph_net *sp = converted(net, SPH_PARAM_SP);
        assert_true(sph_net_layer(sp, 0, NULL)->signs);
        check_same(net, sp);
        refuses(net, SPH_PARAM_SP, 1, "layers.0 unit 1");
        sph_net_free(sp);
        sph_net_free(net);
    }
}

/* Unit 1 of the first layer has no weights and a bias of 0.7; what reads it decides. */
static sph_net *constant_unit(size_t pad, sph_norm reader_norm, int average)
{
    sph_net *net = NULL;
    assert_int_equal(sph_net_new(&net, SPH_F64), 0);
    int x = sph_net_image(net, 2, 6, 5);
    sph_layer first = window(3, 3, 1, 1, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_RELU),
              second = window(4, 3, 1, pad, SPH_PARAM_WN, reader_norm, SPH_ACT_RELU);
    int node = added(sph_net_conv(net, x, &first));
    if (average)
        node = added(sph_net_avg_pool(net, node, 2, 1, average > 1));
    node = added(sph_net_conv(net, node, &second));
    node = added(sph_net_dense(net, added(sph_net_global_pool(net, node)),
                               &(sph_layer){.size = sizeof(sph_layer), .units = 2}));
    assert_int_equal(sph_net_ready(net, node, 1), 0);
    randomize(net, 7, 0);
    double w[3 * 18], b[3] = {0.2, 0.7, -0.1};
    assert_int_equal(sph_net_get(net, "layers.0.weight", w, 3 * 18), 0);
    memset(w + 18, 0, 18 * sizeof *w);
    assert_int_equal(sph_net_set(net, "layers.0.weight", w, 3 * 18), 0);
    assert_int_equal(sph_net_set(net, "layers.0.bias", b, 3), 0);
    return net;
}

static void a_constant_passes_no_zero_padding_unless_imn_takes_it_before(void **state)
{
    (void)state;
    static const char unit[] = "layers.0 unit 1";
    for (int norm = 0; norm < SPH_NORM_COUNT; norm++) {
        if (norm_ops((sph_norm)norm)->per_sample)
            continue; /* lengths under ln and gn are refused before */
        for (int average = 0; average < 2; average++) {
            sph_net *net = constant_unit(0, (sph_norm)norm, average), *gmp = converted(net, SPH_PARAM_GMP);
            double r[3];
            assert_int_equal(sph_net_get(gmp, "layers.0.r", r, 3), 0);
            assert_true(r[0] != 0 && r[1] == 0 && r[2] != 0);
            check_same(net, gmp);
            sph_net_free(gmp);
            sph_net_free(net);
        }
        sph_net *padded = constant_unit(1, (sph_norm)norm, 0);
        if (norm == SPH_NORM_IMN) {
            sph_net *gmp = converted(padded, SPH_PARAM_SPHERE);
            check_same(padded, gmp);
            sph_net_free(gmp);
        } else {
            refuses(padded, SPH_PARAM_GMP, 0, unit);
        }
        sph_net_free(padded);
        padded = constant_unit(0, (sph_norm)norm, 2); /* the average is padded */
        refuses(padded, SPH_PARAM_GMP, 0, unit);
        sph_net_free(padded);
    }
}

static void a_conv_whose_mean_is_the_output_stays_plain(void **state)
{
    (void)state;
    sph_net *net = NULL;
    assert_int_equal(sph_net_new(&net, SPH_F64), 0);
    int x = sph_net_image(net, 2, 4, 4);
    sph_layer first = window(3, 3, 1, 1, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_RELU),
              last = window(5, 1, 1, 0, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_IDENTITY);
    int node = added(sph_net_conv(net, added(sph_net_conv(net, x, &first)), &last));
    assert_int_equal(sph_net_ready(net, added(sph_net_global_pool(net, node)), 1), 0);
    randomize(net, 7, 0);
    sph_net *gmp = converted(net, SPH_PARAM_GMP);
    assert_int_equal(sph_net_layer(gmp, 0, NULL)->param, SPH_PARAM_GMP);
    assert_int_equal(sph_net_layer(gmp, 1, NULL)->param, SPH_PARAM_SP);
    check_same(net, gmp);
    sph_net_free(gmp);
    sph_net_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_keep_their_function),
        cmocka_unit_test(zero_rows_keep_their_function_through_unpadded_convs),
        cmocka_unit_test(nets_with_pools_keep_their_function),
        cmocka_unit_test(residual_nets_keep_their_function),
        cmocka_unit_test(nets_with_groups_keep_their_function),
        cmocka_unit_test(a_sign_passes_padding_and_averages_but_no_max_pool),
        cmocka_unit_test(a_sign_passes_no_addition_and_no_activation),
        cmocka_unit_test(a_constant_passes_no_zero_padding_unless_imn_takes_it_before),
        cmocka_unit_test(a_conv_whose_mean_is_the_output_stays_plain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
