#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The recording starts no process that the program could meet: among its children, in what they used, or as the
first of a namespace of processes. Threads that read for the recording leave no trace in the program's descriptors."""
import os
import pathlib
import sys
import tempfile

import record_lib as lib

CHILDREN = r"""
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#define THREADS 20
static volatile long sink;
__attribute__((noinline)) static void job(void) { sink++; }
static int awake[2];
/* Sleeps long enough for the recording to look at the thread's times, then ends. */
static void *sleeper(void *argument)
{
    job();
    usleep(30000);
    return argument;
}
/* Nobody else opens anything, so each number is given out again at once. */
static void *opener(void *count)
{
    long bad = 0;
    char byte;
    fcntl(awake[0], F_SETFL, O_NONBLOCK);
    int first = dup(0);
    close(first);
    while (read(awake[0], &byte, 1) != 1) {
        int fd = dup(0);
        bad += fd != first;
        close(fd);
    }
    *(long *)count = bad;
    return NULL;
}
int main(void)
{
    pthread_t thread[THREADS], open;
    struct rusage usage;
    long bad = -1;
    if (pipe(awake) != 0)
        return 1;
    pthread_create(&open, NULL, opener, &bad);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, sleeper, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    if (write(awake[1], "", 1) != 1)
        return 1;
    pthread_join(open, NULL);
    getrusage(RUSAGE_CHILDREN, &usage);
    int got = waitpid(-1, NULL, __WALL), error = errno;
    printf("%ld %ld %ld; %d %d; descriptors %ld\n", usage.ru_maxrss, usage.ru_nvcsw, usage.ru_nivcsw, got,
           error == ECHILD, bad);
    return 0;
}
"""
# Prints the numbers that the first processes of a new namespace have. Executes itself first, as
# unshare(1) does, and starts and ends a thread.
NAMESPACE = r"""
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile long sink;
__attribute__((noinline)) static void job(void) { sink++; }
static int forked(int depth)
{
    pid_t pid = fork();
    if (pid < 0)
        return 77;
    if (pid == 0) {
        job();
        printf("process %ld\n", syscall(SYS_getpid));
        fflush(stdout);
        _exit(depth > 0 ? forked(depth - 1) : 5);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return WEXITSTATUS(status);
}
int main(int count, char **words)
{
    job();
    if (count == 1) {
        if (unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0)
            return 78;
        execl(words[0], words[0], "on", (char *)NULL);
        return 1;
    }
    usleep(30000);
    return forked(2);
}
"""
CANNOT = 78


def same(tap, folder, what, source, words):
    (folder / "prog.c").write_text(source)
    lib.must(["gcc", "-O1", "-w", "-D_GNU_SOURCE", "prog.c", "-o", "plain", "-pthread", *words], folder)
    lib.must([lib.FATHOM, "cc", "gcc", "-O1", "-w", "-D_GNU_SOURCE", "prog.c", "-o", "hooked", "-pthread", *words], folder)
    plain = lib.run(["./plain"], folder)
    if plain.returncode == CANNOT:
        tap.skip(what, "no namespaces here")
        return
    for program in ("hooked", *([] if words else ["plain"])):
        done = lib.run([lib.FATHOM, "record", "-q", "-o", "out", "--", f"./{program}"], folder,
                       env={**os.environ, "FATHOM_CACHE": "off"})
        tap.same((done.returncode, done.stdout), (plain.returncode, plain.stdout), f"{what}: {program} as without recording")
        calls = lib.Profile(folder / "out.data").calls()
        if program == "hooked":
            tap.check(calls["job"] > 0, f"{what}: it is recorded", calls)


def main():
    tap = lib.Tap()
    lib.need("gcc")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for words in ([], ["-static"]):
            same(tap, folder, f"children {' '.join(words)}", CHILDREN, words)
            same(tap, folder, f"namespace {' '.join(words)}", NAMESPACE, words)
    return tap.done()


sys.exit(main())
