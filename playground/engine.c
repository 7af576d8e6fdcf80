/* SPDX-License-Identifier: MIT
 *
 * The engine of the playground: up to five networks that train side by side on the same data, from the same seed and with the
 * same batches, and what the page draws of them. The worker (src/worker.ts) calls these functions in WebAssembly; they use
 * public headers only, and numbers and arrays of doubles cross the border.
 *
 * Functions return 0 or more, or a negative SPH_E... code; pg_error() is then the message. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "spherelu/core.h"

#define EXPORT __attribute__((used, visibility("default")))

enum { METHODS = 5, LAYERS = 8, LOG_COLUMNS = 3, LINE_COLUMNS = 6, EDGE_COLUMNS = 6 };

enum { TOO_MANY = -100 }; /* more regions than were asked for */

struct method {
    sph_net *net;
    sph_trainer *trainer;
    sph_tracker *tracker;
    sph_observer watch;
    sph_regions *regions;
    int diverged;
};

static struct {
    sph_data *data;
    sph_split split;
    sph_train_opts opts;
    struct method method[METHODS];
} world;

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
    return split(sph_data_from_arrays(&world.data, x, y, rows, features, 1, (sph_task)task), test, seed);
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

/* The largest of all hidden layers; NaN where no boundary can be followed. */
static void largest_motion(const struct method *method, double *move, double *turn)
{
    sph_motion motion;
    *move = *turn = (double)NAN;
    for (size_t i = 0; i < sph_net_layers(method->net); i++)
        if (sph_tracker_layer(method->tracker, i, &motion) > 0) {
            *move = fmax(*move, motion.move.max);
            *turn = fmax(*turn, motion.turn.max);
        }
}

/* log (steps, 3) <- loss of the batch before the update, largest move and largest turn in radians. Returns the steps that were
 * taken; fewer: the training diverged, and pg_diverged() says so. */
