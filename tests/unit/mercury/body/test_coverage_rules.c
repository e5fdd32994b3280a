/* SPDX-License-Identifier: Apache-2.0 */
/* Coverage, rule by rule, through profile and bodies as they are read from files. The rules, each
 * with its test:
 *
 *   counters and their places
 *     a point's path names its goal without the functors of switches   paths_without_functors
 *     a goal may have a point after it and one where it begins         arm_and_after
 *     a path that names no goal is not looked at                       point_of_no_goal
 *     old compilers' points of every else                              else_of_old_compilers
 *     dynamic counts are the context's, summed for the procedure       contexts_and_their_sum
 *     static counts are the procedure's                                static_counts
 *     no context, no counts                                            never_called
 *     no coverage data                                                 no_coverage_data
 *     a site without edge has 0 calls, several edges are summed        sites
 *     a site of foreign code that calls back says nothing              callback_sites
 *   propagation
 *     conjunction: threads; empty: after = before                      conjunction
 *     disjunction: first, later ones, sum; empty: 0                    disjunction
 *     switch: points; the last of one that cannot fail; sum            switch_arms
 *     if-then-else: then, else by difference, else by point            if_then_else
 *     negation: inner before, after unknown                            negation
 *     scope: inner's after, unknown when it cuts                       scopes
 *     calls: site must exist, calls = before, after = exits            calls
 *     other atomic goals by determinism                                atomic
 *     a point after a goal gives after, or must agree                  point_after
 *     after of the body = exits                                        exits
 *     nothing goes backwards                                           nothing_backwards
 *   consistency
 *     values fit determinism                                           determinism
 *     a switch that cannot fail: arms add up                           arms_add_up
 *     a condition without solutions never succeeds                     condition_without_solutions
 *     how counts are printed                                           printed
 *     what computes on a contradiction refuses, with its place         refused */
#include <string.h>

#include "base/error.h"
#include "program.h"

struct case_at {
    const char *path, *counts;
};

static struct fm_coverage *coverage_of(const struct program *program, bool of_ps)
{
    g_autoptr(FmBody) body = NULL;
    g_autoptr(GError) error = NULL;
    struct fm_coverage *coverage;
    bool ok =
        fm_bodies_body(program->bodies, program->ps[0], &body, &error) &&
        (of_ps ? fm_coverage_of_ps(program->analysis, body, program->ps[0], &coverage, &error)
               : fm_coverage_of_pd(program->analysis, body, program->pd[0], &coverage, &error));
    if (!ok)
        g_error("%s", error->message);
    return coverage;
}

static void expect_at(const struct program *program, const struct fm_coverage *coverage,
                      const struct case_at *cases)
{
    for (; cases->path != NULL; cases++) {
        g_autoptr(GString) text = g_string_new(NULL);
        fm_coverage_append(text, &coverage->goals[program_goal(program, 0, cases->path)]);
        if (strcmp(text->str, cases->counts) != 0)
            g_error("'%s': %s, expected %s", cases->path, text->str, cases->counts);
    }
}

#define AT(...)              \
    (const struct case_at[]) \
    {                        \
        __VA_ARGS__,         \
        {                    \
            NULL, NULL       \
        }                    \
    }

/* One procedure that is entered `counts` times: what stands at its goals; told: what contradicts
 * ("goal: words"), NULL = nothing. */
static void check(const char *counts, const char *body, const struct case_at *cases,
                  const char *told)
{
    const struct program_proc proc = {"p", "nondet", "", body};
    struct program *program = program_new(&proc, 1, counts, FM_COVERAGE_DYNAMIC);
    for (int of_ps = 0; of_ps < 2; of_ps++) {
        g_autoptr(FmCoverage) coverage = coverage_of(program, of_ps);
        g_autoptr(GString) all = g_string_new(NULL);
        g_autoptr(FmBody) code = NULL;
        g_assert_true(fm_bodies_body(program->bodies, program->ps[0], &code, NULL));
        for (uint32_t i = 0; i < coverage->contradictions_kept; i++) {
            fm_body_append_path(all, code, coverage->contradictions[i].goal);
            g_string_append_printf(all, ": %s\n", coverage->contradictions[i].text);
        }
        expect_at(program, coverage, cases);
        if (told == NULL ? all->len > 0 : strstr(all->str, told) == NULL)
            g_error("told \"%s\", expected \"%s\"", all->str, told == NULL ? "" : told);
    }
    program_free(program);
}

