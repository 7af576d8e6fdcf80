/* SPDX-License-Identifier: MIT
 *
 * One unit under five methods, and where its boundary lies for given learned numbers. sph_perturb() adds eps
 * to these numbers; the checks of the theory add what they please.
 *
 *   SP   relu(w x + b)
 *   WN   relu(g v/|v| x + b)
 *   BN   relu(gamma (w x - mean) / sqrt(var + 1e-5) + beta), mean and var of w x over a batch. The boundary
 *        moves with the batch's statistics, as it does in training
 *   LN   relu(gamma (z - mean) / sqrt(var + 1e-5)), mean and var over the z = w x + b of all units of the
 *        layer for each x. The unit's boundary is the hyperplane z = mean: there is one only while the shift
 *        is 0, so the shift is no parameter here. The other units stay as they are
 *   GmP  r relu(u(theta) x + lambda) */
#ifndef SPH_BOUNDARY_PERTURB_H
#define SPH_BOUNDARY_PERTURB_H

#include "boundary/tool.h"

#define PERTURB_METHODS(X) X(SP) X(WN) X(BN) X(LN) X(GMP)
#define PERTURB_ENUM(id)   PERTURB_##id,
enum perturb_method { PERTURB_METHODS(PERTURB_ENUM) };

/* Tensors of each method, in this order: SP w b, WN v g b, BN w gamma beta, LN w b gamma others, GmP theta
 * lambda r. others (units - 1, n): the weights of the layer's other units, whose biases are 0. */
enum { SP_W, SP_B };
enum { WN_V, WN_G, WN_B };
enum { BN_W, BN_GAMMA, BN_BETA };
enum { LN_W, LN_B, LN_GAMMA, LN_OTHERS };
enum { GMP_THETA, GMP_LAMBDA, GMP_R };

struct perturb_unit {
    size_t n;
    const double *tensor[SPH_PERTURB_TENSORS];
    size_t rows;   /* BN: of the batch          */
    size_t units;  /* LN: of the layer          */
    uint64_t seed; /* BN: of the batch          */
};

/* w (n), b: the boundary w x + b = 0, active where it is above 0. Fails only for memory. */
int perturb_boundary(enum perturb_method method, const struct perturb_unit *unit, double *w, double *b);

/* mean and biased variance of w x over the batch: rows of standard normal numbers. */
int perturb_batch(size_t n, const double *w, size_t rows, uint64_t seed, double *mean, double *variance);

/* Row `row` of that batch, (n). */
void perturb_batch_row(size_t n, uint64_t seed, size_t row, double *x);

#endif
