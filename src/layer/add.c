/* SPDX-License-Identifier: MIT
 *
 * Residual addition, with the relu behind it where that is all the activation there is. */
#include "layer/op.h"

static void add_forward(const struct op *op, const struct tile *tile)
{
    for (size_t p = 0; p < buffer_slices(op->in, tile); p++) {
        struct slice slice = buffer_slice(op->in, tile, p);
        op->k->sum(slice.rows, slice.width, slice_at(op->in, op->k, tile, p), op->in->ld,
                   slice_at(op->in2, op->k, tile, p), op->in2->ld, op->act_in_norm,
                   slice_at(op->out, op->k, tile, p), op->out->ld);
    }
}

static void *gradient_at(const struct op *op, const struct buffer *buffer, const struct tile *tile, size_t p)
{
    return buffer ? slice_at(buffer, op->k, tile, p) : NULL;
}

static void add_backward(const struct op *op, const struct tile *tile)
{
    for (size_t p = 0; p < buffer_slices(op->out, tile); p++) {
        struct slice slice = buffer_slice(op->out, tile, p);
        op->k->sum_grad(slice.rows, slice.width, op->act_in_norm ? slice_at(op->out, op->k, tile, p) : NULL,
                        op->out->ld, slice_at(op->dout, op->k, tile, p), op->dout->ld,
                        gradient_at(op, op->din, tile, p), op->din ? op->din->ld : 0, op->add_din,
                        gradient_at(op, op->din2, tile, p), op->din2 ? op->din2->ld : 0, op->add_din2);
    }
}

void op_add(struct op *op)
{
    op->forward = add_forward;
    op->backward = add_backward;
    op->back_out = op->act_in_norm;
}
