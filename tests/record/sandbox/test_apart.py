#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processes that the run's environment, or the right to create its files, does not reach: their recordings are found,
or the summary counts them. Cases of apart.c."""
import errno
import os
import pathlib
import re
import sys
import tempfile

import record_lib as lib
from patience import PATIENCE

HERE = pathlib.Path(__file__).resolve().parent
JOBS = 1000
KEPT_BYTES = 5000


def record(folder, *words, status=0):
    done = lib.run([lib.FATHOM, "record", "-o", "out", "--", *words], folder, timeout=2 * PATIENCE,
                   env={**os.environ, "FATHOM_CACHE": "off"})
    assert done.returncode == status, f"status {done.returncode}\n{done.stderr}"
    return done


def jobs_of(path):
    return lib.Profile(path).calls()["job"]


def lost_children(tap, folder, case):
    """Five children and one of their children; what they freed is no business of their parent's."""
    plain = lib.run([folder / "plain", case], folder)
    if (folder / "empty").exists():
        (folder / "empty").rmdir()
    done = record(folder, folder / "prog", case)
    tap.same((done.stdout, plain.returncode), (plain.stdout, 0), f"{case}: as the program alone")
    tap.check("6 processes that the program forked are not recorded" in done.stderr,
              f"{case}: the summary counts them", done.stderr)
    tap.check("cannot create" not in done.stderr, f"{case}: they say nothing themselves", done.stderr)
    tap.same(jobs_of(folder / "out.data"), JOBS, f"{case}: their parent is recorded on")
    heap = {name: value for (function, name), value in lib.Profile(folder / "out.data").heap.items()
            if function == "children"}
    tap.check(heap["live_bytes"] == heap["bytes"] >= KEPT_BYTES, f"{case}: their parent still holds its blocks", heap)


def without_environment(tap, folder):
    lib.must([folder / "prog"], folder, env={key: value for key, value in os.environ.items() if key != "FATHOM_OUTPUT"})
    older = sorted(path.name for path in folder.glob("Deep.*.rec"))
    tap.same(len(older), 1, "a program by itself writes Deep.PID.N.rec")
    for what, words in (("env", ["env", "-i", folder / "prog"]),
                        ("a shell", ["sh", "-c", f"env -i {folder}/prog; true"])):
        (folder / "out.data").unlink(missing_ok=True)
        done = record(folder, *words)
        tap.check("taken into the run" in done.stderr, f"{what}: the summary says where it was", done.stderr)
        tap.same(jobs_of(folder / "out.data"), JOBS, f"{what}: the recording without environment is found")
        tap.same(sorted(path.name for path in folder.glob("*.rec")), older, f"{what}: an older one stays")
    lib.must(["gcc", "-static", "-D_GNU_SOURCE", "-x", "c", "-o", "launch", "-"], folder,
             input="#include <stdlib.h>\nint main(int n, char **w) { return n > 1 && system(w[1]) != 0; }")
    done = record(folder, "./launch", f"sh -c 'env -i {folder}/prog; true'; true")
    others = sorted({path.name for path in folder.glob("*.rec")} - set(older))
    named = re.search(r"`fathom finish (\S+)` makes the profile\n", done.stderr)
    tap.check(len(others) == 1 and named and named[1] == str(folder / others[0]),
              "one of whom it is not known: it is named", f"{others}\n{done.stderr}")
    tap.check("not built with" not in done.stderr, "nobody is told that there is nothing to record", done.stderr)


def refused_calls(tap, folder):
    """System calls that container runtimes refuse; the file grows without fallocate."""
    for error in (errno.EPERM, errno.ENOSYS):
        done = lib.run([folder / "denied", str(error), "fallocate", lib.FATHOM, "record", "-o", "out", "--", folder / "prog"],
                       folder, timeout=2 * PATIENCE)
        if done.returncode == 77:
            tap.skip("calls that are refused", "there is no seccomp here")
            return
        tap.same((done.returncode, jobs_of(folder / "out.data")), (0, JOBS), f"fallocate with error {error}: recorded")
        (folder / "out.data").unlink()
    done = lib.run([folder / "denied", str(errno.EPERM), "timer_create", lib.FATHOM, "record", "-o", "out", "--",
                    folder / "prog"], folder, timeout=2 * PATIENCE)
    tap.same((done.returncode, jobs_of(folder / "out.data")), (0, JOBS), "without timers calls are recorded")
    tap.check("no timer of CPU time" in done.stderr, "and the summary says why there are no samples", done.stderr)
    page = lib.must([lib.FATHOM, "report", "menu", "out.data"], folder).stdout
    tap.check("was not sampled" in page and "0 samples" not in page, "and so does the first page", page)


def main():
    tap = lib.Tap()
    lib.need("gcc")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        words = ["gcc", "-O1", "-w", "-D_GNU_SOURCE", HERE / "apart.c", "-o"]
        lib.must([*words, "plain"], folder)
        lib.must([lib.FATHOM, "cc", *words, "prog"], folder)
        lost_children(tap, folder, "descriptors")
        if os.geteuid() == 0:
            lost_children(tap, folder, "root")
        without_environment(tap, folder)
        lib.must(["gcc", "-O1", "-o", "denied", HERE / "denied.c"], folder)
        refused_calls(tap, folder)
    return tap.done()


sys.exit(main())
