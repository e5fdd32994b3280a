/* SPDX-License-Identifier: Apache-2.0 */
/* Events of programs in LTTng's traces. Their thread is told by the context "vtid", their process
 * by "vpid", its name by "procname". Without a thread they are the process's, without both those of
 * the programs on a CPU, of whose work nothing is known. Functions (lttng_ust_cyg_profile) and
 * pairs of names (x_begin and x_end, _entry and _exit, _start and _stop) are spans, locks of
 * lttng_ust_pthread are waited for and held, all others are points in time. */
#include <string.h>

#include "trace/model/kernel_state.h"
#include "trace/model/program_code.h"

enum { SEARCHED_MAX = 256 }; /* as fm_state_pop_value() does */

enum { THREAD_MASK = (1 << FM_LANE_THREAD_BITS) - 1 };

static struct fm_lane *process_lane(struct kernel_event *at, uint64_t process)
{
    struct fm_lane *lane = fm_state_lane_find(at->state, FM_LANE_PROCESS, process);
    if (lane != NULL)
        return lane;
    lane = fm_state_lane_get(at->state, FM_LANE_PROCESS, process, FM_LANE_NONE, at->time);
    char name[64];
    if (fm_kernel_text(at, "procname", name, sizeof name))
        fm_state_lane_rename(at->state, lane, name);
    return lane;
}

/* Threads may change their names; the first thread's is the process's. */
static void name_program(struct kernel_event *at, struct fm_lane *lane, struct fm_lane *process,
                         bool is_first)
{
    char name[64];
    if (!fm_kernel_text(at, "procname", name, sizeof name))
        return;
    if (strcmp(lane->name, name) != 0)
        fm_state_lane_rename(at->state, lane, name);
    if (is_first && process != NULL && strcmp(process->name, name) != 0)
        fm_state_lane_rename(at->state, process, name);
}

/* The lane of what has no context: by CPU, but no state of that. */
static struct fm_lane *nameless_lane(struct kernel_event *at)
{
    if (at->cpu < 0)
        return NULL;
    uint64_t key = FM_LANE_OF_PROGRAM | (uint64_t)at->cpu << FM_LANE_THREAD_BITS;
    struct fm_lane *lane = fm_state_lane_find(at->state, FM_LANE_THREAD, key);
    if (lane != NULL)
        return lane;
    char name[48];
    g_snprintf(name, sizeof name, "programs on CPU %d", at->cpu);
    return fm_state_lane_new(at->state, FM_LANE_THREAD, key, FM_LANE_NONE, at->time, name);
}

static struct fm_lane *program_lane(struct kernel_event *at)
{
    uint64_t thread = 0, process = 0;
    bool has_thread = fm_kernel_number(at, "vtid", &thread) && thread != 0;
    bool has_process = fm_kernel_number(at, "vpid", &process) && process != 0;
    if (!has_thread && !has_process)
        return at->thread = nameless_lane(at);
    struct fm_lane *parent = has_process ? process_lane(at, process) : NULL;
    uint64_t key = FM_LANE_OF_PROGRAM | (process & THREAD_MASK) << FM_LANE_THREAD_BITS |
                   (thread & THREAD_MASK);
    struct fm_lane *lane = fm_state_lane_find(at->state, FM_LANE_THREAD, key);
    if (lane == NULL) {
        char name[32];
        uint64_t number = has_thread ? thread : process;
        g_snprintf(name, sizeof name, "%s %" G_GUINT64_FORMAT, has_thread ? "thread" : "process",
                   number);
        lane = fm_state_lane_new(at->state, FM_LANE_THREAD, key,
                                 parent == NULL ? FM_LANE_NONE : parent->index, at->time, name);
    }
    name_program(at, lane, parent, !has_thread || process == thread);
    at->thread = lane;
    return lane;
}

static void point(struct kernel_event *at)
{
    struct fm_lane *lane = program_lane(at);
    if (lane != NULL)
        fm_state_mark(at->state, lane, at->known->value, at->time);
}

