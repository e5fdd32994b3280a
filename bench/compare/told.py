#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often `fathom diff` finds what is there, and what is not: real programs (Lua, bzip2, SQLite) recorded
again and again, whose pairs have no difference, and a program with a planted one.

Counts, not times: a busy machine makes runs vary more, which is part of the question. Recordings are made
alternately; comparisons draw from them at random, so those of one program are not independent.

usage: told.py BUILD FOLDER [--runs N] [--pairs N] [--tries N] [--only equal|planted] [--programs NAME...]"""
import argparse
import csv
import io
import os
import pathlib
import random
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "record"))
import programs_built  # noqa: E402


def must(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          errors="replace", **options)
    if done.returncode != 0:
        raise SystemExit(f"{command}: status {done.returncode}\n{done.stderr}")
    return done.stdout


def record(fathom, name, command, tick=None):
    must(fathom, "record", "-q", *([f"--tick={tick}"] if tick else []), "-o", name, "--", *command)
    return f"{name}.data"


def verdicts(fathom, base, new):
    """[(table, function, verdict)] of a comparison by time."""
    text = must(fathom, "diff", "--csv", "--by=time", "--base", *base, "--new", *new)
    found, heading = [], None
    for row in csv.reader(io.StringIO(text)):
        if "verdict" in row and "function" in row:
            heading = row
        elif not row:
            heading = None
        elif heading is not None:
            cells = dict(zip(heading, row))
            found.append((cells["function"], cells["verdict"], cells))
    return found


def has(rows, verdict):
    return any(row[1] == verdict for row in rows)


def equal_builds(fathom, build, folder, options):
    """Pairs and fives of runs of one build."""
    programs = programs_built.Programs(build / "src/cli/fathom", folder / "programs")
    random.seed(1)
    for name in options.programs:
        program = programs.build("compared", "gcc", ["-g"], name, "deep")
        command = [program, *programs.arguments(name)]
        runs = [record(fathom, folder / f"{name}{i}", command) for i in range(options.runs)]
        pairs = [(a, b) for a in range(len(runs)) for b in range(a)]
        random.shuffle(pairs)
        for what, draws in (("1 + 1", [([runs[a]], [runs[b]]) for a, b in pairs[:options.pairs]]),
                            ("5 + 5", [(some[:5], some[5:]) for some in
                                       (random.sample(runs, 10) for _ in range(options.pairs // 3))])):
            compared = [verdicts(fathom, base, new) for base, new in draws]
            print(f"| {name}, equal builds, {what} | {len(compared)} | "
                  f"{sum(has(rows, 'significant') for rows in compared)} | "
                  f"{sum(has(rows, 'perhaps') for rows in compared)} |", flush=True)


def planted(fathom, folder, options):
    built = {}
    for percent in (100, 120, 200):
        built[percent] = folder / f"planted{percent}"
        must(fathom, "cc", "--grade=deep", "gcc", "-O1", "-g", f"-DSCAN={percent}L", HERE / "planted.c", "-o", built[percent])
    random.seed(2)
    for what, percent, tick, count in (("twice as slow, kernel's tick", 200, None, 5),
                                       ("+20 %, 2,000 Hz", 120, "cpu-clock:500000", 5),
                                       ("+20 %, 1,000 Hz", 120, "cpu-clock:1000000", 10)):
        base, new = [], []
        for i in range(4 * count):  # alternately
            base.append(record(fathom, folder / f"base{i}", [built[100], options.rounds], tick))
            new.append(record(fathom, folder / f"new{i}", [built[percent], options.rounds], tick))
        found = perhaps = others = 0
        for _ in range(options.tries):
            rows = verdicts(fathom, random.sample(base, count), random.sample(new, count))
            found += any(row[:2] == ("scan", "significant") for row in rows)
            perhaps += any(row[0] == "scan" and row[1] in ("significant", "perhaps") for row in rows)
            others += any(row[0] != "scan" and row[1] == "significant" for row in rows)
        print(f"| scan, 18 %, {what}, {count} + {count} | {options.tries} | {found} | {perhaps} | {others} |", flush=True)
    short = record(fathom, folder / "short", [built[100], 0])
    long = record(fathom, folder / "long", [built[100], options.rounds])
    rows = verdicts(fathom, [short], [long])
    print("one run each, nothing against", options.rounds, "rounds:",
          ", ".join(f"{row[0]} {row[2]['change']}" for row in rows if row[1] == "significant"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=34)
    parser.add_argument("--pairs", type=int, default=334)
    parser.add_argument("--tries", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=130)
    parser.add_argument("--programs", nargs="+", default=programs_built.REAL)
    parser.add_argument("--only", choices=("equal", "planted"))
    options = parser.parse_args()
    fathom = options.build.resolve() / "src/cli/fathom"
    options.folder.mkdir(parents=True, exist_ok=True)
    folder = options.folder.resolve()
    os.environ["FATHOM_CACHE"] = "off"
    if options.only != "planted":
        print("| comparison | tables | with a significant row | with one of \"perhaps\" |\n|---|---|---|---|", flush=True)
        equal_builds(fathom, options.build.resolve(), folder, options)
    if options.only != "equal":
        print("| planted | tries | found | or perhaps | with another row |\n|---|---|---|---|---|", flush=True)
        planted(fathom, folder, options)


if __name__ == "__main__":
    main()
