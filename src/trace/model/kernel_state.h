/* SPDX-License-Identifier: Apache-2.0 */
/* The model of LTTng's traces; seen by its own files only: kernel_state.c (names, lanes, the
 * table of events), kernel_tasks.c, kernel_interrupts.c, program_state.c. */
#pragma once

#include "trace/state/state_internal.h"

#define KERNEL_IDLE_KEY (UINT64_C(1) << 32) /* + CPU: key of its idle task */

/* Data that lanes keep in lane->model. */
enum thread_slot { THREAD_CPU /* + 1 */, THREAD_LIFE, THREAD_TYPE, THREAD_RESUMES };
/* THREAD_LIFE: the number of releases, whether the thread is exiting, and the number of the trap
 * that it goes on with. */
#define LIFE_RELEASES UINT64_C(0xff)
#define LIFE_EXITING UINT64_C(0x100)
enum { LIFE_TRAP_SHIFT = 32 };
enum thread_type { TYPE_USER = 1, TYPE_KERNEL = 2 }; /* 0 = not known */
/* THREAD_RESUMES: what a thread off its CPU goes on with. The value of its system call, and above
 * this shift that of its trap; 0 = none. */
enum { RESUMES_TRAP_SHIFT = 32 };
enum cpu_slot { CPU_RUNNING /* lane of the thread, + 1 */ };
enum count_slot { COUNT_PENDING, COUNT_RUNNING };

struct fm_program_code;
struct kernel_event;
typedef void kernel_handler(struct kernel_event *at);

struct kernel_rule {
    const char *name; /* * at the end stands for any text */
    kernel_handler *handle;
    bool is_old; /* named as by the first LTTng */
};

/* Facts about an event type. */
struct kernel_known {
    kernel_handler *handle;
    uint32_t value; /* system call, span; 0 = none */
    bool learnt, is_old;
};

/* Names of a trace that all its states share. */
struct kernel_names {
    GArray *events; /* holds struct kernel_known, by event id */
    uint32_t idle, running, user, kernel, exiting;
    uint32_t waiting, ready, preempted, woken, created, zombie, dead;
    uint32_t pending, handled, soft_handled, trapped, reading, writing;
    struct fm_program_code *code;
};

/* One event. */
struct kernel_event {
    struct fm_state *state;
    struct fm_trace *trace;
    struct kernel_names *names;
    const struct kernel_known *known;
    uint64_t time;
    int32_t cpu;            /* -1 = none */
    struct fm_lane *thread; /* that runs there; NULL = not known */
    struct fm_event_value values[FM_EVENT_VALUES_MAX];
    unsigned value_count;
};

bool fm_kernel_number(const struct kernel_event *at, const char *name, uint64_t *ret);
/* False when there is none or it is empty. Cut to the size. */
bool fm_kernel_text(const struct kernel_event *at, const char *name, char *ret, size_t size);

/* The first name is today's, the second that of the first LTTng. */
bool fm_kernel_either(const struct kernel_event *at, const char *today, const char *old,
                      uint64_t *ret);
uint32_t fm_kernel_value_of(struct kernel_event *at, enum fm_state_class state_class,
                            const char *format, ...) G_GNUC_PRINTF(3, 4);

/* FM_STATE_UNKNOWN for an empty stack. */
enum fm_state_class fm_kernel_top_class(const struct kernel_event *at, const struct fm_lane *lane);
bool fm_kernel_is_idle_task(const struct fm_lane *thread);
/* NULL when the event happened on none. */
struct fm_lane *fm_kernel_cpu_lane(struct kernel_event *at);
/* Thread 0 is the idle task, one a CPU. */
struct fm_lane *fm_kernel_thread_lane(struct kernel_event *at, uint64_t tid, int32_t cpu);
void fm_kernel_name_thread(struct kernel_event *at, struct fm_lane *thread, const char *field_name);
void fm_kernel_set_process(struct kernel_event *at, struct fm_lane *thread, uint64_t tgid);
void fm_kernel_set_parent_process(struct kernel_event *at, const struct fm_lane *thread,
                                  uint64_t ppid);
/* The lane may be NULL. */
void fm_kernel_push(struct kernel_event *at, struct fm_lane *lane, uint32_t value, uint64_t detail);
/* Ignored, and counted, when something else is on top or it is the last entry. */
void fm_kernel_pop(struct kernel_event *at, struct fm_lane *lane, enum fm_state_class state_class);
/* The one row of a thread; interrupts and traps are nested in it and end with it. */
void fm_kernel_set(struct kernel_event *at, struct fm_lane *thread, uint32_t value);
/* Whether its row is a state in which it has a CPU. */
bool fm_kernel_runs(const struct kernel_event *at, const struct fm_lane *thread);
/* Whether it runs in a system call that has been seen or was told by the dump. */
bool fm_kernel_in_system_call(const struct kernel_event *at, const struct fm_lane *thread);
/* It loses its CPU: its row becomes value, which is named after the system call or trap that it is
 * in when it is the plain "waiting". */
void fm_kernel_leave(struct kernel_event *at, struct fm_lane *thread, uint32_t value);
/* It gets a CPU and goes on with what it was doing. */
void fm_kernel_resume(struct kernel_event *at, struct fm_lane *thread);
/* The system call that a thread off its CPU goes on with. */
void fm_kernel_set_resumed(struct kernel_event *at, struct fm_lane *thread, uint32_t system_call);

kernel_handler fm_kernel_system_call_entry, fm_kernel_system_call_exit, fm_kernel_trap_entry,
    fm_kernel_trap_exit, fm_kernel_irq_entry, fm_kernel_irq_exit, fm_kernel_soft_raise,
    fm_kernel_soft_entry, fm_kernel_soft_exit, fm_kernel_sched_switch, fm_kernel_sched_wakeup,
    fm_kernel_fork_process, fm_kernel_kernel_thread, fm_kernel_exit_process, fm_kernel_free_process,
    fm_kernel_exec_process, fm_kernel_brand_thread, fm_kernel_disk_issue, fm_kernel_disk_complete,
    fm_kernel_dump_process, fm_kernel_dump_end, fm_kernel_dump_interrupt, fm_kernel_dump_disk;

/* program_state.c: what an event of a program ("provider:name") does. */
void fm_kernel_learn_program(struct fm_trace *trace, const char *name, struct kernel_known *known);
