/* SPDX-License-Identifier: MIT
 *
 * For the tool: what `train`, `eval`, `predict`, `boundaries`, `regions` and `export` need of a job or a
 * run folder. Not installed, not part of the API. */
#ifndef SPH_JOB_TOOL_H
#define SPH_JOB_TOOL_H

#include "spherelu/job.h"

/* The default that `spherelu train` has for a row of the table, in words, cut to size: "default: none", "default for tables:
 * sphere; for image networks: gmp". "": it has none. */
void sph_option_default(size_t row, char *out, size_t size);

/* What the option `record` costs, in bytes of the run folder. */
typedef struct sph_record_size {
    uint64_t step;      /* each step: how far boundaries moved */
    uint64_t frame;     /* each moment of boundaries           */
    uint64_t patterns;  /* each moment of patterns             */
    uint64_t gradients; /* each moment of gradients           */
} sph_record_size;

/* Known to observers of sph_job_run from their start on; 0 before, and where nothing is recorded. */
void sph_job_record_size(const sph_job *job, sph_record_size *out);

/* Rows of its data; known likewise. */
size_t sph_job_rows(const sph_job *job);

/* Files of a folder of pictures that could not be decoded and were left out (skip-bad); known likewise. */
size_t sph_job_left_out(const sph_job *job);

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
int sph_job_dry_run(sph_job *job, sph_job_size *out);

/* After sph_job_foresee, sph_job_run takes a few steps before the first one, works out from them how long all epochs will
 * take if it does not stop early, and begins anew. Observers are told from their start on; NaN: it was not asked for. */
void sph_job_foresee(sph_job *job);
double sph_job_seconds(const sph_job *job);

/* The ranks that run the job together, borrowed (launch/tool.h): each calls sph_job_run or sph_job_dry_run with the same options.
 * Rank 0 writes the folder and has the finished run; a failure of one is returned to all. Observers of other ranks than 0 may
 * only ask for a stop. */
struct comm;
void sph_job_set_comm(sph_job *job, struct comm *comm);

/* Of an ensemble, how many nets there are; 1 else. What a run does, it does with the mean of what they predict; boundaries and
 * regions are of one net alone. After sph_run_take_member the run is that one net (from 0). */
size_t sph_run_members(const sph_run *run);
int sph_run_take_member(sph_run *run, size_t member);

/* How data are read from here on, whatever the training said: workers, skip-bad of folders of pictures; strict: words of
 * a table that training did not see are refused, instead of being taken as none of those it saw; keep: columns whose
 * cells sph_run_predict writes before its own. value NULL: as in sph_job_set; of keep: none. */
int sph_run_set(sph_run *run, const char *name, const char *value);

/* Lines on the table that was read last: cells that were filled, words that training did not see; "" for none. */
const char *sph_run_notes(const sph_run *run);

/* The second of two classes in sorted order, whose precision and recall are computed; borrowed. NULL: not known. */
const char *sph_run_second_class(const sph_run *run);

/* Of the folder that was read last, the files that could not be decoded and were left out (skip-bad). */
size_t sph_run_left_out(const sph_run *run);

/* Which class the rows of each class are given. */
typedef struct sph_confusion {
    size_t classes;
    char **label;  /* (classes) */
    size_t *count; /* (classes, classes) of the true class, of the class given */
} sph_confusion;

/* Of other data, or of the run's own test part (source NULL). SPH_EARG: it does not tell classes apart. Free it with
 * sph_confusion_free, also after a failure. */
int sph_run_confusion(sph_run *run, const char *source, sph_confusion *out);
void sph_confusion_free(sph_confusion *confusion);

/* What the run predicts: how many targets, and the name of each, borrowed; NULL past the last. */
size_t sph_run_targets(const sph_run *run);
const char *sph_run_target(const sph_run *run, size_t target);

/* rmse, mae and r2 of each target of a regression, on the rows that sph_run_eval scores. each: (sph_run_targets). */
int sph_run_eval_targets(sph_run *run, const char *source, sph_scores *each);

/* The same into a file, which is replaced whole when all is there, or into a pipe or device. */
int sph_run_predict_file(sph_run *run, const char *source, const char *path);

/* The run's net as an ONNX graph that gives what sph_run_predict writes: variable (N, targets), or label (N) and
 * probabilities (N, classes). X is what the net takes: numbers, and a column for each level of a text column. opts may be
 * NULL: all 0. */
int sph_run_export(sph_run *run, const char *path, const sph_export_opts *opts);

/* ---------------------------------------------------------------- boundaries and regions of a run */

/* Of a run, in raw units. source: other data with the run's columns; NULL: the rows it was trained on, opened
 * as config.yaml names them. rows: look at the first so many; 0: at all. */
int sph_run_boundaries(sph_boundaries **out, sph_run *run, size_t layer, const char *source, size_t rows);

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

int sph_run_regions(sph_regions **out, sph_run *run, const sph_run_regions_opts *opts);

/* Everything about them as one JSON object (docs/regions.md). */
int sph_regions_json(const sph_regions *regions, const sph_sink *sink);

/* Lines on its table: cells that were filled, rows that were left out; "" for none. Known to observers from their start on. */
const char *sph_job_counts(const sph_job *job);

/* The run that sph_job_run just finished, as sph_run_open would read it from its folder, without reading it: once, NULL afterwards
 * and where there is none. Caller frees with sph_run_free. */
sph_run *sph_job_take_run(sph_job *job);

#endif
