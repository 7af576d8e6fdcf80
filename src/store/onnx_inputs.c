/* SPDX-License-Identifier: MIT
 *
 * What a node of a graph reads. */
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "store/onnx_ops.h"

const char *read_name(const Onnx__Node *node, size_t i)
{
    return i < node->n_input ? onnx_word(node->input[i]) : "";
}

int has_input(const Onnx__Node *node, size_t i)
{
    return *read_name(node, i) != '\0';
}

/* *out <- what the node's i-th input is. */
int read_value(struct import *import, const Onnx__Node *node, size_t i, struct value *out)
{
    if (!has_input(node, i))
        return onnx_refuse(&import->file, node, "input %zu is missing", i);
    const struct value *value = import_value(import, node->input[i]);
    if (!value)
        return SPH_EMEMORY;
    if (value->kind == VALUE_NONE)
        return onnx_refuse(
            &import->file, node,
            "reads '%.80s', which no earlier node computes: the graph is unordered or has a cycle",
            node->input[i]);
    if (value->kind == VALUE_SIDE)
        return onnx_refuse(&import->file, node, "reads '%.80s', which is not the first result of its node",
                           node->input[i]);
    *out = *value;
    return 0;
}

int read_constant(struct import *import, const Onnx__Node *node, size_t i, struct onnx_numbers *out)
{
    struct value value;
    *out = (struct onnx_numbers){0};
    int err = read_value(import, node, i, &value);
    if (err < 0)
        return err;
    if (value.kind != VALUE_CONSTANT)
        return onnx_refuse(&import->file, node, "input '%.80s' is computed, expected a constant",
                           read_name(node, i));
    err = onnx_tensor_read(&import->file, value.tensor, read_name(node, i), out);
    for (size_t k = 0; !err && k < out->count; k++)
        if (!isfinite(out->values[k])) {
            mem_free(out->values);
            out->values = NULL;
            return onnx_refuse(&import->file, node, "input '%.80s' holds %g, expected finite numbers",
                               read_name(node, i), NAN);
        }
    if (!err)
        import->is_double |= out->is_double;
    return err;
}

int read_step(struct import *import, const Onnx__Node *node, size_t i, struct value *out)
{
    int err = read_value(import, node, i, out);
    if (err < 0)
        return err;
    if (out->kind == VALUE_HEAD)
        return onnx_refuse(
            &import->file, node,
            "reads '%.80s', which is computed from probabilities or labels; nothing after them is supported",
            read_name(node, i));
    if (out->kind != VALUE_STEP)
        return onnx_refuse(&import->file, node, "reads the constant '%.80s', expected what a layer gives",
                           read_name(node, i));
    out->reads = import_root(import, out)->reads;
    return 0;
}

int reads_constant(struct import *import, const Onnx__Node *node, size_t i)
{
    const struct value *value = has_input(node, i) ? import_value(import, node->input[i]) : NULL;
    return value && value->kind == VALUE_CONSTANT;
}

/* ---------------------------------------------------------------- constants beside values
 * out (channels, or of the input features) <- the numbers as they broadcast over the value. */

static int spread(struct import *import, const Onnx__Node *node, const struct onnx_numbers *from,
                  const struct value *beside, double **out)
{
    const struct step *step = &import->step[beside->step];
    size_t rank = beside->flat ? 2 : 4, size[] = {1, step->channels, step->height, step->width},
           stride[4] = {0}, length = 1;
    int whole = step->kind == STEP_INPUT, fits = from->dims <= rank,
        pixels_in_row =
            beside->flat && !whole && step_features(step) != step->channels; /* have one number at most */
    if (beside->flat && whole)
        size[1] = step_features(step);
    for (size_t k = from->dims; fits && k-- > 0;) {
        size_t axis = rank - from->dims + k;
        fits = from->shape[k] == 1 ||
               (from->shape[k] == size[axis] && !pixels_in_row && (axis == 1 || (whole && axis > 1)));
        stride[axis] = from->shape[k] == 1 ? 0 : length;
        length *= from->shape[k];
    }
    if (!fits || !from->count)
        return onnx_refuse(
            &import->file, node,
            "its constant has the wrong shape, expected one number, or one for each of %zu channels",
            size[1]);
    size_t pixels = whole && !beside->flat ? step->height * step->width : 1, count = size[1] * pixels;
    if (!(*out = mem_get(count, sizeof **out)))
        return SPH_EMEMORY;
    for (size_t i = 0; i < count; i++) {
        size_t c = i / pixels, y = i % pixels / step->width, x = i % pixels % step->width;
        (*out)[i] = from->values[c * stride[1] + y * stride[2] + x * stride[3]];
    }
    return 0;
}

int read_spread(struct import *import, const Onnx__Node *node, size_t i, const struct value *beside,
                double **out)
{
    struct onnx_numbers numbers;
    int err = read_constant(import, node, i, &numbers);
    if (err < 0)
        return err;
    err = spread(import, node, &numbers, beside, out);
    mem_free(numbers.values);
    return err;
}
