/* SPDX-License-Identifier: Apache-2.0 */
/* The order of the steps. */
#include "record/finish/finish.h"

#include "record/finish/blocks.h"
#include "record/finish/emit/code.h"
#include "record/finish/emit/emit.h"
#include "record/finish/findings.h"
#include "record/finish/inlined.h"
#include "record/finish/left_out/leave_out.h"
#include "record/finish/line_times.h"
#include "record/finish/merge.h"
#include "record/finish/notes.h"
#include "record/finish/left_out/only_changed.h"
#include "record/finish/left_out/only_below.h"
#include "record/finish/resolve.h"

/* From the edges of the recording to the profile. */
static bool join(struct fm_raw_recording *recording, const struct fm_images *images,
                 const struct fm_finish_opts *opts, struct fm_finish_notes *notes,
                 struct fm_profile **ret, GError **error)
{
    struct fm_nodes nodes;
    struct fm_coverage coverage;
    g_autofree bool *gone = fm_leave_out(recording, images);
    fm_findings_of_images(images, notes);
    if (opts->when != NULL && !fm_only_below(recording, images, opts->when, &gone, error))
        return false;
    if (opts->since != NULL)
        fm_only_changed(recording, &gone);
    fm_nodes_make(&nodes, images, recording, gone);
    if (!opts->only_existing)
        fm_inlined_insert(recording, &nodes, gone);
    else
        fm_blocks_give(recording, &nodes, NULL, NULL);
    bool ticked = recording->header.tick_source != FM_REC_TICK_NONE;
    g_autoptr(GArray) times = ticked ? fm_line_times(recording, &nodes, notes) : NULL;
    g_autoptr(GArray) samples = ticked ? fm_code_samples(recording, images) : NULL;
    fm_resolve_sites(recording, &nodes);
    g_autofree uint32_t *classes = fm_merge_edges(recording, nodes.pd_ps);
    fm_coverage_join(&coverage, recording, &nodes, notes);
    coverage.times = times;
    coverage.samples = samples;
    bool ok = fm_emit_profile(recording, &nodes, &classes, &coverage, notes, ret, error);
    fm_coverage_done(&coverage);
    fm_nodes_done(&nodes);
    return ok;
}

/* With its waits closed. */
static bool load(const char *path, const struct fm_finish_opts *opts, struct fm_raw_recording **ret,
                 struct fm_finish_notes *notes, GError **error)
{
    if (opts->since != NULL) {
        if (!fm_raw_recording_load_since(path, opts->since, opts->since_ns, opts->ended_ns, ret,
                                         error))
            return false;
        fm_notes_add(notes,
                     "these are the counts of a phase, from one moment of the run to another: "
                     "calls that were open when it began count with the time before; memory "
                     "that is held is what each context added in it, and the most that was "
                     "held is not recorded; longest waits are upper bounds");
        return true;
    }
    if (!fm_raw_recording_load(path, ret, error))
        return false;
    fm_raw_recording_close_waits(*ret, opts->ended_ns);
    return true;
}

bool fm_finish(const char *path, const struct fm_finish_opts *opts, struct fm_profile **ret,
               struct fm_finish_notes *notes, GError **error)
{
    g_return_val_if_fail(path != NULL && opts != NULL && ret != NULL && notes != NULL, false);
    g_autoptr(FmRawRecording) recording = NULL;
    *notes = (struct fm_finish_notes){.lines = g_ptr_array_new_with_free_func(g_free)};
    bool ok = load(path, opts, &recording, notes, error);
    if (ok) {
        struct fm_images images;
        fm_findings_of_recording(recording, opts->again, notes);
        fm_findings_of_run(opts->lost, notes);
        fm_images_open(&images, recording, opts, notes);
        ok = join(recording, &images, opts, notes, ret, error);
        fm_images_close(&images);
    }
    if (!ok)
        fm_finish_notes_done(notes);
    return ok;
}
