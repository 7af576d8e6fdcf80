/* SPDX-License-Identifier: MIT
 *
 * One training: options by name, the run folder, and its evaluation. */
#ifndef SPHERELU_JOB_H
#define SPHERELU_JOB_H

#include "spherelu/boundary.h"
#include "spherelu/store.h"

#ifdef __cplusplus
extern "C" {
#endif

SPH_API const char *sph_features(void); /* compiled features as "name: value" lines */

/* ---------------------------------------------------------------- jobs and run folders
 * A job has all options of `spherelu train` by name. Training it writes a run folder. */

typedef struct sph_job sph_job;

typedef struct sph_option {
    const char *name;     /* "lr-theta"; "lr_theta" in files */
    const char *argument; /* "X", "N", "COL[,COL]", "relu|elu"; NULL: a switch */
    const char *initial;  /* fixed default as text, "" if none or chosen by other options */
    const char *section;  /* "data", "net", "training" */
    const char *help;
} sph_option;

SPH_API size_t sph_options(const sph_option **out); /* the table, borrowed; returns its length */

/* Options that are not set have the defaults of `spherelu train`, which depend on the data: for a table, parameterization, hidden
 * units, learning rate, schedule, batch, epochs and, if no network or training option is set, an ensemble
 * (docs/results/defaults.md). */
SPH_API int sph_job_new(sph_job **out);
SPH_API void sph_job_free(sph_job *job);
/* '-' and '_' are the same in a name; value NULL: "true" for a switch, "" for other options. */
SPH_API int sph_job_set(sph_job *job, const char *name, const char *value);
/* As text, borrowed until the option is set again; "": no value; NULL: unknown option, or out of memory. */
SPH_API const char *sph_job_get(const sph_job *job, const char *name);

/* Lines about the interpretation of the table, after sph_job_run: the types of target and other
 * columns, and columns that were left out; "": none. */
SPH_API const char *sph_job_notes(const sph_job *job);

/* Trains and writes the run folder `out`. resume: continue from its checkpoint; options that are set must agree with the
 * folder's config.yaml, the others are read from it. result may be NULL. */
SPH_API int sph_job_run(sph_job *job, int resume, const sph_observer *observers, size_t count,
                        sph_result *result);

/* The start of a training instead of a random initialization. */
typedef struct sph_start {
    size_t size;                /* sizeof(sph_start) */
    const sph_net *const *nets; /* (ensemble) of the same shape; they keep their standardization            */
    const void *state; /* (state_size) state of the optimizers, from sph_job_train; NULL: none         */
    size_t state_size;
} sph_start;

/* Sets the options that depend on data in memory, as sph_job_train does; sph_job_get then returns them (`ensemble`: number of nets). */
SPH_API int sph_job_settle(sph_job *job, const sph_data *data);

/* The same on data in memory, without a folder: out (option `ensemble`, or one) <- the trained nets,
 * caller frees. Call sph_job_settle first to know `ensemble`.
 * sph_option_in_memory tells for each row of the table whether the option can be used here; other options that were set
 * are an error. Options that depend on the data are set: sph_job_get returns them afterwards. start: NULL: none.
 * state: state of the optimizers at the end (sph_trainer_save_state of each net, one after the other), for another
 * sph_start; caller frees it with sph_bytes_free; NULL: not needed. Missing features (NaN) are replaced by the
 * mean of their column unless `missing` is error. Stopping and divergence are as in sph_train, but nets that are stopped
 * have the weights of their best epochs so far; after a failure out is NULL. result may be NULL. */
SPH_API int sph_job_train(sph_net **out, sph_job *job, const sph_data *data, const sph_start *start,
                          const sph_observer *observers, size_t count, sph_result *result, void **state,
                          size_t *state_size);
SPH_API int sph_option_in_memory(size_t row); /* 1: yes */

typedef struct sph_run sph_run;

SPH_API int sph_run_open(sph_run **out, const char *dir);
SPH_API void sph_run_free(sph_run *run);
SPH_API const sph_net *sph_run_net(const sph_run *run); /* the first member of an ensemble */

/* The value of an option in the run's training, as in sph_job_get. */
SPH_API const char *sph_run_get(const sph_run *run, const char *name);

/* Scores with the run's columns, standardization and loss, on other data, or, if source is NULL, on the
 * run's test part, whose data are opened with the path in config.yaml. */
SPH_API int sph_run_eval(sph_run *run, const char *source, sph_scores *scores);

/* Predictions as CSV: a header, then a line per row; for a folder of pictures, the first column is the file name. Numbers
 * have enough digits to be read back exactly. source NULL: the run's test part. */
SPH_API int sph_run_predict(sph_run *run, const char *source, const sph_sink *csv);

/* ---------------------------------------------------------------- nets without a folder
 * One net, or the nets of an ensemble, which have the same shape. Their note (sph_net_note) describes their data. */

/* A model file of one net or several. Caller frees with sph_nets_free. */
SPH_API int sph_nets_open(sph_net ***out, size_t *count, const char *path);
SPH_API void sph_nets_free(sph_net **nets, size_t count);
SPH_API int sph_nets_save(sph_net *const *nets, size_t count, const char *path);

/* mean (rows, outputs) <- the mean of the nets' predictions for x (rows, inputs), as in sph_run_predict: real targets in
 * their units (means of counts for the loss poisson), the probability of the second of two classes, or
 * of each class. spread (rows, outputs) <- the standard deviation among the nets; NULL: not needed. */
SPH_API int sph_nets_predict(sph_net *const *nets, size_t count, sph_loss loss, const double *x, size_t rows,
                             double *mean, double *spread);

/* An ONNX graph, f32: X (N, features) or (N, channels, height, width) in data units, with variable N, and these predictions, as
 * `spherelu export` writes them, or with SPH_EXPORT_RAW the scores of one net, which needs no note. opts may be NULL: all 0. */
SPH_API int sph_nets_export(sph_net *const *nets, size_t count, sph_loss loss, const char *path,
                            const sph_export_opts *opts);

#ifdef __cplusplus
}
#endif

#endif
