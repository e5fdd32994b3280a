/* SPDX-License-Identifier: Apache-2.0 */
/* Precomputation: a pass over a whole trace for all modules that asked before it began. */
#include <string.h>

#include "schedule/internal.h"

/* --- computations --- */

void fm_chunk_hooks_clear(struct fm_chunk_hooks *hooks)
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
    fm_chunk_hooks_clear(&computation->chunk);
    fm_hooks_free(computation->adder);
    fm_hooks_free(computation->remover);
}

void fm_computation_unref(struct computation *computation)
{
    if (--computation->references > 0)
        return;
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
    *registered = (struct computation){g_strdup(module), *computation, 1};
    g_hash_table_insert(engine->computations, registered->name, registered);
    return true;
}

/* --- flags: presence of an attribute of the trace --- */

static bool has_flag(const struct fm_trace *trace, const char *module, const char *flag)
{
    g_autofree char *path = g_strdup_printf("computation/%s/%s", module, flag);
    return fm_attributes_has(trace->attributes, path);
}

static void set_flag(struct fm_trace *trace, const char *module, const char *flag, bool value)
{
    g_autofree char *path = g_strdup_printf("computation/%s/%s", module, flag);
    if (value)
        fm_attributes_set(trace->attributes, path, NULL, NULL);
    else
        fm_attributes_remove(trace->attributes, path);
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

static void free_request(void *data)
{
    struct background_request *request = data;
    fm_computation_unref(request->computation);
    g_free(request);
}

static void free_notify(void *data)
{
    struct fm_notify *notify = data;
    fm_position_free(notify->position);
    fm_hooks_free(notify->hooks);
    g_free(notify);
}

/* Moves all elements of one array to the end of another; arrays own their elements. */
static void move_all(GPtrArray *to, GPtrArray *from)
{
    while (from->len > 0)
        g_ptr_array_add(to, g_ptr_array_steal_index(from, 0));
}

static struct background_request *find_request(GPtrArray *list, const char *module,
                                               unsigned *ret_index)
{
    for (unsigned i = 0; i < list->len; i++) {
        struct background_request *request = g_ptr_array_index(list, i);
        if (!request->withdrawn && strcmp(request->computation->name, module) == 0) {
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
    background->list_out = g_ptr_array_new_with_free_func(free_request);
    background->list_in = g_ptr_array_new_with_free_func(free_request);
    background->notify_out = g_ptr_array_new_with_free_func(free_notify);
    background->notify_in = g_ptr_array_new_with_free_func(free_notify);
    return background;
}

bool fm_background_is_registered(const struct background *background)
{
    return background->list_in->len + background->list_out->len > 0;
}

enum fm_request_result fm_background_request(struct fm_engine *engine, struct fm_trace *trace,
                                             const char *module)
{
    struct computation *computation = g_hash_table_lookup(engine->computations, module);
    struct background *background = fm_engine_background(engine, trace);
    unsigned index;
    if (computation == NULL || background == NULL || background->closing)
        return FM_REQUEST_NO_MODULE;
    if (fm_background_is_ready(trace, module))
        return FM_REQUEST_READY;
    if (find_request(background->list_in, module, &index) != NULL)
        return FM_REQUEST_IN_PROGRESS;
    if (find_request(background->list_out, module, &index) != NULL)
        return FM_REQUEST_QUEUED_BEFORE;
    struct background_request *request = g_new0(struct background_request, 1);
    request->computation = computation;
    computation->references++;
    g_ptr_array_add(background->list_out, request);
    return FM_REQUEST_QUEUED;
}

bool fm_background_find(struct fm_engine *engine, struct fm_trace *trace, const char *module)
{
    struct background *background = fm_engine_background(engine, trace);
    unsigned index;
    return background != NULL && find_request(background->list_out, module, &index) != NULL;
}

void fm_background_remove(struct fm_engine *engine, struct fm_trace *trace, const char *module)
{
    struct background *background = fm_engine_background(engine, trace);
    unsigned index;
    if (background != NULL && find_request(background->list_out, module, &index) != NULL)
        g_ptr_array_remove_index(background->list_out, index);
}

/* --- notifications --- */

static struct fm_notify *new_notify(void *owner, struct fm_trace *trace, uint64_t time,
                                    struct fm_position *position, struct fm_hooks *hooks)
{
    struct fm_notify *notify = g_new(struct fm_notify, 1);
    *notify = (struct fm_notify){owner, trace, time, position, hooks};
    return notify;
}

void fm_background_notify_queue(struct fm_engine *engine, void *owner, struct fm_trace *trace,
                                uint64_t time, struct fm_position *position, struct fm_hooks *hooks)
{
    struct background *background = fm_engine_background(engine, trace);
    struct fm_notify *notify = new_notify(owner, trace, time, position, hooks);
    if (background == NULL || background->closing)
        free_notify(notify);
    else
        g_ptr_array_add(background->notify_out, notify);
}

bool fm_background_notify_current(struct fm_engine *engine, void *owner, struct fm_trace *trace,
                                  uint64_t time, struct fm_position *position,
                                  struct fm_hooks *hooks)
{
    struct background *background = fm_engine_background(engine, trace);
    struct fm_notify *notify = new_notify(owner, trace, time, position, hooks);
    if (background == NULL || background->list_in->len == 0 || background->pass_over) {
        free_notify(notify);
        return false;
    }
    g_ptr_array_add(background->notify_in, notify);
    return true;
}

static void remove_owned(GPtrArray *list, const void *owner)
{
    for (unsigned i = list->len; i-- > 0;) {
        const struct fm_notify *notify = g_ptr_array_index(list, i);
        if (notify->owner == owner)
            g_ptr_array_remove_index(list, i);
    }
}

void fm_background_notify_remove(struct fm_engine *engine, const void *owner)
{
    for (unsigned i = 0; i < engine->backgrounds->len; i++) {
        struct background *background = g_ptr_array_index(engine->backgrounds, i);
        remove_owned(background->notify_out, owner);
        remove_owned(background->notify_in, owner);
    }
}

/* Calls and frees the notification at index. It leaves the list first: whatever its hooks do to the
 * list, it is called once. */
static void fire(struct background *background, unsigned index)
{
    struct fm_notify *notify = g_ptr_array_steal_index(background->notify_in, index);
    fm_hooks_call(notify->hooks, notify);
    free_notify(notify);
}

static bool is_due(const struct background *background, const struct fm_notify *notify)
{
    if (notify->time != FM_TIME_INF && fm_context_time(background->context) >= notify->time)
        return true;
    return notify->position != NULL &&
           fm_context_compare_position(background->context, notify->position) >= 0;
}

/* 3.2 */
static void fire_due(struct background *background)
{
    for (unsigned i = 0; i < background->notify_in->len;) {
        if (is_due(background, g_ptr_array_index(background->notify_in, i))) {
            fire(background, i);
            i = 0; /* the hooks may have changed the list */
        } else {
            i++;
        }
    }
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

/* 1a to 1d */
static void begin_pass(struct background *background)
{
    move_all(background->list_in, background->list_out);
    for (unsigned i = 0; i < background->list_in->len; i++) {
        struct background_request *request = g_ptr_array_index(background->list_in, i);
        set_flag(background->trace, request->computation->name, "in_progress", true);
        fm_hooks_call(request->computation->hooks.before_request, background->context);
    }
    fm_context_seek_time(background->context, 0);
    move_all(background->notify_in, background->notify_out);
    collect_and_call(background, true);
}

static void reset_context(struct background *background)
{
    fm_context_free(background->context);
    background->context = fm_context_new(&background->trace, 1);
    fm_context_seek_time(background->context, 0);
}

/* 3.3 */
static void end_pass(struct background *background)
{
    background->pass_over = true;
    collect_and_call(background, false);
    while (background->list_in->len > 0) {
        struct background_request *request = g_ptr_array_index(background->list_in, 0);
        set_flag(background->trace, request->computation->name, "in_progress", false);
        set_flag(background->trace, request->computation->name, "ready", true);
        fm_hooks_call(request->computation->hooks.after_request, background->context);
        g_ptr_array_remove(background->list_in, request);
    }
    while (background->notify_in->len > 0)
        fire(background, 0);
    background->pass_over = false;
    reset_context(background);
}

/* What is left of a pass whose modules have all been unloaded. */
static void abandon_pass(struct background *background)
{
    for (unsigned i = background->notify_in->len; i-- > 0;)
        g_ptr_array_insert(background->notify_out, 0,
                           g_ptr_array_steal_index(background->notify_in, i));
    reset_context(background);
}

static void drop_withdrawn(struct background *background)
{
    bool dropped = false;
    for (unsigned i = background->list_in->len; i-- > 0;) {
        const struct background_request *request = g_ptr_array_index(background->list_in, i);
        if (request->withdrawn) {
            g_ptr_array_remove_index(background->list_in, i);
            dropped = true;
        }
    }
    if (dropped && background->list_in->len == 0)
        abandon_pass(background);
}

static void read_chunk(struct background *background)
{
    struct fm_context *context = background->context;
    GPtrArray *list = background->list_in;
    for (unsigned i = 0; i < list->len; i++) {
        struct background_request *request = g_ptr_array_index(list, i);
        fm_context_begin(context, &request->computation->hooks.chunk, -1);
    }
    fm_context_middle(context, FM_TIME_INF, background->engine->chunk, NULL);
    for (unsigned i = 0; i < list->len; i++) {
        struct background_request *request = g_ptr_array_index(list, i);
        fm_context_detach(context, &request->computation->hooks.chunk, -1);
        fm_context_after(context, &request->computation->hooks.chunk, -1);
    }
}

bool fm_background_step(struct fm_engine *engine, struct fm_trace *trace)
{
    struct background *background = fm_engine_background(engine, trace);
    if (background == NULL || !fm_background_is_registered(background))
        return false;
    if (engine->disabled > 0 || !fm_context_lock(background->context))
        return true;
    fm_context_restore_sync(background->context);
    background->stepping = true;
    if (background->list_in->len == 0)
        begin_pass(background);
    read_chunk(background);
    drop_withdrawn(background);
    if (background->list_in->len > 0) {
        bool at_end = background->context->queue_count == 0;
        if (!at_end)
            fire_due(background);
        drop_withdrawn(background);
        if (background->list_in->len > 0 &&
            (at_end || fm_context_time(background->context) > trace->end_time))
            end_pass(background);
    }
    background->stepping = false;
    fm_context_save_sync(background->context);
    fm_trace_unlock(trace);
    return fm_background_is_registered(background);
}

double fm_background_progress(struct fm_engine *engine, struct fm_trace *trace)
{
    const struct background *background = fm_engine_background(engine, trace);
    if (background == NULL || background->list_in->len == 0)
        return -1;
    uint64_t span = trace->end_time - trace->start_time;
    uint64_t now = background->context->sync != NULL ? background->context->sync->time : 0;
    if (span == 0 || now == FM_TIME_INF)
        return 1;
    return now <= trace->start_time ? 0 : (double)(now - trace->start_time) / (double)span;
}

/* --- unloading and closing --- */

static void unregister_requests(struct background *background, const char *module)
{
    unsigned index;
    if (find_request(background->list_out, module, &index) != NULL)
        g_ptr_array_remove_index(background->list_out, index);
    struct background_request *request = find_request(background->list_in, module, &index);
    if (request == NULL)
        return;
    set_flag(background->trace, module, "in_progress", false);
    request->withdrawn = true;
    if (!background->stepping)
        drop_withdrawn(background);
    else
        fm_context_detach(background->context, &request->computation->hooks.chunk, -1);
}

void fm_engine_unregister_computation(struct fm_engine *engine, const char *module)
{
    struct computation *computation = g_hash_table_lookup(engine->computations, module);
    if (computation == NULL)
        return;
    for (unsigned i = 0; i < engine->backgrounds->len; i++)
        unregister_requests(g_ptr_array_index(engine->backgrounds, i), computation->name);
    g_hash_table_remove(engine->computations, module);
}

void fm_background_close(struct background *background)
{
    background->closing = true;
    while (background->list_in->len > 0) {
        struct background_request *request = g_ptr_array_index(background->list_in, 0);
        set_flag(background->trace, request->computation->name, "in_progress", false);
        fm_hooks_call(request->computation->hooks.after_request, background->context);
        g_ptr_array_remove(background->list_in, request);
    }
    g_ptr_array_unref(background->list_in);
    g_ptr_array_unref(background->list_out);
    g_ptr_array_unref(background->notify_in);
    g_ptr_array_unref(background->notify_out);
    fm_context_free(background->context);
    fm_trace_free(background->trace);
    g_free(background);
}

/* --- invariants --- */

const char *fm_background_check(const struct background *background)
{
    GPtrArray *lists[] = {background->list_in, background->list_out};
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (unsigned l = 0; l < 2; l++) {
        for (unsigned i = 0; i < lists[l]->len; i++) {
            const struct background_request *request = g_ptr_array_index(lists[l], i);
            const char *name = request->computation->name;
            if (!g_hash_table_add(seen, request->computation->name))
                return "I1: a module stands at most once in list_in and list_out";
            if (fm_background_is_in_progress(background->trace, name) != (l == 0))
                return "I2: in_progress is being in list_in";
            if (fm_background_is_ready(background->trace, name))
                return "I3: what is ready is in neither list";
        }
    }
    GHashTableIter iter;
    void *name;
    g_hash_table_iter_init(&iter, background->engine->computations);
    unsigned index;
    while (g_hash_table_iter_next(&iter, &name, NULL)) {
        if (fm_background_is_in_progress(background->trace, name) &&
            find_request(background->list_in, name, &index) == NULL)
            return "I2: in_progress is being in list_in";
    }
    const struct fm_trace_context *trace = &background->context->traces[0];
    for (unsigned i = 0; i < trace->tracefile_count; i++) {
        if (background->list_in->len == 0 && fm_hooks_count(trace->tracefiles[i].event_hooks) > 0)
            return "I4: no hook stays in the private context without a pass";
    }
    if (background->list_in->len == 0 && background->notify_in->len > 0)
        return "I5: notify_in is empty unless a pass runs";
    return background->trace->locked ? "between steps no trace is locked" : NULL;
}
