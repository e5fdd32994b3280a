#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fathom cc as a compiler: every form of command that build systems use, with gcc and clang."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import record_lib as lib

MAIN = "int helper(int); int main(void) { int s = 0; for (int i = 0; i < 4; i++) s += helper(i);" \
       " return s == 6 ? 0 : 9; }\n"
HELPER = "#include \"h.h\"\nint helper(int n) { return same(n); }\n"
HEADER = "static inline int same(int n) { return n; }\n"
COUNTS = {"main": 1, "helper": 4, "same": 4}


def sources(folder):
    folder = pathlib.Path(folder)
    (folder / "sub").mkdir(exist_ok=True)
    (folder / "main.c").write_text(MAIN)
    (folder / "sub" / "helper.c").write_text(HELPER)
    (folder / "sub" / "h.h").write_text(HEADER)
    return folder


def counts(folder, program="./prog"):
    calls = lib.record([program], folder).profile.calls()
    return {name: calls[name] for name in COUNTS}


def forms(tap, compiler):
    cc = [lib.FATHOM, "cc", compiler]
    with tempfile.TemporaryDirectory() as name:
        folder = sources(name)

        def try_form(what, *commands):
            (folder / "prog").unlink(missing_ok=True)
            for command in commands:
                lib.must(cc + command.split(), folder)
            tap.same(counts(folder), COUNTS, f"{compiler}: {what}")

        try_form("one command", "-O2 main.c sub/helper.c -o prog")
        try_form("objects", "-O2 -c main.c -o m.o", "-c sub/helper.c -o h.o", "m.o h.o -o prog")
        try_form("through assembly", "-S main.c -o m.s", "-S sub/helper.c -o h.s",
                 "m.s h.s -o prog")
        try_form("through preprocessed files", "-E main.c -o m.i", "-E sub/helper.c -o h.i",
                 "m.i h.i -o prog")
        (folder / "all.rsp").write_text("main.c 'sub/helper.c'\n-o prog")
        try_form("a response file", "-O1 @all.rsp")
        try_form("-x", "-x c main.c -x none -c -o m.o", "-xc sub/helper.c -c -o h.o",
                 "m.o h.o -oprog")
        try_form("link-time optimisation", "-O2 -flto -c main.c -o m.o",
                 "-O2 -flto -c sub/helper.c -o h.o", "-O2 -flto m.o h.o -o prog")
        try_form("Intel syntax", "-O2 -masm=intel main.c sub/helper.c -o prog")
        try_form("position independent code", "-O2 -fPIC main.c sub/helper.c -o prog")
        try_form("a relocatable object", "-c main.c -o m.o", "-c sub/helper.c -o h.o",
                 "-r -nostdlib m.o h.o -o both.o", "both.o -o prog")
        try_form("an archive", "-c main.c -o m.o", "-c sub/helper.c -o h.o", "m.o h.o -o prog")
        try_form("-gsplit-dwarf is left out", "-gsplit-dwarf -O1 main.c sub/helper.c -o prog")
        try_form("-g0 and -fomit-frame-pointer do not win",
                 "-O2 main.c sub/helper.c -g0 -fomit-frame-pointer -o prog")
        try_form("fully static, without a word of the linker",
                 "-static -Wl,--fatal-warnings main.c sub/helper.c -o prog")
        try_form("static and position independent",
                 "-static-pie -Wl,--fatal-warnings -O2 main.c sub/helper.c -o prog")
        (folder / "prog").unlink()
        lib.must(cc + ["-O1", "-I", "sub", "-x", "c", "-", "-o", "prog"], folder,
                 input=MAIN + HELPER)
        tap.same(counts(folder), COUNTS, f"{compiler}: a program from standard input")
        done = lib.run(cc + ["-m32", "-c", "main.c"], folder)
        tap.check(done.returncode == 1 and "-m32: only programs for x86-64" in done.stderr,
                  f"{compiler}: another processor is refused", done.stderr)
        done = lib.run(cc + ["-fsplit-stack", "-c", "main.c"], folder)
        tap.check(done.returncode == 1 and "-fsplit-stack: programs with split stacks" in done.stderr,
                  f"{compiler}: stacks of pieces are refused", done.stderr)
        lib.must(cc + ["-M", "main.c", "-o", "deps"], folder)
        tap.check("main.c" in (folder / "deps").read_text(), f"{compiler}: -M")
        wrapped = lib.must(cc + ["-E", "main.c"], folder).stdout
        plain = lib.must([compiler, "-E", "main.c"], folder).stdout
        tap.same(wrapped, plain, f"{compiler}: -E passes through")
        tap.same(lib.must(cc + ["--version"], folder).stdout,
                 lib.must([compiler, "--version"], folder).stdout, f"{compiler}: --version")
        done = lib.run(cc + ["-c", "missing.c"], folder)
        tap.check(done.returncode == 1 and "missing.c" in done.stderr,
                  f"{compiler}: the compiler's failure passes through", done.stderr)


