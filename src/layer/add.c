/* SPDX-License-Identifier: MIT
 *
 * Residual addition, with the relu behind it where that is all the activation there is. */
#include "layer/op.h"

static void forward(const struct op *op, const struct tile *tile, int relu)
{
    for (size_t p = 0; p < buffer_slices(op->in, tile); p++) {
        struct slice slice = buffer_slice(op->in, tile, p);
        op->k->sum(slice.rows, slice.width, slice_at(op->in, op->k, tile, p), op->in->ld,
                   slice_at(op->in2, op->k, tile, p), op->in2->ld, relu, slice_at(op->out, op->k, tile, p),
                   op->out->ld);
    }
}

static void *gradient_at(const struct op *op, const struct buffer *buffer, const struct tile *tile, size_t p)
{
    return buffer ? slice_at(buffer, op->k, tile, p) : NULL;
}

static void backward(const struct op *op, const struct tile *tile, int relu)
{
    for (size_t p = 0; p < buffer_slices(op->out, tile); p++) {
        struct slice slice = buffer_slice(op->out, tile, p);
        op->k->sum_grad(slice.rows, slice.width, relu ? slice_at(op->out, op->k, tile, p) : NULL, op->out->ld,
                        slice_at(op->dout, op->k, tile, p), op->dout->ld, gradient_at(op, op->din, tile, p),
                        op->din ? op->din->ld : 0, op->add.din, gradient_at(op, op->din2, tile, p),
                        op->din2 ? op->din2->ld : 0, op->add.din2);
    }
}

static void add_forward(const struct op *op, const struct tile *tile)
{
    forward(op, tile, 0);
}

static void add_backward(const struct op *op, const struct tile *tile)
{
    backward(op, tile, 0);
}

static void add_relu_forward(const struct op *op, const struct tile *tile)
{
    forward(op, tile, 1);
}

static void add_relu_backward(const struct op *op, const struct tile *tile)
{
    backward(op, tile, 1);
}

const struct op_kind op_add = {.forward = add_forward, .backward = add_backward};
const struct op_kind op_add_relu = {
    .forward = add_relu_forward, .backward = add_relu_backward, .back_out = 1};
