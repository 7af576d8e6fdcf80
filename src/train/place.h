/* SPDX-License-Identifier: MIT
 *
 * Trial: first boundaries that lie where the training rows do. */
#ifndef SPH_TRAIN_PLACE_H
#define SPH_TRAIN_PLACE_H

#include "net/net.h"
#include "rows/source.h"

/* Moves the boundaries of the hidden layers whose init asks for it; those of a dense chain with relu. */
int place_boundaries(sph_net *net, const struct source *train, uint64_t seed);

#endif
