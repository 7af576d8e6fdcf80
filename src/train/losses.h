/* SPDX-License-Identifier: MIT
 *
 * A loss is one row of one table: its task and the meaning of the network's output. Value and gradient are
 * computed by kernels (compute/loss.c), one for each sph_loss. */
#ifndef SPH_TRAIN_LOSSES_H
#define SPH_TRAIN_LOSSES_H

#include "spherelu/train.h"

/* From what a net gives to what is predicted. */
enum loss_link {
    LOSS_AS_IT_IS,
    LOSS_EXP,      /* the mean of counts, from its logarithm         */
    LOSS_LOGISTIC, /* the probability of class 1, from its logit     */
    LOSS_SOFTMAX   /* the probabilities of classes, from their logits */
};

struct loss_row {
    sph_task task;
    int first;       /* what the task takes if nothing is said */
    int of_rows;     /* one target and one term a row; else one of each for every output */
    int own_units;   /* targets have to stay in their own units, and be 0 or more */
    int reads_delta; /* huber_delta */
    enum loss_link link;
};

const struct loss_row *loss_row(sph_loss loss);

/* y (outputs) of one row, in place. */
void loss_predict(enum loss_link link, size_t outputs, double *y);

/* out (outputs): what a net would give whose prediction is the mean of the predictions of several. Member k's
 * outputs lie at each + k * stride. */
void loss_join(enum loss_link link, size_t outputs, size_t members, const double *each, size_t stride,
               double *out);

/* What a task takes if nothing is said. */
sph_loss loss_first(sph_task task);

/* Columns of the targets, and terms of the loss, that a row has. */
size_t loss_targets(sph_loss loss, size_t outputs);

/* What standardize: auto means for it. */
sph_standardize loss_standardize(sph_loss loss);

/* SPH_EARG: another task's loss, targets that it does not take, or a standardisation that it does not bear. y (count):
 * all targets. */
int loss_check(sph_loss loss, sph_task task, sph_standardize standardize, const double *y, size_t count);

#endif
