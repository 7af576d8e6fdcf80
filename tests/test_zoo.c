/* SPDX-License-Identifier: MIT
 *
 * The ready-made image nets are what their names say, under every method. Their numbers are
 * test_golden_conv.c's matter. */
#include "layer.h"
#include "support.h"

#include "compute/conv.h"
#include "compute/onednn.h"
#include "failure.h"
#include "fault.h"
#include "net/zoo.h"
#include "skip.h"

typedef int maker(sph_net **out, const sph_image_net *spec);

static maker *const makers[] = {sph_net_vgg6, sph_net_resnet18, sph_net_resnet50, sph_net_mobile,
                                sph_net_wrn28_2};
static const char *const words[] = {"vgg6", "resnet18", "resnet50", "mobile", "wrn28-2"};
enum { MAKERS = sizeof makers / sizeof *makers };

static sph_image_net spec_of(size_t size, double scale)
{
    return (sph_image_net){.size = sizeof(sph_image_net),
                           .channels = 3,
                           .height = size,
                           .width = size,
                           .classes = 7,
                           .scale = scale,
                           .act = SPH_ACT_RELU,
                           .seed = 4};
}

static sph_net *make(maker *how, const sph_image_net *spec)
{
    sph_net *net = NULL;
    if (how(&net, spec) < 0)
        fail_msg("%s", sph_error());
    return net;
}

/* Every word names the network of its row; the first is for tables. */
static void kinds_are_rows_of_one_table(void **state)
{
    (void)state;
    assert_null(net_kind(SPH_NET_MLP)->make);
    for (size_t i = 0; i < MAKERS; i++) {
        int kind = sph_word_find(SPH_WORDS_NET, words[i]);
        assert_true(kind > 0 && kind < SPH_NET_COUNT);
        assert_ptr_equal(net_kind((sph_net_kind)kind)->make, makers[i]);
    }
    assert_int_equal(SPH_NET_COUNT, MAKERS + 1);
}

static void learned_numbers_are_as_many_as_torchvision_has(void **state)
{
    (void)state;
    sph_image_net spec = spec_of(224, 0);
    spec.classes = 1000;
    spec.norm = SPH_NORM_BN;
    static const size_t learned[] = {11689512, 25557032}, layers[] = {21, 54};
    for (size_t i = 0; i < 2; i++) {
        sph_net *net = make(makers[1 + i], &spec);
        assert_int_equal(sph_net_learned(net), learned[i]);
        assert_int_equal(sph_net_layers(net), layers[i]);
        sph_net_free(net);
    }
}

static void vgg6_has_its_widths(void **state)
{
    (void)state;
    static const size_t units[2][6] = {{128, 128, 256, 256, 512, 512}, {32, 32, 64, 64, 128, 128}};
    for (int quarter = 0; quarter < 2; quarter++) {
        sph_image_net spec = spec_of(32, quarter ? 0.25 : 0);
        sph_net *net = make(sph_net_vgg6, &spec);
        assert_int_equal(sph_net_layers(net), 7);
        size_t before = 3, n;
        for (size_t l = 0; l < 6; l++) {
            char path[16];
            snprintf(path, sizeof path, "layers.%zu", l);
            const sph_layer *layer = sph_net_layer(net, l, &n);
            assert_string_equal(layer->path, path);
            assert_int_equal(layer->units, units[quarter][l]);
            assert_int_equal(n, 9 * before);
            before = layer->units;
        }
        assert_string_equal(sph_net_layer(net, 6, &n)->path, "layers.6");
        assert_int_equal(n, before);
        const struct net_node *pooled = &net->nodes[net->node_count - 3]; /* three pools: 32 -> 4 */
        assert_true(pooled->kind == NODE_MAX_POOL && pooled->height == 4 && pooled->width == 4);
        sph_net_free(net);
    }
}

static const sph_layer *find(const sph_net *net, const char *path)
{
    for (size_t l = 0; l < sph_net_layers(net); l++)
        if (!strcmp(sph_net_layer(net, l, NULL)->path, path))
            return sph_net_layer(net, l, NULL);
    fail_msg("no layer %s", path);
    return NULL;
}

static int has(const sph_net *net, const char *path)
{
    for (size_t l = 0; l < sph_net_layers(net); l++)
        if (!strcmp(sph_net_layer(net, l, NULL)->path, path))
            return 1;
    return 0;
}

static void expect(const sph_net *net, const char *path, size_t units, size_t kernel, size_t stride,
                   size_t pad, sph_act act)
{
    const sph_layer *l = find(net, path);
    if (l->units != units || l->kernel != kernel || l->stride != stride || l->pad != pad || l->act != act)
        fail_msg("%s: %zu units, kernel %zu, stride %zu, pad %zu, act %d", path, l->units, l->kernel,
                 l->stride, l->pad, (int)l->act);
}

