/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of coverage, one a test, and the worked example. A goal is named by its path. */
#include <string.h>

#include "mercury/body/coverage.h"
#include "maker.h"

struct world {
    struct fm_body *body;
    struct fm_goal_facts *facts;
    struct fm_coverage *coverage;
};

static void begin(struct world *w, struct maker *maker, enum fm_detism detism)
{
    w->body = maker_done(maker, detism);
    w->facts = fm_goal_facts_new(w->body);
    w->coverage = NULL;
}

static uint32_t at(const struct world *w, const char *path)
{
    uint32_t goal = fm_body_find(w->body, path);
    g_assert_cmpuint(goal, !=, FM_NO_GOAL);
    return goal;
}

static void after_point(struct world *w, const char *path, int64_t count)
{
    w->facts[at(w, path)].after = (struct fm_known_count){true, count};
}

static void arm_point(struct world *w, const char *path, int64_t count)
{
    w->facts[at(w, path)].arm = (struct fm_known_count){true, count};
}

static void site(struct world *w, const char *path, int64_t calls, int64_t exits)
{
    struct fm_goal_facts *facts = &w->facts[at(w, path)];
    facts->has_site = true;
    facts->site_calls = calls;
    facts->site_exits = exits;
}

static void infer(struct world *w, int64_t calls, int64_t exits)
{
    fm_coverage_free(w->coverage);
    w->coverage = fm_coverage_infer(w->body, calls, exits, w->facts);
}

static void expect(const struct world *w, const char *path, const char *counts)
{
    g_autoptr(GString) text = g_string_new(NULL);
    fm_coverage_append(text, &w->coverage->goals[at(w, path)]);
    g_assert_cmpstr(text->str, ==, counts);
}

/* A contradiction at this goal with these words. */
static void expect_told(const struct world *w, const char *path, const char *words)
{
    for (uint32_t i = 0; i < w->coverage->contradictions_kept; i++) {
        const struct fm_contradiction *told = &w->coverage->contradictions[i];
        if (told->goal == at(w, path) && strstr(told->text, words) != NULL)
            return;
    }
    g_error("nothing told at '%s' of \"%s\"", path, words);
}

static void end(struct world *w)
{
    fm_coverage_free(w->coverage);
    g_free(w->facts);
    fm_body_free(w->body);
}

static void unify(struct maker *m, enum fm_detism detism)
{
    maker_atomic(m, FM_GOAL_SIMPLE_TEST, detism, 1, "", "2", "");
}

/* --- rules --- */

static void test_worked_example(void)
{
    static const struct {
        const char *path, *counts;
    } expected[] = {{"", "10 - 7"},           {"c1;", "10 - 10"},       {"c2;", "10 - 10"},
                    {"c2;?;", "10 - 6"},      {"c2;?;c1;", "10 - 8"},   {"c2;?;c2;", "8 - 6"},
                    {"c2;t;", "6 - 6"},       {"c2;t;c3;", "6 - 6"},    {"c2;e;", "4 - 4"},
                    {"c2;e;s1-na;", "3 - 3"}, {"c2;e;s2-na;", "1 - 1"}, {"c2;e;s2-na;c3;", "1 - 1"},
                    {"c3;", "10 - 7"},        {"c3;~;", "10 - 3"},      {"c4;", "7 - 7"},
                    {"c4;q!;", "7 - 7"},      {"c4;q!;d1;", "7 - 4"},   {"c4;q!;d2;", "3 - 3"},
                    {"c5;", "7 - 7"},         {"c6;", "7 - 7"}};
    for (int old_compiler = 0; old_compiler < 2; old_compiler++) {
        struct world w;
        w.body = maker_shop();
        w.facts = fm_goal_facts_new(w.body);
        w.coverage = NULL;
        site(&w, "c2;?;c2;", 8, 6);
        site(&w, "c2;t;c2;", 6, 6);
        site(&w, "c4;q!;d1;", 7, 4);
        site(&w, "c5;", 7, 7);
        after_point(&w, "c2;?;c1;", 8);
        arm_point(&w, "c2;e;s1-2;", 3);
        after_point(&w, "c3;~;", 3);
        after_point(&w, "c3;", 7);
        arm_point(&w, "c4;q!;d2;", 3);
        after_point(&w, "c4;", 7);
        if (old_compiler)
            arm_point(&w, "c2;e;", 4);
        infer(&w, 10, 7);
        g_assert_cmpuint(w.coverage->contradiction_count, ==, 0);
        for (size_t i = 0; i < G_N_ELEMENTS(expected); i++)
            expect(&w, expected[i].path, expected[i].counts);
        end(&w);
    }
}

