/* SPDX-License-Identifier: MIT
 *
 * Statistics for methods on the same splits: means and their errors, paired tests, ranks. Paired functions
 * leave out pairs with a number that is not finite (a job that failed or diverged). */
#ifndef SPH_COMPARE_STATISTICS_H
#define SPH_COMPARE_STATISTICS_H

#include <stddef.h>
#include <stdint.h>

/* Whether two numbers are the same up to rounding: to 1e-12 of the larger. Scores are quotients and means, so that
 * equal ones may differ in their last bits (0.95 - 0.925 against 0.9 - 0.875, the same counts added in another
 * order); every comparison of scores asks this first. Infinite and NaN: only where both are the same infinity. */
int same_number(double a, double b);

/* Mean and standard error (sample standard deviation / sqrt n; NaN for n < 2) of the finite values; n counts
 * them. All but n are NaN when there are none. */
struct summary {
    size_t n;
    double mean, error, least, most;
};
void summarize(const double *values, size_t count, struct summary *out);

/* The least value that a share of the sorted ones do not exceed, itself one of them; NaN when there are none.
 */
void sort_rising(double *values, size_t count);
double quantile(const double *sorted, size_t count, double share);

/* Wilcoxon's signed-rank test of x - y, two-sided; zeros are dropped (Wilcoxon's way), ties get mean ranks. Both up to
 * the rounding of x and y: a difference is no more exact than they are.
 * Exact for n <= 50: all 2^n signs of the ranks, ties included. Else the normal approximation with tie correction and
 * without continuity correction, as scipy.stats.wilcoxon(method="approx"). n == 0 (all equal): p = 1. */
struct wilcoxon {
    size_t n;            /* pairs that differ */
    double statistic, p; /* the smaller of the two rank sums */
    int exact;
};
int wilcoxon_test(const double *x, const double *y, size_t count, struct wilcoxon *out);

/* The smallest two-sided p that n pairs can show: all of one sign. */
double wilcoxon_least_p(size_t n);

/* The resampled t-test of Nadeau and Bengio (2003) of x - y, two-sided: splits that overlap are no independent
 * cases, so the variance of the mean is (1/n + ratio) s^2, ratio = test rows / rows the learner had. NaN of fewer
 * than two pairs; all differences equal (up to rounding): t is infinite, or NaN and p = 1 where they are 0. */
struct t_test {
    size_t n;
    double t, p;
};
int resampled_t(const double *x, const double *y, size_t count, double ratio, struct t_test *out);

/* The mean of x - y over the finite pairs, 0 where it is so up to rounding; NaN of none. */
double mean_difference(const double *x, const double *y, size_t count);

/* Holm's step-down correction of count p-values; those that are NaN are none of the family and stay so. Returns
 * the size of the family, or a failure. */
int holm_correct(const double *p, size_t count, double *corrected);

/* Percentile interval of the mean of x - y under resampling of the pairs; Philox stream of `seed`. Of one
 * pair it is that difference twice, of none NaN. A mean that is 0 up to rounding is 0. SPH_EARG unless resamples > 0 and 0 < level < 1. */
struct interval {
    double low, high;
};
int bootstrap_difference(const double *x, const double *y, size_t count, size_t resamples, double level,
                         uint64_t seed, struct interval *out);

/* rank (methods) = mean over the cases of the method's rank in that case, 1 the best, ties (same_number) share; a number
 * that is not finite is worst. score (cases, methods), larger_is_better as it says. No case: SPH_EARG. */
int average_ranks(const double *score, size_t cases, size_t methods, int larger_is_better, double *rank);

#endif
