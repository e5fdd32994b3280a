/* SPDX-License-Identifier: Apache-2.0 */
/* Handles inputs one after the other: one that does not fit changes nothing; otherwise its graph is
 * walked. */
#include "runs/merge/merge.h"

#include <string.h>

#include "base/error.h"
#include "runs/merge/code.h"
#include "runs/merge/internal.h"

struct fm_merge *fm_merge_new(const struct fm_merge_options *options)
{
    g_return_val_if_fail(options != NULL, NULL);
    struct fm_merge *m = g_new0(struct fm_merge, 1);
    m->options = *options;
    m->options.sites_by_key = options->sites_by_key || options->across_builds;
    m->strings = fm_strings_new();
    m->facts = fm_merged_facts_new();
    m->totals = fm_merged_totals_new();
    m->code = fm_merged_code_new();
    m->marks = g_array_new(FALSE, FALSE, sizeof(struct fm_mark));
    m->notes = g_ptr_array_new();
    m->lost = g_ptr_array_new();
    m->parts = g_array_new(FALSE, FALSE, sizeof(struct fm_part));
    m->procs = g_array_new(FALSE, FALSE, sizeof(struct fm_merged_ps));
    m->sites = g_array_new(FALSE, FALSE, sizeof(struct fm_merged_site));
    m->proc_index = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    m->site_index = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    m->last_procs = g_array_new(FALSE, TRUE, sizeof(uint32_t));
    m->last_sites = g_array_new(FALSE, TRUE, sizeof(uint32_t));
    m->nodes = g_array_new(FALSE, FALSE, sizeof(struct fm_merged_node));
    m->parents = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    m->edges = g_array_new(FALSE, FALSE, sizeof(struct fm_merged_edge));
    m->values = g_array_new(FALSE, TRUE, sizeof(uint64_t));
    m->points = g_array_new(FALSE, TRUE, sizeof(uint64_t));
    m->depths = g_array_new(FALSE, FALSE, sizeof(struct fm_depths));
    m->depths_of = g_hash_table_new(NULL, NULL);
    m->to_unite = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    m->edge_of = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
    return m;
}

void fm_merge_free(struct fm_merge *m)
{
    if (m == NULL)
        return;
    for (guint i = 0; i < m->procs->len; i++) {
        g_array_unref(fm_merge_proc(m, i)->sites);
        g_array_unref(fm_merge_proc(m, i)->points);
        g_clear_pointer(&fm_merge_proc(m, i)->lines, g_array_unref);
    }
    GArray *const arrays[] = {m->marks,      m->procs,    m->sites,  m->last_procs,
                              m->last_sites, m->nodes,    m->edges,  m->values,
                              m->points,     m->to_unite, m->depths, m->parents};
    for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
        g_array_unref(arrays[i]);
    g_ptr_array_unref(m->notes);
    g_ptr_array_unref(m->lost);
    g_array_unref(m->parts);
    g_hash_table_unref(m->depths_of);
    g_hash_table_unref(m->proc_index);
    g_hash_table_unref(m->site_index);
    g_ptr_array_unref(m->edge_of);
    g_free(m->edge_places);
    g_free(m->clique_size);
    fm_merged_facts_free(m->facts);
    fm_merged_totals_free(m->totals);
    fm_merged_code_free(m->code);
    fm_strings_free(m->strings);
    g_free(m);
}

/* --- the graph of an input --- */

struct adding {
    struct fm_merge *m;
    const struct fm_profile *profile;
    const uint32_t *procs, *sites;
    uint32_t *nodes;              /* by pd; UINT32_MAX = not seen */
    uint32_t *edges;              /* by csd, if they are needed; likewise */
    uint32_t *open, open_count;   /* pds to be walked: each comes once */
    struct fm_merge_walk walk;    /* all NULL: not asked for */
    bool is_union;                /* calls of its root are programs, not runs of them */
    unsigned column_count;        /* measures of which the input has more than zeros: */
    unsigned to[FM_MEASURES_MAX]; /* in the result, */
    const struct fm_column *from[FM_MEASURES_MAX]; /* in the input, */
    uint64_t factor[FM_MEASURES_MAX];              /* multiplied by this */
};

