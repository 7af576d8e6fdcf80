/* SPDX-License-Identifier: MIT
 *
 * For the tool: conversion from file to file (`spherelu convert`). Not installed, not part of the API. */
#ifndef SPH_STORE_TOOL_H
#define SPH_STORE_TOOL_H

#include "spherelu/store.h"

/* The scores of one net as an ONNX graph, with or without SPH_EXPORT_RAW. */
int sph_net_export(const sph_net *net, const char *path, const sph_export_opts *opts);

/* From file to file: open, convert, save. A chain of dense layers without a description becomes such a file again, with
 * the metadata and the biases that it had. */
typedef struct sph_convert_opts {
    sph_param to;
    int flags; /* SPH_CONVERT_... */
    sph_names names;
} sph_convert_opts;

typedef struct sph_converted {
    sph_net *net;   /* what was written, caller frees; of an ensemble its first member */
    size_t members; /* nets that were written: 1, or those of an ensemble; 0: a chain */
    size_t layers, learned;
    int dropped;     /* standardisation or class names had no place under the names chosen */
    char order[256]; /* a chain's layers as they were taken to follow each other, "0, 2, 4", cut where long */
} sph_converted;

/* in: a file of weights, or a run folder, which stands for its model. result may be NULL. */
int sph_convert(const char *in, const char *out, const sph_convert_opts *opts, sph_converted *result);

#endif
