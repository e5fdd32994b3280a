#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`fathom diff` of recorded programs: a planted difference is the first row, with its path.

usage: test_diff.py FATHOM"""
import html
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

from exchange_lib import check, end, must, run, said
from patience import PATIENCE

fathom = sys.argv[1]

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


SAME, NEW, GONE = 23, 8, 16  # src/display/flame.h


def boxes(*arguments):
    """{label: [colour, flags, x, width]} of the picture."""
    flame = json.loads(said(fathom, "diff", "--json", *arguments))["flame"]
    return {flame["names"][box[3]]: [box[5], box[6], box[1], box[2]] for box in flame["boxes"]}


def check_picture(plain, more, renamed):
    found = boxes("--by=calls", plain, more)
    check("what is called more is coloured so, with all above it",
          all(found[name][0] > SAME for name in ("second", "main")), found)
    check("what is called as before is not", all(found[name][0] == SAME for name in ("first", "third")), found)
    back = boxes("--by=calls", more, plain)
    check("the other way round it is less", all(back[name][0] < SAME for name in ("second", "main")), back)
    check("and as wide", back["second"][2:] == found["second"][2:], back)
    found = boxes("--by=calls", "--no-renames", plain, renamed)
    check("what one run alone has says so", (found["+preserve"][1], found["\u2212keep"][1]) == (NEW, GONE), found)
    check("both stand side by side", found["+preserve"][2] + found["+preserve"][3] <= found["\u2212keep"][2] + 1 or
          found["\u2212keep"][2] + found["\u2212keep"][3] <= found["+preserve"][2] + 1, found)
    page = said(fathom, "diff", "--html", "--by=calls", "--no-renames", plain, renamed)
    check("hatched", page.count('fill="url(#hatch-new)"') >= 1 and 'id="hatch-gone"' in page)
    check("text has no words about a picture that it has not", "hatched" not in
          said(fathom, "diff", "--by=calls", plain, more))


def check_runs(plain, again, more):
    told = json.loads(said(fathom, "diff", "--json", "--base", plain, again, "--new", more, more))
    table, = [t for t in told["tables"] if t["name"] == "runs"]
    rows = {row["cells"]["measure"]: row["cells"] for row in table["rows"]}
    check("several runs: counts on which all agree are exact", rows["calls"]["certain"] == "exact" and
          rows["calls"]["after_median"] == rows["calls"]["before_median"] + 300 and
          rows["calls"]["low"] is None, rows)
    check("time is not, and has an interval", rows["time"]["certain"] != "exact" and
          rows["time"]["low"] is not None and rows["time"]["low"] <= rows["time"]["high"], rows)
    check("then the two in the middle", told["facts"]["difference"] == 300, told["facts"])
    told = run(fathom, "diff", "--base", plain, again)
    check("a side without runs is an error", told.returncode == 2 and "--new" in told.stderr, told)
    told = run(fathom, "diff", "--base", plain, "--new", more, again, "--by=calls")
    check("options may stand behind", told.returncode == 0 and "2 after" in told.stdout, told)


def check_history(plain, more):
    folder = os.path.dirname(plain)
    told = json.loads(said(fathom, "history", "--json", folder))
    rows = {row["cells"]["profile"]: row["cells"] for row in told["tables"][0]["rows"]}
    names = [row["cells"]["profile"] for row in told["tables"][0]["rows"]]
    check("history has each profile, oldest first", names[:3] == ["plain", "again", "more"], names)
    check("the same calls, then those of one more call in each of 100 rounds",
          rows["again"]["calls_count"] == rows["plain"]["calls_count"] and
          rows["more"]["calls_count"] == rows["plain"]["calls_count"] + 300, rows)
    check("by build", len(rows["plain"]["build_id_full"]) == 40 and
          rows["plain"]["build_id"] != rows["more"]["build_id"], rows)
    check("nothing before the first", rows["plain"]["calls_change_percent"] is None and
          rows["again"]["calls_change_percent"] == 0, rows)
    page = said(fathom, "history", "--html", plain, more)
    data = json.loads(re.search(r'<figure class="chart"[^>]*data-instead="history"[^>]*>\s*'
                                r'<script type="application/json">(.*?)</script>', page, re.DOTALL)[1])
    calls, = [series["values"] for series in data["series"] if series["label"] == "calls"]
    check("as a page with a chart, and bars in its place without scripts", 'id="history"' in page and
          calls == [rows["plain"]["calls_count"], rows["more"]["calls_count"]] and
          [point["label"] for point in data["points"]] == ["plain", "more"] and
          data["points"][0]["group"] == rows["plain"]["build_id_full"], data)
    check("which needs nothing else", "var uPlot" in page and not re.search(r'<script[^>]* src=|<link[^>]*stylesheet', page))
    check("one profile has none", "<figure" not in said(fathom, "history", "--html", plain))
    damaged = os.path.join(folder, "damaged.data")
    with open(plain, "rb") as file, open(damaged, "wb") as cut:
        cut.write(file.read()[:200])
    told = run(fathom, "history", "--json", folder)
    left = [row["cells"]["profile"] for row in json.loads(told.stdout or '{"tables":[{"rows":[]}]}')["tables"][0]["rows"]]
    check("a damaged file is told, and the others are shown", told.returncode == 1 and left == names and
          told.stderr.count("damaged.data") == 1 and len(told.stderr.splitlines()) == 1, (told.stderr, left))
    told = run(fathom, "history", damaged)
    check("alone it is the error", told.returncode == 1 and told.stdout == "" and "damaged.data" in told.stderr, told)
    os.remove(damaged)
    with tempfile.TemporaryDirectory() as empty:
        told = run(fathom, "history", empty)
        check("a folder without profiles is an error", told.returncode == 2 and "no profile" in told.stderr, told)


def check_history_of_samples(folder):
    """Of profiles that know samples alone these are told, not nothing."""
    paths = []
    for number, count in ((1, 40), (2, 60)):
        given = os.path.join(folder, f"samples{number}.folded")
        with open(given, "w") as file:
            file.write(f"main;work {count}\n")
        paths.append(given + ".data")
        must(fathom, "import", "-o", paths[-1], given)
    rows = [row["cells"] for row in json.loads(said(fathom, "history", "--json", *paths))["tables"][0]["rows"]]
    check("history of samples has how many there were", [row["ticks_count"] for row in rows] == [40, 60] and
          rows[1]["ticks_change_percent"] == 50 and rows[0]["calls_count"] is None, rows)
    page = said(fathom, "history", "--html", *paths)
    check("and draws them", '"label":"samples"' in page.replace('": "', '":"'), page[:2000])


def ask(url):
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def check_view(plain, more):
    server = subprocess.Popen([fathom, "view", "--no-open", "--base", plain, more],
                              stdout=subprocess.PIPE, text=True)
    try:
        url = server.stdout.readline().split()[-1]
        status, page = ask(url)
        check("view --base begins with the comparison", status == 200 and "compared with" in page and
              "second calls scan" in page, page)
        links = [html.unescape(link) for link in re.findall(r'<a href="(compare[^"]*focus=[^"]*)"', page)]
        home = url[:url.index("compare?")]
        status, part = ask(home + links[-1])
        check("boxes lead to their part, and back", status == 200 and "the whole program" in part, part)
        measures = [html.unescape(link) for link in re.findall(r'class="link" href="(compare[^"]*by=[^"]*)"', page)]
        check("the other measures", len(measures) >= 3 and all(ask(home + link)[0] == 200 for link in measures),
              measures)
        status, told = ask(url.replace("compare?", "compare.json?") + "&by=calls")
        check("as JSON", status == 200 and json.loads(told)["facts"]["difference"] == 300, told)
        status, picture = ask(url.replace("compare?", "compare.svg?"))
        check("as SVG", status == 200 and picture.startswith("<svg"), picture)
        check("a measure that there is not", ask(url + "&by=nothing")[0] == 400)
        check("one file alone is no comparison", ask(home + "compare?before=" + plain)[0] == 400)
        check("a file that may not be named", ask(home + f"compare?before={plain}&after=/etc/passwd")[0] in (403, 404))
        check("the list of recordings leads to it", "compare?before=" in ask(home)[1])
    finally:
        server.terminate()
        server.wait()


def check_one_number_of_calls(plain):
    """The program's thread begins with a call that nobody wrote, which is none anywhere."""
    first = int(re.search(r"([\d,]+) calls of", said(fathom, "report", plain))[1].replace(",", ""))
    document = json.loads(said(fathom, "diff", "--json", "--by=calls", plain, plain))
    totals, = [table for table in document["tables"] if table["name"] == "totals"]
    compared, = [row["cells"]["before"] for row in totals["rows"] if row["cells"]["measure"] == "calls"]
    rows = json.loads(said(fathom, "history", "--json", plain))["tables"][0]["rows"]
    runs = json.loads(said(fathom, "diff", "--json", "--base", plain, plain, "--new", plain, plain))
    table, = [t for t in runs["tables"] if t["name"] == "runs"]
    median, = [row["cells"]["before_median"] for row in table["rows"] if row["cells"]["measure"] == "calls"]
    limits = plain + ".limits"
    with open(limits, "w") as file:
        file.write(f"calls total = {first}\n")
    judged = run(fathom, "check", f"--limit={limits}", plain)
    check("first page, difference, runs, history and limits count the same calls",
          first > 100 and compared == first and rows[0]["cells"]["calls_count"] == first and
          median == first and judged.returncode == 0, (first, compared, rows, median, judged))
    calls = sum(int(line.rsplit(" ", 1)[1])
                for line in said(fathom, "export", "--to=folded", "--measure=calls", "-o", "-", plain).splitlines())
    check("exports, too", calls == first, (first, calls))


