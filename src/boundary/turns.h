/* SPDX-License-Identifier: MIT
 *
 * Many pairs (theta, eps) and the turn of each: the angle between u(theta) and u(theta + eps). In f64, with
 * the training kernels; unit-minor: angle a of pair j is at [a * m + j]. */
#ifndef SPH_BOUNDARY_TURNS_H
#define SPH_BOUNDARY_TURNS_H

#include "base/random.h"
#include "compute/kernels.h"

struct turns {
    const struct kernels *k;
    size_t n, m;    /* n >= 2 inputs, m pairs                                                     */
    double *theta;  /* (n-1, m) set by the caller                                                 */
    double *eps;    /* (n-1, m) likewise                                                          */
    double *moved;  /* (n-1, m) theta + eps                                                       */
    double *turn;   /* (m) radians                                                                */
    double *length; /* (m) |eps|, of what the sum left of eps: exactly the step that was taken    */
    double *metric; /* (m) |eps|_M                                                                */
    double *u, *v;  /* (n, m) u(theta), u(moved)                                                  */
    double *sine, *cosine, *prefix, *ones; /* the kernel's */
};

int turns_new(struct turns *out, size_t n, size_t m);
void turns_free(struct turns *turns);

/* theta: directions uniform on the sphere, and their angles. */
void turns_draw_theta(struct turns *turns, struct rng *rng);

/* eps: directions uniform in the angles' space, of length 1. */
void turns_draw_eps(struct turns *turns, struct rng *rng);

/* eps of pair j *= scale[j] */
void turns_scale_eps(struct turns *turns, const double *scale);

/* moved, turn and length, from theta and eps. */
void turns_measure(struct turns *turns);

/* metric from eps: |eps|_M^2 = sum_a eps_a^2 M_a, M_a the product (or, with sums, the sum) of sin^2 of the
 * angles before a, M_0 = 1. The sines are those of theta + at * (moved - theta). */
void turns_metric(struct turns *turns, double at, int sums);

/* count normal numbers. */
void turns_normals(const struct kernels *k, struct rng *rng, size_t count, double *out);

#endif
