#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--hooks=slots: profiles have the same contexts and the same counts in each as those of the usual hooks,
through callbacks of code that keeps its own values in registers, jumps, exceptions, handlers at any
instruction, coroutines, threads, forks and SIGKILL; what it cannot record is refused."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

import record_lib as lib

os.environ["FATHOM_TICKS"] = "none"
PROGRAMS = pathlib.Path(__file__).parents[1] / "slots_programs"
HOOKS = ("frames", "slots")
tap = lib.Tap()


def build(folder, hooks, sources, flags, name=None):
    front = "c++" if sources[0].endswith(".cc") else "cc"
    out = name or f"{hooks}.program"
    lib.must([lib.FATHOM, front, "--grade=deep", f"--hooks={hooks}", *flags,
              *[PROGRAMS / source for source in sources], "-lpthread", "-o", out], folder)
    return pathlib.Path(folder) / out


def record(folder, program, arguments, name, environment={}):
    done = lib.must([lib.FATHOM, "record", "--join=all", "-o", f"{name}.data", "--", program, *arguments], folder,
                    env={**os.environ, **environment})
    return done.stdout, lib.Profile(pathlib.Path(folder) / f"{name}.data")


def facts(profile):
    return dict(contexts=profile.contexts, edges=profile.edges, exits=profile.exits, excps=profile.excps,
                allocs=profile.allocs, bytes=profile.bytes)


def differences(one, other):
    return "\n".join(f"{kind} {key}: {one[kind][key]}, {other[kind][key]}" for kind in one
                     for key in sorted(set(one[kind]) | set(other[kind]), key=str)
                     if one[kind][key] != other[kind][key])


def equal(folder, what, sources, flags, arguments, environment={}):
    programs = [build(folder, hooks, sources, flags) for hooks in HOOKS]
    for words in arguments:
        results = [record(folder, program, words, hooks, environment) for program, hooks in zip(programs, HOOKS)]
        name = f"{what} {' '.join(words)}".strip()
        tap.same(results[1][0], results[0][0], f"{name}: the program's output")
        both = [facts(result[1]) for result in results]
        tap.check(both[0] == both[1] and both[0]["contexts"], f"{name}: contexts and counts", differences(*both))


# Calls of callbacks.c by part, which no option changes.
CALLS = {"sorts": 22331, "jumper": 352, "jumpsort": 2482, "coroutines": 356, "signals": 212, "poly": 1302}


def callbacks(folder, flags):
    program = build(folder, "slots", ["callbacks.c", "other.c"], flags)
    for part, calls in CALLS.items():
        _, profile = record(folder, program, [part], "slots")
        found = sum(calls for (caller, callee), calls in profile.edges.items() if callee != "main thread")
        tap.same(found, calls, f"callbacks.c {' '.join(flags)} {part}: calls")


def handlers(folder):
    """The timer decides how many handlers run, and where: what must hold of each run."""
    program = build(folder, "slots", ["handlers.c", "other.c"], ["-O2"])
    output, profile = record(folder, program, ["300"], "slots")
    ran, jumps = int(output.split()[1]), int(output.split()[3])
    edges = profile.edges
    into = sum(calls for (_, callee), calls in edges.items() if callee == "handler")
    tap.same(into, ran, "handlers.c: each handler is counted")
    called = sum(calls for (_, callee), calls in edges.items() if callee == "a")
    below = edges["a", "b"]
    tap.check(0 <= 2 * called - below <= 2 * (jumps + ran), "handlers.c: calls of interrupted functions",
              f"{called} calls of a, {below} of b from there, {jumps} jumps")
    callers = sum(calls for (_, callee), calls in edges.items() if callee == "b")
    tap.check(0 <= callers - edges["b", "leaf"] <= jumps + ran, "handlers.c: a leaf is called as often as its caller",
              f"{callers} calls of b, {edges['b', 'leaf']} of leaf from there")


