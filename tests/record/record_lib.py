# SPDX-License-Identifier: Apache-2.0
"""Builds programs with `fathom cc`, records them, and reads their profiles for the tests beside it.
The environment names the tools: FATHOM (the command), FINISH_DUMP (prints a profile),
MAKE_OLDER (makes it one of an older fathom)."""
import bisect
import collections
import concurrent.futures
import os
import pathlib
import shutil
import subprocess

import cached
import tap
from patience import wait_until

FATHOM = os.environ["FATHOM"]
# Where a test names no grade it counts the calls of the source.
os.environ["FATHOM_GRADE"] = "full"
DUMP = os.environ["FINISH_DUMP"]
OLDER = os.environ["MAKE_OLDER"]
PROGRAMS = pathlib.Path(__file__).parent / "finish_programs"
# name of the source, arguments (PLUGIN = the library beside it), libraries
CASES = {
    "recursion.c": [], "mutual.c": [], "pointers.c": [], "sorting.c": [], "signals.c": [],
    "longjmp.c": [], "exceptions.cc": [], "threads.c": [], "loading.c": ["PLUGIN"],
    "coroutines.c": [], "inlining.c": [],
}


def make_older(data):
    """Puts what is packed into a profile into files beside it, where older versions of fathom had it."""
    subprocess.run([OLDER, data, data], check=True)


class Profile:
    def __init__(self, path):
        text = subprocess.run([DUMP, path], check=True, capture_output=True, text=True).stdout
        self.header, self.procs, self.sites = {}, {}, []
        self.edges = collections.Counter()
        self.exits, self.excps = collections.Counter(), collections.Counter()
        self.quanta, self.allocs = collections.Counter(), collections.Counter()
        self.bytes, self.at = collections.Counter(), collections.Counter()
        self.contexts, self.heap = collections.Counter(), collections.Counter()
        for line in text.splitlines():
            kind, *fields = line.split("\t")
            take = getattr(self, "_" + kind, None)  # lines and points: test_coverage.py
            if take is not None:
                take(*fields)

    def _header(self, name, value):
        self.header[name] = value

    def _proc(self, name, file, line, arity, variadic, module, linkage):
        self.procs.setdefault(name, []).append(
            dict(file=file, line=int(line), arity=int(arity), variadic=variadic == "1",
                 module=module, linkage=linkage))

    def _site(self, proc, line, kind, callee, path):
        self.sites.append((proc, int(line), int(kind), callee, path))

    def _edge(self, caller, callee, calls, exits, excps, quanta, allocs, size):
        self.edges[caller, callee] += int(calls)
        self.exits[callee] += int(exits)
        self.excps[callee] += int(excps)
        self.quanta[callee] += int(quanta)
        self.allocs[callee] += int(allocs)
        self.bytes[callee] += int(size)

    def _heap(self, callee, *measures):
        for name, value in (measure.split("=") for measure in measures):
            self.heap[callee, name] += int(value)

    def _at(self, caller, line, callee, calls):
        self.at[caller, int(line), callee] += int(calls)

    def _context(self, path, calls):
        self.contexts[path] += int(calls)

    def calls(self):
        """Calls of each procedure, over all its callers."""
        totals = collections.Counter()
        for (_, callee), calls in self.edges.items():
            totals[callee] += calls
        return totals


def shared_out(programs, ways, parts):
    """[(program, way)]: each program with one of `parts` shares of the ways, the next with the next
    share, so that each way meets many programs and neighbours in the list meet unlike ways. With
    parts=1 all with all."""
    return [(program, way) for i, program in enumerate(programs) for j, way in enumerate(ways)
            if (i + j) % parts == 0]


def need(tool):
    if shutil.which(tool) is None:
        tap.skip_all(f"{tool} is not installed")


def run(command, folder, **options):
    *before, command = cached.split(command)
    for one in before:
        done = subprocess.run(one, cwd=folder, text=True, capture_output=True,
                              **{**options, "env": cached.environment(options.get("env"))})
        if done.returncode != 0:
            return done
    return subprocess.run([str(word) for word in command], cwd=folder, text=True, capture_output=True, **options)