/* --- counters and their places --- */

static void test_paths_without_functors(void)
{
    check("10/9", "switch? semidet 1 { arm 4 make det 2 - 2 arm 5 make det 2 - 2 } after 9",
          AT({"s1-na;", "4 - 4"}, {"s2-na;", "5 - 5"}, {"s1-7;", "4 - 4"}, {"s2-99;", "5 - 5"}),
          NULL);
}

static void test_arm_and_after(void)
{
    check("10/6",
          "switch? semidet 1 { arm 4 test semidet 1 2 after 3 arm 5 test semidet 1 2 after 3 } "
          "after 6",
          AT({"s1-na;", "4 - 3"}, {"s2-na;", "5 - 3"}, {"", "10 - 6"}), NULL);
}

static void test_point_of_no_goal(void)
{
    const struct program_proc proc = {"p", "det", "", "conj det { make det 1 - 1 after 3 }"};
    struct program *program = program_new(&proc, 1, "3/3", FM_COVERAGE_DYNAMIC);
    struct fm_coverage_point *points =
        (struct fm_coverage_point *)(uintptr_t)program->profile->points;
    for (uint32_t i = 0; i < program->profile->ps[program->ps[0]].point_count; i++)
        points[program->profile->ps[program->ps[0]].point_first + i].goal_path = "c1;c7;";
    g_autoptr(FmCoverage) coverage = coverage_of(program, false);
    expect_at(program, coverage, AT({"c1;", "3 - 3"}));
    g_assert_cmpuint(coverage->contradiction_count, ==, 0);
    program_free(program);
}

static void test_else_of_old_compilers(void)
{
    static const char *const bodies[] = {
        "ite det { test semidet 1 2 after 7 make det 3 - 3 arm 13 make det 3 - 3 }",
        "ite det { test semidet 1 2 after 7 make det 3 - 3 make det 3 - 3 }"};
    for (int i = 0; i < 2; i++)
        check("20/20", bodies[i], AT({"?;", "20 - 7"}, {"t;", "7 - 7"}, {"e;", "13 - 13"}), NULL);
}

static void test_contexts_and_their_sum(void)
{
    /* Two procedures: the second's counts are of its own context. */
    const struct program_proc procs[] = {
        {"p", "det", "", "conj det { call det q - - 6/6 make det 1 - 1 }"},
        {"q", "det", "",
         "ite det { test semidet 1 2 after 2 make det 3 - 3 call det $4 - - 4/4 }"}};
    struct program *program = program_new(procs, 2, "3/3", FM_COVERAGE_DYNAMIC);
    g_autoptr(FmBody) body = NULL;
    g_assert_true(fm_bodies_body(program->bodies, program->ps[1], &body, NULL));
    for (int of_ps = 0; of_ps < 2; of_ps++) {
        g_autoptr(FmCoverage) coverage = NULL;
        g_assert_true(
            of_ps ? fm_coverage_of_ps(program->analysis, body, program->ps[1], &coverage, NULL)
                  : fm_coverage_of_pd(program->analysis, body, program->pd[1], &coverage, NULL));
        g_assert_cmpint(coverage->goals[program_goal(program, 1, "e;")].before.count, ==, 4);
        g_assert_cmpint(coverage->goals[program_goal(program, 1, "t;")].before.count, ==, 2);
    }
    program_free(program);
}

