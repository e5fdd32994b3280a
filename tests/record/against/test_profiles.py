#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whole programs: the same profile from every optimisation level, from each run, and what the
profile says about names, sites, contexts and ways of leaving."""
import collections
import os
import re
import subprocess
import sys
import tempfile

import record_lib as lib

LEVELS = [("gcc", ["-O0"]), ("gcc", ["-O1"]), ("gcc", ["-O2"]), ("gcc", ["-O3"]),
          ("gcc", ["-O2", "-flto"]), ("gcc", ["-O2", "-no-pie"]), ("gcc", ["-O2", "-fno-plt"]),
          ("gcc", ["-Os", "-ffunction-sections", "-Wl,--gc-sections"]),
          ("clang", ["-O0"]), ("clang", ["-O2"]), ("clang", ["-O2", "-gdwarf-4"])]
# Of exceptions.cc: one compiler makes functions of them, another does not.
NOBODY_WROTE = ("leaf::leaf()", "node::node()", "failure::failure()", "failure::~failure()")
KINDS = {"normal": 0, "pointer": 2, "method": 3, "callback": 4}


def unnumbered(name):
    """Threads are numbered in the order in which they come, which may differ."""
    return re.sub(r"^thread \d+", "thread", name)


def own_edges(profile, source):
    """Edges whose callee stands in the program's own source: headers' inline functions (C++) are
    the compiler's business."""
    own = {name for name, procs in profile.procs.items()
           if not name.endswith(NOBODY_WROTE) and
           any(source in proc["file"] or "plugin.c" in proc["file"] for proc in procs)}
    threads = {name for name in profile.procs if name == "main thread" or
               name.startswith("thread ")}
    # bsearch is inlined by clang: what it calls its caller calls at -O0, through libc. A sanitizer has
    # a function of that name, by which the body is called then.
    header = {name for name, procs in profile.procs.items()
              if source.endswith(".c") and (procs[0]["file"].startswith("/usr/include/") or
                                            name.startswith("__interceptor_"))}
    around = {callee: caller for caller, callee in profile.edges if callee in header}
    edges = collections.Counter()
    for (caller, callee), calls in profile.edges.items():
        caller = around.get(caller, caller)
        if callee in own and (caller in own or caller in threads):
            edges[unnumbered(caller), callee] += calls
    return dict(edges)


def contexts(profile):
    result = collections.Counter()
    for path, calls in profile.contexts.items():
        result["/".join(unnumbered(name) for name in path.split("/"))] += calls
    return dict(result)


def levels(tap, source, chosen):
    """The first is what the others are compared with."""
    first = None
    for compiler, flags in chosen:
        what = f"{source} {compiler} {' '.join(flags)}"
        with tempfile.TemporaryDirectory() as folder:
            command = lib.build(source, folder, compiler, flags)
            profile = lib.record(command, folder).profile
            again = lib.record(command, folder, name="again").profile
            checked = lib.run([lib.FATHOM, "check", "out.data"], folder)
        tap.check(checked.returncode == 0, f"{what}: fathom check", checked.stdout)
        edges = own_edges(profile, source)
        if first is None:
            first = edges
            tap.check(len(edges) > 3, f"{what}: has edges", edges)
        else:
            tap.same(edges, first, f"{what}: the same calls as at -O0")
        tap.same(contexts(again), contexts(profile), f"{what}: a second run has the same contexts")
        calls = profile.calls()
        tap.same({name: profile.exits[name] + profile.excps[name] for name in calls}, dict(calls),
                 f"{what}: each call has one exit of either kind")
        tap.same(int(profile.header["callseqs"]), sum(calls.values()),
                 f"{what}: the total is the sum over contexts")


def coroutines(tap):
    """6 values from each of two producers: depth(i) is called i + 1 times."""
    for flags in (["-O0"], ["-O2"]):
        with tempfile.TemporaryDirectory() as folder:
            profile = lib.record(lib.build("coroutines.c", folder, "gcc", flags), folder).profile
        calls = profile.calls()
        expected = {"main": 1, "produce": 2, "yield": 12, "depth": 2 * 21, "resume": 14}
        tap.same({name: calls[name] for name in expected}, expected, f"coroutines.c {flags[0]}")
        tap.same({edge: n for edge, n in profile.edges.items() if edge[0] in ("produce", "main")},
                 {("produce", "yield"): 12, ("produce", "depth"): 12, ("main", "resume"): 14},
                 f"coroutines.c {flags[0]}: callers")


