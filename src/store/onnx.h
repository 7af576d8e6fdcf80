/* SPDX-License-Identifier: MIT
 *
 * Networks as ONNX graphs. Without protobuf-c, onnx_none.c returns errors instead. */
#ifndef SPH_STORE_ONNX_H
#define SPH_STORE_ONNX_H

#include "spherelu/store.h"
#include "train/losses.h"

enum { ONNX_OPSET = 13, ONNX_OPSET_LEAST = 12, ONNX_OPSET_MOST = 22 };

/* How a net meets its users. All borrowed; NULL or 0: as the net itself has it. */
struct onnx_face {
    int raw;              /* its own outputs go out, called scores, whatever else is said              */
    enum loss_link link;  /* from what the net gives to what is predicted                              */
    char *const *labels;  /* (classes) what they are called; NULL: scores alone go out                */
    size_t classes;       /* of link logistic two, of softmax the net's outputs                        */
    int fill;             /* a NaN among the features takes the place of a missing one                 */
    const char *features; /* names of the columns of X, a JSON array                                   */
    const char *data;     /* what the net's owner says about its data, a JSON object                   */
};

/* Of several nets of one shape the mean of what they predict; the scores of several are refused. Replaces the file
 * whole. */
int onnx_save(sph_net *const *nets, size_t count, const char *path, const sph_export_opts *opts,
              const struct onnx_face *face);

#endif
