/* SPDX-License-Identifier: MIT */
#include "store/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "net/net.h"
#include "store/architecture.h"
#include "store/safetensors.h"

/* ---------------------------------------------------------------- standardisation */

struct scaling_array {
    const char *name;
    double **values;
    size_t count;
    int is_scale;
};

enum { SCALING_ARRAYS = 5 };

static void list_scaling(struct scaling *s, struct scaling_array out[SCALING_ARRAYS])
{
    const struct scaling_array arrays[SCALING_ARRAYS] = {
        {"x_mean", &s->x_mean, s->features, 0},  {"x_scale", &s->x_scale, s->features, 1},
        {"x_fill", &s->x_fill, s->features, 0},  {"y_mean", &s->y_mean, s->targets, 0},
        {"y_scale", &s->y_scale, s->targets, 1},
    };
    memcpy(out, arrays, sizeof arrays);
}

static int put_scaling(json_t *object, const sph_net *net, const char *path)
{
    struct scaling scaling = net->scaling;
    struct scaling_array arrays[SCALING_ARRAYS];
    list_scaling(&scaling, arrays);
    if (!scaling.features && !scaling.targets)
        return 0;
    json_t *part = json_pack("{s:I, s:I}", "features", (json_int_t)scaling.features, "targets",
                             (json_int_t)scaling.targets);
    int missing = !part;
    for (size_t a = 0; a < SCALING_ARRAYS; a++) {
        const double *values = *arrays[a].values;
        for (size_t i = 0; values && i < arrays[a].count; i++)
            if (!isfinite(values[i])) {
                json_decref(part);
                return sph_fail(SPH_EARG, "%s: standardisation: %s of column %zu is %g", path, arrays[a].name,
                                i, values[i]);
            }
        if (values)
            missing |= json_object_set_new(part, arrays[a].name, json_numbers(values, arrays[a].count)) < 0;
    }
    missing |= json_object_set_new(object, "standardisation", part) < 0;
    return missing ? sph_fail(SPH_EMEMORY, "%s: out of memory", path) : 0;
}

static int get_scaling(sph_net *net, const json_t *object, const char *where)
{
    struct scaling *scaling = &net->scaling;
    int err;
    if ((err = json_member_size(object, where, "features", &scaling->features)) < 0 ||
        (err = json_member_size(object, where, "targets", &scaling->targets)) < 0)
        return err;
    if (scaling->features && scaling->features != sph_net_inputs(net))
        return sph_fail(SPH_EFORMAT, "%s: standardisation of %zu features, the net has %zu", where,
                        scaling->features, sph_net_inputs(net));
    struct scaling_array arrays[SCALING_ARRAYS];
    list_scaling(scaling, arrays);
    for (size_t a = 0; a < SCALING_ARRAYS; a++) {
        size_t count = 0, expected = arrays[a].name[0] == 'x' ? sph_net_inputs(net) : sph_net_outputs(net);
        if (!json_object_get(object, arrays[a].name))
            continue;
        if (arrays[a].count != expected)
            return sph_fail(SPH_EFORMAT, "%s: standardisation of %zu columns, the net has %zu", where,
                            arrays[a].count, expected);
        if ((err = json_member_reals(object, where, arrays[a].name, arrays[a].values, &count)) < 0)
            return err;
        if (count != expected)
            return sph_fail(SPH_EFORMAT, "%s: \"%s\" has %zu numbers, expected %zu", where, arrays[a].name,
                            count, expected);
        for (size_t i = 0; arrays[a].is_scale && i < count; i++)
            if ((*arrays[a].values)[i] == 0)
                return sph_fail(SPH_EFORMAT, "%s: \"%s\"[%zu] is 0", where, arrays[a].name, i);
    }
    return 0;
}

/* ---------------------------------------------------------------- saving */

static int describe(struct text *out, const char *path, const sph_net *net, const json_t *data)
{
    json_t *architecture = NULL, *object = NULL;
    int err = architecture_of(&architecture, net);
    if (err < 0)
        return sph_fail_in(err, "%s", path);
    object = json_pack("{s:i, s:o}", "format", MODEL_FORMAT, "architecture", architecture);
    if (!object)
        return sph_fail(SPH_EMEMORY, "%s: out of memory", path);
    err = put_scaling(object, net, path);
    if (!err && data && json_object_set(object, "data", (json_t *)data) < 0)
        err = sph_fail(SPH_EMEMORY, "%s: out of memory", path);
    if (!err)
        err = json_print(out, object, 0);
    json_decref(object);
    return err;
}

