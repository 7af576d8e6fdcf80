/* SPDX-License-Identifier: MIT
 *
 * Tails of the distributions that tests need: the probability of a value above x; NaN if an argument is
 * NaN. */
#ifndef SPH_COMPARE_DISTRIBUTIONS_H
#define SPH_COMPARE_DISTRIBUTIONS_H

double student_two_sided(double t, double freedom);             /* of |t| */
double chi2_above(double x, double freedom);                    /* x >= 0 */
double f_above(double x, double numerator, double denominator); /* x >= 0 */

/* The range of `groups` standard normal values above x, and the x above which a share of them lies: the
 * studentized range with infinitely many degrees of freedom. groups >= 2. */
double range_above(double x, unsigned groups);
double range_quantile(double above, unsigned groups);

#endif
