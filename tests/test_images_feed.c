/* SPDX-License-Identifier: MIT
 *
 * Rows of image sets as a net gets them: standardised, fed, flipped. */
#include "image_files.h"

/* ---------------------------------------------------------------- rows as the net gets them */

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
    assert_int_equal(
        scaling_fit(&net->scaling, data, &one, 1, &(struct scaling_how){.kind = SPH_STANDARDIZE_OFF}), 0);
    assert_true(net->scaling.x_mean[5] == 0 && net->scaling.x_scale[5] == 255);
    scaling_free(&net->scaling);
    assert_int_equal(
        scaling_fit(&net->scaling, data, &one, 1, &(struct scaling_how){.kind = SPH_STANDARDIZE_MEAN}), 0);
    double sum = 0;
    for (size_t p = 0; p < 1024; p++)
        sum += pixel(0, p);
    assert_true(fabs(net->scaling.x_mean[5] - sum / 1024) < 1e-12 * 255 && net->scaling.x_scale[5] == 255);
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
                    raw[p] = data->image.pixels[row * 3072 + p];
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
    data->image.height = 16, data->image.width = 64; /* as many features */
    assert_fails(feed_new(&feed, data, NULL, 3, net), SPH_EARG);
    data->image.height = data->image.width = 32;
    fit_scaling(net, data);
    net->scaling.x_mean[1030] += 1;
    assert_fails(feed_new(&feed, data, NULL, 3, net), SPH_EFORMAT);
    sph_net_free(net);
    sph_data_free(data);
}

static void gray_images_are_the_luma_in_one_channel(void **state)
{
    (void)state;
    write_ten("coloured");
    sph_data *colour = opened(at("coloured"), 0), *gray, *again;
    sph_data_opts opts;
    sph_data_defaults(&opts);
    opts.gray = 1;
    assert_int_equal(sph_data_open(&gray, at("coloured"), &opts), 0);
    assert_int_equal(gray->image.channels, 1);
    assert_int_equal(gray->features, 1024);
    assert_int_equal(gray->rows, colour->rows);
    for (size_t i = 0; i < gray->rows; i++)
        for (size_t p = 0; p < 1024; p++) {
            const uint8_t *from = colour->image.pixels + i * 3072 + p;
            double luma = 0.299 * from[0] + 0.587 * from[1024] + 0.114 * from[2048];
            /* the weights are rounded to 16 bits: half a level, and what they lose */
            assert_true(fabs(gray->image.pixels[i * 1024 + p] - luma) < 0.51);
        }
    json_t *schema;
    assert_int_equal(data_schema(gray, &schema), 0);
    assert_int_equal(data_open_like(&again, at("coloured"), schema, 1, NULL), 0);
    assert_int_equal(again->rows, 5);
    assert_memory_equal(again->image.pixels, gray->image.pixels + gray->test_from * 1024, 5 * 1024);
    sph_data_free(again);
    write_idx("small/train-images-idx3-ubyte", "small/train-labels-idx1-ubyte", 0, 4, 5, 3);
    assert_fails(data_open_like(&again, at("small"), schema, 1, NULL), SPH_EFORMAT);
    json_object_set_new(json_object_get(schema, "images"), "channels", json_integer(3));
    assert_fails(data_open_like(&again, at("coloured"), schema, 1, NULL), SPH_EFORMAT);
    json_decref(schema);
    sph_data_free(gray);
    sph_data_free(colour);
}

