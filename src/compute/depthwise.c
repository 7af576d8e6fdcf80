/* SPDX-License-Identifier: MIT
 *
 * Depthwise convolutions: unit c reads channel c and no other. One image at a time, pixels as rows; the
 * weights of one place of the window are a row of one number per channel, so that vectors run across
 * channels. */
#include "compute/real.h"
#include "compute/simd.h"

KERNEL void plain_depthwise(const struct window *window, const void *x, size_t ldx, const void *w, size_t ldw,
                            const void *bias, int relu, void *y, size_t ldy)
{
    const real *image = x, *taps = w, *shift = bias;
    for (size_t o = 0; o < window->out_height * window->out_width; o++) {
        real *out = (real *)y + o * ldy;
        for (size_t c = 0; c < ldy; c++) {
            double sum = shift && c < window->channels ? (double)shift[c] : 0;
            for (size_t at = 0; c < window->channels && at < window_area(window); at++) {
                size_t in = window_pixel(window, o, at);
                if (in != SIZE_MAX)
                    sum += (double)taps[at * ldw + c] * (double)image[in * ldx + c];
            }
            out[c] = relu && sum < 0 ? 0 : (real)sum;
        }
    }
}

KERNEL void plain_depthwise_data(const struct window *window, const void *dy, size_t lddy, const void *w,
                                 size_t ldw, int add, void *dx, size_t lddx)
{
    const real *pull = dy, *taps = w;
    real *dimage = dx;
    for (size_t in = 0; !add && in < window->height * window->width; in++)
        memset(dimage + in * lddx, 0, lddx * sizeof *dimage);
    for (size_t o = 0; o < window->out_height * window->out_width; o++)
        for (size_t at = 0; at < window_area(window); at++) {
            size_t in = window_pixel(window, o, at);
            for (size_t c = 0; in != SIZE_MAX && c < window->channels; c++)
                dimage[in * lddx + c] += taps[at * ldw + c] * pull[o * lddy + c];
        }
}

KERNEL void plain_depthwise_weights(const struct window *window, const void *x, size_t ldx, const void *dy,
                                    size_t lddy, void *dw, size_t ldw)
{
    const real *image = x, *pull = dy;
    for (size_t at = 0; at < window_area(window); at++)
        for (size_t c = 0; c < window->channels; c++) {
            double sum = 0;
            for (size_t o = 0; o < window->out_height * window->out_width; o++) {
                size_t in = window_pixel(window, o, at);
                if (in != SIZE_MAX)
                    sum += (double)image[in * ldx + c] * (double)pull[o * lddy + c];
            }
            ((real *)dw)[at * ldw + c] += (real)sum;
        }
}

#ifdef KERNELS_FAST
/* Channels are taken a vector or two at a time, and as many results at once as keep eight sums in
 * registers. */
enum { DEPTH_VECS = 2, DEPTH_SUMS = 8, DEPTH_TAPS = 3 };

/* Results side by side, each the sum of a rectangle of products: row r, column q of result i takes the
 * weights at w + r * w_row + q * w_next and the pixel in row r at place first + i * stride + q * sign, or
 * nothing where that is not one of `places`. A convolution and its input gradient are both such lines. */
struct line {
    const real *x;     /* row 0, place 0 */
    ptrdiff_t ld, row; /* numbers from a place to the next, from a row to the next */
    ptrdiff_t first, stride, sign, places;
    const real *w;
    size_t w_row, w_next;
    size_t rows, cols, count;
    real *y; /* result 0 */
    size_t step;
    vec bias[DEPTH_VECS];
    vec_mask keep[DEPTH_VECS]; /* lanes that are channels */
    int relu, add;
};

/* The columns of result i that exist. */
KERNEL_INLINE struct span line_columns(const struct line *l, size_t i)
{
    ptrdiff_t at = l->first + (ptrdiff_t)i * l->stride, cols = (ptrdiff_t)l->cols;
    ptrdiff_t start = l->sign > 0 ? -at : at - l->places + 1, stop = l->sign > 0 ? l->places - at : at + 1;
    start = start > 0 ? start : 0;
    stop = stop < cols ? stop : cols;
    return (struct span){(size_t)start, stop > start ? (size_t)(stop - start) : 0};
}

