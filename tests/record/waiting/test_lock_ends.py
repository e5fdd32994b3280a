#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Waits for locks that end otherwise than by the lock (time out, a dead owner, a jump) are waits, with whom they waited
for; and each of very many contexts that held a lock is blamed for its own."""
import collections
import pathlib
import sys
import tempfile

import record_lib as lib
from patience import PATIENCE
from runtime_rec import Rec

MUTEX, RWLOCK, READY = 1, 2, 15
HERE = pathlib.Path(__file__).resolve().parent


def main():
    tap = lib.Tap()
    with tempfile.TemporaryDirectory() as text:
        folder = pathlib.Path(text)
        lib.must([lib.FATHOM, "cc", "--grade=deep", "gcc", "-O0", "-g", "-D_GNU_SOURCE", HERE / "lock_ends.c", "-o",
                  "lock_ends", "-pthread"], folder)
        told = lib.must([lib.FATHOM, "record", "-k", "-q", "-o", "out", "./lock_ends"], folder, timeout=PATIENCE).stdout
        heap = lib.Profile(folder / "out.data").heap
        names = ("mutex_timed_out", "mtx_timed_out", "rwlock_timed_out", "owner_was_dead", "owner_dies", "left")
        tap.same({name: heap[name, "waits"] for name in names},
                 dict(mutex_timed_out=1, mtx_timed_out=1, rwlock_timed_out=1, owner_was_dead=0, owner_dies=1, left=1),
                 "what is a wait")
        for name, inside, outside in map(str.split, told.splitlines()):
            tap.between(float(inside), heap[name, "wait_ns"], float(outside),
                        f"{name}: as long as the time that was given")
        rec = Rec(folder / "out.rec")
        found, _ = lib.waits_by_function(rec, folder / "lock_ends", folder)
        tap.same({name: found[name][MUTEX]["calls"] for name in names[3:5]}, dict(owner_was_dead=1, owner_dies=1),
                 "a lock of a dead owner is a call")
        tap.same(found["left"][READY]["left"], 1, "one that is jumped out of is left")
        tap.same({name: [blame["holder"] for blame in found[name][kind]["blames"]]
                  for name, kind in (("mutex_timed_out", MUTEX), ("mtx_timed_out", MUTEX), ("rwlock_timed_out", RWLOCK))},
                 dict(mutex_timed_out=[0], mtx_timed_out=[0], rwlock_timed_out=[0]),
                 "what a thread that is gone holds is held nowhere")
        holders = collections.Counter()
        for blame in found["wanted"][MUTEX]["blames"]:
            holders[blame["holder"]] += blame["waits"]
        tap.same((len(holders), set(holders.values()), 0 in holders), (256, {1}, False),
                 "each context that held the lock has its wait")
    return tap.done()


sys.exit(main())
