#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What recording costs: CPU time of recorded programs over that of the same programs plain, beside
gprof, uftrace and callgrind; allocation counts; two threads; the recording file; finishing.

usage: overhead.py FATHOM FOLDER [--tools LIST] [--programs LIST] [--parts LIST] [--rounds N]
  LISTs are separated by commas. tools: deep, slots, full, stopped, coverage, clang-deep,
  clang-coverage, gprof, uftrace, callgrind (default: all that are there).
  programs: fib, chain, threads, lua, bzip2, sqlite, fib-inlined; zstd, jq, tcc, redis, ninja,
  re2, leveldb; zopfli, mawk, tidy, duktape, which nothing was tuned for. parts: speed, heap, threads,
  switches, memory, finish; waiting and held, which are in no run unless asked for.

Each figure is the median of N (default 5, slow tools 3) ratios; the plain program and the tool take
turns. CPU time is user + system time of the program and all that it waited for."""
import argparse
import math
import os
import pathlib
import shutil
import statistics
import sys
import time

import packaged as packaging
import waiting
from programs_built import REAL, ROOT, SIX, Programs, must

sys.path.insert(0, str(ROOT / "tests" / "record"))
from runtime_rec import Rec  # noqa: E402

# name: compiler, flags, grade, scale of the work, environment, words before the command
TOOLS = {
    "deep": ("gcc", [], "deep", 1.0, {}, []),
    "slots": ("gcc", ["--hooks=slots"], "deep", 1.0, {}, []),
    "full": ("gcc", [], "full", 1.0, {}, []),
    "stopped": ("gcc", [], "deep", 1.0, {"FATHOM_RECORDING": "off"}, []),
    "coverage": ("gcc", [], "coverage", 1.0, {}, []),
    "clang-deep": ("clang", [], "deep", 1.0, {}, []),
    "clang-coverage": ("clang", [], "coverage", 1.0, {}, []),
    "gprof": ("gcc", ["-pg"], None, 1.0, {}, []),
    "uftrace": ("gcc", ["-pg"], None, 0.2, {},
                ["uftrace", "record", "--no-libcall", "--no-pager", "-d", "uftrace.data"]),
    "callgrind": ("gcc", [], None, 0.2, {},
                  ["valgrind", "--tool=callgrind", "-q", "--callgrind-out-file=callgrind.out"]),
}
SLOW = ("uftrace", "callgrind")


class Bench:
    def __init__(self, fathom, folder, rounds, programs):
        packaged = [program for program in programs if program in packaging.NAMES]
        self.programs, self.rounds = Programs(fathom, folder, packaged), rounds
        self.folder, self.fathom = self.programs.folder, self.programs.fathom
        self.recording = self.folder / "bench.rec"

    def executable(self, tool, program, interpose=True):
        compiler, flags, grade, _, _, _ = TOOLS[tool]
        if tool == "callgrind":
            return self.plain(tool, program)
        variant = {"stopped": "deep", "uftrace": "gprof"}.get(tool, tool)
        return self.programs.build(variant + ("" if interpose else "-bare"), compiler, flags,
                                   program, grade, interpose)

    def plain(self, tool, program):
        compiler = TOOLS[tool][0]
        return self.programs.build("plain-" + compiler, compiler, [], program)

    def run(self, command, environment, output):
        """CPU and wall seconds of one run; its standard output goes to the file output."""
        for old in self.folder.glob("bench*.rec"):
            old.unlink()
        shutil.rmtree(self.folder / "uftrace.data", ignore_errors=True)
        begun = time.monotonic()
        pid = os.fork()
        if pid == 0:
            os.chdir(self.folder)
            file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
            os.dup2(file, 1)
            command = [str(word) for word in command]
            os.execvpe(command[0], command, {**os.environ, "FATHOM_OUTPUT": str(self.recording),
                                             **environment})
        _, status, usage = os.wait4(pid, 0)
        if status != 0:
            raise SystemExit(f"{command}: status {status}")
        return usage.ru_utime + usage.ru_stime, time.monotonic() - begun

    def ratio(self, tool, program):
        _, _, _, scale, environment, before = TOOLS[tool]
        arguments = self.programs.arguments(program, scale)
        plain = [self.plain(tool, program)] + arguments
        tooled = before + [self.executable(tool, program)] + arguments
        ratios, expected, found = [], self.folder / "plain.out", self.folder / "tool.out"
        for _ in range(min(self.rounds, 3) if tool in SLOW else self.rounds):
            base, _ = self.run(plain, {}, expected)
            cpu, _ = self.run(tooled, environment, found)
            if (program not in packaging.TELLS_TIMES and
                    expected.read_bytes() != found.read_bytes()):
                raise SystemExit(f"{program} under {tool}: another output than plain")
            ratios.append(cpu / base)
        return statistics.median(ratios), base

    def calls_a_second(self, program):
        """Calls of the functions that exist, over the plain program's CPU time."""
        arguments = self.programs.arguments(program)
        base = min(self.run([self.plain("deep", program)] + arguments, {}, self.folder / "out")[0]
                   for _ in range(3))
        self.run([self.executable("deep", program)] + arguments, {"FATHOM_TICKS": "none"},
                 self.folder / "out")
        recording = Rec(self.recording)
        calls = sum(csd["calls"] for thread in recording.threads
                    for csd in thread["csds"].values())
        return calls / base

    def packaged(self, tools, programs):
        """The same for programs from packages."""
        if not programs:
            return
        print(f"| CPU time over the package's own flags | {' | '.join(programs)} | mean |")
        print("|" + "---|" * (len(programs) + 2))
        for tool in tools:
            cells = {program: self.ratio(tool, program)[0] for program in programs}
            print(f"| {tool} | " + " | ".join(f"{cells[name]:.2f}" for name in programs) +
                  f" | {mean(cells, programs):.2f} |", flush=True)
        self.rates(programs, 1)

    def rates(self, programs, means):
        """What the cost is a function of."""
        cells = [f"{self.calls_a_second(program) / 1e6:.1f}" for program in programs]
        print("| million calls a second, plain | " + " | ".join(cells + ["–"] * means) + " |\n",
              flush=True)

    def speed(self, tools, programs):
        packaged = [program for program in programs if program in packaging.NAMES]
        extra = [program for program in programs if program not in SIX + packaged]
        shown = [program for program in SIX if program in programs] + extra
        unseen = [program for program in packaged if program in packaging.UNSEEN]
        self.packaged(tools, [program for program in packaged if program not in unseen])
        self.packaged(tools, unseen)
        if not shown:
            return
        print(f"| CPU time over plain -O2 | {' | '.join(shown)} | mean of six | mean of three |")
        print("|" + "---|" * (len(shown) + 3))
        for tool in tools:
            cells = {program: self.ratio(tool, program)[0] for program in shown}
            means = [f"{mean(cells, names):.2f}" if all(name in cells for name in names) else "–"
                     for names in (SIX, REAL)]
            print(f"| {tool} | " + " | ".join(f"{cells[name]:.2f}" for name in shown) +
                  f" | {means[0]} | {means[1]} |", flush=True)
        self.rates(shown, 2)

    def heap(self, tool="deep"):
        arguments = self.programs.arguments("heap")
        commands = {"plain": [self.plain(tool, "heap")] + arguments,
                    "without": [self.executable(tool, "heap", False)] + arguments,
                    "with": [self.executable(tool, "heap")] + arguments}
        over, added = [], []
        for _ in range(self.rounds):
            cpu = {name: self.run(command, {}, self.folder / "out")[0]
                   for name, command in commands.items()}
            over.append(cpu["without"] / cpu["plain"])
            added.append(cpu["with"] / cpu["without"])
        print(f"Malloc-heavy program, {tool}: {statistics.median(over):.2f} times plain without "
              f"allocation counts; with them {statistics.median(added):.3f} times that\n")

    def threads(self, tools):
        """How much more two threads do than one, beside the plain program's figure."""
        for tool in tools:
            paths = {"plain": self.plain(tool, "threads"), tool: self.executable(tool, "threads")}
            found = {"CPU": [], "wall": []}
            for _ in range(max(self.rounds, 7)):
                scaling = {}
                for name, path in paths.items():
                    one = self.run([path, "80", "1"], {}, self.folder / "out")
                    two = self.run([path, "80", "2"], {}, self.folder / "out")
                    scaling[name] = [2 * one[i] / two[i] for i in range(2)]
                for i, kind in enumerate(found):
                    found[kind].append(scaling[tool][i] / scaling["plain"][i])
            print(f"Two threads against one, {tool}, over plain's scaling: by CPU time "
                  f"{statistics.median(found['CPU']):.3f}, by wall time "
                  f"{statistics.median(found['wall']):.3f} (1 = scales as plain)", flush=True)
        print()

    def switches(self, tool="deep"):
        """Processes that only wake each other, by the source of the ticks."""
        arguments = self.programs.arguments("switches")
        plain = [self.plain(tool, "switches")] + arguments
        recorded = [self.executable(tool, "switches")] + arguments
        ratios = {"none": [], "timer": [], "perf": []}
        for _ in range(self.rounds):
            base = self.run(plain, {}, self.folder / "out")[0]
            for source, found in ratios.items():
                found.append(self.run(recorded, {"FATHOM_TICKS": source},
                                      self.folder / "out")[0] / base)
        shown = ", ".join(f"{source} {statistics.median(found):.2f}"
                          for source, found in ratios.items())
        print(f"Switches of processes, {tool}, CPU time over plain by source of ticks: {shown}\n",
              flush=True)

    def memory(self, tool="deep"):
        print(f"| recording file, {tool} | work | pairs | nodes' bytes a pair | file's bytes a pair "
              "| file KiB |\n|---|---|---|---|---|---|")
        for program in SIX:
            for scale in (0.5, 2.0):
                self.run([self.executable(tool, program)] + self.programs.arguments(program, scale),
                         {}, self.folder / "out")
                recording = Rec(self.recording)
                csds = sum(len(thread["csds"]) + 1 for thread in recording.threads)
                pds = sum(len(thread["pds"]) for thread in recording.threads)
                allocs = sum(any(csd["alloc"]) for thread in recording.threads
                             for csd in thread["csds"].values())
                nodes = csds * 56 + pds * 24 + allocs * 40
                print(f"| {program} | {scale} | {csds} csds, {pds} pds | {nodes / csds:.1f} | "
                      f"{recording.used / csds:.1f} | {recording.used / 1024:.0f} |", flush=True)
        print()

    def finish(self, tool="deep"):
        self.run([self.executable(tool, "sqlite")] + self.programs.arguments("sqlite"), {},
                 self.folder / "out")
        kept = self.folder / "kept.rec"
        shutil.copy(self.recording, kept)
        times = [self.run([self.fathom, "finish", "-q", "-k", kept], {}, self.folder / "out")
                 for _ in range(5)]
        recording = Rec(kept)
        csds = sum(len(thread["csds"]) for thread in recording.threads)
        print(f"Finishing SQLite's profile ({csds} edges): CPU "
              f"{statistics.median(cpu for cpu, _ in times):.2f} s, wall "
              f"{statistics.median(wall for _, wall in times):.2f} s\n")


