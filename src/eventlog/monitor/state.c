/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "eventlog/monitor/state.h"

#include "base/hash.h"

enum { TRACKED_MAX = 1000000 }; /* limit for threads, and for tasks; more are not tracked */

static void thread_free(void *data)
{
    g_free(((struct thread *)data)->label);
    g_free(data);
}

static void capset_free(void *data)
{
    struct capset *capset = data;
    g_array_unref(capset->capabilities);
    g_byte_array_unref(capset->identifier);
    g_ptr_array_unref(capset->arguments);
    g_ptr_array_unref(capset->environment);
    g_free(capset);
}

struct capset *fm_monitor_capset_new(uint64_t id)
{
    struct capset *capset = g_new0(struct capset, 1);
    capset->id = id;
    capset->type = 3; /* unknown */
    capset->capabilities = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    capset->identifier = g_byte_array_new();
    capset->arguments = g_ptr_array_new_with_free_func((GDestroyNotify)(void *)g_bytes_unref);
    capset->environment = g_ptr_array_new_with_free_func((GDestroyNotify)(void *)g_bytes_unref);
    capset->pid = capset->parent_pid = capset->collection_time = -1;
    return capset;
}

struct fm_monitor_state *fm_monitor_state_new(void)
{
    struct fm_monitor_state *state = g_new0(struct fm_monitor_state, 1);
    state->threads = g_hash_table_new_full(fm_int64_hash, g_int64_equal, NULL, thread_free);
    state->capsets = g_hash_table_new_full(fm_int64_hash, g_int64_equal, NULL, capset_free);
    state->capabilities = g_hash_table_new_full(fm_int64_hash, g_int64_equal, NULL, g_free);
    state->tasks = g_hash_table_new_full(fm_int64_hash, g_int64_equal, NULL, g_free);
    state->collection_begin = -1;
    return state;
}

void fm_monitor_state_free(struct fm_monitor_state *state)
{
    if (state == NULL)
        return;
    g_hash_table_unref(state->threads);
    g_hash_table_unref(state->capsets);
    g_hash_table_unref(state->capabilities);
    g_hash_table_unref(state->tasks);
    g_free(state);
}

void fm_monitor_state_counts(const struct fm_monitor_state *state,
                             struct fm_monitor_state_counts *ret)
{
    *ret = (struct fm_monitor_state_counts){
        .threads = g_hash_table_size(state->threads),
        .capsets = g_hash_table_size(state->capsets),
        .capabilities = g_hash_table_size(state->capabilities),
        .tasks = g_hash_table_size(state->tasks),
        .last_ns = state->last_ns,
    };
}

static struct thread *thread_of(struct fm_monitor_state *state,
                                const struct fm_eventlog_event *event)
{
    uint64_t id = fm_eventlog_u32(event, 0);
    struct thread *thread = g_hash_table_lookup(state->threads, &id);
    if (thread == NULL) {
        if (g_hash_table_size(state->threads) >= TRACKED_MAX)
            return NULL;
        thread = g_new0(struct thread, 1);
        thread->id = id;
        thread->sparks = -1;
        thread->created = event->time_ns;
        thread->capability = event->capability;
        g_hash_table_insert(state->threads, &thread->id, thread);
    }
    g_assert(thread->id == id && g_hash_table_size(state->threads) <= TRACKED_MAX);
    thread->changed = event->time_ns;
    return thread;
}

/* The protocol's number for a status of current logs. */
static uint32_t old_status(uint32_t status)
{
    static const uint8_t order[] = {0,  1,  2,  3,  4,  5, 6, 7,  9,  10, 11,
                                    12, 13, 14, 15, 16, 0, 0, 17, 18, 8};
    return status < G_N_ELEMENTS(order) ? order[status] : 0;
}

