/* SPDX-License-Identifier: MIT
 *
 * Where the loop is, as numbers of a checkpoint and back. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "train/trainer.h"

void place_to_scalars(const struct trainer_place *at, double scalar[TRAINER_SCALAR_COUNT])
{
    scalar[TRAINER_STEP] = (double)at->step;
    scalar[TRAINER_EPOCH] = (double)at->epoch;
    scalar[TRAINER_BATCH] = (double)at->batch;
    scalar[TRAINER_LOSS_SUM] = at->loss_sum;
    scalar[TRAINER_BEST] = at->best;
    scalar[TRAINER_BEST_EPOCH] = (double)at->best_epoch;
    scalar[TRAINER_WAITED] = (double)at->waited;
    scalar[TRAINER_FINISHED] = at->finished;
    memcpy(scalar + TRAINER_SCHEDULE, at->schedule, sizeof at->schedule);
}

struct trainer_place place_of_scalars(const double scalar[TRAINER_SCALAR_COUNT])
{
    struct trainer_place at = {.step = (uint64_t)scalar[TRAINER_STEP],
                               .epoch = (uint64_t)scalar[TRAINER_EPOCH],
                               .batch = (uint64_t)scalar[TRAINER_BATCH],
                               .best_epoch = (uint64_t)scalar[TRAINER_BEST_EPOCH],
                               .waited = (uint64_t)scalar[TRAINER_WAITED],
                               .finished = scalar[TRAINER_FINISHED] != 0,
                               .loss_sum = scalar[TRAINER_LOSS_SUM],
                               .best = scalar[TRAINER_BEST]};
    memcpy(at.schedule, scalar + TRAINER_SCHEDULE, sizeof at.schedule);
    return at;
}

int trainer_check_scalars(const struct trainer *trainer, const double scalar[TRAINER_SCALAR_COUNT])
{
    static const enum trainer_scalar counts[] = {TRAINER_STEP,       TRAINER_EPOCH,  TRAINER_BATCH,
                                                 TRAINER_BEST_EPOCH, TRAINER_WAITED, TRAINER_FINISHED};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        double count = scalar[counts[i]];
        if (!(count >= 0 && count <= 0x1p53) || count != floor(count))
            return sph_fail(SPH_EFORMAT, "scalars[%d] is %g, expected a whole number", (int)counts[i], count);
    }
    if (trainer && scalar[TRAINER_BATCH] > (double)trainer_steps(trainer))
        return sph_fail(SPH_EFORMAT, "scalars[%d] is %g, expected at most the %zu steps of an epoch",
                        (int)TRAINER_BATCH, scalar[TRAINER_BATCH], trainer_steps(trainer));
    return 0;
}
