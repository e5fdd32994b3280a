#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The time in code without hooks, of programs that are recorded: by file, function and caller, in the
profile, on its pages, and through sums."""
import collections
import json
import pathlib
import re
import sys
import tempfile

import record_lib as lib

ZLIB = r"""
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <time.h>
static unsigned char in[1 << 18], out[1 << 19];
__attribute__((noinline)) unsigned long pack(int round)
{
    uLongf size = sizeof out;
    in[round] ^= 1;
    compress2(out, &size, in, sizeof in, 6);
    return size;
}
int main(void)
{
    unsigned long sum = 0, seed = 1;
    for (size_t i = 0; i < sizeof in; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        in[i] = (unsigned char)(seed >> 60);
    }
    for (int round = 0; clock() < CLOCKS_PER_SEC / 2; round++)
        sum += pack(round % 1000);
    return sum == 0;
}
"""
SORT = r"""
#include <algorithm>
#include <ctime>
#include <vector>
__attribute__((noinline)) void sort_all(std::vector<unsigned> &numbers)
{
    std::sort(numbers.begin(), numbers.end(), [](unsigned a, unsigned b) { return a < b; });
}
int main()
{
    unsigned long seed = 1;
    while (clock() < CLOCKS_PER_SEC / 2) {
        std::vector<unsigned> numbers;
        for (int i = 0; i < 120000; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            numbers.push_back((unsigned)(seed >> 33));
        }
        sort_all(numbers);
    }
}
"""
OWN = r"""
#include <time.h>
static volatile unsigned long sink;
static inline void spin(long rounds)
{
    for (long i = 0; i < rounds; i++)
        sink += (unsigned long)i * 3;
}
__attribute__((noinline)) void work(void)
{
    while (clock() < CLOCKS_PER_SEC / 2)
        spin(12000000);
}
int main(void) { work(); return 0; }
"""
# Four fifths of it in an object of another build, in turns of lengths by chance: with equal ones the ticks
# meet the same place of a turn again and again.
PART = r"""
#include <time.h>
void other(long turns);
static volatile unsigned long sink;
int main(void)
{
    unsigned random = 1;
    while (clock() < CLOCKS_PER_SEC / 2) {
        long turns = 200000 + ((random = random * 1103515245 + 12345) >> 16) % 1000 * 1000;
        for (long i = 0; i < turns; i++)
            sink += (unsigned long)i;
        other(4 * turns);
    }
    return 0;
}
"""
OTHER = r"""
static volatile unsigned long sink;
void other(long turns)
{
    for (long i = 0; i < turns; i++)
        sink += (unsigned long)i;
}
"""
# The kernel fills the buffer: called by a body that is inlined.
KERNEL = r"""
#include <fcntl.h>
#include <time.h>
#include <unistd.h>
static char buffer[1 << 22];
static inline void fill(int zeros)
{
    if (read(zeros, buffer, sizeof buffer) < 0)
        _exit(1);
}
int main(void)
{
    int zeros = open("/dev/zero", O_RDONLY);
    while (clock() < CLOCKS_PER_SEC / 2)
        fill(zeros);
    return 0;
}
"""


def facts(data):
    """[unhooked], unknown quanta and quanta of all, and that no context has more than its own."""
    dump = json.loads(lib.must([lib.FATHOM, "dump", "--json", data], data.parent).stdout)
    own = {csd["id"]: csd["quanta"] for csd in dump["csd"]}
    sums = collections.Counter()
    for fact in dump["facts"]["unhooked"]:
        sums[fact["csd"]] += fact["quanta"]
    assert all(quanta <= own[csd] for csd, quanta in sums.items()), (sums, own)
    return dump["facts"]["unhooked"], dump["facts"]["unhooked_unknown_quanta"], sum(own.values())


def share(data, **wanted):
    """Percent of all quanta that are in such code."""
    found, _, every = facts(data)
    return 100 * sum(fact["quanta"] for fact in found
                     if all(fact[key].startswith(value) for key, value in wanted.items())) / every


def page(data):
    return json.loads(lib.must([lib.FATHOM, "report", "--json", "menu", data], data.parent).stdout)


def table(shown):
    """Rows of the table of files."""
    return [row["cells"] for one in shown["tables"] if one["name"] == "unhooked" for row in one["rows"]]


def sentence(shown):
    return next((one["text"] for one in shown["text"] if " in code " in one["text"]), None)


HEAP = r"""
#include <stdlib.h>
#include <time.h>
static void *kept[60000];
__attribute__((noinline)) void blocks(unsigned round)
{
    for (unsigned i = 0; i < 60000; i++) {
        unsigned at = i * 7919u % 60000;
        free(kept[at]);
        kept[at] = malloc(16 + (i ^ round) % 64);
    }
}
int main(void)
{
    for (unsigned round = 0; clock() < CLOCKS_PER_SEC / 2; round++)
        blocks(round);
    return 0;
}
"""


class World:
    def __init__(self, folder, tap):
        self.folder, self.tap = folder, tap

    def record(self, name, text, *options, libraries=(), suffix=".c", output=None):
        """Data of a program, and what recording said."""
        (self.folder / f"{name}{suffix}").write_text(text)
        front = "c++" if suffix == ".cc" else "cc"
        lib.must([lib.FATHOM, front, *options, "-g", "-w", f"{name}{suffix}", "-o", name, *libraries], self.folder)
        done = lib.must([lib.FATHOM, "record", "-o", output or name, "--", f"./{name}"], self.folder)
        return self.folder / f"{output or name}.data", done.stderr

    def zlib(self):
        data, said = self.record("packer", ZLIB, "--grade=deep", "-O1", libraries=["-lz"])
        shown, in_zlib = page(data), share(data, kind="object", object="libz.so")
        self.tap.check(in_zlib >= 60, "most of the time is in the library", facts(data))
        self.tap.check(abs(shown["facts"]["unhooked_percent"] - share(data)) < 0.1,
                       "the page has the share of all code without hooks", shown["facts"])
        self.tap.check(shown["facts"]["unhooked_unknown_percent"] <= 5, "little is not known", shown["facts"])
        rows = table(shown)
        first = max(rows, key=lambda row: row["time_self_seconds"])
        self.tap.check(rows[0] == first and first["file"].startswith("libz.so") and
                       [step["name"] for step in first["caller"]] == ["pack"],
                       "its row comes first, and says who calls it", rows)
        words = sentence(shown)
        self.tap.check("is in code not compiled with fathom: libz.so" in words and
                       "called from pack." in words and "build it with `fathom cc`" in words and
                       words in said, "the page and the terminal say so in one sentence", (words, said))
        text = lib.must([lib.FATHOM, "report", "menu", data], self.folder).stdout
        self.tap.check("Code without hooks, by file" in text and "not compiled with fathom: libz" in text.replace("\n", " "),
                       "text has it, too", text)

    def sort(self):
        data, said = self.record("sorter", SORT, "--grade=deep", "-O0", suffix=".cc")
        self.tap.check(share(data, kind="system") >= 10 and "--include-system" in (sentence(page(data)) or "") and
                       "--include-system" in said, "functions of system headers are offered", (facts(data), said))
        data, said = self.record("sorter2", SORT, "--grade=deep", "--include-system", "-O0", suffix=".cc")
        self.tap.check(share(data, kind="system") == 0 and "--include-system" not in said,
                       "with hooks in them there are none", (facts(data), said))

    def own(self):
        data, said = self.record("own", OWN, "--grade=deep", "-O1")
        shown = page(data)
        self.tap.check(shown["facts"]["unhooked_percent"] < 10 and table(shown) == [] and
                       sentence(shown) is None and "in code" not in said,
                       "a program that is all its own has no such line", (shown["facts"], said))
        about = lib.must([lib.FATHOM, "report", "about", data], self.folder).stdout
        self.tap.check(re.search(r"In code without hooks: +\d+\.\d %", about),
                       "but that it was recorded stands there", about)

    def heap(self):
        """The fronts of malloc and free are in the program, and no part of it."""
        data, said = self.record("blocks", HEAP, "--grade=deep", "-O1")
        fronts = "fathom's functions in blocks"
        self.tap.check(share(data, object=fronts) >= 3 and fronts in said, "time in our own fronts is told as such",
                       (facts(data), said))
        self.tap.same([fact for fact in facts(data)[0] if fact["kind"] == "system" or fact["function"].startswith("fm_") or
                       fact["kind"] == "part" and fact["function"] not in ("_init", "not known", "")], [],
                      "and not as the program's or the system's functions")

    def part(self):
        (self.folder / "other.c").write_text(OTHER)
        lib.must(["gcc", "-g", "-O1", "-c", "other.c"], self.folder)
        data, said = self.record("part", PART, "--grade=deep", "-O1", libraries=["other.o"])
        self.tap.check(share(data, kind="part", object="part", function="other") >= 60 and
                       "functions without hooks in part" in said and
                       "compile all its sources with `fathom cc`" in said,
                       "objects of another build are told by function", (facts(data), said))
        return data

    def kernel(self):
        data, said = self.record("filler", KERNEL, "--grade=deep", "-O1")
        self.tap.check(share(data, kind="kernel") >= 60 and "the kernel" in said, "system calls are the kernel's",
                       (facts(data), said))
        self.tap.check([step["name"] for step in table(page(data))[0]["caller"]] == ["fill"],
                       "and are called by the inlined body that they stand in", table(page(data)))

    def sums(self, first):
        """Of two processes, and compared to one whose objects are all of this build."""
        second, _ = self.record("part", PART, "--grade=deep", "-O1", libraries=["other.o"], output="second")
        whole = self.folder / "sum.data"
        lib.must([lib.FATHOM, "merge", "-o", whole, first, second], self.folder)
        quanta = [sum(fact["quanta"] for fact in facts(data)[0]) for data in (first, second, whole)]
        unknown = [facts(data)[1] for data in (first, second, whole)]
        self.tap.check(quanta[2] == quanta[0] + quanta[1] and unknown[2] == unknown[0] + unknown[1],
                       "a sum has what its parts have", (quanta, unknown))
        checked = lib.must([lib.FATHOM, "check", whole], self.folder).stdout
        self.tap.check("time in code without hooks is part of its callers' own" in checked, "it is checked", checked)
        third, _ = self.record("part", PART, "--grade=deep", "-O1", libraries=["other.c"], output="third")
        told = lib.must([lib.FATHOM, "diff", first, third], self.folder).stdout
        shares = re.search(r"in code without hooks: before (\d+) % of the time, after (\d+) % of the time",
                           " ".join(told.split()))
        self.tap.check(shares and int(shares[1]) >= 60 and int(shares[2]) < 10, "a comparison says both shares", told)


def main():
    tap = lib.Tap()
    with tempfile.TemporaryDirectory() as name:
        world = World(pathlib.Path(name), tap)
        world.zlib()
        world.sort()
        world.own()
        world.kernel()
        world.heap()
        world.sums(world.part())
    return tap.done()


sys.exit(main())
