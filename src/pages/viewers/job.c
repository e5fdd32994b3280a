/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a viewer's answer: ad hoc requests with the viewer's functions as hooks. */
#include "base/error.h"
#include "pages/viewers/viewers.h"

/* --- reading --- */

static bool on_begin_chunk(void *data, void *call_data)
{
    (void)call_data;
    struct fm_viewer_reading *reading = data;
    if (!reading->begun && reading->begin != NULL)
        reading->begin(reading);
    reading->begun = true;
    if (reading->observer != NULL)
        fm_state_add_observer(reading->job->set->parts[reading->part].state,
                              reading->observer(reading));
    return false;
}

static bool on_event(void *data, void *call_data)
{
    struct fm_viewer_reading *reading = data;
    return reading->event(reading, call_data);
}

static bool on_end_chunk(void *data, void *call_data)
{
    struct fm_viewer_reading *reading = data;
    struct fm_viewer_job *job = reading->job;
    if (reading->observer != NULL)
        fm_state_remove_observer(job->set->parts[reading->part].state, reading->observer(reading));
    uint64_t time = MIN(fm_context_time(call_data), job->end);
    job->known_until = MAX(job->start, time);
    if (reading->pause != NULL && job->wants_picture)
        reading->pause(reading, job->known_until);
    if (job->wants_picture && job->progressed != NULL)
        job->progressed(job, job->user);
    return false;
}

static bool on_end(void *data, void *call_data)
{
    (void)call_data;
    struct fm_viewer_reading *reading = data;
    struct fm_viewer_job *job = reading->job;
    g_assert(job->requests > 0);
    job->requests--;
    if (reading->end != NULL)
        reading->end(reading, job->end);
    if (job->requests == 0) {
        job->known_until = MAX(job->start, MIN(job->end, job->reaches));
        if (job->progressed != NULL)
            job->progressed(job, job->user);
    }
    return false;
}

static struct fm_hooks *hook(fm_hook_function *function, struct fm_viewer_reading *reading)
{
    struct fm_hooks *hooks = fm_hooks_new();
    fm_hooks_add(hooks, function, reading, FM_HOOK_DEFAULT);
    return hooks;
}

struct fm_viewer_reading *fm_viewer_job_read(struct fm_viewer_job *job,
                                             const struct fm_viewer_reading *like, uint64_t start,
                                             const struct fm_position *from, uint64_t end,
                                             const struct fm_position *until)
{
    g_assert(like->part >= -1 && like->part < (int)job->set->count);
    g_assert(like->observer == NULL || like->part >= 0); /* a state belongs to one trace */
    struct fm_viewer_reading *reading = g_new0(struct fm_viewer_reading, 1);
    *reading = *like;
    reading->job = job;
    reading->begun = false;
    struct fm_events_request *request = fm_events_request_new(job);
    request->start_time = from == NULL ? start : FM_TIME_INF;
    request->start_position = from == NULL ? NULL : fm_position_copy(from);
    request->end_time = end;
    request->end_position = until == NULL ? NULL : fm_position_copy(until);
    request->trace = reading->part;
    request->chunk.before_traceset = hook(on_begin_chunk, reading);
    request->chunk.after_traceset = hook(on_end_chunk, reading);
    if (reading->event != NULL)
        request->chunk.event = hook(on_event, reading);
    request->after_request = hook(on_end, reading);
    reading->request = request;
    g_ptr_array_add(job->readings, reading);
    job->requests++;
    if (!fm_engine_reader_request(job->set->reader, request))
        job->requests--;
    return reading;
}

/* --- work without reading --- */

enum { WAIT_MS = 20 };

static gboolean on_work(gpointer user);

static void work_later(struct fm_viewer_job *job, bool waits)
{
    job->work_source =
        waits ? g_timeout_add_full(G_PRIORITY_DEFAULT_IDLE, WAIT_MS, on_work, job, NULL)
              : g_idle_add(on_work, job);
}

