/* SPDX-License-Identifier: Apache-2.0 */
/* Ad hoc requests of a reader, with strict boundaries: between its before-chunk and after-chunk
 * hooks, a request receives exactly the events of its interval, each once, in order. Each step
 * reads one chunk. */
#include "engine/internal.h"

/* --- requests --- */

struct fm_events_request *fm_events_request_new(void *owner)
{
    struct fm_events_request *request = g_new0(struct fm_events_request, 1);
    request->owner = owner;
    request->viewer_data = owner;
    request->start_time = FM_TIME_INF;
    request->end_time = FM_TIME_INF;
    request->num_events = UINT64_MAX;
    request->trace = -1;
    return request;
}

static void free_request(void *data)
{
    struct fm_events_request *request = data;
    fm_position_free(request->start_position);
    fm_position_free(request->end_position);
    fm_hooks_free(request->before_request);
    fm_hooks_free(request->after_request);
    fm_chunk_hooks_done(&request->chunk);
    g_free(request);
}

bool fm_engine_reader_request(struct fm_engine_reader *reader, struct fm_events_request *request)
{
    g_assert(reader != NULL && request != NULL && !request->servicing && !request->attached);
    if (request->start_time == FM_TIME_INF && request->start_position == NULL) {
        free_request(request);
        return false;
    }
    request->sequence = reader->engine->sequence++;
    g_ptr_array_add(reader->list_out, request);
    return true;
}

unsigned fm_engine_reader_pending(const struct fm_engine_reader *reader)
{
    return reader->list_in->len + reader->list_out->len;
}

bool fm_engine_reader_is_registered(const struct fm_engine_reader *reader)
{
    return fm_engine_reader_pending(reader) > 0;
}

static void detach(struct fm_engine_reader *reader, struct fm_events_request *request)
{
    if (request->attached)
        fm_context_detach(reader->context, &request->chunk, request->trace);
    request->attached = false;
}

/* With `all` and owner NULL: withdraws every request. */
static void withdraw(struct fm_engine_reader *reader, const void *owner, bool all)
{
    for (unsigned i = reader->list_out->len; i-- > 0;) {
        const struct fm_events_request *request = g_ptr_array_index(reader->list_out, i);
        if (all || request->owner == owner)
            g_ptr_array_remove_index(reader->list_out, i);
    }
    for (unsigned i = 0; i < reader->list_in->len; i++) { /* not empty only inside a step */
        struct fm_events_request *request = g_ptr_array_index(reader->list_in, i);
        if (all || request->owner == owner) {
            request->withdrawn = true;
            detach(reader, request);
        }
    }
}

void fm_engine_reader_remove_all(struct fm_engine_reader *reader, const void *owner)
{
    withdraw(reader, owner, false);
}

void fm_engine_reader_stop(struct fm_engine_reader *reader)
{
    withdraw(reader, NULL, true);
}

/* --- readers --- */

struct fm_engine_reader *fm_engine_reader_new(struct fm_engine *engine)
{
    struct fm_engine_reader *reader = g_new0(struct fm_engine_reader, 1);
    reader->engine = engine;
    reader->traces = g_ptr_array_new();
    reader->list_out = g_ptr_array_new_with_free_func(free_request);
    reader->list_in = g_ptr_array_new_with_free_func(free_request);
    g_ptr_array_add(engine->readers, reader);
    return reader;
}

static void drop_context(struct fm_engine_reader *reader)
{
    g_clear_pointer(&reader->context, fm_context_free);
}

static void make_context(struct fm_engine_reader *reader)
{
    if (reader->traces->len == 0)
        return;
    reader->context =
        fm_context_new((struct fm_trace **)reader->traces->pdata, reader->traces->len);
    if (reader->permanent != NULL)
        fm_context_begin(reader->context, reader->permanent, -1);
    fm_context_seek_time(reader->context, reader->context->start_time);
    fm_context_save_sync(reader->context);
}

