/* SPDX-License-Identifier: MIT
 *
 * --max-memory, and what holds without it. */
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "cli.h"

/* "8G", "500M", "1000000"; thousands of thousands. */
static int read_bytes(const char *text, size_t *out)
{
    static const char units[] = "kMGT";
    char *end;
    if (!isdigit((unsigned char)*text))
        return 0;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, *end == 'K' ? 'k' : *end) : NULL;
    if (errno || !value || (*end && (!unit || end[1])))
        return 0;
    for (const char *at = units; unit && at <= unit; at++)
        if (__builtin_mul_overflow(value, 1000ULL, &value))
            return 0;
    *out = (size_t)value;
    return 1;
}

/* The number in a file of one, or SIZE_MAX ("max", or no such file). */
static size_t number_in(const char *path)
{
    char text[32] = "";
    unsigned long long value = 0;
    FILE *file = fopen(path, "r");
    if (!file)
        return SIZE_MAX;
    if (!fgets(text, sizeof text, file) || sscanf(text, "%llu", &value) != 1 || !value)
        value = SIZE_MAX;
    fclose(file);
    return (size_t)value;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* A container or the shell may allow less than the machine has. */
static size_t allowed(void)
{
    struct rlimit space;
    size_t bytes = least(number_in("/sys/fs/cgroup/memory.max"),
                         number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
    if (!getrlimit(RLIMIT_AS, &space) && space.rlim_cur != RLIM_INFINITY)
        bytes = least(bytes, (size_t)space.rlim_cur);
    return bytes;
}

int args_set_memory(const struct args *args)
{
    const char *value = args_value(args, "max-memory");
    size_t bytes = allowed() / 4 * 3;
    if (value && !read_bytes(value, &bytes))
        return cli_fail_option(args->command, "max-memory",
                               "found '%s', expected a number of bytes such as 500M or 8G", value);
    if (value || bytes < sph_max_memory())
        sph_set_max_memory(bytes);
    return 0;
}
