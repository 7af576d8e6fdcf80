/* SPDX-License-Identifier: MIT
 *
 * Means and standard deviations of chosen rows. */
#include <float.h>
#include <math.h>

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
    sph_fail_of(SPH_EFORMAT, "", 0, name, "column '%s': numbers too large to standardise", name);
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

int scaling_fit(struct scaling *out, const sph_data *data, const uint32_t *rows, size_t count,
                sph_standardize kind)
{
    if (kind == SPH_STANDARDIZE_AUTO)
        kind = data->task == SPH_TASK_REGRESSION ? SPH_STANDARDIZE_BOTH : SPH_STANDARDIZE_FEATURES;
    *out = (struct scaling){.features = data->features, .targets = data->targets};
    if (!count)
        return sph_fail_key(SPH_EARG, "standardize", "no training rows");
    if (data_is_images(data))
        return fit_images(out, data, rows, count, kind);
    int err = SPH_EMEMORY, bad;
    double *scale = NULL;
    const double *weights = data->side[COLUMN_WEIGHT];
    struct counted x = {data->x, data->features, weights}, y = {data->y, data->targets, weights};
    if (!(out->x_fill = mem_get(data->features, sizeof *out->x_fill)) ||
        !(scale = mem_get(data->features, sizeof *scale)))
        goto out;
    if ((bad = fit(out->x_fill, scale, &x, rows, count))) {
        err = fail_too_large(data_feature_name(data, (size_t)bad - 1));
        goto out;
    }
    if (kind != SPH_STANDARDIZE_OFF) {
        if (!(out->x_mean = mem_get(data->features, sizeof *out->x_mean)))
            goto out;
        for (size_t j = 0; j < data->features; j++) {
            out->x_mean[j] = out->x_fill[j];
            scale[j] = kind == SPH_STANDARDIZE_MEAN ? 1.0 : scale[j];
        }
        out->x_scale = scale;
        scale = NULL;
    }
    if (kind == SPH_STANDARDIZE_BOTH && data->task == SPH_TASK_REGRESSION && data->y) {
        if (!(out->y_mean = mem_get(data->targets, sizeof *out->y_mean)) ||
            !(out->y_scale = mem_get(data->targets, sizeof *out->y_scale)))
            goto out;
        if ((bad = fit(out->y_mean, out->y_scale, &y, rows, count))) {
            err = fail_too_large(mem_text(data_target_name(data, (size_t)bad - 1)));
            goto out;
        }
    }
    err = 0;
out:
    mem_free(scale);
    if (err < 0)
        scaling_free(out);
    return err;
}
