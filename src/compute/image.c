/* SPDX-License-Identifier: MIT
 *
 * Images: patches for products, pools, layer normalization. One image at a time, pixels as rows. */
#include "compute/real.h"
#include "compute/simd.h"

KERNEL size_t window_area(const struct window *w)
{
    return w->kernel_height * w->kernel_width;
}

/* The input pixel at place `at` of the window for output pixel o; SIZE_MAX outside the image. */
KERNEL size_t window_pixel(const struct window *w, size_t o, size_t at)
{
    size_t y = o / w->out_width * w->stride + at / w->kernel_width;
    size_t x = o % w->out_width * w->stride + at % w->kernel_width;
    if (y < w->pad || x < w->pad || y - w->pad >= w->height || x - w->pad >= w->width)
        return SIZE_MAX;
    return (y - w->pad) * w->width + (x - w->pad);
}

/* ---------------------------------------------------------------- patches */

KERNEL void plain_patches(const struct window *w, const void *x, size_t ldx, void *patches, size_t ldp)
{
    const real *image = x;
    size_t area = window_area(w);
    for (size_t o = 0; o < w->out_height * w->out_width; o++) {
        real *patch = (real *)patches + o * ldp;
        for (size_t at = 0; at < area; at++) {
            size_t in = window_pixel(w, o, at);
            for (size_t c = 0; c < w->channels; c++)
                patch[c * area + at] = in == SIZE_MAX ? 0 : image[in * ldx + c];
        }
    }
}

KERNEL void plain_patches_grad(const struct window *w, const void *dpatches, size_t ldp, void *dx,
                               size_t lddx)
{
    real *dimage = dx;
    size_t area = window_area(w);
    for (size_t o = 0; o < w->out_height * w->out_width; o++) {
        const real *patch = (const real *)dpatches + o * ldp;
        for (size_t at = 0; at < area; at++) {
            size_t in = window_pixel(w, o, at);
            for (size_t c = 0; in != SIZE_MAX && c < w->channels; c++)
                dimage[in * lddx + c] += patch[c * area + at];
        }
    }
}

/* ---------------------------------------------------------------- pools */

KERNEL void plain_max_pool(const struct window *w, const void *x, size_t ldx, void *y, size_t ldy,
                           uint32_t *index)
{
    const real *image = x;
    for (size_t o = 0; o < w->out_height * w->out_width; o++) {
        real *out = (real *)y + o * ldy;
        uint32_t *winner = index ? index + o * w->channels : NULL;
        int first = 1;
        for (size_t at = 0; at < window_area(w); at++) {
            size_t in = window_pixel(w, o, at);
            if (in == SIZE_MAX)
                continue;
            for (size_t c = 0; c < w->channels; c++) {
                real value = image[in * ldx + c];
                if (first || value > out[c] || value != value) {
                    out[c] = value;
                    if (winner)
                        winner[c] = (uint32_t)in;
                }
            }
            first = 0;
        }
    }
}

/* Without a fast twin: every pixel of a window taking dy in the lanes it won is no faster than this. */
KERNEL void plain_max_pool_grad(const struct window *w, const void *dy, size_t lddy, const uint32_t *index,
                                void *dx, size_t lddx)
{
    const real *dout = dy;
    real *dimage = dx;
    for (size_t o = 0; o < w->out_height * w->out_width; o++)
        for (size_t c = 0; c < w->channels; c++)
            dimage[index[o * w->channels + c] * lddx + c] += dout[o * lddy + c];
}

KERNEL void plain_avg_pool(const struct window *w, const void *x, size_t ldx, void *y, size_t ldy)
{
    const real *image = x;
    size_t area = window_area(w);
    for (size_t o = 0; o < w->out_height * w->out_width; o++) {
        real *out = (real *)y + o * ldy;
        for (size_t c = 0; c < w->channels; c++)
            out[c] = 0;
        for (size_t at = 0; at < area; at++) {
            size_t in = window_pixel(w, o, at);
            for (size_t c = 0; in != SIZE_MAX && c < w->channels; c++)
                out[c] += image[in * ldx + c];
        }
        for (size_t c = 0; c < w->channels; c++)
            out[c] /= (real)area;
    }
}

KERNEL void plain_avg_pool_grad(const struct window *w, const void *dy, size_t lddy, void *dx, size_t lddx)
{
    const real *dout = dy;
    real *dimage = dx;
    size_t area = window_area(w);
    for (size_t o = 0; o < w->out_height * w->out_width; o++)
        for (size_t at = 0; at < area; at++) {
            size_t in = window_pixel(w, o, at);
            for (size_t c = 0; in != SIZE_MAX && c < w->channels; c++)
                dimage[in * lddx + c] += dout[o * lddy + c] / (real)area;
        }
}

