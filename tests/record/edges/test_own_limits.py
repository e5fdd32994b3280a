#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that live with few files, small files or ignored signals: the recording and its messages end none of them,
and take none of the descriptors that they count on."""
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile

import record_lib as lib

PROGRAM = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#define N __attribute__((noinline))
static volatile int sink;
static unsigned state = 1;
__attribute__((no_instrument_function)) static unsigned chance(unsigned n)
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
static void limit(rlim_t bytes)
{
    struct rlimit limit = {bytes, RLIM_INFINITY};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        abort();
}
static void walk(int times)
{
    for (int i = 0; i < times; i++)
        sink += level7(i & 3);
}
int main(int argc, char **argv)
{
    int status = 0;
    if (strcmp(argv[1], "numbers") == 0) {
        int free_number = open("/dev/null", O_RDONLY);
        printf("%d %d\n", free_number, dup(free_number));
        return 0;
    }
    if (strcmp(argv[1], "sizes") == 0)
        limit(0);
    if (strcmp(argv[1], "child") == 0) {
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            limit(4096);
            walk(20000);
            _exit(7);
        }
        waitpid(child, &status, 0);
    }
    walk(20000);
    limit(RLIM_INFINITY);
    struct sigaction of_children;
    sigaction(SIGCHLD, NULL, &of_children);
    printf("%s: %x %d %d\n", argv[1], (unsigned)status, sink, of_children.sa_handler == SIG_IGN);
    return argc + 1;
}
"""
FULL = "the recording was full (disk, limit or addresses)"


def started(folder, program, mode, prepare=None, **more):
    """The program by itself, not under `fathom record`: what it did."""
    environment = {**os.environ, "FATHOM_OUTPUT": str(folder / mode)}
    done = subprocess.run([folder / program, mode], cwd=folder, env=environment, preexec_fn=prepare, check=False,
                          stdout=subprocess.PIPE, timeout=100, **more)
    return done.returncode, done.stdout.decode()


def no_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))


def few_descriptors():
    resource.setrlimit(resource.RLIMIT_NOFILE, (9, 9))


def ignored_children():
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)


def check_sizes(tap, folder):
    """The limit of file sizes falls while the program runs."""
    started(folder, "prog", "free")
    lib.must([lib.FATHOM, "finish", "free.rec"], folder)
    wanted = lib.Profile(folder / "free.data").calls()
    tap.same(wanted.get("level7"), 20000, "without a limit all calls are counted")
    for mode in "sizes", "child":
        tap.same(started(folder, "prog", mode), started(folder, "plain", mode), f"{mode}: results are as plain")
        finished = lib.must([lib.FATHOM, "finish", f"{mode}.rec"], folder)
        tap.same(FULL in finished.stderr, mode == "sizes", f"{mode}: the summary says whether it was full")
        found = lib.Profile(folder / f"{mode}.data").calls()
        lost = sum(count for function, count in found.items() if function.startswith("not recorded"))
        tap.same(lost > 0, mode == "sizes", f"{mode}: calls without room are told as that")
        tap.same(found["level7"] + lost >= 20000, True, f"{mode}: and no call is missing")


def check_messages(tap, folder):
    """Nobody can read what the runtime says: that ends no program."""
    with open(folder / "said", "wb") as said:
        tap.same(started(folder, "prog", "quiet", no_files, stderr=said),
                 started(folder, "plain", "quiet", no_files, stderr=said), "a message to a file that may not grow")
    reader, writer = os.pipe()
    os.close(reader)
    broken = {**os.environ, "FATHOM_OUTPUT": "/nonexistent/prog"}
    done = [subprocess.run([folder / program, "quiet"], cwd=folder, env=broken, stdout=subprocess.PIPE, stderr=writer,
                           check=False, timeout=100, preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_DFL))
            for program in ("plain", "prog")]
    os.close(writer)
    tap.same((done[1].returncode, done[1].stdout), (done[0].returncode, done[0].stdout),
             "a message to a pipe that nobody reads")
    told = subprocess.run([folder / "prog", "quiet"], cwd=folder, env=broken, capture_output=True, text=True,
                          check=False, timeout=100)
    tap.check("cannot create the recording file" in told.stderr, "the message is there where it can be", told.stderr)


def check_numbers(tap, folder):
    plain = started(folder, "plain", "numbers", few_descriptors)
    tap.same(plain[0], 0, "few descriptors are enough for the program")
    tap.same(started(folder, "prog", "numbers", few_descriptors), plain,
             "the lowest free descriptors are as without the recording")


def check_children(tap, folder):
    """SIGCHLD is ignored: the compiler and the program are waited for, and the program finds it ignored."""
    done = lib.run([lib.FATHOM, "cc", "gcc", "-w", "prog.c", "-o", "again"], folder, preexec_fn=ignored_children)
    tap.same((done.returncode, (folder / "again").exists()), (0, True), "fathom cc waits for the compiler")
    plain = started(folder, "plain", "ignored", ignored_children)
    done = lib.run([lib.FATHOM, "record", "-q", "-o", "ignored", "--", "./prog", "ignored"], folder,
                   preexec_fn=ignored_children)
    tap.same((done.returncode, done.stdout), plain, "fathom record waits for the program")
    tap.same(lib.Profile(folder / "ignored.data").calls().get("level7"), 20000, "and makes its profile")


def main():
    lib.need("gcc")
    tap = lib.Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "prog.c").write_text(PROGRAM)
        lib.must(["gcc", "-O1", "-w", "prog.c", "-o", "plain"], folder)
        lib.must([lib.FATHOM, "cc", "gcc", "-O1", "-w", "prog.c", "-o", "prog"], folder)
        check_sizes(tap, folder)
        check_messages(tap, folder)
        check_numbers(tap, folder)
        check_children(tap, folder)
    return tap.done()


sys.exit(main())