static void stop_thread(struct fm_monitor_state *state, const struct fm_eventlog_event *event)
{
    struct thread *thread = thread_of(state, event);
    uint32_t status = fm_eventlog_u16(event, 4);
    if (thread == NULL)
        return;
    if (status == STATUS_FINISHED) {
        g_hash_table_remove(state->threads, &thread->id);
        return;
    }
    thread->execution = STOPPED;
    thread->capability = event->capability;
    thread->status = old_status(status);
    g_assert(thread->status <= STATUS_MAX);
    thread->owner = fm_eventlog_u32(event, 6);
    if (status == 8 && thread->owner != 0)
        thread->status = STATUS_BLACK_HOLE_OWNED;
}

static void thread_event(struct fm_monitor_state *state, const struct fm_eventlog_event *event)
{
    if (event->number == FM_EVENTLOG_STOP_THREAD) {
        stop_thread(state, event);
        return;
    }
    struct thread *thread = thread_of(state, event);
    if (thread == NULL)
        return;
    switch (event->number) {
    case FM_EVENTLOG_CREATE_THREAD:
        thread->execution = CREATED;
        thread->created = event->time_ns;
        break;
    case FM_EVENTLOG_RUN_THREAD:
        thread->execution = RUNNING;
        thread->capability = event->capability;
        break;
    case FM_EVENTLOG_THREAD_RUNNABLE:
        thread->execution = QUEUED;
        break;
    case FM_EVENTLOG_WAKEUP_THREAD:
    case FM_EVENTLOG_MIGRATE_THREAD:
        thread->execution = event->number == FM_EVENTLOG_WAKEUP_THREAD ? QUEUED : MIGRATED;
        thread->capability = fm_eventlog_u16(event, 4);
        break;
    case FM_EVENTLOG_CREATE_SPARK_THREAD:
        thread->sparks = 0;
        break;
    case FM_EVENTLOG_THREAD_LABEL:
        g_free(thread->label);
        thread->label_length = event->payload_length >= 4 ? event->payload_length - 4 : 0;
        thread->label = g_strndup("", thread->label_length);
        memcpy(thread->label, event->payload + MIN(event->payload_length, 4), thread->label_length);
        break;
    default:
        break;
    }
}

static struct capset *capset_of(struct fm_monitor_state *state,
                                const struct fm_eventlog_event *event)
{
    uint64_t id = fm_eventlog_u32(event, 0);
    struct capset *capset = g_hash_table_lookup(state->capsets, &id);
    if (capset == NULL) {
        if (g_hash_table_size(state->capsets) >= TRACKED_MAX)
            return NULL;
        capset = fm_monitor_capset_new(id);
        capset->created = event->time_ns;
        g_hash_table_insert(state->capsets, &capset->id, capset);
    }
    capset->changed = event->time_ns;
    return capset;
}

static void take_texts(GPtrArray *texts, const struct fm_eventlog_event *event)
{
    g_ptr_array_set_size(texts, 0);
    for (uint32_t at = 4; at < event->payload_length;) {
        const uint8_t *zero = memchr(event->payload + at, 0, event->payload_length - at);
        uint32_t end = zero == NULL ? event->payload_length : (uint32_t)(zero - event->payload);
        g_ptr_array_add(texts, g_bytes_new(event->payload + at, end - at));
        at = end + 1;
    }
}

static void assign(struct capset *capset, uint64_t capability, bool add)
{
    for (guint i = 0; i < capset->capabilities->len; i++) {
        if (g_array_index(capset->capabilities, uint64_t, i) == capability) {
            if (!add)
                g_array_remove_index(capset->capabilities, i);
            return;
        }
    }
    if (add && capset->capabilities->len < 65535)
        g_array_append_val(capset->capabilities, capability);
}

