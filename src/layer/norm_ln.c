/* SPDX-License-Identifier: MIT
 *
 * Layer normalization: y = gamma xhat + beta, xhat = (z - mean) / sigma, sigma^2 = var + epsilon. mean and the
 * biased var are over the units of a sample (conv: over the units and all pixels); gamma and beta are per unit.
 * Training and evaluation are the same. Backward, with g = gamma dy:
 *
 *   dgamma = sum dy xhat,  dbeta = sum dy,  dz = (g - mean of g - xhat * mean of g xhat) / sigma
 *
 * sigma depends on the sample, so a unit has a hyperplane only if its beta is 0: the hyperplane of
 * gamma (z - mean), where z and mean are affine in x. */
#include "layer/norm_rows.h"

static void *inverse_at(const struct op *op, const struct tile *tile, size_t i)
{
    return (char *)op->norm.state->rows + (tile->row + i) * op->k->size;
}

static void image_forward(const struct op *op, const struct tile *tile)
{
    for (size_t i = 0; i < tile->rows; i++)
        op->k->image_norm(op->in->pixels, op->weights->m, buffer_image(op->in, op->k, tile, i), op->in->ld,
                          op->norm.state->epsilon, op->weights->norm[NORM_GAMMA],
                          op->weights->norm[NORM_BETA], inverse_at(op, tile, i),
                          buffer_image(op->out, op->k, tile, i), op->out->ld);
}

static void image_backward(const struct op *op, const struct tile *tile)
{
    const struct layer_grads *grads = &op->grads[tile->worker];
    for (size_t i = 0; i < tile->rows; i++) {
        void *d = buffer_image(op->dout, op->k, tile, i);
        op->k->image_norm_grad(op->in->pixels, op->weights->m, d, op->dout->ld,
                               buffer_image(op->in, op->k, tile, i), op->in->ld, inverse_at(op, tile, i),
                               op->weights->norm[NORM_GAMMA], grads->dnorm[NORM_GAMMA],
                               grads->dnorm[NORM_BETA], d, op->dout->ld);
    }
}

/* The forward pass overwrites z with xhat. */
static void ln_apply(struct op *op, enum norm_how how)
{
    static const struct op_kind image = {.forward = image_forward, .backward = image_backward, .back_in = 1};
    (void)how;
    op->kind = op->in->pixels > 1 ? &image : &norm_vectors;
}

const struct norm_ops norm_LN = {
    .name = "ln",
    .divides = 1,
    .tensor = {NORM_GAMMA_BETA},
    .tensors = 2,
    .per_sample = 1,
    .standardizes = 1,
    .row_numbers = 1,
    .result = NORM_APART,
    .apply = ln_apply,
    .fold_sample = norm_fold_sample,
    .scale = norm_scale,
};
