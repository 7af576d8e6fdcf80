/* SPDX-License-Identifier: MIT
 *
 * One training: options by name, a run folder, and what can be asked of it. */
#ifndef SPHERELU_JOB_H
#define SPHERELU_JOB_H

#include "spherelu/boundary.h"
#include "spherelu/store.h"

#ifdef __cplusplus
extern "C" {
#endif

SPH_API const char *sph_features(void); /* the library's parts, and those it can use: "name: value" lines */

/* ---------------------------------------------------------------- jobs and run folders
 * A job is everything `spherelu train` takes, by name. A run folder is what it leaves. */

typedef struct sph_job sph_job;

typedef struct sph_option {
    const char *name;     /* "lr-theta"; "lr_theta" in files */
    const char *argument; /* "X", "N", "COL[,COL]", "relu|elu"; NULL: a switch */
    const char *initial;  /* fixed default as text, "" if none or chosen by other options */
    const char *section;  /* "data", "net", "training" */
    const char *help;
} sph_option;

SPH_API size_t sph_options(const sph_option **out); /* the table, borrowed; returns its length */

SPH_API int sph_job_new(sph_job **out);
SPH_API void sph_job_free(sph_job *job);
/* What is not given is chosen by the data, as `spherelu train` does: of a table the parameterization, hidden units, rate, its
 * schedule, batch, epochs and, where nothing is said about net and training, an ensemble (docs/results/defaults.md). Without it the
 * fixed defaults of the table above hold. */
SPH_API void sph_job_recommend(sph_job *job);
/* '-' and '_' are the same in a name; value NULL: "true" for a switch, "" for other options. */
SPH_API int sph_job_set(sph_job *job, const char *name, const char *value);
/* As text, borrowed until it is set again; "": it has no value; NULL: unknown, or out of memory. */
SPH_API const char *sph_job_get(const sph_job *job, const char *name);

/* Lines on how its table was taken, known likewise; "" where there is nothing to tell. Notes: what the target and other
 * columns were taken for, and which were left out. */
SPH_API const char *sph_job_notes(const sph_job *job);

/* Trains and writes the run folder `out`. resume: go on from its checkpoint; what is set must agree with the
 * folder's config.yaml, what is not set is taken from it. result may be NULL. */
SPH_API int sph_job_run(sph_job *job, int resume, const sph_observer *observers, size_t count,
                        sph_result *result);

/* Where a training begins instead of at drawn numbers. */
typedef struct sph_start {
    size_t size;                /* sizeof(sph_start) */
    const sph_net *const *nets; /* (ensemble) of the same shape; they keep their standardisation            */
    const void *state; /* (state_size) what the optimizers remember, from sph_job_train; NULL: nothing */
    size_t state_size;
} sph_start;

/* Settles what depends on data in memory, as sph_job_train will: sph_job_get tells it then, and how many nets there will be. */
SPH_API int sph_job_settle(sph_job *job, const sph_data *data);

/* The same on data in memory, without a folder: out (as many as the option `ensemble` says, or one) <- the trained nets,
 * caller frees; of a job that chooses by the data (sph_job_recommend) `ensemble` is known after sph_job_settle, which comes
 * before then. Which options it takes sph_option_in_memory says of each row of the table; others that were given are
 * refused. Options that depend on the data are settled: sph_job_get tells them afterwards. start: NULL: nowhere.
 * state: what the optimizers remember at the end (sph_trainer_save_state of each net, one after the other), for another
 * sph_start; caller frees it with sph_bytes_free; NULL: not wanted. Missing features (NaN) take their
 * column's mean unless `missing` says error. Stopping and divergence are as in sph_train; after a failure out holds
 * NULL. result may be NULL. */
SPH_API int sph_job_train(sph_net **out, sph_job *job, const sph_data *data, const sph_start *start,
                          const sph_observer *observers, size_t count, sph_result *result, void **state,
                          size_t *state_size);
SPH_API int sph_option_in_memory(size_t row); /* 1: yes */

typedef struct sph_run sph_run;

SPH_API int sph_run_open(sph_run **out, const char *dir);
SPH_API void sph_run_free(sph_run *run);
SPH_API const sph_net *sph_run_net(const sph_run *run); /* of an ensemble the first member */

/* An option that the run was trained with, as sph_job_get has it. */
SPH_API const char *sph_run_get(const sph_run *run, const char *name);

/* Scores with the run's own columns, standardisation and loss: on other data, or, where source is NULL, on the
 * run's own test part, its data opened as config.yaml names them. */
SPH_API int sph_run_eval(sph_run *run, const char *source, sph_scores *scores);

/* Predictions as CSV: a header, then a line per row; of a folder of pictures the file's name comes first. Numbers
 * have as many digits as read back the same. source NULL: the run's own test part. */
SPH_API int sph_run_predict(sph_run *run, const char *source, const sph_sink *csv);

/* ---------------------------------------------------------------- nets without a folder
 * One net, or those of an ensemble, which are of one shape. Their note (sph_net_note) describes their data. */

/* A model file of one net or several. Caller frees with sph_nets_free. */
SPH_API int sph_nets_open(sph_net ***out, size_t *count, const char *path);
SPH_API void sph_nets_free(sph_net **nets, size_t count);
SPH_API int sph_nets_save(sph_net *const *nets, size_t count, const char *path);

/* mean (rows, outputs) <- the mean of what the nets predict of x (rows, inputs), as sph_run_predict has it: real targets in
 * their own units (means of counts, of a net trained with the loss poisson), the probability of the second of two classes, or
 * of each class. spread (rows, outputs) <- the standard deviation among the nets; NULL: not wanted. */
SPH_API int sph_nets_predict(sph_net *const *nets, size_t count, sph_loss loss, const double *x, size_t rows,
                             double *mean, double *spread);

/* An ONNX graph of these predictions, as `spherelu export` writes it. opts may be NULL: all 0. */
SPH_API int sph_nets_export(sph_net *const *nets, size_t count, sph_loss loss, const char *path,
                            const sph_export_opts *opts);

#ifdef __cplusplus
}
#endif

#endif
