/* SPDX-License-Identifier: MIT
 *
 * The public face of a data set, and one made of the caller's arrays. */
#include "rows/data.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/levels.h"
#include "base/memory.h"
#include "base/sized.h"
#include "rows/tool.h"

void sph_data_free(sph_data *data)
{
    if (!data || data->holders--)
        return;
    for (size_t i = 0; data->columns && i < data->column_count; i++) {
        mem_free(data->columns[i].name);
        mem_free_texts(data->columns[i].levels, data->columns[i].level_count);
        mem_free_texts(data->columns[i].rare, data->columns[i].rare_count);
        mem_free(data->columns[i].statistics);
        mem_free(data->columns[i].why);
    }
    mem_free(data->columns);
    mem_free_texts(data->labels, data->classes);
    mem_free_texts(data->kept.cells, data->kept.count);
    mem_free_texts(data->kept.names, data->kept.names ? data->kept.columns : 0);
    for (int i = 0; i < COLUMN_USES; i++)
        mem_free(data->side[i]);
    text_free(&data->notes);
    mem_free(data->class_weights);
    mem_free(data->reading.missing_words);
    mem_free(data->x);
    mem_free(data->y);
    mem_free(data->image.pixels);
    if (data->image.pictures)
        data->image.pictures->release(data->image.pictures);
    mem_free(data);
}

int column_fill_text(const struct column *column, const char *text, double *x)
{
    size_t width = column_width(column), place = column->level_count;
    for (size_t i = 0; i < width; i++)
        x[i] = column->encoded ? (double)NAN : 0.0;
    if (!text)
        return 1;
    ptrdiff_t level = levels_find(column->levels, column->level_count, text);
    if (level < 0 && !column->other)
        return 0;
    place = level < 0 ? place : (size_t)level;
    if (!column->encoded)
        x[place] = 1.0;
    else if (column->statistics)
        memcpy(x, column->statistics + place * width, width * sizeof *x);
    else
        x[0] = (double)place;
    return 1;
}

sph_data *data_share(sph_data *data)
{
    data->holders++;
    return data;
}

/* ---------------------------------------------------------------- from arrays */

static int check_arrays(sph_data *data)
{
    for (size_t i = 0; i < data->rows * data->features; i++) {
        if (isinf(data->x[i]))
            return sph_fail_key(SPH_EARG, "x", "row %zu, column %zu is infinite", i / data->features,
                                i % data->features);
        data->has_missing |= isnan(data->x[i]) != 0;
        data->counts.filled += isnan(data->x[i]) != 0;
    }
    for (size_t i = 0; i < data->rows * data->targets; i++) {
        double y = data->y[i];
        size_t row = i / data->targets;
        if (!isfinite(y))
            return sph_fail_key(SPH_EARG, "y", "row %zu, column %zu is not a finite number", row,
                                i % data->targets);
        if (data->task == SPH_TASK_REGRESSION)
            continue;
        if (y < 0.0 || y != floor(y) || y >= 1e6 || (data->task == SPH_TASK_BINARY && y > 1.0))
            return sph_fail_key(SPH_EARG, "y", "row %zu is %g, expected a class number%s", row, y,
                                data->task == SPH_TASK_BINARY ? " 0 or 1" : " from 0");
        size_t classes = (size_t)y + 1 > 2 ? (size_t)y + 1 : 2;
        if (classes > data->classes)
            data->classes = classes;
    }
    return 0;
}

int data_number_labels(sph_data *data, size_t classes)
{
    data->labels = mem_get(classes, sizeof *data->labels);
    if (!data->labels)
        return SPH_EMEMORY;
    for (; data->classes < classes; data->classes++)
        if (!(data->labels[data->classes] = mem_format("%zu", data->classes)))
            return SPH_EMEMORY;
    return 0;
}

