/* SPDX-License-Identifier: MIT
 *
 * Max and average pooling; the global pool is an average over a window as large as the image. */
#include "layer/op.h"

#include <string.h>

/* One image, or one block of it: what a kernel takes at once. */
struct piece {
    struct window window; /* with the channels of the piece */
    void *x, *y;
    size_t ldx, ldy;
    uint32_t *winners;
};

static size_t pieces(const struct op *op, const struct tile *tile)
{
    return tile->rows * op->in->blocks;
}

/* x, y: the buffers of the pass. A pooled image may be one pixel: a vector, whose blocks lie side by side. */
static struct piece piece_of(const struct op *op, const struct tile *tile, const struct buffer *x,
                             const struct buffer *y, size_t i)
{
    size_t image = i / op->in->blocks, block = i % op->in->blocks, first = block * op->in->ld;
    size_t left = op->pool.window.channels - first, size = op->k->size;
    struct piece piece = {.window = op->pool.window, .ldx = op->in->ld, .ldy = y->ld};
    if (op->in->blocked)
        piece.window.channels = left < op->in->ld ? left : op->in->ld;
    piece.x = (char *)buffer_image(x, op->k, tile, image) + block * x->pixels * x->ld * size;
    piece.y =
        (char *)buffer_image(y, op->k, tile, image) + (y->blocked ? block * y->pixels * y->ld : first) * size;
    if (op->pool.winners) {
        size_t row = y->worker_rows ? tile->worker * y->worker_rows : tile->row;
        piece.winners = op->pool.winners + ((row + image) * op->pool.window.channels + first) * y->pixels;
    }
    return piece;
}

static void clean_din(const struct op *op, const struct tile *tile)
{
    if (!op->add.din)
        memset(buffer_at(op->din, op->k, tile), 0, tile->rows * buffer_length(op->din) * op->k->size);
}

static void max_forward(const struct op *op, const struct tile *tile)
{
    for (size_t i = 0; i < pieces(op, tile); i++) {
        struct piece piece = piece_of(op, tile, op->in, op->out, i);
        op->k->max_pool(&piece.window, piece.x, piece.ldx, piece.y, piece.ldy, piece.winners);
    }
}

static void max_backward(const struct op *op, const struct tile *tile)
{
    if (!op->din)
        return;
    clean_din(op, tile);
    for (size_t i = 0; i < pieces(op, tile); i++) {
        struct piece piece = piece_of(op, tile, op->din, op->dout, i);
        op->k->max_pool_grad(&piece.window, piece.y, piece.ldy, piece.winners, piece.x, piece.ldx);
    }
}

static void avg_forward(const struct op *op, const struct tile *tile)
{
    for (size_t i = 0; i < pieces(op, tile); i++) {
        struct piece piece = piece_of(op, tile, op->in, op->out, i);
        op->k->avg_pool(&piece.window, piece.x, piece.ldx, piece.y, piece.ldy);
    }
}

static void avg_backward(const struct op *op, const struct tile *tile)
{
    if (!op->din)
        return;
    clean_din(op, tile);
    for (size_t i = 0; i < pieces(op, tile); i++) {
        struct piece piece = piece_of(op, tile, op->din, op->dout, i);
        op->k->avg_pool_grad(&piece.window, piece.y, piece.ldy, piece.x, piece.ldx);
    }
}

const struct op_kind op_max_pool = {.forward = max_forward, .backward = max_backward};
const struct op_kind op_avg_pool = {.forward = avg_forward, .backward = avg_backward};
