#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`fathom diff` of recorded programs: a planted difference is the first row, with its path.

usage: test_diff.py FATHOM"""
import json
import os
import subprocess
import sys
import tempfile

fathom = sys.argv[1]
failures = number = 0

PROGRAM = """
#include <stdlib.h>
#include <string.h>
#define OWN __attribute__((noinline, noclone))
static volatile long sink;
OWN int leaf(int x) { for (int i = 0; i < x; i++) sink += i; return x; }
OWN char *copy(const char *text) {
    char *fresh = malloc(strlen(text) + 1);
    strcpy(fresh, text);
#ifdef ALLOCATES
    void *volatile more = malloc(100);
    free(more);
#endif
    return fresh;
}
OWN int scan(int x) { return leaf(x) + leaf(x + 1); }
OWN int first(void) { return scan(1); }
OWN int second(void) {
#ifdef CALLS
    sink += scan(3);
#endif
    return scan(2);
}
OWN int third(void) { free(copy("three")); return scan(3); }
OWN int fourth(void) { free(copy("four")); return scan(4); }
#ifdef RENAMED
#define keep preserve
#endif
OWN int keep(int x) { return leaf(x) + (x > 0 ? keep(x - 1) : 0); }
int main(void) {
    for (int i = 0; i < 100; i++) {
        sink += first() + second() + third() + fourth() + keep(3);
    }
    return 0;
}
"""


def check(name, holds, detail=""):
    global failures, number
    number += 1
    failures += not holds
    print(f"{'ok' if holds else 'not ok'} {number} {name}{'' if holds else ': ' + str(detail)[:3000]}")


def run(*arguments, status=0):
    told = subprocess.run(arguments, capture_output=True, text=True)
    if told.returncode != status:
        raise SystemExit(f"Bail out! {arguments}: {told.returncode} {told.stderr}")
    return told.stdout


def record(folder, name, *options):
    source = os.path.join(folder, "made.c")
    program = os.path.join(folder, name)
    with open(source, "w") as file:
        file.write(PROGRAM)
    run(fathom, "cc", "-O1", "-g", *options, source, "-o", program)
    run(fathom, "record", "-o", program, "--", program)
    return program + ".data"


def causes(before, after, *options):
    """The difference, the causes, and the functions taken for one another."""
    document = json.loads(run(fathom, "diff", "--json", *options, before, after))
    rows = {table["name"]: table["rows"] for table in document["tables"]}
    return (document["facts"]["difference"],
            [row["cells"] for row in rows.get("causes", []) if row["role"] == "cause"],
            [row["cells"] for row in rows.get("renames", [])])


def main():
    with tempfile.TemporaryDirectory() as folder:
        plain = record(folder, "plain")
        again = record(folder, "again")
        difference, rows, _ = causes(plain, again, "--by=calls")
        check("two runs of one program differ nowhere in calls", rows == [] and difference == 0, rows)
        _, rows, _ = causes(plain, again, "--by=allocs")
        check("nor in allocations", rows == [])

        more = record(folder, "more", "-DCALLS")
        _, rows, _ = causes(plain, more)
        first = rows[0] if rows else {}
        check("one more call in one of four contexts is the only row", len(rows) == 1, rows)
        # scan and its two calls of leaf, 100 times.
        check("with all that it led to", first.get("difference") == 300, first)
        check("and its path", first.get("context", "").endswith("main › second › scan"), first)
        check("from 0 to 100 calls by this line", (first.get("calls_before_count"),
                                                   first.get("calls_after_count")) == (0, 100), first)

        allocating = record(folder, "allocating", "-DALLOCATES")
        _, rows, _ = causes(plain, allocating)
        first = rows[0] if rows else {}
        check("one more allocation a call is copy's own",
              first.get("kind") == "self" and "copy" in first.get("what", "") and
              first.get("difference") == 200, rows)
        check("in both contexts", first.get("context") == "in 2 contexts", first)

        renamed = record(folder, "renamed", "-DRENAMED")
        _, rows, renames = causes(plain, renamed, "--by=calls")
        check("a renamed function is no difference", rows == [], rows)
        check("and shown as a guess", [(row["before"], row["after"], row["how"])
                                       for row in renames] ==
              [("made.c:keep", "made.c:preserve", "renamed?")], renames)
        told = run(fathom, "diff", "--by=calls", "--no-renames", plain, renamed)
        check("unless guesses are not wanted", "one build alone: 1 before, 1 after" in told, told)
        told = subprocess.run([fathom, "diff", plain, os.path.join(folder, "none.data")],
                              capture_output=True, text=True)
        check("a file that is not there is an error that names it",
              told.returncode == 1 and "none.data" in told.stderr, told.stderr)
    print(f"1..{number}")
    return 1 if failures else 0


sys.exit(main())
