#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where the default grade's hooks stand: at the entry of each function that exists and in front of
each of its returns, wherever the compiler puts them; not where the program or the user wants none."""
import pathlib
import shutil
import sys
import tempfile

import record_lib as lib

RETURNS = r"""
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#define OWN __attribute__((noinline, noclone))
#define COLD __attribute__((cold, noinline))
static volatile int sink;
OWN int leaf(int x) { sink++; return x + 1; }
COLD int complain(int x) { sink += x; return sink; }
COLD int rare(int x) { sink += x; return leaf(x); }
/* An early return before any frame is set up, one in the middle, one behind unlikely code. */
OWN int many(int x)
{
    if (x < 0)
        return -1;
    if (x % 3 == 0)
        return leaf(x);
    if (__builtin_expect(x > 97, 0)) {
        sink = rare(x);
        if (sink == 12345)
            abort();
        return rare(x) + leaf(sink);
    }
    switch (x % 7) {
    case 0: return leaf(x) + 1;
    case 1: sink++; return leaf(x) * 2;
    case 2: return leaf(leaf(x));
    case 3: sink--; return leaf(x) - 5;
    case 4: return leaf(x) ^ 3;
    default: return leaf(x) + leaf(x + 1);
    }
}
/* The other return stands in the cold part, where compilers make one. */
OWN int seldom(int x)
{
    if (__builtin_expect(x % 5 == 0, 0))
        return complain(x) + complain(x + 1);
    return x + sink;
}
/* What inline assembler says is its own matter. */
OWN int assembler(int x)
{
    __asm__ volatile("jmp 1f\n\tret\n\t.byte 0xc3\n1:" ::: "memory");
    return leaf(x);
}
OWN int sum(int n, ...)
{
    va_list list;
    double all = 0;
    va_start(list, n);
    for (int i = 0; i < n; i++)
        all += va_arg(list, double);
    va_end(list);
    return (int)all + leaf(n);
}
typedef int vector __attribute__((vector_size(32)));
OWN vector wide(int x) { vector v = {x, leaf(x), 3, 4, 5, 6, 7, 8}; return v; }
OWN long double extended(long double x) { return x * 2 + leaf(1); }
OWN _Complex double complex_one(double x) { return x + leaf((int)x) * 1.0i; }
struct pair { long first, second; };
OWN struct pair pair(long x) { return (struct pair){x, leaf((int)x)}; }
OWN __attribute__((ms_abi)) int foreign(int a, int b) { return leaf(a) + b; }
__attribute__((no_instrument_function)) OWN int quiet(int x) { return leaf(x) + leaf(x); }
int main(void)
{
    int all = 0;
    for (int i = -2; i < 100; i++)
        all += seldom(i), all += many(i) + assembler(i) + quiet(i) + foreign(i, i + 1);
    vector v = wide(9);
    struct pair two = pair(40);
    printf("%d %d %d %d %.1Lf %.1f %ld\n", all, sum(3, 1.0, 2.0, 4.0), v[1], v[7], extended(2.5L),
           __real__ complex_one(4) + __imag__ complex_one(4), two.first + two.second);
    return 0;
}
"""
SYSTEM = r"""
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>
struct failure {};
__attribute__((noinline)) bool less(int a, int b) { return a < b; }
__attribute__((noinline)) int risky(int x) { if (x % 4 == 0) throw failure(); return x; }
__attribute__((noinline)) int careful(int x)
{
    std::string kept(40, 'x');
    return risky(x) + (int)kept.size();
}
int main()
{
    std::vector<int> numbers;
    std::map<int, std::string> names;
    for (int i = 0; i < 1000; i++)
        numbers.push_back((i * 7919) % 1000);
    std::sort(numbers.begin(), numbers.end(), less);
    int sum = 0;
    for (int i = 0; i < 100; i++) {
        names[i % 10] += "y";
        try {
            sum += careful(i);
        } catch (const failure &) {
            sum--;
        }
    }
    std::printf("%d %d %zu\n", numbers[5], sum, names.size());
}
"""
LEVELS = ["-O0", "-O2", "-Os"]
WAYS = [["-O2", "-fPIC", "-fcf-protection=full"], ["-O3", "-mfunction-return=thunk"],
        ["-O2", "-fstack-protector-all", "-mavx2", "-mstackrealign"], ["-O2", "-flto"]]


def returns(tap, compiler, flags):
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "returns.c").write_text(RETURNS)
        what = f"{compiler} {' '.join(flags)}"
        lib.must([compiler, *flags, "-w", "returns.c", "-o", "plain"], folder)
        lib.must([lib.FATHOM, "cc", "--grade=deep", compiler, *flags, "-w", "returns.c", "-o", "prog"], folder)
        plain = lib.must(["./plain"], folder).stdout
        done = lib.record([pathlib.Path(folder) / "prog"], folder)
        profile = done.profile
        tap.same(done.stdout, plain, f"{what}: every kind of result arrives")
        calls = profile.calls()
        tap.same({name: calls[name] for name in ("many", "rare", "assembler", "sum", "wide", "pair",
                                                 "foreign", "extended", "complex_one", "main")},
                 {"many": 102, "rare": 2, "assembler": 102, "sum": 1, "wide": 1, "pair": 1,
                  "foreign": 102, "extended": 1, "complex_one": 2, "main": 1},
                 f"{what}: calls")
        # x < 0: none; divisible by 3: one each; 98: two of rare and one more; else by x % 7.
        by_many = sum(0 if x < 0 else 1 if x % 3 == 0 else 1 if x > 97 else
                      2 if x % 7 in (2, 5, 6) else 1 for x in range(-2, 100))
        tap.same((profile.edges["many", "leaf"], profile.edges["rare", "leaf"],
                  profile.edges["main", "leaf"]), (by_many, 2, 204),
                 f"{what}: calls by caller, of one without hooks its caller's")
        tap.check("quiet" not in calls or calls["quiet"] == 0,
                  f"{what}: what wants no hooks has none", calls)
        tap.same(sum(profile.excps.values()), 0, f"{what}: every call ends by its return")


def system(tap, compiler):
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "system.cc").write_text(SYSTEM)
        for option in [], ["--include-system"]:
            what = " ".join([compiler] + option)
            lib.must([lib.FATHOM, "c++", "--grade=deep", *option, compiler, "-O1", "system.cc", "-o", "prog"],
                     folder)
            profile = lib.record([pathlib.Path(folder) / "prog"], folder).profile
            names = {name for name, calls in profile.calls().items() if calls}
            found = {name for name in names if "std::" in name}
            if option:
                tap.check(len(found) > 3, f"{what}: the C++ library's templates are there", names)
                continue
            tap.same(found, set(), f"{what}: none of the C++ library's templates")
            calls = {name.partition("(")[0]: n for name, n in profile.calls().items()}
            tap.check(calls["less"] > 5000 and calls["careful"] == calls["risky"] == 100,
                      f"{what}: what they call back is there", calls)
            excps = {name.partition("(")[0]: n for name, n in profile.excps.items() if n}
            tap.same(excps, {"careful": 25, "risky": 25},
                     f"{what}: frames that an exception leaves have exceptional exits")


UNITS = {"one.cc": r"""
#include <map>
#include <string>
#include "shape.h"
int other(std::map<std::string, int> &m);
int main()
{
    std::map<std::string, int> m;
    m["a"] = 3;
    return other(m) + m["a"] - 3 + (int)shape(m["a"]).area() - 9;
}
""", "other.cc": r"""
#include <map>
#include <string>
#include "shape.h"
int other(std::map<std::string, int> &m) { return m["b"]; }

