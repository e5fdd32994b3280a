/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/core/trace.h"

#include "base/priority_queue.h"

/* --- merge queue: in the total order --- */

static bool comes_before(const void *first, const void *second)
{
    const struct fm_tracefile_context *a = first, *b = second;
    if (a->time != b->time)
        return a->time < b->time;
    if (a->tracefile->index != b->tracefile->index)
        return a->tracefile->index < b->tracefile->index;
    return a->trace_context->index < b->trace_context->index;
}

/* Takes the next event of the queue's first tracefile, and orders again. */
static void renew_first(struct fm_context *context)
{
    struct fm_tracefile_context *first = context->queue[0];
    struct fm_tracefile *tracefile = first->tracefile;
    bool more;
    if (tracefile->class_->next != NULL) {
        more = tracefile->class_->next(tracefile, &first->event);
    } else {
        tracefile->class_->advance(tracefile);
        more = tracefile->class_->peek(tracefile, &first->event);
    }
    if (more) {
        first->time = first->event.time;
    } else {
        first->time = FM_TIME_INF;
        context->queue[0] = context->queue[--context->queue_count];
    }
    if (context->queue_count > 1)
        fm_queue_sift_down(context->queue, context->queue_count, 0, comes_before);
}

/* Builds the queue from where the cursors stand. */
static void rebuild_queue(struct fm_context *context)
{
    context->queue_count = 0;
    for (unsigned i = 0; i < context->trace_count; i++) {
        struct fm_trace_context *trace = &context->traces[i];
        trace->trace->cursor_owner = context;
        for (unsigned j = 0; j < trace->tracefile_count; j++) {
            struct fm_tracefile_context *tracefile = &trace->tracefiles[j];
            bool more = tracefile->tracefile->class_->peek(tracefile->tracefile, &tracefile->event);
            tracefile->time = more ? tracefile->event.time : FM_TIME_INF;
            if (more)
                context->queue[context->queue_count++] = tracefile;
        }
    }
    fm_queue_make(context->queue, context->queue_count, comes_before);
    context->last_time_known = false;
}

/* --- making --- */

struct fm_context *fm_context_new(struct fm_trace *const *traces, unsigned count)
{
    struct fm_context *context = g_new0(struct fm_context, 1);
    context->traces = g_new0(struct fm_trace_context, count);
    context->trace_count = count;
    context->start_time = count > 0 ? FM_TIME_INF : 0;
    unsigned tracefile_count = 0;
    for (unsigned i = 0; i < count; i++) {
        struct fm_trace_context *trace = &context->traces[i];
        trace->context = context;
        trace->trace = traces[i];
        trace->index = i;
        trace->tracefile_count = traces[i]->tracefiles->len;
        trace->tracefiles = g_new0(struct fm_tracefile_context, trace->tracefile_count);
        for (unsigned j = 0; j < trace->tracefile_count; j++) {
            trace->tracefiles[j] = (struct fm_tracefile_context){
                .context = context,
                .trace_context = trace,
                .tracefile = g_ptr_array_index(traces[i]->tracefiles, j),
                .time = FM_TIME_INF,
                .event_hooks = fm_hooks_new(),
                .by_id = g_ptr_array_new_with_free_func((GDestroyNotify)fm_hooks_free),
            };
        }
        tracefile_count += trace->tracefile_count;
        context->start_time = MIN(context->start_time, traces[i]->start_time);
        context->end_time = MAX(context->end_time, traces[i]->end_time);
    }
    context->queue = g_new(void *, tracefile_count);
    return context;
}

void fm_context_free(struct fm_context *context)
{
    if (context == NULL)
        return;
    for (unsigned i = 0; i < context->trace_count; i++) {
        struct fm_trace_context *trace = &context->traces[i];
        if (trace->trace->cursor_owner == context) /* another may get its address */
            trace->trace->cursor_owner = NULL;
        for (unsigned j = 0; j < trace->tracefile_count; j++) {
            fm_hooks_free(trace->tracefiles[j].event_hooks);
            g_ptr_array_unref(trace->tracefiles[j].by_id);
        }
        g_free(trace->tracefiles);
    }
    fm_position_free(context->sync);
    g_free(context->traces);
    g_free(context->queue);
    g_free(context);
}

