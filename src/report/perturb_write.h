/* SPDX-License-Identifier: MIT
 *
 * What an experiment that trains nothing leaves beside its figures. */
#ifndef SPH_REPORT_PERTURB_WRITE_H
#define SPH_REPORT_PERTURB_WRITE_H

#include "compare/perturb.h"

#define EXPERIMENT_PERTURB_TEXT "perturb.txt"
#define EXPERIMENT_PERTURB_JSON "perturb.json"

/* perturb.txt and perturb.json in dir. */
int experiment_write_perturb(const struct sph_experiment *e, const char *dir);

/* The same as a section of a report. */
struct report;
int experiment_report_perturb(const struct sph_experiment *e, struct report *report);

#endif
