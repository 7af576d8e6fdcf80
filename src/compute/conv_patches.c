/* SPDX-License-Identifier: MIT
 *
 * Any convolution: each image's patches (out pixels, n) times W^T, n = channels of a group * kernel area.
 * Without groups, images that are rows of pixels and weights are read and written where they lie; else what
 * belongs to a group is brought together first, and its results are put where they belong. */
#include <string.h>

#include "base/memory.h"
#include "compute/conv_way.h"

/* Scratch: what one group and one image take. */
struct room {
    size_t n, ldn;        /* of a patch                     */
    size_t channels, ldc; /* of a group                     */
    size_t units, ldm;    /* of a group                     */
    size_t in, out;       /* pixels of an image             */
    int gathered;         /* not everything is where it lies */
    struct window window; /* over the channels of a group   */
    char *patches;        /* (out, ldn)                     */
    char *x;              /* (in, ldc)                      */
    char *z;              /* (out, ldm)                     */
    char *w;              /* (n, ldm)                       */
    char *bias;           /* (ldm)                          */
    char *wt;             /* (units, ldn)                   */
    size_t bytes;
};

static struct room room_of(const struct conv *conv, void *scratch)
{
    const struct conv_spec *spec = &conv->spec;
    const struct window *w = &spec->window;
    struct room r = {.channels = w->channels / spec->groups,
                     .units = spec->units / spec->groups,
                     .in = w->height * w->width,
                     .out = w->out_height * w->out_width,
                     .gathered = spec->groups > 1 || spec->block,
                     .window = *w};
    r.window.channels = r.channels;
    r.n = r.channels * w->kernel_height * w->kernel_width;
    r.ldn = kernel_pad(r.n);
    r.ldc = kernel_pad(r.channels);
    r.ldm = kernel_pad(r.units);
    char **pieces[] = {&r.patches, &r.x, &r.z, &r.w, &r.bias, &r.wt};
    const size_t numbers[] = {r.out * r.ldn, r.in * r.ldc, r.out * r.ldm,
                              r.n * r.ldm,   r.ldm,        r.units * r.ldn};
    for (size_t i = 0; i < (r.gathered ? 6 : 1); i++) {
        *pieces[i] = scratch ? (char *)scratch + r.bytes : NULL;
        r.bytes += (numbers[i] * spec->k->size + MEM_ALIGN - 1) / MEM_ALIGN * MEM_ALIGN;
    }
    return r;
}

static int make(struct conv *conv)
{
    (void)conv;
    return 1;
}

static size_t scratch(const struct conv *conv)
{
    return room_of(conv, NULL).bytes;
}

/* ---------------------------------------------------------------- what belongs to a group */

/* Some channels of an image and as many columns of rows that lie side by side. */
struct columns {
    const struct kernels *k;
    size_t pixels, block;
    size_t first, count; /* channels of the image */
    char *image;
    size_t ld;
    char *rows;
    size_t ld_rows;
};

enum direction { GATHER, SCATTER, SCATTER_ADD };

static void move(const struct columns *c, enum direction way)
{
    size_t size = c->k->size;
    for (size_t done = 0, part; done < c->count; done += part) {
        size_t channel = c->first + done, place = c->block ? channel % c->block : channel;
        part = c->count - done;
        if (c->block && part > c->block - place)
            part = c->block - place;
        char *image = c->image + ((c->block ? channel / c->block * c->pixels * c->ld : 0) + place) * size;
        char *rows = c->rows + done * size;
        if (way == SCATTER_ADD)
            c->k->add(c->pixels, part, rows, c->ld_rows, image, c->ld);
        for (size_t p = 0; way != SCATTER_ADD && p < c->pixels; p++) {
            char *in_image = image + p * c->ld * size, *in_rows = rows + p * c->ld_rows * size;
            memcpy(way == GATHER ? in_rows : in_image, way == GATHER ? in_image : in_rows, part * size);
        }
    }
}

/* The group's channels of an image as rows of pixels, and how far apart these are. */
static const char *group_pixels(const struct conv *conv, const struct room *r, const struct conv_call *call,
                                size_t group, size_t i, size_t *ld)
{
    size_t size = conv->spec.k->size;
    char *image = (char *)call->x + i * conv_in_length(conv, call->ldx) * size;
    if (!conv->spec.block) {
        *ld = call->ldx;
        return image + group * r->channels * size;
    }
    *ld = r->ldc;
    move(&(struct columns){conv->spec.k, r->in, conv->spec.block, group * r->channels, r->channels, image,
                           call->ldx, r->x, r->ldc},
         GATHER);
    return r->x;
}

/* The same of the output's gradient. */
static const char *group_gradient(const struct conv *conv, const struct room *r, const struct conv_call *call,
                                  size_t group, size_t i, size_t *ld)
{
    char *image = (char *)call->dy + i * conv_out_length(conv, call->lddy) * conv->spec.k->size;
    *ld = r->gathered ? r->ldm : call->lddy;
    if (!r->gathered)
        return image;
    move(&(struct columns){conv->spec.k, r->out, conv->spec.block, group * r->units, r->units, image,
                           call->lddy, r->z, r->ldm},
         GATHER);
    return r->z;
}

