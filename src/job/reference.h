/* SPDX-License-Identifier: MIT */
#ifndef SPH_JOB_REFERENCE_H
#define SPH_JOB_REFERENCE_H

#include "job/options.h"

/* Gives every option that was not given and that the authors' code has a constant for that constant.
 * The code's images have a thousand classes and are monitored by top-5; a note says where there are too few for that, and
 * top-1 is taken. */
int reference_settle(struct sph_job *job, const sph_data *data);

/* Whether the test part chooses the job's epoch: under reference, unless the training loss does. */
int reference_leaks(const struct sph_job *job);

#endif
