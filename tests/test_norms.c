/* SPDX-License-Identifier: MIT
 *
 * The tables of normalizations and activations, and what gn is beside its neighbours: ln with one group,
 * instance normalization with as many as channels. Its gradients stand in test_gradients and
 * test_conv_gradients, its numbers against PyTorch's in test_golden, blocked images in test_blocked. */
#include "support.h"

#include "net/zoo.h"
#include "spherelu/core.h"

/* ---------------------------------------------------------------- the tables */

static void rows_bear_the_words_of_their_kinds(void **state)
{
    (void)state;
    for (int i = 0; i < SPH_NORM_COUNT; i++)
        assert_string_equal(norm_ops((sph_norm)i)->name, norm_word[i]);
    for (int i = 0; i < SPH_ACT_COUNT; i++)
        assert_string_equal(act_ops((sph_act)i)->name, act_word[i]);
}

static void rows_have_what_their_facts_ask_for(void **state)
{
    (void)state;
    for (int i = 0; i < SPH_NORM_COUNT; i++) {
        const struct norm_ops *row = norm_ops((sph_norm)i);
        assert_int_equal(row->batch != 0, row->gather != NULL);
        assert_int_equal(row->per_sample != 0, row->fold_sample != NULL);
        assert_int_equal(row->apply && !row->per_sample, row->fold != NULL && row->moves != NULL);
        assert_true(!row->folds_away || row->fold);
        assert_true(!row->take_input || row->at_input);
        assert_true(!row->standardizes || row->per_sample);
        for (size_t t = 0; t < row->tensors; t++)
            assert_int_equal(strncmp(row->tensor[t].name, "norm.", 5), 0);
    }
    for (int i = 0; i < SPH_ACT_COUNT; i++) {
        const struct act_ops *row = act_ops((sph_act)i);
        assert_true(!row->homogeneous || row->rescales);
        assert_true(!row->is_relu || (row->shows_slope && row->sums_bias && row->homogeneous));
        for (size_t b = 0; b < row->breaks; b++)
            assert_true(row->break_at[b] == ACT_AT_ZERO || (size_t)row->break_at[b] < row->shapes);
        for (size_t q = 0; q < row->shapes; q++)
            assert_int_equal(strncmp(row->shape[q].name, "act.", 4), 0);
    }
}

/* ---------------------------------------------------------------- groups */

static int layer_of(sph_net *net, size_t units, sph_norm norm, size_t groups)
{
    return sph_net_dense(
        net, 0, &(sph_layer){.size = sizeof(sph_layer), .units = units, .norm = norm, .norm_groups = groups});
}

static void groups_that_cannot_be_are_refused_by_the_layers_name(void **state)
{
    (void)state;
    sph_net *net = open_net(SPH_F64, KERNELS_FASTEST);
    assert_int_equal(sph_net_input(net, 3), 0);
    assert_fails(layer_of(net, 10, SPH_NORM_GN, 4), SPH_EARG, .key = "layers.0");
    assert_fails(layer_of(net, 10, SPH_NORM_GN, 20), SPH_EARG, .key = "layers.0");
    assert_fails(layer_of(net, 10, SPH_NORM_GN, 10), SPH_EARG, .key = "layers.0");
    for (int norm = 0; norm < SPH_NORM_COUNT; norm++)
        if (norm != SPH_NORM_GN)
            assert_fails(layer_of(net, 10, (sph_norm)norm, 2), SPH_EARG, .key = "layers.0");
    assert_true(layer_of(net, 10, SPH_NORM_GN, 5) > 0);
    assert_fails(layer_of(net, 10, SPH_NORM_GN, 3), SPH_EARG, .key = "layers.1");
    sph_net_free(net);

    const size_t hidden[] = {12, 8};
    sph_mlp mlp = {.size = sizeof(sph_mlp),
                   .inputs = 2,
                   .outputs = 1,
                   .hidden = hidden,
                   .depth = 2,
                   .norm = SPH_NORM_GN,
                   .norm_groups = 3};
    assert_fails(sph_net_mlp(&net, &mlp), SPH_EARG, .key = "layers.1");
    sph_image_net image = {.size = sizeof(sph_image_net),
                           .channels = 3,
                           .height = 32,
                           .width = 32,
                           .classes = 2,
                           .norm = SPH_NORM_GN,
                           .scale = 0.25,
                           .norm_groups = 32};
    assert_fails(sph_net_resnet18(&net, &image), SPH_EARG, .key = "conv1");
}

