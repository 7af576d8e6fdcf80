/* SPDX-License-Identifier: MIT
 *
 * Normalizations. Batch statistics are gathered in shares, one per tile or, of blocked images, one per image,
 * and merged in their order, in f64: the result does not depend on which worker ran which tile.
 *
 *   bn   gather: moments of z            apply: y = gamma (z - mean) / sigma + beta, with the relu behind it
 *   mbn  gather: mean of z               apply: y = z - mean + b
 *   imn  gather: mean of the input x     apply: y = x - mean
 *   ln   one op, row by row
 *
 * In evaluation only the second half runs, on running statistics. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "layer/op.h"

struct norm_state {
    size_t width, shares;
    double momentum;
    sph_norm norm;
    const struct layer_weights *also; /* imn: the second layer that reads the centred input, or NULL   */
    size_t *share_rows;               /* (shares) */
    void *share[2];                   /* (shares, width) each: what was gathered                        */
    double *merged[2], *spare;        /* (width) f64: mean and m2, or the sums of the way back         */
    double *statistic;                /* (width) f64: running statistics on their way                  */
    double *inverse;                  /* (width) f64: 1 / sigma of bn                                  */
    void *mean, *scale, *shift;       /* (width) forward; bn: scale = gamma / sigma                    */
    void *factor, *across, *offset;   /* (width) backward                                              */
};

int norm_state_new(struct norm_state **out, const struct kernels *k, size_t width, size_t shares,
                   double momentum)
{
    struct norm_state *state = mem_get(1, sizeof *state);
    if (!state)
        return SPH_EMEMORY;
    state->width = width;
    state->shares = shares;
    state->momentum = momentum;
    int missing = !(state->share_rows = mem_get(shares, sizeof *state->share_rows));
    for (int i = 0; i < 2; i++) {
        missing |= !(state->share[i] = mem_get(shares * width, k->size));
        missing |= !(state->merged[i] = mem_get(width, sizeof(double)));
    }
    missing |= !(state->spare = mem_get(width, sizeof(double)));
    missing |= !(state->statistic = mem_get(width, sizeof(double)));
    missing |= !(state->inverse = mem_get(width, sizeof(double)));
    void **vectors[] = {&state->mean,   &state->scale,  &state->shift,
                        &state->factor, &state->across, &state->offset};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        missing |= !(*vectors[i] = mem_get(width, k->size));
    if (missing) {
        norm_state_free(state);
        return SPH_EMEMORY;
    }
    *out = state;
    return 0;
}

void norm_state_free(struct norm_state *state)
{
    if (!state)
        return;
    void *owned[] = {state->share_rows, state->share[0],  state->share[1], state->merged[0], state->merged[1],
                     state->spare,      state->statistic, state->inverse,  state->mean,      state->scale,
                     state->shift,      state->factor,    state->across,   state->offset};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        mem_free(owned[i]);
    mem_free(state);
}

static void *share_at(const struct op *op, int which, size_t share)
{
    return (char *)op->norm.state->share[which] + share * op->norm.state->width * op->k->size;
}

/* The share that a slice of the tile belongs to. */
static size_t share_of(const struct op *op, const struct tile *tile, const struct slice *slice)
{
    return op->in->blocked ? tile->row + slice->image : tile->index;
}

static size_t shares_of(const struct op *op, size_t tiles, size_t rows)
{
    return op->in->blocked ? rows : tiles;
}

static void clear_shares(const struct op *op, int which, const struct tile *tile)
{
    struct slice first = {0};
    size_t count = op->in->blocked ? tile->rows : 1;
    memset(share_at(op, which, share_of(op, tile, &first)), 0, count * op->norm.state->width * op->k->size);
}

/* ---------------------------------------------------------------- gather: forward */

static void gather_moments(const struct op *op, const struct tile *tile)
{
    const struct kernels *k = op->k;
    for (size_t p = 0; p < buffer_slices(op->in, tile); p++) {
        struct slice slice = buffer_slice(op->in, tile, p);
        size_t share = share_of(op, tile, &slice);
        op->norm.state->share_rows[share] = slice.rows;
        k->moments(slice.rows, slice.width, slice_at(op->in, k, tile, p), op->in->ld,
                   slice_column(&slice, k, share_at(op, 0, share)),
                   slice_column(&slice, k, share_at(op, 1, share)));
    }
}