static void resnet_blocks_have_torchvisions_names_and_strides(void **state)
{
    (void)state;
    const sph_act relu = SPH_ACT_RELU, none = SPH_ACT_IDENTITY;
    sph_image_net spec = spec_of(64, 0.25);
    sph_net *net = make(sph_net_resnet18, &spec);
    expect(net, "conv1", 16, 7, 2, 3, relu);
    expect(net, "layer1.0.conv1", 16, 3, 1, 1, relu);
    expect(net, "layer1.1.conv2", 16, 3, 1, 1, none);
    expect(net, "layer3.0.conv1", 64, 3, 2, 1, relu);
    expect(net, "layer3.0.conv2", 64, 3, 1, 1, none);
    expect(net, "layer3.0.downsample.0", 64, 1, 2, 0, none);
    expect(net, "layer4.1.conv1", 128, 3, 1, 1, relu);
    expect(net, "fc", 7, 0, 0, 0, none);
    assert_false(has(net, "layer1.0.downsample.0"));
    assert_false(has(net, "layer3.1.downsample.0"));
    assert_int_equal(net->nodes[2].height, 16); /* conv and pool of 64 */
    sph_net_free(net);

    net = make(sph_net_resnet50, &spec);
    expect(net, "layer1.0.conv1", 16, 1, 1, 0, relu);
    expect(net, "layer1.0.conv3", 64, 1, 1, 0, none);
    expect(net, "layer1.0.downsample.0", 64, 1, 1, 0, none); /* four times the units */
    expect(net, "layer2.0.conv1", 32, 1, 1, 0, relu);
    expect(net, "layer2.0.conv2", 32, 3, 2, 1, relu); /* the 3x3 has the stride */
    expect(net, "layer2.0.conv3", 128, 1, 1, 0, none);
    expect(net, "layer2.0.downsample.0", 128, 1, 2, 0, none);
    expect(net, "layer3.5.conv2", 64, 3, 1, 1, relu);
    assert_false(has(net, "layer3.6.conv1"));
    assert_false(has(net, "layer2.1.downsample.0"));
    sph_net_free(net);
}

static size_t height_of(const sph_net *net, size_t layer)
{
    return net->nodes[net->layers[layer].node].height;
}

static void mobile_is_mobilenet(void **state)
{
    (void)state;
    static const size_t units[] = {64, 128, 128, 256, 256, 512, 512, 512, 512, 512, 512, 1024, 1024};
    static const struct {
        size_t size, first, last; /* height behind the first conv, and behind the last */
        double scale;
    } cases[] = {{224, 112, 7, 0},  {96, 48, 3, 0},   {95, 95, 6, 0.25},
                 {32, 32, 2, 0.25}, {28, 28, 2, 0.5}, {1, 1, 1, 0.125}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sph_image_net spec = spec_of(cases[i].size, cases[i].scale);
        double scale = cases[i].scale > 0 ? cases[i].scale : 1;
        sph_net *net = make(sph_net_mobile, &spec);
        size_t channels = (size_t)(32 * scale), n;
        assert_int_equal(sph_net_layers(net), 28);
        expect(net, "layers.0", channels, 3, cases[i].size >= 96 ? 2 : 1, 1, SPH_ACT_RELU);
        for (size_t pair = 0; pair < 13; pair++) {
            char path[32];
            size_t stride = pair && units[pair] != units[pair - 1] ? 2 : 1;
            snprintf(path, sizeof path, "layers.%zu", 2 * pair + 1);
            expect(net, path, channels, 3, stride, 1, SPH_ACT_RELU);
            assert_int_equal(find(net, path)->groups, channels);
            sph_net_layer(net, 2 * pair + 1, &n);
            assert_int_equal(n, 9);
            snprintf(path, sizeof path, "layers.%zu", 2 * pair + 2);
            expect(net, path, (size_t)((double)units[pair] * scale), 1, 1, 0, SPH_ACT_RELU);
            assert_int_equal(find(net, path)->groups, 0);
            sph_net_layer(net, 2 * pair + 2, &n);
            assert_int_equal(n, channels);
            channels = find(net, path)->units;
        }
        expect(net, "layers.27", 7, 0, 0, 0, SPH_ACT_IDENTITY);
        assert_int_equal(height_of(net, 0), cases[i].first);
        assert_int_equal(height_of(net, 26), cases[i].last);
        sph_net_free(net);
    }
    sph_image_net spec = spec_of(224, 0); /* as many numbers as MobileNet has */
    spec.classes = 1000;
    spec.norm = SPH_NORM_BN;
    sph_net *net = make(sph_net_mobile, &spec);
    assert_int_equal(sph_net_learned(net), 4231976);
    sph_net_free(net);
}

