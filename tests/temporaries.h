/* SPDX-License-Identifier: MIT
 *
 * What writers leave in a folder when something goes wrong. */
#ifndef TESTS_TEMPORARIES_H
#define TESTS_TEMPORARIES_H

#include <dirent.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Files of folder that begin with stem and end in .tmp; removes them where sweep is set. */
static inline __attribute__((unused)) size_t temporaries_in(const char *folder, const char *stem, int sweep)
{
    size_t count = 0;
    DIR *open = opendir(folder);
    for (struct dirent *entry; open && (entry = readdir(open));) {
        size_t length = strlen(entry->d_name);
        if (length < 4 || strcmp(entry->d_name + length - 4, ".tmp") != 0 ||
            strncmp(entry->d_name, stem, strlen(stem)) != 0)
            continue;
        count++;
        if (sweep)
            unlinkat(dirfd(open), entry->d_name, 0);
    }
    if (open)
        closedir(open);
    return count;
}

#endif
