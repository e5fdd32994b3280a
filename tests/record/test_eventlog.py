#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program built with `fathom cc` and nothing else uses the live event log and is recorded at the
same time: NAME.data and NAME.eventlog stand side by side, also those of a child."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import record_lib as lib


def stat(log):
    lib.must([lib.FATHOM, "log", "validate", log], log.parent)
    return json.loads(lib.must([lib.FATHOM, "log", "stat", "--json", log], log.parent).stdout)


def recorded(tap, compiler, options):
    what = " ".join([compiler, *options])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        lib.must([lib.FATHOM, "cc", *options, compiler, "-O2", lib.PROGRAMS / "events.c", "-o",
                  "prog"], folder)
        done = lib.must([lib.FATHOM, "record", "--join=none", "-o", "both", "--", "./prog", "fork"], folder)
        done.profile = lib.Profile(pathlib.Path(folder) / "both.data")
        tap.same(done.stdout.strip(), str(folder / "both"), f"{what}: the recording's name")
        calls = done.profile.calls()
        tap.same(calls["square"], 5000, f"{what}: calls are recorded")
        tap.check(not [p for p in done.profile.procs if p.startswith("fm_eventlog")],
                  f"{what}: the log's own functions are not", done.profile.procs.keys())
        got = stat(folder / "both.eventlog")
        tap.same((got["types"]["Counter"], got["types"]["SpanBegin"], got["types"]["SpanEnd"]),
                 (5000, 1, 1), f"{what}: events stand beside it")
        children = sorted(folder.glob("both.*.eventlog"))
        tap.same(len(children), 1, f"{what}: one log of a child")
        tap.check(children[0].with_suffix(".data").exists(),
                  f"{what}: beside the child's profile", list(folder.iterdir()))
        tap.same(stat(children[0])["types"]["Counter"], 300, f"{what}: the child's events")


def unrecorded(tap):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        runtime = pathlib.Path(os.environ["FATHOM_RUNTIME"])
        lib.must(["gcc", "-O2", "-I", runtime.parent / "include", lib.PROGRAMS / "events.c", "-o",
                  "plain", runtime / "eventlog" / "libfathom-eventlog.a", "-pthread"], folder)
        lib.must(["./plain"], folder)
        tap.same(stat(folder / "plain.eventlog")["types"]["Counter"], 5000,
                 "without fathom cc: PROGRAM.eventlog in the working folder")


def shared(tap):
    """The library logs, the program does not know of it."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        source = (lib.PROGRAMS / "events.c").read_text().replace("int main(", "int run(")
        (folder / "logs.c").write_text(source)
        (folder / "main.c").write_text("int run(int, char **);\n"
                                       "int main(int n, char **v) { return run(n, v); }\n")
        lib.must([lib.FATHOM, "cc", "-shared", "-fPIC", "logs.c", "-o", "liblogs.so"], folder)
        lib.must([lib.FATHOM, "cc", "main.c", "-L.", "-llogs", "-Wl,-rpath,.", "-o", "prog"], folder)
        done = lib.record(["./prog"], folder, name="shared")
        tap.same(done.profile.calls()["square"], 5000, "shared library: calls are recorded")
        tap.same(stat(folder / "shared.eventlog")["types"]["Counter"], 5000,
                 "shared library: events stand beside it")


def main():
    lib.need("gcc")
    tap = lib.Tap()
    recorded(tap, "gcc", [])
    recorded(tap, "gcc", ["--grade=full"])
    if shutil.which("clang"):
        recorded(tap, "clang", [])
    unrecorded(tap)
    shared(tap)
    return tap.done()


sys.exit(main())
