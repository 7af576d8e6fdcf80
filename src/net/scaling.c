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
    mem_free(scaling->x_clip);
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
        copy_array(&out->x_clip, scaling->x_clip, out->features) < 0 ||
        copy_array(&out->y_mean, scaling->y_mean, out->targets) < 0 ||
        copy_array(&out->y_scale, scaling->y_scale, out->targets) < 0) {
        scaling_free(out);
        return SPH_EMEMORY;
    }
    return 0;
}

double scaling_feature(const struct scaling *scaling, size_t feature, double value)
{
    double mean = scaling->x_mean ? scaling->x_mean[feature] : 0.0;
    double scale = scaling->x_scale ? scaling->x_scale[feature] : 1.0;
    double clip = scaling->x_clip ? scaling->x_clip[feature] : 0.0;
    double z = (value - mean) / scale;
    if (!(clip > 0.0))
        return z;
    double far = z / clip;
    return fabs(far) > 1e9 ? copysign(clip, far) : z / sqrt(1.0 + far * far); /* far * far may overflow */
}

double scaling_feature_of(const struct scaling *scaling, size_t feature, double z)
{
    double mean = scaling->x_mean ? scaling->x_mean[feature] : 0.0;
    double scale = scaling->x_scale ? scaling->x_scale[feature] : 1.0;
    double clip = scaling->x_clip ? scaling->x_clip[feature] : 0.0;
    if (clip > 0.0)
        z = fabs(z) < clip ? z / sqrt((1.0 - z / clip) * (1.0 + z / clip)) : (double)NAN;
    return z * scale + mean;
}

void scaling_apply_x(const struct scaling *scaling, size_t rows, const double *x, double *out)
{
    size_t n = scaling->features;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < n; j++) {
            double value = x[i * n + j];
            if (isnan(value))
                value = scaling->x_fill ? scaling->x_fill[j] : scaling->x_mean ? scaling->x_mean[j] : 0.0;
            out[i * n + j] = scaling_feature(scaling, j, value);
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
