/* SPDX-License-Identifier: MIT
 *
 * Evaluates an ONNX graph by the definitions of its operators: node by node, in f64, without folding. It
 * shares no code with the import, which is compared with it. */
#ifndef SPH_STORE_ONNX_RUN_H
#define SPH_STORE_ONNX_RUN_H

#include "store/onnx_read.h"

enum { ONNX_TOO_MUCH = 1 };

/* out (count) <- the values of these names for x (rows, features), in f64; caller frees their `values`. *work grows by the
 * multiplications that it took; ONNX_TOO_MUCH: more than `most`. SPH_EFORMAT: a node cannot be computed. */
int onnx_run(const struct onnx_file *file, const double *x, size_t rows, const char *const *names,
             size_t count, double most, double *work, struct onnx_numbers *out);

/* The graph's first input that is no constant; it has a shape. */
int onnx_run_input(const struct onnx_file *file, const Onnx__Value **out);

#endif
