#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The bundle compiles, records, finishes and reports from whatever folder it is in, and the program sees nothing of it.

usage: test_bundle.py SOURCE BUILD"""
import os
import pathlib
import subprocess
import sys
import tempfile

from tap import Tap

PROGRAM = """#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) int leaf(int n) { __asm__ volatile(""); return n + 1; }
int main(int argc, char **argv)
{
    int sum = 0;
    for (int i = 0; i < 10; i++)
        sum += leaf(i);
    printf("%d %s %s\\n", sum, getenv("LD_LIBRARY_PATH") ? "set" : "none", argv[argc - 1]);
    return 3;
}
"""


def run(command, folder):
    """Nothing of the environment names a part of fathom."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("FATHOM", "LD_"))}
    return subprocess.run([str(word) for word in command], cwd=folder, env=plain, capture_output=True, text=True)


def use(tap, root, folder):
    (folder / "p.c").write_text(PROGRAM)
    fathom = root / "bin" / "fathom"
    front = run(["readelf", "-l", root / "lib" / "fathom" / "assembler" / "as"], folder)
    tap.check(front.returncode == 0 and "INTERP" not in front.stdout, "the front of the assembler needs no library", front.stdout)
    for name, compiler in (("fathom cc", [fathom, "cc", "gcc"]), ("fathom-cc", [root / "bin" / "fathom-cc"])):
        done = run([*compiler, "-g", "-O1", "p.c", "-o", "p"], folder)
        tap.check(done.returncode == 0, f"{name}: compiles and links", done.stderr)
        done = run([fathom, "record", "-o", "out", "--", "./p", "last"], folder)
        tap.same((done.returncode, done.stdout), (3, "55 none last\n"), f"{name}: the program runs as it does plain")
        done = run([fathom, "check", "out.data"], folder)
        tap.check(" 0 broken" in done.stdout, f"{name}: the profile is sound", done.stdout + done.stderr)
        done = run([fathom, "functions", "--by=calls", "out.data"], folder)
        tap.check("leaf  p.c" in " ".join(done.stdout.split(" ")) and " 10 " in done.stdout, f"{name}: a page", done.stdout)
    run(["gcc", "-O1", "-g", "p.c", "-o", "plain"], folder)
    done = run([fathom, "record", "-o", "plain", "--", "./plain", "last"], folder)
    tap.same((done.returncode, done.stdout), (3, "55 none last\n"), "an unmodified program, too")
    tap.check((folder / "plain.data").exists(), "and is recorded", done.stderr)


def main(source, build):
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        made = subprocess.run([sys.executable, pathlib.Path(source) / "tools" / "bundle.py", build, folder / "first"],
                              capture_output=True, text=True)
        tap.check(made.returncode == 0, "it is made", made.stdout + made.stderr)
        root = folder / "moved"
        (folder / "first").rename(root)
        tap.case(use, tap, root, folder)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
