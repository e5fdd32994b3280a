/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds: of counts in whole numbers, of time by chance. */
#include <math.h>
#include <string.h>

#include "runs/gate/internal.h"

static bool holds(const char *text, int64_t before, int64_t n_before, int64_t after,
                  int64_t n_after)
{
    struct fm_limits limits;
    g_autoptr(GError) error = NULL;
    const struct fm_amount amount = {.value = {before, after}, .calls = {n_before, n_after}};
    fm_limits_init(&limits);
    if (!fm_limits_parse(&limits, "l", text, strlen(text), &error))
        g_error("%s: %s", text, error->message);
    bool held = fm_bound_holds(g_ptr_array_index(limits.all, 0), &amount, 1);
    fm_limits_done(&limits);
    return held;
}

static void counts(void)
{
    g_assert_true(holds("calls total ≤ +5 %", 20, 1, 21, 1));
    g_assert_false(holds("calls total ≤ +5 %", 20, 1, 22, 1));
    g_assert_false(holds("calls total < +5 %", 20, 1, 21, 1));
    g_assert_true(holds("calls total ≤ +0.1 %", 1000, 1, 1001, 1));
    g_assert_false(holds("calls total ≤ +0.1 %", 1000, 1, 1002, 1));
    g_assert_true(holds("calls total ≤ +0 %", 0, 1, 0, 1));
    g_assert_false(holds("calls total ≤ +400 %", 0, 1, 1, 1)); /* of nothing */
    g_assert_true(holds("calls total ≤ +3", 0, 1, 3, 1));
    g_assert_false(holds("calls total ≤ +3", 0, 1, 4, 1));
    g_assert_true(holds("calls total ≥ -10 %", 100, 1, 90, 1));
    g_assert_false(holds("calls total ≥ -10 %", 100, 1, 89, 1));
    g_assert_true(holds("calls total = 7", 3, 1, 7, 1));
    g_assert_false(holds("calls total = 7", 7, 1, 8, 1));
    g_assert_true(holds("calls total > 6.5", 0, 1, 7, 1));
}

/* Cost of one call: a third is a third. */
static void ratios(void)
{
    g_assert_true(holds("bytes per call f ≤ +0 %", 1, 3, 2, 6));
    g_assert_false(holds("bytes per call f ≤ +0 %", 1, 3, 200001, 600000));
    g_assert_true(holds("bytes per call f ≤ +1", 1, 3, 8, 6));
    g_assert_false(holds("bytes per call f ≤ +1", 1, 3, 9, 6));
    g_assert_true(holds("bytes per call f ≤ 2 B", 0, 1, 12, 6));
    g_assert_false(holds("bytes per call f ≤ 2 B", 0, 1, 13, 6));
}

/* Files may say anything. */
static void any_numbers(void)
{
    g_assert_true(holds("calls total ≤ +0 %", INT64_MAX, 1, INT64_MAX, 1));
    g_assert_false(holds("calls total ≤ +0 %", INT64_MAX - 1, 1, INT64_MAX, 1));
    g_assert_false(holds("calls per call f ≤ +0 %", INT64_MIN, INT64_MAX, -1, 1));
    g_assert_false(holds("calls total ≤ -50 %", INT64_MIN, 1, INT64_MAX, 1));
    g_assert_true(holds("calls total ≤ +999999999999 %", 1, INT64_MAX, 1, INT64_MAX));
}

/* --- time --- */

#define RUN 5.0 /* seconds of each run */

struct runs {
    struct fm_sampled model;
    double tick;
};

static void init_runs(struct runs *runs, double tick)
{
    const struct fm_sampled_options options = {0};
    struct fm_sampled_side side = {.runs = 1, .seconds = {RUN}, .tick = {tick}};
    runs->tick = tick;
    fm_sampled_begin(&runs->model, &side, &side, &options);
}

static void parse(struct fm_limits *limits, const char *text)
{
    fm_limits_init(limits);
    g_assert_true(fm_limits_parse(limits, "l", text, strlen(text), NULL));
}

/* Ticks of both runs. whole: the limit is on the whole program, whatever they are. */
static struct fm_told told_of(const struct runs *runs, const char *text, double before,
                              double after, bool whole)
{
    struct fm_limits limits;
    struct fm_told ret;
    struct fm_sampled_row row;
    const double ticks[] = {before, after}, calls[] = {1, 1};
    parse(&limits, text);
    const struct fm_limit *limit = g_ptr_array_index(limits.all, 0);
    fm_sampled_row_init(&runs->model, ticks, &row);
    double seconds = whole ? RUN : before * runs->tick;
    fm_time_against_bound(&runs->model, whole ? NULL : &row, limit, seconds,
                          fm_bound_allowed(limit, seconds), calls, &ret);
    fm_limits_done(&limits);
    return ret;
}

static struct fm_told told(const struct runs *runs, const char *text, double before, double after)
{
    return told_of(runs, text, before, after, false);
}

static int64_t binomial(GRand *random, unsigned n, double share)
{
    int64_t hits = 0;
    for (unsigned i = 0; i < n; i++)
        hits += g_rand_double(random) < share;
    return hits;
}

