/* SPDX-License-Identifier: Apache-2.0 */
/* Two made-up graphs with figures worked out by hand, and random graphs against a reference that
 * does what the method says, word by word and slowly. */
#include <string.h>

#include "analysis/analysis.h"
#include "analysis/job.h"
#include "base/error.h"
#include "deep/build.h"

#define PD_MAX 16
#define CSD_MAX 80
#define PS_MAX 6

static struct fm_analysis *analyse(struct fm_build *build)
{
    struct fm_profile *profile;
    struct fm_analysis *analysis;
    GError *error = NULL;
    if (!fm_build_finish(build, &profile, &error) ||
        !fm_analysis_new(profile, NULL, &analysis, &error))
        g_error("%s", error->message);
    return analysis;
}

static void done(struct fm_analysis *a)
{
    struct fm_profile *profile = (struct fm_profile *)(uintptr_t)a->profile;
    fm_analysis_free(a);
    fm_profile_free(profile);
}

static uint32_t add_ps(struct fm_build *build, const char *name)
{
    return fm_build_ps(build, &(struct fm_ps){.decl_module = "m", .name = name});
}

static uint32_t add_site(struct fm_build *build, uint32_t ps, enum fm_site_kind kind,
                         uint32_t callee)
{
    return fm_build_css(build, ps, &(struct fm_css){.kind = kind, .callee_ps = callee});
}

static void add_call(struct fm_build *build, uint32_t caller, uint32_t slot, uint32_t callee,
                     uint64_t own)
{
    uint32_t csd = fm_build_csd(build, caller, slot, callee);
    fm_build_add(build, csd, FM_EXITS, own);
    fm_build_add(build, csd, FM_CALLSEQS, own);
}

static int64_t pd_compensation(const struct fm_analysis *a, uint32_t pd, uint32_t ps)
{
    struct fm_cost cost = {0};
    fm_analysis_pd_compensation(a, pd, ps, 1, &cost);
    return cost.desc[FM_CALLSEQS];
}

static int64_t csd_compensation(const struct fm_analysis *a, uint32_t csd, uint32_t ps)
{
    struct fm_cost cost = {0};
    fm_analysis_csd_compensation(a, csd, ps, 1, &cost);
    return cost.desc[FM_CALLSEQS];
}

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

/* --- the reference --- */

struct reference {
    const struct fm_profile *profile;
    bool arc[PD_MAX + 1][PD_MAX + 1];
    uint32_t order[PD_MAX + 1], ordered; /* by finishing time */
    bool seen[PD_MAX + 1];
    uint32_t clique[PD_MAX + 1], cliques; /* found first = 0 while searching */
    uint32_t parent[PD_MAX + 2];
    bool zeroed[PS_MAX + 1];
    int64_t csd_desc[CSD_MAX + 1], pd_own[PD_MAX + 1], pd_desc[PD_MAX + 1];
    int64_t csd_comp[CSD_MAX + 1][PS_MAX + 1], pd_comp[PD_MAX + 1][PS_MAX + 1];
};

static void search_forward(struct reference *r, uint32_t pd)
{
    r->seen[pd] = true;
    for (uint32_t to = 1; to <= r->profile->pd_count; to++) {
        if (r->arc[pd][to] && !r->seen[to])
            search_forward(r, to);
    }
    r->order[r->ordered++] = pd;
}

static void search_back(struct reference *r, uint32_t pd)
{
    r->seen[pd] = true;
    r->clique[pd] = r->cliques;
    for (uint32_t from = 1; from <= r->profile->pd_count; from++) {
        if (r->arc[from][pd] && !r->seen[from])
            search_back(r, from);
    }
}

/* Two searches over the nodes 0, 1, ...; numbers backwards, so that {0} is clique 0. */
static void reference_cliques(struct reference *r)
{
    const struct fm_profile *profile = r->profile;
    for (uint32_t csd = 1; csd <= profile->csd_count; csd++)
        r->arc[profile->csd_caller[csd]][profile->csd_callee[csd]] = true;
    for (uint32_t pd = 0; pd <= profile->pd_count; pd++) {
        if (!r->seen[pd])
            search_forward(r, pd);
    }
    memset(r->seen, 0, sizeof(r->seen));
    while (r->ordered > 0) {
        uint32_t pd = r->order[--r->ordered];
        if (!r->seen[pd]) {
            search_back(r, pd);
            r->cliques++;
        }
    }
    for (uint32_t pd = 0; pd <= profile->pd_count; pd++)
        r->clique[pd] = r->cliques - 1 - r->clique[pd];
}

