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

/* The default that `spherelu train` has for a row of the table, in words, cut to size: "tables: sphere; image networks:
 * gmp". "": it has none. */
SPH_API void sph_option_default(size_t row, char *out, size_t size);

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

/* What the option `record` costs, in bytes of the run folder. */
typedef struct sph_record_size {
    uint64_t step;      /* each step: how far boundaries moved */
    uint64_t frame;     /* each moment of boundaries           */
    uint64_t patterns;  /* each moment of patterns             */
    uint64_t gradients; /* each moment of gradients           */
} sph_record_size;

/* Known to observers of sph_job_run from their start on; 0 before, and where nothing is recorded. */
SPH_API void sph_job_record_size(const sph_job *job, sph_record_size *out);

/* Lines on how its table was taken, known likewise; "" where there is nothing to tell. Notes: what the target and other
 * columns were taken for, and which were left out. Counts: cells that were filled, rows that were left out. */
SPH_API const char *sph_job_notes(const sph_job *job);
SPH_API const char *sph_job_counts(const sph_job *job);

/* Rows of its data; known likewise. */
SPH_API size_t sph_job_rows(const sph_job *job);

/* Files of a folder of pictures that could not be decoded and were left out (skip-bad); known likewise. */
SPH_API size_t sph_job_left_out(const sph_job *job);

/* What a training would be. */
typedef struct sph_job_size {
    size_t train_rows, val_rows, test_rows, features;
    size_t learned, frozen; /* numbers that the net has, and those of them that --freeze keeps */
    size_t steps;           /* of an epoch                                                    */
    size_t epochs;          /* if it does not stop early                                      */
    double step_seconds;    /* of a step, by a few of them                                    */
    double seconds;         /* of all epochs, scores included                                 */
    double peak_bytes;      /* the most memory that the process will hold; NaN: the system does not say */
    double disk_bytes;      /* of the run folder, without what is recorded                    */
} sph_job_size;

/* Opens the data, makes everything a training needs and takes a few steps of it, but writes nothing. The peak counts
 * from what the process holds already. */
SPH_API int sph_job_dry_run(sph_job *job, sph_job_size *out);

/* After sph_job_foresee, sph_job_run takes a few steps before the first one, works out from them how long all epochs will
 * take if it does not stop early, and begins anew. Observers are told from their start on; NaN: it was not asked for. */
SPH_API void sph_job_foresee(sph_job *job);
SPH_API double sph_job_seconds(const sph_job *job);

/* Trains and writes the run folder `out`. resume: go on from its checkpoint; what is set must agree with the
 * folder's config.yaml, what is not set is taken from it. result may be NULL. */
SPH_API int sph_job_run(sph_job *job, int resume, const sph_observer *observers, size_t count,
                        sph_result *result);

/* The run that sph_job_run just finished, as sph_run_open would read it from its folder, without reading it: once, NULL afterwards
 * and where there is none. Caller frees with sph_run_free. */
typedef struct sph_run sph_run;
SPH_API sph_run *sph_job_take_run(sph_job *job);

/* What an optimizer remembers of the steps before, of all nets. */
typedef struct sph_moments {
    uint64_t step; /* so many steps */
    size_t count;
    double *value; /* (count) */
} sph_moments;

SPH_API void sph_moments_free(sph_moments *moments); /* leaves a zeroed struct */

/* Where a training begins instead of at drawn numbers. */
typedef struct sph_start {
    const sph_net *const *nets; /* (ensemble) of the same shape; they keep their standardisation */
    const sph_moments *moments; /* of the same optimizer; NULL: none                             */
} sph_start;

/* Settles what depends on data in memory, as sph_job_train will: sph_job_get tells it then, and how many nets there will be. */
SPH_API int sph_job_settle(sph_job *job, const sph_data *data);

/* The same on data in memory, without a folder: out (as many as the option `ensemble` says, or one) <- the trained nets,
 * caller frees; of a job that chooses by the data (sph_job_recommend) `ensemble` is known after sph_job_settle, which comes
 * before then. Which options it takes sph_option_in_memory says of each row of the table; others that were given are
 * refused. Options that depend on the data are settled: sph_job_get tells them afterwards. start: NULL: nowhere.
 * moments: what the optimizer remembers at the end, caller frees; NULL: not wanted. Missing features (NaN) take their
 * column's mean unless `missing` says error. Stopping and divergence are as in sph_train; after a failure out holds
 * NULL. result may be NULL. */
SPH_API int sph_job_train(sph_net **out, sph_moments *moments, sph_job *job, const sph_data *data,
                          const sph_start *start, const sph_observer *observers, size_t count,
                          sph_result *result);
SPH_API int sph_option_in_memory(size_t row); /* 1: yes */

