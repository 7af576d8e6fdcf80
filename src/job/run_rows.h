/* SPDX-License-Identifier: MIT
 *
 * Rows of a table and the predictions of a run for them. */
#ifndef SPH_JOB_RUN_ROWS_H
#define SPH_JOB_RUN_ROWS_H

#include "job/run.h"

struct run_rows {
    sph_data *data; /* all rows of the source */
    uint32_t *row;  /* (count) those at hand, in ascending order */
    size_t count;
    size_t outputs, targets;
    double *x; /* (count, features) */
    double *y; /* (count, targets) class tasks: class number */
    double *p; /* (count, outputs) as sph_run_predict writes them: numbers or probabilities */
};

/* source NULL: the run's own test part. Images are refused. Free with run_rows_free, also after a failure. */
int run_rows_open(struct run_rows *out, sph_run *run, const char *source);
void run_rows_free(struct run_rows *rows);

/* Whether the run's own table can be opened again: 1, 0 (images, standard input, a file or set that is not there), or a
 * failure. */
int run_rows_at_hand(const sph_run *run);

/* What the i-th row costs: the squared error, summed over targets, or -log of the probability of its class. */
double run_rows_loss(const struct run_rows *rows, size_t i);

/* The probability that the i-th row is of a class. */
double run_rows_probability(const struct run_rows *rows, size_t i, size_t class_number);

#endif
