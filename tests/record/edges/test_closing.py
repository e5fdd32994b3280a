#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ticks while dlclose() takes a library away whose addresses still lie on the stack: the loader tells of
the library until its memory is gone."""
import pathlib
import sys
import tempfile

import record_lib as lib

ROUNDS = 6000  # with a tick each millisecond some dozens come within munmap()
PLUGIN = "int plugin_run(int x);\nstatic int helper(int x) { return x + 1; }\nint plugin_run(int x) { return helper(x); }\n"
PROGRAM = """
#include <dlfcn.h>
#include <stdio.h>
static int use(int (*run)(int))
{
    int sum = 0;
    for (int i = 0; i < 10; i++)
        sum += run(i);
    return sum;
}
int main(int argc, char **argv)
{
    int sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        void *library = dlopen(argv[argc - 1], RTLD_NOW);
        int (*run)(int) = (int (*)(int))dlsym(library, "plugin_run");
        sum += use(run);
        dlclose(library);
    }
    printf("%d\\n", sum);
    return 0;
}
"""


def main():
    tap = lib.Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "plugin.c").write_text(PLUGIN)
        (folder / "closing.c").write_text(PROGRAM)
        for level in "-O0", "-O2":
            flags = [level, "-g", f"-DROUNDS={ROUNDS}"]
            # Linked without fathom, so that it does not tell the runtime that it goes.
            lib.must([lib.FATHOM, "cc", *flags, "-c", "-fPIC", "plugin.c", "-o", "plugin.o"], folder)
            lib.must(["gcc", "-shared", "plugin.o", "-o", "plugin.so"], folder)
            lib.must([lib.FATHOM, "cc", *flags, "closing.c", "-o", "closing"], folder)
            done = lib.run([lib.FATHOM, "record", "-q", "-o", "closing", "--", "./closing", "./plugin.so"], folder)
            tap.same((done.returncode, done.stdout), (0, f"{ROUNDS * 55}\n"), f"{level}: the program ends as without recording")
            calls = lib.Profile(folder / "closing.data").calls()
            tap.same(calls.get("plugin_run"), 10 * ROUNDS, f"{level}: all calls are counted")
    return tap.done()


sys.exit(main())
