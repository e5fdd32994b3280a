/* SPDX-License-Identifier: Apache-2.0 */
/* When variables are made and used, rule by rule, through profile and bodies as they are read from
 * files. Times are calls made since the beginning. The rules, each with its test:
 *
 *   use types by insts                                               use_types
 *   what is not looked into: at once, or at the end                  pessimistic
 *   following an edge
 *     into another clique: its entry's body, one call more           edge_to_a_body
 *     a clique that is mutual, divides, or is not known              edge_to_other_cliques
 *     only callees of one module                                     one_module
 *     recursive: active already, one level down, no depth, no type   recursive_edges
 *   walk through a body
 *     conjunction: the first that finds it ends it                   conjunction
 *     disjunction: first, average, of many solutions                 disjunction
 *     switch: switched variable, average, arms that do not find it   switch_arms
 *     if-then-else: condition, average, branches that do not         if_then_else
 *     negation, scope: what is inside                                negation_and_scope
 *     calls: first of several places, closures, special sites        calls
 *     atomic goals: mention, binding                                 atomic
 *     what never ran, or cannot produce, is passed over              passed_over
 *     not found: used at the end                                     not_found
 *   single recursion
 *     probability of recursion of each kind of goal                  probabilities
 *     base time + depth * recursive time                             induction
 *     conjunctions go on after the find; branches swap sides         induction_differences
 *     disjunctions: rest by failure, before or after                 induction_disjunction */
#include <math.h>
#include <string.h>

#include "mercury/body/var_use.h"
#include "program.h"

static void expect(double value, double expected)
{
    if (fabs(value - expected) > 1e-9 * MAX(1, fabs(expected)))
        g_error("%.9f, expected %.9f", value, expected);
}

/* Of the runtime's call of the first procedure. */
static struct fm_var_use use_of(struct program *program, const char *module, uint32_t argument,
                                enum fm_var_use_type type)
{
    struct fm_var_use_search *search = fm_var_use_search_new(program->bodies, module, false);
    const struct fm_recursion *r = fm_bodies_recursion(program->bodies, program_clique(program, 0));
    struct fm_var_use use;
    char *why;
    if (!fm_var_use_of_call(search, program->edge[0], argument, type, 0, r, -1, &use, &why))
        g_error("%s", why);
    fm_var_use_search_free(search);
    return use;
}

/* Variable 1 is consumed, 2 produced, 3 consumed, 4 something else. The time without the call
 * itself. */
#define HEADS "1:gg 2:fg 3:gg 4:oo"
static void check(const char *counts, const char *body, uint32_t var, double expected)
{
    static const enum fm_var_use_type types[] = {FM_USE_CONSUMPTION, FM_USE_PRODUCTION,
                                                 FM_USE_CONSUMPTION, FM_USE_OTHER};
    const struct program_proc proc = {"p", "nondet", HEADS, body};
    struct program *program = program_new(&proc, 1, counts, FM_COVERAGE_DYNAMIC);
    expect(use_of(program, NULL, var - 1, types[var - 1]).time, expected + 1);
    program_free(program);
}

/* Of a body as a goal: also where its clique's recursion is not known. */
static void check_goal(const char *counts, const char *body, uint32_t var,
                       enum fm_var_use_type type, double expected)
{
    const struct program_proc proc = {"p", "nondet", HEADS, body};
    struct program *program = program_new(&proc, 1, counts, FM_COVERAGE_DYNAMIC);
    struct fm_var_use_search *search = fm_var_use_search_new(program->bodies, NULL, false);
    const struct fm_pd_body *pd;
    struct fm_var_use use;
    char *why = NULL;
    g_assert_true(fm_bodies_pd(program->bodies, program->pd[0], &pd, NULL));
    g_assert_true(fm_var_use_of_goal(search, pd, 0, var, type, 99, 0, &use, &why));
    expect(use.time, expected);
    fm_var_use_search_free(search);
    program_free(program);
}

