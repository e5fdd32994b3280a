#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Looking at a process while it is sampled from outside: `fathom top`, `fathom view`, `fathom record --pid --live`."""
import csv
import io
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

import record_lib as lib
from outside_lib import Recorder, Target, below, contexts, ways
from patience import PATIENCE, wait_until

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "running"))
from view_lib import Pages

COLUMNS = ["self_s", "total_s", "calls", "calls_per_s", "wait_s", "allocs", "bytes", "held_bytes", "function"]


class Top:
    """`fathom top --batch`, table by table."""

    def __init__(self, folder, way, *words):
        self.process = subprocess.Popen([lib.FATHOM, "top", "--batch", "--delay", "0.1", *words], cwd=folder, text=True,
                                        env={**os.environ, "FATHOM_ATTACH": way}, stdout=subprocess.PIPE)

    def table(self):
        """Its head, and its rows by function; None: there are no more."""
        head = self.process.stdout.readline()
        if head == "":
            return None
        assert self.process.stdout.readline().rstrip("\n").split("\t") == COLUMNS
        rows = {}
        while (line := self.process.stdout.readline().rstrip("\n")) != "":
            cells = line.split("\t")
            rows[cells[-1]] = dict(zip(COLUMNS, cells))
        return head.rstrip("\n").split("\t"), rows

    def until(self, what, condition):
        """The first table that it holds for."""
        end = time.monotonic() + PATIENCE
        while (found := self.table()) is not None:
            if condition(*found):
                return found
            assert time.monotonic() < end, f"{what}: {found}"
        raise AssertionError(f"{what}: top has ended")

    def end(self):
        self.process.terminate()
        self.process.communicate(timeout=PATIENCE)


def self_of(rows, name):
    return float(rows[name]["self_s"]) if name in rows else 0


def top(tap, folder, way):
    """Of a process that nothing else records, and of one that is recorded by --pid meanwhile."""
    for recorded in (False, True):
        target = Target(folder)
        recorder = Recorder(folder, target, way) if recorded else None
        what = f"{way}, {'recorded by --pid' if recorded else 'not recorded'}"
        shown = Top(folder, way, *(["--pid", str(target.pid)] if recorded else [str(target.pid)]))
        head, rows = shown.until("time in inner()", lambda _, rows: self_of(rows, "inner") > 0.2)
        first = self_of(rows, "inner")
        tap.same((head[0], head[1], head[3]), (f"# process {target.pid}", "sampled", "calls not recorded"),
                 f"{what}: the head says what it is")
        tap.check(float(rows["outer"]["total_s"]) > 0.1 and float(rows["start_thread"]["total_s"]) >= first * 0.5,
                  f"{what}: totals are of what is below, too", rows)
        tap.same({row[column] for row in rows.values() for column in ("calls", "calls_per_s", "allocs", "bytes")}, {""},
                 f"{what}: calls and allocations are empty, not 0")
        head, rows = shown.until("it grows", lambda _, rows: self_of(rows, "inner") > first + 0.2)
        tap.check(int(head[5].split()[0]) >= 5, f"{what}: its threads are counted", head)
        head, rows = shown.until("sleeps", lambda _, rows: "nap" in rows and float(rows["nap"]["wait_s"]) == 0 and
                                 any(float(row["wait_s"]) > 0 for row in rows.values()))
        if recorded:
            tap.same(recorder.end(), 0, f"{what}: the recording ends as it does")
            tap.check(below(contexts(folder, "attached.data", "cpu"), "worker", "outer", "inner") > 0,
                      f"{what}: its profile is there")
        tap.same(target.end()[1], 7, f"{what}: the process ends as it does")
        head, _ = shown.until("the end", lambda head, _: head[1] == "ended")
        tap.same((shown.table(), shown.process.wait(PATIENCE)), (None, 0), f"{what}: top ends with it")


RECURSION = r"""
#include <stdio.h>
#include <unistd.h>
static volatile unsigned long work;
static void odd(int count);
__attribute__((noinline)) static void spin(void) { for (int i = 0; i < 100000; i++) work++; }
__attribute__((noinline)) static void even(int count)
{
    if (count > 0)
        odd(count - 1);
    else
        spin();
    work++;
}
__attribute__((noinline)) static void odd(int count) { even(count - 1); work++; }
int main(void)
{
    puts("ready");
    fflush(stdout);
    for (;;)
        even(10);
}
"""


def recursion(tap, folder, way):
    """Functions that call each other: each has the time of all stacks that it is on."""
    (folder / "recursion.c").write_text(RECURSION)
    lib.must(["gcc", "-O1", "-g", "-fno-optimize-sibling-calls", "recursion.c", "-o", "recursion"], folder)
    target = Target(folder, folder / "recursion")
    shown = Top(folder, way, str(target.pid))
    _, rows = shown.until("time in spin()", lambda _, rows: self_of(rows, "spin") > 0.2)
    least = self_of(rows, "spin") * 0.7  # of some stacks the outer end is not known
    most = float(rows["recursion"]["total_s"]) + 0.001
    tap.check(all(least <= float(rows[name]["total_s"]) <= most for name in ("spin", "even", "odd", "main")),
              f"{way}: totals in a recursion", rows)
    shown.end()
    target.process.kill()
    target.process.communicate(timeout=PATIENCE)


