#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stacks that a program changes by itself, two of them in one mapping: all calls are counted, and the run says that
the contexts of some may not be theirs."""
import pathlib
import sys
import tempfile

import record_lib as lib

PROGRAM = r"""
#include <stdio.h>
#include <sys/mman.h>
#define N __attribute__((noinline))
#define BYTES (1 << 16)
void switch_to(void **from, void *to);
__asm__(".text\n.globl switch_to\n.type switch_to, @function\nswitch_to:\n"
        "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
        "mov %rsp, (%rdi)\nmov %rsi, %rsp\n"
        "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n"
        ".size switch_to, .-switch_to\n");
static void *home, *self[2];
static volatile int current, value, finished, calls;
N static int depth(int n)
{
    calls++;
    int below = n <= 0 ? 0 : depth(n - 1);
    value++;
    return below + 1;
}
N static void yield(int v)
{
    calls++;
    value = v;
    switch_to(&self[current], home);
}
N static void produce(void)
{
    calls++;
    for (int i = 0; i < 6; i++)
        yield(depth(i));
    finished++;
    for (;;)
        yield(0);
}
N static void resume(int which)
{
    calls++;
    current = which;
    switch_to(&home, self[which]);
}
int main(void)
{
    char *memory = mmap(NULL, 2 * BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 2; i++) {
        void **top = (void **)(memory + (i + 1) * BYTES) - 3;
        *top = (void *)produce;
        self[i] = top - 6;
    }
    for (int i = 0; finished < 2; i++)
        resume(i % 2);
    printf("%d\n", calls + 1);
    return 0;
}
"""


def main():
    tap = lib.Tap()
    lib.need("gcc")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "stacks.c").write_text(PROGRAM)
        for grade in ("deep", "full"):
            lib.must([lib.FATHOM, "cc", f"--grade={grade}", "gcc", "-O1", "stacks.c", "-o", "prog"], folder)
            done = lib.record(["./prog"], folder)
            calls = done.profile.calls()
            tap.same(sum(calls[name] for name in ("main", "resume", "produce", "yield", "depth")), int(done.stdout),
                     f"{grade}: all calls are counted")
            tap.check("their contexts may be wrong" in done.stderr, f"{grade}: the run says what may be wrong",
                      done.stderr)
    return tap.done()


sys.exit(main())
