#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What runs at the very end of threads counts as elsewhere: destructors of thread-local values in all their rounds,
of objects of C++, and the handlers of signals that come then."""
import pathlib
import sys
import tempfile

import record_lib as lib

KEYS = r"""
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#define THREADS 10
static volatile long sum;
static pthread_key_t key;
__attribute__((noinline)) long leaf(long a) { return a + sum; }
__attribute__((noinline)) long called(long a) { return leaf(a) + leaf(a + 1); }
static void handler(int number) { sum += called(number); }
/* In each of the four rounds. */
static void destroy(void *value)
{
    char *volatile block = malloc(1000);
    raise(SIGUSR1);
    free(block);
    if ((long)value < 4)
        pthread_setspecific(key, (void *)((long)value + 1));
}
static void *run(void *argument)
{
    pthread_setspecific(key, (void *)1);
    raise(SIGUSR1);
    return argument;
}
int main(void)
{
    signal(SIGUSR1, handler);
    pthread_key_create(&key, destroy);
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, run, NULL);
        pthread_join(thread, NULL);
    }
    return 0;
}
"""
# The signals come to the threads that begin and end, as main keeps them off.
STORM = r"""
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
static long handled, ran;
__attribute__((noinline)) void counted(long *number) { __atomic_add_fetch(number, 1, __ATOMIC_RELAXED); }
static void handler(int number)
{
    (void)number;
    counted(&handled);
}
static void *run(void *argument)
{
    counted(&ran);
    return argument;
}
int main(void)
{
    struct itimerval every = {{0, 500}, {0, 500}}; /* a slow machine handles nothing else at 50 */
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    signal(SIGALRM, handler);
    setitimer(ITIMER_REAL, &every, NULL);
    for (int i = 0; i < 3000; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, run, NULL);
        pthread_sigmask(SIG_BLOCK, &alarm, NULL);
        pthread_join(thread, NULL);
        pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
    }
    signal(SIGALRM, SIG_IGN);
    printf("%ld %ld\n", handled, ran);
    return 0;
}
"""
OBJECTS = r"""
#include <thread>
static long ended;
__attribute__((noinline)) void count(long number) { __atomic_add_fetch(&ended, number, __ATOMIC_RELAXED); }
struct held {
    long number = 1;
    ~held() { count(number); }
};
static thread_local held first, second;
static void run() { first.number++, second.number++; }
int main()
{
    for (int i = 0; i < 5; i++)
        std::thread(run).join();
    return ended != 20;
}
"""


def build(folder, compiler, grade, source, *words):
    front = "c++" if source.endswith(".cc") else "cc"
    real = {"gcc": "g++", "clang": "clang++"}[compiler] if front == "c++" else compiler
    return lib.run([lib.FATHOM, front, f"--grade={grade}", real, *words, source, "-pthread", "-o", "prog"],
                   folder).returncode == 0


def keys(tap, folder, compiler, grade, words):
    what = f"{compiler} {grade} {' '.join(words)}"
    if not build(folder, compiler, grade, "keys.c", *words):
        tap.skip(what, "cannot be built here")
        return
    profile = lib.record(["./prog"], folder).profile
    calls = profile.calls()
    tap.same({name: calls[name] for name in ("destroy", "handler", "called", "leaf")},
             {"destroy": 40, "handler": 50, "called": 50, "leaf": 100}, f"{what}: calls in destructors")
    tap.same((profile.excps["destroy"], profile.excps["handler"]), (0, 0), f"{what}: they return")
    tap.same((profile.allocs["destroy"], profile.bytes["destroy"]), (40, 40000), f"{what}: blocks in destructors")
    tap.check("1000" not in lib.must([lib.FATHOM, "report", "leaks", "out.data"], folder).stdout,
              f"{what}: and they were given back")


def storm(tap, folder, compiler, grade):
    if not build(folder, compiler, grade, "storm.c", "-O1"):
        tap.skip(f"{compiler} {grade} storm", "cannot be built here")
        return
    for i in range(3):
        done = lib.record(["./prog"], folder)
        handled, ran = map(int, done.stdout.split())
        calls = done.profile.calls()
        tap.check(handled >= 100, f"{compiler} {grade}: signals come", handled)
        tap.same((calls["handler"], calls["counted"], calls["run"]), (handled, handled + ran, 3000),
                 f"{compiler} {grade}: handlers when threads end, {i}")


def objects(tap, folder, compiler, grade):
    if not build(folder, compiler, grade, "objects.cc", "-O1"):
        tap.skip(f"{compiler} {grade} objects", "cannot be built here")
        return
    calls = lib.record(["./prog"], folder).profile.calls()
    tap.same(calls["count(long)"], 10, f"{compiler} {grade}: thread_local objects of C++")


def main():
    tap = lib.Tap()
    lib.need("gcc")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for file, text in (("keys.c", KEYS), ("storm.c", STORM), ("objects.cc", OBJECTS)):
            (folder / file).write_text(text)
        for compiler, grade in (("gcc", "deep"), ("gcc", "full"), ("clang", "deep")):
            if lib.shutil.which(compiler) is None:
                tap.skip(f"{compiler} {grade}", "not installed")
                continue
            for words in (["-O0"], ["-O2"], ["-O1", "-static"]):
                keys(tap, folder, compiler, grade, words)
            storm(tap, folder, compiler, grade)
            objects(tap, folder, compiler, grade)
    return tap.done()


sys.exit(main())
