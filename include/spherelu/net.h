/* SPDX-License-Identifier: MIT
 *
 * Networks: a graph of layers and its learned numbers. */
#ifndef SPHERELU_NET_H
#define SPHERELU_NET_H

#include "spherelu/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- networks
 * A net is a description (a graph of layers) and its learned numbers. Build it node by node, then
 * sph_net_ready() infers the shapes, lays out the numbers and draws their first values; or let sph_net_mlp()
 * do all of it. */

typedef struct sph_net sph_net;

/* Fine points on which other code differs; zeroes are what is usual here. This struct does not grow: a new point becomes a
 * field of the structs that hold it. */
typedef struct sph_details {
    double norm_epsilon;         /* added to a variance before its root is taken; 0: 1e-5             */
    sph_imn_place imn_at;        /* where imn stands                                                  */
    sph_mbn_bias mbn_bias;       /* the bias of a layer under mbn                                     */
    sph_angle_order angle_order; /* in which order a conv's inputs take the angles of gmp             */
    sph_fan_out fan_out;         /* what Glorot's start of a conv counts as fan out                   */
} sph_details;

/* One weight layer: s * act(norm(W x + b)). Zeroes, but for size and units, mean: a plain linear layer. */
typedef struct sph_layer {
    size_t size;      /* sizeof(sph_layer) */
    const char *path; /* "layers.0"; NULL: layers.K, K counting weight layers */
    size_t units;     /* m */
    sph_param param;
    sph_norm norm;
    sph_act act;
    sph_init init;
    size_t norm_groups; /* gn: groups of units, which they divide; 0: 32, or the most of 16, 8, 4, 2, 1 that
                           divide them into groups of 4 or more */

    /* conv: a window of kernel x kernel, every stride pixels, pad zeros around the image; dense: 0 each */
    size_t kernel, stride, pad;
    /* conv: channels and units fall into so many groups, in their order, and a unit reads its own group's
     * channels only; as many as channels: depthwise. 0 or 1: no groups */
    size_t groups;

    /* sp, wn: constants PATH.r of +-1 scale the output; a conversion leaves them where a sign cannot pass */
    int signs;
    sph_details details;
} sph_layer;

SPH_API int sph_net_new(sph_net **out, sph_dtype dtype);
SPH_API void sph_net_free(sph_net *net);

/* Each returns the new node's number (>= 0) or an error. */
SPH_API int sph_net_input(sph_net *net, size_t features);
SPH_API int sph_net_dense(sph_net *net, int from, const sph_layer *spec);

/* Images: values of a node are (channels, height, width). Pools act on each channel; the global one averages
 * all pixels and leaves (channels, 1, 1), which a dense layer takes. */
SPH_API int sph_net_image(sph_net *net, size_t channels, size_t height, size_t width);
SPH_API int sph_net_conv(sph_net *net, int from, const sph_layer *spec);
SPH_API int sph_net_max_pool(sph_net *net, int from, size_t kernel, size_t stride, size_t pad);
SPH_API int sph_net_avg_pool(sph_net *net, int from, size_t kernel, size_t stride, size_t pad);
SPH_API int sph_net_global_pool(sph_net *net, int from);

/* A residual addition; an activation by itself (srelu belongs to a layer). */
SPH_API int sph_net_add(sph_net *net, int a, int b);
SPH_API int sph_net_act(sph_net *net, int from, sph_act act);

/* Ends the description; output is the node whose values the net returns. */
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
    size_t norm_groups; /* as of a layer */
    uint64_t seed;
    sph_details details; /* of every layer */
    int wn_output;       /* under wn the output layer is wn, too; else it is plain */
} sph_mlp;

SPH_API int sph_net_mlp(sph_net **out, const sph_mlp *spec);

/* Networks for images. Every conv is of the given parameterization, the classifier is plain; imn at the
 * input leaves the first conv's alone. vgg6: 3x3 convs of 128, 128, 256, 256, 512, 512 units, a max pool after each
 * pair, the mean of all pixels, layers.6. The resnets are torchvision's, paths included (conv1,
 * layer1.0.conv1, layer1.0.downsample.0, fc), or with the small stem a 3x3 conv1 of stride 1 and no pool in the
 * place of theirs. wrn28_2 has that stem of 16 units and three stages of four pairs of 3x3 convs of 32, 64, 128
 * units, each conv with its normalization and activation behind it as everywhere here (the original has them
 * before). mobile: MobileNet's first version, a 3x3 conv of 32 units, then
 * thirteen pairs of a depthwise 3x3 conv and a 1x1 conv of 64, 128, 128, 256, 256, 6 x 512, 1024, 1024 units,
 * the mean of all pixels, layers.27; the size is halved where the units double, and by the first conv too in
 * images of at least 96 x 96. */
