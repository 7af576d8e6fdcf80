/* SPDX-License-Identifier: MIT
 *
 * Adam (Kingma and Ba, 2015) and AdamW (Loshchilov and Hutter, 2019): the mean of gradients over the root of
 * the mean of their squares, both corrected for their start at 0. */
#include <math.h>

#include "train/optimizer.h"

static void adam_begin(struct update_args *args, uint64_t step)
{
    args->correct1 = 1 - pow(args->beta1, (double)step);
    args->correct2 = 1 - pow(args->beta2, (double)step);
}

const struct optimizer_ops optimizer_adam = {
    .name = "adam",
    .update = UPDATE_ADAM,
    .slots = 2,
    .unit_moment = 1,
    .reads = {[OPTIMIZER_BETA1] = 1, [OPTIMIZER_BETA2] = 1, [OPTIMIZER_EPSILON] = 1},
    .rate = 1,
    .momentum = 0.9,
    .beta1 = 0.9,
    .beta2 = 0.999,
    .epsilon = 1e-8,
    .begin = adam_begin,
};

const struct optimizer_ops optimizer_adamw = {
    .name = "adamw",
    .update = UPDATE_ADAM,
    .slots = 2,
    .unit_moment = 1,
    .reads = {[OPTIMIZER_BETA1] = 1, [OPTIMIZER_BETA2] = 1, [OPTIMIZER_EPSILON] = 1},
    .decoupled = 1,
    .rate = 1,
    .momentum = 0.9,
    .beta1 = 0.9,
    .beta2 = 0.999,
    .epsilon = 1e-8,
    .begin = adam_begin,
};
