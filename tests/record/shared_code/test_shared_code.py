#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Code that optimisers share among inlined bodies: hooks hoisted out of two branches, calls at the
ends of several bodies made one. At --grade=full, and coverage where that counts inlined bodies, every
call stands in the context that it has without optimisation, and no line has more calls than it made."""
import collections
import pathlib
import shutil
import sys
import tempfile

import record_lib as lib

SOURCE = pathlib.Path(__file__).parent / "shared_code.c"
LEVELS = ["-O1", "-O2", "-O3", "-Os"]
CPLUSPLUS = {"gcc": "g++", "clang": "clang++"}


def record(folder, compiler, cplusplus, grade, flags):
    folder = pathlib.Path(folder)
    source = folder / ("shared_code.cc" if cplusplus else "shared_code.c")
    shutil.copy(SOURCE, source)
    lib.must([lib.FATHOM, "c++" if cplusplus else "cc", f"--grade={grade}",
              CPLUSPLUS[compiler] if cplusplus else compiler, *flags, source, "-o", "prog"], folder)
    done = lib.record([folder / "prog"], folder)
    done.checked = lib.must([lib.FATHOM, "check", "out.data"], folder).stdout
    return done


def name(function):
    """Without the parameters, which C++ shows."""
    return function.partition("(")[0]


def contexts(profile):
    return {"/".join(name(step) for step in path.split("/")): calls
            for path, calls in profile.contexts.items() if calls}


def places(profile):
    """Calls by (caller, line, callee), of those whose line is known."""
    found = collections.Counter()
    for (caller, line, callee), calls in profile.at.items():
        if line != 0:
            found[name(caller), line, name(callee)] += calls
    return found


def alike(tap, compiler, cplusplus, grade, flags, expected):
    what = f"{CPLUSPLUS[compiler] if cplusplus else compiler} {grade} {' '.join(flags)}"
    with tempfile.TemporaryDirectory() as folder:
        done = record(folder, compiler, cplusplus, grade, flags)
    tap.same(contexts(done.profile), contexts(expected), f"{what}: contexts")
    true = places(expected)
    tap.same({place: calls for place, calls in places(done.profile).items() if calls > true[place]}, {},
             f"{what}: no line has calls of others")
    tap.check(" 0 broken" in done.checked and "contexts are not known" not in done.stderr,
              f"{what}: the profile is sound", done.checked + done.stderr)
    tap.check("calls of inlined bodies are not recorded" not in done.stderr + done.checked,
              f"{what}: no body is left uncounted", done.stderr)


def merged(tap, cplusplus, level, expected):
    """Objects in which hooks were made one: hooks of two calls of one function have lost their line
    alone, so each call of it stands in its context."""
    compiler = CPLUSPLUS["clang"] if cplusplus else "clang"
    what = f"{compiler} {level}, hooks made one"
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        source = folder / ("shared_code.cc" if cplusplus else "shared_code.c")
        shutil.copy(SOURCE, source)
        lib.must([compiler, level, "-g", "-finstrument-functions", "-fno-omit-frame-pointer",
                  "-fno-optimize-sibling-calls", "-c", source, "-o", "prog.o"], folder)
        lib.must([lib.FATHOM, "c++" if cplusplus else "cc", "--grade=full", compiler, "prog.o", "-o",
                  "prog"], folder)
        done = lib.record([folder / "prog"], folder)
        checked = lib.must([lib.FATHOM, "check", "out.data"], folder).stdout
    # Which of two functions was entered by one hook is not to be known.
    chosen = "/main thread/main/choose/"
    tap.same(*({path: calls for path, calls in contexts(profile).items() if not path.startswith(chosen)}
               for profile in (done.profile, expected)), f"{what}: contexts")
    true, found = places(expected), places(done.profile)
    tap.same({place: calls for place, calls in found.items()
              if calls > true[place] and place[0] in ("load", "constant", "put_wide", "put_extra")}, {},
             f"{what}: no line has calls of others")
    line = 1 + next(i for i, text in enumerate(SOURCE.read_text().splitlines()) if "put_wide(o, 3" in text)
    place = "constant", line, "put_wide"
    tap.check(found[place] < true[place], f"{what}: the compiler did make them one", found)
    tap.check(" 0 broken" in checked, f"{what}: the profile is sound", checked)


def gcc14(tap):
    """Made by gcc 14, whose debug information has hooks of inlined bodies outside of these."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        lib.must([lib.FATHOM, "cc", "--grade=full", "gcc", SOURCE.parent / "gcc14.s", "-o", "prog"], folder)
        done = lib.record([folder / "prog"], folder)
    small, large, other = [line for line, text in enumerate((SOURCE.parent / "gcc14.c").read_text().splitlines(), 1)
                           if "return wide(" in text]
    tap.same({place: calls for place, calls in places(done.profile).items() if place[2] == "wide"},
             {("constant", small, "wide"): 10, ("constant", large, "wide"): 20, ("main", other, "wide"): 1}, "gcc 14: each call of an inlined body has its line")
    tap.same({path.partition("/main/")[2]: calls for path, calls in contexts(done.profile).items() if "/main/" in path},
             {"constant": 30, "constant/wide": 30, "constant/wide/put": 60, "wide": 1, "wide/put": 2},
             "gcc 14: contexts")


