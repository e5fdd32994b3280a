/* SPDX-License-Identifier: Apache-2.0 */
/* Small services for code that may run at any moment: in a hook, in a signal handler, before
 * libc's constructors. System calls and arithmetic only. */
#include "files.h"
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct fm_process fm_process;

/* The kernel's signal set is 64 bits; libc's wrappers would leave its own two signals open. A
 * thread must not be cancelled while it holds a lock of ours. The other one, of setxid, stays open,
 * as all threads wait for it. It is also the tick's: ticks/signal.c lets ticks wait. */
static inline __attribute__((always_inline)) void set_mask(const uint64_t *mask, uint64_t *old)
{
    long result = SYS_rt_sigprocmask;
    register size_t size __asm__("r10") = sizeof *mask;
    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"((long)SIG_SETMASK), "S"(mask), "d"(old), "r"(size)
                     : "rcx", "r11", "memory");
}

FM_RUNTIME_TEXT uint64_t fm_block_signals(void)
{
    uint64_t all = ~FM_SIGNAL_BIT(FM_TICK_SIGNAL), old = 0;
    set_mask(&all, &old);
    fm_tls_v2.signals_blocked++;
    return old;
}

/* Ticks first: a handler of the program's that was waiting may never come back. */
FM_RUNTIME_TEXT void fm_restore_signals(uint64_t mask)
{
    struct fm_tls *tls = &fm_tls_v2;
    tls->signals_blocked--;
    if (FM_UNLIKELY(tls->tick_waits != 0 && tls->signals_blocked == 0))
        fm_process.tick_actions->catch_up();
    fm_tick_signal_look();
    set_mask(&mask, NULL);
}

FM_RUNTIME_TEXT long fm_system_call(long number, long a, long b, long c, long d)
{
    long result = number;
    register long fourth __asm__("r10") = d;
    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"(a), "S"(b), "d"(c), "r"(fourth)
                     : "rcx", "r11", "memory");
    return result;
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

bool fm_lock_try(fm_lock *lock)
{
    int was = __atomic_load_n(&lock->word, __ATOMIC_RELAXED);
    return !is_held(was) && __atomic_compare_exchange_n(&lock->word, &was, lock_word(FM_LOCK_HELD),
                                                        false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* The holder may need the very processor that a waiter of a higher priority spins on, and
 * sched_yield gives that to no lower one: so who waits longer than a moment sleeps. */
void fm_lock_take(fm_lock *lock)
{
    for (unsigned spins = 0; spins < SPINS_MAX; spins++) {
        if (fm_lock_try(lock))
            return;
        __builtin_ia32_pause();
    }
    int awaited = lock_word(FM_LOCK_AWAITED);
    while (is_held(__atomic_exchange_n(&lock->word, awaited, __ATOMIC_ACQUIRE)))
        fm_system_call(SYS_futex, (long)&lock->word, FUTEX_WAIT_PRIVATE, awaited, 0);
}

void fm_lock_give(fm_lock *lock)
{
    int was = __atomic_exchange_n(&lock->word, FM_LOCK_FREE, __ATOMIC_RELEASE);
    if ((was & (FM_LOCK_HELD | FM_LOCK_AWAITED)) == FM_LOCK_AWAITED)
        fm_system_call(SYS_futex, (long)&lock->word, FUTEX_WAKE_PRIVATE, 1, 0);
}

uint64_t fm_now_ns(int clock)
{
    struct timespec now = {0};
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void *fm_private_alloc(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

#define LARGE_PAGE_BYTES ((size_t)2 << 20)

/* From an address that large pages may begin at; what lies before and behind is given back. */
static void *large_alloc(size_t bytes)
{
    char *memory = fm_private_alloc(bytes + LARGE_PAGE_BYTES);
    if (memory == NULL)
        return NULL;
    size_t before = -(uintptr_t)memory & (LARGE_PAGE_BYTES - 1);
    if (before != 0)
        munmap(memory, before);
    munmap(memory + before + bytes, LARGE_PAGE_BYTES - before);
    madvise(memory + before, bytes, MADV_HUGEPAGE);
    return memory + before;
}

void *fm_private_alloc_ahead(size_t bytes)
{
    void *memory = bytes % LARGE_PAGE_BYTES == 0 ? large_alloc(bytes) : NULL;
    if (memory == NULL)
        memory = fm_private_alloc(bytes);
    if (memory != NULL) /* an old kernel refuses, which is no harm */
        madvise(memory, bytes, 23 /* MADV_POPULATE_WRITE */);
    return memory;
}

void fm_private_free(void *memory, size_t bytes)
{
    munmap(memory, bytes);
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
    if (fm_file_write(STDERR_FILENO, line, used) < 0)
        return; /* nobody left to tell */
}

/* libc sets environ after .preinit_array has run. What the kernel put on the stack stands there
 * before: the number of arguments, these, NULL, the environment. */
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

/* One line of /proc/self/maps, read digit by digit: "low-high perms offset dev inode path". */
struct maps_line {
    uint64_t low, high;
    unsigned field; /* 0 low, 1 high, 2 the rest */
    unsigned tail_used;
    char tail[8]; /* the last characters: "[stack]" */
};

static bool maps_line_feed(struct maps_line *line, char c, uint64_t address)
{
    if (c == '\n') {
        bool found = line->low <= address && address < line->high;
        if (!found)
            *line = (struct maps_line){0};
        return found;
    }
    if (line->field < 2) {
        uint64_t *number = line->field == 0 ? &line->low : &line->high;
        if (c >= '0' && c <= '9')
            *number = *number << 4 | (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            *number = *number << 4 | (uint64_t)(c - 'a' + 10);
        else
            line->field++;
        return false;
    }
    if (line->tail_used == 7) {
        memmove(line->tail, line->tail + 1, 6);
        line->tail_used--;
    }
    line->tail[line->tail_used++] = c;
    return false;
}

bool fm_mapping_find(uint64_t address, uint64_t *ret_low, uint64_t *ret_high, bool *ret_main_stack)
{
    int fd = fm_file_open("/proc/self/maps", O_RDONLY);
    if (fd < 0)
        return false;
    struct maps_line line = {0};
    char buffer[1024] = {0};
    bool found = false;
    ssize_t got;
    while (!found && (got = fm_file_read(fd, buffer, sizeof buffer)) > 0)
        for (ssize_t i = 0; i < got && !found; i++)
            found = maps_line_feed(&line, buffer[i], address);
    fm_file_close(fd);
    if (!found)
        return false;
    *ret_low = line.low;
    *ret_high = line.high;
    *ret_main_stack = line.tail_used == 7 && memcmp(line.tail, "[stack]", 7) == 0;
    return true;
}
