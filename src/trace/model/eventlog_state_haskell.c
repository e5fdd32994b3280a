/* SPDX-License-Identifier: Apache-2.0 */
/* Haskell programs: threads run on capabilities; a collection stops all of them. */
#include "trace/model/eventlog_state_haskell.h"

/* --- threads ---
 * model[0]: capability + 1 that it is on. model[2], model[3]: the capability + 1 that it migrated
 * from and when, until it runs again. */

static struct fm_lane *capability_here(struct happening *at)
{
    return at->capability == NULL ? NULL : fm_eventlog_capability_lane(at, at->capability_number);
}

static void create_thread(struct happening *at)
{
    struct fm_lane *thread = fm_eventlog_thread(at, u32_at(at, 0));
    set_event_lane(at, thread);
    thread->model[0] = at->capability == NULL ? 0 : at->capability_number + UINT64_C(1);
    fm_state_lane_changed(at->state, thread);
    if (thread->depth > 0) { /* created twice: its number is used again without an end */
        fm_state_count_inconsistent(at->state);
        fm_state_empty(at->state, thread, at->time);
    }
    fm_state_push(at->state, thread, at->names->created, 0, at->time);
}

static void create_spark_thread(struct happening *at)
{
    uint32_t id = u32_at(at, 0);
    struct fm_lane *thread = fm_eventlog_thread(at, id);
    set_event_lane(at, thread);
    char plain[32], name[32];
    g_snprintf(plain, sizeof plain, "thread %u", id);
    g_snprintf(name, sizeof name, "spark thread %u", id);
    if (g_strcmp0(thread->name, plain) == 0)
        fm_state_lane_rename(at->state, thread, name);
}

static void arrive(struct happening *at, struct fm_lane *thread, struct fm_lane *capability)
{
    uint64_t from = thread->model[2];
    thread->model[0] = at->capability_number + UINT64_C(1);
    thread->model[2] = 0;
    fm_state_lane_changed(at->state, thread);
    if (from == 0 || from - 1 == at->capability_number)
        return;
    struct fm_lane *old = fm_eventlog_capability_lane(at, (uint32_t)(from - 1));
    if (old != NULL)
        fm_state_arrow(at->state, old, thread->model[3], capability, at->time);
}

static void run_thread(struct happening *at)
{
    uint32_t id = u32_at(at, 0);
    struct fm_lane *thread = fm_eventlog_thread(at, id);
    set_event_lane(at, thread);
    struct fm_lane *capability = capability_here(at);
    if (capability == NULL) {
        fm_state_set(at->state, thread, at->names->running, 0, at->time);
        return;
    }
    arrive(at, thread, capability);
    struct capability *here = fm_eventlog_capability(at->model, at->capability_number);
    struct fm_lane *before = fm_state_lane_at(at->state, here->running);
    if (before != NULL && before != thread) { /* its stop is missing */
        fm_state_count_inconsistent(at->state);
        fm_state_empty(at->state, before, at->time);
    }
    fm_eventlog_gc_missed(at, here);
    here->running = thread->index;
    fm_state_set(at->state, thread, at->names->running, at->capability_number + UINT64_C(1),
                 at->time);
    fm_state_set(at->state, capability, at->names->running, id, at->time);
}

/* A thread that was running when reading began. */
static struct fm_lane *running_before(struct happening *at, uint32_t id)
{
    uint64_t origin = fm_state_origin(at->state);
    struct fm_lane *thread =
        fm_state_lane_get(at->state, FM_LANE_THREAD, id, at->model->process, origin);
    struct fm_lane *capability = capability_here(at);
    fm_state_set(at->state, thread, at->names->running, 0, origin);
    if (capability != NULL && capability->depth == 0)
        fm_state_set(at->state, capability, at->names->running, id, origin);
    return thread;
}

static void leave_capability(struct happening *at, const struct fm_lane *thread)
{
    if (at->capability == NULL || at->capability->running != thread->index)
        return;
    at->capability->running = FM_LANE_NONE;
    fm_state_set(at->state, capability_here(at), at->names->idle, 0, at->time);
}