/* Calls visit(csd) for the csds of pd: slots ascending, lists backwards. */
#define EACH_CSD(profile, pd, csd)                                                          \
    for (uint32_t slot_ = 0, n_ = 0; slot_ < (profile)->ps[(profile)->pd_ps[pd]].css_count; \
         slot_++)                                                                           \
        for (const uint32_t *list_ = (n_ = 0, fm_profile_slot(profile, pd, slot_, &n_));    \
             n_ > 0 && ((csd) = list_[n_ - 1], true); n_--)

static void reference_parents(struct reference *r)
{
    const struct fm_profile *profile = r->profile;
    for (uint32_t pd = 1; pd <= profile->pd_count; pd++) {
        const struct fm_ps *ps = &profile->ps[profile->pd_ps[pd]];
        uint32_t csd;
        EACH_CSD(profile, pd, csd)
        {
            uint32_t callee = profile->csd_callee[csd];
            if (r->clique[callee] != r->clique[pd])
                r->parent[r->clique[callee]] = csd;
        }
        for (uint32_t slot = 0; slot < ps->css_count; slot++) {
            enum fm_site_kind kind = profile->css[profile->css_of_ps[ps->css_first + slot]].kind;
            if (kind == FM_SITE_HIGHER_ORDER || kind == FM_SITE_METHOD)
                r->zeroed[profile->pd_ps[pd]] = true;
        }
    }
}

static void reference_clique_costs(struct reference *r, uint32_t clique)
{
    const struct fm_profile *profile = r->profile;
    uint32_t parent = r->parent[clique];
    int64_t sum[PS_MAX + 1] = {0}, over[PS_MAX + 1] = {0};
    bool has_over[PS_MAX + 1] = {0};
    for (uint32_t pd = 1; pd <= profile->pd_count; pd++) {
        if (r->clique[pd] != clique)
            continue;
        uint32_t csd, own_ps = profile->pd_ps[pd];
        EACH_CSD(profile, pd, csd)
        {
            if (r->clique[profile->csd_callee[csd]] == clique)
                continue;
            r->pd_desc[pd] += (int64_t)fm_profile_own(profile, csd, FM_CALLSEQS) + r->csd_desc[csd];
            for (uint32_t ps = 1; ps <= profile->ps_count; ps++)
                r->pd_comp[pd][ps] += r->csd_comp[csd][ps];
        }
        int64_t total = r->pd_own[pd] + r->pd_desc[pd];
        for (uint32_t ps = 1; ps <= profile->ps_count; ps++)
            sum[ps] += r->pd_comp[pd][ps];
        if (r->zeroed[own_ps]) {
            over[own_ps] += total;
            has_over[own_ps] = true;
        }
        r->csd_desc[parent] += total;
    }
    r->csd_desc[parent] -= (int64_t)fm_profile_own(profile, parent, FM_CALLSEQS);
    for (uint32_t ps = 1; parent != 0 && ps <= profile->ps_count; ps++)
        r->csd_comp[parent][ps] = has_over[ps] ? over[ps] : sum[ps];
    r->csd_desc[0] = 0;
}

static void reference_run(struct reference *r, const struct fm_profile *profile)
{
    memset(r, 0, sizeof(*r));
    r->profile = profile;
    reference_cliques(r);
    reference_parents(r);
    for (uint32_t csd = 1; csd <= profile->csd_count; csd++)
        r->pd_own[profile->csd_callee[csd]] += (int64_t)fm_profile_own(profile, csd, FM_CALLSEQS);
    for (uint32_t clique = 1; clique < r->cliques; clique++)
        reference_clique_costs(r, clique);
}

static void compare_nodes(const struct fm_analysis *a, const struct reference *r)
{
    const struct fm_profile *profile = a->profile;
    struct fm_cost cost;
    g_assert_cmpuint(a->clique_count, ==, r->cliques - 1);
    for (uint32_t clique = 1; clique <= a->clique_count; clique++)
        g_assert_cmpuint(a->clique_parent[clique], ==, r->parent[clique]);
    for (uint32_t pd = 1; pd <= profile->pd_count; pd++) {
        g_assert_cmpuint(a->pd_clique[pd], ==, r->clique[pd]);
        fm_analysis_pd_cost(a, pd, &cost);
        g_assert_cmpint(cost.own[FM_CALLSEQS], ==, r->pd_own[pd]);
        g_assert_cmpint(cost.desc[FM_CALLSEQS], ==, r->pd_desc[pd]);
        for (uint32_t ps = 1; ps <= profile->ps_count; ps++)
            g_assert_cmpint(pd_compensation(a, pd, ps), ==, r->pd_comp[pd][ps]);
    }
    for (uint32_t csd = 1; csd <= profile->csd_count; csd++) {
        fm_analysis_csd_cost(a, csd, &cost);
        g_assert_cmpint(cost.desc[FM_CALLSEQS], ==, r->csd_desc[csd]);
        for (uint32_t ps = 1; ps <= profile->ps_count; ps++)
            g_assert_cmpint(csd_compensation(a, csd, ps), ==, r->csd_comp[csd][ps]);
    }
}