static void heap_event(struct capset *capset, const struct fm_eventlog_event *event)
{
    switch (event->number) {
    case FM_EVENTLOG_HEAP_ALLOCATED:
        capset->numbers[ALLOCATED] = fm_eventlog_u64(event, 4);
        break;
    case FM_EVENTLOG_HEAP_SIZE:
        capset->numbers[HEAP_SIZE] = fm_eventlog_u64(event, 4);
        break;
    case FM_EVENTLOG_HEAP_LIVE:
        capset->numbers[LIVE] = fm_eventlog_u64(event, 4);
        break;
    case FM_EVENTLOG_HEAP_INFO_GHC:
        capset->numbers[GENERATIONS] = fm_eventlog_u16(event, 4);
        for (uint32_t i = 0; i < 4; i++)
            capset->numbers[MAX_HEAP + i] = fm_eventlog_u64(event, 6 + 8 * i);
        break;
    case FM_EVENTLOG_GC_STATS_GHC:
        /* The generation collected is not the number of generations. */
        capset->collection_time = (int64_t)(event->time_ns & INT64_MAX);
        capset->collection[COPIED] = fm_eventlog_u64(event, 6);
        capset->collection[SLOP] = fm_eventlog_u64(event, 14);
        capset->collection[FRAGMENTATION] = fm_eventlog_u64(event, 22);
        capset->collection[THREADS] = fm_eventlog_u32(event, 30);
        capset->collection[MAX_COPIED] = fm_eventlog_u64(event, 34);
        capset->collection[TOTAL_COPIED] = fm_eventlog_u64(event, 42);
        break;
    default:
        break;
    }
}

static void capset_event(struct fm_monitor_state *state, const struct fm_eventlog_event *event)
{
    struct capset *capset = capset_of(state, event);
    if (capset == NULL)
        return;
    uint16_t type;
    switch (event->number) {
    case FM_EVENTLOG_CAPSET_CREATE:
        type = fm_eventlog_u16(event, 4);
        capset->type = type >= 1 && type <= 3 ? type - 1u : 3;
        capset->created = event->time_ns;
        break;
    case FM_EVENTLOG_CAPSET_DELETE:
        g_hash_table_remove(state->capsets, &capset->id);
        break;
    case FM_EVENTLOG_CAPSET_ASSIGN_CAP:
    case FM_EVENTLOG_CAPSET_REMOVE_CAP:
        assign(capset, fm_eventlog_u16(event, 4), event->number == FM_EVENTLOG_CAPSET_ASSIGN_CAP);
        break;
    case FM_EVENTLOG_RTS_IDENTIFIER:
        g_byte_array_set_size(capset->identifier, 0);
        if (event->payload_length > 4)
            g_byte_array_append(capset->identifier, event->payload + 4, event->payload_length - 4);
        break;
    case FM_EVENTLOG_PROGRAM_ARGS:
        take_texts(capset->arguments, event);
        break;
    case FM_EVENTLOG_PROGRAM_ENV:
        take_texts(capset->environment, event);
        break;
    case FM_EVENTLOG_OS_PROCESS_PID:
        capset->pid = fm_eventlog_u32(event, 4);
        break;
    case FM_EVENTLOG_OS_PROCESS_PARENT_PID:
        capset->parent_pid = fm_eventlog_u32(event, 4);
        break;
    case FM_EVENTLOG_WALL_CLOCK_TIME:
        capset->numbers[WALL_SECONDS] = fm_eventlog_u64(event, 4);
        capset->numbers[WALL_NANOSECONDS] = fm_eventlog_u32(event, 12);
        break;
    default:
        heap_event(capset, event);
        break;
    }
}

static void capability_event(struct fm_monitor_state *state, const struct fm_eventlog_event *event)
{
    uint64_t id = fm_eventlog_u16(event, 0);
    if (event->number == FM_EVENTLOG_CAP_DELETE) {
        g_hash_table_remove(state->capabilities, &id);
        return;
    }
    struct capability *capability = g_hash_table_lookup(state->capabilities, &id);
    if (capability == NULL) {
        capability = g_new0(struct capability, 1);
        capability->id = id;
        capability->created = event->time_ns;
        g_hash_table_insert(state->capabilities, &capability->id, capability);
    }
    capability->disabled = event->number == FM_EVENTLOG_CAP_DISABLE;
    capability->changed = event->time_ns;
}

