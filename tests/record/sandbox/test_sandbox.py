#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that put themselves into a sandbox (seccomp) do, recorded, what they do alone: no call of the system that a
recording makes ends them or fails in their place. Calls are counted on, and the summary says what is not recorded.
Each case is one of confined.c."""
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
CALLS = {"leaf": 10001, "caller3": 1000}
TIMER = 1
# Case: calls of functions; what the summary says.
CASES = {
    "strict": (CALLS, "sandbox"),
    "strict_by_number": (CALLS, "sandbox"),
    "kills": (CALLS, "sandbox"),
    "fails": (CALLS, "sandbox"),
    "by_number": (CALLS, "sandbox"),
    "without_return": (CALLS, "where CPU time goes"),
    "two": ({"leaf": 20001, "caller3": 2000}, "sandbox"),
    "refused": (CALLS, None),
    "threads": ({"caller3": 3000, "caller9": 3000}, "sandbox"),
    "new_thread": (CALLS, "sandbox"),
    "children": (CALLS, "3 processes that the program forked"),
    "handlers": ({}, "sandbox"),
    "grows": ({"deep12": 4096, "deep3": 4096, "deep0": 4096}, "sandbox"),
}
TICKS_GO_ON = ("strict", "kills", "fails", "by_number", "two", "refused")
STATIC = ("strict", "kills", "by_number", "children")


def calls_of(path, executable):
    rec = Rec(path)
    names = lib.Names(executable, next(module["bias"] for module in rec.modules if module["flags"] & 1))
    found, ticks = collections.Counter(), collections.Counter()
    for thread in rec.threads:
        for csd in thread["csds"].values():
            name = names.get(thread["pds"][csd["callee"]]["fn"], "?")
            found[name] += csd["calls"]
            ticks[name] += csd["quanta"]
    return found, ticks, rec


def check(tap, folder, what, program, case):
    wanted, said = CASES[case]
    plain = lib.run([folder / f"{program}.plain", case], folder, timeout=PATIENCE)
    for old in folder.glob("out*"):
        old.unlink()
    done = lib.run([lib.FATHOM, "record", "--keep", "-o", "out", "--", folder / f"{program}.recorded", case],
                   folder, timeout=2 * PATIENCE, env={**os.environ, "FATHOM_CACHE": "off"})
    tap.same((done.stdout, done.returncode), (plain.stdout, plain.returncode),
             f"{what}: {case}: as the program alone")
    notes = "\n".join(line for line in done.stderr.splitlines() if "note:" in line)
    if said is None:
        tap.check("sandbox" not in notes, f"{what}: {case}: nothing is said of a sandbox", notes)
    else:
        tap.check(said in notes, f"{what}: {case}: the summary says it", done.stderr)
    if not (folder / "out.rec").exists():
        tap.check(False, f"{what}: {case}: there is a recording", done.stderr)
        return
    found, ticks, rec = calls_of(folder / "out.rec", folder / f"{program}.recorded")
    tap.same({name: found[name] for name in wanted}, wanted, f"{what}: {case}: all calls are counted")
    if case in TICKS_GO_ON and rec.tick_source == TIMER:
        where = ticks["burn"] if what == "C" else sum(ticks.values())
        tap.check(where > 0, f"{what}: {case}: time is sampled on", ticks)
    if case == "children":
        data = lib.must([lib.DUMP, "out.data"], folder).stdout
        tap.check(not re.search(r"^edge\t[^\t]*\tin_child\t", data, re.M), f"{what}: children do not count in their "
                  "parent's file", data)


def built(folder, program, options):
    words = [*options, "-O1", "-w", "-D_GNU_SOURCE", "-pthread", HERE / "confined.c", "-o"]
    if lib.run(["gcc", *words, f"{program}.plain"], folder).returncode != 0:
        return False
    lib.must([lib.FATHOM, "cc", "gcc", *words, f"{program}.recorded"], folder)
    return True


def main():
    tap = lib.Tap()
    lib.need("gcc")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for what, options, cases in (("C", [], CASES), ("static C", ["-static"], STATIC)):
            if not built(folder, "confined", options):
                tap.skip(what, "cannot be built here")
                continue
            alone = lib.run([folder / "confined.plain", "kills"], folder, timeout=PATIENCE)
            if alone.stdout != "fine\n":
                tap.skip(what, "there is no seccomp here")
                continue
            for case in cases:
                check(tap, folder, what, "confined", case)
    return tap.done()


sys.exit(main())
