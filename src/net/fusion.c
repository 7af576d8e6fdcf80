/* SPDX-License-Identifier: MIT
 *
 * A layer is product | normalization | activation. What follows from its description is looked up again in
 * each run, for it depends on the scales s behind the activation: gmp's change sign, sp and wn have none.
 *
 *   relu_in_product  the product sets negative numbers to 0     nothing between, s = 1, more than a few units
 *   relu_in_norm     the normalization does, and masks back     its row takes a relu, s = 1
 *   bias_in_norm     the normalization adds the bias            its row says so
 *   bias_in_act      the way back through the activation sums   nothing between, and the activation's gradient
 *                    the bias's gradient                        is a pass of its own
 *   in_place         y takes z's place                          s = 1, the slope can be told from y
 *   idle             no pass at all                             no activation and s = 1, or relu_in_norm
 *   outer            a single unit behind hands its gradient    bias_in_act and s = 1
 *                    on as a column and a row
 *   joins_relu       addition and relu are one pass             nobody else reads the sum
 *
 * Two layers that normalize what they read, the same node, share the result: plan.c, plan_centring. */
#include "net/fusion.h"

/* s is 1 as long as the net lives: neither a radius nor signs of a conversion. */
static int never_scaled(const struct fusion *f)
{
    return !param_has_radius(f->layer->spec.param) && f->layer->output_sign == NET_NOWHERE;
}

void fusion_begin(struct fusion *out, const struct net_layer *layer, const struct layer_weights *weights)
{
    *out = (struct fusion){.layer = layer, .weights = weights};
}

static struct fused decide(const struct fusion *f, int scaled)
{
    const struct act_ops *act = f->layer->act;
    const struct norm_ops *norm = f->layer->norm;
    int direct = !norm_between(norm);
    struct fused now = {.relu_in_product = act->is_relu && direct && !scaled && !f->weights->narrow,
                        .relu_in_norm = act->is_relu && norm->takes_relu && !scaled,
                        .bias_in_norm = norm->adds_bias,
                        .bias_in_act = direct && f->layer->shape.has_bias && act->sums_bias,
                        .in_place = !scaled && act->shows_slope};
    now.idle = now.relu_in_norm || (act->identity && !scaled);
    now.outer = now.bias_in_act && !scaled ? f->reader : NULL;
    return now;
}

void fusion_decide(struct fusion *fusion)
{
    fusion->now = decide(fusion, fusion->weights->scaled);
}

int fusion_always_idle(const struct fusion *fusion)
{
    return never_scaled(fusion) && decide(fusion, 0).idle;
}

int fusion_needs_place(const struct fusion *fusion)
{
    return !never_scaled(fusion) || !decide(fusion, 0).in_place;
}

void fusion_pair(struct fusion *fusions, const struct layer_weights *weights, struct op *ops, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t readers = 0;
        struct op *only = NULL;
        if (ops[i].kind != &op_act)
            continue;
        for (size_t j = i + 1; j < count; j++)
            if (ops[j].in == ops[i].out || ops[j].in2 == ops[i].out) {
                readers++;
                only = &ops[j];
            }
        struct fusion *fusion = &fusions[ops[i].weights - weights];
        if (readers != 1 || only->kind != &op_dense || only->weights->m != 1 || !only->din ||
            !decide(fusion, 0).bias_in_act)
            continue;
        fusion->reader = only;
        only->dense.before = &fusion->now;
        ops[i].back_also = only->dout;
    }
}

int fusion_joins_relu(const sph_net *net, size_t node)
{
    size_t readers = 0, relus = 0;
    if (net->nodes[node].kind != NODE_ADD || (int)node == net->output)
        return 0;
    for (size_t i = node + 1; i < net->node_count; i++)
        for (int k = 0; k < 2; k++)
            if (net->nodes[i].in[k] == (int)node) {
                readers++;
                relus += net->nodes[i].kind == NODE_ACT && act_ops(net->nodes[i].act)->is_relu;
            }
    return readers == 1 && relus == 1;
}
