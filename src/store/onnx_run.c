/* SPDX-License-Identifier: MIT */
#include "store/onnx_run.h"

#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/levels.h"
#include "store/onnx_run_ops.h"

struct slot {
    struct onnx_numbers value;
    int known, wanted;
    const Onnx__Tensor *constant;
    size_t uses; /* by nodes that are still to be computed */
};

struct run {
    struct onnx_budget budget;
    struct levels names;
    struct slot *slot; /* (names.count) */
    size_t capacity;
};

static struct slot *slot_of(struct run *run, const char *name)
{
    size_t index = 0;
    if (levels_place(&run->names, onnx_word(name), &index) < 0 ||
        !mem_reserve((void **)&run->slot, &run->capacity, run->names.count, sizeof *run->slot))
        return NULL;
    return &run->slot[index];
}

int onnx_run_input(const struct onnx_file *file, const Onnx__Value **out)
{
    const Onnx__Graph *graph = file->graph;
    struct levels constants = {0};
    int err = 0;
    *out = NULL;
    for (size_t i = 0; i < graph->n_initializer && !err; i++)
        err = levels_add(&constants, onnx_word(graph->initializer[i]->name)) < 0 ? SPH_EMEMORY : 0;
    for (size_t i = 0; i < graph->n_input && !err && !*out; i++)
        if (levels_seen(&constants, onnx_word(graph->input[i]->name)) == SIZE_MAX)
            *out = graph->input[i];
    levels_free(&constants);
    if (!err && (!*out || !(*out)->type || !(*out)->type->tensor_type || !(*out)->type->tensor_type->shape))
        err = sph_fail_at(SPH_EFORMAT, file->path, "the shape of its input is not known");
    return err;
}

/* From the end to the beginning: a node is needed whose result is wanted, and then what it reads is wanted too. */
static int mark(struct run *run, const char *const *names, size_t count, char *needed)
{
    const Onnx__Graph *graph = run->budget.file->graph;
    struct slot *slot;
    for (size_t i = 0; i < graph->n_initializer; i++) {
        if (!(slot = slot_of(run, graph->initializer[i]->name)))
            return SPH_EMEMORY;
        slot->constant = graph->initializer[i];
    }
    for (size_t i = 0; i < count; i++) {
        if (!(slot = slot_of(run, names[i])))
            return SPH_EMEMORY;
        slot->wanted = 1;
        slot->uses++;
    }
    for (size_t i = graph->n_node; i-- > 0;) {
        const Onnx__Node *node = graph->node[i];
        if (!(slot = slot_of(run, node->n_output ? node->output[0] : "")))
            return SPH_EMEMORY;
        needed[i] = (char)(slot->wanted && node->n_output && *onnx_word(node->output[0]));
        for (size_t k = 0; needed[i] && k < node->n_input; k++) {
            if (!(slot = slot_of(run, node->input[k])))
                return SPH_EMEMORY;
            slot->wanted = 1;
            slot->uses++;
        }
    }
    return 0;
}

static int put_input(struct run *run, const double *x, size_t rows)
{
    const Onnx__Value *input;
    int err = onnx_run_input(run->budget.file, &input);
    if (err < 0)
        return err;
    const Onnx__Shape *shape = input->type->tensor_type->shape;
    struct slot *slot = slot_of(run, input->name);
    if (!slot)
        return SPH_EMEMORY;
    if (!shape->n_dim || shape->n_dim > ONNX_MOST_DIMS)
        return sph_fail_at(SPH_EFORMAT, run->budget.file->path, "the shape of its input is not known");
    slot->value.dims = shape->n_dim;
    slot->value.shape[0] = rows;
    for (size_t i = 1; i < shape->n_dim; i++)
        slot->value.shape[i] = (size_t)shape->dim[i]->dim_value;
    size_product(&slot->value.count, slot->value.shape, slot->value.dims);
    slot->value.values = mem_get(slot->value.count, sizeof(double));
    if (!slot->value.values)
        return SPH_EMEMORY;
    memcpy(slot->value.values, x, slot->value.count * sizeof(double));
    slot->known = 1;
    return 0;
}

/* *out <- what the node reads there. Constants are read anew each time, so that they need no memory in between. */
static int take_input(struct run *run, const Onnx__Node *node, size_t i, struct onnx_numbers *out)
{
    struct slot *slot = slot_of(run, node->input[i]);
    if (!slot)
        return SPH_EMEMORY;
    if (slot->known)
        *out = slot->value;
    else if (slot->constant)
        return onnx_tensor_read(run->budget.file, slot->constant, onnx_word(node->input[i]), out);
    else if (*onnx_word(node->input[i]))
        return onnx_refuse(run->budget.file, node, "reads '%.80s', which no earlier node computes",
                           node->input[i]);
    return 0;
}

