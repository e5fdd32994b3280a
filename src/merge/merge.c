/* SPDX-License-Identifier: Apache-2.0 */
/* Headers are compared first, so that an input that does not fit changes nothing. */
#include "merge/merge.h"

#include <string.h>

#include "base/error.h"
#include "merge/internal.h"

#define TICKS_MAX 1000000000u

struct fm_merge *fm_merge_new(const struct fm_merge_options *options)
{
    g_return_val_if_fail(options != NULL, NULL);
    struct fm_merge *m = g_new0(struct fm_merge, 1);
    m->options = *options;
    m->options.sites_by_key = options->sites_by_key || options->across_builds;
    m->strings = fm_strings_new();
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
    m->edges = g_array_new(FALSE, FALSE, sizeof(struct fm_merged_edge));
    m->values = g_array_new(FALSE, TRUE, sizeof(uint64_t));
    m->points = g_array_new(FALSE, TRUE, sizeof(uint64_t));
    m->to_unite = g_array_new(FALSE, FALSE, sizeof(uint32_t));
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
    GArray *const arrays[] = {m->marks, m->procs, m->sites,  m->last_procs, m->last_sites,
                              m->nodes, m->edges, m->values, m->points,     m->to_unite};
    for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
        g_array_unref(arrays[i]);
    g_ptr_array_unref(m->notes);
    g_ptr_array_unref(m->lost);
    g_array_unref(m->parts);
    g_hash_table_unref(m->proc_index);
    g_hash_table_unref(m->site_index);
    g_free(m->edge_keys);
    g_free(m->edge_places);
    fm_strings_free(m->strings);
    g_free(m);
}

static void lose(struct fm_merge *m, const char *text)
{
    for (guint i = 0; i < m->lost->len; i++) {
        if (strcmp(m->lost->pdata[i], text) == 0)
            return;
    }
    g_ptr_array_add(m->lost, (gpointer)(uintptr_t)fm_strings_add(m->strings, text));
}

const char *const *fm_merge_notes(const struct fm_merge *m)
{
    if (m->lost->len == 0 || m->lost->pdata[m->lost->len - 1] != NULL)
        g_ptr_array_add(m->lost, NULL);
    return (const char *const *)m->lost->pdata;
}

/* --- headers --- */

static bool differs(const char *name, GError **error, const char *format, ...) FM_PRINTF(3, 4);
static bool differs(const char *name, GError **error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE, "%s: %s", name, text);
    return false;
}

static bool has_quanta(const struct fm_profile *profile)
{
    return profile->user_quanta != 0 || profile->instrumentation_quanta != 0;
}

static uint64_t greatest_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The rate that both are whole parts of. */
static bool common_ticks(const struct fm_merge *m, const struct fm_profile *profile,
                         const char *name, uint64_t *ret, GError **error)
{
    uint64_t a = m->ticks_per_second, b = profile->ticks_per_second;
    bool quanta = m->user_quanta != 0 || m->instrumentation_quanta != 0;
    *ret = MAX(a, b);
    if (a == b || (a == 0 && !quanta) || (b == 0 && !has_quanta(profile)))
        return true;
    if (a == 0 || b == 0)
        return differs(name, error, "%s ticks per second are not known",
                       a == 0 ? "the others'" : "its");
    uint64_t part = b / greatest_divisor(a, b);
    if (a > TICKS_MAX / part)
        return differs(name, error,
                       "tick rates %" G_GUINT64_FORMAT " and %" G_GUINT64_FORMAT
                       " have no common unit",
                       (guint64)a, (guint64)b);
    *ret = a * part;
    return true;
}

static int measure_of(const struct fm_measure *measures, unsigned count, const char *name)
{
    for (unsigned i = 0; i < count; i++) {
        if (strcmp(measures[i].name, name) == 0)
            return (int)i;
    }
    return -1;
}

