/* SPDX-License-Identifier: MIT
 *
 * Gradient descent with momentum, also Nesterov's, in PyTorch's form: v = mu v + g, p -= lr v. */
#include "train/optimizer.h"

const struct optimizer_ops optimizer_SGD = {
    .name = "sgd",
    .update = UPDATE_SGD,
    .slots = 1,
    .reads = {[OPTIMIZER_MOMENTUM] = 1, [OPTIMIZER_NESTEROV] = 1},
    .rate = 1,
    .momentum = 0.9,
    .beta1 = 0.9,
    .beta2 = 0.999,
    .epsilon = 1e-8,
    .batch_power = 1,
};