def launchers(tap):
    """ccache and the like between fathom and the compiler."""
    with tempfile.TemporaryDirectory() as name:
        folder = sources(name)
        log = folder / "log"
        fake = folder / "ccache"  # the name makes it one
        fake.write_text(f"#!/bin/sh\necho $1 >>{log}\necho $CCACHE_EXTRAFILES >{folder}/known\nexec \"$@\"\n")
        fake.chmod(0o755)
        lib.must([lib.FATHOM, "cc", fake, "gcc", "-c", "main.c"], folder)
        lib.must([lib.FATHOM, "cc", f"--cc={fake} gcc", "-c", "sub/helper.c"], folder)
        lib.must([lib.FATHOM, "cc", "main.o", "helper.o", "-o", "prog"], folder,
                 env={**os.environ, "FATHOM_CC": f"{fake} gcc"})
        tap.same(log.read_text().split(), ["gcc"] * 3, "a launcher runs the compiler")
        tap.same(counts(folder), COUNTS, "and the program records")
        known = (folder / "known").read_text().strip()
        tap.check(known.endswith("/assembler/as") and pathlib.Path(known).exists(),
                  "it is told what else objects depend on: the assembler's front", known)
        shown = lib.must([lib.FATHOM, "cc", "--show", fake, "-c", "main.c"], folder).stdout.split()
        tap.same(shown[:2], [str(fake), "cc"], "alone it runs the usual one")


def mixed(tap):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "a.c").write_text("int from_c(int n) { return n + 1; }\n")
        (folder / "b.s").write_text(".globl from_asm\nfrom_asm: lea 2(%rdi), %eax\nret\n"
                                    ".section .note.GNU-stack,\"\"\n")
        (folder / "m.cc").write_text(
            "extern \"C\" int from_c(int); extern \"C\" int from_asm(int);\n"
            "struct thing { int value; explicit thing(int n); };\n"
            "thing::thing(int n) : value(from_c(n) + from_asm(n)) {}\n"
            "int main() { return thing(3).value != 9; }\n")
        lib.must([lib.FATHOM, "cc", "-c", "a.c", "b.s"], folder)
        lib.must([lib.FATHOM, "c++", "m.cc", "a.o", "b.o", "-o", "prog"], folder)
        calls = lib.record(["./prog"], folder).profile.calls()
        tap.same((calls["from_c"], calls["thing::thing(int)"], calls["main"]), (1, 1, 1),
                 "C, C++ and assembly in one program")


LEFT_OUT = """
#include <stdlib.h>
static int leaf(int n) { return n + 1; }
__attribute__((noinline)) int middle(int n)
{
    char *volatile p = malloc(100);
    int sum = leaf(n) + leaf(n + 1);
    free(p);
    return sum;
}
int outer(int n) { return middle(n) + middle(n + 1); }
int main(void) { return outer(1) + outer(2) == 0; }
"""


