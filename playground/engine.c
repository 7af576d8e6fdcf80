/* SPDX-License-Identifier: MIT */
#include "engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LAYERS = 8 };

struct world world;

EXPORT void *pg_alloc(size_t bytes)
{
    return malloc(bytes);
}

EXPORT void pg_free(void *memory)
{
    free(memory);
}

EXPORT const char *pg_error(void)
{
    return sph_error();
}

EXPORT const char *pg_version(void)
{
    return sph_version();
}

/* The number of a word ("gmp" of SPH_WORDS_PARAM), so that the page needs no copy of the lists. */
EXPORT int pg_word(int kind, const char *text)
{
    return sph_word_find((sph_word_kind)kind, text);
}

EXPORT int pg_word_kind(const char *name)
{
#define KIND_NAME(id, list) #id,
    static const char *const names[] = {SPH_WORD_KINDS(KIND_NAME)};
    for (int i = 0; i < SPH_WORD_KIND_COUNT; i++)
        if (!strcmp(names[i], name))
            return i;
    return -1;
}

/* ---------------------------------------------------------------- data */

static void method_free(struct method *method)
{
    sph_regions_free(method->regions);
    sph_tracker_free(method->tracker);
    sph_trainer_free(method->trainer);
    sph_net_free(method->net);
    *method = (struct method){0};
}

/* Methods borrow the data: they go first. */
static void forget(void)
{
    for (int k = 0; k < METHODS; k++)
        method_free(&world.method[k]);
    sph_split_free(&world.split);
    sph_data_free(world.data);
    world.split = (sph_split){0};
    world.data = NULL;
}

static int split(int err, double test, unsigned seed)
{
    if (err < 0)
        return err;
    return sph_split_make(&world.split, world.data, SPH_SPLIT_RANDOM, test, 0, seed);
}

EXPORT int pg_data_synthetic(const char *name, size_t rows, double noise, double test, unsigned seed)
{
    forget();
    return split(sph_data_synthetic(&world.data, name, rows, noise, seed), test, seed);
}

/* x (rows, features), y (rows): numbers, or classes from 0 on. */
EXPORT int pg_data_arrays(const double *x, const double *y, size_t rows, size_t features, int task,
                          double test, unsigned seed)
{
    forget();
    return split(sph_data_from_arrays(&world.data, x, y, rows, features, 1, (sph_task)task, NULL), test,
                 seed);
}

EXPORT size_t pg_rows(void)
{
    return sph_data_rows(world.data);
}

EXPORT size_t pg_features(void)
{
    return sph_data_features(world.data);
}

EXPORT int pg_task(void)
{
    return (int)sph_data_task(world.data);
}

EXPORT const double *pg_x(void)
{
    return sph_data_x(world.data);
}

EXPORT const double *pg_y(void)
{
    return sph_data_y(world.data);
}

EXPORT const uint32_t *pg_part(int part)
{
    return part == SPH_PART_TRAIN ? world.split.train : world.split.test;
}

EXPORT size_t pg_part_rows(int part)
{
    return part == SPH_PART_TRAIN ? world.split.train_rows : world.split.test_rows;
}

/* ---------------------------------------------------------------- training */

/* loss -1: the task's own. */
EXPORT int pg_options(int loss, int optimizer, double lr, double decay, size_t batch, int standardize,
                      unsigned seed)
{
    sph_train_opts *opts = &world.opts;
    sph_train_defaults(opts, sph_data_task(world.data));
    sph_train_optimizer(opts, (sph_optimizer)optimizer);
    if (loss >= 0)
        opts->loss = (sph_loss)loss;
    opts->lr = lr;
    opts->weight_decay = decay;
    opts->batch = batch;
    opts->epochs = 1 << 30;
    opts->patience = 0; /* it goes on until the visitor has seen enough */
    opts->standardize = (sph_standardize)standardize;
    opts->seed = seed;
    opts->threads = 1;
    return 0;
}

EXPORT void pg_method_free(int k)
{
    method_free(&world.method[k]);
}

