/* SPDX-License-Identifier: MIT
 *
 * Threads that prepare rows ahead of time. Rows are returned in the order of the requests; their contents
 * do not depend on the threads, and the number of prepared rows is limited. */
#ifndef SPH_DATA_LOADER_H
#define SPH_DATA_LOADER_H

#include <stddef.h>
#include <stdint.h>

/* Who brings a row. A desk is what one thread works with. */
struct loader_maker {
    void *self;
    size_t bytes; /* of a row */
    int (*bring)(void *self, void *desk, size_t epoch, uint32_t row, uint8_t *to);
    void *(*desk)(void *self); /* NULL: out of memory */
    void (*desk_free)(void *self, void *desk);
};

struct loader;

/* workers 0: rows are brought at the time of asking. */
int loader_new(struct loader **out, const struct loader_maker *maker, size_t workers);
void loader_free(struct loader *loader); /* NULL is fine */

/* As struct picture_stream's, rows/picture_source.h. */
int loader_begin(struct loader *loader, size_t epoch, const uint32_t *rows, const uint32_t *order,
                 size_t count);
int loader_take(struct loader *loader, uint32_t row, const uint8_t **bytes);
double loader_waited(const struct loader *loader);

#endif
