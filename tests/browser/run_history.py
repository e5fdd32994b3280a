#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records two builds of a program four times, and runs history.mjs on the page of `fathom history`:
run_history.py FATHOM BUILD. Skips (77) as run.py does."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import run

PROGRAM = """#include <stdlib.h>
static int leaf(int n) { void *block = malloc(16); free(block); return n + 1; }
int main(int argc, char **argv)
{
    int n = 0, rounds = argc > 1 ? atoi(argv[1]) : 0;
    for (int i = 0; i < rounds; i++)
        n = leaf(n);
    return n == 0;
}
"""
RUNS = (("one", 100, 0), ("two", 100, 0), ("three", 130, 0), ("four", 130, 1))  # label, rounds, build


def record(fathom, folder):
    """Profiles of the runs, of which the last is of another build."""
    for build in (0, 1):
        source = os.path.join(folder, f"made{build}.c")
        pathlib.Path(source).write_text(PROGRAM + f"int build = {build};\n")
        subprocess.run([fathom, "cc", "-O0", "-g", source, "-o", os.path.join(folder, f"made{build}")], check=True)
    profiles = []
    for label, rounds, build in RUNS:
        # The runs of both builds are of one program.
        program = os.path.join(folder, "made")
        shutil.copy(os.path.join(folder, f"made{build}"), program)
        profiles.append(os.path.join(folder, label))
        subprocess.run([fathom, "record", "-o", profiles[-1], "--", program, str(rounds)], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return [f"{path}.data" for path in profiles]


def main(fathom, build):
    source, build, fathom = pathlib.Path(__file__).resolve().parent, pathlib.Path(build), os.path.abspath(fathom)
    browser = run.prepare(source, build)
    for each in ("browser.mjs", "history.mjs"):
        shutil.copy(source / each, build / each)
    shots = build / "screenshots"
    shots.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="fathom-browser-") as folder:
        profiles = record(fathom, folder)
        page = os.path.join(folder, "history.html")
        with open(page, "wb") as out:
            subprocess.run([fathom, "history", "--html", *profiles], check=True, stdout=out)
        told = json.loads(subprocess.run([fathom, "history", "--json", *profiles], check=True,
                                         capture_output=True).stdout)
        rows = os.path.join(folder, "rows.json")
        pathlib.Path(rows).write_text(json.dumps([row["cells"] for row in told["tables"][0]["rows"]]))
        return subprocess.run(["node", "history.mjs", browser, str(shots), page, rows], cwd=build).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