static void smaller_images_are_means_of_blocks(void **state)
{
    (void)state;
    write_ten("large");
    sph_data *whole = opened(at("large"), 0), *small, *again;
    sph_data_opts opts;
    sph_data_defaults(&opts);
    opts.side = 8;
    assert_int_equal(sph_data_open(&small, at("large"), &opts), 0);
    assert_int_equal(small->features, 3 * 8 * 8);
    for (size_t i = 0; i < small->rows * 3; i++)
        for (size_t p = 0; p < 64; p++) {
            double mean = 0;
            for (size_t k = 0; k < 16; k++)
                mean += whole->image.pixels[i * 1024 + (p / 8 * 4 + k / 4) * 32 + p % 8 * 4 + k % 4] / 16.0;
            assert_int_equal(small->image.pixels[i * 64 + p], (int)floor(mean + 0.5));
        }
    json_t *schema;
    assert_int_equal(data_schema(small, &schema), 0);
    assert_int_equal(data_open_like(&again, at("large"), schema, 1, NULL), 0);
    assert_int_equal(again->rows, 5);
    assert_memory_equal(again->image.pixels, small->image.pixels + small->test_from * 192, 5 * 192);
    sph_data_free(again);
    json_object_set_new(json_object_get(schema, "images"), "shrink", json_integer(2));
    assert_fails(data_open_like(&again, at("large"), schema, 1, NULL), SPH_EFORMAT);
    json_object_set_new(json_object_get(schema, "images"), "shrink", json_integer(1));
    assert_fails(data_open_like(&again, at("large"), schema, 1, NULL), SPH_EFORMAT);
    opts.side = 7;
    assert_fails(sph_data_open(&again, at("large"), &opts), SPH_EARG, .key = "size");
    opts.side = 64;
    assert_fails(sph_data_open(&again, at("large"), &opts), SPH_EARG, .key = "size");
    json_decref(schema);
    sph_data_free(small);
    sph_data_free(whole);
}

/* ---------------------------------------------------------------- flips */

enum { FLIP_ROWS = 64, FLIP_LENGTH = 15 * KERNEL_PAD }; /* a pixel is padded to KERNEL_PAD channels */

/* 1, 0: row i of x is the image mirrored, as it is. */
static int mirrored(const sph_data *data, const sph_net *net, size_t row, const double *x)
{
    int same = 1, mirror = 1;
    for (size_t p = 0; p < 15; p++) {
        double value = (data->image.pixels[row * 15 + p] - net->scaling.x_mean[0]) / net->scaling.x_scale[0];
        double other = (data->image.pixels[row * 15 + p / 3 * 3 + 2 - p % 3] - net->scaling.x_mean[0]) /
                       net->scaling.x_scale[0];
        same &= x[p * KERNEL_PAD] == value;
        mirror &= x[p * KERNEL_PAD] == other;
    }
    assert_true(same != mirror);
    return mirror;
}

static void flips_fetched(struct feed *feed, const sph_data *data, const sph_net *net, size_t epoch,
                          size_t batch, int backwards, int *out)
{
    double *x = mem_get(FLIP_ROWS * FLIP_LENGTH, sizeof *x), *y = mem_get(FLIP_ROWS * 8, sizeof *y);
    feed->source.epoch(feed->source.self, epoch);
    for (size_t i = 0; i < FLIP_ROWS; i += batch) {
        uint32_t index[FLIP_ROWS];
        for (size_t k = 0; k < batch; k++)
            index[k] = (uint32_t)(backwards ? FLIP_ROWS - 1 - i - k : i + k);
        assert_int_equal(feed->source.fetch(feed->source.self, index, batch, x, FLIP_LENGTH, y, 8), 0);
        for (size_t k = 0; k < batch; k++)
            out[index[k]] = mirrored(data, net, index[k], x + k * FLIP_LENGTH);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(standardisation_is_a_channel_s_over_the_training_rows),
        cmocka_unit_test(a_feed_writes_what_the_net_makes_of_raw_bytes),
        cmocka_unit_test(gray_images_are_the_luma_in_one_channel),
        cmocka_unit_test(smaller_images_are_means_of_blocks),
        cmocka_unit_test(a_feed_refuses_nets_and_standardisations_that_do_not_fit),
        cmocka_unit_test(flips_depend_on_seed_epoch_and_row_alone),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
