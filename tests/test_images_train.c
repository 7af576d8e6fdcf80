/* SPDX-License-Identifier: MIT
 *
 * Training on image sets. */
#include "image_files.h"

#include "base/random.h"
#include "net/zoo.h"
#include "train/trainer.h"

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
    sph_train_opts opts;
    sph_train_defaults(&opts, SPH_TASK_CLASSES);
    opts.batch = 10;
    opts.epochs = 4;
    struct trainer *trainer;
    assert_int_equal(
        trainer_new(&trainer, &(struct trainer_setup){.net = net, .opts = &opts, .train = &source}), 0);
    assert_int_equal(trainer_run(trainer, &(sph_observer){.step = stop_after_seven}, 1), 0);
    assert_true(trainer_stopped(trainer));
    struct trainer_span spans[TRAINER_SPANS];
    trainer_spans(trainer, spans); /* saved and read back */
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
    sph_image_net spec = {.size = sizeof(sph_image_net),
                          .dtype = SPH_F32,
                          .channels = 1,
                          .height = 8,
                          .width = 8,
                          .classes = 3,
                          .scale = 1.0 / 16,
                          .param = SPH_PARAM_SPHERE,
                          .norm = SPH_NORM_BN,
                          .act = SPH_ACT_RELU,
                          .seed = 1};
    sph_train_opts opts;
    sph_train_defaults(&opts, SPH_TASK_CLASSES);
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
            raw[k] = data->image.pixels[split.train[i] * 64 + k];
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
    sph_train_defaults(&opts, SPH_TASK_BINARY);
    opts.augment = SPH_AUGMENT_FLIP;
    assert_int_equal(sph_net_mlp(&net, &(sph_mlp){.size = sizeof(sph_mlp), .inputs = 2, .outputs = 1}), 0);
    assert_int_equal(sph_split_make(&split, data, SPH_SPLIT_RANDOM, 0.2, 0.2, 1), 0);
    assert_fails(sph_train(net, data, &split, &opts, NULL, 0, &other), SPH_EARG, .key = "augment");
    sph_net_free(net);
    sph_split_free(&split);
    sph_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_trainer_announces_each_epoch_and_one_that_is_taken_up_again),
        cmocka_unit_test(a_narrow_vgg6_learns_and_scores_images_as_they_are),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
