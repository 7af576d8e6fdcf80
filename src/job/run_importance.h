/* SPDX-License-Identifier: MIT
 *
 * Permutation importance: the increase of the error if the cells of a column are shuffled. */
#ifndef SPH_JOB_RUN_IMPORTANCE_H
#define SPH_JOB_RUN_IMPORTANCE_H

#include "job/run.h"

struct importance {
    const char *column;  /* borrowed from the data */
    double mean, spread; /* of the loss of score over the repeats; spread: standard deviation */
};

struct importances {
    sph_data *data;
    struct importance *list; /* (count) the most important first */
    size_t count, rows, repeats;
    sph_metric metric;
    double score; /* as the data are */
};

/* metric -1: the task's own; source NULL: the run's own test part. tell is called with the share that is done; 1: it says
 * to stop, and 1 is returned. Free with importances_free, also after a failure. */
int importances_find(struct importances *out, sph_run *run, const char *source, int metric, size_t repeats,
                     uint64_t seed, int (*tell)(void *self, double share), void *self);
void importances_free(struct importances *importances);

#endif
