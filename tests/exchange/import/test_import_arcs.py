#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`fathom import` of files that know functions and their callers: against the tools that made them.

usage: test_import_arcs.py FATHOM"""
import collections
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.request

from exchange_lib import check, end, run, skip
from patience import PATIENCE, wait_until

fathom = sys.argv[1]

SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
__attribute__((noinline)) int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__attribute__((noinline)) int odd(int n);
__attribute__((noinline)) int even(int n) { return n == 0 ? 1 : odd(n - 1); }
__attribute__((noinline)) int odd(int n) { return n == 0 ? 0 : even(n - 1); }
int main(void)
{
    int all[50];
    for (int i = 0; i < 50; i++)
        all[i] = i * 7919 % 101;
    qsort(all, 50, sizeof *all, compare);
    printf("%d %d\n", fib(12), even(20) + odd(3));
    return 0;
}
"""
BY_HAND = """events: Ir
fl=m.c
fn=main
1 10
cfn=work
calls=3 20
2 90
fn=work
20 90
"""


def annotated(path, *options):
    """Costs by function as callgrind_annotate prints them: inlined lines have rows of their own."""
    told = run("callgrind_annotate", "--threshold=100", "--auto=no", "--show=Ir", *options, path)
    assert told.returncode == 0, told.stderr
    found = collections.Counter()
    for line in told.stdout.splitlines():
        row = re.match(r"\s*([\d,]+) \(\s*[\d.]+%\)\s+(\S.*?):([^:\[]*(?:::[^:\[]*)*?)(?: \[.*\])?$", line)
        if row and "PROGRAM" not in line:
            found[row[3].strip()] += int(row[1].replace(",", ""))
    return found


def test_by_hand(folder):
    path = os.path.join(folder, "hand.callgrind")
    with open(path, "w", encoding="utf-8") as out:
        out.write(BY_HAND)
    told = run(fathom, "import", path)
    data = os.path.join(folder, "hand.data")
    check("callgrind's format is recognised", told.returncode == 0 and "from callgrind" in told.stdout,
          told)
    check("and it is said that contexts are not known", "not by context" in told.stderr, told)
    told = run(fathom, "check", data)
    check("the figures agree", told.returncode == 0 and " 0 broken" in told.stdout and
          " 0 problems" in told.stdout, told)
    first = run(fathom, "report", data).stdout
    check("the first page has functions and no paths", "Hottest functions" in first and
          "Hottest paths" not in first and "not by context" in first, first)
    for words in ("flame/auto/down/_/all", "tree/auto/down/3/all", "contexts/work", "clique/1",
                  "recursions/auto", "memory/allocated", "root/no"):
        told = run(fathom, "report", words, data)
        check(f"no page of contexts is made up: {words}", told.returncode == 1 and
              "not by context" in told.stderr and told.stderr.count("\n") == 1, told)
    check("calls are told, and events by their name", "3 calls of 2 functions" in first and
          "Total ir:" in first and "Quanta" not in first, first)
    top = json.loads(run(fathom, "report", "--json", "top_procs/1-10/calls/self/oa", data).stdout)
    table, = [table for table in top["tables"] if table["name"] == "procs"]
    columns = set(table["rows"][0]["cells"])
    check("how calls ended is not made up", "calls_count" in columns and
          not columns & {"exits_count", "excps_count", "fails_count", "redos_count"}, columns)
    told = json.loads(run(fathom, "history", "--json", data).stdout)["tables"][0]["rows"][0]["cells"]
    check("history has the same calls", told["calls_count"] == 3, told)
    told = run(fathom, "report", "top_procs/1-10/callseqs/self/oa", data)
    check("what calls led to is no order", told.returncode == 1 and
          "numbers of calls below each call were not recorded" in told.stderr, told)
    text = run(fathom, "report", "proc/work", data).stdout
    check("callers have what their calls cost, and no part of the function's own",
          re.search(r"\n\s*90\s+–\s+3\s+main", text) and "90 ir" in text, text)
    for words in (("diff", data, data), ("merge", "-o", os.path.join(folder, "sum.data"), data, data),
                  ("export", "--to=pprof", "-o", os.path.join(folder, "x"), data),
                  ("check", "--against", data, data)):
        told = run(fathom, *words)
        check(f"{words[0]} says in one line what it cannot", told.returncode in (1, 2) and
              "by function and caller" in told.stderr and told.stderr.count("\n") == 1, told)


