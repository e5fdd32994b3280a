#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The default grade: whole chains of calls, as they stand in the source: plain ones, below setjmp and
catch, in a library's callback behind a function that has returned."""
import re
import sys
import tempfile

import body_lib as body
import record_lib as lib

CHAINS = {
    "chain.c": {
        "main": 1, "main/a": 3, "main/a/b": 3, "main/a/b/c": 6,
        "main/catches": 3, "main/catches/deeper": 3, "main/catches/deeper/deeper": 6,
        "main/catches/deeper/jumps": 3, "main/catches/deeper/jumps/c": 3,
        "main/catches/a": 3, "main/catches/a/b": 3, "main/catches/a/b/c": 6, "main/catches/c": 3,
        "main/sort": 3, "main/sort/a": 3, "main/sort/a/b": 3, "main/sort/a/b/c": 6,
        "main/sort/compare": 3, "main/sort/compare/c": 3,
        "main/each": 1, "main/each/visit": 5, "main/each/visit/b": 5, "main/each/visit/b/c": 10,
        "main/jumps": 1, "main/jumps/c": 1, "main/print_counts": 1,
    },
    # Of 0, 1, 2, 3 the last three are thrown; passes() throws one more each time.
    "chain.cc": {
        "main": 1, "main/passes": 4, "main/passes/catches": 4,
        "main/passes/catches/deeper": 4, "main/passes/catches/deeper/deeper": 12,
        "main/passes/catches/deeper/throws": 4, "main/passes/catches/deeper/throws/c": 4,
        "main/passes/catches/b": 7, "main/passes/catches/b/c": 7,
        "main/passes/throws": 4, "main/passes/throws/c": 4, "main/passes/c": 4,
        "main/b": 8, "main/b/c": 8, "main/print_counts": 1,
    },
}


def main():
    tap = lib.Tap()
    for source, expected in CHAINS.items():
        for compiler in body.COMPILERS:
            for level in "-O0", "-O2":
                # Jumps in place of calls would pass frames on.
                flags = [level, "-fno-optimize-sibling-calls"]
                with tempfile.TemporaryDirectory() as folder:
                    profile = body.Program(source, folder, compiler, flags).record().profile
                found = {re.sub(r"\(anonymous namespace\)::|\([^)]*\)", "", path): calls
                         for path, calls in body.main_contexts(profile).items()}
                tap.same(found, expected, f"{source} {compiler} {level}")
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
