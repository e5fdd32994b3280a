/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds: of counts in whole numbers, of time by chance. */
#include <math.h>
#include <string.h>

#include "gate/internal.h"

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
    fm_limits_clear(&limits);
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

#define RUN 5000.0 /* quanta of each run */

struct runs {
    struct fm_profile profile[FM_SIDES];
    struct fm_compare compare;
};

static void init_runs(struct runs *runs, unsigned quanta_a_sample)
{
    *runs = (struct runs){0};
    for (int side = FM_BEFORE; side < FM_SIDES; side++) {
        struct fm_profile *p = &runs->profile[side];
        p->ticks_per_second = 1000;
        p->user_quanta = (uint64_t)RUN;
        p->run_info.sample_count = (uint64_t)RUN / quanta_a_sample;
        p->run_info.sample_squares = (uint64_t)RUN * quanta_a_sample;
        runs->compare.side[side] = p;
    }
}

static struct fm_told told(const struct runs *runs, const char *text, int64_t before, int64_t after)
{
    struct fm_limits limits;
    struct fm_told ret;
    const struct fm_amount amount = {.value = {before, after}, .calls = {1, 1}};
    fm_limits_init(&limits);
    g_assert_true(fm_limits_parse(&limits, "l", text, strlen(text), NULL));
    fm_time_against_bound(&runs->compare, FM_QUANTA, g_ptr_array_index(limits.all, 0), &amount,
                          &ret);
    fm_limits_clear(&limits);
    return ret;
}

static int64_t binomial(GRand *random, unsigned n, double share)
{
    int64_t hits = 0;
    for (unsigned i = 0; i < n; i++)
        hits += g_rand_double(random) < share;
    return hits;
}

/* How often, of pairs of runs, a limit is found broken at 95 %, and found kept. */
static void simulate(const char *text, unsigned quanta, double slower, double *ret_broken,
                     double *ret_kept)
{
    enum { ROUNDS = 1500 };
    g_autoptr(GRand) random = g_rand_new_with_seed(17);
    struct runs runs;
    unsigned broken = 0, kept = 0, samples = (unsigned)RUN / quanta;
    init_runs(&runs, quanta);
    for (unsigned round = 0; round < ROUNDS; round++) {
        int64_t before = binomial(random, samples, 0.3) * quanta;
        int64_t after = binomial(random, samples, 0.3 * slower) * quanta;
        struct fm_told it = told(&runs, text, before, after);
        broken += it.p <= 0.05;
        kept += it.within;
    }
    *ret_broken = (double)broken / ROUNDS;
    *ret_kept = (double)kept / ROUNDS;
}

static void chance_breaks_no_limit(void)
{
    double broken, kept;
    /* Twice 1,500 samples: a deviation of 3 %. */
    simulate("time f ≤ +0 % at 95 % confidence", 1, 1, &broken, &kept);
    g_assert_cmpfloat(broken, <, 0.05); /* the floor of 2 % takes some of the 5 % off */
    g_assert_cmpfloat(kept, <, 0.08);
    simulate("time f ≤ +10 % at 95 % confidence", 1, 1.10, &broken, &kept);
    g_assert_cmpfloat(broken, <, 0.07);
    g_assert_cmpfloat(kept, <, 0.07);
    /* A fourth of the samples with four times the charge. */
    simulate("time f ≤ +10 % at 95 % confidence", 4, 1.10, &broken, &kept);
    g_assert_cmpfloat(broken, <, 0.07);
    g_assert_cmpfloat(kept, <, 0.07);
}

static void what_is_slower_is_found(void)
{
    double broken, kept;
    simulate("time f ≤ +5 % at 95 % confidence", 1, 1.25, &broken, &kept);
    g_assert_cmpfloat(broken, >, 0.95);
    simulate("time f ≤ +25 % at 95 % confidence", 1, 1, &broken, &kept);
    g_assert_cmpfloat(kept, >, 0.95);
    g_assert_cmpfloat(broken, ==, 0);
    simulate("time f ≥ +0 % at 95 % confidence", 1, 0.8, &broken, &kept);
    g_assert_cmpfloat(broken, >, 0.95);
}

static void absolute_times(void)
{
    struct runs runs;
    init_runs(&runs, 1);
    g_assert_cmpfloat(told(&runs, "time f ≤ 1 s", 0, 1200).p, <, 1e-6);
    g_assert_true(told(&runs, "time f ≤ 1 s", 0, 800).within);
    struct fm_told near = told(&runs, "time f ≤ 1 s", 0, 1010);
    g_assert_false(near.within);
    g_assert_cmpfloat(near.p, >, 0.01);
    g_assert_true(told(&runs, "time f ≤ 10 s", 0, 1200).within); /* more than the run had */
    g_assert_true(told(&runs, "time f ≤ +5 %", 5, 9).few);
    g_assert_cmpfloat_with_epsilon(told(&runs, "time f ≤ +5 %", 1600, 1600).least, 0.1, 1e-9);
    g_assert_cmpfloat(told(&runs, "time f ≤ +5 %", 0, 1600).p, ==, 0); /* there was none of it */
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
    return g_test_run();
}