EXPORT int pg_steps(int k, int steps, double *log)
{
    struct method *method = &world.method[k];
    int taken = 0;
    for (; taken < steps && !method->diverged && !sph_trainer_finished(method->trainer);
         taken++, log += LOG_COLUMNS) {
        sph_view view;
        int err = sph_trainer_step(method->trainer, 1);
        if (err == SPH_EDIVERGED)
            method->diverged = 1;
        if (err < 0)
            break;
        sph_trainer_view(method->trainer, &view);
        method->watch.step(method->watch.self, &view);
        log[0] = view.loss;
        largest_motion(method, &log[1], &log[2]);
    }
    return taken;
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

/* ---------------------------------------------------------------- lines */

/* out (m, 6) <- direction (2, of a net of one input the second is 0) and offset in the units of the data: the unit
 * switches where direction x + offset = 0; length of the weight; share of the training rows on the active side; state.
 * The last two need a pass over the data: census 0 leaves them out. Returns m; 0: the layer has no boundaries. */
static int lines_of(const sph_net *net, int census, double *out)
{
    sph_boundaries *found = NULL;
    int err = sph_boundaries_new(&found, net, 0, 1, census ? world.data : NULL, world.split.train,
                                 census ? world.split.train_rows : 0);
    if (err < 0)
        return err;
    const sph_boundary *layer = &found->layer[0];
    int units = layer->kind == SPH_BOUNDARY_HYPERPLANE ? (int)layer->m : 0;
    for (int j = 0; j < units; j++, out += LINE_COLUMNS) {
        const double *direction = layer->direction + (size_t)j * layer->n;
        out[0] = direction[0];
        out[1] = layer->n > 1 ? direction[1] : 0;
        out[2] = layer->offset[j];
        out[3] = layer->norm[j];
        out[4] = layer->active_share[j];
        out[5] = layer->state[j];
    }
    sph_boundaries_free(found);
    return units;
}

EXPORT int pg_lines(int k, int census, double *out)
{
    return lines_of(world.method[k].net, census, out);
}

/* Units of all hidden layers that are active for no training row. */
EXPORT int pg_dead(int k)
{
    sph_boundaries *found = NULL;
    int dead = 0, err = sph_boundaries_new(&found, world.method[k].net, SPH_EVERY_LAYER, 0, world.data,
                                           world.split.train, world.split.train_rows);
    if (err < 0)
        return err;
    for (size_t i = 0; i < found->count; i++)
        for (size_t j = 0; found->layer[i].state && j < found->layer[i].m; j++)
            dead += found->layer[i].state[j] == SPH_UNIT_DEAD;
    sph_boundaries_free(found);
    return dead;
}

/* ---------------------------------------------------------------- regions and surfaces */

static sph_regions_total total_of(const sph_regions *regions)
{
    sph_regions_total total;
    sph_regions_sum(regions, &total);
    return total;
}

/* Returns how many regions the window has; TOO_MANY: more than most; another code: the net has none (ln, elu). */
EXPORT int pg_regions(int k, const double *window, size_t most)
{
    struct method *method = &world.method[k];
    sph_regions_opts opts = {.size = sizeof opts, .most = most};
    memcpy(opts.window, window, sizeof opts.window);
    sph_regions_free(method->regions);
    method->regions = NULL;
    int err = sph_regions_new(&method->regions, method->net, &opts);
    if (err < 0)
        return !strcmp(sph_failure()->key, "most") ? TOO_MANY : err;
    return (int)total_of(method->regions).regions;
}

EXPORT size_t pg_edges(int k)
{
    return sph_regions_edges(world.method[k].regions, NULL);
}

/* out (edges, 6) <- from, to, layer, unit */
EXPORT void pg_edges_read(int k, double *out)
{
    const sph_edge *edge;
    size_t count = sph_regions_edges(world.method[k].regions, &edge);
    for (size_t i = 0; i < count; i++, out += EDGE_COLUMNS) {
        out[0] = edge[i].from[0];
        out[1] = edge[i].from[1];
        out[2] = edge[i].to[0];
        out[3] = edge[i].to[1];
        out[4] = (double)edge[i].layer;
        out[5] = (double)edge[i].unit;
    }
}

/* How outputs become colours. One output: shade = 255 (value - low) / (high - low). Several: the palette of the largest
 * one, shade = 255 of how far it is ahead of the next, up to high. palette: (tints, outputs, 256) of RGBA; regions
 * with different patterns take different tints. */
struct ink {
    const uint32_t *palette;
    size_t outputs, tints;
    double low, high;
};

static uint32_t shade(const struct ink *ink, size_t tint, size_t class, double value)
{
    double place = 255 * (value - ink->low) / (ink->high - ink->low);
    size_t at = place >= 255 ? 255 : place > 0 ? (size_t)place : 0; /* NaN: 0 */
    return ink->palette[(tint * ink->outputs + class) * 256 + at];
}

static uint32_t colour(const struct ink *ink, size_t tint, const double *y)
{
    size_t top = 0;
    double next = -INFINITY;
    if (ink->outputs == 1)
        return shade(ink, tint, 0, y[0]);
    for (size_t k = 1; k < ink->outputs; k++)
        if (y[k] > y[top]) {
            next = y[top];
            top = k;
        } else
            next = fmax(next, y[k]);
    return shade(ink, tint, top, y[top] - next);
}

static size_t tint_of(const uint8_t *pattern, size_t bytes, size_t tints)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ pattern[i]) * 16777619u;
    return (hash >> 8) % tints;
}

static size_t pattern_bytes(const sph_regions *regions)
{
    sph_regions_layer layer = {0};
    size_t count = total_of(regions).layers;
    if (!count || sph_regions_layer_at(regions, count - 1, &layer) < 0)
        return 0;
    return layer.byte + (layer.units + 7) / 8;
}

