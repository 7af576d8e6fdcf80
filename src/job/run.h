/* SPDX-License-Identifier: MIT
 *
 * A finished run as the files see it that look into one: run.c (scores, predictions) and its neighbours. */
#ifndef SPH_JOB_RUN_H
#define SPH_JOB_RUN_H

#include "file/json.h"
#include "data/data.h"
#include "job/options.h"

struct sph_run {
    char *dir;
    struct job_spec *spec; /* as config.yaml has it */
    sph_net *net;          /* the first member, or the only one */
    sph_net **nets;        /* (members) */
    size_t members;
    json_t *schema;  /* of the columns of its data */
    int strict;      /* words that training did not see are refused */
    char *keep;      /* columns to carry into predictions, or NULL */
    char *notes;     /* lines on the table it was used on last, or NULL */
    size_t left_out; /* of the data it was used on last, pictures that could not be decoded */
};

/* The data of the run itself (source NULL: what it was trained on, all parts), or another source read with
 * the run's columns. Own data that changed since are refused, and numbers that are too large for the nets' dtype.
 * need_targets 0: y may be NULL. Caller frees
 * with sph_data_free. */
int run_open_data(sph_run *run, const char *source, int need_targets, sph_data **out);

/* SPH_EFORMAT where one of y (count, outputs) is no finite number; it names the row's line, where data is from a source, and the
 * column that is farthest off. rows (count): which of the data's; NULL: the first. */
int run_check_outputs(const sph_run *run, const char *source, const sph_data *data, const uint32_t *rows,
                      size_t count, const double *y);

/* The split of its own data, of so many rows; refused where it has no test part. Caller frees it also then. */
int run_test_part(const sph_run *run, size_t rows, sph_split *split);

/* What looks into one net is not for an ensemble: SPH_EARG, which says how to take one member. */
int run_check_single(const sph_run *run, const char *what);

/* SPH_EFORMAT where the net takes or gives another number of columns than the data have: its file may say
 * anything. */
int run_check_net(const sph_net *net, const sph_data *data, const char *path);

#endif