static size_t largest_tensor(const sph_net *net)
{
    size_t largest = 0;
    for (size_t i = 0; i < net->tensor_count; i++)
        if (net->tensors[i].view.count > largest)
            largest = net->tensors[i].view.count;
    return largest;
}

int model_save(const char *path, const sph_net *net, const json_t *data)
{
    if (!net->ready)
        return sph_fail(SPH_EARG, "%s: the net is not ready: call sph_net_ready first", path);
    struct text metadata = {0};
    struct st_writer writer = {0};
    size_t largest = largest_tensor(net);
    enum st_dtype dtype = net->dtype == SPH_F32 ? ST_F32 : ST_F64;
    double *values = mem_get(largest, sizeof *values);
    char *bytes = mem_get(largest, net->k->size);
    int err = values && bytes ? 0 : SPH_EMEMORY;
    if (err < 0 || (err = describe(&metadata, path, net, data)) < 0 ||
        (err = st_writer_begin(&writer, path)) < 0 ||
        (err = st_writer_metadata(&writer, MODEL_METADATA, metadata.chars)) < 0)
        goto out;
    for (size_t i = 0; i < net->tensor_count && !err; i++) {
        const sph_tensor *view = &net->tensors[i].view;
        err = st_writer_tensor(&writer, view->name, dtype, view->shape, view->ndim);
    }
    for (size_t i = 0; i < net->tensor_count && !err; i++) {
        const struct net_tensor *tensor = &net->tensors[i];
        net_read_tensor(net, tensor, values);
        net->k->from_double(tensor->view.count, values, bytes);
        err = st_writer_data(&writer, bytes, tensor->view.count * net->k->size);
    }
    if (!err)
        err = st_writer_commit(&writer);
out:
    st_writer_abort(&writer);
    text_free(&metadata);
    mem_free(bytes);
    mem_free(values);
    return err;
}

/* ---------------------------------------------------------------- tensors of a file against a net */

