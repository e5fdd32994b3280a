/* SPDX-License-Identifier: Apache-2.0 */
#include "record/finish/emit/emit_durations.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "record/finish/notes.h"
#include "runtime/traced/names.h"

static_assert(FM_DURATION_STEPS == FM_REC_DURATION_STEPS, "one is the other");
static_assert(FM_DURATION_STEP_END == FM_REC_DURATION_OCTAVES * FM_REC_DURATION_STEPS,
              "one is the other");

struct fm_durations fm_emit_durations_sum(const struct fm_raw_recording *recording, uint32_t csd,
                                          uint32_t first)
{
    struct fm_durations sum = {.csd = csd};
    for (uint32_t at = first; at != 0; at = recording->durations[at].next) {
        const struct fm_raw_durations *raw = &recording->durations[at];
        g_autofree struct fm_duration_step *steps =
            g_new(struct fm_duration_step, raw->step_count + 1u);
        for (uint32_t i = 0; i < raw->step_count; i++) {
            const struct fm_raw_step *step = &recording->steps[raw->step_first + i];
            steps[i] = (struct fm_duration_step){step->step, step->calls};
        }
        fm_durations_add(&sum, &(struct fm_durations){.timed = raw->timed,
                                                      .ns = raw->ns,
                                                      .shortest_ns = raw->shortest_ns,
                                                      .longest_ns = raw->longest_ns,
                                                      .left = raw->left,
                                                      .step_count = raw->step_count,
                                                      .steps = steps});
    }
    return sum;
}

int fm_emit_durations_compare(const void *a, const void *b)
{
    const struct fm_durations *da = a, *db = b;
    return da->csd < db->csd ? -1 : da->csd > db->csd;
}

static void emit_sums(const struct fm_raw_recording *recording, const uint32_t *csd_ids,
                      struct fm_build *build)
{
    g_autoptr(GArray) all = g_array_new(FALSE, TRUE, sizeof(struct fm_durations));
    for (uint32_t i = 0; i < recording->csd_count; i++) {
        if (recording->csds[i].durations == 0 || csd_ids[i] == 0)
            continue;
        struct fm_durations sum =
            fm_emit_durations_sum(recording, csd_ids[i], recording->csds[i].durations);
        g_array_append_val(all, sum);
    }
    if (all->len > 0)
        qsort(all->data, all->len, sizeof(struct fm_durations), fm_emit_durations_compare);
    for (guint i = 0; i < all->len; i++)
        fm_build_durations(build, &g_array_index(all, struct fm_durations, i));
}

static void emit_spans(const struct fm_raw_recording *recording, const uint32_t *csd_ids,
                       struct fm_finish_notes *notes)
{
    uint64_t start = recording->header.start_monotonic_ns;
    notes->spans = g_array_new(FALSE, TRUE, sizeof(struct fm_call_span));
    for (uint32_t i = 0; i < recording->span_count; i++) {
        const struct fm_raw_span *raw = &recording->spans[i];
        struct fm_call_span span = {
            .csd = csd_ids[fm_raw_recording_final_csd(recording, raw->csd)],
            .thread =
                raw->thread < recording->thread_count ? recording->threads[raw->thread].number : 0,
            .tid = raw->thread < recording->thread_count ? recording->threads[raw->thread].tid : 0,
            .start_ns = raw->start_ns > start ? raw->start_ns - start : 0,
            .ns = raw->ns,
            .left = raw->left,
        };
        if (span.csd != 0)
            g_array_append_val(notes->spans, span);
    }
}

static bool is_named(const struct fm_node_ps *ps, const char *name)
{
    const char *symbol = ps->linkage != NULL ? ps->linkage : ps->name;
    struct fm_symbol_parts parts;
    return fm_symbol_is_as_linked(symbol, name) ||
           (fm_symbol_parse(symbol, &parts) && fm_symbol_is(&parts, name));
}

static bool was_met(const struct fm_raw_recording *recording, const struct fm_nodes *nodes,
                    const char *name)
{
    for (uint32_t i = 0; i < recording->csd_count; i++) {
        const struct fm_raw_csd *csd = &recording->csds[i];
        uint32_t ps = csd->durations != 0 ? nodes->pd_ps[csd->callee] : FM_NONE;
        if (ps != FM_NONE && is_named(fm_nodes_ps(nodes, ps), name))
            return true;
    }
    return false;
}

static void note_never_met(const struct fm_raw_recording *recording, const struct fm_nodes *nodes,
                           struct fm_finish_notes *notes)
{
    g_auto(GStrv) names = g_strsplit(recording->traced, ",", -1);
    g_autoptr(GString) text = g_string_new(NULL);
    for (char **name = names; *name != NULL; name++)
        if (**name != '\0' && !was_met(recording, nodes, *name))
            g_string_append_printf(text, "%s%s", text->len > 0 ? ", " : "", *name);
    if (text->len > 0)
        fm_notes_add(notes,
                     "no call of these traced functions was recorded: %s (misspelt, inlined, or "
                     "not called)",
                     text->str);
}

void fm_emit_durations(const struct fm_raw_recording *recording, const struct fm_nodes *nodes,
                       const uint32_t *csd_ids, struct fm_build *build,
                       struct fm_finish_notes *notes)
{
    g_return_if_fail(csd_ids != NULL);
    emit_sums(recording, csd_ids, build);
    emit_spans(recording, csd_ids, notes);
    uint64_t calls = 0, timed = 0, leaves = 0;
    for (uint32_t i = 0; i < recording->csd_count; i++) {
        const struct fm_raw_csd *csd = &recording->csds[i];
        uint64_t some = 0;
        for (uint32_t at = csd->durations; at != 0; at = recording->durations[at].next)
            some += recording->durations[at].timed;
        if (csd->durations != 0 && (csd->flags & FM_REC_CSD_TRACED) == 0)
            leaves += csd->calls;
        else if (csd->durations != 0)
            calls += csd->calls;
        timed += some;
    }
    if (timed < calls)
        fm_notes_add(notes,
                     "%" PRIu64 " of %" PRIu64
                     " calls of the traced functions were timed: of a context's calls that are "
                     "more frequent than 100 in 4 ms, only a sample",
                     timed, calls);
    if (leaves > 0)
        fm_notes_add(notes,
                     "%" PRIu64 " calls of traced functions were counted, but not timed: these "
                     "functions call nothing, so they have no exit hook",
                     leaves);
    if (recording->spans_dropped > 0)
        fm_notes_add(notes,
                     "%" PRIu64 " timed calls are in the durations, but not in the event log: "
                     "there was no room for more",
                     recording->spans_dropped);
    note_never_met(recording, nodes, notes);
}
