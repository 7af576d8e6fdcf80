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

extern const struct tensor_names chain_names; /* biases may be absent */

/* Streams the chain to the file out in another parameterization: one piece of units at a time, so that
 * neither file has to fit in memory. The last layer stays plain. Negative scales that the target cannot hold
 * turn the weights of the next layer. *learned <- numbers written. */
int chain_convert(const struct safetensors *file, const struct chain *chain, const char *out, sph_param to,
                  size_t threads, size_t *learned);

#endif
