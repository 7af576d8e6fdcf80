/* SPDX-License-Identifier: MIT
 *
 * What lies where the program was installed: prefix/bin, prefix/libexec/spherelu and prefix/lib/MACHINE are no
 * more than two folders below the one that share/ lies in, and so are the programs of a build. */
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "file/file.h"

static int look_above(char **out, const char *program, const char *name)
{
    static const char *const above[] = {"", "../", "../../"};
    const char *slash = strrchr(program, '/');
    int folder = slash ? (int)(slash - program) : 0;
    for (size_t i = 0; slash && i < sizeof above / sizeof *above; i++) {
        char real[PATH_MAX], *path = mem_format("%.*s/%s%s", folder, program, above[i], name);
        if (!path)
            return SPH_EMEMORY;
        int there = file_exists(path) && realpath(path, real);
        mem_free(path);
        if (there)
            return (*out = mem_text(real)) ? 1 : SPH_EMEMORY;
    }
    return 0;
}

int file_beside_program(char **out, const char *name)
{
    char program[PATH_MAX];
    static const char here = 0;
    Dl_info library;
    int found = 0;
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    *out = NULL;
    if (length > 0) {
        program[length] = '\0';
        found = look_above(out, program, name);
    }
    /* A library knows its own file; within a program that is the name it was called by, which may be any. */
    if (!found && dladdr(&here, &library) && library.dli_fname && *library.dli_fname == '/')
        found = look_above(out, library.dli_fname, name);
    return found;
}
