/* SPDX-License-Identifier: MIT
 *
 * Resizes a part of an image with PIL's bilinear filter: a triangle that is widened if the image becomes
 * smaller. Only the needed pixels are computed. */
#ifndef SPH_DATA_RESAMPLE_H
#define SPH_DATA_RESAMPLE_H

#include "data/picture.h"

/* The window (left, top, size, size) of the picture as it were with width x height pixels. */
struct picture_window {
    size_t width, height, left, top, size;
    int flip; /* left to right, of the window */
};

/* Memory that is used again from call to call; a zeroed one is fine. */
struct resample {
    uint16_t *line; /* (room) one at work, its columns */
    size_t room;
    size_t *start, start_room; /* (size) of colours: where in it a result begins */
    uint16_t *spread;          /* (size, pairs, 8) and what its numbers weigh, for each channel */
    uint32_t *pixel;           /* (size) results */
    size_t pairs, spread_room, pixel_room;
    struct resample_taps {
        size_t *first, *count; /* (size) the numbers that a result is made of */
        uint16_t *weight;      /* (size, most) in 256ths, which they are together */
        size_t most, longest, room;
        size_t from, to; /* of all numbers those that are needed: [from, to) */
    } across, down;
};

/* to (channels, size, size) <- the window, which lies within width x height. */
int resample_window(struct resample *r, const struct picture *picture, const struct picture_window *window,
                    uint8_t *to);
/* bytes (count) <- each changed by so much, -255 to 255, within 0 to 255. */
void resample_lighten(uint8_t *bytes, size_t count, int by);

void resample_free(struct resample *r);

#endif
