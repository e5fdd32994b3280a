/* SPDX-License-Identifier: Apache-2.0 */
/* One row, many rows, limits: against values that scipy gives. */
#include "runs/sampled/model.h"
#include "near.h"

static struct fm_sampled_side runs_of(unsigned count, double tick, const double *seconds)
{
    struct fm_sampled_side side = {.runs = count};
    for (unsigned i = 0; i < count; i++) {
        side.seconds[i] = seconds[i];
        side.tick[i] = tick;
    }
    return side;
}

struct one {
    struct fm_sampled model;
    struct fm_sampled_row row;
    struct fm_sampled_test test;
    struct fm_sampled_variance v;
    struct fm_sampled_interval interval;
};

/* A run of each side: seconds and ticks of a row. */
static struct one pair(double tick_a, double t_a, double x_a, double tick_b, double t_b, double x_b)
{
    struct one it;
    const struct fm_sampled_options options = {0};
    struct fm_sampled_side a = runs_of(1, tick_a, &t_a), b = runs_of(1, tick_b, &t_b);
    const double ticks[] = {x_a, x_b};
    fm_sampled_begin(&it.model, &a, &b, &options);
    fm_sampled_row_init(&it.model, ticks, &it.row);
    fm_sampled_pool(&it.model, &it.row, 1);
    fm_sampled_variance_of(&it.model, &it.row, &it.v);
    fm_sampled_test(&it.model, &it.row, 1, &it.test);
    fm_sampled_interval_of(&it.model, &it.row, &it.interval);
    return it;
}

static void a_pair_of_runs(void)
{
    struct one it = pair(1e-3, 0.5, 20, 1e-3, 0.54, 40);
    NEAR(it.v.split, 0.0734718);
    NEAR(it.v.sampling, 0.0696916);
    NEAR(it.v.row, 0.0008);
    NEAR(it.v.run, 0.0008);
    NEAR(it.test.absolute.t, 2.6201);
    NEAR(it.test.absolute.freedom, 19853.5);
    NEAR(it.test.p_abs, 0.00879715);
    NEAR(it.test.relative.t, 2.33504);
    NEAR(it.test.p_rel, 0.0195465);
    NEAR(it.test.p, 0.0195465);
    NEAR(it.interval.ratio, 2);
    NEAR(it.interval.ratio_low, 1.01168);
    NEAR(it.interval.ratio_high, 4.14813);
    NEAR(it.interval.difference, 0.02);
    NEAR(it.interval.low, 0.000134895);
    NEAR(it.interval.high, 0.0407975);
}

static void what_is_new_and_what_is_gone(void)
{
    struct one it = pair(1e-3, 0.5, 0, 1e-3, 0.53, 30);
    NEAR(it.test.p_abs, 9.29095e-10);
    NEAR(it.test.p, 2.18282e-09);
    NEAR(it.interval.ratio_low, 6.02808);
    g_assert_true(isinf(it.interval.ratio) && isinf(it.interval.ratio_high));
    NEAR(it.interval.difference, 0.03);
    NEAR(it.interval.low, 0.0170239);
    NEAR(it.interval.high, 0.0470379);
    it = pair(1e-3, 0.53, 30, 1e-3, 0.5, 0);
    NEAR(it.interval.ratio_high, 0.16589);
    g_assert_cmpfloat(it.interval.ratio_low, ==, 0);
    /* Nothing on either side. */
    it = pair(1e-3, 0.5, 0, 1e-3, 0.53, 0);
    g_assert_cmpfloat(it.test.p, ==, 1);
    g_assert_cmpfloat(it.interval.ratio_low, ==, 0);
    g_assert_true(isinf(it.interval.ratio_high) && it.interval.low < 0 && it.interval.high > 0);
}

