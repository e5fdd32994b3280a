/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the profile of a joined recording. */
#include "record/finish/emit/emit.h"

#include <assert.h>
#include <string.h>

#include "profile/file/build.h"
#include "record/finish/emit/code.h"
#include "record/finish/emit/emit_durations.h"
#include "record/finish/emit/emit_heap.h"
#include "record/finish/emit/emit_unhooked.h"
#include "record/finish/emit/emit_waits.h"
#include "record/finish/emit/heap_counts.h"
#include "record/finish/emit/totals.h"
#include "record/finish/merge.h"

/* Node numbers of the profile for those of the recording. */
struct emission {
    struct fm_raw_recording *recording;
    struct fm_nodes *nodes;
    uint32_t *classes;
    const struct fm_coverage *coverage;
    struct fm_finish_notes *notes;
    struct fm_build *build;
    struct fm_heap_counts heap;
    unsigned waits, wait_ns; /* 0: not recorded */
    uint32_t root_ps, root_css;
    uint32_t *ps_ids;
    uint32_t *pd_ids;
    uint32_t *csd_ids; /* NULL: not needed */
    uint32_t *first;   /* edges by caller: [pd_count + 1] into order */
    uint32_t *order;
    GArray *queue; /* pds whose edges are still to be written */
    size_t prefix; /* bytes that all paths of units share */
    bool keep;     /* the numbers */
};

static bool is_own_source(const char *path)
{
    return path[0] == '/' && !g_str_has_prefix(path, "/usr/include/") &&
           !g_str_has_prefix(path, "/usr/lib/");
}

/* Length of the folder that the units of the program share, with its final slash. */
static size_t common_prefix(const struct fm_nodes *nodes)
{
    const char *first = NULL;
    size_t length = 0;
    for (guint i = 0; i < nodes->ps->len; i++) {
        const char *path = fm_nodes_ps(nodes, i)->module;
        if (!is_own_source(path))
            continue;
        const char *slash = strrchr(path, '/');
        if (first == NULL) {
            first = path;
            length = (size_t)(slash - path) + 1;
            continue;
        }
        size_t same = 0;
        while (same < length && path[same] == first[same])
            same++;
        while (same > 0 && first[same - 1] != '/')
            same--;
        length = same;
    }
    return length;
}

static const char *module_name(struct emission *e, const struct fm_node_ps *ps)
{
    if (ps->module[0] == '\0')
        return ps->image == FM_NONE ? "" : fm_images_at(e->nodes->images, ps->image)->name;
    if (ps->image == FM_NONE || !is_own_source(ps->module) || strlen(ps->module) <= e->prefix)
        return ps->module;
    return ps->module + e->prefix;
}

static void emit_ps(struct emission *e, uint32_t index)
{
    const struct fm_node_ps *ps = fm_nodes_ps(e->nodes, index);
    const char *module = module_name(e, ps);
    e->ps_ids[index] = fm_build_ps(e->build, &(struct fm_ps){
                                                 .label_kind = FM_LABEL_PREDICATE,
                                                 .decl_module = module,
                                                 .def_module = module,
                                                 .name = ps->name,
                                                 .type_name = "",
                                                 .arity = ps->arity,
                                                 .file = ps->file,
                                                 .line = ps->line,
                                                 .in_interface = ps->external,
                                                 .variadic = ps->variadic,
                                                 .inlined = ps->inlined,
                                                 .raw_name = ps->linkage,
                                             });
}