static void test_conjunction(void)
{
    struct world w;
    struct maker *m = maker_new();
    maker_open(m, FM_GOAL_CONJ, FM_DETISM_SEMIDET);
    maker_open(m, FM_GOAL_CONJ, FM_DETISM_DET); /* empty: after = before */
    maker_close(m);
    unify(m, FM_DETISM_SEMIDET);
    unify(m, FM_DETISM_DET);
    maker_close(m);
    begin(&w, m, FM_DETISM_SEMIDET);
    after_point(&w, "c2;", 4);
    infer(&w, 9, 4);
    expect(&w, "c1;", "9 - 9");
    expect(&w, "c2;", "9 - 4");
    expect(&w, "c3;", "4 - 4");
    g_assert_cmpuint(w.coverage->contradiction_count, ==, 0);
    end(&w);
}

static void test_disjunction(void)
{
    struct world w;
    struct maker *m = maker_new();
    maker_open(m, FM_GOAL_DISJ, FM_DETISM_MULTI);
    unify(m, FM_DETISM_DET);
    unify(m, FM_DETISM_DET);
    maker_open(m, FM_GOAL_DISJ, FM_DETISM_FAILURE); /* empty: after = 0 */
    maker_close(m);
    maker_close(m);
    begin(&w, m, FM_DETISM_MULTI);
    arm_point(&w, "d1;", 100); /* of the first disjunct it is not looked at */
    arm_point(&w, "d2;", 3);
    arm_point(&w, "d3;", 2);
    infer(&w, 5, 8);
    expect(&w, "d1;", "5 - 5");
    expect(&w, "d2;", "3 - 3");
    expect(&w, "d3;", "2 - 0");
    expect(&w, "", "5 - 8");
    g_assert_cmpuint(w.coverage->contradiction_count, ==, 0);
    end(&w);
}

static void make_switch(struct world *w, bool can_fail)
{
    struct maker *m = maker_new();
    maker_switch(m, 1, can_fail, can_fail ? FM_DETISM_SEMIDET : FM_DETISM_DET);
    for (int i = 0; i < 3; i++) {
        maker_case(m, "a/0");
        unify(m, FM_DETISM_DET);
    }
    maker_close(m);
    begin(w, m, FM_DETISM_DET);
}

static void test_switch_that_cannot_fail(void)
{
    struct world w;
    make_switch(&w, false);
    arm_point(&w, "s1-3;", 2);
    arm_point(&w, "s2-3;", 3);
    infer(&w, 10, 10);
    expect(&w, "s3-na;", "5 - 5");
    expect(&w, "", "10 - 10");
    g_assert_cmpuint(w.coverage->contradiction_count, ==, 0);
    arm_point(&w, "s3-3;", 4); /* a point goes before what is inferred, and the sum is told of */
    infer(&w, 10, 9);
    expect(&w, "s3-na;", "4 - 4");
    expect_told(&w, "", "a switch that cannot fail was reached 10 times, its arms 9 times");
    end(&w);
}

static void test_switch_that_can_fail(void)
{
    struct world w;
    make_switch(&w, true);
    arm_point(&w, "s1-3;", 2);
    arm_point(&w, "s2-3;", 3);
    arm_point(&w, "s3-3;", 1);
    after_point(&w, "", 6);
    infer(&w, 10, 6);
    expect(&w, "", "10 - 6");
    g_assert_cmpuint(w.coverage->contradiction_count, ==, 0);
    w.facts[at(&w, "s3-3;")].arm.known = false; /* never inferred */
    infer(&w, 10, 6);
    expect(&w, "s3-na;", "_ - _");
    expect_told(&w, "s3-na;", "how often it was reached is not known");
    end(&w);
}

static void make_ite(struct world *w, enum fm_detism condition)
{
    struct maker *m = maker_new();
    maker_open(m, FM_GOAL_ITE, FM_DETISM_DET);
    unify(m, condition);
    unify(m, FM_DETISM_DET);
    unify(m, FM_DETISM_DET);
    maker_close(m);
    begin(w, m, FM_DETISM_DET);
}

