/* SPDX-License-Identifier: MIT
 *
 * A clock for training steps: it looks at the trainer from outside, as any observer could. */
#ifndef SPH_EXPERIMENT_BENCH_H
#define SPH_EXPERIMENT_BENCH_H

#include "spherelu.h"

/* Stretches of whole steps, each of at least so many seconds; the first is the warm-up. */
struct stopwatch {
    double seconds;             /* of a stretch, at least                              */
    size_t left;                /* stretches to come                                   */
    int (*between)(void *self); /* or NULL: called before each stretch but the warm-up */
    void *self;
    double begin, best; /* best: seconds of a step */
    uint64_t since;     /* the step at which the stretch began */
};

struct stopwatch stopwatch_start(double seconds, size_t repeats);

/* An observer's step over a struct stopwatch: stops the training after the last stretch. */
int stopwatch_step(void *self, const sph_view *view);

#endif