static void emit_sites(struct emission *e, uint32_t index)
{
    const struct fm_node_ps *ps = fm_nodes_ps(e->nodes, index);
    for (guint i = 0; i < ps->css->len; i++) {
        const struct fm_node_css *css = fm_nodes_css(e->nodes, g_array_index(ps->css, uint32_t, i));
        g_autoptr(GString) where = g_string_new(NULL);
        if (css->column > 0)
            g_string_append_printf(where, "%u", css->column);
        if (css->label != NULL)
            g_string_append_printf(where, "%s%s", where->len > 0 ? " " : "", css->label);
        bool normal = css->kind == FM_SITE_NORMAL;
        fm_build_css(e->build, e->ps_ids[index],
                     &(struct fm_css){
                         .kind = css->kind,
                         .callee_ps = normal && css->callee != FM_NONE ? e->ps_ids[css->callee] : 0,
                         .type_subst = "",
                         .file = strcmp(css->file, ps->file) == 0 ? "" : css->file,
                         .line = css->line,
                         .goal_path = where->str,
                         .inlined = css->inlined && normal,
                     });
    }
}

static void emit_points(struct emission *e)
{
    if (e->coverage->points->len == 0)
        return;
    fm_build_header(e->build)->coverage = FM_COVERAGE_DYNAMIC;
    for (guint i = 0; i < e->coverage->points->len; i++) {
        const struct fm_node_point *point =
            &g_array_index(e->coverage->points, struct fm_node_point, e->coverage->order[i]);
        if (point->number == FM_NONE)
            continue;
        g_autofree char *path = fm_coverage_path(e->coverage, point);
        fm_build_point(e->build, e->ps_ids[point->ps],
                       &(struct fm_coverage_point){.goal_path = path, .type = FM_POINT_BRANCH_ARM});
    }
}

static void emit_point_count(struct emission *e, uint32_t pd, uint32_t node, uint64_t count)
{
    uint32_t id = e->pd_ids[fm_merge_class(e->classes, pd)];
    uint32_t number = g_array_index(e->coverage->points, struct fm_node_point, node).number;
    if (id != 0 && number != FM_NONE)
        fm_build_pd_point(e->build, id, number, count);
}

/* A procedure's first block runs once a call. */
static void emit_point_counts(struct emission *e)
{
    if (e->coverage->points->len == 0)
        return;
    for (guint i = 0; i < e->coverage->counts->len; i++) {
        struct fm_point_count count = g_array_index(e->coverage->counts, struct fm_point_count, i);
        emit_point_count(e, count.pd, count.point, count.count);
    }
    for (uint32_t i = 0; i < e->recording->csd_count; i++) {
        const struct fm_raw_csd *csd = &e->recording->csds[i];
        if (csd->caller == FM_RAW_NONE)
            continue;
        uint32_t entry = e->coverage->entry_of_ps[e->nodes->pd_ps[csd->callee]];
        if (entry != FM_NONE)
            emit_point_count(e, csd->callee, entry, csd->calls);
    }
}

static void emit_statics(struct emission *e)
{
    e->root_ps = fm_build_ps(e->build, &(struct fm_ps){
                                           .decl_module = "",
                                           .def_module = "",
                                           .name = "the program",
                                           .type_name = "",
                                           .arity = FM_ARITY_UNKNOWN,
                                           .file = "",
                                           .raw_name = "",
                                       });
    e->root_css = fm_build_css(
        e->build, e->root_ps,
        &(struct fm_css){
            .kind = FM_SITE_CALLBACK, .type_subst = "", .file = "", .goal_path = "threads"});
    e->ps_ids = g_new0(uint32_t, e->nodes->ps->len + 1);
    for (uint32_t i = 0; i < e->recording->thread_count; i++)
        emit_ps(e, e->nodes->thread_ps[i]);
    for (uint32_t i = 0; i < e->nodes->ps->len; i++) {
        if (e->ps_ids[i] == 0)
            emit_ps(e, i);
    }
    for (uint32_t i = 0; i < e->nodes->ps->len; i++)
        emit_sites(e, i);
    emit_points(e);
}

static uint32_t pd_id(struct emission *e, uint32_t pd)
{
    pd = fm_merge_class(e->classes, pd);
    g_assert(e->nodes->pd_ps[pd] != FM_NONE);
    if (e->pd_ids[pd] == 0) {
        e->pd_ids[pd] = fm_build_pd(e->build, e->ps_ids[e->nodes->pd_ps[pd]]);
        g_array_append_val(e->queue, pd);
    }
    return e->pd_ids[pd];
}

