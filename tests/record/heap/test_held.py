#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is held, at the end and when most was, is what a program that allocates at random keeps in a
table of its own: by context, in one thread to the byte, in several within the bound that the file
tells, across fork, and when it is killed. The program's heap is as it would be without.
test_held.py [ROUNDS]"""
import collections
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

import record_lib as lib
from patience import wait_until
from runtime_rec import Rec

STATE_AT, HELD_AT = 20, 296  # in the header

HERE = pathlib.Path(__file__).resolve().parents[1]


def named(rec, executable, folder):
    """(caller, callee) -> sums of what is known of blocks."""
    names = lib.Names(folder / executable, next(module["bias"] for module in rec.modules if module["flags"] & 1))
    found = collections.defaultdict(collections.Counter)
    for thread in rec.threads:
        pds = thread["pds"]
        for csd in [*thread["csds"].values(), thread["root_csd"]]:
            caller = pds[csd["caller"]]["fn"] if csd["caller"] else 0
            key = names.get(caller, "?"), names.get(pds[csd["callee"]]["fn"], "?")
            if csd["held"]:
                for what in ("live", "live_blocks", "peak", "peak_blocks"):
                    found[key][what] += csd["held"][what]
    return found


def edges(rec):
    return [csd for thread in rec.threads for csd in [*thread["csds"].values(), thread["root_csd"]]
            if csd["held"]]


def invariants(rec, slack):
    """What must hold at any moment, but for the event under way in each thread: slack blocks."""
    wrong = []
    held = rec.held
    at = {csd["held"]["ref"]: csd for csd in edges(rec)}
    frees = sum(csd["alloc"][3] for csd in at.values())
    back = sum(csd["held"]["own"][0] + csd["held"]["far"][0] for csd in at.values())
    known = frees - held["unknown_frees"] - held["inherited_frees"] + held["unseen_frees"] \
        + held["untold_blocks"]
    if abs(known - back) > slack:
        wrong.append(f"given back {known}, of the allocations {back}")
    flows = collections.Counter()
    for csd in at.values():
        for origin, blocks, *_ in csd["held"]["flows"]:
            flows[origin] += blocks
    for ref, csd in at.items():
        own = csd["held"]["own"][0] + csd["held"]["far"][0]
        if abs(flows[ref] - own) > slack + held["unseen_frees"] + held["dropped_flows"]:
            wrong.append(f"flows of {csd['ref']}: {flows[ref]}, given back {own}")
        if csd["held"]["live"] < -(slack << 20) or csd["held"]["live_blocks"] < -slack:
            wrong.append(f"negative: {csd}")
    if set(flows) - set(at):
        wrong.append(f"flows from nowhere: {set(flows) - set(at)}")
    live = sum(csd["held"]["live"] for csd in at.values())
    step = held["step"] * len(rec.threads) + slack * 300000
    if abs(live - rec.live) > max(step, 20000) + held["under_way"]:
        wrong.append(f"live {live}, header {rec.live}, bound {step}")
    peak = sum(csd["held"]["peak"] for csd in at.values())
    told = max(rec.peak, live) if held["rising"] else rec.peak
    step += held["off_at_peak"]
    if abs(peak - told) > step:
        wrong.append(f"peak by context {peak}, in all {told}, bound {step}")
    return wrong


def run(executable, folder, arguments, **environment):
    for old in folder.glob("*.rec"):
        old.unlink()
    done = lib.must([executable, *arguments], folder,
                    env={**os.environ, "FATHOM_OUTPUT": str(folder / "h.rec"), **environment})
    tables = []
    for line in done.stdout.splitlines():
        words = line.split()
        if words[0] == "most":
            tables.append({"held": {}, "peak": {}, "most": int(words[1])})
        else:
            tables[-1][words[0]][words[1], words[2]] = tuple(map(int, words[3:]))
    return tables


LARGEST = 300000 # block of holding.c


def compare(tap, what, rec, table, executable, folder, exact):
    found = named(rec, executable, folder)
    tap.same({key: (found[key]["live"], found[key]["live_blocks"]) for key in table["held"]},
             table["held"], f"{what}: held at the end, by caller and callee")
    threads = len(rec.threads)
    # A thread that waits for a processor may have a block that the program's own account has not.
    bound = (rec.held["step"] + (LARGEST if threads > 1 else 0)) * threads
    tap.check(abs(rec.peak - table["most"]) <= bound, f"{what}: the most held",
              f"{rec.peak}, expected {table['most']} within {bound}")
    if exact:
        tap.same({key: (found[key]["peak"],) for key in table["peak"]}, table["peak"],
                 f"{what}: held when most was, by caller and callee")
        tap.same(rec.held["step"], 0, f"{what}: that is exact, and said to be")
    wrong = invariants(rec, 0)
    tap.check(not wrong, f"{what}: invariants", "\n".join(wrong))


PLACES = """
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
    static void *at[2000];
    static char text[1 << 17];
    size_t used = 0;
    malloc(1); /* begins the recording, which allocates itself */
    char *first = malloc(1);
    for (int i = 0; i < 2000; i++) {
        if (i % 3 == 2)
            free(at[i / 2]);
        at[i % 3 == 2 ? i / 2 : i] = malloc((size_t)i * 7 % 1000);
        char *block = at[i % 3 == 2 ? i / 2 : i];
        used += (size_t)sprintf(text + used, "%td %zu %d\\n", block - first,
                                malloc_usable_size(block), (int)((size_t)block % 16));
    }
    fputs(text, stdout);
    return 0;
}
"""


def as_without(tap, folder):
    """Places, sizes and alignment of blocks are those of the same program without remembering."""
    (folder / "places.c").write_text(PLACES)
    lib.must([lib.FATHOM, "cc", "gcc", "-O1", "-fno-builtin", "places.c", "-o", "places"], folder)
    lib.must(["gcc", "-O1", "-fno-builtin", "places.c", "-o", "plain"], folder)
    told = [lib.must(["setarch", "-R", program], folder,
                     env={**os.environ, "FATHOM_HEAP": heap, "FATHOM_OUTPUT": f"{heap}.rec"}).stdout
            for program, heap in (("./places", "on"), ("./places", "off"), ("./plain", "no"))]
    tap.check(told[0] == told[1] == told[2] and told[0].count("\n") == 2000,
              "places, usable sizes and alignment of blocks are as without")


LEAKING = """#include <stdlib.h>
#define OWN __attribute__((noinline))
OWN void *make(size_t n) { return malloc(n); }
OWN void drop(void *p) { free(p); }
OWN void *grow(void *p, size_t n) { return realloc(p, n); }
OWN void lose(int n) { for (; n > 0; n--) { void *volatile p = make(100); (void)p; } }
OWN void use(int n) { for (; n > 0; n--) drop(make(50)); }
int main(void)
{
    use(1000);
    lose(7);
    drop(grow(make(10), 3000000));
    return 0;
}
"""


def pages(tap, folder):
    """Who never gave back, who gives back what others allocate, what realloc did; what must hold."""
    (folder / "leaking.c").write_text(LEAKING)
    lib.must([lib.FATHOM, "cc", "gcc", "-O1", "-fno-builtin", "leaking.c", "-o", "leaking"], folder)
    lib.must(["./leaking"], folder, env={**os.environ, "FATHOM_OUTPUT": "leaking.rec"})
    lib.must([lib.FATHOM, "finish", "-q", "leaking.rec"], folder)
    page = json.loads(lib.must([lib.FATHOM, "report", "--json", "leaks", "leaking.data"],
                               folder).stdout)
    facts = {"recorded": True, "held_bytes": 700, "held_blocks": 7, "contexts_count": 1}
    tap.check({name: page["facts"].get(name) for name in facts} == facts, "leaks: in all",
              page["facts"])
    rows = {table["name"]: [row["cells"] for row in table["rows"]] for table in page["tables"]}
    leak = rows["leaks"][0]

    def steps(cell):
        return cell[0]["name"].split(" › ")

    tap.check((leak["held_blocks"], leak["allocated_blocks"]) == (7, 7) and
              steps(leak["path"])[-2:] == ["lose", "make"], "leaks: where they were allocated", leak)
    flows = {(steps(row["path"])[-2], steps(row["freeing"])[-1]):
             (row["flow_blocks"], row["flow_bytes"]) for row in rows["flows"]}
    tap.check(flows == {("use", "drop"): (1000, 50000), ("main", "grow"): (1, 10),
                        ("main", "drop"): (1, 3000000)}, "leaks: from where to where", rows["flows"])
    moved = rows["reallocs"][0]
    tap.check(moved["moved_blocks"] + moved["kept_blocks"] == 1, "leaks: what realloc did", moved)
    about = lib.must([lib.FATHOM, "report", "about", "leaking.data"], folder).stdout
    for name in ("no context has more live memory than it allocated",
                 "live memory of all contexts at the peak = the peak",
                 "blocks with a known place of free belong to both contexts"):
        line = next((line for line in about.splitlines() if line.startswith(name)), "")
        tap.check(" yes " in line, name, about)
    lib.must([lib.FATHOM, "merge", "--allow-repeats", "leaking.data", "leaking.data", "-o",
              "sum.data"], folder)
    text = lib.must([lib.FATHOM, "report", "leaks", "sum.data"], folder).stdout
    tap.check(re.search(r"^1,400 bytes in 14 blocks of 1 context ", text, re.M) and
              re.search(r" 2,000  main \S use \S make +main \S use \S drop$", text, re.M), "leaks of a sum", text)


DROPPERS = 40
MANY = """#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#define OWN __attribute__((noinline))
OWN char *make(size_t n) { return malloc(n); }
%s
static void (*const drops[])(void *) = {%s};
int main(void)
{
    char *at[400];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 400; i++)
            at[i] = make(100 + (size_t)round);
        for (int i = 0; i < 390 + round; i++)
            drops[i %% %d](at[i]);
    }
    if (fork() == 0) {                    /* each generation gives back two blocks of all before it */
        drops[0](at[399]);
        if (fork() == 0) {
            drops[0](at[398]);
            drops[1](at[397]);
            drops[1](make(7));
            make(11);
            _exit(0);
        }
    }
    while (wait(NULL) > 0)
        ;
    return 0;
}
""" % ("\n".join(f"OWN void drop{i}(void *p) {{ free(p); }}" for i in range(DROPPERS)),
       ", ".join(f"drop{i}" for i in range(DROPPERS)), DROPPERS)


def many(tap, folder):
    """Blocks of one context that very many give back, again and again when most was held; and
    children of children."""
    (folder / "many.c").write_text(MANY)
    lib.must([lib.FATHOM, "cc", "gcc", "-O1", "-fno-builtin", "many.c", "-o", "many"], folder)
    for old in folder.glob("*.rec"):
        old.unlink()
    lib.must(["./many"], folder, env={**os.environ, "FATHOM_OUTPUT": "many.rec"})
    first = Rec(folder / "many.rec")
    made = next(csd["held"] for csd in edges(first) if csd["alloc"][0] == 1200)
    held = [10, 9, 8]
    tap.same((made["live_blocks"], made["live"]),
             (sum(held), sum(n * (100 + i) for i, n in enumerate(held))), "many droppers: held")
    tap.same((made["peak_blocks"], made["peak"]),
             (19 + 400, 10 * 100 + 9 * 101 + 400 * 102), "many droppers: held when most was")
    flows = sorted(blocks for csd in edges(first) for origin, blocks, *_ in csd["held"]["flows"]
                   if origin == made["ref"])
    tap.same((len(flows), sum(flows)), (DROPPERS, 1200 - sum(held)), "many droppers: flows")
    wrong = invariants(first, 0)
    tap.check(not wrong, "many droppers: invariants", "\n".join(wrong))
    told = sorted((rec.held["inherited_frees"], rec.held["inherited_freed"], rec.live)
                  for rec in map(Rec, folder.glob("many.*.rec")))
    tap.same(told, [(1, 102, 0), (2, 204, 11)], "children of children: blocks of those before")


LIFETIMES = """#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <fathom/fathom.h>
#define OWN __attribute__((noinline))
static void *kept[50];
OWN void *brief(void) { return malloc(10); }
OWN void *lasting(void) { return malloc(20); }
OWN void drop(void *p) { free(p); }
OWN void *far(void *unused)
{
    (void)unused;
    for (int i = 30; i < 40; i++)
        drop(kept[i]);
    return NULL;
}
OWN void pass(void)
{
    struct timespec time = {0, 20000000};
    for (int i = 0; i < 50; i++)
        kept[i] = lasting();
    while (nanosleep(&time, &time) != 0)
        ;
    for (int i = 0; i < 30; i++)
        drop(kept[i]);
    for (int i = 0; i < 1000; i++)
        drop(brief());
}
int main(void)
{
    pthread_t thread;
    pass();
    fathom_snapshot("half");
    pthread_create(&thread, NULL, far, NULL);
    pthread_join(thread, NULL);
    return 0;
}
"""


EARLY = r"""
#include <stdlib.h>
#define OWN __attribute__((noinline))
static void *volatile kept, *volatile a, *volatile b;
OWN static void before(void) { kept = malloc(120); a = malloc(9); free(a); }
#if defined PREINIT
__attribute__((section(".preinit_array"), used)) static void (*const first)(void) = before;
#else
__attribute__((constructor(101))) static void early(void) { before(); }
#endif
OWN static void rise(void) { a = malloc(20000); b = malloc(10000); }
OWN static void fall(void) { free(a); free(b); }
OWN static void again(void) { a = malloc(5000); free(a); }
int main(void) { rise(); fall(); again(); return 0; }
"""


def early(tap, folder):
    """The program's first block comes before main: small peaks afterwards are exact all the same."""
    (folder / "early.c").write_text(EARLY)
    for what, flags in (("a constructor", []), ("preinit_array", ["-DPREINIT"])):
        lib.must([lib.FATHOM, "cc", "gcc", "-O1", "-fno-builtin", *flags, "early.c", "-o", "early"], folder)
        lib.must(["./early"], folder, env={**os.environ, "FATHOM_OUTPUT": "early.rec"})
        rec = Rec(folder / "early.rec")
        tap.same((rec.peak, rec.live), (30120, 120), f"a first block in {what}: peak and end")
        (folder / "early.rec").unlink()
        profile = lib.record(["./early"], folder, name="early").profile
        tap.same(profile.heap["rise", "peak_bytes"], 30000, f"a first block in {what}: by function")


