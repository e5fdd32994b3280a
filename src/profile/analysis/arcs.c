/* SPDX-License-Identifier: Apache-2.0 */
/* Costs of arcs: all calls of a procedure by a call site, with calls from outside of recursions and
 * inside kept apart. For a site with one callee, the site's sums are the arc's. Stored besides them
 * are only the differences: the part inside recursions, arcs of sites with several callees, and
 * what the sums leave out because it would count twice. So the cost of a procedure with 10^6 calls
 * is found from its arcs, and there are only as many as call sites in the program. Calls through
 * pointers may have as many arcs as calls, so their sums are stored only for arcs with many
 * calls. */
#include "profile/analysis/analysis_internal.h"

#include "profile/file/profile.h"

/* Records of storage->arcs: own costs, descendants, how many csds. */
static unsigned width_of(const struct fm_analysis *a)
{
    return a->profile->measure_count + a->storage->inherited + 1;
}

void fm_site_arcs_note(struct fm_analysis *a, uint32_t css)
{
    const struct fm_profile *profile = a->profile;
    uint32_t end = a->css_csd_first[css + 1];
    struct fm_site_arc arc = {0};
    for (uint32_t i = a->css_csd_first[css]; i < end; i++) {
        uint32_t ps = profile->pd_ps[profile->csd_callee[a->css_csds[i]]];
        if (ps != arc.ps) {
            arc = (struct fm_site_arc){ps, i};
            g_array_append_val(a->storage->site_arcs, arc);
        } else if (i - arc.begin == FM_ARC_CALLS_FEW) {
            *fm_map_at(&a->storage->many_arcs, (uint64_t)css << 32 | ps) = 1;
        }
    }
}

static const struct fm_site_arc *arc_at(const struct fm_analysis *a, uint32_t index)
{
    return &g_array_index(a->storage->site_arcs, struct fm_site_arc, index);
}

static uint32_t arc_end(const struct fm_analysis *a, uint32_t css, uint32_t index)
{
    return index + 1 < a->storage->css_arc_first[css + 1] ? arc_at(a, index + 1)->begin
                                                          : a->css_csd_first[css + 1];
}

/* Finds the calls of ps by a site without fixed callee, in css_csds. */
static uint32_t find_arc(const struct fm_analysis *a, uint32_t css, uint32_t ps,
                         uint32_t *ret_begin)
{
    uint32_t first = a->storage->css_arc_first[css], end = a->storage->css_arc_first[css + 1];
    uint32_t last = end;
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        if (arc_at(a, middle)->ps < ps)
            first = middle + 1;
        else
            end = middle;
    }
    if (first == last || arc_at(a, first)->ps != ps)
        return 0;
    *ret_begin = arc_at(a, first)->begin;
    return arc_end(a, css, first) - *ret_begin;
}

/* To a record of own costs, descendants, number of csds. */
static void add_csd(const struct fm_analysis *a, uint32_t csd, int64_t *record)
{
    unsigned measures = a->profile->measure_count, inherited = a->storage->inherited;
    int64_t *desc = record + measures, own[FM_MEASURES_MAX] = {0};
    for (unsigned m = 0; m < measures; m++) {
        own[m] = (int64_t)fm_profile_own(a->profile, csd, (enum fm_measure_id)m);
        record[m] = fm_wrap_add(record[m], own[m]);
    }
    for (unsigned m = 0; m < inherited && fm_csd_enters(a, csd); m++) {
        int64_t total = (int64_t)fm_csd_total(a, csd, FM_FIRST_INHERITED + m);
        desc[m] = fm_wrap_add(desc[m], fm_wrap_sub(total, own[FM_FIRST_INHERITED + m]));
    }
    desc[inherited]++;
}

void fm_arcs_add(const struct fm_analysis *a, const struct fm_csd_sums *sums, uint32_t csd,
                 uint32_t ps)
{
    bool inside = !fm_csd_enters(a, csd);
    add_csd(a, csd, fm_sparse_at(&sums->arcs[inside], width_of(a), a->profile->csd_css[csd], ps));
}