def test_valgrind(folder):
    if not all(shutil.which(tool) for tool in ("valgrind", "callgrind_annotate", "gcc")):
        skip("callgrind_annotate's totals", "valgrind or gcc is not installed")
        return
    source, program = os.path.join(folder, "p.c"), os.path.join(folder, "p")
    with open(source, "w", encoding="utf-8") as out:
        out.write(SOURCE)
    assert run("gcc", "-g", "-O1", "-o", program, source).returncode == 0
    for name, options in (("plain", ()), ("instr", ("--dump-instr=yes", "--collect-jumps=yes",
                                                    "--compress-pos=no", "--compress-strings=no"))):
        path, data = (os.path.join(folder, f"{name}.{end}") for end in ("cg", "data"))
        told = run("valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={path}", *options,
                   program, cwd=folder)
        if told.returncode != 0 or not os.path.exists(path):
            skip(f"{name}: callgrind_annotate's totals", "valgrind does not run here")
            continue
        told = run(fathom, "import", "-o", data, path)
        check(f"{name}: valgrind's own file", told.returncode == 0, told)
        exported = os.path.join(folder, f"{name}.callgrind")
        told = run(fathom, "export", "--to=callgrind", "-o", exported, data)
        check(f"{name}: goes out again", told.returncode == 0, told)
        theirs, ours = annotated(path), annotated(exported)
        # Names that stand for two functions get their file or a number when they go out.
        plain = collections.Counter()
        for function, cost in ours.items():
            told_apart = re.sub(r"(@[\w.+-]+\.[chS]+)?(#\d+)?$", "", function)
            plain[function if function in theirs else told_apart] += cost
        check(f"{name}: callgrind_annotate has the same own costs of each function of both",
              +plain == +theirs and len(theirs) > 50,
              (len(theirs), list((plain - theirs).items())[:5], list((theirs - plain).items())[:5]))
        told = run(fathom, "check", "--sample=20", data)
        check(f"{name}: its figures agree", told.returncode == 0, told.stdout[-2000:])


BURNS = r"""
#include <stdio.h>
#include <time.h>
volatile unsigned long sink;
__attribute__((noinline)) void burn(int n) { for (int i = 0; i < n; i++) sink = sink * 3 + 1; }
__attribute__((noinline)) int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__attribute__((noinline)) int odd(int n);
__attribute__((noinline)) int even(int n) { return n == 0 ? 1 : odd(n - 1); }
__attribute__((noinline)) int odd(int n) { return n == 0 ? 0 : even(n - 1); }
__attribute__((noinline)) void twice(void) { burn(100000); burn(100000); }
int main(void)
{
    while (clock() < CLOCKS_PER_SEC / 4) {
        twice();
        burn(1000);
    }
    printf("%d %d\n", fib(12), even(20) + odd(3));
    return 0;
}
"""


def gprof_figures(program, path):
    """Ticks of each function's own, and its calls, those by itself among them."""
    ticks, calls = {}, {}
    for line in run("gprof", "-b", "-p", program, path).stdout.splitlines():
        row = re.match(r"\s*[\d.]+\s+[\d.]+\s+([\d.]+)\s+(?:(\d+)\s+[\d.]+\s+[\d.]+\s+)?(\S+)$", line)
        if row:
            ticks[row[3]] = round(float(row[1]) * 100)
    for line in run("gprof", "-b", "-q", program, path).stdout.splitlines():
        row = re.match(r"\[\d+\]\s+[\d.]+\s+[\d.]+\s+[\d.]+\s+(\d+)(?:\+(\d+))?\s+(\S+)(?: <cycle \d+>)? \[",
                       line)
        if row:
            calls[row[3]] = int(row[1]) + int(row[2] or 0)
    return ticks, calls


def exported_figures(data, folder):
    out = os.path.join(folder, "gmon.callgrind")
    told = run(fathom, "export", "--to=callgrind", "-o", out, data)
    assert told.returncode == 0, told.stderr
    calls, cpu, names, of, self_line = {}, {}, {}, None, False
    for line in open(out, encoding="utf-8"):
        named = re.match(r"c?fn=\((\d+)\)(?: (.*))?$", line)
        if named:
            names.setdefault(named[1], named[2])
        if line.startswith("fn="):
            of, self_line = names[named[1]], True
        elif self_line and re.match(r"\d", line):
            values = line.split()[1:]
            calls[of], cpu[of] = int(values[0]), round(int(values[1]) / 1e7)
            self_line = False
    return cpu, calls


def test_gprof(folder):
    if not all(shutil.which(tool) for tool in ("gprof", "gcc")):
        skip("gprof's figures", "gprof or gcc is not installed")
        return
    source, program = os.path.join(folder, "burns.c"), os.path.join(folder, "burns")
    with open(source, "w", encoding="utf-8") as out:
        out.write(BURNS)
    assert run("gcc", "-pg", "-O1", "-o", program, source).returncode == 0
    path, data = os.path.join(folder, "gmon.out"), os.path.join(folder, "gmon.data")
    told = run(program, cwd=folder)
    if told.returncode != 0 or not os.path.exists(path):
        skip("gprof's figures", "gmon.out was not written")
        return
    told = run(fathom, "import", "-o", data, path)
    check("without its program gmon.out is refused", told.returncode in (1, 2) and
          "--program=PROG" in told.stderr and told.stderr.count("\n") == 1, told)
    told = run(fathom, "import", f"--program={program}", "-o", data, path)
    check("with it it becomes a profile", told.returncode == 0 and
          "from gmon.out" in told.stdout and "estimate" in told.stderr, told)
    told = run(fathom, "check", data)
    check("whose figures agree", told.returncode == 0 and " 0 broken" in told.stdout, told)
    ticks, calls = gprof_figures(program, path)
    own, counted = exported_figures(data, folder)
    for name in ("burn", "twice", "fib", "even", "odd"):
        check(f"{name} has gprof's calls", counted[name] == calls[name] > 0, (counted, calls))
    check("and each function its time", all(own.get(name, 0) == value
                                            for name, value in ticks.items()) and ticks,
          (own, ticks))
    first = run(fathom, "report", data).stdout
    check("inclusive time is called an estimate", "estimate" in first and "CPU time" in first, first)