typedef struct sph_image_net {
    size_t size; /* sizeof(sph_image_net) */
    sph_dtype dtype;
    size_t channels, height, width, classes;
    double scale;  /* of all widths; 0: 1 */
    sph_stem stem; /* of the resnets */
    sph_param param;
    sph_norm norm;
    sph_act act;
    sph_init init;
    size_t norm_groups; /* as of a layer */
    uint64_t seed;
    sph_details details; /* of every layer */
    int wn_output;       /* under wn the output layer is wn, too; else it is plain */
} sph_image_net;

/* kind: any but SPH_NET_MLP, which sph_net_mlp makes. */
SPH_API int sph_net_zoo(sph_net **out, sph_net_kind kind, const sph_image_net *spec);

SPH_API int sph_net_copy(sph_net **out, const sph_net *net);

/* A text that goes where the net goes, copies and conversions included. To be saved it has to be a
 * JSON object; a net from a run folder's model has one that describes the columns of its data. "" or NULL: none. */
SPH_API const char *sph_net_note(const sph_net *net); /* borrowed */
SPH_API int sph_net_set_note(sph_net *net, const char *text);

SPH_API sph_dtype sph_net_dtype(const sph_net *net);
SPH_API size_t sph_net_inputs(const sph_net *net);
SPH_API size_t sph_net_outputs(const sph_net *net);
SPH_API size_t sph_net_layers(const sph_net *net);  /* weight layers           */
SPH_API size_t sph_net_learned(const sph_net *net); /* learned numbers in all  */
SPH_API const sph_layer *sph_net_layer(const sph_net *net, size_t k, size_t *inputs); /* borrowed */

/* y (rows, outputs) <- x (rows, inputs), in evaluation mode. f64 at the interface whatever the net computes
 * in. */
SPH_API int sph_net_forward(sph_net *net, const double *x, size_t rows, double *y);

/* The materialised layer: w (m,n), b (m), s (m); any may be NULL. */
SPH_API int sph_net_weight(const sph_net *net, size_t k, double *w, double *b, double *s);

/* Named tensors (PATH.theta, PATH.norm.mean, ...), learned ones first. */
typedef struct sph_tensor {
    char name[128];
    size_t shape[4], ndim, count;
    int learned;     /* 0: running statistic or constant */
    sph_group group; /* of a learned one */
} sph_tensor;

SPH_API size_t sph_net_tensors(const sph_net *net);
SPH_API int sph_net_tensor(const sph_net *net, size_t i, sph_tensor *out);
SPH_API int sph_net_get(const sph_net *net, const char *name, double *values, size_t count);
SPH_API int sph_net_set(sph_net *net, const char *name, const double *values, size_t count);

/* Directions by themselves, for programs that have networks of their own: u (m, n) <- the angles theta (m, n-1), and
 * back, dtheta (m, n-1) <- du (m, n), the gradient with respect to u, without a division, so that poles are as good as
 * any place. n 2 or more; float or double as dtype says; on as many threads as are asked for. kept: (m,
 * sph_directions_kept(n)) numbers that the gradient would else compute again; NULL: none. */
SPH_API size_t sph_directions_kept(size_t n);
SPH_API int sph_directions(sph_dtype dtype, size_t m, size_t n, const void *theta, void *u, void *kept,
                           int threads);
SPH_API int sph_directions_grad(sph_dtype dtype, size_t m, size_t n, const void *theta, const void *kept,
                                const void *du, void *dtheta, int threads);

/* Weights by themselves, likewise, in one call: w (m, n) = length (m) times the direction of `first`, which is angles (m, n-1) for
 * SPH_PARAM_GMP, and vectors (m, n) of any length for SPH_PARAM_SPHERE (n 1 or more; 0 gives 0, and has gradient 0). kept: as
 * above, for SPH_PARAM_GMP. Backward: dfirst, of the shape of first, and dlength (m). */
typedef struct sph_weights_grads {
    const void *first, *length, *kept, *dw; /* kept or NULL */
    void *dfirst, *dlength;
} sph_weights_grads;

SPH_API int sph_weights(sph_dtype dtype, sph_param param, size_t m, size_t n, const void *first,
                        const void *length, void *w, void *kept, int threads);
SPH_API int sph_weights_grad(sph_dtype dtype, sph_param param, size_t m, size_t n,
                             const sph_weights_grads *of, int threads);

/* Angles of the rows of w (m, n), 0 for a row of zeroes, and their lengths (m). */
SPH_API int sph_directions_of(sph_dtype dtype, size_t m, size_t n, const void *w, void *theta, void *length);

/* The same function in another parameterization (hidden layers; the output layer stays plain). On the way to
 * gmp and sphere bn becomes part of the weights, by its running statistics. */
enum {
    SPH_CONVERT_STRICT = 1, /* refuse where negative scales cannot be folded away, instead of keeping them  */
    SPH_CONVERT_KEEP_BN = 2 /* bn stays: its mean and variance are rescaled instead                        */
};
SPH_API int sph_net_convert(sph_net **out, const sph_net *net, sph_param to, int flags);

#ifdef __cplusplus
}
#endif

#endif
