/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/digest/tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/select.h"
#include "profile/digest/paths.h"

/* maximum number of contexts of a procedure, for trees of callers */
#define CONTEXTS_FOLLOWED 2048u

/* An edge of the tree before edges with the same path are joined. */
struct edge {
    enum fm_digest_kind kind;
    uint32_t ps, procs;
    uint32_t pd;     /* upwards, and of members: the pd; else 0 = all of clique */
    uint32_t clique; /* downwards */
    uint32_t csd;    /* by which it is entered; 0 = none */
    int64_t weight;  /* its part: of totals downwards, of the root's amount upwards */
    bool is_part;    /* weight is a part, active the total */
    bool at_most;    /* the total is an upper bound */
    int64_t active;
};

/* A pd's part of the root's amount. */
struct part {
    int64_t weight;
    bool at_most;
};

void fm_digest_tree_init(struct fm_digest_tree *tree, const struct fm_analysis *a,
                         enum fm_measure_id measure, bool up)
{
    g_return_if_fail(measure >= FM_FIRST_INHERITED && measure < FM_MEASURES_MAX);
    *tree = (struct fm_digest_tree){
        .a = a,
        .measure = measure,
        .up = up,
        .pds = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
        .weights = g_array_new(FALSE, FALSE, sizeof(struct part)),
    };
}

void fm_digest_tree_done(struct fm_digest_tree *tree)
{
    g_array_unref(tree->pds);
    g_array_unref(tree->weights);
    *tree = (struct fm_digest_tree){0};
}

static uint32_t pd_at(const struct fm_digest_tree *tree, const struct fm_digest_node *node,
                      size_t i)
{
    return g_array_index(tree->pds, uint32_t, node->first + i);
}

static struct part part_at(const struct fm_digest_tree *tree, const struct fm_digest_node *node,
                           size_t i)
{
    return g_array_index(tree->weights, struct part, node->first + i);
}

static void add_pd(struct fm_digest_tree *tree, struct fm_digest_node *node, uint32_t pd,
                   struct part part)
{
    node->own += fm_analysis_pd_own(tree->a, pd, tree->measure);
    node->count++;
    g_array_append_val(tree->pds, pd);
    g_array_append_val(tree->weights, part);
}

static uint32_t csd_site(const struct fm_digest_tree *tree, uint32_t csd)
{
    return csd ? tree->a->profile->csd_css[csd] : 0;
}

/* --- from edges to nodes --- */

static int compare_edges(const void *a, const void *b)
{
    const struct edge *ea = a, *eb = b;
    if (ea->kind != eb->kind)
        return ea->kind < eb->kind ? -1 : 1;
    if (ea->ps != eb->ps)
        return ea->ps < eb->ps ? -1 : 1;
    if (ea->procs != eb->procs)
        return ea->procs < eb->procs ? -1 : 1;
    if (ea->weight != eb->weight)
        return ea->weight > eb->weight ? -1 : 1;
    if (ea->clique != eb->clique)
        return ea->clique < eb->clique ? -1 : 1;
    return ea->csd < eb->csd ? -1 : ea->csd > eb->csd;
}

static bool edges_are_of_one_node(const struct edge *a, const struct edge *b)
{
    return a->kind == b->kind && a->ps == b->ps && a->procs == b->procs;
}

static int compare_nodes(const void *a, const void *b, void *user)
{
    const struct fm_digest_node *na = a, *nb = b;
    const struct fm_profile *profile = user;
    if (na->total != nb->total)
        return na->total > nb->total ? -1 : 1;
    int names = strcmp(profile->ps[na->ps].unqualified_name, profile->ps[nb->ps].unqualified_name);
    if (names != 0)
        return names;
    if (na->ps != nb->ps)
        return na->ps < nb->ps ? -1 : 1;
    return (int)na->kind - (int)nb->kind;
}

static int64_t csd_calls(const struct fm_digest_tree *tree, uint32_t csd)
{
    return csd ? fm_profile_calls(tree->a->profile, csd) : 0;
}

/* Number of times the edge was taken; if it stands for a function in a recursion, or for all of a
 * function, the number of its calls. */
static int64_t calls_of(const struct fm_digest_tree *tree, const struct edge *edge)
{
    if (edge->csd == 0 && edge->pd != 0)
        return fm_analysis_pd_calls(tree->a, edge->pd);
    return csd_calls(tree, edge->csd);
}

