/* SPDX-License-Identifier: MIT
 *
 * One image file, JPEG or PNG, as bytes. The format is recognized by the first bytes and not by the name. */
#ifndef SPH_DATA_PICTURE_H
#define SPH_DATA_PICTURE_H

#include <stddef.h>
#include <stdint.h>

enum { PICTURE_SIDE = 65500 }; /* libjpeg's most */

struct picture {
    uint8_t *bytes; /* (height, width, step) grows and is used again */
    size_t room;
    size_t width, height, channels;
    size_t step; /* bytes of a pixel: 1, or 4 where it has three channels, which one load takes then */
    size_t full_width, full_height; /* upright, before a smaller one was decoded */
    /* Where the picture lies in its columns and rows: from 0 to width and height, but for a JPEG that was decoded smaller,
     * whose sides become fractions and whose last column or row is in part, or not at all, of the picture. */
    struct picture_extent {
        double from, length;
    } across, down;
};

/* Where pictures are decoded, one for each thread. A zeroed one is fine to begin with. */
struct picture_desk {
    struct picture picture, turned;
    void *jpeg; /* the decoder's handle */
    char *file; /* (room) what is being read: its first length bytes */
    size_t room, length;
};

struct picture_format {
    const char *name;
    int (*knows)(const unsigned char *bytes, size_t length); /* by its first bytes */
    /* desk->picture <- the picture in desk->file, in 1 or 3 channels, upright. Where the format can decode a smaller
     * one at less cost it may, as long as the shorter side keeps least pixels (0: it is decoded whole). */
    int (*decode)(struct picture_desk *desk, const char *path, size_t channels, size_t least);
    void (*release)(struct picture_desk *desk); /* what it keeps there; or NULL */
};

extern const struct picture_format picture_jpeg, picture_png;

/* desk->picture <- the file. A failure names it. */
int picture_read(struct picture_desk *desk, const char *path, size_t channels, size_t least);

/* The same of bytes that are there, which path names. */
int picture_decode(struct picture_desk *desk, const char *path, size_t channels, size_t least);

void picture_desk_free(struct picture_desk *desk);

/* Whether the name of a file ends as those of pictures do. */
int picture_named(const char *name);

/* ---------------------------------------------------------------- for formats */

/* Room for a picture of this shape; sides from 1 to PICTURE_SIDE. share: how many pixels of one can lie in a byte of a
 * file: a picture with more is refused before memory is asked for. */
int picture_shape(struct picture *picture, const char *path, size_t width, size_t height, size_t channels);
int picture_plausible(const char *path, size_t width, size_t height, size_t bytes, size_t share);

/* desk->picture <- turned and mirrored as EXIF's orientation (1 to 8) says. */
int picture_turn(struct picture_desk *desk, const char *path, int orientation);

#endif
