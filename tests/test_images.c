/* SPDX-License-Identifier: MIT
 *
 * Image sets: the formats byte by byte, broken files, the test part, rows as a net gets them, flips, and
 * training. */
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

#include "base/file.h"
#include "base/memory.h"
#include "base/random.h"
#include "data/feed.h"
#include "data/images.h"
#include "data/registry.h"
#include "fault.h"
#include "train/trainer.h"

#define FOLDER SPH_TESTS_DIR "/bad/images/"

/* ---------------------------------------------------------------- broken files */

/* "..." at the end of expected stands for anything. */
static int is_message(const char *message, const char *expected)
{
    size_t n = strlen(expected);
    if (n > 3 && !strcmp(expected + n - 3, "..."))
        return !strncmp(message, expected, n - 3) && strlen(message) > n - 3;
    return !strcmp(message, expected);
}

static void every_broken_set_gives_its_message(void **state)
{
    (void)state;
    FILE *list = fopen(FOLDER "expect.txt", "r");
    assert_non_null(list);
    assert_int_equal(chdir(FOLDER), 0); /* so that messages hold no other path */
    char line[512];
    size_t cases = 0, wrong = 0;
    for (; fgets(line, sizeof line, list); cases++) {
        char *save, *source = strtok_r(line, "\t", &save), *expected = strtok_r(NULL, "\n", &save);
        sph_data *data;
        int err = sph_data_open(&data, source, NULL);
        if (err >= 0 || !is_message(sph_error(), expected)) {
            print_error("%s: %s\n  expected %s\n", source, err < 0 ? sph_error() : "no error", expected);
            wrong++;
        }
        assert_null(data);
    }
    fclose(list);
    assert_int_equal(wrong, 0);
    assert_true(cases >= 50);
}

/* ---------------------------------------------------------------- sets made here */

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/spherelu-images-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static const char *at(const char *name)
{
    static char paths[4][256];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const void *bytes, size_t length)
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

static void pack(const char *name)
{
    char command[300];
    snprintf(command, sizeof command, "gzip -n '%s'", at(name));
    assert_int_equal(system(command), 0);
}

/* Byte p of image i, the same everywhere below. */
static uint8_t pixel(size_t i, size_t p)
{
    return (uint8_t)(17 * i + 3 * p + p * p / 7);
}

static uint8_t *cifar_bytes(size_t head, size_t first, size_t rows)
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

static void write_cifar(const char *name, size_t head, size_t first, size_t rows)
{
    uint8_t *bytes = cifar_bytes(head, first, rows);
    write_file(name, bytes, rows * (head + 3072));
    mem_free(bytes);
}

static void write_idx(const char *images, const char *labels, size_t first, uint8_t rows, uint8_t height,
                      uint8_t width)
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

static sph_data *opened(const char *source, size_t rows)
{
    sph_data *data;
    sph_data_opts opts = sph_data_defaults();
    opts.rows = rows;
    if (sph_data_open(&data, source, &opts) < 0)
        fail_msg("%s", sph_error());
    return data;
}

static void assert_pixels(const sph_data *data, size_t row, size_t image)
{
    for (size_t p = 0; p < data->features; p++)
        assert_int_equal(data->pixels[row * data->features + p], pixel(image, p));
}

/* Ten, packed or not: batches 1 (4 rows), 2 (3), 5 (2), and a test batch (5). */
static void write_ten(const char *name)
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

static void cifar10_is_read_packed_or_not_in_the_order_of_its_batches(void **state)
{
    (void)state;
    write_ten("ten");
    write_file("ten/batches.meta.txt", "a\nb\r\nc\nd\ne\nf\ng\nh\ni\njot\n\n", 24);
    sph_data *data = opened(at("ten"), 0);
    assert_int_equal(sph_data_rows(data), 14);
    assert_int_equal(sph_data_features(data), 3072);
    assert_int_equal(sph_data_outputs(data), 10);
    assert_int_equal(sph_data_task(data), SPH_TASK_CLASSES);
    assert_int_equal(data->test_from, 9);
    assert_null(sph_data_x(data));
    assert_string_equal(sph_data_class(data, 1), "b");
    assert_string_equal(sph_data_class(data, 9), "jot");
    char name[40];
    assert_int_equal(sph_data_feature(data, 1024 + 32 + 5, name, sizeof name), 0);
    assert_string_equal(name, "pixel_1_1_5");
    for (size_t i = 0; i < 14; i++) {
        assert_true(sph_data_y(data)[i] == (double)(i % 10));
        assert_pixels(data, i, i);
    }
    sph_data_free(data);

    data = opened(at("ten/test_batch.bin.gz"), 0); /* a single file has no part of its own */
    assert_int_equal(sph_data_rows(data), 5);
    assert_int_equal(data->test_from, 0);
    assert_string_equal(sph_data_class(data, 9), "9");
    assert_pixels(data, 0, 9);
    sph_data_free(data);
}

