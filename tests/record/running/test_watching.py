#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A recording is read while threads start, end and fork and the file grows: never an error, an edge
without its callee, or a sum that decreases. test_watching.py WATCH_RACE READINGS (a million take
half an hour)."""
import pathlib
import subprocess
import sys
import tempfile
import time

import record_lib as lib
from patience import PATIENCE, wait_until

HERE = pathlib.Path(__file__).resolve().parent
RACE = pathlib.Path(sys.argv[1]).resolve()
BYTES_MAX = 8 << 20  # of a recording; then another begins


def grow(folder, name):
    return subprocess.Popen([lib.FATHOM, "record", "-k", "-q", "--join=none", "-o", name, "--", "./grow"],
                            cwd=folder, stdin=subprocess.PIPE)


def race(tap, folder, number, readings):
    name = f"race{number}"
    program = grow(folder, name)
    path = pathlib.Path(folder) / f"{name}.rec"

    def has_threads():
        read = lib.run([RACE, path, 1], folder)
        assert read.returncode == 0 and int(read.stdout.split()[1]) > 1, read
        return True

    # The first of it is a header that is being written, then a graph without threads.
    wait_until(has_threads, "the recording has threads")
    read = lib.run([RACE, path, readings, BYTES_MAX], folder)
    done = rose = grown = 0
    tap.check(read.returncode == 0, "readings while it grows", read.stderr)
    if read.returncode == 0:
        _, threads, contexts, done, rose, grown = map(int, read.stdout.split())
        tap.check(contexts > 10 and threads > 1, f"{done} readings: there was a graph", read.stdout)
    program.stdin.close()
    program.wait(PATIENCE)
    last = lib.must([RACE, path, 1], folder)
    profile = lib.Profile(path.with_suffix(".data"))
    # In a profile each thread is one call more.
    tap.same(int(last.stdout.split()[0]) + int(last.stdout.split()[1]),
             sum(profile.calls().values()), "the last reading has the calls of the profile")
    for file in pathlib.Path(folder).glob(f"{name}.*"):
        file.unlink()
    return done, rose, grown


def main():
    tap = lib.Tap()
    readings = int(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        lib.must([lib.FATHOM, "cc", "--grade=deep", "-O1", "-g", HERE / "grow.c", "-o", "grow",
                  "-lpthread"], folder)
        done = rose = grew = number = 0
        until = time.monotonic() + PATIENCE
        # Others may have the processors for a while, and then many readings find the same.
        while tap.failed == 0 and (done < readings or ((rose == 0 or grew == 0) and time.monotonic() < until)):
            some, rising, growing = race(tap, folder, number, max(readings - done, 200))
            done, rose, grew, number = done + some, rose + rising, grew + growing, number + 1
        tap.check(rose > 0 and grew > 0, f"of {done} readings {rose} found more calls, {grew} more edges")
    return tap.done()


sys.exit(main())