static bool is_inlined(const struct fm_digest_tree *tree, const struct edge *edge)
{
    const struct fm_profile *profile = tree->a->profile;
    if (edge->csd == 0)
        return edge->pd != 0 && fm_analysis_pd_inlined(tree->a, edge->pd);
    return fm_profile_css_uncounted(profile, profile->csd_css[edge->csd]);
}

static void add_edge(struct fm_digest_tree *tree, struct fm_digest_node *node,
                     const struct edge *edge)
{
    const struct fm_analysis *a = tree->a;
    const struct part part = {edge->weight, edge->at_most};
    node->total += edge->weight;
    node->active += edge->is_part ? edge->active : edge->weight;
    node->at_most |= edge->at_most;
    node->calls += calls_of(tree, edge);
    node->inlined |= is_inlined(tree, edge);
    if (edge->pd != 0) {
        add_pd(tree, node, edge->pd, part);
        return;
    }
    for (uint32_t i = a->clique_first[edge->clique]; i < a->clique_first[edge->clique + 1]; i++)
        add_pd(tree, node, a->clique_pds[i], part);
}

static uint32_t count_sites(const struct fm_digest_tree *tree, const struct edge *edges,
                            guint count)
{
    if (count == 1) /* mostly */
        return edges->csd != 0;
    g_autoptr(GHashTable) sites = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < count; i++)
        if (edges[i].csd != 0)
            g_hash_table_add(sites, GUINT_TO_POINTER(csd_site(tree, edges[i].csd)));
    return g_hash_table_size(sites);
}

/* Joins edges of one function or recursion into a node. The array is sorted and emptied. */
static void edges_to_nodes(struct fm_digest_tree *tree, GArray *edges, GArray *ret)
{
    struct edge *all = (struct edge *)(void *)edges->data;
    guint begin = ret->len;
    if (edges->len == 0)
        return;
    qsort(all, edges->len, sizeof *all, compare_edges);
    for (guint i = 0; i < edges->len;) {
        uint32_t clique = all[i].clique ? all[i].clique : tree->a->pd_clique[all[i].pd];
        struct fm_digest_node node = {
            .kind = all[i].kind,
            .ps = all[i].ps,
            .procs = all[i].procs,
            .clique = clique,
            .css = csd_site(tree, all[i].csd),
            .first = tree->pds->len,
        };
        guint j = i;
        for (; j < edges->len && edges_are_of_one_node(&all[i], &all[j]); j++)
            add_edge(tree, &node, &all[j]);
        node.contexts = j - i;
        node.sites = count_sites(tree, all + i, j - i);
        node.recurses = node.kind == FM_NODE_FUNCTION && fm_digest_clique_recurses(tree->a, clique);
        g_array_append_val(ret, node);
        i = j;
    }
    g_array_set_size(edges, 0);
    g_qsort_with_data((struct fm_digest_node *)(void *)ret->data + begin, (int)(ret->len - begin),
                      sizeof(struct fm_digest_node), compare_nodes,
                      (void *)(uintptr_t)tree->a->profile);
}

static struct edge edge_to_clique(const struct fm_digest_tree *tree, uint32_t clique, uint32_t csd)
{
    uint32_t procs = fm_digest_clique_procs(tree->a, clique);
    return (struct edge){
        .kind = procs > 1 ? FM_NODE_RECURSION : FM_NODE_FUNCTION,
        .ps = fm_digest_clique_name(tree->a, clique),
        .procs = procs,
        .clique = clique,
        .csd = csd,
        .weight = fm_analysis_clique_total(tree->a, clique, tree->measure),
    };
}

/* --- downwards --- */

/* Edges from one pd to the cliques that it calls; `only`, if not NULL, restricts them to those of
 * that node. */
static void collect_callees(struct fm_digest_tree *tree, uint32_t pd, const struct edge *only,
                            GArray *edges)
{
    const struct fm_analysis *a = tree->a;
    const struct fm_profile *profile = a->profile;
    uint32_t slots = profile->pd_slot_first[pd + 1] - profile->pd_slot_first[pd];
    for (uint32_t slot = 0; slot < slots; slot++) {
        uint32_t count;
        const uint32_t *csds = fm_profile_slot(profile, pd, slot, &count);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t child = fm_analysis_csd_child_clique(a, csds[i]);
            if (child == 0 || a->clique_parent[child] != csds[i] ||
                (only != NULL && (fm_digest_clique_name(a, child) != only->ps ||
                                  fm_digest_clique_procs(a, child) != only->procs)))
                continue;
            struct edge edge = edge_to_clique(tree, child, csds[i]);
            g_array_append_val(edges, edge);
        }
    }
}

