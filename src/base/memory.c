/* SPDX-License-Identifier: MIT */
#include "base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void *mem_copy(const void *memory, size_t count, size_t size)
{
    void *copy = mem_get(count, size);
    if (copy && count)
        memcpy(copy, memory, count * size);
    return copy;
}

char *mem_text_of(const char *text, size_t length)
{
    char *copy = mem_get(length + 1, 1);
    if (copy)
        memcpy(copy, text, length);
    return copy;
}

char *mem_text(const char *text)
{
    return mem_text_of(text, strlen(text));
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

char **mem_copy_texts(char *const *texts, size_t count)
{
    char **copy = mem_get(count, sizeof *copy);
    for (size_t i = 0; copy && i < count; i++)
        if (!(copy[i] = mem_text(texts[i]))) {
            mem_free_texts(copy, i);
            return NULL;
        }
    return copy;
}

void mem_free_texts(char **texts, size_t count)
{
    for (size_t i = 0; texts && i < count; i++)
        mem_free(texts[i]);
    mem_free(texts);
}

void *mem_own(struct mem_owned *owned, size_t count, size_t size)
{
    void *block = NULL;
    if (mem_reserve((void **)&owned->blocks, &owned->capacity, owned->count + 1, sizeof *owned->blocks) &&
        (block = mem_get(count, size)))
        owned->blocks[owned->count++] = block;
    owned->failed |= !block;
    return block;
}

void mem_free_owned(struct mem_owned *owned)
{
    for (size_t i = 0; i < owned->count; i++)
        mem_free(owned->blocks[i]);
    mem_free(owned->blocks);
    *owned = (struct mem_owned){0};
}
