/* SPDX-License-Identifier: MIT
 *
 * Activation patterns: which units of a network are active for which rows of a source, one bit each, in
 * evaluation. Repeated during training, they give the number of bits that changed and the number of
 * distinct patterns.
 *
 * A unit is active if act(z) > 0, ignoring its scale. That is z > 0 for relu, leaky_relu and elu, and for
 * srelu as long as 0 is between its thresholds and its outer slopes are positive. A unit with scale 0 is
 * inactive, and so is NaN. In a convolution each pixel of each channel has a bit.
 *
 * Sites are the layers with an activation and the separate activations of the graph (after an addition), in
 * the order of computation. */
#ifndef SPH_BOUNDARY_PATTERNS_H
#define SPH_BOUNDARY_PATTERNS_H

#include <stddef.h>
#include <stdint.h>

#include "net/net.h"
#include "rows/source.h"

struct patterns_site {
    char path[96];   /* the layer's; "act.NODE" for an activation alone */
    size_t features; /* bits of a row (channels, height, width)         */
    size_t bytes;    /* of a row: features / 8 rounded up               */
    size_t at;       /* where its part of the record begins             */
};

struct patterns;

/* Both are borrowed. Memory: two records, and what a forward pass of some rows takes. */
int patterns_new(struct patterns **out, sph_net *net, const struct source *source);
void patterns_free(struct patterns *patterns);

size_t patterns_rows(const struct patterns *patterns);
size_t patterns_sites(const struct patterns *patterns); /* 0: a net without activations */
const struct patterns_site *patterns_site(const struct patterns *patterns, size_t index);

/* A record, packed:
 *     u64 step
 *     for each site: u8 (rows, bytes) its bits, a row's first in the highest bit of its first byte, the rest
 *                    of its last byte 0, as numpy.packbits does;
 *                    u64 bits that differ from the record before (0 in the first);
 *                    u64 different patterns among the rows
 *     u64 flips, u64 distinct: of all sites together */
size_t patterns_bytes(const struct patterns *patterns);

/* *record <- the net as it is now; borrowed until the take after the next. After a failure the record before
 * is still the one that the next is compared with. */
int patterns_take(struct patterns *patterns, uint64_t step, const void **record);

/* Room for a record (patterns_bytes), to be filled at once: the next take is compared with it, as if it had
 * been the last one taken. */
void *patterns_go_on(struct patterns *patterns);

#endif
