/* SPDX-License-Identifier: MIT
 *
 * Convolutions for every layout of images, by the fastest algorithm: Winograd, depthwise kernels, oneDNN,
 * or products for each tap or of patches (conv_way.h lists them). Images are rows of pixels, or f32 in
 * blocks of channels as in onednn.h. With `groups` groups, unit j reads only the channels / groups channels
 * of its group. One object serves one worker of a plan. */
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
    size_t units, images;
    size_t groups; /* divides channels and units; 1: none */
    size_t block;  /* 0: all channels of a pixel lie side by side */
    sph_conv way;
    int train, input_grad; /* backward passes; the gradient of the images too */
};

int conv_new(struct conv **out, const struct conv_spec *spec);
void conv_free(struct conv *conv);
size_t conv_scratch(const struct conv *conv);       /* bytes, aligned as mem_get's */
const char *conv_way_name(const struct conv *conv); /* "winograd", "depthwise", "taps", "onednn", "patches" */

/* The numbers of one pass. Leading dimensions of images count for rows of pixels only. */
struct conv_call {
    size_t images; /* at most the spec's */
    const void *x; /* images */
    size_t ldx;
    const void *w; /* (n, ldw) unit-minor, n = channels / groups * kernel area */
    size_t ldw;
    const void *wt; /* (units, ldwt) the same turned, where somebody has it, or NULL */
    size_t ldwt;
    void *scratch;

    const void *bias; /* forward: (units), padded as ldw, or NULL */
    int relu;
    void *y;
    size_t ldy;

    const void *dy; /* backward */
    size_t lddy;
    void *dx;
    size_t lddx;
    int add;  /* to dx what comes */
    void *dw; /* (n, ldw) */
};

void conv_forward(struct conv *conv, const struct conv_call *call);          /* y = [relu] (w * x [+ bias]) */
void conv_backward_data(struct conv *conv, const struct conv_call *call);    /* dx = or, with add, +=       */
void conv_backward_weights(struct conv *conv, const struct conv_call *call); /* dw +=                       */

/* 0, or an error where a library did not compute one of the passes so far: what they gave is nothing to go on with. */
int conv_check(const struct conv *conv);

#endif
