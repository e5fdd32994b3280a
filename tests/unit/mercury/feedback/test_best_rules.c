/* SPDX-License-Identifier: Apache-2.0 */
/* The search for the best cut of a conjunction, rule by rule. The rules, each with its test:
 *
 *   objective: parallel time + twice all overheads                   objective
 *   partial cuts in the order of their objectives, a tie splits      greedy
 *   limits of alternatives and of size                               limits
 *   of equally good cuts the last found                              equals
 *   at least two conjuncts                                           two_conjuncts
 *   dependent cuts where they are not allowed                        only_independent
 *   every algorithm finds what a plain search finds                  plain_search
 * and of a cut
 *   spark costs only put starts off; barriers only the objective     starts
 *   signals for what is made, waits for what is used                 signals_and_waits
 *   events of one goal, latest first in both lists                   events_of_a_goal
 *   made after a gap: shifted by it                                  made_after_a_gap
 *   only the first use in a conjunct waits                           first_use */
#include <math.h>
#include <string.h>

#include "mercury/feedback/best.h"

#define GOALS_MAX 12
#define VARS_MAX 16

struct goal_times {
    double made[VARS_MAX], used[VARS_MAX];
};

struct world {
    struct fm_feedback_params params;
    struct fm_cut_goal goals[GOALS_MAX];
    uint32_t bound[GOALS_MAX][VARS_MAX], consumed[GOALS_MAX][VARS_MAX];
    struct goal_times times[GOALS_MAX];
    uint32_t count;
};

static double time_of(void *user, uint32_t var, bool production)
{
    const struct goal_times *times = user;
    return production ? times->made[var] : times->used[var];
}

static void begin(struct world *w)
{
    memset(w, 0, sizeof *w);
    fm_feedback_params_default(&w->params);
}

static void add_goal(struct world *w, double cost)
{
    uint32_t at = w->count++;
    w->goals[at] = (struct fm_cut_goal){
        .cost = cost == 0 ? fm_cost_trivial(1) : fm_cost_real(1, true, cost),
        .bound = w->bound[at],
        .consumed = w->consumed[at],
        .user = &w->times[at],
    };
}

static void makes(struct world *w, uint32_t var, double time)
{
    struct fm_cut_goal *goal = &w->goals[w->count - 1];
    w->bound[w->count - 1][goal->bound_count++] = var;
    w->times[w->count - 1].made[var] = time;
}

static void uses(struct world *w, uint32_t var, double time)
{
    struct fm_cut_goal *goal = &w->goals[w->count - 1];
    w->consumed[w->count - 1][goal->consumed_count++] = var;
    w->times[w->count - 1].used[var] = time;
}

static struct fm_cut_problem problem_of(struct world *w)
{
    return (struct fm_cut_problem){
        .goals = w->goals,
        .count = w->count,
        .first = 0,
        .last = w->count - 1,
        .calls = 1,
        .params = &w->params,
        .time = time_of,
    };
}

static struct fm_cut evaluate(struct world *w, const uint32_t *ends, uint32_t count)
{
    struct fm_cut_problem problem = problem_of(w);
    struct fm_cut cut = {.conjunct_count = count, .ends = g_memdup2(ends, sizeof *ends * count)};
    fm_cut_evaluate(&problem, &cut);
    return cut;
}

static void expect(double value, double expected)
{
    if (fabs(value - expected) > 1e-9 * MAX(1, fabs(expected)))
        g_error("%.9f, expected %.9f", value, expected);
}

/* --- search --- */

static void test_objective(void)
{
    static const uint32_t ends[] = {1, 2};
    struct world w;
    begin(&w);
    add_goal(&w, 9000);
    makes(&w, 1, 10);
    add_goal(&w, 9000);
    uses(&w, 1, 5000);
    struct fm_cut cut = evaluate(&w, ends, 2);
    const struct fm_parallel_metrics *m = &cut.metrics;
    expect(m->spark, 100);
    expect(m->barrier, 200);
    expect(m->signals, 100);
    expect(m->waits, 200);
    expect(cut.objective, m->parallel + 2 * (100 + 200 + 100 + 200));
    fm_cut_done(&cut);
}

/* The same search, plainly: cuts are lists of ends; what is asked of one is what is specified. */
struct plain {
    struct world *w;
    bool dependent_allowed, unlimited;
    int64_t limit, tests;
    uint32_t best_ends[GOALS_MAX], best_count;
    double best;
};

