/* SPDX-License-Identifier: MIT
 *
 * The area under the ROC curve: the chance that a row of the class scores higher than a row of the others, a tie
 * counting half. Exact, so it keeps the scores of all rows: the logit of a binary net, the probability of each of
 * several classes. Of several classes it is the mean over them, each against the rest. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "train/metrics.h"
#include "train/tool.h"

static void keep_scores(const struct metric_part *part, const struct metric_tile *tile, double *sum)
{
    (void)sum;
    if (!part->kept)
        return;
    double *kept = part->kept + tile->row * part->outputs;
    memcpy(kept, tile->p, tile->rows * part->outputs * sizeof *kept);
    memcpy(part->kept_t + tile->row * part->targets, tile->t, tile->rows * part->targets * sizeof *kept);
    if (part->task == SPH_TASK_CLASSES)
        for (size_t i = 0; i < tile->rows; i++)
            metric_softmax(part->outputs, kept + i * part->outputs);
}

static int by_score(const void *a, const void *b)
{
    double x = ((const struct metric_rank *)a)->score, y = ((const struct metric_rank *)b)->score;
    return (x > y) - (x < y);
}

/* Mann and Whitney's statistic over its largest value. */
static double area(struct metric_rank *order, size_t rows)
{
    double ranks = 0, positives = 0;
    qsort(order, rows, sizeof *order, by_score);
    for (size_t from = 0, to; from < rows; from = to) {
        double equal = 0;
        for (to = from; to < rows && order[to].score == order[from].score; to++)
            equal += order[to].positive;
        positives += equal;
        ranks += equal * 0.5 * (double)(from + 1 + to); /* equal ones share the mean of their ranks */
    }
    double pairs = positives * ((double)rows - positives);
    return (ranks - 0.5 * positives * (positives + 1)) / pairs; /* 0 / 0: one class alone */
}

static double finish_auc(const struct metric_part *part, const double *sum)
{
    double all = 0;
    (void)sum;
    if (!part->kept)
        return (double)NAN;
    for (size_t c = 0; c < part->outputs; c++) {
        for (size_t i = 0; i < part->rows; i++) {
            double t = part->task == SPH_TASK_CLASSES ? part->kept_t[i] == (double)c
                                                      : part->kept_t[i * part->targets + c];
            part->order[i] = (struct metric_rank){part->kept[i * part->outputs + c], t > 0.5};
        }
        all += area(part->order, part->rows);
    }
    return all / (double)part->outputs;
}

const struct metric metric_AUC = {
    .facts = {.tasks = SPH_IN_BINARY | SPH_IN_CLASSES,
              .larger_is_better = 1,
              .undefined = "if a class has no row or all rows, and for more than 2^25 scores"},
    .keeps = 1,
    .tally = keep_scores,
    .finish = finish_auc,
};
