#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What finishing takes of memory for each context."""
import json
import os
import subprocess
import sys
import tempfile

import record_lib as lib

# Every order in which some of the functions can call each other is a context.
FUNCTIONS = 9
BYTES_MAX = 300


def source():
    numbers = range(FUNCTIONS)
    calls = " ".join(f"if (!(used & {1 << i})) f{i}(used | {1 << i});" for i in numbers)
    return ("#include <stdlib.h>\nstatic volatile int work;\n" +
            "".join(f"__attribute__((noinline)) void f{i}(unsigned used);\n" for i in numbers) +
            "".join(f"void f{i}(unsigned used) {{ work++; {calls} work++; }}\n" for i in numbers) +
            "int main(int count, char **words)\n"
            "{ (void)count; f0((unsigned)atoi(words[1]) | 1); return 0; }\n")


def contexts(functions):
    found = 1
    for i in range(1, functions):
        found = 1 + i * found
    return found


def finished(folder, functions):
    """Most memory, in bytes, of finishing a recording in which so many functions call each other. Without samples: one
    in libc makes finishing read its debug information, 35 MB."""
    unused = sum(1 << i for i in range(functions, FUNCTIONS))
    recording = os.path.join(folder, f"{functions}.rec")
    subprocess.run([os.path.join(folder, "prog"), str(unused)], check=True,
                   env={**os.environ, "FATHOM_OUTPUT": recording, "FATHOM_TICKS": "none"})
    pid = os.posix_spawn(lib.FATHOM, [lib.FATHOM, "finish", "-q", recording], os.environ)
    _, status, usage = os.wait4(pid, 0)
    if status != 0:
        raise RuntimeError(f"finish: status {status}")
    return usage.ru_maxrss * 1024


def main():
    tap = lib.Tap()
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "prog.c"), "w") as file:
            file.write(source())
        lib.must([lib.FATHOM, "cc", "gcc", "-O1", "-g", "prog.c", "-o", "prog"], folder)
        few, many = finished(folder, 4), finished(folder, FUNCTIONS)
        data = os.path.join(folder, f"{FUNCTIONS}.data")
        menu = lib.must([lib.FATHOM, "report", "--json", "menu", data], folder).stdout
    number = contexts(FUNCTIONS)
    found = json.loads(menu)["facts"]["pd_count"]
    tap.same(found, number + 3, "contexts, with main, its thread and the program")
    each = (many - few) / (number - contexts(4))
    tap.check(each <= BYTES_MAX, f"{each:.0f} bytes for each context, at most {BYTES_MAX}")
    return tap.done()


sys.exit(main())
