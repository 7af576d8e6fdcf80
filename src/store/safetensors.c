/* SPDX-License-Identifier: MIT
 *
 * Reading. The header is hostile until every number in it has been checked against the file's real size. */
#include "store/safetensors.h"

#include <assert.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "file/json.h"
#include "base/memory.h"
#include "base/text.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "the format is little-endian, and data are used as mapped");
_Static_assert(sizeof(size_t) == 8 && sizeof(float) == 4 && sizeof(double) == 8,
               "64-bit hosts with IEEE numbers");

#define DTYPE_NAME(id, size) #id,
#define DTYPE_SIZE(id, size) size,
#define DTYPE_LIST(id, size) " " #id
static const char *const dtype_names[] = {ST_DTYPES(DTYPE_NAME)};
static const size_t dtype_sizes[] = {ST_DTYPES(DTYPE_SIZE)};

const char *st_dtype_name(enum st_dtype dtype)
{
    return dtype_names[dtype];
}

size_t st_dtype_size(enum st_dtype dtype)
{
    return dtype_sizes[dtype];
}

/* `return fail_tensor(tensor, "found, expected")`; names may be megabytes long, so a message quotes their
 * start. */
#define fail_tensor(tensor, format, ...)                                                                     \
    sph_fail_of(SPH_EFORMAT, (tensor)->file, 0, (tensor)->name, "tensor \"%.120s\": " format,                \
                (tensor)->name, __VA_ARGS__)

static const char *shape_text(char buffer[static 256], const struct st_tensor *tensor)
{
    size_t used = 0;
    buffer[used++] = '[';
    for (size_t i = 0; i < tensor->ndim; i++) /* at most ST_DIMS times 22 characters */
        used += (size_t)snprintf(buffer + used, 256 - used, "%s%zu", i ? ", " : "", tensor->shape[i]);
    snprintf(buffer + used, 256 - used, "]");
    return buffer;
}

static int read_size(const struct st_tensor *tensor, const char *key, size_t i, const json_t *value,
                     size_t *out)
{
    if (json_is_integer(value) && json_integer_value(value) >= 0) {
        *out = (size_t)json_integer_value(value);
        return 0;
    }
    if (json_is_integer(value))
        return fail_tensor(tensor, "%s[%zu] is %lld, expected a whole number from 0", key, i,
                           (long long)json_integer_value(value));
    return fail_tensor(tensor, "%s[%zu] is not a whole number, expected one from 0", key, i);
}

static int read_shape(struct st_tensor *tensor, const json_t *shape)
{
    if (!json_is_array(shape))
        return fail_tensor(tensor, "%s, expected an array", shape ? "shape is not an array" : "no shape");
    tensor->ndim = json_array_size(shape);
    if (tensor->ndim > ST_DIMS)
        return fail_tensor(tensor, "shape has %zu dimensions, expected at most %d", tensor->ndim, ST_DIMS);
    int overflow = 0;
    tensor->count = 1;
    for (size_t i = 0; i < tensor->ndim; i++) {
        int err = read_size(tensor, "shape", i, json_array_get(shape, i), &tensor->shape[i]);
        if (err)
            return err;
    }
    overflow |= !size_product(&tensor->count, tensor->shape, tensor->ndim);
    overflow |= !size_times(&tensor->bytes, tensor->count, dtype_sizes[tensor->dtype]);
    char buffer[256];
    if (overflow)
        return fail_tensor(tensor, "shape %s of %s is too large, expected less than 2^64 bytes",
                           shape_text(buffer, tensor), dtype_names[tensor->dtype]);
    return 0;
}

static int read_offsets(struct st_tensor *tensor, const json_t *offsets, const unsigned char *data,
                        size_t length)
{
    size_t begin = 0, end = 0;
    if (!json_is_array(offsets) || json_array_size(offsets) != 2)
        return fail_tensor(tensor, "%s, expected [begin, end]",
                           offsets ? "data_offsets is not an array" : "no data_offsets");
    int err = read_size(tensor, "data_offsets", 0, json_array_get(offsets, 0), &begin);
    if (!err)
        err = read_size(tensor, "data_offsets", 1, json_array_get(offsets, 1), &end);
    if (err)
        return err;
    char buffer[256];
    if (end < begin)
        return fail_tensor(tensor, "data_offsets [%zu, %zu], expected begin before end", begin, end);
    if (end > length)
        return fail_tensor(tensor, "data_offsets [%zu, %zu], but the file has %zu bytes of data", begin, end,
                           length);
    if (end - begin != tensor->bytes)
        return fail_tensor(tensor, "data_offsets [%zu, %zu] hold %zu bytes, shape %s of %s takes %zu", begin,
                           end, end - begin, shape_text(buffer, tensor), dtype_names[tensor->dtype],
                           tensor->bytes);
    tensor->data = data + begin;
    return 0;
}

