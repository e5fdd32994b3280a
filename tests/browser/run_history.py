#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records two builds of a program four times, and runs history.mjs on the page of `fathom history`:
run_history.py FATHOM BUILD. Skips as browser_lib.py tells."""
import json
import os
import pathlib
import shutil
import subprocess
import sys

import browser_lib

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
    fathom = os.path.abspath(fathom)
    with browser_lib.place(build) as place:
        profiles = record(fathom, place.folder)
        page, rows = place.path("history.html"), place.path("rows.json")
        with open(page, "wb") as out:
            subprocess.run([fathom, "history", "--html", *profiles], check=True, stdout=out)
        told = json.loads(subprocess.run([fathom, "history", "--json", *profiles], check=True,
                                         capture_output=True).stdout)
        pathlib.Path(rows).write_text(json.dumps([row["cells"] for row in told["tables"][0]["rows"]]))
        return place.run("history.mjs", place.browser, place.shots, page, rows)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
