/* SPDX-License-Identifier: MIT
 *
 * libFuzzer target: whatever the bytes, the reader accepts or refuses them, and what it hands out lies in the
 * file. Start from tests/bad/safetensors. */
#include "base/memory.h"
#include "fuzz.h"
#include "store/safetensors.h"

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t length, size_t most, unsigned seed)
{
    return fuzz_mutate_safetensors(bytes, length, most, seed);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct safetensors file;
    if (safetensors_open(&file, fuzz_file("a.safetensors", bytes, length)) < 0)
        return 0;
    size_t covered = 0;
    for (size_t i = 0; i < file.count; i++) {
        const struct st_tensor *tensor = &file.tensor[i];
        const unsigned char *data = tensor->data;
        if (data < file.map.data || tensor->bytes > (size_t)(file.map.data + file.map.length - data))
            abort();
        if (safetensors_find(&file, tensor->name) != tensor)
            abort();
        double *values = mem_get(tensor->count, sizeof *values);
        if (values)
            safetensors_to_double(tensor, values);
        mem_free(values);
        covered += tensor->bytes;
    }
    uint64_t header;
    memcpy(&header, bytes, sizeof header);
    if (covered != length - sizeof header - header)
        abort();
    safetensors_close(&file);
    return 0;
}
