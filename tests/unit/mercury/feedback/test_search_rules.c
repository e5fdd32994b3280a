/* SPDX-License-Identifier: Apache-2.0 */
/* The search for candidates, rule by rule, on profiles and bodies as they are read from files. The
 * rules, each with its test:
 *
 *   walk over cliques
 *     only cliques that cost the threshold a call                      clique_threshold
 *     a call inside a candidate adds its parallelism; the limit        desired_parallelism
 *     procedures of the module exception are left out                  left_out_modules
 *     no body, no coverage: told                                       told_procedures
 *     the recursive call of a loop costs as one level up               loops
 *     recursive calls without cost: told                               told_recursion
 *     labels in order; a clique's own candidates before those below    order
 *   goals
 *     costly: det or cc_multi, above the threshold, called             costly_goals
 *     cost of switch, if-then-else, disjunction, negation, scope       cost_of_goals
 *     what is bound twice is not parallelised                          duplicate_instantiation
 *     consumed and bound variables                                     consumed_and_bound
 *   conjunctions
 *     before the first, behind the last costly goal: sequential        sequential_parts
 *     a goal in between that may fail                                  goals_that_may_fail
 *     speedup above the threshold                                      speedup_threshold
 *     dependent ones where they are not allowed                        dependent_not_allowed
 *     what was accepted is cheaper for what holds it                   nested
 *   pushing
 *     behind a costly call in a branch                                 push_to_a_goal
 *     behind the goals of an inner conjunction                         push_to_a_conjunction
 *     into several branches                                            push_to_several
 *     conditions and negations hold no goals to push to                push_nowhere */
#include <math.h>
#include <string.h>

#include "mercury/feedback/feedback.h"
#include "program.h"

struct result {
    struct program *program;
    struct fm_feedback *feedback;
    GString *messages;
};

/* Nothing costs anything but the calls themselves. */
static struct fm_feedback_params free_of_charge(int64_t threshold)
{
    struct fm_feedback_params params;
    fm_feedback_params_default(&params);
    params.spark_cost = params.spark_delay = params.barrier_cost = 0;
    params.signal_cost = params.wait_cost = params.wakeup_delay = 0;
    params.clique_threshold = 0;
    params.call_site_threshold = threshold;
    return params;
}

static struct result search(const struct program_proc *procs, uint32_t count, const char *counts,
                            const struct fm_feedback_params *params)
{
    struct result result = {program_new(procs, count, counts, FM_COVERAGE_DYNAMIC),
                            fm_feedback_new("./program"), g_string_new(NULL)};
    GPtrArray *messages;
    fm_feedback_search(result.feedback, result.program->bodies, params, &messages);
    for (guint i = 0; i < messages->len; i++) {
        const struct fm_feedback_message *message = messages->pdata[i];
        g_string_append(result.messages, message->text);
    }
    g_ptr_array_unref(messages);
    return result;
}

static void end(struct result *result)
{
    g_string_free(result->messages, TRUE);
    fm_feedback_free(result->feedback);
    program_free(result->program);
}

static struct result search_one(const char *counts, const char *body,
                                const struct fm_feedback_params *params)
{
    const struct program_proc proc = {"p", "nondet", "1:gg 2:fg", body};
    return search(&proc, 1, counts, params);
}

static guint count_of(const struct result *result)
{
    guint count = 0;
    for (guint i = 0; i < result->feedback->procs->len; i++)
        count +=
            ((const struct fm_feedback_proc *)result->feedback->procs->pdata[i])->candidates->len;
    return count;
}

static const struct fm_candidate *candidate_of(const struct result *result, guint proc,
                                               guint number)
{
    g_assert_cmpuint(result->feedback->procs->len, >, proc);
    const struct fm_feedback_proc *of = result->feedback->procs->pdata[proc];
    g_assert_cmpuint(of->candidates->len, >, number);
    return of->candidates->pdata[number];
}

static void expect(double value, double expected)
{
    if (fabs(value - expected) > 1e-9 * MAX(1, fabs(expected)))
        g_error("%.9f, expected %.9f", value, expected);
}

