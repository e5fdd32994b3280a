/* SPDX-License-Identifier: Apache-2.0 */
/* The model of LTTng's traces: kernel events by name, today's and those of the first LTTng where
 * they mean the same; and events of programs (names with a colon).
 *
 *   thread   running:   "user mode" | "kernel thread" | "idle" | "running" (mode not known yet),
 *                       above it the system call, trap, interrupts
 *            else:      the same, and on top "waiting", "ready", "created", "exit"
 *            gone:      "zombie", "dead"
 *   CPU      "idle" | "busy", detail = the thread; above it interrupts and traps
 *
 * So a system call lasts from its entry to its exit, and the time that the thread waited in it is
 * nested in it. What lanes keep beside their stacks stands in lane->model, so that a saved state is
 * whole: see enum thread_slot and the others. */
#include <string.h>

#include "trace/model/kernel_state.h"

/* --- names and values --- */

static void free_names(void *data)
{
    struct kernel_names *names = data;
    g_array_unref(names->events);
    g_free(names);
}

static void *make_names(struct fm_trace *trace)
{
    struct kernel_names *names = g_new0(struct kernel_names, 1);
    names->events = g_array_new(FALSE, TRUE, sizeof(struct kernel_known));
    names->idle = fm_trace_value(trace, "idle", FM_STATE_IDLE);
    names->busy = fm_trace_value(trace, "busy", FM_STATE_RUNNING);
    names->running = fm_trace_value(trace, "running", FM_STATE_RUNNING);
    names->user = fm_trace_value(trace, "user mode", FM_STATE_RUNNING);
    names->kernel = fm_trace_value(trace, "kernel thread", FM_STATE_SYSTEM_CALL);
    names->waiting = fm_trace_value(trace, "waiting", FM_STATE_WAITING);
    names->ready = fm_trace_value(trace, "ready", FM_STATE_READY);
    names->created = fm_trace_value(trace, "created", FM_STATE_CREATED);
    names->exit = fm_trace_value(trace, "exit", FM_STATE_FINISHED);
    names->zombie = fm_trace_value(trace, "zombie", FM_STATE_FINISHED);
    names->dead = fm_trace_value(trace, "dead", FM_STATE_FINISHED);
    names->pending = fm_trace_value(trace, "pending", FM_STATE_READY);
    names->handled = fm_trace_value(trace, "handled", FM_STATE_INTERRUPT);
    names->soft_handled = fm_trace_value(trace, "handled", FM_STATE_SOFT_INTERRUPT);
    names->trapped = fm_trace_value(trace, "handled", FM_STATE_TRAP);
    names->reading = fm_trace_value(trace, "reading", FM_STATE_READING);
    names->writing = fm_trace_value(trace, "writing", FM_STATE_WRITING);
    return names;
}

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

/* --- fields --- */

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
    const struct fm_event_value *value = field(at, name);
    if (value == NULL || value->kind != FM_VALUE_TEXT || value->text_length == 0)
        return false;
    size_t length = MIN(value->text_length, size - 1);
    memcpy(ret, value->text, length);
    ret[length] = '\0';
    return true;
}

bool fm_kernel_either(const struct kernel_event *at, const char *today, const char *old,
                      uint64_t *ret)
{
    return fm_kernel_number(at, today, ret) || fm_kernel_number(at, old, ret);
}

/* --- lanes --- */

enum fm_state_class fm_kernel_class_at(const struct kernel_event *at, const struct fm_lane *lane,
                                       uint32_t depth)
{
    return fm_trace_value_class(at->trace, lane->stack[depth].value);
}

enum fm_state_class fm_kernel_top_class(const struct kernel_event *at, const struct fm_lane *lane)
{
    return lane->depth == 0 ? FM_STATE_UNKNOWN : fm_kernel_class_at(at, lane, lane->depth - 1);
}

