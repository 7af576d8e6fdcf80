/* SPDX-License-Identifier: MIT
 *
 * For the tool: the jobs of an experiment before they run (`spherelu run --dry-run`). Not installed, not
 * part of the API. */
#ifndef SPH_COMPARE_TOOL_H
#define SPH_COMPARE_TOOL_H

#include "spherelu/compare.h"

/* Opens the data, makes every split and one net of every method and grid point: what can be refused before
 * the first step is refused here, with line and key. sph_experiment_run does the same first. */
int sph_experiment_check(sph_experiment *experiment);

typedef struct sph_experiment_job {
    const char *set; /* of the data, where there are several; else NULL  */
    const char *method;
    char point[128]; /* "lr 0.1", cut to fit; "" without a grid      */
    uint64_t seed;
    int fold;           /* -1: none                                     */
    const char *folder; /* below the experiment's, borrowed             */
    double seconds;     /* if no early stop; NaN: was not asked for     */
    double peak_bytes;  /* of memory, likewise                          */
    double disk_bytes;  /* of its folder, likewise, without what is recorded */
} sph_experiment_job;

/* The jobs that are known from the start; cv adds a refit for each method and seed. sph_experiment_plan
 * returns their number; timed: takes a few steps of each method and grid point, to tell how long they are. */
int sph_experiment_plan(sph_experiment *experiment, int timed, size_t *jobs);
int sph_experiment_job_at(const sph_experiment *experiment, size_t i, sph_experiment_job *out);

/* The features of a dataset that drop: auto would leave out, as "'id', 'region'"; "" if there are none, NULL after the last
 * dataset and before the data are read. *name: of the dataset, borrowed. */
const char *sph_experiment_useless(const sph_experiment *experiment, size_t set, const char **name);

#endif
