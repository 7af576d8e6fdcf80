/* SPDX-License-Identifier: MIT
 *
 * The inside of an export: the nodes of a network as nodes of a graph. */
#ifndef SPH_STORE_ONNX_LAYERS_H
#define SPH_STORE_ONNX_LAYERS_H

#include "net/weights.h"
#include "store/onnx_build.h"

struct onnx_value {
    const char *name;
    int image; /* (N, C, H, W), else (N, C) */
};

struct onnx_export {
    struct onnx_build build;
    const struct sph_net *net; /* the member at work, of an ensemble */
    const char *before;        /* stands before the names of its nodes and constants */
    struct weights *weights;
    struct onnx_value *value; /* (nodes) */
    int keep_norm;            /* bn stays a node of its own */
};

/* The same numbers as a vector, or as an image of one pixel. */
const char *onnx_as_vector(struct onnx_export *e, int node);

/* The node's value, from those that it reads. The failure is the build's. */
void onnx_add_node(struct onnx_export *e, size_t node);

/* `name`: values (count) if all pixels of a channel have the same, then one for each channel. */
const char *onnx_features(struct onnx_export *e, const char *name, const double *values);

#endif
