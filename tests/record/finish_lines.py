#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Time by line: of a function's own loop, of what libc does for it, of a body that was inlined; it adds
up to no more than the function's own time. Whole files are shown, also where they cannot be read."""
import json
import os
import pathlib
import sys
import tempfile

import finish_lib as lib

WORK = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char text[1 << 16];
static inline unsigned long inner(unsigned long sum, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        sum += i * sum ^ i >> 3; /* inlined */
    return sum;
}
__attribute__((noinline)) unsigned long busy(unsigned rounds)
{
    unsigned long sum = 1;
    for (unsigned i = 0; i < rounds * 30; i++)
        sum += i * sum ^ i >> 5; /* own */
    for (unsigned i = 0; i < rounds / 15; i++)
        memset(text, (int)i, sizeof text); /* libc */
    return inner(sum + (unsigned char)text[7], rounds * 30);
}
__attribute__((noinline)) unsigned idle(void)
{
    return 7; /* idle */
}
int main(void)
{
    memset(text, 'x', sizeof text - 1);
    printf("%lu\\n", busy(1500000) + idle());
    return 0;
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
    bytes_kept = bytearray((folder / "work.sources").read_bytes())
    tap.check(len(bytes_kept) < 0.8 * len(WORK), "they are packed")
    (folder / "work.sources").write_bytes(bytes_kept[:-30])
    told = json.dumps(page("proc/busy", folder)["text"])
    tap.check("work.sources: offset" in told, "a damaged file of sources is told")
    lib.must([lib.FATHOM, "record", "-o", "work", "--", "./work"], folder)
    tap.check(not (folder / "work.sources").exists(), "another recording has none of them")


def main():
    tap = lib.Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for grade in ("deep", "full"):
            (folder / "work.c").write_text(WORK)
            check(tap, folder, grade)
        check_files(tap, folder)
        check_without_ticks(tap, folder)
        check_kept_sources(tap, folder)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
