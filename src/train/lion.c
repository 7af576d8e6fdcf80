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
    .no_natural = "uses only signs of gradients, which --natural does not change",
    .reads = {[OPTIMIZER_BETA1] = 1, [OPTIMIZER_BETA2] = 1},
    .decoupled = 1,
    .rate = 0.1,
    .momentum = 0.9,
    .beta1 = 0.9,
    .beta2 = 0.99,
    .epsilon = 1e-8,
    .batch_power = 0.5,
};
