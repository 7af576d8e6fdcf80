/* SPDX-License-Identifier: MIT
 *
 * Batch normalization: y = gamma xhat + beta, xhat = (z - mean) / sigma, sigma^2 = var + epsilon. mean and the
 * biased var are over the batch (conv: over the batch and all pixels). beta replaces the layer's bias. A relu that
 * follows runs in the same passes. Backward, with g = dy (masked by that relu):
 *
 *   dgamma = sum g xhat,  dbeta = sum g,  dz = gamma / sigma (g - mean of g - xhat * mean of g xhat)
 *
 * Evaluation uses the running mean and variance: (gamma / sigma) w x + beta - gamma mean / sigma. The running
 * variance is unbiased unless the training options choose the biased one. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "layer/norm_rows.h"

enum { GAMMA = NORM_GAMMA, BETA = NORM_BETA, MEAN, VAR };

/* ---------------------------------------------------------------- forward */

static void gather(const struct op *op, const struct tile *tile)
{
    const struct kernels *k = op->k;
    for (size_t p = 0; p < buffer_slices(op->in, tile); p++) {
        struct slice slice = buffer_slice(op->in, tile, p);
        size_t share = norm_share_of(op, tile, &slice);
        op->norm.state->share_rows[share] = slice.rows;
        k->moments(slice.rows, slice.width, slice_at(op->in, k, tile, p), op->in->ld,
                   slice_column(&slice, k, norm_share_at(op, 0, share)),
                   slice_column(&slice, k, norm_share_at(op, 1, share)));
    }
}

/* Chan's update: merges the mean and the sum of squared deviations of two sets. */
static void merge(const struct op *op, size_t shares)
{
    struct norm_state *state = op->norm.state;
    double *mean = state->merged[0], *m2 = state->merged[1], seen = 0;
    memset(mean, 0, state->width * sizeof *mean);
    memset(m2, 0, state->width * sizeof *m2);
    for (size_t t = 0; t < shares; t++) {
        double rows = (double)state->share_rows[t], all = seen + rows, share = rows / all;
        op->k->to_double(state->width, norm_share_at(op, 0, t), state->spare);
        op->k->to_double(state->width, norm_share_at(op, 1, t), state->statistic);
        for (size_t j = 0; j < state->width; j++) {
            double delta = state->spare[j] - mean[j];
            mean[j] += delta * share;
            m2[j] += state->statistic[j] + delta * delta * seen * share;
        }
        seen = all;
    }
}

/* scale = gamma / sqrt(var + epsilon), var in f64 */
static void set_scale(const struct op *op, const double *var)
{
    struct norm_state *state = op->norm.state;
    op->k->to_double(state->width, op->weights->norm[GAMMA], state->spare);
    for (size_t j = 0; j < state->width; j++) {
        state->inverse[j] = 1 / sqrt(var[j] + state->epsilon);
        state->spare[j] *= state->inverse[j];
    }
    op->k->from_double(state->width, state->spare, state->scale);
}

static void join(const struct op *op, size_t tiles, size_t rows)
{
    struct norm_state *state = op->norm.state;
    merge(op, norm_shares(op, tiles, rows));
    norm_join_moments(op, (double)(rows * op->in->pixels));
    double count = state->ranks.count, *var = state->merged[1];
    for (size_t j = 0; j < state->width; j++)
        var[j] /= count;
    norm_update_running(op, state->merged[0], 1, op->weights->norm[MEAN]);
    norm_update_running(op, var, count > 1 && !state->running.biased ? count / (count - 1) : 1,
                        op->weights->norm[VAR]);
    op->k->from_double(state->width, state->merged[0], state->mean);
    set_scale(op, var);
}

static void again(const struct op *op, const struct tile *tile, size_t p, void *y)
{
    const struct norm_state *state = op->norm.state;
    const struct kernels *k = op->k;
    struct slice slice = buffer_slice(op->in, tile, p);
    k->normalize(slice.rows, slice.width, slice_at(op->in, k, tile, p), op->in->ld,
                 slice_column(&slice, k, state->mean), slice_column(&slice, k, state->scale),
                 slice_column(&slice, k, op->weights->norm[BETA]), op->fused->relu_in_norm, y, op->in->ld);
}

