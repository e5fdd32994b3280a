#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds of one program by other compilers, at other levels and grades, call the same: `fathom diff`
names no cause, and no limit on calls breaks. A call more is found all the same.

usage: test_levels.py FATHOM"""
import json
import os
import shutil
import sys
import tempfile

from exchange_lib import check, end, must, run

fathom = os.path.abspath(sys.argv[1])

# Small functions that compilers inline, wrappers that leave nothing of themselves, calls of one
# function in two branches that are alike, recursion, and a callee that is a constant.
PROGRAM = """
#include <stdlib.h>
static volatile long sink;
__attribute__((noinline)) void leaf(long x) { sink += x; }
static long pick(long x) { return x & 7; }
static void set2(long a, long b) { leaf(pick(a)); leaf(pick(b)); }
static void *volatile last;
static void keep(void *block) { last = block; }
static void *take(long n) { void *block = malloc((size_t)n + 1); keep(block); return block; }
__attribute__((noinline)) void sorted(long a, long b)
{
    if (pick(a) < pick(b)) {
        sink += a;
        set2(a, b);
    } else {
        sink += b;
        set2(b, a);
    }
}
static long twice(long (*what)(long), long x) { return what(x) + what(x + 1); }
__attribute__((noinline)) long deep(long n) { return n > 0 ? pick(n) + deep(n - 1) : twice(pick, sink); }
__attribute__((noinline)) void work(long n)
{
    for (long i = 0; i < n; i++) {
        sorted(i, i * 5 + 3);
        free(take(i));
        sink += deep(i % 9);
#ifdef MORE
        if (i % 10 == 0)
            leaf(i);
#endif
    }
}
int main(void) { work(700); return 0; }
"""


def record(name, compiler, *options):
    with open("made.c", "w") as file:
        file.write(PROGRAM)
    must(fathom, "cc", *options[:1], compiler, "-g", *options[1:], "made.c", "-o", name)
    must(fathom, "record", "-q", "-o", name, "--", "./" + name)
    return name + ".data"


def rows_of(document, name):
    return [row["cells"] for table in document["tables"] if table["name"] == name
            for row in table["rows"]]


def causes(before, after):
    """What is told of calls, with its sum."""
    told = must(fathom, "diff", "--json", "--by=calls", before, after)
    return [(row["what"], row["difference"]) for row in rows_of(json.loads(told.stdout), "causes")
            if row["kind"] is not None]


def verdicts(before, after):
    """By limit; -1 of the exit status when nothing was judged."""
    told = run(fathom, "check", "--json", f"--against={before}", "--expect=calls total = +0",
               "--expect=calls work = +0", "--expect=calls self leaf = +0",
               "--expect=new calls in made.c = 0", "--expect=allocations total = +0", after)
    rows = rows_of(json.loads(told.stdout), "limits") if told.stdout else []
    return told.returncode, {row["limit"]: row for row in rows}


def builds():
    compilers = [name for name in ("gcc", "clang") if shutil.which(name)]
    ret = {}
    for compiler in compilers:
        for options in ("-O0", "-O1", "-O2", "-O3", "-O2 -flto") if compiler == "gcc" else \
                ("-O0", "-O2"):
            name = (compiler + options).replace(" ", "")
            ret[name] = record(name, compiler, "--grade=deep", *options.split())
    for grade in "full", "coverage":
        ret[grade] = record(grade, "gcc", "--grade=" + grade, "-O2")
    return ret


def nothing_differs(profiles):
    for base in "gcc-O2", "gcc-O0":
        for other in profiles:
            for before, after in ((base, other), (other, base)):
                told = causes(profiles[before], profiles[after])
                status, limits = verdicts(profiles[before], profiles[after])
                check(f"{after} calls what {before} does", not told and status == 0 and
                      {row["verdict"] for row in limits.values()} == {"kept"}, (told, limits))


def more_is_found(profiles):
    """70 calls more, whatever the base was built with."""
    more = record("more", "gcc", "--grade=deep", "-O2", "-DMORE")
    for base, data in profiles.items():
        told = causes(data, more)
        check(f"what is called more often than in {base} is named",
              ("work calls leaf now", 70) in told and len(told) == 1, told)
        status, limits = verdicts(data, more)
        row = limits.get("calls total = +0", {})
        check("and breaks its limit, which says where and why",
              status == 1 and row.get("verdict") == "broken" and
              row["after"] - row["before"] == 70 and row["where"].endswith("work › leaf") and
              row["because"].startswith("work calls leaf now"), row)
        check("that of its path, too", limits["calls work = +0"]["verdict"] == "broken" and
              limits["new calls in made.c = 0"]["after"] == 70 and
              limits["allocations total = +0"]["verdict"] == "kept", limits)


def all_columns_are_filled(profiles):
    data = profiles["gcc-O2"]
    told = run(fathom, "check", "--json", "--expect=calls total ≤ 1", "--expect=peak bytes ≤ 1",
               "--expect=calls work ≤ 1", data)
    rows = rows_of(json.loads(told.stdout), "limits")
    check("a limit that is broken without a base says so",
          [row["because"] for row in rows] == ["not known: there is no base to compare with",
                                               "not known: the peak is one number of a run",
                                               "not known: there is no base to compare with"] and
          [row["where"] for row in rows[:2]] == 2 * ["the whole program"] and
          rows[2]["where"].endswith("main › work"), rows)
    told = run(fathom, "check", "--json", f"--against={data}", "--expect=calls total ≤ 1", data)
    row = rows_of(json.loads(told.stdout), "limits")[0]
    check("one that was broken before, too", row["because"] == "it was so before", row)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    built = builds()
    nothing_differs(built)
    more_is_found(built)
    all_columns_are_filled(built)
    os.chdir("/")
end()
