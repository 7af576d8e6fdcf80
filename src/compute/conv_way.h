/* SPDX-License-Identifier: MIT
 *
 * An algorithm for convolutions is one row and one file. conv.c tries the rows in their order. */
#ifndef SPH_COMPUTE_CONV_WAY_H
#define SPH_COMPUTE_CONV_WAY_H

#include "compute/conv.h"

struct conv_way {
    const char *name;
    int (*make)(struct conv *conv);  /* 1: it serves this convolution; 0: another does; or an error */
    void (*drop)(struct conv *conv); /* what make left in conv->own; or NULL */
    size_t (*scratch)(const struct conv *conv); /* bytes */
    void (*forward)(struct conv *conv, const struct conv_call *call);
    void (*backward_data)(struct conv *conv, const struct conv_call *call);
    void (*backward_weights)(struct conv *conv, const struct conv_call *call);
    int (*check)(const struct conv *conv); /* whether all passes were computed: 0 or an error; NULL: always */
};

struct conv {
    struct conv_spec spec;
    const struct conv_way *way;
    void *own;
};

extern const struct conv_way
    conv_depthwise;                         /* each unit reads one channel, each channel one unit           */
extern const struct conv_way conv_taps;     /* blocked, maps of a few pixels: a product for each tap        */
extern const struct conv_way conv_winograd; /* 3x3, blocked                                                 */
extern const struct conv_way conv_onednn;   /* blocked, where oneDNN has more than reference code           */
extern const struct conv_way conv_taps_any; /* blocked                                                      */
extern const struct conv_way conv_patches;  /* everything: each image's patches times the weights           */

/* Whether oneDNN would compute it by Winograd's algorithm: 1, 0 or an error. (conv_onednn.c) */
int conv_onednn_is_winograd(const struct conv_spec *spec);

/* Numbers of an image that lies in blocks, or in rows of ld numbers. */
static inline size_t conv_length(const struct conv_spec *spec, size_t channels, size_t pixels, size_t ld)
{
    return (spec->block ? (channels + ld - 1) / ld : 1) * pixels * ld;
}

static inline size_t conv_in_length(const struct conv *conv, size_t ld)
{
    const struct window *w = &conv->spec.window;
    return conv_length(&conv->spec, w->channels, w->height * w->width, ld);
}

static inline size_t conv_out_length(const struct conv *conv, size_t ld)
{
    const struct window *w = &conv->spec.window;
    return conv_length(&conv->spec, conv->spec.units, w->out_height * w->out_width, ld);
}

#endif
