#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How deep recursions went: the greatest depth and the calls by depth are those that the program itself
counts, at the default grade and at gcc's grade of coverage; at others they are not recorded."""
import json
import pathlib
import re
import shutil
import sys
import tempfile

import record_lib as lib

PROGRAM = r"""
#include <setjmp.h>
#include <stdio.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#define N __attribute__((noinline))
static unsigned long said[8][32];
static unsigned deepest[8];
static const char *const names[] = {"fib", "down", "even", "jumped", "thread_down", "top", "left"};
static volatile int sink;
static void at(int which, unsigned depth)
{
    if (depth > deepest[which]) deepest[which] = depth;
    if (depth > 1) said[which][31 - __builtin_clz(depth)]++;
}
N int fib(int n, unsigned depth)
{
    at(0, depth);
    int a = n < 2 ? n : fib(n - 1, depth + 1);
    if (n >= 2) a += fib(n - 2, depth + 1);
    sink++; /* behind its last call of itself, which the compiler could make a loop */
    return a;
}
N int down(int n, unsigned depth)
{
    at(1, depth);
    int a = n == 0 ? 0 : down(n - 1, depth + 1);
    sink++;
    return a + 1;
}
N int odd(int n, unsigned depth);
N int even(int n, unsigned depth)
{
    at(2, depth);
    int a = n == 0 ? 1 : odd(n - 1, depth);
    sink++;
    return a;
}
N int odd(int n, unsigned depth)
{
    int a = n == 0 ? 0 : even(n - 1, depth + 1);
    sink++;
    return a;
}
static jmp_buf back;
N int jumped(int n, unsigned depth)
{
    at(3, depth);
    if (n == 0) longjmp(back, 1);
    int a = jumped(n - 1, depth + 1);
    sink++;
    return a;
}
N int thread_down(int n, unsigned depth)
{
    at(4, depth);
    int a = n == 0 ? 0 : thread_down(n - 1, depth + 1);
    sink++;
    return a;
}
/* A recursion that a longer one is found to lie in, and frames entered by first calls. */
N int top(int n, unsigned depth);
N int inner(int n, unsigned depth)
{
    int a = 0;
    if (n > 3) a = top(n - 3, depth + 1);
    sink++;
    return a;
}
N int top(int n, unsigned depth)
{
    at(5, depth);
    int a = inner(n, depth);
    if (n > 10) a += inner(n - 7, depth);
    sink++;
    return a;
}
/* A function that is active in another branch of the context than its caller. */
N int left(int n, unsigned depth, unsigned crossed);
N int right(int n, unsigned depth, unsigned crossed)
{
    int a = n > 0 ? left(n - 1, depth, crossed + 1) : 0;
    sink++;
    return a;
}
N int cross(int n, unsigned depth, unsigned crossed)
{
    int a = n % 2 != 0 ? left(n - 1, depth, crossed + 1) : right(n - 1, depth, crossed);
    sink++;
    return a;
}
N int left(int n, unsigned depth, unsigned crossed)
{
    at(6, crossed);
    int a = n > 0 ? cross(n, depth + 1, crossed) : 0;
    sink++;
    return a;
}
static void *run(void *given) { sink += thread_down(40, 1); return given; }
int main(void)
{
    pthread_t thread;
    sink += fib(14, 1);
    for (int i = 0; i < 5; i++) sink += down(100 * i, 1);
    sink += even(31, 1);
    for (volatile int i = 3; i < 6; i++)
        if (setjmp(back) == 0) jumped(i, 1);
    pthread_create(&thread, NULL, run, NULL);
    pthread_join(thread, NULL);
    sink += top(40, 1);
    sink += cross(21, 1, 0);
    for (int i = 0; i < 7; i++) {
        printf("%s %u", names[i], deepest[i]);
        for (int k = 1; k < 32; k++)
            if (said[i][k]) printf(" %d=%lu", 1 << k, said[i][k]);
        printf("\n");
    }
    return 0;
}
"""


def facts(folder, name):
    text = lib.must([lib.FATHOM, "dump", "--json", folder / name], folder).stdout
    profile = json.loads(text)
    procs = {ps["id"]: ps["uq_refined_id"] for ps in profile["ps"]}
    pds = {pd["id"]: procs[pd["ps"]] for pd in profile["pd"]}
    return {pds[of["pd"]]: of for of in profile["facts"]["depths"]}


def check(tap, folder, compiler, flags, grade):
    what = f"{compiler} {' '.join(flags)} {grade}"
    lib.must([lib.FATHOM, "cc", f"--grade={grade}", compiler, "-g", *flags, "prog.c", "-o", "prog",
              "-lpthread"], folder)
    done = lib.must([lib.FATHOM, "record", "-o", "out", "--", "./prog"], folder)
    said = {}
    for line in done.stdout.splitlines():
        name, deepest, *counts = line.split()
        said[name] = (int(deepest), {int(k): int(n) for k, n in (c.split("=") for c in counts)})
    found = facts(folder, "out.data")
    if grade == "full" or (grade, compiler) == ("coverage", "clang"):
        tap.check(all(of["greatest"] is None and of["unknown_calls"] > 0 for of in found.values())
                  and "down" in found, f"{what}: not recorded", found)
        return
    got = {name: (of["greatest"], {at["from_depth"]: at["calls"] for at in of["calls"]})
           for name, of in found.items() if name in said}
    tap.same(got, said, f"{what}: depths as the program counts them")
    tap.check(not any(of["unknown_calls"] for of in found.values()), f"{what}: all are known", found)
    lib.must([lib.FATHOM, "merge", "out.data", "out.data", "--allow-repeats", "-o", "sum.data"], folder)
    summed = {name: (of["greatest"], {at["from_depth"]: at["calls"] for at in of["calls"]})
              for name, of in facts(folder, "sum.data").items() if name in said}
    twice = {name: (deepest, {k: 2 * n for k, n in counts.items()})
             for name, (deepest, counts) in said.items()}
    tap.same(summed, twice, f"{what}: added up")
    tap.same(pages(folder).get("down"), said["down"][0], f"{what}: the page says so")


def pages(folder):
    """Greatest depths by the procedure that one call site of a page of recursion calls."""
    count = len(json.loads(lib.must([lib.FATHOM, "dump", "--json", "--only", "pd", "out.data"],
                                    folder).stdout)["pd"])
    found = {}
    for number in range(1, count + 1):
        done = lib.run([lib.FATHOM, "report", "--json", f"clique_rc/{number}", "out.data"], folder)
        if done.returncode != 0:
            break
        names = re.findall(r'"(?:[^"]*[:.])?(\w+)"', json.dumps(json.loads(done.stdout)))
        depth = re.search(r'"greatest_depth": (\d+)', json.dumps(json.loads(done.stdout)))
        if depth is not None and "down" in names:
            found["down"] = int(depth.group(1))
    return found


def main():
    tap = lib.Tap()
    for compiler in ("gcc", "clang"):
        if shutil.which(compiler) is None:
            tap.skip(f"programs by {compiler}", "it is not installed")
            continue
        for flags, grade in ((["-O0"], "deep"), (["-O2"], "deep"), (["-O0"], "full"),
                             (["-O0"], "coverage"), (["-O2", "-fPIC"], "coverage")):
            with tempfile.TemporaryDirectory() as name:
                folder = pathlib.Path(name)
                (folder / "prog.c").write_text(PROGRAM)
                check(tap, folder, compiler, flags, grade)
    sys.exit(tap.done())


if __name__ == "__main__":
    main()
