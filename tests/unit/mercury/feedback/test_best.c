/* SPDX-License-Identifier: Apache-2.0 */
/* Cutting conjunctions: the worked examples, and each rule of the overlap of conjuncts. */
#include <math.h>
#include <string.h>

#include "mercury/feedback/best.h"

#define GOALS_MAX 32

struct goal_times {
    struct {
        uint32_t var;
        bool production;
        double time;
    } known[8];
    unsigned count;
};

struct world {
    struct fm_feedback_params params;
    struct fm_cut_goal goals[GOALS_MAX];
    uint32_t bound[GOALS_MAX][8], consumed[GOALS_MAX][8];
    struct goal_times times[GOALS_MAX];
    uint32_t count;
};

static double time_of(void *user, uint32_t var, bool production)
{
    const struct goal_times *times = user;
    for (unsigned i = 0; i < times->count; i++) {
        if (times->known[i].var == var && times->known[i].production == production)
            return times->known[i].time;
    }
    return production ? 1 : 0;
}

static void begin(struct world *w)
{
    memset(w, 0, sizeof *w);
    fm_feedback_params_default(&w->params);
}

static void add_goal(struct world *w, double cost)
{
    struct fm_cut_goal *goal = &w->goals[w->count];
    goal->cost = cost == 0 ? fm_cost_trivial(1) : fm_cost_real(1, true, cost);
    goal->bound = w->bound[w->count];
    goal->consumed = w->consumed[w->count];
    goal->user = &w->times[w->count];
    w->count++;
}

/* In ascending order of variables. */
static void binds(struct world *w, uint32_t var, double time)
{
    struct fm_cut_goal *goal = &w->goals[w->count - 1];
    struct goal_times *times = &w->times[w->count - 1];
    w->bound[w->count - 1][goal->bound_count++] = var;
    times->known[times->count].var = var;
    times->known[times->count].production = true;
    times->known[times->count++].time = time;
}

static void uses(struct world *w, uint32_t var, double time)
{
    struct fm_cut_goal *goal = &w->goals[w->count - 1];
    struct goal_times *times = &w->times[w->count - 1];
    w->consumed[w->count - 1][goal->consumed_count++] = var;
    times->known[times->count].var = var;
    times->known[times->count].production = false;
    times->known[times->count++].time = time;
}

static struct fm_cut_problem problem_of(struct world *w, uint32_t first, uint32_t last)
{
    return (struct fm_cut_problem){
        .goals = w->goals,
        .count = w->count,
        .first = first,
        .last = last,
        .calls = 1,
        .params = &w->params,
        .time = time_of,
    };
}

static void evaluate(struct world *w, const uint32_t *ends, uint32_t count, struct fm_cut *ret)
{
    struct fm_cut_problem problem = problem_of(w, 0, w->count - 1);
    memset(ret, 0, sizeof *ret);
    ret->conjunct_count = count;
    ret->ends = g_memdup2(ends, sizeof *ends * count);
    fm_cut_evaluate(&problem, ret);
}

static void expect(double value, double expected)
{
    if (fabs(value - expected) > 1e-9 * MAX(1, fabs(expected)))
        g_error("%.9f, expected %.9f", value, expected);
}

/* A list mapped by a costly function: a call and the recursive call, which share nothing. */
static void test_independent(void)
{
    static const uint32_t ends[] = {1, 2};
    struct world w;
    struct fm_cut cut;
    begin(&w);
    add_goal(&w, 1011764.36);
    add_goal(&w, 1011765.36);
    evaluate(&w, ends, 2, &cut);
    expect(cut.metrics.sequential, 2023529.72);
    expect(cut.metrics.parallel, 1013765.36);
    expect(cut.metrics.first_dead, 1001);
    expect(cut.metrics.spark, 100);
    expect(cut.metrics.barrier, 200);
    expect(cut.metrics.signals + cut.metrics.waits + cut.metrics.future_dead, 0);
    g_assert_false(cut.dependent);
    fm_cut_done(&cut);
}

