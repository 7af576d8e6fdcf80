/* SPDX-License-Identifier: MIT
 *
 * Trainings as pictures and tables of motion need them: a run folder opened with its data, its net before and
 * after, and what was recorded; and which jobs of a finished experiment its tables report. */
#ifndef SPH_EXPERIMENT_RECORDED_H
#define SPH_EXPERIMENT_RECORDED_H

#include "data/data.h"
#include "experiment/experiment.h"
#include "store/npz.h"

struct recorded {
    char *dir;
    struct sph_job *job; /* settled */
    sph_data *data;
    sph_split split;
    sph_net *first;     /* as it was drawn, with the standardisation of the training part */
    sph_net *last;      /* NULL: the run left no model */
    struct npz *record; /* NULL: nothing was recorded */
    char metric[16];    /* of the task, if not given */
    double score;       /* on the test part; NaN: none */
    int finished;       /* it has its result, be it that it diverged */
};

/* metric NULL: by the task. */
int recorded_open(struct recorded *out, const char *dir, const char *metric);
void recorded_free(struct recorded *recorded);

/* dir's boundaries.npz; *out is NULL where there is none. */
int recorded_open_npz(struct npz **out, const char *dir);

/* ---------------------------------------------------------------- jobs of a finished experiment */

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
    char metric[16];
    struct json_t *results;
};

/* Reads results.json of dir. */
int reported_read(struct reported_list *out, const struct sph_experiment *e, const char *dir);
void reported_free(struct reported_list *list);

/* A score of the job on a part; NaN where there is none. */
double reported_score(const struct reported *job, const char *part, const char *metric);

/* Lines of the tables: the grid's points where all are shown, else 1. */
size_t reported_lines(const struct sph_experiment *e);

/* The job that line and seed of a method report, or NULL. */
const struct reported *reported_find(const struct reported_list *list, const struct sph_experiment *e,
                                     size_t method, size_t line, size_t seed);

#endif
