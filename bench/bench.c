/* SPDX-License-Identifier: MIT
 *
 * How fast it is: the best of several repetitions after a warm-up, each long enough for the clock. */
#include "bench.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "file/file.h"
#include "base/memory.h"
#include "job/record.h"
#include "net/weights.h"
#include "train/trainer.h"

static const double repetition_seconds = 0.1;

/* ---------------------------------------------------------------- one layer's parameters, there and back */

struct pass {
    const struct param_ops *ops;
    struct param_step *step;
    double damping;
};

static void forward(const struct pass *pass)
{
    pass->ops->to_weight(pass->step);
}

static void backward(const struct pass *pass)
{
    pass->ops->pull_grad(pass->step);
}

static void backward_natural(const struct pass *pass)
{
    pass->ops->pull_grad(pass->step);
    pass->ops->natural(pass->step, pass->damping);
}

enum { FORWARD, BACKWARD, BACKWARD_NATURAL, PASSES };

/* Best of each, in turns: of passes on a busy machine one is not the slower for its place. */
static void seconds_per_call(const struct pass *pass, size_t repeats, double best[PASSES])
{
    static void (*const calls[PASSES])(const struct pass *) = {forward, backward, backward_natural};
    size_t passes = pass->damping > 0 ? PASSES : BACKWARD_NATURAL, count[PASSES];
    for (size_t i = 0; i < passes; i++) {
        best[i] = INFINITY;
        count[i] = 1;
        calls[i](pass);
    }
    for (size_t r = 0; r < repeats; r++)
        for (size_t i = 0; i < passes; i++)
            for (double took = 0; took < repetition_seconds / 4;) {
                double begin = bench_seconds();
                for (size_t k = 0; k < count[i]; k++)
                    calls[i](pass);
                took = bench_seconds() - begin;
                if (took < repetition_seconds / 4)
                    count[i] *= 2;
                else
                    best[i] = fmin(best[i], took / (double)count[i]);
            }
}

int bench_param(const bench_param_opts *opts, bench_param_result *result)
{
    sph_net *net = NULL;
    struct weights *weights = NULL;
    sph_layer layer = {
        .size = sizeof(sph_layer), .units = opts->units, .param = opts->param, .act = SPH_ACT_RELU};
    int err = sph_net_new(&net, opts->dtype);
    if (err < 0)
        return err;
    int node = sph_net_input(net, opts->inputs);
    if (node >= 0)
        node = sph_net_dense(net, node, &layer);
    if ((err = node < 0 ? node : sph_net_ready(net, node, 1)) < 0 ||
        (err = weights_new(&weights, net, net->k, 1)) < 0)
        goto out;
    struct pass pass = {net->layers[0].ops, &weights->step[0], opts->natural};
    if (opts->natural > 0 && !pass.ops->natural) {
        err = sph_fail_key(SPH_EARG, "natural", "%s has no metric to divide by", pass.ops->name);
        goto out;
    }
    weights_materialize(weights);
    struct rng rng = rng_stream(1, RNG_NOISE, 0);
    for (size_t i = 0; i < weights->slab_len; i++) {
        double g = rng_normal(&rng);
        net->k->from_double(1, &g, (char *)weights->slab + i * net->k->size);
    }
    size_t repeats = opts->repeats ? opts->repeats : 5;
    double per_weight = 1e9 / ((double)opts->units * (double)opts->inputs);
    double best[PASSES];
    seconds_per_call(&pass, repeats, best);
    result->forward_ns = per_weight * best[FORWARD];
    result->backward_ns = per_weight * best[BACKWARD];
    result->natural_ns =
        opts->natural > 0 ? per_weight * (best[BACKWARD_NATURAL] - best[BACKWARD]) : (double)NAN;
out:
    weights_free(weights);
    sph_net_free(net);
    return err;
}

/* ---------------------------------------------------------------- a clock for steps */

static size_t counted; /* threads whose processor time is counted; 0: the clock on the wall */

void bench_clock(size_t processors)
{
    counted = processors;
}

double bench_seconds(void)
{
    struct timespec used;
    if (!counted || clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used))
        return clock_seconds();
    return ((double)used.tv_sec + 1e-9 * (double)used.tv_nsec) / (double)counted;
}

struct stopwatch stopwatch_start(double seconds, size_t repeats)
{
    return (struct stopwatch){
        .seconds = seconds, .left = repeats + 1, .begin = bench_seconds(), .best = INFINITY};
}

