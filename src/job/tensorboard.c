/* SPDX-License-Identifier: MIT */
#include "job/tensorboard.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "job/options.h"
#include "base/memory.h"
#include "boundary/census.h"
#include "boundary/tracker.h"
#include "store/events.h"

enum { SETTINGS_MAX = 128 };

struct tensorboard {
    struct events *events;
    const sph_net *net;
    const struct source *rows;
    sph_tracker *tracker; /* NULL: no boundaries */
    double *largest;      /* (layers) turn of this epoch's steps, radians */
    double *values;       /* of the largest tensor                        */
};

/* ---------------------------------------------------------------- making */

static int write_settings(struct tensorboard *board, const struct job_spec *spec)
{
    const sph_option *options;
    const char *names[SETTINGS_MAX], *values[SETTINGS_MAX];
    size_t all = sph_options(&options), count = 0;
    for (size_t i = 0; i < all && count < SETTINGS_MAX; i++) {
        const char *value = options_text(spec, (enum option_id)i);
        int told = !strcmp(options[i].section, "net") || !strcmp(options[i].section, "training") ||
                   !strcmp(options[i].name, "seed") || !strcmp(options[i].name, "data");
        if (!told || !value || !*value)
            continue;
        names[count] = options[i].name;
        values[count++] = value;
    }
    return events_settings(board->events, names, values, count);
}

static int follow(struct tensorboard *board)
{
    size_t most = 0;
    for (size_t i = 0; i < board->net->tensor_count; i++)
        if (board->net->tensors[i].view.count > most)
            most = board->net->tensors[i].view.count;
    board->largest = mem_get(board->net->layer_count, sizeof *board->largest);
    board->values = mem_get(most, sizeof *board->values);
    return board->largest && board->values ? sph_tracker_new(&board->tracker, board->net) : SPH_EMEMORY;
}

int tensorboard_new(struct tensorboard **out, const struct tensorboard_setup *setup)
{
    struct tensorboard *board = mem_get(1, sizeof *board);
    if (!board)
        return SPH_EMEMORY;
    board->net = setup->net;
    board->rows = setup->rows;
    int err = events_begin(&board->events, setup->dir, setup->step);
    if (!err && !(err = write_settings(board, setup->spec)) && setup->rows)
        err = follow(board);
    if (err < 0) {
        tensorboard_free(board);
        return err;
    }
    *out = board;
    return 0;
}

void tensorboard_free(struct tensorboard *board)
{
    if (!board)
        return;
    events_free(board->events);
    sph_tracker_free(board->tracker);
    mem_free(board->largest);
    mem_free(board->values);
    mem_free(board);
}

/* ---------------------------------------------------------------- boundaries */

/* A NaN is no value: it is left out here, and null in metrics.jsonl. */
static int scalar(struct tensorboard *board, uint64_t step, const char *path, const char *what, double value)
{
    char tag[160];
    snprintf(tag, sizeof tag, "%s/%s", path, what);
    return isfinite(value) ? events_scalar(board->events, step, tag, value) : 0;
}

static int write_turns(struct tensorboard *board, uint64_t step)
{
    const double degrees = 180 / acos(-1);
    int err = 0;
    for (size_t k = 0; !err && k < board->net->layer_count; k++) {
        sph_motion motion;
        const char *path = board->net->layers[k].path;
        if (!sph_tracker_layer(board->tracker, k, &motion))
            continue;
        if (!(err = scalar(board, step, path, "turn_largest", degrees * board->largest[k])))
            err = scalar(board, step, path, "turn_median", degrees * motion.turn.median);
        board->largest[k] = 0;
    }
    return err;
}

/* Units that no training row finds on. */
static int write_dead(struct tensorboard *board, uint64_t step)
{
    const sph_net *net = board->net;
    struct census census = {0};
    size_t *layers = mem_get(net->layer_count, sizeof *layers), count = 0;
    if (!layers)
        return SPH_EMEMORY;
    for (size_t k = 0; k < net->layer_count; k++)
        if (net->layers[k].act->breaks)
            layers[count++] = k;
    int err = count ? census_take(&census, net, layers, count, board->rows) : 0;
    for (size_t c = 0; !err && c < census.count; c++) {
        const struct census_layer *of = &census.layer[c];
        size_t dead = 0;
        for (size_t j = 0; j < of->m; j++)
            dead += !of->active[j];
        err = scalar(board, step, net->layers[of->layer].path, "dead_share", (double)dead / (double)of->m);
    }
    census_free(&census);
    mem_free(layers);
    return err;
}

/* Directions, offsets and scales, whatever the parameterization calls them. */
static int write_histograms(struct tensorboard *board, uint64_t step)
{
    int err = 0;
    for (size_t i = 0; !err && i < board->net->tensor_count; i++) {
        const struct net_tensor *tensor = &board->net->tensors[i];
        if (!tensor->view.learned || tensor->at >= board->net->group_at[SPH_GROUP_R + 1])
            continue;
        net_read_tensor(board->net, tensor, board->values);
        err = events_histogram(board->events, step, tensor->view.name, board->values, tensor->view.count);
    }
    return err;
}

/* ---------------------------------------------------------------- the observer */

static int on_start(void *self, const sph_view *view)
{
    struct tensorboard *board = self;
    if (board->tracker)
        tracker_start(board->tracker, view);
    return 0;
}

static int on_step(void *self, const sph_view *view)
{
    struct tensorboard *board = self;
    sph_motion motion;
    if (!board->tracker)
        return 0;
    tracker_step(board->tracker, view);
    for (size_t k = 0; k < board->net->layer_count; k++)
        if (sph_tracker_layer(board->tracker, k, &motion) && motion.turn.max > board->largest[k])
            board->largest[k] = motion.turn.max;
    return 0;
}

static int on_epoch(void *self, const sph_view *view)
{
    struct tensorboard *board = self;
    int err = events_scalar(board->events, view->step, "lr", view->lr);
    for (size_t i = 0; !err && i < view->values; i++)
        if (isfinite(view->value[i]))
            err = events_scalar(board->events, view->step, view->names[i], view->value[i]);
    if (!err && board->tracker && !(err = write_turns(board, view->step)) &&
        !(err = write_dead(board, view->step)))
        err = write_histograms(board, view->step);
    return err;
}

int tensorboard_flush(struct tensorboard *board)
{
    return events_flush(board->events);
}

static int on_end(void *self, const sph_view *view)
{
    (void)view;
    return tensorboard_flush(self);
}

sph_observer tensorboard_observer(struct tensorboard *board)
{
    return (sph_observer){
        .self = board, .start = on_start, .step = on_step, .epoch = on_epoch, .end = on_end};
}
