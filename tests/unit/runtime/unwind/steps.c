/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the stack at every instruction of a program that runs step by step (the processor's trap
 * flag), and compares with libgcc's unwinder: prologues, epilogues, procedure linkage tables, lazy
 * binding, hand-written loops of libc, signal frames. */
#include <dlfcn.h>
#include <glib.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "unwind/rules.h"
#include "unwind/unwind.h"

#define FRAMES_MAX 256
#define STEPS_WANTED 20000
#define TRAP_FLAG 0x100
#define N __attribute__((noinline))

struct frames {
    unsigned count;
    uint64_t ip[FRAMES_MAX];
};

static volatile sig_atomic_t stepping;
static uint64_t steps, differences, incomplete, longer, amended, in_switches, guesses;
static unsigned deepest, with_signals;
static uint64_t start_context, signal_return;
static uint64_t switches[2]; /* libc's own: a sanitizer has functions of these names, too */
static struct frames first_incomplete;
static struct {
    unsigned at;
    struct frames ours, theirs;
} first_difference;

static _Unwind_Reason_Code note(struct _Unwind_Context *context, void *data)
{
    struct frames *frames = data;
    if (frames->count == FRAMES_MAX)
        return _URC_END_OF_STACK;
    frames->ip[frames->count++] = _Unwind_GetIP(context);
    return _URC_NO_REASON;
}

/* From the interrupted instruction on. */
static void libgcc_frames(uint64_t interrupted, struct frames *ret)
{
    struct frames all = {0};
    _Unwind_Backtrace(note, &all);
    unsigned from = 0;
    if (signal_return == 0) { /* the frame inside of what was interrupted first */
        while (from + 1 < all.count && all.ip[from + 1] != interrupted)
            from++;
        signal_return = all.ip[from];
    }
    while (from < all.count && all.ip[from++] != signal_return)
        ;
    ret->count = 0;
    for (unsigned i = from; i < all.count; i++)
        if (all.ip[i] != 0) /* the caller that the outermost frame has not */
            ret->ip[ret->count++] = all.ip[i];
}

static enum fm_unwind_result own_frames(const ucontext_t *context, struct frames *ret)
{
    struct fm_unwind_registers registers;
    struct fm_unwind walk;
    enum fm_unwind_result result = FM_UNWIND_FRAME;
    unsigned signals = 0;
    fm_unwind_registers_of(&context->uc_mcontext, &registers);
    fm_unwind_begin(&walk, &registers, 0, 0);
    for (ret->count = 0; result == FM_UNWIND_FRAME && ret->count < FRAMES_MAX;) {
        ret->ip[ret->count++] = walk.ip;
        result = fm_unwind_step(&walk);
        signals += walk.exact;
    }
    guesses += walk.guesses;
    with_signals += signals > 0;
    return result;
}

/* gcc's rows of realigned frames may be wrong there, see leave.c; libgcc reads what they name,
 * mapped or not. */
static bool is_end_of_realigned(uint64_t ip)
{
    return fm_unwind_rule_make(ip, true) != fm_unwind_rule_make(ip, false);
}

/* Stack and registers are of two coroutines there, or the function that a coroutine returns to has
 * rows of an ordinary one: nobody can unwind that. */
static bool is_in_switch(uint64_t ip)
{
    struct fm_unwind_table table;
    struct fm_unwind_entry entry;
    return fm_unwind_table_of(ip, &table) && fm_unwind_entry_find(&table, ip, &entry, NULL) &&
           (entry.start == switches[0] || entry.start == switches[1] ||
            entry.start == start_context);
}

static void on_step(int number, siginfo_t *info, void *data)
{
    (void)number;
    (void)info;
    ucontext_t *context = data;
    uint64_t ip = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
    static struct frames ours, theirs, before;
    if (!stepping) {
        context->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
        return;
    }
    before = ours;
    enum fm_unwind_result result = own_frames(context, &ours);
    steps++;
    deepest = ours.count > deepest ? ours.count : deepest;
    if (is_in_switch(ip)) {
        in_switches++;
        return;
    }
    if (result != FM_UNWIND_END && incomplete++ == 0)
        first_incomplete = ours;
    if (is_end_of_realigned(ip)) { /* the same callers as an instruction before */
        amended++;
        differences +=
            ours.count != before.count ||
            memcmp(ours.ip + 1, before.ip + 1, (ours.count - 1) * sizeof ours.ip[0]) != 0;
        return;
    }
    libgcc_frames(ip, &theirs);
    unsigned at = 0;
    while (at < ours.count && at < theirs.count && ours.ip[at] == theirs.ip[at])
        at++;
    if (at == theirs.count && at == ours.count)
        return;
    if (at == theirs.count) {
        longer++; /* libgcc ends at code without tables */
        return;
    }
    if (differences++ == 0) {
        first_difference.at = at;
        first_difference.ours = ours;
        first_difference.theirs = theirs;
    }
}

static inline __attribute__((always_inline)) void step_on(void)
{
    stepping = 1;
    __asm__ volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq" ::: "memory", "cc");
}
static inline __attribute__((always_inline)) void step_off(void)
{
    stepping = 0;
}

static volatile double sink;
static volatile int many;

