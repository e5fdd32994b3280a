#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gcc's other languages: programs in Fortran, Ada, D and Objective-C behave as without hooks, their calls are those
that the source makes, and functions have the names that their language writes."""
import os
import pathlib
import shutil
import sys
import tempfile

import record_lib as lib

HERE = pathlib.Path(__file__).resolve().parent
FIB_15, FIB_10 = 1973, 177  # calls
BOUND = {"alpha::add": 7, "alpha::work": 1, "beta::work": 5, "beta::more": 1, "twice": 1}


def one_word(name):
    """The link beside the command that is a compiler by its name."""
    return str(pathlib.Path(shutil.which(lib.FATHOM) or lib.FATHOM).resolve().parent / name)


def recorded(tap, folder, program, what):
    plain = lib.must([f"./plain_{program}"], folder).stdout
    done = lib.record([f"./{program}"], folder)
    tap.check(done.stdout.startswith(plain) and plain.strip(), f"{what}: it prints what it prints without hooks",
              done.stdout + done.stderr)
    checked = lib.run([lib.FATHOM, "check", "out.data"], folder)
    tap.same(checked.returncode, 0, f"{what}: what it says fits together")
    return done.profile


def same_calls(tap, profile, expected, what):
    calls = profile.calls()
    tap.same({name: calls[name] for name in expected}, expected, f"{what}: calls")


def build_fortran(folder, front, output, flags=(), objects=("alpha.f90", "main.F90", "fixed.f")):
    parts = []
    for source in objects:
        parts.append(f"{output}.{source}.o")
        lib.must([*front, "-g", *flags, "-c", HERE / source, "-o", parts[-1]], folder)
    lib.must([*front, *flags, *parts, "-o", output], folder)


def fortran(tap, folder):
    # An entry's name stands for a body of its own, which gcc inlines with optimisation.
    for grade, flags in (("deep", ["-O0"]), ("deep", ["-O0", "-fPIC"]), ("full", ["-O0"]), ("coverage", ["-O0"]),
                         ("deep", ["-O0", "-static"])):
        what = f"Fortran {grade} {' '.join(flags)}"
        build_fortran(folder, ["gfortran"], "plain_prog", flags)
        build_fortran(folder, [lib.FATHOM, "cc", f"--grade={grade}", "gfortran"], "prog", flags)
        profile = recorded(tap, folder, "prog", what)
        same_calls(tap, profile, {"alpha::fib": FIB_15, **BOUND}, what)
        tap.same(profile.allocs["alpha::work"], 25, f"{what}: blocks of memory")
        place = profile.procs["alpha::fib"][0]
        tap.same((pathlib.Path(place["file"]).name, place["line"]), ("alpha.f90", 10), f"{what}: file and line")
        if grade == "coverage":
            lines = lib.must([lib.FATHOM, "report", "proc_static_coverage/alpha::fib", "out.data"], folder).stdout
            tap.check("r = n" in lines, f"{what}: lines have counts", lines)
    build_fortran(folder, ["gfortran"], "plain_threads", ["-O2", "-fopenmp", "-DOMP"])
    build_fortran(folder, [one_word("fathom-fortran")], "threads", ["-O2", "-fopenmp", "-DOMP"])
    profile = recorded(tap, folder, "threads", "threads of OpenMP")
    tap.check(profile.calls()["alpha::fib"] > 0 and profile.calls()["twice"] == 1, "threads of OpenMP: calls",
              profile.calls())


def chosen(tap, folder):
    build_fortran(folder, [lib.FATHOM, "cc", "--exclude=fib", "--trace=__alpha_MOD_work", "gfortran"], "prog", ["-O0"])
    done = lib.record(["./prog"], folder)
    calls = done.profile.calls()
    tap.same((calls["alpha::fib"], calls["beta::work"]), (0, 5), "a function can be left out")
    said = lib.must([lib.FATHOM, "report", "durations", "out.data"], folder).stdout
    tap.check("alpha::work" in said, "the calls of a function can be timed one by one", said)
    build_fortran(folder, [lib.FATHOM, "cc", "--exclude=alpha.f90", "--exclude=file:/alpha", "gfortran"], "prog", ["-O0"])
    calls = lib.record(["./prog"], folder).profile.calls()
    tap.same((calls["alpha::fib"], calls["beta::work"], calls["twice"]), (0, 0, 1), "a file can be left out")


def ada(tap, folder):
    lib.must(["gnatmake", "-q", "-O1", "-f", HERE / "hello.adb", "-o", "plain_hello"], folder)
    lib.must(["gnatmake", "-q", "-O1", "-f", HERE / "hello.adb", f"--GCC={one_word('fathom-cc')}", "-o", "hello",
              "-largs", f"--LINK={one_word('fathom-cc')}"], folder)
    profile = recorded(tap, folder, "hello", "Ada")
    same_calls(tap, profile, {"hello": 1, "hello.numbers.fib": FIB_15 + 4 * FIB_10}, "Ada")
    tap.same(len([name for name in profile.procs if name.startswith("thread ")]), 4, "Ada: tasks are threads")


def d(tap, folder):
    lib.must(["gdc", "-O0", HERE / "shapes.d", "-o", "plain_shapes"], folder)
    lib.must([lib.FATHOM, "cc", "gdc", "-g", "-O0", HERE / "shapes.d", "-o", "shapes"], folder)
    profile = recorded(tap, folder, "shapes", "D")
    named = {name.split("(")[0].split(".")[-1]: calls for name, calls in profile.calls().items()}
    tap.same({name: named.get(name) for name in ("fib", "area", "total")}, {"fib": FIB_15, "area": 10, "total": 1},
             "D: calls")


def objective_c(tap, folder):
    probe = lib.run(["gcc", "-x", "objective-c", "-fsyntax-only", "-"], folder, input="int x;")
    if probe.returncode != 0:
        tap.skip("Objective-C", "gobjc is not installed")
        return
    # Its runtime is not needed to compile; libobjc may be missing.
    for front, output in ((["gcc"], "plain_shapes_m"), ([lib.FATHOM, "cc", "gcc"], "shapes_m")):
        lib.must([*front, "-O0", "-g", HERE / "shapes.m", "-o", output, "-lobjc"], folder)
    profile = recorded(tap, folder, "shapes_m", "Objective-C")
    same_calls(tap, profile, {"fib": FIB_15, "+[Shape twice:]": 10}, "Objective-C")


MODULE = """module;
#include <cstdio>
export module shapes;
export int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
export void tell(int n) { std::printf("%d\\n", n); }
"""
USER = "import shapes;\nint main() { tell(fib(15)); return 0; }\n"


def modules(tap, folder):
    """A module's unit begins with its declaration: nothing may be included in front of it."""
    (folder / "shapes.cppm").write_text(MODULE)
    (folder / "user.cc").write_text(USER)
    steps = {"g++": [["-fmodules-ts", "-c", "-x", "c++", "shapes.cppm", "-o", "s.o"],
                     ["-fmodules-ts", "user.cc", "s.o", "-o"]],
             "clang++": [["--precompile", "shapes.cppm", "-o", "shapes.pcm"], ["-c", "shapes.pcm", "-o", "s.o"],
                         ["-fprebuilt-module-path=.", "user.cc", "s.o", "-o"]]}
    for compiler, commands in steps.items():
        if shutil.which(compiler) is None:
            tap.skip(f"modules by {compiler}", "it is not installed")
            continue
        for grade in "deep", "full", "coverage":
            for front, output in (([compiler], "plain_user"), ([lib.FATHOM, "c++", f"--grade={grade}", compiler], "user")):
                for words in commands:
                    done = lib.must([*front, "-std=c++20", "-O0", "-g", *words, *([output] if words[-1] == "-o" else [])],
                                    folder)
                    tap.check("Warning" not in done.stderr, f"{compiler} {grade}: nothing to say", done.stderr)
            profile = recorded(tap, folder, "user", f"modules, {compiler} {grade}")
            calls = {name.split("(")[0]: calls for name, calls in profile.calls().items()}
            tap.same({name: calls.get(name) for name in ("fib", "tell", "main")}, {"fib": FIB_15, "tell": 1, "main": 1},
                     f"modules, {compiler} {grade}: calls")


