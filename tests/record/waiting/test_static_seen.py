#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fully static programs: waits and held memory are recorded where libc's functions are called, in the program's
objects, archives and the C++ library; functions of the program's own with such names run as they are; and what
the program does not call does not come into it."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import record_lib as lib
from patience import PATIENCE

MAIN = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>
void archived(void);
static void *block;
static __attribute__((noinline)) void waits(void)
{
    struct epoll_event event;
    int poller = epoll_create1(0);
    epoll_wait(poller, &event, 1, 20);
    usleep(10000);
}
static __attribute__((noinline)) void holds(void)
{
    block = malloc(1000);
    free(realloc(calloc(10, 10), 300));
}
int main(void)
{
    waits();
    holds();
    archived();
    puts(block != NULL ? "done" : "nothing");
    return 0;
}
"""
ARCHIVED = r"""
#include <stdlib.h>
#include <unistd.h>
char *kept;
void archived(void)
{
    char byte;
    int ends[2];
    kept = malloc(77);
    if (pipe(ends) == 0 && write(ends[1], "x", 1) == 1)
        kept[0] = (char)read(ends[0], &byte, 1);
    usleep(5000);
}
"""
# usleep() and fsync() have one name alone in libc, read() has more.
OWN = r"""
#include <stddef.h>
double usleep(double a, double b)
{
    return a * b;
}
long read(long a, long b, long c, long d, long e, long f, long g)
{
    return a + b + c + d + e + f + g;
}
int fsync(int a, int b)
{
    return 10 * a + b;
}
"""
OWN_MAIN = r"""
#include <stdio.h>
double usleep(double a, double b);
long read(long a, long b, long c, long d, long e, long f, long g);
int fsync(int a, int b);
static double early;
__attribute__((constructor(101))) static void begin(void)
{
    early = usleep(3, 4);
}
int main(void)
{
    printf("%g %g %ld %d\n", early, usleep(2, 4), read(1, 2, 3, 4, 5, 6, 7), fsync(4, 2));
    return 0;
}
"""
ALLOCATOR = r"""
#include <stddef.h>
#include <stdio.h>
#include <string.h>
static char room[1 << 20] __attribute__((aligned(16)));
static size_t used;
static int mine;
void *malloc(size_t bytes)
{
    void *block = room + used;
    used += (bytes + 15) / 16 * 16;
    mine++;
    return block;
}
void free(void *block) { (void)block; mine++; }
void *calloc(size_t count, size_t bytes) { return malloc(count * bytes); }
void *realloc(void *block, size_t bytes)
{
    void *fresh = malloc(bytes);
    return block != NULL ? memcpy(fresh, block, bytes) : fresh;
}
char *strdup(const char *);
int main(void)
{
    int before = mine;
    char *text = strdup("its own allocator");
    free(text);
    int calls = mine - before;
    puts(text);
    return calls == 2 && text >= room && text < room + sizeof room ? 0 : 1;
}
"""
CPLUSPLUS = r"""
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
static std::mutex lock;
static std::unique_ptr<int[]> kept;
__attribute__((noinline)) static void contend()
{
    std::lock_guard<std::mutex> held(lock);
}
__attribute__((noinline)) static void allocate() { kept.reset(new int[100]); }
int main()
{
    std::thread thread;
    {
        std::lock_guard<std::mutex> held(lock);
        thread = std::thread(contend);
        while (__atomic_load_n(&lock.native_handle()->__data.__lock, __ATOMIC_RELAXED) != 2)
            std::this_thread::sleep_for(std::chrono::milliseconds(1)); /* until it waits */
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
    }
    thread.join();
    allocate();
    try {
        throw std::runtime_error("caught");
    } catch (const std::exception &e) {
        puts(e.what());
    }
    return 0;
}
"""


def sources(folder, **texts):
    for name, text in texts.items():
        (folder / name.replace("_", ".")).write_text(text)


def heap_seen(profile):
    return sorted(key for key, value in profile.heap.items()
                  if value and ("bytes" in key[1] or "alloc" in key[1] or "free" in key[1]))


def main():
    tap = lib.Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        sources(folder, main_c=MAIN, archived_c=ARCHIVED, own_c=OWN, calls_c=OWN_MAIN, allocator_c=ALLOCATOR,
                cplusplus_cc=CPLUSPLUS)
        lib.must(["gcc", "-c", "archived.c"], folder)
        lib.must(["ar", "rcs", "libarchived.a", "archived.o"], folder)
        for way in (["-static"], ["-static-pie"], ["-static", "-flto"], ["-static", "-fuse-ld=gold"],
                    ["-static", "-Wl,--gc-sections", "-ffunction-sections"]):
            what = " ".join(way)
            lib.must([lib.FATHOM, "cc", "gcc", "-O1", "-fno-builtin", *way, "main.c", "libarchived.a", "-o",
                      "prog", "-Wl,--fatal-warnings"], folder)
            done = lib.record(["./prog"], folder)
            heap = done.profile.heap
            tap.same((done.stdout, heap["waits", "waits"], heap["holds", "allocs"], heap["holds", "bytes"],
                      heap["holds", "frees"]), ("done\n", 2, 3, 1400, 2), f"{what}: counts")
            tap.check(heap["waits", "wait_ns"] >= 30e6, f"{what}: time", heap["waits", "wait_ns"])
            tap.same(heap["holds", "live_bytes"], 1000, f"{what}: what is held")
            tap.check(heap["main", "wait_ns"] >= 5e6 and heap["main", "live_bytes"] >= 77,
                      f"{what}: what an archive without hooks does is its caller's", dict(heap))
        listing = lib.must(["nm", "prog"], folder).stdout
        tap.check(" getaddrinfo" not in listing and " __wrap_usleep" in listing,
                  "what is not called is not in the program")
        for way in (["-static"], ["-static-pie"], ["-static", "-flto"]):
            what = " ".join(way)
            lib.must(["gcc", "-w", "-fno-builtin", "-c", "own.c"], folder)
            lib.must(["ar", "rcs", "libown.a", "own.o"], folder)
            for other in ("own.c", "libown.a"):
                lib.must([lib.FATHOM, "cc", "gcc", "-w", "-fno-builtin", *way, "calls.c", other, "-o", "own"],
                         folder)
                done = lib.must(["./own"], folder, timeout=PATIENCE, stdin=subprocess.DEVNULL,
                                env={**os.environ, "FATHOM_OUTPUT": str(folder / "own.rec")})
                tap.same(done.stdout, "12 8 28 42\n", f"{what}, {other}: its own functions, all arguments")
        lib.must([lib.FATHOM, "cc", "gcc", "-w", "-fno-builtin", "-static", "allocator.c", "-o", "allocator"],
                 folder)
        done = lib.record(["./allocator"], folder)
        tap.same((done.stdout, heap_seen(done.profile)), ("its own allocator\n", []),
                 "another allocator is called alone, and nothing is said of memory")
        for way in (["g++", "-static"], ["g++", "-static", "-flto"], ["clang++", "-static"], ["clang++", "-static-pie"]):
            if shutil.which(way[0]) is None:
                continue
            what = " ".join(way)
            lib.must([lib.FATHOM, "c++", "--grade=deep", *way, "-O1", "cplusplus.cc", "-o", "cplusplus", "-pthread"], folder)
            done = lib.record(["./cplusplus"], folder)
            heap = done.profile.heap
            tap.same((done.stdout, heap["contend()", "waits"]), ("caught\n", 1), f"{what}: a contended lock")
            tap.check(heap["main", "wait_ns"] >= 25e6, f"{what}: sleep and join", dict(heap))
            tap.same(heap["allocate()", "bytes"], 400, f"{what}: new")
            called = {" ".join(site[3:]) for site in done.profile.sites if site[0] == "contend()"}
            tap.check(any(" pthread_mutex_lock" in name for name in called),
                      f"{what}: what is called has its own name", called)
    return tap.done()


sys.exit(main())
