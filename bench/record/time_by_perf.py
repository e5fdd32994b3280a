#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CPU time per procedure: fathom's samples against perf's cpu-clock, taken of the same run.

usage: time_by_perf.py FATHOM DUMP WORK-FOLDER [SECONDS [NAME...]]
       time_by_perf.py FATHOM DUMP WORK-FOLDER -- PROGRAM ARGUMENT...
  FATHOM  the command; DUMP  tests/record/finish_dump of the build tree
  NAME  lua, bzip2, sqlite (default), fib, chain, heap: built with `fathom cc -O2 -fno-inline`, since
        perf names the functions that exist after inlining, and run for SECONDS (10) of CPU time.
perf's samples are charged as fathom's are: to the innermost function of the program itself, with what
libc and the kernel did for it. Prints the differences in percentage points, largest first."""
import collections
import os
import pathlib
import resource
import subprocess
import sys

from programs_built import Programs


def profile(dump, path):
    quanta, names, header = collections.Counter(), set(), {}
    text = subprocess.run([dump, path], check=True, capture_output=True, text=True).stdout
    for line in text.splitlines():
        kind, *fields = line.split("\t")
        if kind == "proc":
            names.add(fields[0])
        elif kind == "edge":
            quanta[fields[1]] += int(fields[5])
        elif kind == "header":
            header[fields[0]] = fields[1]
    return quanta, names, header


class Code:
    """Which addresses of a program are those of hooks: the next mark (runtime/hot.h) is an end."""
    BEGINS, ENDS = bytes.fromhex("0f1f840046544642"), bytes.fromhex("0f1f840046544645")

    def __init__(self, program):
        found = subprocess.run(["nm", program], check=True, capture_output=True, text=True).stdout
        self.symbols = {name: int(address, 16) for address, kind, name in
                        (line.split() for line in found.splitlines() if len(line.split()) == 3)}
        sections = subprocess.run(["readelf", "-SW", program], check=True, capture_output=True,
                                  text=True).stdout
        words = next(line.split("]", 1)[1].split() for line in sections.splitlines()
                     if " .text " in line)
        self.start, offset, size = (int(word, 16) for word in words[2:5])
        self.text = pathlib.Path(program).read_bytes()[offset:offset + size]

    def is_hook(self, name, offset):
        at = self.symbols.get(name, 0) + offset - self.start
        near = self.text[max(at, 0):max(at, 0) + 264]
        ends, begins = near.find(self.ENDS), near.find(self.BEGINS)
        return ends >= 0 and (begins < 0 or ends < begins)


def perf_samples(data, names, program):
    """Samples by function; those in the hooks, called or written out, apart."""
    text = subprocess.run(["perf", "script", "--no-inline", "-F", "ip,sym,symoff", "-i", data],
                          capture_output=True, text=True).stdout
    counts, hooks, code = collections.Counter(), 0, Code(program)
    for sample in text.split("\n\n"):
        frames = [line.split(maxsplit=1)[1] for line in sample.splitlines()
                  if len(line.split(maxsplit=1)) == 2]
        if not frames:
            continue
        user = [frame.split("+0x")[0] for frame in frames]
        # In a hook, or in the kernel on a hook's behalf.
        first = next((name for name in user if name in names or name.startswith(
            ("fm_", "__cyg_profile_func"))), None)
        if first is None:
            counts["(none)"] += 1
        elif first not in names or (first == user[0] and "+0x" in frames[0] and code.is_hook(
                first, int(frames[0].split("+0x")[1].split()[0], 16))):
            hooks += 1
        else:
            counts[first] += 1
    return counts, hooks


def compare(fathom, dump, command, folder, name):
    data, base = folder / f"{name}.perf", folder / name
    for old in folder.glob(f"{name}*.rec"):
        old.unlink()
    environment = {**os.environ, "FATHOM_OUTPUT": str(base), "FATHOM_TICKS": "perf"}
    subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", "997", "--call-graph",
                    "dwarf,4096", "-o", data, "--"] + command, cwd=folder, env=environment,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    subprocess.run([fathom, "finish", "-q", f"{base}.rec"], check=True)
    ours, names, header = profile(dump, f"{base}.data")
    theirs, hooks = perf_samples(data, names, command[0])
    total, other = sum(ours.values()) or 1, sum(theirs.values()) or 1
    rows = sorted(((100 * ours[key] / total - 100 * theirs[key] / other, key)
                   for key in set(ours) | set(theirs)), key=lambda row: -abs(row[0]))
    own = int(header["instrumentation"])
    print(f"{name}: {total} quanta, {other} samples of perf; hooks {100 * own / (own + total):.1f} "
          f"% (perf {100 * hooks / (hooks + other):.1f} %); largest difference "
          f"{abs(rows[0][0]):.2f} percentage points")
    for difference, key in rows[:6]:
        print(f"  {difference:+6.2f}  {100 * ours[key] / total:6.2f} % "
              f"{100 * theirs[key] / other:6.2f} %  {key}")
    return abs(rows[0][0])


def cpu_of(command, folder):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([str(word) for word in command], cwd=folder, stdout=subprocess.DEVNULL,
                   env={**os.environ, "FATHOM_OUTPUT": str(folder / "trial")}, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    (folder / "trial.rec").unlink()
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main():
    fathom, dump, folder, *rest = sys.argv[1:]
    folder = pathlib.Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if rest[:1] == ["--"]:
        compare(fathom, dump, rest[1:], folder, pathlib.Path(rest[1]).name)
        return
    seconds = float(rest[0]) if rest else 10.0
    programs = Programs(fathom, folder)
    for name in rest[1:] or ["lua", "bzip2", "sqlite"]:
        program = programs.build("deep-no-inline", "gcc", ["-fno-inline"], name, "deep")
        trial = cpu_of([program] + programs.arguments(name), folder)
        scale = max(1.0, seconds / trial)
        compare(fathom, dump, [program] + programs.arguments(name, scale), folder, f"{name}-run")


main()