def of_lifetimes(folder, name):
    """What the dump of a profile says, by function that allocated, and by pair; the page's table."""
    dump = json.loads(lib.must([lib.FATHOM, "dump", "--json", name], folder).stdout)["facts"]
    page = json.loads(lib.must([lib.FATHOM, "report", "--json", "leaks", name], folder).stdout)
    tables = {table["name"]: [row["cells"] for row in table["rows"]] for table in page["tables"]}
    return dump, page["facts"], tables


def lifetimes(tap, folder):
    """How long blocks were held, by where they were allocated and given back."""
    (folder / "times.c").write_text(LIFETIMES)
    lib.must([lib.FATHOM, "cc", "gcc", "-O1", "-fno-builtin", "times.c", "-o", "times", "-lpthread"], folder)
    lib.must([lib.FATHOM, "record", "-q", "-k", "--lifetimes", "-o", "times", "./times"], folder)
    dump, facts, tables = of_lifetimes(folder, "times.data")
    tap.same(facts["lifetimes_recorded"], True, "lifetimes: recorded")
    known = {row["path"][0]["name"].split(" › ")[-1]: row for row in tables["lifetimes"]}
    tap.same({name: row["timed_count"] for name, row in known.items()},
             {"brief": 1000, "lasting": 40}, "lifetimes: of the blocks given back, in all threads")
    tap.check(all(known["lasting"][f"{what}_seconds"] >= 0.0198 for what in ("least", "mean", "p50", "longest")),
              "lifetimes: at least as long as the program slept", known["lasting"])
    tap.check(known["brief"]["mean_seconds"] > 0 and
              known["brief"]["least_seconds"] <= known["brief"]["p50_seconds"] <=
              known["brief"]["p99_seconds"] <= known["brief"]["longest_seconds"],
              "lifetimes: percentiles ascend", known["brief"])
    for row in dump["lifetimes"]:
        pairs = [flow for flow in dump["flows"] if flow["from"] == row["csd"]]
        tap.same((sum(flow["held_ns"] for flow in pairs), sum(flow["blocks"] for flow in pairs),
                  max(flow["longest_ns"] for flow in pairs), sum(s["calls"] for s in row["steps"])),
                 (row["ns"], row["timed"], row["longest_ns"], row["timed"]),
                 "lifetimes: by pairs as by context, and each block in a step")
    cells = [row for row in tables["flows"] if row["flow_blocks"] == 10]
    tap.check(cells[0]["mean_seconds"] >= 0.0198 <= cells[0]["longest_seconds"],
              "lifetimes: given back by another thread", tables["flows"])
    about = lib.must([lib.FATHOM, "report", "about", "times.data"], folder).stdout
    tap.check(any(line.startswith("blocks by lifetime") and " yes " in line
                  for line in about.splitlines()), "lifetimes: what must hold", about)
    lib.must([lib.FATHOM, "merge", "--allow-repeats", "times.data", "times.data", "-o", "twice.data"], folder)
    both = of_lifetimes(folder, "twice.data")[0]
    tap.same(sorted((row["timed"], row["ns"], row["longest_ns"]) for row in both["lifetimes"]),
             sorted((2 * row["timed"], 2 * row["ns"], row["longest_ns"]) for row in dump["lifetimes"]),
             "lifetimes: of a sum")
    tap.same(sum(flow["held_ns"] for flow in both["flows"]),
             2 * sum(flow["held_ns"] for flow in dump["flows"]), "lifetimes: of a sum, by pairs")
    snapshot, = folder.glob("times*.snap1.rec")
    whole, = set(folder.glob("times*.rec")) - {snapshot}
    lib.must([lib.FATHOM, "finish", "-q", "-k", "--since", snapshot, "-o", "phase", whole], folder)
    lib.must([lib.FATHOM, "finish", "-q", "-k", "-o", "then", snapshot], folder)
    then = of_lifetimes(folder, "then.data")
    tap.same((then[1]["held_bytes"], [(row["held_blocks"], row["allocated_blocks"])
                                      for row in then[2]["leaks"]]), (400, [(20, 50)]),
             "a snapshot: what was held then, by context")
    tap.same([row["timed"] for row in then[0]["lifetimes"]], [row["timed"] for row in then[0]["lifetimes"]
                                                              if row["timed"] in (30, 1000)],
             "a snapshot: lifetimes")
    for name, exact in ("then.data", True), ("times.data", False):
        peak = json.loads(lib.must([lib.FATHOM, "report", "--json", "memory/peak", name], folder).stdout)
        text = lib.must([lib.FATHOM, "report", "memory/peak", name], folder).stdout
        facts = peak["facts"]
        tap.check(facts["peak_heap_bytes"] >= 1000 and facts["peak_seconds"] > 0 and
                  (facts["peak_error_bytes"] == 0) == exact and
                  ("to the byte" if exact else "too low by") in text,
                  f"the most held, when, and how exact that is: {name}", f"{facts}\n{text}")
    phase = of_lifetimes(folder, "phase.data")[0]["lifetimes"]
    tap.same([(row["timed"], sum(s["calls"] for s in row["steps"])) for row in phase], [(10, 10)],
             "lifetimes: of a phase")
    lib.must([lib.FATHOM, "record", "-q", "-o", "other", "./times"], folder)
    dump, facts, tables = of_lifetimes(folder, "other.data")
    tap.check(not facts["lifetimes_recorded"] and not dump["lifetimes"] and
              not any(flow["held_ns"] for flow in dump["flows"]) and "lifetimes" not in tables,
              "lifetimes: not recorded unless asked for", facts)
    done = lib.must([lib.FATHOM, "merge", "--allow-repeats", "times.data", "other.data", "-o", "some.data"], folder)
    some = of_lifetimes(folder, "some.data")[0]
    tap.check(not some["lifetimes"] and not any(flow["held_ns"] for flow in some["flows"]) and
              "lifetimes of blocks are left out" in done.stderr,
              "lifetimes: left out of a sum of which not all have them, which is said", done.stderr)
    wrong = lib.run([lib.FATHOM, "record", "--lifetimes", "--no-heap", "./times"], folder)
    tap.check(wrong.returncode == 2 and "--no-heap" in wrong.stderr, "lifetimes: not without blocks",
              wrong.stderr)