static void test_static_counts(void)
{
    const struct program_proc proc = {"p", "semidet", "",
                                      "conj semidet { test semidet 1 2 after 7 make det 3 - 3 }"};
    struct program *program = program_new(&proc, 1, "10/7", FM_COVERAGE_STATIC);
    g_autoptr(FmCoverage) coverage = coverage_of(program, true);
    expect_at(program, coverage, AT({"c1;", "10 - 7"}, {"c2;", "7 - 7"}));
    g_assert_cmpuint(coverage->contradiction_count, ==, 0);
    /* A context has no counts of its own then. */
    g_autoptr(FmBody) body = NULL;
    g_autoptr(GError) error = NULL;
    struct fm_coverage *none;
    g_assert_true(fm_bodies_body(program->bodies, program->ps[0], &body, NULL));
    g_assert_false(fm_coverage_of_pd(program->analysis, body, program->pd[0], &none, &error));
    g_assert_cmpstr(error->message, ==, "No coverage information available");
    program_free(program);
}

static void expect_none(const struct program *program, uint32_t proc)
{
    g_autoptr(FmBody) body = NULL;
    g_autoptr(GError) error = NULL;
    struct fm_coverage *none;
    g_assert_true(fm_bodies_body(program->bodies, program->ps[proc], &body, NULL));
    g_assert_false(fm_coverage_of_ps(program->analysis, body, program->ps[proc], &none, &error));
    g_assert_true(g_error_matches(error, FM_ERROR, FM_ERROR_UNAVAILABLE));
    g_assert_cmpstr(error->message, ==, "No coverage information available");
}

static void test_never_called(void)
{
    const struct program_proc procs[] = {{"p", "det", "", "make det 1 - 1"},
                                         {"q", "semidet", "", "test semidet 1 2 after 0"}};
    struct program *program = program_new(procs, 2, "1/1", FM_COVERAGE_DYNAMIC);
    expect_none(program, 1);
    program_free(program);
}

static void test_no_coverage_data(void)
{
    const struct program_proc proc = {"p", "det", "", "make det 1 - 1"};
    struct program *program = program_new(&proc, 1, "1/1", FM_COVERAGE_NONE);
    expect_none(program, 0);
    program_free(program);
}

static void test_sites(void)
{
    /* Never reached: 0 calls, not unknown. Of a closure all callees count. */
    check("4/4", "conj semidet { test semidet 1 2 after 0 call det $0 - - 0/0 }",
          AT({"c2;", "0 - 0"}), "the procedure's exits are 4");
    check("4/4", "conj det { ho det 1 - - $9 4/4 special det $4 1,2 - 4/4 }",
          AT({"c1;", "4 - 4"}, {"c2;", "4 - 4"}), NULL);
}

static void test_callback_sites(void)
{
    /* The foreign code was run 5 times and called back 3 times. */
    check("5/5", "conj det { callback det $3 1 - 3/3 make det 2 - 2 }",
          AT({"c1;", "5 - 5"}, {"c2;", "5 - 5"}), NULL);
}

/* --- propagation --- */

static void test_conjunction(void)
{
    check("9/4",
          "conj semidet { conj det { } test semidet 1 2 after 4 event det 1 - conj det { make det "
          "3 - 3 } }",
          AT({"", "9 - 4"}, {"c1;", "9 - 9"}, {"c2;", "9 - 4"}, {"c3;", "4 - 4"},
             {"c4;c1;", "4 - 4"}),
          NULL);
}

static void test_disjunction(void)
{
    /* The point of a first disjunct counts only where before is not known: never, when complete. */
    check("5/11",
          "disj multi { arm 77 make det 1 - 1 arm 4 make det 1 - 1 arm 3 foreign semidet - - after "
          "2 }",
          AT({"d1;", "5 - 5"}, {"d2;", "4 - 4"}, {"d3;", "3 - 2"}, {"", "5 - 11"}), NULL);
    check("6/0", "conj failure { make det 1 - 1 disj failure { } }", AT({"c2;", "6 - 0"}), NULL);
    check("5/9", "disj multi { make det 1 - 1 make det 1 - 1 }", AT({"d2;", "_ - _"}), "d2;: ");
}