def many(folder):
    """Sites with more callees than the hooks compare by themselves."""
    equal(folder, "many.c", ["many.c"], ["-O1"], [[]])
    equal(folder, "many.c -O0 -fPIC", ["many.c"], ["-O0", "-fPIC"], [[]])
    _, profile = record(folder, pathlib.Path(folder) / "slots.program", [], "slots")
    edges = profile.edges
    names = {callee for caller, callee in edges if caller == "again"}
    tap.same(len(names), 512, "many.c: callees of one site")
    tap.same({edges["again", name] for name in names}, {20}, "many.c: calls of each")
    # A chain of 4 at most, which ends at a function that calls none: half of them do.
    tap.same(sum(edges["dispatch", name] for name in names), sum(
        edges[caller, "dispatch"] for caller in ("one", "other", *names)), "many.c: calls by the site")


def loading(folder):
    """A library without hooks calls back; one with the other kind is as one without, and the program says so."""
    source = PROGRAMS / "library.c"
    lib.must(["gcc", "-O1", "-fPIC", "-shared", source, "-o", "plain.so"], folder)
    lib.must([lib.FATHOM, "cc", "--grade=deep", "-O1", "-fPIC", "-shared", source, "-o", "hooked.so"], folder)
    equal(folder, "loading.c", ["loading.c"], ["-O1"], [["./plain.so"]])
    program = build(folder, "slots", ["loading.c"], ["-O1"])
    for library in ("plain.so", "hooked.so"):
        done = lib.must([lib.FATHOM, "record", "-o", "slots.data", "--", program, f"./{library}"], folder)
        profile = lib.Profile(pathlib.Path(folder) / "slots.data")
        expected = {"mine": 900, "calling": 300, "keep": 10, "napping": 3}
        calls = profile.calls()
        tap.same({name: calls[name] for name in expected}, expected, f"{library}: calls and callbacks")
        tap.same({what: profile.heap["keep", what] for what in ("live_bytes", "live_blocks")},
                 {"live_bytes": 10045, "live_blocks": 10}, f"{library}: held memory by its context")
        tap.same(profile.heap["napping", "waits"], 3, f"{library}: waits by their context")
        said = [line for line in done.stderr.splitlines() if "hooks of another kind" in line]
        tap.same(len(said), int(library == "hooked.so"), f"{library}: a sentence for hooks that are not recorded")


def ticks(folder):
    program = build(folder, "slots", ["loading.c"], ["-O1"])
    lib.must([lib.FATHOM, "record", "-o", "ticks.data", "--", program, "./none.so", "400"], folder,
             env={**os.environ, "FATHOM_TICKS": "timer"})
    profile = lib.Profile(pathlib.Path(folder) / "ticks.data")
    total = sum(profile.quanta.values())
    tap.check(total >= 200 and profile.quanta["spin"] >= 0.9 * total, "the time is charged to the function that runs",
              dict(profile.quanta))


def sentences(folder):
    """Requests that such a program cannot carry out."""
    program = build(folder, "slots", ["callbacks.c", "other.c"], ["-O1"])
    done = lib.run([program, "poly"], folder, env={**os.environ, "FATHOM_OUTPUT": "said", "FATHOM_TRACE": "work"})
    tap.same((done.returncode, done.stderr.count("cannot be timed one by one")), (0, 1), "to time calls: a sentence")


STOPPING = ["stopping.c", "other.c"]
INCLUDE = f"-I{pathlib.Path(__file__).parents[3] / 'include'}"


