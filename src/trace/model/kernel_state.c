/* SPDX-License-Identifier: Apache-2.0 */
/* The model of LTTng's traces: kernel events by name, today's and those of the first LTTng where
 * they mean the same; and events of programs (names with a colon).
 *
 *   thread   one row: "user mode" | a system call | "kernel thread" | "exiting" | "running" (mode
 * not known yet) | "waiting", "waiting in read" | "ready (preempted)", "ready (woken)", "ready"
 * (why is not known) | "created" | "zombie" | "dead". Nested in it while it runs: traps and
 * interrupts idle     "idle" while it has its CPU, else nothing CPU      "idle" | the thread's name
 * and number, detail = the thread; above it interrupts and traps
 *
 * A thread that loses its CPU in a system call goes on with it later: as another box, so that no
 * time off the CPU counts as the call's. What lanes keep beside their stacks stands in lane->model,
 * so that a saved state is whole: see enum thread_slot and the others. */
#include <string.h>

#include "trace/model/kernel_state.h"
#include "trace/model/program_code.h"

/* --- names and values --- */

static void free_names(void *data)
{
    struct kernel_names *names = data;
    g_array_unref(names->events);
    fm_program_code_free(names->code);
    g_free(names);
}

static void *make_names(struct fm_trace *trace)
{
    struct kernel_names *names = g_new0(struct kernel_names, 1);
    names->events = g_array_new(FALSE, TRUE, sizeof(struct kernel_known));
    names->code = fm_program_code_new();
    names->idle = fm_trace_value(trace, "idle", FM_STATE_IDLE);
    names->running = fm_trace_value(trace, "running", FM_STATE_RUNNING);
    names->user = fm_trace_value(trace, "user mode", FM_STATE_RUNNING);
    names->kernel = fm_trace_value(trace, "kernel thread", FM_STATE_SYSTEM_CALL);
    names->waiting = fm_trace_value(trace, "waiting", FM_STATE_WAITING);
    names->ready = fm_trace_value(trace, "ready", FM_STATE_READY);
    names->preempted = fm_trace_value(trace, "ready (preempted)", FM_STATE_READY);
    names->woken = fm_trace_value(trace, "ready (woken)", FM_STATE_READY);
    names->created = fm_trace_value(trace, "created", FM_STATE_CREATED);
    names->exiting = fm_trace_value(trace, "exiting", FM_STATE_SYSTEM_CALL);
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

/* --- lanes --- */

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

/* --- the table --- */

static const struct kernel_rule rules[] = {
    {"syscall_entry_*", fm_kernel_system_call_entry, 0},
    {"compat_syscall_entry_*", fm_kernel_system_call_entry, 0},
    {"syscall_exit_*", fm_kernel_system_call_exit, 0},
    {"compat_syscall_exit_*", fm_kernel_system_call_exit, 0},
    {"sys_*", fm_kernel_system_call_entry, 0}, /* as LTTng 2.0 to 2.4 named them */
    {"compat_sys_*", fm_kernel_system_call_entry, 0},
    {"exit_syscall", fm_kernel_system_call_exit, 0},
    {"raw_syscalls:sys_enter", fm_kernel_system_call_entry, 0},
    {"raw_syscalls:sys_exit", fm_kernel_system_call_exit, 0},
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

/* The name that rules know: of "kernel.syscall_entry", and of perf's "sched:sched_switch", the last
 * part. NULL for an event of a program, "provider:name". */
static const char *kernel_name(const char *name)
{
    const char *dot = strrchr(name, '.');
    if (strchr(name, ':') == NULL)
        return dot == NULL ? name : dot + 1;
    if (g_str_has_prefix(name, "sched:sched_"))
        return name + strlen("sched:");
    if (g_str_has_prefix(name, "irq:irq_") || g_str_has_prefix(name, "irq:softirq_"))
        return name + strlen("irq:");
    return g_str_has_prefix(name, "raw_syscalls:sys_") ? name : NULL;
}

static void learn(struct kernel_event *at, struct kernel_known *known, const char *name)
{
    const char *plain = kernel_name(name), *rest;
    known->learnt = true;
    if (plain == NULL) {
        fm_kernel_learn_program(at->trace, name, known);
        return;
    }
    const struct kernel_rule *rule = find_rule(plain, &rest);
    if (rule == NULL)
        return;
    known->handle = rule->handle;
    known->is_old = rule->is_old;
    if (rest[0] != '\0' && strcmp(rest, "unknown") != 0 &&
        rule->handle == fm_kernel_system_call_entry)
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
        .cpu = context->event.cpu,
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

/* --- what all states share --- */

static struct kernel_names *names_of(struct fm_trace *trace)
{
    return fm_trace_model_names(trace, make_names, free_names);
}

static void shared_write(struct fm_trace *trace, GByteArray *to)
{
    fm_program_code_write(names_of(trace)->code, to);
}

static bool shared_read(struct fm_trace *trace, const uint8_t *bytes, size_t length)
{
    return fm_program_code_read(names_of(trace)->code, bytes, length);
}

static char *code_name(struct fm_trace *trace, uint64_t process, uint64_t address)
{
    return fm_program_code_name(names_of(trace)->code, process, address);
}

/* --- labels --- */

static char *thread_label(const struct fm_state *state, const struct fm_lane *thread)
{
    GString *label = g_string_new(thread->name);
    bool of_program = (thread->key & FM_LANE_OF_PROGRAM) != 0;
    const char *before = " (";
    if (fm_lane_number(thread) != 0) {
        g_string_append_printf(label, "%stid %" G_GUINT64_FORMAT, before, fm_lane_number(thread));
        before = ", ";
    }
    if (thread->parent < fm_state_lane_count(state)) {
        const struct fm_lane *process = fm_state_lane(state, thread->parent);
        g_string_append_printf(label, "%spid %" G_GUINT64_FORMAT, before, process->key);
        before = ", ";
    }
    if (!of_program && thread->model[THREAD_CPU] != 0)
        g_string_append_printf(label, "%sCPU %" G_GUINT64_FORMAT, before,
                               thread->model[THREAD_CPU] - 1);
    if (label->len > strlen(thread->name))
        g_string_append_c(label, ')');
    return g_string_free(label, FALSE);
}

static char *lane_label(const struct fm_state *state, const struct fm_lane *lane)
{
    if (lane->kind == FM_LANE_THREAD && !fm_kernel_is_idle_task(lane))
        return thread_label(state, lane);
    if (lane->kind == FM_LANE_PROCESS)
        return g_strdup_printf("%s (pid %" G_GUINT64_FORMAT ")", lane->name, lane->key);
    return g_strdup(lane->name);
}

const struct fm_state_model fm_state_model_kernel = {
    .name = "kernel",
    .model_new = model_new,
    .model_copy = model_copy,
    .model_free = g_free,
    .model_write = model_write,
    .model_read = model_read,
    .shared_write = shared_write,
    .shared_read = shared_read,
    .label = lane_label,
    .code = code_name,
    .event = handle_event,
};
