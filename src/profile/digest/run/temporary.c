/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/digest/run/temporary.h"

#include "profile/digest/paths.h"

struct owners {
    const struct fm_analysis *a;
    struct fm_hot *hot;
    GArray *all;       /* struct fm_temporary */
    GHashTable *by_pd; /* index in all + 1 */
    bool *allocates;   /* [ps_count + 1], it or what it calls */
};

static uint32_t clique_above(const struct fm_analysis *a, uint32_t clique)
{
    uint32_t csd = a->clique_parent[clique];
    return csd == 0 ? 0 : a->pd_clique[a->profile->csd_caller[csd]];
}

/* The proc dynamic that a wrapper of the allocator worked for, or itself. */
static uint32_t above_wrappers(const struct owners *owners, uint32_t pd)
{
    const struct fm_analysis *a = owners->a;
    while (fm_hot_is_wrapper(owners->hot, a->profile->pd_ps[pd])) {
        uint32_t above = clique_above(a, a->pd_clique[pd]);
        if (above == 0 || fm_digest_is_outside(a, above))
            break;
        pd = a->profile->csd_caller[a->clique_parent[a->pd_clique[pd]]];
    }
    return pd;
}

static struct fm_temporary *owner_of(struct owners *owners, uint32_t pd)
{
    const struct fm_analysis *a = owners->a;
    gpointer key = GUINT_TO_POINTER(pd);
    uint32_t index = GPOINTER_TO_UINT(g_hash_table_lookup(owners->by_pd, key));
    if (index == 0) {
        const struct fm_temporary one = {.ps = a->profile->pd_ps[pd], .clique = a->pd_clique[pd]};
        g_array_append_val(owners->all, one);
        index = owners->all->len;
        g_hash_table_insert(owners->by_pd, key, GUINT_TO_POINTER(index));
    }
    return &g_array_index(owners->all, struct fm_temporary, index - 1);
}

/* Whether a block of the owner that is freed there is temporary. */
static bool is_within(const struct owners *owners, uint32_t owner, uint32_t freeing)
{
    const struct fm_analysis *a = owners->a;
    uint32_t own = a->pd_clique[owner], clique = a->pd_clique[freeing];
    return clique == own ||
           (clique_above(a, clique) == own && !owners->allocates[a->profile->pd_ps[freeing]]);
}

static void find_allocating(struct owners *owners)
{
    const struct fm_profile *profile = owners->a->profile;
    owners->allocates = g_new0(bool, profile->ps_count + 1u);
    for (uint32_t ps = 1; ps <= profile->ps_count; ps++) {
        struct fm_cost cost;
        fm_analysis_ps_cost(owners->a, ps, &cost);
        owners->allocates[ps] = fm_cost_total(&cost, FM_ALLOCS) > 0;
    }
}

static int compare(const void *a, const void *b)
{
    const struct fm_temporary *x = a, *y = b;
    if (x->blocks != y->blocks)
        return x->blocks > y->blocks ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return (x->clique > y->clique) - (x->clique < y->clique);
}

static bool is_same(const void *user, const void *row, const void *other)
{
    const struct fm_temporary *x = row, *y = other;
    return x->ps == y->ps && fm_digest_is_same_path(user, x->clique, y->clique);
}

static void add_row(void *row, const void *other)
{
    struct fm_temporary *to = row;
    const struct fm_temporary *from = other;
    to->blocks += from->blocks;
    to->bytes += from->bytes;
    to->allocs += from->allocs;
    to->reallocs += from->reallocs;
    to->held_ns += from->held_ns;
    to->longest_ns = MAX(to->longest_ns, from->longest_ns);
}

static struct fm_temporary *known_owner(struct owners *owners, uint32_t csd)
{
    uint32_t pd = above_wrappers(owners, owners->a->profile->csd_callee[csd]);
    return g_hash_table_contains(owners->by_pd, GUINT_TO_POINTER(pd)) ? owner_of(owners, pd) : NULL;
}

/* Adds all allocations to the contexts that have temporary blocks. */
static void add_allocs(struct owners *owners)
{
    const struct fm_profile *profile = owners->a->profile;
    const struct fm_heap_info *info = &profile->run_info.heap_info;
    for (uint32_t csd = 1; csd <= profile->csd_count; csd++) {
        uint64_t allocs = fm_profile_own(profile, csd, FM_ALLOCS);
        struct fm_temporary *owner = allocs == 0 ? NULL : known_owner(owners, csd);
        if (owner != NULL)
            owner->allocs += allocs;
    }
    for (uint32_t i = 0; i < info->realloc_count; i++) {
        struct fm_temporary *owner = known_owner(owners, info->reallocs[i].csd);
        if (owner != NULL)
            owner->reallocs += info->reallocs[i].moved + info->reallocs[i].kept;
    }
}

uint32_t fm_temporaries(const struct fm_analysis *a, struct fm_hot *hot, struct fm_temporary **ret)
{
    const struct fm_profile *profile = a->profile;
    const struct fm_heap_info *info = &profile->run_info.heap_info;
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(struct fm_temporary));
    g_autoptr(GHashTable) by_pd = g_hash_table_new(g_direct_hash, g_direct_equal);
    struct owners owners = {a, hot, all, by_pd, NULL};
    find_allocating(&owners);
    for (uint32_t i = 0; i < info->flow_count; i++) {
        const struct fm_flow *flow = &info->flows[i];
        if (flow->from == 0)
            continue;
        uint32_t from = profile->csd_callee[flow->from], to = profile->csd_callee[flow->to];
        uint32_t pd = above_wrappers(&owners, from);
        if (fm_digest_is_outside(a, a->pd_clique[pd]) || !is_within(&owners, pd, to))
            continue;
        struct fm_temporary *owner = owner_of(&owners, pd);
        owner->blocks += flow->blocks;
        owner->bytes += flow->bytes;
        owner->held_ns += flow->held_ns;
        owner->longest_ns = MAX(owner->longest_ns, flow->longest_ns);
    }
    add_allocs(&owners);
    g_free(owners.allocates);
    g_array_sort(all, compare);
    const struct fm_digest_rows rows = {
        all->data, sizeof(struct fm_temporary), all->len, a, is_same, add_row};
    g_array_set_size(all, fm_digest_join(&rows));
    g_array_sort(all, compare);
    uint32_t count = all->len;
    *ret = (struct fm_temporary *)(void *)g_array_free(g_steal_pointer(&all), FALSE);
    return count;
}