def stopping(folder):
    for flags in (["-O1"], ["-O0", "-fPIC"], ["-O2", "-static"]):
        words = " ".join(flags)
        equal(folder, f"stopping.c {words}", STOPPING, [*flags, INCLUDE],
              [[part] for part in ("plain", "meanwhile", "within", "switching", "threads", "forks")])
        equal(folder, f"stopping.c {words}", STOPPING, [*flags, INCLUDE], [["begun"]], {"FATHOM_RECORDING": "off"})
    program = build(folder, "slots", STOPPING, ["-O1", INCLUDE])
    for _ in range(3): # where it is stopped is chance
        output, profile = record(folder, program, ["toggled"], "slots", {"FATHOM_TICKS": "timer"})
        tap.same(output, "1\n", "stopping.c toggled: the program's output")
    kinds, calls = 20000, profile.calls()
    # all_kinds() calls each of these so often, the handler once; a sort of 16 compares at most 64 times.
    most = {"all_kinds": 1, "recursive": 5, "jump": 4, "handler": 1, "keep": 1, "sort": 1, "compare": 64, "inner": 8}
    found = {name: calls[name] / kinds for name in most}
    tap.check(all(0 < found[name] <= limit for name, limit in most.items()), "stopping.c toggled: parts are counted", found)
    tap.same({name: calls[name] - profile.exits[name] for name in most if calls[name] < profile.exits[name]}, {},
             "stopping.c toggled: no more exits than calls")


def unrecorded(folder):
    """A run that cannot be recorded is as without fathom, also where code without hooks calls back."""
    for source, parts in ((["callbacks.c", "other.c"], ("sorts", "jumper", "jumpsort", "coroutines", "signals", "misc")),
                          (["sorting.c"], ("",))):
        program = build(folder, "slots", source, ["-O1"])
        for part in parts:
            recorded = lib.must([program, part], folder, env={**os.environ, "FATHOM_OUTPUT": "recorded"})
            done = lib.run([program, part], folder, env={**os.environ, "FATHOM_OUTPUT": "no/such/folder/name"})
            tap.same((done.returncode, done.stdout), (0, recorded.stdout), f"{source[0]} {part}, not recorded")
            tap.same(done.stderr.count("the program runs unrecorded"), 1, f"{source[0]} {part}: a sentence")


def killed(folder):
    program = build(folder, "slots", ["killed.c"], ["-O1"])
    child = subprocess.Popen([program], cwd=folder, stdout=subprocess.PIPE, text=True,
                             env={**os.environ, "FATHOM_OUTPUT": "killed"})
    ready = child.stdout.readline()
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    tap.same(ready, "1000000\n", "killed.c ran")
    lib.must([lib.FATHOM, "finish", "killed.rec"], folder)
    profile = lib.Profile(pathlib.Path(folder) / "killed.data")
    expected = {"main": (0, 1), "outer": (0, 1), "inner": (999999, 1), "work": (1000000, 0)}
    found = {name: (profile.exits[name], profile.excps[name]) for name in expected}
    tap.same(found, expected, "after SIGKILL: exits, and calls that were open")


OWN_MALLOC = r"""
#include <stddef.h>
#include <string.h>
static char pool[1 << 20];
static size_t used;
__attribute__((noinline)) static size_t rounded(size_t n) { return (n + 15) & ~(size_t)15; }
__attribute__((noinline)) static void *take(size_t n)
{
    char *at = pool + used;
    used += rounded(n);
    return used <= sizeof pool ? at : NULL;
}
void *malloc(size_t n) { return take(n); }
void free(void *block) { (void)block; }
void *calloc(size_t a, size_t b) { return take(a * b); }
void *realloc(void *block, size_t n)
{
    void *made = take(n);
    return block != NULL && made != NULL ? memcpy(made, block, n) : made;
}
__attribute__((noinline)) static int work(int x) { return (int)rounded((size_t)x); }
int main(void)
{
    int sum = 0;
    for (int i = 0; i < 100; i++)
        sum += malloc((size_t)i) != NULL && work(i) > i;
    return sum == 0;
}
"""


