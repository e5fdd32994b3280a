#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Code without hooks that calls functions with hooks: where the code was called is found by unwinding, in every kind
of program, through code with unwind tables, without them, and with tables that say nothing. No program ends by it."""
import collections
import pathlib
import sys
import tempfile

import record_lib as lib
from runtime_rec import Rec

SIDE_VIA = 1
# Code made at run time, with an entry that a known JIT compiler registers: a personality, no CFA. Then without.
MADE = r"""
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
extern void __register_frame(const void *);
static const uint8_t table[] = {
  0x1c,0,0,0, 0,0,0,0, 1,'z','P','R',0, 1,0x78,16, 10, 0, 0,0,0,0,0,0,0,0, 0x1b, 0,0,0,0,0,
  0x14,0,0,0, 0x24,0,0,0, 0x14,0,0,0, 0,0,0,0, 0, 0,0,0, 0,0,0,0, 0,0,0,0 };
static const uint8_t pushes[] = { 0x53, 0xbf,7,0,0,0, 0xff,0xd0, 0x5b, 0xc3 };
static const uint8_t frame[] = { 0x55, 0x48,0x89,0xe5, 0x48,0x83,0xec,0x20, 0xbf,8,0,0,0, 0xff,0xd0, 0xc9, 0xc3 };
static void personality(void) {}
__attribute__((noinline)) void work(int n) { printf("work %d\n", n); }
/* The made code finds the function to call in rax. */
__attribute__((noinline)) void run(const uint8_t *code)
{
    __asm__ volatile("call *%1" : : "a"(work), "r"(code) : "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc",
                     "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7");
    puts("back");
}
int main(void)
{
    uint8_t *m = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void (*handler)(void) = personality;
    memcpy(m, table, sizeof table);
    memcpy(m + 0x12, &handler, 8);
    uint32_t bytes = 4096 - sizeof table;
    memcpy(m + 0x2c, &bytes, 4);
    __register_frame(m);
    memcpy(m + 64, pushes, sizeof pushes);
    memcpy(m + 128, frame, sizeof frame);
    run(m + 64);
    run(m + 128);
    return 0;
}
"""
# Callbacks on all kinds of stacks.
STACKS = r"""
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>
#define N __attribute__((noinline))
static volatile int compared;
N static int by_main(const void *a, const void *b) { compared++; return *(const int *)a - *(const int *)b; }
N static int by_handler(const void *a, const void *b) { compared++; return *(const int *)a - *(const int *)b; }
N static int by_thread(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
N static int by_coroutine(const void *a, const void *b) { compared++; return *(const int *)a - *(const int *)b; }
static void fill(int *v) { for (int i = 0; i < 20; i++) v[i] = i * 7 % 20; }
static void handler(int number)
{
    int v[20];
    (void)number;
    fill(v);
    qsort(v, 20, sizeof *v, by_handler);
}
static void *thread(void *data)
{
    int v[20];
    fill(v);
    qsort(v, 20, sizeof *v, by_thread);
    return data;
}
static ucontext_t home, other;
static void coroutine(void)
{
    int v[20];
    fill(v);
    qsort(v, 20, sizeof *v, by_coroutine);
}
int main(void)
{
    static char on_signal[65536], on_switch[65536];
    int v[20];
    fill(v);
    qsort(v, 20, sizeof *v, by_main);
    stack_t alternate = {.ss_sp = on_signal, .ss_size = sizeof on_signal};
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    sigaltstack(&alternate, NULL);
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    pthread_t id;
    pthread_create(&id, NULL, thread, NULL);
    pthread_join(id, NULL);
    getcontext(&other);
    other.uc_stack.ss_sp = on_switch;
    other.uc_stack.ss_size = sizeof on_switch;
    other.uc_link = &home;
    makecontext(&other, coroutine, 0);
    swapcontext(&home, &other);
    printf("%d\n", compared);
    return 0;
}
"""
STACKS_VIA = {"by_main": {"main"}, "by_handler": {"handler"}, "by_thread": {"thread"}, "by_coroutine": {"coroutine"},
              "handler": {"main"}}
FOREIGN = r"""
__attribute__((noinline)) int each(int count, int (*call)(int))
{
    volatile int space[FRAME];
    int sum = 0;
    for (int i = 0; i < count; i++) {
        space[i % FRAME] = i;
        sum += call(space[i % FRAME]);
    }
    return sum;
}
"""
OVER = r"""
#include <stdio.h>
int each(int count, int (*call)(int));
__attribute__((noinline)) static int item(int i) { static volatile int seen; seen = i; return seen * 2; }
__attribute__((noinline)) static int over(int count) { return each(count, item) + 1; }
int main(void) { printf("%d\n", over(10)); return 0; }
"""
# Two libraries that come to the same addresses, with other frames at the same code.
COMING = r"""
#include <dlfcn.h>
#include <stdio.h>
__attribute__((noinline)) static int item(int i) { static volatile int seen; seen = i; return seen * 2; }
__attribute__((noinline)) static int over(int (*each)(int, int (*)(int))) { return each(3, item) + 1; }
int main(int count, char **words)
{
    int sum = 0, same = 0;
    void *at = NULL;
    for (int i = 0; i < 20; i++) {
        void *library = dlopen(words[1 + i % (count - 1)], RTLD_NOW);
        void *each = dlsym(library, "each");
        same += at == each;
        at = each;
        sum += over((int (*)(int, int (*)(int)))each);
        dlclose(library);
    }
    printf("%d %s\n", sum, same > 0 ? "reused" : "");
    return 0;
}
"""


def via_of(recording, executable):
    """{function called back: functions that called the code which did}, and how many were not found."""
    rec = Rec(recording)
    names = lib.Names(executable, next(module["bias"] for module in rec.modules if module["flags"] & 1))
    found = collections.defaultdict(set)
    for thread in rec.threads:
        for csd in thread["csds"].values():
            if csd["callback"] and SIDE_VIA in csd["side"]:
                found[names.get(thread["pds"][csd["callee"]]["fn"], "?")].add(names.get(csd["side"][SIDE_VIA] - 1, "?"))
    return dict(found), sum(thread["unresolved"] for thread in rec.threads)


def check(tap, folder, what, words, output, via, arguments=(), unresolved=0):
    if lib.run(words, folder).returncode != 0:
        tap.skip(what, "cannot be built here")
        return
    done = lib.run([lib.FATHOM, "record", "-q", "--keep", "-o", "out", "--", "./prog", *arguments], folder)
    tap.same((done.returncode, done.stdout), (0, output), f"{what}: the program does what it does alone")
    tap.same(via_of(folder / "out.rec", folder / "prog"), (via, unresolved), f"{what}: who called the code that calls back")


def made_at_run_time(tap, folder, compiler):
    for words in (["-O1"], ["-O2", "-static"], ["-O2", "-static-pie", "-fPIE"]):
        check(tap, folder, f"{compiler} {' '.join(words)}: code made at run time",
              [lib.FATHOM, "cc", "--grade=deep", compiler, *words, "made.c", "-o", "prog"],
              "work 7\nback\nwork 8\nback\n", {"work": {"run"}})


def all_kinds_of_stacks(tap, folder, compiler):
    for words in (["-O0"], ["-O2"], ["-O2", "-nodefaultlibs", "-lc"]):
        # What runs first on a coroutine's stack is not called by the frame below.
        check(tap, folder, f"{compiler} {' '.join(words)}: all kinds of stacks",
              [lib.FATHOM, "cc", "--grade=deep", compiler, "stacks.c", *words, "-o", "prog"], "189\n", STACKS_VIA, unresolved=1)


def foreign(folder, name, options, frame):
    lib.must(["gcc", "-shared", "-fPIC", "-O2", *options, f"-DFRAME={frame}", "foreign.c", "-o", name], folder)


def without_hooks(tap, folder):
    no_tables = ["-fno-asynchronous-unwind-tables", "-fno-unwind-tables"]
    for options in ([], [*no_tables, "-fomit-frame-pointer"], [*no_tables, "-fno-omit-frame-pointer"]):
        foreign(folder, "libforeign.so", options, 5)
        check(tap, folder, f"a library without hooks {' '.join(options)}",
              [lib.FATHOM, "cc", "gcc", "-O1", "over.c", "-L.", "-lforeign", "-Wl,-rpath,$ORIGIN", "-o", "prog"], "91\n",
              {"item": {"over"}})


def coming_and_going(tap, folder):
    foreign(folder, "one.so", [], 5)
    foreign(folder, "two.so", [], 55)
    check(tap, folder, "libraries that come to the addresses of others",
          [lib.FATHOM, "cc", "gcc", "-O1", "coming.c", "-o", "prog"], "140 reused\n", {"item": {"over"}},
          arguments=("./one.so", "./two.so"))


def main():
    tap = lib.Tap()
    lib.need("gcc")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for source, text in (("made.c", MADE), ("stacks.c", STACKS), ("foreign.c", FOREIGN), ("over.c", OVER),
                             ("coming.c", COMING)):
            (folder / source).write_text(text)
        for compiler in ("gcc", "clang"):
            made_at_run_time(tap, folder, compiler)
            all_kinds_of_stacks(tap, folder, compiler)
        without_hooks(tap, folder)
        coming_and_going(tap, folder)
    return tap.done()


sys.exit(main())
