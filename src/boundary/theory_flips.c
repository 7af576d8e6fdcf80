/* SPDX-License-Identifier: MIT
 *
 * Boundaries that turn by 180 degrees under a perturbation a little longer than the weight. GmP has no such one: to
 * turn a direction round, the angles have to move by pi, however short the weight. */
#include <stdio.h>

#include "base/memory.h"
#include "base/random.h"
#include "boundary/hyperplane.h"
#include "boundary/perturb.h"
#include "boundary/theory.h"
#include "boundary/tool.h"
#include "boundary/turns.h"

enum { FLIP_SEEDS = 4, FLIP_ROWS = 32, FLIP_UNITS = 8 };

static const double beyond = 1e-3; /* the papers' delta: eps = -(1 + delta) w */

/* A method's flip. LN, and GN, which is LN among the units of a group, see a weight less the mean of the others
 * (times 1 - 1/units): that is what turns round. */
struct flip_kind {
    enum perturb_method method;
    size_t others; /* units that are seen beside it */
    const char *name, *eps;
};

/* What a method's flip was in its worst case. */
struct flip {
    double turn; /* degrees, smallest */
    size_t tries;
};

/* One unit of random numbers, weights of length 1e-3 or so, before and after. */
struct flip_case {
    double *w, *moved, *others, *mean; /* (n), (n), (units - 1, n), (n) mean of the others */
    double *before, *after;            /* (n) normals of the boundaries */
    double one[2];                     /* bias and scale: nothing special about them */
};

static void draw_case(struct flip_case *flip, size_t others, size_t n, uint64_t seed)
{
    struct rng rng = rng_stream(seed, RNG_THEORY, (uint32_t)n);
    turns_normals(kernels_pick(SPH_F64, KERNELS_FASTEST), &rng, n, flip->w);
    turns_normals(kernels_pick(SPH_F64, KERNELS_FASTEST), &rng, (FLIP_UNITS - 1) * n, flip->others);
    for (size_t i = 0; i < n; i++) {
        flip->w[i] *= 1e-3;
        flip->mean[i] = 0;
        for (size_t k = 0; k < others; k++)
            flip->mean[i] += (flip->others[k * n + i] *= 1e-3) / (double)others;
    }
    flip->one[0] = rng_normal(&rng);
    flip->one[1] = 0.5 + rng_unit(&rng);
}

static int try_flip(struct flip_case *flip, const struct flip_kind *kind, size_t n, uint64_t seed,
                    struct flip *worst)
{
    const double *bias = &flip->one[0], *scale = &flip->one[1];
    const double *const tensors[SPH_PERTURB_METHODS][SPH_PERTURB_TENSORS] = {
        [PERTURB_SP] = {flip->w, bias},
        [PERTURB_WN] = {flip->w, scale, bias},
        [PERTURB_BN] = {flip->w, scale, bias},
        [PERTURB_LN] = {flip->w, bias, scale, flip->others},
    };
    struct perturb_unit unit = {.n = n, .rows = FLIP_ROWS, .units = kind->others + 1, .seed = seed};
    double b;
    int err;
    draw_case(flip, kind->others, n, seed);
    for (size_t i = 0; i < n; i++) {
        double seen = flip->w[i] - flip->mean[i];
        flip->moved[i] = flip->w[i] - (1 + beyond) * seen;
    }
    for (size_t t = 0; t < SPH_PERTURB_TENSORS; t++)
        unit.tensor[t] = tensors[kind->method][t];
    if ((err = perturb_boundary(kind->method, &unit, flip->before, &b)) < 0)
        return err;
    unit.tensor[0] = flip->moved;
    if ((err = perturb_boundary(kind->method, &unit, flip->after, &b)) < 0)
        return err;
    worst->turn = -theory_larger(-worst->turn, -plane_degrees * plane_turn(n, flip->before, flip->after));
    worst->tries++;
    return 0;
}

int theory_flips(struct theory *theory)
{
    static const struct flip_kind flips[] = {
        {PERTURB_SP, 0, "SP (Prop. 2.3)", "-1.001 w"},
        {PERTURB_WN, 0, "WN (Prop. 2.4)", "-1.001 v"},
        {PERTURB_BN, 0, "BN (Prop. 2.5)", "-1.001 w, in a batch"},
        {PERTURB_LN, FLIP_UNITS - 1, "LN, shift 0", "-1.001 (w - mean of others)"},
        {PERTURB_LN, FLIP_UNITS / 2 - 1, "GN, shift 0", "-1.001 (w - mean in group)"}};
    static const size_t dims[] = THEORY_DIMS;
    size_t most = dims[THEORY_DIM_COUNT - 1];
    double *memory = mem_get((5 + FLIP_UNITS - 1) * most, sizeof *memory);
    if (!memory)
        return SPH_EMEMORY;
    struct flip_case flip = {.w = memory,
                             .moved = memory + most,
                             .mean = memory + 2 * most,
                             .before = memory + 3 * most,
                             .after = memory + 4 * most,
                             .others = memory + 5 * most};
    int err = 0;
    for (size_t f = 0; f < sizeof flips / sizeof *flips && !err; f++) {
        struct flip worst = {.turn = 180};
        for (size_t d = 0; d < THEORY_DIM_COUNT && !err; d++)
            for (uint64_t s = 0; s < FLIP_SEEDS && !err; s++)
                err = try_flip(&flip, &flips[f], dims[d], theory->opts->seed + s, &worst);
        if (err)
            break;
        sph_theory_row *row = theory_row(theory, 0, worst.tries, worst.turn, 180 - 1e-6, 180 + 1e-6);
        snprintf(row->check, sizeof row->check, "flip, %s", flips[f].name);
        snprintf(row->measured, sizeof row->measured, "%.9f degrees, eps = %s", worst.turn, flips[f].eps);
        snprintf(row->expected, sizeof row->expected, "180, to 1e-6");
    }
    mem_free(memory);
    return err;
}
