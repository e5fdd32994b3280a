/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that may wait, interposed before libc's; shared by the interposing functions.
 *
 *   bool counted = fm_wait_begin(FM_REC_WAIT_READ, fd, HERE);  not when nothing is recorded now, or
 *   ssize_t result = next.read(fd, buffer, bytes);             within another wait
 *   fm_wait_over(counted, HERE);
 *   return result;
 *
 * The runtime holds no lock while libc waits: the call may be left by longjmp, an exception or
 * the thread's cancellation, and then the wait is closed by the next code that notices it. errno
 * is libc's. */
#pragma once

#include "../held/add_once.h"
#include "../internal.h"

#include <stddef.h>
#include <time.h>

/* The CFA of the interposed function: live frames of the program are above it. */
#define HERE ((uint64_t)__builtin_dwarf_cfa())

/* clock.c */
void fm_wait_clock_begin(void) FM_HIDDEN; /* for the process's new recording, after fork too */
/* The kernel knows whether the counters of all processors go together: then it uses them. */
bool fm_clock_is_tsc(void);
/* In ticks of the wait clock. */
static inline uint64_t fm_wait_clock_now(void)
{
    return FM_LIKELY(fm_process.wait_clock == FM_REC_CLOCK_TSC) ? __builtin_ia32_rdtsc()
                                                                : fm_now_ns(CLOCK_MONOTONIC);
}

/* state.c */
bool fm_wait_begin(unsigned kind, uint64_t object, uint64_t cfa);
/* owner: kernel's number of the thread that holds the lock; 0 = not known. */
bool fm_wait_begin_lock(unsigned kind, const void *lock, uint32_t owner, uint64_t cfa);
void fm_wait_end(uint64_t cfa);
void fm_wait_give_up(uint64_t cfa); /* it was no wait: the call failed */
/* Call after a call that may have taken long, counted or not: handles requests that arrived
 * meanwhile before the program continues. */
static inline void fm_wait_over(bool counted, uint64_t cfa)
{
    if (counted)
        fm_wait_end(cfa);
    fm_tick_signal_look();
    if (fm_tls_v2.inside == 0)
        fm_control_look(true);
}
void fm_wait_count_slowly(unsigned kind, uint64_t cfa);

/* blame.c */
void fm_holders_forget(void);
void fm_holder_note(const struct fm_rec_thread *rec);
uint32_t fm_holder_context(uint32_t tid); /* csd; 0 = not known */
void fm_blame_add(struct fm_thread *thread, struct fm_rec_wait *record, uint64_t lock,
                  uint32_t holder, uint64_t elapsed);

/* queue.c: makes room for samples of other sleep. */
void fm_sleeps_prepare(void) FM_HIDDEN;
/* queue.c: reads the thread's queued_ns, if the kernel reports it; first: queued_first_ns, too. */
void fm_queue_read(struct fm_rec_thread *rec, bool first);

/* next.c */
void fm_wait_resolve(void) FM_HIDDEN; /* resolves all names below */
/* Is it our definition of that name that the program calls? */
bool fm_wait_is_called(const char *name, const void *own);

/* Clocks with which calls wait until a time; other clocks are errors, even if there is nothing to
 * wait for. */
static inline bool fm_wait_is_clock(clockid_t clock)
{
    return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}

static inline bool fm_wait_is_time(clockid_t clock, const struct timespec *until)
{
    return fm_wait_is_clock(clock) && (unsigned long)until->tv_nsec < 1000000000u;
}

static inline uint64_t fm_wait_key(const struct fm_rec_csd *csd, unsigned kind)
{
    return (uint64_t)csd | (uint64_t)kind << 56;
}

static inline struct fm_wait_slot *fm_wait_slot_of(struct fm_thread *thread,
                                                   const struct fm_rec_csd *csd, unsigned kind)
{
    return &thread->waiting.slots[((uint64_t)csd / 8 + (uint64_t)kind * 9) % FM_WAIT_SLOTS];
}