static void cifar100_gives_its_fine_labels(void **state)
{
    (void)state;
    write_cifar("hundred/train.bin", 2, 0, 6);
    write_cifar("hundred/test.bin", 2, 6, 2);
    write_cifar("some.bin", 2, 0, 3);
    const char *sources[] = {"hundred", "hundred/test.bin", "some.bin"};
    size_t rows[] = {8, 2, 3}, first[] = {0, 6, 0};
    for (int s = 0; s < 3; s++) {
        sph_data *data = opened(at(sources[s]), 0);
        assert_int_equal(sph_data_rows(data), rows[s]);
        assert_int_equal(sph_data_outputs(data), 100);
        assert_int_equal(data->test_from, s ? 0 : 6);
        for (size_t i = 0; i < rows[s]; i++) {
            assert_true(sph_data_y(data)[i] == (double)((first[s] + i) * 7 % 100));
            assert_pixels(data, i, first[s] + i);
        }
        sph_data_free(data);
    }
}

static void idx_is_read_packed_or_not_whatever_its_parts(void **state)
{
    (void)state;
    write_idx("digits/train-images-idx3-ubyte", "digits/train-labels-idx1-ubyte", 0, 7, 5, 3);
    write_idx("digits/t10k-images-idx3-ubyte", "digits/t10k-labels-idx1-ubyte", 7, 4, 5, 3);
    pack("digits/train-images-idx3-ubyte");
    pack("digits/t10k-labels-idx1-ubyte");
    sph_data *data = opened(at("digits"), 0);
    assert_int_equal(sph_data_rows(data), 11);
    assert_int_equal(data->test_from, 7);
    assert_true(data->channels == 1 && data->height == 5 && data->width == 3);
    assert_int_equal(sph_data_outputs(data), 3);
    for (size_t i = 0; i < 11; i++) {
        assert_true(sph_data_y(data)[i] == (double)(i % 3));
        assert_pixels(data, i, i);
    }
    sph_data_free(data);
    write_idx("tests/t10k-images.idx3-ubyte", "tests/t10k-labels.idx1-ubyte", 2, 4, 5, 3);
    data = opened(at("tests"), 0); /* a test part alone is a set like any other */
    assert_int_equal(sph_data_rows(data), 4);
    assert_int_equal(data->test_from, 0);
    assert_pixels(data, 3, 5);
    sph_data_free(data);
}

static sph_data *known(const char *name)
{
    char *path;
    if (registry_path(&path, registry_find(name)) < 0) {
        print_message("%s\n", sph_error());
        skip();
    }
    mem_free(path);
    return opened(name, 0);
}

/* Of the training part, in shares of 255. */
static void assert_moments(const sph_data *data, const double *mean, const double *deviation)
{
    struct scaling scaling;
    uint32_t *rows = mem_get(data->test_from, sizeof *rows);
    for (size_t i = 0; i < data->test_from; i++)
        rows[i] = (uint32_t)i;
    assert_int_equal(scaling_fit(&scaling, data, rows, data->test_from, SPH_STANDARDIZE_AUTO), 0);
    for (size_t c = 0; c < data->channels; c++) { /* published with four digits */
        size_t first = c * data->height * data->width;
        assert_true(fabs(scaling.x_mean[first] / 255 - mean[c]) < 5.1e-5);
        assert_true(fabs(scaling.x_scale[first] / 255 - deviation[c]) < 5.1e-5);
    }
    scaling_free(&scaling);
    mem_free(rows);
}

static void the_shared_cifar10_has_its_published_statistics(void **state)
{
    (void)state;
    static const size_t counts[] = {1005, 974, 1032, 1016, 999, 937, 1030, 1001, 1025, 981};
    sph_data *data = known("cifar10");
    assert_int_equal(data->rows, 20000);
    assert_int_equal(data->test_from, 10000);
    assert_string_equal(sph_data_class(data, 0), "airplane");
    size_t seen[10] = {0};
    for (size_t i = 0; i < 10000; i++)
        seen[(size_t)data->y[i]]++;
    assert_memory_equal(seen, counts, sizeof seen);
    assert_moments(data, (double[]){0.4935, 0.4834, 0.4472}, (double[]){0.2476, 0.2446, 0.2626});
    sph_data_free(data);
}

