/* SPDX-License-Identifier: MIT
 *
 * Scores of a network on a source: the training loss and the metrics (metrics.h). */
#ifndef SPH_TRAIN_EVALUATE_H
#define SPH_TRAIN_EVALUATE_H

#include "comm/comm.h"
#include "net/plan.h"
#include "rows/source.h"
#include "train/metrics.h"

struct evaluator;

struct evaluator_opts {
    sph_loss loss;
    double smoothing, delta;
    size_t workers;
    size_t most_rows;   /* of a source whose every score is asked for: room for what metrics keep */
    sph_metric watched; /* computed in each epoch, beside those that always are */
    /* Members of folds, each row scored by those that did not train on it: rows before fold_end[f] (and behind the fold before)
     * by members f, f + folds, ... NULL: every row by all. */
    const size_t *fold_end; /* (folds), borrowed */
    size_t folds;
    struct comm
        *comm; /* ranks that share the rows and get the same scores, borrowed; NULL: this process alone */
};

/* Makes a plan for up to `rows` rows at a time. */
int evaluator_new(struct evaluator **out, struct weights *weights, const struct evaluator_opts *opts,
                  size_t rows);

/* The same for the mean of the predictions of several nets of one shape. */
int evaluator_new_mean(struct evaluator **out, struct weights *const *members, size_t count,
                       const struct evaluator_opts *opts, size_t rows);
void evaluator_free(struct evaluator *evaluator);

enum evaluator_which { EVALUATOR_EPOCH, EVALUATOR_ALL };

/* Of the weights as they are materialised: the metrics of the task, all or what an epoch asks for; all NaN where a prediction is
 * no finite number. row_weights: (source's rows)
 * factors on their losses, of mean 1; other metrics count all rows alike; NULL: so does the loss. */
int evaluator_run(struct evaluator *evaluator, const struct source *source, const double *row_weights,
                  enum evaluator_which which, sph_scores *out);

/* What evaluator_run gives, for logs made before the first run. */
size_t evaluator_list(const struct evaluator_opts *opts, size_t outputs, enum evaluator_which which,
                      sph_metric list[SPH_METRICS_MAX]);

#endif
