/* SPDX-License-Identifier: MIT
 *
 * Ready-made networks for images: VGG-6, torchvision's ResNet-18 and ResNet-50 under their module names, Wide
 * ResNet, MobileNet; and the table of all kinds of networks. */
#include "net/zoo.h"

#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "base/sized.h"
#include "net/net.h"

/* A net on its way. node < 0 is the first failure: what follows it does nothing. */
struct builder {
    const sph_image_net *spec;
    sph_net *net;
    int node;
};

static size_t scaled(const sph_image_net *spec, size_t units)
{
    return (size_t)round((double)units * (spec->scale > 0 ? spec->scale : 1));
}

struct conv {
    size_t units, kernel, stride;
    sph_act act;
    size_t groups; /* 0: none */
};

/* A conv over node `from`, padded so that stride 1 keeps the size; its path is prefix.name. */
static int add_conv(struct builder *b, int from, const char *prefix, const char *name,
                    const struct conv *conv)
{
    char path[64];
    snprintf(path, sizeof path, "%s%s", prefix, name);
    if (!conv->units)
        return sph_fail_of(SPH_EARG, "", 0, "scale", "width %g leaves %s without channels", b->spec->scale,
                           path);
    sph_layer layer = {.size = sizeof(sph_layer),
                       .path = path,
                       .units = conv->units,
                       .param = b->spec->param,
                       .norm = net_norm_behind(b->net, from, b->spec->norm, &b->spec->details),
                       .act = conv->act,
                       .init = b->spec->init,
                       .norm_groups = b->spec->norm_groups,
                       .kernel = conv->kernel,
                       .stride = conv->stride,
                       .pad = conv->kernel / 2,
                       .groups = conv->groups,
                       .details = b->spec->details};
    return sph_net_conv(b->net, from, &layer);
}

/* Opens a net with its image; b->node is the image. */
static int begin(struct builder *b, const sph_image_net *spec)
{
    *b = (struct builder){.spec = spec};
    if (!(spec->scale >= 0 && spec->scale <= 64))
        return sph_fail_of(SPH_EARG, "", 0, "scale", "width scale %g, expected a number above 0, at most 64",
                           spec->scale);
    if (!spec->classes)
        return sph_fail_of(SPH_EARG, "", 0, "classes", "0 classes, expected at least 1");
    int err = sph_net_new(&b->net, spec->dtype);
    if (err < 0)
        return err;
    b->node = sph_net_image(b->net, spec->channels, spec->height, spec->width);
    return 0;
}

/* The mean of all pixels and the output layer. Frees the net on failure. */
static int finish(struct builder *b, const char *path, sph_net **out)
{
    sph_layer last = net_output_layer(b->spec->param, b->spec->init, b->spec->wn_output);
    last.path = path;
    last.units = b->spec->classes;
    if (b->node >= 0)
        b->node = sph_net_global_pool(b->net, b->node);
    if (b->node >= 0)
        b->node = sph_net_dense(b->net, b->node, &last);
    int err = b->node < 0 ? b->node : sph_net_ready(b->net, b->node, b->spec->seed);
    if (err < 0) {
        sph_net_free(b->net);
        return err;
    }
    *out = b->net;
    return 0;
}

/* The conv behind all that is there, layers.K. */
static void add_next(struct builder *b, const struct conv *conv)
{
    char name[24];
    snprintf(name, sizeof name, "%zu", b->net->layer_count);
    b->node = add_conv(b, b->node, "layers.", name, conv);
}

/* ---------------------------------------------------------------- vgg6 */

int sph_net_vgg6(sph_net **out, const sph_image_net *spec)
{
    static const size_t units[] = {128, 128, 256, 256, 512, 512};
    struct builder b;
    int err = begin(&b, spec);
    if (err < 0)
        return err;
    for (size_t i = 0; b.node >= 0 && i < 6; i++) {
        add_next(&b, &(struct conv){scaled(spec, units[i]), 3, 1, spec->act, 0});
        if (b.node >= 0 && i % 2)
            b.node = sph_net_max_pool(b.net, b.node, 2, 2, 0);
    }
    return finish(&b, "layers.6", out);
}