/* The pixels whose middle lies in the region: those of a row lie between two edges. Neighbours have the same ends of
 * their common edge, so that no pixel is left out and none is filled twice. */
static void fill_region(const sph_region *region, const double *window, size_t width, size_t height,
                        const struct ink *ink, size_t tint, uint32_t *out)
{
    double pixel_x = (window[1] - window[0]) / (double)width,
           pixel_y = (window[3] - window[2]) / (double)height;
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < region->vertices; i++) {
        low = fmin(low, region->vertex[2 * i + 1]);
        high = fmax(high, region->vertex[2 * i + 1]);
    }
    long first = lround(ceil((window[3] - high) / pixel_y - 0.5)),
         last = lround(ceil((window[3] - low) / pixel_y - 0.5)); /* rows from above, without the last */
    for (long row = first < 0 ? 0 : first; row < last && row < (long)height; row++) {
        double y = window[3] - ((double)row + 0.5) * pixel_y, left = INFINITY, right = -INFINITY;
        for (size_t i = 0; i < region->vertices; i++) {
            const double *p = region->vertex + 2 * i,
                         *q = region->vertex + 2 * (i + 1 < region->vertices ? i + 1 : 0);
            if ((p[1] < y) == (q[1] < y))
                continue;
            const double *under = p[1] < q[1] ? p : q, *above = p[1] < q[1] ? q : p;
            double x = under[0] + (above[0] - under[0]) * ((y - under[1]) / (above[1] - under[1]));
            left = fmin(left, x);
            right = fmax(right, x);
        }
        if (!(left < right))
            continue;
        long from = lround(ceil((left - window[0]) / pixel_x - 0.5)),
             to = lround(ceil((right - window[0]) / pixel_x - 0.5));
        for (long column = from < 0 ? 0 : from; column < to && column < (long)width; column++) {
            double x = window[0] + ((double)column + 0.5) * pixel_x, value[16];
            for (size_t k = 0; k < ink->outputs; k++)
                value[k] = region->map[3 * k] * x + region->map[3 * k + 1] * y + region->map[3 * k + 2];
            out[(size_t)row * width + (size_t)column] = colour(ink, tint, value);
        }
    }
}

/* out (height, width) <- the regions that pg_regions found, each by its own affine map. */
EXPORT int pg_paint_regions(int k, const double *window, size_t width, size_t height, const uint32_t *palette,
                            size_t tints, double low, double high, uint32_t *out)
{
    const sph_regions *regions = world.method[k].regions;
    struct ink ink = {palette, sph_net_outputs(world.method[k].net), tints, low, high};
    size_t bytes = pattern_bytes(regions), count = total_of(regions).regions;
    for (size_t i = 0; i < count; i++) {
        sph_region region;
        int err = sph_regions_at(regions, i, &region);
        if (err < 0)
            return err;
        fill_region(&region, window, width, height, &ink, tint_of(region.pattern, bytes, tints), out);
    }
    return 0;
}

/* The same of any net, by its outputs at the middle of each pixel. */
EXPORT int pg_paint_surface(int k, const double *window, size_t width, size_t height, const uint32_t *palette,
                            double low, double high, uint32_t *out)
{
    sph_net *net = world.method[k].net;
    struct ink ink = {palette, sph_net_outputs(net), 1, low, high};
    double *x = malloc(2 * width * height * sizeof *x), *y = malloc(ink.outputs * width * height * sizeof *y);
    int err = x && y ? 0 : SPH_EMEMORY;
    for (size_t i = 0; !err && i < width * height; i++) {
        x[2 * i] = window[0] + (window[1] - window[0]) * ((double)(i % width) + 0.5) / (double)width;
        x[2 * i + 1] = window[3] - (window[3] - window[2]) * ((double)(i / width) + 0.5) / (double)height;
    }
    if (!err)
        err = sph_net_forward(net, x, width * height, y);
    for (size_t i = 0; !err && i < width * height; i++)
        out[i] = colour(&ink, 0, y + i * ink.outputs);
    free(x);
    free(y);
    return err;
}

