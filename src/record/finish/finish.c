/* SPDX-License-Identifier: Apache-2.0 */
/* The order of the steps. */
#include "record/finish/finish.h"

#include "record/finish/blocks.h"
#include "record/finish/emit/code.h"
#include "record/finish/emit/emit.h"
#include "record/finish/emit/totals.h"
#include "record/finish/findings.h"
#include "record/finish/inlined.h"
#include "record/finish/joined.h"
#include "record/finish/left_out/leave_out.h"
#include "record/finish/line_times.h"
#include "record/finish/merge.h"
#include "record/finish/notes.h"
#include "record/finish/left_out/only_changed.h"
#include "record/finish/left_out/only_below.h"
#include "record/finish/resolve.h"

/* Whether the joined data can be reused for later counts. */
static bool can_be_kept(const struct fm_raw_recording *recording, const struct fm_finish_opts *opts)
{
    return opts->since == NULL && opts->when == NULL && opts->no_code &&
           recording->traced[0] == '\0' && (recording->header.grade_flags & FM_REC_COVERAGE) == 0;
}

/* Takes the recording. */
static struct fm_joined *joined_new(struct fm_raw_recording *recording,
                                    const struct fm_finish_opts *opts, bool keep,
                                    struct fm_finish_notes *notes)
{
    struct fm_joined *joined = g_new0(struct fm_joined, 1);
    guint before = notes->lines->len;
    joined->opts = *opts;
    joined->recording = recording;
    fm_images_open(&joined->images, recording, &joined->opts, notes);
    fm_joined_note(joined, notes, before);
    joined->incomplete = notes->incomplete;
    if (keep && can_be_kept(recording, opts)) {
        joined->shape = fm_raw_shape_new(recording);
        joined->merges = g_array_new(FALSE, FALSE, sizeof(struct fm_merge_step));
    }
    return joined;
}

/* Removes functions that the user excludes. */
static bool leave_out(struct fm_joined *joined, bool **ret_gone, struct fm_finish_notes *notes,
                      GError **error)
{
    struct fm_raw_recording *recording = joined->recording;
    const struct fm_finish_opts *opts = &joined->opts;
    guint before = notes->lines->len;
    *ret_gone = fm_leave_out(recording, &joined->images);
    fm_findings_of_images(&joined->images, notes);
    fm_joined_note(joined, notes, before);
    if (opts->when != NULL &&
        !fm_only_below(recording, &joined->images, opts->when, ret_gone, error))
        return false;
    if (opts->since != NULL)
        fm_only_changed(recording, ret_gone);
    if (*ret_gone != NULL) /* costs have moved that are not counted that way again */
        g_clear_pointer(&joined->shape, fm_raw_shape_free);
    return true;
}

/* From the edges of the recording to the profile. */
static bool join(struct fm_joined *joined, struct fm_finish_notes *notes, struct fm_profile **ret,
                 GError **error)
{
    struct fm_raw_recording *recording = joined->recording;
    struct fm_nodes *nodes = &joined->nodes;
    const struct fm_finish_opts *opts = &joined->opts;
    struct fm_coverage coverage;
    g_autofree bool *gone = NULL;
    if (!leave_out(joined, &gone, notes, error))
        return false;
    bool keep = joined->shape != NULL;
    fm_nodes_make(nodes, &joined->images, recording, gone);
    if (!opts->only_existing)
        joined->inlined = fm_inlined_insert(recording, nodes, gone);
    else
        fm_blocks_give(recording, nodes, NULL, NULL);
    if (!keep)
        g_clear_pointer(&joined->inlined, fm_inlined_free);
    bool ticked = recording->header.tick_source != FM_REC_TICK_NONE;
    g_autoptr(GArray) times = ticked ? fm_line_times(recording, nodes, notes) : NULL;
    g_autoptr(GArray) samples =
        ticked && !opts->no_code ? fm_code_samples(recording, &joined->images) : NULL;
    guint before = notes->lines->len;
    fm_resolve_sites(recording, nodes, notes);
    fm_joined_note(joined, notes, before);
    joined->classes = fm_merge_edges(recording, nodes->pd_ps, joined->merges);
    fm_coverage_join(&coverage, recording, nodes, notes);
    coverage.times = times;
    coverage.samples = samples;
    bool ok = fm_emit_profile(recording, nodes, &joined->classes, &coverage, !opts->no_code,
                              keep ? &joined->emitted : NULL, notes, ret, error);
    fm_coverage_done(&coverage);
    if (ok && keep)
        joined->profile = fm_profile_ref(*ret);
    return ok;
}

