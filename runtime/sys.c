/* SPDX-License-Identifier: Apache-2.0 */
/* Small services for code that may run at any moment: in a hook, in a signal handler, before
 * libc's constructors. System calls and arithmetic only. */
#include "files.h"
#include "internal.h"

#include "sandbox/gate.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

struct fm_process fm_process;

/* The kernel's signal set is 64 bits; libc's wrappers would exclude libc's own two signals. A
 * thread must not be cancelled while it holds a lock of the runtime. The other signal, of setxid,
 * stays unblocked, since all threads wait for it. It is also the tick's: ticks/signal.c defers
 * ticks. */
static inline __attribute__((always_inline)) void set_mask(const uint64_t *mask, uint64_t *old)
{
    long result = SYS_rt_sigprocmask;
    register size_t size __asm__("r10") = sizeof *mask;
    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"((long)SIG_SETMASK), "S"(mask), "d"(old), "r"(size)
                     : "rcx", "r11", "memory");
}

/* A thread that confines the program waits for calls that have begun (sandbox/sandbox.c). */
static inline __attribute__((always_inline)) void begin_call(struct fm_tls *tls)
{
    tls->calling++;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static __attribute__((noinline, cold)) bool may_block(const uint64_t *mask, const uint64_t *old)
{
    const uint64_t arguments[6] = {SIG_SETMASK, (uint64_t)mask, (uint64_t)old, sizeof *mask};
    return fm_sandbox_allows(SYS_rt_sigprocmask, arguments);
}

/* In addition to FM_SIGNALS_OPEN: set by the section. */
#define OPEN_INSIDE FM_SIGNAL_BIT(1)
#define OPEN_OUTERMOST FM_SIGNAL_BIT(2)

/* Signals stay open. Their handlers find the hooks off. */
static __attribute__((noinline, cold)) uint64_t open_section(struct fm_tls *tls)
{
    uint64_t mask = FM_SIGNALS_OPEN;
    tls->signals_blocked++;
    if (tls->open_section == 0) {
        tls->open_section = (uint64_t)__builtin_frame_address(0);
        mask |= OPEN_OUTERMOST;
    }
    mask |= (tls->inside & FM_INSIDE_OPEN) == 0 ? OPEN_INSIDE : 0;
    tls->inside |= FM_INSIDE_OPEN;
    return mask;
}

/* Sections nest, also by a tick's handler, and set `inside` themselves. */
static __attribute__((noinline, cold)) void close_section(struct fm_tls *tls, uint64_t mask)
{
    if ((mask & OPEN_OUTERMOST) != 0)
        tls->open_section = 0;
    if ((mask & OPEN_INSIDE) != 0)
        tls->inside &= ~FM_INSIDE_OPEN;
}

FM_RUNTIME_TEXT uint64_t fm_block_signals(void)
{
    struct fm_tls *tls = &fm_tls_v2;
    uint64_t all = ~FM_SIGNAL_BIT(FM_TICK_SIGNAL), old = 0;
    begin_call(tls);
    if (FM_UNLIKELY(__atomic_load_n(&fm_sandbox.on, __ATOMIC_ACQUIRE)) && !may_block(&all, &old)) {
        tls->calling--;
        return open_section(tls);
    }
    set_mask(&all, &old);
    tls->signals_blocked++;
    tls->calling--;
    return old;
}

/* Ticks first: a pending handler of the program may never return. */
FM_RUNTIME_TEXT void fm_restore_signals(uint64_t mask)
{
    struct fm_tls *tls = &fm_tls_v2;
    tls->signals_blocked--;
    if (FM_UNLIKELY(tls->tick_waits != 0 && tls->signals_blocked == 0))
        fm_process.tick_actions->catch_up();
    fm_tick_signal_look();
    if (FM_LIKELY((mask & FM_SIGNALS_OPEN) == 0))
        set_mask(&mask, NULL);
    else
        close_section(tls, mask);
}

static inline __attribute__((always_inline)) long call_kernel(long number, long a, long b, long c,
                                                              long d, long e, long f)
{
    long result = number;
    register long fourth __asm__("r10") = d;
    register long fifth __asm__("r8") = e;
    register long sixth __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
                     : "rcx", "r11", "memory");
    return result;
}

