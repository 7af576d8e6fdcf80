/* SPDX-License-Identifier: MIT
 *
 * One block of memory for many buffers: buffers that are never needed at the same time may share their
 * place. */
#ifndef SPH_NET_ARENA_H
#define SPH_NET_ARENA_H

#include <stddef.h>

struct arena_span {
    size_t length;      /* wanted                              */
    size_t first, last; /* moments of its life, both included  */
    size_t at;          /* where it lies: filled in            */
};

/* Places the spans, those that live longest first, each as low as it can lie; `line` divides every place.
 * Returns the length of the whole. order: (count) room to work in. */
size_t arena_place(struct arena_span *spans, size_t count, size_t line, size_t *order);

#endif
