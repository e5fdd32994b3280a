/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the ends of entries that are open at the end of a window. The window is read up to its end,
 * but a box shows how long its entry took. The summary has each segment that is not shorter than
 * its resolution; others end within that time after the window, which is read for them. */
#include "pages/viewers/viewers.h"

struct ending {
    struct fm_viewer_timeline *timeline;
    unsigned part;
    struct fm_state_observer observer;
};

static struct fm_box *box_at(const struct fm_viewer_timeline *timeline, unsigned part, unsigned i)
{
    return &g_array_index(timeline->boxes[part].picture.boxes, struct fm_box, i);
}

/* The first box of that lane, or of the next lane with boxes. */
static unsigned first_box(const struct fm_viewer_timeline *timeline, unsigned part, uint32_t lane)
{
    unsigned low = 0, high = timeline->boxes[part].picture.boxes->len;
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (box_at(timeline, part, middle)->lane < lane)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The open entry that a box shows; NULL = none. Only the last box of a level may have one. */
static const struct fm_state_entry *open_entry(const struct fm_viewer_timeline *timeline,
                                               unsigned part, unsigned i, uint64_t time)
{
    const struct fm_box *box = box_at(timeline, part, i);
    const struct fm_lane *lane = fm_state_lane(timeline->job.set->parts[part].state, box->lane);
    if (i + 1 < timeline->boxes[part].picture.boxes->len &&
        box_at(timeline, part, i + 1)->lane == box->lane &&
        box_at(timeline, part, i + 1)->depth == box->depth)
        return NULL;
    if (box->depth >= lane->depth || box->end < time)
        return NULL;
    const struct fm_state_entry *entry = &lane->stack[box->depth];
    bool shown = box->count == 1 ? entry->since == box->start : entry->since >= box->start;
    return shown ? entry : NULL;
}

static void take_end(const struct fm_viewer_job *job, struct fm_box *box, uint64_t end)
{
    box->end = MAX(box->end, end);
    box->cut &= ~(unsigned)FM_BOX_END_UNKNOWN;
    if (box->end <= job->end)
        box->cut &= ~(unsigned)FM_BOX_ENDS_AFTER;
}

/* --- reading after the window --- */

static void on_segment(void *user, const struct fm_lane *lane, uint32_t depth,
                       const struct fm_state_entry *entry, uint64_t end)
{
    const struct ending *ending = user;
    struct fm_viewer_timeline *timeline = ending->timeline;
    unsigned count = timeline->boxes[ending->part].picture.boxes->len;
    for (unsigned i = first_box(timeline, ending->part, lane->index); i < count; i++) {
        struct fm_box *box = box_at(timeline, ending->part, i);
        if (box->lane != lane->index)
            break;
        if (box->depth == depth && box->count == 1 && box->start == entry->since &&
            (box->cut & FM_BOX_END_UNKNOWN))
            take_end(&timeline->job, box, end);
    }
}

static const struct fm_state_observer *observe(struct fm_viewer_reading *reading)
{
    return &((struct ending *)reading->viewer)->observer;
}

static void read_behind(struct fm_viewer_timeline *timeline, unsigned part, uint64_t length)
{
    const struct fm_trace *trace = timeline->job.set->parts[part].trace;
    uint64_t start = timeline->job.end;
    uint64_t end = MIN(start + MIN(length, FM_TIME_INF - start), trace->end_time + 1);
    if (end <= start)
        return;
    struct ending *ending = g_new0(struct ending, 1);
    *ending = (struct ending){
        .timeline = timeline, .part = part, .observer = {.user = ending, .segment = on_segment}};
    g_ptr_array_add(timeline->endings, ending);
    const struct fm_viewer_reading reading = {
        .part = (int)part, .viewer = ending, .observer = observe};
    fm_viewer_job_read(&timeline->job, &reading, start, NULL, end, NULL);
}

/* --- whole pictures --- */

/* In a growing trace, entries that were open when the summary was made have no end yet. */
static bool known_end(const struct fm_viewer_part *of, const struct fm_summary *summary,
                      const struct fm_box *box, const struct fm_state_entry *entry,
                      uint64_t *ret_end)
{
    if (!fm_summary_end_of(summary, box->lane, box->depth, entry->since, ret_end))
        return false;
    return *ret_end < fm_summary_known_until(summary) ||
           fm_trace_growth(of->trace) == FM_TRACE_WHOLE;
}

void fm_viewer_timeline_find_ends(struct fm_viewer_timeline *timeline, unsigned part, uint64_t time,
                                  bool last)
{
    const struct fm_viewer_part *of = &timeline->job.set->parts[part];
    const struct fm_state *state = of->state;
    bool complete = fm_state_is_complete(state), shorter = false;
    const struct fm_summary *summary = complete ? fm_viewer_part_summary(of) : NULL;
    for (unsigned i = 0; i < timeline->boxes[part].picture.boxes->len; i++) {
        struct fm_box *box = box_at(timeline, part, i);
        if (!complete && box->start <= fm_state_origin(state))
            box->cut |= FM_BOX_BEGIN_UNKNOWN;
        const struct fm_state_entry *entry = open_entry(timeline, part, i, time);
        if (entry == NULL)
            continue;
        uint64_t end;
        box->cut |= FM_BOX_END_UNKNOWN | FM_BOX_ENDS_AFTER;
        if (summary == NULL || box->count > 1)
            continue;
        if (known_end(of, summary, box, entry, &end))
            take_end(&timeline->job, box, end);
        else
            shorter = true;
    }
    if (last && shorter)
        read_behind(timeline, part, fm_summary_resolution(summary) + 1);
}