FM_RUNTIME_TEXT long fm_system_call6(long number, long a, long b, long c, long d, long e, long f)
{
    struct fm_tls *tls = &fm_tls_v2;
    const uint64_t arguments[6] = {(uint64_t)a, (uint64_t)b, (uint64_t)c,
                                   (uint64_t)d, (uint64_t)e, (uint64_t)f};
    long result = -EPERM;
    begin_call(tls);
    if (FM_LIKELY(!__atomic_load_n(&fm_sandbox.on, __ATOMIC_ACQUIRE)) ||
        fm_sandbox_allows(number, arguments))
        result = call_kernel(number, a, b, c, d, e, f);
    tls->calling--;
    return result;
}

/* glibc's struct pthread has the number here, and fork() updates it. The place is verified while
 * the kernel still answers. */
#define TID_IN_PTHREAD 0x2d0
static bool tid_is_there;

static pid_t tid_in_pthread(void)
{
    int tid;
    __asm__("movl %%fs:%c1, %0" : "=r"(tid) : "i"(TID_IN_PTHREAD));
    return tid;
}

pid_t fm_thread_id(void)
{
    long tid = fm_system_call(SYS_gettid, 0, 0, 0, 0);
    if (tid > 0)
        tid_is_there = tid_in_pthread() == tid;
    else
        tid = tid_is_there ? tid_in_pthread() : 0;
    return (pid_t)tid;
}

size_t fm_copy_readable(void *to, const void *from, size_t bytes)
{
    struct iovec into = {to, bytes}, out_of = {(void *)(uintptr_t)from, bytes};
    long pid = fm_system_call(SYS_getpid, 0, 0, 0, 0);
    long got = fm_system_call6(SYS_process_vm_readv, pid, (long)&into, 1, (long)&out_of, 1, 0);
    return got > 0 ? (size_t)got : 0;
}

#define SPINS_MAX 64

static int lock_word(int state)
{
    const volatile int *generation = fm_process.wiped_by_fork;
    return (generation != NULL ? *generation : 1) << FM_LOCK_GENERATION_SHIFT | state;
}

/* Whether a thread of this process has it. */
static bool is_held(int word)
{
    return word != FM_LOCK_FREE &&
           (word | FM_LOCK_HELD | FM_LOCK_AWAITED) == lock_word(FM_LOCK_HELD | FM_LOCK_AWAITED);
}

/* Locks are given in the reverse order. */
static void note_held(fm_lock *lock)
{
    struct fm_tls *tls = &fm_tls_v2;
    if (tls->lock_count < FM_LOCKS_HELD_MAX)
        tls->locks[tls->lock_count] = lock;
    tls->lock_count++;
}