static void expect_count(const char *counts, const char *body,
                         const struct fm_feedback_params *params, guint count, const char *told)
{
    struct result result = search_one(counts, body, params);
    if (count_of(&result) != count)
        g_error("%u candidates, expected %u, of %s", count_of(&result), count, body);
    if (told != NULL && strstr(result.messages->str, told) == NULL)
        g_error("told \"%s\", expected \"%s\"", result.messages->str, told);
    end(&result);
}

/* --- walk over cliques --- */

static void test_clique_threshold(void)
{
    struct fm_feedback_params params = free_of_charge(10);
    /* 100 a call, 200 of them and the call of p itself. */
    const char *body = "conj det { call det $1000 - - 10/10 call det $1000 - - 10/10 }";
    params.clique_threshold = 201;
    expect_count("10/10", body, &params, 1, NULL);
    params.clique_threshold = 202;
    expect_count("10/10", body, &params, 0, NULL);
}

static void test_desired_parallelism(void)
{
    struct fm_feedback_params params = free_of_charge(10);
    const struct program_proc procs[] = {
        {"p", "det", "",
         "conj det { call det q - - 10/10 call det r - - 10/10 call det s - - 10/10 }"},
        {"q", "det", "", "conj det { call det $1000 - - 10/10 call det $1000 - - 10/10 }"},
        {"r", "det", "", "conj det { call det $1000 - - 10/10 call det $1000 - - 10/10 }"},
        {"s", "det", "", "conj det { call det $1000 - - 10/10 call det $1000 - - 10/10 }"}};
    /* Three equal conjuncts, no dead time: r and s run with 1 + 1 processors; the first conjunct is
     * not counted, so q runs with 1. */
    params.desired_parallelism = 2;
    struct result result = search(procs, 4, "10/10", &params);
    g_assert_cmpuint(count_of(&result), ==, 4);
    end(&result);
    params.desired_parallelism = 1.5;
    result = search(procs, 4, "10/10", &params);
    g_assert_cmpuint(count_of(&result), ==, 2);
    const struct fm_feedback_proc *second = result.feedback->procs->pdata[1];
    g_assert_cmpstr(second->label.name, ==, "q");
    end(&result);
}

static void test_left_out_modules(void)
{
    struct fm_feedback_params params = free_of_charge(10);
    const struct program_proc procs[] = {
        {"exception.p", "det", "",
         "conj det { call det $1000 - - 10/10 call det $1000 - - 10/10 call det q - - 10/10 }"},
        {"q", "det", "", "conj det { call det $1000 - - 10/10 call det $1000 - - 10/10 }"}};
    struct result result = search(procs, 2, "10/10", &params);
    g_assert_cmpuint(count_of(&result), ==, 1); /* what it calls is looked at all the same */
    g_assert_null(strstr(result.messages->str, "exception"));
    end(&result);
}

static void test_told_procedures(void)
{
    struct fm_feedback_params params = free_of_charge(10);
    expect_count("10/10", "call det $1000 - - 10/10", &params, 0,
                 "Warning:\n  Proc: pred m.leaf/0-0\n  Could not look up proc defn, perhaps this "
                 "procedure is built-in\n\n");
    const struct program_proc proc = {"p", "det", "", "call det $9 - - 9/9"};
    struct program *program = program_new(&proc, 1, "9/9", FM_COVERAGE_NONE);
    struct fm_feedback *feedback = fm_feedback_new("./program");
    GPtrArray *messages;
    fm_feedback_search(feedback, program->bodies, &params, &messages);
    const struct fm_feedback_message *first = messages->pdata[0];
    g_assert_cmpstr(first->text, ==,
                    "Error:\n  Proc: pred m.p/0-0\n  Cannot lookup coverage points\n\n");
    g_ptr_array_unref(messages);
    fm_feedback_free(feedback);
    program_free(program);
}

