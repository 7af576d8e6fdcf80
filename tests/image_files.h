/* SPDX-License-Identifier: MIT
 *
 * What the tests of image sets share: sets written to a folder of their own, and a net that begins with their
 * images. Include it first: it brings cmocka. */
#ifndef SPH_TESTS_IMAGE_FILES_H
#define SPH_TESTS_IMAGE_FILES_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "failure.h"
#include "file/file.h"
#include "base/memory.h"
#include "rows/feed.h"
#include "data/images.h"
#include "spherelu.h"

/* ---------------------------------------------------------------- sets made here */

static __attribute__((unused)) char folder[64];

static __attribute__((unused)) int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/spherelu-images-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static __attribute__((unused)) int remove_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static __attribute__((unused)) const char *at(const char *name)
{
    static char paths[4][256];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static __attribute__((unused)) void write_file(const char *name, const void *bytes, size_t length)
{
    char *path = mem_text(at(name)), *slash = strrchr(path, '/');
    *slash = '\0';
    assert_int_equal(file_make_directory(path), 0);
    *slash = '/';
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
    mem_free(path);
}

static __attribute__((unused)) void pack(const char *name)
{
    char command[300];
    snprintf(command, sizeof command, "gzip -n '%s'", at(name));
    assert_int_equal(system(command), 0);
}

/* Byte p of image i, the same everywhere below. */
static __attribute__((unused)) uint8_t pixel(size_t i, size_t p)
{
    return (uint8_t)(17 * i + 3 * p + p * p / 7);
}

static __attribute__((unused)) uint8_t *cifar_bytes(size_t head, size_t first, size_t rows)
{
    size_t record = head + 3072;
    uint8_t *bytes = mem_get(rows * record, 1);
    for (size_t i = 0; i < rows; i++) {
        uint8_t *to = bytes + i * record;
        to[0] = (uint8_t)((first + i) % 10);
        if (head == 2)
            to[1] = (uint8_t)((first + i) * 7 % 100);
        for (size_t p = 0; p < 3072; p++)
            to[head + p] = pixel(first + i, p);
    }
    return bytes;
}

static __attribute__((unused)) void write_cifar(const char *name, size_t head, size_t first, size_t rows)
{
    uint8_t *bytes = cifar_bytes(head, first, rows);
    write_file(name, bytes, rows * (head + 3072));
    mem_free(bytes);
}

static __attribute__((unused)) void write_idx(const char *images, const char *labels, size_t first,
                                              uint8_t rows, uint8_t height, uint8_t width)
{
    uint8_t bytes[4096] = {0, 0, 8, 3, 0, 0, 0, rows, 0, 0, 0, height, 0, 0, 0, width};
    uint8_t names[300] = {0, 0, 8, 1, 0, 0, 0, rows};
    size_t size = (size_t)height * width;
    for (size_t i = 0; i < rows; i++) {
        names[8 + i] = (uint8_t)((first + i) % 3);
        for (size_t p = 0; p < size; p++)
            bytes[16 + i * size + p] = pixel(first + i, p);
    }
    write_file(images, bytes, 16 + rows * size);
    write_file(labels, names, 8u + rows);
}

static __attribute__((unused)) sph_data *opened(const char *source, size_t rows)
{
    sph_data *data;
    sph_data_opts opts;
    sph_data_defaults(&opts);
    opts.rows = rows;
    if (sph_data_open(&data, source, &opts) < 0)
        fail_msg("%s", sph_error());
    return data;
}

static __attribute__((unused)) void assert_pixels(const sph_data *data, size_t row, size_t image)
{
    for (size_t p = 0; p < data->features; p++)
        assert_int_equal(data->image.pixels[row * data->features + p], pixel(image, p));
}

/* Ten, packed or not: batches 1 (4 rows), 2 (3), 5 (2), and a test batch (5). */
static __attribute__((unused)) void write_ten(const char *name)
{
    char path[128];
    static const struct {
        const char *file;
        size_t first, rows;
    } files[] = {{"data_batch_1.bin", 0, 4},
                 {"data_batch_2.bin", 4, 3},
                 {"data_batch_5.bin", 7, 2},
                 {"test_batch.bin", 9, 5}};
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s", name, files[i].file);
        write_cifar(path, 1, files[i].first, files[i].rows);
        if (i % 2)
            pack(path);
    }
}

/* A net that begins with the data's images, or with their pixels as a row. */
static __attribute__((unused)) sph_net *net_for(const sph_data *data, sph_dtype dtype, int flat)
{
    sph_net *net;
    assert_int_equal(sph_net_new(&net, dtype), 0);
    int from = flat ? sph_net_input(net, data->features)
                    : sph_net_image(net, data->image.channels, data->image.height, data->image.width);
    if (!flat) {
        from = sph_net_conv(net, from,
                            &(sph_layer){.size = sizeof(sph_layer),
                                         .units = 4,
                                         .kernel = 3,
                                         .stride = 1,
                                         .pad = 1,
                                         .act = SPH_ACT_RELU});
        from = sph_net_global_pool(net, from);
    }
    from = sph_net_dense(net, from, &(sph_layer){.size = sizeof(sph_layer), .units = sph_data_outputs(data)});
    assert_true(from > 0);
    assert_int_equal(sph_net_ready(net, from, 3), 0);
    return net;
}

static __attribute__((unused)) void fit_scaling(sph_net *net, const sph_data *data)
{
    uint32_t rows[] = {1, 3, 4};
    scaling_free(&net->scaling);
    assert_int_equal(
        scaling_fit(&net->scaling, data, rows, 3, &(struct scaling_how){.kind = SPH_STANDARDIZE_FEATURES}),
        0);
}

#endif
