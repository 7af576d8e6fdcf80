/* SPDX-License-Identifier: MIT
 *
 * Rows of weights by their angles, for weights.c; the shapes are those of sph_weights. */
#ifndef SPH_PARAM_DIRECTIONS_H
#define SPH_PARAM_DIRECTIONS_H

#include "spherelu/net.h"

int directions_forward(sph_dtype dtype, size_t m, size_t n, const void *theta, const void *length, void *w,
                       void *kept, int threads);

struct direction_grads {
    const void *theta, *length, *kept, *dw; /* length and kept may be NULL */
    void *dtheta, *dlength;                 /* dlength may be NULL */
};

int directions_backward(sph_dtype dtype, size_t m, size_t n, const struct direction_grads *of, int threads);

#endif
