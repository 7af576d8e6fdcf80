/* SPDX-License-Identifier: MIT
 *
 * A finished run, for the files that read it: run.c (scores, predictions) and others. */
#ifndef SPH_JOB_RUN_H
#define SPH_JOB_RUN_H

#include "file/json.h"
#include "data/open.h"
#include "job/options.h"
#include "data/npz.h"

/* What is read of a folder beside its options and its result; the rest stays NULL. */
enum run_parts {
    RUN_RECORD = 1, /* where there is one */
    RUN_DATA = 2,   /* and its split */
    RUN_FIRST = 4,  /* the net before training, with the data, which it is made for */
    RUN_MODEL = 8   /* where the run left one */
};

struct sph_run {
    char *dir;
    struct job_spec *spec; /* as config.yaml has it */
    json_t *result;        /* result.json; NULL: not finished */
    sph_net *net;          /* the first member, or the only one; NULL: no model */
    sph_net **nets;        /* (members) */
    size_t members;
    json_t *schema;     /* of the columns of its data */
    sph_data *data;     /* its own, all parts */
    sph_split split;    /* of them */
    sph_net *first;     /* as it was drawn, with the standardisation of the training part */
    struct npz *record; /* boundaries.npz */
    int strict;         /* words that training did not see are refused */
    char *keep;         /* columns to carry into predictions, or NULL */
    struct text notes;  /* lines on the table it was used on last */
    size_t left_out;    /* of the data it was used on last, pictures that could not be decoded */
};

/* ---------------------------------------------------------------- run_folder.c */

/* parts: bits of run_parts; cache: where its data are kept for others, or NULL. Free with run_close. */
int run_read(sph_run *run, const char *dir, unsigned parts, struct data_cache *cache);
void run_close(sph_run *run);

/* Parts that were not read yet. */
int run_own_data(sph_run *run, struct data_cache *cache); /* refused where they changed since */
int run_own_split(sph_run *run);                          /* after its data */
int run_open_model(sph_run *run);
int run_open_record(struct npz **out, const char *dir); /* *out is NULL where there is none */

/* values (rows, count) <- these of each line of dir's metrics.jsonl, NaN where there is none; caller frees. 1; 0: there is no such file. */
int run_read_metrics(const char *dir, const char *const *names, size_t count, double **values, size_t *rows);

/* The nets and the schema of their data are the run's from now on, also after a failure. */
int run_take_nets(sph_run *run, sph_net **nets, size_t members, json_t *schema);

/* The one net there is; NULL: none, or an ensemble. */
sph_net *run_single(const sph_run *run);

/* A score of a part in a result.json; NaN where there is none. */
double result_score(const json_t *result, const char *part, const char *metric);

/* ---------------------------------------------------------------- run.c */

/* The data of the run itself (source NULL: what it was trained on, all parts), or another source read with
 * the run's columns. Own data that changed since are refused, and numbers that are too large for the nets' dtype.
 * need_targets 0: y may be NULL. Caller frees
 * with sph_data_free. */
int run_open_data(sph_run *run, const char *source, int need_targets, sph_data **out);

/* SPH_EFORMAT where one of y (count, outputs) is no finite number; it names the row's line, where data is from a source, and the
 * column that is farthest off. rows (count): which of the data's; NULL: the first. */
int run_check_outputs(const sph_run *run, const char *source, const sph_data *data, const uint32_t *rows,
                      size_t count, const double *y);

/* The rows to score, once the data are open: all of another source, with *rows NULL, or the run's test part, borrowed; SPH_EARG
 * where it has none. */
int run_scored_rows(sph_run *run, const char *source, const sph_data *data, const uint32_t **rows,
                    size_t *count);

/* What looks into one net is not for an ensemble: SPH_EARG, which says how to take one member. */
int run_check_single(const sph_run *run, const char *what);

/* SPH_EFORMAT where the net takes or gives another number of columns than the data have: its file may say
 * anything. */
int run_check_net(const sph_net *net, const sph_data *data, const char *path);

#endif
