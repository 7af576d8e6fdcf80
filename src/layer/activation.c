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

static void act_forward(const struct op *op, const struct tile *tile)
{
    if ((op->act == SPH_ACT_IDENTITY && !op->weights->scaled) || op_relu_in_dense(op))
        return;
    op->k->act[op->act](&(struct act_args){
        .rows = buffer_rows(op->in, tile),
        .m = op->weights->m,
        .z = buffer_at(op->in, op->k, tile),
        .ldz = op->in->ld,
        .s = op->weights->scaled ? op->weights->s : NULL,
        .shape = op->weights->act_shape,
        .y = buffer_at(op->out, op->k, tile),
        .ldy = op->out->ld,
    });
}

static void act_backward(const struct op *op, const struct tile *tile)
{
    if (op->act == SPH_ACT_IDENTITY && !op->weights->scaled)
        return;
    const struct layer_grads *grads = &op->grads[tile->worker];
    void *d = buffer_at(op->dout, op->k, tile);
    op->k->act_grad[op->act](&(struct act_args){
        .rows = buffer_rows(op->in, tile),
        .m = op->weights->m,
        .z = buffer_at(op->in, op->k, tile),
        .ldz = op->in->ld,
        .s = op->weights->scaled ? op->weights->s : NULL,
        .shape = op->weights->act_shape,
        .dy = d,
        .lddy = op->dout->ld,
        .left = op_outer_gradient(op) ? buffer_at(op->reader->dout, op->k, tile) : NULL,
        .ld_left = op_outer_gradient(op) ? op->reader->dout->ld : 0,
        .right = op_outer_gradient(op) ? op->reader->weights->wt : NULL,
        .dz = d,
        .lddz = op->dout->ld,
        .db = op_bias_in_act(op) ? grads->db : NULL,
        .ds = op->weights->scaled ? grads->ds : NULL,
        .dshape = grads->dshape,
    });
}

void op_act(struct op *op)
{
    op->prepare = act_prepare;
    op->forward = act_forward;
    op->backward = act_backward;
}

/* ---------------------------------------------------------------- an activation by itself */

static void alone_forward(const struct op *op, const struct tile *tile)
{
    op->k->act[op->act](&(struct act_args){
        .rows = buffer_rows(op->in, tile),
        .m = op->in->width,
        .z = buffer_at(op->in, op->k, tile),
        .ldz = op->in->ld,
        .y = buffer_at(op->out, op->k, tile),
        .ldy = op->out->ld,
    });
}

static void alone_backward(const struct op *op, const struct tile *tile)
{
    if (!op->din)
        return;
    const struct buffer *to = op->add_din ? op->dout : op->din;
    op->k->act_grad[op->act](&(struct act_args){
        .rows = buffer_rows(op->in, tile),
        .m = op->in->width,
        .z = buffer_at(op->in, op->k, tile),
        .ldz = op->in->ld,
        .dy = buffer_at(op->dout, op->k, tile),
        .lddy = op->dout->ld,
        .dz = buffer_at(to, op->k, tile),
        .lddz = to->ld,
    });
    if (op->add_din)
        op->k->add(buffer_rows(op->in, tile), op->in->width, buffer_at(op->dout, op->k, tile), op->dout->ld,
                   buffer_at(op->din, op->k, tile), op->din->ld);
}

void op_act_alone(struct op *op)
{
    op->forward = alone_forward;
    op->backward = alone_backward;
}
