/* SPDX-License-Identifier: Apache-2.0 */
/* How cliques recurse, rule by rule, through profile and bodies as they are read from files. The
 * rules, each with its test. A level is a number of recursive calls; E = level 0, cost 0, sure.
 *
 *   type of a clique
 *     no entry procedure                                               no_entry
 *     several contexts: mutual                                         mutual
 *     no coverage, no representation, contradiction: errors            not_known
 *     body never entered; no recursive call: none                      none
 *     at most one recursive call: single                               single
 *     none or two, never one: divide and conquer                       divide_and_conquer
 *     anything else: other                                             other
 *     nondet and multi goals that ran are errors, nondet first         solutions
 *   data of a goal
 *     call that recurses; that does not; closures and methods          calls
 *     other atomic goals                                               atomic
 *     conjunction: head that can fail, dead head, empty                conjunction
 *     disjunction                                                      disjunction
 *     switch: arms by their share, the rest that fails                 switch_arms
 *     if-then-else                                                     if_then_else
 *     negation, scope                                                  negation_and_scope
 *     not entered: dead; one dead alternative is left out              dead
 *     a probability beyond 1 is told                                   probability
 *   lists of levels
 *     sequence: all pairs, sorted, equal levels joined                 sequence
 *     join: weighted cost, inclusive or, weight 0                      join
 *   costs
 *     cost at a depth, average depth                                   cost_at_depth
 *     a recursive site: at depth round(D / calls)                      site_cost
 *     why there is none                                                why_no_cost */
#include <math.h>
#include <string.h>

#include "program.h"

struct level {
    uint32_t level;
    double cost, probability;
};

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * MAX(1, fabs(b));
}

static struct program *one(const char *counts, const char *body)
{
    const struct program_proc proc = {"p", "nondet", "1:gg", body};
    return program_new(&proc, 1, counts, FM_COVERAGE_DYNAMIC);
}

static void expect_data(const struct fm_recursion_data *data, const struct level *levels,
                        uint32_t count, uint32_t maximum)
{
    g_assert_false(data->dead);
    g_assert_cmpuint(data->maximum, ==, maximum);
    g_assert_cmpuint(data->level_count, ==, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct fm_recursion_level *level = &data->levels[i];
        if (level->level != levels[i].level || !near(level->cost, levels[i].cost) ||
            !near(level->probability, levels[i].probability))
            g_error("level %u: %.9f with %.9f, expected %u: %.9f with %.9f", level->level,
                    level->cost, level->probability, levels[i].level, levels[i].cost,
                    levels[i].probability);
    }
}

/* The data of a body that is entered `counts` times from outside. */
static void check(const char *counts, const char *body, uint32_t maximum,
                  const struct level *levels, uint32_t count)
{
    struct program *program = one(counts, body);
    const struct fm_pd_body *pd;
    g_autoptr(GError) error = NULL;
    if (!fm_bodies_pd(program->bodies, program->pd[0], &pd, &error))
        g_error("%s", error->message);
    struct fm_recursion_data data;
    fm_recursion_data_of(pd, &data);
    expect_data(&data, levels, count, maximum);
    fm_recursion_data_done(&data);
    program_free(program);
}
#define LEVELS(...)                      \
    (const struct level[]){__VA_ARGS__}, \
        sizeof((const struct level[]){__VA_ARGS__}) / sizeof(struct level)

static void expect_error(const struct fm_recursion *r, uint32_t number, const char *text)
{
    g_assert_cmpint(r->kind, ==, FM_RECURSION_ERRORS);
    g_assert_cmpuint(r->error_count, >, number);
    g_assert_cmpstr(r->errors[number], ==, text);
}

/* --- types --- */

static void test_no_entry(void)
{
    struct program *program = one("3/3", "make det 1 - 1");
    uint32_t root = program->analysis->pd_clique[program->profile->root_pd];
    const struct fm_recursion *r = fm_bodies_recursion(program->bodies, root);
    expect_error(r, 0, "This clique doesn't appear to have an entry procedure");
    program_free(program);
}

