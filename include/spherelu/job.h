/* SPDX-License-Identifier: MIT
 *
 * One training: options by name, a run folder, and what can be asked of it. */
#ifndef SPHERELU_JOB_H
#define SPHERELU_JOB_H

#include "spherelu/boundary.h"

#ifdef __cplusplus
extern "C" {
#endif

SPH_API const char *sph_features(void); /* what the library was built with, one "name: value" per line */

/* ---------------------------------------------------------------- jobs and run folders
 * A job is everything `spherelu train` takes, by name. A run folder is what it leaves. */

typedef struct sph_job sph_job;

typedef struct sph_option {
    const char *name;     /* "lr-theta"; "lr_theta" in files */
    const char *argument; /* "X", "N", "COL[,COL]", "relu|elu"; NULL: a switch */
    const char *initial;  /* default as text, "" if none or chosen by other options */
    const char *section;  /* "data", "net", "training" */
    const char *help;
} sph_option;

SPH_API size_t sph_options(const sph_option **out); /* the table, borrowed; returns its length */

SPH_API int sph_job_new(sph_job **out);
SPH_API void sph_job_free(sph_job *job);
SPH_API int sph_job_set(sph_job *job, const char *name, const char *value); /* '-' and '_' are the same */
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

/* Trains and writes the run folder `out`. resume: go on from its checkpoint; what is set must agree with the
 * folder's config.yaml, what is not set is taken from it. */
SPH_API int sph_job_run(sph_job *job, int resume, const sph_observer *observers, size_t count,
                        sph_result *result);

typedef struct sph_run sph_run;

SPH_API int sph_run_open(sph_run **out, const char *dir);
SPH_API void sph_run_free(sph_run *run);
SPH_API const sph_net *sph_run_net(const sph_run *run);

/* Scores on other data with the run's own columns, standardisation and loss. */
SPH_API int sph_run_eval(sph_run *run, const char *source, sph_scores *scores);

/* Predictions as CSV: a header, then a line per row. */
SPH_API int sph_run_predict(sph_run *run, const char *source, const sph_sink *csv);

/* The same into a file, which is replaced whole when all is there, or into a pipe or device. */
SPH_API int sph_run_predict_file(sph_run *run, const char *source, const char *path);

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
SPH_API int sph_regions_json(const sph_regions *regions, const sph_sink *json);

#ifdef __cplusplus
}
#endif

#endif
