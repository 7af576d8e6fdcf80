/* SPDX-License-Identifier: MIT
 *
 * Many names in little memory. For each name, only the bytes that differ from the name before it are
 * stored, with the lengths of the common beginning and end; at regular intervals a name is stored whole.
 * Sorted names take a few bytes each. */
#ifndef SPH_DATA_NAMES_H
#define SPH_DATA_NAMES_H

#include <stddef.h>

enum { NAMES_LONGEST = 4095 };

struct names {
    unsigned char *bytes; /* (length) */
    size_t length, room;
    size_t *whole; /* (count / NAMES_RUN, rounded up) where the names lie that are whole */
    size_t whole_room, count;
    char last[NAMES_LONGEST + 1];
};

/* Appends a name of at most NAMES_LONGEST bytes. */
int names_add(struct names *names, const char *name);

/* Gives back what growing left over. */
int names_end(struct names *names);

/* out <- name i. */
void names_at(const struct names *names, size_t i, char out[NAMES_LONGEST + 1]);

void names_free(struct names *names); /* of zeroes is fine */

#endif
