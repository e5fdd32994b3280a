/* SPDX-License-Identifier: Apache-2.0 */
/* Tails and quantiles of the distributions that sampled time is judged by. Nothing here allocates;
 * arguments outside of what is said give NaN or an end of the range, never an error. Formulas:
 * Abramowitz and Stegun, Handbook of Mathematical Functions, 6.5, 26.5 and 26.7; the continued
 * fractions by Lentz's method (Thompson and Barnett, J. Comput. Phys. 64, 1986). */
#pragma once

/* I_x(a, b), the regularised incomplete beta function, 0 <= x <= 1, a and b >= 0: I(0, b) = 1,
 * I(a, 0) = 0. O(sqrt(max(a, b))). */
double fm_sampled_beta(double x, double a, double b);
/* Q(a, x): that a chi-square of 2a degrees of freedom is over 2x. */
double fm_sampled_gamma(double a, double x);
/* That |t| of nu degrees of freedom is as large, by chance: two-sided. */
double fm_sampled_student(double t, double nu);
/* The t that is exceeded with this chance, one-sided, 0 < tail <= 0.5. */
double fm_sampled_student_quantile(double tail, double nu);
/* The normal deviate that is exceeded with this chance, 0 < tail <= 0.5; 37 below 1e-300. */
double fm_sampled_deviate(double tail);

/* x_a + x_b ticks fell on two sides; each falls on b with chance q. The deviate of the mid-p tail
 * (half the chance of what was seen counts), positive where b has more than its part. */
double fm_sampled_split(double x_a, double x_b, double q);
/* The chances of b at which either mid-p tail is just so large. */
void fm_sampled_split_limits(double x_a, double x_b, double tail, double *ret_low,
                             double *ret_high);
/* Wilson's limits of a binomial count x of n, g deviates off (E. B. Wilson, JASA 22, 1927). */
void fm_sampled_wilson(double x, double n, double g, double *ret_low, double *ret_high);