/* Results i .. i + side - 1, of which the same columns exist. */
KERNEL_INLINE void line_sums(const struct line *l, size_t i, size_t rows, struct span cols, int side,
                             int vecs)
{
    vec sums[DEPTH_SUMS];
    ptrdiff_t place = l->first + (ptrdiff_t)i * l->stride + (ptrdiff_t)cols.first * l->sign;
    ptrdiff_t next = l->sign * l->ld, step = l->stride * l->ld;
    for (int p = 0; p < side; p++)
        for (int v = 0; v < vecs; v++)
            sums[p * vecs + v] = l->bias[v];
    for (size_t r = 0; r < rows; r++) {
        const real *x = l->x + (ptrdiff_t)r * l->row + place * l->ld;
        const real *w = l->w + r * l->w_row + cols.first * l->w_next;
        for (size_t q = 0; q < cols.count; q++, x += next, w += l->w_next)
            for (int v = 0; v < vecs; v++) {
                vec tap = vec_load(w + v * LANES);
                for (int p = 0; p < side; p++)
                    sums[p * vecs + v] =
                        vec_fused(tap, vec_load(x + p * step + v * LANES), sums[p * vecs + v]);
            }
    }
    for (int p = 0; p < side; p++)
        for (int v = 0; v < vecs; v++) {
            real *to = l->y + (i + (size_t)p) * l->step + v * LANES;
            vec sum = vec_keep(l->keep[v], sums[p * vecs + v]);
            if (l->relu)
                sum = vec_drop(sum < vec_all(0), sum);
            if (l->add)
                sum += vec_load(to);
            vec_store(to, sum);
        }
}

/* Whether results i .. i + side - 1 are there, and all their columns. */
KERNEL_INLINE int line_is_whole(const struct line *l, size_t i, size_t side)
{
    return i + side <= l->count && line_columns(l, i).count == l->cols &&
           line_columns(l, i + side - 1).count == l->cols;
}

KERNEL_INLINE void line_part(const struct line *l, size_t i, int side, int vecs)
{
    if (l->rows == 3 && l->cols == 3)
        line_sums(l, i, 3, (struct span){0, 3}, side, vecs);
    else
        line_sums(l, i, l->rows, (struct span){0, l->cols}, side, vecs);
}

KERNEL_INLINE void line_run(const struct line *l, int vecs)
{
    const int most = DEPTH_SUMS / vecs, some = most / 2;
    for (size_t i = 0; i < l->count;)
        if (line_is_whole(l, i, (size_t)most)) {
            line_part(l, i, most, vecs);
            i += (size_t)most;
        } else if (line_is_whole(l, i, (size_t)some)) {
            line_part(l, i, some, vecs);
            i += (size_t)some;
        } else {
            line_sums(l, i, l->rows, line_columns(l, i), 1, vecs);
            i++;
        }
}

/* Channels c ... of a line that is described for channel 0; returns how many were taken. */
KERNEL_INLINE size_t line_channels(struct line l, size_t c, size_t channels, const real *bias)
{
    size_t left = channels - c;
    l.x += c;
    l.w += c;
    l.y += c;
    for (size_t v = 0; v < DEPTH_VECS; v++) {
        size_t at = v * LANES;
        l.keep[v] = vec_lanes(left > at ? left - at : 0);
        l.bias[v] = bias && at < left ? columns_load(bias + c, at, left) : vec_all(0);
    }
    if (left > LANES)
        line_run(&l, 2);
    else
        line_run(&l, 1);
    return left > LANES ? 2 * LANES : LANES;
}

/* What fills up the rows of a result. */
KERNEL_INLINE void clear_tail(size_t pixels, size_t channels, real *y, size_t ldy)
{
    size_t from = columns_padded(channels);
    for (size_t p = 0; from < ldy && p < pixels; p++)
        memset(y + p * ldy + from, 0, (ldy - from) * sizeof *y);
}

