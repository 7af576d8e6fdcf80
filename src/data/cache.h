/* SPDX-License-Identifier: MIT
 *
 * Sources that are read once for many jobs of a process and of its children: memory that does not change is
 * shared with them. A source is stored with all its rows, from which each job chooses; a synthetic dataset
 * is stored once for each seed. */
#ifndef SPH_DATA_CACHE_H
#define SPH_DATA_CACHE_H

#include "data/open.h"

struct data_cache {
    struct data_kept *list; /* (count) */
    size_t count, capacity;
};

/* As sph_data_open, opts not NULL. The data may be shared, and live on without the cache. */
int data_cache_open(struct data_cache *cache, sph_data **out, const char *source, const sph_data_opts *opts);
void data_cache_free(struct data_cache *cache); /* of zeroes is fine */

#endif