static void add_pd_points(struct adding *a, uint32_t pd)
{
    const struct fm_profile *profile = a->profile;
    if (a->m->coverage != FM_COVERAGE_DYNAMIC)
        return;
    size_t to = fm_merge_node(a->m, fm_merge_class_of(a->m, a->nodes[pd]))->points;
    uint64_t first = profile->pd_point_first[pd], end = profile->pd_point_first[pd + 1];
    for (uint64_t i = first; i < end; i++) {
        uint64_t *sum = &g_array_index(a->m->points, uint64_t, to + (size_t)(i - first));
        *sum = fm_merge_sum(*sum, fm_column_get(&profile->pd_points, (size_t)i));
    }
}

static void see_pd(struct adding *a, uint32_t pd, uint32_t csd, uint32_t node)
{
    a->nodes[pd] = node;
    if (a->walk.order != NULL) {
        a->walk.order[a->walk.count++] = pd;
        a->walk.maker[pd] = csd;
    }
    add_pd_points(a, pd);
    a->open[a->open_count++] = pd;
}

static void add_csd(struct adding *a, uint32_t pd, uint32_t csd, uint32_t *guess)
{
    struct fm_merge *m = a->m;
    const struct fm_profile *profile = a->profile;
    uint32_t callee = profile->csd_callee[csd];
    uint32_t node = a->nodes[callee];
    bool made;
    uint32_t edge =
        fm_merge_edge_at(m, fm_merge_class_of(m, a->nodes[pd]), a->sites[profile->csd_css[csd]],
                         a->procs[profile->pd_ps[callee]], guess, &node, &made);
    if (a->edges != NULL)
        a->edges[csd] = edge;
    uint64_t *sums = fm_merge_values(m, edge);
    const bool is_program = a->is_union && pd == profile->root_pd;
    for (unsigned i = 0; i < a->column_count; i++) {
        uint64_t value = fm_column_get(a->from[i], csd);
        if (is_program && a->to[i] == FM_EXITS) {
            sums[FM_EXITS] = MAX(sums[FM_EXITS], value);
            continue;
        }
        sums[a->to[i]] = fm_merge_sum(
            sums[a->to[i]], a->factor[i] == 1 ? value : fm_merge_scaled(value, a->factor[i]));
    }
    bool seen = a->nodes[callee] != UINT32_MAX;
    if (seen && a->walk.closing != NULL && callee != pd)
        g_array_append_val(a->walk.closing, csd);
    if (!seen)
        see_pd(a, callee, csd, node);
    else if (fm_merge_class_of(m, a->nodes[callee]) != fm_merge_class_of(m, node))
        fm_merge_unite(m, a->nodes[callee], node);
}

static void add_graph(struct adding *a)
{
    const struct fm_profile *profile = a->profile;
    while (a->open_count > 0) {
        uint32_t pd = a->open[--a->open_count];
        uint32_t guess = fm_merge_node(a->m, fm_merge_class_of(a->m, a->nodes[pd]))->first;
        for (uint32_t slot = 0; slot < profile->ps[profile->pd_ps[pd]].css_count; slot++) {
            uint32_t count;
            const uint32_t *csds = fm_profile_slot(profile, pd, slot, &count);
            for (uint32_t i = 0; i < count; i++)
                add_csd(a, pd, csds[i], &guess);
        }
    }
}

static void choose_columns(struct adding *a, uint64_t quanta_factor)
{
    for (unsigned i = 0; i < a->m->value_count; i++) {
        int of = fm_merge_measure_of(a->profile->measures, a->profile->measure_count,
                                     a->m->measures[i].name);
        const struct fm_column *column = &a->profile->csd_own[of];
        if (column->width == 0)
            continue;
        a->to[a->column_count] = i;
        a->from[a->column_count] = column;
        a->factor[a->column_count++] = i == FM_QUANTA ? quanta_factor : 1;
    }
}

