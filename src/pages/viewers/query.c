/* SPDX-License-Identifier: Apache-2.0 */
/* A query over the segments or events of the area, else of the window. */
#include "pages/viewers/viewers.h"

enum { BLOCKS_A_STEP = 8 };

static bool take_event(struct fm_viewer_reading *reading, struct fm_tracefile_context *at)
{
    const struct fm_viewer_query *query = (const struct fm_viewer_query *)reading->job;
    fm_groups_take_event(query->groups[reading->part], at,
                         reading->job->set->parts[reading->part].state);
    return false;
}

static void read_events(struct fm_viewer_query *query)
{
    const struct fm_viewer_set *set = query->job.set;
    query->job.provisional =
        query->groupings[0]->needs_state && !fm_viewer_set_is_ready(set, TRACE_STATE);
    for (unsigned i = 0; i < set->count; i++) {
        const struct fm_viewer_reading reading = {.part = (int)i, .event = take_event};
        query->groups[i] = fm_groups_new(query->groupings[i], NULL, NULL);
        fm_viewer_job_read(&query->job, &reading, query->start, NULL, query->end, NULL);
    }
}

/* False: the segments are not known yet. */
static bool begin_part(struct fm_viewer_query *query)
{
    unsigned part = query->counting;
    struct fm_segments *segments = fm_viewer_part_segments(query->job.set, part, &query->problem);
    if (segments == NULL)
        return false;
    if (fm_segments_problem(segments) != NULL)
        query->problem = fm_segments_problem(segments);
    g_autoptr(GByteArray) lanes = fm_viewer_area_lanes(&query->job, part, segments);
    const struct fm_totals_area area = {.start = query->start, .end = query->end, .lanes = lanes};
    query->groups[part] = fm_groups_new(query->groupings[part], segments, &area);
    return true;
}

static enum fm_viewer_work work(struct fm_viewer_job *job)
{
    struct fm_viewer_query *query = (struct fm_viewer_query *)job;
    if (query->counting == job->set->count)
        return FM_VIEWER_WORK_DONE;
    if (query->groups[query->counting] == NULL) {
        if (begin_part(query))
            return FM_VIEWER_WORK_MORE;
        if (query->problem == NULL)
            return FM_VIEWER_WORK_WAITS;
        query->counting++;
        return FM_VIEWER_WORK_MORE;
    }
    if (!fm_groups_step(query->groups[query->counting], BLOCKS_A_STEP))
        query->counting++;
    return FM_VIEWER_WORK_MORE;
}

/* A query that is wrong is no error of the page: its reader mends it there. */
static bool begin(struct fm_viewer_job *job, GError **error)
{
    (void)error;
    struct fm_viewer_query *query = (struct fm_viewer_query *)job;
    unsigned count = job->set->count;
    g_autoptr(GError) wrong = NULL;
    fm_viewer_job_area(job, &query->start, &query->end);
    query->groups = g_new0(struct fm_groups *, count);
    query->groupings = g_new0(struct fm_grouping *, count);
    for (unsigned i = 0; i < count && wrong == NULL && job->query.query != NULL; i++)
        query->groupings[i] = fm_grouping_new(job->query.query, &wrong);
    if (wrong != NULL)
        query->problem = query->wrong = g_strdup(wrong->message);
    else if (job->query.query == NULL)
        query->problem = "Type a query.";
    else if (query->groupings[0]->of == FM_FILTER_OF_EVENTS)
        read_events(query);
    else
        fm_viewer_job_work(job, work);
    return true;
}

static void clear(struct fm_viewer_job *job)
{
    struct fm_viewer_query *query = (struct fm_viewer_query *)job;
    for (unsigned i = 0; query->groups != NULL && i < job->set->count; i++) {
        fm_groups_free(query->groups[i]);
        fm_grouping_free(query->groupings[i]);
    }
    g_free(query->groups);
    g_free(query->groupings);
    g_free(query->wrong);
}

const struct fm_viewer fm_viewer_of_query = {"query", sizeof(struct fm_viewer_query), begin, clear};
