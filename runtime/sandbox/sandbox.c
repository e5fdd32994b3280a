/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

#include "files.h"
#include "internal.h"
#include "sandbox/gate.h"
#include "waiting/waiting.h"

#define RESERVE_BYTES ((size_t)256 << 20) /* address space; unused addresses take no memory */
#define RESERVE_BYTES_LIMITED ((size_t)4 << 20)
#define LOOKS_MAX 1000000u
/* for threads that have lost their processor, on a busy machine */
#define PATIENCE_NS 5000000000u

static fm_lock entering;
/* Represents a filter that cannot be read. */
static const struct sock_filter nothing_passes[] = {
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
/* The state before the latest filter, should the kernel refuse it. */
static struct {
    bool strict, ticks_held;
    uint32_t wait_clock, off;
    uint64_t since_ns;
    unsigned filter_count;
} before;

/* --- the program's filter --- */

static bool copy_in(void *to, const void *from, size_t bytes)
{
    if (fm_copy_readable(to, from, bytes) == bytes)
        return true;
    uint64_t own = 1, copy = 0; /* the kernel may refuse to copy at all */
    if (fm_copy_readable(&copy, &own, sizeof own) == sizeof own)
        return false;
    memcpy(to, from, bytes);
    return true;
}

static struct fm_sandbox_filter filter_of(const void *program)
{
    struct fm_sandbox_filter filter = {.code = nothing_passes, .count = 1};
    struct sock_fprog told;
    if (fm_sandbox.filter_count >= FM_SANDBOX_FILTERS_MAX - 1 || program == NULL ||
        !copy_in(&told, program, sizeof told) || told.len == 0 || told.len > BPF_MAXINSNS)
        return filter;
    size_t bytes = told.len * sizeof *told.filter;
    struct sock_filter *code = fm_private_alloc(bytes);
    if (code == NULL || !copy_in(code, told.filter, bytes))
        return filter;
    filter.code = code;
    filter.count = told.len;
    return filter;
}

/* --- parts that can be switched off --- */

static bool would_allow(const struct fm_sandbox_filter *more, long number, long a, long b, long c,
                        long d, long e, long f)
{
    const uint64_t arguments[6] = {(uint64_t)a, (uint64_t)b, (uint64_t)c,
                                   (uint64_t)d, (uint64_t)e, (uint64_t)f};
    return fm_sandbox_would_allow(more, number, arguments);
}

static bool may_grow(const struct fm_sandbox_filter *more)
{
    const struct fm_process *p = &fm_process;
    long at = (long)(p->base + p->bytes_extended), bytes = 4096, offset = (long)p->bytes_extended;
    return would_allow(more, SYS_mmap, at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | 0x100000,
                       p->fd, offset) &&
           would_allow(more, SYS_fallocate, p->fd, 0, offset, bytes, 0, 0) &&
           would_allow(more, SYS_prlimit64, 0, RLIMIT_FSIZE, 0, offset, 0, 0) &&
           would_allow(more, SYS_fstat, p->fd, 0, 0, 0, 0, 0);
}

static bool may_allocate(const struct fm_sandbox_filter *more)
{
    return would_allow(more, SYS_mmap, 0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                       -1, 0);
}

static bool may_open(const struct fm_sandbox_filter *more)
{
    return would_allow(more, SYS_openat, AT_FDCWD, (long)fm_process.path,
                       O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644, 0, 0);
}

/* A tick's handler returns by a system call, and no tick may be pending when the process executes
 * another program (interpose/exec.c). */
static bool may_tick(const struct fm_sandbox_filter *more)
{
    bool may_exec = would_allow(more, SYS_execve, (long)fm_process.path, 0, 0, 0, 0, 0) ||
                    would_allow(more, SYS_execveat, AT_FDCWD, (long)fm_process.path, 0, 0, 0, 0);
    return would_allow(more, SYS_rt_sigreturn, 0, 0, 0, 0, 0, 0) &&
           (!may_exec || would_allow(more, SYS_timer_delete, 0, 0, 0, 0, 0, 0)) &&
           (fm_process.tick_source == FM_REC_TICK_CPU_TIMER ||
            (would_allow(more, SYS_ioctl, fm_process.fd, PERF_EVENT_IOC_REFRESH, 1, 0, 0, 0) &&
             would_allow(more, SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, 0, 0, 0, 0, 0)));
}

static uint32_t what_ends(const struct fm_sandbox_filter *more)
{
    uint32_t off = 0;
    bool queue =
        would_allow(more, SYS_clone, 0x4100, 0, 0, 0, 0, 0) &&
        would_allow(more, SYS_open, (long)fm_process.path, 0, 0, 0, 0, 0) &&
        would_allow(more, SYS_rt_sigprocmask, SIG_SETMASK, (long)&off, (long)&off, 8, 0, 0);
    bool ticks = fm_process.tick_source != FM_REC_TICK_NONE;
    off |= !ticks || may_tick(more) ? 0 : FM_REC_SANDBOX_TICKS;
    off |= would_allow(more, SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, (long)&off, (long)&off, 0,
                       0, 0)
               ? 0
               : FM_REC_SANDBOX_NEW_TICKS;
    bool clock = (more != NULL && fm_sandbox.has_fine_clock) ||
                 would_allow(more, SYS_clock_gettime, CLOCK_MONOTONIC, (long)&off, 0, 0, 0, 0);
    bool waits = fm_process.wait_clock == FM_REC_CLOCK_TSC ? more != NULL : clock;
    off |= clock ? 0 : FM_REC_SANDBOX_CLOCK;
    off |= waits || fm_process.wait_clock == 0 ? 0 : FM_REC_SANDBOX_WAITS;
    off |= may_grow(more) ? 0 : FM_REC_SANDBOX_ROOM;
    off |= may_open(more) && may_grow(more) ? 0 : FM_REC_SANDBOX_CHILDREN;
    off |= queue || fm_process.wait_clock == 0 ? 0 : FM_REC_SANDBOX_QUEUED;
    return off;
}

static void reserve_memory(void)
{
    struct rlimit addresses;
    bool limited = !fm_limit_of(RLIMIT_AS, &addresses) || addresses.rlim_cur != RLIM_INFINITY;
    fm_private_reserve(limited ? RESERVE_BYTES_LIMITED : RESERVE_BYTES);
}

/* Called before the filter is in force. */
static void prepare(const struct fm_sandbox_filter *more)
{
    struct fm_process *p = &fm_process;
    fm_sandbox.has_clock = getauxval(AT_SYSINFO_EHDR) != 0;
    fm_sandbox.has_fine_clock = fm_sandbox.has_clock && !fm_sandbox.strict && fm_clock_is_tsc();
    uint32_t off = what_ends(more);
    fm_thread_id(); /* so that it is known without the kernel */
    if (!may_allocate(more))
        reserve_memory();
    if ((off & FM_REC_SANDBOX_ROOM) != 0)
        fm_arena_reserve();
    fm_waiting_at_exit(); /* records times, as far as they are known */
    if ((off & FM_REC_SANDBOX_TICKS) != 0 && !p->ticks_held)
        fm_ticks_hold(true);
    if ((off & FM_REC_SANDBOX_WAITS) != 0)
        p->wait_clock = 0;
    if (p->header->sandbox_since_ns == 0)
        p->header->sandbox_since_ns = fm_now_ns(CLOCK_MONOTONIC);
    p->header->sandbox_off |= off;
}

/* --- the other threads --- */

static bool somebody_calls(void)
{
    bool calls = false;
    fm_lock_take(&fm_process.threads_lock);
    for (const struct fm_thread *t = fm_process.threads; t != NULL && !calls; t = t->next)
        calls = t->tls != &fm_tls_v2 &&
                (__atomic_load_n(&t->tls->calling, __ATOMIC_SEQ_CST) != 0 ||
                 __atomic_load_n(&t->tls->signals_blocked, __ATOMIC_SEQ_CST) != 0);
    fm_lock_give(&fm_process.threads_lock);
    return calls;
}

/* The filter may apply to all threads. A slow path that has blocked signals must still be able to
 * unblock them; later ones know the filter. */
static void wait_for_others(bool may_yield)
{
    uint64_t begin_ns = fm_now_ns(CLOCK_MONOTONIC_COARSE);
    for (unsigned looks = 0; looks < LOOKS_MAX && somebody_calls(); looks++) {
        if (may_yield)
            sched_yield();
        else
            __builtin_ia32_pause();
        if (fm_now_ns(CLOCK_MONOTONIC_COARSE) - begin_ns > PATIENCE_NS)
            return;
    }
}

/* --- the doors --- */

/* Spins: a futex might be forbidden already. */
static FM_RUNTIME_TEXT void take_entering(void)
{
    while (!fm_lock_try(&entering))
        if (fm_system_call(SYS_sched_yield, 0, 0, 0, 0) != 0)
            __builtin_ia32_pause();
}

static bool may_sleep(const struct fm_sandbox_filter *more)
{
    return would_allow(more, SYS_futex, (long)&entering, FUTEX_WAIT_PRIVATE, 2, 0, 0, 0) &&
           would_allow(more, SYS_futex, (long)&entering, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

/* Threads that sleep for a lock are still woken. Later ones spin. */
static void spin_from_now_on(const struct fm_sandbox_filter *more, bool may_yield)
{
    if (fm_sandbox.spins || may_sleep(more))
        return;
    __atomic_store_n(&fm_sandbox.spins, 1, __ATOMIC_SEQ_CST);
    wait_for_others(may_yield);
}

static void enter(bool strict, const void *program)
{
    const uint64_t none[6] = {0};
    struct fm_process *p = &fm_process;
    bool records = p->state == FM_RECORDING, may_yield = fm_sandbox_allows(SYS_sched_yield, none);
    before.strict = fm_sandbox.strict;
    before.ticks_held = p->ticks_held;
    before.wait_clock = p->wait_clock;
    before.off = records ? p->header->sandbox_off : 0;
    before.since_ns = records ? p->header->sandbox_since_ns : 0;
    before.filter_count = fm_sandbox.filter_count;
    if (strict) {
        if (records)
            prepare(NULL);
        spin_from_now_on(NULL, may_yield);
        fm_sandbox.strict = true;
    } else {
        struct fm_sandbox_filter filter = filter_of(program);
        if (records)
            prepare(&filter);
        spin_from_now_on(&filter, may_yield);
        if (fm_sandbox.filter_count == FM_SANDBOX_FILTERS_MAX)
            return; /* the last filter allows nothing */
        fm_sandbox.filters[fm_sandbox.filter_count] = filter;
        __atomic_store_n(&fm_sandbox.filter_count, fm_sandbox.filter_count + 1, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&fm_sandbox.on, 1, __ATOMIC_SEQ_CST);
    if (records)
        wait_for_others(may_yield);
}

static bool confines(long number, unsigned long a, unsigned long b, bool *ret_strict)
{
    if (number == SYS_prctl && a == PR_SET_SECCOMP) {
        *ret_strict = b == SECCOMP_MODE_STRICT;
        return b == SECCOMP_MODE_STRICT || b == SECCOMP_MODE_FILTER;
    }
    *ret_strict = a == SECCOMP_SET_MODE_STRICT;
    return number == SYS_seccomp && (a == SECCOMP_SET_MODE_STRICT || a == SECCOMP_SET_MODE_FILTER);
}

unsigned fm_sandbox_enter(long number, unsigned long a, unsigned long b, unsigned long c)
{
    bool strict = false;
    if (!confines(number, a, b, &strict) || fm_process_is_early())
        return 0;
    int saved_errno = errno;
    fm_process_start();
    take_entering(); /* first: the holder waits for threads that have blocked signals */
    uint64_t mask = fm_block_signals();
    fm_tls_v2.inside++;
    if (fm_process.state == FM_RECORDING && fm_process_is_copy())
        fm_process_after_fork();
    enter(strict, (const void *)c);
    unsigned entered = fm_sandbox.filter_count + 1;
    fm_tls_v2.inside--;
    fm_restore_signals(mask);
    fm_lock_give(&entering);
    errno = saved_errno;
    return entered;
}

/* If another thread has entered a filter meanwhile, both stay counted: the recording only loses
 * more parts. */
static void take_back(unsigned entered)
{
    struct fm_process *p = &fm_process;
    if (fm_sandbox.filter_count + 1 != entered)
        return;
    __atomic_store_n(&fm_sandbox.filter_count, before.filter_count, __ATOMIC_RELEASE);
    fm_sandbox.strict = before.strict;
    __atomic_store_n(&fm_sandbox.on, before.strict || before.filter_count > 0, __ATOMIC_RELEASE);
    if (p->state != FM_RECORDING)
        return;
    p->wait_clock = before.wait_clock;
    p->header->sandbox_off = before.off;
    p->header->sandbox_since_ns = before.since_ns;
    if (p->ticks_held && !before.ticks_held)
        fm_ticks_hold(false);
}

void fm_sandbox_entered(unsigned entered, long number, unsigned long flags, long result)
{
    bool listens = number == SYS_seccomp && (flags & SECCOMP_FILTER_FLAG_NEW_LISTENER) != 0;
    if (entered == 0 || result == 0 || (result > 0 && listens))
        return;
    int saved_errno = errno;
    take_entering();
    uint64_t mask = fm_block_signals();
    fm_tls_v2.inside++;
    take_back(entered);
    fm_tls_v2.inside--;
    fm_restore_signals(mask);
    fm_lock_give(&entering);
    errno = saved_errno;
}