def leaving(tap):
    with tempfile.TemporaryDirectory() as folder:
        profile = lib.record(lib.build("longjmp.c", folder, "gcc", ["-O2"]), folder).profile
    tap.same((profile.excps["leave"], profile.exits["leave"], profile.excps["attempt"]),
             (26, 0, 0), "longjmp: frames left are exceptional exits, the catcher's is not")
    with tempfile.TemporaryDirectory() as folder:
        command = lib.build("threads.c", folder, "gcc", ["-O1"])
        profile = lib.record(command, folder).profile
    tap.same((profile.excps["leaver"], profile.excps["finish"], profile.exits["returner"]),
             (4, 4, 4), "pthread_exit leaves by exceptional exits")
    threads = sorted(unnumbered(name) for name in profile.procs if "thread" in name and
                     name != "threads")
    tap.same(threads, ["main thread"] + ["thread (leaver)"] * 4 + ["thread (returner)"] * 4,
             "each thread is a root, named by the function that it started in")


def sites(tap):
    with tempfile.TemporaryDirectory() as folder:
        profile = lib.record(lib.build("sorting.c", folder, "gcc", ["-O1"]), folder).profile
    found = {(proc, line): kind for proc, line, kind, _, path in profile.sites
             if proc == "main" and path.endswith("qsort")}
    tap.same(found, {("main", 44): KINDS["callback"], ("main", 47): KINDS["callback"],
                     ("main", 48): KINDS["callback"]}, "calls of qsort are callback sites")
    at = {key[1:]: n for key, n in profile.at.items()
          if key[0] == "main" and key[2] in ("compare", "backwards", "by_sorted_digits")}
    tap.check(set(at) >= {(44, "compare"), (47, "backwards"), (48, "by_sorted_digits")},
              "callbacks stand under the line of their qsort", at)
    with tempfile.TemporaryDirectory() as folder:
        profile = lib.record(lib.build("pointers.c", folder, "gcc", ["-O0"]), folder).profile
    kinds = {kind for proc, _, kind, callee, _ in profile.sites
             if proc == "fold" and callee == ""}
    tap.same(kinds, {KINDS["pointer"]}, "calls through pointers are higher-order sites")
    with tempfile.TemporaryDirectory() as folder:
        profile = lib.record(lib.build("exceptions.cc", folder, "gcc", ["-O0"]), folder).profile
    kinds = {(line, kind) for proc, line, kind, _, _ in profile.sites
             if "attempt" in proc and kind == KINDS["method"]}
    tap.check(len(kinds) == 1, "a virtual call is a method site", kinds)
    names = [name for name in profile.procs if "half" in name]
    tap.check(len(names) == 1 and names[0].endswith("half<int>(int)"), "C++ names are demangled",
              names)
    half = profile.procs[names[0]][0]
    tap.same((half["arity"], half["module"]), (1, "exceptions.cc"), "parameters and module")


ESCAPED = """#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <string.h>
static sigjmp_buf out;
static volatile int seen;
static void escapes(int s) { (void)s; siglongjmp(out, 1); }
static void counts(int s) { (void)s; seen++; }
static void provoke(void) { raise(SIGUSR1); }
static void later(void) { for (int i = 0; i < 4; i++) raise(SIGUSR2); }
int main(void)
{
    static char memory[65536];
    stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory};
    struct sigaction action = {.sa_handler = escapes, .sa_flags = SA_ONSTACK};
    sigaltstack(&stack, 0);
    sigaction(SIGUSR1, &action, 0);
    action.sa_handler = counts;
    sigaction(SIGUSR2, &action, 0);
    for (volatile int i = 0; i < 3; i++)
        if (sigsetjmp(out, 1) == 0)
            provoke();
    later();
    return seen == 4 ? 0 : 1;
}
"""


def escaped(tap):
    """The context of a handler on a stack that another one was jumped off."""
    for compiler in ("gcc", "clang"):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "e.c"), "w") as source:
                source.write(ESCAPED)
            lib.must([lib.FATHOM, "cc", compiler, "-O1", "e.c", "-o", "e"], folder)
            profile = lib.record(["./e"], folder).profile
        edges = {edge: n for edge, n in profile.edges.items() if edge[1] in ("escapes", "counts")}
        tap.same(edges, {("provoke", "escapes"): 3, ("later", "counts"): 4},
                 f"{compiler}: handlers after a jump off their stack")
        tap.same(profile.excps["escapes"], 3, f"{compiler}: those that jumped")


