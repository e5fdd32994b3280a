#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exactness of recordings: every context's counts against a replay of a log of all hook events.

usage: test_exact.py LIBRARY_FOLDER SOURCE_FOLDER (quick|full|every)

SOURCE_FOLDER is tests/record. quick: gcc -O2; full: -O0 and -O3 of all compilers; every: all their levels.

The log is written by wrappers around the hooks in the same run, and replayed here by the plain
rule: frames below a new frame's address are dead; at the same address the new body is inlined
unless it is the function's own. Speaks TAP.
"""
import os
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, sys.argv[2])
from runtime_rec import Rec  # noqa: E402

from tap import Tap

FLAGS = ["-g", "-finstrument-functions", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls",
         "-D_GNU_SOURCE"]
PROGRAMS = ["recursion.c", "pointers.c", "callbacks.c", "signals.c", "jumps.c", "exceptions.cc",
            "threads.c", "coroutines.c", "inlining.c", "loading.c"]
EVENT = struct.Struct("<2I8Q")
TOP = 1 << 64


def fnv(path):
    h = 14695981039346656037
    for b in os.path.realpath(path).encode():
        h = (h ^ b) * 1099511628211 % TOP
    return h


def have(tool):
    return subprocess.run(["which", tool], capture_output=True).returncode == 0


def build_log(tmp):
    log = os.path.join(tmp, "log.o")
    subprocess.run(["gcc", "-O2", "-D_GNU_SOURCE", "-c", os.path.join(HERE, "log.c"), "-o", log], check=True)
    return log


def build(lib, src, tmp, log, compiler, level, program):
    cxx = program.endswith(".cc")
    cc = {"gcc": "g++" if cxx else "gcc", "clang": "clang++" if cxx else "clang"}[compiler]
    flags = FLAGS + ["-O" + level] + (["-fno-partial-inlining"] if compiler == "gcc" else [])
    where = os.path.join(src, "runtime_programs")
    wraps = ["-Wl,--wrap=__cyg_profile_func_enter", "-Wl,--wrap=__cyg_profile_func_exit"]
    exe = os.path.join(tmp, "program")
    args = []
    libs = ["-Wl,--whole-archive", os.path.join(lib, "libfathom.a"),
            os.path.join(lib, "libfathom_interpose.a"), os.path.join(lib, "libfathom_heap.a"), "-Wl,--no-whole-archive"]
    if program == "loading.c":
        for number in "12":
            out = os.path.join(tmp, f"plugin{number}.so")
            # A library's hooks go to the executable's wrappers, by their plain names.
            subprocess.run([cc, *flags, "-fPIC", "-shared", "-DNUMBER=" + number,
                            os.path.join(where, "plugin.c"), "-o", out], check=True)
            args.append(out)
        # Here the wrappers take the hooks' own names and the runtime's are renamed.
        renamed = os.path.join(tmp, "renamed.a")
        subprocess.run(["objcopy",
                        "--redefine-sym", "__cyg_profile_func_enter=__real___cyg_profile_func_enter",
                        "--redefine-sym", "__cyg_profile_func_exit=__real___cyg_profile_func_exit",
                        libs[1], renamed], check=True)
        subprocess.run(["objcopy",
                        "--redefine-sym", "__wrap___cyg_profile_func_enter=__cyg_profile_func_enter",
                        "--redefine-sym", "__wrap___cyg_profile_func_exit=__cyg_profile_func_exit",
                        log, os.path.join(tmp, "log.o")], check=True)
        log = os.path.join(tmp, "log.o")
        libs[1] = renamed
        wraps = ["-Wl,--export-dynamic"]
    subprocess.run([cc, *flags, *wraps, os.path.join(where, program), log, *libs, "-o", exe,
                    "-lpthread", "-ldl"], check=True)
    return exe, args


class Node:
    def __init__(self, fn, maker):
        self.fn, self.maker, self.edges = fn, maker, {}


class Edge:
    def __init__(self, caller, callee, key):
        self.caller, self.callee, self.key, self.calls, self.left = caller, callee, key, 0, 0

    def path(self):
        out, edge = [], self
        while edge is not None:
            out.append(edge.key)
            edge = edge.caller.maker if edge.caller is not None else None
        return tuple(out[::-1])


class Replay:
    """One thread. stacks: region -> list of (frame, fn, edge); the first is a guard."""

    def __init__(self, own_hooks, static_range):
        self.own, self.static = own_hooks, static_range
        self.root = Node(0, None)
        self.root_edge = Edge(None, self.root, ("root",))
        self.root.maker = None
        self.stacks, self.now, self.all, self.unmatched = {}, None, [], 0

    def region(self, frame):
        low, high = self.static
        return frame >> 16 if low <= frame < high else "own"

    def switch(self, frame):
        region = self.region(frame)
        if region == self.now:
            return self.stacks[region]
        below = self.stacks[self.now][-1] if self.now is not None else None
        stack = self.stacks.setdefault(region, [])
        if len(stack) <= 1:
            edge = below[2] if below is not None else self.root_edge
            stack[:] = [(TOP, 0, edge)]
        self.now = region
        return stack

    def pop(self, stack, left):
        _, _, edge = stack.pop()
        edge.left += left

    def active(self, stack, fn):
        for _, f, edge in stack[:0:-1]:
            if f == fn and edge.callee.fn == fn:
                return edge.callee
        edge = stack[0][2]
        while edge.caller is not None:
            if edge.callee.fn == fn:
                return edge.callee
            edge = edge.caller.maker or self.root_edge
        return None

    def enter(self, fn, site, hook, frame):
        stack = self.switch(frame)
        while stack[-1][0] < frame:
            self.pop(stack, True)
        if stack[-1][0] == frame:
            if hook[:2] in self.own:
                while stack[-1][0] == frame:
                    self.pop(stack, True)
            else:
                site = None
        caller = stack[-1][2].callee
        key = (hook, site)
        edge = caller.edges.get(key)
        if edge is None:
            callee = self.active(stack, fn)
            edge = Edge(caller, callee, key)
            if callee is None:
                edge.callee = Node(fn, edge)
            caller.edges[key] = edge
            self.all.append(edge)
        edge.calls += 1
        stack.append((frame, fn, edge))

    def exit(self, fn, frame):
        stack = self.switch(frame)
        while stack[-1][0] < frame:
            self.pop(stack, True)
        same = [i for i, f in enumerate(stack) if f[0] == frame and f[1] == fn]
        if not same:
            self.unmatched += 1
            return
        while len(stack) > same[-1] + 1:
            self.pop(stack, True)
        self.pop(stack, False)

    def result(self):
        for stack in self.stacks.values():
            while len(stack) > 1:
                self.pop(stack, True)
        out = {}
        for edge in self.all:
            calls, left = out.get(edge.path(), (0, 0))
            out[edge.path()] = calls + edge.calls, left + edge.left
        return out


def replay(log, static_range):
    events = [EVENT.unpack_from(log, at) for at in range(0, len(log), EVENT.size)]
    # A function's own entry hook is the lowest of those in its body: the functions are sorted.
    starts = {}
    for tid, kind, fn, site, hook, frame, hm, ho, sm, so in events:
        starts.setdefault(hm, set()).add(fn - (hook - ho))
    lowest = {}
    for tid, kind, fn, site, hook, frame, hm, ho, sm, so in events:
        offset = fn - (hook - ho)
        inside = ho > offset and not any(offset < other < ho for other in starts[hm])
        if kind == 0 and inside:
            lowest[hm, offset] = min(lowest.get((hm, offset), TOP), ho)
    own = {(hm, ho) for (hm, _), ho in lowest.items()}
    threads = {}
    for tid, kind, fn, site, hook, frame, hm, ho, sm, so in events:
        t = threads.setdefault(tid, Replay(own, static_range))
        if kind == 0:
            t.enter((hm, fn - (hook - ho)), (sm, so), (hm, ho), frame)
        else:
            t.exit((hm, fn - (hook - ho)), frame)
    return {tid: (t.result(), t.unmatched) for tid, t in threads.items()}, len(events)


def recorded(rec):
    def place(address, epoch):
        m = rec.module(address, epoch)
        return (fnv(m["path"]), address - m["start"]) if m else (0, address)
    out = {}
    for t in rec.threads:
        made = {c["callee"]: c for c in t["csds"].values() if c["made"]}
        keys = {ref: (place(c["hook_pc"], c["epoch"]),
                      None if c["inlined"] else place(c["site"], c["epoch"]))
                for ref, c in t["csds"].items()}
        totals = {}
        for ref, c in t["csds"].items():
            path, at = [], c
            while at is not None:
                path.append(keys[at["ref"]])
                at = made.get(at["caller"])
            path = tuple(path[::-1])
            calls, left = totals.get(path, (0, 0))
            totals[path] = calls + c["calls"], left + c["excps"] + c["open"]
        out[t["tid"]] = totals, t["unmatched"]
    return out


def check(lib, src, log, compiler, level, program):
    with tempfile.TemporaryDirectory() as tmp:
        exe, args = build(lib, src, tmp, log, compiler, level, program)
        rec_path, log_path = os.path.join(tmp, "p.rec"), os.path.join(tmp, "p.log")
        env = dict(os.environ, FATHOM_OUTPUT=rec_path, FATHOM_TEST_LOG=log_path)
        run = subprocess.run([exe, *args], env=env, capture_output=True, text=True, cwd=tmp)
        if run.returncode != 0:
            return f"exit status {run.returncode}: {run.stderr}"
        rec = Rec(rec_path)
        program_module = [m for m in rec.modules if m["flags"] & 1][0]
        with open(log_path, "rb") as f:
            want, events = replay(f.read(), (program_module["start"], program_module["end"]))
        got = recorded(rec)
        for tid in want:
            if tid not in got:
                return f"thread {tid} is missing"
            a, b = want[tid][0], got[tid][0]
            for path in sorted(set(a) | set(b), key=str):
                # The root's own guard is no part of a path in the recording.
                if a.get(path) != b.get(path):
                    last = path[-1]
                    return (f"depth {len(path)} hook {last[0][1]:#x} site "
                            f"{last[1][1] if last[1] else 0:#x}: want {a.get(path)}, "
                            f"got {b.get(path)}")
            if want[tid][1] != got[tid][1]:
                return f"unmatched exits: want {want[tid][1]}, got {got[tid][1]}"
        if events < 20 or set(want) != set(got):
            return f"{events} events, threads {set(want)} and {set(got)}"
        return None


def judge(tap, lib, src, log, compiler, level, program):
    try:
        wrong = check(lib, src, log, compiler, level, program)
    except (subprocess.CalledProcessError, AssertionError, IndexError) as error:
        wrong = f"{type(error).__name__}: {error}"
    tap.check(not wrong, f"{program} {compiler} -O{level}", wrong)


def main():
    lib, src, size = sys.argv[1:4]
    compilers = [c for c in ("gcc", "clang") if have(c)]
    levels = {"quick": ["2"], "full": ["0", "3"], "every": ["0", "1", "2", "3"]}[size]
    if size == "quick":
        compilers = compilers[:1]
    cases = [(c, l, p) for c in compilers for l in levels for p in PROGRAMS]
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        log = build_log(folder)
        for case in cases:
            judge(tap, lib, src, log, *case)
    return tap.done()


sys.exit(main())
