/* SPDX-License-Identifier: MIT
 *
 * Depthwise convolutions by the kernels of depthwise.c: an image at a time, in blocks a block of it. */
#include "compute/conv_way.h"

static int make(struct conv *conv)
{
    return conv->spec.groups > 1 && conv->spec.groups == conv->spec.window.channels &&
           conv->spec.groups == conv->spec.units;
}

static size_t scratch(const struct conv *conv)
{
    (void)conv;
    return 0;
}

/* Some channels of one image: all, or a block. */
struct piece {
    struct window window;
    size_t first; /* channel */
    size_t image, block;
};

static size_t pieces(const struct conv *conv, size_t images)
{
    size_t block = conv->spec.block;
    return images * (block ? (conv->spec.units + block - 1) / block : 1);
}

static struct piece piece_of(const struct conv *conv, size_t images, size_t i)
{
    size_t blocks = pieces(conv, images) / images, block = conv->spec.block;
    struct piece piece = {.window = conv->spec.window, .image = i / blocks, .block = i % blocks};
    if (block) {
        piece.first = piece.block * block;
        size_t left = conv->spec.units - piece.first;
        piece.window.channels = left < block ? left : block;
    }
    return piece;
}

/* Where the piece's pixels lie in images of that many pixels; where its weights do. */
static void *pixels_at(const struct conv *conv, const struct piece *piece, const void *images, size_t length,
                       size_t pixels, size_t ld)
{
    return (char *)images + (piece->image * length + piece->block * pixels * ld) * conv->spec.k->size;
}

static void *column_at(const struct conv *conv, const struct piece *piece, const void *numbers)
{
    return numbers ? (char *)numbers + piece->first * conv->spec.k->size : NULL;
}

static void *in_at(const struct conv *conv, const struct piece *piece, const void *images, size_t ld)
{
    return pixels_at(conv, piece, images, conv_in_length(conv, ld),
                     piece->window.height * piece->window.width, ld);
}

static void *out_at(const struct conv *conv, const struct piece *piece, const void *images, size_t ld)
{
    return pixels_at(conv, piece, images, conv_out_length(conv, ld),
                     piece->window.out_height * piece->window.out_width, ld);
}

static void forward(struct conv *conv, const struct conv_call *call)
{
    for (size_t i = 0; i < pieces(conv, call->images); i++) {
        struct piece p = piece_of(conv, call->images, i);
        conv->spec.k->depthwise(&p.window, in_at(conv, &p, call->x, call->ldx), call->ldx,
                                column_at(conv, &p, call->w), call->ldw, column_at(conv, &p, call->bias),
                                call->relu, out_at(conv, &p, call->y, call->ldy), call->ldy);
    }
}

static void backward_data(struct conv *conv, const struct conv_call *call)
{
    for (size_t i = 0; i < pieces(conv, call->images); i++) {
        struct piece p = piece_of(conv, call->images, i);
        conv->spec.k->depthwise_data(&p.window, out_at(conv, &p, call->dy, call->lddy), call->lddy,
                                     column_at(conv, &p, call->w), call->ldw, call->add,
                                     in_at(conv, &p, call->dx, call->lddx), call->lddx);
    }
}

static void backward_weights(struct conv *conv, const struct conv_call *call)
{
    for (size_t i = 0; i < pieces(conv, call->images); i++) {
        struct piece p = piece_of(conv, call->images, i);
        conv->spec.k->depthwise_weights(&p.window, in_at(conv, &p, call->x, call->ldx), call->ldx,
                                        out_at(conv, &p, call->dy, call->lddy), call->lddy,
                                        column_at(conv, &p, call->dw), call->ldw);
    }
}

const struct conv_way conv_depthwise = {.name = "depthwise",
                                        .make = make,
                                        .scratch = scratch,
                                        .forward = forward,
                                        .backward_data = backward_data,
                                        .backward_weights = backward_weights};
