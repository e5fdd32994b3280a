#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--grade=fast against an independent counter: valgrind's callgrind, on the same code without hooks,
at several levels of optimisation. And: a second run has the same counts, the sum over contexts is the
total. Arguments: programs, instead of all."""
import sys
import tempfile

import fast_lib as fast
import finish_lib as lib

LEVELS = [("gcc", ["-O0"]), ("gcc", ["-O2"]), ("gcc", ["-O3"]), ("clang", ["-O0"]),
          ("clang", ["-O2"]), ("clang", ["-O3"])]
# Not here, as callgrind takes a signal's handler and a switch of stacks for no call: signals,
# coroutines.
PROGRAMS = ["recursion.c", "mutual.c", "pointers.c", "sorting.c", "longjmp.c", "exceptions.cc",
            "threads.c", "loading.c", "inlining.c"]
# clang tells nobody of frames that an exception leaves.
ONLY_TOTALS = {("exceptions.cc", "clang", "-O0")}


def compare(tap, source, compiler, flags):
    what = f"{source} {compiler} {' '.join(flags)}"
    with tempfile.TemporaryDirectory() as folder:
        program = fast.Program(source, folder, compiler, flags)
        expected = fast.callgrind(program)
        profile, again = (program.record(name).profile for name in ("out", "again"))
        found = fast.profile_edges(profile, program.functions)
    tap.same(dict(fast.callees(found)), dict(fast.callees(expected)),
             f"{what}: calls of each function")
    if (source, compiler, *flags) not in ONLY_TOTALS:
        tap.same({edge: n for edge, n in found.items() if edge[0]},
                 {edge: n for edge, n in expected.items() if edge[0]},
                 f"{what}: calls by caller and callee")
    tap.same(fast.contexts(again), fast.contexts(profile), f"{what}: a second run is the same")
    tap.same((int(profile.header["callseqs"]), sum(profile.contexts.values())),
             (sum(profile.calls().values()),) * 2, f"{what}: the total is the sum over contexts")


def main():
    lib.need("valgrind")
    tap = lib.Tap()
    for source in sys.argv[1:] or PROGRAMS:
        for compiler, flags in LEVELS:
            if compiler in fast.COMPILERS:
                compare(tap, source, compiler, flags)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