static void test_if_then_else(void)
{
    struct world w;
    make_ite(&w, FM_DETISM_SEMIDET);
    after_point(&w, "?;", 3);
    infer(&w, 10, 10);
    expect(&w, "?;", "10 - 3");
    expect(&w, "t;", "3 - 3");
    expect(&w, "e;", "7 - 7"); /* inferred: at most one solution */
    g_assert_cmpuint(w.coverage->contradiction_count, ==, 0);
    arm_point(&w, "e;", 6); /* the condition threw once: the point knows */
    infer(&w, 10, 9);
    expect(&w, "e;", "6 - 6");
    g_assert_cmpuint(w.coverage->contradiction_count, ==, 0);
    end(&w);
}

static void test_if_then_else_of_many_solutions(void)
{
    struct world w;
    make_ite(&w, FM_DETISM_NONDET);
    w.body->goals[0].detism = FM_DETISM_MULTI;
    after_point(&w, "?;", 30);
    arm_point(&w, "e;", 4);
    infer(&w, 10, 34);
    expect(&w, "t;", "30 - 30");
    expect(&w, "e;", "4 - 4");
    g_assert_cmpuint(w.coverage->contradiction_count, ==, 0);
    w.facts[at(&w, "e;")].arm.known = false;
    infer(&w, 10, 34);
    expect(&w, "e;", "_ - _");
    end(&w);
}

static void test_condition_without_solutions(void)
{
    struct world w;
    make_ite(&w, FM_DETISM_FAILURE);
    infer(&w, 10, 10);
    expect(&w, "t;", "0 - 0");
    expect(&w, "e;", "10 - 10");
    g_assert_cmpuint(w.coverage->contradiction_count, ==, 0);
    end(&w);
}

static void test_negation_and_scope(void)
{
    struct world w;
    struct maker *m = maker_new();
    maker_open(m, FM_GOAL_CONJ, FM_DETISM_SEMIDET);
    maker_open(m, FM_GOAL_NEGATION, FM_DETISM_SEMIDET);
    unify(m, FM_DETISM_SEMIDET);
    maker_close(m);
    maker_scope(m, false, FM_DETISM_DET);
    unify(m, FM_DETISM_DET);
    maker_close(m);
    maker_scope(m, true, FM_DETISM_DET);
    unify(m, FM_DETISM_MULTI);
    maker_close(m);
    maker_close(m);
    begin(&w, m, FM_DETISM_SEMIDET);
    after_point(&w, "c1;~;", 4);
    after_point(&w, "c1;", 6);
    after_point(&w, "c3;q!;", 18);
    after_point(&w, "c3;", 6);
    infer(&w, 10, 6);
    expect(&w, "c1;~;", "10 - 4");
    expect(&w, "c1;", "10 - 6"); /* unknown but for its point */
    expect(&w, "c2;", "6 - 6");  /* a scope that does not cut: what is inside */
    expect(&w, "c3;q!;", "6 - 18");
    expect(&w, "c3;", "6 - 6"); /* a scope that cuts: unknown but for its point */
    g_assert_cmpuint(w.coverage->contradiction_count, ==, 0);
    end(&w);
}

static void test_atomic(void)
{
    static const struct {
        enum fm_detism detism;
        const char *counts;
    } cases[] = {{FM_DETISM_DET, "10 - 10"},      {FM_DETISM_CC_MULTI, "10 - 10"},
                 {FM_DETISM_ERRONEOUS, "10 - 0"}, {FM_DETISM_FAILURE, "10 - 0"},
                 {FM_DETISM_SEMIDET, "10 - _"},   {FM_DETISM_NONDET, "10 - _"},
                 {FM_DETISM_MULTI, "10 - _"},     {FM_DETISM_CC_NONDET, "10 - _"}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct world w;
        struct maker *m = maker_new();
        unify(m, cases[i].detism);
        begin(&w, m, cases[i].detism);
        infer(&w, 10, 10);
        expect(&w, "", cases[i].counts);
        end(&w);
    }
}

static void test_call(void)
{
    struct world w;
    struct maker *m = maker_new();
    maker_call(m, FM_DETISM_NONDET, "m", "p", "1", "");
    begin(&w, m, FM_DETISM_NONDET);
    infer(&w, 10, 25);
    expect_told(&w, "", "there is no call site of this call");
    site(&w, "", 10, 25);
    infer(&w, 10, 25);
    expect(&w, "", "10 - 25"); /* each exit counts again */
    g_assert_cmpuint(w.coverage->contradiction_count, ==, 0);
    site(&w, "", 11, 25);
    infer(&w, 10, 25);
    expect_told(&w, "", "reached 10 times, but the calls are 11");
    end(&w);
}

