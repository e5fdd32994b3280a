/* SPDX-License-Identifier: Apache-2.0 */
/* The next or previous segment of a name, of a state, or on a lane, from the cursor on. */
#include <string.h>

#include "pages/viewers/viewers.h"

enum { BLOCKS_A_STEP = 16 };

static bool is_forward(enum fm_trace_step step)
{
    return step == FM_TRACE_STEP_NEXT_NAME || step == FM_TRACE_STEP_NEXT_STATE ||
           step == FM_TRACE_STEP_NEXT_LANE;
}

/* The values of that name, or of that class. */
static GByteArray *wanted_values(const struct fm_trace *trace, enum fm_trace_step step,
                                 const char *like)
{
    bool by_name = step == FM_TRACE_STEP_NEXT_NAME || step == FM_TRACE_STEP_PREVIOUS_NAME;
    GByteArray *values = g_byte_array_new();
    g_byte_array_set_size(values, fm_trace_value_count(trace));
    for (uint32_t i = 0; i < values->len; i++) {
        const char *text = by_name ? fm_trace_value_name(trace, i)
                                   : fm_state_class_name(fm_trace_value_class(trace, i));
        values->data[i] = like != NULL && strcmp(text, like) == 0;
    }
    return values;
}

/* False: the segments are not known yet. */
static bool begin_search(struct fm_viewer_step *step)
{
    const struct fm_trace_query *query = &step->job.query;
    const struct fm_viewer_set *set = step->job.set;
    struct fm_segments *segments = fm_viewer_part_segments(set, step->part, &step->problem);
    if (segments == NULL)
        return false;
    bool on_lane =
        query->step == FM_TRACE_STEP_NEXT_LANE || query->step == FM_TRACE_STEP_PREVIOUS_LANE;
    uint32_t lane =
        on_lane && query->chosen->len > 0
            ? fm_viewer_segments_lane(segments, step->part, g_ptr_array_index(query->chosen, 0))
            : FM_LANE_NONE;
    g_autoptr(GByteArray) values =
        on_lane ? NULL : wanted_values(set->parts[step->part].trace, query->step, query->like);
    if (on_lane && lane == FM_LANE_NONE)
        return true; /* it is of another trace */
    uint64_t time =
        set->origin + (query->cursor == FM_TRACE_TIME_UNSET ? set->start : query->cursor);
    step->segments[step->part] = fm_segments_ref(segments);
    step->searches[step->part] =
        fm_search_new(segments, values, lane, time, is_forward(query->step));
    return true;
}

static enum fm_viewer_work work(struct fm_viewer_job *job)
{
    struct fm_viewer_step *step = (struct fm_viewer_step *)job;
    if (step->part == job->set->count)
        return FM_VIEWER_WORK_DONE;
    struct fm_search *search = step->searches[step->part];
    if (search == NULL) {
        if (!begin_search(step) && step->problem == NULL)
            return FM_VIEWER_WORK_WAITS;
        step->part += step->searches[step->part] == NULL;
    } else if (!fm_search_step(search, BLOCKS_A_STEP)) {
        step->part++;
    }
    return FM_VIEWER_WORK_MORE;
}

static bool begin(struct fm_viewer_job *job, GError **error)
{
    (void)error;
    struct fm_viewer_step *step = (struct fm_viewer_step *)job;
    step->searches = g_new0(struct fm_search *, job->set->count);
    step->segments = g_new0(struct fm_segments *, job->set->count);
    fm_viewer_job_work(job, work);
    return true;
}

const struct fm_segment *fm_viewer_step_found(const struct fm_viewer_step *step, unsigned *ret_part)
{
    const struct fm_segment *best = NULL;
    for (unsigned i = 0; i < step->job.set->count; i++) {
        const struct fm_segment *found =
            step->searches[i] == NULL ? NULL : fm_search_found(step->searches[i]);
        if (found == NULL ||
            (best != NULL && (found->start < best->start) != is_forward(step->job.query.step)))
            continue;
        best = found;
        *ret_part = i;
    }
    return best;
}

static void clear(struct fm_viewer_job *job)
{
    struct fm_viewer_step *step = (struct fm_viewer_step *)job;
    for (unsigned i = 0; step->searches != NULL && i < job->set->count; i++) {
        fm_search_free(step->searches[i]);
        fm_segments_free(step->segments[i]);
    }
    g_free(step->searches);
    g_free(step->segments);
}

const struct fm_viewer fm_viewer_of_step = {"step", sizeof(struct fm_viewer_step), begin, clear};
