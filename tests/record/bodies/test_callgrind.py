#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The default grade against an independent counter: valgrind's callgrind, on the same code without
hooks, at several levels of optimisation. And: a second run has the same counts, the sum over
contexts is the total. Arguments: --all, for every program at every level."""
import sys
import tempfile

import body_lib as body
import record_lib as lib
from same_build import Recorded

LEVELS = [("gcc", ["-O0"]), ("gcc", ["-O2"]), ("gcc", ["-O3"]), ("clang", ["-O0"]),
          ("clang", ["-O2"]), ("clang", ["-O3"])]
# Not here, as callgrind takes a signal's handler and a switch of stacks for no call: signals,
# coroutines.
PROGRAMS = ["recursion.c", "mutual.c", "pointers.c", "sorting.c", "longjmp.c", "exceptions.cc",
            "threads.c", "loading.c", "inlining.c", "jumps.c", "unwinding.cc", "tail.c", "room.c",
            "arguments.c", "nested.c", "deep.c", "workers.c"]
NOT_BY = {("nested.c", "clang")}
# A signal's handler; and functions for instructions that valgrind's processor does not have, which
# are not called there.
NOT_SEEN = {"handler", "eight", "eight_doubles"}


def machine_edges(program):
    """Calls by (caller, callee) of the recording itself: profiles put the bodies that were inlined
    between them, which callgrind does not know."""
    path = program.folder / "raw.rec"
    lib.must(["env", f"FATHOM_OUTPUT={path}", *map(str, program.prog)], program.folder)
    return Recorded(path).edges


def compare(tap, source, compiler, flags):
    what = f"{source} {compiler} {' '.join(flags)}"
    with tempfile.TemporaryDirectory() as folder:
        program = body.Program(source, folder, compiler, flags)
        expected = body.callgrind(program)
        profile, again = (program.record(name).profile for name in ("out", "again"))
        found = {edge: calls for edge, calls in
                 body.profile_edges(profile, program.functions).items() if edge[1] not in NOT_SEEN}
        by_caller = machine_edges(program)
    by_caller = {edge: calls for edge, calls in by_caller.items()
                 if edge[1] not in NOT_SEEN}
    tap.same(dict(body.callees(found)), dict(body.callees(expected)),
             f"{what}: calls of each function")
    tap.same({edge: n for edge, n in by_caller.items() if edge[0]},
             {edge: n for edge, n in expected.items() if edge[0]},
             f"{what}: calls by caller and callee")
    tap.same(body.contexts(again), body.contexts(profile), f"{what}: a second run is the same")
    tap.same((int(profile.header["callseqs"]), sum(profile.contexts.values())),
             (sum(profile.calls().values()),) * 2, f"{what}: the total is the sum over contexts")


def main():
    lib.need("valgrind")
    tap = lib.Tap()
    for source, (compiler, flags) in lib.shared_out(PROGRAMS, LEVELS, 1 if "--all" in sys.argv else 2):
        if compiler in body.COMPILERS and (source, compiler) not in NOT_BY:
            compare(tap, source, compiler, flags)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
