/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of kernel events, and the lanes that they are about. */
#include "trace/model/kernel_state.h"

uint32_t fm_kernel_value_of(struct kernel_event *at, enum fm_state_class state_class,
                            const char *format, ...)
{
    char name[200];
    va_list arguments;
    va_start(arguments, format);
    g_vsnprintf(name, sizeof name, format, arguments);
    va_end(arguments);
    return fm_trace_value(at->trace, name, state_class);
}

static const struct fm_event_value *field(const struct kernel_event *at, const char *name)
{
    for (unsigned i = 0; i < at->value_count; i++) {
        if (strcmp(at->values[i].name, name) == 0)
            return &at->values[i];
    }
    return NULL;
}

bool fm_kernel_number(const struct kernel_event *at, const char *name, uint64_t *ret)
{
    const struct fm_event_value *value = field(at, name);
    if (value == NULL || value->kind == FM_VALUE_TEXT || value->kind == FM_VALUE_REAL)
        return false;
    *ret = value->number;
    return true;
}

bool fm_kernel_text(const struct kernel_event *at, const char *name, char *ret, size_t size)
{
    g_assert(size > 0);
    const struct fm_event_value *value = field(at, name);
    if (value == NULL || value->kind != FM_VALUE_TEXT || value->text_length == 0)
        return false;
    size_t length = MIN(value->text_length, size - 1);
    memcpy(ret, value->text, length);
    g_assert(length < size);
    ret[length] = '\0';
    return true;
}

bool fm_kernel_either(const struct kernel_event *at, const char *today, const char *old,
                      uint64_t *ret)
{
    return fm_kernel_number(at, today, ret) || fm_kernel_number(at, old, ret);
}

static enum fm_state_class class_at(const struct kernel_event *at, const struct fm_lane *lane,
                                    uint32_t depth)
{
    g_assert(depth < lane->depth);
    return fm_trace_value_class(at->trace, lane->stack[depth].value);
}

enum fm_state_class fm_kernel_top_class(const struct kernel_event *at, const struct fm_lane *lane)
{
    return lane->depth == 0 ? FM_STATE_UNKNOWN : class_at(at, lane, lane->depth - 1);
}

bool fm_kernel_is_idle_task(const struct fm_lane *thread)
{
    return thread->key >> 32 == KERNEL_IDLE_KEY >> 32;
}

struct fm_lane *fm_kernel_cpu_lane(struct kernel_event *at)
{
    if (at->cpu < 0)
        return NULL;
    return fm_state_lane_get(at->state, FM_LANE_CPU, (uint64_t)at->cpu, FM_LANE_NONE, at->time);
}

/* Thread 0 is the idle task, one a CPU. */
struct fm_lane *fm_kernel_thread_lane(struct kernel_event *at, uint64_t tid, int32_t cpu)
{
    uint64_t key = tid != 0 ? tid & UINT32_MAX : KERNEL_IDLE_KEY + (uint64_t)MAX(cpu, 0);
    struct fm_lane *thread = fm_state_lane_find(at->state, FM_LANE_THREAD, key);
    if (thread != NULL)
        return thread;
    thread = fm_state_lane_get(at->state, FM_LANE_THREAD, key, FM_LANE_NONE, at->time);
    char name[32];
    if (tid == 0) {
        g_snprintf(name, sizeof name, "swapper/%d", MAX(cpu, 0));
        fm_state_lane_rename(at->state, thread, name);
        thread->model[THREAD_TYPE] = TYPE_KERNEL;
        fm_state_lane_changed(at->state, thread);
    }
    return thread;
}

void fm_kernel_name_thread(struct kernel_event *at, struct fm_lane *thread, const char *field_name)
{
    char name[64];
    if (!fm_kernel_is_idle_task(thread) && fm_kernel_text(at, field_name, name, sizeof name) &&
        g_strcmp0(thread->name, name) != 0)
        fm_state_lane_rename(at->state, thread, name);
}

void fm_kernel_set_process(struct kernel_event *at, struct fm_lane *thread, uint64_t tgid)
{
    struct fm_lane *process =
        fm_state_lane_get(at->state, FM_LANE_PROCESS, tgid, FM_LANE_NONE, at->time);
    g_assert(process->kind == FM_LANE_PROCESS && thread->kind == FM_LANE_THREAD);
    if (thread->parent != process->index)
        fm_state_lane_set_parent(at->state, thread, process->index);
    if (tgid == thread->key && g_strcmp0(process->name, thread->name) != 0)
        fm_state_lane_rename(at->state, process, thread->name);
}

void fm_kernel_set_parent_process(struct kernel_event *at, const struct fm_lane *thread,
                                  uint64_t ppid)
{
    struct fm_lane *process = fm_state_lane_at(at->state, thread->parent);
    if (process == NULL || ppid == process->key)
        return;
    struct fm_lane *parent =
        fm_state_lane_get(at->state, FM_LANE_PROCESS, ppid, FM_LANE_NONE, at->time);
    if (process->parent != parent->index)
        fm_state_lane_set_parent(at->state, process, parent->index);
}

