/* SPDX-License-Identifier: MIT
 *
 * Scores of a net on a source: the loss the net was trained with, and what people read. */
#ifndef SPH_TRAIN_EVALUATE_H
#define SPH_TRAIN_EVALUATE_H

#include "net/plan.h"
#include "rows/source.h"

struct evaluator;

struct evaluator_opts {
    sph_loss loss;
    double smoothing;
    const double *y_scale; /* (targets) from the net's units to the target's own; NULL: 1. Borrowed */
    size_t workers;
};

/* Makes a plan for up to `rows` rows at a time. */
int evaluator_new(struct evaluator **out, struct weights *weights, const struct evaluator_opts *opts,
                  size_t rows);
void evaluator_free(struct evaluator *evaluator);

/* Of the weights as they are materialised. Regression: loss, rmse, mae. Binary: loss, accuracy. Classes:
 * loss, accuracy and, above five classes, top5. */
int evaluator_run(struct evaluator *evaluator, const struct source *source, sph_scores *out);

/* Names of the scores in evaluator_run's order, for logs made before the first run. */
size_t evaluator_names(sph_loss loss, size_t outputs, const char *names[SPH_METRICS_MAX]);

#endif