static void two_milliseconds_against_a_second(void)
{
    struct one it = pair(4e-3, 0.002, 0, 4e-3, 0.946, 150);
    g_assert_cmpfloat(it.model.common, ==, 1.5);
    NEAR(it.test.p_abs, 6.14097e-46);
    NEAR(it.test.p_rel, 4.65268e-34);
    NEAR(it.interval.ratio_low, 32.1215);
    NEAR(it.interval.difference, 0.6);
    NEAR(it.interval.low, 0.508238);
    NEAR(it.interval.high, 0.683668);
    struct fm_sampled_whole whole;
    fm_sampled_whole_of(&it.model, &whole);
    NEAR(whole.ratio, 473);
    NEAR(whole.low, 422.019);
    NEAR(whole.high, 530.14);
    NEAR(whole.t, 217.757);
    NEAR(whole.p, 3.87566e-11);
    g_assert_true(whole.told);
}

static void long_runs_and_a_limit(void)
{
    struct one it = pair(1e-3, 10, 1800, 1e-3, 10.36, 2160);
    struct fm_sampled_limit limit;
    NEAR(it.v.sampling, 0.000821782);
    NEAR(it.test.absolute.t, 3.71152);
    NEAR(it.test.absolute.freedom, 22.9103);
    NEAR(it.test.p_abs, 0.00115399);
    NEAR(it.test.relative.t, 3.65452);
    NEAR(it.test.relative.freedom, 20.5483);
    NEAR(it.test.p, 0.00152124);
    NEAR(it.interval.ratio_low, 1.04521);
    NEAR(it.interval.ratio_high, 1.37811);
    fm_sampled_limit_relative(&it.model, &it.row, 1.1, 1.15, false, &limit);
    NEAR(limit.fail.t, 1.76951);
    NEAR(limit.p_fail, 0.0450598);
}

static void other_rates(void)
{
    struct one it = pair(4e-3, 2, 125, 1e-3, 2, 500);
    NEAR(it.test.absolute.t, -0.0104525);
    NEAR(it.test.p, 0.991667);
    NEAR(it.interval.ratio, 1);
    NEAR(it.interval.ratio_low, 0.784806);
    NEAR(it.interval.ratio_high, 1.28813);
}

/* --- several runs --- */

#define ROWS 3u
struct several {
    struct fm_sampled model;
    struct fm_sampled_row rows[ROWS];
    struct fm_sampled_test tests[ROWS];
};

/* ticks: of each run, those of before first, a number a row. */
static void several_init(struct several *it, const struct fm_sampled_side *a,
                         const struct fm_sampled_side *b, const double (*ticks)[ROWS],
                         unsigned rows)
{
    const struct fm_sampled_options options = {0};
    fm_sampled_begin(&it->model, a, b, &options);
    for (unsigned row = 0; row < rows; row++) {
        double of_row[2 * FM_SAMPLED_RUNS_MAX];
        for (unsigned i = 0; i < a->runs + b->runs; i++)
            of_row[i] = ticks[i][row];
        fm_sampled_row_init(&it->model, of_row, &it->rows[row]);
    }
    fm_sampled_pool(&it->model, it->rows, rows);
    for (unsigned row = 0; row < rows; row++)
        fm_sampled_test(&it->model, &it->rows[row], 1, &it->tests[row]);
}

static void five_and_five(struct several *it)
{
    static const double t_a[] = {.500, .501, .499, .502, .498},
                        t_b[] = {.525, .524, .526, .523, .527};
    static const double ticks[][ROWS] = {
        {80, 120, 300},  {95, 115, 290},  {91, 108, 301},  {88, 121, 291},  {86, 118, 296},
        {110, 115, 300}, {105, 121, 299}, {112, 117, 296}, {102, 119, 304}, {109, 112, 304}};
    struct fm_sampled_side a = runs_of(5, 1e-3, t_a), b = runs_of(5, 1e-3, t_b);
    several_init(it, &a, &b, ticks, ROWS);
}