static void test_switch_arms(void)
{
    check("10/10", "switch det 1 { arm 2 make det 1 - 1 arm 3 make det 1 - 1 make det 1 - 1 }",
          AT({"s1-na;", "2 - 2"}, {"s2-na;", "3 - 3"}, {"s3-na;", "5 - 5"}, {"", "10 - 10"}), NULL);
    /* One that can fail: its last arm is not inferred, its after is the sum of the arms' afters. */
    check("10/6", "switch? semidet 1 { arm 2 make det 1 - 1 arm 4 make det 1 - 1 }",
          AT({"s2-na;", "4 - 4"}, {"", "10 - 6"}), NULL);
    check("10/6", "switch? semidet 1 { arm 2 make det 1 - 1 make det 1 - 1 } after 6",
          AT({"s2-na;", "_ - _"}, {"", "10 - 6"}), "s2-na;: ");
    /* An earlier arm without point: the last one cannot be inferred. */
    check("10/10", "switch det 1 { make det 1 - 1 make det 1 - 1 }",
          AT({"s1-na;", "_ - _"}, {"s2-na;", "_ - _"}), "s1-na;: ");
}

static void test_if_then_else(void)
{
    check("10/10", "ite det { test semidet 1 2 after 3 make det 1 - 1 make det 1 - 1 }",
          AT({"?;", "10 - 3"}, {"t;", "3 - 3"}, {"e;", "7 - 7"}, {"", "10 - 10"}), NULL);
    static const char *const few[] = {"semidet", "cc_nondet", "det"};
    for (size_t i = 0; i < G_N_ELEMENTS(few); i++) {
        g_autofree char *body = g_strdup_printf(
            "ite det { call %s $10 1 - 10/10 make det 1 - 1 make det 1 - 1 }", few[i]);
        check("10/10", body, AT({"t;", "10 - 10"}, {"e;", "0 - 0"}), NULL);
    }
    /* Many solutions: the else is known from its point alone. */
    check("10/29", "ite nondet { call nondet $10 1 - 10/25 make det 1 - 1 arm 4 make det 1 - 1 }",
          AT({"?;", "10 - 25"}, {"t;", "25 - 25"}, {"e;", "4 - 4"}), NULL);
    check("10/29", "ite nondet { call multi $10 1 - 10/25 make det 1 - 1 make det 1 - 1 }",
          AT({"e;", "_ - _"}), "e;: ");
    /* After of the condition not known: then has its branch point. */
    check("10/10", "ite det { foreign semidet - - arm 3 make det 1 - 1 arm 7 make det 1 - 1 }",
          AT({"?;", "10 - _"}, {"t;", "3 - 3"}, {"e;", "7 - 7"}, {"", "10 - 10"}), "?;: ");
}

static void test_negation(void)
{
    check("10/4", "not semidet { test semidet 1 2 after 6 } after 4",
          AT({"~;", "10 - 6"}, {"", "10 - 4"}), NULL);
    check("10/4", "not semidet { test semidet 1 2 after 6 }", AT({"", "10 - _"}),
          ": how often it was left by success is not known");
}

static void test_scopes(void)
{
    check("10/25", "scope nondet { call nondet $10 1 - 10/25 }",
          AT({"q;", "10 - 25"}, {"", "10 - 25"}), NULL);
    check("10/9", "cut semidet { call nondet $10 1 - 10/25 } after 9",
          AT({"q!;", "10 - 25"}, {"", "10 - 9"}), NULL);
    check("10/9", "cut semidet { call nondet $10 1 - 10/25 }", AT({"", "10 - _"}), ": how often");
}

