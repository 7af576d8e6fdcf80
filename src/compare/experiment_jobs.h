/* SPDX-License-Identifier: MIT
 *
 * Runs the jobs of an experiment, from the first check to results.json. Afterwards, the module report
 * writes tables and pages while the folder is still locked. */
#ifndef SPH_COMPARE_EXPERIMENT_JOBS_H
#define SPH_COMPARE_EXPERIMENT_JOBS_H

#include "compare/results.h"
#include "file/claims.h"

/* Set experiment, opts, result (zeroed) and claims = CLAIMS_NONE, the rest zeroed. */
struct experiment_run {
    sph_experiment *experiment;
    const sph_experiment_opts *opts;
    struct claims claims;
    int shared;   /* jobs are claimed one by one, beside other processes */
    size_t known; /* jobs that are known from the start; refits follow    */

    size_t *todo; /* (todo_count) jobs of the crew at work */
    size_t todo_count;
    size_t before, after; /* jobs of this call in the crew before and in the one to come */
    size_t unfinished;    /* jobs without a result when a shard began                    */
    double began;
    sph_experiment_result *result;

    struct results results; /* jobs known from the start, then refits; compared when all have ended */
    char *content;          /* of the file, where it had one                */
    int settled;            /* the content was set aside                    */
};

/* Checks, begins the folder, runs what is to be run and writes results.json. An experiment that trains
 * nothing has only its folder then. Ended by experiment_run_end, also after a failure. *complete: all jobs have ended, and the rest
 * is to be made: not of a shard, which leaves that to others. */
int experiment_run_jobs(struct experiment_run *run, int *complete);
void experiment_run_end(struct experiment_run *run);

#endif