static void emit_counts(struct emission *e, uint32_t csd, const struct fm_raw_csd *node)
{
    fm_build_add(e->build, csd, FM_EXITS, node->calls - node->excps);
    fm_build_add(e->build, csd, FM_EXCPS, node->excps);
    fm_build_add(e->build, csd, FM_QUANTA, node->quanta);
    fm_build_add(e->build, csd, FM_CALLSEQS, node->calls);
    fm_heap_counts_add(&e->heap, csd, node->heap);
    for (uint32_t at = node->waits; at != 0 && e->waits != 0; at = e->recording->waits[at].next) {
        fm_build_add(e->build, csd, e->waits, e->recording->waits[at].waits);
        fm_build_add(e->build, csd, e->wait_ns, e->recording->waits[at].ns);
    }
}

static void emit_depths(struct emission *e)
{
    static_assert(FM_DEPTH_CLASSES == FM_REC_DEPTH_CLASSES, "one is the other");
    for (uint32_t i = 0; i < e->recording->pd_count; i++) {
        const struct fm_raw_pd *pd = &e->recording->pds[i];
        const struct fm_rec_depths *of = &e->recording->depths[pd->depths];
        if ((pd->depths == 0 && pd->depths_unknown == 0) || e->nodes->pd_ps[i] == FM_NONE)
            continue;
        struct fm_depths depths = {.pd = e->pd_ids[fm_merge_class(e->classes, i)],
                                   .greatest = of->greatest,
                                   .unknown = of->unknown + pd->depths_unknown};
        memcpy(depths.calls, of->calls, sizeof depths.calls);
        /* Without calls they are dropped: the edge that should have counted was never made. */
        if (depths.pd != 0 && (depths.greatest != 0 || depths.unknown != 0))
            fm_build_depths(e->build, &depths);
    }
}

/* The thread itself is one call by the program. */
static void emit_thread_counts(struct emission *e, uint32_t csd, const struct fm_raw_thread *thread)
{
    const struct fm_raw_recording *recording = e->recording;
    bool ended = thread->ended || recording->header.state == FM_REC_CLOSED;
    struct fm_raw_csd node = recording->csds[thread->root_csd];
    bool counted = !e->notes->unwound || e->notes->calls > 0;
    node.calls = counted;
    node.excps = counted && !ended;
    emit_counts(e, csd, &node);
}

static void emit_thread(struct emission *e, uint32_t root_pd, uint32_t index)
{
    const struct fm_raw_thread *thread = &e->recording->threads[index];
    uint32_t csd = fm_build_csd(e->build, root_pd, 0, pd_id(e, thread->root_pd));
    if (e->csd_ids != NULL)
        e->csd_ids[thread->root_csd] = csd;
    emit_thread_counts(e, csd, thread);
}

/* Edges of each pd together, in slot order. */
static void sort_edges(struct emission *e)
{
    const struct fm_raw_csd *csds = e->recording->csds;
    uint32_t pd_count = e->recording->pd_count;
    e->first = g_new0(uint32_t, pd_count + 2);
    e->order = g_new0(uint32_t, e->recording->csd_count + 1);
    for (uint32_t i = 0; i < e->recording->csd_count; i++) {
        if (csds[i].caller != FM_RAW_NONE)
            e->first[csds[i].caller + 2]++;
    }
    for (uint32_t i = 2; i < pd_count + 2; i++)
        e->first[i] += e->first[i - 1];
    for (uint32_t i = 0; i < e->recording->csd_count; i++) {
        if (csds[i].caller != FM_RAW_NONE)
            e->order[e->first[csds[i].caller + 1]++] = i;
    }
}

