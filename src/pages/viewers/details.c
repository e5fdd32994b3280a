/* SPDX-License-Identifier: Apache-2.0 */
/* One segment: what it lies in, what is nested in it, arrows, and the events of its lane at its
 * begin and end. */
#include <string.h>

#include "pages/viewers/viewers.h"

enum { BLOCKS_A_STEP = 16, EVENTS_MAX = 8 };

bool fm_viewer_lane_parse(const char *id, struct fm_viewer_lane *ret)
{
    *ret = (struct fm_viewer_lane){0};
    char *at;
    ret->part = (unsigned)g_ascii_strtoull(id, &at, 10);
    if (at == id || *at != '-')
        return false;
    const char *kind = at + 1;
    ret->kind = (enum fm_lane_kind)g_ascii_strtoull(kind, &at, 10);
    if (at == kind || *at != '-' || (unsigned)ret->kind >= FM_LANE_KIND_COUNT)
        return false;
    const char *key = at + 1;
    ret->key = g_ascii_strtoull(key, &at, 10);
    return at != key && *at == '\0';
}

uint32_t fm_viewer_segments_lane(const struct fm_segments *segments, unsigned part, const char *id)
{
    struct fm_viewer_lane wanted;
    if (!fm_viewer_lane_parse(id, &wanted) || wanted.part != part)
        return FM_LANE_NONE;
    for (uint32_t i = fm_segments_lane_count(segments); i-- > 0;) {
        const struct fm_segments_lane *lane = fm_segments_lane(segments, i);
        if (lane->kind == wanted.kind && lane->key == wanted.key)
            return i;
    }
    return FM_LANE_NONE;
}

/* "0-1-12:1000:2": lane, begin, level; the level may be left out. */
static bool parse_selected(struct fm_viewer_details *details, const char *text)
{
    const struct fm_viewer_set *set = details->job.set;
    const char *colon = strchr(text, ':');
    if (colon == NULL)
        return false;
    char *at;
    uint64_t time = g_ascii_strtoull(colon + 1, &at, 10);
    uint64_t level = *at == ':' ? g_ascii_strtoull(at + 1, &at, 10) : FM_DETAILS_INNERMOST;
    details->lane_id = g_strndup(text, (gsize)(colon - text));
    if (at == colon + 1 || *at != '\0' || level > FM_DETAILS_INNERMOST ||
        time > UINT64_MAX - set->origin ||
        !fm_viewer_lane_parse(details->lane_id, &details->lane) || details->lane.part >= set->count)
        return false;
    details->time = set->origin + time;
    details->level = (uint16_t)level;
    return true;
}

/* Several lanes may have had that number, one after the other: the one that has it. */
static bool of_lane(const struct fm_viewer_details *details, const struct fm_lane *lane)
{
    return lane != NULL && lane->kind == details->lane.kind && lane->key == details->lane.key;
}

static bool take_event(struct fm_viewer_reading *reading, struct fm_tracefile_context *at)
{
    struct fm_viewer_details *details = (struct fm_viewer_details *)reading->job;
    const struct fm_state *state = details->job.set->parts[reading->part].state;
    if (of_lane(details, fm_state_event_lane(state)) && details->events->len < EVENTS_MAX)
        g_ptr_array_add(details->events, fm_viewer_event_row_new(at));
    return false;
}

static void read_events(struct fm_viewer_details *details)
{
    const struct fm_segment *found = fm_details_found(details->details);
    const struct fm_viewer_reading reading = {.part = (int)details->lane.part, .event = take_event};
    details->job.provisional = !fm_viewer_set_is_ready(details->job.set, TRACE_STATE);
    fm_viewer_job_read(&details->job, &reading, found->start, NULL, found->start + 1, NULL);
    if (!found->open && found->end > found->start)
        fm_viewer_job_read(&details->job, &reading, found->end, NULL, found->end + 1, NULL);
}

static enum fm_viewer_work work(struct fm_viewer_job *job)
{
    struct fm_viewer_details *details = (struct fm_viewer_details *)job;
    if (details->details != NULL) {
        if (fm_details_step(details->details, BLOCKS_A_STEP))
            return FM_VIEWER_WORK_MORE;
        if (fm_details_found(details->details) != NULL)
            read_events(details);
        else
            details->problem = "there is no such segment";
        return FM_VIEWER_WORK_DONE;
    }
    unsigned part = details->lane.part;
    struct fm_segments *segments = fm_viewer_part_segments(job->set, part, &details->problem);
    if (segments == NULL)
        return details->problem == NULL ? FM_VIEWER_WORK_WAITS : FM_VIEWER_WORK_DONE;
    uint32_t lane = fm_viewer_segments_lane(segments, part, details->lane_id);
    if (lane == FM_LANE_NONE) {
        details->problem = "there is no lane of that number";
        return FM_VIEWER_WORK_DONE;
    }
    details->details = fm_details_new(segments, lane, details->time, details->level);
    return FM_VIEWER_WORK_MORE;
}

static bool begin(struct fm_viewer_job *job, GError **error)
{
    (void)error;
    struct fm_viewer_details *details = (struct fm_viewer_details *)job;
    details->events = g_ptr_array_new_with_free_func(fm_viewer_event_row_free);
    if (job->query.selected == NULL)
        details->problem = "Select a box.";
    else if (!parse_selected(details, job->query.selected))
        details->problem = "selected=: expected LANE:BEGIN:LEVEL, such as 0-1-12:1000:2";
    else
        fm_viewer_job_work(job, work);
    return true;
}

bool fm_viewer_details_is_known(const struct fm_viewer_details *details)
{
    return details->details != NULL && details->job.work == NULL &&
           fm_details_found(details->details) != NULL;
}

static void clear(struct fm_viewer_job *job)
{
    struct fm_viewer_details *details = (struct fm_viewer_details *)job;
    fm_details_free(details->details);
    g_free(details->lane_id);
    g_clear_pointer(&details->events, g_ptr_array_unref);
}

const struct fm_viewer fm_viewer_of_details = {"details", sizeof(struct fm_viewer_details), begin,
                                               clear};