bool fm_lock_try(fm_lock *lock)
{
    int was = __atomic_load_n(&lock->word, __ATOMIC_RELAXED);
    bool taken =
        !is_held(was) && __atomic_compare_exchange_n(&lock->word, &was, lock_word(FM_LOCK_HELD),
                                                     false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
    if (taken)
        note_held(lock);
    return taken;
}

/* The holder may need the CPU on which a waiter of higher priority spins, and sched_yield does not
 * help lower priorities. So waiters sleep after a moment. */
void fm_lock_take(fm_lock *lock)
{
    for (unsigned spins = 0; spins < SPINS_MAX; spins++) {
        if (fm_lock_try(lock))
            return;
        __builtin_ia32_pause();
    }
    int awaited = lock_word(FM_LOCK_AWAITED);
    while (is_held(__atomic_exchange_n(&lock->word, awaited, __ATOMIC_ACQUIRE))) {
        if (FM_LIKELY(!__atomic_load_n(&fm_sandbox.spins, __ATOMIC_ACQUIRE)))
            fm_system_call(SYS_futex, (long)&lock->word, FUTEX_WAIT_PRIVATE, awaited, 0);
        else if (fm_system_call(SYS_sched_yield, 0, 0, 0, 0) != 0)
            __builtin_ia32_pause();
    }
    note_held(lock);
}

void fm_lock_give(fm_lock *lock)
{
    struct fm_tls *tls = &fm_tls_v2;
    tls->lock_count -= tls->lock_count > 0;
    int was = __atomic_exchange_n(&lock->word, FM_LOCK_FREE, __ATOMIC_RELEASE);
    if ((was & (FM_LOCK_HELD | FM_LOCK_AWAITED)) == FM_LOCK_AWAITED)
        fm_system_call(SYS_futex, (long)&lock->word, FUTEX_WAKE_PRIVATE, 1, 0);
}

void fm_locks_give_all(void)
{
    struct fm_tls *tls = &fm_tls_v2;
    while (tls->lock_count > 0) {
        uint32_t last = tls->lock_count - 1;
        if (last < FM_LOCKS_HELD_MAX)
            fm_lock_give(tls->locks[last]);
        tls->lock_count = last;
    }
}

/* libc asks the kernel for CPU time clocks. */
static bool is_cpu_clock(int clock)
{
    return clock < 0 || clock == CLOCK_THREAD_CPUTIME_ID || clock == CLOCK_PROCESS_CPUTIME_ID;
}

/* In a sandbox: if the call is forbidden, uses a clock that libc reads without the kernel. */
static __attribute__((noinline, cold)) bool read_clock(int clock, struct timespec *now)
{
    if (fm_system_call(SYS_clock_gettime, clock, (long)now, 0, 0) == 0)
        return true;
    if (is_cpu_clock(clock) || !fm_sandbox.has_clock)
        return false;
    bool fine = fm_sandbox.has_fine_clock && !fm_sandbox.strict;
    if (!fine && clock == CLOCK_MONOTONIC)
        clock = CLOCK_MONOTONIC_COARSE;
    if (!fine && clock == CLOCK_REALTIME)
        clock = CLOCK_REALTIME_COARSE;
    return clock_gettime(clock, now) == 0;
}

uint64_t fm_now_ns(int clock)
{
    struct timespec now = {0};
    if (FM_UNLIKELY(__atomic_load_n(&fm_sandbox.on, __ATOMIC_ACQUIRE))) {
        if (!read_clock(clock, &now))
            return 0;
    } else if (is_cpu_clock(clock)) { /* not libc's function, which a sanitizer may interpose */
        fm_system_call(SYS_clock_gettime, clock, (long)&now, 0, 0);
    } else {
        clock_gettime(clock, &now);
    }
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#define ADDRESS_OF_FAILURE(result) ((unsigned long)(result) >= -4095ul)

void *fm_memory_map(void *at, size_t bytes, int protection, int flags, int fd, uint64_t offset)
{
    long result =
        fm_system_call6(SYS_mmap, (long)at, (long)bytes, protection, flags, fd, (long)offset);
    if (!ADDRESS_OF_FAILURE(result))
        return (void *)result;
    errno = (int)-result;
    return NULL;
}

void fm_memory_unmap(void *memory, size_t bytes)
{
    fm_system_call(SYS_munmap, (long)memory, (long)bytes, 0, 0);
}

void fm_memory_advise(void *memory, size_t bytes, int advice)
{
    fm_system_call(SYS_madvise, (long)memory, (long)bytes, advice, 0);
}

/* Addresses for allocations in a sandbox, handed out from the start on. */
static struct {
    char *start;
    size_t bytes;
    size_t used;
} reserve;
#define RESERVE_LEAST ((size_t)1 << 20)
#define RESERVE_UNIT 4096u

void fm_private_reserve(size_t bytes)
{
    for (; reserve.start == NULL && bytes >= RESERVE_LEAST; bytes /= 2) {
        reserve.start = fm_memory_map(NULL, bytes, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        reserve.bytes = bytes;
    }
}

static size_t whole_units(size_t bytes)
{
    return (bytes + RESERVE_UNIT - 1) & ~(size_t)(RESERVE_UNIT - 1);
}

static __attribute__((noinline, cold)) void *reserve_take(size_t bytes)
{
    size_t used = __atomic_load_n(&reserve.used, __ATOMIC_RELAXED);
    bytes = whole_units(bytes);
    do {
        if (reserve.start == NULL || bytes > reserve.bytes - used)
            return NULL;
    } while (!__atomic_compare_exchange_n(&reserve.used, &used, used + bytes, true,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return reserve.start + used;
}

/* Only the latest block can be reused, such as the copy of the frames for each fork. */
static __attribute__((noinline, cold)) bool reserve_give(char *memory, size_t bytes)
{
    if (memory < reserve.start || memory >= reserve.start + reserve.bytes)
        return false;
    size_t used = (size_t)(memory - reserve.start) + whole_units(bytes);
    if (used == __atomic_load_n(&reserve.used, __ATOMIC_RELAXED)) {
        memset(memory, 0, bytes);
        __atomic_compare_exchange_n(&reserve.used, &used, used - whole_units(bytes), false,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    }
    return true;
}

void *fm_private_alloc(size_t bytes)
{
    void *memory =
        fm_memory_map(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == NULL && fm_sandbox.on ? reserve_take(bytes) : memory;
}

#define LARGE_PAGE_BYTES ((size_t)2 << 20)

/* Starts at an address suitable for large pages; unused memory before and after is freed. */
static void *large_alloc(size_t bytes)
{
    char *memory = fm_private_alloc(bytes + LARGE_PAGE_BYTES);
    if (memory == NULL)
        return NULL;
    size_t before = -(uintptr_t)memory & (LARGE_PAGE_BYTES - 1);
    if (before != 0)
        fm_memory_unmap(memory, before);
    fm_memory_unmap(memory + before + bytes, LARGE_PAGE_BYTES - before);
    fm_memory_advise(memory + before, bytes, MADV_HUGEPAGE);
    return memory + before;
}

void *fm_private_alloc_ahead(size_t bytes)
{
    void *memory = bytes % LARGE_PAGE_BYTES == 0 && !fm_sandbox.on ? large_alloc(bytes) : NULL;
    if (memory == NULL)
        memory = fm_private_alloc(bytes);
    if (memory != NULL) /* an old kernel refuses, which is no harm */
        fm_memory_advise(memory, bytes, 23 /* MADV_POPULATE_WRITE */);
    return memory;
}

void fm_private_free(void *memory, size_t bytes)
{
    if (FM_LIKELY(reserve.start == NULL) || !reserve_give(memory, bytes))
        fm_memory_unmap(memory, bytes);
}

size_t fm_text_append(char *buffer, size_t size, size_t used, const char *text)
{
    while (*text != '\0' && used + 1 < size)
        buffer[used++] = *text++;
    buffer[used] = '\0';
    return used;
}

size_t fm_text_append_number(char *buffer, size_t size, size_t used, uint64_t number)
{
    char digits[21];
    unsigned at = sizeof digits;
    digits[--at] = '\0';
    do
        digits[--at] = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    return fm_text_append(buffer, size, used, digits + at);
}

void fm_complain(const char *what, const char *which)
{
    char line[512];
    size_t used = fm_text_append(line, sizeof line, 0, "fathom: ");
    used = fm_text_append(line, sizeof line, used, what);
    if (which != NULL) {
        used = fm_text_append(line, sizeof line, used, ": ");
        used = fm_text_append(line, sizeof line, used, which);
    }
    used = fm_text_append(line, sizeof line, used, "\n");
    /* Who reads it may have gone, the file may be as large as it may become, the terminal may stop
     * who writes in the background: such a signal would change the program. */
    uint64_t raised = FM_SIGNAL_BIT(SIGPIPE) | FM_SIGNAL_BIT(SIGXFSZ) | FM_SIGNAL_BIT(SIGTTOU);
    uint64_t before = 0, pending = 0;
    const int64_t none[2] = {0};
    fm_system_call(SYS_rt_sigprocmask, SIG_BLOCK, (long)&raised, (long)&before, sizeof before);
    fm_system_call(SYS_rt_sigpending, (long)&pending, sizeof pending, 0, 0);
    bool failed = fm_file_write(STDERR_FILENO, line, used) != (ssize_t)used;
    raised &= ~pending;
    if (failed && raised != 0)
        fm_system_call(SYS_rt_sigtimedwait, (long)&raised, 0, (long)none, sizeof raised);
    fm_system_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, sizeof before);
}

/* libc sets environ after .preinit_array has run. Before, the kernel's data on the stack is used:
 * the number of arguments, the arguments, NULL, the environment. */
static char **first_environment(void)
{
    extern void *__libc_stack_end;
    char **words = (char **)__libc_stack_end;
    uint64_t count = words != NULL ? (uint64_t)words[0] : 0;
    return count - 1 < 1u << 24 && words[count + 1] == NULL ? words + count + 2 : NULL;
}

const char *fm_getenv(const char *name)
{
    extern char **environ;
    char **all = environ != NULL ? environ : first_environment();
    if (all == NULL)
        return NULL;
    size_t size = strlen(name);
    for (char **at = all; *at != NULL; at++)
        if (strncmp(*at, name, size) == 0 && (*at)[size] == '=')
            return *at + size + 1;
    return NULL;
}

const struct fm_stack *fm_stack_of(const struct fm_thread *thread, uint64_t sp)
{
    const struct fm_stack *now = thread->stack;
    if (now->low <= sp && sp <= now->high)
        return now;
    for (const struct fm_stack *s = thread->stacks; s != NULL; s = s->next)
        if (s->low <= sp && sp <= s->high)
            return s;
    return now;
}
