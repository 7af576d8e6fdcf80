/* SPDX-License-Identifier: MIT
 *
 * Runs jobs in parallel, each in a separate process, so that a crash, a leak or the threads of one job do
 * not affect the others. The results do not depend on the order in which jobs end. A job that crashes is
 * reported. */
#ifndef SPH_COMPARE_CREW_H
#define SPH_COMPARE_CREW_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { WORKER_NOTE = 64 };

/* What a job and the crew say to each other while it runs; in memory that both see. */
struct crew_slot {
    atomic_int stop;        /* the crew: end soon, and keep what there is */
    _Atomic double share;   /* the job: done so far, 0 to 1 */
    char note[WORKER_NOTE]; /* the job: whatever its owner wants to know */
    double real;            /* likewise */
    struct running
        *here; /* the crew of a job in this process, which looks in by crew_wants_stop; else NULL */

    /* at its end */
    int ended, err, stopped;
    struct failure failure; /* where err is below 0 */
};

struct crew_progress {
    size_t jobs, ended, running;
    double share; /* of all jobs, 0 to 1 */
};

struct crew {
    size_t jobs, workers; /* workers 0: one after the other, in this process */
    void *self;
    int (*work)(void *self, size_t job, struct crew_slot *slot); /* the job */

    /* Here, before it begins: 1: begin it, 0: leave it out, below 0: fail. NULL: begin all. */
    int (*take)(void *self, size_t job);

    /* Here, when it ended: err and failure in the slot. Below 0: fail. */
    int (*ended)(void *self, size_t job, const struct crew_slot *slot);

    /* Here, ten times a second and whenever a job ends; above 0: stop. NULL: none. */
    int (*progress)(void *self, const struct crew_progress *progress);
};

/* What a job asks from step to step: above 0: end soon, and keep what there is; below: fail. Of a job in this process that is
 * when the crew tells of its progress. */
int crew_wants_stop(struct crew_slot *slot);

/* Runs all. Returns 0 also when stopped: *stopped then is 1, and jobs that were not begun have no report.
 * Below 0 when no process can be made or a callback fails; all processes have ended then. */
int crew_run(const struct crew *crew, int *stopped);

#endif
