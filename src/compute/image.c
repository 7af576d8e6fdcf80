/* SPDX-License-Identifier: MIT
 *
 * Images, plainly: patches for products, pools, layer normalization. One image at a time, pixels as rows. */
#include "compute/real.h"

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
        uint32_t *winner = index + o * w->channels;
        int first = 1;
        for (size_t at = 0; at < window_area(w); at++) {
            size_t in = window_pixel(w, o, at);
            if (in == SIZE_MAX)
                continue;
            for (size_t c = 0; c < w->channels; c++) {
                real value = image[in * ldx + c];
                if (first || value > out[c] || value != value) {
                    out[c] = value;
                    winner[c] = (uint32_t)in;
                }
            }
            first = 0;
        }
    }
}

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

/* ---------------------------------------------------------------- layer normalization of an image */

KERNEL void plain_image_norm(size_t pixels, size_t channels, void *z, size_t ldz, double epsilon,
                             const void *gamma, const void *beta, void *inv, void *y, size_t ldy)
{
    real *in = z, *out = y;
    const real *scale = gamma, *shift = beta;
    double count = (double)pixels * (double)channels, mean = 0, square = 0;
    for (size_t p = 0; p < pixels; p++)
        for (size_t c = 0; c < channels; c++)
            mean += (double)in[p * ldz + c];
    mean /= count;
    for (size_t p = 0; p < pixels; p++)
        for (size_t c = 0; c < channels; c++) {
            double off = (double)in[p * ldz + c] - mean;
            square += off * off;
        }
    real inverse = (real)(1 / sqrt(square / count + epsilon)), middle = (real)mean;
    *(real *)inv = inverse;
    for (size_t p = 0; p < pixels; p++)
        for (size_t c = 0; c < channels; c++) {
            real xhat = (in[p * ldz + c] - middle) * inverse;
            in[p * ldz + c] = xhat;
            out[p * ldy + c] = scale[c] * xhat + shift[c];
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
            real pull = dout[p * lddy + c], at = normal[p * ldx + c];
            dscale[c] += pull * at;
            dshift[c] += pull;
            sum += (double)(pull * scale[c]);
            along += (double)(pull * scale[c] * at);
        }
    real mean = (real)(sum / count), mean_along = (real)(along / count);
    for (size_t p = 0; p < pixels; p++)
        for (size_t c = 0; c < channels; c++)
            din[p * lddz + c] =
                inverse * (dout[p * lddy + c] * scale[c] - mean - normal[p * ldx + c] * mean_along);
}
