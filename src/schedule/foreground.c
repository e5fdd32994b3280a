/* SPDX-License-Identifier: Apache-2.0 */
/* Ad hoc requests of a tab, with strict boundaries: between its before-chunk and after-chunk hooks
 * a request receives exactly the events of its interval, each once, in order. One chunk a step. */
#include "schedule/internal.h"

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
    fm_chunk_hooks_clear(&request->chunk);
    g_free(request);
}

bool fm_tab_request(struct fm_tab *tab, struct fm_events_request *request)
{
    if (request->start_time == FM_TIME_INF && request->start_position == NULL) {
        free_request(request);
        return false;
    }
    request->sequence = tab->engine->sequence++;
    g_ptr_array_add(tab->list_out, request);
    return true;
}

unsigned fm_tab_pending(const struct fm_tab *tab)
{
    return tab->list_in->len + tab->list_out->len;
}

bool fm_tab_is_registered(const struct fm_tab *tab)
{
    return fm_tab_pending(tab) > 0;
}

static void detach(struct fm_tab *tab, struct fm_events_request *request)
{
    if (request->attached)
        fm_context_detach(tab->context, &request->chunk, request->trace);
    request->attached = false;
}

/* owner NULL with all = every request. */
static void withdraw(struct fm_tab *tab, const void *owner, bool all)
{
    for (unsigned i = tab->list_out->len; i-- > 0;) {
        const struct fm_events_request *request = g_ptr_array_index(tab->list_out, i);
        if (all || request->owner == owner)
            g_ptr_array_remove_index(tab->list_out, i);
    }
    for (unsigned i = 0; i < tab->list_in->len; i++) { /* only from inside a step */
        struct fm_events_request *request = g_ptr_array_index(tab->list_in, i);
        if (all || request->owner == owner) {
            request->withdrawn = true;
            detach(tab, request);
        }
    }
}

void fm_tab_remove_all(struct fm_tab *tab, const void *owner)
{
    withdraw(tab, owner, false);
}

void fm_tab_stop(struct fm_tab *tab)
{
    withdraw(tab, NULL, true);
}

/* --- tabs --- */

struct fm_tab *fm_tab_new(struct fm_engine *engine)
{
    struct fm_tab *tab = g_new0(struct fm_tab, 1);
    tab->engine = engine;
    tab->traces = g_ptr_array_new();
    tab->list_out = g_ptr_array_new_with_free_func(free_request);
    tab->list_in = g_ptr_array_new_with_free_func(free_request);
    g_ptr_array_add(engine->tabs, tab);
    return tab;
}

static void drop_context(struct fm_tab *tab)
{
    g_clear_pointer(&tab->context, fm_context_free);
}

static void make_context(struct fm_tab *tab)
{
    if (tab->traces->len == 0)
        return;
    tab->context = fm_context_new((struct fm_trace **)tab->traces->pdata, tab->traces->len);
    if (tab->permanent != NULL)
        fm_context_begin(tab->context, tab->permanent, -1);
    fm_context_seek_time(tab->context, tab->context->start_time);
    fm_context_save_sync(tab->context);
}

void fm_tab_free(struct fm_tab *tab)
{
    if (tab == NULL)
        return;
    g_return_if_fail(!tab->stepping);
    g_ptr_array_remove(tab->engine->tabs, tab);
    g_ptr_array_unref(tab->list_out);
    g_ptr_array_unref(tab->list_in);
    drop_context(tab);
    for (unsigned i = 0; i < tab->traces->len; i++)
        fm_engine_close(tab->engine, g_ptr_array_index(tab->traces, i));
    g_ptr_array_unref(tab->traces);
    g_free(tab);
}

bool fm_tab_add_trace(struct fm_tab *tab, const char *path, GError **error)
{
    g_return_val_if_fail(!tab->stepping, false);
    struct fm_trace *trace = fm_engine_open(tab->engine, path, error);
    if (trace == NULL)
        return false;
    if (g_ptr_array_find(tab->traces, trace, NULL)) {
        fm_engine_close(tab->engine, trace);
        return true;
    }
    withdraw(tab, NULL, true); /* every position is about to be invalid */
    drop_context(tab);
    g_ptr_array_add(tab->traces, trace);
    make_context(tab);
    return true;
}

void fm_tab_share(struct fm_tab *tab, const struct fm_tab *with)
{
    g_return_if_fail(!tab->stepping && tab->engine == with->engine);
    withdraw(tab, NULL, true);
    drop_context(tab);
    for (unsigned i = 0; i < with->traces->len; i++) {
        struct fm_trace *trace = g_ptr_array_index(with->traces, i);
        if (g_ptr_array_find(tab->traces, trace, NULL))
            continue;
        fm_engine_background(tab->engine, trace)->references++;
        g_ptr_array_add(tab->traces, trace);
    }
    make_context(tab);
}