/* Columns of the group's units, of n rows. */
static void copy_columns(size_t n, size_t count, const char *from, size_t ld_from, char *to, size_t ld_to,
                         size_t size)
{
    for (size_t i = 0; i < n; i++)
        memcpy(to + i * ld_to * size, from + i * ld_from * size, count * size);
}

/* The channels that fill up the last block are 0. */
static void clear_tail(const struct conv *conv, size_t channels, size_t pixels, size_t images, char *data)
{
    size_t block = conv->spec.block, size = conv->spec.k->size, used = block ? channels % block : 0;
    size_t length = block ? conv_length(&conv->spec, channels, pixels, block) : 0;
    for (size_t i = 0; used && i < images; i++)
        for (size_t p = 0; p < pixels; p++)
            memset(data + ((i + 1) * length - (pixels - p) * block + used) * size, 0, (block - used) * size);
}

/* ---------------------------------------------------------------- the passes */

static void forward(struct conv *conv, const struct conv_call *call)
{
    const struct kernels *k = conv->spec.k;
    struct room r = room_of(conv, call->scratch);
    size_t length = conv_out_length(conv, call->ldy), ld;
    for (size_t group = 0; group < conv->spec.groups; group++) {
        const char *w = call->w, *bias = call->bias;
        size_t first = group * r.units, ldw = call->ldw;
        if (r.gathered) {
            copy_columns(r.n, r.units, w + first * k->size, ldw, r.w, r.ldm, k->size);
            if (bias)
                memcpy(r.bias, bias + first * k->size, r.units * k->size);
            w = r.w;
            ldw = r.ldm;
            bias = bias ? r.bias : NULL;
        }
        for (size_t i = 0; i < call->images; i++) {
            char *y = (char *)call->y + i * length * k->size;
            const char *x = group_pixels(conv, &r, call, group, i, &ld);
            k->patches(&r.window, x, ld, r.patches, r.ldn);
            k->gemm(r.out, r.units, r.n, r.patches, r.ldn, 1, w, ldw, r.gathered ? r.z : y,
                    r.gathered ? r.ldm : call->ldy, bias, call->relu ? GEMM_RELU : GEMM_SET);
            if (r.gathered)
                move(&(struct columns){k, r.out, conv->spec.block, first, r.units, y, call->ldy, r.z, r.ldm},
                     SCATTER);
        }
    }
    clear_tail(conv, conv->spec.units, r.out, call->images, call->y);
}

static void backward_weights(struct conv *conv, const struct conv_call *call)
{
    const struct kernels *k = conv->spec.k;
    struct room r = room_of(conv, call->scratch);
    size_t ldx, ld;
    for (size_t group = 0; group < conv->spec.groups; group++) {
        char *to = (char *)call->dw + group * r.units * k->size, *dw = r.gathered ? r.w : to;
        if (r.gathered)
            memset(r.w, 0, r.n * r.ldm * k->size);
        for (size_t i = 0; i < call->images; i++) {
            const char *dy = group_gradient(conv, &r, call, group, i, &ld);
            const char *x = group_pixels(conv, &r, call, group, i, &ldx);
            k->patches(&r.window, x, ldx, r.patches, r.ldn);
            k->gemm(r.n, r.units, r.out, r.patches, 1, r.ldn, dy, ld, dw, r.gathered ? r.ldm : call->ldw,
                    NULL, GEMM_ADD);
        }
        if (r.gathered)
            k->add(r.n, r.units, dw, r.ldm, to, call->ldw);
    }
}

static void backward_data(struct conv *conv, const struct conv_call *call)
{
    const struct kernels *k = conv->spec.k;
    struct room r = room_of(conv, call->scratch);
    size_t length = conv_in_length(conv, call->lddx), block = conv->spec.block, ld;
    if (!block && !call->add)
        memset(call->dx, 0, call->images * length * k->size);
    for (size_t group = 0; group < conv->spec.groups; group++) {
        size_t ldwt = call->wt ? call->ldwt : r.ldn, first = group * r.channels;
        const char *wt = call->wt ? (const char *)call->wt + group * r.units * ldwt * k->size : r.wt;
        if (!call->wt)
            k->transpose(r.n, r.units, (const char *)call->w + group * r.units * k->size, call->ldw, r.wt,
                         ldwt);
        for (size_t i = 0; i < call->images; i++) {
            char *dx = (char *)call->dx + i * length * k->size;
            const char *dy = group_gradient(conv, &r, call, group, i, &ld);
            k->gemm(r.out, r.n, r.units, dy, ld, 1, wt, ldwt, r.patches, r.ldn, NULL, GEMM_SET);
            if (!block) {
                k->patches_grad(&r.window, r.patches, r.ldn, dx + first * k->size, call->lddx);
                continue;
            }
            memset(r.x, 0, r.in * r.ldc * k->size);
            k->patches_grad(&r.window, r.patches, r.ldn, r.x, r.ldc);
            move(&(struct columns){k, r.in, block, first, r.channels, dx, call->lddx, r.x, r.ldc},
                 call->add ? SCATTER_ADD : SCATTER);
        }
    }
    if (!call->add)
        clear_tail(conv, conv->spec.window.channels, r.in, call->images, call->dx);
}

const struct conv_way conv_patches = {.name = "patches",
                                      .make = make,
                                      .scratch = scratch,
                                      .forward = forward,
                                      .backward_data = backward_data,
                                      .backward_weights = backward_weights};