/* Three conjuncts, the second waiting for the first and the third for both. */
static void make_three(struct world *w)
{
    enum { A = 1, B, P, Q, T };
    begin(w);
    add_goal(w, 2694);
    add_goal(w, 0);
    binds(w, P, 1);
    binds(w, Q, 1);
    for (int i = 0; i < 5; i++)
        add_goal(w, 0);
    add_goal(w, 109794);
    binds(w, A, 109793 - 2);
    binds(w, B, 109793 - 2);
    add_goal(w, 1);
    uses(w, A, 0);
    binds(w, T, 0);
    add_goal(w, 8917);
    uses(w, T, 0);
    for (int i = 0; i < 5; i++)
        add_goal(w, 0);
    add_goal(w, 90810);
    uses(w, A, 0);
    uses(w, B, 0);
    uses(w, P, 0);
    uses(w, Q, 0);
}

static void test_dependent(void)
{
    static const uint32_t ends[] = {8, 9, 16};
    struct world w;
    struct fm_cut cut;
    make_three(&w);
    /* The last goal begins at 2694 and makes A and B at 112,487: 109,793 further on. */
    w.times[7].known[0].time = w.times[7].known[1].time = 109793;
    evaluate(&w, ends, 3, &cut);
    expect(cut.metrics.sequential, 212216);
    expect(cut.metrics.parallel, 205797);
    expect(cut.metrics.first_dead, 91909);
    expect(cut.metrics.future_dead, 214857);
    expect(cut.metrics.signals, 500);
    expect(cut.metrics.waits, 1200);
    expect(cut.metrics.spark, 200);
    expect(cut.metrics.barrier, 300);
    expect(round(10000 * cut.metrics.sequential / cut.metrics.parallel), 10312);
    g_assert_true(cut.dependent);
    g_assert_cmpuint(cut.shared->len, ==, 5);
    fm_cut_done(&cut);
}

/* Who waits for a variable that is there already pays for looking, not for being woken. */
static void test_wait_without_blocking(void)
{
    static const uint32_t ends[] = {1, 2};
    struct world w;
    struct fm_cut cut;
    begin(&w);
    add_goal(&w, 5000);
    binds(&w, 1, 10);
    add_goal(&w, 5000);
    uses(&w, 1, 2000);
    evaluate(&w, ends, 2, &cut);
    /* first: 5000 + 100; second: from 1000, 5000 + 200 */
    expect(cut.metrics.future_dead, 0);
    expect(cut.metrics.parallel, 6200 + 1000);
    expect(cut.metrics.first_dead, 6200 - 5100);
    fm_cut_done(&cut);
}

static void test_wait_with_blocking(void)
{
    static const uint32_t ends[] = {1, 2};
    struct world w;
    struct fm_cut cut;
    begin(&w);
    add_goal(&w, 5000);
    binds(&w, 1, 4000);
    add_goal(&w, 5000);
    uses(&w, 1, 500);
    evaluate(&w, ends, 2, &cut);
    /* Made at 100 + 4000; wanted at 1000 + 500; goes on at 4100 + 200 + 1000, 4500 are left. */
    expect(cut.metrics.future_dead, 5300 - 1500);
    expect(cut.metrics.parallel, 5300 + 4500 + 1000);
    expect(cut.metrics.sequential, 10000);
    fm_cut_done(&cut);
}

/* What the first goals bind for the last ones of the same conjunct is not shared. */
static void test_shared_variables(void)
{
    static const uint32_t ends[] = {2, 3};
    struct world w;
    struct fm_cut cut;
    begin(&w);
    add_goal(&w, 3000);
    binds(&w, 1, 100);
    binds(&w, 2, 100);
    add_goal(&w, 3000);
    uses(&w, 1, 0);
    add_goal(&w, 3000);
    uses(&w, 2, 0);
    evaluate(&w, ends, 2, &cut);
    g_assert_cmpuint(cut.shared->len, ==, 1);
    g_assert_cmpuint(g_array_index(cut.shared, uint32_t, 0), ==, 2);
    expect(cut.metrics.signals, 100);
    expect(cut.metrics.waits, 200);
    fm_cut_done(&cut);
}

