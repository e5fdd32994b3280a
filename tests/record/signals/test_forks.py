#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A child of fork never waits for a lock of the runtime that another thread of its parent held (forks.c), and what it
calls is recorded."""
import collections
import os
import pathlib
import sys
import tempfile

import record_lib as lib
from patience import PATIENCE
from runtime_rec import Rec

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parents[2] / "include"
FORKS = 100
CHILD_SECONDS = int(PATIENCE / 2)
FORKED = 8  # grade_flags


def calls_of(rec, names, function):
    return sum(csd["calls"] for thread in rec.threads for csd in thread["csds"].values()
               if names.get(thread["pds"][csd["callee"]]["fn"]) == function)


def check(tap, folder, what, program, **environment):
    for old in folder.glob("out*.rec"):
        old.unlink()
    done = lib.run([folder / program, folder / "plugin.so", FORKS, CHILD_SECONDS], folder, timeout=4 * PATIENCE,
                   env={**os.environ, "FATHOM_OUTPUT": str(folder / "out.rec"), "FATHOM_LIMIT": "262144", **environment})
    tap.check(done.stdout == f"ended {FORKS}, hung 0, other 0\n", f"{what}: no child hangs",
              f"{done.returncode} {done.stdout} {done.stderr}")
    calls = collections.Counter()
    for path in folder.glob("out*.rec"):
        rec = Rec(path)
        if rec.grade_flags & FORKED:
            bias = next(module["bias"] for module in rec.modules if module["flags"] & 1)
            calls[calls_of(rec, lib.Names(folder / program, bias), "in_child")] += 1
    tap.same(dict(calls), {1: FORKS}, f"{what}: each child's call is recorded")


def main():
    tap = lib.Tap()
    lib.need("gcc")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        lib.must([lib.FATHOM, "cc", "gcc", "-shared", "-fPIC", lib.PROGRAMS / "plugin.c", "-o", "plugin.so"], folder)
        words = ["-O1", "-w", "-D_GNU_SOURCE", "-pthread", f"-I{INCLUDE}", HERE / "forks.c", "-ldl", "-o"]
        lib.must([lib.FATHOM, "cc", "gcc", *words, "forks"], folder)
        check(tap, folder, "each lock", "forks")
        check(tap, folder, "with timed calls", "forks", FATHOM_TRACE="nothing")
    return tap.done()


sys.exit(main())
