#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`fathom check` with limits, of recorded programs: what is broken is named with its path, what is
exact never breaks by chance, and the documents for other tools say the same.

usage: test_gate.py FATHOM"""
import json
import os
import sys
import tempfile
import xml.etree.ElementTree

from exchange_lib import check, end, must, run

fathom = os.path.abspath(sys.argv[1])
RUNS = 100

PROGRAM = """
#include <stdlib.h>
#include <string.h>
#define OWN __attribute__((noinline, noclone))
static volatile long sink;
OWN int leaf(int x) { for (int i = 0; i < x; i++) sink += i; return x; }
OWN void *take(int n) { void *volatile p = malloc(n); return p; }
OWN int scan(int x) { free(take(x)); return leaf(x) + leaf(x + 1); }
OWN int first(void) { return scan(1); }
OWN int second(void)
{
#ifdef CALLS
    sink += scan(3);
#endif
#ifdef ALLOCATES
    free(take(100));
#endif
    return scan(2);
}
OWN int fitful(int n) { return n > 0 ? fitful(n - 1) : 0; }
int main(int argc, char **argv)
{
    for (int i = 0; i < 50; i++)
        sink += first() + second();
    if (argc > 1)
        sink += fitful(atoi(getenv("FITFUL")));
    return 0;
}
"""


def build(name, *options):
    with open("made.c", "w") as file:
        file.write(PROGRAM)
    must(fathom, "cc", "-O1", "-g", *options, "made.c", "-o", name)


def record(program, data, *arguments):
    must(fathom, "record", "-o", data, "--", "./" + program, *arguments)
    return data + ".data"


def gate(*arguments):
    """The exit status, and the rows of the verdicts by limit."""
    told = run(fathom, "check", "--json", *arguments)
    if not told.stdout:
        return told.returncode, {}, told.stderr
    document = json.loads(told.stdout)
    rows = [row["cells"] for row in document["tables"][0]["rows"]]
    return told.returncode, {row["limit"]: row for row in rows}, document


def expect(*limits):
    return [f"--expect={limit}" for limit in limits]


def exact_limits_never_flake(base):
    broken = []
    limits = expect("calls total = +0", "allocations total = +0", "bytes total ≤ +0 %",
                    "calls main > … > leaf = +0", "bytes per call scan ≤ +0 %",
                    "new allocations in made.c = 0")
    for i in range(RUNS):
        new = record("plain", "again")
        status, rows, told = gate(f"--against={base}", *limits, new)
        if status != 0 or len(rows) != 6 or {r["verdict"] for r in rows.values()} != {"kept"}:
            broken.append((i, status, told))
    check(f"{RUNS} runs of one build break no exact limit", not broken, broken[:1])


def what_is_planted_is_named(base):
    build("calls", "-DCALLS")
    new = record("calls", "calls")
    status, rows, told = gate(f"--against={base}", *expect(
        "calls main › second ≤ +0 %", "calls main › first ≤ +0 %", "calls self leaf ≤ +10 %"), new)
    second = rows.get("calls main › second ≤ +0 %", {})
    check("a call in one of two contexts breaks the limit of that one", status == 1 and
          second.get("verdict") == "broken" and
          rows["calls main › first ≤ +0 %"]["verdict"] == "kept", told)
    check("with its figures, its path and the line that calls",
          (second.get("before"), second.get("after"), second.get("allowed")) == (250, 450, 250) and
          second["where"].endswith("main › second") and
          second["because"].startswith("second calls scan") and "made.c:18" in second["because"] and
          second["why"] == "200 more than allowed", second)
    build("allocates", "-DALLOCATES")
    new = record("allocates", "allocates")
    limit = "new allocations in made.c = 0"
    status, rows, told = gate(f"--against={base}", *expect(
        limit, "bytes total ≤ 10 MiB", "bytes per call scan ≤ +0 %"), new)
    check("new allocations are found where they are made", status == 1 and
          rows[limit]["verdict"] == "broken" and rows[limit]["after"] == 50 and
          rows["bytes total ≤ 10 MiB"]["verdict"] == "kept", told)
    return new


def statuses(base, new):
    cases = [
        ("without limits nothing may cost more", 1, [f"--against={base}"]),
        ("a path that is nowhere is an error", 2,
         [f"--against={base}", *expect("calls nowhere ≤ +0 %")]),
        ("unless it is optional", 0,
         [f"--against={base}", *expect("optional calls nowhere ≤ +0 %")]),
        ("a broken limit and an error are an error", 2,
         [f"--against={base}", *expect("allocations total ≤ +0 %", "calls nowhere ≤ 1")]),
        ("a relative limit needs a base", 2, expect("calls total ≤ +0 %")),
        ("an absolute one does not", 0, expect("calls total ≤ 1 M", "bytes total ≤ 1 GiB")),
        ("a measure that nobody has is an error", 2, expect("apples total ≤ 1")),
        ("a mistake in a limit is an error", 2, expect("calls total ≤ five")),
        ("time too short to tell breaks nothing", 0,
         [f"--against={base}", *expect("time leaf ≤ +5 %")]),
        ("unless strictness is asked for", 1,
         [f"--against={base}", "--strict", *expect("time leaf ≤ +5 %")]),
        ("a base that is not there is an error", 2, ["--against=none.data"]),
    ]
    for name, expected, options in cases:
        told = run(fathom, "check", *options, new)
        check(name, told.returncode == expected, (told.returncode, told.stdout, told.stderr))
    told = run(fathom, "check", *expect("calls total ≤ five"), new)
    check("with the line and the column", "line 1, column 15: expected a number" in told.stderr,
          told.stderr)


def programs_that_do_not_repeat():
    """Two runs of one build whose surroundings alone differ call differently often."""
    runs = []
    for depth in "3", "5":
        os.environ["FITFUL"] = depth
        runs.append(record("plain", f"fitful{depth}", "x"))
    del os.environ["FITFUL"]
    first, second = runs
    limits = expect("calls self fitful = +0", "calls self fitful ≤ +900 %", "calls self first = +0")
    status, rows, told = gate(f"--against={first}", f"--repeat-check={second}", *limits, first)
    check("a limit on what differs between two runs of a build needs a tolerance",
          status == 2 and rows["calls self fitful = +0"]["verdict"] == "error" and
          "differs between two runs" in rows["calls self fitful = +0"]["why"] and
          rows["calls self fitful ≤ +900 %"]["verdict"] == "kept" and
          rows["calls self first = +0"]["verdict"] == "kept", told)


INLINING = """
static volatile long sink;
__attribute__((noinline)) void leaf(long x) { sink += x; }
#ifdef INLINES
static inline __attribute__((always_inline))
#else
static __attribute__((noinline))
#endif
void middle(long x) { for (int i = 0; i < 9; i++) leaf(x + i); }
__attribute__((noinline)) void outer(long n) { for (long i = 0; i < n; i++) middle(i); }
int main(void) { outer(5000); return 0; }
"""


def inlining_breaks_nothing():
    """A build that inlines a function, and one that does not: both call leaf as often."""
    with open("inlining.c", "w") as file:
        file.write(INLINING)
    runs = []
    for name, options in (("apart", []), ("inlined", ["-DINLINES"])):
        must(fathom, "cc", "-O1", "-g", *options, "inlining.c", "-o", name)
        must(fathom, "record", "-q", "-o", name, "--", f"./{name}")
        runs.append(name + ".data")
    for base, new in (runs, runs[::-1]):
        status, rows, told = gate(f"--against={base}", *expect("calls total = +0", "calls outer = +0",
                                                               "calls self leaf = +0"), new)
        check(f"from {base} to {new}: what one inlines breaks no limit", status == 0 and
              {row["verdict"] for row in rows.values()} == {"kept"} and
              rows["calls total = +0"]["before"] == rows["calls total = +0"]["after"] > 45000 and
              rows["calls total = +0"]["why"] == "without calls that one build inlines "
              f"({'5,000' if base == runs[0] else '0'} before, {'0' if base == runs[0] else '5,000'} after)", told)
    same = gate(f"--against={runs[1]}", *expect("calls total = +0"), runs[1])
    check("between equal builds nothing is left out", same[0] == 0 and
          not same[1]["calls total = +0"]["why"], same)


RECURSION = """
#include <stdlib.h>
#define OWN __attribute__((noinline, noclone))
static volatile long sink;
static void *volatile kept;
OWN int apply(int n);
OWN void *take(int n) { return kept = malloc(n); }
OWN int eval(int n) { free(take(10)); return n > 0 ? apply(n - 1) : 0; }
OWN int apply(int n) {
#ifdef MORE
    free(take(5));
#endif
    return n > 0 ? eval(n - 1) : 1;
}
int main(void) { for (int i = 0; i < 20; i++) sink += eval(6); return 0; }
"""


def totals_inside_recursions_are_bounds():
    """How many of a recursion's allocations were made below one of its functions is not recorded:
    its limits have the recursion's, marked, and break only where that is enough."""
    with open("recursion.c", "w") as file:
        file.write(RECURSION)
    runs = []
    for name, options in (("less", []), ("more", ["-DMORE"])):
        must(fathom, "cc", "-O1", "-g", *options, "recursion.c", "-o", name)
        must(fathom, "record", "-q", "-o", name, "--", f"./{name}")
        runs.append(name + ".data")
    limits = ("allocations apply ≤ 140", "allocations apply ≤ 139", "allocations apply ≤ +10 %",
              "allocations eval ≤ 139", "allocations eval ≤ 140", "allocations self apply ≤ 0")
    status, rows, told = gate(f"--against={runs[0]}", *expect(*limits), runs[1])
    verdicts = [rows[limit]["verdict"] for limit in limits]
    check("a bound keeps a limit, and does not break an absolute one", status == 1 and verdicts ==
          ["kept", "not told", "broken", "broken", "kept", "kept"], told)
    bounds = [(rows[limit].get("before_at_most"), rows[limit].get("after_at_most"))
              for limit in limits]
    check("and is marked", bounds == [(True, True)] * 3 + [(None, None)] * 3 and
          (rows[limits[0]]["before"], rows[limits[0]]["after"]) == (80, 140), told)
    text = run(fathom, "check", f"--against={runs[0]}", *expect(*limits[:1]), runs[1]).stdout
    check("in texts, too", "\u2264 80" in text and "\u2264 140" in text, text)
    strict = gate(f"--against={runs[0]}", "--strict", *expect(limits[1]), runs[1])
    check("with strictness what is not told is broken", strict[0] == 1, strict)