N static int by_size(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

N static int with_alloca(int n)
{
    char *room = __builtin_alloca((size_t)n * 16 + 1);
    memset(room, n, (size_t)n * 16 + 1);
    return n <= 0 ? room[0] : with_alloca(n - 1) + room[n];
}

struct aligned {
    char bytes[128];
} __attribute__((aligned(64)));

/* gcc keeps the caller's stack pointer in r10 there. */
N static int realigned(int n, ...)
{
    struct aligned local;
    char *room = __builtin_alloca((size_t)n + 1);
    memset(&local, n, sizeof local);
    memset(room, n, (size_t)n + 1);
    return n <= 0 ? local.bytes[n] : realigned(n - 1, room, &local) + local.bytes[n] + room[n];
}

N static double with_bp_as_variable(double x, int n)
{
    int values[7];
    for (int i = 0; i < 7; i++)
        values[i] = (int)x + i * n + many;
    qsort(values, 7, sizeof values[0], by_size);
    return values[3] + x;
}

static jmp_buf back;
static void (*volatile jump_again)(int);
N static void jump_back(int n)
{
    if (n == 0)
        longjmp(back, 1);
    jump_again(n - 1);
    many++; /* never: no jump in the place of the call */
}

N static void jumps(void)
{
    jump_again = jump_back;
    if (setjmp(back) == 0)
        jump_back(5);
}

static void on_user(int number)
{
    (void)number;
    step_on(); /* the kernel has put it off */
    many += with_alloca(2);
}

/* The outermost frame of a coroutine is where it returns to. */
N static void learn_start(void)
{
    struct fm_unwind_registers registers;
    struct fm_unwind walk;
    fm_unwind_registers_here(&registers);
    fm_unwind_begin(&walk, &registers, 0, 0);
    do
        start_context = walk.ip;
    while (fm_unwind_step(&walk) == FM_UNWIND_FRAME);
}

static ucontext_t home, other;
N static void coroutine(void)
{
    learn_start();
    many += with_alloca(2);
    swapcontext(&other, &home);
    many += realigned(1);
}

N static void coroutines(void)
{
    static char stack[1 << 16];
    getcontext(&other);
    other.uc_stack.ss_sp = stack;
    other.uc_stack.ss_size = sizeof stack;
    other.uc_link = &home;
    makecontext(&other, coroutine, 0);
    swapcontext(&home, &other);
    swapcontext(&home, &other);
}

/* Each of these is bound at its first call. */
N static void first_calls(double x)
{
    static double (*const volatile known)(double) = floor;
    sink = erf(x) + tgamma(x) + lgamma(x) + j0(x) + y0(x) + cbrt(x) + asinh(x) + known(x);
    sink += log1p(x) + expm1(x) + acosh(x + 1) + atanh(x / 4) + erfc(x) + j1(x) + y1(x);
}

N static void work(int round)
{
    char text[256];
    struct timespec now;
    many += with_alloca(3) + realigned(3);
    sink = with_bp_as_variable(round, 3);
    snprintf(text, sizeof text, "%d %s %.3f", round, "some text", round / 7.0);
    many += (int)strlen(text) + atoi(text);
    jumps();
    clock_gettime(CLOCK_MONOTONIC, &now);
    free(malloc(100));
    kill(getpid(), SIGUSR1);
    coroutines();
    first_calls(round + 0.25);
}

static void report_incomplete(void)
{
    for (unsigned i = 0; i < first_incomplete.count; i++)
        g_test_message("%2u: %016" G_GINT64_MODIFIER "x", i, first_incomplete.ip[i]);
}

static void report_difference(void)
{
    for (unsigned i = 0; i < first_difference.ours.count || i < first_difference.theirs.count; i++)
        g_test_message("%s %2u: %016" G_GINT64_MODIFIER "x %016" G_GINT64_MODIFIER "x",
                       i == first_difference.at ? ">" : " ", i,
                       i < first_difference.ours.count ? first_difference.ours.ip[i] : 0,
                       i < first_difference.theirs.count ? first_difference.theirs.ip[i] : 0);
}

static void every_step_has_the_stack_of_libgcc(void)
{
    static char stack[1 << 18];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction on_trap = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    struct sigaction user = {.sa_handler = on_user};
    struct frames warm = {0};
    void *libc = dlopen("libc.so.6", RTLD_LAZY);
    g_assert_nonnull(libc);
    switches[0] = (uint64_t)dlsym(libc, "swapcontext");
    switches[1] = (uint64_t)dlsym(libc, "setcontext");
    g_assert_true(switches[0] != 0 && switches[1] != 0);
    _Unwind_Backtrace(note, &warm);
    g_assert_cmpint(sigaltstack(&alternate, NULL), ==, 0);
    g_assert_cmpint(sigaction(SIGTRAP, &on_trap, NULL), ==, 0);
    g_assert_cmpint(sigaction(SIGUSR1, &user, NULL), ==, 0);
    for (int round = 0; steps < STEPS_WANTED; round++) {
        step_on();
        work(round);
        step_off();
    }
    g_test_message("%" G_GUINT64_FORMAT
                   " stacks, up to %u frames, %u with signals; %" G_GUINT64_FORMAT
                   " longer than libgcc's, %" G_GUINT64_FORMAT
                   " at ends of realigned functions, %" G_GUINT64_FORMAT
                   " in switches of coroutines; %" G_GUINT64_FORMAT " guesses",
                   steps, deepest, with_signals, longer, amended, in_switches, guesses);
    if (differences > 0)
        report_difference();
    if (incomplete > 0)
        report_incomplete();
    g_assert_cmpuint(differences, ==, 0);
    g_assert_cmpuint(incomplete, ==, 0);
    g_assert_cmpuint(with_signals, >, 0);
    g_assert_cmpuint(in_switches, <, steps / 50);
    g_assert_cmpuint(longer, <, steps / 100);
    g_assert_cmpuint(amended, <, steps / 100);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/unwind/every step has the stack of libgcc",
                    every_step_has_the_stack_of_libgcc);
    return g_test_run();
}