/* By clique: calls that enter their callee's clique, or the others. */
static void compare_callers(const struct fm_analysis *a, const struct reference *r, uint32_t ps,
                            bool inside)
{
    const struct fm_profile *profile = a->profile;
    int64_t own[PD_MAX + 2] = {0}, desc[PD_MAX + 2] = {0};
    for (uint32_t csd = 1; csd <= profile->csd_count; csd++) {
        uint32_t caller = profile->csd_caller[csd], callee = profile->csd_callee[csd];
        if (profile->pd_ps[callee] != ps || (r->parent[r->clique[callee]] != csd) != inside)
            continue;
        own[r->clique[caller]] += (int64_t)fm_profile_own(profile, csd, FM_CALLSEQS);
        desc[r->clique[caller]] += r->csd_desc[csd];
        for (uint32_t pd = 1; pd <= profile->pd_count && !inside; pd++) {
            if (r->clique[pd] == r->clique[callee])
                desc[r->clique[caller]] -= r->pd_comp[pd][ps];
        }
    }
    g_autofree struct fm_callers_row *rows = NULL;
    uint32_t count;
    (inside ? fm_analysis_callers_inside : fm_analysis_callers)(a, ps, FM_GROUP_CLIQUE, NULL, &rows,
                                                                &count);
    g_assert_true(!inside || fm_analysis_is_recursive(a, ps) == (count > 0));
    for (uint32_t i = 0; i < count; i++) {
        g_assert_cmpint(rows[i].cost.own[FM_CALLSEQS], ==, own[rows[i].clique]);
        g_assert_cmpint(rows[i].cost.desc[FM_CALLSEQS], ==, desc[rows[i].clique]);
        own[rows[i].clique] = desc[rows[i].clique] = 0;
    }
    for (uint32_t clique = 1; clique <= a->clique_count; clique++)
        g_assert_cmpint(own[clique], ==, 0);
}

/* What the callers paid, what recursions cost that others entered, less what others cost in those
 * entered here: each from the reference's figures, together the procedure's total. */
static void compare_callers_sum(const struct fm_analysis *a, const struct reference *r, uint32_t ps)
{
    const struct fm_profile *profile = a->profile;
    int64_t outside = 0, within = 0, others = 0, inside_own = 0;
    bool entered[PD_MAX + 2] = {false};
    for (uint32_t csd = 1; csd <= profile->csd_count; csd++) {
        uint32_t callee = profile->csd_callee[csd];
        int64_t own = (int64_t)fm_profile_own(profile, csd, FM_CALLSEQS);
        if (profile->pd_ps[callee] != ps)
            continue;
        if (r->parent[r->clique[callee]] == csd) {
            outside += own + r->csd_desc[csd];
            entered[r->clique[callee]] = true;
        } else {
            inside_own += own;
        }
    }
    for (uint32_t pd = 1; pd <= profile->pd_count; pd++) {
        int64_t total = r->pd_own[pd] + r->pd_desc[pd] - r->pd_comp[pd][ps];
        if (entered[r->clique[pd]])
            outside -= r->pd_comp[pd][ps];
        if (entered[r->clique[pd]] && profile->pd_ps[pd] != ps)
            others -= total;
        if (!entered[r->clique[pd]] && profile->pd_ps[pd] == ps)
            within += total;
    }
    struct fm_callers_sum sum;
    fm_analysis_callers_sum(a, ps, &sum);
    g_assert_cmpint(fm_cost_total(&sum.outside, FM_CALLSEQS), ==, outside);
    g_assert_cmpint(fm_cost_total(&sum.within, FM_CALLSEQS), ==, within);
    g_assert_cmpint(fm_cost_total(&sum.others, FM_CALLSEQS), ==, others);
    g_assert_cmpint(sum.within.own[FM_CALLSEQS], ==, inside_own);
    g_assert_cmpint(sum.others.own[FM_CALLSEQS], ==, 0);
    g_assert_cmpint(outside + within + others, ==, fm_cost_total(&sum.total, FM_CALLSEQS));
}

