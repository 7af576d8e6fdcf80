/* SPDX-License-Identifier: MIT
 *
 * The loss of a batch and its gradient: a training step without the optimizer. */
#ifndef SPH_TRAIN_BATCH_H
#define SPH_TRAIN_BATCH_H

#include "net/plan.h"
#include "net/weights.h"

struct batch {
    struct weights *weights;    /* materialised; the gradients end in its slabs */
    struct plan *plan;          /* in training mode, of micro rows */
    size_t micro;               /* rows at a time */
    const sph_train_opts *opts; /* which loss, and its options; borrowed */
    size_t targets, ldx, ldy;   /* numbers of y in a row, and from a row to the next */
    const double *row_weights;  /* (rows) factors on the loss of each, or NULL */
    size_t all;  /* rows that the loss is the mean of, those of other ranks included; 0: these */
    size_t runs; /* of the plan, the last ones perhaps without rows; 0: as many as the rows need */
};

/* The mean loss of rows that lie in x (rows, ldx) and y (rows, ldy), in the net's dtype. */
double batch_run(const struct batch *batch, const void *x, const void *y, size_t rows);

#endif
