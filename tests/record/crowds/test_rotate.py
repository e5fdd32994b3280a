#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fathom record --keep=N --rotate=...: a service that does not end is cut in phases, which are kept like runs; no
call is lost between two of them, and none is in both."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import record_lib as lib
from patience import PATIENCE, wait_until

STEPS = pathlib.Path(__file__).resolve().parent.parent / "running" / "steps.c"


class Service:
    def __init__(self, folder, *options):
        self.folder = folder
        self.process = subprocess.Popen([lib.FATHOM, "record", "-q", *options, "-o", "web", "--", "./steps"], cwd=folder,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def step(self, order):
        self.process.stdin.write(order.encode())
        self.process.stdin.flush()
        assert self.process.stdout.read(1) == b"k"

    def recording(self):
        """Of the first process: those of its children have longer names."""
        return min(wait_until(lambda: [path.name for path in self.folder.glob("web.*Z*.rec") if ".snap" not in path.name],
                              "the service is recorded"), key=len)

    def snapshot(self, label):
        """When its phase is there."""
        before = profiles(self.folder)
        lib.must([lib.FATHOM, "ctl", "--wait=0", self.recording(), "snapshot", label], self.folder)
        return wait_until(lambda: set(profiles(self.folder)) - set(before) and
                          not list(self.folder.glob("*.snap*.rec")), "the snapshot's phase is there")

    def end(self):
        self.process.stdin.close()
        self.process.stdin = None
        _, told = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, told.decode()


def profiles(folder):
    return sorted((path.name for path in folder.glob("web.*.data")), key=lambda name: (folder / name).stat().st_mtime_ns)


def leaves(folder):
    return [lib.Profile(folder / name).calls()["leaf"] for name in profiles(folder)]


def by_snapshots(tap, folder):
    service = Service(folder, "--keep=9", "--rotate=snapshot")
    service.step("w 10")
    tap.check(service.snapshot("first"), "a snapshot ends a phase", profiles(folder))
    service.step("w 20")
    tap.check(service.snapshot("second"), "the next one the next")
    service.step("t 7")  # three threads
    service.step("w 40")
    tap.same(service.end(), (0, ""), "the run ends")
    tap.same(leaves(folder), [10, 20, 61], "each has the calls of its time")
    tap.same(sorted(path.name for path in folder.glob("web*") if path.suffix != ".data"), [],
             "nothing else is left")


def newest_stay(tap, folder):
    service = Service(folder, "--keep=2", "--rotate=snapshot")
    for count in range(1, 5):
        service.step(f"w {count}")
        service.snapshot("one")
    wait_until(lambda: len(profiles(folder)) == 2, "two profiles are left")
    tap.same(leaves(folder), [3, 4], "while it runs the newest two are kept")
    service.step("w 5")
    service.end()
    tap.same(leaves(folder), [4, 5], "and when it has ended")


def by_time(tap, folder):
    service = Service(folder, "--keep=1000", "--rotate=300ms")
    total = 0

    def steps_until(many, count):
        """Calls leaf() so often again and again, until there are so many profiles."""
        def are_there():
            nonlocal total
            service.step(f"w {count}")
            total += count
            return len(profiles(folder)) >= many
        wait_until(are_there, f"there are {many} profiles")

    steps_until(3, 7)
    service.process.stdin.write(b"f 9")  # a child, which goes on with the words
    service.process.stdin.flush()
    assert service.process.stdout.read(1) == b"k"
    total += 9
    steps_until(len(profiles(folder)) + 2, 5)
    status = service.end()
    tap.same(status, (0, ""), "a run of two processes that is cut each 0.3 s ends")
    found = leaves(folder)
    tap.check(len(found) >= 5, "in several phases", found)
    tap.same(sum(found), total, "which have all calls once")
    for name in profiles(folder):
        done = lib.run([lib.FATHOM, "check", name], folder)
        tap.check(done.returncode == 0, "whose figures agree", name + done.stdout + done.stderr)


def check_sum(tap, folder, name, forked, what):
    """A phase's profile of several processes, whose figures are checked as those of a sum."""
    facts = json.loads(lib.must([lib.FATHOM, "dump", "--json", name], folder).stdout)["facts"]
    parts = sorted(facts["parts"], key=lambda part: part["start_ns"])
    tap.same(["forked_in" in part for part in parts], forked, f"{what}: has the processes that ran in it")
    done = lib.run([lib.FATHOM, "check", name], folder)
    tap.same([line for line in done.stdout.splitlines() if line.startswith("FAILED")], [], f"{what}: its figures agree")
    return parts


def two_processes(tap, folder):
    """Each holds memory of its own at its peak, so their peaks are no sum's. The parent waits, and takes no snapshots."""
    service = Service(folder, "--keep=9", "--rotate=snapshot")
    for order in ("w 1", "m 5000", "f 2", "m 3000", "w 4"):
        service.step(order)
    tap.same(service.end(), (0, ""), "a run of two processes in one phase ends")
    [name] = profiles(folder)
    parts = check_sum(tap, folder, name, [False, True], "a run of one phase")
    tap.same(lib.Profile(folder / name).calls()["leaf"], 7, "and all calls")
    shutil.copy(folder / name, folder / "copy.data")
    merged = lib.run([lib.FATHOM, "merge", name, "copy.data", "-o", "twice.data"], folder)
    tap.check("a profile that is in it was added before" in merged.stderr, "a copy of it is not added to it", merged.stderr)
    tap.same(len({part["sha256"] for part in parts}), 2, "each process by a hash of its own")


def ended_before(tap, folder):
    """A child's recording is there until the end of the run."""
    service = Service(folder, "--keep=9", "--rotate=snapshot")
    for order in ("w 1", "f 2", "q"): # the child
        service.step(order)
    service.snapshot("both")
    service.step("w 4")
    service.snapshot("one")
    first, second = profiles(folder)
    check_sum(tap, folder, first, [False, True], "a phase in which a child ends")
    check_sum(tap, folder, second, [False], "the phase after it")
    tap.same(leaves(folder), [3, 4], "and the calls")
    tap.same(service.end(), (0, ""), "the run ends then")


def refused(tap, folder):
    for words, told in ((["--rotate=1s"], "--keep=N"), (["--keep=2", "--rotate=never"], "--rotate=never"),
                        (["--keep=2", "--rotate=1ms"], "--rotate=1ms"), (["--keep=2", "--rotate=1s", "--live"], "--live"),
                        (["--keep=2", "--rotate=1s", "--trace=leaf"], "--trace")):
        done = lib.run([lib.FATHOM, "record", *words, "-o", "web", "--", "./steps"], folder, stdin=subprocess.DEVNULL)
        tap.check(done.returncode == 2 and told in done.stderr, "refused: " + " ".join(words), done.stderr)


def main():
    tap = lib.Tap()
    for part in (by_snapshots, newest_stay, by_time, two_processes, ended_before, refused):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            lib.must([lib.FATHOM, "cc", "--grade=full", "-O1", "-g", STEPS, "-o", "steps", "-lpthread"], folder)
            part(tap, folder)
    return tap.done()


sys.exit(main())
