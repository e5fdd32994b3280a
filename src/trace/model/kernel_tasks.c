/* SPDX-License-Identifier: Apache-2.0 */
/* The scheduler, processes, and the dump of them at the begin. */
#include <string.h>

#include "trace/model/kernel_state.h"

/* --- the scheduler --- */

static void release(struct kernel_event *at, struct fm_lane *thread)
{
    thread->model[THREAD_LIFE]++;
    if ((thread->model[THREAD_LIFE] & LIFE_RELEASES) >= 2) {
        fm_state_lane_end(at->state, thread, at->time);
        return;
    }
    fm_state_lane_changed(at->state, thread);
}

/* The meaning of the higher bits differs by kernel: 16 and 32 are zombie and dead, or the reverse;
 * 64 dead or parked; 128 dead, or a kernel thread without work. */
static bool is_dead(const struct kernel_event *at, const struct fm_lane *thread, uint64_t state)
{
    bool exiting = (thread->model[THREAD_LIFE] & LIFE_EXITING) != 0;
    return state == 16 || state == 32 || (state == 64 && at->known->is_old) ||
           ((state == 64 || state == 128) && exiting);
}

static void switch_out(struct kernel_event *at, struct fm_lane *thread, uint64_t state)
{
    if (fm_kernel_is_idle_task(thread)) { /* while others run it does nothing */
        fm_state_empty(at->state, thread, at->time);
        return;
    }
    if (is_dead(at, thread, state)) {
        fm_kernel_set(at, thread, at->names->dead);
        release(at, thread);
        return;
    }
    if (thread->depth > 0 && !fm_kernel_runs(at, thread))
        fm_state_count_inconsistent(at->state);
    /* Bits from 256 on say that it was preempted, whatever the state. */
    bool preempted = state == 0 || (state >= 256 && (state & 255) == 0);
    bool exiting = (thread->model[THREAD_LIFE] & LIFE_EXITING) != 0;
    if (exiting && at->known->is_old && !preempted)
        fm_kernel_set(at, thread, at->names->zombie);
    else
        fm_kernel_leave(at, thread, preempted ? at->names->preempted : at->names->waiting);
}

static void switch_in(struct kernel_event *at, struct fm_lane *thread)
{
    g_assert(at->cpu >= 0);
    if (fm_kernel_top_class(at, thread) == FM_STATE_FINISHED) { /* its number is used again */
        thread->model[THREAD_LIFE] = thread->model[THREAD_RESUMES] = 0;
        fm_state_lane_changed(at->state, thread);
    }
    if (!fm_kernel_runs(at, thread))
        fm_kernel_resume(at, thread);
    g_assert(thread->depth > 0);
    thread->model[THREAD_CPU] = (uint64_t)at->cpu + 1;
    fm_state_lane_changed(at->state, thread);
}

static void set_cpu(struct kernel_event *at, const struct fm_lane *next)
{
    struct fm_lane *cpu = fm_kernel_cpu_lane(at);
    g_assert(cpu != NULL && next->kind == FM_LANE_THREAD);
    /* Coloured by its name, as spans are. */
    uint32_t value = fm_kernel_is_idle_task(next)
                         ? at->names->idle
                         : fm_kernel_value_of(at, FM_STATE_SPAN, "%s (%" G_GUINT64_FORMAT ")",
                                              next->name, next->key);
    fm_state_set(at->state, cpu, value, next->key, at->time);
    if (fm_kernel_top_class(at, next) == FM_STATE_TRAP) {
        const struct fm_state_entry *trap = &next->stack[next->depth - 1];
        fm_kernel_push(at, cpu, trap->value, trap->detail);
    }
    cpu->model[CPU_RUNNING] = (uint64_t)next->index + 1;
    fm_state_lane_changed(at->state, cpu);
}

void fm_kernel_sched_switch(struct kernel_event *at)
{
    uint64_t previous, next, state;
    if (at->cpu < 0 || !fm_kernel_either(at, "prev_tid", "prev_pid", &previous) ||
        !fm_kernel_either(at, "next_tid", "next_pid", &next))
        return;
    if (!fm_kernel_number(at, "prev_state", &state))
        state = 0;
    struct fm_lane *out = fm_kernel_thread_lane(at, previous, at->cpu);
    fm_kernel_name_thread(at, out, "prev_comm");
    switch_out(at, out, state);
    struct fm_lane *in = fm_kernel_thread_lane(at, next, at->cpu);
    fm_kernel_name_thread(at, in, "next_comm");
    switch_in(at, in);
    set_cpu(at, in);
    at->thread = in;
}

