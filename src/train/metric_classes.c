/* SPDX-License-Identifier: MIT
 *
 * Hits and misses of classes. A binary net has one logit, of class 1; each output of several is a row of its own. */
#include <float.h>
#include <math.h>

#include "train/metrics.h"
#include "train/tool.h"

static double finish_share(const struct metric_part *part, const double *sum)
{
    return *sum / ((double)part->rows * (double)part->targets);
}

/* ---------------------------------------------------------------- accuracy, top5 */

/* How many other classes score at least as high as the true one. */
static size_t rank_of(const double *p, size_t classes, size_t truth)
{
    size_t above = 0;
    for (size_t c = 0; c < classes; c++)
        above += c != truth && !(p[c] < p[truth]);
    return above;
}

static void tally_hits(const struct metric_part *part, const struct metric_tile *tile, double *sum, size_t k)
{
    const double *p = tile->p, *t = tile->t;
    if (part->task == SPH_TASK_BINARY)
        for (size_t i = 0; i < tile->rows * part->outputs; i++)
            *sum += (p[i] > 0) == (t[i] > 0.5);
    else
        for (size_t i = 0; i < tile->rows; i++)
            *sum += rank_of(p + i * part->outputs, part->outputs, (size_t)t[i]) < k;
}

static void tally_accuracy(const struct metric_part *part, const struct metric_tile *tile, double *sum)
{
    tally_hits(part, tile, sum, 1);
}

static void tally_top5(const struct metric_part *part, const struct metric_tile *tile, double *sum)
{
    tally_hits(part, tile, sum, 5);
}

const struct metric metric_ACCURACY = {
    .facts = {.tasks = SPH_IN_BINARY | SPH_IN_CLASSES,
              .larger_is_better = 1,
              .every_epoch = 1,
              .beside = "top5"},
    .tally = tally_accuracy,
    .finish = finish_share,
};

const struct metric metric_TOP5 = {
    .facts = {.tasks = SPH_IN_CLASSES,
              .larger_is_better = 1,
              .every_epoch = 1,
              .least_outputs = 6,
              .beside = "accuracy"},
    .tally = tally_top5,
    .finish = finish_share,
};

/* ---------------------------------------------------------------- log_loss */

/* log of the true class's probability, that kept off 0 and 1 by one rounding as scikit-learn does. */
static double log_chance(const double *p, size_t outputs, size_t truth)
{
    double log_p;
    if (outputs == 1) {
        double z = truth ? p[0] : -p[0]; /* log(1 / (1 + exp(-z))) */
        log_p = (z < 0 ? z : 0) - log1p(exp(-fabs(z)));
    } else {
        double top = p[0], sum = 0;
        for (size_t c = 1; c < outputs; c++)
            top = p[c] > top ? p[c] : top;
        for (size_t c = 0; c < outputs; c++)
            sum += exp(p[c] - top);
        log_p = p[truth] - top - log(sum);
    }
    if (log_p < log(DBL_EPSILON))
        return log(DBL_EPSILON);
    return log_p > log1p(-DBL_EPSILON) ? log1p(-DBL_EPSILON) : log_p;
}

static void tally_log_loss(const struct metric_part *part, const struct metric_tile *tile, double *sum)
{
    if (part->task == SPH_TASK_BINARY)
        for (size_t i = 0; i < tile->rows * part->outputs; i++)
            *sum -= log_chance(tile->p + i, 1, tile->t[i] > 0.5);
    else
        for (size_t i = 0; i < tile->rows; i++)
            *sum -= log_chance(tile->p + i * part->outputs, part->outputs, (size_t)tile->t[i]);
}

const struct metric metric_LOG_LOSS = {
    .facts = {.tasks = SPH_IN_BINARY | SPH_IN_CLASSES},
    .tally = tally_log_loss,
    .finish = finish_share,
};

/* ---------------------------------------------------------------- balanced_accuracy, f1, precision, recall */

/* Of each class: its rows, the rows given to it, and both at once. */
enum { CLASS_TRUE, CLASS_GIVEN, CLASS_HIT, CLASS_NUMBERS };

