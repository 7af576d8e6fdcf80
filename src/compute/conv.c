/* SPDX-License-Identifier: MIT */
#include "compute/conv_way.h"

#include "base/error.h"
#include "base/memory.h"
#include "compute/onednn.h"

size_t conv_block(const struct kernels *k)
{
    return k->winograd ? onednn_block() : 0;
}

int conv_new(struct conv **out, const struct conv_spec *spec)
{
    static const struct conv_way *const ways[] = {&conv_depthwise, &conv_taps,     &conv_winograd,
                                                  &conv_onednn,    &conv_taps_any, &conv_patches};
    struct conv *conv = mem_get(1, sizeof *conv);
    if (!conv)
        return SPH_EMEMORY;
    conv->spec = *spec;
    int took = 0;
    for (size_t i = 0; i < sizeof ways / sizeof *ways && !took; i++) {
        conv->way = ways[i];
        took = ways[i]->make(conv);
    }
    if (took < 0) {
        conv_free(conv);
        return took;
    }
    *out = conv;
    return 0;
}

void conv_free(struct conv *conv)
{
    if (!conv)
        return;
    if (conv->way->drop)
        conv->way->drop(conv);
    mem_free(conv);
}

const char *conv_way_name(const struct conv *conv)
{
    return conv->way->name;
}

size_t conv_scratch(const struct conv *conv)
{
    return conv->way->scratch(conv);
}

/* In blocks a pixel is a block wide, also where an image of one pixel passes for a vector. */
static struct conv_call settled(const struct conv *conv, const struct conv_call *call)
{
    struct conv_call out = *call;
    if (conv->spec.block)
        out.ldx = out.ldy = out.lddx = out.lddy = conv->spec.block;
    return out;
}

void conv_forward(struct conv *conv, const struct conv_call *call)
{
    struct conv_call with = settled(conv, call);
    conv->way->forward(conv, &with);
}

void conv_backward_data(struct conv *conv, const struct conv_call *call)
{
    struct conv_call with = settled(conv, call);
    conv->way->backward_data(conv, &with);
}

void conv_backward_weights(struct conv *conv, const struct conv_call *call)
{
    struct conv_call with = settled(conv, call);
    conv->way->backward_weights(conv, &with);
}

int conv_check(const struct conv *conv)
{
    return conv->way->check ? conv->way->check(conv) : 0;
}