static void fashion_mnist_has_six_thousand_of_each(void **state)
{
    (void)state;
    sph_data *data = known("fashion-mnist");
    assert_int_equal(data->rows, 70000);
    assert_int_equal(data->test_from, 60000);
    assert_true(data->channels == 1 && data->height == 28 && data->width == 28);
    assert_string_equal(sph_data_class(data, 9), "Ankle boot");
    size_t seen[10] = {0};
    for (size_t i = 0; i < 60000; i++)
        seen[(size_t)data->y[i]]++;
    for (int c = 0; c < 10; c++)
        assert_int_equal(seen[c], 6000);
    sph_data_free(data);
}

static void the_imagenet32_subset_has_its_published_statistics(void **state)
{
    (void)state;
    sph_data *data = known("imagenet32");
    if (data->rows != 15000) /* the whole of it */
        skip();
    assert_int_equal(data->test_from, 12500);
    assert_int_equal(data->classes, 50);
    assert_string_equal(sph_data_class(data, 0), "goldfish, Carassius auratus");
    size_t seen[50] = {0};
    for (size_t i = 12500; i < 15000; i++)
        seen[(size_t)data->y[i]]++;
    for (int c = 0; c < 50; c++)
        assert_int_equal(seen[c], 50);
    assert_moments(data, (double[]){0.4769, 0.4508, 0.3995}, (double[]){0.2625, 0.2524, 0.2653});
    sph_data_free(data);
}

/* ---------------------------------------------------------------- parts */

static void a_set_with_a_test_part_gives_it_and_parts_the_rest(void **state)
{
    (void)state;
    write_ten("parts");
    sph_data *data = opened(at("parts"), 0);
    for (int kind = 0; kind < SPH_SPLIT_COUNT; kind++) {
        sph_split split;
        assert_int_equal(sph_split_make(&split, data, (sph_split_kind)kind, 0.5, 0.3, 4), 0);
        assert_int_equal(split.test_rows, 5);
        assert_int_equal(split.val_rows, 3);
        assert_int_equal(split.train_rows, 6);
        int seen[14] = {0};
        for (uint32_t i = 0; i < 5; i++)
            assert_int_equal(split.test[i], 9 + i);
        for (size_t i = 0; i < 3; i++)
            seen[split.val[i]]++;
        for (size_t i = 0; i < 6; i++)
            seen[split.train[i]]++;
        for (size_t i = 0; i < 14; i++)
            assert_int_equal(seen[i], i < 9);
        sph_split_free(&split);
        assert_int_equal(sph_split_make(&split, data, (sph_split_kind)kind, 0, 0, 4), 0);
        assert_int_equal(split.test_rows, 0);
        assert_int_equal(split.train_rows, 9);
        sph_split_free(&split);
    }
    sph_data_free(data);
}

static void some_rows_are_training_rows_and_test_rows_in_proportion(void **state)
{
    (void)state;
    write_ten("some");
    sph_data *data = opened(at("some"), 4);
    assert_int_equal(data->rows, 4 + 3); /* 4 of 9, and 4/9 of 5 rounded up */
    assert_int_equal(data->test_from, 4);
    size_t before = 0;
    for (size_t i = 0; i < 7; i++) {
        size_t image = 0; /* labels repeat, first pixels do not */
        while (image < 14 && pixel(image, 0) != data->pixels[i * 3072])
            image++;
        assert_true(i < 4 ? image < 9 : image >= 9 && image < 14);
        assert_true(!i || image > before);
        assert_pixels(data, i, image);
        assert_true(data->y[i] == (double)(image % 10));
        before = image;
    }
    sph_data_free(data);
    sph_data_opts opts = sph_data_defaults();
    opts.rows = 10;
    assert_int_equal(sph_data_open(&data, at("some"), &opts), SPH_EARG);
    assert_non_null(strstr(sph_error(), "9 training images, fewer than the 10 asked for"));
}

