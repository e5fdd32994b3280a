/* SPDX-License-Identifier: Apache-2.0 */
#include "digest/call_graph.h"

#include <stdlib.h>

#include "digest/butterfly.h"
#include "digest/paths.h"

struct making {
    const struct fm_analysis *a;
    enum fm_measure_id measure;
    GHashTable *nodes; /* ps -> index + 1 */
    GHashTable *edges; /* from << 32 | to -> index + 1 */
    struct fm_call_graph *graph;
};

static struct fm_call_node *node_of(struct making *in, uint32_t ps)
{
    gpointer known = g_hash_table_lookup(in->nodes, GUINT_TO_POINTER(ps));
    if (known == NULL) {
        const struct fm_call_node made = {.ps = ps};
        g_array_append_val(in->graph->nodes, made);
        known = GUINT_TO_POINTER(in->graph->nodes->len);
        g_hash_table_insert(in->nodes, GUINT_TO_POINTER(ps), known);
    }
    return &g_array_index(in->graph->nodes, struct fm_call_node, GPOINTER_TO_UINT(known) - 1);
}

/* Its figures in all contexts. */
static void add_everywhere(struct making *in, uint32_t ps, bool focus)
{
    struct fm_cost cost;
    struct fm_call_node *node = node_of(in, ps);
    fm_analysis_ps_cost(in->a, ps, &cost);
    node->focus |= focus;
    node->own = cost.own[in->measure];
    node->total = fm_cost_total(&cost, in->measure);
    node->calls = cost.calls;
    node->inlined = cost.inlined;
}

static void add_edge(struct making *in, uint32_t from, uint32_t to, int64_t calls, bool inlined)
{
    uint64_t key = (uint64_t)from << 32 | to;
    gpointer known = g_hash_table_lookup(in->edges, &key);
    if (known == NULL) {
        const struct fm_call_edge made = {.from = from, .to = to};
        g_array_append_val(in->graph->edges, made);
        known = GUINT_TO_POINTER(in->graph->edges->len);
        g_hash_table_insert(in->edges, g_memdup2(&key, sizeof key), known);
    }
    struct fm_call_edge *edge =
        &g_array_index(in->graph->edges, struct fm_call_edge, GPOINTER_TO_UINT(known) - 1);
    edge->calls += calls;
    edge->inlined |= inlined;
}

static int compare_nodes(const void *a, const void *b)
{
    const struct fm_call_node *na = a, *nb = b;
    if (na->focus != nb->focus)
        return na->focus ? -1 : 1;
    if (na->total != nb->total)
        return na->total > nb->total ? -1 : 1;
    if (na->calls != nb->calls)
        return na->calls > nb->calls ? -1 : 1;
    return na->ps < nb->ps ? -1 : na->ps > nb->ps;
}

static int compare_edges(const void *a, const void *b)
{
    const struct fm_call_edge *ea = a, *eb = b;
    if (ea->calls != eb->calls)
        return ea->calls > eb->calls ? -1 : 1;
    if (ea->from != eb->from)
        return ea->from < eb->from ? -1 : 1;
    return ea->to < eb->to ? -1 : ea->to > eb->to;
}

/* The dearest stay. */
static void keep_some(struct making *in)
{
    GArray *nodes = in->graph->nodes;
    if (nodes->len > 0)
        qsort(nodes->data, nodes->len, sizeof(struct fm_call_node), compare_nodes);
    if (nodes->len > FM_CALL_GRAPH_MAX) {
        in->graph->left = nodes->len - FM_CALL_GRAPH_MAX;
        g_array_set_size(nodes, FM_CALL_GRAPH_MAX);
    }
    g_hash_table_remove_all(in->nodes);
    for (guint i = 0; i < nodes->len; i++)
        g_hash_table_insert(in->nodes,
                            GUINT_TO_POINTER(g_array_index(nodes, struct fm_call_node, i).ps),
                            GUINT_TO_POINTER(i + 1));
}

static bool is_shown(const struct making *in, uint32_t ps)
{
    return g_hash_table_contains(in->nodes, GUINT_TO_POINTER(ps));
}

/* --- in one recursion --- */

static void recursion_nodes(struct making *in, uint32_t clique)
{
    const struct fm_analysis *a = in->a;
    uint32_t entry = fm_analysis_clique_entry(a, clique);
    for (uint32_t i = a->clique_first[clique]; i < a->clique_first[clique + 1]; i++) {
        uint32_t pd = a->clique_pds[i];
        struct fm_call_node *node = node_of(in, a->profile->pd_ps[pd]);
        node->own += fm_analysis_pd_own(a, pd, in->measure);
        node->total += fm_analysis_pd_total(a, pd, in->measure);
        node->calls += fm_analysis_pd_calls(a, pd);
        node->focus |= pd == entry;
        node->inlined |= a->profile->ps[a->profile->pd_ps[pd]].inlined;
    }
}