ON_ONE_PATH = """
#include <pthread.h>
#include <stdlib.h>
__attribute__((noinline)) char *brief(void) { return malloc(40); }
__attribute__((noinline)) void give_back(char *block) { free(block); }
void *work(void *none)
{
    for (int i = 0; i < 20; i++)
        give_back(brief());
    return none;
}
char *kept;
int main(void)
{
    kept = malloc(77);
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        if (pthread_create(&thread, 0, work, 0) != 0 || pthread_join(thread, 0) != 0)
            return 1;
    }
    return 0;
}
"""


def on_one_path(tap, folder):
    """What several threads do on one path is one row of each table."""
    (folder / "paths.c").write_text(ON_ONE_PATH)
    lib.must([lib.FATHOM, "cc", "gcc", "-O1", "-fno-builtin", "paths.c", "-o", "paths", "-lpthread"], folder)
    lib.must([lib.FATHOM, "record", "-q", "--lifetimes", "-o", "paths", "./paths"], folder)
    dump, _, tables = of_lifetimes(folder, "paths.data")
    tap.same([row["timed"] for row in dump["lifetimes"]], [20, 20, 20], "one path: three contexts of it")
    rows = [row for row in tables["lifetimes"] if "brief" in row["path"][0]["name"]]
    tap.same([row["timed_count"] for row in rows], [60], "one path: one row of lifetimes")
    tap.check(rows[0]["least_seconds"] == min(row["shortest_ns"] for row in dump["lifetimes"]) / 1e9 and
              rows[0]["longest_seconds"] == max(row["longest_ns"] for row in dump["lifetimes"]) / 1e9,
              "one path: the least and the longest of all three", rows)
    tap.same([row["flow_blocks"] for row in tables["flows"]], [60], "one path: one row of who gave back")
    folded = [lib.must([lib.FATHOM, "export", "--to=folded", "--measure=" + name, "-o", "-", "paths.data"],
                       folder).stdout for name in ("live_bytes", "inuse_space", "alloc_space")]
    held = sum(int(line.rsplit(" ", 1)[1]) for line in folded[0].splitlines() if ";main" in line)
    tap.check(held >= 77 and folded[1] == folded[0] != folded[2],
              "what is held by the name that other tools give it", folded)


