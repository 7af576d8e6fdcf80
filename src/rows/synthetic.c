/* SPDX-License-Identifier: MIT */
#include "rows/synthetic.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/mt19937.h"
#include "base/random.h"
#include "rows/data.h"

enum { LEVY_ROWS = 50, LEVY_TEST_ROWS = 201, CRESCENT_ROWS = 1000, SPIRAL_ROWS = 2000, ARMS = 20 };

static const double pi = 3.14159265358979323846;
static const double usual_noise = 0.1;

static double levy(double x)
{
    double w = 1.0 + (x - 1.0) / 4.0;
    double a = sin(pi * w), b = sin(2.0 * pi * w);
    return a * a + (w - 1.0) * (w - 1.0) * (1.0 + b * b);
}

static void draw_levy(double *values, size_t rows, double noise, uint64_t seed)
{
    struct rng place = rng_stream(seed, RNG_DATA, 0), error = rng_stream(seed, RNG_DATA, 1);
    for (size_t i = 0; i < rows; i++, values += 2) {
        values[0] = -10.0 + 20.0 * rng_unit(&place);
        values[1] = levy(values[0]) + noise * rng_normal(&error);
    }
}

/* The notebook's: np.random.uniform(-10, 10, rows), then np.random.normal(0, noise, rows). */
static void draw_levy_by_numpy(double *values, size_t rows, double noise, uint32_t seed)
{
    struct mt19937 mt;
    struct mt19937_normal pair = {0};
    mt19937_seed(&mt, seed);
    for (size_t i = 0; i < rows; i++)
        values[2 * i] = -10.0 + 20.0 * mt19937_unit(&mt);
    for (size_t i = 0; i < rows; i++)
        values[2 * i + 1] = levy(values[2 * i]) + noise * mt19937_gauss(&mt, &pair);
}

static void fill_levy(const struct synthetic *set, double noise, const struct synthetic_opts *opts)
{
    double *values = set->values;
    if (opts->numpy)
        draw_levy_by_numpy(values, set->test_from, noise, *opts->numpy);
    else
        draw_levy(values, set->test_from, noise, opts->seed);
    values += 2 * set->test_from;
    for (size_t i = 0; i < LEVY_TEST_ROWS; i++, values += 2) {
        values[0] = ((double)i - 100.0) / 10.0;
        values[1] = levy(values[0]);
    }
}

static void fill_crescents(const struct synthetic *set, double noise, const struct synthetic_opts *opts)
{
    struct rng place = rng_stream(opts->seed, RNG_DATA, 0), error = rng_stream(opts->seed, RNG_DATA, 1);
    double *values = set->values;
    for (size_t i = 0; i < set->rows; i++, values += 3) {
        double angle = pi * rng_unit(&place);
        int lower = i % 2 != 0;
        values[0] = (lower ? 1.0 - cos(angle) : cos(angle)) + noise * rng_normal(&error);
        values[1] = (lower ? 0.5 - sin(angle) : sin(angle)) + noise * rng_normal(&error);
        values[2] = lower;
    }
}

/* Arm c begins near the origin in direction c and goes round it by one turn, up to radius 5. */
static void fill_spirals(const struct synthetic *set, double noise, const struct synthetic_opts *opts)
{
    struct rng place = rng_stream(opts->seed, RNG_DATA, 0), error = rng_stream(opts->seed, RNG_DATA, 1);
    double *values = set->values;
    for (size_t i = 0; i < set->rows; i++, values += 3) {
        double share = 0.1 + 0.9 * rng_unit(&place), arm = (double)(i % ARMS);
        double angle = 2 * pi * (arm / ARMS + share);
        values[0] = 5 * share * cos(angle) + noise * rng_normal(&error);
        values[1] = 5 * share * sin(angle) + noise * rng_normal(&error);
        values[2] = arm;
    }
}

static const char *const levy_names[] = {"x", "y"};
static const char *const plane_names[] = {"x1", "x2", "class"};

