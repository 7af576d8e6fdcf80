/* SPDX-License-Identifier: MIT
 *
 * Standardization as stored in a network: what is subtracted from features and targets and what they are
 * divided by. It is fitted on the training rows (rows/data.h: scaling_fit), applied to inputs and reversed
 * for outputs. */
#ifndef SPH_NET_SCALING_H
#define SPH_NET_SCALING_H

#include <stddef.h>

/* All arrays are owned. NULL means identity: mean 0, scale 1. x_fill is what a missing feature (NaN) is
 * before scaling; NULL means the mean. A zeroed struct is the identity of any size. */
struct scaling {
    size_t features, targets;
    double *x_mean, *x_scale; /* (features) */
    double *x_fill;           /* (features) */
    double *x_clip;           /* (features) or NULL: none is clipped. 0: this feature is not clipped */
    double *y_mean, *y_scale; /* (targets)  */
};

void scaling_free(struct scaling *scaling); /* leaves a zeroed struct */
int scaling_copy(struct scaling *out, const struct scaling *scaling);

/* What the net takes for a feature: z = (value - mean) / scale, clipped smoothly to z / sqrt(1 + (z / clip)^2). */
double scaling_feature(const struct scaling *scaling, size_t feature, double value);

/* The value that gives z; NaN if |z| >= clip, which no value gives. */
double scaling_feature_of(const struct scaling *scaling, size_t feature, double z);

/* out (rows, features) <- x (rows, features): scaling_feature, a missing value as x_fill. out may be x. */
void scaling_apply_x(const struct scaling *scaling, size_t rows, const double *x, double *out);

/* out (rows, targets) <- (y - mean) / scale, and back. out may be y. */
void scaling_apply_y(const struct scaling *scaling, size_t rows, const double *y, double *out);
void scaling_undo_y(const struct scaling *scaling, size_t rows, const double *y, double *out);

#endif
