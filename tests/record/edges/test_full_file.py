#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where a recording of limited size ends, whatever was about to be written there: what is in it is of one piece, and
each call that closes a recursion is counted by depth, or its depth is told as not known."""
import itertools
import os
import pathlib
import struct
import sys
import tempfile

import record_lib as lib
from runtime_rec import Rec

SHIFTS, SEEDS, LIMIT = 8, 12, 69632
DEPTHS_SIDE, DEPTHS_FLAG = 6, 16
# Most of what is written for a context is the counts by depth. The argument chooses a function with so
# many blocks that its counters are a piece of the file of its own: so much sooner the file is full.
PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#define N __attribute__((noinline))
static volatile int sink;
static unsigned state = 1;
static inline __attribute__((always_inline)) unsigned chance(unsigned n)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 16) % n;
}
#define TEST(n) if (x == n) sink += n;
#define TEN(n) TEST(n) TEST(n + 1) TEST(n + 2) TEST(n + 3) TEST(n + 4) TEST(n + 5) TEST(n + 6) TEST(n + 7) TEST(n + 8) TEST(n + 9)
#define FIFTY(n) TEN(n) TEN(n + 10) TEN(n + 20) TEN(n + 30) TEN(n + 40)
#define FOUR(n) TEST(n) TEST(n + 1) TEST(n + 2) TEST(n + 3)
#define SHIFT(name, more) N static void name(volatile int x) { FIFTY(0) FIFTY(50) FIFTY(100) more }
SHIFT(shift0, ) SHIFT(shift1, FOUR(200)) SHIFT(shift2, FOUR(200) FOUR(210))
SHIFT(shift3, TEN(200) TEST(300) TEST(301)) SHIFT(shift4, TEN(200) FOUR(300) TEST(310) TEST(311))
SHIFT(shift5, TEN(200) TEN(300)) SHIFT(shift6, TEN(200) TEN(300) FOUR(400)) SHIFT(shift7, TEN(200) TEN(300) FOUR(400) FOUR(410))
N static int again(int a) { return a <= 0 ? sink : again(a - 1) + 1; }
#define LEVEL(n, next) \
    N static int a##n(int x) { return next(x + 1) + 1; } \
    N static int b##n(int x) { return next(x + 2) + 2; } \
    N static int c##n(int x) { return next(x) + again(2); } \
    N static int level##n(int x) { return chance(2) ? a##n(x) + 1 : chance(2) ? b##n(x) + 2 : c##n(x) + 3; }
N static int level0(int x) { return again(2) + x; }
LEVEL(1, level0) LEVEL(2, level1) LEVEL(3, level2) LEVEL(4, level3) LEVEL(5, level4)
int main(int argc, char **argv)
{
    static void (*const shifts[])(int) = {shift0, shift1, shift2, shift3, shift4, shift5, shift6, shift7};
    shifts[atoi(argv[1])](argc);
    state = (unsigned)atoi(argv[2]);
    for (int i = 0; i < 400; i++)
        sink += level5(i & 3);
    return 0;
}
"""


def faults_of(rec):
    """Of counts by depth: pds that have them though nothing leads back there, and those whose counts are
    not those of the edges that count by depth."""
    faults = []
    for thread in rec.threads:
        back, counted = {}, {}
        for csd in thread["csds"].values():
            if not csd["made"]:
                flags, = struct.unpack_from("<I", rec.bytes, csd["ref"] * 8 + 52)
                back.setdefault(csd["callee"], 0)
                back[csd["callee"]] += csd["calls"] if flags & DEPTHS_FLAG else 0
        for csd in thread["csds"].values():
            if DEPTHS_SIDE in csd["side"]:
                _, unknown, *calls = struct.unpack_from("<32Q", rec.bytes, csd["side"][DEPTHS_SIDE] * 8)
                counted[csd["callee"]] = unknown + sum(calls)
        faults += [f"pd {pd}: {calls} calls by depth, none leads back"
                   for pd, calls in counted.items() if pd not in back]
        faults += [f"pd {pd}: {counted.get(pd, 0)} calls by depth of {calls}"
                   for pd, calls in back.items() if counted.get(pd, 0) != calls]
    return faults


def broken(folder, name):
    """Invariants that do not hold of the profile of a recording, and findings that its making told."""
    lib.must([lib.FATHOM, "finish", "-q", "-o", name, f"{name}.rec"], folder)
    told = lib.run([lib.FATHOM, "check", "--sample=1", f"{name}.data"], folder).stdout
    return [line for line in told.splitlines() if line.startswith("FAILED")]


def check_ends(tap, folder):
    faults, full = {}, 0
    environment = {**os.environ, "FATHOM_OUTPUT": str(folder / "out"), "FATHOM_LIMIT": str(LIMIT),
                   "FATHOM_TICKS": "none"}
    for shift, seed in itertools.product(range(SHIFTS), range(1, SEEDS + 1)):
        lib.must([folder / "prog", str(shift), str(seed)], folder, env=environment)
        rec = Rec(folder / "out.rec")
        full += rec.dropped_nodes > 0
        found = faults_of(rec)
        if found:
            faults[f"shift {shift}, seed {seed}"] = found + broken(folder, "out")
        (folder / "out.rec").unlink(missing_ok=True)
    tap.same(full, SHIFTS * SEEDS, "each file was full")
    tap.same(faults, {}, "wherever it ends, counts by depth are those of the calls that close a recursion")


def check_between(tap, folder):
    """A program that was killed when it had made the counts, and not yet the edge that counts there."""
    environment = {**os.environ, "FATHOM_OUTPUT": str(folder / "cut"), "FATHOM_TICKS": "none"}
    lib.must([folder / "prog", "0", "1"], folder, env=environment)
    rec = Rec(folder / "cut.rec")
    data, cut = bytearray(rec.bytes), 0
    for thread in rec.threads:
        for pd in thread["pds"].values():
            at, csd = pd["ref"] * 8 + 8, pd["first"]  # where the reference to the csd stands
            while csd:
                node = thread["csds"][csd]
                if node["made"]:
                    at = csd * 8 + 32
                else:
                    data[at:at + 4] = struct.pack("<I", node["next"])
                    maker = thread["csds"][thread["pds"][node["callee"]]["maker"]]
                    depths = maker["side"][DEPTHS_SIDE] * 8
                    data[depths:depths + 256] = bytes(256)
                    cut += 1
                csd = node["next"]
    (folder / "cut.rec").write_bytes(data)
    tap.check(cut > 100, "edges were cut", cut)
    tap.check(any("none leads back" in fault for fault in faults_of(Rec(folder / "cut.rec"))),
              "counts by depth are there, and nothing leads back")
    tap.same(broken(folder, "cut"), [], "counts by depth in which nothing was counted are none")


def main():
    lib.need("gcc")
    tap = lib.Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "prog.c").write_text(PROGRAM)
        lib.must([lib.FATHOM, "cc", "--grade=coverage", "gcc", "-O1", "-w", "prog.c", "-o", "prog"], folder)
        check_ends(tap, folder)
        check_between(tap, folder)
    return tap.done()


sys.exit(main())
