/* SPDX-License-Identifier: MIT
 *
 * An ONNX file as a net, or several: what goes in, the nodes, what comes out. */
#include "store/onnx_import.h"

#include <stdio.h>
#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/tool.h"
#include "store/model.h"
#include "store/onnx_build.h"

/* ---------------------------------------------------------------- names and steps */

struct value *import_value(struct import *import, const char *name)
{
    size_t index = 0;
    if (levels_place(&import->names, onnx_word(name), &index) < 0 ||
        !mem_reserve((void **)&import->value, &import->value_capacity, import->names.count,
                     sizeof *import->value))
        return NULL;
    if (import->values < import->names.count)
        import->values = import->names.count;
    return &import->value[index];
}

struct value *import_root(struct import *import, struct value *value)
{
    return value->root ? &import->value[value->root - 1] : value;
}

struct step *import_step(struct import *import, enum step_kind kind, int a, int b)
{
    if (!mem_reserve((void **)&import->step, &import->step_capacity, import->steps + 1, sizeof *import->step))
        return NULL;
    struct step *step = &import->step[import->steps++];
    *step = (struct step){.kind = kind, .in = {a, b}, .node = -1};
    return step;
}

int import_give(struct import *import, const Onnx__Node *node, enum value_kind kind, int step, int flat)
{
    for (size_t i = 0; i < node->n_output; i++) {
        struct value *value = import_value(import, node->output[i]);
        if (!value)
            return SPH_EMEMORY;
        if (*onnx_word(node->output[i]) && value->kind != VALUE_NONE)
            return onnx_refuse(&import->file, node, "outputs '%.80s' twice", node->output[i]);
        value->kind = i && kind != VALUE_HEAD ? VALUE_SIDE : kind;
        value->step = step;
        value->flat = flat;
        if (!i && kind == VALUE_STEP)
            import->step[step].name = (size_t)(value - import->value);
    }
    return 0;
}

static void import_free(struct import *import)
{
    for (size_t i = 0; i < import->steps; i++) {
        struct step *step = &import->step[i];
        double *owned[] = {step->w,       step->b,       step->sign,   step->norm[0],
                           step->norm[1], step->norm[2], step->norm[3]};
        for (size_t k = 0; k < sizeof owned / sizeof *owned; k++)
            mem_free(owned[k]);
    }
    scaling_free(&import->x);
    mem_free(import->step);
    mem_free(import->value);
    levels_free(&import->names);
    levels_free(&import->paths);
    onnx_close(&import->file);
}

/* ---------------------------------------------------------------- what goes in */

/* 1: its first result is its first input under another name. */
static int is_alias(const Onnx__Node *node)
{
    static const char *const ops[] = {"Identity", "Dropout", "Cast", "Flatten", "Reshape"};
    for (size_t i = 0; node->n_input && node->n_output && i < sizeof ops / sizeof *ops; i++)
        if (!strcmp(onnx_word(node->op_type), ops[i]))
            return 1;
    return 0;
}

/* What a node reads counts for the value, whichever of its names the node uses. */
static int count_reads(struct import *import, const Onnx__Node *node)
{
    int alias = is_alias(node);
    for (size_t k = 0; k < node->n_input; k++) {
        struct value *value = import_value(import, node->input[k]);
        if (!value)
            return SPH_EMEMORY;
        value = import_root(import, value);
        if (!alias || k) {
            value->reads++;
            continue;
        }
        size_t root = (size_t)(value - import->value) + 1;
        struct value *name = import_value(import, node->output[0]);
        if (!name)
            return SPH_EMEMORY;
        if (name != &import->value[root - 1])
            name->root = root;
    }
    return 0;
}

static int add_constants(struct import *import)
{
    const Onnx__Graph *graph = import->file.graph;
    for (size_t i = 0; i < graph->n_initializer; i++) {
        struct value *value = import_value(import, graph->initializer[i]->name);
        if (!value)
            return SPH_EMEMORY;
        *value = (struct value){.kind = VALUE_CONSTANT, .tensor = graph->initializer[i]};
    }
    for (size_t i = 0; i < graph->n_node; i++)
        if (count_reads(import, graph->node[i]) < 0)
            return SPH_EMEMORY;
    for (size_t i = 0; i < graph->n_output; i++) {
        struct value *value = import_value(import, graph->output[i]->name);
        if (!value)
            return SPH_EMEMORY;
        import_root(import, value)->reads++;
    }
    return 0;
}

