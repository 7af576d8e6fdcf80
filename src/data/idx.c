/* SPDX-License-Identifier: MIT
 *
 * IDX, as MNIST and Fashion-MNIST have it: 0, 0, type, dimensions; their sizes; numbers. Labels are a file of
 * their own beside the images. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/registry.h"

static size_t big_endian(const unsigned char *at)
{
    return (size_t)at[0] << 24 | (size_t)at[1] << 16 | (size_t)at[2] << 8 | at[3];
}

static int parse_idx(const struct images_bytes *bytes, const char *path, size_t dimensions, size_t *size)
{
    static const char *const types[16] = {
        [8] = "u8", [9] = "i8", [11] = "i16", [12] = "i32", [13] = "f32", [14] = "f64"};
    const unsigned char *at = bytes->data;
    size_t head = 4 + 4 * dimensions, count = 1;
    if (bytes->length < 4 || at[0] || at[1] || at[2] >= 16 || !types[at[2]])
        return sph_fail_at(SPH_EFORMAT, path, "not an IDX file: it does not begin with 00 00 and a type");
    if (at[2] != 8)
        return sph_fail_at(SPH_EFORMAT, path, "numbers of type %s, expected bytes (u8)", types[at[2]]);
    if (at[3] != dimensions)
        return sph_fail_at(SPH_EFORMAT, path, "%d dimensions, expected %zu for %s", at[3], dimensions,
                           dimensions == 1 ? "labels" : "images");
    if (bytes->length < head)
        return sph_fail_at(SPH_EFORMAT, path, "the file ends within its IDX header");
    for (size_t i = 0; i < dimensions; i++) {
        size[i] = big_endian(at + 4 + 4 * i);
        if (!size[i])
            return sph_fail_at(SPH_EFORMAT, path, "size 0 in dimension %zu", i);
        if (i && size[i] > IMAGES_SIDE)
            return sph_fail_at(SPH_EFORMAT, path, "images with a side of %zu, expected at most %d", size[i],
                               IMAGES_SIDE);
        count *= size[i]; /* below 2^64: 2^32 times 2^16 twice overflows only as 2^64 exactly, and size[0] <
                             2^32 */
    }
    if (bytes->length - head != count)
        return sph_fail_at(SPH_EFORMAT, path, "%zu bytes after the header, expected %zu",
                           bytes->length - head, count);
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
    struct images_bytes bytes = {0};
    size_t count = 0;
    char *beside = labels_path(path);
    int err = beside ? 0 : SPH_EMEMORY;
    if (!err && (!file_exists(beside) || !strcmp(beside, path)))
        err = sph_fail_at(SPH_EIO, path, "its labels are expected in %s, and that is not there",
                          strcmp(beside, path) ? beside : "a file with labels-idx1 in its name");
    if (!err && !(err = images_bytes_read(&bytes, beside)) && !(err = parse_idx(&bytes, beside, 1, &count)) &&
        count != rows)
        err = sph_fail_at(SPH_EFORMAT, beside, "%zu labels for %zu images", count, rows);
    for (size_t i = 0; i < rows && !err; i++)
        err = images_label(images, beside, i, bytes.data[8 + i], 0, &y[i]);
    images_bytes_free(&bytes);
    mem_free(beside);
    return err;
}

static int read_idx(struct images *images, const char *path)
{
    struct images_bytes bytes;
    size_t size[3];
    uint8_t *pixels;
    double *y;
    int err = images_bytes_read(&bytes, path);
    if (err < 0)
        return err;
    if (!(err = parse_idx(&bytes, path, 3, size)) &&
        !(err = images_add(images, path, size[0], 1, size[1], size[2], &pixels, &y))) {
        memcpy(pixels, bytes.data + 16, bytes.length - 16);
        if (y)
            err = read_labels(images, path, size[0], y);
    }
    images_bytes_free(&bytes);
    return err;
}

static int knows_idx(const struct reader_file *file)
{
    return reader_ends_gz(file, "-ubyte") || reader_ends_gz(file, ".idx");
}

const struct reader reader_idx = {.knows = knows_idx,
                                  .read_images = read_idx,
                                  .train = {"train-images-idx3-ubyte", "train-images.idx3-ubyte"},
                                  .test = {"t10k-images-idx3-ubyte", "t10k-images.idx3-ubyte"}};
