/* SPDX-License-Identifier: MIT
 *
 * Shared by the normalizations: statistics gathered in shares and merged, and a mean over the batch. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "layer/norm_rows.h"

static void own_batch(struct norm_state *state, const struct kernels *k)
{
    size_t width = state->width, shares = state->shares;
    state->share_rows = mem_own(&state->owned, shares, sizeof *state->share_rows);
    for (int i = 0; i < 2; i++)
        state->share[i] = mem_own(&state->owned, shares * width, k->size);
    state->merged[0] = mem_own(&state->owned, 2 * width, sizeof(double));
    state->merged[1] = state->merged[0] ? state->merged[0] + width : NULL;
    if (comm_many(state->ranks.comm))
        state->ranks.all = mem_own(&state->owned, (comm_size(state->ranks.comm) + 1) * (2 * width + 1),
                                   sizeof *state->ranks.all);
    double **numbers[] = {&state->spare, &state->statistic, &state->inverse};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = mem_own(&state->owned, width, sizeof(double));
    void **vectors[] = {&state->mean,        &state->scale,       &state->shift,
                        &state->back.factor, &state->back.across, &state->back.offset};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = mem_own(&state->owned, width, k->size);
}

int norm_state_new(struct norm_state **out, const struct norm_ops *row, const struct norm_room *room)
{
    struct norm_state *state = mem_get(1, sizeof *state);
    if (!state)
        return SPH_EMEMORY;
    state->width = room->width;
    state->shares = room->shares;
    state->running.momentum = room->momentum;
    state->epsilon = room->epsilon;
    state->ranks.comm = comm_many(room->comm) ? room->comm : NULL;
    state->running.biased = room->variance == SPH_VARIANCE_BIASED;
    if (row->batch)
        own_batch(state, room->k);
    size_t length = kernel_pad(room->width), size = room->k->size;
    if (row->row_numbers)
        state->rows = mem_own(&state->owned, room->rows * room->groups * row->row_numbers, size);
    if (row->work)
        state->work = mem_own(&state->owned, room->workers * row->work * length, size);
    if (row->work64)
        state->work64 = mem_own(&state->owned, room->workers * row->work64 * length, sizeof(double));
    if (state->owned.failed) {
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
    mem_free_owned(&state->owned);
    mem_free(state);
}

void norm_state_share(struct norm_state *state, const struct layer_weights *also)
{
    state->running.also = also;
}

/* ---------------------------------------------------------------- shares */

void *norm_share_at(const struct op *op, int which, size_t share)
{
    const struct norm_state *state = op->norm.state;
    return (char *)state->share[which] + share * state->width * op->k->size;
}

size_t norm_share_of(const struct op *op, const struct tile *tile, const struct slice *slice)
{
    return op->in->blocked ? tile->row + slice->image : tile->index;
}

size_t norm_shares(const struct op *op, size_t tiles, size_t rows)
{
    return op->in->blocked ? rows : tiles;
}

void norm_clear_shares(const struct op *op, int which, const struct tile *tile)
{
    struct slice first = {0};
    size_t count = op->in->blocked ? tile->rows : 1;
    memset(norm_share_at(op, which, norm_share_of(op, tile, &first)), 0,
           count * op->norm.state->width * op->k->size);
}

void norm_gather_sums(const struct op *op, const struct tile *tile, const struct buffer *from)
{
    const struct kernels *k = op->k;
    norm_clear_shares(op, 0, tile);
    for (size_t p = 0; p < buffer_slices(op->in, tile); p++) {
        struct slice slice = buffer_slice(op->in, tile, p);
        k->column_sums(slice.rows, slice.width, slice_at(from, k, tile, p), from->ld,
                       slice_column(&slice, k, norm_share_at(op, 0, norm_share_of(op, tile, &slice))));
    }
}

void norm_merge_sums(const struct op *op, int which, size_t shares)
{
    struct norm_state *state = op->norm.state;
    memset(state->merged[which], 0, state->width * sizeof(double));
    for (size_t t = 0; t < shares; t++) {
        op->k->to_double(state->width, norm_share_at(op, which, t), state->spare);
        for (size_t j = 0; j < state->width; j++)
            state->merged[which][j] += state->spare[j];
    }
}