/* ---------------------------------------------------------------- residual networks */

enum { CONVS_MOST = 3 };

/* One residual: convs of which the last has no activation, plus what came in (brought to shape by downsample),
 * and the activation of the sum. */
struct residual {
    struct conv conv[CONVS_MOST];
    size_t convs;
    int downsample;
    size_t stride;
};

static void add_residual(struct builder *b, const char *path, const struct residual *residual)
{
    static const char *const names[CONVS_MOST] = {"conv1", "conv2", "conv3"};
    int in = b->node, branch = in, shortcut = in;
    for (size_t i = 0; branch >= 0 && i < residual->convs; i++)
        branch = add_conv(b, branch, path, names[i], &residual->conv[i]);
    if (branch >= 0 && residual->downsample)
        shortcut = add_conv(b, in, path, "downsample.0",
                            &(struct conv){residual->conv[residual->convs - 1].units, 1, residual->stride,
                                           SPH_ACT_IDENTITY, 0});
    b->node = branch < 0 ? branch : shortcut < 0 ? shortcut : sph_net_add(b->net, branch, shortcut);
    if (b->node >= 0)
        b->node = sph_net_act(b->net, b->node, b->spec->act);
}

/* Two 3x3 convs. */
static struct residual basic(const sph_image_net *spec, size_t units, size_t stride)
{
    size_t m = scaled(spec, units);
    return (struct residual){
        .conv = {{m, 3, stride, spec->act, 0}, {m, 3, 1, SPH_ACT_IDENTITY, 0}}, .convs = 2, .stride = stride};
}

/* 1x1, 3x3, 1x1; the stride is the 3x3's, and the last has four times the units. */
static struct residual bottleneck(const sph_image_net *spec, size_t units, size_t stride)
{
    size_t m = scaled(spec, units);
    return (struct residual){
        .conv = {{m, 1, 1, spec->act, 0}, {m, 3, stride, spec->act, 0}, {4 * m, 1, 1, SPH_ACT_IDENTITY, 0}},
        .convs = 3,
        .stride = stride};
}

enum {
    STEM_LARGE = 64
}; /* pixels: of 32 x 32 the large stem leaves 8 x 8, and the last stage a single pixel */

sph_stem net_stem(sph_stem stem, size_t height, size_t width)
{
    if (stem != SPH_STEM_AUTO)
        return stem;
    return height < STEM_LARGE || width < STEM_LARGE ? SPH_STEM_SMALL : SPH_STEM_LARGE;
}

struct resnet {
    size_t units; /* of the stem */
    size_t stages, first;
    const size_t *depth; /* of each stage; the first has `first` units, each other twice those before it */
    struct residual (*make)(const sph_image_net *spec, size_t units, size_t stride);
};

static int build_resnet(sph_net **out, const sph_image_net *spec, sph_stem stem, const struct resnet *net)
{
    struct builder b;
    int err = begin(&b, spec), large = stem == SPH_STEM_LARGE;
    if (err < 0)
        return err;
    if (b.node >= 0)
        b.node =
            add_conv(&b, b.node, "", "conv1",
                     &(struct conv){scaled(spec, net->units), large ? 7 : 3, large ? 2 : 1, spec->act, 0});
    if (b.node >= 0 && large)
        b.node = sph_net_max_pool(b.net, b.node, 3, 2, 1);
    for (size_t stage = 0; stage < net->stages; stage++)
        for (size_t i = 0; b.node >= 0 && i < net->depth[stage]; i++) {
            char path[48];
            snprintf(path, sizeof path, "layer%zu.%zu.", stage + 1, i);
            struct residual residual = net->make(spec, net->first << stage, stage && !i ? 2 : 1);
            size_t units = residual.conv[residual.convs - 1].units;
            residual.downsample = residual.stride != 1 || units != b.net->nodes[b.node].channels;
            add_residual(&b, path, &residual);
        }
    return finish(&b, "fc", out);
}