static size_t class_numbers(const struct metric_part *part)
{
    return CLASS_NUMBERS * part->classes;
}

static void tally_class(double *sum, size_t truth, size_t given)
{
    sum[CLASS_NUMBERS * truth + CLASS_TRUE]++;
    sum[CLASS_NUMBERS * given + CLASS_GIVEN]++;
    if (truth == given)
        sum[CLASS_NUMBERS * truth + CLASS_HIT]++;
}

static void tally_classes(const struct metric_part *part, const struct metric_tile *tile, double *sum)
{
    if (part->task == SPH_TASK_BINARY)
        for (size_t i = 0; i < tile->rows * part->outputs; i++)
            tally_class(sum, tile->t[i] > 0.5, metric_class(1, tile->p + i));
    else
        for (size_t i = 0; i < tile->rows; i++)
            tally_class(sum, (size_t)tile->t[i], metric_class(part->outputs, tile->p + i * part->outputs));
}

/* Over the classes that have rows. */
static double finish_balanced(const struct metric_part *part, const double *sum)
{
    double all = 0, present = 0;
    for (size_t c = 0; c < part->classes; c++) {
        const double *own = sum + CLASS_NUMBERS * c;
        if (own[CLASS_TRUE] > 0) {
            all += own[CLASS_HIT] / own[CLASS_TRUE];
            present++;
        }
    }
    return all / present;
}

const struct metric metric_BALANCED_ACCURACY = {
    .facts = {.tasks = SPH_IN_BINARY | SPH_IN_CLASSES, .larger_is_better = 1},
    .numbers = class_numbers,
    .tally = tally_classes,
    .finish = finish_balanced,
};

/* Over the classes that have rows or are given some. */
static double finish_f1(const struct metric_part *part, const double *sum)
{
    double all = 0, present = 0;
    for (size_t c = 0; c < part->classes; c++) {
        const double *own = sum + CLASS_NUMBERS * c, both = own[CLASS_TRUE] + own[CLASS_GIVEN];
        if (both > 0) {
            all += 2 * own[CLASS_HIT] / both;
            present++;
        }
    }
    return all / present;
}

const struct metric metric_F1 = {
    .facts = {.tasks = SPH_IN_BINARY | SPH_IN_CLASSES,
              .larger_is_better = 1,
              .mean = "macro: mean over classes"},
    .numbers = class_numbers,
    .tally = tally_classes,
    .finish = finish_f1,
};

/* Precision and recall are those of the second class, as in scikit-learn: the same class in every set of rows. A choice by the
 * numbers of rows could differ between the sets of one run, and between seeds whose scores are averaged. */
static const double *second(const double *sum)
{
    return sum + CLASS_NUMBERS;
}

/* 0 if no row is given to the class, as scikit-learn has it. */
static double finish_precision(const struct metric_part *part, const double *sum)
{
    const double *own = second(sum);
    (void)part;
    if (!(own[CLASS_TRUE] > 0))
        return (double)NAN;
    return own[CLASS_GIVEN] > 0 ? own[CLASS_HIT] / own[CLASS_GIVEN] : 0;
}

static double finish_recall(const struct metric_part *part, const double *sum)
{
    const double *own = second(sum);
    (void)part;
    return own[CLASS_TRUE] > 0 ? own[CLASS_HIT] / own[CLASS_TRUE] : (double)NAN;
}

const struct metric metric_PRECISION = {
    .facts = {.tasks = SPH_IN_BINARY,
              .larger_is_better = 1,
              .second_class = 1,
              .undefined = "if the second class has no row"},
    .numbers = class_numbers,
    .tally = tally_classes,
    .finish = finish_precision,
};

const struct metric metric_RECALL = {
    .facts = {.tasks = SPH_IN_BINARY,
              .larger_is_better = 1,
              .second_class = 1,
              .undefined = "if the second class has no row"},
    .numbers = class_numbers,
    .tally = tally_classes,
    .finish = finish_recall,
};
