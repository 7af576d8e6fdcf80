/* SPDX-License-Identifier: MIT
 *
 * z = x W^T + b, and its three gradients. */
#include "layer/op.h"

static void dense_forward(const struct op *op, const struct tile *tile)
{
    const struct layer_weights *w = op->weights;
    const void *x = buffer_at(op->in, op->k, tile), *b = product_bias(op);
    void *z = buffer_at(op->out, op->k, tile);
    if (w->narrow)
        op->k->dots(tile->rows, w->m, w->n, x, op->in->ld, w->wt, w->ldwt, b, z, op->out->ld);
    else
        op->k->gemm(tile->rows, w->m, w->n, x, op->in->ld, 1, w->w, w->ldw, z, op->out->ld, b,
                    op->fused->relu_in_product ? GEMM_RELU : GEMM_SET);
}

static void dense_backward(const struct op *op, const struct tile *tile)
{
    const struct kernels *k = op->k;
    const struct layer_weights *w = op->weights;
    const struct layer_grads *grads = &op->grads[tile->worker];
    const void *x = grads->dw ? product_back_in(op, tile) : NULL, *dz = buffer_at(op->dout, k, tile);
    if (!grads->dw)
        ;
    else if (w->narrow)
        k->gemm(w->m, w->n, tile->rows, dz, 1, op->dout->ld, x, op->in->ld, grads->dw, w->ldwt, NULL,
                GEMM_ADD);
    else
        k->gemm(w->n, w->m, tile->rows, x, 1, op->in->ld, dz, op->dout->ld, grads->dw, w->ldw, NULL,
                GEMM_ADD);
    if (product_sums_bias(op))
        k->column_sums(tile->rows, w->m, dz, op->dout->ld, grads->db);
    if (op->din && !(op->dense.before && op->dense.before->outer))
        k->gemm(tile->rows, w->n, w->m, dz, op->dout->ld, 1, w->wt, w->ldwt, buffer_at(op->din, k, tile),
                op->din->ld, NULL, op->add.din ? GEMM_ADD : GEMM_SET);
}

const struct op_kind op_dense = {.forward = dense_forward, .backward = dense_backward, .back_in = 1};