static bool plain_test(struct plain *p, const struct fm_cut *cut)
{
    p->tests++;
    return (p->dependent_allowed || !cut->dependent) &&
           (p->best_count == 0 || cut->objective <= p->best);
}

static void plain_step(struct plain *p, const uint32_t *ends, uint32_t count)
{
    if (ends[count - 1] == p->w->count) {
        struct fm_cut whole = evaluate(p->w, ends, count);
        if (count >= 2 && (p->best_count == 0 || whole.objective <= p->best)) {
            memcpy(p->best_ends, ends, sizeof *ends * count);
            p->best_count = count;
            p->best = whole.objective;
        }
        fm_cut_done(&whole);
        return;
    }
    uint32_t joined[GOALS_MAX], split[GOALS_MAX];
    memcpy(joined, ends, sizeof *ends * count);
    memcpy(split, ends, sizeof *ends * count);
    joined[count - 1]++;
    split[count] = ends[count - 1] + 1;
    struct fm_cut a = evaluate(p->w, joined, count), b = evaluate(p->w, split, count + 1);
    bool a_valid = p->dependent_allowed || !a.dependent,
         b_valid = p->dependent_allowed || !b.dependent;
    bool a_first = a_valid && (!b_valid || b.objective > a.objective);
    int64_t tests = p->tests;
    if (plain_test(p, a_first ? &a : &b))
        plain_step(p, a_first ? joined : split, a_first ? count : count + 1);
    if (a_valid && b_valid && (p->unlimited || tests < p->limit) &&
        plain_test(p, a_first ? &b : &a))
        plain_step(p, a_first ? split : joined, a_first ? count + 1 : count);
    fm_cut_done(&a);
    fm_cut_done(&b);
}

static struct plain plain_search(struct world *w)
{
    static const uint32_t first[] = {1};
    enum fm_best_algorithm best = w->params.best;
    struct plain p = {.w = w, .dependent_allowed = w->params.speedup != FM_SPEEDUP_INDEPENDENT};
    p.unlimited = best == FM_BEST_COMPLETE ||
                  (best == FM_BEST_COMPLETE_SIZE && w->count <= (uint64_t)w->params.best_limit);
    p.limit = best == FM_BEST_COMPLETE_BRANCHES ? w->params.best_limit : 0;
    plain_step(&p, first, 1);
    if (p.best_count == 0 && !p.dependent_allowed) {
        p.dependent_allowed = true;
        p.tests = 0;
        w->params.speedup = FM_SPEEDUP_OVERLAP;
        plain_step(&p, first, 1);
        w->params.speedup = FM_SPEEDUP_INDEPENDENT;
    }
    return p;
}

static void random_world(struct world *w, GRand *random)
{
    begin(w);
    uint32_t count = (uint32_t)g_rand_int_range(random, 2, 8);
    for (uint32_t i = 0; i < count; i++) {
        bool costly = i == 0 || i + 1 == count || g_rand_boolean(random);
        add_goal(w, costly ? 1000.0 * g_rand_int_range(random, 1, 9) : 0);
        for (uint32_t var = 1; var <= i; var++) {
            if (g_rand_int_range(random, 0, 4) == 0)
                uses(w, var, costly ? g_rand_int_range(random, 0, 900) : 0);
        }
        makes(w, i + 1, costly ? g_rand_int_range(random, 0, 900) : 1);
    }
    w->params.speedup = (enum fm_speedup_algorithm)g_rand_int_range(random, 0, 3);
    w->params.best = (enum fm_best_algorithm)g_rand_int_range(random, 0, 4);
    w->params.best_limit = g_rand_int_range(random, 0, 12);
}

static void test_plain_search(void)
{
    GRand *random = g_rand_new_with_seed(20);
    unsigned found = 0;
    for (int round = 0; round < 600; round++) {
        struct world w;
        struct fm_cut cut;
        random_world(&w, random);
        struct fm_cut_problem problem = problem_of(&w);
        bool any = fm_cut_search(&problem, &cut);
        struct plain plain = plain_search(&w);
        g_assert_true(any == (plain.best_count > 0));
        if (!any)
            continue;
        found++;
        g_assert_cmpuint(cut.conjunct_count, ==, plain.best_count);
        for (uint32_t i = 0; i < plain.best_count; i++)
            g_assert_cmpuint(cut.ends[i], ==, plain.best_ends[i]);
        expect(cut.objective, plain.best);
        fm_cut_done(&cut);
    }
    g_assert_cmpuint(found, >, 300);
    g_rand_free(random);
}

