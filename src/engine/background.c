/* SPDX-License-Identifier: Apache-2.0 */
/* Background computations: a pass over a whole trace for all modules that were requested before it
 * began. */
#include <string.h>

#include "engine/hold.h"
#include "engine/internal.h"

/* --- computations --- */

void fm_chunk_hooks_done(struct fm_chunk_hooks *hooks)
{
    fm_hooks_free(hooks->before_traceset);
    fm_hooks_free(hooks->before_trace);
    fm_hooks_free(hooks->before_tracefile);
    fm_hooks_free(hooks->event);
    fm_hooks_by_id_free(hooks->event_by_id);
    fm_hooks_free(hooks->after_tracefile);
    fm_hooks_free(hooks->after_trace);
    fm_hooks_free(hooks->after_traceset);
    *hooks = (struct fm_chunk_hooks){0};
}

static void clear_computation(struct fm_computation *computation)
{
    fm_hooks_free(computation->before_request);
    fm_hooks_free(computation->after_request);
    fm_chunk_hooks_done(&computation->chunk);
    fm_hooks_free(computation->adder);
    fm_hooks_free(computation->remover);
    fm_hooks_free(computation->publish);
}

void fm_computation_free(struct computation *computation)
{
    clear_computation(&computation->hooks);
    g_free(computation->name);
    g_free(computation);
}

bool fm_engine_register_computation(struct fm_engine *engine, const char *module,
                                    struct fm_computation *computation)
{
    if (g_hash_table_contains(engine->computations, module)) {
        clear_computation(computation);
        return false;
    }
    struct computation *registered = g_new(struct computation, 1);
    *registered = (struct computation){g_strdup(module), *computation};
    g_hash_table_insert(engine->computations, registered->name, registered);
    return true;
}

/* --- flags: a module's state is an attribute of the trace --- */

static bool has_flag(const struct fm_trace *trace, const char *module, const char *flag)
{
    g_autofree char *path = g_strdup_printf("computation/%s/%s", module, flag);
    return fm_attributes_has(trace->attributes, path);
}

void fm_background_set_flag(struct fm_trace *trace, const char *module, const char *flag,
                            bool value)
{
    g_autofree char *path = g_strdup_printf("computation/%s/%s", module, flag);
    if (value)
        fm_attributes_set(trace->attributes, path, NULL, NULL);
    else
        fm_attributes_remove(trace->attributes, path);
}

/* The attribute's value is the error text. */
static void set_failed(struct fm_trace *trace, const char *module, const GError *error)
{
    g_autofree char *path = g_strdup_printf("computation/%s/failed", module);
    fm_attributes_set(trace->attributes, path, g_error_copy(error), (GDestroyNotify)g_error_free);
}

const GError *fm_background_error(const struct fm_trace *trace, const char *module)
{
    g_autofree char *path = g_strdup_printf("computation/%s/failed", module);
    return fm_attributes_get(trace->attributes, path);
}

bool fm_background_is_ready(const struct fm_trace *trace, const char *module)
{
    return has_flag(trace, module, "ready");
}

bool fm_background_is_in_progress(const struct fm_trace *trace, const char *module)
{
    return has_flag(trace, module, "in_progress");
}

/* --- requests --- */

/* Moves all elements of one array to the end of another; arrays own their elements. */
static void move_all(GPtrArray *to, GPtrArray *from)
{
    while (from->len > 0)
        g_ptr_array_add(to, g_ptr_array_steal_index(from, 0));
}

struct background_request *fm_background_find_request(GPtrArray *list, const char *module,
                                                      unsigned *ret_index)
{
    for (unsigned i = 0; i < list->len; i++) {
        struct background_request *request = g_ptr_array_index(list, i);
        if (strcmp(request->computation->name, module) == 0) {
            *ret_index = i;
            return request;
        }
    }
    return NULL;
}

struct background *fm_background_new(struct fm_engine *engine, struct fm_trace *trace)
{
    struct background *background = g_new0(struct background, 1);
    background->engine = engine;
    background->trace = trace;
    background->context = fm_context_new(&trace, 1);
    background->list_out = g_ptr_array_new_with_free_func(g_free);
    background->list_in = g_ptr_array_new_with_free_func(g_free);
    background->notify_out = g_ptr_array_new_with_free_func(fm_notify_free);
    background->notify_in = g_ptr_array_new_with_free_func(fm_notify_free);
    background->watches = g_ptr_array_new_with_free_func(fm_watch_free);
    return background;
}

