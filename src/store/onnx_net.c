/* SPDX-License-Identifier: MIT
 *
 * The steps of a graph as a net, or as the members of an ensemble; and that these compute what the graph does. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "store/model.h"
#include "store/onnx_check.h"
#include "store/onnx_import.h"

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
    sph_layer layer = {.size = sizeof(sph_layer),
                       .path = named && *path && strncmp(path, "layers.", 7) ? path : NULL,
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
    case STEP_MAX_POOL:
    case STEP_MEAN_POOL:
        return !step->window.kernel ? sph_net_global_pool(net, in[0])
               : step->kind == STEP_MAX_POOL
                   ? sph_net_max_pool(net, in[0], step->window.kernel, step->window.stride, step->window.pad)
                   : sph_net_avg_pool(net, in[0], step->window.kernel, step->window.stride, step->window.pad);
    case STEP_LAYER:
        if (!step->window.kernel)
            return sph_net_dense(net, in[0], &layer);
        layer.kernel = step->window.kernel;
        layer.stride = step->window.stride;
        layer.pad = step->window.pad;
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

static int set_scaling(sph_net *net, const struct scaling *x)
{
    struct scaling scaling = *x;
    scaling.features = sph_net_inputs(net);
    scaling.targets = sph_net_outputs(net);
    return x->x_mean ? scaling_copy(&net->scaling, &scaling) : 0;
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
                                   "%s overflows when constants of the graph are multiplied into it",
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
    if (!err && !(err = check_range(net)) && !(err = set_scaling(net, &import->x)))
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

int import_nets(struct import *import, int output, sph_net ***out, size_t *count, size_t *rows)
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