static void test_mutual(void)
{
    const struct program_proc procs[] = {
        {"p", "det", "", "ite det { test semidet 1 2 after 2 make det 1 - 1 call det q - - 3/3 }"},
        {"q", "det", "", "call det p - - 3/3"}};
    struct program *program = program_new(procs, 2, "2/2", FM_COVERAGE_DYNAMIC);
    g_assert_cmpuint(program_clique(program, 0), ==, program_clique(program, 1));
    const struct fm_recursion *r = fm_bodies_recursion(program->bodies, program_clique(program, 0));
    g_assert_cmpint(r->kind, ==, FM_RECURSION_MUTUAL);
    g_assert_cmpuint(r->member_count, ==, 2);
    program_free(program);
}

static void test_not_known(void)
{
    const struct program_proc proc = {"p", "det", "", "call det $9 - - 9/9"};
    struct program *program = program_new(&proc, 1, "9/9", FM_COVERAGE_NONE);
    expect_error(fm_bodies_recursion(program->bodies, program_clique(program, 0)), 0,
                 "No coverage information available");
    program_free(program);
    program = program_new(&proc, 1, "9/9", FM_COVERAGE_DYNAMIC);
    uint32_t leaf = program->profile->csd_callee[program->edge[0]] + 1;
    expect_error(fm_bodies_recursion(program->bodies, program->analysis->pd_clique[leaf]), 0,
                 "Cannot find procedure representation");
    struct fm_bodies *none = fm_bodies_new(program->analysis, NULL, NULL);
    expect_error(fm_bodies_recursion(none, program_clique(program, 0)), 0,
                 "There is no readable procedure representation information file.");
    fm_bodies_free(none);
    struct fm_bodies *bad = fm_bodies_new(program->analysis, NULL, "x.procrep: byte 7: odd");
    expect_error(fm_bodies_recursion(bad, program_clique(program, 0)), 0,
                 "Error reading procedure representation information file: x.procrep: byte 7: odd");
    fm_bodies_free(bad);
    program_free(program);
    program = one("8/8", "call det $9 - - 9/9");
    const struct fm_recursion *r = fm_bodies_recursion(program->bodies, program_clique(program, 0));
    g_assert_cmpint(r->kind, ==, FM_RECURSION_ERRORS);
    g_assert_nonnull(strstr(r->errors[0], "reached 8 times, but the calls are 9"));
    program_free(program);
}

static void expect_kind(const char *counts, const char *body, enum fm_recursion_kind kind,
                        double depth)
{
    struct program *program = one(counts, body);
    const struct fm_recursion *r = fm_bodies_recursion(program->bodies, program_clique(program, 0));
    g_assert_cmpint(r->kind, ==, kind);
    g_assert_true(depth < 0 ? r->depth < 0 : near(r->depth, depth));
    program_free(program);
}

static void test_none(void)
{
    expect_kind("0/0", "call multi $0 - - 0/0", FM_RECURSION_NONE, 0); /* never entered */
    expect_kind("7/7", "call det $70 - - 7/7", FM_RECURSION_NONE, 0);
}

/* 40 calls from outside, 60 recursive ones: each goes 100 / 40 deep. */
#define LOOP                                                                           \
    "switch det 1 { arm 40 call det $80 - - 40/40 conj det { call det $180 - - 60/60 " \
    "call det p - - 60/60 } }"

static void test_single(void)
{
    struct program *program = one("40/40", LOOP);
    const struct fm_recursion *r = fm_bodies_recursion(program->bodies, program_clique(program, 0));
    g_assert_cmpint(r->kind, ==, FM_RECURSION_SINGLE);
    g_assert_true(near(r->total_calls, 100) && near(r->parent_calls, 40));
    g_assert_true(near(r->depth, 2.5));
    g_assert_true(near(r->base_cost, 2) && near(r->base_probability, 0.4));
    g_assert_true(near(r->recursive_cost, 3) && near(r->recursive_probability, 0.6));
    program_free(program);
}

#define TREE                                                                                  \
    "switch det 1 { arm 5 make det 2 - 2 conj det { call det p - - 4/4 call det $12 - - 4/4 " \
    "call det p - - 4/4 } }"