/* --- places --- */

uint64_t fm_context_time(const struct fm_context *context)
{
    if (context->queue_count == 0)
        return FM_TIME_INF;
    const struct fm_tracefile_context *first = context->queue[0];
    return first->time;
}

void fm_context_seek_time(struct fm_context *context, uint64_t time)
{
    for (unsigned i = 0; i < context->trace_count; i++) {
        struct fm_trace_context *trace = &context->traces[i];
        for (unsigned j = 0; j < trace->tracefile_count; j++) {
            struct fm_tracefile *tracefile = trace->tracefiles[j].tracefile;
            tracefile->class_->seek_time(tracefile, time);
        }
    }
    rebuild_queue(context);
}

static unsigned count_tracefiles(const struct fm_context *context)
{
    unsigned count = 0;
    for (unsigned i = 0; i < context->trace_count; i++)
        count += context->traces[i].tracefile_count;
    return count;
}

static struct fm_place place_of(const struct fm_tracefile_context *tracefile)
{
    bool exhausted = tracefile->time == FM_TIME_INF;
    return (struct fm_place){
        tracefile->time, exhausted ? 0 : tracefile->tracefile->class_->tell(tracefile->tracefile)};
}

static int compare_places(const struct fm_place *a, const struct fm_place *b)
{
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return (a->location > b->location) - (a->location < b->location);
}

struct fm_position *fm_context_save_position(const struct fm_context *context)
{
    unsigned count = count_tracefiles(context);
    struct fm_position *position =
        g_malloc(sizeof(struct fm_position) + count * sizeof(struct fm_place));
    position->time = fm_context_time(context);
    position->count = count;
    unsigned at = 0;
    for (unsigned i = 0; i < context->trace_count; i++) {
        for (unsigned j = 0; j < context->traces[i].tracefile_count; j++)
            position->places[at++] = place_of(&context->traces[i].tracefiles[j]);
    }
    return position;
}

struct fm_position *fm_position_copy(const struct fm_position *position)
{
    return g_memdup2(position, sizeof *position + position->count * sizeof(struct fm_place));
}

void fm_position_free(struct fm_position *position)
{
    g_free(position);
}

int fm_position_compare(const struct fm_position *a, const struct fm_position *b)
{
    g_return_val_if_fail(a->count == b->count, 0);
    int order = 0;
    for (unsigned i = 0; i < a->count && order == 0; i++)
        order = compare_places(&a->places[i], &b->places[i]);
    return order;
}

int fm_context_compare_position(const struct fm_context *context,
                                const struct fm_position *position)
{
    unsigned at = 0;
    for (unsigned i = 0; i < context->trace_count; i++) {
        for (unsigned j = 0; j < context->traces[i].tracefile_count; j++, at++) {
            g_return_val_if_fail(at < position->count, 0);
            struct fm_place here = place_of(&context->traces[i].tracefiles[j]);
            int order = compare_places(&here, &position->places[at]);
            if (order != 0)
                return order;
        }
    }
    return 0;
}

void fm_context_seek_position(struct fm_context *context, const struct fm_position *position)
{
    g_return_if_fail(position->count == count_tracefiles(context));
    unsigned at = 0;
    for (unsigned i = 0; i < context->trace_count; i++) {
        for (unsigned j = 0; j < context->traces[i].tracefile_count; j++, at++) {
            struct fm_tracefile *tracefile = context->traces[i].tracefiles[j].tracefile;
            const struct fm_place *place = &position->places[at];
            if (place->time == FM_TIME_INF)
                tracefile->class_->seek_time(tracefile, FM_TIME_INF);
            else
                tracefile->class_->seek(tracefile, place->time, place->location);
        }
    }
    rebuild_queue(context);
}

