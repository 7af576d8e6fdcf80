/* SPDX-License-Identifier: MIT
 *
 * JSON by jansson, with the library's failures: typed members whose error names file and key, numbers that
 * come back the same. `where` is what messages begin with: a path, or "path: metadata".
 *
 * jansson has its own allocator (one for the whole process, which may have other users, so it is left alone); where it runs out of memory the functions here return SPH_EMEMORY. */
#ifndef SPH_FILE_JSON_H
#define SPH_FILE_JSON_H

#include <jansson.h>
#include <stddef.h>

#include "base/text.h"
#include "spherelu/base.h"

/* Parses; duplicate keys and bytes that are not UTF-8 are refused (SPH_EFORMAT). Numbers come with all their
 * digits or not at all. Caller frees with json_decref. */
int json_parse(json_t **out, const char *where, const char *bytes, size_t length);
int json_read(json_t **out, const char *path);

/* How much memory a document may take once it is parsed; json_parse asks whether it is allowed. Who keeps a document counts it
 * (mem_count). */
size_t json_footprint(const char *bytes, size_t length);

/* Appends value as text: 17 significant digits; indent 0 is one line without blanks, JSON_LINE one with them.
 * No newline at the end. */
enum { JSON_LINE = 31 };
int json_print(struct text *out, const json_t *value, size_t indent);

/* print, a newline, file_replace. */
int json_write(const char *path, const json_t *value, size_t indent);

/* Member `key` of an object, or SPH_EFORMAT: `where: "key" is a string, expected a whole number`. */
int json_member_size(const json_t *object, const char *where, const char *key, size_t *out);
int json_member_real(const json_t *object, const char *where, const char *key,
                     double *out); /* or an integer */
int json_member_bool(const json_t *object, const char *where, const char *key, int *out);
int json_member_text(const json_t *object, const char *where, const char *key,
                     const char **out); /* borrowed */
int json_member_word(const json_t *object, const char *where, const char *key, const sph_word_row *words,
                     int *out); /* its number among them */
int json_member_array(const json_t *object, const char *where, const char *key, const json_t **out);
int json_member_object(const json_t *object, const char *where, const char *key, const json_t **out);
int json_member_reals(const json_t *object, const char *where, const char *key, double **out,
                      size_t *count); /* caller frees out with mem_free */

/* New values to hand to JSON_OF or json_object_set_new() and its kin, which refuse the NULL that these give when memory
 * is short: build freely, collect the results, check once. A number that is not finite becomes null. */
json_t *json_count(size_t count);
json_t *json_number(double value);
json_t *json_numbers(const double *values, size_t count);
json_t *json_words(const char *text); /* NULL is null; text that is not UTF-8 keeps its ASCII */

/* A new object: JSON_OF({"rows", json_count(rows)}, JSON_IF(named, "name", json_words(name))). The values are the object's from
 * now on; where one is NULL, so is what comes out, and the others are freed. */
struct json_member {
    const char *key;
    json_t *value;
};
json_t *json_from(
    const struct json_member *members); /* up to a key that is NULL; one that is "" is left out */
#define JSON_OF(...) json_from((const struct json_member[]){__VA_ARGS__, {NULL, NULL}})
#define JSON_IF(condition, key, value)                                                                       \
    {                                                                                                        \
        (condition) ? (key) : "", (condition) ? (value) : NULL                                               \
    }
json_t *json_whole(json_t *value,
                   int bad); /* the value; where it could not be filled NULL, and it is freed */

#endif
