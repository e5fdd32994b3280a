#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""C++ operator new and delete: each form is recorded once and to the byte, with the C++ library's operators and
with those of an allocator that brings its own, linked or preloaded. The program keeps that allocator."""
import os
import pathlib
import re
import shutil
import sys
import tempfile

import record_lib as lib

HERE = pathlib.Path(__file__).resolve().parent
# How the allocator's operators get their memory.
WAYS = {"operators of its own": [], "operators that call malloc": ["-DBY_MALLOC"],
        "operators that call each other": ["-DBY_OPERATORS"]}
MEASURES = ("allocs", "frees", "bytes", "freed_bytes", "live_bytes", "live_blocks")
COUNTED = ("allocs", "frees", "requested_bytes")


def expected():
    """{function: [value of each measure]}, by the names of the program's functions."""
    found = {}
    for name, size in re.findall(r"\b(\w+?_(\d+))\(\);", (HERE / "operators.cc").read_text()):
        size = int(size)
        found[name] = [5, 4, 5 * size, 4 * size, size, 1]
    found["moved_300"] = [3, 2, 300, 12, 288, 1]
    return found


def check(tap, what, program, folder, environment):
    for heap in "on", "off":
        (folder / "out.rec").unlink(missing_ok=True)
        done = lib.run([program], folder, env={**os.environ, **environment, "FATHOM_HEAP": heap,
                                               "FATHOM_OUTPUT": "out.rec"})
        if done.returncode != 0:
            tap.check(False, f"{what}: the program runs", f"status {done.returncode}\n{done.stderr}")
            continue
        lib.must([lib.FATHOM, "finish", "-q", "out.rec"], folder)
        measured = lib.Profile(folder / "out.data").heap
        if heap == "on":
            tap.same({name: [measured[name, measure] for measure in MEASURES] for name in expected()}, expected(),
                     f"{what}: each form, byte for byte")
        else:
            tap.same({name: [measured[name, measure] for measure in COUNTED] for name in expected()},
                     {name: values[:3] for name, values in expected().items()},
                     f"{what}: each form where blocks are not remembered")


def build(folder, compiler, grade, name, *more):
    lib.must([lib.FATHOM, "c++", f"--grade={grade}", compiler, "-std=c++17", "-O1", "-fno-builtin",
              "-fsized-deallocation",
              HERE / "operators.cc", "-o", name, *more], folder)
    return folder / name


def main():
    tap = lib.Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for number, (what, flags) in enumerate(WAYS.items()):
            lib.must(["gcc", "-O1", "-fPIC", "-shared", "-fno-builtin", "-fexceptions", *flags,
                      HERE / "operators_allocator.c", "-o", f"libown{number}.so"], folder)
        for compiler, grade in ("g++", "deep"), ("g++", "full"), ("clang++", "deep"):
            if shutil.which(compiler) is None:
                tap.skip(f"programs by {compiler}", "it is not installed")
                continue
            program = build(folder, compiler, grade, f"{compiler}-{grade}")
            what = f"{compiler}, {grade}"
            check(tap, f"{what}, the C++ library's operators", program, folder, {})
            for number, way in enumerate(WAYS):
                own = folder / f"libown{number}.so"
                check(tap, f"{what}, preloaded, {way}", program, folder, {"LD_PRELOAD": str(own)})
                if grade == "deep":
                    linked = build(folder, compiler, grade, "linked", f"-L{folder}", f"-lown{number}",
                                   f"-Wl,-rpath,{folder}")
                    check(tap, f"{what}, linked, {way}", linked, folder, {})
        inside = build(folder, "g++", "deep", "inside", "-static-libstdc++")
        check(tap, "the C++ library within the program", inside, folder, {})
    return tap.done()


sys.exit(main())
