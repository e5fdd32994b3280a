/* SPDX-License-Identifier: Apache-2.0 */
/* Made-up graphs with figures worked out by hand, large ones, and ones that are not sound. */
#include "graphs.h"

/* A runtime, main, map (higher-order site, recursive site), f (calls map), g. */
static void test_undetected_recursion(void)
{
    struct fm_build *build = fm_build_new(FM_FLAVOUR_MERCURY, "a");
    static const char *const names[] = {"runtime", "main", "map", "f", "g"};
    for (unsigned i = 0; i < 5; i++)
        add_ps(build, names[i]);
    add_site(build, 1, FM_SITE_CALLBACK, 0);
    add_site(build, 2, FM_SITE_NORMAL, 3);
    uint32_t higher_order = add_site(build, 3, FM_SITE_HIGHER_ORDER, 0);
    uint32_t recursive = add_site(build, 3, FM_SITE_NORMAL, 3);
    uint32_t site_f = add_site(build, 4, FM_SITE_NORMAL, 3);
    static const uint32_t pd_ps[] = {1, 2, 3, 4, 3, 5};
    for (unsigned i = 0; i < 6; i++)
        fm_build_pd(build, pd_ps[i]);
    add_call(build, 1, 0, 2, 1);
    add_call(build, 2, 0, 3, 1);
    add_call(build, 3, 0, 4, 10);
    add_call(build, 3, 1, 3, 10);
    add_call(build, 4, 0, 5, 10);
    add_call(build, 5, 0, 6, 50);
    add_call(build, 5, 1, 5, 50);
    struct fm_analysis *a = analyse(build);

    static const int64_t csd_desc[] = {131, 130, 110, 0, 100, 0, 0};
    static const int64_t csd_map[] = {131, 131, 110, 0, 110, 0, 0};
    for (uint32_t csd = 1; csd <= 7; csd++) {
        struct fm_cost cost;
        fm_analysis_csd_cost(a, csd, &cost);
        g_assert_cmpint(cost.desc[FM_CALLSEQS], ==, csd_desc[csd - 1]);
        g_assert_cmpint(csd_compensation(a, csd, 3), ==, csd_map[csd - 1]);
    }
    static const int64_t pd_rows[6][4] = {/* clique, own, desc, compensation for map */
                                          {6, 0, 132, 131},  {5, 1, 131, 131}, {4, 11, 120, 110},
                                          {3, 10, 110, 110}, {2, 60, 50, 0},   {1, 50, 0, 0}};
    for (uint32_t pd = 1; pd <= 6; pd++) {
        struct fm_cost cost;
        fm_analysis_pd_cost(a, pd, &cost);
        g_assert_cmpint(a->pd_clique[pd], ==, pd_rows[pd - 1][0]);
        g_assert_cmpint(cost.own[FM_CALLSEQS], ==, pd_rows[pd - 1][1]);
        g_assert_cmpint(cost.desc[FM_CALLSEQS], ==, pd_rows[pd - 1][2]);
        g_assert_cmpint(pd_compensation(a, pd, 3), ==, pd_rows[pd - 1][3]);
    }
    static const int64_t ps_rows[5][2] = {{0, 132}, {1, 131}, {71, 60}, {10, 110}, {50, 0}};
    for (uint32_t ps = 1; ps <= 5; ps++) {
        struct fm_cost cost;
        fm_analysis_ps_cost(a, ps, &cost);
        g_assert_cmpint(cost.own[FM_CALLSEQS], ==, ps_rows[ps - 1][0]);
        g_assert_cmpint(cost.desc[FM_CALLSEQS], ==, ps_rows[ps - 1][1]);
    }
    struct fm_cost cost;
    fm_analysis_css_cost(a, higher_order, &cost);
    g_assert_cmpint(cost.own[FM_CALLSEQS], ==, 60);
    g_assert_cmpint(cost.desc[FM_CALLSEQS], ==, 0);
    fm_analysis_css_cost(a, recursive, &cost);
    g_assert_cmpint(fm_cost_total(&cost, FM_CALLSEQS), ==, 60);
    fm_analysis_css_cost(a, site_f, &cost);
    g_assert_cmpint(cost.own[FM_CALLSEQS], ==, 10);
    g_assert_cmpint(cost.desc[FM_CALLSEQS], ==, 100);

    g_autofree struct fm_callers_row *rows = NULL;
    uint32_t count;
    fm_analysis_callers(a, 3, FM_GROUP_PROC, NULL, &rows, &count);
    g_assert_cmpuint(count, ==, 2);
    g_assert_cmpuint(rows[0].ps, ==, 2);
    g_assert_cmpint(rows[0].cost.own[FM_CALLSEQS], ==, 1);
    g_assert_cmpint(rows[0].cost.desc[FM_CALLSEQS], ==, 20);
    g_assert_cmpuint(rows[1].ps, ==, 4);
    g_assert_cmpint(rows[1].cost.own[FM_CALLSEQS], ==, 10);
    g_assert_cmpint(rows[1].cost.desc[FM_CALLSEQS], ==, 100);
    done(a);
}

