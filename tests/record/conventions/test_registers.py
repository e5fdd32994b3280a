#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Functions with other conventions of calls: arguments and results in registers that calls may
change as a rule, registers kept that nobody keeps. Programs have their own results, and calls are
counted."""
import pathlib
import shutil
import sys
import tempfile

import record_lib as lib
from patience import PATIENCE

# The caller has many values in registers over each call.
PROGRAM = r"""
#include <stdio.h>
#define OWN __attribute__((noinline))
#ifndef HOW
#define HOW
#endif
#ifndef OUTER
#define OUTER HOW
#endif
static volatile long sink;
OWN void ordinary(long a) { sink += a * 3; }
OWN HOW void touch(long a) { sink += a; }
OWN HOW void walk(long n) { sink += n; if (n > 0) walk(n - 1); touch(n); }
OWN OUTER void outside(long n) { walk(n); ordinary(n); }
OWN HOW void pass(long n) { touch(n); }
#ifdef RESULTS
struct four { long a, b, c, d; };
OWN HOW long leaf(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j)
{
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j;
}
OWN HOW long deep(long n, long b)
{
    return n <= 0 ? b : deep(n - 1, b + n) + leaf(n, b, 3, 4, 5, 6, 7, 8, 9, 10);
}
OWN HOW struct four many(long a, long b) { struct four r = {a, b, a * b, a - b}; return r; }
OWN HOW struct four more(long a, long b) { struct four r = many(a, b + 1); r.d += 3; return r; }
OWN HOW double mixed(double x, long a, double y) { return x * a + y; }
#endif
int main(void)
{
    volatile long one = 1;
    long s = 0, a = one, b = one + 1, c = one + 2, d = one + 3, e = one + 4, f = one + 5,
         g = one + 6, h = one + 7, k = one + 8, l = one + 9, m = one + 10;
    for (long i = 0; i < 100; i++) {
        touch(i);
        a += b; b ^= c; c += d; d ^= e; e += f; f ^= g; g += h; h ^= k; k += l; l ^= m; m += a;
        outside(i % 7);
        a ^= m; b += a; c ^= b; d += c; e ^= d; f += e; g ^= f; h += g; k ^= h; l += k; m ^= l;
        pass(a & 3);
#ifdef RESULTS
        s = s * 3 + leaf(i, a, b, c, d, e, f, g, h, i + 10) + deep(i % 7, k);
        struct four r = more(i, l), q = many(m, i);
        s += r.a + r.b * 2 + r.c * 3 + r.d * 4 + q.a + q.b * 5 + q.c * 6 + q.d * 7;
        s += (long)mixed(i * 0.5, i, 3.0);
#endif
    }
    printf("%lx %lx %lx\n", s, a ^ b ^ c ^ d ^ e ^ f ^ g ^ h ^ k ^ l ^ m, sink);
    return 0;
}
"""
STEPS = sum(i % 7 + 1 for i in range(100))
VOID = {"touch": 200 + STEPS, "walk": STEPS, "outside": 100, "pass": 100, "ordinary": 100}
RESULTS = {"leaf": 100 + STEPS - 100, "deep": STEPS, "many": 200, "more": 100, "mixed": 100}
SAVED = "__attribute__((no_caller_saved_registers, target(\"general-regs-only\")))"
# (compilers, what HOW is, with results)
WAYS = (
    (("gcc", "clang"), "__attribute__((ms_abi))", True),
    (("clang",), "__attribute__((regcall))", True),
    (("clang",), "__attribute__((swiftcall))", True),
    (("clang",), "__attribute__((swiftasynccall))", True),
    (("clang",), "__attribute__((preserve_most))", False),
    (("clang",), "__attribute__((preserve_all))", False),
    (("gcc", "clang"), SAVED, False),
)


def check(tap, compiler, how, results, grade, flags):
    what = f"{compiler} {' '.join(flags)} {grade} {how or 'ordinary'}"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "calls.c").write_text(PROGRAM)
        given = [*flags, "-w", f"-DHOW={how}", "calls.c"] + (["-DRESULTS"] if results else [])
        # With jumps for last calls clang itself loses what no_caller_saved_registers keeps.
        lib.must([compiler, "-fno-optimize-sibling-calls", *given, "-o", "plain"], folder)
        built = lib.run([lib.FATHOM, "cc", f"--grade={grade}", compiler, *given, "-o", "prog"], folder)
        tap.same((built.returncode, built.stderr), (0, ""), f"{what}: it compiles")
        if built.returncode != 0:
            return
        done = lib.run([lib.FATHOM, "record", "-o", "out", "--", "./prog"], folder, timeout=PATIENCE)
        tap.same((done.stdout, done.returncode), (lib.must(["./plain"], folder, timeout=PATIENCE).stdout, 0),
                 f"{what}: its results")
        if done.returncode != 0 or (grade == "coverage" and how):
            return  # which leaves out functions that keep all registers
        profile = lib.Profile(folder / "out.data")
        calls = profile.calls()
        expected = {**VOID, **(RESULTS if results else {})}
        tap.same({of: calls[of] for of in expected}, expected, f"{what}: calls")
        tap.same(sum(profile.excps.values()), 0, f"{what}: every call ends by its return")


# gcc saves r10 in some of them, which points to the arguments where a stack may have to be aligned. This is
# compiled and not run: few processors have such registers.
ALIGNED = r"""
static volatile int sink;
__attribute__((noinline)) int called(int a) { return a + sink; }
struct eight { long a, b, c, d, e, f, g, h; };
__attribute__((noinline)) struct eight many(int a, long b, long c, struct eight h)
{
    return (struct eight){a + sink, b, c + h.a, b, c, h.b, h.c, called(a)};
}
__attribute__((noinline)) int named(int n, ...)
{
    __builtin_va_list all;
    struct eight s = {0}, t;
    __builtin_va_start(all, n);
    t = many(n, n, n, s);
    for (int i = 0; i < n; i++)
        s.a += __builtin_va_arg(all, int) + (long)__builtin_va_arg(all, double);
    __builtin_va_end(all);
    return (int)(s.a + t.h) + called(n);
}
int main(void)
{
    struct eight s = {1, 2, 3, 4, 5, 6, 7, 8};
    for (int i = 0; i < 5; i++)
        s = many(i, 1, 2, s);
    return (int)s.a + named(1, 2, 3.0);
}
"""
COUNTED = bytes.fromhex("0f1f8440")  # in front of the end of an entry hook that blocks are counted behind


def check_aligned(tap):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "aligned.c").write_text(ALIGNED)
        for flags in ["-O0"], ["-O2"], ["-O0", "-mavx512f"], ["-O2", "-mavx512f"], ["-O2", "-mavx512f", "-masm=intel"]:
            lib.must([lib.FATHOM, "cc", "--grade=coverage", "gcc", *flags, "-w", "-c", "aligned.c"], folder)
            tap.same((folder / "aligned.o").read_bytes().count(COUNTED), 4,
                     f"coverage {' '.join(flags)}: functions that align the stack are recorded")


def main():
    tap = lib.Tap()
    if shutil.which("gcc") is not None:
        check_aligned(tap)
    for compilers, how, results in WAYS:
        for compiler in compilers:
            if shutil.which(compiler) is None:
                tap.skip(f"{compiler} {how}", "not installed")
                continue
            for flags in ["-O0"], ["-O2"], ["-O2", "-fPIC"]:
                check(tap, compiler, how, results, "deep", flags)
            check(tap, compiler, how, results, "full", ["-O2"])
            check(tap, compiler, how, results, "coverage", ["-O2"])
    return tap.done()


sys.exit(main())