static void test_use_types(void)
{
    static const struct {
        enum fm_inst before, after;
        enum fm_var_use_type type;
    } cases[] = {{FM_INST_FREE, FM_INST_GROUND, FM_USE_PRODUCTION},
                 {FM_INST_GROUND, FM_INST_GROUND, FM_USE_CONSUMPTION},
                 {FM_INST_FREE, FM_INST_FREE, FM_USE_OTHER},
                 {FM_INST_FREE, FM_INST_OTHER, FM_USE_OTHER},
                 {FM_INST_OTHER, FM_INST_GROUND, FM_USE_OTHER},
                 {FM_INST_OTHER, FM_INST_OTHER, FM_USE_OTHER},
                 {FM_INST_GROUND, FM_INST_OTHER, FM_USE_OTHER}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct fm_head_var head = {1, cases[i].before, cases[i].after};
        g_assert_cmpint(fm_var_use_type_of(&head), ==, cases[i].type);
    }
}

static void test_pessimistic(void)
{
    expect(fm_var_use_pessimistic(FM_USE_CONSUMPTION, 7).time, 0);
    expect(fm_var_use_pessimistic(FM_USE_PRODUCTION, 7).time, 7);
    expect(fm_var_use_pessimistic(FM_USE_OTHER, 7).time, 7);
    expect(fm_var_use_pessimistic(FM_USE_CONSUMPTION, 7).cost, 7);
}

/* --- following an edge --- */

static void test_edge_to_a_body(void)
{
    const struct program_proc procs[] = {
        {"p", "det", "1:gg 2:fg", "conj det { call det $20 - - 10/10 call det q 1,2 2 10/10 }"},
        {"q", "det", "1:gg 2:fg",
         "conj det { call det $30 - - 10/10 event det 1 - call det $40 - - 10/10 make det 2 - 2 "
         "}"}};
    struct program *program = program_new(procs, 2, "10/10", FM_COVERAGE_DYNAMIC);
    expect(use_of(program, NULL, 0, FM_USE_CONSUMPTION).time, 1 + 2 + 1 + 3);
    expect(use_of(program, NULL, 1, FM_USE_PRODUCTION).time, 1 + 2 + 1 + 7);
    /* 2 + 1 + 3 + 4 calls below it, one of its own */
    expect(use_of(program, NULL, 1, FM_USE_PRODUCTION).cost, 10 + 1);
    program_free(program);
}

static void test_edge_to_other_cliques(void)
{
    /* A library procedure without body: pessimistic with what lies below it, 4 a call. */
    check("10/10", "conj det { call det $30 - - 10/10 call det $50 1,2 2 10/10 }", 2, 3 + 4);
    check("10/10", "conj det { call det $30 - - 10/10 call det $50 1,2 2 10/10 }", 1, 3);
    /* One that divides: used at once, made at the end; without the call itself. */
    const struct program_proc tree = {
        "p", "det", "1:gg 2:fg",
        "switch det 1 { arm 5 make det 2 - 2 conj det { call det p 1,3 3 4/4 call det $12 - - 4/4 "
        "call det p 1,2 2 4/4 } }"};
    struct program *program = program_new(&tree, 1, "1/1", FM_COVERAGE_DYNAMIC);
    expect(use_of(program, NULL, 0, FM_USE_CONSUMPTION).time, 0);
    expect(use_of(program, NULL, 1, FM_USE_PRODUCTION).time, 8 + 12);
    program_free(program);
}

static void test_one_module(void)
{
    const struct program_proc procs[] = {
        {"p", "det", "1:gg 2:fg", "call det q 1,2 2 10/10"},
        {"other.q", "det", "1:gg 2:fg",
         "conj det { call det $30 1 - 10/10 make det 2 - 2 call det $40 - - 10/10 }"}};
    struct program *program = program_new(procs, 2, "10/10", FM_COVERAGE_DYNAMIC);
    expect(use_of(program, NULL, 1, FM_USE_PRODUCTION).time, 1 + 1 + 3);
    expect(use_of(program, "m", 1, FM_USE_PRODUCTION).time, 1 + 7);
    expect(use_of(program, "m", 0, FM_USE_CONSUMPTION).time, 1 + 0);
    expect(use_of(program, "other", 1, FM_USE_PRODUCTION).time, 8); /* not even the first */
    program_free(program);
}

/* Base case: 2, then made. Recursive case: 3 with variable 3, then the recursive call. 40 calls
 * from outside, 60 recursive: depth 2.5. */
