#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sleep that no call is seen to wait for: where it was, by looks from outside while `fathom record` runs the program."""
import collections
import json
import pathlib
import sys
import tempfile

import finish_lib as lib

NS = 1e9
SOURCE = pathlib.Path(__file__).parent / "asleep.c"


def facts(folder, name):
    return json.loads(lib.must([lib.FATHOM, "dump", "--json", name], folder).stdout)["facts"]


def page(folder, name):
    return json.loads(lib.must([lib.FATHOM, "report", "--json", "waits", name], folder).stdout)


def by_function(folder, name):
    """{function: nanoseconds asleep} and the rows of them, of the page."""
    rows = [row["cells"] for table in page(folder, name)["tables"] if table["name"] == "other_sleep"
            for row in table["rows"]]
    found = collections.Counter()
    for row in rows:
        found[row["path"][-1]["name"].split("\u203a")[-1].strip()] += row["sleep_seconds"] * NS
    return found, rows


def rest_of(threads):
    """Of all threads, what is neither CPU time nor waiting nor without a processor."""
    rest = 0
    for t in threads:
        left = max(0, t["wall_ns"] - t["cpu_ns"]) - max(0, t["wait_ns"] - t["inside_ns"])
        rest += max(0, left - min(t["queued_ns"], max(0, left)))
    return rest


def check_places(tap, folder, flags, grade):
    lib.must([lib.FATHOM, "cc", *flags, "gcc", "-O1", SOURCE, "-o", "asleep", "-pthread"], folder)
    done = lib.record(["./asleep"], folder)
    longer, shorter, seen, worker = map(float, done.stdout.split())
    of, (found, rows) = facts(folder, "out.data"), by_function(folder, "out.data")
    whole = sum(found.values())
    known = longer + shorter + worker
    tap.check(0.8 * known <= whole <= 1.1 * known, f"{grade}: as long as the program says it slept", (found, known))
    tap.check(sum(sleep["ns"] for sleep in of["sleeps"]) <= rest_of(of["threads"]) + len(of["sleeps"]),
              f"{grade}: at most what is no other time of the threads", (of["sleeps"], of["threads"]))
    tap.check(found.get("longer", 0) > 1.5 * found.get("shorter", 0) > 0, f"{grade}: in the functions that slept",
              found)
    tap.check(0.6 * worker <= found.get("worker_sleeps", 0) <= 1.4 * worker, f"{grade}: in each thread", found)
    tap.same({name for name, ns in found.items() if ns > 0.02 * whole} - {"longer", "shorter", "worker_sleeps"}, set(),
             f"{grade}: and in no other")
    tap.check(all(row["samples_count"] > 0 for row in rows), f"{grade}: by so many samples", rows)
    checked = lib.must([lib.FATHOM, "check", "out.data"], folder).stdout
    tap.check("ok      sleep by context is part of what threads slept unseen" in checked, f"{grade}: the check holds",
              checked)


def check_short(tap, folder):
    lib.record(["./asleep", "short"], folder, name="short")
    tap.same([s for s in facts(folder, "short.data")["sleeps"] if s["samples"] > 1], [],
             "what is seen to wait is never told as unseen")


def check_killed(tap, folder):
    lib.record(["./asleep", "killed"], folder, name="killed", status=-9)
    found, _ = by_function(folder, "killed.data")
    whole = sum(found.values())
    tap.same({name for name, ns in found.items() if ns > 0.05 * whole}, {"longer"}, "killed: where it slept")


def check_alone(tap, folder):
    """Without somebody who looks nothing is said, and not that there was none."""
    lib.must(["./asleep", "short"], folder, env={**lib.os.environ, "FATHOM_OUTPUT": str(folder / "alone")})
    lib.must([lib.FATHOM, "finish", "-q", "alone.rec"], folder)
    tap.same(facts(folder, "alone.data")["sleeps"], [], "without `fathom record` nobody looks")


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
