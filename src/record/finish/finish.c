/* SPDX-License-Identifier: Apache-2.0 */
/* The order of the steps. */
#include "record/finish/finish.h"

#include "record/finish/emit.h"
#include "record/finish/findings.h"
#include "record/finish/inlined.h"
#include "record/finish/leave_out.h"
#include "record/finish/line_times.h"
#include "record/finish/merge.h"
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
    fm_nodes_make(&nodes, images, recording, gone);
    if (!opts->only_existing)
        fm_inlined_insert(recording, &nodes, gone);
    bool ticked = recording->header.tick_source != FM_REC_TICK_NONE;
    g_autoptr(GArray) times = ticked ? fm_line_times(recording, &nodes, notes) : NULL;
    fm_resolve_sites(recording, &nodes);
    g_autofree uint32_t *classes = fm_merge_edges(recording, nodes.pd_ps);
    fm_coverage_join(&coverage, recording, &nodes, notes);
    coverage.times = times;
    bool ok = fm_emit_profile(recording, &nodes, &classes, &coverage, notes, ret, error);
    fm_coverage_done(&coverage);
    fm_nodes_done(&nodes);
    return ok;
}

bool fm_finish(const char *path, const struct fm_finish_opts *opts, struct fm_profile **ret,
               struct fm_finish_notes *notes, GError **error)
{
    g_return_val_if_fail(path != NULL && opts != NULL && ret != NULL && notes != NULL, false);
    g_autoptr(FmRawRecording) recording = NULL;
    *notes = (struct fm_finish_notes){.lines = g_ptr_array_new_with_free_func(g_free)};
    bool ok = fm_raw_recording_load(path, &recording, error);
    if (ok) {
        struct fm_images images;
        fm_findings_of_recording(recording, notes);
        fm_images_open(&images, recording, opts, notes);
        ok = join(recording, &images, opts, notes, ret, error);
        fm_images_close(&images);
    }
    if (!ok)
        fm_finish_notes_done(notes);
    return ok;
}
