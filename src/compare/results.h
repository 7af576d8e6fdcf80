/* SPDX-License-Identifier: MIT
 *
 * The results of an experiment: results.json, and its methods compared. */
#ifndef SPH_COMPARE_RESULTS_H
#define SPH_COMPARE_RESULTS_H

#include "compare/comparison.h"
#include "compare/experiment.h"

/* All jobs of a finished experiment, in the order of the lists. Everything is borrowed. */
struct experiment_results {
    const struct sph_experiment *experiment;
    const struct experiment_facts *facts;
    const char *dir;
    const struct experiment_job *jobs;
    const struct experiment_outcome *outcomes;
    size_t count;
    const size_t *final; /* (methods, points or 1, seeds) the job that is reported, SIZE_MAX: none */
};
int results_write(const struct experiment_results *results); /* results.json */

/* A line of the comparison: what it owns. */
struct results_line {
    double *value; /* (seeds) */
    char *name, *chosen;
};

struct results_comparison {
    struct comparison comparison; /* of the input below */
    struct comparison_input input;
    struct comparison_method *methods; /* (input.count) */
    struct results_line *lines;        /* likewise */
};

/* Borrows of the results and of their experiment. Free it even if this fails. */
int results_compare(struct results_comparison *out, const struct experiment_results *results);
void results_comparison_free(struct results_comparison *out);

/* The method that the others are compared with, as a table's reference_method. */
int experiment_reference(const struct sph_experiment *e);

#endif
