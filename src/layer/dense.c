/* SPDX-License-Identifier: MIT
 *
 * z = x W^T + b, and its three gradients. */
#include "layer/op.h"

static void dense_forward(const struct op *op, const struct tile *tile)
{
    const struct layer_weights *w = op->weights;
    const void *x = buffer_at(op->in, op->k, tile), *b = op->no_bias ? NULL : w->b;
    void *z = buffer_at(op->out, op->k, tile);
    if (w->narrow)
        op->k->dots(tile->rows, w->m, w->n, x, op->in->ld, w->wt, w->ldwt, b, z, op->out->ld);
    else
        op->k->gemm(tile->rows, w->m, w->n, x, op->in->ld, 1, w->w, w->ldw, z, op->out->ld, b,
                    op_relu_in_dense(op) ? GEMM_RELU : GEMM_SET);
}

static void dense_backward(const struct op *op, const struct tile *tile)
{
    const struct kernels *k = op->k;
    const struct layer_weights *w = op->weights;
    const struct layer_grads *grads = &op->grads[tile->worker];
    const void *x = buffer_at(op->in, k, tile), *dz = buffer_at(op->dout, k, tile);
    if (w->narrow)
        k->gemm(w->m, w->n, tile->rows, dz, 1, op->dout->ld, x, op->in->ld, grads->dw, w->ldwt, NULL,
                GEMM_ADD);
    else
        k->gemm(w->n, w->m, tile->rows, x, 1, op->in->ld, dz, op->dout->ld, grads->dw, w->ldw, NULL,
                GEMM_ADD);
    if (w->b && !op->no_bias && !op_bias_in_act(op))
        k->column_sums(tile->rows, w->m, dz, op->dout->ld, grads->db);
    if (op->din && !(op->before && op_outer_gradient(op->before)))
        k->gemm(tile->rows, w->n, w->m, dz, op->dout->ld, 1, w->wt, w->ldwt, buffer_at(op->din, k, tile),
                op->din->ld, NULL, op->add_din ? GEMM_ADD : GEMM_SET);
}

void op_dense(struct op *op)
{
    op->forward = dense_forward;
    op->backward = dense_backward;
    op->back_in = 1;
}

int op_is_dense(const struct op *op)
{
    return op->forward == dense_forward;
}
