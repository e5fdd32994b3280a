#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Before anything of a program is ready, functions of its own run: resolvers of IFUNCs and of clones for other
processors, and what they call, while it is being relocated. The program does what it does without hooks, and its
calls from then on are counted."""
import pathlib
import sys
import tempfile

import record_lib as lib

CHOOSING = r"""
#include <stdlib.h>
#define ALONE __attribute__((noinline, noclone))
static volatile int wanted = 1;
static long one(long a) { return a + 1; }
static long two(long a) { return a + 2; }
ALONE static int leaf(int x) { return x + wanted; }
ALONE static int pick(int x)
{
    int sum = 0;
    for (int i = 0; i < 10; i++)
        sum += leaf(x);
    return sum;
}
static void *resolve(void) { return pick(1) == 20 ? (void *)one : (void *)two; }
"""
PROGRAM = CHOOSING + r"""
#include <stdio.h>
long chosen(long) __attribute__((ifunc("resolve")));
CLONES __attribute__((noinline)) long cloned(long a) { return a * 3; }
int main(int count, char **words)
{
    long sum = 0;
    for (int i = 0; i < 1000; i++)
        sum += chosen(i) + cloned(i);
    void *block = malloc(100);
    printf("%ld %d %d\n", sum, block != NULL, pick(count));
    free(block);
    return words == NULL;
}
"""
LIBRARY = CHOOSING + r"""
long chosen(long) __attribute__((ifunc("resolve")));
CLONES __attribute__((noinline)) long cloned(long a) { return a * 3; }
long work(int n)
{
    long sum = 0;
    for (int i = 0; i < n; i++)
        sum += chosen(i) + cloned(i);
    return sum + pick(1);
}
"""
LOADING = r"""
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static void *load(void *name)
{
    void *library = dlopen(name, RTLD_NOW);
    long (*work)(int) = library != NULL ? (long (*)(int))dlsym(library, "work") : NULL;
    if (work == NULL)
        abort();
    printf("%ld\n", work(1000));
    return NULL;
}
int main(int count, char **words)
{
    pthread_t thread;
    if (count < 3)
        load(words[1]);
    else if (pthread_create(&thread, NULL, load, words[1]) == 0)
        pthread_join(thread, NULL);
    return 0;
}
"""
LINKED = "#include <stdio.h>\nlong work(int);\nint main(void) { printf(\"%ld\\n\", work(1000)); return 0; }\n"
WAYS = (["-O0"], ["-O2"], ["-O2", "-fno-pie", "-no-pie"], ["-O2", "-Wl,-z,lazy"], ["-O2", "-Wl,-z,now"],
        ["-O1", "-static"], ["-O1", "-static-pie"], ["-O1", "-static", "-fuse-ld=lld"])
GRADES = (("gcc", "deep"), ("gcc", "full"), ("gcc", "coverage"), ("clang", "deep"), ("clang", "full"))
CALLED = ("one", "cloned", "pick", "leaf")


def cloning(compiler):
    """Of clang 14 a definition alone gives no resolver."""
    return "-DCLONES=" + ("__attribute__((target_clones(\"avx2\",\"default\")))" if compiler == "gcc" else "")


def number_of(calls, name):
    """Of a function or its clones, without what chooses among them."""
    return sum(n for of, n in calls.items() if of.split(".")[0] == name and not of.endswith(".resolver"))


def counted(tap, folder, command, plain, expected, what):
    done = lib.run([lib.FATHOM, "record", "-q", "-o", "out", "--", *command], folder)
    tap.same((done.returncode, done.stdout), (0, plain), f"{what}: as without hooks")
    if done.returncode != 0:
        return
    calls = lib.Profile(folder / "out.data").calls()
    tap.same({name: number_of(calls, name) for name in CALLED}, expected, f"{what}: calls")


def programs(tap, folder, compiler, grade):
    for way in WAYS if grade != "coverage" else WAYS[:1] + WAYS[5:7]:
        what = f"{compiler} {grade} {' '.join(way)}"
        words = [compiler, *way, cloning(compiler), "prog.c"]
        if lib.run([*words, "-o", "plain"], folder).returncode != 0:
            tap.skip(what, "cannot be built here")
            continue
        plain = lib.must(["./plain"], folder).stdout
        lib.must([lib.FATHOM, "cc", f"--grade={grade}", *words, "-o", "prog"], folder)
        # The resolvers' own calls come before anything can be counted.
        counted(tap, folder, ["./prog"], plain, {"one": 1000, "cloned": 1000, "pick": 1, "leaf": 10}, what)


def libraries(tap, folder, compiler, grade):
    front = [lib.FATHOM, "cc", f"--grade={grade}", compiler, "-O2", cloning(compiler)]
    for link in ("-Wl,-z,lazy", "-Wl,-z,now"):
        lib.must([*front, "-shared", "-fPIC", link, "library.c", "-o", "libearly.so"], folder)
        for name, sources in (("linked", ["linked.c", folder / "libearly.so"]), ("loading", ["loading.c"])):
            lib.must([*front, *sources, link, "-pthread", "-o", name], folder)
            lib.must([compiler, *sources, link, "-pthread", "-o", "bare_" + name], folder)
        plain = lib.must(["./linked"], folder).stdout
        for command in (["./linked"], ["./bare_linked"], ["./loading", "./libearly.so"],
                        ["./loading", "./libearly.so", "thread"], ["./bare_loading", "./libearly.so"],
                        ["./bare_loading", "./libearly.so", "thread"]):
            done = lib.run([lib.FATHOM, "record", "-q", "--join=all", "-o", "out", "--", *command], folder)
            what = f"{compiler} {grade} {link} {' '.join(command)}"
            tap.same((done.returncode, done.stdout), (0, plain), f"{what}: as without hooks")
            if done.returncode != 0:
                continue
            calls = lib.Profile(folder / "out.data").calls()
            tap.same([number_of(calls, name) for name in ("one", "cloned", "work")], [1000, 1000, 1],
                     f"{what}: calls")


BEFORE_LIBC = r"""
static int runs;
__attribute__((noinline)) static void before(void) { runs++; }
__attribute__((section(".preinit_array"), used)) static void (*entry)(void) = before;
int main(void) { return runs != 1; }
"""


def before_libc(tap, folder, compiler):
    """libc sets environ after .preinit_array: the recording is where the environment says all the same."""
    place = folder / "preinit"
    place.mkdir(exist_ok=True)
    (place / "prog.c").write_text(BEFORE_LIBC)
    for way, counted_ones in ([], ["before", "main"]), (["-static"], ["main"]):
        lib.must([lib.FATHOM, "cc", "--grade=deep", compiler, "-O1", *way, "prog.c", "-o", "prog"], place)
        calls = lib.record(["./prog"], place).profile.calls()
        tap.same(([calls[name] for name in counted_ones], [file.name for file in place.glob("Deep.*")]),
                 ([1] * len(counted_ones), []), f"{compiler} {' '.join(way)} .preinit_array: calls, one recording")


def main():
    tap = lib.Tap()
    lib.need("gcc")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for file, text in (("prog", PROGRAM), ("library", LIBRARY), ("loading", LOADING), ("linked", LINKED)):
            (folder / f"{file}.c").write_text(text)
        for compiler, grade in GRADES:
            if lib.shutil.which(compiler) is None:
                tap.skip(f"{compiler} {grade}", "not installed")
                continue
            if grade == GRADES[0][1]:
                before_libc(tap, folder, compiler)
            programs(tap, folder, compiler, grade)
            libraries(tap, folder, compiler, grade)
    return tap.done()


sys.exit(main())