KERNEL void fast_depthwise(const struct window *w, const void *x, size_t ldx, const void *weights, size_t ldw,
                           const void *bias, int relu, void *y, size_t ldy)
{
    if (!window_vectors(w, ldx, ldy)) {
        plain_depthwise(w, x, ldx, weights, ldw, bias, relu, y, ldy);
        return;
    }
    struct line l = {.ld = (ptrdiff_t)ldx,
                     .row = (ptrdiff_t)(w->width * ldx),
                     .first = -(ptrdiff_t)w->pad,
                     .stride = (ptrdiff_t)w->stride,
                     .sign = 1,
                     .places = (ptrdiff_t)w->width,
                     .w_row = w->kernel_width * ldw,
                     .w_next = ldw,
                     .cols = w->kernel_width,
                     .count = w->out_width,
                     .step = ldy,
                     .relu = relu};
    for (size_t i = 0; i < w->out_height; i++) {
        struct span rows = window_span(i, w->stride, w->pad, w->kernel_height, w->height);
        l.rows = rows.count;
        l.x = (const real *)x + (rows.count ? rows.first * w->width * ldx : 0);
        l.w = (const real *)weights + (rows.count ? (rows.first + w->pad - i * w->stride) * l.w_row : 0);
        l.y = (real *)y + i * w->out_width * ldy;
        for (size_t c = 0; c < w->channels;)
            c += line_channels(l, c, w->channels, bias);
    }
    clear_tail(w->out_height * w->out_width, w->channels, y, ldy);
}

/* Of a pixel's row (or column) y the window's rows first, first + stride, ... read it, from output rows base,
 * base - 1, ...; those output rows that exist are `there`. */
struct readers {
    size_t first, base;
    struct span there;
};

KERNEL_INLINE struct readers readers_of(size_t y, size_t stride, size_t pad, size_t kernel, size_t outputs)
{
    size_t first = (y + pad) % stride, base = (y + pad) / stride;
    size_t count = first < kernel ? (kernel - first + stride - 1) / stride : 0;
    size_t start = base >= outputs ? base - outputs + 1 : 0, stop = smaller(count, base + 1);
    return (struct readers){first, base, {start, stop > start ? stop - start : 0}};
}

KERNEL void fast_depthwise_data(const struct window *w, const void *dy, size_t lddy, const void *weights,
                                size_t ldw, int add, void *dx, size_t lddx)
{
    if (!window_vectors(w, lddx, lddy)) {
        plain_depthwise_data(w, dy, lddy, weights, ldw, add, dx, lddx);
        return;
    }
    struct line l = {.ld = (ptrdiff_t)lddy,
                     .row = -(ptrdiff_t)(w->out_width * lddy),
                     .stride = 1,
                     .sign = -1,
                     .places = (ptrdiff_t)w->out_width,
                     .w_row = w->stride * w->kernel_width * ldw,
                     .w_next = w->stride * ldw,
                     .step = w->stride * lddx,
                     .add = add};
    for (size_t y = 0; y < w->height; y++) {
        struct readers rows = readers_of(y, w->stride, w->pad, w->kernel_height, w->out_height);
        l.rows = rows.there.count;
        for (size_t x = 0; x < w->stride && x < w->width; x++) { /* and each stride-th pixel from there */
            size_t first = (x + w->pad) % w->stride;
            l.first = (ptrdiff_t)((x + w->pad) / w->stride);
            l.cols = first < w->kernel_width ? (w->kernel_width - first + w->stride - 1) / w->stride : 0;
            l.count = (w->width - x + w->stride - 1) / w->stride;
            l.x = dy;
            l.w = weights;
            if (l.rows && l.cols) {
                l.x += (rows.base - rows.there.first) * w->out_width * lddy;
                l.w += (rows.first * w->kernel_width + first) * ldw + rows.there.first * l.w_row;
            }
            l.y = (real *)dx + (y * w->width + x) * lddx;
            for (size_t c = 0; c < w->channels;)
                c += line_channels(l, c, w->channels, NULL);
        }
    }
    if (!add)
        clear_tail(w->height * w->width, w->channels, dx, lddx);
}

