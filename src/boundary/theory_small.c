/* SPDX-License-Identifier: MIT
 *
 * How fast the turn becomes |eps|_M as eps shrinks. With the metric at theta the relative error is of the
 * first order in |eps|; with the metric half way it is of the second, since errors to both sides cancel. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/order.h"
#include "boundary/theory.h"
#include "boundary/tool.h"
#include "boundary/turns.h"

enum { SMALL_PAIRS = 128, SMALL_SIZES = 5 };

static const double sizes[SMALL_SIZES] = {1e-2, 3e-3, 1e-3, 3e-4, 1e-4};

/* Slope of y over x. */
static double slope(const double *x, const double *y, size_t count)
{
    double mx = 0, my = 0, xy = 0, xx = 0;
    for (size_t i = 0; i < count; i++) {
        mx += x[i] / (double)count;
        my += y[i] / (double)count;
    }
    for (size_t i = 0; i < count; i++) {
        xy += (x[i] - mx) * (y[i] - my);
        xx += (x[i] - mx) * (x[i] - mx);
    }
    return xy / xx;
}

/* error (SMALL_SIZES): the median over pairs of | turn / |eps|_M - 1 |. */
static void measure(struct turns *turns, struct rng *rng, double at, double error[SMALL_SIZES])
{
    double number[SMALL_PAIRS];
    turns_draw_theta(turns, rng);
    turns_draw_eps(turns, rng);
    for (size_t s = 0; s < SMALL_SIZES; s++) {
        for (size_t j = 0; j < SMALL_PAIRS; j++)
            number[j] = s ? sizes[s] / sizes[s - 1] : sizes[0];
        turns_scale_eps(turns, number);
        turns_measure(turns);
        turns_metric(turns, at, 0);
        for (size_t j = 0; j < SMALL_PAIRS; j++)
            number[j] = fabs(turns->turn[j] / turns->metric[j] - 1);
        qsort(number, SMALL_PAIRS, sizeof *number, by_double);
        error[s] = number[SMALL_PAIRS / 2];
    }
}

/* The order of | turn / |eps|_M - 1 | in |eps|, M taken at theta (1) or half way (2). */
static int order_row(struct theory *theory, size_t n, int order)
{
    struct rng rng = rng_stream(theory->opts->seed, RNG_THEORY, 1u << 30 | (uint32_t)n);
    double error[SMALL_SIZES], x[SMALL_SIZES], y[SMALL_SIZES];
    struct turns turns;
    int err = turns_new(&turns, n, SMALL_PAIRS);
    if (err < 0)
        return err;
    measure(&turns, &rng, order == 1 ? 0 : 0.5, error);
    turns_free(&turns);
    for (size_t s = 0; s < SMALL_SIZES; s++) {
        x[s] = log(sizes[s]);
        y[s] = log(error[s]);
    }
    sph_theory_row *row =
        theory_row(theory, n, SMALL_PAIRS * SMALL_SIZES, slope(x, y, SMALL_SIZES), order - 0.1, order + 0.1);
    snprintf(row->check, sizeof row->check, "turn -> |eps|_M%s", order == 1 ? "" : ", M half way");
    snprintf(row->measured, sizeof row->measured, "error %.1e at %g, %.1e at %g: order %.3f", error[0],
             sizes[0], error[SMALL_SIZES - 1], sizes[SMALL_SIZES - 1], row->value);
    snprintf(row->expected, sizeof row->expected, "order %d, to 0.1", order);
    return 0;
}

int theory_small(struct theory *theory)
{
    static const size_t dims[] = {3, 17, 784, 4608}; /* in the plane both are the same number */
    for (int order = 1; order <= 2; order++)
        for (size_t d = 0; d < sizeof dims / sizeof *dims; d++) {
            int err = order_row(theory, dims[d], order);
            if (err < 0)
                return err;
        }
    return 0;
}
