/* SPDX-License-Identifier: MIT
 *
 * The public arrays of boundaries (sph_boundary), made of hyperplanes, a census and a layer's own
 * coordinates. */
#ifndef SPH_BOUNDARY_BOUNDARIES_H
#define SPH_BOUNDARY_BOUNDARIES_H

#include "net/net.h"
#include "rows/source.h"

/* sph_boundaries_new with the data points as the net takes them, or NULL. */
int boundaries_new(sph_boundaries **out, const sph_net *net, size_t layer, int raw,
                   const struct source *source);

#endif
