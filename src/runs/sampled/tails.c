/* SPDX-License-Identifier: Apache-2.0 */
#include "runs/sampled/tails.h"

#include <math.h>
#include <stdbool.h>

#define TINY 1e-300
#define ENOUGH 1e-15
#define STEPS_MAX 100000
#define BISECTIONS 100
#define LARGEST_T 1e4
#define NORMAL_FROM 1e7 /* degrees of freedom */

static double ln_gamma(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}

/* One step of Lentz's method for 1 + c / ...: the factor for the value. */
struct lentz {
    double f, c, d;
};

static double away_from_zero(double value)
{
    return fabs(value) < TINY ? TINY : value;
}

static bool lentz_step(struct lentz *l, double numerator, double denominator)
{
    l->d = 1 / away_from_zero(denominator + numerator * l->d);
    l->c = away_from_zero(denominator + numerator / l->c);
    double factor = l->c * l->d;
    l->f *= factor;
    return fabs(factor - 1) < ENOUGH;
}

/* 1 / (1 + c_1 / (1 + c_2 / (1 + ...))), Abramowitz and Stegun 26.5.8. */
static double beta_fraction(double a, double b, double x)
{
    struct lentz l = {.f = 1, .c = 1, .d = 0};
    for (int step = 1; step < STEPS_MAX; step++) {
        double m = floor(step / 2.0);
        double c = step % 2 == 0 ? m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
                                 : -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        if (lentz_step(&l, c, 1))
            break;
    }
    return 1 / l.f;
}

/* Takes both x and y = 1 - x, with their logarithms, because one of them may be close to 0. */
static double beta_of(double x, double y, double ln_x, double ln_y, double a, double b)
{
    if (a <= 0)
        return 1;
    if (b <= 0)
        return 0;
    if (x <= 0 || y <= 0)
        return x <= 0 ? 0 : 1;
    double front = exp(ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * ln_x + b * ln_y);
    return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
                                     : 1 - front * beta_fraction(b, a, y) / b;
}

double fm_sampled_beta(double x, double a, double b)
{
    return beta_of(x, 1 - x, log(x), log1p(-x), a, b);
}

double fm_sampled_gamma(double a, double x)
{
    if (x <= 0)
        return 1;
    double front = exp(a * log(x) - x - ln_gamma(a));
    if (x < a + 1) {
        double term = 1 / a, sum = term;
        for (int n = 1; n < STEPS_MAX && term > ENOUGH * sum; n++) {
            term *= x / (a + n);
            sum += term;
        }
        return 1 - front * sum;
    }
    struct lentz l = {.f = away_from_zero(x + 1 - a), .c = away_from_zero(x + 1 - a), .d = 0};
    for (int n = 1; n < STEPS_MAX; n++) {
        if (lentz_step(&l, -n * (n - a), x + 2 * n + 1 - a))
            break;
    }
    return front / l.f;
}

double fm_sampled_student(double t, double nu)
{
    if (!(nu <= NORMAL_FROM)) /* 26.7.8 */
        return erfc(fabs(t) * (1 - 1 / (4 * nu)) / sqrt(1 + t * t / (2 * nu)) / M_SQRT2);
    double y = t * t / (nu + t * t); /* the beta's argument is 1 - y */
    return beta_of(1 - y, y, log1p(-y), log(y), nu / 2, 0.5);
}

double fm_sampled_student_quantile(double tail, double nu)
{
    double low = 0, high = LARGEST_T;
    for (int i = 0; i < BISECTIONS; i++) {
        double middle = (low + high) / 2;
        *(fm_sampled_student(middle, nu) > 2 * tail ? &low : &high) = middle;
    }
    return (low + high) / 2;
}

/* Newton's method for the logarithm of the tail, which is nearly quadratic. */
double fm_sampled_deviate(double tail)
{
    const double root_2_pi = 2.50662827463100050242;
    if (tail < TINY)
        return 37;
    double z = tail > 0.2 ? 0 : sqrt(-2 * log(2 * tail));
    for (int i = 0; i < 50; i++) {
        double f = 0.5 * erfc(z / M_SQRT2), g = exp(-z * z / 2) / root_2_pi;
        double step = (log(f) - log(tail)) * f / g;
        z += step;
        if (fabs(step) < 1e-13 * (1 + z))
            break;
    }
    return z;
}

/* --- ticks on two sides --- */

/* Probability of x_b or more on b's side, and of x_b or fewer. */
static double upper_tail(double x_a, double x_b, double q)
{
    return 0.5 * (fm_sampled_beta(q, x_b, x_a + 1) + fm_sampled_beta(q, x_b + 1, x_a));
}

static double lower_tail(double x_a, double x_b, double q)
{
    return upper_tail(x_b, x_a, 1 - q);
}

double fm_sampled_split(double x_a, double x_b, double q)
{
    double n = x_a + x_b;
    if (n <= 0)
        return 0;
    if (x_b > n * q)
        return fm_sampled_deviate(fmin(upper_tail(x_a, x_b, q), 0.5));
    return -fm_sampled_deviate(fmin(lower_tail(x_a, x_b, q), 0.5));
}

void fm_sampled_split_limits(double x_a, double x_b, double tail, double *ret_low, double *ret_high)
{
    for (int end = 0; end < 2; end++) {
        double low = 0, high = 1;
        for (int i = 0; i < BISECTIONS; i++) {
            double q = (low + high) / 2;
            bool below = end == 0 ? upper_tail(x_a, x_b, q) < tail : lower_tail(x_a, x_b, q) > tail;
            *(below ? &low : &high) = q;
        }
        *(end == 0 ? ret_low : ret_high) = (low + high) / 2;
    }
    if (x_b <= 0)
        *ret_low = 0;
    if (x_a <= 0)
        *ret_high = 1;
}

void fm_sampled_wilson(double x, double n, double g, double *ret_low, double *ret_high)
{
    double p = n > 0 ? fmin(x / n, 1) : 0, all = 1 + g * g / n;
    if (n <= 0) {
        *ret_low = *ret_high = 0;
        return;
    }
    double middle = p + g * g / (2 * n);
    double arm = g * sqrt(p * (1 - p) / n + g * g / (4 * n * n));
    *ret_low = x <= 0 ? 0 : fmax((middle - arm) / all * n, 0);
    *ret_high = (middle + arm) / all * n;
}
