/* SPDX-License-Identifier: Apache-2.0 */
/* System calls, traps, interrupts, disks. */
#include <string.h>

#include "trace/model/kernel_state.h"

static const char *const soft_names[] = {"HI",       "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
                                         "IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU"};

/* --- system calls, traps, interrupts --- */

/* Only a program's thread makes system calls. */
static void set_user(struct kernel_event *at)
{
    at->thread->model[THREAD_TYPE] = TYPE_USER;
    fm_state_lane_changed(at->state, at->thread);
}

void fm_kernel_system_call_entry(struct kernel_event *at)
{
    uint64_t number;
    if (at->thread == NULL || fm_kernel_is_idle_task(at->thread))
        return;
    uint32_t value = at->known->value;
    if (value == 0 && fm_kernel_either(at, "syscall_id", "id", &number))
        value = fm_kernel_value_of(at, FM_STATE_SYSTEM_CALL, "syscall %" G_GUINT64_FORMAT, number);
    else if (value == 0)
        value = fm_kernel_value_of(at, FM_STATE_SYSTEM_CALL, "system call");
    set_user(at);
    fm_kernel_set(at, at->thread, value);
}

void fm_kernel_system_call_exit(struct kernel_event *at)
{
    if (at->thread == NULL || fm_kernel_is_idle_task(at->thread))
        return;
    const struct fm_lane *thread = at->thread;
    bool fits = fm_kernel_in_system_call(at, thread) || thread->depth == 0 ||
                thread->stack[0].value == at->names->running || /* it began before the trace */
                thread->model[THREAD_TYPE] == TYPE_KERNEL;      /* it became a program's */
    if (!fits)
        fm_state_count_inconsistent(at->state);
    set_user(at);
    fm_kernel_set(at, at->thread, at->names->user);
}

/* One more, or one less, is being handled on a lane that counts them. */
static void count_running(struct kernel_event *at, struct fm_lane *lane, int change,
                          uint32_t running, uint32_t otherwise)
{
    g_assert(change == 1 || change == -1);
    if (change < 0 && lane->model[COUNT_RUNNING] == 0) {
        fm_state_count_inconsistent(at->state);
        return;
    }
    lane->model[COUNT_RUNNING] += (uint64_t)(int64_t)change;
    fm_state_lane_changed(at->state, lane);
    uint32_t value = lane->model[COUNT_RUNNING] > 0 ? running : otherwise;
    if (lane->depth == 0 || lane->stack[0].value != value)
        fm_state_set(at->state, lane, value, 0, at->time);
}

static bool trap_number(struct kernel_event *at, uint64_t *ret)
{
    *ret = 14; /* page faults have no number */
    return at->known->value != 0 || fm_kernel_number(at, "trap_id", ret);
}

/* In what the running thread does. */
static void push_nested(struct kernel_event *at, uint32_t value, uint64_t number)
{
    if (at->thread != NULL && fm_kernel_runs(at, at->thread))
        fm_kernel_push(at, at->thread, value, number);
}

void fm_kernel_trap_entry(struct kernel_event *at)
{
    uint64_t number;
    if (!trap_number(at, &number))
        return;
    uint32_t value = at->known->value != 0
                         ? at->known->value
                         : fm_kernel_value_of(at, FM_STATE_TRAP, "trap %" G_GUINT64_FORMAT, number);
    struct fm_lane *lane =
        fm_state_lane_get(at->state, FM_LANE_TRAP, number, FM_LANE_NONE, at->time);
    push_nested(at, value, number);
    fm_kernel_push(at, fm_kernel_cpu_lane(at), value, number);
    count_running(at, lane, 1, at->names->trapped, at->names->idle);
}

