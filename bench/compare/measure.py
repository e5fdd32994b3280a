#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/compare/measure.py BUILD [ROUNDS [OTHER]]: CPU time (user + system), the least of the rounds, and
memory of `fathom diff` and `fathom export` with profiles of 10^6 contexts of a C program. Commands run in
turn, round after round, so that other work on the machine meets them all."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

NODES = 2_100_000  # of which 10^6 are contexts
FORMATS = ("pprof", "callgrind", "speedscope", "firefox", "folded", "otlp")

build = pathlib.Path(sys.argv[1])
rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
programs = [build / "src/cli/fathom", *sys.argv[3:4]]


def used(command):
    """CPU seconds, seconds on the clock, bytes at most."""
    begun = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"{command[1]} failed: {status}")
    return usage.ru_utime + usage.ru_stime, time.monotonic() - begun, usage.ru_maxrss * 1024


def generate(folder, run):
    path = folder / f"{run}.data"
    done = subprocess.run([build / "tests/tools/generate-profile", "--c", "-n", str(NODES), "-p", "2000",
                           "--run", str(run), path], check=True, capture_output=True, text=True)
    return path, int(re.search(r"(\d+) proc dynamics", done.stdout)[1])


with tempfile.TemporaryDirectory() as work:
    folder = pathlib.Path(work)
    (one, contexts), (other, contexts_of_other) = generate(folder, 1), generate(folder, 2)
    commands = {"diff": (["diff", one, other], contexts + contexts_of_other)}
    for form in FORMATS:
        commands[f"export {form}"] = (["export", f"--to={form}", "-o", folder / "out", one], contexts)
    found = {}
    for _ in range(rounds):
        for name, (arguments, _) in commands.items():
            for number, program in enumerate(programs):
                found.setdefault((name, number), []).append(used([program, *arguments]))
                (folder / "out").unlink(missing_ok=True)
    print(f"{contexts:,} contexts; compared with {contexts_of_other:,}; {rounds} rounds")
    print("| command | program | CPU s | s on the clock | bytes a context |")
    print("|---|---|---|---|---|")
    for (name, number), runs in found.items():
        cpu, clock, peak = (min(values) for values in zip(*runs))
        print(f"| {name} | {'this' if number == 0 else 'other'} | {cpu:.2f} | {clock:.2f} "
              f"| {peak / commands[name][1]:.0f} |")