static const struct program_proc loop = {
    "p", "det", "1:gg 2:fg 3:gg",
    "switch det 1 { arm 40 conj det { call det $80 - - 40/40 make det 2 - 2 } conj det { call det "
    "$180 3 - 60/60 call det p 1,2,3 2 60/60 } }"};

static uint32_t recursive_edge(const struct program *program)
{
    const struct fm_profile *profile = program->profile;
    for (uint32_t csd = 1; csd <= profile->csd_count; csd++) {
        if (profile->csd_caller[csd] == program->pd[0] &&
            profile->csd_callee[csd] == program->pd[0])
            return csd;
    }
    g_error("no recursive edge");
}

static bool recursive_use(struct program *program, const char *module, double depth,
                          struct fm_var_use *ret, char **why)
{
    struct fm_var_use_search *search = fm_var_use_search_new(program->bodies, module, false);
    const struct fm_recursion *r = fm_bodies_recursion(program->bodies, program_clique(program, 0));
    bool ok = fm_var_use_of_call(search, recursive_edge(program), 1, FM_USE_PRODUCTION, 42, r,
                                 depth, ret, why);
    fm_var_use_search_free(search);
    return ok;
}

static void test_recursive_edges(void)
{
    struct program *program = program_new(&loop, 1, "40/40", FM_COVERAGE_DYNAMIC);
    struct fm_var_use use;
    g_autofree char *unknown = NULL, *module = NULL, *down = NULL, *type = NULL;
    /* One level down from 2.5; inside, the procedure is active: 1. */
    g_assert_true(recursive_use(program, NULL, 2.5, &use, &down));
    expect(use.time, 1 + 2 + 1.5 * (3 + 1));
    g_assert_true(recursive_use(program, "elsewhere", 2.5, &use, &module));
    expect(use.time, 42);
    g_assert_false(recursive_use(program, NULL, -1, &use, &unknown));
    g_assert_cmpstr(
        unknown, ==,
        "Cannot compute var use on a recursive call site for an unknown recursion depth");
    program_free(program);
    const struct program_proc tree = {
        "p", "det", "1:gg 2:fg",
        "switch det 1 { arm 5 make det 2 - 2 conj det { call det p 1,2 2 4/4 call det p 1,2 - 4/4 "
        "} }"};
    program = program_new(&tree, 1, "1/1", FM_COVERAGE_DYNAMIC);
    g_assert_false(recursive_use(program, NULL, 2, &use, &type));
    g_assert_cmpstr(
        type, ==, "Cannot compute var use on a recursive call site for an unknown recursion type");
    program_free(program);
}

/* --- walk through a body --- */

static void test_conjunction(void)
{
    const char *body = "conj det { call det $30 - - 10/10 event det 1,4 - call det $40 - - 10/10 "
                       "make det 2 1 2 }";
    check("10/10", body, 1, 3);
    check("10/10", body, 4, 3);
    check("10/10", body, 2, 7);
}

#define FIRST "conj semidet { call det $20 - - 10/10 test semidet 8 9 after 4 make det 2 1 2 }"
#define SECOND "conj semidet { call det $12 - - 6/6 test semidet 8 9 after 3 make det 2 1 2 }"
#define OTHER "conj semidet { call det $12 - - 6/6 test semidet 8 9 after 3 make det 7 - 7 }"

static void test_disjunction(void)
{
    const char *both = "disj semidet { " FIRST " arm 6 " SECOND " }";
    check("10/7", both, 1, 2); /* consumed: the first */
    check("10/7", both, 2, (10 * 2 + 6 * 4) / 16.0);
    check("10/7", "disj semidet { " FIRST " arm 6 " OTHER " }", 2, 2);
    /* The time goes on through all disjuncts. */
    check("10/7", "conj semidet { disj semidet { " FIRST " arm 6 " OTHER " } event det 3 - }", 3,
          4);
    /* Of many solutions: before it, or behind it. */
    const char *many =
        "conj nondet { call det $30 - - 10/10 disj nondet { " FIRST " arm 6 " SECOND " } }";
    check_goal("10/7", many, 1, FM_USE_CONSUMPTION, 3);
    check_goal("10/7", many, 2, FM_USE_PRODUCTION, 3 + 4);
}