#ifdef KERNELS_FAST
/* The part of a window's rows or columns that lies in an image of `size`. */
struct span {
    size_t first, count;
};

KERNEL_INLINE struct span window_span(size_t out, size_t stride, size_t pad, size_t kernel, size_t size)
{
    size_t start = out * stride, stop = smaller(start + kernel, pad + size);
    start = start > pad ? start : pad;
    return (struct span){start - pad, stop > start ? stop - start : 0};
}

/* What the data feed hands in need not be padded: the plain twins take it. */
KERNEL_INLINE int window_vectors(const struct window *w, size_t ld, size_t ld_out)
{
    return columns_padded(w->channels) <= ld && columns_padded(w->channels) <= ld_out;
}

typedef uint32_t lanes32 __attribute__((vector_size(LANES * 4)));

KERNEL_INLINE void winners_store(uint32_t *index, vec_mask winners, size_t count)
{
    lanes32 numbers = __builtin_convertvector(winners, lanes32);
    if (count >= LANES)
        memcpy(index, &numbers, sizeof numbers);
    else
        for (size_t i = 0; i < count; i++)
            index[i] = numbers[i];
}

/* The winners among height x width pixels, from pixel `first` at x on. */
KERNEL_INLINE void max_at(const real *x, size_t ldx, size_t image_width, size_t first, size_t height,
                          size_t width, size_t channels, real *y, uint32_t *index)
{
    for (size_t c = 0; c < channels; c += LANES) {
        vec best = vec_load(x + c);
        vec_mask winners = (vec_mask){0} + (int)first;
        for (size_t row = 0; row < height; row++)
            for (size_t column = 0; column < width; column++) {
                size_t at = row * image_width + column;
                if (!at)
                    continue;
                vec value = vec_load(x + at * ldx + c);
                vec_mask wins = (vec_mask)(value > best) | (vec_mask)(value != value);
                best = vec_select(wins, value, best);
                if (index)
                    winners = (wins & ((vec_mask){0} + (int)(first + at))) | (~wins & winners);
            }
        vec_store(y + c, best);
        if (index)
            winners_store(index + c, winners, channels - c);
    }
}

KERNEL_INLINE void max_pool_all(const struct window *w, const real *x, size_t ldx, real *y, size_t ldy,
                                uint32_t *index)
{
    size_t channels = w->channels;
    for (size_t i = 0; i < w->out_height; i++) {
        struct span rows = window_span(i, w->stride, w->pad, w->kernel_height, w->height);
        for (size_t j = 0; j < w->out_width; j++, y += ldy, index = index ? index + channels : NULL) {
            struct span cols = window_span(j, w->stride, w->pad, w->kernel_width, w->width);
            size_t first = rows.first * w->width + cols.first;
            const real *from = x + first * ldx;
            if (rows.count == 2 && cols.count == 2)
                max_at(from, ldx, w->width, first, 2, 2, channels, y, index);
            else if (rows.count == 3 && cols.count == 3)
                max_at(from, ldx, w->width, first, 3, 3, channels, y, index);
            else if (rows.count && cols.count)
                max_at(from, ldx, w->width, first, rows.count, cols.count, channels, y, index);
        }
    }
}

KERNEL void fast_max_pool(const struct window *w, const void *x, size_t ldx, void *y, size_t ldy,
                          uint32_t *index)
{
    if (!window_vectors(w, ldx, ldy))
        plain_max_pool(w, x, ldx, y, ldy, index);
    else if (index)
        max_pool_all(w, x, ldx, y, ldy, index);
    else
        max_pool_all(w, x, ldx, y, ldy, NULL);
}

