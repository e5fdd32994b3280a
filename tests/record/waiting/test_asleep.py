#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sleep that no call is seen to wait for: where it was, by looks from outside while `fathom record` runs the program."""
import collections
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile

import record_lib as lib
from patience import wait_until

NS = 1e9
PERIOD_NS = 10309e3  # from one look to the next, at least
PID_AT, SLEEPS_AT = 56, 320  # in the header
MS = 1000000
ASKED = {"longer": (16, 90 * MS), "shorter": (16, 30 * MS), "worker_sleeps": (1, 500 * MS)}  # calls, each
SOURCE = pathlib.Path(__file__).parent / "asleep.c"


def facts(folder, name):
    return json.loads(lib.must([lib.FATHOM, "dump", "--json", name], folder).stdout)["facts"]


def page(folder, name):
    return json.loads(lib.must([lib.FATHOM, "report", "--json", "waits", name], folder).stdout)


def by_function(folder, name):
    """{function: nanoseconds asleep}, {function: samples} and the rows of them, of the page."""
    rows = [row["cells"] for table in page(folder, name)["tables"] if table["name"] == "other_sleep"
            for row in table["rows"]]
    found, samples = collections.Counter(), collections.Counter()
    for row in rows:
        name = row["path"][-1]["name"].split("\u203a")[-1].strip()
        found[name] += row["sleep_seconds"] * NS
        samples[name] += row["samples_count"]
    return found, samples, rows


def rest_of(threads):
    """Of all threads, what is neither CPU time nor waiting nor without a processor."""
    rest = 0
    for t in threads:
        left = max(0, t["wall_ns"] - t["cpu_ns"]) - max(0, t["wait_ns"] - t["inside_ns"])
        rest += max(0, left - min(t["queued_ns"], max(0, left)))
    return rest


def looks_of(recording):
    """How often somebody looked at the program's threads so far (docs/format-recording.md)."""
    content = recording.read_bytes()
    sleeps, = struct.unpack_from("<I", content, SLEEPS_AT)
    return struct.unpack_from("<Q", content, sleeps * 8)[0] if sleeps else 0


def check_shares(tap, grade, slept, samples):
    """A look in a function's sleep is a sample there: but one at each end of a call, and those that
    found the thread awake without a processor, which is how much longer than asked it took."""
    for name, (calls, asked_ns, ns, looks) in slept.items():
        awake = (ns - calls * asked_ns) / PERIOD_NS
        tap.check(looks - 2 * calls - awake <= samples[name] <= looks + calls,
                  f"{grade}: {name}: each look found it asleep", (looks, calls, awake, samples))


def check_places(tap, folder, flags, grade):
    lib.must([lib.FATHOM, "cc", *flags, "gcc", "-O1", SOURCE, "-o", "asleep", "-pthread"], folder)
    *lines, looks = lib.record(["./asleep"], folder).stdout.splitlines()
    slept = {name: (*asked, *map(int, line.split())) for (name, asked), line in zip(ASKED.items(), lines)}
    of, (found, samples, rows) = facts(folder, "out.data"), by_function(folder, "out.data")
    whole, known = sum(found.values()), sum(ns for _, _, ns, _ in slept.values())
    # A look that comes late may stand for what was before the sleep that it finds, or is missed at its end.
    late = max(0, max(t["wall_ns"] for t in of["threads"]) - int(looks) * PERIOD_NS)
    detail = (slept, found, samples, late)
    asked = sum(calls * ns for calls, ns in ASKED.values())
    tap.check(0.8 * asked - late <= whole <= 1.1 * known + late, f"{grade}: as long as the program says it slept",
              detail)
    tap.check(sum(sleep["ns"] for sleep in of["sleeps"]) <= rest_of(of["threads"]) + len(of["sleeps"]),
              f"{grade}: at most what is no other time of the threads", (of["sleeps"], of["threads"]))
    check_shares(tap, grade, slept, samples)
    tap.check(all(found[name] > 0 for name in slept), f"{grade}: in the functions that slept", detail)
    tap.same({name for name, ns in found.items() if ns > 0.02 * whole + late} - set(slept), set(),
             f"{grade}: and in no other")
    tap.check(all(row["samples_count"] > 0 for row in rows), f"{grade}: by so many samples", rows)
    checked = lib.must([lib.FATHOM, "check", "out.data"], folder).stdout
    tap.check("ok      sleep by context is part of the threads' other sleep" in checked, f"{grade}: the check holds",
              checked)


def check_short(tap, folder):
    lib.record(["./asleep", "short"], folder, name="short")
    tap.same([s for s in facts(folder, "short.data")["sleeps"] if s["samples"] > 1], [],
             "what is seen to wait is never told as unseen")


def check_killed(tap, folder):
    recording = folder / "killed.rec"
    with subprocess.Popen([lib.FATHOM, "record", "--join=none", "-o", "killed", "--", "./asleep", "killed"],
                          cwd=folder, stderr=subprocess.DEVNULL) as run:
        wait_until(lambda: recording.exists() and recording.stat().st_size > 0 and looks_of(recording) >= 20,
                   "it was looked at twenty times")
        pid, = struct.unpack_from("<I", recording.read_bytes(), PID_AT)
        os.kill(pid, signal.SIGKILL)
        tap.same(run.wait(), -signal.SIGKILL, "killed: the status says so")
    found, _, _ = by_function(folder, "killed.data")
    whole = sum(found.values())
    tap.same({name for name, ns in found.items() if ns > 0.05 * whole}, {"longer"}, "killed: where it slept")


def check_alone(tap, folder):
    """Without somebody who looks nothing is said, and not that there was none."""
    lib.must(["./asleep", "short"], folder, env={**lib.os.environ, "FATHOM_OUTPUT": str(folder / "alone")})
    lib.must([lib.FATHOM, "finish", "-q", "alone.rec"], folder)
    tap.same(facts(folder, "alone.data")["sleeps"], [], "without `fathom record` nobody looks")
    lib.must([lib.FATHOM, "cc", "--grade=deep", "--hooks=slots", "gcc", "-O1", SOURCE, "-o", "slots", "-pthread"],
             folder)
    lib.record(["./slots"], folder, name="slots")
    tap.same(facts(folder, "slots.data")["sleeps"], [], "with slots nobody knows where a thread sleeps")


def check_sum(tap, folder):
    lib.must([lib.FATHOM, "merge", "out.data", "killed.data", "-o", "sum.data"], folder)
    parts = facts(folder, "out.data")["sleeps"] + facts(folder, "killed.data")["sleeps"]
    whole = facts(folder, "sum.data")["sleeps"]
    tap.same({what: sum(sleep[what] for sleep in whole) for what in ("ns", "samples")},
             {what: sum(sleep[what] for sleep in parts) for what in ("ns", "samples")}, "a sum has both")


def main():
    tap = lib.Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_places(tap, folder, ["--grade=full"], "full")
        check_places(tap, folder, ["--grade=deep"], "deep")
        check_short(tap, folder)
        check_killed(tap, folder)
        check_alone(tap, folder)
        check_sum(tap, folder)
    return tap.done()


sys.exit(main())
