/* SPDX-License-Identifier: Apache-2.0 */
/* Totals and durations of the segments of an area: an interval on chosen lanes. */
#include <string.h>

#include "pages/viewers/viewers.h"

enum { ROWS_MAX = 500, BLOCKS_A_STEP = 8 };

struct fm_segments *fm_viewer_part_segments(const struct fm_viewer_set *set, unsigned part,
                                            const char **ret_problem)
{
    struct fm_trace *trace = set->parts[part].trace;
    enum fm_request_result result = fm_background_request(set->engine, trace, "segments");
    if (result == FM_REQUEST_READY)
        return fm_attributes_get(trace->attributes, "segments/segments");
    if (result == FM_REQUEST_FAILED || result == FM_REQUEST_NO_MODULE)
        *ret_problem = "the segments of the trace could not be computed";
    return NULL;
}

void fm_viewer_job_area(const struct fm_viewer_job *job, uint64_t *ret_start, uint64_t *ret_end)
{
    const struct fm_trace_query *query = &job->query;
    uint64_t origin = job->set->origin;
    *ret_start = query->area_start == FM_TRACE_TIME_UNSET ? job->start : origin + query->area_start;
    *ret_end = query->area_end == FM_TRACE_TIME_UNSET ? job->end : origin + query->area_end;
    *ret_end = MAX(*ret_end, *ret_start + 1);
}

static bool names_lane(const GPtrArray *ids, const char *id)
{
    for (guint i = 0; i < ids->len; i++) {
        if (strcmp(g_ptr_array_index(ids, i), id) == 0)
            return true;
    }
    return false;
}

GByteArray *fm_viewer_area_lanes(const struct fm_viewer_job *job, unsigned part,
                                 const struct fm_segments *segments)
{
    const struct fm_trace_query *query = &job->query;
    if (query->chosen->len == 0 && query->hidden->len == 0)
        return NULL;
    GByteArray *lanes = g_byte_array_new();
    g_byte_array_set_size(lanes, fm_segments_lane_count(segments));
    for (uint32_t i = 0; i < lanes->len; i++) {
        const struct fm_segments_lane *from = fm_segments_lane(segments, i);
        const struct fm_viewer_lane lane = {.part = part, .kind = from->kind, .key = from->key};
        g_autofree char *id = fm_viewer_lane_id(&lane);
        lanes->data[i] =
            query->chosen->len > 0 ? names_lane(query->chosen, id) : !names_lane(query->hidden, id);
    }
    return lanes;
}

/* Begins with the part that is to be counted; false: its segments are not known yet. */
static bool begin_part(struct fm_viewer_area *area)
{
    const struct fm_trace_query *query = &area->job.query;
    G_STATIC_ASSERT((int)FM_TRACE_BY_STACK == (int)FM_TOTALS_BY_COUNT &&
                    (int)FM_TRACE_BY_LANE == (int)FM_TOTALS_BY_LANE);
    struct fm_segments *segments =
        fm_viewer_part_segments(area->job.set, area->counting, &area->problem);
    if (segments == NULL)
        return false;
    if (fm_segments_problem(segments) != NULL)
        area->problem = fm_segments_problem(segments);
    g_autoptr(GByteArray) lanes = fm_viewer_area_lanes(&area->job, area->counting, segments);
    const struct fm_totals_area wanted = {
        .start = area->start,
        .end = area->end,
        .by = (enum fm_totals_by)query->by,
        .lanes = lanes,
        .least = query->least == FM_TRACE_TIME_UNSET ? 0 : query->least,
        .most = query->most == FM_TRACE_TIME_UNSET ? 0 : query->most,
    };
    if (query->by == FM_TRACE_BY_STACK)
        area->flames[area->counting] = fm_flame_new(segments, &wanted);
    else
        area->totals[area->counting] = fm_totals_new(segments, &wanted);
    return true;
}

static enum fm_viewer_work work(struct fm_viewer_job *job)
{
    struct fm_viewer_area *area = (struct fm_viewer_area *)job;
    if (area->counting == job->set->count)
        return FM_VIEWER_WORK_DONE;
    struct fm_totals *totals = area->totals[area->counting];
    struct fm_flame *flame = area->flames[area->counting];
    if (totals == NULL && flame == NULL) {
        if (begin_part(area))
            return FM_VIEWER_WORK_MORE;
        if (area->problem == NULL)
            return FM_VIEWER_WORK_WAITS;
        area->counting++;
        return FM_VIEWER_WORK_MORE;
    }
    if (!(flame != NULL ? fm_flame_step(flame, BLOCKS_A_STEP)
                        : fm_totals_step(totals, BLOCKS_A_STEP)))
        area->counting++;
    return FM_VIEWER_WORK_MORE;
}

static bool begin(struct fm_viewer_job *job, GError **error)
{
    (void)error;
    struct fm_viewer_area *area = (struct fm_viewer_area *)job;
    const struct fm_viewer_set *set = job->set;
    fm_viewer_job_area(job, &area->start, &area->end);
    area->totals = g_new0(struct fm_totals *, set->count);
    area->flames = g_new0(struct fm_flame *, set->count);
    area->rows = g_array_new(FALSE, FALSE, sizeof(struct fm_viewer_area_row));
    fm_viewer_job_work(job, work);
    return true;
}

static int compare_rows(gconstpointer a, gconstpointer b)
{
    const struct fm_viewer_area_row *left = a, *right = b;
    if (left->group->total != right->group->total)
        return left->group->total > right->group->total ? -1 : 1;
    return left->part < right->part ? -1 : left->part > right->part;
}

void fm_viewer_area_fill(struct fm_viewer_area *area)
{
    g_array_set_size(area->rows, 0);
    for (unsigned i = 0; i < area->job.set->count; i++) {
        const GPtrArray *groups =
            area->totals[i] == NULL ? NULL : fm_totals_groups(area->totals[i]);
        for (guint j = 0; groups != NULL && j < groups->len; j++) {
            const struct fm_viewer_area_row row = {i, g_ptr_array_index(groups, j)};
            g_array_append_val(area->rows, row);
        }
    }
    if (area->job.set->count > 1)
        g_array_sort(area->rows, compare_rows);
    area->left_out = area->rows->len - MIN(area->rows->len, ROWS_MAX);
    g_array_set_size(area->rows, area->rows->len - area->left_out);
}

static void clear(struct fm_viewer_job *job)
{
    struct fm_viewer_area *area = (struct fm_viewer_area *)job;
    for (unsigned i = 0; area->totals != NULL && i < job->set->count; i++) {
        fm_totals_free(area->totals[i]);
        fm_flame_free(area->flames[i]);
    }
    g_free(area->totals);
    g_free(area->flames);
    g_clear_pointer(&area->rows, g_array_unref);
}

const struct fm_viewer fm_viewer_of_area = {"area", sizeof(struct fm_viewer_area), begin, clear};