/* A clique with two proc dynamics of one procedure. */
static void test_two_pds(void)
{
    struct fm_build *build = fm_build_new(FM_FLAVOUR_MERCURY, "b");
    static const char *const names[] = {"runtime", "p", "q", "leaf"};
    for (unsigned i = 0; i < 4; i++)
        add_ps(build, names[i]);
    add_site(build, 1, FM_SITE_CALLBACK, 0);
    add_site(build, 2, FM_SITE_NORMAL, 3);
    add_site(build, 2, FM_SITE_NORMAL, 3);
    add_site(build, 3, FM_SITE_NORMAL, 2);
    add_site(build, 3, FM_SITE_NORMAL, 4);
    static const uint32_t pd_ps[] = {1, 2, 3, 3, 4};
    for (unsigned i = 0; i < 5; i++)
        fm_build_pd(build, pd_ps[i]);
    add_call(build, 1, 0, 2, 1);
    add_call(build, 2, 0, 3, 1);
    add_call(build, 3, 0, 2, 2);
    add_call(build, 2, 1, 4, 3);
    add_call(build, 4, 0, 2, 4);
    add_call(build, 4, 1, 5, 5);
    struct fm_analysis *a = analyse(build);

    static const uint32_t cliques[] = {3, 2, 2, 2, 1}, parents[] = {6, 1, 0};
    static const int64_t rows[5][2] = {{0, 16}, {7, 0}, {1, 0}, {3, 5}, {5, 0}};
    for (uint32_t pd = 1; pd <= 5; pd++) {
        struct fm_cost cost;
        fm_analysis_pd_cost(a, pd, &cost);
        g_assert_cmpuint(a->pd_clique[pd], ==, cliques[pd - 1]);
        g_assert_cmpint(cost.own[FM_CALLSEQS], ==, rows[pd - 1][0]);
        g_assert_cmpint(cost.desc[FM_CALLSEQS], ==, rows[pd - 1][1]);
    }
    for (uint32_t clique = 1; clique <= 3; clique++)
        g_assert_cmpuint(a->clique_parent[clique], ==, parents[clique - 1]);
    struct fm_cost cost;
    fm_analysis_csd_cost(a, 1, &cost);
    g_assert_cmpint(cost.desc[FM_CALLSEQS], ==, 15);
    fm_analysis_ps_cost(a, 3, &cost);
    g_assert_cmpint(cost.own[FM_CALLSEQS], ==, 4);
    g_assert_cmpint(cost.desc[FM_CALLSEQS], ==, 5);
    g_autofree struct fm_callers_row *callers = NULL;
    uint32_t count;
    fm_analysis_callers(a, 2, FM_GROUP_PROC, NULL, &callers, &count);
    g_assert_cmpuint(count, ==, 1);
    g_assert_cmpint(callers[0].cost.own[FM_CALLSEQS], ==, 1);
    g_assert_cmpint(callers[0].cost.desc[FM_CALLSEQS], ==, 15);
    g_clear_pointer(&callers, g_free);
    fm_analysis_callers_inside(a, 2, FM_GROUP_PROC, NULL, &callers, &count);
    g_assert_cmpuint(count, ==, 1);
    g_assert_cmpuint(callers[0].ps, ==, 3);
    g_assert_cmpint(callers[0].cost.own[FM_CALLSEQS], ==, 6);
    g_assert_cmpint(callers[0].cost.desc[FM_CALLSEQS], ==, 0);
    /* p was entered for 16, of which 9 are q's and its leaf's: 7. All of q is within. */
    static const int64_t sums[2][4] = {{16, 0, -9, 7}, {0, 9, 0, 9}};
    for (uint32_t ps = 2; ps <= 3; ps++) {
        struct fm_callers_sum sum;
        fm_analysis_callers_sum(a, ps, &sum);
        g_assert_cmpint(fm_cost_total(&sum.outside, FM_CALLSEQS), ==, sums[ps - 2][0]);
        g_assert_cmpint(fm_cost_total(&sum.within, FM_CALLSEQS), ==, sums[ps - 2][1]);
        g_assert_cmpint(fm_cost_total(&sum.others, FM_CALLSEQS), ==, sums[ps - 2][2]);
        g_assert_cmpint(fm_cost_total(&sum.total, FM_CALLSEQS), ==, sums[ps - 2][3]);
    }
    g_assert_true(fm_analysis_is_recursive(a, 2));
    g_assert_false(fm_analysis_is_recursive(a, 4));
    done(a);
}

