#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory at the peak when a thread loses the processor while a block is counted: at each instruction that counts it,
another thread makes a peak, leaves it, and ends the program."""
import os
import pathlib
import sys
import tempfile

import record_lib as lib

PROGRAM = r"""
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static void *kept, *others, *volatile last;
static __attribute__((noinline)) void end(int allocates)
{
    free(allocates ? malloc(2 * OTHER) : others);
    _exit(0);
}
#ifdef LATE /* nobody sees the thread before the byte comes */
__attribute__((no_instrument_function, no_split_stack))
#endif
static void *wait_for_byte(void *allocates)
{
    char byte;
#ifdef LATE
    long got;
    __asm__ volatile("syscall" : "=a"(got) : "0"(0L), "D"(0L), "S"(&byte), "d"(1L) : "rcx", "r11", "memory");
#else
    long got = read(0, &byte, 1);
#endif
    if (got == 1)
        end(allocates != NULL);
    return NULL;
}
int main(int count, char **words)
{
    int allocates = words[1][0] == 'm';
    pthread_t thread;
    free(malloc(1)); /* what is made once */
    pthread_create(&thread, NULL, wait_for_byte, allocates ? &kept : NULL);
    others = malloc(OTHER);
    kept = malloc(BLOCK);
    if (allocates) {
        free(malloc(BLOCK));
        __asm__ volatile("int3");
        last = malloc(BLOCK);
    } else {
        __asm__ volatile("int3");
        free(kept);
    }
    __asm__ volatile("int3");
    pthread_join(thread, NULL);
    return count;
}
"""
# STEPS PROGRAM...: steps the first thread so far behind its first breakpoint, and then lets the other run. STEPS 0: up
# to the second one, and says where each step was.
STEPPER = r"""
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
static pid_t child;
static long place(void)
{
    struct user_regs_struct at;
    ptrace(PTRACE_GETREGS, child, 0, &at);
    return at.rip;
}
int main(int count, char **words)
{
    long steps = atol(words[1]);
    int status, to[2];
    if (count < 3 || pipe(to) != 0)
        return 4;
    child = fork();
    if (child == 0) {
        dup2(to[0], 0);
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        execv(words[2], words + 2);
        _exit(127);
    }
    for (int traps = 0; traps < 2 && waitpid(child, &status, 0) == child && WIFSTOPPED(status);) {
        int number = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
        traps += number == 0;
        if (traps < 2)
            ptrace(PTRACE_CONT, child, 0, number);
    }
    for (long i = 0; steps == 0 || i < steps; i++) {
        long at = place();
        if (steps == 0)
            printf("%lx\n", at);
        if ((ptrace(PTRACE_PEEKTEXT, child, at, 0) & 0xff) == 0xcc)
            break;
        if (ptrace(PTRACE_SINGLESTEP, child, 0, 0) != 0 || waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
            return 3;
    }
    if (write(to[1], "x", 1) != 1 || waitpid(child, &status, 0) != child)
        return 4;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 4;
}
"""


# What changes a record and the sum: all that is not inlined into it is in there.
COUNTING = {"fm_held_alloc", "fm_held_free", "fm_held_flush", "fm_held_tell", "fm_held_falls", "fm_held_peak_leave",
            "fm_held_large_begin", "fm_held_large_end", "save"}


def counting_functions(folder):
    found = []
    for line in lib.must(["nm", "-S", "prog"], folder).stdout.splitlines():
        words = line.split()
        if len(words) == 4 and words[3] in COUNTING:
            found.append((int(words[0], 16), int(words[0], 16) + int(words[1], 16), words[3]))
    return found


def stop_at(folder, environment, step, what):
    """What `fathom check` says of the peak when the program ended there; None: all is right."""
    lib.run(["./stepper", str(step), "./prog", what], folder, env=environment)
    lib.must([lib.FATHOM, "finish", "-q", "-o", "p", "p.rec"], folder)
    told = lib.run([lib.FATHOM, "check", "p.data"], folder)
    return None if told.returncode == 0 else [line for line in told.stdout.splitlines() if "FAILED" in line]


def main():
    tap = lib.Tap()
    lib.need("gcc")
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        (folder / "prog.c").write_text(PROGRAM)
        (folder / "stepper.c").write_text(STEPPER)
        lib.must(["gcc", "-O1", "stepper.c", "-o", "stepper"], folder)
        environment = {**os.environ, "FATHOM_OUTPUT": "p", "FATHOM_TICKS": "none"}
        environment.pop("MALLOC_PERTURB_", None)  # one instruction that fills a block makes many steps
        # by default the thread is known once it has started; LATE: only while the first one counts
        for what, block, other, late in (("malloc", 100000, 100000, False), ("malloc", 100000, 100000, True),
                                         ("free", 15000, 500000, False), ("free", 15000, 500000, True)):
            lib.must([lib.FATHOM, "cc", "--grade=deep", "gcc", "-O1", "-no-pie", "-fno-pie", "-fno-builtin",
                      f"-DBLOCK={block}", f"-DOTHER={other}", *(["-DLATE"] if late else []), "prog.c", "-o",
                      "prog"], folder)
            functions = counting_functions(folder)
            name = what + (", known late" if late else "")
            done = lib.run(["./stepper", "0", "./prog", what], folder, env=environment)
            if done.returncode in (3, 4):
                tap.skip("stepping", "programs cannot be stepped here")
                return tap.done()
            places = [(step, f"{found[0][2]}+{at - found[0][0]:#x}")
                      for step, at in enumerate(int(line, 16) for line in done.stdout.split())
                      if (found := [one for one in functions if one[0] <= at < one[1]])]
            told = {place: stop_at(folder, environment, step, what) for step, place in places[::len(places) // 40]}
            tap.check(len(told) > 20, f"{name} was stepped through", len(told))
            tap.same({place: lines for place, lines in told.items() if lines}, {},
                     f"{name}: the peak holds, wherever it was left")
    return tap.done()


sys.exit(main())