static void apply(const struct op *op, const struct tile *tile)
{
    for (size_t p = 0; p < buffer_slices(op->in, tile); p++)
        again(op, tile, p, slice_at(op->out, op->k, tile, p));
}

static void prepare(struct op *op)
{
    struct norm_state *state = op->norm.state;
    memcpy(state->mean, op->weights->norm[MEAN], state->width * op->k->size);
    op->k->to_double(state->width, op->weights->norm[VAR], state->merged[1]);
    set_scale(op, state->merged[1]);
}

/* ---------------------------------------------------------------- backward */

static void gather_back(const struct op *op, const struct tile *tile)
{
    const struct norm_state *state = op->norm.state;
    const struct kernels *k = op->k;
    norm_clear_shares(op, 0, tile);
    norm_clear_shares(op, 1, tile);
    for (size_t p = 0; p < buffer_slices(op->in, tile); p++) {
        struct slice slice = buffer_slice(op->in, tile, p);
        size_t share = norm_share_of(op, tile, &slice);
        k->normalize_sums(slice.rows, slice.width, slice_at(op->dout, k, tile, p), op->dout->ld,
                          slice_at(op->in, k, tile, p), op->in->ld, slice_column(&slice, k, state->mean),
                          slice_column(&slice, k, state->scale),
                          slice_column(&slice, k, op->weights->norm[BETA]), op->fused->relu_in_norm,
                          slice_column(&slice, k, norm_share_at(op, 0, share)),
                          slice_column(&slice, k, norm_share_at(op, 1, share)));
    }
}

static void join_back(const struct op *op, size_t tiles, size_t rows)
{
    struct norm_state *state = op->norm.state;
    double *sum_dy = state->merged[0], *sum_dyz = state->merged[1];
    norm_merge_sums(op, 0, norm_shares(op, tiles, rows));
    norm_merge_sums(op, 1, norm_shares(op, tiles, rows));
    for (size_t j = 0; j < state->width; j++)
        sum_dyz[j] *= state->inverse[j];
    norm_add_to(op, sum_dy, op->grads[0].dnorm[BETA]);
    norm_add_to(op, sum_dyz, op->grads[0].dnorm[GAMMA]);
    op->k->to_double(state->width, op->weights->norm[GAMMA], state->spare);
    const double *total_dy = norm_total(op, 2), *total_dyz = total_dy + state->width;
    for (size_t j = 0; j < state->width; j++) {
        double factor = state->spare[j] * state->inverse[j];
        state->spare[j] = factor;
        sum_dy[j] = -factor / state->ranks.count * total_dy[j];
        sum_dyz[j] = -factor * state->inverse[j] / state->ranks.count * total_dyz[j];
    }
    op->k->from_double(state->width, state->spare, state->back.factor);
    op->k->from_double(state->width, sum_dy, state->back.offset);
    op->k->from_double(state->width, sum_dyz, state->back.across);
}

static void apply_back(const struct op *op, const struct tile *tile)
{
    const struct norm_state *state = op->norm.state;
    const struct kernels *k = op->k;
    for (size_t p = 0; p < buffer_slices(op->in, tile); p++) {
        struct slice slice = buffer_slice(op->in, tile, p);
        void *d = slice_at(op->dout, k, tile, p);
        k->normalize_grad(slice.rows, slice.width, d, op->dout->ld, slice_at(op->in, k, tile, p), op->in->ld,
                          slice_column(&slice, k, state->mean), slice_column(&slice, k, state->scale),
                          slice_column(&slice, k, op->weights->norm[BETA]), op->fused->relu_in_norm,
                          slice_column(&slice, k, state->back.factor),
                          slice_column(&slice, k, state->back.across),
                          slice_column(&slice, k, state->back.offset), d, op->dout->ld);
    }
}

