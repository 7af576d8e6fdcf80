/* SPDX-License-Identifier: MIT
 *
 * Layers, activations and pools. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"
#include "store/onnx_ops.h"

/* Windows of images: more than any has, and small enough to be added up. */
enum { MOST_WINDOW = 1 << 20 };

/* ---------------------------------------------------------------- layers */

/* Where torch has it: the weight's PATH.weight, or the scopes of the node's name, "/layer1/layer1.0/conv1/Conv". */
static void name_layer(const Onnx__Node *node, struct step *step)
{
    const char *weight = read_name(node, 1), *end = strrchr(weight, '.'), *name = onnx_word(node->name);
    char path[sizeof step->path] = "", last[sizeof path] = "";
    if (end && end > weight && !strcmp(end, ".weight") && (size_t)(end - weight) < sizeof path)
        snprintf(path, sizeof path, "%.*s", (int)(end - weight), weight);
    for (const char *scope = name; !*path && *name == '/' && (scope = strchr(scope, '/'));) {
        const char *next = strchr(++scope, '/');
        size_t length = next ? (size_t)(next - scope) : 0, before = strlen(step->path), tail = strlen(last);
        if (!next || before + length + 2 > sizeof path)
            break;
        if (tail && length > tail && !strncmp(scope, last, tail) && scope[tail] == '.')
            before -= tail;
        snprintf(step->path + before, sizeof path - before, "%s%.*s",
                 before && step->path[before - 1] != '.' ? "." : "", (int)length, scope);
        snprintf(last, sizeof last, "%.*s", (int)length, scope);
    }
    if (*path)
        memcpy(step->path, path, sizeof path);
    for (const char *c = step->path; *c; c++)
        if (*c <= ' ' || *c > '~')
            *step->path = '\0';
}

/* Two layers of one name are called by their number. */
static int keep_unique(struct import *import, struct step *step)
{
    if (!strncmp(step->path, "layers.", 7) || levels_seen(&import->paths, step->path) != SIZE_MAX)
        *step->path = '\0';
    return *step->path ? levels_add(&import->paths, step->path) : 0;
}

/* A layer of m units that reads step `from`; the window is set by the caller, w changes hands. */
static struct step *new_layer(struct import *import, const Onnx__Node *node, int from, size_t m, size_t n,
                              double *w)
{
    struct step *layer = import_step(import, STEP_LAYER, from, -1);
    if (!layer) {
        mem_free(w);
        return NULL;
    }
    layer->w = w;
    layer->channels = m;
    layer->n = n;
    layer->height = layer->width = 1;
    layer->act = SPH_ACT_IDENTITY;
    name_layer(node, layer);
    return !keep_unique(import, layer) && (layer->b = mem_get(m, sizeof *layer->b)) ? layer : NULL;
}

static int add_bias(struct import *import, const Onnx__Node *node, size_t input, double factor)
{
    double *shift = NULL;
    const struct value out = {.kind = VALUE_STEP, .step = (int)import->steps - 1, .flat = 1};
    int err = has_input(node, input) ? read_spread(import, node, input, &out, &shift) : 0;
    struct step *layer = &import->step[out.step];
    for (size_t j = 0; !err && shift && j < layer->channels; j++)
        layer->b[j] += factor * shift[j];
    mem_free(shift);
    return err < 0 ? err : import_give(import, node, VALUE_STEP, out.step, 1);
}

