#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What importing costs: CPU time and memory for each format, of files of about the same size, in rounds.
import.py BUILD [MEGABYTES [ROUNDS [OTHER_BUILD]]]: with OTHER_BUILD both in turn."""
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import forms

CALLEES = 6  # of a function, as a rule: programs are not random graphs
DEPTHS = (6, 40)
DIFFERENT = 20000  # stacks


def stacks(random_numbers):
    """Walks through a program of functions that call a few others each; then the same again, in any order."""
    callees = [[random_numbers.randrange(forms.FUNCTIONS) for _ in range(CALLEES)] for _ in range(forms.FUNCTIONS)]
    several = []
    for _ in range(DIFFERENT):
        at, stack = 0, [0]
        for _ in range(random_numbers.randint(*DEPTHS)):
            at = callees[at][min(int(random_numbers.expovariate(1)), CALLEES - 1)]
            stack.append(at)
        several.append(stack)
        yield stack
    while True:
        yield random_numbers.choice(several)


def made_apart(folder, megabytes):
    """In a process of its own: what this one had at most counts for those that it starts."""
    child = os.fork()
    if child == 0:
        for name, write in forms.FORMS.items():
            with open(folder / name, "wb") as out:
                write(out, stacks(random.Random(7)), megabytes << 20)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    return {path.name: path for path in sorted(folder.iterdir())}


def cost(build, path, out):
    """CPU seconds and MiB."""
    child = subprocess.Popen([build / "src/cli/fathom", "import", "-o", out, path], stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    assert status == 0, path
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main(build, megabytes=100, rounds=3, *others):
    builds = [pathlib.Path(path).absolute() for path in (build, *others)]
    with tempfile.TemporaryDirectory(prefix="fathom-exchange-") as name:
        folder = pathlib.Path(name)
        for form, path in made_apart(folder, int(megabytes)).items():
            size = path.stat().st_size / 1e6
            costs = {}
            for _ in range(int(rounds)):  # in turn: the machine is the same for both
                for of in builds:
                    costs.setdefault(of, []).append(cost(of, path, folder / "out.data"))
            for of, all_of_it in costs.items():
                seconds, memory = min(all_of_it)
                print(f"import of {form}, {size:.0f} MB: {seconds:.2f} s of CPU time, {size / seconds:.0f} MB/s, "
                      f"{memory:.0f} MiB at most, {memory * 1.048576 / size:.1f} times the file"
                      f"{'' if len(builds) == 1 else f' ({of})'}")


main(*sys.argv[1:])
