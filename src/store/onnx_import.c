/* SPDX-License-Identifier: MIT
 *
 * An ONNX file as a net: what goes in, the nodes, what comes out, and the net of the steps. */
#include "store/onnx_import.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"
#include "store/model.h"
#include "store/onnx_build.h"
#include "store/onnx_check.h"

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
            return onnx_refuse(&import->file, node, "gives '%.80s' a second time", node->output[i]);
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
        double *owned[] = {step->w,       step->b,       step->sign, step->norm[0], step->norm[1],
                           step->norm[2], step->norm[3], step->mean, step->scale,   step->fill};
        for (size_t k = 0; k < sizeof owned / sizeof *owned; k++)
            mem_free(owned[k]);
    }
    mem_free(import->step);
    mem_free(import->value);
    levels_free(&import->names);
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
            return sph_fail_of(SPH_EFORMAT, import->file.path, 0, name, "output '%.80s' is given by no node",
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

static void mark_needed(struct import *import, int output)
{
    for (int i = 0; i <= output; i++)
        import->step[i].needed = i == output;
    for (int i = output; i >= 0; i--)
        for (size_t k = 0; import->step[i].needed && k < 2; k++)
            if (import->step[i].in[k] >= 0)
                import->step[import->step[i].in[k]].needed = 1;
}

/* ---------------------------------------------------------------- the net */

/* As ours are, so that `train --init` takes the result: torch's names in a net with additions, layers.K in a chain. */
static int has_names(const struct import *import, int output)
{
    int sums = 0;
    for (size_t i = 0; i <= (size_t)output; i++)
        sums += import->step[i].needed && import->step[i].kind == STEP_SUM;
    return sums > 0;
}

/* What the layer is called in its own net: export puts members.K. before the names of an ensemble's member. */
static const char *own_path(const struct step *step)
{
    unsigned member;
    int length = 0;
    if (sscanf(step->path, "members.%u.%n", &member, &length) < 1)
        length = 0;
    return step->path + length;
}

static int add_step(sph_net *net, struct step *step, const int in[2], int named)
{
    const char *path = own_path(step);
    sph_layer layer = {.path = named && *path && strncmp(path, "layers.", 7) ? path : NULL,
                       .units = step->channels,
                       .act = step->act,
                       .norm = step->norm[0] ? SPH_NORM_BN : SPH_NORM_NONE,
                       .signs = step->sign != NULL,
                       .details = {.norm_epsilon = step->epsilon}};
    switch (step->kind) {
    case STEP_INPUT:
        return sph_net_image(net, step->channels, step->height, step->width);
    case STEP_SUM:
        return sph_net_add(net, in[0], in[1]);
    case STEP_ACT:
        return sph_net_act(net, in[0], step->act);
    case STEP_POOL:
        return step->whole ? sph_net_global_pool(net, in[0])
               : step->pool == NODE_MAX_POOL
                   ? sph_net_max_pool(net, in[0], step->kernel, step->stride, step->pad)
                   : sph_net_avg_pool(net, in[0], step->kernel, step->stride, step->pad);
    case STEP_LAYER:
        if (!step->conv)
            return sph_net_dense(net, in[0], &layer);
        layer.kernel = step->kernel;
        layer.stride = step->stride;
        layer.pad = step->pad;
        layer.groups = step->groups > 1 ? step->groups : 0;
        return sph_net_conv(net, in[0], &layer);
    }
    return SPH_EARG;
}

static int set_tensor(sph_net *net, const char *layer, const char *what, const double *values, size_t count)
{
    char name[128];
    snprintf(name, sizeof name, "%s.%s", layer, what);
    return sph_net_set(net, name, values, count);
}

static int set_layer(sph_net *net, const struct step *step)
{
    static const char *const names[STEP_NORM] = {"norm.scale", "norm.shift", "norm.mean", "norm.var"};
    const char *path = net->layers[net->nodes[step->node].layer].path;
    int err = set_tensor(net, path, "weight", step->w, step->channels * step->n);
    for (size_t t = 0; !err && step->norm[0] && t < STEP_NORM; t++)
        err = set_tensor(net, path, names[t], step->norm[t], step->channels);
    if (!err && !step->norm[0])
        err = set_tensor(net, path, "bias", step->b, step->channels);
    if (!err && step->sign)
        err = set_tensor(net, path, "r", step->sign, step->channels);
    return err;
}

static int set_scaling(sph_net *net, const struct step *input)
{
    const struct scaling scaling = {.features = sph_net_inputs(net),
                                    .targets = sph_net_outputs(net),
                                    .x_mean = input->mean,
                                    .x_scale = input->scale,
                                    .x_fill = input->fill};
    return input->mean ? scaling_copy(&net->scaling, &scaling) : 0;
}

/* A file of ours says what its data were. */
static int keep_data(const struct import *import, sph_net *net)
{
    const Onnx__Model *model = import->file.model;
    json_t *data = NULL;
    int err = 0;
    if (strcmp(onnx_word(model->producer_name), "spherelu"))
        return 0;
    for (size_t i = 0; !err && i < model->n_metadata_props; i++) {
        const char *text = onnx_word(model->metadata_props[i]->value);
        if (strcmp(onnx_word(model->metadata_props[i]->key), "data"))
            continue;
        err = json_parse(&data, import->file.path, text, strlen(text));
        if (!err && json_is_object(data))
            err = sph_net_set_note(net, text);
        json_decref(data);
    }
    return err;
}

/* Numbers that f64 has and f32 has not. */
static int check_range(const sph_net *net)
{
    int err = 0;
    for (size_t i = 0; !err && i < net->tensor_count; i++) {
        const sph_tensor *view = &net->tensors[i].view;
        double *values = mem_get(view->count, sizeof *values);
        if (!values)
            return SPH_EMEMORY;
        net_read_tensor(net, &net->tensors[i], values);
        for (size_t k = 0; !err && k < view->count; k++)
            if (!isfinite(values[k]))
                err = sph_fail_key(SPH_EFORMAT, view->name,
                                   "%s overflows once constants of the graph are multiplied into it",
                                   view->name);
        mem_free(values);
    }
    return err;
}

static int build(sph_net **out, struct import *import, int output, sph_dtype dtype)
{
    sph_net *net = NULL;
    mark_needed(import, output);
    int err = sph_net_new(&net, dtype), named = has_names(import, output);
    for (size_t i = 0; !err && i <= (size_t)output; i++) {
        struct step *step = &import->step[i];
        int in[2] = {-1, -1};
        for (size_t k = 0; k < 2; k++)
            if (step->in[k] >= 0)
                in[k] = import->step[step->in[k]].node;
        if (!step->needed)
            continue;
        step->node = add_step(net, step, in, named);
        err = step->node < 0 ? step->node : 0;
    }
    if (!err)
        err = net_finish(net, import->step[output].node);
    for (size_t i = 0; !err && i <= (size_t)output; i++)
        if (import->step[i].needed && import->step[i].kind == STEP_LAYER)
            err = set_layer(net, &import->step[i]);
    if (!err && !(err = check_range(net)) && !(err = set_scaling(net, &import->step[0])))
        err = keep_data(import, net);
    if (err < 0) {
        err = err == SPH_EARG ? SPH_EFORMAT : err; /* what the file asks for */
        sph_net_free(net);
        return sph_fail_move(err, import->file.path, 0, 0);
    }
    *out = net;
    return 0;
}

/* ---------------------------------------------------------------- members of an ensemble */

/* 1: a file of ours whose output is the sum of nets that it calls members.0, members.1, ... */
static int is_mean(const struct import *import, int output)
{
    if (strcmp(onnx_word(import->file.model->producer_name), "spherelu") ||
        import->step[output].kind != STEP_SUM)
        return 0;
    unsigned expected = 0, member;
    for (int i = 0; i < output; i++)
        if (import->step[i].leaf &&
            (sscanf(import->step[i].path, "members.%u.", &member) < 1 || member != expected++))
            return 0;
    return 1;
}

/* *out (count) <- the steps that the nets end with: one, or those whose mean the graph gives. Caller frees. */
static int find_members(struct import *import, int output, int **out, size_t *count)
{
    size_t leaves = output >= 0 && import->step[output].kind == STEP_SUM ? import_leaves(import, output) : 0;
    int mean = leaves > 1 && is_mean(import, output);
    *count = 0;
    if (!(*out = mem_get(import->steps, sizeof **out)))
        return SPH_EMEMORY;
    for (size_t i = 0; i < import->steps; i++) {
        struct step *step = &import->step[i];
        if (output == SEVERAL ? step->scored : mean ? step->leaf : (int)i == output)
            (*out)[(*count)++] = (int)i;
        for (size_t j = 0; mean && step->leaf && j < step->channels; j++)
            import_scale_layer(step, j, (double)leaves);
    }
    return 0;
}

/* layer (steps) <- the layers of the net that ends there, in their order. Returns how many. */
static size_t list_layers(struct import *import, int output, int *layer)
{
    size_t count = 0;
    mark_needed(import, output);
    for (int i = 0; i <= output; i++)
        if (import->step[i].needed && import->step[i].kind == STEP_LAYER)
            layer[count++] = i;
    return count;
}

/* A member whose factors behind an activation are all positive has no Mul there, and is of one shape with the others. */
static int even_signs(struct import *import, const int *member, size_t count)
{
    int *first = mem_get(import->steps, sizeof *first), *other = mem_get(import->steps, sizeof *other),
        err = first && other ? 0 : SPH_EMEMORY;
    for (size_t k = 1; k < 2 * count && !err;
         k++) { /* the second time around from a first that has them all */
        size_t layers = list_layers(import, member[0], first);
        if (list_layers(import, member[k % count], other) != layers)
            break;
        for (size_t l = 0; l < layers && !err; l++) {
            struct step *a = &import->step[first[l]], *b = &import->step[other[l]], *bare = !a->sign ? a : b;
            if (!a->sign == !b->sign || a->channels != b->channels)
                continue;
            if (!(bare->sign = mem_get(bare->channels, sizeof *bare->sign)))
                err = SPH_EMEMORY;
            for (size_t j = 0; !err && j < bare->channels; j++)
                bare->sign[j] = 1;
        }
    }
    mem_free(first);
    mem_free(other);
    return err;
}

/* How the graph's outputs follow from what the nets give. */
static enum loss_link find_link(const struct import *import, int output)
{
    return output != SEVERAL  ? LOSS_AS_IT_IS
           : import->softmax  ? LOSS_SOFTMAX
           : import->logistic ? LOSS_LOGISTIC
                              : LOSS_EXP;
}

/* For each output of the graph the value that has to be what the nets give. */
static int compare(struct import *import, sph_net *const *nets, size_t count, int output, size_t *rows)
{
    const Onnx__Graph *graph = import->file.graph;
    struct onnx_claim claim = {.nets = nets,
                               .count = count,
                               .link = find_link(import, output),
                               .predicts = output == SEVERAL,
                               .outputs = graph->n_output};
    const char **values = mem_get(graph->n_output, sizeof *values);
    for (size_t i = 0; values && i < graph->n_output; i++) {
        const struct value *value = import_value(import, graph->output[i]->name);
        values[i] = onnx_word(graph->output[i]->name);
        if (value && value->kind == VALUE_HEAD && value->step >= 0)
            values[i] = import->names.text[import->step[value->step].name];
    }
    claim.value = values;
    int err = values ? onnx_check(&import->file, &claim, rows) : SPH_EMEMORY;
    mem_free(values);
    return err;
}

static int build_all(struct import *import, const int *member, size_t count, sph_dtype dtype, sph_net **nets)
{
    int err = 0;
    for (size_t k = 0; k < count && !err; k++)
        err = build(&nets[k], import, member[k], dtype);
    return err;
}

static void free_all(sph_net **nets, size_t count)
{
    for (size_t k = 0; nets && k < count; k++) {
        sph_net_free(nets[k]);
        nets[k] = NULL;
    }
}

/* The nets in f64 are compared with the graph; where all its constants are f32, so are the nets then. */
static int build_checked(struct import *import, int output, sph_net ***out, size_t *count, size_t *rows)
{
    int *member = NULL;
    sph_net **nets = NULL;
    int err = find_members(import, output, &member, count);
    if (!err && !(nets = mem_get(*count, sizeof(sph_net *))))
        err = SPH_EMEMORY;
    if (!err && *count > 1)
        err = even_signs(import, member, *count);
    if (!err)
        err = build_all(import, member, *count, SPH_F64, nets);
    for (size_t k = 1; k < *count && !err; k++)
        if ((err = model_check_member(import->file.path, nets[0], nets[k], k)) == SPH_EARG)
            err = sph_fail_move(SPH_EFORMAT, import->file.path, 0, 0);
    if (!err && !(err = compare(import, nets, *count, output, rows)) && !import->is_double) {
        free_all(nets, *count);
        err = build_all(import, member, *count, SPH_F32, nets);
    }
    mem_free(member);
    if (err < 0) {
        free_all(nets, *count);
        mem_free(nets);
        return err;
    }
    *out = nets;
    return 0;
}

/* Caller frees with model_free_members. */
static int import_members(sph_net ***out, const char *path, sph_imported *result)
{
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
        (err = build_checked(&import, output, out, &members, &rows)) < 0)
        goto out;
    const Onnx__Node *first = import.first_dropped;
    *result = (sph_imported){.nodes = import.file.graph->n_node,
                             .dropped = members > 1 ? 0 : import.dropped,
                             .members = members,
                             .rows = rows};
    if (first && members == 1)
        snprintf(result->first, sizeof result->first, "%s (%s)", onnx_word(first->name),
                 onnx_word(first->op_type));
    sph_plain(result->first, strlen(result->first));
out:
    import_free(&import);
    return err;
}

