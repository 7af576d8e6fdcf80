/* SPDX-License-Identifier: MIT
 *
 * Lion (Chen et al., 2023, "Symbolic discovery of optimization algorithms"): every number moves by lr, in the
 * direction of the sign of a mean of gradients; decoupled weight decay. Its steps are as large as Adam's are
 * at most, so it wants a smaller rate. */
#include "train/optimizer.h"

const struct optimizer_ops optimizer_LION = {
    .name = "lion",
    .update = UPDATE_LION,
    .slots = 1,
    .no_natural = "takes only the sign of each number, which a division by the metric leaves as it is",
    .reads = {[OPTIMIZER_BETA1] = 1, [OPTIMIZER_BETA2] = 1},
    .decoupled = 1,
    .rate = 0.1,
    .momentum = 0.9,
    .beta1 = 0.9,
    .beta2 = 0.99,
    .epsilon = 1e-8,
    .batch_power = 0.5,
};
