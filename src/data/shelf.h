/* SPDX-License-Identifier: MIT
 *
 * The source of images, row by row: a folder of files (pictures.c) or a packed dataset (pack.c). */
#ifndef SPH_DATA_SHELF_H
#define SPH_DATA_SHELF_H

#include "data/picture.h"

struct shelf_kind {
    /* desk->picture <- a row, in 1 or 3 channels; one that is smaller may do if its shorter side keeps least pixels. */
    int (*read)(const void *self, size_t row, struct picture_desk *desk, size_t channels, size_t least);
    char *(*name)(const void *self, size_t row); /* of the row, caller frees; NULL: no memory */
    size_t (*class_of)(const void *self, size_t row);
    void *(*share)(void *self); /* the same once more, each to be freed */
    void (*release)(void *self);
};

struct shelf {
    const struct shelf_kind *kind;
    void *self;
    const char *path; /* what was asked for */
    size_t rows, test_from;
    uint64_t content;
    char *const *classes;     /* (class_count) */
    size_t class_count, size; /* size: that is taken if none is asked for */
    int decode; /* sph_decode that its pixels came from; -1: not known, or files yet to be decoded */
};

/* FNV-1a: content with these bytes behind it. */
#define SHELF_CONTENT UINT64_C(0xcbf29ce484222325) /* of nothing */
static inline uint64_t shelf_content(uint64_t content, const void *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        content = (content ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
    return content;
}

struct folder;
struct pack;
struct shelf shelf_of_folder(struct folder *folder); /* borrowed, as the next */
struct shelf shelf_of_pack(struct pack *pack);

#endif
