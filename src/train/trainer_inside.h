/* SPDX-License-Identifier: MIT
 *
 * The inside of the loop: what trainer.c keeps from step to step. */
#ifndef SPH_TRAIN_TRAINER_INSIDE_H
#define SPH_TRAIN_TRAINER_INSIDE_H

#include "base/memory.h"
#include "net/freeze.h"
#include "net/plan.h"
#include "net/weights.h"
#include "train/evaluate.h"
#include "train/optimizer.h"
#include "train/schedule.h"
#include "train/tool.h"
#include "train/trainer.h"

enum { VALUES_MAX = 2 * SPH_METRICS_MAX + 1 }; /* of an epoch */

/* The rows of a step. */
struct batches {
    size_t rows, count; /* of a step; steps of an epoch, the last one takes what is left */
    size_t longest;     /* rows of the longest step */
    size_t micro;
    uint32_t *order; /* (train rows) of the epoch at work */
    int ordered;     /* the order is that of the epoch at work */
    char *x, *y;     /* (longest, ld) the batch at work */
    size_t ldx, ldy, targets;
    double *weights; /* (longest) of the batch at work */
    int fetched;     /* x and y hold the whole, unchanging training part */
};

/* What chooses the epoch. */
struct chooser {
    int keeps;                       /* the weights of the best epoch are kept */
    void *params, *state;            /* those */
    size_t monitor;                  /* index of the monitored value */
    const sph_metric_facts *watched; /* its metric's */
};

/* What observers see. */
struct seen {
    const char *name[VALUES_MAX]; /* of the epoch's values */
    char name_text[VALUES_MAX][32];
    double value[VALUES_MAX];
    size_t values;
    sph_view_layer *layer; /* (layers) */
    double began;          /* clock at the start */
    double loss, lr;       /* of the last step   */
    int stopped;
};

struct trainer {
    sph_net *net;
    const sph_train_opts *opts;
    const struct source *train, *val;
    const double *row_weights; /* (train rows) or NULL */
    const double *val_weights; /* (val rows) or NULL */
    const struct kernels *k;
    struct freeze *freeze; /* NULL: everything learns */
    struct weights *weights;
    struct plan *plan; /* for `micro` rows or a batch */
    struct evaluator *evaluator;
    struct optimizer optimizer;
    struct schedule schedule;
    struct batches step;
    struct chooser best;
    struct seen seen;
    struct trainer_place at;
    double scalar[TRAINER_SCALAR_COUNT]; /* the same for a checkpoint */
    struct mem_owned owned;
};

#endif
