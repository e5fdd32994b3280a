/* SPDX-License-Identifier: Apache-2.0 */
/* Cliques, costs and callers of the real profile against figures computed independently. */
#include <string.h>

#include "sample.h"

static void assert_costs(const int64_t *costs, int64_t quanta, int64_t callseqs, int64_t allocs,
                         int64_t words)
{
    g_assert_cmpint(costs[FM_QUANTA], ==, quanta);
    g_assert_cmpint(costs[FM_CALLSEQS], ==, callseqs);
    g_assert_cmpint(costs[FM_ALLOCS], ==, allocs);
    g_assert_cmpint(costs[FM_WORDS], ==, words);
}

static void test_cliques(void)
{
    const struct fm_analysis *a = sample_analysis();
    if (!a)
        return;
    static const uint32_t first[] = {185, 1, 167, 2, 63, 62, 27, 10, 3,  5,
                                     4,   6, 7,   8, 9,  11, 16, 12, 15, 14};
    static const uint32_t parents[] = {1, 6, 21, 27, 22, 23, 24, 25, 26, 17, 18, 29};
    static const uint32_t last_parents[] = {209, 208, 203, 200, 5, 0};
    g_assert_cmpuint(a->clique_count, ==, 185);
    g_assert_cmpuint(a->clique_entries_extra, ==, 0);
    for (uint32_t i = 0; i < G_N_ELEMENTS(first); i++)
        g_assert_cmpuint(a->pd_clique[i + 1], ==, first[i]);
    for (uint32_t i = 0; i < G_N_ELEMENTS(parents); i++)
        g_assert_cmpuint(a->clique_parent[i + 1], ==, parents[i]);
    for (uint32_t i = 0; i < G_N_ELEMENTS(last_parents); i++)
        g_assert_cmpuint(a->clique_parent[180 + i], ==, last_parents[i]);

    g_autoptr(GString) members = g_string_new(NULL);
    g_autoptr(GString) edges = g_string_new(NULL);
    for (uint32_t i = 1; i <= 185; i++) {
        const char *comma = i == 1 ? "" : ",";
        g_string_append_printf(members, "%s%u:%u", comma, i, a->pd_clique[i]);
        g_string_append_printf(edges, "%s%d", comma,
                               a->clique_parent[i] ? (int)a->clique_parent[i] : -1);
    }
    g_autofree char *members_sum = sample_sha256(members);
    g_autofree char *edges_sum = sample_sha256(edges);
    g_assert_cmpstr(members_sum, ==,
                    "2e5313b75541bda0fc5903333940796f3ce482dfe18cd847746d95980e73cfd9");
    g_assert_cmpstr(edges_sum, ==,
                    "cf9c3c8f54260d5d3cc8fd2b8b81fc45d5304828df95534ebfb855087bb85fe6");
}

static void test_graph(void)
{
    const struct fm_analysis *a = sample_analysis();
    if (!a)
        return;
    uint32_t inside = 0, directly_recursive = 0, deepest = 0, zeroed = 0;
    for (uint32_t csd = 1; csd <= a->profile->csd_count; csd++) {
        inside += fm_analysis_csd_child_clique(a, csd) == 0;
        directly_recursive += a->profile->csd_caller[csd] == a->profile->csd_callee[csd];
    }
    for (uint32_t clique = 1; clique <= a->clique_count; clique++) {
        uint32_t depth = fm_analysis_clique_ancestors(a, clique, NULL, 0);
        deepest = MAX(deepest, depth);
    }
    for (uint32_t ps = 1; ps <= a->profile->ps_count; ps++)
        zeroed += a->ps_zeroed[ps];
    g_assert_cmpuint(inside, ==, 27);
    g_assert_cmpuint(directly_recursive, >=, 25);
    g_assert_cmpuint(deepest, ==, 11);
    g_assert_cmpuint(zeroed, ==, 9);

    static const uint32_t csds[] = {130, 119, 118, 115, 109, 12};
    static const uint32_t cliques[] = {91, 110, 111, 112, 166, 167};
    uint32_t found[16];
    g_assert_cmpuint(fm_analysis_clique_ancestors(a, 90, found, 16), ==, 6);
    for (unsigned i = 0; i < 6; i++) {
        g_assert_cmpuint(found[i], ==, csds[i]);
        g_assert_cmpuint(fm_analysis_clique_of_csd_caller(a, found[i]), ==, cliques[i]);
    }
    g_assert_cmpuint(fm_analysis_clique_entry(a, 90), ==, 97);
    g_assert_cmpuint(fm_analysis_clique_entry(a, 185), ==, 0);
}