static void begin_span(struct kernel_event *at)
{
    struct fm_lane *lane = program_lane(at);
    if (lane != NULL)
        fm_state_push(at->state, lane, at->known->value, 0, at->time);
}

static void end_span(struct kernel_event *at)
{
    struct fm_lane *lane = program_lane(at);
    if (lane != NULL)
        fm_state_pop_value(at->state, lane, at->known->value, at->time);
}

static uint32_t function_value(struct kernel_event *at)
{
    uint64_t address = 0;
    (void)fm_kernel_number(at, "addr", &address);
    return fm_program_code_value(at, address);
}

static bool is_on_stack(const struct fm_lane *lane, uint32_t value)
{
    for (uint32_t i = lane->depth; i-- > 0 && lane->depth - i <= SEARCHED_MAX;) {
        if (lane->stack[i].value == value)
            return true;
    }
    return false;
}

/* A function that was entered before its object was told has its address for a name. */
static uint32_t value_on_stack(struct kernel_event *at, const struct fm_lane *lane,
                               uint64_t address)
{
    uint32_t named = fm_program_code_value(at, address);
    char name[24];
    if (is_on_stack(lane, named))
        return named;
    g_snprintf(name, sizeof name, "0x%" G_GINT64_MODIFIER "x", address);
    uint32_t plain = fm_trace_value(at->trace, name, FM_STATE_SPAN);
    return is_on_stack(lane, plain) ? plain : named;
}

static void enter_function(struct kernel_event *at)
{
    struct fm_lane *lane = program_lane(at);
    uint64_t site = 0;
    (void)fm_kernel_number(at, "call_site", &site);
    if (lane != NULL)
        fm_state_push(at->state, lane, function_value(at), site, at->time);
}

static void leave_function(struct kernel_event *at)
{
    struct fm_lane *lane = program_lane(at);
    if (lane == NULL)
        return;
    /* The fast variant does not tell the function. */
    uint64_t address;
    if (fm_kernel_number(at, "addr", &address))
        fm_state_pop_value(at->state, lane, value_on_stack(at, lane, address), at->time);
    else
        fm_state_pop(at->state, lane, at->time);
}

/* --- locks: events of lttng-ust's wrapper of pthread --- */

static struct fm_lane *lock_lane(struct kernel_event *at, const struct fm_lane *thread)
{
    uint64_t address;
    if (!fm_kernel_number(at, "mutex", &address))
        return NULL;
    /* Of two processes one address is two locks. */
    uint64_t process = (thread->key >> FM_LANE_THREAD_BITS) & THREAD_MASK;
    uint64_t key = address ^ process << 40;
    struct fm_lane *lock = fm_state_lane_find(at->state, FM_LANE_LOCK, key);
    if (lock != NULL)
        return lock;
    char name[64];
    if (process != 0)
        g_snprintf(name, sizeof name, "lock 0x%" G_GINT64_MODIFIER "x (pid %" G_GUINT64_FORMAT ")",
                   address, process);
    else
        g_snprintf(name, sizeof name, "lock 0x%" G_GINT64_MODIFIER "x", address);
    return fm_state_lane_new(at->state, FM_LANE_LOCK, key, thread->parent, at->time, name);
}

/* Statistics find waits by the lock's name. */
static uint32_t lock_wait_value(struct kernel_event *at, const struct fm_lane *lock)
{
    return fm_kernel_value_of(at, FM_STATE_WAITING, "waiting for %s", lock->name);
}

static void lock_wait(struct kernel_event *at)
{
    struct fm_lane *thread = program_lane(at);
    const struct fm_lane *lock = thread == NULL ? NULL : lock_lane(at, thread);
    if (lock != NULL)
        fm_state_push(at->state, thread, lock_wait_value(at, lock), lock->key, at->time);
}

static bool is_held_by(const struct fm_lane *lock, const struct fm_lane *thread)
{
    return lock->depth > 0 && lock->stack[lock->depth - 1].detail == thread->key;
}