/* 1.1 % of 1000 calls are 11, though not in binary fractions; so is 14 % of 50. */
static void test_limits_include_what_is_just_at_them(void)
{
    static const struct {
        double percent;
        uint64_t calls, others;
    } cases[] = {{1.1, 11, 989}, {7, 7, 93}, {14, 7, 43}};
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct fm_build *build = fm_build_new(FM_FLAVOUR_MERCURY, "limits");
        static const char *const names[] = {"runtime", "f", "g"};
        for (unsigned k = 0; k < 3; k++) {
            add_ps(build, names[k]);
            add_site(build, k + 1, FM_SITE_CALLBACK, 0);
        }
        for (uint32_t ps = 1; ps <= 3; ps++)
            fm_build_pd(build, ps);
        add_call(build, 1, 0, 2, cases[i].calls);
        add_call(build, 2, 0, 3, cases[i].others);
        struct fm_analysis *a = analyse(build);
        struct fm_top_query query = {.kind = FM_BY_CALLSEQS,
                                     .scope = FM_OVERALL,
                                     .limit = FM_LIMIT_PERCENT,
                                     .threshold = cases[i].percent};
        g_autofree uint32_t *ps = NULL, *fewer = NULL;
        uint32_t count;
        fm_analysis_top(a, &query, &ps, &count);
        g_assert_cmpuint(count, ==, 2);
        query.threshold += 0.001;
        fm_analysis_top(a, &query, &fewer, &count);
        g_assert_cmpuint(count, ==, 1);
        done(a);
    }
}

/* Values beyond 32 bits, of single csds and of sums. */
static void test_wide(void)
{
    struct fm_build *build = fm_build_new(FM_FLAVOUR_MERCURY, "wide");
    add_ps(build, "runtime");
    add_ps(build, "f");
    add_site(build, 1, FM_SITE_CALLBACK, 0);
    add_site(build, 2, FM_SITE_CALLBACK, 0);
    for (uint32_t i = 0; i < 4; i++)
        fm_build_pd(build, i == 0 ? 1 : 2);
    add_call(build, 1, 0, 2, 3000000000u);
    add_call(build, 2, 0, 3, 3000000000u);
    add_call(build, 3, 0, 4, (uint64_t)1 << 40);
    struct fm_analysis *a = analyse(build);
    struct fm_cost cost;
    fm_analysis_pd_cost(a, 3, &cost);
    g_assert_cmpint(cost.own[FM_CALLSEQS], ==, 3000000000);
    g_assert_cmpint(cost.desc[FM_CALLSEQS], ==, (int64_t)1 << 40);
    fm_analysis_csd_cost(a, 1, &cost);
    g_assert_cmpint(cost.desc[FM_CALLSEQS], ==, 3000000000 + ((int64_t)1 << 40));
    g_assert_cmpint(fm_cost_total(&a->root_total, FM_CALLSEQS), ==,
                    6000000000 + ((int64_t)1 << 40));
    done(a);
}

/* Shapes that hurt what recurses, or is not linear: a chain, one clique, one list, and procedures
 * that are all zeroed and all active at once. They would take minutes or the whole stack. */
static void test_large_shapes(void)
{
    enum { CHAIN, CLIQUE, STAR, NESTED, SHAPES };
    const uint32_t count = 200000;
    for (int shape = 0; shape < SHAPES; shape++) {
        struct fm_build *build = fm_build_new(FM_FLAVOUR_MERCURY, "large");
        uint32_t procs = shape == NESTED ? count / 2 : 1;
        for (uint32_t ps = 1; ps <= procs; ps++) {
            add_ps(build, "f");
            add_site(build, ps, FM_SITE_HIGHER_ORDER, 0);
        }
        for (uint32_t pd = 1; pd <= count; pd++)
            fm_build_pd(build, (pd - 1) % procs + 1);
        for (uint32_t pd = 2; pd <= count; pd++)
            add_call(build, shape == STAR ? 1 : pd - 1, 0, pd, 1);
        if (shape == CLIQUE)
            add_call(build, count, 0, 1, 1);
        struct fm_analysis *a = analyse(build);
        g_assert_cmpuint(a->clique_count, ==, shape == CLIQUE ? 1 : count);
        struct fm_cost cost;
        fm_analysis_ps_cost(a, 1, &cost);
        /* One procedure, active in all its pds at once: what is above contains what is below. */
        if (shape == CHAIN || shape == STAR)
            g_assert_cmpint(fm_cost_total(&cost, FM_CALLSEQS), ==, count - 1);
        if (shape == NESTED) {
            g_assert_cmpint(cost.own[FM_CALLSEQS], ==, 1);
            g_assert_cmpint(fm_cost_total(&cost, FM_CALLSEQS), ==, count - 1);
            g_assert_cmpint(pd_compensation(a, 1, 1), ==, count / 2);
            g_assert_cmpint(csd_compensation(a, 5, 3), ==, count / 2 - 2);
        }
        g_autofree struct fm_callers_row *rows = NULL;
        uint32_t row_count;
        fm_analysis_callers(a, 1, FM_GROUP_PROC, NULL, &rows, &row_count);
        g_assert_cmpuint(row_count, ==, shape == CLIQUE ? 0 : 1); /* nothing enters the root's */
        g_assert_true(fm_analysis_is_recursive(a, 1) == (shape == CLIQUE));
        g_assert_cmpuint(fm_analysis_action_clique(a, 90, FM_CALLSEQS), ==,
                         shape == STAR     ? count
                         : shape == CLIQUE ? 1
                                           : count - count / 10);
        done(a);
    }
}

