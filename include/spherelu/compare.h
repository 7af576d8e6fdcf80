/* SPDX-License-Identifier: MIT
 *
 * Many trainings: experiment files. */
#ifndef SPHERELU_COMPARE_H
#define SPHERELU_COMPARE_H

#include "spherelu/job.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- experiments
 * An experiment file names data, methods, a grid and seeds; each combination is a job with a
 * run folder. The tables in the experiment's folder are computed from their results. */

typedef struct sph_experiment sph_experiment;

SPH_API int sph_experiment_open(sph_experiment **out, const char *path);
SPH_API void sph_experiment_free(sph_experiment *experiment);

/* Changes a key: train.epochs, methods.NAME.lr, grid.lr, seeds, or the name of an option. value: as YAML. */
SPH_API int sph_experiment_set(sph_experiment *experiment, const char *key, const char *value);
SPH_API const char *sph_experiment_name(const sph_experiment *experiment); /* borrowed */

typedef struct sph_experiment_opts {
    size_t size;     /* sizeof(sph_experiment_opts)                                              */
    const char *out; /* folder                                                                   */
    int resume;      /* keep finished jobs, continue the others from their checkpoints            */
    size_t workers;  /* jobs at the same time, each in a forked process; 0: no fork, one job after the
                        other in the calling thread. Results are the same */
    void *self;
    sph_progress_call *progress; /* done, all: jobs of this call, without those that had finished before;
                                    NULL: none */
    const sph_sink *table;       /* receives the tables as text, or                      */
    int json;                    /* as JSON on one line; NULL: not needed                */

    /* Several processes in one folder: this one is number `shard`, from 1 on, of `shards`; 0: it is alone. Each runs jobs that no
     * other has, until there are none, and makes no tables: a last call with resume and without shards makes them. together: one
     * launcher started them all, and number 1 waits for the others and makes the tables. */
    size_t shard, shards;
    int together;
} sph_experiment_opts;

typedef struct sph_experiment_result {
    size_t jobs;     /* total, including refits                 */
    size_t repeated; /* of these, run or continued by this call */
    size_t diverged, failed;
    int stopped;            /* stopped by progress: no tables were written                     */
    size_t figures;         /* drawn                                                           */
    size_t not_drawn;       /* failed, each for a reason of its own                            */
    char figures_note[512]; /* such reasons, or that gnuplot is missing; "": all well        */
    size_t left;            /* of a shard: jobs without a result, that others run or that failed */
    char failed_note[512];  /* folder and reason of the first that failed in this call; "": none */
} sph_experiment_result;

/* Runs what is to be run and writes experiment.yaml, results.json, table.txt, .md, .tex, .csv, .json; where
 * boundaries were recorded, motion.txt, .csv and .json; the figures of the file into figures/; and
 * report.html. A job that diverges or fails is a line there, and no failure of this call. result may be NULL.
 *
 * With workers above 0 this call forks: each job runs in a child of the calling process, which has copies of its memory and none
 * of its other threads. Take workers 0 in a program that has threads of its own or has used OpenMP (sph_train with threads
 * above 1): nothing is forked then, and only gnuplot, which draws the figures, is started, by posix_spawn. */
SPH_API int sph_experiment_run(sph_experiment *experiment, const sph_experiment_opts *opts,
                               sph_experiment_result *result);

#ifdef __cplusplus
}
#endif

#endif
