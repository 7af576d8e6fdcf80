/* SPDX-License-Identifier: MIT */
#include "store/onnx_read.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "file/file.h"
#include "store/onnx_build.h"

const char *onnx_word(const char *text)
{
    return text ? text : "";
}

int onnx_refuse(const struct onnx_file *file, const Onnx__Node *node, const char *format, ...)
{
    char why[512];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    const char *name = onnx_word(node->name);
    if (!*name && node->n_output)
        name = onnx_word(node->output[0]);
    return sph_fail_of(SPH_EFORMAT, file->path, 0, name, "node '%.80s' (%.40s): %s", name,
                       onnx_word(node->op_type), why);
}

/* ---------------------------------------------------------------- the file */

static void *take(void *self, size_t size)
{
    (void)self;
    return mem_get(1, size);
}

static void give(void *self, void *memory)
{
    (void)self;
    mem_free(memory);
}

static ProtobufCAllocator budget = {.alloc = take, .free = give};

/* Seven bits a byte, the least first. */
static uint64_t varint(struct cursor *in)
{
    uint64_t value = 0, byte = 0x80;
    for (unsigned shift = 0; byte & 0x80 && shift < 64 && !in->spent; shift += 7) {
        byte = cursor_little(in, 1);
        value |= (byte & 0x7f) << shift;
    }
    return value;
}

static int check_opsets(struct onnx_file *file)
{
    const Onnx__Model *model = file->model;
    int64_t version = 1; /* what a file means that says nothing */
    for (size_t i = 0; i < model->n_opset_import; i++) {
        const char *domain = onnx_word(model->opset_import[i]->domain);
        if (!*domain || !strcmp(domain, "ai.onnx"))
            version = model->opset_import[i]->version;
    }
    if (version < ONNX_READ_LEAST || version > ONNX_READ_MOST)
        return sph_fail_of(SPH_EFORMAT, file->path, 0, "opset",
                           "opset %lld, expected %d to %d; convert it with onnx.version_converter",
                           (long long)version, ONNX_READ_LEAST, ONNX_READ_MOST);
    file->opset = version;
    return 0;
}

/* A message that a field may hold once is merged where it stands twice, and protobuf-c copies all of it for each time. No writer
 * makes such a file. What is no message at all is left to the parser. */
static int check_once(const char *path, const ProtobufCMessageDescriptor *message, struct cursor in)
{
    uint64_t seen = 0; /* a bit for each field; no message here has 64 */
    while (cursor_left(&in)) {
        uint64_t tag = varint(&in);
        size_t length = 0;
        switch (tag & 7) {
        case PROTOBUF_C_WIRE_TYPE_VARINT:
            varint(&in);
            break;
        case PROTOBUF_C_WIRE_TYPE_64BIT:
        case PROTOBUF_C_WIRE_TYPE_32BIT:
            length = (tag & 7) == PROTOBUF_C_WIRE_TYPE_64BIT ? 8 : 4;
            break;
        case PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED:
            length = (size_t)varint(&in);
            break;
        default:
            return 0;
        }
        const unsigned char *body = cursor_take(&in, length);
        if (!body || tag >> 3 > UINT32_MAX)
            return 0;
        const ProtobufCFieldDescriptor *field =
            protobuf_c_message_descriptor_get_field(message, (unsigned)(tag >> 3));
        if (!field || field->type != PROTOBUF_C_TYPE_MESSAGE ||
            (tag & 7) != PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED)
            continue;
        uint64_t bit = UINT64_C(1) << (field - message->fields);
        if (field->label != PROTOBUF_C_LABEL_REPEATED && seen & bit)
            return sph_fail_of(SPH_EFORMAT, path, 0, field->name, "'%s' is given twice in one %s",
                               field->name, message->short_name);
        seen |= bit;
        int err = check_once(path, field->descriptor, cursor_over(body, length));
        if (err < 0)
            return err;
    }
    return 0;
}

