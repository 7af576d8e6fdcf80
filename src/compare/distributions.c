/* SPDX-License-Identifier: MIT
 *
 * Incomplete beta and gamma functions by the continued fractions and series that every handbook has (Lentz's way
 * of evaluating them); the range by the trapezoidal rule, which for a smooth integrand that dies out at both ends
 * is exact to rounding. */
#include "compare/distributions.h"

#include <float.h>
#include <math.h>

enum { TERMS_MOST = 10000 };
static const double tiny = 1e-300;

/* One factor of Lentz's product for a fraction with the next a and b = 1 (or b). */
struct lentz {
    double value, c, d;
};

static int lentz_next(struct lentz *l, double a, double b)
{
    l->d = b + a * l->d;
    l->c = b + a / l->c;
    l->d = fabs(l->d) < tiny ? tiny : l->d;
    l->c = fabs(l->c) < tiny ? tiny : l->c;
    l->d = 1 / l->d;
    double factor = l->c * l->d;
    l->value *= factor;
    return fabs(factor - 1) < DBL_EPSILON;
}

/* I_x(a, b), for x below (a + 1) / (a + b + 2), where the fraction converges fast. */
static double beta_fraction(double x, double a, double b)
{
    struct lentz l = {.c = 1};
    l.d = 1 - (a + b) * x / (a + 1);
    l.d = 1 / (fabs(l.d) < tiny ? tiny : l.d);
    l.value = l.d;
    for (int i = 1; i < TERMS_MOST; i++) {
        double m = i;
        lentz_next(&l, m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)), 1);
        if (lentz_next(&l, -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)), 1))
            break;
    }
    double front = lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x);
    return exp(front) * l.value / a;
}

/* The regularized incomplete beta function; y = 1 - x, without what subtracting would lose. */
static double beta_share(double x, double y, double a, double b)
{
    if (isnan(x) || isnan(a) || isnan(b))
        return (double)NAN;
    if (x <= 0 || y <= 0)
        return x > 0;
    if (x < (a + 1) / (a + b + 2))
        return beta_fraction(x, a, b);
    return 1 - beta_fraction(y, b, a);
}

double student_two_sided(double t, double freedom)
{
    if (isinf(t))
        return 0;
    double square = t * t;
    return beta_share(freedom / (freedom + square), square / (freedom + square), freedom / 2, 0.5);
}

double f_above(double x, double numerator, double denominator)
{
    if (isinf(x))
        return 0;
    double part = numerator * x, whole = denominator + part;
    return beta_share(denominator / whole, part / whole, denominator / 2, numerator / 2);
}

/* The upper regularized incomplete gamma function at half the numbers. */
double chi2_above(double x, double freedom)
{
    double a = freedom / 2, z = x / 2;
    if (isnan(x) || isnan(freedom))
        return (double)NAN;
    if (z <= 0)
        return 1;
    double front = exp(a * log(z) - z - lgamma(a));
    if (z < a + 1) {
        double term = 1 / a, sum = term;
        for (int i = 1; i < TERMS_MOST && term > sum * DBL_EPSILON; i++)
            sum += term *= z / (a + i);
        return 1 - front * sum;
    }
    struct lentz l = {.c = 1 / tiny, .d = 1 / (z + 1 - a)};
    l.value = l.d;
    for (int i = 1; i < TERMS_MOST && !lentz_next(&l, -i * (i - a), z + 2 * i + 1 - a); i++)
        ;
    return front * l.value;
}

/* ---------------------------------------------------------------- the range */

static double normal_below(double x)
{
    return erfc(-x * M_SQRT1_2) / 2;
}

/* P(range <= x) = k * integral of phi(z) (Phi(z) - Phi(z - x))^(k - 1) dz, z the largest. */
double range_above(double x, unsigned groups)
{
    static const double reach = 9, step = 1.0 / 64;
    double sum = 0;
    if (isnan(x))
        return (double)NAN;
    if (x <= 0)
        return 1;
    for (double z = -reach; z <= reach; z += step)
        sum += exp(-z * z / 2) * pow(normal_below(z) - normal_below(z - x), groups - 1);
    return fmax(0, 1 - groups * sum * step / sqrt(2 * M_PI));
}

double range_quantile(double above, unsigned groups)
{
    double low = 0, high = 40;
    while (high - low > 1e-12) {
        double middle = (low + high) / 2;
        *(range_above(middle, groups) > above ? &low : &high) = middle;
    }
    return (low + high) / 2;
}
