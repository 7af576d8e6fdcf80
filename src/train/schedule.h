/* SPDX-License-Identifier: MIT
 *
 * Learning-rate schedules: factors on the base rate.
 *   none                       1
 *   step:30,60,80:0.1          times 0.1 when epochs 30, 60 and 80 are finished
 *   plateau:P:F:D              times F after P epochs without an improvement of more than D (absolute)
 *   cosine                     half a cosine from 1 to 0 over all steps
 * Warm-up multiplies with a ramp from 0 to 1 over its epochs, per step. */
#ifndef SPH_TRAIN_SCHEDULE_H
#define SPH_TRAIN_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

enum schedule_kind { SCHEDULE_NONE, SCHEDULE_STEP, SCHEDULE_PLATEAU, SCHEDULE_COSINE };

enum { SCHEDULE_STEPS_MAX = 32 };

struct schedule {
    enum schedule_kind kind;
    size_t at[SCHEDULE_STEPS_MAX], count; /* step: epochs   */
    double factor;
    size_t patience; /* plateau */
    double min_delta;
    double warmup; /* epochs */
    /* plateau's memory, part of a checkpoint */
    double best, lowered;
    size_t waited;
};

int schedule_parse(struct schedule *out, const char *text, double warmup);

/* The factor for one step. */
double schedule_factor(const struct schedule *schedule, size_t epoch, uint64_t step, uint64_t steps,
                       size_t steps_per_epoch);

/* At the end of an epoch; value: smaller is better. */
void schedule_epoch(struct schedule *schedule, double value);

#endif
