/* SPDX-License-Identifier: MIT
 *
 * Image sets as they are read: the formats byte by byte, broken files, the test part, little memory. */
#include "image_files.h"

#include "bad_list.h"
#include "data/registry.h"
#include "fault.h"
#include "skip.h"
#include "spherelu.h"

#define FOLDER SPH_TESTS_DIR "/bad/images/"

/* ---------------------------------------------------------------- broken files */

static void every_broken_set_gives_its_failure(void **state)
{
    (void)state;
    struct bad_list list = bad_list("images");
    for (char *column[5], path[1024]; bad_list_next(&list, column, 5);) {
        sph_data *data;
        snprintf(path, sizeof path, "%s%s", FOLDER, column[0]);
        bad_list_check(&list, sph_data_open(&data, path, NULL), column, 5, path);
        assert_null(data);
    }
    bad_list_end(&list, 50);
}

/* ---------------------------------------------------------------- sets made here */

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
    assert_true(data->image.channels == 1 && data->image.height == 5 && data->image.width == 3);
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
    if (registry_path(&path, registry_find(name)) < 0)
        skip_because("%s", sph_error());
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
    assert_int_equal(scaling_fit(&scaling, data, rows, data->test_from,
                                 &(struct scaling_how){.kind = SPH_STANDARDIZE_AUTO}),
                     0);
    for (size_t c = 0; c < data->image.channels; c++) { /* published with four digits */
        size_t first = c * data->image.height * data->image.width;
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
    assert_true(data->image.channels == 1 && data->image.height == 28 && data->image.width == 28);
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
        skip_because("this is not the subset, it has %zu rows", data->rows);
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
        while (image < 14 && pixel(image, 0) != data->image.pixels[i * 3072])
            image++;
        assert_true(i < 4 ? image < 9 : image >= 9 && image < 14);
        assert_true(!i || image > before);
        assert_pixels(data, i, image);
        assert_true(data->y[i] == (double)(image % 10));
        before = image;
    }
    sph_data_free(data);
    sph_data_opts opts;
    sph_data_defaults(&opts);
    opts.rows = 10;
    assert_fails(sph_data_open(&data, at("some"), &opts), SPH_EARG, .key = "rows");
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

    assert_int_equal(data_open_like(&other, at("schema"), schema, 1, NULL), 0);
    assert_int_equal(other->rows, 5);
    assert_pixels(other, 0, 9);
    assert_true(other->y[1] == 0);
    sph_data_free(other);
    assert_int_equal(data_open_like(&other, at("schema/data_batch_1.bin"), schema, 0, NULL), 0);
    assert_int_equal(other->rows, 4);
    assert_null(other->y);
    sph_data_free(other);

    assert_fails(data_open_like(&other, at("schema-digits"), schema, 1, NULL), SPH_EFORMAT,
                 .path = "train-images-idx3-ubyte");
    assert_fails(data_open_like(&other, "crescents", schema, 1, NULL), SPH_EFORMAT, .path = "crescents");
    json_array_clear(json_object_get(schema, "classes"));
    json_array_append_new(json_object_get(schema, "classes"), json_string("x"));
    assert_int_equal(data_open_like(&other, at("schema"), schema, 1, NULL), SPH_EFORMAT);
    json_array_append_new(json_object_get(schema, "classes"), json_string("y"));
    assert_fails(data_open_like(&other, at("schema/data_batch_1.bin"), schema, 1, NULL), SPH_EFORMAT,
                 .path = "data_batch_1.bin");
    json_object_set_new(json_object_get(schema, "images"), "width", json_integer(1 << 20));
    assert_int_equal(data_open_like(&other, at("schema"), schema, 1, NULL), SPH_EFORMAT);
    json_decref(schema);

    data = opened("crescents", 0);
    assert_int_equal(data_schema(data, &schema), 0);
    sph_data_free(data);
    assert_fails(data_open_like(&other, "cifar10", schema, 1, NULL), SPH_EFORMAT, .path = "cifar10");
    json_decref(schema);
}

/* ---------------------------------------------------------------- memory */

static int open_once(const char *source, const json_t *schema)
{
    sph_data *data = NULL;
    sph_data_opts opts;
    sph_data_defaults(&opts);
    opts.rows = 3;
    int err = schema ? data_open_like(&data, source, schema, 1, NULL) : sph_data_open(&data, source, &opts);
    struct feed *feed = NULL;
    sph_split split = {0};
    sph_net *net = NULL;
    if (!err && !schema && !(err = sph_split_make(&split, data, SPH_SPLIT_RANDOM, 0.2, 0, 1)) &&
        !(err = sph_net_new(&net, SPH_F32)) && (err = sph_net_input(net, data->features)) >= 0 &&
        !(err = scaling_fit(&net->scaling, data, split.train, split.train_rows,
                            &(struct scaling_how){.kind = SPH_STANDARDIZE_AUTO})))
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
            assert_fails(err, SPH_EMEMORY);
        }
    json_decref(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_broken_set_gives_its_failure),
        cmocka_unit_test(cifar10_is_read_packed_or_not_in_the_order_of_its_batches),
        cmocka_unit_test(cifar100_gives_its_fine_labels),
        cmocka_unit_test(idx_is_read_packed_or_not_whatever_its_parts),
        cmocka_unit_test(the_shared_cifar10_has_its_published_statistics),
        cmocka_unit_test(fashion_mnist_has_six_thousand_of_each),
        cmocka_unit_test(the_imagenet32_subset_has_its_published_statistics),
        cmocka_unit_test(a_set_with_a_test_part_gives_it_and_parts_the_rest),
        cmocka_unit_test(some_rows_are_training_rows_and_test_rows_in_proportion),
        cmocka_unit_test(a_schema_reads_the_test_part_and_checks_shape_and_classes),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
