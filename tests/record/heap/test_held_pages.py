#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pages of memory: blocks that a function frees itself, and what was held over time."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import record_lib as lib
from patience import PATIENCE, wait_until

TEMPORARY = """#include <stdlib.h>
#define OWN __attribute__((noinline))
OWN void *xmalloc(size_t n) { void *volatile p = malloc(n); if (p == NULL) abort(); return p; }
OWN void xfree(void *p) { free(p); }
OWN void scratch(size_t n) { char *volatile b = malloc(n); b[0] = 1; free(b); }
OWN void wrapped(size_t n) { xfree(xmalloc(n)); }
OWN void *keep(size_t n) { return xmalloc(n); }
OWN void grow(void)
{
    void *volatile b = NULL;
    for (size_t n = 1; n <= 8; n++) b = realloc(b, n * 1000);
    free(b);
}
int main(void)
{
    void *kept[50];
    for (size_t i = 0; i < 1000; i++) scratch(40);
    for (size_t i = 0; i < 300; i++) wrapped(10 + i % 2);
    for (size_t i = 0; i < 50; i++) kept[i] = keep(100);
    for (size_t i = 0; i < 50; i++) xfree(kept[i]);
    grow();
    return 0;
}
"""


FEW = """#include <stdlib.h>
#define OWN __attribute__((noinline))
static void *volatile kept;
OWN void keep(void) { kept = malloc(40); }
OWN void scratch(void) { void *volatile p = malloc(40); free(p); }
int main(void)
{
    for (int i = 0; i < 3000; i++) keep();
    scratch();
    return 0;
}
"""


def temporary(tap, folder):
    """Blocks that a function frees itself are told from those that leave it, also behind wrappers of malloc."""
    (folder / "temporary.c").write_text(TEMPORARY)
    lib.must([lib.FATHOM, "cc", "gcc", "-O1", "-fno-builtin", "temporary.c", "-o", "temporary"], folder)
    lib.must([lib.FATHOM, "record", "-q", "-o", "temporary", "./temporary"], folder)
    page = json.loads(lib.must([lib.FATHOM, "report", "--json", "memory/allocated", "temporary.data"], folder).stdout)
    rows = next(table["rows"] for table in page["tables"] if table["name"] == "temporary")
    found = {row["cells"]["path"][0]["name"].split(" › ")[-1]:
             [row["cells"][name] for name in ("temporary_blocks", "allocated_blocks", "temporary_bytes", "reallocs_count")]
             for row in rows}
    tap.same(found, {"scratch": [1000, 1000, 40000, 0], "wrapped": [300, 300, 3150, 0], "grow": [8, 8, 36000, 7]},
             "temporary blocks: those that did not leave the function")
    tap.same((page["facts"]["temporary_recorded"], page["facts"]["temporary_blocks"]), (True, 1308), "temporary blocks: in all")
    tap.check("1,308 of 1,358 blocks (96.3 %) were freed" in json.dumps(page["text"]) and
              "would save that work" in json.dumps(page["text"]), "temporary blocks: advice", page["text"])
    (folder / "few.c").write_text(FEW)
    lib.must([lib.FATHOM, "cc", "gcc", "-O1", "-fno-builtin", "few.c", "-o", "few"], folder)
    lib.must([lib.FATHOM, "record", "-q", "-o", "few", "./few"], folder)
    text = lib.must([lib.FATHOM, "memory", "--width=0", "few.data"], folder).stdout
    tap.check("1 of 3,001 blocks (<0.1 %) was freed by the function" in text and "would save that work" not in text,
              "temporary blocks: no advice for a few", text)
    lib.must([lib.FATHOM, "record", "-q", "--no-heap", "-o", "unheld", "./temporary"], folder)
    page = json.loads(lib.must([lib.FATHOM, "report", "--json", "memory/allocated", "unheld.data"], folder).stdout)
    tap.check(page["facts"]["temporary_recorded"] is False and "temporary_blocks" not in page["facts"] and
              any("not recorded" in text for text in map(str, page["text"])), "temporary blocks: not recorded", page["text"])