/* Gemm, and MatMul, which has neither bias nor factors. A layer that reads an image whole is a convolution. */
int take_dense(struct import *import, const Onnx__Node *node)
{
    struct value from;
    int is_gemm = node->op_type[0] == 'G', err;
    int turned = is_gemm && onnx_int(node, "transB", 0);
    double alpha = is_gemm ? onnx_float(node, "alpha", 1) : 1,
           beta = is_gemm ? onnx_float(node, "beta", 1) : 0;
    struct onnx_numbers weight;
    if ((err = read_step(import, node, 0, &from)) < 0 || (err = read_constant(import, node, 1, &weight)) < 0)
        return err;
    const struct step *before = &import->step[from.step];
    size_t n = step_features(before), m = weight.dims == 2 ? weight.shape[turned ? 0 : 1] : 0;
    if (!m || weight.shape[turned ? 1 : 0] != n || !from.flat || onnx_int(node, "transA", 0)) {
        mem_free(weight.values);
        return onnx_refuse(&import->file, node, "its weight does not fit: %zu features come in%s", n,
                           from.flat ? "" : ", as an image");
    }
    double *w = mem_get(weight.count, sizeof *w);
    for (size_t j = 0; w && j < m; j++)
        for (size_t i = 0; i < n; i++)
            w[j * n + i] = alpha * weight.values[turned ? j * n + i : i * m + j];
    mem_free(weight.values);
    size_t height = before->height, width = before->width;
    struct step *layer = w ? new_layer(import, node, from.step, m, n, w) : NULL;
    if (!layer)
        return SPH_EMEMORY;
    if (height != width)
        return onnx_refuse(&import->file, node,
                           "reads an image of %zu x %zu pixels whole, expected a square or a pool before",
                           height, width);
    if (height > 1) {
        layer->window = (struct sliding){.kernel = height, .stride = 1};
        layer->groups = 1;
    }
    return add_bias(import, node, is_gemm ? 2 : SIZE_MAX, beta);
}

/* `count` ints, all the same, of an attribute; otherwise where there are none. */
static int same_ints(const struct import *import, const Onnx__Node *node, const char *name, size_t count,
                     size_t otherwise, size_t *out)
{
    const Onnx__Attribute *attribute = onnx_attribute(node, name);
    *out = otherwise;
    if (!attribute || !attribute->n_ints)
        return 0;
    for (size_t i = 0; i < attribute->n_ints; i++)
        if (attribute->n_ints != count || attribute->ints[i] != attribute->ints[0] ||
            attribute->ints[i] < 0 || attribute->ints[i] > MOST_WINDOW)
            return onnx_refuse(&import->file, node, "'%s' is not %zu equal numbers of 0 or more", name,
                               count);
    *out = (size_t)attribute->ints[0];
    return 0;
}

static int read_window(const struct import *import, const Onnx__Node *node, size_t kernel,
                       struct sliding *out)
{
    const Onnx__Attribute *automatic = onnx_attribute(node, "auto_pad");
    size_t dilation;
    int err;
    if ((err = same_ints(import, node, "kernel_shape", 2, kernel, &out->kernel)) < 0 ||
        (err = same_ints(import, node, "strides", 2, 1, &out->stride)) < 0 ||
        (err = same_ints(import, node, "pads", 4, 0, &out->pad)) < 0 ||
        (err = same_ints(import, node, "dilations", 2, 1, &dilation)) < 0)
        return err;
    if (automatic && automatic->s.len && (automatic->s.len != 6 || memcmp(automatic->s.data, "NOTSET", 6)))
        return onnx_refuse(&import->file, node, "auto_pad is not supported, expected pads");
    if (dilation != 1 || onnx_int(node, "ceil_mode", 0))
        return onnx_refuse(&import->file, node, "%s",
                           dilation != 1 ? "dilation is not supported" : "ceil_mode");
    if (!out->kernel || !out->stride || out->pad >= out->kernel || (kernel && kernel != out->kernel))
        return onnx_refuse(&import->file, node, "a window of %zu every %zu pixels, padded by %zu",
                           out->kernel, out->stride, out->pad);
    return 0;
}

/* What the window leaves of an image. */
static int slide(const struct import *import, const Onnx__Node *node, const struct value *from,
                 const struct sliding *window, struct step *step)
{
    const struct step *before = &import->step[from->step];
    size_t height = before->height, width = before->width, all;
    if (!size_plus(&height, height, 2 * window->pad) || !size_plus(&width, width, 2 * window->pad))
        return onnx_refuse(&import->file, node, "%zu x %zu pixels, padded by %zu, are larger than memory",
                           before->height, before->width, window->pad);
    if (from->flat || height < window->kernel || width < window->kernel)
        return onnx_refuse(&import->file, node, "a window of %zu over %zu x %zu pixels", window->kernel,
                           before->height, before->width);
    step->window = *window;
    step->height = (height - window->kernel) / window->stride + 1;
    step->width = (width - window->kernel) / window->stride + 1;
    if (!size_product(&all, (size_t[]){step->channels, step->height, step->width}, 3) ||
        all > NET_MOST_NUMBERS)
        return onnx_refuse(&import->file, node, "gives %zu x %zu x %zu numbers, larger than memory",
                           step->channels, step->height, step->width);
    return 0;
}

