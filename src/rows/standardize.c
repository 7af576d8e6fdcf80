/* SPDX-License-Identifier: MIT
 *
 * Means and standard deviations of chosen rows, or medians and interquartile ranges. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "rows/data.h"

/* Numbers (rows of all, width), and what each row counts, or NULL: one. */
struct counted {
    const double *values;
    size_t width;
    const double *weights;
};

/* A power of two near the largest deviation: squares are taken of deviations in this unit, so that they neither underflow
 * (numbers around 1e-200) nor overflow. It changes no bit of what would not have. */
static double unit_of(double largest)
{
    int exponent = largest > 0.0 && isfinite(largest) ? ilogb(largest) : 0;
    return ldexp(1.0, exponent < -1021 ? -1021 : exponent); /* 1 / unit is finite, too */
}

/* Of the values that are there; two passes, as a one-pass variance cancels. Constant as scikit-learn means
 * it: a variance that rounding alone can explain. 1: the column is, though its values differ. */
static int column_moments(const struct counted *all, size_t column, const uint32_t *rows, size_t count,
                          double *mean, double *scale)
{
    double sum = 0.0, squares = 0.0, drift = 0.0, n = 0.0, weight = 0.0, least = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        double value = all->values[rows[i] * all->width + column];
        double counts = all->weights ? all->weights[rows[i]] : 1.0;
        if (isnan(value) || counts == 0.0)
            continue;
        sum += counts * value;
        weight += counts;
        n += 1.0;
        least = value < least ? value : least;
        most = value > most ? value : most;
    }
    *mean = n > 0.0 ? sum / weight : 0.0;
    *scale = 1.0;
    double unit = unit_of(fmax(most - *mean, *mean - least)), inverse = 1.0 / unit;
    for (size_t i = 0; i < count; i++) {
        double value = all->values[rows[i] * all->width + column];
        double counts = all->weights ? all->weights[rows[i]] : 1.0;
        if (isnan(value) || counts == 0.0)
            continue;
        double off = (value - *mean) * inverse;
        squares += counts * off * off;
        drift += counts * off;
    }
    if (n == 0.0)
        return 0;
    double variance = (squares - drift * drift / weight) / weight;
    double rounding = n * *mean * DBL_EPSILON * inverse;
    if (isfinite(variance) && variance <= n * DBL_EPSILON * variance + rounding * rounding)
        return most > least;
    *scale = sqrt(variance) * unit;
    return 0;
}

int scaling_flattens(const sph_data *data, const uint32_t *rows, size_t count, size_t column, int target)
{
    const double *weights = data->side[COLUMN_WEIGHT];
    struct counted x = {data->x, data->features, weights}, y = {data->y, data->targets, weights};
    double mean, scale;
    return column_moments(target ? &y : &x, column, rows, count, &mean, &scale);
}

/* ---------------------------------------------------------------- median and quartiles */

struct weighted {
    double value, weight;
};

static int by_value(const void *a, const void *b)
{
    double x = ((const struct weighted *)a)->value, y = ((const struct weighted *)b)->value;
    return (x > y) - (x < y);
}

/* The mean of the least values at which the weight up to here reaches, and exceeds, this share of all. */
static double quantile(const struct weighted *sorted, size_t count, double share)
{
    double all = 0.0, up_to = 0.0;
    for (size_t i = 0; i < count; i++)
        all += sorted[i].weight;
    for (size_t i = 0; i < count; i++) {
        up_to += sorted[i].weight;
        if (up_to > share * all || i + 1 == count)
            return sorted[i].value;
        if (up_to == share * all)
            return sorted[i].value / 2 + sorted[i + 1].value / 2;
    }
    return 0.0;
}

/* 0: nothing to go by, mean and scale stay. room (count). */
static int column_quartiles(const struct counted *all, size_t column, const uint32_t *rows, size_t count,
                            struct weighted *room, double *middle, double *scale)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        double value = all->values[rows[i] * all->width + column];
        double counts = all->weights ? all->weights[rows[i]] : 1.0;
        if (!isnan(value) && counts > 0.0)
            room[n++] = (struct weighted){value, counts};
    }
    if (!n)
        return 0;
    qsort(room, n, sizeof *room, by_value);
    double low = quantile(room, n, 0.25), high = quantile(room, n, 0.75), least = room[0].value,
           most = room[n - 1].value;
    *middle = quantile(room, n, 0.5);
    *scale = high > low ? high - low : most > least ? most / 2 - least / 2 : 1.0;
    return 1;
}