static void task_event(struct fm_monitor_state *state, const struct fm_eventlog_event *event)
{
    uint64_t id = fm_eventlog_u64(event, 0);
    if (event->number == FM_EVENTLOG_TASK_DELETE) {
        g_hash_table_remove(state->tasks, &id);
        return;
    }
    struct task *task = g_hash_table_lookup(state->tasks, &id);
    if (task == NULL) {
        if (g_hash_table_size(state->tasks) >= TRACKED_MAX)
            return;
        task = g_new0(struct task, 1);
        task->id = id;
        task->created = event->time_ns;
        g_hash_table_insert(state->tasks, &task->id, task);
    }
    task->changed = event->time_ns;
    if (event->number == FM_EVENTLOG_TASK_CREATE) {
        task->capability = fm_eventlog_u16(event, 8);
        task->kernel_thread = fm_eventlog_u64(event, 10);
    } else {
        task->capability = fm_eventlog_u16(event, 10);
    }
}

/* A collection begins with its first event and ends when the last capability has left it. */
static void collection_event(struct fm_monitor_state *state, const struct fm_eventlog_event *event)
{
    if (event->number == FM_EVENTLOG_END_GC) {
        state->collecting -= state->collecting > 0;
        if (state->collecting == 0)
            state->collection_begin = -1;
        return;
    }
    state->collecting += event->number == FM_EVENTLOG_START_GC;
    if (state->collection_begin < 0 && event->number != FM_EVENTLOG_GC_DONE)
        state->collection_begin = (int64_t)(event->time_ns & INT64_MAX);
}

void fm_monitor_state_event(struct fm_monitor_state *state, const struct fm_eventlog_event *event)
{
    if (event->type == NULL)
        return;
    switch (event->number) {
    case FM_EVENTLOG_CREATE_THREAD:
    case FM_EVENTLOG_RUN_THREAD:
    case FM_EVENTLOG_STOP_THREAD:
    case FM_EVENTLOG_THREAD_RUNNABLE:
    case FM_EVENTLOG_MIGRATE_THREAD:
    case FM_EVENTLOG_WAKEUP_THREAD:
    case FM_EVENTLOG_CREATE_SPARK_THREAD:
    case FM_EVENTLOG_THREAD_LABEL:
        thread_event(state, event);
        break;
    case FM_EVENTLOG_CAPSET_CREATE:
    case FM_EVENTLOG_CAPSET_DELETE:
    case FM_EVENTLOG_CAPSET_ASSIGN_CAP:
    case FM_EVENTLOG_CAPSET_REMOVE_CAP:
    case FM_EVENTLOG_RTS_IDENTIFIER:
    case FM_EVENTLOG_PROGRAM_ARGS:
    case FM_EVENTLOG_PROGRAM_ENV:
    case FM_EVENTLOG_OS_PROCESS_PID:
    case FM_EVENTLOG_OS_PROCESS_PARENT_PID:
    case FM_EVENTLOG_WALL_CLOCK_TIME:
    case FM_EVENTLOG_HEAP_ALLOCATED:
    case FM_EVENTLOG_HEAP_SIZE:
    case FM_EVENTLOG_HEAP_LIVE:
    case FM_EVENTLOG_HEAP_INFO_GHC:
    case FM_EVENTLOG_GC_STATS_GHC:
        capset_event(state, event);
        break;
    case FM_EVENTLOG_CAP_CREATE:
    case FM_EVENTLOG_CAP_DELETE:
    case FM_EVENTLOG_CAP_DISABLE:
    case FM_EVENTLOG_CAP_ENABLE:
        capability_event(state, event);
        break;
    case FM_EVENTLOG_TASK_CREATE:
    case FM_EVENTLOG_TASK_MIGRATE:
    case FM_EVENTLOG_TASK_DELETE:
        task_event(state, event);
        break;
    case FM_EVENTLOG_START_GC:
    case FM_EVENTLOG_GC_WORK:
    case FM_EVENTLOG_GC_IDLE:
    case FM_EVENTLOG_GLOBAL_SYNC_GC:
    case FM_EVENTLOG_GC_DONE:
    case FM_EVENTLOG_END_GC:
        collection_event(state, event);
        break;
    default:
        return;
    }
    state->last_ns = event->time_ns;
}
