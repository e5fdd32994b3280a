/* SPDX-License-Identifier: Apache-2.0 */
/* Another thread of the program may be about to close a descriptor and rely on getting its number.
 * So files are read by a thread that has descriptors of its own. It is no process, as that would
 * count among the program's children: for wait(), getrusage() and, after unshare(CLONE_NEWPID), as
 * the first process of a namespace, which ends with it. */
#include "apart.h"

#include <sched.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "../internal.h"
#include "../valgrind.h"
#include "gate.h"

#define APART_FLAGS ((long)(CLONE_VM | CLONE_VFORK | CLONE_SIGHAND | CLONE_THREAD))
#define STACK_BYTES 2048
#define GONE_TURNS_MAX 10000
/* Links of the folder of a process's threads: its own two, and one for each thread. */
#define LINKS_OF_ONE_THREAD 3

struct apart {
    fm_apart_fn *read;
    void *argument;
};

static __attribute__((noreturn, noinline, used)) void run(const struct apart *apart)
{
    apart->read(apart->argument);
    for (;;)
        fm_system_call(SYS_exit, 0, 0, 0, 0);
}

/* A sandbox may let some of the calls through. */
static bool may_call(void)
{
    static const long calls[] = {SYS_clone, SYS_exit, SYS_tgkill, SYS_sched_yield};
    uint64_t arguments[6] = {APART_FLAGS};
    for (unsigned i = 0; fm_sandbox.on && i < sizeof calls / sizeof calls[0]; i++) {
        if (!fm_sandbox_allows(calls[i], arguments))
            return false;
        arguments[0] = 0;
    }
    return true;
}

/* The kernel lets the caller go on shortly before the thread is off the process's list. A program
 * that has one thread again may rely on that: unshare(CLONE_NEWUSER) does. */
static void await_gone(long tid)
{
    long pid = fm_system_call(SYS_getpid, 0, 0, 0, 0);
    for (int turn = 0; turn < GONE_TURNS_MAX && fm_system_call(SYS_tgkill, pid, tid, 0, 0) == 0;
         turn++)
        fm_system_call(SYS_sched_yield, 0, 0, 0, 0);
}

static bool run_beside(fm_apart_fn *read, void *argument)
{
    struct apart apart = {read, argument};
    char stack[STACK_BYTES] __attribute__((aligned(16)));
    uint32_t calling = fm_tls_v2.calling; /* the thread ends in the midst of a call */
    long tid = SYS_clone;
    register long thread_id __asm__("r10") = 0;
    register long tls __asm__("r8") = 0;
    __asm__ volatile("syscall\n\t"
                     "testq %%rax, %%rax\n\t"
                     "jnz 1f\n\t"
                     "movq %[apart], %%rdi\n\t"
                     "callq *%[run]\n\t"
                     "1:"
                     : "+a"(tid)
                     : "D"(APART_FLAGS), "S"(stack + sizeof stack), "d"(0L), "r"(thread_id),
                       "r"(tls), [apart] "b"(&apart), [run] "r"(run)
                     : "rcx", "r11", "memory", "cc");
    fm_tls_v2.calling = calling;
    if (tid <= 0)
        return false;
    await_gone(tid);
    return true;
}

bool fm_apart_run(fm_apart_fn *read, void *argument)
{
    struct stat threads;
    uint64_t mask = fm_block_signals();
    bool done = true;
    /* valgrind makes no such thread, but a copy of the process. */
    if (fm_under_valgrind() ||
        (fm_system_call(SYS_stat, (long)"/proc/self/task", (long)&threads, 0, 0) == 0 &&
         threads.st_nlink == LINKS_OF_ONE_THREAD))
        read(argument);
    else
        done = (mask & FM_SIGNALS_OPEN) == 0 && may_call() && run_beside(read, argument);
    fm_restore_signals(mask);
    return done;
}