static void stop_thread(struct happening *at)
{
    uint32_t id = u32_at(at, 0);
    uint16_t status = u16_at(at, 4);
    struct fm_lane *thread = fm_state_lane_find(at->state, FM_LANE_THREAD, id);
    if (thread == NULL && !fm_state_is_complete(at->state)) {
        thread = running_before(at, id);
        at->capability = fm_eventlog_capability(at->model, at->capability_number);
        if (at->capability != NULL)
            at->capability->running = thread->index;
    }
    if (thread == NULL) {
        fm_state_count_inconsistent(at->state);
        return;
    }
    set_event_lane(at, thread);
    if (at->capability == NULL || at->capability->running != thread->index)
        fm_state_count_inconsistent(at->state);
    leave_capability(at, thread);
    if (status == 5) {
        fm_state_lane_end(at->state, thread, at->time);
        return;
    }
    uint32_t value = at->names->stops[MIN(status, STOP_STATUSES - 1)];
    uint64_t info = at->event->payload_size >= 10 ? u32_at(at, 6) : 0;
    fm_state_set(at->state, thread, value, info, at->time);
}

static void make_runnable(struct happening *at, struct fm_lane *thread)
{
    bool runs = thread->depth > 0 && thread->stack[0].value == at->names->running;
    if (!runs)
        fm_state_set(at->state, thread, at->names->runnable, 0, at->time);
}

static void thread_runnable(struct happening *at)
{
    struct fm_lane *thread = fm_eventlog_thread(at, u32_at(at, 0));
    set_event_lane(at, thread);
    make_runnable(at, thread);
}

static void wakeup_thread(struct happening *at)
{
    struct fm_lane *thread = fm_eventlog_thread(at, u32_at(at, 0));
    set_event_lane(at, thread);
    make_runnable(at, thread);
    if (at->capability == NULL)
        return;
    struct fm_lane *waker = fm_state_lane_at(at->state, at->capability->running);
    if (waker != NULL && waker != thread)
        fm_state_arrow(at->state, waker, at->time, thread, at->time);
}

static void migrate_thread(struct happening *at)
{
    struct fm_lane *thread = fm_eventlog_thread(at, u32_at(at, 0));
    set_event_lane(at, thread);
    leave_capability(at, thread);
    thread->model[0] = u16_at(at, 4) + UINT64_C(1);
    if (thread->model[2] == 0 && at->capability != NULL) {
        thread->model[2] = at->capability_number + UINT64_C(1);
        thread->model[3] = at->time;
    }
    fm_state_lane_changed(at->state, thread);
}

/* --- capabilities --- */

static void startup(struct happening *at)
{
    uint32_t count = u16_at(at, 0);
    for (uint32_t i = 0; i < count; i++) {
        struct fm_lane *lane = fm_eventlog_capability_lane(at, i);
        if (lane->depth == 0)
            fm_state_set(at->state, lane, at->names->idle, 0, at->time);
    }
}

static void capability_create(struct happening *at)
{
    struct fm_lane *lane = fm_eventlog_capability_lane(at, u16_at(at, 0));
    set_event_lane(at, lane);
    if (lane->depth == 0)
        fm_state_set(at->state, lane, at->names->idle, 0, at->time);
}

static void capability_delete(struct happening *at)
{
    uint32_t number = u16_at(at, 0);
    struct fm_lane *lane = fm_eventlog_capability_lane(at, number);
    struct capability *capability = fm_eventlog_capability(at->model, number);
    set_event_lane(at, lane);
    fm_eventlog_gc_leave(at, capability);
    fm_state_lane_end(at->state, lane, at->time);
    capability->lane = capability->running = FM_LANE_NONE;
}

static void capability_disable(struct happening *at)
{
    struct fm_lane *lane = fm_eventlog_capability_lane(at, u16_at(at, 0));
    set_event_lane(at, lane);
    fm_state_set(at->state, lane, at->names->disabled, 0, at->time);
}