LIMITS = """# what is allowed
allocations total ≤ +0 %        # broken
calls main › first ≤ +0 %

calls self "no|such<function>" ≤ 7  # error
time leaf ≤ +5 %
"""


def documents(base, new):
    with open("limits.txt", "w") as file:
        file.write(LIMITS)
    told = run(fathom, "check", f"--against={base}", "--limit=limits.txt", "--junit=j.xml",
               "--sarif=s.json", "--markdown=m.md", new)
    check("documents are written beside the verdict", told.returncode == 2, told.stderr)
    suite = xml.etree.ElementTree.parse("j.xml").getroot().find("testsuite")
    check("JUnit counts", [suite.get(name) for name in
                           ("tests", "failures", "errors", "skipped")] == ["4", "1", "1", "1"],
          suite.attrib)
    cases = suite.findall("testcase")
    failure = cases[0].find("failure")
    check("JUnit names limits and what broke them",
          cases[0].get("name") == "allocations total ≤ +0 %" and
          cases[0].get("classname") == "limits.txt" and
          failure.get("message") == "50 more than allowed" and "100 -> 150" in failure.text and
          cases[1].find("failure") is None and cases[2].find("error") is not None and
          cases[3].find("skipped") is not None, open("j.xml").read())
    sarif = json.load(open("s.json"))
    results = sarif["runs"][0]["results"]
    check("SARIF holds what is not kept", sarif["version"] == "2.1.0" and
          [r["ruleId"] for r in results] == ["fathom/limit", "fathom/error", "fathom/not-told"] and
          [r["level"] for r in results] == ["error", "error", "none"] and
          results[2]["kind"] == "open", sarif)
    place = results[1]["locations"][0]["physicalLocation"]
    check("with a place: the function's, or the limit's line", place["artifactLocation"]["uri"] ==
          "limits.txt" and place["region"]["startLine"] == 5 and
          results[2]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
          .endswith("made.c"), results)
    markdown = open("m.md").read()
    check("Markdown begins with the verdict and escapes names",
          markdown.startswith("**fathom: 1 of 4 limits broken, 1 kept, 1 that cannot be told, "
                              "1 in error**\n") and "no&#124;such&#60;function&#62;" in markdown and
          "| allocations total ≤ +0 % | 100 | 150 | +50.00 % | broken |" in markdown, markdown)
    told = run(fathom, "check", f"--against={base}", "--limit=limits.txt", "--sarif=-", new)
    check("a document to standard output stands alone", json.loads(told.stdout) == sarif)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    build("plain")
    base = record("plain", "base")
    exact_limits_never_flake(base)
    new = what_is_planted_is_named(base)
    statuses(base, new)
    programs_that_do_not_repeat()
    inlining_breaks_nothing()
    totals_inside_recursions_are_bounds()
    documents(base, new)
    os.chdir("/")
end()