/* ---------------------------------------------------------------- shaking */

/* The same sign for the same number of every method. */
static double sign_of(unsigned seed, size_t i)
{
    uint32_t h = (uint32_t)i * 2654435761u ^ seed * 2246822519u;
    h ^= h >> 15;
    h *= 2246822519u;
    h ^= h >> 13;
    return seed && (h & 0x1000) ? -1 : 1;
}

/* eps is added to every learned number of the tensor, or taken away where seed says so; a unit vector stays one. */
static int shake_tensor(sph_net *net, const sph_tensor *tensor, double eps, unsigned seed)
{
    double *value = malloc(tensor->count * sizeof *value);
    int err = value ? sph_net_get(net, tensor->name, value, tensor->count) : SPH_EMEMORY;
    size_t length = strlen(tensor->name);
    int unit = length > 2 && !strcmp(tensor->name + length - 2, ".u");
    for (size_t i = 0; !err && i < tensor->count; i++)
        value[i] += eps * sign_of(seed, i);
    if (!err && unit) {
        size_t n = tensor->shape[1];
        for (size_t j = 0; j < tensor->shape[0]; j++) {
            double sum = 0;
            for (size_t i = 0; i < n; i++)
                sum += value[j * n + i] * value[j * n + i];
            for (size_t i = 0; i < n && sum > 0; i++)
                value[j * n + i] /= sqrt(sum);
        }
    }
    if (!err)
        err = sph_net_set(net, tensor->name, value, tensor->count);
    free(value);
    return err;
}

/* mean, scale <- those of an input over the training rows, as the net standardises it */
static void moments_of(size_t input, size_t n, double *mean, double *scale)
{
    const double *x = sph_data_x(world.data) + input;
    size_t rows = world.split.train_rows;
    double sum = 0, squares = 0;
    *mean = 0;
    *scale = 1;
    if (world.opts.standardize == SPH_STANDARDIZE_OFF)
        return;
    for (size_t r = 0; r < rows; r++)
        sum += x[world.split.train[r] * n];
    *mean = sum / (double)rows;
    for (size_t r = 0; r < rows; r++)
        squares += pow(x[world.split.train[r] * n] - *mean, 2);
    *scale = squares > 0 ? sqrt(squares / (double)rows) : 1;
}

/* bn: running statistics of the first layer <- those of the training rows, as further steps would find them. */
static int renew_statistics(sph_net *net)
{
    size_t n, rows = world.split.train_rows, m;
    const double *x = sph_data_x(world.data);
    m = sph_net_layer(net, 0, &n)->units;
    double *w = malloc(m * n * sizeof *w), *mean = malloc(m * sizeof *mean), *var = malloc(m * sizeof *var);
    int err = w && mean && var ? sph_net_weight(net, 0, w, NULL, NULL) : SPH_EMEMORY;
    for (size_t j = 0; !err && j < m; j++) {
        double sum = 0, squares = 0, shift[2] = {0}, factor[2] = {0};
        for (size_t i = 0; i < n && i < 2; i++) {
            double middle, scale;
            moments_of(i, n, &middle, &scale);
            shift[i] = -middle / scale * w[j * n + i];
            factor[i] = w[j * n + i] / scale;
        }
        for (size_t r = 0; r < rows; r++) {
            double z = 0;
            for (size_t i = 0; i < n && i < 2; i++)
                z += factor[i] * x[world.split.train[r] * n + i] + shift[i];
            sum += z;
            squares += z * z;
        }
        mean[j] = sum / (double)rows;
        var[j] = fmax(squares / (double)rows - mean[j] * mean[j], 0);
    }
    if (!err && !(err = sph_net_set(net, "layers.0.norm.mean", mean, m)))
        err = sph_net_set(net, "layers.0.norm.var", var, m);
    free(w);
    free(mean);
    free(var);
    return err;
}

