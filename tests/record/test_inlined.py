#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The default grade: bodies that the compiler inlined stand between their callers and what they
call, without a number of their own; every call that is counted stands in the context in which
--grade=full counts it."""
import collections
import json
import os
import pathlib
import re
import sys
import tempfile

import body_lib as body
import record_lib as lib
from same_build import Recorded

SOURCE = r"""
#include <stdio.h>
static volatile int sink;
#define OWN __attribute__((noinline, noclone))
#define IN static inline __attribute__((always_inline))
OWN int leaf(int x) { sink += x; return x + 1; }
IN int tiny(int x) { return x * 3 + sink; }
IN int inner(int x) { return leaf(x) + tiny(x); }
IN int outer(int x) { return inner(x) + (x & 1 ? leaf(x) : 0); }
OWN int both(int x) { int s = 0; for (int i = 0; i < 10; i++) s += outer(x + i); return s; }
OWN int back(int x);
IN int around(int x) { return back(x - 1) + 1; }
OWN int back(int x) { return x <= 0 ? leaf(x) : around(x); }
static int sometimes(int x) { return leaf(x) + leaf(x + 1); }
OWN int direct(int x) { return sometimes(x) + tiny(x); }
int (*volatile pointer)(int) = sometimes;
int main(void)
{
    int s = 0;
    for (int i = 0; i < 100; i++)
        s += both(i) + direct(i) + pointer(i);
    printf("%d\n", s + back(7));
    return 0;
}
"""
HEAVY = r"""
#include <stdio.h>
#define OWN __attribute__((noinline, noclone))
#define IN static inline __attribute__((always_inline))
static volatile unsigned sink;
IN unsigned heavy(unsigned n) { unsigned s = 1; while (n--) s = s * 1664525u + 1013904223u + n; return s; }
IN unsigned wrap(unsigned n) { return heavy(n) + 1; }
OWN unsigned light(unsigned n) { unsigned s = 1; while (n--) s = s * 1103515245u + 12345u; return s; }
OWN unsigned both(unsigned n) { sink += light(n / 10); sink += wrap(n); return sink; }
int main(void) { for (int i = 0; i < 300; i++) both(1000000); printf("%u\n", sink); return 0; }
"""
# Bodies four deep; one body at two places of its caller; a body inlined below its own function.
CHAINS = r"""
#include <stdio.h>
static volatile int sink;
#define OWN __attribute__((noinline, noclone))
#define IN static inline __attribute__((always_inline))
OWN int leaf(int x) { sink += x; return x + 1; }
OWN int other(int x) { sink -= x; return x + 2; }
IN int fourth(int x) { return leaf(x) + 1; }
IN int third(int x) { return fourth(x) * 2; }
IN int second(int x) { return third(x) - other(x); }
IN int first(int x) { return second(x) ^ 5; }
OWN int deep(int x) { return first(x) + 3; }
IN int twice(int x) { return leaf(x) * 3; }
OWN int places(int x)
{
    int s = twice(x); /* one */
    if (x & 1)
        s += twice(s); /* two */
    return s;
}
OWN int again(int x);
IN int step(int x)
{
    int s = again(x - 1);
    sink++; /* else the compiler makes a loop of it */
    return s + 1;
}
OWN int again(int x)
{
    return x <= 0 ? leaf(x) : step(x);
}
int (*volatile pointer)(int) = step;
int main(void)
{
    int s = 0;
    for (int i = 0; i < 100; i++)
        s += deep(i) + places(i);
    printf("%d\n", s + pointer(9));
    return 0;
}
"""
# Programs whose contexts do not depend on which call of a recursion came first.
PROGRAMS = ["pointers.c", "sorting.c", "threads.c", "inlining.c", "room.c", "arguments.c",
            "exceptions.cc", "workers.c"]
# And where gcc inlines the same at both grades.
SAME_BODIES = ["pointers.c", "sorting.c", "nested.c", "unwinding.cc", "room.c", "arguments.c", "jumps.c",
               "callbacks.c"]


def record(source, folder, grade, flags):
    cplusplus = str(source).endswith(".cc")
    front = [lib.FATHOM, "c++" if cplusplus else "cc", f"--grade={grade}",
             "g++" if cplusplus else "gcc"]
    lib.must(front + flags + [source, "-o", grade, "-lpthread", "-ldl", "-lm"], folder)
    return lib.record([pathlib.Path(folder) / grade], folder, name=f"out-{grade}")


def page(folder, query):
    out = lib.must([lib.FATHOM, "report", "--json", query, "out-deep.data"], folder).stdout
    return json.loads(out)


def small(tap, folder):
    source = pathlib.Path(folder) / "small.c"
    source.write_text(SOURCE)
    done = record(source, folder, "deep", ["-O2"])
    profile = done.profile
    below = {path.partition("/main/")[2]: calls for path, calls in profile.contexts.items()}
    tap.same({path: below.get(path) for path in (
        "both", "both/outer/leaf", "both/outer/inner/leaf", "direct/sometimes/leaf",
        "sometimes/leaf")},
        {"both": 100, "both/outer/leaf": 500, "both/outer/inner/leaf": 1000,
         "direct/sometimes/leaf": 200, "sometimes/leaf": 200},
        "calls from inlined bodies hang below them")
    tap.same({path: below.get(path) for path in ("both/outer", "both/outer/inner")},
             {"both/outer": 0, "both/outer/inner": 0}, "inlined bodies are there, without calls")
    tap.same(profile.calls()["sometimes"], 100, "a function's own body counts its own calls")
    rows = {row["cells"]["proc"].partition(":")[2] or row["cells"]["proc"]: row["cells"]
            for row in page(folder, "top_procs/1-100/callseqs/both/oa")["tables"][0]["rows"]}
    tap.same({name: rows[name]["calls_count"] for name in ("outer", "inner", "sometimes", "leaf")},
             {"outer": "inlined", "inner": "inlined", "sometimes": "100 + inlined",
              "leaf": 1901}, "calls of inlined bodies are not recorded, not 0")
    tap.check("tiny" not in rows, "of an inlined leaf nothing is known")
    menu = lib.must([lib.FATHOM, "report", "menu", "out-deep.data"], folder).stdout
    tap.check(" calls of 6 functions (and of 2 inlined ones, not counted);" in " ".join(menu.split()),
              "the summary tells functions that were counted and inlined ones apart", menu)
    tap.check("--grade=full" in menu and "--grade=full" in done.stderr,
              "menu and summary name the grade that counts them", menu + done.stderr)
    tap.check("0 broken" in lib.must([lib.FATHOM, "check", "out-deep.data"], folder).stdout,
              "the profile is sound")


def chains(tap, folder):
    source = pathlib.Path(folder) / "chains.c"
    source.write_text(CHAINS)
    profile = record(source, folder, "deep", ["-O2"]).profile
    below = {path.partition("/main/")[2]: calls for path, calls in profile.contexts.items()}
    tap.same({path: calls for path, calls in below.items() if path.startswith("deep")},
             {"deep": 100, "deep/first": 0, "deep/first/second": 0, "deep/first/second/other": 100,
              "deep/first/second/third": 0, "deep/first/second/third/fourth": 0,
              "deep/first/second/third/fourth/leaf": 100}, "each body of a long chain stands in it")
    lines = {mark: 1 + next(i for i, line in enumerate(CHAINS.splitlines()) if f"/* {mark} */" in line)
             for mark in ("one", "two")}
    tap.check({(proc, line) for proc, line, _, callee, _ in profile.sites if callee == "twice"} ==
              {("places", line) for line in lines.values()}, "a body has a call site at each place",
              profile.sites)
    contexts = collections.Counter()
    dump = json.loads(lib.must([lib.FATHOM, "dump", "--json", "out-deep.data"], folder).stdout)
    procs = {ps["id"]: ps["uq_refined_id"] for ps in dump["ps"]}
    pds = {pd["id"]: procs[pd["ps"]] for pd in dump["pd"]}
    for pd in pds.values():
        contexts[pd] += 1
    tap.same({name: contexts[name] for name in ("twice", "step", "again")},
             {"twice": 2, "step": 1, "again": 1},
             "two places are two contexts; a body inlined below its own function closes a recursion")
    tap.same({name: profile.calls()[name] for name in ("step", "again")}, {"step": 1, "again": 9},
             "with the calls that were made")


def times(tap, folder):
    """Ticks are kept by address, so inlined bodies have their self time."""
    source = pathlib.Path(folder) / "heavy.c"
    source.write_text(HEAVY)
    profile = record(source, folder, "deep", ["-O2"]).profile
    if sum(profile.quanta.values()) < 50:
        tap.skip("time of inlined bodies", "no ticks here")
        return
    quanta = {name: profile.quanta[name] for name in ("heavy", "wrap", "light", "both")}
    tap.check(quanta["heavy"] > 3 * (quanta["wrap"] + quanta["light"] + quanta["both"]),
              "the time of an inlined body is its own", quanta)
    tap.same(profile.contexts.get("/main thread/main/both/wrap/heavy"), 0,
             "and stands in its context")


def unqualified(contexts):
    """A function of C++ that exists nowhere but inlined has no symbol: its name alone is known."""
    return {"/".join(re.sub(r"\(.*", "", name.replace("(anonymous namespace)::", ""))
                     for name in path.split("/")): calls for path, calls in contexts.items()}


def same_contexts(tap, source, folder, flags):
    """Every context with calls is one of the full grade's, with as many or more (inlined) calls."""
    profiles = {grade: record(body.source_path(source), folder, grade, flags).profile
                for grade in ("deep", "full")}
    deep, full = (unqualified(body.contexts(profiles[grade])) for grade in ("deep", "full"))
    what = f"{source} {' '.join(flags)}"
    odd = {path: calls for path, calls in deep.items() if calls and full.get(path, 0) < calls}
    tap.same(odd, {}, f"{what}: contexts with calls are the full grade's")
    tap.same({path for path in full if path not in deep and
              any(other.startswith(path + "/") and deep[other] for other in deep)}, set(),
             f"{what}: none is missing on the way to a call")