/* False: it is done, or it waits. */
static bool work_some(struct fm_viewer_job *job, bool *ret_waits)
{
    enum fm_viewer_work state = job->work(job);
    *ret_waits = state == FM_VIEWER_WORK_WAITS;
    if (state != FM_VIEWER_WORK_DONE)
        return state == FM_VIEWER_WORK_MORE;
    job->work = NULL;
    job->requests--;
    if (job->requests == 0)
        job->known_until = MAX(job->start, MIN(job->end, job->reaches));
    return false;
}

static gboolean on_work(gpointer user)
{
    struct fm_viewer_job *job = user;
    bool waits;
    job->work_source = 0;
    if (work_some(job, &waits) || waits)
        work_later(job, waits);
    else if (job->requests == 0 && job->progressed != NULL)
        job->progressed(job, job->user);
    return G_SOURCE_REMOVE;
}

void fm_viewer_job_work(struct fm_viewer_job *job,
                        enum fm_viewer_work (*work)(struct fm_viewer_job *job))
{
    g_assert(job->work == NULL);
    job->work = work;
    job->requests++;
    work_later(job, false);
}

static void drop_work(struct fm_viewer_job *job)
{
    g_clear_handle_id(&job->work_source, g_source_remove);
}

/* --- start and end --- */

bool fm_viewer_job_new(const struct fm_viewer *viewer, struct fm_viewer_set *set,
                       const struct fm_trace_query *query, struct fm_viewer_job **ret,
                       GError **error)
{
    g_assert(viewer->size >= sizeof(struct fm_viewer_job) && viewer->begin && viewer->clear);
    struct fm_viewer_job *job = g_malloc0(viewer->size);
    job->viewer = viewer;
    job->set = fm_viewer_set_clone(set);
    job->readings = g_ptr_array_new_with_free_func(g_free);
    fm_trace_query_copy(query, &job->query);
    fm_viewer_set_window(set, query, &job->start, &job->end);
    job->columns = query->width == 0 ? TRACE_WIDTH_DEFAULT : query->width;
    job->known_until = job->start;
    job->reaches = FM_TIME_INF;
    g_assert(job->columns > 0 && job->start < job->end);
    if (query->filter != NULL) {
        job->filter = fm_filter_new(query->filter, error);
        if (job->filter == NULL) {
            fm_viewer_job_free(job);
            return false;
        }
    }
    if (!viewer->begin(job, error)) {
        fm_viewer_job_free(job);
        return false;
    }
    if (job->requests == 0)
        job->known_until = MAX(job->start, MIN(job->end, job->reaches));
    *ret = job;
    return true;
}

void fm_viewer_job_free(struct fm_viewer_job *job)
{
    if (job == NULL)
        return;
    drop_work(job);
    fm_engine_reader_remove_all(job->set->reader, job);
    job->viewer->clear(job);
    g_ptr_array_unref(job->readings);
    fm_filter_free(job->filter);
    fm_viewer_set_free(job->set);
    fm_trace_query_done(&job->query);
    g_free(job);
}

bool fm_viewer_jobs_are_done(struct fm_viewer_job *const *jobs, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (!fm_viewer_job_is_done(jobs[i]))
            return false;
    }
    return true;
}

bool fm_viewer_jobs_turn(struct fm_viewer_job *const *jobs, unsigned count, bool last)
{
    bool waits = false;
    for (unsigned i = 0; i < count; i++) {
        bool one_waits = false;
        jobs[i]->wants_picture = last;
        fm_foreground_step(jobs[i]->set->reader);
        if (jobs[i]->work != NULL && !work_some(jobs[i], &one_waits) && !one_waits)
            drop_work(jobs[i]);
        waits |= one_waits && !fm_engine_step(jobs[i]->set->engine);
    }
    return !waits && !fm_viewer_jobs_are_done(jobs, count);
}

bool fm_viewer_job_is_incomplete(const struct fm_viewer_job *job)
{
    return !fm_viewer_job_is_done(job) || job->provisional || job->reaches < job->end ||
           fm_viewer_set_is_behind(job->set);
}
