/* SPDX-License-Identifier: MIT
 *
 * For the tool: numerical checks of the papers' statements (`spherelu perturb`). Not installed, not part of
 * the API. */
#ifndef SPH_BOUNDARY_TOOL_H
#define SPH_BOUNDARY_TOOL_H

#include "spherelu/boundary.h"

/* Methods of sph_perturb, and tensors that one of them has at most. */
enum { SPH_PERTURB_METHODS = 5, SPH_PERTURB_TENSORS = 4 };

/* The papers' statements about boundaries, checked by numbers: flips by 180 degrees under SP, WN, BN and LN;
 * BN as WN in the norm of the inputs' covariance;
 * the metric of the angles; the bound turn <= |eps| over many (theta, eps); the turn of a small eps; the sum
 * formula of the first paper, which fails. */
enum { SPH_THEORY_ROWS = 48, SPH_THEORY_TEXT = 96 };

typedef struct sph_theory_opts {
    size_t samples; /* pairs (theta, eps) of the bound, at least; shared over dimensions 2 to 4,608 */
    uint64_t seed;
    int threads;
    void *self;
    sph_progress_call *progress; /* share; NULL: none */
} sph_theory_opts;

void sph_theory_defaults(sph_theory_opts *out); /* 1,000,000 samples, one thread */

typedef struct sph_theory_row {
    char check[SPH_THEORY_TEXT], measured[SPH_THEORY_TEXT], expected[SPH_THEORY_TEXT];
    size_t inputs;      /* n; 0: several dimensions      */
    size_t tries;       /* cases behind the number       */
    double value;       /* what decides, see expected    */
    double least, most; /* passed: least <= value <= most */
    int passed;
} sph_theory_row;

typedef struct sph_theory_result {
    size_t count, failed;
    int stopped;                         /* progress asked: rows are missing */
    sph_theory_row row[SPH_THEORY_ROWS]; /* (count) */
} sph_theory_result;

/* A check that fails is a row that says so, and no failure of this call. When progress asks to stop, the call
 * succeeds with the rows so far, and result->stopped is set. */
int sph_theory(sph_theory_result *out, const sph_theory_opts *opts);

#endif