/* 1: a column of 0 and 1 that stands for a text column. */
static int is_indicator(const sph_data *data, size_t feature)
{
    for (size_t i = 0; i < data->column_count; i++) {
        const struct column *column = &data->columns[i];
        if (column->role == COLUMN_FEATURE && column->kind == COLUMN_TEXT && !column->encoded &&
            feature >= column->at && feature < column->at + column_width(column))
            return 1;
    }
    return 0;
}

/* x_mean, x_scale and x_clip from quartiles. Numbers that rounding alone sets apart keep mean and scale 1. */
static int fit_robust(struct scaling *out, const sph_data *data, const struct counted *x,
                      const uint32_t *rows, size_t count)
{
    struct weighted *room = mem_get(count, sizeof *room);
    int err = room && (out->x_clip = mem_get(data->features, sizeof *out->x_clip)) ? 0 : SPH_EMEMORY;
    for (size_t j = 0; j < data->features && !err; j++)
        if (!scaling_flattens(data, rows, count, j, 0) &&
            column_quartiles(x, j, rows, count, room, &out->x_mean[j], &out->x_scale[j]))
            out->x_clip[j] = SCALING_CLIP;
    mem_free(room);
    return err;
}

static void leave_indicators(struct scaling *out, const sph_data *data)
{
    for (size_t j = 0; j < data->features; j++)
        if (is_indicator(data, j)) {
            out->x_mean[j] = 0.0;
            out->x_scale[j] = 1.0;
            if (out->x_clip)
                out->x_clip[j] = 0.0;
        }
}

/* ---------------------------------------------------------------- all columns */

static int fit(double *mean, double *scale, const struct counted *all, const uint32_t *rows, size_t count)
{
    for (size_t j = 0; j < all->width; j++) {
        column_moments(all, j, rows, count, &mean[j], &scale[j]);
        if (!isfinite(mean[j]) || !isfinite(scale[j]))
            return (int)j + 1;
    }
    return 0;
}

static int fail_too_large(char *name)
{
    if (!name)
        return SPH_EMEMORY;
    sph_fail_of(SPH_EFORMAT, "", 0, name, "column '%s': numbers are too large to standardize", name);
    mem_free(name);
    return SPH_EFORMAT;
}

static void count_bytes(uint64_t (*seen)[256], const sph_data *data, const uint8_t *image)
{
    size_t pixels = data->image.height * data->image.width;
    for (size_t c = 0; c < data->image.channels; c++)
        for (size_t p = 0; p < pixels; p++)
            seen[c][*image++]++;
}

/* seen (channels, 256) <- how often each byte comes in these rows; *looked <- how many of them were looked at. */
static int count_images(uint64_t (*seen)[256], const sph_data *data, const uint32_t *rows, size_t count,
                        size_t *looked)
{
    *looked = count;
    for (size_t i = 0; i < count && data->image.pixels; i++)
        count_bytes(seen, data, data->image.pixels + rows[i] * data->features);
    if (data->image.pixels)
        return 0;
    size_t some = count < SCALING_PICTURES ? count : SCALING_PICTURES;
    uint32_t *index = mem_get(some, sizeof *index);
    struct picture_stream *stream = NULL;
    int err = index
                  ? data->image.pictures->stream(data->image.pictures, &stream, SPH_AUGMENT_NONE, 0, NULL, 0)
                  : SPH_EMEMORY;
    for (size_t i = 0; i < some && !err; i++)
        index[i] = rows[i * count / some];
    if (!err)
        err = stream->begin(stream, 0, index, NULL, some);
    for (size_t i = 0; i < some && !err; i++) {
        const uint8_t *image;
        if (!(err = stream->take(stream, index[i], &image)))
            count_bytes(seen, data, image);
    }
    if (stream)
        stream->release(stream);
    mem_free(index);
    *looked = some;
    return err;
}

/* Counts of each byte give both moments exactly, up to one rounding. */
static void channel_moments(const uint64_t seen[256], double n, double *mean, double *scale)
{
    double sum = 0.0, squares = 0.0;
    for (int v = 0; v < 256; v++)
        sum += v * (double)seen[v];
    *mean = sum / n;
    for (int v = 0; v < 256; v++)
        squares += (v - *mean) * (v - *mean) * (double)seen[v];
    *scale = squares > 0.0 ? sqrt(squares / n) : 1.0;
}