void fm_context_seek_trace(struct fm_context *context, const struct fm_trace *trace,
                           const struct fm_place *places, uint64_t time)
{
    for (unsigned i = 0; i < context->trace_count; i++) {
        if (context->traces[i].trace != trace)
            continue;
        for (unsigned j = 0; j < context->traces[i].tracefile_count; j++) {
            struct fm_tracefile *tracefile = context->traces[i].tracefiles[j].tracefile;
            if (places == NULL || places[j].time == FM_TIME_INF)
                tracefile->class_->seek_time(tracefile, places == NULL ? time : FM_TIME_INF);
            else
                tracefile->class_->seek(tracefile, places[j].time, places[j].location);
        }
    }
    rebuild_queue(context);
}

bool fm_context_is_first_at(struct fm_context *context, uint64_t time)
{
    if (fm_context_time(context) < time || context->queue_count == 0)
        return false;
    if (context->last_time_known)
        return context->last_time < time;
    struct fm_position *here = fm_context_save_position(context);
    fm_context_seek_time(context, time);
    bool is_first = fm_context_compare_position(context, here) == 0;
    fm_context_seek_position(context, here);
    fm_position_free(here);
    return is_first;
}

/* --- sharing --- */

bool fm_context_lock(struct fm_context *context)
{
    for (unsigned i = 0; i < context->trace_count; i++) {
        if (fm_trace_lock(context->traces[i].trace) != 0) {
            while (i-- > 0)
                fm_trace_unlock(context->traces[i].trace);
            return false;
        }
    }
    return true;
}

void fm_context_unlock(struct fm_context *context)
{
    for (unsigned i = 0; i < context->trace_count; i++)
        fm_trace_unlock(context->traces[i].trace);
}

void fm_context_restore_sync(struct fm_context *context)
{
    bool untouched = true;
    for (unsigned i = 0; i < context->trace_count; i++)
        untouched &= context->traces[i].trace->cursor_owner == context;
    if (context->sync != NULL && !untouched)
        fm_context_seek_position(context, context->sync);
}

void fm_context_renew(struct fm_context *context, const struct fm_trace *trace,
                      uint64_t old_end_time)
{
    bool first = true;
    for (unsigned i = 0, at = 0; i < context->trace_count; i++) {
        struct fm_trace_context *here = &context->traces[i];
        context->start_time =
            first ? here->trace->start_time : MIN(context->start_time, here->trace->start_time);
        context->end_time = MAX(context->end_time, here->trace->end_time);
        first = false;
        for (unsigned j = 0; j < here->tracefile_count; j++, at++) {
            struct fm_place *place = context->sync != NULL ? &context->sync->places[at] : NULL;
            if (here->trace != trace || place == NULL || place->time != FM_TIME_INF)
                continue;
            *place = (struct fm_place){old_end_time == FM_TIME_INF ? 0 : old_end_time + 1, 0};
            context->sync->time = MIN(context->sync->time, place->time);
        }
    }
    if (context->sync != NULL)
        fm_context_seek_position(context, context->sync);
}

void fm_context_save_sync(struct fm_context *context)
{
    fm_position_free(context->sync);
    context->sync = fm_context_save_position(context);
}

/* --- hooks of a reader --- */

static void add_by_id(uint32_t event_id, struct fm_hooks *hooks, void *user)
{
    GPtrArray *by_id = user;
    if (event_id >= by_id->len)
        g_ptr_array_set_size(by_id, (gint)event_id + 1);
    if (g_ptr_array_index(by_id, event_id) == NULL)
        g_ptr_array_index(by_id, event_id) = fm_hooks_new();
    fm_hooks_add_list(g_ptr_array_index(by_id, event_id), hooks);
}

static void remove_by_id(uint32_t event_id, struct fm_hooks *hooks, void *user)
{
    GPtrArray *by_id = user;
    if (event_id < by_id->len && g_ptr_array_index(by_id, event_id) != NULL)
        fm_hooks_remove_list(g_ptr_array_index(by_id, event_id), hooks);
}

