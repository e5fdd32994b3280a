/* SPDX-License-Identifier: Apache-2.0 */
/* Spanning trees of the recursions: nodes.h says by which rule. */
#include "exchange/nodes_internal.h"

struct walk {
    struct fm_exchange_nodes *nodes;
    uint32_t clique;
    uint32_t *level; /* [pd_count + 1] 0 = not reached */
    GArray *queue;   /* uint32_t pds */
};

static bool is_better(const struct fm_profile *p, uint32_t csd, uint32_t than)
{
    int64_t calls = fm_profile_calls(p, csd), others = fm_profile_calls(p, than);
    return calls != others ? calls > others : csd < than;
}

static void reach(struct walk *walk, uint32_t csd, uint32_t level)
{
    const struct fm_profile *p = walk->nodes->a->profile;
    uint32_t callee = p->csd_callee[csd];
    uint32_t *best = &walk->nodes->tree_csd[callee];
    if (walk->nodes->a->pd_clique[callee] != walk->clique)
        return;
    if (walk->level[callee] == 0) {
        walk->level[callee] = level;
        *best = csd;
        g_array_append_val(walk->queue, callee);
    } else if (walk->level[callee] == level && is_better(p, csd, *best)) {
        *best = csd;
    }
}

static void reach_callees(struct walk *walk, uint32_t pd)
{
    const struct fm_profile *p = walk->nodes->a->profile;
    uint32_t slots = p->ps[p->pd_ps[pd]].css_count;
    for (uint32_t slot = 0; slot < slots; slot++) {
        uint32_t count;
        const uint32_t *csds = fm_profile_slot(p, pd, slot, &count);
        for (uint32_t i = 0; i < count; i++)
            reach(walk, csds[i], walk->level[pd] + 1);
    }
}

/* How many different procedures the clique has. */
static uint32_t procs_of(const struct fm_analysis *a, uint32_t clique)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    for (uint32_t i = a->clique_first[clique]; i < a->clique_first[clique + 1]; i++)
        g_hash_table_add(seen, GUINT_TO_POINTER(a->profile->pd_ps[a->clique_pds[i]]));
    return g_hash_table_size(seen);
}

void fm_exchange_span(struct fm_exchange_nodes *nodes)
{
    const struct fm_analysis *a = nodes->a;
    const struct fm_profile *p = a->profile;
    struct walk walk = {.nodes = nodes, .level = g_new0(uint32_t, p->pd_count + 1)};
    walk.queue = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    nodes->tree_csd = g_new0(uint32_t, p->pd_count + 1);
    nodes->recursions = nodes->largest = 0;
    for (uint32_t clique = 1; clique <= a->clique_count; clique++) {
        uint32_t first = a->clique_first[clique], count = a->clique_first[clique + 1] - first;
        uint32_t entry = fm_analysis_clique_entry(a, clique);
        if (entry == 0) /* the root's, or one that nothing enters */
            entry = a->pd_clique[p->root_pd] == clique ? p->root_pd : a->clique_pds[first];
        nodes->tree_csd[entry] = a->clique_parent[clique];
        if (count == 1)
            continue;
        uint32_t procs = procs_of(a, clique);
        if (procs > 1)
            nodes->recursions++;
        nodes->largest = MAX(nodes->largest, procs > 1 ? procs : 0);
        walk.clique = clique;
        walk.level[entry] = 1;
        g_array_set_size(walk.queue, 0);
        g_array_append_val(walk.queue, entry);
        for (guint i = 0; i < walk.queue->len; i++)
            reach_callees(&walk, g_array_index(walk.queue, uint32_t, i));
    }
    g_array_free(walk.queue, TRUE);
    g_free(walk.level);
}