/* How often, of pairs of runs, a limit is found broken, and found kept. */
static void simulate(const char *text, double tick, double slower, double *ret_broken,
                     double *ret_kept)
{
    enum { ROUNDS = 1500 };
    g_autoptr(GRand) random = g_rand_new_with_seed(17);
    struct runs runs;
    unsigned broken = 0, kept = 0, ticks = (unsigned)(RUN / tick);
    init_runs(&runs, tick);
    for (unsigned round = 0; round < ROUNDS; round++) {
        double before = (double)binomial(random, ticks, 0.3);
        double after = (double)binomial(random, ticks, 0.3 * slower);
        struct fm_told it = told(&runs, text, before, after);
        broken += it.p_fail <= FM_SAMPLED_FAILS;
        kept += it.p_fail > FM_SAMPLED_FAILS && it.p_pass <= FM_SAMPLED_PASSES;
    }
    *ret_broken = (double)broken / ROUNDS;
    *ret_kept = (double)kept / ROUNDS;
}

static void chance_breaks_no_limit(void)
{
    static const double ticks[] = {1e-3, 4e-3};
    for (unsigned i = 0; i < G_N_ELEMENTS(ticks); i++) {
        double broken, kept;
        /* At the limit. */
        simulate("time f ≤ +10 %", ticks[i], 1.10, &broken, &kept);
        g_assert_cmpfloat(broken, <, 0.015);
        /* At limit and margin. */
        simulate("time f ≤ +10 %", ticks[i], 1.15, &broken, &kept);
        g_assert_cmpfloat(kept, <, 0.06);
        simulate("time f ≤ +0 %", ticks[i], 1, &broken, &kept);
        g_assert_cmpfloat(broken, <, 0.01);
    }
}

static void what_is_slower_is_found(void)
{
    double broken, kept;
    simulate("time f ≤ +5 %", 1e-3, 1.5, &broken, &kept);
    g_assert_cmpfloat(broken, >, 0.95);
    simulate("time f ≤ +25 % margin 20 %", 1e-3, 1, &broken, &kept);
    g_assert_cmpfloat(kept, >, 0.95);
    g_assert_cmpfloat(broken, ==, 0);
    simulate("time f ≥ +0 %", 1e-3, 0.6, &broken, &kept);
    g_assert_cmpfloat(broken, >, 0.95);
}

static void absolute_times(void)
{
    struct runs runs;
    init_runs(&runs, 1e-3);
    g_assert_cmpfloat(told(&runs, "time f ≤ 1 s", 0, 1200).p_fail, <, 1e-3);
    g_assert_cmpfloat(told(&runs, "time f ≤ 1 s", 0, 800).p_pass, <, 1e-3);
    struct fm_told near = told(&runs, "time f ≤ 1 s", 0, 1010);
    g_assert_cmpfloat(near.p_fail, >, 0.01);
    g_assert_cmpfloat(near.p_pass, >, 0.05);
    g_assert_cmpfloat(near.tolerated, ==, 1.05);
    g_assert_cmpfloat(told(&runs, "time f ≤ 10 s", 0, 1200).p_pass, <,
                      1e-6);                                               /* more than the run */
    g_assert_cmpfloat(told(&runs, "time f ≤ +5 %", 5, 9).p_pass, >, 0.05); /* too few */
    g_assert_cmpfloat(told(&runs, "time f ≤ +5 %", 0, 1600).p_fail, <, 1e-9); /* there was none */
    g_assert_true(told(&runs, "time f ≤ +20 ms", 0, 1600).absolute);
}

/* The clock tells of the whole: what two runs vary by is assumed, 2 %. */
static void the_whole(void)
{
    struct runs runs;
    init_runs(&runs, 1e-3);
    g_assert_cmpfloat(told_of(&runs, "time total ≤ +50 %", 0, 0, true).p_pass, <, 1e-4);
    struct fm_told equal = told_of(&runs, "time total ≤ +1 %", 0, 0, true);
    g_assert_cmpfloat(equal.p_fail, >, 0.5);
    g_assert_cmpfloat(equal.p_pass, >, 0.05);
    g_assert_cmpfloat_with_epsilon(equal.allowed, 1.02, 1e-9); /* the floor */
    g_assert_cmpfloat_with_epsilon(equal.tolerated, 1.03, 1e-9);
    g_assert_cmpfloat(told_of(&runs, "time total ≤ 1 s", 0, 0, true).p_fail, <, 1e-6);
    g_assert_cmpfloat(told_of(&runs, "time total ≥ 1 s", 0, 0, true).p_pass, <, 1e-6);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/gate/bounds/counts", counts);
    g_test_add_func("/gate/bounds/ratios", ratios);
    g_test_add_func("/gate/bounds/any-numbers", any_numbers);
    g_test_add_func("/gate/bounds/chance", chance_breaks_no_limit);
    g_test_add_func("/gate/bounds/slower", what_is_slower_is_found);
    g_test_add_func("/gate/bounds/absolute", absolute_times);
    g_test_add_func("/gate/bounds/whole", the_whole);
    return g_test_run();
}