SPH_API int sph_run_open(sph_run **out, const char *dir);
SPH_API void sph_run_free(sph_run *run);
SPH_API const sph_net *sph_run_net(const sph_run *run); /* of an ensemble the first member */

/* Of an ensemble, how many nets there are; 1 else. What a run does, it does with the mean of what they predict; boundaries and
 * regions are of one net alone. After sph_run_take_member the run is that one net (from 0). */
SPH_API size_t sph_run_members(const sph_run *run);
SPH_API int sph_run_take_member(sph_run *run, size_t member);

/* How data are read from here on, whatever the training said: workers, skip-bad of folders of pictures; strict: words of
 * a table that training did not see are refused, instead of being taken as none of those it saw; keep: columns whose
 * cells sph_run_predict writes before its own. value NULL: as in sph_job_set; of keep: none. */
SPH_API int sph_run_set(sph_run *run, const char *name, const char *value);

/* An option that the run was trained with, as sph_job_get has it. */
SPH_API const char *sph_run_get(const sph_run *run, const char *name);

/* Lines on the table that was read last: cells that were filled, words that training did not see; "" for none. */
SPH_API const char *sph_run_notes(const sph_run *run);

/* Of the folder that was read last, the files that could not be decoded and were left out (skip-bad). */
SPH_API size_t sph_run_left_out(const sph_run *run);

/* Scores with the run's own columns, standardisation and loss: on other data, or, where source is NULL, on the
 * run's own test part, its data opened as config.yaml names them. */
SPH_API int sph_run_eval(sph_run *run, const char *source, sph_scores *scores);

/* Which class the rows of each class are given. */
typedef struct sph_confusion {
    size_t classes;
    char **label;  /* (classes) */
    size_t *count; /* (classes, classes) of the true class, of the class given */
} sph_confusion;

/* Of other data, or of the run's own test part (source NULL). SPH_EARG: it does not tell classes apart. Free it with
 * sph_confusion_free, also after a failure. */
SPH_API int sph_run_confusion(sph_run *run, const char *source, sph_confusion *out);
SPH_API void sph_confusion_free(sph_confusion *confusion);

/* What the run predicts: how many targets, and the name of each, borrowed; NULL past the last. */
SPH_API size_t sph_run_targets(const sph_run *run);
SPH_API const char *sph_run_target(const sph_run *run, size_t target);

/* rmse, mae and r2 of each target of a regression, on the rows that sph_run_eval scores. each: (sph_run_targets). */
SPH_API int sph_run_eval_targets(sph_run *run, const char *source, sph_scores *each);

/* Predictions as CSV: a header, then a line per row; of a folder of pictures the file's name comes first. Numbers
 * have as many digits as read back the same. source NULL: the run's own test part. */
SPH_API int sph_run_predict(sph_run *run, const char *source, const sph_sink *csv);

/* The same into a file, which is replaced whole when all is there, or into a pipe or device. */
SPH_API int sph_run_predict_file(sph_run *run, const char *source, const char *path);

/* The run's net as an ONNX graph that gives what sph_run_predict writes: variable (N, targets), or label (N) and
 * probabilities (N, classes). X is what the net takes: numbers, and a column for each level of a text column. opts may be
 * NULL: all 0. */
SPH_API int sph_run_export(sph_run *run, const char *path, const sph_export_opts *opts);

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

/* An ONNX graph of these predictions, as sph_run_export writes it. opts may be NULL: all 0. */
SPH_API int sph_nets_export(sph_net *const *nets, size_t count, sph_loss loss, const char *path,
                            const sph_export_opts *opts);

/* ---------------------------------------------------------------- boundaries and regions of a run */

/* Of a run, in raw units. source: other data with the run's columns; NULL: the rows it was trained on, opened
 * as config.yaml names them. rows: look at the first so many; 0: at all. */
SPH_API int sph_run_boundaries(sph_boundaries **out, sph_run *run, size_t layer, const char *source,
                               size_t rows);

/* Regions of a run's net, in the units of its data. */
typedef struct sph_run_regions_opts {
    const char *data;     /* file or name; NULL: what the run was trained on                              */
    const size_t *plane;  /* (3) zero-based rows of the data; NULL: the input itself, of 1 or 2 numbers   */
    const double *window; /* (4), of a net with 1 input (2); NULL: the box of the data or of the three points
                             and a tenth more on each side */
    size_t most;          /* regions; 0: a million                                                        */
    void *self;
    sph_progress_call *progress; /* as in sph_regions_opts */
    int colour_output;           /* the picture is coloured by the net's one output, not by active units */
} sph_run_regions_opts;

SPH_API int sph_run_regions(sph_regions **out, sph_run *run, const sph_run_regions_opts *opts);

/* Everything about them as one JSON object (docs/regions.md). */
SPH_API int sph_regions_json(const sph_regions *regions, const sph_sink *sink);

#ifdef __cplusplus
}
#endif

#endif
