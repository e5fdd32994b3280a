#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tick's signal is one that programs do not meet: what they find of signals, masks and actions, what they wait for,
what they send themselves and how they end, what they leave to other programs, is as in the program alone; and they are
sampled all the while. Each case is one of meets.c."""
import collections
import os
import pathlib
import re
import sys
import tempfile

import record_lib as lib
from patience import PATIENCE
from runtime_rec import Rec

HERE = pathlib.Path(__file__).resolve().parent
CASES = ["reset", "actions", "own_timer", "masks", "taken", "handlers", "ends", "by_the_kernel", "starts",
         "starts_ignoring", "cancels", "identities", "timer_of_libcs", "first_create", "first_aio", "first_timer", "faults"]
TIMER, PERF, EVENT = 1, 2, 3
MANY_PAGES = 4096
FEW = ["reset", "masks", "first_create"]
WAYS = (
    ("C", [], {"timer": CASES, "perf": FEW + ["own_timer", "taken", "handlers", "identities"],
               "page-faults": FEW + ["faults"], "context-switches": FEW, "none": FEW}),
    ("static C", ["-static"], {"timer": CASES, "perf": FEW}),
    ("static PIE", ["-static-pie"], {"timer": FEW}),
)
SANITIZERS = ("address", "thread")


def ran(folder, words, **environment):
    """The output and how it ended; what CPU time which function had, by its own clock."""
    done = lib.run(words, folder, timeout=PATIENCE, env={**os.environ, **environment})
    took = collections.Counter()
    for name, ms in re.findall(r"^(\w+) (\d+)$", done.stderr, re.M):
        took[name] += int(ms)
    return [f"status {done.returncode}", *done.stdout.splitlines()], took


def recorded(folder, words, ticks, **environment):
    for old in folder.glob("out*.rec"):
        old.unlink()
    told, took = ran(folder, words, FATHOM_OUTPUT=str(folder / "out.rec"), FATHOM_TICKS=ticks, **environment)
    charged, source = collections.Counter(), 0
    paths = sorted(folder.glob("out*.rec"), key=lambda path: len(path.name))
    for path in paths if len(paths) < 20 else paths[:1]:  # children that end by a signal do not work
        rec = Rec(path)
        source = source or rec.tick_source
        names = lib.Names(words[0], next(module["bias"] for module in rec.modules if module["flags"] & 1))
        for thread in rec.threads:
            for csd in thread["csds"].values():
                charged[names.get(thread["pds"][csd["callee"]]["fn"], "?")] += csd["quanta"]
    return told, took, charged, source


def sampled(tap, what, took, charged, source):
    if source not in (TIMER, PERF):
        return
    # A tick or two: on a busy machine they come seldom, and where they are lost or come late there is none.
    short = {name: f"{charged[name]} of {ms} ms" for name, ms in took.items() if charged[name] < ms / 20}
    tap.check(not short, f"{what}: the time of each place is charged to it", short)


def compared(tap, folder, what, program, cases):
    """cases: by what ticks."""
    for case in sorted(set().union(*cases.values()), key=CASES.index):
        words = [case, folder / "shows"]
        plain, _ = ran(folder, [folder / f"{program}.plain", *words])
        for ticks in (ticks for ticks in cases if case in cases[ticks]):
            told, took, charged, source = recorded(folder, [folder / f"{program}.recorded", *words], ticks)
            tap.same(dict(enumerate(told)), dict(enumerate(plain)), f"{what}, {ticks}: {case}: as the program alone")
            sampled(tap, f"{what}, {ticks}: {case}", took, charged, source)
            if (case, source & 255) == ("faults", EVENT):
                tap.check(charged["read_all"] >= MANY_PAGES, f"{what}: all faults of one call are counted",
                          charged["read_all"])


def built(folder, program, options):
    words = [*options, "-O1", "-w", "-D_GNU_SOURCE", "-pthread", HERE / "meets.c", "-o"]
    if lib.run(["gcc", *words, f"{program}.plain"], folder).returncode != 0:
        return False
    lib.must([lib.FATHOM, "cc", "gcc", *words, f"{program}.recorded"], folder)
    return True


def ends_of_profiled(tap, folder):
    """libc puts SIGPROF back as it ends a program that gprof looks at, before what is destroyed last."""
    for options in (["-pg"], ["-pg", "-static"]):
        what = " ".join(options)
        if not built(folder, "profiled", options):
            tap.skip(what, "cannot be built here")
            continue
        told, took, _, _ = recorded(folder, [folder / "profiled.recorded", "none", "none"], "timer",
                                    WORKS_AT_THE_END="yes")
        tap.same((told, dict(took)), (["status 0"], {"work_at_the_end": 100}), f"{what}: works on behind exit()")
        (folder / "gmon.out").unlink(missing_ok=True)


def main():
    tap = lib.Tap()
    lib.need("gcc")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        lib.must(["gcc", HERE / "shows.c", "-o", "shows"], folder)
        for what, options, cases in WAYS:
            if not built(folder, "meets", options):
                tap.skip(what, "cannot be built here")
                continue
            compared(tap, folder, what, "meets", cases)
        for sanitizer in SANITIZERS:
            if not built(folder, sanitizer, [f"-fsanitize={sanitizer}"]):
                tap.skip(sanitizer, "cannot be built here")
                continue
            compared(tap, folder, f"-fsanitize={sanitizer}", sanitizer,
                     {"timer": ["reset", "own_timer", "identities"]})
        ends_of_profiled(tap, folder)
    return tap.done()


sys.exit(main())