static void test_compensation(void)
{
    const struct fm_analysis *a = sample_analysis();
    if (!a)
        return;
    static const struct {
        uint32_t ps;
        int64_t callseqs;
    } keys[] = {{8, 17},         {10, 2},   {25, 76}, {29, 65},    {43, 26},
                {57, 202353073}, {66, 601}, {83, 61}, {88, 239999}};
    unsigned next = 0;
    for (uint32_t ps = 1; ps <= a->profile->ps_count; ps++) {
        struct fm_cost cost = {0};
        fm_analysis_csd_compensation(a, 2, ps, 1, &cost);
        if (cost.desc[FM_CALLSEQS] == 0)
            continue;
        g_assert_cmpuint(next, <, G_N_ELEMENTS(keys));
        g_assert_cmpuint(ps, ==, keys[next].ps);
        g_assert_cmpint(cost.desc[FM_CALLSEQS], ==, keys[next].callseqs);
        next++;
    }
    g_assert_cmpuint(next, ==, G_N_ELEMENTS(keys));

    uint32_t pds = 0, csds = 0;
    static const struct fm_cost nothing;
    for (uint32_t pd = 1; pd <= a->profile->pd_count; pd++) {
        struct fm_cost cost = {0};
        for (uint32_t ps = 1; ps <= a->profile->ps_count; ps++)
            fm_analysis_pd_compensation(a, pd, ps, -1, &cost);
        pds += memcmp(&cost, &nothing, sizeof(cost)) != 0;
    }
    for (uint32_t csd = 1; csd <= a->profile->csd_count; csd++) {
        struct fm_cost cost = {0};
        for (uint32_t ps = 1; ps <= a->profile->ps_count; ps++)
            fm_analysis_csd_compensation(a, csd, ps, -1, &cost);
        csds += memcmp(&cost, &nothing, sizeof(cost)) != 0;
    }
    g_assert_cmpuint(pds, ==, 17);
    g_assert_cmpuint(csds, ==, 22);
}

static void test_costs(void)
{
    const struct fm_analysis *a = sample_analysis();
    if (!a)
        return;
    const struct fm_profile *profile = a->profile;
    assert_costs(a->root_total.own, 0, 0, 0, 0);
    assert_costs(a->root_total.desc, 110, 202594363, 140837, 221479);
    struct fm_cost cost;
    static const uint32_t trivial[] = {1, 3, 4};
    for (unsigned i = 0; i < G_N_ELEMENTS(trivial); i++) {
        fm_analysis_csd_cost(a, trivial[i], &cost);
        assert_costs(cost.own, 0, 1, 0, 0);
        assert_costs(cost.desc, 0, 0, 0, 0);
    }
    fm_analysis_csd_cost(a, 2, &cost);
    assert_costs(cost.own, 0, 1, 2, 4);
    assert_costs(cost.desc, 110, 202594347, 140831, 221452);
    fm_analysis_csd_cost(a, 5, &cost);
    assert_costs(cost.own, 0, 1, 0, 0);
    assert_costs(cost.desc, 0, 11, 4, 23);

    int64_t pds = 0, pss = 0, csds = 0, csss = 0, pd_quanta = 0, ps_quanta = 0;
    g_autoptr(GString) text = g_string_new(NULL);
    for (uint32_t pd = 1; pd <= profile->pd_count; pd++) {
        fm_analysis_pd_cost(a, pd, &cost);
        pds += cost.desc[FM_CALLSEQS];
        pd_quanta += cost.desc[FM_QUANTA];
        g_string_append_printf(text, "%s%u:%d,%d,%d,%d", pd == 1 ? "" : ";", pd,
                               (int)cost.desc[FM_QUANTA], (int)cost.desc[FM_CALLSEQS],
                               (int)cost.desc[FM_ALLOCS], (int)cost.desc[FM_WORDS]);
    }
    for (uint32_t ps = 1; ps <= profile->ps_count; ps++) {
        fm_analysis_ps_cost(a, ps, &cost);
        pss += cost.desc[FM_CALLSEQS];
        ps_quanta += cost.desc[FM_QUANTA];
    }
    for (uint32_t csd = 1; csd <= profile->csd_count; csd++) {
        fm_analysis_csd_cost(a, csd, &cost);
        csds += cost.desc[FM_CALLSEQS];
    }
    for (uint32_t css = 1; css <= profile->css_count; css++) {
        fm_analysis_css_cost(a, css, &cost);
        csss += cost.desc[FM_CALLSEQS];
    }
    g_assert_cmpint(pds, ==, 1316698554);
    g_assert_cmpint(pss, ==, 1316698554);
    g_assert_cmpint(csds, ==, 1215161735);
    g_assert_cmpint(csss, ==, 1215161735);
    g_assert_cmpint(pd_quanta, ==, 718);
    g_assert_cmpint(ps_quanta, ==, 718);
    g_autofree char *sum = sample_sha256(text);
    g_assert_cmpstr(sum, ==, "dc7c546df2e2d557185b976478150c4553252fcb60a18db388caa7dad58e1e86");
}

