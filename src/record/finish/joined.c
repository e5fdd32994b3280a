/* SPDX-License-Identifier: Apache-2.0 */
/* Updates a recording that has been finished before, if it has no new nodes since. The sites of
 * edges, bodies inserted between contexts, and joined edges follow from nodes and code, so they are
 * unchanged; new counts take the same paths as before. Only samples may fall on a body that was not
 * inserted. */
#include "record/finish/joined.h"

#include "record/finish/emit/totals.h"
#include "record/finish/findings.h"
#include "record/finish/line_times.h"
#include "record/finish/merge.h"
#include "record/finish/notes.h"

void fm_joined_free(struct fm_joined *joined)
{
    if (joined == NULL)
        return;
    fm_inlined_free(joined->inlined);
    fm_emitted_done(&joined->emitted);
    fm_raw_shape_free(joined->shape);
    fm_profile_free(joined->profile);
    g_clear_pointer(&joined->merges, g_array_unref);
    g_clear_pointer(&joined->lines, g_ptr_array_unref);
    g_free(joined->classes);
    if (joined->nodes.ps != NULL)
        fm_nodes_done(&joined->nodes);
    fm_images_close(&joined->images);
    fm_raw_recording_free(joined->recording);
    fm_raw_recording_free(joined->latest);
    g_free(joined);
}

void fm_joined_note(struct fm_joined *joined, const struct fm_finish_notes *notes, guint first)
{
    if (joined->lines == NULL)
        joined->lines = g_ptr_array_new_with_free_func(g_free);
    for (guint i = first; i < notes->lines->len; i++)
        g_ptr_array_add(joined->lines, g_strdup(notes->lines->pdata[i]));
}

bool fm_joined_is_of(const struct fm_joined *joined, const struct fm_raw_recording *recording)
{
    return joined != NULL && joined->shape != NULL && fm_raw_shape_is_of(joined->shape, recording);
}

bool fm_joined_load_again(struct fm_joined *joined, const char *path, uint64_t ended_ns,
                          struct fm_raw_recording **ret)
{
    if (joined->latest == NULL)
        return false;
    if (!fm_raw_recording_load_again(path, joined->latest) ||
        !fm_raw_shape_has_lists(joined->shape, joined->latest)) {
        g_clear_pointer(&joined->latest, fm_raw_recording_free);
        return false;
    }
    fm_raw_recording_close_waits(joined->latest, ended_ns);
    *ret = g_steal_pointer(&joined->latest);
    return true;
}

static void add_lines(const struct fm_joined *joined, struct fm_finish_notes *notes)
{
    for (guint i = 0; i < joined->lines->len; i++)
        fm_notes_add(notes, "%s", (const char *)joined->lines->pdata[i]);
    notes->incomplete = joined->incomplete;
}

/* Samples of edges that are one are the remaining one's. */
static void move_samples(struct fm_raw_recording *recording)
{
    for (uint32_t i = 0; i < recording->sample_count; i++)
        recording->samples[i].csd =
            fm_raw_recording_final_csd(recording, recording->samples[i].csd);
    for (uint32_t i = 0; i < recording->foreign_count; i++)
        recording->foreigns[i].csd =
            fm_raw_recording_final_csd(recording, recording->foreigns[i].csd);
}

bool fm_joined_recount(struct fm_joined *joined, struct fm_raw_recording *reading,
                       struct fm_profile **ret, struct fm_finish_notes *notes)
{
    struct fm_raw_recording *recording = joined->recording;
    struct fm_coverage coverage;
    fm_findings_of_recording(reading, joined->opts.again, notes);
    fm_findings_of_run(joined->opts.lost, notes);
    add_lines(joined, notes);
    fm_totals_find(reading);
    fm_raw_recording_take_counts(recording, reading);
    fm_raw_recording_free(joined->latest);
    joined->latest = reading;
    if (joined->inlined != NULL && !fm_inlined_give_again(joined->inlined))
        return false;
    fm_merge_again(recording, joined->merges);
    move_samples(recording);
    bool ticked = recording->header.tick_source != FM_REC_TICK_NONE;
    g_autoptr(GArray) times = ticked ? fm_line_times(recording, &joined->nodes, notes) : NULL;
    fm_coverage_join(&coverage, recording, &joined->nodes, notes);
    coverage.times = times;
    bool ok = fm_emit_again(recording, &joined->nodes, joined->classes, &coverage, &joined->emitted,
                            joined->profile, notes, ret, NULL);
    fm_coverage_done(&coverage);
    notes->recount = ok;
    return ok;
}
