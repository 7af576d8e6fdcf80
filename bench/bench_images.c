/* SPDX-License-Identifier: MIT
 *
 * Training steps of the networks for images, and the limit that bare convolutions set: both in one run, in
 * turns, so that a machine that is busy for a while slows both. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "file/file.h"
#include "base/memory.h"
#include "base/random.h"
#include "compute/onednn.h"
#include "compute/threads.h"
#include "bench.h"
#include "net/net.h"
#include "net/zoo.h"
#include "train/trainer.h"

static const double repetition_seconds = 0.5;

enum { CHANNELS = 3, SIZE_MOST = 1 << 14, BATCH_MOST = 1 << 20 };

/* ---------------------------------------------------------------- the limit */

struct limit {
    struct onednn_conv_spec *spec; /* (count) different convolutions of the net */
    size_t *times;                 /* (count) how often each occurs             */
    size_t count;
    double best; /* seconds of a step */
    double peak; /* bytes, before the first call */
    int err;
};

static int same_conv(const struct onednn_conv_spec *a, const struct onednn_conv_spec *b)
{
    return !memcmp(&a->window, &b->window, sizeof a->window) && a->units == b->units &&
           a->groups == b->groups && a->input_grad == b->input_grad;
}

/* The convolutions of a training step, none where oneDNN has nothing to offer or nobody asks; the images'
 * own gradient is never asked for. */
static int limit_make(struct limit *out, const sph_net *net, const bench_images_opts *opts)
{
    *out = (struct limit){.best = INFINITY, .peak = NAN};
    out->spec = mem_get(net->layer_count, sizeof *out->spec);
    out->times = mem_get(net->layer_count, sizeof *out->times);
    if (!out->spec || !out->times)
        return SPH_EMEMORY;
    if (opts->steps_only || net->dtype != SPH_F32 || !onednn_block())
        return 0;
    for (size_t i = 0; i < net->node_count; i++) {
        const struct net_node *node = &net->nodes[i];
        if (node->kind != NODE_CONV)
            continue;
        struct onednn_conv_spec spec = {.window = node->window,
                                        .units = net->layers[node->layer].spec.units,
                                        .groups = layer_groups(&net->layers[node->layer]),
                                        .images = opts->batch,
                                        .block = onednn_block(),
                                        .direct = net->conv == SPH_CONV_DIRECT,
                                        .train = 1,
                                        .input_grad = net->nodes[node->in[0]].kind != NODE_INPUT};
        size_t k = 0;
        while (k < out->count && !same_conv(&out->spec[k], &spec))
            k++;
        out->spec[k] = spec;
        out->times[k]++;
        out->count += k == out->count;
    }
    return 0;
}

static void limit_free(struct limit *limit)
{
    mem_free(limit->spec);
    mem_free(limit->times);
}

static void limit_time(void *self, size_t worker)
{
    struct limit *limit = self;
    double sum = 0;
    (void)worker;
    for (size_t k = 0; k < limit->count; k++) {
        double seconds;
        if ((limit->err = onednn_conv_time(&limit->spec[k], 1, &seconds)) < 0)
            return;
        sum += seconds * (double)limit->times[k];
    }
    limit->best = fmin(limit->best, sum);
}

static double peak_bytes(void)
{
    double now, most;
    resident_bytes(&now, &most);
    return most;
}

/* Between two stretches of steps. */
static int limit_turn(void *self)
{
    struct limit *limit = self;
    if (isnan(limit->peak))
        limit->peak = peak_bytes();
    if (limit->count)
        threads_run(1, limit_time, limit);
    return limit->err;
}

/* ---------------------------------------------------------------- images */

struct images {
    const sph_net *net;
    double *image; /* (channels, height, width) the one at work */
};

