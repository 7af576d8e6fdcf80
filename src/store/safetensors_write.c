/* SPDX-License-Identifier: MIT
 *
 * Writing. The header comes before the data, so the tensors are declared first and their offsets follow. */
#include "store/safetensors.h"

#include <assert.h>
#include <jansson.h>
#include <string.h>

#include "base/error.h"
#include "file/json.h"
#include "base/text.h"

static const char *where(const struct st_writer *writer)
{
    return writer->sink ? ST_NOWHERE : writer->file.path;
}

/* Aborts and passes code on. */
static int failed(struct st_writer *writer, int code)
{
    st_writer_abort(writer);
    return code;
}

static int out_of_memory(struct st_writer *writer)
{
    int err = sph_fail_at(SPH_EMEMORY, where(writer), "out of memory");
    return failed(writer, err);
}

static int begin(struct st_writer *out)
{
    out->tensors = json_object();
    out->metadata = json_object();
    return out->tensors && out->metadata ? 0 : out_of_memory(out);
}

int st_writer_begin(struct st_writer *out, const char *path)
{
    *out = (struct st_writer){0};
    int err = file_replace_begin(&out->file, path);
    return err ? err : begin(out);
}

int st_writer_begin_sink(struct st_writer *out, const sph_sink *sink)
{
    *out = (struct st_writer){.sink = sink};
    return begin(out);
}

static int put(struct st_writer *writer, const void *bytes, size_t length)
{
    return writer->sink ? writer->sink->write(writer->sink->self, bytes, length)
                        : file_replace_write(&writer->file, bytes, length);
}

int st_writer_metadata(struct st_writer *writer, const char *key, const char *value)
{
    assert(writer->tensors && !writer->data);
    if (!text_is_utf8(key) || !text_is_utf8(value)) {
        int err = sph_fail_of(SPH_EARG, where(writer), 0, key,
                              "metadata \"%.120s\" is not UTF-8, expected UTF-8", key);
        return failed(writer, err);
    }
    if (json_object_get(writer->metadata, key)) {
        int err = sph_fail_of(SPH_EARG, where(writer), 0, key, "metadata \"%.120s\" given twice", key);
        return failed(writer, err);
    }
    return json_object_set_new(writer->metadata, key, json_string(value)) < 0 ? out_of_memory(writer) : 0;
}

int st_writer_carry(struct st_writer *writer, const struct safetensors *from)
{
    const char *key;
    json_t *value;
    json_object_foreach(json_object_get(from->header, "__metadata__"), key, value)
    {
        int err = st_writer_metadata(writer, key, json_string_value(value));
        if (err)
            return err;
    }
    return 0;
}

static const char *name_fault(const struct st_writer *writer, const char *name)
{
    if (!text_is_utf8(name))
        return "a name that is not UTF-8";
    if (!strcmp(name, "__metadata__"))
        return "a name that is reserved by the format";
    return json_object_get(writer->tensors, name) ? "declared twice" : NULL;
}

int st_writer_tensor(struct st_writer *writer, const char *name, enum st_dtype dtype, const size_t *shape,
                     size_t ndim)
{
    assert(writer->tensors && !writer->data);
    const char *fault = ndim > ST_DIMS ? "more than 8 dimensions" : name_fault(writer, name);
    uint64_t bytes = st_dtype_size(dtype), end = 0;
    int overflow = 0;
    for (size_t i = 0; i < ndim; i++)
        overflow |= __builtin_mul_overflow(bytes, shape[i], &bytes);
    overflow |= __builtin_add_overflow(writer->declared, bytes, &end);
    if (!fault && (overflow || end > INT64_MAX))
        fault = "too large, expected less than 2^63 bytes in all";
    if (fault) {
        int err = sph_fail_of(SPH_EARG, where(writer), 0, name, "tensor \"%.120s\": %s", name, fault);
        return failed(writer, err);
    }

    json_t *dims = json_array();
    int short_of = !dims;
    for (size_t i = 0; i < ndim; i++)
        short_of |= json_array_append_new(dims, json_integer((json_int_t)shape[i])) < 0;
    json_t *entry = json_pack("{s:s, s:o, s:[I,I]}", "dtype", st_dtype_name(dtype), "shape", dims,
                              "data_offsets", (json_int_t)writer->declared, (json_int_t)end);
    short_of |= json_object_set_new(writer->tensors, name, entry) < 0;
    if (short_of)
        return out_of_memory(writer);
    writer->declared = end;
    return 0;
}

