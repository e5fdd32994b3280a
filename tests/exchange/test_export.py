#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `fathom export` writes, read by readers of our own and by the formats' tools where they are
installed, against sums taken from `fathom dump`.

usage: test_export.py FATHOM GENERATE_PROFILE"""
import collections
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from dump import Dump, with_plain_names
from exchange_lib import check, end, must, skip

fathom, generate = sys.argv[1:3]


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields_of(data):
    """Protocol buffers: (field, value) of one message."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            raise ValueError(f"wire type {key & 7}")
        yield key >> 3, value


def packed(data):
    at, values = 0, []
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


def read_pprof(path):
    """{column: {function: own}}, and whether each stack's frames are known."""
    profile = collections.defaultdict(list)
    for field, value in fields_of(gzip.open(path).read()):
        profile[field].append(value)
    strings = [text.decode() for text in profile[6]]
    assert strings[0] == ""
    types = [strings[dict(fields_of(t)).get(1, 0)] for t in profile[1]]
    functions = {dict(fields_of(f))[1]: strings[dict(fields_of(f)).get(2, 0)] for f in profile[5]}
    locations = {}
    for location in profile[4]:
        fields = dict(fields_of(location))
        assert fields[1] not in locations
        locations[fields[1]] = functions[dict(fields_of(fields[4]))[1]]
    sums = {t: collections.Counter() for t in types}
    for sample in profile[2]:
        fields = dict(fields_of(sample))
        stack = [locations[i] for i in packed(fields[1])]
        values = packed(fields[2])
        assert len(values) == len(types)
        for t, value in zip(types, values):
            sums[t][stack[0]] += value
    return {t: +s for t, s in sums.items()}


def read_callgrind(path):
    """Own costs by function, and what each function has in all: own and its calls."""
    events, own, inclusive, names = [], {}, {}, {}
    of, after_calls = None, False

    def named(text):
        found = re.fullmatch(r"\((\d+)\)(?: (.*))?", text)
        return names.setdefault(found[1], found[2])

    for line in open(path):
        line = line.rstrip("\n")
        if line.startswith("events:"):
            events = line.split()[1:]
        elif line.startswith("fn="):
            of = named(line[3:])
            own.setdefault(of, [0] * len(events)), inclusive.setdefault(of, [0] * len(events))
        elif line.startswith("cfn="):
            named(line[4:])
        elif line.startswith("calls="):
            after_calls = True
        elif line and line[0].isdigit():
            costs = [int(c) for c in line.split()[1:]]
            for i, cost in enumerate(costs):
                inclusive[of][i] += cost
                own[of][i] += 0 if after_calls else cost
            after_calls = False
    return {event: +collections.Counter({f: costs[i] for f, costs in own.items()})
            for i, event in enumerate(events)}, \
        {event: {f: costs[i] for f, costs in inclusive.items()} for i, event in enumerate(events)}


def read_folded(path):
    sums, stacks = collections.Counter(), {}
    for line in open(path):
        stack, value = line.rstrip("\n").rsplit(" ", 1)
        sums[stack.split(";")[-1]] += int(value)
        stacks[stack] = stacks.get(stack, 0) + int(value)
    return sums, stacks


def read_speedscope(path):
    document = json.load(open(path))
    frames = [frame["name"] for frame in document["shared"]["frames"]]
    sums = collections.defaultdict(collections.Counter)
    for profile in document["profiles"]:
        column = profile["name"].split(": ")[-1].split(" ")[0]
        assert len(profile["samples"]) == len(profile["weights"])
        assert profile["startValue"] == 0 and profile["endValue"] == sum(profile["weights"])
        for stack, weight in zip(profile["samples"], profile["weights"]):
            sums[column][frames[stack[-1]]] += weight
    return sums


def read_firefox(path):
    document = json.load(gzip.open(path))
    strings = document["shared"]["stringArray"]
    sums = collections.defaultdict(collections.Counter)
    assert document["meta"]["preprocessedProfileVersion"] == 57
    for thread in document["threads"]:
        for table in ("samples", "stackTable", "frameTable", "funcTable", "markers",
                      "nativeSymbols", "resourceTable"):
            for column in thread[table].values():
                assert not isinstance(column, list) or len(column) == thread[table]["length"], table
        stacks, functions = thread["stackTable"], thread["funcTable"]
        assert thread["frameTable"]["length"] == functions["length"], "a frame a function"
        for row, prefix in enumerate(stacks["prefix"]):
            assert prefix is None or prefix < row
        assert thread["samples"]["length"] > 0
        for stack, weight in zip(thread["samples"]["stack"], thread["samples"]["weight"]):
            name = strings[functions["name"][thread["frameTable"]["func"][stacks["frame"][stack]]]]
            factor = 10 ** 6 if thread["samples"]["weightType"] == "tracing-ms" else 1
            sums[thread["name"].split(": ")[1]][name] += round(weight * factor)
    return sums