static void test_loops(void)
{
    /* A loop of 4 elements: a call of 5000, and the recursive call: 5 / 4 rounds to 1, the cost of
     * one level above the base case: 0 + 1 * (5000 + 1). */
    struct fm_feedback_params params;
    fm_feedback_params_default(&params);
    struct result result = search_one(
        "1/1",
        "switch det 1 { arm 1 make det 2 - 2 conj det { take det 1 3,4 3,4 call det $20000 3 - 4/4 "
        "call det p 4,5 5 4/4 make det 2 5 2 } }",
        &params);
    const struct fm_candidate *candidate = candidate_of(&result, 0, 0);
    g_assert_cmpstr(candidate->path, ==, "s2-na;");
    g_assert_cmpint(candidate->metrics.calls, ==, 4);
    expect(candidate->metrics.sequential, 5000 + 5001);
    /* Two conjuncts that share nothing: the second starts 1000 late; who waited wakes 1000 later.
     */
    expect(candidate->metrics.parallel, 5001 + 1000 + 1000);
    expect(candidate->metrics.first_dead, 5001 + 1000 - 5000);
    g_assert_cmpuint(candidate->before->len, ==, 1);
    g_assert_cmpuint(candidate->conjuncts->len, ==, 2);
    g_assert_cmpuint(candidate->after->len, ==, 1);
    end(&result);
}

static void test_told_recursion(void)
{
    struct fm_feedback_params params = free_of_charge(10);
    expect_count("1/1",
                 "switch det 1 { arm 5 make det 2 - 2 conj det { call det p - - 4/4 call det p - - "
                 "4/4 } }",
                 &params, 0,
                 "Cannot compute cost of recursive calls: No average recursion depth for this "
                 "recursion type");
}

static void test_order(void)
{
    struct fm_feedback_params params = free_of_charge(10);
    const struct program_proc procs[] = {
        {"z", "det", "", "conj det { call det b - - 10/10 call det a - - 10/10 }"},
        {"b", "det", "", "conj det { call det $1000 - - 10/10 call det $1000 - - 10/10 }"},
        {"a", "det", "",
         "conj det { scope det { conj det { call det $1000 - - 10/10 call det $1000 - - 10/10 } } "
         "call det $3000 - - 10/10 }"}};
    struct result result = search(procs, 3, "10/10", &params);
    static const char *const names[] = {"a", "b", "z"};
    g_assert_cmpuint(result.feedback->procs->len, ==, 3);
    for (guint i = 0; i < 3; i++) {
        const struct fm_feedback_proc *proc = result.feedback->procs->pdata[i];
        g_assert_cmpstr(proc->label.name, ==, names[i]);
    }
    /* The outer conjunction stands before those inside it. */
    g_assert_cmpstr(candidate_of(&result, 0, 0)->path, ==, "");
    g_assert_cmpstr(candidate_of(&result, 0, 1)->path, ==, "c1;q;");
    end(&result);
}

/* --- goals --- */

static void test_costly_goals(void)
{
    struct fm_feedback_params params = free_of_charge(2000);
    static const struct {
        const char *second;
        guint count;
    } cases[] = {
        {"call det $20010 - - 10/10", 1},
        {"call cc_multi $20010 - - 10/10", 1},
        {"call det $20000 - - 10/10", 0}, /* 2000 a call is not above 2000 */
        {"call semidet $20010 - - 10/10", 0},
        {"call multi $20010 - - 10/10", 0},
        {"ho det 1 - - $20010 10/10", 1},
        {"method det 1 - - $20010 10/10", 1},
        {"foreign det - -", 0},
        /* 1001 + 1001 */
        {"scope det { conj det { call det $10010 - - 10/10 call det $10010 - - 10/10 } }", 1}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *body =
            g_strdup_printf("conj multi { call det $90000 - - 10/10 %s }", cases[i].second);
        expect_count("10/10", body, &params, cases[i].count, NULL);
    }
}

static void expect_cost(const char *counts, const char *goal, double cost)
{
    struct fm_feedback_params params = free_of_charge(1);
    g_autofree char *body = g_strdup_printf("conj det { call det $900000 - - 100/100 %s }", goal);
    params.speedup_threshold = 1;
    struct result result = search_one(counts, body, &params);
    const struct fm_feedback_proc *proc = result.feedback->procs->pdata[0];
    const struct fm_candidate *last = proc->candidates->pdata[0];
    g_assert_cmpstr(last->path, ==, "");
    expect(last->metrics.sequential, 9000 + cost);
    end(&result);
}