static inline void fm_wait_longest(uint64_t *longest, uint64_t elapsed)
{
    uint64_t before = *longest;
    while (FM_UNLIKELY(elapsed > before) &&
           !__atomic_compare_exchange_n(longest, &before, elapsed, true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
        ;
}

/* Counts a call that did not wait, without reading the clock. */
static inline __attribute__((always_inline)) void fm_wait_count(unsigned kind, uint64_t cfa)
{
    const struct fm_tls *tls = &fm_tls_v2;
    struct fm_thread *thread = tls->thread;
    if (FM_UNLIKELY(thread == NULL))
        return;
    const struct fm_rec_frame *frame = fm_stack_charged_quickly(tls, cfa);
    if (FM_LIKELY(frame != NULL && tls->inside == 0 && tls->bound != FM_BOUND_NONE)) {
        const struct fm_rec_csd *csd = (const struct fm_rec_csd *)frame->csd;
        const struct fm_wait_slot *slot = fm_wait_slot_of(thread, csd, kind);
        if (FM_LIKELY(slot->key == fm_wait_key(csd, kind))) {
            fm_add_once(&slot->record->calls, 1);
            return;
        }
    }
    if (fm_process.wait_clock != 0)
        fm_wait_count_slowly(kind, cfa);
}

/* A file has a list of its functions, CALLS(X), and by FM_WAIT_NEXT(CALLS) a table of the next
 * definitions. It is filled at the start, or by an earlier first call, from constructors of
 * libraries. */
struct fm_wait_name {
    const char *name;
    void *next; /* the target */
};
#if defined(__has_attribute) && __has_attribute(retain)
#define FM_WAIT_TABLE(section_name) __attribute__((section(section_name), aligned(8), used, retain))
#else
#define FM_WAIT_TABLE(section_name) __attribute__((section(section_name), aligned(8), used))
#endif
#define FM_WAIT_MEMBER(name) __typeof__(name) *name;
#define FM_WAIT_NAMED(name) {#name, &next.name},
#ifdef FATHOM_STATIC /* filled by name, see next_static.c */
#define FM_WAIT_NEXT(CALLS)   \
    static struct {           \
        CALLS(FM_WAIT_MEMBER) \
    } next;
#else
#define FM_WAIT_NEXT(CALLS)   \
    static struct {           \
        CALLS(FM_WAIT_MEMBER) \
    } next;                   \
    static FM_WAIT_TABLE("fm_wait_names") struct fm_wait_name names[] = {CALLS(FM_WAIT_NAMED)};
#endif

/* The program's calls jump to `way`. If the next definition is libc's, and so is that of the
 * companion, which this function also calls, the target is the function here, which records the
 * call. Otherwise (a library of the program's, or a preloaded one, defines the function) the target
 * is that definition directly, whose arguments may differ. */
struct fm_wait_way {
    void **way, *seen;
    void *next, *companion; /* addresses of the next definitions; NULL: not needed */
};
#define FM_WAIT_FIRST(name)                                                          \
    ".hidden fm_first_" #name "\n\t.globl fm_first_" #name "\n\t.p2align 4\n\t"      \
    ".type fm_first_" #name ", @function\nfm_first_" #name ":\n\t.cfi_startproc\n\t" \
    "leaq fm_way_" #name "(%rip), %r11\n\tjmp fm_wait_first\n\t.cfi_endproc\n\t"     \
    ".size fm_first_" #name ", .-fm_first_" #name "\n\t"
#define FM_WAIT_WAY(name)                    \
    extern char fm_first_##name[] FM_HIDDEN; \
    extern void *fm_way_##name FM_HIDDEN;    \
    void *fm_way_##name = fm_first_##name;
#ifdef FATHOM_STATIC
/* The name is in an object of its own, which static_stubs.py makes from each line of
 * fm_static_names. */
#define FM_STATIC_WAY(name, companion, seen, next, next_companion)      \
    __asm__(".pushsection .text\n\t" FM_WAIT_FIRST(                     \
        name) ".popsection\n\t"                                         \
              ".pushsection fm_static_names, \"\", @progbits\n\t"       \
              ".ascii \"" #name " " #companion "\\n\"\n\t.popsection"); \
    FM_WAIT_WAY(name)                                                   \
    extern struct fm_wait_way fm_way_of_##name FM_HIDDEN;               \
    struct fm_wait_way fm_way_of_##name = {&fm_way_##name, (void *)seen, next, next_companion};
#define FM_WAIT_SEES(type, name, companion, parameters)                         \
    static type fm_seen_##name parameters;                                      \
    FM_STATIC_WAY(name, companion, fm_seen_##name, &next.name, &next.companion) \
    static type fm_seen_##name parameters
#else
#define FM_WAIT_SEES(type, name, companion, parameters)                                       \
    __asm__(".pushsection .text\n\t.p2align 4\n\t"                                            \
            ".weak " #name "\n\t.type " #name ", @function\n" #name ":\n\t.cfi_startproc\n\t" \
            "jmp *fm_way_" #name "(%rip)\n\t.cfi_endproc\n\t.size " #name ", .-" #name "\n\t" \
            ".hidden fm_stub_" #name "\n\t.globl fm_stub_" #name "\n\t.set fm_stub_" #name    \
            ", " #name "\n\t" FM_WAIT_FIRST(name) ".popsection");                             \
    FM_WAIT_WAY(name)                                                                         \
    static type fm_seen_##name parameters;                                                    \
    static FM_WAIT_TABLE("fm_wait_ways") struct fm_wait_way fm_way_of_##name = {              \
        &fm_way_##name, (void *)fm_seen_##name, &next.name, &next.companion};                 \
    static type fm_seen_##name parameters
#endif

/* type name parameters: calls libc's function with arguments, and records a wait unless the
 * arguments show that it cannot wait. */
#define FM_WAIT_CALL_UNLESS(cannot, kind, object, type, name, parameters, arguments) \
    FM_WAIT_SEES(type, name, name, parameters)                                       \
    {                                                                                \
        if (cannot) {                                                                \
            fm_wait_count(kind, HERE);                                               \
            return next.name arguments;                                              \
        }                                                                            \
        bool counted = fm_wait_begin(kind, (uint64_t)(object), HERE);                \
        type result = next.name arguments;                                           \
        fm_wait_over(counted, HERE);                                                 \
        return result;                                                               \
    }
#define FM_WAIT_CALL(kind, object, type, name, parameters, arguments) \
    FM_WAIT_CALL_UNLESS(false, kind, object, type, name, parameters, arguments)

/* Variadic functions: calls the variant that takes a va_list. */
#define FM_WAIT_VARIADIC(kind, object, name, called, last, parameters, arguments) \
    FM_WAIT_SEES(int, name, called, parameters)                                   \
    {                                                                             \
        va_list list;                                                             \
        va_start(list, last);                                                     \
        bool counted = fm_wait_begin(kind, (uint64_t)(object), HERE);             \
        int result = next.called arguments;                                       \
        fm_wait_over(counted, HERE);                                              \
        va_end(list);                                                             \
        return result;                                                            \
    }