static void test_naive(void)
{
    static const uint32_t ends[] = {1, 2};
    struct world w;
    struct fm_cut cut;
    begin(&w);
    w.params.speedup = FM_SPEEDUP_NAIVE;
    add_goal(&w, 5000);
    binds(&w, 1, 4000);
    add_goal(&w, 5000);
    uses(&w, 1, 500);
    evaluate(&w, ends, 2, &cut);
    expect(cut.metrics.parallel, 6000 + 1000);
    expect(cut.metrics.first_dead, 6000 - 5100);
    expect(cut.metrics.waits, 0);
    g_assert_true(cut.dependent);
    fm_cut_done(&cut);
}

/* --- search --- */

static void expect_ends(const struct fm_cut *cut, const uint32_t *ends, uint32_t count)
{
    g_assert_cmpuint(cut->conjunct_count, ==, count);
    for (uint32_t i = 0; i < count; i++)
        g_assert_cmpuint(cut->ends[i], ==, ends[i]);
}

static void test_search(void)
{
    static const uint32_t expected[] = {1, 4};
    struct world w;
    struct fm_cut cut;
    begin(&w);
    add_goal(&w, 5000);
    add_goal(&w, 0);
    binds(&w, 1, 1);
    add_goal(&w, 0);
    uses(&w, 1, 0);
    binds(&w, 2, 1);
    add_goal(&w, 5000);
    uses(&w, 2, 0);
    /* Cheap goals go where what they share needs no signal. */
    struct fm_cut_problem problem = problem_of(&w, 0, 3);
    g_assert_true(fm_cut_search(&problem, &cut));
    expect_ends(&cut, expected, 2);
    fm_cut_done(&cut);
    /* Goal by goal it always seems cheaper to go on in the same conjunct. */
    w.params.best = FM_BEST_GREEDY;
    g_assert_false(fm_cut_search(&problem, &cut));
}

/* Every cut tried by hand: the search finds none better. */
static void test_search_is_complete(void)
{
    GRand *random = g_rand_new_with_seed(5);
    for (int round = 0; round < 300; round++) {
        struct world w;
        struct fm_cut best = {0}, cut;
        bool any = false;
        begin(&w);
        uint32_t count = (uint32_t)g_rand_int_range(random, 2, 7);
        for (uint32_t i = 0; i < count; i++) {
            add_goal(&w,
                     g_rand_int_range(random, 0, 4) == 0 ? 0 : g_rand_int_range(random, 1, 9000));
            if (i > 0 && g_rand_boolean(random))
                uses(&w, i, g_rand_int_range(random, 0, 100));
            binds(&w, i + 1, g_rand_int_range(random, 0, 100));
        }
        w.params.best = FM_BEST_COMPLETE;
        struct fm_cut_problem problem = problem_of(&w, 0, count - 1);
        for (uint32_t mask = 1; mask < 1u << (count - 1); mask++) {
            uint32_t ends[GOALS_MAX], conjuncts = 0;
            for (uint32_t i = 1; i <= count; i++) {
                if (i == count || (mask >> (i - 1) & 1) != 0)
                    ends[conjuncts++] = i;
            }
            struct fm_cut one;
            evaluate(&w, ends, conjuncts, &one);
            if (!any || one.objective < best.objective) {
                fm_cut_done(&best);
                best = one;
                any = true;
            } else {
                fm_cut_done(&one);
            }
        }
        g_assert_true(fm_cut_search(&problem, &cut));
        /* A cut whose first part is dearer than a whole one is not followed: never a better one. */
        g_assert_cmpfloat(cut.objective, >=, best.objective - 1e-6);
        fm_cut_done(&best);
        fm_cut_done(&cut);
    }
    g_rand_free(random);
}

static void test_dependent_not_allowed(void)
{
    struct world w;
    struct fm_cut cut;
    begin(&w);
    w.params.speedup = FM_SPEEDUP_INDEPENDENT;
    add_goal(&w, 5000);
    binds(&w, 1, 1);
    add_goal(&w, 5000);
    uses(&w, 1, 0);
    struct fm_cut_problem problem = problem_of(&w, 0, 1);
    g_assert_true(fm_cut_search(&problem, &cut)); /* found, and told to be dependent */
    g_assert_true(cut.dependent);
    fm_cut_done(&cut);
}

