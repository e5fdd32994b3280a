#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A wait over which the recording is stopped and started again has the time between the stops: when it is over, when it
is not, and by phases."""
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import record_lib as lib
from patience import PATIENCE

HERE = pathlib.Path(__file__).resolve().parent
DOZE_NS = 100000000


class Program:
    """Knows at least and at most how long the join has been recorded."""

    def __init__(self, folder, name):
        self.folder, self.name = folder, name
        self.least = self.most = 0
        self.started = time.monotonic_ns()
        self.process = subprocess.Popen([lib.FATHOM, "record", "-k", "-q", "-o", name, "./stopping"], cwd=folder,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        _, self.since_least = self.heard()
        self.since_most = self.started

    def heard(self):
        return tuple(map(int, self.process.stdout.readline().split()))

    def tell(self, order):
        self.process.stdin.write(order.encode())
        self.process.stdin.flush()
        return self.heard() if order not in "kq" else None

    def rounds(self, count):
        """Each is recorded for 100 ms, and stopped for 200 ms."""
        for _ in range(count):
            self.tell("d")
            before, after = self.tell("s")
            self.count(before, after)
            self.tell("d")
            self.tell("d")
            self.since_most, self.since_least = self.tell("g")

    def count(self, before, after):
        self.least += before - self.since_least
        self.most += after - self.since_most

    def end(self, order):
        self.tell(order)
        self.process.stdin.close()
        self.process.wait(PATIENCE)
        self.process.stdout.close()

    def of_joins(self, data=None):
        return lib.Profile(self.folder / f"{data or self.name}.data").heap["joins", "wait_ns"]


def check_facts(tap, folder, name, what):
    facts = json.loads(lib.must([lib.FATHOM, "dump", "--json", f"{name}.data"], folder).stdout)["facts"]
    tap.check(all(thread["wait_ns"] <= thread["wall_ns"] * 1.01 + 1e6 for thread in facts["threads"]),
              f"{what}: no thread waits longer than it was there", facts["threads"])
    done = lib.run([lib.FATHOM, "check", f"{name}.data"], folder)
    tap.same(done.returncode, 0, f"{what}: the profile's invariants hold")


def over(tap, folder):
    program = Program(folder, "over")
    program.rounds(2)
    program.tell("d")
    before = time.monotonic_ns()
    program.end("q")
    program.count(before, time.monotonic_ns())
    tap.between(program.least, program.of_joins(), program.most, "a wait that is over has the time between two stops")
    check_facts(tap, folder, "over", "over")


def killed(tap, folder, stopped):
    program = Program(folder, "killed")
    program.rounds(2)
    program.tell("d")
    if stopped:
        program.count(*program.tell("s"))
        program.tell("d")
    before = time.monotonic_ns()
    program.end("k")
    if not stopped:
        program.count(before, time.monotonic_ns())
    what = "killed in a stop" if stopped else "killed"
    tap.between(program.least, program.of_joins(), program.most, f"{what}: so has one that is not")
    check_facts(tap, folder, "killed", what)


def phases(tap, folder):
    program = Program(folder, "phases")
    program.rounds(1)
    slept, _ = program.tell("d")
    before = time.monotonic_ns()
    lib.must([lib.FATHOM, "ctl", "--wait", "0.05", "phases.rec", "snapshot", "half"], folder)
    after = time.monotonic_ns()
    # The end of a snapshot is the latest moment that it knows: that is no earlier than the end of the nap.
    program.count(slept + DOZE_NS, after)
    first = program.least, program.most
    program.since_least, program.since_most, program.least, program.most = after, before, 0, 0
    program.rounds(2)
    before = time.monotonic_ns()
    program.end("q")
    program.count(before, time.monotonic_ns())
    lib.must([lib.FATHOM, "finish", "-q", "-k", "phases.snap1.rec"], folder)
    tap.between(first[0], program.of_joins("phases.snap1"), first[1], "an open wait of a snapshot")
    check_facts(tap, folder, "phases.snap1", "snapshot")
    lib.must([lib.FATHOM, "finish", "-q", "-k", "--since=phases.snap1.rec", "-o", "since", "phases.rec"], folder)
    tap.between(program.least, program.of_joins("since"), program.most, "and of the phase behind it")
    check_facts(tap, folder, "since", "phase")


def before_the_first_call(tap, folder):
    """What the process did before it became the program is as little its own as what a stop leaves out."""
    (folder / "late.c").write_text("int main(void) { return 0; }\n")
    lib.must([lib.FATHOM, "cc", "gcc", "-O1", "late.c", "-o", "late"], folder)
    work = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; exec ./late"
    lib.must([lib.FATHOM, "record", "-q", "-o", "late", "--", "sh", "-c", work], folder)
    facts = json.loads(lib.must([lib.FATHOM, "dump", "--json", "late.data"], folder).stdout)["facts"]
    tap.check(all(thread["cpu_ns"] <= thread["wall_ns"] * 1.01 + 2e6 for thread in facts["threads"]),
              "before exec: no thread runs longer than it was there", facts["threads"])
    check_facts(tap, folder, "late", "before exec")


def main():
    tap = lib.Tap()
    with tempfile.TemporaryDirectory() as text:
        folder = pathlib.Path(text)
        lib.must([lib.FATHOM, "cc", "gcc", "-O1", "-D_GNU_SOURCE", HERE / "stopping.c", "-o", "stopping", "-pthread"],
                 folder)
        over(tap, folder)
        killed(tap, folder, False)
        killed(tap, folder, True)
        phases(tap, folder)
        before_the_first_call(tap, folder)
    return tap.done()


sys.exit(main())
