/* SPDX-License-Identifier: MIT
 *
 * Networks: a graph of layers and its parameters. */
#ifndef SPHERELU_NET_H
#define SPHERELU_NET_H

#include "spherelu/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- networks
 * A net is a description (a graph of layers) and its parameters. Build it node by node, then call
 * sph_net_ready(), which infers the shapes, allocates the parameters and initializes them. sph_net_mlp()
 * does all of this for an MLP. */

typedef struct sph_net sph_net;

/* Details in which implementations differ; zeros are the defaults. This struct does not grow: a new detail becomes a
 * field of the structs that contain it. */
typedef struct sph_details {
    double norm_epsilon;         /* added to a variance before its square root; 0: 1e-5               */
    sph_imn_place imn_at;        /* position of imn                                                   */
    sph_mbn_bias mbn_bias;       /* the bias of a layer under mbn                                     */
    sph_angle_order angle_order; /* order of a convolution's inputs in the angles of gmp              */
    sph_fan_out fan_out;         /* fan-out of a convolution in Glorot initialization                 */
} sph_details;

/* One weight layer: s * act(norm(W x + b)). If all fields but size and units are 0, it is a plain linear layer. */
typedef struct sph_layer {
    size_t size;      /* sizeof(sph_layer) */
    const char *path; /* "layers.0"; NULL: layers.K, K counting weight layers */
    size_t units;     /* m */
    sph_param param;
    sph_norm norm;
    sph_act act;
    sph_init init;
    size_t norm_groups; /* gn: number of groups, a divisor of units; 0: 32, or the largest of 16, 8, 4, 2, 1
                           with groups of 4 or more units */

    /* conv: size of the square window, its stride, and zeros around the image; dense: all 0 */
    size_t kernel, stride, pad;
    /* conv: number of groups into which channels and units are divided, in their order; a unit reads only the
     * channels of its group. groups = channels: depthwise. 0 or 1: no groups */
    size_t groups;

    /* sp, wn: constants PATH.r of +-1 scale the output; a conversion adds them if a sign cannot be folded */
    int signs;
    sph_details details;
} sph_layer;

SPH_API int sph_net_new(sph_net **out, sph_dtype dtype);
SPH_API void sph_net_free(sph_net *net);

/* Each returns the new node's number (>= 0) or an error. */
SPH_API int sph_net_input(sph_net *net, size_t features);
SPH_API int sph_net_dense(sph_net *net, int from, const sph_layer *spec);

/* Images: values of a node are (channels, height, width). Pools work on each channel; the global pool averages
 * all pixels and gives (channels, 1, 1), which a dense layer can read. */
SPH_API int sph_net_image(sph_net *net, size_t channels, size_t height, size_t width);
SPH_API int sph_net_conv(sph_net *net, int from, const sph_layer *spec);
SPH_API int sph_net_max_pool(sph_net *net, int from, size_t kernel, size_t stride, size_t pad);
SPH_API int sph_net_avg_pool(sph_net *net, int from, size_t kernel, size_t stride, size_t pad);
SPH_API int sph_net_global_pool(sph_net *net, int from);

/* A residual addition; a separate activation (not srelu, which must belong to a layer). */
SPH_API int sph_net_add(sph_net *net, int a, int b);
SPH_API int sph_net_act(sph_net *net, int from, sph_act act);

/* Ends the description; output is the node that gives the result of the net. */
SPH_API int sph_net_ready(sph_net *net, int output, uint64_t seed);

typedef struct sph_mlp {
    size_t size; /* sizeof(sph_mlp) */
    sph_dtype dtype;
    size_t inputs, outputs;
    const size_t *hidden; /* (depth) */
    size_t depth;
    sph_param param;
    sph_norm norm;
    sph_act act;
    sph_init init;
    size_t norm_groups; /* as in sph_layer */
    uint64_t seed;
    sph_details details; /* of every layer */
    int wn_output;       /* wn: parameterize the output layer too; otherwise it is plain */
} sph_mlp;

SPH_API int sph_net_mlp(sph_net **out, const sph_mlp *spec);

/* Image networks. Every convolution has the given parameterization, the classifier is plain; imn at the
 * input is not used in the first convolution. vgg6: 3x3 convs of 128, 128, 256, 256, 512, 512 units, a max pool after each
 * pair, the mean of all pixels, layers.6. The resnets are those of torchvision with the same paths (conv1,
 * layer1.0.conv1, layer1.0.downsample.0, fc); the small stem has a 3x3 conv1 of stride 1 and no pool instead.
 * wrn28_2 has that stem with 16 units and three stages of four pairs of 3x3 convs of 32, 64, 128
 * units, each conv followed by its normalization and activation (in the original they
 * come first). mobile: the first version of MobileNet, a 3x3 conv of 32 units, then
 * thirteen pairs of a depthwise 3x3 conv and a 1x1 conv of 64, 128, 128, 256, 256, 6 x 512, 1024, 1024 units,
 * the mean of all pixels, layers.27; the size is halved when the units double, and also by the first conv for
 * images of at least 96 x 96. */
