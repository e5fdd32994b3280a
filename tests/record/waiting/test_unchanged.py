#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What recording must leave as it is in programs that wait and fork: what libc refuses, children of
signal handlers; and what it must know: the contexts of children, threads without a hook of their own."""
import json
import os
import pathlib
import re
import sys
import tempfile

import record_lib as lib

REFUSED = r"""
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>
int main(void)
{
    struct timespec bad = {0, 2000000000}, past = {0, 0};
    pthread_rwlock_t locks[4];
    pthread_mutex_t mutexes[3];
    sem_t semaphore;
    sem_init(&semaphore, 0, 5);
    for (int i = 0; i < 4; i++)
        pthread_rwlock_init(&locks[i], NULL);
    for (int i = 0; i < 3; i++)
        pthread_mutex_init(&mutexes[i], NULL);
    int result = sem_timedwait(&semaphore, &bad);
    printf("%d %d\n", result, result ? errno : 0);
    result = sem_clockwait(&semaphore, 77, &past);
    printf("%d %d\n", result, result ? errno : 0);
    result = sem_timedwait(&semaphore, &past); /* it is free, so the time does not matter */
    printf("%d\n", result);
    printf("%d\n", pthread_rwlock_timedrdlock(&locks[0], &bad));
    printf("%d\n", pthread_rwlock_clockrdlock(&locks[1], 77, &past));
    printf("%d\n", pthread_rwlock_timedwrlock(&locks[2], &bad));
    printf("%d\n", pthread_rwlock_clockwrlock(&locks[3], 77, &past));
    printf("%d\n", pthread_mutex_clocklock(&mutexes[0], 77, &past));
    printf("%d\n", pthread_mutex_timedlock(&mutexes[1], &bad));
    printf("%d\n", pthread_mutex_clocklock(&mutexes[2], CLOCK_MONOTONIC, &past));
    return 0;
}
"""

HANDLER = r"""
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) static void handle(int number)
{
    if (number == SIGUSR1 && fork() == 0)
        _exit(6);
}
int main(void)
{
    signal(SIGUSR1, handle);
    for (int i = 0; i < 20; i++) {
        int status = -1;
        raise(SIGUSR1);
        wait(&status);
        printf("%x\n", status);
    }
    return 0;
}
"""

CHILDREN = r"""
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static pid_t child;
__attribute__((noinline)) static void inside(void)
{
    void *block = malloc(10);
    __asm__ volatile("" ::"r"(block));
}
__attribute__((noinline)) static void begin(void)
{
    child = fork();
    if (child == 0) {
        usleep(2000); /* the parent goes on meanwhile */
        inside();
        exit(3);
    }
    __asm__ volatile("");
}
__attribute__((noinline)) static void elsewhere(void)
{
    usleep(1000);
    __asm__ volatile("");
}
int main(void)
{
    for (int i = 0; i < 10; i++) {
        int status;
        begin();
        elsewhere();
        waitpid(child, &status, 0);
    }
    return 0;
}
"""

LAMBDAS = r"""
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>
std::mutex lock;
int main()
{
    std::vector<std::thread> all;
    for (int i = 0; i < 4; i++)
        all.emplace_back([] {
            for (int k = 0; k < 3; k++) {
                std::lock_guard<std::mutex> held(lock);
                std::this_thread::sleep_for(std::chrono::milliseconds(5));
            }
        });
    for (auto &thread : all)
        thread.join();
}
"""


def built(folder, name, text, compiler, *options):
    """The program alone, and as it is recorded."""
    source = folder / name
    source.write_text(text)
    plain, recorded = folder / (name + ".plain"), folder / (name + ".recorded")
    lib.must([compiler, *options, source, "-o", plain], folder)
    lib.must([lib.FATHOM, "c++" if compiler == "g++" else "cc", "--grade=deep", compiler, "-g", *options,
              source, "-o", recorded], folder)
    return plain, recorded


def recorded_as(folder, program, name, *options):
    return lib.must([lib.FATHOM, "record", *options, "-o", name, program], folder)


def main():
    tap = lib.Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for file, text in (("refused.c", REFUSED), ("handler.c", HANDLER)):
            plain, recorded = built(folder, file, text, "gcc", "-O1", "-D_GNU_SOURCE", "-pthread")
            expected = lib.must([plain], folder).stdout
            environment = {**os.environ, "FATHOM_OUTPUT": str(folder / "p.rec")}
            found = lib.must([recorded], folder, env=environment).stdout
            tap.same(dict(enumerate(found.splitlines())), dict(enumerate(expected.splitlines())),
                     f"{file}: as the program alone")
        _, recorded = built(folder, "children.c", CHILDREN, "gcc", "-O1")
        recorded_as(folder, recorded, "forked", "--join=none")
        children = sorted(folder.glob("forked.*.data"))
        tap.check(len(children) == 10, "ten children have profiles", children)
        paths = set()
        for child in children:
            told = lib.must([lib.FATHOM, "export", "--to=folded", "--measure=calls", "-o", "-", child],
                            folder)
            paths |= {line.rsplit(" ", 1)[0] for line in told.stdout.splitlines() if "inside" in line}
        tap.check(all(re.search(r";main;begin;inside$", path) for path in paths) and paths,
                  "where a child was forked is where its calls begin, whatever the parent does", paths)
        _, recorded = built(folder, "lambdas.cc", LAMBDAS, "g++", "-O2", "-pthread")
        recorded_as(folder, recorded, "lambdas")
        page = json.loads(lib.must([lib.FATHOM, "report", "--json", "waits", "lambdas.data"],
                                   folder).stdout)
        text = json.dumps(page)
        tap.check(len(set(re.findall(r"thread \d+", text))) >= 4 and "sleep" in text,
                  "threads none of whose functions has a hook are known by their waits", text)
    return tap.done()


sys.exit(main())
