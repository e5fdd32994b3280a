#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lambdas and coroutines: those that the compiler inlines into the library's templates are recorded
there, each has its place in the source, and what it is defined in stands in its name."""
import pathlib
import shutil
import sys
import tempfile

import record_lib as lib

SOURCES = pathlib.Path(__file__).parent
# Line of each function in lambda_places.cc, by a part of its name.
PLACES = {"outer": {7, 14}, "global": {21}, "inner": {38}}
# Each is resumed once more than it has steps, and run by its first call and its destruction.
RUNS = {"count(int)": 8, "Worker::work(int)": 6}


def build(folder, compiler, flags, source, grade="deep"):
    front = [lib.FATHOM, "c++", f"--grade={grade}", compiler]
    lib.must(front + [*flags, SOURCES / source, "-o", "prog", "-lpthread"], folder)
    return [pathlib.Path(folder) / "prog"]


def is_lambda(name):
    return "lambda" in name


def in_templates(tap, compiler, folder):
    done = lib.record(build(folder, compiler, ["-O2"], "lambdas.cc"), folder)
    calls = done.profile.calls()
    for words in map(str.split, done.stdout.splitlines()):
        if words[0] == "count":
            found = sum(n for name, n in calls.items()
                        if words[1] in name and is_lambda(name) and not name.startswith("thread "))
            tap.same(found, int(words[2]), f"{compiler} -O2: calls of the lambda in {words[1]}")
    sorts = {name: n for name, n in calls.items() if "sort" in name}
    tap.check(any(is_lambda(name) for name in sorts), f"{compiler} -O2: the sort with a lambda is recorded", sorts)
    tap.same([name for name in sorts if not is_lambda(name)], [], f"{compiler} -O2: the sort of numbers is not")


def is_anonymous(name):
    return "operator()" in name or "Local::" in name


def owned(name):
    """clang's name of a lambda outside of functions does not say of which variable it is."""
    return name.replace("{lambda#1}::operator()", "global") if name.startswith("{lambda#1}") else name


def places(tap, compiler, flags, folder, grade="deep"):
    what = " ".join([compiler, *flags, grade])
    profile = lib.record(build(folder, compiler, flags, "lambda_places.cc", grade), folder).profile
    found = {name: procs for name, procs in profile.procs.items() if is_anonymous(name)}
    tap.check(found, f"{what}: lambdas are there", list(profile.procs))
    for name, procs in found.items():
        for proc in procs:
            lines = set().union(*(lines for part, lines in PLACES.items() if part in owned(name)))
            tap.check(proc["file"].endswith("lambda_places.cc") and proc["line"] in lines,
                      f"{what}: the place of {name}", f"{proc['file']}:{proc['line']}, expected one of {lines}")
    tap.same([name for name in profile.procs if name.startswith("operator()")], [],
             f"{what}: what a lambda is defined in stands in its name")


def coroutines(tap, folder):
    done = lib.record(build(folder, "g++", ["-O1", "-std=c++20", "-fcoroutines"], "coroutine.cc"), folder)
    tap.same(done.stdout, "35\n", "a coroutine: it does what it does without hooks")
    calls = done.profile.calls()
    tap.same({name: calls[f"{name} [coroutine body]"] for name in RUNS}, RUNS, "the bodies of coroutines")


def main():
    tap = lib.Tap()
    for compiler in filter(shutil.which, ("g++", "clang++")):
        with tempfile.TemporaryDirectory() as folder:
            in_templates(tap, compiler, folder)
            for flags in (["-O0"], ["-O1"], ["-O2"], ["-O0", "-g1"]):
                places(tap, compiler, flags, folder)
            places(tap, compiler, ["-O0"], folder, "coverage")
            places(tap, compiler, ["-O2"], folder, "full")
    if shutil.which("g++"):
        with tempfile.TemporaryDirectory() as folder:
            coroutines(tap, folder)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
