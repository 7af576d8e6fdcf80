/* SPDX-License-Identifier: MIT
 *
 * On which side of each unit's boundary the samples are, and how near they are, in evaluation. Each
 * measured layer has a copy without activation and scale that reads the same node; its output is the input
 * of the activation. */
#ifndef SPH_BOUNDARY_CENSUS_H
#define SPH_BOUNDARY_CENSUS_H

#include "net/net.h"
#include "rows/source.h"

struct census_layer {
    size_t layer, m;
    uint64_t seen;    /* rows; conv: rows times pixels of its output                              */
    uint64_t *active; /* (m) of these on the active side: z > 0, srelu z > its left threshold      */
    double *closest;  /* (m) least |w x + b| of the unit's hyperplane; NaN: no hyperplane, no rows */
};

struct census {
    size_t count;
    struct census_layer *layer; /* (count) in the order asked for */
};

/* layers: (count) different ones that have an activation. */
int census_take(struct census *out, const sph_net *net, const size_t *layers, size_t count,
                const struct source *source);
void census_free(struct census *census);

#endif
