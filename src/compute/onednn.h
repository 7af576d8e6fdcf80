/* SPDX-License-Identifier: MIT
 *
 * oneDNN, versions 2 and 3 behind one face: f32 convolutions of images that lie in blocks of channels. No
 * other file includes dnnl.h. In a build without oneDNN onednn_block() is 0 and the calls that can fail do.
 *
 * Images: (images, blocks, pixels, block), channel c of a pixel in block c / block at place c % block; the
 * channels that fill up the last block hold 0 and are kept so. Weights: (n, ldw) unit-minor as everywhere,
 * n = channels / groups * kernel area; they are brought to oneDNN's layout at each call, which costs little
 * beside the convolution.
 *
 * One object serves one thread at a time; every call runs on the calling thread alone, whatever OpenMP's
 * settings are. Calls allocate nothing: what they need beyond their arguments is `scratch`,
 * onednn_conv_scratch() bytes aligned to MEM_ALIGN, whose contents nobody keeps. */
#ifndef SPH_COMPUTE_ONEDNN_H
#define SPH_COMPUTE_ONEDNN_H

#include <stddef.h>

#include "compute/kernels.h"

/* Channels of a block, as this processor likes them: 8, or 16 with AVX-512; 0 without oneDNN. */
size_t onednn_block(void);

/* "2.6.3", or NULL without oneDNN. */
const char *onednn_version(void);

struct onednn_conv;

struct onednn_conv_spec {
    struct window window;
    size_t units, images;
    size_t groups;  /* each unit reads the channels of its own group; 0 or 1: all */
    size_t block;   /* of the layout: onednn_block(), or 8 or 16 in tests */
    int direct;     /* no Winograd                                        */
    int train;      /* backward passes too                                */
    int input_grad; /* in training: also the gradient of the images       */
};

/* SPH_EARG with the shape in the message where oneDNN cannot do it. */
int onednn_conv_new(struct onednn_conv **out, const struct onednn_conv_spec *spec);
void onednn_conv_free(struct onednn_conv *conv);
size_t onednn_conv_scratch(const struct onednn_conv *conv);

/* Whether oneDNN itself computes the forward pass by Winograd's algorithm. */
int onednn_conv_is_winograd(const struct onednn_conv *conv);

/* Whether oneDNN has nothing but its reference code for one of the passes: slow beyond use. */
int onednn_conv_is_reference(const struct onednn_conv *conv);

/* y = w * x [+ bias]; bias (units) or NULL. ldw is kernel_pad(units), here and below. (No relu: oneDNN's
 * makes 0 of a NaN.) */
void onednn_conv_forward(struct onednn_conv *conv, const float *x, const float *w, size_t ldw,
                         const float *bias, float *y, void *scratch);
/* dx = */
void onednn_conv_backward_data(struct onednn_conv *conv, const float *dy, const float *w, size_t ldw,
                               float *dx, void *scratch);
/* dw (n, ldw) += */
void onednn_conv_backward_weights(struct onednn_conv *conv, const float *x, const float *dy, float *dw,
                                  size_t ldw, void *scratch);

/* 0 as long as every pass was computed; afterwards a failure that says so. Who uses what passes gave asks before. */
int onednn_conv_check(const struct onednn_conv *conv);

/* Seconds of the bare primitives of one training step (forward, weight gradient and, where wanted, input
 * gradient; forward alone without spec->train) on one thread, each alone on buffers in the layouts it likes
 * best, best of `repeats` after a warm-up. */
int onednn_conv_time(const struct onednn_conv_spec *spec, size_t repeats, double *seconds);

#endif