static int compute(struct run *run, const Onnx__Node *node, struct onnx_numbers *out)
{
    struct onnx_numbers in[ONNX_MOST_INPUTS] = {{{0}, 0, 0, 0, NULL}};
    const struct onnx_op_row *op = onnx_op_find(node);
    size_t count = node->n_input;
    int err = 0;
    if (!op || count < op->least || count > ONNX_MOST_INPUTS)
        return onnx_refuse(run->budget.file, node, "cannot be computed with %zu inputs", count);
    count = count < op->most ? count : op->most;
    for (size_t i = 0; i < count && !err; i++) {
        err = take_input(run, node, i, &in[i]);
        if (!err && (i < op->least || *onnx_word(node->input[i])) && !in[i].count)
            err = onnx_refuse(run->budget.file, node, "input %zu is missing or empty", i);
    }
    if (!err)
        err = op->compute(&run->budget, node, in, count, out);
    for (size_t i = 0; i < count; i++) {
        const struct slot *slot = slot_of(run, node->input[i]);
        if (!slot || !slot->known)
            mem_free(in[i].values);
    }
    if (err) {
        mem_free(out->values);
        out->values = NULL;
    }
    return err;
}

/* A result is kept until the last node that reads it. */
static int step(struct run *run, const Onnx__Node *node)
{
    struct onnx_numbers out = {0};
    int constant = !strcmp(onnx_word(node->op_type), "Constant"), err = 0;
    if (!constant)
        err = compute(run, node, &out);
    struct slot *slot = slot_of(run, node->output[0]);
    if (err || !slot) {
        mem_free(out.values);
        return err ? err : SPH_EMEMORY;
    }
    if (slot->known) {
        mem_free(out.values);
        return onnx_refuse(run->budget.file, node, "outputs '%.80s' twice", node->output[0]);
    }
    const Onnx__Attribute *value = onnx_attribute(node, "value");
    if (constant && (!value || !value->t))
        return onnx_refuse(run->budget.file, node, "expected its numbers as a tensor");
    if (constant)
        slot->constant = value->t;
    else
        slot->value = out;
    slot->known = !constant;
    for (size_t k = 0; k < node->n_input; k++) {
        struct slot *read = slot_of(run, node->input[k]);
        if (!read || --read->uses)
            continue;
        mem_free(read->value.values);
        read->value.values = NULL;
        read->known = 0;
    }
    return 0;
}

static int hand_out(struct run *run, const char *name, struct onnx_numbers *out)
{
    struct slot *slot = slot_of(run, name);
    if (!slot)
        return SPH_EMEMORY;
    if (!slot->known)
        return sph_fail_of(SPH_EFORMAT, run->budget.file->path, 0, name, "'%.80s' is computed by no node",
                           name);
    *out = slot->value;
    out->values = mem_get(out->count, sizeof *out->values);
    if (!out->values)
        return SPH_EMEMORY;
    memcpy(out->values, slot->value.values, out->count * sizeof *out->values);
    return 0;
}

int onnx_run(const struct onnx_file *file, const double *x, size_t rows, const char *const *names,
             size_t count, double most, double *work, struct onnx_numbers *out)
{
    struct run run = {.budget = {.file = file, .most = most}};
    char *needed = mem_get(file->graph->n_node, 1);
    memset(out, 0, count * sizeof *out);
    int err = needed ? mark(&run, names, count, needed) : SPH_EMEMORY;
    if (!err)
        err = put_input(&run, x, rows);
    for (size_t i = 0; i < file->graph->n_node && !err; i++)
        if (needed[i])
            err = step(&run, file->graph->node[i]);
    for (size_t i = 0; i < count && !err; i++)
        err = hand_out(&run, names[i], &out[i]);
    for (size_t i = 0; i < count && err; i++) {
        mem_free(out[i].values);
        out[i].values = NULL;
    }
    for (size_t i = 0; run.slot && i < run.names.count && i < run.capacity; i++)
        mem_free(run.slot[i].value.values);
    *work += run.budget.work;
    mem_free(run.slot);
    mem_free(needed);
    levels_free(&run.names);
    return err;
}
