/* SPDX-License-Identifier: MIT
 *
 * Checks of the papers' statements about boundaries, by construction or by many random cases. Each check is
 * a row with the measured and the expected value. theory.c has the order of the rows, theory_*.c the
 * checks. */
#ifndef SPH_BOUNDARY_THEORY_H
#define SPH_BOUNDARY_THEORY_H

#include "boundary/tool.h"
#include "spherelu/core.h"

/* Where checks are made: from the plane to the widest conv of a VGG (512 x 3 x 3). */
/* clang-format off */
#define THEORY_DIMS {2, 3, 17, 100, 784, 4608}
/* clang-format on */
enum { THEORY_DIM_COUNT = 6 };

struct theory {
    const sph_theory_opts *opts;
    sph_theory_result *result;
};

/* A new row that passes if least <= value <= most (a NaN does not); texts are still to be filled. */
sph_theory_row *theory_row(struct theory *theory, size_t inputs, size_t tries, double value, double least,
                           double most);

/* Props. 2.3 to 2.5: eps of the size of the weight turns the boundary by 180 degrees. */
int theory_flips(struct theory *theory);

/* Eq. 9: BN is WN in the norm of the inputs' covariance. */
int theory_norms(struct theory *theory);

/* Theorem 3.7: M_theta from central differences of u(theta) against diag(1, sin^2 th_1, sin^2 th_1 sin^2
 * th_2, ...), and against the sums that the first paper's appendix has in place of products. */
int theory_metric(struct theory *theory);

/* turn = |eps|_M (1 + O(|eps|)): the order, fitted. */
int theory_small(struct theory *theory);

/* turn <= |eps|, whatever eps. Sets result->stopped where progress asks for it. */
int theory_bound(struct theory *theory);

/* The larger of two; once one was NaN, NaN. */
double theory_larger(double a, double b);

/* "1,000,320" */
void theory_count(char out[32], size_t count);

#endif
