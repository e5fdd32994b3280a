#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Calls that can wait give back what they give back unrecorded: results, errno, timeouts, EINTR,
cancellation, jumps out of handlers. In C and in C++, with checked and with 64-bit names; programs without
signals never see EINTR."""
import os
import pathlib
import sys
import tempfile

import record_lib as lib
from patience import PATIENCE

HERE = pathlib.Path(__file__).resolve().parent

QUIET = r"""
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static int ends[2];
static void *feed(void *argument)
{
    for (int i = 0; i < 3000; i++) {
        usleep(100);
        if (write(ends[1], "x", 1) != 1)
            return NULL;
    }
    return argument;
}
int main(void)
{
    pthread_t thread;
    long failed = 0, sum = 0;
    if (pipe(ends) != 0)
        return 1;
    pthread_create(&thread, NULL, feed, ends);
    for (int i = 0; i < 3000; i++) {
        struct pollfd one = {ends[0], POLLIN, 0};
        struct timespec brief = {0, 20000};
        char byte;
        failed += poll(&one, 1, -1) < 0 && errno == EINTR;
        failed += read(ends[0], &byte, 1) < 0 && errno == EINTR;
        failed += nanosleep(&brief, NULL) < 0 && errno == EINTR;
        for (int j = 0; j < 20000; j++)
            sum += j ^ i;
    }
    pthread_join(thread, NULL);
    printf("%ld %d\n", failed, sum != 0);
    return 0;
}
"""

RUNS = (("plain", ""), ("recorded", ""), ("recorded", "off"))  # FATHOM_WAITING
WAYS = (
    ("gcc", ["-O1"], "C"),
    ("gcc", ["-O2", "-D_FORTIFY_SOURCE=2", "-D_FILE_OFFSET_BITS=64"], "C, checked, 64 bits"),
    ("g++", ["-x", "c++", "-O1"], "C++"),
    ("gcc", ["-O2", "-static-pie", "-D_FORTIFY_SOURCE=2", "-D_FILE_OFFSET_BITS=64"],
     "static C, checked, 64 bits, position independent"),
    ("gcc", ["-O2", "-static", "-flto"], "static C, optimised by the linker"),
    ("g++", ["-x", "c++", "-O1", "-static"], "static C++"),
)


def build(folder, program, compiler, options):
    source = [*options, "-D_GNU_SOURCE", "-pthread", HERE / f"{program}.c"]
    folder.mkdir()
    lib.must([compiler, *source, "-o", "plain"], folder)
    lib.must([lib.FATHOM, "c++" if compiler == "g++" else "cc", compiler, *source, "-o", "recorded"], folder)


def told_by(run):
    folder, name, waiting = run
    own = folder / f"{name}{waiting}.d"
    own.mkdir()
    environment = {**os.environ, "FATHOM_OUTPUT": str(own / "p.rec"), "FATHOM_WAITING": waiting}
    return lib.must([folder / name], own, env=environment, timeout=PATIENCE).stdout


def compare(tap, folder, program):
    """With waiting, and with it off: as plain."""
    folders = [folder / f"{program}{number}" for number in range(len(WAYS))]
    for own, (compiler, options, _) in zip(folders, WAYS):
        build(own, program, compiler, options)
    told = lib.at_once(told_by, [(own, *run) for own in folders for run in RUNS])
    for (_, _, what), expected, found, off in zip(WAYS, *(told[i::len(RUNS)] for i in range(len(RUNS)))):
        tap.same(dict(enumerate(found.splitlines())), dict(enumerate(expected.splitlines())),
                 f"{program}, {what}: results are those of the program alone")
        tap.check(off == expected, f"{program}, {what}: also when waiting is not looked at", off)


def main():
    tap = lib.Tap()
    program = sys.argv[1] if len(sys.argv) > 1 else "calls"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        compare(tap, folder, program)
        if program != "calls":
            return tap.done()
        (folder / "quiet.c").write_text(QUIET)
        lib.must([lib.FATHOM, "cc", "gcc", "-O1", "quiet.c", "-o", "quiet", "-pthread"], folder)
        done = lib.record(["./quiet"], folder)
        tap.same(done.stdout, "0 1\n", "without signals no call fails with EINTR")
    return tap.done()


sys.exit(main())