def must(command, folder, **options):
    done = run(command, folder, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: status {done.returncode}\n"
                           f"{done.stdout}{done.stderr}")
    return done


def at_once(function, items):
    """[function(item)], of programs that mostly sleep."""
    with concurrent.futures.ThreadPoolExecutor(max(1, len(items))) as pool:
        return list(pool.map(function, items))


def build(source, folder, compiler, flags, wrapped=True, name="prog", grade="full", hooks="frames"):
    """Compiles a program of finish_programs; returns its command line."""
    folder = pathlib.Path(folder)
    cplusplus = source.endswith(".cc")
    real = {"gcc": "g++", "clang": "clang++"}[compiler] if cplusplus else compiler
    front = [FATHOM, "c++" if cplusplus else "cc", f"--grade={grade}", f"--hooks={hooks}", real] if wrapped else [real]
    arguments = []
    if "PLUGIN" in CASES[source]:
        must(front + flags + ["-shared", "-fPIC", PROGRAMS / "plugin.c", "-o",
                              folder / "plugin.so"], folder)
        arguments = [folder / "plugin.so"]
    must(front + flags + [PROGRAMS / source, "-o", name, "-lpthread", "-ldl"], folder)
    return [folder / name] + arguments


def program_of(recorder, name):
    """The process that runs a program of this name, as a child of `fathom record`."""
    def found():
        children = pathlib.Path(f"/proc/{recorder}/task/{recorder}/children").read_text().split()
        return [int(child) for child in children if os.readlink(f"/proc/{child}/exe").endswith("/" + name)][0]
    return wait_until(found, f"process {recorder} has started {name}")


def record(command, folder, name="out", status=0, join="none", **options):
    """The profile is of the first process alone, if the others' are not joined."""
    done = run([FATHOM, "record", f"--join={join}", "-o", name, "--"] + command, folder, **options)
    if done.returncode != status:
        raise RuntimeError(f"record: status {done.returncode}, expected {status}\n{done.stderr}")
    done.profile = Profile(pathlib.Path(folder) / f"{name}.data")
    return done


class Names:
    """What lies where in a program, by nm: also what lies within a function."""

    def __init__(self, executable, bias):
        self.names = {}
        for line in must(["nm", executable], pathlib.Path(executable).parent).stdout.splitlines():
            words = line.split()
            if len(words) == 3 and words[1] in "tTwW":
                self.names[int(words[0], 16) + bias] = words[2]
        self.starts = sorted(self.names)

    def get(self, address, otherwise=None):
        at = bisect.bisect_right(self.starts, address or 0)
        return self.names[self.starts[at - 1]] if at > 0 else otherwise


SIDE_WAITS = 5  # in recordings
CLOCKS_DIFFER = 1e-4


def waits_by_function(rec, executable, folder):
    """{function: {kind: waits}} over all threads, and names of csds for holders."""
    names = Names(folder / executable, next(module["bias"] for module in rec.modules if module["flags"] & 1))
    found, holders = {}, {}
    for thread in rec.threads:
        for ref, csd in thread["csds"].items():
            name = names.get(thread["pds"][csd["callee"]]["fn"], "?")
            holders[ref] = name
            if SIDE_WAITS not in csd["side"]:
                continue
            for kind, wait in rec.waits(csd["side"][SIDE_WAITS]).items():
                into = found.setdefault(name, {}).setdefault(
                    kind, dict(calls=0, waits=0, ns=0.0, longest_ns=0.0, left=0, blames=[]))
                for key in ("calls", "waits", "ns", "left"):
                    into[key] += wait[key]
                into["longest_ns"] = max(into["longest_ns"], wait["longest_ns"])
                into["blames"] += wait["blames"]
    return found, holders


class Tap(tap.Tap):
    def between(self, inside, found, outside, what):
        """A duration, by what the program measured just inside and just outside of the call. The recording
        may have another clock, whose rate it measures itself."""
        self.check(inside * (1 - CLOCKS_DIFFER) <= found <= outside * (1 + CLOCKS_DIFFER), what,
                   f"{found:.0f}, not {inside:.0f} to {outside:.0f}")
