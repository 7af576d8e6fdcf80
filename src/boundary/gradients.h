/* SPDX-License-Identifier: MIT
 *
 * Statistics of a network during training for each layer: the size of the gradient of the directions, and
 * the share of samples for which units are active. Appendix E of the 2024 paper asks whether a product of
 * sines makes either of them vanish.
 *
 * The directions are theta (gmp), u (sphere), v (wn) or the weight itself (sp). The gradient is that of the
 * loss on fixed rows of a source at the current weights. Normalizations use these rows as their batch, and
 * running statistics do not change. Activity is measured in evaluation as in patterns.h, and so is the mean
 * of a layer's inputs, which Remark 3.6 assumes to be 0. */
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