/* The threads of a C program are part of the whole. */
static void add_outside(struct fm_digest_tree *tree, struct fm_digest_node *node)
{
    const struct fm_analysis *a = tree->a;
    g_autoptr(GArray) edges = g_array_new(FALSE, FALSE, sizeof(struct edge));
    uint32_t root = a->profile->root_pd;
    add_pd(tree, node, root, (struct part){0});
    node->total = node->active = fm_cost_total(&a->root_total, tree->measure);
    node->contexts = 1;
    collect_callees(tree, root, NULL, edges);
    for (guint i = 0; i < edges->len; i++) {
        uint32_t clique = g_array_index(edges, struct edge, i).clique;
        if (fm_digest_is_outside(a, clique))
            add_pd(tree, node, a->clique_pds[a->clique_first[clique]], (struct part){0});
    }
}

/* Whether an activation of the same procedure is above: then that one includes its cost. */
static bool is_below_itself(const struct fm_analysis *a, uint32_t pd)
{
    uint32_t ps = a->profile->pd_ps[pd], clique = a->pd_clique[pd];
    if (!a->ps_zeroed[ps])
        return false;
    while (a->clique_parent[clique] != 0) {
        clique = fm_analysis_clique_of_csd_caller(a, a->clique_parent[clique]);
        for (uint32_t i = a->clique_first[clique]; i < a->clique_first[clique + 1]; i++) {
            if (a->profile->pd_ps[a->clique_pds[i]] == ps)
                return true;
        }
    }
    return false;
}

static struct part member_total(const struct fm_digest_tree *tree, uint32_t pd)
{
    struct part total;
    total.weight = fm_analysis_member_total(tree->a, pd, tree->measure, &total.at_most);
    return total;
}

static int compare_totals(uint32_t i, uint32_t j, void *user)
{
    const struct part *totals = user;
    if (totals[i].weight != totals[j].weight)
        return totals[i].weight > totals[j].weight ? -1 : 1;
    return i < j ? -1 : i > j;
}

static void add_root_pd(struct fm_digest_tree *tree, uint32_t pd, struct part total,
                        struct fm_digest_node *ret)
{
    add_pd(tree, ret, pd, total);
    ret->total += total.weight;
    ret->active = ret->total;
    ret->at_most |= total.at_most;
    ret->calls += fm_analysis_pd_calls(tree->a, pd);
    ret->inlined |= fm_analysis_pd_inlined(tree->a, pd);
    ret->contexts++;
}

/* With very many contexts, only callers of the most expensive ones are followed; the others are
 * shown as a number and a sum. */
static void dearest_contexts(struct fm_digest_tree *tree, uint32_t ps, struct fm_digest_node *ret)
{
    const struct fm_analysis *a = tree->a;
    uint32_t first = a->ps_pd_first[ps], count = a->ps_pd_first[ps + 1] - first, below = 0;
    uint32_t looked_at = MIN(count, 2 * CONTEXTS_FOLLOWED);
    g_autofree struct part *totals = g_new(struct part, count);
    g_autofree uint32_t *order = g_new(uint32_t, count);
    struct fm_cost cost;
    for (uint32_t i = 0; i < count; i++) {
        order[i] = i;
        totals[i] = member_total(tree, a->ps_pds[first + i]);
    }
    fm_select_first(order, count, looked_at, compare_totals, totals);
    for (uint32_t i = 0; i < looked_at && ret->contexts < CONTEXTS_FOLLOWED; i++) {
        uint32_t pd = a->ps_pds[first + order[i]];
        if (is_below_itself(a, pd))
            below++;
        else
            add_root_pd(tree, pd, totals[order[i]], ret);
    }
    fm_analysis_ps_cost(a, ps, &cost);
    ret->left = count - below - ret->contexts;
    ret->left_total = MAX(fm_cost_total(&cost, tree->measure) - ret->total, 0);
    ret->total += ret->left_total;
    ret->active = ret->total;
    ret->at_most = (cost.of_recursion >> tree->measure & 1u) != 0;
    ret->own = cost.own[tree->measure];
    ret->calls = cost.calls;
    ret->inlined = cost.inlined;
    ret->contexts = count - below;
    ret->clique = a->pd_clique[a->ps_pds[first + order[0]]];
}

