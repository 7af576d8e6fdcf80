/* SPDX-License-Identifier: MIT
 *
 * Packed sets: what is packed is what evaluation sees of the files, rows come out of them as out of a folder, and memory
 * does not grow with them. Broken ones are in tests/bad/images. */
#include "image_files.h"

#include <fcntl.h>

#include "data/open.h"
#include "data/pack.h"
#include "data/tool.h"
#include "data/view.h"
#include "file/file.h"
#include "rows/picture_source.h"

static const char *const kinds[] = {"large.jpg", "plain.png", "scans.jpg", "small.jpg", "tall.jpg"};

static void copy(const char *name, const char *picture)
{
    static uint8_t bytes[65536];
    char path[1024];
    snprintf(path, sizeof path, SPH_TESTS_DIR "/golden/pictures/%s", picture);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t got = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    write_file(name, bytes, got);
}

/* Three classes, those to train on and, where asked for, others to test on. */
static void write_photos(const char *name, int parts)
{
    for (int part = 0; part < parts; part++)
        for (int i = 0; i < 5 - part; i++) {
            char path[128];
            snprintf(path, sizeof path, "%s%s/%c/%d%s", name,
                     parts < 2 ? ""
                     : part    ? "/val"
                               : "/train",
                     'a' + i % 3, i, strchr(kinds[i], '.'));
            copy(path, kinds[i]);
        }
}

static sph_data *opened_at(const char *name, size_t size, int gray)
{
    sph_data *data;
    sph_data_opts opts;
    sph_data_defaults(&opts);
    opts.side = size;
    opts.gray = gray;
    opts.workers = 2;
    if (sph_data_open(&data, at(name), &opts) < 0)
        fail_msg("%s", sph_error());
    return data;
}

static void take_all(const sph_data *data, sph_augment augment, uint8_t *out)
{
    struct picture_stream *stream;
    const uint8_t *pixels;
    assert_int_equal(
        data->image.pictures->stream(data->image.pictures, &stream, augment, 5, NULL, data->rows), 0);
    assert_int_equal(stream->begin(stream, 1, NULL, NULL, data->rows), 0);
    for (uint32_t i = 0; i < data->rows; i++) {
        assert_int_equal(stream->take(stream, i, &pixels), 0);
        memcpy(out + i * data->features, pixels, data->features);
    }
    stream->release(stream);
}

static sph_packed packed(const char *from, const char *to, size_t size, int gray)
{
    sph_data_opts opts;
    sph_packed result;
    sph_data_defaults(&opts);
    opts.side = size;
    opts.gray = gray;
    if (sph_data_pack(&result, at(from), at(to), &opts, NULL, NULL) < 0)
        fail_msg("%s", sph_error());
    return result;
}

/* ---------------------------------------------------------------- what comes out */

static void evaluation_sees_the_same_bytes_as_of_the_folder_at_224(void **state)
{
    (void)state;
    write_photos("same", 2);
    for (int gray = 0; gray < 2; gray++) {
        char out[16];
        snprintf(out, sizeof out, "same-%d", gray);
        sph_packed result = packed("same", out, 0, gray);
        assert_int_equal(result.train_images, 5);
        assert_int_equal(result.test_images, 4);
        assert_int_equal(result.side, 256);
        assert_int_equal(result.channels, gray ? 1 : 3);
        sph_data *files = opened_at("same", 0, gray), *pack = opened_at(out, 0, gray);
        assert_int_equal(pack->image.height, 224);
        assert_int_equal(pack->rows, files->rows);
        assert_int_equal(pack->test_from, files->test_from);
        assert_int_equal(pack->classes, 3);
        uint8_t *a = mem_get(files->rows, files->features), *b = mem_get(files->rows, files->features);
        take_all(files, SPH_AUGMENT_NONE, a);
        take_all(pack, SPH_AUGMENT_NONE, b);
        assert_memory_equal(a, b, files->rows * files->features);
        for (uint32_t i = 0; i < files->rows; i++) {
            char *name = files->image.pictures->name(files->image.pictures, i),
                 *other = pack->image.pictures->name(pack->image.pictures, i);
            assert_string_equal(name, other);
            assert_true(files->y[i] == pack->y[i]);
            mem_free(name);
            mem_free(other);
        }
        for (size_t c = 0; c < 3; c++)
            assert_string_equal(files->labels[c], pack->labels[c]);
        mem_free(a);
        mem_free(b);
        sph_data_free(files);
        sph_data_free(pack);
    }
}

