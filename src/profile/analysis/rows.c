/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of costs, and small questions about the graph. */
#include "profile/analysis/analysis_internal.h"

#include <stdlib.h>
#include <string.h>

void fm_cost_set_calls(struct fm_cost *cost)
{
    int64_t calls = fm_wrap_add(cost->own[FM_EXITS], cost->own[FM_FAILS]);
    calls = fm_wrap_add(calls, cost->own[FM_EXCPS]);
    cost->calls = fm_wrap_sub(calls, cost->own[FM_REDOS]);
}

void fm_cost_add(struct fm_cost *to, const struct fm_cost *from)
{
    to->calls = fm_wrap_add(to->calls, from->calls);
    to->inlined |= from->inlined;
    to->shared |= from->shared;
    to->of_recursion |= from->of_recursion;
    to->inside |= from->inside;
    to->outside |= from->outside;
    to->recursion = to->recursion != 0 ? to->recursion : from->recursion;
    for (unsigned m = 0; m < FM_MEASURES_MAX; m++) {
        to->own[m] = fm_wrap_add(to->own[m], from->own[m]);
        to->desc[m] = fm_wrap_add(to->desc[m], from->desc[m]);
    }
}

bool fm_cost_is_inactive(const struct fm_cost *cost)
{
    if (cost->own[FM_EXITS] != 0 || cost->own[FM_FAILS] != 0 || cost->own[FM_REDOS] != 0 ||
        cost->own[FM_EXCPS] != 0)
        return false;
    /* Calls or allocations in it show that an inlined body ran. */
    for (unsigned m = FM_FIRST_INHERITED; cost->inlined && m < FM_MEASURES_MAX; m++) {
        if (cost->own[m] != 0 || cost->desc[m] != 0)
            return false;
    }
    return true;
}

void fm_cost_set_side(const struct fm_analysis *a, struct fm_cost *cost, bool inside)
{
    cost->inside |= inside && a->profile->flavour == FM_FLAVOUR_C;
    cost->outside |= !inside && a->profile->flavour == FM_FLAVOUR_C;
}

void fm_analysis_csd_cost(const struct fm_analysis *a, uint32_t csd, struct fm_cost *ret)
{
    g_return_if_fail(csd >= 1 && csd <= a->profile->csd_count);
    const struct fm_profile *profile = a->profile;
    *ret = (struct fm_cost){0};
    for (unsigned m = 0; m < profile->measure_count; m++)
        ret->own[m] = (int64_t)fm_profile_own(profile, csd, (enum fm_measure_id)m);
    fm_cost_set_calls(ret);
    ret->inlined = fm_profile_css_uncounted(profile, profile->csd_css[csd]);
    ret->shared = fm_profile_is(profile, FM_NATURE_ARCS);
    fm_cost_set_side(a, ret, !fm_csd_enters(a, csd));
    if (!fm_csd_enters(a, csd))
        return;
    for (unsigned m = FM_FIRST_INHERITED; m < profile->measure_count; m++)
        ret->desc[m] = fm_wrap_sub((int64_t)fm_csd_total(a, csd, m), ret->own[m]);
}

void fm_analysis_pd_cost(const struct fm_analysis *a, uint32_t pd, struct fm_cost *ret)
{
    g_return_if_fail(pd >= 1 && pd <= a->profile->pd_count);
    *ret = (struct fm_cost){0};
    for (unsigned m = 0; m < a->profile->measure_count; m++) {
        ret->own[m] = (int64_t)fm_pd_own(a, pd, m);
        if (m < FM_FIRST_INHERITED)
            continue;
        bool of_recursion;
        uint64_t total = fm_pd_inclusive(a, pd, m, &of_recursion);
        ret->desc[m] = fm_wrap_sub((int64_t)total, ret->own[m]);
        ret->of_recursion |= (of_recursion ? 1u : 0u) << m;
    }
    ret->recursion = ret->of_recursion != 0 ? a->pd_clique[pd] : 0;
    fm_cost_set_calls(ret);
    ret->inlined = fm_profile_ps_uncounted(a->profile, a->profile->pd_ps[pd]);
}

int64_t fm_analysis_pd_own(const struct fm_analysis *a, uint32_t pd, enum fm_measure_id measure)
{
    return (int64_t)fm_pd_own(a, pd, measure);
}

int64_t fm_analysis_pd_total(const struct fm_analysis *a, uint32_t pd, enum fm_measure_id measure)
{
    bool of_recursion;
    return (int64_t)fm_pd_inclusive(a, pd, measure, &of_recursion);
}

bool fm_analysis_pd_is_at_most(const struct fm_analysis *a, uint32_t pd, enum fm_measure_id measure)
{
    bool of_recursion;
    fm_pd_inclusive(a, pd, measure, &of_recursion);
    return of_recursion;
}

