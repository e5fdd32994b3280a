#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Waits are counted, timed and blamed as the program itself measured them, in the context that waited."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import record_lib as lib
from patience import PATIENCE, wait_until
from runtime_rec import Rec

HERE = pathlib.Path(__file__).resolve().parents[1]
MUTEX, SEMAPHORE, JOIN, READ, READY, SLEEP, CHILD = 1, 4, 6, 9, 15, 16, 18


def bounds_of(told):
    """{name: (least, most nanoseconds)} as waiting.c prints them."""
    return {name: (float(inside), float(outside)) for name, inside, outside in map(str.split, told.splitlines())}


def add(*bounds):
    return tuple(map(sum, zip(*bounds)))


def check_known(tap, executable, folder, grade):
    for old in folder.glob("*.rec"):
        old.unlink()
    done = lib.must([executable], folder, env={**os.environ, "FATHOM_OUTPUT": str(folder / "p.rec")})
    bounds = bounds_of(done.stdout)
    rec = Rec(folder / "p.rec")
    found, holders = lib.waits_by_function(rec, executable, folder)
    tap.check(rec.grade_flags & 1 << 5, f"{grade}: says that waits are seen")
    want = found["want"][MUTEX]
    tap.same((want["waits"], want["calls"]), (20, 20), f"{grade}: contended locks")
    least, most = add(bounds["hold_long"], bounds["hold_briefly"])
    tap.between(least, want["ns"], most, f"{grade}: their time")
    blame = {}
    for entry in want["blames"]:
        name = holders.get(entry["holder"], "?")
        blame[name] = blame.get(name, 0) + entry["ns"]
    tap.same(sorted(blame), ["hold_briefly", "hold_long"], f"{grade}: who held the lock")
    for name, ns in blame.items():
        least, most = bounds[name]
        tap.between(least, ns, most, f"{grade}: and how long others waited for {name}")
    tap.same(sum(entry["waits"] for entry in want["blames"]), want["waits"],
             f"{grade}: each wait is blamed on one")
    tap.check(abs(sum(entry["ns"] for entry in want["blames"]) - want["ns"]) < 1, f"{grade}: with its time")
    tap.same((found["uncontended"][MUTEX]["calls"], found["uncontended"][MUTEX]["waits"]),
             (1000, 0), f"{grade}: free locks are counted and are no waits")
    nap = found["nap"][SLEEP]
    tap.same((nap["calls"], nap["waits"]), (5, 5), f"{grade}: sleeps, without the child's")
    least, most = bounds["nap"]
    tap.between(least, nap["ns"], most, f"{grade}: as long")
    tap.between(least / 5, nap["longest_ns"], most, f"{grade}: the longest of them")
    tap.same(found["child"][READ]["waits"], 1, f"{grade}: a read")
    least, most = bounds["child"]
    tap.between(least, found["child"][READ]["ns"], most, f"{grade}: of a pipe")
    tap.same(found["child"][CHILD]["calls"], 1, f"{grade}: a child waited for")
    handler = found["in_handler"][SLEEP]
    outer = found["interrupted"][READY]
    least, most = bounds["in_handler"]
    tap.between(least, handler["ns"], most, f"{grade}: a wait in a handler")
    least, most = bounds["interrupted"]
    tap.between(least, outer["ns"], most, f"{grade}: the wait that it interrupts does not have its time")
    tap.same([t["wait_since"] for t in rec.threads], [0, 0], f"{grade}: none is open at the end")
    inner, = folder.glob("p.*.rec")
    found, _ = lib.waits_by_function(Rec(inner), executable, folder)
    tap.same({name: {kind: wait["waits"] for kind, wait in kinds.items()}
              for name, kinds in found.items() if name in ("nap", "want")}, {"nap": {SLEEP: 5}},
             f"{grade}: the child of fork has its own")


def recording_that_waits(path):
    """Of `waiting forever`, when it does."""
    def look():
        rec = Rec(path)
        return rec.threads and rec.threads[0]["wait_kind"] == SEMAPHORE and rec
    return wait_until(look, "it waits for the semaphore")


def check_killed(tap, executable, folder):
    path = folder / "k.rec"
    process = subprocess.Popen([executable, "forever"], stdout=subprocess.PIPE,
                               env={**os.environ, "FATHOM_OUTPUT": str(path)})
    process.stdout.readline()
    recording_that_waits(path)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    rec = Rec(path)
    thread, = rec.threads
    _, names = lib.waits_by_function(rec, executable, folder)
    tap.same((thread["wait_kind"], thread["wait_since"] > 0, names.get(thread["wait_csd"])),
             (SEMAPHORE, True, "forever"), "killed: on what it waited, and where")


def check_off(tap, executable, folder):
    path = folder / "off.rec"
    lib.must([executable], folder,
             env={**os.environ, "FATHOM_OUTPUT": str(path), "FATHOM_WAITING": "off"})
    rec = Rec(path)
    found, _ = lib.waits_by_function(rec, executable, folder)
    tap.same((found, rec.wait_clock, rec.grade_flags & 1 << 5), ({}, 0, 0),
             "off: nothing is recorded, and nothing said to be")


