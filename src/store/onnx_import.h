/* SPDX-License-Identifier: MIT
 *
 * The inside of an import: the nodes of a graph become steps, in their order; affine operations are merged
 * into the step before; the steps that the output needs become a network. */
#ifndef SPH_STORE_ONNX_IMPORT_H
#define SPH_STORE_ONNX_IMPORT_H

#include "base/levels.h"
#include "net/net.h"
#include "store/onnx_read.h"

enum step_kind { STEP_INPUT, STEP_LAYER, STEP_MAX_POOL, STEP_MEAN_POOL, STEP_SUM, STEP_ACT };
enum { STEP_NORM = 4 }; /* scale, shift, mean, var */

struct sliding {
    size_t kernel, stride, pad;
};

struct step {
    enum step_kind kind;
    int in[2];
    size_t channels, height, width; /* of what it gives */
    int needed, node;               /* the output depends on it; its place in the net */
    int leaf, scored;               /* of a sum that takes a constant; read by what is left out */
    size_t name;                    /* number of the name of its value */
    /* ---- layers */
    char path[96];
    struct sliding window;            /* kernel 0: a dense layer, or a pool of all pixels */
    size_t groups, n;                 /* n inputs of a unit; channels is their number */
    double *w, *b;                    /* (m, n), (m) */
    double *norm[STEP_NORM], epsilon; /* (m); NULL: none */
    double *sign;                     /* (m) behind the activation; NULL: none */
    sph_act act;                      /* layers and STEP_ACT */
};

enum value_kind {
    VALUE_NONE,
    VALUE_CONSTANT,
    VALUE_STEP,
    VALUE_HEAD, /* of one step, or of SEVERAL */
    VALUE_MISSING,
    VALUE_SIDE /* what a node gives beside its first result */
};
enum { SEVERAL = -2 };

/* Identity, Dropout, Cast, Flatten and Reshape give the same numbers under another name: all names of a value have one root,
 * and what reads any of them reads the value. A shape belongs to a name. */
struct value {
    enum value_kind kind;
    size_t root;                /* number of the name, + 1; 0: it is its own */
    size_t reads;               /* of the root: how often the value is read, under all its names */
    const Onnx__Tensor *tensor; /* VALUE_CONSTANT */
    int step;                   /* others         */
    int flat;                   /* (N, C), else (N, C, H, W) */
};

struct import {
    struct onnx_file file;
    struct levels names;
    struct value *value; /* (values) by number of the name */
    size_t values, value_capacity;
    struct step *step;
    size_t steps, step_capacity;
    struct scaling x;    /* what becomes of the input: mean, scale and fill, or NULL */
    int is_double;       /* some constant is */
    struct levels paths; /* of layers */
    size_t numbers;      /* that were read so far */
    size_t dropped;
    const Onnx__Node *first_dropped;
    int softmax, logistic, exponent; /* are among what was left out */
};

/* The node's steps. SPH_EFORMAT names it. (onnx_ops.c) */
int import_node(struct import *import, const Onnx__Node *node);

/* What a name stands for. NULL: out of memory. (onnx_import.c) */
struct value *import_value(struct import *import, const char *name);

/* The value of which this is a name. (onnx_import.c) */
struct value *import_root(struct import *import, struct value *value);

/* A new step, zeroed but for in; NULL: out of memory. (onnx_import.c) */
struct step *import_step(struct import *import, enum step_kind kind, int a, int b);

/* The layers that a sum adds up, each without activation and read by nothing else, are marked `leaf`. Returns how many;
 * 0: there is something else among them. (onnx_affine.c) */
size_t import_leaves(struct import *import, int sum);

/* (onnx_affine.c) */
void import_scale_layer(struct step *layer, size_t unit, double factor);

/* The node's first result is this; of VALUE_HEAD all its results. (onnx_import.c) */
int import_give(struct import *import, const Onnx__Node *node, enum value_kind kind, int step, int flat);

/* *out (count), as model_free_members frees them, <- the nets that step `output` ends, or SEVERAL, compared with the graph in f64;
 * where all constants are f32, so are the nets then. rows: as onnx_check has it. (onnx_net.c) */
int import_nets(struct import *import, int output, sph_net ***out, size_t *count, size_t *rows);

#endif