void norm_update_running(const struct op *op, const double *batch, double correction, void *running)
{
    struct norm_state *state = op->norm.state;
    op->k->to_double(state->width, running, state->statistic);
    for (size_t j = 0; j < state->width; j++)
        state->statistic[j] += state->running.momentum * (batch[j] * correction - state->statistic[j]);
    op->k->from_double(state->width, state->statistic, running);
}

void norm_add_to(const struct op *op, const double *values, void *gradient)
{
    struct norm_state *state = op->norm.state;
    op->k->to_double(state->width, gradient, state->spare);
    for (size_t j = 0; j < state->width; j++)
        state->spare[j] += values[j];
    op->k->from_double(state->width, state->spare, gradient);
}

/* ---------------------------------------------------------------- a mean of the batch */

void norm_gather_mean(const struct op *op, const struct tile *tile)
{
    norm_gather_sums(op, tile, op->in);
}

void norm_join_mean(const struct op *op, size_t tensor, size_t tiles, size_t rows)
{
    struct norm_state *state = op->norm.state;
    norm_merge_sums(op, 0, norm_shares(op, tiles, rows));
    norm_join_sums(op, (double)(rows * op->in->pixels));
    for (size_t j = 0; j < state->width; j++)
        state->merged[0][j] /= state->ranks.count;
    norm_update_running(op, state->merged[0], 1, op->weights->norm[tensor]);
    if (state->running.also)
        norm_update_running(op, state->merged[0], 1, state->running.also->norm[tensor]);
}

void norm_gather_mean_back(const struct op *op, const struct tile *tile)
{
    norm_gather_sums(op, tile, op->dout);
}

void norm_join_mean_back(const struct op *op, size_t tiles, size_t rows)
{
    struct norm_state *state = op->norm.state;
    norm_merge_sums(op, 0, norm_shares(op, tiles, rows));
    const double *sums = norm_total(op, 1);
    for (size_t j = 0; j < state->width; j++)
        state->spare[j] = -sums[j] / state->ranks.count;
    op->k->from_double(state->width, state->spare, state->shift);
}

void norm_set_shift(const struct op *op, const void *b, const double *mean)
{
    struct norm_state *state = op->norm.state;
    if (b)
        op->k->to_double(state->width, b, state->spare);
    else
        memset(state->spare, 0, state->width * sizeof(double));
    for (size_t j = 0; j < state->width; j++)
        state->spare[j] -= mean[j];
    op->k->from_double(state->width, state->spare, state->shift);
}

void norm_shift(const struct op *op, const struct tile *tile, const struct buffer *from,
                const struct buffer *to)
{
    const struct kernels *k = op->k;
    for (size_t p = 0; p < buffer_slices(op->in, tile); p++) {
        struct slice slice = buffer_slice(op->in, tile, p);
        k->shift(slice.rows, slice.width, slice_at(from, k, tile, p), from->ld,
                 slice_column(&slice, k, op->norm.state->shift), slice_at(to, k, tile, p), to->ld);
    }
}

/* ---------------------------------------------------------------- evaluation and conversion */

int norm_scale(const struct norm_values *norm, size_t j, double factor)
{
    norm->tensor[NORM_GAMMA][j] *= factor;
    norm->tensor[NORM_BETA][j] *= factor;
    return 1;
}

const double *norm_fold_sample(const struct norm_values *norm, double *w, double *b)
{
    const double *gamma = norm->tensor[NORM_GAMMA];
    size_t n = norm->n, width = norm->m / norm->norm_groups;
    for (size_t first = 0; first < norm->m; first += width)
        for (size_t i = 0; i <= n; i++) { /* column i of the weights; at i == n, the biases */
            double *column = i < n ? w + i : b, mean = 0;
            size_t step = i < n ? n : 1;
            for (size_t j = first; j < first + width; j++)
                mean += column[j * step] / (double)width;
            for (size_t j = first; j < first + width; j++)
                column[j * step] = gamma[j] * (column[j * step] - mean);
        }
    return norm->tensor[NORM_BETA];
}