def left_out_contexts(tap, compiler):
    """What a left-out function called and used is its caller's."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "x.c").write_text(LEFT_OUT)
        lib.must([lib.FATHOM, "cc", "--only=function:outer", "--only=function:leaf",
                  "--only=function:main", compiler, "-O1", "x.c", "-o", "prog"], folder)
        profile = lib.record(["./prog"], folder).profile
        edges = {edge: calls for edge, calls in profile.edges.items()
                 if calls and edge[0] != "the program"}
        tap.same(edges, {("main thread", "main"): 1, ("main", "outer"): 2, ("outer", "leaf"): 8},
                 f"{compiler}: a left-out function's calls are its caller's")
        tap.same((profile.allocs["outer"], profile.allocs["middle"]), (4, 0),
                 f"{compiler}: and so are its allocations")
        tap.check("middle" not in profile.procs, f"{compiler}: it is not in the profile",
                  sorted(profile.procs))
        lines = {line for caller, line, callee in profile.at
                 if (caller, callee) == ("outer", "leaf")}
        tap.same(lines, {11}, f"{compiler}: at the line that called it")


def coverage_libraries(tap):
    """clang from 17 on would link a library of LLVM's for the blocks' callback, installed or not."""
    with tempfile.TemporaryDirectory() as name:
        folder = sources(name)
        told = pathlib.Path(folder, "clang")
        told.write_text('#!/bin/sh\nprintf "%s\\n" "$@" >told\nexec ' + shutil.which("clang") + ' "$@"\n')
        told.chmod(0o755)

        def tells(*options):
            lib.must([lib.FATHOM, "cc", "--grade=coverage", "./clang", *options, "main.c", "-c"], folder)
            return "-fno-sanitize-link-runtime" in pathlib.Path(folder, "told").read_text().splitlines()

        tap.same([tells(), tells("-fsanitize=undefined")], [True, False],
                 "clang: coverage asks for no library, but where the program has a sanitizer of its own")


def choices(tap):
    with tempfile.TemporaryDirectory() as name:
        folder = sources(name)

        def chosen(compiler, *options, environment=None):
            lib.must([lib.FATHOM, "cc", *options, compiler, "main.c", "-c"], folder,
                     env={**os.environ, **(environment or {})})
            lib.must([lib.FATHOM, "cc", *options, compiler, "sub/helper.c", "-c"], folder,
                     env={**os.environ, **(environment or {})})
            lib.must([lib.FATHOM, "cc", compiler, "main.o", "helper.o", "-o", "prog"], folder)
            return {name for name, n in counts(folder).items() if n > 0}

        every = set(COUNTS)
        tap.same(chosen("gcc", "--exclude=same"), every - {"same"}, "gcc: a function left out")
        tap.same(chosen("gcc", "--exclude=h.h"), every - {"same"}, "gcc: a header left out")
        tap.same(chosen("gcc", "--exclude=sub/"), {"main"}, "gcc: a folder left out")
        tap.same(chosen("gcc", "--only=main.c"), {"main"}, "gcc: one file alone")
        tap.same(chosen("gcc", environment={"FATHOM_EXCLUDE": "same:sub/none"}),
                 every - {"same"}, "the environment chooses too")
        if shutil.which("clang"):
            tap.same(chosen("clang", "--exclude=sub/"), {"main"}, "clang: a folder left out")
            tap.same(chosen("clang", "--only=helper.c"), {"helper", "same"},
                     "clang: one file alone")
            for grade in "deep", "full", "coverage":
                tap.same(chosen("clang", f"--grade={grade}", "--exclude=helper"),
                         {"main", "same"}, f"clang, {grade}: a function left out")
            tap.same(chosen("clang", "--exclude=h.h"), every - {"same"},
                     "clang: a header left out")
            tap.same(chosen("clang", "--only=helper", "--only=file:main.c"), set(),
                     "clang: functions of some files alone")
        for compiler in "gcc", "clang":
            if shutil.which(compiler):
                tap.same(chosen(compiler, "--only=same"), {"same"},
                         f"{compiler}: one function alone")
                left_out_contexts(tap, compiler)
        tap.same(chosen("gcc", "--grade=full", "--exclude=function:helper"), {"main", "same"}, "gcc, full: a function left out")
        done = lib.run([lib.FATHOM, "cc", "--only=a\"b", "gcc", "-c", "main.c"], folder)
        tap.check(done.returncode == 2 and "quotes" in done.stderr,
                  "a pattern with a quote is bad usage", done.stderr)
        done = lib.run([lib.FATHOM, "cc", "--grade=wrong", "main.c"], folder)
        tap.check(done.returncode == 2 and "unknown grade 'wrong'" in done.stderr,
                  "an unknown grade is bad usage", done.stderr)
        environment = {**os.environ, "FATHOM_CC": "gcc"}
        shown = lib.must([lib.FATHOM, "cc", "--show", "-c", "main.c"], folder,
                         env=environment).stdout
        tap.check(shown.startswith("gcc ") and "-finstrument-functions" in shown,
                  "$FATHOM_CC is the compiler; --show prints the command", shown)


def verification(tap):
    with tempfile.TemporaryDirectory() as name:
        folder = sources(name)
        fake = folder / "cc-that-drops"
        fake.write_text("#!/bin/sh\nfor a do shift; case $a in *libfathom*|-B*|-include|*/inline_hooks.h) ;; *) "
                        "set -- \"$@\" \"$a\" ;; esac; done\nexec gcc \"$@\"\n")
        fake.chmod(0o755)
        done = lib.run([lib.FATHOM, "cc", f"--cc={fake}", "main.c", "sub/helper.c", "-o", "prog"],
                       folder)
        tap.check(done.returncode == 1 and "empty hooks of libc" in done.stderr,
                  "a link in which libc's hooks win is an error", done.stderr)


CONFIGURE_AC = """AC_INIT([prog], [1])
AM_INIT_AUTOMAKE([foreign subdir-objects])
AC_PROG_CC
AM_PROG_AR
LT_INIT
AC_CHECK_FUNCS([strdup])
AC_CONFIG_FILES([Makefile])
AC_OUTPUT
"""
MAKEFILE_AM = """lib_LTLIBRARIES = libhelper.la
libhelper_la_SOURCES = sub/helper.c
bin_PROGRAMS = prog
prog_SOURCES = main.c
prog_LDADD = libhelper.la
"""


def autotools(tap):
    """configure, automake and libtool, with a shared library, in a build folder of its own."""
    missing = [tool for tool in ("autoreconf", "automake", "libtoolize") if not shutil.which(tool)]
    if missing:
        tap.skip("autotools", f"{missing[0]} is not installed")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = sources(name)
        (folder / "configure.ac").write_text(CONFIGURE_AC)
        (folder / "Makefile.am").write_text(MAKEFILE_AM)
        lib.must(["autoreconf", "--install"], folder)
        (folder / "built").mkdir()
        lib.must(["../configure", f"CC={lib.FATHOM} cc", f"CXX={lib.FATHOM} c++"], folder / "built")
        lib.must(["make"], folder / "built")
        config = (folder / "built" / "config.log").read_text()
        tap.check("ac_cv_func_strdup=yes" in config and "ac_cv_prog_cc_g=yes" in config,
                  "autotools: configure finds what it looks for", config[-1500:])
        tap.check((folder / "built" / ".libs" / "libhelper.so").exists(),
                  "autotools: libtool makes a shared library")
        tap.same(counts(folder / "built"), COUNTS, "autotools: configure CC=\"fathom cc\"")


def build_systems(tap):
    with tempfile.TemporaryDirectory() as name:
        folder = sources(name)
        (folder / "Makefile").write_text("prog: main.o sub/helper.o\n\t$(CC) -o $@ $^\n")
        lib.must(["make", f"CC={lib.FATHOM} cc"], folder)
        tap.same(counts(folder), COUNTS, "make CC=\"fathom cc\"")
        (folder / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.5)\n"
                                               "project(p C)\nadd_executable(prog main.c "
                                               "sub/helper.c)\n")
        if shutil.which("cmake"):
            for form, define in (("launchers", [f"-DCMAKE_C_COMPILER_LAUNCHER={lib.FATHOM};cc",
                                                f"-DCMAKE_C_LINKER_LAUNCHER={lib.FATHOM};cc"]),
                                 ("CC", [])):
                environment = {**os.environ, "CC": "gcc" if define else f"{lib.FATHOM} cc"}
                lib.must(["cmake", "-B", form, "-G", "Unix Makefiles"] + define, folder,
                         env=environment)
                lib.must(["cmake", "--build", form], folder)
                tap.same(counts(folder / form), COUNTS, f"CMake by {form}")
        else:
            tap.skip("CMake", "cmake is not installed")
        autotools(tap)
        (folder / "meson.build").write_text("project('p', 'c')\nexecutable('prog', 'main.c', "
                                            "'sub/helper.c')\n")
        environment = {**os.environ, "CC": f"{lib.FATHOM} cc"}
        lib.must(["meson", "setup", "built"], folder, env=environment)
        lib.must(["meson", "compile", "-C", "built"], folder)
        tap.same(counts(folder / "built"), COUNTS, "meson with CC=\"fathom cc\"")


def main():
    tap = lib.Tap()
    forms(tap, "gcc")
    if shutil.which("clang"):
        forms(tap, "clang")
        coverage_libraries(tap)
    launchers(tap)
    mixed(tap)
    choices(tap)
    verification(tap)
    build_systems(tap)
    return tap.done()


sys.exit(main())
