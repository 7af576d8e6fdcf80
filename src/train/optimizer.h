/* SPDX-License-Identifier: MIT
 *
 * Optimizers: one update for each group of parameters, one span each. An optimizer is one row of a table,
 * in a file with related optimizers or alone. */
#ifndef SPH_TRAIN_OPTIMIZER_H
#define SPH_TRAIN_OPTIMIZER_H

#include "net/weights.h"
#include "spherelu/core.h"

enum { OPTIMIZER_SLOTS = 2 };

/* Options that not every optimizer reads. */
enum optimizer_option {
    OPTIMIZER_MOMENTUM,
    OPTIMIZER_NESTEROV,
    OPTIMIZER_BETA1,
    OPTIMIZER_BETA2,
    OPTIMIZER_EPSILON,
    OPTIMIZER_FORM,
    OPTIMIZER_OPTIONS
};

struct optimizer_ops {
    const char *name;
    enum update_kind update;
    size_t slots;          /* numbers it remembers of each learned one     */
    size_t momentum_slots; /* as many more where the momentum is not 0     */
    unsigned char reads[OPTIMIZER_OPTIONS];
    const char *no_natural; /* why it takes no natural directions; NULL: it does            */
    int unit_moment;        /* under them its mean of squares is one number a unit          */
    int decoupled;          /* weight decay is no part of the gradient      */

    /* Where the user says nothing. Rates are factors on the default ones, which are Adam's. */
    double rate, momentum, beta1, beta2, epsilon;
    double batch_power; /* of networks for images: the rate goes with the batch to this power */

    /* numbers that change with the step; or NULL */
    void (*begin)(struct update_args *args, const sph_train_opts *opts, uint64_t step);
};

/* The row of an optimizer; never NULL. */
const struct optimizer_ops *optimizer_ops(sph_optimizer optimizer);

/* The row of X(ID, ...) in SPH_OPTIMIZERS is `const struct optimizer_ops optimizer_ID`; a file for each family. */
#define OPTIMIZER_ROW(id, word, help) extern const struct optimizer_ops optimizer_##id;
SPH_OPTIMIZERS(OPTIMIZER_ROW)

/* A span of learned numbers that is updated at once. */
struct optimizer_span {
    sph_group group;
    size_t at, count;
    size_t units; /* > 0: (count / units, units), one mean of squares a unit */
};

struct optimizer {
    const struct optimizer_ops *ops;
    const sph_train_opts *opts; /* borrowed */
    size_t slots;
    struct optimizer_span *spans; /* (span_count) all learned numbers that are not frozen, in their order */
    size_t span_count;
    void *slot[OPTIMIZER_SLOTS]; /* (learned) each, the first `slots` of them */
};

int optimizer_new(struct optimizer *out, const struct weights *weights, const sph_train_opts *opts);
void optimizer_free(struct optimizer *optimizer);

/* Clips weights->learned_grad and updates the net's learned numbers; step counts from 1. */
void optimizer_step(struct optimizer *optimizer, struct weights *weights, double lr, uint64_t step);

#endif
