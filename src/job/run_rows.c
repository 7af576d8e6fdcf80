/* SPDX-License-Identifier: MIT */
#include "job/run_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/order.h"
#include "data/registry.h"
#include "data/tool.h"
#include "file/file.h"
#include "job/tool.h"
#include "train/losses.h"
#include "train/members.h"
#include "train/metrics.h"

/* The rows' numbers: the test part's, or all. */
static int choose_rows(struct run_rows *out, sph_run *run, const char *source)
{
    const uint32_t *test;
    int err = run_scored_rows(run, source, out->data, &test, &out->count);
    if (!err && out->data->rows > UINT32_MAX)
        err = sph_fail_key(SPH_EARG, "data", "%zu rows, expected fewer than 2^32", out->data->rows);
    if (!err && !(out->row = mem_get(out->count, sizeof *out->row)))
        err = SPH_EMEMORY;
    for (size_t i = 0; i < out->count && !err; i++)
        out->row[i] = test ? test[i] : (uint32_t)i;
    if (!err)
        qsort(out->row, out->count, sizeof *out->row, by_u32);
    return err;
}

int run_rows_at_hand(const sph_run *run)
{
    const char *source = run->spec->options.data;
    const sph_data_set *set = source ? registry_find(source) : NULL;
    char *path = NULL;
    if (json_object_get(run->schema, "images") || !source || !strcmp(source, DATA_STDIN))
        return 0;
    if (file_exists(source) || (set && !set->file))
        return 1;
    int err = set ? registry_path(&path, set) : SPH_EIO;
    mem_free(path);
    return err == SPH_EMEMORY ? err : !err;
}

static int predict(struct run_rows *rows, sph_run *run, const char *source)
{
    sph_loss loss = (sph_loss)run->spec->options.loss;
    int err = members_forward(run->nets, run->members, loss, rows->x, rows->count, rows->p);
    if (!err)
        err = run_check_outputs(run, source, rows->data, rows->row, rows->count, rows->p);
    for (size_t i = 0; i < rows->count && !err; i++)
        loss_predict(loss_row(loss)->link, rows->outputs, rows->p + i * rows->outputs);
    return err;
}

int run_rows_open(struct run_rows *out, sph_run *run, const char *source)
{
    *out = (struct run_rows){0};
    if (json_object_get(run->schema, "images"))
        return sph_fail_key(SPH_EARG, "data", "%s was trained on images, expected a run on a table",
                            run->dir);
    int err = run_open_data(run, source, 1, &out->data);
    if (!err)
        err = choose_rows(out, run, source);
    if (err < 0)
        return err;
    size_t features = out->data->features, x_count, p_count;
    out->targets = out->data->targets;
    out->outputs = sph_net_outputs(run->net);
    if (!size_times(&x_count, out->count, features) || !size_times(&p_count, out->count, out->outputs))
        return sph_fail(SPH_EMEMORY, "out of memory: %zu rows", out->count);
    out->x = mem_get(x_count, sizeof *out->x);
    out->y = mem_get(out->count * out->targets, sizeof *out->y);
    out->p = mem_get(p_count, sizeof *out->p);
    if (!out->x || !out->y || !out->p)
        return SPH_EMEMORY;
    for (size_t i = 0; i < out->count; i++) {
        memcpy(out->x + i * features, out->data->x + out->row[i] * features, features * sizeof *out->x);
        memcpy(out->y + i * out->targets, out->data->y + out->row[i] * out->targets,
               out->targets * sizeof *out->y);
    }
    return predict(out, run, source);
}

void run_rows_free(struct run_rows *rows)
{
    sph_data_free(rows->data);
    mem_free(rows->row);
    mem_free(rows->x);
    mem_free(rows->y);
    mem_free(rows->p);
    *rows = (struct run_rows){0};
}

double run_rows_probability(const struct run_rows *rows, size_t i, size_t class_number)
{
    const double *p = rows->p + i * rows->outputs;
    return rows->outputs > 1 ? p[class_number] : class_number ? *p : 1 - *p;
}