def mean(cells, names):
    return math.exp(statistics.mean(math.log(cells[name]) for name in names))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fathom")
    parser.add_argument("folder")
    parser.add_argument("--tools")
    parser.add_argument("--programs", 
                        default=",".join(SIX + ["fib-inlined"] + packaging.NAMES))
    parser.add_argument("--parts", default="speed,heap,threads,switches,memory,finish")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    programs = options.programs.split(",")
    bench = Bench(options.fathom, options.folder, options.rounds, programs)
    # A grade that this build of fathom has not, or a peer that is not installed, has no row.
    grades = must([options.fathom, "cc", "--help"], ".")
    tools = [tool for tool, (compiler, _, grade, _, _, before) in TOOLS.items()
             if shutil.which(compiler) and (not before or shutil.which(before[0])) and
             (grade is None or grade in grades)]
    if options.tools:
        tools = [tool for tool in options.tools.split(",") if tool in tools]
    parts = options.parts.split(",")
    if "waiting" in parts:
        waiting.waiting(bench.fathom, bench.folder, options.rounds)
    if "held" in parts:
        waiting.held(bench.fathom, bench.folder, options.rounds)
    if "speed" in parts:
        bench.speed(tools, programs)
    recorders = [tool for tool in tools if TOOLS[tool][2] and "stopped" not in tool and
                 "clang" not in tool]
    if "heap" in parts:
        for tool in recorders:
            bench.heap(tool)
    if "threads" in parts:
        bench.threads(recorders)
    if "switches" in parts:
        bench.switches()
    for tool in recorders:
        if "memory" in parts:
            bench.memory(tool)
        if "finish" in parts:
            bench.finish(tool)


main()
