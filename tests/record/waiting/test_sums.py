#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What profiles know by context beside their measures (waits, locks, threads, the heap, durations) is added up in
their sum: totals are those of both, the invariants hold, and neither order nor grouping changes a byte."""
import collections
import json
import pathlib
import sys
import tempfile

import record_lib as lib
from patience import PATIENCE

SOURCE = r"""
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#define PART __attribute__((noinline))
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int sum;
static void *volatile kept;
static char *blocks[64];
PART static void take_a(int us) { pthread_mutex_lock(&table_lock); usleep((unsigned)us); pthread_mutex_unlock(&table_lock); sum++; }
PART static void take_b(int us) { pthread_mutex_lock(&table_lock); usleep((unsigned)us); pthread_mutex_unlock(&table_lock); sum++; }
PART static void *worker(void *argument)
{
    for (int i = 0; i < *(int *)argument; i++)
        take_b(300);
    return NULL;
}
PART static void make(int n)
{
    for (int i = 0; i < n; i++)
        blocks[i] = malloc(100 + (unsigned)i);
    kept = malloc(1000);
    kept = realloc(kept, 100000);
    sum++;
}
PART static void unmake(int n)
{
    for (int i = 0; i < n; i++)
        free(blocks[i]);
    sum++;
}
int main(int argc, char **argv)
{
    (void)argc;
    int n = atoi(argv[1]);
    pthread_t thread;
    pthread_create(&thread, NULL, worker, &n);
    for (int i = 0; i < n; i++)
        take_a(300);
    pthread_join(thread, NULL);
    make(n);
    unmake(n - 1);
    return 0;
}
"""


def facts(folder, name):
    done = lib.must([lib.FATHOM, "dump", "--json", name], folder, timeout=PATIENCE)
    return json.loads(done.stdout)["facts"]


def totals(of):
    """What is added, by what does not depend on numbers of contexts."""
    found = collections.Counter()
    for waiting in of["waiting"]:
        for what in ("calls", "waits", "ns", "short_ns", "left", "open"):
            found["waiting", waiting["kind"], what] += waiting[what]
    names = [""] + [lock["name"] for lock in of["locks"]]
    for blame in of["blames"]:
        for what in ("waits", "ns"):
            found["blame", names[blame["lock"]], what] += blame[what]
    for thread in of["threads"]:
        for what in ("wall_ns", "cpu_ns", "wait_ns", "queued_ns"):
            found["thread", thread["name"], what] += thread[what]
    for flow in of["flows"]:
        for what in ("blocks", "bytes"):
            found["flow", flow["from"] is not None, what] += flow[what]
    for one in of["reallocs"]:
        found["realloc"] += one["moved"] + one["kept"]
    for timed in of["durations"]:
        for what in ("timed", "ns", "left"):
            found["durations", what] += timed[what]
        for step in timed["steps"]:
            found["step", step["step"]] += step["calls"]
    for heap in of["heap"]:
        for what in ("unknown_blocks", "unseen_blocks", "dropped"):
            found["heap", what] += heap[what]
    return +found


def greatest(of):
    return max(waiting["longest_ns"] for waiting in of["waiting"]), max(d["longest_ns"] for d in of["durations"])


def merge(folder, to, *names):
    return lib.must([lib.FATHOM, "merge", *names, "-o", to], folder)


def main():
    tap = lib.Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "prog.c").write_text(SOURCE)
        lib.must([lib.FATHOM, "cc", "gcc", "-O1", "prog.c", "-o", "prog", "-pthread"], folder)
        for count in (5, 9, 12):
            lib.must([lib.FATHOM, "record", "-q", "--trace=take_a,take_b", "-o", f"run{count}", "./prog", str(count)],
                     folder)
        lib.must([lib.FATHOM, "record", "-q", "--no-waiting", "--no-heap", "-o", "less", "./prog", "3"], folder)
        merge(folder, "sum.data", "run5.data", "run9.data")
        parts = [facts(folder, "run5.data"), facts(folder, "run9.data")]
        whole = facts(folder, "sum.data")
        expected = totals(parts[0]) + totals(parts[1])
        tap.same(totals(whole), expected, "a sum has what its profiles have together")
        tap.check(expected["durations", "timed"] == 28 and expected["realloc"] == 2 and
                  expected["flow", True, "blocks"] >= 12 and expected["waiting", "mutex", "calls"] == 28,
                  "which is what the program did", expected)
        tap.same(greatest(whole), tuple(map(max, zip(*map(greatest, parts)))), "and the longest of them")
        tap.check({lock["name"] for lock in whole["locks"]} <= {"table_lock"}, "locks are known by their names",
                  whole["locks"])
        done = lib.must([lib.FATHOM, "check", "sum.data"], folder)
        tap.check("ok      waits of all kinds = waits of each context" in done.stdout and
                  "ok      calls by duration = timed calls" in done.stdout and
                  "ok      blocks with a known place of free" in done.stdout, "its invariants hold by context",
                  done.stdout)
        merge(folder, "other.data", "run9.data", "run5.data")
        tap.check((folder / "sum.data").read_bytes() == (folder / "other.data").read_bytes(), "in either order")
        merge(folder, "left.data", "sum.data", "run12.data")
        merge(folder, "part.data", "run9.data", "run12.data")
        merge(folder, "right.data", "run5.data", "part.data")
        tap.check((folder / "left.data").read_bytes() == (folder / "right.data").read_bytes(), "and grouping")
        text = lib.must([lib.FATHOM, "dump", "sum.data"], folder).stdout
        tap.check(all(word in text for word in ("waiting 1:\n\tcsd = csd", "thread 1:\n", "flow 1:\n\tfrom = csd",
                                                "durations 1:\n", "\tsteps = ", "heap 1:\n")),
                  "and all of it can be dumped", text[-3000:])
        page = lib.must([lib.FATHOM, "report", "durations", "sum.data"], folder).stdout
        tap.check("take_a" in page and "14" in page, "the page of durations is of both", page)
        lib.must([lib.FATHOM, "merge", "--common", "run5.data", "less.data", "-o", "common.data"], folder)
        common = facts(folder, "common.data")
        tap.check(common["waiting"] == [] and common["flows"] == [] and common["heap"] == [],
                  "what one of them did not record is not said of both", common)
        lib.must([lib.FATHOM, "check", "common.data"], folder)
    return tap.done()


sys.exit(main())
