#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What programs do to the library that records them: they behave as without it, and what is exact stays so."""
import pathlib
import re
import sys
import tempfile

import record_lib as lib

HERE = pathlib.Path(__file__).parent
BLOCKS = 1000
EXECS = 100
LIBRARY = """
#include <stdlib.h>
#include <string.h>
__attribute__((noinline)) static void *NAME(volatile char *room)
{ void *block = malloc(40); room[0]++; return block; }
void *make(void) { volatile char room[SIZE]; memset((char *)room, 0, SIZE); void *block = NAME(room); room[1]++; return block; }
void drop(void *block) { free(block); }
"""


def allocations(folder, data):
    """{path: allocations} of contexts that allocate."""
    paths = {}
    text = lib.must([lib.FATHOM, "export", "--to=folded", "--measure=alloc_objects", "-o", "-", data], folder).stdout
    for line in text.splitlines():
        path, value = line.rsplit(" ", 1)
        paths[path] = paths.get(path, 0) + int(value)
    return paths


def below(paths, *names):
    pattern = re.compile(";".join(rf"([^;]*[:`])?{name}" for name in names) + "(;|$)")
    return sum(value for path, value in paths.items() if pattern.search(path))


def compared(tap, folder, what, *words, status=0):
    """The program does the same; returns what its allocations are charged to."""
    plain = lib.run(["./faults", what, *words], folder)
    done = lib.run([lib.FATHOM, "record", "-q", "-o", what, "--", "./faults", what, *words], folder)
    tap.same((plain.returncode, done.returncode, done.stdout), (status, status, plain.stdout),
             f"{what}: output and status are the program's")
    return allocations(folder, f"{what}.data")


def main():
    tap = lib.tap.Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        lib.must(["gcc", "-g", "-O1", "-D_GNU_SOURCE", "-fno-optimize-sibling-calls", HERE / "faults.c", "-o", "faults", "-ldl"], folder)
        for library, size in (("a", 16), ("b", 512)):
            (folder / f"lib{library}.c").write_text(
                LIBRARY.replace("NAME", f"take_{library}").replace("SIZE", str(size)))
            lib.must(["gcc", "-g", "-O1", "-fno-optimize-sibling-calls", "-shared", "-fPIC", f"lib{library}.c",
                      "-o", f"lib{library}.so"], folder)
        paths = compared(tap, folder, "closes")
        tap.same(below(paths, "closes", "allocate"), BLOCKS, "closes: allocations are counted behind it")
        compared(tap, folder, "loads")
        paths = compared(tap, folder, "reuses")
        tap.same([below(paths, "reuses", "make(@[^;]*)?", f"take_{library}") for library in "ab"], [500, 500],
                 "reuses: no rule of one library is used for the other")
        paths = compared(tap, folder, "executes", str(EXECS))
        tap.check(below(paths, "main", "(executes;)?allocate") > 0, "executes: there is a profile", "\n".join(paths))
        paths = compared(tap, folder, "clones")
        tap.same(below(paths, "clones", "allocate"), BLOCKS, "clones: a child in the same memory changes no count")
        paths = compared(tap, folder, "overflows", status=9)
        tap.check(below(paths, "deeper", "allocate") > 1000, "overflows: what was counted before is there")
        paths = compared(tap, folder, "makes")
        tap.same(below(paths, "allocate"), BLOCKS, "makes: allocations through code without tables are counted")
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
