/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/digest/calls/call_graph.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/select.h"
#include "profile/digest/paths.h"

struct making {
    const struct fm_analysis *a;
    enum fm_measure_id measure;
    uint32_t *places;  /* [ps_count + 1] index of its node + 1; 0 = none */
    GHashTable *edges; /* from << 32 | to -> index + 1 */
    struct fm_call_graph *graph;
};

static struct fm_call_node *node_of(struct making *in, uint32_t ps)
{
    if (in->places[ps] == 0) {
        const struct fm_call_node made = {.ps = ps};
        g_array_append_val(in->graph->nodes, made);
        in->places[ps] = in->graph->nodes->len;
    }
    return &g_array_index(in->graph->nodes, struct fm_call_node, in->places[ps] - 1);
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
    node->recursion = (cost.of_recursion >> in->measure & 1u) != 0 ? cost.recursion : 0;
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

static int compare_places(uint32_t a, uint32_t b, void *nodes)
{
    return compare_nodes(&((const struct fm_call_node *)nodes)[a],
                         &((const struct fm_call_node *)nodes)[b]);
}

/* Keeps the most expensive ones, sorted; they are selected first, because there may be as many as
 * procedures. */
static void keep_some(struct making *in)
{
    GArray *nodes = in->graph->nodes;
    guint kept = MIN(nodes->len, FM_CALL_GRAPH_MAX);
    g_autofree uint32_t *order = g_new(uint32_t, MAX(nodes->len, 1u));
    for (guint i = 0; i < nodes->len; i++) {
        order[i] = i;
        in->places[g_array_index(nodes, struct fm_call_node, i).ps] = 0;
    }
    fm_select_first(order, nodes->len, kept, compare_places, nodes->data);
    GArray *shown = g_array_sized_new(FALSE, FALSE, sizeof(struct fm_call_node), MAX(kept, 1u));
    for (guint i = 0; i < kept; i++) {
        const struct fm_call_node *node = &g_array_index(nodes, struct fm_call_node, order[i]);
        g_array_append_vals(shown, node, 1);
        in->places[node->ps] = i + 1;
    }
    in->graph->left = nodes->len - kept;
    in->graph->nodes = shown;
    g_array_unref(nodes);
}

static bool is_shown(const struct making *in, uint32_t ps)
{
    return in->places[ps] != 0;
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
        bool at_most;
        node->total += fm_analysis_pd_adds(a, pd, in->measure, &at_most);
        if (at_most)
            node->recursion = clique;
        node->calls += fm_analysis_pd_calls(a, pd);
        node->focus |= pd == entry;
        node->inlined |= fm_profile_ps_uncounted(a->profile, a->profile->pd_ps[pd]);
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
                             fm_profile_css_uncounted(profile, profile->csd_css[csds[j]]));
            }
        }
    }
}

/* --- everywhere --- */

static void callers_of(struct making *in, uint32_t ps)
{
    for (int inside = 0; inside < 2; inside++) {
        g_autofree struct fm_callers_row *rows = NULL;
        uint32_t count = 0;
        (inside ? fm_analysis_callers_inside : fm_analysis_callers)(in->a, ps, FM_GROUP_PROC, NULL,
                                                                    &rows, &count);
        for (uint32_t i = 0; i < count; i++) {
            if (rows[i].ps != 0 && rows[i].ps != ps)
                add_everywhere(in, rows[i].ps, false);
        }
    }
}

static void callees_of(struct making *in, uint32_t ps)
{
    const struct fm_profile *profile = in->a->profile;
    int64_t calls;
    for (uint32_t slot = 0; slot < profile->ps[ps].css_count; slot++) {
        uint32_t css = profile->css_of_ps[profile->ps[ps].css_first + slot];
        for (uint32_t at = 0, to; fm_analysis_site_calls(in->a, css, &at, &to, &calls);) {
            if (to != ps)
                add_everywhere(in, to, false);
        }
    }
}

static void neighbours(struct making *in, uint32_t ps)
{
    add_everywhere(in, ps, true);
    callers_of(in, ps);
    callees_of(in, ps);
}

static void dearest(struct making *in)
{
    for (uint32_t ps = 1; ps <= in->a->profile->ps_count; ps++) {
        struct fm_cost cost;
        fm_analysis_ps_cost(in->a, ps, &cost);
        const struct fm_ps *proc = &in->a->profile->ps[ps];
        /* Threads, and the root of the program, are not functions. */
        bool thread =
            in->a->profile->flavour == FM_FLAVOUR_C && !proc->file[0] && !proc->decl_module[0];
        if (fm_cost_total(&cost, in->measure) > 0 && !thread)
            add_everywhere(in, ps, false);
    }
}

static void add_site_edges(struct making *in, uint32_t from, uint32_t css)
{
    bool inlined = fm_profile_css_uncounted(in->a->profile, css);
    int64_t calls;
    for (uint32_t at = 0, to; fm_analysis_site_calls(in->a, css, &at, &to, &calls);) {
        if (is_shown(in, to))
            add_edge(in, from, to, calls, inlined);
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
                        const struct fm_digest_focus *focus, enum fm_measure_id measure)
{
    g_return_if_fail(ret != NULL && focus->clique <= a->clique_count &&
                     focus->ps <= a->profile->ps_count);
    struct making in = {
        .a = a,
        .measure = measure,
        .places = g_new0(uint32_t, a->profile->ps_count + 1u),
        .edges = g_hash_table_new_full(fm_int64_hash, g_int64_equal, g_free, NULL),
        .graph = ret,
    };
    *ret = (struct fm_call_graph){
        .nodes = g_array_new(FALSE, FALSE, sizeof(struct fm_call_node)),
        .edges = g_array_new(FALSE, FALSE, sizeof(struct fm_call_edge)),
        .one_place = focus->clique != 0 && fm_digest_clique_procs(a, focus->clique) > 1,
    };
    if (ret->one_place)
        recursion_nodes(&in, focus->clique);
    else if (focus->clique != 0)
        neighbours(&in, fm_digest_clique_name(a, focus->clique));
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
    g_free(in.places);
    g_hash_table_unref(in.edges);
}

void fm_call_graph_done(struct fm_call_graph *graph)
{
    g_clear_pointer(&graph->nodes, g_array_unref);
    g_clear_pointer(&graph->edges, g_array_unref);
}