static void compare_sums(const struct fm_analysis *a, const struct reference *r)
{
    const struct fm_profile *profile = a->profile;
    int64_t ps_desc[PS_MAX + 1] = {0}, css_desc[64] = {0}, css_own[64] = {0};
    struct fm_cost cost;
    for (uint32_t pd = 1; pd <= profile->pd_count; pd++)
        ps_desc[profile->pd_ps[pd]] += r->pd_desc[pd] - r->pd_comp[pd][profile->pd_ps[pd]];
    for (uint32_t csd = 1; csd <= profile->csd_count; csd++) {
        uint32_t css = profile->csd_css[csd];
        css_own[css] += (int64_t)fm_profile_own(profile, csd, FM_CALLSEQS);
        css_desc[css] += r->csd_desc[csd] - r->csd_comp[csd][profile->css[css].ps];
    }
    for (uint32_t ps = 1; ps <= profile->ps_count; ps++) {
        fm_analysis_ps_cost(a, ps, &cost);
        g_assert_cmpint(cost.desc[FM_CALLSEQS], ==, ps_desc[ps]);
        compare_callers(a, r, ps, false);
        compare_callers(a, r, ps, true);
        compare_callers_sum(a, r, ps);
    }
    for (uint32_t css = 1; css <= profile->css_count; css++) {
        fm_analysis_css_cost(a, css, &cost);
        g_assert_cmpint(cost.own[FM_CALLSEQS], ==, css_own[css]);
        g_assert_cmpint(cost.desc[FM_CALLSEQS], ==, css_desc[css]);
    }
}

/* Lists by ps, css: complete and in the promised order. */
static void compare_indexes(const struct fm_analysis *a)
{
    const struct fm_profile *profile = a->profile;
    uint32_t callers = 0, sites = 0, pds = 0;
    for (uint32_t ps = 1; ps <= profile->ps_count; ps++) {
        for (uint32_t i = a->ps_caller_first[ps]; i < a->ps_caller_first[ps + 1]; i++, callers++) {
            g_assert_cmpuint(profile->pd_ps[profile->csd_callee[a->ps_callers[i]]], ==, ps);
            g_assert_true(i == a->ps_caller_first[ps] || a->ps_callers[i] < a->ps_callers[i - 1]);
        }
        for (uint32_t i = a->ps_pd_first[ps]; i < a->ps_pd_first[ps + 1]; i++, pds++) {
            g_assert_cmpuint(profile->pd_ps[a->ps_pds[i]], ==, ps);
            g_assert_true(i == a->ps_pd_first[ps] || a->ps_pds[i] > a->ps_pds[i - 1]);
        }
    }
    for (uint32_t css = 1; css <= profile->css_count; css++) {
        for (uint32_t i = a->css_csd_first[css]; i < a->css_csd_first[css + 1]; i++, sites++) {
            uint32_t csd = a->css_csds[i];
            g_assert_cmpuint(profile->csd_css[csd], ==, css);
            if (i == a->css_csd_first[css])
                continue;
            uint32_t before = a->css_csds[i - 1];
            uint32_t ps = profile->pd_ps[profile->csd_callee[csd]];
            uint32_t ps_before = profile->pd_ps[profile->csd_callee[before]];
            g_assert_cmpuint(ps_before, <=, ps);
            if (ps_before == ps)
                g_assert_cmpuint(profile->csd_caller[before], >=, profile->csd_caller[csd]);
        }
    }
    g_assert_cmpuint(callers, ==, profile->csd_count);
    g_assert_cmpuint(sites, ==, profile->csd_count);
    g_assert_cmpuint(pds, ==, profile->pd_count);
}

