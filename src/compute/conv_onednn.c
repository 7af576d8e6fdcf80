/* SPDX-License-Identifier: MIT
 *
 * Convolutions of blocked images by onednn.h. */
#include "compute/conv_way.h"

#include "base/error.h"
#include "base/memory.h"
#include "compute/onednn.h"

struct own {
    struct onednn_conv *whole, *single; /* for spec.images images; for one, where that is another number */
    size_t scratch;                     /* bytes, a whole number of lines */
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
    onednn_conv_free(own->whole);
    onednn_conv_free(own->single);
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
    struct onednn_conv_spec want = spec_of(spec, spec->images);
    int err = onednn_conv_new(&own->whole, &want);
    if (!err && spec->groups > 1 && onednn_conv_is_reference(own->whole)) {
        drop(conv); /* groups that are no whole blocks: a thousand times slower than patches */
        return 0;
    }
    want.images = 1;
    if (!err && spec->images > 1)
        err = onednn_conv_new(&own->single, &want);
    if (err < 0)
        return err;
    size_t bytes = onednn_conv_scratch(own->whole);
    if (own->single && onednn_conv_scratch(own->single) > bytes)
        bytes = onednn_conv_scratch(own->single);
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

/* The object that serves calls of `images` at a time, and how many calls that takes. */
static struct onednn_conv *serving(const struct conv *conv, size_t images, size_t *calls)
{
    const struct own *own = conv->own;
    *calls = images == conv->spec.images ? 1 : images;
    return images == conv->spec.images ? own->whole : own->single;
}

static void forward(struct conv *conv, const struct conv_call *call)
{
    size_t in = conv_in_length(conv, call->ldx), out = conv_out_length(conv, call->ldy), calls;
    struct onednn_conv *serves = serving(conv, call->images, &calls);
    for (size_t i = 0; i < calls; i++)
        onednn_conv_forward(serves, (const float *)call->x + i * in, call->w, call->ldw, call->bias,
                            (float *)call->y + i * out, call->scratch);
    if (call->relu) /* oneDNN's own makes 0 of NaN, and a diverged net would look well */
        conv->spec.k->act[SPH_ACT_RELU](&(struct act_args){.rows = call->images * out / KERNEL_PAD,
                                                           .m = KERNEL_PAD,
                                                           .z = call->y,
                                                           .ldz = KERNEL_PAD,
                                                           .y = call->y,
                                                           .ldy = KERNEL_PAD});
}

static void backward_data(struct conv *conv, const struct conv_call *call)
{
    size_t in = conv_in_length(conv, call->lddx), out = conv_out_length(conv, call->lddy), calls;
    const struct own *own = conv->own;
    struct onednn_conv *serves = serving(conv, call->images, &calls);
    float *to = call->add ? (float *)((char *)call->scratch + own->scratch) : call->dx;
    for (size_t i = 0; i < calls; i++)
        onednn_conv_backward_data(serves, (const float *)call->dy + i * out, call->w, call->ldw, to + i * in,
                                  call->scratch);
    if (call->add)
        conv->spec.k->add(1, call->images * in, to, 0, call->dx, 0);
}

static void backward_weights(struct conv *conv, const struct conv_call *call)
{
    size_t in = conv_in_length(conv, call->ldx), out = conv_out_length(conv, call->lddy), calls;
    struct onednn_conv *serves = serving(conv, call->images, &calls);
    for (size_t i = 0; i < calls; i++)
        onednn_conv_backward_weights(serves, (const float *)call->x + i * in,
                                     (const float *)call->dy + i * out, call->dw, call->ldw, call->scratch);
}

const struct conv_way conv_onednn = {.name = "onednn",
                                     .make = make,
                                     .drop = drop,
                                     .scratch = scratch,
                                     .forward = forward,
                                     .backward_data = backward_data,
                                     .backward_weights = backward_weights};