static int name_arrays(sph_data *data)
{
    size_t classes = data->classes;
    data->classes = 0;
    data->columns = mem_get(data->features + data->targets, sizeof *data->columns);
    if (!data->columns)
        return SPH_EMEMORY;
    data->column_count = data->features + data->targets;
    for (size_t i = 0; i < data->column_count; i++) {
        struct column *column = &data->columns[i];
        column->role = i < data->features ? COLUMN_FEATURE : COLUMN_TARGET;
        column->at = i < data->features ? i : i - data->features;
        if (!(column->name = mem_format("%zu", i)))
            return SPH_EMEMORY;
    }
    return classes ? data_number_labels(data, classes) : 0;
}

/* *out <- a copy of the weights, of rows or of classes. */
static int set_weights(double **out, const double *weights, size_t count, const char *key, const char *what)
{
    for (size_t i = 0; i < count; i++)
        if (!(weights[i] >= 0 && isfinite(weights[i])))
            return sph_fail_key(SPH_EARG, key, "%s %zu has %g, expected a number from 0 on", what, i,
                                weights[i]);
    double *copy = mem_copy(weights, count, sizeof *copy);
    if (!copy)
        return SPH_EMEMORY;
    mem_free(*out);
    *out = copy;
    return 0;
}

int data_set_weights(sph_data *data, const double *weights)
{
    return set_weights(&data->side[COLUMN_WEIGHT], weights, data->rows, "weights", "row");
}

int data_set_class_weights(sph_data *data, const double *weights)
{
    if (data->task == SPH_TASK_REGRESSION)
        return sph_fail_key(SPH_EARG, "class_weight", "the task is regression, which has no classes");
    return set_weights(&data->class_weights, weights, data->classes, "class_weight", "class");
}

int data_set_classes(sph_data *data, size_t classes)
{
    size_t most = data->task == SPH_TASK_BINARY ? 2 : 1000000;
    if (data->task == SPH_TASK_REGRESSION || classes < data->classes || classes > most)
        return sph_fail_key(SPH_EARG, "classes", "%zu, expected %zu to %zu", classes, data->classes,
                            data->task == SPH_TASK_REGRESSION ? 0 : most);
    mem_free_texts(data->labels, data->classes);
    mem_free(data->class_weights);
    data->class_weights = NULL;
    data->classes = 0;
    return data_number_labels(data, classes);
}

int data_set_val(sph_data *data, size_t rows)
{
    if (data->test_from || data->side[COLUMN_GROUP] || data->side[COLUMN_TIME])
        return sph_fail_key(SPH_EARG, "val", "not used with data that have a test set, groups or times");
    if (rows >= data->rows)
        return sph_fail_key(SPH_EARG, "val", "%zu of %zu rows leave no training rows", rows, data->rows);
    data->counts.val = rows;
    return 0;
}

static int set_all(sph_data *data, const sph_array_opts *opts)
{
    int err = 0;
    if (opts->classes)
        err = data_set_classes(data, opts->classes);
    if (!err && opts->weights)
        err = data_set_weights(data, opts->weights);
    if (!err && opts->class_weights)
        err = data_set_class_weights(data, opts->class_weights);
    if (!err && opts->val)
        err = data_set_val(data, opts->val);
    return err;
}

int sph_data_from_arrays(sph_data **out, const double *x, const double *y, size_t rows, size_t features,
                         size_t targets, sph_task task, const sph_array_opts *opts)
{
    NEED(out);
    size_t x_count, y_count;
    *out = NULL;
    sph_array_opts own = {.size = sizeof own};
    int err = opts ? SIZED_TAKE(&own, opts, sph_array_opts) : 0;
    if (err < 0)
        return err;
    if (!rows || !features || !targets)
        return sph_fail_key(SPH_EARG, "data",
                            "%zu rows of %zu features and %zu targets, expected at least one of each", rows,
                            features, targets);
    NEED(x, y);
    if ((unsigned)task >= SPH_TASK_COUNT || (task != SPH_TASK_REGRESSION && targets != 1))
        return sph_fail_key(SPH_EARG, "data", "a task of classes has one target, not %zu", targets);
    if (__builtin_mul_overflow(rows, features, &x_count) || __builtin_mul_overflow(rows, targets, &y_count))
        return sph_fail_key(SPH_EARG, "data", "%zu rows are too many", rows);
    sph_data *data = mem_get(1, sizeof *data);
    if (!data)
        return SPH_EMEMORY;
    *data = (sph_data){.rows = rows,
                       .features = features,
                       .targets = targets,
                       .task = task,
                       .reading.missing = SPH_MISSING_MEAN};
    data->x = mem_get(x_count, sizeof *x);
    data->y = mem_get(y_count, sizeof *y);
    err = data->x && data->y ? 0 : SPH_EMEMORY;
    if (!err) {
        memcpy(data->x, x, x_count * sizeof *x);
        memcpy(data->y, y, y_count * sizeof *y);
        err = check_arrays(data);
    }
    if (!err)
        err = name_arrays(data);
    else
        data->classes = 0;
    if (!err)
        err = set_all(data, &own);
    if (err < 0) {
        sph_data_free(data);
        return err;
    }
    *out = data;
    return 0;
}

