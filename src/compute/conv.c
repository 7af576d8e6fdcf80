/* SPDX-License-Identifier: MIT */
#include "compute/conv.h"

#include "base/error.h"
#include "base/memory.h"
#include "compute/onednn.h"

/* Winograd's algorithm saves three products in four, less what lies in tiles beyond the image's edge; with
 * few channels its transforms cost more than that. */
enum { WINOGRAD_CHANNELS = 16, WINOGRAD_PIXELS = 16 };

struct conv {
    struct conv_spec spec;
    size_t in_length, out_length;       /* numbers of an image, of its result */
    int winograd;                       /* ours */
    struct onednn_conv *whole, *single; /* for spec.images images; for one, where that is another number */
    size_t onednn_scratch;              /* bytes, a whole number of lines */
};

size_t conv_block(const struct kernels *k)
{
    return k->winograd ? onednn_block() : 0;
}

static size_t blocks(const struct conv_spec *spec, size_t channels)
{
    return (channels + spec->block - 1) / spec->block;
}

static int winograd_applies(const struct conv_spec *spec)
{
    const struct window *w = &spec->window;
    size_t tiles = ((w->out_height + 3) / 4) * ((w->out_width + 3) / 4);
    return spec->way == SPH_CONV_AUTO && w->kernel_height == 3 && w->kernel_width == 3 && w->stride == 1 &&
           w->pad <= 2 && w->channels >= WINOGRAD_CHANNELS && spec->units >= WINOGRAD_CHANNELS &&
           2 * w->out_height * w->out_width >= tiles * WINOGRAD_PIXELS;
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

static int new_onednn(struct conv *conv)
{
    const struct conv_spec *spec = &conv->spec;
    struct onednn_conv_spec want = {.window = spec->window,
                                    .units = spec->units,
                                    .images = spec->images,
                                    .block = spec->block,
                                    .direct = spec->way == SPH_CONV_DIRECT,
                                    .train = spec->train,
                                    .input_grad = spec->input_grad};
    int err = onednn_conv_new(&conv->whole, &want);
    want.images = 1;
    if (!err && spec->images > 1)
        err = onednn_conv_new(&conv->single, &want);
    if (err < 0)
        return err;
    size_t bytes = onednn_conv_scratch(conv->whole);
    if (conv->single)
        bytes = larger(bytes, onednn_conv_scratch(conv->single));
    conv->onednn_scratch = (bytes + MEM_ALIGN - 1) / MEM_ALIGN * MEM_ALIGN;
    return 0;
}

int conv_new(struct conv **out, const struct conv_spec *spec)
{
    struct conv *conv = mem_get(1, sizeof *conv);
    if (!conv)
        return SPH_EMEMORY;
    const struct window *w = &spec->window;
    conv->spec = *spec;
    conv->in_length = blocks(spec, w->channels) * spec->block * w->height * w->width;
    conv->out_length = blocks(spec, spec->units) * spec->block * w->out_height * w->out_width;
    conv->winograd = winograd_applies(spec);
    int err = 0;
    if (!conv->winograd || spec->block != 8) /* AVX-512: oneDNN may have a Winograd of its own */
        err = new_onednn(conv);
    if (!err && conv->winograd && conv->whole && onednn_conv_is_winograd(conv->whole))
        conv->winograd = 0;
    if (err < 0) {
        conv_free(conv);
        return err;
    }
    *out = conv;
    return 0;
}

void conv_free(struct conv *conv)
{
    if (!conv)
        return;
    onednn_conv_free(conv->whole);
    onednn_conv_free(conv->single);
    mem_free(conv);
}

int conv_is_winograd(const struct conv *conv)
{
    return conv->winograd || onednn_conv_is_winograd(conv->whole);
}

size_t conv_scratch(const struct conv *conv)
{
    const struct conv_spec *spec = &conv->spec;
    if (!conv->winograd) /* and a place for a gradient that is to be added */
        return conv->onednn_scratch +
               (spec->train && spec->input_grad ? spec->images * conv->in_length * sizeof(float) : 0);
    struct winograd_args forward = forward_args(conv, spec->images),
                         backward = backward_args(conv, spec->images);
    size_t bytes = spec->k->winograd_scratch(&forward, 0);
    if (spec->train)
        bytes = larger(bytes, spec->k->winograd_scratch(&forward, 1));
    if (spec->train && spec->input_grad)
        bytes = larger(bytes, spec->k->winograd_scratch(&backward, 0));
    return bytes;
}

/* The object that serves calls of `images` at a time, and how many calls that takes. */
static struct onednn_conv *serving(const struct conv *conv, size_t images, size_t *calls)
{
    *calls = images == conv->spec.images ? 1 : images;
    return images == conv->spec.images ? conv->whole : conv->single;
}

void conv_forward(struct conv *conv, size_t images, const float *x, const float *w, size_t ldw,
                  const float *bias, int relu, float *y, void *scratch)
{
    if (conv->winograd) {
        struct winograd_args args = forward_args(conv, images);
        args.x = x;
        args.w = w;
        args.ldw = ldw;
        args.bias = bias;
        args.relu = relu;
        args.y = y;
        args.scratch = scratch;
        conv->spec.k->winograd(&args);
        return;
    }
    size_t calls;
    struct onednn_conv *serves = serving(conv, images, &calls);
    for (size_t i = 0; i < calls; i++)
        onednn_conv_forward(serves, x + i * conv->in_length, w, ldw, bias, y + i * conv->out_length, scratch);
    if (relu) /* oneDNN's own makes 0 of NaN, and a diverged net would look well */
        conv->spec.k->act[SPH_ACT_RELU](&(struct act_args){.rows = images * conv->out_length / KERNEL_PAD,
                                                           .m = KERNEL_PAD,
                                                           .z = y,
                                                           .ldz = KERNEL_PAD,
                                                           .y = y,
                                                           .ldy = KERNEL_PAD});
}

void conv_backward_data(struct conv *conv, size_t images, const float *dy, const float *w, size_t ldw,
                        int add, float *dx, void *scratch)
{
    if (conv->winograd) {
        struct winograd_args args = backward_args(conv, images);
        args.x = dy;
        args.w = w;
        args.ldw = ldw;
        args.y = dx;
        args.add = add;
        args.scratch = scratch;
        conv->spec.k->winograd(&args);
        return;
    }
    size_t calls;
    struct onednn_conv *serves = serving(conv, images, &calls);
    float *to = add ? (float *)((char *)scratch + conv->onednn_scratch) : dx;
    for (size_t i = 0; i < calls; i++)
        onednn_conv_backward_data(serves, dy + i * conv->out_length, w, ldw, to + i * conv->in_length,
                                  scratch);
    if (add)
        conv->spec.k->add(1, images * conv->in_length, to, 0, dx, 0);
}

void conv_backward_weights(struct conv *conv, size_t images, const float *x, const float *dy, float *dw,
                           size_t ldw, void *scratch)
{
    if (conv->winograd) {
        struct winograd_args args = forward_args(conv, images);
        args.x = x;
        args.dy = dy;
        args.dw = dw;
        args.ldw = ldw;
        args.scratch = scratch;
        conv->spec.k->winograd_weights(&args);
        return;
    }
    size_t calls;
    struct onednn_conv *serves = serving(conv, images, &calls);
    for (size_t i = 0; i < calls; i++)
        onednn_conv_backward_weights(serves, x + i * conv->in_length, dy + i * conv->out_length, dw, ldw,
                                     scratch);
}
