#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Allocation counts are what the program itself adds up: in each grade, with glibc's allocator and with
another in its place, stopped and started, in threads and after a fork; and live and peak bytes."""
import os
import pathlib
import re
import shutil
import sys
import tempfile

import record_lib as lib
from runtime_rec import Rec

HERE = pathlib.Path(__file__).resolve().parents[1]
INCLUDE = HERE.parents[1] / "include"
# As far as live and peak bytes may be off for each of two threads, where blocks are not remembered.
STEP = 64 << 10


def compile_all(tap, folder):
    """(name, executable, grade) of each way to compile the program."""
    for compiler in ("gcc", "clang"):
        if shutil.which(compiler) is None:
            tap.skip(f"programs by {compiler}", "it is not installed")
            continue
        for grade in ("deep", "full"):
            executable = folder / f"{compiler}-{grade}"
            lib.must([lib.FATHOM, "cc", f"--grade={grade}", compiler, "-O2", "-fno-builtin",
                      "-D_GNU_SOURCE", f"-I{INCLUDE}",
                      HERE / "runtime_programs" / "allocation.c", "-o", executable, "-lpthread"],
                     folder)
            yield f"{compiler}, {grade}", executable


def found_by_name(rec, executable, folder):
    listing = lib.must(["nm", executable], folder).stdout
    bias = next(module["bias"] for module in rec.modules if module["flags"] & 1)
    names = {int(words[0], 16) + bias: words[2]
             for words in map(str.split, listing.splitlines()) if len(words) == 3}
    found = {}
    for thread in rec.threads:
        for csd in thread["csds"].values():
            name = names.get(thread["pds"][csd["callee"]]["fn"], "?")
            before = found.get(name, (0,) * 5)
            found[name] = tuple(x + y for x, y in zip(before, csd["alloc"]))
    return found


def edges(rec):
    return [csd for thread in rec.threads
            for csd in [*thread["csds"].values(), thread["root_csd"]]]


def total_live(rec):
    if rec.held:
        return sum(csd["held"]["live"] for csd in edges(rec) if csd["held"])
    return sum(csd["alloc"][2] - csd["alloc"][4] for csd in edges(rec))


def check(tap, what, executable, folder, environment, held):
    for old in folder.glob("*.rec"):
        old.unlink()
    done = lib.must([executable], folder,
                    env={**os.environ, "FATHOM_OUTPUT": str(folder / "p.rec"), **environment})
    lines = [line.split() for line in done.stdout.splitlines()]
    said = {words[0]: tuple(map(int, words[1:])) for words in lines}
    peak = said.pop("peak")[0 if held else 1]
    # What is given back is in the unit of what is held: as asked for, or else usable.
    said = {name: told[:4] + (told[4 if held else 5],) for name, told in said.items()}
    in_child = {"in_child": said.pop("in_child")}
    rec = Rec(folder / "p.rec")
    tap.same(rec.held is not None, held, f"{what}: whether blocks are remembered")
    found = found_by_name(rec, executable, folder)
    tap.same({name: found.get(name) for name in said}, said, f"{what}: each function's own")
    tap.check("unseen" not in found and "got" in found and not any(found["got"]),
              f"{what}: and no other's", found)
    tap.same(rec.live, total_live(rec), f"{what}: live bytes are what was not given back")
    tap.check(abs(rec.peak - peak) <= (0 if held else 2 * STEP), f"{what}: most live bytes",
              f"{rec.peak}, expected {peak}")
    child, = folder.glob("p.*.rec")
    found = found_by_name(Rec(child), executable, folder)
    tap.same({"in_child": found.get("in_child")}, in_child, f"{what}: those after a fork")


KEPT = """
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
static void *kept;
__attribute__((noinline)) static void both(void)
{
    for (int i = 0; i < 1000; i++)
        free(malloc(1));
    kept = malloc(10000);
}
int main(void)
{
    setvbuf(stdout, NULL, _IONBF, 0); /* no buffer of its own, whoever it would be charged to */
    both();
    printf("%zu\\n", malloc_usable_size(kept));
    return 0;
}
"""


def one_unit(tap, folder):
    """What is given back is what was got: both as asked for; where blocks are not remembered both in
    usable bytes."""
    (folder / "kept.c").write_text(KEPT)
    for grade in "deep", "full":
        lib.must([lib.FATHOM, "cc", f"--grade={grade}", "gcc", "-O1", "-fno-builtin", "kept.c",
                  "-o", "kept"], folder)
        for heap in "on", "off":
            done = lib.record(["./kept"], folder, env={**os.environ, "FATHOM_HEAP": heap})
            measures = ["allocs", "frees", "bytes", "freed_bytes"]
            measures += (["live_bytes", "live_blocks", "peak_bytes", "usable_bytes"]
                         if heap == "on" else ["requested_bytes"])
            usable = int(done.stdout)
            found = {name: value for (function, name), value in done.profile.heap.items()
                     if function == "both" and value}
            expected = ([1001, 1000, 11000, 1000, 10000, 1, 10000, 24000 + usable]
                        if heap == "on" else [1001, 1000, 24000 + usable, 24000, 11000])
            tap.same(found, dict(zip(measures, expected)),
                     f"{grade}, remembered: {heap}: what is not given back is left, byte for byte")


def beside(tap, folder, other):
    """A preloaded allocator: the program's blocks are of it, and so are their sizes."""
    lib.must(["gcc", "-O1", "-fno-builtin", "kept.c", "-o", "plain"], folder)
    plain = lib.must(["./plain"], folder, env={**os.environ, "LD_PRELOAD": str(other)}).stdout
    found = lib.run(["./kept"], folder, env={**os.environ, "LD_PRELOAD": str(other), "FATHOM_OUTPUT": "beside.rec"})
    tap.same((found.returncode, found.stdout), (0, plain), "another allocator: the program runs as it does")
    lib.must([lib.FATHOM, "finish", "-q", "beside.rec"], folder)
    heap = lib.Profile(folder / "beside.data").heap
    tap.same([heap["both", name] for name in ("allocs", "frees", "bytes", "live_bytes", "live_blocks")],
             [1001, 1000, 11000, 10000, 1], "and its memory is recorded to the byte")


