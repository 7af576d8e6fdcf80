/* SPDX-License-Identifier: MIT
 *
 * Converts nodes of a graph to steps: the inputs of a node, and a function for each operator that needs
 * one. The table of all operators is in onnx_ops.c. */
#ifndef SPH_STORE_ONNX_OPS_H
#define SPH_STORE_ONNX_OPS_H

#include "store/onnx_import.h"

static inline size_t step_features(const struct step *step)
{
    return step->channels * step->height * step->width;
}

/* ---------------------------------------------------------------- what a node reads (onnx_inputs.c) */

const char *read_name(const Onnx__Node *node, size_t i); /* its name, "": there is none */
int has_input(const Onnx__Node *node, size_t i);
int reads_constant(struct import *import, const Onnx__Node *node, size_t i);

/* *out <- what the node's i-th input is; its numbers, all finite, which the caller frees; a step, and in reads how often the value
 * is read in all. Each refuses the node where it is something else. */
int read_value(struct import *import, const Onnx__Node *node, size_t i, struct value *out);
int read_constant(struct import *import, const Onnx__Node *node, size_t i, struct onnx_numbers *out);
int read_step(struct import *import, const Onnx__Node *node, size_t i, struct value *out);

/* *out (channels, or of the input features) <- a constant as it broadcasts over a value. Caller frees. */
int read_spread(struct import *import, const Onnx__Node *node, size_t i, const struct value *beside,
                double **out);

/* ---------------------------------------------------------------- kinds (onnx_affine.c, onnx_windows.c) */

typedef int node_op(struct import *import, const Onnx__Node *node);

node_op take_arithmetic, take_sum, take_negative, take_scaler, take_missing, take_choice;
node_op take_head; /* onnx_ops.c */
node_op take_dense, take_conv, take_batch_norm, take_activation, take_pool, take_mean;

#endif