static void test_rows(void)
{
    const struct fm_analysis *a = sample_analysis();
    if (!a)
        return;
    static const struct {
        uint32_t id;
        const char *name; /* of a procedure; NULL: id is a call site */
        int64_t calls, own[4], desc[4];
    } rows[] = {
        {3, "mandelbrot.main/2-0", 1, {0, 1, 2, 4}, {110, 202594347, 140831, 221452}},
        {57, "mandelbrot.my_map/3-0", 201, {0, 201, 200, 400}, {110, 202352872, 139739, 219417}},
        {60,
         "mandelbrot.draw_row_2/4-0",
         40200,
         {0, 40200, 19939, 59817},
         {110, 202312272, 119800, 159600}},
        {61, "mandelbrot.escape/7-0", 100976685, {52, 100976685, 0, 0}, {58, 100956624, 0, 0}},
        {62, "math.sqrt/2+1-0", 100996502, {58, 100996502, 0, 0}, {0, 0, 0, 0}},
        {63, "mandelbrot.component_gradient/4-0", 59817, {0, 59817, 0, 0}, {0, 179451, 0, 0}},
        {69, "mandelbrot.write_ppm/3-0", 1, {0, 1, 2, 8}, {0, 240104, 22, 57}},
        {88, "cord.foldl_node_pred/4-2", 79999, {0, 79999, 0, 0}, {0, 160000, 0, 0}},
        {1, NULL, 5, {0, 5, 2, 4}, {110, 202594358, 140835, 221475}},
        {12, NULL, 1, {0, 1, 2, 7}, {110, 202594186, 140761, 221279}},
        {63, NULL, 200, {0, 200, 0, 0}, {110, 202352672, 139739, 219417}},
        {43, NULL, 40000, {0, 40000, 0, 0}, {110, 201893309, 0, 0}},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct fm_cost cost;
        if (rows[i].name) {
            g_assert_cmpstr(a->profile->ps[rows[i].id].raw_name, ==, rows[i].name);
            fm_analysis_ps_cost(a, rows[i].id, &cost);
        } else {
            fm_analysis_css_cost(a, rows[i].id, &cost);
        }
        g_assert_cmpint(cost.calls, ==, rows[i].calls);
        assert_costs(cost.own, rows[i].own[0], rows[i].own[1], rows[i].own[2], rows[i].own[3]);
        assert_costs(cost.desc, rows[i].desc[0], rows[i].desc[1], rows[i].desc[2], rows[i].desc[3]);
    }
    g_assert_cmpuint(a->profile->css[12].line, ==, 42);
    g_assert_cmpuint(a->profile->css[63].line, ==, 296);
    g_assert_cmpuint(a->profile->css[43].line, ==, 222);
}

static void test_modules(void)
{
    const struct fm_analysis *a = sample_analysis();
    if (!a)
        return;
    static const struct {
        const char *name;
        uint32_t procedures;
        int64_t own[4];
    } modules[] = {
        {"mandelbrot", 28, {52, 101117726, 20545, 61036}},
        {"math", 37, {58, 100996502, 0, 0}},
        {"io", 453, {0, 120027, 8, 16}},
        {"cord", 87, {0, 120401, 120198, 160197}},
        {"Mercury runtime", 1, {0, 0, 0, 0}},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(modules); i++) {
        const struct fm_module *module = fm_analysis_module(a, modules[i].name);
        g_assert_nonnull(module);
        g_assert_cmpuint(module->ps_count, ==, modules[i].procedures);
        assert_costs(module->cost.own, modules[i].own[0], modules[i].own[1], modules[i].own[2],
                     modules[i].own[3]);
        g_assert_cmpint(module->active, ==, i < 4);
        for (uint32_t p = 1; p < module->ps_count; p++)
            g_assert_cmpuint(module->ps[p], <, module->ps[p - 1]);
    }
    g_assert_null(fm_analysis_module(a, "no such module"));
    uint32_t active = 0, active_procedures = 0;
    for (uint32_t i = 0; i < a->module_count; i++)
        active += a->modules[i].active;
    for (uint32_t ps = 1; ps <= a->profile->ps_count; ps++) {
        struct fm_cost cost;
        fm_analysis_ps_cost(a, ps, &cost);
        active_procedures += !fm_cost_is_inactive(&cost);
    }
    g_assert_cmpuint(a->module_count, ==, 116);
    g_assert_cmpuint(active, ==, 20);
    g_assert_cmpuint(active_procedures, ==, 98);
}