static int read_tensor(struct st_tensor *tensor, const json_t *entry, const unsigned char *data,
                       size_t length)
{
    if (!json_is_object(entry))
        return fail_tensor(tensor, "not an object, expected one with %s", "dtype, shape and data_offsets");
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)entry, key, value)
    {
        static const char *const known[] = {"dtype", "shape", "data_offsets"};
        if (text_find(key, known, 3) < 0)
            return fail_tensor(tensor, "unknown key \"%.120s\", expected dtype, shape and data_offsets", key);
    }
    const json_t *dtype = json_object_get(entry, "dtype");
    if (!json_is_string(dtype))
        return fail_tensor(tensor, "%s, expected one of" ST_DTYPES(DTYPE_LIST),
                           dtype ? "dtype is not a string" : "no dtype");
    int found = text_find(json_string_value(dtype), dtype_names, ST_DTYPE_COUNT);
    if (found < 0)
        return fail_tensor(tensor, "dtype \"%.120s\", expected one of" ST_DTYPES(DTYPE_LIST),
                           json_string_value(dtype));
    tensor->dtype = (enum st_dtype)found;
    int err = read_shape(tensor, json_object_get(entry, "shape"));
    return err ? err : read_offsets(tensor, json_object_get(entry, "data_offsets"), data, length);
}

static int read_metadata(const struct safetensors *file, const json_t *metadata)
{
    if (!json_is_object(metadata))
        return sph_fail_at(SPH_EFORMAT, file->path, "__metadata__ is not an object, expected one of strings");
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)metadata, key, value)
    {
        if (!json_is_string(value))
            return sph_fail_of(SPH_EFORMAT, file->path, 0, key,
                               "__metadata__ \"%.120s\" is not a string, expected one", key);
    }
    return 0;
}

/* Empty tensors share their offset with the one that follows: they come first. */
static int compare_data(const void *a, const void *b)
{
    const struct st_tensor *ta = a, *tb = b;
    const unsigned char *da = ta->data, *db = tb->data;
    if (da != db)
        return da < db ? -1 : 1;
    if (ta->bytes != tb->bytes)
        return ta->bytes < tb->bytes ? -1 : 1;
    return strcmp(ta->name, tb->name);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp((*(struct st_tensor *const *)a)->name, (*(struct st_tensor *const *)b)->name);
}

/* In the order of their offsets the tensors must lie end to end from the first byte of data to the last. */
static int check_cover(const struct safetensors *file, const unsigned char *data, size_t length)
{
    size_t expected = 0;
    for (size_t i = 0; i < file->count; i++) {
        const struct st_tensor *tensor = &file->tensor[i];
        size_t begin = (size_t)((const unsigned char *)tensor->data - data);
        if (begin != expected && i == 0)
            return fail_tensor(tensor, "data_offsets begin at %zu, expected 0 for the first", begin);
        if (begin != expected)
            return fail_tensor(tensor, "data_offsets begin at %zu, expected %zu: %s tensor \"%.120s\"", begin,
                               expected, begin < expected ? "it overlaps" : "there is a hole after",
                               tensor[-1].name);
        expected = begin + tensor->bytes;
    }
    if (expected != length)
        return sph_fail_at(SPH_EFORMAT, file->path,
                           "%zu bytes of data, expected %zu: the last tensor ends there", length, expected);
    return 0;
}

/* header <- the JSON object; *data, *length <- what follows it. */
static int read_header(struct safetensors *file, const unsigned char **data, size_t *length)
{
    struct cursor in = cursor_over(file->map.data, file->map.length);
    uint64_t claimed = cursor_little(&in, 8);
    if (in.spent)
        return sph_fail_at(SPH_EFORMAT, file->path, "%zu bytes, expected at least 8 for the header's length",
                           file->map.length);
    if (claimed > ST_HEADER_MAX)
        return sph_fail_at(
            SPH_EFORMAT, file->path,
            "not a safetensors file: its first 8 bytes give a header of %llu bytes, expected at most %d",
            (unsigned long long)claimed, ST_HEADER_MAX);
    size_t after = cursor_left(&in);
    const unsigned char *header = cursor_take(&in, (size_t)claimed);
    if (!header)
        return sph_fail_at(SPH_EFORMAT, file->path,
                           "a header of %llu bytes, but only %zu bytes follow its length",
                           (unsigned long long)claimed, after);
    if (!claimed)
        return sph_fail_at(SPH_EFORMAT, file->path, "an empty header, expected '{'");
    if (*header != '{')
        return sph_fail_at(SPH_EFORMAT, file->path, "the header begins with byte 0x%02x, expected '{'",
                           *header);
    int err = json_parse(&file->header, "header", (const char *)header, (size_t)claimed);
    if (err)
        return sph_fail_move(err, file->path, 0, 1);
    file->header_bytes = json_footprint((const char *)header, (size_t)claimed);
    mem_count(file->header_bytes, 0);
    *length = cursor_left(&in);
    *data = cursor_take(&in, *length);
    return 0;
}