static void bn_gather(struct op *op)
{
    static const struct op_kind kind = {
        .forward = gather, .join_forward = join, .backward = apply_back, .back_in = 1};
    op->kind = &kind;
}

/* dz = gamma / sigma * dy (masked by the relu). */
static void prepare_still(struct op *op)
{
    struct norm_state *state = op->norm.state;
    prepare(op);
    memcpy(state->back.factor, state->scale, state->width * op->k->size);
}

static void bn_apply(struct op *op, enum norm_how how)
{
    static const struct op_kind training = {
        .forward = apply, .backward = gather_back, .join_backward = join_back, .back_in = 1};
    static const struct op_kind nowhere = {.backward = gather_back, .join_backward = join_back, .back_in = 1};
    static const struct op_kind evaluation = {.prepare = prepare, .forward = apply};
    static const struct op_kind still = {
        .prepare = prepare_still, .forward = apply, .backward = apply_back, .back_in = 1};
    static const struct op_kind still_nowhere = {
        .prepare = prepare_still, .backward = apply_back, .back_in = 1};
    if (how == NORM_EVALUATE)
        op->kind = &evaluation;
    else if (how == NORM_STILL)
        op->kind = op->out ? &still : &still_nowhere;
    else
        op->kind = op->out ? &training : &nowhere;
}

/* ---------------------------------------------------------------- evaluation and conversion */

static double factor_of(const struct norm_values *norm, size_t j)
{
    return norm->tensor[GAMMA][j] / sqrt(norm->tensor[VAR][j] + norm->epsilon);
}

static void fold(const struct norm_values *norm, size_t j, double *w, double *b)
{
    double factor = factor_of(norm, j);
    for (size_t i = 0; i < norm->n; i++)
        w[i] *= factor;
    *b = factor * (*b - norm->tensor[MEAN][j]) + norm->tensor[BETA][j];
}

static void moves(const void *const tensor[NORM_TENSORS], struct moves_args *out)
{
    out->gamma = tensor[GAMMA];
    out->beta = tensor[BETA];
    out->mean = tensor[MEAN];
    out->var = tensor[VAR];
}

/* Statistics of w x / length, so that xhat is unchanged: var' + epsilon = (var + epsilon) / length^2. */
static int shorten(const struct norm_values *norm, size_t j, double length, char *why, size_t size)
{
    double var = (norm->tensor[VAR][j] + norm->epsilon) / length / length - norm->epsilon;
    if (!(var >= 0)) {
        snprintf(why, size, "the variance of bn would become %g because the weights have length %g", var,
                 length);
        return -1;
    }
    norm->tensor[MEAN][j] /= length;
    norm->tensor[VAR][j] = var;
    return 0;
}

static void hold(const struct norm_values *norm, size_t j)
{
    norm->tensor[BETA][j] -=
        norm->tensor[GAMMA][j] * norm->tensor[MEAN][j] / sqrt(norm->tensor[VAR][j] + norm->epsilon);
    norm->tensor[GAMMA][j] = norm->tensor[MEAN][j] = 0;
    norm->tensor[VAR][j] = 1;
}

static void take_sum(const struct norm_values *norm, size_t j, double part)
{
    norm->tensor[MEAN][j] -= part;
}

const struct norm_ops norm_BN = {
    .name = "bn",
    .divides = 1,
    .tensor = {NORM_GAMMA_BETA, [MEAN] = {"norm.mean", .extent = NORM_UNITS},
               [VAR] = {"norm.var", .extent = NORM_UNITS, .first = 1, .not_negative = 1}},
    .tensors = 4,
    .batch = 1,
    .replaces_bias = 1,
    .takes_relu = 1,
    .result = NORM_APART_IN_TRAINING,
    .gather = bn_gather,
    .apply = bn_apply,
    .again = again,
    .fold = fold,
    .moves = moves,
    .folds_away = 1,
    .scale = norm_scale,
    .shorten = shorten,
    .hold = hold,
    .take_sum = take_sum,
};