static void test_cost_of_goals(void)
{
    /* 40 of 100: 20 each, 60 of 100: nothing; and the condition, 3. */
    expect_cost("100/100",
                "ite det { call semidet $300 - - 100/40 call det $800 - - 40/40 make det 2 - 2 }",
                3 + 8);
    expect_cost("100/100",
                "switch det 1 { arm 10 call det $500 - - 10/10 arm 30 call det $600 - - 30/30 make "
                "det 2 - 2 }",
                5 + 6);
    /* Committed: the second disjunct as often as the first fails. */
    expect_cost("100/100",
                "cut cc_multi { disj cc_multi { call semidet $700 - - 100/80 arm 20 call det $900 "
                "- - 20/20 } } after 100",
                7 + 9);
    expect_cost("100/100", "scope det { conj det { call det $400 - - 100/100 } }", 4);
    expect_cost("100/100", "not det { call semidet $400 - - 100/0 } after 100", 4);
    expect_cost("100/100",
                "conj det { make det 3 - 3 call det $400 - - 100/100 call det $50 - - 100/100 }",
                4 + 0.5);
}

static void test_duplicate_instantiation(void)
{
    struct fm_feedback_params params = free_of_charge(10);
    const char *notice =
        "Notice:\n  Proc: pred m.p/0-0\n  1 conjunctions not parallelised: Seen duplicate "
        "instantiations\n\n";
    expect_count("10/10", "conj det { call det $900 1 1 10/10 call det $900 - - 10/10 }", &params,
                 0, notice);
    expect_count("10/10", "conj det { call det $900 3 3 10/10 call det $900 3 3 10/10 }", &params,
                 0, notice);
    /* In one of two branches it is bound once. A branch that does not come back does not count. */
    expect_count(
        "10/10",
        "conj det { call det $900 - - 10/10 call det $900 - - 10/10 ite det { test semidet "
        "1 9 after 4 make det 2 - 2 make det 2 - 2 } }",
        &params, 1, NULL);
    expect_count(
        "10/10",
        "conj det { call det $900 - - 10/10 call det $900 - - 10/10 ite det { test semidet "
        "1 9 after 10 make det 2 - 2 foreign erroneous 2 2 } }",
        &params, 1, NULL);
}

static void expect_shared(const char *first, const char *second, const char *names)
{
    struct fm_feedback_params params = free_of_charge(10);
    g_autofree char *body = g_strdup_printf("conj det { %s %s }", first, second);
    g_autoptr(GString) found = g_string_new(NULL);
    params.speedup = FM_SPEEDUP_NAIVE;
    struct result result = search_one("10/10", body, &params);
    const struct fm_candidate *candidate = candidate_of(&result, 0, 0);
    g_assert_true(candidate->dependent == (candidate->shared->len > 0));
    for (guint i = 0; i < candidate->shared->len; i++)
        g_string_append_printf(found, "%u ", g_array_index(candidate->shared, uint32_t, i));
    g_assert_cmpstr(found->str, ==, names);
    end(&result);
}

static void test_consumed_and_bound(void)
{
    expect_shared("call det $900 1,5,6 5,6 10/10", "call det $900 5,7 7 10/10", "5 ");
    expect_shared("ho det 1 5 5 $900 10/10", "ho det 5 - - $900 10/10", "5 "); /* the closure */
    /* Bound on every branch, or not at all. */
    expect_shared("ite det { test semidet 1 9 after 4 call det $900 5,6 5,6 4/4 call det $900 5,8 "
                  "5,8 6/6 }",
                  "call det $900 5,6,8 - 10/10", "5 ");
    expect_shared("switch det 1 { arm 4 call det $900 5,6 5,6 4/4 call det $900 5,8 5,8 6/6 }",
                  "call det $900 5,6,8 - 10/10", "5 ");
    /* The switched variable is consumed. */
    expect_shared("call det $900 5 5 10/10",
                  "switch det 5 { arm 4 call det $900 - - 4/4 call det $900 - - 6/6 }", "5 ");
    /* A negation binds nothing, and consumes what is in it. */
    expect_shared("call det $900 5 5 10/10", "not det { call semidet $900 5,6 6 10/0 } after 10",
                  "5 ");
    expect_shared("not det { call semidet $900 5 5 10/0 } after 10", "call det $900 5 - 10/10", "");
    expect_shared("scope det { call det $900 5 5 10/10 }", "call det $900 5 - 10/10", "5 ");
}

/* --- conjunctions --- */