def tells_of_blocks(recording):
    """The header stands, and the place where it tells of held blocks (docs/format-recording.md)."""
    header = recording.read_bytes()[:4096]
    return len(header) == 4096 and header[HELD_AT:HELD_AT + 4] != bytes(4) and header[STATE_AT] == 1


def killed(tap, executable, folder, rounds):
    generator = random.Random(5)
    for number in range(rounds):
        threads = 1 + number % 4
        for old in folder.glob("*.rec"):
            old.unlink()
        child = subprocess.Popen([executable, str(number), str(threads), "0", "run"], cwd=folder,
                                 env={**os.environ, "FATHOM_OUTPUT": str(folder / "h.rec")})
        wait_until(lambda: tells_of_blocks(folder / "h.rec"), "its recording has begun")
        time.sleep(generator.random() / 5)  # any moment will do
        child.kill()
        tap.same(child.wait(), -signal.SIGKILL, f"killed, {threads} threads: while it ran")
        wrong = invariants(Rec(folder / "h.rec"), threads)
        tap.check(not wrong, f"killed, {threads} threads: invariants", "\n".join(wrong))


REFUSED = r"""
#include <stdint.h>
#include <stdlib.h>
static char *volatile block;
static volatile size_t large = 200001, most = PTRDIFF_MAX - 4096;
__attribute__((noinline)) static void refused(void)
{
    block = malloc(large); /* a mapping of its own: usable to the end of its page */
    if (realloc(block, most) != NULL)
        abort();
}
int main(void)
{
    refused();
    free(block);
    return 0;
}
"""


