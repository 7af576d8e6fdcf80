/* SPDX-License-Identifier: MIT */
#include "job/verdicts.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "net/plan.h"
#include "train/members.h"
#include "train/metrics.h"

enum { FORWARD_ROWS = 256, CALL_BATCHES = 4 }; /* a call makes a plan: it should last */

/* ---------------------------------------------------------------- rows in pieces */

/* x (features) <- a row as the data have it. */
static int fetch(const sph_data *data, struct picture_stream *stream, uint32_t row, double *x)
{
    size_t n = data->features;
    if (!data_is_images(data)) {
        memcpy(x, data->x + row * n, n * sizeof *x);
        return 0;
    }
    const uint8_t *image = data->image.pixels ? data->image.pixels + row * n : NULL;
    int err = stream ? stream->take(stream, row, &image) : 0;
    for (size_t p = 0; p < n && !err; p++)
        x[p] = image[p];
    return err;
}

int rows_walk(const sph_data *data, const sph_net *net, const uint32_t *rows, size_t count, rows_piece *take,
              void *self)
{
    size_t n = data->features, fit = CALL_BATCHES * net_rows_at_once(net, FORWARD_ROWS),
           most = count < fit ? count : fit;
    double *x = mem_get(most * n, sizeof *x);
    struct picture_stream *stream = NULL;
    int err = x ? 0 : SPH_EMEMORY;
    if (!err && data->image.pictures &&
        !(err = data->image.pictures->stream(data->image.pictures, &stream, SPH_AUGMENT_NONE, 0, NULL, 0)))
        err = stream->begin(stream, 0, rows, NULL, count);
    for (size_t first = 0; first < count && !err; first += most) {
        size_t some = count - first < most ? count - first : most;
        for (size_t i = 0; i < some && !err; i++)
            err = fetch(data, stream, rows ? rows[first + i] : (uint32_t)(first + i), x + i * n);
        if (!err)
            err = take(self, first, some, x);
    }
    if (stream)
        stream->release(stream);
    mem_free(x);
    return err;
}

/* ---------------------------------------------------------------- verdicts */

static int judge(struct verdict *out, const sph_data *data, uint32_t row, size_t outputs, double *y)
{
    size_t given = metric_class(outputs, y);
    double chance;
    for (size_t j = 0; j < outputs; j++)
        if (!isfinite(y[j]))
            return sph_fail_of(SPH_EFORMAT, "", 0, "row",
                               "row %u (counted from 0): the prediction is not a finite number",
                               (unsigned)row);
    if (outputs == 1) {
        chance = 1 / (1 + exp(-fabs(y[0])));
    } else {
        metric_softmax(outputs, y);
        chance = y[given];
    }
    *out = (struct verdict){
        .row = row, .truth = (uint32_t)data->y[row], .given = (uint32_t)given, .chance = (float)chance};
    return 0;
}

struct judging {
    struct verdict *out;
    const sph_data *data;
    const uint32_t *rows;
    sph_net *const *nets;
    size_t members;
};

static int judge_piece(void *self, size_t first, size_t count, const double *x)
{
    const struct judging *j = self;
    size_t outputs = sph_net_outputs(j->nets[0]);
    sph_loss loss = j->data->task == SPH_TASK_CLASSES ? SPH_LOSS_CE : SPH_LOSS_BCE;
    double *y = mem_get(count * outputs, sizeof *y);
    int err = y ? members_forward(j->nets, j->members, loss, x, count, y) : SPH_EMEMORY;
    for (size_t i = first; i < first + count && !err; i++)
        err = judge(&j->out[i], j->data, j->rows ? j->rows[i] : (uint32_t)i, outputs,
                    y + (i - first) * outputs);
    mem_free(y);
    return err;
}

int verdicts_make(struct verdict *out, sph_net *const *nets, size_t members, const sph_data *data,
                  const uint32_t *rows, size_t count)
{
    if (data->task == SPH_TASK_REGRESSION || data->targets != 1 || !data->y)
        return sph_fail(SPH_EARG, "the rows have no classes");
    struct judging judging = {out, data, rows, nets, members};
    return rows_walk(data, nets[0], rows, count, judge_piece, &judging);
}

void verdicts_count(size_t *matrix, size_t classes, const struct verdict *list, size_t count)
{
    memset(matrix, 0, classes * classes * sizeof *matrix);
    for (size_t i = 0; i < count; i++)
        matrix[list[i].truth * classes + list[i].given]++;
}
