/* SPDX-License-Identifier: MIT
 *
 * Max and average pooling; the global pool is an average over a window as large as the image. */
#include "layer/op.h"

#include <string.h>

static uint32_t *winners_of(const struct op *op, const struct tile *tile, size_t i)
{
    size_t row = op->out->worker_rows ? tile->worker * op->out->worker_rows : tile->row;
    return op->winners + (row + i) * op->out->pixels * op->window.channels;
}

static void *clean_din(const struct op *op, const struct tile *tile, size_t i)
{
    void *dx = buffer_image(op->din, op->k, tile, i);
    if (!op->add_din)
        memset(dx, 0, op->din->pixels * op->din->ld * op->k->size);
    return dx;
}

static void max_forward(const struct op *op, const struct tile *tile)
{
    for (size_t i = 0; i < tile->rows; i++)
        op->k->max_pool(&op->window, buffer_image(op->in, op->k, tile, i), op->in->ld,
                        buffer_image(op->out, op->k, tile, i), op->out->ld, winners_of(op, tile, i));
}

static void max_backward(const struct op *op, const struct tile *tile)
{
    for (size_t i = 0; op->din && i < tile->rows; i++)
        op->k->max_pool_grad(&op->window, buffer_image(op->dout, op->k, tile, i), op->dout->ld,
                             winners_of(op, tile, i), clean_din(op, tile, i), op->din->ld);
}

static void avg_forward(const struct op *op, const struct tile *tile)
{
    for (size_t i = 0; i < tile->rows; i++)
        op->k->avg_pool(&op->window, buffer_image(op->in, op->k, tile, i), op->in->ld,
                        buffer_image(op->out, op->k, tile, i), op->out->ld);
}

static void avg_backward(const struct op *op, const struct tile *tile)
{
    for (size_t i = 0; op->din && i < tile->rows; i++)
        op->k->avg_pool_grad(&op->window, buffer_image(op->dout, op->k, tile, i), op->dout->ld,
                             clean_din(op, tile, i), op->din->ld);
}

void op_max_pool(struct op *op)
{
    op->forward = max_forward;
    op->backward = max_backward;
}

void op_avg_pool(struct op *op)
{
    op->forward = avg_forward;
    op->backward = avg_backward;
}