int64_t fm_analysis_pd_part(const struct fm_analysis *a, uint32_t pd, enum fm_measure_id measure)
{
    return (int64_t)fm_pd_total(a, pd, measure);
}

uint64_t fm_analysis_pd_own_bound(const struct fm_analysis *a, uint32_t pd,
                                  enum fm_measure_id measure)
{
    return a->storage->totals_wrapped ? UINT64_MAX : fm_pd_total(a, pd, measure);
}

int64_t fm_analysis_clique_total(const struct fm_analysis *a, uint32_t clique,
                                 enum fm_measure_id measure)
{
    g_return_val_if_fail(clique >= 1 && clique <= a->clique_count, 0);
    return (int64_t)fm_clique_total(a, clique, measure);
}

int64_t fm_analysis_pd_calls(const struct fm_analysis *a, uint32_t pd)
{
    struct fm_cost cost = {0};
    for (unsigned m = FM_EXITS; m <= FM_EXCPS; m++)
        cost.own[m] = (int64_t)fm_pd_own(a, pd, m);
    fm_cost_set_calls(&cost);
    return cost.calls;
}

bool fm_analysis_pd_inlined(const struct fm_analysis *a, uint32_t pd)
{
    const struct fm_profile *p = a->profile;
    uint32_t clique = a->pd_clique[pd], into = a->clique_parent[clique];
    if (!fm_profile_ps_uncounted(p, p->pd_ps[pd]))
        return false;
    bool alone = a->clique_first[clique + 1] - a->clique_first[clique] == 1;
    return !alone || into == 0 || fm_profile_css_uncounted(p, p->csd_css[into]);
}

static void get_sums(const struct fm_analysis *a, const int64_t *own, const int64_t *desc,
                     uint32_t id, struct fm_cost *ret)
{
    unsigned measures = a->profile->measure_count, inherited = a->storage->inherited;
    *ret = (struct fm_cost){0};
    memcpy(ret->own, own + (size_t)id * measures, measures * sizeof(*own));
    memcpy(ret->desc + FM_FIRST_INHERITED, desc + (size_t)id * inherited,
           inherited * sizeof(*desc));
    fm_cost_set_calls(ret);
}

void fm_analysis_ps_cost(const struct fm_analysis *a, uint32_t ps, struct fm_cost *ret)
{
    g_return_if_fail(ps >= 1 && ps <= a->profile->ps_count);
    get_sums(a, a->storage->ps_own, a->storage->ps_desc, ps, ret);
    ret->inlined = fm_profile_ps_uncounted(a->profile, ps);
    ret->of_recursion = a->storage->ps_of_recursion[ps];
    ret->recursion = a->storage->ps_recursion[ps];
}

/* Number of a site's csds inside recursions, when all call one procedure: from records of own
 * costs, descendants, number of csds (arcs.c). */
static uint32_t csds_inside(const struct fm_analysis *a, uint32_t css)
{
    unsigned costs = a->profile->measure_count + a->storage->inherited;
    const int64_t *recursive =
        fm_sparse_find(&a->storage->arcs[1], costs + 1, css, a->storage->css_callee[css]);
    return recursive == NULL ? 0 : (uint32_t)recursive[costs];
}

void fm_analysis_css_cost(const struct fm_analysis *a, uint32_t css, struct fm_cost *ret)
{
    g_return_if_fail(css >= 1 && css <= a->profile->css_count);
    get_sums(a, a->storage->css_own, a->storage->css_desc, css, ret);
    ret->inlined = fm_profile_css_uncounted(a->profile, css);
    ret->shared = fm_profile_is(a->profile, FM_NATURE_ARCS);
    uint32_t inside = csds_inside(a, css);
    fm_cost_set_side(a, ret, inside > 0);
    fm_cost_set_side(a, ret, inside == a->css_csd_first[css + 1] - a->css_csd_first[css]);
}

bool fm_analysis_csd_enters(const struct fm_analysis *a, uint32_t csd)
{
    g_return_val_if_fail(csd >= 1 && csd <= a->profile->csd_count, false);
    return fm_csd_enters(a, csd);
}

int64_t fm_analysis_csd_total(const struct fm_analysis *a, uint32_t csd, enum fm_measure_id measure)
{
    g_return_val_if_fail(fm_analysis_csd_enters(a, csd), 0);
    return (int64_t)fm_csd_total(a, csd, measure);
}

uint32_t fm_analysis_csd_child_clique(const struct fm_analysis *a, uint32_t csd)
{
    uint32_t clique = a->pd_clique[a->profile->csd_callee[csd]];
    return clique == a->pd_clique[a->profile->csd_caller[csd]] ? 0 : clique;
}