static void emit_dynamics(struct emission *e)
{
    uint32_t root_pd = fm_build_pd(e->build, e->root_ps);
    e->pd_ids = g_new0(uint32_t, e->recording->pd_count + 1);
    if (e->keep || fm_emits_unhooked(e->recording) || e->waits != 0 || e->recording->is_held ||
        e->recording->traced[0] != '\0')
        e->csd_ids = g_new0(uint32_t, e->recording->csd_count + 1);
    e->queue = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    sort_edges(e);
    for (uint32_t i = 0; i < e->recording->thread_count; i++)
        if (!e->recording->threads[i].before)
            emit_thread(e, root_pd, i);
    for (guint at = 0; at < e->queue->len; at++) {
        uint32_t pd = g_array_index(e->queue, uint32_t, at);
        for (uint32_t i = e->first[pd]; i < e->first[pd + 1]; i++) {
            const struct fm_raw_csd *node = &e->recording->csds[e->order[i]];
            uint32_t csd =
                fm_build_csd(e->build, e->pd_ids[pd], fm_nodes_css(e->nodes, node->css)->slot,
                             pd_id(e, node->callee));
            if (e->csd_ids != NULL)
                e->csd_ids[e->order[i]] = csd;
            emit_counts(e, csd, node);
        }
    }
}

/* Names ticks that are not time. */
static void name_events(struct emission *e)
{
    const struct fm_rec_header *header = &e->recording->header;
    const char *words = fm_raw_tick_words(header);
    if (words == NULL)
        return;
    g_autofree char *name = g_strdelimit(g_strdup(words), " ", '_');
    fm_build_rename_measure(e->build, FM_QUANTA, name, words, 1);
    fm_build_tick_event(e->build,
                        &(struct fm_tick_event){
                            .recorded = true,
                            .user_alone = (header->tick_source & FM_REC_TICK_USER_ALONE) != 0,
                            .period = header->tick_period,
                        });
}

static void emit_header(struct emission *e)
{
    const struct fm_raw_recording *recording = e->recording;
    struct fm_build_header *header = fm_build_header(e->build);
    uint64_t quantum = recording->header.quantum_ns;
    header->ticks_per_second = quantum == 0 ? 0 : (1000000000u + quantum / 2) / quantum;
    name_events(e);
    for (uint32_t i = 0; i < recording->thread_count; i++)
        header->instrumentation_quanta += recording->threads[i].instrumentation_quanta;
    if (e->notes->unwound && e->notes->calls == 0) {
        static const enum fm_measure_id counts[] = {FM_EXITS, FM_FAILS, FM_REDOS, FM_EXCPS,
                                                    FM_CALLSEQS};
        for (size_t i = 0; i < G_N_ELEMENTS(counts); i++)
            fm_build_unknown(e->build, counts[i]);
    }
    fm_heap_counts_begin(&e->heap, e->build, recording);
    if ((recording->header.grade_flags & FM_REC_WAITING) == 0)
        return;
    e->waits = fm_build_own_measure(e->build, FM_WAITS);
    e->wait_ns = fm_build_own_measure(e->build, FM_WAIT_NS);
}

static void emit_waits(struct emission *e)
{
    uint32_t count = e->recording->thread_count;
    g_autofree const char **names = g_new0(const char *, count + 1u);
    if (e->waits == 0)
        return;
    for (uint32_t i = 0; i < count; i++)
        names[i] = fm_nodes_ps(e->nodes, e->nodes->thread_ps[i])->name;
    fm_emit_waits(e->recording, e->nodes->images, e->csd_ids, names, e->build, e->notes);
}

/* Describes the part of the run that was recorded, if it is not all. How long recording was stopped
 * is taken from the thread that was stopped longest; older recordings do not have it. */
