/* SPDX-License-Identifier: MIT
 *
 * libFuzzer target: whatever the bytes, the reader accepts or refuses them, and what it hands out lies in the
 * file. Start from tests/bad/safetensors. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "store/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static int fd = -1;
    static char path[64];
    if (fd < 0) {
        fd = memfd_create("fuzz", 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    if (ftruncate(fd, 0) < 0 || pwrite(fd, bytes, length, 0) != (ssize_t)length)
        abort();

    struct safetensors file;
    if (safetensors_open(&file, path) < 0)
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