static void expect_search(struct world *w, const char *ends)
{
    struct fm_cut cut;
    struct fm_cut_problem problem = problem_of(w);
    g_autoptr(GString) text = g_string_new(NULL);
    if (fm_cut_search(&problem, &cut)) {
        for (uint32_t i = 0; i < cut.conjunct_count; i++)
            g_string_append_printf(text, "%u ", cut.ends[i]);
        fm_cut_done(&cut);
    }
    g_assert_cmpstr(text->str, ==, ends);
}

static void test_greedy(void)
{
    struct world w;
    begin(&w);
    w.params.best = FM_BEST_GREEDY;
    for (int i = 0; i < 3; i++)
        add_goal(&w, 9000);
    /* 18,000 in one, or 9,000 + 2,000 and 2 * 300: each goal begins a conjunct. */
    expect_search(&w, "1 2 3 ");
    /* A tie of objectives begins a new conjunct: all is free, the second goal too. */
    begin(&w);
    w.params.best = FM_BEST_GREEDY;
    w.params.spark_cost = w.params.spark_delay = w.params.barrier_cost = w.params.wakeup_delay = 0;
    add_goal(&w, 9000);
    add_goal(&w, 0);
    expect_search(&w, "1 2 ");
}

static void test_limits(void)
{
    /* Goal by goal it is better to go on in one conjunct, so greedy ends with a single one. */
    struct world w;
    begin(&w);
    add_goal(&w, 5000);
    add_goal(&w, 0);
    makes(&w, 1, 1);
    add_goal(&w, 0);
    uses(&w, 1, 0);
    makes(&w, 2, 1);
    add_goal(&w, 5000);
    uses(&w, 2, 0);
    w.params.best = FM_BEST_GREEDY;
    expect_search(&w, "");
    w.params.best = FM_BEST_COMPLETE;
    struct fm_cut cut;
    struct fm_cut_problem problem = problem_of(&w);
    g_assert_true(fm_cut_search(&problem, &cut));
    g_assert_cmpuint(cut.conjunct_count, >=, 2);
    fm_cut_done(&cut);
    w.params.best = FM_BEST_COMPLETE_SIZE;
    w.params.best_limit = 3; /* four goals are too many: greedy */
    expect_search(&w, "");
    w.params.best_limit = 4;
    g_assert_true(fm_cut_search(&problem, &cut));
    fm_cut_done(&cut);
    w.params.best = FM_BEST_COMPLETE_BRANCHES;
    w.params.best_limit = 0;
    expect_search(&w, "");
    w.params.best_limit = 1; /* one test before the first branching is not more than that */
    g_assert_true(fm_cut_search(&problem, &cut));
    fm_cut_done(&cut);
}

static void test_equals(void)
{
    /* A goal that is free stands as well in the first conjunct as in the second, or by itself: all
     * have the same objective. Alone first, then with the last: joined to the first comes last. */
    struct world w;
    begin(&w);
    w.params.spark_cost = w.params.spark_delay = w.params.barrier_cost = w.params.wakeup_delay = 0;
    w.params.best = FM_BEST_COMPLETE;
    add_goal(&w, 9000);
    add_goal(&w, 0);
    add_goal(&w, 9000);
    expect_search(&w, "2 3 ");
}

static void test_two_conjuncts(void)
{
    struct world w;
    begin(&w);
    w.params.best = FM_BEST_COMPLETE;
    w.params.spark_delay = 1000000; /* a single conjunct would be best of all */
    add_goal(&w, 3000);
    add_goal(&w, 3000);
    expect_search(&w, "1 2 ");
}

static void test_only_independent(void)
{
    struct world w;
    begin(&w);
    w.params.speedup = FM_SPEEDUP_INDEPENDENT;
    add_goal(&w, 9000);
    makes(&w, 1, 10);
    add_goal(&w, 9000);
    uses(&w, 1, 0);
    add_goal(&w, 9000);
    expect_search(&w, "2 3 "); /* the two that share are one */
    /* Nothing independent: the best dependent one, which the caller refuses. */
    uses(&w, 1, 0);
    struct fm_cut cut;
    struct fm_cut_problem problem = problem_of(&w);
    g_assert_true(fm_cut_search(&problem, &cut));
    g_assert_true(cut.dependent);
    fm_cut_done(&cut);
}

/* --- cuts --- */