/* The way of a net's layer l, for so many images, is not oneDNN's reference code in any pass. */
static void check_way(const sph_net *net, size_t l, size_t size, size_t images)
{
    const struct kernels *k = kernels_pick(SPH_F32, KERNELS_FASTEST);
    const struct net_node *node = &net->nodes[net->layers[l].node];
    struct conv_spec want = {.k = k,
                             .window = node->window,
                             .units = node->channels,
                             .groups = layer_groups(&net->layers[l]),
                             .images = images,
                             .block = conv_block(k),
                             .train = 1,
                             .input_grad = l > 0};
    struct conv *conv = NULL;
    assert_int_equal(conv_new(&conv, &want), 0);
    int depthwise = want.groups > 1, theirs = !strcmp(conv_way_name(conv), "onednn");
    assert_int_equal(!strcmp(conv_way_name(conv), "depthwise"), depthwise);
    assert_string_not_equal(conv_way_name(conv), "patches");
    conv_free(conv);
    struct onednn_conv_spec same = {.window = want.window,
                                    .units = want.units,
                                    .images = want.images,
                                    .block = want.block,
                                    .train = 1,
                                    .input_grad = want.input_grad};
    struct onednn_conv *look = NULL;
    if (!theirs)
        return;
    assert_int_equal(onednn_conv_new(&look, &same), 0);
    if (onednn_conv_is_reference(look))
        fail_msg("%s at %zu pixels, %zu images: reference code", net->layers[l].path, size, images);
    onednn_conv_free(look);
}

/* Two convs of one shape are one case. */
static int is_repeated(const sph_net *net, size_t l)
{
    const struct net_node *node = &net->nodes[net->layers[l].node];
    for (size_t i = 0; i < l; i++) {
        const struct net_node *other = &net->nodes[net->layers[i].node];
        if (other->channels == node->channels &&
            !memcmp(&other->window, &node->window, sizeof node->window) &&
            layer_groups(&net->layers[i]) == layer_groups(&net->layers[l]) && i)
            return 1;
    }
    return 0;
}

static void no_conv_of_any_net_runs_reference_code(void **state)
{
    (void)state;
    static const size_t sizes[] = {8, 16, 28, 32, 64, 96, 128, 224}, batches[] = {1, 2, 32, 256};
    if (!conv_block(kernels_pick(SPH_F32, KERNELS_FASTEST)))
        skip_because("built without oneDNN");
    for (size_t net_at = 0; net_at < MAKERS; net_at++)
        for (size_t i = net_at % sample_step(4); i < sizeof sizes / sizeof *sizes; i += sample_step(4)) {
            sph_image_net spec = spec_of(sizes[i], 0);
            sph_net *net = make(makers[net_at], &spec);
            for (size_t l = 0; l + 1 < sph_net_layers(net); l++)
                for (size_t b = 0; b < sizeof batches / sizeof *batches && !is_repeated(net, l); b++)
                    check_way(net, l, sizes[i], batches[b]);
            sph_net_free(net);
        }
}

static void the_stem_is_small_for_small_images(void **state)
{
    (void)state;
    static const struct {
        size_t size;
        sph_stem stem;
        size_t kernel, first; /* of conv1; pixels across the first stage */
    } cases[] = {{32, SPH_STEM_AUTO, 3, 32}, {63, SPH_STEM_AUTO, 3, 63},  {64, SPH_STEM_AUTO, 7, 16},
                 {32, SPH_STEM_LARGE, 7, 8}, {64, SPH_STEM_SMALL, 3, 64}, {224, SPH_STEM_AUTO, 7, 56}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t which = 1; which <= 2; which++) {
            sph_image_net spec = spec_of(cases[i].size, 0.125);
            spec.stem = cases[i].stem;
            sph_net *net = make(makers[which], &spec);
            size_t n;
            assert_int_equal(sph_net_layer(net, 0, &n)->kernel, cases[i].kernel);
            assert_int_equal(net->nodes[net->layers[1].node].window.height, cases[i].first);
            sph_net_free(net);
        }
}

static void wrn28_2_has_28_convs_and_a_million_and_a_half_numbers(void **state)
{
    (void)state;
    sph_image_net spec = spec_of(32, 0);
    spec.classes = 10;
    spec.norm = SPH_NORM_BN;
    sph_net *net = make(sph_net_wrn28_2, &spec);
    assert_int_equal(sph_net_layers(net), 29); /* 25 of kernel 3, 3 shortcuts, fc */
    assert_int_equal(sph_net_learned(net), 1468058);
    const struct net_node *last = &net->nodes[net->layers[sph_net_layers(net) - 2].node];
    assert_int_equal(last->window.out_height, 8);
    sph_net_free(net);
}