def read_otlp(path):
    """By the numbers of opentelemetry-proto 1.10."""
    def of(data):
        fields = collections.defaultdict(list)
        for field, value in fields_of(data):
            fields[field].append(value)
        return fields

    def number(message, field):
        return message[field][0] if message[field] else 0

    with open(path, "rb") as file:
        data = of(file.read())
    dictionary = of(data[2][0])
    for table in range(1, 8):
        assert len(dictionary[table]) > 0, table
        first = dictionary[table][0]
        assert first == b"" or table == 4 and of(first) == {1: [bytes(16)], 2: [bytes(8)]}, table
    strings = [text.decode() for text in dictionary[5]]
    functions = [strings[number(of(f), 1)] for f in dictionary[3]]
    locations = [functions[number(of(of(x)[3][0]), 1)] if x else "" for x in dictionary[2]]
    stacks = [packed(of(s)[1][0]) if s else [] for s in dictionary[7]]
    threads = [strings[number(of(a), 1)] for a in dictionary[6][1:]]
    assert all(name == "thread.name" for name in threads)
    sums, ids = collections.defaultdict(collections.Counter), set()
    scope = of(of(data[1][0])[2][0])
    assert of(scope[1][0])[1] == [b"fathom"]
    for profile in map(of, scope[2]):
        ids.add(profile[7][0])
        column = strings[number(of(profile[1][0]), 1)]
        for sample in map(of, profile[2]):
            value, = packed(sample[4][0])
            sums[column][locations[stacks[number(sample, 1)][0]]] += value
    assert len(ids) == len(scope[2]) and all(len(name) == 16 for name in ids)
    return sums


def check_formats(folder, path, flavour):
    dump = Dump(fathom, path, flavour)
    out = {}
    for name in ("pprof", "callgrind", "speedscope", "firefox", "otlp"):
        out[name] = os.path.join(folder, f"{flavour}.{name}")
        must(fathom, "export", "--to", name, "-o", out[name], path)
    pprof, speedscope = read_pprof(out["pprof"]), read_speedscope(out["speedscope"])
    firefox, otlp = read_firefox(out["firefox"]), read_otlp(out["otlp"])
    callgrind, inclusive = read_callgrind(out["callgrind"])
    events = {"calls": "Calls", "cpu": "Cpu", "alloc_objects": "AllocObjects",
              "alloc_space": "AllocSpace"}
    for column, event in events.items():
        expected = with_plain_names(dump.own(column))
        total = sum(expected.values())
        check(f"{flavour} {column}: there is something to compare", total > 0)
        check(f"{flavour} {column}: pprof", with_plain_names(pprof[column]) == expected,
              with_plain_names(pprof[column]) - expected)
        check(f"{flavour} {column}: speedscope", with_plain_names(speedscope[column]) == expected)
        check(f"{flavour} {column}: firefox", with_plain_names(firefox[column]) == expected)
        check(f"{flavour} {column}: otlp", with_plain_names(otlp[column]) == expected)
        check(f"{flavour} {column}: callgrind", with_plain_names(callgrind[event]) == expected)
        check(f"{flavour} {column}: nothing in callgrind's file exceeds the whole",
              max(inclusive[event].values()) <= total)
        folded = os.path.join(folder, "x.folded")
        must(fathom, "export", "--to=folded", "--measure", column, "-o", folded, path)
        sums, stacks = read_folded(folded)
        check(f"{flavour} {column}: folded", with_plain_names(sums) == expected)
        must(fathom, "export", "--to=folded", "--min=5%", "--measure", column, "-o", folded, path)
        fewer, joined = read_folded(folded)
        check(f"{flavour} {column}: small contexts joined leave the sum",
              sum(joined.values()) == total and len(joined) < len(stacks))
    return out


def check_pprof_top(path, ours, environment, flavour):
    """Totals by function, as the tool itself adds them up."""
    told = subprocess.run(["go", "tool", "pprof", "-top", "-sample_index=calls", "-unit=count",
                           "-nodefraction=0", "-edgefraction=0", "-nodecount=100000", path],
                          capture_output=True, text=True, env=environment)
    flat = collections.Counter()
    for line in told.stdout.splitlines():
        found = re.match(r"\s*(\d+)\s+[\d.]+%\s+[\d.]+%\s+\d+\s+[\d.]+%\s+(.*)$", line)
        if found:
            flat[found[2]] += int(found[1])
    expected = collections.Counter()
    for name, value in ours["calls"].items():
        expected[name] += value
    # The tool shortens names of generic functions and packages: sorted amounts say as much.
    check(f"{flavour}: go tool pprof -top has each function's calls",
          sorted((+flat).values()) == sorted((+expected).values()), told.stdout[:500] + told.stderr)


