/* SPDX-License-Identifier: MIT
 *
 * Convolution, two ways: as a product, each image's patches (out pixels, n) times W^T, n = channels * kernel
 * * kernel; and of blocked images, by compute/conv.h. */
#include "layer/op.h"

#include <string.h>

static void *patches_of(const struct op *op, const struct tile *tile, int second)
{
    size_t length = op->out->pixels * op->weights->ldwt;
    return (char *)op->conv.patches + (2 * tile->worker + (size_t)second) * length * op->k->size;
}

static void patches_forward(const struct op *op, const struct tile *tile)
{
    const struct layer_weights *w = op->weights;
    void *patches = patches_of(op, tile, 0);
    for (size_t i = 0; i < tile->rows; i++) {
        op->k->patches(&op->conv.window, buffer_image(op->in, op->k, tile, i), op->in->ld, patches, w->ldwt);
        op->k->gemm(op->out->pixels, w->m, w->n, patches, w->ldwt, 1, w->w, w->ldw,
                    buffer_image(op->out, op->k, tile, i), op->out->ld, product_bias(op),
                    op->fused->relu_in_product ? GEMM_RELU : GEMM_SET);
    }
}

static void patches_backward(const struct op *op, const struct tile *tile)
{
    const struct kernels *k = op->k;
    const struct layer_weights *w = op->weights;
    const struct layer_grads *grads = &op->grads[tile->worker];
    void *patches = patches_of(op, tile, 0), *dpatches = patches_of(op, tile, 1);
    size_t pixels = op->out->pixels;
    for (size_t i = 0; i < tile->rows; i++) {
        const void *dz = buffer_image(op->dout, k, tile, i);
        k->patches(&op->conv.window, buffer_image(op->in, k, tile, i), op->in->ld, patches, w->ldwt);
        k->gemm(w->n, w->m, pixels, patches, 1, w->ldwt, dz, op->dout->ld, grads->dw, w->ldw, NULL, GEMM_ADD);
        if (!op->din)
            continue;
        void *dx = buffer_image(op->din, k, tile, i);
        if (!op->add_din)
            memset(dx, 0, op->din->pixels * op->din->ld * k->size);
        k->gemm(pixels, w->n, w->m, dz, op->dout->ld, 1, w->wt, w->ldwt, dpatches, w->ldwt, NULL, GEMM_SET);
        k->patches_grad(&op->conv.window, dpatches, w->ldwt, dx, op->din->ld);
    }
    if (product_sums_bias(op))
        k->column_sums(buffer_rows(op->dout, tile), w->m, buffer_at(op->dout, k, tile), op->dout->ld,
                       grads->db);
}

const struct op_kind op_conv = {.forward = patches_forward, .backward = patches_backward, .back_in = 1};

/* ---------------------------------------------------------------- blocked images */

static void *scratch_of(const struct op *op, const struct tile *tile)
{
    return (char *)op->conv.scratch + tile->worker * op->conv.scratch_bytes;
}

static void blocked_forward(const struct op *op, const struct tile *tile)
{
    const struct layer_weights *w = op->weights;
    conv_forward(op->conv.convs[tile->worker], tile->rows, buffer_at(op->in, op->k, tile), w->w, w->ldw,
                 product_bias(op), op->fused->relu_in_product, buffer_at(op->out, op->k, tile),
                 scratch_of(op, tile));
}

static void blocked_backward(const struct op *op, const struct tile *tile)
{
    const struct kernels *k = op->k;
    const struct layer_weights *w = op->weights;
    const struct layer_grads *grads = &op->grads[tile->worker];
    const void *dz = buffer_at(op->dout, k, tile);
    conv_backward_weights(op->conv.convs[tile->worker], tile->rows, buffer_at(op->in, k, tile), dz, grads->dw,
                          w->ldw, scratch_of(op, tile));
    if (op->din)
        conv_backward_data(op->conv.convs[tile->worker], tile->rows, dz, w->w, w->ldw, op->add_din,
                           buffer_at(op->din, k, tile), scratch_of(op, tile));
    if (!product_sums_bias(op))
        return;
    for (size_t p = 0; p < buffer_slices(op->dout, tile); p++) {
        struct slice slice = buffer_slice(op->dout, tile, p);
        k->column_sums(slice.rows, slice.width, slice_at(op->dout, k, tile, p), op->dout->ld,
                       slice_column(&slice, k, grads->db));
    }
}

const struct op_kind op_conv_blocked = {
    .forward = blocked_forward, .backward = blocked_backward, .back_in = 1};

static void enter_forward(const struct op *op, const struct tile *tile)
{
    if (op->out->data == op->in->data)
        return; /* the images lie so already */
    for (size_t p = 0; p < buffer_slices(op->out, tile); p++) {
        struct slice slice = buffer_slice(op->out, tile, p);
        const char *image = buffer_image(op->in, op->k, tile, slice.image);
        op->k->column_combine(slice.rows, slice.width, NULL, image + slice.first * op->k->size, op->in->ld,
                              NULL, NULL, 0, slice_at(op->out, op->k, tile, p), op->out->ld);
    }
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
