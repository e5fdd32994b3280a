#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that ask the compiler which attributes it has: they get the answers of a plain build, and
what wants no hooks has none, however the attribute is written."""
import pathlib
import shutil
import sys
import tempfile

import record_lib as lib

# As GLib's headers ask (gmacros.h), and as others do: directly, by a macro with an argument, negated.
PROGRAM = r"""
#include <stdio.h>
#if !defined __has_attribute
#error there is no __has_attribute
#endif
#ifdef __has_attribute
#define alias_has __has_attribute
#define call_has(x) __has_attribute(x)
#else
#define alias_has(x) 0
#define call_has(x) 0
#endif
#define ALONE __noinline__
#if alias_has(__no_instrument_function__)
#define QUIET __attribute__((__no_instrument_function__))
#endif
#if !call_has(no_instrument_function) || !__has_attribute(no_instrument_function)
#error it has no_instrument_function
#endif
#if !__has_attribute(noinline) || !call_has(__noinline__) || !alias_has(ALONE) || !call_has(ALONE)
#error it has noinline
#endif
#if __has_attribute(fathom_has_no_such) || call_has(fathom_has_no_such)
#error there is no such attribute
#endif
#if call_has(patchable_function_entry) != __has_attribute(patchable_function_entry)
#error two answers
#endif
static volatile int sink;
QUIET __attribute__((noinline)) int quiet(int x) { sink++; return x + 1; }
__attribute__((noinline, no_instrument_function)) int silent(int x) { sink++; return x + 2; }
int declared(int x) __attribute__((no_instrument_function));
__attribute__((noinline)) int declared(int x) { sink++; return x + 3; }
__attribute__((noinline)) int counted(int x) { sink++; return quiet(x) + silent(x) + declared(x); }
int main(void)
{
    int sum = 0;
    for (int i = 0; i < 10; i++)
        sum += counted(i);
    printf("%d %d\n", sum, sink);
    return 0;
}
"""
FLAGS = [["-O0"], ["-O2"], ["-O2", "-fPIC", "-fcf-protection=full"], ["-O2", "-pg"], ["-O2", "-flto"]]


def check(tap, folder, compiler, source, grade, flags):
    what = f"{compiler} {' '.join(flags)} {grade}"
    strict = ["-Wall", "-Wextra", "-Werror"]
    lib.must([compiler, *strict, *flags, source, "-o", "plain"], folder)
    front = "c++" if compiler.endswith("++") else "cc"
    built = lib.run([lib.FATHOM, front, f"--grade={grade}", compiler, *strict, *flags, source, "-o",
                     "prog"], folder)
    tap.same(built.returncode, 0, f"{what}: it compiles as plain code does")
    if built.returncode != 0:
        for line in built.stderr.splitlines()[:5]:
            print(f"# {line}")
        return
    done = lib.record(["./prog"], folder)
    tap.same(done.stdout, lib.must(["./plain"], folder).stdout, f"{what}: its results")
    calls = {name.partition("(")[0]: n for name, n in done.profile.calls().items() if n}
    tap.same({name: calls.get(name, 0) for name in ("counted", "quiet", "silent", "declared")},
             {"counted": 10, "quiet": 0, "silent": 0, "declared": 0},
             f"{what}: what wants no hooks has none")


def main():
    tap = lib.Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for source in ("asks.c", "asks.cc"):
            (folder / source).write_text(PROGRAM)
        for compiler in ("gcc", "g++", "clang", "clang++"):
            if shutil.which(compiler) is None:
                tap.skip(compiler, "not installed")
                continue
            source = "asks.cc" if compiler.endswith("++") else "asks.c"
            for flags in FLAGS:
                if "-pg" in flags and "clang" in compiler:
                    continue  # nothing but its own calls of mcount
                check(tap, folder, compiler, source, "deep", flags)
            check(tap, folder, compiler, source, "full", ["-O2"])
    return tap.done()


sys.exit(main())
