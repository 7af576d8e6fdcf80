/* SPDX-License-Identifier: MIT */
#include <jansson.h>

#include "fuzz.h"

enum { DATA_MOST = 1 << 20 };

/* Real files to begin with: as text for fuzz_safetensors, their tensors, their numbers. */
static struct {
    uint8_t *text;
    size_t length;
    json_t *tensors;
    uint8_t *data;
} seeds[8];
static size_t seed_count;

/* Where the last of the tensors says that it ends. */
static size_t data_length(const json_t *tensors)
{
    const char *name;
    json_t *tensor;
    size_t most = 0;
    json_object_foreach((json_t *)(uintptr_t)tensors, name, tensor)
    {
        json_int_t end = json_integer_value(json_array_get(json_object_get(tensor, "data_offsets"), 1));
        if (end > (json_int_t)most && end <= DATA_MOST)
            most = (size_t)end;
    }
    return most;
}

static void put_length(uint8_t *file, uint64_t length)
{
    for (int i = 0; i < 8; i++)
        file[i] = (uint8_t)(length >> 8 * i);
}

/* Numbers about 1. */
static void fill(uint8_t *data, size_t length)
{
    for (size_t i = 0; i < length; i++)
        data[i] = (uint8_t)(i % 4 == 3 ? 0x3f : i * 37);
}

static size_t offset(const json_t *tensor, size_t i)
{
    json_int_t at = json_integer_value(json_array_get(json_object_get(tensor, "data_offsets"), i));
    return at < 0 || at > DATA_MOST ? 0 : (size_t)at;
}

/* Tensors that a real file has too, of as many bytes, have its numbers: counts and states are refused otherwise. */
static void fill_as_real(uint8_t *data, size_t length, const json_t *tensors)
{
    const char *name;
    json_t *tensor;
    json_object_foreach((json_t *)(uintptr_t)tensors, name, tensor)
    {
        size_t begin = offset(tensor, 0), end = offset(tensor, 1);
        for (size_t k = 0; k < seed_count; k++) {
            const json_t *real = json_object_get(seeds[k].tensors, name);
            size_t from = offset(real, 0), to = offset(real, 1);
            if (real && begin < end && end <= length && to - from == end - begin)
                memcpy(data + begin, seeds[k].data + from, end - begin);
        }
    }
}

uint8_t *fuzz_safetensors(const uint8_t *bytes, size_t length, size_t *out)
{
    const uint8_t *line = memchr(bytes, '\n', length);
    size_t first = line ? (size_t)(line - bytes) : length, rest = line ? length - first - 1 : 0;
    json_t *tensors = rest ? json_loadb((const char *)line + 1, rest, 0, NULL) : NULL;
    if (!json_is_object(tensors)) {
        json_decref(tensors);
        tensors = json_object();
    }
    size_t data = data_length(tensors);
    json_t *text = json_stringn((const char *)bytes, first);
    if (text)
        json_object_set_new(tensors, "__metadata__", json_pack("{s:o}", "spherelu", text));
    char *header = json_dumps(tensors, JSON_COMPACT);
    size_t header_length = header ? strlen(header) : 0;
    uint8_t *file = calloc(8 + header_length + data, 1);
    if (!file)
        abort();
    put_length(file, header_length);
    if (header)
        memcpy(file + 8, header, header_length);
    fill(file + 8 + header_length, data);
    if (first % 8) /* the others have numbers about 1 */
        fill_as_real(file + 8 + header_length, data, tensors);
    json_decref(tensors);
    free(header);
    *out = 8 + header_length + data;
    return file;
}

/* ---------------------------------------------------------------- a real file to begin with */

void fuzz_seed(const char *path)
{
    FILE *file = fopen(path, "rb");
    static uint8_t bytes[1 << 18];
    size_t got = file ? fread(bytes, 1, sizeof bytes, file) : 0, header = 0;
    for (int i = 7; got > 8 && i >= 0; i--)
        header = header << 8 | bytes[i];
    json_t *tensors = got > 8 && header <= got - 8 ? json_loadb((char *)bytes + 8, header, 0, NULL) : NULL;
    const char *line =
        json_string_value(json_object_get(json_object_get(tensors, "__metadata__"), "spherelu"));
    char *first = line ? strdup(line) : NULL;
    json_object_del(tensors, "__metadata__");
    char *rest = tensors ? json_dumps(tensors, JSON_COMPACT) : NULL;
    if (!first || !rest || seed_count == sizeof seeds / sizeof *seeds)
        abort();
    size_t length = strlen(first) + 1 + strlen(rest);
    uint8_t *text = malloc(length + 1);
    if (!text)
        abort();
    snprintf((char *)text, length + 1, "%s\n%s", first, rest);
    seeds[seed_count].text = text;
    seeds[seed_count].length = length;
    seeds[seed_count].tensors = tensors;
    if (!(seeds[seed_count].data = malloc(sizeof bytes)))
        abort();
    memcpy(seeds[seed_count++].data, bytes + 8 + header, got - 8 - header);
    free(first);
    free(rest);
    fclose(file);
}

