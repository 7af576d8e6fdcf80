/* SPDX-License-Identifier: MIT */
#include "job/record_gradients.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

enum { NUMBERS = 4 };
static const char *const names[NUMBERS] = {"gradient", "gradient_norm", "active", "dead"};

struct record_gradients {
    const sph_net *net;
    struct gradients *gradients;
    struct series *series;
    char *row;
};

/* Those of a layer, in the order of the names; the last two only where there is an activation. */
static size_t numbers_of(const struct net_layer *layer)
{
    return layer->act->breaks ? NUMBERS : 2;
}

static int open_series(struct record_gradients *record, const char *path, uint64_t keep_rows)
{
    const sph_net *net = record->net;
    struct series_column *columns = mem_get(1 + NUMBERS * net->layer_count, sizeof *columns);
    size_t count = 0;
    if (!columns)
        return SPH_EMEMORY;
    columns[count++] = (struct series_column){.name = "gradient_step", .type = "<u8"};
    for (size_t l = 0; l < net->layer_count; l++)
        for (size_t i = 0; i < numbers_of(&net->layers[l]); i++) {
            struct series_column *column = &columns[count++];
            *column = (struct series_column){.type = "<f8"};
            snprintf(column->name, sizeof column->name, "%s.%s", net->layers[l].path, names[i]);
        }
    int err = series_open(&record->series, path, columns, count, keep_rows);
    mem_free(columns);
    if (!err && !(record->row = mem_get(series_row_bytes(record->series), 1)))
        err = SPH_EMEMORY;
    return err;
}

int record_gradients_open(struct record_gradients **out, const char *path, sph_net *net,
                          const struct source *source, size_t rows, const sph_train_opts *opts,
                          uint64_t keep_rows)
{
    struct record_gradients *record = *out = mem_get(1, sizeof *record);
    if (!record)
        return SPH_EMEMORY;
    record->net = net;
    int err = gradients_new(&record->gradients, net, source, rows, opts);
    if (!err)
        err = open_series(record, path, keep_rows);
    if (err < 0) {
        record_gradients_free(record);
        *out = NULL;
    }
    return err;
}

void record_gradients_free(struct record_gradients *record)
{
    if (!record)
        return;
    series_close(record->series);
    gradients_free(record->gradients);
    mem_free(record->row);
    mem_free(record);
}

int record_gradients_take(struct record_gradients *record, uint64_t step)
{
    const struct gradients_layer *layers;
    int err = gradients_take(record->gradients, &layers);
    if (err < 0)
        return err;
    char *at = record->row;
    memcpy(at, &step, sizeof step);
    at += sizeof step;
    for (size_t l = 0; l < record->net->layer_count; l++) {
        const double numbers[NUMBERS] = {layers[l].rms, layers[l].norm, layers[l].active, layers[l].dead};
        size_t bytes = numbers_of(&record->net->layers[l]) * sizeof *numbers;
        memcpy(at, numbers, bytes);
        at += bytes;
    }
    return series_add(record->series, record->row);
}

struct series *record_gradients_series(const struct record_gradients *record)
{
    return record->series;
}