static void procedure_root(struct fm_digest_tree *tree, uint32_t ps, struct fm_digest_node *ret)
{
    const struct fm_analysis *a = tree->a;
    int64_t most = -1;
    *ret = (struct fm_digest_node){
        .kind = FM_NODE_MEMBER, .ps = ps, .procs = 1, .first = tree->pds->len};
    if (tree->up && a->ps_pd_first[ps + 1] - a->ps_pd_first[ps] > CONTEXTS_FOLLOWED) {
        dearest_contexts(tree, ps, ret);
        return;
    }
    for (uint32_t i = a->ps_pd_first[ps]; i < a->ps_pd_first[ps + 1]; i++) {
        uint32_t pd = a->ps_pds[i];
        struct part total = member_total(tree, pd);
        if (is_below_itself(a, pd))
            continue;
        add_root_pd(tree, pd, total, ret);
        if (total.weight > most) {
            most = total.weight;
            ret->clique = a->pd_clique[pd];
        }
    }
}

/* Down the path of a context, always to the node that it belongs to. */
static void context_root(struct fm_digest_tree *tree, uint32_t clique, struct fm_digest_node *ret)
{
    uint32_t steps = fm_digest_path(tree->a, clique, NULL, 0);
    bool up = tree->up;
    g_autofree uint32_t *path = g_new(uint32_t, MAX(steps, 1));
    g_autoptr(GArray) children = g_array_new(FALSE, FALSE, sizeof(struct fm_digest_node));
    g_autoptr(GArray) edges = g_array_new(FALSE, FALSE, sizeof(struct edge));
    fm_digest_path(tree->a, clique, path, steps);
    tree->up = false;
    *ret = (struct fm_digest_node){.kind = FM_NODE_WHOLE, .procs = 1, .first = tree->pds->len};
    add_outside(tree, ret);
    for (uint32_t step = 0; step < steps; step++) {
        const struct edge key = edge_to_clique(tree, path[step], 0);
        g_array_set_size(children, 0);
        for (size_t i = 0; i < ret->count; i++)
            collect_callees(tree, pd_at(tree, ret, i), &key, edges);
        edges_to_nodes(tree, edges, children);
        if (children->len > 0)
            *ret = g_array_index(children, struct fm_digest_node, 0);
    }
    tree->up = up;
}

/* --- upwards --- */

/* Finds the caller of this pd in its context: the recursion that it is part of, else the caller's
 * function. For a whole recursion: its caller's function. None at the program's entry. */
static void collect_caller(struct fm_digest_tree *tree, uint32_t pd, bool whole, struct part part,
                           GArray *edges)
{
    const struct fm_analysis *a = tree->a;
    uint32_t clique = a->pd_clique[pd];
    if (part.weight == 0 || fm_digest_is_outside(a, clique))
        return;
    if (!whole && fm_digest_clique_procs(a, clique) > 1) {
        struct edge edge = edge_to_clique(tree, clique, 0);
        edge.pd = pd;
        edge.weight = part.weight;
        edge.at_most = part.at_most;
        g_array_append_val(edges, edge);
        return;
    }
    uint32_t csd = a->clique_parent[clique], caller = a->profile->csd_caller[csd];
    if (fm_digest_is_outside(a, a->pd_clique[caller]))
        return;
    struct edge edge = {
        .kind =
            fm_digest_clique_procs(a, a->pd_clique[caller]) > 1 ? FM_NODE_MEMBER : FM_NODE_FUNCTION,
        .ps = a->profile->pd_ps[caller],
        .procs = 1,
        .pd = caller,
        .clique = a->pd_clique[caller],
        .csd = csd,
        .weight = part.weight,
        .at_most = part.at_most,
    };
    g_array_append_val(edges, edge);
}

static void collect_functions_by_own(struct fm_digest_tree *tree, GArray *edges)
{
    const struct fm_analysis *a = tree->a;
    for (uint32_t pd = 1; pd <= a->profile->pd_count; pd++) {
        int64_t own = fm_analysis_pd_own(a, pd, tree->measure);
        if (own == 0)
            continue;
        struct edge edge = {.kind = FM_NODE_FUNCTION,
                            .ps = a->profile->pd_ps[pd],
                            .procs = 1,
                            .pd = pd,
                            .weight = own};
        g_array_append_val(edges, edge);
    }
}

/* --- both --- */

/* Adds the rest of a recursive function's total: the cost of other functions of its recursions
 * while it was active. */
