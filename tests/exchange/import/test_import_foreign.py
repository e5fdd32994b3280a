#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files that other tools wrote, with what readers of their own made of them: totals of all measures, calls and the
functions with most own and total cost are the same, or one message refuses the file.

Skips without the folder FATHOM_SAMPLE_DATA, in which profiles/FORMAT/NAME has NAME.expected.json.

usage: test_import_foreign.py FATHOM"""
import collections
import json
import os
import pathlib
import re
import sys
import tempfile

from exchange_lib import check, end, must, run, skip

fathom = os.path.abspath(sys.argv[1])

# Refused, though the other reader makes something of them.
REFUSED = {
    "callgrind/callgrind.subposition-compression.log": "whole numbers",  # costs relative to the line before
    "gprof-text/gnu2.prof": "gmon.out",
    "gprof-text/issue88.prof": "gmon.out",
    "hpctoolkit/cpi-database": "HPCToolkit",
}
# An end of no span's name ends nothing in fathom, and something in other readers. Totals and calls are compared.
# A sample's frames may stand behind an empty line, or be missing.
AMBIGUOUS = ("chrome-trace/simple_trace.json", "perf-script/empty-line.txt")
# fathom's column of a measure, by the format and the file's own name for it; a factor to the file's unit.
COLUMNS = {
    "callgrind": {"Ir": "ir"},
    "chrome-trace": {"calls": "calls", "wall": ("wall", "wall_time"), "samples": "samples", "allocated_held": "bytes_2"},
    "dhat": {"total_blocks": "allocs", "total": "bytes", "at_gmax": "peak_bytes", "at_gmax_blocks": "peak_blocks",
             "at_end": "live_bytes", "at_end_blocks": "live_blocks", "max": None, "lifetimes": "block_lifetimes",
             "read": "read_bytes", "written": "written_bytes"},
    "firefox": {"samples": "samples"},
    "gperftools": {"samples": None, "cpu": "quanta", "contentions": "contentions", "delay": "delay",
                   "threads": "threads", "held_objects": "live_blocks", "held": ("live_bytes", "held"),
                   "allocated_objects": "allocs", "allocated": "bytes"},
    "heaptrack": {"allocations": "allocs", "allocated": "bytes", "leaked": "live_bytes",
                  "temporary": "temporary_blocks", "at_peak": "peak_bytes"},
    "massif": {"held_at_peak": "bytes_2"},
    "otlp": {"off_cpu": "off_cpu", "samples": ("quanta", 50_000_000)},  # both recorders: 20 samples a second
    "perfetto": {"calls": "calls", "wall": "wall"},
    "speedscope": {"none": "callseqs"},
}
OTHER = ("id", "caller", "callee", "site", "exits", "fails", "redos", "excps")


class Profile:
    """Own costs by column and function, as `fathom dump` tells the whole profile."""

    def __init__(self, path):
        told = json.loads(must(fathom, "dump", "--json", path).stdout)
        self.per_second = told["stats"]["ticks_per_sec"]
        statics = {ps["id"]: ps["uq_refined_id"] for ps in told["ps"]}
        raw = {ps["id"]: ps["raw_id"] for ps in told["ps"]}
        dynamics = {pd["id"]: pd["ps"] for pd in told["pd"]}
        self.own = collections.defaultdict(collections.Counter)
        self.raw = collections.defaultdict(collections.Counter)
        self.totals = collections.Counter()
        for call in told["csd"]:
            for column, value in call.items():
                if column in OTHER:
                    continue
                self.totals[column] += value
                self.own[column][statics[dynamics[call["callee"]]]] += value
                self.raw[column][raw[dynamics[call["callee"]]]] += value


def column_of(profile, form, name):
    """(column, factor to the file's unit); None: it is known not to be kept."""
    known = COLUMNS.get(form, {}).get(name, ())
    if known is None:
        return None
    if isinstance(known, tuple) and len(known) == 2 and isinstance(known[1], int):
        return known[0], 1 / known[1]
    names = (known,) if isinstance(known, str) else known
    own = re.sub("[^a-z0-9]+", "_", name.lower()).strip("_")
    others = () if names else (own, f"samples_of_{own}", "samples", "thousandths_of_samples", "quanta")
    for column in (*names, *others):
        if column in profile.totals:
            factor = 10**9 / profile.per_second if column == "quanta" and profile.per_second else 1
            return column, 1e-3 if column.startswith("thousandths") else factor
    return own, 1


def is_close(found, expected, unit):
    """Figures are whole numbers of what they count: one a record is lost in rounding at most."""
    return abs(found - expected) <= max(unit, 1e-3 * abs(expected) if isinstance(expected, float) else 0)


def compare(profile, form, expected, with_names):
    """What differs, in words."""
    wrong = []
    main = expected.get("main_measure")
    measures = expected["measures"]
    built = expected.get("build_profile")
    if built:  # of -ftime-trace without what stands twice in it
        measures = [{"name": "calls", "total": built["spans"]}, {"name": "wall", "total": built["total_us"] * 1000}]
    for measure in measures:
        found = column_of(profile, form, measure["name"])
        grown = expected["file"].endswith(".growth") and measure["name"].startswith("allocated")
        if found is None or grown or (measure["total"] == 0 and found[0] not in profile.totals):
            continue
        column, factor = found
        if measure.get("unit") == "us" and column == "quanta":
            factor /= 1000
        if not is_close(profile.totals[column] * factor, measure["total"], max(factor, 1)):
            wrong.append((measure["name"], column, profile.totals[column] * factor, measure["total"]))
        main = main if main is not None else "wall" if measure["name"] == "wall" else main
        if main != measure["name"] or built or form == "gperftools" or not with_names:
            continue
        for function in expected.get("largest_self") or []:
            name, value = function["name"], function["value"]
            if re.search(r"0x[0-9a-f]+$", name) or "below massif's" in name or value == 0:
                continue  # by address: fathom has one function a file
            if form in ("firefox", "perf-data") or name not in profile.own[column] and name not in profile.raw[column]:
                continue  # named with the place, or by files of another machine
            own = max(profile.own[column][name], profile.raw[column][name]) * factor
            if not is_close(own, value, max(factor, 1)):
                wrong.append(("self", name, own, value))
    return wrong


def check_file(folder, path, form):
    with open(f"{path}.expected.json", encoding="utf-8") as file:
        expected = json.load(file)
    name = f"{form}/{path.name}"
    data = os.path.join(folder, "out.data")
    told = run(fathom, "import", "-o", data, str(path))
    reason = REFUSED.get(name)
    if reason is not None or expected["verdict"].startswith("refuse"):
        lines = told.stderr.strip().split("\n")
        check(f"{name}: one message refuses it", told.returncode == 1 and len(lines) == 1 and
              lines[0].startswith(f"fathom import: {path}: ") and (reason or "") in lines[0], told.stderr)
        return
    if told.returncode != 0:
        check(f"{name}: it opens", False, told.stderr)
        return
    wrong = compare(Profile(data), form, expected, name not in AMBIGUOUS)
    check(f"{name}: its figures are the other reader's", not wrong, wrong)
    check(f"{name}: they agree with each other", run(fathom, "check", data).returncode == 0)


def check_trace(path):
    """CTF 2 is read by `fathom log`: all events, and those of each type."""
    with open(f"{path}.expected.json", encoding="utf-8") as file:
        expected = json.load(file)
    told = run(fathom, "log", "stat", str(path))
    types = {name: int(count) for name, count in re.findall(r"^type (.*) (\d+)$", told.stdout, re.MULTILINE)}
    check(f"ctf2/{path.name}: all events are read", f"events {expected['events']}\n" in told.stdout and types ==
          {entry["name"]: entry["value"] for entry in expected["events_by_name"]}, told)


def main():
    root = pathlib.Path(os.environ.get("FATHOM_SAMPLE_DATA", "/nonexistent")) / "profiles"
    if not root.is_dir():
        skip("files of other tools", "FATHOM_SAMPLE_DATA has no folder profiles")
        end()
    with tempfile.TemporaryDirectory() as folder:
        for described in sorted(root.glob("*/*.expected.json")):
            path = described.with_name(described.name.removesuffix(".expected.json"))
            if path.parent.name == "ctf2":
                check_trace(path)
            else:
                check_file(folder, path, path.parent.name)
    end()


main()
