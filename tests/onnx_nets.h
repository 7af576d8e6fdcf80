/* SPDX-License-Identifier: MIT
 *
 * Nets for the tests of ONNX: every ready-made network under every parameterization and normalization, and random
 * ones, each with numbers that no tensor starts with. */
#ifndef TESTS_ONNX_NETS_H
#define TESTS_ONNX_NETS_H

#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "net/net.h"
#include "net/zoo.h"
#include "random_net.h"

enum { ONNX_RANDOM = 100, ONNX_ZOO = (SPH_NET_COUNT - 1) * SPH_PARAM_COUNT * SPH_NORM_COUNT };
enum { ONNX_NETS = ONNX_RANDOM + ONNX_ZOO + 2 };

/* Directions stay as they were drawn, so that deep nets neither vanish nor explode. */
static void shake(sph_net *net, uint64_t seed)
{
    struct rng rng = rng_stream(seed, RNG_NOISE, 2);
    for (size_t i = 0; i < sph_net_tensors(net); i++) {
        sph_tensor t;
        assert_int_equal(sph_net_tensor(net, i, &t), 0);
        double *values = calloc(t.count, sizeof *values);
        assert_int_equal(sph_net_get(net, t.name, values, t.count), 0);
        int direction = t.count > t.shape[0] || ends_with(t.name, ".u") || ends_with(t.name, ".weight") ||
                        ends_with(t.name, ".theta") || ends_with(t.name, ".v") || ends_with(t.name, ".sign");
        int scale = ends_with(t.name, ".r") || ends_with(t.name, ".g") || ends_with(t.name, "norm.scale");
        for (size_t k = 0; !direction && k < t.count; k++)
            if (scale)
                values[k] *= (rng_unit(&rng) < 0.3 ? -1 : 1) * (0.6 + rng_unit(&rng));
            else if (ends_with(t.name, "norm.var"))
                values[k] = 0.3 + 2 * rng_unit(&rng);
            else if (t.learned || ends_with(t.name, "norm.mean"))
                values[k] += 0.3 * rng_normal(&rng);
        assert_int_equal(sph_net_set(net, t.name, values, t.count), 0);
        free(values);
    }
}

#ifndef ONNX_NETS_CLIP
#define ONNX_NETS_CLIP 0
#endif

/* Standardisation, one number a channel: what images have. */
static void scale_randomly(sph_net *net, struct rng *rng)
{
    size_t n = sph_net_inputs(net), targets = sph_net_outputs(net), pixels = node_pixels(&net->nodes[0]);
    struct scaling *s = &net->scaling;
    *s = (struct scaling){.features = n, .targets = targets};
    s->x_mean = mem_get(n, sizeof(double));
    s->x_scale = mem_get(n, sizeof(double));
    for (size_t i = 0; i < n; i++) {
        s->x_mean[i] = i % pixels ? s->x_mean[i - 1] : 3 * rng_normal(rng);
        s->x_scale[i] = i % pixels ? s->x_scale[i - 1] : 0.5 + rng_unit(rng);
    }
    if (ONNX_NETS_CLIP && pixels == 1 && rng_unit(rng) < 0.5) { /* some features, which import does not read */
        s->x_clip = mem_get(n, sizeof(double));
        for (size_t i = 0; i < n; i++)
            s->x_clip[i] = i % 3 == 2 ? 0 : 3;
    }
    if (rng_unit(rng) < 0.5)
        return;
    s->y_mean = mem_get(targets, sizeof(double));
    s->y_scale = mem_get(targets, sizeof(double));
    for (size_t i = 0; i < targets; i++) {
        s->y_mean[i] = rng_normal(rng);
        s->y_scale[i] = 0.5 + 2 * rng_unit(rng);
    }
}

static sph_net *onnx_zoo_net(size_t number, char name[96])
{
    size_t kind = 1 + number / (SPH_PARAM_COUNT * SPH_NORM_COUNT),
           param = number / SPH_NORM_COUNT % SPH_PARAM_COUNT;
    sph_image_net spec = {.size = sizeof(sph_image_net),
                          .channels = 3,
                          .height = 20,
                          .width = 17,
                          .classes = 4,
                          .scale = kind == 3 ? 0.0625 : 0.125,
                          .stem = number % 2 ? SPH_STEM_LARGE : SPH_STEM_SMALL,
                          .param = (sph_param)param,
                          .norm = (sph_norm)(number % SPH_NORM_COUNT),
                          .act = SPH_ACT_RELU,
                          .seed = number};
    struct rng rng = rng_stream(number, RNG_NOISE, 3);
    sph_net *net = NULL;
    if (net_kind((sph_net_kind)kind)->make(&net, &spec) < 0)
        fail_msg("%s", sph_error());
    snprintf(name, 96, "%s %s+%s", sph_word(SPH_WORDS_NET, (int)kind)->word,
             sph_word(SPH_WORDS_PARAM, (int)param)->word, sph_word(SPH_WORDS_NORM, (int)spec.norm)->word);
    shake(net, number);
    scale_randomly(net, &rng);
    return net;
}

