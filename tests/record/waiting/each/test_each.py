#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each call that is seen in front of libc's, by the tables rows_*.inc (each.c says what is asked of it), behaves as in
the program alone: dynamic and static, C and C++. A call without a row fails."""
import os
import pathlib
import re
import tempfile
import sys

import record_lib as lib
from patience import PATIENCE

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = [HERE / name for name in ("each.c", "resources.c", "wakes.c")]
WAYS = (
    ("gcc", [], "C"),
    ("g++", ["-x", "c++"], "C++"),
    ("gcc", ["-static"], "static C"),
)


def names_in_front():
    """What the runtime's own objects say that they stand in front of."""
    library = pathlib.Path(os.environ["FATHOM_RUNTIME"]) / "libfathom_waiting.a"
    told = lib.must(["nm", "--defined-only", library], library.parent).stdout
    return set(re.findall(r" \w fm_stub_(\w+)$", told, re.M))


def rows():
    found = []
    for path in sorted(HERE.glob("rows_*.inc")):
        found += re.findall(r"^ROW\w*\((\w+),", path.read_text(), re.M)
    return found


def told_by(folder, program):
    own = folder / f"{program}.d"
    own.mkdir()
    environment = {**os.environ, "TMPDIR": str(own), "FATHOM_OUTPUT": str(folder / f"{program}.rec")}
    done = lib.run([folder / program], own, env=environment, timeout=4 * PATIENCE)
    return [f"status {done.returncode}"] + done.stderr.splitlines() + done.stdout.splitlines()


def main():
    tap = lib.Tap()
    written, wanted = rows(), names_in_front()
    tap.check(len(wanted) > 300 and set(written) == wanted and len(written) == len(wanted),
              "each call in front of libc's has its row", sorted(wanted ^ set(written)))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        programs = []
        for number, (compiler, options, _) in enumerate(WAYS):
            words = [*options, "-O1", "-w", "-D_GNU_SOURCE", "-pthread", *SOURCES]
            if lib.run([compiler, *words, "-o", f"plain{number}"], folder).returncode != 0 and "-static" in options:
                continue
            front = [lib.FATHOM, "c++" if compiler == "g++" else "cc", compiler]
            lib.must([*front, *words, "-o", f"recorded{number}"], folder)
            programs += [f"plain{number}", f"recorded{number}"]
        told = dict(zip(programs, lib.at_once(lambda program: told_by(folder, program), programs)))
        for number, (_, _, what) in enumerate(WAYS):
            if f"plain{number}" not in told:
                tap.skip(what, "no static libc")
                continue
            plain, recorded = told[f"plain{number}"], told[f"recorded{number}"]
            seen = {line.split(" ")[0] for line in plain}
            # Of the C libraries that have them.
            silent = sorted(row for row in written if row not in seen and not row.startswith("__isoc23"))
            tap.check(plain[0] == "status 0" and not silent, f"{what}: each row has told something", silent or plain[:5])
            tap.same(dict(enumerate(recorded)), dict(enumerate(plain)), f"{what}: as the program alone")
    return tap.done()


sys.exit(main())
