/* SPDX-License-Identifier: MIT
 *
 * y = s * act(z). Where s is 1 and the activation's gradient can be told from its value, y takes z's place
 * and no memory is touched twice. */
#include "layer/op.h"

static int can_overwrite(const struct op *op)
{
    return !op->weights->scaled &&
           (op->act == SPH_ACT_RELU || op->act == SPH_ACT_LEAKY_RELU || op->act == SPH_ACT_IDENTITY);
}

int op_relu_in_dense(const struct op *op)
{
    return op->act_follows && op->act == SPH_ACT_RELU && !op->weights->narrow && can_overwrite(op);
}

int op_relu_in_norm(const struct op *op)
{
    return op->act_in_norm && !op->weights->scaled;
}

int op_bias_in_act(const struct op *op)
{
    return op->act_follows && op->weights->b &&
           (op->act == SPH_ACT_RELU || op->act == SPH_ACT_LEAKY_RELU || op->act == SPH_ACT_ELU);
}

int op_outer_gradient(const struct op *act)
{
    return act->reader && op_bias_in_act(act) && !act->weights->scaled;
}

/* Whether some s is not 1 changes from step to step, as scales change sign. */
static void act_prepare(struct op *op)
{
    *op->out = can_overwrite(op) ? *op->in : op->spare;
}

static int nothing_to_do(const struct op *op)
{
    return (op->act == SPH_ACT_IDENTITY && !op->weights->scaled) || op_relu_in_norm(op);
}

/* srelu's numbers lie one kind after the other, (4, m): a block of channels finds its own m apart. */
static struct act_args slice_args(const struct op *op, const struct tile *tile, size_t p)
{
    struct slice slice = buffer_slice(op->in, tile, p);
    const void *s = op->weights->scaled ? op->weights->s : NULL;
    return (struct act_args){
        .rows = slice.rows,
        .m = slice.width,
        .z = slice_at(op->in, op->k, tile, p),
        .ldz = op->in->ld,
        .s = slice_column(&slice, op->k, s),
        .shape = slice_column(&slice, op->k, op->weights->act_shape),
        .ld_shape = op->weights->m,
    };
}

static void act_forward(const struct op *op, const struct tile *tile)
{
    if (nothing_to_do(op) || op_relu_in_dense(op))
        return;
    for (size_t p = 0; p < buffer_slices(op->in, tile); p++) {
        struct act_args args = slice_args(op, tile, p);
        args.y = slice_at(op->out, op->k, tile, p);
        args.ldy = op->out->ld;
        op->k->act[op->act](&args);
    }
}

static void act_backward(const struct op *op, const struct tile *tile)
{
    if (nothing_to_do(op))
        return;
    const struct layer_grads *grads = &op->grads[tile->worker];
    for (size_t p = 0; p < buffer_slices(op->in, tile); p++) {
        struct slice slice = buffer_slice(op->in, tile, p);
        struct act_args args = slice_args(op, tile, p);
        void *d = slice_at(op->dout, op->k, tile, p);
        args.dy = args.dz = d;
        args.lddy = args.lddz = op->dout->ld;
        args.db = slice_column(&slice, op->k, op_bias_in_act(op) ? grads->db : NULL);
        args.ds = slice_column(&slice, op->k, op->weights->scaled ? grads->ds : NULL);
        args.dshape = slice_column(&slice, op->k, grads->dshape);
        if (op_outer_gradient(op)) {
            args.left = buffer_at(op->reader->dout, op->k, tile);
            args.ld_left = op->reader->dout->ld;
            args.right = op->reader->weights->wt;
        }
        op->k->act_grad[op->act](&args);
    }
}

void op_act(struct op *op)
{
    op->prepare = act_prepare;
    op->forward = act_forward;
    op->backward = act_backward;
    op->back_in = 1;
}

/* ---------------------------------------------------------------- an activation by itself */

static void alone_forward(const struct op *op, const struct tile *tile)
{
    for (size_t p = 0; p < buffer_slices(op->in, tile); p++) {
        struct slice slice = buffer_slice(op->in, tile, p);
        op->k->act[op->act](&(struct act_args){
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
    const struct buffer *to = op->add_din ? op->dout : op->din;
    for (size_t p = 0; p < buffer_slices(op->in, tile); p++) {
        struct slice slice = buffer_slice(op->in, tile, p);
        void *d = slice_at(op->dout, op->k, tile, p);
        op->k->act_grad[op->act](&(struct act_args){
            .rows = slice.rows,
            .m = slice.width,
            .z = slice_at(op->in, op->k, tile, p),
            .ldz = op->in->ld,
            .dy = d,
            .lddy = op->dout->ld,
            .dz = slice_at(to, op->k, tile, p),
            .lddz = to->ld,
        });
        if (op->add_din)
            op->k->add(slice.rows, slice.width, d, op->dout->ld, slice_at(op->din, op->k, tile, p),
                       op->din->ld);
    }
}

void op_act_alone(struct op *op)
{
    op->forward = alone_forward;
    op->backward = alone_backward;
    op->back_in = 1;
}