static bool is_registered(const struct background *background)
{
    return background->list_in->len + background->list_out->len > 0;
}

bool fm_background_has_work(const struct background *background)
{
    return !background->waiting && is_registered(background);
}

/* Requests the computations that this one needs. FM_REQUEST_READY when nothing is missing. */
static enum fm_request_result request_needs(struct background *background,
                                            const struct computation *computation)
{
    for (const char *const *need = computation->hooks.needs; need != NULL && *need != NULL;
         need++) {
        enum fm_request_result result =
            fm_background_request(background->engine, background->trace, *need);
        if (result == FM_REQUEST_NO_MODULE || result == FM_REQUEST_FAILED)
            return result;
    }
    return FM_REQUEST_READY;
}

enum fm_request_result fm_background_request(struct fm_engine *engine, struct fm_trace *trace,
                                             const char *module)
{
    g_assert(engine != NULL && trace != NULL && module != NULL);
    struct computation *computation = g_hash_table_lookup(engine->computations, module);
    struct background *background = fm_engine_background(engine, trace);
    unsigned index;
    if (computation == NULL || background == NULL || background->closing)
        return FM_REQUEST_NO_MODULE;
    if (fm_background_is_ready(trace, module))
        return FM_REQUEST_READY;
    if (fm_background_error(trace, module) != NULL)
        return FM_REQUEST_FAILED;
    if (fm_background_find_request(background->list_in, module, &index) != NULL)
        return FM_REQUEST_IN_PROGRESS;
    if (fm_background_find_request(background->list_out, module, &index) != NULL)
        return FM_REQUEST_QUEUED_BEFORE;
    if (computation->hooks.found != NULL && computation->hooks.found(trace)) {
        fm_background_set_flag(trace, module, "ready", true);
        return FM_REQUEST_READY;
    }
    enum fm_request_result needs = request_needs(background, computation);
    if (needs != FM_REQUEST_READY)
        return needs;
    struct background_request *request = g_new0(struct background_request, 1);
    request->computation = computation;
    g_ptr_array_add(background->list_out, request);
    if (background->following) /* it has nothing to wait for */
        background->waiting = false;
    return FM_REQUEST_QUEUED;
}

bool fm_background_find(struct fm_engine *engine, struct fm_trace *trace, const char *module)
{
    struct background *background = fm_engine_background(engine, trace);
    unsigned index;
    return background != NULL &&
           fm_background_find_request(background->list_out, module, &index) != NULL;
}

/* --- the step --- */

static void collect_and_call(struct background *background, bool adders)
{
    struct fm_hooks *all = fm_hooks_new();
    for (unsigned i = 0; i < background->list_in->len; i++) {
        const struct background_request *request = g_ptr_array_index(background->list_in, i);
        const struct fm_computation *hooks = &request->computation->hooks;
        fm_hooks_add_list(all, adders ? hooks->adder : hooks->remover);
    }
    fm_hooks_call(all, background->context);
    fm_hooks_free(all);
}

const struct fm_step_work *fm_background_work(GPtrArray *list, unsigned index)
{
    const struct background_request *request = g_ptr_array_index(list, index);
    return &request->computation->hooks.work;
}

/* Takes from list_out the requests of the next pass: all that read events, up to the first one that
 * works in steps; or that one alone. So the computations that another one needs are done before
 * it. */
static void choose_pass(struct background *background)
{
    bool alone = fm_background_work(background->list_out, 0)->step != NULL;
    do {
        g_ptr_array_add(background->list_in, g_ptr_array_steal_index(background->list_out, 0));
    } while (!alone && background->list_out->len > 0 &&
             fm_background_work(background->list_out, 0)->step == NULL);
}

/* Begins a pass: chooses its requests, calls their before_request hooks, seeks to the beginning,
 * adds their event hooks. */
static void begin_pass(struct background *background)
{
    g_assert(background->list_in->len == 0 && background->list_out->len > 0);
    choose_pass(background);
    g_assert(background->list_in->len > 0);
    for (unsigned i = 0; i < background->list_in->len; i++) {
        struct background_request *request = g_ptr_array_index(background->list_in, i);
        fm_background_set_flag(background->trace, request->computation->name, "in_progress", true);
        fm_hooks_call(request->computation->hooks.before_request, background->context);
    }
    fm_context_seek_time(background->context, 0);
    move_all(background->notify_in, background->notify_out);
    collect_and_call(background, true);
}

