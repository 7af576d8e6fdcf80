/* SPDX-License-Identifier: MIT
 *
 * Convolutions of blocked images by onednn.h. */
#include "compute/conv_way.h"

#include "base/error.h"
#include "base/memory.h"
#include "compute/onednn.h"

/* Objects serve a fixed number of images: [0] spec.images, the others 64, 16, 4 and 1, where that is less. Other
 * numbers are served piece by piece. */
enum { SIZES = 5 };

struct own {
    struct onednn_conv *serving[SIZES];
    size_t images[SIZES];
    size_t scratch; /* bytes, a whole number of lines */
};

static struct onednn_conv_spec spec_of(const struct conv_spec *spec, size_t images)
{
    return (struct onednn_conv_spec){.window = spec->window,
                                     .units = spec->units,
                                     .groups = spec->groups,
                                     .images = images,
                                     .block = spec->block,
                                     .direct = spec->way == SPH_CONV_DIRECT,
                                     .train = spec->train,
                                     .input_grad = spec->input_grad};
}

int conv_onednn_is_winograd(const struct conv_spec *spec)
{
    struct onednn_conv_spec want = spec_of(spec, spec->images);
    struct onednn_conv *conv = NULL;
    int err = onednn_conv_new(&conv, &want), is = !err && onednn_conv_is_winograd(conv);
    onednn_conv_free(conv);
    return err < 0 ? err : is;
}

static void drop(struct conv *conv)
{
    struct own *own = conv->own;
    if (!own)
        return;
    for (size_t i = 0; i < SIZES; i++)
        onednn_conv_free(own->serving[i]);
    mem_free(own);
    conv->own = NULL;
}

static int make(struct conv *conv)
{
    const struct conv_spec *spec = &conv->spec;
    if (!spec->block)
        return 0;
    struct own *own = conv->own = mem_get(1, sizeof *own);
    if (!own)
        return SPH_EMEMORY;
    static const size_t pieces[SIZES] = {0, 64, 16, 4, 1};
    size_t made = 0, bytes = 0;
    for (size_t i = 0; i < SIZES; i++) {
        size_t images = i ? pieces[i] : spec->images;
        if (i && images >= spec->images)
            continue;
        struct onednn_conv_spec want = spec_of(spec, images);
        struct onednn_conv **out = &own->serving[made];
        int err = onednn_conv_new(out, &want);
        if (err < 0)
            return err;
        if (onednn_conv_is_reference(*out)) {
            drop(conv); /* a hundred times slower than any way of ours */
            return 0;
        }
        if (onednn_conv_scratch(*out) > bytes)
            bytes = onednn_conv_scratch(*out);
        own->images[made++] = images;
    }
    own->scratch = (bytes + MEM_ALIGN - 1) / MEM_ALIGN * MEM_ALIGN;
    return 1;
}

/* With a place for a gradient that is to be added. */
static size_t scratch(const struct conv *conv)
{
    const struct conv_spec *spec = &conv->spec;
    const struct own *own = conv->own;
    size_t gradient = spec->images * conv_in_length(conv, spec->block) * sizeof(float);
    return own->scratch + (spec->train && spec->input_grad ? gradient : 0);
}

/* The object for the next piece of what is left of a batch. */
static struct onednn_conv *serving(const struct conv *conv, size_t left, size_t *images)
{
    const struct own *own = conv->own;
    size_t i = 0;
    while (own->images[i] > left)
        i++;
    *images = own->images[i];
    return own->serving[i];
}

static void forward(struct conv *conv, const struct conv_call *call)
{
    size_t in = conv_in_length(conv, call->ldx), out = conv_out_length(conv, call->ldy), images;
    for (size_t i = 0; i < call->images; i += images) {
        struct onednn_conv *serves = serving(conv, call->images - i, &images);
        onednn_conv_forward(serves, (const float *)call->x + i * in, call->w, call->ldw, call->bias,
                            (float *)call->y + i * out, call->scratch);
    }
    if (call->relu) /* oneDNN's own makes 0 of NaN, and a diverged net would look well */
        conv->spec.k->act[SPH_ACT_RELU](&(struct act_args){.rows = call->images * out / call->ldy,
                                                           .m = call->ldy,
                                                           .z = call->y,
                                                           .ldz = call->ldy,
                                                           .y = call->y,
                                                           .ldy = call->ldy});
}

static void backward_data(struct conv *conv, const struct conv_call *call)
{
    size_t in = conv_in_length(conv, call->lddx), out = conv_out_length(conv, call->lddy), images;
    const struct own *own = conv->own;
    float *to = call->add ? (float *)((char *)call->scratch + own->scratch) : call->dx;
    for (size_t i = 0; i < call->images; i += images) {
        struct onednn_conv *serves = serving(conv, call->images - i, &images);
        onednn_conv_backward_data(serves, (const float *)call->dy + i * out, call->w, call->ldw, to + i * in,
                                  call->scratch);
    }
    if (call->add)
        conv->spec.k->add(1, call->images * in, to, 0, call->dx, 0);
}

static void backward_weights(struct conv *conv, const struct conv_call *call)
{
    size_t in = conv_in_length(conv, call->ldx), out = conv_out_length(conv, call->lddy), images;
    for (size_t i = 0; i < call->images; i += images) {
        struct onednn_conv *serves = serving(conv, call->images - i, &images);
        onednn_conv_backward_weights(serves, (const float *)call->x + i * in,
                                     (const float *)call->dy + i * out, call->dw, call->ldw, call->scratch);
    }
}

static int check(const struct conv *conv)
{
    const struct own *own = conv->own;
    int err = 0;
    for (size_t i = 0; i < SIZES && own->serving[i] && !err; i++)
        err = onednn_conv_check(own->serving[i]);
    return err;
}

const struct conv_way conv_onednn = {.name = "onednn",
                                     .make = make,
                                     .drop = drop,
                                     .scratch = scratch,
                                     .forward = forward,
                                     .backward_data = backward_data,
                                     .backward_weights = backward_weights,
                                     .check = check};