void fm_engine_reader_free(struct fm_engine_reader *reader)
{
    if (reader == NULL)
        return;
    g_return_if_fail(!reader->stepping);
    g_ptr_array_remove(reader->engine->readers, reader);
    g_ptr_array_unref(reader->list_out);
    g_ptr_array_unref(reader->list_in);
    drop_context(reader);
    for (unsigned i = 0; i < reader->traces->len; i++)
        fm_engine_close(reader->engine, g_ptr_array_index(reader->traces, i));
    g_ptr_array_unref(reader->traces);
    g_free(reader);
}

bool fm_engine_reader_add_trace(struct fm_engine_reader *reader, const char *path, GError **error)
{
    g_return_val_if_fail(!reader->stepping, false);
    struct fm_trace *trace = fm_engine_open(reader->engine, path, error);
    if (trace == NULL)
        return false;
    if (g_ptr_array_find(reader->traces, trace, NULL)) {
        fm_engine_close(reader->engine, trace);
        return true;
    }
    withdraw(reader, NULL, true); /* every position becomes invalid */
    drop_context(reader);
    g_ptr_array_add(reader->traces, trace);
    make_context(reader);
    return true;
}

void fm_engine_reader_share(struct fm_engine_reader *reader, const struct fm_engine_reader *with)
{
    g_return_if_fail(!reader->stepping && reader->engine == with->engine);
    withdraw(reader, NULL, true);
    drop_context(reader);
    for (unsigned i = 0; i < with->traces->len; i++) {
        struct fm_trace *trace = g_ptr_array_index(with->traces, i);
        if (g_ptr_array_find(reader->traces, trace, NULL))
            continue;
        fm_engine_background(reader->engine, trace)->references++;
        g_ptr_array_add(reader->traces, trace);
    }
    make_context(reader);
}

void fm_engine_reader_remove_trace(struct fm_engine_reader *reader, struct fm_trace *trace)
{
    g_return_if_fail(!reader->stepping);
    if (!g_ptr_array_find(reader->traces, trace, NULL))
        return;
    /* When no trace is left, the next step ends the active requests. */
    if (reader->traces->len > 1)
        withdraw(reader, NULL, true);
    drop_context(reader);
    g_ptr_array_remove(reader->traces, trace);
    fm_engine_close(reader->engine, trace);
    make_context(reader);
}

struct fm_context *fm_engine_reader_context(struct fm_engine_reader *reader)
{
    return reader->context;
}

void fm_engine_reader_set_state(struct fm_engine_reader *reader, fm_restore_state *restore,
                                void *user)
{
    reader->restore = restore;
    reader->restore_user = user;
}

void fm_engine_reader_set_permanent_hooks(struct fm_engine_reader *reader,
                                          const struct fm_chunk_hooks *hooks)
{
    reader->permanent = hooks;
    drop_context(reader);
    make_context(reader);
}

/* --- the step --- */

/* Start of a request in time, to choose the earliest. */
static uint64_t start_of(const struct fm_events_request *request)
{
    return request->start_position != NULL ? request->start_position->time : request->start_time;
}

static bool is_at_start(struct fm_engine_reader *reader, const struct fm_events_request *request)
{
    if (request->start_position != NULL)
        return fm_context_compare_position(reader->context, request->start_position) == 0;
    return fm_context_is_first_at(reader->context, request->start_time);
}

/* Returns the earliest request of one kind in list_out; NULL when there is none. */
static const struct fm_events_request *earliest(const struct fm_engine_reader *reader,
                                                bool by_position)
{
    const struct fm_events_request *best = NULL;
    for (unsigned i = 0; i < reader->list_out->len; i++) {
        const struct fm_events_request *request = g_ptr_array_index(reader->list_out, i);
        if ((request->start_position != NULL) != by_position)
            continue;
        if (best == NULL ||
            (by_position ? fm_position_compare(request->start_position, best->start_position) < 0
                         : request->start_time < best->start_time))
            best = request;
    }
    return best;
}

static bool starts_with(const struct fm_events_request *request,
                        const struct fm_events_request *chosen)
{
    if ((request->start_position != NULL) != (chosen->start_position != NULL))
        return false;
    return chosen->start_position != NULL
               ? fm_position_compare(request->start_position, chosen->start_position) == 0
               : request->start_time == chosen->start_time;
}

