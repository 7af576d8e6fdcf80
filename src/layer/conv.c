/* SPDX-License-Identifier: MIT
 *
 * Convolution as a product: each image's patches (out pixels, n) times W^T, n = channels * kernel * kernel.
 */
#include "layer/op.h"

#include <string.h>

static void *patches_of(const struct op *op, const struct tile *tile, int second)
{
    size_t length = op->out->pixels * op->weights->ldwt;
    return (char *)op->patches + (2 * tile->worker + (size_t)second) * length * op->k->size;
}

static void conv_forward(const struct op *op, const struct tile *tile)
{
    const struct layer_weights *w = op->weights;
    void *patches = patches_of(op, tile, 0);
    for (size_t i = 0; i < tile->rows; i++) {
        op->k->patches(&op->window, buffer_image(op->in, op->k, tile, i), op->in->ld, patches, w->ldwt);
        op->k->gemm(op->out->pixels, w->m, w->n, patches, w->ldwt, 1, w->w, w->ldw,
                    buffer_image(op->out, op->k, tile, i), op->out->ld, op->no_bias ? NULL : w->b,
                    op_relu_in_dense(op) ? GEMM_RELU : GEMM_SET);
    }
}

static void conv_backward(const struct op *op, const struct tile *tile)
{
    const struct kernels *k = op->k;
    const struct layer_weights *w = op->weights;
    const struct layer_grads *grads = &op->grads[tile->worker];
    void *patches = patches_of(op, tile, 0), *dpatches = patches_of(op, tile, 1);
    size_t pixels = op->out->pixels;
    for (size_t i = 0; i < tile->rows; i++) {
        const void *dz = buffer_image(op->dout, k, tile, i);
        k->patches(&op->window, buffer_image(op->in, k, tile, i), op->in->ld, patches, w->ldwt);
        k->gemm(w->n, w->m, pixels, patches, 1, w->ldwt, dz, op->dout->ld, grads->dw, w->ldw, NULL, GEMM_ADD);
        if (!op->din)
            continue;
        void *dx = buffer_image(op->din, k, tile, i);
        if (!op->add_din)
            memset(dx, 0, op->din->pixels * op->din->ld * k->size);
        k->gemm(pixels, w->n, w->m, dz, op->dout->ld, 1, w->wt, w->ldwt, dpatches, w->ldwt, NULL, GEMM_SET);
        k->patches_grad(&op->window, dpatches, w->ldwt, dx, op->din->ld);
    }
    if (w->b && !op->no_bias && !op_bias_in_act(op))
        k->column_sums(buffer_rows(op->dout, tile), w->m, buffer_at(op->dout, k, tile), op->dout->ld,
                       grads->db);
}

void op_conv(struct op *op)
{
    op->forward = conv_forward;
    op->backward = conv_backward;
}
