/* SPDX-License-Identifier: MIT
 *
 * What data see of a net's boundaries, in evaluation: on which side of each unit's boundary they lie and how
 * near they come. Beside every layer asked about stands a copy of it without activation and scale, reading
 * the same node: it puts out what the layer puts through its activation, whatever the layer is. */
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