static void test_switch_arms(void)
{
    const char *body = "conj det { call det $30 - - 10/10 switch det 3 { arm 4 conj det { call det "
                       "$8 - - 4/4 make det 2 1,4 2 } conj det { call det $30 - - 6/6 make det 2 - "
                       "2 } } }";
    double end = (4 * 5 + 6 * 8) / 10.0;
    check("10/10", body, 3, 3);
    check("10/10", body, 2, end);
    check("10/10", body, 1, (4 * 5 + 6 * end) / 10); /* the other arm: its end */
    check("10/10", body, 4, (4 * 5 + 6 * 3) / 10.0); /* the other arm: where the switch begins */
}

static void test_if_then_else(void)
{
    const char *body = "conj det { call det $30 - - 10/10 ite det { call semidet $20 3 - 10/4 conj "
                       "det { call det $8 - - 4/4 make det 2 1,4 2 } conj det { call det $30 - - "
                       "6/6 make det 2 - 2 } } }";
    double end = (4 * 7 + 6 * 10) / 10.0;
    check("10/10", body, 3, 3); /* in the condition */
    check("10/10", body, 2, end);
    check("10/10", body, 1, (4 * 7 + 6 * 5) / 10.0); /* the other branch: behind the condition */
    check("10/10", body, 4, (4 * 7 + 6 * end) / 10); /* the other branch: behind it all */
}

static void test_negation_and_scope(void)
{
    check(
        "10/4",
        "not semidet { conj semidet { call det $30 - - 10/10 test semidet 1 8 after 6 } } after 4",
        1, 3);
    check("10/10", "scope det { conj det { call det $30 - - 10/10 make det 2 - 2 } }", 2, 3);
    check("10/10", "cut det { conj det { call det $30 - - 10/10 make det 2 - 2 } } after 10", 2, 3);
}

static void test_calls(void)
{
    /* The argument stands at two places: the earlier use counts. */
    const struct program_proc procs[] = {
        {"p", "det", "1:gg", "call det q 1,1 - 10/10"},
        {"q", "det", "1:gg 2:gg",
         "conj det { call det $30 - - 10/10 event det 2 - call det $40 - - 10/10 event det 1 - }"}};
    struct program *program = program_new(procs, 2, "10/10", FM_COVERAGE_DYNAMIC);
    expect(use_of(program, NULL, 0, FM_USE_CONSUMPTION).time, 1 + 1 + 3);
    program_free(program);
    /* A closure or method is needed, and makes its results, where it is called. */
    static const char *const kinds[] = {"ho", "method"};
    for (int i = 0; i < 2; i++) {
        g_autofree char *body = g_strdup_printf(
            "conj det { call det $30 - - 10/10 %s det 1 2,3 2 $50 10/10 }", kinds[i]);
        check("10/10", body, 1, 3);
        check("10/10", body, 2, 3);
        check("10/10", body, 3, 3);
    }
    /* Of a special site the whole cost, the call itself too. */
    const char *special = "conj det { call det $30 - - 10/10 special det $50 1,2 2 10/10 }";
    check("10/10", special, 2, 3 + 5);
    check("10/10", special, 1, 3);
}

static void test_atomic(void)
{
    static const char *const mentions[] = {
        "make det 8 1 8", "take det 1 8 8",    "partial det 8 1,_ 8", "assign det 8 1",
        "cast det 8 1",   "foreign det 8,1 -", "builtin det 8,1 -",   "event det 1 -"};
    for (size_t i = 0; i < G_N_ELEMENTS(mentions); i++) {
        g_autofree char *body = g_strdup_printf(
            "conj det { call det $30 - - 10/10 %s call det $10 - - 10/10 }", mentions[i]);
        check("10/10", body, 1, 3);
    }
    check("10/5", "conj semidet { call det $30 - - 10/10 test semidet 8 1 after 5 }", 1, 3);
    /* To mention a variable is not to make it. */
    check("10/10", "conj det { event det 2 - call det $30 - - 10/10 foreign det 1,2 2 }", 2, 3);
}

