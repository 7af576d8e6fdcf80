/* SPDX-License-Identifier: MIT
 *
 * Computes the values of all options from the requested options and the data. This is the only place that
 * decides a default or rejects a combination of options. */
#ifndef SPH_JOB_RESOLVE_H
#define SPH_JOB_RESOLVE_H

#include "job/options.h"
#include "rows/data.h"

/* out <- every option that has a meaning for the job, with its origin; options without one are unset. out is overwritten,
 * caller frees with options_free; after a failure it is empty. The failure's key is the option's. */
int job_resolve(struct job_spec *out, const struct job_request *request, const struct data_facts *facts);

/* The side of the images in a folder unless --size is given, for every kind of network; 0: the default of folders. */
size_t resolve_folder_side(const struct job_request *request);

/* Whether the job's optimizer looks at the option; 1 for one that belongs to no optimizer. */
int job_reads(const struct job_spec *spec, enum option_id id);

/* Whether the test part chooses the job's epoch: under reference, unless the training loss does. */
int job_leaks(const struct job_spec *spec);

#endif
