/* SPDX-License-Identifier: MIT
 *
 * Convolution by compute/conv.h, of images however they lie; and their way into blocks. */
#include <string.h>

#include "layer/op.h"

/* What all passes of a tile share. */
static struct conv_call call_of(const struct op *op, const struct tile *tile, const struct buffer *work)
{
    const struct layer_weights *w = op->weights;
    return (struct conv_call){.images = tile->rows,
                              .x = buffer_at(op->in, op->k, tile),
                              .ldx = op->in->ld,
                              .w = w->w,
                              .ldw = w->ldw,
                              .wt = w->wt,
                              .ldwt = w->ldwt,
                              .scratch = work ? buffer_at(work, op->k, tile) : NULL};
}

static void conv_op_forward(const struct op *op, const struct tile *tile)
{
    struct conv_call call = call_of(op, tile, op->work);
    call.bias = product_bias(op);
    call.relu = op->fused->relu_in_product;
    call.y = buffer_at(op->out, op->k, tile);
    call.ldy = op->out->ld;
    conv_forward(op->conv.convs[tile->worker], &call);
}

static void conv_op_backward(const struct op *op, const struct tile *tile)
{
    const struct kernels *k = op->k;
    const struct layer_grads *grads = &op->grads[tile->worker];
    struct conv_call call = call_of(op, tile, op->back_work);
    call.dy = buffer_at(op->dout, k, tile);
    call.lddy = op->dout->ld;
    call.dw = grads->dw;
    if (call.dw) {
        call.x = product_back_in(op, tile);
        conv_backward_weights(op->conv.convs[tile->worker], &call);
    }
    if (op->din) {
        call.dx = buffer_at(op->din, k, tile);
        call.lddx = op->din->ld;
        call.add = op->add.din;
        conv_backward_data(op->conv.convs[tile->worker], &call);
    }
    if (!product_sums_bias(op))
        return;
    for (size_t p = 0; p < buffer_slices(op->dout, tile); p++) {
        struct slice slice = buffer_slice(op->dout, tile, p);
        k->column_sums(slice.rows, slice.width, slice_at(op->dout, k, tile, p), op->dout->ld,
                       slice_column(&slice, k, grads->db));
    }
}

const struct op_kind op_conv = {.forward = conv_op_forward, .backward = conv_op_backward, .back_in = 1};

void op_enter_again(const struct op *op, const struct tile *tile, size_t p, void *y)
{
    struct slice slice = buffer_slice(op->out, tile, p);
    const char *image = buffer_image(op->in, op->k, tile, slice.image);
    if (slice.width < op->out->ld) /* channels that fill up a block are 0 */
        memset(y, 0, slice.rows * op->out->ld * op->k->size);
    op->k->column_combine(slice.rows, slice.width, NULL, image + slice.first * op->k->size, op->in->ld, NULL,
                          NULL, 0, y, op->out->ld);
}

static void enter_forward(const struct op *op, const struct tile *tile)
{
    if (op->out->data == op->in->data)
        return; /* the images lie so already */
    for (size_t p = 0; p < buffer_slices(op->out, tile); p++)
        op_enter_again(op, tile, p, slice_at(op->out, op->k, tile, p));
}

static void enter_prepare(struct op *op)
{
    if (op->spare.width) {
        *op->out = op->spare;
    } else {
        op->out->data = op->in->data;
        op->out->worker_rows = 0;
    }
}

const struct op_kind op_enter = {.prepare = enter_prepare, .forward = enter_forward};