static void test_exits_of_the_procedure(void)
{
    struct world w;
    struct maker *m = maker_new();
    unify(m, FM_DETISM_DET);
    begin(&w, m, FM_DETISM_DET);
    infer(&w, 10, 9);
    expect_told(&w, "", "left by success 10 times, but the procedure's exits are 9");
    end(&w);
}

static void test_both_sources_of_after(void)
{
    struct world w;
    struct maker *m = maker_new();
    maker_open(m, FM_GOAL_CONJ, FM_DETISM_DET);
    unify(m, FM_DETISM_DET);
    unify(m, FM_DETISM_DET);
    maker_close(m);
    begin(&w, m, FM_DETISM_DET);
    after_point(&w, "c1;", 10);
    infer(&w, 10, 10);
    g_assert_cmpuint(w.coverage->contradiction_count, ==, 0);
    after_point(&w, "c1;", 9);
    infer(&w, 10, 10);
    expect_told(&w, "c1;", "left by success 10 times, but the point after it was passed 9 times");
    g_assert_true(w.coverage->goals[at(&w, "c1;")].doubtful);
    g_assert_true(w.coverage->goals[at(&w, "c2;")].doubtful);
    g_assert_true(w.coverage->goals[0].doubtful);
    end(&w);
}

static void test_determinism(void)
{
    static const struct {
        enum fm_detism detism;
        int64_t after;
        bool fits;
    } cases[] = {{FM_DETISM_SEMIDET, 10, true},  {FM_DETISM_SEMIDET, 11, false},
                 {FM_DETISM_CC_NONDET, 0, true}, {FM_DETISM_CC_NONDET, 12, false},
                 {FM_DETISM_NONDET, 99, true},   {FM_DETISM_MULTI, 3, true},
                 {FM_DETISM_NONDET, -1, false}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct world w;
        struct maker *m = maker_new();
        unify(m, cases[i].detism);
        begin(&w, m, cases[i].detism);
        after_point(&w, "", cases[i].after);
        infer(&w, 10, cases[i].after);
        g_assert_cmpuint(w.coverage->contradiction_count, ==, cases[i].fits ? 0 : 1);
        end(&w);
    }
}

/* A million levels on a stack of the usual size. */
static void test_deep_nesting(void)
{
    enum { DEPTH = 1000000 };
    struct world w;
    struct maker *m = maker_new();
    for (int i = 0; i < DEPTH; i++)
        maker_open(m, FM_GOAL_CONJ, FM_DETISM_DET);
    unify(m, FM_DETISM_DET);
    for (int i = 0; i < DEPTH; i++)
        maker_close(m);
    begin(&w, m, FM_DETISM_DET);
    infer(&w, 7, 7);
    g_assert_cmpuint(w.coverage->contradiction_count, ==, 0);
    g_assert_cmpint(w.coverage->goals[DEPTH].after.count, ==, 7);
    end(&w);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/coverage/worked_example", test_worked_example);
    g_test_add_func("/coverage/conjunction", test_conjunction);
    g_test_add_func("/coverage/disjunction", test_disjunction);
    g_test_add_func("/coverage/switch_that_cannot_fail", test_switch_that_cannot_fail);
    g_test_add_func("/coverage/switch_that_can_fail", test_switch_that_can_fail);
    g_test_add_func("/coverage/if_then_else", test_if_then_else);
    g_test_add_func("/coverage/if_then_else_many_solutions", test_if_then_else_of_many_solutions);
    g_test_add_func("/coverage/condition_without_solutions", test_condition_without_solutions);
    g_test_add_func("/coverage/negation_and_scope", test_negation_and_scope);
    g_test_add_func("/coverage/atomic_by_determinism", test_atomic);
    g_test_add_func("/coverage/call", test_call);
    g_test_add_func("/coverage/exits_of_the_procedure", test_exits_of_the_procedure);
    g_test_add_func("/coverage/both_sources_of_after", test_both_sources_of_after);
    g_test_add_func("/coverage/values_fit_determinism", test_determinism);
    g_test_add_func("/coverage/deep_nesting", test_deep_nesting);
    return g_test_run();
}
