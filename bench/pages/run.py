#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a reader waits for: bench/pages/run.py [BUILD [NODES]].

1. `fathom view` of a generated profile: from process start to the first page, which is not whole, and
   to the first whole one; pages asked for in between; how long the engine's steps take.
2. Its pages once it is read, one connection, random ids: median and 99 %.
3. `fathom report clique/N` from process start to the last byte, with a real profile if there is one
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
OPENINGS = 5


def milliseconds(seconds):
    return f"{seconds * 1000:8.2f}"


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))]


def ask(connection, path):
    connection.request("GET", path)
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != 200:
        raise SystemExit(f"{path}: status {answer.status}")
    return body


def measure_opening(fathom, profile):
    """Seconds to the address, to the first page, to the first whole page; times of pages between."""
    file = urllib.parse.quote(profile)
    begun = time.perf_counter()
    server = subprocess.Popen([fathom, "view", "--no-open", profile], stdout=subprocess.PIPE,
                              text=True)
    try:
        port = int(re.search(r":(\d+)/", server.stdout.readline())[1])
        address = time.perf_counter() - begun
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        body = ask(connection, f"/deep?menu&{file}")
        first = time.perf_counter() - begun
        if b'class="incomplete"' not in body:
            raise SystemExit("the first page is whole already: take a larger profile")
        times = []
        while b'class="incomplete"' in body:
            before = time.perf_counter()
            body = ask(connection, f"/deep?top_procs/1-100/callseqs/self/oa&{file}")
            times.append(time.perf_counter() - before)
            time.sleep(0.005)
        return address, first, time.perf_counter() - begun, times[:-1]
    finally:
        server.terminate()
        server.wait()


def print_opening(fathom, profile):
    rounds = [measure_opening(fathom, profile) for _ in range(OPENINGS)]
    for index, name in enumerate(("address printed", "first page", "first whole page")):
        values = [one[index] for one in rounds]
        print(f"{name:18}{statistics.median(values):10.3f} s (fastest {min(values):.3f})")
    between = [took for one in rounds for took in one[3]]
    print(f"{len(between)} pages meanwhile: median {milliseconds(statistics.median(between))} ms, "
          f"99 % {milliseconds(percentile(between, 0.99))}, "
          f"longest {milliseconds(max(between))}")


def measure_pages(fathom, profile):
    server = subprocess.Popen([fathom, "view", "--no-open", profile], stdout=subprocess.PIPE,
                              text=True)
    try:
        port = int(re.search(r":(\d+)/", server.stdout.readline())[1])
        events = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
        ask(events, f"/events?menu&{urllib.parse.quote(profile)}") # until all is known
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
        print_opening(fathom, profile)
        subprocess.run([os.path.join(build, "bench", "pages", "bench_steps"), profile], check=True)
        measure_pages(fathom, profile)
        real = os.path.join(os.environ.get("FATHOM_SAMPLE_DATA", ""), "mercury", "Deep.data")
        if os.path.exists(real):
            measure_start(fathom, real, 91)
        else:
            print("no real profile: set FATHOM_SAMPLE_DATA for the time of a whole command")


main(*sys.argv[1:])
