#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Last calls: of itself a loop at gcc's default grade, of other functions always calls; and what the
compiler says passes through `fathom cc` as if it were not there."""
import os
import pathlib
import pty
import signal
import subprocess
import sys
import tempfile
import threading

import record_lib as lib
from patience import PATIENCE

PROGRAM = """
#include <stdio.h>
#define ALONE __attribute__((noinline, noclone))
static volatile long seen;
ALONE static long count(long n, long sum) { seen = n; return n == 0 ? sum : count(n - 1, sum + n); }
ALONE static int odd(int n);
ALONE static int even(int n) { seen = n; return n == 0 ? 1 : odd(n - 1); }
ALONE static int odd(int n) { seen = n; return n == 0 ? 0 : even(n - 1); }
int main(void) { printf("%ld %d\\n", count(1000, 0), even(100)); return 0; }
"""
WARNS = "int f(int n) { int unused; if (n = 1) return 2; return missing(n); }\n" * 2
FAKE = """#!/bin/sh
printf 'one' >&2
printf 'cc1: note: disable pass tree-tailc for functions in the range of [0, 4294967295]\\n' >&2
printf '\\ncc1: note: disable pass tree-tailc for functions in the range of [0, 4294967295]\\n' >&2
printf 'two\\n' >&2
%s
"""


def record_calls(tap, folder):
    for compiler, grade, flags, counted in (
            ("gcc", "deep", [], 1), ("gcc", "full", [], 1001),
            ("gcc", "deep", ["-fdiagnostics-format=json"], 1001), ("clang", "deep", [], 1001)):
        what = f"{compiler} {' '.join(flags)} {grade}"
        if lib.shutil.which(compiler) is None:
            tap.skip(what, "not installed")
            continue
        lib.must([lib.FATHOM, "cc", f"--grade={grade}", compiler, "-O2", *flags, "last.c", "-o",
                  "prog"], folder)
        calls = lib.record(["./prog"], folder).profile.calls()
        tap.same({name: calls[name] for name in ("count", "even", "odd")},
                 {"count": counted, "even": 51, "odd": 50}, what)


def at_terminal(command, folder):
    """Standard error of a command that has a terminal there, and nowhere else; its status."""
    ours, its = pty.openpty()
    subprocess.run(["stty", "-opost", "cols", "61"], stdin=its, check=True)
    said = []

    def read():
        try:
            while True:
                said.append(os.read(ours, 4096))
        except OSError:
            pass

    done = subprocess.Popen([str(word) for word in command], cwd=folder, stderr=its,
                            stdin=subprocess.DEVNULL, env={**os.environ, "TERM": "xterm-256color"})
    os.close(its)
    reader = threading.Thread(target=read)
    reader.start()
    status = done.wait()
    reader.join()
    os.close(ours)
    return b"".join(said), status


def messages(tap, folder):
    """Byte by byte those of the compiler itself."""
    (folder / "warns.c").write_text(WARNS)
    flags = ["-O2", "-Wall", "-Wextra", "-c", "-o", "out.o"]
    for source in ("last.c", "warns.c"):
        ours = [lib.FATHOM, "cc", "--grade=deep", "gcc", *flags, source]
        plain = ["gcc", *flags, source]
        found, expected = lib.run(ours, folder), lib.run(plain, folder)
        tap.same((found.stderr, found.returncode), (expected.stderr, expected.returncode),
                 f"{source}: through a pipe")
        found, expected = at_terminal(ours, folder), at_terminal(plain, folder)
        tap.same(found, expected, f"{source}: at a terminal")
        tap.check(source == "last.c" or b"\33[" in found[0], "with its colours", found[0])
    done = lib.run([lib.FATHOM, "cc", "--grade=deep", "gcc", *flags, "last.c"], folder,
                   env={**os.environ, "LC_ALL": "de_DE.UTF-8"})
    tap.same(done.stderr, "", "nothing in another language")
    closed = subprocess.run(["sh", "-c", 'exec "$@" 2>&-', "sh", lib.FATHOM, "cc", "--grade=deep",
                             "gcc", *flags, "last.c"], cwd=folder, check=False)
    tap.same(closed.returncode, 0, "without standard error")


def fake(folder, end):
    """A compiler that says the note within other text, and ends so."""
    (folder / "bin").mkdir(exist_ok=True)
    path = folder / "bin" / "gcc"
    path.write_text(FAKE % end)
    path.chmod(0o755)
    return [lib.FATHOM, "cc", "--grade=deep", path, "-c", "last.c"]


def ends(tap, folder):
    text = FAKE.split("'")[3].replace("\\n", "\n")
    for end, status in (("exit 7", 7), ("exit 130", 130), ("kill -SEGV $$", -signal.SIGSEGV),
                        ("kill -INT $$", -signal.SIGINT)):
        done = lib.run(fake(folder, end), folder)
        tap.same((done.stderr, done.returncode), ("one" + text + "\ntwo\n", status), end)
    done = lib.run(fake(folder, f"sleep {10 * PATIENCE:.0f} >/dev/null & echo $! >left; exit 3"), folder, timeout=PATIENCE)
    os.kill(int((folder / "left").read_text()), signal.SIGKILL)
    tap.same(done.returncode, 3, "who goes on with standard error is not waited for")
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        end = f"trap 'echo cleaned >&2; exit 9' {number.name[3:]}; echo ready; while :; do sleep 0.1; done"
        with subprocess.Popen(fake(folder, end), cwd=folder, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as asked:
            asked.stdout.readline()
            asked.send_signal(number)
            _, said = asked.communicate(timeout=PATIENCE)
        tap.same((said.splitlines()[-1:], asked.returncode), (["cleaned"], 9),
                 f"{number.name} is passed on")


def main():
    tap = lib.Tap()
    lib.need("gcc")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "last.c").write_text(PROGRAM)
        record_calls(tap, folder)
        messages(tap, folder)
        ends(tap, folder)
    return tap.done()


sys.exit(main())