TURNED = """#include <pthread.h>
#include <semaphore.h>
static sem_t second_is_done;
static volatile int count;
static void first(void) { count++; }
static void second(void) { count++; }
__attribute__((no_instrument_function)) static void *start(void *number)
{
    if (number == 0) {
        sem_wait(&second_is_done);
        first();
    } else {
        second();
        sem_post(&second_is_done);
    }
    return 0;
}
int main(void)
{
    pthread_t threads[2];
    sem_init(&second_is_done, 0, 0);
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, start, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
"""


def thread_numbers(tap):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "t.c"), "w") as source:
            source.write(TURNED)
        lib.must([lib.FATHOM, "cc", "gcc", "-O0", "t.c", "-o", "t", "-lpthread"], folder)
        profile = lib.record(["./t"], folder).profile
    tap.same({caller for caller, callee in profile.edges if callee in ("first", "second")},
             {"thread 2 (first)", "thread 3 (second)"},
             "threads are numbered as they were created, whoever comes first")


def header_functions(tap):
    """Inlined functions whose address the program takes from a library that has them too."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "s.cc"), "w") as source:
            source.write("#include <string>\nint main(int count, char **)\n"
                         "{ std::string s(40, 'x'); s += 'y'; return s.size() == 41 ? 0 : count; }\n")
        lib.must([lib.FATHOM, "c++", "g++", "-O2", "s.cc", "-o", "s"], folder)
        profile = lib.record(["./s"], folder).profile
    called = {name for _, name in profile.edges}
    tap.check(not [name for name in called if "libstdc++" in name],
              "functions of headers have their own names", called)
    size = [name for name in called if name.endswith("::size() const")]
    tap.check(len(size) == 1 and profile.procs[size[0]][0]["file"].endswith("/basic_string.h") and
              profile.procs[size[0]][0]["line"] > 0, "and places", size)


def stripped(tap):
    with tempfile.TemporaryDirectory() as folder:
        command = lib.build("mutual.c", folder, "gcc", ["-O2"])
        whole = lib.record(command, folder).profile
        lib.must(["objcopy", "--only-keep-debug", "prog", "apart.dbg"], folder)
        lib.must(["strip", "prog"], folder)
        lib.must(["objcopy", "--add-gnu-debuglink=apart.dbg", "prog"], folder)
        linked = lib.record(command, folder).profile
        lib.must(["mv", "apart.dbg", "elsewhere"], folder)
        cache = os.environ.get("FATHOM_CACHE", "")
        os.environ["FATHOM_CACHE"] = "off"  # it knows the program from the runs before
        bare = lib.record(command, folder)
        lib.must(["mkdir", "debug"], folder)
        lib.must(["mv", "elsewhere", "debug/apart.dbg"], folder)
        lib.must([lib.FATHOM, "finish", f"--debug-path={folder}/debug", "out.rec"], folder)
        again = lib.Profile(os.path.join(folder, "out.data"))
        os.environ["FATHOM_CACHE"] = cache
    tap.same(dict(again.at), dict(whole.at),
             "the recording is kept until its debug files are there (--debug-path)")
    tap.same(dict(linked.at), dict(whole.at), "stripped with a debug link: the same profile")
    tap.same(sorted(bare.profile.contexts.values()), sorted(whole.contexts.values()),
             "stripped without: the same counts, by address")
    tap.check("no debug information" in bare.stderr, "and a note says so", bare.stderr)
    found = [name for name in bare.profile.procs if name.startswith("prog+0x")]
    tap.check(len(found) >= 7, "procedures without a symbol are named by address", found)


def main():
    tap = lib.Tap()
    ways = lib.shared_out(lib.CASES, LEVELS[1:], 1 if "--all" in sys.argv else 2)
    for source in lib.CASES:
        levels(tap, source, LEVELS[:1] + [way for program, way in ways if program == source])
    coroutines(tap)
    leaving(tap)
    sites(tap)
    stripped(tap)
    escaped(tap)
    thread_numbers(tap)
    header_functions(tap)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
