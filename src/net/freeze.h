/* SPDX-License-Identifier: MIT
 *
 * Which learned tensors are not trained, given by their names or the beginnings of their names: layers.0,
 * conv1, layer1, layers.0.theta. */
#ifndef SPH_NET_FREEZE_H
#define SPH_NET_FREEZE_H

#include "net/net.h"

struct freeze {
    unsigned char *tensor;  /* (tensors) a learned one that stays                                         */
    unsigned char *weights; /* (layers) all that W, b and s come from stays: no gradient of them is wanted */
    unsigned char *still;   /* (layers) all that the layer learns stays: so do its running statistics, and
                               its normalization runs as in evaluation */
};

/* paths: "layers.0,layers.1"; a path freezes each learned tensor whose name is it, or begins with it and a dot.
 * SPH_EARG where one fits none, or nothing is left to learn. Caller frees. */
int freeze_new(struct freeze **out, const sph_net *net, const char *paths);
void freeze_free(struct freeze *freeze); /* NULL is fine */

#endif
