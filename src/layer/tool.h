/* SPDX-License-Identifier: MIT
 *
 * For the tool: properties of normalizations and activations. Not installed, not part of the API. */
#ifndef SPH_LAYER_TOOL_H
#define SPH_LAYER_TOOL_H

#include "spherelu/net.h"

/* What kinds are like, for programs that explain them. */
int sph_norm_is_batch(sph_norm norm);    /* training takes statistics from the batch          */
int sph_norm_is_at_input(sph_norm norm); /* it stands on what a layer reads, the data apart   */
int sph_act_breaks(sph_act act);         /* boundaries that a unit has; 0: none               */

#endif