def not_enlarged(tap, folder):
    """What realloc() refuses is held as before, and then given back to the byte."""
    (folder / "refused.c").write_text(REFUSED)
    lib.must([lib.FATHOM, "cc", "gcc", "-O1", "-Wno-alloc-size-larger-than", "refused.c", "-o", "refused"], folder)
    run(folder / "refused", folder, [])
    rec = Rec(folder / "h.rec")
    found = named(rec, "refused", folder)["main", "refused"]
    tap.same((found["live"], found["live_blocks"], found["peak"], found["peak_blocks"]), (0, 0, 200001, 1),
             "a block that is not enlarged")


def main():
    tap = lib.Tap()
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        executable = folder / "holding"
        build = [lib.FATHOM, "cc", "--grade=deep", "gcc", "-O2", "-fno-builtin", "-D_GNU_SOURCE",
                 HERE / "runtime_programs" / "holding.c", "-lpthread", "-o", executable]
        lib.must([*build, "-static"], folder)
        for threads in (1, 8):
            table, = run(executable, folder, ["0", str(threads), "15000", "end"])
            compare(tap, f"fully static, {threads} threads", Rec(folder / "h.rec"), table, executable,
                    folder, threads == 1)
        lib.must(build, folder)
        for seed in range(rounds):
            table, = run(executable, folder, [str(seed), "1", "60000", "end"])
            compare(tap, f"one thread, {seed}", Rec(folder / "h.rec"), table, executable, folder, True)
            table, after = run(executable, folder, [str(seed), "8", "15000", "fork"])
            compare(tap, f"8 threads, {seed}", Rec(folder / "h.rec"), table, executable, folder, False)
            child, = folder.glob("h.*.rec")
            rec = Rec(child)
            compare(tap, f"after a fork, {seed}", rec, after, executable, folder, True)
            tap.check(rec.held["inherited_frees"] > 500, f"after a fork, {seed}: blocks of the parent",
                      rec.held)
        as_without(tap, folder)
        pages(tap, folder)
        many(tap, folder)
        early(tap, folder)
        lifetimes(tap, folder)
        on_one_path(tap, folder)
        not_enlarged(tap, folder)
        killed(tap, executable, folder, rounds * 4)
    return tap.done()


sys.exit(main())