def unseen(tap, folder):
    """A program without hooks: what it freed is known in all, not by which function."""
    lib.must(["gcc", "-O1", "-fno-builtin", "temporary.c", "-o", "plain"], folder)
    lib.must([lib.FATHOM, "record", "-q", "-o", "plain", "--", "./plain"], folder)
    held = json.loads(lib.must([lib.FATHOM, "report", "--json", "memory/held", "plain.data"], folder).stdout)["facts"]
    allocated = json.loads(lib.must([lib.FATHOM, "report", "--json", "memory/allocated", "plain.data"], folder).stdout)
    tap.check(held["freed_bytes"] >= 84150 and held["allocated_bytes"] == held["freed_bytes"] + held["held_bytes"],
              "without hooks: all that is not held was freed", held)
    tap.same(allocated["facts"]["temporary_recorded"], False, "without hooks: temporary blocks are not recorded")


LINES = """#include <stdlib.h>
#include <string.h>
#define OWN __attribute__((noinline))
OWN void *xmalloc(size_t n)
{
    void *volatile p = malloc(n);
    return p;
}
static inline __attribute__((always_inline)) char *copy(void)
{
    return strdup("seven..");
}
OWN void one(void **p)
{
    p[0] = malloc(100); p[1] = malloc(200);
}
OWN void two(void **p, int which)
{
    if (which == 0)
        p[0] = malloc(1000);
    else
        p[0] = calloc(2, 1000);
}
OWN void keep_copy(void **p)
{
    p[0] = copy();
}
OWN void far(void **p) { p[0] = xmalloc(10000); }
OWN void near(void **p) { p[0] = xmalloc(1); }
int main(void)
{
    static void *kept[10];
    one(kept);
    free(kept[0]);
    two(kept + 2, 1);
    keep_copy(kept + 3);
    far(kept + 4);
    near(kept + 5);
    return 0;
}
"""


def by_line(tap, folder):
    """Bytes and blocks stand at the lines that call the allocator or a wrapper of it."""
    (folder / "lines.c").write_text(LINES)
    lib.must([lib.FATHOM, "cc", "gcc", "-g", "-O1", "-fno-builtin", "lines.c", "-o", "lines"], folder)
    lib.must([lib.FATHOM, "record", "-q", "-o", "lines", "./lines"], folder)

    def rows(query, amount, blocks):
        tables = json.loads(lib.must([lib.FATHOM, "report", "--json", query, "lines.data"], folder).stdout)["tables"]
        table = next(table for table in tables if table["name"] == "allocating_lines")
        return {row["cells"]["place"]: (row["cells"]["path"][0]["name"], row["cells"][amount], row["cells"].get(blocks))
                for row in table["rows"]}

    def at(text):
        return "lines.c:" + str(LINES[:LINES.index(text)].count("\n") + 1)

    one, two, copy, far, near = map(at, ("malloc(100)", "malloc(1000)", "strdup", "xmalloc(10000)", "xmalloc(1)"))
    expected = {one: ("one", 300, 2), two + " +1": ("two", 2000, 1), copy: ("copy", 8, 1), far: ("far", 10000, 1),
                near: ("near", 1, 1)}
    tap.same(rows("lines/bytes/20", "bytes_self_bytes", "self_blocks"), expected, "by line: allocated")
    tap.same(rows("memory/allocated", "bytes_self_bytes", "self_blocks"), expected, "by line: on the page of memory")
    held = {**expected, one: ("one", 200, 1)}
    tap.same(rows("memory/held", "live_self_bytes", "self_blocks"), held, "by line: live at the end")
    peak = {place: (name, amount, None) for place, (name, amount, _) in held.items()}
    tap.same(rows("memory/peak", "peak_self_bytes", "self_blocks"), peak, "by line: live at the peak")


