/* SPDX-License-Identifier: MIT
 *
 * The rows of the table, one file each, and the functions they share (norm_batch.c). */
#ifndef SPH_LAYER_NORM_ROWS_H
#define SPH_LAYER_NORM_ROWS_H

#include "base/memory.h"
#include "layer/norm.h"

/* The row of X(ID, ...) in SPH_NORMS is `const struct norm_ops norm_ID`. */
#define NORM_ROW(id, word, help) extern const struct norm_ops norm_##id;
SPH_NORMS(NORM_ROW)
extern const struct norm_ops norm_imn_output; /* IMN after the activation */

struct norm_back {
    void *factor, *across, *offset;
};

/* How running statistics take a batch. */
struct norm_running {
    double momentum;
    int biased;                       /* the running variance is */
    const struct layer_weights *also; /* set by norm_state_share, or NULL */
};

/* The parts of a statistic of the batch. */
struct norm_ranks {
    const struct comm *comm; /* NULL: this process */
    double *all;             /* (2 width + 1, and that once for each rank) */
    double count;            /* values of a column in the batch, those of all ranks */
};

/* Statistics are gathered in shares, one per tile (blocked images: one per image), and merged in order in
 * f64, so that the result does not depend on which worker ran which tile. */
struct norm_state {
    size_t width, shares;
    double epsilon;
    struct norm_running running;
    void *rows;                 /* (rows, groups, the row's row_numbers) */
    void *work;                 /* (workers, the row's work, width padded) */
    double *work64;             /* (workers, the row's work64, width padded) f64 */
    size_t *share_rows;         /* (shares) rows in each share */
    void *share[2];             /* (shares, width) each: gathered sums */
    double *merged[2], *spare;  /* (width) f64: merged sums; merged[1] lies behind merged[0] */
    double *statistic;          /* (width) f64: new running statistic */
    double *inverse;            /* (width) f64: 1 / sigma */
    void *mean, *scale, *shift; /* (width) forward */
    struct norm_back back;      /* (width) backward */
    struct norm_ranks ranks;
    struct mem_owned owned; /* owns all arrays above */
};

/* Start of a share in share[which]; the share of a slice; the number of shares. */
void *norm_share_at(const struct op *op, int which, size_t share);
size_t norm_share_of(const struct op *op, const struct tile *tile, const struct slice *slice);
size_t norm_shares(const struct op *op, size_t tiles, size_t rows);
void norm_clear_shares(const struct op *op, int which, const struct tile *tile);

/* The tile's first shares <- column sums of `from`, which has the layout of op->in. */
void norm_gather_sums(const struct op *op, const struct tile *tile, const struct buffer *from);

/* merged[which] <- the sum of the shares. */
void norm_merge_sums(const struct op *op, int which, size_t shares);

/* merged[0], a mean, and merged[1], the sum of squared deviations, of so many values <- those of all ranks; sets ranks.count. */
void norm_join_moments(const struct op *op, double count);

/* merged[0], a sum of so many values, <- that of all ranks; sets ranks.count. */
void norm_join_sums(const struct op *op, double count);

/* Returns (arrays, width) the sums over all ranks of merged[0] or, arrays being 2, of both; borrowed until the next call. merged
 * stays this rank's own. */
const double *norm_total(const struct op *op, size_t arrays);

/* running += momentum (batch * correction - running) */
void norm_update_running(const struct op *op, const double *batch, double correction, void *running);

/* gradient += values */
void norm_add_to(const struct op *op, const double *values, void *gradient);

/* Subtracts a mean over the batch. Forward: gathers sums and joins them into merged[0] and the running mean
 * `tensor`. Backward: shift <- -(mean of the gradients); merged[0] keeps the sums of the gradients. */
void norm_gather_mean(const struct op *op, const struct tile *tile);
void norm_join_mean(const struct op *op, size_t tensor, size_t tiles, size_t rows);
void norm_gather_mean_back(const struct op *op, const struct tile *tile);
void norm_join_mean_back(const struct op *op, size_t tiles, size_t rows);

/* shift <- b - mean (b NULL: 0). to <- from + shift; both have the layout of op->in. */
void norm_set_shift(const struct op *op, const void *b, const double *mean);
void norm_shift(const struct op *op, const struct tile *tile, const struct buffer *from,
                const struct buffer *to);

/* bn, ln and gn learn a scale and a shift per unit: their first two tensors. norm_scale is the `scale` of
 * their rows. */
enum { NORM_GAMMA, NORM_BETA };
#define NORM_GAMMA_BETA                                                                                      \
    [NORM_GAMMA] = {"norm.scale", .learned = 1, .extent = NORM_UNITS, .first = 1}, [NORM_BETA] = {           \
                                                                                       "norm.shift",         \
                                                                                       .learned = 1,         \
                                                                                       .extent = NORM_UNITS}
int norm_scale(const struct norm_values *norm, size_t j, double factor);

/* The passes of ln and gn for vectors. Forward overwrites z with xhat. */
extern const struct op_kind norm_vectors;

/* fold_sample of ln and gn: subtracts from each unit's w (m, n) and b (m) the mean over its group and
 * multiplies by gamma. gamma may be applied before the division by the sample's deviation, which is one
 * number per group. */
const double *norm_fold_sample(const struct norm_values *norm, double *w, double *b);

#endif
