/* SPDX-License-Identifier: MIT */
#include "file/json.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "file/file.h"
#include "base/memory.h"
#include "base/words.h"

/* At least the length of the longest number or text. */
static size_t longest_token(const char *bytes, size_t length)
{
    size_t longest = 0, run = 0;
    for (size_t i = 0, text = 0; i < length; i++) {
        char c = bytes[i];
        if (c == '"')
            text = !text;
        else if (text && c == '\\')
            i++, run++;
        run = text || (c && strchr("\"0123456789+-.eE", c)) ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

/* Short of memory, jansson drops characters of a number or text that is longer than any token before it, and says
 * nothing. So a text longer than these goes before the document, ["     ", document]: there the loss is seen, as
 * long as it is not that of its closing quote, which would stand where a buffer of 2^n characters is full. NULL
 * for whatever reason. */
static json_t *load(const char *bytes, size_t length)
{
    size_t pad = longest_token(bytes, length) + 1;
    pad += !((pad + 2) & (pad + 1));
    struct text padded = {0};
    text_add(&padded, "[\"%*s\",", (int)(pad < INT_MAX ? pad : INT_MAX), "");
    text_add_bytes(&padded, bytes, length);
    text_add_bytes(&padded, "]", 1);
    json_t *both =
        padded.failed ? NULL : json_loadb(padded.chars, padded.length, JSON_REJECT_DUPLICATES, NULL);
    json_t *document = json_array_get(both, 1);
    int whole = json_array_size(both) == 2 && json_string_length(json_array_get(both, 0)) == pad &&
                (json_is_object(document) || json_is_array(document));
    json_incref(document);
    json_decref(both);
    text_free(&padded);
    if (whole)
        return document;
    json_decref(document);
    return NULL;
}

/* What jansson takes for the text, at most, by the characters that begin something: 1.3 to 2 times what was measured, where
 * {},{},{} takes 80 bytes for one. */
size_t json_footprint(const char *bytes, size_t length)
{
    enum { OBJECT = 256, ARRAY = 144, MEMBER = 112, VALUE = 64, TEXT = 40, BYTE = 4 };
    size_t sum = BYTE * length;
    for (size_t i = 0; i < length; i++)
        switch (bytes[i]) {
        case '{':
            sum += OBJECT;
            break;
        case '[':
            sum += ARRAY;
            break;
        case ':':
            sum += MEMBER;
            break;
        case ',':
            sum += VALUE;
            break;
        case '"':
            sum += TEXT;
        }
    return sum;
}

int json_parse(json_t **out, const char *where, const char *bytes, size_t length)
{
    json_error_t error = {0};
    *out = NULL;
    if (!mem_allows(json_footprint(bytes, length)))
        return sph_fail_move(SPH_EMEMORY, where, 0, 0);
    if ((*out = load(bytes, length)))
        return 0;
    json_t *lossy = json_loadb(bytes, length, JSON_REJECT_DUPLICATES, &error);
    json_decref(lossy);
    /* Out of memory, the parser stops without a word. (While it copies a string it calls the string
     * unexpected: that cannot be told from a bad file.) */
    if (lossy || !error.text[0])
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

static int add_to_text(const char *bytes, size_t length, void *text)
{
    struct text *out = text;
    if (length)
        text_add_bytes(out, bytes, length);
    return out->failed ? -1 : 0;
}

int json_print(struct text *out, const json_t *value, size_t indent)
{
    size_t layout = indent == JSON_LINE ? 0 : indent ? JSON_INDENT(indent) : JSON_COMPACT;
    size_t flags = JSON_REAL_PRECISION(17) | JSON_ENCODE_ANY | layout;
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
    return sph_fail_of(SPH_EFORMAT, where, 0, key, "\"%s\" is %s, expected %s", key, kind(value), expected);
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

int json_member_word(const json_t *object, const char *where, const char *key, const sph_word_row *words,
                     int *out)
{
    const char *word = "";
    int err = json_member_text(object, where, key, &word);
    if (err < 0)
        return err;
    *out = words_find(words, word);
    if (*out >= 0)
        return 0;
    char list[128] = "";
    size_t used = 0;
    for (const sph_word_row *row = words; row->word && used < sizeof list; row++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", row->word);
    return sph_fail_of(SPH_EFORMAT, where, 0, key, "\"%s\" is \"%.80s\", expected one of %s", key, word,
                       list);
}

int json_member_array(const json_t *object, const char *where, const char *key, const json_t **out)
{
    *out = json_object_get(object, key);
    return json_is_array(*out) ? 0 : refuse(*out, where, key, "an array");
}

int json_member_object(const json_t *object, const char *where, const char *key, const json_t **out)
{
    *out = json_object_get(object, key);
    return json_is_object(*out) ? 0 : refuse(*out, where, key, "an object");
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
            return sph_fail_of(SPH_EFORMAT, where, 0, key, "\"%s\"[%zu] is %s, expected a number", key, i,
                               kind(value));
        }
        values[i] = json_number_value(value);
    }
    *out = values;
    *count = length;
    return 0;
}

/* ---------------------------------------------------------------- values */

json_t *json_count(size_t count)
{
    return json_integer((json_int_t)count);
}

json_t *json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *json_numbers(const double *values, size_t count)
{
    json_t *array = json_array();
    int bad = !array;
    for (size_t i = 0; i < count && !bad; i++)
        bad = json_array_append_new(array, json_number(values[i]));
    return json_whole(array, bad);
}

json_t *json_words(const char *text)
{
    if (!text)
        return json_null();
    if (text_is_utf8(text))
        return json_string(text);
    char *copy = mem_text(text);
    if (!copy)
        return NULL;
    for (char *c = copy; *c; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    json_t *value = json_string(copy);
    mem_free(copy);
    return value;
}

json_t *json_from(const struct json_member *members)
{
    json_t *object = json_object();
    int bad = !object;
    for (; members->key; members++)
        if (*members->key)
            bad |= json_object_set_new(object, members->key, members->value);
        else
            json_decref(members->value);
    return json_whole(object, bad);
}

json_t *json_whole(json_t *value, int bad)
{
    if (!bad)
        return value;
    json_decref(value);
    return NULL;
}