static void a_schema_reads_the_test_part_and_checks_shape_and_classes(void **state)
{
    (void)state;
    write_ten("schema");
    write_idx("schema-digits/train-images-idx3-ubyte", "schema-digits/train-labels-idx1-ubyte", 0, 7, 5, 3);
    sph_data *data = opened(at("schema"), 0), *other;
    json_t *schema;
    assert_int_equal(data_schema(data, &schema), 0);
    sph_data_free(data);
    const json_t *images = json_object_get(schema, "images");
    assert_int_equal(json_integer_value(json_object_get(images, "channels")), 3);
    assert_int_equal(json_array_size(json_object_get(schema, "classes")), 10);

    assert_int_equal(data_open_with_schema(&other, at("schema"), schema, 1), 0);
    assert_int_equal(other->rows, 5);
    assert_pixels(other, 0, 9);
    assert_true(other->y[1] == 0);
    sph_data_free(other);
    assert_int_equal(data_open_with_schema(&other, at("schema/data_batch_1.bin"), schema, 0), 0);
    assert_int_equal(other->rows, 4);
    assert_null(other->y);
    sph_data_free(other);

    assert_int_equal(data_open_with_schema(&other, at("schema-digits"), schema, 1), SPH_EFORMAT);
    assert_non_null(
        strstr(sph_error(), "images of 1 x 5 x 3 (channels, height, width), expected 3 x 32 x 32"));
    assert_int_equal(data_open_with_schema(&other, "crescents", schema, 1), SPH_EFORMAT);
    assert_string_equal(sph_error(), "crescents: not a set of images; the model takes images of 3 x 32 x 32");
    json_array_clear(json_object_get(schema, "classes"));
    json_array_append_new(json_object_get(schema, "classes"), json_string("x"));
    assert_int_equal(data_open_with_schema(&other, at("schema"), schema, 1), SPH_EFORMAT);
    json_array_append_new(json_object_get(schema, "classes"), json_string("y"));
    assert_int_equal(data_open_with_schema(&other, at("schema/data_batch_1.bin"), schema, 1), SPH_EFORMAT);
    assert_non_null(strstr(sph_error(), "image 2: label 2, expected 0 to 1"));
    json_object_set_new(json_object_get(schema, "images"), "width", json_integer(1 << 20));
    assert_int_equal(data_open_with_schema(&other, at("schema"), schema, 1), SPH_EFORMAT);
    json_decref(schema);

    data = opened("crescents", 0);
    assert_int_equal(data_schema(data, &schema), 0);
    sph_data_free(data);
    assert_int_equal(data_open_with_schema(&other, "cifar10", schema, 1), SPH_EFORMAT);
    assert_string_equal(sph_error(), "cifar10: a set of images, expected a table");
    json_decref(schema);
}

/* ---------------------------------------------------------------- rows as the net gets them */

/* A net that begins with the data's images, or with their pixels as a row. */
static sph_net *net_for(const sph_data *data, sph_dtype dtype, int flat)
{
    sph_net *net;
    assert_int_equal(sph_net_new(&net, dtype), 0);
    int from = flat ? sph_net_input(net, data->features)
                    : sph_net_image(net, data->channels, data->height, data->width);
    if (!flat) {
        from = sph_net_conv(
            net, from, &(sph_layer){.units = 4, .kernel = 3, .stride = 1, .pad = 1, .act = SPH_ACT_RELU});
        from = sph_net_global_pool(net, from);
    }
    from = sph_net_dense(net, from, &(sph_layer){.units = sph_data_outputs(data)});
    assert_true(from > 0);
    assert_int_equal(sph_net_ready(net, from, 3), 0);
    return net;
}

static void fit_scaling(sph_net *net, const sph_data *data)
{
    uint32_t rows[] = {1, 3, 4};
    scaling_free(&net->scaling);
    assert_int_equal(scaling_fit(&net->scaling, data, rows, 3, SPH_STANDARDIZE_FEATURES), 0);
}

