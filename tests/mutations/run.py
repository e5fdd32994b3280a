#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Breaks the code in small ways and looks whether the tests notice.

usage: tests/mutations/run.py [--checkout FOLDER] [--results FILE] LIST [WORD...]

LIST is a file such as serve.txt beside this one (record.txt, trace.txt, others.txt): mutations, each

    == what is broken
    file: path below the checkout
    test: name of a test; several lines are several tests, any of which may notice
    cases: beginnings of the names of cases, with _ for a space, where the test takes such
    ---
    text of the file, which occurs once
    +++
    what stands there instead

WORD: only those whose first line contains it. Without --checkout, a checkout of HEAD is made in the
temporary folder and built; one that is given (never the one that is worked in) must be built, and is
left as it was. Ends with 0 when all were noticed. Some minutes for a dozen mutations: not in CI, which
only runs test_lists.py, so that the lists keep up with the code.
"""
import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile

UNBUILT = 125  # meson's own


def read_list(path):
    mutations, part = [], None
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("== "):
                mutations.append({"what": line[3:].strip(), "file": None, "tests": [], "cases": [],
                                  "old": "", "new": ""})
                part = None
            elif line == "---\n":
                part = "old"
            elif line == "+++\n":
                part = "new"
            elif part is not None:
                mutations[-1][part] += line
            elif line.startswith("file: "):
                mutations[-1]["file"] = line[6:].strip()
            elif line.startswith("test: "):
                mutations[-1]["tests"].append(line[6:].strip())
            elif line.startswith("cases: "):
                mutations[-1]["cases"] += line[7:].split()
    return mutations


def texts(mutation):
    """The text to be replaced and its replacement, as run.py writes them."""
    return mutation["old"].rstrip("\n"), mutation["new"].rstrip("\n")


def make_checkout(folder):
    source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    checkout = os.path.join(folder, "checkout")
    for command in (["git", "clone", "-q", "--shared", source, checkout],
                    ["meson", "setup", os.path.join(checkout, "build"), checkout],
                    ["ninja", "-C", os.path.join(checkout, "build")]):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return checkout


def run_tests(checkout, mutation):
    chosen = [shlex.quote(word.replace("_", " ")) for word in mutation["cases"]]
    cases = ["--test-args=" + " ".join(chosen)] if chosen else []
    command = ["meson", "test", "-C", os.path.join(checkout, "build"), "--setup", "full",
               "--timeout-multiplier", "2", *cases, *mutation["tests"]]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    failed = [re.split(r" +(?:FAIL|TIMEOUT|ERROR) ", line.split(" / ")[-1])[0]
              for line in done.stdout.splitlines()
              if " / " in line and re.search(r" (?:FAIL|TIMEOUT|ERROR) ", line)]
    return done.returncode, sorted(set(failed)), done.stdout


def try_one(checkout, mutation):
    old, new = texts(mutation)
    path = os.path.join(checkout, mutation["file"])
    with open(path, encoding="utf-8") as file:
        before = file.read()
    count = before.count(old)
    if count != 1:
        return f"STALE: its text occurs {count} times in {mutation['file']}"
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(before.replace(old, new))
        status, failed, said = run_tests(checkout, mutation)
    finally:
        with open(path, "w", encoding="utf-8") as file:
            file.write(before)
    if status == UNBUILT or "No suitable tests" in said:
        return "NOT RUN: " + " | ".join(said.splitlines()[-12:])
    return "SURVIVED" if status == 0 else "noticed by " + ", ".join(failed)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--checkout")
    parser.add_argument("--results", type=argparse.FileType("a"), default=sys.stdout)
    parser.add_argument("list")
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    good = True
    with tempfile.TemporaryDirectory() as folder:
        checkout = options.checkout or make_checkout(folder)
        for mutation in read_list(options.list):
            if options.words and not any(word in mutation["what"] for word in options.words):
                continue
            result = try_one(checkout, mutation)
            good = good and result.startswith("noticed")
            print(f"{mutation['what']}: {result}", file=options.results, flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