bool fm_kernel_is_idle_task(const struct fm_lane *thread)
{
    return thread->key >= KERNEL_IDLE_KEY;
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

/* The thread that runs where the event happened; NULL = not known. */
static struct fm_lane *running_thread(struct kernel_event *at)
{
    struct fm_lane *cpu = fm_kernel_cpu_lane(at);
    /* Numbers of a saved state may be anything. */
    if (cpu == NULL || cpu->model[CPU_RUNNING] == 0 ||
        cpu->model[CPU_RUNNING] > fm_state_lane_count(at->state))
        return NULL;
    struct fm_lane *thread = fm_state_lane_at(at->state, (uint32_t)(cpu->model[CPU_RUNNING] - 1));
    if (thread != NULL && thread->kind != FM_LANE_THREAD)
        return NULL;
    return thread == NULL || thread->ended ? NULL : thread;
}

void fm_kernel_set_process(struct kernel_event *at, struct fm_lane *thread, uint64_t tgid)
{
    struct fm_lane *process =
        fm_state_lane_get(at->state, FM_LANE_PROCESS, tgid, FM_LANE_NONE, at->time);
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

uint32_t fm_kernel_base_value(const struct kernel_event *at, const struct fm_lane *thread)
{
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

/* A thread whose base is not known yet has shown by a system call that it is a program's. */
void fm_kernel_set_user(struct kernel_event *at, struct fm_lane *thread)
{
    if (thread->model[THREAD_TYPE] != 0)
        return;
    thread->model[THREAD_TYPE] = TYPE_USER;
    fm_state_lane_changed(at->state, thread);
    if (thread->depth > 0 && thread->stack[0].value == at->names->running)
        fm_state_replace(at->state, thread, 0, at->names->user, 0, at->time);
}

/* --- the table --- */

static const struct kernel_rule rules[] = {
    {"syscall_entry_*", fm_kernel_system_call_entry, 0},
    {"compat_syscall_entry_*", fm_kernel_system_call_entry, 0},
    {"syscall_exit_*", fm_kernel_system_call_exit, 0},
    {"compat_syscall_exit_*", fm_kernel_system_call_exit, 0},
    {"syscall_entry", fm_kernel_system_call_entry, 1},
    {"syscall_exit", fm_kernel_system_call_exit, 1},
    {"trap_entry", fm_kernel_trap_entry, 1},
    {"trap_exit", fm_kernel_trap_exit, 1},
    {"page_fault_entry", fm_kernel_trap_entry, 1},
    {"page_fault_exit", fm_kernel_trap_exit, 1},
    {"page_fault_nosem_entry", fm_kernel_trap_entry, 1},
    {"page_fault_nosem_exit", fm_kernel_trap_exit, 1},
    {"irq_handler_entry", fm_kernel_irq_entry, 0},
    {"irq_handler_exit", fm_kernel_irq_exit, 0},
    {"irq_entry", fm_kernel_irq_entry, 1},
    {"irq_exit", fm_kernel_irq_exit, 1},
    {"softirq_raise", fm_kernel_soft_raise, 0},
    {"irq_softirq_raise", fm_kernel_soft_raise, 0},
    {"softirq_entry", fm_kernel_soft_entry, 0},
    {"irq_softirq_entry", fm_kernel_soft_entry, 0},
    {"softirq_exit", fm_kernel_soft_exit, 0},
    {"irq_softirq_exit", fm_kernel_soft_exit, 0},
    {"sched_switch", fm_kernel_sched_switch, 0},
    {"sched_schedule", fm_kernel_sched_switch, 1},
    {"sched_wakeup", fm_kernel_sched_wakeup, 0},
    {"sched_waking", fm_kernel_sched_wakeup, 0},
    {"sched_wakeup_new", fm_kernel_sched_wakeup, 0},
    {"sched_try_wakeup", fm_kernel_sched_wakeup, 1},
    {"sched_process_fork", fm_kernel_fork_process, 0},
    {"process_fork", fm_kernel_fork_process, 1},
    {"kthread_create", fm_kernel_kernel_thread, 1},
    {"sched_process_exit", fm_kernel_exit_process, 0},
    {"process_exit", fm_kernel_exit_process, 1},
    {"sched_process_free", fm_kernel_free_process, 0},
    {"process_free", fm_kernel_free_process, 1},
    {"sched_process_exec", fm_kernel_exec_process, 0},
    {"exec", fm_kernel_exec_process, 1},
    {"thread_brand", fm_kernel_brand_thread, 1},
    {"block_rq_issue", fm_kernel_disk_issue, 0},
    {"block_rq_complete", fm_kernel_disk_complete, 0},
    {"request_issue", fm_kernel_disk_issue, 1},
    {"request_complete", fm_kernel_disk_complete, 1},
    {"lttng_statedump_process_state", fm_kernel_dump_process, 0},
    {"process_state", fm_kernel_dump_process, 1},
    {"lttng_statedump_end", fm_kernel_dump_end, 0},
    {"statedump_end", fm_kernel_dump_end, 1},
    {"lttng_statedump_interrupt", fm_kernel_dump_interrupt, 0},
    {"list_interrupt", fm_kernel_dump_interrupt, 1},
    {"lttng_statedump_block_device", fm_kernel_dump_disk, 0},
};

static const struct kernel_rule *find_rule(const char *name, const char **ret_rest)
{
    for (size_t i = 0; i < G_N_ELEMENTS(rules); i++) {
        size_t length = strlen(rules[i].name);
        bool prefix = rules[i].name[length - 1] == '*';
        *ret_rest = prefix ? name + length - 1 : "";
        if (prefix ? strncmp(name, rules[i].name, length - 1) == 0
                   : strcmp(name, rules[i].name) == 0)
            return &rules[i];
    }
    return NULL;
}

static void learn(struct kernel_event *at, struct kernel_known *known, const char *name)
{
    const char *dot = strrchr(name, '.'), *rest;
    known->learnt = true;
    if (strchr(name, ':') != NULL) {
        fm_kernel_learn_program(at->trace, name, known);
        return;
    }
    const char *plain = dot == NULL ? name : dot + 1; /* "kernel.syscall_entry" */
    const struct kernel_rule *rule = find_rule(plain, &rest);
    if (rule == NULL)
        return;
    known->handle = rule->handle;
    known->is_old = rule->is_old;
    if (rest[0] != '\0' && rule->handle == fm_kernel_system_call_entry)
        known->value = fm_trace_value(at->trace, rest, FM_STATE_SYSTEM_CALL);
    if (g_str_has_prefix(plain, "page_fault"))
        known->value = fm_trace_value(at->trace, "page fault", FM_STATE_TRAP);
}

static const struct kernel_known *known_event(struct kernel_event *at, struct fm_tracefile *from,
                                              uint32_t id)
{
    static const struct kernel_known nothing;
    GArray *events = at->names->events;
    if (id > UINT16_MAX)
        return &nothing;
    if (id >= events->len)
        g_array_set_size(events, id + 1);
    struct kernel_known *known = &g_array_index(events, struct kernel_known, id);
    const char *name = known->learnt || from->class_->event_name == NULL
                           ? NULL
                           : from->class_->event_name(from, id);
    if (name != NULL)
        learn(at, known, name);
    return known;
}

static void handle_event(struct fm_state *state, void *model,
                         const struct fm_tracefile_context *context)
{
    (void)model;
    struct fm_trace *trace = fm_state_trace(state);
    struct kernel_event at = {
        .state = state,
        .trace = trace,
        .names = fm_trace_model_names(trace, make_names, free_names),
        .cpu = context->event.lane,
        .time = context->event.time,
    };
    at.known = known_event(&at, context->tracefile, context->event.id);
    at.thread = running_thread(&at);
    if (at.known->handle != NULL) {
        if (context->tracefile->class_->event_values != NULL)
            at.value_count = context->tracefile->class_->event_values(context->tracefile,
                                                                      &context->event, at.values);
        at.known->handle(&at);
    }
    struct fm_lane *lane =
        at.thread != NULL && !at.thread->ended ? at.thread : fm_kernel_cpu_lane(&at);
    if (lane != NULL)
        fm_state_set_event_lane(state, lane);
}

/* --- the model: all that it knows stands in the lanes --- */

static void *model_new(struct fm_state *state)
{
    (void)state;
    return g_new0(char, 1);
}

static void *model_copy(const void *model)
{
    return g_memdup2(model, 1);
}

static void model_write(const void *model, GByteArray *to)
{
    (void)model;
    (void)to;
}

static void *model_read(struct fm_state *state, const uint8_t *bytes, size_t length, uint32_t lanes)
{
    (void)lanes;
    (void)bytes;
    return length == 0 ? model_new(state) : NULL;
}

const struct fm_state_model fm_state_model_kernel = {
    .name = "kernel",
    .model_new = model_new,
    .model_copy = model_copy,
    .model_free = g_free,
    .model_write = model_write,
    .model_read = model_read,
    .event = handle_event,
};
