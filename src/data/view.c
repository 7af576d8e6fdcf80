/* SPDX-License-Identifier: MIT */
#include "data/view.h"

#include <math.h>

#include "base/random.h"

enum {
    NET = 224,
    SHORT_LEAST = 256,
    SHORT_MOST = 480, /* of a net of 224 */
    WORDS = 32        /* of the stream for each row: more than are ever drawn */
};

static size_t in_proportion(size_t pixels, size_t size)
{
    return (pixels * size + NET / 2) / NET;
}

size_t view_shorter(size_t size)
{
    return in_proportion(SHORT_LEAST, size);
}

size_t view_size(size_t shorter)
{
    size_t size = (shorter * NET + SHORT_LEAST / 2) / SHORT_LEAST;
    return size ? size : 1;
}

void view_choose(struct view_choice *out, sph_augment augment, uint64_t seed, size_t epoch, uint32_t row,
                 size_t size, size_t side)
{
    struct rng rng = rng_stream(seed, RNG_AUGMENT, (uint32_t)epoch);
    size_t least = view_shorter(size), most = in_proportion(SHORT_MOST, size);
    rng.drawn = (uint64_t)row * WORDS;
    *out = (struct view_choice){.shorter = side ? side : least, .x = (double)NAN, .y = (double)NAN};
    if (augment == SPH_AUGMENT_NONE)
        return;
    out->flip = (int)(rng_u32(&rng) & 1);
    if (augment == SPH_AUGMENT_FLIP)
        return;
    out->shorter = least + rng_below(&rng, (uint32_t)(most - least + 1));
    out->x = rng_unit(&rng);
    out->y = rng_unit(&rng);
    for (int i = 0; i < 3 && augment == SPH_AUGMENT_COLOUR; i++)
        out->alpha[i] = rng_normal(&rng);
}

/* Where a window of `size` of `whole` begins. The middle as torchvision rounds it. */
static size_t begins(double at, size_t whole, size_t size)
{
    size_t over = whole - size;
    return isnan(at) ? (size_t)lrint((double)over / 2) : (size_t)(at * (double)(over + 1));
}

void view_place(struct picture_window *out, const struct view_choice *choice, size_t width, size_t height,
                size_t size)
{
    size_t shorter = choice->shorter;
    *out = (struct picture_window){.width = width <= height ? shorter : shorter * width / height,
                                   .height = height <= width ? shorter : shorter * height / width,
                                   .size = size,
                                   .flip = choice->flip};
    out->left = begins(choice->x, out->width, size);
    out->top = begins(choice->y, out->height, size);
}

void view_recolour(uint8_t *pixels, size_t size, const struct view_choice *choice,
                   const struct view_colours *colours)
{
    for (int c = 0; c < 3; c++) {
        double add = 0;
        for (int axis = 0; axis < 3; axis++)
            add += 0.1 * choice->alpha[axis] * colours->shift[axis][c];
        resample_lighten(pixels + (size_t)c * size * size, size * size,
                         (int)nearbyint(fmin(255, fmax(-255, add))));
    }
}

/* Jacobi's rotations of a symmetric matrix: a becomes diagonal, the columns of v its axes. */
static void diagonalise(double a[3][3], double v[3][3])
{
    for (int sweep = 0; sweep < 50; sweep++)
        for (int p = 0; p < 2; p++)
            for (int q = p + 1; q < 3; q++) {
                double angle = 0.5 * atan2(2 * a[p][q], a[q][q] - a[p][p]), c = cos(angle), s = sin(angle);
                for (int k = 0; k < 3; k++) {
                    double left = a[k][p], right = a[k][q];
                    a[k][p] = c * left - s * right;
                    a[k][q] = s * left + c * right;
                }
                for (int k = 0; k < 3; k++) {
                    double above = a[p][k], below = a[q][k], left = v[k][p], right = v[k][q];
                    a[p][k] = c * above - s * below;
                    a[q][k] = s * above + c * below;
                    v[k][p] = c * left - s * right;
                    v[k][q] = s * left + c * right;
                }
            }
}

/* Variances are those of colours in [0, 1], as AlexNet has them; the shift is in levels of a byte. */
void view_axes(struct view_colours *out, double count, const double sum[3], const double product[3][3])
{
    double covariance[3][3], axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            covariance[i][k] = (product[i][k] / count - sum[i] / count * (sum[k] / count)) / (255.0 * 255.0);
    diagonalise(covariance, axes);
    for (int axis = 0; axis < 3; axis++)
        for (int c = 0; c < 3; c++)
            out->shift[axis][c] = 255 * covariance[axis][axis] * axes[c][axis];
}