__attribute__((noinline))
long shape::area() const { return side * side; }
""", "shape.h": r"""
struct shape {
    long side;
    explicit shape(long s) : side(s) { }
    long area() const;
};
"""}


# Names that begin like instructions, of data that follow a function with hooks, and of functions.
NAMES = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#define OWN __attribute__((noinline, noclone))
#define WIDE __attribute__((aligned(64)))
int retcode, jmpcode, callcode, nop, repeated;
WIDE int returned[3] = {1, 2, 3}, ret = 4;
WIDE const char retained[] = "ret", rets[] = "\n\tret\n";
__attribute__((cold, noinline)) int rejected(int x) { retcode += x; return x; }
OWN int retried(int x) { return x + jmpcode; }
OWN int rethrown(int x)
{
    if (__builtin_expect(x > 7, 0)) {
        if (rejected(x) == 12345)
            abort();
        return rejected(x) + 1;
    }
    return retried(x) + 1;
}
OWN int leave(int x) { return rethrown(x) + rets[1]; }
int main(void)
{
    int all = 0;
    for (int i = 0; i < 10; i++)
        all += leave(i);
    uintptr_t places = (uintptr_t)returned | (uintptr_t)&ret | (uintptr_t)retained | (uintptr_t)rets;
    printf("%d %d %d %d %d %s\n", all, retcode + callcode + nop + repeated, returned[2], ret,
           (int)(places % 64), retained);
    return 0;
}
"""


