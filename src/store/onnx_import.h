/* SPDX-License-Identifier: MIT
 *
 * The inside of an import: the nodes of a graph, in their order, become steps; what is affine becomes part of the step
 * before it; the steps that the output needs become a net. */
#ifndef SPH_STORE_ONNX_IMPORT_H
#define SPH_STORE_ONNX_IMPORT_H

#include "base/levels.h"
#include "net/net.h"
#include "store/onnx_read.h"

enum step_kind { STEP_INPUT, STEP_LAYER, STEP_POOL, STEP_SUM, STEP_ACT };
enum { STEP_NORM = 4 }; /* scale, shift, mean, var */

struct step {
    enum step_kind kind;
    int in[2];
    size_t channels, height, width; /* of what it gives */
    int flat;                       /* (N, C), else (N, C, H, W) */
    int needed, node;               /* the output depends on it; its place in the net */
    /* ---- layers */
    char path[96];
    int conv;
    size_t kernel, stride, pad, groups, n; /* n inputs of a unit; channels is their number */
    double *w, *b;                         /* (m, n), (m) */
    double *norm[STEP_NORM], epsilon;      /* (m); NULL: none */
    double *sign;                          /* (m) behind the activation; NULL: none */
    sph_act act;                           /* layers and STEP_ACT */
    /* ---- STEP_POOL */
    enum node_kind pool;
    int whole; /* all pixels */
    /* ---- STEP_INPUT: what becomes of x */
    double *mean, *scale, *fill; /* (features); NULL: none */
};

enum value_kind { VALUE_NONE, VALUE_CONSTANT, VALUE_STEP, VALUE_HEAD, VALUE_MISSING };

struct value {
    enum value_kind kind;
    size_t reads;               /* of this name, that are not yet done with */
    const Onnx__Tensor *tensor; /* VALUE_CONSTANT */
    int step;                   /* others         */
};

struct import {
    struct onnx_file file;
    struct levels names;
    struct value *value; /* (values) by number of the name */
    size_t values, value_capacity;
    struct step *step;
    size_t steps, step_capacity;
    int is_double;       /* some constant is */
    struct levels paths; /* of layers */
    size_t numbers;      /* that were read so far */
    size_t dropped;
    const Onnx__Node *first_dropped;
};

/* The node's steps. SPH_EFORMAT names it. (onnx_ops.c) */
int import_node(struct import *import, const Onnx__Node *node);

/* What a name stands for. NULL: out of memory. (onnx_import.c) */
struct value *import_value(struct import *import, const char *name);

/* A new step, zeroed but for in; NULL: out of memory. (onnx_import.c) */
struct step *import_step(struct import *import, enum step_kind kind, int a, int b);

/* The node's first result is this. (onnx_import.c) */
int import_give(struct import *import, const Onnx__Node *node, enum value_kind kind, int step);

#endif
