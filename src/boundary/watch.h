/* SPDX-License-Identifier: MIT
 *
 * Runs a network in evaluation and gives the output of each node for each row of a source. The network may
 * change between runs; buffers are allocated once. */
#ifndef SPH_BOUNDARY_WATCH_H
#define SPH_BOUNDARY_WATCH_H

#include "net/net.h"
#include "rows/source.h"

struct watch;

/* Some rows of a node's values. Borrowed for the duration of the call. */
struct watched {
    size_t node;
    size_t layer;        /* whose output they are, scale and activation included; NET_NOWHERE: another node */
    size_t row;          /* of the source: the first of these                                               */
    size_t rows;         /* how many                                                                        */
    size_t features;     /* of each: (channels, height, width)                                              */
    const double *value; /* (rows, features)                                                                */
    const double *scale; /* (channels) of a layer, already in value; NULL: 1 each                           */
};

/* Called node by node for some rows, in the order of computation beginning with the input (node 0), then for
 * the next rows. */
typedef void watch_see(void *self, const struct watched *seen);

int watch_new(struct watch **out, sph_net *net);
void watch_free(struct watch *watch);

/* From now on only the nodes where[node] != 0 are shown; NULL: all. Borrowed. */
void watch_only(struct watch *watch, const unsigned char *where);

/* All rows of the source through the net as it is now. */
int watch_run(struct watch *watch, const struct source *source, watch_see *see, void *self);

#endif