/* ---------------------------------------------------------------- looking */

size_t sph_data_rows(const sph_data *data)
{
    return data ? data->rows : 0;
}

size_t sph_data_features(const sph_data *data)
{
    return data ? data->features : 0;
}

size_t sph_data_outputs(const sph_data *data)
{
    if (!data)
        return 0;
    return data->task == SPH_TASK_CLASSES ? data->classes : data->targets;
}

sph_task sph_data_task(const sph_data *data)
{
    return data ? data->task : SPH_TASK_REGRESSION;
}

const double *sph_data_x(const sph_data *data)
{
    return data ? data->x : NULL;
}

const double *sph_data_y(const sph_data *data)
{
    return data ? data->y : NULL;
}

const char *data_date_part(size_t part)
{
    static const char *const parts[DATE_WIDTH + 1] = {"year", "month", "weekday", "days", "hour"};
    return parts[part];
}

static char *name_of_text(const sph_data *data, const struct column *column, size_t offset)
{
    if (!column->encoded)
        return mem_format("%s=%s", column->name,
                          offset < column->level_count ? column->levels[offset] : "(other)");
    if (column->encoded == 1)
        return mem_text(column->name);
    return mem_format("%s:%s", column->name,
                      offset < data->classes ? data->labels[offset] : data_target_name(data, offset));
}

char *data_feature_name(const sph_data *data, size_t feature)
{
    if (data_is_images(data)) {
        size_t pixels = data->image.height * data->image.width, pixel = feature % pixels;
        return mem_format("pixel_%zu_%zu_%zu", feature / pixels, pixel / data->image.width,
                          pixel % data->image.width);
    }
    for (size_t i = 0; i < data->column_count; i++) {
        const struct column *column = &data->columns[i];
        if (column->role != COLUMN_FEATURE || feature < column->at)
            continue;
        size_t offset = feature - column->at;
        if (column->kind == COLUMN_NUMBER && !offset)
            return mem_text(column->name);
        if (column->kind == COLUMN_TEXT && offset < column_width(column))
            return name_of_text(data, column, offset);
        if (column->kind == COLUMN_DATE && offset < column_width(column))
            return mem_format("%s.%s", column->name, data_date_part(offset));
    }
    sph_fail(SPH_EARG, "feature %zu of %zu has no name", feature, data->features);
    return NULL;
}

const char *data_target_name(const sph_data *data, size_t target)
{
    for (size_t i = 0; i < data->column_count; i++)
        if (data->columns[i].role == COLUMN_TARGET && data->columns[i].at == target)
            return data->columns[i].name;
    return "";
}

int sph_data_feature(const sph_data *data, size_t feature, char *name, size_t size)
{
    NEED(data, name);
    if (feature >= data->features)
        return sph_fail(SPH_EARG, "no feature %zu; the data have %zu features", feature, data->features);
    char *whole = data_feature_name(data, feature);
    if (!whole)
        return SPH_EMEMORY;
    snprintf(name, size, "%s", whole);
    mem_free(whole);
    return 0;
}

sph_column_order sph_data_order(const sph_data *data)
{
    return data && data->reading.reversed ? SPH_COLUMNS_REVERSED : SPH_COLUMNS_AS_IS;
}

const char *sph_data_class(const sph_data *data, size_t number)
{
    if (!data)
        return NULL;
    return number < data->classes ? data->labels[number] : NULL;
}