def top_ends(tap, folder, way):
    """It leaves nothing behind, and the process goes on."""
    target = Target(folder)
    shown = Top(folder, way, f"pid:{target.pid}")
    shown.until("time", lambda _, rows: self_of(rows, "inner") > 0)
    shown.end()
    wait_until(lambda: target.status("TracerPid") == "0", "nobody traces it")
    shown = Top(folder, way, str(target.pid))
    shown.process.stdout.readline()
    shown.process.stdout.close()  # as `| head -1` does
    tap.same(shown.process.wait(PATIENCE), 0, f"{way}: nobody reads its tables any more")
    temporary = pathlib.Path(tempfile.gettempdir())
    tap.same([path.name for path in temporary.glob("fathom-top-*")], [], f"{way}: it leaves no files")
    target.work()
    tap.same(target.end(), ("end 0 signals 0 interrupted 0\n", 7), f"{way}: the process saw nothing of it")


def inner_in(pages):
    """Seconds of inner(), by the list of functions."""
    rows = csv.DictReader(io.StringIO(pages.page("top_procs/1-50/time/self/oa", ".csv")))
    return sum(float(row["time_self_seconds"]) for row in rows if row["proc"].endswith(":inner"))


def grows(tap, pages, what):
    first = wait_until(lambda: inner_in(pages), f"{what}: there is time in inner()")
    page = pages.page("menu")
    tap.check("still runs" in page and "data-live=" in page, f"{what}: pages say that it runs", page[:2000])
    pages.listen()
    pages.event()
    wait_until(lambda: inner_in(pages) > first, f"{what}: it grows")
    return first


class Live(Pages):
    """`fathom record --pid --live`."""

    def __init__(self, folder, way, target, *options):
        self.process = subprocess.Popen([lib.FATHOM, "record", "--live", "--no-open", "-o", "live", *options, "--pid",
                                         str(target.pid)], cwd=folder, env={**os.environ, "FATHOM_ATTACH": way},
                                        stderr=subprocess.PIPE, text=True)
        self.said = self.process.stderr.readline()
        address = re.search(r"http://([^/]+)/deep\?menu&(\S+)", self.process.stderr.readline())
        super().__init__(address[1], address[2])

    def end(self):
        self.close()
        self.process.send_signal(signal.SIGINT)
        self.said += self.process.communicate(timeout=PATIENCE)[1]
        return self.process.returncode


def live(tap, folder, way):
    """Until it is ended, while the process goes on."""
    target = Target(folder)
    shown = Live(folder, way, target)
    tap.check(f"process {target.pid} (running) is sampled" in shown.said, f"{way}: it is told how", shown.said)
    grows(tap, shown, way)
    tap.same(shown.end(), 0, f"{way}: SIGINT ends it")
    target.work()
    tap.same(target.end()[1], 7, f"{way}: the process goes on")
    tap.check(below(contexts(folder, "live.data", "cpu"), "worker", "outer", "inner") > 0,
              f"{way}: the whole profile is there", shown.said)
    lib.must([lib.FATHOM, "check", "live.data"], folder)


def live_ends(tap, folder, way):
    """The process ends before: pages lead on to the whole profile."""
    (folder / "live.data").unlink(missing_ok=True)
    target = Target(folder)
    shown = Live(folder, way, target)
    grows(tap, shown, way)
    tap.same(target.end()[1], 7, f"{way}: the process ends as it does")
    state = shown.event()
    while state["running"]:
        state = shown.event()
    status, _ = shown.get(f"/deep?menu&{shown.file}")
    tap.check(status == 303 and shown.location.endswith("live.data"), f"{way}: pages lead on to the whole profile",
              (status, shown.location))
    shown.file = shown.location.split("&")[-1]
    page = shown.page("menu")
    tap.check("still runs" not in page and "data-live=" not in page and inner_in(shown) > 0,
              f"{way}: which is as any other", page[:2000])
    tap.same(shown.end(), 0, f"{way}: SIGINT ends the server")


def view(tap, folder, way):
    target = Target(folder)
    process = subprocess.Popen([lib.FATHOM, "view", "--no-open", f"pid:{target.pid}"], cwd=folder, text=True,
                               env={**os.environ, "FATHOM_ATTACH": way}, stdout=subprocess.PIPE)
    address = re.search(r"http://([^/]+)/deep\?menu&(\S+)", process.stdout.readline())
    pages = Pages(address[1], address[2])
    grows(tap, pages, f"{way}: view")
    pages.close()
    process.terminate()
    process.communicate(timeout=PATIENCE)
    tap.same(target.end()[1], 7, f"{way}: view: the process goes on")


def refused(tap, folder):
    gone = subprocess.Popen(["true"])
    gone.wait()
    for words, command, status in (
            ("there is no process", ["top", "--batch", str(gone.pid)], 1),
            ("there is no process", ["view", "--no-open", str(gone.pid)], 1),
            ("there is no process", ["record", "--live", "--no-open", "--pid", str(gone.pid)], 1),
            ("`fathom top", ["ctl", str(os.getpid()), "stop"], 1),
            ("expected one pid:N", ["top", "--batch", "--pid", "1", "x.rec"], 2)):
        done = lib.run([lib.FATHOM, *command], folder)
        tap.check(done.returncode == status and words in done.stderr, f"told by {command[0]}: {words}",
                  f"{done.returncode} {done.stderr}")
    done = subprocess.run([lib.FATHOM, "top", "--batch", str(os.getpid())], cwd=folder, text=True,
                          env={**os.environ, "FATHOM_ATTACH": "x"}, capture_output=True)
    tap.check(done.returncode == 2 and "expected perf or ptrace" in done.stderr, "a way that there is not", done.stderr)


def main():
    tap = lib.tap.Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        lib.must(["gcc", "-O1", "-g", HERE / "running.c", "-o", "running", "-lpthread"], folder)
        found, why = ways(folder)
        for way in why:
            tap.skip(way, f"the kernel refuses it: {why[way]}")
        for way in found:
            for case in (top, recursion, top_ends, live, live_ends, view):
                tap.case(case, tap, folder, way, name=f"{way}: {case.__name__}")
        tap.case(refused, tap, folder)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