static void other_sizes_are_off_by_a_pixel_of_place_at_most(void **state)
{
    (void)state;
    write_photos("sizes", 1);
    for (size_t size = 1; size < 4096;
         size += size < 300 ? 1 : 97) /* what is packed for a net is for that net */
        assert_int_equal(view_size(view_shorter(size)), size);
    packed("sizes", "sizes-64", 64, 0);
    sph_data *pack = opened_at("sizes-64", 0, 0), *files = opened_at("sizes", 64, 0);
    assert_int_equal(pack->image.height, 64);
    assert_int_equal(pack->test_from, 0);
    uint8_t *a = mem_get(files->rows, files->features), *b = mem_get(files->rows, files->features);
    take_all(files, SPH_AUGMENT_NONE, a);
    take_all(pack, SPH_AUGMENT_NONE, b);
    for (size_t i = 0; i < files->rows; i++) {
        size_t best = SIZE_MAX; /* over shifts by a pixel, of the inner part */
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                size_t off = 0;
                for (size_t y = 1; y < 63; y++)
                    for (size_t x = 1; x < 63; x++)
                        off += a[i * files->features + y * 64 + x] !=
                               b[i * files->features + (size_t)((int)y + dy) * 64 + (size_t)((int)x + dx)];
                best = off < best ? off : best;
            }
        assert_int_equal(best, 0);
    }
    take_all(pack, SPH_AUGMENT_COLOUR, b); /* as varied as those of a folder */
    assert_true(memcmp(a, b, files->features) != 0);
    mem_free(a);
    mem_free(b);
    sph_data_free(files);
    sph_data_free(pack);
}

static void rows_of_a_pack_are_chosen_and_gray_or_not_as_asked(void **state)
{
    (void)state;
    write_photos("some", 2);
    packed("some", "some-packed", 32, 0);
    sph_data_opts opts;
    sph_data_defaults(&opts);
    opts.rows = 3;
    opts.gray = 1;
    sph_data *data;
    assert_int_equal(sph_data_open(&data, at("some-packed"), &opts), 0);
    assert_int_equal(data->test_from, 3);
    assert_int_equal(data->features, 32 * 32);
    for (size_t i = 0; i < 3; i++) /* 2, 2 and 1 of a, b and c: 3 of them are one each */
        assert_true(data->y[i] == (double)i);
    uint8_t *pixels = mem_get(data->rows, data->features);
    take_all(data, SPH_AUGMENT_CROP, pixels);
    mem_free(pixels);
    sph_data_free(data);
}

/* 100 images of a pixel, 90 of class 0 and 10 of class 1, the same to test on. */
static void rows_keep_the_proportions_of_the_classes(void **state)
{
    (void)state;
    uint8_t file[128 + 100] = {0};
    static const char *const parts[] = {"skewed/train_", "skewed/val_"};
    for (int part = 0; part < 2; part++)
        for (int labels = 0; labels < 2; labels++) {
            char name[64];
            memset(file, ' ', 128);
            memcpy(file, "\x93NUMPY\x01", 8);
            file[8] = 118;
            file[9] = 0;
            const char *dict = labels ? "{'descr': '|u1', 'fortran_order': False, 'shape': (100,)}"
                                      : "{'descr': '|u1', 'fortran_order': False, 'shape': (100, 1, 1, 1)}";
            memcpy(file + 10, dict, strlen(dict));
            for (int i = 0; i < 100; i++)
                file[128 + i] = (uint8_t)(labels ? i % 10 == 3 : i);
            snprintf(name, sizeof name, "%s%s.npy", parts[part], labels ? "labels" : "images");
            write_file(name, file, sizeof file);
        }
    uint64_t other = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        sph_data_opts opts;
        sph_data *data;
        size_t ones[2] = {0, 0};
        sph_data_defaults(&opts);
        opts.rows = seed % 2 ? 25 : 30;
        opts.seed = seed;
        assert_int_equal(sph_data_open(&data, at("skewed"), &opts), 0);
        assert_int_equal(data->rows, 2 * opts.rows);
        for (size_t i = 0; i < data->rows; i++)
            ones[i >= opts.rows] += data->y[i] == 1;
        for (int part = 0; part < 2; part++) /* of 25: 2 or 3 */
            assert_true(ones[part] == 3 || (seed % 2 && ones[part] == 2));
        other = other ^ data->image.pictures->content;
        sph_data_free(data);
    }
    assert_true(other != 0); /* the seed chooses which */
}