static void test_starts(void)
{
    static const uint32_t ends[] = {1, 2, 3};
    struct world w;
    begin(&w);
    for (int i = 0; i < 3; i++)
        add_goal(&w, 9000);
    struct fm_cut cut = evaluate(&w, ends, 3);
    /* They share nothing: each runs for 9,000, the last starts after two delays. */
    expect(cut.metrics.parallel, 9000 + 2 * 1000 + 1000);
    expect(cut.metrics.first_dead, 2000);
    expect(cut.metrics.sequential, 27000);
    expect(cut.metrics.spark, 200);
    expect(cut.metrics.barrier, 300);
    fm_cut_done(&cut);
}

static void test_signals_and_waits(void)
{
    static const uint32_t ends[] = {1, 2, 3};
    struct world w;
    begin(&w);
    add_goal(&w, 9000);
    makes(&w, 1, 0);
    makes(&w, 2, 0);
    makes(&w, 3, 0); /* nobody uses it */
    add_goal(&w, 9000);
    uses(&w, 1, 8000);
    add_goal(&w, 9000);
    uses(&w, 1, 8000);
    uses(&w, 2, 8000);
    struct fm_cut cut = evaluate(&w, ends, 3);
    expect(cut.metrics.signals, 2 * 100);
    expect(cut.metrics.waits, 3 * 200);
    expect(cut.metrics.future_dead, 0);
    expect(cut.metrics.parallel, 9000 + 2 * 200 + 2 * 1000 + 1000);
    fm_cut_done(&cut);
}

static void test_events_of_a_goal(void)
{
    /* The second conjunct uses 1 at 100 and makes 2 at 50. Both lists hold one event; merged as
     * if ascending the production comes first, and reversed it comes last: it is taken after the
     * use, at a time before it. */
    static const uint32_t ends[] = {1, 2, 3};
    struct world w;
    begin(&w);
    add_goal(&w, 9000);
    makes(&w, 1, 5000);
    add_goal(&w, 9000);
    uses(&w, 1, 100);
    makes(&w, 2, 50);
    add_goal(&w, 9000);
    uses(&w, 2, 8000);
    struct fm_cut cut = evaluate(&w, ends, 3);
    /* 1 is there at 100 + 5000. The second starts at 1100, wants it at 1200, goes on at 5100 + 200
     * + 1000 = 6300 with 100 done; then at 50, 50 earlier, it signals: 6350; 8950 are left. */
    expect(cut.metrics.future_dead, 6300 - 1200);
    expect(cut.metrics.first_dead, (6350 + 8950 - 1100) + 1000 - (9000 + 100));
    fm_cut_done(&cut);
}

static void test_made_after_a_gap(void)
{
    /* The second conjunct waits before its first goal, and makes 2 in its second. */
    static const uint32_t ends[] = {1, 3, 4};
    struct world w;
    begin(&w);
    add_goal(&w, 20000);
    makes(&w, 1, 5000);
    add_goal(&w, 3000);
    uses(&w, 1, 0);
    add_goal(&w, 4000);
    makes(&w, 2, 500);
    add_goal(&w, 9000);
    uses(&w, 2, 0);
    struct fm_cut cut = evaluate(&w, ends, 3);
    /* Second: from 1100, at once blocked, until 5100 + 1200 = 6300. Its second goal begins 3000
     * later, counted from 1100 and shifted by the gap of 5200; 2 is there at 9300 + 500. Third:
     * from 2000, at once blocked, until 9800 + 1200 = 11,000. */
    expect(cut.metrics.future_dead, 5200 + (11000 - 2000));
    fm_cut_done(&cut);
}

static void test_first_use(void)
{
    static const uint32_t ends[] = {1, 3};
    struct world w;
    begin(&w);
    add_goal(&w, 9000);
    makes(&w, 1, 0);
    add_goal(&w, 4000);
    uses(&w, 1, 3000);
    add_goal(&w, 4000);
    uses(&w, 1, 0);
    struct fm_cut cut = evaluate(&w, ends, 2);
    expect(cut.metrics.waits, 200);
    expect(cut.metrics.parallel, 8000 + 200 + 1000 + 1000);
    fm_cut_done(&cut);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define RULE(name) g_test_add_func("/feedback/rule/" #name, test_##name)
    RULE(objective);
    RULE(greedy);
    RULE(limits);
    RULE(equals);
    RULE(two_conjuncts);
    RULE(only_independent);
    RULE(plain_search);
    RULE(starts);
    RULE(signals_and_waits);
    RULE(events_of_a_goal);
    RULE(made_after_a_gap);
    RULE(first_use);
    return g_test_run();
}
