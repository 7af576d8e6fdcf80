/* SPDX-License-Identifier: MIT
 *
 * Normalizations. Batch statistics are gathered per tile and merged in the order of the tiles, in f64: the
 * result does not depend on which worker ran which tile.
 *
 *   bn   gather: moments of z            apply: z -> xhat, y = gamma xhat + beta      (in training)
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
    size_t width, tiles;
    double momentum;
    sph_norm norm;
    size_t *tile_rows;                 /* (tiles) */
    void *part[2];                     /* (tiles, width) each: what a tile gathered                     */
    double *merged[2], *spare;         /* (width) f64: mean and m2, or the sums of the way back         */
    double *statistic;                 /* (width) f64: running statistics on their way                  */
    void *mean, *inv, *shift;          /* (width) forward                                               */
    void *factor, *mean_dy, *mean_dyx; /* (width) backward                                         */
};

int norm_state_new(struct norm_state **out, const struct kernels *k, size_t width, size_t tiles,
                   double momentum)
{
    struct norm_state *state = mem_get(1, sizeof *state);
    if (!state)
        return SPH_EMEMORY;
    state->width = width;
    state->tiles = tiles;
    state->momentum = momentum;
    int missing = !(state->tile_rows = mem_get(tiles, sizeof *state->tile_rows));
    for (int i = 0; i < 2; i++) {
        missing |= !(state->part[i] = mem_get(tiles * width, k->size));
        missing |= !(state->merged[i] = mem_get(width, sizeof(double)));
    }
    missing |= !(state->spare = mem_get(width, sizeof(double)));
    missing |= !(state->statistic = mem_get(width, sizeof(double)));
    void **vectors[] = {&state->mean,   &state->inv,     &state->shift,
                        &state->factor, &state->mean_dy, &state->mean_dyx};
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
    void *owned[] = {state->tile_rows, state->part[0],   state->part[1], state->merged[0], state->merged[1],
                     state->spare,     state->statistic, state->mean,    state->inv,       state->shift,
                     state->factor,    state->mean_dy,   state->mean_dyx};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        mem_free(owned[i]);
    mem_free(state);
}

static void *part_at(const struct op *op, int which, size_t tile)
{
    return (char *)op->norm->part[which] + tile * op->norm->width * op->k->size;
}

/* ---------------------------------------------------------------- gather: forward */

static void gather_moments(const struct op *op, const struct tile *tile)
{
    op->norm->tile_rows[tile->index] = buffer_rows(op->in, tile);
    op->k->moments(buffer_rows(op->in, tile), op->norm->width, buffer_at(op->in, op->k, tile), op->in->ld,
                   part_at(op, 0, tile->index), part_at(op, 1, tile->index));
}

static void gather_mean(const struct op *op, const struct tile *tile)
{
    void *sum = part_at(op, 0, tile->index);
    memset(sum, 0, op->norm->width * op->k->size);
    op->k->column_sums(buffer_rows(op->in, tile), op->norm->width, buffer_at(op->in, op->k, tile), op->in->ld,
                       sum);
}

/* sums[which] <- the tiles' parts, in f64 and in order */
static void merge_sums(const struct op *op, int which, size_t tiles)
{
    struct norm_state *state = op->norm;
    memset(state->merged[which], 0, state->width * sizeof(double));
    for (size_t t = 0; t < tiles; t++) {
        op->k->to_double(state->width, part_at(op, which, t), state->spare);
        for (size_t j = 0; j < state->width; j++)
            state->merged[which][j] += state->spare[j];
    }
}

/* Chan's update: mean and sum of squared deviations of two sets joined. */
static void merge_moments(const struct op *op, size_t tiles)
{
    struct norm_state *state = op->norm;
    double *mean = state->merged[0], *m2 = state->merged[1], seen = 0;
    memset(mean, 0, state->width * sizeof *mean);
    memset(m2, 0, state->width * sizeof *m2);
    for (size_t t = 0; t < tiles; t++) {
        double rows = (double)state->tile_rows[t], all = seen + rows;
        op->k->to_double(state->width, part_at(op, 0, t), state->spare);
        op->k->to_double(state->width, part_at(op, 1, t), state->statistic);
        for (size_t j = 0; j < state->width; j++) {
            double delta = state->spare[j] - mean[j];
            mean[j] += delta * rows / all;
            m2[j] += state->statistic[j] + delta * delta * seen * rows / all;
        }
        seen = all;
    }
}

