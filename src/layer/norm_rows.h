/* SPDX-License-Identifier: MIT
 *
 * The rows of the table, one file each, and what they share (norm_batch.c). */
#ifndef SPH_LAYER_NORM_ROWS_H
#define SPH_LAYER_NORM_ROWS_H

#include "base/memory.h"
#include "layer/norm.h"

/* The row of X(ID, ...) in SPH_NORMS is `const struct norm_ops norm_ID`. */
#define NORM_ROW(id, word, help) extern const struct norm_ops norm_##id;
SPH_NORMS(NORM_ROW)
extern const struct norm_ops norm_imn_output; /* imn's, at the other place */

struct norm_back {
    void *factor, *across, *offset;
};

/* What is gathered lies in shares, one per tile or, of blocked images, one per image; they are merged in
 * their order, in f64: the result does not depend on which worker ran which tile. */
struct norm_state {
    size_t width, shares;
    double momentum, epsilon;
    int biased;                       /* the running variance is                              */
    const struct layer_weights *also; /* norm_state_share, or NULL                            */
    void *rows;                       /* (rows, groups, the row's row_numbers)                */
    void *work;                       /* (workers, the row's work, width padded)              */
    double *work64;                   /* (workers, the row's work64, width padded) f64        */
    size_t *share_rows;               /* (shares)                                             */
    void *share[2];                   /* (shares, width) each: what was gathered              */
    double *merged[2], *spare;        /* (width) f64: what became of it                       */
    double *statistic;                /* (width) f64: running statistics on their way         */
    double *inverse;                  /* (width) f64: 1 / sigma                               */
    void *mean, *scale, *shift;       /* (width) forward                                      */
    struct norm_back back;            /* (width) backward                                     */
    struct mem_owned owned;           /* all of them                                          */
};

/* Where a share of the first or second array begins; the share that a slice belongs to; how many there are. */
void *norm_share_at(const struct op *op, int which, size_t share);
size_t norm_share_of(const struct op *op, const struct tile *tile, const struct slice *slice);
size_t norm_shares(const struct op *op, size_t tiles, size_t rows);
void norm_clear_shares(const struct op *op, int which, const struct tile *tile);

/* The tile's first shares <- column sums of a buffer that lies as op->in does. */
void norm_gather_sums(const struct op *op, const struct tile *tile, const struct buffer *from);

/* merged[which] <- the sum of the shares. */
void norm_merge_sums(const struct op *op, int which, size_t shares);

/* running += momentum (batch * correction - running) */
void norm_update_running(const struct op *op, const double *batch, double correction, void *running);

/* gradient += values */
void norm_add_to(const struct op *op, const double *values, void *gradient);

/* A mean of the batch, forward: gathered, joined in merged[0] and in the running mean (tensor), and on the way
 * back shift <- -(the mean of the gradients), whose sums stay in merged[0]. */
void norm_gather_mean(const struct op *op, const struct tile *tile);
void norm_join_mean(const struct op *op, size_t tensor, size_t tiles, size_t rows);
void norm_gather_mean_back(const struct op *op, const struct tile *tile);
void norm_join_mean_back(const struct op *op, size_t tiles, size_t rows);

/* shift <- b - mean, b NULL: 0; to <- from + shift, both lying as op->in does. */
void norm_set_shift(const struct op *op, const void *b, const double *mean);
void norm_shift(const struct op *op, const struct tile *tile, const struct buffer *from,
                const struct buffer *to);

/* bn, ln and gn learn a scale and a shift of each unit: their first two tensors, and the row's `scale`. */
enum { NORM_GAMMA, NORM_BETA };
#define NORM_GAMMA_BETA                                                                                      \
    [NORM_GAMMA] = {"norm.scale", .learned = 1, .extent = NORM_UNITS, .first = 1}, [NORM_BETA] = {           \
                                                                                       "norm.shift",         \
                                                                                       .learned = 1,         \
                                                                                       .extent = NORM_UNITS}
int norm_scale(const struct norm_values *norm, size_t j, double factor);

/* What ln and gn do to vectors, in the place of z xhat. */
extern const struct op_kind norm_vectors;

/* ln's and gn's fold_sample: w (m, n) and b (m) of each unit less their means over its group, times gamma, which stands
 * before the division by a sample's deviation. */
const double *norm_fold_sample(const struct norm_values *norm, double *w, double *b);

#endif