static void emit_extent(const struct emission *e)
{
    const struct fm_raw_recording *recording = e->recording;
    const struct fm_rec_header *raw = &recording->header;
    struct fm_extent extent = {.unfinished = e->notes->live || raw->snapshot_of != 0,
                               .later = recording->is_phase};
    uint64_t stopped = 0, end = raw->end_monotonic_ns;
    for (uint32_t i = 0; i < recording->thread_count; i++) {
        const struct fm_raw_thread *thread = &recording->threads[i];
        end = raw->end_monotonic_ns != 0 ? end : MAX(end, thread->end_ns);
        stopped = MAX(stopped, thread->before ? 0 : thread->stopped_ns);
    }
    if ((extent.unfinished || extent.later || stopped > 0) && end > raw->start_monotonic_ns)
        extent.recorded_ns =
            end - raw->start_monotonic_ns - MIN(stopped, end - raw->start_monotonic_ns);
    fm_build_extent(e->build, &extent);
}

/* Writes the facts after the graph. */
static void emit_facts(struct emission *e)
{
    const struct fm_raw_recording *recording = e->recording;
    const struct fm_rec_header *raw = &recording->header;
    struct fm_build_header *header = fm_build_header(e->build);
    if (raw->end_monotonic_ns > raw->start_monotonic_ns)
        header->duration_ns = raw->end_monotonic_ns - raw->start_monotonic_ns;
    emit_extent(e);
    fm_heap_counts_facts(&e->heap);
    for (uint32_t i = 0; i < recording->thread_count; i++) {
        header->sample_count += recording->threads[i].charges;
        header->sample_squares += recording->threads[i].charge_squares;
    }
    bool forked = (raw->grade_flags & FM_REC_FORKED) != 0;
    uint32_t forked_in = forked && recording->forked_in != FM_RAW_NONE
                             ? e->nodes->pd_ps[recording->forked_in]
                             : FM_NONE;
    if (recording->command[0] != '\0')
        fm_build_process(
            e->build,
            &(struct fm_process_fact){
                .command = recording->command,
                .folder = recording->directory,
                .pid = raw->pid,
                .parent_pid = raw->parent_pid,
                .start_ns = raw->start_realtime_ns,
                .rank = recording->rank,
                .rank_count = recording->rank_count,
                .host = recording->host,
                .forked = forked,
                .forked_in = forked_in == FM_NONE ? NULL : fm_nodes_ps(e->nodes, forked_in)->name,
            });
    for (uint32_t i = 0; i < recording->mark_count; i++) {
        const struct fm_raw_mark *mark = &recording->marks[i];
        fm_build_mark(e->build,
                      &(struct fm_mark){mark->name, mark->ns, mark->quanta, mark->snapshot});
    }
    for (guint i = 0; i < e->notes->lines->len; i++)
        fm_build_note(e->build, g_ptr_array_index(e->notes->lines, i));
    bool inlined = false;
    for (guint i = 0; i < e->nodes->ps->len; i++)
        inlined = inlined || fm_nodes_ps(e->nodes, i)->inlined;
    if (inlined)
        fm_build_note(e->build,
                      "calls of inlined bodies are not recorded (\"inlined\" in the columns of "
                      "calls); build with fathom cc --grade=full to count them");
}

/* All is in the build, which takes memory of its own when it is finished. */
static void free_dynamics(struct emission *e, uint32_t **classes)
{
    g_clear_pointer(&e->first, g_free);
    g_clear_pointer(&e->order, g_free);
    g_array_unref(e->queue);
    if (e->keep)
        return;
    g_clear_pointer(&e->pd_ids, g_free);
    g_clear_pointer(&e->csd_ids, g_free);
    g_clear_pointer(&e->nodes->pd_ps, g_free);
    g_clear_pointer(classes, g_free);
    fm_raw_recording_drop_graph(e->recording);
}

void fm_emitted_done(struct fm_emitted *emitted)
{
    g_free(emitted->ps_ids);
    g_free(emitted->pd_ids);
    g_free(emitted->csd_ids);
    *emitted = (struct fm_emitted){0};
}

