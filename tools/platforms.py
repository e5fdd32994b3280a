#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tries a bundle (`make bundle`) on this system and in chroots of others, and writes what worked to docs/platforms.md.

usage: platforms.py NAME.tar.xz [--only] [SUITE=FOLDER...]

SUITE is a release of Debian (bullseye, trixie). debootstrap makes its FOLDER, with g++, where there is none: that
needs root and a mirror of Debian. --only: prints the table, and fails where something of it does not work."""
import datetime
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent
THREADS = """#include <stdexcept>
#include <thread>
#include <vector>
__attribute__((noinline)) int work(int n) { if (n % 2) throw std::runtime_error("odd"); return n; }
int main()
{
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([i] { for (int n = 0; n < 100; n++) try { work(n + i); } catch (std::exception &) {} });
    for (auto &thread : threads)
        thread.join();
}
"""
ONE = """#include <stdio.h>
__attribute__((noinline)) int work(int n) { __asm__ volatile(""); return n + 1; }
int main(void)
{
    int sum = 0;
    for (int i = 0; i < 1000; i++)
        sum += work(i);
    printf("%d\\n", sum);
}
"""
# Name of the row, commands that make ./prog, the function whose page is printed, and the program's argument: samples
# alone need a longer run.
TRIALS = [
    ("default grade", "fathom cc gcc -g -O2 market.c -o prog -lpthread", "trade", 5),
    ("`--grade=full`", "fathom cc --grade=full gcc -g -O2 market.c -o prog -lpthread", "trade", 5),
    ("`--grade=coverage`", "fathom cc --grade=coverage gcc -g -O2 market.c -o prog -lpthread", "trade", 5),
    ("`--hooks=slots`", "fathom cc --hooks=slots gcc -g -O2 market.c -o prog -lpthread", "trade", 5),
    ("static, threads", "fathom cc gcc -static -g -O2 market.c -o prog -lpthread", "trade", 5),
    ("static, no thread", "fathom cc gcc -static -g -O2 one.c -o prog", "work", 5),
    ("C++, threads, exceptions", "fathom c++ g++ -g -O2 threads.cc -o prog -pthread", "work", 5),
    ("not built with `fathom cc`", "gcc -g -O2 market.c -o prog -lpthread", "trade", 300),
]
VERSIONS = "ldd --version | head -n 1; gcc -dumpfullversion; ld --version | head -n 1; . /etc/os-release; echo $PRETTY_NAME"


def run(system, script):
    """Runs a script of sh in a system's folder of trials: here, or in a chroot with a /proc of its own."""
    folder, root = system
    if root is None:
        command = ["sh", "-c", script]
    else:
        inside = 'mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && exec chroot "$1" sh -c "$2"'
        command = ["unshare", "-m", "sh", "-c", inside, "-", str(root), "cd /trial; " + script]
    return subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)


def attempt(system, build, function, size):
    """What the table says of a trial: calls, or the first line of what went wrong."""
    steps = [
        ("compile", f"export PATH=$PWD/bundle/bin:$PATH; rm -f prog*.data prog*.rec; {build}"),
        ("run", f"./prog {size} > plain.txt"),
        ("record", f"bundle/bin/fathom record -o prog -- ./prog {size} > recorded.txt && cmp plain.txt recorded.txt"),
        ("check", "bundle/bin/fathom check prog.data"),
        ("report", f"bundle/bin/fathom report proc/{function} prog.data"),
    ]
    said = {}
    for name, script in steps:
        done = run(system, script)
        said[name] = done
        if done.returncode != 0:
            words = (done.stderr.strip() or done.stdout.strip() or "no word").splitlines()[0]
            return False, f"**no** ({name}: {words[:90]})"
    if " 0 broken" not in said["check"].stdout + said["check"].stderr:
        return False, "**no** (check: broken invariants)"
    calls = re.search(r"([0-9.]+[kM]?) calls in", said["record"].stderr)
    return True, f"yes, {calls[1]} calls" if calls else "yes, sampled"


def prepare(bundle, suite, place, folder):
    """(folder, root) of a system's trials."""
    root = None
    if suite is not None:
        root = pathlib.Path(place).resolve()
        if not (root / "usr" / "bin" / "gcc").exists():
            subprocess.run(["debootstrap", "--variant=minbase", "--include=g++", suite, root], check=True,
                           stdout=subprocess.DEVNULL)
        folder = root / "trial"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    with tempfile.TemporaryDirectory(dir=folder) as unpacked:
        subprocess.run(["tar", "-xJf", bundle, "-C", unpacked], check=True)
        next(pathlib.Path(unpacked).iterdir()).rename(folder / "bundle")
    shutil.copy(SOURCE / "examples" / "market.c", folder)
    (folder / "threads.cc").write_text(THREADS)
    (folder / "one.c").write_text(ONE)
    return folder, root


def row(bundle, suite=None, place=None):
    """(whether all of it worked, the cells)."""
    with tempfile.TemporaryDirectory() as folder:
        system = prepare(bundle, suite, place, pathlib.Path(folder))
        libc, gcc, linker, name = run(system, VERSIONS).stdout.splitlines()
        versions = [line.split()[-1] for line in (libc, gcc, linker)]
        found = [attempt(system, *trial) for _, *trial in TRIALS]
    return all(ok for ok, _ in found), [name, *versions, *(text for _, text in found)]


def page(rows):
    """The document: a line for each trial, a column for each system."""
    titles = ["", "glibc", "gcc", "binutils", *(name for name, *_ in TRIALS)]
    lines = ["| " + " | ".join(cells) + " |" for cells in zip(titles, *rows)]
    lines.insert(1, "|---" * (len(rows) + 1) + "|")
    return "\n".join(lines)


HEAD = """# Where fathom was tried

Made by `tools/platforms.py` on {date}; do not edit. Each system but the first is a chroot with the first one's kernel
({kernel}), where `make bundle` was run. A cell says "yes" if

- the system's compiler built `examples/market.c` (or threads and exceptions in C++) with the bundle's `fathom cc`,
- the program that was recorded printed what it prints plain,
- the profile has no broken invariant, and a page of it was printed.

"""


def main(arguments):
    only = "--only" in arguments
    bundle, *places = [argument for argument in arguments if argument != "--only"]
    found = [row(bundle), *(row(bundle, *place.split("=", 1)) for place in places)]
    table = page([cells for _, cells in found])
    if only:
        print(table)
        return 0 if all(ok for ok, _ in found) else 1
    text = HEAD.format(date=datetime.date.today().isoformat(), kernel="Linux " + ".".join(os.uname().release.split(".")[:2]))
    (SOURCE / "docs" / "platforms.md").write_text(text + table + "\n")
    return 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