int stopwatch_step(void *self, const sph_view *view)
{
    struct stopwatch *watch = self;
    double now = bench_seconds();
    if (now - watch->begin < watch->seconds)
        return 0;
    if (watch->since)
        watch->best = fmin(watch->best, (now - watch->begin) / (double)(view->step - watch->since));
    if (--watch->left == 0)
        return 1;
    int err = watch->between ? watch->between(watch->self) : 0;
    watch->since = view->step;
    watch->begin = bench_seconds();
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

/* A net, its noise and a trainer that never ends on its own. */
struct mlp_bench {
    sph_net *net;
    struct noise noise;
    struct source source;
    sph_train_opts train;
    struct trainer *trainer;
};

static void mlp_free(struct mlp_bench *bench)
{
    trainer_free(bench->trainer);
    mem_free(bench->noise.x);
    mem_free(bench->noise.y);
    sph_net_free(bench->net);
}

static int mlp_make(struct mlp_bench *out, const bench_mlp_opts *opts)
{
    sph_mlp spec = {.size = sizeof(sph_mlp),
                    .dtype = opts->dtype,
                    .inputs = opts->inputs,
                    .outputs = 1,
                    .hidden = opts->hidden,
                    .depth = opts->depth,
                    .param = opts->param,
                    .norm = opts->norm,
                    .act = opts->act,
                    .seed = 1};
    *out = (struct mlp_bench){0};
    if (!opts->rows)
        return sph_fail_key(SPH_EARG, "rows", "0, expected at least 1");
    int err = sph_net_mlp(&out->net, &spec);
    if (err < 0 || (err = noise_make(&out->noise, out->net->k, opts->rows, opts->inputs)) < 0)
        return err;
    out->source =
        (struct source){.self = &out->noise, .rows = opts->rows, .targets = 1, .fetch = noise_fetch};
    sph_train_defaults(&out->train, SPH_TASK_REGRESSION);
    sph_train_optimizer(&out->train, opts->optimizer);
    out->train.natural = opts->natural;
    out->train.lr = 1e-3; /* small enough never to diverge: speed does not depend on it */
    out->train.batch = 0;
    out->train.epochs = (size_t)1 << 40;
    out->train.patience = 0;
    out->train.threads = opts->threads ? opts->threads : 1;
    struct trainer_setup setup = {.net = out->net, .opts = &out->train, .train = &out->source};
    return trainer_new(&out->trainer, &setup);
}

int bench_mlp(const bench_mlp_opts *opts, double *us_per_step)
{
    struct mlp_bench bench;
    int err = mlp_make(&bench, opts);
    if (!err) {
        struct stopwatch watch = stopwatch_start(repetition_seconds, opts->repeats ? opts->repeats : 5);
        sph_observer observer = {.self = &watch, .step = stopwatch_step};
        err = trainer_run(bench.trainer, &observer, 1);
        *us_per_step = watch.best * 1e6;
    }
    mlp_free(&bench);
    return err;
}

/* ---------------------------------------------------------------- the same, recorded */

/* Stretches with and without the recording, in turns; many and short, so that some of both have the processor
 * to themselves. */
static const double turn_seconds = 0.002;
enum { TURNS = 100 }; /* of each, in a repetition */

struct turns {
    sph_observer recorder;
    int recording;
    size_t left;
    double begin, best[2]; /* seconds of a step, not recorded and recorded */
    uint64_t since;
};

static int turns_step(void *self, const sph_view *view)
{
    struct turns *turns = self;
    int err = turns->recording ? turns->recorder.step(turns->recorder.self, view) : 0;
    double now = bench_seconds(), took = now - turns->begin;
    if (err || took < turn_seconds)
        return err;
    double *best = &turns->best[turns->recording];
    if (turns->since) /* the first stretch is the warm-up */
        *best = fmin(*best, took / (double)(view->step - turns->since));
    if (--turns->left == 0)
        return 1;
    turns->recording = !turns->recording;
    if (turns->recording)
        err = turns->recorder.start(turns->recorder.self, view);
    turns->since = view->step;
    turns->begin = bench_seconds();
    return err;
}

int bench_record(const bench_mlp_opts *opts, const char *dir, double *us_per_step, double *us_recorded)
{
    struct mlp_bench bench;
    struct record *record = NULL;
    uint64_t first = 0;
    struct moments_list moments = {.of[MOMENTS_BOUNDARIES] = {1, MOMENTS_AT_STEPS, &first, 1}};
    int err = mlp_make(&bench, opts);
    if (!err) {
        struct record_setup setup = {
            .dir = dir, .moments = &moments, .net = bench.net, .rows = &bench.source};
        err = record_new(&record, &setup);
    }
    if (!err) {
        size_t repeats = opts->repeats ? opts->repeats : 5;
        struct turns turns = {.recorder = record_observer(record),
                              .left = 2 * TURNS * repeats + 1,
                              .begin = bench_seconds(),
                              .best = {INFINITY, INFINITY}};
        sph_observer observer = {.self = &turns, .step = turns_step};
        err = trainer_run(bench.trainer, &observer, 1);
        *us_per_step = turns.best[0] * 1e6;
        *us_recorded = turns.best[1] * 1e6;
        record_finish(record);
    }
    record_free(record);
    mlp_free(&bench);
    return err;
}