static void a_model_s_classes_are_found_by_name(void **state)
{
    (void)state;
    write_photos("like", 2);
    packed("like", "like-packed", 16, 0);
    sph_data *data = opened_at("like", 16, 0), *other;
    json_t *schema;
    assert_int_equal(data_schema(data, &schema), 0);
    sph_data_free(data);
    write_file("like-packed/classes.txt", "c\nb\na\n", 6); /* the labels mean others now */
    assert_int_equal(data_open_like(&other, at("like-packed"), schema, 1, NULL), 0);
    assert_int_equal(other->rows, 4); /* of the test part */
    assert_true(other->y[0] == 2 && other->y[2] == 1 && other->y[3] == 0);
    char *name = other->image.pictures->name(other->image.pictures, 3);
    assert_string_equal(name, "val/c/2.jpg");
    mem_free(name);
    sph_data_free(other);
    unlink(at("like-packed/val_labels.npy"));
    unlink(at("like-packed/val_files.txt"));
    assert_int_equal(data_open_like(&other, at("like-packed"), schema, 0, NULL), 0);
    assert_null(other->y);
    name = other->image.pictures->name(other->image.pictures, 3);
    assert_string_equal(name, "val/3");
    mem_free(name);
    sph_data_free(other);
    assert_fails(data_open_like(&other, at("like-packed"), schema, 1, NULL), SPH_EIO,
                 .path = at("like-packed/val_images.npy"));
    write_file("like-packed/classes.txt", "c\nb\nzebra\n", 10);
    packed("like", "like-again", 16, 0);
    write_file("like-again/classes.txt", "c\nb\nzebra\n", 10);
    assert_fails(data_open_like(&other, at("like-again"), schema, 1, NULL), SPH_EFORMAT,
                 .path = at("like-again"));
    json_decref(schema);
}

/* ---------------------------------------------------------------- what is refused */

static int stop_at_once(void *self, const sph_progress *progress)
{
    (void)progress;
    return ++*(int *)self > 2;
}

static void what_was_cut_short_leaves_no_set(void **state)
{
    (void)state;
    sph_packed result;
    sph_data *data;
    int calls = 0;
    write_photos("cut", 2);
    assert_int_equal(sph_data_pack(&result, at("cut"), at("cut-packed"), NULL, stop_at_once, &calls), 1);
    assert_int_equal(result.train_images, 0);
    assert_int_equal(pack_is_here(at("cut-packed")), 0);
    assert_fails(sph_data_open(&data, at("cut-packed"), NULL), SPH_EFORMAT);
    assert_int_equal(sph_data_pack(&result, at("cut"), at("cut-packed"), NULL, NULL, NULL), 0);
    assert_fails(sph_data_pack(&result, at("cut"), at("cut-packed"), NULL, NULL, NULL), SPH_EARG,
                 .path = at("cut-packed"));
    packed("cut", "cut-whole", 8, 0);
    assert_fails(sph_data_pack(&result, at("cut-whole"), at("again"), NULL, NULL, NULL), SPH_EARG,
                 .path = at("cut-whole"));
    assert_fails(sph_data_pack(&result, "crescents", at("again"), NULL, NULL, NULL), SPH_EARG);
    write_file("cut/train/a/bad.jpg", "x", 1);
    assert_fails(sph_data_pack(&result, at("cut"), at("bad"), NULL, NULL, NULL), SPH_EFORMAT,
                 .path = at("cut/train/a/bad.jpg"));
    sph_data_opts opts;
    sph_data_defaults(&opts);
    opts.skip_bad = 1;
    assert_int_equal(sph_data_pack(&result, at("cut"), at("left"), &opts, NULL, NULL), 0);
    assert_int_equal(result.left_out, 1);
    assert_int_equal(result.train_images, 5);
}

