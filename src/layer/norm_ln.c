/* SPDX-License-Identifier: MIT
 *
 * Layer normalization: y = gamma xhat + beta, xhat = (z - mean) / sigma, sigma^2 = var + epsilon; mean and
 * (biased) variance over the units of a sample, conv: and all its pixels; gamma and beta are per unit. The
 * same in training and in evaluation. Back, with g = gamma dy:
 *
 *   dgamma = sum dy xhat,  dbeta = sum dy,  dz = (g - mean of g - xhat * mean of g xhat) / sigma
 *
 * sigma is a number of each sample's own, so that a unit has a hyperplane only where beta is 0: it is that of
 * gamma (z - mean), z and mean both affine in x. */
#include "layer/norm_rows.h"

enum { GAMMA, BETA };

static void *inverse_at(const struct op *op, const struct tile *tile, size_t i)
{
    return (char *)op->norm.state->rows + (tile->row + i) * op->k->size;
}

static void forward(const struct op *op, const struct tile *tile)
{
    op->k->layer_norm(tile->rows, op->weights->m, buffer_at(op->in, op->k, tile), op->in->ld,
                      op->norm.state->epsilon, op->weights->norm[GAMMA], op->weights->norm[BETA],
                      inverse_at(op, tile, 0), buffer_at(op->out, op->k, tile), op->out->ld);
}

static void backward(const struct op *op, const struct tile *tile)
{
    const struct layer_grads *grads = &op->grads[tile->worker];
    void *d = buffer_at(op->dout, op->k, tile);
    op->k->layer_norm_grad(tile->rows, op->weights->m, d, op->dout->ld, buffer_at(op->in, op->k, tile),
                           op->in->ld, inverse_at(op, tile, 0), op->weights->norm[GAMMA], grads->dnorm[GAMMA],
                           grads->dnorm[BETA], d, op->dout->ld);
}

static void image_forward(const struct op *op, const struct tile *tile)
{
    for (size_t i = 0; i < tile->rows; i++)
        op->k->image_norm(op->in->pixels, op->weights->m, buffer_image(op->in, op->k, tile, i), op->in->ld,
                          op->norm.state->epsilon, op->weights->norm[GAMMA], op->weights->norm[BETA],
                          inverse_at(op, tile, i), buffer_image(op->out, op->k, tile, i), op->out->ld);
}

static void image_backward(const struct op *op, const struct tile *tile)
{
    const struct layer_grads *grads = &op->grads[tile->worker];
    for (size_t i = 0; i < tile->rows; i++) {
        void *d = buffer_image(op->dout, op->k, tile, i);
        op->k->image_norm_grad(op->in->pixels, op->weights->m, d, op->dout->ld,
                               buffer_image(op->in, op->k, tile, i), op->in->ld, inverse_at(op, tile, i),
                               op->weights->norm[GAMMA], grads->dnorm[GAMMA], grads->dnorm[BETA], d,
                               op->dout->ld);
    }
}

/* In the place of z lies xhat. */
static void ln_apply(struct op *op, int train)
{
    static const struct op_kind vector = {.forward = forward, .backward = backward, .back_in = 1};
    static const struct op_kind image = {.forward = image_forward, .backward = image_backward, .back_in = 1};
    (void)train;
    op->kind = op->in->pixels > 1 ? &image : &vector;
}

/* ---------------------------------------------------------------- evaluation and conversion */

static const double *fold_sample(const struct norm_values *norm, double *w, double *b)
{
    norm_centre_units(norm, norm->tensor[GAMMA], w, b);
    return norm->tensor[BETA];
}

static int scale(const struct norm_values *norm, size_t j, double factor)
{
    norm->tensor[GAMMA][j] *= factor;
    norm->tensor[BETA][j] *= factor;
    return 1;
}

const struct norm_ops norm_ln = {
    .name = "ln",
    .divides = 1,
    .tensor = {[GAMMA] = {"norm.scale", .learned = 1, .extent = NORM_UNITS, .first = 1},
               [BETA] = {"norm.shift", .learned = 1, .extent = NORM_UNITS}},
    .tensors = 2,
    .per_sample = 1,
    .row_numbers = 1,
    .result = NORM_APART,
    .apply = ln_apply,
    .fold_sample = fold_sample,
    .scale = scale,
};