static void standardisation_is_a_channel_s_over_the_training_rows(void **state)
{
    (void)state;
    write_ten("scaled");
    sph_data *data = opened(at("scaled"), 0);
    sph_net *net = net_for(data, SPH_F64, 0);
    fit_scaling(net, data);
    for (size_t c = 0; c < 3; c++) {
        double sum = 0, squares = 0;
        static const size_t rows[] = {1, 3, 4};
        for (size_t i = 0; i < 3; i++)
            for (size_t p = 0; p < 1024; p++) {
                double value = pixel(rows[i], c * 1024 + p);
                sum += value;
                squares += value * value;
            }
        double mean = sum / 3072, deviation = sqrt(squares / 3072 - mean * mean);
        for (size_t p = 0; p < 1024; p++) { /* sums of whole numbers below 2^53 are exact; the rest rounds */
            assert_true(fabs(net->scaling.x_mean[c * 1024 + p] - mean) < 1e-12 * 255);
            assert_true(fabs(net->scaling.x_scale[c * 1024 + p] - deviation) < 1e-10 * 255);
        }
    }
    scaling_free(&net->scaling);
    uint32_t one = 0;
    assert_int_equal(scaling_fit(&net->scaling, data, &one, 1, SPH_STANDARDIZE_OFF), 0);
    assert_true(net->scaling.x_mean[5] == 0 && net->scaling.x_scale[5] == 255);
    sph_net_free(net);
    sph_data_free(data);
}

static void a_feed_writes_what_the_net_makes_of_raw_bytes(void **state)
{
    (void)state;
    write_ten("fed");
    sph_data *data = opened(at("fed"), 0);
    for (int flat = 0; flat < 2; flat++)
        for (int dtype = 0; dtype < SPH_DTYPE_COUNT; dtype++) {
            sph_net *net = net_for(data, (sph_dtype)dtype, flat);
            fit_scaling(net, data);
            size_t size = net->k->size, length = net_row_length(net);
            uint32_t part[] = {8, 2, 5}, index[] = {2, 0};
            struct feed *feed;
            assert_int_equal(feed_new(&feed, data, part, 3, net), 0);
            assert_int_equal(feed->source.varies, 0);
            char *x = mem_get(2 * length, size), *expected = mem_get(length, size);
            double y[16], *raw = mem_get(3072, sizeof *raw), labels[2];
            assert_int_equal(feed->source.fetch(feed->source.self, index, 2, x, length, y, 8), 0);
            for (size_t i = 0; i < 2; i++) {
                uint32_t row = part[index[i]];
                for (size_t p = 0; p < 3072; p++)
                    raw[p] = data->pixels[row * 3072 + p];
                scaling_apply_x(&net->scaling, 1, raw, raw);
                net_arrange(net, raw, expected);
                assert_memory_equal(x + i * length * size, expected, length * size);
                net->k->to_double(1, (char *)y + i * 8 * size, &labels[i]);
                assert_true(labels[i] == data->y[row]);
            }
            mem_free(x);
            mem_free(expected);
            mem_free(raw);
            feed_free(feed);
            sph_net_free(net);
        }
    sph_data_free(data);
}

static void a_feed_refuses_nets_and_standardisations_that_do_not_fit(void **state)
{
    (void)state;
    write_ten("unfit");
    sph_data *data = opened(at("unfit"), 0);
    struct feed *feed;
    sph_net *net = net_for(data, SPH_F32, 0);
    data->height = 16, data->width = 64; /* as many features */
    assert_int_equal(feed_new(&feed, data, NULL, 3, net), SPH_EARG);
    assert_string_equal(sph_error(),
                        "the net takes 3 x 32 x 32 (channels, height, width), the images are 3 x 16 x 64");
    data->height = data->width = 32;
    fit_scaling(net, data);
    net->scaling.x_mean[1030] += 1;
    assert_int_equal(feed_new(&feed, data, NULL, 3, net), SPH_EFORMAT);
    assert_string_equal(sph_error(), "the net standardises the pixels of channel 1 differently");
    sph_net_free(net);
    sph_data_free(data);
}

/* ---------------------------------------------------------------- flips */

enum { FLIP_ROWS = 64 };

/* 1, 0: row i of x is the image mirrored, as it is. */
static int mirrored(const sph_data *data, const sph_net *net, size_t row, const double *x)
{
    int same = 1, mirror = 1;
    for (size_t p = 0; p < 15; p++) {
        double value = (data->pixels[row * 15 + p] - net->scaling.x_mean[0]) / net->scaling.x_scale[0];
        double other = (data->pixels[row * 15 + p / 3 * 3 + 2 - p % 3] - net->scaling.x_mean[0]) /
                       net->scaling.x_scale[0];
        same &= x[p * 8] == value;
        mirror &= x[p * 8] == other;
    }
    assert_true(same != mirror);
    return mirror;
}

