/* SPDX-License-Identifier: MIT
 *
 * Eq. 9 of the 2024 paper (Eq. 6 of 2023): on inputs of mean 0, BN is WN with the norm of the inputs' covariance,
 * |w|_S = sqrt(w S w), in the place of |w|. The covariance is built entry by entry from the rows of a batch, their mean
 * taken off; BN's weight is the one that its layer folds out of the mean and the variance of w x. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "boundary/perturb.h"
#include "boundary/theory.h"
#include "boundary/tool.h"
#include "boundary/turns.h"

enum { NORM_SEEDS = 4, NORM_ROWS = 128, DIM_MOST = 100 };

/* covariance (n, n) of the batch's rows, divided by their number; x (n), mean (n) are room. */
static void take_covariance(size_t n, uint64_t seed, double *covariance, double *x, double *mean)
{
    memset(covariance, 0, n * n * sizeof *covariance);
    memset(mean, 0, n * sizeof *mean);
    for (int pass = 0; pass < 2; pass++)
        for (size_t row = 0; row < NORM_ROWS; row++) {
            perturb_batch_row(n, seed, row, x);
            for (size_t i = 0; i < n; i++)
                if (!pass)
                    mean[i] += x[i] / NORM_ROWS;
            for (size_t e = 0; pass && e < n * n; e++)
                covariance[e] += (x[e / n] - mean[e / n]) * (x[e % n] - mean[e % n]) / NORM_ROWS;
        }
}

/* The largest relative difference of an entry of BN's weight from Eq. 9, gamma w / |w|_S. bn's epsilon, 1e-5, which the
 * equation leaves out, is added to |w|_S^2; *bare is what the difference is without it. */
static int try_case(size_t n, uint64_t seed, double *memory, double *difference, double *bare)
{
    double *w = memory, *folded = w + n, *x = folded + n, *mean = x + n, *covariance = mean + n, square = 0,
           b;
    struct rng rng = rng_stream(seed, RNG_THEORY, (uint32_t)(n + 1));
    turns_normals(kernels_pick(SPH_F64, KERNELS_FASTEST), &rng, n, w);
    double gamma = 0.5 + rng_unit(&rng), beta = rng_normal(&rng);
    struct perturb_unit unit = {.n = n, .tensor = {w, &gamma, &beta}, .rows = NORM_ROWS, .seed = seed};
    int err = perturb_boundary(PERTURB_BN, &unit, folded, &b);
    take_covariance(n, seed, covariance, x, mean);
    for (size_t e = 0; e < n * n; e++)
        square += w[e / n] * covariance[e] * w[e % n];
    for (size_t i = 0; i < n && !err; i++) {
        *difference = theory_larger(*difference, fabs(folded[i] * sqrt(square + 1e-5) / (gamma * w[i]) - 1));
        *bare = theory_larger(*bare, fabs(folded[i] * sqrt(square) / (gamma * w[i]) - 1));
    }
    return err;
}

int theory_norms(struct theory *theory)
{
    static const size_t dims[] = THEORY_DIMS;
    double *memory = mem_get(DIM_MOST * (DIM_MOST + 4), sizeof *memory);
    int err = memory ? 0 : SPH_EMEMORY;
    for (size_t d = 0; d < THEORY_DIM_COUNT && dims[d] <= DIM_MOST && !err; d++) {
        double difference = 0, bare = 0;
        for (uint64_t s = 0; s < NORM_SEEDS && !err; s++)
            err = try_case(dims[d], theory->opts->seed + s, memory, &difference, &bare);
        if (err)
            break;
        sph_theory_row *row = theory_row(theory, dims[d], NORM_SEEDS, difference, 0, 1e-12);
        snprintf(row->check, sizeof row->check, "BN = WN in |w|_S (Eq. 9)");
        snprintf(row->measured, sizeof row->measured, "off by %.1e at most; %.0e without bn's epsilon",
                 difference, bare);
        snprintf(row->expected, sizeof row->expected, "0, to 1e-12");
    }
    mem_free(memory);
    return err;
}
