/* SPDX-License-Identifier: MIT */
#include "base/sized.h"

#include <string.h>

#include "base/error.h"

int sized_take(void *own, size_t size, const void *given, const char *type)
{
    size_t theirs;
    memcpy(&theirs, given, sizeof theirs);
    if (theirs > size)
        return sph_fail_key(SPH_EARG, "size",
                            "%zu bytes, but %s has %zu in this version of the library; was the program built "
                            "with the headers of a newer one?",
                            theirs, type, size);
    if (theirs <= sizeof theirs || theirs % sizeof(int))
        return sph_fail_key(SPH_EARG, "size", "%zu bytes, expected sizeof(%s)", theirs, type);
    memcpy(own, given, theirs);
    memcpy(own, &size, sizeof size);
    return 0;
}

void sized_give(void *out, size_t room, const void *own, size_t size)
{
    if (!out || room < sizeof room)
        return;
    memset(out, 0, room);
    memcpy(out, own, room < size ? room : size);
    memcpy(out, &room, sizeof room);
}