static void test_calls(void)
{
    check("8/5",
          "conj semidet { call semidet $8 1 - 8/5 ho det 1 - - $5 5/5 method det 1 - - $5 5/5 }",
          AT({"c1;", "8 - 5"}, {"c2;", "5 - 5"}, {"c3;", "5 - 5"}), NULL);
    /* Exits after redos count again in after; redos are not counted in before. */
    check("8/30", "call nondet $8 1 - 8/30", AT({"", "8 - 30"}), NULL);
    /* Calls are exits + fails + exceptions - redos. */
    check("8/5!", "call det $8 1 - 8/5!", AT({"", "8 - 5"}), NULL);
    check("8/8", "call det $9 1 - 9/8", AT({"", "8 - 8"}),
          ": reached 8 times, but the calls are 9");
    check("8/8", "call det none 1 - 0/0", AT({"", "8 - _"}), ": there is no call site");
    check("8/8", "conj det { not semidet { test semidet 1 2 after 0 } call det $8 1 - 8/8 }",
          AT({"c1;", "8 - _"}, {"c2;", "_ - 8"}),
          "c2;: how often the call was reached is not known");
}

static void test_atomic(void)
{
    static const struct {
        const char *detism, *after;
    } cases[] = {{"det", "6"},     {"cc_multi", "6"}, {"erroneous", "0"}, {"failure", "0"},
                 {"semidet", "_"}, {"nondet", "_"},   {"multi", "_"},     {"cc_nondet", "_"}};
    static const char *const goals[] = {"make %s 1 - 1",  "take %s 1 2 2",  "partial %s 1 2,_ 1",
                                        "assign %s 1 2",  "cast %s 1 2",    "test %s 1 2",
                                        "foreign %s 1 -", "builtin %s 1 -", "event %s 1 -"};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        for (size_t g = 0; g < G_N_ELEMENTS(goals); g++) {
            g_auto(GStrv) parts = g_strsplit(goals[g], "%s", 2);
            g_autofree char *body = g_strconcat(parts[0], cases[i].detism, parts[1], NULL);
            g_autofree char *counts = g_strconcat("6 - ", cases[i].after, NULL);
            bool known = *cases[i].after != '_';
            g_autofree char *entry = g_strconcat("6/", known ? cases[i].after : "6", NULL);
            check(entry, body, AT({"", counts}), known ? NULL : ": how often it was left");
        }
    }
}

static void test_point_after(void)
{
    check("6/6", "conj det { make det 1 - 1 after 6 make det 1 - 1 }", AT({"c2;", "6 - 6"}), NULL);
    check("6/6", "conj det { make det 1 - 1 after 5 make det 1 - 1 }", AT({"c1;", "6 - 6"}),
          "c1;: left by success 6 times, but the point after it was passed 5 times");
    /* Of every goal, compound ones too. */
    check("6/4", "switch? semidet 1 { arm 3 make det 1 - 1 arm 1 make det 1 - 1 } after 3",
          AT({"", "6 - 4"}),
          ": left by success 4 times, but the point after it was passed 3 times");
}

static void test_exits(void)
{
    check("6/5", "make det 1 - 1", AT({"", "6 - 6"}),
          ": the body was left by success 6 times, but the procedure's exits are 5");
    check("6/6", "cut det { make multi 1 - 1 after 9 }", AT({"q!;", "6 - 9"}),
          "but the procedure's exits are 6");
}

static void test_nothing_backwards(void)
{
    /* The second conjunct's calls would tell what came out of the first: nobody asks them. */
    check("9/4", "conj semidet { foreign semidet - - call det $4 1 - 4/4 }",
          AT({"c1;", "9 - _"}, {"c2;", "_ - 4"}, {"", "9 - 4"}), "c1;: ");
}

/* --- consistency --- */

