#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Time by line: of a function's own loop, of what libc does for it, of a body that was inlined; it adds
up to no more than the function's own time. Whole files are shown, also where they cannot be read."""
import json
import os
import pathlib
import shutil
import sys
import tempfile

import record_lib as lib

# Each loop stands on one line: a tick may meet any of its instructions.
WORK = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char text[1 << 16];
static inline unsigned long inner(unsigned long sum, unsigned n)
{
    for (unsigned i = 0; i < n; i++) sum += i * sum ^ i >> 3; /* inlined */
    return sum;
}
__attribute__((noinline)) unsigned long busy(unsigned rounds)
{
    unsigned long sum = 1;
    for (unsigned i = 0; i < rounds * 30; i++) sum += i * sum ^ i >> 5; /* own */
    for (unsigned i = 0; i < rounds / 15; i++) memset(text, (int)i, sizeof text); /* libc */
    return inner(sum + (unsigned char)text[7], rounds * 30);
}
__attribute__((noinline)) unsigned idle(void)
{
    return 7; /* idle */
}
int main(void)
{
    memset(text, 'x', sizeof text - 1);
    printf("%lu\\n", busy(3000000) + idle()); /* calls */
    return 0;
}
"""


# What a template of the system's does, inlined, is on the line that calls it.
LIBRARY = """
#include <cstdio>
#include <numeric>
#include <vector>
extern "C" __attribute__((noinline)) double total(const std::vector<double> &all)
{
    return std::accumulate(all.begin(), all.end(), 0.0); /* library */
}
int main()
{
    std::vector<double> all(100000, 1.5);
    double sum = 0;
    for (unsigned i = 0; i < 5000; i++)
        all[i] = i, sum += total(all);
    std::printf("%f\\n", sum);
}
"""


def line_of(mark):
    return 1 + next(i for i, line in enumerate(WORK.splitlines()) if f"/* {mark} */" in line)


def page(query, folder):
    return json.loads(lib.must([lib.FATHOM, "report", "--json", query, "work.data"], folder).stdout)


def by_line(answer):
    return {line["line"]: line for line in answer["sources"][0]["lines"]}


def check(tap, folder, grade):
    lib.must([lib.FATHOM, "cc", f"--grade={grade}", "gcc", "-O1", "-g", "-fno-builtin", "work.c",
              "-o", "work"], folder)
    lib.must([lib.FATHOM, "record", "-o", "work", "--", "./work"], folder)
    found = by_line(page("source/work.c", folder))
    busy = page("proc/busy", folder)
    seconds = {mark: found[line_of(mark)]["line_seconds"] for mark in ("own", "libc", "inlined", "idle")}
    print(f"# {grade}: {seconds}")
    for mark in ("own", "libc", "inlined"):
        tap.check(seconds[mark] > 0.02, f"{grade}: time on the line {mark}")
    tap.check(not seconds["idle"], f"{grade}: none where nothing ran")
    row = next(row["cells"] for row in busy["tables"][-1]["rows"] if row["role"] == "proc")
    of_busy = [line["line_seconds"] or 0 for line in by_line(busy).values()]
    own = row["time_self_seconds"]
    tap.check(0.8 * own <= sum(of_busy) <= own + 0.001, f"{grade}: {sum(of_busy):.3f} of {own:.3f} s by line")


def check_hottest(tap, folder, grade):
    """Each line once, by time, with its text; together what the lines of single functions have."""
    answer = json.loads(lib.must([lib.FATHOM, "lines", "--json", "--limit=1000", "work.data"], folder).stdout)
    rows = [row["cells"] for row in answer["tables"][0]["rows"]]
    times = [row["time_self_seconds"] for row in rows]
    places = [row["place"] for row in rows]
    tap.check(times == sorted(times, reverse=True) and min(times) > 0, f"{grade}: hottest lines first")
    tap.check(len(set(places)) == len(places), f"{grade}: each hottest line once")
    for mark in ("own", "inlined"):
        row = next((row for row in rows if row["place"] == f"work.c:{line_of(mark)}"), None)
        tap.check(row is not None and f"/* {mark} */" in (row.get("code_full") or row["code"]), f"{grade}: the line {mark} with its text", rows)


    linked = [item["text"] for item in page("proc/busy", folder)["links"] if item["list"] == "Hottest lines:"]
    tap.check(1 <= len(linked) <= 3 and linked[0].startswith("line "), f"{grade}: the function's page links to its hottest lines",
              linked)
    linked = [item["text"] for item in page("source/work.c", folder)["links"] if item["list"] == "Hottest lines:"]
    tap.same([int(text.split(":")[0].removeprefix("line ")) for text in linked],
             [int(place.split(":")[1]) for place in places if place.startswith("work.c:")][:3],
             f"{grade}: the file's page links to its hottest lines")
    first = {table["name"]: table for table in page("menu", folder)["tables"]}
    tap.check([row["cells"]["place"] for row in first["lines"]["rows"]] == places[:5],
              f"{grade}: the first page has the first of them", first.get("lines"))


def check_inlined(tap, folder):
    """The line that a body was inlined at leads to it, and its page leads back."""
    call = 1 + next(i for i, line in enumerate(WORK.splitlines()) if "return inner(" in line)
    callees = by_line(page("proc/busy", folder))[call]["callees"]
    tap.same([callee["name"] for callee in callees], ["inner"], "a line leads into the body that was inlined there")
    back = [item for item in page("proc/inner", folder)["links"] if item["list"] == "Inlined at:"]
    tap.same([item["text"] for item in back], [f"work.c:{call} in busy"], "and its page leads back")


def check_chosen(tap, folder):
    """Headings of controls say what is chosen."""
    pages = [page(query, folder) for query in ("tree/calls/down/5/all", "flame/calls/down/_/all")]
    titles = {link.get("list") for answer in pages for link in answer["controls"]}
    tap.check({"Direction (callees):", "Levels (5):", "Recursions (open where wide):", "Minimum share (0.1 %):"} <= titles,
              "controls say what is chosen", titles)


def instructions(query, folder):
    page_of = page(query, folder)
    return page_of, [dict(row["cells"], role=row["role"]) for table in page_of["tables"] for row in table["rows"]]


def line_above(rows, mark, role="line"):
    """Seconds of the instructions that stand below a line of the source."""
    below, seconds = False, 0.0
    for row in rows:
        if row["role"] == "line":
            below = f"/* {mark} */" in row["instruction"][0]["name"]
        elif below:
            seconds += row["self_seconds"] or 0
    return seconds


def check_instructions(tap, folder, grade):
    answer, rows = instructions("asm/busy", folder)
    own = next(row["cells"]["time_self_seconds"] for row in page("proc/busy", folder)["tables"][-1]["rows"]
               if row["role"] == "proc")
    inner = next(row["cells"]["time_self_seconds"] for row in page("proc/inner", folder)["tables"][-1]["rows"]
                 if row["role"] == "proc")
    seconds = {mark: line_above(rows, mark) for mark in ("own", "libc", "inlined")}
    print(f"# {grade}, instructions: {seconds}, own {own}, inner {inner}")
    for mark in seconds:
        tap.check(seconds[mark] > 0.01, f"{grade}: time on instructions of the line {mark}")
    total = sum(row["self_seconds"] or 0 for row in rows)
    tap.check(0.8 * (own + inner) <= total <= own + inner + 0.001,
              f"{grade}: {total:.3f} of {own + inner:.3f} s by instruction")
    tap.check(any(row["leads_to"] == "memset" for row in rows if row["role"] == "call"),
              f"{grade}: a call of a library has its name")
    tap.check(sum(row["role"] == "hook" for row in rows) >= 2, f"{grade}: the hooks are told apart")
    addresses = [int(row["address"], 16) for row in rows if row["role"] != "line"]
    tap.check(addresses == sorted(set(addresses)) and answer["facts"]["instruction_count"] == len(addresses),
              f"{grade}: each instruction once")
    _, rows = instructions("asm/main", folder)
    tap.check(any(row["leads_to"] == "busy" for row in rows), f"{grade}: a call leads to the function")
    line = by_line(page("source/work.c", folder))[line_of("calls")]
    tap.check([callee["name"] for callee in line["callees"]] == ["busy", "idle"],
              f"{grade}: a line leads to the functions that it calls")


def check_library(tap, folder):
    (folder / "library.cc").write_text(LIBRARY)
    lib.must([lib.FATHOM, "c++", "--grade=deep", "g++", "-O2", "-g", "library.cc", "-o", "library"], folder)
    lib.must([lib.FATHOM, "record", "-o", "work", "--", "./library"], folder)
    found = {line["line"]: line["line_seconds"] or 0 for line in page("source/library.cc", folder)["sources"][0]["lines"]}
    row = next(row["cells"] for row in page("proc/total", folder)["tables"][-1]["rows"] if row["role"] == "proc")
    own = row["time_self_seconds"] or 0
    if own < 0.05:
        tap.skip("what an inlined template of the system's does", "no ticks here")
        return
    mark = next(i for i, line in enumerate(LIBRARY.splitlines(), 1) if "/* library */" in line)
    tap.check(0.95 * own <= found[mark] <= own + 0.001,
              f"what an inlined template of the system's does is on the line that calls it: {found[mark]} of {own} s")


def check_program_is_gone(tap, folder):
    (folder / "work").rename(folder / "moved")
    gone = page("asm/busy", folder)
    told = json.dumps(gone["text"])
    tap.check(gone["facts"]["instruction_count"] == 0 and f"looked for it in {folder}/work: No such file" in told,
              "a program that is gone: where it was looked for")
    (folder / "work").write_bytes(pathlib.Path("/bin/ls").read_bytes())
    told = json.dumps(page("asm/busy", folder)["text"])
    tap.check("build-id" in told and "expected" in told, "another program is not shown for it")
    (folder / "work").unlink()
    (folder / "moved").rename(folder / "work")
    lib.must([lib.FATHOM, "record", "--keep-sources", "-o", "work", "--", "./work"], folder)
    (folder / "work").rename(folder / "moved")
    tap.check(page("asm/busy", folder)["facts"]["instruction_count"] > 20, "code that was kept is shown")
    (folder / "moved").rename(folder / "work")
    lib.make_older(folder / "work.data")
    tap.check(page("asm/busy", folder)["facts"]["instruction_count"] > 20, "as it is from an older file beside")
    damaged = bytearray((folder / "work.code").read_bytes())
    (folder / "work.code").write_bytes(damaged[:-30])
    told = json.dumps(page("asm/busy", folder)["text"])
    tap.check("work.code: offset" in told, "a damaged file of code is told")
    (folder / "work.code").unlink()
    told = json.dumps(page("asm/busy", folder)["text"])
    tap.check("not recorded" in told, "no file of code is told")
    lib.must([lib.FATHOM, "record", "-o", "work", "--", "./work"], folder)


def check_files(tap, folder):
    (folder / "work.c").rename(folder / "gone.c")
    gone = page("source/work.c", folder)
    tap.check(not gone["facts"]["source_shown"] and "cannot be shown" in json.dumps(gone["text"]),
           "a missing file is told")
    tap.check(by_line(gone)[line_of("libc")]["line_seconds"] > 0.02, "its lines have their time still")
    told = lib.run([lib.FATHOM, "report", "source/other.c", "work.data"], folder)
    tap.check(told.returncode == 1 and "no function is defined in a file 'other.c'" in told.stderr,
           "another file is refused")


def check_without_ticks(tap, folder):
    lib.must([lib.FATHOM, "record", "-o", "work", "--", "./work"], folder,
             env={**os.environ, "FATHOM_TICKS": "none"})
    lines = by_line(page("source/work.c", folder))
    tap.check(all("line_seconds" not in line for line in lines.values()), "without ticks there is none")


def check_kept_sources(tap, folder):
    (folder / "work.c").write_text(WORK)
    lib.must([lib.FATHOM, "record", "--keep-sources", "-o", "work", "--", "./work"], folder)
    (folder / "work.c").unlink()
    kept = page("source/work.c", folder)
    tap.check(kept["facts"]["source_shown"] and "/* libc */" in by_line(kept)[line_of("libc")]["text"],
              "sources that were kept are shown when they are gone")
    tap.same(sorted(path.name for path in folder.glob("work.*")), ["work.data"], "one file holds all")
    (folder / "alone").mkdir()
    shutil.copy(folder / "work.data", folder / "alone")
    copied = by_line(page("source/work.c", folder / "alone"))
    tap.check(copied == by_line(kept) and copied[line_of("libc")]["line_seconds"] > 0.02,
              "a copy of it has the lines, their time and the text")
    lib.make_older(folder / "work.data")
    tap.same(by_line(page("source/work.c", folder)), by_line(kept), "files that an older fathom wrote beside it are read")
    (folder / "work.lines").rename(folder / "elsewhere")
    told = json.dumps(page("source/work.c", folder)["text"])
    tap.check("work.data has no source lines in it, and there is no work.lines beside it" in told and "not recorded" not in told,
              "where the lines do not lie beside the profile, the page says so", told)
    (folder / "elsewhere").rename(folder / "work.lines")
    bytes_kept = bytearray((folder / "work.sources").read_bytes())
    tap.check(len(bytes_kept) < 0.8 * len(WORK), "they are packed")
    (folder / "work.sources").write_bytes(bytes_kept[:-30])
    told = json.dumps(page("proc/busy", folder)["text"])
    tap.check("work.sources: offset" in told, "a damaged file of sources is told")
    lib.must([lib.FATHOM, "record", "-o", "work", "--", "./work"], folder)
    tap.same(sorted(path.name for path in folder.glob("work.*")), ["work.data"],
             "another recording removes files that an older fathom wrote")


def main():
    tap = lib.Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for grade in ("deep", "full"):
            (folder / "work.c").write_text(WORK)
            check(tap, folder, grade)
            check_hottest(tap, folder, grade)
            if grade == "deep":
                check_inlined(tap, folder)
                check_chosen(tap, folder)
            check_instructions(tap, folder, grade)
        check_program_is_gone(tap, folder)
        check_files(tap, folder)
        check_without_ticks(tap, folder)
        check_kept_sources(tap, folder)
        check_library(tap, folder)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
