/* SPDX-License-Identifier: MIT
 *
 * The last step of every import: compares the networks and the graph on the same random rows. */
#ifndef SPH_STORE_ONNX_CHECK_H
#define SPH_STORE_ONNX_CHECK_H

#include "store/onnx_read.h"
#include "train/losses.h"

/* What is said of the graph. Net and graph should both compute in f64: they may differ by 1e-5 of a row's largest number. */
struct onnx_claim {
    sph_net *const *nets;
    size_t count;
    int predicts; /* the values are the mean of what the nets predict, by link; 0: the mean of what they give */
    enum loss_link link;
    const char *const *value; /* (outputs) that is compared for each output of the graph */
    size_t outputs;
};

/* SPH_EFORMAT names the first output that differs. *rows: how many were compared; 0: a row (or the graph's own
 * number of them) takes more than onnx_check_most multiplications, and nothing was compared. */
int onnx_check(const struct onnx_file *file, const struct onnx_claim *claim, size_t *rows);

extern double onnx_check_most;

#endif
