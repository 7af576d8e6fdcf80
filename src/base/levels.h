/* SPDX-License-Identifier: MIT
 *
 * A set of texts in the order in which they were added. The key of its hash is random for each process, so
 * that a file cannot contain texts that were chosen to collide. No result depends on the key. */
#ifndef SPH_BASE_LEVELS_H
#define SPH_BASE_LEVELS_H

#include <stddef.h>

struct levels {
    char **text; /* (count) */
    size_t count, capacity;
    size_t *slot; /* open addressing: index + 1, 0 is free */
    size_t slots;
    size_t limit; /* more than this many: stop counting */
    int overflow; /* there were more */
};

int levels_add(struct levels *levels, const char *text); /* limit 0: none */
int levels_add_all(struct levels *levels, const struct levels *from);

/* The same; *index <- the text's place in levels->text, or SIZE_MAX where there were too many before it. */
int levels_place(struct levels *levels, const char *text, size_t *index);

/* The text's place, or SIZE_MAX: it was not added. */
size_t levels_seen(const struct levels *levels, const char *text);
void levels_free(struct levels *levels);

/* Sorts bytewise; levels_add must not follow. */
void levels_sort(struct levels *levels);

/* Index of text in sorted words, or -1. */
ptrdiff_t levels_find(char *const *sorted, size_t count, const char *text);

#endif
