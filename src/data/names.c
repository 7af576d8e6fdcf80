/* SPDX-License-Identifier: MIT */
#include "data/names.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* A name is: bytes of front, bytes of end, length of the middle (two bytes where it is 255 or more: 255, then the
 * rest in two, low first), the middle. */
enum { NAMES_RUN = 32, SHARED_MOST = 255, HEAD_MOST = 5 };

/* A quarter more, so that little lies empty. */
static int reserve(struct names *names, size_t more)
{
    if (names->room - names->length >= more)
        return 1;
    size_t room = names->length + names->length / 4 + more + 4096;
    unsigned char *bytes = mem_resize(names->bytes, names->length, room, 1);
    if (!bytes)
        return 0;
    names->bytes = bytes;
    names->room = room;
    return 1;
}

int names_add(struct names *names, const char *name)
{
    size_t length = strlen(name), old = strlen(names->last), front = 0, end = 0;
    if (length > NAMES_LONGEST)
        return sph_fail(SPH_EFORMAT, "a name of %zu bytes, expected at most %d: %.60s...", length,
                        NAMES_LONGEST, name);
    if (names->count % NAMES_RUN == 0) {
        if (!mem_reserve((void **)&names->whole, &names->whole_room, names->count / NAMES_RUN + 1,
                         sizeof *names->whole))
            return SPH_EMEMORY;
        names->whole[names->count / NAMES_RUN] = names->length;
    } else {
        size_t least = length < old ? length : old, most = least < SHARED_MOST ? least : SHARED_MOST;
        while (front < most && name[front] == names->last[front])
            front++;
        most = least - front < SHARED_MOST ? least - front : SHARED_MOST;
        while (end < most && name[length - 1 - end] == names->last[old - 1 - end])
            end++;
    }
    size_t middle = length - front - end;
    if (!reserve(names, middle + HEAD_MOST))
        return SPH_EMEMORY;
    unsigned char *to = names->bytes + names->length;
    *to++ = (unsigned char)front;
    *to++ = (unsigned char)end;
    *to++ = (unsigned char)(middle < 255 ? middle : 255);
    if (middle >= 255) {
        *to++ = (unsigned char)(middle & 255);
        *to++ = (unsigned char)(middle >> 8);
    }
    memcpy(to, name + front, middle);
    names->length = (size_t)(to - names->bytes) + middle;
    memcpy(names->last, name, length + 1);
    names->count++;
    return 0;
}

int names_end(struct names *names)
{
    unsigned char *bytes = mem_resize(names->bytes, names->length, names->length, 1);
    if (!bytes)
        return SPH_EMEMORY;
    names->bytes = bytes;
    names->room = names->length;
    return 0;
}

void names_at(const struct names *names, size_t i, char out[NAMES_LONGEST + 1])
{
    const unsigned char *at = names->bytes + names->whole[i / NAMES_RUN];
    size_t length = 0;
    for (size_t k = 0; k <= i % NAMES_RUN; k++) {
        size_t front = at[0], end = at[1], middle = at[2];
        at += 3;
        if (middle == 255) {
            middle = at[0] | (size_t)at[1] << 8;
            at += 2;
        }
        memmove(out + front + middle, out + length - end, end);
        memcpy(out + front, at, middle);
        at += middle;
        length = front + middle + end;
    }
    out[length] = '\0';
}

void names_free(struct names *names)
{
    mem_free(names->bytes);
    mem_free(names->whole);
    *names = (struct names){0};
}