static void add_rest(const struct fm_digest_tree *tree, const struct fm_digest_node *node,
                     guint begin, GArray *ret)
{
    const struct fm_analysis *a = tree->a;
    int64_t rest = node->total - node->own;
    uint32_t clique = 0;
    for (size_t i = 0; i < node->count && clique == 0; i++) {
        uint32_t of = a->pd_clique[pd_at(tree, node, i)];
        clique = fm_digest_clique_procs(a, of) > 1 ? of : 0;
    }
    for (guint i = begin; i < ret->len; i++)
        rest -= g_array_index(ret, struct fm_digest_node, i).total;
    if (clique == 0 || rest <= 0)
        return;
    const struct fm_digest_node others = {
        .kind = FM_NODE_RECURSION,
        .ps = fm_digest_clique_name(a, clique),
        .procs = fm_digest_clique_procs(a, clique),
        .clique = clique,
        .contexts = 1,
        .own = rest,
        .total = rest,
        .active = rest,
        .at_most = node->at_most,
        .first = tree->pds->len,
    };
    guint place = begin;
    while (place < ret->len && g_array_index(ret, struct fm_digest_node, place).total >= rest)
        place++;
    g_array_insert_val(ret, place, others);
}

void fm_digest_root(struct fm_digest_tree *tree, const struct fm_digest_focus *focus,
                    struct fm_digest_node *ret)
{
    if (focus->ps != 0) {
        procedure_root(tree, focus->ps, ret);
    } else if (focus->clique != 0) {
        context_root(tree, focus->clique, ret);
        for (size_t i = 0; i < ret->count; i++)
            g_array_index(tree->weights, struct part, ret->first + i) = (struct part){
                fm_analysis_pd_part(tree->a, pd_at(tree, ret, i), tree->measure), false};
    } else {
        *ret = (struct fm_digest_node){.kind = FM_NODE_WHOLE, .procs = 1, .first = tree->pds->len};
        if (!tree->up)
            add_outside(tree, ret);
        else
            ret->total = ret->active = fm_cost_total(&tree->a->root_total, tree->measure);
    }
}

void fm_digest_children(struct fm_digest_tree *tree, const struct fm_digest_node *node, GArray *ret)
{
    g_autoptr(GArray) edges = g_array_new(FALSE, FALSE, sizeof(struct edge));
    if (tree->up && node->kind == FM_NODE_WHOLE && node->count == 0)
        collect_functions_by_own(tree, edges);
    for (size_t i = 0; i < node->count; i++) {
        uint32_t pd = pd_at(tree, node, i);
        if (tree->up)
            collect_caller(tree, pd, node->kind == FM_NODE_RECURSION, part_at(tree, node, i),
                           edges);
        else
            collect_callees(tree, pd, NULL, edges);
    }
    if (node->kind == FM_NODE_WHOLE && !tree->up) { /* threads are part of the whole */
        guint kept = 0;
        for (guint i = 0; i < edges->len; i++) {
            struct edge edge = g_array_index(edges, struct edge, i);
            if (!fm_digest_is_outside(tree->a, edge.clique))
                g_array_index(edges, struct edge, kept++) = edge;
        }
        g_array_set_size(edges, kept);
    }
    guint begin = ret->len;
    edges_to_nodes(tree, edges, ret);
    if (!tree->up && node->kind == FM_NODE_MEMBER)
        add_rest(tree, node, begin, ret);
    for (guint i = begin; tree->up && node->count > 0 && i < ret->len; i++)
        g_array_index(ret, struct fm_digest_node, i).own = 0; /* without its self cost */
}

void fm_digest_members(struct fm_digest_tree *tree, const struct fm_digest_node *node, GArray *ret)
{
    g_autoptr(GArray) edges = g_array_new(FALSE, FALSE, sizeof(struct edge));
    for (size_t i = 0; i < node->count; i++) {
        uint32_t pd = pd_at(tree, node, i);
        struct edge edge = {
            .kind = FM_NODE_MEMBER,
            .ps = tree->a->profile->pd_ps[pd],
            .procs = 1,
            .pd = pd,
            .clique = tree->a->pd_clique[pd],
        };
        const struct part total = member_total(tree, pd);
        edge.weight = total.weight;
        edge.at_most = total.at_most;
        if (tree->by_parts || tree->a->profile->flavour != FM_FLAVOUR_C) {
            edge.is_part = true;
            edge.active = total.weight;
            edge.weight = fm_analysis_pd_part(tree->a, pd, tree->measure);
        }
        g_array_append_val(edges, edge);
    }
    edges_to_nodes(tree, edges, ret);
}
