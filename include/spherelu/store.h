/* SPDX-License-Identifier: MIT
 *
 * Networks in files. */
#ifndef SPHERELU_STORE_H
#define SPHERELU_STORE_H

#include "spherelu/net.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Files are safetensors. A file without a description can be read if its tensors are those of torchvision's
 * resnet18 or resnet50 (images of 224 x 224), or only dense layers PATH.weight, PATH.bias (or of another
 * parameterization), which are read as a chain with relu in between. f16 and bf16 become f32. */
SPH_API int sph_net_save(const sph_net *net, const char *path);
SPH_API int sph_net_open(sph_net **out, const char *path);

/* The same bytes without a file: in pieces into a sink, and from memory, which is only needed during the call. */
SPH_API int sph_net_write(const sph_net *net, const sph_sink *to);
SPH_API int sph_net_read(sph_net **out, const void *bytes, size_t length);

/* Loads the learned tensors of a file, with our names or torchvision's: it must have every learned tensor of the net
 * and no other. */
SPH_API int sph_net_load_tensors(sph_net *net, const char *path);

/* Options of sph_nets_export. */
enum {
    SPH_EXPORT_RAW = 1,    /* scores of one net as in sph_net_forward           */
    SPH_EXPORT_KEEP_BN = 2 /* keep bn as a separate node instead of folding it  */
};

typedef struct sph_export_opts {
    size_t size; /* sizeof(sph_export_opts) */
    int opset;   /* 12 to 22; 0: 13 */
    int flags;   /* SPH_EXPORT_...  */
} sph_export_opts;

/* Nets from an ONNX graph of dense layers, convolutions, bn, relu, leaky_relu, elu, pools and additions, as torch and
 * skl2onnx write them; other operators are an error with the name of the node. Operations before the first layer become standardization.
 * Everything after the last layer (softmax, labels) is left out: the net gives scores. The graph is then computed on random rows,
 * operator by operator, and the call fails with SPH_EFORMAT if the net differs. A graph with the mean of several nets, as
 * sph_nets_export writes it for an ensemble, gives them all. Caller frees with sph_nets_free. result may be NULL. */
typedef struct sph_imported {
    size_t nodes, dropped; /* of the graph; nodes that were left out         */
    char first[128];       /* the first one left out, "name (op)"; "": none   */
    size_t rows;           /* compared random rows; 0: the graph is too large for this */
} sph_imported;

SPH_API int sph_nets_import(sph_net ***out, size_t *count, const char *path, sph_imported *result);

#ifdef __cplusplus
}
#endif

#endif