static void groups_that_are_not_given_are_as_many_as_are_usual(void **state)
{
    (void)state;
    static const size_t want[][2] = {{1, 1},  {2, 1},   {3, 1},   {4, 1},   {24, 4},
                                     {32, 8}, {64, 16}, {100, 4}, {512, 32}};
    sph_net *net = open_net(SPH_F64, KERNELS_FASTEST);
    assert_int_equal(sph_net_input(net, 3), 0);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        assert_true(layer_of(net, want[i][0], SPH_NORM_GN, 0) > 0);
        assert_int_equal(sph_net_layer(net, i, NULL)->norm_groups, want[i][1]);
    }
    sph_net_free(net);
}

/* ---------------------------------------------------------------- beside its neighbours */

enum { CHANNELS = 6, SIDE = 5, ROWS = 7 };

/* Two layers of 24 units, or convs of 6 that leave 4 x 4 pixels, and a plain one; numbers by the seed. */
static sph_net *pair(sph_dtype dtype, enum kernel_choice choice, int image, sph_norm norm, size_t groups)
{
    sph_net *net = open_net(dtype, choice);
    struct rng rng = rng_stream(3, RNG_NOISE, (uint32_t)image);
    sph_layer layer = {.size = sizeof(sph_layer),
                       .units = image ? CHANNELS : 24,
                       .norm = norm,
                       .act = SPH_ACT_RELU,
                       .norm_groups = groups};
    int node = image ? sph_net_image(net, 2, SIDE, SIDE) : sph_net_input(net, 5);
    if (image)
        layer.kernel = 2, layer.stride = 1;
    for (int d = 0; d < 2 && node >= 0; d++) {
        node = image ? sph_net_conv(net, node, &layer) : sph_net_dense(net, node, &layer);
        layer.kernel = image ? 1 : 0;
    }
    if (image)
        node = sph_net_global_pool(net, node);
    ready(net, dense(net, node, 2, SPH_PARAM_SP, SPH_NORM_NONE, SPH_ACT_IDENTITY), 5);
    stir(net, &rng);
    return net;
}

/* Outputs in evaluation, then the loss and every gradient of a training step, in f64. */
static double *results(sph_net *net, size_t workers, size_t *count)
{
    struct rng rng = rng_stream(4, RNG_NOISE, 0), same = rng;
    size_t n = sph_net_inputs(net);
    double *x = numbers(ROWS * n);
    *count = ROWS * 2 + 1 + net->learned;
    double *all = numbers(*count);
    for (size_t i = 0; i < ROWS * n; i++)
        x[i] = rng_normal(&rng);
    assert_int_equal(sph_net_forward(net, x, ROWS, all), 0);
    struct probe p;
    probe_open(&p, net, SPH_LOSS_MSE, ROWS, workers, &same);
    all[ROWS * 2] = probe_gradient(&p);
    net->k->to_double(net->learned, p.weights->learned_grad, all + ROWS * 2 + 1);
    probe_close(&p);
    free(x);
    return all;
}

static double apart(size_t count, const double *a, const double *b)
{
    double off = 0, most = 0;
    for (size_t i = 0; i < count; i++) {
        off = fmax(off, fabs(a[i] - b[i]));
        most = fmax(most, fabs(b[i]));
    }
    return off / most;
}

static void one_group_is_layer_normalization(void **state)
{
    (void)state;
    for (int dtype = 0; dtype < SPH_DTYPE_COUNT; dtype++)
        for (int image = 0; image < 2; image++)
            for (size_t workers = 1; workers <= 2; workers++) {
                size_t count, other;
                sph_net *gn = pair((sph_dtype)dtype, KERNELS_FASTEST, image, SPH_NORM_GN, 1),
                        *ln = pair((sph_dtype)dtype, KERNELS_FASTEST, image, SPH_NORM_LN, 0);
                double *a = results(gn, workers, &count), *b = results(ln, workers, &other);
                assert_int_equal(count, other);
                /* sums in another order */
                assert_true(apart(count, a, b) < (dtype == SPH_F64 ? 1e-13 : 1e-5));
                free(a), free(b);
                sph_net_free(gn), sph_net_free(ln);
            }
}

static void every_kernel_gives_the_same(void **state)
{
    (void)state;
    static const size_t groups[] = {1, 2, 3, 6};
    for (int image = 0; image < 2; image++)
        for (size_t g = 0; g < 4; g++) {
            size_t count;
            sph_net *plain = pair(SPH_F64, KERNELS_PLAIN, image, SPH_NORM_GN, groups[g]),
                    *base = pair(SPH_F64, KERNELS_BASE, image, SPH_NORM_GN, groups[g]),
                    *fast = pair(SPH_F64, KERNELS_FASTEST, image, SPH_NORM_GN, groups[g]),
                    *narrow = pair(SPH_F32, KERNELS_FASTEST, image, SPH_NORM_GN, groups[g]);
            double *want = results(plain, 1, &count), *b = results(base, 2, &count),
                   *f = results(fast, 2, &count), *n = results(narrow, 2, &count);
            assert_true(apart(count, b, want) < 1e-12);
            assert_true(apart(count, f, want) < 1e-12);
            assert_true(apart(count, n, want) < 1e-4); /* f32, of images in blocks */
            free(want), free(b), free(f), free(n);
            sph_net_free(plain), sph_net_free(base), sph_net_free(fast), sph_net_free(narrow);
        }
}

