#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program that defines malloc itself, or has it of an archive, links and runs as it does without fathom: it calls
its own functions. Its calls are recorded; its allocations are not, and the profile says so."""
import pathlib
import shutil
import sys
import tempfile

import record_lib as lib

HERE = pathlib.Path(__file__).resolve().parent
# How it is built: (compiler, flags).
BUILDS = (("gcc", []), ("clang", []), ("gcc", ["-static"]), ("gcc", ["-fuse-ld=gold"]), ("clang", ["-fuse-ld=lld"]))
WHOLE, PARTS, OF_LIBC = [], ["-DFOUR"], ["-DTWO"]


def build(tap, folder, compiler, flags, definitions, archive):
    """(plain, recorded) programs; None if this machine cannot build the plain one."""
    source, own = HERE / "own_malloc.c", HERE / "own_malloc_functions.c"
    for name, front in ("plain", []), ("recorded", [lib.FATHOM, "cc"]):
        command = [*front, compiler, "-O1", "-fno-builtin", *flags]
        parts = [own]
        if archive:
            lib.must([*front, compiler, "-O1", "-fno-builtin", *definitions, "-c", own, "-o", "own.o"], folder)
            (folder / "libown.a").unlink(missing_ok=True)
            lib.must(["ar", "rcs", "libown.a", "own.o"], folder)
            parts = ["-L.", "-lown"]
        done = lib.run([*command, *definitions, source, *parts, "-o", name], folder)
        if done.returncode != 0 and name == "plain":
            return False
        if done.returncode != 0:
            tap.check(False, f"{compiler} {' '.join(flags)}: the program links", done.stderr)
            return False
    return True


def check(tap, what, folder):
    plain = lib.must(["./plain"], folder).stdout
    done = lib.record(["./recorded"], folder)
    tap.same(done.stdout, plain, f"{what}: its own functions are called, as often")
    calls = done.profile.calls()
    tap.same((calls["user"], calls["malloc"] >= 50), (1, True), f"{what}: its calls are recorded")
    found = {name for (_, name), value in done.profile.heap.items() if value}
    tap.same(found - {"waits", "wait_ns"}, set(), f"{what}: its allocations are not")
    page = lib.must([lib.FATHOM, "report", "memory/allocated", "out.data"], folder).stdout
    tap.check("Allocated memory was not recorded." in page, f"{what}: and that is said", page)


def main():
    tap = lib.Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for compiler, flags in BUILDS:
            if shutil.which(compiler) is None:
                tap.skip(f"programs by {compiler}", "it is not installed")
                continue
            for definitions, archive in (WHOLE, False), (WHOLE, True), (PARTS, False), (OF_LIBC, False):
                what = " ".join([compiler, *flags, *definitions, "in an archive" if archive else ""]).strip()
                if build(tap, folder, compiler, flags, definitions, archive):
                    check(tap, what, folder)
    return tap.done()


sys.exit(main())
