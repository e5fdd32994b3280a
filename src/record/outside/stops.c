/* SPDX-License-Identifier: Apache-2.0 */
#include "record/outside/stops.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#include "base/process.h"

#define WAIT_NS 20000        /* from one look whether it has stopped to the next */
#define WAIT_MAX_NS 20000000 /* then it is looked at again by the next sample */
#define CALL_BYTES 2u        /* the instruction syscall is that long */

struct fm_stops {
    const struct fm_target *target;
    struct fm_perf_live *live;
    GHashTable *late; /* tids that were asked to stop, and have not yet */
    struct fm_python *python;
    GByteArray *stack, *scripts;
    uint64_t ns, count;
};

enum stop { STOPPED, RUNNING, GONE };

/* Looks without taking the event: the signal that stopped the thread stays there, so it is
 * delivered even if fathom is killed at this moment. */
static enum stop look(const struct fm_stops *stops, pid_t tid, int *ret_signal)
{
    siginfo_t event = {.si_pid = 0};
    int status;
    if (waitid(P_PID, (id_t)tid, &event, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL) != 0)
        return errno == EINTR ? RUNNING : GONE;
    if (event.si_pid == 0)
        return RUNNING;
    if (event.si_code == CLD_TRAPPED || event.si_code == CLD_STOPPED) {
        *ret_signal = event.si_status & 0xff;
        /* A stop by PTRACE_EVENT_STOP is no signal to be delivered. */
        if (event.si_status >> 8 != 0)
            *ret_signal = 0;
        return STOPPED;
    }
    /* Its parent learns of the end when its tracer has. Our own child is the caller's to wait for.
     */
    if (tid != stops->target->pid || stops->target->parent != getpid())
        waitpid(tid, &status, __WALL | WNOHANG);
    return GONE;
}

static enum stop wait_for(const struct fm_stops *stops, pid_t tid, uint64_t max_ns, int *ret_signal)
{
    const struct timespec moment = {.tv_nsec = WAIT_NS};
    uint64_t end = fm_outside_clock_ns(CLOCK_MONOTONIC) + max_ns;
    enum stop stop;
    while ((stop = look(stops, tid, ret_signal)) == RUNNING &&
           fm_outside_clock_ns(CLOCK_MONOTONIC) < end)
        nanosleep(&moment, NULL);
    return stop;
}

/* --- what is copied --- */

static void set_registers(struct fm_outside_sample *sample, const struct user_regs_struct *of)
{
    const uint64_t values[FM_OUTSIDE_REGISTERS] = {
        of->rax, of->rbx, of->rcx, of->rdx, of->rsi, of->rdi, of->rbp, of->rsp,
        of->rip, 0,       0,       0,       0,       0,       0,       0,
        of->r8,  of->r9,  of->r10, of->r11, of->r12, of->r13, of->r14, of->r15};
    memcpy(sample->registers, values, sizeof values);
    sample->known = FM_OUTSIDE_ALL_REGISTERS;
}

/* A mask of signals in /proc/PID/task/TID/status. */
static uint64_t mask_of(const char *text, const char *field)
{
    const char *at = strstr(text, field);
    return at == NULL ? UINT64_MAX : g_ascii_strtoull(at + strlen(field), NULL, 16);
}

/* Whether a signal is to come that the thread does not block. */
static bool has_signals(const struct fm_stops *stops, pid_t tid)
{
    char text[4096];
    if (!fm_process_read(stops->target->pid, tid, "status", text, sizeof text))
        return true;
    uint64_t pending = mask_of(text, "\nSigPnd:") | mask_of(text, "\nShdPnd:");
    return (pending & ~mask_of(text, "\nSigBlk:")) != 0;
}

/* Calls that a stop ends with EINTR, having done nothing (signal(7)). Not connect() and close(),
 * which have done something. */
static bool is_repeatable(uint64_t call)
{
    static const uint16_t calls[] = {
        SYS_read,         SYS_write,         SYS_accept,       SYS_sendto,  SYS_recvfrom,
        SYS_sendmsg,      SYS_recvmsg,       SYS_semop,        SYS_accept4, SYS_rt_sigtimedwait,
        SYS_io_getevents, SYS_epoll_wait,    SYS_epoll_pwait,  SYS_readv,   SYS_semtimedop,
        SYS_msgrcv,       SYS_io_pgetevents, SYS_epoll_pwait2, SYS_writev,  SYS_recvmmsg};
    for (unsigned i = 0; i < G_N_ELEMENTS(calls); i++)
        if (calls[i] == call)
            return true;
    return false;
}

/* A thread that ran may have begun to sleep when it is stopped: it makes the call again. With a
 * signal to come the call ends anyway. */
static void repeat_call(const struct fm_stops *stops, pid_t tid, struct user_regs_struct *registers)
{
    struct user_regs_struct changed = *registers;
    struct iovec all = {&changed, sizeof changed};
    if ((int64_t)registers->rax != -EINTR || !is_repeatable(registers->orig_rax) ||
        has_signals(stops, tid))
        return;
    changed.rax = registers->orig_rax;
    changed.rip -= CALL_BYTES;
    ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &all);
}

/* Whether the thread is at the end of a call that put it to sleep: before it stopped, or before it
 * was looked at and found ready, not running. Then its time was spent elsewhere. */
static bool has_slept(const struct fm_stops *stops, const struct fm_thread_run *run,
                      const struct user_regs_struct *registers)
{
    enum { RESTARTS_FIRST = 512, RESTARTS_LAST = 516 }; /* the kernel's own, ERESTARTSYS, ... */
    int64_t result = -(int64_t)registers->rax;
    if ((int64_t)registers->orig_rax < 0) /* it was in its own code */
        return false;
    return result == EINTR || (result >= RESTARTS_FIRST && result <= RESTARTS_LAST) ||
           fm_thread_turns(stops->target, run->tid) != run->turns;
}

