/* SPDX-License-Identifier: MIT
 *
 * RMSprop (Hinton, 2012) in PyTorch's form, not centred: gradients over the root of the mean of their squares,
 * which starts at 0 and is not corrected for it; beta2 is what PyTorch calls alpha. */
#include "train/optimizer.h"

const struct optimizer_ops optimizer_RMSPROP = {
    .name = "rmsprop",
    .update = UPDATE_RMSPROP,
    .slots = 1,
    .momentum_slots = 1,
    .unit_moment = 1,
    .reads = {[OPTIMIZER_MOMENTUM] = 1, [OPTIMIZER_BETA2] = 1, [OPTIMIZER_EPSILON] = 1},
    .rate = 0.3,
    .momentum = 0,
    .beta1 = 0.9,
    .beta2 = 0.99,
    .epsilon = 1e-8,
    .batch_power = 0.5,
};
