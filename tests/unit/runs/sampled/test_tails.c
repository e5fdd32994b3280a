/* SPDX-License-Identifier: Apache-2.0 */
/* Tails, quantiles and limits against values that scipy gives. */
#include "runs/sampled/tails.h"
#include "near.h"

static void beta(void)
{
    NEAR(fm_sampled_beta(0.3, 2.5, 4), 0.352198);
    NEAR(fm_sampled_beta(0.5, 150, 100), 0.000740583);
    NEAR(fm_sampled_beta(1e-4, 3, 7), 8.39622e-11);
    NEAR(fm_sampled_beta(0.3173, 9, 4), 0.00262828);
    g_assert_cmpfloat(fm_sampled_beta(0.3, 0, 4), ==, 1);
    g_assert_cmpfloat(fm_sampled_beta(0.3, 4, 0), ==, 0);
    g_assert_cmpfloat(fm_sampled_beta(0, 2, 3), ==, 0);
    g_assert_cmpfloat(fm_sampled_beta(1, 2, 3), ==, 1);
}

static void chi_square(void)
{
    NEAR(fm_sampled_gamma(2.5, 7), 0.0156094);
    NEAR(fm_sampled_gamma(30, 20), 0.978182);
    NEAR(fm_sampled_gamma(0.5, 50), 1.52397e-23);
}

static void student_and_normal(void)
{
    NEAR(fm_sampled_student(2.5, 8), 0.036942);
    NEAR(fm_sampled_student(-4.2, 6.7), 0.00444935);
    NEAR(fm_sampled_student_quantile(0.005, 8), 3.35539);
    NEAR(fm_sampled_student_quantile(0.005, 6.7), 3.55352);
    NEAR(fm_sampled_student_quantile(0.005, INFINITY), 2.57583);
    NEAR(fm_sampled_deviate(0.005), 2.57583);
    NEAR(fm_sampled_deviate(1e-12), 7.03448);
    g_assert_cmpfloat(fm_sampled_student(0, 3), ==, 1);
    g_assert_cmpfloat(fm_sampled_deviate(0), ==, 37);
}

static void splits(void)
{
    static const struct {
        double a, b, q, z, both;
    } cases[] = {
        {0, 30, 0.5, 6.12076, 9.31323e-10},
        {0, 1, 0.5, 0.67449, 0.5},
        {1, 2, 0.5, 0.488776, 0.625},
        {5, 12, 0.5, 1.6633, 0.0962524},
        {450, 540, 0.5, 2.86067, 0.00422742},
        {10, 12, 0.2, 3.531, 0.000413986},
        {12.5, 30.25, 0.4, 4.02196, 5.77157e-05},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        double z = fm_sampled_split(cases[i].a, cases[i].b, cases[i].q);
        NEAR(z, cases[i].z);
        NEAR(erfc(z / G_SQRT2), cases[i].both);
        NEAR(fm_sampled_split(cases[i].b, cases[i].a, 1 - cases[i].q), -cases[i].z);
    }
    g_assert_cmpfloat(fm_sampled_split(0, 0, 0.5), ==, 0);
}

static void split_limits(void)
{
    static const struct {
        double a, b, low, high;
    } cases[] = {{0, 30, 0.857696, 1},
                 {3, 0, 0, 0.784557},
                 {1, 2, 0.0583044, 0.996667},
                 {100, 150, 0.518733, 0.677493}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        double low, high;
        fm_sampled_split_limits(cases[i].a, cases[i].b, 0.005, &low, &high);
        NEAR(low, cases[i].low);
        NEAR(high, cases[i].high);
    }
}

static void wilson(void)
{
    static const double cases[][3] = {
        {0, 0, 6.54801}, {1, 0.117427, 8.40439}, {90, 70.0129, 114.178}, {499, 491.596, 499.883}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        double low, high;
        fm_sampled_wilson(cases[i][0], 500, fm_sampled_deviate(0.005), &low, &high);
        NEAR(low, cases[i][1]);
        NEAR(high, cases[i][2]);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/sampled/beta", beta);
    g_test_add_func("/sampled/chi-square", chi_square);
    g_test_add_func("/sampled/student", student_and_normal);
    g_test_add_func("/sampled/split", splits);
    g_test_add_func("/sampled/split-limits", split_limits);
    g_test_add_func("/sampled/wilson", wilson);
    return g_test_run();
}
