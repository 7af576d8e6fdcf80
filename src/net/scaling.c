/* SPDX-License-Identifier: MIT
 *
 * Standardisation applied and undone. */
#include "net/scaling.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

void scaling_free(struct scaling *scaling)
{
    mem_free(scaling->x_mean);
    mem_free(scaling->x_scale);
    mem_free(scaling->x_fill);
    mem_free(scaling->y_mean);
    mem_free(scaling->y_scale);
    *scaling = (struct scaling){0};
}

static int copy_array(double **out, const double *array, size_t count)
{
    if (!array)
        return 0;
    *out = mem_get(count, sizeof **out);
    if (!*out)
        return SPH_EMEMORY;
    memcpy(*out, array, count * sizeof **out);
    return 0;
}

int scaling_copy(struct scaling *out, const struct scaling *scaling)
{
    *out = (struct scaling){.features = scaling->features, .targets = scaling->targets};
    if (copy_array(&out->x_mean, scaling->x_mean, out->features) < 0 ||
        copy_array(&out->x_scale, scaling->x_scale, out->features) < 0 ||
        copy_array(&out->x_fill, scaling->x_fill, out->features) < 0 ||
        copy_array(&out->y_mean, scaling->y_mean, out->targets) < 0 ||
        copy_array(&out->y_scale, scaling->y_scale, out->targets) < 0) {
        scaling_free(out);
        return SPH_EMEMORY;
    }
    return 0;
}

void scaling_apply_x(const struct scaling *scaling, size_t rows, const double *x, double *out)
{
    size_t n = scaling->features;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < n; j++) {
            double mean = scaling->x_mean ? scaling->x_mean[j] : 0.0;
            double scale = scaling->x_scale ? scaling->x_scale[j] : 1.0;
            double value = x[i * n + j];
            if (isnan(value))
                value = scaling->x_fill ? scaling->x_fill[j] : mean;
            out[i * n + j] = (value - mean) / scale;
        }
}

void scaling_apply_y(const struct scaling *scaling, size_t rows, const double *y, double *out)
{
    size_t n = scaling->targets;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < n; j++) {
            double mean = scaling->y_mean ? scaling->y_mean[j] : 0.0;
            double scale = scaling->y_scale ? scaling->y_scale[j] : 1.0;
            out[i * n + j] = (y[i * n + j] - mean) / scale;
        }
}

void scaling_undo_y(const struct scaling *scaling, size_t rows, const double *y, double *out)
{
    size_t n = scaling->targets;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < n; j++) {
            double mean = scaling->y_mean ? scaling->y_mean[j] : 0.0;
            double scale = scaling->y_scale ? scaling->y_scale[j] : 1.0;
            out[i * n + j] = y[i * n + j] * scale + mean;
        }
}