static void hold(struct kernel_event *at, const struct fm_lane *thread, struct fm_lane *lock)
{
    uint64_t status;
    if (fm_kernel_number(at, "status", &status) && status != 0)
        return; /* it has not got it */
    /* Events come after the calls: that the last holder left it may be told later. */
    while (lock->depth > 0 && !is_held_by(lock, thread))
        fm_state_pop(at->state, lock, at->time);
    uint32_t holder = fm_kernel_value_of(at, FM_STATE_SPAN, "%s (%" G_GUINT64_FORMAT ")",
                                         thread->name, fm_lane_number(thread));
    fm_state_push(at->state, lock, holder, thread->key, at->time);
}

static void lock_got(struct kernel_event *at)
{
    struct fm_lane *thread = program_lane(at);
    struct fm_lane *lock = thread == NULL ? NULL : lock_lane(at, thread);
    if (lock == NULL)
        return;
    uint32_t wait = lock_wait_value(at, lock);
    if (is_on_stack(thread, wait))
        fm_state_pop_value(at->state, thread, wait, at->time);
    hold(at, thread, lock);
}

static void lock_tried(struct kernel_event *at)
{
    struct fm_lane *thread = program_lane(at);
    struct fm_lane *lock = thread == NULL ? NULL : lock_lane(at, thread);
    if (lock != NULL)
        hold(at, thread, lock);
}

/* Of a recursive lock the innermost hold ends. One that was got before the trace, or that another
 * thread has already got, has none. */
static void lock_left(struct kernel_event *at)
{
    const struct fm_lane *thread = program_lane(at);
    struct fm_lane *lock = thread == NULL ? NULL : lock_lane(at, thread);
    uint64_t status;
    if (lock == NULL || (fm_kernel_number(at, "status", &status) && status != 0))
        return;
    if (is_held_by(lock, thread))
        fm_state_pop(at->state, lock, at->time);
}

static kernel_handler *lock_handler(const char *name)
{
    static const struct {
        const char *name;
        kernel_handler *handle;
    } events[] = {
        {"lttng_ust_pthread:pthread_mutex_lock_req", lock_wait},
        {"lttng_ust_pthread:pthread_mutex_lock_acq", lock_got},
        {"lttng_ust_pthread:pthread_mutex_trylock", lock_tried},
        {"lttng_ust_pthread:pthread_mutex_unlock", lock_left},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(events); i++) {
        if (strcmp(events[i].name, name) == 0)
            return events[i].handle;
    }
    return NULL;
}

static bool ends_with(const char *name, const char *ending, size_t *ret_length)
{
    size_t length = strlen(name), cut = strlen(ending);
    if (length <= cut || strcmp(name + length - cut, ending) != 0)
        return false;
    *ret_length = length - cut;
    return true;
}

void fm_kernel_learn_program(struct fm_trace *trace, const char *name, struct kernel_known *known)
{
    static const char *const pairs[][2] = {
        {"_begin", "_end"}, {"_entry", "_exit"}, {"_start", "_stop"}};
    size_t length = strlen(name);
    known->handle = point;
    if (g_str_has_prefix(name, "lttng_ust_cyg_profile")) {
        known->handle = ends_with(name, ":func_entry", &length)  ? enter_function
                        : ends_with(name, ":func_exit", &length) ? leave_function
                                                                 : point;
        return;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(pairs); i++) {
        if (ends_with(name, pairs[i][0], &length))
            known->handle = begin_span;
        else if (ends_with(name, pairs[i][1], &length))
            known->handle = end_span;
    }
    kernel_handler *tells = fm_program_code_handler(name), *locks = lock_handler(name);
    if (tells != NULL)
        known->handle = tells;
    if (locks != NULL)
        known->handle = locks;
    g_autofree char *span = g_strndup(name, length);
    known->value = fm_trace_value(trace, span, FM_STATE_SPAN);
}
