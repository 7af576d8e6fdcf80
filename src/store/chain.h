/* SPDX-License-Identifier: MIT
 *
 * A file of dense layers and nothing else, as other tools write them: PATH.weight and PATH.bias (or the
 * tensors of another parameterization), no description. They are taken for a chain in which each layer reads
 * the one before, with relu between, and nothing behind the last.
 *
 * Which comes first: paths that differ only in their numbers ("0", "2", "10") go by these numbers, and so do
 * those of a file sorted by name, as Python's safetensors writes it; others keep the file's order. Where
 * shapes contradict that, the other order is tried. */
#ifndef SPH_STORE_CHAIN_H
#define SPH_STORE_CHAIN_H

#include "store/safetensors.h"
#include "store/tensors.h"

struct chain_layer {
    char *path;
    sph_param param;
    struct param_shape shape;                   /* m, n, has_bias */
    sph_dtype dtype;                            /* f64 if one of its tensors is */
    const struct st_tensor *raw[PARAM_TENSORS]; /* borrowed; NULL: no bias, or no angles */
    const struct st_tensor *sign;               /* of one-input units, else NULL */
};

struct chain {
    struct chain_layer *layer; /* (count) in the order of computation */
    size_t count;
    sph_dtype dtype; /* f64 if one layer is */
};

/* SPH_EFORMAT names what does not fit. chain_free is fine after a failure. */
int chain_read(struct chain *out, const struct safetensors *file);
void chain_free(struct chain *chain);

/* "0, 2, 4", cut to size. */
void chain_order(const struct chain *chain, char *out, size_t size);

/* The net, with the file's numbers: relu between the layers, nothing behind the last; a bias that is not there is 0. */
int chain_open(sph_net **out, const struct chain *chain, const struct safetensors *file);

/* Whether a tensor of that net is a bias of zeros that the file does not have. */
int chain_lacks(const struct chain *chain, const struct net_tensor *tensor);

#endif