/* Whether each measure of one is there in the other, with its unit and scale. */
static bool check_measures(const struct fm_merge *m, const struct fm_profile *profile,
                           const char *name, GError **error)
{
    for (int side = 0; side < 2; side++) {
        const struct fm_measure *mine = side == 0 ? m->measures : profile->measures;
        const struct fm_measure *others = side == 0 ? profile->measures : m->measures;
        unsigned count = side == 0 ? m->measure_count : profile->measure_count;
        unsigned other_count = side == 0 ? profile->measure_count : m->measure_count;
        for (unsigned i = 0; i < count; i++) {
            int there = measure_of(others, other_count, mine[i].name);
            if (there < 0 && (i < FM_MEASURES_MERCURY || !m->options.common))
                return differs(
                    name, error, "measure '%s' is %s (--common leaves such measures out)",
                    mine[i].name, side == 0 ? "not recorded in it" : "recorded only in it");
            if (there >= 0 && (strcmp(mine[i].unit, others[there].unit) != 0 ||
                               mine[i].scale != others[there].scale))
                return differs(name, error, "measure '%s' is in other units: %g %s and %g %s",
                               mine[i].name, mine[i].scale, mine[i].unit, others[there].scale,
                               others[there].unit);
        }
    }
    return true;
}

static bool check_header(const struct fm_merge *m, const struct fm_profile *profile,
                         const char *name, uint64_t *ret_ticks, GError **error)
{
    *ret_ticks = profile->ticks_per_second;
    if (!m->any)
        return true;
    if (m->flavour != profile->flavour)
        return differs(name, error, "a profile of a %s program, the others are of %s",
                       profile->flavour == FM_FLAVOUR_C ? "C" : "Mercury",
                       m->flavour == FM_FLAVOUR_C ? "C" : "Mercury");
    if (!m->options.union_programs &&
        strcmp(fm_merge_program(m, m->program), fm_merge_program(m, profile->program_name)) != 0)
        return differs(name, error,
                       "a profile of %s, the others are of %s (--union keeps programs apart below "
                       "one root)",
                       profile->program_name, m->program);
    if (m->word_size != profile->word_size)
        return differs(name, error, "words of %u bytes, the others have %u", profile->word_size,
                       m->word_size);
    return m->only_empty || (common_ticks(m, profile, name, ret_ticks, error) &&
                             check_measures(m, profile, name, error));
}

/* All roots are one context, so they must be of one procedure. */
static bool check_root(const struct fm_merge *m, const struct fm_profile *profile, const char *name,
                       GError **error)
{
    const struct fm_ps *root = &profile->ps[profile->pd_ps[profile->root_pd]];
    g_autofree char *key = m->root_key == NULL ? NULL : fm_merge_proc_key(m, root);
    return key == NULL || strcmp(key, m->root_key) == 0 ||
           differs(name, error, "its root is %s, another procedure than the others'",
                   root->qualified_name);
}

/* A Mercury call site of a known callee calls that: else one slot would get two edges. */
static bool check_callees(const struct fm_profile *profile, const char *name, GError **error)
{
    for (uint32_t csd = 1; csd <= profile->csd_count && profile->flavour == FM_FLAVOUR_MERCURY;
         csd++) {
        const struct fm_css *css = &profile->css[profile->csd_css[csd]];
        uint32_t callee = profile->pd_ps[profile->csd_callee[csd]];
        if (css->kind == FM_SITE_NORMAL && css->callee_ps != callee)
            return differs(name, error,
                           "call site static %u names %s, call site dynamic %u calls %s there: "
                           "the file is damaged",
                           profile->csd_css[csd], profile->ps[css->callee_ps].qualified_name, csd,
                           profile->ps[callee].qualified_name);
    }
    return true;
}

/* --- what is in the header --- */

static int compare_measures(const void *a, const void *b)
{
    return strcmp(((const struct fm_measure *)a)->name, ((const struct fm_measure *)b)->name);
}

