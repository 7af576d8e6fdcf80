/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "boundary/gradients.h"
#include "job/recorder.h"

enum { NUMBERS = 5 };
static const char *const names[NUMBERS] = {"gradient", "gradient_norm", "input_mean", "active", "dead"};

/* Those of a layer, in the order of the names; the last two only where there is an activation. */
static size_t numbers_of(const struct net_layer *layer)
{
    return layer->act->breaks ? NUMBERS : 3;
}

static int take(struct recorder *recorder, uint64_t step)
{
    const struct gradients_layer *layers;
    const sph_net *net = recorder->net;
    int err = gradients_take(recorder->self, &layers);
    if (err < 0)
        return err;
    char *at = recorder->row;
    memcpy(at, &step, sizeof step);
    at += sizeof step;
    for (size_t l = 0; l < net->layer_count; l++) {
        const double numbers[NUMBERS] = {layers[l].rms, layers[l].norm, layers[l].input_mean,
                                         layers[l].active, layers[l].dead};
        size_t bytes = numbers_of(&net->layers[l]) * sizeof *numbers;
        memcpy(at, numbers, bytes);
        at += bytes;
    }
    return series_add(recorder->series, recorder->row);
}

static void free_gradients(void *self)
{
    gradients_free(self);
}

int recorder_gradients(struct recorder *out, const char *path, sph_net *net, const struct source *source,
                       size_t rows, const sph_train_opts *opts, uint64_t keep_rows)
{
    struct gradients *gradients = NULL;
    struct columns columns = {0};
    int err = gradients_new(&gradients, net, source, rows, opts);
    if (err < 0)
        return err;
    *out = (struct recorder){.self = gradients, .net = net, .take = take, .free = free_gradients};
    columns_add(&columns, NULL, "gradient_step", "<u8", 0, NULL);
    for (size_t l = 0; l < net->layer_count; l++)
        for (size_t i = 0; i < numbers_of(&net->layers[l]); i++)
            columns_add(&columns, net->layers[l].path, names[i], "<f8", 0, NULL);
    err = recorder_open(out, path, &columns, keep_rows, 1);
    if (err < 0)
        recorder_close(out);
    return err;
}
