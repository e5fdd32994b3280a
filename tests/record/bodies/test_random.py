#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The default grade: programs made at random, every call in its context against a debugger's account
of the same code without hooks (body_replay.py, body_graph.py).

Arguments: how many, first seed or "today" (one of SEEDS, another each day), features (all)"""
import datetime
import os
import pathlib
import random
import sys
import tempfile

import body_graph
import body_lib as body
import body_replay
import record_lib as lib

os.environ["FATHOM_INLINED"] = "off" # the account knows the functions that exist
LEVELS = [("gcc", ["-O0"]), ("gcc", ["-O2"]), ("gcc", ["-O3"]), ("clang", ["-O0"]),
          ("clang", ["-O2"])]
SEEDS = 8  # are tried together before a release
FEATURES = {"arguments", "room", "tail", "jumps", "pointers", "callbacks", "signals"}
HEAD = """/* Seed {seed}: {features}. */
#include <alloca.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
static int fuel = {fuel};
static unsigned state = {seed}u;
static volatile int sum;
static volatile int nested; /* handlers */
static jmp_buf *catcher;
#define ALWAYS static inline __attribute__((always_inline))
ALWAYS unsigned chance(unsigned n)
{{
    state = state * 1664525u + 1013904223u;
    return (state >> 16) % n;
}}
"""


class Function:
    def __init__(self, number, pick, features):
        self.name = f"f{number}"
        self.kinds = ["int"] + ([pick.choice(["int", "long", "double", "short"])
                                 for _ in range(pick.choice([0, 0, 1, 3, 6, 7, 8, 11]))]
                                if "arguments" in features else [])
        self.alone = pick.random() < 0.6
        self.result = pick.choice(["int", "int", "int", "struct three"]) \
            if "arguments" in features else "int"
        self.simple = self.kinds == ["int"] and self.result == "int"

    def head(self):
        kinds = ", ".join(f"{kind} a{i}" for i, kind in enumerate(self.kinds))
        alone = "__attribute__((noinline)) " if self.alone else ""
        return f"static {alone}{self.result} {self.name}({kinds})"

    def call(self, pick):
        values = ["a0 + %d" % pick.randrange(4)] + [str(pick.randrange(9)) for _ in self.kinds[1:]]
        return f"{self.name}({', '.join(values)})" + (".x" if self.result != "int" else "")


class Maker:
    def __init__(self, seed, features):
        self.pick, self.seed, self.features = random.Random(seed), seed, features
        self.functions = [Function(i, self.pick, features)
                          for i in range(self.pick.randrange(6, 14))]

    def a_call(self):
        return self.pick.choice(self.functions).call(self.pick)

    def ways(self):
        ways = [self.plain, self.plain, self.looped]
        for feature, more in {"room": [self.scoped, self.grown],
                              "jumps": [self.caught, self.thrown], "pointers": [self.pointed],
                              "callbacks": [self.sorted, self.searched],
                              "signals": [self.raised]}.items():
            ways += more if feature in self.features else []
        return ways

    def plain(self):
        return f"r += {self.a_call()};"

    def looped(self):
        return (f"for (int i = 0; i < {self.pick.randrange(1, 4)}; i++) {{ "
                f"r += {self.a_call()}; if (chance(3) == 0) r += {self.a_call()}; }}")

    def scoped(self):
        return (f"{{ volatile char room[1 + chance({self.pick.randrange(1, 900)})]; room[0] = 1; "
                f"r += room[0] + {self.a_call()}; }}")

    def grown(self):
        return (f"{{ volatile char *room = alloca(8 + chance({self.pick.randrange(1, 300)})); "
                f"room[0] = 1; r += room[0] + {self.a_call()}; }}")

    def caught(self):
        return f"r += catch{self.pick.randrange(2)}(a0);"

    def thrown(self):
        return (f"if (catcher != NULL && chance({self.pick.randrange(4, 12)}) == 0) "
                f"longjmp(*catcher, 1);")

    def pointed(self):
        return "r += pointers[chance(4)](a0 + 1);"

    def sorted(self):
        n = self.pick.randrange(2, 12)
        return (f"{{ int values[{n}]; for (int i = 0; i < {n}; i++) values[i] = (int)chance(100); "
                f"qsort(values, {n}, sizeof values[0], compare{self.pick.randrange(3)}); "
                f"r += values[0]; }}")

    def searched(self):
        return (f"{{ int values[] = {{1, 5, 9, 20, 30}}, key = (int)chance(40); r += bsearch(&key, "
                f"values, 5, sizeof key, compare{self.pick.randrange(3)}) != NULL; }}")

    def raised(self):
        return ("if (nested < 4 && chance(4) == 0) "
                f"raise({self.pick.choice(['SIGUSR1', 'SIGUSR2'])});")

    def body(self, function):
        out_of_fuel = "a0" if function.result == "int" else "(struct three){a0, 1, 2}"
        lines = [f"int r = (int)({' + '.join(f'a{i}' for i in range(len(function.kinds)))});",
                 f"if (--fuel < 0) return {out_of_fuel};"]
        for _ in range(self.pick.randrange(1, 5)):
            statement = self.pick.choice(self.ways())()
            if self.pick.random() < 0.4:
                statement = f"if (chance(2) != 0) {{ {statement} }}"
            lines.append(statement)
        lines.append("sum += r;")
        if function.result != "int":
            lines.append("return (struct three){r, r, 3};")
        else:
            lines.append("return %s;" % (self.a_call() if "tail" in self.features and
                                         self.pick.random() < 0.5 else "r"))
        return "{\n    " + "\n    ".join(lines) + "\n}\n"

    def compare(self, number):
        calls = f"    if (chance(4) == 0) sum += {self.a_call()};\n" if number > 0 else ""
        return (f"static int compare{number}(const void *a, const void *b)\n{{\n"
                f"    int a0 = *(const int *)a;\n{calls}    return a0 - *(const int *)b;\n}}\n")

    def catch(self, number):
        return (f"static __attribute__((noinline)) int catch{number}(int a0)\n{{\n"
                f"    jmp_buf here, *volatile before = catcher;\n    volatile int r = 0;\n"
                f"    if (--fuel < 0) return 0;\n    catcher = &here;\n"
                f"    if (setjmp(here) == 0) r += {self.a_call()};\n"
                f"    else {{ catcher = before; r += {self.a_call()}; }}\n"
                f"    catcher = before;\n    return r + {self.a_call()};\n}}\n")

    def text(self):
        parts = [HEAD.format(seed=self.seed, features=" ".join(sorted(self.features)),
                             fuel=self.pick.randrange(100, 500)),
                 "struct three { long x, y, z; };\n"]
        parts += [f"static int catch{i}(int a0);\n" for i in range(2)] * ("jumps" in self.features)
        parts += [f"static int compare{i}(const void *a, const void *b);\n" for i in range(3)] * (
            "callbacks" in self.features)
        parts += [function.head() + ";\n" for function in self.functions]
        if "pointers" in self.features:
            simple = [f.name for f in self.functions if f.simple] or ["pointed"]
            parts.append("static int pointed(int a0) { return a0; }\n"
                         "static int (*volatile pointers[])(int) = { pointed, %s };\n" %
                         ", ".join(self.pick.choice(simple) for _ in range(3)))
        parts += [self.catch(i) for i in range(2)] * ("jumps" in self.features)
        parts += [self.compare(i) for i in range(3)] * ("callbacks" in self.features)
        if "signals" in self.features:
            parts.append("static void handler(int a0) { nested++; sum += %s; nested--; }\n" %
                         self.a_call())
        parts += [function.head() + "\n" + self.body(function) for function in self.functions]
        start = ""
        if "signals" in self.features:
            start = ("    static char stack[1 << 20] __attribute__((aligned(1 << 20)));\n"
                     "    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};\n"
                     "    sigaltstack(&alternate, NULL);\n"
                     "    struct sigaction action = {.sa_handler = handler,\n"
                     "                               .sa_flags = SA_NODEFER};\n"
                     "    sigaction(SIGUSR1, &action, NULL);\n"
                     "    action.sa_flags = SA_ONSTACK;\n"
                     "    sigaction(SIGUSR2, &action, NULL);\n")
        parts.append("int main(void)\n{\n" + start +
                     "    for (int a0 = 0; fuel > 0; a0++) {\n        nested = 0;\n"
                     "        sum += %s + %s;\n    }\n    printf(\"%%d\\n\", sum);\n"
                     "    return 0;\n}\n"
                     % (self.a_call(), self.a_call()))
        return "".join(parts)


def check(tap, seed, compiler, flags, features):
    what = f"seed {seed} {compiler} {' '.join(flags)}"
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "random.c"
        source.write_text(Maker(seed, features).text())
        program = body.Program(str(source), folder, compiler, flags + ["-w"])
        recorded = program.record()
        expected, why = body_replay.replay(program, stack_bytes=1 << 20)
        plain = lib.must(program.plain, folder).stdout
        graph = body_graph.close(body_graph.of_recording("out.data", folder))
    tap.same(recorded.stdout, plain, f"{what}: does what it does without hooks")
    if expected is None:
        tap.skip(f"{what}: every call in its context", why)
        return
    contexts = body_graph.close(expected).contexts()
    tap.check(sum(contexts.values()) > 50, f"{what}: calls enough")
    tap.same(graph.contexts(), contexts,
             f"{what}: every call in its context")


def main():
    tap = lib.Tap()
    count, first = sys.argv[1:3] or ("10", "1")
    count, first = int(count), 1 + datetime.date.today().toordinal() % SEEDS if first == "today" else int(first)
    print(f"# {sys.argv[0]} {count} {first} makes the same programs", flush=True)
    for seed in range(first, first + count):
        for compiler, flags in LEVELS:
            if compiler in body.COMPILERS:
                check(tap, seed, compiler, flags, set(sys.argv[3:]) or FEATURES)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
