/* SPDX-License-Identifier: MIT */
#include "compare/statistics.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/order.h"
#include "base/random.h"
#include "compare/distributions.h"

/* Thousands of times the rounding of one operation, and far below what one row changes. */
static const double rounding = 1e-12;

enum { EXACT_MAX = 50 }; /* its counts add up to 2^50: doubles hold them exactly */

int same_number(double a, double b)
{
    return a == b || fabs(a - b) <= rounding * fmin(fmax(fabs(a), fabs(b)), DBL_MAX);
}

void summarize(const double *values, size_t count, struct summary *out)
{
    double sum = 0, squares = 0;
    *out = (struct summary){.mean = NAN, .error = NAN, .least = NAN, .most = NAN};
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i])) {
            out->n++;
            sum += values[i];
            out->least = fmin(out->least, values[i]);
            out->most = fmax(out->most, values[i]);
        }
    if (!out->n)
        return;
    double n = (double)out->n;
    /* rounding must not make equal values differ from their mean */
    out->mean = out->least == out->most ? out->least : sum / n;
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i]))
            squares += (values[i] - out->mean) * (values[i] - out->mean);
    if (out->n > 1)
        out->error = sqrt(squares / (n - 1) / n);
}

void sort_rising(double *values, size_t count)
{
    if (count)
        qsort(values, count, sizeof *values, by_double);
}

double quantile(const double *sorted, size_t count, double share)
{
    if (!count)
        return (double)NAN;
    double rank = ceil(share * (double)count);
    return sorted[rank < 1 ? 0 : rank > (double)count ? count - 1 : (size_t)rank - 1];
}

/* x - y of a pair, and how far it may be off for the rounding of x and y. */
struct difference {
    double value, error;
};

/* Those of the finite pairs into out (count); returns their number. One that its rounding explains is 0. */
static size_t differences(const double *x, const double *y, size_t count, struct difference *out)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(x[i]) && isfinite(y[i])) {
            double value = same_number(x[i], y[i]) ? 0 : x[i] - y[i];
            out[n++] = (struct difference){value, rounding * fmax(fabs(x[i]), fabs(y[i]))};
        }
    return n;
}

double mean_difference(const double *x, const double *y, size_t count)
{
    double sum = 0, error = 0, n = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(x[i]) && isfinite(y[i])) {
            sum += x[i] - y[i];
            error += rounding * fmax(fabs(x[i]), fabs(y[i]));
            n++;
        }
    return n == 0 ? (double)NAN : fabs(sum) <= error ? 0 : sum / n;
}

/* ---------------------------------------------------------------- Wilcoxon */

static int by_size(const void *a, const void *b)
{
    double x = fabs(((const struct difference *)a)->value), y = fabs(((const struct difference *)b)->value);
    return (x > y) - (x < y);
}

static int same_size(const struct difference *a, const struct difference *b)
{
    return fabs(fabs(a->value) - fabs(b->value)) <= fmax(a->error, b->error);
}

/* The two-sided p of rank sums `statistic` and more extreme. twice (n): the ranks, doubled because ties have halves.
 * count[s] = sign patterns whose positive ranks add up to s / 2. */
static int exact_p(const size_t *twice, size_t n, double statistic, double *p)
{
    size_t reach = 0;
    double *count = mem_get(n * (n + 1) + 1, sizeof *count);
    if (!count)
        return SPH_EMEMORY;
    count[0] = 1;
    for (size_t i = 0; i < n; i++) {
        reach += twice[i];
        for (size_t s = reach; s >= twice[i]; s--)
            count[s] += count[s - twice[i]];
    }
    double tail = 0;
    for (size_t s = 0; s <= (size_t)(2 * statistic); s++)
        tail += count[s];
    *p = fmin(1, ldexp(tail, 1 - (int)n));
    mem_free(count);
    return 0;
}

static double normal_p(size_t count, double statistic, double ties)
{
    double n = (double)count, mean = n * (n + 1) / 4;
    double variance = (n * (n + 1) * (2 * n + 1) - ties / 2) / 24;
    return fmin(1, erfc(fabs(statistic - mean) / sqrt(2 * variance)));
}

int wilcoxon_test(const double *x, const double *y, size_t count, struct wilcoxon *out)
{
    *out = (struct wilcoxon){.p = 1};
    struct difference *d = mem_get(count, sizeof *d);
    if (!d)
        return SPH_EMEMORY;
    size_t pairs = differences(x, y, count, d), n = 0;
    for (size_t i = 0; i < pairs; i++)
        if (d[i].value != 0)
            d[n++] = d[i];
    qsort(d, n, sizeof *d, by_size);
    double plus = 0, minus = 0, ties = 0; /* ties: sum of t^3 - t over groups of t equal sizes */
    size_t twice[EXACT_MAX];
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && same_size(&d[end], &d[i]);)
            end++;
        double rank = (double)(i + 1 + end) / 2, t = (double)(end - i);
        ties += t * (t * t - 1);
        for (size_t k = i; k < end; k++) {
            *(d[k].value > 0 ? &plus : &minus) += rank;
            if (k < EXACT_MAX)
                twice[k] = i + 1 + end;
        }
    }
    mem_free(d);
    out->n = n;
    out->statistic = fmin(plus, minus);
    out->exact = n <= EXACT_MAX;
    if (out->exact)
        return exact_p(twice, n, out->statistic, &out->p);
    out->p = normal_p(n, out->statistic, ties);
    return 0;
}