static void update_running(const struct op *op, const double *batch, double correction, void *running)
{
    struct norm_state *state = op->norm;
    op->k->to_double(state->width, running, state->statistic);
    for (size_t j = 0; j < state->width; j++)
        state->statistic[j] += state->momentum * (batch[j] * correction - state->statistic[j]);
    op->k->from_double(state->width, state->statistic, running);
}

/* inv = 1 / sqrt(var + epsilon), var in f64 */
static void set_inverse(const struct op *op, const double *var)
{
    struct norm_state *state = op->norm;
    for (size_t j = 0; j < state->width; j++)
        state->spare[j] = 1 / sqrt(var[j] + norm_epsilon);
    op->k->from_double(state->width, state->spare, state->inv);
}

static void join_moments(const struct op *op, size_t tiles, size_t rows)
{
    struct norm_state *state = op->norm;
    merge_moments(op, tiles);
    double count = (double)(rows * op->in->pixels), *var = state->merged[1];
    for (size_t j = 0; j < state->width; j++)
        var[j] /= count;
    update_running(op, state->merged[0], 1, op->weights->running_mean);
    update_running(op, var, count > 1 ? count / (count - 1) : 1, op->weights->running_var);
    op->k->from_double(state->width, state->merged[0], state->mean);
    set_inverse(op, var);
}

/* shift = b - mean (mbn), -mean (imn) */
static void set_shift(const struct op *op, const double *mean)
{
    struct norm_state *state = op->norm;
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
    struct norm_state *state = op->norm;
    merge_sums(op, 0, tiles);
    for (size_t j = 0; j < state->width; j++)
        state->merged[0][j] /= (double)(rows * op->in->pixels);
    update_running(op, state->merged[0], 1, op->weights->running_mean);
    set_shift(op, state->merged[0]);
}

/* ---------------------------------------------------------------- apply: forward */

static void apply_moments(const struct op *op, const struct tile *tile)
{
    const struct norm_state *state = op->norm;
    op->k->normalize(buffer_rows(op->in, tile), state->width, buffer_at(op->in, op->k, tile), op->in->ld,
                     state->mean, state->inv, op->weights->gamma, op->weights->beta,
                     buffer_at(op->out, op->k, tile), op->out->ld);
}

static void apply_shift(const struct op *op, const struct tile *tile)
{
    op->k->shift(buffer_rows(op->in, tile), op->norm->width, buffer_at(op->in, op->k, tile), op->in->ld,
                 op->norm->shift, buffer_at(op->out, op->k, tile), op->out->ld);
}

static void prepare_moments(struct op *op)
{
    struct norm_state *state = op->norm;
    memcpy(state->mean, op->weights->running_mean, state->width * op->k->size);
    op->k->to_double(state->width, op->weights->running_var, state->merged[1]);
    set_inverse(op, state->merged[1]);
}

static void prepare_mean(struct op *op)
{
    op->k->to_double(op->norm->width, op->weights->running_mean, op->norm->merged[0]);
    set_shift(op, op->norm->merged[0]);
}

/* ---------------------------------------------------------------- apply: backward, gathering */

static void gather_moments_back(const struct op *op, const struct tile *tile)
{
    void *sum_dy = part_at(op, 0, tile->index), *sum_dyx = part_at(op, 1, tile->index);
    memset(sum_dy, 0, op->norm->width * op->k->size);
    memset(sum_dyx, 0, op->norm->width * op->k->size);
    op->k->normalize_sums(buffer_rows(op->in, tile), op->norm->width, buffer_at(op->dout, op->k, tile),
                          op->dout->ld, buffer_at(op->in, op->k, tile), op->in->ld, sum_dy, sum_dyx);
}

static void gather_mean_back(const struct op *op, const struct tile *tile)
{
    void *sum = part_at(op, 0, tile->index);
    memset(sum, 0, op->norm->width * op->k->size);
    op->k->column_sums(buffer_rows(op->in, tile), op->norm->width, buffer_at(op->dout, op->k, tile),
                       op->dout->ld, sum);
}

