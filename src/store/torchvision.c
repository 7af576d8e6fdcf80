/* SPDX-License-Identifier: MIT */
#include "store/torchvision.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "net/net.h"
#include "net/zoo.h"
#include "store/architecture.h"
#include "store/tensors.h"

enum { STAGES = 4 };

/* torchvision's own beginning, or the one that its users give it for small images: conv1 3x3, no max pool. */
enum { SMALL_KERNEL = 3, SMALL_IMAGE = 32, LARGE_IMAGE = 224 };

static const char tracked[] = "num_batches_tracked";

/* ---------------------------------------------------------------- names */

/* conv1 -> bn1, layer1.0.conv2 -> layer1.0.bn2, layer1.0.downsample.0 -> layer1.0.downsample.1 */
static void norm_path(const char *path, char out[static TENSOR_NAME])
{
    const char *last = strrchr(path, '.');
    const char *word = last ? last + 1 : path;
    int prefix = (int)(word - path);
    if (!strncmp(word, "conv", 4))
        snprintf(out, TENSOR_NAME, "%.*sbn%.80s", prefix, path, word + 4);
    else
        snprintf(out, TENSOR_NAME, "%.*s1", prefix, path);
}

static void name_of(const sph_net *net, const struct net_tensor *tensor, char out[static TENSOR_NAME])
{
    static const char *const ours[] = {"norm.scale", "norm.shift", "norm.mean", "norm.var"};
    static const char *const theirs[] = {"weight", "bias", "running_mean", "running_var"};
    const char *path = net->layers[tensor->layer].path, *leaf = tensor->view.name + strlen(path) + 1;
    for (size_t i = 0; i < 4; i++)
        if (!strcmp(leaf, ours[i])) {
            char norm[TENSOR_NAME];
            norm_path(path, norm);
            snprintf(out, TENSOR_NAME, "%.130s.%s", norm, theirs[i]);
            return;
        }
    snprintf(out, TENSOR_NAME, "%s", tensor->view.name);
}

/* The count that stands beside a running mean says nothing about the function. */
static int is_count(const struct safetensors *file, const struct st_tensor *stranger)
{
    char mean[TENSOR_NAME];
    size_t length = strlen(stranger->name), end = sizeof tracked - 1;
    if (length <= end || length >= TENSOR_NAME || strcmp(stranger->name + length - end, tracked) != 0)
        return 0;
    snprintf(mean, sizeof mean, "%.*srunning_mean", (int)(length - end), stranger->name);
    return stranger->count == 1 && safetensors_find(file, mean);
}

const struct tensor_names torchvision_names = {.of = name_of, .ignores = is_count};

/* ---------------------------------------------------------------- which network */

/* A zoo's scale that gives these widths, or 0: 64 of them times 1, 2, 4, 8, each rounded. */
static double find_scale(const size_t width[STAGES])
{
    double low = 0, high = HUGE_VAL;
    for (size_t i = 0; i < STAGES; i++) {
        double full = (double)((size_t)64 << i), m = (double)width[i];
        low = fmax(low, (m - 0.5) / full);
        high = fmin(high, (m + 0.5) / full);
    }
    return low < high ? (low + high) / 2 : 0;
}

static int build(sph_net **out, int deep, const sph_image_net *spec)
{
    return (deep ? sph_net_resnet50 : sph_net_resnet18)(out, spec);
}