static void recursion_edges(struct making *in, uint32_t clique)
{
    const struct fm_analysis *a = in->a;
    const struct fm_profile *profile = a->profile;
    for (uint32_t i = a->clique_first[clique]; i < a->clique_first[clique + 1]; i++) {
        uint32_t pd = a->clique_pds[i], from = profile->pd_ps[pd];
        uint32_t slots = profile->pd_slot_first[pd + 1] - profile->pd_slot_first[pd];
        for (uint32_t slot = 0; slot < slots && is_shown(in, from); slot++) {
            uint32_t count;
            const uint32_t *csds = fm_profile_slot(profile, pd, slot, &count);
            for (uint32_t j = 0; j < count; j++) {
                uint32_t callee = profile->csd_callee[csds[j]], to = profile->pd_ps[callee];
                if (a->pd_clique[callee] == clique && is_shown(in, to))
                    add_edge(in, from, to, fm_profile_calls(profile, csds[j]),
                             profile->css[profile->csd_css[csds[j]]].inlined);
            }
        }
    }
}

/* --- everywhere --- */

static void neighbours(struct making *in, uint32_t ps)
{
    struct fm_butterfly both;
    fm_butterfly_init(&both, in->a, ps, 0, in->measure);
    add_everywhere(in, ps, true);
    for (guint i = 0; i < both.callers->len + both.callees->len; i++) {
        const struct fm_neighbour *row =
            i < both.callers->len
                ? &g_array_index(both.callers, struct fm_neighbour, i)
                : &g_array_index(both.callees, struct fm_neighbour, i - both.callers->len);
        if (row->kind != FM_NEIGHBOUR_WITHIN && row->ps != 0)
            add_everywhere(in, row->ps, false);
    }
    fm_butterfly_clear(&both);
}

static void dearest(struct making *in)
{
    for (uint32_t ps = 1; ps <= in->a->profile->ps_count; ps++) {
        struct fm_cost cost;
        fm_analysis_ps_cost(in->a, ps, &cost);
        const struct fm_ps *proc = &in->a->profile->ps[ps];
        /* Threads, and what stands for the program, are no functions. */
        bool thread =
            in->a->profile->flavour == FM_FLAVOUR_C && !proc->file[0] && !proc->decl_module[0];
        if (fm_cost_total(&cost, in->measure) > 0 && !thread)
            add_everywhere(in, ps, false);
    }
}

/* Ascending by callee, so that calls of one stand together. */
static void add_site_edges(struct making *in, uint32_t from, uint32_t css)
{
    const struct fm_analysis *a = in->a;
    const struct fm_profile *profile = a->profile;
    uint32_t first = a->css_csd_first[css], end = a->css_csd_first[css + 1];
    if (first == end)
        return;
    uint32_t low = profile->pd_ps[profile->csd_callee[a->css_csds[first]]];
    if (low == profile->pd_ps[profile->csd_callee[a->css_csds[end - 1]]]) {
        struct fm_cost cost;
        fm_analysis_css_cost(a, css, &cost);
        if (is_shown(in, low))
            add_edge(in, from, low, cost.calls, cost.inlined);
        return;
    }
    for (uint32_t i = first; i < end; i++) {
        uint32_t to = profile->pd_ps[profile->csd_callee[a->css_csds[i]]];
        if (is_shown(in, to))
            add_edge(in, from, to, fm_profile_calls(profile, a->css_csds[i]),
                     profile->css[css].inlined);
    }
}

static void edges_everywhere(struct making *in)
{
    const struct fm_profile *profile = in->a->profile;
    for (guint i = 0; i < in->graph->nodes->len; i++) {
        uint32_t ps = g_array_index(in->graph->nodes, struct fm_call_node, i).ps;
        const struct fm_ps *proc = &profile->ps[ps];
        for (uint32_t slot = 0; slot < proc->css_count; slot++)
            add_site_edges(in, ps, profile->css_of_ps[proc->css_first + slot]);
    }
}

void fm_call_graph_init(struct fm_call_graph *ret, const struct fm_analysis *a,
                        const struct fm_view_focus *focus, enum fm_measure_id measure)
{
    g_return_if_fail(ret != NULL && focus->clique <= a->clique_count &&
                     focus->ps <= a->profile->ps_count);
    struct making in = {
        .a = a,
        .measure = measure,
        .nodes = g_hash_table_new(NULL, NULL),
        .edges = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL),
        .graph = ret,
    };
    *ret = (struct fm_call_graph){
        .nodes = g_array_new(FALSE, FALSE, sizeof(struct fm_call_node)),
        .edges = g_array_new(FALSE, FALSE, sizeof(struct fm_call_edge)),
        .one_place = focus->clique != 0 && fm_view_clique_procs(a, focus->clique) > 1,
    };
    if (ret->one_place)
        recursion_nodes(&in, focus->clique);
    else if (focus->clique != 0)
        neighbours(&in, fm_view_clique_name(a, focus->clique));
    else if (focus->ps != 0)
        neighbours(&in, focus->ps);
    else
        dearest(&in);
    keep_some(&in);
    if (ret->one_place)
        recursion_edges(&in, focus->clique);
    else
        edges_everywhere(&in);
    if (ret->edges->len > 0)
        qsort(ret->edges->data, ret->edges->len, sizeof(struct fm_call_edge), compare_edges);
    g_hash_table_unref(in.nodes);
    g_hash_table_unref(in.edges);
}

void fm_call_graph_clear(struct fm_call_graph *graph)
{
    g_clear_pointer(&graph->nodes, g_array_unref);
    g_clear_pointer(&graph->edges, g_array_unref);
}