def names(tap, compiler, flags):
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "names.c").write_text(NAMES)
        what = f"names like instructions, {compiler} {' '.join(flags)}"
        lib.must([compiler, *flags, "-w", "names.c", "-o", "plain"], folder)
        lib.must([lib.FATHOM, "cc", "--grade=deep", compiler, *flags, "-w", "names.c", "-o", "prog"],
                 folder)
        done = lib.record([pathlib.Path(folder) / "prog"], folder)
        tap.same(done.stdout, lib.must(["./plain"], folder).stdout, f"{what}: data are where they were")
        calls = done.profile.calls()
        tap.same({name: calls[name] for name in ("main", "leave", "rethrown", "retried", "rejected")},
                 {"main": 1, "leave": 10, "rethrown": 10, "retried": 8, "rejected": 4}, f"{what}: calls")


# The compiler may keep one of functions that do the same, for some of them as a jump to it.
ALIKE = r"""
#include <stdio.h>
static int put, level;
static int kept[16];
void store(int x) { kept[put & 15] += x; put++; }
void first(int x)
{
    if (level > 100)
        return;
    if (put > 9999)
        store(put = 0);
    store(x + level);
    store(put);
    level++;
}
void second(int x)
{
    if (level > 100)
        return;
    if (put > 9999)
        store(put = 0);
    store(x + level);
    store(put);
    level++;
}
void (*volatile by_address)(int) = second;
static int third(int x) { store(x); store(put); return kept[x & 15]; }
static int fourth(int x) { store(x); store(put); return kept[x & 15]; }
int one(void) { first(1); second(2); return third(3) + level; }
int two(void) { second(2); return fourth(3) * 2; }
int main(void)
{
    int all = 0;
    for (int i = 0; i < 10; i++)
        all += one() + two(), by_address(i);
    printf("%d %d\n", all, put);
    return 0;
}
"""


def alike(tap, compiler, flags):
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "alike.c").write_text(ALIKE)
        what = f"functions that do the same, {compiler} {' '.join(flags)}"
        lib.must([lib.FATHOM, "cc", "--grade=deep", compiler, *flags, "-fno-inline", "alike.c", "-o", "prog"], folder)
        profile = lib.record([pathlib.Path(folder) / "prog"], folder).profile
        expected = {("main", "one"): 10, ("main", "two"): 10, ("one", "first"): 10, ("one", "second"): 10,
                    ("main", "second"): 10,
                    ("one", "third"): 10, ("two", "second"): 10, ("two", "fourth"): 10,
                    ("first", "store"): 20, ("second", "store"): 60, ("third", "store"): 20,
                    ("fourth", "store"): 20}
        tap.same({edge: n for edge, n in profile.edges.items() if n and edge[0] in
                  ("main", "one", "two", "first", "second", "third", "fourth")}, expected,
                 f"{what}: each has its own calls")
        tap.same(sum(profile.excps.values()), 0, f"{what}: every call ends by its return")


# clang writes the bytes of such constants as they are, the zeros too, into comments of its text.
CONSTANTS = r"""
__attribute__((noinline)) static double scaled(double x) { return x * 3; }
int main(int argc, char **argv)
{
    (void)argv;
    float ratio = 1.0f;
    double sum = scaled(argc);
    for (int i = 0; i < argc; i++)
        sum += ratio;
    ratio = 0.5f;
    return scaled(sum) * ratio < 0;
}
"""


