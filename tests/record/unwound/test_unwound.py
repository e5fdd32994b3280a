#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Allocations of programs that were not built for fathom: a remembered stack is the one that a walk
finds, and each path has its exact counts and bytes."""
import collections
import os
import pathlib
import re
import shutil
import sys
import tempfile

import record_lib as lib

HERE = pathlib.Path(__file__).parent
ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 30000


def record(folder, name, command, **environment):
    """The result of `fathom record`, whose profile is NAME.data."""
    return lib.run([lib.FATHOM, "record", "-o", name, "--", *command], folder, encoding="latin-1",
                   env={**os.environ, **environment})


def paths_by(folder, data, measure):
    """{path: sum} of functions from the root on."""
    paths = collections.Counter()
    text = lib.must([lib.FATHOM, "export", "--to=folded", f"--measure={measure}", "-o", "-", data], folder).stdout
    for line in text.splitlines():
        path, value = line.rsplit(" ", 1)
        paths[path] += int(value)
    return paths


def own(paths, *names):
    """What the contexts have that end in these functions, one called by the other."""
    pattern = re.compile(r"(^|;)" + ";".join(rf"([^;]*[:`])?{re.escape(name)}" for name in names) + "$")
    return sum(value for path, value in paths.items() if pattern.search(path))


def remembered(tap, folder, flags):
    what = " ".join(flags)
    lib.must(["g++", *flags, HERE / "stacks.cc", "-o", "stacks", "-lpthread"], folder)
    plain = lib.run(["./stacks", str(ROUNDS), "9"], folder)
    done = record(folder, "stacks", ["./stacks", str(ROUNDS), "9"], FATHOM_UNWOUND="check")
    tap.same((done.returncode, done.stdout), (plain.returncode, plain.stdout), f"{what}: output and status are the program's")
    differences = done.stderr.count("remembered stack")
    tap.check(differences == 0, f"{what}: each remembered stack is the walked one", f"{differences} are not: {done.stderr[:2000]}")
    share = re.search(r"of (\d+) stacks .*, ([0-9.]+) % of them complete", done.stderr)
    tap.check(share and int(share[1]) > 6 * ROUNDS and float(share[2]) > 99.9, f"{what}: all of them are complete", done.stderr)
    checked = lib.must([lib.FATHOM, "check", "--sample=10", "stacks.data"], folder).stdout
    tap.check(" 0 broken" in checked, f"{what}: no invariant is broken", checked)
    return int(share[1]) if share else 0


# By the end of the path: blocks, bytes.
KNOWN = {
    ("main", "by_one", "one"): (100000, 2400000),
    ("main", "by_other", "one"): (50000, 5000000),
    ("main", "zeroed"): (30000, 2100000),
    ("main", "grown"): (1000, 16 * 1000 * 1001 // 2),
    ("main", "aligned"): (4000, 2000 * 520),
    ("recursive", "one"): (7003, 7003 * 8),
    ("main", "leaky"): (10, 10000),
    ("main", "hand_over"): (1000, 48000),
    ("take", "one"): (500, 30000),
    ("main", "at_once"): (101, 1000800),
}


def known(tap, folder, compiler, flags):
    what = " ".join([compiler, *flags])
    lib.must([compiler, *flags, "-fno-builtin", HERE / "known.c", "-o", "known", "-lpthread"], folder)
    done = record(folder, "known", ["./known"])
    tap.same((done.returncode, done.stdout), (4, ""), f"{what}: output and status are the program's")
    tap.check("a guess" not in done.stderr and "100.0 % of them complete" in done.stderr, f"{what}: no frame is a guess", done.stderr)
    blocks, bytes_sum = paths_by(folder, "known.data", "alloc_objects"), paths_by(folder, "known.data", "alloc_space")
    tap.same({path: (own(blocks, *path), own(bytes_sum, *path)) for path in KNOWN}, KNOWN,
             f"{what}: each path has its blocks and bytes")
    live, peak = paths_by(folder, "known.data", "live_bytes"), paths_by(folder, "known.data", "peak_bytes")
    tap.same({path: own(live, *path) for path in KNOWN if own(live, *path)}, {("main", "leaky"): 10000},
             f"{what}: what was never freed is where it was allocated")
    tap.same({path: own(peak, *path) for path in KNOWN if own(peak, *path)},
             {("main", "leaky"): 10000, ("main", "at_once"): 1000800}, f"{what}: the peak has its parts")
    leaks = lib.must([lib.FATHOM, "report", "leaks", "known.data"], folder).stdout
    tap.check(re.search(r"10,000 .*main › leaky", leaks), f"{what}: the page of leaks names it", leaks)
    checked = lib.must([lib.FATHOM, "check", "--sample=10", "known.data"], folder).stdout
    tap.check(" 0 broken" in checked, f"{what}: no invariant is broken", checked)


def guessed(tap, folder):
    """Frames by frame pointers, in code without tables, are remembered, and counted for each stack that has them."""
    lib.must(["gcc", "-O0", "-fno-omit-frame-pointer", "-fno-asynchronous-unwind-tables", "-fno-builtin", HERE / "known.c",
              "-o", "known", "-lpthread"], folder)
    done = record(folder, "guessed", ["./known"], FATHOM_UNWOUND="check")
    differences = done.stderr.count("remembered stack")
    tap.same((done.returncode, differences), (4, 0), "guesses by frame pointers: each remembered stack is the walked one")
    told = re.search(r"of (\d+) stacks .*; (\d+) frames in (\d+) of them are guesses", done.stderr)
    tap.check(told and int(told[3]) > 180000 and int(told[2]) >= 2 * int(told[3]), "all of them are told, remembered or not", done.stderr)


def waits(tap, folder):
    lib.must(["gcc", "-O1", "-g", "-fno-builtin", HERE / "known.c", "-o", "known", "-lpthread"], folder)
    done = record(folder, "waits", ["./known", "waits"])
    tap.same((done.returncode, done.stdout), (4, ""), "waits: output and status are the program's")
    tap.check("not one call" not in done.stderr, "a program that forks is said to be recorded", done.stderr)
    count, ns = paths_by(folder, "waits.data", "waits"), paths_by(folder, "waits.data", "wait_ns")
    exact = {("main", "pause_short"): (20, 400), ("main", "pause_long"): (10, 300)}
    tap.same({path: own(count, *path) for path in exact}, {path: calls for path, (calls, _) in exact.items()},
             "each path has its waits")
    short = {path: own(ns, *path) for path, (_, ms) in exact.items() if own(ns, *path) < ms * 1000000}
    tap.same(short, {}, "which last as long as they must")
    tap.check(own(count, "main", "reads") >= 1, "a read that waits is where it is called", count)
    tap.check(own(count, "main", "contended") >= 1 and own(count, "holder") == 1, "so are a lock and its holder's pause", count)


def counted(tap, folder):
    """Sums of programs of the system are those of a library that counts."""
    lib.must(["gcc", "-O1", "-fno-builtin", "-shared", "-fPIC", HERE / "counter.c", "-o", "counter.so"], folder)
    script = "my %h; for (1..30000) { $h{$_ % 977} .= $_ } print length join(',', values %h)"
    query = ("create table t(a, b); with recursive c(x) as (select 1 union all select x + 1 from c where x < 20000) "
             "insert into t select x, hex(x) from c; select count(distinct b), sum(a) from t;")
    cases = [["perl", "-e", script], ["sqlite3", ":memory:", query], ["git", "--version"]]
    fixed = {"PERL_HASH_SEED": "0", "PERL_PERTURB_KEYS": "0", "HOME": str(folder), "COUNTER": str(folder / "counted")}
    for command in cases:
        name = command[0]
        if shutil.which(name) is None:
            tap.skip(f"{name}: blocks and bytes", "it is not installed")
            continue
        plain = lib.must(command, folder, env={**os.environ, **fixed, "LD_PRELOAD": str(folder / "counter.so")})
        blocks, bytes_sum = map(int, (folder / "counted").read_text().split())
        done = record(folder, name, command, **fixed)
        tap.same(done.stdout, plain.stdout, f"{name}: output is the program's")
        found = sum(paths_by(folder, f"{name}.data", "alloc_objects").values())
        found_bytes = sum(paths_by(folder, f"{name}.data", "alloc_space").values())
        # Libraries may allocate in constructors, before either begins or ends.
        tap.check(abs(found - blocks) <= 40 and abs(found_bytes - bytes_sum) <= 100000,
                  f"{name}: all blocks are counted", f"{found} blocks of {found_bytes} bytes, not {blocks} of {bytes_sum}")


def main():
    tap = lib.Tap()
    lib.need("gcc")
    lib.need("g++")
    os.environ.pop("LD_PRELOAD", None)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        events = sum(remembered(tap, folder, flags) for flags in
                     (["-O2", "-g"], ["-O0"], ["-O1", "-fno-omit-frame-pointer"]))
        tap.check(events >= 20 * ROUNDS, "so many stacks were compared", events)
        if len(sys.argv) > 1:  # in the slow suite: 10^7 events
            return tap.done()
        known(tap, folder, "gcc", ["-O1", "-g"])
        known(tap, folder, "gcc", ["-O0", "-no-pie"])
        known(tap, folder, "gcc", ["-O1", "-no-pie", "-fno-pic", "-DADDRESS"])
        # The loader tells of the segment alone, not of the object.
        for flags in (["-no-pie"], ["-pie", "-fPIE"]):
            known(tap, folder, "gcc", ["-O1", "-DFAR", *flags, "-Wl,--section-start=.far=0x8000000"])
        if shutil.which("clang"):
            known(tap, folder, "clang", ["-O1", "-fno-omit-frame-pointer"])
        guessed(tap, folder)
        waits(tap, folder)
        counted(tap, folder)
    return tap.done()


sys.exit(main())
