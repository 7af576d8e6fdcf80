/* SPDX-License-Identifier: MIT
 *
 * Convolutions of f32 images in blocks of channels (onednn.h says how they lie): our Winograd kernels where
 * they apply and oneDNN has none, oneDNN elsewhere. One object serves one worker of a plan. */
#ifndef SPH_COMPUTE_CONV_H
#define SPH_COMPUTE_CONV_H

#include "compute/kernels.h"

/* Channels of a block on this processor, or 0 where blocked images cannot
 * be had: no oneDNN, or not these kernels. */
size_t conv_block(const struct kernels *k);

struct conv;

struct conv_spec {
    const struct kernels *k;
    struct window window;
    size_t units, images, block;
    sph_conv way;
    int train, input_grad; /* backward passes; the gradient of the images too */
};

int conv_new(struct conv **out, const struct conv_spec *spec);
void conv_free(struct conv *conv);
size_t conv_scratch(const struct conv *conv); /* bytes, aligned as mem_get's */
int conv_is_winograd(const struct conv *conv);

/* images: at most the spec's. As many as that run at full speed, fewer one by one where oneDNN does it.
 * y = [relu] (w * x [+ bias]), w (n, ldw) unit-minor, bias (units) or NULL */
void conv_forward(struct conv *conv, size_t images, const float *x, const float *w, size_t ldw,
                  const float *bias, int relu, float *y, void *scratch);
/* dx = or, with add, += */
void conv_backward_data(struct conv *conv, size_t images, const float *dy, const float *w, size_t ldw,
                        int add, float *dx, void *scratch);
/* dw (n, ldw) += */
void conv_backward_weights(struct conv *conv, size_t images, const float *x, const float *dy, float *dw,
                           size_t ldw, void *scratch);

#endif