static sph_layer random_layer(struct rng *rng, int output)
{
    sph_layer layer = {.size = sizeof(sph_layer),
                       .units = 4 + (size_t)(9 * rng_unit(rng)),
                       .param = (sph_param)(SPH_PARAM_COUNT * rng_unit(rng)),
                       .norm = (sph_norm)(SPH_NORM_COUNT * rng_unit(rng)),
                       .act = output ? SPH_ACT_IDENTITY : (sph_act)(SPH_ACT_COUNT * rng_unit(rng))};
    layer.details.imn_at = rng_unit(rng) < 0.5 ? SPH_IMN_AT_INPUT : SPH_IMN_AT_OUTPUT;
    layer.details.mbn_bias = rng_unit(rng) < 0.5 ? SPH_MBN_BIAS_AFTER : SPH_MBN_BIAS_NONE;
    layer.details.angle_order = rng_unit(rng) < 0.5 ? SPH_ANGLES_CHW : SPH_ANGLES_HWC;
    layer.details.norm_epsilon = rng_unit(rng) < 0.5 ? 0 : 1e-3;
    return layer;
}

/* Convs, pools and additions in some order, then dense layers; or these alone. */
static sph_net *onnx_random_net(size_t number, char name[96])
{
    struct rng rng = rng_stream(number, RNG_NOISE, 4);
    sph_net *net = NULL;
    snprintf(name, 96, "random %zu", number);
    assert_int_equal(sph_net_new(&net, number % 5 ? SPH_F32 : SPH_F64), 0);
    int images = number % 2, node;
    node = images ? sph_net_image(net, 2, 13, 11) : sph_net_input(net, 1 + number % 7);
    for (size_t d = 0; images && d < 3; d++) {
        sph_layer layer = random_layer(&rng, 0);
        layer.kernel = rng_unit(&rng) < 0.3 ? 1 : 3;
        layer.stride = rng_unit(&rng) < 0.7 ? 1 : 2;
        layer.pad = rng_unit(&rng) < 0.5 ? layer.kernel / 2 : 0;
        layer.groups = rng_unit(&rng) < 0.3 ? 2 : 0;
        layer.units += layer.units % 2;
        node = sph_net_conv(net, node, &layer);
        if (rng_unit(&rng) < 0.3)
            node = sph_net_act(net, node, SPH_ACT_LEAKY_RELU);
        if (rng_unit(&rng) < 0.4)
            node = rng_unit(&rng) < 0.5 ? sph_net_max_pool(net, node, 2, 1, 1)
                                        : sph_net_avg_pool(net, node, 3, 1, 1);
        if (rng_unit(&rng) < 0.4) {
            sph_layer same = random_layer(&rng, 0);
            same.kernel = 3, same.stride = 1, same.pad = 1, same.units = layer.units;
            node = sph_net_add(net, node, sph_net_conv(net, node, &same));
        }
        assert_true(node > 0);
    }
    if (images)
        node = sph_net_global_pool(net, node);
    for (size_t d = 0; d < number % 4; d++) {
        sph_layer layer = random_layer(&rng, 0);
        int before = node;
        node = sph_net_dense(net, node, &layer);
        layer.path = NULL;
        if (rng_unit(&rng) < 0.4)
            node = sph_net_add(net, node, sph_net_dense(net, before, &layer));
    }
    sph_layer last = random_layer(&rng, 1);
    last.norm = SPH_NORM_NONE;
    last.units = 1 + number % 3;
    node = sph_net_dense(net, node, &last);
    if (node < 0 || sph_net_ready(net, node, number) < 0)
        fail_msg("%s", sph_error());
    shake(net, number);
    if (rng_unit(&rng) < 0.7)
        scale_randomly(net, &rng);
    return net;
}

/* Its last node does nothing, so that what goes out is the value of an earlier one, which others read too; dead: these are
 * for nothing. */
static sph_net *onnx_early_net(int dead, char name[96])
{
    sph_net *net = NULL;
    sph_layer layer = {.size = sizeof(sph_layer), .units = 3, .param = SPH_PARAM_GMP, .act = SPH_ACT_RELU};
    snprintf(name, 96, dead ? "early with a dead end" : "early");
    assert_int_equal(sph_net_new(&net, SPH_F32), 0);
    int early = sph_net_dense(net, sph_net_input(net, 4), &layer);
    int later = sph_net_dense(net, early, &layer);
    int last = sph_net_act(net, dead ? early : sph_net_add(net, early, later), SPH_ACT_IDENTITY);
    if (last < 0 || sph_net_ready(net, last, 1) < 0)
        fail_msg("%s", sph_error());
    shake(net, 1);
    return net;
}

/* name: what it is. */
__attribute__((unused)) static sph_net *onnx_net(size_t number, char name[96])
{
    return number < ONNX_RANDOM              ? onnx_random_net(number, name)
           : number < ONNX_RANDOM + ONNX_ZOO ? onnx_zoo_net(number - ONNX_RANDOM, name)
                                             : onnx_early_net((int)(number - ONNX_RANDOM - ONNX_ZOO), name);
}

/* x (rows, inputs) that f32 has exactly. */
__attribute__((unused)) static void onnx_rows(size_t number, double *x, size_t count)
{
    struct rng rng = rng_stream(number, RNG_NOISE, 5);
    for (size_t i = 0; i < count; i++)
        x[i] = (float)(2 * rng_normal(&rng));
}

#endif
