/* SPDX-License-Identifier: MIT
 *
 * Synthetic datasets, determined by a seed: Levy's function in one dimension with noise, two interleaved
 * crescents, and twenty arms of a spiral. */
#ifndef SPH_ROWS_SYNTHETIC_H
#define SPH_ROWS_SYNTHETIC_H

#include <stddef.h>
#include <stdint.h>

#include "spherelu/core.h"

/* A set as a matrix: the target is the last column. */
struct synthetic {
    const char *const *names; /* (columns) */
    size_t rows, columns;
    size_t test_from; /* rows from here on are the set's own test part; 0: it has none */
    sph_task task;
    double *values; /* (rows, columns) caller frees with mem_free */
};

struct synthetic_opts {
    size_t rows;  /* 0: the set's own number */
    double noise; /* NaN: 0.1                */
    uint64_t seed;
    const uint32_t *numpy; /* levy: as numpy draws it after random.seed, places first, then errors; or NULL */
};

/* name: levy, crescents or spirals. Levy's rows are for training; after them comes its test part, the function itself
 * at -10, -9.9, ... 10. */
int synthetic_make(struct synthetic *out, const char *name, const struct synthetic_opts *opts);

#endif
