#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the figures of loading profiles: bench/deep/measure.py BUILD [ROUNDS].

Programs that are compared run in turn, round after round, and the least CPU time (user + system) of
each is taken: other work on the machine can only add to it, by taking caches and memory bandwidth."""
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

build = pathlib.Path(sys.argv[1])
rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 7


def generate(folder, nodes, procs):
    path = pathlib.Path(folder) / f"{nodes}.data"
    subprocess.run([build / "tests/tools/generate-profile", "-n", str(nodes), "-p", str(procs), path],
                   check=True, stdout=subprocess.DEVNULL)
    path.read_bytes()  # into the page cache
    return path


def load(path, *arguments):
    done = subprocess.run([build / "bench/deep/bench_load", path, *arguments], check=True,
                          capture_output=True)
    return json.loads(done.stdout)


def cpu_of(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def median(values):
    return statistics.median(values)


def loading(folder):
    # As many procedures for each node at all sizes, so that only the size differs.
    print("load and start-up analysis (CPU time, best of", rounds, "rounds)")
    print("| dynamic nodes | file MB | read s | MB/s | read + analysis s | nodes/s | ns/node "
          "| peak bytes/node |")
    print("|---|---|---|---|---|---|---|---|")
    files = {nodes: generate(folder, nodes, max(200, nodes // 500))
             for nodes in (10**5, 10**6, 10**7)}
    runs = {nodes: [] for nodes in files}
    for _ in range(rounds):
        for nodes, path in files.items():
            for _ in range(5 if nodes == 10**5 else 1):
                runs[nodes].append(load(path))
    each = {}
    for nodes, found in runs.items():
        read = min(run["read_s"] for run in found)
        everything = min(run["all_s"] for run in found)
        count, size = found[0]["nodes"], found[0]["bytes"]
        each[nodes] = everything / count
        peak = median([run["peak_bytes"] for run in found])
        print(f"| {count:,} | {size / 1e6:.1f} | {read:.3f} | {size / 1e6 / read:.0f} "
              f"| {everything:.3f} | {count / everything:,.0f} | {each[nodes] * 1e9:.0f} "
              f"| {peak / count:.0f} |")
    print(f"time per node at 10^7 / at 10^5: {each[10**7] / each[10**5]:.2f}")
    return files[10**7]


def against_md5sum(path):
    size = path.stat().st_size
    reads, sums = [], []
    for _ in range(rounds):
        reads.append(load(path, "read")["read_s"])
        sums.append(cpu_of(["md5sum", path]))
    ratios = [md5 / read for md5, read in zip(sums, reads)]
    print(f"reading alone: {size / 1e6 / min(reads):.0f} MB/s; md5sum: "
          f"{size / 1e6 / min(sums):.0f} MB/s; speed of reading / of md5sum: "
          f"{min(sums) / min(reads):.2f}; pair by pair: median {median(ratios):.2f}, "
          f"from {min(ratios):.2f} to {max(ratios):.2f}")


def clique_page():
    sample = os.environ.get("FATHOM_SAMPLE_DATA")
    path = pathlib.Path(sample or "", "mercury", "Deep.data")
    if not sample or not path.is_file():
        print("clique page of the real profile: skipped, no mercury/Deep.data in "
              "FATHOM_SAMPLE_DATA")
        return
    probe = subprocess.run([build / "src/cli/fathom", "report", "--text", "clique/112", path],
                           capture_output=True)
    if probe.returncode != 0:
        print("clique page of the real profile: skipped:", probe.stderr.decode().strip())
        return
    times = []
    for _ in range(20):
        start = time.monotonic()
        subprocess.run([build / "src/cli/fathom", "report", "--text", "clique/112", path], check=True,
                       stdout=subprocess.DEVNULL)
        times.append((time.monotonic() - start) * 1e3)
    print(f"real profile, process start to printed clique page: median {median(times):.0f} ms, "
          f"slowest {max(times):.0f} ms")


with tempfile.TemporaryDirectory() as work:
    against_md5sum(loading(work))
clique_page()