bool fm_emit_profile(struct fm_raw_recording *recording, struct fm_nodes *nodes, uint32_t **classes,
                     const struct fm_coverage *coverage, bool code, struct fm_emitted *ret_emitted,
                     struct fm_finish_notes *notes, struct fm_profile **ret, GError **error)
{
    g_return_val_if_fail(nodes->recording == recording && coverage->nodes == nodes, false);
    struct emission e = {
        .recording = recording,
        .nodes = nodes,
        .classes = *classes,
        .coverage = coverage,
        .notes = notes,
        .build = fm_build_new(FM_FLAVOUR_C, recording->program),
        .prefix = common_prefix(nodes),
        .keep = ret_emitted != NULL,
    };
    emit_header(&e);
    emit_statics(&e);
    emit_dynamics(&e);
    emit_point_counts(&e);
    emit_depths(&e);
    emit_waits(&e);
    fm_emit_heap(recording, e.csd_ids, e.build);
    fm_emit_unhooked(recording, nodes, e.csd_ids, e.build);
    if (recording->traced[0] != '\0')
        fm_emit_durations(recording, e.nodes, e.csd_ids, e.build, notes);
    emit_facts(&e);
    struct fm_emit_totals totals;
    fm_emit_totals_init(&totals, recording, nodes, e.classes, e.pd_ids);
    free_dynamics(&e, classes);
    bool ok = fm_build_finish(e.build, ret, error);
    fm_emit_totals_tell(&totals, ok ? *ret : NULL);
    if (ok) {
        notes->source_map = fm_coverage_lines(coverage, e.ps_ids, (*ret)->ps_count);
        fm_source_map_attach(notes->source_map, *ret);
        if (code)
            notes->machine_code = fm_code_make(nodes, coverage->samples, e.ps_ids, *ret, notes);
        if (notes->machine_code != NULL)
            fm_machine_code_attach(notes->machine_code, *ret);
    }
    struct fm_emitted emitted = {e.ps_ids, e.pd_ids, e.csd_ids};
    if (ret_emitted != NULL)
        *ret_emitted = emitted;
    else
        fm_emitted_done(&emitted);
    return ok;
}

bool fm_emit_again(struct fm_raw_recording *recording, struct fm_nodes *nodes, uint32_t *classes,
                   const struct fm_coverage *coverage, const struct fm_emitted *emitted,
                   struct fm_profile *base, struct fm_finish_notes *notes, struct fm_profile **ret,
                   GError **error)
{
    g_return_val_if_fail(nodes->recording == recording && coverage->nodes == nodes, false);
    struct emission e = {
        .recording = recording,
        .nodes = nodes,
        .classes = classes,
        .coverage = coverage,
        .notes = notes,
        .build = fm_build_new_recount(base),
        .ps_ids = emitted->ps_ids,
        .pd_ids = emitted->pd_ids,
        .csd_ids = emitted->csd_ids,
    };
    emit_header(&e);
    for (uint32_t i = 0; i < recording->csd_count; i++)
        if (e.csd_ids[i] != 0 && recording->csds[i].caller != FM_RAW_NONE)
            emit_counts(&e, e.csd_ids[i], &recording->csds[i]);
    for (uint32_t i = 0; i < recording->thread_count; i++)
        emit_thread_counts(&e, e.csd_ids[recording->threads[i].root_csd], &recording->threads[i]);
    emit_depths(&e);
    emit_waits(&e);
    fm_emit_heap(recording, e.csd_ids, e.build);
    fm_emit_unhooked(recording, nodes, e.csd_ids, e.build);
    emit_facts(&e);
    struct fm_emit_totals totals;
    fm_emit_totals_init(&totals, recording, nodes, e.classes, e.pd_ids);
    bool ok = fm_build_finish_recount(e.build, ret, error);
    fm_emit_totals_tell(&totals, ok ? *ret : NULL);
    if (!ok)
        return false;
    notes->source_map = fm_coverage_lines(coverage, e.ps_ids, (*ret)->ps_count);
    return true;
}