ONE_NAME = """static int work(int n) { volatile int s = 0; for (int i = 0; i < n; i++) s += i; return s; }
int %s(void) { int r = 0; for (int i = 0; i < %d; i++) r += work(20000); return r; }
"""


def test_gprof_one_name(folder):
    """Two files have a function of one name each: two functions."""
    if not all(shutil.which(tool) for tool in ("gprof", "gcc")):
        skip("functions of one name", "gprof or gcc is not installed")
        return
    room = os.path.join(folder, "names")
    os.mkdir(room)
    for name, calls, more in (("a", 7, "int b(void); int main(void) { return a() + b() == 1; }\n"),
                              ("b", 70, "")):
        with open(os.path.join(room, name + ".c"), "w", encoding="utf-8") as out:
            out.write(ONE_NAME % (name, calls) + more)
    assert run("gcc", "-pg", "-O0", "-o", "prog", "a.c", "b.c", cwd=room).returncode == 0
    run(os.path.join(room, "prog"), cwd=room)
    path, data = os.path.join(room, "gmon.out"), os.path.join(room, "x.data")
    told = run(fathom, "import", "--program=" + os.path.join(room, "prog"), "-o", data, path)
    found = run(fathom, "report", "--json", "find/work", data).stdout
    rows = [row["cells"] for row in json.loads(found)["tables"][0]["rows"]] if found else []
    check("static functions of one name are two in gmon.out", told.returncode == 0 and
          sorted(row["calls_count"] for row in rows) == [7, 70] and
          all("time_self_seconds" in row for row in rows), (told, found))


TWO_OBJECTS = """events: Ir
ob=/lib/a.so
fl=same.c
fn=dup
1 10
ob=/lib/b.so
fn=dup
1 3
fn=main
2 1
cob=/lib/a.so
cfn=dup
calls=4 1
2 10
cfn=dup
calls=1 1
2 3
"""


def test_two_objects(folder):
    path, data = os.path.join(folder, "two.callgrind"), os.path.join(folder, "two.data")
    with open(path, "w", encoding="utf-8") as out:
        out.write(TWO_OBJECTS)
    told = run(fathom, "import", "-o", data, path)
    found = run(fathom, "report", "--json", "find/dup", data).stdout
    rows = {row["cells"]["name"]: row["cells"] for row in json.loads(found)["tables"][0]["rows"]}
    check("a function of two libraries is two", told.returncode == 0 and
          {name: row["calls_count"] for name, row in rows.items()} == {"dup": 4, "dup [b.so]": 1},
          (told, found))
    check("what is searched has its own cost, not calls that are not known",
          [row.get("time_self_count") for _, row in sorted(rows.items())] == [10, 3], found)
    with open(path, "w", encoding="utf-8") as out:
        out.write(TWO_OBJECTS.replace("\n", "\nsummary: 14\n", 1)[:80])
    told = run(fathom, "import", "-o", data, path)
    check("a file that was cut off is told from its summary", told.returncode == 0 and
          "summary says 14 Ir, its functions have 10: it may have been cut off" in told.stderr, told)


def page_of_profile(url):
    text = urllib.request.urlopen(url, timeout=PATIENCE).read().decode()
    return text if "imported from" in text else None


def test_view(folder):
    home = os.path.join(folder, "tmp")
    os.mkdir(home)
    server = subprocess.Popen([fathom, "view", "--no-open", os.path.join(folder, "hand.callgrind")],
                              stdout=subprocess.PIPE, text=True,
                              env={**os.environ, "TMPDIR": home})
    try:
        url = re.search(r"http\S+", server.stdout.readline())[0]
        text = wait_until(lambda: page_of_profile(url), "the file has been read")
        check("view shows such a file at once", "imported from callgrind" in text, text)
    finally:
        server.send_signal(signal.SIGHUP)  # the terminal is closed
        server.wait(timeout=PATIENCE)
    check("and leaves nothing behind", os.listdir(home) == [], os.listdir(home))


def main():
    folder = tempfile.mkdtemp()
    try:
        test_by_hand(folder)
        test_valgrind(folder)
        test_gprof(folder)
        test_gprof_one_name(folder)
        test_two_objects(folder)
        test_view(folder)
    finally:
        shutil.rmtree(folder)
    end()


if __name__ == "__main__":
    main()
