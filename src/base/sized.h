/* SPDX-License-Identifier: MIT
 *
 * Structs of options as callers of any version have them: the first field is the size of the caller's struct. */
#ifndef SPH_BASE_SIZED_H
#define SPH_BASE_SIZED_H

#include <stddef.h>

/* own (size bytes), which holds defaults, <- the fields that the caller's struct has. type: "sph_mlp", for the message. SPH_EARG
 * with the key size: the caller's size is none that a struct of this type has or had. */
int sized_take(void *own, size_t size, const void *given, const char *type);

/* The same for a struct by its name. */
#define SIZED_TAKE(own, given, type) sized_take(own, sizeof *(own), (const type *){given}, #type)

/* out, of which the caller has `room` bytes, <- as much of own (size bytes) as there is room for, and the room as its size. */
void sized_give(void *out, size_t room, const void *own, size_t size);

#endif