static void flips_fetched(struct feed *feed, const sph_data *data, const sph_net *net, size_t epoch,
                          size_t batch, int backwards, int *out)
{
    double *x = mem_get(FLIP_ROWS * 15 * 8, sizeof *x), *y = mem_get(FLIP_ROWS * 8, sizeof *y);
    feed->source.epoch(feed->source.self, epoch);
    for (size_t i = 0; i < FLIP_ROWS; i += batch) {
        uint32_t index[FLIP_ROWS];
        for (size_t k = 0; k < batch; k++)
            index[k] = (uint32_t)(backwards ? FLIP_ROWS - 1 - i - k : i + k);
        assert_int_equal(feed->source.fetch(feed->source.self, index, batch, x, 15 * 8, y, 8), 0);
        for (size_t k = 0; k < batch; k++)
            out[index[k]] = mirrored(data, net, index[k], x + k * 15 * 8);
    }
    mem_free(x);
    mem_free(y);
}

static void flips_depend_on_seed_epoch_and_row_alone(void **state)
{
    (void)state;
    write_idx("flips/train-images-idx3-ubyte", "flips/train-labels-idx1-ubyte", 0, FLIP_ROWS, 5, 3);
    sph_data *data = opened(at("flips"), 0);
    sph_net *net = net_for(data, SPH_F64, 0);
    fit_scaling(net, data);
    struct feed *feed, *other;
    assert_int_equal(feed_new_augmented(&feed, data, NULL, FLIP_ROWS, net, SPH_AUGMENT_FLIP, 5), 0);
    assert_int_equal(feed_new_augmented(&other, data, NULL, FLIP_ROWS, net, SPH_AUGMENT_FLIP, 6), 0);
    assert_int_equal(feed->source.varies, 1);
    int first[FLIP_ROWS], second[FLIP_ROWS], again[FLIP_ROWS], differ = 0, seeds = 0, sum = 0;
    flips_fetched(feed, data, net, 0, FLIP_ROWS, 0, first);
    flips_fetched(feed, data, net, 1, FLIP_ROWS, 0, second);
    flips_fetched(feed, data, net, 0, 4, 1, again); /* other batches, another order, an epoch come back to */
    assert_memory_equal(first, again, sizeof first);
    flips_fetched(other, data, net, 0, FLIP_ROWS, 0, again);
    for (int i = 0; i < FLIP_ROWS; i++) {
        sum += first[i];
        differ += first[i] != second[i];
        seeds += first[i] != again[i];
    }
    /* 64 fair coins stay within 16 .. 48 but for one time in ten thousand; the seed is fixed */
    assert_in_range(sum, 16, 48);
    assert_in_range(differ, 16, 48);
    assert_in_range(seeds, 16, 48);
    feed_free(feed);
    feed_free(other);
    sph_net_free(net);
    sph_data_free(data);
}

/* ---------------------------------------------------------------- training */

struct diary {
    const struct source *source;
    size_t epochs[8], count, fetches;
};

static int diary_fetch(void *self, const uint32_t *index, size_t count, void *x, size_t ldx, void *y,
                       size_t ldy)
{
    struct diary *diary = self;
    diary->fetches++;
    return diary->source->fetch(diary->source->self, index, count, x, ldx, y, ldy);
}

static void diary_epoch(void *self, size_t epoch)
{
    struct diary *diary = self;
    assert_true(diary->count < 8);
    diary->epochs[diary->count++] = epoch;
}

static int stop_after_seven(void *self, const sph_view *view)
{
    (void)self;
    return view->step == 7;
}

static void the_trainer_announces_each_epoch_and_one_that_is_taken_up_again(void **state)
{
    (void)state;
    write_idx("diary/train-images-idx3-ubyte", "diary/train-labels-idx1-ubyte", 0, 30, 5, 3);
    sph_data *data = opened(at("diary"), 0);
    sph_net *net = net_for(data, SPH_F32, 0);
    fit_scaling(net, data);
    struct feed *feed;
    assert_int_equal(feed_new(&feed, data, NULL, 30, net), 0);
    struct diary diary = {.source = &feed->source};
    struct source source = feed->source;
    source.self = &diary;
    source.fetch = diary_fetch;
    source.epoch = diary_epoch;
    source.varies = 1;
    sph_train_opts opts = sph_train_defaults(SPH_TASK_CLASSES);
    opts.batch = 10;
    opts.epochs = 4;
    struct trainer *trainer;
    assert_int_equal(
        trainer_new(&trainer, &(struct trainer_setup){.net = net, .opts = &opts, .train = &source}), 0);
    assert_int_equal(trainer_run(trainer, &(sph_observer){.step = stop_after_seven}, 1), 0);
    assert_true(trainer_stopped(trainer));
    trainer_restored(trainer);
    assert_int_equal(trainer_run(trainer, NULL, 0), 0);
    static const size_t expected[] = {0, 1, 2, 2, 3};
    assert_int_equal(diary.count, 5);
    assert_memory_equal(diary.epochs, expected, sizeof expected);
    assert_int_equal(diary.fetches, 12);
    trainer_free(trainer);

    diary.count = diary.fetches = 0; /* a full batch that varies is fetched in every epoch */
    opts.batch = 0;
    assert_int_equal(
        trainer_new(&trainer, &(struct trainer_setup){.net = net, .opts = &opts, .train = &source}), 0);
    assert_int_equal(trainer_run(trainer, NULL, 0), 0);
    assert_int_equal(diary.count, 4);
    assert_int_equal(diary.fetches, 4);
    trainer_free(trainer);
    feed_free(feed);
    sph_net_free(net);
    sph_data_free(data);
}

