#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The default grade against an independent counter on the very same program: valgrind's callgrind
counts the calls that its machine code makes, while it records. By function and by edge, inlined
bodies left out on both sides. Arguments: --all, for every program at every level, or a program's command line, instead of the test's own, which
may end with any status; before it --callers=N, if its libraries have more than 40 functions between
two of the program's, and --input=FILE, its standard input."""
import argparse
import bisect
import collections
import os
import pathlib
import subprocess
import sys
import tempfile

import body_lib as body
import record_lib as lib
from patience import PATIENCE
from runtime_rec import Rec

LEVELS = [["-O1"], ["-O2"], ["-O3"], ["-Os"], ["-O2", "-fPIC"], ["-O2", "-flto"],
          ["-O2", "-fcf-protection", "-fstack-protector-all"],
          ["-O2", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables"],
          ["-O2", "-freorder-blocks-and-partition"]]
PROGRAMS = ["recursion.c", "mutual.c", "pointers.c", "sorting.c", "longjmp.c", "exceptions.cc",
            "threads.c", "inlining.c", "jumps.c", "unwinding.cc", "room.c", "arguments.c",
            "nested.c", "deep.c", "bodies.c", "bodies.cc", "names.c"]
NOT_SEEN = {"handler", "eight", "eight_doubles"}  # test_callgrind.py


class Recorded:
    """Calls by (caller, callee) of the functions that exist, by name; the caller is None outside.
    Bodies with hooks that stand in others are looked through."""

    def __init__(self, path):
        self.rec = Rec(path)
        modules = {module["path"] for module in self.rec.modules if module["flags"] & 2}
        self.names = {}
        for module in modules:
            self.names.update(body.entries_of(module))
        self.starts = sorted(self.names)
        self.edges, self.entries, self.inlined = collections.Counter(), {}, 0
        for thread in self.rec.threads:
            pds, csds = thread["pds"], thread["csds"]
            for csd in csds.values():
                callee = pds[csd["callee"]]
                if csd["inlined"]:
                    self.inlined += csd["calls"]
                    continue
                name = self.name(callee)
                self.entries[self.place(callee)] = name
                caller = csd["caller"]
                while pds[caller]["fn"] and csds[pds[caller]["maker"]]["inlined"]:
                    caller = csds[pds[caller]["maker"]]["caller"]
                self.edges[self.name(pds[caller]), name] += csd["calls"]

    def contexts(self):
        """Calls by path from a thread's root, bodies with hooks that stand in others left out."""
        found = collections.Counter()
        for thread in self.rec.threads:
            pds, csds = thread["pds"], thread["csds"]
            for csd in csds.values():
                if csd["inlined"]:
                    continue
                path, caller = [self.name(pds[csd["callee"]])], csd["caller"]
                while pds[caller]["fn"]:
                    maker = csds[pds[caller]["maker"]]
                    if not maker["inlined"]:
                        path.append(self.name(pds[caller]))
                    caller = maker["caller"]
                found["/".join(reversed(path))] += csd["calls"]
        return found

    def place(self, pd):
        """File and address: there may be several functions of a name, libfathom's own too. Without
        unwind tables recordings have a function's hook in the place of its entry."""
        module = self.rec.module(pd["fn"], pd["epoch"])
        place = module["path"], pd["fn"] - module["bias"]
        if place not in self.names:
            place = self.starts[bisect.bisect_right(self.starts, place) - 1]
        return place

    def name(self, pd):
        return self.names[self.place(pd)] if pd["fn"] else None


def ended(status, any_status):
    """Has the program come to its end? timeout and valgrind give a status of their own, 124 and
    beyond, also to a signal."""
    return status == 0 or any_status and 0 < status < 124


def compare(tap, command, folder, what, callers=body.SEPARATE, given=None):
    """given: the file of standard input of a program that is not the test's own."""
    folder = pathlib.Path(folder)
    path = folder / "same.rec"
    for old in folder.glob("same*.rec"):
        old.unlink()
    out = folder / "same.cg"
    done = subprocess.run(
        ["timeout", f"{PATIENCE * (5 if given else 1):.0f}", "valgrind", "-q", *body.CALLGRIND,
         f"--separate-callers={callers}", f"--callgrind-out-file={out}", *command],
        cwd=folder, stdin=given, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        env={**os.environ, "FATHOM_OUTPUT": str(path), "FATHOM_TICKS": "none"})
    if not ended(done.returncode, given is not None):
        raise RuntimeError(f"{what}: status {done.returncode}\n{done.stdout}")
    recorded = Recorded(path)
    expected = body.read_callgrind(out, recorded.entries)
    found = collections.Counter({edge: n for edge, n in recorded.edges.items()
                                 if edge[1] not in NOT_SEEN})
    expected = collections.Counter({edge: n for edge, n in expected.items()
                                    if edge[1] not in NOT_SEEN})
    tap.same(dict(body.callees(found)), dict(body.callees(expected)),
             f"{what}: calls of each function ({sum(found.values())})")
    tap.same({edge: n for edge, n in found.items() if edge[0]},
             {edge: n for edge, n in expected.items() if edge[0]},
             f"{what}: calls by caller and callee ({len(found)})")
    return recorded


def build(source, folder, flags):
    front, real = body.driver(source, "gcc")
    front[2] = "--grade=deep"
    lib.must(front + [real, *flags, "-Wl,-z,now", body.source_path(source), "-o", "prog",
                      "-lpthread", "-ldl", "-lm"], folder)
    return [pathlib.Path(folder) / "prog"]


def main():
    lib.need("valgrind")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--callers", type=int, default=body.SEPARATE)
    parser.add_argument("--input", default=os.devnull)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    tap = lib.Tap()
    if options.command:
        with tempfile.TemporaryDirectory() as folder, open(options.input, "rb") as given:
            compare(tap, options.command, folder, pathlib.Path(options.command[0]).name,
                    options.callers, given)
        return tap.done()
    for source, flags in lib.shared_out(PROGRAMS, LEVELS, 1 if options.all else 3):
        with tempfile.TemporaryDirectory() as folder:
            recorded = compare(tap, build(source, folder, flags), folder,
                               f"{source} {' '.join(flags)}")
            tap.same(recorded.inlined, 0, f"{source} {' '.join(flags)}: no inlined body has hooks")
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