static void a_width_that_leaves_no_channel_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < MAKERS; i++) {
        sph_image_net spec = spec_of(32, 0.001);
        sph_net *net = NULL;
        assert_fails(makers[i](&net, &spec), SPH_EARG, .key = "scale");
        assert_null(net);
    }
}

static void every_method_trains_every_net(void **state)
{
    (void)state;
    for (size_t i = 0; i < MAKERS; i++)
        for (int param = 0; param < SPH_PARAM_COUNT; param++)
            for (int norm = 0; norm < SPH_NORM_COUNT; norm++) {
                sph_image_net spec = spec_of(i ? 32 : 8, 1.0 / 32);
                spec.param = (sph_param)param;
                spec.norm = (sph_norm)norm;
                sph_net *net = make(makers[i], &spec);
                size_t last = sph_net_layers(net) - 1;
                for (size_t l = 0; l < last; l++) {
                    const sph_layer *layer = sph_net_layer(net, l, NULL);
                    assert_int_equal(layer->param, param);
                    assert_int_equal(layer->norm, l == 0 && norm == SPH_NORM_IMN ? SPH_NORM_NONE : norm);
                }
                assert_int_equal(sph_net_layer(net, last, NULL)->param, SPH_PARAM_SP);
                assert_int_equal(sph_net_layer(net, last, NULL)->norm, SPH_NORM_NONE);
                struct rng rng = rng_stream(2, RNG_NOISE, 1);
                struct probe p;
                probe_open(&p, net, SPH_LOSS_CE, 4, 1, &rng);
                double loss = probe_gradient(&p),
                       square = net->k->sum_squares(net->learned, p.weights->learned_grad);
                if (!isfinite(loss) || !isfinite(square) || square == 0)
                    fail_msg("%s %s %s: loss %g, gradient %g", words[i], param_word[param], norm_word[norm],
                             loss, square);
                probe_close(&p);
                sph_net_free(net);
            }
}

static void wrong_specs_are_refused(void **state)
{
    (void)state;
    static const struct {
        size_t maker, size;
        double scale;
        size_t classes;
        sph_act act;
        const char *key;
    } wrong[] = {
        {0, 32, -1, 7, SPH_ACT_RELU, "scale"},         {0, 32, NAN, 7, SPH_ACT_RELU, "scale"},
        {1, 32, 1e9, 7, SPH_ACT_RELU, "scale"},        {1, 32, 0.01, 0, SPH_ACT_RELU, "classes"},
        {1, 0, 0.01, 3, SPH_ACT_RELU, "input"},        {0, 7, 0.01, 3, SPH_ACT_RELU, "max pool"},
        {1, 32, 0.01, 3, SPH_ACT_SRELU, "activation"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        sph_image_net spec = spec_of(wrong[i].size, wrong[i].scale);
        spec.classes = wrong[i].classes;
        spec.act = wrong[i].act;
        sph_net *net = NULL;
        assert_fails(makers[wrong[i].maker](&net, &spec), SPH_EARG, .key = wrong[i].key);
        assert_null(net);
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    sph_image_net spec = spec_of(32, 1.0 / 64);
    spec.norm = SPH_NORM_IMN;
    spec.param = SPH_PARAM_GMP;
    size_t failures = 0;
    double x[3 * 32 * 32] = {1}, y[7];
    for (;; failures++) {
        sph_net *net = NULL;
        fault_after(failures);
        int err = sph_net_resnet18(&net, &spec);
        if (!err)
            err = sph_net_forward(net, x, 1, y);
        fault_off();
        sph_net_free(net);
        if (!fault_happened()) {
            assert_int_equal(err, 0);
            break;
        }
        assert_int_equal(err, SPH_EMEMORY);
    }
    assert_true(failures > 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_are_rows_of_one_table),
        cmocka_unit_test(learned_numbers_are_as_many_as_torchvision_has),
        cmocka_unit_test(mobile_is_mobilenet),
        cmocka_unit_test(no_conv_of_any_net_runs_reference_code),
        cmocka_unit_test(the_stem_is_small_for_small_images),
        cmocka_unit_test(wrn28_2_has_28_convs_and_a_million_and_a_half_numbers),
        cmocka_unit_test(a_width_that_leaves_no_channel_is_refused),
        cmocka_unit_test(vgg6_has_its_widths),
        cmocka_unit_test(resnet_blocks_have_torchvisions_names_and_strides),
        cmocka_unit_test(every_method_trains_every_net),
        cmocka_unit_test(wrong_specs_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
