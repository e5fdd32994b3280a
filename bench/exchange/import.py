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

FUNCTIONS = 2000
CALLEES = 6  # of a function, as a rule: programs are not random graphs
DEPTHS = (6, 40)


def stacks(random_numbers, count):
    """Walks through a program of functions that call a few others each."""
    callees = [[random_numbers.randrange(FUNCTIONS) for _ in range(CALLEES)] for _ in range(FUNCTIONS)]
    for _ in range(count):
        at, stack = 0, [0]
        for _ in range(random_numbers.randint(*DEPTHS)):
            at = callees[at][min(int(random_numbers.expovariate(1)), CALLEES - 1)]
            stack.append(at)
        yield stack


def write_folded(out, stack):
    out.write(";".join(f"function_number_{f}" for f in stack) + " 7\n")


def write_perf(out, stack):
    out.write("program 4711/4711 4003.000001:   10101010 cpu-clock: \n")
    out.writelines(f"\t{0x401000 + f:16x} function_number_{f}+0x10 (/usr/bin/program)\n" for f in reversed(stack))
    out.write("\n")


def write_speedscope(out, stacks_of):
    rows = [f"[{','.join(map(str, stack))}]" for stack in stacks_of]
    out.write('{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[' +
              ",".join(f'{{"name":"function_number_{i}"}}' for i in range(FUNCTIONS)) +
              ']},"profiles":[{"type":"sampled","name":"p","unit":"milliseconds","startValue":0,"endValue":1,'
              '"samples":[' + ",".join(rows) + '],"weights":[' + ",".join(["1.5"] * len(rows)) + "]}]}")


def write_callgrind(out, megabytes):
    out.write("# callgrind format\nevents: Ir Dr\n")
    for i in range(megabytes * 4500):
        function, callee = i % 50000, i * 7919 % 50000
        out.write(f"fl=({function % 500}) file_{function % 500}.c\nfn=({function}) function_number_{function}\n"
                  f"{i % 900} 120 30\n+3 12\ncfn=({callee}) function_number_{callee}\ncalls=3 7\n* 360 90\n"
                  f"+1 5 1\n+2 7 2\n-4 15 3\n* 44\n+6 1 1\n+9 812 33\n-2 5 1\n* 7 1\n+3 99\n" + "+1 5 1\n" * 10)


def make(folder, megabytes):
    random_numbers = random.Random(7)
    several = list(stacks(random_numbers, 20000))
    for name, write in (("folded", write_folded), ("perf", write_perf)):
        with open(folder / name, "w", encoding="ascii") as out:
            while out.tell() < megabytes << 20:
                for _ in range(1000):
                    write(out, random_numbers.choice(several))
    with open(folder / "speedscope", "w", encoding="ascii") as out:
        write_speedscope(out, random_numbers.choices(several, k=megabytes * 9000))
    with open(folder / "callgrind", "w", encoding="ascii") as out:
        write_callgrind(out, megabytes)


def made_apart(folder, megabytes):
    """In a process of its own: what this one had at most counts for those that it starts."""
    child = os.fork()
    if child == 0:
        make(folder, megabytes)
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
                      f"{memory:.0f} MiB at most{'' if len(builds) == 1 else f' ({of})'}")


main(*sys.argv[1:])