static const struct row {
    const char *name;
    const char *const *names;
    size_t columns, rows, test_rows;
    sph_task task;
    void (*fill)(const struct synthetic *set, double noise, const struct synthetic_opts *opts);
    int by_numpy; /* it can be */
} sets[] = {
    {"crescents", plane_names, 3, CRESCENT_ROWS, 0, SPH_TASK_BINARY, fill_crescents, 0},
    {"spirals", plane_names, 3, SPIRAL_ROWS, 0, SPH_TASK_CLASSES, fill_spirals, 0},
    {"levy", levy_names, 2, LEVY_ROWS, LEVY_TEST_ROWS, SPH_TASK_REGRESSION, fill_levy, 1},
};

int synthetic_make(struct synthetic *out, const char *name, const struct synthetic_opts *opts)
{
    size_t rows = opts->rows;
    double noise = opts->noise;
    const struct row *row = NULL;
    for (size_t i = 0; i < sizeof sets / sizeof *sets && !row; i++)
        row = strcmp(sets[i].name, name) ? NULL : &sets[i];
    if (!row)
        return sph_fail_key(SPH_EARG, name,
                            "unknown synthetic dataset; available: crescents, spirals and levy");
    if (opts->numpy && !row->by_numpy)
        return sph_fail_key(SPH_EARG, "draw", "only used with levy, not with %s", name);
    if (noise < 0 || isinf(noise))
        return sph_fail_key(SPH_EARG, "noise", "%g, expected a number, 0 or more", noise);
    size_t train = rows ? rows : row->rows, all, count;
    if (__builtin_add_overflow(train, row->test_rows, &all) ||
        __builtin_mul_overflow(all, row->columns, &count))
        return sph_fail_key(SPH_EARG, name, "%zu rows are too many", train);
    *out = (struct synthetic){.names = row->names,
                              .rows = all,
                              .columns = row->columns,
                              .test_from = row->test_rows ? train : 0,
                              .task = row->task};
    if (!(out->values = mem_get(count, sizeof *out->values)))
        return SPH_EMEMORY;
    row->fill(out, isnan(noise) ? usual_noise : noise, opts);
    return 0;
}

/* x and y of the matrix apart. */
static int take_apart(sph_data **out, const struct synthetic *set)
{
    size_t features = set->columns - 1;
    double *x = mem_get(set->rows * features, sizeof *x), *y = mem_get(set->rows, sizeof *y);
    int err = x && y ? 0 : SPH_EMEMORY;
    for (size_t i = 0; i < set->rows && !err; i++) {
        memcpy(x + i * features, set->values + i * set->columns, features * sizeof *x);
        y[i] = set->values[i * set->columns + features];
    }
    if (!err)
        err = sph_data_from_arrays(out, x, y, set->rows, features, 1, set->task, NULL);
    mem_free(x);
    mem_free(y);
    return err;
}

static int name_columns(sph_data *data, const struct synthetic *set)
{
    for (size_t i = 0; i < set->columns; i++) {
        char *name = mem_text(set->names[i]);
        if (!name)
            return SPH_EMEMORY;
        mem_free(data->columns[i].name);
        data->columns[i].name = name;
    }
    data->reading.named = data->reading.made = 1;
    data->test_from = set->test_from;
    return 0;
}

int sph_data_synthetic(sph_data **out, const char *name, size_t rows, double noise, uint64_t seed)
{
    NEED(out, name);
    struct synthetic set;
    sph_data *data = NULL;
    *out = NULL;
    int err =
        synthetic_make(&set, name, &(struct synthetic_opts){.rows = rows, .noise = noise, .seed = seed});
    if (err < 0)
        return err;
    err = take_apart(&data, &set);
    if (!err)
        err = name_columns(data, &set);
    mem_free(set.values);
    if (err < 0) {
        sph_data_free(data);
        return err;
    }
    *out = data;
    return 0;
}
