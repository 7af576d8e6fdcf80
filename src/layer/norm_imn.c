/* SPDX-License-Identifier: MIT
 *
 * Input mean normalization: x - mean at the input of a layer. The mean is over the batch (conv: per channel, over the
 * batch and all pixels, before zero padding). It has no parameters. Backward: dx = dy - mean of dy.
 *
 * Evaluation uses the running mean: w x + (b - w mean), unless x - mean is padded with zeros. */
#include <string.h>

#include "layer/norm_rows.h"

enum { MEAN };

static void join(const struct op *op, size_t tiles, size_t rows)
{
    norm_join_mean(op, MEAN, tiles, rows);
    norm_set_shift(op, NULL, op->norm.state->merged[0]);
}

static void apply(const struct op *op, const struct tile *tile)
{
    norm_shift(op, tile, op->in, op->out);
}

static void again(const struct op *op, const struct tile *tile, size_t p, void *y)
{
    struct slice slice = buffer_slice(op->in, tile, p);
    op->k->shift(slice.rows, slice.width, slice_at(op->in, op->k, tile, p), op->in->ld,
                 slice_column(&slice, op->k, op->norm.state->shift), y, op->in->ld);
}

/* Passes the gradient to the node before; added if that node has other readers. */
static void apply_back(const struct op *op, const struct tile *tile)
{
    const struct buffer *to = op->add.din ? op->dout : op->din;
    if (!op->din)
        return;
    norm_shift(op, tile, op->dout, to);
    for (size_t p = 0; op->add.din && p < buffer_slices(op->in, tile); p++) {
        struct slice slice = buffer_slice(op->in, tile, p);
        op->k->add(slice.rows, slice.width, slice_at(op->dout, op->k, tile, p), op->dout->ld,
                   slice_at(op->din, op->k, tile, p), op->din->ld);
    }
}

static void prepare(struct op *op)
{
    struct norm_state *state = op->norm.state;
    op->k->to_double(state->width, op->weights->norm[MEAN], state->merged[0]);
    norm_set_shift(op, NULL, state->merged[0]);
}

/* The input of the network needs no gradient. */
static void imn_gather(struct op *op)
{
    static const struct op_kind kind = {
        .forward = norm_gather_mean, .join_forward = join, .backward = apply_back};
    static const struct op_kind of_data = {.forward = norm_gather_mean, .join_forward = join};
    op->kind = op->dout ? &kind : &of_data;
}

/* A fixed mean has no gradient, so dout passes unchanged. */
static void still_back(const struct op *op, const struct tile *tile)
{
    for (size_t p = 0; op->din && p < buffer_slices(op->in, tile); p++) {
        struct slice slice = buffer_slice(op->in, tile, p);
        const void *from = slice_at(op->dout, op->k, tile, p);
        void *to = slice_at(op->din, op->k, tile, p);
        if (op->add.din)
            op->k->add(slice.rows, slice.width, from, op->dout->ld, to, op->din->ld);
        else
            memcpy(to, from, slice.rows * op->din->ld * op->k->size);
    }
}

static void imn_apply(struct op *op, enum norm_how how)
{
    static const struct op_kind still = {.prepare = prepare, .forward = apply, .backward = still_back};
    static const struct op_kind training = {
        .forward = apply, .backward = norm_gather_mean_back, .join_backward = norm_join_mean_back};
    static const struct op_kind of_data = {.forward = apply};
    static const struct op_kind evaluation = {.prepare = prepare, .forward = apply};
    if (how == NORM_STILL)
        op->kind = &still;
    else
        op->kind = how == NORM_EVALUATE ? &evaluation : op->dout ? &training : &of_data;
}

/* ---------------------------------------------------------------- evaluation and conversion */

static void fold(const struct norm_values *norm, size_t j, double *w, double *b)
{
    for (size_t i = 0; i < norm->n; i++)
        *b -= w[i] * norm->tensor[MEAN][norm_channel(norm, j, i)];
}

static void moves(const void *const tensor[NORM_TENSORS], struct moves_args *out)
{
    out->input_mean = tensor[MEAN];
}

static void take_input(const struct norm_values *norm, size_t i, double factor, double constant)
{
    norm->tensor[MEAN][i] = factor * (norm->tensor[MEAN][i] - constant);
}

/* ---------------------------------------------------------------- after the activation
 * IMN as in the authors' code: y - mean of y, before pooling. Gradients are shifted in place. A mean of 0 in a file is
 * the same as no normalization, so conversions do not change it. */

static void output_apply_back(const struct op *op, const struct tile *tile)
{
    norm_shift(op, tile, op->dout, op->dout);
}

static void imn_output_gather(struct op *op)
{
    static const struct op_kind kind = {
        .forward = norm_gather_mean, .join_forward = join, .backward = output_apply_back};
    op->kind = &kind;
}

/* A fixed mean has no gradient, so frozen layers and evaluation share a kind. */
static void imn_output_apply(struct op *op, enum norm_how how)
{
    static const struct op_kind training = {
        .forward = apply, .backward = norm_gather_mean_back, .join_backward = norm_join_mean_back};
    static const struct op_kind evaluation = {.prepare = prepare, .forward = apply};
    op->kind = how == NORM_TRAIN ? &training : &evaluation;
}

const struct norm_ops norm_imn_output = {
    .name = "imn",
    .tensor = {[MEAN] = {"norm.mean", .extent = NORM_UNITS}},
    .tensors = 1,
    .at_output = 1,
    .batch = 1,
    .gather = imn_output_gather,
    .apply = imn_output_apply,
};

const struct norm_ops norm_IMN = {
    .name = "imn",
    .tensor = {[MEAN] = {"norm.mean", .extent = NORM_CHANNELS}},
    .tensors = 1,
    .at_input = 1,
    .batch = 1,
    .gather = imn_gather,
    .apply = imn_apply,
    .again =
        again, /* must run before backward overwrites `shift`: the gradient of the weights needs the normalized input */
    .fold = fold,
    .moves = moves,
    .take_input = take_input,
};