static int fit_images(struct scaling *out, const sph_data *data, const uint32_t *rows, size_t count,
                      sph_standardize kind)
{
    size_t pixels = data->image.height * data->image.width, looked = 0;
    uint64_t(*seen)[256] = mem_get(data->image.channels, sizeof *seen);
    int err = seen ? 0 : SPH_EMEMORY;
    if (!err && kind != SPH_STANDARDIZE_OFF)
        err = count_images(seen, data, rows, count, &looked);
    if (!err && (!(out->x_mean = mem_get(data->features, sizeof *out->x_mean)) ||
                 !(out->x_scale = mem_get(data->features, sizeof *out->x_scale))))
        err = SPH_EMEMORY;
    if (err < 0) {
        mem_free(seen);
        scaling_free(out);
        return err;
    }
    for (size_t c = 0; c < data->image.channels; c++) {
        double mean = 0.0, scale = 255.0;
        if (kind != SPH_STANDARDIZE_OFF)
            channel_moments(seen[c], (double)looked * (double)pixels, &mean, &scale);
        if (kind == SPH_STANDARDIZE_MEAN)
            scale = 255.0;
        for (size_t p = 0; p < pixels; p++) {
            out->x_mean[c * pixels + p] = mean;
            out->x_scale[c * pixels + p] = scale;
        }
    }
    mem_free(seen);
    return 0;
}

static int fit_features(struct scaling *out, const sph_data *data, const uint32_t *rows, size_t count,
                        const struct scaling_how *how)
{
    const struct counted x = {data->x, data->features, data->side[COLUMN_WEIGHT]};
    double *scale = mem_get(data->features, sizeof *scale);
    int bad, divides = how->kind == SPH_STANDARDIZE_FEATURES || how->kind == SPH_STANDARDIZE_BOTH;
    if (!scale || !(out->x_fill = mem_get(data->features, sizeof *out->x_fill))) {
        mem_free(scale);
        return SPH_EMEMORY;
    }
    out->x_scale = scale;
    if ((bad = fit(out->x_fill, scale, &x, rows, count)))
        return fail_too_large(data_feature_name(data, (size_t)bad - 1));
    if (how->kind == SPH_STANDARDIZE_OFF) {
        out->x_scale = NULL;
        mem_free(scale);
        return 0;
    }
    if (!(out->x_mean = mem_get(data->features, sizeof *out->x_mean)))
        return SPH_EMEMORY;
    memcpy(out->x_mean, out->x_fill, data->features * sizeof *out->x_mean);
    for (size_t j = 0; !divides && j < data->features; j++)
        scale[j] = 1.0;
    int err = divides && how->scale == SPH_SCALE_ROBUST ? fit_robust(out, data, &x, rows, count) : 0;
    if (!err && how->indicators == SPH_INDICATORS_RAW)
        leave_indicators(out, data);
    return err;
}

static int fit_targets(struct scaling *out, const sph_data *data, const uint32_t *rows, size_t count)
{
    const struct counted y = {data->y, data->targets, data->side[COLUMN_WEIGHT]};
    if (!(out->y_mean = mem_get(data->targets, sizeof *out->y_mean)) ||
        !(out->y_scale = mem_get(data->targets, sizeof *out->y_scale)))
        return SPH_EMEMORY;
    int bad = fit(out->y_mean, out->y_scale, &y, rows, count);
    return bad ? fail_too_large(mem_text(data_target_name(data, (size_t)bad - 1))) : 0;
}

int scaling_fit(struct scaling *out, const sph_data *data, const uint32_t *rows, size_t count,
                const struct scaling_how *asked)
{
    struct scaling_how how = *asked;
    if (how.kind == SPH_STANDARDIZE_AUTO)
        how.kind = data->task == SPH_TASK_REGRESSION ? SPH_STANDARDIZE_BOTH : SPH_STANDARDIZE_FEATURES;
    *out = (struct scaling){.features = data->features, .targets = data->targets};
    if (!count)
        return sph_fail_key(SPH_EARG, "standardize", "no training rows");
    if (data_is_images(data))
        return fit_images(out, data, rows, count, how.kind);
    int err = fit_features(out, data, rows, count, &how);
    if (!err && how.kind == SPH_STANDARDIZE_BOTH && data->task == SPH_TASK_REGRESSION && data->y)
        err = fit_targets(out, data, rows, count);
    if (err < 0)
        scaling_free(out);
    return err;
}