/* ---------------------------------------------------------------- fifty gigabytes */

static void fifty_gigabytes_need_no_memory_in_proportion(void **state)
{
    (void)state;
    enum { ROWS = 254320, SIDE = 256 };
    char head[128] = "\x93NUMPY\x01";
    off_t bytes = (off_t)ROWS * SIDE * SIDE * 3;
    head[8] = sizeof head - 10;
    memset(head + 10, ' ', sizeof head - 10);
    int length =
        snprintf(head + 10, sizeof head - 10,
                 "{'descr': '|u1', 'fortran_order': False, 'shape': (%d, %d, %d, 3), }", ROWS, SIDE, SIDE);
    head[10 + length] = ' ';
    head[127] = '\n';
    write_file("huge/train_images.npy", head, sizeof head);
    if (truncate(at("huge/train_images.npy"), (off_t)sizeof head + bytes)) {
        print_message("this file system takes no sparse file of %.0f GB\n", (double)bytes / 1e9);
        skip();
    }
    uint8_t *labels = mem_get(128 + ROWS, 1);
    memcpy(labels, "\x93NUMPY\x01", 8);
    memset(labels + 10, ' ', 118);
    labels[8] = 118;
    length = snprintf((char *)labels + 10, 118, "{'descr': '|u1', 'fortran_order': False, 'shape': (%d,), }",
                      ROWS);
    labels[10 + length] = ' ';
    for (size_t i = 0; i < ROWS; i++)
        labels[128 + i] = (uint8_t)(i % 100);
    write_file("huge/train_labels.npy", labels, 128 + ROWS);
    mem_free(labels);

    size_t before = mem_held();
    sph_data *data = opened_at("huge", 0, 0);
    double now, most, began;
    resident_bytes(&began, &most);
    double each = (double)(mem_held() - before) / ROWS;
    assert_int_equal(data->rows, ROWS);
    struct picture_stream *stream;
    const uint8_t *pixels;
    assert_int_equal(
        data->image.pictures->stream(data->image.pictures, &stream, SPH_AUGMENT_NONE, 0, NULL, 0), 0);
    uint32_t rows[2000];
    for (uint32_t i = 0; i < 2000; i++)
        rows[i] = i * 127;
    assert_int_equal(stream->begin(stream, 0, rows, NULL, 2000), 0);
    for (uint32_t i = 0; i < 2000; i++)
        assert_int_equal(stream->take(stream, rows[i], &pixels), 0);
    resident_bytes(&now, &most);
    print_message("%.0f GB: %.2f bytes held for an image; %.0f MB more after 2,000 of %d KB were read\n",
                  (double)bytes / 1e9, each, (now - began) / 1e6, SIDE * SIDE * 3 / 1024);
    assert_true(each <= 16);
    stream->release(stream);
    const char *sanitizer = getenv("SPH_SAN");
    if (sanitizer && strstr(sanitizer, "thread"))
        print_message("the thread sanitizer keeps several bytes for each byte that is read: not compared\n");
    else
        assert_true(isnan(now) || now - began < 100e6); /* what was read is 393 MB */
    sph_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evaluation_sees_the_same_bytes_as_of_the_folder_at_224),
        cmocka_unit_test(other_sizes_are_off_by_a_pixel_of_place_at_most),
        cmocka_unit_test(rows_of_a_pack_are_chosen_and_gray_or_not_as_asked),
        cmocka_unit_test(rows_keep_the_proportions_of_the_classes),
        cmocka_unit_test(a_model_s_classes_are_found_by_name),
        cmocka_unit_test(what_was_cut_short_leaves_no_set),
        cmocka_unit_test(fifty_gigabytes_need_no_memory_in_proportion),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
