/* SPDX-License-Identifier: MIT */
#ifndef SPH_JOB_REFERENCE_H
#define SPH_JOB_REFERENCE_H

#include "job/options.h"

/* Gives every option that was not given and that the authors' code has a constant for that constant. */
int reference_settle(struct sph_job *job, sph_task task);

/* Whether the test part chooses the job's epoch: under reference, unless the training loss does. */
int reference_leaks(const struct sph_job *job);

#endif