/* The node of the input's root: the root, or below it the procedure that represents its program. */
static uint32_t root_for(struct adding *a)
{
    struct fm_merge *m = a->m;
    uint32_t root_ps = a->procs[a->profile->pd_ps[a->profile->root_pd]];
    if (!m->options.union_programs || a->is_union) {
        if (m->nodes->len == 0)
            m->root = fm_merge_new_node(m, root_ps);
        return m->root;
    }
    uint32_t union_ps = fm_merge_union_root(m), node = UINT32_MAX;
    if (m->nodes->len == 0)
        m->root = fm_merge_new_node(m, union_ps);
    uint32_t site = g_array_index(fm_merge_proc(m, union_ps)->sites, uint32_t, 0);
    bool made;
    uint32_t guess = FM_NO_EDGE;
    uint32_t edge =
        fm_merge_edge_at(m, fm_merge_class_of(m, m->root), site, root_ps, &guess, &node, &made);
    /* However many runs of the program there are, and however they were grouped before. */
    if (m->value_count > 0)
        fm_merge_values(m, edge)[FM_EXITS] = MAX(fm_merge_values(m, edge)[FM_EXITS], 1);
    return node;
}

/* Only a root: the result of merging nothing. A process without calls has a duration and other
 * facts, and is added like any other. */
bool fm_merge_is_empty(const struct fm_profile *profile)
{
    const struct fm_run_info *run_info = &profile->run_info;
    return profile->csd_count == 0 && profile->pd_count <= 1 && profile->user_quanta == 0 &&
           profile->instrumentation_quanta == 0 && profile->callseqs == 0 &&
           run_info->duration_ns == 0 && run_info->peak_bytes == 0 &&
           run_info->process.command == NULL && run_info->part_count == 0 &&
           run_info->mark_count == 0 && run_info->note_count == 0;
}

/* The edge of each of its csds, none yet. NULL: not asked for. */
static uint32_t *new_places(struct fm_merge *m, const struct fm_profile *profile)
{
    if (!m->options.places)
        return NULL;
    GArray *edges = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    g_array_set_size(edges, profile->csd_count + 1u);
    memset(edges->data, 0xff, sizeof(uint32_t) * edges->len);
    g_ptr_array_add(m->edge_of, edges);
    return (uint32_t *)(void *)edges->data;
}

/* An input of which the procedures and sites are known. factor: its quanta are multiplied by this.
 */
static void add_fitting(struct adding *a, uint64_t factor)
{
    struct fm_merge *m = a->m;
    const struct fm_profile *profile = a->profile;
    a->nodes = g_new(uint32_t, profile->pd_count + 1u);
    memset(a->nodes, 0xff, sizeof *a->nodes * (profile->pd_count + 1u));
    a->edges = new_places(m, profile);
    g_autofree uint32_t *edges = NULL;
    if (!m->options.places && fm_merge_has_facts(profile)) {
        edges = a->edges = g_new(uint32_t, profile->csd_count + (gsize)1);
        memset(edges, 0xff, sizeof *edges * (profile->csd_count + (gsize)1));
    }
    a->open = g_new(uint32_t, profile->pd_count + 1u);
    choose_columns(a, factor);
    if (fm_merge_has_totals(m))
        fm_merge_walk_init(&a->walk, profile);
    see_pd(a, profile->root_pd, 0, root_for(a));
    add_graph(a);
    fm_merge_add_depths(m, profile, a->nodes);
    if (!m->options.places)
        fm_merge_add_facts(m, profile, edges, factor);
    if (a->walk.order != NULL)
        fm_merge_totals_add(m, profile, &a->walk, a->nodes, factor);
    fm_merge_walk_done(&a->walk);
    fm_merge_add_header(m, profile, factor);
    g_free(a->nodes);
    g_free(a->open);
}

