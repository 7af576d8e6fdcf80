/* SPDX-License-Identifier: MIT
 *
 * A plan's inside, for the three files that make it (plan.c), place its buffers (plan_memory.c) and run it
 * (plan_run.c). */
#ifndef SPH_NET_PLAN_INSIDE_H
#define SPH_NET_PLAN_INSIDE_H

#include "compute/conv.h"
#include "net/fusion.h"
#include "net/plan.h"

/* What a node's readers share: its value with the batch's mean taken off. */
struct centred {
    struct buffer *value, *grad;
    struct norm_state *norm; /* NULL: nobody has asked yet, or enough have */
};

/* Memory for a buffer, placed when all ops are known. */
struct request {
    struct buffer *buffer;
    size_t numbers;
    size_t worker_step; /* from a worker's place in it to the next one's; 0: each has an arena of its own */
};

struct requests {
    struct request *list; /* (count) */
    size_t count;
};

/* What is known of the nodes and layers before there are ops. */
struct plan_notes {
    unsigned char *wanted; /* (nodes) in training: it or one before it learns, so that its gradient counts */
    struct centred *centred; /* (nodes) */
    struct fusion *fusions;  /* (layers) */
    struct buffer *again;    /* (layers) inputs that are computed again */
};

/* All that is freed with the plan. */
struct plan_owned {
    struct norm_state **norms; /* (norm_count) */
    size_t norm_count;
    struct conv **convs; /* (conv_count) */
    size_t conv_count;
    void **other; /* (count) */
    size_t count;
    void *memory; /* of all buffers; its own unless it is the weights' room */
};

struct plan_at_work {
    const struct plan_watcher *watcher;
    const struct plan_head *head;
    size_t rows, tiles;
    double *tile_sum;  /* (tiles) what the head returned */
    size_t begin, end; /* ops of the segment at work */
    int forward, backward;
};

struct plan {
    struct weights *weights; /* borrowed */
    const struct kernels *k;
    size_t rows, tile_rows, tiles, workers;
    enum plan_mode mode;
    int whole;    /* buffers hold the whole batch, several tiles of it: a statistic joins the rows */
    size_t block; /* channels of a block of images, 0: images lie as rows of pixels */
    struct plan_running running;

    struct buffer input;         /* as the caller gave it */
    struct buffer *value, *grad; /* (nodes) */
    struct plan_notes notes;
    struct op *ops;
    size_t op_count;
    size_t back_end; /* the way back ends at this op: none before it has one */
    struct requests requests;
    struct plan_owned owned;
    struct plan_at_work run;
};

/* Memory for the buffers that were asked for, once all ops are known. (plan_memory.c) */
int plan_place_buffers(struct plan *plan);

#endif
