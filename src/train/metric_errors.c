/* SPDX-License-Identifier: MIT
 *
 * Errors of real targets, over all rows at once and in the target's own units. */
#include <assert.h>
#include <math.h>

#include "train/metrics.h"
#include "train/tool.h"

static double error_at(const struct metric_part *part, const struct metric_tile *tile, size_t row, size_t j)
{
    double off = tile->p[row * part->outputs + j] - tile->t[row * part->targets + j];
    return off * (part->scale ? part->scale[j] : 1);
}

/* The power of two nearest below the largest scale: squares are summed in it, so that those of targets around 1e-200 or 1e200
 * are numbers too. It changes no bit of the others. */
static double unit_of(const struct metric_part *part)
{
    double most = 0;
    for (size_t j = 0; part->scale && j < part->targets; j++)
        most = fmax(most, part->scale[j]);
    return most > 0 ? ldexp(1, ilogb(most)) : 1;
}

static double cells(const struct metric_part *part)
{
    return (double)part->rows * (double)part->outputs;
}

static void tally_squares(const struct metric_part *part, const struct metric_tile *tile, double *sum)
{
    double unit = unit_of(part);
    for (size_t i = 0; i < tile->rows; i++)
        for (size_t j = 0; j < part->outputs; j++) {
            double error = error_at(part, tile, i, j) / unit;
            *sum += error * error;
        }
}

static double finish_mean(const struct metric_part *part, const double *sum)
{
    return *sum / cells(part);
}

static double finish_square(const struct metric_part *part, const double *sum)
{
    double unit = unit_of(part);
    return *sum / cells(part) * unit * unit;
}

static double finish_root(const struct metric_part *part, const double *sum)
{
    return sqrt(*sum / cells(part)) * unit_of(part);
}

const struct metric metric_RMSE = {
    .facts = {.tasks = SPH_IN_REGRESSION, .every_epoch = 1},
    .tally = tally_squares,
    .finish = finish_root,
};

const struct metric metric_MSE = {
    .facts = {.tasks = SPH_IN_REGRESSION},
    .tally = tally_squares,
    .finish = finish_square,
};

static void tally_sizes(const struct metric_part *part, const struct metric_tile *tile, double *sum)
{
    for (size_t i = 0; i < tile->rows; i++)
        for (size_t j = 0; j < part->outputs; j++)
            *sum += fabs(error_at(part, tile, i, j));
}

const struct metric metric_MAE = {
    .facts = {.tasks = SPH_IN_REGRESSION, .every_epoch = 1},
    .tally = tally_sizes,
    .finish = finish_mean,
};

/* ---------------------------------------------------------------- r2 */

/* Of each target: the squared errors, then the first and second moment about the first row's value. That lies within
 * rows * variance of the mean (squared), so that their difference is right to rows * rounding; and a constant target
 * has moments that are 0 exactly. */
enum { R2_ERRORS, R2_FIRST, R2_SECOND, R2_NUMBERS };
static_assert((int)R2_NUMBERS <= (int)METRIC_NUMBERS_OF_ONE, "the sums of one target fit");

static size_t r2_numbers(const struct metric_part *part)
{
    return R2_NUMBERS * part->targets;
}

static void tally_r2(const struct metric_part *part, const struct metric_tile *tile, double *sum)
{
    for (size_t i = 0; i < tile->rows; i++)
        for (size_t j = 0; j < part->targets; j++) {
            double t = tile->t[i * part->targets + j], error = tile->p[i * part->outputs + j] - t;
            double off = t - part->first[j], *own = sum + R2_NUMBERS * j;
            own[R2_ERRORS] += error * error;
            own[R2_FIRST] += off;
            own[R2_SECOND] += off * off;
        }
}

/* As scikit-learn has it: the plain mean over targets; a constant target is 1 where it is met, else 0. */
static double finish_r2(const struct metric_part *part, const double *sum)
{
    double all = 0, rows = (double)part->rows;
    if (part->rows < 2)
        return (double)NAN;
    for (size_t j = 0; j < part->targets; j++) {
        const double *own = sum + R2_NUMBERS * j;
        double spread = own[R2_SECOND] - own[R2_FIRST] * own[R2_FIRST] / rows;
        if (spread > 0)
            all += 1 - own[R2_ERRORS] / spread;
        else
            all += own[R2_ERRORS] == 0;
    }
    return all / (double)part->targets;
}

const struct metric metric_R2 = {
    .facts = {.tasks = SPH_IN_REGRESSION, .larger_is_better = 1, .undefined = "with fewer than 2 rows"},
    .numbers = r2_numbers,
    .tally = tally_r2,
    .finish = finish_r2,
};
