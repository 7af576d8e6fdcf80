/* SPDX-License-Identifier: MIT */
#include <jansson.h>

#include "fuzz.h"

enum { DATA_MOST = 1 << 20 };

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
    json_decref(tensors);
    size_t header_length = header ? strlen(header) : 0;
    uint8_t *file = calloc(8 + header_length + data, 1);
    if (!file)
        abort();
    for (int i = 0; i < 8; i++)
        file[i] = (uint8_t)((uint64_t)header_length >> 8 * i);
    if (header)
        memcpy(file + 8, header, header_length);
    for (size_t i = 0; i < data; i++)
        file[8 + header_length + i] = (uint8_t)(i % 4 == 3 ? 0x3f : i * 37); /* numbers about 1 */
    free(header);
    *out = 8 + header_length + data;
    return file;
}

/* ---------------------------------------------------------------- a real file to begin with */

static struct {
    uint8_t *text;
    size_t length;
} seeds[8];
static size_t seed_count;

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
    seeds[seed_count++].length = length;
    json_decref(tensors);
    free(first);
    free(rest);
    fclose(file);
}

size_t LLVMFuzzerMutate(uint8_t *bytes, size_t length, size_t most);

size_t fuzz_mutate(uint8_t *bytes, size_t length, size_t most, unsigned seed)
{
    enum { TOO_SHORT = 64 }; /* to be anything: begin with a real one */
    if (seed_count && (length < TOO_SHORT || seed % 64 == 0)) {
        size_t k = seed / 64 % seed_count;
        if (seeds[k].length <= most) {
            memcpy(bytes, seeds[k].text, seeds[k].length);
            length = seeds[k].length;
        }
    }
    return LLVMFuzzerMutate(bytes, length, most);
}