static void take_header(struct fm_merge *m, const struct fm_profile *profile)
{
    m->any = true;
    m->flavour = profile->flavour;
    m->program = fm_strings_add(m->strings, m->options.union_programs ? FM_MERGE_UNION_NAME
                                                                      : profile->program_name);
    m->word_size = profile->word_size;
    m->coverage = profile->coverage;
    m->ticks_per_second = profile->ticks_per_second;
    m->measure_count = profile->measure_count;
    for (unsigned i = 0; i < profile->measure_count; i++)
        m->measures[i] = (struct fm_measure){fm_strings_add(m->strings, profile->measures[i].name),
                                             fm_strings_add(m->strings, profile->measures[i].unit),
                                             profile->measures[i].scale};
    if (m->measure_count > FM_MEASURES_MERCURY)
        qsort(m->measures + FM_MEASURES_MERCURY, m->measure_count - FM_MEASURES_MERCURY,
              sizeof *m->measures, compare_measures);
    if (m->options.across_builds)
        m->coverage = FM_COVERAGE_NONE;
}

/* Of the folders that one program was in, the least is shown, whichever input came first. */
static void keep_least_program(struct fm_merge *m, const struct fm_profile *profile)
{
    if (!m->options.union_programs && strcmp(profile->program_name, m->program) < 0)
        m->program = fm_strings_add(m->strings, profile->program_name);
}

/* Measures that this input lacks are left out of all. */
static void drop_measures(struct fm_merge *m, const struct fm_profile *profile)
{
    unsigned kept = 0, map[FM_MEASURES_MAX];
    for (unsigned i = 0; i < m->measure_count; i++) {
        if (measure_of(profile->measures, profile->measure_count, m->measures[i].name) >= 0)
            map[kept++] = i;
    }
    if (kept == m->measure_count)
        return;
    uint64_t *values = (uint64_t *)(void *)m->values->data;
    for (size_t e = 0; e < m->edges->len; e++) {
        for (unsigned i = 0; i < kept; i++)
            values[e * kept + i] = values[e * m->measure_count + map[i]];
    }
    g_array_set_size(m->values, m->edges->len * kept);
    for (unsigned i = 0; i < kept; i++)
        m->measures[i] = m->measures[map[i]];
    m->measure_count = kept;
    lose(m, "measures that not all profiles have are left out");
}

/* Counts are of the points that all have. */
static void keep_coverage_of_all(struct fm_merge *m, const struct fm_profile *profile)
{
    if (m->coverage == profile->coverage)
        return;
    lose(m, m->options.across_builds ? "coverage is left out: that of different builds is not added"
                                     : "coverage is left out: not all profiles have it");
    if (m->coverage == FM_COVERAGE_NONE)
        return;
    m->coverage = FM_COVERAGE_NONE;
    g_array_set_size(m->points, 0);
}

static uint64_t scaled(uint64_t quanta, uint64_t factor)
{
    return factor != 0 && quanta > UINT64_MAX / factor ? UINT64_MAX : quanta * factor;
}

/* Quanta so far, in ticks of another rate. */
static void rescale(struct fm_merge *m, uint64_t ticks)
{
    uint64_t factor = m->ticks_per_second == 0 ? 1 : ticks / m->ticks_per_second;
    m->ticks_per_second = ticks;
    if (factor == 1)
        return;
    m->user_quanta = scaled(m->user_quanta, factor);
    m->instrumentation_quanta = scaled(m->instrumentation_quanta, factor);
    m->sampled_unknown = scaled(m->sampled_unknown, factor);
    m->sample_squares = scaled(scaled(m->sample_squares, factor), factor);
    for (guint e = 0; e < m->edges->len; e++) {
        uint64_t *quanta = fm_merge_values(m, e) + FM_QUANTA;
        *quanta = scaled(*quanta, factor);
    }
    for (guint i = 0; i < m->marks->len; i++) {
        struct fm_mark *mark = &g_array_index(m->marks, struct fm_mark, i);
        mark->quanta = scaled(mark->quanta, factor);
    }
}

/* A sum is of no single process: the facts of each become a note, of which there is one of a text.
 */
