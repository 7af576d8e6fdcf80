/* SPDX-License-Identifier: MIT
 *
 * ImageNet32's npz: data (N, 3 s s) of bytes in planes, labels 1..K. A single file could as well be a table, and
 * is one (table_npz.c) unless images are asked for. */
#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "data/registry.h"

static size_t side_of(size_t pixels)
{
    for (size_t side = 1; 3 * side * side <= pixels && side <= IMAGES_SIDE; side++)
        if (3 * side * side == pixels)
            return side;
    return 0;
}

int images_take_arrays(struct images *images, const char *path, const struct array *x,
                       const struct array *labels)
{
    size_t side = side_of(x->columns), count;
    uint8_t *pixels;
    double *y;
    if (x->type != 'u' || x->size != 1 || x->fortran)
        return sph_fail_at(SPH_EFORMAT, path,
                           "data holds numbers of type %c%zu%s, expected bytes (u1) in C order", x->type,
                           x->size, x->fortran ? " column after column" : "");
    if (!side)
        return sph_fail_at(SPH_EFORMAT, path,
                           "data has %zu columns, expected 3 planes of a square, as 3072 = 3 x 32 x 32",
                           x->columns);
    if (images->with_labels && (labels->columns != 1 || (labels->type != 'i' && labels->type != 'u')))
        return sph_fail_at(SPH_EFORMAT, path,
                           "labels has %zu columns of type %c%zu, expected one of whole numbers",
                           labels->columns, labels->type, labels->size);
    if (!size_times(&count, x->rows, x->columns))
        return sph_fail_at(SPH_EFORMAT, path, "the array's shape is too large");
    int err = images_add(images, path, x->rows, 3, side, side, &pixels, &y);
    if (err < 0)
        return err;
    memcpy(pixels, x->bytes, count);
    for (size_t i = 0; y && i < x->rows && !err; i++)
        err = images_label(images, path, i, array_at(labels, i, 0), 1, &y[i]);
    return err;
}

static int read_npz(struct images *images, const char *path)
{
    struct sheet sheet;
    sph_data_opts opts;
    sph_data_defaults(&opts);
    int err = sheet_open(&sheet, path, &opts, &(struct sheet_hints){.need_targets = images->with_labels});
    if (err < 0)
        return err;
    err = images_take_arrays(images, path, &sheet.x, &sheet.y);
    sheet_free(&sheet);
    return err;
}

static int knows_npz(const struct reader_file *file)
{
    return reader_ends(file, ".npz");
}

const struct reader reader_imagenet32 = {.knows = knows_npz,
                                         .read_images = read_npz,
                                         .train = {"train_data_batch_%d.npz"},
                                         .test = {"val_data.npz"},
                                         .names = "classes.txt",
                                         .names_numbered = 1};