static void runs_are_pooled(void)
{
    struct several it;
    struct fm_sampled_variance v;
    struct fm_sampled_interval interval;
    five_and_five(&it);
    fm_sampled_variance_of(&it.model, &it.rows[0], &v);
    NEAR(sqrt(it.model.pooled), 0.0188502);
    NEAR(v.row, 0.000142132);
    NEAR(v.phi_freedom, 4.00597);
    NEAR(v.run, 3.8141e-06);
    NEAR(it.tests[0].absolute.t, 3.40714);
    NEAR(it.tests[0].absolute.freedom, 2418.54);
    NEAR(it.tests[0].p_abs, 0.000667204);
    NEAR(it.tests[0].p_rel, 0.00992747);
    NEAR(it.tests[0].p, 0.000992747);
    NEAR(it.tests[1].p, 0.948303);
    NEAR(it.tests[2].p, 0.52967);
    fm_sampled_interval_of(&it.model, &it.rows[0], &interval);
    NEAR(interval.ratio, 1.22273);
    NEAR(interval.ratio_low, 1.0501);
    NEAR(interval.ratio_high, 1.42476);
    NEAR(interval.difference, 0.0196);
    NEAR(interval.low, 0.00477832);
    NEAR(interval.high, 0.0344152);
    double p[ROWS], weight[ROWS], level[ROWS];
    bool told[ROWS];
    for (unsigned i = 0; i < ROWS; i++) {
        p[i] = it.tests[i].p;
        weight[i] = it.rows[i].ticks[0] + it.rows[i].ticks[1];
    }
    fm_sampled_holm(p, weight, ROWS, FM_SAMPLED_ALPHA, told, level);
    g_assert_true(told[0] && !told[1] && !told[2]);
    NEAR(level[0], 0.00152663);
    NEAR(100 * fm_sampled_least_told(&it.model, &it.rows[0], level[0]), 26.7825);
}

static void a_limit_that_cannot_be_told(void)
{
    struct several it;
    struct fm_sampled_limit limit;
    struct fm_sampled_needed needed;
    five_and_five(&it);
    fm_sampled_limit_relative(&it.model, &it.rows[0], 1.1, 1.15, false, &limit);
    NEAR(limit.p_fail, 0.0367981);
    NEAR(limit.p_pass, 0.849983);
    fm_sampled_needed_for(&it.model, &it.rows[0], 538 / 440.0 / 1.1, FM_SAMPLED_FAILS, &needed);
    g_assert_cmpuint(needed.runs, ==, 16);
    NEAR(needed.seconds, 1.72974);
}

static void the_whole_by_its_clock(void)
{
    struct several it;
    struct fm_sampled_whole whole;
    five_and_five(&it);
    fm_sampled_whole_of(&it.model, &whole);
    NEAR(whole.ratio, 1.05);
    NEAR(whole.low, 1.04314);
    NEAR(whole.high, 1.0569);
    NEAR(whole.t, 24.9825);
    NEAR(whole.p, 7.05037e-09);
}

static void runs_that_vary_hide_a_change(void)
{
    static const double t[] = {10, 10, 10};
    static const double ticks[][ROWS] = {{1800, 8200}, {2000, 8000}, {1900, 8100},
                                         {2010, 7990}, {2190, 7810}, {2110, 7890}};
    struct several it;
    struct fm_sampled_variance v;
    struct fm_sampled_interval interval;
    struct fm_sampled_side side = runs_of(3, 1e-3, t);
    several_init(&it, &side, &side, ticks, 2);
    fm_sampled_variance_of(&it.model, &it.rows[0], &v);
    fm_sampled_interval_of(&it.model, &it.rows[0], &interval);
    NEAR(sqrt(it.model.pooled), 0.0391507);
    NEAR(v.row, 0.00133555);
    NEAR(v.phi_freedom, 7.44783);
    g_assert_cmpfloat(v.run, ==, 0);
    NEAR(it.tests[0].absolute.t, 2.54094);
    NEAR(it.tests[0].absolute.freedom, 10.7264);
    NEAR(it.tests[0].p, 0.0279105);
    NEAR(interval.ratio, 1.10702);
    NEAR(interval.ratio_low, 0.976987);
    NEAR(interval.ratio_high, 1.25446);
}

