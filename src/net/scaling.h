/* SPDX-License-Identifier: MIT
 *
 * Standardisation as a net keeps it: what is subtracted from and divided out of features and targets. Fitted
 * on the training rows (data/open.h: scaling_fit), applied on the way in, undone on the way out. */
#ifndef SPH_NET_SCALING_H
#define SPH_NET_SCALING_H

#include <stddef.h>

/* All arrays are owned. NULL means identity: mean 0, scale 1. x_fill is what a missing feature (NaN) is
 * before scaling; NULL means the mean. A zeroed struct is the identity of any size. */
struct scaling {
    size_t features, targets;
    double *x_mean, *x_scale; /* (features) */
    double *x_fill;           /* (features) */
    double *y_mean, *y_scale; /* (targets)  */
};

void scaling_free(struct scaling *scaling); /* leaves a zeroed struct */
int scaling_copy(struct scaling *out, const struct scaling *scaling);

/* out (rows, features) <- x (rows, features): ((NaN -> fill) - mean) / scale. out may be x. */
void scaling_apply_x(const struct scaling *scaling, size_t rows, const double *x, double *out);

/* out (rows, targets) <- (y - mean) / scale, and back. out may be y. */
void scaling_apply_y(const struct scaling *scaling, size_t rows, const double *y, double *out);
void scaling_undo_y(const struct scaling *scaling, size_t rows, const double *y, double *out);

#endif
