/* SPDX-License-Identifier: MIT
 *
 * Means and standard deviations of chosen rows. */
#include <float.h>
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "rows/data.h"

/* Of the values that are there; two passes, as a one-pass variance cancels. Constant as scikit-learn means
 * it: a variance that rounding alone can explain. */
static void column_moments(const double *values, size_t width, size_t column, const uint32_t *rows,
                           size_t count, double *mean, double *scale)
{
    double sum = 0.0, squares = 0.0, drift = 0.0, n = 0.0;
    for (size_t i = 0; i < count; i++) {
        double value = values[rows[i] * width + column];
        if (isnan(value))
            continue;
        sum += value;
        n += 1.0;
    }
    *mean = n > 0.0 ? sum / n : 0.0;
    *scale = 1.0;
    for (size_t i = 0; i < count; i++) {
        double value = values[rows[i] * width + column];
        if (isnan(value))
            continue;
        squares += (value - *mean) * (value - *mean);
        drift += value - *mean;
    }
    if (n == 0.0)
        return;
    double variance = (squares - drift * drift / n) / n;
    double rounding = n * *mean * DBL_EPSILON;
    if (!isfinite(variance) || !(variance <= n * DBL_EPSILON * variance + rounding * rounding))
        *scale = sqrt(variance);
}

static int fit(double *mean, double *scale, const double *values, size_t width, const uint32_t *rows,
               size_t count)
{
    for (size_t j = 0; j < width; j++) {
        column_moments(values, width, j, rows, count, &mean[j], &scale[j]);
        if (!isfinite(mean[j]) || !isfinite(scale[j]))
            return (int)j + 1;
    }
    return 0;
}

static int fail_too_large(char *name)
{
    if (!name)
        return SPH_EMEMORY;
    sph_fail(SPH_EFORMAT, "column '%s': numbers too large to standardise", name);
    mem_free(name);
    return SPH_EFORMAT;
}

/* Counts of each byte give both moments exactly, up to one rounding. */
static void channel_moments(const sph_data *data, size_t channel, const uint32_t *rows, size_t count,
                            double *mean, double *scale)
{
    size_t pixels = data->height * data->width;
    uint64_t seen[256] = {0};
    for (size_t i = 0; i < count; i++) {
        const uint8_t *plane = data->pixels + rows[i] * data->features + channel * pixels;
        for (size_t p = 0; p < pixels; p++)
            seen[plane[p]]++;
    }
    double n = (double)count * (double)pixels, sum = 0.0, squares = 0.0;
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
    size_t pixels = data->height * data->width;
    if (!(out->x_mean = mem_get(data->features, sizeof *out->x_mean)) ||
        !(out->x_scale = mem_get(data->features, sizeof *out->x_scale))) {
        scaling_free(out);
        return SPH_EMEMORY;
    }
    for (size_t c = 0; c < data->channels; c++) {
        double mean = 0.0, scale = 255.0;
        if (kind != SPH_STANDARDIZE_OFF)
            channel_moments(data, c, rows, count, &mean, &scale);
        for (size_t p = 0; p < pixels; p++) {
            out->x_mean[c * pixels + p] = mean;
            out->x_scale[c * pixels + p] = scale;
        }
    }
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
    if (data->pixels)
        return fit_images(out, data, rows, count, kind);
    int err = SPH_EMEMORY, bad;
    double *scale = NULL;
    if (!(out->x_fill = mem_get(data->features, sizeof *out->x_fill)) ||
        !(scale = mem_get(data->features, sizeof *scale)))
        goto out;
    if ((bad = fit(out->x_fill, scale, data->x, data->features, rows, count))) {
        err = fail_too_large(data_feature_name(data, (size_t)bad - 1));
        goto out;
    }
    if (kind != SPH_STANDARDIZE_OFF) {
        if (!(out->x_mean = mem_get(data->features, sizeof *out->x_mean)))
            goto out;
        for (size_t j = 0; j < data->features; j++)
            out->x_mean[j] = out->x_fill[j];
        out->x_scale = scale;
        scale = NULL;
    }
    if (kind == SPH_STANDARDIZE_BOTH && data->task == SPH_TASK_REGRESSION && data->y) {
        if (!(out->y_mean = mem_get(data->targets, sizeof *out->y_mean)) ||
            !(out->y_scale = mem_get(data->targets, sizeof *out->y_scale)))
            goto out;
        if ((bad = fit(out->y_mean, out->y_scale, data->y, data->targets, rows, count))) {
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
