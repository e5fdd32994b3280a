/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of several runs of each side: exact where they agree, else as far apart as runs are. */
#include <math.h>

#include "runs/compare/runs.h"

static void equal_runs_are_exact(void)
{
    static const double before[] = {100, 100, 100}, after[] = {101, 101};
    struct fm_runs_difference d;
    fm_runs_compare(before, 3, after, 2, &d);
    g_assert_true(d.exact && d.told);
    g_assert_cmpfloat_with_epsilon(d.high, 1, 1e-9);
    fm_runs_compare(before, 3, before, 3, &d);
    g_assert_true(d.exact && !d.told);
}

static void one_run_tells_nothing(void)
{
    static const double before[] = {1000}, after[] = {1500, 1501};
    struct fm_runs_difference d;
    fm_runs_compare(before, 1, after, 2, &d);
    g_assert_false(d.exact || d.interval || d.told);
}

static void medians_and_intervals(void)
{
    static const double before[] = {1020, 980, 1000}, after[] = {1100, 1120, 1080};
    struct fm_runs_difference d;
    fm_runs_compare(before, 3, after, 3, &d);
    g_assert_cmpfloat_with_epsilon(d.before.median, 1000, 1e-9);
    g_assert_cmpfloat_with_epsilon(d.after.least, 1080, 1e-9);
    g_assert_cmpfloat_with_epsilon(d.after.most, 1120, 1e-9);
    /* Deviations of 20 in both: 4.604 of Student's with four degrees of freedom. */
    g_assert_cmpfloat_with_epsilon(d.high - d.low, 2 * 4.60409 * 20 * sqrt(2 / 3.0), 1e-3);
    g_assert_true(d.told && d.low > 0);
    static const double near[] = {1050, 1010, 1030};
    fm_runs_compare(before, 3, near, 3, &d);
    g_assert_false(d.told);
}

static double normal(GRand *random)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += g_rand_double(random);
    return sum;
}

/* Runs of one build that differ by 5 % are seldom told apart; +50 % nearly always is. */
static void runs_that_vary(void)
{
    GRand *random = g_rand_new_with_seed(7);
    unsigned alarms = 0, found = 0;
    for (unsigned round = 0; round < 2000; round++) {
        double side[3][4];
        struct fm_runs_difference d;
        for (unsigned i = 0; i < 12; i++)
            side[i / 4][i % 4] = (i / 4 == 2 ? 3000 : 2000) * (1 + 0.05 * normal(random));
        fm_runs_compare(side[0], 4, side[1], 4, &d);
        alarms += d.told;
        fm_runs_compare(side[0], 4, side[2], 4, &d);
        found += d.told;
    }
    g_rand_free(random);
    g_assert_cmpuint(alarms, <, 2000 * 2 / 100); /* 1 % is expected */
    g_assert_cmpuint(found, >, 2000 * 98 / 100);
}

static void the_run_in_the_middle(void)
{
    static const double amounts[] = {5, 1, 9, 7, 7};
    g_assert_cmpuint(fm_runs_middle(amounts, 1), ==, 0);
    g_assert_cmpuint(fm_runs_middle(amounts, 2), ==, 1);
    g_assert_cmpuint(fm_runs_middle(amounts, 3), ==, 0);
    g_assert_cmpuint(fm_runs_middle(amounts, 5), ==, 3);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/runs/exact", equal_runs_are_exact);
    g_test_add_func("/runs/one", one_run_tells_nothing);
    g_test_add_func("/runs/medians", medians_and_intervals);
    g_test_add_func("/runs/vary", runs_that_vary);
    g_test_add_func("/runs/middle", the_run_in_the_middle);
    return g_test_run();
}
