#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--grade=coverage: how often each line ran, against gcov over all contexts, and against what is
known of the program in each context."""
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from finish_lib import CASES, DUMP, FATHOM, PROGRAMS, Tap, build, must, need, record, run

# gcov takes it that calls return, so programs that longjmp, throw or exit from below are no
# witnesses: the line that calls pthread_exit has the count 0 there, and a line that is left by
# return and by exception counts once for each piece of cleaning up.
WITNESSES = ["branches.c", "recursion.c", "mutual.c", "pointers.c", "sorting.c", "inlining.c"]


def lines_of_gcov(source, folder):
    """Line -> count, as gcov has it."""
    compiler = "g++" if source.endswith(".cc") else "gcc"
    must([compiler, "-O0", "--coverage", "-fprofile-update=atomic", PROGRAMS / source, "-o",
          "gcov-prog", "-lpthread", "-ldl"], folder)
    run([folder / "gcov-prog"], folder)
    data = next(folder.glob("*.gcda"))
    text = must(["gcov", "--json-format", "--stdout", data], folder).stdout
    lines = {}
    for file in json.loads(text)["files"]:
        if pathlib.Path(file["file"]).name == source:
            for line in file["lines"]:
                number = line["line_number"]
                lines[number] = max(lines.get(number, 0), line["count"])
    return lines


def dump(folder):
    """(line -> count), (context -> line -> count); counts None where not known."""
    text = must([DUMP, folder / "out.data"], folder).stdout
    lines, contexts = {}, collections.defaultdict(dict)
    for row in text.splitlines():
        kind, *fields = row.split("\t")
        if kind not in ("line", "lineat"):
            continue
        count = None if fields[2] == "-" else int(fields[2])
        into = lines if kind == "line" else contexts[fields[0]]
        number = int(fields[1])
        # Two functions of one line (C++ instances): gcov's is the larger.
        if number not in into or (count or 0) > (into[number] or 0):
            into[number] = count
    return lines, contexts


def check_totals(tap, source, compiler, folder):
    command = build(source, folder, compiler, ["-O0"], grade="coverage")
    record(command, folder)
    ours, contexts = dump(folder)
    theirs = lines_of_gcov(source, folder)
    common = {line for line in theirs if ours.get(line) is not None}
    tap.same({line: ours[line] for line in common}, {line: theirs[line] for line in common},
             f"{source}, {compiler}: counts of lines equal gcov's")
    tap.check(len(common) >= 0.8 * len(theirs),
              f"{source}, {compiler}: the counts of {len(common)} of {len(theirs)} lines are known",
              sorted(set(theirs) - common))
    return contexts


def check_contexts(tap, compiler, contexts):
    """branches.c: first() calls work(7, 0) ten times, second() work(9, 1) five times."""
    text = (PROGRAMS / "branches.c").read_text().splitlines()
    number = {words: at for at, line in enumerate(text, 1) for words in [line.strip()]}
    expected = {
        "first": {"for (int i = 0; i < n; i++) {": 80, "if (mode == 0)": 70, "sum += i;": 70,
                  "else if (i % 3 == 0)": 0, "sum -= i;": 0, "if (i == 1000)": 70, "sum++;": 10,
                  "sum--;": 0, "sum = 0;": 0, "return sum;": 10},
        "second": {"for (int i = 0; i < n; i++) {": 50, "if (mode == 0)": 45, "sum += i;": 0,
                   "else if (i % 3 == 0)": 45, "sum -= i;": 15, "if (i == 1000)": 45, "sum++;": 0,
                   "sum--;": 5, "sum = 0;": 0, "return sum;": 5},
    }
    for caller, counts in expected.items():
        found = contexts[f"/main thread/main/{caller}/work"]
        tap.same({words: found.get(number[words]) for words in counts}, counts,
                 f"branches.c, {compiler}: lines of work() as called by {caller}()")


def page(query, folder):
    done = run([FATHOM, "report", "--json", query, "out.data"], folder)
    return json.loads(done.stdout) if done.returncode == 0 else None


def check_pages(tap, compiler, folder):
    """The pages tell what the file holds: work() in all contexts, and in each."""
    found = {}
    for pd in range(1, 20):
        made = page(f"proc_dynamic_coverage/{pd}", folder)
        if made is None or "work" not in made["title"]:
            continue
        runs = {line["text"].strip(): line["runs_count"] for line in made["sources"][0]["lines"]}
        found[runs["sum += i;"]] = runs["sum -= i;"], runs["return sum;"]
        ps = made["facts"]["ps"]
    tap.same(found, {70: (0, 10), 0: (15, 5)}, f"branches.c, {compiler}: pages of the two contexts")
    made = page(f"proc/{ps}", folder)
    runs = {line["text"].strip(): line["runs_count"] for line in made["sources"][0]["lines"]}
    tap.same((runs["sum += i;"], runs["sum -= i;"], runs["sum = 0;"], runs["case 0:"]),
             (70, 15, 0, None), f"branches.c, {compiler}: the function's page")
    dumped = run([FATHOM, "check", "out.data"], folder)
    tap.same(dumped.returncode, 0, f"branches.c, {compiler}: fathom check finds no fault")


FORK = """
#include <sys/wait.h>
#include <unistd.h>
static int work(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        if (i % 2)
            sum++;
    return sum;
}
int main(void)
{
    int sum = work(10);
    pid_t child = fork();
    if (child == 0)
        return work(100) != 50;
    waitpid(child, 0, 0);
    return sum != 5;
}
"""


def check_fork(tap, compiler, folder):
    """A child counts from zero, in a profile of its own."""
    (folder / "fork.c").write_text(FORK)
    must([FATHOM, "cc", "--grade=coverage", compiler, "-O0", "fork.c", "-o", "prog"], folder)
    must([FATHOM, "record", "-q", "--join=none", "-o", "out", "--", "./prog"], folder)
    found = []
    for data in sorted(folder.glob("out*.data"), key=lambda path: len(path.name)):
        text = must([DUMP, data], folder).stdout
        lines = dict(row.split("\t")[2:] for row in text.splitlines()
                     if row.startswith("line\twork"))
        found.append((lines["7"], lines["8"], lines["9"]))
    tap.same(found, [("11", "10", "5"), ("101", "100", "50")],
             f"{compiler}: parent and child have counts of their own")


def calls_of(profile):
    """Threads are numbered as they come."""
    calls = collections.Counter()
    for name, count in profile.calls().items():
        calls[re.sub(r"^thread \d+", "thread", name)] += count
    return calls


def check_every_program(tap, compiler):
    """Coverage changes nothing of what else is counted."""
    wrong = {}
    for source in CASES:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            found = calls_of(record(build(source, folder, compiler, ["-O2"], grade="coverage"),
                                    folder).profile)
            expected = calls_of(record(build(source, folder, compiler, ["-O2"]), folder).profile)
            if found != expected:
                wrong[source] = {name: (found[name], expected[name])
                                 for name in set(found) | set(expected)
                                 if found[name] != expected[name]}
    tap.same(wrong, {}, f"{compiler} -O2: calls are those of the deep grade, in all programs")


def main():
    tap = Tap()
    CASES["branches.c"] = []
    need("gcov")
    for compiler in "gcc", "clang":
        if subprocess.run(["which", compiler], capture_output=True).returncode != 0:
            tap.skip(f"programs of {compiler}", "it is not installed")
            continue
        for source in WITNESSES:
            with tempfile.TemporaryDirectory() as folder:
                contexts = check_totals(tap, source, compiler, pathlib.Path(folder))
                if source == "branches.c":
                    check_contexts(tap, compiler, contexts)
                    check_pages(tap, compiler, pathlib.Path(folder))
        with tempfile.TemporaryDirectory() as folder:
            check_fork(tap, compiler, pathlib.Path(folder))
        check_every_program(tap, compiler)
    return tap.done()


sys.exit(main())
