/* SPDX-License-Identifier: MIT
 *
 * The jobs of a finished experiment, as its results.json has them, and which of them the tables report. */
#ifndef SPH_COMPARE_REPORTED_H
#define SPH_COMPARE_REPORTED_H

#include "compare/experiment.h"

struct reported {
    size_t method, point, seed; /* numbers in the experiment's lists */
    int fold;                   /* -1: none */
    int final;                  /* the tables report it */
    char *folder;               /* with dir before it */
    struct json_t *result;      /* of results.json, borrowed of the list */
};

struct reported_list {
    struct reported *jobs;
    size_t count;
    char metric[32];
    struct json_t *results;
};

/* Reads results.json of dir. */
int reported_read(struct reported_list *out, const struct sph_experiment *e, const char *dir);
void reported_free(struct reported_list *list);

/* A score of the job on a part; NaN where there is none. */
double reported_score(const struct reported *job, const char *part, const char *metric);

/* The job that line and seed of a method report, or NULL. */
const struct reported *reported_find(const struct reported_list *list, const struct sph_experiment *e,
                                     size_t method, size_t line, size_t seed);

#endif