/* Reads up to the place with the permanent hooks only, so that their state is right there. */
static void seek_with_state(struct fm_engine_reader *reader,
                            const struct fm_events_request *request)
{
    if (reader->restore == NULL) {
        if (request->start_position != NULL)
            fm_context_seek_position(reader->context, request->start_position);
        else
            fm_context_seek_time(reader->context, request->start_time);
        return;
    }
    reader->restore(reader->context, start_of(request), reader->restore_user);
    if (request->start_position != NULL)
        fm_context_middle(reader->context, FM_TIME_INF, UINT64_MAX, request->start_position);
    else
        fm_context_middle(reader->context, request->start_time, UINT64_MAX, NULL);
}

/* The earliest requests become active, and the context moves to their start. */
static void choose(struct fm_engine_reader *reader)
{
    const struct fm_events_request *by_time = earliest(reader, false);
    const struct fm_events_request *by_position = earliest(reader, true);
    const struct fm_events_request *chosen = by_time;
    if (by_position != NULL && (by_time == NULL || start_of(by_position) < by_time->start_time))
        chosen = by_position;
    for (unsigned i = 0; i < reader->list_out->len;) {
        if (starts_with(g_ptr_array_index(reader->list_out, i), chosen))
            g_ptr_array_add(reader->list_in, g_ptr_array_steal_index(reader->list_out, i));
        else
            i++;
    }
    const struct fm_events_request *first = g_ptr_array_index(reader->list_in, 0);
    if (!is_at_start(reader, first))
        seek_with_state(reader, first);
}

static int by_sequence(gconstpointer a, gconstpointer b)
{
    const struct fm_events_request *left = *(struct fm_events_request *const *)a;
    const struct fm_events_request *right = *(struct fm_events_request *const *)b;
    return left->sequence < right->sequence ? -1 : left->sequence > right->sequence;
}

/* All requests that begin here become active, in order of submission. */
static void admit_and_begin(struct fm_engine_reader *reader)
{
    for (unsigned i = 0; i < reader->list_out->len;) {
        if (is_at_start(reader, g_ptr_array_index(reader->list_out, i)))
            g_ptr_array_add(reader->list_in, g_ptr_array_steal_index(reader->list_out, i));
        else
            i++;
    }
    g_ptr_array_sort(reader->list_in, by_sequence);
    for (unsigned i = 0; i < reader->list_in->len; i++) {
        struct fm_events_request *request = g_ptr_array_index(reader->list_in, i);
        if (!request->servicing && !request->withdrawn) {
            request->servicing = true;
            fm_hooks_call(request->before_request, reader->context);
        }
        if (!request->withdrawn) {
            request->in_chunk = true;
            fm_context_begin(reader->context, &request->chunk, request->trace);
            request->attached = true;
            if (request->withdrawn) /* by one of its own hooks */
                detach(reader, request);
        }
    }
}

struct limits {
    uint64_t end_time, max_events;
    const struct fm_position *end_position;
};

static void limit_position(struct limits *limits, const struct fm_position *position)
{
    if (limits->end_position == NULL || fm_position_compare(position, limits->end_position) < 0)
        limits->end_position = position;
}

/* The chunk ends wherever a request begins or ends. */
static void find_limits(struct fm_engine_reader *reader, struct limits *ret)
{
    *ret = (struct limits){FM_TIME_INF, reader->engine->chunk, NULL};
    for (unsigned i = 0; i < reader->list_in->len; i++) {
        const struct fm_events_request *request = g_ptr_array_index(reader->list_in, i);
        ret->end_time = MIN(ret->end_time, request->end_time);
        ret->max_events = MIN(ret->max_events, request->num_events);
        if (request->end_position != NULL)
            limit_position(ret, request->end_position);
    }
    for (unsigned i = 0; i < reader->list_out->len; i++) {
        const struct fm_events_request *request = g_ptr_array_index(reader->list_out, i);
        if (request->start_position == NULL) {
            if (request->start_time > fm_context_time(reader->context))
                ret->end_time = MIN(ret->end_time, request->start_time);
        } else if (fm_context_compare_position(reader->context, request->start_position) < 0) {
            limit_position(ret, request->start_position);
        }
    }
}