def without_inlined(tap, source, folder, flags, inlined=None):
    """The contexts of one program at both grades, before finishing puts inlined bodies back or
    with them taken out, are the same. inlined: calls that --grade=full has of such bodies, if known."""
    recorded = {}
    for grade in ("deep", "full"):
        front, real = body.driver(str(source), "gcc")
        front[2] = f"--grade={grade}"
        lib.must([*front, real, *flags, source, "-o", grade, "-lpthread", "-ldl", "-lm"], folder)
        kept = pathlib.Path(folder) / f"{grade}.rec"
        lib.must([pathlib.Path(folder) / grade], folder,
                 env={**os.environ, "FATHOM_OUTPUT": str(kept), "FATHOM_TICKS": "none"})
        recorded[grade] = Recorded(kept)
    what = f"{pathlib.Path(source).name} {' '.join(flags)}"
    tap.same(recorded["deep"].contexts(), recorded["full"].contexts(),
             f"{what}: contexts without inlined bodies are the full grade's")
    if inlined is not None:
        tap.same((recorded["deep"].inlined, recorded["full"].inlined), (0, inlined),
                 f"{what}: the full grade alone counts inlined bodies")


def main():
    tap = lib.Tap()
    for flags in (["-O2"], ["-O3"]):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "small.c"
            source.write_text(SOURCE.replace("s + back(7)", "s"))
            without_inlined(tap, source, folder, flags, 3200)
        for source in SAME_BODIES:
            with tempfile.TemporaryDirectory() as folder:
                without_inlined(tap, body.source_path(source), folder, flags)
    with tempfile.TemporaryDirectory() as folder:
        small(tap, folder)
    with tempfile.TemporaryDirectory() as folder:
        times(tap, folder)
    with tempfile.TemporaryDirectory() as folder:
        chains(tap, folder)
    for source in PROGRAMS:
        for flags in (["-O2"], ["-O3"]):
            with tempfile.TemporaryDirectory() as folder:
                same_contexts(tap, source, folder, flags)
    return tap.done()


sys.exit(main())
