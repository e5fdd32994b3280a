#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The first page of programs that are recorded: which measure leads it, and what its first lines say."""
import json
import pathlib
import sys
import tempfile

import record_lib as lib

# Half a second of processor time, however fast the processor is: what needs samples has over a hundred.
BUSY = "clock() < CLOCKS_PER_SEC / 2"
HOT = r"""
#include <time.h>
static volatile unsigned long sink;
__attribute__((noinline)) void buf_append(long rounds)
{
    for (long i = 0; i < rounds; i++)
        sink += (unsigned long)i;
}
__attribute__((noinline)) void format_line(void) { buf_append(100000); }
int main(void)
{
    while (BUSY)
        format_line();
    return 0;
}
""".replace("BUSY", BUSY)
FEW = r"""
static volatile unsigned long sink;
__attribute__((noinline)) void step(int i) { sink += (unsigned)i; }
int main(void)
{
    for (int i = 0; i < 1000; i++)
        step(i);
    return 0;
}
"""
SESSIONS = r"""
#include <stdio.h>
#include <stdlib.h>
static void *kept[1200000];
__attribute__((noinline)) void *open_session(void) { return malloc(60); }
__attribute__((noinline)) void close_session(void *session) { free(session); }
int main(void)
{
    setvbuf(stdout, malloc(1 << 21), _IOFBF, 1 << 21);
    for (int i = 0; i < 1200000; i++)
        kept[i] = open_session();
    for (int i = 0; i < 400000; i++)
        close_session(kept[3 * i]);
    puts("done");
    return 0;
}
"""
TIDY = r"""
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) void *make(void) { return malloc(100); }
int main(void)
{
    for (int i = 0; i < 1000; i++)
        free(make());
    puts("done");
    return 0;
}
"""
# One thread holds a lock and sleeps, the other asks for it; enough work for samples.
WAITING = r"""
#include <pthread.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t big = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long sink;
__attribute__((noinline)) void work(long rounds)
{
    for (long i = 0; i < rounds; i++)
        sink += (unsigned long)i;
}
__attribute__((noinline)) void account(void)
{
    pthread_mutex_lock(&big);
    usleep(800000);
    pthread_mutex_unlock(&big);
}
static void *run(void *nothing) { account(); account(); return nothing; }
int main(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, run, NULL);
    while (clock() < CLOCKS_PER_SEC / 5)
        work(1000000);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
"""
RECURSION = r"""
#include <stdio.h>
#include <time.h>
static volatile unsigned long sink;
unsigned long expr(int depth);
__attribute__((noinline)) unsigned long atom(int depth)
{
    for (int i = 0; i < 30000; i++)
        sink += (unsigned long)i;
    return depth > 0 ? expr(depth - 1) : 1;
}
__attribute__((noinline)) unsigned long term(int depth) { return atom(depth) + (depth & 1 ? atom(depth - 1) : 0); }
__attribute__((noinline)) unsigned long expr(int depth) { return term(depth) + (depth & 2 ? term(depth - 1) : 1); }
int main(void)
{
    long entered = 0;
    for (; BUSY; entered++)
        sink += expr(14);
    printf("%ld\n", entered);
    return 0;
}
""".replace("BUSY", BUSY)
LIBRARY = r"""
#include <stdio.h>
#include <time.h>
#include <zlib.h>
static unsigned char in[1 << 20], out[2 << 20];
__attribute__((noinline)) static unsigned long pack(void)
{
    uLongf size = sizeof out;
    compress2(out, &size, in, sizeof in, 6);
    return size;
}
int main(void)
{
    unsigned random = 1;
    for (size_t i = 0; i < sizeof in; i++)
        in[i] = ((random = random * 1103515245 + 12345) >> 16) & 15;
    while (BUSY)
        printf("%lu\n", pack());
    return 0;
}
""".replace("BUSY", BUSY)
# In an order by chance: turns as long as some ticks would put all samples on the same few.
FLAT = "#include <time.h>\nstatic volatile unsigned long sink;\n" + "".join(
    f"__attribute__((noinline)) void stage_{i}(long rounds)\n{{\n    for (long i = 0; i < rounds; i++)\n"
    f"        sink += (unsigned long)i * {i + 3};\n}}\n" for i in range(60)) + (
        "static void (*const stages[60])(long) = {" + ", ".join(f"stage_{i}" for i in range(60)) + "};\n"
        "int main(void)\n{\n    unsigned random = 1;\n    while (" + BUSY + ")\n"
        "        stages[((random = random * 1103515245 + 12345) >> 16) % 60](200000);\n    return 0;\n}\n")
