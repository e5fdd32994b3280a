/* SPDX-License-Identifier: Apache-2.0 */
/* Replays the events that a stream needs to be understood, whenever it begins. */
#include "core/clock.h"
#include "core/pool.h"
#include "core/shared.h"
#include "core/threads.h"
#include "lanes/deliver.h"
#include "lanes/lane.h"
#include "state/replay.h"
#include "state/state.h"

#include <stdio.h>

static void event32_16(struct fm_el_replay *o, uint16_t type, uint64_t ns, uint32_t a, uint16_t b)
{
    a = fm_eventlog_be32_(a);
    b = fm_eventlog_be16_(b);
    fm_el_replay_event(o, type, ns, &a, 4, &b, 2);
}

static void event16(struct fm_el_replay *o, uint16_t type, uint64_t ns, uint16_t v)
{
    v = fm_eventlog_be16_(v);
    fm_el_replay_event(o, type, ns, &v, 2, NULL, 0);
}

static void replay_process(struct fm_el_replay *o)
{
    const struct fm_el_process *process = fm_el_process();
    const struct fm_el_bytes *modules = fm_el_process_modules();
    static const char identity[] = "fathom-0.1.0 C event log";
    const uint32_t zero = 0, one = fm_eventlog_be32_(1);
    event32_16(o, FM_EVENT_CAPSET_CREATE, 0, 0, 2); /* the process */
    event32_16(o, FM_EVENT_CAPSET_CREATE, 0, 1, 3); /* its clock domain */
    fm_el_replay_event(o, FM_EVENT_RTS_IDENTIFIER, 0, &zero, 4, identity, sizeof(identity) - 1);
    fm_el_replay_event(o, FM_EVENT_PROGRAM_ARGS, 0, &zero, 4, process->args, process->args_bytes);
    uint32_t pid = fm_eventlog_be32_(process->pid), ppid = fm_eventlog_be32_(process->ppid);
    fm_el_replay_event(o, FM_EVENT_OS_PROCESS_PID, 0, &zero, 4, &pid, 4);
    fm_el_replay_event(o, FM_EVENT_OS_PROCESS_PPID, 0, &zero, 4, &ppid, 4);
    struct fm_eventlog_w32_w64_ wall = {one, fm_eventlog_be64_(process->wall_s)};
    uint32_t wall_ns = fm_eventlog_be32_(process->wall_ns);
    fm_el_replay_event(o, FM_EVENT_WALL_CLOCK_TIME, process->wall_at_ns, &wall, sizeof(wall),
                       &wall_ns, 4);
    for (size_t at = 0; at + 2 <= modules->used && !modules->failed;) {
        size_t bytes = fm_el_get16(modules->data + at);
        fm_el_replay_event(o, FM_EVENT_MODULE, process->wall_at_ns, modules->data + at + 2, bytes,
                           NULL, 0);
        at += 2 + bytes;
    }
}

static void replay_names(struct fm_el_replay *o)
{
    for (const struct fm_el_name *n = fm_el_names_newest(); n; n = n->next_all) {
        uint32_t id = fm_eventlog_be32_(n->id);
        fm_el_replay_event(o, FM_EVENT_INTERN_STRING, n->made_ns, n->text, n->bytes, &id, 4);
    }
}

static void replay_lock_names(struct fm_el_replay *o)
{
    struct fm_el_lock_name entry;
    for (uint32_t i = 0; fm_el_state_lock_name(i, &entry); i++) {
        uint64_t lock = fm_eventlog_be64_(entry.lock);
        uint32_t name = fm_eventlog_be32_(entry.name);
        fm_el_replay_event(o, FM_EVENT_LOCK_NAME, entry.named_ns, &lock, 8, &name, 4);
    }
}

/* The label is dated from the thread's begin, the state from its last change. */
static void replay_thread_state(struct fm_el_replay *o, const struct fm_el_thread *t)
{
    uint32_t id = fm_eventlog_be32_(t->id), info = fm_eventlog_be32_(t->info);
    if (t->label)
        fm_el_replay_event(o, FM_EVENT_THREAD_LABEL, t->created_ns, &id, 4, t->label->text,
                           t->label->bytes);
    if (t->state == 1)
        fm_el_replay_event(o, FM_EVENT_THREAD_RUN, t->changed_ns, &id, 4, NULL, 0);
    if (t->state == 3)
        fm_el_replay_event(o, FM_EVENT_THREAD_RUNNABLE, t->changed_ns, &id, 4, NULL, 0);
    if (t->state == 2) {
        unsigned char rest[6];
        uint16_t status = fm_eventlog_be16_(t->status);
        memcpy(rest, &status, 2);
        memcpy(rest + 2, &info, 4);
        fm_el_replay_event(o, FM_EVENT_THREAD_STOP, t->changed_ns, &id, 4, rest, 6);
    }
}

