/* SPDX-License-Identifier: MIT
 *
 * The part of an image that a network sees: the window and a change of colors. Random choices depend only
 * on (seed, epoch, row of the data): not on batches, threads or resuming.
 *
 * For a network with 224 pixels, the shorter side of a training image is resized to 256 to 480 pixels, and
 * 224 x 224 of these are used, mirrored with probability 1/2 (He and others, 2016). In evaluation the
 * shorter side is resized to 256, and the center is used. Other sizes are in proportion. */
#ifndef SPH_DATA_VIEW_H
#define SPH_DATA_VIEW_H

#include "data/resample.h"
#include "spherelu/base.h"

/* What was drawn for a row, whatever its picture. */
struct view_choice {
    size_t shorter; /* what the shorter side becomes */
    double x, y;    /* [0, 1) where the window lies; NaN: in the middle */
    int flip;
    double alpha[3]; /* by how many tenths of their variance colours change along their axes */
};

/* The axes of the colours of a set: AlexNet's principal components. */
struct view_colours {
    double shift[3][3]; /* [axis][channel] what alpha 1 adds, in levels */
};

/* side: what the shorter side becomes without crop or colour; 0: view_shorter(size). */
void view_choose(struct view_choice *out, sph_augment augment, uint64_t seed, size_t epoch, uint32_t row,
                 size_t size, size_t side);

/* What the shorter side becomes in evaluation, and the size of a net for which that is as it is already. */
size_t view_shorter(size_t size);
size_t view_size(size_t shorter);

/* The window of a picture whose upright sides are these. */
void view_place(struct picture_window *out, const struct view_choice *choice, size_t width, size_t height,
                size_t size);

/* pixels (3, size, size) <- their colours changed. */
void view_recolour(uint8_t *pixels, size_t size, const struct view_choice *choice,
                   const struct view_colours *colours);

/* Axes from the sums of `count` pixels: of each channel, and of products of two. */
void view_axes(struct view_colours *out, double count, const double sum[3], const double product[3][3]);

#endif