def gcc10(tap):
    """gcc before 11 puts the nop for a hook in front of the function's begin."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        lib.must([lib.FATHOM, "cc", "--grade=deep", "gcc", SOURCE.parent / "gcc10.s", "-o", "prog"], folder)
        done = lib.record([folder / "prog"], folder)
    below = "/main thread/"
    tap.same({path.partition(below)[2]: calls for path, calls in contexts(done.profile).items() if below in path},
             {"main": 1, "main/work": 1, "main/work/leaf": 10}, "gcc 10: contexts")
    procs = {proc: pathlib.Path(found[0]["file"]).name for proc, found in done.profile.procs.items() if proc != "main thread"}
    tap.same({proc: procs.get(proc) for proc in ("main", "work", "leaf")}, dict.fromkeys(("main", "work", "leaf"), "gcc10.c"),
             "gcc 10: functions with hooks are those of the debug information")
    tap.check("without hooks" not in done.stderr, "gcc 10: its source has hooks", done.stderr)


def repeated(tap):
    """LLVM refuses an option that comes twice."""
    with tempfile.TemporaryDirectory() as folder:
        done = lib.run([lib.FATHOM, "cc", "--grade=full", "clang", "-mllvm", "-enable-tail-merge=true", "-c",
                        SOURCE, "-o", "prog.o"], folder)
        shown = lib.must([lib.FATHOM, "cc", "--show", "--grade=full", "clang", "-mllvm",
                          "-enable-tail-merge=true", "-c", SOURCE, "-o", "prog.o"], folder).stdout
    tap.check(done.returncode == 0, "clang: an option of LLVM's that the user gives stays alone", done.stderr)
    tap.same((shown.count("-enable-tail-merge"), shown.count("-simplifycfg-sink-common=false")), (1, 1),
             "and the others are given")


def main():
    tap = lib.Tap()
    for compiler in filter(shutil.which, CPLUSPLUS):
        for cplusplus in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                expected = record(folder, compiler, cplusplus, "full", ["-O0"]).profile
            for level in LEVELS:
                alike(tap, compiler, cplusplus, "full", [level], expected)
            if compiler == "clang":
                alike(tap, compiler, cplusplus, "coverage", ["-O2"], expected)
                alike(tap, compiler, cplusplus, "full", ["-O2", "-flto"], expected)
                merged(tap, cplusplus, "-O1", expected)
    if shutil.which("clang"):
        repeated(tap)
    if shutil.which("gcc"):
        gcc14(tap)
        gcc10(tap)
    return tap.done()


sys.exit(main())
