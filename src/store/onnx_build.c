/* SPDX-License-Identifier: MIT */
#include "store/onnx_build.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "file/file.h"
#include "spherelu/base.h"

/* A reader of protobuf takes 2 GB at most. */
enum { ONNX_IR = 7, ONNX_MOST = INT32_MAX };

static char *words(const char *text)
{
    return (char *)text; /* protobuf-c's structs are for reading too, and have no const */
}

/* ---------------------------------------------------------------- memory */

void *onnx_take(struct onnx_build *build, size_t count, size_t size)
{
    if (build->err)
        return NULL;
    void *memory = NULL;
    if (mem_reserve((void **)&build->owned, &build->owned_capacity, build->owned_count + 1,
                    sizeof *build->owned))
        memory = mem_get(count, size);
    if (memory)
        build->owned[build->owned_count++] = memory;
    else
        build->err = SPH_EMEMORY;
    return memory;
}

char *onnx_text(struct onnx_build *build, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = onnx_take(build, (size_t)length + 1, 1);
    va_start(args, format);
    if (text)
        vsnprintf(text, (size_t)length + 1, format, args);
    va_end(args);
    return text;
}

/* A message at the end of a list of the graph or the model. */
static int append(struct onnx_build *build, void *list, size_t *count, size_t *capacity, void *message)
{
    void ***array = list;
    if (build->err || !message)
        return 0;
    if (!mem_reserve((void **)array, capacity, *count + 1, sizeof **array)) {
        build->err = SPH_EMEMORY;
        return 0;
    }
    (*array)[(*count)++] = message;
    return 1;
}

void onnx_begin(struct onnx_build *build, int opset)
{
    *build = (struct onnx_build){.model = ONNX__MODEL__INIT, .graph = ONNX__GRAPH__INIT};
    build->model.has_ir_version = 1;
    build->model.ir_version = ONNX_IR;
    build->model.producer_name = words("spherelu");
    build->model.producer_version = words(sph_version());
    build->model.graph = &build->graph;
    build->graph.name = words("spherelu");
    Onnx__OperatorSet *set = onnx_take(build, 1, sizeof *set), **sets = onnx_take(build, 1, sizeof *sets);
    if (!sets)
        return;
    onnx__operator_set__init(set);
    set->domain = words("");
    set->has_version = 1;
    set->version = opset;
    *sets = set;
    build->model.opset_import = sets;
    build->model.n_opset_import = 1;
}

void onnx_free(struct onnx_build *build)
{
    for (size_t i = 0; i < build->owned_count; i++)
        mem_free(build->owned[i]);
    mem_free(build->owned);
    mem_free(build->graph.node);
    mem_free(build->graph.initializer);
    mem_free(build->graph.input);
    mem_free(build->graph.output);
    mem_free(build->model.metadata_props);
    *build = (struct onnx_build){0};
}

/* ---------------------------------------------------------------- constants */

static Onnx__Tensor *new_tensor(struct onnx_build *build, const char *name, int type, const size_t *shape,
                                size_t dims)
{
    Onnx__Tensor *tensor = onnx_take(build, 1, sizeof *tensor);
    int64_t *sizes = onnx_take(build, dims, sizeof *sizes);
    if (!sizes)
        return NULL;
    onnx__tensor__init(tensor);
    for (size_t i = 0; i < dims; i++)
        sizes[i] = (int64_t)shape[i];
    tensor->dims = sizes;
    tensor->n_dims = dims;
    tensor->has_data_type = 1;
    tensor->data_type = type;
    tensor->name = words(name);
    append(build, &build->graph.initializer, &build->graph.n_initializer, &build->initializers, tensor);
    return tensor;
}

/* bytes of the tensor, for the caller to fill: the format's order is the least significant first. */
static uint8_t *raw_data(struct onnx_build *build, Onnx__Tensor *tensor, size_t count, size_t size)
{
    uint8_t *bytes = tensor ? onnx_take(build, count, size) : NULL;
    if (bytes) {
        tensor->has_raw_data = 1;
        tensor->raw_data = (ProtobufCBinaryData){count * size, bytes};
    }
    return bytes;
}

static void put_little(uint8_t *to, uint64_t bits, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        to[i] = (uint8_t)(bits >> 8 * i);
}