void fm_arcs_add_loose(const struct fm_analysis *a, const struct fm_csd_sums *sums, uint32_t csd,
                       uint32_t ps)
{
    const struct fm_map *many = &a->storage->many_arcs;
    if (many->used > 0 && fm_map_find(many, (uint64_t)a->profile->csd_css[csd] << 32 | ps) != NULL)
        fm_arcs_add(a, sums, csd, ps);
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

/* For a site with several callees. */
static uint32_t loose_arc_cost(const struct fm_analysis *a, uint32_t css, uint32_t ps, bool inside,
                               struct fm_cost *ret)
{
    unsigned measures = a->profile->measure_count, inherited = a->storage->inherited;
    int64_t sum[2 * FM_MEASURES_MAX + 1] = {0};
    const int64_t *record = sum;
    uint32_t begin = 0, count = find_arc(a, css, ps, &begin);
    if (count > FM_ARC_CALLS_FEW)
        record = fm_sparse_find(&a->storage->arcs[inside], width_of(a), css, ps);
    for (uint32_t i = begin; record == sum && i < begin + count; i++) {
        if (fm_csd_enters(a, a->css_csds[i]) != inside)
            add_csd(a, a->css_csds[i], sum);
    }
    if (record == NULL || record[measures + inherited] == 0)
        return 0;
    add_record(record, ret->own, measures, 1);
    add_record(record + measures, ret->desc + FM_FIRST_INHERITED, inherited, 1);
    return (uint32_t)record[measures + inherited];
}

/* For a site with one callee: the site's cost, divided into inside and outside. */
static uint32_t fixed_arc_cost(const struct fm_analysis *a, uint32_t css, uint32_t ps, bool inside,
                               struct fm_cost *ret)
{
    const struct fm_analysis_storage *storage = a->storage;
    unsigned measures = a->profile->measure_count, inherited = storage->inherited;
    const int64_t *recursive = fm_sparse_find(&storage->arcs[1], width_of(a), css, ps);
    uint32_t count = recursive != NULL ? (uint32_t)recursive[measures + inherited] : 0;
    if (inside) {
        add_record(recursive, ret->own, measures, 1);
        return count;
    }
    count = a->css_csd_first[css + 1] - a->css_csd_first[css] - count;
    if (count == 0)
        return 0;
    fm_analysis_css_cost(a, css, ret);
    add_record(recursive, ret->own, measures, -1);
    add_record(fm_sparse_find(&storage->arc_taken, inherited, css, ps),
               ret->desc + FM_FIRST_INHERITED, inherited, 1);
    return count;
}

uint32_t fm_arc_cost_with_nested(const struct fm_analysis *a, uint32_t css, uint32_t ps,
                                 bool inside, struct fm_cost *ret)
{
    uint32_t fixed = a->storage->css_callee[css];
    g_assert(!a->storage->css_irregular[css]);
    *ret = (struct fm_cost){0};
    uint32_t count = fixed == ps  ? fixed_arc_cost(a, css, ps, inside, ret)
                     : fixed == 0 ? loose_arc_cost(a, css, ps, inside, ret)
                                  : 0;
    if (count == 0)
        return 0;
    ret->inlined = fm_profile_css_uncounted(a->profile, css);
    ret->shared = fm_profile_is(a->profile, FM_NATURE_ARCS);
    fm_cost_set_side(a, ret, inside);
    fm_cost_set_calls(ret);
    return count;
}

void fm_arcs_done(struct fm_analysis_storage *storage)
{
    fm_sparse_done(&storage->arcs[0]);
    fm_sparse_done(&storage->arcs[1]);
    fm_sparse_done(&storage->arc_taken);
    fm_sparse_done(&storage->arc_nested);
    g_free(storage->ps_recursive);
    g_free(storage->ps_paid);
    g_free(storage->ps_of_recursion);
    g_free(storage->ps_recursion);
}

void fm_site_arcs_done(struct fm_analysis_storage *storage)
{
    g_free(storage->css_irregular);
    g_free(storage->css_callee);
    g_free(storage->css_arc_first);
    if (storage->site_arcs != NULL)
        g_array_unref(storage->site_arcs);
    fm_map_done(&storage->many_arcs);
}
