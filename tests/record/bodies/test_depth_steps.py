#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The greatest depth of a recursion when a signal's handler goes deeper while a call is about to be counted: once at
each instruction that counts it."""
import json
import os
import pathlib
import sys
import tempfile

import record_lib as lib

DOWN, HANDLER = 8, 40
PROGRAM = r"""
#include <signal.h>
#define N __attribute__((noinline))
static volatile int sink, armed;
N int down(int n)
{
    if (n == 1 && armed) {
        armed = 0;
        __asm__ volatile("int3");
    }
    int a = n == 0 ? 0 : down(n - 1);
    sink++; /* so it is no loop */
    return a + 1;
}
static void handler(int number) { (void)number; down(DEEPER); }
int main(void)
{
    signal(SIGUSR1, handler);
    down(2);
    armed = 1;
    down(DOWN);
    return 0;
}
"""
# STEPS PROGRAM: gives it SIGUSR1 so many instructions behind its breakpoint, and says where that was.
STEPPER = r"""
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int count, char **words)
{
    long steps = atol(words[1]);
    int status, traps = 0;
    pid_t child = fork();
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        execv(words[2], words + 2);
        _exit(127);
    }
    while (count > 2 && waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
        int number = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
        if (number == 0 && ++traps == 2) {
            for (long i = 0; i < steps; i++) {
                ptrace(PTRACE_SINGLESTEP, child, 0, 0);
                if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
                    return 3;
            }
            struct user_regs_struct at;
            ptrace(PTRACE_GETREGS, child, 0, &at);
            printf("%llx\n", at.rip);
            number = SIGUSR1;
        }
        ptrace(PTRACE_CONT, child, 0, number);
    }
    return traps == 2 && WIFEXITED(status) ? WEXITSTATUS(status) : 4;
}
"""


def greatest(folder):
    lib.must([lib.FATHOM, "finish", "-q", "-o", "p", "p.rec"], folder)
    profile = json.loads(lib.must([lib.FATHOM, "dump", "--json", "p.data"], folder).stdout)
    return max(of["greatest"] or 0 for of in profile["facts"]["depths"])


def range_of(folder, name):
    for line in lib.must(["nm", "-S", "prog"], folder).stdout.splitlines():
        words = line.split()
        if words[-1] == name and len(words) == 4:
            return int(words[0], 16), int(words[0], 16) + int(words[1], 16)
    raise RuntimeError(f"{name} is not in the program")


def main():
    tap = lib.Tap()
    lib.need("gcc")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "prog.c").write_text(PROGRAM)
        (folder / "stepper.c").write_text(STEPPER)
        lib.must(["gcc", "-O1", "stepper.c", "-o", "stepper"], folder)
        lib.must([lib.FATHOM, "cc", "--grade=deep", "gcc", "-O1", "-no-pie", "-fno-pie", f"-DDOWN={DOWN}",
                  f"-DDEEPER={HANDLER}", "prog.c", "-o", "prog"], folder)
        low, high = range_of(folder, "fm_deeper_v1")
        environment = {**os.environ, "FATHOM_OUTPUT": "p", "FATHOM_TICKS": "none"}
        met, wrong = 0, {}
        for steps in range(1, 400):
            done = lib.run(["./stepper", str(steps), "./prog"], folder, env=environment)
            if done.returncode in (3, 4) and not met:
                tap.skip("stepping", "programs cannot be stepped here")
                return tap.done()
            at = int(done.stdout or "0", 16)
            if not low <= at < high:
                if met > 10:
                    break  # the call has been counted
                continue
            met += 1
            found = greatest(folder)
            if found <= HANDLER:
                wrong[f"fm_deeper_v1+{at - low:#x}"] = found
        tap.check(met > 10, "the counting of a depth was stepped through", met)
        tap.same(wrong, {}, "what a handler reached is the greatest, wherever it came")
    return tap.done()


sys.exit(main())