static int write_header(struct st_writer *writer)
{
    writer->data = 1;
    struct text text = {0};
    json_t *header = json_object();
    int err = header ? 0 : -1;
    if (!err && json_object_size(writer->metadata))
        err = json_object_set(header, "__metadata__", writer->metadata);
    if (!err)
        err = json_object_update(header, writer->tensors);
    if (!err)
        err = json_print(&text, header, 0);
    json_decref(header);
    while (!err && text.length % 8 && !text.failed)
        text_add_bytes(&text, " ", 1);
    if (err || text.failed) {
        text_free(&text);
        return out_of_memory(writer);
    }
    if (text.length > ST_HEADER_MAX) {
        err = sph_fail_at(SPH_EARG, where(writer), "a header of %zu bytes, expected at most %d", text.length,
                          ST_HEADER_MAX);
    } else {
        uint64_t length = text.length;
        err = put(writer, &length, sizeof length);
        if (!err)
            err = put(writer, text.chars, text.length);
    }
    text_free(&text);
    return err ? failed(writer, err) : 0;
}

static int wrong_amount(struct st_writer *writer, uint64_t bytes)
{
    int err = sph_fail_at(SPH_EARG, where(writer), "%llu bytes of data given, the tensors declared take %llu",
                          (unsigned long long)bytes, (unsigned long long)writer->declared);
    return failed(writer, err);
}

int st_writer_data(struct st_writer *writer, const void *bytes, size_t length)
{
    assert(writer->tensors);
    if (length > writer->declared - writer->written)
        return wrong_amount(writer, writer->written + length);
    int err = writer->data ? 0 : write_header(writer);
    if (err)
        return err;
    err = put(writer, bytes, length);
    if (err)
        return failed(writer, err);
    writer->written += length;
    return 0;
}

int st_writer_commit(struct st_writer *writer)
{
    assert(writer->tensors);
    if (writer->written != writer->declared)
        return wrong_amount(writer, writer->written);
    int err = writer->data ? 0 : write_header(writer);
    if (err)
        return err;
    err = writer->sink ? 0 : file_replace_commit(&writer->file);
    return failed(writer, err); /* commit has ended it too; what is left is the header */
}

void st_writer_abort(struct st_writer *writer)
{
    file_replace_abort(&writer->file);
    json_decref(writer->tensors);
    json_decref(writer->metadata);
    *writer = (struct st_writer){0};
}

int safetensors_write(const char *path, const struct st_item *items, size_t count, const struct st_meta *meta,
                      size_t metas)
{
    struct st_writer writer;
    int err = st_writer_begin(&writer, path);
    for (size_t i = 0; i < metas && !err; i++)
        err = st_writer_metadata(&writer, meta[i].key, meta[i].value);
    for (size_t i = 0; i < count && !err; i++)
        err = st_writer_tensor(&writer, items[i].name, items[i].dtype, items[i].shape, items[i].ndim);
    for (size_t i = 0; i < count && !err; i++) {
        size_t bytes = st_dtype_size(items[i].dtype);
        for (size_t k = 0; k < items[i].ndim; k++)
            bytes *= items[i].shape[k];
        if (bytes)
            err = st_writer_data(&writer, items[i].data, bytes);
    }
    return err ? err : st_writer_commit(&writer);
}