/* Three classes of 8 x 8 images, each with a bright third. */
static void write_bright(const char *images, const char *labels, uint8_t rows, uint64_t seed)
{
    uint8_t bytes[16 + 255 * 64] = {0, 0, 8, 3, 0, 0, 0, rows, 0, 0, 0, 8, 0, 0, 0, 8},
                             names[300] = {0, 0, 8, 1, 0, 0, 0, rows};
    struct rng rng = rng_stream(seed, RNG_DATA, 0);
    for (size_t i = 0; i < rows; i++) {
        uint32_t class = rng_below(&rng, 3);
        names[8 + i] = (uint8_t) class;
        for (size_t p = 0; p < 64; p++)
            bytes[16 + i * 64 + p] = (uint8_t)(rng_below(&rng, 60) + (p / 8 / 3 == class ? 150 : 0));
    }
    write_file(images, bytes, 16 + (size_t)rows * 64);
    write_file(labels, names, 8u + rows);
}

static void a_narrow_vgg6_learns_and_scores_images_as_they_are(void **state)
{
    (void)state;
    write_bright("bright/train-images-idx3-ubyte", "bright/train-labels-idx1-ubyte", 120, 1);
    write_bright("bright/t10k-images-idx3-ubyte", "bright/t10k-labels-idx1-ubyte", 60, 2);
    sph_data *data = opened(at("bright"), 0);
    sph_split split;
    sph_result result, other;
    sph_net *net;
    sph_image_net spec = {.dtype = SPH_F32,
                          .channels = 1,
                          .height = 8,
                          .width = 8,
                          .classes = 3,
                          .scale = 1.0 / 16,
                          .param = SPH_PARAM_SPHERE,
                          .norm = SPH_NORM_BN,
                          .act = SPH_ACT_RELU,
                          .seed = 1};
    sph_train_opts opts = sph_train_defaults(SPH_TASK_CLASSES);
    opts.batch = 16;
    opts.epochs = 8;
    opts.augment = SPH_AUGMENT_FLIP;
    assert_int_equal(sph_split_make(&split, data, SPH_SPLIT_RANDOM, 0.2, 0.2, 1), 0);
    assert_int_equal(split.test_rows, 60);
    assert_int_equal(sph_net_vgg6(&net, &spec), 0);
    if (sph_train(net, data, &split, &opts, NULL, 0, &result) < 0)
        fail_msg("%s", sph_error());
    assert_string_equal(result.test.name[1], "accuracy");
    assert_true(result.test.value[1] > 0.9);

    double raw[64], p[3], hits = 0; /* the training part's score is that of raw bytes, not of flipped ones */
    for (size_t i = 0; i < split.train_rows; i++) {
        for (size_t k = 0; k < 64; k++)
            raw[k] = data->pixels[split.train[i] * 64 + k];
        assert_int_equal(sph_net_forward(net, raw, 1, p), 0);
        size_t top = p[1] > p[0] ? 1 : 0;
        top = p[2] > p[top] ? 2 : top;
        hits += top == (size_t)data->y[split.train[i]];
    }
    assert_true(fabs(hits / (double)split.train_rows - result.train.value[1]) < 1e-12);
    sph_net_free(net);

    opts.augment = SPH_AUGMENT_NONE;
    assert_int_equal(sph_net_vgg6(&net, &spec), 0);
    assert_int_equal(sph_train(net, data, &split, &opts, NULL, 0, &other), 0);
    assert_true(other.train.value[0] != result.train.value[0]);
    sph_net_free(net);
    sph_split_free(&split);
    sph_data_free(data);

    data = opened("crescents", 0);
    opts = sph_train_defaults(SPH_TASK_BINARY);
    opts.augment = SPH_AUGMENT_FLIP;
    assert_int_equal(sph_net_mlp(&net, &(sph_mlp){.inputs = 2, .outputs = 1}), 0);
    assert_int_equal(sph_split_make(&split, data, SPH_SPLIT_RANDOM, 0.2, 0.2, 1), 0);
    assert_int_equal(sph_train(net, data, &split, &opts, NULL, 0, &other), SPH_EARG);
    assert_string_equal(sph_error(), "augment: the data are a table, and only images can be augmented");
    sph_net_free(net);
    sph_split_free(&split);
    sph_data_free(data);
}