void fm_kernel_trap_exit(struct kernel_event *at)
{
    struct fm_lane *cpu = fm_kernel_cpu_lane(at);
    uint64_t number;
    fm_kernel_pop(at, at->thread, FM_STATE_TRAP);
    if (!trap_number(at, &number) && cpu != NULL && fm_kernel_top_class(at, cpu) == FM_STATE_TRAP)
        number = cpu->stack[cpu->depth - 1].detail; /* the exit names none */
    fm_kernel_pop(at, cpu, FM_STATE_TRAP);
    struct fm_lane *lane =
        fm_state_lane_get(at->state, FM_LANE_TRAP, number, FM_LANE_NONE, at->time);
    count_running(at, lane, -1, at->names->trapped, at->names->idle);
}

static struct fm_lane *interrupt_lane(struct kernel_event *at, uint64_t number)
{
    struct fm_lane *lane = fm_state_lane_find(at->state, FM_LANE_INTERRUPT, number);
    if (lane != NULL)
        return lane;
    lane = fm_state_lane_get(at->state, FM_LANE_INTERRUPT, number, FM_LANE_NONE, at->time);
    char name[32];
    g_snprintf(name, sizeof name, "irq %" G_GUINT64_FORMAT, number);
    fm_state_lane_rename(at->state, lane, name);
    return lane;
}

static void name_interrupt(struct kernel_event *at, struct fm_lane *lane, const char *field_name)
{
    char word[64], name[128];
    g_assert(lane->kind == FM_LANE_INTERRUPT);
    if (!fm_kernel_text(at, field_name, word, sizeof word))
        return;
    g_snprintf(name, sizeof name, "irq %" G_GUINT64_FORMAT " %s", lane->key, word);
    if (g_strcmp0(lane->name, name) != 0)
        fm_state_lane_rename(at->state, lane, name);
}

void fm_kernel_irq_entry(struct kernel_event *at)
{
    uint64_t number;
    if (!fm_kernel_either(at, "irq", "irq_id", &number))
        return;
    struct fm_lane *lane = interrupt_lane(at, number);
    name_interrupt(at, lane, "name");
    uint32_t value = fm_trace_value(at->trace, lane->name, FM_STATE_INTERRUPT);
    push_nested(at, value, number);
    fm_kernel_push(at, fm_kernel_cpu_lane(at), value, number);
    if (lane->depth == 0)
        fm_state_set(at->state, lane, at->names->idle, 0, at->time);
    fm_kernel_push(at, lane, at->names->handled, 0);
}

void fm_kernel_irq_exit(struct kernel_event *at)
{
    uint64_t number;
    struct fm_lane *cpu = fm_kernel_cpu_lane(at);
    bool told = fm_kernel_either(at, "irq", "irq_id", &number);
    if (!told && cpu != NULL && fm_kernel_top_class(at, cpu) == FM_STATE_INTERRUPT) {
        number = cpu->stack[cpu->depth - 1].detail;
        told = true;
    }
    fm_kernel_pop(at, at->thread, FM_STATE_INTERRUPT);
    fm_kernel_pop(at, cpu, FM_STATE_INTERRUPT);
    if (told)
        fm_kernel_pop(at, interrupt_lane(at, number), FM_STATE_INTERRUPT);
}

static struct fm_lane *soft_lane(struct kernel_event *at, uint64_t *ret_number)
{
    if (!fm_kernel_either(at, "vec", "softirq_id", ret_number))
        return NULL;
    struct fm_lane *lane = fm_state_lane_find(at->state, FM_LANE_SOFT_INTERRUPT, *ret_number);
    if (lane != NULL)
        return lane;
    lane =
        fm_state_lane_get(at->state, FM_LANE_SOFT_INTERRUPT, *ret_number, FM_LANE_NONE, at->time);
    char name[32];
    if (*ret_number < G_N_ELEMENTS(soft_names))
        g_strlcpy(name, soft_names[*ret_number], sizeof name);
    else
        g_snprintf(name, sizeof name, "softirq %" G_GUINT64_FORMAT, *ret_number);
    fm_state_lane_rename(at->state, lane, name);
    return lane;
}

