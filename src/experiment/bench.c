/* SPDX-License-Identifier: MIT
 *
 * How fast it is: the best of several repetitions after a warm-up, each long enough for the clock. */
#include "experiment/bench.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "net/weights.h"
#include "train/trainer.h"

static const double repetition_seconds = 0.1;

/* ---------------------------------------------------------------- one layer's parameters, there and back */

static double seconds_per_call(void (*call)(struct param_step *), struct param_step *step, size_t repeats)
{
    double best = INFINITY;
    size_t calls = 1;
    call(step);
    for (size_t r = 0; r < repeats;) {
        double begin = clock_seconds();
        for (size_t i = 0; i < calls; i++)
            call(step);
        double took = clock_seconds() - begin;
        if (took < repetition_seconds / 4) {
            calls *= 2;
            continue;
        }
        best = fmin(best, took / (double)calls);
        r++;
    }
    return best;
}

int sph_bench_param(const sph_bench_param_opts *opts, double *forward_ns, double *backward_ns)
{
    sph_net *net = NULL;
    struct weights *weights = NULL;
    sph_layer layer = {.units = opts->units, .param = opts->param, .act = SPH_ACT_RELU};
    int err = sph_net_new(&net, opts->dtype);
    if (err < 0)
        return err;
    int node = sph_net_input(net, opts->inputs);
    if (node >= 0)
        node = sph_net_dense(net, node, &layer);
    if ((err = node < 0 ? node : sph_net_ready(net, node, 1)) < 0 ||
        (err = weights_new(&weights, net, net->k, 1)) < 0)
        goto out;
    weights_materialize(weights);
    struct rng rng = rng_stream(1, RNG_NOISE, 0);
    for (size_t i = 0; i < weights->slab_len; i++) {
        double g = rng_normal(&rng);
        net->k->from_double(1, &g, (char *)weights->slab + i * net->k->size);
    }
    size_t repeats = opts->repeats ? opts->repeats : 5;
    double per_weight = 1e9 / ((double)opts->units * (double)opts->inputs);
    *forward_ns = per_weight * seconds_per_call(net->layers[0].ops->to_weight, &weights->step[0], repeats);
    *backward_ns = per_weight * seconds_per_call(net->layers[0].ops->pull_grad, &weights->step[0], repeats);
out:
    weights_free(weights);
    sph_net_free(net);
    return err;
}

/* ---------------------------------------------------------------- a clock for steps */

struct stopwatch stopwatch_start(double seconds, size_t repeats)
{
    return (struct stopwatch){
        .seconds = seconds, .left = repeats + 1, .begin = clock_seconds(), .best = INFINITY};
}

int stopwatch_step(void *self, const sph_view *view)
{
    struct stopwatch *watch = self;
    double now = clock_seconds();
    if (now - watch->begin < watch->seconds)
        return 0;
    if (watch->since)
        watch->best = fmin(watch->best, (now - watch->begin) / (double)(view->step - watch->since));
    if (--watch->left == 0)
        return 1;
    int err = watch->between ? watch->between(watch->self) : 0;
    watch->since = view->step;
    watch->begin = clock_seconds();
    return err;
}

/* ---------------------------------------------------------------- training steps of an mlp */

struct noise {
    size_t size, features;
    char *x, *y;
};

static int noise_fetch(void *self, const uint32_t *index, size_t count, void *x, size_t ldx, void *y,
                       size_t ldy)
{
    const struct noise *noise = self;
    for (size_t i = 0; i < count; i++) {
        memcpy((char *)x + i * ldx * noise->size, noise->x + index[i] * noise->features * noise->size,
               noise->features * noise->size);
        memcpy((char *)y + i * ldy * noise->size, noise->y + index[i] * noise->size, noise->size);
    }
    return 0;
}

/* Standard normal features, a smooth target: a problem that trains without trouble. */
static int noise_make(struct noise *out, const struct kernels *k, size_t rows, size_t features)
{
    struct rng rng = rng_stream(1, RNG_NOISE, 1);
    *out = (struct noise){k->size, features, mem_get(rows * features, k->size), mem_get(rows, k->size)};
    if (!out->x || !out->y)
        return SPH_EMEMORY;
    for (size_t i = 0; i < rows; i++) {
        double y = 0;
        for (size_t j = 0; j < features; j++) {
            double x = rng_normal(&rng);
            y += sin(x + (double)j) / sqrt((double)features);
            k->from_double(1, &x, out->x + (i * features + j) * k->size);
        }
        k->from_double(1, &y, out->y + i * k->size);
    }
    return 0;
}

int sph_bench_mlp(const sph_bench_mlp_opts *opts, double *us_per_step)
{
    sph_net *net = NULL;
    struct trainer *trainer = NULL;
    struct noise noise = {0};
    sph_mlp spec = {.dtype = opts->dtype,
                    .inputs = opts->inputs,
                    .outputs = 1,
                    .hidden = opts->hidden,
                    .depth = opts->depth,
                    .param = opts->param,
                    .norm = opts->norm,
                    .act = opts->act,
                    .seed = 1};
    if (!opts->rows)
        return sph_fail(SPH_EARG, "rows: 0, expected at least 1");
    int err = sph_net_mlp(&net, &spec);
    if (err < 0 || (err = noise_make(&noise, net->k, opts->rows, opts->inputs)) < 0)
        goto out;
    struct source source = {.self = &noise, .rows = opts->rows, .targets = 1, .fetch = noise_fetch};
    sph_train_opts train = sph_train_defaults(SPH_TASK_REGRESSION);
    train.optimizer = opts->optimizer;
    train.lr = 1e-3; /* small enough never to diverge: speed does not depend on it */
    train.batch = 0;
    train.epochs = (size_t)1 << 40;
    train.patience = 0;
    train.threads = opts->threads ? opts->threads : 1;
    struct trainer_setup setup = {.net = net, .opts = &train, .train = &source};
    if ((err = trainer_new(&trainer, &setup)) < 0)
        goto out;
    struct stopwatch watch = stopwatch_start(repetition_seconds, opts->repeats ? opts->repeats : 5);
    sph_observer observer = {.self = &watch, .step = stopwatch_step};
    err = trainer_run(trainer, &observer, 1);
    *us_per_step = watch.best * 1e6;
out:
    trainer_free(trainer);
    mem_free(noise.x);
    mem_free(noise.y);
    sph_net_free(net);
    return err;
}