/* Does not move the cursors, because a hook of a reader in the middle of a chunk may have caused
 * this. The next pass seeks to the beginning. */
static void reset_context(struct background *background)
{
    fm_context_free(background->context);
    background->context = fm_context_new(&background->trace, 1);
}

/* Ends a pass: removes the event hooks, marks the modules ready, calls after_request hooks and
 * notifications. */
static void end_pass(struct background *background)
{
    g_assert(background->stepping && !background->pass_over);
    background->pass_over = true;
    background->following = false;
    collect_and_call(background, false);
    while (background->list_in->len > 0) {
        struct background_request *request = g_ptr_array_index(background->list_in, 0);
        const char *name = request->computation->name;
        fm_background_set_flag(background->trace, name, "in_progress", false);
        fm_background_set_flag(background->trace, name, "ready", true);
        fm_hooks_call(request->computation->hooks.after_request, background->context);
        g_ptr_array_remove(background->list_in, request);
    }
    while (background->notify_in->len > 0)
        fm_notify_fire(background, 0);
    background->pass_over = false;
    reset_context(background);
}

static bool needs(const struct computation *computation, const char *module)
{
    for (const char *const *need = computation->hooks.needs; need != NULL && *need != NULL; need++)
        if (strcmp(*need, module) == 0)
            return true;
    return false;
}

/* Modules that wait for a failed module fail, too, and so do those that wait for them. */
static void fail_waiting(struct background *background, const char *module, const GError *error)
{
    for (unsigned i = 0; i < background->list_out->len;) {
        struct background_request *request = g_ptr_array_index(background->list_out, i);
        if (!needs(request->computation, module)) {
            i++;
            continue;
        }
        request = g_ptr_array_steal_index(background->list_out, i);
        set_failed(background->trace, request->computation->name, error);
        fail_waiting(background, request->computation->name, error);
        g_free(request);
        i = 0; /* the call may have changed the list */
    }
}

/* Ends a pass of work in steps that failed. */
static void fail_pass(struct background *background, const GError *error)
{
    background->pass_over = true;
    struct background_request *request = g_ptr_array_index(background->list_in, 0);
    fm_background_set_flag(background->trace, request->computation->name, "in_progress", false);
    set_failed(background->trace, request->computation->name, error);
    fm_hooks_call(request->computation->hooks.after_request, background->context);
    fail_waiting(background, request->computation->name, error);
    g_ptr_array_remove(background->list_in, request);
    while (background->notify_in->len > 0)
        fm_notify_fire(background, 0);
    background->pass_over = false;
    reset_context(background);
}

/* Ends a pass whose requests have all been aborted. */
void fm_background_abandon_pass(struct background *background)
{
    for (unsigned i = background->notify_in->len; i-- > 0;)
        g_ptr_array_insert(background->notify_out, 0,
                           g_ptr_array_steal_index(background->notify_in, i));
    reset_context(background);
}

static void read_chunk(struct background *background)
{
    struct fm_context *context = background->context;
    GPtrArray *list = background->list_in;
    g_assert(list->len > 0 && background->engine->chunk > 0);
    for (unsigned i = 0; i < list->len; i++) {
        struct background_request *request = g_ptr_array_index(list, i);
        fm_context_begin(context, &request->computation->hooks.chunk, -1);
        request->attached = true;
    }
    fm_context_middle(context, FM_TIME_INF, background->engine->chunk, NULL);
    for (unsigned i = 0; i < list->len; i++) {
        struct background_request *request = g_ptr_array_index(list, i);
        fm_context_detach(context, &request->computation->hooks.chunk, -1);
        request->attached = false;
        fm_context_after(context, &request->computation->hooks.chunk, -1);
    }
}

/* Whether the pass has reached the end of the known part while more is sure to come. */
static bool must_wait(const struct background *background)
{
    enum fm_trace_growth growth = fm_trace_growth(background->trace);
    if (background->list_in->len == 0) /* blocks of any time may still be found */
        return growth == FM_TRACE_SEARCHED &&
               fm_background_work(background->list_out, 0)->step == NULL;
    return growth == FM_TRACE_SEARCHED || growth == FM_TRACE_ARRIVING;
}

/* --- following a trace that is being written --- */