static void add_process(struct fm_merge *m, const struct fm_process_fact *process)
{
    if (process->command == NULL)
        return;
    g_autoptr(GDateTime) start =
        g_date_time_new_from_unix_utc((gint64)(process->start_ns / 1000000000));
    g_autofree char *when = start == NULL || process->start_ns == 0
                                ? g_strdup("at a time not recorded")
                                : g_date_time_format(start, "at %Y-%m-%dT%H:%M:%S");
    g_autofree char *fraction =
        g_strdup_printf(".%09uZ", (unsigned)(process->start_ns % 1000000000));
    g_autofree char *text = g_strdup_printf(
        "Added up with others: %s, in %s, process %u of %u, begun %s%s",
        process->command[0] == '\0' ? "a command not recorded" : process->command,
        process->folder == NULL || process->folder[0] == '\0' ? "a folder not recorded"
                                                              : process->folder,
        process->pid, process->parent_pid, when, process->start_ns == 0 ? "" : fraction);
    g_ptr_array_add(m->notes, (gpointer)(uintptr_t)fm_strings_add(m->strings, text));
}

static void add_samples(struct fm_merge *m, const struct fm_profile *profile, uint64_t factor)
{
    const struct fm_run_info *run_info = &profile->run_info;
    uint64_t squares = scaled(scaled(run_info->sample_squares, factor), factor);
    if (run_info->sample_count == 0) {
        m->sampled_unknown = fm_merge_sum(m->sampled_unknown, scaled(profile->user_quanta, factor));
        return;
    }
    m->sample_count = fm_merge_sum(m->sample_count, run_info->sample_count);
    m->sample_squares = fm_merge_sum(m->sample_squares, squares);
}

static void add_header(struct fm_merge *m, const struct fm_profile *profile, uint64_t factor)
{
    add_process(m, &profile->run_info.process);
    fm_merge_add_parts_of(m, profile);
    m->user_quanta = fm_merge_sum(m->user_quanta, scaled(profile->user_quanta, factor));
    m->instrumentation_quanta =
        fm_merge_sum(m->instrumentation_quanta, scaled(profile->instrumentation_quanta, factor));
    m->callseqs = fm_merge_sum(m->callseqs, profile->callseqs);
    m->duration_ns = MAX(m->duration_ns, profile->run_info.duration_ns);
    m->peak_bytes = MAX(m->peak_bytes, profile->run_info.peak_bytes);
    add_samples(m, profile, factor);
    for (uint32_t i = 0; i < profile->run_info.mark_count; i++) {
        struct fm_mark mark = profile->run_info.marks[i];
        mark.name = fm_strings_add(m->strings, mark.name);
        mark.quanta = scaled(mark.quanta, factor);
        g_array_append_val(m->marks, mark);
    }
    for (uint32_t i = 0; i < profile->run_info.note_count; i++)
        g_ptr_array_add(
            m->notes, (gpointer)(uintptr_t)fm_strings_add(m->strings, profile->run_info.notes[i]));
}

/* --- the graph of an input --- */