/* The first shares <- sums of a buffer shaped as op->in. */
static void gather_sums(const struct op *op, const struct tile *tile, const struct buffer *from)
{
    const struct kernels *k = op->k;
    clear_shares(op, 0, tile);
    for (size_t p = 0; p < buffer_slices(op->in, tile); p++) {
        struct slice slice = buffer_slice(op->in, tile, p);
        k->column_sums(slice.rows, slice.width, slice_at(from, k, tile, p), from->ld,
                       slice_column(&slice, k, share_at(op, 0, share_of(op, tile, &slice))));
    }
}

static void gather_mean(const struct op *op, const struct tile *tile)
{
    gather_sums(op, tile, op->in);
}

/* merged[which] <- the shares, in f64 and in order */
static void merge_sums(const struct op *op, int which, size_t shares)
{
    struct norm_state *state = op->norm.state;
    memset(state->merged[which], 0, state->width * sizeof(double));
    for (size_t t = 0; t < shares; t++) {
        op->k->to_double(state->width, share_at(op, which, t), state->spare);
        for (size_t j = 0; j < state->width; j++)
            state->merged[which][j] += state->spare[j];
    }
}

/* Chan's update: mean and sum of squared deviations of two sets joined. */
static void merge_moments(const struct op *op, size_t shares)
{
    struct norm_state *state = op->norm.state;
    double *mean = state->merged[0], *m2 = state->merged[1], seen = 0;
    memset(mean, 0, state->width * sizeof *mean);
    memset(m2, 0, state->width * sizeof *m2);
    for (size_t t = 0; t < shares; t++) {
        double rows = (double)state->share_rows[t], all = seen + rows, share = rows / all;
        op->k->to_double(state->width, share_at(op, 0, t), state->spare);
        op->k->to_double(state->width, share_at(op, 1, t), state->statistic);
        for (size_t j = 0; j < state->width; j++) {
            double delta = state->spare[j] - mean[j];
            mean[j] += delta * share;
            m2[j] += state->statistic[j] + delta * delta * seen * share;
        }
        seen = all;
    }
}

static void update_running(const struct op *op, const double *batch, double correction, void *running)
{
    struct norm_state *state = op->norm.state;
    op->k->to_double(state->width, running, state->statistic);
    for (size_t j = 0; j < state->width; j++)
        state->statistic[j] += state->momentum * (batch[j] * correction - state->statistic[j]);
    op->k->from_double(state->width, state->statistic, running);
}

/* scale = gamma / sqrt(var + epsilon), var in f64 */
static void set_scale(const struct op *op, const double *var)
{
    struct norm_state *state = op->norm.state;
    op->k->to_double(state->width, op->weights->gamma, state->spare);
    for (size_t j = 0; j < state->width; j++) {
        state->inverse[j] = 1 / sqrt(var[j] + norm_epsilon);
        state->spare[j] *= state->inverse[j];
    }
    op->k->from_double(state->width, state->spare, state->scale);
}

static void join_moments(const struct op *op, size_t tiles, size_t rows)
{
    struct norm_state *state = op->norm.state;
    merge_moments(op, shares_of(op, tiles, rows));
    double count = (double)(rows * op->in->pixels), *var = state->merged[1];
    for (size_t j = 0; j < state->width; j++)
        var[j] /= count;
    update_running(op, state->merged[0], 1, op->weights->running_mean);
    update_running(op, var, count > 1 ? count / (count - 1) : 1, op->weights->running_var);
    op->k->from_double(state->width, state->merged[0], state->mean);
    set_scale(op, var);
}

