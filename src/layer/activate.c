/* SPDX-License-Identifier: MIT
 *
 * y = s * act(z). Where s is 1 and the activation's gradient can be told from its value, y takes z's place
 * and no memory is touched twice. */
#include "layer/op.h"

/* Whether some s is not 1 changes from step to step, as scales change sign. */
static void act_prepare(struct op *op)
{
    *op->out = op->fused->in_place ? *op->in : op->spare;
}

/* What it reads: where it lies, or computed again in the room to work in. */
static const void *read_slice(const struct op *op, const struct tile *tile, size_t p,
                              const struct buffer *work)
{
    const struct op *norm = op->act.through;
    if (!norm)
        return slice_at(op->in, op->k, tile, p);
    void *slice = buffer_at(work, op->k, tile);
    norm->again(norm, tile, p, slice);
    return slice;
}

/* srelu's numbers lie one kind after the other, (4, m): a block of channels finds its own m apart. */
static struct act_args slice_args(const struct op *op, const struct tile *tile, size_t p,
                                  const struct buffer *work)
{
    struct slice slice = buffer_slice(op->in, tile, p);
    const void *s = op->weights->scaled ? op->weights->s : NULL;
    return (struct act_args){
        .rows = slice.rows,
        .m = slice.width,
        .z = read_slice(op, tile, p, work),
        .ldz = op->in->ld,
        .s = slice_column(&slice, op->k, s),
        .shape = slice_column(&slice, op->k, op->weights->act_shape),
        .ld_shape = op->weights->m,
    };
}

void op_act_again(const struct op *op, const struct tile *tile, size_t p, void *y)
{
    const struct op *norm = op->act.through;
    struct slice slice = buffer_slice(op->in, tile, p);
    norm->again(norm, tile, p, y);
    op->k->act[op->act.act](&(struct act_args){
        .rows = slice.rows,
        .m = slice.width,
        .z = y,
        .ldz = op->out->ld,
        .y = y,
        .ldy = op->out->ld,
        .s = slice_column(&slice, op->k, op->weights->scaled ? op->weights->s : NULL),
        .shape = slice_column(&slice, op->k, op->weights->act_shape),
        .ld_shape = op->weights->m,
    });
}

static void act_forward(const struct op *op, const struct tile *tile)
{
    if (op->fused->idle || op->fused->relu_in_product)
        return;
    for (size_t p = 0; p < buffer_slices(op->in, tile); p++) {
        struct act_args args = slice_args(op, tile, p, op->work);
        args.y = slice_at(op->out, op->k, tile, p);
        args.ldy = op->out->ld;
        op->k->act[op->act.act](&args);
    }
}

static void act_backward(const struct op *op, const struct tile *tile)
{
    if (op->fused->idle)
        return;
    const struct layer_grads *grads = &op->grads[tile->worker];
    const struct op *outer = op->fused->outer;
    for (size_t p = 0; p < buffer_slices(op->in, tile); p++) {
        struct slice slice = buffer_slice(op->in, tile, p);
        struct act_args args = slice_args(op, tile, p, op->back_work);
        void *d = slice_at(op->dout, op->k, tile, p);
        args.dy = args.dz = d;
        args.lddy = args.lddz = op->dout->ld;
        args.db = slice_column(&slice, op->k, op->fused->bias_in_act ? grads->db : NULL);
        args.ds = slice_column(&slice, op->k, op->weights->scaled ? grads->ds : NULL);
        args.dshape = slice_column(&slice, op->k, grads->dshape);
        if (outer) {
            args.left = buffer_at(outer->dout, op->k, tile);
            args.ld_left = outer->dout->ld;
            args.right = outer->weights->wt;
        }
        op->k->act_grad[op->act.act](&args);
    }
}

const struct op_kind op_act = {
    .prepare = act_prepare, .forward = act_forward, .backward = act_backward, .back_in = 1};
const struct op_kind op_act_idle = {.prepare = act_prepare};

/* ---------------------------------------------------------------- an activation by itself */

static void alone_forward(const struct op *op, const struct tile *tile)
{
    for (size_t p = 0; p < buffer_slices(op->in, tile); p++) {
        struct slice slice = buffer_slice(op->in, tile, p);
        op->k->act[op->act.act](&(struct act_args){
            .rows = slice.rows,
            .m = slice.width,
            .z = slice_at(op->in, op->k, tile, p),
            .ldz = op->in->ld,
            .y = slice_at(op->out, op->k, tile, p),
            .ldy = op->out->ld,
        });
    }
}

static void alone_backward(const struct op *op, const struct tile *tile)
{
    if (!op->din)
        return;
    const struct buffer *to = op->add.din ? op->dout : op->din;
    for (size_t p = 0; p < buffer_slices(op->in, tile); p++) {
        struct slice slice = buffer_slice(op->in, tile, p);
        void *d = slice_at(op->dout, op->k, tile, p);
        op->k->act_grad[op->act.act](&(struct act_args){
            .rows = slice.rows,
            .m = slice.width,
            .z = slice_at(op->in, op->k, tile, p),
            .ldz = op->in->ld,
            .dy = d,
            .lddy = op->dout->ld,
            .dz = slice_at(to, op->k, tile, p),
            .lddz = to->ld,
        });
        if (op->add.din)
            op->k->add(slice.rows, slice.width, d, op->dout->ld, slice_at(op->din, op->k, tile, p),
                       op->din->ld);
    }
}

const struct op_kind op_act_alone = {.forward = alone_forward, .backward = alone_backward, .back_in = 1};
