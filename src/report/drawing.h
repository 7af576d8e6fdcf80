/* SPDX-License-Identifier: MIT
 *
 * What the figures of an experiment, or of one run, are drawn from. */
#ifndef SPH_REPORT_DRAWING_H
#define SPH_REPORT_DRAWING_H

#include "compare/reported.h"
#include "job/recorded.h"
#include "report/panels.h"

/* What is drawn: the trainings of the first seed, opened, and the folders of all seeds. */
struct drawing {
    const struct sph_experiment *e; /* NULL: one run */
    char *dir;                      /* of the figures */
    struct reported_list jobs;
    size_t rows, columns;
    struct recorded *open; /* (rows, columns) */
    struct panel *panels;  /* (rows, columns) */
    char **labels;         /* (rows, columns) points of the panels */
    char *method;          /* of the one run */
    char metric[16];
};

/* Those that take more than the first seed. */
int drawing_convergence(struct figure *figure, const struct drawing *d);
int drawing_sensitivity(struct figure *figure, const struct drawing *d);

#endif