void fm_tab_remove_trace(struct fm_tab *tab, struct fm_trace *trace)
{
    g_return_if_fail(!tab->stepping);
    if (!g_ptr_array_find(tab->traces, trace, NULL))
        return;
    /* What was begun is ended when there is nothing left to read: the step does it. */
    if (tab->traces->len > 1)
        withdraw(tab, NULL, true);
    drop_context(tab);
    g_ptr_array_remove(tab->traces, trace);
    fm_engine_close(tab->engine, trace);
    make_context(tab);
}

struct fm_context *fm_tab_context(struct fm_tab *tab)
{
    return tab->context;
}

void fm_tab_set_state(struct fm_tab *tab, fm_restore_state *restore, void *user)
{
    tab->restore = restore;
    tab->restore_user = user;
}

void fm_tab_set_permanent_hooks(struct fm_tab *tab, const struct fm_chunk_hooks *hooks)
{
    tab->permanent = hooks;
    drop_context(tab);
    make_context(tab);
}

/* --- the step --- */

/* The place of a request in time, to choose the earliest. */
static uint64_t start_of(const struct fm_events_request *request)
{
    return request->start_position != NULL ? request->start_position->time : request->start_time;
}

static bool is_at_start(struct fm_tab *tab, const struct fm_events_request *request)
{
    if (request->start_position != NULL)
        return fm_context_compare_position(tab->context, request->start_position) == 0;
    return fm_context_is_first_at(tab->context, request->start_time);
}

