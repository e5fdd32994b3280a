#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names: what a program and its plugins find by theirs is what they find without fathom, and makefiles that look for
calls of exit and abort in libraries find none of ours."""
import pathlib
import re
import shutil
import sys
import tempfile

import record_lib as lib

HERE = pathlib.Path(__file__).resolve().parent
LIBRARY = r"""
static int twice(int x) { return x * 2; }
__attribute__((noinline)) int once(int x) { return twice(x) + 1; }
int both(int (*f)(int), int x) { int y = x; for (int i = 0; i < 3; i++) y += f(once(y)); return y; }
"""
GRADES = "deep", "full", "coverage"
FORBIDDEN = re.compile(r"exit|abort", re.IGNORECASE)


def compilers(tap, *names):
    for name in names:
        if shutil.which(name) is None:
            tap.skip(f"programs by {name}", "it is not installed")
        else:
            yield name


def undefined(path, folder):
    return {line.split()[-1] for line in lib.must(["nm", "-u", path], folder).stdout.splitlines() if line.strip()}


def check_undefined(tap, folder):
    """As PostgreSQL's makefile asks of libpq."""
    (folder / "library.c").write_text(LIBRARY)
    for compiler in compilers(tap, "gcc", "clang"):
        lib.must([compiler, "-O2", "-fPIC", "-shared", "library.c", "-o", "plain.so"], folder)
        for grade in GRADES:
            lib.must([lib.FATHOM, "cc", f"--grade={grade}", compiler, "-O2", "-fPIC", "-shared", "library.c",
                      "-o", "library.so"], folder)
            more = undefined("library.so", folder) - undefined("plain.so", folder)
            tap.check(any(name.startswith("fm_") for name in more), f"{compiler} {grade}: the library has hooks",
                      str(more))
            tap.same({name for name in more if FORBIDDEN.search(name)}, set(),
                     f"{compiler} {grade}: no name that it needs tells of an end")


def check_plugins(tap, folder):
    lib.must(["g++", "-O1", "-fPIC", "-shared", HERE / "plugin.cc", "-o", "plain.so"], folder)
    lib.must([lib.FATHOM, "c++", "--grade=full", "g++", "-O1", "-fPIC", "-shared", HERE / "plugin.cc",
              "-o", "instrumented.so"], folder)
    for compiler in compilers(tap, "gcc", "clang"):
        for flags in [], ["-rdynamic"]:
            what = " ".join([compiler, *flags])
            lib.must([compiler, "-O1", *flags, HERE / "host.c", "-o", "plain"], folder)
            lib.must([lib.FATHOM, "cc", compiler, "-O1", *flags, HERE / "host.c", "-o", "recorded"], folder)
            for plugin in "./plain.so", "./instrumented.so":
                plain = lib.must(["./plain", "./plain.so"], folder).stdout
                done = lib.record(["./recorded", plugin], folder)
                tap.same(done.stdout, plain, f"{what}, {plugin}: it finds the same functions")
                tap.same(done.profile.calls()["main"], 1, f"{what}, {plugin}: it is recorded")


def check_own(tap, folder):
    own = HERE / "own_names_functions.c"
    for compiler in compilers(tap, "gcc", "clang"):
        for flags in [], ["-static"], ["-fPIE", "-pie", "-rdynamic"]:
            for archive in False, True:
                what = " ".join([compiler, *flags, "of an archive" if archive else ""]).strip()
                for name, front in ("plain", []), ("recorded", [lib.FATHOM, "cc"]):
                    command = [*front, compiler, "-O1", *flags]
                    part = own
                    if archive:
                        lib.must([*command, "-c", own, "-o", "own.o"], folder)
                        (folder / "libown.a").unlink(missing_ok=True)
                        lib.must(["ar", "rcs", "libown.a", "own.o"], folder)
                        part = "libown.a"
                    done = lib.run([*command, HERE / "own_names.c", part, "-o", name], folder)
                    tap.same((done.returncode, done.stderr), (0, ""), f"{what}: {name} links")
                done = lib.record(["./recorded"], folder)
                tap.same(done.stdout, lib.must(["./plain"], folder).stdout, f"{what}: its own functions are called")
                tap.same(done.profile.calls()["execvp"], 1, f"{what}: and recorded")


def main():
    tap = lib.Tap()
    for check in check_undefined, check_plugins, check_own:
        with tempfile.TemporaryDirectory() as name:
            check(tap, pathlib.Path(name))
    return tap.done()


sys.exit(main())
