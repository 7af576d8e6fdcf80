/* SPDX-License-Identifier: MIT
 *
 * A network and the ONNX graph that it was imported from, on the same random rows. */
#ifndef TESTS_ONNX_CHECK_H
#define TESTS_ONNX_CHECK_H

#include "spherelu.h"

enum { ONNX_DIFFERS = 3 };

/* Compares every output of the graph with the outputs of the network, which should both be computed in f64: they may differ by 1e-5
 * of a row's largest number. *rows: how many rows were compared. ONNX_DIFFERS: an output differs, the failure has its name as key.
 * ONNX_TOO_MUCH (onnx_run.h): one row needs more than `most` multiplications. Negative: the graph could not be computed. */
int onnx_check(const char *path, sph_net *net, double most, size_t *rows);

#endif