int take_conv(struct import *import, const Onnx__Node *node)
{
    struct onnx_numbers weight;
    struct sliding window;
    int64_t groups = onnx_int(node, "group", 1);
    struct value from;
    int err;
    if ((err = read_step(import, node, 0, &from)) < 0 || (err = read_constant(import, node, 1, &weight)) < 0)
        return err;
    const struct step *before = &import->step[from.step];
    size_t m = weight.shape[0], n = weight.dims == 4 && m ? weight.count / m : 0, product;
    if (!n || groups < 1 || weight.shape[2] != weight.shape[3] || m % (size_t)groups ||
        !size_times(&product, weight.shape[1], (size_t)groups) || product != before->channels)
        err = onnx_refuse(&import->file, node,
                          "its weight does not fit: %zu channels come in, expected (units, channels / %lld, "
                          "k, k)",
                          before->channels, (long long)groups);
    else
        err = read_window(import, node, weight.shape[2], &window);
    if (err < 0) {
        mem_free(weight.values);
        return err;
    }
    struct step *layer = new_layer(import, node, from.step, m, n, weight.values);
    if (!layer)
        return SPH_EMEMORY;
    layer->groups = (size_t)groups;
    if ((err = slide(import, node, &from, &window, layer)) < 0)
        return err;
    /* a bias is (m), one for each unit wherever they stand */
    struct onnx_numbers bias = {0};
    if (has_input(node, 2) && (err = read_constant(import, node, 2, &bias)) < 0)
        return err;
    if (has_input(node, 2) && bias.count != m)
        err = onnx_refuse(&import->file, node, "its bias has %zu numbers, expected %zu", bias.count, m);
    for (size_t j = 0; !err && has_input(node, 2) && j < m; j++)
        layer->b[j] = bias.values[j];
    mem_free(bias.values);
    return err < 0 ? err : import_give(import, node, VALUE_STEP, (int)import->steps - 1, 0);
}

/* A bias before it moves its mean. */
int take_batch_norm(struct import *import, const Onnx__Node *node)
{
    struct value value;
    int err;
    double epsilon = onnx_float(node, "epsilon", 1e-5);
    if ((err = read_step(import, node, 0, &value)) < 0)
        return err;
    struct step *layer = &import->step[value.step];
    if (layer->kind != STEP_LAYER || !act_ops(layer->act)->identity || layer->norm[0] || layer->sign ||
        value.reads != 1 || (value.flat && layer->height * layer->width > 1))
        return onnx_refuse(&import->file, node, "expected after a layer whose output is used once");
    if (onnx_int(node, "training_mode", 0) || !(epsilon > 0) || !isfinite(epsilon))
        return onnx_refuse(&import->file, node, "in training mode, or with an epsilon of %g", epsilon);
    layer->epsilon = fabs(epsilon - norm_epsilon) < 1e-11 ? 0 : epsilon; /* f32 has no 1e-5 */
    for (size_t t = 0; t < STEP_NORM; t++) {
        struct onnx_numbers numbers;
        if ((err = read_constant(import, node, t + 1, &numbers)) < 0)
            return err;
        layer->norm[t] = numbers.values;
        if (numbers.count != layer->channels)
            return onnx_refuse(&import->file, node, "'%.80s' has %zu numbers, expected %zu",
                               read_name(node, t + 1), numbers.count, layer->channels);
    }
    for (size_t j = 0; j < layer->channels; j++) {
        layer->norm[2][j] -= layer->b[j];
        if (layer->norm[3][j] < 0)
            return onnx_refuse(&import->file, node, "the variance of unit %zu is %g", j, layer->norm[3][j]);
    }
    return import_give(import, node, VALUE_STEP, value.step, value.flat);
}

