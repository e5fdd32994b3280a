#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SIGKILL at random moments: the profile has what the program itself had counted. Arguments: how
many times, and at which grade (full)."""
import os
import pathlib
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time

import record_lib as lib
from patience import PATIENCE, wait_until


def once(tap, command, folder, threads, delay, number, grade):
    log, base = pathlib.Path(folder) / f"log{number}", f"kill{number}"
    recorder = subprocess.Popen([lib.FATHOM, "record", "-q", "-o", base, "--"] + command +
                                [log, str(threads)], cwd=folder, stderr=subprocess.PIPE, text=True)

    def all_threads_count():
        if recorder.poll() is not None:
            raise RuntimeError(f"record ended: {recorder.stderr.read()}")
        return log.stat().st_size == 4096 and all(struct.unpack(f"{threads}Q", log.read_bytes()[:8 * threads]))

    wait_until(all_threads_count, "all threads count")
    time.sleep(delay)
    os.kill(lib.program_of(recorder.pid, "prog"), signal.SIGKILL)
    stderr = recorder.communicate(timeout=PATIENCE)[1]
    steps = sum(struct.unpack(f"{threads}Q", log.read_bytes()[:8 * threads]))
    profile = lib.Profile(pathlib.Path(folder) / f"{base}.data")
    calls = profile.calls()
    # Between the last call of a step and its note, and in the step under way, lie at most 1000
    # further calls a thread.
    ok = (recorder.returncode == -signal.SIGKILL and
          steps * 1000 <= calls["leaf"] <= (steps + threads) * 1000 and
          steps <= calls["step"] <= steps + threads and calls["work"] == threads and
          profile.edges["step", "leaf"] == calls["leaf"] and
          profile.edges["work", "step"] == calls["step"])
    ok = ok and (profile.excps["step"] <= threads and
                 profile.exits["work"] == 0 and profile.excps["work"] == threads)
    tap.check(ok, f"{grade}: {threads} threads, killed after {delay:.3f} s and {steps} steps",
              f"status {recorder.returncode} calls {dict(calls)} excps {dict(profile.excps)} "
              f"{stderr}")


def main():
    tap = lib.Tap()
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    grade = sys.argv[2] if len(sys.argv) > 2 else "full"
    # The other grades count what is left after inlining.
    flags = ["-O2"] if grade == "full" else ["-O2", "-fno-inline"]
    generator = random.Random(20)
    lib.CASES["logging.c"] = []
    with tempfile.TemporaryDirectory() as folder:
        command = lib.build("logging.c", folder, "gcc", flags, grade=grade)
        for i in range(rounds):
            once(tap, command, folder, 1 if i % 4 else 3, generator.random() * 0.05, i,
                 grade)
    return tap.done()


sys.exit(main())
