/* SPDX-License-Identifier: MIT
 *
 * Learning-rate schedules: factors on the base rate. A schedule is one row of the table in schedule.c;
 * SPH_SCHEDULES in spherelu/base.h defines the syntax. Warm-up multiplies with a ramp from 0 to 1 over its
 * epochs, for each step. */
#ifndef SPH_TRAIN_SCHEDULE_H
#define SPH_TRAIN_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

#include "spherelu/base.h"

enum { SCHEDULE_STEPS_MAX = 32, SCHEDULE_STATE = 3 };

/* What was written, and nothing that changes. */
struct schedule {
    sph_schedule kind;
    double warmup;                        /* epochs */
    size_t at[SCHEDULE_STEPS_MAX], count; /* step: epochs */
    double factor;                        /* step, plateau */
    size_t patience;                      /* plateau */
    double min_delta;
};

/* text NULL: none. SPH_EARG with the key "schedule" or "warmup". */
int schedule_parse(struct schedule *out, const char *text, double warmup);

/* What it remembers, part of a checkpoint: the values to begin with. */
void schedule_begin(double state[SCHEDULE_STATE]);

/* The factor for one step; epoch and step count those that are finished. */
double schedule_factor(const struct schedule *schedule, const double state[SCHEDULE_STATE], size_t epoch,
                       uint64_t step, uint64_t steps, size_t steps_per_epoch);

/* At the end of an epoch; value: smaller is better. */
void schedule_epoch(const struct schedule *schedule, double state[SCHEDULE_STATE], double value);

/* It looks at the monitored value. */
int schedule_watches(const struct schedule *schedule);

/* It falls to 0 at the end, which is where it is meant to be best. */
int schedule_ends_low(const struct schedule *schedule);

#endif