const char *onnx_floats(struct onnx_build *build, const char *name, const double *values, const size_t *shape,
                        size_t dims)
{
    size_t count = 1;
    for (size_t i = 0; i < dims; i++)
        count *= shape[i];
    uint8_t *bytes = raw_data(build, new_tensor(build, name, ONNX_FLOAT, shape, dims), count, sizeof(float));
    for (size_t i = 0; bytes && i < count; i++) {
        float value = (float)values[i];
        uint32_t bits;
        memcpy(&bits, &value, sizeof bits);
        put_little(bytes + i * sizeof value, bits, sizeof bits);
    }
    return name;
}

const char *onnx_ints(struct onnx_build *build, const char *name, const int64_t *values, size_t count)
{
    uint8_t *bytes = raw_data(build, new_tensor(build, name, ONNX_INT64, &count, 1), count, sizeof(int64_t));
    for (size_t i = 0; bytes && i < count; i++)
        put_little(bytes + i * sizeof *values, (uint64_t)values[i], sizeof *values);
    return name;
}

const char *onnx_strings(struct onnx_build *build, const char *name, char *const *texts, size_t count)
{
    Onnx__Tensor *tensor = new_tensor(build, name, ONNX_STRING, &count, 1);
    ProtobufCBinaryData *data = onnx_take(build, count, sizeof *data);
    for (size_t i = 0; tensor && data && i < count; i++) {
        char *text = onnx_text(build, "%s", texts[i]);
        data[i] = (ProtobufCBinaryData){text ? strlen(text) : 0, (uint8_t *)text};
    }
    if (tensor && data) {
        tensor->string_data = data;
        tensor->n_string_data = count;
    }
    return name;
}

/* ---------------------------------------------------------------- nodes */

const char *onnx_node(struct onnx_build *build, const char *op, const char *out, ...)
{
    va_list args;
    size_t count = 0;
    va_start(args, out);
    while (va_arg(args, const char *))
        count++;
    va_end(args);
    Onnx__Node *node = onnx_take(build, 1, sizeof *node);
    char **inputs = onnx_take(build, count, sizeof *inputs), **output = onnx_take(build, 1, sizeof *output);
    build->node = NULL;
    if (!output)
        return out;
    onnx__node__init(node);
    va_start(args, out);
    for (size_t i = 0; i < count; i++)
        inputs[i] = va_arg(args, char *);
    va_end(args);
    *output = words(out);
    node->input = inputs;
    node->n_input = count;
    node->output = output;
    node->n_output = 1;
    node->name = words(out);
    node->op_type = words(op);
    if (append(build, &build->graph.node, &build->graph.n_node, &build->nodes, node))
        build->node = node;
    return out;
}

enum { MOST_ATTRIBUTES = 8 };

static Onnx__Attribute *new_attribute(struct onnx_build *build, const char *name, int type)
{
    Onnx__Node *node = build->node;
    Onnx__Attribute *attribute = node ? onnx_take(build, 1, sizeof *attribute) : NULL;
    if (attribute && !node->attribute)
        node->attribute = onnx_take(build, MOST_ATTRIBUTES, sizeof *node->attribute);
    if (!attribute || !node->attribute)
        return NULL;
    onnx__attribute__init(attribute);
    attribute->name = words(name);
    attribute->has_type = 1;
    attribute->type = type;
    node->attribute[node->n_attribute++] = attribute;
    return attribute;
}

void onnx_set_int(struct onnx_build *build, const char *name, int64_t value)
{
    Onnx__Attribute *attribute = new_attribute(build, name, ONNX_AN_INT);
    if (attribute) {
        attribute->has_i = 1;
        attribute->i = value;
    }
}

void onnx_set_float(struct onnx_build *build, const char *name, double value)
{
    Onnx__Attribute *attribute = new_attribute(build, name, ONNX_A_FLOAT);
    if (attribute) {
        attribute->has_f = 1;
        attribute->f = (float)value;
    }
}

void onnx_set_ints(struct onnx_build *build, const char *name, const size_t *values, size_t count)
{
    Onnx__Attribute *attribute = new_attribute(build, name, ONNX_INTS);
    int64_t *ints = attribute ? onnx_take(build, count, sizeof *ints) : NULL;
    if (!ints)
        return;
    for (size_t i = 0; i < count; i++)
        ints[i] = (int64_t)values[i];
    attribute->ints = ints;
    attribute->n_ints = count;
}

