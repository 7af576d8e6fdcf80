/* SPDX-License-Identifier: MIT
 *
 * How a net is doing while it trains, layer by layer: how large the gradient of its directions is, and for how
 * many rows its units are on. The 2024 paper's appendix E asks whether a product of sines lets either vanish.
 *
 * Directions are what a parameterization has in the place of a weight's: theta (gmp), u (sphere), v (wn), the
 * weight itself (sp). The gradient is that of the loss over some rows of a source, always the same, at the
 * weights as they are; normalizations see these rows as their batch, and running statistics stay what they
 * were. Whether a unit is on is told as in patterns.h, in evaluation, and so is where a layer's inputs are: Remark
 * 3.6 assumes that they are centred on the origin. */
#ifndef SPH_BOUNDARY_GRADIENTS_H
#define SPH_BOUNDARY_GRADIENTS_H

#include "net/net.h"
#include "rows/source.h"

struct gradients_layer {
    double rms, norm; /* of the gradient of the layer's directions: root of the mean square, 2-norm      */
    double active;    /* share of the rows for which a unit is on, mean over the units; conv: and pixels */
    double dead;      /* share of the units that are on for no row                                       */
    /* |mean| / root of the sum of variances of its inputs, as its units see them (imn taken off); conv: by channels;
     * NaN: inputs that do not differ */
    double input_mean;
};

struct gradients;

/* Of the first rows of the source, which has to stay as it is, by the loss of opts; both and net are borrowed. A layer whose directions are
 * fixed (gmp of one input) has a gradient of 0, one without an activation NaN for active and dead. */
int gradients_new(struct gradients **out, sph_net *net, const struct source *source, size_t rows,
                  const sph_train_opts *opts);
void gradients_free(struct gradients *gradients);

/* (layers) of the net as it is now; borrowed until the next take. */
int gradients_take(struct gradients *gradients, const struct gradients_layer **layers);

#endif