static void test_passed_over(void)
{
    /* What never ran. */
    check("10/10",
          "conj det { ite det { test semidet 8 9 after 10 make det 8 - 8 event det 1 - } call det "
          "$30 - - 10/10 event det 1 - }",
          1, 3);
    /* A branch that does not come back makes nothing: it ends where it began, at 0. */
    double end = 4 * 2 / 10.0;
    check("10/4",
          "ite det { test semidet 8 9 after 4 conj det { call det $8 - - 4/4 make det 2 - 2 } call "
          "erroneous $60 2 2 6/0! }",
          2, (4 * 2 + 6 * end) / 10);
    /* Nor one that never succeeded. */
    check("10/4",
          "ite semidet { test semidet 8 9 after 4 conj det { call det $8 - - 4/4 make det 2 - 2 } "
          "call semidet $60 2 2 6/0 }",
          2, (4 * 2 + 6 * end) / 10);
}

static void test_not_found(void)
{
    check("10/10", "call det $30 - - 10/10", 1, 3);
    check("10/10", "call det $30 - - 10/10", 4, 3);
}

/* --- single recursion --- */

static void check_probability(const char *counts, const char *body, const char *path,
                              double expected)
{
    const struct program_proc proc = {"p", "semidet", "", body};
    struct program *program = program_new(&proc, 1, counts, FM_COVERAGE_DYNAMIC);
    const struct fm_pd_body *pd;
    g_autoptr(GError) error = NULL;
    if (!fm_bodies_pd(program->bodies, program->pd[0], &pd, &error))
        g_error("%s", error->message);
    g_autofree double *r = fm_recursion_probabilities(pd);
    expect(r[program_goal(program, 0, path)], expected);
    program_free(program);
}

static void test_probabilities(void)
{
    const char *conj = "switch semidet 1 { arm 6 make det 2 - 2 conj semidet { test semidet 1 2 "
                       "after 4 call det p - - 4/4 } }";
    check_probability("10/6", conj, "s2-na;c2;", 1);
    check_probability("10/6", conj, "s2-na;c1;", 0);
    check_probability("10/6", conj, "s2-na;", 0.5);
    check_probability("10/6", conj, "", 8 * 0.5 / 14);
    check_probability(
        "2/2", "disj semidet { test semidet 1 2 after 2 arm 6 call semidet p - - 6/3 }", "", 0.75);
    check_probability(
        "4/4", "ite det { test semidet 1 2 after 4 make det 1 - 1 call det p - - 6/6 }", "", 0.6);
    check_probability(
        "4/4",
        "ite det { conj semidet { test semidet 1 2 after 4 call semidet p - - 4/4 } make det 1 - 1 "
        "make det 1 - 1 }",
        "", 4.0 / 8);
    check_probability("3/3",
                      "ite det { test semidet 1 2 after 3 make det 1 - 1 scope det { conj det { "
                      "call det p - - 6/6 } } }",
                      "e;q;", 1);
    /* Those entries of a switch that have no arm have no share in the average. */
    check_probability("4/2",
                      "switch? semidet 1 { arm 2 make det 2 - 2 arm 4 call det p - - 4/4 } after 6",
                      "", 4.0 / 6);
    check_probability("3/3",
                      "ite det { test semidet 1 2 after 3 make det 1 - 1 call det p - - 0/0 }",
                      "e;", 0); /* never entered */
}

static void test_induction(void)
{
    struct program *program = program_new(&loop, 1, "40/40", FM_COVERAGE_DYNAMIC);
    /* Recursive: 3, then 1 into the recursive call; base: 2. */
    struct fm_var_use made = use_of(program, NULL, 1, FM_USE_PRODUCTION);
    expect(made.time, 1 + 2 + 1.5 * (3 + 1));
    /* Recursive: 3 and the recursive call at depth round(2.5 / 1.5), in each of 40 runs. */
    expect(made.cost, 1 + 0.6 * (3 + 2 + 2 * 4) + 0.4 * 2);
    expect(use_of(program, NULL, 0, FM_USE_CONSUMPTION).time, 1);
    /* Not used in the base case: there its end counts. */
    expect(use_of(program, NULL, 2, FM_USE_CONSUMPTION).time, 1 + 2 + 1.5 * 0);
    program_free(program);
    /* Nowhere used: 0 in both cases, unlike in a body that does not recurse. */
    const struct program_proc unused = {
        "p", "det", "1:gg 2:gg",
        "switch det 1 { arm 40 call det $80 - - 40/40 call det p 1,1 - 60/60 }"};
    program = program_new(&unused, 1, "40/40", FM_COVERAGE_DYNAMIC);
    expect(use_of(program, NULL, 1, FM_USE_CONSUMPTION).time, 1 + 0);
    program_free(program);
}