/* Loads it with its waits closed. again: it may later be updated in place. */
static bool load(const char *path, const struct fm_finish_opts *opts, bool again,
                 struct fm_raw_recording **ret, struct fm_finish_notes *notes, GError **error)
{
    if (opts->since != NULL) {
        if (!fm_raw_recording_load_since(path, opts->since, opts->since_ns, opts->ended_ns, ret,
                                         error))
            return false;
        fm_notes_add(
            notes,
            "these are the counts of a phase, from one moment of the run to another: calls that "
            "were open when it began count with the time before; live memory is the growth of each "
            "context; peak memory is not recorded; longest waits are upper bounds");
        return true;
    }
    if (again ? !fm_raw_recording_load_places(path, ret, error)
              : !fm_raw_recording_load(path, ret, error))
        return false;
    fm_raw_recording_close_waits(*ret, opts->ended_ns);
    return true;
}

/* Takes the recording. */
static bool finish(struct fm_raw_recording *recording, const struct fm_finish_opts *opts,
                   struct fm_joined **ret_kept, struct fm_profile **ret,
                   struct fm_finish_notes *notes, GError **error)
{
    fm_findings_of_recording(recording, opts->again, notes);
    fm_findings_of_run(opts->lost, notes);
    fm_raw_recording_forget_places(recording);
    fm_totals_find(recording);
    struct fm_joined *joined = joined_new(recording, opts, ret_kept != NULL, notes);
    bool ok = join(joined, notes, ret, error);
    if (ret_kept != NULL && joined->profile != NULL)
        *ret_kept = g_steal_pointer(&joined);
    fm_joined_free(joined);
    return ok;
}

bool fm_finish(const char *path, const struct fm_finish_opts *opts, struct fm_profile **ret,
               struct fm_finish_notes *notes, GError **error)
{
    return fm_finish_again(path, opts, NULL, ret, notes, error);
}

bool fm_finish_again(const char *path, const struct fm_finish_opts *opts, struct fm_joined **kept,
                     struct fm_profile **ret, struct fm_finish_notes *notes, GError **error)
{
    g_return_val_if_fail(path != NULL && opts != NULL && ret != NULL && notes != NULL, false);
    struct fm_raw_recording *recording = NULL;
    *notes = (struct fm_finish_notes){.lines = g_ptr_array_new_with_free_func(g_free)};
    bool joined = kept != NULL && *kept != NULL;
    bool again = joined && fm_joined_load_again(*kept, path, opts->ended_ns, &recording);
    bool ok = again || load(path, opts, joined, &recording, notes, error);
    if (ok && joined && (again || fm_joined_is_of(*kept, recording))) {
        if (fm_joined_recount(*kept, g_steal_pointer(&recording), ret, notes))
            return true;
        fm_finish_notes_done(notes);
        *notes = (struct fm_finish_notes){.lines = g_ptr_array_new_with_free_func(g_free)};
        ok = load(path, opts, false, &recording, notes, error);
    }
    if (kept != NULL)
        g_clear_pointer(kept, fm_joined_free);
    if (ok)
        ok = finish(recording, opts, kept, ret, notes, error);
    if (!ok)
        fm_finish_notes_done(notes);
    return ok;
}
