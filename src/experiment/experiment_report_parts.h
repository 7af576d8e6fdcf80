/* SPDX-License-Identifier: MIT
 *
 * What the two files that write an experiment's report share. */
#ifndef SPH_EXPERIMENT_EXPERIMENT_REPORT_PARTS_H
#define SPH_EXPERIMENT_EXPERIMENT_REPORT_PARTS_H

#include "base/json.h"
#include "experiment/experiment.h"
#include "figure/report.h"

struct report_source {
    const char *dir;
    struct sph_experiment *experiment;
    json_t *table, *results, *motion; /* NULL: there is none */
    struct report *report;
};

/* Each adds nothing where its file is not there. */
int report_add_result(const struct report_source *source); /* the table, its verdicts, what gave no number */
int report_add_motion(const struct report_source *source);
int report_add_seeds(const struct report_source *source); /* a number for each seed, and every job */

#endif
