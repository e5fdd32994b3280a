/* SPDX-License-Identifier: Apache-2.0 */
/* Tails and quantiles of the distributions used for sampled time. Nothing here allocates. Arguments
 * out of range give NaN or an end of the range, never an error. Formulas: Abramowitz and Stegun,
 * Handbook of Mathematical Functions, 6.5, 26.5 and 26.7; the continued fractions by Lentz's method
 * (Thompson and Barnett, J. Comput. Phys. 64, 1986). */
#pragma once

/* I_x(a, b), the regularised incomplete beta function, 0 <= x <= 1, a and b >= 0: I(0, b) = 1,
 * I(a, 0) = 0. O(sqrt(max(a, b))). */
double fm_sampled_beta(double x, double a, double b);
/* Q(a, x): probability that a chi-square with 2a degrees of freedom exceeds 2x. */
double fm_sampled_gamma(double a, double x);
/* Two-sided probability of |t| with nu degrees of freedom. */
double fm_sampled_student(double t, double nu);
/* The t exceeded with this one-sided probability, 0 < tail <= 0.5. */
double fm_sampled_student_quantile(double tail, double nu);
/* The normal deviate exceeded with this probability, 0 < tail <= 0.5; 37 below 1e-300. */
double fm_sampled_deviate(double tail);

/* x_a + x_b ticks on two sides, each on b with probability q. Returns the deviate of the mid-p tail
 * (which includes half the probability of the observed value), positive when b has more than its
 * part. */
double fm_sampled_split(double x_a, double x_b, double q);
/* The probabilities q at which the mid-p tails have that size. */
void fm_sampled_split_limits(double x_a, double x_b, double tail, double *ret_low,
                             double *ret_high);
/* Wilson's limits for a binomial count x of n, for g deviates (E. B. Wilson, JASA 22, 1927). */
void fm_sampled_wilson(double x, double n, double g, double *ret_low, double *ret_high);
