/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "file/file.h"
#include "base/memory.h"

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int file_list(char ***out, size_t *count, const char *dir)
{
    size_t capacity = 0;
    int err = 0;
    *out = NULL;
    *count = 0;
    DIR *open = opendir(dir);
    if (!open)
        return sph_fail_at(SPH_EIO, dir, "cannot list the folder: %s", strerror(errno));
    for (struct dirent *entry; !err && (entry = readdir(open));) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        if (mem_reserve((void **)out, &capacity, *count + 1, sizeof **out) &&
            ((*out)[*count] = mem_text(entry->d_name)))
            ++*count;
        else
            err = SPH_EMEMORY;
    }
    closedir(open);
    if (err < 0) {
        file_list_free(*out, *count);
        *out = NULL;
        *count = 0;
    } else if (*count)
        qsort(*out, *count, sizeof **out, by_name);
    return err;
}

void file_list_free(char **names, size_t count)
{
    for (size_t i = 0; names && i < count; i++)
        mem_free(names[i]);
    mem_free(names);
}