static void holm_by_weight(void)
{
    static const double p[] = {5e-5, .0011, .003, .2, .0009}, weight[] = {900, 300, 150, 50, 12};
    bool told[5];
    double level[5];
    fm_sampled_holm(p, weight, 5, FM_SAMPLED_ALPHA, told, level);
    NEAR(level[0], 0.00509915);
    NEAR(level[1], 0.0046875);
    NEAR(level[2], 0.00566038);
    NEAR(level[4], 0.00154839);
    NEAR(level[3], 0.008);
    g_assert_true(told[0] && told[1] && told[2] && !told[3] && told[4]);
    fm_sampled_holm(NULL, NULL, 0, FM_SAMPLED_ALPHA, NULL, NULL);
}

static void an_absolute_limit(void)
{
    struct one it = pair(1e-3, 0.5, 60, 1e-3, 0.5, 60);
    struct fm_sampled_limit limit;
    fm_sampled_limit_absolute(&it.model, &it.row, 0.05, 0.07, false, &limit);
    NEAR(limit.fail.t, 1.42669);
    NEAR(limit.fail.freedom, 3679.42);
    NEAR(limit.p_fail, 0.0768773);
    /* From below: 60 ticks are more than 50. */
    fm_sampled_limit_absolute(&it.model, &it.row, 0.05, 0.04, true, &limit);
    NEAR(limit.p_fail, 1 - 0.0768773);
    g_assert_cmpfloat(limit.p_pass, <, 0.01);
    fm_sampled_limit_absolute(&it.model, &it.row, 2, 2, false, &limit);
    g_assert_cmpfloat(limit.p_pass, <, 1e-9); /* longer than the run */
}

static void several_looks(void)
{
    g_assert_cmpfloat(fm_sampled_look_level(0, true), ==, FM_SAMPLED_FAILS);
    g_assert_cmpfloat(fm_sampled_look_level(2, false), ==, FM_SAMPLED_PASSES);
    g_assert_cmpfloat(fm_sampled_look_level(5, true), ==, 0.0037);
    g_assert_cmpfloat(fm_sampled_look_level(5, false), ==, 0.0216);
    g_assert_cmpfloat(fm_sampled_look_level(7, true), ==, 0.0026); /* as of 8 */
    g_assert_cmpfloat(fm_sampled_look_level(20, false), ==, 0.0095);
}

/* Times that were measured, call by call, have no sampling noise, whatever their number. */
static void measured_times(void)
{
    static const double t[] = {1}, later[] = {1};
    const struct fm_sampled_options options = {.measured = true};
    struct fm_sampled_side a = runs_of(1, 1e-3, t), b = runs_of(1, 1e-3, later);
    struct fm_sampled model;
    struct fm_sampled_row row;
    struct fm_sampled_test test;
    struct fm_sampled_interval interval;
    const double few[] = {2, 4}, equal[] = {2, 2};
    fm_sampled_begin(&model, &a, &b, &options);
    fm_sampled_row_init(&model, few, &row);
    fm_sampled_test(&model, &row, 1, &test);
    fm_sampled_interval_of(&model, &row, &interval);
    NEAR(test.absolute.t, log(2) / sqrt(2 * 0.0008));
    g_assert_cmpfloat(interval.ratio_low, >, 1.5);
    g_assert_cmpfloat(interval.low, >, 0);
    fm_sampled_row_init(&model, equal, &row);
    fm_sampled_test(&model, &row, 1, &test);
    g_assert_cmpfloat(test.p, ==, 1);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/sampled/pair", a_pair_of_runs);
    g_test_add_func("/sampled/new-and-gone", what_is_new_and_what_is_gone);
    g_test_add_func("/sampled/2ms-946ms", two_milliseconds_against_a_second);
    g_test_add_func("/sampled/long", long_runs_and_a_limit);
    g_test_add_func("/sampled/rates", other_rates);
    g_test_add_func("/sampled/pooled", runs_are_pooled);
    g_test_add_func("/sampled/limit", a_limit_that_cannot_be_told);
    g_test_add_func("/sampled/whole", the_whole_by_its_clock);
    g_test_add_func("/sampled/varying", runs_that_vary_hide_a_change);
    g_test_add_func("/sampled/holm", holm_by_weight);
    g_test_add_func("/sampled/absolute-limit", an_absolute_limit);
    g_test_add_func("/sampled/measured", measured_times);
    g_test_add_func("/sampled/looks", several_looks);
    return g_test_run();
}