uint32_t fm_analysis_clique_entry(const struct fm_analysis *a, uint32_t clique)
{
    g_return_val_if_fail(clique >= 1 && clique <= a->clique_count, 0);
    uint32_t csd = a->clique_parent[clique];
    return csd == 0 ? 0 : a->profile->csd_callee[csd];
}

uint32_t fm_analysis_clique_of_csd_caller(const struct fm_analysis *a, uint32_t csd)
{
    return a->pd_clique[a->profile->csd_caller[csd]];
}

static int compare_name(const void *key, const void *module)
{
    return strcmp(key, ((const struct fm_module *)module)->name);
}

const struct fm_module *fm_analysis_module(const struct fm_analysis *a, const char *name)
{
    if (a->module_count == 0)
        return NULL;
    return bsearch(name, a->modules, a->module_count, sizeof(*a->modules), compare_name);
}

uint32_t fm_analysis_clique_ancestors(const struct fm_analysis *a, uint32_t clique, uint32_t *csds,
                                      uint32_t max)
{
    g_return_val_if_fail(clique >= 1 && clique <= a->clique_count, 0);
    uint32_t count = 0;
    for (;;) {
        uint32_t csd = a->clique_parent[clique];
        if (csd == 0 || a->profile->csd_caller[csd] == a->profile->root_pd)
            return count;
        if (count < max)
            csds[count] = csd;
        count++;
        clique = fm_analysis_clique_of_csd_caller(a, csd);
    }
}

/* --- compensation --- */

static bool clique_holds(const struct fm_analysis *a, uint32_t clique, uint32_t ps)
{
    for (uint32_t i = a->clique_first[clique]; i < a->clique_first[clique + 1]; i++) {
        if (a->profile->pd_ps[a->clique_pds[i]] == ps)
            return true;
    }
    return false;
}

static void add_record(const struct fm_analysis *a, const int64_t *record, int sign,
                       struct fm_cost *to)
{
    for (unsigned m = 0; record && m < a->storage->inherited; m++) {
        int64_t *desc = &to->desc[FM_FIRST_INHERITED + m];
        *desc = sign < 0 ? fm_wrap_sub(*desc, record[m]) : fm_wrap_add(*desc, record[m]);
    }
}

/* Adds activations of ps below a place that does not contain ps itself: for each pd of ps, up the
 * tree of cliques, unless another activation comes first. Exactly one of csd and pd is not 0. */
static void add_outermost(const struct fm_analysis *a, uint32_t csd, uint32_t pd, uint32_t ps,
                          int sign, struct fm_cost *to)
{
    for (uint32_t i = a->ps_pd_first[ps]; i < a->ps_pd_first[ps + 1]; i++) {
        uint32_t clique = a->pd_clique[a->ps_pds[i]];
        int64_t totals[FM_MEASURES_MAX];
        for (unsigned m = 0; m < a->storage->inherited; m++)
            totals[m] = (int64_t)fm_pd_total(a, a->ps_pds[i], FM_FIRST_INHERITED + m);
        for (uint32_t edge = a->clique_parent[clique]; edge != 0; edge = a->clique_parent[clique]) {
            uint32_t caller = a->profile->csd_caller[edge];
            if (edge == csd || caller == pd) {
                add_record(a, totals, sign, to);
                break;
            }
            clique = a->pd_clique[caller];
            if (clique_holds(a, clique, ps))
                break;
        }
    }
}

void fm_analysis_csd_compensation(const struct fm_analysis *a, uint32_t csd, uint32_t ps, int sign,
                                  struct fm_cost *to)
{
    uint32_t caller = a->profile->csd_caller[csd];
    if (!a->ps_zeroed[ps] || fm_analysis_csd_child_clique(a, csd) == 0)
        return;
    if (a->profile->pd_ps[caller] == ps || clique_holds(a, a->pd_clique[caller], ps))
        add_record(a, fm_sparse_find(&a->storage->nested_csd, a->storage->inherited, csd, ps), sign,
                   to);
    else
        add_outermost(a, csd, 0, ps, sign, to);
}

void fm_analysis_pd_compensation(const struct fm_analysis *a, uint32_t pd, uint32_t ps, int sign,
                                 struct fm_cost *to)
{
    if (!a->ps_zeroed[ps])
        return;
    if (a->profile->pd_ps[pd] == ps || clique_holds(a, a->pd_clique[pd], ps))
        add_record(a, fm_sparse_find(&a->storage->nested_pd, a->storage->inherited, pd, ps), sign,
                   to);
    else
        add_outermost(a, 0, pd, ps, sign, to);
}
