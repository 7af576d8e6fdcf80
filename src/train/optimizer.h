/* SPDX-License-Identifier: MIT
 *
 * Optimizers: one update per group of learned numbers, one span each. */
#ifndef SPH_TRAIN_OPTIMIZER_H
#define SPH_TRAIN_OPTIMIZER_H

#include "net/weights.h"
#include "spherelu/core.h"

enum { OPTIMIZER_SLOTS = 2 };

struct optimizer {
    const sph_train_opts *opts;  /* borrowed */
    size_t slots;                /* adam 2, sgd 1 */
    void *slot[OPTIMIZER_SLOTS]; /* (learned) each */
};

int optimizer_new(struct optimizer *out, const struct weights *weights, const sph_train_opts *opts);
void optimizer_free(struct optimizer *optimizer);

/* Clips weights->learned_grad and updates the net's learned numbers; step counts from 1. */
void optimizer_step(struct optimizer *optimizer, struct weights *weights, double lr, uint64_t step);

#endif
