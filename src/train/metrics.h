/* SPDX-License-Identifier: MIT
 *
 * A metric is one row of one table: its properties (sph_metric_facts), the sums over a tile of rows, and
 * the value computed from the sums. Tiles may be computed in parallel; their sums are added in the order of
 * the tiles, so that a score has the same bits for every number of threads. Read metric_errors.c before you
 * add a metric. */
#ifndef SPH_TRAIN_METRICS_H
#define SPH_TRAIN_METRICS_H

#include "spherelu/train.h"
#include "train/tool.h"

/* A row's place in an order by score. */
struct metric_rank {
    double score;
    int positive; /* of the class at hand */
};

/* What is scored: the same for all of its tiles. */
struct metric_part {
    sph_task task;
    size_t rows;             /* in all */
    size_t outputs, targets; /* columns of p and t */
    size_t classes;          /* 2 for binary, 0 for regression */
    double loss;             /* mean over the rows; for finish */
    const double *scale;     /* (targets) from the net's units to the target's own: mean + scale x; NULL: 1 */
    const double *mean;      /* (targets) likewise; NULL: 0 */
    const double *first;     /* (targets) t of the first row */
    /* For metrics that keep scores: one room for all of them, so that those of a task keep the same (classes:
     * probabilities, otherwise p as it is). NULL where there would be more than METRIC_KEPT_MOST of them. */
    double *kept;              /* (rows, outputs) */
    double *kept_t;            /* (rows, targets) */
    struct metric_rank *order; /* (rows) scratch  */
};

enum { METRIC_KEPT_MOST = 1 << 25 };

/* Numbers that a metric of regression adds up for one target, at most. */
enum { METRIC_NUMBERS_OF_ONE = 3 };

/* Some of its rows. p is finite: where it is not, no metric is asked. Regression: p is what the loss predicts, in units of t. Classes: t is the class number, p a
 * logit for each; binary: t is 0 or 1, p the logit of 1. */
struct metric_tile {
    size_t row, rows; /* the first one's number, how many */
    const double *p;  /* (rows, outputs) */
    const double *t;  /* (rows, targets) */
};

struct metric {
    sph_metric_facts facts;
    int keeps;                                         /* tally fills kept and kept_t, for its rows    */
    size_t (*numbers)(const struct metric_part *part); /* that a tile adds up; NULL: one, none if it keeps */
    void (*tally)(const struct metric_part *part, const struct metric_tile *tile,
                  double *sum); /* (numbers) adds the tile's; NULL: nothing     */
    double (*finish)(const struct metric_part *part, const double *sum); /* NaN: undefined               */
};

/* The row of X(ID, ...) in SPH_METRICS is `const struct metric metric_ID`, in one of metric_*.c. */
#define METRIC_ROW(id, word, help) extern const struct metric metric_##id;
SPH_METRICS(METRIC_ROW)

const struct metric *metric_row(sph_metric metric);

/* Those of a task and a net with so many outputs, in the order of the list; the first is the loss. */
size_t metric_list(sph_task task, size_t outputs, sph_metric list[SPH_METRICS_MAX]);

/* The class that logits p (outputs; one: class 1's) speak for, the first of equals. */
size_t metric_class(size_t outputs, const double *p);

/* p (classes) <- probabilities of logits. */
void metric_softmax(size_t classes, double *p);

#endif
