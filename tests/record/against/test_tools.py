#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recorded programs under valgrind, and built with AddressSanitizer: the same counts as alone."""
import pathlib
import shutil
import sys
import tempfile

import record_lib as lib
from patience import PATIENCE
from test_profiles import contexts, own_edges

# AddressSanitizer's qsort calls the comparison once more for each pair of neighbours, before it sorts:
# 60 elements sorted thrice in main, and pairs in by_sorted_digits, called 29 times more.
MORE_BY_QSORT = {("main", "compare"): 59, ("main", "backwards"): 59, ("backwards", "compare"): 59,
                 ("main", "by_sorted_digits"): 29, ("by_sorted_digits", "compare"): 324}


# Blocks from the heap, and what stands in a stdio buffer when threads begin and end.
WRITING = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) static char *grown(char *block, size_t bytes) { return realloc(block, bytes); }
static void *beside(void *block) { free(grown(block, 3000)); return NULL; }
int main(void)
{
    setvbuf(stdout, NULL, _IOFBF, 4096);
    printf("written once\n");
    char *block = grown(grown(NULL, 1600), 2000);
    pthread_t thread;
    if (pthread_create(&thread, NULL, beside, block) != 0)
        return 1;
    pthread_join(thread, NULL);
    printf("and once more\n");
    return 0;
}
"""


def as_alone(tap):
    """memcheck finds nothing, and the program writes what it writes, at its default grade."""
    if shutil.which("valgrind") is None:
        tap.skip("valgrind", "it is not installed")
        return
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "writing.c").write_text(WRITING)
        lib.must([lib.FATHOM, "cc", "--grade=deep", "gcc", "-O2", "-g", "writing.c", "-o", "writing",
                  "-lpthread"], folder)
        for tool in ("memcheck", "callgrind"):
            before = ["valgrind", "-q", "--tool=" + tool, "--error-exitcode=9"]
            if tool == "callgrind":
                before = before[:3] + [f"--callgrind-out-file={folder}/callgrind.out"]
            done = lib.run([lib.FATHOM, "record", "-o", tool, "--", *before, "./writing"], folder,
                           timeout=PATIENCE)
            tap.same((done.returncode, done.stdout), (0, "written once\nand once more\n"),
                     f"status and output under {tool}")
            tap.check("Invalid read" not in done.stderr, f"nothing to complain of under {tool}",
                      done.stderr)


def valgrind(tap):
    if shutil.which("valgrind") is None:
        tap.skip("valgrind", "it is not installed")
        return
    for source in lib.CASES:
        with tempfile.TemporaryDirectory() as folder:
            command = lib.build(source, folder, "gcc", ["-O2"])
            expected = lib.record(command, folder, name="alone").profile
            for tool in ("memcheck", "callgrind"):
                before = ["valgrind", "-q", "--tool=" + tool]
                if tool == "callgrind":
                    before.append(f"--callgrind-out-file={folder}/callgrind.out")
                else:
                    before += ["--error-exitcode=9", "--leak-check=full"]
                done = lib.record(before + command, folder, name=tool, timeout=PATIENCE)
                # valgrind may deliver a signal later than the kernel does, in another context.
                of = (lambda p: p.calls()) if source == "signals.c" else contexts
                tap.same(of(done.profile), of(expected), f"{source} under {tool}")


def sanitized(tap, compiler):
    for source in lib.CASES:
        with tempfile.TemporaryDirectory() as folder:
            plain = lib.build(source, folder, compiler, ["-O1"])
            expected = lib.record(plain, folder, name="plain").profile
            try:
                command = lib.build(source, folder, compiler, ["-O1", "-fsanitize=address"],
                                    name="sanitized")
            except RuntimeError as error:
                tap.skip(f"{source} {compiler} -fsanitize=address", str(error).splitlines()[-1])
                continue
            done = lib.record(command, folder, name="sanitized", timeout=PATIENCE)
            tap.check("ERROR" not in done.stderr, f"{source} {compiler}: nothing to complain of",
                      done.stderr)
            edges = own_edges(expected, source)
            for edge, more in MORE_BY_QSORT.items() if source == "sorting.c" else ():
                edges[edge] += more
            tap.same(own_edges(done.profile, source), edges,
                     f"{source} {compiler} -fsanitize=address: the calls of the plain build")


def main():
    tap = lib.Tap()
    as_alone(tap)
    valgrind(tap)
    sanitized(tap, "gcc")
    if shutil.which("clang"):
        sanitized(tap, "clang")
    return tap.done()


sys.exit(main())
