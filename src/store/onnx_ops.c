/* SPDX-License-Identifier: MIT
 *
 * The table of operators, and those that take no doing: shapes, what nothing happens in, what comes behind the last layer. */
#include <string.h>

#include "base/cursor.h"
#include "base/memory.h"
#include "store/onnx_build.h"
#include "store/onnx_ops.h"

/* The same numbers, in a row. */
static int flat(struct import *import, const Onnx__Node *node)
{
    struct value value;
    int err = read_step(import, node, 0, &value);
    if (!err && onnx_int(node, "axis", 1) != 1)
        return onnx_refuse(&import->file, node, "axis %lld, expected 1",
                           (long long)onnx_int(node, "axis", 1));
    return err < 0 ? err : import_give(import, node, VALUE_STEP, value.step, 1);
}

static int reshape(struct import *import, const Onnx__Node *node)
{
    struct onnx_numbers shape;
    struct value value;
    int err;
    if ((err = read_step(import, node, 0, &value)) < 0 || (err = read_constant(import, node, 1, &shape)) < 0)
        return err;
    const struct step *step = &import->step[value.step];
    double features = (double)step_features(step), channels = (double)step->channels;
    const double *to = shape.values;
    int vector = shape.count == 2 && (to[1] == -1 || to[1] == features) && (to[0] != -1 || to[1] != -1);
    int pixel = shape.count == 4 && to[1] == channels && to[2] == 1 && to[3] == 1 && features == channels;
    mem_free(shape.values);
    if (!vector && !pixel)
        return onnx_refuse(&import->file, node, "expected (N, %.0f), a flat vector", features);
    return import_give(import, node, VALUE_STEP, value.step, vector);
}

/* Nothing happens in evaluation. */
static int pass(struct import *import, const Onnx__Node *node)
{
    struct value value;
    int err = read_value(import, node, 0, &value);
    int64_t to = onnx_int(node, "to", ONNX_FLOAT);
    if (err < 0)
        return err;
    if (to != ONNX_FLOAT && to != ONNX_DOUBLE)
        return onnx_refuse(&import->file, node, "casts to type %lld, expected f32 (1) or f64 (11)",
                           (long long)to);
    if (node->op_type[0] == 'D' && has_input(node, 2)) {
        struct value training;
        if ((err = read_value(import, node, 2, &training)) < 0)
            return err;
        if (training.kind != VALUE_CONSTANT || onnx_is_true(training.tensor))
            return onnx_refuse(&import->file, node, "in training mode");
    }
    if (node->n_output && (err = import_give(import, node, value.kind, value.step, value.flat)) == 0)
        import_value(import, node->output[0])->tensor = value.tensor;
    return err;
}

static int constant(struct import *import, const Onnx__Node *node)
{
    const Onnx__Attribute *attribute = onnx_attribute(node, "value");
    if (!attribute || !attribute->t || !node->n_output)
        return onnx_refuse(&import->file, node, "expected its numbers as a tensor");
    int err = import_give(import, node, VALUE_CONSTANT, 0, 0);
    if (!err)
        import_value(import, node->output[0])->tensor = attribute->t;
    return err;
}

/* ---------------------------------------------------------------- behind the last layer */

static int drop(struct import *import, const Onnx__Node *node, int step)
{
    const char *op = onnx_word(node->op_type);
    if (!import->dropped++)
        import->first_dropped = node;
    import->softmax |= !strcmp(op, "Softmax");
    import->logistic |= !strcmp(op, "Sigmoid");
    import->exponent |= !strcmp(op, "Exp");
    return import_give(import, node, VALUE_HEAD, step, 0);
}

int take_head(struct import *import, const Onnx__Node *node)
{
    struct value value;
    int err = read_step(import, node, 0, &value);
    if (err < 0)
        return err;
    import->step[value.step].scored = 1;
    return drop(import, node, value.step);
}