int onnx_open(struct onnx_file *out, const char *path)
{
    struct file_map map;
    *out = (struct onnx_file){.path = path};
    int err = file_map(&map, path);
    if (err < 0)
        return err;
    err = check_once(path, &onnx__model__descriptor, cursor_over(map.data, map.length));
    if (!err && !mem_allows(map.length)) /* weights are copied once */
        err = SPH_EMEMORY;
    if (err < 0) {
        file_unmap(&map);
        return err;
    }
    sph_fail_at(SPH_EFORMAT, path, "not an ONNX file, or an incomplete one");
    out->model = onnx__model__unpack(&budget, map.length, map.data);
    file_unmap(&map);
    if (!out->model)
        return sph_failure()->code;
    out->graph = out->model->graph;
    if (!out->model->has_ir_version || !out->graph)
        return sph_fail_at(SPH_EFORMAT, path, "not an ONNX file: it has no %s",
                           out->graph ? "ir_version" : "graph");
    return check_opsets(out);
}

void onnx_close(struct onnx_file *file)
{
    if (file->model)
        onnx__model__free_unpacked(file->model, &budget);
    *file = (struct onnx_file){0};
}

/* ---------------------------------------------------------------- attributes */

const Onnx__Attribute *onnx_attribute(const Onnx__Node *node, const char *name)
{
    for (size_t i = 0; i < node->n_attribute; i++)
        if (!strcmp(onnx_word(node->attribute[i]->name), name))
            return node->attribute[i];
    return NULL;
}

int64_t onnx_int(const Onnx__Node *node, const char *name, int64_t otherwise)
{
    const Onnx__Attribute *attribute = onnx_attribute(node, name);
    return attribute && attribute->has_i ? attribute->i : otherwise;
}

double onnx_float(const Onnx__Node *node, const char *name, double otherwise)
{
    const Onnx__Attribute *attribute = onnx_attribute(node, name);
    return attribute && attribute->has_f ? (double)attribute->f : otherwise;
}

/* ---------------------------------------------------------------- tensors */

int onnx_is_true(const Onnx__Tensor *tensor)
{
    return (tensor->raw_data.len && tensor->raw_data.data[0]) ||
           (tensor->n_int32_data && tensor->int32_data[0]);
}

static const char *entry(const Onnx__Tensor *tensor, const char *key)
{
    for (size_t i = 0; i < tensor->n_external_data; i++)
        if (!strcmp(onnx_word(tensor->external_data[i]->key), key))
            return onnx_word(tensor->external_data[i]->value);
    return NULL;
}

/* A name that stays in the model's folder. */
static int is_inside(const char *location)
{
    return *location && *location != '/' && !strstr(location, "..") && !text_has_control(location);
}

/* Bytes of a tensor that lie in another file. *map is the caller's to unmap. */
static int read_outside(const struct onnx_file *file, const Onnx__Tensor *tensor, const char *what,
                        size_t size, struct file_map *map, struct cursor *out)
{
    const char *location = onnx_word(entry(tensor, "location")), *offset = entry(tensor, "offset"),
               *length = entry(tensor, "length");
    size_t from = 0, bytes = size;
    if (!is_inside(location))
        return sph_fail_of(SPH_EFORMAT, file->path, 0, what,
                           "tensor '%.80s' is in '%.80s', expected a file in the folder of the model", what,
                           location);
    if ((offset && !text_to_size(offset, &from)) || (length && !text_to_size(length, &bytes)))
        return sph_fail_of(SPH_EFORMAT, file->path, 0, what,
                           "tensor '%.80s': its offset in '%.80s' is not a number", what, location);
    const char *slash = strrchr(file->path, '/');
    char *path = mem_format("%.*s%s", slash ? (int)(slash - file->path + 1) : 0, file->path, location);
    if (!path)
        return SPH_EMEMORY;
    int err = file_map(map, path);
    mem_free(path);
    if (err < 0)
        return sph_fail_about(err, what, "data of tensor '%.80s'", what);
    struct cursor in = cursor_over(map->data, map->length);
    cursor_take(&in, from);
    const unsigned char *data = cursor_take(&in, bytes);
    if (in.spent || bytes != size)
        return sph_fail_of(
            SPH_EFORMAT, file->path, 0, what,
            "tensor '%.80s' has %zu bytes from %zu on in '%.80s', which has %zu; its shape asks for %zu",
            what, bytes, from, location, map->length, size);
    *out = cursor_over(data, bytes);
    return 0;
}

static double element(struct cursor *in, int type)
{
    uint64_t bits = cursor_little(in, type == ONNX_FLOAT ? 4 : 8);
    uint32_t half = (uint32_t)bits;
    float single;
    double value;
    if (type == ONNX_INT64)
        return (double)(int64_t)bits;
    memcpy(&single, &half, sizeof single);
    memcpy(&value, &bits, sizeof value);
    return type == ONNX_FLOAT ? (double)single : value;
}