/* 40 + 60 calls. Condition: 2. Then (40): 3, and 1 is used. Else (60): 5, recursive call. */
static void test_induction_differences(void)
{
    const struct program_proc proc = {
        "p", "det", "1:gg 2:oo 3:gg",
        "conj det { ite det { call semidet $200 - - 100/40 conj det { call det $120 - - 40/40 "
        "event det 1,2 - } conj det { call det $300 - - 60/60 call det p 3,2,3 - 60/60 } } event "
        "det 3 - }"};
    struct program *program = program_new(&proc, 1, "40/40", FM_COVERAGE_DYNAMIC);
    /* D = 2.5, so 1.5 levels; the recursive call costs the base's 2 + 3, and 2 + 5 + 1 for each of
     * round(2.5 / 1.5) levels. Ends: recursive 2 + 5 + 21, base 2 + 3. R = or(0, 1 * 0.6) = 0.6. */
    double base = 2 + 3, call = base + 2 * (2 + 5 + 1);
    expect(use_of(program, NULL, 0, FM_USE_CONSUMPTION).cost,
           1 + 0.6 * (2 + 5 + call) + 0.4 * base);
    /* Consumed: base at 5; recursive: the branch without it counts as the end of it all, 28. */
    expect(use_of(program, NULL, 0, FM_USE_CONSUMPTION).time, 1 + base + 1.5 * (2 + 5 + call));
    /* Used otherwise: base at 5; recursive: into the recursive call at 7, active there: 1. */
    expect(use_of(program, NULL, 1, FM_USE_OTHER).time, 1 + base + 1.5 * (7 + 1));
    program_free(program);
}

static void test_induction_disjunction(void)
{
    /* 10 + 30 calls. First disjunct: 2, 20 of 40 succeed and use 1. Second (20): 4, 10 succeed,
     * ... and the rest of the 30 recurse before. */
    const struct program_proc proc = {
        "p", "semidet", "1:gg 2:oo",
        "switch semidet 3 { arm 30 call semidet p 4,2 - 30/30 disj semidet { conj semidet { call "
        "det $20 - - 10/10 test semidet 1 2 after 4 } arm 6 conj semidet { call det $24 - - 6/6 "
        "test semidet 8 9 after 6 } } }"};
    struct program *program = program_new(&proc, 1, "10/10", FM_COVERAGE_DYNAMIC);
    /* D = 4, so 3 levels. Base: the disjunction begins at 0 and ends at 2 + 0.6 * 4. Recursive: the
     * arm does not mention 1; the disjunction, of weight 0, does: the arm's end, the call at depth
     * round(4 / 3) = 1. The base costs 2, and the second's 4 with success or not: joined. */
    const struct fm_recursion *r = fm_bodies_recursion(program->bodies, program_clique(program, 0));
    g_assert_cmpint(r->kind, ==, FM_RECURSION_SINGLE);
    expect(r->depth, 4);
    double recursive = fm_recursion_cost_at(r, 1);
    expect(use_of(program, NULL, 0, FM_USE_CONSUMPTION).time, 1 + 0 + 3 * recursive);
    /* Used otherwise: base behind it all; recursive inside the recursive call. */
    expect(use_of(program, NULL, 1, FM_USE_OTHER).time, 1 + (2 + 0.6 * 4) + 3 * 1);
    program_free(program);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define RULE(name) g_test_add_func("/var_use/rule/" #name, test_##name)
    RULE(use_types);
    RULE(pessimistic);
    RULE(edge_to_a_body);
    RULE(edge_to_other_cliques);
    RULE(one_module);
    RULE(recursive_edges);
    RULE(conjunction);
    RULE(disjunction);
    RULE(switch_arms);
    RULE(if_then_else);
    RULE(negation_and_scope);
    RULE(calls);
    RULE(atomic);
    RULE(passed_over);
    RULE(not_found);
    RULE(probabilities);
    RULE(induction);
    RULE(induction_differences);
    RULE(induction_disjunction);
    return g_test_run();
}
