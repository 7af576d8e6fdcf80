/* SPDX-License-Identifier: MIT
 *
 * The embedded sets: Levy's function in one dimension with noise, and two interleaved crescents. */
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "data/table.h"

enum { LEVY_ROWS = 50, LEVY_TEST_ROWS = 201, CRESCENT_ROWS = 1000 };

static const double pi = 3.14159265358979323846;
static const double usual_noise = 0.1;

/* A number table of rows x columns to be filled, in the machine's own doubles. */
static int start(struct table *table, double **values, size_t rows, const char *const *names, size_t columns)
{
    size_t count;
    if (__builtin_mul_overflow(rows, columns, &count))
        return sph_fail(SPH_EARG, "%s: %zu rows are too many", table->path, rows);
    *values = mem_get(count, sizeof **values);
    if (!*values)
        return SPH_EMEMORY;
    table->own[0] = (unsigned char *)*values;
    table->x =
        (struct array){.bytes = table->own[0], .rows = rows, .columns = columns, .type = 'f', .size = 8};
    table->rows = rows;
    table->columns = columns;
    table->named = 1;
    return table_set_names(table, names);
}

static double levy(double x)
{
    double w = 1.0 + (x - 1.0) / 4.0;
    double a = sin(pi * w), b = sin(2.0 * pi * w);
    return a * a + (w - 1.0) * (w - 1.0) * (1.0 + b * b);
}

int synthetic_levy(struct table *table, const sph_data_opts *opts)
{
    static const char *const names[] = {"x", "y"};
    struct rng place = rng_stream(opts->seed, RNG_DATA, 0), error = rng_stream(opts->seed, RNG_DATA, 1);
    double *values, noise = isnan(opts->noise) ? usual_noise : opts->noise;
    size_t rows = opts->rows ? opts->rows : LEVY_ROWS;
    if (rows > SIZE_MAX - LEVY_TEST_ROWS)
        return sph_fail(SPH_EARG, "%s: %zu rows are too many", table->path, rows);
    int err = start(table, &values, rows + LEVY_TEST_ROWS, names, 2);
    if (err < 0)
        return err;
    table->test_from = rows;
    for (size_t i = 0; i < rows; i++, values += 2) {
        values[0] = -10.0 + 20.0 * rng_unit(&place);
        values[1] = levy(values[0]) + noise * rng_normal(&error);
    }
    for (size_t i = 0; i < LEVY_TEST_ROWS; i++, values += 2) {
        values[0] = ((double)i - 100.0) / 10.0;
        values[1] = levy(values[0]);
    }
    return 0;
}

int synthetic_crescents(struct table *table, const sph_data_opts *opts)
{
    static const char *const names[] = {"x1", "x2", "class"};
    struct rng place = rng_stream(opts->seed, RNG_DATA, 0), error = rng_stream(opts->seed, RNG_DATA, 1);
    double *values, noise = isnan(opts->noise) ? usual_noise : opts->noise;
    int err = start(table, &values, opts->rows ? opts->rows : CRESCENT_ROWS, names, 3);
    if (err < 0)
        return err;
    for (size_t i = 0; i < table->rows; i++, values += 3) {
        double angle = pi * rng_unit(&place);
        int lower = i % 2 != 0;
        values[0] = (lower ? 1.0 - cos(angle) : cos(angle)) + noise * rng_normal(&error);
        values[1] = (lower ? 0.5 - sin(angle) : sin(angle)) + noise * rng_normal(&error);
        values[2] = lower;
    }
    return 0;
}