/* Numbers in fields of their own. */
static int from_fields(const Onnx__Tensor *tensor, struct onnx_numbers *out)
{
    size_t count = tensor->data_type == ONNX_FLOAT    ? tensor->n_float_data
                   : tensor->data_type == ONNX_DOUBLE ? tensor->n_double_data
                                                      : tensor->n_int64_data;
    if (count != out->count)
        return 0;
    for (size_t i = 0; i < count; i++)
        out->values[i] = tensor->data_type == ONNX_FLOAT    ? (double)tensor->float_data[i]
                         : tensor->data_type == ONNX_DOUBLE ? tensor->double_data[i]
                                                            : (double)tensor->int64_data[i];
    return 1;
}

static int read_shape(const struct onnx_file *file, const Onnx__Tensor *tensor, const char *what,
                      struct onnx_numbers *out)
{
    if (tensor->n_dims > ONNX_MOST_DIMS)
        return sph_fail_of(SPH_EFORMAT, file->path, 0, what,
                           "tensor '%.80s' has %zu dimensions, expected at most %d", what, tensor->n_dims,
                           ONNX_MOST_DIMS);
    out->dims = tensor->n_dims;
    for (size_t i = 0; i < out->dims; i++) {
        if (tensor->dims[i] < 0)
            return sph_fail_of(SPH_EFORMAT, file->path, 0, what, "tensor '%.80s' has a dimension of %lld",
                               what, (long long)tensor->dims[i]);
        out->shape[i] = (size_t)tensor->dims[i];
    }
    size_t bytes;
    if (!size_product(&out->count, out->shape, out->dims) || !size_times(&bytes, out->count, sizeof(double)))
        return sph_fail_of(SPH_EFORMAT, file->path, 0, what,
                           "tensor '%.80s': the product of its shape overflows", what);
    return 0;
}

int onnx_tensor_read(const struct onnx_file *file, const Onnx__Tensor *tensor, const char *what,
                     struct onnx_numbers *out)
{
    struct file_map map = {0};
    struct cursor in = {0};
    int type = tensor->data_type, outside = tensor->data_location == 1;
    size_t size = type == ONNX_FLOAT ? 4 : 8;
    *out = (struct onnx_numbers){.is_double = type == ONNX_DOUBLE};
    int err = read_shape(file, tensor, what, out);
    if (err < 0)
        return err;
    if (type != ONNX_FLOAT && type != ONNX_DOUBLE && type != ONNX_INT64)
        return sph_fail_of(SPH_EFORMAT, file->path, 0, what,
                           "tensor '%.80s' is of type %d, expected f32 (1), f64 (11) or int64 (7)", what,
                           type);
    if (outside && (err = read_outside(file, tensor, what, out->count * size, &map, &in)) < 0)
        goto out;
    if (!outside)
        in = cursor_over(tensor->raw_data.data, tensor->raw_data.len);
    int fields = !outside && !tensor->has_raw_data;
    if (!fields && cursor_left(&in) != out->count * size) {
        err = sph_fail_of(SPH_EFORMAT, file->path, 0, what,
                          "tensor '%.80s' has %zu bytes, its shape asks for %zu numbers of %zu", what,
                          cursor_left(&in), out->count, size);
        goto out;
    }
    if (fields && out->count > tensor->n_float_data + tensor->n_double_data + tensor->n_int64_data) {
        err = sph_fail_of(SPH_EFORMAT, file->path, 0, what,
                          "tensor '%.80s' has fewer numbers than its shape asks for, %zu", what, out->count);
        goto out;
    }
    out->values = mem_get(out->count, sizeof *out->values);
    if (!out->values)
        err = SPH_EMEMORY;
    for (size_t i = 0; !err && !fields && i < out->count; i++)
        out->values[i] = element(&in, type);
    if (!err && fields && !from_fields(tensor, out))
        err = sph_fail_of(SPH_EFORMAT, file->path, 0, what,
                          "tensor '%.80s' does not have the number of values of its shape, %zu", what,
                          out->count);
out:
    file_unmap(&map);
    if (err < 0) {
        mem_free(out->values);
        out->values = NULL;
    }
    return err;
}