static void capability_enable(struct happening *at)
{
    struct fm_lane *lane = fm_eventlog_capability_lane(at, u16_at(at, 0));
    set_event_lane(at, lane);
    fm_state_set(at->state, lane, at->names->idle, 0, at->time);
}

/* --- tasks: threads of the operating system --- */

static void serve(struct happening *at, struct fm_lane *task, uint32_t capability)
{
    set_event_lane(at, task);
    fm_state_set(at->state, task, at->names->serving, capability + UINT64_C(1), at->time);
}

static void task_create(struct happening *at)
{
    uint64_t id = u64_at(at, 0);
    struct fm_lane *old = fm_state_lane_find(at->state, FM_LANE_TASK, id);
    if (old != NULL) { /* ids are used again */
        fm_state_count_inconsistent(at->state);
        fm_state_lane_end(at->state, old, at->time);
    }
    char name[48]; /* a thread of the system may be one task after the other */
    g_snprintf(name, sizeof name, "task %u (thread %" G_GUINT64_FORMAT ")", ++at->model->tasks,
               u64_at(at, 10));
    struct fm_lane *task = fm_eventlog_number_lane(at, FM_LANE_TASK, id, name);
    serve(at, task, u16_at(at, 8));
}

static void task_migrate(struct happening *at)
{
    struct fm_lane *task =
        fm_state_lane_get(at->state, FM_LANE_TASK, u64_at(at, 0), at->model->process, at->time);
    serve(at, task, u16_at(at, 10));
}

static void task_delete(struct happening *at)
{
    struct fm_lane *task = fm_state_lane_find(at->state, FM_LANE_TASK, u64_at(at, 0));
    if (task == NULL) {
        fm_state_count_inconsistent(at->state);
        return;
    }
    set_event_lane(at, task);
    fm_state_lane_end(at->state, task, at->time);
}

/* --- memory, the end --- */

static void shutdown(struct happening *at)
{
    struct fm_lane *lane = capability_here(at);
    if (lane == NULL)
        lane = fm_eventlog_process(at);
    set_event_lane(at, lane);
    fm_state_mark(at->state, lane, at->names->shutdown, at->time);
}

static void memory_return(struct happening *at)
{
    fm_eventlog_heap_number(at, HEAP_RETAINED, "megablocks kept", (double)u32_at(at, 4));
    fm_eventlog_heap_number(at, HEAP_NEEDED, "megablocks needed", (double)u32_at(at, 8));
    fm_eventlog_heap_number(at, HEAP_RETURNED, "megablocks returned", (double)u32_at(at, 12));
}

static void blocks_size(struct happening *at)
{
    fm_eventlog_heap_number(at, HEAP_BLOCKS, "blocks", (double)u64_at(at, 4));
}

