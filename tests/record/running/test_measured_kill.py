#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SIGKILL at random moments with every measure on: what the program had counted is in its profile, memory
held, waits, timed calls and all; and while it ran no sum decreased. test_measured_kill.py WATCH_RACE
TIMES."""
import json
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

HERE = pathlib.Path(__file__).resolve().parent
RACE = pathlib.Path(sys.argv[1]).resolve()


def steps_of(log, threads):
    return struct.unpack(f"{threads}Q", log.read_bytes()[:8 * threads])


def run(folder, number, threads, delay):
    """Returns what the program had counted when it was killed, and what a reader had seen before."""
    log, name = folder / f"log{number}", f"kill{number}"
    recorder = subprocess.Popen(
        [lib.FATHOM, "record", "-q", "-k", "--trace=hold", "-o", name, "--", "./measured", log,
         str(threads)],
        cwd=folder, stderr=subprocess.PIPE, text=True)

    def all_threads_count():
        if recorder.poll() is not None:
            raise RuntimeError(f"record ended: {recorder.stderr.read()}")
        return log.stat().st_size == 4096 and all(steps_of(log, threads))

    wait_until(all_threads_count, "all threads count")
    child = lib.program_of(recorder.pid, "measured")
    reader = subprocess.Popen([RACE, f"{name}.rec", "100"], cwd=folder, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
    time.sleep(delay)
    before = sum(steps_of(log, threads))
    os.kill(child, signal.SIGKILL)
    said, failed = reader.communicate(timeout=PATIENCE)
    stderr = recorder.communicate(timeout=PATIENCE)[1]
    assert recorder.returncode == -signal.SIGKILL, (recorder.returncode, stderr)
    return before, sum(steps_of(log, threads)), reader.returncode, said, failed


def timed_calls(folder, name):
    page = json.loads(lib.must([lib.FATHOM, "report", "--json", "durations", name], folder).stdout)
    rows = [row["cells"] for one in page["tables"] if one["name"] == "durations" for row in one["rows"]]
    return sum(int(cells["calls_count"]) for cells in rows)


def once(tap, folder, number, threads, delay):
    before, steps, reader, said, failed = run(folder, number, threads, delay)
    name = f"kill{number}.data"
    profile = lib.Profile(folder / name)
    calls, of = profile.calls(), profile.heap
    found = {  # and how many there are a step
        "calls of leaf": (calls["leaf"], 100), "calls of step": (calls["step"], 1),
        "blocks held": (of["hold", "live_blocks"], 1), "bytes held": (of["hold", "live_bytes"], 48),
        "allocations": (of["hold", "allocs"] + of["give_back", "allocs"], 2),
        "bytes": (of["hold", "bytes"] + of["give_back", "bytes"], 128),
        "frees": (of["give_back", "frees"], 1), "bytes freed": (of["give_back", "freed_bytes"], 80),
        "waits": (of["nap", "waits"], 1), "timed calls": (timed_calls(folder, name), 1),
    }
    # Of the step under way of each thread, none or all may be there.
    bad = {what: value for what, (value, each) in found.items()
           if not steps * each <= value <= (steps + threads) * each}
    if steps * 1000 > of["nap", "wait_ns"]:  # each nap is of a microsecond at least
        bad["nanoseconds waited"] = of["nap", "wait_ns"]
    tap.check(not bad and 0 < before <= steps,
              f"{threads} threads, killed after {delay:.3f} s and {steps} steps", (bad, before, steps))
    tap.check(reader == 0 and int(said.split()[0]) <= sum(calls.values()),
              "no sum decreased before", (reader, said, failed, sum(calls.values())))
    for file in folder.glob(f"kill{number}.*"):
        file.unlink()


def main():
    tap = lib.Tap()
    generator = random.Random(11)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        lib.must([lib.FATHOM, "cc", "--grade=deep", "-O1", "-g", HERE / "measured.c", "-o", "measured",
                  "-lpthread"], folder)
        for i in range(int(sys.argv[2])):
            once(tap, folder, i, 1 if i % 4 else 3, generator.random() * 0.1)
    return tap.done()


sys.exit(main())
