/* SPDX-License-Identifier: Apache-2.0 */
/* Notifications about the progress of a pass. */
#include "engine/internal.h"

void fm_notify_free(void *data)
{
    struct fm_notify *notify = data;
    fm_position_free(notify->position);
    fm_hooks_free(notify->hooks);
    g_free(notify);
}

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
        fm_notify_free(notify);
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
        fm_notify_free(notify);
        return false;
    }
    g_ptr_array_add(background->notify_in, notify);
    return true;
}

/* --- watches --- */

struct watch {
    struct fm_notify notify;
    bool calling, removed;
};

void fm_watch_free(void *data)
{
    struct watch *watch = data;
    fm_hooks_free(watch->notify.hooks);
    g_free(watch);
}

void fm_background_watch(struct fm_engine *engine, void *owner, struct fm_trace *trace,
                         struct fm_hooks *hooks)
{
    struct background *background = fm_engine_background(engine, trace);
    struct watch *watch = g_new0(struct watch, 1);
    watch->notify =
        (struct fm_notify){.owner = owner, .trace = trace, .time = FM_TIME_INF, .hooks = hooks};
    if (background == NULL || background->closing)
        fm_watch_free(watch);
    else
        g_ptr_array_add(background->watches, watch);
}

/* A hook may remove its own watch and others, and add some, which are first called the next
 * time. */
void fm_notify_call_watches(struct background *background)
{
    g_autoptr(GPtrArray) now = g_ptr_array_new();
    for (unsigned i = 0; i < background->watches->len; i++) {
        struct watch *watch = g_ptr_array_index(background->watches, i);
        watch->calling = true;
        g_ptr_array_add(now, watch);
    }
    for (unsigned i = 0; i < now->len; i++) {
        struct watch *watch = g_ptr_array_index(now, i);
        if (!watch->removed)
            fm_hooks_call(watch->notify.hooks, &watch->notify);
    }
    for (unsigned i = 0; i < now->len; i++) {
        struct watch *watch = g_ptr_array_index(now, i);
        watch->calling = false;
        if (watch->removed)
            g_ptr_array_remove(background->watches, watch);
    }
}

static void remove_watches(GPtrArray *watches, const void *owner)
{
    for (unsigned i = watches->len; i-- > 0;) {
        struct watch *watch = g_ptr_array_index(watches, i);
        if (watch->notify.owner != owner)
            continue;
        if (watch->calling)
            watch->removed = true;
        else
            g_ptr_array_remove_index(watches, i);
    }
}

/* --- both --- */

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
        remove_watches(background->watches, owner);
    }
}

/* Calls and frees the notification at index. It leaves the list first: so it is called once,
 * whatever its hooks do to the list. */
void fm_notify_fire(struct background *background, unsigned index)
{
    g_assert(index < background->notify_in->len);
    struct fm_notify *notify = g_ptr_array_steal_index(background->notify_in, index);
    fm_hooks_call(notify->hooks, notify);
    fm_notify_free(notify);
}

static bool is_due(const struct background *background, const struct fm_notify *notify)
{
    if (notify->time != FM_TIME_INF && fm_context_time(background->context) >= notify->time)
        return true;
    return notify->position != NULL &&
           fm_context_compare_position(background->context, notify->position) >= 0;
}

/* Fires the notifications whose time or position has been reached. */
void fm_notify_fire_due(struct background *background)
{
    for (unsigned i = 0; i < background->notify_in->len;) {
        if (is_due(background, g_ptr_array_index(background->notify_in, i))) {
            fm_notify_fire(background, i);
            i = 0; /* the hooks may have changed the list */
        } else {
            i++;
        }
    }
}
