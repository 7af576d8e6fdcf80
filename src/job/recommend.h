/* SPDX-License-Identifier: MIT
 *
 * What a table gets that nobody said anything about: docs/results/defaults.md has the study that chose it. Experiments, which
 * compare what their files say, keep the fixed defaults of options.h. */
#ifndef SPH_JOB_RECOMMEND_H
#define SPH_JOB_RECOMMEND_H

#include "job/options.h"

/* Whether it is one of those that have no fixed default there. */
int recommend_chooses(enum option_id id);

/* Options that are not given, by the rows of the data; for an mlp on a table. */
int recommend_settle(struct sph_job *job, const sph_data *data);

#endif
