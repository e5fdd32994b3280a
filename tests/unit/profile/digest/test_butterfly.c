/* SPDX-License-Identifier: Apache-2.0 */
/* Callers and callees of each function add up to its total: everywhere and in each context. */
#include "made.h"
#include "profile/digest/calls/butterfly.h"
#include "profile/digest/paths.h"

static struct fm_neighbour at(const GArray *rows, guint i)
{
    g_assert_cmpuint(i, <, rows->len);
    return g_array_index(rows, struct fm_neighbour, i);
}

/* Groups hold what the calls below them are; no total stands twice. */
static void assert_groups(const GArray *rows, bool callers)
{
    int64_t calls = 0, own = 0;
    for (guint i = rows->len; i > 0; i--) {
        struct fm_neighbour row = at(rows, i - 1);
        if (row.kind == FM_NEIGHBOUR_MEMBER) {
            calls += row.calls;
            own += row.own;
            g_assert_cmpint(row.total, ==, 0);
            g_assert_false(row.total_is_here);
        } else if (row.kind == FM_NEIGHBOUR_WITHIN) {
            g_assert_cmpint(row.calls, ==, calls);
            g_assert_cmpint(row.own, ==, own);
            g_assert_cmpint(row.clique, >, 0);
            /* Of callees, what others of the recursion cost meanwhile. */
            g_assert_true(row.total_is_here == (callers || row.total != 0));
            calls = own = 0;
        } else {
            g_assert_cmpint(calls, ==, 0);
            g_assert_true(row.total_is_here == (row.kind == FM_NEIGHBOUR_CALL));
        }
    }
    g_assert_cmpint(calls, ==, 0);
}

static int64_t sum(const GArray *rows, bool calls)
{
    int64_t all = 0;
    for (guint i = 0; i < rows->len; i++) {
        if (at(rows, i).kind != FM_NEIGHBOUR_WITHIN) /* that is its members' */
            all += calls ? at(rows, i).calls : at(rows, i).own;
    }
    return all;
}

static void assert_adds_up(const struct fm_analysis *a, uint32_t ps, uint32_t clique,
                           enum fm_measure_id measure, unsigned *groups)
{
    struct fm_butterfly both;
    fm_butterfly_init(&both, a, ps, clique, measure);
    g_assert_cmpint(fm_butterfly_callers_total(&both), ==, both.total);
    g_assert_cmpint(fm_butterfly_callees_total(&both), ==, both.total);
    assert_groups(both.callers, true);
    assert_groups(both.callees, false);
    if (a->profile->pd_ps[a->profile->root_pd] != ps) {
        g_assert_cmpint(sum(both.callers, true), ==, both.calls);
        g_assert_cmpint(sum(both.callers, false), ==, both.own);
    }
    for (guint i = 0; i < both.callers->len; i++)
        *groups += at(both.callers, i).kind == FM_NEIGHBOUR_WITHIN;
    for (guint i = 1; i < both.callers->len; i++) {
        if (at(both.callers, i).total_is_here && at(both.callers, i - 1).total_is_here)
            g_assert_cmpint(at(both.callers, i - 1).total, >=, at(both.callers, i).total);
    }
    fm_butterfly_done(&both);
}

static bool holds(const struct fm_analysis *a, uint32_t clique, uint32_t ps)
{
    for (uint32_t i = a->clique_first[clique]; i < a->clique_first[clique + 1]; i++) {
        if (a->profile->pd_ps[a->clique_pds[i]] == ps)
            return true;
    }
    return false;
}

static void generated_programs_add_up(void)
{
    unsigned groups = 0;
    for (unsigned seed = 1; seed <= 10; seed++) {
        struct made made =
            made_generated(seed, "--nodes=1500", seed % 2 ? "--c" : "--procs=100", NULL);
        const struct fm_analysis *a = made.a;
        for (uint32_t ps = 1; ps <= made.profile->ps_count; ps++) {
            assert_adds_up(a, ps, 0, FM_CALLSEQS, &groups);
            assert_adds_up(a, ps, 0, FM_WORDS, &groups);
        }
        for (uint32_t clique = 1; clique <= a->clique_count; clique++)
            assert_adds_up(a, made.profile->pd_ps[a->clique_pds[a->clique_first[clique]]], clique,
                           FM_CALLSEQS, &groups);
        made_clear(&made);
    }
    g_assert_cmpuint(groups, >, 100);
}

/* What a function costs in its contexts is what it costs. */
static void contexts_are_the_whole(void)
{
    struct made made = made_generated(3, "--nodes=1500", "--c", NULL);
    const struct fm_analysis *a = made.a;
    for (uint32_t ps = 1; ps <= made.profile->ps_count; ps++) {
        struct fm_butterfly all, one;
        int64_t total = 0, own = 0, calls = 0;
        for (uint32_t clique = 1; clique <= a->clique_count; clique++) {
            if (!holds(a, clique, ps))
                continue;
            fm_butterfly_init(&one, a, ps, clique, FM_CALLSEQS);
            total += one.total;
            own += one.own;
            calls += one.calls;
            fm_butterfly_done(&one);
        }
        fm_butterfly_init(&all, a, ps, 0, FM_CALLSEQS);
        g_assert_cmpint(total, ==, all.total);
        g_assert_cmpint(own, ==, all.own);
        g_assert_cmpint(calls, ==, all.calls);
        fm_butterfly_done(&all);
    }
    made_clear(&made);
}

/* expr and term call each other; expr is entered by parse. */
static void a_recursion_is_one_row(void)
{
    struct made made = made_program();
    struct fm_butterfly both;
    uint32_t expr = made_ps(&made, "expr"), parse = made_ps(&made, "parse");
    fm_butterfly_init(&both, made.a, expr, 0, FM_CALLSEQS);
    struct fm_neighbour group = at(both.callers, 0);
    g_assert_cmpint(group.kind, ==, FM_NEIGHBOUR_WITHIN);
    g_assert_cmpint(group.total, ==, both.total);
    g_assert_cmpuint(group.ps, ==, fm_digest_clique_name(made.a, group.clique));
    bool from_parse = false, from_term = false;
    for (guint i = 1; i < both.callers->len; i++) {
        g_assert_cmpint(at(both.callers, i).kind, ==, FM_NEIGHBOUR_MEMBER);
        from_parse |= at(both.callers, i).ps == parse;
        from_term |= at(both.callers, i).ps == made_ps(&made, "term");
    }
    g_assert_true(from_parse && from_term);
    fm_butterfly_done(&both);
    made_clear(&made);
}

int main(int argc, char **argv)
{
    made_init(&argc, &argv);
    g_test_add_func("/digest/butterfly/generated", generated_programs_add_up);
    g_test_add_func("/digest/butterfly/contexts", contexts_are_the_whole);
    g_test_add_func("/digest/butterfly/recursion", a_recursion_is_one_row);
    return g_test_run();
}