/* Dimensions of what goes in but for the first, which counts rows. */
static int read_input_shape(const struct import *import, const Onnx__Value *input, struct step *step,
                            int *flat)
{
    const char *path = import->file.path, *name = onnx_word(input->name);
    const Onnx__TensorType *type = input->type ? input->type->tensor_type : NULL;
    const Onnx__Shape *shape = type ? type->shape : NULL;
    size_t size[3] = {1, 1, 1}, dims = shape ? shape->n_dim : 0, all;
    if (dims != 2 && dims != 4)
        return sph_fail_of(
            SPH_EFORMAT, path, 0, name,
            "input '%.80s' has %zu dimensions, expected (N, features) or (N, channels, height, width)", name,
            dims);
    if (type->elem_type != ONNX_FLOAT && type->elem_type != ONNX_DOUBLE)
        return sph_fail_of(SPH_EFORMAT, path, 0, name,
                           "input '%.80s' is of type %d, expected f32 (1) or f64 (11)", name,
                           type->elem_type);
    for (size_t i = 1; i < dims; i++) {
        const Onnx__Dimension *dim = shape->dim[i];
        if (!dim->has_dim_value || dim->dim_value < 1)
            return sph_fail_of(SPH_EFORMAT, path, 0, name,
                               "input '%.80s': dimension %zu is %s, expected a number of 1 or more: export "
                               "it with that fixed",
                               name, i, dim->has_dim_value ? "below 1" : "open");
        size[i - 1] = (size_t)dim->dim_value;
    }
    if (!size_product(&all, size, 3) || all > SIZE_MAX / 1024 || !mem_allows(all * sizeof(double)))
        return sph_fail_of(SPH_EFORMAT, path, 0, name, "input '%.80s' is larger than memory", name);
    step->channels = size[0];
    step->height = size[1];
    step->width = size[2];
    *flat = dims == 2;
    return 0;
}

static int add_input(struct import *import)
{
    const Onnx__Graph *graph = import->file.graph;
    const Onnx__Value *input = NULL;
    for (size_t i = 0; i < graph->n_input; i++) {
        const struct value *value = import_value(import, graph->input[i]->name);
        if (!value)
            return SPH_EMEMORY;
        if (value->kind == VALUE_CONSTANT) /* older files list constants as well */
            continue;
        if (input)
            return sph_fail_of(SPH_EFORMAT, import->file.path, 0, "input",
                               "inputs '%.60s' and '%.60s', expected one", onnx_word(input->name),
                               onnx_word(graph->input[i]->name));
        input = graph->input[i];
    }
    if (!input)
        return sph_fail_of(SPH_EFORMAT, import->file.path, 0, "input", "the graph has no input");
    struct step *step = import_step(import, STEP_INPUT, -1, -1);
    struct value *value = step ? import_value(import, input->name) : NULL;
    if (!value)
        return SPH_EMEMORY;
    value->kind = VALUE_STEP;
    value->step = 0;
    return read_input_shape(import, input, step, &value->flat);
}

/* ---------------------------------------------------------------- what comes out */

/* The one step that all outputs come from, also by way of probabilities and labels; or SEVERAL. */
static int find_output(struct import *import, int *out)
{
    const Onnx__Graph *graph = import->file.graph;
    *out = -1;
    for (size_t i = 0; i < graph->n_output; i++) {
        const char *name = onnx_word(graph->output[i]->name);
        const struct value *value = import_value(import, name);
        if (!value)
            return SPH_EMEMORY;
        if (value->kind != VALUE_STEP && value->kind != VALUE_HEAD)
            return sph_fail_of(SPH_EFORMAT, import->file.path, 0, name, "no node computes output '%.80s'",
                               name);
        if (i && *out != value->step)
            return sph_fail_of(
                SPH_EFORMAT, import->file.path, 0, name,
                "output '%.80s' comes from another layer than the one before, expected one output", name);
        *out = value->step;
    }
    if (*out == -1)
        return sph_fail_of(SPH_EFORMAT, import->file.path, 0, "output", "the graph has no output");
    if (!*out)
        return sph_fail_of(SPH_EFORMAT, import->file.path, 0, "output", "the graph has no layer");
    return 0;
}

/* ---------------------------------------------------------------- the file */

int sph_nets_import(sph_net ***out, size_t *count, const char *path, sph_imported *result)
{
    NEED(out, count, path);
    struct import import = {0};
    size_t members = 0, rows = 0;
    int output = -1, err;
    if ((err = onnx_open(&import.file, path)) < 0 || (err = add_constants(&import)) < 0 ||
        (err = add_input(&import)) < 0)
        goto out;
    if (import.file.graph->n_node > ONNX_MOST_NODES)
        err = sph_fail_of(SPH_EFORMAT, path, 0, "node", "%zu nodes, expected at most %d",
                          import.file.graph->n_node, ONNX_MOST_NODES);
    for (size_t i = 0; !err && i < import.file.graph->n_node; i++)
        err = import_node(&import, import.file.graph->node[i]);
    if (err < 0 || (err = find_output(&import, &output)) < 0 ||
        (err = import_nets(&import, output, out, &members, &rows)) < 0)
        goto out;
    const Onnx__Node *first = import.first_dropped;
    *count = members;
    if (!result)
        goto out;
    *result = (sph_imported){
        .nodes = import.file.graph->n_node, .dropped = members > 1 ? 0 : import.dropped, .rows = rows};
    if (first && members == 1)
        snprintf(result->first, sizeof result->first, "%s (%s)", onnx_word(first->name),
                 onnx_word(first->op_type));
    sph_plain(result->first, strlen(result->first));
out:
    import_free(&import);
    return err;
}
