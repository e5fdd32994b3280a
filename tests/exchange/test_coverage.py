#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often lines ran, as lcov and gcov formats say it, against gcov itself and lcov's tools.

usage: test_coverage.py FATHOM"""
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from exchange_lib import check, end, must, skip

fathom = os.path.abspath(sys.argv[1])

PROGRAM = """
static volatile int sink;
static int odd(int x) {
    if (x % 2)
        return 1;
    return 0;
}
static int never(int x) {
    return x + 1;
}
int main(int argc, char **argv) {
    (void)argv;
    for (int i = 0; i < 50; i++)
        sink += odd(i);
    if (argc > 7)
        sink = never(sink);
    return 0;
}
"""


def of_lcov(text):
    lines = {int(line): int(count) for line, count in re.findall(r"^DA:(\d+),(\d+)", text, re.M)}
    calls = {name: int(count) for count, name in re.findall(r"^FNDA:(\d+),(.*)", text, re.M)}
    return lines, calls


def of_gcov(document):
    assert document["format_version"] in ("1", "2")
    file, = [f for f in document["files"] if f["file"].endswith("prog.c")]
    return ({line["line_number"]: line["count"] for line in file["lines"]},
            {function["name"]: function["execution_count"] for function in file["functions"]})


def by_gcov(folder):
    """What gcc's own coverage says of the same program."""
    must("gcc", "-O0", "--coverage", "-o", "counted", "prog.c", cwd=folder)
    must(os.path.join(folder, "counted"), cwd=folder)
    must("gcov", "--json-format", "counted-prog.gcda", cwd=folder)
    name, = [f for f in os.listdir(folder) if f.endswith(".gcov.json.gz") and not f.startswith("run.")]
    with gzip.open(os.path.join(folder, name)) as packed:
        return of_gcov(json.load(packed))


def main():
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "prog.c"), "w", encoding="utf-8") as out:
            out.write(PROGRAM)
        must(fathom, "cc", "--grade=coverage", "gcc", "-O0", "-g", "-o", "prog", "prog.c", cwd=folder)
        must(fathom, "record", "-o", "run", "--", "./prog", cwd=folder)
        data = os.path.join(folder, "run.data")
        info, packed = os.path.join(folder, "run.info"), os.path.join(folder, "run.gcov.json.gz")
        must(fathom, "export", "--to=lcov", data)
        must(fathom, "export", "--to=gcov", data)
        with open(info, encoding="utf-8") as text:
            lines, calls = of_lcov(text.read())
        with gzip.open(packed) as text:
            of_json = of_gcov(json.load(text))
        check("both say the same", of_json[0] == lines and
              {k: v for k, v in of_json[1].items()} == calls, (of_json, lines, calls))
        check("a function that ran, and one that did not", calls.get("odd") == 50 and
              calls.get("never") == 0, calls)
        if shutil.which("gcov") is None:
            skip("gcov says the same", "not installed")
        else:
            theirs, executed = by_gcov(folder)
            both = {line for line in lines if line in theirs}
            check("gcov has the lines that we have", len(both) >= 6, (lines, theirs))
            # Of "for (...; i < 50; i++)" gcov counts the comparison: one more than the rounds.
            check("and counts them as we do", all(abs(lines[n] - theirs[n]) <= 1 for n in both),
                  {n: (lines[n], theirs[n]) for n in both if lines[n] != theirs[n]})
            check("and the functions", executed == calls, (executed, calls))
        if shutil.which("lcov") is None or shutil.which("genhtml") is None:
            skip("lcov and genhtml read it", "not installed")
        else:
            told = subprocess.run(["lcov", "--summary", info], capture_output=True, text=True,
                                  cwd=folder, env={**os.environ, "HOME": folder})
            ran = sum(count > 0 for count in lines.values())
            check("lcov finds as many lines and functions", f"({ran} of {len(lines)} lines)" in
                  told.stdout + told.stderr and f"({len([c for c in calls.values() if c])} of "
                  f"{len(calls)} functions)" in told.stdout + told.stderr, told)
            told = subprocess.run(["genhtml", "-q", "-o", "html", info], capture_output=True,
                                  text=True, cwd=folder, env={**os.environ, "HOME": folder})
            check("genhtml makes its pages", told.returncode == 0 and
                  os.path.exists(os.path.join(folder, "html", "index.html")), told)
    end()


main()