double wilcoxon_least_p(size_t n)
{
    return n ? ldexp(1, n < 1000 ? 1 - (int)n : -1000) : 1;
}

/* ---------------------------------------------------------------- overlapping splits */

int resampled_t(const double *x, const double *y, size_t count, double ratio, struct t_test *out)
{
    *out = (struct t_test){.t = (double)NAN, .p = (double)NAN};
    struct difference *d = mem_get(count, sizeof *d);
    double *value = mem_get(count, sizeof *value);
    struct summary summary;
    int err = d && value ? 0 : SPH_EMEMORY;
    out->n = err ? 0 : differences(x, y, count, d);
    for (size_t i = 0; i < out->n; i++) /* one difference, as far as rounding tells */
        value[i] = fabs(d[i].value - d[0].value) <= fmax(d[i].error, d[0].error) ? d[0].value : d[i].value;
    if (!err)
        summarize(value, out->n, &summary);
    mem_free(d);
    mem_free(value);
    if (err < 0)
        return err;
    if (out->n < 2)
        return 0;
    double n = (double)out->n, variance = summary.error * summary.error * n; /* s^2 */
    out->t = summary.mean / sqrt((1 / n + ratio) * variance);
    out->p = isnan(out->t) ? 1 : student_two_sided(out->t, n - 1);
    return 0;
}

/* ---------------------------------------------------------------- many comparisons */

struct placed_p {
    double p;
    size_t place;
};

static int by_p(const void *a, const void *b)
{
    const struct placed_p *x = a, *y = b;
    return x->p != y->p ? (x->p > y->p) - (x->p < y->p) : (x->place > y->place) - (x->place < y->place);
}

int holm_correct(const double *p, size_t count, double *corrected)
{
    struct placed_p *sorted = mem_get(count, sizeof *sorted);
    size_t family = 0;
    double largest = 0;
    if (!sorted)
        return SPH_EMEMORY;
    for (size_t i = 0; i < count; i++) {
        corrected[i] = (double)NAN;
        if (!isnan(p[i]))
            sorted[family++] = (struct placed_p){p[i], i};
    }
    if (family)
        qsort(sorted, family, sizeof *sorted, by_p);
    for (size_t i = 0; i < family; i++) {
        largest = fmax(largest, fmin(1, (double)(family - i) * sorted[i].p));
        corrected[sorted[i].place] = largest;
    }
    mem_free(sorted);
    return (int)family;
}

/* ---------------------------------------------------------------- bootstrap */

int bootstrap_difference(const double *x, const double *y, size_t count, size_t resamples, double level,
                         uint64_t seed, struct interval *out)
{
    *out = (struct interval){NAN, NAN};
    if (!(level > 0 && level < 1))
        return sph_fail_key(SPH_EARG, "bootstrap", "a level of %g, expected more than 0 and less than 1",
                            level);
    if (!resamples)
        return sph_fail_key(SPH_EARG, "bootstrap", "0 resamples, expected 1 or more");
    if (count > UINT32_MAX)
        return sph_fail_key(SPH_EARG, "bootstrap", "%zu pairs, expected fewer than 2^32", count);
    struct difference *d = mem_get(count, sizeof *d);
    double *mean = mem_get(resamples, sizeof *mean);
    int err = d && mean ? 0 : SPH_EMEMORY;
    size_t n = err ? 0 : differences(x, y, count, d);
    if (!n)
        goto out;
    struct rng rng = rng_stream(seed, RNG_BOOTSTRAP, 0);
    for (size_t r = 0; r < resamples; r++) {
        double sum = 0, error = 0;
        for (size_t i = 0; i < n; i++) {
            const struct difference *drawn = &d[rng_below(&rng, (uint32_t)n)];
            sum += drawn->value;
            error += drawn->error;
        }
        mean[r] = fabs(sum) <= error ? 0 : sum / (double)n;
    }
    sort_rising(mean, resamples);
    out->low = quantile(mean, resamples, (1 - level) / 2);
    out->high = quantile(mean, resamples, (1 + level) / 2);
out:
    mem_free(d);
    mem_free(mean);
    return err;
}

/* ---------------------------------------------------------------- ranks */

/* 1 when a beats b, -1 the other way round, 0 a tie. */
static int beats(double a, double b, int larger_is_better)
{
    if (!isfinite(a) || !isfinite(b))
        return (isfinite(a) != 0) - (isfinite(b) != 0);
    if (same_number(a, b))
        return 0;
    return larger_is_better ? (a > b) - (a < b) : (a < b) - (a > b);
}

int average_ranks(const double *score, size_t cases, size_t methods, int larger_is_better, double *rank)
{
    if (!cases)
        return sph_fail_key(SPH_EARG, "ranks", "no case in which to rank %zu methods", methods);
    for (size_t m = 0; m < methods; m++) {
        double twice = 0; /* a rank is 1 + those ahead + half the others it ties with */
        for (size_t c = 0; c < cases; c++) {
            const double *row = score + c * methods;
            for (size_t other = 0; other < methods; other++)
                twice += 1 + beats(row[other], row[m], larger_is_better);
        }
        rank[m] = (twice / (double)cases + 1) / 2;
    }
    return 0;
}