INLINED = """#include <memory>
#define OWN __attribute__((noinline))
static int *kept, *more;
OWN void one(std::allocator<int> &a)
{
    kept = a.allocate(50);
}
OWN void two(std::allocator<int> &a)
{
    kept = a.allocate(100);
    more = a.allocate(150);
}
int main()
{
    std::allocator<int> a;
    one(a);
    two(a);
}
"""


def by_line_inlined(tap, folder):
    """What an inlined body of the standard library allocates stands where the program calls that."""
    (folder / "inlined.cc").write_text(INLINED)
    lib.must([lib.FATHOM, "c++", "g++", "-g", "-O2", "inlined.cc", "-o", "inlined"], folder)
    lib.must([lib.FATHOM, "record", "-q", "-o", "inlined", "./inlined"], folder)
    told = json.loads(lib.must([lib.FATHOM, "lines", "--by=bytes", "--json", "inlined.data"], folder).stdout)["tables"]
    rows = [row["cells"] for table in told if table["name"] == "allocating_lines" for row in table["rows"]]
    tap.same({(row["place"], row["path"][0]["name"], row["bytes_self_bytes"]) for row in rows},
             {("inlined.cc:6", "one", 200), ("inlined.cc:10", "two", 400),
              ("inlined.cc:11", "two", 600)}, "by line: through the standard library")


# Each state lasts for half a second of processor time: ticks meet it on any machine.
STAGES = """#include <fathom/fathom.h>
#include <stdlib.h>
#include <time.h>
#define OWN __attribute__((noinline))
OWN void spin(void) { for (clock_t end = clock() + CLOCKS_PER_SEC / 2; clock() < end;) ; }
static void *blocks[32];
int main(void)
{
    for (int i = 0; i < 32; i++) blocks[i] = malloc(1 << 20);
    spin();
    for (int i = 0; i < 32; i++) free(blocks[i]);
    fathom_snapshot("emptied");
    spin();
    blocks[0] = malloc(8 << 20);
    spin();
    return 0;
}
"""


# Half a second asleep with each state, which no tick meets, and a peak that is left at once.
ASLEEP = """#include <stdlib.h>
#include <unistd.h>
int main(void)
{
    void *volatile first = malloc(20 << 20);
    usleep(500000);
    free(first);
    free(malloc(64 << 20));
    void *volatile second = malloc(1 << 20);
    usleep(500000);
    return second == NULL;
}
"""


def asleep(tap, folder):
    """What was held while nothing ran is known, with ticks and without."""
    (folder / "asleep.c").write_text(ASLEEP)
    lib.must([lib.FATHOM, "cc", "gcc", "-O1", "-fno-builtin", "asleep.c", "-o", "asleep"], folder)
    for ticks in {}, {"FATHOM_TICKS": "none"}:
        lib.must([lib.FATHOM, "record", "-q", "-o", "asleep", "./asleep"], folder, env={**os.environ, **ticks})
        page = json.loads(lib.must([lib.FATHOM, "report", "--json", "memory/peak", "asleep.data"], folder).stdout)
        rows = [row["cells"] for table in page["tables"] if table["name"] == "memory_over_time" for row in table["rows"]]
        held = [(row["least_bytes"], row["most_bytes"]) for row in rows]
        tap.check((20 << 20, 20 << 20) in held and (1 << 20, 1 << 20) in held, f"asleep {ticks}: what was held is shown", held)
        tap.same(max((most for _, most in held), default=0), 64 << 20, f"asleep {ticks}: the peak is in it")
        tap.check(rows[-1]["end_seconds"] >= 1, f"asleep {ticks}: up to the end of the run", rows[-1])


HOLDS = """#include <stdlib.h>
#include <unistd.h>
int main(void)
{
    void *volatile held = malloc(20 << 20);
    char byte = '!';
    return write(1, &byte, 1) != 1 || read(0, &byte, 1) != 1 || held == NULL;
}
"""


