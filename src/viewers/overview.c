/* SPDX-License-Identifier: Apache-2.0 */
/* How many events there are, over the whole span: from the summary, else counted. */
#include "viewers/viewers.h"

/* A log that is longer waits for its summary: counting would hold up the pass that makes it. */
#define COUNTED_BYTES_MAX (64u << 20)
/* Few events are counted in any case: a summary's numbers are exact only to its runs of events. */
#define COUNTED_EVENTS_MAX 500000u

static unsigned column_of(const struct trace_job *job, uint64_t time)
{
    double place = (double)(time - job->start) / (double)(job->end - job->start) * job->columns;
    return MIN((unsigned)place, job->columns - 1);
}

static bool count_event(struct trace_reading *reading, struct fm_tracefile_context *at)
{
    struct trace_overview *overview = (struct trace_overview *)reading->job;
    struct trace_job *job = reading->job;
    const struct fm_state *state = job->set->parts[at->trace_context->index].state;
    uint64_t time = at->event.time;
    if (time < job->start || time >= job->end ||
        (job->filter != NULL && !fm_filter_accepts(job->filter, at, state)))
        return false;
    overview->counts[column_of(job, time)]++;
    return false;
}

static void take_from_summary(struct trace_overview *overview, const struct fm_summary *summary)
{
    const struct trace_job *job = &overview->job;
    double width = (double)(job->end - job->start) / job->columns;
    uint64_t from = job->start;
    for (unsigned i = 0; i < job->columns; i++) {
        uint64_t to = i + 1 == job->columns ? job->end : job->start + (uint64_t)(width * (i + 1));
        if (to > from)
            overview->counts[i] += fm_summary_events(summary, from, to);
        from = MAX(from, to);
    }
}

static bool begin(struct trace_job *job, GError **error)
{
    (void)error;
    struct trace_overview *overview = (struct trace_overview *)job;
    const struct trace_set *set = job->set;
    job->start = set->origin + set->start;
    job->end = set->origin + set->end;
    job->known_until = job->start;
    overview->counts = g_new0(uint64_t, job->columns);
    for (unsigned i = 0; i < set->count; i++) {
        struct fm_summary *summary =
            job->filter == NULL ? trace_part_summary(&set->parts[i]) : NULL;
        if (summary != NULL &&
            fm_summary_events(summary, job->start, job->end) > COUNTED_EVENTS_MAX) {
            take_from_summary(overview, summary);
            job->from_summary = true;
            continue;
        }
        const struct trace_reading reading = {.part = (int)i, .event = count_event};
        if (job->filter != NULL || trace_part_bytes(&set->parts[i]) <= COUNTED_BYTES_MAX)
            trace_job_read(job, &reading, job->start, NULL, job->end, NULL);
        else
            job->provisional = true;
    }
    return true;
}

void trace_overview_add_up(struct trace_overview *overview)
{
    overview->total = overview->greatest = 0;
    for (unsigned i = 0; i < overview->job.columns; i++) {
        overview->total += overview->counts[i];
        overview->greatest = MAX(overview->greatest, overview->counts[i]);
    }
}

static void write_json(struct trace_job *job, GString *out)
{
    struct trace_overview *overview = (struct trace_overview *)job;
    trace_overview_add_up(overview);
    g_string_append_printf(out,
                           ", \"events\": %" G_GUINT64_FORMAT ", \"greatest\": %" G_GUINT64_FORMAT
                           ", \"counts\": [",
                           (guint64)overview->total, (guint64)overview->greatest);
    for (unsigned i = 0; i < job->columns; i++)
        g_string_append_printf(out, "%s%" G_GUINT64_FORMAT, i > 0 ? "," : "",
                               (guint64)overview->counts[i]);
    g_string_append_c(out, ']');
}

static void clear(struct trace_job *job)
{
    g_free(((struct trace_overview *)job)->counts);
}

const struct trace_viewer trace_viewer_overview = {"overview", sizeof(struct trace_overview), begin,
                                                   write_json, clear};
