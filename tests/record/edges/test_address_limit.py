#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs whose address space is limited, by themselves or by who starts them: they get the memory that they get when
they are not recorded. A recording that can grow no more where it is mapped says so, and misses no call."""
import os
import pathlib
import resource
import sys
import tempfile

import record_lib as lib

PROGRAM = r"""
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#define N __attribute__((noinline))
#define UNSEEN __attribute__((no_instrument_function))
static volatile int sink;
static unsigned state = 1;
UNSEEN static unsigned chance(unsigned n)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 16) % n;
}
#define LEVEL(n, next) \
    N static int a##n(int x) { return next(x + 1) + 1; } \
    N static int b##n(int x) { return next(x + 2) + 2; } \
    N static int c##n(int x) { return next(x) + 5; } \
    N static int level##n(int x) { return chance(2) ? a##n(x) + 1 : chance(2) ? b##n(x) + 2 : c##n(x) + 3; }
N static int level0(int x) { return x; }
LEVEL(1, level0) LEVEL(2, level1) LEVEL(3, level2) LEVEL(4, level3) LEVEL(5, level4) LEVEL(6, level5) LEVEL(7, level6)
UNSEEN static int has(size_t megabytes)
{
    void *volatile block = malloc(megabytes << 20);
    int is = block != NULL;
    free(block);
    return is;
}
UNSEEN static void limit(rlim_t bytes)
{
    struct rlimit limit = {bytes, RLIM_INFINITY};
    if (setrlimit(RLIMIT_AS, &limit) != 0)
        abort();
}
UNSEEN static rlim_t mapped(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (fscanf(file, "%lu", &pages) != 1)
        abort();
    fclose(file);
    return (rlim_t)pages * 4096;
}
/* A page of the program's own where the recording would grow to. */
UNSEEN static void block(void)
{
    char line[8192];
    unsigned long low, high, end = 0;
    FILE *file = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, file))
        if (strstr(line, ".rec\n") && sscanf(line, "%lx-%lx", &low, &high) == 2)
            end = high;
    fclose(file);
    if (end != 0 && mmap((void *)end, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | 0x100000, -1, 0) != (void *)end)
        abort();
}
int main(int argc, char **argv)
{
    int small = 0;
    if (strcmp(argv[1], "self") == 0) {
        limit((rlim_t)200 << 20);
        small = has(150);
    } else if (strcmp(argv[1], "started") == 0) {
        small = has(60);
    } else if (strcmp(argv[1], "met") == 0) {
        has(0);
        limit(mapped());
    } else if (strcmp(argv[1], "blocked") == 0) {
        block();
    }
    for (int i = 0; i < 20000; i++)
        sink += level7(i & 3);
    if (strcmp(argv[1], "met") == 0)
        limit(RLIM_INFINITY);
    printf("%s: %d %d\n", argv[1], small, sink);
    return argc - 2;
}
"""
STARTED_BYTES = 150000 << 10
FULL = "the recording was full (disk, limit or addresses)"


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (STARTED_BYTES, STARTED_BYTES))


def record(folder, mode):
    """The program, recorded without `fathom record` in between, which is not to be limited, too."""
    environment = {**os.environ, "FATHOM_OUTPUT": str(folder / mode)}
    return lib.run([folder / "prog", mode], folder, env=environment, preexec_fn=limited if mode == "started" else None)


def calls(folder, mode):
    finished = lib.run([lib.FATHOM, "finish", f"{mode}.rec"], folder)
    return lib.Profile(folder / f"{mode}.data").calls(), finished.stderr


def main():
    lib.need("gcc")
    tap = lib.Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "prog.c").write_text(PROGRAM)
        lib.must(["gcc", "-O1", "-w", "prog.c", "-o", "plain"], folder)
        lib.must([lib.FATHOM, "cc", "gcc", "-O1", "-w", "prog.c", "-o", "prog"], folder)
        record(folder, "free")
        wanted, _ = calls(folder, "free")
        tap.same(wanted.get("level7"), 20000, "without a limit all calls are counted")
        for mode in "self", "started", "met", "blocked":
            plain = lib.run([folder / "plain", mode], folder, preexec_fn=limited if mode == "started" else None)
            recorded = record(folder, mode)
            tap.same((recorded.returncode, recorded.stdout, recorded.stderr),
                     (plain.returncode, plain.stdout, plain.stderr), f"{mode}: results are as plain")
            found, told = calls(folder, mode)
            full = mode in ("met", "blocked")
            tap.same(FULL in told, full, f"{mode}: the summary says whether it was full")
            if full:
                lost = sum(count for function, count in found.items() if function.startswith("not recorded"))
                tap.check(0 < lost < sum(wanted.values()) / 2, f"{mode}: what there was room for is there", lost)
                tap.same(sum(found.values()), sum(wanted.values()), f"{mode}: and no call is missing")
            else:
                tap.same(found, wanted, f"{mode}: all calls are counted")
    return tap.done()


sys.exit(main())
