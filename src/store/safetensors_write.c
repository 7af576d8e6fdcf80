/* SPDX-License-Identifier: MIT
 *
 * Writing. The header comes before the data, so all tensors are described first and their offsets follow. */
#include "store/safetensors.h"

#include <jansson.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "file/json.h"

static int out_of_memory(const char *where)
{
    return sph_fail_at(SPH_EMEMORY, where, "out of memory");
}

static int add_metadata(json_t *metadata, const char *where, const char *key, const char *value)
{
    if (!text_is_utf8(key) || !text_is_utf8(value))
        return sph_fail_of(SPH_EARG, where, 0, key, "metadata \"%.120s\" is not UTF-8, expected UTF-8", key);
    if (json_object_get(metadata, key))
        return sph_fail_of(SPH_EARG, where, 0, key, "metadata \"%.120s\" given twice", key);
    return json_object_set_new(metadata, key, json_string(value)) < 0 ? out_of_memory(where) : 0;
}

static int add_all_metadata(json_t *header, const char *where, const struct st_file *file)
{
    const char *key;
    json_t *value, *old = file->like ? json_object_get(file->like->header, "__metadata__") : NULL;
    json_t *metadata = json_object();
    int err = metadata ? 0 : out_of_memory(where);
    for (size_t i = 0; i < file->metas && !err; i++)
        err = add_metadata(metadata, where, file->meta[i].key, file->meta[i].value);
    json_object_foreach(old, key, value)
    {
        if (!err)
            err = add_metadata(metadata, where, key, json_string_value(value));
    }
    if (!err && json_object_size(metadata) && json_object_set(header, "__metadata__", metadata) < 0)
        err = out_of_memory(where);
    json_decref(metadata);
    return err;
}

/* *end: where the data of the tensors so far end, which this one moves on. */
static int add_tensor(json_t *header, const char *where, const struct st_item *item, uint64_t *end)
{
    const char *fault = item->ndim > ST_DIMS                  ? "more than 8 dimensions"
                        : !text_is_utf8(item->name)           ? "a name that is not UTF-8"
                        : !strcmp(item->name, "__metadata__") ? "a name that is reserved by the format"
                        : json_object_get(header, item->name) ? "declared twice"
                                                              : NULL;
    uint64_t begin = *end, bytes = st_dtype_size(item->dtype);
    int overflow = 0;
    for (size_t i = 0; i < item->ndim; i++)
        overflow |= __builtin_mul_overflow(bytes, item->shape[i], &bytes);
    overflow |= __builtin_add_overflow(begin, bytes, end);
    if (!fault && (overflow || *end > INT64_MAX))
        fault = "too large, expected less than 2^63 bytes in all";
    if (fault)
        return sph_fail_of(SPH_EARG, where, 0, item->name, "tensor \"%.120s\": %s", item->name, fault);
    json_t *dims = json_array();
    int missing = !dims;
    for (size_t i = 0; i < item->ndim; i++)
        missing |= json_array_append_new(dims, json_integer((json_int_t)item->shape[i])) < 0;
    json_t *entry = json_pack("{s:s, s:o, s:[I,I]}", "dtype", st_dtype_name(item->dtype), "shape", dims,
                              "data_offsets", (json_int_t)begin, (json_int_t)*end);
    missing |= json_object_set_new(header, item->name, entry) < 0;
    return missing ? out_of_memory(where) : 0;
}

/* The text of the header, padded to 8 bytes. */
static int make_header(struct text *out, const char *where, const struct st_file *file)
{
    json_t *header = json_object();
    uint64_t end = 0;
    int err = header ? add_all_metadata(header, where, file) : out_of_memory(where);
    for (size_t i = 0; i < file->count && !err; i++)
        err = add_tensor(header, where, &file->items[i], &end);
    if (!err && json_print(out, header, 0) < 0)
        err = out_of_memory(where);
    json_decref(header);
    while (!err && out->length % 8 && !out->failed)
        text_add_bytes(out, " ", 1);
    if (!err && out->failed)
        err = out_of_memory(where);
    if (!err && out->length > ST_HEADER_MAX)
        err = sph_fail_at(SPH_EARG, where, "a header of %zu bytes, expected at most %d", out->length,
                          ST_HEADER_MAX);
    return err;
}

static size_t bytes_of(const struct st_item *item)
{
    size_t bytes = st_dtype_size(item->dtype);
    for (size_t i = 0; i < item->ndim; i++)
        bytes *= item->shape[i];
    return bytes;
}

int safetensors_save(const char *path, const sph_sink *sink, const struct st_file *file)
{
    struct text header = {0};
    struct file_replace out = {.fd = -1};
    int err = make_header(&header, sink ? ST_NOWHERE : path, file);
    if (!err && !sink)
        err = file_replace_begin(&out, path);
    const sph_sink to = sink ? *sink : (sph_sink){.self = &out, .write = file_replace_sink};
    uint64_t length = header.length;
    if (!err && !(err = to.write(to.self, &length, sizeof length)))
        err = to.write(to.self, header.chars, header.length);
    for (size_t i = 0; i < file->count && !err; i++) {
        const void *data = file->items[i].data;
        size_t bytes = bytes_of(&file->items[i]);
        if (bytes && !data)
            err = file->numbers(file->self, i, &data);
        if (bytes && !err)
            err = to.write(to.self, data, bytes);
    }
    if (!err && !sink)
        err = file_replace_commit(&out);
    file_replace_abort(&out);
    text_free(&header);
    return err;
}

int safetensors_write(const char *path, const struct st_item *items, size_t count, const struct st_meta *meta,
                      size_t metas)
{
    return safetensors_save(path, NULL,
                            &(struct st_file){.items = items, .count = count, .meta = meta, .metas = metas});
}
