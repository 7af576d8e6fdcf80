/* SPDX-License-Identifier: MIT
 *
 * Constants beside values: they become part of the layer before, or of the standardisation; additions. */
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "store/onnx_ops.h"

/* x <- factor x + shift on the way in: (x - mean) / scale with another mean and scale. NULL: 1 or 0. */
static int scale_input(struct import *import, const Onnx__Node *node, const double *factor,
                       const double *shift)
{
    struct scaling *x = &import->x;
    size_t count = step_features(&import->step[0]);
    if (!x->x_mean) {
        x->x_mean = mem_get(count, sizeof *x->x_mean);
        x->x_scale = mem_get(count, sizeof *x->x_scale);
        if (!x->x_mean || !x->x_scale)
            return SPH_EMEMORY;
        for (size_t i = 0; i < count; i++)
            x->x_scale[i] = 1;
    }
    for (size_t i = 0; i < count; i++) {
        if (factor && factor[i] == 0)
            return onnx_refuse(&import->file, node, "multiplies feature %zu by 0", i);
        if (factor)
            x->x_scale[i] /= factor[i];
        if (shift) /* (x - mean) / scale + shift = (x - (mean - shift scale)) / scale */
            x->x_mean[i] -= shift[i] * x->x_scale[i];
        if (!isfinite(x->x_scale[i]) || !isfinite(x->x_mean[i]))
            return onnx_refuse(&import->file, node, "the standardization of feature %zu overflows", i);
    }
    return 0;
}

static void scale_layer(struct step *layer, size_t j, double factor, double shift)
{
    if (layer->norm[0]) {
        layer->norm[0][j] *= factor;
        layer->norm[1][j] = factor * layer->norm[1][j] + shift;
        return;
    }
    for (size_t i = 0; i < layer->n; i++)
        layer->w[j * layer->n + i] *= factor;
    layer->b[j] = factor * layer->b[j] + shift;
}

/* Behind an activation a factor's size goes before it, its sign stays. */
static int scale_behind(struct import *import, const Onnx__Node *node, struct step *layer,
                        const double *factor)
{
    if (!act_ops(layer->act)->homogeneous)
        return onnx_refuse(&import->file, node, "a factor after %s", act_ops(layer->act)->name);
    if (!layer->sign) {
        if (!(layer->sign = mem_get(layer->channels, sizeof *layer->sign)))
            return SPH_EMEMORY;
        for (size_t j = 0; j < layer->channels; j++)
            layer->sign[j] = 1;
    }
    for (size_t j = 0; j < layer->channels; j++) {
        scale_layer(layer, j, fabs(factor[j]), 0);
        if (factor[j] < 0)
            layer->sign[j] = -layer->sign[j];
    }
    return 0;
}

static int is_plain(const struct step *step)
{
    return step->kind == STEP_LAYER && act_ops(step->act)->identity && !step->sign;
}

size_t import_leaves(struct import *import, int sum)
{
    size_t leaves = 0;
    for (int i = 0; i <= sum; i++)
        import->step[i].leaf = i == sum;
    for (int i = sum; i >= 0; i--) {
        struct step *step = &import->step[i];
        if (!step->leaf)
            continue;
        if (i != sum && import_root(import, &import->value[step->name])->reads != 1)
            return 0;
        if (step->kind != STEP_SUM) {
            if (!is_plain(step))
                return 0;
            leaves++;
            continue;
        }
        step->leaf = 0;
        for (size_t k = 0; k < 2; k++)
            import->step[step->in[k]].leaf = 1;
    }
    return leaves;
}

void import_scale_layer(struct step *layer, size_t unit, double factor)
{
    scale_layer(layer, unit, factor, 0);
}

/* A factor goes to each layer that is added up, a shift in equal parts. */
static int scale_sum(struct import *import, const Onnx__Node *node, int sum, const double *factor,
                     const double *shift)
{
    size_t leaves = import_leaves(import, sum);
    if (!leaves)
        return onnx_refuse(&import->file, node,
                           "a constant after an addition is only supported for layers without activation "
                           "whose outputs are used once");
    for (int i = 0; i < sum; i++)
        for (size_t j = 0; import->step[i].leaf && j < import->step[i].channels; j++)
            scale_layer(&import->step[i], j, factor ? factor[j] : 1, shift ? shift[j] / (double)leaves : 0);
    return 0;
}

/* The value times factor plus shift; either may be NULL. */
static int affine(struct import *import, const Onnx__Node *node, const struct value *value,
                  const double *factor, const double *shift)
{
    struct step *step = &import->step[value->step];
    int err = 0;
    if (value->reads != 1)
        return onnx_refuse(&import->file, node,
                           "a constant with a value that is used several times is not supported");
    if (step->kind == STEP_INPUT)
        err = scale_input(import, node, factor, shift);
    else if (is_plain(step))
        for (size_t j = 0; j < step->channels; j++)
            scale_layer(step, j, factor ? factor[j] : 1, shift ? shift[j] : 0);
    else if (step->kind == STEP_LAYER && factor && !shift)
        err = scale_behind(import, node, step, factor);
    else if (step->kind == STEP_SUM)
        err = scale_sum(import, node, value->step, factor, shift);
    else
        return onnx_refuse(&import->file, node, "a constant after %s, expected a layer without activation",
                           step->kind == STEP_LAYER ? "an activation" : "an activation or a pool");
    return err < 0 ? err : import_give(import, node, VALUE_STEP, value->step, value->flat);
}

