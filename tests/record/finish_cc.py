#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fathom cc as a compiler: every form of command that build systems use, with gcc and clang."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import finish_lib as lib

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
        try_form("a relocatable object", "-c main.c -o m.o", "-c sub/helper.c -o h.o",
                 "-r -nostdlib m.o h.o -o both.o", "both.o -o prog")
        try_form("an archive", "-c main.c -o m.o", "-c sub/helper.c -o h.o", "m.o h.o -o prog")
        try_form("-gsplit-dwarf is left out", "-gsplit-dwarf -O1 main.c sub/helper.c -o prog")
        try_form("-g0 and -fomit-frame-pointer do not win",
                 "-O2 main.c sub/helper.c -g0 -fomit-frame-pointer -o prog")
        try_form("fully static", "-static main.c sub/helper.c -o prog")
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
            done = lib.run([lib.FATHOM, "cc", "--exclude=same", "clang", "-c", "main.c"], folder)
            tap.check(done.returncode != 0 and "clang cannot leave out" in done.stderr,
                      "clang: what it cannot do is said", done.stderr)
        done = lib.run([lib.FATHOM, "cc", "--grade=wrong", "main.c"], folder)
        tap.check(done.returncode == 2 and "no grade 'wrong'" in done.stderr,
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
        fake.write_text("#!/bin/sh\nfor a do shift; case $a in *libfathom*|-B*) ;; *) "
                        "set -- \"$@\" \"$a\" ;; esac; done\nexec gcc \"$@\"\n")
        fake.chmod(0o755)
        done = lib.run([lib.FATHOM, "cc", f"--cc={fake}", "main.c", "sub/helper.c", "-o", "prog"],
                       folder)
        tap.check(done.returncode == 1 and "empty hooks of libc" in done.stderr,
                  "a link in which libc's hooks win is an error", done.stderr)


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
                environment = {**os.environ, **({"CC": f"{lib.FATHOM} cc"} if not define else {})}
                lib.must(["cmake", "-B", form, "-G", "Unix Makefiles"] + define, folder,
                         env=environment)
                lib.must(["cmake", "--build", form], folder)
                tap.same(counts(folder / form), COUNTS, f"CMake by {form}")
        else:
            tap.skip("CMake", "cmake is not installed")
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
    mixed(tap)
    choices(tap)
    verification(tap)
    build_systems(tap)
    return tap.done()


sys.exit(main())