void fm_kernel_soft_raise(struct kernel_event *at)
{
    uint64_t number;
    struct fm_lane *lane = soft_lane(at, &number);
    if (lane == NULL)
        return;
    lane->model[COUNT_PENDING] = 1;
    fm_state_lane_changed(at->state, lane);
    if (lane->model[COUNT_RUNNING] == 0 &&
        (lane->depth == 0 || lane->stack[0].value != at->names->pending))
        fm_state_set(at->state, lane, at->names->pending, 0, at->time);
}

void fm_kernel_soft_entry(struct kernel_event *at)
{
    uint64_t number;
    struct fm_lane *lane = soft_lane(at, &number);
    if (lane == NULL)
        return;
    uint32_t value = fm_trace_value(at->trace, lane->name, FM_STATE_SOFT_INTERRUPT);
    push_nested(at, value, number);
    fm_kernel_push(at, fm_kernel_cpu_lane(at), value, number);
    lane->model[COUNT_PENDING] = 0;
    count_running(at, lane, 1, at->names->soft_handled, at->names->idle);
}

void fm_kernel_soft_exit(struct kernel_event *at)
{
    uint64_t number;
    struct fm_lane *lane = soft_lane(at, &number);
    fm_kernel_pop(at, at->thread, FM_STATE_SOFT_INTERRUPT);
    fm_kernel_pop(at, fm_kernel_cpu_lane(at), FM_STATE_SOFT_INTERRUPT);
    if (lane != NULL)
        count_running(at, lane, -1, at->names->soft_handled,
                      lane->model[COUNT_PENDING] > 0 ? at->names->pending : at->names->idle);
}

/* --- disks --- */

static bool disk_number(const struct kernel_event *at, uint64_t *ret)
{
    uint64_t minor;
    if (fm_kernel_number(at, "dev", ret))
        return true;
    if (!fm_kernel_number(at, "major", ret) || !fm_kernel_number(at, "minor", &minor))
        return false;
    *ret = *ret << 20 | (minor & 0xFFFFF);
    return true;
}

static struct fm_lane *disk_lane(struct kernel_event *at)
{
    uint64_t number;
    if (!disk_number(at, &number))
        return NULL;
    struct fm_lane *disk = fm_state_lane_find(at->state, FM_LANE_DISK, number);
    if (disk != NULL)
        return disk;
    char name[48];
    disk = fm_state_lane_get(at->state, FM_LANE_DISK, number, FM_LANE_NONE, at->time);
    g_snprintf(name, sizeof name, "disk %" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT, number >> 20,
               number & 0xFFFFF);
    fm_state_lane_rename(at->state, disk, name);
    fm_state_set(at->state, disk, at->names->idle, 0, at->time);
    return disk;
}

static bool writes(const struct kernel_event *at)
{
    uint64_t number;
    char text[32];
    if (fm_kernel_number(at, "direction", &number))
        return number != 0;
    if (fm_kernel_number(at, "rwbs", &number))
        return (number & 1) != 0;
    return fm_kernel_text(at, "rwbs", text, sizeof text) && strchr(text, 'W') != NULL;
}

void fm_kernel_disk_issue(struct kernel_event *at)
{
    fm_kernel_push(at, disk_lane(at), writes(at) ? at->names->writing : at->names->reading, 0);
}

void fm_kernel_disk_complete(struct kernel_event *at)
{
    struct fm_lane *disk = disk_lane(at);
    if (disk == NULL)
        return;
    if (disk->depth > 1)
        fm_state_pop(at->state, disk, at->time);
    else
        fm_state_count_inconsistent(at->state); /* issued before the trace */
}

/* --- their names, dumped at the begin --- */

void fm_kernel_dump_interrupt(struct kernel_event *at)
{
    uint64_t number;
    if (!fm_kernel_either(at, "irq", "irq_id", &number))
        return;
    struct fm_lane *lane = interrupt_lane(at, number);
    name_interrupt(at, lane, "action");
}

void fm_kernel_dump_disk(struct kernel_event *at)
{
    char name[64];
    struct fm_lane *disk = disk_lane(at);
    if (disk != NULL && fm_kernel_text(at, "diskname", name, sizeof name))
        fm_state_lane_rename(at->state, disk, name);
}