/* Drawn where they are wanted: a batch is fetched once, and nothing is kept beside it. */
static int images_fetch(void *self, const uint32_t *index, size_t count, void *x, size_t ldx, void *y,
                        size_t ldy)
{
    const struct images *images = self;
    const struct kernels *k = images->net->k;
    size_t features = sph_net_inputs(images->net);
    for (size_t i = 0; i < count; i++) {
        struct rng rng = rng_stream(1, RNG_NOISE, 2 + index[i]);
        double class = (double)(index[i] % sph_net_outputs(images->net));
        for (size_t j = 0; j < features; j++)
            images->image[j] = rng_normal(&rng);
        net_arrange(images->net, images->image, (char *)x + i * ldx * k->size);
        k->from_double(1, &class, (char *)y + i * ldy * k->size);
    }
    return 0;
}

static int make_net(sph_net **out, const bench_images_opts *opts)
{
    if ((unsigned)opts->net >= SPH_NET_COUNT || !net_kind(opts->net)->make)
        return sph_fail_key(SPH_EARG, "net", "%d is not a network for images", (int)opts->net);
    if (opts->batch > BATCH_MOST)
        return sph_fail_key(SPH_EARG, "batch", "%zu, expected 1 to %d", opts->batch, BATCH_MOST);
    if (opts->size > SIZE_MOST)
        return sph_fail_key(SPH_EARG, "size", "%zu, expected 1 to %d", opts->size, SIZE_MOST);
    if ((unsigned)opts->conv >= SPH_CONV_COUNT)
        return sph_fail_key(SPH_EARG, "conv", "unknown value %d", (int)opts->conv);
    sph_image_net spec = {.size = sizeof(sph_image_net),
                          .dtype = opts->dtype,
                          .channels = CHANNELS,
                          .height = opts->size,
                          .width = opts->size,
                          .classes = net_kind(opts->net)->bench.classes,
                          .scale = opts->scale,
                          .param = opts->param,
                          .norm = opts->norm,
                          .act = opts->act,
                          .seed = 1};
    int err = net_kind(opts->net)->make(out, &spec);
    if (!err)
        sph_net_set_conv(*out, opts->conv);
    return err;
}

int bench_images(const bench_images_opts *given, bench_images_result *result)
{
    bench_images_opts settled = *given, *opts = &settled;
    if ((unsigned)given->net < SPH_NET_COUNT) {
        settled.size = given->size ? given->size : net_kind(given->net)->bench.size;
        settled.batch = given->batch ? given->batch : net_kind(given->net)->bench.batch;
    }
    sph_net *net = NULL;
    struct trainer *trainer = NULL;
    struct images images = {0};
    struct limit limit = {0};
    int err = make_net(&net, opts);
    if (err < 0 || (err = limit_make(&limit, net, opts)) < 0)
        goto out;
    images = (struct images){net, mem_get(sph_net_inputs(net), sizeof *images.image)};
    if (!images.image) {
        err = SPH_EMEMORY;
        goto out;
    }
    struct source source = {.self = &images, .rows = opts->batch, .targets = 1, .fetch = images_fetch};
    sph_train_opts train;
    sph_train_defaults(&train, SPH_TASK_CLASSES);
    train.loss = SPH_LOSS_CE;
    sph_train_optimizer(&train, opts->optimizer);
    train.lr = 1e-4; /* small enough never to diverge: speed does not depend on it */
    train.batch = 0;
    train.epochs = (size_t)1 << 40;
    train.patience = 0;
    train.threads = opts->threads ? opts->threads : 1;
    train.memory = opts->memory;
    struct trainer_setup setup = {.net = net, .opts = &train, .train = &source};
    if ((err = trainer_new(&trainer, &setup)) < 0)
        goto out;
    struct stopwatch watch = stopwatch_start(repetition_seconds, opts->repeats ? opts->repeats : 3);
    watch.between = limit_turn;
    watch.self = &limit;
    sph_observer observer = {.self = &watch, .step = stopwatch_step};
    if ((err = trainer_run(trainer, &observer, 1)) < 0)
        goto out;
    *result =
        (bench_images_result){.images_per_second = (double)opts->batch / watch.best,
                              .size = opts->size,
                              .batch = opts->batch,
                              .conv_only = isfinite(limit.best) ? (double)opts->batch / limit.best : NAN,
                              .learned = sph_net_learned(net),
                              .peak_bytes = limit.peak};
out:
    trainer_free(trainer);
    limit_free(&limit);
    mem_free(images.image);
    sph_net_free(net);
    return err;
}