def record(folder, name, *options):
    source = os.path.join(folder, "made.c")
    program = os.path.join(folder, name)
    with open(source, "w") as file:
        file.write(PROGRAM)
    said(fathom, "cc", "-O1", "-g", *options, source, "-o", program)
    said(fathom, "record", "-o", program, "--", program)
    return program + ".data"


INLINING = """
static volatile long sink;
#ifdef INLINES
static inline __attribute__((always_inline))
#else
static __attribute__((noinline, noclone))
#endif
long add(long a, long b) { return a + b + sink; }
static __attribute__((noinline)) long work(long n)
{
    long sum = 0;
    for (long i = 0; i < n; i++) {
        sum = add(sum, i);
        if (i % 3 > 0)
            sum = add(sum, 7);
    }
    return sum;
}
int main(void) { sink = work(3000); return 0; }
"""


def check_inlining(folder):
    """What one build inlines at two lines of one function is said once."""
    source, runs = os.path.join(folder, "inlining.c"), []
    with open(source, "w") as file:
        file.write(INLINING)
    for name, options in ("apart", []), ("inlined", ["-DINLINES"]):
        program = os.path.join(folder, name)
        said(fathom, "cc", "-O1", "-g", *options, source, "-o", program)
        said(fathom, "record", "-q", "-o", program, "--", program)
        runs.append(program + ".data")
    told = said(fathom, "diff", "--by=calls", "--width=0", *runs)
    check("a pair that is inlined at two lines is named once",
          "-5,000 of the difference is no change of the program" in told and
          "(add is inlined in work, in one build)" in told, told)