/* Which invariants break when the profile is not sound. */
static void test_broken_invariants(void)
{
    static const struct {
        const char *why, *name;
    } cases[] = {
        {"total in the header is not the sum",
         "sum of call sequence numbers = total in the header"},
        {"a cycle that nobody enters", "sum of self costs = total of the root"},
        {"a clique with two entries",
         "each clique entered by exactly one call site dynamic, the root's by none"},
        {"more exits than calls", "calls in = calls out"},
        {"a normal site calls another procedure",
         "normal call sites call the procedure that they name"},
        {"more is held than was allocated",
         "live memory was allocated in its context, usable bytes are no fewer"},
        {"depths of what does not recurse",
         "depths belong to recursive calls and end at the maximum depth"},
        {"a greatest depth that no call had",
         "depths belong to recursive calls and end at the maximum depth"},
        {"more calls by depth than calls",
         "depths belong to recursive calls and end at the maximum depth"},
        {"a part that lasted longer than the sum",
         "duration and peak of a sum are the maxima of its parts"},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct fm_build *build = fm_build_new(i >= 5 ? FM_FLAVOUR_C : FM_FLAVOUR_MERCURY, "broken");
        add_ps(build, "runtime");
        add_ps(build, "f");
        add_site(build, 1, FM_SITE_CALLBACK, 0);
        add_site(build, 2, FM_SITE_NORMAL, i == 4 ? 1 : 2);
        fm_build_pd(build, 1);
        fm_build_pd(build, 2);
        add_call(build, 1, 0, 2, 5);
        if (i == 0) {
            fm_build_header(build)->has_totals = true;
            fm_build_header(build)->callseqs = 4;
        } else if (i == 1) {
            fm_build_pd(build, 2);
            add_call(build, 3, 0, 3, 1);
        } else if (i == 2) {
            add_call(build, 1, 0, 2, 5);
        } else if (i == 3) {
            fm_build_add(build, 1, FM_EXITS, 1);
        } else if (i == 5) {
            unsigned live = fm_build_measure(build, "live_bytes", "bytes", 1);
            fm_build_measure(build, "live_blocks", "blocks", 1);
            fm_build_measure(build, "usable_bytes", "bytes", 1);
            fm_build_add(build, 1, live, 1);
        } else if (i == 9) {
            struct fm_part part = {
                .times = 1, .process = {.command = "", .folder = ""}, .duration_ns = 3};
            fm_build_part(build, &part);
        } else if (i >= 6) {
            const struct fm_depths depths[] = {
                {2, 1, 0, {1}}, {2, 4, 0, {[1] = 1}}, {2, 2, 8, {[1] = 3}}};
            if (i > 6)
                add_call(build, 2, 0, 2, 5);
            fm_build_depths(build, &depths[i - 6]);
        } else {
            add_call(build, 2, 0, 2, 5);
        }
        struct fm_analysis *a = analyse(build);
        struct fm_invariant *invariants;
        unsigned count, found = 0;
        fm_analysis_invariants(a, &invariants, &count);
        for (unsigned j = 0; j < count; j++)
            found += !invariants[j].holds && g_str_equal(invariants[j].name, cases[i].name);
        if (found != 1)
            g_test_message("%s", cases[i].why);
        g_assert_cmpuint(found, ==, 1);
        fm_invariants_free(invariants, count);
        done(a);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/graphs/undetected-recursion", test_undetected_recursion);
    g_test_add_func("/graphs/two-pds-of-one-procedure", test_two_pds);
    g_test_add_func("/graphs/wide", test_wide);
    g_test_add_func("/graphs/limits", test_limits_include_what_is_just_at_them);
    g_test_add_func("/graphs/large-shapes", test_large_shapes);
    g_test_add_func("/graphs/broken-invariants", test_broken_invariants);
    return g_test_run();
}