/* The thread that logs into a lane, from its first event on. */
static void replay_owner(struct fm_el_replay *o, const struct fm_el_lane *l)
{
    unsigned char payload[18];
    uint64_t task = fm_eventlog_be64_((uint64_t)l->task);
    uint16_t cap = fm_eventlog_be16_(l->number);
    uint32_t id = fm_eventlog_be32_(l->thread);
    if (l->attached_ns > o->until) /* later blocks contain it */
        return;
    memcpy(payload, &task, 8);
    memcpy(payload + 8, &cap, 2);
    memcpy(payload + 10, &task, 8);
    fm_el_replay_event(o, FM_EVENT_TASK_CREATE, l->attached_ns, payload, sizeof(payload), NULL, 0);
    if (fm_el.no_state)
        return;
    fm_el_replay_event(o, FM_EVENT_THREAD_CREATE, l->attached_ns, &id, 4, NULL, 0);
    event32_16(o, FM_EVENT_THREAD_MIGRATE, l->attached_ns, l->thread, l->number);
    const struct fm_el_thread *t = fm_el_state_thread(l->thread);
    if (t)
        replay_thread_state(o, t);
}

/* Lanes are created and assigned under the state lock, so their fields do not change meanwhile. All
 * lanes are put into one block, so that no time is moved to the end of another block. */
static void replay_lanes(struct fm_el_replay *o)
{
    o->whole = true;
    for (unsigned i = 0; i < fm_el_lane_count(); i++) {
        const struct fm_el_lane *l = fm_el_lane_at(i);
        if (l->created_ns == 0)
            continue;
        event16(o, FM_EVENT_CAP_CREATE, l->created_ns, l->number);
        event32_16(o, FM_EVENT_CAPSET_ASSIGN_CAP, l->created_ns, 0, l->number);
        event32_16(o, FM_EVENT_CAPSET_ASSIGN_CAP, l->created_ns, 1, l->number);
        if (l->in_use)
            replay_owner(o, l);
        else if (l->detached_ns <= o->until)
            event16(o, FM_EVENT_CAP_DISABLE, l->detached_ns, l->number);
    }
    o->whole = false;
}

/* Whether it is the lane's own thread, not one of the program's scheduler that runs there. */
static bool is_owner(const struct fm_el_thread *t)
{
    return t->lane != FM_EL_NO_CAP && fm_el_lane_at(t->lane)->in_use &&
           fm_el_lane_at(t->lane)->thread == t->id;
}

/* Threads of the program's own scheduler. */
static void replay_threads(struct fm_el_replay *o)
{
    uint32_t count;
    size_t bytes;
    struct fm_el_thread *list = fm_el_state_threads(&count, &bytes);
    for (uint32_t i = 0; i < count; i++) {
        const struct fm_el_thread *t = &list[i];
        uint32_t id = fm_eventlog_be32_(t->id);
        if (is_owner(t))
            continue;
        fm_el_replay_event(o, FM_EVENT_THREAD_CREATE, t->created_ns, &id, 4, NULL, 0);
        if (t->state == 1 && t->lane != FM_EL_NO_CAP && fm_el_lane_at(t->lane)->in_use)
            event32_16(o, FM_EVENT_THREAD_MIGRATE, t->changed_ns, t->id, t->lane);
        replay_thread_state(o, t);
    }
    fm_el_pool_free(list, bytes);
}

void fm_el_replay(struct fm_el_bytes *b, bool again, uint64_t from_ns, uint64_t until_ns,
                  bool values)
{
    static const char begins[] = "fathom: replay begins";
    FM_EL_ASSERT(from_ns <= until_ns);
    struct fm_el_replay o = {.b = b, .floor = from_ns, .until = until_ns};
    again |= fm_el.begun || (values && fm_el_values_any());
    fm_el.begun = true;
    if (again)
        fm_el_replay_event(&o, FM_EVENT_LOG_MESSAGE, 0, begins, sizeof(begins) - 1, NULL, 0);
    replay_process(&o);
    replay_lanes(&o);
    replay_names(&o);
    replay_lock_names(&o);
    replay_threads(&o);
    if (values)
        fm_el_values_replay(&o);
    if (again) {
        char text[64];
        int n = snprintf(text, sizeof(text), "fathom: replay ends: %u events", o.count - 1);
        fm_el_replay_event(&o, FM_EVENT_LOG_MESSAGE, until_ns, text, (size_t)n, NULL, 0);
    }
    fm_el_replay_close(&o, until_ns);
    fm_el_global_not_before(until_ns);
    fm_el_count(&fm_el.replayed, o.count);
}
