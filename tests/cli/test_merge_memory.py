#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Profiles that would not fit into the address space together are merged within it, into the same
bytes in any order and grouping; where memory ends is told: test_merge_memory.py FATHOM GENERATE
NO_MEMORY_LIBRARY"""
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile

COUNT = 40
LIMIT = 192 << 20  # each profile takes some 8 MiB of memory


def merge(fathom, output, inputs, limit=LIMIT):
    def restrict():
        if limit:
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    return subprocess.run([fathom, "merge", "--allow-repeats", "-o", output, *inputs],
                          preexec_fn=restrict, capture_output=True, text=True,
                          env=dict(os.environ, MALLOC_ARENA_MAX="1"))


def without_memory(fathom, no_memory, where, inputs):
    """Memory ends at some allocation, small or large: in the reading thread, or while GLib makes a
    text, which it then tries again without end."""
    failures, refused, after = 0, 0, 400
    output = where / "ended.data"
    while True:
        told = subprocess.run([fathom, "merge", "--allow-repeats", "-o", str(output), *inputs],
                              capture_output=True, text=True,
                              env=dict(os.environ, LD_PRELOAD=no_memory, NO_MEMORY_AFTER=str(after)))
        if told.returncode == 0:
            break
        if told.returncode != 1 or "memory" not in told.stderr or output.exists():
            print(f"after {after} allocations:", told.returncode, told.stderr)
            failures += 1
        refused += 1
        after += 1 + after // 20
    if refused < 20:
        print("memory ended in", refused, "places only")
        failures += 1
    return failures


def main(fathom, generate, no_memory):
    folder = tempfile.TemporaryDirectory(prefix="fathom-merge-")
    where = pathlib.Path(folder.name)
    inputs = []
    for i in range(1, 5):
        inputs.append(str(where / f"{i}.data"))
        subprocess.run([generate, "--c", "-n", "60000", "-p", "800", "--run", str(i), inputs[-1]],
                       check=True, stdout=subprocess.DEVNULL)
    one = merge(fathom, str(where / "one.data"), inputs[:1])
    if one.returncode != 0:
        print("skipped: not even one profile fits:", one.stderr[-200:])
        return 77  # a sanitizer takes more than all of it
    everything = inputs * (COUNT // len(inputs))
    told = merge(fathom, str(where / "all.data"), everything)
    failures = 0
    if told.returncode != 0:
        print("within the limit:", told.stderr)
        return 1
    mixed = everything[::-1]
    halves = [str(where / "left.data"), str(where / "right.data")]
    for half, part in zip(halves, (mixed[: COUNT // 3], mixed[COUNT // 3:])):
        told = merge(fathom, half, part)
        failures += told.returncode
    told = merge(fathom, str(where / "again.data"), halves)
    failures += told.returncode
    if (where / "all.data").read_bytes() != (where / "again.data").read_bytes():
        print("other bytes in another order and grouping")
        failures += 1
    # Too little is told, and leaves nothing behind: from what the program cannot be loaded with up.
    refused, limit = 0, 24 << 20
    while limit < LIMIT:
        small = merge(fathom, str(where / "small.data"), everything[:8], limit)
        if small.returncode == 0:
            break
        limit += 4 << 20
        if small.returncode == 127 or refused == 0 and small.returncode == -signal.SIGABRT:
            continue  # not enough for the libraries to be loaded, or to set themselves up
        refused += 1
        if small.returncode != 1 or "memory" not in small.stderr or (where / "small.data").exists():
            print(f"within {limit >> 20} MiB:", small.returncode, small.stderr)
            failures += 1
    if refused == 0:
        print("no limit was too small")
        failures += 1
    failures += without_memory(fathom, no_memory, where, inputs[:2])
    left = [name for name in where.iterdir() if ".data.tmp" in name.name]
    if left:
        print("left behind:", left)
        failures += 1
    print(f"{COUNT} profiles, {failures} failures")
    return 1 if failures else 0


sys.exit(main(*sys.argv[1:]))