/* ---------------------------------------------------------------- activations and pools */

int take_activation(struct import *import, const Onnx__Node *node)
{
    static const struct {
        const char *op;
        sph_act act;
        double alpha;
    } kinds[] = {
        {"Relu", SPH_ACT_RELU, 0}, {"LeakyRelu", SPH_ACT_LEAKY_RELU, LEAKY_SLOPE}, {"Elu", SPH_ACT_ELU, 1}};
    struct value value;
    size_t kind = 0;
    int err = read_step(import, node, 0, &value);
    if (err < 0)
        return err;
    while (strcmp(kinds[kind].op, node->op_type))
        kind++;
    double alpha = onnx_float(node, "alpha", kinds[kind].alpha);
    if (fabs(alpha - kinds[kind].alpha) > 1e-9) /* f32 has no 0.01 */
        return onnx_refuse(&import->file, node, "alpha is %g, expected %g", alpha, kinds[kind].alpha);
    struct step *step = &import->step[value.step];
    if (step->kind == STEP_LAYER && act_ops(step->act)->identity && !step->sign && value.reads == 1) {
        step->act = kinds[kind].act;
        return import_give(import, node, VALUE_STEP, value.step, value.flat);
    }
    struct step *own = import_step(import, STEP_ACT, value.step, -1);
    if (!own)
        return SPH_EMEMORY;
    step = &import->step[value.step];
    own->act = kinds[kind].act;
    own->channels = step->channels;
    own->height = step->height;
    own->width = step->width;
    return import_give(import, node, VALUE_STEP, (int)import->steps - 1, value.flat);
}

int take_pool(struct import *import, const Onnx__Node *node)
{
    struct sliding window = {0};
    int largest = !strcmp(node->op_type, "MaxPool"),
        whole = node->op_type[0] == 'G' || node->op_type[0] == 'R', err;
    int vector = node->op_type[0] == 'R' && !onnx_int(node, "keepdims", 1);
    struct value from;
    if ((err = read_step(import, node, 0, &from)) < 0 ||
        (!whole && (err = read_window(import, node, 0, &window)) < 0))
        return err;
    if (!whole && !largest && window.pad && !onnx_int(node, "count_include_pad", 0))
        return onnx_refuse(&import->file, node, "count_include_pad is 0, expected 1 where there are pads");
    struct step *step = import_step(import, largest ? STEP_MAX_POOL : STEP_MEAN_POOL, from.step, -1);
    if (!step)
        return SPH_EMEMORY;
    step->channels = import->step[from.step].channels;
    step->height = step->width = 1;
    if (whole && from.flat)
        return onnx_refuse(&import->file, node, "pools a vector, expected an image");
    if (!whole && (err = slide(import, node, &from, &window, step)) < 0)
        return err;
    return import_give(import, node, VALUE_STEP, (int)import->steps - 1, vector);
}

/* ReduceMean over the pixels; older ones have the axes as an attribute. */
int take_mean(struct import *import, const Onnx__Node *node)
{
    double axes[2] = {0, 0};
    const Onnx__Attribute *attribute = onnx_attribute(node, "axes");
    struct onnx_numbers given = {0};
    size_t count = attribute ? attribute->n_ints : 0;
    int err = has_input(node, 1) ? read_constant(import, node, 1, &given) : 0;
    if (err < 0)
        return err;
    if (has_input(node, 1))
        count = given.count;
    for (size_t i = 0; count == 2 && i < 2; i++)
        axes[i] = has_input(node, 1) ? given.values[i] : (double)attribute->ints[i];
    mem_free(given.values);
    for (size_t i = 0; i < 2; i++)
        axes[i] += axes[i] < 0 ? 4 : 0;
    if (axes[0] + axes[1] != 5 || (axes[0] != 2 && axes[0] != 3))
        return onnx_refuse(&import->file, node, "expected a mean over the axes 2 and 3, all pixels");
    return take_pool(import, node);
}