/* Add, Sub, Mul and Div: of two values, or of one and a constant. */
int take_arithmetic(struct import *import, const Onnx__Node *node)
{
    char op = node->op_type[0];
    int swapped = reads_constant(import, node, 0), commutes = op == 'A' || op == 'M', err;
    struct value value;
    double *numbers = NULL;
    if ((err = read_step(import, node, swapped ? 1 : 0, &value)) < 0)
        return err;
    if (swapped && !commutes)
        return onnx_refuse(&import->file, node, "a constant is its first input, expected it as the second");
    if ((err = read_spread(import, node, swapped ? 0 : 1, &value, &numbers)) < 0)
        return err;
    const struct step *step = &import->step[value.step];
    size_t count = step->kind == STEP_INPUT ? step_features(step) : step->channels;
    for (size_t i = 0; i < count; i++)
        if (op == 'D' && numbers[i] == 0) {
            mem_free(numbers);
            return onnx_refuse(&import->file, node, "divides by 0");
        } else if (op == 'D' || op == 'S') {
            numbers[i] = op == 'D' ? 1 / numbers[i] : -numbers[i];
        }
    int adds = op == 'A' || op == 'S';
    err = affine(import, node, &value, adds ? NULL : numbers, adds ? numbers : NULL);
    mem_free(numbers);
    return err;
}

/* A factor of -1 where it can be one: scores that others read too stay, and the node is left out. */
int take_negative(struct import *import, const Onnx__Node *node)
{
    struct value value;
    int err = read_step(import, node, 0, &value);
    if (err < 0)
        return err;
    size_t count = import->step[value.step].channels;
    if (value.reads != 1 || !is_plain(&import->step[value.step]))
        return take_head(import, node);
    double *factor = mem_get(count, sizeof *factor);
    if (!factor)
        return SPH_EMEMORY;
    for (size_t j = 0; j < count; j++)
        factor[j] = -1;
    err = affine(import, node, &value, factor, NULL);
    mem_free(factor);
    return err;
}

int take_sum(struct import *import, const Onnx__Node *node)
{
    if (reads_constant(import, node, 0) || reads_constant(import, node, 1))
        return take_arithmetic(import, node);
    struct value a, b;
    int err;
    if ((err = read_step(import, node, 0, &a)) < 0 || (err = read_step(import, node, 1, &b)) < 0)
        return err;
    if (a.flat != b.flat)
        return onnx_refuse(&import->file, node, "adds a vector and an image, expected equal shapes");
    struct step *step = import_step(import, STEP_SUM, a.step, b.step);
    if (!step)
        return SPH_EMEMORY;
    const struct step *left = &import->step[a.step], *right = &import->step[b.step];
    if (left->channels != right->channels || left->height != right->height || left->width != right->width)
        return onnx_refuse(&import->file, node,
                           "adds %zu x %zu x %zu and %zu x %zu x %zu, expected equal shapes", left->channels,
                           left->height, left->width, right->channels, right->height, right->width);
    step->channels = left->channels;
    step->height = left->height;
    step->width = left->width;
    return import_give(import, node, VALUE_STEP, (int)import->steps - 1, a.flat);
}

/* skl2onnx's (x - offset) * scale */
int take_scaler(struct import *import, const Onnx__Node *node)
{
    const char *const names[] = {"offset", "scale"};
    struct value value;
    int err = read_step(import, node, 0, &value);
    if (!err && value.reads != 1)
        return onnx_refuse(&import->file, node,
                           "scales a value that is used several times, which is not supported");
    for (size_t k = 0; !err && k < 2; k++) {
        const Onnx__Attribute *attribute = onnx_attribute(node, names[k]);
        size_t count = step_features(&import->step[0]), given = attribute ? attribute->n_floats : 0;
        if (value.step || (given != 1 && given != count))
            return onnx_refuse(&import->file, node, "'%s' has %zu numbers, expected 1 or %zu at the input",
                               names[k], given, count);
        double *numbers = mem_get(count, sizeof *numbers);
        if (!numbers)
            return SPH_EMEMORY;
        for (size_t i = 0; i < count; i++)
            numbers[i] = (k ? 1.0 : -1.0) * (double)attribute->floats[given == 1 ? 0 : i];
        err = scale_input(import, node, k ? numbers : NULL, k ? NULL : numbers);
        mem_free(numbers);
    }
    return err < 0 ? err : import_give(import, node, VALUE_STEP, 0, value.flat);
}

/* IsNaN(X), then Where(that, fill, X): what stands for a missing feature. */
int take_missing(struct import *import, const Onnx__Node *node)
{
    struct value value;
    int err = read_step(import, node, 0, &value);
    if (err < 0)
        return err;
    if (value.step || import->x.x_mean)
        return onnx_refuse(&import->file, node, "expected at the input only");
    import_root(import, import_value(import, node->input[0]))->reads--;
    return import_give(import, node, VALUE_MISSING, 0, value.flat);
}

int take_choice(struct import *import, const Onnx__Node *node)
{
    struct value which, value;
    int err = read_value(import, node, 0, &which);
    if (err < 0)
        return err;
    if (which.kind != VALUE_MISSING)
        return onnx_refuse(&import->file, node, "is not a supported operator");
    if ((err = read_step(import, node, 2, &value)) < 0)
        return err;
    struct scaling *x = &import->x;
    if (value.step || x->x_fill || x->x_mean || which.flat != value.flat)
        return onnx_refuse(&import->file, node, "expected at the input only");
    if (value.reads != 1)
        return onnx_refuse(&import->file, node,
                           "fills a value that is used several times, which is not supported");
    if ((err = read_spread(import, node, 1, &value, &x->x_fill)) < 0 ||
        (err = scale_input(import, node, NULL, NULL)) < 0)
        return err;
    return import_give(import, node, VALUE_STEP, 0, value.flat);
}