/* The earliest of one kind in list_out, NULL when there is none. */
static const struct fm_events_request *earliest(const struct fm_tab *tab, bool by_position)
{
    const struct fm_events_request *best = NULL;
    for (unsigned i = 0; i < tab->list_out->len; i++) {
        const struct fm_events_request *request = g_ptr_array_index(tab->list_out, i);
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

/* Runs up to the place with the permanent hooks alone, so that they know the state there. */
static void seek_with_state(struct fm_tab *tab, const struct fm_events_request *request)
{
    if (tab->restore == NULL) {
        if (request->start_position != NULL)
            fm_context_seek_position(tab->context, request->start_position);
        else
            fm_context_seek_time(tab->context, request->start_time);
        return;
    }
    tab->restore(tab->context, start_of(request), tab->restore_user);
    if (request->start_position != NULL)
        fm_context_middle(tab->context, FM_TIME_INF, UINT64_MAX, request->start_position);
    else
        fm_context_middle(tab->context, request->start_time, UINT64_MAX, NULL);
}

/* 1: the earliest requests become active, and the context goes where they begin. */
static void choose(struct fm_tab *tab)
{
    const struct fm_events_request *by_time = earliest(tab, false);
    const struct fm_events_request *by_position = earliest(tab, true);
    const struct fm_events_request *chosen = by_time;
    if (by_position != NULL && (by_time == NULL || start_of(by_position) < by_time->start_time))
        chosen = by_position;
    for (unsigned i = 0; i < tab->list_out->len;) {
        if (starts_with(g_ptr_array_index(tab->list_out, i), chosen))
            g_ptr_array_add(tab->list_in, g_ptr_array_steal_index(tab->list_out, i));
        else
            i++;
    }
    const struct fm_events_request *first = g_ptr_array_index(tab->list_in, 0);
    if (!is_at_start(tab, first))
        seek_with_state(tab, first);
}

static int by_sequence(gconstpointer a, gconstpointer b)
{
    const struct fm_events_request *left = *(struct fm_events_request *const *)a;
    const struct fm_events_request *right = *(struct fm_events_request *const *)b;
    return left->sequence < right->sequence ? -1 : left->sequence > right->sequence;
}

/* 1.3 and 2: all that begin here join, in order of submission. */
static void admit_and_begin(struct fm_tab *tab)
{
    for (unsigned i = 0; i < tab->list_out->len;) {
        if (is_at_start(tab, g_ptr_array_index(tab->list_out, i)))
            g_ptr_array_add(tab->list_in, g_ptr_array_steal_index(tab->list_out, i));
        else
            i++;
    }
    g_ptr_array_sort(tab->list_in, by_sequence);
    for (unsigned i = 0; i < tab->list_in->len; i++) {
        struct fm_events_request *request = g_ptr_array_index(tab->list_in, i);
        if (!request->servicing && !request->withdrawn) {
            request->servicing = true;
            fm_hooks_call(request->before_request, tab->context);
        }
        if (!request->withdrawn) {
            request->in_chunk = true;
            fm_context_begin(tab->context, &request->chunk, request->trace);
            request->attached = true;
            if (request->withdrawn) /* by its own hook */
                detach(tab, request);
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

/* 3: the read is cut wherever some request begins or ends. */
static void find_limits(struct fm_tab *tab, struct limits *ret)
{
    *ret = (struct limits){FM_TIME_INF, tab->engine->chunk, NULL};
    for (unsigned i = 0; i < tab->list_in->len; i++) {
        const struct fm_events_request *request = g_ptr_array_index(tab->list_in, i);
        ret->end_time = MIN(ret->end_time, request->end_time);
        ret->max_events = MIN(ret->max_events, request->num_events);
        if (request->end_position != NULL)
            limit_position(ret, request->end_position);
    }
    for (unsigned i = 0; i < tab->list_out->len; i++) {
        const struct fm_events_request *request = g_ptr_array_index(tab->list_out, i);
        if (request->start_position == NULL) {
            if (request->start_time > fm_context_time(tab->context))
                ret->end_time = MIN(ret->end_time, request->start_time);
        } else if (fm_context_compare_position(tab->context, request->start_position) < 0) {
            limit_position(ret, request->start_position);
        }
    }
}

static bool is_finished(struct fm_tab *tab, const struct fm_events_request *request)
{
    return request->num_events == 0 || request->stop || request->withdrawn ||
           fm_context_time(tab->context) >= request->end_time ||
           (request->end_position != NULL &&
            fm_context_compare_position(tab->context, request->end_position) >= 0);
}

/* 5 */
static void end_chunk(struct fm_tab *tab, uint64_t count)
{
    bool at_end = tab->context->queue_count == 0;
    for (unsigned i = 0; i < tab->list_in->len;) {
        struct fm_events_request *request = g_ptr_array_index(tab->list_in, i);
        detach(tab, request);
        if (request->in_chunk)
            fm_context_after(tab->context, &request->chunk, request->trace);
        request->in_chunk = false;
        if (request->num_events != UINT64_MAX)
            request->num_events -= MIN(count, request->num_events);
        if (!at_end && !is_finished(tab, request)) {
            i++;
            continue;
        }
        if (!request->withdrawn)
            fm_hooks_call(request->after_request, tab->context);
        g_ptr_array_remove_index(tab->list_in, i);
    }
}

/* B: a request that goes on becomes a request by position: nothing is lost or repeated. */
static void put_back(struct fm_tab *tab)
{
    for (unsigned i = 0; i < tab->list_in->len; i++) {
        struct fm_events_request *request = g_ptr_array_index(tab->list_in, i);
        fm_position_free(request->start_position);
        request->start_position = fm_context_save_position(tab->context);
        request->start_time = FM_TIME_INF;
    }
    while (tab->list_in->len > 0) {
        struct fm_events_request *request = g_ptr_array_steal_index(tab->list_in, 0);
        if (request->withdrawn) /* by the after hooks of another one */
            free_request(request);
        else
            g_ptr_array_add(tab->list_out, request);
    }
}

/* No trace is left to read: what was begun is ended. */
static void end_all(struct fm_tab *tab)
{
    while (tab->list_out->len > 0) {
        struct fm_events_request *request = g_ptr_array_steal_index(tab->list_out, 0);
        if (request->servicing)
            fm_hooks_call(request->after_request, NULL);
        free_request(request);
    }
}

bool fm_foreground_step(struct fm_tab *tab)
{
    if (tab->list_out->len == 0)
        return false;
    if (tab->engine->disabled > 0)
        return true;
    if (tab->context == NULL) {
        end_all(tab);
        return false;
    }
    if (!fm_context_lock(tab->context))
        return true;
    tab->stepping = true;
    fm_context_restore_sync(tab->context);
    choose(tab);
    admit_and_begin(tab);
    struct limits limits;
    find_limits(tab, &limits);
    /* A hook may withdraw the request that the position belongs to. */
    struct fm_position *end_position =
        limits.end_position == NULL ? NULL : fm_position_copy(limits.end_position);
    uint64_t count =
        fm_context_middle(tab->context, limits.end_time, limits.max_events, end_position);
    fm_position_free(end_position);
    end_chunk(tab, count);
    put_back(tab);
    fm_context_save_sync(tab->context);
    fm_context_unlock(tab->context);
    tab->stepping = false;
    return tab->list_out->len > 0;
}

const char *fm_tab_check(const struct fm_tab *tab)
{
    if (tab->list_in->len > 0)
        return "J1: list_in is empty between steps";
    for (unsigned i = 0; i < tab->list_out->len; i++) {
        const struct fm_events_request *request = g_ptr_array_index(tab->list_out, i);
        if (request->attached)
            return "J4: no viewer hook stays in the context between steps";
    }
    for (unsigned i = 0; i < tab->traces->len; i++) {
        const struct fm_trace *trace = g_ptr_array_index(tab->traces, i);
        if (trace->locked)
            return "between steps no trace is locked";
    }
    return NULL;
}