static void test_divide_and_conquer(void)
{
    expect_kind("1/1", TREE, FM_RECURSION_DIVIDE, -1);
    check("1/1", TREE, 2, LEVELS({0, 0, 5.0 / 9}, {2, 3, 4.0 / 9}));
}

static void test_other(void)
{
    /* One, or two: */
    expect_kind("1/1",
                "switch det 1 { arm 2 make det 2 - 2 arm 2 call det p - - 2/2 conj det { call det "
                "p - - 1/1 call det p - - 1/1 } }",
                FM_RECURSION_OTHER, -1);
    /* Three at once: */
    expect_kind("1/1",
                "switch det 1 { arm 5 make det 2 - 2 conj det { call det p - - 2/2 call det p - - "
                "2/2 call det p - - 2/2 } }",
                FM_RECURSION_OTHER, -1);
}

static void test_solutions(void)
{
    static const char *const words[] = {"nondet_rep code is not handled",
                                        "multidet_rep code is not handled"};
    static const struct {
        const char *body;
        bool nondet, multi;
    } cases[] = {{"scope det { call nondet $5 - - 5/5 }", true, false},
                 {"scope multi { call det $5 - - 5/5 }", false, true},
                 {"conj multi { call multi $5 - - 5/5 call nondet $5 - - 5/5 }", true, true},
                 {"conj det { call cc_multi $5 - - 5/5 call cc_nondet $5 - - 5/5 }", false, false},
                 /* one that never ran does not count */
                 {"ite det { test semidet 1 2 after 5 make det 1 - 1 call nondet $0 - - 0/0 }",
                  false, false}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct program *program = one("5/5", cases[i].body);
        const struct fm_recursion *r =
            fm_bodies_recursion(program->bodies, program_clique(program, 0));
        g_assert_cmpuint(r->error_count, ==, cases[i].nondet + cases[i].multi);
        if (cases[i].nondet)
            expect_error(r, 0, words[0]);
        if (cases[i].multi)
            expect_error(r, cases[i].nondet, words[1]);
        program_free(program);
    }
}

/* --- data of goals --- */

static void test_calls(void)
{
    check("9/9", "call det $45 - - 9/9", 0, LEVELS({0, 5, 1}));
    check("9/9", "special det $45 - - 9/9", 0, LEVELS({0, 5, 1}));
    check("9/9", "ho det 1 - - $45 9/9", 0, LEVELS({0, 5, 1}));
    check("9/9", "method det 1 - - $45 9/9", 0, LEVELS({0, 5, 1}));
    /* What recurses is level 1 and costs nothing of its own, through a closure too. */
    check("2/2", "ite det { test semidet 1 2 after 2 make det 1 - 1 call det p - - 3/3 }", 1,
          LEVELS({0, 0, 0.4}, {1, 0, 0.6}));
    check("2/2", "ite det { test semidet 1 2 after 2 make det 1 - 1 ho det 1 - - p 3/3 }", 1,
          LEVELS({0, 0, 0.4}, {1, 0, 0.6}));
}

static void test_atomic(void)
{
    static const char *const goals[] = {
        "make det 1 - 1",  "take det 1 2 2",  "assign det 1 2", "cast det 1 2",
        "foreign det - -", "builtin det - -", "event det - -",  "callback det $8 - - 4/4"};
    for (size_t i = 0; i < G_N_ELEMENTS(goals); i++)
        check("4/4", goals[i], 0, LEVELS({0, 0, 1}));
}

static void test_conjunction(void)
{
    check("4/4", "conj det { }", 0, LEVELS({0, 0, 1}));
    check("4/4", "conj det { call det $8 - - 4/4 call det $12 - - 4/4 }", 0, LEVELS({0, 5, 1}));
    /* The head fails every other time; joined: (0.5 * 3 + 0.5 * 0) / 1, of both. */
    check("8/4", "conj semidet { test semidet 1 2 after 4 call det $12 - - 4/4 }", 0,
          LEVELS({0, 1.5, 1}));
    /* More successes than calls: sure. */
    check("4/12", "conj nondet { call nondet $4 - - 4/12 call det $24 - - 12/12 }", 0,
          LEVELS({0, 3, 1}));
    /* What never ran behind a head that fails is left out. */
    check("8/0", "conj semidet { test semidet 1 2 after 0 call det $0 - - 0/0 }", 0,
          LEVELS({0, 0, 1}));
}

