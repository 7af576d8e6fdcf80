/* SPDX-License-Identifier: MIT */
#include "base/memory.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

void *mem_get(size_t count, size_t size)
{
    if (size && count > (SIZE_MAX - MEM_ALIGN) / size) {
        sph_fail(SPH_EMEMORY, "out of memory: %zu items of %zu bytes", count, size);
        return NULL;
    }
    size_t bytes = (count * size + MEM_ALIGN - 1) / MEM_ALIGN * MEM_ALIGN;
    if (!bytes)
        bytes = MEM_ALIGN;
    void *block = aligned_alloc(MEM_ALIGN, bytes);
    if (!block) {
        sph_fail(SPH_EMEMORY, "out of memory: %zu bytes", bytes);
        return NULL;
    }
    memset(block, 0, bytes);
    return block;
}

void *mem_resize(void *block, size_t old_count, size_t new_count, size_t size)
{
    void *grown = mem_get(new_count, size);
    if (!grown)
        return NULL;
    size_t keep = old_count < new_count ? old_count : new_count;
    if (block && keep)
        memcpy(grown, block, keep * size);
    free(block);
    return grown;
}

void mem_free(void *block)
{
    free(block);
}

char *mem_text_part(const char *text, size_t length)
{
    char *copy = mem_get(length + 1, 1);
    if (copy)
        memcpy(copy, text, length);
    return copy;
}

char *mem_text(const char *text)
{
    return mem_text_part(text, strlen(text));
}

char *mem_format(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = mem_get((size_t)length + 1, 1);
    if (!text)
        return NULL;
    va_start(args, format);
    vsnprintf(text, (size_t)length + 1, format, args);
    va_end(args);
    return text;
}

int mem_reserve(void **list, size_t *capacity, size_t count, size_t size)
{
    if (count <= *capacity)
        return 1;
    size_t wanted = *capacity ? *capacity * 2 : 16;
    if (wanted < count)
        wanted = count;
    void *grown = mem_resize(*list, *capacity, wanted, size);
    if (!grown)
        return 0;
    *list = grown;
    *capacity = wanted;
    return 1;
}
