/* SPDX-License-Identifier: MIT
 *
 * CIFAR-10 and CIFAR-100, binary: records of a label (two: coarse, fine) and 32 x 32 red, green and blue
 * bytes. */
#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "data/bytes.h"
#include "data/registry.h"

enum { CIFAR_PIXELS = 3 * 32 * 32, COARSE = 20 };

static int read_records(struct images *images, const char *path, const struct data_bytes *bytes, size_t head)
{
    struct cursor in = cursor_over(bytes->data, bytes->length);
    size_t record = head + CIFAR_PIXELS, rows = cursor_records(&in, record);
    uint8_t *pixels;
    double *y;
    if (!rows)
        return sph_fail_at(SPH_EFORMAT, path,
                           "%zu bytes, expected whole images of %zu: %zu and %zu bytes over", bytes->length,
                           record, bytes->length / record, bytes->length % record);
    int err = images_add(images, path, rows, 3, 32, 32, &pixels, &y);
    for (size_t i = 0; i < rows && !err; i++) {
        const unsigned char *label = cursor_take(&in, head);
        memcpy(pixels + i * CIFAR_PIXELS, cursor_take(&in, CIFAR_PIXELS), CIFAR_PIXELS);
        if (!y)
            continue;
        if (head == 2 && label[0] >= COARSE)
            return sph_fail_at(SPH_EFORMAT, path, "image %zu: coarse label %d, expected 0 to %d", i, label[0],
                               COARSE - 1);
        err = images_label(images, path, i, label[head - 1], 0, &y[i]);
    }
    return err;
}

static int read_cifar(struct images *images, const char *path, size_t head)
{
    struct data_bytes bytes;
    int err = data_bytes_read(&bytes, path);
    if (err < 0)
        return err;
    err = read_records(images, path, &bytes, head);
    data_bytes_free(&bytes);
    return err;
}

static int read_ten(struct images *images, const char *path)
{
    return read_cifar(images, path, 1);
}

static int read_hundred(struct images *images, const char *path)
{
    return read_cifar(images, path, 2);
}

/* By its name, or by the size of its records. */
static int is_hundred(const struct reader_file *file)
{
    const char *slash = strrchr(file->path, '/'), *name = slash ? slash + 1 : file->path;
    struct data_bytes bytes;
    if (strstr(name, "_batch"))
        return 0;
    if (!strncmp(name, "train.", 6) || !strncmp(name, "test.", 5))
        return 1;
    int err = data_bytes_read(&bytes, file->path);
    if (err < 0)
        return err;
    struct cursor in = cursor_over(bytes.data, bytes.length);
    int hundred = !cursor_records(&in, 1 + CIFAR_PIXELS) && cursor_records(&in, 2 + CIFAR_PIXELS);
    data_bytes_free(&bytes);
    return hundred;
}

static int knows_hundred(const struct reader_file *file)
{
    return reader_ends_packed(file, ".bin") ? is_hundred(file) : 0;
}

static int knows_ten(const struct reader_file *file)
{
    int hundred = knows_hundred(file);
    return hundred < 0 ? hundred : !hundred && reader_ends_packed(file, ".bin");
}

const struct reader reader_cifar10 = {.knows = knows_ten,
                                      .read_images = read_ten,
                                      .train = {"data_batch_%d.bin"},
                                      .test = {"test_batch.bin"},
                                      .names = "batches.meta.txt",
                                      .classes = 10};

const struct reader reader_cifar100 = {.knows = knows_hundred,
                                       .read_images = read_hundred,
                                       .train = {"train.bin"},
                                       .test = {"test.bin"},
                                       .names = "fine_label_names.txt",
                                       .classes = 100};
