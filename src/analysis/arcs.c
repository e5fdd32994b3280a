/* SPDX-License-Identifier: Apache-2.0 */
/* What all calls of a procedure by a call site cost: an arc. Those from outside of recursions and
 * those inside are apart. The sums of a site that calls one procedure are there anyway; kept beside
 * them is only what differs: what is inside, what sites call whose callee is not fixed, and what
 * the sums leave out because it is counted twice. So a procedure with 10^6 calls is asked for by
 * its arcs, of which there are as many as in the program's text. */
#include "analysis/analysis_internal.h"

#include "deep/profile.h"

/* Records of storage->arcs: own costs, descendants, how many csds. */
static unsigned width_of(const struct fm_analysis *a)
{
    return a->profile->measure_count + a->storage->inherited + 1;
}

static bool is_named(const struct fm_css *css, uint32_t ps)
{
    return css->kind == FM_SITE_NORMAL && css->callee_ps == ps;
}

void fm_arcs_add(const struct fm_analysis *a, const struct fm_csd_sums *sums, uint32_t csd,
                 bool inside, const struct fm_csd_cost *cost)
{
    const struct fm_profile *profile = a->profile;
    unsigned measures = profile->measure_count, inherited = a->storage->inherited;
    uint32_t css = profile->csd_css[csd], ps = profile->pd_ps[profile->csd_callee[csd]];
    bool named = is_named(&profile->css[css], ps);
    if (!named && profile->css[css].kind == FM_SITE_NORMAL)
        sums->css_irregular[css] = true; /* the file is damaged */
    if (inside)
        sums->ps_recursive[ps] = true;
    else if (named)
        return;
    int64_t *record = fm_sparse_at(&sums->arcs[inside], width_of(a), css, ps);
    for (unsigned m = 0; m < measures; m++)
        record[m] = fm_wrap_add(record[m], cost->own[m]);
    int64_t *desc = record + measures;
    for (unsigned m = 0; !inside && m < inherited; m++)
        desc[m] = fm_wrap_add(desc[m], fm_wrap_sub(cost->total[FM_FIRST_INHERITED + m],
                                                   cost->own[FM_FIRST_INHERITED + m]));
    desc[inherited]++;
}

void fm_arcs_merge(const struct fm_analysis *a, struct fm_sparse_costs *to,
                   const struct fm_sparse_costs *from, size_t begin, size_t end)
{
    unsigned width = width_of(a);
    for (size_t i = begin; i < end; i++) {
        if (from->index.keys[i] == 0)
            continue;
        uint32_t css = (uint32_t)(from->index.keys[i] >> 32), ps = (uint32_t)from->index.keys[i];
        const int64_t *record = fm_sparse_find(from, width, css, ps);
        int64_t *sum = fm_sparse_at(to, width, css, ps);
        for (unsigned m = 0; m < width; m++)
            sum[m] = fm_wrap_add(sum[m], record[m]);
    }
}

void fm_arcs_keep_taken(struct fm_analysis *a, uint32_t csd, const int64_t *nested)
{
    uint32_t css = a->profile->csd_css[csd], ps = a->profile->pd_ps[a->profile->csd_callee[csd]];
    int64_t *taken = fm_sparse_at(&a->storage->arc_taken, a->storage->inherited, css, ps);
    for (unsigned m = 0; m < a->storage->inherited; m++)
        taken[m] = fm_wrap_add(taken[m], nested[m]);
}

/* The procedure's deeper activations below a member of a clique that it was entered by. */
void fm_arcs_keep_nested(struct fm_analysis *a, uint32_t pd, uint32_t ps, const int64_t *nested)
{
    const struct fm_profile *profile = a->profile;
    unsigned inherited = a->storage->inherited;
    uint32_t entry = a->clique_parent[a->pd_clique[pd]];
    if (entry == 0 || profile->pd_ps[profile->csd_callee[entry]] != ps)
        return;
    int64_t *sum = fm_sparse_at(&a->storage->arc_nested, inherited, profile->csd_css[entry], ps);
    for (unsigned m = 0; m < inherited; m++)
        sum[m] = fm_wrap_add(sum[m], nested[m]);
}

static void add_record(const int64_t *record, int64_t *to, unsigned count, int sign)
{
    for (unsigned m = 0; record != NULL && m < count; m++)
        to[m] = sign > 0 ? fm_wrap_add(to[m], record[m]) : fm_wrap_sub(to[m], record[m]);
}

uint32_t fm_arc_cost(const struct fm_analysis *a, uint32_t css, uint32_t ps, bool inside,
                     struct fm_cost *ret)
{
    uint32_t count = fm_arc_cost_with_nested(a, css, ps, inside, ret);
    if (count > 0 && !inside)
        add_record(fm_sparse_find(&a->storage->arc_nested, a->storage->inherited, css, ps),
                   ret->desc + FM_FIRST_INHERITED, a->storage->inherited, -1);
    return count;
}

bool fm_arc_cost_taken(const struct fm_analysis *a, uint32_t css, uint32_t ps, struct fm_cost *ret)
{
    struct fm_cost cost;
    *ret = (struct fm_cost){0};
    if (a->storage->css_irregular[css])
        return false;
    for (int inside = 0; inside < 2; inside++) {
        if (fm_arc_cost_with_nested(a, css, ps, inside == 1, &cost) > 0)
            fm_cost_add(ret, &cost);
    }
    add_record(fm_sparse_find(&a->storage->arc_taken, a->storage->inherited, css, ps),
               ret->desc + FM_FIRST_INHERITED, a->storage->inherited, -1);
    return true;
}

uint32_t fm_arc_cost_with_nested(const struct fm_analysis *a, uint32_t css, uint32_t ps,
                                 bool inside, struct fm_cost *ret)
{
    const struct fm_analysis_storage *storage = a->storage;
    unsigned measures = a->profile->measure_count, inherited = storage->inherited;
    const int64_t *recursive = fm_sparse_find(&storage->arcs[1], width_of(a), css, ps);
    bool named = is_named(&a->profile->css[css], ps);
    uint32_t count;
    g_assert(!storage->css_irregular[css]);
    *ret = (struct fm_cost){0};
    if (!inside && named) {
        count = a->css_csd_first[css + 1] - a->css_csd_first[css];
        if (recursive != NULL)
            count -= (uint32_t)recursive[measures + inherited];
        if (count == 0)
            return 0;
        fm_analysis_css_cost(a, css, ret);
        add_record(recursive, ret->own, measures, -1);
        add_record(fm_sparse_find(&storage->arc_taken, inherited, css, ps),
                   ret->desc + FM_FIRST_INHERITED, inherited, 1);
    } else {
        const int64_t *record =
            inside ? recursive : fm_sparse_find(&storage->arcs[0], width_of(a), css, ps);
        if (record == NULL)
            return 0;
        count = (uint32_t)record[measures + inherited];
        add_record(record, ret->own, measures, 1);
        add_record(record + measures, ret->desc + FM_FIRST_INHERITED, inherited, 1);
    }
    ret->inlined = fm_profile_css_uncounted(a->profile, css);
    ret->shared = fm_profile_is(a->profile, FM_NATURE_ARCS);
    fm_cost_set_calls(ret);
    return count;
}

void fm_arcs_clear(struct fm_analysis_storage *storage)
{
    fm_sparse_clear(&storage->arcs[0]);
    fm_sparse_clear(&storage->arcs[1]);
    fm_sparse_clear(&storage->arc_taken);
    fm_sparse_clear(&storage->arc_nested);
    g_free(storage->css_irregular);
    g_free(storage->ps_recursive);
    g_free(storage->ps_paid);
}
