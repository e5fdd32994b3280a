/* SPDX-License-Identifier: Apache-2.0 */
/* Number of events over the whole span: from the summary, or counted. */
#include "pages/viewers/viewers.h"

/* For longer logs, waits for the summary: counting would delay the pass that makes it. */
#define COUNTED_BYTES_MAX (64u << 20)
/* Fewer events are always counted: a summary's numbers are exact only to its runs of events. */
#define COUNTED_EVENTS_MAX 500000u

static unsigned column_of(const struct fm_viewer_job *job, uint64_t time)
{
    double place = (double)(time - job->start) / (double)(job->end - job->start) * job->columns;
    return MIN((unsigned)place, job->columns - 1);
}

static bool count_event(struct fm_viewer_reading *reading, struct fm_tracefile_context *at)
{
    struct fm_viewer_overview *overview = (struct fm_viewer_overview *)reading->job;
    struct fm_viewer_job *job = reading->job;
    const struct fm_state *state = job->set->parts[at->trace_context->index].state;
    uint64_t time = at->event.time;
    if (time < job->start || time >= job->end ||
        (job->filter != NULL && !fm_filter_accepts(job->filter, at, state)))
        return false;
    overview->counts[column_of(job, time)]++;
    return false;
}

static void take_from_summary(struct fm_viewer_overview *overview, const struct fm_summary *summary)
{
    const struct fm_viewer_job *job = &overview->job;
    double width = (double)(job->end - job->start) / job->columns;
    uint64_t from = job->start;
    for (unsigned i = 0; i < job->columns; i++) {
        uint64_t to = i + 1 == job->columns ? job->end : job->start + (uint64_t)(width * (i + 1));
        if (to > from)
            overview->counts[i] += fm_summary_events(summary, from, to);
        from = MAX(from, to);
    }
}

static bool begin(struct fm_viewer_job *job, GError **error)
{
    (void)error;
    struct fm_viewer_overview *overview = (struct fm_viewer_overview *)job;
    const struct fm_viewer_set *set = job->set;
    job->start = set->origin + set->start;
    job->end = set->origin + set->end;
    job->known_until = job->start;
    overview->counts = g_new0(uint64_t, job->columns);
    for (unsigned i = 0; i < set->count; i++) {
        struct fm_summary *summary =
            job->filter == NULL ? fm_viewer_part_summary(&set->parts[i]) : NULL;
        if (summary != NULL &&
            fm_summary_events(summary, job->start, job->end) > COUNTED_EVENTS_MAX) {
            take_from_summary(overview, summary);
            job->from_summary = true;
            continue;
        }
        const struct fm_viewer_reading reading = {.part = (int)i, .event = count_event};
        if (job->filter != NULL || fm_viewer_part_bytes(&set->parts[i]) <= COUNTED_BYTES_MAX)
            fm_viewer_job_read(job, &reading, job->start, NULL, job->end, NULL);
        else
            job->provisional = true;
    }
    return true;
}

void fm_viewer_overview_add_up(struct fm_viewer_overview *overview)
{
    g_assert(overview->counts != NULL);
    overview->total = overview->greatest = 0;
    for (unsigned i = 0; i < overview->job.columns; i++) {
        overview->total += overview->counts[i];
        overview->greatest = MAX(overview->greatest, overview->counts[i]);
    }
}

char *fm_viewer_overview_nothing(const struct fm_viewer_overview *overview)
{
    const struct fm_viewer_job *job = &overview->job;
    if (job->filter == NULL || overview->total > 0 || !fm_viewer_job_is_done(job))
        return NULL;
    g_autofree const struct fm_state **states = g_new0(const struct fm_state *, job->set->count);
    for (unsigned i = 0; i < job->set->count; i++)
        states[i] = job->set->parts[i].state;
    return fm_filter_explain_nothing(job->filter, states, job->set->count);
}

static void clear(struct fm_viewer_job *job)
{
    g_free(((struct fm_viewer_overview *)job)->counts);
}

const struct fm_viewer fm_viewer_of_overview = {"overview", sizeof(struct fm_viewer_overview),
                                                begin, clear};