/* What is made of probabilities: the step behind which the node lies, SEVERAL, or -1. */
static int behind_head(struct import *import, const Onnx__Node *node)
{
    static const char *const may[] = {"ArgMax",   "Sub",        "Concat",    "Cast",
                                      "Identity", "Reshape",    "ZipMap",    "ArrayFeatureExtractor",
                                      "Gather",   "Mul",        "Greater",   "Neg",
                                      "Where",    "Softmax",    "Sigmoid",   "Squeeze",
                                      "Flatten",  "Normalizer", "Binarizer", "LabelEncoder",
                                      "Less",     "Add",        "Div"};
    size_t known = 0, count = sizeof may / sizeof *may;
    int step = -1, heads = 0;
    while (known < count && strcmp(may[known], onnx_word(node->op_type)))
        known++;
    for (size_t pass = 0; known < count && pass < 2 && heads == (int)pass; pass++)
        for (size_t i = 0; i < node->n_input; i++) {
            const struct value *value = has_input(node, i) ? import_value(import, node->input[i]) : NULL;
            if (!value || (value->kind != VALUE_HEAD && value->kind != VALUE_STEP))
                continue;
            if (!pass) {
                heads |= value->kind == VALUE_HEAD;
                continue;
            }
            if (value->kind == VALUE_STEP)
                import->step[value->step].scored = 1;
            step = step == -1 || step == value->step ? value->step : SEVERAL;
        }
    return step;
}

/* Numbers that reading a value may go through: those of a constant, or of the step that it changes. */
static size_t numbers_of(const struct import *import, const struct value *value)
{
    const Onnx__Tensor *tensor = value->kind == VALUE_CONSTANT ? value->tensor : NULL;
    if (tensor &&
        tensor->data_location == 1) { /* in another file; a shape that wraps is refused by its reader */
        size_t count = 1;
        for (size_t i = 0; i < tensor->n_dims; i++)
            if (tensor->dims[i] < 0 || !size_times(&count, count, (size_t)tensor->dims[i]))
                return 0;
        return count;
    }
    if (tensor)
        return tensor->raw_data.len / sizeof(float) + tensor->n_float_data + tensor->n_double_data +
               tensor->n_int64_data;
    if (value->kind != VALUE_STEP)
        return 0;
    const struct step *step = &import->step[value->step];
    return step->kind == STEP_INPUT ? step_features(step) : step->channels * (step->n + 1);
}

static int count_numbers(struct import *import, const Onnx__Node *node)
{
    for (size_t i = 0; i < node->n_input; i++) {
        const struct value *value = has_input(node, i) ? import_value(import, node->input[i]) : NULL;
        size_t numbers = value ? numbers_of(import, value) : 0;
        if (numbers > ONNX_MOST_NUMBERS - import->numbers)
            return onnx_refuse(&import->file, node, "the nodes read more than %zu numbers in all",
                               ONNX_MOST_NUMBERS);
        import->numbers += numbers;
    }
    return 0;
}

int import_node(struct import *import, const Onnx__Node *node)
{
    static const struct {
        const char *op;
        int (*take)(struct import *import, const Onnx__Node *node);
    } table[] = {
        {"Gemm", take_dense},
        {"MatMul", take_dense},
        {"Conv", take_conv},
        {"BatchNormalization", take_batch_norm},
        {"Relu", take_activation},
        {"LeakyRelu", take_activation},
        {"Elu", take_activation},
        {"MaxPool", take_pool},
        {"AveragePool", take_pool},
        {"GlobalAveragePool", take_pool},
        {"ReduceMean", take_mean},
        {"Add", take_sum},
        {"Sub", take_arithmetic},
        {"Mul", take_arithmetic},
        {"Div", take_arithmetic},
        {"Scaler", take_scaler},
        {"IsNaN", take_missing},
        {"Where", take_choice},
        {"Flatten", flat},
        {"Reshape", reshape},
        {"Identity", pass},
        {"Dropout", pass},
        {"Cast", pass},
        {"Constant", constant},
        {"Softmax", take_head},
        {"LogSoftmax", take_head},
        {"Sigmoid", take_head},
        {"Exp", take_head},
        {"ArgMax", take_head},
        {"Greater", take_head},
        {"Neg", take_negative},
    };
    int err = count_numbers(import, node);
    if (err < 0)
        return err;
    const char *domain = onnx_word(node->domain);
    int known = !*domain || !strcmp(domain, "ai.onnx") || !strcmp(domain, "ai.onnx.ml"),
        step = behind_head(import, node);
    if (known && step != -1)
        return drop(import, node, step);
    for (size_t i = 0; known && i < sizeof table / sizeof *table; i++)
        if (!strcmp(onnx_word(node->op_type), table[i].op))
            return table[i].take(import, node);
    return onnx_refuse(&import->file, node, "is not a supported operator");
}
