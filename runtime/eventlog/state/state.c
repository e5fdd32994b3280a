/* SPDX-License-Identifier: Apache-2.0 */
/* Threads and locks, as the program describes them. */
#include "core/names.h"
#include "core/pool.h"
#include "core/threads.h"
#include "lanes/deliver.h"
#include "lanes/lane.h"
#include "state/state.h"

static struct {
    struct fm_el_lock_name *list;
    uint32_t count, max;
} lock_names;

static void thread_change(uint32_t id, uint8_t state, uint16_t status, uint32_t info)
{
    if (fm_el.no_state)
        return;
    uint32_t before = fm_el_enter();
    fm_el_state_lock();
    struct fm_el_thread *t = fm_el_state_thread(id);
    struct fm_el_lane *l = fm_el_lane_mine();
    if (t && state == 2 && status == 5) {
        fm_el_state_thread_gone(id);
    } else if (t) {
        t->state = state;
        t->status = status;
        t->info = info;
        t->changed_ns = fm_el_clock_ns();
        if (l && state == 1)
            t->lane = l->number;
    }
    fm_el_state_unlock();
    fm_el_leave(before);
}

uint32_t fm_eventlog_thread_new(void)
{
    FM_EL_FORWARD(thread_new);
    uint32_t before = fm_el_enter();
    fm_el_state_lock();
    uint32_t id = fm_el_state_thread_new(FM_EL_NO_CAP, 0);
    fm_el_state_unlock();
    fm_el_leave(before);
    if (fm_eventlog_on())
        fm_eventlog_put_w32_(FM_EVENT_THREAD_CREATE, id);
    return id;
}

void fm_eventlog_thread_run(uint32_t thread)
{
    FM_EL_FORWARD(thread_run, thread);
    if (fm_eventlog_on())
        fm_eventlog_put_w32_(FM_EVENT_THREAD_RUN, thread);
    thread_change(thread, 1, 0, 0);
}

void fm_eventlog_thread_runnable(uint32_t thread)
{
    FM_EL_FORWARD(thread_runnable, thread);
    if (fm_eventlog_on())
        fm_eventlog_put_w32_(FM_EVENT_THREAD_RUNNABLE, thread);
    thread_change(thread, 3, 0, 0);
}

void fm_eventlog_thread_stop(uint32_t thread, uint16_t status, uint32_t info)
{
    FM_EL_FORWARD(thread_stop, thread, status, info);
    unsigned char payload[10];
    uint32_t id = fm_eventlog_be32_(thread), more = fm_eventlog_be32_(info);
    uint16_t why = fm_eventlog_be16_(status);
    memcpy(payload, &id, 4);
    memcpy(payload + 4, &why, 2);
    memcpy(payload + 6, &more, 4);
    if (fm_eventlog_on())
        fm_eventlog_put_(FM_EVENT_THREAD_STOP, payload, sizeof(payload));
    thread_change(thread, 2, status, info);
}

void fm_eventlog_thread_label(uint32_t thread, const char *label)
{
    FM_EL_FORWARD(thread_label, thread, label);
    size_t bytes = strlen(label);
    if (bytes > FM_EL_NAME_MAX)
        bytes = FM_EL_NAME_MAX;
    const struct fm_el_name *name = fm_el_name(label, bytes);
    uint32_t before = fm_el_enter(), id = fm_eventlog_be32_(thread);
    fm_el_state_lock();
    struct fm_el_thread *t = fm_el_state_thread(thread);
    if (t)
        t->label = name;
    fm_el_state_unlock();
    fm_el_leave(before);
    if (fm_eventlog_on())
        fm_el_append(FM_EVENT_THREAD_LABEL, &id, 4, label, bytes);
}

void fm_eventlog_label_thread(const char *label)
{
    FM_EL_FORWARD(label_thread, label);
    if (fm_eventlog_head_.busy || !atomic_load(&fm_el.running))
        return;
    uint32_t before = fm_el_enter();
    struct fm_el_lane *l = fm_el_lane_need();
    fm_el_leave(before);
    if (l)
        fm_eventlog_thread_label(l->thread, label);
}

static void *grown(void *old, size_t old_bytes, size_t bytes)
{
    void *bigger = fm_el_pool_alloc(bytes);
    if (!bigger)
        return NULL;
    memset(bigger, 0, bytes);
    if (old_bytes)
        memcpy(bigger, old, old_bytes);
    fm_el_pool_free(old, old_bytes);
    return bigger;
}

void fm_eventlog_lock_name(const void *lock, const char *name)
{
    FM_EL_FORWARD(lock_name, lock, name);
    struct fm_el_lock_name entry = {.lock = (uintptr_t)lock, .name = fm_eventlog_intern(name)};
    if (entry.name == 0)
        return;
    uint32_t before = fm_el_enter();
    entry.named_ns = fm_el_clock_ns();
    fm_el_state_lock();
    if (lock_names.count == lock_names.max && lock_names.count < FM_EL_NAMES_MAX) {
        uint32_t max = lock_names.max ? lock_names.max * 2 : 64;
        void *list = grown(lock_names.list, lock_names.max * sizeof(entry), max * sizeof(entry));
        if (list) {
            lock_names.list = list;
            lock_names.max = max;
        }
    }
    if (lock_names.count < lock_names.max)
        lock_names.list[lock_names.count++] = entry;
    fm_el_state_unlock();
    fm_el_leave(before);
    if (fm_eventlog_on()) {
        uint64_t address = fm_eventlog_be64_(entry.lock);
        uint32_t id = fm_eventlog_be32_(entry.name);
        fm_el_append(FM_EVENT_LOCK_NAME, &address, 8, &id, 4);
    }
}

bool fm_el_state_lock_name(uint32_t i, struct fm_el_lock_name *ret)
{
    if (i >= lock_names.count)
        return false;
    *ret = lock_names.list[i];
    return true;
}
