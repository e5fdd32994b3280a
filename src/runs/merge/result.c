/* SPDX-License-Identifier: Apache-2.0 */
/* Gives the merged graph ids that depend only on its contents. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "profile/file/build.h"
#include "runs/merge/internal.h"

struct numbering {
    struct fm_merge *m;
    struct fm_build *build;
    uint32_t *proc_order; /* procs, the root's first, then by their labels */
    uint32_t *site_ids;   /* site ids of the result, by merged site */
    uint32_t *node_ids;   /* node ids of the result, by class; 0 = none yet */
    GArray *order;        /* uint32_t: classes in the order of their ids */
    GArray *firsts;       /* uint32_t: for each of them, where its edges begin: */
    GArray *edges;        /* uint32_t: those of each, in order */
};

/* --- order of statics --- */

static int compare_numbers(uint32_t a, uint32_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_procs(const void *a, const void *b, void *user)
{
    const struct fm_merge *m = user;
    const struct fm_merged_ps *one = fm_merge_proc(m, *(const uint32_t *)a),
                              *other = fm_merge_proc(m, *(const uint32_t *)b);
    const struct fm_ps *p = &one->ps, *q = &other->ps;
    uint32_t root = fm_merge_node(m, m->root)->ps;
    if ((one == fm_merge_proc(m, root)) != (other == fm_merge_proc(m, root)))
        return one == fm_merge_proc(m, root) ? -1 : 1;
    int order = compare_numbers(p->label_kind, q->label_kind);
    order = order != 0 ? order : strcmp(p->decl_module, q->decl_module);
    order = order != 0 ? order : strcmp(p->def_module, q->def_module);
    order = order != 0 ? order : strcmp(p->type_name, q->type_name);
    order = order != 0 ? order : strcmp(p->name, q->name);
    order = order != 0 ? order : strcmp(p->raw_name, q->raw_name);
    order = order != 0 ? order : compare_numbers(p->arity, q->arity);
    order = order != 0 ? order : compare_numbers(p->mode, q->mode);
    order = order != 0 ? order : strcmp(p->file, q->file);
    order = order != 0 ? order : compare_numbers(p->line, q->line);
    order = order != 0
                ? order
                : compare_numbers(
                      (uint32_t)p->variadic << 2 | (uint32_t)p->inlined << 1 | p->in_interface,
                      (uint32_t)q->variadic << 2 | (uint32_t)q->inlined << 1 | q->in_interface);
    return order != 0 ? order : compare_numbers(one->ordinal, other->ordinal);
}

static int compare_sites(const void *a, const void *b, void *user)
{
    const struct fm_merge *m = user;
    const struct fm_merged_site *one = fm_merge_site(m, *(const uint32_t *)a),
                                *other = fm_merge_site(m, *(const uint32_t *)b);
    const struct fm_css *p = &one->css, *q = &other->css;
    if (m->flavour == FM_FLAVOUR_MERCURY && !m->options.sites_by_key)
        return compare_numbers(p->slot, q->slot);
    int order = strcmp(p->file, q->file);
    order = order != 0 ? order : compare_numbers(p->line, q->line);
    order = order != 0 ? order : strcmp(p->goal_path, q->goal_path);
    order = order != 0 ? order : compare_numbers(p->kind, q->kind);
    if (order == 0 && !m->options.across_builds) /* not of their keys there */
        order = compare_numbers(p->inlined, q->inlined);
    uint32_t callee = p->callee_ps == 0 ? 0 : fm_merge_proc(m, p->callee_ps - 1)->id;
    uint32_t callee_of_other = q->callee_ps == 0 ? 0 : fm_merge_proc(m, q->callee_ps - 1)->id;
    order = order != 0 ? order : compare_numbers(callee, callee_of_other);
    order = order != 0 ? order : strcmp(p->type_subst, q->type_subst);
    return order != 0 ? order : compare_numbers(one->ordinal, other->ordinal);
}

static void add_procs(struct numbering *n)
{
    struct fm_merge *m = n->m;
    bool points = m->coverage != FM_COVERAGE_NONE;
    n->proc_order = g_new(uint32_t, m->procs->len + 1u);
    for (uint32_t i = 0; i < m->procs->len; i++)
        n->proc_order[i] = i;
    g_qsort_with_data(n->proc_order, (gint)m->procs->len, sizeof(uint32_t), compare_procs, m);
    for (uint32_t i = 0; i < m->procs->len; i++) {
        struct fm_merged_ps *proc = fm_merge_proc(m, n->proc_order[i]);
        proc->id = fm_build_ps(n->build, &proc->ps);
        for (guint p = 0; points && p < proc->points->len; p++) {
            const struct fm_merged_point *of =
                &g_array_index(proc->points, struct fm_merged_point, p);
            const struct fm_coverage_point point = {
                of->goal_path, of->type, m->coverage == FM_COVERAGE_STATIC ? of->count : 0};
            fm_build_point(n->build, proc->id, &point);
        }
    }
}

static void add_sites(struct numbering *n)
{
    struct fm_merge *m = n->m;
    n->site_ids = g_new0(uint32_t, m->sites->len + 1u);
    for (uint32_t i = 0; i < m->procs->len; i++) {
        struct fm_merged_ps *proc = fm_merge_proc(m, n->proc_order[i]);
        uint32_t *sites = (uint32_t *)(void *)proc->sites->data;
        if (proc->sites->len > 1)
            g_qsort_with_data(sites, (gint)proc->sites->len, sizeof *sites, compare_sites, m);
        for (guint slot = 0; slot < proc->sites->len; slot++) {
            struct fm_merged_site *site = fm_merge_site(m, sites[slot]);
            struct fm_css css = site->css;
            css.callee_ps = css.callee_ps == 0 ? 0 : fm_merge_proc(m, css.callee_ps - 1)->id;
            site->slot = slot;
            n->site_ids[sites[slot]] = fm_build_css(n->build, proc->id, &css);
        }
    }
}

/* --- order of contexts --- */

static int compare_edges(const void *a, const void *b, void *user)
{
    const struct fm_merge *m = user;
    const struct fm_merged_edge *one = fm_merge_edge(m, *(const uint32_t *)a),
                                *other = fm_merge_edge(m, *(const uint32_t *)b);
    int order =
        compare_numbers(fm_merge_site(m, one->site)->slot, fm_merge_site(m, other->site)->slot);
    return order != 0 ? order
                      : compare_numbers(fm_merge_proc(m, fm_merge_node(m, one->callee)->ps)->id,
                                        fm_merge_proc(m, fm_merge_node(m, other->callee)->ps)->id);
}

static void append_sorted_edges(struct numbering *n, uint32_t node)
{
    guint first = n->edges->len;
    g_array_append_val(n->firsts, first);
    for (uint32_t edge = fm_merge_node(n->m, node)->first; edge != FM_NO_EDGE;
         edge = fm_merge_edge(n->m, edge)->next)
        g_array_append_val(n->edges, edge);
    if (n->edges->len - first > 1)
        g_qsort_with_data(&g_array_index(n->edges, uint32_t, first), (gint)(n->edges->len - first),
                          sizeof(uint32_t), compare_edges, n->m);
}

struct opened {
    uint32_t next, end; /* range of its edges */
};

static void number_node(struct numbering *n, uint32_t node, GArray *open)
{
    n->node_ids[node] =
        fm_build_pd(n->build, fm_merge_proc(n->m, fm_merge_node(n->m, node)->ps)->id);
    g_array_append_val(n->order, node);
    append_sorted_edges(n, node);
    struct opened opened = {g_array_index(n->firsts, uint32_t, n->firsts->len - 1), n->edges->len};
    g_array_append_val(open, opened);
}

/* Depth first from the root, slot by slot. */
static void number_nodes(struct numbering *n)
{
    struct fm_merge *m = n->m;
    g_autoptr(GArray) open = g_array_new(FALSE, FALSE, sizeof(struct opened));
    n->node_ids = g_new0(uint32_t, m->nodes->len + 1u);
    number_node(n, fm_merge_class_of(m, m->root), open);
    while (open->len > 0) {
        struct opened *top = &g_array_index(open, struct opened, open->len - 1);
        if (top->next == top->end) {
            g_array_set_size(open, open->len - 1);
            continue;
        }
        uint32_t edge = g_array_index(n->edges, uint32_t, top->next++);
        uint32_t callee = fm_merge_class_of(m, fm_merge_edge(m, edge)->callee);
        if (n->node_ids[callee] == 0)
            number_node(n, callee, open);
    }
    g_array_append_val(n->firsts, n->edges->len);
}

static void add_graph(struct numbering *n)
{
    struct fm_merge *m = n->m;
    for (guint i = 0; i < n->order->len; i++) {
        uint32_t node = g_array_index(n->order, uint32_t, i), pd = i + 1;
        const struct fm_merged_node *of = fm_merge_node(m, node);
        guint points = fm_merge_proc(m, of->ps)->points->len;
        uint32_t first = g_array_index(n->firsts, uint32_t, i),
                 end = g_array_index(n->firsts, uint32_t, i + 1);
        for (guint p = 0; m->coverage == FM_COVERAGE_DYNAMIC && p < points; p++)
            fm_build_pd_point(n->build, pd, p, g_array_index(m->points, uint64_t, of->points + p));
        for (uint32_t e = first; e < end; e++) {
            uint32_t number = g_array_index(n->edges, uint32_t, e);
            const struct fm_merged_edge *edge = fm_merge_edge(m, number);
            uint32_t csd = fm_build_csd(n->build, pd, fm_merge_site(m, edge->site)->slot,
                                        n->node_ids[fm_merge_class_of(m, edge->callee)]);
            const uint64_t *values = fm_merge_values(m, number);
            for (unsigned v = 0; v < m->value_count; v++) {
                if (values[v] != 0)
                    fm_build_add(n->build, csd, v, values[v]);
            }
        }
    }
}

/* --- the header --- */

static int compare_marks(const void *a, const void *b)
{
    const struct fm_mark *one = a, *other = b;
    if (one->ns != other->ns)
        return one->ns < other->ns ? -1 : 1;
    int order = strcmp(one->name, other->name);
    if (order == 0 && one->quanta != other->quanta)
        order = one->quanta < other->quanta ? -1 : 1;
    return order != 0 ? order : compare_numbers(one->snapshot, other->snapshot);
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void set_header(struct numbering *n)
{
    struct fm_merge *m = n->m;
    struct fm_build_header *header = fm_build_header(n->build);
    header->word_size = m->word_size;
    header->canonical = true;
    header->coverage = m->coverage;
    header->ticks_per_second = m->ticks_per_second;
    header->instrumentation_quanta = m->instrumentation_quanta;
    header->has_totals = true;
    header->user_quanta = m->user_quanta;
    header->callseqs = m->callseqs;
    header->duration_ns = m->duration_ns;
    header->peak_bytes = m->peak_bytes;
    /* Each quantum is taken for one sample where nothing is known. */
    if (m->sample_count > 0) {
        header->sample_count = fm_merge_sum(m->sample_count, m->sampled_unknown);
        header->sample_squares = fm_merge_sum(m->sample_squares, m->sampled_unknown);
    }
    for (unsigned i = 0; i < FM_MEASURES_MERCURY; i++)
        fm_build_rename_measure(n->build, (enum fm_measure_id)i, m->measures[i].name,
                                m->measures[i].unit, m->measures[i].scale);
    for (unsigned i = FM_MEASURES_MERCURY; i < m->measure_count; i++)
        fm_build_measure(n->build, m->measures[i].name, m->measures[i].unit, m->measures[i].scale);
}

static void add_facts(struct numbering *n)
{
    struct fm_merge *m = n->m;
    const char *before = NULL;
    g_array_sort(m->marks, compare_marks);
    for (guint i = 0; i < m->marks->len; i++)
        fm_build_mark(n->build, &g_array_index(m->marks, struct fm_mark, i));
    for (unsigned i = 0; i < FM_MEASURES_MERCURY; i++) {
        if ((m->unknown >> i & 1u) != 0)
            fm_build_unknown(n->build, (enum fm_measure_id)i);
    }
    fm_build_nature(n->build, m->nature, m->heap_period);
    fm_build_extent(
        n->build,
        &(struct fm_extent){.recorded_ns = m->recorded_ns == m->duration_ns ? 0 : m->recorded_ns,
                            .unfinished = m->unfinished,
                            .later = m->later});
    if (m->tick_event.recorded)
        fm_build_tick_event(n->build, &m->tick_event);
    if (m->origin != NULL)
        fm_build_origin(n->build, m->origin);
    for (guint i = 0; i < m->parts->len; i++)
        fm_build_part(n->build, &g_array_index(m->parts, struct fm_part, i));
    for (guint i = 0; i < m->depths->len; i++) {
        struct fm_depths depths = g_array_index(m->depths, struct fm_depths, i);
        depths.pd = n->node_ids[fm_merge_class_of(m, depths.pd)];
        fm_build_depths(n->build, &depths);
    }
    if (fm_merge_has_totals(m))
        fm_merge_totals_tell(m, n->order, n->build);
    g_ptr_array_sort(m->notes, compare_texts);
    for (guint i = 0; i < m->notes->len; i++) {
        if (before == NULL || strcmp(before, m->notes->pdata[i]) != 0)
            fm_build_note(n->build, m->notes->pdata[i]);
        before = m->notes->pdata[i];
    }
}

/* --- where the inputs are in it --- */

/* Csds of the result, by edge; 0 = it is part of another. g_free(). */
static uint32_t *csds_of_edges(const struct numbering *n)
{
    uint32_t *csds = g_new0(uint32_t, n->m->edges->len + 1u);
    for (guint i = 0; i < n->edges->len; i++)
        csds[g_array_index(n->edges, uint32_t, i)] = i + 1;
    return csds;
}

/* The maps of the merge become those of the result. */
static void tell_places(struct numbering *n, struct fm_merge_places *ret)
{
    struct fm_merge *m = n->m;
    g_autofree uint32_t *csds = csds_of_edges(n);
    ret->count = m->edge_of->len;
    ret->csds = g_new0(uint32_t *, ret->count + 1u);
    for (uint32_t input = 0; input < ret->count; input++) {
        GArray *edges = m->edge_of->pdata[input];
        guint count = edges->len;
        uint32_t *map = ret->csds[input] = (uint32_t *)(void *)g_array_free(edges, FALSE);
        for (guint csd = 0; csd < count; csd++) {
            uint32_t edge = map[csd];
            while (edge != FM_NO_EDGE && fm_merge_edge(m, edge)->site == FM_NO_EDGE)
                edge = fm_merge_edge(m, edge)->next;
            map[csd] = edge == FM_NO_EDGE ? 0 : csds[edge];
        }
    }
    g_ptr_array_set_free_func(m->edge_of, NULL);
    g_ptr_array_set_size(m->edge_of, 0);
    ret->clique_size = g_new(uint32_t, n->order->len + 1u);
    ret->clique_size[0] = 0;
    for (guint i = 0; i < n->order->len; i++)
        ret->clique_size[i + 1] = m->clique_size[g_array_index(n->order, uint32_t, i)];
}

void fm_merge_places_done(struct fm_merge_places *places)
{
    for (uint32_t input = 0; input < places->count; input++)
        g_free(places->csds[input]);
    g_free(places->csds);
    g_free(places->clique_size);
    *places = (struct fm_merge_places){0};
}

bool fm_merge_result(struct fm_merge *m, struct fm_profile **ret, struct fm_merge_places *places,
                     GError **error)
{
    g_return_val_if_fail(m->root < m->nodes->len, false);
    struct numbering n = {
        .m = m,
        .build = fm_build_new(m->flavour, m->program),
        .order = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
        .firsts = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
        .edges = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
    };
    set_header(&n);
    add_procs(&n);
    add_sites(&n);
    number_nodes(&n);
    add_graph(&n);
    add_facts(&n);
    g_autofree uint32_t *csds = csds_of_edges(&n);
    fm_merge_tell_facts(m, csds, n.build);
    if (places != NULL)
        tell_places(&n, places);
    g_free(n.proc_order);
    g_free(n.site_ids);
    g_free(n.node_ids);
    g_array_unref(n.order);
    g_array_unref(n.firsts);
    g_array_unref(n.edges);
    bool built = fm_build_finish(n.build, ret, error);
    if (!built && places != NULL)
        fm_merge_places_done(places);
    return built;
}
