/* SPDX-License-Identifier: MIT
 *
 * Mutations that leave JSON what it is: one value somewhere in it becomes another, goes, or comes twice. */
#include <jansson.h>
#include <limits.h>

#include "fuzz.h"

unsigned fuzz_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* ---------------------------------------------------------------- one of the values */

/* A place: what holds it, and under which name or number. */
struct place {
    json_t *in;
    char key[128];
    size_t index;
};

static void walk(json_t *in, struct place *chosen, size_t *seen, unsigned *random)
{
    const char *key;
    json_t *value;
    size_t i;
    json_object_foreach(in, key, value)
    {
        if (fuzz_random(random) % ++*seen == 0) {
            *chosen = (struct place){.in = in};
            snprintf(chosen->key, sizeof chosen->key, "%s", key);
        }
        walk(value, chosen, seen, random);
    }
    json_array_foreach(in, i, value)
    {
        if (fuzz_random(random) % ++*seen == 0)
            *chosen = (struct place){.in = in, .index = i};
        walk(value, chosen, seen, random);
    }
}

static json_t *get(const struct place *place)
{
    return json_is_object(place->in) ? json_object_get(place->in, place->key)
                                     : json_array_get(place->in, place->index);
}

static void set(const struct place *place, json_t *value)
{
    if (json_is_object(place->in))
        json_object_set_new(place->in, place->key, value);
    else
        json_array_set_new(place->in, place->index, value);
}

static json_t *another(const json_t *value, unsigned *random)
{
    static const json_int_t numbers[] = {0,         1,      2,         3,         -1,        7,
                                         64,        65536,  UINT_MAX,  INT64_MAX, LLONG_MIN, 1ll << 31,
                                         1ll << 61, 100000, 1ll << 32, 255};
    static const char *const words[] = {
        "",     "F32", "F64",    "U8",   "BF16",         "gmp", "sp",    "bn",     "imn",     "relu",
        "mean", "a",   "number", "text", "\xe2\x82\xac", "x=1", "level", "target", "feature", "classes"};
    static const double reals[] = {0.5, -0.25, 1e-300, 1e300, 3.0};
    json_int_t number = json_integer_value(value);
    unsigned r = fuzz_random(random);
    switch (fuzz_random(random) % 10) {
    case 0:
        return json_integer(numbers[r % (sizeof numbers / sizeof *numbers)]);
    case 1:
        return json_string(words[r % (sizeof words / sizeof *words)]);
    case 2:
        return json_real(reals[r % (sizeof reals / sizeof *reals)]);
    case 3:
        return json_boolean(r % 2);
    case 4:
        return r % 3 ? json_null() : r % 2 ? json_array() : json_object();
    default: /* a neighbour of what it is */
        if (json_is_integer(value) && number > -1000000 && number < 1000000)
            return json_integer(r % 3 ? number + (r % 2 ? 1 : -1) : number * 2);
        if (json_is_boolean(value))
            return json_boolean(!json_is_true(value));
        return json_deep_copy(value);
    }
}

static void add_beside(const struct place *place, const json_t *value, unsigned *random)
{
    char key[136];
    snprintf(key, sizeof key, "%s%c", place->key, 'a' + (int)(fuzz_random(random) % 26));
    if (json_is_object(place->in))
        json_object_set_new(place->in, key, json_deep_copy(value));
    else
        json_array_insert_new(place->in, place->index, json_deep_copy(value));
}

void fuzz_change_json(json_t *root, unsigned *random)
{
    struct place place = {0}, other = {0};
    size_t seen = 0;
    walk(root, &place, &seen, random);
    if (!seen)
        return;
    switch (fuzz_random(random) % 8) {
    case 0:
        if (json_is_object(place.in))
            json_object_del(place.in, place.key);
        else
            json_array_remove(place.in, place.index);
        return;
    case 1:
        add_beside(&place, get(&place), random);
        return;
    case 2: /* what stands elsewhere */
        seen = 0;
        walk(root, &other, &seen, random);
        set(&place, json_deep_copy(get(&other)));
        return;
    default:
        set(&place, another(get(&place), random));
    }
}

/* ---------------------------------------------------------------- as text */

size_t LLVMFuzzerMutate(uint8_t *bytes, size_t length, size_t most);

size_t fuzz_mutate_json(uint8_t *bytes, size_t length, size_t most, unsigned seed)
{
    unsigned random = seed;
    json_t *root = fuzz_random(&random) % 4 ? json_loadb((char *)bytes, length, 0, NULL) : NULL;
    if (!root)
        return LLVMFuzzerMutate(bytes, length, most);
    for (unsigned i = 0; i <= fuzz_random(&random) % 3; i++)
        fuzz_change_json(root, &random);
    size_t written = json_dumpb(root, (char *)bytes, most, JSON_COMPACT);
    json_decref(root);
    return written && written <= most ? written : LLVMFuzzerMutate(bytes, length, most);
}
