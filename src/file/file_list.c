/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/order.h"
#include "file/file.h"
#include "file/file_inside.h"
#include "base/memory.h"

DIR *file_open_list(const char *dir)
{
    int fd = file_open_directory(dir);
    DIR *open = fd < 0 ? NULL : fdopendir(fd);
    int reason = errno;
    if (fd >= 0 && !open)
        close(fd);
    errno = reason;
    return open;
}

int file_list(char ***out, size_t *count, const char *dir)
{
    size_t capacity = 0;
    int err = 0;
    *out = NULL;
    *count = 0;
    DIR *open = file_open_list(dir);
    if (!open)
        return file_fail_to("list the folder", dir);
    struct dirent *entry;
    for (errno = 0; !err && (entry = readdir(open)); errno = 0) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        if (mem_reserve((void **)out, &capacity, *count + 1, sizeof **out) &&
            ((*out)[*count] = mem_text(entry->d_name)))
            ++*count;
        else
            err = SPH_EMEMORY;
    }
    if (!err && errno) /* the end of the folder leaves it alone */
        err = file_fail_to("list the folder", dir);
    closedir(open);
    if (err < 0) {
        mem_free_texts(*out, *count);
        *out = NULL;
        *count = 0;
    } else if (*count)
        qsort(*out, *count, sizeof **out, by_text);
    return err;
}

int file_is_temporary(const char *name)
{
    size_t length = strlen(name), tail = FILE_DIGITS + sizeof FILE_SUFFIX - 1;
    return length > tail + 1 && name[length - tail - 1] == '.' &&
           strspn(name + length - tail, "0123456789abcdef") >= FILE_DIGITS &&
           !strcmp(name + length - sizeof FILE_SUFFIX + 1, FILE_SUFFIX);
}

int file_check_empty(const char *dir)
{
    char **names = NULL;
    size_t count = 0;
    if (!file_is_directory(dir))
        return 0;
    int err = file_list(&names, &count, dir);
    for (size_t i = 0; i < count && !err; i++)
        if (*names[i] != '.' && !file_is_temporary(names[i]))
            err = sph_fail_at(SPH_EARG, dir, "contains other files, such as %s; choose another --out",
                              names[i]);
    mem_free_texts(names, count);
    return err;
}