static void add_to(const struct op *op, const double *values, void *gradient)
{
    struct norm_state *state = op->norm;
    op->k->to_double(state->width, gradient, state->spare);
    for (size_t j = 0; j < state->width; j++)
        state->spare[j] += values[j];
    op->k->from_double(state->width, state->spare, gradient);
}

static void set_mean(const struct op *op, const double *sum, size_t rows, double sign, void *out)
{
    struct norm_state *state = op->norm;
    for (size_t j = 0; j < state->width; j++)
        state->spare[j] = sign * sum[j] / (double)(rows * op->in->pixels);
    op->k->from_double(state->width, state->spare, out);
}

static void join_moments_back(const struct op *op, size_t tiles, size_t rows)
{
    struct norm_state *state = op->norm;
    merge_sums(op, 0, tiles);
    merge_sums(op, 1, tiles);
    add_to(op, state->merged[0], op->grads[0].dbeta);
    add_to(op, state->merged[1], op->grads[0].dgamma);
    set_mean(op, state->merged[0], rows, 1, state->mean_dy);
    set_mean(op, state->merged[1], rows, 1, state->mean_dyx);
    op->k->to_double(state->width, op->weights->gamma, state->spare);
    op->k->to_double(state->width, state->inv, state->statistic);
    for (size_t j = 0; j < state->width; j++)
        state->spare[j] *= state->statistic[j];
    op->k->from_double(state->width, state->spare, state->factor);
}

static void join_mean_back(const struct op *op, size_t tiles, size_t rows)
{
    merge_sums(op, 0, tiles);
    if (op->norm->norm == SPH_NORM_MBN && op->weights->b)
        add_to(op, op->norm->merged[0], op->grads[0].db);
    set_mean(op, op->norm->merged[0], rows, -1, op->norm->shift);
}

/* ---------------------------------------------------------------- gather: backward, applying */

static void apply_moments_back(const struct op *op, const struct tile *tile)
{
    const struct norm_state *state = op->norm;
    void *d = buffer_at(op->dout, op->k, tile);
    op->k->normalize_grad(buffer_rows(op->in, tile), state->width, d, op->dout->ld,
                          buffer_at(op->in, op->k, tile), op->in->ld, state->factor, state->mean_dy,
                          state->mean_dyx, d, op->dout->ld);
}

static void apply_shift_back(const struct op *op, const struct tile *tile)
{
    const struct norm_state *state = op->norm;
    void *d = buffer_at(op->dout, op->k, tile);
    if (state->norm == SPH_NORM_MBN || (op->din && op->add_din))
        op->k->shift(buffer_rows(op->in, tile), state->width, d, op->dout->ld, state->shift, d, op->dout->ld);
    if (state->norm == SPH_NORM_MBN || !op->din)
        return;
    void *din = buffer_at(op->din, op->k, tile); /* imn: the gradient goes on to the node before */
    if (op->add_din)
        op->k->add(buffer_rows(op->in, tile), state->width, d, op->dout->ld, din, op->din->ld);
    else
        op->k->shift(buffer_rows(op->in, tile), state->width, d, op->dout->ld, state->shift, din,
                     op->din->ld);
}

void op_norm_gather(struct op *op, sph_norm norm)
{
    int moments = norm == SPH_NORM_BN;
    op->norm->norm = norm;
    op->forward = moments ? gather_moments : gather_mean;
    op->join_forward = moments ? join_moments : join_mean;
    op->backward = moments ? apply_moments_back : apply_shift_back;
}

void op_norm_apply(struct op *op, sph_norm norm, int train)
{
    int moments = norm == SPH_NORM_BN;
    op->norm->norm = norm;
    op->forward = moments ? apply_moments : apply_shift;
    if (train) {
        op->backward = moments ? gather_moments_back : gather_mean_back;
        op->join_backward = moments ? join_moments_back : join_mean_back;
    } else {
        op->prepare = moments ? prepare_moments : prepare_mean;
    }
}

/* ---------------------------------------------------------------- layer normalization */

static void *row_scratch_at(const struct op *op, const struct tile *tile, size_t i)
{
    return (char *)op->row_scratch + (tile->row + i) * op->k->size;
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

void op_layer_norm(struct op *op)
{
    int image = op->in->pixels > 1;
    op->forward = image ? image_norm_forward : layer_norm_forward;
    op->backward = image ? image_norm_backward : layer_norm_backward;
}
