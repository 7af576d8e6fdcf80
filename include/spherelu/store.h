/* SPDX-License-Identifier: MIT
 *
 * Networks in files. */
#ifndef SPHERELU_STORE_H
#define SPHERELU_STORE_H

#include "spherelu/net.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Files are safetensors. Without a description a file is read if its tensors are those of torchvision's
 * resnet18 or resnet50 (images of 224 x 224), or dense layers PATH.weight, PATH.bias (or of another
 * parameterization) and nothing else: a chain with relu between. f16 and bf16 become f32. */
SPH_API int sph_net_save(const sph_net *net, const char *path);
SPH_API int sph_net_open(sph_net **out, const char *path);

/* The same bytes without a file: piece by piece into a sink, and from memory, which is needed for the call only. */
SPH_API int sph_net_write(const sph_net *net, const sph_sink *to);
SPH_API int sph_net_read(sph_net **out, const void *bytes, size_t length);

/* Under other names: torchvision's are for its resnets, sp with bn; standardisation and class names do not go
 * along. */
SPH_API int sph_net_save_as(const sph_net *net, const char *path, sph_names names);

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
SPH_API int sph_convert(const char *in, const char *out, const sph_convert_opts *opts, sph_converted *result);

/* Takes the learned numbers of a file, under our names or torchvision's: every learned tensor of the net must
 * be there and no other. */
SPH_API int sph_net_load_tensors(sph_net *net, const char *path);

/* The same for a net that is to learn something else: the output layer stays as it is, whatever the file has in its
 * place; all other learned tensors, and what the file's description says of the layers, must be the net's. */
SPH_API int sph_net_load_body(sph_net *net, const char *path);

/* The net as an ONNX graph, f32: X (N, features) or (N, channels, height, width) in the units of its data, N open, and
 * scores (N, outputs), as sph_net_forward gives them. sph_run_export has predictions instead. */
enum {
    SPH_EXPORT_RAW = 1,    /* scores, no predictions                            */
    SPH_EXPORT_KEEP_BN = 2 /* bn stays a node of its own, else it is folded in  */
};

typedef struct sph_export_opts {
    int opset; /* 12 to 22; 0: 13 */
    int flags; /* SPH_EXPORT_...  */
} sph_export_opts;

/* opts may be NULL: all 0. */
SPH_API int sph_net_export(const sph_net *net, const char *path, const sph_export_opts *opts);

/* A net from an ONNX graph of dense layers, convolutions, bn, relu, leaky_relu, elu, pools and additions, as torch and
 * skl2onnx write them; another node is refused by its name. Numbers before the first layer become standardisation. What comes
 * behind the last (softmax, labels) is left out: the net gives scores. The graph is then computed on random rows, operator by
 * operator; SPH_EFORMAT: the net gives something else. result may be NULL. */
typedef struct sph_imported {
    size_t nodes, dropped; /* of the graph; those of them that were left out */
    char first[128];       /* the first of these, "name (op)"; "": none      */
    size_t members;        /* nets: 1, or those of an ensemble */
    size_t rows;           /* random rows that were compared; 0: the graph is too large for that */
    size_t learned;        /* sph_import: numbers of all nets */
    sph_net *net;          /* sph_import: what was written, caller frees; of an ensemble its first member */
} sph_imported;

SPH_API int sph_net_import(sph_net **out, const char *path, sph_imported *result);

/* From ONNX to a model file. A graph that gives the mean of several nets, as sph_run_export makes it of an ensemble, becomes a file
 * with all of them; sph_net_import refuses it. result may be NULL. */
SPH_API int sph_import(const char *in, const char *out, sph_imported *result);

/* Removes the temporary files of calls that are under way. For the signal handler of a program that is about to end: it
 * only calls unlink. Such calls then fail. */
SPH_API void sph_remove_unfinished(void);

#ifdef __cplusplus
}
#endif

#endif