static int read_all(struct safetensors *file)
{
    const unsigned char *data = NULL;
    size_t length = 0;
    int err = read_header(file, &data, &length);
    if (err)
        return err;
    size_t entries = json_object_size(file->header);
    file->tensor = mem_get(entries, sizeof *file->tensor);
    file->by_name = file->tensor ? mem_get(entries, sizeof(struct st_tensor *)) : NULL;
    if (!file->by_name)
        return SPH_EMEMORY;

    const char *name;
    json_t *entry;
    json_object_foreach(file->header, name, entry)
    {
        if (!strcmp(name, "__metadata__")) {
            err = read_metadata(file, entry);
        } else {
            struct st_tensor *tensor = &file->tensor[file->count++];
            tensor->name = name;
            tensor->file = file->path;
            err = read_tensor(tensor, entry, data, length);
        }
        if (err)
            return err;
    }
    qsort(file->tensor, file->count, sizeof *file->tensor, compare_data);
    for (size_t i = 0; i < file->count; i++)
        file->by_name[i] = &file->tensor[i];
    qsort(file->by_name, file->count, sizeof *file->by_name, compare_names);
    return check_cover(file, data, length);
}

static int begin(struct safetensors *out, const char *path)
{
    out->path = mem_text(path);
    int err = out->path ? read_all(out) : SPH_EMEMORY;
    if (err)
        safetensors_close(out);
    return err;
}

int safetensors_open(struct safetensors *out, const char *path)
{
    *out = (struct safetensors){0};
    int err = file_map(&out->map, path);
    return err ? err : begin(out, path);
}

int safetensors_of_bytes(struct safetensors *out, const void *bytes, size_t length)
{
    *out = (struct safetensors){.map = {.data = bytes, .length = length}, .borrowed = 1};
    return begin(out, ST_NOWHERE);
}

void safetensors_close(struct safetensors *file)
{
    mem_free(file->path);
    mem_free(file->tensor);
    mem_free(file->by_name);
    json_decref(file->header);
    mem_count(0, file->header_bytes);
    if (!file->borrowed)
        file_unmap(&file->map);
    *file = (struct safetensors){0};
}

/* The first place in by_name whose name, as far as length bytes of it, is not before the text (after: is behind it). */
static size_t find_place(const struct safetensors *file, const char *text, size_t length, int after)
{
    size_t low = 0, high = file->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strncmp(file->by_name[middle]->name, text, length) < after)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t safetensors_begin_with(const struct safetensors *file, const char *text, size_t *first)
{
    *first = find_place(file, text, strlen(text), 0);
    return find_place(file, text, strlen(text), 1) - *first;
}

size_t safetensors_place(const struct safetensors *file, const struct st_tensor *tensor)
{
    return find_place(file, tensor->name, strlen(tensor->name) + 1, 0);
}

const struct st_tensor *safetensors_find(const struct safetensors *file, const char *name)
{
    size_t place = find_place(file, name, strlen(name) + 1, 0);
    return place < file->count && !strcmp(file->by_name[place]->name, name) ? file->by_name[place] : NULL;
}

const char *safetensors_metadata(const struct safetensors *file, const char *key)
{
    return json_string_value(json_object_get(json_object_get(file->header, "__metadata__"), key));
}

/* ---------------------------------------------------------------- values */

/* sign, 5 bits of exponent, 10 of fraction: all of it fits a double. */
static double from_f16(uint16_t bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double size = exponent == 31 ? (fraction ? NAN : INFINITY)
                  : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                 : ldexp(fraction, -24);
    return bits & 0x8000 ? -size : size;
}

/* The upper half of an f32. */
static double from_bf16(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return (double)value;
}

/* One loop per type: an element is copied out (it may not be aligned), then converted. */
#define CONVERT(id, type, from)                                                                              \
    case ST_##id:                                                                                            \
        for (size_t i = 0; i < tensor->count; i++) {                                                         \
            type element;                                                                                    \
            memcpy(&element, bytes + i * sizeof element, sizeof element);                                    \
            out[i] = from(element);                                                                          \
        }                                                                                                    \
        return 0;

int safetensors_to_double(const struct st_tensor *tensor, double *out)
{
    const unsigned char *bytes = tensor->data;
    switch (tensor->dtype) {
        CONVERT(F64, double, (double))
        CONVERT(F32, float, (double))
        CONVERT(F16, uint16_t, from_f16)
        CONVERT(BF16, uint16_t, from_bf16)
    default:
        return fail_tensor(tensor, "its type is %s, expected F32, F64, F16 or BF16",
                           st_dtype_name(tensor->dtype));
    }
}

int st_dtype_is_real(enum st_dtype dtype)
{
    return dtype == ST_F64 || dtype == ST_F32 || dtype == ST_F16 || dtype == ST_BF16;
}
