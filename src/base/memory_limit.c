/* SPDX-License-Identifier: MIT
 *
 * How much the process may hold. Memory belongs to the process, and so does its limit: the one setting of the
 * library that hangs off no handle. */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"

static atomic_size_t held;
static atomic_size_t limit; /* 0: not settled yet */

/* Three quarters of what the machine has. */
static size_t usual_limit(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (size_t)pages / 4 * 3 * (size_t)size : SIZE_MAX;
}

void sph_set_max_memory(size_t bytes)
{
    atomic_store(&limit, bytes);
}

size_t sph_max_memory(void)
{
    size_t bytes = atomic_load(&limit);
    return bytes ? bytes : usual_limit();
}

static const char *in_words(char out[static 16], size_t bytes)
{
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
    double value = (double)bytes;
    int unit = 0;
    for (; value >= 999.5; unit++)
        value /= 1000;
    snprintf(out, 16, "%.3g %s", value, units[unit]);
    return out;
}

int mem_allows(size_t bytes)
{
    size_t now = atomic_load(&held), most = sph_max_memory();
    if (bytes <= most && now <= most - bytes)
        return 1;
    char asked[16], used[16], allowed[16];
    sph_fail_key(SPH_EMEMORY, "max-memory",
                 "out of memory: needs %s more, %s in use, limit %s (see --max-memory)",
                 in_words(asked, bytes), in_words(used, now), in_words(allowed, most));
    return 0;
}

void mem_count(size_t taken, size_t given)
{
    atomic_fetch_add(&held, taken - given);
}

size_t mem_held(void)
{
    return atomic_load(&held);
}