def while_it_runs(tap, folder):
    """The curve of a program that runs goes on up to the moment of the look."""
    (folder / "holds.c").write_text(HOLDS)
    lib.must([lib.FATHOM, "cc", "gcc", "-O1", "-fno-builtin", "holds.c", "-o", "holds"], folder)
    program = subprocess.Popen(["./holds"], cwd=folder, env={**os.environ, "FATHOM_OUTPUT": "holds"},
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        program.stdout.read(1)

        def last():
            page = json.loads(lib.must([lib.FATHOM, "memory", "--json", "--by=held", "holds.rec"], folder).stdout)
            rows = [table["rows"] for table in page["tables"] if table["name"] == "memory_over_time"]
            return rows[0][-1]["cells"] if rows and rows[0][-1]["cells"]["begin_seconds"] > 1 else None
        cells = wait_until(last, "the curve goes on while the program sleeps")
        tap.same((cells["least_bytes"], cells["most_bytes"]), (20 << 20, 20 << 20), "while it runs: what it holds now")
    finally:
        program.communicate(b"\n", timeout=PATIENCE)


def over_time(tap, folder):
    """What was held, from the start to the end; not of sums."""
    (folder / "stages.c").write_text(STAGES)
    lib.must([lib.FATHOM, "cc", "gcc", "-O1", "-fno-builtin", "stages.c", "-o", "stages"], folder)
    lib.must([lib.FATHOM, "record", "-q", "-o", "stages", "./stages"], folder)

    def page(name):
        return json.loads(lib.must([lib.FATHOM, "report", "--json", "memory/held", name], folder).stdout)

    whole = page("stages.data")
    rows = [row["cells"] for table in whole["tables"] if table["name"] == "memory_over_time" for row in table["rows"]]
    most = [row["most_bytes"] for row in rows]
    tap.same((whole["facts"]["memory_over_time_recorded"], max(most, default=0)), (True, 32 << 20), "over time: the most is the peak")
    tap.same(whole["facts"]["peak_heap_bytes"], 32 << 20, "over time: as the peak's own account says")
    after = [row["least_bytes"] for row in rows[most.index(32 << 20):]]
    tap.check(min(after) == 0 and most[-1] >= 8 << 20, "over time: all was freed, and some was allocated again", rows)
    tap.check(all(a["end_seconds"] == b["begin_seconds"] for a, b in zip(rows, rows[1:])) and rows[0]["begin_seconds"] == 0 and
              all(row["least_bytes"] <= row["most_bytes"] for row in rows), "over time: part after part", rows)
    moments = [row["cells"] for table in whole["tables"] if table["name"] == "memory_moments" for row in table["rows"]]
    tap.same([(row["live_bytes"], row["path"][0]) for row in moments],
             [(32 << 20, {"name": "the peak", "query": "memory/peak"}), (None, {"name": "snapshot emptied: fathom finish stages.snap1.rec", "query": None}),
              (8 << 20, {"name": "the end", "query": "memory/held"})], "over time: moments whose contexts are known")
    tap.check((folder / "stages.snap1.rec").exists() and moments[0]["at_seconds"] <= moments[1]["at_seconds"] <= moments[2]["at_seconds"],
              "over time: where a snapshot is", moments)
    lib.must([lib.FATHOM, "merge", "--allow-repeats", "stages.data", "stages.data", "-o", "both.data"], folder)
    less = page("both.data")
    tap.check(less["facts"]["memory_over_time_recorded"] is False and
              not any(table["name"] == "memory_over_time" for table in less["tables"]) and
              "Not recorded" in json.dumps(less["text"]), "over time: not recorded in sums", less["text"])


def main():
    tap = lib.Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        temporary(tap, folder)
        unseen(tap, folder)
        by_line(tap, folder)
        by_line_inlined(tap, folder)
        over_time(tap, folder)
        asleep(tap, folder)
        while_it_runs(tap, folder)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
