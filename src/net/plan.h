/* SPDX-License-Identifier: MIT
 *
 * A plan runs a net: it owns every buffer, made once for at most `rows` rows; a run allocates nothing, takes
 * no lock and touches no string.
 *
 * Rows go through in tiles small enough for the nearest caches: where no batch statistic joins the rows, a
 * tile runs all the way forward, through the loss, and all the way back before the next one begins. Workers
 * share the tiles; each adds to gradients of its own. */
#ifndef SPH_NET_PLAN_H
#define SPH_NET_PLAN_H

#include "net/weights.h"

struct plan;

/* What stands at the end of the net: called once per tile with its outputs y (rows, outputs); in training it
 * fills dy. Returns what is summed over the tiles, in their order. */
struct plan_head {
    void *self;
    double (*run)(void *self, const struct tile *tile, const void *y, size_t ldy, void *dy, size_t lddy);
};

enum plan_mode { PLAN_EVALUATE, PLAN_TRAIN };

/* Channels of a block in plans of this net: 0 where images lie as rows of pixels (or are none). */
size_t plan_block(const struct sph_net *net, const struct kernels *k);

/* What running statistics take of a batch, and what is kept of it for the way back. */
struct plan_running {
    double momentum; /* its share */
    sph_variance variance;
    sph_memory memory;
    const struct comm
        *comm; /* borrowed: statistics are those of the rows of all ranks; NULL: of this one's */
};

/* workers: at most weights->workers in training. running: NULL in evaluation. */
int plan_new(struct plan **out, struct weights *weights, size_t rows, enum plan_mode mode, size_t workers,
             const struct plan_running *running);
void plan_free(struct plan *plan);

/* Tiles that a run of so many rows has, and the most rows of one. */
size_t plan_tiles(const struct plan *plan, size_t rows);
size_t plan_tile_rows(const struct plan *plan);

/* x (rows, inputs) as net_arrange gives rows, the padding of pixels 0; ldx >= net_row_length. Training:
 * gradients are added to the weights' slabs. */
double plan_run(struct plan *plan, const void *x, size_t ldx, size_t rows, const struct plan_head *head);

/* After a run, before what it gave is used: 0, or an error where a library below did not compute its part. */
int plan_check(const struct plan *plan);

/* Somebody who sees the values of every node but the input as they come, tile by tile, node by node, in
 * evaluation of one worker; NULL: nobody. Borrowed until it is set anew. An addition that a relu alone reads
 * has no values of its own. */
struct plan_watcher {
    void *self;
    void (*see)(void *self, size_t node, const struct tile *tile, const struct buffer *value);
};
void plan_watch(struct plan *plan, const struct plan_watcher *watcher);

/* After a run on the same x whose result was not finite: the first layer to blame, in evaluation of the same
 * weights; the number of layers if all of them look fine. */
size_t plan_blame(struct plan *plan, const void *x, size_t ldx, size_t rows);

#endif