def check_profile(tap, executable, folder):
    """The measures of the profile are those of the recording, and its facts agree with them."""
    done = lib.record([executable], folder)
    bounds = bounds_of(done.stdout)
    heap = done.profile.heap
    tap.same(heap["want", "waits"], 20, "profile: waits of a function")
    least, most = add(bounds["hold_long"], bounds["hold_briefly"])
    tap.between(least, heap["want", "wait_ns"], most, "profile: and their time")
    tap.check(" s waiting (" in done.stderr, "the summary says it", done.stderr)
    process = subprocess.Popen([lib.FATHOM, "record", "-q", "-k", "-o", "killed", "--", executable, "forever"],
                               cwd=folder, stdout=subprocess.PIPE)
    begun = float(process.stdout.readline())
    rec = recording_that_waits(folder / "killed.rec")
    least = time.monotonic_ns()
    time.sleep(0.2)
    least = time.monotonic_ns() - least
    os.kill(rec.pid, signal.SIGKILL)
    status = process.wait(PATIENCE)
    most = time.monotonic_ns() - begun
    process.stdout.close()
    heap = lib.Profile(folder / "killed.data").heap
    tap.same((status, heap["forever", "waits"]), (-signal.SIGKILL, 1), "killed: the wait that was open is one")
    tap.between(least, heap["forever", "wait_ns"], most, "killed: and lasted until the end")


STOPPED = """#include <fathom/fathom.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#define OWN __attribute__((noinline))
static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}
OWN static void doze(void)
{
    struct timespec time = {0, 50000000};
    while (nanosleep(&time, &time) != 0)
        ;
}
OWN static void spin(void)
{
    for (double end = now(CLOCK_THREAD_CPUTIME_ID) + 5e7; now(CLOCK_THREAD_CPUTIME_ID) < end;)
        ;
}
static void *body(void *unused)
{
    doze();
    return unused;
}
int main(void)
{
    double begun = now(CLOCK_MONOTONIC), inner = 0, outer = 0, cpu = 0;
    pthread_t thread;
    doze();
    for (int i = 0; i < 3; i++) {
        double before = now(CLOCK_MONOTONIC);
        fathom_stop();
        double from = now(CLOCK_MONOTONIC), cpu_from = now(CLOCK_THREAD_CPUTIME_ID);
        doze();
        spin();
        pthread_create(&thread, NULL, body, NULL); /* and ends within */
        pthread_join(thread, NULL);
        cpu += now(CLOCK_THREAD_CPUTIME_ID) - cpu_from;
        inner += now(CLOCK_MONOTONIC) - from;
        if (i < 2)
            fathom_start();
        outer += now(CLOCK_MONOTONIC) - before;
    }
    printf("%f %f %f %f %f %f\\n", begun, now(CLOCK_MONOTONIC), inner, outer, cpu, now(CLOCK_THREAD_CPUTIME_ID));
    fflush(stdout);
    doze();
    spin();
    return 0;
}
"""


def check_stopped(tap, folder):
    """A recording that was stopped for a while tells what was while it was not."""
    (folder / "stopped.c").write_text(STOPPED)
    lib.must([lib.FATHOM, "cc", "gcc", "-O1", "-D_GNU_SOURCE", "stopped.c", "-o", "stopped", "-lpthread"], folder)
    started = time.monotonic_ns()
    done = lib.must([lib.FATHOM, "record", "-q", "-o", "stopped", "./stopped"], folder)
    begun, ended, inner, outer, cpu, cpu_whole = map(float, done.stdout.split())
    facts = json.loads(lib.must([lib.FATHOM, "dump", "--json", "stopped.data"], folder).stdout)["facts"]
    main_thread = max(facts["threads"], key=lambda thread: thread["wall_ns"])
    others = [thread for thread in facts["threads"] if thread is not main_thread]
    # It was stopped to the end.
    tap.between(ended - begun - outer, main_thread["wall_ns"], ended - started - inner,
                "stopped: wall time is that of the recording")
    tap.check(main_thread["cpu_ns"] <= cpu_whole - cpu + 1e6, "stopped: and so is CPU time",
              f"{main_thread} {cpu_whole} {cpu}")
    tap.check(main_thread["wait_ns"] <= main_thread["wall_ns"] + 1e6, "stopped: no more waiting than that",
              main_thread)
    tap.check(all(thread["wall_ns"] < 0.05e9 for thread in others), "stopped: threads of that time have none",
              others)


def main():
    tap = lib.Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for grade, *options in (("deep", "-static"), ("deep",), ("full",)):
            executable = folder / f"waiting-{grade}"
            lib.must([lib.FATHOM, "cc", f"--grade={grade}", "gcc", "-O1", "-D_GNU_SOURCE", *options,
                      HERE / "runtime_programs" / "waiting.c", "-o", executable, "-lpthread"],
                     folder)
            check_known(tap, executable, folder, " ".join([grade, *options]))
        check_killed(tap, executable, folder)
        check_off(tap, executable, folder)
        check_profile(tap, executable, folder)
        check_stopped(tap, folder)
    return tap.done()


sys.exit(main())
