/* SPDX-License-Identifier: MIT
 *
 * All results of an experiment: its jobs, the comparison of its methods, and the motion of boundaries.
 * Tables, figures and pages use only this struct. It is built from finished jobs, or read from the folder. */
#ifndef SPH_COMPARE_RESULTS_H
#define SPH_COMPARE_RESULTS_H

#include "compare/comparison.h"
#include "compare/diagnostics.h"
#include "compare/experiment.h"
#include "compare/motion.h"
#include "compare/perturbed_unit.h"
#include "compare/ranking.h"
#include "compare/tolerance.h"

struct results {
    const struct sph_experiment *experiment; /* borrowed, as dir is */
    const char *dir;
    struct experiment_facts facts;
    struct experiment_job *jobs;         /* (count) in the order of the lists */
    struct experiment_outcome *outcomes; /* (count) */
    size_t count;
    size_t *final;                /* (sets, methods, points or 1, seeds) the job that is reported */
    struct experiment_data *data; /* (sets) what they are; NULL: an older version wrote the results */
    struct unit_counts *units;    /* (as final) what became of their units; NULL: not counted */
    int owned;                    /* these are its own: it was read; else they are the run's */
    struct json_t *about;         /* version, cpu and features of the machine that trained */

    size_t set; /* of one set of several: which; the jobs are those of all */
    struct results
        *sets; /* (experiment_sets) of several sets: each by itself, all that follows in its own; else NULL */
    struct ranking ranking;     /* of the methods over these; its rank is NULL where nothing is compared */
    struct tolerance tolerance; /* of learning rates, over all sets; empty where the table is not by rates */

    struct comparison comparison;      /* of the input below; its lines are NULL where nothing was trained */
    struct comparison_input input;     /* of these: */
    struct comparison_method *methods; /* (input.count) their names, values and words are its own */
    struct motion motion;
    sph_perturb_result *perturb; /* of an experiment that trains nothing; else NULL */
};

/* Which part of the work saw the test rows; NULL: none. */
const char *experiment_warning(const struct sph_experiment *e);

/* Writes results.json. */
int results_write(struct results *results);

/* Fills in the comparison, or that of each set, of jobs that have all ended. */
int results_compare(struct results *results);

/* Which choices of a line lie at the edge of what was tried (edges.c): "lr 0.3, the largest, on 7 of 10 splits";
 * NULL: none. Caller frees. */
int results_edges(const struct results *results, size_t method, size_t line, char **out);

/* Fills in motion, likewise: of what was recorded, or of what was written. */
int results_measure(struct results *results);
void results_forget_motion(struct results *results);

/* Fills in perturb. */
int results_perturb(struct results *results);

/* Reads results.json of dir and compares, then motion.json where it is there. Of an experiment that trains
 * nothing there is nothing to be read, and it perturbs. Free it also after a failure, of any of these. */
int results_read(struct results *out, const struct sph_experiment *e, const char *dir);
void results_free(struct results *results);

/* What is said of one set: its own part of several, or all of it. */
const struct results *results_of_set(const struct results *results, size_t set);

/* The job that line and seed of a method report, in this set. */
size_t results_final(const struct results *results, size_t method, size_t line, size_t seed);

/* Its folder, with dir before it; caller frees. */
char *results_folder(const struct results *results, size_t job);

/* The place of the median seed: the one whose test scores rank nearest to the middle, over all methods and
 * lines; of equals the first. */
size_t results_median_seed(const struct results *results);

/* The median of a method's test scores over the seeds that have one; NaN: none has. */
int results_median_score(const struct results *results, size_t method, size_t line, double *out);

/* A score of the job on a part; NaN where there is none. */
double results_score(const struct results *results, size_t job, const char *part, const char *metric);

#endif
