#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is counted again of a program that runs is what finishing the same recording from the beginning
makes: test_recount.py RECOUNT."""
import pathlib
import subprocess
import sys
import tempfile

import record_lib as lib
from patience import PATIENCE, wait_until

HERE = pathlib.Path(__file__).resolve().parent
RECOUNT = pathlib.Path(sys.argv[1]).resolve()
RECOUNTS = 5


def begun(path):
    return wait_until(lambda: path.exists() and
                      lib.run([lib.FATHOM, "ctl", path, "status"], path.parent).returncode == 0,
                      f"{path} is being recorded")


def check(tap, folder, name, flags):
    lib.must([lib.FATHOM, "cc", *flags, "-g", HERE / "counting.c", "-o", name, "-lpthread"], folder)
    path = pathlib.Path(folder) / f"{name}.rec"
    program = subprocess.Popen([lib.FATHOM, "record", "-q", "-o", name, "--", f"./{name}"], cwd=folder,
                               stdin=subprocess.PIPE)
    try:
        tap.check(begun(path), f"{name}: it is being recorded")
        done = lib.run([RECOUNT, path, pathlib.Path(folder) / "copy.rec", RECOUNTS], folder)
        tap.check(done.returncode == 0, f"{name}: counted again as from the beginning",
                  done.stdout + done.stderr)
        copies, recounts, calls = map(int, done.stdout.split()) if done.returncode == 0 else (0, 0, 0)
        tap.check(recounts == RECOUNTS and calls > 0, f"{name}: {RECOUNTS} copies had new counts alone",
                  f"{copies} copies, {recounts}, {calls} calls")
    finally:
        program.stdin.close()
        program.wait(PATIENCE)


def main():
    tap = lib.Tap()
    with tempfile.TemporaryDirectory() as folder:
        check(tap, folder, "deep", ["--grade=deep", "-O2"])
        check(tap, folder, "full", ["--grade=full", "-O2"])
        check(tap, folder, "plain", ["--grade=deep", "-O0"])
    tap.done()


main()