static void test_disjunction(void)
{
    /* Last: 2 with ALT(0.5 E, 0.5 E), that is 2 with 1. Before it: ALT(0.25 E, 0.75 of it). */
    check("8/5", "disj semidet { test semidet 1 2 after 2 arm 6 call semidet $12 - - 6/3 }", 0,
          LEVELS({0, 1.5, 1}));
    check("4/0", "disj failure { }", 0, LEVELS({0, 0, 1}));
}

static void test_switch_arms(void)
{
    /* Complete: a rest of probability 0 stands behind the last arm. */
    check("8/8", "switch det 1 { arm 2 make det 2 - 2 call det $18 - - 6/6 }", 0,
          LEVELS({0, 2.25, 1}));
    /* Half of the entries have no arm: that is E with 0.5. */
    check("8/4", "switch? semidet 1 { arm 4 call det $12 - - 4/4 } after 4", 0,
          LEVELS({0, 1.5, 1}));
}

static void test_if_then_else(void)
{
    check("8/8", "ite det { call semidet $16 - - 8/2 call det $6 - - 2/2 call det $30 - - 6/6 }", 0,
          LEVELS({0, 2 + 0.25 * 3 + 0.75 * 5, 1}));
}

static void test_negation_and_scope(void)
{
    check("8/2", "not semidet { call semidet $24 - - 8/6 } after 2", 0, LEVELS({0, 3, 1}));
    check("8/8", "scope det { call det $24 - - 8/8 }", 0, LEVELS({0, 3, 1}));
    check("8/8", "cut cc_multi { call det $24 - - 8/8 } after 8", 0, LEVELS({0, 3, 1}));
}

static void test_dead(void)
{
    /* The branch that never ran is left out of the alternatives: nothing is joined. */
    check("8/8", "ite det { test semidet 1 2 after 8 call det $24 - - 8/8 call det $0 - - 0/0 }", 0,
          LEVELS({0, 3, 1}));
    check("8/8", "switch det 1 { arm 0 call det $0 - - 0/0 call det $24 - - 8/8 }", 0,
          LEVELS({0, 3, 1}));
}

static void test_probability(void)
{
    struct program *program = one(
        "10/25", "ite nondet { call nondet $10 - - 10/25 make det 1 - 1 arm 0 make det 1 - 1 }");
    const struct fm_recursion *r = fm_bodies_recursion(program->bodies, program_clique(program, 0));
    g_assert_cmpint(r->kind, ==, FM_RECURSION_ERRORS);
    g_assert_cmpstr(r->errors[r->error_count - 1], ==,
                    "Probability 2.500000 out of range 0.0 to 1.0 inclusive");
    program_free(program);
}

/* --- lists of levels --- */

static void test_sequence(void)
{
    /* Twice: 0.5 of level 0 that costs 0, 0.5 of level 1. All pairs: level 0 with 0.25, level 1
     * twice with 0.25, level 2 with 0.25; of level 1 the cheaper first, joined. The first branch
     * costs 2 beside its recursive call, the second 4. */
    check(
        "2/2",
        "switch det 1 { arm 2 make det 2 - 2 conj det { "
        "ite det { test semidet 1 2 after 2 make det 2 - 2 conj det { call det $4 - - 2/2 call det "
        "p - - 2/2 } } ite det { test semidet 1 2 after 2 make det 2 - 2 conj det { call det $8 - "
        "- 2/2 call det p - - 2/2 } } } }",
        2,
        LEVELS({0, 0, 2.0 / 6 + 0.25 * 4 / 6}, {1, 3, (0.25 + 0.25) * 4 / 6},
               {2, 6, 0.25 * 4 / 6}));
}

