/* SPDX-License-Identifier: MIT
 *
 * 3x3 convolutions of stride 1 by Winograd's algorithm F(4x4, 3x3): an output tile of 4x4 pixels costs 36
 * products per pair of channels where the plain sum takes 144. oneDNN has it for training on AVX-512 in its
 * second version only; this one runs everywhere. f32, fast tables only (others hold NULL): its oracle is the
 * plain convolution.
 *
 * Rounding grows with the transforms: the results differ from a direct sum by a few 1e-6 of the largest
 * output (docs/numerics.md). */
#ifndef SPH_COMPUTE_WINOGRAD_H
#define SPH_COMPUTE_WINOGRAD_H

#include <stddef.h>

/* Images as in onednn.h: (images, blocks, pixels, block), padding channels 0 and kept 0. */
struct winograd_args {
    size_t images, block;
    size_t channels, height, width; /* of x             */
    size_t units, out_height, out_width;
    size_t pad;     /* 0, 1 or 2 on each side: out = in + 2 pad - 2               */
    const float *w; /* (channels * 9, ldw) of the layer, unit-minor               */
    size_t ldw;
    int transposed; /* the way back: w is that of the layer whose input gradient this is, so that x is its
                       output gradient and `channels` its units */
    const float *x, *bias; /* bias (units) or NULL */
    float *y;
    int add, relu;   /* y += ...; y = relu(...) */
    const float *dy; /* weights: gradient of the output    */
    float *dw;       /* weights: (channels * 9, ldw) +=    */
    void *scratch;   /* winograd_scratch() bytes, aligned  */
};

#endif
