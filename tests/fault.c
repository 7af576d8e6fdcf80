/* SPDX-License-Identifier: MIT
 *
 * The wrapped allocators. */
#include "fault.h"

#include <stdlib.h>

#include "base/error.h"
#include "short_memory.h"

void *__real_mem_get(size_t count, size_t size);
void *__real_mem_get_large(size_t count, size_t size);
void *__real_mem_resize(void *block, size_t old_count, size_t new_count, size_t size);
void *__wrap_mem_get(size_t count, size_t size);
void *__wrap_mem_get_large(size_t count, size_t size);
void *__wrap_mem_resize(void *block, size_t old_count, size_t new_count, size_t size);

/* Calls still to succeed; negative: off. Atomic, since threads of the library allocate too. */
static atomic_llong countdown = -1;
static atomic_int happened;

void fault_after(size_t n)
{
    atomic_store(&happened, 0);
    atomic_store(&countdown, (long long)n);
}

void fault_off(void)
{
    atomic_store(&countdown, -1);
}

int fault_happened(void)
{
    return atomic_load(&happened);
}

static int fails_now(void)
{
    if (atomic_load(&countdown) < 0 || atomic_fetch_sub(&countdown, 1) != 0)
        return 0;
    atomic_store(&happened, 1);
    sph_fail(SPH_EMEMORY, "out of memory (a test's doing)");
    return 1;
}

struct short_memory short_memory;

void *aligned_alloc(size_t alignment, size_t size)
{
    void *block = NULL;
    if (atomic_fetch_add(&short_memory.calls, 1) + 1 == short_memory.fail)
        return NULL;
    return posix_memalign(&block, alignment, size) ? NULL : block;
}

void *__wrap_mem_get(size_t count, size_t size)
{
    return fails_now() ? NULL : __real_mem_get(count, size);
}

void *__wrap_mem_get_large(size_t count, size_t size)
{
    return fails_now() ? NULL : __real_mem_get_large(count, size);
}

void *__wrap_mem_resize(void *block, size_t old_count, size_t new_count, size_t size)
{
    return fails_now() ? NULL : __real_mem_resize(block, old_count, new_count, size);
}
