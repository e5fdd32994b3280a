/* SPDX-License-Identifier: Apache-2.0 */
/* For a timeline: how long each lane works in the window, for their order; and which boxes are
 * dimmed. */
#include "base/error.h"
#include "pages/viewers/viewers.h"

enum { BLOCKS_A_STEP = 8 };

void fm_viewer_busy_take(struct fm_viewer_timeline *timeline)
{
    for (guint i = 0; timeline->busy != NULL && i < timeline->lanes.all->len; i++) {
        struct fm_viewer_lane *lane = &g_array_index(timeline->lanes.all, struct fm_viewer_lane, i);
        const GArray *of = timeline->busy[lane->part];
        lane->busy = lane->index < of->len ? g_array_index(of, uint64_t, lane->index) : 0;
    }
}

static void take_totals(struct fm_viewer_timeline *timeline)
{
    const GPtrArray *groups = fm_totals_groups(timeline->totals);
    GArray *busy = timeline->busy[timeline->counting];
    for (guint i = 0; i < groups->len; i++) {
        const struct fm_totals_group *group = groups->pdata[i];
        if (group->number >= busy->len)
            g_array_set_size(busy, group->number + 1);
        g_array_index(busy, uint64_t, group->number) = group->busy;
    }
    g_clear_pointer(&timeline->totals, fm_totals_free);
    timeline->counting++;
}

enum fm_viewer_work fm_viewer_busy_work(struct fm_viewer_timeline *timeline)
{
    const struct fm_viewer_job *job = &timeline->job;
    const struct fm_totals_area area = {
        .start = job->start, .end = job->end, .by = FM_TOTALS_BY_LANE};
    const char *problem = NULL;
    if (timeline->totals != NULL) {
        if (!fm_totals_step(timeline->totals, BLOCKS_A_STEP))
            take_totals(timeline);
        return FM_VIEWER_WORK_MORE;
    }
    struct fm_segments *segments = fm_viewer_part_segments(job->set, timeline->counting, &problem);
    if (segments == NULL && problem == NULL)
        return FM_VIEWER_WORK_WAITS;
    if (segments == NULL)
        timeline->counting++;
    else
        timeline->totals = fm_totals_new(segments, &area);
    return FM_VIEWER_WORK_MORE;
}

/* --- dimming --- */

/* Filters keep what they learn of one trace. */
bool fm_viewer_dims_new(struct fm_viewer_timeline *timeline, GError **error)
{
    const struct fm_viewer_job *job = &timeline->job;
    timeline->dims = g_new0(struct fm_filter *, job->set->count);
    for (unsigned i = 0; i < job->set->count; i++) {
        timeline->dims[i] = fm_filter_new_of_segments(job->query.dim, error);
        if (timeline->dims[i] == NULL)
            return false;
        if (fm_filter_needs_self(timeline->dims[i])) {
            g_set_error(error, FM_ERROR, FM_ERROR_USAGE,
                        "dim: segment.self is not known of boxes, expected segment.duration");
            return false;
        }
    }
    return true;
}

/* A box of several counts by the one with most of its time. */
bool fm_viewer_timeline_is_dimmed(const struct fm_viewer_timeline *timeline,
                                  const struct fm_viewer_lane *lane, const struct fm_box *box)
{
    if (timeline->dims == NULL)
        return false;
    const struct fm_trace *trace = timeline->job.set->parts[lane->part].trace;
    const struct fm_filter_segment segment = {
        .trace = trace,
        .name = fm_trace_value_name(trace, box->value),
        .lane = lane->plain,
        .process = lane->process,
        .state_class = fm_trace_value_class(trace, box->value),
        .kind = lane->kind,
        .number = lane->number,
        .start = box->start,
        .end = box->end,
        .self = box->end - box->start,
        .level = box->depth,
        .value = box->value,
        .lane_index = lane->index,
    };
    return !fm_filter_accepts_segment(timeline->dims[lane->part], &segment);
}
