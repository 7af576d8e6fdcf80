/* SPDX-License-Identifier: MIT
 *
 * Starts the program that measures: it lies beside the tool, or where it was installed. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

/* A folder from which the tool's own is reached, and back. */
static const char *const places[] = {"", "../libexec/spherelu/", "../lib/spherelu/"};

int bench_run(const struct args *args)
{
    char own[PATH_MAX], path[PATH_MAX + 64];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    if (length < 0)
        return cli_fail_at(args->command, "/proc/self/exe", "cannot find the path of this program: %s",
                           strerror(errno));
    own[length] = '\0';
    char *name = strrchr(own, '/');
    *(name ? name + 1 : own) = '\0';
    fflush(stdout);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(path, sizeof path, "%s%s" BENCH_PROGRAM, own, places[i]);
        execv(path, args->argv);
    }
    int error = errno;
    snprintf(path, sizeof path, "%s" BENCH_PROGRAM, own);
    return cli_fail_at(args->command, path, "cannot be started: %s; install spherelu again", strerror(error));
}
