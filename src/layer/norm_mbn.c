/* SPDX-License-Identifier: MIT
 *
 * Mean-only batch normalization: y = z - mean + b. The mean is over the batch (conv: over the batch and all pixels).
 * b is added after the mean is subtracted; before, it would cancel. Backward: dz = dy - mean of dy, db = sum of dy.
 *
 * Evaluation uses the running mean: w x + (b - mean). */
#include "layer/norm_rows.h"

enum { MEAN };

static void join(const struct op *op, size_t tiles, size_t rows)
{
    norm_join_mean(op, MEAN, tiles, rows);
    norm_set_shift(op, op->weights->b, op->norm.state->merged[0]);
}

static void apply(const struct op *op, const struct tile *tile)
{
    norm_shift(op, tile, op->in, op->out);
}

static void join_back(const struct op *op, size_t tiles, size_t rows)
{
    norm_join_mean_back(op, tiles, rows);
    if (op->weights->b)
        norm_add_to(op, op->norm.state->merged[0], op->grads[0].db);
}

static void apply_back(const struct op *op, const struct tile *tile)
{
    norm_shift(op, tile, op->dout, op->dout);
}

static void prepare(struct op *op)
{
    struct norm_state *state = op->norm.state;
    op->k->to_double(state->width, op->weights->norm[MEAN], state->merged[0]);
    norm_set_shift(op, op->weights->b, state->merged[0]);
}

static void mbn_gather(struct op *op)
{
    static const struct op_kind kind = {
        .forward = norm_gather_mean, .join_forward = join, .backward = apply_back};
    op->kind = &kind;
}

/* A fixed mean has no gradient, so frozen layers and evaluation share a kind. */
static void mbn_apply(struct op *op, enum norm_how how)
{
    static const struct op_kind training = {
        .forward = apply, .backward = norm_gather_mean_back, .join_backward = join_back};
    static const struct op_kind evaluation = {.prepare = prepare, .forward = apply};
    op->kind = how == NORM_TRAIN ? &training : &evaluation;
}

/* ---------------------------------------------------------------- evaluation and conversion */

static void fold(const struct norm_values *norm, size_t j, double *w, double *b)
{
    (void)w;
    *b -= norm->tensor[MEAN][j];
}

static void moves(const void *const tensor[NORM_TENSORS], struct moves_args *out)
{
    out->mean = tensor[MEAN];
}

static int scale(const struct norm_values *norm, size_t j, double factor)
{
    norm->tensor[MEAN][j] *= factor;
    return 0;
}

static void take_sum(const struct norm_values *norm, size_t j, double part)
{
    norm->tensor[MEAN][j] -= part;
}

const struct norm_ops norm_MBN = {
    .name = "mbn",
    .tensor = {[MEAN] = {"norm.mean", .extent = NORM_UNITS}},
    .tensors = 1,
    .batch = 1,
    .adds_bias = 1,
    .gather = mbn_gather,
    .apply = mbn_apply,
    .fold = fold,
    .moves = moves,
    .scale = scale,
    .take_sum = take_sum,
};