def causes(before, after, *options):
    """The difference, the causes, and the functions taken for one another."""
    document = json.loads(said(fathom, "diff", "--json", *options, before, after))
    rows = {table["name"]: table["rows"] for table in document["tables"]}
    return (document["facts"]["difference"],
            [row["cells"] for row in rows.get("causes", []) if row["role"] == "cause"],
            [row["cells"] for row in rows.get("renames", [])])


def paths(before, after):
    """To the contexts of the causes, in their order."""
    document = json.loads(said(fathom, "diff", "--json", before, after))
    return [row["cells"]["what"] for table in document["tables"] if table["name"] == "causes"
            for row in table["rows"] if row["role"] == "context"]


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
        check("and its path", paths(plain, more)[0].endswith("main › second › scan"), paths(plain, more))
        check("from 0 to 100 calls by this line", (first.get("calls_before_count"),
                                                   first.get("calls_after_count")) == (0, 100), first)

        allocating = record(folder, "allocating", "-DALLOCATES")
        _, rows, _ = causes(plain, allocating)
        first = rows[0] if rows else {}
        check("one more allocation a call is copy's own",
              first.get("kind") == "self" and "copy" in first.get("what", "") and
              first.get("difference") == 200, rows)
        check("in both contexts", first.get("contexts_count") == 2 and
              [path.endswith(" › copy") for path in paths(plain, allocating)[:2]] == [True, True], first)

        renamed = record(folder, "renamed", "-DRENAMED")
        _, rows, renames = causes(plain, renamed, "--by=calls")
        check("a renamed function is no difference", rows == [], rows)
        check("and shown as a guess", [(row["before"], row["after"], row["how"])
                                       for row in renames] ==
              [("made.c:keep", "made.c:preserve", "renamed?")], renames)
        told = said(fathom, "diff", "--by=calls", "--no-renames", plain, renamed)
        check("unless guesses are not wanted", "one build alone: 1 before, 1 after" in told, told)
        check_picture(plain, more, renamed)
        check_view(plain, more)
        check_one_number_of_calls(plain)
        check_history(plain, more)
        check_runs(plain, again, more)
        check_history_of_samples(folder)
        check_inlining(folder)
        told = run(fathom, "diff", plain, os.path.join(folder, "none.data"))
        check("a file that is not there is an error that names it",
              told.returncode == 1 and "none.data" in told.stderr, told.stderr)
    end()


main()
