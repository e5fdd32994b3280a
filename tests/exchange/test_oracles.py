#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What speedscope makes of the files that `fathom export` writes: totals by function are ours, exactly. It reads
its own format, folded stacks, pprof's and Chrome's (of callgrind's it makes stacks by guesses, and leaves recursions
out). And what protoc makes of OTLP's.

Skips what is not there: node, protoc, and speedscope's npm package in the folder that FATHOM_NODE_MODULES names,
which tools/browser-packages.sh fills.

usage: test_oracles.py FATHOM GENERATE_PROFILE GENERATE_EVENTLOG"""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from dump import Dump, with_plain_names
from exchange_lib import check, end, must, skip

fathom, generate, generate_log = map(os.path.abspath, sys.argv[1:4])


def package():
    """The folder of speedscope, or why there is none."""
    modules = pathlib.Path(os.environ["FATHOM_NODE_MODULES"])
    found = modules / "speedscope"
    if not shutil.which("node"):
        return None, "there is no node"
    return (found, None) if (found / "dist").is_dir() else (None, f"there is no speedscope in {modules}: run tools/browser-packages.sh with the build folder")


def read(folder, *files):
    told = must("node", str(pathlib.Path(__file__).parent / "oracles/speedscope.mjs"), str(folder), *files)
    return json.loads(told.stdout)


def of_measure(profiles, word):
    """Sums over the threads."""
    sums = collections.Counter()
    for profile in profiles:
        if word is None or profile["name"].split(": ")[-1].split(" (")[0] == word:
            for name, own in profile["own"].items():
                sums[name] += round(own)
    return +with_plain_names(sums)


def check_profile(folder, path, flavour):
    dump = Dump(fathom, path, flavour)
    files = {}
    files["speedscope"] = os.path.join(folder, f"{flavour}.speedscope")
    must(fathom, "export", "--to=speedscope", "-o", files["speedscope"], path)
    for column in dump.rules:
        files[column] = os.path.join(folder, f"{flavour}.{column}.folded")
        must(fathom, "export", "--to=folded", "--measure", column, "-o", files[column], path)
    files["pprof"] = os.path.join(folder, f"{flavour}.pb.gz")
    must(fathom, "export", "--to=pprof", "-o", files["pprof"], path)
    told = read(package()[0], *files.values())
    for column in dump.rules:
        expected = with_plain_names(dump.own(column))
        for form, name, word in (("speedscope", "speedscope", column), ("folded", column, None)):
            found = of_measure(told[os.path.basename(files[name])], word)
            check(f"{flavour} {column}: {form}, by speedscope", found == expected and found, found - expected)
    found = of_measure(told[os.path.basename(files["pprof"])], None)
    check(f"{flavour}: pprof, by speedscope, which shows one measure of it",
          found in [with_plain_names(dump.own(column)) for column in dump.rules], found)


def own_times(slices):
    """Nanoseconds by name of one lane's slices, without those within each."""
    sums, open_slices = collections.Counter(), []
    for begin, stop, name in sorted(slices, key=lambda s: (s[0], -s[1])):
        while open_slices and open_slices[-1][0] <= begin:
            open_slices.pop()
        if open_slices:
            sums[open_slices[-1][1]] -= stop - begin
        sums[name] += stop - begin
        open_slices.append((stop, name))
    return sums


def check_trace(folder):
    log, out = os.path.join(folder, "made.eventlog"), os.path.join(folder, "made.json")
    must(generate_log, "--events=6000", "--caps=3", "--disorder=0", log)
    must(fathom, "export", "--to=chrome", "-o", out, log)
    lanes = collections.defaultdict(list)
    for event in json.loads(pathlib.Path(out).read_text())["traceEvents"]:
        if event["ph"] == "X":
            begin = round(event["ts"] * 1000)
            lanes[event["pid"], event["tid"]].append((begin, begin + round(event["dur"] * 1000), event["name"]))
    expected = {f"(pid {pid}) (tid {tid})": +own_times(slices) for (pid, tid), slices in lanes.items()}
    found = {}
    for profile in read(package()[0], out)["made.json"]:
        lane = " ".join(re.findall(r"\((?:pid|tid) \d+\)", profile["name"]))
        own = +collections.Counter({name: round(own * 1000) for name, own in profile["own"].items()})
        found[lane] = own
    wrong = [(lane, found.get(lane), sums) for lane, sums in expected.items() if found.get(lane, {}) != sums]
    check("a trace: the time of each lane by what it was, to the nanosecond, by speedscope",
          not wrong and len(expected) > 100, wrong[:3])


def parsed(lines):
    """What protoc prints of a message: {field: [values]}, a message being such a dictionary."""
    message = collections.defaultdict(list)
    for line in lines:
        line = line.strip()
        if line == "}":
            break
        if line.endswith("{"):
            message[line[:-2]].append(parsed(lines))
        else:
            name, value = line.split(": ", 1)
            message[name].append(json.loads(value) if value[0] == '"' and "\\" not in value else value)
    return message


def one(message, field):
    return int(message[field][0]) if message[field] else 0


def check_otlp(folder, path):
    """What protoc makes of the file, by the format's description in the folder of this test."""
    out = os.path.join(folder, "x.otlp")
    must(fathom, "export", "--to=otlp", "-o", out, path)
    with open(out, "rb") as file:
        told = subprocess.run(["protoc", "--decode=otlp_profiles.ProfilesData", "-I", pathlib.Path(__file__).parent / "oracles",
                               "otlp_profiles.proto"], stdin=file, capture_output=True, text=True)
    check("otlp: protoc reads it, and knows each field",
          told.returncode == 0 and not re.search(r"^\s*\d+[: ]", told.stdout, re.MULTILINE), told.stderr)
    whole = parsed(iter(told.stdout.splitlines()))
    tables = whole["dictionary"][0]
    strings = tables["strings"]
    sums = collections.defaultdict(collections.Counter)
    for profile in whole["resource_profiles"][0]["scope_profiles"][0]["profiles"]:
        column = strings[one(profile["sample_type"][0], "type")]
        for sample in profile["samples"]:
            leaf = tables["locations"][int(tables["stacks"][one(sample, "stack")]["locations"][0])]
            function = tables["functions"][one(leaf["lines"][0], "function")]
            sums[column][strings[one(function, "name")]] += one(sample, "values")
    dump = Dump(fathom, path, "c")
    for column in dump.rules:
        expected = with_plain_names(dump.own(column))
        check(f"otlp {column}, by protoc", expected and with_plain_names(sums[column]) == expected, sums[column])


def main():
    folder_of_package, why = package()
    with tempfile.TemporaryDirectory() as folder:
        for flavour, options in (("c", ["--c", "--no-coverage"]), ("mercury", ["--procs=80"])):
            path = os.path.join(folder, flavour + ".data")
            must(generate, "--nodes=4000", "--seed=9", *options, path)
            if folder_of_package:
                check_profile(folder, path, flavour)
            else:
                skip(f"{flavour}: by speedscope", why)
        if folder_of_package:
            check_trace(folder)
        else:
            skip("a trace, by speedscope", why)
        if shutil.which("protoc"):
            check_otlp(folder, os.path.join(folder, "c.data"))
        else:
            skip("otlp", "there is no protoc")
    end()


main()
