/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/analysis/analysis_internal.h"

#include <string.h>

#include "profile/analysis/contour.h"

/* The key by which a pair of csds is grouped. It comes from the group csd: the caller's csd or, if
 * the contour hides the caller, one further up. */
static uint32_t group_key(const struct fm_analysis *a, enum fm_callers_group group, uint32_t csd)
{
    const struct fm_profile *profile = a->profile;
    uint32_t css = profile->csd_css[csd];
    switch (group) {
    case FM_GROUP_CALL_SITE:
        return css;
    case FM_GROUP_CLIQUE:
        return a->pd_clique[profile->csd_caller[csd]];
    case FM_GROUP_PROC:
        return profile->css[css].ps;
    case FM_GROUP_MODULE:
    default:
        /* Modules are in ascending order: their place is their key. */
        return (uint32_t)(fm_analysis_module(a, profile->ps[profile->css[css].ps].decl_module) -
                          a->modules);
    }
}

static void set_key(const struct fm_analysis *a, enum fm_callers_group group, uint32_t key,
                    struct fm_callers_row *row)
{
    switch (group) {
    case FM_GROUP_CALL_SITE:
        row->css = key;
        row->ps = a->profile->css[key].ps;
        break;
    case FM_GROUP_CLIQUE:
        row->clique = key;
        break;
    case FM_GROUP_PROC:
        row->ps = key;
        break;
    case FM_GROUP_MODULE:
        row->module = a->modules[key].name;
        break;
    }
}

/* Cost of ps in deeper activations, seen from all members of a clique. Computed once for each
 * clique, since many csds may lead into a large one. */
static const int64_t *nested_of_clique(const struct fm_analysis *a, uint32_t clique, uint32_t ps,
                                       struct fm_sparse_costs *found)
{
    unsigned inherited = a->storage->inherited;
    const int64_t *known = fm_sparse_find(found, inherited, clique, ps);
    if (known)
        return known;
    int64_t *sums = fm_sparse_at(found, inherited, clique, ps);
    for (uint32_t i = a->clique_first[clique]; i < a->clique_first[clique + 1]; i++) {
        const int64_t *nested =
            fm_sparse_find(&a->storage->nested_pd, inherited, a->clique_pds[i], ps);
        for (unsigned m = 0; nested && m < inherited; m++)
            sums[m] = fm_wrap_add(sums[m], nested[m]);
    }
    return sums;
}

/* A call that does not enter its callee's clique: made inside a recursion. */
static bool is_inside(const struct fm_analysis *a, uint32_t csd)
{
    return !fm_csd_enters(a, csd);
}

bool fm_analysis_is_recursive(const struct fm_analysis *a, uint32_t ps)
{
    g_return_val_if_fail(ps >= 1 && ps <= a->profile->ps_count, false);
    return a->storage->ps_recursive[ps];
}

/* Adds the cost of the call through csd, without deeper activations of ps. */
static void add_call(const struct fm_analysis *a, uint32_t csd, uint32_t ps,
                     struct fm_sparse_costs *found, struct fm_cost *to)
{
    uint32_t callee = a->profile->csd_callee[csd];
    struct fm_cost cost;
    fm_analysis_csd_cost(a, csd, &cost);
    fm_cost_add(to, &cost);
    if (!a->ps_zeroed[ps] || is_inside(a, csd))
        return;
    const int64_t *nested = nested_of_clique(a, a->pd_clique[callee], ps, found);
    for (unsigned m = 0; m < a->storage->inherited; m++) {
        int64_t *desc = &to->desc[FM_FIRST_INHERITED + m];
        *desc = fm_wrap_sub(*desc, nested[m]);
    }
}

struct keyed_csd {
    uint32_t key, csd;
};

#define DIGIT_BITS 11u
#define DIGITS (1u << DIGIT_BITS)

/* Stable radix sort by key; keys are at most `most`. */
static void sort_keyed(struct keyed_csd *pairs, uint32_t count, uint32_t most)
{
    g_autofree struct keyed_csd *other = g_new(struct keyed_csd, MAX(count, 1));
    struct keyed_csd *from = pairs, *to = other;
    for (unsigned shift = 0; shift < 32 && most >> shift != 0; shift += DIGIT_BITS) {
        uint32_t place[DIGITS + 1] = {0};
        for (uint32_t i = 0; i < count; i++)
            place[(from[i].key >> shift) % DIGITS + 1]++;
        for (unsigned digit = 0; digit < DIGITS; digit++)
            place[digit + 1] += place[digit];
        for (uint32_t i = 0; i < count; i++)
            to[place[(from[i].key >> shift) % DIGITS]++] = from[i];
        struct keyed_csd *swap = from;
        from = to;
        to = swap;
    }
    if (from != pairs && count > 0)
        memcpy(pairs, from, count * sizeof *pairs);
}