/* One output pixel's part of the gradient of places side by side in one row of the window, the first of which
 * reads place `at`; some of them may lie outside. */
KERNEL_INLINE void taps_pixel(const real *x, ptrdiff_t ld, ptrdiff_t at, ptrdiff_t places, const real *dy,
                              int inside, vec *sums, int taps, int vecs)
{
    for (int v = 0; v < vecs; v++) {
        vec pull = vec_load(dy + v * LANES);
        for (int t = 0; t < taps; t++)
            if (inside || (at + t >= 0 && at + t < places))
                sums[t * vecs + v] =
                    vec_fused(pull, vec_load(x + (at + t) * ld + v * LANES), sums[t * vecs + v]);
    }
}

/* Places q .. q + taps - 1 of one row of the window, over one row of output pixels: dw += x * dy. */
KERNEL_INLINE void taps_add(const struct window *w, const real *x, size_t ldx, const real *dy, size_t lddy,
                            size_t q, real *dw, size_t ldw, int taps, int vecs)
{
    vec sums[DEPTH_TAPS * DEPTH_VECS] = {{0}};
    ptrdiff_t stride = (ptrdiff_t)w->stride, places = (ptrdiff_t)w->width, ld = (ptrdiff_t)ldx;
    ptrdiff_t at = (ptrdiff_t)q - (ptrdiff_t)w->pad;
    size_t o = 0;
    for (; o < w->out_width && at < 0; o++, at += stride, dy += lddy)
        taps_pixel(x, ld, at, places, dy, 0, sums, taps, vecs);
    for (; o < w->out_width && at + taps <= places; o++, at += stride, dy += lddy)
        taps_pixel(x, ld, at, places, dy, 1, sums, taps, vecs);
    for (; o < w->out_width; o++, at += stride, dy += lddy)
        taps_pixel(x, ld, at, places, dy, 0, sums, taps, vecs);
    for (int t = 0; t < taps; t++)
        for (int v = 0; v < vecs; v++) {
            real *to = dw + (size_t)t * ldw + v * LANES;
            vec_store(to, vec_load(to) + sums[t * vecs + v]);
        }
}

KERNEL_INLINE void row_taps_add(const struct window *w, const real *x, size_t ldx, const real *dy,
                                size_t lddy, real *dw, size_t ldw, int vecs)
{
    size_t q = 0;
    for (; q + DEPTH_TAPS <= w->kernel_width; q += DEPTH_TAPS)
        taps_add(w, x, ldx, dy, lddy, q, dw + q * ldw, ldw, DEPTH_TAPS, vecs);
    for (; q < w->kernel_width; q++)
        taps_add(w, x, ldx, dy, lddy, q, dw + q * ldw, ldw, 1, vecs);
}

KERNEL void fast_depthwise_weights(const struct window *w, const void *x, size_t ldx, const void *dy,
                                   size_t lddy, void *dw, size_t ldw)
{
    if (!window_vectors(w, ldx, lddy)) {
        plain_depthwise_weights(w, x, ldx, dy, lddy, dw, ldw);
        return;
    }
    for (size_t i = 0; i < w->out_height; i++) {
        struct span rows = window_span(i, w->stride, w->pad, w->kernel_height, w->height);
        const real *pull = (const real *)dy + i * w->out_width * lddy;
        for (size_t r = 0; r < rows.count; r++) {
            const real *row = (const real *)x + (rows.first + r) * w->width * ldx;
            real *to = (real *)dw + (rows.first + r + w->pad - i * w->stride) * w->kernel_width * ldw;
            for (size_t c = 0; c < w->channels; c += 2 * LANES)
                if (w->channels - c > LANES)
                    row_taps_add(w, row + c, ldx, pull + c, lddy, to + c, ldw, 2);
                else
                    row_taps_add(w, row + c, ldx, pull + c, lddy, to + c, ldw, 1);
        }
    }
}
#endif