static bool can_follow(const struct background *background)
{
    if (!background->engine->follows || background->list_in->len == 0 ||
        fm_trace_growth(background->trace) != FM_TRACE_LIVE)
        return false;
    for (unsigned i = 0; i < background->list_in->len; i++) {
        const struct background_request *request = g_ptr_array_index(background->list_in, i);
        if (request->computation->hooks.publish == NULL)
            return false;
    }
    return true;
}

bool fm_background_follows(struct fm_engine *engine, struct fm_trace *trace)
{
    const struct background *background = fm_engine_background(engine, trace);
    return background != NULL && can_follow(background);
}

void fm_background_break_off(struct background *background)
{
    while (background->list_in->len > 0) {
        struct background_request *request = g_ptr_array_index(background->list_in, 0);
        fm_background_set_flag(background->trace, request->computation->name, "in_progress", false);
        fm_background_set_flag(background->trace, request->computation->name, "ready", false);
        fm_hooks_call(request->computation->hooks.after_request, background->context);
        g_ptr_array_remove(background->list_in, request);
    }
    background->following = false;
}

/* Of a pass that follows, as another module wants one: all are made in the next. */
static void stop_following(struct background *background)
{
    g_assert(background->following && !background->stepping);
    g_autoptr(GPtrArray) again = g_ptr_array_new_with_free_func(g_free);
    for (unsigned i = 0; i < background->list_in->len; i++) {
        const struct background_request *request = g_ptr_array_index(background->list_in, i);
        g_ptr_array_add(again, g_strdup(request->computation->name));
    }
    background->closing = true; /* hooks may make no requests */
    fm_background_break_off(background);
    background->closing = false;
    fm_background_abandon_pass(background);
    for (unsigned i = 0; i < again->len; i++)
        fm_background_request(background->engine, background->trace, g_ptr_array_index(again, i));
}

static void publish(struct background *background)
{
    bool first = !background->following;
    background->following = true;
    for (unsigned i = 0; i < background->list_in->len; i++) {
        const struct background_request *request = g_ptr_array_index(background->list_in, i);
        const char *name = request->computation->name;
        fm_hooks_call(request->computation->hooks.publish, background->context);
        if (!first)
            continue;
        fm_background_set_flag(background->trace, name, "in_progress", false);
        fm_background_set_flag(background->trace, name, "ready", true);
    }
    while (first && background->notify_in->len > 0)
        fm_notify_fire(background, 0);
}

static void step_events(struct background *background)
{
    read_chunk(background);
    bool at_end = background->context->queue_count == 0;
    if (!at_end)
        fm_notify_fire_due(background);
    at_end = at_end || fm_context_time(background->context) > background->trace->end_time;
    bool follows = (at_end || background->following) && can_follow(background);
    if (follows)
        publish(background);
    if (at_end && (follows || must_wait(background)))
        background->waiting = true;
    else if (at_end)
        end_pass(background);
}

static void step_work(struct background *background)
{
    g_autoptr(GError) error = NULL;
    const struct background_request *request = g_ptr_array_index(background->list_in, 0);
    if (fm_schedule_is_held(request->computation->name))
        return;
    const struct fm_step_work *work = fm_background_work(background->list_in, 0);
    enum fm_step_state state = work->step(background->trace, work->user, FM_STEP_WORK_US, &error);
    if (state == FM_STEP_MORE)
        return;
    if (state == FM_STEP_DONE)
        end_pass(background);
    else
        fail_pass(background, error);
}

bool fm_background_step(struct fm_engine *engine, struct fm_trace *trace)
{
    struct background *background = fm_engine_background(engine, trace);
    if (background == NULL || !fm_background_has_work(background))
        return false;
    if (background->list_in->len == 0 && must_wait(background)) {
        background->waiting = true;
        return false;
    }
    if (engine->disabled > 0 || !fm_context_lock(background->context))
        return true;
    fm_context_restore_sync(background->context);
    if (background->following && background->list_out->len > 0)
        stop_following(background);
    background->stepping = true;
    if (background->list_in->len == 0)
        begin_pass(background);
    if (fm_background_work(background->list_in, 0)->step != NULL)
        step_work(background);
    else
        step_events(background);
    fm_notify_call_watches(background);
    background->stepping = false;
    fm_context_save_sync(background->context);
    fm_trace_unlock(trace);
    return fm_background_has_work(background);
}
