/* SPDX-License-Identifier: MIT
 *
 * Divides the jobs of one experiment among several processes that share a folder, also on several machines. */
#ifndef SPH_COMPARE_SHARDS_H
#define SPH_COMPARE_SHARDS_H

#include "compare/experiment_jobs.h"

/* What a shard says of a job that it gives back. */
enum shards_mark { SHARDS_STOPPED = 0, SHARDS_DONE = 'd', SHARDS_FAILED = 'f' };

/* Enters the folder: beside other shards, of which one at a time goes on until shards_begun; or alone. *entered: 0 where number 1
 * of the same launcher is alone in it already: nothing is left to do. */
int shards_enter(struct experiment_run *run, int *entered);
int shards_begun(struct experiment_run *run);

/* Whether this one makes the tables in the end. */
int shards_collect(const struct experiment_run *run);

/* Waits until the others have ended, and is alone from then on. Progress may stop it. */
int shards_wait(struct experiment_run *run);

/* todo, longest jobs first. */
int shards_order(struct experiment_run *run);

/* For the crew: whether job todo[job] is this process's now. Job `at` of the list is given back. */
int shards_take(void *run, size_t job);
int shards_give(const struct experiment_run *run, size_t at, enum shards_mark mark);

#endif