static int torchvision_resnet(sph_net **out, const sph_image_net *spec, const size_t depth[4],
                              struct residual (*make)(const sph_image_net *spec, size_t units, size_t stride))
{
    return build_resnet(out, spec, net_stem(spec->stem, spec->height, spec->width),
                        &(struct resnet){64, 4, 64, depth, make});
}

int sph_net_resnet18(sph_net **out, const sph_image_net *spec)
{
    return torchvision_resnet(out, spec, (const size_t[]){2, 2, 2, 2}, basic);
}

int sph_net_resnet50(sph_net **out, const sph_image_net *spec)
{
    return torchvision_resnet(out, spec, (const size_t[]){3, 4, 6, 3}, bottleneck);
}

int sph_net_wrn28_2(sph_net **out, const sph_image_net *spec)
{
    return build_resnet(out, spec, SPH_STEM_SMALL,
                        &(struct resnet){16, 3, 32, (const size_t[]){4, 4, 4}, basic});
}

/* ---------------------------------------------------------------- mobile */

/* The first conv of small images keeps their size: else 32 x 32 would end as a single pixel. */
enum { MOBILE_LARGE = 96 };

int sph_net_mobile(sph_net **out, const sph_image_net *spec)
{
    static const struct {
        size_t units, stride, times;
    } pairs[] = {{64, 1, 1},  {128, 2, 1}, {128, 1, 1},  {256, 2, 1}, {256, 1, 1},
                 {512, 2, 1}, {512, 1, 5}, {1024, 2, 1}, {1024, 1, 1}};
    int large = spec->height >= MOBILE_LARGE && spec->width >= MOBILE_LARGE;
    struct builder b;
    int err = begin(&b, spec);
    if (err < 0)
        return err;
    if (b.node >= 0)
        add_next(&b, &(struct conv){scaled(spec, 32), 3, large ? 2 : 1, spec->act, 0});
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (size_t times = 0; times < pairs[i].times; times++) {
            size_t channels = b.node < 0 ? 0 : b.net->nodes[b.node].channels;
            if (b.node >= 0)
                add_next(&b, &(struct conv){channels, 3, pairs[i].stride, spec->act, channels});
            if (b.node >= 0)
                add_next(&b, &(struct conv){scaled(spec, pairs[i].units), 1, 1, spec->act, 0});
        }
    return finish(&b, "layers.27", out);
}

/* ---------------------------------------------------------------- all kinds */

const struct net_kind *net_kind(sph_net_kind kind)
{
    /* at adam's 0.01 a plain vgg6 stays at chance (docs/numerics.md) */
    static const struct net_kind table[SPH_NET_COUNT] = {
        [SPH_NET_MLP] = {.batch = 1024},
        [SPH_NET_VGG6] = {sph_net_vgg6, 0, 128, 0.002, {32, 32, 10}},
        [SPH_NET_RESNET18] = {sph_net_resnet18, 1, 128, 0.002, {224, 16, 1000}},
        [SPH_NET_RESNET50] = {sph_net_resnet50, 1, 128, 0.002, {224, 16, 1000}},
        [SPH_NET_MOBILE] = {sph_net_mobile, 0, 128, 0.002, {224, 16, 1000}},
        [SPH_NET_WRN28_2] = {sph_net_wrn28_2, 0, 128, 0.002, {32, 32, 10}},
    };
    return &table[kind];
}

int sph_net_zoo(sph_net **out, sph_net_kind kind, const sph_image_net *spec)
{
    NEED(out, spec);
    sph_image_net own = {.size = sizeof(sph_image_net)};
    int err = SIZED_TAKE(&own, spec, sph_image_net);
    if (err < 0)
        return err;
    if ((unsigned)kind >= SPH_NET_COUNT || !net_kind(kind)->make)
        return sph_fail_key(SPH_EARG, "kind", "%d is not a network for images", (int)kind);
    return net_kind(kind)->make(out, &own);
}