/* shift = b - mean (mbn), -mean (imn) */
static void set_shift(const struct op *op, const double *mean)
{
    struct norm_state *state = op->norm.state;
    if (state->norm == SPH_NORM_MBN && op->weights->b)
        op->k->to_double(state->width, op->weights->b, state->spare);
    else
        memset(state->spare, 0, state->width * sizeof(double));
    for (size_t j = 0; j < state->width; j++)
        state->spare[j] -= mean[j];
    op->k->from_double(state->width, state->spare, state->shift);
}

static void join_mean(const struct op *op, size_t tiles, size_t rows)
{
    struct norm_state *state = op->norm.state;
    merge_sums(op, 0, shares_of(op, tiles, rows));
    for (size_t j = 0; j < state->width; j++)
        state->merged[0][j] /= (double)(rows * op->in->pixels);
    update_running(op, state->merged[0], 1, op->weights->running_mean);
    if (state->also)
        update_running(op, state->merged[0], 1, state->also->running_mean);
    set_shift(op, state->merged[0]);
}

/* ---------------------------------------------------------------- apply: forward */

static void apply_moments(const struct op *op, const struct tile *tile)
{
    const struct norm_state *state = op->norm.state;
    const struct kernels *k = op->k;
    for (size_t p = 0; p < buffer_slices(op->in, tile); p++) {
        struct slice slice = buffer_slice(op->in, tile, p);
        k->normalize(slice.rows, slice.width, slice_at(op->in, k, tile, p), op->in->ld,
                     slice_column(&slice, k, state->mean), slice_column(&slice, k, state->scale),
                     slice_column(&slice, k, op->weights->beta), op->fused->relu_in_norm,
                     slice_at(op->out, k, tile, p), op->out->ld);
    }
}

/* to <- from + shift; both lie as op->in does */
static void shift_slices(const struct op *op, const struct tile *tile, const struct buffer *from,
                         const struct buffer *to)
{
    const struct kernels *k = op->k;
    for (size_t p = 0; p < buffer_slices(op->in, tile); p++) {
        struct slice slice = buffer_slice(op->in, tile, p);
        k->shift(slice.rows, slice.width, slice_at(from, k, tile, p), from->ld,
                 slice_column(&slice, k, op->norm.state->shift), slice_at(to, k, tile, p), to->ld);
    }
}

static void apply_shift(const struct op *op, const struct tile *tile)
{
    shift_slices(op, tile, op->in, op->out);
}

static void prepare_moments(struct op *op)
{
    struct norm_state *state = op->norm.state;
    memcpy(state->mean, op->weights->running_mean, state->width * op->k->size);
    op->k->to_double(state->width, op->weights->running_var, state->merged[1]);
    set_scale(op, state->merged[1]);
}

static void prepare_mean(struct op *op)
{
    op->k->to_double(op->norm.state->width, op->weights->running_mean, op->norm.state->merged[0]);
    set_shift(op, op->norm.state->merged[0]);
}

/* ---------------------------------------------------------------- apply: backward, gathering */

static void gather_moments_back(const struct op *op, const struct tile *tile)
{
    const struct norm_state *state = op->norm.state;
    const struct kernels *k = op->k;
    clear_shares(op, 0, tile);
    clear_shares(op, 1, tile);
    for (size_t p = 0; p < buffer_slices(op->in, tile); p++) {
        struct slice slice = buffer_slice(op->in, tile, p);
        size_t share = share_of(op, tile, &slice);
        k->normalize_sums(slice.rows, slice.width, slice_at(op->dout, k, tile, p), op->dout->ld,
                          slice_at(op->in, k, tile, p), op->in->ld, slice_column(&slice, k, state->mean),
                          slice_column(&slice, k, state->scale), slice_column(&slice, k, op->weights->beta),
                          op->fused->relu_in_norm, slice_column(&slice, k, share_at(op, 0, share)),
                          slice_column(&slice, k, share_at(op, 1, share)));
    }
}

static void gather_mean_back(const struct op *op, const struct tile *tile)
{
    gather_sums(op, tile, op->dout);
}

