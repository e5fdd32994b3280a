#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ways out of functions and between stacks in fully static programs: longjmp and its kin, exceptions of C++,
coroutines of makecontext, exec. What is counted, edge by edge, is what the same program has with shared libraries."""
import pathlib
import sys
import tempfile

import record_lib as lib

# What follows a jump would be taken for what the functions that were left do.
JUMPS = r"""
#include <setjmp.h>
#include <stdio.h>
#define ALONE __attribute__((noinline, noclone))
static jmp_buf plain;
static sigjmp_buf masked;
static volatile int way, seen;
ALONE static int compare(int a, int b) { seen = a; return a < b; }
ALONE static void out(int value)
{
    if (way == 0)
        longjmp(plain, value);
    else if (way == 1)
        siglongjmp(masked, value);
    else
        _longjmp(plain, value);
}
ALONE static int deeper(int depth, int value)
{
    char space[200];
    *(volatile char *)space = 1;
    if (depth == 0)
        out(value);
    return deeper(depth - 1, value) + compare(depth, space[0]);
}
ALONE static int attempt(int i)
{
    int value = way == 1 ? sigsetjmp(masked, 1) : way == 2 ? _setjmp(plain) : setjmp(plain);
    if (value == 0)
        return deeper(i % 5, i + 1);
    return compare(value, i);
}
int main(void)
{
    int sum = 0;
    for (int i = 0; i < 90; i++) {
        way = i % 3;
        sum += attempt(i);
        sum += compare(i, 40);
    }
    printf("%d\n", sum);
    return 0;
}
"""
EXECUTING = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define ALONE __attribute__((noinline, noclone))
static volatile int seen;
extern char **environ;
ALONE static void work(int n) { seen = n; }
int main(int count, char **words)
{
    int way = count > 1 ? atoi(words[1]) : 0;
    char next[20];
    snprintf(next, sizeof next, "%d", way + 1);
    for (int i = 0; i <= way; i++)
        work(i);
    char *arguments[] = {words[0], next, NULL};
    switch (way) {
    case 0: execl(words[0], words[0], next, (char *)NULL); break;
    case 1: execlp(words[0], words[0], next, (char *)NULL); break;
    case 2: execle(words[0], words[0], next, (char *)NULL, environ); break;
    case 3: execv(words[0], arguments); break;
    case 4: execvp(words[0], arguments); break;
    case 5: execve(words[0], arguments, environ); break;
    case 6: execvpe(words[0], arguments, environ); break;
    default: puts("all"); return execv("/no/such/program", arguments) != -1;
    }
    return 2;
}
"""
STATIC = (["-static"], ["-static-pie"])


def build(folder, compiler, grade, source, words, name):
    front = "c++" if source.endswith(".cc") else "cc"
    real = {"gcc": "g++", "clang": "clang++"}[compiler] if front == "c++" else compiler
    path = folder / source if (folder / source).exists() else lib.PROGRAMS / source
    return lib.run([lib.FATHOM, front, f"--grade={grade}", real, *words, path, "-pthread", "-o", name],
                   folder).returncode == 0


def counts(done):
    profile = done.profile
    return {**profile.edges, **{("excps", name): n for name, n in profile.excps.items()},
            **{("contexts", path): n for path, n in profile.contexts.items()}}


def same(tap, folder, compiler, grade, source, words):
    if not build(folder, compiler, grade, source, words, "shared"):
        tap.skip(f"{compiler} {grade} {source}", "cannot be built here")
        return
    first = lib.record(["./shared"], folder)
    for static in STATIC:
        what = f"{compiler} {grade} {' '.join(words)} {' '.join(static)} {source}"
        if not build(folder, compiler, grade, source, [*words, *static], "static"):
            tap.skip(what, "no static libraries")
            continue
        found = lib.record(["./static"], folder)
        tap.same(found.stdout, first.stdout, f"{what}: the program")
        tap.same(counts(found), counts(first), f"{what}: calls and exits, edge by edge")


def executing(tap, folder, compiler):
    for static in ([], *STATIC):
        what = f"{compiler} {' '.join(static)}"
        if not build(folder, compiler, "deep", "executing_on.c", ["-O1", "-w", "-D_GNU_SOURCE", *static], "on"):
            tap.skip(what, "no static libraries")
            continue
        done = lib.run([lib.FATHOM, "record", "-o", "all", "--", "./on"], folder)
        tap.same((done.returncode, done.stdout), (0, "all\n"), f"{what}: each way to become another program")
        calls = lib.Profile(folder / "all.data").calls()
        tap.same({name: calls[name] for name in ("main", "work")}, {"main": 8, "work": 36},
                 f"{what}: all are in the profile")
        tap.check("without exit" not in done.stderr and "killed" not in done.stderr,
                  f"{what}: none is told to have been ended", done.stderr)


def main():
    tap = lib.Tap()
    lib.need("gcc")
    lib.CASES["jumps.c"] = lib.CASES["executing_on.c"] = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "jumps.c").write_text(JUMPS)
        (folder / "executing_on.c").write_text(EXECUTING)
        for compiler, grade in (("gcc", "deep"), ("gcc", "full"), ("clang", "deep")):
            if lib.shutil.which(compiler) is None:
                tap.skip(f"{compiler} {grade}", "not installed")
                continue
            # Who called back out of the C++ library is not known of bodies that were inlined.
            for words in (["-O0"], ["-O2", "-fno-inline", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2"]):
                for source in ("jumps.c", "longjmp.c", "coroutines.c", "exceptions.cc"):
                    same(tap, folder, compiler, grade, source, words)
        executing(tap, folder, "gcc")
    return tap.done()


sys.exit(main())
