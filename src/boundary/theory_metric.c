/* SPDX-License-Identifier: MIT
 *
 * The metric of the angles, M = J^T J with J = du/dtheta from central differences: products of sin^2 on its
 * diagonal, nothing beside it. */
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "boundary/theory.h"
#include "boundary/tool.h"
#include "boundary/turns.h"

enum { METRIC_COLUMNS = 64, METRIC_THETAS = 4 };

/* Truncation takes h^2/6, rounding 2^-53/h. */
static const double metric_step = 1e-5, metric_limit = 1e-9;

struct metric {
    struct turns at; /* pairs j and columns + j: angle column[j] of one theta, a step up and a step down */
    size_t columns, column[METRIC_COLUMNS];
    double *product, *sum; /* (n-1) what the diagonal should be, by the second paper and by the first */
    double *theta;         /* (n-1) */
    double worst, worst_sum;
    size_t entries;
};

static void spread(struct metric *metric, struct rng *rng)
{
    size_t angles = metric->at.n - 1, m = metric->at.m, columns = metric->columns;
    double product = 1, sum = 0;
    turns_draw_theta(&metric->at, rng);
    for (size_t a = 0; a < angles; a++) {
        double theta = metric->theta[a] = metric->at.theta[a * m], square = sin(theta) * sin(theta);
        metric->product[a] = product;
        metric->sum[a] = a ? sum : 1;
        product *= square;
        sum += square;
        for (size_t j = 0; j < m; j++)
            metric->at.theta[a * m + j] = theta;
    }
    for (size_t j = 0; j < columns; j++) {
        metric->at.theta[metric->column[j] * m + j] += metric_step;
        metric->at.theta[metric->column[j] * m + columns + j] -= metric_step;
    }
}

/* u in at.u; J's columns go to at.v. */
static void differ(struct metric *metric)
{
    struct turns *at = &metric->at;
    size_t m = at->m, columns = metric->columns;
    at->k->polar(at->n, m, at->theta, at->ones, at->u, m, at->sine, at->cosine, at->prefix);
    for (size_t j = 0; j < columns; j++) {
        size_t a = metric->column[j];
        double step = at->theta[a * m + j] - at->theta[a * m + columns + j];
        for (size_t i = 0; i < at->n; i++)
            at->v[i * m + j] = (at->u[i * m + j] - at->u[i * m + columns + j]) / step;
    }
}

static void compare(struct metric *metric)
{
    const struct turns *at = &metric->at;
    double entry[METRIC_COLUMNS][METRIC_COLUMNS] = {{0}};
    for (size_t i = 0; i < at->n; i++) {
        const double *row = at->v + i * at->m;
        for (size_t j = 0; j < metric->columns; j++)
            for (size_t c = 0; c <= j; c++)
                entry[j][c] += row[j] * row[c];
    }
    for (size_t j = 0; j < metric->columns; j++)
        for (size_t c = 0; c <= j; c++) {
            double product = j == c ? metric->product[metric->column[j]] : 0,
                   sum = j == c ? metric->sum[metric->column[j]] : 0;
            metric->worst = theory_larger(metric->worst, fabs(entry[j][c] - product));
            metric->worst_sum = theory_larger(metric->worst_sum, fabs(entry[j][c] - sum));
            metric->entries++;
        }
}

/* All angles, or METRIC_COLUMNS of them from the first to the last. */
static int measure(struct metric *metric, size_t n, uint64_t seed)
{
    size_t angles = n - 1, columns = angles < METRIC_COLUMNS ? angles : METRIC_COLUMNS;
    int err;
    *metric = (struct metric){.columns = columns};
    if ((err = turns_new(&metric->at, n, kernel_pad(2 * columns))) < 0)
        return err;
    metric->product = mem_get(3 * angles, sizeof *metric->product);
    if (!metric->product) {
        turns_free(&metric->at);
        return SPH_EMEMORY;
    }
    metric->sum = metric->product + angles;
    metric->theta = metric->sum + angles;
    for (size_t j = 0; j < columns; j++)
        metric->column[j] = columns == angles ? j : j * (angles - 1) / (columns - 1);
    for (uint32_t t = 0; t < METRIC_THETAS; t++) {
        struct rng rng = rng_stream(seed, RNG_THEORY, (uint32_t)n << 8 | t);
        spread(metric, &rng);
        differ(metric);
        compare(metric);
    }
    mem_free(metric->product);
    turns_free(&metric->at);
    return 0;
}

/* The turn of a small eps by sums of sin^2 over the turn it is, on average. */
static int sum_turns(size_t n, uint64_t seed, double *ratio)
{
    struct rng rng = rng_stream(seed, RNG_THEORY, 1u << 29 | (uint32_t)n);
    double small[METRIC_COLUMNS];
    struct turns turns;
    int err = turns_new(&turns, n, METRIC_COLUMNS);
    if (err < 0)
        return err;
    for (size_t j = 0; j < METRIC_COLUMNS; j++)
        small[j] = 1e-6;
    turns_draw_theta(&turns, &rng);
    turns_draw_eps(&turns, &rng);
    turns_scale_eps(&turns, small);
    turns_measure(&turns);
    turns_metric(&turns, 0, 1);
    *ratio = 0;
    for (size_t j = 0; j < METRIC_COLUMNS; j++)
        *ratio += turns.metric[j] / turns.turn[j] / METRIC_COLUMNS;
    turns_free(&turns);
    return 0;
}

/* Up to three inputs the sums have one term, and are right. */
static int sum_row(struct theory *theory, const struct metric *metric, size_t n)
{
    int same = n <= 3;
    double ratio;
    int err = sum_turns(n, theory->opts->seed, &ratio);
    if (err < 0)
        return err;
    sph_theory_row *row = theory_row(theory, n, metric->entries, metric->worst_sum, same ? 0 : 0.1,
                                     same ? metric_limit : INFINITY);
    snprintf(row->check, sizeof row->check, "metric by sums (2023)");
    snprintf(row->measured, sizeof row->measured, "off by %.2g; turns %.2f times too large",
             metric->worst_sum, ratio);
    if (same) {
        snprintf(row->measured, sizeof row->measured, "off by %.1e at most", metric->worst_sum);
        snprintf(row->expected, sizeof row->expected, "0, to %g: sums of one term", metric_limit);
    } else {
        snprintf(row->expected, sizeof row->expected, "wrong: off by more than 0.1");
    }
    return 0;
}

int theory_metric(struct theory *theory)
{
    static const size_t dims[] = {2, 3, 4, 17, 100, 784, 4608};
    enum { COUNT = sizeof dims / sizeof *dims };
    struct metric metric[COUNT];
    int err = 0;
    for (size_t d = 0; d < COUNT; d++) {
        if ((err = measure(&metric[d], dims[d], theory->opts->seed)) < 0)
            return err;
        sph_theory_row *row =
            theory_row(theory, dims[d], metric[d].entries, metric[d].worst, 0, metric_limit);
        snprintf(row->check, sizeof row->check, "metric by products");
        snprintf(row->measured, sizeof row->measured, "off by %.1e at most", metric[d].worst);
        snprintf(row->expected, sizeof row->expected, "0, to %g", metric_limit);
    }
    for (size_t d = 0; d < COUNT && !err; d++)
        err = sum_row(theory, &metric[d], dims[d]);
    return err;
}