/* Any graph at all, sound or not: the formulas must hold for all. */
static struct fm_build *random_graph(GRand *rand)
{
    struct fm_build *build = fm_build_new(FM_FLAVOUR_MERCURY, "random");
    uint32_t procs = (uint32_t)g_rand_int_range(rand, 1, PS_MAX + 1);
    uint32_t pds = (uint32_t)g_rand_int_range(rand, 1, PD_MAX + 1);
    uint32_t sites[PS_MAX + 1] = {0};
    enum fm_site_kind kinds[PS_MAX + 1][4];
    for (uint32_t ps = 1; ps <= procs; ps++)
        add_ps(build, "p");
    for (uint32_t ps = 1; ps <= procs; ps++) {
        sites[ps] = (uint32_t)g_rand_int_range(rand, ps == 1, 4);
        for (uint32_t site = 0; site < sites[ps]; site++) {
            kinds[ps][site] = (enum fm_site_kind)g_rand_int_range(rand, 0, FM_SITE_KINDS);
            add_site(build, ps, kinds[ps][site], kinds[ps][site] == FM_SITE_NORMAL ? 1 : 0);
        }
    }
    uint32_t pd_ps[PD_MAX + 1];
    for (uint32_t pd = 1; pd <= pds; pd++) {
        pd_ps[pd] = (uint32_t)g_rand_int_range(rand, 1, (int)procs + 1);
        fm_build_pd(build, pd_ps[pd]);
    }
    uint32_t csds = 0;
    int backward = g_rand_int_range(rand, 0, 4); /* how often calls lead to lower ids */
    for (uint32_t pd = 1; pd <= pds; pd++) {
        for (uint32_t site = 0; site < sites[pd_ps[pd]]; site++) {
            bool list = kinds[pd_ps[pd]][site] != FM_SITE_NORMAL;
            int calls = g_rand_int_range(rand, 0, list ? 4 : 2);
            for (int i = 0; i < calls && csds < CSD_MAX; i++, csds++) {
                bool back = g_rand_int_range(rand, 0, 4) < backward;
                uint32_t low = back || pd == pds ? 1 : pd + 1;
                add_call(build, pd, site, (uint32_t)g_rand_int_range(rand, (int)low, (int)pds + 1),
                         (uint64_t)g_rand_int_range(rand, 0, 1000));
            }
        }
    }
    return build;
}

static void test_random(void)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(20260101);
    struct reference *reference = g_new0(struct reference, 1);
    for (unsigned i = 0; i < 20000; i++) {
        struct fm_analysis *a = analyse(random_graph(rand));
        reference_run(reference, a->profile);
        compare_nodes(a, reference);
        compare_sums(a, reference);
        compare_indexes(a);
        done(a);
    }
    g_free(reference);
}

/* In steps of one node the result is the same, and the fraction only grows. */
static void test_steps(void)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(7);
    for (unsigned i = 0; i < 200; i++) {
        struct fm_analysis *whole = analyse(random_graph(rand));
        const struct fm_profile *profile = whole->profile;
        struct fm_analysis_job *job = fm_analysis_job_new(profile);
        double fraction = 0;
        while (fm_analysis_job_step(job, 1, NULL) == FM_JOB_MORE) {
            g_assert_cmpfloat(fm_analysis_job_fraction(job), >=, fraction - 1e-9);
            fraction = fm_analysis_job_fraction(job);
            g_assert_cmpfloat(fraction, <=, 1);
        }
        struct fm_analysis *steps = fm_analysis_job_take(job);
        fm_analysis_job_free(job);
        for (uint32_t ps = 1; ps <= profile->ps_count; ps++) {
            struct fm_cost left, right;
            fm_analysis_ps_cost(whole, ps, &left);
            fm_analysis_ps_cost(steps, ps, &right);
            g_assert_cmpmem(&left, sizeof(left), &right, sizeof(right));
        }
        fm_analysis_free(steps);
        done(whole);
    }
}

static bool stop_soon(void *user, const char *step, uint64_t finished, uint64_t total)
{
    (void)step;
    (void)finished;
    (void)total;
    return --*(int *)user > 0;
}

static void test_cancelled(void)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(8);
    struct fm_analysis *a = analyse(random_graph(rand));
    for (int after = 1; after < 10; after++) {
        int left = after;
        struct fm_progress progress = {.report = stop_soon, .user = &left};
        struct fm_analysis *none = NULL;
        g_autoptr(GError) error = NULL;
        g_assert_false(fm_analysis_new(a->profile, &progress, &none, &error));
        g_assert_error(error, FM_ERROR, FM_ERROR_CANCELLED);
        g_assert_null(none);
    }
    done(a);
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
        {"a cycle that nobody enters", "sum of own costs = total of the root"},
        {"a clique with two entries",
         "each clique entered by exactly one call site dynamic, the root's by none"},
        {"more exits than calls", "calls in = calls out"},
        {"a normal site calls another procedure",
         "normal call sites call the procedure that they name"},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct fm_build *build = fm_build_new(FM_FLAVOUR_MERCURY, "broken");
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
    g_test_add_func("/graphs/random", test_random);
    g_test_add_func("/graphs/steps", test_steps);
    g_test_add_func("/graphs/cancelled", test_cancelled);
    g_test_add_func("/graphs/wide", test_wide);
    g_test_add_func("/graphs/large-shapes", test_large_shapes);
    g_test_add_func("/graphs/broken-invariants", test_broken_invariants);
    return g_test_run();
}