static void test_sequential_parts(void)
{
    struct fm_feedback_params params = free_of_charge(10);
    struct result result = search_one(
        "10/10",
        "conj det { make det 3 - 3 call det $30 - - 10/10 call det $900 - - 10/10 make det 4 - 4 "
        "call det $800 - - 10/10 call det $50 - - 10/10 make det 5 - 5 }",
        &params);
    const struct fm_candidate *candidate = candidate_of(&result, 0, 0);
    g_assert_cmpuint(candidate->before->len, ==, 2);
    g_assert_cmpuint(candidate->after->len, ==, 2);
    expect(candidate->cost_before, 3);
    expect(candidate->cost_after, 5);
    expect(candidate->metrics.sequential, 3 + 90 + 80 + 5);
    expect(candidate->metrics.parallel, 3 + 90 + 5);
    end(&result);
}

static void test_goals_that_may_fail(void)
{
    struct fm_feedback_params params = free_of_charge(10);
    static const struct {
        const char *between, *told;
    } cases[] = {{"test semidet 1 2 after 10", "semidet"},
                 {"call multi $10 - - 10/10", "multidet"},
                 {"call nondet $10 - - 10/10", "nondet"}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *body = g_strdup_printf(
            "conj nondet { call det $900 - - 10/10 %s call det $900 - - 10/10 }", cases[i].between);
        g_autofree char *told = g_strdup_printf(
            "There are %s_rep goals amongst goals above the parallelisation overhead.",
            cases[i].told);
        expect_count("10/10", body, &params, 0, told);
        /* Outside of the parallel part it may be. */
        g_autofree char *outside = g_strdup_printf(
            "conj nondet { %s call det $900 - - 10/10 call det $900 - - 10/10 }", cases[i].between);
        expect_count("10/10", outside, &params, 1, NULL);
    }
}

static void test_speedup_threshold(void)
{
    struct fm_feedback_params params = free_of_charge(10);
    const char *body = "conj det { call det $900 - - 10/10 call det $900 - - 10/10 }";
    params.speedup_threshold = 1.99;
    expect_count("10/10", body, &params, 1,
                 "Info:\n  Proc: pred m.p/0-0\n  Root goal\n  Found 2 conjuncts above callsite "
                 "threshold\n\n");
    params.speedup_threshold = 2; /* more than that is asked */
    expect_count("10/10", body, &params, 0, NULL);
}

static void test_dependent_not_allowed(void)
{
    struct fm_feedback_params params = free_of_charge(10);
    params.speedup = FM_SPEEDUP_INDEPENDENT;
    expect_count("10/10", "conj det { ho det 1 5 5 $900 10/10 ho det 1 5 - $900 10/10 }", &params,
                 0, NULL);
    expect_count("10/10", "conj det { ho det 1 5 5 $900 10/10 ho det 1 - - $900 10/10 }", &params,
                 1, NULL);
}

static void test_nested(void)
{
    /* Inside: 90 beside 60, that is 90 a call; outside the scope costs 90 and not 150. */
    struct fm_feedback_params params = free_of_charge(10);
    struct result result = search_one("10/10",
                                      "conj det { scope det { conj det { call det $900 - - 10/10 "
                                      "call det $600 - - 10/10 } } call "
                                      "det $700 - - 10/10 }",
                                      &params);
    expect(candidate_of(&result, 0, 0)->metrics.sequential, 90 + 70);
    expect(candidate_of(&result, 0, 0)->metrics.parallel, 90);
    expect(candidate_of(&result, 0, 1)->metrics.sequential, 90 + 60);
    end(&result);
}

/* --- pushing --- */

static void expect_push(const struct fm_push *push, const char *path, int64_t low, int64_t high,
                        const char *targets)
{
    g_autoptr(GString) all = g_string_new(NULL);
    g_assert_nonnull(push);
    g_assert_cmpstr(push->path, ==, path);
    g_assert_cmpint(push->low, ==, low);
    g_assert_cmpint(push->high, ==, high);
    for (guint i = 0; i < push->targets->len; i++)
        g_string_append_printf(all, "%s ", (const char *)push->targets->pdata[i]);
    g_assert_cmpstr(all->str, ==, targets);
}