/* Fills in the registers and stack of a stopped thread. False: it does not run. */
static bool copy(struct fm_stops *stops, const struct fm_thread_run *run,
                 struct fm_outside_sample *sample, int signal)
{
    struct user_regs_struct registers;
    struct iovec all = {&registers, sizeof registers};
    if (ptrace(PTRACE_GETREGSET, sample->tid, NT_PRSTATUS, &all) != 0 ||
        all.iov_len != sizeof registers)
        return false;
    set_registers(sample, &registers);
    g_byte_array_set_size(stops->stack, FM_OUTSIDE_STACK_BYTES);
    g_byte_array_set_size(stops->stack,
                          (guint)fm_target_copy(stops->target, registers.rsp, stops->stack->data,
                                                FM_OUTSIDE_STACK_BYTES));
    sample->stack = stops->stack;
    g_byte_array_set_size(stops->scripts, 0);
    fm_python_frames(stops->python, sample->tid, stops->scripts);
    sample->scripts = stops->scripts;
    if (signal == 0)
        repeat_call(stops, sample->tid, &registers);
    return !has_slept(stops, run, &registers);
}

/* --- one thread --- */

static bool let_go(struct fm_stops *stops, pid_t tid, int signal)
{
    bool done = ptrace(PTRACE_DETACH, tid, NULL, (void *)(uintptr_t)signal) == 0;
    g_hash_table_remove(stops->late, GINT_TO_POINTER(tid));
    return done;
}

/* False: there is no sample. */
static bool stop(struct fm_stops *stops, const struct fm_thread_run *run,
                 struct fm_outside_sample *sample)
{
    int signal = 0;
    uint64_t began = fm_outside_clock_ns(CLOCK_MONOTONIC);
    if (!g_hash_table_contains(stops->late, GINT_TO_POINTER(sample->tid)) &&
        ptrace(PTRACE_SEIZE, sample->tid, NULL, NULL) != 0)
        return false;
    g_hash_table_add(stops->late, GINT_TO_POINTER(sample->tid));
    ptrace(PTRACE_INTERRUPT, sample->tid, NULL, NULL);
    enum stop how = wait_for(stops, sample->tid, WAIT_MAX_NS, &signal);
    if (how == GONE)
        g_hash_table_remove(stops->late, GINT_TO_POINTER(sample->tid));
    if (how != STOPPED)
        return false;
    bool copied = copy(stops, run, sample, signal);
    let_go(stops, sample->tid, signal);
    stops->ns += fm_outside_clock_ns(CLOCK_MONOTONIC) - began;
    stops->count++;
    return copied;
}

/* Lets threads go on that have stopped since. */
static void free_late(struct fm_stops *stops, uint64_t max_ns)
{
    g_autoptr(GList) tids = g_hash_table_get_keys(stops->late);
    for (GList *at = tids; at != NULL; at = at->next) {
        int signal = 0;
        pid_t tid = GPOINTER_TO_INT(at->data);
        enum stop how = wait_for(stops, tid, max_ns, &signal);
        if (how == STOPPED)
            let_go(stops, tid, signal);
        else if (how == GONE)
            g_hash_table_remove(stops->late, at->data);
    }
}

bool fm_stops_take(struct fm_stops *stops, struct fm_thread_counts *counts, const GArray *running,
                   GError **error)
{
    free_late(stops, 0);
    for (guint i = 0; i < running->len; i++) {
        const struct fm_thread_run *run = &g_array_index(running, struct fm_thread_run, i);
        struct fm_outside_sample sample = {.pid = stops->target->pid,
                                           .tid = run->tid,
                                           .measure = FM_PERF_LIVE_CPU,
                                           .ns = run->ran_ns};
        if (run->ran_ns == 0 || !stop(stops, run, &sample))
            continue;
        g_autoptr(GByteArray) record = fm_outside_record(&sample);
        uint64_t ip = sample.registers[FM_OUTSIDE_IP];
        if (!fm_perf_live_is_mapped(stops->live, stops->target->pid, ip) &&
            !fm_outside_maps(stops->live, stops->target, error))
            return false;
        if (!fm_perf_live_add(stops->live, record->data, record->len, error))
            return false;
        fm_thread_counts_sampled(counts, run->tid);
    }
    return true;
}

/* --- begin and end --- */

struct fm_stops *fm_stops_new(const struct fm_target *target, struct fm_perf_live *live,
                              struct fm_python *python)
{
    struct perf_event_attr attr = fm_outside_event(false, 0);
    struct fm_stops *stops = g_new0(struct fm_stops, 1);
    stops->target = target;
    stops->live = live;
    stops->late = g_hash_table_new(NULL, NULL);
    stops->python = python;
    stops->stack = g_byte_array_new();
    stops->scripts = g_byte_array_new();
    attr.sample_type |= PERF_SAMPLE_RAW;
    fm_outside_events(live, &attr);
    return stops;
}

void fm_stops_free(struct fm_stops *stops)
{
    if (stops == NULL)
        return;
    free_late(stops, WAIT_MAX_NS);
    g_hash_table_unref(stops->late);
    g_byte_array_unref(stops->stack);
    g_byte_array_unref(stops->scripts);
    g_free(stops);
}

uint64_t fm_stops_ns(const struct fm_stops *stops)
{
    return stops->ns;
}

uint64_t fm_stops_count(const struct fm_stops *stops)
{
    return stops->count;
}
