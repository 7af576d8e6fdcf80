/* SPDX-License-Identifier: MIT
 *
 * Activation patterns: which units of a net are on for which rows of a source, one bit each, in evaluation.
 * Taken again and again while the net changes, they tell how many bits flipped since the time before and how
 * many different patterns the rows have.
 *
 * A unit is on where act(z) > 0, its scale left aside: that is z > 0 for relu, leaky_relu and elu, and for
 * srelu as long as its thresholds lie on both sides of 0 and its outer slopes are positive. A unit whose
 * scale is 0 puts out nothing and is off. In a conv every pixel of every channel has a bit of its own. NaN is
 * off.
 *
 * Sites are the layers that have an activation and the activations that stand alone in the graph (behind an
 * addition), in the order of computation. */
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