typedef struct sph_image_net {
    size_t size; /* sizeof(sph_image_net) */
    sph_dtype dtype;
    size_t channels, height, width, classes;
    double scale;  /* factor on all widths; 0: 1 */
    sph_stem stem; /* of the resnets */
    sph_param param;
    sph_norm norm;
    sph_act act;
    sph_init init;
    size_t norm_groups; /* as in sph_layer */
    uint64_t seed;
    sph_details details; /* of every layer */
    int wn_output;       /* wn: parameterize the output layer too; otherwise it is plain */
} sph_image_net;

/* kind: any except SPH_NET_MLP, for which use sph_net_mlp. */
SPH_API int sph_net_zoo(sph_net **out, sph_net_kind kind, const sph_image_net *spec);

SPH_API int sph_net_copy(sph_net **out, const sph_net *net);

/* A text that belongs to the net and is kept by copies and conversions. For saving it must be a
 * JSON object; the net of a run folder has one that describes the columns of its data. "" or NULL: none. */
SPH_API const char *sph_net_note(const sph_net *net); /* borrowed */
SPH_API int sph_net_set_note(sph_net *net, const char *text);

SPH_API sph_dtype sph_net_dtype(const sph_net *net);
SPH_API size_t sph_net_inputs(const sph_net *net);
SPH_API size_t sph_net_outputs(const sph_net *net);
SPH_API size_t sph_net_layers(const sph_net *net);  /* weight layers           */
SPH_API size_t sph_net_learned(const sph_net *net); /* number of parameters    */
SPH_API const sph_layer *sph_net_layer(const sph_net *net, size_t k, size_t *inputs); /* borrowed */

/* y (rows, outputs) <- x (rows, inputs), in evaluation mode. The arrays are f64 for nets of any
 * dtype. */
SPH_API int sph_net_forward(sph_net *net, const double *x, size_t rows, double *y);

/* Weights of a layer: w (m,n), b (m), s (m); any may be NULL. */
SPH_API int sph_net_weight(const sph_net *net, size_t k, double *w, double *b, double *s);

/* Named tensors (PATH.theta, PATH.norm.mean, ...), learned ones first. */
typedef struct sph_tensor {
    char name[128];
    size_t shape[4], ndim, count;
    int learned;     /* 0: running statistic or constant */
    sph_group group; /* if it is learned */
} sph_tensor;

SPH_API size_t sph_net_tensors(const sph_net *net);
SPH_API int sph_net_tensor(const sph_net *net, size_t i, sph_tensor *out);
SPH_API int sph_net_get(const sph_net *net, const char *name, double *values, size_t count);
SPH_API int sph_net_set(sph_net *net, const char *name, const double *values, size_t count);

/* Weights alone, for programs with other network code: w (m, n) = length (m) times the direction of `first`. Arrays are float or
 * double according to dtype. SPH_PARAM_GMP: first has angles (m, n-1), n is 2 or more, and gradients are computed without a
 * division, so that poles are not special. SPH_PARAM_SPHERE: first has vectors (m, n) of any length, n is 1 or more; a vector of 0
 * gives 0 and has gradient 0. length NULL: 1. kept, for SPH_PARAM_GMP: (m, sph_directions_kept(n)) values that the gradient would
 * otherwise compute again; NULL: none. Backward: dfirst, of the shape of first, and dlength (m) from dw (m, n). */
typedef struct sph_weights_grads {
    const void *first, *length, *kept, *dw; /* length and kept may be NULL, as in sph_weights */
    void *dfirst, *dlength;                 /* dlength NULL: not needed                        */
} sph_weights_grads;

SPH_API size_t sph_directions_kept(size_t n);
SPH_API int sph_weights(sph_dtype dtype, sph_param param, size_t m, size_t n, const void *first,
                        const void *length, void *w, void *kept, int threads);
SPH_API int sph_weights_grad(sph_dtype dtype, sph_param param, size_t m, size_t n,
                             const sph_weights_grads *of, int threads);

/* The inverse for SPH_PARAM_GMP: the angles theta (m, n-1) of the rows of w (m, n), 0 for a row of zeros, and their lengths (m). */
SPH_API int sph_directions_of(sph_dtype dtype, size_t m, size_t n, const void *w, void *theta, void *length);

/* The same function in another parameterization of the hidden layers; the output layer stays plain. For
 * gmp and sphere, the running statistics of bn are folded into the weights. */
enum {
    SPH_CONVERT_STRICT = 1, /* fail if negative scales cannot be folded away, instead of keeping them      */
    SPH_CONVERT_KEEP_BN = 2 /* keep bn, with rescaled mean and variance                                   */
};
SPH_API int sph_net_convert(sph_net **out, const sph_net *net, sph_param to, int flags);

#ifdef __cplusplus
}
#endif

#endif