bool fm_merge_add(struct fm_merge *m, const struct fm_profile *profile, const char *name,
                  GError **error)
{
    g_return_val_if_fail(profile != NULL && name != NULL, false);
    bool is_union = strcmp(profile->program_name, FM_MERGE_UNION_NAME) == 0;
    uint64_t ticks = 0;
    struct adding a = {.m = m, .profile = profile, .is_union = is_union};
    uint32_t *procs, *sites;
    bool at_root = is_union || !m->options.union_programs;
    if (!fm_merge_fits(m, profile, name, at_root, &ticks, error))
        return false;
    if (m->any && fm_merge_is_empty(profile)) {
        if (m->only_empty)
            fm_merge_keep_least_program(m, profile);
        new_places(m, profile);
        g_array_set_size(m->last_procs, 0); /* none of them was added */
        g_array_set_size(m->last_sites, 0);
        return true;
    }
    if (!m->any || m->only_empty)
        fm_merge_take_header(m, profile);
    if (at_root && m->root_key == NULL) {
        g_autofree char *key = fm_merge_proc_key(m, &profile->ps[profile->pd_ps[profile->root_pd]]);
        m->root_key = fm_strings_add(m->strings, key);
    }
    m->only_empty = fm_merge_is_empty(profile);
    if (!fm_merge_statics(m, profile, name, &procs, &sites, error))
        return false;
    uint64_t rate = m->ticks_per_second;
    fm_merge_join_header(m, profile, ticks);
    if (rate != 0 && ticks != rate) {
        fm_merge_rescale_facts(m, ticks / rate);
        fm_merge_totals_rescale(m, ticks / rate);
    }
    uint64_t factor = profile->ticks_per_second == 0 ? 1 : ticks / profile->ticks_per_second;
    a.procs = procs;
    a.sites = sites;
    add_fitting(&a, factor);
    m->inputs++;
    g_free(procs);
    g_free(sites);
    return true;
}

static gint compare_texts(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char *const *fm_merge_notes(struct fm_merge *m)
{
    const char *code = fm_merge_code_lost(m);
    if (m->lost->len > 0 && m->lost->pdata[m->lost->len - 1] == NULL)
        return (const char *const *)m->lost->pdata;
    if (code != NULL)
        fm_merge_lose(m, code);
    g_ptr_array_sort(m->lost, compare_texts);
    g_ptr_array_add(m->lost, NULL);
    return (const char *const *)m->lost->pdata;
}

static bool finish_graph(struct fm_merge *m, struct fm_profile **ret,
                         struct fm_merge_places *places, GError **error)
{
    if (m->inputs == 0) {
        g_set_error_literal(error, FM_ERROR, FM_ERROR_USAGE, "there is nothing to merge");
        return false;
    }
    fm_merge_close(m);
    return fm_merge_result(m, ret, places, error);
}

bool fm_merge_finish(struct fm_merge *m, struct fm_profile **ret, GError **error)
{
    g_return_val_if_fail(m != NULL && ret != NULL, false);
    bool ok = finish_graph(m, ret, NULL, error);
    g_autoptr(FmSourceMap) lines = ok && m->has_lines ? fm_merge_lines_result(m) : NULL;
    g_autoptr(FmMachineCode) code = ok ? fm_merge_code_result(m) : NULL;
    if (lines != NULL)
        fm_source_map_attach(lines, *ret);
    if (code != NULL)
        fm_machine_code_attach(code, *ret);
    fm_merge_free(m);
    return ok;
}

bool fm_merge_finish_places(struct fm_merge *m, struct fm_profile **ret,
                            struct fm_merge_places *ret_places, GError **error)
{
    g_return_val_if_fail(m != NULL && m->options.places && ret != NULL && ret_places != NULL,
                         false);
    bool ok = finish_graph(m, ret, ret_places, error);
    fm_merge_free(m);
    return ok;
}