void fm_kernel_push(struct kernel_event *at, struct fm_lane *lane, uint32_t value, uint64_t detail)
{
    if (lane != NULL)
        fm_state_push(at->state, lane, value, detail, at->time);
}

/* Ignored, and counted, when something else is on top or it is the last entry. */
void fm_kernel_pop(struct kernel_event *at, struct fm_lane *lane, enum fm_state_class state_class)
{
    if (lane == NULL)
        return;
    if (lane->depth > 1 && fm_kernel_top_class(at, lane) == state_class)
        fm_state_pop(at->state, lane, at->time);
    else
        fm_state_count_inconsistent(at->state);
}

/* The state of a thread that runs outside of system calls, by its type. */
static uint32_t base_value(const struct kernel_event *at, const struct fm_lane *thread)
{
    g_assert(thread->kind == FM_LANE_THREAD);
    if (fm_kernel_is_idle_task(thread))
        return at->names->idle;
    switch (thread->model[THREAD_TYPE]) {
    case TYPE_USER:
        return at->names->user;
    case TYPE_KERNEL:
        return at->names->kernel;
    default:
        return at->names->running;
    }
}

/* --- the row of a thread --- */

void fm_kernel_set(struct kernel_event *at, struct fm_lane *thread, uint32_t value)
{
    fm_state_set(at->state, thread, value, 0, at->time);
}

bool fm_kernel_runs(const struct kernel_event *at, const struct fm_lane *thread)
{
    if (thread->depth == 0)
        return false;
    switch (class_at(at, thread, 0)) {
    case FM_STATE_WAITING:
    case FM_STATE_READY:
    case FM_STATE_CREATED:
    case FM_STATE_FINISHED:
        return false;
    default:
        return true;
    }
}

bool fm_kernel_in_system_call(const struct kernel_event *at, const struct fm_lane *thread)
{
    return thread->depth > 0 && class_at(at, thread, 0) == FM_STATE_SYSTEM_CALL &&
           thread->stack[0].value != at->names->kernel &&
           thread->stack[0].value != at->names->exiting;
}

void fm_kernel_set_resumed(struct kernel_event *at, struct fm_lane *thread, uint32_t system_call)
{
    thread->model[THREAD_RESUMES] = system_call;
    fm_state_lane_changed(at->state, thread);
}

/* Of nested traps the outermost one is kept: its end comes last. */
static void keep_resumed(struct kernel_event *at, struct fm_lane *thread)
{
    bool unknown = thread->stack[0].value == at->names->running;
    uint64_t call = unknown || fm_kernel_in_system_call(at, thread) ? thread->stack[0].value : 0;
    bool trapped = thread->depth > 1 && class_at(at, thread, 1) == FM_STATE_TRAP;
    uint64_t trap = trapped ? thread->stack[1].value : 0;
    uint64_t number = trapped ? thread->stack[1].detail & UINT32_MAX : 0;
    thread->model[THREAD_RESUMES] = call | trap << RESUMES_TRAP_SHIFT;
    thread->model[THREAD_LIFE] = (thread->model[THREAD_LIFE] & UINT32_MAX) | number
                                                                                 << LIFE_TRAP_SHIFT;
    fm_state_lane_changed(at->state, thread);
}

/* A thread in a trap waits for that, whatever system call is around it. */
static uint32_t waiting_value(struct kernel_event *at, const struct fm_lane *thread)
{
    uint64_t resumed = thread->model[THREAD_RESUMES];
    uint32_t trap = (uint32_t)(resumed >> RESUMES_TRAP_SHIFT);
    uint32_t in = trap != 0 ? trap : (uint32_t)resumed;
    if (in == 0 || in == at->names->running)
        return at->names->waiting;
    return fm_kernel_value_of(at, FM_STATE_WAITING, "waiting in %s",
                              fm_trace_value_name(at->trace, in));
}

void fm_kernel_leave(struct kernel_event *at, struct fm_lane *thread, uint32_t value)
{
    if (fm_kernel_runs(at, thread))
        keep_resumed(at, thread);
    if (value == at->names->waiting)
        value = waiting_value(at, thread);
    fm_kernel_set(at, thread, value);
}

void fm_kernel_resume(struct kernel_event *at, struct fm_lane *thread)
{
    uint64_t resumed = thread->model[THREAD_RESUMES], life = thread->model[THREAD_LIFE];
    uint32_t call = (uint32_t)resumed, trap = (uint32_t)(resumed >> RESUMES_TRAP_SHIFT);
    if (life & LIFE_EXITING)
        call = at->names->exiting;
    else if (call == at->names->running && thread->model[THREAD_TYPE] == TYPE_KERNEL)
        call = at->names->kernel;
    fm_kernel_set(at, thread, call != 0 ? call : base_value(at, thread));
    if (trap != 0)
        fm_kernel_push(at, thread, trap, life >> LIFE_TRAP_SHIFT);
    fm_kernel_set_resumed(at, thread, 0);
}
