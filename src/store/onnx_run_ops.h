/* SPDX-License-Identifier: MIT
 *
 * The operators of onnx_run.c, one node at a time. */
#ifndef SPH_STORE_ONNX_RUN_OPS_H
#define SPH_STORE_ONNX_RUN_OPS_H

#include "store/onnx_run.h"

enum { ONNX_MOST_INPUTS = 64 };

struct onnx_budget {
    const struct onnx_file *file;
    double work, most; /* multiplications */
};

/* One node: in (count) its inputs, values NULL where there is none; *out its first result, whose values the caller frees. */
typedef int onnx_op(struct onnx_budget *run, const Onnx__Node *node, const struct onnx_numbers *in,
                    size_t count, struct onnx_numbers *out);

struct onnx_op_row {
    const char *name;
    onnx_op *compute;
    size_t least, most; /* inputs that it needs, and that are read */
};

const struct onnx_op_row *onnx_op_find(const Onnx__Node *node); /* or NULL */

#endif
