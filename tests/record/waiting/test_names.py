#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Functions of the program's own, of its libraries', and preloaded ones, that have the names of calls that
can wait, with whatever arguments: they run as without recording. The rest is seen all the same."""
import os
import pathlib
import sys
import tempfile

import record_lib as lib
from patience import PATIENCE
from runtime_rec import Rec

MUTEX = 1
SIDE_WAITS = 5

OWN = r"""
struct big { long a[6]; };
double pause(double a, double b, long c, long d, long e, long f, long g, long h)
{
    return a * 100 + b * 10 + (double)(c + d + e + f + g + h);
}
struct big wait(struct big in, int by)
{
    for (int i = 0; i < 6; i++)
        in.a[i] *= by;
    return in;
}
"""
# Not with its header, which has another pause(). The first call comes before the constructors' of fathom.
PROGRAM = r"""
int printf(const char *, ...);
int usleep(unsigned);
struct big { long a[6]; };
double pause(double a, double b, long c, long d, long e, long f, long g, long h);
struct big wait(struct big in, int by);
static double early;
__attribute__((constructor)) static void begin(void)
{
    early = pause(1, 2, 3, 4, 5, 6, 7, 8);
}
int main(void)
{
    struct big in = {{1, 2, 3, 4, 5, 6}};
    struct big out = wait(in, 7);
    usleep(3000);
    printf("%g %g %ld %ld\n", early, pause(2, 3, 4, 5, 6, 7, 8, 9), out.a[0], out.a[5]);
    return 0;
}
"""
EARLY = r"""
#include <unistd.h>
int early_answer;
__attribute__((constructor)) static void begin(void)
{
    char byte;
    early_answer = (int)read(-1, &byte, 1);
}
"""
PRELOADED = r"""
#include <unistd.h>
int printf(const char *format, ...)
{
    return format != 0 ? (int)write(1, "preloaded\n", 10) : 0;
}
"""
ERRORS = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_mutex_t lock;
static void *hold(void *argument)
{
    pthread_mutex_lock(&lock);
    return argument;
}
int main(void)
{
    void *block = NULL;
    pthread_t thread;
    pthread_mutexattr_t attributes;
    size_t sizes[] = {(size_t)1 << 62, 64}, alignments[] = {64, 3};
    for (int i = 0; i < 4; i++) {
        errno = 7;
        int result = posix_memalign(&block, alignments[i / 2], sizes[i % 2]);
        printf("%d %d\n", result, errno);
    }
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&lock, &attributes);
    pthread_create(&thread, NULL, hold, NULL);
    pthread_join(thread, NULL);
    printf("%d\n", pthread_mutex_lock(&lock) == EOWNERDEAD);
    printf("%d\n", pthread_mutex_consistent(&lock));
    printf("%d\n", pthread_mutex_unlock(&lock));
    return 0;
}
"""


def main():
    tap = lib.Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for file, text in (("own.c", OWN), ("program.c", PROGRAM), ("early.c", EARLY), ("preloaded.c", PRELOADED),
                           ("errors.c", ERRORS)):
            (folder / file).write_text(text)
        for file in ("own", "early", "preloaded"):
            lib.must(["gcc", "-shared", "-fPIC", "-fno-builtin", f"{file}.c", "-o", f"lib{file}.so"], folder)
        lib.must(["gcc", "-c", "-fno-builtin", "own.c"], folder)
        lib.must(["ar", "rcs", "libown.a", "own.o"], folder)
        cc = [lib.FATHOM, "cc", "gcc", "-O1", "-fno-builtin", "program.c", "-Wl,-rpath," + name]
        expected = "153 269 7 42\n"
        for what, library in (("shared library", folder / "libown.so"), ("archive", folder / "libown.a"),
                              ("object", folder / "own.o")):
            lib.must([*cc, library, folder / "libearly.so", "-o", "prog"], folder)
            done = lib.record(["./prog"], folder, timeout=PATIENCE)
            tap.same(done.stdout, expected, f"{what}: its own functions are called, with all their arguments")
            waited = done.profile.heap["main", "wait_ns"]
            tap.check(waited >= 3000000, f"{what}: what is libc's is seen", waited)
        environment = {**os.environ, "FATHOM_OUTPUT": str(folder / "p.rec"),
                       "LD_PRELOAD": str(folder / "libpreloaded.so")}
        done = lib.must(["./prog"], folder, env=environment, timeout=PATIENCE)
        tap.same(done.stdout, "preloaded\n", "a preloaded function is called")
        lib.must(["gcc", "-w", "errors.c", "-o", "plain", "-pthread"], folder)
        lib.must([lib.FATHOM, "cc", "gcc", "-w", "errors.c", "-o", "errors", "-pthread"], folder)
        environment = {**os.environ, "FATHOM_OUTPUT": str(folder / "e.rec")}
        done = lib.must(["./errors"], folder, env=environment, timeout=PATIENCE)
        tap.same(done.stdout, lib.must(["./plain"], folder).stdout, "errno and states of locks are libc's")
        rec = Rec(folder / "e.rec")
        taken = [rec.waits(csd["side"][SIDE_WAITS])[MUTEX]["calls"] for thread in rec.threads
                 for csd in thread["csds"].values()
                 if SIDE_WAITS in csd["side"] and MUTEX in rec.waits(csd["side"][SIDE_WAITS])]
        tap.same(taken, [1, 1], "taking the lock of a dead owner counts")
    return tap.done()


sys.exit(main())
