/* SPDX-License-Identifier: MIT
 *
 * The two functions that ask the system for memory, apart from their callers so that a test can stand in for
 * them. */
#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#if defined(__linux__) || defined(__EMSCRIPTEN__)
#include <malloc.h>
#endif
#include <string.h>

#include "base/error.h"

static size_t size_of(void *memory)
{
#if defined(__linux__) || defined(__EMSCRIPTEN__)
    enum { BESIDE = 48 }; /* what glibc keeps or leaves empty beside an aligned block, on average */
    return memory ? malloc_usable_size(memory) + BESIDE : 0;
#else
    (void)memory;
    return 0; /* the limit then holds for each allocation, not for their sum */
#endif
}

/* *bytes <- how many they are. */
static void *get(size_t count, size_t size, size_t *bytes)
{
    if (size && count > (SIZE_MAX - MEM_ALIGN) / size) {
        sph_fail(SPH_EMEMORY, "out of memory: %zu items of %zu bytes", count, size);
        return NULL;
    }
    *bytes = (count * size + MEM_ALIGN - 1) / MEM_ALIGN * MEM_ALIGN;
    if (!*bytes)
        *bytes = MEM_ALIGN;
    if (!mem_allows(*bytes))
        return NULL;
    void *memory = aligned_alloc(MEM_ALIGN, *bytes);
    if (!memory) {
        sph_fail(SPH_EMEMORY, "out of memory: %zu bytes", *bytes);
        return NULL;
    }
    mem_count(size_of(memory), 0);
    return memory;
}

void *mem_get(size_t count, size_t size)
{
    size_t bytes;
    void *memory = get(count, size, &bytes);
    if (memory)
        memset(memory, 0, bytes);
    return memory;
}

void *mem_get_large(size_t count, size_t size)
{
    size_t bytes;
    return get(count, size, &bytes);
}

void *mem_resize(void *memory, size_t old_count, size_t new_count, size_t size)
{
    void *grown = mem_get(new_count, size);
    if (!grown)
        return NULL;
    size_t keep = old_count < new_count ? old_count : new_count;
    if (memory && keep)
        memcpy(grown, memory, keep * size);
    mem_free(memory);
    return grown;
}

void mem_free(void *memory)
{
    mem_count(0, size_of(memory));
    free(memory);
}