static const struct event_rule rules[] = {
    [FM_EVENTLOG_CREATE_THREAD] = {create_thread, 4},
    [FM_EVENTLOG_RUN_THREAD] = {run_thread, 4},
    [FM_EVENTLOG_STOP_THREAD] = {stop_thread, 6},
    [FM_EVENTLOG_THREAD_RUNNABLE] = {thread_runnable, 4},
    [FM_EVENTLOG_MIGRATE_THREAD] = {migrate_thread, 6},
    [FM_EVENTLOG_SHUTDOWN] = {shutdown, 0},
    [FM_EVENTLOG_WAKEUP_THREAD] = {wakeup_thread, 6},
    [FM_EVENTLOG_START_GC] = {fm_eventlog_gc_start, 0},
    [FM_EVENTLOG_END_GC] = {fm_eventlog_gc_end, 0},
    [FM_EVENTLOG_REQUEST_SEQ_GC] = {fm_eventlog_gc_ask_sequential, 0},
    [FM_EVENTLOG_REQUEST_PAR_GC] = {fm_eventlog_gc_ask_parallel, 0},
    [FM_EVENTLOG_CREATE_SPARK_THREAD] = {create_spark_thread, 4},
    [FM_EVENTLOG_STARTUP] = {startup, 2},
    [FM_EVENTLOG_GC_IDLE] = {fm_eventlog_gc_idle, 0},
    [FM_EVENTLOG_GC_WORK] = {fm_eventlog_gc_work, 0},
    [FM_EVENTLOG_GC_DONE] = {fm_eventlog_gc_done, 0},
    [FM_EVENTLOG_SPARK_COUNTERS] = {fm_eventlog_spark_counters, 56},
    [FM_EVENTLOG_SPARK_CREATE] = {fm_eventlog_spark, 0},
    [FM_EVENTLOG_SPARK_DUD] = {fm_eventlog_spark, 0},
    [FM_EVENTLOG_SPARK_OVERFLOW] = {fm_eventlog_spark, 0},
    [FM_EVENTLOG_SPARK_RUN] = {fm_eventlog_spark, 0},
    [FM_EVENTLOG_SPARK_STEAL] = {fm_eventlog_spark_steal, 2},
    [FM_EVENTLOG_SPARK_FIZZLE] = {fm_eventlog_spark, 0},
    [FM_EVENTLOG_SPARK_GC] = {fm_eventlog_spark, 0},
    [FM_EVENTLOG_CAP_CREATE] = {capability_create, 2},
    [FM_EVENTLOG_CAP_DELETE] = {capability_delete, 2},
    [FM_EVENTLOG_CAP_DISABLE] = {capability_disable, 2},
    [FM_EVENTLOG_CAP_ENABLE] = {capability_enable, 2},
    [FM_EVENTLOG_GC_STATS_GHC] = {fm_eventlog_gc_statistics, 50},
    [FM_EVENTLOG_GLOBAL_SYNC_GC] = {fm_eventlog_gc_global_sync, 0},
    [FM_EVENTLOG_TASK_CREATE] = {task_create, 18},
    [FM_EVENTLOG_TASK_MIGRATE] = {task_migrate, 12},
    [FM_EVENTLOG_TASK_DELETE] = {task_delete, 8},
    [FM_EVENTLOG_MEM_RETURN] = {memory_return, 16},
    [FM_EVENTLOG_BLOCKS_SIZE] = {blocks_size, 12},
    [FM_EVENTLOG_HEAP_PROF_COST_CENTRE] = {fm_eventlog_cost_centre, 4},
    [FM_EVENTLOG_HEAP_PROF_SAMPLE_BEGIN] = {fm_eventlog_heap_begin, 8},
    [FM_EVENTLOG_HEAP_PROF_SAMPLE_COST_CENTRE] = {fm_eventlog_heap_cost_centre, 10},
    [FM_EVENTLOG_HEAP_PROF_SAMPLE_STRING] = {fm_eventlog_heap_string, 9},
    [FM_EVENTLOG_HEAP_PROF_SAMPLE_END] = {fm_eventlog_heap_end, 0},
    [FM_EVENTLOG_HEAP_BIO_PROF_SAMPLE_BEGIN] = {fm_eventlog_heap_begin, 16},
    [FM_EVENTLOG_PROF_SAMPLE_COST_CENTRE] = {fm_eventlog_time_sample, 13},
    [FM_EVENTLOG_CONC_MARK_BEGIN] = {fm_eventlog_gc_mark_begin, 0},
    [FM_EVENTLOG_CONC_MARK_END] = {fm_eventlog_gc_mark_end, 0},
    [FM_EVENTLOG_CONC_SYNC_BEGIN] = {fm_eventlog_gc_sync_begin, 0},
    [FM_EVENTLOG_CONC_SYNC_END] = {fm_eventlog_gc_sync_end, 0},
    [FM_EVENTLOG_CONC_SWEEP_BEGIN] = {fm_eventlog_gc_sweep_begin, 0},
    [FM_EVENTLOG_CONC_SWEEP_END] = {fm_eventlog_gc_sweep_end, 0},
};

const struct event_rule *fm_eventlog_rule_haskell(uint32_t number)
{
    return number < G_N_ELEMENTS(rules) && rules[number].handle != NULL ? &rules[number] : NULL;
}