void fm_kernel_sched_wakeup(struct kernel_event *at)
{
    uint64_t tid;
    if (!fm_kernel_either(at, "tid", "pid", &tid) || tid == 0)
        return;
    struct fm_lane *thread = fm_kernel_thread_lane(at, tid, at->cpu);
    fm_kernel_name_thread(at, thread, "comm");
    enum fm_state_class top = fm_kernel_top_class(at, thread);
    if (thread->depth > 0 && top != FM_STATE_WAITING && top != FM_STATE_CREATED)
        return; /* it is running, or has been woken already */
    fm_kernel_set(at, thread, at->names->woken);
    if (at->thread != NULL && at->thread != thread)
        fm_state_arrow(at->state, at->thread, at->time, thread, at->time);
}

/* --- processes --- */

static uint32_t fork_call(struct kernel_event *at, const struct fm_lane *parent)
{
    if (parent != NULL && fm_kernel_in_system_call(at, parent))
        return parent->stack[0].value;
    return fm_kernel_value_of(at, FM_STATE_SYSTEM_CALL, "fork");
}

void fm_kernel_fork_process(struct kernel_event *at)
{
    uint64_t tid, tgid, parent_tid, parent_tgid;
    if (!fm_kernel_either(at, "child_tid", "child_pid", &tid) || tid == 0)
        return;
    /* Beside child_tid child_pid is the process; in old LTTng's events and perf's the thread. */
    uint64_t same;
    bool has_process = fm_kernel_number(at, "child_tid", &same)
                           ? fm_kernel_number(at, "child_pid", &tgid)
                           : fm_kernel_number(at, "child_tgid", &tgid);
    struct fm_lane *parent = at->thread;
    if (fm_kernel_either(at, "parent_tid", "parent_pid", &parent_tid) && parent_tid != 0)
        parent = fm_kernel_thread_lane(at, parent_tid, at->cpu);
    struct fm_lane *old = fm_state_lane_find(at->state, FM_LANE_THREAD, tid & UINT32_MAX);
    if (old != NULL)
        fm_state_lane_end(at->state, old, at->time);
    struct fm_lane *child = fm_kernel_thread_lane(at, tid, at->cpu);
    if (parent != NULL)
        fm_state_lane_rename(at->state, child, parent->name);
    fm_kernel_name_thread(at, child, "child_comm");
    bool kernel = parent != NULL && parent->model[THREAD_TYPE] == TYPE_KERNEL;
    child->model[THREAD_TYPE] = kernel ? TYPE_KERNEL : TYPE_USER;
    fm_kernel_set_resumed(at, child, kernel ? 0 : fork_call(at, parent));
    fm_kernel_set(at, child, at->names->created);
    if (has_process)
        fm_kernel_set_process(at, child, tgid);
    if (has_process && tgid == tid && !at->known->is_old &&
        fm_kernel_number(at, "parent_pid", &parent_tgid))
        fm_kernel_set_parent_process(at, child, parent_tgid);
    if (parent != NULL)
        fm_state_arrow(at->state, parent, at->time, child, at->time);
}

void fm_kernel_kernel_thread(struct kernel_event *at)
{
    uint64_t tid;
    if (!fm_kernel_either(at, "tid", "pid", &tid) || tid == 0)
        return;
    struct fm_lane *thread = fm_kernel_thread_lane(at, tid, at->cpu);
    thread->model[THREAD_TYPE] = TYPE_KERNEL;
    fm_kernel_set_resumed(at, thread, 0);
    if (fm_kernel_runs(at, thread))
        fm_kernel_set(at, thread, at->names->kernel);
}

void fm_kernel_exit_process(struct kernel_event *at)
{
    uint64_t tid;
    if (!fm_kernel_either(at, "tid", "pid", &tid) || tid == 0)
        return;
    struct fm_lane *thread = fm_kernel_thread_lane(at, tid, at->cpu);
    fm_kernel_name_thread(at, thread, "comm");
    thread->model[THREAD_LIFE] |= LIFE_EXITING;
    fm_kernel_set_resumed(at, thread, 0);
    if (thread->depth == 0 || fm_kernel_runs(at, thread))
        fm_kernel_set(at, thread, at->names->exiting);
}

void fm_kernel_free_process(struct kernel_event *at)
{
    uint64_t tid;
    if (!fm_kernel_either(at, "tid", "pid", &tid) || tid == 0)
        return;
    struct fm_lane *thread = fm_state_lane_find(at->state, FM_LANE_THREAD, tid & UINT32_MAX);
    if (thread != NULL)
        release(at, thread);
}