/* The sum of count pixels side by side. */
KERNEL_INLINE vec pixels_sum(const real *x, size_t ldx, size_t count)
{
    vec sums[4] = {{0}};
    for (; count >= 4; count -= 4)
        for (int way = 0; way < 4; way++, x += ldx)
            sums[way] += vec_load(x);
    for (; count; count--, x += ldx)
        sums[0] += vec_load(x);
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

KERNEL void fast_avg_pool(const struct window *w, const void *x, size_t ldx, void *y, size_t ldy)
{
    real *to = y, area = (real)window_area(w);
    if (!window_vectors(w, ldx, ldy)) {
        plain_avg_pool(w, x, ldx, y, ldy);
        return;
    }
    for (size_t i = 0; i < w->out_height; i++) {
        struct span rows = window_span(i, w->stride, w->pad, w->kernel_height, w->height);
        for (size_t j = 0; j < w->out_width; j++, to += ldy) {
            struct span cols = window_span(j, w->stride, w->pad, w->kernel_width, w->width);
            const real *from = (const real *)x + (rows.first * w->width + cols.first) * ldx;
            size_t lines = rows.count, run = cols.count;
            if (run == w->width) { /* whole rows: one run of pixels */
                run *= lines;
                lines = 1;
            }
            for (size_t c = 0; c < w->channels; c += LANES) {
                vec sum = {0};
                for (size_t row = 0; row < lines; row++)
                    sum += pixels_sum(from + row * w->width * ldx + c, ldx, run);
                vec_store(to + c, sum / area);
            }
        }
    }
}

KERNEL void fast_avg_pool_grad(const struct window *w, const void *dy, size_t lddy, void *dx, size_t lddx)
{
    const real *pull = dy;
    real area = (real)window_area(w);
    if (!window_vectors(w, lddx, lddy)) {
        plain_avg_pool_grad(w, dy, lddy, dx, lddx);
        return;
    }
    for (size_t i = 0; i < w->out_height; i++) {
        struct span rows = window_span(i, w->stride, w->pad, w->kernel_height, w->height);
        for (size_t j = 0; j < w->out_width; j++, pull += lddy) {
            struct span cols = window_span(j, w->stride, w->pad, w->kernel_width, w->width);
            for (size_t c = 0; c < w->channels; c += LANES) {
                vec share = vec_load(pull + c) / area;
                for (size_t row = 0; row < rows.count; row++) {
                    real *to = (real *)dx + ((rows.first + row) * w->width + cols.first) * lddx + c;
                    for (size_t column = 0; column < cols.count; column++, to += lddx)
                        vec_store(to, vec_load(to) + share);
                }
            }
        }
    }
}
#endif

/* ---------------------------------------------------------------- layer normalization of an image */

/* Where channel c of pixel p stands in an image of blocks of ld channels. */
KERNEL size_t blocked(size_t pixels, size_t ld, size_t p, size_t c)
{
    return (c / ld * pixels + p) * ld + c % ld;
}

KERNEL void plain_image_norm(size_t pixels, size_t channels, void *z, size_t ldz, double epsilon,
                             const void *gamma, const void *beta, void *inv, void *y, size_t ldy)
{
    real *in = z, *out = y;
    const real *scale = gamma, *shift = beta;
    double count = (double)pixels * (double)channels, mean = 0, square = 0;
    for (size_t p = 0; p < pixels; p++)
        for (size_t c = 0; c < channels; c++)
            mean += (double)in[blocked(pixels, ldz, p, c)];
    mean /= count;
    for (size_t p = 0; p < pixels; p++)
        for (size_t c = 0; c < channels; c++) {
            double off = (double)in[blocked(pixels, ldz, p, c)] - mean;
            square += off * off;
        }
    real inverse = (real)(1 / sqrt(square / count + epsilon)), middle = (real)mean;
    *(real *)inv = inverse;
    for (size_t p = 0; p < pixels; p++)
        for (size_t c = 0; c < channels; c++) {
            real *at = in + blocked(pixels, ldz, p, c);
            *at = (*at - middle) * inverse;
            out[blocked(pixels, ldy, p, c)] = scale[c] * *at + shift[c];
        }
}

KERNEL void plain_image_norm_grad(size_t pixels, size_t channels, const void *dy, size_t lddy,
                                  const void *xhat, size_t ldx, const void *inv, const void *gamma,
                                  void *dgamma, void *dbeta, void *dz, size_t lddz)
{
    const real *dout = dy, *normal = xhat, *scale = gamma;
    real *dscale = dgamma, *dshift = dbeta, *din = dz, inverse = *(const real *)inv;
    double count = (double)pixels * (double)channels, sum = 0, along = 0;
    for (size_t p = 0; p < pixels; p++)
        for (size_t c = 0; c < channels; c++) {
            real pull = dout[blocked(pixels, lddy, p, c)], at = normal[blocked(pixels, ldx, p, c)];
            dscale[c] += pull * at;
            dshift[c] += pull;
            sum += (double)(pull * scale[c]);
            along += (double)(pull * scale[c] * at);
        }
    real mean = (real)(sum / count), mean_along = (real)(along / count);
    for (size_t p = 0; p < pixels; p++)
        for (size_t c = 0; c < channels; c++)
            din[blocked(pixels, lddz, p, c)] =
                inverse * (dout[blocked(pixels, lddy, p, c)] * scale[c] - mean -
                           normal[blocked(pixels, ldx, p, c)] * mean_along);
}

#ifdef KERNELS_FAST
/* Up to IMAGE_VECS vectors of an image's channels, pixels ld apart. The fast twins walk an image strip by
 * strip, where all its matrices are blocked alike. */
enum { IMAGE_VECS = 2 };

struct strip {
    size_t c, left; /* first channel, channels from there to the end of the block */
    int vecs;
    vec_mask keep[IMAGE_VECS]; /* lanes that are channels: padding is 0 and stays so */
};

KERNEL_INLINE struct strip strip_at(size_t c, size_t channels, size_t block)
{
    size_t stop = smaller(channels, (c / block + 1) * block);
    struct strip s = {.c = c, .left = stop - c, .vecs = stop - c > LANES ? 2 : 1};
    for (int v = 0; v < IMAGE_VECS; v++)
        s.keep[v] = vec_lanes(s.left > (size_t)v * LANES ? s.left - (size_t)v * LANES : 0);
    return s;
}

/* The first channel after a strip. */
KERNEL_INLINE size_t strip_end(const struct strip *s)
{
    return s->c + smaller(s->left, (size_t)s->vecs * LANES);
}

/* The sum of x - middle, or of its squares, over `pixels` pixels of a strip. */
KERNEL_INLINE double strip_sum(const struct strip *s, size_t pixels, const real *x, size_t ldx, real middle,
                               int squares, int vecs)
{
    double sum = 0;
    for (size_t top = 0; top < pixels; top += NARROW_ROWS) {
        size_t rows = smaller(pixels - top, NARROW_ROWS);
        int ways = 8 / vecs;
        vec sums[8] = {{0}};
        for (; rows >= (size_t)ways; rows -= (size_t)ways)
            for (int way = 0; way < ways; way++, x += ldx)
                for (int v = 0; v < vecs; v++) {
                    vec off = vec_load(x + v * LANES) - middle;
                    sums[way * vecs + v] += squares ? off * off : off;
                }
        for (; rows; rows--, x += ldx)
            for (int v = 0; v < vecs; v++) {
                vec off = vec_load(x + v * LANES) - middle;
                sums[v] += squares ? off * off : off;
            }
        sums_fold(sums, vecs, ways);
        for (int v = 0; v < vecs; v++)
            sum += (double)vec_sum(vec_keep(s->keep[v], sums[v]));
    }
    return sum;
}

KERNEL_INLINE double image_sum(size_t pixels, size_t channels, const real *x, size_t ldx, real middle,
                               int squares)
{
    double sum = 0;
    for (size_t c = 0; c < channels;) {
        struct strip s = strip_at(c, channels, ldx);
        const real *from = x + blocked(pixels, ldx, 0, c);
        if (s.vecs == 2)
            sum += strip_sum(&s, pixels, from, ldx, middle, squares, 2);
        else
            sum += strip_sum(&s, pixels, from, ldx, middle, squares, 1);
        c = strip_end(&s);
    }
    return sum;
}

KERNEL_INLINE void strip_norm(const struct strip *s, size_t pixels, real *z, size_t ldz, real middle,
                              real inverse, const real *gamma, const real *beta, real *y, size_t ldy,
                              int vecs)
{
    vec scale[IMAGE_VECS] = {{0}}, shift[IMAGE_VECS] = {{0}};
    for (int v = 0; v < vecs; v++) {
        scale[v] = columns_load(gamma + s->c, (size_t)v * LANES, s->left);
        shift[v] = columns_load(beta + s->c, (size_t)v * LANES, s->left);
    }
#pragma GCC unroll 4
    for (size_t p = 0; p < pixels; p++)
        for (int v = 0; v < vecs; v++) {
            vec xhat = vec_keep(s->keep[v], (vec_load(z + p * ldz + v * LANES) - middle) * inverse);
            vec_store(z + p * ldz + v * LANES, xhat);
            vec_store(y + p * ldy + v * LANES, scale[v] * xhat + shift[v]);
        }
}

KERNEL void fast_image_norm(size_t pixels, size_t channels, void *z, size_t ldz, double epsilon,
                            const void *gamma, const void *beta, void *inv, void *y, size_t ldy)
{
    if (ldz != ldy || ldz % LANES) {
        plain_image_norm(pixels, channels, z, ldz, epsilon, gamma, beta, inv, y, ldy);
        return;
    }
    double count = (double)pixels * (double)channels;
    real middle = (real)(image_sum(pixels, channels, z, ldz, 0, 0) / count);
    double square = image_sum(pixels, channels, z, ldz, middle, 1);
    real inverse = (real)(1 / sqrt(square / count + epsilon));
    *(real *)inv = inverse;
    for (size_t c = 0; c < channels;) {
        struct strip s = strip_at(c, channels, ldz);
        size_t at = blocked(pixels, ldz, 0, c);
        real *rz = (real *)z + at, *ry = (real *)y + at;
        if (s.vecs == 2)
            strip_norm(&s, pixels, rz, ldz, middle, inverse, gamma, beta, ry, ldy, 2);
        else
            strip_norm(&s, pixels, rz, ldz, middle, inverse, gamma, beta, ry, ldy, 1);
        c = strip_end(&s);
    }
}

/* A strip's part of dgamma and dbeta; sum += dy * gamma, along += dy * gamma * xhat. */
KERNEL_INLINE void strip_pulls(const struct strip *s, size_t pixels, const real *dy, size_t lddy,
                               const real *xhat, size_t ldx, const real *gamma, real *dgamma, real *dbeta,
                               double *sum, double *along, int vecs)
{
    static const struct normal none[IMAGE_VECS];
    for (size_t top = 0; top < pixels; top += NARROW_ROWS) {
        vec sums[IMAGE_VECS], products[IMAGE_VECS];
        pulls_stripe(smaller(pixels - top, NARROW_ROWS), dy + top * lddy, lddy, xhat + top * ldx, ldx, none,
                     0, sums, products, vecs);
        for (int v = 0; v < vecs; v++) {
            size_t at = (size_t)v * LANES;
            vec scale = columns_load(gamma + s->c, at, s->left);
            columns_add(dbeta + s->c, at, s->left, sums[v]);
            columns_add(dgamma + s->c, at, s->left, products[v]);
            *sum += (double)vec_sum(vec_keep(s->keep[v], scale * sums[v]));
            *along += (double)vec_sum(vec_keep(s->keep[v], scale * products[v]));
        }
    }
}

KERNEL_INLINE void strip_grad(const struct strip *s, size_t pixels, const real *dy, size_t lddy,
                              const real *xhat, size_t ldx, const real *gamma, real inverse, real mean,
                              real mean_along, real *dz, size_t lddz, int vecs)
{
    vec scale[IMAGE_VECS] = {{0}};
    for (int v = 0; v < vecs; v++)
        scale[v] = columns_load(gamma + s->c, (size_t)v * LANES, s->left);
#pragma GCC unroll 4
    for (size_t p = 0; p < pixels; p++)
        for (int v = 0; v < vecs; v++) {
            vec off = vec_load(dy + p * lddy + v * LANES) * scale[v] - mean -
                      vec_load(xhat + p * ldx + v * LANES) * mean_along;
            vec_store(dz + p * lddz + v * LANES, vec_keep(s->keep[v], inverse * off));
        }
}

KERNEL void fast_image_norm_grad(size_t pixels, size_t channels, const void *dy, size_t lddy,
                                 const void *xhat, size_t ldx, const void *inv, const void *gamma,
                                 void *dgamma, void *dbeta, void *dz, size_t lddz)
{
    if (ldx != lddy || ldx != lddz || ldx % LANES) {
        plain_image_norm_grad(pixels, channels, dy, lddy, xhat, ldx, inv, gamma, dgamma, dbeta, dz, lddz);
        return;
    }
    double count = (double)pixels * (double)channels, sum = 0, along = 0;
    for (size_t c = 0; c < channels;) {
        struct strip s = strip_at(c, channels, ldx);
        size_t at = blocked(pixels, ldx, 0, c);
        const real *rdy = (const real *)dy + at, *rx = (const real *)xhat + at;
        if (s.vecs == 2)
            strip_pulls(&s, pixels, rdy, lddy, rx, ldx, gamma, dgamma, dbeta, &sum, &along, 2);
        else
            strip_pulls(&s, pixels, rdy, lddy, rx, ldx, gamma, dgamma, dbeta, &sum, &along, 1);
        c = strip_end(&s);
    }
    real inverse = *(const real *)inv, mean = (real)(sum / count), mean_along = (real)(along / count);
    for (size_t c = 0; c < channels;) {
        struct strip s = strip_at(c, channels, ldx);
        size_t at = blocked(pixels, ldx, 0, c);
        const real *rdy = (const real *)dy + at, *rx = (const real *)xhat + at;
        real *rdz = (real *)dz + at;
        if (s.vecs == 2)
            strip_grad(&s, pixels, rdy, lddy, rx, ldx, gamma, inverse, mean, mean_along, rdz, lddz, 2);
        else
            strip_grad(&s, pixels, rdy, lddy, rx, ldx, gamma, inverse, mean, mean_along, rdz, lddz, 1);
        c = strip_end(&s);
    }
}
#endif
