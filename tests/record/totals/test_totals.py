#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Totals inside recursions, of programs that are recorded. Each program goes down paths of functions
that call each other, and works at the end of each in a function of that path alone. So the time of
that function is the time of the path, and the oracle adds up paths: exact, but for the time that the
functions in between cost themselves."""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import record_lib as lib

FUNCTIONS = 6
HEAD = """
#include <stdio.h>
static volatile unsigned long sink;
"""
# With a call it has a frame, without one it has none.
WORK = """
__attribute__((noinline)) void work%d(void)
{
    for (long i = 0; i < %d; i++)
        sink += (unsigned long)i;
    %s
}
"""


def draw(rng):
    """Paths of functions, as strings of their numbers."""
    calls = {f: rng.sample(range(FUNCTIONS), 3) for f in range(FUNCTIONS)}
    paths = []
    for _ in range(14):
        path = [rng.randrange(3)]
        while len(path) < 12 and rng.random() < 0.85:
            path.append(rng.choice(calls[path[-1]]))
        paths.append(path)
    return paths


def program(paths):
    text = [HEAD] + [f"void f{f}(const char *path);\n" for f in range(FUNCTIONS)]
    for k in range(len(paths)):
        text.append(WORK % (k, 6000000, "puts(\"\");" if k % 2 else ""))
    for f in range(FUNCTIONS):
        cases = "".join(f"    case '{g}': f{g}(path + 1); break;\n" for g in range(FUNCTIONS))
        cases += "".join(f"    case '{chr(97 + k)}': work{k}(); break;\n" for k in range(len(paths)))
        text.append(f"__attribute__((noinline)) void f{f}(const char *path)\n{{\n"
                    f"    switch (*path) {{\n{cases}    }}\n"
                    "    __asm__ volatile(\"\" ::: \"memory\");\n}\n")
    text.append("int main(void)\n{\n    for (int i = 0; i < 3; i++) {\n")
    for k, path in enumerate(paths):
        rest = "".join(map(str, path[1:])) + chr(97 + k)
        text.append(f"        f{path[0]}(\"{rest}\");\n")
    text.append("    }\n    return 0;\n}\n")
    return "".join(text)


def figures(path):
    """{function: (own, total)} in milliseconds; no total is another one's."""
    told = lib.must([lib.FATHOM, "report", "--json", "top_procs/1-1000/time/both/oa", path], path.parent)
    found = {}
    for row in json.loads(told.stdout)["tables"][0]["rows"]:
        cells = row["cells"]
        assert not any(key.startswith("time_total") and key.endswith("_at_most") for key in cells), cells
        found[cells["proc"].split(":")[-1]] = (round(1000 * cells["time_self_seconds"]),
                                               round(1000 * cells["time_total_seconds"]))
    return found


def figures_of_top(path):
    """The same, as `fathom top` tells them."""
    told = lib.must([lib.FATHOM, "top", "--batch", "--count", "1", path], path.parent).stdout
    rows = [line.split("\t") for line in told.splitlines()[2:] if line]
    return {row[-1]: (round(1000 * float(row[0])), round(1000 * float(row[1]))) for row in rows}


def expected(paths, found):
    """{function: (least, most)}: between them is what functions in between cost themselves."""
    between = sum(own for name, (own, _) in found.items() if not name.startswith("work"))
    totals = {}
    for k, path in enumerate(paths):
        own = found.get(f"work{k}", (0, 0))[1]  # with what puts costs, which is no function of ours
        for f in set(path):
            totals[f"f{f}"] = totals.get(f"f{f}", 0) + own
    return {name: (total, total + between) for name, total in totals.items()}


def check(folder, seed, options):
    paths = draw(random.Random(seed))
    (folder / "prog.c").write_text(program(paths))
    lib.must([lib.FATHOM, "cc", *options, "-w", "prog.c", "-o", "prog"], folder)
    lib.must([lib.FATHOM, "record", "-q", "-o", "r", "--", "./prog"], folder)
    data = folder / "r.data"
    lib.must(["./prog"], folder, env={**os.environ, "FATHOM_OUTPUT": str(folder / "again.rec")})
    for found in (figures(data), figures_of_top(folder / "again.rec")):
        wrong = {}
        for name, (least, most) in expected(paths, found).items():
            total = found.get(name, (0, 0))[1]
            if not least <= total <= most:
                wrong[name] = (least, total, most)
        assert wrong == {}, (seed, options, wrong, paths, found)
    checked = subprocess.run([lib.FATHOM, "check", data], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout
    assert "totals inside recursions" in checked.stdout, checked.stdout


def main():
    cases = ((1, ["--grade=deep", "-O1"]), (2, ["--grade=deep", "-O2"]), (3, ["--grade=full", "-O1"]),
             (1, ["--grade=deep", "--hooks=slots", "-O1"]), (4, ["--grade=deep", "--hooks=slots", "-O2"]))
    tap = lib.Tap()
    with tempfile.TemporaryDirectory() as name:
        for number, (seed, options) in enumerate(cases, 1):
            folder = pathlib.Path(name) / str(number)
            folder.mkdir()
            tap.case(check, folder, seed, options,
                     name=f"{' '.join(options)}: totals inside recursions are those of the paths")
    return tap.done()


sys.exit(main())