MIB = 1 << 20


class Page:
    def __init__(self, folder, name, text, *libraries):
        (folder / f"{name}.c").write_text(text)
        lib.must([lib.FATHOM, "cc", "--grade=deep", "-O1", "-g", "-w", f"{name}.c", "-o", name, *libraries], folder)
        self.output = lib.must([lib.FATHOM, "record", "-q", "-o", name, "--", f"./{name}"], folder).stdout
        told = lib.must([lib.FATHOM, "report", "--json", "menu", folder / f"{name}.data"], folder).stdout
        page = json.loads(told)
        self.headings = [one["text"] for one in page["text"] if one["kind"] == "heading"]
        self.lines = [one["text"] for one in page["text"] if one["kind"] == "text"]
        self.tables = [one["name"] for one in page["tables"]]
        self.seconds = page["facts"]["total_time_seconds"]
        self.rows = {one["name"]: [row["cells"] for row in one["rows"]] for one in page["tables"]}

    def says(self, words):
        return any(words in line for line in self.lines)

    def __str__(self):
        return "\n".join([*self.headings, *self.lines, *self.tables])


def last_step(row):
    return row["path"][-1]["name"]


def main():
    tap = lib.Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        hot = Page(folder, "hot", HOT)
        tap.check("Where the time goes" in hot.headings and hot.rows["hot_functions"][0]["path"][0]["name"] ==
                  "buf_append" and not hot.says("No function stands out"), "one hot function: time leads", hot)
        shares = [row["time_self_seconds"] for row in hot.rows["hot_functions"]]
        tap.check(all(share >= 0.01 * sum(shares) for share in shares[3:]), "rows that say nothing are left out", shares)
        few = Page(folder, "few", FEW)
        tap.check("Where the calls go (not time)" in few.headings and any(few.says(text) for text in
                  ("Too short for samples", "1 sample is too few", " samples are too few")),
                  "too few samples: calls lead, and are said to be no time", few)
        for _ in range(5):  # on a busy machine a tick may come late, and charge one function for many
            flat = Page(folder, "flat", FLAT)
            # Where a busy machine has ticks so late that there are fewer than 20, calls lead.
            if flat.rows["hot_functions"][0].get("time_self_seconds", flat.seconds) <= 0.08 * flat.seconds:
                break
        tap.check("Where the time goes" in flat.headings and flat.says("No function stands out"),
                  "flat: it says that the order is chance", flat)
        first = flat.rows["hot_functions"][0]
        tap.check(0 < first["time_self_spread_seconds"] < 10 * first["time_self_seconds"],
                  "sampled times have their uncertainty beside them", first)
        tap.check("hot_functions" in flat.tables and "hot_paths" not in flat.tables,
                  "and has no paths, which would say it again", flat)
        recursion = Page(folder, "recursion", RECURSION)
        tap.check(recursion.tables[0] == "hot_recursions" and
                  recursion.rows["hot_recursions"][0]["entered_count"] == int(recursion.output),
                  "a recursion that has most of the time comes first", (recursion, recursion.output))
        library = Page(folder, "library", LIBRARY, "-lz")
        sentence = [line for line in library.lines if "is in code not compiled with fathom" in line]
        tap.check(len(sentence) == 1 and "libz.so.1" in sentence[0] and "called from pack" in sentence[0],
                  "time in a library is told, with who calls it", library)
        kept = Page(folder, "sessions", SESSIONS)
        tap.check(kept.says("45.8 MiB of it never freed, all by open_session, which kept 800,000 of 1,200,000 blocks; "
                            "2.0 MiB more in 1 block, few in each place."),
                  "memory grows: who kept how many of how many blocks", kept)
        holders = kept.rows.get("hot_holders", [])
        tap.check([last_step(row) for row in holders] == ["open_session"] and
                  kept.tables.index("hot_holders") < kept.tables.index("hot_functions"),
                  "and its table comes before the functions, without the buffer", (holders, kept))
        tidy = Page(folder, "tidy", TIDY)
        tap.check(not tidy.says("never freed") and "hot_holders" not in tidy.tables,
                  "the buffer of a stream is no leak", tidy)
        waiting = Page(folder, "waiting", WAITING, "-lpthread")
        tap.check("Where the waiting goes" in waiting.headings, "waits for a lock: waiting leads", waiting)
    return tap.done()


sys.exit(main())
