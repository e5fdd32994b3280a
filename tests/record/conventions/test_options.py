#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Options that change what the compiler's assembly looks like, and functions that have no frame: the
program's own results and every call, or, of what cannot be told, none."""
import pathlib
import shutil
import sys
import tempfile

import record_lib as lib
from patience import PATIENCE

PROGRAM = r"""
#include <stdarg.h>
#include <stdio.h>
#define OWN __attribute__((noinline))
static volatile long sink;
OWN long leaf(long x) { sink += x; return x + 1; }
OWN long twice(long x) { return leaf(x) + leaf(x + 1); }
OWN double sum(int n, ...)
{
    va_list list;
    double all = leaf(n);
    va_start(list, n);
    for (int i = 0; i < n; i++)
        all += va_arg(list, double);
    va_end(list);
    return all;
}
OWN long choose(int x)
{
    switch (x % 6) {
    case 0: return leaf(x) + 1;
    case 1: return twice(x) * 2;
    case 2: return leaf(twice(x));
    case 3: sink--; return leaf(x) - 5;
    case 4: return leaf(x) ^ 3;
    default: return leaf(x) + twice(x + 1);
    }
}
int main(void)
{
    double all = 0;
    for (int i = 0; i < 60; i++)
        all += choose(i) + sum(3, 1.0, 2.0, i * 0.5);
    printf("%.2f %ld\n", all, sink);
    return 0;
}
"""
CALLS = {"main": 1, "choose": 60, "sum": 60, "twice": 30, "leaf": 60 + 50 + 60}
NAKED = r"""
#include <stdio.h>
__attribute__((naked, noinline)) long next(long a) { __asm__("lea 1(%rdi), %rax\n\tret"); }
__attribute__((noinline)) long twice(long a) { return a * 2; }
__attribute__((naked, noinline)) long calls(long a, long b, long c, long d)
{
    __asm__("lea (%rdi, %rsi), %rdi\n\tadd %rdx, %rdi\n\tadd %rcx, %rdi\n\t"
            "sub $8, %rsp\n\tcall twice\n\tadd $8, %rsp\n\tret");
}
int main(void)
{
    long sum = 0;
    for (int i = 0; i < 1000; i++)
        sum += next(i) + calls(i, 2, 3, 4);
    printf("%ld\n", sum);
    return 0;
}
"""
OPTIONS = (
    ["-fverbose-asm"], ["-fverbose-asm", "-fPIC", "-O0"], ["-masm=intel"],
    ["-masm=intel", "-fverbose-asm"], ["-fcf-protection=full", "-fPIC"], ["-fstack-protector-all"],
    ["-fstack-clash-protection", "-mno-red-zone"], ["-fno-plt", "-fPIC"], ["-pipe", "-save-temps", "-g"],
    ["-fno-asynchronous-unwind-tables"], ["-ffunction-sections", "-Wl,--gc-sections"], ["-pg"],
    ["-fpatchable-function-entry=3"], ["-fsanitize=undefined"],
)
GCC_ALONE = (["-dA"], ["-dP", "-fverbose-asm"], ["-gas-locview-support"],
             ["-fno-inline", "-finstrument-functions-exclude-function-list=none"])


def check(tap, compiler, grade, flags, text=PROGRAM, calls=CALLS):
    what = f"{compiler} {' '.join(flags)} {grade}"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "odd.c").write_text(text)
        plain = lib.run([compiler, "-O2", "-w", *flags, "odd.c", "-o", "plain"], folder)
        if plain.returncode != 0:
            tap.skip(what, f"{compiler} does not take it")
            return
        built = lib.run([lib.FATHOM, "cc", f"--grade={grade}", compiler, "-O2", "-w", *flags, "odd.c",
                         "-o", "prog"], folder)
        # clang warns of its own files where it keeps them.
        said = "" if "-save-temps" in flags else built.stderr
        tap.same((built.returncode, said), (0, ""), f"{what}: it compiles")
        if built.returncode != 0:
            return
        done = lib.run([lib.FATHOM, "record", "-o", "out", "--", "./prog"], folder, timeout=PATIENCE)
        tap.same((done.stdout, done.returncode), (lib.must(["./plain"], folder).stdout, 0),
                 f"{what}: its results")
        if done.returncode == 0:
            found = lib.Profile(folder / "out.data").calls()
            tap.same({of: found[of] for of in calls}, calls, f"{what}: calls")


def main():
    tap = lib.Tap()
    for compiler in "gcc", "clang":
        if shutil.which(compiler) is None:
            tap.skip(compiler, "not installed")
            continue
        for flags in OPTIONS + (GCC_ALONE if compiler == "gcc" else ()):
            for grade in "deep", "full":
                check(tap, compiler, grade, flags)
        # As rustc links: all libraries named.
        check(tap, compiler, "deep", ["-nodefaultlibs", "-Wl,--no-as-needed", "-lc"])
        for flags in ["-O0"], ["-O2"], ["-O2", "-fPIC", "-fverbose-asm", "-fcf-protection=full"]:
            check(tap, compiler, "deep", flags, NAKED, {"main": 1, "twice": 1000})
            check(tap, compiler, "full", flags, NAKED, {"main": 1, "twice": 1000, "next": 0, "calls": 0})
            check(tap, compiler, "coverage", flags, NAKED, {"main": 1, "twice": 1000})
    return tap.done()


sys.exit(main())
