/* SPDX-License-Identifier: MIT
 *
 * Adam (Kingma and Ba, 2015) and AdamW (Loshchilov and Hutter, 2019): the mean of gradients over the root of
 * the mean of their squares, both corrected for their start at 0. */
#include <math.h>

#include "train/optimizer.h"

/* Keras adds epsilon to the root before its correction: lr sqrt(c2) / c1 * m / (sqrt(v) + epsilon), which is the
 * form of the kernel with epsilon / sqrt(c2). Keras 2.15 rounds the betas of the corrections to f32. */
static void adam_begin(struct update_args *args, const sph_train_opts *opts, uint64_t step)
{
    int keras = opts->adam_form == SPH_ADAM_KERAS;
    args->correct1 = 1 - pow(keras ? (double)(float)args->beta1 : args->beta1, (double)step);
    args->correct2 = 1 - pow(keras ? (double)(float)args->beta2 : args->beta2, (double)step);
    if (keras)
        args->epsilon /= sqrt(args->correct2);
}

const struct optimizer_ops optimizer_ADAM = {
    .name = "adam",
    .update = UPDATE_ADAM,
    .slots = 2,
    .unit_moment = 1,
    .reads = {[OPTIMIZER_BETA1] = 1, [OPTIMIZER_BETA2] = 1, [OPTIMIZER_EPSILON] = 1, [OPTIMIZER_FORM] = 1},
    .rate = 1,
    .momentum = 0.9,
    .beta1 = 0.9,
    .beta2 = 0.999,
    .epsilon = 1e-8,
    .batch_power = 0.5,
    .begin = adam_begin,
};

const struct optimizer_ops optimizer_ADAMW = {
    .name = "adamw",
    .update = UPDATE_ADAM,
    .slots = 2,
    .unit_moment = 1,
    .reads = {[OPTIMIZER_BETA1] = 1, [OPTIMIZER_BETA2] = 1, [OPTIMIZER_EPSILON] = 1, [OPTIMIZER_FORM] = 1},
    .decoupled = 1,
    .rate = 1,
    .momentum = 0.9,
    .beta1 = 0.9,
    .beta2 = 0.999,
    .epsilon = 1e-8,
    .batch_power = 0.5,
    .begin = adam_begin,
};
