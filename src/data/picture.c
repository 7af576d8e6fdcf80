/* SPDX-License-Identifier: MIT */
#include "data/picture.h"

#include <string.h>
#include <strings.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"
#include "file/file.h"

static const struct picture_format *const formats[] = {&picture_jpeg, &picture_png};

enum { FORMATS = sizeof formats / sizeof *formats };

int picture_named(const char *name)
{
    static const char *const ends[] = {".jpg", ".jpeg", ".png"};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t end = strlen(ends[i]);
        if (length > end && !strcasecmp(name + length - end, ends[i]))
            return 1;
    }
    return 0;
}

int picture_shape(struct picture *picture, const char *path, size_t width, size_t height, size_t channels)
{
    size_t bytes, step = channels == 3 ? 4 : channels;
    if (!width || !height || width > PICTURE_SIDE || height > PICTURE_SIDE)
        return sph_fail_of(SPH_EFORMAT, path, 0, "pixels", "%zu x %zu pixels, expected sides from 1 to %d",
                           width, height, PICTURE_SIDE);
    if (!size_product(&bytes, (size_t[]){width, height, step}, 3))
        return sph_fail_of(SPH_EFORMAT, path, 0, "pixels", "%zu x %zu pixels are too many", width, height);
    if (bytes > picture->room) {
        mem_free(picture->bytes);
        picture->room = 0;
        if (!(picture->bytes = mem_get(bytes, 1)))
            return sph_fail_in(sph_fail_move(SPH_EMEMORY, path, 0, 0), "%zu x %zu pixels", width, height);
        picture->room = bytes;
    }
    picture->width = picture->full_width = width;
    picture->height = picture->full_height = height;
    picture->across = (struct picture_extent){0, (double)width};
    picture->down = (struct picture_extent){0, (double)height};
    picture->channels = channels;
    picture->step = step;
    return 0;
}

int picture_plausible(const char *path, size_t width, size_t height, size_t bytes, size_t share)
{
    size_t pixels, most;
    if (!size_times(&most, bytes, share))
        most = SIZE_MAX;
    if (size_times(&pixels, width, height) && pixels <= most)
        return 0;
    return sph_fail_of(SPH_EFORMAT, path, 0, "pixels",
                       "its header gives %zu x %zu pixels, too many for a file of %zu bytes", width, height,
                       bytes);
}

int picture_decode(struct picture_desk *desk, const char *path, size_t channels, size_t least)
{
    if (!desk->length)
        return sph_fail_at(SPH_EFORMAT, path, "an empty file, expected an image");
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i]->knows((const unsigned char *)desk->file, desk->length))
            return formats[i]->decode(desk, path, channels, least);
    return sph_fail_at(SPH_EFORMAT, path, "not a JPEG or PNG file");
}

int picture_read(struct picture_desk *desk, const char *path, size_t channels, size_t least)
{
    int err = file_read_again(&desk->file, &desk->room, &desk->length, path);
    return err < 0 ? err : picture_decode(desk, path, channels, least);
}

void picture_desk_free(struct picture_desk *desk)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i]->release)
            formats[i]->release(desk);
    mem_free(desk->file);
    mem_free(desk->picture.bytes);
    mem_free(desk->turned.bytes);
    *desk = (struct picture_desk){0};
}

static struct picture_extent mirrored(struct picture_extent extent, size_t pixels, int mirror)
{
    if (mirror)
        extent.from = (double)pixels - extent.from - extent.length;
    return extent;
}

/* 1: none; 2: mirrored; 3: upside down; 4: both; 5: rows and columns exchanged; 6, 7, 8: that and turned. */
int picture_turn(struct picture_desk *desk, const char *path, int orientation)
{
    struct picture *from = &desk->picture, *to = &desk->turned;
    size_t w = from->width, h = from->height, step = from->step;
    int exchanged = orientation >= 5, across, down;
    if (orientation <= 1 || orientation > 8)
        return 0;
    int err = picture_shape(to, path, exchanged ? h : w, exchanged ? w : h, from->channels);
    if (err < 0)
        return err;
    across =
        orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8; /* of from's columns */
    down = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7; /* of from's rows */
    for (size_t y = 0; y < to->height; y++)
        for (size_t x = 0; x < to->width; x++) {
            size_t column = exchanged ? y : x, row = exchanged ? x : y;
            column = across ? w - 1 - column : column;
            row = down ? h - 1 - row : row;
            memcpy(to->bytes + (y * to->width + x) * step, from->bytes + (row * w + column) * step, step);
        }
    struct picture_extent columns = mirrored(from->across, w, across), rows = mirrored(from->down, h, down);
    to->across = exchanged ? rows : columns;
    to->down = exchanged ? columns : rows;
    to->full_width = exchanged ? from->full_height : from->full_width;
    to->full_height = exchanged ? from->full_width : from->full_height;
    struct picture other = *from;
    *from = *to;
    *to = other;
    return 0;
}