/* ---------------------------------------------------------------- memory */

static int open_once(const char *source, const json_t *schema)
{
    sph_data *data = NULL;
    sph_data_opts opts = sph_data_defaults();
    opts.rows = 3;
    int err = schema ? data_open_with_schema(&data, source, schema, 1) : sph_data_open(&data, source, &opts);
    struct feed *feed = NULL;
    sph_split split = {0};
    sph_net *net = NULL;
    if (!err && !schema && !(err = sph_split_make(&split, data, SPH_SPLIT_RANDOM, 0.2, 0, 1)) &&
        !(err = sph_net_new(&net, SPH_F32)) && (err = sph_net_input(net, data->features)) >= 0 &&
        !(err = scaling_fit(&net->scaling, data, split.train, split.train_rows, SPH_STANDARDIZE_AUTO)))
        err = feed_new(&feed, data, split.train, split.train_rows, net);
    feed_free(feed);
    sph_split_free(&split);
    sph_net_free(net);
    sph_data_free(data);
    return err;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    write_ten("memory");
    write_file("memory/batches.meta.txt", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n", 20);
    write_idx("memory-idx/train-images-idx3-ubyte", "memory-idx/train-labels-idx1-ubyte", 0, 7, 5, 3);
    pack("memory-idx/train-labels-idx1-ubyte");
    sph_data *data = opened(at("memory"), 0);
    json_t *schema;
    assert_int_equal(data_schema(data, &schema), 0);
    sph_data_free(data);
    const struct {
        const char *source;
        const json_t *schema;
    } cases[] = {{"memory", NULL}, {"memory-idx", NULL}, {"memory", schema}};
    for (int i = 0; i < 3; i++)
        for (size_t n = 0;; n++) {
            fault_after(n);
            int err = open_once(at(cases[i].source), cases[i].schema), happened = fault_happened();
            fault_off();
            if (!happened) {
                assert_int_equal(err, 0);
                assert_true(n > 15);
                break;
            }
            assert_int_equal(err, SPH_EMEMORY);
            assert_non_null(strstr(sph_error(), "out of memory"));
        }
    json_decref(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_broken_set_gives_its_message),
        cmocka_unit_test(cifar10_is_read_packed_or_not_in_the_order_of_its_batches),
        cmocka_unit_test(cifar100_gives_its_fine_labels),
        cmocka_unit_test(idx_is_read_packed_or_not_whatever_its_parts),
        cmocka_unit_test(the_shared_cifar10_has_its_published_statistics),
        cmocka_unit_test(fashion_mnist_has_six_thousand_of_each),
        cmocka_unit_test(the_imagenet32_subset_has_its_published_statistics),
        cmocka_unit_test(a_set_with_a_test_part_gives_it_and_parts_the_rest),
        cmocka_unit_test(some_rows_are_training_rows_and_test_rows_in_proportion),
        cmocka_unit_test(a_schema_reads_the_test_part_and_checks_shape_and_classes),
        cmocka_unit_test(standardisation_is_a_channel_s_over_the_training_rows),
        cmocka_unit_test(a_feed_writes_what_the_net_makes_of_raw_bytes),
        cmocka_unit_test(a_feed_refuses_nets_and_standardisations_that_do_not_fit),
        cmocka_unit_test(flips_depend_on_seed_epoch_and_row_alone),
        cmocka_unit_test(the_trainer_announces_each_epoch_and_one_that_is_taken_up_again),
        cmocka_unit_test(a_narrow_vgg6_learns_and_scores_images_as_they_are),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