/* --- procedures with many callers --- */

/* cost of looking at a call, in call sites */
#define SITES_A_CALL 16u

/* Whether it pays to look at all call sites instead of all calls. */
static bool has_many_callers(const struct fm_analysis *a, uint32_t ps)
{
    uint64_t calls = a->ps_caller_first[ps + 1] - a->ps_caller_first[ps];
    return calls * SITES_A_CALL > a->profile->css_count;
}

static uint32_t callee_ps(const struct fm_analysis *a, uint32_t index)
{
    return a->profile->pd_ps[a->profile->csd_callee[a->css_csds[index]]];
}

/* The first of the call site's calls, which ascend by callee, that leads to ps or beyond. */
static uint32_t lower_bound(const struct fm_analysis *a, uint32_t first, uint32_t end, uint32_t ps)
{
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        if (callee_ps(a, middle) < ps)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

/* Finds the end of the calls of the same procedure that begin at `first`; it is usually near, so
 * the search range doubles. */
static uint32_t arc_end(const struct fm_analysis *a, uint32_t first, uint32_t end)
{
    uint32_t ps = callee_ps(a, first), width = 1;
    while (width < end - first && callee_ps(a, first + width) == ps)
        width *= 2;
    return lower_bound(a, first + width / 2, MIN(first + width, end), ps + 1);
}

/* Selects calls of ps. */
struct choice {
    uint32_t ps;
    enum fm_callers_group group;
    const struct fm_contour *contour;
    bool inside;    /* calls from inside recursions instead of from outside */
    bool recursive; /* there are both */
};

/* Adds the cost of the call site's calls of ps, call by call; false when there are none. */
static bool add_calls(const struct fm_analysis *a, uint32_t css, const struct choice *choice,
                      struct fm_sparse_costs *found, struct fm_cost *to)
{
    uint32_t ps = choice->ps;
    uint32_t first = a->css_csd_first[css], end = a->css_csd_first[css + 1];
    first = lower_bound(a, first, end, ps);
    uint32_t last = lower_bound(a, first, end, ps + 1);
    bool any = false;
    for (uint32_t i = first; i < last; i++) {
        uint32_t csd = a->css_csds[i];
        if (is_inside(a, csd) != choice->inside)
            continue;
        add_call(a, csd, ps, found, to);
        any = true;
    }
    return any;
}

/* As above, from the stored sum. */
static bool add_site(const struct fm_analysis *a, uint32_t css, const struct choice *choice,
                     struct fm_sparse_costs *found, struct fm_cost *to)
{
    struct fm_cost cost;
    if (a->storage->css_irregular[css])
        return add_calls(a, css, choice, found, to);
    if (fm_arc_cost(a, css, choice->ps, choice->inside, &cost) == 0)
        return false;
    fm_cost_add(to, &cost);
    return true;
}

static int compare_rows(const void *a, const void *b, void *user)
{
    const struct fm_callers_row *left = a, *right = b;
    enum fm_callers_group group = *(const enum fm_callers_group *)user;
    if (group == FM_GROUP_MODULE)
        return strcmp(left->module, right->module);
    return group == FM_GROUP_PROC ? (left->ps > right->ps) - (left->ps < right->ps)
                                  : (left->css > right->css) - (left->css < right->css);
}

static void callers_by_site(const struct fm_analysis *a, const struct choice *choice,
                            struct fm_callers_row **ret, uint32_t *ret_count)
{
    enum fm_callers_group group = choice->group;
    GArray *sites = g_array_new(FALSE, FALSE, sizeof(struct fm_callers_row));
    struct fm_sparse_costs found = {0};
    for (uint32_t css = 1; css <= a->profile->css_count; css++) {
        struct fm_callers_row row = {.css = css, .ps = a->profile->css[css].ps};
        row.module = a->profile->ps[row.ps].decl_module;
        if (add_site(a, css, choice, &found, &row.cost))
            g_array_append_val(sites, row);
    }
    fm_sparse_done(&found);
    struct fm_callers_row *rows = (struct fm_callers_row *)(void *)sites->data;
    g_qsort_with_data(rows, (int)sites->len, sizeof(*rows), compare_rows, &group);
    uint32_t count = 0;
    for (guint i = 0; i < sites->len; i++) {
        if (count > 0 && compare_rows(&rows[count - 1], &rows[i], &group) == 0)
            fm_cost_add(&rows[count - 1].cost, &rows[i].cost);
        else
            rows[count++] = rows[i];
    }
    /* the rows contain only the fields by which they are grouped */
    for (uint32_t i = 0; i < count; i++) {
        if (group != FM_GROUP_CALL_SITE)
            rows[i].css = 0;
        if (group == FM_GROUP_MODULE)
            rows[i].ps = 0;
        else
            rows[i].module = NULL;
    }
    *ret_count = count;
    *ret = (struct fm_callers_row *)(void *)g_array_free(sites, FALSE);
}

/* The selected calls, sorted by key. The caller frees it. */
static struct keyed_csd *keyed_calls(const struct fm_analysis *a, const struct choice *choice,
                                     uint32_t *ret_count)
{
    uint32_t first = a->ps_caller_first[choice->ps], end = a->ps_caller_first[choice->ps + 1];
    struct keyed_csd *pairs = g_new(struct keyed_csd, MAX(end - first, 1));
    uint32_t used = 0, most = 0;
    for (uint32_t i = first; i < end; i++) {
        uint32_t csd = a->ps_callers[i];
        if (choice->recursive && is_inside(a, csd) != choice->inside)
            continue;
        uint32_t group_csd = choice->contour ? fm_contour_climb(choice->contour, a, csd) : csd;
        uint32_t key = group_key(a, choice->group, group_csd);
        pairs[used++] = (struct keyed_csd){key, csd};
        most = MAX(most, key);
    }
    sort_keyed(pairs, used, most);
    *ret_count = used;
    return pairs;
}

struct fm_clique_callers {
    const struct fm_analysis *a;
    struct choice choice;
    struct keyed_csd *calls; /* by key */
    uint32_t *first; /* index in calls of each group's first call; group_count + 1 entries */
    uint32_t count;
    struct fm_sparse_costs found;
};

static void group_calls(struct fm_clique_callers *to, const struct fm_analysis *a,
                        const struct choice *choice)
{
    uint32_t calls = 0;
    *to = (struct fm_clique_callers){.a = a, .choice = *choice};
    if (!choice->inside || choice->recursive)
        to->calls = keyed_calls(a, choice, &calls);
    to->first = g_new(uint32_t, (gsize)calls + 1);
    for (uint32_t i = 0; i < calls; i++)
        if (i == 0 || to->calls[i].key != to->calls[i - 1].key)
            to->first[to->count++] = i;
    to->first[to->count] = calls;
}

static void forget_calls(struct fm_clique_callers *callers)
{
    fm_sparse_done(&callers->found);
    g_free(callers->calls);
    g_free(callers->first);
}

struct fm_clique_callers *fm_clique_callers_new(const struct fm_analysis *a, uint32_t ps,
                                                const struct fm_contour *contour, bool inside)
{
    g_return_val_if_fail(ps >= 1 && ps <= a->profile->ps_count, NULL);
    struct fm_clique_callers *callers = g_new(struct fm_clique_callers, 1);
    struct choice choice = {.ps = ps,
                            .group = FM_GROUP_CLIQUE,
                            .contour = contour,
                            .inside = inside,
                            .recursive = fm_analysis_is_recursive(a, ps)};
    group_calls(callers, a, &choice);
    return callers;
}

void fm_clique_callers_free(struct fm_clique_callers *callers)
{
    if (callers == NULL)
        return;
    forget_calls(callers);
    g_free(callers);
}

uint32_t fm_clique_callers_count(const struct fm_clique_callers *callers)
{
    return callers->count;
}

uint32_t fm_clique_callers_clique(const struct fm_clique_callers *callers, uint32_t index)
{
    g_assert(index < callers->count);
    return callers->calls[callers->first[index]].key;
}

void fm_clique_callers_row(struct fm_clique_callers *callers, uint32_t index,
                           struct fm_callers_row *ret)
{
    g_assert(index < callers->count);
    *ret = (struct fm_callers_row){0};
    uint32_t first = callers->first[index], end = callers->first[index + 1];
    set_key(callers->a, callers->choice.group, callers->calls[first].key, ret);
    for (uint32_t i = first; i < end; i++)
        add_call(callers->a, callers->calls[i].csd, callers->choice.ps, &callers->found,
                 &ret->cost);
}

static void callers_by_call(const struct fm_analysis *a, const struct choice *choice,
                            struct fm_callers_row **ret, uint32_t *ret_count)
{
    struct fm_clique_callers groups;
    group_calls(&groups, a, choice);
    *ret = g_new(struct fm_callers_row, MAX(groups.count, 1));
    for (uint32_t i = 0; i < groups.count; i++)
        fm_clique_callers_row(&groups, i, &(*ret)[i]);
    *ret_count = groups.count;
    forget_calls(&groups);
}

static void callers(const struct fm_analysis *a, struct choice *choice, struct fm_callers_row **ret,
                    uint32_t *ret_count)
{
    uint32_t ps = choice->ps;
    g_assert(ps >= 1 && ps <= a->profile->ps_count);
    choice->recursive = fm_analysis_is_recursive(a, ps);
    if (choice->inside && !choice->recursive) {
        *ret = NULL;
        *ret_count = 0;
        return;
    }
    if (has_many_callers(a, ps) && !choice->contour && choice->group != FM_GROUP_CLIQUE)
        callers_by_site(a, choice, ret, ret_count);
    else
        callers_by_call(a, choice, ret, ret_count);
}

void fm_analysis_callers(const struct fm_analysis *a, uint32_t ps, enum fm_callers_group group,
                         const struct fm_contour *contour, struct fm_callers_row **ret,
                         uint32_t *ret_count)
{
    g_return_if_fail(ps >= 1 && ps <= a->profile->ps_count);
    callers(a, &(struct choice){.ps = ps, .group = group, .contour = contour}, ret, ret_count);
}

void fm_analysis_callers_inside(const struct fm_analysis *a, uint32_t ps,
                                enum fm_callers_group group, const struct fm_contour *contour,
                                struct fm_callers_row **ret, uint32_t *ret_count)
{
    g_return_if_fail(ps >= 1 && ps <= a->profile->ps_count);
    callers(a, &(struct choice){.ps = ps, .group = group, .contour = contour, .inside = true}, ret,
            ret_count);
}

/* --- how they add up --- */

/* All calls of ps from outside, or all inside. */
static void add_all(const struct fm_analysis *a, uint32_t ps, bool inside, struct fm_cost *to)
{
    struct choice choice = {.ps = ps, .inside = inside, .recursive = true};
    struct fm_sparse_costs found = {0};
    uint32_t first = a->ps_caller_first[ps], end = a->ps_caller_first[ps + 1];
    if (has_many_callers(a, ps)) {
        for (uint32_t css = 1; css <= a->profile->css_count; css++)
            add_site(a, css, &choice, &found, to);
    } else {
        for (uint32_t i = first; i < end; i++) {
            if (is_inside(a, a->ps_callers[i]) == inside)
                add_call(a, a->ps_callers[i], ps, &found, to);
        }
    }
    fm_sparse_done(&found);
}

/* Totals of cliques entered through this procedure are the sum of the calls from outside. Totals of
 * the procedure's pds in such cliques are part of that; in other cliques no call was charged with
 * them. */
void fm_analysis_callers_sum(const struct fm_analysis *a, uint32_t ps, struct fm_callers_sum *ret)
{
    g_return_if_fail(ps >= 1 && ps <= a->profile->ps_count);
    const struct fm_analysis_storage *storage = a->storage;
    const int64_t *paid = &storage->ps_paid[(size_t)ps * storage->inherited];
    *ret = (struct fm_callers_sum){0};
    fm_analysis_ps_cost(a, ps, &ret->total);
    add_all(a, ps, false, &ret->outside);
    add_all(a, ps, true, &ret->within);
    for (unsigned m = FM_FIRST_INHERITED; m < FM_FIRST_INHERITED + storage->inherited; m++) {
        int64_t all = fm_wrap_add(ret->total.own[m], ret->total.desc[m]);
        int64_t of_entered = paid[m - FM_FIRST_INHERITED];
        int64_t entered = fm_wrap_add(ret->outside.own[m], ret->outside.desc[m]);
        ret->others.desc[m] = fm_wrap_sub(of_entered, entered);
        ret->within.desc[m] = fm_wrap_sub(fm_wrap_sub(all, of_entered), ret->within.own[m]);
    }
    /* Its own rows have no totals; the sum has the procedure's. */
    ret->within.inside = ret->within.outside = false;
    ret->within.of_recursion = ret->total.of_recursion;
    ret->within.recursion = ret->total.recursion;
}

static void add_other(const struct fm_analysis *a, uint32_t csd, struct fm_callers_other *to)
{
    struct fm_cost cost;
    fm_analysis_csd_cost(a, csd, &cost);
    fm_cost_add(&to->cost, &cost);
    to->csds++;
}

/* The calls of ps at a site, without compensation. */
static void add_others_of_site(const struct fm_analysis *a, uint32_t css, uint32_t ps,
                               struct fm_callers_other *to)
{
    uint32_t first = a->css_csd_first[css], end = a->css_csd_first[css + 1];
    for (int inside = 0; inside < 2 && !a->storage->css_irregular[css]; inside++) {
        struct fm_cost cost;
        uint32_t csds = fm_arc_cost_with_nested(a, css, ps, inside == 1, &cost);
        if (csds == 0)
            continue;
        fm_cost_add(&to->cost, &cost);
        to->csds += csds;
    }
    if (!a->storage->css_irregular[css])
        return;
    for (uint32_t i = lower_bound(a, first, end, ps); i < end && callee_ps(a, i) == ps; i++)
        add_other(a, a->css_csds[i], to);
}

void fm_analysis_callers_other(const struct fm_analysis *a, uint32_t ps,
                               struct fm_callers_other *ret)
{
    g_return_if_fail(ps >= 1 && ps <= a->profile->ps_count);
    const struct fm_profile *profile = a->profile;
    uint32_t first = a->ps_caller_first[ps], end = a->ps_caller_first[ps + 1];
    bool many = has_many_callers(a, ps);
    g_autoptr(GHashTable) procs = g_hash_table_new(NULL, NULL);
    *ret = (struct fm_callers_other){0};
    for (uint32_t i = first; i < end && !many; i++) {
        uint32_t caller = profile->css[profile->csd_css[a->ps_callers[i]]].ps;
        if (caller == ps)
            continue;
        add_other(a, a->ps_callers[i], ret);
        g_hash_table_add(procs, GUINT_TO_POINTER(caller));
    }
    for (uint32_t css = 1; css <= profile->css_count && many; css++) {
        uint32_t before = ret->csds;
        if (profile->css[css].ps == ps)
            continue;
        add_others_of_site(a, css, ps, ret);
        if (ret->csds != before)
            g_hash_table_add(procs, GUINT_TO_POINTER(profile->css[css].ps));
    }
    ret->procs = g_hash_table_size(procs);
}

bool fm_analysis_site_callee(const struct fm_analysis *a, uint32_t css, uint32_t *from,
                             uint32_t *ret_ps, struct fm_cost *ret)
{
    uint32_t first = a->css_csd_first[css], end = a->css_csd_first[css + 1];
    uint32_t container = a->profile->css[css].ps, at = first + *from;
    if (at >= end)
        return false;
    uint32_t ps = *ret_ps = callee_ps(a, at), next = arc_end(a, at, end);
    *from = next - first;
    if (fm_arc_cost_taken(a, css, ps, ret))
        return true;
    for (uint32_t i = at; i < next; i++) {
        struct fm_cost cost;
        fm_analysis_csd_cost(a, a->css_csds[i], &cost);
        fm_analysis_csd_compensation(a, a->css_csds[i], container, -1, &cost);
        fm_cost_add(ret, &cost);
    }
    return true;
}

bool fm_analysis_site_calls(const struct fm_analysis *a, uint32_t css, uint32_t *from,
                            uint32_t *ret_ps, int64_t *ret_calls)
{
    uint32_t first = a->css_csd_first[css], end = a->css_csd_first[css + 1], at = first + *from;
    if (at >= end)
        return false;
    uint32_t ps = *ret_ps = callee_ps(a, at), next = arc_end(a, at, end);
    bool kept = next - at > FM_ARC_CALLS_FEW && !a->storage->css_irregular[css];
    *ret_calls = 0;
    for (int inside = 0; inside < 2 && kept; inside++) {
        struct fm_cost cost;
        if (fm_arc_cost_with_nested(a, css, ps, inside == 1, &cost) > 0)
            *ret_calls += cost.calls;
    }
    for (uint32_t i = at; i < next && !kept; i++)
        *ret_calls += fm_profile_calls(a->profile, a->css_csds[i]);
    *from = next - first;
    return true;
}
