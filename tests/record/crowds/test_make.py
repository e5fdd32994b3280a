#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fathom record --join=all -- make -j: one profile of all programs of a build, by what each is for."""
import json
import pathlib
import shutil
import sys
import tempfile

import record_lib as lib

ITEMS = 9
GENERATE = r"""
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) static void line(int n) { printf("line %d\n", n); }
int main(int count, char **words)
{
    for (int i = 0; count > 1 && i < atoi(words[1]); i++) line(i);
    return 0;
}
"""
PACK = r"""
#include <stdio.h>
__attribute__((noinline)) static unsigned mix(unsigned sum, int c) { return sum * 31 + (unsigned)c; }
int main(void)
{
    unsigned sum = 0;
    for (int c; (c = getchar()) != EOF;) sum = mix(sum, c);
    printf("%u\n", sum);
    return 0;
}
"""
MAKEFILE = """
CC = {fathom} cc
ITEMS = {items}
all.sum: $(ITEMS:%=%.packed)
\tcat $^ > $@
%.txt: generate
\t./generate $* > $@
%.packed: %.txt pack
\t./pack < $< > $@
generate pack: %: %.c
\t$(CC) -O1 $< -o $@
.SECONDARY:
"""


def cells(page, name):
    return next(([row["cells"] for row in table["rows"]] for table in page["tables"] if table["name"] == name), [])


def build(tap, folder):
    items = range(1, ITEMS + 1)
    (folder / "generate.c").write_text(GENERATE)
    (folder / "pack.c").write_text(PACK)
    (folder / "Makefile").write_text(MAKEFILE.format(fathom=lib.FATHOM, items=" ".join(map(str, items))))
    done = lib.run([lib.FATHOM, "record", "--join=all", "-o", "build", "--", "make", "-s", "-j3"], folder)
    tap.same((done.returncode, sorted(path.name for path in folder.glob("build.*.data")), list(folder.glob("*.rec"))),
             (0, [], []), "make -j leaves one profile")
    calls = lib.Profile(folder / "build.data").calls()
    lengths = [(folder / f"{item}.txt").stat().st_size for item in items]
    tap.same((calls["line"], calls["mix"]), (sum(items), sum(lengths)), "with the calls of all processes of all programs")
    text = lib.must([lib.FATHOM, "report", "menu", "build.data"], folder).stdout
    page = json.loads(lib.must([lib.FATHOM, "report", "--json", "menu", "build.data"], folder).stdout)
    roles = cells(page, "roles")
    tap.same(sorted((row["role"], row["processes"]) for row in roles), [("generate", ITEMS), ("pack", ITEMS)],
             "the first page has the programs")
    tap.same({row["role"]: row["calls"] for row in roles}, {"generate": calls["line"] + ITEMS, "pack": calls["mix"] + ITEMS},
             "with what each cost")
    costs = [(row["cpu_seconds"], row["calls"]) for row in roles]
    tap.same(costs, sorted(costs, reverse=True), "the dearest first")
    tap.check(text.index("Costs of each program's processes") < text.index("Explore"), "above all else to look at", text)
    tap.check(f"{2 * ITEMS} processes: {ITEMS} generate; {ITEMS} pack" in done.stderr, "and so says the summary", done.stderr)


def main():
    tap = lib.Tap()
    if shutil.which("make") is None:
        tap.skip("make -j", "make is not installed")
    else:
        with tempfile.TemporaryDirectory() as name:
            build(tap, pathlib.Path(name).resolve())
    sys.exit(tap.done())


if __name__ == "__main__":
    main()