static bool is_finished(struct fm_engine_reader *reader, const struct fm_events_request *request)
{
    return request->num_events == 0 || request->stop || request->withdrawn ||
           fm_context_time(reader->context) >= request->end_time ||
           (request->end_position != NULL &&
            fm_context_compare_position(reader->context, request->end_position) >= 0);
}

/* After a chunk: calls the after hooks, and ends the requests that are finished. */
static void end_chunk(struct fm_engine_reader *reader, uint64_t count)
{
    bool at_end = reader->context->queue_count == 0;
    for (unsigned i = 0; i < reader->list_in->len;) {
        struct fm_events_request *request = g_ptr_array_index(reader->list_in, i);
        detach(reader, request);
        if (request->in_chunk)
            fm_context_after(reader->context, &request->chunk, request->trace);
        request->in_chunk = false;
        if (request->num_events != UINT64_MAX)
            request->num_events -= MIN(count, request->num_events);
        if (!at_end && !is_finished(reader, request)) {
            i++;
            continue;
        }
        if (!request->withdrawn)
            fm_hooks_call(request->after_request, reader->context);
        g_ptr_array_remove_index(reader->list_in, i);
    }
}

/* Unfinished requests become requests by position, so nothing is lost or repeated. */
static void put_back(struct fm_engine_reader *reader)
{
    for (unsigned i = 0; i < reader->list_in->len; i++) {
        struct fm_events_request *request = g_ptr_array_index(reader->list_in, i);
        fm_position_free(request->start_position);
        request->start_position = fm_context_save_position(reader->context);
        request->start_time = FM_TIME_INF;
    }
    while (reader->list_in->len > 0) {
        struct fm_events_request *request = g_ptr_array_steal_index(reader->list_in, 0);
        if (request->withdrawn) /* by the after hooks of another request */
            free_request(request);
        else
            g_ptr_array_add(reader->list_out, request);
    }
}

/* No trace is left to read: ends the active requests. */
static void end_all(struct fm_engine_reader *reader)
{
    while (reader->list_out->len > 0) {
        struct fm_events_request *request = g_ptr_array_steal_index(reader->list_out, 0);
        if (request->servicing)
            fm_hooks_call(request->after_request, NULL);
        free_request(request);
    }
}

bool fm_foreground_step(struct fm_engine_reader *reader)
{
    if (reader->list_out->len == 0)
        return false;
    if (reader->engine->disabled > 0)
        return true;
    if (reader->context == NULL) {
        end_all(reader);
        return false;
    }
    if (!fm_context_lock(reader->context))
        return true;
    reader->stepping = true;
    fm_context_restore_sync(reader->context);
    choose(reader);
    admit_and_begin(reader);
    struct limits limits;
    find_limits(reader, &limits);
    /* A hook may withdraw the request that the position belongs to. */
    struct fm_position *end_position =
        limits.end_position == NULL ? NULL : fm_position_copy(limits.end_position);
    uint64_t count =
        fm_context_middle(reader->context, limits.end_time, limits.max_events, end_position);
    fm_position_free(end_position);
    end_chunk(reader, count);
    put_back(reader);
    g_assert(reader->list_in->len == 0);
    fm_context_save_sync(reader->context);
    fm_context_unlock(reader->context);
    reader->stepping = false;
    return reader->list_out->len > 0;
}

const char *fm_engine_reader_check(const struct fm_engine_reader *reader)
{
    if (reader->list_in->len > 0)
        return "J1: list_in is empty between steps";
    for (unsigned i = 0; i < reader->list_out->len; i++) {
        const struct fm_events_request *request = g_ptr_array_index(reader->list_out, i);
        if (request->attached)
            return "J4: no viewer hook stays in the context between steps";
    }
    for (unsigned i = 0; i < reader->traces->len; i++) {
        const struct fm_trace *trace = g_ptr_array_index(reader->traces, i);
        if (trace->locked)
            return "between steps no trace is locked";
    }
    return NULL;
}