EXPORT int pg_method_new(int k, int param, int norm, int act, int init, int dtype, const uint32_t *hidden,
                         size_t depth, unsigned seed)
{
    struct method *method = &world.method[k];
    size_t units[LAYERS];
    method_free(method);
    for (size_t i = 0; i < depth && i < LAYERS; i++)
        units[i] = hidden[i];
    sph_mlp spec = {.size = sizeof spec,
                    .dtype = (sph_dtype)dtype,
                    .inputs = sph_data_features(world.data),
                    .outputs = sph_data_outputs(world.data),
                    .hidden = units,
                    .depth = depth,
                    .param = (sph_param)param,
                    .norm = (sph_norm)norm,
                    .act = (sph_act)act,
                    .init = (sph_init)init,
                    .seed = seed};
    sph_view view;
    int err;
    if ((err = sph_net_mlp(&method->net, &spec)) < 0 ||
        (err = sph_trainer_new(&method->trainer, method->net, world.data, &world.split, &world.opts)) < 0 ||
        (err = sph_tracker_new(&method->tracker, method->net)) < 0 ||
        (err = sph_trainer_step(method->trainer, 0)) < 0 || /* makes the weights that it begins with */
        (err = sph_trainer_view(method->trainer, &view)) < 0)
        return err;
    sph_tracker_observer(method->tracker, &method->watch);
    return method->watch.start(method->watch.self, &view);
}

/* Writes a row of the log after each step, once the tracker has seen the step. */
struct logger {
    const sph_tracker *tracker;
    double *log; /* the next row */
    int taken;
};

static int log_step(void *self, const sph_view *view)
{
    struct logger *logger = self;
    logger->log[0] = view->loss;
    sph_tracker_largest(logger->tracker, &logger->log[1], &logger->log[2]);
    logger->log += LOG_COLUMNS;
    logger->taken++;
    return 0;
}

/* log (steps, 3) <- loss of the batch before the update, largest move and largest turn in radians of all hidden layers; NaN where
 * no boundary can be followed. Returns the steps that were taken; fewer: the training diverged, and pg_diverged() says so. */
EXPORT int pg_steps(int k, int steps, double *log)
{
    struct method *method = &world.method[k];
    struct logger logger = {method->tracker, log, 0};
    sph_observer observers[] = {method->watch, {.self = &logger, .step = log_step}};
    if (!method->diverged &&
        sph_trainer_observe(method->trainer, (size_t)steps, observers, 2) == SPH_EDIVERGED)
        method->diverged = 1;
    return logger.taken;
}

/* Steps that nobody looks at, for measurements. */
EXPORT int pg_advance(int k, size_t steps)
{
    return sph_trainer_step(world.method[k].trainer, steps);
}

EXPORT int pg_diverged(int k)
{
    return world.method[k].diverged;
}

EXPORT int pg_set_lr(int k, double lr)
{
    world.opts.lr = lr;
    return sph_trainer_set_lr(world.method[k].trainer, lr);
}

/* out (3) <- loss, accuracy (classes) or rmse, epoch. */
EXPORT int pg_score(int k, int part, double *out)
{
    sph_scores scores;
    sph_view view;
    const char *wanted = sph_data_task(world.data) == SPH_TASK_REGRESSION ? "rmse" : "accuracy";
    int err = sph_trainer_score(world.method[k].trainer, (sph_part)part, &scores);
    if (err < 0 || (err = sph_trainer_view(world.method[k].trainer, &view)) < 0)
        return err;
    out[0] = out[1] = (double)NAN;
    out[2] = (double)view.epoch;
    for (size_t i = 0; i < scores.count; i++)
        if (!strcmp(scores.name[i], "loss"))
            out[0] = scores.value[i];
        else if (!strcmp(scores.name[i], wanted))
            out[1] = scores.value[i];
    return 0;
}

EXPORT int pg_forward(int k, const double *x, size_t rows, double *y)
{
    return sph_net_forward(world.method[k].net, x, rows, y);
}

EXPORT size_t pg_outputs(int k)
{
    return sph_net_outputs(world.method[k].net);
}

/* ---------------------------------------------------------------- tensors */

EXPORT size_t pg_tensors(int k)
{
    return sph_net_tensors(world.method[k].net);
}

/* Name (128 bytes), then shape (4) and how many dimensions, count, learned. */
EXPORT int pg_tensor(int k, size_t i, char *name, double *facts)
{
    sph_tensor tensor;
    int err = sph_net_tensor(world.method[k].net, i, &tensor);
    if (err < 0)
        return err;
    memcpy(name, tensor.name, sizeof tensor.name);
    for (size_t d = 0; d < 4; d++)
        facts[d] = (double)tensor.shape[d];
    facts[4] = (double)tensor.ndim;
    facts[5] = (double)tensor.count;
    facts[6] = tensor.learned;
    return 0;
}

EXPORT int pg_tensor_read(int k, const char *name, double *values, size_t count)
{
    return sph_net_get(world.method[k].net, name, values, count);
}