static void print_shape(char *out, size_t size, const size_t *shape, size_t ndim)
{
    size_t used = (size_t)snprintf(out, size, "(");
    for (size_t i = 0; i < ndim && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%zu", i ? ", " : "", shape[i]);
    if (used < size)
        snprintf(out + used, size - used, ")");
}

static int check_shape(const struct st_tensor *found, const size_t *shape, size_t ndim)
{
    if (!st_dtype_is_real(found->dtype))
        return sph_fail(SPH_EFORMAT, "%s: %.120s is %s, expected F32, F64, F16 or BF16", found->file,
                        found->name, st_dtype_name(found->dtype));
    if (found->ndim == ndim && !memcmp(found->shape, shape, ndim * sizeof *shape))
        return 0;
    char there[200], here[64];
    print_shape(there, sizeof there, found->shape, found->ndim);
    print_shape(here, sizeof here, shape, ndim);
    return sph_fail(SPH_EFORMAT, "%s: %.120s has shape %s, the net's is %s", found->file, found->name, there,
                    here);
}

static int missing_tensor(const struct safetensors *file, const char *name)
{
    return sph_fail(SPH_EFORMAT, "%s: %s is missing", file->path, name);
}

/* Before a net of a file's description is laid out: its weights are as large as the file says. Everything
 * else of a layer is smaller, so that no description makes a net larger than its file. */
static int check_weights(const struct safetensors *file, const sph_net *net)
{
    for (size_t l = 0; l < net->layer_count; l++) {
        const struct net_layer *layer = &net->layers[l];
        for (size_t t = 0; t < layer->ops->tensors; t++) {
            size_t shape[4], ndim = net_raw_shape(layer, t, shape);
            char name[128];
            snprintf(name, sizeof name, "%s.%s", layer->path, layer->ops->tensor[t].name);
            const struct st_tensor *found = ndim ? safetensors_find(file, name) : NULL;
            int err = !ndim ? 0 : !found ? missing_tensor(file, name) : check_shape(found, shape, ndim);
            if (err < 0)
                return err;
        }
    }
    return 0;
}

static int check_tensors(const struct safetensors *file, const sph_net *net, int all)
{
    for (size_t i = 0; i < net->tensor_count; i++) {
        const sph_tensor *view = &net->tensors[i].view;
        const struct st_tensor *found = safetensors_find(file, view->name);
        int err = found                  ? check_shape(found, view->shape, view->ndim)
                  : all || view->learned ? missing_tensor(file, view->name)
                                         : 0;
        if (err < 0)
            return err;
    }
    for (size_t i = 0; i < file->count; i++)
        if (!net_find_tensor(net, file->tensor[i].name))
            return sph_fail(SPH_EFORMAT, "%s: the net has no tensor %.120s", file->path,
                            file->tensor[i].name);
    return 0;
}

/* Constants that the net relies on: signs are +-1, variances not negative. */
static int check_state(const struct safetensors *file, const sph_net *net, double *values)
{
    for (size_t i = 0; i < net->tensor_count; i++) {
        const struct net_tensor *tensor = &net->tensors[i];
        const struct net_layer *layer = &net->layers[tensor->layer];
        int is_sign = tensor->at == layer->sign || tensor->at == layer->output_sign,
            is_var = tensor->at == layer->var;
        const struct st_tensor *found = safetensors_find(file, tensor->view.name);
        if (tensor->view.learned || !found || (!is_sign && !is_var))
            continue;
        int err = safetensors_to_double(found, values);
        if (err < 0)
            return err;
        for (size_t j = 0; j < found->count; j++)
            if ((is_sign && fabs(values[j]) != 1) || (is_var && values[j] < 0))
                return sph_fail(SPH_EFORMAT, "%s: %s[%zu] is %g, expected %s", file->path, found->name, j,
                                values[j], is_sign ? "1 or -1" : "0 or more");
    }
    return 0;
}

/* The file's numbers into the net: all that fit, or none and an error. */
static int take_tensors(sph_net *net, const struct safetensors *file, int all)
{
    int err = check_tensors(file, net, all);
    if (err < 0)
        return err;
    double *values = mem_get(largest_tensor(net), sizeof *values);
    if (!values)
        return SPH_EMEMORY;
    err = check_state(file, net, values);
    for (size_t i = 0; i < net->tensor_count && !err; i++) {
        const struct st_tensor *found = safetensors_find(file, net->tensors[i].view.name);
        if (!found)
            continue;
        err = safetensors_to_double(found, values); /* cannot fail: the dtype was looked at */
        if (!err)
            net_write_tensor(net, &net->tensors[i], values);
    }
    mem_free(values);
    return err;
}

/* ---------------------------------------------------------------- opening */

static int open_described(sph_net **out, json_t **data, const struct safetensors *file, const char *text)
{
    char where[512];
    json_t *object = NULL;
    const json_t *architecture = NULL, *part;
    sph_net *net = NULL;
    size_t format = 0;
    int output = 0, err;
    snprintf(where, sizeof where, "%.400s: metadata", file->path);
    if ((err = json_parse(&object, where, text, strlen(text))) < 0 ||
        (err = json_member_size(object, where, "format", &format)) < 0)
        goto out;
    if (format != MODEL_FORMAT) {
        err = sph_fail(SPH_EFORMAT, "%s: format %zu, this version reads %d", where, format, MODEL_FORMAT);
        goto out;
    }
    if (json_object_get(object, "checkpoint")) {
        err = sph_fail(SPH_EFORMAT, "%s: a checkpoint, expected a model", file->path);
        goto out;
    }
    if ((err = json_member_object(object, where, "architecture", &architecture)) < 0 ||
        (err = architecture_build(&net, &output, architecture, where)) < 0 ||
        (err = check_weights(file, net)) < 0 || (err = sph_net_ready(net, output, 0)) < 0 ||
        (err = take_tensors(net, file, 1)) < 0)
        goto out;
    if (json_object_get(object, "standardisation") &&
        ((err = json_member_object(object, where, "standardisation", &part)) < 0 ||
         (err = get_scaling(net, part, where)) < 0))
        goto out;
    if (data && json_object_get(object, "data")) {
        if ((err = json_member_object(object, where, "data", &part)) < 0)
            goto out;
        *data = json_incref((json_t *)part);
    }
    *out = net;
    net = NULL;
out:
    json_decref(object);
    sph_net_free(net);
    return err;
}

/* Layer k of a file that holds nothing but weights and biases. */
static int add_plain_layer(sph_net *net, const struct safetensors *file, size_t k, size_t layers)
{
    char name[64];
    snprintf(name, sizeof name, "layers.%zu.weight", k);
    const struct st_tensor *weight = safetensors_find(file, name);
    snprintf(name, sizeof name, "layers.%zu.bias", k);
    const struct st_tensor *bias = safetensors_find(file, name);
    size_t inputs = k ? node_features(&net->nodes[k]) : weight->shape[1];
    if (weight->ndim != 2)
        return sph_fail(SPH_EFORMAT, "%s: %s has %zu dimensions, expected 2: units and inputs", file->path,
                        weight->name, weight->ndim);
    int err = check_shape(weight, (size_t[]){weight->shape[0], inputs}, 2);
    if (!err && bias)
        err = check_shape(bias, weight->shape, 1);
    if (!err && !k)
        err = sph_net_input(net, inputs);
    if (err < 0)
        return k ? err : sph_fail_in(err, "%s", file->path);
    err = sph_net_dense(
        net, (int)k,
        &(sph_layer){.units = weight->shape[0], .act = k + 1 < layers ? SPH_ACT_RELU : SPH_ACT_IDENTITY});
    return err < 0 ? sph_fail_in(err, "%s", file->path) : 0;
}

/* layers.K.weight or layers.K.bias with K below layers, written as we write it. */
static int is_plain_name(const char *name, size_t layers)
{
    char weight[64], bias[64];
    size_t k = 0;
    if (sscanf(name, "layers.%18zu.", &k) != 1 || k >= layers)
        return 0;
    snprintf(weight, sizeof weight, "layers.%zu.weight", k);
    snprintf(bias, sizeof bias, "layers.%zu.bias", k);
    return !strcmp(name, weight) || !strcmp(name, bias);
}

/* How many layers the file has if it is layers.0 ... and nothing else; 0 with *stranger set if not. */
static size_t plain_layers(const struct safetensors *file, const char **stranger)
{
    size_t layers = 0;
    char name[64];
    while (snprintf(name, sizeof name, "layers.%zu.weight", layers), safetensors_find(file, name))
        layers++;
    *stranger = "nothing";
    for (size_t i = 0; i < file->count; i++)
        if (!is_plain_name(file->tensor[i].name, layers)) {
            *stranger = file->tensor[i].name;
            return 0;
        }
    return layers;
}

static int open_plain(sph_net **out, const struct safetensors *file)
{
    const char *stranger;
    size_t layers = plain_layers(file, &stranger);
    if (!layers)
        return sph_fail(
            SPH_EFORMAT,
            "%s: no spherelu metadata, and not layers.0.weight, layers.0.bias, ... alone: it holds %.120s",
            file->path, stranger);
    sph_net *net = NULL;
    sph_dtype dtype = SPH_F32;
    for (size_t i = 0; i < file->count; i++)
        if (file->tensor[i].dtype == ST_F64)
            dtype = SPH_F64;
    int err = sph_net_new(&net, dtype);
    for (size_t k = 0; k < layers && !err; k++)
        err = add_plain_layer(net, file, k, layers);
    if (!err)
        err = sph_net_ready(net, (int)layers, 0);
    double *values = err ? NULL : mem_get(largest_tensor(net), sizeof *values);
    if (!err && !values)
        err = SPH_EMEMORY;
    for (size_t i = 0; !err && i < net->tensor_count; i++) {
        const struct st_tensor *found = safetensors_find(file, net->tensors[i].view.name);
        if (!found)
            continue; /* a layer without bias: it is 0 */
        err = safetensors_to_double(found, values);
        if (!err)
            net_write_tensor(net, &net->tensors[i], values);
    }
    mem_free(values);
    if (err < 0) {
        sph_net_free(net);
        return err;
    }
    *out = net;
    return 0;
}

int model_open(sph_net **out, json_t **data, const char *path)
{
    struct safetensors file;
    if (data)
        *data = NULL;
    int err = safetensors_open(&file, path);
    if (err < 0)
        return err;
    const char *text = safetensors_metadata(&file, MODEL_METADATA);
    err = text ? open_described(out, data, &file, text) : open_plain(out, &file);
    safetensors_close(&file);
    return err;
}

/* ---------------------------------------------------------------- the public doors */

int sph_net_save(const sph_net *net, const char *path)
{
    json_t *data = NULL;
    int err = net->schema ? json_parse(&data, path, net->schema, strlen(net->schema)) : 0;
    if (!err)
        err = model_save(path, net, data);
    json_decref(data);
    return err;
}

/* What the file says about its data stays with the net, so that a converted or edited model still predicts.
 */
static int keep_schema(sph_net *net, const json_t *data)
{
    struct text text = {0};
    int err = json_print(&text, data, 0);
    if (err < 0)
        text_free(&text);
    else
        net->schema = text.chars;
    return err;
}

int sph_net_open(sph_net **out, const char *path)
{
    json_t *data = NULL;
    sph_net *net = NULL;
    int err = model_open(&net, &data, path);
    if (!err && data)
        err = keep_schema(net, data);
    json_decref(data);
    if (err < 0) {
        sph_net_free(net);
        return err;
    }
    *out = net;
    return 0;
}

int sph_net_load_tensors(sph_net *net, const char *path)
{
    if (!net->ready)
        return sph_fail(SPH_EARG, "%s: the net is not ready: call sph_net_ready first", path);
    struct safetensors file;
    int err = safetensors_open(&file, path);
    if (err < 0)
        return err;
    err = take_tensors(net, &file, 0);
    safetensors_close(&file);
    return err;
}
