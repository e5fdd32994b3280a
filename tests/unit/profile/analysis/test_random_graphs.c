/* SPDX-License-Identifier: Apache-2.0 */
/* Random graphs against a reference that does what the method says, word by word and slowly; in
 * steps, and cancelled. */
#include "graphs.h"

#include <string.h>

#include "profile/analysis/analysis_internal.h"
#include "profile/analysis/job.h"
#include "base/error.h"

#define PD_MAX 16
#define CSD_MAX 80
#define PS_MAX 6

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

#define GROUPS_MAX 128

static uint32_t group_of(const struct fm_profile *profile, const struct reference *r,
                         enum fm_callers_group group, uint32_t csd)
{
    uint32_t css = profile->csd_css[csd];
    return group == FM_GROUP_CLIQUE      ? r->clique[profile->csd_caller[csd]]
           : group == FM_GROUP_CALL_SITE ? css
                                         : profile->css[css].ps;
}

static uint32_t group_of_row(enum fm_callers_group group, const struct fm_callers_row *row)
{
    return group == FM_GROUP_CLIQUE      ? row->clique
           : group == FM_GROUP_CALL_SITE ? row->css
                                         : row->ps;
}

/* By clique, call site, procedure: calls that enter their callee's clique, or the others. */
static void compare_callers(const struct fm_analysis *a, const struct reference *r, uint32_t ps,
                            enum fm_callers_group group, bool inside)
{
    const struct fm_profile *profile = a->profile;
    int64_t own[GROUPS_MAX] = {0}, desc[GROUPS_MAX] = {0};
    g_assert_cmpuint(MAX(profile->pd_count, MAX(profile->css_count, profile->ps_count)), <,
                     GROUPS_MAX);
    for (uint32_t csd = 1; csd <= profile->csd_count; csd++) {
        uint32_t callee = profile->csd_callee[csd], key = group_of(profile, r, group, csd);
        if (profile->pd_ps[callee] != ps || (r->parent[r->clique[callee]] != csd) != inside)
            continue;
        own[key] += (int64_t)fm_profile_own(profile, csd, FM_CALLSEQS);
        desc[key] += r->csd_desc[csd];
        for (uint32_t pd = 1; pd <= profile->pd_count && !inside; pd++) {
            if (r->clique[pd] == r->clique[callee])
                desc[key] -= r->pd_comp[pd][ps];
        }
    }
    g_autofree struct fm_callers_row *rows = NULL;
    uint32_t count;
    (inside ? fm_analysis_callers_inside : fm_analysis_callers)(a, ps, group, NULL, &rows, &count);
    g_assert_true(!inside || fm_analysis_is_recursive(a, ps) == (count > 0));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t key = group_of_row(group, &rows[i]);
        g_assert_cmpint(rows[i].cost.own[FM_CALLSEQS], ==, own[key]);
        g_assert_cmpint(rows[i].cost.desc[FM_CALLSEQS], ==, desc[key]);
        own[key] = desc[key] = 0;
    }
    for (uint32_t key = 0; key < GROUPS_MAX; key++) {
        g_assert_cmpint(own[key], ==, 0);
        g_assert_cmpint(desc[key], ==, 0);
    }
}

/* Calls by other procedures, as they are. */
static void compare_callers_other(const struct fm_analysis *a, const struct reference *r,
                                  uint32_t ps)
{
    const struct fm_profile *profile = a->profile;
    int64_t own = 0, desc = 0;
    uint32_t csds = 0;
    for (uint32_t csd = 1; csd <= profile->csd_count; csd++) {
        if (profile->pd_ps[profile->csd_callee[csd]] != ps ||
            profile->css[profile->csd_css[csd]].ps == ps)
            continue;
        own += (int64_t)fm_profile_own(profile, csd, FM_CALLSEQS);
        desc += r->parent[r->clique[profile->csd_callee[csd]]] == csd ? r->csd_desc[csd] : 0;
        csds++;
    }
    struct fm_callers_other other;
    fm_analysis_callers_other(a, ps, &other);
    g_assert_cmpint(other.cost.own[FM_CALLSEQS], ==, own);
    g_assert_cmpint(other.cost.desc[FM_CALLSEQS], ==, desc);
    g_assert_cmpuint(other.csds, ==, csds);
}