/* --- costs of goals --- */

static void test_costs(void)
{
    struct fm_goal_cost real = fm_cost_real(4, false, 40), other = fm_cost_real(6, true, 5);
    struct fm_goal_cost result = fm_cost_sequence(real, other);
    expect(fm_cost_all_calls(&result), 70);
    expect(result.calls, 4);
    result = fm_cost_sequence(fm_cost_dead(), other);
    expect(fm_cost_one_call(&result), 5);
    result = fm_cost_sequence(fm_cost_trivial(3), other);
    expect(fm_cost_one_call(&result), 10);
    result = fm_cost_sequence(real, fm_cost_dead());
    expect(fm_cost_one_call(&result), 10);
    result = fm_cost_branch(0, real, other);
    g_assert_cmpint(result.kind, ==, FM_COST_DEAD);
    result = fm_cost_branch(10, real, other);
    expect(fm_cost_one_call(&result), 7);
    result = fm_cost_branch(10, fm_cost_trivial(4), other);
    expect(fm_cost_all_calls(&result), 50); /* stored per call: it stays so */
    result = fm_cost_branch(10, real, fm_cost_trivial(6));
    expect(fm_cost_all_calls(&result), 40);
    result = fm_cost_branch(10, fm_cost_trivial(4), fm_cost_trivial(6));
    g_assert_cmpint(result.kind, ==, FM_COST_TRIVIAL);
    result = fm_cost_with_calls(real, 8);
    expect(fm_cost_one_call(&result), 10);
    expect(fm_cost_all_calls(&result), 80);
}

static void test_algorithms_by_name(void)
{
    static const struct {
        const char *text;
        bool ok;
        enum fm_best_algorithm algorithm;
        int64_t limit;
    } cases[] = {{"greedy", true, FM_BEST_GREEDY, 0},
                 {" complete ", true, FM_BEST_COMPLETE, 0},
                 {"complete-size( 7 )", true, FM_BEST_COMPLETE_SIZE, 7},
                 {"complete-branches (0)", true, FM_BEST_COMPLETE_BRANCHES, 0},
                 {"complete-branches", false, 0, 0},
                 {"complete-branches(-1)", false, 0, 0},
                 {"complete-size(3)x", false, 0, 0},
                 {"greedy2", false, 0, 0},
                 {"", false, 0, 0}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        enum fm_best_algorithm algorithm;
        int64_t limit;
        g_assert_true(fm_feedback_parse_best(cases[i].text, &algorithm, &limit) == cases[i].ok);
        if (!cases[i].ok)
            continue;
        g_assert_cmpint(algorithm, ==, cases[i].algorithm);
        g_assert_cmpint(limit, ==, cases[i].limit);
    }
    enum fm_speedup_algorithm speedup;
    g_assert_true(fm_feedback_parse_speedup("overlap", &speedup));
    g_assert_true(fm_feedback_parse_speedup("naive", &speedup));
    g_assert_false(fm_feedback_parse_speedup("num_vars", &speedup));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/feedback/overlap/independent", test_independent);
    g_test_add_func("/feedback/overlap/three_dependent", test_dependent);
    g_test_add_func("/feedback/overlap/wait_without_blocking", test_wait_without_blocking);
    g_test_add_func("/feedback/overlap/wait_with_blocking", test_wait_with_blocking);
    g_test_add_func("/feedback/overlap/shared_variables", test_shared_variables);
    g_test_add_func("/feedback/overlap/naive", test_naive);
    g_test_add_func("/feedback/search/cheap_goals_join", test_search);
    g_test_add_func("/feedback/search/complete", test_search_is_complete);
    g_test_add_func("/feedback/search/dependent_not_allowed", test_dependent_not_allowed);
    g_test_add_func("/feedback/costs", test_costs);
    g_test_add_func("/feedback/algorithms_by_name", test_algorithms_by_name);
    return g_test_run();
}
