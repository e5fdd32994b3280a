#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fully static programs behave as unrecorded ones do. With a linker that cannot send their calls on, or with a
sanitizer's allocator, memory and waiting are told as not recorded, where the run ends and on each page, and are
nowhere 0."""
import json
import os
import pathlib
import re
import sys
import tempfile

import record_lib as lib
from patience import PATIENCE

HERE = pathlib.Path(__file__).resolve().parent
HOLDING = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *volatile kept;
static void *hold(void *argument)
{
    pthread_mutex_lock(&lock);
    usleep(3000);
    pthread_mutex_unlock(&lock);
    return argument;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, hold, NULL);
    hold(NULL);
    pthread_join(thread, NULL);
    kept = malloc(1000);
    printf("%d\n", kept != NULL);
    free(kept);
    return 0;
}
"""
SOURCES = ("calls", "blocking", "calls_rest", "paths")
WAYS = (("-static", ["-static"]), ("-static-pie", ["-static-pie"]))


def page(folder, *words):
    return lib.must([lib.FATHOM, "report", *words, "out.data"], folder).stdout


def told_of(tap, folder, what):
    done = lib.record(["./prog"], folder)
    tap.check("memory and waiting are not recorded" in done.stderr, f"{what}: one line of the run says so",
              done.stderr)
    tap.check("memory is not recorded" in page(folder, "menu"), f"{what}: the first page says so")
    for words in ("leaks", "memory/allocated", "memory/held", "memory/peak", "memory/freed", "waits"):
        text = page(folder, words)
        tap.check("not recorded" in text and "Nothing was" not in text and "0 were" not in text,
                  f"{what}: {words}: not recorded", text)
    for words in ("tree/bytes/down/3/all", "flame/bytes/down/_/all"):
        asked = lib.run([lib.FATHOM, "report", words, "out.data"], folder)
        tap.check(asked.returncode != 0 and "allocated memory was not recorded" in asked.stderr,
                  f"{what}: {words}: one error says so", asked.stdout + asked.stderr)
    facts = json.loads(page(folder, "--json", "leaks"))["facts"]
    tap.check(facts["recorded"] is False and "held_bytes" not in facts, f"{what}: as JSON, too", facts)


def build_all(tap, folder):
    """The names of the programs: SOURCE-WAY.KIND."""
    names = []
    for what, options in WAYS:
        for source in SOURCES:
            words = ["-O1", "-w", "-D_GNU_SOURCE", "-pthread", HERE / f"{source}.c", *options]
            if lib.run(["gcc", *words, "-o", f"{source}{what}.plain"], folder).returncode != 0:
                tap.skip(f"{what}: {source}", "no static libc")
                continue
            lib.must([lib.FATHOM, "cc", "gcc", *words, "-o", f"{source}{what}.recorded"], folder)
            names += [f"{source}{what}.plain", f"{source}{what}.recorded"]
    return names


def told_by(folder, name):
    own = folder / f"{name}.d"
    own.mkdir()
    return lib.must([folder / name], own, timeout=3 * PATIENCE,
                    env={**os.environ, "FATHOM_OUTPUT": str(folder / f"{name}.rec")}).stdout.splitlines()


def check_alike(tap, folder):
    programs = build_all(tap, folder)
    told = lib.at_once(lambda name: told_by(folder, name), programs)
    for name, plain, recorded in zip(programs[::2], told[::2], told[1::2]):
        tap.same(dict(enumerate(recorded)), dict(enumerate(plain)),
                 f"{name.removesuffix('.plain')}: as the program alone")


def main():
    tap = lib.Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "holding.c").write_text(HOLDING)
        check_alike(tap, folder)
        for what, options in WAYS:
            made = lib.run([lib.FATHOM, "cc", "gcc", "-O1", *options, "-fuse-ld=lld", "-pthread", "holding.c", "-o",
                            "prog"], folder)
            if made.returncode == 0:
                told_of(tap, folder, f"{what}, lld")
            else:
                tap.skip(f"{what}, lld", "no such linker")
        made = lib.run([lib.FATHOM, "cc", "gcc", "-O1", "-fsanitize=address", "-pthread", "holding.c", "-o", "prog"],
                       folder)
        if made.returncode == 0:
            told_of(tap, folder, "-fsanitize=address")
        else:
            tap.skip("-fsanitize=address", "no such sanitizer")
        lib.must([lib.FATHOM, "cc", "gcc", "-O1", "-pthread", "holding.c", "-o", "prog"], folder)
        done = lib.record(["./prog"], folder)
        tap.check("not recorded" not in done.stderr and re.search(r"calls(,| and) bytes", page(folder, "menu")),
                  "others have both", done.stderr)
        (folder / "empty.c").write_text("int main(void)\n{\n    return 0;\n}\n")
        lib.must([lib.FATHOM, "cc", "gcc", "empty.c", "-o", "prog"], folder)
        for options in ([], ["--no-heap"]):
            lib.must([lib.FATHOM, "record", *options, "-o", "out", "./prog"], folder)
            tap.check("Nothing was allocated" in page(folder, "memory/allocated"),
                      f"nothing allocated is known to be nothing {options}", page(folder, "memory/allocated"))
    return tap.done()


sys.exit(main())
