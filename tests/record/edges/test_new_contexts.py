#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each call of a program is the first one in its context: the summary says that this is what its start costs."""
import pathlib
import re
import sys
import tempfile

import record_lib as lib

LEVELS = 17  # each calls the next one twice
CONTEXTS = 2 ** (LEVELS + 1)


def source():
    levels = "".join(f"__attribute__((noinline)) int f{at}(int x) {{ int y = f{at + 1}(x); return y + f{at + 1}(y); }}\n"
                     for at in reversed(range(LEVELS)))
    return (f"__attribute__((noinline)) int f{LEVELS}(int x) {{ return x + 1; }}\n" + levels +
            "int main(void) { return f0(0) == 7; }\n")


def main():
    tap = lib.Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "new.c").write_text(source())
        lib.must([lib.FATHOM, "cc", "gcc", "-O1", "-g", "new.c", "-o", "new"], folder)
        done = lib.record(["./new"], folder)
        tap.same(done.profile.calls()[f"f{LEVELS}"], 2 ** LEVELS, "each call is counted")
        said = re.search(r"s of the program, ([\d.]+) s of fathom's hooks"
                         r"(: mostly for the first calls in ([\d.]+)k contexts, about 1 µs each)?", done.stderr)
        tap.check("ns for each of" not in done.stderr, "no cost of a call is told, which later ones do not have",
                  done.stderr)
        # A machine may be slower by far than one that makes a context in a microsecond.
        told = said is not None and said[2] is not None
        tap.check(not told or float(said[3]) * 1000 >= CONTEXTS - 1000, "how many contexts were new is told", done.stderr)
        tap.check(told or said is None or float(said[1]) > CONTEXTS / 1e6 * 2,
                  "unless they took more than twice as long as they usually do", done.stderr)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