/* ---------------------------------------------------------------- mutations of both lines */

/* Offsets that its shapes and types ask for, one tensor after the other. */
static void lay_out(json_t *tensors)
{
    const char *name;
    json_t *tensor, *size;
    json_int_t at = 0;
    size_t i;
    json_object_foreach(tensors, name, tensor)
    {
        const char *dtype = json_string_value(json_object_get(tensor, "dtype"));
        json_int_t bytes = dtype && strstr(dtype, "64") ? 8 : dtype && strstr(dtype, "8") ? 1 : 4;
        json_array_foreach(json_object_get(tensor, "shape"), i, size)
        {
            json_int_t n = json_integer_value(size);
            bytes = n < 0 || n > DATA_MOST || bytes > DATA_MOST ? 0 : bytes * n;
        }
        if (!json_is_object(tensor) || !strcmp(name, "__metadata__") || bytes > DATA_MOST)
            continue;
        json_object_set_new(tensor, "data_offsets", json_pack("[I,I]", at, at + bytes));
        at += bytes;
    }
}

size_t LLVMFuzzerMutate(uint8_t *bytes, size_t length, size_t most);

/* text (*length) of JSON <- changed; 0: it is none, or does not fit. */
static int change_text(char *text, size_t *length, size_t most, int tensors, unsigned *random)
{
    json_t *root = json_loadb(text, *length, 0, NULL);
    if (!root)
        return 0;
    for (unsigned i = 0; i <= fuzz_random(random) % 3; i++)
        fuzz_change_json(root, random);
    if (tensors && fuzz_random(random) % 2)
        lay_out(root);
    size_t written = json_dumpb(root, text, most, JSON_COMPACT);
    json_decref(root);
    if (!written || written > most)
        return 0;
    *length = written;
    return 1;
}

size_t fuzz_mutate(uint8_t *bytes, size_t length, size_t most, unsigned seed)
{
    enum { TOO_SHORT = 64, TEXT_MOST = 1 << 16 }; /* to be anything: begin with a real one */
    static char first[TEXT_MOST], rest[TEXT_MOST];
    unsigned random = seed;
    if (seed_count && (length < TOO_SHORT || fuzz_random(&random) % 64 == 0)) {
        size_t k = fuzz_random(&random) % seed_count;
        if (seeds[k].length <= most) {
            memcpy(bytes, seeds[k].text, seeds[k].length);
            length = seeds[k].length;
        }
    }
    const uint8_t *line = memchr(bytes, '\n', length);
    size_t one = line ? (size_t)(line - bytes) : length, two = line ? length - one - 1 : 0;
    if (!line || length > TEXT_MOST || fuzz_random(&random) % 6 == 0)
        return LLVMFuzzerMutate(bytes, length, most);
    memcpy(first, bytes, one);
    memcpy(rest, line + 1, two);
    int changed = fuzz_random(&random) % 2 ? change_text(first, &one, sizeof first, 0, &random)
                                           : change_text(rest, &two, sizeof rest, 1, &random);
    if (!changed || one + 1 + two > most)
        return LLVMFuzzerMutate(bytes, length, most);
    memcpy(bytes, first, one);
    bytes[one] = '\n';
    memcpy(bytes + one + 1, rest, two);
    return one + 1 + two;
}

/* ---------------------------------------------------------------- whole files */

size_t fuzz_mutate_safetensors(uint8_t *bytes, size_t length, size_t most, unsigned seed)
{
    static char text[1 << 16];
    unsigned random = seed;
    size_t header = 0;
    for (int i = 7; length > 8 && i >= 0; i--)
        header = header << 8 | bytes[i];
    if (length <= 8 || header > length - 8 || header > sizeof text || fuzz_random(&random) % 6 == 0)
        return LLVMFuzzerMutate(bytes, length, most);
    memcpy(text, bytes + 8, header);
    if (fuzz_random(&random) % 4 == 0) /* its letters, but the length before it stays right */
        header = LLVMFuzzerMutate((uint8_t *)text, header, sizeof text);
    else if (!change_text(text, &header, sizeof text, 1, &random))
        return LLVMFuzzerMutate(bytes, length, most);
    json_t *tensors = json_loadb(text, header, 0, NULL);
    size_t data = data_length(tensors);
    json_decref(tensors);
    if (8 + header + data > most)
        return LLVMFuzzerMutate(bytes, length, most);
    put_length(bytes, header);
    memcpy(bytes + 8, text, header);
    fill(bytes + 8 + header, data);
    return 8 + header + data;
}