static void add_to(const struct op *op, const double *values, void *gradient)
{
    struct norm_state *state = op->norm.state;
    op->k->to_double(state->width, gradient, state->spare);
    for (size_t j = 0; j < state->width; j++)
        state->spare[j] += values[j];
    op->k->from_double(state->width, state->spare, gradient);
}

/* With xhat = (z - mean) / sigma: dgamma = sum g xhat, dbeta = sum g, and
 * dz = gamma / sigma (g - mean of g - xhat * mean of g xhat). */
static void join_moments_back(const struct op *op, size_t tiles, size_t rows)
{
    struct norm_state *state = op->norm.state;
    double count = (double)(rows * op->in->pixels), *sum_dy = state->merged[0], *sum_dyz = state->merged[1];
    merge_sums(op, 0, shares_of(op, tiles, rows));
    merge_sums(op, 1, shares_of(op, tiles, rows));
    for (size_t j = 0; j < state->width; j++)
        sum_dyz[j] *= state->inverse[j];
    add_to(op, sum_dy, op->grads[0].dbeta);
    add_to(op, sum_dyz, op->grads[0].dgamma);
    op->k->to_double(state->width, op->weights->gamma, state->spare);
    for (size_t j = 0; j < state->width; j++) {
        double factor = state->spare[j] * state->inverse[j];
        state->spare[j] = factor;
        sum_dy[j] *= -factor / count;
        sum_dyz[j] *= -factor * state->inverse[j] / count;
    }
    op->k->from_double(state->width, state->spare, state->factor);
    op->k->from_double(state->width, sum_dy, state->offset);
    op->k->from_double(state->width, sum_dyz, state->across);
}

static void join_mean_back(const struct op *op, size_t tiles, size_t rows)
{
    struct norm_state *state = op->norm.state;
    merge_sums(op, 0, shares_of(op, tiles, rows));
    if (state->norm == SPH_NORM_MBN && op->weights->b)
        add_to(op, state->merged[0], op->grads[0].db);
    for (size_t j = 0; j < state->width; j++)
        state->spare[j] = -state->merged[0][j] / (double)(rows * op->in->pixels);
    op->k->from_double(state->width, state->spare, state->shift);
}

/* ---------------------------------------------------------------- gather: backward, applying */

static void apply_moments_back(const struct op *op, const struct tile *tile)
{
    const struct norm_state *state = op->norm.state;
    const struct kernels *k = op->k;
    for (size_t p = 0; p < buffer_slices(op->in, tile); p++) {
        struct slice slice = buffer_slice(op->in, tile, p);
        void *d = slice_at(op->dout, k, tile, p);
        k->normalize_grad(slice.rows, slice.width, d, op->dout->ld, slice_at(op->in, k, tile, p), op->in->ld,
                          slice_column(&slice, k, state->mean), slice_column(&slice, k, state->scale),
                          slice_column(&slice, k, op->weights->beta), op->fused->relu_in_norm,
                          slice_column(&slice, k, state->factor), slice_column(&slice, k, state->across),
                          slice_column(&slice, k, state->offset), d, op->dout->ld);
    }
}

/* mbn works in place; imn's gradient goes on to the node before. */
static void apply_shift_back(const struct op *op, const struct tile *tile)
{
    if (op->norm.state->norm == SPH_NORM_MBN) {
        shift_slices(op, tile, op->dout, op->dout);
    } else if (op->din && !op->add_din) {
        shift_slices(op, tile, op->dout, op->din);
    } else if (op->din) {
        shift_slices(op, tile, op->dout, op->dout);
        for (size_t p = 0; p < buffer_slices(op->in, tile); p++) {
            struct slice slice = buffer_slice(op->in, tile, p);
            op->k->add(slice.rows, slice.width, slice_at(op->dout, op->k, tile, p), op->dout->ld,
                       slice_at(op->din, op->k, tile, p), op->din->ld);
        }
    }
}

void norm_state_share(struct norm_state *state, const struct layer_weights *also)
{
    state->also = also;
}

static const struct op_kind moments_gather = {
    .forward = gather_moments, .join_forward = join_moments, .backward = apply_moments_back, .back_in = 1};