static void test_push_to_a_goal(void)
{
    /* 4 of 100 calls do 50,000: the whole costs 2,000 a call and is not costly, they are. */
    struct fm_feedback_params params = free_of_charge(5000);
    struct result result = search_one(
        "100/100",
        "conj det { ite det { test semidet 1 9 after 4 call det $200000 - - 4/4 make det 3 - 3 } "
        "make det 4 - 4 call det $3000000 - - 100/100 }",
        &params);
    const struct fm_candidate *candidate = candidate_of(&result, 0, 0);
    g_assert_cmpstr(candidate->path, ==, "c1;t;");
    expect_push(candidate->push, "", 2, 3, "c1;t; ");
    /* As often as what it was put behind; its cost for each of them is as before. */
    g_assert_cmpint(candidate->metrics.calls, ==, 4);
    expect(candidate->metrics.sequential, 50000 + 30000);
    expect(candidate->metrics.parallel, 50000);
    const struct fm_feedback_proc *proc = result.feedback->procs->pdata[0];
    g_assert_cmpuint(proc->pushes->len, ==, 1);
    expect_push(proc->pushes->pdata[0], "", 2, 3, "c1;t; ");
    g_assert_nonnull(
        strstr(result.messages->str, "Found pushed conjuncts above callsite threshold"));
    end(&result);
}

static void test_push_to_a_conjunction(void)
{
    struct fm_feedback_params params = free_of_charge(5000);
    struct result result = search_one(
        "100/100",
        "conj det { switch det 1 { arm 4 conj det { make det 3 - 3 call det $200000 - - 4/4 make "
        "det 5 - 5 } make det 3 - 3 } call det $3000000 - - 100/100 }",
        &params);
    const struct fm_candidate *candidate = candidate_of(&result, 0, 0);
    /* All goals of the inner conjunction stay, the pushed one comes behind them. */
    g_assert_cmpstr(candidate->path, ==, "c1;s1-na;");
    expect_push(candidate->push, "", 2, 2, "c1;s1-na; ");
    g_assert_cmpuint(candidate->before->len, ==, 1);
    expect(candidate->metrics.sequential, 50000 + 30000);
    end(&result);
}

static void test_push_to_several(void)
{
    struct fm_feedback_params params = free_of_charge(5000);
    struct result result = search_one(
        "100/100",
        "conj det { switch det 1 { arm 4 call det $200000 - - 4/4 arm 2 call det $80000 - - 2/2 "
        "make det 3 - 3 } call det $3000000 - - 100/100 }",
        &params);
    g_assert_cmpuint(count_of(&result), ==, 2);
    expect_push(candidate_of(&result, 0, 0)->push, "", 2, 2, "c1;s1-na; ");
    expect_push(candidate_of(&result, 0, 1)->push, "", 2, 2, "c1;s2-na; ");
    const struct fm_feedback_proc *proc = result.feedback->procs->pdata[0];
    g_assert_cmpuint(proc->pushes->len, ==, 1);
    expect_push(proc->pushes->pdata[0], "", 2, 2, "c1;s1-na; c1;s2-na; ");
    end(&result);
}

static void test_push_nowhere(void)
{
    struct fm_feedback_params params = free_of_charge(5000);
    expect_count(
        "100/100",
        "conj det { ite det { conj semidet { test semidet 1 9 after 4 call det $200000 - - "
        "4/4 } make det 3 - 3 make det 3 - 3 } call det $3000000 - - 100/100 }",
        &params, 0, NULL);
    expect_count("100/0",
                 "conj semidet { not semidet { conj semidet { test semidet 1 9 after 4 call det "
                 "$200000 - - 4/4 } } after 0 }",
                 &params, 0, NULL);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define RULE(name) g_test_add_func("/feedback/rule/" #name, test_##name)
    RULE(clique_threshold);
    RULE(desired_parallelism);
    RULE(left_out_modules);
    RULE(told_procedures);
    RULE(loops);
    RULE(told_recursion);
    RULE(order);
    RULE(costly_goals);
    RULE(cost_of_goals);
    RULE(duplicate_instantiation);
    RULE(consumed_and_bound);
    RULE(sequential_parts);
    RULE(goals_that_may_fail);
    RULE(speedup_threshold);
    RULE(dependent_not_allowed);
    RULE(nested);
    RULE(push_to_a_goal);
    RULE(push_to_a_conjunction);
    RULE(push_to_several);
    RULE(push_nowhere);
    return g_test_run();
}