def static(folder):
    """Fully static programs; libc calls the malloc of one before there is memory of threads."""
    own = pathlib.Path(folder) / "own_malloc.c"
    own.write_text(OWN_MALLOC)
    for kind in ("-static", "-static-pie"):
        for sources in (["callbacks.c", "other.c"], ["exceptions.cc", "other.cc"], ["sorting.c"], ["frames.c"], ["forks.c"],
                        [str(own)]):
            words = ["sorts", "jumper", "signals", "poly", "misc"] if sources[0] == "callbacks.c" else None
            equal(folder, f"{pathlib.Path(sources[0]).name} {kind}", sources, ["-O1", kind],
                  [[word] for word in words] if words else [[]])
        for hooks in HOOKS:
            done = lib.must([lib.FATHOM, "record", "-o", "static.data", "--", f"./{hooks}.program"], folder)
            tap.same(done.stderr.count("is not recorded: it is fully static"), 0, f"{hooks} {kind}: no sentence that it is not")


def refused(folder, what, command, part):
    done = lib.run(command, folder)
    lines = [line for line in done.stderr.splitlines() if part in line]
    tap.check(done.returncode != 0 and len(lines) == 1, f"refused: {what}", (done.returncode, done.stderr))


def refusals(folder):
    source = PROGRAMS / "other.c"
    cc = [lib.FATHOM, "cc", "--hooks=slots", "--grade=deep"]
    refused(folder, "another grade", [*cc, "--grade=full", "-c", source], "--grade=deep alone")
    refused(folder, "-shared", [*cc, "-shared", "-fPIC", source, "-o", "o.so"], "-shared")
    refused(folder, "-flto", [*cc, "-flto", "-c", source], "-flto")
    refused(folder, "unknown hooks", [lib.FATHOM, "cc", "--hooks=none", "-c", source], "expected one of")
    own = pathlib.Path(folder) / "own.c"
    own.write_text('int f(int x) { __asm__ volatile("xorl %%r15d, %%r15d" ::: "memory"); return x; }\n')
    refused(folder, "code that uses r15", [*cc, "-c", own], "r15")
    lib.must([*cc, "-O1", "-fPIC", "-c", source, "-o", "slots.o"], folder)
    main = pathlib.Path(folder) / "main.c"
    main.write_text("int other(int); int main(void) { return other(0); }\n")
    lib.must([lib.FATHOM, "cc", "--grade=deep", "-O1", "-c", main, "-o", "frames.o"], folder)
    refused(folder, "both kinds in a program",
            [lib.FATHOM, "cc", "--grade=deep", "slots.o", "frames.o", "-o", "both"], "other hooks")
    tap.check(not (pathlib.Path(folder) / "both").exists(), "no program of both kinds")
    refused(folder, "objects for a shared object",
            [lib.FATHOM, "cc", "--grade=deep", "-shared", "slots.o", "-o", "o.so"], "shared object")


def main():
    lib.need("gcc")
    with tempfile.TemporaryDirectory() as folder:
        # A coroutine's first function is found only by slots to be called from swapcontext's line.
        parts = [[part] for part in ("sorts", "jumper", "jumpsort", "signals", "threads", "rec", "poly", "misc")]
        equal(folder, "callbacks.c", ["callbacks.c", "other.c"], ["-O1"], parts)
        equal(folder, "exceptions.cc", ["exceptions.cc", "other.cc"], ["-O2"], [[]])
        for flags in (["-O0"], ["-O2"], ["-O2", "-fstack-clash-protection"], ["-O1", "-mavx2"]):
            equal(folder, f"frames.c {' '.join(flags)}", ["frames.c"], flags, [[]])
        for flags in (["-O1"], ["-O0", "-fPIC"]):
            equal(folder, f"sorting.c {' '.join(flags)}", ["sorting.c"], flags, [[]])
        equal(folder, "forks.c", ["forks.c"], ["-O1"], [[]])
        callbacks(folder, ["-O0"])
        callbacks(folder, ["-O1", "-fPIC"])
        handlers(folder)
        many(folder)
        loading(folder)
        static(folder)
        ticks(folder)
        sentences(folder)
        stopping(folder)
        unrecorded(folder)
        killed(folder)
        refusals(folder)
    return tap.done()


sys.exit(main())