static void test_determinism(void)
{
    static const struct {
        const char *body, *entry;
        bool fits;
    } cases[] = {
        {"call det $9 1 - 9/9", "9/9", true},
        {"call det $9 1 - 9/8!", "9/8!", true}, /* one threw */
        {"call det $9 1 - 9/10", "9/10", false},
        {"call cc_multi $9 1 - 9/10", "9/10", false},
        {"call semidet $9 1 - 9/0", "9/0", true},
        {"call semidet $9 1 - 9/10", "9/10", false},
        {"call cc_nondet $9 1 - 9/10", "9/10", false},
        {"call nondet $9 1 - 9/10", "9/10", true},
        {"call multi $9 1 - 9/2", "9/2", true},
        {"call erroneous $9 1 - 9/0!", "9/0!", true},
        {"call erroneous $9 1 - 9/1", "9/1", false},
        {"call failure $9 1 - 9/1", "9/1", false},
        {"conj semidet { call multi $9 1 - 9/30 }", "9/30", false} /* compound goals too */};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
        check(cases[i].entry, cases[i].body, (const struct case_at[]){{NULL, NULL}},
              cases[i].fits ? NULL : "left by success");
}

static void test_arms_add_up(void)
{
    check("10/9", "switch det 1 { arm 4 make det 1 - 1 arm 5 make det 1 - 1 }",
          AT({"s2-na;", "5 - 5"}), ": a switch that cannot fail was reached 10 times, its arms 9");
    check("10/11", "switch det 1 { arm 11 make det 1 - 1 make det 1 - 1 }",
          AT({"s2-na;", "-1 - -1"}), "s2-na;: counts below 0");
}

static void test_condition_without_solutions(void)
{
    check("10/10", "ite det { foreign failure - - make det 1 - 1 make det 1 - 1 }",
          AT({"?;", "10 - 0"}, {"t;", "0 - 0"}, {"e;", "10 - 10"}), NULL);
    check("10/10", "ite det { call failure $10 - - 10/2 make det 1 - 1 make det 1 - 1 }",
          AT({"?;", "10 - 2"}), ": the condition is failure, but succeeded 2 times");
}

static void test_printed(void)
{
    static const struct {
        struct fm_goal_counts counts;
        const char *text;
    } cases[] = {{{{false, 0}, {false, 0}, false}, "_ - _"},
                 {{{true, 0}, {true, 0}, false}, "0 - 0"},
                 {{{true, 12}, {true, 12}, false}, "12 - 12"},
                 {{{true, 12}, {true, 7}, false}, "12 - 7"},
                 {{{true, 12}, {false, 0}, false}, "12 - _"},
                 {{{false, 0}, {true, 1234567}, false}, "_ - 1234567"}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GString) text = g_string_new(NULL);
        fm_coverage_append(text, &cases[i].counts);
        g_assert_cmpstr(text->str, ==, cases[i].text);
    }
}

static void test_refused(void)
{
    const struct program_proc proc = {
        "p", "det", "", "conj det { make det 1 - 1 conj det { call det $9 1 - 9/9 } }"};
    struct program *program = program_new(&proc, 1, "8/8", FM_COVERAGE_DYNAMIC);
    const struct fm_pd_body *pd;
    g_autoptr(GError) error = NULL;
    g_assert_false(fm_bodies_pd(program->bodies, program->pd[0], &pd, &error));
    g_assert_nonnull(strstr(error->message, "m.p"));
    g_assert_nonnull(strstr(error->message, "c2;c1;"));
    g_assert_nonnull(strstr(error->message, "reached 8 times, but the calls are 9"));
    program_free(program);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define RULE(name) g_test_add_func("/coverage/rule/" #name, test_##name)
    RULE(paths_without_functors);
    RULE(arm_and_after);
    RULE(point_of_no_goal);
    RULE(else_of_old_compilers);
    RULE(contexts_and_their_sum);
    RULE(static_counts);
    RULE(never_called);
    RULE(no_coverage_data);
    RULE(sites);
    RULE(callback_sites);
    RULE(conjunction);
    RULE(disjunction);
    RULE(switch_arms);
    RULE(if_then_else);
    RULE(negation);
    RULE(scopes);
    RULE(calls);
    RULE(atomic);
    RULE(point_after);
    RULE(exits);
    RULE(nothing_backwards);
    RULE(determinism);
    RULE(arms_add_up);
    RULE(condition_without_solutions);
    RULE(printed);
    RULE(refused);
    return g_test_run();
}
