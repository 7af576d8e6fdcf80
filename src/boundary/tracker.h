/* SPDX-License-Identifier: MIT
 *
 * Follows boundaries during training, step by step (sph_tracker). It stores the unit normals of the
 * previous step. It tracks the layers that have hyperplanes: those with an activation and without ln. */
#ifndef SPH_BOUNDARY_TRACKER_H
#define SPH_BOUNDARY_TRACKER_H

#include "net/net.h"

/* Whether the layer's units have hyperplanes at every step. */
int tracker_follows(const sph_net *net, size_t layer);

/* Takes the layers as they are now: there is no step before. */
void tracker_start(sph_tracker *tracker, const sph_view *view);

/* Takes the layers after a step; sph_tracker_layer then tells how they moved. Allocates nothing. */
void tracker_step(sph_tracker *tracker, const sph_view *view);

/* The hyperplanes last taken, in the net's dtype: phi and normal (m, n) each. NaN where a unit has none,
 * and before the first; zeros are not negative. */
void tracker_frame(const sph_tracker *tracker, size_t layer, void *phi, void *normal);

#endif