static void test_join(void)
{
    /* Both arms recurse: level 0 is the rest of a complete switch, of probability and cost 0, and
     * stays; level 1 is 0.5 + 0.5. */
    check("1/1",
          "switch det 1 { arm 1 make det 2 - 2 switch det 1 { arm 2 call det p - - 2/2 call det p "
          "- - 2/2 } }",
          1, LEVELS({0, 0, 0.2}, {1, 0, 0.8}));
}

/* --- costs --- */

static void test_cost_at_depth(void)
{
    struct program *program = one("40/40", LOOP);
    const struct fm_recursion *r = fm_bodies_recursion(program->bodies, program_clique(program, 0));
    g_assert_true(near(fm_recursion_cost_at(r, 0), 2));
    g_assert_true(near(fm_recursion_cost_at(r, 1), 2 + 1 * (3 + 1)));
    g_assert_true(near(fm_recursion_cost_at(r, 7), 2 + 7 * (3 + 1)));
    g_assert_true(near(fm_round_half_up(2.5), 3) && near(fm_round_half_up(-0.5), 0) &&
                  near(fm_round_half_up(2.4999), 2));
    program_free(program);
}

/* One level above the end in one run, and so in a sum of three that are like it. */
static void test_site_cost(void)
{
    static const struct {
        const char *counts, *body;
        int64_t calls;
        double cost;
    } cases[] = {
        {"1/1",
         "switch det 1 { arm 1 conj det { call det $2 - - 1/1 make det 2 - 2 } conj det { call det "
         "$180 - - 60/60 call det p - - 60/60 } }",
         60, 2 + 4},
        {"3/3",
         "switch det 1 { arm 3 conj det { call det $6 - - 3/3 make det 2 - 2 } conj det { call det "
         "$540 - - 180/180 call det p - - 180/180 } }",
         180, 2 + 4},
        {"3/3",
         "switch det 1 { arm 3 conj det { call det $6 - - 3/3 make det 2 - 2 } conj det { call det "
         "$540 - - 180/180 call det p - - 180/180 } }",
         600, 2}, /* another site of the loop: round(61 / 200) */
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct program *program = one(cases[i].counts, cases[i].body);
        const struct fm_recursion *r =
            fm_bodies_recursion(program->bodies, program_clique(program, 0));
        struct fm_site_cost site = {.calls = cases[i].calls, .recursive = true};
        g_assert_cmpint(r->kind, ==, FM_RECURSION_SINGLE);
        g_assert_true(near(fm_recursion_site_cost(r, &site), cases[i].cost));
        program_free(program);
    }
}

static void test_why_no_cost(void)
{
    static const struct {
        const char *counts, *body, *why;
    } cases[] = {{"7/7", "call det $70 - - 7/7", NULL},
                 {"40/40", LOOP, NULL},
                 {"1/1", TREE, "No average recursion depth for this recursion type"},
                 {"1/1",
                  "switch det 1 { arm 5 make det 2 - 2 conj det { call det p - - 2/2 call det p - "
                  "- 2/2 call "
                  "det p - - 2/2 } }",
                  "Could not detect recursion type"},
                 {"5/5", "conj multi { call multi $5 - - 5/5 call nondet $5 - - 5/5 }",
                  "nondet_rep code is not handled; and multidet_rep code is not handled"}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct program *program = one(cases[i].counts, cases[i].body);
        g_autofree char *why = fm_recursion_why_no_cost(
            fm_bodies_recursion(program->bodies, program_clique(program, 0)));
        g_assert_cmpstr(why, ==, cases[i].why);
        program_free(program);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define RULE(name) g_test_add_func("/recursion/rule/" #name, test_##name)
    RULE(no_entry);
    RULE(mutual);
    RULE(not_known);
    RULE(none);
    RULE(single);
    RULE(divide_and_conquer);
    RULE(other);
    RULE(solutions);
    RULE(calls);
    RULE(atomic);
    RULE(conjunction);
    RULE(disjunction);
    RULE(switch_arms);
    RULE(if_then_else);
    RULE(negation_and_scope);
    RULE(dead);
    RULE(probability);
    RULE(sequence);
    RULE(join);
    RULE(cost_at_depth);
    RULE(site_cost);
    RULE(why_no_cost);
    return g_test_run();
}