void fm_context_begin(struct fm_context *context, const struct fm_chunk_hooks *hooks, int only)
{
    fm_hooks_call(hooks->before_traceset, context);
    for (unsigned i = 0; i < context->trace_count; i++) {
        if (only >= 0 && (unsigned)only != i)
            continue;
        struct fm_trace_context *trace = &context->traces[i];
        fm_hooks_call(hooks->before_trace, trace);
        for (unsigned j = 0; j < trace->tracefile_count; j++) {
            struct fm_tracefile_context *tracefile = &trace->tracefiles[j];
            fm_hooks_call(hooks->before_tracefile, tracefile);
            fm_hooks_add_list(tracefile->event_hooks, hooks->event);
            fm_hooks_by_id_each(hooks->event_by_id, tracefile->tracefile->channel, add_by_id,
                                tracefile->by_id);
        }
    }
}

void fm_context_detach(struct fm_context *context, const struct fm_chunk_hooks *hooks, int only)
{
    for (unsigned i = 0; i < context->trace_count; i++) {
        if (only >= 0 && (unsigned)only != i)
            continue;
        struct fm_trace_context *trace = &context->traces[i];
        for (unsigned j = 0; j < trace->tracefile_count; j++) {
            struct fm_tracefile_context *tracefile = &trace->tracefiles[j];
            fm_hooks_by_id_each(hooks->event_by_id, tracefile->tracefile->channel, remove_by_id,
                                tracefile->by_id);
            fm_hooks_remove_list(tracefile->event_hooks, hooks->event);
        }
    }
}

void fm_context_after(struct fm_context *context, const struct fm_chunk_hooks *hooks, int only)
{
    for (unsigned i = 0; i < context->trace_count; i++) {
        if (only >= 0 && (unsigned)only != i)
            continue;
        struct fm_trace_context *trace = &context->traces[i];
        for (unsigned j = 0; j < trace->tracefile_count; j++)
            fm_hooks_call(hooks->after_tracefile, &trace->tracefiles[j]);
        fm_hooks_call(hooks->after_trace, trace);
    }
    fm_hooks_call(hooks->after_traceset, context);
}

/* --- the reading primitive --- */

uint64_t fm_context_middle(struct fm_context *context, uint64_t end_time, uint64_t max_events,
                           const struct fm_position *end_position)
{
    uint64_t count = 0;
    bool stop = false;
    while (!stop && count < max_events && context->queue_count > 0) {
        struct fm_tracefile_context *first = context->queue[0];
        if (first->time >= end_time)
            break;
        /* Before its time nothing can be at the position: the comparison is for equal times. */
        if (end_position != NULL && first->time >= end_position->time &&
            fm_context_compare_position(context, end_position) >= 0)
            break;
        count++;
        context->last_time = first->time;
        context->last_time_known = true;
        uint32_t id = first->event.id;
        struct fm_hooks *by_id =
            id < first->by_id->len ? g_ptr_array_index(first->by_id, id) : NULL;
        stop = by_id == NULL ? fm_hooks_call(first->event_hooks, first)
                             : fm_hooks_call_merge(first->event_hooks, first, by_id, first);
        renew_first(context);
    }
    return count;
}

uint64_t fm_trace_each_event(struct fm_trace *trace, uint64_t start_time, uint64_t end_time,
                             struct fm_hooks *hooks)
{
    g_return_val_if_fail(trace != NULL && hooks != NULL, 0);
    const struct fm_chunk_hooks chunk = {.event = hooks};
    struct fm_context *context = fm_context_new(&trace, 1);
    fm_context_seek_time(context, start_time);
    fm_context_begin(context, &chunk, -1);
    uint64_t count = fm_context_middle(context, end_time, UINT64_MAX, NULL);
    fm_context_detach(context, &chunk, -1);
    fm_context_free(context);
    fm_hooks_free(hooks);
    return count;
}