/* By hand: what a conv of groups as many as channels puts out before the activation. */
static void as_many_groups_as_channels_is_instance_normalization(void **state)
{
    (void)state;
    enum { PIXELS = SIDE * SIDE };
    sph_net *net = open_net(SPH_F64, KERNELS_FASTEST);
    int node = sph_net_conv(net, sph_net_image(net, CHANNELS, SIDE, SIDE),
                            &(sph_layer){.size = sizeof(sph_layer),
                                         .units = CHANNELS,
                                         .norm = SPH_NORM_GN,
                                         .act = SPH_ACT_RELU,
                                         .norm_groups = CHANNELS,
                                         .kernel = 1,
                                         .stride = 1});
    ready(net, sph_net_global_pool(net, node), 1);
    double identity[CHANNELS * CHANNELS] = {0}, bias[CHANNELS] = {0}, gamma[CHANNELS], beta[CHANNELS];
    struct rng rng = rng_stream(6, RNG_NOISE, 0);
    for (size_t c = 0; c < CHANNELS; c++) {
        identity[c * CHANNELS + c] = 1;
        gamma[c] = between(&rng, 0.5, 1.5), beta[c] = between(&rng, -0.5, 0.5);
    }
    assert_int_equal(sph_net_set(net, "layers.0.weight", identity, CHANNELS * CHANNELS), 0);
    assert_int_equal(sph_net_set(net, "layers.0.bias", bias, CHANNELS), 0);
    assert_int_equal(sph_net_set(net, "layers.0.norm.scale", gamma, CHANNELS), 0);
    assert_int_equal(sph_net_set(net, "layers.0.norm.shift", beta, CHANNELS), 0);
    double x[CHANNELS * PIXELS], y[CHANNELS];
    for (size_t i = 0; i < CHANNELS * PIXELS; i++)
        x[i] = 3 + rng_normal(&rng);
    assert_int_equal(sph_net_forward(net, x, 1, y), 0);
    for (size_t c = 0; c < CHANNELS; c++) {
        double mean = 0, var = 0, want = 0;
        for (size_t p = 0; p < PIXELS; p++)
            mean += x[c * PIXELS + p] / PIXELS;
        for (size_t p = 0; p < PIXELS; p++)
            var += (x[c * PIXELS + p] - mean) * (x[c * PIXELS + p] - mean) / PIXELS;
        for (size_t p = 0; p < PIXELS; p++)
            want += fmax(0, gamma[c] * (x[c * PIXELS + p] - mean) / sqrt(var + 1e-5) + beta[c]) / PIXELS;
        assert_true(fabs(y[c] - want) < 1e-13);
    }
    sph_net_free(net);
}

/* Units of one group do not see those of another. */
static void a_group_is_blind_to_the_others(void **state)
{
    (void)state;
    sph_net *net = open_net(SPH_F64, KERNELS_FASTEST);
    assert_int_equal(sph_net_input(net, 4), 0);
    int node = layer_of(net, 4, SPH_NORM_GN, 2);
    ready(net, node, 1);
    double identity[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, y[8];
    assert_int_equal(sph_net_set(net, "layers.0.weight", identity, 16), 0);
    assert_int_equal(sph_net_forward(net, (double[]){1, 2, 5, 9, 1, 2, -40, 7}, 2, y), 0);
    assert_true(y[0] == y[4] && y[1] == y[5]);
    assert_true(y[2] != y[6]);
    assert_true(fabs(y[0] + 0.5 / sqrt(0.25 + 1e-5)) < 1e-15);
    sph_net_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_bear_the_words_of_their_kinds),
        cmocka_unit_test(rows_have_what_their_facts_ask_for),
        cmocka_unit_test(groups_that_cannot_be_are_refused_by_the_layers_name),
        cmocka_unit_test(groups_that_are_not_given_are_as_many_as_are_usual),
        cmocka_unit_test(one_group_is_layer_normalization),
        cmocka_unit_test(every_kernel_gives_the_same),
        cmocka_unit_test(as_many_groups_as_channels_is_instance_normalization),
        cmocka_unit_test(a_group_is_blind_to_the_others),
    };
    return cmocka_run_group_tests_name("norms", tests, NULL, NULL);
}