def others(tap, folder):
    """What has no hooks is said."""
    (folder / "x.go").write_text("package main\nfunc main() {}\n")
    done = lib.run([lib.FATHOM, "cc", "--cc=true", "-c", "x.go"], folder)
    tap.check("x.go" in done.stderr and "without hooks" in done.stderr, "a language without hooks is told", done.stderr)


def places(tap, folder):
    """The assembler's front writes where gcc does."""
    (folder / "own").mkdir()
    (folder / "x.c").write_text("int main(void) { return 0; }\n")
    env = {**os.environ, "TMPDIR": str(folder / "own")}
    lib.must([lib.FATHOM, "cc", "gcc", "-c", "x.c"], folder, env=env)
    tap.same(list((folder / "own").iterdir()), [], "temporary files are in TMPDIR, and go")
    env["TMPDIR"] = str(folder / "missing")
    tap.same(lib.run([lib.FATHOM, "cc", "gcc", "-c", "x.c"], folder, env=env).returncode, 0, "or elsewhere")


def main():
    tap = lib.Tap()
    os.environ.pop("FATHOM_GRADE", None)
    for compiler, parts in (("gfortran", [fortran, chosen]), ("gnatmake", [ada]), ("gdc", [d]),
                            ("gcc", [objective_c, modules, others, places])):
        if shutil.which(compiler) is None:
            tap.skip(f"programs by {compiler}", "it is not installed")
            continue
        for part in parts:
            with tempfile.TemporaryDirectory() as folder:
                part(tap, pathlib.Path(folder))
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