int torchvision_recognise(const struct safetensors *file)
{
    static const char *const marks[] = {"conv1.weight", "bn1.running_mean", "layer1.0.conv1.weight",
                                        "fc.weight"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (!safetensors_find(file, marks[i]))
            return 0;
    return 1;
}

/* A weight whose first ndim axes give the net's sizes. Each is compared with the net's shape later. */
static int find_weight(const struct safetensors *file, const char *name, size_t ndim,
                       const struct st_tensor **out)
{
    *out = safetensors_find(file, name);
    if (!*out)
        return sph_fail_of(SPH_EFORMAT, file->path, 0, name, "%s is missing", name);
    if ((*out)->ndim != ndim || !(*out)->count)
        return sph_fail_of(SPH_EFORMAT, file->path, 0, name,
                           "%s has %zu dimensions and %zu numbers, expected %zu dimensions", name,
                           (*out)->ndim, (*out)->count, ndim);
    return 0;
}

int torchvision_open(sph_net **out, const struct safetensors *file)
{
    const struct st_tensor *first, *last, *conv;
    size_t width[STAGES];
    sph_net *net = NULL;
    int deep = safetensors_find(file, "layer1.0.conv3.weight") != NULL, err;
    if ((err = find_weight(file, "conv1.weight", 4, &first)) < 0 ||
        (err = find_weight(file, "fc.weight", 2, &last)) < 0)
        return err;
    /* These four are most of such a net: one that agrees with them is not much larger than its file. */
    for (size_t i = 0; i < STAGES; i++) {
        char name[32];
        snprintf(name, sizeof name, "layer%zu.0.conv2.weight", i + 1);
        if ((err = find_weight(file, name, 4, &conv)) < 0)
            return err;
        width[i] = conv->shape[0];
        if ((err = tensors_check_shape(conv, (const size_t[]){width[i], width[i], 3, 3}, 4)) < 0)
            return err;
    }
    int small = first->shape[2] == SMALL_KERNEL;
    size_t side = small ? SMALL_IMAGE : LARGE_IMAGE; /* the file does not say */
    sph_image_net spec = {.size = sizeof(sph_image_net),
                          .channels = first->shape[1],
                          .height = side,
                          .width = side,
                          .classes = last->shape[0],
                          .scale = find_scale(width),
                          .norm = SPH_NORM_BN,
                          .act = SPH_ACT_RELU,
                          .stem = small ? SPH_STEM_SMALL : SPH_STEM_LARGE};
    for (size_t i = 0; i < file->count; i++)
        if (file->tensor[i].dtype == ST_F64)
            spec.dtype = SPH_F64;
    if (!(spec.scale > 0 && spec.scale <= 64))
        return sph_fail_at(SPH_EFORMAT, file->path,
                           "a resnet of widths %zu, %zu, %zu, %zu, expected 64, 128, 256, 512 times a factor",
                           width[0], width[1], width[2], width[3]);
    if ((err = build(&net, deep, &spec)) < 0)
        return sph_fail_move(err, file->path, 0, 1);
    if ((err = tensors_take(net, file, 1, &torchvision_names, -1)) < 0) {
        sph_net_free(net);
        return sph_fail_in(err, "read as torchvision's %s", deep ? "resnet50" : "resnet18");
    }
    *out = net;
    return 0;
}

/* ---------------------------------------------------------------- writing */

static const struct net_layer *find_layer(const sph_net *net, const char *path)
{
    for (size_t l = 0; l < net->layer_count; l++)
        if (!strcmp(net->layers[l].path, path))
            return &net->layers[l];
    return NULL;
}

static const char wanted[] = "torchvision's names are for an sp resnet18 or resnet50 with bn and relu";

static int check_layer(const char *path, const struct net_layer *layer)
{
    const sph_layer *spec = &layer->spec;
    if (spec->param != SPH_PARAM_SP)
        return sph_fail_of(SPH_EFORMAT, path, 0, layer->path, "%s is %s, and %s", layer->path,
                           layer->ops->name, wanted);
    if (spec->kernel && spec->norm != SPH_NORM_BN)
        return sph_fail_of(SPH_EFORMAT, path, 0, layer->path, "%s has norm %s, and %s", layer->path,
                           sph_word(SPH_WORDS_NORM, (int)spec->norm)->word, wanted);
    if (spec->signs)
        return sph_fail_of(SPH_EFORMAT, path, 0, layer->path, "%s keeps negative signs as %s.r, and %s",
                           layer->path, layer->path, wanted);
    return 0;
}

/* The net is what torchvision_open would make of its tensors, image size apart. */
static int check_net(const char *path, const sph_net *net)
{
    size_t width[STAGES] = {0};
    for (size_t l = 0; l < net->layer_count; l++) {
        int err = check_layer(path, &net->layers[l]);
        if (err < 0)
            return err;
    }
    for (size_t i = 0; i < STAGES; i++) {
        char name[32];
        snprintf(name, sizeof name, "layer%zu.0.conv2", i + 1);
        const struct net_layer *layer = find_layer(net, name);
        if (!layer)
            return sph_fail_of(SPH_EFORMAT, path, 0, name, "the net has no layer %s, and %s", name, wanted);
        width[i] = layer->spec.units;
    }
    const struct net_node *image = &net->nodes[0];
    const struct net_layer *first = find_layer(net, "conv1");
    int small = first && first->spec.kernel == SMALL_KERNEL;
    sph_image_net spec = {.size = sizeof(sph_image_net),
                          .dtype = net->dtype,
                          .channels = image->channels,
                          .height = image->height,
                          .width = image->width,
                          .classes = sph_net_outputs(net),
                          .scale = find_scale(width),
                          .norm = SPH_NORM_BN,
                          .act = SPH_ACT_RELU,
                          .stem = small ? SPH_STEM_SMALL : SPH_STEM_LARGE};
    sph_net *model = NULL;
    json_t *there = NULL, *here = NULL;
    char difference[256] = "";
    if (!(spec.scale > 0 && spec.scale <= 64))
        return sph_fail_at(SPH_EFORMAT, path, "its widths are not those of a resnet, and %s", wanted);
    int err = build(&model, find_layer(net, "layer1.0.conv3") != NULL, &spec);
    if (!err)
        err = architecture_of(&there, net);
    if (!err)
        err = architecture_of(&here, model);
    if (!err && architecture_difference(there, here, difference, sizeof difference))
        err = sph_fail_at(SPH_EFORMAT, path, "%s, and %s", difference, wanted);
    json_decref(there);
    json_decref(here);
    sph_net_free(model);
    return err;
}

/* The tensors of a layer, in the order and under the names of torchvision's state. */
static int list_layer(struct tensor_list *out, const sph_net *net, const struct net_layer *layer)
{
    static const char *const bn[] = {"weight", "norm.scale", "norm.shift", "norm.mean", "norm.var"};
    static const char *const plain[] = {"weight", "bias"};
    int normed = layer->spec.norm == SPH_NORM_BN, err = 0;
    char name[TENSOR_NAME], norm[TENSOR_NAME];
    for (size_t i = 0; i < (normed ? 5 : 2) && !err; i++) {
        snprintf(name, sizeof name, "%s.%s", layer->path, (normed ? bn : plain)[i]);
        const struct net_tensor *tensor = net_find_tensor(net, name);
        name_of(net, tensor, name);
        err = tensors_add(out, net, tensor, name);
    }
    if (err || !normed)
        return err;
    norm_path(layer->path, norm);
    snprintf(name, sizeof name, "%.130s.%s", norm, tracked);
    return tensors_add(out, net, NULL, name);
}

int torchvision_save(const char *path, const sph_net *net)
{
    struct tensor_list list = {0};
    int err = check_net(path, net);
    for (size_t l = 0; l < net->layer_count && !err; l++)
        err = list_layer(&list, net, &net->layers[l]);
    if (!err)
        err = tensors_save(&list, path, NULL, &(struct st_meta){"format", "pt"}, NULL);
    tensors_list_free(&list);
    return err;
}