/* What a site calls, together the site. */
static void compare_site_callees(const struct fm_analysis *a, const struct reference *r,
                                 uint32_t css)
{
    const struct fm_profile *profile = a->profile;
    int64_t own[PS_MAX + 1] = {0}, desc[PS_MAX + 1] = {0};
    struct fm_cost cost;
    for (uint32_t csd = 1; csd <= profile->csd_count; csd++) {
        uint32_t ps = profile->pd_ps[profile->csd_callee[csd]];
        if (profile->csd_css[csd] != css)
            continue;
        own[ps] += (int64_t)fm_profile_own(profile, csd, FM_CALLSEQS);
        desc[ps] += r->csd_desc[csd] - r->csd_comp[csd][profile->css[css].ps];
    }
    for (uint32_t from = 0, ps, before = 0; fm_analysis_site_callee(a, css, &from, &ps, &cost);
         before = ps) {
        g_assert_cmpuint(ps, >, before);
        g_assert_cmpint(cost.own[FM_CALLSEQS], ==, own[ps]);
        g_assert_cmpint(cost.desc[FM_CALLSEQS], ==, desc[ps]);
        own[ps] = desc[ps] = 0;
    }
    for (uint32_t ps = 1; ps <= profile->ps_count; ps++)
        g_assert_cmpint(own[ps], ==, 0);
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
        static const enum fm_callers_group groups[] = {FM_GROUP_CLIQUE, FM_GROUP_CALL_SITE,
                                                       FM_GROUP_PROC};
        for (size_t g = 0; g < G_N_ELEMENTS(groups); g++) {
            compare_callers(a, r, ps, groups[g], false);
            compare_callers(a, r, ps, groups[g], true);
        }
        compare_callers_other(a, r, ps);
        compare_callers_sum(a, r, ps);
    }
    for (uint32_t css = 1; css <= profile->css_count; css++) {
        fm_analysis_css_cost(a, css, &cost);
        g_assert_cmpint(cost.own[FM_CALLSEQS], ==, css_own[css]);
        g_assert_cmpint(cost.desc[FM_CALLSEQS], ==, css_desc[css]);
        compare_site_callees(a, r, css);
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
            kinds[ps][site] = (enum fm_site_kind)g_rand_int_range(rand, 0, FM_SITE_CALLBACK + 1);
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
    bool from_last = g_rand_boolean(rand);       /* and whether the last is the first to call */
    for (uint32_t i = 1; i <= pds; i++) {
        uint32_t pd = from_last ? pds + 1 - i : i;
        for (uint32_t site = 0; site < sites[pd_ps[pd]]; site++) {
            bool list = kinds[pd_ps[pd]][site] != FM_SITE_NORMAL;
            int calls = g_rand_int_range(rand, 0, list ? 4 : 2);
            for (int call = 0; call < calls && csds < CSD_MAX; call++, csds++) {
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
    unsigned seen[2][2] = {{0}}; /* calls in the order of slots or not, cliques entered twice */
    for (unsigned i = 0; i < 20000; i++) {
        struct fm_analysis *a = analyse(random_graph(rand));
        seen[a->profile->csds_in_order][a->clique_entries_extra > 0]++;
        reference_run(reference, a->profile);
        compare_nodes(a, reference);
        compare_sums(a, reference);
        compare_indexes(a);
        done(a);
    }
    for (unsigned i = 0; i < 4; i++)
        g_assert_cmpuint(seen[i / 2][i % 2], >, 500);
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

static void compare_numbers(const uint32_t *left, const uint32_t *right, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        g_assert_cmpuint(left[i], ==, right[i]);
}

static void compare_all(const struct fm_analysis *left, const struct fm_analysis *right)
{
    const struct fm_profile *profile = left->profile;
    static void (*const costs[])(const struct fm_analysis *, uint32_t, struct fm_cost *) = {
        fm_analysis_ps_cost, fm_analysis_css_cost, fm_analysis_pd_cost, fm_analysis_csd_cost};
    const uint32_t counts[] = {profile->ps_count, profile->css_count, profile->pd_count,
                               profile->csd_count};
    for (unsigned kind = 0; kind < G_N_ELEMENTS(costs); kind++) {
        for (uint32_t id = 1; id <= counts[kind]; id++) {
            struct fm_cost here, beside;
            costs[kind](left, id, &here);
            costs[kind](right, id, &beside);
            g_assert_cmpmem(&here, sizeof here, &beside, sizeof beside);
        }
    }
    g_assert_cmpuint(left->clique_count, ==, right->clique_count);
    compare_numbers(left->pd_clique, right->pd_clique, profile->pd_count + 1);
    compare_numbers(left->ps_callers, right->ps_callers, profile->csd_count);
    compare_numbers(left->css_csds, right->css_csds, profile->csd_count);
    for (uint32_t css = 1; css <= profile->css_count; css++) {
        for (uint32_t ps = 1; ps <= profile->ps_count; ps++) {
            for (int inside = 0; inside < 2 && !left->storage->css_irregular[css]; inside++) {
                struct fm_cost here, beside;
                uint32_t count = fm_arc_cost(left, css, ps, inside, &here);
                g_assert_cmpuint(count, ==, fm_arc_cost(right, css, ps, inside, &beside));
                if (count > 0)
                    g_assert_cmpmem(&here, sizeof here, &beside, sizeof beside);
            }
        }
    }
}

static void count_array(void *user, void *array, size_t bytes)
{
    memset(array, 0, bytes);
    ++*(unsigned *)user;
}

/* With a thread beside the one that asks for the steps everything is the same; and a job may be
 * given up while that works. */
static void test_beside(void)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(9);
    for (unsigned i = 0; i < 100; i++) {
        struct fm_analysis *here = analyse(random_graph(rand));
        struct fm_analysis_job *job = fm_analysis_job_new(here->profile);
        fm_analysis_job_set_beside(job, true);
        unsigned arrays = 0;
        for (unsigned step = 0; step < i % 12; step++) /* then and when: all, or some */
            if (!fm_analysis_job_reserve(job, count_array, &arrays))
                break;
        g_assert_cmpuint(arrays, ==, MIN(i % 12, 10));
        for (unsigned step = 0; step < i; step++)
            (void)fm_analysis_job_step(job, 1, NULL);
        fm_analysis_job_free(job);
        job = fm_analysis_job_new(here->profile);
        fm_analysis_job_set_beside(job, true);
        for (unsigned step = 0; step < i % 12; step++)
            (void)fm_analysis_job_reserve(job, count_array, &arrays);
        double fraction = 0;
        while (fm_analysis_job_step(job, 1 + i, NULL) == FM_JOB_MORE) {
            g_assert_cmpfloat(fm_analysis_job_fraction(job), >=, fraction - 1e-9);
            fraction = fm_analysis_job_fraction(job);
        }
        struct fm_analysis *beside = fm_analysis_job_take(job);
        fm_analysis_job_free(job);
        compare_all(here, beside);
        fm_analysis_free(beside);
        done(here);
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

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/graphs/random", test_random);
    g_test_add_func("/graphs/steps", test_steps);
    g_test_add_func("/graphs/beside", test_beside);
    g_test_add_func("/graphs/cancelled", test_cancelled);
    return g_test_run();
}