/* ---------------------------------------------------------------- what goes in and out */

static Onnx__Value *new_value(struct onnx_build *build, const char *name, int type, const size_t *shape,
                              size_t dims)
{
    Onnx__Value *value = onnx_take(build, 1, sizeof *value);
    Onnx__Type *of = onnx_take(build, 1, sizeof *of);
    Onnx__TensorType *tensor = onnx_take(build, 1, sizeof *tensor);
    Onnx__Shape *sizes = onnx_take(build, 1, sizeof *sizes);
    Onnx__Dimension *each = onnx_take(build, dims + 1, sizeof *each);
    Onnx__Dimension **list = onnx_take(build, dims + 1, sizeof *list);
    if (!list)
        return NULL;
    for (size_t i = 0; i < dims + 1; i++) {
        list[i] = &each[i];
        onnx__dimension__init(&each[i]);
        if (i) {
            each[i].has_dim_value = 1;
            each[i].dim_value = (int64_t)shape[i - 1];
        } else {
            each[i].dim_param = words("N");
        }
    }
    onnx__shape__init(sizes);
    sizes->dim = list;
    sizes->n_dim = dims + 1;
    onnx__tensor_type__init(tensor);
    tensor->has_elem_type = 1;
    tensor->elem_type = type;
    tensor->shape = sizes;
    onnx__type__init(of);
    of->tensor_type = tensor;
    onnx__value__init(value);
    value->name = words(name);
    value->type = of;
    return value;
}

void onnx_input(struct onnx_build *build, const char *name, int type, const size_t *shape, size_t dims)
{
    append(build, &build->graph.input, &build->graph.n_input, &build->inputs,
           new_value(build, name, type, shape, dims));
}

void onnx_output(struct onnx_build *build, const char *name, int type, const size_t *shape, size_t dims)
{
    append(build, &build->graph.output, &build->graph.n_output, &build->outputs,
           new_value(build, name, type, shape, dims));
}

void onnx_metadata(struct onnx_build *build, const char *key, const char *value)
{
    Onnx__Entry *entry = onnx_take(build, 1, sizeof *entry);
    if (!entry)
        return;
    onnx__entry__init(entry);
    entry->key = onnx_text(build, "%s", key);
    entry->value = onnx_text(build, "%s", value);
    append(build, &build->model.metadata_props, &build->model.n_metadata_props, &build->entries, entry);
}

/* ---------------------------------------------------------------- writing */

/* Bytes on their way into the file; small ones gather first. */
struct sink {
    ProtobufCBuffer base; /* first: what protobuf-c is given */
    struct file_replace file;
    uint8_t pending[1 << 14];
    size_t length;
    int err;
};

static void flush(struct sink *sink)
{
    if (!sink->err && sink->length)
        sink->err = file_replace_write(&sink->file, sink->pending, sink->length);
    sink->length = 0;
}

static void sink_append(ProtobufCBuffer *buffer, size_t length, const uint8_t *bytes)
{
    struct sink *sink = (struct sink *)buffer;
    if (length > sizeof sink->pending - sink->length)
        flush(sink);
    if (length > sizeof sink->pending) {
        if (!sink->err)
            sink->err = file_replace_write(&sink->file, bytes, length);
        return;
    }
    memcpy(sink->pending + sink->length, bytes, length);
    sink->length += length;
}

int onnx_write(struct onnx_build *build, const char *path)
{
    struct sink *sink = onnx_take(build, 1, sizeof *sink);
    if (build->err)
        return build->err;
    size_t size = onnx__model__get_packed_size(&build->model);
    if (size > ONNX_MOST)
        return sph_fail_at(SPH_EARG, path, "%zu bytes, and an ONNX file has 2 GB at most", size);
    sink->base.append = sink_append;
    int err = file_replace_begin(&sink->file, path);
    if (err < 0)
        return err;
    onnx__model__pack_to_buffer(&build->model, &sink->base);
    flush(sink);
    if (!(err = sink->err))
        err = file_replace_commit(&sink->file);
    file_replace_abort(&sink->file);
    return err;
}
