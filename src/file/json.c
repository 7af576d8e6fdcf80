/* SPDX-License-Identifier: MIT */
#include "file/json.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "file/file.h"
#include "base/memory.h"

int json_parse(json_t **out, const char *where, const char *bytes, size_t length)
{
    json_error_t error;
    *out = json_loadb(bytes, length, JSON_REJECT_DUPLICATES, &error);
    if (*out)
        return 0;
    /* Out of memory, the parser stops silently. (While it copies a string it calls the string
     * unexpected: that cannot be told from a bad file.) */
    if (!error.text[0])
        return sph_fail_at(SPH_EMEMORY, where, "out of memory");
    if (json_error_code(&error) == json_error_invalid_utf8)
        return sph_fail_at(SPH_EFORMAT, where, "not UTF-8 at byte %d: %s", error.position, error.text);
    return sph_fail_at(SPH_EFORMAT, where, "not valid JSON at line %d, column %d: %s", error.line,
                       error.column, error.text);
}

int json_read(json_t **out, const char *path)
{
    *out = NULL;
    char *bytes;
    size_t length;
    int err = file_read(&bytes, &length, path);
    if (err < 0)
        return err;
    err = json_parse(out, path, bytes, length);
    mem_free(bytes);
    return err;
}

int json_read_twice(json_t **out, const char *path)
{
    json_t *again = NULL;
    int err = json_read(out, path);
    if (!err && !(err = json_read(&again, path)) && !json_equal(*out, again))
        err = sph_fail(SPH_EMEMORY, "out of memory reading %s", path);
    json_decref(again);
    return err;
}

static int add_to_text(const char *bytes, size_t length, void *text)
{
    struct text *out = text;
    if (length)
        text_add_bytes(out, bytes, length);
    return out->failed ? -1 : 0;
}

int json_print(struct text *out, const json_t *value, size_t indent)
{
    size_t flags = JSON_REAL_PRECISION(17) | JSON_ENCODE_ANY | (indent ? JSON_INDENT(indent) : JSON_COMPACT);
    if (json_dump_callback(value, add_to_text, out, flags) == 0)
        return 0;
    return out->failed ? SPH_EMEMORY : sph_fail(SPH_EMEMORY, "out of memory while writing JSON");
}

int json_write(const char *path, const json_t *value, size_t indent)
{
    struct text text = {0};
    int err = json_print(&text, value, indent);
    if (!err) {
        text_add(&text, "\n");
        err = text.failed ? SPH_EMEMORY : file_replace_with(path, text.chars, text.length);
    }
    text_free(&text);
    return err;
}

/* ---------------------------------------------------------------- members */

static const char *kind(const json_t *value)
{
    if (!value)
        return "missing";
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
        return json_integer_value(value) < 0 ? "a negative number" : "a whole number";
    case JSON_REAL:
        return "a fraction";
    case JSON_NULL:
        return "null";
    default:
        return "true or false";
    }
}

static int refuse(const json_t *value, const char *where, const char *key, const char *expected)
{
    return sph_fail_at(SPH_EFORMAT, where, "\"%s\" is %s, expected %s", key, kind(value), expected);
}

int json_member_size(const json_t *object, const char *where, const char *key, size_t *out)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return refuse(value, where, key, "a whole number from 0");
    *out = (size_t)json_integer_value(value);
    return 0;
}

int json_member_real(const json_t *object, const char *where, const char *key, double *out)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_number(value))
        return refuse(value, where, key, "a number");
    *out = json_number_value(value);
    return 0;
}

int json_member_bool(const json_t *object, const char *where, const char *key, int *out)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_boolean(value))
        return refuse(value, where, key, "true or false");
    *out = json_is_true(value);
    return 0;
}

int json_member_text(const json_t *object, const char *where, const char *key, const char **out)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_string(value))
        return refuse(value, where, key, "a string");
    *out = json_string_value(value);
    return 0;
}

int json_member_array(const json_t *object, const char *where, const char *key, const json_t **out)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_array(value))
        return refuse(value, where, key, "an array");
    *out = value;
    return 0;
}

int json_member_object(const json_t *object, const char *where, const char *key, const json_t **out)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_object(value))
        return refuse(value, where, key, "an object");
    *out = value;
    return 0;
}

int json_member_reals(const json_t *object, const char *where, const char *key, double **out, size_t *count)
{
    *out = NULL;
    *count = 0;
    const json_t *array = NULL;
    int err = json_member_array(object, where, key, &array);
    if (err)
        return err;
    size_t length = json_array_size(array);
    double *values = mem_get(length, sizeof *values);
    if (!values)
        return SPH_EMEMORY;
    for (size_t i = 0; i < length; i++) {
        const json_t *value = json_array_get(array, i);
        if (!json_is_number(value)) {
            mem_free(values);
            return sph_fail_at(SPH_EFORMAT, where, "\"%s\"[%zu] is %s, expected a number", key, i,
                               kind(value));
        }
        values[i] = json_number_value(value);
    }
    *out = values;
    *count = length;
    return 0;
}

/* ---------------------------------------------------------------- values */

json_t *json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *json_numbers(const double *values, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count && array; i++)
        if (json_array_append_new(array, json_number(values[i])) < 0) {
            json_decref(array);
            array = NULL;
        }
    return array;
}

int json_is_utf8(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    while (*p) {
        unsigned code = *p++;
        int more = code < 0x80 ? 0 : code >> 5 == 6 ? 1 : code >> 4 == 14 ? 2 : code >> 3 == 30 ? 3 : -1;
        if (more < 0)
            return 0;
        if (more)
            code &= 0x3fu >> more;
        for (int i = 0; i < more; i++, p++) {
            if (*p >> 6 != 2)
                return 0;
            code = code << 6 | (*p & 0x3fu);
        }
        /* longer than needed, surrogates, beyond Unicode */
        static const unsigned least[4] = {0, 0x80, 0x800, 0x10000};
        if (code < least[more] || code >> 11 == 0x1b || code > 0x10ffff)
            return 0;
    }
    return 1;
}