def constants(tap, compiler):
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "constants.c").write_text(CONSTANTS)
        what = f"constants in debug information, {compiler}"
        plain = [compiler, "-O2", "-g", "constants.c"]
        lib.must([*plain, "-S", "-o", "text.s"], folder)
        zeros = (pathlib.Path(folder) / "text.s").read_bytes().count(0)
        lib.must([lib.FATHOM, "cc", "--grade=deep", *plain, "-c"], folder)
        sections = lib.must(["readelf", "-SW", "constants.o"], folder).stdout
        tap.same([name for name in (".debug_info", ".debug_line", ".note.GNU-stack") if name not in sections],
                 [], f"{what}: what follows them in the text ({zeros} bytes that are 0) is there")
        lib.must([lib.FATHOM, "cc", "--grade=deep", compiler, "constants.o", "-o", "prog"], folder)
        profile = lib.record([pathlib.Path(folder) / "prog"], folder).profile
        tap.same([place["line"] for place in profile.procs["scaled"]], [2], f"{what}: where the function stands")


def units(tap, compiler):
    """Functions that several units have, of which the linker keeps one."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in UNITS.items():
            (pathlib.Path(folder) / name).write_text(text)
        for name in "one.cc", "other.cc":
            lib.must([lib.FATHOM, "c++", "--grade=deep", compiler, "-O2", "-c", name], folder)
        lib.must([lib.FATHOM, "c++", "--grade=deep", compiler, "one.o", "other.o", "-o", "prog"],
                 folder)
        profile = lib.record([pathlib.Path(folder) / "prog"], folder).profile
    called = [name for (_, name), calls in profile.edges.items() if calls and "other(" in name]
    tap.check(len(called) == 1, f"templates in two units, {compiler}", sorted(profile.edges))
    area = profile.procs["shape::area() const"]
    tap.same([(pathlib.Path(place["file"]).name, place["line"], place["module"]) for place in area],
             [("other.cc", 8, "other.cc")],
             f"a member function is of the file that defines it, not of its class's, {compiler}")


LEFT_OUT = {"main.c": r"""
int helper(int x);
__attribute__((noinline)) static int leaf(int x) { __asm__ volatile(""); return x + 1; }
__attribute__((noinline)) static int middle(int x) { return leaf(x) + leaf(x + 1); }
int main(void)
{
    int all = 0;
    for (int i = 0; i < 10; i++)
        all += middle(i) + helper(i);
    return all == 0;
}
""", "part/helper.c": r"""
__attribute__((noinline)) static int same(int x) { __asm__ volatile(""); return x; }
int helper(int x) { return same(x) + 1; }
"""}
CHOICES = {("--exclude=middle",): {"main": 1, "helper": 10, "leaf": 20, "same": 10},
           ("--exclude=leaf", "--exclude=same"): {"main": 1, "middle": 10, "helper": 10},
           ("--exclude=part/",): {"main": 1, "middle": 10, "leaf": 20},
           ("--exclude=file:main.c",): {"helper": 10, "same": 10},
           ("--only=part/",): {"helper": 10, "same": 10},
           ("--exclude=function:helper",): {"main": 1, "middle": 10, "leaf": 20, "same": 10}}


def left_out(tap, compiler):
    """What the user leaves out has no hooks: its code is that of a build without them."""
    for options, expected in CHOICES.items():
        what = f"{compiler} {' '.join(options)}"
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "part").mkdir()
            for name, text in LEFT_OUT.items():
                (pathlib.Path(folder) / name).write_text(text)
                lib.must([lib.FATHOM, "cc", "--grade=deep", *options, compiler, "-O2", "-c", name],
                         folder)
            lib.must([lib.FATHOM, "cc", "--grade=deep", compiler, "main.o", "helper.o", "-o", "prog"],
                     folder)
            profile = lib.record([pathlib.Path(folder) / "prog"], folder).profile
            calls = {name: n for name, n in profile.calls().items()
                     if n and name in ("main", "middle", "leaf", "helper", "same")}
            tap.same(calls, expected, f"{what}: calls")
            if options == ("--exclude=middle",):
                tap.same(profile.edges["main", "leaf"], 20, f"{what}: its calls are its caller's")
            code = lib.must(["objdump", "-d", "prog"], folder).stdout
            hooked = {name for name in ("main", "middle", "leaf", "helper", "same")
                      if "0x42465446" in code.partition(f"<{name}>:\n")[2].partition("\n\n")[0]}
            tap.same(hooked, set(expected), f"{what}: nothing else has a hook")


def code_of(name, folder):
    """The instructions of a function of prog, in order: names and operands."""
    shown = lib.must(["objdump", "-d", "--no-show-raw-insn", "prog"], folder).stdout
    lines = shown.partition(f"<{name}>:\n")[2].partition("\n\n")[0].splitlines()
    return [line.partition("\t")[2].split() for line in lines]


def stopped(tap, compiler, flags):
    """Where nothing is recorded a function returns without a jump, but not where a trap must stand
    behind each return."""
    what = " ".join([compiler, *flags])
    with tempfile.TemporaryDirectory() as folder:
        for name, text in LEFT_OUT.items():
            (pathlib.Path(folder) / pathlib.Path(name).name).write_text(text)
        lib.must([lib.FATHOM, "cc", "--grade=deep", compiler, "-O2", *flags, "main.c", "helper.c",
                  "-o", "prog"], folder)
        code = [words[0] for words in code_of("middle", folder)]
        returns = [i for i, name in enumerate(code) if name.startswith("ret")]
        if "-mharden-sls=all" in flags:
            tap.same({code[i + 1] for i in returns}, {"int3"}, f"{what}: a trap behind each return")
        else:
            tap.same([code[i - 1] for i in returns[:1]], ["jo"], f"{what}: no jump to the return")
        profile = lib.record([pathlib.Path(folder) / "prog"], folder).profile
        calls = {name: n for name, n in profile.calls().items()
                 if n and name in ("main", "middle", "leaf", "helper", "same")}
        tap.same(calls, {"main": 1, "middle": 10, "leaf": 20, "helper": 10, "same": 10},
                 f"{what}: calls")
        profile = lib.record([pathlib.Path(folder) / "prog"], folder,
                             env={"FATHOM_RECORDING": "off"}).profile
        tap.same(profile.calls().get("middle", 0), 0, f"{what}: stopped from the begin")


ORDINARY = r"""
#define OWN __attribute__((noinline, noclone))
int ch;
OWN int next(int x) { __asm__ volatile(""); return x + 1; }
OWN int four(int a, int b, int c, int d) { __asm__ volatile(""); return a + b + c + d; }
OWN void fill(long *t) { for (int i = 0; i < 6; i++) t[i] = i; __asm__ volatile("" ::: "memory"); }
OWN int middle(int x)
{
WORK
}
int main(void) { return middle(1) == 12345; }
"""
WORKS = {"a variable called like a register": "ch = next(x); return ch + next(x);",
         "products": "long t[6]; fill(t); return (int)((t[0]*1000 ^ t[1]*1001) +"
                     "(t[2]*1003 ^ t[3]*1005) * (t[4]*1009 ^ t[5]*1011));",
         "all bits set": "int y = next(x); return four(y, 2, 3, -1) + y;"}


def ordinary(tap):
    """Code behind calls that counts on no register: no hook keeps any."""
    for what, work in WORKS.items():
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "prog.c").write_text(ORDINARY.replace("WORK", work))
            lib.must([lib.FATHOM, "cc", "--grade=deep", "gcc", "-Os", "-fPIE", "-pie", "prog.c",
                      "-o", "prog"], folder)
            code = code_of("middle", folder)
            kept = [" ".join(words) for words in code[:4] if words[-1].endswith("-0x10(%rsp)")]
            tap.same(kept, [], what)


def main():
    tap = lib.Tap()
    ordinary(tap)
    left_out(tap, "gcc")
    for flags in [], ["-fPIC"], ["-mharden-sls=all"]:
        stopped(tap, "gcc", flags)
    for level in LEVELS:
        returns(tap, "gcc", [level])
    for flags in WAYS:
        returns(tap, "gcc", flags)
    for flags in ["-O2"], ["-O2", "-flto"], ["-Os", "-fPIC"]:
        alike(tap, "gcc", flags)
    names(tap, "gcc", ["-O2"])
    names(tap, "gcc", ["-O1", "-fPIC"])
    system(tap, "g++")
    units(tap, "g++")
    if shutil.which("clang++"):
        stopped(tap, "clang", [])
        for level in ("-O0", "-O2"):
            returns(tap, "clang", [level])
        alike(tap, "clang", ["-O2"])
        names(tap, "clang", ["-O2"])
        constants(tap, "clang")
        system(tap, "clang++")
        units(tap, "clang++")
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
