#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a reader waits for: bench/pages/run.py [BUILD [NODES]].

1. Pages of a generated profile through the HTTP door, one connection, random ids: median and 99 %.
2. `fathom report clique/N` from process start to the last byte, with a real profile if there is one
   (FATHOM_SAMPLE_DATA), interleaved with `fathom --version` as the cost of starting a process.
"""
import http.client
import json
import os
import random
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse

ROUNDS = 200
STARTS = 40


def milliseconds(seconds):
    return f"{seconds * 1000:8.2f}"


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))]


def measure_pages(fathom, profile):
    server = subprocess.Popen([fathom, "view", "--no-open", profile], stdout=subprocess.PIPE,
                              text=True)
    try:
        begun = time.monotonic()
        port = int(re.search(r":(\d+)/", server.stdout.readline())[1])
        print(f"open and analyse {time.monotonic() - begun:8.2f} s")
        facts = json.loads(subprocess.run([fathom, "report", "--json", "menu", profile],
                                          capture_output=True, check=True).stdout)["facts"]
        cliques, procs = facts["cliques"], facts["ps_count"]
        pages = {
            "menu": lambda: "menu",
            "root": lambda: "root/no",
            "clique": lambda: f"clique/{random.randint(1, cliques)}",
            "proc": lambda: f"proc/{random.randint(1, procs)}",
            "proc_callers": lambda: f"proc_callers/{random.randint(1, procs)}/pr/1/100/nc",
            "program_modules": lambda: "program_modules",
            "top_procs": lambda: "top_procs/1-100/callseqs/both/oa",
            "dump": lambda: f"dump_proc_static/{random.randint(1, procs)}",
        }
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        times = {name: [] for name in pages}
        file = urllib.parse.quote(profile)
        for _ in range(ROUNDS):
            for name, command in pages.items():
                begun = time.perf_counter()
                connection.request("GET", f"/deep?{command()}&{file}")
                answer = connection.getresponse()
                answer.read()
                times[name].append(time.perf_counter() - begun)
                if answer.status != 200:
                    raise SystemExit(f"{name}: status {answer.status}")
        print(f"{'page':18}{'median ms':>10}{'99 % ms':>10}")
        for name, values in times.items():
            print(f"{name:18}{milliseconds(statistics.median(values)):>10}"
                  f"{milliseconds(percentile(values, 0.99)):>10}")
    finally:
        server.terminate()
        server.wait()


def measure_start(fathom, profile, clique):
    """Wall and CPU time, since the machine may have other work."""
    commands = {"report": [fathom, "report", f"clique/{clique}", profile],
                "--version": [fathom, "--version"]}
    wall = {name: [] for name in commands}
    processor = {name: [] for name in commands}
    for _ in range(STARTS):
        for name, command in commands.items():
            before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
            wall[name].append(time.perf_counter() - begun)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            processor[name].append(after.ru_utime + after.ru_stime - before.ru_utime -
                                   before.ru_stime)
    print(f"{'command':18}{'median ms':>10}{'fastest':>10}{'CPU ms':>10}")
    for name in commands:
        print(f"{name:18}{milliseconds(statistics.median(wall[name])):>10}"
              f"{milliseconds(min(wall[name])):>10}"
              f"{milliseconds(statistics.median(processor[name])):>10}")


def main(build="build", nodes="10000000"):
    random.seed(1)
    fathom = os.path.join(build, "src", "cli", "fathom")
    generate = os.path.join(build, "tests", "tools", "generate-profile")
    with tempfile.TemporaryDirectory(prefix="fathom-bench-", dir=os.environ.get("TMPDIR")) as folder:
        profile = os.path.join(folder, "Deep.data")
        subprocess.run([generate, f"--nodes={nodes}", "--procs=20000", profile], check=True)
        measure_pages(fathom, profile)
        real = os.path.join(os.environ.get("FATHOM_SAMPLE_DATA", ""), "mercury", "Deep.data")
        if os.path.exists(real):
            measure_start(fathom, real, 91)
        else:
            print("no real profile: set FATHOM_SAMPLE_DATA for the time of a whole command")


main(*sys.argv[1:])
