/* SPDX-License-Identifier: MIT
 *
 * Residual addition. */
#include "layer/op.h"

static void copy_rows(const struct op *op, const struct tile *tile, const struct buffer *from,
                      const struct buffer *to)
{
    op->k->column_combine(buffer_rows(from, tile), from->width, NULL, buffer_at(from, op->k, tile), from->ld,
                          NULL, NULL, 0, buffer_at(to, op->k, tile), to->ld);
}

static void add_rows(const struct op *op, const struct tile *tile, const struct buffer *from,
                     const struct buffer *to)
{
    op->k->add(buffer_rows(from, tile), from->width, buffer_at(from, op->k, tile), from->ld,
               buffer_at(to, op->k, tile), to->ld);
}

static void add_forward(const struct op *op, const struct tile *tile)
{
    copy_rows(op, tile, op->in, op->out);
    add_rows(op, tile, op->in2, op->out);
}

static void add_backward(const struct op *op, const struct tile *tile)
{
    if (op->din)
        (op->add_din ? add_rows : copy_rows)(op, tile, op->dout, op->din);
    if (op->din2)
        (op->add_din2 ? add_rows : copy_rows)(op, tile, op->dout, op->din2);
}

void op_add(struct op *op)
{
    op->forward = add_forward;
    op->backward = add_backward;
}