struct adding {
    struct fm_merge *m;
    const struct fm_profile *profile;
    const uint32_t *procs, *sites;
    uint32_t *nodes;              /* by pd; UINT32_MAX = not seen */
    GArray *open;                 /* pds to be walked */
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

static void see_pd(struct adding *a, uint32_t pd, uint32_t node)
{
    a->nodes[pd] = node;
    add_pd_points(a, pd);
    g_array_append_val(a->open, pd);
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
    uint64_t *sums = fm_merge_values(m, edge);
    for (unsigned i = 0; i < a->column_count; i++) {
        uint64_t value = fm_column_get(a->from[i], csd);
        sums[a->to[i]] =
            fm_merge_sum(sums[a->to[i]], a->factor[i] == 1 ? value : scaled(value, a->factor[i]));
    }
    if (a->nodes[callee] == UINT32_MAX)
        see_pd(a, callee, node);
    else if (fm_merge_class_of(m, a->nodes[callee]) != fm_merge_class_of(m, node))
        fm_merge_unite(m, a->nodes[callee], node);
}

static void add_graph(struct adding *a)
{
    const struct fm_profile *profile = a->profile;
    while (a->open->len > 0) {
        uint32_t pd = g_array_index(a->open, uint32_t, a->open->len - 1);
        g_array_set_size(a->open, a->open->len - 1);
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
    for (unsigned i = 0; i < a->m->measure_count; i++) {
        int of =
            measure_of(a->profile->measures, a->profile->measure_count, a->m->measures[i].name);
        const struct fm_column *column = &a->profile->csd_own[of];
        if (column->width == 0)
            continue;
        a->to[a->column_count] = i;
        a->from[a->column_count] = column;
        a->factor[a->column_count++] = i == FM_QUANTA ? quanta_factor : 1;
    }
}

/* Where the input's root goes: the root, or below it the procedure that stands for its program. */
static uint32_t root_for(struct adding *a, bool is_union)
{
    struct fm_merge *m = a->m;
    uint32_t root_ps = a->procs[a->profile->pd_ps[a->profile->root_pd]];
    if (!m->options.union_programs || is_union) {
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
    uint64_t one[FM_MEASURES_MAX] = {[FM_EXITS] = 1};
    fm_merge_add_values(m, edge, one);
    return node;
}

/* A root and nothing else: what merging nothing gives. */
static bool is_empty(const struct fm_profile *profile)
{
    return profile->csd_count == 0 && profile->pd_count <= 1 && profile->user_quanta == 0 &&
           profile->callseqs == 0;
}

bool fm_merge_add(struct fm_merge *m, const struct fm_profile *profile, const char *name,
                  GError **error)
{
    g_return_val_if_fail(profile != NULL && name != NULL, false);
    bool is_union = strcmp(profile->program_name, FM_MERGE_UNION_NAME) == 0;
    uint64_t ticks = 0;
    struct adding a = {.m = m, .profile = profile};
    uint32_t *procs, *sites;
    bool at_root = is_union || !m->options.union_programs;
    if (!check_header(m, profile, name, &ticks, error) ||
        (at_root && !check_root(m, profile, name, error)) || !check_callees(profile, name, error))
        return false;
    if (m->any && is_empty(profile)) {
        if (m->only_empty)
            keep_least_program(m, profile);
        g_array_set_size(m->last_procs, 0); /* none of them was added */
        g_array_set_size(m->last_sites, 0);
        return true;
    }
    if (!m->any || m->only_empty)
        take_header(m, profile);
    if (at_root && m->root_key == NULL) {
        g_autofree char *key = fm_merge_proc_key(m, &profile->ps[profile->pd_ps[profile->root_pd]]);
        m->root_key = fm_strings_add(m->strings, key);
    }
    m->only_empty = is_empty(profile);
    if (!fm_merge_statics(m, profile, name, &procs, &sites, error))
        return false;
    keep_coverage_of_all(m, profile);
    keep_least_program(m, profile);
    drop_measures(m, profile);
    rescale(m, ticks);
    uint64_t factor = profile->ticks_per_second == 0 ? 1 : ticks / profile->ticks_per_second;
    a.procs = procs;
    a.sites = sites;
    a.nodes = g_new(uint32_t, profile->pd_count + 1u);
    memset(a.nodes, 0xff, sizeof *a.nodes * (profile->pd_count + 1u));
    a.open = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    choose_columns(&a, factor);
    see_pd(&a, profile->root_pd, root_for(&a, is_union));
    add_graph(&a);
    add_header(m, profile, factor);
    m->inputs++;
    g_free(a.nodes);
    g_array_unref(a.open);
    g_free(procs);
    g_free(sites);
    return true;
}

bool fm_merge_finish_lines(struct fm_merge *m, struct fm_profile **ret,
                           struct fm_source_map **ret_lines, GError **error)
{
    g_return_val_if_fail(m != NULL && ret != NULL, false);
    bool ok = m->inputs > 0;
    *ret_lines = NULL;
    if (!ok) {
        g_set_error_literal(error, FM_ERROR, FM_ERROR_USAGE, "there is nothing to merge");
    } else {
        fm_merge_close(m);
        ok = fm_merge_result(m, ret, error);
    }
    if (ok && m->has_lines)
        *ret_lines = fm_merge_lines_result(m);
    fm_merge_free(m);
    return ok;
}

bool fm_merge_finish(struct fm_merge *m, struct fm_profile **ret, GError **error)
{
    g_autoptr(FmSourceMap) lines = NULL;
    return fm_merge_finish_lines(m, ret, &lines, error);
}
