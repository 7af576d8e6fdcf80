/* SPDX-License-Identifier: MIT
 *
 * The inside of the loop: the state of trainer.c between steps. */
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
    size_t share;       /* this rank's rows of it, or one more; longest where there is one rank */
    size_t micro;
    uint32_t *order; /* (train rows) of the epoch at work: the rows that this rank takes, batch by batch */
    int ordered;     /* the order is that of the epoch at work */
    char *x, *y;     /* (share, ld) the batch at work */
    size_t ldx, ldy, targets;
    double *weights; /* (share) of the batch at work */
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

/* The ranks, and what the others do not know yet of this one. */
struct team {
    struct comm *comm; /* borrowed; NULL: alone */
    int local_norm;    /* batch statistics are those of a rank's own rows */
    int wish;          /* an observer wants to stop */
    int err;           /* an observer failed, or rows could not be made ready */
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
    struct team team;
    double scalar[TRAINER_SCALAR_COUNT]; /* the same for a checkpoint */
    struct mem_owned owned;
};

/* ---------------------------------------------------------------- batches.c */

int batches_plan(struct trainer *t);

/* The order of the epoch at work, which is made ready from the batch at work on. */
int batches_begin(struct trainer *t);

/* *rows of the batch, and *own of them, which are then in x, y and weights. */
int batches_fetch(struct trainer *t, size_t batch, size_t *rows, size_t *own);

/* How often the plan runs for so many rows of all ranks: the same for each of them. */
size_t batches_runs(const struct trainer *t, size_t rows);

/* ---------------------------------------------------------------- ranks.c */

/* All ranks learn of a failure or a wish to stop of one, and *loss, or NULL, is summed. Returns the failure. */
int ranks_join(struct trainer *t, int err, double *loss);

/* The gradients of all ranks. */
void ranks_sum_gradients(struct trainer *t);

/* Numbers that should be the same on all ranks are those of rank 0 from here on: it may have another kind of processor. */
void ranks_align(struct trainer *t);
void ranks_align_state(struct trainer *t); /* running statistics alone */

/* The smallest of the ranks' numbers. */
size_t ranks_least(const struct trainer *t, size_t number);

#endif