int sph_net_import(sph_net **out, const char *path, sph_imported *result)
{
    sph_imported ignored;
    sph_net **nets = NULL;
    result = result ? result : &ignored;
    int err = import_members(&nets, path, result);
    if (err < 0)
        return err;
    if (result->members > 1) {
        model_free_members(nets, result->members);
        return sph_fail_at(
            SPH_EFORMAT, path,
            "an ensemble of %zu nets, expected one net; spherelu import and sph_import read it",
            result->members);
    }
    *out = nets[0];
    mem_free(nets);
    return 0;
}

int sph_import(const char *in, const char *out, sph_imported *result)
{
    sph_imported ignored = {0};
    sph_net **nets = NULL;
    json_t *data = NULL;
    sph_imported *here = result ? result : &ignored;
    int err = import_members(&nets, in, here);
    if (err < 0)
        return err;
    const char *note = sph_net_note(nets[0]);
    if (*note)
        err = json_parse(&data, in, note, strlen(note));
    if (!err)
        err = model_save_members(out, nets, here->members, data);
    json_decref(data);
    here->learned = here->members * sph_net_learned(nets[0]);
    here->net = NULL;
    if (!err && result) {
        result->net = nets[0];
        nets[0] = NULL;
    }
    model_free_members(nets, here->members);
    return err;
}
