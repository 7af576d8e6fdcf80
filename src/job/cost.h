/* SPDX-License-Identifier: MIT
 *
 * Estimates the time and memory of a training run by a few measured steps. */
#ifndef SPH_JOB_COST_H
#define SPH_JOB_COST_H

#include "job/options.h"
#include "train/fit.h"

struct job_cost {
    double step_seconds; /* of one */
    double
        seconds; /* of all, if it does not stop early; scores of the parts counted as a third of a step's work */
    double peak_bytes; /* the most memory that the process will hold; NaN: the system does not say */
    double disk_bytes; /* of its folder, without what is recorded */
};

/* Takes steps for so many seconds, three at least unless these take long: the net is another one afterwards. Three will do
 * for a training that takes less than `enough` seconds. */
int job_cost(struct job_cost *out, const struct job_spec *spec, sph_trainer *trainer, sph_net *net,
             const sph_split *split, double seconds, double enough);

#endif