void fm_kernel_exec_process(struct kernel_event *at)
{
    char path[512];
    uint64_t tid;
    struct fm_lane *thread = at->thread;
    if (fm_kernel_number(at, "tid", &tid) && tid != 0)
        thread = fm_kernel_thread_lane(at, tid, at->cpu);
    if (thread == NULL || fm_kernel_is_idle_task(thread) ||
        !fm_kernel_text(at, "filename", path, sizeof path))
        return;
    g_autofree char *name = g_path_get_basename(path);
    fm_state_lane_rename(at->state, thread, name);
    struct fm_lane *process = fm_state_lane_at(at->state, thread->parent);
    if (process != NULL)
        fm_state_lane_rename(at->state, process, name);
}

void fm_kernel_brand_thread(struct kernel_event *at)
{
    char name[64];
    if (at->thread != NULL && fm_kernel_text(at, "name", name, sizeof name))
        fm_state_lane_rename(at->state, at->thread, name);
}

/* --- the dump of the state at the begin --- */

/* A program's thread may be in a system call or not. */
static uint32_t unknown_mode(const struct kernel_event *at, const struct fm_lane *thread)
{
    return thread->model[THREAD_TYPE] == TYPE_KERNEL ? 0 : at->names->running;
}

/* A program's thread waits in a system call, or in a trap. */
static void wait_somewhere(struct kernel_event *at, struct fm_lane *thread)
{
    fm_kernel_set(at, thread, at->names->waiting);
    if (thread->model[THREAD_TYPE] == TYPE_USER)
        fm_kernel_set_resumed(at, thread,
                              fm_kernel_value_of(at, FM_STATE_SYSTEM_CALL, "system call"));
}

static void dump_status(struct kernel_event *at, struct fm_lane *thread)
{
    enum { UNNAMED, WAIT_FORK, WAIT_CPU, EXIT, ZOMBIE, WAIT, RUN, DEAD };
    uint64_t status;
    if (!fm_kernel_number(at, "status", &status))
        status = UNNAMED;
    /* Today's LTTng says WAIT_FORK of every thread that runs or is ready to. */
    if (status == WAIT_FORK && !at->known->is_old)
        status = WAIT_CPU;
    switch (status) {
    case ZOMBIE:
        fm_kernel_set(at, thread, at->names->zombie);
        break;
    case DEAD:
        fm_kernel_set(at, thread, at->names->dead);
        break;
    case EXIT:
        thread->model[THREAD_LIFE] |= LIFE_EXITING;
        fm_kernel_set(at, thread, at->names->exiting);
        break;
    case WAIT:
        wait_somewhere(at, thread);
        break;
    case WAIT_FORK:
        fm_kernel_set(at, thread, at->names->created);
        break;
    case WAIT_CPU:
        fm_kernel_set_resumed(at, thread, unknown_mode(at, thread));
        fm_kernel_set(at, thread, at->names->ready);
        break;
    case RUN:
        fm_kernel_set_resumed(at, thread, unknown_mode(at, thread));
        fm_kernel_resume(at, thread);
        break;
    default: /* told at the end of the dump */
        break;
    }
}

void fm_kernel_dump_process(struct kernel_event *at)
{
    uint64_t tid, tgid, ppid, type;
    /* Old dumps have the thread in "pid" and the process in "tgid". */
    bool old = !fm_kernel_number(at, "tid", &tid);
    if ((old && !fm_kernel_number(at, "pid", &tid)) || tid == 0)
        return;
    struct fm_lane *thread = fm_kernel_thread_lane(at, tid, at->cpu);
    fm_kernel_name_thread(at, thread, "name");
    if (thread->model[THREAD_TYPE] == 0 && fm_kernel_number(at, "type", &type)) {
        thread->model[THREAD_TYPE] = type == 1 ? TYPE_KERNEL : TYPE_USER;
        fm_state_lane_changed(at->state, thread);
        /* An interrupt of it goes on: then it stays so until it is switched. */
        if (type == 1 && thread->depth == 1 && thread->stack[0].value == at->names->running)
            fm_kernel_set(at, thread, at->names->kernel);
    }
    if (fm_kernel_number(at, old ? "tgid" : "pid", &tgid))
        fm_kernel_set_process(at, thread, tgid);
    if (fm_kernel_either(at, "ppid", "parent_pid", &ppid) && ppid != 0)
        fm_kernel_set_parent_process(at, thread, ppid);
    if (thread->depth == 0)
        dump_status(at, thread);
}

/* Threads that were not reported otherwise are waiting: a kernel thread, or a program in a system
 * call. */
void fm_kernel_dump_end(struct kernel_event *at)
{
    uint32_t count = fm_state_lane_count(at->state);
    for (uint32_t i = 0; i < count; i++) {
        struct fm_lane *lane = fm_state_lane_at(at->state, i);
        if (lane->kind != FM_LANE_THREAD || lane->ended || lane->depth > 0 ||
            fm_kernel_is_idle_task(lane))
            continue;
        wait_somewhere(at, lane);
    }
}
