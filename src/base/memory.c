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

void mem_free_texts(char **texts, size_t count)
{
    for (size_t i = 0; texts && i < count; i++)
        mem_free(texts[i]);
    mem_free(texts);
}