/* The largest turn of a unit of the first layer, in radians, in the input as the net computes it. */
static double turn_between(const sph_net *a, const sph_net *b)
{
    sph_boundaries *first = NULL, *second = NULL;
    double most = (double)NAN;
    if (!sph_boundaries_new(&first, a, 0, 0, NULL, NULL, 0) &&
        !sph_boundaries_new(&second, b, 0, 0, NULL, NULL, 0) && first->layer[0].direction &&
        second->layer[0].direction) {
        size_t n = first->layer[0].n;
        for (size_t j = 0; j < first->layer[0].m; j++) {
            double away = 0, along = 0; /* |u - v| and |u + v|: half the angle has their ratio as tangent */
            for (size_t i = 0; i < n; i++) {
                double u = first->layer[0].direction[j * n + i], v = second->layer[0].direction[j * n + i];
                away += (u - v) * (u - v);
                along += (u + v) * (u + v);
            }
            most = fmax(most, 2 * atan2(sqrt(away), sqrt(along)));
        }
    }
    sph_boundaries_free(first);
    sph_boundaries_free(second);
    return most;
}

/* A copy of the network with eps on every learned number of its hidden layers. out (m, 6) <- its lines as pg_lines has them;
 * turn (2) <- the largest turn in radians, and its bound by Theorem 3.7, |eps| times the root of the number of angles; NaN:
 * the method has no bound. Returns m. */
EXPORT int pg_shake(int k, double eps, unsigned seed, double *out, double *turn)
{
    const sph_net *net = world.method[k].net;
    size_t n, last = sph_net_layers(net) - 1;
    const sph_layer *layer = sph_net_layer(net, 0, &n), *output = sph_net_layer(net, last, NULL);
    size_t head = strlen(output->path);
    sph_net *copy = NULL;
    int err = sph_net_copy(&copy, net);
    for (size_t i = 0; !err && i < sph_net_tensors(net); i++) {
        sph_tensor tensor;
        err = sph_net_tensor(net, i, &tensor);
        if (!err && tensor.learned && strncmp(tensor.name, output->path, head) != 0)
            err = shake_tensor(copy, &tensor, eps, seed);
    }
    if (!err && layer->norm == SPH_NORM_BN)
        err = renew_statistics(copy);
    turn[0] = err ? (double)NAN : turn_between(net, copy);
    turn[1] = layer->param == SPH_PARAM_GMP      ? fabs(eps) * sqrt((double)n - 1)
              : layer->param == SPH_PARAM_SPHERE ? fabs(eps) * sqrt((double)n)
                                                 : (double)NAN;
    int units = err ? err : lines_of(copy, 0, out);
    sph_net_free(copy);
    return units;
}

/* One unit as in Figure 1: base and perturbed boundary of SP, WN, BN, LN and GmP, which all begin with the same one.
 * out (5, 8) <- w (2), b, w (2), b after eps, turn in degrees, shift. */
EXPORT int pg_figure1(double eps, double length, unsigned seed, double *out)
{
    sph_perturb_opts opts;
    sph_perturb_result result;
    sph_perturb_defaults(&opts);
    opts.eps = &eps;
    opts.count = 1;
    opts.length = length;
    opts.seed = seed;
    int err = sph_perturb(&result, &opts);
    if (err < 0)
        return err;
    for (size_t i = 0; i < result.methods; i++, out += 8) {
        const sph_perturb_plane *base = &result.method[i].base, *after = result.method[i].after;
        const double row[] = {base->w[0],  base->w[1], base->b,     after->w[0],
                              after->w[1], after->b,   after->turn, after->shift};
        memcpy(out, row, sizeof row);
    }
    int methods = (int)result.methods;
    sph_perturb_free(&result);
    return methods;
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