def check_callgrind_annotate(text, sums, flavour):
    """Own costs by function, event after event, as callgrind_annotate prints them."""
    events = re.search(r"Events shown:\s+(.*)", text)[1].split()
    column = events.index("Calls")
    found = collections.Counter()
    for line in text.splitlines():
        row = re.match(r"\s*((?:[\d,.]+(?:\s*\(\s*[\d.]+%\))?\s+)+)(\S+:.*)$", line)
        if row and "PROGRAM" not in line:
            values = re.findall(r"(?:^|\s)([\d,]+|\.)(?:\s*\(\s*[\d.]+%\))?(?=\s|$)", row[1])
            if len(values) == len(events) and values[column] != ".":
                found[row[2]] += int(values[column].replace(",", ""))
    expected = [value for value in sums.values() if value > 0]
    check(f"{flavour}: callgrind_annotate has each function's calls",
          sorted(v for v in found.values() if v > 0) == sorted(expected),
          (len(found), len(expected), text[:1500]))


def check_tools(folder, out, flavour):
    if shutil.which("callgrind_annotate") is None:
        skip(f"{flavour}: callgrind_annotate", "not installed")
    else:
        told = must("callgrind_annotate", "--inclusive=yes", "--threshold=100", out["callgrind"])
        check(f"{flavour}: callgrind_annotate reads it", "PROGRAM TOTALS" in told.stdout and
              not re.search(r"1\d\d\.\d\d%|[2-9]\d\d\.\d\d%", told.stdout.replace("100.0", "")),
              told.stdout[:1500] + told.stderr)
        told = must("callgrind_annotate", "--threshold=100", out["callgrind"])
        check_callgrind_annotate(told.stdout, read_callgrind(out["callgrind"])[0]["Calls"], flavour)
    if shutil.which("go") is None:
        skip(f"{flavour}: go tool pprof", "not installed")
        return
    environment = dict(os.environ, HOME=folder, PPROF_TMPDIR=folder)
    told = subprocess.run(["go", "tool", "pprof", "-raw", out["pprof"]], capture_output=True,
                          text=True, env=environment)
    values = collections.Counter()
    for line in told.stdout.split("Samples:")[-1].split("Locations")[0].splitlines()[2:]:
        found = re.match(r"\s*((?:\d+\s+)+\d+): ", line)
        if found:
            for i, value in enumerate(found[1].split()):
                values[i] += int(value)
    ours = read_pprof(out["pprof"])
    check_pprof_top(out["pprof"], ours, environment, flavour)
    check(f"{flavour}: go tool pprof finds the same sums",
          [values[i] for i in range(len(ours))] == [sum(s.values()) for s in ours.values()],
          told.stderr)


def check_usage(folder, path):
    told = must(fathom, "export", "--to=nothing", path, status=2)
    check("an unknown format names those that there are", "pprof, callgrind" in told.stderr, told.stderr)
    told = must(fathom, "export", "--to=folded", "--measure=wind", path, status=2)
    check("an unknown measure names those that there are", "calls, cpu" in told.stderr, told.stderr)
    ours = must(fathom, "export", "--to=folded", "--measure=alloc_space", "-o", "-", path).stdout
    check("measures have the names of other tools, too", ours != "" and
          must(fathom, "export", "--to=folded", "--measure=bytes", "-o", "-", path).stdout == ours, ours)
    told = must(fathom, "export", "--to=folded", "--measure=inuse_space", path, status=2)
    check("where it was not recorded the names are told", "no measure 'inuse_space', expected one of" in told.stderr,
          told.stderr)
    for options, format in (["--to=pprof", "--measure=calls"], "folded"), (["--to=callgrind", "--lines"], "folded"), \
            (["--to=folded", "--callers=2"], "callgrind"):
        told = must(fathom, "export", *options, "-o", "-", path, status=2)
        name = options[1].split("=")[0]
        check(f"{name} of another format is no option that is left aside", told.stdout == "" and
              f"{name} can only be used with --to={format}" in told.stderr, told.stderr)
    told = must(fathom, "export", "--to=lcov", path, status=1)
    check("lcov of a profile without coverage says what lacks", "--grade=coverage" in told.stderr,
          told.stderr)
    copy = os.path.join(folder, "plain.data")
    shutil.copy(path, copy)
    must(fathom, "export", "--to=pprof", copy)
    check("the file stands beside the profile", os.path.exists(os.path.join(folder, "plain.pb.gz")))
    first = must(fathom, "export", "--to=folded", "-o", "-", path)
    check("standard output", re.match(r"[^\n]+ \d+\n", first.stdout) is not None, first.stdout[:200])
    check("what the format cannot say is told", "the format holds one" in first.stderr, first.stderr)
    with open(copy, "r+b") as cut:
        cut.truncate(100)
    before = os.path.getmtime(os.path.join(folder, "plain.pb.gz"))
    told = must(fathom, "export", "--to=pprof", copy, status=1)
    check("a cut profile is an error and the older export stays",
          "plain.data: offset" in told.stderr and
          os.path.getmtime(os.path.join(folder, "plain.pb.gz")) == before, told.stderr)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for flavour, options in (("c", ["--c", "--no-coverage"]), ("mercury", ["--procs=80"])):
            path = os.path.join(folder, flavour + ".data")
            must(generate, "--nodes=4000", "--seed=9", *options, path)
            check_tools(folder, check_formats(folder, path, flavour), flavour)
        check_usage(folder, os.path.join(folder, "c.data"))
    end()


main()
