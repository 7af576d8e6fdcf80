/* SPDX-License-Identifier: MIT
 *
 * 3x3 convolutions of blocked images by winograd.h. */
#include "compute/conv_way.h"

/* Winograd's algorithm saves three products in four, less what lies in tiles beyond the image's edge; with
 * few channels its transforms cost more than that. */
enum { WINOGRAD_CHANNELS = 16, WINOGRAD_PIXELS = 16 };

static int applies(const struct conv_spec *spec)
{
    const struct window *w = &spec->window;
    size_t tiles = ((w->out_height + 3) / 4) * ((w->out_width + 3) / 4);
    return spec->block && spec->groups == 1 && spec->way == SPH_CONV_AUTO && w->kernel_height == 3 &&
           w->kernel_width == 3 && w->stride == 1 && w->pad <= 2 && w->channels >= WINOGRAD_CHANNELS &&
           spec->units >= WINOGRAD_CHANNELS && 2 * w->out_height * w->out_width >= tiles * WINOGRAD_PIXELS;
}

static int make(struct conv *conv)
{
    if (!applies(&conv->spec))
        return 0;
    /* AVX-512: oneDNN may have a Winograd of its own */
    int theirs = conv->spec.block != 8 ? conv_onednn_is_winograd(&conv->spec) : 0;
    return theirs < 0 ? theirs : !theirs;
}

static struct winograd_args forward_args(const struct conv *conv, size_t images)
{
    const struct window *w = &conv->spec.window;
    return (struct winograd_args){.images = images,
                                  .block = conv->spec.block,
                                  .channels = w->channels,
                                  .height = w->height,
                                  .width = w->width,
                                  .units = conv->spec.units,
                                  .out_height = w->out_height,
                                  .out_width = w->out_width,
                                  .pad = w->pad};
}

/* The input gradient is a convolution of the output gradient with the kernels turned round. */
static struct winograd_args backward_args(const struct conv *conv, size_t images)
{
    const struct window *w = &conv->spec.window;
    return (struct winograd_args){.images = images,
                                  .block = conv->spec.block,
                                  .channels = conv->spec.units,
                                  .height = w->out_height,
                                  .width = w->out_width,
                                  .units = w->channels,
                                  .out_height = w->height,
                                  .out_width = w->width,
                                  .pad = 2 - w->pad,
                                  .transposed = 1};
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t scratch(const struct conv *conv)
{
    const struct conv_spec *spec = &conv->spec;
    struct winograd_args forward = forward_args(conv, spec->images),
                         backward = backward_args(conv, spec->images);
    size_t bytes = spec->k->winograd_scratch(&forward, 0);
    if (spec->train)
        bytes = larger(bytes, spec->k->winograd_scratch(&forward, 1));
    if (spec->train && spec->input_grad)
        bytes = larger(bytes, spec->k->winograd_scratch(&backward, 0));
    return bytes;
}

static void forward(struct conv *conv, const struct conv_call *call)
{
    struct winograd_args args = forward_args(conv, call->images);
    args.x = call->x;
    args.w = call->w;
    args.ldw = call->ldw;
    args.bias = call->bias;
    args.relu = call->relu;
    args.y = call->y;
    args.scratch = call->scratch;
    conv->spec.k->winograd(&args);
}

static void backward_data(struct conv *conv, const struct conv_call *call)
{
    struct winograd_args args = backward_args(conv, call->images);
    args.x = call->dy;
    args.w = call->w;
    args.ldw = call->ldw;
    args.y = call->dx;
    args.add = call->add;
    args.scratch = call->scratch;
    conv->spec.k->winograd(&args);
}

static void backward_weights(struct conv *conv, const struct conv_call *call)
{
    struct winograd_args args = forward_args(conv, call->images);
    args.x = call->x;
    args.dy = call->dy;
    args.dw = call->dw;
    args.ldw = call->ldw;
    args.scratch = call->scratch;
    conv->spec.k->winograd_weights(&args);
}

const struct conv_way conv_winograd = {.name = "winograd",
                                       .make = make,
                                       .scratch = scratch,
                                       .forward = forward,
                                       .backward_data = backward_data,
                                       .backward_weights = backward_weights};
