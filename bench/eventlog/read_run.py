#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reading event logs: read_run.py [BUILD [EVENTS]]. Makes a log of 8 capabilities, then takes
turns between counting a file, counting a pipe, one call an event, and the merge by time;
prints the median rate of each, by CPU time, and the greatest memory."""
import os
import statistics
import subprocess
import sys
import tempfile

BUILD = sys.argv[1] if len(sys.argv) > 1 else "build"
EVENTS = int(sys.argv[2]) if len(sys.argv) > 2 else 20_000_000
ROUNDS = 5
BENCH = f"{BUILD}/bench/eventlog/read_bench"


def take(command):
    words = subprocess.run(command, shell=True, check=True, capture_output=True,
                           text=True).stdout.split()
    return {words[i]: float(words[i + 1]) for i in range(0, len(words), 2)}


with tempfile.TemporaryDirectory() as folder:
    log = os.path.join(folder, "big.eventlog")
    subprocess.run([f"{BUILD}/tests/tools/generate-eventlog", "--events", str(EVENTS), "--caps",
                    "8", log], check=True)
    size = os.path.getsize(log)
    print(f"{EVENTS} events, {size / 1e6:.0f} MB, 8 capabilities, median of {ROUNDS} rounds")
    ways = {
        "count, file": f"{BENCH} count {log}",
        "count, pipe": f"cat {log} | {BENCH} count -",
        "one call an event": f"{BENCH} items {log}",
        "merge by time": f"{BENCH} merge {log}",
    }
    taken = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, command in ways.items():
            taken[name].append(take(command))
    for name, rounds in taken.items():
        assert all(r["events"] == EVENTS for r in rounds)
        cpu = statistics.median(r.get("merge_cpu_s", r["cpu_s"]) for r in rounds)
        wall = statistics.median(r["wall_s"] for r in rounds)
        peak = max(r["peak_kb"] for r in rounds)
        more = ""
        if "merge_bytes" in rounds[0]:
            more = f", windows {max(r['merge_bytes'] for r in rounds) / 1e6:.1f} MB"
        print(f"{name:20} {EVENTS / cpu / 1e6:6.0f} M events/s of CPU, {EVENTS / wall / 1e6:6.0f} "
              f"M/s of wall, {peak / 1024:.1f} MB of memory{more}")
