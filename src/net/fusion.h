/* SPDX-License-Identifier: MIT
 *
 * Which work of an op its neighbor does, so that each value is touched only once. All rules are in
 * fusion.c. */
#ifndef SPH_NET_FUSION_H
#define SPH_NET_FUSION_H

#include "layer/op.h"
#include "net/net.h"

/* One layer's ops: what cannot change while the plan lives, and what holds in this run. */
struct fusion {
    const struct net_layer *layer;
    const struct layer_weights *weights;
    const struct op *reader; /* the dense op of one unit that alone reads the layer, or NULL */
    struct fused now;
};

void fusion_begin(struct fusion *out, const struct net_layer *layer, const struct layer_weights *weights);

/* Before each run: whether some scale s is not 1 changes from step to step. */
void fusion_decide(struct fusion *fusion);

/* Whether the activation has nothing to do in any run; whether its result needs a place of its own in some. */
int fusion_always_idle(const struct fusion *fusion);
int fusion_needs_place(const struct fusion *fusion);

/* Training, once all ops are there: finds layers that one dense unit alone reads. fusions: (layers), their
 * weights in the order of weights. */
void fusion_pair(struct fusion *fusions, const struct layer_weights *weights, struct op *ops, size_t count);

/* Whether the node is an addition that a relu alone reads: the relu's op does both. */
int fusion_joins_relu(const struct sph_net *net, size_t node);

#endif