double run_rows_loss(const struct run_rows *rows, size_t i)
{
    const double *y = rows->y + i * rows->targets, *p = rows->p + i * rows->outputs;
    double sum = 0;
    if (rows->data->task != SPH_TASK_REGRESSION)
        return -log(fmax(run_rows_probability(rows, i, (size_t)*y), 1e-15));
    for (size_t t = 0; t < rows->targets; t++)
        sum += (y[t] - p[t]) * (y[t] - p[t]);
    return sum;
}

/* ---------------------------------------------------------------- targets one by one */

size_t sph_run_targets(const sph_run *run)
{
    if (!run)
        return 0;
    size_t count = 0, i;
    const json_t *column;
    json_array_foreach(json_object_get(run->schema, "columns"), i, column)
    {
        const char *role = json_string_value(json_object_get(column, "role"));
        count += role && !strcmp(role, "target");
    }
    return count ? count : 1;
}

const char *sph_run_target(const sph_run *run, size_t target)
{
    if (!run)
        return NULL;
    size_t i;
    const json_t *column;
    json_array_foreach(json_object_get(run->schema, "columns"), i, column)
    {
        const char *role = json_string_value(json_object_get(column, "role"));
        if (role && !strcmp(role, "target") &&
            json_integer_value(json_object_get(column, "at")) == (json_int_t)target)
            return json_string_value(json_object_get(column, "name"));
    }
    return NULL;
}

/* p, t (rows): its predictions and truths, in a unit (a power of two) that leaves their squares in range. */
static double take_target(const struct run_rows *rows, size_t target, double *p, double *t)
{
    double most = 0;
    for (size_t i = 0; i < rows->count; i++) {
        p[i] = rows->p[i * rows->outputs + target];
        t[i] = rows->y[i * rows->targets + target];
        most = fmax(most, fmax(fabs(p[i]), fabs(t[i])));
    }
    double unit = most > 0 ? ldexp(1, ilogb(most)) : 1;
    for (size_t i = 0; i < rows->count; i++) {
        p[i] /= unit;
        t[i] /= unit;
    }
    return unit;
}

/* The same metrics as of all targets together. */
static int score_target(const struct run_rows *rows, size_t target, sph_scores *out)
{
    static const sph_metric shown[] = {SPH_METRIC_RMSE, SPH_METRIC_MAE, SPH_METRIC_R2};
    double *p = mem_get(2 * rows->count, sizeof *p), *t = p ? p + rows->count : NULL;
    if (!p)
        return SPH_EMEMORY;
    double unit = take_target(rows, target, p, t);
    struct metric_part part = {.task = SPH_TASK_REGRESSION,
                               .rows = rows->count,
                               .outputs = 1,
                               .targets = 1,
                               .scale = &unit,
                               .first = t};
    struct metric_tile tile = {.rows = rows->count, .p = p, .t = t};
    *out = (sph_scores){.rows = rows->count};
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        const struct metric *metric = metric_row(shown[i]);
        double sum[METRIC_NUMBERS_OF_ONE] = {0};
        metric->tally(&part, &tile, sum);
        out->name[out->count] = sph_word(SPH_WORDS_METRIC, (int)shown[i])->word;
        out->value[out->count++] = metric->finish(&part, sum);
    }
    mem_free(p);
    return 0;
}

int sph_run_eval_targets(sph_run *run, const char *source, sph_scores *each)
{
    NEED(run, each);
    struct run_rows rows;
    int err = run_rows_open(&rows, run, source);
    if (!err && rows.data->task != SPH_TASK_REGRESSION)
        err = sph_fail_key(SPH_EARG, "task", "the run is a classifier, expected a regression");
    for (size_t t = 0; !err && t < rows.targets; t++)
        err = score_target(&rows, t, &each[t]);
    run_rows_free(&rows);
    return err;
}
