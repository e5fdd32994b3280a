#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""C++ programs of several units at the default grade, made in the ways that programs are made: they
link, behave as without hooks, and the calls are those that they count themselves.
Arguments: quick, full or all: full is every second way
for each compiler."""
import collections
import pathlib
import re
import shutil
import sys
import tempfile

import record_lib as lib

SOURCES = pathlib.Path(__file__).parent / "cplusplus_programs"
SECTIONS = ["-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"]
QUICK = [("g++", ["-O2", *SECTIONS]), ("clang++", ["-O2"]), ("g++", ["-O2", "SHARED"])]
LEVELS = [[level] for level in ("-O0", "-O1", "-O2", "-O3", "-Os", "-Og")]
WAYS = LEVELS + [["-O2", *ways] for ways in (
    SECTIONS, ["-flto", *SECTIONS], ["-static"], ["-no-pie", "-fno-pie"], ["SHARED"],
    ["SHARED", "-fvisibility-inlines-hidden"], ["-fno-plt", "-Wl,-z,now"],
    ["-fcf-protection=full", "-fstack-protector-all"])]
ONCE = [("g++", ["-O3", "-flto"]), ("g++", ["-O2", "-freorder-blocks-and-partition"]),
        ("g++", ["-O2", "-flto", "SHARED"]), ("clang++", ["-O2", "-flto=thin"]),
        ("g++", ["-O2", "-fno-inline", "-fno-asynchronous-unwind-tables"])]


def build(front, folder, flags, output):
    language = ["-w", "-std=c++20" if front[-1] == "g++" else "-std=c++17"]
    shared = "SHARED" in flags
    flags = [flag for flag in flags if flag != "SHARED"]
    link = [flag for flag in flags if flag.startswith("-Wl,")]
    compiling = [flag for flag in flags if flag not in link] + language
    pic = ["-fPIC"] if shared else []
    for unit in "one", "two":
        lib.must(front + compiling + pic + ["-c", SOURCES / f"{unit}.cc", "-o", f"{unit}.{output}.o"],
                 folder)
    second = f"two.{output}.o"
    if shared:
        lib.must(front + compiling + pic + link +
                 ["-shared", second, "-o", f"lib{output}.so", "-lpthread"], folder)
        second = f"./lib{output}.so"
    lib.must(front + compiling + link + [f"one.{output}.o", second, "-o", output, "-lpthread"],
             folder)


def build_thunks(front, folder, flags, output):
    lib.must(front + [*flags, SOURCES / "thunks.cc", "-o", output], folder)


def names_of(profile):
    """Calls by the name alone, as __func__ has it."""
    calls = collections.Counter()
    for name, n in profile.calls().items():
        if "thunk to" in name: # clang makes functions of them
            continue
        plain = re.sub(r"<.*>", "", name).partition("(")[0].rpartition("::")[2]
        calls[plain.rpartition(" ")[2]] += n
    return calls


def way(tap, compiler, flags, build=build):
    what = f"{compiler} {' '.join(flags)}" + (" of thunks" if build == build_thunks else "")
    with tempfile.TemporaryDirectory() as folder:
        build([compiler], folder, flags, "plain")
        build([lib.FATHOM, "c++", "--grade=deep", compiler], folder, flags, "prog")
        plain = lib.must(["./plain"], folder).stdout
        done = lib.record([pathlib.Path(folder) / "prog"], folder)
        tap.same(sorted(done.stdout.splitlines()), sorted(plain.splitlines()),
                 f"{what}: it does what it does without hooks")
        expected = collections.Counter()
        for words in map(str.split, plain.splitlines()):
            if words[0] == "count": # instances of a template are one name
                expected[words[1]] += int(words[2])
        calls = names_of(done.profile)
        tap.same({name: calls[name] for name in expected}, dict(expected), f"{what}: calls")
        notes = [line for line in done.stderr.splitlines() if " note: " in line]
        tap.same(notes, [], f"{what}: nothing to note")


def main():
    tap = lib.Tap()
    parts = {"quick": 0, "full": 2, "all": 1}[sys.argv[1]]
    chosen = lib.shared_out(("g++", "clang++"), WAYS, parts) + ONCE if parts else QUICK
    for compiler, flags in chosen:
        if shutil.which(compiler):
            way(tap, compiler, flags)
    for compiler in filter(shutil.which, ("g++", "clang++")):
        for flags in (["-O0"], ["-O2"], ["-O2", "-fno-pie", "-no-pie"], ["-O2", "-static"]):
            way(tap, compiler, flags, build_thunks)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