static void test_callers(void)
{
    const struct fm_analysis *a = sample_analysis();
    if (!a)
        return;
    g_autofree struct fm_callers_row *rows = NULL;
    uint32_t count;
    g_assert_cmpuint(a->ps_caller_first[63] - a->ps_caller_first[62], ==, 3);
    fm_analysis_callers(a, 62, FM_GROUP_PROC, NULL, &rows, &count);
    g_assert_cmpuint(count, ==, 2);
    g_assert_cmpuint(rows[0].ps, ==, 60);
    g_assert_cmpint(rows[0].cost.own[FM_CALLSEQS], ==, 39878);
    g_assert_cmpuint(rows[1].ps, ==, 61);
    g_assert_cmpint(rows[1].cost.own[FM_CALLSEQS], ==, 100956624);
    g_clear_pointer(&rows, g_free);

    fm_analysis_callers(a, 62, FM_GROUP_CLIQUE, NULL, &rows, &count);
    g_assert_cmpuint(count, ==, 2);
    g_assert_cmpuint(rows[0].clique, ==, 91);
    g_assert_cmpint(rows[0].cost.own[FM_CALLSEQS], ==, 100956624);
    g_assert_cmpuint(rows[1].clique, ==, 110);
    g_clear_pointer(&rows, g_free);

    /* escape: one of its two callers is a direct recursion, which is left out. */
    g_assert_cmpuint(a->ps_caller_first[62] - a->ps_caller_first[61], ==, 2);
    fm_analysis_callers(a, 61, FM_GROUP_PROC, NULL, &rows, &count);
    g_assert_cmpuint(count, ==, 1);
    g_assert_cmpuint(rows[0].ps, ==, 60);
    g_assert_cmpint(rows[0].cost.own[FM_CALLSEQS], ==, 40000);
    g_assert_cmpint(rows[0].cost.desc[FM_CALLSEQS], ==, 201893309);
    g_clear_pointer(&rows, g_free);

    static const struct {
        uint32_t clique;
        int64_t own;
    } conversion[] = {{100, 39878}, {104, 39878}, {108, 39878}, {110, 39878}, {166, 2}};
    fm_analysis_callers(a, 54, FM_GROUP_CLIQUE, NULL, &rows, &count);
    g_assert_cmpuint(count, ==, G_N_ELEMENTS(conversion));
    for (uint32_t i = 0; i < count; i++) {
        g_assert_cmpuint(rows[i].clique, ==, conversion[i].clique);
        g_assert_cmpint(rows[i].cost.own[FM_CALLSEQS], ==, conversion[i].own);
    }
    g_clear_pointer(&rows, g_free);

    fm_analysis_callers(a, 57, FM_GROUP_MODULE, NULL, &rows, &count);
    g_assert_cmpuint(count, ==, 1);
    g_assert_cmpstr(rows[0].module, ==, "mandelbrot");
    g_assert_cmpint(rows[0].cost.desc[FM_CALLSEQS], ==, 202353072);
}

static void test_invariants(void)
{
    const struct fm_analysis *a = sample_analysis();
    if (!a)
        return;
    struct fm_invariant *invariants;
    unsigned count;
    fm_analysis_invariants(a, &invariants, &count);
    g_assert_cmpuint(count, >=, 8);
    for (unsigned i = 0; i < count; i++) {
        if (!invariants[i].holds)
            g_test_message("%s: %s", invariants[i].name, invariants[i].detail);
        g_assert_true(invariants[i].holds);
    }
    fm_invariants_free(invariants, count);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/sample/cliques", test_cliques);
    g_test_add_func("/sample/graph", test_graph);
    g_test_add_func("/sample/compensation", test_compensation);
    g_test_add_func("/sample/costs", test_costs);
    g_test_add_func("/sample/rows", test_rows);
    g_test_add_func("/sample/modules", test_modules);
    g_test_add_func("/sample/callers", test_callers);
    g_test_add_func("/sample/invariants", test_invariants);
    return g_test_run();
}