static const struct op_kind moments_apply = {.forward = apply_moments,
                                             .backward = gather_moments_back,
                                             .join_backward = join_moments_back,
                                             .back_in = 1};
static const struct op_kind moments_evaluate = {.prepare = prepare_moments, .forward = apply_moments};
static const struct op_kind mean_gather = {
    .forward = gather_mean, .join_forward = join_mean, .backward = apply_shift_back};
static const struct op_kind mean_apply = {
    .forward = apply_shift, .backward = gather_mean_back, .join_backward = join_mean_back};
static const struct op_kind mean_evaluate = {.prepare = prepare_mean, .forward = apply_shift};

/* Of the data, whose gradient is nobody's business. */
static const struct op_kind data_mean_gather = {.forward = gather_mean, .join_forward = join_mean};
static const struct op_kind data_mean_apply = {.forward = apply_shift};

void op_norm_gather(struct op *op, sph_norm norm)
{
    op->norm.state->norm = norm;
    op->kind = norm == SPH_NORM_BN ? &moments_gather : op->dout ? &mean_gather : &data_mean_gather;
}

void op_norm_apply(struct op *op, sph_norm norm, int train)
{
    op->norm.state->norm = norm;
    if (norm == SPH_NORM_BN)
        op->kind = train ? &moments_apply : &moments_evaluate;
    else
        op->kind = !train ? &mean_evaluate : op->dout ? &mean_apply : &data_mean_apply;
}

/* ---------------------------------------------------------------- layer normalization */

static void *row_scratch_at(const struct op *op, const struct tile *tile, size_t i)
{
    return (char *)op->norm.row_scratch + (tile->row + i) * op->k->size;
}

static void layer_norm_forward(const struct op *op, const struct tile *tile)
{
    op->k->layer_norm(tile->rows, op->weights->m, buffer_at(op->in, op->k, tile), op->in->ld, norm_epsilon,
                      op->weights->gamma, op->weights->beta, row_scratch_at(op, tile, 0),
                      buffer_at(op->out, op->k, tile), op->out->ld);
}

static void layer_norm_backward(const struct op *op, const struct tile *tile)
{
    const struct layer_grads *grads = &op->grads[tile->worker];
    void *d = buffer_at(op->dout, op->k, tile);
    op->k->layer_norm_grad(tile->rows, op->weights->m, d, op->dout->ld, buffer_at(op->in, op->k, tile),
                           op->in->ld, row_scratch_at(op, tile, 0), op->weights->gamma, grads->dgamma,
                           grads->dbeta, d, op->dout->ld);
}

/* Images: over all pixels and channels of one, scale and shift per channel. */
static void image_norm_forward(const struct op *op, const struct tile *tile)
{
    for (size_t i = 0; i < tile->rows; i++)
        op->k->image_norm(op->in->pixels, op->weights->m, buffer_image(op->in, op->k, tile, i), op->in->ld,
                          norm_epsilon, op->weights->gamma, op->weights->beta, row_scratch_at(op, tile, i),
                          buffer_image(op->out, op->k, tile, i), op->out->ld);
}

static void image_norm_backward(const struct op *op, const struct tile *tile)
{
    const struct layer_grads *grads = &op->grads[tile->worker];
    for (size_t i = 0; i < tile->rows; i++) {
        void *d = buffer_image(op->dout, op->k, tile, i);
        op->k->image_norm_grad(op->in->pixels, op->weights->m, d, op->dout->ld,
                               buffer_image(op->in, op->k, tile, i), op->in->ld, row_scratch_at(op, tile, i),
                               op->weights->gamma, grads->dgamma, grads->dbeta, d, op->dout->ld);
    }
}

/* In the place of in lies what was normalized. */
static const struct op_kind vector_norm = {
    .forward = layer_norm_forward, .backward = layer_norm_backward, .back_in = 1};
static const struct op_kind image_norm = {
    .forward = image_norm_forward, .backward = image_norm_backward, .back_in = 1};

void op_layer_norm(struct op *op)
{
    op->kind = op->in->pixels > 1 ? &image_norm : &vector_norm;
}
