/* SPDX-License-Identifier: MIT
 *
 * IDX, as MNIST and Fashion-MNIST have it: 0, 0, type, dimensions; their sizes; numbers. Labels are a file of
 * their own beside the images. */
#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"
#include "data/bytes.h"
#include "data/registry.h"

/* *numbers (*count) <- what follows the header: as many bytes as the sizes say. */
static int parse_idx(const struct data_bytes *bytes, const char *path, size_t dimensions, size_t *size,
                     const unsigned char **numbers, size_t *count)
{
    static const char *const types[16] = {
        [8] = "u8", [9] = "i8", [11] = "i16", [12] = "i32", [13] = "f32", [14] = "f64"};
    struct cursor in = cursor_over(bytes->data, bytes->length);
    unsigned zeroes = (unsigned)cursor_big(&in, 2), type = (unsigned)cursor_big(&in, 1),
             found = (unsigned)cursor_big(&in, 1);
    if (in.spent || zeroes || type >= 16 || !types[type])
        return sph_fail_at(SPH_EFORMAT, path, "not an IDX file: it does not begin with 00 00 and a type");
    if (type != 8)
        return sph_fail_at(SPH_EFORMAT, path, "numbers of type %s, expected bytes (u8)", types[type]);
    if (found != dimensions)
        return sph_fail_at(SPH_EFORMAT, path, "%u dimensions, expected %zu for %s", found, dimensions,
                           dimensions == 1 ? "labels" : "images");
    for (size_t i = 0; i < dimensions; i++)
        size[i] = (size_t)cursor_big(&in, 4);
    if (in.spent)
        return sph_fail_at(SPH_EFORMAT, path, "the file ends within its IDX header");
    for (size_t i = 0; i < dimensions; i++) {
        if (!size[i])
            return sph_fail_at(SPH_EFORMAT, path, "size 0 in dimension %zu", i);
        if (i && size[i] > IMAGES_SIDE)
            return sph_fail_at(SPH_EFORMAT, path, "images with a side of %zu, expected at most %d", size[i],
                               IMAGES_SIDE);
    }
    if (!size_product(count, size, dimensions) || cursor_left(&in) != *count)
        return sph_fail_at(SPH_EFORMAT, path, "%zu bytes after the header, expected %zu", cursor_left(&in),
                           *count);
    *numbers = cursor_take(&in, *count);
    return 0;
}

/* Where the labels of an images file lie: the same name with labels and idx1; packed or not. */
static char *labels_path(const char *path)
{
    char *copy = mem_format("%s...", path); /* room for .gz */
    if (!copy)
        return NULL;
    size_t n = strlen(path);
    copy[n] = '\0';
    char *name = strrchr(copy, '/') ? strrchr(copy, '/') : copy, *at;
    if ((at = strstr(name, "images")))
        memcpy(at, "labels", 6);
    if ((at = strstr(name, "idx3")))
        memcpy(at, "idx1", 4);
    if (file_exists(copy))
        return copy;
    int packed = n > 3 && !strcmp(copy + n - 3, ".gz");
    memcpy(copy + (packed ? n - 3 : n), packed ? "\0" : ".gz", packed ? 1 : 4);
    if (file_exists(copy))
        return copy;
    memcpy(copy + (packed ? n - 3 : n), packed ? ".gz" : "\0", packed ? 4 : 1); /* to be named in a message */
    return copy;
}

static int read_labels(struct images *images, const char *path, size_t rows, double *y)
{
    struct data_bytes bytes = {0};
    const unsigned char *labels = NULL;
    size_t size, count = 0;
    char *beside = labels_path(path);
    int err = beside ? 0 : SPH_EMEMORY;
    if (!err && (!file_exists(beside) || !strcmp(beside, path)))
        err = sph_fail_at(SPH_EIO, path, "the file with its labels, %s, is missing",
                          strcmp(beside, path) ? beside : "a file with labels-idx1 in its name");
    if (!err && !(err = data_bytes_read(&bytes, beside)) &&
        !(err = parse_idx(&bytes, beside, 1, &size, &labels, &count)) && count != rows)
        err = sph_fail_at(SPH_EFORMAT, beside, "%zu labels for %zu images", count, rows);
    for (size_t i = 0; i < rows && !err; i++)
        err = images_label(images, beside, i, labels[i], 0, &y[i]);
    data_bytes_free(&bytes);
    mem_free(beside);
    return err;
}

static int read_idx(struct images *images, const char *path)
{
    struct data_bytes bytes;
    const unsigned char *numbers = NULL;
    size_t size[3], count;
    uint8_t *pixels;
    double *y;
    int err = data_bytes_read(&bytes, path);
    if (err < 0)
        return err;
    if (!(err = parse_idx(&bytes, path, 3, size, &numbers, &count)) &&
        !(err = images_add(images, path, size[0], 1, size[1], size[2], &pixels, &y))) {
        memcpy(pixels, numbers, count);
        if (y)
            err = read_labels(images, path, size[0], y);
    }
    data_bytes_free(&bytes);
    return err;
}

static int knows_idx(const struct reader_file *file)
{
    return reader_ends_packed(file, "-ubyte") || reader_ends_packed(file, ".idx");
}

const struct reader reader_idx = {.knows = knows_idx,
                                  .read_images = read_idx,
                                  .train = {"train-images-idx3-ubyte", "train-images.idx3-ubyte"},
                                  .test = {"t10k-images-idx3-ubyte", "t10k-images.idx3-ubyte"}};