WRAPPER = """
#include <dlfcn.h>
#include <stddef.h>
static long count;
void *malloc(size_t bytes)
{
    static void *(*next)(size_t);
    if (next == NULL)
        next = dlsym(RTLD_NEXT, "malloc");
    count++;
    return next(bytes);
}
"""


def wrapped(tap, folder):
    """A preloaded malloc that does not say how large its blocks are: what is freed and held cannot be known."""
    (folder / "wrapper.c").write_text(WRAPPER)
    lib.must(["gcc", "-O1", "-fPIC", "-shared", "-D_GNU_SOURCE", "wrapper.c", "-o", "wrapper.so"], folder)
    environment = {**os.environ, "LD_PRELOAD": str(folder / "wrapper.so")}
    lib.must(["gcc", "-O1", "-fno-builtin", "kept.c", "-o", "plain"], folder)
    plain = lib.must(["./plain"], folder, env=environment).stdout
    given = f"LD_PRELOAD={folder}/wrapper.so"
    for heap in "on", "off":
        # Into a program without hooks fathom loads its library in front of the wrapper.
        for program, words, around in (("./kept", ["env", given, "./kept"], {}), ("./plain", ["./plain"], environment)):
            done = lib.run([lib.FATHOM, "record", "-o", "wrapped", "--", *words], folder,
                           env={**os.environ, **around, "FATHOM_HEAP": heap})
            what = f"a malloc that does not tell sizes, {program}, remembered: {heap}"
            tap.same((done.returncode, done.stdout), (0, plain), f"{what}: the program's own sizes")
            tap.check(re.search("^memory (is|and waiting are) not recorded", done.stderr, re.M), f"{what}: it is said",
                      done.stderr)
            tap.same([number for (function, _), number in lib.Profile(folder / "wrapped.data").heap.items()
                      if function == "both" and number], [], f"{what}: no number is invented")


def main():
    tap = lib.Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        other = folder / "allocator.so"
        lib.must(["gcc", "-O1", "-fPIC", "-shared", "-fno-builtin",
                  HERE / "runtime_programs" / "allocator.c", "-o", other], folder)
        for what, executable in compile_all(tap, folder):
            check(tap, what, executable, folder, {}, True)
            check(tap, what + ", nothing remembered", executable, folder, {"FATHOM_HEAP": "off"},
                  False)
            check(tap, what + ", another allocator", executable, folder,
                  {"LD_PRELOAD": str(other)}, True)
            check(tap, what + ", another allocator, nothing remembered", executable, folder,
                  {"LD_PRELOAD": str(other), "FATHOM_HEAP": "off"}, False)
        one_unit(tap, folder)
        beside(tap, folder, other)
        wrapped(tap, folder)
    return tap.done()


sys.exit(main())
