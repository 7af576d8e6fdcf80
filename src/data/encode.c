/* SPDX-License-Identifier: MIT
 *
 * Text columns with many values: each value becomes the mean target of its rows, out of fold. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/build.h"
#include "file/json.h"

int data_waits(const sph_data *data)
{
    for (size_t i = 0; i < data->column_count; i++)
        if (data->columns[i].role == COLUMN_FEATURE && data->columns[i].encoded &&
            !data->columns[i].statistics)
            return 1;
    return 0;
}

int encode_read(struct column *out, const json_t *object, const char *where)
{
    size_t count = 0, levels = column_levels(out);
    int err = json_member_reals(object, where, "statistics", &out->statistics, &count);
    if (err < 0)
        return err;
    if (!count || !levels || count % levels)
        return sph_fail_of(SPH_EFORMAT, where, 0, "statistics",
                           "\"statistics\" has %zu numbers for %zu levels", count, levels);
    out->encoded = count / levels;
    return 0;
}

/* What all columns of a table share. */
struct encoding {
    const sph_data *data;
    size_t outputs;
    unsigned char *fold; /* (rows) of training and validation rows; ENCODE_FOLDS: another row */
};

/* Weighted sums of one output, of each level in each fold; the last level is that of all. */
struct sums {
    size_t levels;
    double *sum, *weight; /* (ENCODE_FOLDS, levels) */
};

static unsigned char fold_of(const sph_data *data, uint32_t row)
{
    uint64_t key = row;
    if (data->side[COLUMN_GROUP])
        memcpy(&key, &data->side[COLUMN_GROUP][row], sizeof key);
    key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9u; /* splitmix64 */
    key = (key ^ (key >> 27)) * 0x94d049bb133111ebu;
    return (unsigned char)((key >> 33) % ENCODE_FOLDS);
}

static void deal(struct encoding *e, const uint32_t *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        e->fold[rows[i]] = fold_of(e->data, rows[i]);
}

static double output_of(const struct encoding *e, size_t row, size_t k)
{
    const sph_data *data = e->data;
    double y = data->y[row * data->targets + (data->task == SPH_TASK_REGRESSION ? k : 0)];
    return data->task == SPH_TASK_CLASSES ? y == (double)k : y;
}

static void add_up(const struct sums *s, const struct encoding *e, const struct column *column, size_t k)
{
    const sph_data *data = e->data;
    memset(s->sum, 0, ENCODE_FOLDS * s->levels * sizeof *s->sum);
    memset(s->weight, 0, ENCODE_FOLDS * s->levels * sizeof *s->weight);
    for (size_t row = 0; row < data->rows; row++) {
        double place = data->x[row * data->features + column->at];
        if (e->fold[row] == ENCODE_FOLDS)
            continue;
        size_t from = e->fold[row] * s->levels;
        double weight = data->side[COLUMN_WEIGHT] ? data->side[COLUMN_WEIGHT][row] : 1.0,
               y = weight * output_of(e, row, k);
        s->sum[from + s->levels - 1] += y;
        s->weight[from + s->levels - 1] += weight;
        if (isnan(place))
            continue;
        s->sum[from + (size_t)place] += y;
        s->weight[from + (size_t)place] += weight;
    }
}

/* The sums over all folds but one: ENCODE_FOLDS leaves none out. */
static double mean_without(const struct sums *s, size_t level, size_t fold)
{
    double sum = 0, weight = 0, all_sum = 0, all_weight = 0;
    for (size_t f = 0; f < ENCODE_FOLDS; f++)
        if (f != fold) {
            sum += s->sum[f * s->levels + level];
            weight += s->weight[f * s->levels + level];
            all_sum += s->sum[(f + 1) * s->levels - 1];
            all_weight += s->weight[(f + 1) * s->levels - 1];
        }
    double prior = all_weight > 0 ? all_sum / all_weight : 0;
    return (sum + ENCODE_PRIOR * prior) / (weight + ENCODE_PRIOR);
}

/* x (rows, features) <- the column's numbers, of output k. from: as it was opened. */
static int encode_output(sph_data *to, const struct encoding *e, size_t number, size_t k)
{
    const sph_data *data = e->data;
    const struct column *from = &data->columns[number];
    struct column *column = &to->columns[number];
    size_t levels = column_levels(from);
    struct sums s = {.levels = levels + 1};
    s.sum = mem_get(ENCODE_FOLDS * s.levels, sizeof *s.sum);
    s.weight = mem_get(ENCODE_FOLDS * s.levels, sizeof *s.weight);
    int err = s.sum && s.weight ? 0 : SPH_EMEMORY;
    if (!err)
        add_up(&s, e, from, k);
    for (size_t level = 0; level < levels && !err; level++)
        column->statistics[level * e->outputs + k] = mean_without(&s, level, ENCODE_FOLDS);
    for (size_t row = 0; row < data->rows && !err; row++) {
        double place = data->x[row * data->features + from->at];
        to->x[row * to->features + column->at + k] =
            isnan(place) ? place : mean_without(&s, (size_t)place, e->fold[row]);
    }
    mem_free(s.sum);
    mem_free(s.weight);
    return err;
}

static int fill_columns(sph_data *to, const struct encoding *e)
{
    const sph_data *data = e->data;
    int err = 0;
    for (size_t i = 0; i < data->column_count && !err; i++) {
        const struct column *from = &data->columns[i], *column = &to->columns[i];
        if (from->role != COLUMN_FEATURE)
            continue;
        if (column->statistics) {
            for (size_t k = 0; k < e->outputs && !err; k++)
                err = encode_output(to, e, i, k);
            continue;
        }
        for (size_t row = 0; row < data->rows; row++)
            memcpy(to->x + row * to->features + column->at, data->x + row * data->features + from->at,
                   column_width(from) * sizeof *to->x);
    }
    return err;
}

int data_encode(sph_data **data, const sph_split *split)
{
    struct encoding e = {.data = *data};
    sph_data *to = NULL;
    if (!data_waits(*data))
        return 0;
    e.outputs = (*data)->task == SPH_TASK_CLASSES      ? (*data)->classes
                : (*data)->task == SPH_TASK_REGRESSION ? (*data)->targets
                                                       : 1;
    int err = (e.fold = mem_get((*data)->rows, 1)) ? data_copy(&to, *data) : SPH_EMEMORY;
    if (!err) {
        memset(e.fold, ENCODE_FOLDS, (*data)->rows);
        deal(&e, split->train, split->train_rows);
        deal(&e, split->val, split->val_rows);
        mem_free(to->x);
        to->x = NULL;
    }
    for (size_t i = 0; i < (*data)->column_count && !err; i++) {
        struct column *column = &to->columns[i];
        if (column->role != COLUMN_FEATURE || !column->encoded)
            continue;
        column->encoded = e.outputs;
        if (!(column->statistics = mem_get(column_levels(column) * e.outputs, sizeof *column->statistics)))
            err = SPH_EMEMORY;
    }
    if (!err && !(err = columns_place(to, "")) &&
        !(to->x = mem_get_large(to->rows * to->features, sizeof *to->x)))
        err = SPH_EMEMORY;
    if (!err)
        err = fill_columns(to, &e);
    mem_free(e.fold);
    if (err < 0) {
        sph_data_free(to);
        return err;
    }
    sph_data_free(*data);
    *data = to;
    return 0;
}
